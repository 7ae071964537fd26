//! The hook in an agent's settings: entered, changed and removed, with every other byte as it was.

use std::fs;
use std::path::Path;

use rulestep::live::settings::{Commands, hooks, with, without};
use rulestep::live::{Agent, install};
use serde_json::Value;

use super::{fed, live, named};

fn commands(agent: Agent, flag: &str) -> Commands {
    let hook = format!("/opt/rulestep hook {} -p '/a b/p.yaml'{flag}", agent.name());
    Commands { deciding: format!("{hook} || exit 2"), reporting: hook }
}

/// Settings as people and programs write them. `EVENT` is the agent's event that decides, `OTHER` one that reports, `ENTRY` an
/// entry of somebody else.
const SHAPES: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }\n",
    "{\n}\n",
    "{\n\n}\n",
    "{\"a\":1}",
    "{\"a\":1,\"hooks\":{}}",
    "{\"hooks\":{\"EVENT\":[]}}",
    "{\"hooks\":{\"EVENT\":[ENTRY]},\"z\":[1,2]}\n",
    "{\"a\": 1, \"b\": {\"c\": [ ]}}\n",
    "{ \"a\": 1 }\n",
    "{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1\n}",
    "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t1\n\t]\n}\n",
    "{\r\n    \"a\": 1,\r\n    \"b\": \"\\u00e9 \\\"x\\\"\"\r\n}\r\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": { }\n}\n",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"EVENT\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"EVENT\": [\n    ]\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY\n    ]\n  },\n  \"after\": true\n}\n",
    "{\n  \"hooks\": {\n    \"OTHER\": [ENTRY, ENTRY],\n    \"Unheard\": [ENTRY]\n  }\n}\n",
    "{\"hooks\": {\"OTHER\": [ENTRY],\n            \"EVENT\": [ENTRY,\n                      ENTRY]}}\n",
    "{\n  \"numbers\": [1e999, 0.10, 12345678901234567890123],\n  \"hooks\": {\"EVENT\": [ENTRY]   }   }\n\n\n",
    "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n",
    "{\"a, b\": \"// no comment\", \"hooks\": {\"EVENT\": [ENTRY] }}",
];

/// With comments, where the agent reads them.
const COMMENTED: &[&str] = &[
    "// mine\n{}\n",
    "{ // nothing yet, really\n}\n",
    "{\n  \"a\": 1 // the last, for now\n}\n",
    "{\n  // first\n  \"a\": 1, // one, two\n  /* between */ \"b\": 2 /* after, all */\n  // end\n}\n// after it\n",
    "{\n  \"hooks\": {\n    // why\n    \"EVENT\": [\n      // theirs, not ours\n      ENTRY // same line\n      // last\n    ]\n  }\n}\n",
    "{ \"hooks\": { \"EVENT\": [ /* none */ ] } }\n",
];

fn shape(text: &str, agent: Agent) -> String {
    let entry = match agent.form().groups {
        false => r#"{"command": "./theirs.sh", "timeout": 5}"#,
        true => r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "./theirs.sh"}]}"#,
    };
    let events = agent.events();
    text.replace("ENTRY", entry).replace("EVENT", events[0].0).replace("OTHER", events[1].0)
}

fn shapes(agent: Agent) -> impl Iterator<Item = String> {
    let commented = if agent.form().comments { COMMENTED } else { &[] };
    SHAPES.iter().chain(commented).map(move |text| shape(text, agent))
}

/// What the agent reads: every event that is needed has our command once, and everything else is what it was.
fn assert_installed(agent: Agent, before: &str, after: &str, flag: &str) {
    let wanted = commands(agent, flag);
    let found = hooks(after, agent).unwrap_or_else(|why| panic!("{why:?}\n{after}"));
    let ours: Vec<(&str, &str)> =
        found.iter().filter(|hook| hook.is_ours).map(|hook| (&*hook.event, &*hook.command)).collect();
    for (event, decides) in agent.events() {
        let command = if decides { &wanted.deciding } else { &wanted.reporting };
        let count = ours.iter().filter(|found| **found == (event, command)).count();
        assert_eq!(count, 1, "{agent:?} {event}\n{after}");
    }
    assert_eq!(ours.len(), agent.events().len(), "{after}");
    let theirs = |text: &str| -> Vec<(String, String)> {
        let found = hooks(text, agent).unwrap();
        found.into_iter().filter(|hook| !hook.is_ours).map(|hook| (hook.event, hook.command)).collect()
    };
    let sorted = |mut list: Vec<(String, String)>| {
        list.sort();
        list
    };
    assert_eq!(sorted(theirs(before)), sorted(theirs(after)));
    if !agent.form().comments {
        let value: Value = serde_json::from_str(after).unwrap_or_else(|why| panic!("{why}\n{after}"));
        assert!(value["hooks"].is_object());
    }
}

