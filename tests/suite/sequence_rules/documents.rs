//! What can be written, and what is said about it.

use rulestep_base::diagnostic::Severity;

use super::load;

/// Every diagnostic: `LINE severity code`.
fn said(text: &str) -> String {
    let loaded = load(text);
    let lines = loaded.diagnostics.iter().map(|told| {
        let line = told.place().and_then(|place| place.line()).unwrap_or_default();
        format!("{line} {} {}", told.severity.name(), told.code)
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// Ids, types and tests of the rules.
fn rules(text: &str) -> Vec<String> {
    let policy = super::policy(text);
    let rules = policy.rules().iter().map(|(_, rule)| {
        let test = rule.test.as_deref().map(|test| format!(" {test}")).unwrap_or_default();
        format!("{} {}{test}", rule.id, rule.kind)
    });
    rules.collect()
}

#[test]
fn rules_stand_at_the_top_in_tests_and_in_expectations() {
    let text = "
version: 1
rules:
  - {type: require, tool: A}
tests:
  - id: one_by_metric
    metric: sequence_valid
    rules: [{type: count, tool: A, max: 1}, {type: allowlist, tools: [A]}]
  - id: by_expectation
    expected:
      type: sequence_valid
      rules: [{type: before, first: A, then: B}]
  - {id: other, metric: args_valid, schema: {}}
  - {id: another, expected: {type: must_contain, must_contain: [x]}}
";
    assert_eq!(
        rules(text),
        [
            "rules.yaml#/rules/0 require",
            "rules.yaml#/tests/0/rules/0 count one_by_metric",
            "rules.yaml#/tests/0/rules/1 allowlist one_by_metric",
            "rules.yaml#/tests/1/expected/rules/0 before by_expectation",
        ]
    );
    assert_eq!(said(text), "5 notice tests_skipped");
    assert!(load(text).diagnostics[0].message.starts_with("2 of 4 tests"));
}

#[test]
fn tests_that_forbid_tools_are_read() {
    let text = "
tests:
  - {id: by_metric, metric: tool_blocklist, blocklist: ['delete_*', drop]}
  - {id: by_policy, assertions: [{type: tool_blocklist, policy: {blocked: [a]}}]}
  - id: by_assertion
    metric: sequence_valid
    rules: [{type: require, tool: A}]
    assertions: [{type: trace_must_not_call_tool, tool: b}, {type: tool_blocklist, test_tool_calls: [c], policy: {blocked: [c]}}]
";
    assert_eq!(
        rules(text),
        [
            "rules.yaml#/tests/0/blocklist blocklist by_metric",
            "rules.yaml#/tests/1/assertions/0/policy/blocked blocklist by_policy",
            "rules.yaml#/tests/2/rules/0 require by_assertion",
            "rules.yaml#/tests/2/assertions/0/tool blocklist by_assertion",
        ]
    );
    assert!(load(text).diagnostics[0].message.starts_with("1 more expectation"));
}

#[test]
fn the_old_form_is_read_as_pairs() {
    let text = "
sequences:
  - [A, B, C]
tests:
  - {id: in_a_test, metric: sequence_valid, sequences: [[D, E]]}
";
    assert_eq!(
        rules(text),
        [
            "rules.yaml#/sequences/0/1 before",
            "rules.yaml#/sequences/0/2 before",
            "rules.yaml#/tests/0/sequences/0/1 before in_a_test",
        ]
    );
    assert_eq!(said(text), "2 notice old_sequences; 5 notice old_sequences");
    assert_eq!(
        said("sequences: [[A], [A, 1]]"),
        "1 error wrong_type; 1 notice old_sequences; 1 warning never_met"
    );
}

#[test]
fn aliases_hold_where_they_stand_and_below() {
    let text = "
aliases: {W: [a, b], Unused: [x]}
rules: [{type: max_calls, tool: W, max: 0}]
tests:
  - id: own_names
    metric: sequence_valid
    aliases: {W: [c], V: [d]}
    rules: [{type: max_calls, tool: W, max: 0}]
";
    assert_eq!(said(text), "7 warning unused_alias; 2 warning unused_alias");
    let found = super::findings(&super::Replay::new(
        &super::session("a b W c d"),
        &super::policy(text),
        rulestep_engine::run::Mode::Shadow,
    ));
    assert_eq!(found, "0 deny max_calls_over; 1 deny max_calls_over; 3 deny max_calls_over");
}

#[test]
fn what_is_wrong_is_an_error_and_what_is_odd_a_warning() {
    let rows = [
        ("rules:\n- {type: befor, first: A, then: B}", "2 error bad_value"),
        ("rules:\n- {first: A, then: B}", "2 error missing_key"),
        ("rules:\n- {type: before, first: A}", "2 error missing_key"),
        ("rules:\n- {type: before, first: A, then: []}", "2 error bad_value"),
        ("rules:\n- {type: before, first: [A], then: B}", "2 error wrong_type"),
        ("rules:\n- {type: before, first: {name: A}, then: B}", "2 error wrong_type"),
        ("rules:\n- {type: require, tool: 1}", "2 error wrong_type"),
        ("rules:\n- {type: require, tool: ''}", "2 error bad_value"),
        ("rules:\n- {type: require, tool: {tool: A, args_match: {a: 5}}}", "2 error wrong_type"),
        ("rules:\n- {type: max_calls, tool: A}", "2 error missing_key"),
        ("rules:\n- {type: max_calls, tool: A, max: -1}", "2 error bad_value"),
        ("rules:\n- {type: count, tool: A, exact: 2, max: 2}", "2 error unknown_key"),
        ("rules:\n- {type: eventually, tool: A}", "2 error missing_key"),
        ("rules:\n- {type: after, trigger: A, then: B}", ""),
        ("rules:\n- {type: after, trigger: A, then: B, within: 1.5}", "2 error bad_value"),
        ("rules:\n- {type: blocklist}", "2 error missing_key"),
        ("rules:\n- {type: allowlist, pattern: x}", "2 error missing_key; 2 error unknown_key"),
        ("rules:\n- {type: blocklist, tools: [a, 1]}", "2 error wrong_type"),
        ("rules:\n- {type: sequence, tools: [A, B], strict: yes}", "2 error wrong_type"),
        ("rules:\n- {type: require, tool: A, when: {user: x}}", "2 error bad_value"),
        ("rules:\n- {type: require, tool: A, when: [x]}", "2 error wrong_type"),
        ("rules:\n- {type: require, tool: A, when: {context.a: [x]}}", "2 warning when_never_equal"),
        ("rules:\n- {type: require, tool: A, when: {context.a: {b: x}}}", "2 warning when_never_equal"),
        ("rules:\n- {type: require, tool: A, when: {context.a: 'true'}}", "2 warning when_never_equal"),
        ("rules:\n- {type: require, tool: A, when: {context.a: '1.5'}}", "2 warning when_never_equal"),
        ("rules:\n- {type: require, tool: A, when: {context.a: true, context.b: 1, context.c: 'yes'}}", ""),
        ("rules:\n- {type: require, tool: A, when: {context.a: yes}}", "2 warning when_never_equal"),
        ("rules:\n- {type: require, tool: A, when: {context.a: Off}}", "2 warning when_never_equal"),
        ("rules:\n- {type: require, tool: A, when: {context.a: }}", "2 warning when_never_equal"),
        ("rules: {type: require}\nsequences: []", "1 error wrong_type"),
        ("rules:", "1 error wrong_type"),
        ("rules: [require]", "1 error wrong_type"),
        ("rules: []\nalises: {}", "2 error unknown_key"),
        ("rules:\n- {type: sequence, tools: [A, B], strct: true}", "2 error unknown_key"),
        ("rules:\n- {type: blocklist, pattern: admin_*}", "2 warning star_in_pattern"),
        ("rules:\n- {type: blocklist, pattern: ''}", "2 warning never_met"),
        ("rules:\n- {type: require, tool: check_*}", "2 error star_in_name"),
        ("rules:\n- {type: blocklist, tools: [check_*]}", ""),
        ("rules:\n- {type: blocklist, tools: ['^root$']}", "2 error star_in_name"),
        ("rules:\n- {type: blocklist, tools: ['Bash(git push)']}", "2 error star_in_name"),
        ("rules:\n- {type: blocklist, tools: ['x, y']}", "2 error star_in_name"),
        ("rules:\n- {type: blocklist, tools: ['${TOOL}', mcp__db]}", "2 error star_in_name"),
        ("rules:\n- {type: max_calls, tool: '{{ tool }}', max: 1}", "2 error star_in_name"),
        ("rules:\n- {type: never, call: 'Bash(git push)'}", "2 error star_in_name"),
        ("rules:\n- {type: blocklist, tools: ['delete_.*', 'slack.*']}", "2 error star_in_name"),
        ("rules:\n- {type: allowlist, tools: [a, '!b']}", "2 error star_in_name"),
        ("rules:\n- {type: blocklist, tools: [“a”]}", "2 error matches_nothing"),
        ("rules:\n- {type: blocklist, pattern: “a”}", "2 warning star_in_pattern"),
        ("rules:\n- {type: allowlist, tools: [a, '*']}", "2 warning never_met"),
        ("rules:\n- {type: sequence, tools: [A]}", "2 warning never_met"),
        ("rules:\n- {type: sequence, tools: [A, A]}", ""),
        ("aliases: {A: []}\nrules:\n- {type: max_calls, tool: A, max: 0}", "3 warning never_met"),
        ("rules:\n- {type: never, call: {tool: A, args_match: {force: yes}}}", "2 warning never_met"),
        ("rules:\n- {type: never, call: {tool: A, args_match: {force: 'yes'}}}", ""),
        ("rules:\n- {type: never, call: {tool: A, args_match: {force: 'True'}}}", "2 warning never_met"),
        ("rules:\n- {type: never, call: {tool: A, args_match: {n: '> 500'}}}", "2 warning never_met"),
        ("rules:\n- {type: never, call: {tool: A, args_match: {env: '!staging'}}}", "2 warning never_met"),
        ("rules:\n- {type: never, call: {tool: A, args_match: {env: “prod”}}}", "2 warning never_met"),
        ("rules:\n- {type: never, call: {tool: A, args_match: {“env”: prod}}}", "2 error matches_nothing"),
        (
            "rules:\n- {type: require, tool: {tool: A, args_match: {c: \"\\brm\\b\"}}}",
            "2 warning backspace_in_pattern",
        ),
        ("rules:\n- {type: require, tool: {tool: A, args_match: {c: /rm/i}}}", "2 warning never_met"),
        ("rules:\n- {type: require, tool: {tool: A, args_match: {c: a^}}}", "2 warning never_met"),
        (
            "rules:\n- type: require\n  tool:\n    tool: A\n    args_match:\n      c: |\n        rm -rf\n",
            "7 warning never_met",
        ),
        ("rules:\n- type: require\n  tool:\n    tool: A\n    args_match:\n      c: |-\n        rm -rf\n", ""),
        ("aliases: {W: [a]}\nrules:\n- {type: blocklist, tools: [W]}", "3 warning alias_in_list"),
        ("rules:\n- {type: require, tool: {tool: A, args_match: {c: '['}}}", "2 warning broken_pattern"),
        ("rules:\n- {type: require, tool: {tool: A, args_match: {c: '(?=x)'}}}", "2 warning broken_pattern"),
        ("rules:\n- {type: before, first: A, then: [B, A]}", "2 warning equal_operands"),
        ("rules:\n- {type: never_after, trigger: A, forbidden: A}", "2 warning equal_operands"),
        ("rules:\n- {type: before, first: {tool: A, args_match: {c: x}}, then: A}", ""),
        ("rules:\n- {type: eventually, tool: A, within: 0}", "2 warning never_met"),
        ("rules:\n- {type: sequence, tools: []}", "2 warning never_met"),
        (
            "tests:\n- {id: test_1, metric: sequence_valid, rules: [{type: require, tool: A}]}",
            "2 warning vague_id",
        ),
        ("tests:\n- {metric: sequence_valid, rules: [{type: require, tool: A}]}", "2 warning vague_id"),
        (
            "tests:\n- {id: read_before_write_2, metric: sequence_valid, rules: [{type: require, tool: A}]}",
            "",
        ),
        ("tests:\n- {id: x, metric: sequence_valid}", "2 error missing_key"),
        ("tests:\n- {id: x, metric: sequence_vaild, rules: []}", "2 error bad_value; 1 notice tests_skipped"),
        (
            "dialect: sequence_rule\ntests:\n- {id: x, rules: []}",
            "3 error missing_key; 2 notice tests_skipped",
        ),
        (
            "tests:\n- {id: x, metric: trace_must_call_tool, tool: A}",
            "2 error bad_value; 1 notice tests_skipped",
        ),
        (
            "tests:\n- {id: x, expected: {type: trace_max_steps, max: 3}}",
            "2 error bad_value; 1 notice tests_skipped",
        ),
        ("tests:\n- {id: x, metric: tool_blocklist}", "2 error missing_key"),
        ("tests:\n- {id: x, metric: tool_blocklist, blocked: [admin_*]}", ""),
        ("x-one: &one {type: require, tool: A}\ndefinitions: [1]\nrules: [*one]", ""),
        ("tests:\n- [x]\n- {metric: y}", "2 error wrong_type; 1 notice tests_skipped"),
    ];
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected, said(text)))
        .filter(|(_, expected, said)| said != *expected)
        .map(|(text, expected, said)| format!("{text}\n  expected `{expected}`\n  said     `{said}`"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (text, _) in rows {
        let loaded = load(text);
        let broken = loaded.diagnostics.iter().any(|told| told.severity == Severity::Error);
        assert_eq!(loaded.policy.is_none(), broken, "{text}");
    }
}

/// Each as a rule of its own would look like a guard, and no call would ever meet it.
#[test]
fn what_no_call_meets_is_an_error() {
    let never = [
        "runs: {program: git push}",
        "runs: {program: [git, 'rm -rf']}",
        "runs: {program: git, args: [push, --force]}",
        "runs: {program: git, args: ['push --force']}",
        "runs: {program: git, args: ['push|pull']}",
        "runs: {program: git, args: [[push, 'pull origin']]}",
        "runs: {program: git, flags: ['--force --no-verify']}",
        "runs: {program: git, flags: ['message={a,b}']}",
        "reaches: https://evil.example",
        "reaches: [a.example, 'b.example:443']",
        "except: .internal",
        "reads: $HOME/.netrc",
        "except: '*'",
        "reaches: '*', except: ['*.internal', '*']",
        "reaches: [a.example, b.example], except: '*.example'",
        "reads: [.env, '{.netrc,.pgpass}']",
        "reads: '!.env'",
        "writes: ['!/tmp/**', '/**']",
        "deletes: a/../b",
        "writes: env:TOKEN",
        "tool: 'Bash '",
        "tool: \"Bash\\n\"",
        "tool: \"Ba\\u200bsh\"",
        "tool: Bash, args_match: {$.command: push}",
        "tool: Read, writes: '**'",
        "tool: Write, runs: {program: git}",
        "tool: Task, reaches: '*'",
        "tool: Bash, args_match: {\"$['command']\": push}",
    ];
    for asked in never {
        let text = format!("version: \"1.0\"\nrules:\n  - type: never\n    call: {{{asked}}}\n");
        let loaded = load(&text);
        let [told] = &loaded.diagnostics[..] else { panic!("{text}{:?}", loaded.diagnostics) };
        assert_eq!(
            (told.severity, told.code.to_string().as_str()),
            (Severity::Error, "matches_nothing"),
            "{text}"
        );
        assert_eq!(told.place().and_then(|place| place.line()), Some(4), "{text}");
        assert!(told.help.is_some(), "{text}{}", told.message);
    }
}

/// A name that is nearly an alias stands for a tool that nobody has, and the alias would look unused.
#[test]
fn a_misspelt_alias_is_told() {
    let told = |rules: &str| -> Vec<String> {
        let text = format!("aliases: {{Change: [Edit, Write]}}\nrules:\n{rules}");
        load(&text).diagnostics.iter().map(|told| format!("{}: {}", told.code, told.message)).collect()
    };
    let misspelt = "misspelt_tool: `Chnage` is not an alias, so only a tool of this name is meant; an alias is called `Change`";
    let slip = "  - {type: before, first: Read, then: Chnage}\n";
    assert_eq!(told(slip), [misspelt]);
    assert_eq!(told(&format!("{slip}  - {{type: require, tool: Change}}\n")), [misspelt]);
    let unused = told("  - {type: before, first: Read, then: Delete}\n");
    assert_eq!(unused, ["unused_alias: no rule names the alias `Change`"]);
    // Names that only look alike: other case, members, short words.
    let others =
        "  - {type: require, tool: Change}\n  - {type: before, first: change, then: [Edit, Charge_card]}\n";
    assert_eq!(told(others), Vec::<String>::new());
}

/// What is searched in names, as globs over whole names.
#[test]
fn an_expression_in_a_blocklist_is_told_as_globs() {
    for (pattern, instead) in [
        ("^admin_.*$", "tools: [\"admin_*\"]"),
        ("^admin_", "tools: [\"admin_*\"]"),
        ("^admin$", "tools: [\"admin\"]"),
        ("^.*_admin$", "tools: [\"*_admin\"]"),
        ("_admin$", "tools: [\"*_admin\"]"),
        ("^a$|^b", "tools: [\"a\", \"b*\"]"),
    ] {
        let loaded = load(&format!("version: \"1.0\"\nrules: [{{type: blocklist, pattern: '{pattern}'}}]\n"));
        let help: Vec<_> = loaded.diagnostics.iter().filter_map(|told| told.help.as_deref()).collect();
        assert!(help.iter().any(|help| help.contains(instead)), "{pattern}: {help:?}");
    }
}

#[test]
fn lists_of_globs_say_which_wildcards_they_know() {
    for (name, message) in [
        (
            "admin_[a-z]*",
            "only `*` and `?` are wildcards here, so the `[a-z]` in `admin_[a-z]*` would match nothing",
        ),
        ("admin_* ", "no tool's name begins or ends with a blank: `admin_* `"),
        ("^root$", "only `*` and `?` are wildcards here, so the `^` in `^root$` would match nothing"),
        ("{a,b}_*", "only `*` and `?` are wildcards here, so the `{a,b}` in `{a,b}_*` would match nothing"),
        ("rm.+", "only `*` and `?` are wildcards here, so the `.+` in `rm.+` would match nothing"),
        ("delete_.*", "`*` is a wildcard by itself here, so `delete_.*` would match only names with the dot"),
        ("!rm", "lists have no exceptions, so the `!` in `!rm` would match nothing"),
        ("-rm", "lists have no exceptions, so the `-` in `-rm` would match nothing"),
    ] {
        let loaded = load(&format!("version: \"1.0\"\nrules: [{{type: blocklist, tools: ['{name}']}}]\n"));
        let said: Vec<&str> = loaded.diagnostics.iter().map(|told| told.message.as_str()).collect();
        assert_eq!(said, [message]);
    }
}

/// What a list has in place of an expression or an exception.
#[test]
fn lists_of_globs_say_what_to_write() {
    for (kind, name, instead) in [
        ("blocklist", "delete_.*", "write `delete_*`"),
        ("blocklist", "rm.+", "write `rm*`"),
        ("blocklist", "drop\\w*", "write `drop*`"),
        ("blocklist", ".*_prod", "write `*_prod`"),
        ("blocklist", "del_\\d", "write `del_?`"),
        ("blocklist", "/del/", "write `*del*`"),
        ("blocklist", "del%", "write `del*`"),
        ("blocklist", "re:x", "write `*x*`"),
        ("blocklist", "^del.*$", "write `del*`"),
        ("blocklist", "^root$", "write `root`"),
        ("blocklist", "del(.*)", "write `del*`"),
        ("blocklist", "(?i)del", "write an entry for each name"),
        (
            "blocklist",
            "Bash(rm *)",
            "write `Bash`; a rule of type `never` can say which calls of it are meant",
        ),
        (
            "blocklist",
            "re:(a|b)",
            "write an entry for each name; `*` matches any text, and `?` any one letter",
        ),
        (
            "allowlist",
            "!delete_*",
            "what an allowlist leaves out goes into a rule of its own: `{type: blocklist, tools: [\"delete_*\"]}`",
        ),
        ("blocklist", "!rm", "list what is blocked, or write an `allowlist` with what may be called"),
    ] {
        let loaded = load(&format!("rules: [{{type: {kind}, tools: ['{name}']}}]\n"));
        let help: Vec<&str> = loaded.diagnostics.iter().filter_map(|told| told.help.as_deref()).collect();
        assert_eq!(help, [instead], "{name}");
    }
}

/// An alias without members is no reason for a blocklist, which knows no aliases.
#[test]
fn only_a_limit_of_nothing_becomes_a_blocklist() {
    for (text, fixes) in [
        ("aliases: {A: []}\nrules:\n- {type: max_calls, tool: A, max: 0}", false),
        ("rules:\n- {type: max_calls, tool: A, max: 0}", true),
    ] {
        let loaded = load(text);
        let [told] = &loaded.diagnostics[..] else { panic!("{text}: {:#?}", loaded.diagnostics) };
        assert_eq!(told.fix.is_some(), fixes, "{text}");
    }
}
