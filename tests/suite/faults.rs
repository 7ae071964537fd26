//! Rules that panic: whatever a rule was asked when it failed, nothing passes on its word, and every report names it.

use std::io::Cursor;
use std::sync::Arc;

use rstest::rstest;
use rulestep::compare::{Base, Comparison, Kind};
use rulestep_base::diagnostic::code;
use rulestep_base::session::{Body, Facts, Outcome, Session};
use rulestep_base::source::{Source, Span, parse};
use rulestep_engine::dialect::beside::Beside;
use rulestep_engine::dialect::limit::Limit;
use rulestep_engine::dialect::{DIALECTS, Text};
use rulestep_engine::monitor::fault::LostUnit;
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::monitor::{
    Condition, Cx, Depth, Digest, Effect, Enablers, End, Event, Hidden, Monitor, Observes, Probe,
    ProposedCall, Prospect, Read, RuleId, Rules, SessionEvents, Sink, Slot, Stage, StateItem, Statement,
    Timers, Unit, Wakes,
};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{Replay, Status, outcomes};
use rulestep_engine::run::{Mode, NewCall, Run, Verdict};
use rulestep_recording::{Options, open};
use serde_json::{Value, json};

/// What the toy rule says when it fails: two lines, with a sequence that would colour the terminal.
const WHY: &str = "out of \x1b[31mluck\n twice";
/// The same as it may be shown.
const SHOWN: &str = "out of ␛[31mluck↵ twice";

/// Rules about `pay` that allow everything, until they fail.
struct Toy {
    rules: Vec<RuleId>,
    fails: Stage,
    /// The rule that says it is evaluated before the unit fails.
    asks: Option<usize>,
    /// A wake-up after so many calls, and nothing else fails.
    timer: Option<u32>,
}

struct ToyMonitor(Arc<Toy>);

impl Toy {
    fn reach(&self, stage: Stage) {
        if self.fails == stage {
            std::panic::panic_any(WHY.to_owned());
        }
    }
}

impl Unit for Toy {
    fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    fn wakes(&self, tool: &str) -> Wakes {
        let wakes = tool == "pay";
        if wakes {
            self.reach(Stage::Wake);
        }
        Wakes { decide: wakes, observe: Observes::all(wakes), slot: Slot(7) }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.push("pay".into());
    }

    fn start(self: Arc<Self>, _facts: &Arc<Facts>) -> Box<dyn Monitor> {
        self.reach(Stage::Start);
        Box::new(ToyMonitor(self))
    }

    fn wakes_by_name(&self) -> bool {
        false
    }