#[test]
fn what_is_entered_is_removed_to_the_last_byte() {
    for &agent in Agent::ALL {
        for before in shapes(agent) {
            let after =
                with(&before, agent, &commands(agent, "")).unwrap_or_else(|why| panic!("{why:?} {before:?}"));
            assert_installed(agent, &before, &after, "");
            assert_eq!(
                with(&after, agent, &commands(agent, "")).unwrap(),
                after,
                "a second time changes nothing"
            );
            let rest = without(&after, agent, Some(&before)).unwrap();
            // Where there was no value, only the file as a whole can be put back, which its receipt does.
            if before.contains('{') {
                assert_eq!(rest, before, "{agent:?}\n{after}");
            } else {
                assert_eq!(rest.trim(), "{}", "{agent:?} {before:?}");
            }
            // Every byte of theirs is there, in its order.
            let mut bytes = after.bytes();
            assert!(before.bytes().all(|byte| bytes.any(|other| other == byte)), "{before}\n{after}");
        }
    }
}

#[test]
fn other_flags_replace_only_the_command() {
    for &agent in Agent::ALL {
        for before in shapes(agent) {
            let after = with(&before, agent, &commands(agent, "")).unwrap();
            let shadow = with(&after, agent, &commands(agent, " --shadow")).unwrap();
            assert_installed(agent, &before, &shadow, " --shadow");
            assert_eq!(shadow.replace(" --shadow", ""), after, "nothing else changes");
            assert_eq!(with(&shadow, agent, &commands(agent, "")).unwrap(), after, "and back");
        }
    }
}

#[test]
fn what_the_user_does_meanwhile_stays() {
    /// Edits that a user makes before and after the hook is entered, with the same meaning in both texts.
    type Edit = fn(&str) -> String;
    let edits: [Edit; 3] = [
        |text| text.replacen('{', "{\n  \"mine\": [1,  2],", 1),
        |text| text.replace("./theirs.sh", "./theirs.sh --more  'a b'"),
        |text| format!("{text}\n\n"),
    ];
    for &agent in Agent::ALL {
        for before in shapes(agent).filter(|before| before.matches('"').count() > 2) {
            let after = with(&before, agent, &commands(agent, "")).unwrap();
            for edit in edits {
                let rest = without(&edit(&after), agent, Some(&before)).unwrap();
                assert_eq!(rest, edit(&before), "{agent:?}\n{after}");
            }
        }
        // An entry that is put after ours, and one of a group of ours.
        let after = with("{}\n", agent, &commands(agent, "")).unwrap();
        let entry = shape("ENTRY", agent);
        let event = agent.events()[0].0;
        let start = after.find(event).unwrap();
        let end = start + after[start..].find("\n    ]").unwrap();
        let more = format!("{},\n      {entry}{}", &after[..end], &after[end..]);
        let rest = without(&more, agent, Some("{}\n")).unwrap();
        assert_eq!(rest.split_whitespace().collect::<String>(), {
            let version = if agent.form().needs.is_some() { "\"version\":1," } else { "" };
            format!("{{{version}\"hooks\":{{\"{event}\":[{entry}]}}}}").split_whitespace().collect::<String>()
        });
    }
}

