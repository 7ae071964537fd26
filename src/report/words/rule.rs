//! What people call a rule. Its pointer, its patterns and its place are detail, and are never the headline.

use std::sync::Arc;

use super::{list, name};
use crate::monitor::Rule;
use crate::wording::clean::{self, Marks};

/// Most tools that a phrase names.
const TOOLS: usize = 4;
/// Columns a description may take: it stands in a headline.
const WIDTH: usize = 120;

/// What a rule is called, on one line: its description, else its id, else a phrase made from its kind and its tools.
#[must_use]
pub fn rule_name(rule: &Rule) -> String {
    let own = [&rule.description, &rule.name].into_iter().flatten().map(|text| text.trim());
    match own.into_iter().find(|text| !text.is_empty()) {
        Some(text) => clean::fit(text, WIDTH, Marks::Unicode).text(),
        None => phrase(rule),
    }
}

/// `no void_order after issue_refund`.
fn phrase(rule: &Rule) -> String {
    let kind = rule.kind;
    match (kind, &*rule.tools) {
        ("precondition", [tool, prior]) => format!("{} before {}", name(prior), name(tool)),
        ("precondition", [tool]) => format!("completed turns before {}", name(tool)),
        ("forbids_after" | "never_after", [trigger, forbidden]) => {
            format!("no {} after {}", name(forbidden), name(trigger))
        }
        ("forbidden", []) => "no call at all".to_owned(),
        ("forbidden", steps) => format!("no {}", joined(steps, ", then ")),
        ("limit" | "max_calls" | "count", [tool]) => format!("limit on {}", name(tool)),
        ("sequential_dependency", [_, ..]) => format!("dependencies of {}", all(&rule.tools)),
        ("read_before_write", [_, ..]) => format!("read before {}", all(&rule.tools)),
        ("rejection_plan", [tool]) => format!("rejection plan of {}", name(tool)),
        ("require", [tool]) => format!("{} required", name(tool)),
        ("eventually", [tool]) => format!("{} in time", name(tool)),
        ("before", [first, then @ ..]) => format!("{} before {}", name(first), all(then)),
        ("immediately_before", [first, then @ ..]) => {
            format!("{} directly before {}", name(first), all(then))
        }
        ("after", [trigger, then]) => format!("{} after {}", name(then), name(trigger)),
        ("blocklist", [_, ..]) => format!("no {}", all(&rule.tools)),
        ("allowlist", [_, ..]) => format!("only {}", all(&rule.tools)),
        ("sequence", [_, ..]) => joined(&rule.tools, ", then "),
        (_, []) => kind.replace('_', " "),
        (_, tools) => format!("{} of {}", kind.replace('_', " "), all(tools)),
    }
}

/// `a, b and 2 others`.
fn all(tools: &[Arc<str>]) -> String {
    list(shown(tools))
}

fn joined(tools: &[Arc<str>], between: &str) -> String {
    shown(tools).collect::<Vec<_>>().join(between)
}

fn shown(tools: &[Arc<str>]) -> impl Iterator<Item = String> {
    let most = if tools.len() > TOOLS { TOOLS - 1 } else { TOOLS };
    let rest = tools.len().saturating_sub(most);
    let rest = (rest > 0).then(|| format!("{rest} others"));
    tools.iter().take(most).map(|tool| name(tool).into_owned()).chain(rest)
}
