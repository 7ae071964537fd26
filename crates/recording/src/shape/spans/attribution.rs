//! Builds the session of a conversation, once its responses and their calls are known: messages, calls, and results at
//! the times at which they came.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::message::{SpanAnswer, SpanCall};
use super::millis;
use super::turns::{Call, Choice, Response, Scope};
use crate::contract::setting::Setting;
use crate::shape::status::{Status, says_error};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Damage, OLD_OPERATION_ROLE, OPERATION_ROLE, Results, Tool};

mod unmade;

/// A result that waits for its time.
struct Waiting {
    id: Option<Box<str>>,
    content: Body,
    mark: Mark,
    at: Option<i64>,
    line: u32,
}

/// Results by when they came, the response of their call, and their number.
type Due = BTreeMap<(i64, usize, u32), Waiting>;

/// Results that are in requests, by the ids of their calls.
type Answers = HashMap<Box<str>, SpanAnswer>;

/// State while the responses of a session are added.
#[derive(Default)]
struct Attribution {
    /// Responses so far.
    told: usize,
    /// How often each message was added.
    heard: HashMap<u64, u32>,
    waiting: Due,
    offered: HashMap<Scope, Arc<[Tool]>>,
    /// Results in the requests whose calls have not come yet.
    answers: Answers,
    calls: u32,
    /// Whether some result is recorded.
    kept: bool,
    /// Calls that ended without a result, and those that are not known to have ended.
    silent: u32,
    open: u32,
}

/// Adds the responses of a session, in order, with their messages and the results of their calls.
pub fn tell(responses: Vec<Response>, setting: &Setting, builder: &mut Builder) {
    let unknown = unknown(&responses);
    builder.at_line(responses.first().map_or(1, |response| response.line));
    if unknown > 0 {
        let what = if unknown == 1 { "a response".to_owned() } else { format!("{unknown} responses") };
        builder.starts_in_the_middle(format!("the first request repeats {what} that have no span"));
    }
    let mut telling = Attribution::default();
    let answers = responses.iter().flat_map(|response| {
        response.answers.iter().chain(response.inputs.iter().flat_map(|said| &said.answers))
    });
    for answer in answers {
        if let Some(id) = &answer.id
            && !telling.answers.contains_key(id)
        {
            telling.answers.insert(id.clone(), answer.clone());
        }
    }
    unmade::tell(&responses, unknown > 0, builder);
    for response in responses {
        telling.response(response, setting, builder);
    }
    telling.end(builder);
}

