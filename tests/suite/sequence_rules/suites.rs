//! The documents that Assay's own repository uses: policy documents, suites of tests, and files that these name.

use std::collections::BTreeSet;
use std::sync::Arc;

use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

use super::{findings, outcomes, session};

fn load(files: &[(&str, &str)]) -> LoadResult {
    let file = |(name, text): &(&str, &str)| PolicyFile {
        name: (*name).into(),
        relative: (*name).into(),
        text: (*text).into(),
        named: false,
    };
    Policy::load(&files.iter().map(file).collect::<Vec<_>>(), None)
}

fn policy(files: &[(&str, &str)]) -> Arc<Policy> {
    let loaded = load(files);
    assert!(loaded.policy.is_some(), "{:#?}", loaded.diagnostics);
    loaded.policy.unwrap()
}

/// `FILE:LINE severity code: message`.
fn said(files: &[(&str, &str)]) -> Vec<String> {
    let lines = load(files).diagnostics.into_iter().map(|told| {
        let place = told.place();
        let line = place.and_then(|place| place.line()).unwrap_or_default();
        let file = place.map(|place| place.file().to_owned()).unwrap_or_default();
        format!("{file}:{line} {} {}: {}", told.severity.name(), told.code, told.message)
    });
    lines.collect()
}

fn rules(policy: &Policy) -> Vec<String> {
    let rules = policy.rules().iter().map(|(_, rule)| {
        format!(
            "{} {}{}",
            rule.id,
            rule.kind,
            rule.test.as_deref().map(|t| format!(" {t}")).unwrap_or_default()
        )
    });
    rules.collect()
}

/// How the rules stand in shadow, and what is said of calls in enforce.
fn judged(policy: &Arc<Policy>, turns: &str) -> (String, String) {
    let session = session(turns);
    let shadow = outcomes(&Replay::new(&session, policy, Mode::Shadow));
    (shadow, findings(&Replay::new(&session, policy, Mode::Enforce)))
}

/// Shaped as the policy of Assay's coverage tests.
const PARITY: &str = "
version: \"1.1\"
name: rule_parity
aliases: {Talk: [Post, Notify]}
sequences:
  - {id: search_first, type: before, first: Search, then: Create}
  - type: never_after
    trigger: Read
    forbidden: Talk
  - {type: max_calls, tool: Search, max: 1}
";

#[test]
fn sequences_of_rules_are_the_ordinary_form_of_a_policy() {
    let files = [("policy.yaml", PARITY)];
    assert_eq!(said(&files), [""; 0]);
    let policy = policy(&files);
    assert_eq!(
        rules(&policy),
        [
            "policy.yaml#/sequences/0 before",
            "policy.yaml#/sequences/1 never_after",
            "policy.yaml#/sequences/2 max_calls"
        ]
    );
    let (shadow, enforced) = judged(&policy, "Create Search Read Notify Search");
    assert_eq!(shadow, "before_late@0 after_trigger@3 max_calls_over@4");
    assert_eq!(enforced, "0 deny before_missing; 3 deny after_trigger; 4 deny max_calls_over");
}

#[test]
fn what_a_policy_document_would_not_enforce_is_an_error() {
    let with_tools = format!("{PARITY}tools: {{allow: [Search]}}\n");
    let said = said(&[("policy.yaml", &with_tools)]);
    assert!(
        matches!(said.as_slice(), [one] if one.contains("error") && one.contains("would not be enforced")),
        "{said:?}"
    );
    let empty = format!("{PARITY}tools: {{allow: null}}\nmetadata: {{owner: me}}\non_error: block\n");
    assert_eq!(super::suites::said(&[("policy.yaml", &empty)]), [""; 0]);
}

#[test]
fn lists_of_names_and_rules_may_stand_together() {
    let policy = policy(&[("p.yaml", "sequences: [[A, B, C], {type: require, tool: D}]")]);
    assert_eq!(
        rules(&policy),
        ["p.yaml#/sequences/0/1 before", "p.yaml#/sequences/0/2 before", "p.yaml#/sequences/1 require"]
    );
}

