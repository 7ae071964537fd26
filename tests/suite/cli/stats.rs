//! `stats`: what recordings hold.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, rulestep};

const POLICY: &str = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";

/// A session of calls: tool, arguments, and whether the result is ok, an error, a refusal or missing.
fn session(id: &str, at: Option<&str>, project: Option<&str>, calls: &[(&str, Value, &str)]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "x", "at": at})];
    for (number, (tool, arguments, ended)) in calls.iter().enumerate() {
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        let call = json!({"id": number.to_string(), "type": "function", "function": {"name": tool, "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        if *ended != "none" {
            messages.push(json!({"role": "tool", "tool_call_id": number.to_string(), "content": "x",
                "is_error": *ended == "error", "refused": *ended == "refused"}));
        }
    }
    json!({"id": id, "context": {"project": project}, "messages": messages}).to_string()
}

fn files() -> TempDir {
    let first = session(
        "a",
        Some("2026-05-04T23:30:00-02:00"),
        Some("shop"),
        &[
            ("Bash", json!({"command": "cd /x && git push https://git.example.org/x.git | tail"}), "ok"),
            ("Bash", json!({"command": "git commit -m \"$(cat x)\""}), "error"),
            ("shell", json!({"command": ["bash", "-lc", "ls; git status"]}), "none"),
            ("Read", json!({"file_path": "src/a.rs"}), "ok"),
            ("Edit", json!({"file_path": "src/a.rs", "new_string": "see https://not.counted/ here"}), "ok"),
            ("str_replace_editor", json!({"command": "view", "path": "src/a.rs"}), "ok"),
            (
                "apply_patch",
                json!({"input": "*** Begin Patch\n*** Update File: src/a.rs\n*** Add File: src/b.rs\n*** End Patch"}),
                "ok",
            ),
            ("share", json!({"file": "x.png"}), "ok"),
            ("WebFetch", json!({"url": "HTTPS://user:secret@Example.ORG:8443/a?b=c", "prompt": "x"}), "ok"),
            ("WebFetch", json!({"url": "https://exa mple.org"}), "ok"),
            ("WebFetch", json!({"url": "https:///nowhere"}), "error"),
            ("pay", json!({"note": "file:///etc/passwd"}), "ok"),
        ],
    );
    let second = session(
        "b",
        None,
        None,
        &[
            ("pay", json!("{'order': 1}"), "ok"),
            // It did nothing.
            ("Bash", json!({"command": "rm -rf / https://refused.example/"}), "refused"),
            (
                "file_change",
                json!({"changes": [{"path": "c.rs", "kind": "add"}, {"path": "\u{1b}[31m.rs"}]}),
                "ok",
            ),
        ],
    );
    folder(&[("p.yaml", POLICY), ("s.jsonl", &[first, second].join("\n"))])
}

fn stats(files: &TempDir, more: &[&str]) -> (i32, String, String) {
    let output = rulestep(files.path(), &[&["stats", "s.jsonl"], more].concat()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|told| String::from_utf8(told).unwrap());
    (output.status.code().unwrap(), stdout, stderr)
}

#[test]
fn text_lists_what_recordings_hold() {
    let (code, text, stderr) = stats(&files(), &[]);
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_policy_adds_the_calls_that_it_stops() {
    let files = files();
    let (_, text, _) = stats(&files, &["-p", "p.yaml"]);
    assert!(text.contains("calls  errors  refused  no result  stopped\n"), "{text}");
    assert!(text.contains("      2       0        0          0        2  pay\n"), "{text}");
    let json = |more: &[&str]| -> Value {
        serde_json::from_str(&stats(&files, &[&["--format", "json"], more].concat()).1).unwrap()
    };
    let (with, without) = (json(&["-p", "p.yaml"]), json(&[]));
    assert_eq!(with["policy"]["documents"], json!(["p.yaml"]));
    let pay = |json: &Value| {
        json["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == "pay").cloned().unwrap()
    };
    assert_eq!(pay(&with)["stopped"], 2);
    assert!(without["policy"].is_null() && pay(&without).get("stopped").is_none());
    let (code, _, stderr) = stats(&files, &["--where", "is:stopped"]);
    assert!(code == 2 && stderr.contains("no policy is named"), "{stderr}");
    let (code, text, stderr) = stats(&files, &["--where", "tool:share"]);
    assert!(
        code == 0
            && stderr.contains("1 of 2 sessions match")
            && text.ends_with("\n1 session, 12 calls of 9 tools\n"),
        "{text}"
    );
}

#[test]
fn json_has_every_row() {
    let (_, json, _) = stats(&files(), &["--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn markdown_keeps_what_is_recorded_apart_from_markup() {
    let (_, markdown, _) = stats(&files(), &["--format", "markdown"]);
    insta::assert_snapshot!(markdown);
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let calls: Vec<_> = (0..25).map(|number| (format!("tool{number:02}"), json!({}), "ok")).collect();
    let calls: Vec<_> =
        calls.iter().map(|(tool, arguments, ended)| (tool.as_str(), arguments.clone(), *ended)).collect();
    let files = folder(&[("s.jsonl", &session("a", None, None, &calls))]);
    let (_, text, _) = stats(&files, &[]);
    assert!(text.contains("tool09\n  15 more (--full shows all)\n") && !text.contains("tool10"), "{text}");
    let (_, text, _) = stats(&files, &["--full"]);
    assert!(text.contains("tool24\n\n") && !text.contains("more"), "{text}");
    let (_, markdown, _) = stats(&files, &["--format", "markdown"]);
    assert!(markdown.contains("\n15 more (`--full` shows all)\n"), "{markdown}");
    let (_, json, _) = stats(&files, &["--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["tools"].as_array().unwrap().len(), 25);
}

/// What a list of the JSON says of a name.
fn row<'j>(json: &'j Value, list: &str, key: &str, name: &str) -> Option<&'j Value> {
    json[list].as_array().unwrap().iter().find(|row| row[key] == name)
}

fn json_of(sessions: &[String], more: &[&str]) -> Value {
    let files = folder(&[
        ("s.jsonl", &sessions.join("\n")),
        ("p.yaml", "facts: [{program: ship, reaches: ship.example}]\nrules: []\n"),
    ]);
    let (code, text, stderr) = stats(&files, &[&["--format", "json"], more].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_calls_do_is_counted_by_the_facts_of_rules() {
    let bash = |command: &str| json!({ "command": command });
    let calls = [
        ("Bash", bash("git -C sub --no-pager push origin"), "ok"),
        ("Bash", bash("sudo env A=1 git push && cargo test; echo git push; git commit -m 'git push'"), "ok"),
        ("Bash", bash("git push"), "error"),
        ("Bash", bash("git push"), "refused"),
        ("Bash", bash("rm -rf ../other /tmp/x build ~/notes; cat .env > copy; printenv A_TOKEN"), "ok"),
        ("Bash", bash("cat \"$FILE\"; curl https://a.example/x \"$URL\""), "ok"),
        ("Bash", bash("$CMD push; python3 x.py"), "ok"),
        ("Bash", bash("echo 'open"), "ok"),
        ("Write", json!({"file_path": "/w/app/src/a.rs"}), "ok"),
        ("Read", json!({"file_path": "src/a.rs"}), "ok"),
        ("mcp__x__send", json!({"url": "https://b.example/", "file": "src/a.rs"}), "ok"),
    ];
    let json =
        json_of(&[session("a", None, Some("/w/app"), &calls), session("b", None, None, &calls[..1])], &[]);
    assert_eq!(json["schema"], "rulestep.stats/2");
    let program = |name: &str| {
        let row = row(&json, "programs", "name", name);
        row.map(|row| {
            [&row["calls"], &row["sessions"], &row["ok"], &row["errors"]].map(|count| count.as_u64().unwrap())
        })
    };
    // A text that is only data is no command, and a refused call did nothing. Of `a && b; c` only the last is known.
    assert_eq!(program("git push"), Some([4, 2, 2, 1]));
    assert_eq!(program("git commit"), Some([1, 1, 1, 0]));
    assert_eq!(program("cargo test"), Some([1, 1, 0, 0]));
    assert_eq!(program("push"), None);
    let place = |name: &str| {
        let row = row(&json, "places", "place", name).unwrap();
        [&row["read"], &row["written"], &row["deleted"]].map(|count| count.as_u64().unwrap())
    };
    for (name, expected) in [
        ("project", [3, 2, 1]),
        ("outside", [0, 0, 1]),
        ("temporary", [0, 0, 1]),
        ("home", [0, 0, 1]),
        ("environment", [1, 0, 0]),
        ("unknown", [1, 0, 0]),
        // `.env`, and `A_TOKEN` in the same call.
        ("secret", [1, 0, 0]),
    ] {
        assert_eq!(place(name), expected, "{name}");
    }
    // One file under two names; a tool of which nothing is known only names it.
    let file = row(&json, "files", "file", "/w/app/src/a.rs").unwrap();
    assert_eq!([&file["calls"], &file["read"], &file["written"]], [&json!(3), &json!(1), &json!(1)]);
    let reached = |name: &str| row(&json, "hosts", "name", name).map(|row| row["reached"].as_u64().unwrap());
    assert_eq!([reached("a.example"), reached("b.example")], [Some(1), Some(0)]);
    assert_eq!(reached("(the remote of git)"), Some(4));
    let unknown = |what: &str| row(&json, "unknown", "what", what).map(|row| row["calls"].as_u64().unwrap());
    // `cargo test` runs what is in the project, as `python3 x.py` does.
    let gaps = [("command_line", 1), ("command", 2), ("code", 2), ("tool", 1), ("file", 1), ("host", 5)];
    for (what, calls) in gaps {
        assert_eq!(unknown(what), Some(calls), "{what}");
    }
    assert_eq!(json["commands"], 8);
}

#[test]
fn names_are_cut_and_a_policy_adds_facts() {
    let long = "x".repeat(5000);
    let calls = [
        ("Bash", json!({"command": format!("{long} && ship it && rm {long}")}), "ok"),
        ("WebFetch", json!({"url": format!("https://{long}.example/")}), "ok"),
    ];
    let sessions = [session("a", None, None, &calls)];
    let json = json_of(&sessions, &["-p", "p.yaml"]);
    for (list, key) in [("programs", "name"), ("files", "file"), ("hosts", "name")] {
        for row in json[list].as_array().unwrap() {
            assert!(row[key].as_str().unwrap().chars().count() <= 201, "{row}");
        }
    }
    assert!(row(&json, "hosts", "name", "ship.example").is_some(), "{json}");
    assert!(row(&json_of(&sessions, &[]), "hosts", "name", "ship.example").is_none());
}

/// The inventory calls secret what the shipped policy keeps secret.
#[test]
fn the_names_of_secrets_are_those_of_the_policy_for_coding_agents() {
    let text = include_str!("../../../contracts/coding/secrets.yaml");
    let (_, list) = text.split_once("reads:").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let names: Vec<&str> = list.split('\'').skip(1).step_by(2).collect();
    assert_eq!(names, rulestep::explore::inventory::SECRETS);
}
