//! A wildcard in a name that is compared letter by letter is an error at every such place, with the form that works.

use super::{errors, in_folder};

#[test]
fn a_wildcard_where_names_are_exact_is_an_error() {
    let halt = "action: halt, reason: 'security:x'";
    let cases: &[(&str, &str)] = &[
        // Contracts.
        ("{tool: 'get_*', forbids_after: [a]}", "one contract for each tool"),
        ("{tool: a, forbids_after: ['*']}", "list each forbidden tool"),
        ("{tool: a, preconditions: [{requires_prior_tool: get_*}]}", "the one tool"),
        ("{tool: a, preconditions: [{requires_prior_tool: 'get_?'}]}", "the one tool"),
        ("{tool: a, preconditions: [{requires_prior_tool: 'get_[ab]'}]}", "the one tool"),
        ("{tool: a, preconditions: [{requires_prior_tool: 'get_a|get_b'}]}", "the one tool"),
        // Sequence policies.
        (&format!("forbidden: [{{sequence: ['slack.*'], {halt}}}]"), "`{namePrefix: slack.}`"),
        (&format!("forbidden: [{{sequence: [a, '*'], {halt}}}]"), "`{namePrefix: ''}` matches every tool"),
        (&format!("forbidden: [{{sequence: ['*_key'], {halt}}}]"), "a rule for each tool"),
        (
            &format!("forbidden: [{{sequence: [{{namePrefix: 'slack.*'}}], {halt}}}]"),
            "`{namePrefix: slack.}`",
        ),
        (&format!("limits: {{slack.*: {{maxPerSession: 3, {halt}}}}}"), "a limit for each tool"),
        // Tool policies.
        (
            "policies: [{type: sequential_dependency, dependencies: {deploy_*: [test]}}]",
            "list each tool by its name",
        ),
        (
            "policies: [{type: sequential_dependency, dependencies: {deploy: [test_*]}}]",
            "list each tool by its name",
        ),
        ("policies: [{type: read_before_write, read_tools: ['read_*']}]", "list each tool by its name"),
        ("policies: [{type: read_before_write, write_tools: ['{write,edit}_file']}]", "list each tool"),
        ("sections: [{id: ops, tools: ['deploy_*'], policies: []}]", "list each tool by its name"),
        // Rejection plans.
        ("{tool: 'send_*', rejectionPlan: {conditions: []}}", "a plan for each tool"),
        (
            "{type: function, function: {name: 'send_*'}, rejectionPlan: {conditions: []}}",
            "a plan for each tool",
        ),
        // Sequence rules.
        ("rules: [{type: require, tool: check_*}]", "`aliases`"),
        ("rules: [{type: before, first: a, then: ['b?']}]", "`aliases`"),
        // Regular expressions.
        ("{tool: 'get_.+', forbids_after: [a]}", "one contract for each tool"),
        ("{tool: a, forbids_after: ['delete_\\d+']}", "list each forbidden tool"),
        ("{tool: a, preconditions: [{requires_prior_tool: 'login\\w*'}]}", "the one tool"),
        ("{tool: a, forbids_after: ['re:rm']}", "list each forbidden tool"),
        (&format!("forbidden: [{{sequence: ['delete_.*'], {halt}}}]"), "`{namePrefix: delete_}`"),
        (&format!("forbidden: [{{sequence: ['delete_.+'], {halt}}}]"), "`{namePrefix: delete_}`"),
        (
            &format!("forbidden: [{{sequence: [{{namePrefix: 'delete_.*'}}], {halt}}}]"),
            "`{namePrefix: delete_}`",
        ),
        (&format!("limits: {{'delete_.+': {{maxPerSession: 3, {halt}}}}}"), "a limit for each tool"),
        (&format!("limits: {{/del/: {{maxPerSession: 3, {halt}}}}}"), "a limit for each tool"),
        ("policies: [{type: read_before_write, read_tools: ['read%']}]", "list each tool by its name"),
        ("rules: [{type: require, tool: 'check_.*'}]", "`aliases`"),
        ("rules: [{type: require, tool: '!check'}]", "`aliases`"),
    ];
    for (text, form) in cases {
        let loaded = in_folder("p.yaml", text);
        let errors = errors(&loaded);
        assert!(loaded.policy.is_none(), "{text} loads");
        assert_eq!(errors.len(), 1, "{text}: {errors:#?}");
        assert!(errors[0].starts_with("star_in_name") && errors[0].contains(form), "{text}: {}", errors[0]);
    }
}

#[test]
fn wildcards_stay_where_they_are_read() {
    for text in [
        "rules: [{type: blocklist, tools: ['admin_*', 'get_?']}]",
        "rules: [{type: allowlist, tools: ['*']}]",
        "rules: [{type: blocklist, tools: ['slack.*', 'a.b*', '*.*', 'v1.?', 'Run a *', 'удалить*']}]",
        "forbidden: [{sequence: [{namePrefix: ''}], action: halt, reason: 'security:x'}]",
        "{tool: a, preconditions: [{requires_prior_tool: b, with_output: [{path: '$.items[*].ok'}]}]}",
    ] {
        assert_eq!(errors(&in_folder("p.yaml", text)), [""; 0], "{text}");
    }
}

/// Letters that get into a name by accident match nothing either, and the help has the name without them.
#[test]
fn letters_by_accident_are_errors() {
    for (name, right) in [
        ("“delete_user”", "delete_user"),
        ("delete_user”", "delete_user"),
        (r#"\"rm\""#, "rm"),
        ("'rm'", "rm"),
        ("`rm`", "rm"),
        ("rm,", "rm"),
        ("rm;", "rm"),
        ("delete–user", "delete-user"),
        ("dеlete_user", "delete_user"),
    ] {
        for text in [
            format!("rules: [{{type: blocklist, tools: [\"{name}\"]}}]"),
            format!("rules: [{{type: require, tool: \"{name}\"}}]"),
            format!("{{tool: a, forbids_after: [\"{name}\"]}}"),
            format!("limits: {{\"{name}\": {{maxPerSession: 1, action: deny, reason: 'cost:a'}}}}"),
        ] {
            let loaded = in_folder("p.yaml", &text);
            let [error] = &errors(&loaded)[..] else { panic!("{text}: {:#?}", errors(&loaded)) };
            let help = format!("(write `{right}`)");
            assert!(error.starts_with("matches_nothing") && error.contains(&help), "{text}: {error}");
        }
    }
}