#[test]
fn an_exact_sequence_wants_these_calls_and_no_others() {
    let suite = "
tests:
  - id: exactly
    input: {prompt: x}
    expected: {type: sequence_valid, sequence: [A, B]}
";
    let policy = policy(&[("eval.yaml", suite)]);
    assert_eq!(rules(&policy), ["eval.yaml#/tests/0/expected/sequence exact_sequence exactly"]);
    for (turns, shadow, enforced) in [
        ("A B", "held", ""),
        ("", "sequence_cut_short", ""),
        ("A", "sequence_cut_short", ""),
        ("B", "sequence_not_exact@0", "0 deny sequence_not_exact"),
        ("A B B", "sequence_not_exact@2", "2 deny sequence_not_exact"),
        ("A X B", "sequence_not_exact@1", "1 deny sequence_not_exact"),
        ("X A B", "sequence_not_exact@0", "0 deny sequence_not_exact"),
        ("B A", "sequence_not_exact@0", "0 deny sequence_not_exact"),
        // A refused call never ran; a failed one did not do its part.
        ("A X- B", "held", "1 deny sequence_not_exact"),
        ("A! B", "sequence_not_exact@1", "1 deny sequence_not_exact"),
        ("A! A B", "sequence_not_exact@1", "1 deny sequence_not_exact; 2 deny sequence_not_exact"),
        ("A B!", "sequence_cut_short", ""),
        ("A? B", "sequence_not_exact@1", "1 deny sequence_not_exact"),
        // The result of a sibling is known when the next one is decided; one that comes late is not.
        ("A+B", "held", ""),
        ("A> X B", "sequence_not_exact@1", "1 deny sequence_not_exact"),
    ] {
        assert_eq!(judged(&policy, turns), (shadow.to_owned(), enforced.to_owned()), "{turns}");
    }
}

#[test]
fn an_empty_exact_sequence_wants_no_call() {
    let policy = policy(&[("eval.yaml", "tests: [{id: silent, expected: {sequence: []}}]")]);
    assert_eq!(judged(&policy, ""), ("held".to_owned(), String::new()));
    assert_eq!(judged(&policy, "A").0, "sequence_not_exact@0");
}

#[test]
fn an_unfinished_exact_sequence_is_pending_until_it_cannot_be_met() {
    let policy =
        policy(&[("eval.yaml", "tests: [{id: two_calls, expected: {type: sequence, sequence: [A, B]}}]")]);
    for (turns, outcome, position) in
        [("", "pending", None), ("A", "pending", None), ("A B", "held", None), ("A B C", "violated", Some(2))]
    {
        let so_far = super::so_far(&session(turns), &policy);
        let word = format!("{:?}", so_far[0].outcome).to_lowercase();
        assert_eq!((word.as_str(), so_far[0].position), (outcome, position), "{turns}");
    }
}

const SUITE: &str = "
configVersion: 1
suite: support
model: trace
settings: {parallel: 2}
tests:
  - id: by_file
    input: {prompt: x}
    tags: [safety]
    expected:
      type: sequence_valid
      policy: ../policies/order.yaml
";

#[test]
fn a_policy_file_holds_names_rules_or_a_policy_document() {
    for (text, expected, outcome) in [
        ("- A\n- B\n", "policies/order.yaml# exact_sequence by_file", "sequence_not_exact@0"),
        ("- {type: before, first: A, then: B}\n", "policies/order.yaml#/0 before by_file", "before_late@0"),
        (
            "version: '1'\naliases: {First: [A]}\nsequences: [{type: before, first: First, then: B}]\n",
            "policies/order.yaml#/sequences/0 before by_file",
            "before_late@0",
        ),
    ] {
        let files = [("suites/eval.yaml", SUITE), ("policies/order.yaml", text)];
        assert_eq!(said(&files), [""; 0], "{text}");
        let policy = policy(&files);
        assert_eq!(rules(&policy), [expected]);
        assert_eq!(policy.documents().len(), 2, "both are shown");
        assert_eq!(judged(&policy, "B A").0, outcome, "{text}");
        // The rules of the file are part of what the digest stands for.
        let other = format!("{text}\n# changed\n");
        let other = super::suites::policy(&[("suites/eval.yaml", SUITE), ("policies/order.yaml", &other)]);
        assert_ne!(policy.digest(), other.digest());
    }
}

