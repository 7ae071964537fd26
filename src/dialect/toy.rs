//! A toy dialect: each listed tool runs once. It is there for the test below, and to show what a dialect consists of.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::diagnostic::Diagnostic;
use crate::diagnostic::code::codes;
use crate::dialect::edits::Edits;
use crate::dialect::{Dialect, Reader, Text};
use crate::monitor::explanation::{detail, state};
use crate::monitor::{
    About, Cx, EarlierCall, Effect, Event, Explain, Explanation, Hidden, Line, LineState, Monitor, Observes,
    ProposedCall, Rule, RuleId, Rules, Sink, Slot, StateItem, Timers, Unit, Wakes,
};
use crate::session::{CallRef, Facts};
use crate::source::Field;
use crate::wording::sentence::name;
use crate::wording::{Sentence, at};

/// The row of the table of dialects.
pub(super) const DIALECT: Dialect = Dialect {
    name: "toy",
    title: "toy: tools that run once",
    reference: "Each tool in the list `once` runs once.\n",
    places: &[],
    kinds: &[("once", "")],
    schema: "{}\n",
    edits: Edits::NONE,
    example: "once: [deploy]\n",
    codes: PAGES,
    recognises: |node| node.get("once").is_some(),
    keys: &["once"],
    rules_only: true,
    reader: || Box::new(Reading::default()),
    phrase: |rule| Some(format!("{} once", crate::wording::name(rule.tool.as_deref()?))),
    references: None,
};

codes! {
    Finding RAN_BEFORE = "ran_before": "the tool ran before, and may run once",
"A tool of the list `once` ran earlier in the session.

    once: [deploy]

The second `deploy` is denied.
";
}

#[derive(Default)]
struct Reading(Vec<Arc<dyn Unit>>);

impl Reader for Reading {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let mut found = Vec::new();
        if let Some(mut fields) = Field::document(text.node).fields(&mut found) {
            fields.take("dialect");
            fields.list("once", &mut found, |item, out| {
                let tool: Arc<str> = item.text(out)?.into();
                let rule = text.rule("once", &item.pointer, item.span());
                let rule = Rule { tool: Some(Arc::clone(&tool)), ..rule };
                self.0.push(Arc::new(OneTime { tool, rule: [rules.push(rule)] }));
                Some(())
            });
            fields.finish(&mut found);
        }
        problems.extend(found.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
    }

    fn finish(self: Box<Self>, _: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        self.0
    }
}

/// A tool that runs once.
struct OneTime {
    tool: Arc<str>,
    rule: [RuleId; 1],
}

impl Unit for OneTime {
    fn rules(&self) -> &[RuleId] {
        &self.rule
    }

    fn wakes(&self, tool: &str) -> Wakes {
        let own = *tool == *self.tool;
        Wakes { decide: own, observe: Observes::all(own), slot: Slot(0) }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.push(Arc::clone(&self.tool));
    }

    fn start(self: Arc<Self>, _: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(OnceMonitor { unit: self, first: None })
    }
}

#[derive(Clone)]
struct OnceMonitor {
    unit: Arc<OneTime>,
    first: Option<CallRef>,
}

impl Monitor for OnceMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn narrow(&self, _: &str, _: Slot, _: &Cx<'_>, out: &mut Hidden<'_>) {
        if self.first.is_some() {
            out.hide(0, RAN_BEFORE);
        }
    }

    fn decide(&self, _: ProposedCall<'_>, _: &Cx<'_>, out: &mut Sink<'_>) {
        let Some(call) = self.first else { return };
        out.find(0, Effect::Deny, RAN_BEFORE, |finding| {
            finding.found = vec![EarlierCall::new(call)];
            finding.facts = Some(Arc::new(EarlierRun(Arc::clone(&self.unit.tool))));
        });
        out.check(0, false, |check| {
            check.code = Some(RAN_BEFORE);
            check.found = vec![EarlierCall::new(call)];
            check.facts = Some(Arc::new(EarlierRun(Arc::clone(&self.unit.tool))));
        });
    }

    fn observe(&mut self, event: &Event<'_>, _: &Cx<'_>, _: &mut Timers<'_>) {
        if let Event::Started(call) = event {
            self.first.get_or_insert(call.at);
        }
    }

    fn state(&self, _: &Cx<'_>, out: &mut Vec<StateItem>) {
        let [rule] = self.unit.rule;
        let tool = Arc::clone(&self.unit.tool);
        let facts = Arc::new(Remainder { tool: Arc::clone(&tool), spent: self.first.is_some() });
        out.push(StateItem::Kept { rule, tool: Some(tool), facts });
    }
}

