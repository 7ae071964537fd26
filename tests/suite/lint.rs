//! What is probably not meant: for every code policies with it and policies without it, as data in `tests/fixtures/lint`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use rulestep::explore::survey::Survey;
use rulestep::lint::{Levels, recorded, settle};
use rulestep::workspace::Version;
use rulestep_base::diagnostic::{Diagnostic, PageKind, Severity, code};
use rulestep_engine::dialect::DIALECTS;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use crate::cli::{folder, run};

/// Codes that no version of files in memory can have.
const ELSEWHERE: &[&str] = &["plans_not_built", "bad_lint_settings"];

/// The file of a policy that has no name.
const FILE: &str = "p.yaml";

struct Case {
    place: String,
    code: String,
    files: BTreeMap<String, String>,
    at: Vec<String>,
    /// Other warnings that there are.
    also: Vec<String>,
    fixed: Option<BTreeMap<String, String>>,
    sessions: Vec<Value>,
    offered: Vec<Value>,
    /// The context of each session.
    contexts: Vec<Value>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut paths: Vec<_> =
        fs::read_dir("tests/fixtures/lint").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let all: Vec<Value> = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (number, case) in all.into_iter().enumerate() {
            let texts = |value: &Value| -> BTreeMap<String, String> {
                match value {
                    Value::String(text) => [(FILE.to_owned(), text.clone())].into(),
                    files => serde_json::from_value(files.clone()).unwrap(),
                }
            };
            let list = |key: &str| -> Vec<Value> { case[key].as_array().cloned().unwrap_or_default() };
            let words = |key: &str| -> Vec<String> {
                list(key).iter().map(|word| word.as_str().unwrap().to_owned()).collect()
            };
            let full = |at: String| if at.matches(':').count() == 1 { format!("{FILE}:{at}") } else { at };
            let written = if case["policy"].is_null() { &case["files"] } else { &case["policy"] };
            cases.push(Case {
                place: format!("{} {number}", path.display()),
                code: case["code"].as_str().unwrap().to_owned(),
                files: texts(written),
                at: words("at").into_iter().map(full).collect(),
                also: words("also"),
                fixed: Some(&case["fixed"]).filter(|fixed| !fixed.is_null()).map(texts),
                sessions: list("sessions"),
                offered: list("offered"),
                contexts: list("contexts"),
            });
        }
    }
    assert!(cases.len() > 100);
    cases
}

fn version(files: &BTreeMap<String, String>) -> Version {
    let file = |(name, text): (&String, &String)| PolicyFile {
        name: name.as_str().into(),
        relative: name.as_str().into(),
        text: text.as_str().into(),
        named: true,
    };
    Version { files: files.iter().map(file).collect(), ..Version::default() }
}

/// Sessions of one call a turn.
fn survey(case: &Case, policy: &Arc<Policy>) -> Survey {
    let mut survey = Survey::default();
    for (place, calls) in case.sessions.iter().enumerate() {
        let mut messages = Vec::new();
        for (number, call) in calls.as_array().unwrap().iter().enumerate() {
            let id = format!("c{number}");
            messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "name": call[0], "arguments": call[1]}]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": call[2].to_string()}));
        }
        let tools: Vec<Value> = case.offered.iter().map(|name| json!({"name": name})).collect();
        let mut session = json!({"messages": messages});
        if !tools.is_empty() {
            session["tools"] = tools.into();
        }
        if let Some(context) = case.contexts.get(place) {
            session["context"] = context.clone();
        }
        let session = Arc::new(crate::sessions::opened(session.to_string()).0.remove(0));
        survey.merge(&Survey::of(&Replay::with_checks(&session, policy, Mode::Enforce)));
    }
    survey
}

