//! What is said of a plan's text, with line and column; and the places in which plans are found.

use rstest::rstest;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};
use serde_json::json;

use super::{load, policy, session};

/// A condition on a line of its own, the fourth, from column 7.
fn said_of(condition: &str) -> Vec<String> {
    said(&format!("tool: act\nrejectionPlan:\n  conditions:\n    - {condition}\n"))
}

fn said(text: &str) -> Vec<String> {
    let loaded = load("plan.yaml", text);
    loaded.diagnostics.iter().map(|said| said.to_string().replacen("plan.yaml:", "", 1)).collect()
}

#[rstest]
#[case("{type: regex, regex: '(?i)yes', target: {role: user, position: -2}, negate: true}", &[])]
#[case("{type: regex, regex: yes, target: null, negate: null}", &[])]
#[case("{type: regex, regex: yes, target: {role: ~, position: 1.0}}", &[])]
#[case("{type: group, operator: OR, conditions: [{type: regex, regex: a}, {type: liquid, liquid: 'true'}]}", &[])]
#[case("{type: regex, regex: '(yes'}", &["4:28: warning[condition_unevaluable]: this always counts as matched: the pattern cannot be used: this group is not closed at offset 0"])]
#[case("{type: regex, regex: '\\p{L}'}", &["4:28: warning[condition_unevaluable]: this always counts as matched: the pattern cannot be used: `\\p{` at offset 0 is not supported"])]
#[case("{type: regex, regex: 'good(?i)bye'}", &["4:28: warning[condition_unevaluable]: this always counts as matched: the pattern cannot be used: `(?i)` at offset 4 is not supported"])]
#[case("{type: regex, regex: 7}", &["4:28: warning[condition_unevaluable]: this always counts as matched: expected text for `regex`, found a number"])]
#[case("{type: regex}", &["4:8: warning[condition_unevaluable]: this always counts as matched: the key `regex` is missing"])]
#[case("{type: regex, regex: a, negate: 'false'}", &["4:39: warning[condition_unevaluable]: this always counts as matched: expected `true` or `false` for `negate`, found text"])]
#[case("{type: regex, regex: a, target: user}", &["4:39: warning[condition_unevaluable]: this always counts as matched: expected a mapping for `target`, found text"])]
#[case("{type: regex, regex: a, target: {role: system}}", &["4:46: warning[condition_unevaluable]: this always counts as matched: `role`: expected `user` or `assistant`, found `system`"])]
#[case("{type: regex, regex: a, target: {role: User}}", &["4:46: warning[condition_unevaluable]: this always counts as matched: `role`: expected `user` or `assistant`, found `User`"])]
#[case("{type: regex, regex: a, target: {position: -1.5}}", &["4:50: warning[condition_unevaluable]: this always counts as matched: expected a whole number for `position`, found `-1.5`"])]
#[case("{type: regex, regex: a, target: {position: '-1'}}", &["4:50: warning[condition_unevaluable]: this always counts as matched: expected a number for `position`, found text"])]
#[case("{type: regex, regex: a, target: {pos: 1}, ngate: true}", &["4:40: warning[unknown_key]: unknown key `pos`", "4:49: error[unknown_key]: unknown key `ngate`, did you mean `negate`?"])]
#[case("{type: regex, regex: \"\\bcancel\\b\"}", &["4:28: warning[backspace_in_pattern]: the pattern holds a backspace: in JSON and between double quotes `\\b` is that character"])]
#[case("{type: regex, regex: a, target: {role: assistant}}", &["4:39: warning[guard_meets_own_message]: this looks at the message that makes the call if it has text, not at the one before it"])]
#[case("{type: regex, regex: a, target: {role: assistant, position: -2}}", &["4:39: warning[pending_call_unsettled]: which message this is depends on whether a call without text counts as the model's newest message"])]
#[case("{type: regexp, regex: a}", &["4:14: warning[condition_unevaluable]: this always counts as matched: `type`: expected `regex`, `liquid` or `group`, found `regexp`"])]
#[case("{regex: a}", &["4:8: warning[condition_unevaluable]: this always counts as matched: the key `type` is missing"])]
#[case("null", &["4:7: warning[condition_unevaluable]: this always counts as matched: expected a mapping, found nothing"])]
#[case("yes", &["4:7: warning[condition_unevaluable]: this always counts as matched: expected a mapping, found text"])]
#[case("{type: liquid}", &["4:8: warning[condition_unevaluable]: this always counts as matched: the key `liquid` is missing"])]
#[case("{type: liquid, liquid: false}", &["4:30: warning[condition_unevaluable]: this always counts as matched: expected text for `liquid`, found a boolean"])]
#[case("{type: liquid, liquid: '{{ messages.size | frobnicate }}'}", &["4:30: warning[condition_unevaluable]: this always counts as matched: the template cannot be used: unknown filter `frobnicate` (at byte 19)"])]
#[case("{type: liquid, liquid: '{% if messages.size > 1 %}true'}", &["4:30: warning[condition_unevaluable]: this always counts as matched: the template cannot be used: the tag `if` is not closed (at byte 0)"])]
#[case("{type: liquid, liquid: \"{% include 'other' %}\"}", &["4:30: warning[condition_unevaluable]: this always counts as matched: the template cannot be used: not supported in a condition: the tag `include`"])]
#[case("{type: liquid, liquid: 'yes'}", &["4:30: warning[condition_unevaluable]: this always counts as matched: the template prints `yes`, which is neither `true` nor `false`"])]
#[case("{type: liquid, liquid: 'true', negate: true}", &["4:38: warning[unknown_key]: unknown key `negate`"])]
#[case("{type: liquid, liquid: '{% if messages.size > 4 %}true{% endif %}'}", &["4:30: warning[template_without_answer]: in a session without messages the template prints nothing, which counts as matched"])]
#[case("{type: liquid, liquid: '{% if risk %}true{% endif %}'}", &[])]
#[case("{type: liquid, liquid: '{{ messages.size }}'}", &["4:30: warning[template_without_answer]: in a session without messages the template prints `0`, which counts as matched"])]
#[case("{type: liquid, liquid: \"{% assign y = now | date: '%Y' %}{% if y > '2030' %}true{% else %}false{% endif %}\"}", &["4:30: warning[milliseconds_as_seconds]: `now | date` reads the milliseconds of `now` as seconds, about 56,000 years in the future"])]
#[case("{type: liquid, liquid: \"{% assign y = 'now' | date: '%Y' %}{% if y > '2030' %}true{% else %}false{% endif %}\"}", &[])]
#[case("{type: group, operator: NOT, conditions: [{type: regex, regex: a}]}", &["4:31: warning[condition_unevaluable]: this always counts as matched: `operator`: expected `AND` or `OR`, found `NOT`"])]
#[case("{type: group, conditions: [{type: regex, regex: a}]}", &["4:8: warning[condition_unevaluable]: this always counts as matched: the key `operator` is missing"])]
#[case("{type: group, operator: AND}", &["4:8: warning[condition_unevaluable]: this always counts as matched: the key `conditions` is missing"])]
#[case("{type: group, operator: AND, conditions: []}", &["4:7: warning[condition_unevaluable]: this always counts as matched: the group has no conditions"])]
#[case("{type: group, operator: AND, conditions: [{type: regex, regex: '['}, {type: regex, regex: a}], negate: true}", &["4:70: warning[condition_unevaluable]: this always counts as matched: the pattern cannot be used: this character class is not closed at offset 0", "4:102: warning[unknown_key]: unknown key `negate`"])]
fn every_slip_in_a_condition_is_told_at_its_place(#[case] condition: &str, #[case] expected: &[&str]) {
    assert_eq!(said_of(condition), expected, "{condition}");
}

