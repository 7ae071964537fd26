//! The engine asked in the oracle's shape, and driven as a live host drives it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, MessageKind, Operation, Origin, Outcome, Results, Session, Tool, Turn};
use rulestep_engine::monitor::finding::RuleState;
use rulestep_engine::monitor::{Depth, End, Finding, Reason, StateItem};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{self as engine, NewCall, Run, Ticket, Verdict};
use serde_json::{Map, Value, json};

use crate::naive::{Mode, list};

/// Judges a session in the shape of the oracle, by replaying it.
pub fn evaluate(contracts: &[Value], session: &Value, mode: Mode) -> Vec<Value> {
    let policy = policy(contracts);
    let session = Arc::new(read(session));
    let replay = Replay::new(&session, &policy, engine_mode(mode));
    let turns = session.turns.iter().map(|turn| {
        let frame = replay.frame(turn.number).unwrap();
        let calls = session.calls_of(turn).iter().zip(replay.calls().get(turn.calls.clone()).unwrap());
        let calls: Vec<Value> =
            calls.map(|(call, judged)| written_decision(&policy, &call.tool, &judged.decision)).collect();
        let (visible, hidden) = written_narrowing(&policy, &frame.narrowing.tools);
        json!({"visible": visible, "hidden": hidden, "forbidden": forbidden(&frame.state), "calls": calls})
    });
    turns.collect()
}

pub fn engine_mode(mode: Mode) -> engine::Mode {
    match mode {
        Mode::Enforce => engine::Mode::Enforce,
        Mode::Shadow => engine::Mode::Shadow,
    }
}

/// The contracts as a version, a file each.
pub fn policy(contracts: &[Value]) -> Arc<Policy> {
    let file = |(number, contract): (usize, &Value)| {
        let name: Arc<str> = format!("{number}.json").into();
        PolicyFile { relative: Arc::clone(&name), name, text: contract.to_string().into(), named: true }
    };
    let files: Vec<PolicyFile> = contracts.iter().enumerate().map(file).collect();
    let loaded = Policy::load(&files, None);
    loaded.policy.unwrap_or_else(|| panic!("the contracts do not load: {:#?}", loaded.diagnostics))
}

fn written_decision(policy: &Policy, tool: &str, decision: &engine::Decision) -> Value {
    let code = |finding: &Finding| written_code(policy, finding.rule, finding.code.to_string());
    let codes: Vec<Value> = decision.findings.iter().map(code).collect();
    json!({"tool": tool, "decision": decision.verdict.word(), "codes": codes})
}

fn written_narrowing(policy: &Policy, tools: &[engine::ToolVisibility]) -> (Vec<Value>, Map<String, Value>) {
    let visible = tools.iter().filter(|tool| tool.visible()).map(|tool| json!(&*tool.tool)).collect();
    let hidden = tools.iter().filter(|tool| !tool.visible()).map(|tool| {
        let code = |reason: &Reason| written_code(policy, reason.rule, reason.code.to_string());
        (tool.tool.to_string(), tool.reasons.iter().map(code).collect())
    });
    (visible, hidden.collect())
}

fn forbidden(state: &[StateItem]) -> BTreeSet<&str> {
    let mut tools = BTreeSet::new();
    for item in state {
        if let StateItem::Forbidden { tool, .. } = item {
            tools.insert(&**tool);
        }
    }
    tools
}

/// A code; a precondition's has its index, which is the end of its rule's pointer.
fn written_code(policy: &Policy, rule: rulestep_engine::monitor::RuleId, code: String) -> Value {
    let pointer = &policy.rules().get(rule).unwrap().pointer;
    match pointer.strip_prefix("/preconditions/") {
        Some(index) => json!({"code": code, "precondition": index.parse::<usize>().unwrap()}),
        None => json!({"code": code}),
    }
}

/// The session as the engine takes it.
pub fn read(session: &Value) -> Session {
    let origin = Origin { file: "generated.json".into(), index: 0, format: "native", line: 1 };
    let mut builder = Builder::new("generated", origin);
    let messages = list(&session["messages"]);
    let absent = match session["results"].as_str() {
        Some(said) => said == "absent",
        None => !messages.iter().any(|message| message["role"] == "tool"),
    };
    builder.facts().results = if absent { Results::Absent } else { Results::Recorded };
    if let Some(tools) = session.get("tools") {
        builder.offered(1, offered(tools));
    }
    for change in list(&session["tools_at"]) {
        builder.offered(change["turn"].as_u64().unwrap() as u32, offered(&change["tools"]));
    }
    for message in &messages {
        let content = Body::json(&message["content"].to_string());
        match message["role"].as_str().unwrap() {
            "assistant" => {
                builder.response(message["id"].as_str(), content, None);
                for call in list(&message["tool_calls"]) {
                    let arguments = Body::json(&call["function"]["arguments"].to_string());
                    builder.call(
                        call["id"].as_str(),
                        call["function"]["name"].as_str().unwrap(),
                        arguments,
                        None,
                    );
                }
            }
            "tool" => {
                let refused = (message["refused"] == true).then_some("marked");
                let mark = Mark { error: message["is_error"] == true, refused };
                builder.result(message["tool_call_id"].as_str(), content, mark, None);
            }
            "policy" => builder.operation(Operation::Reset),
            role => builder.said(role, content, None),
        }
    }
    builder.finish()
}

