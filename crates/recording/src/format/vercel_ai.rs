//! Messages of the Vercel AI SDK: those of its chats (`parts` with a `type`, or the older `toolInvocations`), and those
//! that it sends to models (`content` with parts of type `tool-call` and `tool-result`), as requests or as the
//! `response` of a logged result. Rows of a table of messages name their chat, and may have their parts as JSON text.
//!
//! A message of a chat holds everything up to the user's next message: several responses, separated by `step-start`,
//! each call with its result.

mod approvals;
mod chat_message;
mod model_message;

use crate::contract::out::Out;
use crate::contract::setting::IDS;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::chat;
use crate::shape::interleaved::Interleaved;
use crate::shape::offer;
use crate::shape::suspicion;
use approvals::Approvals;
use rulestep_base::diagnostic::{Diagnostic, Loss};
use rulestep_base::session::build::Builder;

pub(crate) const FORMAT: Format = Format {
    name: "vercel-ai",
    title: "messages of the Vercel AI SDK: of its chats (also rows of a table, each chat a session) and of its models",
    source: "write the `messages` of a chat, or of a result its `response.messages`, as JSON",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| is_own(value) || lists(value).into_iter().any(any_own))
        || sample.lists().any(any_own)
}

/// The messages of a value: those that were sent, and those that were answered.
fn lists<'a>(value: &Members<'a>) -> Vec<Node<'a>> {
    let response = value.get("response").and_then(Node::members);
    let answered = response.and_then(|response| response.get("messages"));
    value.get("messages").into_iter().chain(answered).collect()
}

fn any_own(list: Node<'_>) -> bool {
    list.items()
        .is_some_and(|items| items.into_iter().filter_map(Node::members).any(|message| is_own(&message)))
}

/// Whether only this SDK writes such a message.
fn is_own(message: &Members<'_>) -> bool {
    message.has("role") && (chat_message::is_own(message) || model_message::is_own(message))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(VercelAi { setting: setting.clone(), open: Interleaved::default(), latest: None, list: None })
}

struct VercelAi {
    setting: Setting,
    /// The sessions of messages that are not in an envelope, by their chats.
    open: Interleaved<Chat>,
    /// The chat of the latest message.
    latest: Option<Box<str>>,
    /// The list they are in.
    list: Option<u32>,
}

struct Chat {
    builder: Builder,
    asked: Approvals,
}

/// Keys under which a message names its chat.
const CHAT: [&str; 6] = ["chatId", "chat_id", "threadId", "thread_id", "conversationId", "conversation_id"];

impl Reader for VercelAi {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let listed = unit.node.kind() == Kind::List;
        let messages = if listed { vec![unit.node] } else { lists(members) };
        if !messages.is_empty() {
            self.close(out);
            let id = members.any(&IDS).or_else(|| members.any(&["chatId", "threadId", "thread_ref"]));
            let mut builder = self.setting.session(&id.and_then(Node::id).unwrap_or_default(), unit, out);
            if let Some(offer) = members.get("tools").and_then(offer::tools) {
                builder.offered(1, offer.tools);
            }
            self.messages(&messages, unit, &mut builder);
            let reason = suspicion::reason(members).filter(|_| builder.calls_in_turn() == 0);
            suspicion::promised(reason).into_iter().for_each(|odd| builder.damaged(odd));
            return out.session(builder);
        }
        if !members.has("role") {
            return out.diagnostics(self.setting.foreign(unit, "neither a chat nor a message"));
        }
        if self.list != unit.list {
            self.close(out);
            self.list = unit.list;
        }
        let key = members.any(&CHAT).and_then(Node::id).unwrap_or_default();
        while let Some(chat) = self.open.too_much(&key) {
            out.session(chat.builder);
        }
        let setting = &self.setting;
        let begin = |again| {
            let mut builder = setting.session_at(&key, unit.line, out);
            if again {
                builder.starts_in_the_middle(
                    "earlier messages of the same chat are too far before these to be joined with them",
                );
            }
            Chat { builder, asked: Approvals::default() }
        };
        let Some(Chat { builder, asked }) = self.open.get(&key, unit.node.json().len(), begin) else {
            return;
        };
        unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
        builder.at_line(unit.line);
        message(members, setting, asked, builder);
        self.latest = Some(key.as_ref().into());
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        match self.latest.as_ref().and_then(|latest| self.open.known(latest)) {
            Some(chat) => chat.builder.diagnostic(diagnostic),
            None => out.diagnostic(diagnostic),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }
}

impl VercelAi {
    fn close(&mut self, out: &mut Out) {
        self.open.close().for_each(|chat| out.session(chat.builder));
        self.latest = None;
    }

    fn messages(&self, messages: &[Node<'_>], unit: &Unit<'_>, builder: &mut Builder) {
        let mut lines = Lines::new(unit.node, unit.line);
        let mut asked = Approvals::default();
        let items = messages.iter().filter_map(|list| {
            let items = list.items();
            if items.is_none() {
                builder
                    .lost(Loss::MayHoldCalls, format!("the messages are {}, not a list", list.said_kind()));
            }
            items
        });
        let items: Vec<_> = items.flatten().collect();
        for item in items {
            builder.at_line(lines.of(item));
            match item.members() {
                Some(members) => message(&members, &self.setting, &mut asked, builder),
                None => {
                    let word = item.said_kind();
                    builder.lost(
                        Loss::MayHoldCalls,
                        format!("a message is {word}, not an object; it is left out"),
                    );
                }
            }
        }
    }
}

fn message(message: &Members<'_>, setting: &Setting, asked: &mut Approvals, builder: &mut Builder) {
    let told = time::of(message, &chat::TIMES).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    });
    let about = message.get("metadata").and_then(Node::members).unwrap_or_default();
    let at = told.or_else(|| time::of(&about, &chat::TIMES).ok().flatten());
    let role = message.get("role").and_then(Node::text).unwrap_or_default();
    if role.is_empty() {
        builder.lost(Loss::MayHoldCalls, "a message has no role; it is read as one of the role `unknown`");
    }
    let role = if role.is_empty() { "unknown".into() } else { role };
    if let Some(what) = suspicion::unread(message, &["toolInvocations"]) {
        builder.damaged(suspicion::lost(&what));
    }
    if message.has("parts") || message.has("toolInvocations") {
        let written = chat_message::written(message);
        let parts = written.as_deref().and_then(|text| Node::parse(text).ok());
        let parts = parts.or_else(|| message.get("parts"));
        let mixed =
            parts.is_some_and(|_| *asked.written.get_or_insert(written.is_some()) != written.is_some());
        if mixed {
            builder.lost(
                Loss::MayHoldCalls,
                "the `parts` of one message are JSON text, those of another are a list; one of them is damaged",
            );
        }
        chat_message::read(message, parts, &role, at, setting, builder);
    } else {
        model_message::read(message, &role, at, setting, asked, builder);
    }
}
