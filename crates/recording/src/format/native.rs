//! The native form, which is the OpenAI chat form: one object per session, with `messages` and optional further facts;
//! or the bare messages of one session, as a list or one per line.

use crate::contract::out::Out;
use crate::contract::setting::{IDS, Setting};
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::bare::Bare;
use crate::shape::chat::{Chat, Rules};
use crate::shape::command;
use crate::shape::offer;
use crate::shape::offer::Offer;
use crate::shape::status::Status;
use crate::shape::suspicion;
use crate::shape::suspicion::Suspicion;
use rulestep_base::diagnostic::{Diagnostic, Loss};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, OLD_OPERATION_ROLE, OPERATION_ROLE, Results};

pub(crate) const FORMAT: Format = Format {
    name: "native",
    title: "Rulestep's own sessions (docs/formats.md), and bare chat messages, as a list or a line each",
    source: "`rulestep convert` writes every other format so",
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|object| is_session(object) || is_message(object))
        || sample.lists().any(is_conversation)
}

/// Whether it is a session as `convert` writes it, whatever its messages hold.
pub(crate) fn is_written(object: &Members<'_>) -> bool {
    let results = object.try_get("results").and_then(Node::text);
    object.has("messages") && results.is_some_and(|results| matches!(&*results, "recorded" | "absent"))
}

fn is_session(object: &Members<'_>) -> bool {
    let Some(messages) = object.get("messages") else { return false };
    let damaged =
        |items: Vec<Node<'_>>| items.iter().filter_map(|item| item.members()).any(|item| item.has("role"));
    is_conversation(messages) || messages.items().is_some_and(|items| items.is_empty() || damaged(items))
}

fn is_message(object: &Members<'_>) -> bool {
    let Some(role) = object.get("role").and_then(Node::text) else { return false };
    // People and accounts have roles as well.
    let is_known = || ROLES.contains(&&*role);
    let says = || SAYS.iter().any(|key| object.has(key));
    (is_known() || says()) && !object.has("messages")
}

/// Roles that make an object a message, whatever else it has; and keys that do so beside any role.
const ROLES: [&str; 11] = [
    "system",
    "developer",
    "user",
    "human",
    "assistant",
    "model",
    "ai",
    "tool",
    "function",
    OPERATION_ROLE,
    OLD_OPERATION_ROLE,
];
const SAYS: [&str; 4] = ["content", "tool_calls", "function_call", "tool_call_id"];

/// Keys under which a session names the one that started it.
const PARENT: [&str; 6] =
    ["parent", "parent_id", "parentId", "parentID", "parent_session_id", "parentSessionId"];

/// Members of a session, as `convert` and cases write it.
pub const MEMBERS: [&str; 12] = [
    "id",
    "title",
    "parent",
    "context",
    "variables",
    "files",
    "now",
    "results",
    "from_the_middle",
    "tools",
    "tools_at",
    "messages",
];

/// A list of messages.
fn is_conversation(list: Node<'_>) -> bool {
    list.first_item().and_then(Node::members).is_some_and(|first| is_message(&first))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    // The chats of OpenHands look like any other's, but for how results begin.
    let ended = |content: &Body| match command::is_openhands(content) {
        true => command::openhands(content.shown()),
        false => Status::Unknown,
    };
    let rules = Rules { python: false, ended, error: setting.error.clone() };
    Box::new(Native {
        setting: setting.clone(),
        rules,
        open: Bare::default(),
        uncalled: Suspicion::default(),
    })
}

struct Native {
    setting: Setting,
    rules: Rules,
    /// The session of messages that are not in an envelope.
    open: Bare<Builder>,
    /// Suspicious content of its messages that may be calls.
    uncalled: Suspicion,
}

impl Reader for Native {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        if members.has("messages") {
            self.close(out);
            return self.session(unit, members, out);
        }
        if members.has("role") {
            return self.bare_message(unit, out);
        }
        if is_conversation(unit.node) {
            self.close(out);
            let mut builder = self.setting.session("", unit, out);
            let mut chat = Chat::new(unit.node, unit.line, &self.rules);
            chat.messages(&mut builder, unit.node);
            suspicion::look(&mut builder, unit, None, Some(unit.node));
            return out.session(builder);
        }
        for diagnostic in self.setting.foreign(unit, "neither a session nor a message") {
            self.damaged(diagnostic, out);
        }
    }

    fn apart(&self) -> Option<fn(&Members<'_>) -> bool> {
        Some(|members| members.has("messages"))
    }

    fn before_apart(&mut self, out: &mut Out) {
        self.close(out);
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        self.open.damaged(diagnostic, out);
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }
}

impl Native {
    fn close(&mut self, out: &mut Out) {
        if let Some(mut builder) = self.open.take() {
            std::mem::take(&mut self.uncalled).tell(&mut builder);
            out.session(builder);
        }
    }

    fn bare_message(&mut self, unit: &Unit<'_>, out: &mut Out) {
        if self.open.is_of_another(unit.list) {
            self.close(out);
        }
        let mut builder = self.open.begin(&self.setting, unit, out, |builder| builder);
        Chat::new(unit.node, unit.line, &self.rules).message(&mut builder, &unit.members);
        self.uncalled.message(&builder, &unit.members, || unit.line);
        self.open.put(builder, unit);
    }

