//! What a wrong type means: whether calls may be lost with the value.
//!
//! They may be if readers look for calls or results there, and if something in the value looks like a call. Anywhere
//! else nothing is lost that a policy would look at, so it is only a notice.

use crate::input::calls;
use crate::input::calls::stem;
use crate::input::looks::{Looks, WrongType};
use crate::input::shallow::{Members, Node, of_tape};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::Damage;
use rulestep_base::session::build::Builder;
use rulestep_base::source::tape::Tape;

/// Values of another type than every expected one, or given more than once, with their lines: `text` is the whole value
/// that the accesses refer to, which begins on `line`.
pub fn types(looks: &Looks, text: &str, line: u32) -> Vec<(u32, Damage)> {
    let mut place = Place::at_top(text);
    let wrong = looks.wrong(text, line).into_iter().map(|WrongType { line, at, message }| {
        place.go_to(at);
        let loss = if place.may_lose_calls() { Loss::MayHoldCalls } else { Loss::Harmless };
        (line, Damage::lost(loss, message))
    });
    wrong.collect()
}

/// Reads a value that was kept or made since its unit was read, and reports wrong types in it for the session. Returns
/// whether it is JSON.
pub fn read_again<S: AsMut<Builder>>(
    json: &str,
    line: u32,
    session: &mut S,
    read: impl FnOnce(&mut S, Node<'_>, &Members<'_>),
) -> bool {
    let looks = Looks::at(json);
    let Some(tape) = Tape::of(json.trim_ascii()) else { return false };
    let Ok((node, members)) = of_tape(&tape, Some(&looks)) else { return false };
    read(session, node, &members);
    for (line, damage) in types(&looks, json, line) {
        session.as_mut().at_line(line).damaged(damage);
    }
    true
}

/// Members, as [stems](stem), in which readers look for calls and results.
const HOLDERS: [&str; 44] = [
    "arg",
    "argument",
    "attribute",
    "body",
    "candidate",
    "chatmessage",
    "childrun",
    "choice",
    "content",
    "data",
    "event",
    "extra",
    "function",
    "functionresponse",
    "generation",
    "input",
    "item",
    "kvlistvalue",
    "message",
    "modelresponse",
    "observation",
    "output",
    "param",
    "parameter",
    "part",
    "payload",
    "permissiondenial",
    "request",
    "resourcespan",
    "response",
    "result",
    "run",
    "sample",
    "scopespan",
    "simulation",
    "span",
    "spandata",
    "step",
    "stringvalue",
    "toolcallmetadata",
    "toolresult",
    "traj",
    "trajectory",
    "value",
];
/// Members by which calls are found, put in order, or marked as ended.
const PARTS: [&str; 25] = [
    "action",
    "endtime",
    "errortype",
    "exitcode",
    "functionname",
    "iserror",
    "key",
    "kind",
    "level",
    "name",
    "namespace",
    "outcome",
    "outputindex",
    "parentuuid",
    "provideridentifier",
    "returncode",
    "role",
    "server",
    "serverlabel",
    "starttime",
    "state",
    "statu",
    "succe",
    "toagent",
    "tool",
];

/// Whether calls and results, or what holds them, are found under this name.
pub fn is_holder(name: &str) -> bool {
    HOLDERS.contains(&&*stem(name))
}

/// Whether the value of a member of this name may be, hold or find a call, whatever it is in.
pub fn may_hold_calls(name: &str) -> bool {
    let stem = stem(name);
    let is = |names: &[&str]| names.contains(&&*stem);
    is(&HOLDERS)
        || is(&PARTS)
        || calls::speaks_of_one(&stem)
        || ["id", "type"].iter().any(|end| stem.ends_with(end))
        || stem.ends_with("toolname")
}

/// A place in a JSON text, with the members that it is in.
struct Place<'a> {
    text: &'a str,
    at: usize,
    /// The lists and objects that are open, of each object the name of the member.
    open: Vec<Option<&'a str>>,
    /// The latest text before it.
    latest: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn at_top(text: &'a str) -> Place<'a> {
        Place { text, at: 0, open: Vec::new(), latest: None }
    }

    /// Moves to a later position.
    fn go_to(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at).filter(|_| self.at < at) {
            match byte {
                b'{' | b'[' => self.open.push(None),
                b'}' | b']' => drop(self.open.pop()),
                b':' => {
                    if let Some(name) = self.open.last_mut() {
                        *name = self.latest;
                    }
                }
                b'"' => {
                    let begin = self.at + 1;
                    self.at = begin;
                    while let Some(byte) = bytes.get(self.at).filter(|byte| **byte != b'"') {
                        self.at += if *byte == b'\\' { 2 } else { 1 };
                    }
                    self.latest = self.text.get(begin..self.at);
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether calls may be lost with the value at this place.
    fn may_lose_calls(&self) -> bool {
        let name = self.open.iter().rev().find_map(|name| *name);
        name.is_none_or(may_hold_calls) || value_at(self.text, self.at).is_none_or(calls::are_in)
    }
}

/// The value that begins at this place of a text.
fn value_at(text: &str, at: usize) -> Option<Node<'_>> {
    let rest = text.get(at..)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&serde_json::value::RawValue>();
    Node::parse(values.next()?.ok()?.get()).ok()
}