    fn subscriptions(&self) -> SessionEvents {
        SessionEvents { turns: true, first_turn: true, operations: true, messages: true, time: true }
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

    fn reads(&self, _session: &Session, _out: &mut Vec<Read>) {}

    fn refusal_texts(&self, _out: &mut Vec<(Arc<str>, RuleId)>) {}

    fn enablers(&self, _call: Prospect<'_>, out: &mut Enablers) {
        out.unsure();
    }

    fn statements(&self, _out: &mut Vec<Statement>) {}

    fn conditions(&self, _out: &mut Vec<Condition>) {}

    fn probes(&self, _out: &mut Vec<Probe>) {}

    fn resume(self: Arc<Self>, _saved: &str) -> Option<Box<dyn Monitor>> {
        None
    }
}

impl Monitor for ToyMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        self.0.reach(Stage::Fork);
        Box::new(ToyMonitor(Arc::clone(&self.0)))
    }

    fn narrow(&self, _tool: &str, _slot: Slot, _cx: &Cx<'_>, out: &mut Hidden<'_>) {
        self.0.asks.into_iter().for_each(|rule| out.asks(rule));
        self.0.reach(Stage::Narrow);
    }

    fn decide(&self, _call: ProposedCall<'_>, _cx: &Cx<'_>, out: &mut Sink<'_>) {
        self.0.asks.into_iter().for_each(|rule| out.asks(rule));
        self.0.reach(Stage::Decide);
    }

    fn observe(&mut self, event: &Event<'_>, _cx: &Cx<'_>, timers: &mut Timers<'_>) {
        match (self.0.timer, event) {
            (Some(due), Event::TurnStart) => timers.set(due, 0),
            (Some(_), Event::Due(_)) | (None, Event::Resolved { .. }) => self.0.reach(Stage::Observe),
            _ => {}
        }
    }

    fn state(&self, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        let limit = Limit { tool: "pay".into(), used: 0, allowed: 9 };
        out.push(StateItem::Kept { rule: RuleId(0), tool: Some("pay".into()), facts: Arc::new(limit) });
        self.0.reach(Stage::State);
    }

    fn report(&self, _end: End, _cx: &Cx<'_>, out: &mut Vec<RuleState>) {
        out.push(RuleState::new(RuleId(0), RuleOutcome::Held));
        self.0.reach(Stage::Report);
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

    fn digest(&self, _calls: &[ProposedCall<'_>], _cx: &Cx<'_>, out: &mut Digest) {
        out.unknown();
    }
}

/// A version of one unit, with so many rules, each on a line of `toy.yaml`.
fn policy(fails: Stage, count: u32, asks: Option<usize>, timer: Option<u32>) -> Arc<Policy> {
    let mut rules = Rules::default();
    let source = Source::new("toy.yaml", "- rule\n".repeat(count as usize));
    let parsed = parse(&source);
    let text = Text {
        source: &source,
        node: &parsed.documents[0],
        prefix: "toy.yaml#",
        relative: "toy.yaml",
        alone: true,
        beside: &Beside::default(),
        dialect: &DIALECTS[0],
    };
    let ids = (0..count).map(|number| {
        let span = Span::new(number as usize * 7, number as usize * 7 + 6);
        rules.push(text.rule("toy", &format!("/{number}"), span))
    });
    let ids = ids.collect();
    Policy::of_units(rules, vec![Arc::new(Toy { rules: ids, fails, asks, timer })])
}

/// Turns of one call each, all with a result.
fn session(tools: &[&str]) -> Arc<Session> {
    session_of(tools.iter().copied())
}

fn session_of<'t>(tools: impl Iterator<Item = &'t str>) -> Arc<Session> {
    let mut messages = Vec::new();
    for (at, tool) in tools.enumerate() {
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": format!("c{at}"), "function": {"name": tool, "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": "done"}));
    }
    let text = json!({"id": "s", "tools": ["pay", "look"], "messages": messages}).to_string();
    let reading = open("s.json", Box::new(Cursor::new(text)), &Options::default()).unwrap();
    Arc::new({ reading }.next().unwrap())
}

/// `pay look pay pay`, an `x` for each that is stopped.
fn stopped(replay: &Replay) -> String {
    replay.calls().iter().map(|call| if call.decision.verdict == Verdict::Deny { 'x' } else { '.' }).collect()
}

fn is_fault(state: &RuleState) -> bool {
    (state.outcome, state.code) == (RuleOutcome::Violated, Some(code::RULE_FAULT))
}

