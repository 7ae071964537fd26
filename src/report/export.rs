//! Judged sessions as tables: one row a session, a call and a finding, each a JSON object on a line of its own.
//!
//! The columns are documented in `docs/data.md`, and are there in every row.

#[cfg(feature = "parquet")]
pub mod parquet;

use std::io;

use serde::Serialize;
use serde_json::Value;

use super::json::{BodyJson, line};
use super::words;
use crate::compare;
use crate::explore::identity::Identity;
use crate::explore::occurrence::violations;
use rulestep_base::session::write::Instant;
use rulestep_base::session::{Call, LiveDecision, Outcome, Session};
use rulestep_engine::monitor::Rule;
use rulestep_engine::monitor::rule::RulePlace;
use rulestep_engine::replay::{Counts, Replay, Status, counts};
use rulestep_engine::run::Verdict;

/// A table: its name, and what it writes of a session.
pub struct Table {
    /// What its file is called, without the ending.
    pub name: &'static str,
    /// Writes the rows of a session.
    pub rows: fn(&Replay, &mut Vec<u8>) -> io::Result<()>,
}

/// Every table.
pub static TABLES: &[Table] = &[
    Table { name: "sessions", rows: sessions },
    Table { name: "calls", rows: calls },
    Table { name: "findings", rows: findings },
];

#[derive(Serialize)]
struct SessionRow<'a> {
    session: Identity,
    id: &'a str,
    parent: Option<&'a str>,
    file: &'a str,
    index: usize,
    format: &'a str,
    title: Option<&'a str>,
    at: Option<Instant>,
    project: Option<&'a str>,
    branch: Option<&'a str>,
    agent: Option<&'a str>,
    context: Option<&'a Value>,
    policy: &'a str,
    mode: &'static str,
    status: Status,
    violated_rules: u64,
    /// Every count in every row, also those that are zero.
    #[serde(flatten, serialize_with = "counts::columns")]
    counts: Counts,
}

#[derive(Serialize)]
struct CallRow<'a> {
    session: Identity,
    session_file: &'a str,
    session_index: usize,
    turn: u32,
    call: u32,
    index: u32,
    id: Option<&'a str>,
    tool: &'a str,
    arguments: BodyJson<'a>,
    at: Option<Instant>,
    outcome: Outcome,
    decision: Verdict,
    agrees: bool,
    counterfactual: bool,
    /// What a gate decided; null where none was asked.
    live_decision: Option<Verdict>,
    live_mode: Option<&'static str>,
    live_policy: Option<&'a str>,
    live_change: Option<&'static str>,
    rule: Option<&'a str>,
    rule_name: Option<String>,
    code: Option<&'a str>,
    reason: Option<&'a str>,
    project: Option<&'a str>,
    context: Option<&'a Value>,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    session: Identity,
    session_file: &'a str,
    session_index: usize,
    /// Null for a rule about the session that no single call violates.
    turn: Option<u32>,
    call: Option<u32>,
    index: Option<u32>,
    tool: Option<&'a str>,
    rule: &'a str,
    rule_name: String,
    dialect: &'static str,
    file: String,
    line: u32,
    kind: &'static str,
    code: Option<&'a str>,
    decided: bool,
    message: Option<String>,
    reason: Option<&'a str>,
}

fn sessions(replay: &Replay, out: &mut Vec<u8>) -> io::Result<()> {
    let session = replay.session();
    let counts = replay.summary();
    let row = SessionRow {
        session: Identity::of(session),
        id: &session.id,
        parent: session.parent.as_deref(),
        file: &session.origin.file,
        index: session.origin.index,
        format: session.origin.format,
        title: session.title.as_deref(),
        at: session.began.or(session.facts.now).map(Instant),
        project: session.project(),
        branch: session.branch(),
        agent: session.agent(),
        context: session.facts.context.as_ref(),
        policy: replay.policy().digest(),
        mode: replay.mode().word(),
        status: replay.status(),
        violated_rules: counts.violated_rules,
        counts,
    };
    line(&row, out)
}