/// A template on the lines below `|` is shown there; a document in JSON has columns as well.
#[test]
fn places_are_those_of_the_text() {
    let block = "tool: act\nrejectionPlan:\n  conditions:\n    - type: liquid\n      liquid: |\n        {{ 1 | nope }}\n";
    assert!(said(block)[0].starts_with("6:9: warning[condition_unevaluable]"), "{:?}", said(block));
    let json = "{\"name\": \"act\", \"rejectionPlan\":\n  {\"conditions\": [{\"type\": \"regex\", \"regex\": \"\\bno\\b\"}]}}";
    let loaded = load("plan.json", json);
    assert!(
        loaded.diagnostics[0].to_string().starts_with("plan.json:2:46: warning[backspace_in_pattern]"),
        "{:?}",
        loaded.diagnostics
    );
}

#[rstest]
#[case("tool: act\nrejectionPlan: yes\n", &["2:16: warning[condition_unevaluable]: this always counts as matched: expected a mapping for `rejectionPlan`, found text"])]
#[case("tool: act\nrejectionPlan: ~\n", &["2:16: warning[condition_unevaluable]: this always counts as matched: expected a mapping for `rejectionPlan`, found nothing"])]
#[case("tool: act\nrejectionPlan: {conditions: {type: regex}}\n", &["2:29: warning[condition_unevaluable]: this always counts as matched: expected a list for `conditions`, found a mapping"])]
#[case("tool: act\nrejectionPlan: {conditons: []}\n", &["2:17: error[unknown_key]: unknown key `conditons`, did you mean `conditions`?"])]
#[case("tool: act\nrejectionPlan: {conditions: ~}\n", &[])]
#[case("tool: act\nrejectionPlan: {}\ndescripton: x\n", &["3:1: error[unknown_key]: unknown key `descripton`, did you mean `description`?"])]
#[case("function: {name: act}\nserver: {url: x}\nasync: false\nrejectionPlan: {}\n", &[])]
#[case("rejectionPlan: {}\n", &["1:1: error[missing_key]: the plan's tool has no name"])]
#[case("model: {provider: openai, model: gpt-4o, tools: [{type: endCall, rejectPlan: {}}]}\n", &["1:66: error[unknown_key]: unknown key `rejectPlan`, did you mean `rejectionPlan`?"])]
fn every_slip_in_a_plan_is_told_at_its_place(#[case] text: &str, #[case] expected: &[&str]) {
    assert_eq!(said(text), expected, "{text}");
}

