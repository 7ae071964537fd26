//! The policies for coding agents over lists of spellings: `tests/cases/coding`, a file for each kind of thing that is stopped, and
//! one of harmless work.
//!
//! A line is a command of the session, after those of `after` and before that of `then`; the last one is judged. A line that begins
//! with `~ ` does not hold yet, and may begin to: `UPDATE_CODING=1` removes the signs of those that hold, and adds none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};
use rulestep_recording::{self as recording, Options};
use serde::Deserialize;
use serde_json::{Value, json};

/// What is right for the last call of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Want {
    /// It is denied, or a person is asked.
    Stopped,
    /// It is stopped, or a finding says why it may be what is stopped.
    Reported,
    /// Neither it nor a call before is stopped.
    Allowed,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    tag: String,
    want: Want,
    agent: Option<String>,
    #[serde(default)]
    after: Vec<Made>,
    then: Option<Made>,
    #[serde(default)]
    lines: String,
    #[serde(default)]
    calls: Vec<Made>,
}

/// A call: a command of `Bash`, or that of another tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Made {
    Command(String),
    Call(Call),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    run: Option<String>,
    tool: Option<String>,
    arguments: Option<Value>,
    folder: Option<String>,
    #[serde(default)]
    after: Vec<Made>,
    #[serde(default)]
    pending: bool,
}

struct Case {
    family: String,
    tag: String,
    want: Want,
    /// What it is called: its line.
    name: String,
    pending: bool,
    session: Value,
}

impl Made {
    fn call(&self) -> Value {
        match self {
            Made::Command(command) => json!({"name": "Bash", "arguments": {"command": command}}),
            Made::Call(Call { run: Some(command), .. }) => {
                json!({"name": "Bash", "arguments": {"command": command}})
            }
            Made::Call(call) => json!({"name": call.tool, "arguments": call.arguments}),
        }
    }

