//! Tool policies: the measured cases, and what is said of documents.

use rulestep_base::session::Operation;
use rulestep_engine::dialect::tool_policies::explain::{MissingTools, RecordState};
use rulestep_engine::monitor::{Effect, Finding, StateItem};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use crate::policies::{Recording, of_dialect, policy, said};

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// The case's steps, a turn each: a call with its success, or an operation.
fn replay(document: &Value, steps: &[Value], files: Option<Vec<String>>) -> Replay {
    let policy = policy("policy.json", &of_dialect("tool_policy", document.clone()));
    let mut recording = Recording::new().files(files);
    for step in steps {
        let name = || step["name"].as_str().unwrap().into();
        recording = match step["op"].as_str() {
            Some("snapshot") => recording.operation(Operation::Snapshot(name())),
            Some("restore") => recording.operation(Operation::Restore(name())),
            Some("reset") => recording.operation(Operation::Reset),
            _ => {
                let success = step["success"].as_bool().unwrap();
                recording.turn([(step["tool"].as_str().unwrap(), &step["params"], success)])
            }
        };
    }
    Replay::new(&recording.finish(), &policy, Mode::Enforce)
}

/// What became of every call, in the shape of `expect`; `governing` gives each tool's policies by their pointers.
fn verdicts(replay: &Replay, governing: impl Fn(&str) -> Vec<String>) -> Vec<Value> {
    let calls = replay.session().calls.iter().zip(replay.calls());
    let verdict = calls.map(|(call, judged)| {
        let Some(deciding) = judged.decision.deciding() else {
            // The measured system says nothing of a write without a path; we say that nothing was checked.
            let unchecked = |finding: &Finding| {
                finding.code.as_str() == "path_unknown" && finding.effect <= Effect::Report
            };
            assert!(judged.decision.findings.iter().all(unchecked), "{:?}", judged.decision.findings);
            return json!({"allowed": true, "reason": null});
        };
        let rule = |finding: &Finding| replay.policy().rules().get(finding.rule).unwrap();
        let place = |finding: &Finding| {
            governing(&call.tool).iter().position(|pointer| **pointer == *rule(finding).pointer).unwrap()
        };
        let also = judged.decision.findings.iter().filter(|finding| finding.effect == Effect::Also);
        let mut also: Vec<usize> = also.map(place).collect();
        also.sort();
        let mut verdict = json!({
            "allowed": false,
            "policy": rule(deciding).kind,
            "policy_index": place(deciding),
            "also_denied_by": also,
            "reason": deciding.tell_llm,
        });
        assert_eq!(judged.decision.told, deciding.tell_llm);
        match deciding.facts.as_deref().and_then(|facts| facts.downcast_ref::<MissingTools>()) {
            Some(missing) => verdict["missing"] = json!(missing.missing),
            None => verdict["path"] = json!(deciding.checked.as_ref().unwrap().value),
        }
        verdict
    });
    verdict.collect()
}

/// In the shape of `state_after`.
fn recorded(state: &[StateItem]) -> Value {
    let item = state.iter().find_map(|item| match item {
        StateItem::Kept { facts, .. } => facts.downcast_ref::<RecordState>().map(|kept| &kept.recorded),
        _ => None,
    });
    let item = item.filter(|recorded| !recorded.is_empty());
    let Some(recorded) = item else { return Value::Null };
    let tools: Vec<&str> = recorded.tools().map(|tool| &**tool).collect();
    let keys: Vec<[&str; 2]> = recorded.keys().map(|(tool, key)| [&**tool, &**key]).collect();
    json!({"invoked_tools": tools, "invoked_keys": keys})
}

fn cases(text: &str, count: usize) -> Vec<Value> {
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), count);
    cases
}

