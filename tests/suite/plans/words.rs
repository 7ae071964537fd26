//! What people and programs are told of a plan's check.

use rstest::rstest;
use rulestep::report::{json as lines, words};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use super::{policy, session};

fn replay(conditions: &Value) -> Replay {
    let call = json!({"function": {"name": "act", "arguments": "{}"}});
    let messages = json!([
        {"role": "user", "content": "first of all: cancel it, and then\ntell me when that is done, will you?"},
        {"role": "assistant", "content": "Sure?"}, {"role": "user", "content": 42}, {"role": "user", "content": "yes"},
        {"role": "assistant", "content": "Now.", "tool_calls": [call]},
    ]);
    Replay::new(
        &session(&json!({"messages": messages})),
        &policy(&json!({"conditions": conditions})),
        Mode::Enforce,
    )
}

#[rstest]
#[case(json!([{"type": "regex", "regex": "^yes", "target": {"role": "user"}}]),
    r#"the user's newest message contains `^yes`: "yes""#, "it passes once the user's newest message does not contain `^yes`")]
#[case(json!([{"type": "regex", "regex": "no", "target": {"role": "assistant"}, "negate": true}]),
    r#"the model's newest message (this turn's own) does not contain `no`: "Now.""#, "it passes once the model's newest message contains `no`")]
#[case(json!([{"type": "regex", "regex": "cancel", "target": {"position": 0}}]),
    r#"the oldest message contains `cancel`: "first of all: cancel it, and then\ntell me when…""#, "it passes once the oldest message does not contain `cancel`")]
#[case(json!([{"type": "regex", "regex": "will", "target": {"role": "user", "position": -3}}]),
    r#"the user's 3rd newest message contains `will`: "…n that is done, will you?""#, "it passes once the user's 3rd newest message does not contain `will`")]
#[case(json!([{"type": "regex", "regex": "x", "target": {"position": 11}, "negate": true}]),
    "the 12th message does not exist, so it does not contain `x`", "it passes once the 12th message contains `x`")]
#[case(json!([{"type": "regex", "regex": "x", "target": {"role": "user", "position": 1}}]),
    "the user's 2nd message is not text (the message is neither text nor a list of parts)", "it passes once the user's 2nd message does not contain `x`")]
#[case(json!([{"type": "regex", "regex": "("}]),
    "the pattern cannot be used: this group is not closed at offset 0", "fix the plan: as it is written it rejects every call")]
#[case(json!("no list"),
    "the plan cannot be evaluated, so it rejects the call: expected a list for `conditions`, found text", "fix the plan: as it is written it rejects every call")]
#[case(json!([{"type": "liquid", "liquid": "{{ messages.size }}"}]),
    r#"`{{ messages.size }}` prints "5""#, "it passes once the template prints false")]
#[case(json!([{"type": "liquid", "liquid": "{{ now }}"}]),
    "the template reads the clock, and the session has no time", "it passes once the template prints false")]
#[case(json!([{"type": "group", "operator": "OR", "conditions": [
        {"type": "regex", "regex": "nothing"}, {"type": "regex", "regex": "N"}, {"type": "regex", "regex": "w", "negate": false}]}]),
    r#"the newest message (this turn's own) contains `N`: "Now." and the newest message (this turn's own) contains `w`: "Now.""#,
    "it passes once the newest message does not contain `N` and the newest message does not contain `w`")]
fn why_and_the_way_out(#[case] conditions: Value, #[case] why: &str, #[case] way_out: &str) {
    let replay = replay(&conditions);
    let finding = replay.call(0).unwrap().decision.deciding().unwrap();
    let explanation = finding.explain(replay.policy().rules(), replay.session()).unwrap();
    assert_eq!(explanation.headline.to_string(), why);
    assert_eq!(explanation.way_out.map(|way| way.to_string()).as_deref(), Some(way_out));
}

