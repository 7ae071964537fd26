//! Result files of tau2-bench: an object with `simulations`, or a single simulation.
//!
//! Both the agent and the simulated user call tools. No policy gates the user's calls: they and their results are left
//! out, and counted. A spoken simulation has `ticks` instead of messages: the words and calls within a moment. The
//! expected actions of a task are not read.

use std::sync::Arc;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::suspicion;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Damage, Millis, Tool};
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "tau2",
    title: "results of tau2-bench",
    source: "`data/simulations/` of tau2-bench",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let simulations = value.get("simulations").filter(|list| list.kind() == Kind::List);
        let first = simulations.map(|list| list.first_item().and_then(Node::members));
        match first {
            Some(Some(first)) => first.has("messages") || first.has("ticks"),
            Some(None) => value.has("tasks") && value.has("info"),
            None => is_simulation(value),
        }
    })
}

fn is_simulation(value: &Members<'_>) -> bool {
    ["messages", "ticks"].iter().any(|key| value.get(key).is_some_and(|list| list.kind() == Kind::List))
        && value.has("task_id")
        && value.has("termination_reason")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Tau2 { setting: setting.clone() })
}

struct Tau2 {
    setting: Setting,
}

/// Key of a spoken response, which lasts until another speaker or a result.
const SPOKEN: &str = "spoken";

/// Facts that the results share among their simulations.
#[derive(Default)]
struct Context<'a> {
    domain: Option<Node<'a>>,
    model: Option<Node<'a>>,
    tools: Arc<[Tool]>,
}

/// Left out of a simulation, as it should be.
#[derive(Default)]
struct Users {
    calls: u64,
    line: u32,
}

impl Reader for Tau2 {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let Some(simulations) = members.get("simulations") else {
            if !members.has("messages") && !members.has("ticks") {
                return out.diagnostics(self.setting.foreign(unit, "neither results nor a simulation"));
            }
            let mut builder = self.setting.session(&id(members), unit, out);
            self.simulation(members, unit.node, unit.line, &Context::default(), &mut builder);
            return out.session(builder);
        };
        out.diagnostics(unit.diagnostics.iter().cloned());
        let about = about(members);
        let mut lines = Lines::new(unit.node, unit.line);
        let Some(items) = simulations.items() else {
            let odd = Damage::calls(format!("`simulations` is {}, not a list", simulations.said_kind()));
            return out.diagnostic(self.setting.damaged_line(unit.line, odd));
        };
        for item in items {
            let line = lines.of(item);
            let Some(simulation) = item.members() else {
                let odd = format!("a simulation is {}, not an object; it is left out", item.said_kind());
                out.diagnostic(self.setting.damaged_line(line, Damage::calls(odd)));
                continue;
            };
            let mut builder = self.setting.session_at(&id(&simulation), line, out);
            self.simulation(&simulation, item, line, &about, &mut builder);
            out.session(builder);
        }
    }
}

