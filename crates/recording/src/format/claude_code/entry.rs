//! One line of a Claude Code log or stream, as a part of the conversation.

use std::sync::Arc;

use super::offer as request;
use super::{marks, parts};
use crate::contract::Unit;
use crate::input::digest::digest;
use crate::input::shallow::{Kind as Json, Members, Node};
use crate::input::time;
use crate::shape::blocks::{Blocks, Side};
use crate::shape::{command, offer};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::{Damage, Millis, Tool};

/// A line that is a part of a conversation.
pub struct Entry {
    /// Line in the file.
    pub line: u32,
    /// Its own id.
    pub uuid: Option<Box<str>>,
    /// Name of the line that it follows.
    pub parent: Option<Box<str>>,
    /// When it was written.
    pub at: Option<Millis>,
    /// The folder of its calls, once it was looked for.
    pub folder: Option<Arc<str>>,
    /// The permission mode and the version of the agent that makes them.
    pub agent: [Option<Arc<str>>; 2],
    /// Whether it was written in another session that this one is forked from.
    pub copied: bool,
    /// Whether this entry is a compaction boundary.
    pub compacts: bool,
    /// Whether it says that a response is over.
    pub ends: bool,
    /// Its kind.
    pub kind: Kind,
    /// Its damage.
    pub odd: Vec<Damage>,
    /// Hash of its content, to recognise a line that is repeated.
    pub digest: u64,
    /// The line that it follows, once that is looked for.
    pub follows: Predecessor,
}

/// The line that a line follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predecessor {
    /// It names no line.
    Nothing,
    /// The line of the log at this place, from 0.
    Line(usize),
    /// It names one that does not come before it.
    Missing,
}

/// The part of a line in the conversation.
pub enum Kind {
    /// A step from one line to another without a message: progress, hooks, attachments, commands of the program.
    Link,
    /// The tools of the session.
    Offer(Vec<Tool>),
    /// A message of the user; `meta`: the program added it.
    Prompt { blocks: Blocks, meta: bool },
    /// Results of calls.
    Answer { blocks: Blocks, rejected: Option<&'static str> },
    /// A line of the model's response with this key, from this request. `stopped`: it says why the model stopped.
    Response { key: Option<Box<str>>, request: Option<Box<str>>, stopped: bool, blocks: Blocks },
    /// The program's message in place of a response, because the model could not be reached.
    Failure(Blocks),
}

/// The line of this type; or the reason why it cannot be part of a conversation.
pub fn entry(kind: &str, unit: &Unit<'_>) -> Result<Entry, String> {
    let members = &unit.members;
    let name = |keys: &[&str]| members.any(keys).and_then(Node::id).map(|name| name.as_ref().into());
    let flag = |key| members.get(key).and_then(Node::bool) == Some(true);
    let subtype = members.get("subtype").and_then(Node::text).unwrap_or_default();
    let mut odd: Vec<Damage> = Vec::new();
    let at = time::of(members, &["timestamp"]).unwrap_or_else(|message| {
        odd.push(message.into());
        None
    });
    let ends = kind == "stream_event" && ends_message(members);
    let kind = match kind {
        "user" => user(members, flag("isMeta") || flag("isSynthetic"))?,
        "tool_result" => {
            let (blocks, rejected) = parts::result(members)?;
            Kind::Answer { blocks, rejected }
        }
        "assistant" => assistant(members, flag("isApiErrorMessage"))?,
        "system" if subtype == "init" => {
            let offer = members.get("tools").and_then(offer::tools).unwrap_or_default();
            Kind::Offer(offer.tools)
        }
        request::SHAPE => request::shape(members).map_or(Kind::Link, Kind::Offer),
        _ => Kind::Link,
    };
    Ok(Entry {
        line: unit.line,
        uuid: name(&["uuid"]),
        parent: name(&["parentUuid", "logicalParentUuid"]),
        at,
        folder: None,
        agent: [None, None],
        copied: members.get("forkedFrom").is_some(),
        compacts: flag("isCompactSummary") || subtype == "compact_boundary",
        ends,
        kind,
        odd,
        follows: Predecessor::Nothing,
        digest: members.get("message").map_or(0, |message| digest(message.json())),
    })
}

impl Entry {
    /// The blocks of its message.
    pub fn blocks(&self) -> Option<&Blocks> {
        self.kind.blocks()
    }