impl Attribution {
    fn response(&mut self, response: Response, setting: &Setting, builder: &mut Builder) {
        let index = self.told;
        self.told += 1;
        // Results that came before this response was requested.
        due(&mut self.waiting, (response.start, index, 0), builder);
        builder.at_line(response.line);
        let mut now: HashMap<u64, u32> = HashMap::new();
        let asked = Some(response.start).filter(|start| *start != i64::MIN).map(millis);
        for said in response.inputs {
            if said.role == "assistant" || said.content.is_missing() {
                continue;
            }
            let said_so = said.digest();
            let times = now.entry(said_so).or_default();
            *times += 1;
            let before = self.heard.entry(said_so).or_default();
            if *times > *before {
                *before = *times;
                // A recording's role names must not turn a message into a result or an operation.
                let role = match &*said.role {
                    "tool" | "function" | OPERATION_ROLE | OLD_OPERATION_ROLE | "" => "user",
                    role => role,
                };
                builder.said(role, said.content.clone(), asked);
            }
        }
        // A request that does not list its tools has those that this run was offered before, whatever other runs were.
        match response.tools {
            Some(tools) => {
                builder.offered(builder.next_turn(), Arc::clone(&tools));
                self.offered.insert(response.scope, tools);
            }
            None => {
                if let Some(tools) = self.offered.get(&response.scope) {
                    builder.offered(builder.next_turn(), Arc::clone(tools));
                }
            }
        }
        let first = response.calls.iter().filter_map(|call| call.made.as_ref()).map(|made| made.start).min();
        let at = response.at.into_iter().chain(first.filter(|first| *first >= response.start)).min();
        builder.response(None, response.content, at.map(millis));
        if response.calls.is_empty() && response.others.iter().all(|other| other.calls.is_empty()) {
            response.promised.into_iter().for_each(|odd| builder.damaged(odd));
        }
        // A span of its tool may replace a call that is unreadable in the model's response.
        let known = response.calls.iter().filter(|call| call.proposed.is_none()).count();
        match response.unread.saturating_sub(known) {
            0 => {}
            1 => builder.damaged(Damage::calls("a call of a response names no tool; it is left out")),
            count => {
                let message = format!("{count} calls of a response name no tool; they are left out");
                builder.damaged(Damage::calls(message));
            }
        }
        for Choice { number, content, calls } in response.others {
            let mut aside = builder.aside();
            aside.response(None, content, at.map(millis));
            for SpanCall { id, tool, arguments } in calls {
                aside.call(id.as_deref(), &tool, arguments, at.map(millis));
            }
            builder.beside(number, aside);
        }
        for Call { proposed, made } in response.calls {
            self.calls += 1;
            let line = made.as_ref().map_or(response.line, |made| made.line);
            let mut id = made.as_ref().and_then(|made| made.id.clone());
            let mut tool = made.as_ref().map(|made| made.tool.clone());
            let mut arguments = made.as_ref().and_then(|made| made.arguments.clone());
            // The model's proposal is decided, whatever the tool was then called with.
            if let Some(proposed) = proposed {
                id = id.or(proposed.id);
                tool = Some(proposed.tool).filter(|tool| !tool.is_empty()).or(tool);
                let blank = proposed.arguments.raw().trim().is_empty();
                arguments = Some(proposed.arguments).filter(|_| !blank).or(arguments);
            }
            // Without an id, the results of overlapping calls could not be told apart.
            let id = id.or_else(|| made.as_ref().map(|made| made.span.clone())).filter(|id| !id.is_empty());
            let start = made.as_ref().map(|made| made.start).filter(|start| *start != i64::MIN).or(at);
            let arguments = arguments.unwrap_or_default();
            builder.at_line(line).call(
                id.as_deref(),
                &tool.unwrap_or_default(),
                arguments,
                start.map(millis),
            );
            let later = id.as_ref().and_then(|id| self.answers.remove(id));
            let error = made.as_ref().is_some_and(|made| made.error);
            let end = made.as_ref().filter(|made| made.ended).map(|made| made.end);
            let recorded = made.as_ref().and_then(|made| made.result.clone());
            self.kept |= recorded.is_some() || later.is_some();
            let message = made.filter(|made| made.error).map(|made| made.message);
            let status = later.as_ref().map_or(Status::Unknown, |later| later.status);
            // A call that is still running for the model has no result yet.
            let later = later.filter(|_| status != Status::Open).map(|later| later.content);
            let Some(content) = recorded.or(later).or(message) else {
                let counted = if end.is_some() { &mut self.silent } else { &mut self.open };
                *counted += 1;
                continue;
            };
            let marked = error || status.failed() == Some(true) || says_error(&content);
            let error = setting.failed(marked.then_some(true), &content);
            let mark = Mark { error, refused: status.refused() };
            let came = end.unwrap_or(response.start).max(response.start);
            self.waiting.insert((came, index, self.calls), Waiting { id, content, mark, at: end, line });
        }
    }

    fn end(mut self, builder: &mut Builder) {
        due(&mut self.waiting, (i64::MAX, usize::MAX, u32::MAX), builder);
        // The status of a span is a mark of its own.
        builder.mark_errors();
        if self.silent > 0 && self.open == 0 && !self.kept {
            builder.results(Results::Absent);
            let message =
                "no span records the result of a tool: calls whose span is not marked as failed count as ok";
            let file = builder.origin().file.clone();
            let line = u64::from(builder.origin().line);
            builder.diagnostic(Diagnostic::notice(code::NO_RESULTS_RECORDED, message).on_line(file, line));
        }
    }
}

/// Adds the results that had come by then. Those of a response are after it.
fn due(waiting: &mut Due, by: (i64, usize, u32), builder: &mut Builder) {
    while let Some(first) = waiting.first_entry().filter(|first| *first.key() < by) {
        let Waiting { id, content, mark, at, line } = first.remove();
        builder.at_line(line).result(id.as_deref(), content, mark, at.map(millis));
    }
}

/// The number of responses that the first request repeats: nothing before it is in the session.
fn unknown(responses: &[Response]) -> usize {
    let first = responses.iter().find(|response| !response.inputs.is_empty());
    let Some(first) = first.filter(|first| responses.first().is_some_and(|r| r.place == first.place)) else {
        return 0;
    };
    first.inputs.iter().filter(|said| said.role == "assistant").count()
}
