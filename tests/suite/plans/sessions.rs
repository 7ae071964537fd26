//! What a plan sees of a session: the turn's own message, calls, told texts, variables, the instant; and when it hides.

use std::sync::Arc;

use rstest::rstest;
use rulestep_base::session::{Body, Facts, Message, MessageKind, ToolCall};
use rulestep_engine::dialect::rejection_plans::facts::{Cause, ConditionKind, Plan};
use rulestep_engine::monitor::{Depth, History};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, NewCall, Run, Verdict};
use rulestep_template::js_regex::DEFAULT_BUDGET;
use serde_json::{Value, json};

use super::{check, facts, policy, session};

fn regex(pattern: &str, role: Option<&str>, position: i64) -> Value {
    json!({"conditions": [{"type": "regex", "regex": pattern, "target": {"role": role, "position": position}}]})
}

/// Prints the expression, and matches if that is `expected`.
fn prints(expression: &str, expected: &str) -> Value {
    let template = format!(
        "{{% capture it %}}{expression}{{% endcapture %}}{{% if it == '{expected}' %}}true{{% else %}}false{{% endif %}}"
    );
    json!({"conditions": [{"type": "liquid", "liquid": template}]})
}

fn said(role: &str, content: impl Into<Value>) -> Value {
    json!({"role": role, "content": content.into()})
}

/// A response that calls tools; their ids are `TOOL1` and so on.
fn calls(content: impl Into<Value>, tools: &[&str]) -> Value {
    let call = |(at, tool): (usize, &&str)| {
        json!({"id": format!("{tool}{}", at + 1), "type": "function",
               "function": {"name": tool, "arguments": format!("{{\"n\": {at}}}")}})
    };
    json!({"role": "assistant", "content": content.into(), "tool_calls": tools.iter().enumerate().map(call).collect::<Vec<_>>()})
}

fn result(id: &str, content: impl Into<Value>) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content.into()})
}

/// Whether each call of the session is rejected.
fn rejected(native: &Value, plan: &Value, mode: Mode) -> Vec<bool> {
    let replay = Replay::new(&session(native), &policy(plan), mode);
    replay.calls().iter().map(|judged| judged.decision.verdict == Verdict::Deny).collect()
}

#[track_caller]
fn last_is_rejected(messages: Vec<Value>, plan: &Value, expected: bool) {
    let native = json!({"messages": messages});
    for mode in [Mode::Enforce, Mode::Shadow] {
        assert_eq!(rejected(&native, plan, mode).pop(), Some(expected), "{native} {plan}");
    }
}

#[rstest]
#[case::text(json!("cancelling now"), true)]
#[case::parts(json!([{"type": "text", "text": "cancelling"}, {"type": "text", "text": "now"}]), true)]
#[case::none(json!(null), false)]
#[case::empty(json!(""), false)]
#[case::parts_without_text(json!([{"type": "image_url", "image_url": {}}]), false)]
fn the_turns_own_message_counts_when_it_has_text(#[case] own: Value, #[case] expected: bool) {
    let messages = vec![said("assistant", "shall I?"), said("user", "yes"), calls(own, &["act"])];
    last_is_rejected(messages.clone(), &regex("cancelling", Some("assistant"), -1), expected);
    last_is_rejected(messages.clone(), &regex("shall", Some("assistant"), -1), !expected);
    last_is_rejected(messages.clone(), &regex("shall", Some("assistant"), -2), expected);
    last_is_rejected(messages.clone(), &regex("yes", None, -1), !expected);
    last_is_rejected(messages.clone(), &regex("cancelling", None, 2), expected);
    last_is_rejected(messages, &regex("yes", Some("user"), -1), true);
}

/// Parts of one response count as messages of their own; those of this turn without text do not.
#[test]
fn several_messages_of_one_turn() {
    let part = |content: Value, tools: &[&str]| {
        let mut message = if tools.is_empty() { said("assistant", content) } else { calls(content, tools) };
        message["id"] = json!("m1");
        message
    };
    let turn = vec![
        said("user", "hi"),
        part(json!(null), &[]),
        part(json!("I look"), &[]),
        part(json!(null), &["act"]),
    ];
    last_is_rejected(turn.clone(), &regex("I look", Some("assistant"), -1), true);
    last_is_rejected(turn.clone(), &prints("{{ messages.size }}", "2"), true);
    let later = [turn, vec![calls(json!(null), &["act"])]].concat();
    last_is_rejected(later.clone(), &prints("{{ messages.size }}", "4"), true);
    last_is_rejected(later, &regex("^$", Some("assistant"), -1), true);
}

