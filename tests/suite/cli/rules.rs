//! Sequence rules on the command line: violations in five parts, their data, and `migrate`.

use insta::assert_snapshot;

use super::{folder, rulestep, run};

/// A session of calls that all succeed; `!` after a tool marks a failure.
fn session(tools: &[&str]) -> String {
    let mut messages = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let (name, failed) = (tool.trim_end_matches('!'), tool.ends_with('!'));
        messages.push(format!(
            r#"{{"role": "assistant", "tool_calls": [{{"id": "c{at}", "function": {{"name": "{name}", "arguments": "{{}}"}}}}]}}"#
        ));
        messages.push(format!(
            r#"{{"role": "tool", "tool_call_id": "c{at}", "content": "done", "is_error": {failed}}}"#
        ));
    }
    format!(r#"{{"id": "desk", "messages": [{}]}}"#, messages.join(","))
}

const RULES: &str = "\
tests:
  - id: verify_before_delete
    metric: sequence_valid
    rules:
      - type: before
        first: VerifyIdentity
        then: [DeleteCustomer, MergeCustomer]
        description: Nobody is deleted unseen
      - {type: require, tool: SendReceipt}
      - {type: after, trigger: OpenTicket, then: CloseTicket, within: 2}
      - {type: eventually, tool: Greet, within: 1}
      - {type: sequence, tools: [Plan, Review, Apply]}
      - {type: sequence, tools: [GetCustomer, OpenTicket], strict: true}
      - {type: max_calls, tool: {tool: Note, args_match: {text: x}}, max: 3}
      - {type: immediately_before, first: GetCustomer, then: DeleteCustomer}
      - {type: never_after, trigger: DeleteCustomer, forbidden: VerifyIdentity}
      - {type: blocklist, tools: [\"Merge*\"]}
      - {type: allowlist, tools: [\"*Customer\", \"*Ticket\", \"*Identity\", Plan, Note]}
  - {id: other, metric: latency}
";

const CALLS: &[&str] = &[
    "GetCustomer",
    "Note",
    "DeleteCustomer",
    "OpenTicket",
    "VerifyIdentity",
    "MergeCustomer",
    "Plan",
    "Greet!",
];

#[test]
fn violated_rules_are_told_in_five_parts() {
    let folder = folder(&[("rules.yaml", RULES), ("s.json", &session(CALLS))]);
    let arguments = ["replay", "-p", "rules.yaml", "--mode", "shadow", "s.json"];
    assert_snapshot!(run(&folder, &arguments));
}

#[test]
fn in_enforce_gates_avert_and_the_rest_is_told() {
    let folder = folder(&[("rules.yaml", RULES), ("s.json", &session(CALLS))]);
    assert_snapshot!(run(&folder, &["replay", "-p", "rules.yaml", "s.json"]));
}

#[test]
fn rules_and_state_as_data() {
    let rules = "rules:\n- {type: before, first: A, then: B}\n- {type: after, trigger: B, then: C, within: 3}\n- {type: sequence, tools: [B, C]}\n- {type: max_calls, tool: A, max: 1}\n";
    let folder = folder(&[("rules.yaml", rules), ("s.json", &session(&["B", "A", "B", "A"]))]);
    let output =
        rulestep(folder.path(), &["replay", "-p", "rules.yaml", "--format", "json", "--full", "s.json"])
            .output()
            .unwrap();
    let told: serde_json::Value =
        serde_json::from_str(String::from_utf8(output.stdout).unwrap().lines().next().unwrap()).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&told["rules"]).unwrap());
    assert_snapshot!("states", serde_json::to_string_pretty(&told["turns"][3]["state"]).unwrap());
    assert_snapshot!(
        "findings",
        serde_json::to_string_pretty(&told["turns"][3]["calls"][0]["findings"]).unwrap()
    );
}

#[test]
fn migrate_prints_or_writes() {
    let old = "# the old form\nsequences:\n  - [A, B, C]  # in this order\n";
    let folder =
        folder(&[("old.yaml", old), ("tool.yaml", "tool: refund\n"), ("odd.yaml", "sequences: [[A, 1]]\n")]);
    let read = || std::fs::read_to_string(folder.path().join("old.yaml")).unwrap();
    assert_snapshot!("migrate_prints", run(&folder, &["migrate", "old.yaml"]));
    // As Assay's own command is written.
    assert_eq!(run(&folder, &["migrate", "--config", "old.yaml"]), run(&folder, &["migrate", "old.yaml"]));
    assert!(run(&folder, &["migrate"]).starts_with("exit 2"));
    assert!(run(&folder, &["migrate", "old.yaml", "--config", "old.yaml"]).starts_with("exit 2"));
    assert_eq!(read(), old);
    assert_snapshot!("migrate_writes", run(&folder, &["migrate", "old.yaml", "--write"]));
    let new = read();
    assert!(new.contains("- type: before\n    first: B\n    then: C  # in this order\n"), "{new}");
    std::fs::write(folder.path().join("marked.yaml"), format!("\u{feff}{old}")).unwrap();
    assert!(run(&folder, &["migrate", "marked.yaml", "--write"]).starts_with("exit 0"));
    assert_eq!(std::fs::read_to_string(folder.path().join("marked.yaml")).unwrap(), format!("\u{feff}{new}"));
    std::fs::remove_file(folder.path().join("marked.yaml")).unwrap();
    assert_snapshot!("migrate_again", run(&folder, &["migrate", "old.yaml", "--write"]));
    assert_eq!(read(), new);
    assert_eq!(folder.path().read_dir().unwrap().count(), 3, "nothing is left behind");
    assert_snapshot!("migrate_refuses", run(&folder, &["migrate", "tool.yaml"]));
    assert_snapshot!("migrate_is_tangled", run(&folder, &["migrate", "odd.yaml", "--write"]));
}