#[test]
fn a_slip_in_a_plan_rejects_and_no_plan_does_not() {
    let session = session(&json!({"messages": [
        {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "act", "arguments": "{}"}}]}]}));
    let rejected = |plan| {
        Replay::new(&session, &policy(&plan), Mode::Enforce).call(0).unwrap().decision.verdict
            == Verdict::Deny
    };
    for plan in [
        json!(null),
        json!("yes"),
        json!([]),
        json!({"conditions": {}}),
        json!({"conditions": "yes"}),
        json!({"conditions": [7]}),
    ] {
        assert!(rejected(plan.clone()), "{plan}");
    }
    for plan in [json!({}), json!({"conditions": []}), json!({"conditions": null}), json!({"comment": [7]})] {
        assert!(!rejected(plan.clone()), "{plan}");
    }
}

/// Groups nest 32 deep; the one within is no condition any more.
#[test]
fn the_33rd_group_cannot_be_evaluated() {
    let nested = |groups: usize| {
        let inner = json!({"type": "regex", "regex": "never said"});
        let nest = |inner, _| json!({"type": "group", "operator": "AND", "conditions": [inner]});
        json!({"tool": "act", "rejectionPlan": {"conditions": [(0..groups).fold(inner, nest)]}}).to_string()
    };
    assert_eq!(load("plan.json", &nested(32)).diagnostics, []);
    let said = load("plan.json", &nested(33)).diagnostics;
    assert_eq!(said.len(), 1);
    assert!(said[0].message.ends_with("groups nest deeper than 32"), "{}", said[0].message);
}