/// The tool ran before.
#[derive(Debug, PartialEq)]
struct EarlierRun(Arc<str>);

impl Explain for EarlierRun {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let when = about.earlier().map(|call| at(call, about.session)).unwrap_or_default();
        let line = Line { state: LineState::Bad, label: "spent", ..Line::new("the one call") };
        Explanation {
            lines: vec![line],
            way_out: Some(Sentence::new("nothing in this session")),
            ..Explanation::new(about, format!("{} ran in {when}, and may run once", name(&self.0)))
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(&json!({"once": self.0}))
    }
}

/// Whether the tool may still run.
#[derive(Debug, PartialEq)]
struct Remainder {
    tool: Arc<str>,
    spent: bool,
}

impl Explain for Remainder {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let (state, left) = if self.spent { (LineState::Bad, 0) } else { (LineState::Good, 1) };
        let value = Some(Sentence::new(format!("{left} of 1 left")));
        let line = Line { value, state, ..Line::new(name(&self.tool)) };
        Explanation {
            lines: vec![line],
            ..Explanation::new(about, format!("{}: {left} of 1 left", name(&self.tool)))
        }
    }

    fn data(&self) -> Map<String, Value> {
        state("once", &json!({"spent": self.spent}))
    }
}

#[cfg(test)]
#[cfg(feature = "tui")]
mod tests {
    use super::*;
    use crate::engine::Mode;
    use crate::replay::Replay;
    use crate::report::{JudgedSession, Look, Scope, json as data, text};
    use crate::workbench::testing::{judged, loaded, press, refunds, screen};

    const POLICY: &str = "once: [issue_refund]\n";

    /// Text, data and panes show what they never heard of.
    #[test]
    fn a_dialect_is_one_file_and_its_row() {
        let replay = Replay::new(&Arc::new(refunds()), &loaded(POLICY).policy.unwrap(), Mode::Enforce);
        assert_eq!(replay.calls().iter().filter(|call| call.decision.verdict.stops()).count(), 1);

        let (frame, call) = (replay.frame(2).unwrap(), &replay.session().calls[2]);
        let mut shown = Vec::new();
        text::call(&replay, &frame, call, None, &Look::default(), &mut shown).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        for part in [
            "issue_refund ran in turn 2 call 1, and may run once",
            "issue_refund once",
            "spent: the one call",
            "suggest   nothing in this session",
            "way out   No way out was found",
            "at start  issue_refund: 1 of 1 left",
        ] {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }

        let mut line = Vec::new();
        data::session(&JudgedSession::Whole(Box::new(replay)), Scope::Full, &mut line).unwrap();
        let line: Value = serde_json::from_slice(&line).unwrap();
        let turn = &line["turns"][1];
        assert_eq!(turn["calls"][1]["checks"][0]["detail"], json!({"once": "issue_refund"}));
        assert_eq!(turn["state"][0]["kind"], "once");
        assert_eq!(turn["calls"][1]["findings"][0]["rule_name"], "issue_refund once");

        let mut model = judged(120, 40, "mono", loaded(POLICY), vec![refunds()]);
        press(&mut model, "]f");
        let screen = screen(&model);
        for part in ["ran_before", "the one call", "1 of 1 left"] {
            assert!(screen.contains(part), "{part} is not in\n{screen}");
        }
    }
}
