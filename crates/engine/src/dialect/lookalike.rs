//! Documents that no dialect claims although users rely on them: misspelt ones, and unsupported guards of the
//! publishers. Leaving one out would allow what it was written to stop.

use super::{DIALECTS, Dialect, rejection_plans, sequence_rules};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::nearest::edits;
use rulestep_base::source::{Entry, Node, NodeValue, Source, quoted};

const ELSEWHERE: &str =
    "if this file is not a policy, keep it out of the folder of policies: what it says is not enforced";

/// Keys of other people's files that only look misspelt.
const ORDINARY: &[&str] = &["tools", "roles"];

/// A guard of a publisher that is not supported.
struct Guard {
    key: &'static str,
    /// Whether the value of the key is such a guard.
    holds: fn(&Node) -> bool,
    /// The dialect of its publisher.
    dialect: &'static str,
    /// Where the publisher documents it, and what to do instead.
    help: &'static str,
    /// Whether a document that a dialect claims can have it as well.
    beside_rules: bool,
}

const SESSION: &str =
    "it belongs to Vesanor's `session.yaml`; take the file out, or say it with contracts and sequence rules";
const LISTS: &str = "it belongs to Assay's tool lists; `rules: [{type: blocklist, tools: […]}, {type: allowlist, tools: […]}]` says the same";
const PHASED: &str = "it belongs to one of Vesanor's contracts; take it out, or say it with `preconditions`";

const GUARDS: &[Guard] = &[
    Guard {
        key: "session_limits",
        holds: is_filled,
        dialect: "contract",
        help: SESSION,
        beside_rules: false,
    },
    Guard { key: "phases", holds: is_filled, dialect: "contract", help: SESSION, beside_rules: false },
    Guard { key: "risk_defaults", holds: is_filled, dialect: "contract", help: SESSION, beside_rules: false },
    Guard { key: "transitions", holds: is_filled, dialect: "contract", help: SESSION, beside_rules: false },
    Guard {
        key: "argument_value_invariants",
        holds: is_filled,
        dialect: "contract",
        help: PHASED,
        beside_rules: false,
    },
    Guard {
        key: "execution_constraints",
        holds: is_filled,
        dialect: "contract",
        help: PHASED,
        beside_rules: false,
    },
    Guard { key: "gate", holds: is_gate, dialect: "contract", help: PHASED, beside_rules: false },
    Guard { key: "tools", holds: is_tool_lists, dialect: "sequence_rule", help: LISTS, beside_rules: true },
    Guard { key: "allow", holds: is_names, dialect: "sequence_rule", help: LISTS, beside_rules: true },
    Guard { key: "deny", holds: is_names, dialect: "sequence_rule", help: LISTS, beside_rules: true },
    Guard { key: "tool_pins", holds: is_filled, dialect: "sequence_rule", help: LISTS, beside_rules: true },
    Guard {
        key: "permissions",
        holds: is_tool_lists,
        dialect: "sequence_rule",
        help: "`rules: [{type: blocklist, tools: […]}, {type: allowlist, tools: […]}]` says which tools may be called",
        beside_rules: true,
    },
    Guard {
        key: "conditions",
        holds: is_conditions,
        dialect: "rejection_plan",
        help: "write `{tool: NAME, conditions: […]}`, so that the plan has a tool",
        beside_rules: false,
    },
];