/// For each thing a rule is asked: which calls are stopped, how the session stands, what stands hidden in a frame.
#[rstest]
#[case(Stage::Start, "x.xx", Status::Stopped, true)]
#[case(Stage::Wake, "x.xx", Status::Stopped, true)]
#[case(Stage::Narrow, "....", Status::Pass, true)]
#[case(Stage::Decide, "x.xx", Status::Stopped, false)]
#[case(Stage::Observe, "..xx", Status::Stopped, true)]
#[case(Stage::State, "....", Status::Pass, false)]
#[case(Stage::Report, "....", Status::Fail, false)]
#[case(Stage::Fork, "....", Status::Pass, true)]
fn a_rule_that_panics_lets_nothing_pass(
    #[case] fails: Stage,
    #[case] calls: &str,
    #[case] status: Status,
    #[case] hidden: bool,
) {
    let (policy, session) = (policy(fails, 1, None, None), session(&["pay", "look", "pay", "pay"]));
    let replay = Replay::new(&session, &policy, Mode::Enforce);
    assert_eq!((stopped(&replay).as_str(), replay.status()), (calls, status));
    assert_eq!(replay.objects(), status != Status::Pass);
    let alone = outcomes(&session, &policy, Mode::Enforce);
    assert_eq!((alone.summary, alone.status, &alone.rules[..]), (replay.summary(), status, replay.rules()));

    for call in replay.calls().iter().filter(|call| call.decision.verdict == Verdict::Deny) {
        let finding = call.decision.deciding().unwrap();
        assert_eq!((finding.rule, finding.effect, finding.code), (RuleId(0), Effect::Deny, code::RULE_FAULT));
        assert_eq!(call.decision.told.as_deref(), Some("[permission denied: rule_fault]"));
    }
    // Where the state is lost, the session is not said to have held.
    let lost = matches!(fails, Stage::Start | Stage::Wake | Stage::Observe | Stage::Report);
    assert_eq!(replay.rules().iter().filter(|state| is_fault(state)).count(), usize::from(lost));
    assert_eq!(replay.rules().len(), 1);

    // The last turn: its offered tools, its state, its checks. It is so late that the run is copied on the way to it.
    let late = session_of(std::iter::repeat_n("look", 64).chain(["pay", "look", "pay", "pay"]));
    let frame = Replay::new(&late, &policy, Mode::Enforce).frame(68).unwrap();
    let pay = frame.narrowing.tools.iter().find(|tool| &*tool.tool == "pay").unwrap();
    assert_eq!(
        pay.reasons.iter().map(|reason| reason.code).collect::<Vec<_>>(),
        match hidden {
            true => vec![code::RULE_FAULT],
            false => vec![],
        }
    );
    assert!(frame.narrowing.tools.iter().any(|tool| &*tool.tool == "look" && tool.visible()));
    let listed = frame.state.iter().any(|item| match item {
        StateItem::Kept { rule: RuleId(0), facts, .. } => facts.downcast_ref::<LostUnit>().is_some(),
        _ => false,
    });
    assert_eq!(listed, lost && fails != Stage::Report || matches!(fails, Stage::State | Stage::Fork));
    if fails == Stage::Fork {
        assert_eq!(frame.calls[0].verdict, Verdict::Deny, "what could not be copied is not asked");
    }
    if fails == Stage::Decide {
        let [check] = frame.calls[0].checks.as_slice() else { panic!("{:?}", frame.calls) };
        assert_eq!((check.passed, check.code), (false, Some(code::RULE_FAULT)));
    }
}

#[test]
fn a_live_host_is_told_to_stop_as_well() {
    let policy = policy(Stage::Observe, 1, None, None);
    for depth in [Depth::Verdict, Depth::Findings, Depth::Checks] {
        let mut run = Run::new(&policy, Mode::Enforce, depth, &Arc::new(Facts::default()));
        let call = NewCall { tool: "pay", arguments: &Body::text("{}") };
        let (ticket, decision) = run.propose(call);
        assert_eq!(decision.verdict, Verdict::Allow);
        run.resolve(ticket, Outcome::Ok, &Body::MISSING);
        // From the call right after the one that was recorded, and in every copy.
        assert_eq!(run.propose(call).1.verdict, Verdict::Deny, "{depth:?}");
        let mut copy = run.fork();
        assert_eq!(copy.propose(call).1.verdict, Verdict::Deny, "{depth:?}");
        assert!(!copy.narrow(&["pay".into()])[0].visible());
        assert!(run.report(End::SoFar).iter().all(is_fault) && !run.report(End::Complete).is_empty());
    }
}

#[test]
fn in_shadow_it_is_told_too() {
    let session = session(&["pay", "look", "pay"]);
    let replay = Replay::new(&session, &policy(Stage::Decide, 1, None, None), Mode::Shadow);
    assert_eq!((stopped(&replay).as_str(), replay.objects()), ("x.x", true));
}

