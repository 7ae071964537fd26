//! A session as filters and tables see it: the data for questions about it and its calls, small enough for 100,000
//! sessions.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::filter::State;
use super::names::{Name, Names};
use super::trigrams::Trigrams;
use super::verdict::SessionVerdict;
use crate::stored::StoredSession;
use rulestep_base::diagnostic::Code;
use rulestep_base::session::{Call, Millis, Outcome, Session};
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::monitor::{RuleId, Rules};
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::Verdict;

/// One session; or a file that none could be read from.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// The session; `None` if it could not be read.
    pub session: Option<Arc<StoredSession>>,
    /// The file.
    pub file: Name,
    /// The folder or project that the agent worked in.
    pub project: Option<Name>,
    /// The branch that it worked on.
    pub branch: Option<Name>,
    /// The agent.
    pub agent: Option<Name>,
    /// The format of the recording.
    pub format: Option<Name>,
    /// When it began, if that was recorded.
    pub began: Option<Millis>,
    /// Places of the recording that are damaged or lost.
    pub problems: usize,
    /// The result of the decisions, once there are any.
    pub verdict: Option<SessionVerdict>,
    /// The rules that object to a call or are violated, each once, in that order.
    pub rules: Box<[Name]>,
    /// The number of decisions that the comparison changes, once it has been made.
    pub changed: Option<usize>,
    /// The trigrams of its id, its title and the arguments of its calls.
    pub(super) trigrams: Trigrams,
    /// Its calls, then its violated rules.
    events: Box<[Event]>,
    /// The rules and codes of the events.
    findings: Box<[(Name, Name)]>,
}

/// A call, or a violated rule about the session.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The tool, of a call.
    pub tool: Option<Name>,
    /// The turn, from 1, of a call.
    pub turn: u32,
    /// The states it is in, a bit each.
    pub states: u16,
    findings: Range<u32>,
}

/// The data of a session for its row, from any thread: names get their numbers where the rows are.
#[derive(Debug, Default)]
pub struct RowDraft {
    project: Option<Arc<str>>,
    branch: Option<Arc<str>>,
    agent: Option<Arc<str>>,
    /// The tools that are called, each once.
    tools: Vec<Arc<str>>,
    /// The calls; the tool of each is its place among these.
    events: Box<[Event]>,
    trigrams: Trigrams,
}

impl RowDraft {
    /// Of a session, with its content if that is available.
    pub fn of(stored: &StoredSession, session: Option<&Session>) -> RowDraft {
        let of = |field: fn(&Session) -> Option<&str>| session.and_then(field).map(Arc::from);
        let calls = session.map_or(&[] as &[Call], |session| &session.calls);
        let arguments = calls.iter().map(|call| call.arguments.shown());
        let trigrams =
            Trigrams::of([&*stored.id].into_iter().chain(stored.title.as_deref()).chain(arguments));
        let mut tools: Vec<Arc<str>> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let calls = calls.iter().map(|call| {
            let number = *numbers.entry(&call.tool).or_insert_with(|| {
                tools.push(Arc::clone(&call.tool));
                tools.len() - 1
            });
            let tool = Some(Name::numbered(number));
            Event { tool, turn: call.at.turn, states: recorded(call), findings: 0..0 }
        });
        let events = calls.collect();
        let (project, branch, agent) = (of(Session::project), of(Session::branch), of(Session::agent));
        RowDraft { project, branch, agent, tools, events, trigrams }
    }
}

/// The data of a replay for the row of its session, from any thread.
#[derive(Debug)]
pub struct RowDecisions {
    /// The states of each call, a bit each, and where its findings end.
    calls: Vec<(u16, u32)>,
    /// For each violated session rule its state, and where its findings end.
    violated: Vec<(u16, u32)>,
    findings: Vec<(RuleId, Option<Code>)>,
    verdict: SessionVerdict,
}

impl RowDecisions {
    /// Of a judged session.
    pub fn of(replay: &Replay) -> RowDecisions {
        let mut findings = Vec::new();
        let mut calls = Vec::with_capacity(replay.calls().len());
        for (call, judged) in replay.session().calls.iter().zip(replay.calls()) {
            findings
                .extend(judged.decision.findings.iter().map(|finding| (finding.rule, Some(finding.code))));
            calls.push((states(Some(call), judged), findings.len() as u32));
        }
        let mut violated = Vec::new();
        for state in
            replay.rules().iter().filter(|state| state.outcome == RuleOutcome::Violated && !state.copied)
        {
            findings.push((state.rule, state.code));
            let as_what = if state.enforced { State::Violated } else { State::Reported };
            violated.push((bit(as_what), findings.len() as u32));
        }
        RowDecisions { calls, violated, findings, verdict: SessionVerdict::of(replay) }
    }
}

/// The bit of a state.
pub const fn bit(state: State) -> u16 {
    1 << state as u16
}

impl SessionRow {
    /// A file that no session could be read from.
    pub fn unread(file: Name) -> SessionRow {
        SessionRow {
            session: None,
            file,
            project: None,
            branch: None,
            agent: None,
            format: None,
            began: None,
            problems: 0,
            verdict: None,
            rules: Box::default(),
            changed: None,
            trigrams: Trigrams::default(),
            events: Box::default(),
            findings: Box::default(),
        }
    }

