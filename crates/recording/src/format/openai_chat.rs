//! Requests to the OpenAI chat completions API together with its responses. The bare messages are the native form.

use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::chat;
use crate::shape::chat::{Chat, Rules};
use crate::shape::command;
use crate::shape::exchange;
use crate::shape::exchange::{Api, Exchanges, LoggedExchange};
use crate::shape::status::Status;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Damage, Millis};

pub(crate) const FORMAT: Format = Format {
    name: "openai-chat",
    title: "logged requests to the OpenAI chat API and its responses, whole or streamed; results of a batch",
    source: "log `{\"request\": …, \"response\": …}` where your program calls the API, a line each",
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let opened = LoggedExchange::of(value);
        is_completion(value)
            || exchange::response(value, &opened).is_some_and(|response| is_completion(&response))
            || !value.has("messages") && exchange::request(value, &opened, "messages").is_some()
    })
}

fn is_completion(value: &Members<'_>) -> bool {
    let first = value.get("choices").and_then(Node::first_item).and_then(Node::members);
    first.is_some_and(|choice| choice.get("message").is_some_and(|message| message.kind() == Kind::Object))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(Exchanges::new(setting, OpenAi { rules }))
}

struct OpenAi {
    rules: Rules,
}

impl Api for OpenAi {
    const MESSAGES: &'static str = "messages";
    const EXPECTED: &'static str = "neither a request nor a response";

    fn is_message(message: &Members<'_>) -> bool {
        message.has("role")
    }

    fn is_response(message: &Members<'_>) -> bool {
        message.get("role").and_then(Node::text).is_some_and(|role| role == "assistant")
    }

    fn preface(&mut self, request: &Members<'_>, _: &mut Builder) {
        let is_openhands = request.any(&exchange::MEANT).is_some();
        self.rules.ended = match is_openhands {
            true => |content| command::openhands_output(content.shown()),
            false => |_| Status::Unknown,
        };
    }

    fn message(&mut self, message: Node<'_>, at: Option<Millis>, builder: &mut Builder) {
        let Some(members) = message.members() else {
            let word = message.said_kind();
            return builder
                .lost(Loss::MayHoldCalls, format!("a message is {word}, not an object; it is left out"));
        };
        let mut chat = Chat::new(message, builder.line(), &self.rules);
        chat.otherwise_at(at);
        chat.message(builder, &members);
    }

    fn response(&mut self, response: &Members<'_>, at: Option<Millis>, builder: &mut Builder) {
        if let Some(error) = response.get("error") {
            return builder.said("system", Body::json(error.json()), at);
        }
        let choices = chat::choices(response);
        let Some((first, further)) = choices.split_first() else {
            return builder.damaged(Damage::calls("the response has no choice with a message"));
        };
        let turn = builder.next_turn();
        let before = builder.call_count();
        match first.message {
            Some(message) => {
                self.message(message, at, builder);
                let calls = builder.call_count() - before;
                first.promised(calls).into_iter().for_each(|odd| builder.damaged(odd));
            }
            None => builder.damaged(Damage::calls("the response has no choice with a message")),
        }
        if !further.is_empty() && builder.next_turn() == turn {
            // Alternatives need a turn.
            builder.response(None, Body::MISSING, at);
        }
        for (number, choice) in (2..).zip(further) {
            choice.beside(builder, number, &self.rules, at);
        }
    }

    fn is_bare_response(value: &Members<'_>) -> bool {
        is_completion(value)
    }
}