/// A deadline belongs to no call, so its fault stops those that come after.
#[test]
fn a_timer_that_panics_stops_what_comes_after() {
    let session = session(&["look", "look", "pay", "look", "pay"]);
    let replay = Replay::new(&session, &policy(Stage::Observe, 1, None, Some(3)), Mode::Enforce);
    assert_eq!(stopped(&replay), "....x");
    assert!(replay.rules().iter().all(is_fault));
    // Where only verdicts are wanted, it fires with the third call as well, and stops the fourth.
    let session = self::session(&["look", "look", "pay", "pay"]);
    let alone = outcomes(&session, &policy(Stage::Observe, 1, None, Some(3)), Mode::Enforce);
    assert_eq!((alone.summary.allow, alone.summary.deny), (3, 1));
}

/// Of several rules the one is named that was evaluated; where nobody can know which, the sentence says so.
#[test]
fn the_rule_that_failed_is_named() {
    let session = session(&["pay"]);
    for (asks, id, sentence) in [
        (Some(2), "toy.yaml#/2", "the rule failed while it checked the call: "),
        (None, "toy.yaml#/0", "this rule, or one that shares its state, failed while it checked the call: "),
    ] {
        let replay = Replay::new(&session, &policy(Stage::Decide, 3, asks, None), Mode::Enforce);
        let finding = replay.calls()[0].decision.deciding().unwrap();
        let said = finding.explain(replay.policy().rules(), &session).unwrap();
        assert_eq!((&*said.rule.id, said.headline.to_string()), (id, format!("{sentence}{SHOWN}")));
        let replay = Replay::new(&session, &policy(Stage::Narrow, 3, asks, None), Mode::Enforce);
        let frame = replay.frame(1).unwrap();
        let pay = frame.narrowing.tools.iter().find(|tool| &*tool.tool == "pay").unwrap();
        assert_eq!(pay.reasons[0].rule, RuleId(asks.unwrap_or_default() as u32));
    }
}

