//! Rules about what calls do that recordings suggest: each is what the engine decides, and text that only looks like a command
//! is no command.

use std::sync::Arc;

use rulestep::report::suggest::{action_sentence, counted};
use rulestep::suggest::action::{ActionRule, ActionSuggestion, document, suggest_actions};
use rulestep::suggest::{Bounds, suggest};
use rulestep_base::session::Session;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};
use serde_json::{Value, json};

use super::read;
use crate::cli::rulestep;

/// A session of turns. `!` before a command: it failed; `?`: its result is not recorded; `&`: it is of the turn before.
fn bash(id: usize, lines: &[&str]) -> String {
    let steps = lines.iter().map(|line| {
        let command = line.trim_start_matches(['!', '?', '&']);
        (line.split(command).next().unwrap_or_default().to_owned(), "Bash", json!({ "command": command }))
    });
    session(id, steps)
}

fn session<'s>(id: usize, steps: impl Iterator<Item = (String, &'s str, Value)>) -> String {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    let mut results = Vec::new();
    for (at, (marks, tool, arguments)) in steps.enumerate() {
        let call = json!({"id": at.to_string(), "type": "function",
            "function": {"name": tool, "arguments": arguments.to_string()}});
        if marks.contains('&') {
            let asked = messages.iter_mut().rev().find(|message| message["role"] == "assistant").unwrap();
            asked["tool_calls"].as_array_mut().unwrap().push(call);
        } else {
            messages.append(&mut results);
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        }
        if !marks.contains('?') {
            results.push(json!({"role": "tool", "tool_call_id": at.to_string(), "content": "x",
                "is_error": marks.contains('!')}));
        }
    }
    messages.append(&mut results);
    json!({"id": format!("s{id}"), "context": {"cwd": "/w/app"}, "messages": messages}).to_string()
}

fn times(count: usize, lines: &[&str]) -> Vec<String> {
    (0..count).map(|id| bash(id, lines)).collect()
}

fn found(lines: &[String], bounds: &Bounds) -> (Vec<Arc<Session>>, Vec<ActionSuggestion>) {
    let sessions = read(lines);
    let tools = suggest(&sessions, bounds).rules;
    let actions = suggest_actions(&sessions, bounds, &tools);
    (sessions, actions)
}

fn sentences(lines: &[String]) -> Vec<String> {
    let (sessions, actions) = found(lines, &Bounds::default());
    for one in &actions {
        let stopped = stopped(std::slice::from_ref(one), &sessions) as u64;
        assert_eq!(
            (one.against, one.unsure),
            (0, stopped),
            "the engine says the same of {}",
            action_sentence(&one.rule)
        );
    }
    actions.iter().map(|one| action_sentence(&one.rule)).collect()
}

fn policy(actions: &[ActionSuggestion]) -> Arc<Policy> {
    let rules: Vec<&ActionRule> = actions.iter().map(|one| &one.rule).collect();
    let text = document(&rules, &|_| vec!["why".to_owned()], false);
    let file = PolicyFile {
        name: "c.yaml".into(),
        relative: "c.yaml".into(),
        text: text.as_str().into(),
        named: true,
    };
    let loaded = Policy::load(&[file], None);
    assert!(loaded.diagnostics.is_empty(), "{text}{:?}", loaded.diagnostics);
    loaded.policy.unwrap()
}

/// The calls that suggestions would stop.
fn stopped(actions: &[ActionSuggestion], sessions: &[Arc<Session>]) -> usize {
    if actions.is_empty() {
        return 0;
    }
    let policy = policy(actions);
    let of = |session| {
        let replay = Replay::new(session, &policy, Mode::Shadow);
        replay.calls().iter().filter(|call| call.decision.verdict != Verdict::Allow).count()
    };
    sessions.iter().map(of).sum()
}

const NEEDS_TEST: &str = "`git push` needs an earlier success of `cargo test`";

#[test]
fn a_push_after_tests_is_found_however_both_are_spelt() {
    for lines in [
        &["cargo test", "git push"][..],
        &["cargo +nightly test --workspace", "git -C sub --no-pager push origin main"],
        &["cd x && cargo test", "sudo env A=1 git push"],
        &["cargo test && git push"],
        &["bash -lc 'cargo test'", "bash -lc \"git push\""],
        &["cargo test", "!cargo test", "git push"],
        &["!git pull; ls", "cargo test", "echo done; git push"],
    ] {
        assert_eq!(sentences(&times(12, lines)), [NEEDS_TEST], "{lines:?}");
    }
}

