//! Messages of the Vercel AI SDK: those of its chats (`parts` with a `type`, or the older `toolInvocations`), and those
//! that it sends to models (`content` with parts of type `tool-call` and `tool-result`).
//!
//! A message of a chat holds everything up to the user's next word: several responses, parted by `step-start`, each call
//! beside its result.

mod chat_message;
mod model_message;

use std::collections::HashMap;

use super::chat::{self, Lines};
use super::native::IDS;
use super::setting::Setting;
use super::shallow::{Kind, Members, Node};
use super::{Format, Out, Reader, Sample, Unit, time};
use crate::diagnostic::Diagnostic;
use crate::session::build::Builder;
use crate::session::{Body, Millis};

pub(super) const FORMAT: Format = Format {
    name: "vercel-ai",
    title: "Vercel AI SDK messages",
    absent_without_results: false,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| is_own(value) || value.get("messages").is_some_and(any_own))
        || sample.lists().any(any_own)
}

fn any_own(list: Node<'_>) -> bool {
    list.items()
        .is_some_and(|items| items.into_iter().filter_map(Node::members).any(|message| is_own(&message)))
}

/// Whether nothing else writes such a message.
fn is_own(message: &Members<'_>) -> bool {
    message.has("role") && (chat_message::is_own(message) || model_message::is_own(message))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(VercelAi { setting: setting.clone(), open: None })
}

struct VercelAi {
    setting: Setting,
    /// The session that messages by themselves add up to, and the list they stand in.
    open: Option<(Builder, Asked, Option<u32>)>,
}

/// Calls that somebody was asked to approve, by the id of the question, and those that were refused so.
#[derive(Default)]
struct Asked {
    open: HashMap<Box<str>, Box<str>>,
    refused: Vec<Box<str>>,
}

impl Reader for VercelAi {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let messages = if unit.node.kind() == Kind::List { Some(unit.node) } else { members.get("messages") };
        if let Some(messages) = messages {
            self.close(out);
            let id = members.any(&IDS).or_else(|| members.any(&["chatId", "threadId", "thread_ref"]));
            let mut builder = self.setting.session(&id.and_then(Node::id).unwrap_or_default(), unit, out);
            if let Some(offer) = members.get("tools").and_then(chat::tools) {
                builder.offered(1, offer.tools);
            }
            self.messages(messages, unit, &mut builder);
            return out.session(builder);
        }
        if !members.has("role") {
            return out.diagnostics(self.setting.foreign(unit, "neither a chat nor a message"));
        }
        if self.open.as_ref().is_some_and(|(_, _, list)| *list != unit.list) {
            self.close(out);
        }
        let (mut builder, mut asked, list) = self
            .open
            .take()
            .unwrap_or_else(|| (self.setting.session_at("", unit.line, out), Asked::default(), unit.list));
        unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
        builder.at_line(unit.line);
        message(members, &self.setting, &mut asked, &mut builder);
        self.open = Some((builder, asked, list));
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        match &mut self.open {
            Some((builder, ..)) => builder.diagnostic(diagnostic),
            None => out.diagnostic(diagnostic),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }
}

impl VercelAi {
    fn close(&mut self, out: &mut Out) {
        if let Some((builder, ..)) = self.open.take() {
            out.session(builder);
        }
    }

    fn messages(&self, messages: Node<'_>, unit: &Unit<'_>, builder: &mut Builder) {
        let Some(items) = messages.items() else {
            return builder.damaged(format!("the messages are {}, not a list", messages.kind().word()));
        };
        let mut lines = Lines::new(unit.node, unit.line);
        let mut asked = Asked::default();
        for item in items {
            builder.at_line(lines.of(item));
            match item.members() {
                Some(members) => message(&members, &self.setting, &mut asked, builder),
                None => {
                    let word = item.kind().word();
                    builder.damaged(format!("a message is {word}, not an object; it is left out"));
                }
            }
        }
    }
}

fn message(message: &Members<'_>, setting: &Setting, asked: &mut Asked, builder: &mut Builder) {
    let told = time::of(message, &chat::TIMES).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    });
    let about = message.get("metadata").and_then(Node::members).unwrap_or_default();
    let at = told.or_else(|| time::of(&about, &chat::TIMES).ok().flatten());
    let role = message.get("role").and_then(Node::text).unwrap_or_default();
    let role = if role.is_empty() { "unknown".into() } else { role };
    if message.has("parts") || message.has("toolInvocations") {
        chat_message::read(message, &role, at, setting, builder);
    } else {
        model_message::read(message, &role, at, setting, asked, builder);
    }
}

/// What is said by anybody: a text, or parts as they are.
fn said(role: &str, content: Option<Node<'_>>, at: Option<Millis>, builder: &mut Builder) {
    let parts = content.and_then(Node::items);
    let body = match (&parts, content) {
        (Some(parts), _) => spoken(parts),
        (None, Some(content)) => Body::json(content.json()),
        (None, None) => Body::MISSING,
    };
    builder.said(role, body, at);
}

/// Parts as one content: the text of a single one, else the list of them.
fn spoken(parts: &[Node<'_>]) -> Body {
    match parts {
        [] => Body::MISSING,
        [one] if one.kind() == Kind::Text => Body::json(one.json()),
        several => match (several, several.first().and_then(|first| plain(*first))) {
            ([_], Some(text)) => Body::json(text.json()),
            _ => {
                let items: Vec<_> = several.iter().map(|part| part.json()).collect();
                Body::json(&format!("[{}]", items.join(", ")))
            }
        },
    }
}

/// The text of a part that is one.
fn plain(part: Node<'_>) -> Option<Node<'_>> {
    let members = part.members()?;
    let is_text = members.get("type")?.text()? == "text";
    members.get("text").filter(|text| is_text && text.kind() == Kind::Text)
}

/// The type of a part.
fn kind(part: Node<'_>) -> Option<String> {
    Some(part.members()?.get("type")?.text()?.into_owned())
}
