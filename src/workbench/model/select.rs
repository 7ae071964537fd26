//! The selection: derived from the cursors, never stored in addition.

use super::overlay::BodyView;
use std::sync::Arc;

use super::texts::lines_of;
use super::{Model, Spot, verdict};
use crate::compare::{Base, Side};
use crate::report::words::{self, Attempt};
use crate::workbench::keys::Facts;
use crate::workbench::layout::Pane;
use crate::workbench::transcript::{Row, RowKind};
use rulestep_base::session::{AlternativeRef, Call, CallRef, Turn};
use rulestep_base::source::Source;
use rulestep_engine::monitor::finding::{Check, Finding, RuleState};
use rulestep_engine::monitor::{EarlierCall, Rule, RuleId, Rules};
use rulestep_engine::replay::DecidedCall;
use rulestep_engine::run::Decision;

impl Model {
    /// The row of the transcript under the cursor.
    pub fn row(&self) -> Option<Row> {
        self.derived.rows.get(self.list(Pane::Transcript).cursor)
    }

    /// The turn of that row, from 1; the last one for the messages after it.
    pub fn turn(&self) -> Option<&Turn> {
        let session = self.session()?;
        let number = self.row()?.turn;
        session.turn(number).or_else(|| session.turns.last())
    }

    /// The call of that row.
    pub fn call(&self) -> Option<&Call> {
        let session = self.session()?;
        let index = self.derived.rows.call_at(self.list(Pane::Transcript).cursor, session)?;
        session.calls.get(index as usize)
    }

    /// The call under the cursor of a choice that was not taken.
    pub fn not_taken(&self) -> Option<AlternativeRef> {
        self.row()?.not_taken(self.session()?).map(|proposal| proposal.at())
    }

    /// The tool of the selected call, taken or not.
    pub fn tool(&self) -> Option<&Arc<str>> {
        let proposal = || self.row()?.not_taken(self.session()?).map(|proposal| &proposal.call.tool);
        self.call().map(|call| &call.tool).or_else(proposal)
    }

    /// The decision about that call.
    pub fn judged_call(&self) -> Option<&DecidedCall> {
        self.seen(Side::New).judged_call()
    }

    /// The decision on that call with every check, once the turn's frame is there.
    pub fn full_decision(&self) -> Option<&Decision> {
        self.seen(Side::New).full_decision()
    }

    /// The finding on that call which comes first.
    pub fn finding(&self) -> Option<&Finding> {
        self.judged_call()?.decision.findings.first()
    }

    /// The violated rule about the session under the cursor, and how it ended.
    pub fn violation(&self) -> Option<&RuleState> {
        let RowKind::Rule(rule) = self.row()?.kind else { return None };
        verdict::violations(self.replay()?).find(|state| state.rule == rule)
    }

    /// The rules of the policy that decides now.
    #[must_use]
    pub fn rules_now(&self) -> Option<&Rules> {
        // The replay on screen may be of the version before.
        let policy = self.replay().map(|replay| replay.policy()).or(self.basis.rules.policy.as_ref())?;
        Some(policy.rules())
    }

