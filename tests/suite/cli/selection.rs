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
    let verbs: [&[&str]; 5] = [
        &["stats", "s.jsonl"],
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

/// What is after a stopped call is decided in the mode that was asked for.
#[test]
fn convert_judges_in_the_mode_that_is_asked_for() {
    let policy = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n---\ntool: ship\npreconditions: [{requires_prior_tool: pay}]\n";
    let message = |tool: &str| {
        let call = json!({"id": tool, "type": "function", "function": {"name": tool, "arguments": "{}"}});
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": tool, "content": "ok"}),
        ]
    };
    let messages = [message("pay"), message("ship")].concat();
    let files =
        folder(&[("p.yaml", policy), ("s.json", &json!({"id": "a", "messages": messages}).to_string())]);
    let convert = |more: &[&str]| {
        run(&files, &[&["convert", "s.json", "--where", "tool:ship is:stopped"], more].concat())
    };
    assert_eq!(convert(&["-p", "p.yaml"]).0, 0);
    let (code, stdout, stderr) = convert(&["-p", "p.yaml", "--mode", "shadow"]);
    assert!(code == 2 && stdout.is_empty() && stderr.contains("0 of 1 session match"), "{stdout} {stderr}");
    let (code, _, stderr) = run(&files, &["convert", "s.json", "--mode", "shadow"]);
    assert!(code == 2 && stderr.contains("no policy is named"), "{stderr}");
    let (code, _, stderr) = run(&files, &["convert", "s.json", "-p", "p.yaml"]);
    assert!(code == 2 && stderr.contains("does not change what `convert` writes"), "{stderr}");
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
    | `check before pay` | 1 | 0 | 1 | 1 |
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

/// A session whose first response has a second choice: `pay`, unchecked.
fn with_choice() -> TempDir {
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
    folder(&[("p.yaml", POLICY), ("s.jsonl", &logged.map(|line| line.to_string()).join("\n"))])
}

/// Such calls are nobody's row, but they do decide how the command ends.
#[test]
fn stopped_calls_of_choices_not_taken_are_named_apart() {
    let files = with_choice();
    let by = |form: &str| {
        let (code, stdout, _) =
            run(&files, &["replay", "s.jsonl", "-p", "p.yaml", "--by", "tool", "--format", form]);
        assert_eq!(code, 1, "{stdout}");
        assert!(!stdout.contains("pay"), "{stdout}");
        stdout
    };
    for form in ["text", "markdown"] {
        let stdout = by(form);
        assert!(stdout.contains("not counted: 1 call denied in choices that were not taken"), "{stdout}");
    }
    assert_eq!(lines(&by("json"))[0]["alternatives_stopped"], 1);
}

/// A rule that stops such a call is asked something, and fires.
#[test]
fn coverage_counts_calls_of_choices_not_taken_apart() {
    let files = with_choice();
    let coverage = |form: &str| run(&files, &["coverage", "s.jsonl", "-p", "p.yaml", "--format", form]).1;
    let text = coverage("text");
    insta::assert_snapshot!(text, @r"
    with findings: stopped, reported or objected to a call, or was violated (1)
      check before pay  p.yaml:2
          1 session · 1 call in choices not taken, 1 failed · first s:1.2.1

    tools without a rule, by calls  look 1
    1 session, 1 call and 1 in choices not taken, 1 rule: 1 with findings, 0 checked without findings, 0 never checked
    ");
    let markdown = coverage("markdown");
    let asked = "- `check before pay` `p.yaml:2`\n  `1 session · 1 call in choices not taken, 1 failed · first s:1.2.1`\n";
    assert!(markdown.contains(asked), "{markdown}");
    let page = coverage("html");
    assert!(page.contains("1 session · 1 call in choices not taken, 1 failed · first s:1.2.1"), "{page}");
    let json = &lines(&coverage("json"))[0];
    assert_eq!((&json["calls"], &json["alternatives"]), (&json!(1), &json!(1)));
    let rule = &json["rules"][0];
    assert_eq!((&rule["calls"], &rule["stopped"], &rule["state"]), (&json!(0), &json!(0), &json!("fired")));
    assert_eq!((&rule["alternatives"], &rule["alternatives_failed"]), (&json!(1), &json!(1)));
    assert_eq!(rule["first"]["choice"], json!({"turn": 1, "choice": 2, "call": 1}));
    let pay = json!({"tool": "pay", "calls": 0, "alternatives": 1, "asked": 1, "ungoverned": false});
    assert_eq!(json["tools"][1], pay);
}

const COUNTING: [&[&str]; 3] = [
    &["stats", "s.jsonl", "more", "-p", "p.yaml"],
    &["coverage", "s.jsonl", "more", "-p", "p.yaml"],
    &["replay", "s.jsonl", "more", "-p", "p.yaml", "--by", "rule"],
];

/// What could not be read may hold anything: every form says so, not the exit code alone.
#[test]
fn counts_say_that_they_are_incomplete() {
    let files = files();
    std::fs::create_dir(files.path().join("more")).unwrap();
    std::fs::write(files.path().join("more/broken.jsonl"), "{\"messages\": [{\"role\": \"us\n{\n").unwrap();
    std::fs::write(files.path().join("more/notes.json"), "{\"colour\": \"red\"}").unwrap();
    for verb in COUNTING {
        let form = |form: &str| run(&files, &[verb, &["--format", form]].concat());
        let (code, text, stderr) = form("text");
        assert_ne!(code, 0, "{verb:?} {stderr}");
        assert!(
            text.contains("\n1 error in recordings: not everything was counted\n"),
            "{verb:?} {text} {stderr}"
        );
        assert!(text.contains("\n2 files skipped: nothing in them is a recording\n"), "{verb:?} {text}");
        let (_, markdown, _) = form("markdown");
        assert!(markdown.contains("\n**1 error in recordings: not everything was counted**\n"), "{markdown}");
        let (_, json, _) = form("json");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["skipped"], &json["interrupted"]), (&json!(2), &json!(false)), "{json}");
        assert_eq!(json["diagnostics"]["errors"], 1, "{json}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn counts_say_that_they_were_interrupted() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let files = files();
    let verbs: [&[&str]; 3] = [
        &["coverage", "-", "-p", "p.yaml"],
        &["replay", "-", "-p", "p.yaml", "--by", "rule"],
        &["stats", "-"],
    ];
    for (verb, form, expected) in [
        (verbs[0], "text", "interrupted: these results are incomplete\n"),
        (verbs[1], "text", "interrupted: these results are incomplete\n"),
        (verbs[0], "markdown", "\n**interrupted: these results are incomplete**\n"),
        (verbs[1], "markdown", "\n**interrupted: these results are incomplete**\n"),
        (verbs[0], "json", "\"interrupted\":true"),
        (verbs[1], "json", "\"interrupted\":true"),
        (verbs[2], "text", "interrupted: these results are incomplete\n"),
        (verbs[2], "markdown", "\n**interrupted: these results are incomplete**\n"),
        (verbs[2], "json", "\"interrupted\":true"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rulestep"));
        command.args(verb).args(["--format", form]).current_dir(files.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", session("paid", "pay", false)).unwrap();
        // Once it watches for interrupts.
        let status = format!("/proc/{}/status", child.id());
        let watches = || {
            let status = std::fs::read_to_string(&status).unwrap();
            let caught =
                status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim().to_owned();
            u64::from_str_radix(&caught, 16).unwrap() & 2 != 0
        };
        let begun = std::time::Instant::now();
        while !watches() {
            assert!(begun.elapsed().as_secs() < 60);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(input);
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(130), "{verb:?} {stdout}");
        assert!(stdout.contains(expected), "{verb:?} {stdout}");
    }
}

#[test]
fn the_usage_of_a_counting_command_names_it() {
    let files = files();
    for (verb, usage) in [
        (&["coverage", "-p", "p.yaml"][..], "`rulestep coverage SESSIONS`"),
        (&["replay", "-p", "p.yaml", "--by", "rule"], "`rulestep replay SESSIONS`"),
        (&["stats"], "`rulestep stats SESSIONS`"),
    ] {
        let (code, _, stderr) = run(&files, verb);
        assert!(code == 2 && stderr.contains(usage), "{stderr}");
    }
}

#[test]
fn coverage_is_reported_in_each_form() {
    let files = files();
    let coverage = |form: &str| run(&files, &["coverage", "s.jsonl", "-p", "p.yaml", "--format", form]);
    let (code, text, _) = coverage("text");
    assert_eq!(code, 0);
    insta::assert_snapshot!(text, @r"
    with findings: stopped, reported or objected to a call, or was violated (1)
      check before pay  p.yaml:2
          1 call in 1 session: 1 stopped · first paid:1.1

    tools without a rule, by calls  look 2
    3 sessions, 3 calls, 1 rule: 1 with findings, 0 checked without findings, 0 never checked
    ");
    let (_, markdown, _) = coverage("markdown");
    insta::assert_snapshot!(markdown, @r"
    ### 3 sessions, 3 calls, 1 rule: 1 with findings, 0 checked without findings, 0 never checked

    #### with findings: stopped, reported or objected to a call, or was violated (1)

    - `check before pay` `p.yaml:2`
      `1 call in 1 session: 1 stopped · first paid:1.1`

    **tools without a rule, by calls** `look` 2
    ");
    let (_, json, _) = coverage("json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "rulestep.coverage/1");
    assert_eq!(json["rules"][0]["first"]["session"], "paid");
    assert_eq!(json["tools"][0], json!({"tool": "look", "calls": 2, "asked": 0, "ungoverned": true}));
}
