//! `scope: tree` live: an agent and its subagents are decided in one order, and a replay of their journals finds it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rulestep::live::Agent;
use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::hook_service::HookService;
use rulestep_engine::run::Mode;
use rulestep_engine::{Body, Outcome, Session};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{fed, live, named, records};
use crate::cli::folder;
use crate::sessions::recorded::traces;
use crate::skipped::skipped;

const POLICY: &str = "rules:
  - {id: leak, type: never_after, trigger: read, forbidden: send, scope: tree, unsure: UNSURE}
  - {id: tested, type: before, first: test, then: push, scope: tree, unsure: UNSURE}
  - {id: looked, type: before, first: look, then: edit}
";

/// Every call of the journals in a folder, by session and id: what was decided live, and whether a replay of all of them decides
/// anything else.
fn replayed(
    root: &Path,
    policy: &str,
    journals: &[PathBuf],
    mode: &str,
) -> BTreeMap<(String, String), (String, bool)> {
    let mut arguments = vec!["replay", "-p", policy, "--mode", mode, "--format", "json"];
    arguments.extend(journals.iter().map(|path| path.to_str().unwrap()));
    let output = crate::cli::rulestep(root, &arguments).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{output:?}");
    let mut calls = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for turn in line["turns"].as_array().into_iter().flatten() {
            for call in turn["calls"].as_array().unwrap() {
                let key = (
                    line["session"]["id"].as_str().unwrap().to_owned(),
                    call["id"].as_str().unwrap().to_owned(),
                );
                let live = &call["live"];
                // It was answered, and nothing was decided.
                if live["policy"] == "" {
                    continue;
                }
                let same = live["decision"] == call["decision"] && live["change"].is_null();
                let word = live["decision"].as_str().unwrap_or("none").to_owned();
                assert!(calls.insert(key, (word, same)).is_none());
            }
        }
    }
    calls
}

fn journals(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut journals: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    journals.sort();
    journals
}

/// Numbers that only seem to be random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

struct Live {
    root: TempDir,
    service: HookService,
}

impl Live {
    fn new(agent: Agent, policy: &str, mode: Mode) -> Live {
        let root = folder(&[("p.yaml", policy)]);
        let service = HookService {
            agent: agent.name(),
            transcripts: None,
            folder: root.path().join("live"),
            policy: root.path().join("p.yaml").to_str().unwrap().to_owned(),
            guard: None,
            home: None,
            mode,
            asks: true,
            wait: Duration::from_secs(10),
        };
        Live { root, service }
    }

    fn answer(&self, subagent: Option<&str>, event: Event) -> Answer {
        let (session, subagent) = ("main".to_owned(), subagent.map(str::to_owned));
        let report = Report { session, subagent, transcript: None, folder: None, cwd: None, event };
        self.service.answer(&report, Instant::now()).unwrap()
    }

    fn propose(&self, subagent: Option<&str>, id: &str, tool: &str, arguments: &str) -> Answer {
        let (id, tool) = (Some(id.to_owned()), tool.to_owned());
        self.answer(subagent, Event::Propose { id, tool, arguments: Body::json(arguments) })
    }

    fn resolve(&self, subagent: Option<&str>, id: &str, outcome: &'static str) {
        let (id, output) = (Some(id.to_owned()), Body::text("done"));
        self.answer(subagent, Event::Resolve { id, tool: String::new(), arguments: None, outcome, output });
    }

    fn journals(&self) -> Vec<PathBuf> {
        journals(&self.root.path().join("live").join(self.service.agent))
    }

    fn replayed(&self) -> BTreeMap<(String, String), (String, bool)> {
        replayed(self.root.path(), &self.service.policy, &self.journals(), self.service.mode.word())
    }
}

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Silent => "allow",
        Answer::Ask(_) => "ask",
        Answer::Deny(_) => "deny",
        Answer::Halt(_) => "halt",
    }
}

