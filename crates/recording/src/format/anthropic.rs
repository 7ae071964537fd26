//! Requests to the Anthropic Messages API and its responses; the bare messages of a conversation.

use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::blocks::{Answer, Blocks, Side};
use crate::shape::chat::{Chat, Rules};
use crate::shape::exchange;
use crate::shape::exchange::{Api, Exchanges, LoggedExchange};
use crate::shape::status::Status;
use crate::shape::suspicion;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

pub(crate) const FORMAT: Format = Format {
    name: "anthropic",
    title: "logged requests to the Anthropic Messages API and its responses, whole or streamed; the messages alone; results of a batch",
    source: "log `{\"request\": …, \"response\": …}` where your program calls the API, a line each",
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let opened = LoggedExchange::of(value);
        let answered = || exchange::response(value, &opened).is_some_and(|response| is_answer(&response));
        if has_blocks(value) || answered() {
            return true;
        }
        let Some(request) = exchange::request(value, &opened, "messages") else { return is_answer(value) };
        let tool = request.get("tools").and_then(Node::first_item).and_then(Node::members);
        let system = request.has("system") && request.has("max_tokens");
        system
            || tool.is_some_and(|tool| tool.has("input_schema"))
            || request.get("messages").is_some_and(|list| exchange::any_object(list, has_blocks))
    }) || sample.lists().any(|list| exchange::any_object(list, has_blocks))
}

/// Whether a message has blocks that no other form has.
fn has_blocks(message: &Members<'_>) -> bool {
    let content = message.get("content").filter(|_| message.has("role"));
    let blocks = content.and_then(Node::items).into_iter().flatten().filter_map(Node::members);
    blocks.into_iter().any(|block| {
        let kind = block.get("type").and_then(Node::text);
        kind.is_some_and(|kind| matches!(&*kind, "tool_use" | "tool_result" | "server_tool_use"))
    })
}

fn is_answer(value: &Members<'_>) -> bool {
    let text = |key| value.get(key).and_then(Node::text).unwrap_or_default();
    let content = value.get("content").filter(|content| content.kind() == Kind::List);
    let first = content.and_then(Node::first_item).and_then(Node::members);
    // An item of the Responses API looks alike.
    let item = first.and_then(|block| block.get("type")?.text()).is_some_and(|kind| kind == "output_text");
    content.is_some() && !item && text("type") == "message" && text("role") == "assistant"
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(Exchanges::new(setting, Anthropic { setting: setting.clone(), rules }))
}

struct Anthropic {
    setting: Setting,
    /// For messages in the form of the OpenAI API, which programs that support both mix in.
    rules: Rules,
}

impl Anthropic {
    fn mark(&self, answer: &Answer) -> Mark {
        Mark { error: self.setting.failed(answer.error, &answer.content), refused: None }
    }

    fn say(
        &self,
        message: &Members<'_>,
        blocks: fn(Option<Node<'_>>, Side) -> Blocks,
        at: Option<Millis>,
        builder: &mut Builder,
    ) {
        let role = message.get("role").and_then(Node::text).unwrap_or_else(|| {
            builder.lost(Loss::MayHoldCalls, "a message has no role; it is read as one of the role `user`");
            "user".into()
        });
        if is_chat(&role, message) {
            let mut chat = Chat::at_line(builder.line(), &self.rules);
            chat.otherwise_at(at);
            return chat.message(builder, message);
        }
        let mark = |answer: &Answer| self.mark(answer);
        if role == "assistant" {
            if let Some(what) = suspicion::unread(message, &suspicion::CHAT) {
                builder.damaged(suspicion::lost(&what));
            }
            let key = message.get("id").and_then(Node::id);
            let said = blocks(message.get("content"), Side::Model).promised(message.get("stop_reason"));
            return said.respond(builder, key.as_deref(), at, mark);
        }
        blocks(message.get("content"), Side::Other).reply(builder, &role, at, mark);
    }
}

/// Whether a message has what the OpenAI API alone has.
fn is_chat(role: &str, message: &Members<'_>) -> bool {
    match role {
        "assistant" => {
            message.any(&["tool_calls", "function_call"]).is_some_and(|calls| calls.json() != "[]")
        }
        "tool" | "function" => message.has("tool_call_id"),
        _ => false,
    }
}

impl Api for Anthropic {
    const MESSAGES: &'static str = "messages";
    const EXPECTED: &'static str = "neither a request, a response nor a message";

    fn is_message(message: &Members<'_>) -> bool {
        let role = message.get("role").and_then(Node::text);
        role.is_some_and(|role| message.has("content") || is_chat(&role, message))
    }

    fn is_response(message: &Members<'_>) -> bool {
        message.get("role").and_then(Node::text).is_some_and(|role| role == "assistant")
    }

    fn preface(&mut self, request: &Members<'_>, builder: &mut Builder) {
        if let Some(system) = request.get("system") {
            builder.said("system", Body::json(system.json()), None);
        }
    }

    fn message(&mut self, message: Node<'_>, at: Option<Millis>, builder: &mut Builder) {
        match message.members() {
            Some(members) => self.say(&members, Blocks::read, at, builder),
            None => {
                let word = message.said_kind();
                builder
                    .lost(Loss::MayHoldCalls, format!("a message is {word}, not an object; it is left out"));
            }
        }
    }

    fn response(&mut self, response: &Members<'_>, at: Option<Millis>, builder: &mut Builder) {
        match response.get("error") {
            Some(error) => builder.said("system", Body::json(error.json()), at),
            None => self.say(response, Blocks::listed, at, builder),
        }
    }

    /// A complete message of the model is one of the conversation's messages, whatever else is listed with it.
    fn is_bare_response(_: &Members<'_>) -> bool {
        false
    }
}