/// The problem of a document that is not read by a dialect, or by the one that it is `of`; none if it is unrelated, or
/// fine for that dialect. With `only`, guards of other dialects are ignored.
pub fn refused(
    node: &Node,
    source: &Source,
    only: Option<&Dialect>,
    of: Option<&'static Dialect>,
) -> Vec<Diagnostic> {
    // Documents of this dialect may have any key, so its reader says nothing of a guard that it does not read.
    let lenient = of.filter(|of| !of.rules_only);
    if node.get("dialect").is_some() && lenient.is_none() {
        return Vec::new();
    }
    let wanted = |dialect: &str| only.is_none_or(|only| only.name == dialect);
    let mut out = Vec::new();
    if of.is_none() && wanted("sequence_rule") {
        out.extend(node.as_seq().unwrap_or_default().iter().filter_map(|item| misspelt_rule(item, source)));
    }
    for entry in node.as_map().unwrap_or_default() {
        let applies = |guard: &Guard| match lenient {
            Some(lenient) => lenient.name != guard.dialect,
            None => guard.beside_rules || of.is_none(),
        };
        let guard = GUARDS.iter().find(|guard| {
            guard.key == entry.key && wanted(guard.dialect) && applies(guard) && (guard.holds)(&entry.value)
        });
        if let Some(guard) = guard {
            let message = format!("{} is not supported yet: it would not be enforced", quoted(&entry.key));
            let told = Diagnostic::error(code::NOT_ENFORCED, message);
            out.push(told.at(source, entry.key_span).help(guard.help));
        } else if let Some(lenient) = lenient {
            out.extend(beside(entry, source, lenient, &wanted));
        } else if of.is_none() {
            out.extend(misspelt(entry, source, &wanted));
        }
    }
    out
}

/// A key by which the documents of another dialect are recognised, in a document of this one, which does not read it.
fn beside(entry: &Entry, source: &Source, of: &Dialect, wanted: &dyn Fn(&str) -> bool) -> Option<Diagnostic> {
    // Its own reader knows these.
    if matches!(entry.key.as_str(), "tool" | "dialect") || of.keys.contains(&entry.key.as_str()) {
        return None;
    }
    let others = |dialect: &str| dialect != of.name && wanted(dialect);
    let is_known = DIALECTS.iter().any(|dialect| {
        others(dialect.name)
            && dialect.keys.contains(&entry.key.as_str())
            && fits(&entry.key, &entry.value)
            && !entry.value.is_null()
    });
    if !is_known {
        return misspelt(entry, source, &|dialect| others(dialect));
    }
    let message = format!(
        "{} is not read in a document of {}, so it would not be enforced",
        quoted(&entry.key),
        of.plural()
    );
    let help = "write it as a document of its own: `---` on a line of its own begins one";
    Some(Diagnostic::error(code::NOT_ENFORCED, message).at(source, entry.key_span).help(help))
}

/// Whether a top-level key is nearly one by which some dialect's documents are recognised.
fn misspelt(entry: &Entry, source: &Source, wanted: &dyn Fn(&str) -> bool) -> Option<Diagnostic> {
    const LONGEST: usize = 64;
    if entry.key.len() > LONGEST || ORDINARY.contains(&entry.key.as_str()) {
        return None;
    }
    let known = DIALECTS.iter().filter(|dialect| wanted(dialect.name)).flat_map(|dialect| dialect.keys);
    let near = known.copied().filter(|known| is_near(&entry.key, known) && fits(known, &entry.value));
    let known = near.min_by_key(|known| edits(&entry.key, known))?;
    if known == entry.key {
        return Some(incomplete(entry, source));
    }
    let message = format!("unknown key {}, did you mean `{known}`?", quoted(&entry.key));
    Some(Diagnostic::error(code::UNKNOWN_KEY, message).at(source, entry.key_span).help(ELSEWHERE))
}

/// The operands of a sequence rule.
const OPERANDS: [&str; 8] = ["tools", "pattern", "first", "then", "trigger", "forbidden", "tool", "call"];

fn has_operand(item: &Node) -> bool {
    OPERANDS.iter().any(|key| item.get(key).is_some())
}

/// Whether some rule of a list, or under `rules`, has the type of a sequence rule and what it is about.
pub fn has_whole_rule(node: &Node) -> bool {
    let rules = node.get("rules").unwrap_or(node).as_seq().unwrap_or_default();
    rules.iter().any(|rule| {
        let kind = rule.get("type").and_then(Node::as_str);
        kind.is_some_and(|kind| sequence_rules::types().any(|known| known == kind)) && has_operand(rule)
    })
}