#[test]
fn what_a_test_expects_holds_together() {
    let suite = "
tests:
  - id: all_of_it
    expected:
      type: sequence_valid
      rules: [{type: max_calls, tool: A, max: 0}]
      sequence: [A]
      policy: p.yaml
    assertions:
      - {type: sequence_valid, rules: [{type: require, tool: Z}], on_error: allow}
      - {type: sequence_valid, policy: p.yaml}
      - {type: args_valid, tool: A}
      - {type: sequence_valid, test_trace_raw: [{tool: A}], policy: {regex: A}}
";
    let files = [("eval.yaml", suite), ("p.yaml", "[{type: blocklist, tools: [A*]}]")];
    let policy = policy(&files);
    assert_eq!(
        rules(&policy),
        [
            "eval.yaml#/tests/0/expected/rules/0 max_calls all_of_it",
            "eval.yaml#/tests/0/expected/sequence exact_sequence all_of_it",
            "p.yaml#/0 blocklist all_of_it",
            "eval.yaml#/tests/0/assertions/0/rules/0 require all_of_it",
        ],
        "a file that is named twice applies once"
    );
    assert_eq!(judged(&policy, "A").0, "max_calls_over@0 held blocklisted@0 required_missing");
    assert_eq!(
        said(&files),
        [
            "eval.yaml:6 warning zero_limit: every call to `A` breaks a limit of 0",
            "eval.yaml:2 notice tests_skipped: 2 more expectations are not about sequences: skipped (`args_valid`, \
          `sequence_valid`)"
        ]
    );
}

#[test]
fn a_named_file_that_gives_no_rules_is_an_error() {
    let suite = |file: &str| format!("tests: [{{id: by_file, metric: sequence_valid, policy: {file}}}]");
    let one = |files: &[(&str, &str)], wanted: &str| {
        let said = said(files);
        assert!(load(files).policy.is_none() && said.iter().any(|said| said.contains(wanted)), "{said:#?}");
    };
    one(&[("a/eval.yaml", &suite("p.yaml"))], "no policy file `a/p.yaml`");
    one(&[("a/eval.yaml", &suite("eval.yaml"))], "names its own file");
    one(&[("a.yaml", &suite("b.yaml")), ("b.yaml", &suite("a.yaml"))], "no policy file `b.yaml`");
    one(&[("a.yaml", &suite("b.yaml")), ("b.yaml", "[{type: befor, first: A, then: B}]")], "b.yaml:1 error");
    one(&[("a.yaml", &suite("b.yaml")), ("b.yaml", "- A\n---\n- B\n")], "holds 2 documents");
    one(&[("a.yaml", &suite("b.yaml")), ("b.yaml", "")], "holds 0 documents");
    one(
        &[("a.yaml", &suite("b.yaml")), ("b.yaml", "{version: '1', sequencs: []}")],
        "did you mean `sequences`",
    );
    one(
        &[("a.yaml", &suite("b.yaml")), ("b.yaml", "[A, {type: require, tool: B}]")],
        "b.yaml:1 error wrong_type",
    );
    one(&[("a.yaml", &suite("b.yaml")), ("b.yaml", "[A")], "b.yaml:1 error syntax");
    one(&[("a.yaml", &suite("[p.yaml]"))], "expected text");
    // The policy of another metric is no file of ours.
    let other = "tests: [{id: args, expected: {type: args_valid, policy: args.yaml}}]";
    assert!(load(&[("a.yaml", other)]).policy.is_some());
}

#[test]
fn rules_of_a_named_file_can_be_switched_off() {
    let files = [
        (
            "eval.yaml",
            "tests: [{id: by_file, expected: {type: sequence_valid, policy: p.yaml, sequence: [B, A]}}]",
        ),
        ("p.yaml", "[{type: blocklist, tools: [A]}, {type: blocklist, tools: [B]}]"),
    ];
    let policy = policy(&files);
    let id = |wanted: &str| policy.rules().iter().find(|(_, rule)| *rule.id == *wanted).unwrap().0;
    let off = |ids: &[&str]| {
        let off: BTreeSet<_> = ids.iter().map(|wanted| id(wanted)).collect();
        policy.without(&off).map(|policy| judged(&policy, "A B").0)
    };
    let exact = "eval.yaml#/tests/0/expected/sequence";
    assert_eq!(off(&["p.yaml#/0"]).as_deref(), Some("sequence_not_exact@0 blocklisted@1"));
    assert_eq!(off(&["p.yaml#/1", exact]).as_deref(), Some("blocklisted@0"));
    assert_eq!(off(&["p.yaml#/0", "p.yaml#/1", exact]).as_deref(), Some(""));
}

