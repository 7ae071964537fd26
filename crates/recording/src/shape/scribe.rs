//! Builds a session from the messages and calls of a conversation, as the formats find them.
//!
//! Some of them have the result of a call beside it. It is held until the response is over, so that the calls of a
//! response come before their results.

use std::borrow::Cow;

use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::blocks::{Answer, Blocks};
use crate::shape::status::Status;
use crate::shape::suspicion;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, CallRef, Damage, Millis};

/// The session that is made of a conversation.
pub struct Scribe {
    /// The session so far.
    pub builder: Builder,
    setting: Setting,
    at: Option<Millis>,
    /// The key of the open response.
    key: Option<Box<str>>,
    /// Results of its calls, which come after all of them.
    held: Vec<Held>,
}

struct Held {
    id: Option<Box<str>>,
    /// The place of its call, if known and without an id.
    call: Option<u32>,
    content: Body,
    ended: Status,
    line: u32,
    at: Option<Millis>,
}

impl AsMut<Builder> for Scribe {
    fn as_mut(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

impl Scribe {
    /// For a session of a file.
    pub fn new(builder: Builder, setting: &Setting) -> Scribe {
        Scribe { builder, setting: setting.clone(), at: None, key: None, held: Vec::new() }
    }

    /// Sets the line of what follows, which has no time so far.
    pub fn at_line(&mut self, line: u32) {
        self.builder.at_line(line);
        self.at = None;
    }

    /// Sets the time of what follows, if one of these keys has it.
    pub fn at(&mut self, members: &Members<'_>, keys: &[&str]) {
        match time::of(members, keys) {
            Ok(at) => self.at = at.or(self.at),
            Err(odd) => self.builder.damaged(odd),
        }
    }

    /// Keeps a member of an object as context of the session, under its own name; the first value counts.
    pub fn about(&mut self, members: &Members<'_>, keys: &[&str]) {
        for key in keys {
            if let Some(value) = members.get(key).and_then(Node::value) {
                self.builder.context_once(key, value);
            }
        }
    }

    /// The same under another name, such as `cwd` for the working folder of the agent.
    pub fn about_as(&mut self, name: &str, node: Option<Node<'_>>) {
        if let Some(value) = node.and_then(Node::value) {
            self.builder.context_once(name, value);
        }
    }

    /// A message of anyone but the model.
    pub fn said(&mut self, role: &str, content: Body) {
        self.flush();
        self.builder.said(role, content, self.at);
    }

    /// A text of the model. With a key it continues the response of that key, if that is the last one.
    pub fn response(&mut self, key: Option<&str>, content: Body) {
        self.goes_on(key);
        self.builder.response(key, content, self.at);
    }

    /// Continues the response of this key, or begins it without text.
    pub fn ensure_response(&mut self, key: &str) {
        self.goes_on(Some(key));
        self.builder.ensure_response(key, self.at);
    }

    fn goes_on(&mut self, key: Option<&str>) {
        if key.is_none() || self.key.as_deref() != key {
            self.flush();
            self.builder.end_response();
            self.key = key.map(Into::into);
        }
    }

    /// The response is over: what follows belongs to another one.
    pub fn end_response(&mut self) {
        self.flush();
        self.builder.end_response();
    }

    /// The model calls a tool in its latest response.
    pub fn call(&mut self, id: Option<&str>, tool: &str, arguments: Body) -> CallRef {
        self.builder.call(id, tool, arguments, self.at)
    }

    /// A call ended like this.
    pub fn result(&mut self, id: Option<&str>, content: Body, ended: Status) {
        let (line, at) = (self.builder.line(), self.at);
        self.give(Held { id: id.map(Into::into), call: None, content, ended, line, at });
    }

    /// The same for a call without an id, by its index among all.
    pub fn result_of(&mut self, call: u32, content: Body, ended: Status) {
        let (line, at) = (self.builder.line(), self.at);
        self.give(Held { id: None, call: Some(call), content, ended, line, at });
    }

    /// The same for a call of the open response, which may make further calls: it did not have this result so far.
    pub fn later_result(&mut self, id: Option<&str>, content: Body, ended: Status) {
        let (line, at) = (self.builder.line(), self.at);
        self.held.push(Held { id: id.map(Into::into), call: None, content, ended, line, at });
    }

    fn flush(&mut self) {
        self.key = None;
        let line = self.builder.line();
        for held in std::mem::take(&mut self.held) {
            self.builder.at_line(held.line);
            self.give(held);
        }
        self.builder.at_line(line);
    }

    fn give(&mut self, Held { id, call, content, ended, at, .. }: Held) {
        let marked = ended.failed();
        if marked.is_some() {
            self.builder.mark_errors();
        }
        let error = self.setting.failed(marked, &content);
        if ended == Status::Open && !error {
            return self.builder.unsure(id.as_deref(), content, None, at);
        }
        let mark = Mark { error, refused: ended.refused() };
        self.builder.result_of(call, id.as_deref(), content, mark, at);
    }

    /// A message made of blocks: the model's, with the key of its response, or that of anyone else.
    pub fn message(&mut self, role: &str, key: Option<&str>, blocks: Blocks) {
        let (setting, at) = (self.setting.clone(), self.at);
        let mark =
            |answer: &Answer| Mark { error: setting.failed(answer.error, &answer.content), refused: None };
        if role == "assistant" {
            self.goes_on(key);
            return blocks.respond(&mut self.builder, key, at, mark);
        }
        self.flush();
        blocks.reply(&mut self.builder, role, at, mark);
    }

    /// The parts of a message. Anything but a list is reported.
    pub fn parts<'a>(&mut self, content: Node<'a>) -> Vec<Node<'a>> {
        content.items().unwrap_or_else(|| {
            let odd = format!("the parts of a message are {}, not a list", content.said_kind());
            self.builder.damaged(Damage::calls(odd));
            Vec::new()
        })
    }

    /// A part is no object.
    pub fn odd_part(&mut self, part: Node<'_>) {
        let odd = format!("a part is {}, not an object; it is left out", part.said_kind());
        self.builder.damaged(Damage::calls(odd));
    }

    /// A part of a message has a type that is not known: it is left out, and reported if it may be a call.
    pub fn unknown_part(&mut self, part: Node<'_>) {
        if let Some(what) = suspicion::part(part) {
            self.builder.damaged(suspicion::lost(&what));
        }
    }

    /// The session, without adding to it.
    pub fn end(mut self) -> Builder {
        self.flush();
        self.builder
    }
}

/// The content of a member; missing if it is absent.
pub fn body(members: &Members<'_>, keys: &[&str]) -> Body {
    members.any(keys).map_or(Body::MISSING, Node::body)
}

/// The texts of a list of parts, of those that are words, a line each; anything else as it is.
pub fn words(content: Node<'_>) -> Body {
    let texts =
        content.tried().items().and_then(|parts| parts.into_iter().map(word).collect::<Option<Vec<_>>>());
    texts.map_or_else(|| content.body(), |texts| Body::text(texts.join("\n")))
}

/// The text of a part that is words.
fn word(part: Node<'_>) -> Option<Cow<'_, str>> {
    let part = part.tried().members()?;
    let kind = part.try_get("type").and_then(Node::text);
    let is_text =
        kind.is_none_or(|kind| matches!(&*kind, "text" | "input_text" | "output_text" | "inputText"));
    part.try_get("text").filter(|_| is_text)?.text()
}