#[test]
fn the_measured_cases() {
    let cases = cases(include_str!("../conformance/weakincentives.jsonl"), 250);
    for case in &cases {
        let document = json!({"policies": case["policies"]});
        // The files are listed by the session here, and by the document in the other file.
        let replay = replay(&document, list(&case["calls"]), Some(strings(&case["existing_files"])));
        let pointers: Vec<String> =
            (0..list(&case["policies"]).len()).map(|number| format!("/policies/{number}")).collect();
        assert_eq!(verdicts(&replay, |_| pointers.clone()), list(&case["expect"]), "{}", case["id"]);
        assert_eq!(recorded(&replay.state_end()), case["state_after"], "{}", case["id"]);
    }
}

#[test]
fn the_measured_cases_with_sections_and_operations() {
    let cases = cases(include_str!("../conformance/weakincentives_sessions.jsonl"), 100);
    for case in &cases {
        let document = json!({
            "policies": case["prompt_policies"],
            "sections": case["sections"],
            "existing_files": case["existing_files"],
        });
        let governing = |tool: &str| {
            let section = list(&case["sections"])
                .iter()
                .position(|section| strings(&section["tools"]).iter().any(|listed| listed == tool));
            let own = section.map_or(0, |number| list(&case["sections"][number]["policies"]).len());
            let own = (0..own).map(|number| format!("/sections/{}/policies/{number}", section.unwrap()));
            let prompt =
                (0..list(&case["prompt_policies"]).len()).map(|number| format!("/policies/{number}"));
            own.chain(prompt).collect()
        };
        let replay = replay(&document, list(&case["steps"]), None);
        let expected: Vec<&Value> = list(&case["expect"]).iter().filter(|one| !one.is_null()).collect();
        let actual = verdicts(&replay, governing);
        assert_eq!(actual.iter().collect::<Vec<_>>(), expected, "{}", case["id"]);
        assert_eq!(recorded(&replay.state_end()), case["state_after"], "{}", case["id"]);
    }
}

/// The codes of every call's findings, with their effects.
fn codes(replay: &Replay) -> Vec<String> {
    let of_call = |findings: &[Finding]| {
        let codes = findings.iter().map(|finding| format!("{} {}", finding.effect.word(), finding.code));
        codes.collect::<Vec<_>>().join(", ")
    };
    replay.calls().iter().map(|judged| of_call(&judged.decision.findings)).collect()
}

fn step(tool: &str, path: &str, success: bool) -> Value {
    json!({"op": "call", "tool": tool, "params": {"path": path}, "success": success})
}

fn op(op: &str, name: &str) -> Value {
    json!({"op": op, "name": name})
}

const DENIED: &str = "deny not_read_before_write";

#[test]
fn a_reset_leaves_the_files_alone() {
    let document = json!({"policies": [{"type": "read_before_write"}], "existing_files": ["old"]});
    let steps = [
        step("write_file", "new", true),
        step("read_file", "old", true),
        json!({"op": "reset"}),
        // Both still exist, and nothing is known to be read any more.
        step("write_file", "new", true),
        step("write_file", "old", true),
        step("read_file", "new", true),
        step("write_file", "new", true),
    ];
    assert_eq!(codes(&replay(&document, &steps, None)), ["", "", DENIED, DENIED, "", ""]);
}

#[test]
fn a_restore_leaves_its_snapshot_and_an_unknown_one_empties() {
    let document = json!({"policies": [{"type": "read_before_write"}], "existing_files": ["a"]});
    let write = step("write_file", "a", true);
    let steps = [
        step("read_file", "a", true),
        op("snapshot", "s"),
        op("reset", ""),
        write.clone(),
        op("restore", "s"),
        write.clone(),
        op("reset", ""),
        op("restore", "s"),
        write.clone(),
        op("restore", "never taken"),
        write.clone(),
        // A second snapshot of a name replaces the first.
        op("snapshot", "s"),
        op("restore", "s"),
        write,
    ];
    assert_eq!(codes(&replay(&document, &steps, None)), ["", DENIED, "", "", DENIED, DENIED]);
}

