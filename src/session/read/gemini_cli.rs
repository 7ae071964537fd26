//! Sessions of the Gemini CLI: saved ones, an object with `messages` or JSON Lines of them; single messages of one; and
//! conversations in the form of the Gemini API, a list of `{role, parts}`.
//!
//! In a saved session a call and its result are one object. Thoughts are not kept.

use std::borrow::Cow;

use super::setting::Setting;
use super::shallow::{Kind, Members, Node};
use super::{Format, Out, Reader, Sample, Unit, time};
use crate::session::build::{Builder, Mark};
use crate::session::{Body, Millis};

pub(super) const FORMAT: Format = Format {
    name: "gemini-cli",
    title: "Gemini CLI sessions",
    absent_without_results: false,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let saved = value.has("sessionId") && value.has("projectHash");
        saved || is_gemini(value) || is_content(value) || value.get("contents").is_some_and(first_is_content)
    }) || sample.lists().any(first_is_content)
}

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
    /// The session that messages on lines of their own belong to, and the list they stand in.
    open: Option<(Builder, Option<u32>)>,
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
            let mut builder = self.setting.session("", unit, out);
            self.messages(&mut builder, contents, unit.line);
            return out.session(builder);
        }
        if !(members.has("type") && members.any(&["content", "toolCalls"]).is_some() || is_content(members)) {
            return out.diagnostics(self.setting.foreign(unit, "neither a session nor a message"));
        }
        if self.open.as_ref().is_some_and(|(_, list)| *list != unit.list) {
            self.close(out);
        }
        let (mut builder, list) =
            self.open.take().unwrap_or_else(|| (self.setting.session_at("", unit.line, out), unit.list));
        unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
        builder.at_line(unit.line);
        self.message(&mut builder, members);
        self.open = Some((builder, list));
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }

    fn long(&mut self, _most: usize) -> Option<&mut Builder> {
        self.open.as_mut().map(|(builder, _)| builder)
    }
}

impl Gemini {
    fn close(&mut self, out: &mut Out) {
        if let Some((mut builder, _)) = self.open.take() {
            builder.mark_errors();
            out.session(builder);
        }
    }

    /// A session whole, or the line that one begins with.
    fn saved(&mut self, unit: &Unit<'_>, out: &mut Out) {
        self.close(out);
        let members = &unit.members;
        let id = members.get("sessionId").and_then(Node::id).unwrap_or_default();
        let mut builder = self.setting.session(&id, unit, out);
        builder.facts().now = members.get("startTime").and_then(time::instant);
        if let Some(hash) = members.get("projectHash").and_then(Node::value) {
            builder.context("projectHash", hash);
        }
        if let Some(messages) = members.get("messages") {
            self.messages(&mut builder, messages, unit.line);
        }
        self.open = Some((builder, unit.list));
    }

    fn messages(&self, builder: &mut Builder, messages: Node<'_>, line: u32) {
        let mut lines = super::chat::Lines::new(messages, line);
        let Some(items) = messages.items() else {
            return builder.damaged(format!("the messages are {}, not a list", messages.kind().word()));
        };
        for item in items {
            builder.at_line(lines.of(item));
            match item.members() {
                Some(message) => self.message(builder, &message),
                None => {
                    let word = item.kind().word();
                    builder.damaged(format!("a message is {word}, not an object; it is left out"));
                }
            }
        }
    }

    fn message(&self, builder: &mut Builder, message: &Members<'_>) {
        let at = time::of(message, &["timestamp"]).unwrap_or_else(|odd| {
            builder.damaged(odd);
            None
        });
        if let Some(parts) = message.get("parts") {
            return self.content(builder, message, parts, at);
        }
        let kind = message.get("type").and_then(Node::text).unwrap_or_default();
        let content = message.get("content").map_or(Body::MISSING, said);
        if kind != "gemini" {
            return builder.said(&kind, content, at);
        }
        builder.response(None, content, at);
        let calls = message.get("toolCalls").and_then(Node::items).unwrap_or_default();
        let calls: Vec<_> = calls.into_iter().filter_map(Node::members).collect();
        for call in &calls {
            let text = |key| call.get(key).and_then(Node::id);
            let arguments = call.get("args").map_or(Body::MISSING, |arguments| Body::json(arguments.json()));
            builder.call(text("id").as_deref(), &text("name").unwrap_or_default(), arguments, at);
        }
        for call in &calls {
            self.result(builder, call);
        }
    }