    /// A rule of the policy that decides now.
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        self.rules_now()?.get(id)
    }

    /// The rule to show: the one asked for, else of the row under the cursor of the focused pane, else of the first finding, else of the
    /// first check of the selected call, else the first one about its tool.
    pub fn shown_rule(&self) -> Option<RuleId> {
        let pointed = self.derived.link.rule;
        let checks: &[Check] = self.full_decision().map_or(&[], |decision| &decision.checks);
        let of_tool = || {
            let (tool, policy) = (self.tool()?, self.replay()?.policy());
            policy.rules().iter().find(|(_, rule)| rule.tool.as_ref() == Some(tool)).map(|(id, _)| id)
        };
        let found =
            || self.finding().map(|finding| finding.rule).or(self.violation().map(|state| state.rule));
        self.place.pinned.or(pointed).or_else(found).or_else(|| self.most_specific(checks)).or_else(of_tool)
    }

    /// Of the rules that were asked about the selected call, the one most specific to its tool: one of the tool's own,
    /// then one that names it, then one that names several tools by their beginning, then one about any tool that rests
    /// on earlier calls. A rule that is asked about every call and has no finding on this one does not count.
    fn most_specific(&self, checks: &[Check]) -> Option<RuleId> {
        let tool = self.tool()?;
        let begins = |name: &Arc<str>| name.strip_suffix('…').is_some_and(|start| tool.starts_with(start));
        let score = |check: &Check| {
            let rule = self.rule(check.rule)?;
            let own = rule.tool.as_ref() == Some(tool);
            let named = (own, rule.tools.contains(tool), rule.tools.iter().any(begins));
            let score = (named, !check.found.is_empty());
            (score != Default::default()).then_some(score)
        };
        let scored = checks.iter().rev().filter_map(|check| Some((score(check)?, check.rule)));
        // The first of those that say the same.
        scored.max_by_key(|(score, _)| *score).map(|(_, rule)| rule)
    }

    /// The document to show: that of the shown rule, else the one that does not load; else none.
    pub fn document(&self) -> Option<ShownDocument<'_>> {
        if let Some((id, rule)) = self.shown_rule().and_then(|id| Some((id, self.rule(id)?))) {
            let (first, last) = lines_of(&rule.source, rule.span);
            return Some(ShownDocument { source: &rule.source, rule: Some((id, first, last)) });
        }
        let broken = self.basis.rules.stale || self.basis.rules.policy.is_none();
        let problem = self.basis.rules.first_problem().filter(|_| broken);
        let wanted = problem.and_then(|problem| problem.place()).map(|place| place.file());
        let mut documents = self.basis.rules.documents.iter();
        let document = documents.find(|document| Some(document.source.name()) == wanted);
        document.map(|document| ShownDocument { source: &document.source, rule: None })
    }

    /// The earlier call that the first finding rests on, else the newest one that did not do for it; or the one that a
    /// violated rule rests on.
    pub fn cause(&self) -> Option<CallRef> {
        if let Some(state) = self.violation() {
            let index = verdict::rests_on(state)?;
            return self.session()?.calls.get(index as usize).map(|call| call.at);
        }
        // A call beside it in a choice that was not taken has no row here.
        let turn = self.not_taken().map_or(u32::MAX, |at| at.turn);
        let own = self.finding()?.found.iter().find_map(EarlierCall::own);
        own.filter(|call| call.turn < turn).or_else(|| self.attempts().first().map(|attempt| attempt.call.at))
    }

    /// The earlier calls of the tool that the selected call waits for, which do not count.
    pub fn attempts(&self) -> Vec<Attempt<'_>> {
        let attempts = || {
            let (call, replay) = (self.call()?, self.replay()?);
            let explained = self.finding()?.explain(replay.policy().rules(), replay.session())?;
            Some(words::attempts(call, replay, explained.awaited.as_deref()?))
        };
        attempts().unwrap_or_default()
    }

    /// The position of the cursor.
    pub fn spot(&self) -> Spot {
        Spot { entry: self.place.open, row: self.list(Pane::Transcript).cursor }
    }

    /// Whether a row of the transcript comes after the recording had parted from the policy.
    pub fn counterfactual(&self, row: Row) -> bool {
        let Some(replay) = self.replay() else { return false };
        match row.kind {
            RowKind::Call(index) | RowKind::Result(index) => {
                replay.call(index).is_some_and(|judged| judged.counterfactual)
            }
            RowKind::Message(_) => replay.frontier().is_some_and(|frontier| row.turn > frontier.turn),
            RowKind::Choice(place, _) => replay.alternative(place).iter().any(|judged| judged.counterfactual),
            RowKind::Rule(_) => false,
        }
    }

    /// Facts for the availability of commands.
    pub fn facts(&self) -> Facts {
        Facts {
            session: self.session().is_some(),
            judged: self.replay().is_some(),
            call: self.call().is_some(),
            not_taken: self.not_taken().is_some(),
            finding: self.finding().is_some() || self.violation().is_some(),
            rule: match self.beneath() {
                Some(popup) => popup.rule(self).is_some(),
                None => self.shown_rule().is_some(),
            },
            cause: self.cause().is_some(),
            body: self.row().is_some_and(|row| !matches!(row.kind, RowKind::Rule(_))),
            source: self.editable().is_some(),
            search: self.dialog.query.is_some(),
            watched: self.basis.live.way.is_some(),
            stopped: self.judged_call().is_some_and(|judged| judged.decision.verdict.stops()),
            witness: match self.place.focus {
                Pane::Changes => !self.basis.changes.is_empty(),
                _ => {
                    let stops = self.judged_call().is_some_and(|judged| judged.decision.verdict.stops());
                    self.call().is_some() && (stops || self.change_here().is_some())
                }
            },
            undo: self
                .entry()
                .and_then(|entry| entry.supposed.top())
                .is_some_and(|layer| !layer.undo.is_empty()),
            what_if: self
                .entry()
                .and_then(|entry| entry.supposed.top())
                .is_some_and(|layer| !layer.what_if.is_empty()),
            marked: !self.place.marks.is_empty(),
            back: !self.place.back.is_empty(),
            forward: !self.place.forward.is_empty(),
            compared: self.basis.changes.comparison.is_some(),
            base: self.basis.compare.base.is_some(),
            live: self.comparison().is_some_and(|comparison| matches!(comparison.base(), Base::Live)),
            result: self.is_of_result(),
            texts: self.comparison().is_some_and(|comparison| comparison.base().policy().is_some()),
            scrolled: self.scrolled() > 0,
            written: !self.basis.writes.is_empty(),
            loads: self.basis.rules.loads.before().is_some(),
        }
    }

    fn is_of_result(&self) -> bool {
        let Some(view) = self.dialog.top::<BodyView>() else { return false };
        let row = self.derived.rows.get(view.row);
        row.is_some_and(|row| matches!(row.kind, RowKind::Result(_)))
    }

    /// The file to open in an editor: the rule that is shown; in the transcript the recording, if a message is selected
    /// or no rule is about the call. Elsewhere the recording is not opened: it is evidence, and policies are edited.
    pub fn editable(&self) -> Option<Editable> {
        if let Some(overlay) = self.beneath() {
            return overlay.editable(self);
        }
        let words = matches!(
            self.row().map(|row| row.kind),
            Some(RowKind::Message(_) | RowKind::Result(_) | RowKind::Choice(_, None))
        );
        let transcript = self.place.focus == Pane::Transcript;
        let rule = || {
            if self.place.focus == Pane::Policy && !self.splits() {
                let document = self.document()?;
                let line = u32::try_from(self.list(Pane::Policy).cursor + 1).ok()?;
                return Some(Editable::rule(document.source.name(), line));
            }
            let rule = self.rule(self.shown_rule()?)?;
            Some(Editable::rule(rule.source.name(), rule.source.position(rule.span.start).line))
        };
        let recording = || self.recorded_at().filter(|_| transcript);
        if words { recording().or_else(rule) } else { rule().or_else(recording) }
    }

    /// The file of the case on screen.
    fn case_file(&self) -> Option<&str> {
        let (layer, _) = self.shown_supposed()?;
        Some(&layer.case.as_ref()?.case.file)
    }

    fn recorded_at(&self) -> Option<Editable> {
        let entry = self.entry()?;
        let session = self.session();
        let case = self.case_file().is_some();
        let file = session.map(|session| &session.origin.file).filter(|_| case).unwrap_or(&entry.file);
        let line = session
            .and_then(|session| self.row().and_then(|row| row.line(session)).or(Some(session.origin.line)));
        let line = line.unwrap_or(1).max(1);
        Some(if case && Some(&**file) == self.case_file() {
            Editable::case(file, line)
        } else {
            Editable::recording(file, line)
        })
    }
}

/// A document on screen and the rule in it.
pub struct ShownDocument<'m> {
    /// The text.
    pub source: &'m Source,
    /// The rule, and its lines from the first to the last, from 1.
    pub rule: Option<(RuleId, u32, u32)>,
}

/// A place that an editor can open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editable {
    /// Whether it is a recording, not a policy or a case.
    pub recording: bool,
    /// A noun for it.
    pub word: &'static str,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl Editable {
    /// A rule of a policy.
    pub fn rule(file: &str, line: u32) -> Self {
        Self { recording: false, word: "rule", file: file.to_owned(), line }
    }

    /// A line of a recording.
    pub fn recording(file: &str, line: u32) -> Self {
        Self { recording: true, word: "recording", file: file.to_owned(), line }
    }

    /// A line of a file of cases.
    pub fn case(file: &str, line: u32) -> Self {
        Self { word: "case", ..Self::rule(file, line) }
    }
}
