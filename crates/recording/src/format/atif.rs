//! Trajectories in the Agent Trajectory Interchange Format of Harbor and Terminal-Bench: an object with `steps`. A step
//! of the agent is a response with its calls and their results. Nothing marks failures.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::offer;
use crate::shape::scribe::{Scribe, body, words};
use crate::shape::status::Status;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "atif",
    title: "trajectories in the Agent Trajectory Interchange Format of Harbor and Terminal-Bench 2",
    source: "`agent/trajectory.json` in the folder of each trial",
    absent_without_results: false,
    marks_failures: false,
    recognise,
    reader: transcript::reader::<Trajectory>,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let version = value.try_get("schema_version").and_then(Node::text);
        version.is_some_and(|version| version.starts_with("ATIF-")) && value.has("steps")
    })
}

#[derive(Default)]
struct Trajectory;

impl Conversation for Trajectory {
    const EXPECTED: &'static str = "no trajectory";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("steps")
    }

    fn others<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("subagent_trajectories")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("step_id")
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        let agent = whole.get("agent").and_then(Node::members).unwrap_or_default();
        scribe.about_as("agent", agent.get("name"));
        scribe.about_as("version", agent.get("version"));
        scribe.about_as("model", agent.get("model_name"));
        if let Some(offer) = agent.get("tool_definitions").and_then(offer::tools) {
            scribe.builder.offered(1, offer.tools);
        }
    }

    fn entry(&mut self, step: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(step, &["timestamp"]);
        let source = step.get("source").and_then(Node::text).unwrap_or_default();
        let said = step.get("message").map_or(Body::MISSING, words);
        let calls = step.get("tool_calls").filter(|calls| calls.json() != "[]");
        match (&*source, calls) {
            ("user" | "system", None) => scribe.said(&source, said),
            ("agent", _) | (_, Some(_)) => scribe.response(None, said),
            (_, None) => {
                scribe
                    .builder
                    .damaged(Damage::calls("a step has no known source; it is read as one of the agent"));
                scribe.response(None, said);
            }
        }
        let before = scribe.builder.call_count();
        for call in calls.and_then(Node::objects).unwrap_or_default() {
            let id = call.get("tool_call_id").and_then(Node::id);
            let tool = call.get("function_name").and_then(Node::text).unwrap_or_default();
            scribe.call(id.as_deref(), &tool, body(&call, &["arguments"]));
        }
        let observed = step.get("observation").and_then(Node::members).unwrap_or_default();
        let results = observed.get("results").and_then(Node::objects).unwrap_or_default();
        let (made, given) = (scribe.builder.call_count() - before, results.len() as u64);
        for (place, result) in results.iter().enumerate() {
            let content =
                result.get("content").map_or_else(|| body(result, &["subagent_trajectory_ref"]), words);
            let named = result.get("source_call_id").and_then(Node::id).map(|id| id.into_owned());
            // A result that names no call belongs to the call at its position; without such a call it is a message of
            // the environment.
            let of_place = || {
                scribe.builder.so_far().calls.get(before as usize + place).and_then(|call| call.id.clone())
            };
            let id = named.or_else(|| of_place().filter(|_| made == given).map(|id| id.to_string()));
            match id {
                None if made == 0 => scribe.said("environment", content),
                id => scribe.result(id.as_deref(), content, Status::Unknown),
            }
        }
        if observed.get("results").is_some_and(|results| results.kind() != Kind::List) {
            scribe.builder.damaged("the results of a step are not a list");
        }
        Ok(())
    }
}