fn findings(case: &Case) -> Vec<Diagnostic> {
    let loaded = version(&case.files).load(None);
    let mut found = loaded.loaded.diagnostics;
    if !case.sessions.is_empty() {
        let policy = loaded.policy.unwrap();
        found.extend(settle(recorded(&policy, &survey(case, &policy)), &policy, &Levels::default()));
    }
    found
}

fn place(found: &Diagnostic) -> String {
    let place = found.place().unwrap();
    format!("{}:{}", place.file(), place.position().unwrap())
}

#[test]
fn findings_are_where_they_belong_and_nowhere_else() {
    let mut wrong = Vec::new();
    for case in cases() {
        let found = findings(&case);
        let mut at: Vec<String> =
            found.iter().filter(|found| found.code.as_str() == case.code).map(place).collect();
        at.sort();
        if at != case.at {
            let all: Vec<String> = found.iter().map(ToString::to_string).collect();
            wrong.push(format!(
                "{}: {} is at {at:?}, not at {:?}\n  {}",
                case.place,
                case.code,
                case.at,
                all.join("\n  ")
            ));
        }
        if case.at.is_empty() {
            let other = |found: &&Diagnostic| {
                found.severity > Severity::Notice && !case.also.iter().any(|code| code == found.code.as_str())
            };
            let others: Vec<String> = found.iter().filter(other).map(ToString::to_string).collect();
            // Recordings of one case show what they show.
            if !others.is_empty() && case.sessions.is_empty() {
                wrong.push(format!("{}: nothing is wrong here, but\n  {}", case.place, others.join("\n  ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_code_has_a_policy_with_it_and_one_without() {
    let own = DIALECTS.iter().flat_map(|dialect| dialect.codes).filter(|page| page.kind == PageKind::Problem);
    let documents: BTreeSet<&str> = code::of_documents().map(|page| page.code.as_str()).collect();
    let lints = code::of_policies().filter(|page| !documents.contains(page.code.as_str()));
    let codes: BTreeSet<&str> = own.chain(lints).map(|page| page.code.as_str()).collect();
    let cases = cases();
    let mut missing = Vec::new();
    for code in codes.into_iter().filter(|code| !ELSEWHERE.contains(code)) {
        for (with, word) in [(true, "with"), (false, "without")] {
            if !cases.iter().any(|case| case.code == code && case.at.is_empty() != with) {
                missing.push(format!("no policy {word} {code}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Applies every fix that is declared safe, one after the other, as `check --fix` does.
fn fixed(case: &Case) -> BTreeMap<String, String> {
    let mut files = case.files.clone();
    for _ in 0..20 {
        let found = version(&files).load(None).loaded.diagnostics;
        let mut fixes = found
            .iter()
            .filter(|found| found.code.as_str() == case.code)
            .filter_map(|found| found.fix.clone());
        let Some(fix) = fixes.find(|fix| fix.is_safe) else { break };
        files.insert(fix.source.name().to_owned(), fix.apply().unwrap());
    }
    files
}

#[test]
fn fixes_change_what_they_name_and_nothing_else() {
    for case in cases() {
        if let Some(expected) = &case.fixed {
            assert_eq!(&fixed(&case), expected, "{}", case.place);
        }
    }
}

#[test]
fn nothing_is_found_in_the_policies_that_are_shipped() {
    let folders =
        fs::read_dir("contracts").unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut specs: Vec<String> = folders.map(|path| path.to_string_lossy().into_owned()).collect();
    specs.push("contracts".to_owned());
    for spec in specs {
        let loaded = Version::named(std::slice::from_ref(&spec), false).unwrap().load(None);
        assert!(loaded.policy.is_ok(), "{spec}");
        let found: Vec<String> = loaded.loaded.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(found, Vec::<String>::new(), "{spec}");
    }
}

const ZERO: &str =
    "# a policy\nrules:\n  - {type: max_calls, tool: drop, max: 0} # never\n  - {type: require, tool: A}\n";

#[test]
fn levels_come_from_the_command_line_and_the_nearest_settings() {
    let settings = "[lint]\nzero_limit = \"allow\"\n";
    let folder = folder(&[("p/a.yaml", ZERO), ("q/p/a.yaml", ZERO), ("q/rulestep.toml", settings)]);
    let seen = |arguments: &[&str]| run(&folder, arguments);
    assert!(seen(&["check", "p"]).starts_with("exit 1"));
    assert!(seen(&["check", "p", "--allow", "zero_limit"]).starts_with("exit 0"));
    assert!(seen(&["check", "q/p"]).starts_with("exit 0"), "{}", seen(&["check", "q/p"]));
    let denied = seen(&["check", "q/p", "--deny", "zero_limit"]);
    assert!(denied.starts_with("exit 1") && denied.contains("error[zero_limit]"), "{denied}");
    let unknown = seen(&["check", "p", "--deny", "zero_limt"]);
    assert!(unknown.starts_with("exit 2") && unknown.contains("did you mean `zero_limit`?"), "{unknown}");
    fs::write(folder.path().join("q/rulestep.toml"), "[lint]\nzero_limit = 3\n").unwrap();
    let broken = seen(&["check", "q/p"]);
    assert!(broken.starts_with("exit 1") && broken.contains("error[bad_lint_settings]"), "{broken}");
}

/// The codes that the fixtures cannot show: where each is reported, and where it is not. That plans are not built is shown
/// beside the reader of plans, by a build without them.
#[test]
fn codes_of_settings_and_builds() {
    for (settings, is_bad) in [
        ("", false),
        ("# nothing\n[lint]\n", false),
        ("[lint]\nzero_limit = \"warn\"\n", false),
        ("[lint]\nno_such_code = \"warn\"\n", false),
        ("[lint]\nzero_limit = \"loud\"\n", true),
        ("[lint\n", true),
        ("[other]\n", true),
        ("lint = []\n", true),
    ] {
        let folder = folder(&[("p/a.yaml", "tool: a\nforbids_after: [b]\n"), ("p/rulestep.toml", settings)]);
        let seen = run(&folder, &["check", "p"]);
        assert_eq!(seen.contains("error[bad_lint_settings]"), is_bad, "{settings:?} {seen}");
        assert!(!is_bad || seen.starts_with("exit 1"), "{settings:?} {seen}");
    }
    let plan = "type: function\nfunction: {name: a}\nrejectionPlan: {conditions: [{type: regex, regex: x, target: {position: -1}}]}\n";
    let seen = run(&folder(&[("p/a.yaml", plan)]), &["check", "p"]);
    assert!(seen.starts_with("exit 0") && !seen.contains("plans_not_built"), "{seen}");
}

#[test]
fn an_error_cannot_be_allowed() {
    let text = "rules: [{type: require, tol: A}] # rulestep: allow(unknown_key)\n";
    let folder = folder(&[("a.yaml", text)]);
    let seen = run(&folder, &["check", "a.yaml", "--allow", "unknown_key"]);
    assert!(seen.starts_with("exit 1") && seen.contains("error[unknown_key]"), "{seen}");
}

#[test]
fn fixes_are_written_and_everything_else_stays() {
    let folder = folder(&[("p/a.yaml", ZERO), ("p/b.yaml", "tool: drop\r\nforbids_after: [x, x] # why\r\n")]);
    let seen = run(&folder, &["check", "p", "--fix"]);
    assert!(seen.starts_with("exit 0") && seen.contains("1 fix in p/a.yaml"), "{seen}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        read("p/a.yaml"),
        ZERO.replace("{type: max_calls, tool: drop, max: 0}", "{type: blocklist, tools: [drop]}")
    );
    assert_eq!(read("p/b.yaml"), "tool: drop\r\nforbids_after: [x] # why\r\n");
}

/// A byte order mark and a link stay, and nothing is left beside the file.
#[cfg(unix)]
#[test]
fn a_fix_keeps_the_mark_and_the_link() {
    let folder = folder(&[
        ("real/b.yaml", "\u{feff}tool: drop\r\nforbids_after: [x, x]\r\n"),
        ("p/a.yaml", "tool: a\n"),
    ]);
    std::os::unix::fs::symlink("../real/b.yaml", folder.path().join("p/b.yaml")).unwrap();
    let seen = run(&folder, &["check", "p", "--fix"]);
    assert!(seen.contains("1 fix in p/b.yaml"), "{seen}");
    let read = fs::read_to_string(folder.path().join("real/b.yaml")).unwrap();
    assert_eq!(read, "\u{feff}tool: drop\r\nforbids_after: [x]\r\n");
    assert!(fs::symlink_metadata(folder.path().join("p/b.yaml")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path().join("real")).unwrap().count(), 1);
}

#[test]
fn a_suggestion_is_applied_only_on_request() {
    let text = "policies: [{type: read_before_write, mount_point: /workspace/}]\n";
    let folder = folder(&[("a.yaml", text)]);
    let read = || fs::read_to_string(folder.path().join("a.yaml")).unwrap();
    assert!(run(&folder, &["check", "a.yaml", "--fix"]).starts_with("exit 1"));
    assert_eq!(read(), text);
    assert!(run(&folder, &["check", "a.yaml", "--fix", "--suggested"]).starts_with("exit 0"));
    assert_eq!(read(), text.replace("/workspace/", "/workspace"));
}

#[test]
fn recordings_are_compared_and_a_denied_rule_fails() {
    let log = json!({"messages": [
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "check", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
        {"role": "assistant", "tool_calls": [{"id": "p", "name": "pay", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "p", "content": "{}"}]});
    let text = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";
    let typo = text.replace("check", "chekc");
    let folder = folder(&[("a.yaml", text), ("b.yaml", &typo), ("s/log.json", &log.to_string())]);
    let good = run(&folder, &["check", "a.yaml", "--against", "s"]);
    assert!(good.starts_with("exit 0") && good.contains("notice[rule_never_fired]"), "{good}");
    assert!(good.contains("1 document, 1 rule, 1 session: no errors or warnings, "), "{good}");
    let denied = run(&folder, &["check", "a.yaml", "--against", "s", "--deny", "rule_never_fired"]);
    assert!(denied.starts_with("exit 1"), "{denied}");
    let bad = run(&folder, &["check", "b.yaml", "--against", "s"]);
    assert!(
        bad.starts_with("exit 1") && bad.contains("did you mean `check`, which is called once?"),
        "{bad}"
    );
    let nothing = run(&folder, &["check", "a.yaml", "--against", "nowhere"]);
    assert!(nothing.starts_with("exit 2"), "{nothing}");
}

#[test]
fn of_a_long_circle_the_first_rules_and_the_last_one_are_named() {
    let told = |tools: usize| {
        let contract = |tool: usize| {
            let needed = (tool + 1) % tools;
            let text = format!("tool: t{tool}\npreconditions:\n- requires_prior_tool: t{needed}\n");
            (format!("c{tool:03}.yaml"), text)
        };
        let found = version(&(0..tools).map(contract).collect()).load(None).loaded.diagnostics;
        let mut circles = found.into_iter().filter(|found| found.code == code::DEPENDENCY_CYCLE);
        let circle = circles.next().unwrap();
        assert!(circles.next().is_none());
        (circle.message.to_string(), circle.labels.len())
    };
    let (message, labels) = told(8);
    assert!(message.ends_with("`t6`, which needs `t7`, which needs `t0`"), "{message}");
    assert_eq!(labels, 8);
    let (message, labels) = told(100);
    let expected = "none of these tools can ever run: `t0` needs `t1`, which needs `t2`, which needs `t3`, which needs \
        `t4`, and so on through 95 more, the last of which needs `t0`";
    assert_eq!((&*message, labels), (expected, 2));
}
