//! What rules are called: by their descriptions, else their ids, else a phrase of their kinds and tools.

use rulestep::report::words;
use rulestep_engine::policy::{Policy, PolicyFile};

fn names(policy: &str) -> Vec<String> {
    let file =
        PolicyFile { name: "p.yaml".into(), relative: "p.yaml".into(), text: policy.into(), named: true };
    let loaded = Policy::load(&[file], None);
    let policy = loaded.policy.unwrap_or_else(|| panic!("{policy}: {:?}", loaded.diagnostics));
    policy.rules().iter().map(|(_, rule)| words::rule_name(rule)).collect()
}

#[test]
fn the_authors_own_words_come_first() {
    let described =
        r#"{tool: pay, preconditions: [{requires_prior_tool: check, description: "Checked\n\u001b[31m"}]}"#;
    assert_eq!(names(described), ["Checked↵␛[31m"]);
    let rules = "rules:\n  - {type: require, tool: lint, id: linted}\n  - {type: require, tool: test, id: tested, description: The tests have run}\n  - {type: require, tool: build, description: ' '}\n";
    assert_eq!(names(rules), ["linted", "The tests have run", "build required"]);
    let named =
        "policies: [{type: sequential_dependency, name: release-order, dependencies: {deploy: [test]}}]";
    assert_eq!(names(named), ["release-order"]);
}

#[test]
fn else_a_phrase_says_what_the_rule_is_about() {
    let cases: &[(&str, &[&str])] = &[
        (
            "{tool: pay, preconditions: [{requires_prior_tool: check}, {requires_step_count: {gte: 2}}], forbids_after: [pay, void]}",
            &["check before pay", "completed turns before pay", "no pay after pay", "no void after pay"],
        ),
        (
            "{id: x, forbidden: [{sequence: [run, {namePrefix: slack.}], action: deny, reason: r}], limits: {pay: {maxPerSession: 3, action: halt, reason: r}}}",
            &["no run, then slack.…", "limit on pay"],
        ),
        (
            "{policies: [{type: sequential_dependency, dependencies: {deploy: [test], build: [lint]}}, {type: read_before_write}]}",
            &["dependencies of build and deploy", "read before write_file and edit_file"],
        ),
        ("{tool: transfer, rejectionPlan: {conditions: []}}", &["rejection plan of transfer"]),
        (
            "rules: [{type: require, tool: a}, {type: before, first: a, then: [b, c]}, {type: immediately_before, first: a, then: b}, {type: max_calls, tool: a, max: 1}, {type: eventually, tool: a, within: 3}, {type: never_after, trigger: a, forbidden: b}, {type: after, trigger: a, then: b, within: 2}, {type: sequence, tools: [a, b, c, d, e, f]}, {type: blocklist, pattern: adm, tools: ['x_*']}, {type: allowlist, tools: [a, b, c, d, e]}]",
            &[
                "a required",
                "a before b and c",
                "a directly before b",
                "limit on a",
                "a in time",
                "no b after a",
                "b after a",
                "a, then b, then c, then 3 others",
                "no …adm… and x_*",
                "only a, b, c and 2 others",
            ],
        ),
        ("sequences: [[a, b, c]]", &["a before b", "b before c"]),
    ];
    for (policy, want) in cases {
        assert_eq!(names(policy), *want, "{policy}");
    }
}