#[test]
fn what_only_looks_like_it_is_not_found() {
    for lines in [
        // Text, not a command.
        &["echo cargo test", "git push"][..],
        &["cargo test", "echo git push"],
        &["cargo test", "git commit -m 'git push' --dry-run; grep 'git push' x"],
        &["cat <<'E' > run.sh\ncargo test\nE", "git push"],
        &["# cargo test\nls", "git push"],
        // Success that is not known, or that came too late.
        &["cargo test | tail", "git push"],
        &["cargo test || true", "git push"],
        &["cargo test; git push"],
        &["!cargo test", "git push"],
        &["?cargo test", "git push"],
        &["git push", "cargo test"],
        &["cargo test", "&git push"],
        // Only perhaps a test, only perhaps a push.
        &["cargo $VERB", "git push"],
        &["$RUN test", "git push"],
        &["cargo test", "$CMD push"],
        &["cargo test", "git $VERB"],
        &["eval \"$X\"", "git push"],
        // Nothing that a push should wait for: every session has it.
        &["ls", "cat a", "cd x", "git push"],
        &["git add .", "git push"],
    ] {
        let found = sentences(&times(12, lines));
        assert!(found.iter().all(|one| !one.starts_with("`git push` needs")), "{lines:?}: {found:?}");
    }
    assert_eq!(sentences(&times(9, &["cargo test", "git push"])), [""; 0], "too few");
}

#[test]
fn a_doubt_is_no_evidence_and_speaks_against() {
    let good = |count| times(count, &["cargo test", "git push"]);
    // Nine certain ones and five that perhaps push are nine.
    let unsure: Vec<String> = (20..25).map(|id| bash(id, &["cargo test", "$CMD push"])).collect();
    assert_eq!(sentences(&[good(9), unsure.clone()].concat()), [""; 0]);
    let (_, actions) = found(&[good(10), unsure].concat(), &Bounds::default());
    assert_eq!((actions[0].calls, actions[0].sessions, actions[0].against), (10, 10, 0));
    // What perhaps pushes without a test would be stopped, which is said.
    let all = [good(12), vec![bash(30, &["$CMD push"])]].concat();
    let (sessions, actions) = found(&all, &Bounds::default());
    let one = actions.iter().find(|one| action_sentence(&one.rule) == NEEDS_TEST).unwrap();
    assert_eq!((one.calls, one.sessions, one.against, one.unsure), (12, 12, 0, 1));
    assert_eq!(one.extent.first.as_ref().map(|at| &*at.session), Some("s30"));
    assert_eq!(stopped(std::slice::from_ref(one), &sessions), 1);
    assert_eq!(
        counted(one),
        "12 of 12 calls in 12 sessions; 1 more call would be stopped because it is not known what it does"
    );
    // Too many of them, and nobody could work under the rule.
    let many: Vec<String> = (30..34).map(|id| bash(id, &["$CMD push"])).collect();
    assert_eq!(sentences(&[good(12), many].concat()), [""; 0]);
    // A push of which it is certain speaks against it, whatever is known of the tests.
    for broken in [&["cargo $VERB", "git push"][..], &["git push"], &["cargo test | tail", "git push"]] {
        let all = [good(12), vec![bash(30, broken)]].concat();
        assert_eq!(sentences(&all), [""; 0], "{broken:?}");
        let (_, actions) = found(&all, &Bounds { against: 1, ..Bounds::default() });
        let one = actions.iter().find(|one| action_sentence(&one.rule) == NEEDS_TEST).unwrap();
        assert_eq!((one.calls, one.against, one.unsure), (12, 1, 0), "{broken:?}");
    }
}

#[test]
fn of_several_tests_one_is_enough_where_none_is_always_there() {
    let mut sessions = times(8, &["cargo test", "git push"]);
    sessions.extend((8..16).map(|id| bash(id, &["pytest -q", "git push"])));
    assert_eq!(
        sentences(&sessions),
        ["`git push` needs an earlier success of one of `cargo test` and `pytest`"]
    );
    sessions.push(bash(99, &["git push"]));
    assert_eq!(sentences(&sessions), [""; 0]);
}

