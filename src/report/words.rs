//! Sentences that are the same for every rule, for the command line and for the workbench. Findings are worded by their
//! dialects ([`Explanation`]).
//!
//! Recorded values are quoted as compact JSON and made safe for a terminal; a sentence is one line and holds nothing
//! invisible. Long values are cut where it is displayed.

pub mod call;
mod counted;
pub mod live;
pub mod way_out;

use std::cell::OnceCell;
use std::collections::HashMap;

pub use counted::counted_refusal;
pub use rulestep_engine::monitor::rule_name;

use rulestep_base::session::{AlternativeRef, Call, CallRef, Outcome, Session};
use rulestep_base::wording::glyph::Glyph;
use rulestep_base::wording::sentence::{name as held, value};
use rulestep_base::wording::tool_of;
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::monitor::{
    CheckedValue, EarlierCall, Explanation, Fault, Line, Reason, Rule, Rules, StateItem,
};
use rulestep_engine::replay::{DecidedCall, NotTaken, Replay};
use rulestep_engine::run::{Mode, Verdict};
/// The outcome of a call, in a word for people.
pub fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "no result",
        known => known.word(),
    }
}

pub use rulestep_base::wording::{Sentence, at, count, line, list, name, skipped, thousands};

/// Most lines of a rule that are shown.
const LINES: u32 = 24;
/// Number of earlier calls that are listed although they do not count.
const ATTEMPTS: usize = 4;

/// The explanation of a violated session rule; `None` for another one, or for one without an expectation.
pub fn violation(state: &RuleState, replay: &Replay) -> Option<Explanation> {
    state.code?;
    let explanation = state.explain(replay.policy().rules(), replay.session(), Some(&replay.ran()))?;
    Some(explanation).filter(|explanation| explanation.expected.is_some())
}

/// The checked value of the call: `$.order_id is "ORD-124"`.
pub fn checked(checked: &CheckedValue) -> Sentence {
    Sentence::new(match &checked.value {
        Some(found) => format!("{} is {}", held(&checked.path), value(found)),
        None => format!("{} has no value", held(&checked.path)),
    })
}

/// An earlier call that a finding rests on: `turn 1: check_eligibility, "ORD-123"`.
pub fn found(found: &EarlierCall, session: &Session) -> Sentence {
    let mut line = format!("{}: {}", at(found.call, session), tool_of(found.call, session));
    if let Some(found) = &found.value {
        line.push_str(", ");
        line.push_str(&value(found));
    }
    Sentence::new(line)
}

/// The calls of a session by tool, so that those before a call are found without passing by all the others.
pub struct ByTool<'a> {
    calls: HashMap<&'a str, Vec<&'a Call>>,
    ran: OnceCell<Vec<CallRef>>,
}

impl<'a> ByTool<'a> {
    /// Of this session.
    pub fn of(session: &'a Session) -> ByTool<'a> {
        let mut calls: HashMap<&str, Vec<&Call>> = HashMap::new();
        for call in &session.calls {
            calls.entry(&call.tool).or_default().push(call);
        }
        ByTool { calls, ran: OnceCell::new() }
    }

    /// The calls that ran, in order; found out when they are first asked for.
    pub fn ran(&self, replay: &Replay) -> &[CallRef] {
        self.ran.get_or_init(|| replay.ran())
    }

    /// The calls of a tool before a call, the newest first.
    fn before(&self, tool: &str, call: CallRef) -> impl Iterator<Item = &'a Call> {
        let calls = self.calls.get(tool).map(Vec::as_slice).unwrap_or_default();
        let end = calls.partition_point(|other| other.at.index < call.index);
        calls.iter().take(end).rev().copied()
    }
}

/// An earlier call of a tool that is wanted, which does not count.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The call.
    pub call: &'a Call,
    /// Why it does not count.
    pub why: &'static str,
}

impl Attempt<'_> {
    /// The call and why it does not count.
    pub fn sentence(self, session: &Session) -> Sentence {
        let Attempt { call, why } = self;
        Sentence::new(format!("{}: {}, {why}", at(call.at, session), held(&call.tool)))
    }
}

/// The calls of the tool that a call waits for, as far as they were made before it, the newest first.
pub fn attempts<'a>(call: &Call, replay: &'a Replay, tool: &str) -> Vec<Attempt<'a>> {
    let earlier = replay.session().calls.get(..call.at.index as usize).unwrap_or_default();
    let earlier = earlier.iter().rev().filter(|earlier| *earlier.tool == *tool);
    earlier.take(ATTEMPTS).map(|earlier| attempt(earlier, call.at, replay)).collect()
}

fn attempt<'a>(earlier: &'a Call, call: CallRef, replay: &Replay) -> Attempt<'a> {
    // In `shadow` a stopped call ran all the same.
    let stopped = replay.mode() == Mode::Enforce
        && replay.call(earlier.at.index).is_some_and(|judged| judged.decision.verdict.stops());
    let why = match earlier.outcome {
        _ if stopped => "stopped in this replay",
        Outcome::Ok if earlier.at.turn == call.turn => "in the same turn, so its result was not known",
        Outcome::Ok => "its result came too late",
        outcome => became(outcome),
    };
    Attempt { call: earlier, why }
}

/// The earlier calls that a finding rests on, and those that were to be expected and do not count.
pub fn earlier(
    explanation: &Explanation,
    call: &Call,
    replay: &Replay,
    by_tool: &ByTool<'_>,
) -> Vec<Sentence> {
    let session = replay.session();
    let found = explanation.found.iter().map(|found| self::found(found, session));
    let before = explanation.awaited.as_deref().into_iter().flat_map(|tool| by_tool.before(tool, call.at));
    let attempts = before.take(ATTEMPTS).map(|earlier| attempt(earlier, call.at, replay).sentence(session));
    found.chain(attempts).collect()
}