/// Of several hooks the one that is asked about every call stays, and is heard.
#[test]
fn a_hook_that_is_asked_about_every_call_stays() {
    for &agent in Agent::ALL.iter().filter(|agent| agent.form().groups) {
        let commands = commands(agent, "");
        let whole = with("{}", agent, &commands).unwrap();
        let (event, _) = agent.events()[0];
        let command = Value::from(&*commands.deciding).to_string();
        let hook = |matcher: &str, more: &str| {
            let matcher =
                if matcher.is_empty() { String::new() } else { format!("\"matcher\": \"{matcher}\", ") };
            format!("{{{matcher}\"hooks\": [{{\"type\": \"command\", \"command\": {command}{more}}}]}}")
        };
        let installed = |entries: &[String]| {
            let text = whole.replacen(
                &format!("\"{event}\": ["),
                &format!("\"{event}\": [{}, ", entries.join(", ")),
                1,
            );
            // Without the one that is there already.
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value["hooks"][event].as_array_mut().unwrap().pop();
            let after = with(&value.to_string(), agent, &commands).unwrap();
            let after: Value = serde_json::from_str(&after).unwrap();
            let kept = after["hooks"][event].as_array().unwrap().clone();
            kept.iter().map(|group| (group["matcher"].clone(), group["hooks"][0].clone())).collect::<Vec<_>>()
        };
        let plain = serde_json::json!({"type": "command", "command": commands.deciding});
        for entries in [
            &[hook("Bash", ""), hook("", "")][..],
            &[hook("", ""), hook("Bash", "")],
            &[hook("Bash", ""), hook("*", "")],
            &[hook("", ", \"async\": true"), hook("", "")],
            &[hook("", ", \"async\": true")],
            &[hook("Bash", ", \"timeout\": 1")],
        ] {
            let kept = installed(entries);
            let [(matcher, own)] = &kept[..] else { panic!("{agent:?} {entries:?}: {kept:?}") };
            assert!(
                own == &plain && (matcher.is_null() || *matcher == "*"),
                "{agent:?} {entries:?}: {kept:?}"
            );
        }
        // What somebody has narrowed stays as narrow as it is.
        let kept = installed(&[hook("Bash", ""), hook("Edit", "")]);
        assert_eq!(kept, [(Value::from("Bash"), plain.clone()), (Value::from("Edit"), plain.clone())]);
    }
}

#[test]
fn settings_of_an_unknown_form_are_left_alone() {
    let claude = named("claude-code");
    for (agent, text, line, why) in [
        (claude, "[]", 1, "the whole is not an object"),
        (claude, "null", 1, "the whole is not an object"),
        (claude, "{\n\"hooks\": []}", 2, "`hooks` is not an object"),
        (claude, "{\"hooks\": {\n\n\"PreToolUse\": {}}}", 3, "`hooks.PreToolUse` is not a list"),
        (
            claude,
            "{\"hooks\": {\"PreToolUse\": [\n\"x\"]}}",
            2,
            "an entry of `hooks.PreToolUse` is not an object",
        ),
        (claude, "{\"hooks\": {\"PreToolUse\": [{\"command\": \"x\"}]}}", 1, "has no `hooks`"),
        (claude, "{\"hooks\": {\"PreToolUse\": [{\"hooks\": {}}]}}", 1, "is not a list"),
        (claude, "{\"hooks\": {},\n\"hooks\": {}}", 2, "the key `hooks` is there twice"),
        (claude, "{\"hooks\": {\"SessionEnd\": [],\n \"SessionEnd\": []}}", 2, "is there twice"),
        (claude, "{\n  \"a\": 1,\n}", 2, "not JSON as the agent reads it"),
        (claude, "{\n  // note\n  \"a\": 1\n}", 2, "not JSON as the agent reads it"),
        (claude, "{'a': 1}", 1, "not JSON as the agent reads it"),
        (claude, "{\"a\": 1} {}", 1, "not JSON as the agent reads it"),
        (claude, "{\"a\": ", 1, "not JSON as the agent reads it"),
        (named("codex"), "{\"hooks\": {\"PreToolUse\": [{\"hooks\": 3}]}}", 1, "is not a list"),
        (named("cursor"), "{\"hooks\": {\"preToolUse\": \"x\"}}", 1, "`hooks.preToolUse` is not a list"),
        (named("gemini-cli"), "{\n// a\n\"a\": 1,\n}", 3, "not JSON as the agent reads it"),
    ] {
        let found = with(text, agent, &commands(agent, "")).unwrap_err();
        assert!(found.line == line && found.why.contains(why), "{text:?}: {found:?}");
        assert_eq!(without(text, agent, None).map_err(|found| found.line).err(), Some(line), "{text:?}");
    }
    // What only looks strange is left as it is.
    let gemini = "{\"hooks\": {\"enabled\": true, \"disabled\": [\"x\"]}}";
    assert!(
        with(gemini, named("gemini-cli"), &commands(named("gemini-cli"), ""))
            .unwrap()
            .starts_with(&gemini[..gemini.len() - 3])
    );
}