#[test]
fn decisions_in_any_order_are_those_of_a_replay_of_all_journals() {
    let tools = ["read", "send", "test", "push", "look", "edit", "Task", "other"];
    let (mut stopped, mut allowed) = (0, 0);
    for seed in 0..36 {
        let mut dice = Dice(seed * 77 + 5);
        let unsure = ["deny", "ask", "allow"][seed as usize % 3];
        let agent = [named("claude-code"), named("claude-code"), named("cursor")][(seed / 3) as usize % 3];
        let mode = if seed % 7 == 6 { Mode::Shadow } else { Mode::Enforce };
        let live = Live::new(agent, &POLICY.replace("UNSURE", unsure), mode);
        // In some, a subagent is the first of which anything is heard.
        let members =
            if seed % 5 == 4 { &[Some("a1"), None, Some("b2")] } else { &[None, Some("a1"), Some("b2")] };
        let mut waiting: Vec<(Option<&str>, String)> = Vec::new();
        let mut decided = BTreeMap::new();
        for step in 0..26 {
            let known = 1 + (step / 4).min(2);
            if !waiting.is_empty() && dice.roll(2) == 0 {
                let (member, id) = waiting.remove(dice.roll(waiting.len()));
                live.resolve(member, &id, ["ok", "ok", "error", "refused"][dice.roll(4)]);
                continue;
            }
            let member = members[dice.roll(known)];
            let (id, tool) = (format!("c{step}"), tools[dice.roll(tools.len())]);
            let answer = live.propose(member, &id, tool, "{}");
            decided.insert((member.unwrap_or("main").to_owned(), id.clone()), word(&answer));
            if matches!(answer, Answer::Silent | Answer::Ask(_)) {
                waiting.push((member, id));
            }
        }
        let replayed = live.replayed();
        assert_eq!(replayed.len(), decided.len(), "seed {seed}");
        for (key, (then, same)) in &replayed {
            assert!(same, "seed {seed} {agent:?} {mode:?}: {key:?} was {then} and is decided otherwise now");
            let answered = if mode == Mode::Shadow { "allow" } else { then };
            assert_eq!(decided[key], answered, "seed {seed} {key:?}");
            if then == "allow" { allowed += 1 } else { stopped += 1 }
        }
    }
    assert!(stopped > 50 && allowed > 50, "{stopped} stopped and {allowed} allowed calls show little");
}

#[test]
fn a_session_sees_its_parent_and_its_siblings() {
    let live = Live::new(named("claude-code"), &POLICY.replace("UNSURE", "deny"), Mode::Enforce);
    let go = |member, id: &str, tool: &str| word(&live.propose(member, id, tool, "{}"));
    assert_eq!(go(None, "1", "Task"), "allow");
    // Nothing of the subagent is missing as long as it has asked for nothing.
    assert_eq!(go(None, "2", "send"), "allow");
    assert_eq!(go(Some("a"), "3", "read"), "allow");
    assert_eq!(go(None, "4", "send"), "deny", "what is in flight elsewhere may have happened");
    assert_eq!(go(Some("b"), "5", "send"), "deny");
    assert_eq!(go(Some("b"), "6", "test"), "allow");
    assert_eq!(go(Some("a"), "7", "push"), "deny", "it has not succeeded yet");
    live.resolve(Some("b"), "6", "ok");
    assert_eq!(go(Some("a"), "8", "push"), "allow");
    assert_eq!(go(None, "9", "push"), "allow");
    let Answer::Deny(told) = live.propose(None, "10", "send", "{}") else { panic!() };
    assert!(told.contains("read") && told.contains('a'), "{told}");
    // Whoever replays the parent's journal alone is not shown a green one.
    let alone = replayed(live.root.path(), &live.service.policy, &live.journals()[1..], "enforce");
    assert_eq!(alone[&("main".to_owned(), "2".to_owned())], ("allow".to_owned(), true));
    for id in ["4", "10"] {
        assert!(!alone[&("main".to_owned(), id.to_owned())].1, "it is unsure now: {alone:?}");
    }
    assert!(live.replayed().values().all(|(_, same)| *same));
}

#[test]
fn a_refusal_after_others_were_decided_is_a_failure() {
    let live = Live::new(named("claude-code"), &POLICY.replace("UNSURE", "deny"), Mode::Enforce);
    live.propose(None, "1", "read", "{}");
    live.resolve(None, "1", "refused");
    assert_eq!(word(&live.propose(Some("a"), "2", "send", "{}")), "allow", "it never ran");
    live.propose(None, "3", "read", "{}");
    assert_eq!(word(&live.propose(Some("a"), "4", "send", "{}")), "deny");
    live.resolve(None, "3", "refused");
    let main = live.journals().pop().unwrap();
    let outcomes: Vec<Value> = records(&main).iter().map(|record| record["outcome"].clone()).collect();
    assert!(outcomes.contains(&json!("refused")) && outcomes.contains(&json!("error")), "{outcomes:?}");
    assert!(live.replayed().values().all(|(_, same)| *same));
}

