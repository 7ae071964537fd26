//! Events of the Anthropic Messages API.

use std::collections::HashMap;

use super::pieces::{Arguments, Object, Pieces, STRAY, Whole, list};
use crate::input::shallow::{Members, Node};
use rulestep_base::session::Damage;

/// A block of the content.
struct Block<'a> {
    /// Its beginning.
    begun: Members<'a>,
    text: String,
    input: Arguments,
    /// Whether it is complete.
    stopped: bool,
}

pub(super) fn whole(pieces: &Pieces<'_>) -> Whole {
    let mut message = Members::default();
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut by_index: HashMap<&str, usize> = HashMap::new();
    let (mut ended, mut stray) = (false, false);
    for piece in pieces.list {
        let Some(piece) = piece else {
            let open = blocks.iter_mut().filter(|block| !block.stopped);
            open.for_each(|block| block.input.torn = true);
            continue;
        };
        let index = piece.get("index").map_or("", Node::json);
        let block = by_index.get(index).and_then(|place| blocks.get_mut(*place));
        match (piece.get("type").and_then(Node::text).as_deref(), block) {
            (Some("message_start"), _) => {
                message = piece.get("message").and_then(Node::members).unwrap_or_default();
            }
            (Some("content_block_start"), _) => {
                by_index.insert(index, blocks.len());
                let begun = piece.get("content_block").and_then(Node::members).unwrap_or_default();
                blocks.push(Block::new(begun));
            }
            (Some("content_block_delta"), Some(block)) => block.add(piece),
            (Some("content_block_delta"), None) => stray = true,
            (Some("content_block_stop"), Some(block)) => block.stopped = true,
            (Some("message_delta"), _) => {
                let delta = piece.get("delta").and_then(Node::members);
                ended |= delta.is_some_and(|delta| delta.get("stop_reason").is_some());
            }
            (Some("message_stop"), _) => ended = true,
            _ => {}
        }
    }
    let mut made = Object::new();
    for key in ["id", "model", "created"] {
        made.copied(key, &message);
    }
    made.text("type", "message");
    made.text("role", "assistant");
    made.raw("content", &list(blocks.into_iter().map(|block| block.end(ended))));
    let odd = stray.then(|| Damage::calls(STRAY)).into_iter().collect();
    Whole { json: made.end(), odd, broken: !ended && !pieces.done }
}

impl<'a> Block<'a> {
    fn new(begun: Members<'a>) -> Block<'a> {
        let text = begun.get("text").and_then(Node::text).unwrap_or_default().into_owned();
        Block { begun, text, input: Arguments::default(), stopped: false }
    }

    fn add(&mut self, piece: &Members<'_>) {
        let Some(delta) = piece.get("delta").and_then(Node::members) else { return };
        if let Some(text) = delta.get("text").and_then(Node::text) {
            self.text.push_str(&text);
        }
        if let Some(json) = delta.get("partial_json") {
            self.input.add(json);
        }
    }

    /// Its complete form. If no pieces of a call's input were sent, the input is that of its beginning, once the block
    /// is known to have ended.
    fn end(self, ended: bool) -> String {
        let mut made = Object::new();
        let has_input = self.begun.has("input");
        for (key, node) in self.begun.iter() {
            match key {
                "text" => made.text("text", &self.text),
                "input" => {}
                key => made.raw(key, node.json()),
            }
        }
        if has_input && !self.input.torn {
            let sent = self.input.text.as_str();
            let begun = self.begun.get("input").map_or("{}", Node::json);
            match Node::parse(sent) {
                Ok(input) => made.raw("input", input.json()),
                Err(_) if sent.trim().is_empty() && (self.stopped || ended) => made.raw("input", begun),
                Err(_) => made.text("input", sent),
            }
        }
        made.end()
    }
}
