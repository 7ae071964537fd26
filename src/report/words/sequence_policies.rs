//! Words for what sequence policies find.

use super::{at, count};
use crate::diagnostic::{Code, code};
use crate::monitor::Found;
use crate::monitor::finding::{Dispatch, DispatchRule, NamePattern};
use crate::session::Session;
use crate::wording::sentence::name;

/// Most names of a sequence that a sentence lists.
const NAMES: usize = 8;

/// What speaks against a call.
pub(super) fn against(dispatch: &Dispatch, found: &[Found], tool: Option<&str>, session: &Session) -> String {
    match &dispatch.rule {
        DispatchRule::Sequence(patterns) if patterns.is_empty() => "every call is forbidden".to_owned(),
        DispatchRule::Sequence(patterns) => {
            let pattern = written(patterns);
            match found.first() {
                Some(first) => format!(
                    "completes the forbidden sequence {pattern}, begun in {}",
                    at(first.call, session)
                ),
                None => format!("completes the forbidden sequence {pattern}"),
            }
        }
        DispatchRule::Limit { used, allowed } => {
            let tool = tool.map_or_else(|| "the tool".into(), name);
            match allowed {
                0 => format!("{tool} may not run at all"),
                most => {
                    format!("{tool} ran {} before, at most {} allowed", times(*used), count(*most, "call"))
                }
            }
        }
    }
}

/// What a rule that is content looked at.
pub(super) fn in_favour(dispatch: &Dispatch) -> String {
    match &dispatch.rule {
        DispatchRule::Sequence(patterns) => format!("the calls before do not end in {}", written(patterns)),
        DispatchRule::Limit { used, allowed } => used_of(*used, *allowed),
    }
}

/// What would change a finding.
pub(super) fn way_out(code: Code, dispatch: &Dispatch) -> Option<String> {
    match &dispatch.rule {
        DispatchRule::Sequence(patterns) if code == code::SEQUENCE_FORBIDDEN => match patterns.len() {
            0 => Some("nothing: an empty sequence fits every call".to_owned()),
            1 => Some("nothing: the sequence is this call alone".to_owned()),
            _ => Some("another call in between, one that runs, breaks the sequence".to_owned()),
        },
        DispatchRule::Limit { .. } => Some("nothing in this session: the limit is used up".to_owned()),
        DispatchRule::Sequence(_) => None,
    }
}

/// What a rule knows beyond its code.
pub(super) fn details(dispatch: &Dispatch) -> Vec<String> {
    let policy = format!("policy {}", name(&dispatch.policy));
    match &dispatch.rule {
        DispatchRule::Sequence(patterns) => vec![policy, format!("sequence {}", written(patterns))],
        DispatchRule::Limit { used, allowed } => vec![policy, used_of(*used, *allowed)],
    }
}

/// How far a limit is used up.
pub(super) fn limit(tool: &str, used: u64, allowed: u64) -> String {
    format!("{}: {}", name(tool), used_of(used, allowed))
}

fn used_of(used: u64, allowed: u64) -> String {
    format!("{} of {} used", super::thousands(used), count(allowed, "call"))
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", super::thousands(more)),
    }
}

/// `runPython`, then `{namePrefix: slack.}`: as the policy writes it, since a star there would match nothing.
fn written(patterns: &[NamePattern]) -> String {
    let mut names: Vec<String> = patterns
        .iter()
        .take(NAMES)
        .map(|pattern| match pattern {
            NamePattern::Exact(exact) => format!("`{}`", name(exact)),
            NamePattern::Prefix(prefix) => format!("`{{namePrefix: {}}}`", name(prefix)),
        })
        .collect();
    if patterns.len() > NAMES {
        names.push(format!("{} more", patterns.len() - NAMES));
    }
    names.join(", then ")
}