#[rstest]
#[case(json!([]), "the plan has no conditions", &[])]
#[case(json!([{"type": "regex", "regex": "yes"}, {"type": "liquid", "liquid": "true"}]),
    r#"the newest message (this turn's own) does not contain `yes`: "Now.""#,
    &[r#"not matched: the newest message (this turn's own) does not contain `yes`: "Now.""#, r#"matched: `true` prints "true""#])]
#[case(json!([{"type": "group", "operator": "AND", "conditions": [{"type": "regex", "regex": "["}, {"type": "regex", "regex": "no"}]}]),
    r#"the newest message (this turn's own) does not contain `no`: "Now.""#,
    &["not matched: all of 2 conditions must match, 1 did",
      "  counts as matched: the pattern cannot be used: this character class is not closed at offset 0",
      r#"  not matched: the newest message (this turn's own) does not contain `no`: "Now.""#])]
fn why_a_plan_lets_a_call_pass(#[case] conditions: Value, #[case] why: &str, #[case] tree: &[&str]) {
    let replay = replay(&conditions);
    let check = replay.frame(2).unwrap().calls[0].checks[0].clone();
    assert!(check.passed);
    let explanation = check.explain(replay.policy().rules(), replay.session()).unwrap();
    assert_eq!(explanation.headline.to_string(), why);
    let lines = words::details(&explanation.lines);
    assert_eq!(lines, tree);
}

#[test]
fn a_check_as_data() {
    let replay = replay(&json!([
        {"type": "regex", "regex": "yes", "target": {"role": "user", "position": -1}},
        {"type": "group", "operator": "OR", "conditions": [{"type": "liquid", "liquid": "{{ messages.size }}"}, {"type": "regexp"}]},
        {"type": "regex", "regex": "x", "target": {"position": 9}},
    ]));
    let mut out = Vec::new();
    lines::call(&replay, &replay.frame(2).unwrap(), &replay.session().calls[0], None, false, &mut out)
        .unwrap();
    let line: Value = serde_json::from_slice(&out).unwrap();
    let check = &line["call"]["checks"][0];
    assert_eq!(check["matched"], json!([true, true, false]));
    let tree = &check["tree"];
    let keys: Vec<&String> = tree.as_object().unwrap().keys().take(5).collect();
    assert_eq!(keys, ["kind", "value", "text", "unevaluable", "conditions"]);
    assert_eq!(
        (&tree["kind"], &tree["value"], &tree["text"], &tree["unevaluable"]),
        (&json!("plan"), &json!(false), &json!(null), &json!(null))
    );
    let [first, group, last] = [0, 1, 2].map(|at| &tree["conditions"][at]);
    assert_eq!((&first["kind"], &first["text"]), (&json!("regex"), &json!("yes")));
    assert_eq!(
        first["target"],
        json!({"role": "user", "position": -1, "message": {"index": 3, "role": "user", "own": false}})
    );
    assert_eq!(group["operator"], "OR");
    let causes: Vec<&Value> =
        group["conditions"].as_array().unwrap().iter().map(|inner| &inner["unevaluable"]).collect();
    assert_eq!(
        causes,
        [
            "the template prints neither `true` nor `false`",
            "`type`: expected `regex`, `liquid` or `group`, found `regexp`"
        ]
    );
    assert_eq!((&last["text"], &last["target"]["message"]), (&json!(null), &json!(null)));
}

/// A platform may count the call itself as the model's newest message, and a plan may hang on that.
#[test]
fn what_hangs_on_the_call_as_a_message_says_so() {
    let call = json!({"function": {"name": "act", "arguments": "{}"}});
    let messages = json!([
        {"role": "assistant", "content": "may I?"}, {"role": "user", "content": "yes"},
        {"role": "assistant", "tool_calls": [call]},
    ]);
    let condition = |position: i64| json!([{"type": "regex", "regex": "may I", "target": {"role": "assistant", "position": position}, "negate": true}]);
    for (pending, position, note) in [
        (
            "left_out",
            -2,
            Some("; if the call counted as a message (`pending_call: counts`), the plan would let it pass"),
        ),
        (
            "counts",
            -2,
            Some(
                "; if the call did not count as a message (`pending_call: left_out`), the plan would reject it",
            ),
        ),
        ("counts", 0, None),
        ("left_out", -9, None),
    ] {
        let plan = json!({"pending_call": pending, "conditions": condition(position)});
        let replay = Replay::new(&session(&json!({"messages": messages})), &policy(&plan), Mode::Enforce);
        let check = replay.frame(2).unwrap().calls[0].checks[0].clone();
        let said = check.explain(replay.policy().rules(), replay.session()).unwrap().headline.to_string();
        match note {
            Some(note) => assert!(said.ends_with(note), "{said}"),
            None => assert!(!said.contains("pending_call"), "{said}"),
        }
    }
}
