//! `--where`: every command that reads recordings looks at the sessions that match, and says how many of how many.

use serde_json::{Value, json};

use tempfile::TempDir;

use super::{folder, rulestep};

const POLICY: &str = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";

fn session(id: &str, tool: &str, failed: bool) -> String {
    format!(
        r#"{{"id": "{id}", "messages": [{{"role": "assistant", "content": null, "tool_calls": [{{"id": "c1", "type": "function",
        "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}}, {{"role": "tool", "tool_call_id": "c1", "content": "x", "is_error": {failed}}}]}}"#
    )
    .replace('\n', "")
}

/// The exit code, standard output and standard error.
fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = rulestep(folder.path(), arguments).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|told| String::from_utf8(told).unwrap());
    (output.status.code().unwrap(), stdout, stderr)
}

fn files() -> TempDir {
    let sessions =
        [session("paid", "pay", false), session("failed", "look", true), session("seen", "look", false)];
    folder(&[("p.yaml", POLICY), ("s.jsonl", &sessions.join("\n"))])
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_replay_judges_the_sessions_that_match() {
    let files = files();
    for (filter, code, ids) in [
        ("is:stopped", 1, vec!["paid"]),
        ("!is:stopped", 0, vec!["failed", "seen"]),
        ("tool:look is:error", 0, vec!["failed"]),
        ("paid", 1, vec!["paid"]),
    ] {
        let (found, stdout, stderr) =
            run(&files, &["replay", "s.jsonl", "-p", "p.yaml", "--format", "json", "--where", filter]);
        let lines = lines(&stdout);
        let (totals, sessions) = lines.split_last().unwrap();
        let read: Vec<&str> = sessions.iter().map(|line| line["session"]["id"].as_str().unwrap()).collect();
        assert_eq!((found, &read), (code, &ids), "{filter} {stderr}");
        assert_eq!(totals["totals"]["sessions"], ids.len());
        assert!(stderr.contains(&format!("{} of 3 sessions match `{filter}`", ids.len())), "{stderr}");
    }
}

#[test]
fn a_filter_that_nothing_matches_is_not_a_clean_run() {
    let files = files();
    let verbs: [&[&str]; 4] = [
        &["replay", "s.jsonl", "-p", "p.yaml"],
        &["diff", "s.jsonl", "-p", "p.yaml", "-b", "p.yaml"],
        &["coverage", "s.jsonl", "-p", "p.yaml"],
        &["convert", "s.jsonl"],
    ];
    for verb in verbs {
        let (code, _, stderr) = run(&files, &[verb, &["--where", "nowhere"]].concat());
        assert_eq!(code, 2, "{verb:?} {stderr}");
        assert!(stderr.contains("0 of 3 sessions match `nowhere`"), "{verb:?} {stderr}");
        let (code, _, stderr) = run(&files, &[verb, &["--where", "tol:pay"]].concat());
        assert_eq!(code, 2, "{verb:?} {stderr}");
        assert!(
            stderr.contains("unknown key `tol:`") && stderr.contains("did you mean `tool:`?"),
            "{stderr}"
        );
    }
    let (_, stdout, _) =
        run(&files, &["replay", "s.jsonl", "-p", "p.yaml", "--format", "junit", "--where", "nowhere"]);
    assert!(stdout.contains("no session matches `--where`"), "{stdout}");
}

#[test]
fn diff_and_convert_look_at_the_sessions_that_match() {
    let files = files();
    let diff = ["diff", "s.jsonl", "-p", "p.yaml", "-b", "recorded", "--format", "json", "--where"];
    let (code, stdout, _) = run(&files, &[&diff[..], &["tool:look"]].concat());
    assert_eq!((code, lines(&stdout).len()), (0, 3), "{stdout}");
    let (code, stdout, _) = run(&files, &[&diff[..], &["tool:pay"]].concat());
    assert_eq!((code, lines(&stdout).len()), (1, 2), "{stdout}");

    let (code, stdout, _) = run(&files, &["convert", "s.jsonl", "--where", "is:error"]);
    assert_eq!((code, lines(&stdout)[0]["id"].as_str()), (0, Some("failed")), "{stdout}");
    let (code, _, stderr) = run(&files, &["convert", "s.jsonl", "--where", "is:stopped"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("no policy is named"), "{stderr}");
}

#[test]
fn the_command_that_does_it_again_has_the_filter() {
    let files = files();
    let (_, stdout, _) = run(
        &files,
        &["replay", "s.jsonl", "-p", "p.yaml", "--format", "junit", "--where", "is:stopped !tool:look"],
    );
    let command = "rulestep replay s.jsonl --where &apos;is:stopped !tool:look&apos; -p p.yaml";
    assert!(stdout.contains(command), "{stdout}");
}

#[test]
fn findings_are_counted_by_what_they_share() {
    let files = files();
    let by = |key: &str, form: &str| {
        run(&files, &["replay", "s.jsonl", "-p", "p.yaml", "--by", key, "--format", form])
    };
    let (code, text, _) = by("tool", "text");
    assert_eq!(code, 1);
    insta::assert_snapshot!(text, @r"
    stopped  violated  calls  sessions  tool
          1         0      1         1  pay  first paid:1.1
          0         0      2         2  look
    ");
    let (_, markdown, _) = by("rule", "markdown");
    insta::assert_snapshot!(markdown, @r"
    | rule | stopped | violated | calls | sessions |
    |---|--:|--:|--:|--:|
    | <code>check before pay</code> | 1 | 0 | 1 | 1 |
    ");
    let (_, json, _) = by("code", "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["schema"], &json["by"]), (&"rulestep.breakdown/1".into(), &"code".into()));
    assert_eq!(
        (&json["rows"][0]["key"], &json["rows"][0]["stopped"]),
        (&"prior_tool_missing".into(), &1.into())
    );
    let (code, _, stderr) = by("code", "sarif");
    assert!(code == 2 && stderr.contains("`--by` does not write `sarif`"), "{stderr}");
}

/// Such calls are nobody's row, but they do decide how the command ends.
#[test]
fn stopped_calls_of_choices_not_taken_are_named_apart() {
    let answered = |id: &str, tool: &str| {
        let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}});
        json!({"role": "assistant", "content": null, "tool_calls": [call]})
    };
    let choices = json!([
        {"index": 0, "finish_reason": "tool_calls", "message": answered("a", "look")},
        {"index": 1, "finish_reason": "tool_calls", "message": answered("b", "pay")},
    ]);
    let user = json!({"role": "user", "content": "x"});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
    let done =
        json!([{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}]);
    let logged = [
        json!({"request": {"messages": [user]}, "response": {"object": "chat.completion", "choices": choices}}),
        json!({"request": {"messages": [user, answered("a", "look"), result]},
            "response": {"object": "chat.completion", "choices": done}}),
    ];
    let files = folder(&[("p.yaml", POLICY), ("s.jsonl", &logged.map(|line| line.to_string()).join("\n"))]);
    let (code, stdout, stderr) = run(&files, &["replay", "s.jsonl", "-p", "p.yaml", "--by", "tool"]);
    assert_eq!(code, 1);
    assert!(!stdout.contains("pay"), "{stdout}");
    assert!(stderr.contains("not counted: 1 call denied in choices that were not taken"), "{stderr}");
}

#[test]
fn coverage_is_reported_in_each_form() {
    let files = files();
    let coverage = |form: &str| run(&files, &["coverage", "s.jsonl", "-p", "p.yaml", "--format", form]);
    let (code, text, _) = coverage("text");
    assert_eq!(code, 0);
    insta::assert_snapshot!(text, @r"
    fired: stopped a call, spoke against one, or was violated (1)
      check before pay  p.yaml:2
          1 call in 1 session: 1 stopped · first paid:1.1

    tools without a rule, by calls  look 2
    3 sessions, 3 calls, 1 rule: 1 fired, 0 asked but never fired, 0 never asked
    ");
    let (_, markdown, _) = coverage("markdown");
    insta::assert_snapshot!(markdown, @r"
    ### 3 sessions, 3 calls, 1 rule: 1 fired, 0 asked but never fired, 0 never asked

    | rule | sessions | calls | passed | stopped | violated | state |
    |---|--:|--:|--:|--:|--:|---|
    | <code>check before pay</code> `p.yaml:2` | 1 | 1 | 0 | 1 | 0 | fired |
    ");
    let (_, json, _) = coverage("json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "rulestep.coverage/1");
    assert_eq!(json["rules"][0]["first"]["session"], "paid");
    assert_eq!(json["tools"][0], json!({"tool": "look", "calls": 2, "asked": 0, "ungoverned": true}));
}