    /// Bytes that it holds, about.
    pub fn size(&self) -> usize {
        192 + self.blocks().map_or(0, Blocks::size)
    }
}

impl Kind {
    /// The blocks of its message.
    pub fn blocks(&self) -> Option<&Blocks> {
        match self {
            Kind::Link | Kind::Offer(_) => None,
            Kind::Prompt { blocks, .. }
            | Kind::Answer { blocks, .. }
            | Kind::Response { blocks, .. }
            | Kind::Failure(blocks) => Some(blocks),
        }
    }
}

/// Whether an event of the API, which a stream may have among its lines, is the last one of a response.
fn ends_message(members: &Members<'_>) -> bool {
    let event = members.get("event").and_then(Node::members).unwrap_or_default();
    event.get("type").and_then(Node::text).is_some_and(|kind| kind == "message_stop")
}

fn user(members: &Members<'_>, meta: bool) -> Result<Kind, String> {
    let mut blocks = blocks(members, Side::Other)?;
    if blocks.answers.is_empty() {
        return Ok(Kind::Prompt { blocks, meta });
    }
    // Most results are kept there as objects of their tool's own.
    let told = members.any(&["toolUseResult", "tool_use_result"]).map(Node::tried);
    let rejected = if members.get("toolDenialKind").is_some() {
        Some(marks::KIND)
    } else {
        let text = told.and_then(Node::text);
        if let Some(told) = told.filter(|_| text.is_none() && marks::may_be_rejected(&blocks.answers)) {
            let odd = format!(
                "`toolUseResult` is {}, not a text, so nobody says if the call ran",
                told.said_kind()
            );
            blocks.odd.push(Damage::lost(Loss::Harmless, odd));
        }
        text.and_then(|told| marks::rejected(&told, &blocks.answers))
    };
    // Hooks receive these objects, so both have the same outcome.
    let own = told.and_then(Node::members);
    for answer in &mut blocks.answers {
        match &own {
            Some(own) => answer.told(command::object(own)),
            None => answer.unsure = command::goes_on(answer.content.shown()),
        }
    }
    Ok(Kind::Answer { blocks, rejected })
}

fn assistant(members: &Members<'_>, failed: bool) -> Result<Kind, String> {
    let blocks = blocks(members, Side::Model)?;
    let message = members.get("message").and_then(Node::members).unwrap_or_default();
    let text = |key| message.get(key).and_then(Node::text);
    if failed || text("model").is_some_and(|model| model == "<synthetic>") {
        return Ok(Kind::Failure(blocks));
    }
    let name = |node: Node<'_>| node.id().filter(|id| !id.is_empty()).map(|id| id.as_ref().into());
    Ok(Kind::Response {
        key: message.get("id").and_then(name),
        request: members.any(&["requestId", "request_id"]).and_then(name),
        stopped: text("stop_reason").is_some_and(|reason| !reason.is_empty()),
        blocks,
    })
}

fn blocks(members: &Members<'_>, side: Side) -> Result<Blocks, String> {
    let Some(message) = members.get("message") else { return Err("the line has no `message`".to_owned()) };
    match message.kind() {
        Json::Object => {
            let members = message.members().unwrap_or_default();
            if let Some(parts) = members.get("parts") {
                return Ok(parts::blocks(parts));
            }
            let content = members.get("content");
            // In the model's messages the content is always a list.
            Ok(if side == Side::Model { Blocks::listed(content, side) } else { Blocks::read(content, side) })
        }
        Json::Text => {
            let mut blocks = Blocks::read(Some(message), side);
            let odd = "the message is a text, not an object; it is read as what is said";
            blocks.odd.push(Damage::calls(odd));
            Ok(blocks)
        }
        kind => Err(format!("the message is {}, not an object", kind.word())),
    }
}
