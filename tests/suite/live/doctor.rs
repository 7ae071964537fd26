//! `doctor` runs the installed hooks: what works is said to work, and nothing else is.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use rulestep::Policy;
use rulestep::internals::live::probe;
use serde_json::json;
use tempfile::TempDir;

use super::{fed, live};

const POLICY: &str = "{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}";

struct Desk {
    root: TempDir,
}

impl Desk {
    fn new() -> Desk {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "project", "policies"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("policies/p.yaml"), POLICY).unwrap();
        Desk { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = live(&self.path("project"), &self.path("state"), arguments);
        command.env("HOME", self.path("home")).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
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
    let desk = Desk::new();
    let (code, said) = desk.doctor();
    assert!(code == 1 && said.contains("no hook is installed"), "{said}");
    for agent in ["claude-code", "codex", "gemini-cli", "cursor"] {
        desk.install(&[agent]);
        let (code, said) = desk.doctor();
        assert!(code == 0 && said.contains(agent) && !said.contains("error"), "{said}");
        assert!(said.contains("a call that must be denied is denied: `deploy {}`"), "{said}");
        assert!(said.contains("a call that is allowed is not denied: `rulestep_doctor {}`"), "{said}");
        assert!(!desk.path("state/rulestep/live").exists(), "no decision is recorded");
        desk.install(&[agent, "--shadow"]);
        let (code, said) = desk.doctor();
        assert!(code == 0 && said.contains("in shadow mode, `deploy {}` is recorded as denied"), "{said}");
        assert_eq!(desk.run(&["uninstall", agent]).status.code(), Some(0));
    }
    // The settings and the policy of the project are the agent's to write.
    fs::write(desk.path("project/own.yaml"), POLICY).unwrap();
    assert_eq!(desk.run(&["install", "codex", "--project", "-p", "own.yaml"]).status.code(), Some(0));
    let (code, said) = desk.doctor();
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
    let desk = Desk::new();
    desk.install(&["claude-code"]);
    let settings = fs::read_to_string(desk.path("home/.claude/settings.json")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    // A program that says its version and lets everything run, one that denies everything, and one that fails.
    let silent =
        desk.program("a/rulestep", &format!("[ \"$1\" = --version ] && echo rulestep {version}; exit 0"));
    let denies = desk.program("b/rulestep", "echo no >&2; exit 2");
    let fails = desk.program("c/rulestep", "exit 1");
    let gone = desk.path("d/rulestep").display().to_string();
    for (from, to, code, wanted) in [
        (exe, &*silent, 1, "it decided nothing"),
        (exe, &*denies, 1, "it decided nothing, and denied"),
        (exe, &*fails, 1, "it decided nothing, and denied"),
        (exe, &*gone, 1, "does not run"),
        ("|| exit 2", "", 0, "a program that is missing lets every call run"),
        ("|| exit 2", ">/dev/null 2>&1 || exit 0", 1, "the decision on `deploy {}` does not reach the agent"),
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
        desk.edit(from, to);
        let (found, said) = desk.doctor();
        assert!(found == code && said.contains(wanted), "{from} -> {to}: {found}\n{said}");
        assert!(
            !said.contains("must be denied is denied")
                || code == 0
                || wanted.contains("all hooks off")
                || wanted.contains("succeeded"),
            "{said}"
        );
        fs::write(desk.path("home/.claude/settings.json"), &settings).unwrap();
    }
    // A group that is asked only about some tools.
    desk.edit("\"PreToolUse\": [\n      {", "\"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",");
    assert!(desk.doctor().1.contains("only about tools that match `Bash`"));
    fs::write(desk.path("home/.claude/settings.json"), &settings).unwrap();
    // A policy that stops nothing proves nothing.
    fs::write(desk.path("policies/p.yaml"), "{tool: deploy, side_effect: read}").unwrap();
    let (code, said) = desk.doctor();
    assert!(code == 0 && said.contains("no call was found that the policy denies"), "{code} {said}");
    // Journals that others can read.
    #[cfg(unix)]
    {
        let folder = desk.path("state/rulestep/live/host");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let (code, said) = desk.doctor();
        assert!(code == 1 && said.contains("others may use"), "{said}");
    }
}

#[test]
fn a_call_that_is_stopped_is_found_in_policies_of_every_language() {
    // A limit stops the call that is made once more.
    let limit = "{version: '1', name: l, rules: [{type: max_calls, tool: look, max: 2}]}";
    let policy = Policy::parse("limit.yaml", limit).unwrap();
    assert_eq!(probe::find(&policy, &json!({})).stopped.len(), 3);
    // Most policies of the repository stop something, and what is found is what it is said to be.
    let mut stopping = 0;
    for folder in ["contracts", "examples", "sample-traces"] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let Ok(policy) = Policy::from_dir(&path) else { continue };
            let found = probe::find(&policy, &json!({}));
            let mut gate = rulestep::Gate::new(&policy);
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

#[test]
fn hooks_that_another_file_turns_off_are_an_error() {
    let desk = Desk::new();
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
    ] {
        desk.install(&[agent]);
        let path = desk.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for (text, wanted) in [(off, "turns all hooks off"), ("{ [", "turns all hooks off is not known")] {
            fs::write(&path, text).unwrap();
            let (code, said) = desk.doctor();
            assert!(code == 1 && said.contains(wanted) && said.contains(file), "{file} {text}: {said}");
        }
        fs::write(&path, on).unwrap();
        let (code, said) = desk.doctor();
        assert!(code == 0 && !said.contains("error"), "{file}: {said}");
        fs::remove_file(&path).unwrap();
        assert_eq!(desk.run(&["uninstall", agent]).status.code(), Some(0));
    }
}