    /// A session that nothing was decided about yet, and that stays in memory.
    pub fn of(session: &Arc<Session>, names: &mut Names) -> SessionRow {
        let stored = StoredSession::resident(Arc::clone(session));
        let file = names.of(&stored.origin.file);
        SessionRow::of_stored(&stored, RowDraft::of(&stored, Some(session)), file, names)
    }

    /// The same for one that may leave memory, from its draft.
    pub fn of_stored(
        stored: &Arc<StoredSession>,
        draft: RowDraft,
        file: Name,
        names: &mut Names,
    ) -> SessionRow {
        let RowDraft { project, branch, agent, tools, mut events, trigrams } = draft;
        let mut known = |text: Option<Arc<str>>| text.map(|text| names.of(&text));
        let (project, branch, agent) = (known(project), known(branch), known(agent));
        let format = Some(names.of_str(stored.origin.format));
        let tools: Vec<Name> = tools.iter().map(|tool| names.of(tool)).collect();
        for event in &mut events {
            event.tool = event.tool.and_then(|tool| tools.get(tool.at()).copied());
        }
        SessionRow {
            session: Some(Arc::clone(stored)),
            project,
            branch,
            agent,
            format,
            began: stored.began,
            trigrams,
            events,
            ..SessionRow::unread(file)
        }
    }

    /// Replaces the decisions on its calls.
    pub fn judge(&mut self, replay: &Replay, names: &mut Names) {
        self.decide(&RowDecisions::of(replay), replay.policy().rules(), names);
    }

    /// Adds the decisions of a replay under these rules.
    pub fn decide(&mut self, decided: &RowDecisions, known: &Rules, names: &mut Names) {
        let (mut rules, mut findings) = (Vec::new(), Vec::with_capacity(decided.findings.len()));
        for (rule, code) in &decided.findings {
            let rule = match known.get(*rule) {
                Some(rule) => names.of_rule(rule),
                None => names.of_str(""),
            };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
            findings.push((rule, names.of_str(code.map_or("", |code| code.as_str()))));
        }
        let ends =
            decided.calls.iter().map(|(_, end)| *end).chain(decided.violated.iter().map(|(_, end)| *end));
        let mut found = std::iter::once(0).chain(ends.clone()).zip(ends).map(|(start, end)| start..end);
        let mut events = Vec::with_capacity(decided.calls.len() + decided.violated.len());
        let mut calls = self.events.iter().filter(|event| event.tool.is_some());
        for ((states, _), findings) in decided.calls.iter().zip(&mut found) {
            // If the session was not available when its row was made, its calls are unknown.
            events.extend(calls.next().map(|event| Event { states: *states, findings, ..event.clone() }));
        }
        for ((states, _), findings) in decided.violated.iter().zip(found) {
            events.push(Event { tool: None, turn: 0, states: *states, findings });
        }
        self.events = events.into();
        (self.rules, self.findings) = (rules.into(), findings.into());
        self.verdict = Some(decided.verdict);
    }

    /// Its title: as recorded or by its beginning, else its id; a file by its name.
    pub fn title<'a>(&'a self, names: &'a Names) -> &'a str {
        match &self.session {
            Some(session) => session.title.as_deref().unwrap_or(&session.id),
            None => names.word(self.file),
        }
    }

    /// Number of its turns.
    pub fn turns(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.turns)
    }

    /// Number of its calls.
    pub fn calls(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.calls)
    }

    /// Whether a call is allowed; `None` if nothing was decided.
    pub fn is_allowed(&self, call: usize) -> Option<bool> {
        let event = self.verdict.and(self.events.get(call)).filter(|event| event.tool.is_some())?;
        Some(event.states & bit(State::Allowed) != 0)
    }

    /// Its calls, in their order, then its violated rules.
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Its content, if it is available.
    pub(super) fn content(&self) -> Option<Arc<Session>> {
        self.session.as_ref()?.session().ok()
    }

    /// The rules of an event, with their codes.
    pub(super) fn findings(&self, event: &Event) -> &[(Name, Name)] {
        let Range { start, end } = event.findings;
        self.findings.get(start as usize..end as usize).unwrap_or_default()
    }
}

/// The states of a call, a bit each; of one that was not taken, those that were decided.
pub fn states(call: Option<&Call>, judged: &DecidedCall) -> u16 {
    call.map_or(0, recorded) | decided(judged)
}

fn recorded(call: &Call) -> u16 {
    match call.outcome {
        Outcome::Ok => 0,
        Outcome::Error => bit(State::Error),
        Outcome::Refused => bit(State::Refused),
        Outcome::Unknown => bit(State::Unanswered),
    }
}

fn decided(judged: &DecidedCall) -> u16 {
    let verdict = match judged.decision.verdict {
        Verdict::Allow if judged.decision.reports() => bit(State::Allowed) | bit(State::Reported),
        Verdict::Allow => bit(State::Allowed),
        Verdict::Ask => bit(State::Asked),
        Verdict::Deny => bit(State::Denied) | bit(State::Stopped),
        Verdict::Halt => bit(State::Halted) | bit(State::Stopped),
        Verdict::NotReached => bit(State::NotReached),
    };
    let would = if judged.decision.would_stop() { bit(State::WouldStop) } else { 0 };
    let verdict = verdict | would;
    if judged.agrees { verdict } else { verdict | bit(State::Differs) }
}
