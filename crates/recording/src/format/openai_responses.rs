//! Requests to the OpenAI Responses API and its responses; the bare items of a conversation.

use std::borrow::Cow;

use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample};
use crate::input::calls;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::exchange;
use crate::shape::exchange::{Api, Exchanges, LoggedExchange};
use crate::shape::items;
use crate::shape::items::{Answer, Item, Row};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

pub(crate) const FORMAT: Format = Format {
    name: "openai-responses",
    title: "logged requests to the OpenAI Responses API and its responses, whole or streamed; either alone, or the items",
    source: "log `{\"request\": …, \"response\": …}` where your program calls the API, a line each",
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let opened = LoggedExchange::of(value);
        let request = exchange::request(value, &opened, "input").filter(|_| !value.has("messages"));
        let asked = request.is_some_and(|request| {
            let items = request.get("input").filter(|input| input.kind() == Kind::List);
            items.is_some_and(|list| exchange::any_object(list, is_call))
                || request.has("instructions") && request.has("model")
        });
        let answered = exchange::response(value, &opened).is_some_and(|response| is_response(&response));
        asked || answered || is_response(value) || is_call(value)
    }) || sample.lists().any(|list| exchange::any_object(list, is_call))
}

/// Whether it is an item that no other form has.
fn is_call(item: &Members<'_>) -> bool {
    let kind = item.get("type").and_then(Node::text).unwrap_or_default();
    kind != "message" && items::is_item(&kind) && item.any(&["call_id", "status", "summary"]).is_some()
}

fn is_response(value: &Members<'_>) -> bool {
    value.get("output").is_some_and(|output| output.kind() == Kind::List)
        && value.get("object").and_then(Node::text).is_some_and(|object| object == "response")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let marks = setting.clone();
    let mark = move |answer: &Answer| {
        Some(Mark { error: marks.failed(answer.error, &answer.content), refused: answer.refused })
    };
    Box::new(Exchanges::new(setting, Responses { row: Row::default(), mark: Box::new(mark) }))
}

/// Finds the mark of a result.
type Marks = Box<dyn Fn(&Answer) -> Option<Mark> + Send>;

struct Responses {
    row: Row,
    mark: Marks,
}

impl Api for Responses {
    const MESSAGES: &'static str = "input";
    const EXPECTED: &'static str = "neither a request, a response nor an item";

    fn is_message(message: &Members<'_>) -> bool {
        message.get("type").and_then(Node::text).is_some_and(|kind| items::is_item(&kind))
            || message.has("role")
    }

    fn is_response(message: &Members<'_>) -> bool {
        !matches!(items::item(message), Some(Item::Said { .. } | Item::Answer(_) | Item::Approved) | None)
    }

    fn preface(&mut self, request: &Members<'_>, builder: &mut Builder) {
        if let Some(instructions) = request.get("instructions") {
            builder.said("system", Body::json(instructions.json()), None);
        }
    }

    fn message(&mut self, message: Node<'_>, at: Option<Millis>, builder: &mut Builder) {
        let line = builder.line();
        if message.kind() == Kind::Text {
            let content = Body::json(message.json());
            return self.row.add(builder, line, Item::Said { role: "user".into(), content }, at, &self.mark);
        }
        let Some(members) = message.members() else {
            let word = message.said_kind();
            return builder
                .lost(Loss::MayHoldCalls, format!("an item is {word}, not an object; it is left out"));
        };
        if let Some(odd) = items::odd(&members) {
            builder.damaged(odd);
        }
        match items::item(&members) {
            Some(item) => self.row.add(builder, line, item, at, &self.mark),
            None => {
                let kind = members.get("type").and_then(Node::text).unwrap_or_default();
                let loss = if items::is_item(&kind) { Loss::MayHoldCalls } else { calls::loss_of(message) };
                builder.lost(loss, "an item of a type that is not known is left out");
            }
        }
    }

    fn response(&mut self, response: &Members<'_>, at: Option<Millis>, builder: &mut Builder) {
        if let Some(error) = response.get("error") {
            builder.said("system", Body::json(error.json()), at);
        }
        if response.get("output").is_none() && response.get("error").is_none() {
            builder.lost(Loss::MayHoldCalls, "the response has no `output`");
        }
        for item in response.get("output").and_then(Node::items).unwrap_or_default() {
            if item.kind() == Kind::Text {
                builder.lost(Loss::MayHoldCalls, "an item is a text, not an object; it is left out");
                continue;
            }
            self.message(item, at, builder);
        }
    }

    fn end(&mut self, builder: &mut Builder) {
        self.row.end(builder, &self.mark);
    }

    fn answers<'a>(value: &Members<'a>) -> Option<Cow<'a, str>> {
        let is_output =
            value.get("type").and_then(Node::text).is_some_and(|kind| kind.ends_with("_call_output"));
        value.get("call_id").filter(|_| is_output)?.id()
    }

    fn is_bare_response(value: &Members<'_>) -> bool {
        is_response(value)
    }
}
