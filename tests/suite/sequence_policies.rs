//! Sequence policies: the measured cases, and what is said of documents.

use rulestep_engine::replay::{Replay, outcomes};
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use crate::policies::{Recording, of_dialect, policy, said};

/// The case's session: every call of it would succeed.
fn replay(case: &Value) -> Replay {
    let policy = policy("policy.json", &of_dialect("sequence_policy", case["policy"].clone()));
    let mut recording = Recording::new();
    for turn in case["turns"].as_array().unwrap() {
        let calls = turn.as_array().unwrap().iter();
        recording = recording.turn(calls.map(|call| (call["tool"].as_str().unwrap(), &call["args"], true)));
    }
    Replay::new(&recording.finish(), &policy, Mode::Enforce)
}

/// What became of every call, in the shape of `expect`.
fn verdicts(replay: &Replay) -> Vec<Value> {
    let calls = replay.session().calls.iter().zip(replay.calls());
    let verdict = calls.map(|(call, judged)| {
        let mut verdict = json!({"tool": *call.tool, "decision": judged.decision.verdict.word()});
        if let Some(finding) = judged.decision.deciding() {
            verdict["reason"] = json!(finding.reason);
            verdict["tell_llm"] = json!(judged.decision.told);
            assert_eq!(judged.decision.told, finding.tell_llm);
        }
        verdict
    });
    verdict.collect()
}

#[test]
fn the_measured_cases() {
    let cases: Vec<Value> = include_str!("../conformance/agentfootprint.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(cases.len(), 300);
    let (mut wrong, mut halts) = (Vec::new(), 0);
    for case in &cases {
        let alternative = case.get("expect_if_refusals_never_count");
        let expected: Vec<Value> = alternative
            .unwrap_or(&case["expect"])
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|turn| turn.as_array().unwrap().clone())
            .collect();
        let replay = replay(case);
        let actual = verdicts(&replay);
        if actual != expected {
            wrong.push(format!("{}: expected {expected:?}\n got {actual:?}", case["id"]));
        }
        let halting = expected.iter().position(|verdict| verdict["decision"] == "halt");
        assert_eq!(replay.halt().is_some(), halting.is_some(), "{}", case["id"]);
        let Some(halt) = replay.halt() else { continue };
        halts += 1;
        let cause = halt.cause().unwrap();
        if alternative.is_none() {
            assert_eq!(json!(cause.policy), case["halt"]["policy"], "{}", case["id"]);
            assert_eq!(json!(halt.at.turn), case["halt"]["turn"], "{}", case["id"]);
        }
        // The allowed calls, then the halting one.
        let before = expected.iter().take(halting.unwrap());
        let sequence =
            before.filter(|verdict| verdict["decision"] == "allow").map(|verdict| &verdict["tool"]);
        let dispatched = cause.dispatched.iter().map(|(_, tool)| *tool).chain([&*halt.tool]);
        let dispatched: Vec<Value> = dispatched.map(|tool| json!(tool)).collect();
        let sequence: Vec<Value> = sequence.chain([&expected[halting.unwrap()]["tool"]]).cloned().collect();
        assert_eq!(dispatched, sequence, "{}", case["id"]);
        // A halt is whole even where nothing else is told.
        let short = outcomes(replay.session(), replay.policy(), Mode::Enforce);
        assert_eq!(short.halt.as_ref(), replay.halt(), "{}", case["id"]);
        assert_eq!(short.summary, replay.summary(), "{}", case["id"]);
    }
    assert!(wrong.is_empty(), "{} of 300 differ, the first:\n{}", wrong.len(), wrong[0]);
    assert!(halts > 80, "only {halts} halts");
}