#[test]
fn templates_see_messages_in_the_chat_form() {
    let messages = vec![
        said("system", "be brief"),
        calls(json!("I check"), &["look", "find"]),
        result(
            "look1",
            json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]),
        ),
        result("find2", json!({"rows": [1, 2]})),
        calls(json!("now"), &["act", "other"]),
    ];
    let sees = |expression: &str, expected: &str| {
        let plan = prints(expression, expected);
        let native = json!({"messages": messages});
        assert_eq!(rejected(&native, &plan, Mode::Enforce), [false, false, true, false], "{expression}");
    };
    sees("{{ messages.size }}", "5");
    sees("{% for m in messages %}{{ m.role }} {% endfor %}", "system assistant tool tool assistant ");
    sees("{{ messages[1].content }}", "I check");
    sees(
        "{% for c in messages[1].tool_calls %}{{ c.id }} {{ c.type }} {{ c.function.name }} {{ c.function.arguments }};{% endfor %}",
        "look1 function look {\"n\": 0};find2 function find {\"n\": 1};",
    );
    sees(
        "{{ messages[2].tool_call_id }}={{ messages[2].content | newline_to_br | strip_newlines }}",
        "look1=a<br />b",
    );
    sees("{{ messages[3].content.rows[1] }}", "2");
    // The turn's own message knows all of its calls, also those after this one.
    sees("{{ messages[4].tool_calls | map: 'id' | join: '+' }}", "act1+other2");
    sees("{% if messages[0].tool_calls %}some{% else %}none{% endif %}", "none");
}

#[test]
fn what_stopped_calls_were_told_stands_in_the_history() {
    let native = json!({"messages": [
        said("user", "stop"), calls(json!(null), &["act"]), result("act1", "done"), calls(json!(null), &["act"]),
    ]});
    let stops = regex("stop|rejected based on configured", None, -1);
    assert_eq!(rejected(&native, &stops, Mode::Enforce), [true, true]);
    assert_eq!(rejected(&native, &stops, Mode::Shadow), [true, false]);
    let told =
        Replay::new(&session(&native), &policy(&stops), Mode::Enforce).call(0).unwrap().decision.told.clone();
    assert_eq!(told.as_deref(), Some("Tool call rejected based on configured rejection plan"));
}

#[rstest]
#[case(json!({"variables": {"tier": "gold"}, "context": {"tier": "tin"}}), "gold")]
#[case(json!({"variables": null, "context": {"tier": "tin"}}), "tin")]
#[case(json!({"context": {"tier": "tin"}}), "tin")]
#[case(json!({"variables": {}, "context": {"tier": "tin"}}), "")]
#[case(json!({"variables": {"now": 1, "messages": []}, "now": "2026-05-04T10:00:00Z"}), "")]
fn variables_else_the_context(#[case] mut native: Value, #[case] expected: &str) {
    native["messages"] = json!([calls(json!("text"), &["act"])]);
    assert_eq!(rejected(&native, &prints("{{ tier }}", expected), Mode::Enforce), [true]);
    if native.get("now").is_some() {
        assert_eq!(
            rejected(&native, &prints("{{ now }} {{ messages.size }}", "1777888800000 1"), Mode::Enforce),
            [true]
        );
    }
}

/// The turn's own time comes first, then the session's; a template that reads the clock needs one of them.
#[test]
fn the_instant() {
    let native = |at: Value, now: Value| {
        let mut own = calls(json!(null), &["act"]);
        own["at"] = at;
        json!({"messages": [own], "now": now})
    };
    let year = prints("{{ 'now' | date: '%Y' }}", "2026");
    let variable = prints("{% assign s = now | divided_by: 1000 %}{{ s | date: '%Y' }}", "2026");
    let (own, other) = (json!("2026-05-04T10:00:00Z"), json!("2020-01-01T00:00:00Z"));
    for plan in [&year, &variable] {
        assert_eq!(rejected(&native(own.clone(), other.clone()), plan, Mode::Enforce), [true]);
        assert_eq!(rejected(&native(json!(null), own.clone()), plan, Mode::Enforce), [true]);
        assert_eq!(rejected(&native(json!(null), other.clone()), plan, Mode::Enforce), [false]);
        let without = check(&session(&native(json!(null), json!(null))), &policy(plan), Mode::Enforce);
        assert_eq!(facts(&without).tree.conditions[0].unevaluable, Some(Cause::NoInstant));
        assert!(!without.passed);
    }
}

