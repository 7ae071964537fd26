//! Sessions for policies that look at names, paths and the order of results: small models, and how they are recorded.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Operation, Origin, Results, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run as engine;
use serde_json::{Value, json};

use crate::engine::Host;

pub const TOOLS: [&str; 8] =
    ["read_file", "write_file", "edit_file", "db.read", "db.write", "db", "mail.send", "deploy"];

/// A few spellings of a few files: some are one key, some only one file, one is a directory.
const PATHS: [&str; 14] =
    ["a", "/a", "./a", "b", "d/e", "d", "d/../a", "/w/a", "w/a", "w", "", "A", "d//e", "/w//b"];

#[derive(Debug, Clone)]
pub struct Model {
    pub turns: Vec<ModelTurn>,
    pub files: Option<Vec<&'static str>>,
    /// The log keeps no results: every call counts as `ok`.
    pub absent: bool,
}

#[derive(Debug, Clone)]
pub struct ModelTurn {
    /// Operations that stand before the turn.
    pub operations: Vec<Operation>,
    pub calls: Vec<ModelCall>,
}

#[derive(Debug, Clone)]
pub struct ModelCall {
    pub tool: &'static str,
    pub arguments: Value,
    pub end: Ending,
}

/// What the recording says became of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// A result, so many responses late: 0 stands before the next response.
    Result {
        ok: bool,
        late: usize,
    },
    Refused,
    Unknown,
}

pub fn model() -> impl Strategy<Value = Model> {
    let files = weighted(0.6, vec(select(&PATHS[..]), 0..4));
    (vec(turn(), 1..8), files, prop::bool::weighted(0.05)).prop_map(|(turns, files, absent)| Model {
        turns,
        files,
        absent,
    })
}

fn turn() -> BoxedStrategy<ModelTurn> {
    let name = || select(vec!["s", "t"]).prop_map(Arc::from);
    let operation = prop_oneof![
        3 => name().prop_map(Operation::Snapshot),
        3 => name().prop_map(Operation::Restore),
        2 => Just(Operation::Reset),
        1 => Just(Operation::Unknown("undo".into())),
    ];
    let operations = prop_oneof![3 => Just(Vec::new()), 1 => vec(operation, 1..3)];
    (operations, vec(call(), 0..4)).prop_map(|(operations, calls)| ModelTurn { operations, calls }).boxed()
}

fn call() -> BoxedStrategy<ModelCall> {
    let path = || select(&PATHS[..]);
    let arguments = prop_oneof![
        8 => path().prop_map(|path| json!({"path": path})),
        2 => path().prop_map(|path| json!({"file_path": path})),
        1 => (path(), path()).prop_map(|(path, file)| json!({"path": path, "file_path": file})),
        1 => path().prop_map(|path| json!({"path": 7, "file_path": path})),
        1 => Just(json!({"path": null})),
        1 => Just(json!({})),
        1 => Just(json!([1])),
    ];
    let end = prop_oneof![
        8 => Just(Ending::Result { ok: true, late: 0 }),
        2 => Just(Ending::Result { ok: false, late: 0 }),
        2 => (any::<bool>(), 1..3_usize).prop_map(|(ok, late)| Ending::Result { ok, late }),
        1 => Just(Ending::Refused),
        1 => Just(Ending::Unknown),
    ];
    let tool = prop_oneof![1 => select(&TOOLS[..2]), 2 => select(&TOOLS[..])];
    let parts = (tool, arguments, end);
    parts.prop_map(|(tool, arguments, end)| ModelCall { tool, arguments, end }).boxed()
}

impl Model {
    /// Every call, by index, with the number of its turn from 1.
    pub fn calls(&self) -> Vec<(usize, &ModelCall)> {
        let turns = self.turns.iter().enumerate();
        turns.flat_map(|(turn, of)| of.calls.iter().map(move |call| (turn + 1, call))).collect()
    }

    /// What became of a call, as the recording tells it.
    pub fn ending(&self, call: &ModelCall) -> Ending {
        if self.absent { Ending::Result { ok: true, late: 0 } } else { call.end }
    }

