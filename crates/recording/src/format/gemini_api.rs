//! Logged requests to the Gemini API (`generateContent`) and its responses. Either of them without the other is read as
//! a conversation of the Gemini CLI.

use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::blocks::{Answer, BlockCall, Blocks};
use crate::shape::exchange::{self, Api, Exchanges, LoggedExchange};
use crate::shape::gemini::{self, Part};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Damage, Millis};

pub(crate) const FORMAT: Format = Format {
    name: "gemini-api",
    title: "logged requests to the Gemini API (`generateContent`) and its responses",
    source: "log `{\"request\": …, \"response\": …}` where your program calls the API, a line each",
    absent_without_results: true,
    marks_failures: true,
    recognise: |sample: &Sample<'_>| {
        sample.objects().any(|value| {
            let opened = LoggedExchange::of(value);
            exchange::response(value, &opened).is_some_and(|response| response.has("candidates"))
                || !value.has("contents") && exchange::request(value, &opened, "contents").is_some()
        })
    },
    reader,
};

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Exchanges::new(setting, Gemini { setting: setting.clone() }))
}

struct Gemini {
    setting: Setting,
}

impl Gemini {
    fn blocks(&self, message: &Members<'_>, builder: &mut Builder) -> Blocks {
        let (mut said, mut calls, mut answers, mut odd) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let parts = message.get("parts").and_then(Node::items).unwrap_or_default();
        for part in parts {
            let Some(members) = part.members() else {
                odd.push(Damage::calls(format!(
                    "a part is {}, not an object; it is left out",
                    part.said_kind()
                )));
                continue;
            };
            let text =
                |from: &Members<'_>, key| from.get(key).and_then(Node::id).map(|text| text.as_ref().into());
            match gemini::part(&members) {
                Part::Call(call) => calls.push(BlockCall {
                    id: text(&call, "id"),
                    tool: call.get("name").and_then(Node::text).unwrap_or_default().as_ref().into(),
                    input: call.get("args").map_or(Body::MISSING, Node::body),
                }),
                Part::Result(result) => answers.push(answer(&result, text(&result, "id"))),
                Part::Thought => {}
                Part::Said(damage) => {
                    odd.extend(damage);
                    said.push(part);
                }
            }
        }
        odd.into_iter().for_each(|odd| builder.damaged(odd));
        let content = match said.as_slice() {
            [] => Body::MISSING,
            [one] => one.members().and_then(|part| part.get("text")).unwrap_or(*one).body(),
            _ => message.get("parts").map_or(Body::MISSING, gemini::said),
        };
        Blocks::of(content, calls, answers)
    }

    fn say(&self, message: &Members<'_>, role: &str, at: Option<Millis>, builder: &mut Builder) {
        let blocks = self.blocks(message, builder);
        let mark = |answer: &Answer| Mark {
            error: self.setting.failed(answer.error, &answer.content),
            refused: None,
        };
        match role {
            "model" | "assistant" => blocks.respond(builder, None, at, mark),
            _ => blocks.reply(builder, if role == "function" { "user" } else { role }, at, mark),
        }
    }
}

fn answer(result: &Members<'_>, id: Option<Box<str>>) -> Answer {
    let response = result.get("response");
    let failed =
        response.is_some_and(|response| response.tried().members().is_some_and(|given| given.has("error")));
    let content = response.map_or(Body::MISSING, gemini::output);
    Answer { id, content, error: failed.then_some(true), unsure: false }
}

impl Api for Gemini {
    const MESSAGES: &'static str = "contents";
    const EXPECTED: &'static str = "neither a request nor a response";

    fn is_message(message: &Members<'_>) -> bool {
        message.has("parts")
    }

    fn is_response(message: &Members<'_>) -> bool {
        message.get("role").and_then(Node::text).is_some_and(|role| role == "model")
    }

    fn preface(&mut self, request: &Members<'_>, builder: &mut Builder) {
        if let Some(system) = request.any(&["systemInstruction", "system_instruction"]) {
            let parts = system.tried().members().and_then(|system| system.get("parts"));
            builder.said("system", gemini::said(parts.unwrap_or(system)), None);
        }
    }

    fn message(&mut self, message: Node<'_>, at: Option<Millis>, builder: &mut Builder) {
        match message.members() {
            Some(members) => {
                let role = members.get("role").and_then(Node::text).unwrap_or("user".into());
                if !members.get("parts").is_some_and(|parts| parts.kind() == Kind::List) {
                    builder.damaged(Damage::calls("a message has no list of parts"));
                }
                self.say(&members, &role, at, builder);
            }
            None => {
                let word = message.said_kind();
                builder.damaged(Damage::calls(format!("a message is {word}, not an object; it is left out")));
            }
        }
    }

    fn response(&mut self, response: &Members<'_>, at: Option<Millis>, builder: &mut Builder) {
        if let Some(error) = response.get("error") {
            return builder.said("system", Body::json(error.json()), at);
        }
        let candidates = response.get("candidates").and_then(Node::objects).unwrap_or_default();
        let content = candidates.first().and_then(|first| first.get("content")?.members());
        match content {
            Some(content) => self.say(&content, "model", at, builder),
            None => builder.damaged(Damage::calls("the response has no candidate with a content")),
        }
        if candidates.len() > 1 {
            builder.damaged(Damage::calls("a response has further candidates, which are left out"));
        }
    }

    fn offered<'a>(part: &Members<'a>) -> Option<Node<'a>> {
        let tool = part.get("tools").and_then(Node::first_item)?.tried().members()?;
        tool.any(&["functionDeclarations", "function_declarations"])
    }

    fn is_bare_response(value: &Members<'_>) -> bool {
        value.has("candidates")
    }
}