impl Tau2 {
    fn simulation(
        &self,
        simulation: &Members<'_>,
        whole: Node<'_>,
        line: u32,
        about: &Context<'_>,
        builder: &mut Builder,
    ) {
        for key in ["task_id", "trial", "termination_reason"] {
            if let Some(value) = simulation.get(key).and_then(Node::value) {
                builder.context(key, value);
            }
        }
        let reward = simulation.get("reward_info").and_then(Node::members);
        let reward = reward.and_then(|info| info.get("reward")?.value());
        let of_all = [
            ("reward", reward),
            ("domain", about.domain.and_then(Node::value)),
            ("model", about.model.and_then(Node::value)),
        ];
        for (key, value) in of_all {
            if let Some(value) = value {
                builder.context(key, value);
            }
        }
        builder.facts().now = simulation.get("start_time").and_then(time::instant);
        if !about.tools.is_empty() {
            builder.offered(1, Arc::clone(&about.tools));
        }
        // Every result says whether it failed.
        builder.mark_errors();
        // A spoken simulation has ticks instead.
        let messages = simulation.try_get("messages").and_then(|_| simulation.get("messages"));
        let ticks = simulation.get("ticks").filter(|_| messages.is_none_or(|list| list.json() == "[]"));
        let (what, list) = match (ticks, messages) {
            (Some(ticks), _) => ("tick", ticks),
            (None, Some(messages)) => ("message", messages),
            (None, None) => {
                let odd = "the simulation has neither `messages` nor `ticks`";
                return builder.at_line(line).lost(Loss::MayHoldCalls, odd);
            }
        };
        let Some(items) = list.items() else {
            let odd = format!("the {what}s are {}, not a list", list.said_kind());
            return builder.lost(Loss::MayHoldCalls, odd);
        };
        let mut lines = Lines::new(whole, line);
        let mut users = Users::default();
        for item in items {
            builder.at_line(lines.of(item));
            match item.members() {
                Some(tick) if ticks.is_some() => self.tick(&tick, &mut users, builder),
                Some(message) => self.message(&message, &mut users, builder),
                None => {
                    let word = item.said_kind();
                    builder.lost(
                        Loss::MayHoldCalls,
                        format!("a {what} is {word}, not an object; it is left out"),
                    );
                }
            }
        }
        if users.calls > 0 {
            let message = match users.calls {
                1 => "1 call of the simulated user is left out".to_owned(),
                calls => format!("{calls} calls of the simulated user are left out; the first is here"),
            };
            builder.diagnostic(self.setting.passed_by(users.line, message));
        }
    }

    /// A moment in which both may speak and call tools.
    fn tick(&self, tick: &Members<'_>, users: &mut Users, builder: &mut Builder) {
        let at = moment(tick, builder);
        let chunk = |key| tick.get(key).and_then(Node::members);
        let spoken = |key| chunk(key)?.get("content").filter(|text| text.json() != "\"\"");
        if let Some(words) = spoken("user_chunk") {
            builder.said("user", Body::json(words.json()), at);
        }
        if let Some(words) = spoken("agent_chunk") {
            builder.response(Some(SPOKEN), Body::json(words.json()), at);
        }
        if let Some(calls) = tick.get("agent_tool_calls").filter(|calls| calls.json() != "[]") {
            builder.ensure_response(SPOKEN, at);
            self.calls("agent_tool_calls", calls, "assistant", users, at, builder);
        }
        if let Some(calls) = tick.get("user_tool_calls") {
            self.calls("user_tool_calls", calls, "user", users, at, builder);
        }
        for key in ["agent_tool_results", "user_tool_results"] {
            let Some(results) = tick.get(key) else { continue };
            match results.objects() {
                Some(results) => results.iter().for_each(|one| self.result(one, at, builder)),
                None => builder
                    .lost(Loss::MayHoldCalls, format!("`{key}` is {}, not a list", results.said_kind())),
            }
        }
    }

    fn message(&self, message: &Members<'_>, users: &mut Users, builder: &mut Builder) {
        let at = moment(message, builder);
        let content = message.get("content").map_or(Body::MISSING, |content| Body::json(content.json()));
        let role = message.get("role").and_then(Node::text);
        match role.as_deref() {
            Some("tool") => match message.get("tool_messages").and_then(Node::objects) {
                Some(several) => several.iter().for_each(|one| self.result(one, at, builder)),
                None => self.result(message, at, builder),
            },
            Some("assistant") => {
                builder.response(None, content, at);
                if let Some(what) = suspicion::unread(message, &["tool_calls"]) {
                    builder.damaged(suspicion::lost(&what));
                }
                if let Some(calls) = message.get("tool_calls") {
                    self.calls("tool_calls", calls, "assistant", users, at, builder);
                }
            }
            role => {
                if role.is_none() {
                    builder.lost(
                        Loss::MayHoldCalls,
                        "a message has no role; it is read as one of the role `unknown`",
                    );
                }
                let role = role.unwrap_or("unknown");
                let before = users.calls;
                if let Some(calls) = message.get("tool_calls") {
                    self.calls("tool_calls", calls, role, users, at, builder);
                }
                // A user that only calls a tool says nothing.
                if users.calls == before || !content.is_missing() {
                    builder.said(role, content, at);
                }
            }
        }
    }