    fn name(&self) -> String {
        match self {
            Made::Command(command) => command.clone(),
            Made::Call(call) => {
                let after = call.after.iter().map(|made| format!("{} ;; ", made.name()));
                after.chain([call.run.clone().unwrap_or_else(|| self.call().to_string())]).collect()
            }
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn policy() -> Arc<Policy> {
    let folder = root().join("contracts/coding");
    let mut files: Vec<PolicyFile> = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".yaml") && !name.ends_with(".case.yaml") {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            files.push(PolicyFile {
                name: name.as_str().into(),
                relative: name.as_str().into(),
                text: text.into(),
                named: false,
            });
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Policy::load(&files, None).policy.unwrap()
}

fn lists() -> Vec<PathBuf> {
    let folder = root().join("tests/cases/coding");
    let mut found: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn session(calls: &[Value], folder: Option<&str>, agent: Option<&str>, id: usize) -> Value {
    let mut messages = Vec::new();
    for call in calls {
        messages.push(json!({"role": "assistant", "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "content": "ok"}));
    }
    let folder = folder.unwrap_or("/home/me/app");
    let mut session = json!({"id": format!("case-{id}"), "messages": messages, "context": {"cwd": folder}});
    if agent == Some("sub") {
        session["parent"] = json!("main");
    }
    session
}

fn cases(path: &Path) -> Vec<Case> {
    let family = path.file_stem().unwrap().to_str().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let groups: Vec<Group> =
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut cases = Vec::new();
    for group in groups {
        let lines = group.lines.lines().map(|line| match line.strip_prefix("~ ") {
            Some(line) => (Made::Command(line.to_owned()), true),
            None => (Made::Command(line.to_owned()), false),
        });
        let calls = group
            .calls
            .iter()
            .map(|made| (made.clone(), matches!(made, Made::Call(Call { pending: true, .. }))));
        for (made, pending) in lines.chain(calls) {
            let (own, folder) = match &made {
                Made::Call(call) => (call.after.as_slice(), call.folder.as_deref()),
                Made::Command(_) => (&[][..], None),
            };
            let all = group.after.iter().chain(own).chain([&made]).chain(&group.then);
            let calls: Vec<Value> = all.map(Made::call).collect();
            cases.push(Case {
                family: family.to_owned(),
                tag: group.tag.clone(),
                want: group.want,
                name: made.name(),
                pending,
                session: session(&calls, folder, group.agent.as_deref(), cases.len()),
            });
        }
    }
    cases
}

/// Whether each case is decided as it should be.
fn judged(cases: &[Case], policy: &Arc<Policy>) -> Vec<bool> {
    let text: String = cases.iter().map(|case| format!("{}\n", case.session)).collect();
    let input = Box::new(std::io::Cursor::new(text.into_bytes()));
    let mut reading = recording::open("cases.jsonl", input, &Options::default()).unwrap();
    let sessions: Vec<Arc<_>> = reading.by_ref().map(Arc::new).collect();
    assert_eq!(sessions.len(), cases.len());
    let stops = |verdict: Verdict| verdict != Verdict::Allow;
    cases
        .iter()
        .zip(&sessions)
        .map(|(case, session)| {
            let replay = Replay::new(session, policy, Mode::Enforce);
            let calls = replay.calls();
            let last = &calls.last().unwrap().decision;
            match case.want {
                Want::Stopped => stops(last.verdict),
                Want::Reported => stops(last.verdict) || !last.findings.is_empty(),
                Want::Allowed => calls.iter().all(|judged| !stops(judged.decision.verdict)),
            }
        })
        .collect()
}

/// The most that may be wrong, in percent: of what must be stopped or reported, and of harmless work.
const MOST: [f64; 2] = [2.6, 1.0];

#[test]
fn spellings_are_stopped_and_harmless_work_is_not() {
    let policy = policy();
    let mut rates: BTreeMap<(String, Want), [usize; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in lists() {
        let cases = cases(&path);
        let holds = judged(&cases, &policy);
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (case, holds) in cases.iter().zip(holds) {
            let rate = rates.entry((case.family.clone(), case.want)).or_default();
            rate[0] += usize::from(!holds);
            rate[1] += 1;
            if case.pending && holds {
                println!("holds now: {} ({}): {}", case.family, case.tag, case.name);
                text = text.replace(&format!("    ~ {}\n", case.name), &format!("    {}\n", case.name));
            } else if !case.pending && !holds {
                wrong.push(format!("{} ({}, {:?}): {}", case.family, case.tag, case.want, case.name));
            }
        }
        if std::env::var_os("UPDATE_CODING").is_some() {
            std::fs::write(&path, text).unwrap();
        }
    }
    let mut sums = [[0; 2]; 2];
    for ((family, want), [failed, all]) in &rates {
        println!("{family:12} {want:?}: {} of {all}", all - failed);
        let sum = &mut sums[usize::from(*want == Want::Allowed)];
        sum[0] += failed;
        sum[1] += all;
    }
    for ((what, [failed, all]), most) in ["spellings", "harmless"].iter().zip(sums).zip(MOST) {
        let share = 100.0 * failed as f64 / all as f64;
        println!("{what}: {failed} of {all} are wrong, {share:.1} %");
        assert!(share <= most, "{share:.1} % of {what} are wrong, and {most} % may be");
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sums[0][1] >= 450 && sums[1][1] >= 200, "the lists are too short");
}

/// Every file that says whether an agent's hooks run: of a project, of the user (`~/…`) and of the machine.
fn files(agent: rulestep::live::Agent) -> Vec<String> {
    let places = agent.places();
    let own = std::iter::once(&places.hooks).chain(places.switches);
    let own = own.flat_map(|name| ["", "~/"].map(|place| format!("{place}{}/{name}", places.folder)));
    own.chain(places.managed.iter().map(|path| (*path).to_owned())).collect()
}

/// What `install` writes and `doctor` looks at is asked for, not listed once more.
#[test]
fn whatever_holds_hooks_is_guarded() {
    use rulestep::live::Agent;

    let policy = policy();
    let mut cases = Vec::new();
    let mut guarded: Vec<String> = Agent::ALL.iter().flat_map(|agent| files(*agent)).collect();
    guarded.sort();
    guarded.dedup();
    assert!(guarded.len() > 15 && guarded.contains(&".codex/hooks.json".to_owned()), "{guarded:?}");
    guarded.push("rulestep.toml".to_owned());
    for path in &guarded {
        let home = path.replacen("~/", "/home/me/", 1);
        // A shell does not read `~` within quotes.
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let quoted = folder.replace(' ', "\\ ");
        let mut calls = vec![
            json!({"name": "Bash", "arguments": {"command": format!("echo '{{}}' > {quoted}/{name}")}}),
            json!({"name": "Bash", "arguments": {"command": format!("rm -f {quoted}/{name}")}}),
            json!({"name": "Bash", "arguments": {"command": format!("cd {quoted} && sed -i 1d {name}")}}),
            json!({"name": "shell", "arguments": {"command": ["mv", home, "/tmp/x"]}}),
            json!({"name": "apply_patch", "arguments": {"input": format!("*** Begin Patch\n*** Delete File: {home}\n*** End Patch")}}),
        ];
        for &agent in Agent::ALL {
            let writes =
                ["Write", "Edit", "MultiEdit", "write_file", "replace", "edit", "StrReplace", "Delete"];
            let tools = agent.tools().iter().filter(|tool| writes.contains(&tool.name));
            calls.extend(tools.map(|tool| json!({"name": tool.name, "arguments": tool.arguments(&home)})));
        }
        cases.extend(calls.into_iter().map(|call| Case {
            family: "guarded".to_owned(),
            tag: path.clone(),
            want: Want::Stopped,
            name: call.to_string(),
            pending: false,
            session: json!(null),
        }));
    }
    for (number, case) in cases.iter_mut().enumerate() {
        let call: Value = serde_json::from_str(&case.name).unwrap();
        case.session = session(&[call], None, None, number);
    }
    let holds = judged(&cases, &policy);
    let passed: Vec<&str> =
        cases.iter().zip(holds).filter(|(_, holds)| !holds).map(|(case, _)| case.name.as_str()).collect();
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}
