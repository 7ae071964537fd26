//! Marks of results: on their own lines, and on other lines about calls that were not allowed.

use std::collections::HashMap;

use crate::contract::setting::Setting;
use crate::input::digest::digest;
use crate::input::shallow::{Members, Node};
use crate::shape::blocks::Answer;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, refusal};
use rulestep_base::source::quoted;

/// What is known of how results are marked.
#[derive(Default)]
pub struct Marks {
    /// The file.
    pub setting: Setting,
    /// Whether a line marks its call as denied, so that the log does so with all that were.
    marked: bool,
    /// Calls that were reported as denied, by hashes of their sessions and ids.
    denied: HashMap<u64, u32>,
}

const DENIED: &str = "the log says that permission was denied";
/// How a refusal is known if the line of a result has `toolDenialKind`.
pub const KIND: &str = "the log says that the call was rejected";

impl Marks {
    /// For a file of which nothing was read yet.
    pub fn new(setting: Setting) -> Marks {
        Marks { setting, marked: false, denied: HashMap::new() }
    }

    /// This line says that a call of this session was denied.
    pub fn deny(&mut self, session: &str, id: &str, line: u32) {
        self.denied.entry(digest((session, id))).or_insert(line);
    }

    /// Records what a line says about how calls are marked.
    pub fn note(&mut self, members: &Members<'_>) {
        self.marked |= members.get("toolDenialKind").is_some();
    }

    fn denial(&self, session: &str, id: Option<&str>) -> Option<u32> {
        self.denied.get(&digest((session, id?))).copied()
    }

    /// The mark of a result. A refusal is an error for which the log says that the call was not allowed; if nothing in
    /// the log is marked so, its text may say it. A quoted text of that kind is not a refusal.
    pub fn of(&self, session: &str, answer: &Answer, rejected: Option<&'static str>) -> Mark {
        let failed = self.setting.failed(answer.error, &answer.content);
        // Only what failed is looked at: most results are long, and say nothing of this.
        let published = || {
            if self.marked || self.setting.marks_alone {
                return None;
            }
            let text = answer.content.shown();
            let own = REFUSALS.iter().find(|(says, _)| says(text)).map(|(_, how)| *how);
            own.or_else(|| refusal::recognised(&answer.content, ""))
        };
        let denied = || self.denial(session, answer.id.as_deref()).map(|_| DENIED);
        let refused = match answer.error {
            Some(true) => rejected.or_else(denied).or_else(published),
            _ => None,
        };
        Mark { error: failed, refused }
    }

    /// The contradiction of a result that is not marked as failed although its call was reported as denied.
    pub fn contradiction(&self, session: &str, answer: &Answer) -> Option<String> {
        let id = answer.id.as_deref().filter(|_| answer.error != Some(true))?;
        let line = self.denial(session, Some(id))?;
        Some(format!(
            "line {line} says that the call {} was denied, but its result is not marked as failed; it is read as it is \
             marked",
            quoted(id)
        ))
    }

    /// Settles calls that were reported as denied and have no result as refused.
    pub fn settle(&self, session: &str, builder: &mut Builder) {
        if self.denied.is_empty() {
            return;
        }
        for id in builder.waiting() {
            if let Some(line) = self.denial(session, Some(&id)) {
                let mark = Mark { error: true, refused: Some(DENIED) };
                builder.at_line(line).result(Some(&id), Body::MISSING, mark, None);
            }
        }
    }
}

