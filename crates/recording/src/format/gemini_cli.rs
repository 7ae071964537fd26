//! Sessions of the Gemini CLI: saved ones, an object with `messages` or JSON Lines of them; single messages of one; and
//! conversations in the form of the Gemini API, a list of `{role, parts}`.
//!
//! Lines of a saved session repeat a message when something was added to it, and take messages back. Thoughts are not
//! kept.

mod history;
mod message;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::suspicion;
use history::History;
use rulestep_base::diagnostic::Loss;

pub(crate) const FORMAT: Format = Format {
    name: "gemini-cli",
    title: "sessions of the Gemini CLI, and conversations in Gemini's form",
    source: "`~/.gemini/tmp/*/chats/`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let saved = value.has("sessionId") && value.has("projectHash");
        let taken_back = value.has(TAKEN_BACK);
        saved
            || taken_back
            || is_gemini(value)
            || is_content(value)
            || value.get("contents").is_some_and(first_is_content)
    }) || sample.lists().any(first_is_content)
}

/// Keys of lines that change the session: its members, and the message that it was rewound to.
const SET: &str = "$set";
const TAKEN_BACK: &str = "$rewindTo";

fn first_is_content(list: Node<'_>) -> bool {
    list.first_item().and_then(Node::members).is_some_and(|first| is_content(&first) || is_gemini(&first))
}

fn is_gemini(message: &Members<'_>) -> bool {
    let kind = message.get("type").and_then(Node::text);
    kind.is_some_and(|kind| kind == "gemini") && message.any(&["content", "toolCalls"]).is_some()
}

fn is_content(message: &Members<'_>) -> bool {
    message.has("role") && message.get("parts").is_some_and(|parts| parts.kind() == Kind::List)
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Gemini { setting: setting.clone(), open: None })
}

struct Gemini {
    setting: Setting,
    /// The session that messages on lines of their own belong to, and the list they are in.
    open: Option<(History, Option<u32>)>,
}

impl Reader for Gemini {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        if members.has("sessionId") && !members.has("type") {
            return self.saved(unit, out);
        }
        let contents = if unit.node.kind() == Kind::List { Some(unit.node) } else { members.get("contents") };
        if let Some(contents) = contents.filter(|contents| first_is_content(*contents)) {
            self.close(out);
            let mut history = History::new(self.setting.session("", unit, out));
            messages(&mut history, contents, unit.line);
            for answer in ["candidates", "response"].into_iter().filter(|key| members.get(key).is_some()) {
                history.builder.at_line(unit.line).damaged(suspicion::lost(&format!("`{answer}`")));
            }
            return history.close(&self.setting, out);
        }
        let (taken_back, set) = (members.get(TAKEN_BACK), members.get(SET).and_then(Node::members));
        let is_message =
            members.has("type") && members.any(&["content", "toolCalls"]).is_some() || is_content(members);
        if !(is_message || taken_back.is_some() || set.is_some()) {
            return out.diagnostics(self.setting.foreign(unit, "neither a session nor a message"));
        }
        let set = set.map(|set| set.get("messages"));
        if set.is_some_and(|set| set.is_none()) {
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        if self.open.as_ref().is_some_and(|(_, list)| *list != unit.list) {
            self.close(out);
        }
        let (history, _) = self
            .open
            .get_or_insert_with(|| (History::new(self.setting.session_at("", unit.line, out)), unit.list));
        unit.diagnostics.iter().cloned().for_each(|diagnostic| history.builder.diagnostic(diagnostic));
        match (taken_back.and_then(Node::id), set.flatten()) {
            (Some(id), _) => history.take_back(&id, unit.line),
            (None, Some(set)) => history.keep_up(set, unit.line),
            (None, None) if is_message => history.push(unit.node, members, unit.line),
            (None, None) => {
                history
                    .builder
                    .at_line(unit.line)
                    .lost(Loss::MayHoldCalls, "`$rewindTo` names no message; it is left out");
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }
}

impl Gemini {
    fn close(&mut self, out: &mut Out) {
        if let Some((history, _)) = self.open.take() {
            history.close(&self.setting, out);
        }
    }

    /// A complete session, or the line that one begins with, which is repeated when the session is resumed.
    fn saved(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let id = members.get("sessionId").and_then(Node::id).unwrap_or_default();
        let goes_on = self.open.as_ref().is_some_and(|(history, list)| {
            **history.builder.session_id() == *id && !id.is_empty() && *list == unit.list && list.is_none()
        });
        if !goes_on {
            self.close(out);
            let mut builder = self.setting.session(&id, unit, out);
            builder.context("agent", FORMAT.name.into());
            builder.facts().now = members.get("startTime").and_then(time::instant);
            if let Some(summary) = members.get("summary").and_then(Node::text) {
                builder.title(&summary);
            }
            if let Some(hash) = members.get("projectHash").and_then(Node::value) {
                builder.context("projectHash", hash);
            }
            self.open = Some((History::new(builder), unit.list));
        }
        if let (Some((history, _)), Some(list)) = (&mut self.open, members.get("messages")) {
            messages(history, list, unit.line);
        }
    }
}

fn messages(history: &mut History, messages: Node<'_>, line: u32) {
    let mut lines = Lines::new(messages, line);
    let Some(items) = messages.items() else {
        let word = messages.said_kind();
        return history
            .builder
            .at_line(line)
            .lost(Loss::MayHoldCalls, format!("the messages are {word}, not a list"));
    };
    for item in items {
        let line = lines.of(item);
        match item.members() {
            Some(message) => history.push(item, &message, line),
            None => {
                let word = item.said_kind();
                let odd = format!("a message is {word}, not an object; it is left out");
                history.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
            }
        }
    }
}