#[test]
fn unknown_keys_are_errors_at_every_level() {
    for (text, wanted) in [
        ("rules: []\nalises: {}", "did you mean `aliases`"),
        ("rules: [{type: blocklist, tools: [A], args_match: {c: x}}]", "unknown key `args_match`"),
        ("rules: [{type: sequence, tools: [A, B], stict: true}]", "did you mean `strict`"),
        ("rules: [{type: require, tool: {tool: A, arg_match: {c: x}}}]", "did you mean `args_match`"),
        ("rules: [{type: require, tool: A, wen: {context.a: b}}]", "did you mean `when`"),
        ("tests: [{id: a_b, metric: sequence_valid, rules: [], polcy: x}]", "did you mean `policy`"),
        (
            "tests: [{id: a_b, expected: {type: sequence_valid, rules: [], sequnce: [A]}}]",
            "did you mean `sequence`",
        ),
        ("tests: [{id: a_b, metric: sequence_vald, rules: []}]", "`sequence_vald` is not a metric"),
        (
            "tests: [{id: a_b, expected: {type: sequence_vaild, rules: []}}]",
            "`sequence_vaild` is not a metric",
        ),
        (
            "tests: [{id: a_b, assertions: [{type: sequence_vaild, rules: []}]}]",
            "`sequence_vaild` is not a metric",
        ),
        ("tests: [{id: a_b, expected: {rules: []}}]", "but not the key that puts them in force"),
        ("tests: [{id: a_b, expected: {policy: p.yaml}}]", "but not the key that puts them in force"),
        ("tests: [{id: a_b, expected: {$ref: p.yaml}}]", "`$ref` is not followed"),
        (
            "tests: [{id: a_b, metric: x}, {id: c_d, expcted: {type: sequence_valid}}]",
            "did you mean `expected`",
        ),
        ("tests: [{id: a_b, metric: [sequence_valid], rules: []}]", "expected text"),
    ] {
        let said = said(&[("eval.yaml", text)]);
        assert!(
            load(&[("eval.yaml", text)]).policy.is_none() && said.iter().any(|said| said.contains(wanted)),
            "{text}: {said:#?}"
        );
    }
    // What a suite holds besides says nothing about rules.
    let besides = "
configVersion: 1
suite: s
model: trace
settings: {thresholding: {max_drop: 0.1}}
thresholds: {}
tests:
  - {id: one_of_ours, input: x, tags: [a], metadata: {}, on_error: allow, metric: sequence_valid, expected: {rules: [{type: require, tool: A}]}}
";
    assert_eq!(said(&[("eval.yaml", besides)]), [""; 0]);
    assert_eq!(
        rules(&policy(&[("eval.yaml", besides)])),
        ["eval.yaml#/tests/0/expected/rules/0 require one_of_ours"]
    );
}

#[test]
fn wildcards_where_names_are_exact_are_errors() {
    for text in [
        "rules: [{type: require, tool: get_*}]",
        "rules: [{type: before, first: 'slack.*', then: A}]",
        "rules: [{type: before, first: A, then: [B, 'C?']}]",
        "rules: [{type: sequence, tools: [A, {tool: 'b*'}]}]",
        "rules: [{type: require, tool: W}]\naliases: {W: ['a*']}",
        "sequences: [[A, 'b*']]",
        "tests: [{id: a_b, expected: {sequence: ['*']}}]",
        "rules: [{type: blocklist, tools: ['{read,write}_file']}]",
        "rules: [{type: allowlist, tools: ['Edit|Write']}]",
    ] {
        let said = said(&[("p.yaml", text)]);
        assert!(said.iter().any(|said| said.contains("error star_in_name")), "{text}: {said:#?}");
    }
    let policy = policy(&[(
        "p.yaml",
        "rules: [{type: blocklist, tools: ['*']}, {type: allowlist, tools: [a, 'b?']}]",
    )]);
    assert_eq!(
        policy.names().iter().map(|name| &**name).collect::<Vec<_>>(),
        ["a"],
        "no tool is inferred from a glob"
    );
}

#[test]
fn a_list_of_rules_alone_is_a_document() {
    let policy = policy(&[("rules.yaml", "- {type: require, tool: A}\n")]);
    assert_eq!(rules(&policy), ["rules.yaml#/0 require"]);
    assert!(load(&[("rules.yaml", "[{type: require, tool: A}, {typ: require}]")]).policy.is_none());
}