fn calls(replay: &Replay, out: &mut Vec<u8>) -> io::Result<()> {
    let (session, policy) = (replay.session(), replay.policy());
    let identity = Identity::of(session);
    for (call, judged) in replay.made() {
        let deciding = judged.decision.deciding();
        let rule = deciding.and_then(|finding| policy.rules().get(finding.rule));
        let live = call.live.as_deref();
        let row = CallRow {
            session: identity,
            session_file: &session.origin.file,
            session_index: session.origin.index,
            turn: call.at.turn,
            call: call.at.call,
            index: call.at.index,
            id: call.id.as_deref(),
            tool: &call.tool,
            arguments: BodyJson(&call.arguments),
            at: call.time.map(Instant),
            outcome: call.outcome,
            decision: judged.decision.verdict,
            agrees: judged.agrees,
            counterfactual: judged.counterfactual,
            live_decision: live.map(|live| live.verdict),
            live_mode: live.map(LiveDecision::mode),
            live_policy: live.map(|live| &*live.policy),
            live_change: live
                .and_then(|live| Some(compare::live::kind(live, &judged.decision, policy.rules())?.word())),
            rule: rule.map(|rule| &*rule.id),
            rule_name: rule.map(words::rule_name),
            code: deciding.map(|finding| finding.code.as_str()),
            reason: deciding.and_then(|finding| finding.reason.as_deref()),
            project: session.project(),
            context: session.facts.context.as_ref(),
        };
        line(&row, out)?;
    }
    Ok(())
}

fn findings(replay: &Replay, out: &mut Vec<u8>) -> io::Result<()> {
    let (session, policy) = (replay.session(), replay.policy());
    let identity = Identity::of(session);
    for (call, judged) in replay.made() {
        let deciding = judged.decision.deciding();
        for finding in &judged.decision.findings {
            let Some(rule) = policy.rules().get(finding.rule) else { continue };
            let explained = finding.explain(policy.rules(), session);
            let decided = deciding.is_some_and(|deciding| std::ptr::eq(deciding, finding));
            let kind = if decided {
                if judged.decision.verdict.stops() { "stopped" } else { "asked" }
            } else if judged.decision.verdict.stops() {
                "also_failed"
            } else if finding.would.is_some() {
                "would_stop"
            } else {
                "reported"
            };
            let row = FindingRow {
                kind,
                code: Some(finding.code.as_str()),
                decided,
                message: explained.map(|explained| explained.headline.to_string()),
                reason: finding.reason.as_deref(),
                ..FindingRow::of((identity, session), Some(call), rule)
            };
            line(&row, out)?;
        }
    }
    for (state, call, _) in violations(replay) {
        let Some(rule) = policy.rules().get(state.rule) else { continue };
        let row = FindingRow {
            kind: if state.enforced { "violated" } else { "reported" },
            code: state.code.map(|code| code.as_str()),
            ..FindingRow::of((identity, session), call, rule)
        };
        line(&row, out)?;
    }
    Ok(())
}

impl<'a> FindingRow<'a> {
    fn of(
        (identity, session): (Identity, &'a Session),
        call: Option<&'a Call>,
        rule: &'a Rule,
    ) -> FindingRow<'a> {
        let place = RulePlace::of(rule);
        FindingRow {
            session: identity,
            session_file: &session.origin.file,
            session_index: session.origin.index,
            turn: call.map(|call| call.at.turn),
            call: call.map(|call| call.at.call),
            index: call.map(|call| call.at.index),
            tool: call.map(|call| &*call.tool),
            rule: &rule.id,
            rule_name: words::rule_name(rule),
            dialect: rule.dialect,
            line: place.position.line,
            file: place.file,
            kind: "",
            code: None,
            decided: false,
            message: None,
            reason: None,
        }
    }
}
