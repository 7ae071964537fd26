//! How results are marked: what their own lines say of them, and what others say of calls that were not let through.

use std::collections::HashMap;

use crate::recording::contract::setting::Setting;
use crate::recording::input::digest::digest;
use crate::recording::input::shallow::{Members, Node};
use crate::recording::shape::blocks::Answer;
use crate::session::Body;
use crate::session::build::{Builder, Mark};
use crate::source::quoted;

/// What is known of how results are marked.
#[derive(Default)]
pub struct Marks {
    /// What is known of the file.
    pub setting: Setting,
    /// Where it was said of calls that they were denied, by hashes of their sessions and ids.
    denied: HashMap<u64, u32>,
}

const DENIED: &str = "the log says that permission was denied";

impl Marks {
    /// Of a file of which nothing was read yet.
    pub fn new(setting: Setting) -> Marks {
        Marks { setting, denied: HashMap::new() }
    }

    /// This line says that a call of this session was denied.
    pub fn deny(&mut self, session: &str, id: &str, line: u32) {
        self.denied.entry(digest((session, id))).or_insert(line);
    }

    fn denial(&self, session: &str, id: Option<&str>) -> Option<u32> {
        self.denied.get(&digest((session, id?))).copied()
    }

    /// How a result is marked. A refusal is an error whose text, or whose log, says that the call was not let through:
    /// what merely quotes such a text is no refusal.
    pub fn of(&self, session: &str, answer: &Answer, rejected: bool) -> Mark {
        let failed = self.setting.failed(answer.error, &answer.content);
        // Only what failed is looked at: most results are long, and say nothing of this.
        let published = || {
            let text = answer.content.shown();
            REFUSALS.iter().find(|(says, _)| says(text)).map(|(_, how)| *how)
        };
        let denied = || self.denial(session, answer.id.as_deref()).map(|_| DENIED);
        let refused = match answer.error {
            Some(true) if rejected => Some("the log says that the call was rejected"),
            Some(true) => published().or_else(denied),
            _ => None,
        };
        Mark { error: failed, refused }
    }

    /// That a result is not marked as failed, although its call is said to have been denied.
    pub fn contradiction(&self, session: &str, answer: &Answer) -> Option<String> {
        let id = answer.id.as_deref().filter(|_| answer.error != Some(true))?;
        let line = self.denial(session, Some(id))?;
        Some(format!(
            "line {line} says that the call {} was denied, but its result is not marked as failed; it is read as it is \
             marked",
            quoted(id)
        ))
    }

    /// Calls that are said to have been denied and have no result: that is what became of them.
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

/// Ids of the calls that a line says were not let through: the last line of a run lists all of them, and newer versions
/// say so of each when it happens, too.
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

/// How a refusal is worded, and what it was.
type Refusal = (fn(&str) -> bool, &'static str);

const REFUSALS: [Refusal; 5] = [
    (
        |text| {
            text.starts_with("The user doesn't want to proceed with this tool use")
                || text.starts_with("The user doesn't want to take this action right now")
        },
        "the result says that the user did not want the call",
    ),
    (
        |text| text.starts_with("Permission ") && text.contains(" has been denied"),
        "the result says that permission was denied",
    ),
    (
        |text| text.starts_with("Claude requested permissions ") && text.contains("haven't granted it"),
        "the result says that permission was not given",
    ),
    // Where nobody can be asked, a command that needs an answer does not run.
    (
        |text| {
            text.starts_with("This command requires approval")
                || text.starts_with("This Bash command contains multiple operations")
                    && text.contains("approval")
        },
        "the result says that the call needed an approval",
    ),
    (
        |text| {
            let hook = text.strip_prefix("Error: ").unwrap_or(text);
            hook.starts_with("PreToolUse:") && hook.contains(" hook ") || hook.starts_with("Hook PreToolUse:")
        },
        "the result says that a hook stopped the call",
    ),
];