/// The calls and results of a recorded tree in the order of time: the session, the call, whether it is the result.
fn events(sessions: &[Session]) -> Vec<(usize, usize, bool)> {
    let mut events = Vec::new();
    for (place, session) in sessions.iter().enumerate() {
        for (number, call) in session.calls.iter().enumerate() {
            events.push((call.time.unwrap(), place, number, false));
            if let Some(at) = call.result.and_then(|result| session.messages[result].at) {
                events.push((at, place, number, true));
            }
        }
    }
    events.sort_by_key(|(at, place, number, ended)| (*at, *ended, *place, *number));
    events.into_iter().map(|(_, place, number, ended)| (place, number, ended)).collect()
}

/// Feeds a recorded tree; gives how many calls were stopped.
fn rerun(texts: &[(&str, String)], policy: &str) -> usize {
    let live = Live::new(named("claude-code"), policy, Mode::Shadow);
    let mut paths = Vec::new();
    for (name, text) in texts {
        let path = live.root.path().join(name);
        fs::write(&path, text).unwrap();
        paths.push(path);
    }
    let mut sessions = Vec::new();
    for (path, (_, text)) in paths.iter().zip(texts) {
        sessions.extend(rulestep_recording::read(path.to_str().unwrap(), text.clone()).unwrap());
    }
    let root = sessions.iter().find(|session| session.parent.is_none()).unwrap().id.clone();
    for (place, number, ended) in events(&sessions) {
        let session = &sessions[place];
        let (call, member) = (&session.calls[number], session.parent.as_ref().map(|_| &*session.id));
        let report = |event| Report {
            session: root.to_string(),
            subagent: member.map(str::to_owned),
            transcript: None,
            folder: None,
            cwd: None,
            event,
        };
        let (id, tool) = (call.id.as_deref().map(str::to_owned), call.tool.to_string());
        let outcome = if call.outcome == Outcome::Ok { "ok" } else { "error" };
        let event = match ended {
            false => Event::Propose { id, tool, arguments: call.arguments.clone() },
            true => Event::Resolve { id, tool, arguments: None, outcome, output: call.output.clone() },
        };
        live.service.answer(&report(event), Instant::now()).unwrap();
    }
    let own = live.replayed();
    assert!(own.values().all(|(_, same)| *same), "{own:?}");
    // The recording itself has no decisions; a replay of it decides as was decided live.
    let arguments = ["replay", "-p", "p.yaml", "--mode", "shadow", "--format", "json"].map(str::to_owned);
    let arguments: Vec<String> =
        arguments.into_iter().chain(paths.iter().map(|path| path.display().to_string())).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = crate::cli::rulestep(live.root.path(), &arguments).output().unwrap();
    let mut expected = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for call in
            line["turns"].as_array().into_iter().flatten().flat_map(|turn| turn["calls"].as_array().unwrap())
        {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            expected.insert((text(&line["session"]["id"]), text(&call["id"])), text(&call["decision"]));
        }
    }
    let decided: BTreeMap<_, _> = own.into_iter().map(|(key, (word, _))| (key, word)).collect();
    assert_eq!(decided, expected);
    decided.values().filter(|word| *word == "deny").count()
}

#[test]
fn a_recorded_tree_is_decided_as_its_replay_decides_it() {
    let at = |second: u32| format!("2026-05-04T10:00:{second:02}.500Z");
    let session = |id: &str, parent: Option<&str>, calls: &[(u32, &str)]| {
        let mut messages = Vec::new();
        for (second, tool) in calls {
            let id = format!("{id}-{second}");
            let call = json!({"id": id, "function": {"name": tool, "arguments": "{}"}});
            messages.push(json!({"role": "assistant", "at": at(*second), "tool_calls": [call]}));
            messages
                .push(json!({"role": "tool", "tool_call_id": id, "content": "ok", "at": at(*second + 2)}));
        }
        json!({"id": id, "parent": parent, "messages": messages}).to_string() + "\n"
    };
    let main = session("main", None, &[(0, "push"), (4, "send"), (10, "Task"), (41, "push"), (50, "send")]);
    let one = session("agent-1", Some("main"), &[(13, "test"), (20, "push"), (30, "read"), (40, "send")]);
    let two = session("agent-2", Some("main"), &[(16, "push"), (29, "send"), (31, "send"), (35, "other")]);
    let texts = [("main.jsonl", main), ("one.jsonl", one), ("two.jsonl", two)];
    // Of two starts only one is recorded, and two subagents were there: nothing is missing.
    assert_eq!(rerun(&texts, &POLICY.replace("UNSURE", "deny")), 4);
}