#[test]
fn command_lines_are_quoted_for_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a b'c$(d)\"e\\f;g");
    fs::create_dir(&odd).unwrap();
    let program = odd.join("rulestep");
    fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 2\n").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |line: &str| std::process::Command::new("sh").args(["-c", line]).output().unwrap();
    for &agent in Agent::ALL {
        let lines = install::commands(&program, agent, "p'q.yaml", false, &[], &odd).unwrap();
        let output = run(&lines.deciding);
        let wanted = format!("hook\n{}\n-p\n{}\n", agent.name(), odd.join("p'q.yaml").display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
        assert_eq!(output.status.code(), Some(2));
        // A program that is missing denies, but not where it only watches.
        let gone = odd.join("none/rulestep");
        let missing = |shadow| install::commands(&gone, agent, "p.yaml", shadow, &[], &odd).unwrap();
        assert_eq!(run(&missing(false).deciding).status.code(), Some(2));
        assert_eq!(run(&missing(false).reporting).status.code(), Some(127));
        assert_eq!(run(&missing(true).deciding).status.code(), Some(127));
        let git = install::commands(&program, agent, "git:HEAD:a b", false, &[], &odd).unwrap();
        let output = run(&git.deciding);
        assert!(String::from_utf8_lossy(&output.stdout).ends_with("git:HEAD:a b\n"));
        let found = with("{}", agent, &git).unwrap();
        assert!(hooks(&found, agent).unwrap().iter().all(|hook| hook.is_ours));
        let lost = install::commands(&program, agent, "git:HEAD", false, &[], &odd.join("none")).unwrap();
        assert_eq!(run(&lost.deciding).status.code(), Some(2), "a repository that is missing denies");
    }
}

/// What is in a folder, below it too.
fn tree(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

/// A copy, or a program that a package manager has wrapped, is entered once and removed again.
#[test]
#[cfg(unix)]
fn a_program_of_any_name_is_entered_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("p.yaml"), "{tool: mcp__ci__deploy, preconditions: [{requires_prior_tool: test}]}")
        .unwrap();
    for name in ["rs", ".rulestep-wrapped"] {
        fs::copy(env!("CARGO_BIN_EXE_rulestep"), path(name)).unwrap();
        for &agent in Agent::ALL {
            let run = |arguments: &[&str]| {
                let mut command = live(folder.path(), &path("state"), arguments);
                let mut own = std::process::Command::new(path(name));
                own.args(arguments).current_dir(folder.path());
                for (key, value) in command.env("HOME", path("home")).get_envs() {
                    value.map(|value| own.env(key, value));
                }
                fed(own, b"")
            };
            let output = run(&["install", agent.name(), "-p", "p.yaml"]);
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            let settings = path("home").join(agent.places().folder).join(agent.places().hooks);
            let found = hooks(&fs::read_to_string(&settings).unwrap(), agent).unwrap();
            assert!(found.iter().all(|hook| hook.is_ours && hook.command.contains(name)), "{found:?}");
            assert_eq!(found.len(), agent.events().len());
            assert_eq!(run(&["uninstall", agent.name()]).status.code(), Some(0));
            assert!(!settings.exists(), "{}", settings.display());
        }
    }
}