fn offered(tools: &Value) -> Vec<Tool> {
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap().into();
    list(tools).iter().map(|tool| Tool { name: name(tool), description: None, parameters: None }).collect()
}

// ---- A live host ------------------------------------------------------------------------------------------------

/// What a run answered in one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub narrowed: Vec<engine::ToolVisibility>,
    pub state: Vec<StateItem>,
    pub decisions: Vec<engine::Decision>,
}

/// A run that has played some turns of a session. Siblings are started together: results come when all are proposed.
pub struct Host {
    session: Arc<Session>,
    tools: Vec<Arc<str>>,
    run: Run,
    mode: engine::Mode,
    /// By call index.
    stopped: Vec<bool>,
}

impl Host {
    pub fn new(session: &Arc<Session>, policy: &Arc<Policy>, mode: engine::Mode) -> Host {
        let mut tools: Vec<Arc<str>> = policy.names().to_vec();
        tools.extend(session.calls.iter().map(|call| Arc::clone(&call.tool)));
        tools.sort();
        tools.dedup();
        let run = Run::new(policy, mode, Depth::Checks, &session.facts);
        Host { session: Arc::clone(session), tools, run, mode, stopped: Vec::new() }
    }

    pub fn fork(&self) -> Host {
        Host {
            session: Arc::clone(&self.session),
            tools: self.tools.clone(),
            run: self.run.fork(),
            mode: self.mode,
            stopped: self.stopped.clone(),
        }
    }

    /// A host that goes on from its run as it is written down between two turns. Without a halt, and where no rule reads what was
    /// said or what the time is, there is one.
    pub fn saved(&self, policy: &Arc<Policy>) -> Option<Host> {
        let saved = self.run.save();
        let plain = self.run.halt().is_none() && !self.run.reads_history() && !self.run.reads_time();
        assert_eq!(saved.is_some(), plain, "a run is saved where it can be");
        let (been, saved) = (self.run.been_through(), saved?);
        for forged in [(been.0 + 1, been.1), (been.0, been.1 + 1)] {
            assert!(Run::resumed(policy, &self.session.facts, forged, &saved).is_none(), "of another run");
        }
        let mut run =
            Run::resumed(policy, &self.session.facts, been, &saved).expect("what was saved is read");
        run.set_mode(self.mode);
        run.tell(Depth::Checks);
        Some(Host { run, ..self.fork() })
    }

    /// How the rules stand in the end.
    pub fn report(&self) -> Vec<RuleState> {
        self.run.report(End::Complete)
    }

    /// What stands before the turn, then the turn.
    pub fn play(&mut self, turn: &Turn) -> Answered {
        let session = Arc::clone(&self.session);
        let from = session.turn(turn.number - 1).map_or(0, |before| before.messages.end);
        for message in session.messages.get(from..turn.messages.start).unwrap() {
            match &message.kind {
                MessageKind::Operation(operation) => self.run.operation(operation),
                _ => self.run.message(message),
            }
        }
        self.run.begin_turn(session.time_of(turn));
        let (narrowed, state) = (self.run.narrow(&self.tools), self.run.state());
        for message in session.messages.get(turn.messages.clone()).unwrap() {
            self.run.respond(message);
        }
        let mut decisions = Vec::new();
        for call in session.calls_of(turn) {
            let asked = NewCall { tool: &call.tool, arguments: &call.arguments };
            let (ticket, decision) = self.run.propose(asked);
            assert_eq!(ticket.at(), call.at);
            self.stopped.push(self.mode == engine::Mode::Enforce && decision.verdict != Verdict::Allow);
            decisions.push(decision);
            if call.outcome == Outcome::Refused {
                self.resolve(call.at.index);
            }
        }
        for call in session.calls_of(turn).iter().filter(|call| call.in_turn) {
            self.resolve(call.at.index);
        }
        self.run.end_turn();
        for index in &turn.late {
            self.resolve(*index);
        }
        Answered { narrowed, state, decisions }
    }

    fn resolve(&mut self, index: u32) {
        let call = &self.session.calls[index as usize];
        if !self.stopped[index as usize] {
            self.run.resolve(Ticket::of(call.at), call.outcome, &call.output);
        }
    }
}