#[test]
fn unlisted_files_are_new_until_a_call_touches_them() {
    let document = json!({"policies": [{"type": "read_before_write"}]});
    let assumed = "report existence_unknown";
    let steps = [
        step("write_file", "a", false),
        step("write_file", "a", true),
        step("write_file", "a", true),
        step("read_file", "b", false),
        step("write_file", "b", true),
        step("read_file", "c", true),
        step("write_file", "./c", true),
        step("write_file", "c", true),
        step("write_file", "d/e", true),
        step("write_file", "d", true),
    ];
    let expected = [assumed, assumed, DENIED, "", assumed, "", DENIED, "", assumed, DENIED];
    assert_eq!(codes(&replay(&document, &steps, None)), expected);
    // An empty list says that there are none.
    assert_eq!(codes(&replay(&document, &steps[1..2], Some(Vec::new()))), [""]);
    let listed = json!({"policies": [{"type": "read_before_write"}], "existing_files": ["a"]});
    assert_eq!(codes(&replay(&listed, &steps[1..2], None)), [DENIED]);
    // The session's own list wins.
    assert_eq!(codes(&replay(&listed, &steps[1..2], Some(Vec::new()))), [""]);
}

#[test]
fn a_list_may_name_files_as_calls_do_below_a_mount_point() {
    let document = |files: Value| {
        let policy = json!({"type": "read_before_write", "mount_point": "/workspace"});
        json!({"policies": [policy], "existing_files": files})
    };
    for listed in ["/workspace/src/a.rs", "//workspace/src/a.rs", "src/a.rs", "/src/a.rs", "./src//a.rs"] {
        for path in ["/workspace/src/a.rs", "src/a.rs"] {
            let written = [step("write_file", path, true)];
            assert_eq!(
                codes(&replay(&document(json!([listed])), &written, None)),
                [DENIED],
                "{listed}: {path}"
            );
            let own = Some(vec![listed.to_owned()]);
            assert_eq!(codes(&replay(&document(json!([])), &written, own)), [DENIED], "{listed}: {path}");
        }
    }
}

#[test]
fn what_is_no_file_in_the_list_is_an_error() {
    for (listed, why) in [
        ("docs/**", "`*` in `docs/**` is compared letter by letter"),
        ("src/", "`src/` is a folder"),
        (".", "`.` is a folder"),
        ("src/{a,b}.py", "`{a,b}` in `src/{a,b}.py` is compared letter by letter"),
        ("src/?.py", "`?` in `src/?.py` is compared letter by letter"),
        ("config.yaml ", "`config.yaml ` begins or ends with a blank"),
        ("a.py, b.py", "`a.py, b.py` is one entry with several files"),
    ] {
        let text = format!("policies: [{{type: read_before_write}}]\nexisting_files: ['{listed}']\n");
        let said = said(&text).concat();
        assert!(said.contains("error[matches_nothing]") && said.contains(why), "{listed}: {said}");
    }
}