#[test]
fn what_is_implied_is_not_suggested_and_rules_about_one_action_are_few() {
    let lines =
        ["cargo fmt", "cargo clippy", "cargo build", "cargo test", "npm run lint", "ship-notes", "git push"];
    let mut sessions = times(12, &lines);
    // Sessions without a push have no notes.
    sessions.extend((20..40).map(|id| bash(id, &["ls", "cargo test"])));
    let found = sentences(&sessions);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], NEEDS_TEST);
    // A rare command says something, though it is no check.
    let mut sessions = times(12, &["ship-notes", "git push"]);
    sessions.extend((20..40).map(|id| bash(id, &["ls", "cat x"])));
    assert_eq!(sentences(&sessions), ["`git push` needs an earlier success of `ship-notes`"]);
    // The tests come before the push, and the push before the request.
    let mut sessions = times(12, &["cargo test", "git push", "gh pr create --fill"]);
    sessions.extend((20..40).map(|id| bash(id, &["ls", "cat x"])));
    assert_eq!(sentences(&sessions), [NEEDS_TEST, "`gh pr create` needs an earlier success of `git push`"]);
}

#[test]
fn what_never_happens_takes_three_times_as_many_sessions() {
    let inside = ["rm -rf build", "rm a.txt /tmp/x"];
    let rule = "nothing is deleted outside the project and folders for temporary files";
    assert_eq!(sentences(&times(29, &inside)), [""; 0]);
    assert_eq!(sentences(&times(30, &inside)), [rule]);
    for outside in ["rm -rf ~/x", "rm ../other/x", "cd / && rm x"] {
        let found = sentences(&[times(30, &inside), vec![bash(90, &[outside])]].concat());
        assert!(!found.contains(&rule.to_owned()), "{outside}: {found:?}");
    }
    let rule = "nothing reaches another machine after a secret was read";
    assert_eq!(sentences(&times(30, &["curl https://a.example", "cat .env"])), [rule]);
    assert_eq!(sentences(&times(30, &["cat .env.example", "curl https://a.example"])), [""; 0]);
    assert_eq!(sentences(&times(30, &["cat .env", "curl https://a.example"])), [""; 0]);
    let rule = "`git push` succeeds at most once per session";
    assert!(sentences(&times(30, &["cargo test", "!git push", "git push"])).contains(&rule.to_owned()));
    assert!(!sentences(&times(30, &["cargo test", "git push", "git push"])).contains(&rule.to_owned()));
}

#[test]
fn files_that_are_edited_were_seen_before() {
    let edits = |id: usize, before: &str| {
        let steps = [
            ("Bash", json!({ "command": before })),
            ("Edit", json!({"file_path": format!("/w/app/{id}.rs")})),
        ];
        session(id, steps.into_iter().map(|(tool, arguments)| (String::new(), tool, arguments)))
    };
    let rule = "Edit changes only files that were read or written before";
    let seen: Vec<String> = (0..12).map(|id| edits(id, &format!("cat {id}.rs"))).collect();
    assert!(sentences(&seen).contains(&rule.to_owned()), "{:?}", sentences(&seen));
    for other in ["echo 99.rs", "cat 98.rs", "cat \"$FILE\""] {
        let mut with = seen.clone();
        with.push(edits(99, other));
        assert!(!sentences(&with).contains(&rule.to_owned()), "{other}");
    }
}

#[test]
fn the_command_writes_a_document_of_what_calls_do() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.jsonl"), times(12, &["cargo test", "git push"]).join("\n")).unwrap();
    let run = |arguments: &[&str]| rulestep(folder.path(), arguments).output().unwrap();
    let output = run(&["suggest", "s.jsonl", "-o", "found"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    insta::assert_snapshot!("suggest_actions_text", String::from_utf8(output.stdout).unwrap());
    insta::assert_snapshot!(
        "suggest_actions_document",
        std::fs::read_to_string(folder.path().join("found/commands.yaml")).unwrap()
    );
    let check = run(&["check", "found"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    let replay = run(&["replay", "s.jsonl", "-p", "found"]);
    assert_eq!(replay.status.code(), Some(0), "{replay:?}");
    let json: Value =
        serde_json::from_slice(&run(&["suggest", "s.jsonl", "--format", "json"]).stdout).unwrap();
    let one = &json["suggestions"][0];
    assert_eq!((&one["claim"], &one["calls"], &one["against"]), (&json!("needs"), &json!(12), &json!(0)));
    assert_eq!(one["rule"]["then"], json!({"runs": {"program": "git", "args": ["push"]}}));
    assert_eq!(json["documents"][0]["file"], "commands.yaml");
    let markdown = run(&["suggest", "s.jsonl", "--format", "markdown"]).stdout;
    assert!(String::from_utf8(markdown).unwrap().contains("git push needs an earlier success of cargo test"));
}