#[test]
fn the_check_shows_every_condition_and_what_it_looked_at() {
    let plan = json!({"conditions": [
        {"type": "regex", "regex": "no+", "target": {"role": "user"}, "negate": true},
        {"type": "group", "operator": "OR", "conditions": [
            {"type": "regex", "regex": "x", "target": {"position": 9}},
            {"type": "regex", "regex": "a", "target": {"position": 0}},
            {"type": "liquid", "liquid": " {{ messages.size | plus: 1 }} "},
        ]},
    ]});
    let native =
        json!({"messages": [said("user", 42), said("user", "oh nooo"), calls(json!("ok"), &["act"])]});
    let check = check(&session(&native), &policy(&plan), Mode::Enforce);
    let plan = facts(&check);
    assert!(check.passed && plan.matched == [false, true] && !plan.tree.value);
    let ConditionKind::Regex { seen: Some(seen), .. } = &plan.tree.conditions[0].kind else { panic!() };
    assert_eq!(
        (seen.message, &*seen.role, seen.own, seen.content.shown(), seen.found.clone()),
        (1, "user", false, "oh nooo", Some(3..7))
    );
    let inner = &plan.tree.conditions[1].conditions;
    assert!(matches!(&inner[0].kind, ConditionKind::Regex { seen: None, .. }) && !inner[0].value);
    assert_eq!((inner[1].value, &inner[1].unevaluable), (true, &Some(Cause::Content)));
    assert!(
        matches!(&inner[2].kind, ConditionKind::Liquid { printed: Some(printed), .. } if &**printed == "4")
    );
    assert_eq!((inner[2].value, &inner[2].unevaluable), (true, &Some(Cause::Printed)));
    assert_eq!(&*inner[2].pointer, "/rejectionPlan/conditions/1/conditions/2");
}

/// A budget is spent on the same text whatever the machine, and then the condition counts as matched, negated or not.
#[test]
fn a_spent_budget_counts_as_matched() {
    let text = "a".repeat(100_000) + "!";
    let plan = json!({"conditions": [{"type": "regex", "regex": r"^(.*)\1$", "negate": true}]});
    let native = json!({"messages": [said("user", text.as_str()), calls(json!(null), &["act"])]});
    let replay = Replay::new(&session(&native), &policy(&plan), Mode::Enforce);
    let found = replay.call(0).unwrap().decision.findings[0].facts.as_deref();
    let plan: &Plan = found.unwrap().downcast_ref().unwrap();
    let leaf = &plan.tree.conditions[0];
    assert_eq!((leaf.value, &leaf.unevaluable), (true, &Some(Cause::Budget(DEFAULT_BUDGET))));
    let endless = json!({"conditions": [{"type": "liquid", "liquid": "{% for i in (1..9999999) %}{{ i }}{% endfor %}"}]});
    let native = json!({"messages": [calls(json!(null), &["act"])]});
    let check = check(&session(&native), &policy(&endless), Mode::Enforce);
    assert!(!check.passed && facts(&check).tree.conditions[0].unevaluable.is_some());
}

#[rstest]
#[case::user(json!([{"type": "regex", "regex": "no", "target": {"role": "user"}}]), true)]
#[case::anyone(json!([{"type": "regex", "regex": "no"}]), false)]
#[case::model(json!([{"type": "regex", "regex": "sure", "target": {"role": "assistant"}}]), false)]
#[case::stands(json!([{"type": "regex", "regex": "sure", "target": {"role": "assistant", "position": 0}}]), true)]
#[case::may_come(json!([{"type": "regex", "regex": "sure", "target": {"role": "assistant", "position": 1}, "negate": true}]), false)]
#[case::no_messages(json!([{"type": "liquid", "liquid": "{% if tier == 'tin' %}true{% else %}false{% endif %}"}]), true)]
#[case::messages(json!([{"type": "liquid", "liquid": "{% if messages.size >= 0 %}true{% else %}false{% endif %}"}]), false)]
#[case::broken(json!([{"type": "regex", "regex": "("}]), true)]
#[case::one_depends(json!([{"type": "regex", "regex": "no", "target": {"role": "user"}}, {"type": "regex", "regex": "."}]), false)]
#[case::within_a_group(json!([{"type": "group", "operator": "OR", "conditions": [
    {"type": "regex", "regex": "no", "target": {"role": "user"}}, {"type": "regex", "regex": "."}]}]), false)]