    fn calls(
        &self,
        key: &str,
        calls: Node<'_>,
        role: &str,
        users: &mut Users,
        at: Option<Millis>,
        builder: &mut Builder,
    ) {
        let Some(items) = calls.items() else {
            return builder.lost(
                Loss::MayHoldCalls,
                format!("`{key}` is {}, not a list; it is left out", calls.said_kind()),
            );
        };
        let mut responds = role == "assistant";
        for item in items {
            let Some(call) = item.members() else {
                let word = item.said_kind();
                builder.lost(Loss::MayHoldCalls, format!("a call is {word}, not an object; it is left out"));
                continue;
            };
            let requestor = call.get("requestor").and_then(Node::text);
            match requestor.as_deref().unwrap_or(role) {
                "assistant" => {}
                "user" => {
                    if users.calls == 0 {
                        users.line = builder.line();
                    }
                    users.calls += 1;
                    continue;
                }
                other => {
                    let odd = format!("a call of the role {} is left out", quoted(other));
                    builder.lost(Loss::MayHoldCalls, odd);
                    continue;
                }
            }
            // A call of the agent in another speaker's message belongs to no earlier response, whose results may have
            // come.
            if !std::mem::replace(&mut responds, true) {
                builder.response(None, Body::MISSING, at);
            }
            let text = |key| call.get(key).and_then(Node::id);
            let arguments = call.get("arguments").map_or(Body::MISSING, |node| Body::json(node.json()));
            builder.call(
                text("id").as_deref(),
                &call.get("name").and_then(Node::text).unwrap_or_default(),
                arguments,
                at,
            );
        }
    }

    fn result(&self, message: &Members<'_>, at: Option<Millis>, builder: &mut Builder) {
        let requestor = message.get("requestor").and_then(Node::text);
        if requestor.is_some_and(|requestor| requestor != "assistant") {
            return;
        }
        let own = time::of(message, &["timestamp"]).ok().flatten();
        let content = message.get("content").map_or(Body::MISSING, |content| Body::json(content.json()));
        // A mark that cannot be read must not pass for success.
        let marked = message.get("error").map(|mark| mark.bool().unwrap_or(true));
        let mark = Mark { error: self.setting.failed(marked, &content), refused: None };
        let id = message.any(&["id", "tool_call_id"]).and_then(Node::id);
        builder.result(id.as_deref(), content, mark, own.or(at));
    }
}

/// When a message was sent or a moment was.
fn moment(members: &Members<'_>, builder: &mut Builder) -> Option<Millis> {
    time::of(members, &["timestamp"]).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    })
}

fn about<'a>(results: &Members<'a>) -> Context<'a> {
    let info = inner(results, "info");
    let environment = inner(&info, "environment_info");
    let tools = inner(&environment, "tool_defs");
    let tool = |(name, signature): (&str, Node<'_>)| {
        let signature = signature.members().unwrap_or_default();
        let named = signature.get("name").and_then(Node::text);
        Tool {
            name: named.as_deref().unwrap_or(name).into(),
            description: signature
                .any(&["doc", "description"])
                .and_then(Node::text)
                .map(|doc| doc.as_ref().into()),
            parameters: signature.any(&["params", "parameters"]).and_then(Node::value),
        }
    };
    Context {
        domain: environment.get("domain_name"),
        model: inner(&info, "agent_info").get("llm"),
        tools: tools.iter().map(tool).collect(),
    }
}

fn inner<'a>(members: &Members<'a>, key: &str) -> Members<'a> {
    members.get(key).and_then(Node::members).unwrap_or_default()
}

/// The simulation's own id, or one of its task.
fn id(simulation: &Members<'_>) -> String {
    let part = |key| simulation.get(key).and_then(Node::id);
    match (part("id"), part("task_id"), part("trial")) {
        (Some(id), ..) => id.into_owned(),
        (None, Some(task), Some(trial)) => format!("task-{task}-trial-{trial}"),
        (None, Some(task), None) => format!("task-{task}"),
        (None, None, _) => String::new(),
    }
}
