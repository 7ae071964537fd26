//! `doctor` runs the installed hooks: what works is said to work, and nothing else is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use rulestep::live::{Agent, probe};
use rulestep_engine::Policy;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{fed, live, named};

const POLICY: &str = "{tool: mcp__ci__deploy, preconditions: [{requires_prior_tool: run_tests}]}";

struct HookService {
    root: TempDir,
}

impl HookService {
    fn new() -> HookService {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "project", "policies"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("policies/p.yaml"), POLICY).unwrap();
        HookService { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = live(&self.path("project"), &self.path("state"), arguments);
        command.env("HOME", self.path("home"));
        Agent::ALL.iter().filter_map(|agent| agent.places().variable).for_each(|name| {
            command.env_remove(name);
        });
        fed(command, b"")
    }

    fn install(&self, more: &[&str]) {
        let output = self.run(&[&["install", "-p", "../policies/p.yaml"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The exit code and what is said.
    fn doctor(&self) -> (i32, String) {
        let output = self.run(&["doctor"]);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// Changes the settings of Claude Code.
    fn edit(&self, from: &str, to: &str) {
        let path = self.path("home/.claude/settings.json");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Trusts the hooks of Codex in the user's settings, as `/hooks` in Codex does.
    fn trust(&self) {
        self.trust_in(&self.path("home/.codex/hooks.json"));
    }

    fn trust_in(&self, path: &Path) {
        let settings: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut config = String::new();
        for (event, label) in [
            ("PreToolUse", "pre_tool_use"),
            ("PostToolUse", "post_tool_use"),
            ("UserPromptSubmit", "user_prompt_submit"),
        ] {
            let command = &settings["hooks"][event][0]["hooks"][0]["command"];
            let identity = json!({"event_name": label, "hooks": [{"async": false, "command": command, "timeout": 600, "type": "command"}]});
            let digest = hmac_sha256::Hash::hash(identity.to_string().as_bytes());
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            let key = format!("{}:{label}:0:0", path.display());
            config += &format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:{digest}\"\n");
        }
        fs::create_dir_all(self.path("home/.codex")).unwrap();
        fs::write(self.path("home/.codex/config.toml"), config).unwrap();
    }

    fn program(&self, name: &str, script: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.display().to_string()
    }
}

#[test]
fn what_works_is_proved() {
    let service = HookService::new();
    let (code, said) = service.doctor();
    assert!(code == 1 && said.contains("no hook is installed"), "{said}");
    for agent in Agent::ALL.iter().map(|agent| agent.name()) {
        service.install(&[agent]);
        if agent == "codex" {
            service.trust();
        }
        let (code, said) = service.doctor();
        assert!(
            code == 0 && !said.contains("than the one") && said.contains(agent) && !said.contains("error"),
            "{said}"
        );
        assert!(said.contains("a call that must be denied is denied: `mcp__ci__deploy {}`\n"), "{said}");
        assert!(said.contains("a call that is allowed is not denied: "), "{said}");
        assert!(!service.path("state/rulestep/live").exists(), "no decision is recorded");
        service.install(&[agent, "--shadow"]);
        if agent == "codex" {
            service.trust();
        }
        let (code, said) = service.doctor();
        assert!(
            code == 0 && said.contains("in shadow mode, `mcp__ci__deploy {}` is recorded as `deny`"),
            "{said}"
        );
        assert_eq!(service.run(&["uninstall", agent]).status.code(), Some(0));
    }
    // The settings and the policy of the project are the agent's to write.
    fs::write(service.path("project/own.yaml"), POLICY).unwrap();
    assert_eq!(service.run(&["install", "codex", "--project", "-p", "own.yaml"]).status.code(), Some(0));
    service.trust_in(&service.path("project/.codex/hooks.json"));
    let (code, said) = service.doctor();
    assert!(
        code == 0
            && said.contains("the agent can remove the hook")
            && said.contains("the agent can edit the policy"),
        "{said}"
    );
}

#[test]
fn what_does_not_work_is_an_error() {
    let exe = env!("CARGO_BIN_EXE_rulestep");
    let service = HookService::new();
    service.install(&["claude-code"]);
    let settings = fs::read_to_string(service.path("home/.claude/settings.json")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    // A program that says its version and lets everything run, one that denies everything, and one that fails.
    let silent =
        service.program("a/rulestep", &format!("[ \"$1\" = --version ] && echo rulestep {version}; exit 0"));
    let denies = service.program("b/rulestep", "echo no >&2; exit 2");
    let fails = service.program("c/rulestep", "exit 1");
    let gone = service.path("d/rulestep").display().to_string();
    for (from, to, code, wanted) in [
        (exe, &*silent, 1, "it decided nothing"),
        (exe, &*denies, 1, "it decided nothing, and denied"),
        (exe, &*fails, 1, "it decided nothing, and denied"),
        (exe, &*gone, 1, "does not run"),
        ("|| exit 2", "", 0, "a program that is missing lets every call run"),
        (
            "|| exit 2",
            ">/dev/null 2>&1 || exit 0",
            1,
            "the decision on `mcp__ci__deploy {}` does not reach the agent",
        ),
        ("p.yaml", "q.yaml", 1, "does not load"),
        ("\"PreToolUse\"", "\"Stop\"", 1, "no hook for `PreToolUse`, so no call is decided"),
        ("\"PostToolUse\"", "\"Stop\"", 1, "no hook for `PostToolUse`, so no call counts as succeeded"),
        ("\"PostToolUseFailure\"", "\"Stop\"", 0, "no hook for `PostToolUseFailure`"),
        ("\"hooks\": {", "\"disableAllHooks\": true, \"hooks\": {", 1, "turns all hooks off"),
        (
            "\"PreToolUse\": [",
            "\"PreToolUse\": [{\"hooks\": [{\"command\": \"echo '{\\\"permissionDecision\\\": \\\"allow\\\"}'\"}]},",
            0,
            "seems to answer `allow`",
        ),
        ("\"hooks\": {", "\"hooks\": [], \"x\": {", 1, ":2: `hooks` is not an object"),
    ] {
        service.edit(from, to);
        let (found, said) = service.doctor();
        assert!(found == code && said.contains(wanted), "{from} -> {to}: {found}\n{said}");
        assert!(
            !said.contains("must be denied is denied")
                || code == 0
                || wanted.contains("all hooks off")
                || wanted.contains("succeeded"),
            "{said}"
        );
        fs::write(service.path("home/.claude/settings.json"), &settings).unwrap();
    }
    // A group that is asked only about some tools.
    service.edit("\"PreToolUse\": [\n      {", "\"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",");
    assert!(service.doctor().1.contains("only about tools that match `Bash`"));
    fs::write(service.path("home/.claude/settings.json"), &settings).unwrap();
    // A policy that stops nothing proves nothing.
    fs::write(service.path("policies/p.yaml"), "{tool: deploy, side_effect: read}").unwrap();
    let (code, said) = service.doctor();
    assert!(
        code == 1 && said.contains("unproved no call that claude-code can make was found"),
        "{code} {said}"
    );
    // Journals that others can read.
    #[cfg(unix)]
    {
        let folder = service.path("state/rulestep/live/host");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let (code, said) = service.doctor();
        assert!(code == 1 && said.contains("others may use"), "{said}");
    }
}

#[test]
fn a_call_that_is_stopped_is_found_in_policies_of_every_language() {
    // A limit stops the call that is made once more.
    let limit = "{version: '1', name: l, rules: [{type: max_calls, tool: look, max: 2}]}";
    let policy = Policy::parse("limit.yaml", limit).unwrap();
    assert_eq!(probe::find(&policy, &json!({}), &[]).stopped.len(), 3);
    // Most policies of the repository stop something, and what is found is what it is said to be.
    let mut stopping = 0;
    for folder in ["contracts", "examples", "sample-traces"] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let Ok(policy) = Policy::from_dir(&path) else { continue };
            let mut found = probe::find(&policy, &json!({}), named("claude-code").tools());
            // Of a policy for tools of a host's own, a call of such a tool.
            if found.stopped.is_empty() {
                found = probe::find(&policy, &json!({}), &[]);
            }
            let mut gate = rulestep_engine::Gate::new(&policy);
            for (index, call) in found.stopped.iter().enumerate() {
                let asked = gate.turn().propose(&call.tool, call.arguments.clone());
                assert_eq!(asked.allowed(), index + 1 < found.stopped.len(), "{}: {found:?}", path.display());
                if asked.allowed() {
                    asked.succeeded(json!("ok"));
                }
            }
            assert!(!found.stopped.is_empty() && found.allowed.is_some(), "{}: {found:?}", path.display());
            stopping += 1;
        }
    }
    assert!(stopping > 4, "{stopping}");
}

/// What is denied to prove the hook is a call of the agent's own, with a path or a command, where a rule is about any.
#[test]
fn a_call_that_is_denied_is_one_that_the_agent_can_make() {
    let policy = Policy::from_dir("contracts/coding").unwrap();
    for &agent in Agent::ALL {
        let found = probe::find(&policy, &json!({"cwd": "/home/me/app"}), agent.tools());
        let [call] = found.stopped.as_slice() else { panic!("{found:?}") };
        let tool = agent.tools().iter().find(|tool| tool.name == call.tool);
        let tool = tool.unwrap_or_else(|| panic!("{} has no {call:?}", agent.name()));
        assert!(call.arguments[tool.argument].as_str().is_some_and(|on| on.len() > 2), "{call:?}");
        let allowed = found.allowed.unwrap();
        assert!(agent.tools().iter().any(|tool| tool.name == allowed.tool), "{allowed:?}");
        // Codex changes files by patches alone, of which the rule says nothing.
        let unmet: &[&str] = match agent.name() {
            "codex" => &["A file is read or written before a part of it is changed"],
            _ => &[],
        };
        assert_eq!(probe::unmet(&policy, agent.tools()), unmet, "{}", agent.name());
    }
    let other = Policy::parse("p.yaml", &POLICY.replace("mcp__ci__deploy", "deploy")).unwrap();
    assert_eq!(probe::unmet(&other, named("codex").tools()).len(), 1);
    let server = Policy::parse("p.yaml", POLICY).unwrap();
    assert_eq!(probe::unmet(&server, named("codex").tools()), [""; 0]);
    // What comes first can be met, and what is denied cannot.
    let ordered = "rules: [{type: before, first: {runs: {program: cargo}}, then: deploy}]";
    let two_sided = Policy::parse("p.yaml", ordered).unwrap();
    assert_eq!(probe::unmet(&two_sided, named("codex").tools()).len(), 1);
    let reversed =
        Policy::parse("p.yaml", "rules: [{type: before, first: deploy, then: {runs: {program: cargo}}}]");
    assert_eq!(probe::unmet(&reversed.unwrap(), named("codex").tools()), [""; 0]);
}

#[test]
fn hooks_that_another_file_turns_off_are_an_error() {
    let service = HookService::new();
    for (agent, file, off, on) in [
        (
            "claude-code",
            "project/.claude/settings.local.json",
            r#"{"disableAllHooks": true}"#,
            r#"{"disableAllHooks": false}"#,
        ),
        ("claude-code", "project/.claude/settings.json", r#"{"disableAllHooks": true}"#, "{}"),
        ("codex", "home/.codex/config.toml", "[features]\nhooks = false\n", "[features]\nhooks = true\n"),
        ("codex", "project/.codex/config.toml", "features.codex_hooks = false\n", "model = 'x'\n"),
        (
            "gemini-cli",
            "project/.gemini/settings.json",
            r#"{"hooksConfig": {"enabled": false}}"#,
            r#"{"hooksConfig": {"enabled": true}}"#,
        ),
        (
            "qwen-code",
            "project/.qwen/settings.json",
            "// mine\n{\"disableAllHooks\": true}",
            r#"{"disableAllHooks": false}"#,
        ),
    ] {
        service.install(&[agent]);
        if agent == "codex" {
            service.trust();
        }
        let path = service.path(file);
        let trusted = fs::read_to_string(&path).unwrap_or_default();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for (text, wanted) in [(off, "turns all hooks off"), ("{ [", "turns all hooks off is not known")] {
            fs::write(&path, format!("{trusted}{text}")).unwrap();
            let (code, said) = service.doctor();
            assert!(code == 1 && said.contains(wanted) && said.contains(file), "{file} {text}: {said}");
        }
        fs::write(&path, format!("{trusted}{on}")).unwrap();
        let (code, said) = service.doctor();
        assert!(code == 0 && !said.contains("error"), "{file}: {said}");
        fs::remove_file(&path).unwrap();
        assert_eq!(service.run(&["uninstall", agent]).status.code(), Some(0));
    }
}

/// What is in the settings and is not asked, or not heard, is no guard.
#[test]
fn a_hook_that_is_not_asked_or_not_heard_is_an_error() {
    let service = HookService::new();
    let path = |agent: &str| {
        let places = named(agent).places();
        service.path("home").join(places.folder).join(places.hooks)
    };
    let again = "run `rulestep install";
    for (agent, change, code, wanted) in [
        ("claude-code", json!({"async": true}), 1, "runs in the background (`async`)"),
        ("claude-code", json!({"asyncRewake": true}), 1, "runs in the background (`async`)"),
        ("claude-code", json!({"once": true}), 1, "runs only once"),
        ("claude-code", json!({"type": "prompt"}), 1, "is not of the type `command`"),
        (
            "claude-code",
            json!({"timeout": 5}),
            1,
            "the agent waits 5 s for the hook for `PreToolUse` (`timeout`)",
        ),
        ("claude-code", json!({"timeout": 60}), 0, "is denied: `mcp__ci__deploy {}`"),
        (
            "claude-code",
            json!({"if": "Bash(git *)"}),
            0,
            "asked only about calls of which `if` holds: `Bash(git *)`",
        ),
        ("gemini-cli", json!({"timeout": 5000}), 1, "the agent waits 5 s for the hook for `BeforeTool`"),
        ("gemini-cli", json!({"timeout": 40_000}), 0, "is denied: `mcp__ci__deploy {}`"),
        (
            "gemini-cli",
            json!({"name": "mine"}),
            1,
            "is turned off: take it out of the list `hooksConfig.disabled`",
        ),
        ("qwen-code", json!({"timeout": 5000}), 1, "the agent waits 5 s for the hook for `PreToolUse`"),
        ("qwen-code", json!({"timeout": 40_000}), 0, "is denied: `mcp__ci__deploy {}`"),
        (
            "cursor",
            json!({"timeout": 5, "failClosed": false}),
            1,
            "the agent waits 5 s for the hook for `preToolUse`",
        ),
        ("cursor", json!({"timeout": 5}), 0, "is denied: `mcp__ci__deploy {}`"),
        ("cursor", json!({"type": "prompt"}), 1, "is not of the type `command`"),
    ] {
        service.install(&[agent]);
        let before = fs::read_to_string(path(agent)).unwrap();
        let mut settings: Value = serde_json::from_str(&before).unwrap();
        let (event, _) = named(agent).events()[0];
        let entry = &mut settings["hooks"][event][0];
        let handler = if agent == "cursor" { entry } else { &mut entry["hooks"][0] };
        handler.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        if change.get("name").is_some() {
            settings["hooksConfig"] = json!({"disabled": ["mine"]});
        }
        fs::write(path(agent), settings.to_string()).unwrap();
        let (found, said) = service.doctor();
        assert!(found == code && said.contains(wanted), "{agent} {change}: {found}\n{said}");
        assert!(code == 0 || !said.contains("must be denied is denied"), "{said}");
        if code == 1 && said.contains(again) {
            // What it advises helps.
            service.install(&[agent]);
            let (found, said) = service.doctor();
            assert!(found == 0 && said.contains("must be denied is denied"), "{agent} {change}: {said}");
        }
        fs::write(path(agent), before).unwrap();
        assert_eq!(service.run(&["uninstall", agent]).status.code(), Some(0));
    }
    service.install(&["claude-code"]);
    service.edit("|| exit 2", "--on-error allow || exit 2");
    let (code, said) = service.doctor();
    assert!(code == 0 && said.contains("a call that cannot be decided runs"), "{said}");
}

#[test]
fn codex_runs_only_hooks_that_are_trusted() {
    let service = HookService::new();
    service.install(&["codex"]);
    let (code, said) = service.doctor();
    assert!(
        code == 1 && said.contains("does not run the hook for `PreToolUse`, as nobody has trusted it"),
        "{said}"
    );
    service.trust();
    let (code, said) = service.doctor();
    assert!(code == 0 && !said.contains("trusted"), "{said}");
    let config = service.path("home/.codex/config.toml");
    let trusted = fs::read_to_string(&config).unwrap();
    fs::write(&config, trusted.replace("pre_tool_use:0:0\"]\n", "pre_tool_use:0:0\"]\nenabled = false\n"))
        .unwrap();
    let (code, said) = service.doctor();
    assert!(code == 1 && said.contains("the hook for `PreToolUse` is turned off"), "{said}");
    // Another command line than the one that was trusted.
    fs::write(&config, trusted).unwrap();
    service.install(&["codex", "--shadow"]);
    let (code, said) = service.doctor();
    assert!(code == 1 && said.contains("unproved the hook for `PreToolUse` seems to be another"), "{said}");
}

/// What a call that the agent cannot make would show is no proof, and a policy that denies no first call is said to be such.
#[test]
fn what_no_call_of_the_agent_shows_is_not_proved() {
    let service = HookService::new();
    let policy = |text: &str| fs::write(service.path("policies/p.yaml"), text).unwrap();
    for &agent in Agent::ALL {
        let name = agent.name();
        policy("{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}");
        service.install(&[name]);
        if agent.name() == "codex" {
            service.trust();
        }
        let (code, said) = service.doctor();
        assert!(code == 1 && !said.contains("is denied: `deploy"), "{said}");
        let none = format!("unproved no call that {name} can make was found that the policy denies");
        assert!(said.contains(&none), "{said}");
        assert!(said.contains(&format!("no tool of {name} can meet the rule `")), "{said}");
        // `Edit` is a tool of some: what is tried has the arguments that its calls have, or is another call.
        policy("rules: [{type: never, call: Edit}, {type: never, call: {runs: {program: reboot}}}]");
        let (code, said) = service.doctor();
        assert!(
            code == 0 && said.contains("must be denied is denied: ") && !said.contains("`Edit {}`"),
            "{said}"
        );
        policy("rules: [{type: max_calls, tool: mcp__ci__look, max: 2}]");
        let (code, said) = service.doctor();
        let thrice = "`mcp__ci__look {}`, made 3 times; the policy denies no first call of a session";
        assert!(code == 0 && said.contains(thrice), "{said}");
        policy("rules: [{type: never, call: mcp__ci__push, effect: ask}]");
        let (code, said) = service.doctor();
        let asked = "does not run unasked: `mcp__ci__push {}`; the policy denies no first call";
        // Cursor asks about two events of its own alone, and this one is none of them.
        assert!(code == 0 && (said.contains(asked)), "{said}");
        assert_eq!(service.run(&["uninstall", name]).status.code(), Some(0));
    }
}

/// The newest log goes to the hook: one that it cannot read is an error, and one that is not there was not tried.
#[test]
fn the_newest_log_is_given_to_the_hook() {
    let service = HookService::new();
    let call = |id: &str| {
        json!({"type": "assistant", "sessionId": "s", "uuid": id, "parentUuid": null, "message": {"role": "assistant", "id": id,
            "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "a"}}]}})
        .to_string()
    };
    let result = json!({"type": "user", "sessionId": "s", "uuid": "u2", "parentUuid": "u1", "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "u1", "content": "text"}]}});
    let cut = r#"{"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Ba"#;
    let rollout = |body: Value| {
        json!({"timestamp": "2026-05-04T10:00:00Z", "type": "response_item", "payload": body}).to_string()
    };
    let ran = rollout(
        json!({"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{\"command\": [\"ls\"]}"}),
    );
    let ended = rollout(json!({"type": "function_call_output", "call_id": "c", "output": "a"}));
    let ran = format!("{ran}\n{ended}");
    for (agent, folder, whole) in [
        ("claude-code", "home/.claude/projects/p", format!("{}\n{result}", call("u1"))),
        ("codex", "home/.codex/sessions/2026/05/04", ran),
    ] {
        service.install(&[agent]);
        if agent == "codex" {
            service.trust();
        }
        let (code, said) = service.doctor();
        assert!(code == 0 && said.contains(&format!("there is no log of {agent} in ")), "{said}");
        fs::create_dir_all(service.path(folder)).unwrap();
        let log = service.path(folder).join("rollout-1.jsonl");
        fs::write(&log, format!("{whole}\n")).unwrap();
        // That of a subagent is not the log of a session.
        fs::write(service.path(folder).join("agent-1.jsonl"), cut).unwrap();
        let (code, said) = service.doctor();
        let read = format!("the hook reads the newest log, with 1 call: {}", log.display());
        assert!(code == 0 && said.contains(&read), "{said}");
        fs::write(&log, format!("{cut}\n{whole}\n")).unwrap();
        for shadow in [&[][..], &["--shadow"]] {
            service.install(&[&[agent], shadow].concat());
            if agent == "codex" {
                service.trust();
            }
            let (code, said) = service.doctor();
            assert!(
                code == 1 && said.contains("error    the hook cannot read the newest log"),
                "{shadow:?} {said}"
            );
            assert!(said.contains(&log.display().to_string()), "{said}");
        }
        assert_eq!(service.run(&["uninstall", agent]).status.code(), Some(0));
    }
}

/// Where a file can be opened and nothing can be written to it, as on a full disk, no journal can be written.
#[cfg(target_os = "linux")]
#[test]
fn a_record_is_really_written() {
    let service = HookService::new();
    service.install(&["claude-code"]);
    let inner = live(&service.path("project"), &service.path("state"), &["doctor"]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" doctor"]).arg(env!("CARGO_BIN_EXE_rulestep"));
    command.current_dir(service.path("project"));
    inner.get_envs().for_each(|(name, value)| match value {
        Some(value) => drop(command.env(name, value)),
        None => drop(command.env_remove(name)),
    });
    command.env("HOME", service.path("home"));
    let output = fed(command, b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no journal can be written to ") && !said.contains("a record can be written"),
        "{said}"
    );
}

#[test]
fn folders_that_rules_name_are_compared_with_those_of_the_user() {
    let service = HookService::new();
    fs::write(
        service.path("guards.yaml"),
        "rules:\n  - {type: never, call: {reads: '~/.claude/**'}}\n  - {type: never, call: {tool: mcp__ci__deploy}}\n",
    )
    .unwrap();
    let (home, elsewhere) = (service.path("home"), service.path("elsewhere"));
    let run = |arguments: &[&str], folder: Option<&Path>| {
        let mut command = live(&service.path("project"), &service.path("state"), arguments);
        command.env("HOME", &home).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        folder.map(|folder| command.env("CLAUDE_CONFIG_DIR", folder));
        let output = fed(command, b"");
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let install = ["install", "claude-code", "-p", "../guards.yaml"];
    assert_eq!(run(&install, None).0, Some(0));
    assert!(!run(&["doctor"], None).1.contains("that folder elsewhere"));
    assert_eq!(run(&install, Some(&elsewhere)).0, Some(0));
    let (code, said) = run(&["doctor"], Some(&elsewhere));
    let guards = "the policy guards `~/.claude/**`, and claude-code has that folder elsewhere (`CLAUDE_CONFIG_DIR`): name ";
    assert!(code == Some(1) && said.contains(guards), "{said}");
}

#[test]
fn what_turns_hooks_off_or_hides_logs_is_an_error() {
    let service = HookService::new();
    service.install(&["claude-code"]);
    let mut command = live(&service.path("project"), &service.path("state"), &["doctor"]);
    command.env("HOME", service.path("home")).env("CLAUDE_CODE_SIMPLE", "1").env_remove("CLAUDE_CONFIG_DIR");
    let output = fed(command, b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && said.contains("`CLAUDE_CODE_SIMPLE` is set"), "{said}");
    #[cfg(unix)]
    {
        // Nobody can read it, whoever one is.
        std::os::unix::fs::symlink("projects", service.path("home/.claude/projects")).unwrap();
        let (code, said) = service.doctor();
        assert!(code == 1 && said.contains("cannot be read, so calls of a session"), "{said}");
    }
}
