//! Conversations of claude.ai from its export (`conversations.json`): a list of objects with `chat_messages`.
//!
//! A message of the model holds everything up to the user's next message: calls, their results, and what follows.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Members, Node};
use crate::shape::scribe::{Scribe, body, words};
use crate::shape::status::Status;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "claude-export",
    title: "conversations of claude.ai",
    source: "`conversations.json` in the archive that claude.ai exports (Settings, Privacy, Export data)",
    absent_without_results: false,
    marks_failures: true,
    recognise: |sample: &Sample<'_>| {
        sample.objects().any(|value| value.has("chat_messages") && value.has("uuid"))
    },
    reader: transcript::reader::<Chat>,
};

#[derive(Default)]
struct Chat {
    responses: u64,
}

impl Conversation for Chat {
    const EXPECTED: &'static str = "no conversation";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("chat_messages")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("sender")
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        if let Some(title) = whole.try_get("name").and_then(Node::text) {
            scribe.builder.title(&title);
        }
        scribe.about(whole, &["model"]);
    }

    fn entry(&mut self, message: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(message, &["created_at"]);
        let sender = message.get("sender").and_then(Node::text).unwrap_or_else(|| {
            scribe.builder.damaged(Damage::calls("a message has no sender; it is read as one of the model"));
            "assistant".into()
        });
        self.responses += 1;
        scribe.end_response();
        let is_model = sender == "assistant";
        let Some(content) = message.get("content") else {
            match is_model {
                true => scribe.response(None, body(message, &["text"])),
                false => scribe.said("user", body(message, &["text"])),
            }
            return Ok(());
        };
        for block in scribe.parts(content) {
            match block.members() {
                Some(members) => self.block(block, &members, is_model, scribe),
                None => scribe.odd_part(block),
            }
        }
        Ok(())
    }
}

impl Chat {
    fn block(&mut self, node: Node<'_>, block: &Members<'_>, is_model: bool, scribe: &mut Scribe) {
        scribe.at(block, &["start_timestamp"]);
        let key = self.responses.to_string();
        match &*block.get("type").and_then(Node::text).unwrap_or_default() {
            "text" if is_model => scribe.response(Some(&key), body(block, &["text"])),
            "text" => scribe.said("user", body(block, &["text"])),
            "tool_use" if is_model => {
                scribe.ensure_response(&key);
                let id = block.get("id").and_then(Node::id);
                let tool = block.get("name").and_then(Node::text).unwrap_or_default();
                scribe.call(id.as_deref(), &tool, body(block, &["input"]));
            }
            "tool_result" => {
                let id = block.get("tool_use_id").and_then(Node::id);
                let failed = block.get("is_error").is_some_and(|error| error.bool().unwrap_or(true));
                let content = block.get("content").map_or(Body::MISSING, words);
                scribe.result(
                    id.as_deref(),
                    content,
                    if failed { Status::Failed } else { Status::Succeeded },
                );
                self.responses += 1;
            }
            "thinking" | "redacted_thinking" | "token_budget" | "flag" | "voice_note" | "image" => {}
            _ => scribe.unknown_part(node),
        }
    }
}
