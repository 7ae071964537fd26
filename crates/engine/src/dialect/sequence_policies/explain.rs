//! The explanations of sequence policies: which sequence a call completes, how much of a limit is used.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::dispatches::Dispatches;
use crate::dialect::limit::used_of;
use crate::dialect::sequence_policies::codes;
use crate::monitor::explanation::{HaltCause, detail};
use crate::monitor::{About, Explain, Explanation, Line, NameTest, Rule};
use rulestep_base::diagnostic::code;
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{self, Sentence, at, count, joined, thousands};

/// Most names of a sequence that a sentence lists.
const NAMES: usize = 8;

/// The facts of a rule about the calls that were dispatched.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    /// The policy's own name.
    pub policy: Arc<str>,
    /// The rule that was compared.
    pub rule: DispatchRule,
    /// On a halt, every call that was dispatched before it.
    pub dispatched: Option<Dispatches>,
}

/// The part of a rule that is compared with the dispatched calls.
#[derive(Debug, Clone, PartialEq)]
pub enum DispatchRule {
    /// The last calls, this one included, each with the pattern of its name.
    Sequence(Arc<[NamePattern]>),
    /// The number of calls of the tool.
    Limit {
        /// Calls dispatched before this one.
        used: u64,
        /// The most that may be.
        allowed: u64,
    },
}

/// A pattern of a tool's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NamePattern {
    /// The name itself.
    Exact(Arc<str>),
    /// Any name that begins so.
    Prefix(Arc<str>),
}

impl NamePattern {
    /// Whether it matches every name that another one matches.
    pub fn covers(&self, other: &NamePattern) -> bool {
        match (self, other) {
            (NamePattern::Exact(name), NamePattern::Exact(other)) => name == other,
            (NamePattern::Exact(_), NamePattern::Prefix(_)) => false,
            (NamePattern::Prefix(prefix), NamePattern::Exact(other) | NamePattern::Prefix(other)) => {
                other.starts_with(&**prefix)
            }
        }
    }

    /// As a test of names.
    pub fn test(&self) -> NameTest {
        let pattern = self.clone();
        Arc::new(move |name| pattern.covers(&NamePattern::Exact(name.into())))
    }
}

/// The name of a rule without its own.
pub(super) fn phrase(rule: &Rule) -> Option<String> {
    match (rule.kind, &*rule.tools) {
        ("forbidden", []) => Some("no call at all".to_owned()),
        ("forbidden", steps) => Some(format!("no {}", joined(steps, ", then "))),
        ("limit", [tool]) => Some(format!("limit on {}", wording::name(tool))),
        _ => None,
    }
}

impl Explain for Dispatch {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let line = match &self.rule {
            DispatchRule::Sequence(patterns) => format!("sequence {}", written(patterns)),
            DispatchRule::Limit { used, allowed } => used_of(*used, *allowed),
        };
        Explanation {
            lines: vec![Line::new(format!("policy {}", name(&self.policy))), Line::new(line)],
            way_out: about.code.and_then(|code| self.way_out(code)).map(Sentence::new),
            telling: matches!(self.rule, DispatchRule::Limit { .. }),
            ..Explanation::new(
                about,
                if about.code.is_some() { self.against(about) } else { self.in_favour() },
            )
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(&match &self.rule {
            DispatchRule::Sequence(patterns) => json!({"policy": self.policy, "sequence": patterns}),
            DispatchRule::Limit { used, allowed } => {
                json!({"policy": self.policy, "used": used, "allowed": allowed})
            }
        })
    }

    fn halt(&self) -> Option<HaltCause<'_>> {
        let calls = self.dispatched.as_ref()?.calls().map(|(at, tool)| (at, &**tool));
        Some(HaltCause { policy: &self.policy, dispatched: calls.collect() })
    }
}

impl Dispatch {
    fn against(&self, about: &About<'_>) -> String {
        match &self.rule {
            DispatchRule::Sequence(patterns) if patterns.is_empty() => "every call is forbidden".to_owned(),
            DispatchRule::Sequence(patterns) => {
                let begun =
                    about.earlier().map(|first| format!(", which began in {}", at(first, about.session)));
                format!("completes the forbidden sequence {}{}", written(patterns), begun.unwrap_or_default())
            }
            DispatchRule::Limit { used, allowed } => {
                let tool = about.rule.tool.as_deref().map_or_else(|| "the tool".into(), name);
                match allowed {
                    0 => format!("{tool} may not run at all: its limit is 0 calls"),
                    most => {
                        format!(
                            "{tool} already ran {}, and its limit is {}",
                            times(*used),
                            count(*most, "call")
                        )
                    }
                }
            }
        }
    }

    fn in_favour(&self) -> String {
        match &self.rule {
            DispatchRule::Sequence(patterns) => {
                format!("does not complete the sequence {}", written(patterns))
            }
            DispatchRule::Limit { used, allowed } => used_of(*used, *allowed),
        }
    }

    fn way_out(&self, code: code::Code) -> Option<&'static str> {
        match &self.rule {
            DispatchRule::Sequence(patterns) if code == codes::SEQUENCE_FORBIDDEN => {
                Some(match patterns.len() {
                    0 => "none: an empty sequence matches every call",
                    1 => "none: the sequence consists of this one call",
                    _ => "run another call in between, which breaks the sequence",
                })
            }
            DispatchRule::Limit { .. } => Some("none in this session: the limit is used up"),
            DispatchRule::Sequence(_) => None,
        }
    }
}

/// As it is written in a document.
impl Serialize for NamePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            NamePattern::Exact(name) => name.serialize(serializer),
            NamePattern::Prefix(prefix) => json!({"namePrefix": prefix}).serialize(serializer),
        }
    }
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", thousands(more)),
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
