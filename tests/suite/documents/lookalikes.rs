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

/// With another rule beside it, its reader refuses it.
#[test]
fn a_list_whose_only_rule_is_misspelt_keeps_the_version_from_loading() {
    for (text, kind) in [
        ("- {type: blocklst, tools: [a]}", "blocklist"),
        ("- {type: Blocklist, tools: [a]}", "blocklist"),
        ("- {type: neverafter, trigger: a, forbidden: b}", "never_after"),
        ("- {type: befor, first: a, then: b}", "before"),
        ("[{type: requires, tool: a}, {type: other, tool: b}]", "require"),
    ] {
        let loaded = in_folder("a.yaml", text);
        assert!(loaded.policy.is_none(), "{text} loads");
        let [error] = &errors(&loaded)[..] else { panic!("{text}: {:#?}", errors(&loaded)) };
        let meant = format!("did you mean `{kind}`?");
        assert!(error.starts_with("bad_value") && error.contains(&meant), "{text}: {error}");
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

/// A document with a rejection plan may have any key, so nobody else tells of what it does not read.
#[test]
fn guards_beside_a_rejection_plan_are_errors() {
    let plan = "tools: [{type: function, function: {name: x}, rejectionPlan: {conditions: [{type: regex, regex: foo}]}}]";
    for (beside, expected) in [
        ("rules: [{type: never, call: y}]", "1 error not_enforced"),
        ("sequences: [[y]]", "1 error not_enforced"),
        ("tests: [{metric: sequence_valid, rules: [{type: never, call: y}]}]", "1 error not_enforced"),
        ("forbiden: [{sequence: [y], action: halt, reason: 'security:x'}]", "1 error unknown_key"),
        ("preconditons: [{requires_prior_tool: y}]", "1 error unknown_key"),
        ("session_limits: {y: 0}", "1 error not_enforced"),
        ("deny: [y]", "1 error not_enforced"),
    ] {
        check(&[("p.yaml", &*format!("{beside}\n{plan}"), expected)]);
        let named = format!("{beside}\ndialect: rejection_plan\n{plan}");
        check(&[("p.yaml", &*named, expected)]);
    }
    // What assistants have besides is theirs.
    let assistant = format!(
        "name: Help\nmodel: {{provider: openai, model: m, {plan}}}\nhooks: []\nmetadata: {{rules: []}}\nmessages: []"
    );
    check(&[("p.yaml", &*assistant, "")]);
    let within = "model: {tools: [{type: function, function: {name: y}, rejectionPlan: {conditions: [{type: regex, regex: ''}]}}]}";
    let misplaced = format!("dialect: sequence_rule\nrules: [{{type: never, call: q}}]\n{within}");
    check(&[("p.yaml", &*misplaced, "3 error not_enforced")]);
}

/// A plan whose tool is not the one that was meant guards nothing.
#[test]
fn a_plan_is_kept_for_the_tool_that_it_names() {
    let conditions = "rejectionPlan: {conditions: [{type: regex, regex: foo}]}";
    for (text, expected) in [
        (
            format!(
                "tools: [&t {{type: function, function: {{name: x}}, {conditions}}}, {{<<: *t, function: {{name: y}}}}]"
            ),
            "1 error unknown_key",
        ),
        (
            format!(
                "name: Help\n{conditions}\nmodel: {{tools: [{{type: function, function: {{name: x}}}}]}}"
            ),
            "2 error not_enforced",
        ),
        (format!("type: function\nfunction: {{nmae: x}}\n{conditions}"), "3 error missing_key"),
        (format!("type: function\nfunction: {{name: 5}}\n{conditions}"), "3 error missing_key"),
        (format!("type: function\nfunction: x\n{conditions}"), "3 error missing_key"),
        (format!("type: function\nname: x\n{conditions}"), ""),
        (format!("type: endCall\n{conditions}"), ""),
    ] {
        check(&[("p.yaml", &*text, expected)]);
    }
}

/// Rules that are written where they are not looked for, and names that stand for something else than was meant.
#[test]
fn what_is_written_where_it_is_not_read_is_told() {
    check(&[
        (
            "tests.yaml",
            "rules: [{type: never, call: q}]\ntests:\n- {id: a, assertions: {type: sequence_valid, rules: [{type: never, call: y}]}}",
            "3 error wrong_type; 2 notice tests_skipped",
        ),
        (
            "alias.yaml",
            "aliases: {Write: [a, b], Any: [Write, c]}\nrules:\n- {type: never, call: Any}\n- {type: max_calls, tool: Write, max: 9}",
            "1 warning alias_in_list",
        ),
        (
            "alias.yaml",
            "aliases: {Write: [Write, b], Any: [Write, c]}\nrules:\n- {type: never, call: Any}\n- {type: max_calls, tool: Write, max: 9}",
            "",
        ),
        (
            "section.yaml",
            "sections:\n- {id: n, tools: [save_note], policies: [{type: read_before_write}]}",
            "2 warning never_asked",
        ),
        (
            "section.yaml",
            "sections:\n- {id: n, tools: [save_note], policies: [{type: read_before_write, write_tools: [save_note]}]}",
            "",
        ),
        (
            "path.yaml",
            "tool: a\npreconditions:\n- {requires_prior_tool: b, with_output: [{path: \"$.e[?search(@.m, '(?=f)x')]\", exists: false}]}",
            "3 error bad_path",
        ),
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
        "apiVersion: v1\nkind: Ingress\nspec: {rules: [{host: a, http: {paths: []}}]}",
        "groups: [{name: a, rules: [{alert: b, expr: c}]}]",
        "overrides: [{files: ['*.ts'], rules: {semi: error}}]",
        "[1, 2]",
        "plain text",
        "[{type: counter, tool: a}, {type: text, first: b}]",
        "[{type: never_seen, name: a}]",
        "runs: [{tool: {driver: {name: a, rules: [{id: b, name: c}]}}}]",
        "spec: {template: {spec: {containers: [{resources: {limits: {cpu: 500m, memory: {a: b}}}}]}}}",
        "api: {gateway: {throttle: {limits: {search: {max: 10}}}}}",
        "[{file: a, contracts: [{tool: b, forbids_after: [c]}]}]",
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

/// A list of rules is a document, so a list of contracts looks like one.
#[test]
fn policies_in_a_list_or_under_a_key_are_errors() {
    let contract = "{tool: Bash, forbids_after: [Bash]}";
    for (text, place) in [
        (format!("- {contract}"), "1 error not_enforced"),
        (format!("[{contract}, {contract}]"), "1 error not_enforced"),
        (format!("contracts:\n  - {contract}"), "2 error not_enforced"),
        (format!("contracts:\n  refund: {contract}"), "2 error not_enforced"),
        (format!("policy: {contract}"), "1 error unknown_key"),
        (format!("mine: {contract}"), "1 error not_enforced"),
        ("guards:\n  - rules:\n    - {type: never, call: {tool: a}}".to_owned(), "2 error not_enforced"),
        (
            "all: [{forbidden: [{sequence: [a], action: halt, reason: 'x:y'}]}]".to_owned(),
            "1 error not_enforced",
        ),
        (
            "mine: {policies: [{type: read_before_write, read_tools: [a], write_tools: [b]}]}".to_owned(),
            "1 error not_enforced",
        ),
        (
            "spec: {guard: {policy: {rules: [{type: blocklist, tools: [a]}]}}}".to_owned(),
            "1 error not_enforced",
        ),
        (
            "tests:\n  a:\n    expected:\n      rules: [{type: blocklist, tools: [a]}]".to_owned(),
            "4 error not_enforced",
        ),
        (
            "a: {b: {c: {limits: {d: {maxPerSession: 1, action: deny, reason: 'cost:d'}}}}}".to_owned(),
            "1 error not_enforced",
        ),
        ("a: {b: {contracts: [{tool: c, forbids_after: [d]}]}}".to_owned(), "1 error not_enforced"),
        (
            "a: {b: {c: {rules: [{type: blocklist, tools: [d]}, {type: blocklst, tools: [e]}]}}}".to_owned(),
            "1 error not_enforced",
        ),
    ] {
        let loaded = in_folder("a.yaml", &text);
        assert!(loaded.policy.is_none(), "{text} loads");
        assert!(told(&loaded).contains(place), "{text}: {}", told(&loaded));
    }
}

#[test]
fn a_document_that_lacks_a_part_is_told_what_it_lacks() {
    let rules = in_folder("a.yaml", "rules: {type: never, call: {tool: Bash}}");
    assert_eq!(
        errors(&rules),
        ["not_enforced: expected a list for `rules`, found a mapping (begin each of `rules` with `- `)"]
    );
    let files = in_folder("a.yaml", "existing_files: [a]");
    let message = "not_enforced: a document with `existing_files` alone is not a policy, so what it says is not enforced \
                   (add `policies` or `sections`; if this file is not a policy, keep it out of the folder of policies)";
    assert_eq!(errors(&files), [message]);
}

/// A file that holds nothing may be one that is being written.
#[test]
fn an_empty_file_keeps_the_version_from_loading() {
    let good = ("good.yaml", "{tool: b, preconditions: [{requires_prior_tool: a}]}");
    for text in ["", " \n\n", "# to be written\n", "---\n---\n", "null\n"] {
        let loaded = folder(&[good, ("a.yaml", text)]);
        assert!(loaded.policy.is_none(), "{text:?} loads");
        assert!(told(&loaded).contains("error empty_document"), "{text:?}: {}", told(&loaded));
    }
    assert!(folder(&[good, ("a.case.yaml", "")]).policy.is_some());
}
