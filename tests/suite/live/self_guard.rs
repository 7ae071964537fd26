//! The gate guards itself, whatever policy it is given: each file that `install` writes or `doctor` looks at, in every way in which
//! an agent may change it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rulestep::live::Agent;
use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::hook_service::HookService;
use rulestep::live::self_guard::SelfGuard;
use rulestep_engine::Body;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{fed, live, named, records};

/// A project with a policy that has nothing against any call.
struct Scene {
    root: TempDir,
    policy: String,
    mode: Mode,
    asks: bool,
}

/// What became of a call: the answer, and the codes of its findings.
struct Judged {
    answer: Answer,
    codes: Vec<String>,
}

impl Scene {
    fn new(policy: &str) -> Scene {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "project/contracts"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let file = root.path().join("project/contracts/p.yaml");
        fs::write(file, policy).unwrap();
        let policy = root.path().join("project/contracts").display().to_string();
        Scene { root, policy, mode: Mode::Enforce, asks: true }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn shown(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn guard(&self) -> SelfGuard {
        SelfGuard {
            program: Some(self.path("bin/rs")),
            journals: self.path("home/.local/state/rulestep/live"),
            named: vec![self.path("elsewhere/claude")],
            home: Some(self.path("home")),
            anywhere: false,
        }
    }

    fn judge(&self, agent: Agent, tool: &str, arguments: &Value) -> Judged {
        let state = tempfile::tempdir().unwrap();
        let service = HookService {
            agent: agent.name(),
            transcripts: None,
            folder: state.path().to_owned(),
            policy: self.policy.clone(),
            guard: Some(self.guard()),
            home: None,
            mode: self.mode,
            asks: self.asks,
            wait: Duration::from_secs(1),
        };
        let report = Report {
            session: "s".to_owned(),
            subagent: None,
            transcript: None,
            folder: None,
            cwd: Some(self.shown("project")),
            event: Event::Propose {
                id: Some("1".to_owned()),
                tool: tool.to_owned(),
                arguments: Body::json(&arguments.to_string()),
            },
        };
        let answer = service.answer(&report, Instant::now()).unwrap();
        let records = records(&state.path().join(agent.name()).join("s.jsonl"));
        let proposed = records.iter().rfind(|record| record["record"] == "proposed").unwrap();
        let codes = proposed["findings"].as_array().unwrap().iter();
        Judged { answer, codes: codes.map(|found| found["code"].as_str().unwrap().to_owned()).collect() }
    }

    fn shell(&self, agent: Agent, command: &str) -> Judged {
        let tool = agent.tools().iter().find(|tool| ["command", "cmd"].contains(&tool.argument)).unwrap();
        self.judge(agent, tool.name, &tool.arguments(command))
    }
}

/// The files of an agent's settings: of the project, of the user under both names, where a variable says, of the machine.
fn settings(agent: Agent, scene: &Scene) -> Vec<String> {
    let places = agent.places();
    let own = std::iter::once(&places.hooks).chain(places.switches);
    let folders =
        ["".to_owned(), "~/".to_owned(), format!("{}/", scene.shown("home")), "../project/".to_owned()];
    let own = own.flat_map(|name| folders.each_ref().map(|place| format!("{place}{}/{name}", places.folder)));
    let mut files: Vec<String> = own.chain(places.managed.iter().map(|path| (*path).to_owned())).collect();
    files.sort();
    files.dedup();
    files
}

/// The lines that change a file, or take it away.
fn lines(path: &str) -> Vec<String> {
    let path = path.replace(' ', "\\ ");
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", &path));
    vec![
        format!("echo '{{}}' > {path}"),
        format!("echo '{{}}' | tee -a {path}"),
        format!("sed -i 1d {path}"),
        format!("cd {folder} && sed -i 1d {name}"),
        format!("cp /tmp/x {path}"),
        format!("mv {path} /tmp/x"),
        format!("rm -f {path}"),
        format!("bash -c 'truncate -s 0 {path}'"),
    ]
}

/// The calls of an agent's own tools that do so.
fn edits(agent: Agent, path: &str) -> Vec<(&'static str, Value)> {
    let writes = ["Write", "Edit", "MultiEdit", "write_file", "replace", "edit", "StrReplace", "Delete"];
    let patch = |head: &str| format!("*** Begin Patch\n*** {head} File: {path}\n*** End Patch");
    let mut made = Vec::new();
    for tool in agent.tools() {
        if writes.contains(&tool.name) {
            made.push((tool.name, tool.arguments(path)));
        }
        if tool.name == "apply_patch" {
            made.extend(["Add", "Update", "Delete"].map(|head| (tool.name, tool.arguments(&patch(head)))));
        }
    }
    made
}

const EMPTY: &str = "rules: []\n";

#[test]
fn no_call_changes_what_holds_hooks_or_turns_them_off() {
    let scene = Scene::new(EMPTY);
    let (mut passed, mut tried) = (Vec::new(), 0);
    for (agent, whose) in Agent::ALL.iter().flat_map(|agent| Agent::ALL.iter().map(|whose| (*agent, *whose)))
    {
        let mut files = settings(whose, &scene);
        files.extend(["rulestep.toml", "elsewhere/claude/settings.json"].map(|name| scene.shown(name)));
        // Each agent with all files of its own, and a few of the others.
        let every = if agent == whose { 1 } else { 5 };
        // Of a path that may be relative to a folder which Codex does not tell, nothing is known.
        let known = files.iter().filter(|path| agent.name() != "codex" || !path.starts_with("C:/"));
        for path in known.step_by(every) {
            let lines = lines(path).into_iter().step_by(if agent == whose { 1 } else { 3 });
            let shells = lines.map(|line| (scene.shell(agent, &line), line));
            let edits = edits(agent, path).into_iter().map(|(tool, arguments)| {
                (scene.judge(agent, tool, &arguments), format!("{tool} {arguments}"))
            });
            for (judged, call) in shells.chain(edits) {
                tried += 1;
                let denied = matches!(judged.answer, Answer::Deny(_));
                if !denied || !judged.codes.iter().any(|code| code == "self_guard") {
                    passed.push(format!("{}: {call}: {:?}", agent.name(), judged.answer));
                }
            }
        }
    }
    assert!(passed.is_empty(), "{} of {tried}:\n{}", passed.len(), passed.join("\n"));
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_folder_of_settings_is_not_taken_away_and_filled_only_if_a_person_says_so() {
    let scene = Scene::new(EMPTY);
    for &agent in Agent::ALL {
        let folder = agent.places().folder;
        for place in [folder.to_owned(), format!("~/{folder}"), scene.shown(&format!("home/{folder}"))] {
            for line in
                [format!("rm -r {place}"), format!("mv {place} /tmp/x"), format!("find {place} -delete")]
            {
                let judged = scene.shell(agent, &line);
                assert!(matches!(judged.answer, Answer::Deny(_)), "{}: {line}", agent.name());
                assert!(judged.codes.contains(&"self_guard".to_owned()), "{}: {line}", agent.name());
            }
            for line in [
                format!("tar xf x.tar -C {place}"),
                format!("cp -r x/. {place}"),
                format!("ln -s /tmp/x {place}"),
            ] {
                let judged = scene.shell(agent, &line);
                assert!(
                    matches!(judged.answer, Answer::Ask(_)),
                    "{}: {line}: {:?}",
                    agent.name(),
                    judged.answer
                );
            }
        }
    }
}

#[test]
fn no_command_changes_the_hooks_the_journals_or_the_program() {
    let scene = Scene::new(EMPTY);
    let journal = scene.shown("home/.local/state/rulestep/live/claude-code/s.jsonl");
    let program = scene.shown("bin/rs");
    let mut lines: Vec<String> = [
        "rulestep uninstall claude-code",
        "rulestep install claude-code --shadow",
        "rulestep install codex -p /tmp/empty",
        "rulestep prune --older-than 1d",
        "./target/release/rulestep uninstall codex --project",
        "sh -c 'rulestep uninstall codex'",
        "cargo uninstall rulestep",
        "rm -r ~/.local/state/rulestep",
        "rm -r ~/.local/state/rulestep/live/codex",
    ]
    .map(str::to_owned)
    .into();
    lines.push(format!("{program} uninstall claude-code"));
    lines.extend([&journal, &program].iter().flat_map(|path| self::lines(path)));
    for &agent in Agent::ALL {
        for line in &lines {
            let judged = scene.shell(agent, line);
            assert!(
                matches!(judged.answer, Answer::Deny(_)),
                "{}: {line}: {:?}",
                agent.name(),
                judged.answer
            );
            assert!(judged.codes.contains(&"self_guard".to_owned()), "{}: {line}", agent.name());
        }
    }
}

#[test]
fn the_policy_is_changed_only_if_a_person_says_so() {
    let mut scene = Scene::new(EMPTY);
    let changes =
        ["sed -i 1d contracts/p.yaml", "echo x > contracts/new.yaml", "cp x ../project/contracts/p.yaml"];
    let deletes = ["rm contracts/p.yaml", "rm -r contracts", "mv contracts old", "mv contracts/p.yaml x"];
    for asks in [true, false] {
        scene.asks = asks;
        for line in changes {
            let judged = scene.shell(named("claude-code"), line);
            let asked = matches!(judged.answer, Answer::Ask(_));
            assert!(
                asked == asks && (asks || matches!(judged.answer, Answer::Deny(_))),
                "{line}: {:?}",
                judged.answer
            );
        }
        for line in deletes {
            let judged = scene.shell(named("claude-code"), line);
            assert!(matches!(judged.answer, Answer::Deny(_)), "{line}: {:?}", judged.answer);
        }
    }
}

#[test]
fn a_revision_that_decides_is_not_moved() {
    let scene = Scene { policy: String::new(), ..Scene::new(EMPTY) };
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .args(arguments)
            .current_dir(scene.path("project"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "policy"]);
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]);
    let state = tempfile::tempdir().unwrap();
    for (line, code) in [
        ("git branch -f policy HEAD~1", 2),
        ("git update-ref refs/heads/policy HEAD~1", 2),
        ("git branch -D policy", 2),
        ("echo x > .git/refs/heads/policy", 2),
        ("git branch -f other HEAD~1", 0),
        ("git status", 0),
    ] {
        let event = json!({"session_id": line, "hook_event_name": "PreToolUse", "cwd": scene.path("project"), "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "1"});
        let arguments = ["hook", "claude-code", "-p", "git:policy:contracts", "--on-ask", "deny"];
        let output =
            fed(live(&scene.path("project"), state.path(), &arguments), event.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(code), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Codex does not say in which folder a command runs, unless its log does.
#[test]
fn a_policy_is_guarded_where_no_folder_is_told() {
    let scene = Scene::new(EMPTY);
    let state = tempfile::tempdir().unwrap();
    for (line, code) in [("rm -r contracts", 2), ("sed -i 1d contracts/p.yaml", 2), ("rm -r other", 0)] {
        let event = json!({"session_id": line, "hook_event_name": "PreToolUse", "cwd": scene.path("project"), "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "1"});
        let command = live(&scene.path("project"), state.path(), &["hook", "codex", "-p", "contracts"]);
        assert_eq!(fed(command, event.to_string().as_bytes()).status.code(), Some(code), "{line}");
    }
}

/// Whoever is stopped where nothing is wrong turns the gate off.
#[test]
fn what_is_harmless_runs() {
    let scene = Scene::new(EMPTY);
    for &agent in Agent::ALL {
        for line in [
            "ls -a",
            "cat .claude/settings.json",
            "git status",
            "git pull",
            "cargo build",
            "cargo fmt",
            "npm test",
            "make",
            "python3 x.py",
            "rm -r target",
            "echo x > src/a.rs",
            "mkdir -p .claude/commands",
            "tar xf x.tar",
            "cp -r a b",
            "rulestep check contracts",
            "rulestep doctor",
            "rulestep install claude-code --dry-run",
            "cat contracts/p.yaml",
        ] {
            let judged = scene.shell(agent, line);
            assert_eq!(judged.answer, Answer::Silent, "{}: {line}", agent.name());
        }
        for (tool, arguments) in edits(agent, &scene.shown("project/src/a.rs")) {
            assert_eq!(scene.judge(agent, tool, &arguments).answer, Answer::Silent, "{tool} {arguments}");
        }
    }
}

#[test]
fn in_shadow_mode_it_is_recorded_and_runs() {
    let scene = Scene { mode: Mode::Shadow, ..Scene::new(EMPTY) };
    let judged = scene.shell(named("claude-code"), "rm .claude/settings.json");
    assert_eq!(judged.answer, Answer::Silent);
    assert!(judged.codes.contains(&"self_guard".to_owned()));
}

/// The gate's own denials are the same under any version, so none of them is newly allowed.
#[test]
fn a_comparison_with_what_was_decided_live_leaves_them_out() {
    let scene = Scene::new(EMPTY);
    let state = tempfile::tempdir().unwrap();
    let project = scene.path("project");
    for (id, line) in ["rulestep uninstall codex", "cargo fmt", "ls"].iter().enumerate() {
        let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": project, "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id.to_string()});
        fed(
            live(&project, state.path(), &["hook", "claude-code", "-p", "contracts"]),
            event.to_string().as_bytes(),
        );
    }
    let journal = state.path().join("rulestep/live/claude-code/s.jsonl").display().to_string();
    let run = |arguments: &[&str]| fed(live(&project, state.path(), arguments), b"");
    let output = run(&["diff", "-b", "live", "-p", "contracts", "--fail-on", "any", &journal]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let output = run(&["replay", "-p", "contracts", &journal]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("denied (self_guard) by this policy, enforce") && !text.contains("newly"),
        "{text}"
    );
}

#[test]
fn it_can_be_left_out() {
    let scene = Scene::new(EMPTY);
    let state = tempfile::tempdir().unwrap();
    let event = |line: &str| {
        json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": scene.path("project"), "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": line}).to_string()
    };
    let hook = |more: &[&str], line: &str| {
        let arguments = [&["hook", "claude-code", "-p", "contracts"], more].concat();
        fed(live(&scene.path("project"), state.path(), &arguments), event(line).as_bytes()).status.code()
    };
    assert_eq!(hook(&[], "rm .claude/settings.json"), Some(2));
    assert_eq!(hook(&["--no-self-guard"], "rm .claude/settings.local.json"), Some(0));
}

const NO_DEPLOY: &str = "{rules: [{type: blocklist, tools: [deploy]}]}\n";

#[test]
fn a_version_without_rules_does_not_take_the_place_of_one_that_has_some() {
    let scene = Scene::new(NO_DEPLOY);
    let state = tempfile::tempdir().unwrap();
    let project = scene.path("project");
    let go = |session: &str| {
        let event = json!({"session_id": session, "hook_event_name": "PreToolUse", "cwd": project, "tool_name": "deploy", "tool_input": {}, "tool_use_id": "1"});
        fed(
            live(&project, state.path(), &["hook", "claude-code", "-p", "contracts"]),
            event.to_string().as_bytes(),
        )
        .status
        .code()
    };
    let file = project.join("contracts/p.yaml");
    let fault = |session: &str| {
        let records = records(&state.path().join(format!("rulestep/live/claude-code/{session}.jsonl")));
        records.last().unwrap()["policy_fault"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!((go("whole"), fault("whole")), (Some(2), String::new()));
    fs::write(&file, EMPTY).unwrap();
    assert_eq!(go("empty"), Some(2));
    assert!(fault("empty").contains("has no rule"), "{}", fault("empty"));
    fs::remove_file(&file).unwrap();
    assert_eq!(go("gone"), Some(2));
    assert!(!fault("gone").is_empty());
    fs::write(&file, "# nothing\n").unwrap();
    assert_eq!(go("comment"), Some(2));
    fs::write(&file, EMPTY).unwrap();
    fs::write(project.join("rulestep.toml"), "[policy]\nallow_empty = true\n").unwrap();
    assert_eq!((go("meant"), fault("meant")), (Some(0), String::new()));
    // What was meant stays so.
    fs::remove_file(project.join("rulestep.toml")).unwrap();
    assert_eq!(go("after"), Some(0));
}

/// Else the next version that does not load would be replaced by an older one, or by nothing.
#[test]
fn a_version_that_cannot_be_kept_decides_nothing() {
    let scene = Scene::new(NO_DEPLOY);
    let (state, project) = (tempfile::tempdir().unwrap(), scene.path("project"));
    let go = |session: &str, tool: &str| {
        let event = json!({"session_id": session, "hook_event_name": "PreToolUse", "cwd": project, "tool_name": tool, "tool_input": {}, "tool_use_id": "1"});
        let hook = live(&project, state.path(), &["hook", "claude-code", "-p", "contracts"]);
        let output = fed(hook, event.to_string().as_bytes());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(go("one", "look").0, Some(0));
    let folder = state.path().join("rulestep/live/claude-code");
    let is_kept =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("policy-"));
    let kept = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(is_kept).unwrap();
    fs::remove_file(&kept).unwrap();
    fs::create_dir(&kept).unwrap();
    let (code, said) = go("two", "look");
    assert!(code == Some(2) && said.contains("cannot be kept"), "{code:?} {said}");
}

/// The home folder and that of the journals may be written in many ways.
#[test]
fn folders_are_guarded_however_they_are_written() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().display();
    let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": format!("rm -r {root}/home/state/rulestep")}, "tool_use_id": "1"});
    fs::create_dir_all(format!("{root}/home/state")).unwrap();
    fs::write(format!("{root}/p.yaml"), NO_DEPLOY).unwrap();
    for odd in ["//home/state", "/./home/state", "/home/../home/state"] {
        let state = PathBuf::from(format!("{root}{odd}"));
        let hook = live(Path::new(&root.to_string()), &state, &["hook", "claude-code", "-p", "p.yaml"]);
        let output = fed(hook, event.to_string().as_bytes());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && !said.contains("does not load"), "{odd}: {said}");
    }
}

/// A path that patterns would read otherwise.
#[test]
fn signs_in_paths_are_no_patterns() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a [b] {c}*");
    fs::create_dir_all(folder.join("contracts")).unwrap();
    fs::write(folder.join("contracts/p.yaml"), EMPTY).unwrap();
    let scene =
        Scene { policy: folder.join("contracts").display().to_string(), asks: false, ..Scene::new(EMPTY) };
    let path = Path::new(&folder).join("contracts/p.yaml");
    let judged = scene.judge(named("claude-code"), "Write", &json!({"file_path": path, "content": "x"}));
    assert!(matches!(judged.answer, Answer::Deny(_)), "{:?}", judged.answer);
}