#[test]
fn a_real_tree_is_decided_as_its_replay_decides_it() {
    let Some(folder) = traces("claude-code") else { return };
    let name = "258c7280-ae70-4798-800f-63464d01a85d";
    let read = |path: &str| fs::read_to_string(folder.join(path)).ok();
    let (Some(main), Some(sub)) =
        (read(&format!("{name}.jsonl")), read(&format!("{name}/subagents/agent-a881341.jsonl")))
    else {
        return skipped("no recording of a subagent beside the project");
    };
    let policy = "rules:
  - {type: never_after, trigger: WebFetch, forbidden: Edit, scope: tree, unsure: allow}
  - {type: before, first: Read, then: [Bash, WebFetch], scope: tree, unsure: allow}
";
    let texts = [("main.jsonl", main), ("agent-a881341.jsonl", sub)];
    assert!(rerun(&texts, policy) > 0);
}

struct Hooks {
    files: TempDir,
    state: TempDir,
}

impl Hooks {
    fn new(policy: &str) -> Hooks {
        Hooks {
            files: folder(&[
                ("p.yaml", policy),
                ("q.yaml", "tool: x\npreconditions: [{requires_prior_tool: y}]\n"),
            ]),
            state: tempfile::tempdir().unwrap(),
        }
    }

    fn hook(&self, flags: &[&str], name: &str, member: Option<&str>, id: &str, tool: &str) -> (i32, String) {
        let arguments = [&["hook", "claude-code"], flags].concat();
        let event = json!({"session_id": "main", "agent_id": member, "hook_event_name": name, "tool_name": tool,
            "tool_input": {}, "tool_use_id": id, "tool_response": "done"});
        let output =
            fed(live(self.files.path(), self.state.path(), &arguments), event.to_string().as_bytes());
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.state.path().join("rulestep/live/claude-code")
    }

    fn replayed(&self) -> BTreeMap<(String, String), (String, bool)> {
        replayed(self.files.path(), "p.yaml", &journals(&self.folder()), "enforce")
    }
}

#[test]
fn processes_side_by_side_give_a_serial_order() {
    let hooks = Hooks::new(&POLICY.replace("UNSURE", "deny"));
    let tools = ["test", "push", "other", "read", "send", "push", "send", "other"];
    // One of them is asked under a policy that looks at no tree, at first before anybody watched it.
    thread::scope(|scope| {
        for (number, member) in [None, Some("a"), Some("b"), None].into_iter().enumerate() {
            let hooks = &hooks;
            scope.spawn(move || {
                let policy = if number == 3 { "q.yaml" } else { "p.yaml" };
                for step in 0..8 {
                    let (id, tool) = (format!("{number}-{step}"), tools[(step + number * 3) % 8]);
                    let (exit, error) = hooks.hook(&["-p", policy], "PreToolUse", member, &id, tool);
                    assert!(exit == 0 || error.contains("p.yaml:"), "{error}");
                    if exit == 0 && step % 3 > 0 {
                        assert_eq!(hooks.hook(&["-p", policy], "PostToolUse", member, &id, tool).0, 0);
                    }
                }
            });
        }
    });
    let replayed = hooks.replayed();
    assert_eq!(replayed.len(), 32);
    for ((session, id), (then, same)) in &replayed {
        assert!(*same || id.starts_with('3'), "{session} {id} was {then}");
    }
    let mut times = Vec::new();
    for journal in journals(&hooks.folder()) {
        times.extend(records(&journal).iter().filter_map(|record| record["at"].as_i64()));
    }
    let all = times.len();
    times.sort_unstable();
    times.dedup();
    // Only what was recorded before anybody watched may have the instant of another record.
    assert!(all - times.len() <= 2, "{} of {all} instants come twice", all - times.len());
}