/// A write that nobody can check is allowed, as measured, and says so.
#[test]
fn a_write_without_a_path_that_the_policy_knows_is_reported() {
    let write = |arguments: Value| vec![("write_file", arguments, true)];
    let judged = |policy: Value, calls: &[(&str, Value, bool)], files: Option<&[&str]>| {
        let policy = crate::policies::policy("p.json", &json!({"policies": [policy]}).to_string());
        let files = files.map(|files| files.iter().map(|file| (*file).to_owned()).collect());
        let mut recording = Recording::new().files(files);
        for (tool, arguments, success) in calls {
            recording = recording.turn([(*tool, arguments, *success)]);
        }
        codes(&Replay::new(&recording.finish(), &policy, Mode::Enforce))
    };
    let usual = json!({"type": "read_before_write"});
    let unknown = "report path_unknown";
    for arguments in
        [json!({"filename": "a"}), json!({"target_file": "a"}), json!({}), json!({"path": 7}), json!([])]
    {
        assert_eq!(judged(usual.clone(), &write(arguments.clone()), None), [unknown], "{arguments}");
        // Whether the files are listed or not.
        assert_eq!(judged(usual.clone(), &write(arguments.clone()), Some(&["a"])), [unknown], "{arguments}");
    }
    assert_eq!(judged(usual.clone(), &write(json!({"path": "new"})), Some(&[])), [""]);

    let named = json!({"type": "read_before_write", "path_argument": "$.target.file"});
    let target = |file: &str| json!({"target": {"file": file}});
    assert_eq!(judged(named.clone(), &write(target("a")), Some(&["a"])), [DENIED]);
    assert_eq!(judged(named.clone(), &write(target("b")), Some(&["a"])), [""]);
    assert_eq!(judged(named.clone(), &write(json!({"target": "a"})), Some(&["a"])), [unknown]);
    // Reads may name the path in the usual way, or in this one; and a write makes its file there.
    for read in [json!({"path": "a"}), target("a")] {
        let calls = [("read_file", read, true), ("write_file", target("a"), true)];
        assert_eq!(judged(named.clone(), &calls, Some(&["a"])), ["", ""]);
    }
    let twice = [("write_file", target("n"), true), ("edit_file", json!({"path": "n"}), true)];
    assert_eq!(judged(named, &twice, Some(&[])), ["", DENIED]);
    for (path, help) in
        [("target_file", "path_argument: $.target_file"), ("$.files[*]", "use only names and indices")]
    {
        let text = format!("policies: [{{type: read_before_write, path_argument: '{path}'}}]");
        let loaded = crate::policies::loaded("p.yaml", &text);
        assert!(loaded.policy.is_none());
        let wrong = &loaded.diagnostics[0];
        assert!(
            wrong.code.as_str() == "bad_path" && wrong.help.as_ref().unwrap().contains(help),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_file_exists_from_the_start_of_its_write() {
    let document = json!({"policies": [{"type": "read_before_write"}]});
    let policy = policy("policy.json", &document.to_string());
    let write = json!({"path": "a"});
    let calls = [("write_file", &write, false), ("write_file", &write, true)];
    let recording = Recording::new().files(Some(Vec::new())).turn(calls).turn([("write_file", &write, true)]);
    // Answered one by one, the failed write takes its file back before the second is decided.
    assert_eq!(codes(&Replay::new(&recording.finish(), &policy, Mode::Enforce)), ["", "", DENIED]);
    let in_flight =
        Recording::new().files(Some(Vec::new())).in_flight([("write_file", &write), ("write_file", &write)]);
    assert_eq!(codes(&Replay::new(&in_flight.finish(), &policy, Mode::Enforce)), ["", DENIED]);
}

#[test]
fn mistakes_are_told_with_line_and_column() {
    let rule = |rule: &str| said(&format!("policies:\n  - {rule}\n"));
    let cases = [
        (
            rule("{type: other}"),
            "p.yaml:2:12: error[bad_value]: `type`: expected `sequential_dependency` or `read_before_write`, found `other`",
        ),
        (rule("{dependencies: {}}"), "p.yaml:2:6: error[missing_key]: the key `type` is missing"),
        (
            rule("{type: sequential_dependency}"),
            "p.yaml:2:6: error[missing_key]: the key `dependencies` is missing",
        ),
        (
            rule("{type: sequential_dependency, dependencies: {a: b}}"),
            "p.yaml:2:53: error[wrong_type]: expected a list for `a`, found text",
        ),
        (
            rule("{type: sequential_dependency, dependencies: {a: [1]}}"),
            "p.yaml:2:54: error[wrong_type]: expected text, found a number",
        ),
        (
            rule("{type: sequential_dependency, dependencies: {a: [b]}, mount_point: /w}"),
            "p.yaml:2:59: error[unknown_key]: unknown key `mount_point`",
        ),
        (
            rule("{type: read_before_write, read_tool: [a]}"),
            "p.yaml:2:31: error[unknown_key]: unknown key `read_tool`, did you mean `read_tools`?",
        ),
        (
            rule("{type: read_before_write, mount_point: 3}"),
            "p.yaml:2:44: error[wrong_type]: expected text for `mount_point`, found a number",
        ),
        (
            said("policies: []\nexisting_files: a\n"),
            "p.yaml:2:17: error[wrong_type]: expected a list for `existing_files`, found text",
        ),
        (
            said("policies: []\nsection: []\n"),
            "p.yaml:2:1: error[unknown_key]: unknown key `section`, did you mean `sections`?",
        ),
        (
            said("sections:\n  - {id: a}\n  - {id: a}\n"),
            "p.yaml:3:10: error[bad_value]: a second section `a`",
        ),
        (
            said("sections:\n  - {id: a, parent: b, tools: [x]}\n"),
            "p.yaml:2:21: error[unknown_parent]: there is no section `b`",
        ),
        (
            said("sections:\n  - {id: a, tools: [x]}\n  - {id: b, parent: a, tools: [x]}\n"),
            "p.yaml:3:32: error[tool_in_two_sections]: `x` is in two sections",
        ),
    ];
    let wrong: Vec<_> = cases.iter().filter(|(said, expected)| said != &[*expected]).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let scoped = |rest: &str| {
        format!(
            "sections:\n  - {{id: a, tools: [x, y], policies: [{{type: sequential_dependency, dependencies: {{x: [{rest}]}}}}]}}\n"
        )
    };
    let cases = [
        ("policies: [{type: read_before_write, mount_point: /w/}]\n".to_owned(), "p.yaml:1:51: warning[mount_point_slash]: the mount point `/w/` ends in a slash, so it is never removed from a path"),
        ("policies: [{type: read_before_write, mount_point: /w/*}]\n".to_owned(), "p.yaml:1:51: warning[literal_path]: `*` in the mount point `/w/*` is compared letter by letter, so the mount point is never removed from a path"),
        ("policies: [{type: read_before_write, mount_point: ~/w}]\n".to_owned(), "p.yaml:1:51: warning[literal_path]: `~` in the mount point `~/w` is not expanded"),
        ("policies: [{type: read_before_write}]\nexisting_files: [~/a]\n".to_owned(), "p.yaml:2:18: warning[literal_path]: `~` in `~/a` is not expanded, so this protects the file only from calls that write it so"),
        (scoped("z"), "p.yaml:2:88: warning[unknown_tool]: no section lists `z`"),
        (format!("{}  - {{id: b, tools: [z]}}\n", scoped("y, z")), "p.yaml:2:91: warning[prerequisite_not_recorded]: no sequential policy governs `z`, so it is never recorded"),
        ("sections:\n  - {id: a, tools: [x], policies: [{type: sequential_dependency, dependencies: {y: []}}]}\n  - {id: b, tools: [y]}\n".to_owned(), "p.yaml:2:81: warning[never_asked]: this section does not list `y`, so the entry is never checked"),
        ("policies: [{type: sequential_dependency, dependencies: {}}]\n".to_owned(), "p.yaml:1:12: warning[no_rules]: no tool has a dependency here, so this policy stops no call"),
        ("policies: [{type: sequential_dependency, dependencies: {x: []}}]\n".to_owned(), "p.yaml:1:12: warning[no_rules]: no tool has a dependency here, so this policy stops no call"),
        ("policies: [{type: read_before_write, write_tools: []}]\n".to_owned(), "p.yaml:1:12: warning[no_rules]: `write_tools` is empty, so this policy stops no call"),
        ("policies: [{type: read_before_write, read_tools: [cat]}]\nsections: [{id: a, tools: [read, edit_file]}]\n".to_owned(), "p.yaml:1:51: warning[unknown_tool]: no section lists `cat`"),
        ("policies: [{type: read_before_write}]\nsections: [{id: a, tools: [save]}]\n".to_owned(), "p.yaml:1:12: warning[never_asked]: the sections list none of the tools that write files (`write_file`, `edit_file`), so this policy stops no call"),
        ("sections:\n  - {id: a, tools: [x], policies: [{type: read_before_write, write_tools: [y]}]}\n  - {id: b, tools: [y]}\n".to_owned(), "p.yaml:2:36: warning[never_asked]: this section lists none of the tools that write files (`y`), so this policy stops no call"),
    ];
    let wrong: Vec<_> = cases
        .iter()
        .map(|(text, expected)| (said(text), expected))
        .filter(|(said, expected)| said != &[**expected])
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let clean = format!(
        "{}  - {{id: b, parent: a, tools: [z], policies: [{{type: sequential_dependency, dependencies: {{}}}}]}}\n",
        scoped("y, z")
    );
    assert_eq!(said(&clean), Vec::<String>::new());
}

/// A read that satisfies nothing is told where it is missed, and by `lint` before anyone is denied.
#[test]
fn a_read_without_a_path_that_the_policy_knows_is_named() {
    use rulestep::report::Scope;

    let text = "policies: [{type: read_before_write, name: read-first}]\nexisting_files: [a]\n";
    let write = json!({"path": "a"});
    let judged = |read: &Value, succeeded: bool| {
        let session = Recording::new()
            .turn([("read_file", read, succeeded)])
            .turn([("write_file", &write, true)])
            .finish();
        let whole = crate::policies::json(&session, &policy("p.yaml", text), Scope::Full);
        let call = &whole["turns"][1]["calls"][0];
        (call["findings"][0].clone(), call["checks"][0]["detail"]["read_without_path"].clone())
    };
    let elsewhere = json!({"absolute_path": "a"});
    let (told, unplaced) = judged(&elsewhere, true);
    assert_eq!(told["code"], "not_read_before_write");
    assert_eq!(
        told["message"],
        "`a` exists and was not read; the read in turn 1 names no file where the policy looks"
    );
    assert_eq!(unplaced, json!({"turn": 1, "call": 1, "index": 0}));
    // Neither of a read that failed nor of one that names another file.
    for (read, succeeded) in [(&elsewhere, false), (&json!({"path": "b"}), true)] {
        let (told, unplaced) = judged(read, succeeded);
        assert_eq!((&told["message"], unplaced), (&json!("`a` exists and was not read"), Value::Null));
    }
}

#[test]
fn recorded_state_and_checks_are_in_the_data() {
    use rulestep::report::Scope;

    let text = "policies:\n  - {type: sequential_dependency, name: order, dependencies: {deploy: [test, build]}}\n  \
                - {type: read_before_write, mount_point: /w}\n";
    let policy = policy("p.yaml", text);
    let (none, path) = (json!({}), json!({"path": "/w/a"}));
    let session = Recording::new()
        .turn([("test", &none, true), ("deploy", &none, true)])
        .turn([
            ("read_file", &path, true),
            ("write_file", &path, true),
            ("write_file", &json!({"path": "b"}), true),
        ])
        .operation(Operation::Reset)
        .finish();
    let whole = crate::policies::json(&session, &policy, Scope::Full);
    assert_eq!(whole["turns"][0]["state"], json!([]));
    assert_eq!(
        whole["turns"][1]["state"],
        json!([{"rule": "p.yaml#", "kind": "recorded", "tools": ["test"], "keys": []}])
    );
    // Nothing is recorded after the reset, though files are known.
    assert_eq!(whole["state_end"], json!([]));
    let deploy = &whole["turns"][0]["calls"][1];
    assert_eq!(deploy["checks"][0]["detail"], json!({"missing": ["build"]}));
    let finding = &deploy["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["description"], &finding["tell_llm"]),
        (&json!("dependency_missing"), &json!("order"), &json!("Tool 'deploy' requires: build"))
    );
    let writes = &whole["turns"][1]["calls"];
    assert_eq!(writes[1]["checks"][0]["detail"], json!({"key": "a", "exists": true, "read": true}));
    assert_eq!(writes[2]["decision"], "allow");
    let report = &writes[2]["findings"][0];
    assert_eq!(
        (&report["code"], &report["effect"], &report["checked"]),
        (&json!("existence_unknown"), &json!("report"), &json!({"path": "$.path", "value": "b"}))
    );
    assert_eq!(whole["summary"]["deny"], 1);
}