    /// What became of a call that is done.
    fn result(&self, builder: &mut Builder, call: &Members<'_>) {
        let text = |key| call.get(key).and_then(Node::id).unwrap_or_default();
        let status = text("status");
        if !matches!(&*status, "success" | "error" | "cancelled") && !call.has("result") {
            return;
        }
        let at = time::of(call, &["timestamp"]).unwrap_or_else(|odd| {
            builder.damaged(odd);
            None
        });
        let first = call.get("result").and_then(Node::first_item).and_then(Node::members);
        let response = first.and_then(|first| first.get("functionResponse")?.members()?.get("response"));
        let content = response.or_else(|| call.get("result")).map_or(Body::MISSING, output);
        let marked = match &*status {
            "success" => Some(false),
            "error" | "cancelled" => Some(true),
            _ => None,
        };
        // What is known to have been broken off while it ran did run.
        let stopped = status == "cancelled" && !content.shown().contains("cancelled tool execution");
        let mark = Mark {
            error: self.setting.failed(marked, &content),
            refused: stopped.then_some("the call's status is `cancelled`: the user stopped it"),
        };
        builder.result(Some(&*text("id")), content, mark, at);
    }

    /// A message in the form of the API.
    fn content(&self, builder: &mut Builder, message: &Members<'_>, parts: Node<'_>, at: Option<Millis>) {
        let role = message.get("role").and_then(Node::text).unwrap_or_default();
        let parts = parts.items().unwrap_or_default();
        let (mut spoken, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let members = part.members().unwrap_or_default();
            let inner = |key| members.get(key).and_then(Node::members);
            match (inner("functionCall"), inner("functionResponse")) {
                (Some(call), _) => calls.push(call),
                (_, Some(result)) => results.push(result),
                _ if members.get("thought").and_then(Node::bool) == Some(true) => {}
                _ => spoken.push(part.json()),
            }
        }
        let content = if spoken.is_empty() {
            Body::MISSING
        } else {
            let list = format!("[{}]", spoken.join(", "));
            Node::parse(&list).map_or(Body::MISSING, said)
        };
        let name = |of: &Members<'_>, key| of.get(key).and_then(Node::id).map(|id| id.into_owned());
        if role == "model" {
            builder.response(None, content, at);
            for call in calls {
                let arguments = call.get("args").map_or(Body::MISSING, |args| Body::json(args.json()));
                let tool = name(&call, "name").unwrap_or_default();
                builder.call(name(&call, "id").as_deref(), &tool, arguments, at);
            }
            return;
        }
        for result in results {
            let response = result.get("response");
            let failed = response.and_then(Node::members).is_some_and(|response| response.has("error"));
            let content = response.map_or(Body::MISSING, output);
            let error = self.setting.failed(failed.then_some(true), &content);
            builder.result(name(&result, "id").as_deref(), content, Mark { error, refused: None }, at);
        }
        if !content.is_missing() {
            builder.said(&role, content, at);
        }
    }
}

/// What is said: a text, or parts of which the texts are joined.
fn said(content: Node<'_>) -> Body {
    let texts = content.items().and_then(|parts| parts.into_iter().map(plain).collect::<Option<Vec<_>>>());
    match texts {
        Some(texts) => Body::text(texts.join("\n")),
        None => Body::json(content.json()),
    }
}

/// The text of a part that is nothing else.
fn plain(part: Node<'_>) -> Option<Cow<'_, str>> {
    part.members().filter(|part| part.names().count() == 1)?.get("text")?.text()
}

/// What came of a call: its `output` or `error`, where there is nothing else.
fn output(response: Node<'_>) -> Body {
    let only = response.members().filter(|members| members.names().count() == 1);
    let inner = only.and_then(|members| members.any(&["output", "error"]));
    Body::json(inner.unwrap_or(response).json())
}
