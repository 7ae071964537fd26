//! The identity of a session, wherever it was read: its id and a digest of its content.
//!
//! The same on every machine and in every version of the program, so that parts of a corpus can be counted separately
//! and their counts merged. The name of the file is not part of it: a copied session is the same session.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use rulestep_base::checksum::Checksum;
use serde::{Deserialize, Serialize};

use rulestep_base::session::{Body, Form, Message, Operation, Session, Tool};

/// Id and content of a session in 64 bits. Two sessions of a corpus of a million share one with a probability of 3 in
/// 100 million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Identity(u64);

impl Identity {
    /// Of a session.
    pub fn of(session: &Session) -> Identity {
        Identity::by(session, Body::raw)
    }

    /// Of a session as it was recorded: if one file writes a letter and another one its escape, the same session has
    /// two. No escape is resolved for it.
    pub fn as_recorded(session: &Session) -> Identity {
        Identity::by(session, Body::recorded)
    }

    fn by(session: &Session, text: fn(&Body) -> &str) -> Identity {
        let mut digest = Digest(Checksum::new(), text);
        digest.text(&session.id);
        digest.text(session.parent.as_deref().unwrap_or_default());
        let facts = &session.facts;
        let files = facts.files.as_ref().map(|files| files.join("\n"));
        let surroundings = (&facts.context, &facts.variables, files, facts.now, facts.results);
        digest.text(&serde_json::to_string(&surroundings).unwrap_or_default());
        digest.number(i64::from(facts.from_the_middle));
        for offered in &session.offered {
            digest.number(i64::from(offered.turn));
            offered.tools.iter().for_each(|tool| digest.tool(tool));
        }
        session.messages.iter().for_each(|message| digest.message(message));
        for other in &session.alternatives {
            digest.number(i64::from(other.turn));
            digest.message(&other.message);
        }
        Identity(digest.0.finish())
    }

    /// Of a text, such as the name of a file.
    pub fn of_text(text: &str) -> Identity {
        Identity(Checksum::oneshot(text.as_bytes()))
    }

    /// A number that depends on nothing but this, as evenly spread as if it was drawn.
    pub fn number(self) -> u64 {
        Checksum::oneshot(&self.0.to_le_bytes())
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<Identity> for String {
    fn from(identity: Identity) -> String {
        identity.to_string()
    }
}

impl FromStr for Identity {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Identity, &'static str> {
        let plain = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = plain.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number.map(Identity).ok_or("an identity has 16 hexadecimal digits")
    }
}

impl TryFrom<String> for Identity {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Identity, &'static str> {
        text.parse()
    }
}

/// The digest, and how the text of a body is taken.
struct Digest(Checksum, fn(&Body) -> &str);

impl Digest {
    /// Adds a text with its length, so that no text runs into the next.
    fn text(&mut self, text: &str) {
        self.0.write(&(text.len() as u64).to_le_bytes());
        self.0.write(text.as_bytes());
    }

    fn number(&mut self, number: i64) {
        self.0.write(&number.to_le_bytes());
    }

    fn body(&mut self, body: &Body) {
        self.number(i64::from(body.form() == Some(Form::Text)));
        self.text((self.1)(body));
    }

    fn tool(&mut self, tool: &Tool) {
        self.text(&tool.name);
        self.text(tool.description.as_deref().unwrap_or_default());
        self.text(&serde_json::to_string(&tool.parameters).unwrap_or_default());
    }

    fn message(&mut self, message: &Message) {
        use rulestep_base::session::MessageKind::{Operation as Done, Response, Result, Said};
        self.text(&message.role);
        self.body(&message.content);
        self.number(message.at.unwrap_or(i64::MIN));
        match &message.kind {
            Said => self.number(-1),
            Response(turn) => self.number(i64::from(*turn)),
            Result(call, id) => {
                self.number(call.map_or(-2, i64::from));
                self.text(id.as_deref().unwrap_or_default());
            }
            Done(operation) => match operation {
                Operation::Snapshot(name) => self.text(name),
                Operation::Restore(name) => self.text(name),
                Operation::Reset => self.number(-3),
                Operation::Unknown(text) => self.text(text),
            },
        }
        for call in &message.calls {
            self.text(call.id.as_deref().unwrap_or_default());
            self.text(&call.tool);
            self.body(&call.arguments);
        }
    }
}
