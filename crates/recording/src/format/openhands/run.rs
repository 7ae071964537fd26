//! The session of both generations of events.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use crate::shape::bare::Open;
use crate::shape::status::Status;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

/// A session that is being read.
pub struct Run {
    pub builder: Builder,
    /// The response whose calls are being read.
    response: Option<Box<str>>,
    /// Results that come before the end of the response.
    held: Vec<HeldResult>,
    /// Ids of calls, by the ids of their events.
    pub calls: HashMap<Box<str>, Option<Box<str>>>,
    /// Events that are no calls of the agent, though they did something.
    pub aside: HashSet<Box<str>>,
}

struct HeldResult {
    id: Option<Box<str>>,
    content: Body,
    /// `None`: it does not say how its call ended.
    mark: Option<Mark>,
    at: Option<Millis>,
    line: u32,
}

/// A call as either generation writes it.
pub struct Action<'a> {
    /// The response that proposes it, if known.
    pub response: Option<&'a str>,
    /// The text beside it.
    pub content: Body,
    /// Id of the event.
    pub event: Option<&'a str>,
    pub id: Option<&'a str>,
    pub tool: &'a str,
    pub arguments: Body,
}

impl Open for Run {
    fn builder(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

impl Run {
    /// For a session without events.
    pub fn new(mut builder: Builder) -> Run {
        // Both generations have a kind of their own for what failed.
        builder.mark_errors();
        Run { builder, response: None, held: Vec::new(), calls: HashMap::new(), aside: HashSet::new() }
    }

    /// A call. Returns whether it is the first of its response.
    pub fn act(&mut self, action: Action<'_>, at: Option<Millis>) -> bool {
        let Action { response, content, event, id, tool, arguments } = action;
        let begins = response.is_none() || self.response.as_deref() != response;
        if begins {
            self.flush();
            self.builder.response(response, content, at);
            self.response = response.map(Into::into);
        } else if let Some(response) = response {
            self.builder.ensure_response(response, at);
        }
        let id = id.or(event);
        self.builder.call(id, tool, arguments, at);
        if let Some(event) = event {
            self.calls.insert(event.into(), id.map(Box::from));
        }
        begins
    }

    /// A result, held while calls of the same response may follow. `None` as its mark: its command is still running.
    pub fn answer(&mut self, id: Option<Box<str>>, content: Body, mark: Option<Mark>, at: Option<Millis>) {
        let line = self.builder.line();
        self.held.push(HeldResult { id, content, mark, at, line });
    }

    /// The next call is one of another response, even if that has the same id.
    pub fn end_response(&mut self) {
        self.response = None;
        self.builder.end_response();
    }

    /// A message of anyone but the model.
    pub fn said(&mut self, role: &str, content: Body, at: Option<Millis>) {
        self.flush();
        self.builder.said(role, content, at);
    }

    /// A text of the model alone.
    pub fn reply(&mut self, content: Body, at: Option<Millis>) {
        self.flush();
        self.builder.response(None, content, at);
    }

    /// The response is over: its results follow.
    pub fn flush(&mut self) {
        self.response = None;
        let line = self.builder.line();
        for HeldResult { id, content, mark, at, line } in std::mem::take(&mut self.held) {
            let builder = self.builder.at_line(line);
            match mark {
                Some(mark) => drop(builder.result(id.as_deref(), content, mark, at)),
                None => builder.unsure(id.as_deref(), content, None, at),
            }
        }
        self.builder.at_line(line);
    }
}

/// How a command ended, by its exit code: -1 means that it was still running when the agent looked.
pub fn ended(code: Option<Node<'_>>) -> Status {
    code.map_or(Status::Unknown, |code| match code.number::<f64>() {
        Some(0.0) => Status::Succeeded,
        Some(-1.0) | None => Status::Open,
        Some(_) => Status::Failed,
    })
}

/// The mark of a result; `None`: its command is still running.
pub fn mark(ended: Status, refused: Option<&'static str>, content: &Body, setting: &Setting) -> Option<Mark> {
    let error = setting.failed(ended.failed(), content);
    (ended != Status::Open || error || refused.is_some()).then_some(Mark { error, refused })
}

/// An id that is not empty.
pub fn id_of<'a>(members: &Members<'a>, key: &str) -> Option<Cow<'a, str>> {
    members.get(key).and_then(Node::id).filter(|id| !id.is_empty())
}
