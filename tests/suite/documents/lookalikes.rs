//! Files in a folder that no dialect claims: misspelt documents are errors, other people's files are counted.

use super::{check, errors, folder, in_folder, told};

#[test]
fn a_misspelt_document_keeps_the_version_from_loading() {
    for (text, key) in [
        ("forbiden: [{sequence: [a], action: halt, reason: 'x:y'}]", "forbidden"),
        ("fobidden: [{sequence: [a], action: halt, reason: 'x:y'}]", "forbidden"),
        ("Forbidden: [{sequence: [a], action: halt, reason: 'x:y'}]", "forbidden"),
        ("limit: {refund: {maxPerSession: 1, action: deny, reason: 'x:y'}}", "limits"),
        ("polices: [{type: read_before_write}]", "policies"),
        ("policy: [{type: read_before_write}]", "policies"),
        ("sectons: [{tools: [a]}]", "sections"),
        ("rule: [{type: require, tool: a}]", "rules"),
        ("rulse: [{type: require, tool: a}]", "rules"),
        ("rule: {type: require, tool: a}", "rules"),
        ("sequence: [[a, b]]", "sequences"),
        ("test: [{metric: sequence_valid, rules: []}]", "tests"),
        ("aliasses: {w: [a]}", "aliases"),
        ("rejectionplan: {conditions: []}", "rejectionPlan"),
        ("rejection_plan: {conditions: []}", "rejectionPlan"),
        ("{type: endCall, rejectPlan: {conditions: []}}", "rejectionPlan"),
        ("assistant: {model: {tools: [{type: endCall, rejectionplan: {conditions: []}}]}}", "rejectionPlan"),
        ("preconditons: [{requires_prior_tool: lint}]", "preconditions"),
        ("{tol: deploy, preconditons: [{requires_prior_tool: lint}]}", "tool"),
        ("{tol: deploy, preconditons: [{requires_prior_tool: lint}]}", "preconditions"),
        ("forbidsAfter: [deploy]", "forbids_after"),
        ("{dialct: contract, description: x}", "dialect"),
    ] {
        let loaded = in_folder("a.yaml", text);
        assert!(loaded.policy.is_none(), "{text} loads");
        let errors = errors(&loaded);
        let meant = format!("did you mean `{key}`?");
        assert!(
            errors.iter().any(|error| error.starts_with("unknown_key") && error.contains(&meant)),
            "{text}: {errors:#?}"
        );
    }
}

/// One that stands beside good ones as well, in any document of a file and in a file that was named.
#[test]
fn nothing_beside_a_misspelt_document_hides_it() {
    let good = ("good.yaml", "{tool: b, preconditions: [{requires_prior_tool: a}]}");
    let beside = folder(&[good, ("rules.yml", "rule: [{type: require, tool: a}]")]);
    assert!(beside.policy.is_none());
    assert_eq!(told(&beside), "1 error unknown_key");
    let behind = in_folder("a.yaml", &format!("{}\n---\nforbiden: []\n", good.1));
    assert_eq!(told(&behind), "3 error unknown_key");
}

#[test]
fn guards_that_are_not_supported_are_errors() {
    check(&[
        (
            "assay.yaml",
            "version: '2.0'\nname: starter\ntools: {allow: [read_file], deny: [exec]}",
            "3 error not_enforced",
        ),
        ("assay.yaml", "tools:\n  approval_required: [deploy]", "1 error not_enforced"),
        ("assay.yaml", "deny: ['exec*']\nallow: ['*']", "1 error not_enforced; 2 error not_enforced"),
        ("assay.yaml", "tools: {deny: [exec]}\nlimits: {max_tool_calls_total: 5}", "1 error not_enforced"),
        ("settings.json", "{\"permissions\": {\"deny\": [\"Bash(rm:*)\"]}}", "1 error not_enforced"),
        ("session.yaml", "agent: bot\nsession_limits: {max_tool_calls: 30}", "2 error not_enforced"),
        (
            "session.yaml",
            "agent: bot\nphases: [{name: a, initial: true}]\ntransitions: {a: [b]}",
            "2 error not_enforced; 3 error not_enforced",
        ),
        ("session.yaml", "risk_defaults: {write: block}", "1 error not_enforced"),
        ("plan.yaml", "conditions: [{type: regex, regex: cancel}]", "1 error not_enforced"),
        ("plan.yaml", "conditions: []", "1 error not_enforced"),
    ]);
}

#[test]
fn files_of_other_people_are_counted() {
    for text in [
        "services: {web: {image: nginx}}",
        "name: build\non: push\njobs: {test: {steps: []}}",
        "{\"name\": \"x\", \"files\": [\"dist\"], \"scripts\": {\"test\": \"jest\"}}",
        "roles: [{name: admin}]",
        "pool: {vmImage: ubuntu}",
        "title: notes\ntests: [one, two]",
        "test: {stage: build}",
        "{\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"a\", \"parameters\": {\"properties\": {\"rejectionPlan\": {\"type\": \"object\"}}}}}]}",
        "apiVersion: v1\nkind: Pod\nstatus: {conditions: [{type: Ready}]}",
        "[1, 2]",
        "plain text",
    ] {
        assert_eq!(told(&in_folder("other.yaml", text)), "notice unrecognised_document", "{text}");
    }
}

/// A document that says nothing is a finding in every dialect, whatever it is called.
#[test]
fn a_document_without_rules_is_a_finding() {
    for text in [
        "tool: a",
        "{tool: a, preconditions: [], forbids_after: []}",
        "forbidden: []",
        "limits: {}",
        "policies: []",
        "sections: [{tools: [a]}]",
        "rules: []",
        "tests: [{id: other things, metric: semantic_similarity}]",
    ] {
        let loaded = in_folder("a.yaml", text);
        assert!(loaded.policy.is_some(), "{text}");
        assert!(told(&loaded).ends_with("1 warning no_rules"), "{text}: {}", told(&loaded));
    }
}
