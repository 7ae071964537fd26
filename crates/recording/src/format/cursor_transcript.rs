//! Transcripts of Cursor (`~/.cursor/projects/*/agent-transcripts/`): JSON Lines of messages made of blocks. They have no results.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Members, Node};
use crate::shape::blocks::{Blocks, Side};
use crate::shape::scribe::Scribe;
use crate::shape::transcript::{self, Conversation};

pub(crate) const FORMAT: Format = Format {
    name: "cursor-transcript",
    title: "transcripts of Cursor, which have no results",
    source: "`~/.cursor/projects/*/agent-transcripts/`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Transcript>,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|line| {
        let message = line.try_get("message").and_then(Node::members).unwrap_or_default();
        let bare = line.names().all(|name| matches!(name, "role" | "message" | "timestamp"));
        line.has("role") && bare && message.has("content") && !message.has("role")
    })
}

#[derive(Default)]
struct Transcript;

impl Conversation for Transcript {
    const EXPECTED: &'static str = "not a line of a transcript";

    fn entries<'a>(_: &Members<'a>) -> Option<Node<'a>> {
        None
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("role") || value.has("type")
    }

    fn entry(&mut self, line: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        let Some(role) = line.get("role").and_then(Node::text) else {
            let kind = line.get("type").and_then(Node::text).unwrap_or_default();
            return if kind == "turn_ended" { Ok(()) } else { Err(kind.into_owned()) };
        };
        scribe.at(line, &["timestamp"]);
        let message = line.get("message").and_then(Node::members).unwrap_or_default();
        let side = if role == "assistant" { Side::Model } else { Side::Other };
        scribe.message(&role, None, Blocks::listed(message.get("content"), side));
        Ok(())
    }
}
