//! Threads of Amp (`~/.local/share/amp/threads`): an object with `messages` of blocks. A result has a `run`, whose status says how
//! the call ended.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::{Status, status};
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::Damage;

pub(crate) const FORMAT: Format = Format {
    name: "amp",
    title: "threads of Amp",
    source: "`~/.local/share/amp/threads/*.json`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Thread>,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|thread| {
        let first = thread.get("messages").and_then(Node::first_item).and_then(Node::members);
        thread.has("v") && first.is_some_and(|first| first.has("messageId"))
    })
}

#[derive(Default)]
struct Thread;

impl Conversation for Thread {
    const EXPECTED: &'static str = "neither a thread nor a message";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("messages")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("role")
    }

    fn about(&mut self, thread: &Members<'_>, scribe: &mut Scribe) {
        if let Some(title) = thread.try_get("title").and_then(Node::text) {
            scribe.builder.title(&title);
        }
        let env = thread.get("env").and_then(Node::members).unwrap_or_default();
        let initial = env.get("initial").and_then(Node::members).unwrap_or_default();
        let tree =
            initial.get("trees").and_then(Node::first_item).and_then(Node::members).unwrap_or_default();
        if let Some(folder) = tree.try_get("uri").and_then(Node::text) {
            scribe.builder.context_once("cwd", folder.strip_prefix("file://").unwrap_or(&folder).into());
        }
        let platform = initial.get("platform").and_then(Node::members).unwrap_or_default();
        scribe.about_as("version", platform.get("clientVersion"));
    }

    fn entry(&mut self, message: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        let about = message.get("meta").and_then(Node::members).unwrap_or_default();
        scribe.at(&about, &["sentAt"]);
        let role = message.get("role").and_then(Node::text).unwrap_or_else(|| {
            scribe.builder.damaged(Damage::calls("a message has no role; it is read as one of the model"));
            "assistant".into()
        });
        let Some(content) = message.get("content") else {
            scribe.builder.damaged(Damage::calls("a message has no content"));
            return Ok(());
        };
        scribe.end_response();
        // Messages have numbers, and no two have the same.
        let key = message.get("messageId").and_then(Node::id).unwrap_or_default();
        let is_model = role == "assistant";
        for block in scribe.parts(content) {
            let Some(members) = block.members() else {
                scribe.odd_part(block);
                continue;
            };
            match &*members.get("type").and_then(Node::text).unwrap_or_default() {
                "text" if is_model => scribe.response(Some(&key), body(&members, &["text"])),
                "text" => scribe.said(&role, body(&members, &["text"])),
                "tool_use" if is_model => {
                    scribe.ensure_response(&key);
                    let id = members.get("id").and_then(Node::id);
                    let tool = members.get("name").and_then(Node::text).unwrap_or_default();
                    scribe.call(id.as_deref(), &tool, body(&members, &["input"]));
                }
                "tool_result" => result(&members, scribe),
                "thinking" | "redacted_thinking" | "image" | "summary" => {}
                _ => scribe.unknown_part(block),
            }
        }
        Ok(())
    }
}

fn result(block: &Members<'_>, scribe: &mut Scribe) {
    let id = block.get("toolUseID").and_then(Node::id);
    let run = block.get("run").and_then(Node::members).unwrap_or_default();
    let word = run.get("status").and_then(Node::text).unwrap_or_default();
    let result = run.get("result").filter(|result| result.kind() == Kind::Object).and_then(Node::members);
    let exit = result.as_ref().and_then(|result| result.get("exitCode"));
    let error = run.try_get("error").and_then(Node::members).and_then(|error| error.get("message"));
    let content = error.map_or_else(|| body(&run, &["error", "result", "reason", "progress"]), Node::body);
    let ended = match &*word {
        word if word.starts_with("rejected") => Status::Refused("the run's status is that it was rejected"),
        "blocked-on-user" => Status::Open,
        "done" if exit.is_some_and(|code| code.number() != Some(0i64)) => Status::Failed,
        word => match status(word) {
            Status::Unknown => Status::Open,
            known => known,
        },
    };
    scribe.result(id.as_deref(), content, ended);
}