    fn session(&self, unit: &Unit<'_>, members: &Members<'_>, out: &mut Out) {
        let id = members.any(&IDS).map(Node::tried).and_then(Node::id).unwrap_or_default();
        let mut surroundings = Surroundings { members, builder: self.setting.session(&id, unit, out) };
        surroundings.facts();
        surroundings.results();
        surroundings.offered();
        let mut builder = surroundings.builder;
        let mut chat = Chat::new(unit.node, unit.line, &self.rules);
        if let Some(messages) = members.get("messages") {
            chat.messages(&mut builder, messages);
        } else {
            builder.lost(Loss::MayHoldCalls, "`messages` is null, not a list");
        }
        if let Some(response) = members.get("response").filter(|response| response.kind() != Kind::Text) {
            let word = response.kind().word();
            let odd = format!("`response` is {word} in which no messages can be read; it is left out");
            builder.at_line(unit.line).lost(Loss::MayHoldCalls, odd);
        }
        // The output of `convert` has its calls where they belong; later additions need not.
        if !is_written(members) || members.iter().any(|(name, _)| !MEMBERS.contains(&name)) {
            suspicion::look(&mut builder, unit, Some(members), members.get("messages"));
        }
        out.session(builder);
    }
}

/// The facts of a session besides its messages.
struct Surroundings<'s, 'a> {
    members: &'s Members<'a>,
    builder: Builder,
}

impl Surroundings<'_, '_> {
    fn facts(&mut self) {
        if let Some(node) = self.members.get("context") {
            let context = node.value();
            self.expect("context", "JSON that can be read", context.is_some());
            self.builder.facts().context = context;
        }
        if let Some(node) = self.members.get("variables") {
            let variables = match node.value() {
                Some(serde_json::Value::Object(map)) => Some(map),
                _ => None,
            };
            self.expect("variables", "an object", variables.is_some());
            self.builder.facts().variables = variables;
        }
        if let Some(node) = self.members.get("files") {
            let items = node.tried().items();
            let files: Option<Vec<String>> = items
                .and_then(|items| items.into_iter().map(|item| Some(item.text()?.into_owned())).collect());
            self.expect("files", "a list of texts", files.is_some());
            self.builder.facts().files = files;
        }
        if let Some(node) = self.members.get("now") {
            let now = time::instant(node);
            self.expect("now", "a time", now.is_some());
            self.builder.facts().now = now;
        }
        if let Some(node) = self.members.get("title") {
            match node.tried().text() {
                Some(title) => self.builder.title(&title),
                None => self.expect("title", "a text", false),
            }
        }
        if let Some((key, node)) = PARENT.iter().find_map(|key| Some((*key, self.members.get(key)?))) {
            match node.tried().id() {
                Some(parent) => self.builder.parent(parent.as_ref()),
                None => self.expect(key, "the id of a session", false),
            }
        }
        if let Some(node) = self.members.get("from_the_middle") {
            if node.tried().bool().is_none() {
                self.damaged("`from_the_middle` is not a truth value, and is read as true".to_owned());
            }
            // An unreadable mark counts as set: then absence proves less.
            self.builder.facts().from_the_middle = node.tried().bool().unwrap_or(true);
        }
    }

    fn results(&mut self) {
        let Some(node) = self.members.get("results") else { return };
        match node.tried().text().as_deref() {
            Some("recorded") => self.builder.results(Results::Recorded),
            Some("absent") => self.builder.results(Results::Absent),
            _ => self.expect("results", "`recorded` or `absent`", false),
        }
    }

    fn offered(&mut self) {
        let from_start = ["tools", "available_tools", "functions"];
        if let Some((key, node)) =
            from_start.iter().find_map(|key| self.members.get(key).map(|node| (*key, node)))
        {
            self.offer(key, 1, node);
        } else if let Some(node) = offer::offered(self.members) {
            self.offer("tools", 1, node);
        }
        let Some(node) = self.members.get("tools_at") else { return };
        let items = node.tried().items();
        self.expect("tools_at", "a list", items.is_some());
        let mut changes = Vec::new();
        for item in items.unwrap_or_default() {
            let change = item.members().unwrap_or_default();
            let turn =
                change.get("turn").and_then(|turn| turn.json().parse::<u32>().ok()).filter(|turn| *turn > 0);
            match (turn, change.get("tools")) {
                (Some(turn), Some(tools)) => changes.push((turn, tools)),
                _ => self.expect("tools_at", "a list of `{turn, tools}` with turns from 1", false),
            }
        }
        changes.sort_by_key(|(turn, _)| *turn);
        for (turn, tools) in changes {
            self.offer("tools_at", turn, tools);
        }
    }

    fn offer(&mut self, key: &str, turn: u32, node: Node<'_>) {
        match offer::tools(node) {
            Some(Offer { tools, left_out, unread }) => {
                let items = || node.tried().items().unwrap_or_default().into_iter().filter_map(Node::members);
                if left_out > 0 && items().any(|item| is_message(&item)) {
                    let odd = format!("messages in `{key}` may hold calls, and are left out");
                    self.builder.lost(Loss::MayHoldCalls, odd);
                } else if left_out > 0 {
                    self.builder.lost(
                        Loss::Harmless,
                        format!("{left_out} entries of `{key}` are not tools and are left out"),
                    );
                }
                if unread > 0 {
                    self.damaged(format!("the parameters of {unread} tools of `{key}` cannot be read"));
                }
                self.builder.offered(turn, tools);
            }
            None => self.expect(key, "a list of tools", false),
        }
    }

    fn expect(&mut self, key: &str, what: &str, met: bool) {
        if !met {
            self.builder.lost(Loss::MayHoldCalls, format!("`{key}` is not {what}, and is left out"));
        }
    }

    fn damaged(&mut self, message: String) {
        self.builder.damaged(message);
    }
}