    pub fn record(&self) -> Arc<Session> {
        let origin = Origin { file: "generated".into(), index: 0, format: "native", line: 1 };
        let mut builder = Builder::new("generated", origin);
        builder.facts().files =
            self.files.as_ref().map(|files| files.iter().map(|file| (*file).to_owned()).collect());
        if self.absent {
            builder.facts().results = Results::Absent;
        }
        let mut due: Vec<(usize, String, Ending)> = Vec::new();
        let mut index = 0;
        for (number, turn) in self.turns.iter().enumerate() {
            for operation in &turn.operations {
                builder.operation(operation.clone());
            }
            builder.response(None, Body::MISSING, None);
            for call in &turn.calls {
                let id = format!("c{index}");
                builder.call(Some(&id), call.tool, Body::json(&call.arguments.to_string()), None);
                let late = if let Ending::Result { late, .. } = call.end { late } else { 0 };
                due.push((number + late, id, call.end));
                index += 1;
            }
            for (_, id, end) in due.extract_if(.., |(due, ..)| *due == number) {
                let mark = match end {
                    Ending::Unknown => continue,
                    Ending::Refused => Mark { error: false, refused: Some("marked") },
                    Ending::Result { ok, .. } => Mark { error: !ok, refused: None },
                };
                if !self.absent {
                    builder.result(Some(&id), Body::text("done"), mark, None);
                }
            }
        }
        Arc::new(builder.finish())
    }
}

/// One document as a version.
pub fn policy(dialect: &str, document: &Value) -> Arc<Policy> {
    let mut document = document.clone();
    document["dialect"] = dialect.into();
    let text = document.to_string().into();
    let file = PolicyFile { name: "p.json".into(), relative: "p.json".into(), text, named: true };
    let loaded = Policy::load(&[file], None);
    loaded.policy.unwrap_or_else(|| panic!("does not load: {:#?}", loaded.diagnostics))
}

/// A run that is written down between two turns, and read again, answers from there on as the one that went on; in the end its
/// rules stand as that one's.
pub fn saved_runs_agree(
    session: &Arc<Session>,
    policy: &Arc<Policy>,
    mode: engine::Mode,
) -> Result<(), TestCaseError> {
    let mut whole = Host::new(session, policy, mode);
    let (mut saved, mut answers) = (Vec::new(), Vec::new());
    for turn in &session.turns {
        saved.push(whole.saved(policy));
        answers.push(whole.play(turn));
    }
    for (from, resumed) in saved.into_iter().enumerate() {
        let Some(mut resumed) = resumed else { continue };
        for (turn, expected) in session.turns.iter().zip(&answers).skip(from) {
            prop_assert_eq!(&resumed.play(turn), expected, "saved before turn {}", from + 1);
        }
        prop_assert_eq!(resumed.report(), whole.report(), "saved before turn {}", from + 1);
    }
    Ok(())
}

/// A run played on from a fork of each turn, after the fork's own fork went elsewhere, answers as the whole one.
pub fn forks_agree(
    session: &Arc<Session>,
    policy: &Arc<Policy>,
    mode: engine::Mode,
) -> Result<(), TestCaseError> {
    let mut whole = Host::new(session, policy, mode);
    let (mut forks, mut answers) = (Vec::new(), Vec::new());
    for turn in &session.turns {
        forks.push(whole.fork());
        answers.push(whole.play(turn));
    }
    for (from, mut fork) in forks.into_iter().enumerate() {
        fork.fork().play(&session.turns[from]);
        for (turn, expected) in session.turns.iter().zip(&answers).skip(from) {
            prop_assert_eq!(&fork.play(turn), expected, "forked before turn {}", from + 1);
        }
    }
    Ok(())
}

/// A replay that leaves out what findings rest on says the same otherwise: every verdict, what the model is told, which rules
/// spoke and how they stand in the end.
pub fn named_runs_agree(
    session: &Arc<Session>,
    policy: &Arc<Policy>,
    mode: engine::Mode,
) -> Result<(), TestCaseError> {
    let said = |replay: &Replay| {
        let calls = session.calls.iter().map(|call| {
            let judged = replay.call(call.at.index).expect("every call is judged");
            let decision = &judged.decision;
            let findings = decision.findings.iter().map(|found| {
                (
                    found.rule,
                    found.effect,
                    found.would,
                    found.code,
                    found.reason.clone(),
                    found.tell_llm.clone(),
                )
            });
            (decision.verdict, decision.told.clone(), findings.collect::<Vec<_>>(), judged.counterfactual)
        });
        let rules = replay.rules().iter();
        let rules =
            rules.map(|state| (state.rule, state.outcome, state.code, state.position, state.calls.clone()));
        let halt = replay.halt().map(|halt| halt.at);
        (calls.collect::<Vec<_>>(), rules.collect::<Vec<_>>(), replay.summary(), replay.status(), halt)
    };
    let (whole, named) = (Replay::new(session, policy, mode), Replay::named(session, policy, mode));
    prop_assert_eq!(said(&named), said(&whole));
    Ok(())
}