/// A rule of a list in which no item has a known type: if another rule were beside it, its reader would reject it.
fn misspelt_rule(item: &Node, source: &Source) -> Option<Diagnostic> {
    const SHORT: usize = 6;
    let kind = item.get("type")?;
    let word = kind.as_str().filter(|_| has_operand(item))?;
    // A short word may have one wrong letter.
    let is_slip = |known: &str| known.len() > SHORT || edits(word, known) < 2;
    let near = sequence_rules::types().filter(|known| is_near(word, known) && is_slip(known));
    let known = near.min_by_key(|known| edits(word, known))?;
    let message = format!("unknown type of rule {}, did you mean `{known}`?", quoted(word));
    Some(Diagnostic::error(code::BAD_VALUE, message).at(source, kind.span).help(ELSEWHERE))
}

/// The problem of a document that has a key of a dialect and is not one of its documents.
fn incomplete(entry: &Entry, source: &Source) -> Diagnostic {
    let dialect = DIALECTS.iter().find(|dialect| dialect.keys.contains(&entry.key.as_str()));
    let others: Vec<String> = dialect
        .into_iter()
        .flat_map(|dialect| dialect.keys)
        .filter(|key| **key != entry.key && **key != "dialect")
        .map(|key| format!("`{key}`"))
        .collect();
    let key = quoted(&entry.key);
    let wants_list = matches!(entry.key.as_str(), "rules" | "sequences");
    let (message, help) = match &entry.value.value {
        NodeValue::Map(_) if wants_list => {
            (format!("expected a list for {key}, found a mapping"), format!("begin each of {key} with `- `"))
        }
        _ => (
            format!("a document with {key} alone is not a policy, so what it says is not enforced"),
            format!(
                "add {}; if this file is not a policy, keep it out of the folder of policies",
                others.join(" or ")
            ),
        ),
    };
    Diagnostic::error(code::NOT_ENFORCED, message).at(source, entry.key_span).help(help)
}

fn is_near(key: &str, known: &str) -> bool {
    const SHORT: usize = 6;
    // Two letters of five may make any word of any other; and people seldom miss the first.
    let first = |word: &str| word.chars().next().map(|first| first.to_ascii_lowercase());
    match edits(key, known) {
        0 | 1 => known.len() >= SHORT || first(key) == first(known),
        2 => known.len() >= SHORT,
        _ => singular(known) == Some(key),
    }
}

/// `policies` is written `policy` as easily as `rules` is written `rule`.
fn singular(known: &str) -> Option<&str> {
    (known == "policies").then_some("policy")
}

/// Whether a value is of the kind that is under a known key, so that other people's keys are left alone.
fn fits(known: &str, value: &Node) -> bool {
    let collection = matches!(value.value, NodeValue::Seq(_) | NodeValue::Map(_) | NodeValue::Null);
    match known {
        "tool" | "dialect" => value.as_str().is_some(),
        // Files of other programs have tests as well; ours say what is expected of a session.
        "tests" => value.as_seq().unwrap_or_default().iter().any(|test| {
            ["metric", "expected", "rules", "sequences"].iter().any(|key| test.get(key).is_some())
        }),
        _ => collection,
    }
}

fn is_filled(value: &Node) -> bool {
    match &value.value {
        NodeValue::Seq(items) => !items.is_empty(),
        NodeValue::Map(entries) => !entries.is_empty(),
        _ => false,
    }
}

fn is_gate(value: &Node) -> bool {
    matches!(value.as_str(), Some("allow" | "block"))
}

fn is_names(value: &Node) -> bool {
    value.as_seq().is_some_and(|items| items.iter().any(|item| item.as_str().is_some()))
}

/// `{allow: […], deny: […]}`, and the lists of tools under other conditions beside them.
fn is_tool_lists(value: &Node) -> bool {
    const BEGINNINGS: &[&str] =
        &["allow", "deny", "denied", "block", "ask", "approval", "restrict", "redact"];
    let entries = value.as_map().unwrap_or_default();
    let lists = |key: &str| BEGINNINGS.iter().any(|start| key.starts_with(start));
    entries.iter().any(|entry| lists(&entry.key) && !entry.value.is_null())
}

fn is_conditions(value: &Node) -> bool {
    rejection_plans::holds_conditions(value) || value.as_seq().is_some_and(<[Node]>::is_empty)
}