/// The evidence of a rule, a line each: parts are indented below the whole.
pub fn details(lines: &[Line]) -> Vec<String> {
    fn add(lines: &[Line], depth: usize, out: &mut Vec<String>) {
        for line in lines {
            let label = if line.label.is_empty() { String::new() } else { format!("{}: ", line.label) };
            let value = line.value.as_ref().map(|value| format!(": {}", value.whole())).unwrap_or_default();
            out.push(format!("{}{label}{}{value}", "  ".repeat(depth), line.text.whole()));
            add(&line.lines, depth + 1, out);
        }
    }
    let mut out = Vec::new();
    add(lines, 0, &mut out);
    out
}

/// An item of the state at a moment, in a line.
pub fn state(item: &StateItem, rules: &Rules, session: &Session) -> Option<Sentence> {
    let headline = item.explain(rules, session)?.headline;
    Some(match item {
        StateItem::Precondition { tool, .. } => headline.after(&format!("{}: ", held(tool))),
        _ => headline,
    })
}

/// Why a tool is hidden, in a few words.
pub fn reason(reason: &Reason, rules: &Rules) -> String {
    let why = reason.fault.as_deref().map_or_else(|| reason.code.title().to_owned(), Fault::sentence);
    match rules.get(reason.rule) {
        Some(rule) => format!("{why}: {} ({})", rule_name(rule), rule.place()),
        None => why,
    }
}

/// The mark of a decision, in every output and in the workbench, which also shows what the recording did. Only a
/// stopped call is marked as counterfactual: that an allowed call comes after a stopped one hides nothing.
pub fn mark(decided: &DecidedCall) -> Glyph {
    match decided.decision.verdict {
        Verdict::Allow if decided.decision.reports() => Glyph::Report,
        Verdict::Allow => Glyph::Allow,
        Verdict::Ask => Glyph::Ask,
        Verdict::NotReached => Glyph::None,
        Verdict::Deny | Verdict::Halt if decided.counterfactual => Glyph::After,
        Verdict::Deny => Glyph::Deny,
        Verdict::Halt => Glyph::Halt,
    }
}

/// The same with room for one sign: for a call that is allowed and was refused, that the recording differs.
pub fn glyph(decided: &DecidedCall) -> Glyph {
    match mark(decided) {
        Glyph::Allow if !decided.agrees => Glyph::Disagree,
        mark => mark,
    }
}

/// The word for a decision, as a participle: `allowed`, `denied`. In shadow nothing is stopped: `would be denied`.
pub fn decided(verdict: Verdict, mode: Mode) -> &'static str {
    match (verdict, mode) {
        (Verdict::Allow, _) => "allowed",
        (Verdict::Ask, Mode::Enforce) => "asked about",
        (Verdict::Ask, Mode::Shadow) => "would be asked about",
        (Verdict::Deny, Mode::Enforce) => "denied",
        (Verdict::Deny, Mode::Shadow) => "would be denied",
        (Verdict::Halt, Mode::Enforce) => "halted",
        (Verdict::Halt, Mode::Shadow) => "would be halted",
        (Verdict::NotReached, _) => "not reached",
    }
}

/// For rules that are not enforced: `3 calls would be stopped by a rule in shadow mode`.
pub fn would_stop(calls: u64) -> String {
    format!("{} would be stopped by a rule in shadow mode", count(calls, "call"))
}

/// The remark on a call that a fork copied.
pub const COPIED: &str = "copied";

/// For copied calls of forks: `not counted: 3 calls copied from another session`.
pub fn not_counted(copied: u64) -> String {
    format!("not counted: {} copied from another session", count(copied, "call"))
}

/// The word for calls that do not run, whatever the decision.
pub fn stopped(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "stopped",
        Mode::Shadow => "would be stopped",
    }
}

/// The recorded outcome of a call: `ran`, `ran and failed`.
pub fn became(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "it ran",
        Outcome::Error => "it ran and failed",
        Outcome::Refused => "it was refused",
        Outcome::Unknown => "it has no result",
    }
}

/// The outcome of a session rule.
pub fn ended(outcome: RuleOutcome) -> &'static str {
    match outcome {
        RuleOutcome::Held => "held",
        RuleOutcome::Violated => "violated",
        RuleOutcome::NotExercised => "not exercised",
        RuleOutcome::Pending => "pending",
    }
}

/// The rule's own lines with their numbers, a few; and whether there are more.
pub fn lines(rule: &Rule) -> (Vec<(u32, String)>, bool) {
    first_lines(rule, LINES)
}

/// As [`lines`], at most this many.
pub fn first_lines(rule: &Rule, most: u32) -> (Vec<(u32, String)>, bool) {
    let first = rule.source.position(rule.span.start).line;
    let last = rule.source.position(rule.span.end.saturating_sub(1).max(rule.span.start)).line;
    let shown = first..=last.min(first.saturating_add(most.saturating_sub(1)));
    let text = |number| rule.source.line(number).map(line).unwrap_or_default();
    (shown.map(|number| (number, text(number))).collect(), last >= first.saturating_add(most))
}

/// The place of a call in a choice that was not taken: the call if the choice has several.
pub fn at_choice(other: &NotTaken<'_>) -> String {
    let AlternativeRef { turn, choice, call } = other.at();
    match other.alternative.calls().len() {
        0 | 1 => format!("turn {turn} choice {choice}"),
        _ => format!("turn {turn} choice {choice} call {call}"),
    }
}
