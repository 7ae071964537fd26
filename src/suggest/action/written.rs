//! Suggested rules about what calls do as a document of sequence rules.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::claim::{Action, ActionRule};
use crate::explore::inventory::SECRETS;
use rulestep_base::source::inline::{inline, scalar};

/// Folders that are no one's: everything outside the project but these.
const OUTSIDE: [&str; 6] = ["/**", "~/**", "../**", "!/tmp/**", "!/var/tmp/**", "!/private/tmp/**"];

/// The head of a document.
const SHADOW: &str = "# Suggested by recordings. In shadow mode a rule is decided and counted, and stops nothing:\n\
    # remove `mode: shadow` where it is to be enforced. What scripts do (`make`, `python3 x.py`) no rule sees:\n\
    # without `opaque: allow`, a rule reports them.\n";

/// The document, each rule below its notes. With `shadow`, no rule stops a call until the user enforces it.
pub fn document(rules: &[&ActionRule], notes: &dyn Fn(&ActionRule) -> Vec<String>, shadow: bool) -> String {
    let mut text = if shadow { SHADOW.to_owned() } else { String::new() };
    text.push_str("rules:\n");
    for one in rules {
        for note in notes(one) {
            let _ = writeln!(text, "  # {note}");
        }
        let mut mark = "- ";
        for (key, value) in members(one) {
            let _ = writeln!(text, "  {mark}{}: {}", scalar(key, false), inline(&value, false));
            mark = "  ";
        }
        if shadow {
            text.push_str("    mode: shadow\n");
        }
    }
    text
}

/// A rule as data.
pub fn rule(rule: &ActionRule) -> Value {
    let members: Map<String, Value> =
        members(rule).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Value::Object(members)
}

/// The keys of a rule in the order of the text.
fn members(rule: &ActionRule) -> Vec<(&'static str, Value)> {
    let mut members = match rule {
        ActionRule::Needs { then, first } => {
            vec![("type", json!("before")), ("first", any(first)), ("then", one(then))]
        }
        ActionRule::KnownFiles(tool) => vec![
            ("type", json!("before")),
            ("first", json!([{"reads": "**"}, {"writes": "**"}])),
            ("then", json!({"tool": &**tool, "writes": "**"})),
            ("same", json!("file")),
        ],
        ActionRule::DeletesInside => vec![("type", json!("never")), ("call", json!({"deletes": OUTSIDE}))],
        ActionRule::WritesInside => vec![("type", json!("never")), ("call", json!({"writes": OUTSIDE}))],
        ActionRule::SecretsStay => vec![
            ("type", json!("never_after")),
            ("trigger", json!({"reads": SECRETS})),
            ("forbidden", json!({"reaches": "*"})),
        ],
        ActionRule::NeverAfter { trigger, forbidden } => {
            vec![("type", json!("never_after")), ("trigger", one(trigger)), ("forbidden", one(forbidden))]
        }
        // A second attempt after a failure is no second time.
        ActionRule::Once(action) => vec![
            ("type", json!("never_after")),
            ("trigger", json!({"runs": runs(action), "ended": "ok"})),
            ("forbidden", one(action)),
        ],
    };
    members.push(("opaque", json!("allow")));
    members
}

fn one(action: &Action) -> Value {
    json!({ "runs": runs(action) })
}

fn any(actions: &[Action]) -> Value {
    match actions {
        [only] => one(only),
        several => json!({ "runs": several.iter().map(runs).collect::<Vec<_>>() }),
    }
}

fn runs(action: &Action) -> Value {
    match action.0.split_first() {
        Some((program, [])) => json!({ "program": program }),
        Some((program, args)) => json!({ "program": program, "args": args }),
        None => Value::Null,
    }
}