#[test]
fn files_are_as_they_were_after_install_and_uninstall() {
    for (agent, folder, file) in [
        ("claude-code", ".claude", "settings.json"),
        ("codex", ".codex", "hooks.json"),
        ("gemini-cli", ".gemini", "settings.json"),
        ("cursor", ".cursor", "hooks.json"),
        ("qwen-code", ".qwen", "settings.json"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let (home, project) = (root.path().join("home"), root.path().join("project"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&project).unwrap();
        fs::write(project.join("p.yaml"), "{tool: deploy, preconditions: [{requires_prior_tool: t}]}")
            .unwrap();
        let run = |arguments: &[&str]| {
            let mut command = live(&project, &root.path().join("state"), arguments);
            command.env("HOME", &home);
            Agent::ALL.iter().filter_map(|agent| agent.places().variable).for_each(|name| {
                command.env_remove(name);
            });
            fed(command, b"")
        };
        for (scope, base) in [("--user", &home), ("--project", &project)] {
            let path = base.join(folder).join(file);
            let before = tree(base);
            let install = ["install", agent, scope, "-p", "p.yaml"];
            let dry = run(&[&install[..], &["--dry-run"]].concat());
            assert_eq!(dry.status.code(), Some(0));
            assert!(String::from_utf8_lossy(&dry.stdout).contains("hook") && tree(base) == before);
            // No file and no folder.
            assert_eq!(run(&install).status.code(), Some(0));
            let first = fs::read_to_string(&path).unwrap();
            assert!(first.contains(&format!("p {}", project.join("p.yaml").display())), "{first}");
            assert_eq!(run(&install).status.code(), Some(0));
            assert_eq!(fs::read_to_string(&path).unwrap(), first);
            let shadow = run(&[&install[..], &["--shadow"]].concat());
            assert_eq!(shadow.status.code(), Some(0));
            assert!(fs::read_to_string(&path).unwrap().contains("--shadow"));
            // What somebody has added to the command stays in it, and that is said.
            let edited = first.replace(" || exit 2", " --on-error=ask --limit 900 || exit 2");
            fs::write(&path, edited).unwrap();
            let again = run(&install);
            let said = String::from_utf8_lossy(&again.stderr).into_owned();
            assert!(said.contains("the hook keeps `--on-error ask --limit 900`"), "{said}");
            let kept = fs::read_to_string(&path).unwrap();
            assert!(kept.contains(" --on-error ask --limit 900 || exit 2"), "{kept}");
            assert!(run(&install).stderr.starts_with(b"note: the hook is in "), "nothing is left to do");
            assert_eq!(run(&["uninstall", agent, scope]).status.code(), Some(0));
            assert_eq!(tree(base), before, "nothing is left");
            // A file, which is a link.
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let own = "\u{feff}{\n    \"mine\": true\n}";
            let target = base.join("dotfile");
            fs::write(&target, own).unwrap();
            #[cfg(unix)]
            {
                fs::set_permissions(&target, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
                std::os::unix::fs::symlink(&target, &path).unwrap();
            }
            assert_eq!(run(&install).status.code(), Some(0));
            assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
            assert!(fs::read_to_string(&target).unwrap().starts_with("\u{feff}{\n    \"mine\": true,"));
            assert_eq!(run(&["uninstall", agent, scope]).status.code(), Some(0));
            assert_eq!(fs::read_to_string(&target).unwrap(), own);
            #[cfg(unix)]
            {
                let mode =
                    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&target).unwrap().permissions());
                assert_eq!(mode & 0o777, 0o600);
            }
            // A file without a value in it, and one that cannot be read.
            fs::write(&target, "\n").unwrap();
            assert_eq!(run(&install).status.code(), Some(0));
            assert_eq!(run(&["uninstall", agent, scope]).status.code(), Some(0));
            assert_eq!(fs::read_to_string(&target).unwrap(), "\n");
            for bad in [&b"{\n\n \"hooks\": 3}"[..], b"\xff"] {
                fs::write(&target, bad).unwrap();
                let refused = run(&install);
                assert_eq!(refused.status.code(), Some(2));
                let error = String::from_utf8_lossy(&refused.stderr).into_owned();
                assert!(
                    error.contains(file) && (bad.len() < 2 || error.contains(":3: `hooks` is not an object")),
                    "{error}"
                );
                assert_eq!(fs::read(&target).unwrap(), bad);
            }
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
            fs::remove_file(&target).unwrap();
        }
        // A policy that does not load would deny every call.
        fs::write(project.join("bad.yaml"), "tool: [").unwrap();
        let refused = run(&["install", agent, "-p", "bad.yaml"]);
        assert!(refused.status.code() == Some(2) && tree(&home).is_empty());
    }
}