#[test]
fn a_journal_of_the_tree_that_cannot_be_read_denies() {
    let hooks = Hooks::new(&POLICY.replace("UNSURE", "allow"));
    for id in ["0", "1"] {
        assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", Some("a"), id, "other").0, 0);
    }
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "2", "other").0, 0);
    let sibling = hooks.folder().join("main.a.jsonl");
    let whole = fs::read_to_string(&sibling).unwrap();
    fs::write(&sibling, whole.replacen("\"tool\":\"other\"", "\"tool\":other", 1)).unwrap();
    for flags in [&["-p", "p.yaml"][..], &["-p", "p.yaml", "--on-error", "ask"]] {
        let (exit, error) = hooks.hook(flags, "PreToolUse", None, "3", "other");
        assert_eq!(exit == 2, flags.len() == 2, "{error}");
        assert!(exit == 0 || error.contains("main.a.jsonl") && error.contains("is damaged"), "{error}");
    }
    let (exit, error) =
        hooks.hook(&["-p", "p.yaml", "--on-error", "allow"], "PreToolUse", None, "3", "other");
    assert!(exit == 0 && error.contains("is damaged"), "{error}");
    // Without the file of the tree, too, and a policy that looks at no tree goes on.
    fs::remove_file(hooks.folder().join("main.tree")).unwrap();
    assert_eq!(hooks.hook(&["-p", "q.yaml"], "PreToolUse", None, "4", "other").0, 0);
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "5", "other").0, 2);
    fs::write(&sibling, whole).unwrap();
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "6", "other").0, 0);
    fs::write(hooks.folder().join("main.tree"), "{").unwrap();
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "7", "read").0, 0);
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", Some("a"), "8", "send").0, 2);
    // The one with the id 4 was decided by another policy.
    assert!(hooks.replayed().values().all(|(_, same)| *same));
}

#[test]
fn a_journal_that_is_gone_is_missed() {
    let hooks = Hooks::new(&POLICY.replace("UNSURE", "deny"));
    hooks.hook(&["-p", "p.yaml"], "PreToolUse", Some("a"), "1", "other");
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "2", "send").0, 0);
    fs::remove_file(hooks.folder().join("main.a.jsonl")).unwrap();
    let (exit, error) = hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "3", "send");
    assert!(exit == 2 && error.contains("the session `a` was not read"), "{error}");
    // The call before it names that session, too: the journals no longer show why it was allowed.
    let replayed = hooks.replayed();
    assert!(replayed[&("main".to_owned(), "3".to_owned())].1, "{replayed:?}");
    assert!(!replayed[&("main".to_owned(), "2".to_owned())].1, "{replayed:?}");
}

#[test]
fn a_subagent_whose_parent_was_never_asked_about_is_unsure() {
    let hooks = Hooks::new(&POLICY.replace("UNSURE", "deny"));
    let (exit, error) = hooks.hook(&["-p", "p.yaml"], "PreToolUse", Some("a"), "1", "send");
    assert!(exit == 2 && error.contains("the parent session `main` was not read"), "{error}");
    hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "2", "other");
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", Some("a"), "3", "send").0, 0);
    assert!(hooks.replayed().values().all(|(_, same)| *same));
}

#[test]
fn journals_of_a_tree_are_removed_together() {
    let hooks = Hooks::new(&POLICY.replace("UNSURE", "deny"));
    let prune = |flags: &[&str]| {
        let arguments = [&["prune", "--older-than", "30d"], flags].concat();
        assert!(live(hooks.files.path(), hooks.state.path(), &arguments).output().unwrap().status.success());
        let entries = fs::read_dir(hooks.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.ends_with(".jsonl") || name.ends_with(".tree"));
        names.sort();
        names
    };
    let age = |name: &str| {
        let then = std::time::SystemTime::now() - Duration::from_secs(31 * 24 * 3600);
        fs::File::options().append(true).open(hooks.folder().join(name)).unwrap().set_modified(then).unwrap();
    };
    let all = ["main.a.jsonl", "main.jsonl", "main.tree"];
    hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "1", "Task");
    hooks.hook(&["-p", "p.yaml"], "PreToolUse", Some("a"), "2", "read");
    hooks.hook(&["-p", "p.yaml"], "SessionEnd", Some("a"), "", "");
    age("main.a.jsonl");
    for flags in [&[][..], &["--unfinished"]] {
        assert_eq!(prune(flags), all, "the session goes on");
    }
    assert_eq!(
        hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "3", "send").0,
        2,
        "what it did still counts"
    );
    age("main.jsonl");
    assert_eq!(prune(&[]), all, "the session has no end");
    hooks.hook(&["-p", "p.yaml"], "SessionEnd", None, "", "");
    age("main.jsonl");
    assert_eq!(prune(&["--dry-run"]), all);
    assert!(prune(&[]).is_empty());
    assert_eq!(hooks.hook(&["-p", "p.yaml"], "PreToolUse", None, "4", "send").0, 0);
}
