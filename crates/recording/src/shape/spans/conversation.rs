//! The session made of the spans of a conversation.
//!
//! Spans come in any order, and a parent may come last of all, so a conversation is read at its end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::ancestry::{Ancestry, Passed};
use super::attribution;
use super::message::Repeated;
use super::pairing::{self, Paired};
use super::turns;
use super::turns::Response;
use super::{Part, Span, message, tools};
use crate::contract::setting::Setting;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::Tool;
use rulestep_base::session::build::Builder;

/// Attributes that name the surroundings, and how they are called there.
const SURROUNDINGS: [(&str, &str); 2] = [("agent", "gen_ai.agent.name"), ("model", "gen_ai.request.model")];

/// Reads a session from its spans; `passed` are the parents of those that matter to no run.
pub fn read(mut spans: Vec<Span>, passed: &Passed, setting: &Setting, builder: &mut Builder) {
    // Spans are put in order of time, whatever the file's order.
    spans.sort_by_key(|span| span.start.or(span.end));
    for (key, name) in SURROUNDINGS {
        if let Some(value) = spans.iter().find_map(|span| span.attributes.text(name)) {
            builder.context_once(key, Value::String(value.into_owned()));
        }
    }
    let ancestry = Ancestry::of(&spans, passed);
    let responses = responses(&spans, &ancestry, builder);
    for span in spans.iter().filter(|span| span.part() == Part::Tool && span.is_merged()) {
        let file = builder.origin().file.clone();
        let message = "a span covers several calls that have spans of their own, so it is not read as a call";
        let notice = Diagnostic::notice(code::DAMAGED_RECORD, message);
        builder.diagnostic(notice.on_line(file, u64::from(span.line)));
    }
    attribution::tell(responses, setting, builder);
}

/// The responses in the spans, with the calls that they made, in the order of their beginnings.
fn responses(spans: &[Span], ancestry: &Ancestry, builder: &mut Builder) -> Vec<Response> {
    let scopes = turns::scopes(spans, ancestry);
    let mut responses = turns::responses(spans, ancestry, &scopes);
    let Paired { alone, unclear } =
        pairing::pair(turns::made(spans, ancestry), &mut responses, ancestry, &scopes);
    told(&unclear, builder);
    turns::choose(&mut responses);
    turns::overlapping(alone, spans, &mut responses);
    // A request that failed before anything was answered is no response.
    responses.retain(|response| !(response.failed && response.calls.is_empty()));
    responses.sort_by_key(|response| (response.start, response.place));
    offered_by_runs(&mut responses, spans, ancestry);
    // Without the requests, the run of the agent may still have its input.
    if responses.iter().all(|response| response.inputs.is_empty())
        && let Some(first) = responses.first_mut()
    {
        let runs = spans.iter().enumerate().filter(|(place, _)| ancestry.part(*place) == Part::Agent);
        let mut asked = runs.map(|(_, span)| message::inputs(span, &mut Repeated::default()));
        first.inputs = asked.find(|asked| !asked.is_empty()).unwrap_or_default();
    }
    responses
}

/// Says that spans of tools were given to the oldest of several calls.
fn told(unclear: &[u32], builder: &mut Builder) {
    let Some(first) = unclear.iter().min() else { return };
    let spans = match unclear.len() {
        1 => "a span of a tool".to_owned(),
        count => format!("{count} spans of tools"),
    };
    let message = format!(
        "nothing says which of several calls {spans} belongs to, so each is read as the oldest call of its name that has none; \
         the first is here"
    );
    builder.at_line(*first).ambiguous(message);
}

/// If the requests of an agent's run do not list their tools, the run itself may; its first one then has them for all.
fn offered_by_runs(responses: &mut [Response], spans: &[Span], ancestry: &Ancestry) {
    let mut offered: HashMap<(&str, &str), Arc<[Tool]>> = HashMap::new();
    let mut latest: Option<Arc<[Tool]>> = None;
    for (place, span) in spans.iter().enumerate() {
        let key = (&*span.trace, &*span.id);
        if ancestry.part(place) != Part::Agent || offered.contains_key(&key) {
            continue;
        }
        let Some(tools) = tools::tools(span) else { continue };
        // Runs of one agent offer the same.
        let tools = latest.take().filter(|latest| **latest == *tools).unwrap_or_else(|| tools.into());
        latest = Some(Arc::clone(&tools));
        offered.insert(key, tools);
    }
    let mut seen = HashSet::new();
    for response in responses {
        let (trace, Some(run)) = &response.scope else { continue };
        if seen.insert(response.scope.clone()) && response.tools.is_none() {
            response.tools = offered.get(&(&**trace, &**run)).cloned();
        }
    }
}
