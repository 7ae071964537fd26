//! Expectations rewritten as what was decided, where they stand: everything else of the text stays byte for byte.
//!
//! What comes out is read again and must be the same cases with the new expectations; a text for which that does not
//! hold is left as it is, and said to be.

use serde_json::Value;

use super::judge::{Got, Judged};
use super::read::{self, Cases};
use super::{Case, Fact, Want};
use crate::diagnostic::{Diagnostic, code};
use crate::source::{Node, Source, Span, parse, quoted};

/// The text with the expectations of these cases as they were answered. All are of one text, in its order.
///
/// # Errors
/// Expectations that cannot be rewritten in place; nothing is changed then.
pub fn update(source: &Source, judged: &[(&Case, &Judged)]) -> Result<String, Vec<Diagnostic>> {
    let (mut edits, mut refused) = (Vec::new(), Vec::new());
    for (want, got) in judged.iter().flat_map(|(case, judged)| unmet(case, judged)) {
        match edit(source, want, got) {
            Some(edit) => edits.push(edit),
            None => refused.push(refusal(source, want)),
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let text = apply(source.text(), edits);
    let is_meant = text.as_ref().is_some_and(|text| is_meant(source, text, judged));
    match text {
        Some(text) if is_meant => Ok(text),
        _ => {
            let unmet = judged.iter().flat_map(|(case, judged)| unmet(case, judged));
            Err(unmet.map(|(want, _)| refusal(source, want)).collect())
        }
    }
}

fn unmet<'c>(case: &'c Case, judged: &'c Judged) -> impl Iterator<Item = (&'c Want, &'c Got)> {
    let unmet = judged.answers.iter().filter(|answer| !answer.met);
    unmet.filter_map(|answer| {
        let want = case.expect.get(answer.expectation)?.wants.get(answer.want)?;
        Some((want, &answer.got))
    })
}

fn refusal(source: &Source, want: &Want) -> Diagnostic {
    let message = format!("{} cannot be rewritten in place", quoted(want.aspect.key()));
    Diagnostic::error(code::CASE_NOT_REWRITTEN, message).at(source, want.key_span)
}

/// What is written where. `None`: there is nothing to write, or something would be lost.
fn edit(source: &Source, want: &Want, got: &Got) -> Option<(Span, String)> {
    let Got::Fact(fact) = got else { return None };
    let is_json = source.name().rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"));
    let text = match fact {
        Fact::Nothing => "null".to_owned(),
        Fact::Word(word) => scalar(word, is_json),
        Fact::Number(number) => number.to_string(),
        Fact::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| scalar(word, is_json)).collect();
            format!("[{}]", words.join(", "))
        }
    };
    let before = source.slice(Span::new(want.key_span.end, want.span.start));
    let old = source.slice(want.span);
    if old.is_empty() {
        // Nothing stands behind the colon.
        let colon =
            source.text().get(want.key_span.end..)?.starts_with(':').then_some(want.key_span.end + 1)?;
        return Some((Span::empty(colon), format!(" {text}")));
    }
    let is_list = matches!(want.expected, Fact::Words(_));
    if is_list && has_comment(source, want) {
        return None;
    }
    if before.trim() == ":" && (!is_list || old.starts_with('[')) {
        return Some((want.span, text));
    }
    // A block of lines, with whatever leads it, becomes a value on the key's own line.
    if !before.starts_with(':') || before.contains('#') {
        return None;
    }
    let end = if old.ends_with('\n') { "\n" } else { "" };
    Some((Span::new(want.key_span.end, want.span.end), format!(": {text}{end}")))
}

/// Whether a comment stands between the items of a list: a `#` that none of the items holds.
fn has_comment(source: &Source, want: &Want) -> bool {
    let around = source.slice(Span::new(want.key_span.end, want.span.end));
    let within = match &want.expected {
        Fact::Words(words) => words.iter().map(|word| word.matches('#').count()).sum(),
        _ => 0,
    };
    around.matches('#').count() > within
}

/// A word as YAML and JSON both read it as text; plain where YAML leaves no doubt.
pub(super) fn scalar(word: &str, is_json: bool) -> String {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let plain = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word.chars().all(letter);
    let means_else = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !is_json && !means_else.contains(&word.to_ascii_lowercase().as_str()) {
        return word.to_owned();
    }
    printable(&Value::from(word).to_string())
}

/// JSON in which whatever YAML does not take as it stands is escaped.
pub(super) fn printable(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => text.push(c),
        }
    }
    text
}

/// The text with the edits; `None` where they overlap.
fn apply(text: &str, mut edits: Vec<(Span, String)>) -> Option<String> {
    edits.sort_by_key(|(span, _)| *span);
    let mut made = String::with_capacity(text.len());
    let mut at = 0;
    for (span, new) in edits {
        made.push_str(text.get(at..span.start)?);
        made.push_str(&new);
        at = span.end;
    }
    made.push_str(text.get(at..)?);
    Some(made)
}

/// Whether a text holds the same cases, with every expectation met by what was decided, and nothing else is changed.
fn is_meant(source: &Source, text: &str, judged: &[(&Case, &Judged)]) -> bool {
    let again = Source::new(source.name(), text);
    let Cases { cases, .. } = read::read(&again, false);
    let same = cases.len() == judged.len()
        && cases.iter().zip(judged).all(|(case, (old, judged))| is_met(case, old, judged));
    same && parse(source).documents.iter().map(without).eq(parse(&again).documents.iter().map(without))
}

fn is_met(case: &Case, old: &Case, judged: &Judged) -> bool {
    let asks = |case: &Case| -> Vec<_> {
        let of = case.expect.iter().map(|expected| {
            let wants = expected.wants.iter().map(|want| want.aspect.clone());
            (expected.subject.clone(), wants.collect::<Vec<_>>())
        });
        of.collect()
    };
    let met = judged.answers.iter().all(|answer| {
        let want = case.expect.get(answer.expectation).and_then(|expected| expected.wants.get(answer.want));
        want.is_some_and(|want| matches!(&answer.got, Got::Fact(got) if *got == want.expected))
    });
    met && asks(case) == asks(old)
}

/// A document without what it expects.
fn without(node: &Node) -> Value {
    let mut value = node.to_json();
    if crate::policy::is_case(node)
        && let Value::Object(map) = &mut value
    {
        map.remove("expect");
    }
    value
}