/// Ids of the calls that a line reports as not allowed: the last line of a run lists all of them, and newer versions
/// also report each when it happens.
pub fn denied_by(members: &Members<'_>) -> Vec<Box<str>> {
    let is =
        |of: &Members<'_>, key, value| of.get(key).and_then(Node::text).is_some_and(|text| text == value);
    let items = |key| members.get(key).and_then(Node::items).unwrap_or_default().into_iter();
    let id = |of: &Members<'_>, key| of.get(key).and_then(Node::id).map(|id| id.as_ref().into());
    if is(members, "type", "result") {
        let denials = items("permission_denials").filter_map(Node::members);
        return denials.filter_map(|denial| id(&denial, "tool_use_id")).collect();
    }
    if is(members, "type", "system") && is(members, "subtype", "permission_denied") {
        return id(members, "tool_use_id").into_iter().collect();
    }
    let stopped = items("tool_result_meta").filter_map(Node::members).filter(|meta| {
        is(meta, "non_execution_kind", "permission-rule") || is(meta, "non_execution_kind", "user-rejected")
    });
    stopped.filter_map(|meta| id(&meta, "id")).collect()
}

/// The log's own record of a call that was not allowed, by the user or by the program before it ran anything. The text
/// of a failed tool is in the result as well, after `Error: `.
pub fn rejected(told: &str, answers: &[Answer]) -> Option<&'static str> {
    let [answer] = answers else { return None };
    if told == "User rejected tool use" {
        return Some("the log says that the call was rejected");
    }
    let text = answer.content.shown();
    let inner = text.strip_prefix(UNUSABLE)?.strip_suffix("</tool_use_error>")?;
    let is_input = |text: &str| text.starts_with(INVALID);
    let message = told.strip_prefix("Error: ");
    let same = message.is_some_and(|message| inner == message || inner == told);
    (same || is_input(told) && is_input(inner)).then_some(NOT_RUN)
}

/// Whether a result may be that of a call which the program rejected.
pub fn may_be_rejected(answers: &[Answer]) -> bool {
    answers.iter().any(|answer| answer.error == Some(true) && answer.content.shown().starts_with(UNUSABLE))
}

/// The tags around the program's own words to the model.
const UNUSABLE: &str = "<tool_use_error>";
const INVALID: &str = "InputValidationError: ";
const NOT_RUN: &str = "the agent rejected the call before it ran";

/// Parts of the first line, about a path.
const BLOCKED: [&str; 2] =
    ["' was blocked by a deny rule", "' was blocked. For security, Claude Code may only "];

/// A test of a refusal's text, and what refused the call.
type Refusal = (fn(&str) -> bool, &'static str);

const REFUSALS: [Refusal; 6] = [
    (
        |text| {
            text.starts_with("The user doesn't want to proceed with this tool use")
                || text.starts_with("The user doesn't want to take this action right now")
        },
        "the result says that the user did not want the call",
    ),
    (
        |text| {
            let named = ["Permission ", "Agent type '"].iter().any(|begins| text.starts_with(begins));
            named && text.contains(" has been denied")
                || text.starts_with("File is in a directory that is denied by your permission settings")
                || BLOCKED
                    .iter()
                    .any(|blocked| text.lines().next().is_some_and(|line| line.contains(blocked)))
        },
        "the result says that permission was denied",
    ),
    (
        |text| text.starts_with("Claude requested permissions to "),
        "the result says that permission was not given",
    ),
    // If no one can be asked, a command that needs an answer does not run.
    (
        |text| {
            let begins = [
                "This command ",
                "This Bash command ",
                "sed command ",
                "Permission rule '",
                "Hook '",
                "Tool '",
            ];
            begins.iter().any(|begins| text.starts_with(begins)) && text.contains(" approval")
        },
        "the result says that the call needed an approval",
    ),
    (
        |text| {
            let inner = text.strip_prefix(UNUSABLE);
            let says = [INVALID, "Error: No such tool available: "];
            inner.is_some_and(|inner| says.iter().any(|says| inner.starts_with(says)))
        },
        NOT_RUN,
    ),
    (
        |text| {
            let hook = text.strip_prefix("Error: ").unwrap_or(text);
            hook.starts_with("PreToolUse:") && hook.contains(" hook ") || hook.starts_with("Hook PreToolUse:")
        },
        "the result says that a hook stopped the call",
    ),
];