#[case::not_matched(json!([{"type": "regex", "regex": "yes", "target": {"role": "user"}}]), false)]
#[case::empty(json!([]), false)]
#[case::no_list(json!("yes"), true)]
fn a_plan_hides_when_nothing_the_model_says_could_matter(#[case] conditions: Value, #[case] hidden: bool) {
    let native = json!({"context": {"tier": "tin"}, "tools": [{"name": "act"}, {"name": "look"}],
        "messages": [said("assistant", "sure?"), said("user", "no"), calls(json!("so"), &["look"])]});
    let replay = Replay::new(&session(&native), &policy(&json!({"conditions": conditions})), Mode::Enforce);
    let frame = replay.frame(2).unwrap();
    let reasons: Vec<_> = frame.narrowing.tools.iter().map(|tool| tool.reasons.len()).collect();
    assert_eq!(reasons, [usize::from(hidden), 0]);
}

/// Two plans for one tool are two rules; the earlier in the document decides, the other is kept.
#[test]
fn two_plans_for_one_tool_both_apply() {
    let plan = |pattern| json!({"type": "function", "function": {"name": "act"}, "rejectionPlan": regex(pattern, Some("user"), -1)});
    let document = json!({"model": {"provider": "x", "tools": [plan("n"), plan("o")]}, "tools": [plan("z")]});
    let file = PolicyFile {
        name: "a.json".into(),
        relative: "a.json".into(),
        text: document.to_string().into(),
        named: true,
    };
    let policy = Policy::load(&[file], None).policy.unwrap();
    let native = json!({"messages": [said("user", "no"), calls(json!(null), &["act"]), said("user", "o"), calls(json!(null), &["act"])]});
    let replay = Replay::new(&session(&native), &policy, Mode::Enforce);
    let rules = |index| -> Vec<u32> {
        replay.call(index).unwrap().decision.findings.iter().map(|finding| finding.rule.0).collect()
    };
    assert_eq!((rules(0), rules(1)), (vec![0, 1], vec![1]));
    assert_eq!(replay.frame(2).unwrap().calls[0].checks.len(), 3);
}

/// A live host says what the model said, and asks; a fork of its run knows the same.
#[test]
fn a_live_host_and_its_fork() {
    let policy = policy(&prints(
        "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}<{{ c.function.name }}>{% endfor %};{% endfor %}",
        "hi;well<look>;seen;<act>;go;",
    ));
    let message = |role: &str, content: Body, kind, calls: &[&str]| {
        let call =
            |tool: &&str| Arc::new(ToolCall { id: None, tool: (*tool).into(), arguments: Body::text("{}") });
        Message {
            role: role.into(),
            content,
            at: None,
            kind,
            calls: calls.iter().map(call).collect(),
            line: 0,
        }
    };
    let arguments = Body::text("{}");
    let mut run = Run::new(&policy, Mode::Enforce, Depth::Verdict, &Arc::new(Facts::default()));
    run.message(&message("user", Body::text("hi"), MessageKind::Said, &[]));
    run.begin_turn(None);
    run.respond(&message("assistant", Body::text("well"), MessageKind::Response(1), &["look"]));
    let _ = run.propose(NewCall { tool: "look", arguments: &arguments });
    run.end_turn();
    run.message(&message("tool", Body::text("seen"), MessageKind::Result(Some(0), None), &[]));
    let mut last = Vec::new();
    let mut go_on = |mut run: Run| {
        run.begin_turn(None);
        run.respond(&message("assistant", Body::MISSING, MessageKind::Response(2), &["act"]));
        last.push(run.propose(NewCall { tool: "act", arguments: &arguments }).1.verdict);
        run.end_turn();
        run.message(&message("user", Body::text("go"), MessageKind::Said, &[]));
        run.begin_turn(None);
        let (_, decision) = run.propose(NewCall { tool: "act", arguments: &arguments });
        assert!(decision.findings[0].facts.as_deref().unwrap().downcast_ref::<Plan>().is_some());
        last.push(decision.verdict);
    };
    go_on(run.fork());
    go_on(run);
    assert_eq!(last, [Verdict::Allow, Verdict::Deny, Verdict::Allow, Verdict::Deny]);
    assert!(History::default().is_empty());
}
