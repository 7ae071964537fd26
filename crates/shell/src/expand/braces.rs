//! Braces: the words of `{a,b}` and `{1..3}`.

use brush_parser::ParserOptions;
use brush_parser::word::{self as parsed, BraceExpressionMember, BraceExpressionOrText};

use crate::guard;

/// The most words of one pair of braces.
pub const BRACES: usize = 64;

/// The words that braces make of a word.
pub fn braces(raw: &str, options: &ParserOptions) -> Vec<String> {
    let parse = || parsed::parse_brace_expansions(raw, options);
    let Some(Ok(Some(parts))) = guard::parsed(parse) else { return vec![raw.to_owned()] };
    product(&parts)
}

fn product(parts: &[BraceExpressionOrText]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for part in parts {
        let choices: Vec<String> = match part {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                members.iter().flat_map(member).take(BRACES + 1).collect()
            }
        };
        let join = |text: &String| choices.iter().map(|choice| format!("{text}{choice}")).collect::<Vec<_>>();
        texts = texts.iter().flat_map(join).take(BRACES + 1).collect();
        if texts.len() > BRACES {
            // More words than are followed, whatever comes after them.
            return texts;
        }
    }
    texts
}

fn member(member: &BraceExpressionMember) -> Vec<String> {
    match member {
        BraceExpressionMember::Child(parts) => product(parts),
        BraceExpressionMember::NumberSequence { start, end, increment } => {
            let step = increment.unsigned_abs().max(1);
            let (low, high) = (start.min(end), start.max(end));
            let count = usize::try_from(high.abs_diff(*low) / step).unwrap_or(usize::MAX).min(BRACES);
            let sign = if start <= end { 1 } else { -1 };
            let step = i64::try_from(step).unwrap_or(i64::MAX);
            (0..=count)
                .map(|at| {
                    start
                        .saturating_add(sign * step.saturating_mul(i64::try_from(at).unwrap_or(0)))
                        .to_string()
                })
                .collect()
        }
        BraceExpressionMember::CharSequence { start, end, increment } => {
            let step = usize::try_from(increment.unsigned_abs().max(1)).unwrap_or(1);
            let (low, high) = (*start.min(end), *start.max(end));
            let letters: Vec<String> = (low..=high).map(String::from).take(BRACES + 1).collect();
            if start <= end {
                letters.into_iter().step_by(step).collect()
            } else {
                letters.into_iter().rev().step_by(step).collect()
            }
        }
    }
}