const ASSISTANT: &str = r"
name: front desk
voice: {provider: x, voiceId: y}
model:
  provider: openai
  model: gpt-4o
  messages: [{role: system, content: Be brief.}]
  tools:
    - {type: function, function: {name: a, parameters: {type: object}}, rejectionPlan: {conditions: []}}
    - {type: endCall, rejectionPlan: {conditions: []}}
    - {type: dtmf}
tools:
  - {type: transferCall, name: b, rejectionPlan: {conditions: []}}
hooks:
  - on: customer.speech.timeout
    do:
      - {type: tool, tool: {type: function, function: {name: c}, rejectionPlan: {conditions: []}}}
      - {type: say, exact: hello}
";

const SQUAD: &str = r"
name: desk
members:
  - assistant:
      model: {provider: openai, tools: [{type: function, function: {name: d}, rejectionPlan: {conditions: []}}]}
    assistantOverrides:
      'tools:append': [{type: function, function: {name: e}, rejectionPlan: {conditions: []}}]
  - assistantId: 7
    assistantOverrides: {tools: [{type: function, function: {name: d}, rejectionPlan: {conditions: []}}]}
";

#[test]
fn plans_are_found_in_all_their_places() {
    let rules = |text: &str| -> Vec<String> {
        let loaded = load("x.yaml", text);
        assert_eq!(loaded.diagnostics, []);
        let policy = loaded.policy.unwrap();
        assert_eq!(policy.units().len(), policy.rules().len());
        policy
            .rules()
            .iter()
            .map(|(_, rule)| format!("{} {}", rule.tool.as_deref().unwrap(), rule.id))
            .collect()
    };
    assert_eq!(
        rules(ASSISTANT),
        [
            "a x.yaml#/model/tools/0/rejectionPlan",
            "endCall x.yaml#/model/tools/1/rejectionPlan",
            "b x.yaml#/tools/0/rejectionPlan",
            "c x.yaml#/hooks/0/do/0/tool/rejectionPlan",
        ]
    );
    assert_eq!(
        rules(SQUAD),
        [
            "d x.yaml#/members/0/assistant/model/tools/0/rejectionPlan",
            "e x.yaml#/members/0/assistantOverrides/tools:append/0/rejectionPlan",
            "d x.yaml#/members/1/assistantOverrides/tools/0/rejectionPlan",
        ]
    );
    assert_eq!(rules("{type: query, name: f, rejectionPlan: {}}"), ["f x.yaml#/rejectionPlan"]);
    assert_eq!(rules("{tool: g, description: why, rejectionPlan: {}}"), ["g x.yaml#/rejectionPlan"]);
    assert_eq!(
        rules("{type: query, name: 7, function: {name: ''}, rejectionPlan: {}}"),
        ["query x.yaml#/rejectionPlan"]
    );
}

/// What the model calls is not in the document, and a plan for a tool of the type's name would guard nothing.
#[rstest]
#[case(
    "{type: handoff, destinations: [{type: assistant, assistantId: 7}]",
    "what the model calls this handoff is not written here, so the plan would guard nothing"
)]
#[case(
    "{type: handoff, destinations: [{type: dynamic}]",
    "what the model calls this handoff is not written here, so the plan would guard nothing"
)]
#[case(
    "{type: handoff, destinations: [{type: assistant, assistantName: Two words}]",
    "what the model calls this handoff is not written here, so the plan would guard nothing"
)]
#[case(
    "{type: mcp, server: {url: x}",
    "the model calls the functions of the MCP server, and which these are is not written here"
)]
fn a_plan_whose_functions_are_not_named_is_an_error(#[case] tool: &str, #[case] message: &str) {
    let plan = "rejectionPlan: {conditions: [{type: regex, regex: no}]}";
    assert_eq!(said(&format!("{tool}, {plan}}}")).len(), 1);
    assert!(said(&format!("{tool}, {plan}}}"))[0].ends_with(&format!("error[missing_key]: {message}")));
    assert!(said(&format!("{tool}, function: {{name: to_it}}, {plan}}}")).is_empty());
}
