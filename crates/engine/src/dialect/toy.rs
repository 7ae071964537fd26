//! A toy dialect: each listed tool runs once. It is used by the test below, and shows the parts of a dialect.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::dialect::edits::Edits;
use crate::dialect::{Dialect, Reader, Text};
use crate::monitor::explanation::{detail, state};
use crate::monitor::{
    About, Cx, EarlierCall, Effect, Event, Explain, Explanation, Hidden, Line, LineState, Monitor, Observes,
    ProposedCall, Rule, RuleId, Rules, Sink, Slot, StateItem, Timers, Unit, Wakes,
};
use rulestep_base::codes;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{CallRef, Facts};
use rulestep_base::source::Field;
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{Sentence, at};

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
    phrase: |rule| Some(format!("{} once", rulestep_base::wording::name(rule.tool.as_deref()?))),
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

    fn wakes_by_name(&self) -> bool {
        false
    }

    fn subscriptions(&self) -> crate::monitor::SessionEvents {
        crate::monitor::SessionEvents {
            turns: true,
            first_turn: true,
            operations: true,
            messages: true,
            time: true,
        }
    }

    fn reads_history(&self) -> bool {
        false
    }

    fn remembers(&self) -> bool {
        true
    }

    fn sees_tree(&self) -> bool {
        false
    }

    fn reads(&self, _session: &rulestep_base::session::Session, _out: &mut Vec<crate::monitor::Read>) {}

    fn refusal_texts(&self, _out: &mut Vec<(Arc<str>, RuleId)>) {}

    fn enablers(&self, _call: crate::monitor::Prospect<'_>, out: &mut crate::monitor::Enablers) {
        out.unsure();
    }

    fn statements(&self, _out: &mut Vec<crate::monitor::Statement>) {}

    fn conditions(&self, _out: &mut Vec<crate::monitor::Condition>) {}

    fn probes(&self, _out: &mut Vec<crate::monitor::Probe>) {}

    fn resume(self: Arc<Self>, _saved: &str) -> Option<Box<dyn Monitor>> {
        None
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

    fn save(&self) -> Option<String> {
        None
    }

    fn permanent_denial(
        &self,
        _call: ProposedCall<'_>,
        _cx: &Cx<'_>,
        _enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        None
    }

    fn digest(&self, _calls: &[ProposedCall<'_>], _cx: &Cx<'_>, out: &mut crate::monitor::Digest) {
        out.unknown();
    }

    fn report(
        &self,
        _end: crate::monitor::End,
        _cx: &Cx<'_>,
        _out: &mut Vec<crate::monitor::finding::RuleState>,
    ) {
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

mod tests {
    use super::*;
    use crate::policy::{Policy, PolicyFile};
    use crate::replay::Replay;
    use crate::run::Mode;

    const POLICY: &str = "once: [issue_refund]\n";
    const SESSION: &str = r#"{"id": "s", "messages": [
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "issue_refund", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "{}"},
        {"role": "assistant", "tool_calls": [{"id": "b", "function": {"name": "issue_refund", "arguments": "{}"}}]}]}"#;

    /// Code that does not know it decides by it, and explains. A test over all modules holds that renderers know no
    /// dialect.
    #[test]
    fn a_dialect_is_one_file_and_its_row() {
        let file = PolicyFile {
            name: "a.yaml".into(),
            relative: "a.yaml".into(),
            text: POLICY.into(),
            named: false,
        };
        let policy = Policy::load(&[file], None).policy.unwrap();
        let session = rulestep_recording::read("s.json", SESSION).unwrap().remove(0);
        let replay = Replay::new(&Arc::new(session), &policy, Mode::Enforce);
        assert_eq!(replay.calls().iter().filter(|call| call.decision.verdict.stops()).count(), 1);
        let finding = &replay.calls()[1].decision.findings[0];
        let shown = serde_json::to_string(finding).unwrap();
        assert!(shown.contains("ran_before"), "{shown}");
        let explained = finding.explain(policy.rules(), replay.session()).unwrap();
        assert_eq!(explained.headline.to_string(), "issue_refund ran in turn 1, and may run once");
        assert_eq!(crate::monitor::rule::rule_name(&explained.rule), "issue_refund once");
        assert_eq!(explained.lines[0].text.to_string(), "the one call");
        let frame = replay.frame(2).unwrap();
        assert_eq!(frame.state.len(), 1);
        assert_eq!(frame.calls[0].checks.len(), 1);
    }
}