/// A sequence policy under which `pay` is stopped at once.
fn limited(action: &str, reason: &str) -> Arc<Policy> {
    let text = format!(
        "{{forbidden: [], limits: {{pay: {{maxPerSession: 0, action: {action}, reason: '{reason}', tellLLM: No.}}}}}}"
    );
    let name: Arc<str> = "p.yaml".into();
    let file = PolicyFile { relative: Arc::clone(&name), name, text: text.into(), named: true };
    let loaded = Policy::load(&[file], None);
    loaded.policy.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The reason is for telemetry alone; that it is another one is a change all the same.
#[test]
fn another_reason_is_a_change() {
    let session = session(&["look", "pay"]);
    for (reason, kinds) in [("cost:limit", vec![]), ("security:limit", vec![Kind::OtherReason])] {
        let (base, new) = (limited("deny", "cost:limit"), limited("deny", reason));
        let compared = Comparison::new(Base::Version(base), new).session(&session, Mode::Enforce);
        assert_eq!(compared.changes().iter().map(|change| change.kind).collect::<Vec<_>>(), kinds);
    }
}

/// After a halt everything is another session, also where the recording refused the call as well.
#[test]
fn what_follows_a_halt_is_counterfactual() {
    let policy = limited("halt", "cost:limit");
    let call = |id: &str, tool: &str| json!({"id": id, "function": {"name": tool, "arguments": "{}"}});
    let answer = |id: &str, refused: bool| json!({"role": "tool", "tool_call_id": id, "content": "x", "refused": refused});
    let text = json!({"id": "s", "messages": [
        {"role": "assistant", "tool_calls": [call("a", "look"), call("b", "pay"), call("c", "look")]},
        answer("a", false), answer("b", true), answer("c", false),
        {"role": "assistant", "tool_calls": [call("d", "look")]},
        answer("d", false),
    ]});
    let reading = open("s.json", Box::new(Cursor::new(text.to_string())), &Options::default()).unwrap();
    let session = Arc::new({ reading }.next().unwrap());
    let replay = Replay::new(&session, &policy, Mode::Enforce);
    let calls = replay.calls().iter().map(|call| (call.decision.verdict.word(), call.counterfactual));
    let expected = [("allow", false), ("halt", false), ("not_reached", true), ("not_reached", true)];
    assert_eq!(calls.collect::<Vec<_>>(), expected);
}

mod shown {
    use rulestep::report::{Judged, Look, Scope, json, text};

    use super::*;

    fn written(fails: Stage, scope: Scope) -> (Value, String) {
        let (policy, session) = (policy(fails, 1, None, None), session(&["pay", "look", "pay"]));
        let judged = Judged::new(Arc::clone(&session), &policy, Mode::Enforce, scope);
        let (mut as_json, mut as_text) = (Vec::new(), Vec::new());
        json::session(&judged, scope, &mut as_json).unwrap();
        text::session(&judged, &Look { scope, color: false }, &mut as_text).unwrap();
        (serde_json::from_slice(&as_json).unwrap(), String::from_utf8(as_text).unwrap())
    }

    /// Every output names the rule, the code and the panic's message, on one line and without its escape sequence.
    #[rstest]
    #[case(Stage::Start, "the rule failed when the session started")]
    #[case(Stage::Wake, "the rule failed while it looked up the tool's name")]
    #[case(Stage::Decide, "the rule failed while it checked the call")]
    #[case(Stage::Observe, "the rule failed while it recorded what happened")]
    #[case(Stage::Report, "the rule failed while it checked the whole session")]
    fn it_is_named_with_its_reason(#[case] fails: Stage, #[case] sentence: &str) {
        let (json, text) = written(fails, Scope::Findings);
        let wanted = format!("{sentence}: {SHOWN}");
        assert!(text.contains(&wanted) && text.contains("rule_fault"), "{text}");
        assert!(text.contains("toy.yaml:1"), "{text}");
        assert!(!text.contains('\x1b'));
        let findings =
            json["turns"].as_array().unwrap().iter().flat_map(|turn| turn["calls"].as_array().unwrap());
        let findings: Vec<&Value> = findings.flat_map(|call| call["findings"].as_array().unwrap()).collect();
        for finding in &findings {
            assert_eq!((&finding["rule"], &finding["code"]), (&json!("toy.yaml#/0"), &json!("rule_fault")));
            assert_eq!(finding["message"], json!(wanted));
        }
        assert_eq!(findings.is_empty(), fails == Stage::Report);
        let rule = &json["rules"][0];
        let fault = json!({"stage": fails, "why": SHOWN});
        match fails {
            Stage::Decide => assert_eq!((&rule["outcome"], &rule["fault"]), (&json!("held"), &Value::Null)),
            _ => {
                assert_eq!((&rule["outcome"], &rule["code"]), (&json!("violated"), &json!("rule_fault")));
                assert_eq!(rule["fault"], fault);
            }
        }
    }

    /// What decides nothing is still seen where it matters: a hidden tool, a state that cannot be listed.
    #[rstest]
    #[case(Stage::Narrow)]
    #[case(Stage::State)]
    fn what_stops_no_call_is_seen_in_full(#[case] fails: Stage) {
        let (json, _) = written(fails, Scope::Full);
        let fault = json!({"stage": fails, "why": SHOWN});
        let hidden = &json["turns"][1]["tools"]["hidden"];
        let state = &json["state_end"];
        match fails {
            Stage::Narrow => {
                let reason =
                    json!({"rule": "toy.yaml#/0", "rule_name": "toy", "code": "rule_fault", "fault": fault});
                assert_eq!(*hidden, json!([{"tool": "pay", "reasons": [reason]}]));
            }
            _ => {
                let listed = state.as_array().unwrap();
                let fault = json!({"rule": "toy.yaml#/0", "kind": "fault", "fault": fault});
                assert!(listed.contains(&fault), "{state}");
            }
        }
    }

    #[test]
    fn its_page_says_what_follows() {
        let page = rulestep_engine::dialect::page(code::RULE_FAULT.as_str()).unwrap();
        for word in ["denied", "hidden", "violated", "report it"] {
            assert!(page.text.contains(word), "{word}");
        }
    }
}
