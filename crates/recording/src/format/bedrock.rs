//! Messages of the Converse API of Amazon Bedrock: logged requests and responses, the bare messages of a conversation,
//! and those that sessions of Strands Agents keep, one per value.

use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::blocks::{Answer, Blocks, Side};
use crate::shape::exchange;
use crate::shape::exchange::{Api, Exchanges, LoggedExchange};
use crate::shape::suspicion;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis, Results};

pub(crate) const FORMAT: Format = Format {
    name: "bedrock",
    title: "logged requests to the Converse API of Amazon Bedrock and its responses, the messages alone, and sessions of Strands Agents",
    source: "log request and response where your program calls the API, a line each",
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let opened = LoggedExchange::of(value);
        let answered = || exchange::response(value, &opened).is_some_and(|response| is_answer(&response));
        if kept(value).is_some() || has_blocks(value) || is_answer(value) || answered() {
            return true;
        }
        let request = exchange::request(value, &opened, "messages");
        request.is_some_and(|request| {
            offered(&request).is_some()
                || request.get("messages").is_some_and(|list| exchange::any_object(list, has_blocks))
        })
    }) || sample.lists().any(|list| exchange::any_object(list, has_blocks))
}

/// Whether a message has blocks that no other form has.
fn has_blocks(message: &Members<'_>) -> bool {
    let content = message.get("content").filter(|_| message.has("role"));
    let blocks = content.and_then(Node::objects).unwrap_or_default();
    let is_tool = |block: &Members<'_>| {
        let inner = block.any(&["toolUse", "toolResult"]).and_then(Node::members);
        inner.is_some_and(|inner| inner.has("toolUseId")) && !block.has("type")
    };
    let is_text = |block: &Members<'_>| block.has("text") && block.names().count() == 1;
    blocks.iter().any(is_tool) || !blocks.is_empty() && blocks.iter().all(is_text)
}

/// The message that a session of Strands Agents keeps in this value.
fn kept<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    let message = value.get("message").filter(|_| value.has("message_id"))?.members()?;
    let blocks = message.get("content").filter(|content| content.kind() == Kind::List);
    (message.has("role") && blocks.is_some()).then_some(message)
}

/// The message of a response.
fn answer<'a>(response: &Members<'a>) -> Option<Members<'a>> {
    response.get("output")?.members()?.get("message")?.members()
}

fn is_answer(value: &Members<'_>) -> bool {
    answer(value).is_some_and(|message| message.has("role") && message.has("content"))
}

fn offered<'a>(request: &Members<'a>) -> Option<Node<'a>> {
    request.get("toolConfig")?.members()?.get("tools")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Exchanges::new(setting, Bedrock { setting: setting.clone(), number: None, unordered: false }))
}

struct Bedrock {
    setting: Setting,
    /// Number of the last message that a session kept.
    number: Option<u64>,
    /// Whether wrong order was reported.
    unordered: bool,
}

impl Bedrock {
    fn say(
        &self,
        message: &Members<'_>,
        reason: Option<Node<'_>>,
        at: Option<Millis>,
        builder: &mut Builder,
    ) {
        let role = message.get("role").and_then(Node::text).unwrap_or_else(|| {
            builder.lost(Loss::MayHoldCalls, "a message has no role; it is read as one of the role `user`");
            "user".into()
        });
        let mark = |answer: &Answer| Mark {
            error: self.setting.failed(answer.error, &answer.content),
            refused: None,
        };
        let content = message.get("content");
        if role == "assistant" {
            let unread = suspicion::unread(message, &[]);
            unread.into_iter().for_each(|what| builder.damaged(suspicion::lost(&what)));
            return Blocks::listed(content, Side::Model).promised(reason).respond(builder, None, at, mark);
        }
        Blocks::listed(content, Side::Other).reply(builder, &role, at, mark);
    }

    /// Checks the numbers of messages: whether some are missing before the first, and whether each follows the one
    /// before. If each message has its own file, results are in other files than their calls.
    fn number(&mut self, value: &Members<'_>, builder: &mut Builder) {
        let number = value.get("message_id").and_then(Node::number::<u64>);
        match (self.number, number) {
            (None, Some(first @ 1..)) => {
                builder.results(Results::Recorded);
                let first = format!("the first message here is number {first} of its session");
                builder.starts_in_the_middle(format!("{first}; put those before it into the same file"));
            }
            (Some(before), Some(number)) if number <= before && !self.unordered => {
                self.unordered = true;
                builder.damaged(format!(
                    "message {number} comes after message {before}: calls may not find their results"
                ));
            }
            _ => {}
        }
        self.number = number.or(self.number);
    }
}

impl Api for Bedrock {
    const MESSAGES: &'static str = "messages";
    const EXPECTED: &'static str = "neither a request, a response nor a message";

    fn is_message(message: &Members<'_>) -> bool {
        message.has("role") && message.has("content") || kept(message).is_some()
    }

    fn is_response(message: &Members<'_>) -> bool {
        message.get("role").and_then(Node::text).is_some_and(|role| role == "assistant")
    }

    fn preface(&mut self, request: &Members<'_>, builder: &mut Builder) {
        if let Some(system) = request.get("system") {
            builder.said("system", Body::json(system.json()), None);
        }
    }

    fn offered<'a>(part: &Members<'a>) -> Option<Node<'a>> {
        offered(part)
    }

    fn message(&mut self, message: Node<'_>, at: Option<Millis>, builder: &mut Builder) {
        let Some(members) = message.members() else {
            let word = message.said_kind();
            return builder
                .lost(Loss::MayHoldCalls, format!("a message is {word}, not an object; it is left out"));
        };
        match kept(&members) {
            Some(message) => {
                self.number(&members, builder);
                self.say(&message, None, at, builder);
            }
            None => self.say(&members, None, at, builder),
        }
    }

    fn response(&mut self, response: &Members<'_>, at: Option<Millis>, builder: &mut Builder) {
        match (answer(response), response.any(&["error", "Error"])) {
            (Some(message), _) => self.say(&message, response.get("stopReason"), at, builder),
            (None, Some(error)) => builder.said("system", Body::json(error.json()), at),
            (None, None) => builder.lost(Loss::MayHoldCalls, "the response has no message"),
        }
    }

    fn end(&mut self, _: &mut Builder) {
        (self.number, self.unordered) = (None, false);
    }

    fn is_bare_response(value: &Members<'_>) -> bool {
        is_answer(value)
    }
}