#[test]
fn mistakes_are_told_with_line_and_column() {
    let rule = |rule: &str| said(&format!("forbidden:\n  - {rule}\n"));
    let cases = [
        (
            rule("{sequence: [a], action: stop, reason: a:b}"),
            "p.yaml:2:29: error[bad_value]: `action`: expected `deny` or `halt`, found `stop`",
        ),
        (
            rule("{sequence: [{}], action: deny, reason: a:b}"),
            "p.yaml:2:17: error[missing_key]: the key `namePrefix` is missing",
        ),
        (
            rule("{sequence: [a, namePrefix:slack.], action: halt, reason: a:b}"),
            "p.yaml:2:20: error[matches_nothing]: this is the name of a tool: after the colon of a key comes a blank",
        ),
        (
            rule("{sequence: [{namePrefix: a, x: 1}], action: deny, reason: a:b}"),
            "p.yaml:2:33: error[unknown_key]: unknown key `x`",
        ),
        (
            rule("{sequence: [7], action: deny, reason: a:b}"),
            "p.yaml:2:17: error[wrong_type]: expected text, found a number",
        ),
        (
            rule("{sequence: a, action: deny, reason: a:b}"),
            "p.yaml:2:16: error[wrong_type]: expected a list for `sequence`, found text",
        ),
        (rule("{sequence: [a], reason: a:b}"), "p.yaml:2:6: error[missing_key]: the key `action` is missing"),
        (
            rule("{sequence: [a], action: deny}"),
            "p.yaml:2:6: error[missing_key]: the key `reason` is missing",
        ),
        (
            rule("{action: deny, reason: a:b}"),
            "p.yaml:2:6: error[missing_key]: the key `sequence` is missing",
        ),
        (
            rule("{sequence: [a], action: deny, reason: a:b, tellLlm: x}"),
            "p.yaml:2:48: error[unknown_key]: unknown key `tellLlm`, did you mean `tellLLM`?",
        ),
        (
            rule("{sequence: [a], action: deny, reason: a:b, tellLLM: 1}"),
            "p.yaml:2:57: error[wrong_type]: expected text for `tellLLM`, found a number",
        ),
        (
            said("limits:\n  a: {maxPerSession: -1, action: deny, reason: a:b}\n"),
            "p.yaml:2:22: error[bad_value]: expected a whole number from 0 for `maxPerSession`, found `-1`",
        ),
        (
            said("limits:\n  a: {action: deny, reason: a:b}\n"),
            "p.yaml:2:3: error[missing_key]: the key `maxPerSession` is missing",
        ),
        (
            said("limits: [a]\n"),
            "p.yaml:1:9: error[wrong_type]: expected a mapping for `limits`, found a list",
        ),
        (
            said("limits: {}\nforbiden: []\n"),
            "p.yaml:2:1: error[unknown_key]: unknown key `forbiden`, did you mean `forbidden`?",
        ),
        (
            said("forbidden: []\nid: 3\n"),
            "p.yaml:2:5: error[wrong_type]: expected text for `id`, found a number",
        ),
    ];
    let wrong: Vec<_> = cases.iter().filter(|(said, expected)| said != &[*expected]).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_probably_not_meant_is_told() {
    let cases = [
        (
            "forbidden:\n  - {sequence: [a], action: deny, reason: too many}\n",
            "p.yaml:2:43: warning[reason_without_category]: the reason `too many` names no category",
        ),
        (
            "limits:\n  a: {maxPerSession: 3, action: deny, reason: cost:a, tellLLM: 'no more {tool}'}\n",
            "p.yaml:2:64: notice[tell_llm_leaks]: the text for the model holds `{tool}`: a placeholder, which is not filled in",
        ),
        (
            "limits:\n  a: {maxPerSession: 3, action: deny, reason: cost:a, tellLLM: not ./secrets/key}\n",
            "p.yaml:2:64: notice[tell_llm_leaks]: the text for the model holds `./secrets/key`: a path",
        ),
        (
            "forbidden:\n  - {sequence: [a], action: halt, reason: security:leak, tellLLM: 'stopped: security:leak'}\n",
            "p.yaml:2:67: warning[tell_llm_repeats_reason]: the text for the model repeats the reason `security:leak`",
        ),
        (
            "forbidden:\n  - {sequence: [a, a], action: deny, reason: cost:a}\nlimits:\n  a: {maxPerSession: 3, action: deny, reason: cost:a}\n",
            "p.yaml:4:47: warning[reason_shared]: a forbidden rule gives the reason `cost:a` as well",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(said(text), [expected], "{text}");
    }
    let clean = "id: x\nforbidden:\n  - {sequence: [a, {namePrefix: b}], action: halt, reason: security:x, tellLLM: Not now.}\nlimits: {}\n";
    assert_eq!(said(clean), Vec::<String>::new());
}

#[test]
fn limits_checks_and_the_halt_are_in_the_data() {
    use rulestep::report::Scope;

    let text = "id: desk\nforbidden:\n  - {sequence: [read, {namePrefix: mail.}], action: halt, reason: security:x}\n\
                limits:\n  pay: {maxPerSession: 2, action: deny, reason: cost:x, tellLLM: no}\n";
    let policy = policy("p.yaml", text);
    let none = json!({});
    let session = Recording::new()
        .turn([("pay", &none, true), ("pay", &none, false), ("pay", &none, true)])
        .turn([("read", &none, true), ("mail.send", &none, true), ("read", &none, true)])
        .finish();
    let whole = crate::policies::json(&session, &policy, Scope::Full);
    let limit = |used: u64| json!([{"rule": "p.yaml#/limits/pay", "kind": "limit", "tool": "pay", "used": used, "allowed": 2}]);
    assert_eq!((&whole["turns"][0]["state"], &whole["state_end"]), (&limit(0), &limit(2)));
    let step = |turn: u32, call: u32, index: u32, tool: &str| json!({"turn": turn, "call": call, "index": index, "tool": tool, "arguments": {}});
    let halt = json!({
        "policy": "desk", "turn": 2, "call": 2, "index": 4,
        "sequence": [step(1, 1, 0, "pay"), step(1, 2, 1, "pay"), step(2, 1, 3, "read"), step(2, 2, 4, "mail.send")],
        "reason": "security:x", "tell_llm": "Tool 'mail.send' is not available in this context.",
    });
    assert_eq!(whole["halt"], halt);
    assert_eq!(crate::policies::json(&session, &policy, Scope::Summary)["halt"], halt);
    let finding = &whole["turns"][0]["calls"][2]["findings"][0];
    assert_eq!(
        (&finding["dialect"], &finding["code"], &finding["reason"], &finding["tell_llm"]),
        (&json!("sequence_policy"), &json!("limit_reached"), &json!("cost:x"), &json!("no"))
    );
    assert_eq!(finding["source"], json!({"file": "p.yaml", "line": 5, "column": 8}));
    let found: Vec<&Value> =
        finding["found"].as_array().unwrap().iter().map(|found| &found["index"]).collect();
    assert_eq!(found, [1, 0]);
    let checks = &whole["turns"][1]["calls"][1]["checks"];
    assert_eq!(checks[0]["detail"], json!({"policy": "desk", "sequence": ["read", {"namePrefix": "mail."}]}));
    let hidden = &whole["turns"][1]["tools"]["hidden"];
    assert_eq!(
        *hidden,
        json!([{"tool": "pay", "reasons": [{"rule": "p.yaml#/limits/pay", "rule_name": "limit on pay", "code": "limit_reached"}]}])
    );
}

/// A late result is dispatched from the turn after it on, in the place of its call.
#[test]
fn late_results_stand_where_their_calls_do() {
    use rulestep_base::session::build::{Builder, Mark};
    use rulestep_base::session::{Body, Origin};

    let text = "forbidden:\n  - {sequence: [a, b, c], action: halt, reason: security:x}\n";
    let origin = Origin { file: "case".into(), index: 0, format: "native", line: 1 };
    let mut builder = Builder::new("late", origin);
    let mut turn = |calls: &[&str], results: &[&str]| {
        builder.response(None, Body::MISSING, None);
        for tool in calls {
            builder.call(Some(tool), tool, Body::text("{}"), None);
        }
        for id in results {
            builder.result(Some(id), Body::text("done"), Mark::default(), None);
        }
    };
    // `a` answers after `b`, in the turn of `d`.
    turn(&["a", "b"], &["b"]);
    turn(&["d"], &["a"]);
    turn(&["c"], &["c"]);
    let session = std::sync::Arc::new(builder.finish());
    let replay = Replay::new(&session, &policy("p.yaml", text), Mode::Enforce);
    let halt = replay.halt().unwrap();
    let tools: Vec<&str> = halt.cause().unwrap().dispatched.iter().map(|(_, tool)| *tool).collect();
    // `d` has no result, so it is in flight and breaks nothing.
    assert_eq!((halt.at.index, tools), (3, vec!["a", "b"]));
}
