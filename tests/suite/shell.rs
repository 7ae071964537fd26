//! What shell commands do: the tables of `tests/cases/shell`, real shells as a second opinion, and texts of any kind.
//!
//! Each case names a line and the questions of `asks.yaml` that are answered with yes, perhaps or sweep; all others are
//! answered with no. `ended` lists those that are known to have succeeded when `git push` starts, where a case has it. Next to
//! each table stands what was read of its lines: `UPDATE_SHELL=1` writes it again. The cases of `programs.yaml` say that
//! themselves (`does`), so that a program is added with its row and its cases and nothing else.

#[cfg(unix)]
mod bash;
mod below;
mod flags;
mod folders;
mod forms;
mod hostile;
#[cfg(unix)]
mod lines;
mod mutated;
mod pairs;
mod rows;
mod typed;
mod unlisted;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rulestep_shell::matcher::{Hosts, Matcher, Runs, Surroundings};
use rulestep_shell::{Act, Answer, Line, Patterns, Root, SmallCall, read};
use serde_yaml::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/shell")
}

fn yaml(name: &str) -> Value {
    serde_yaml::from_str(&std::fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Sequence(items) => items.iter().map(|item| item.as_str().unwrap()).collect(),
        Value::String(text) => vec![text],
        other => panic!("{other:?} is neither a text nor a list"),
    }
}

fn matcher(ask: &Value) -> Matcher {
    if let Some(runs) = ask.get("runs") {
        let args = runs.get("args").and_then(Value::as_sequence);
        let args = args.into_iter().flatten().map(texts);
        let flags = runs.get("flags").map(texts).unwrap_or_default();
        return Matcher::Runs(Runs::new(runs["program"].as_str(), args, flags));
    }
    if let Some(hosts) = ask.get("reaches") {
        return Matcher::Reaches(Hosts::new(texts(hosts), ask.get("except").map(texts).unwrap_or_default()));
    }
    let acts = [Act::Reads, Act::Writes, Act::Deletes];
    let act = acts.into_iter().find(|act| ask.get(act.name()).is_some()).unwrap();
    Matcher::Touches(act, Patterns::new(texts(&ask[act.name()])))
}

fn asks() -> BTreeMap<String, Matcher> {
    let asks = yaml("asks.yaml");
    asks.as_mapping()
        .unwrap()
        .iter()
        .map(|(name, ask)| (name.as_str().unwrap().to_owned(), matcher(ask)))
        .collect()
}

fn table_files() -> Vec<PathBuf> {
    let mut tables: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    tables.retain(|path| path.extension().is_some_and(|end| end == "yaml") && !path.ends_with("asks.yaml"));
    tables.sort();
    tables
}

/// The cases of all tables, each with its file.
fn tables() -> Vec<(PathBuf, Value)> {
    let cases = |path: PathBuf| {
        let cases: Vec<Value> = serde_yaml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        cases.into_iter().map(move |case| (path.clone(), case))
    };
    table_files().into_iter().flat_map(cases).collect()
}

fn answer(matcher: &Matcher, line: &Line) -> Answer {
    Answer::any(line.calls.iter().map(|call| matcher.answer(call, &Surroundings::default())))
}

/// The questions that are met by what is known to have succeeded when every `git push` of a line starts.
fn ended_before<'a>(asks: &'a BTreeMap<String, Matcher>, line: &Line) -> Vec<&'a str> {
    let yes = |matcher: &Matcher, call| matcher.answer(call, &Surroundings::default()) == Answer::Yes;
    let pushes: Vec<_> = line.calls.iter().filter(|call| yes(&asks["push"], call)).collect();
    assert!(!pushes.is_empty(), "{line:?}");
    let met = |matcher: &Matcher| {
        pushes.iter().all(|push| push.after.iter().any(|at| yes(matcher, &line.calls[*at])))
    };
    asks.iter().filter(|(_, matcher)| met(matcher)).map(|(name, _)| name.as_str()).collect()
}

/// What a call does for certain.
fn facts(call: &SmallCall) -> Vec<String> {
    let facts = call.touches.iter().map(|touch| {
        let deep = if touch.extent.is_deep() { " (deep)" } else { "" };
        format!("{} {}{deep}", touch.act.name(), touch.shown())
    });
    let facts = facts.chain(call.reaches.iter().map(|host| format!("reaches {host}")));
    let marks = [("opaque", call.opaque), ("elsewhere", call.elsewhere), ("unproven", !call.proven)];
    let facts = facts.chain(call.unclear.iter().map(|word| format!("unclear {word}")));
    let facts = facts.chain(call.doubt.iter().map(|word| format!("perhaps, by {word}")));
    facts.chain(marks.iter().filter(|(_, holds)| *holds).map(|(mark, _)| (*mark).to_owned())).collect()
}

/// A line as it was read: its calls, each with its facts.
fn shown(text: &str, line: &Line) -> String {
    let mut shown = format!("{text:?}\n");
    for call in &line.calls {
        let words: Vec<String> = call.args.iter().map(|word| format!("{:?}", word.to_string())).collect();
        write!(shown, "  {} {}", call.program, words.join(" ")).unwrap();
        facts(call).iter().for_each(|fact| write!(shown, "; {fact:?}").unwrap());
        shown.push('\n');
    }
    shown
}

#[test]
fn every_line_of_the_tables_is_read_as_it_says() {
    let asks = asks();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for table in &table_files() {
        let cases: Vec<Value> = serde_yaml::from_str(&std::fs::read_to_string(table).unwrap()).unwrap();
        let says_all = table.ends_with("programs.yaml");
        let mut read_so = String::new();
        for case in &cases {
            count += 1;
            let text = case["line"].as_str().unwrap();
            let line = read(text, &Root::default());
            read_so.push_str(&shown(text, &line));
            if says_all {
                let does: Vec<String> = line.calls.iter().flat_map(facts).collect();
                if does != texts(&case["does"]) {
                    wrong.push(format!("{text:?}: does {does:?}"));
                }
            }
            let listed = |key: &str, name: &str| {
                case.get(key)
                    .is_some_and(|names| names.as_str() == Some("all") || texts(names).contains(&name))
            };
            if let Some(ended) = case.get("ended") {
                let found = ended_before(&asks, &line);
                if found != texts(ended) {
                    wrong.push(format!("{text:?}: before the push, {found:?} have succeeded"));
                }
            }
            // A question that nobody asks would be an expectation that nothing checks.
            for key in ["yes", "perhaps", "sweep"] {
                let names = case
                    .get(key)
                    .filter(|names| names.as_str() != Some("all"))
                    .map(texts)
                    .unwrap_or_default();
                for name in names.into_iter().filter(|name| !asks.iter().any(|(asked, _)| asked == name)) {
                    wrong.push(format!("{text:?}: there is no question `{name}`"));
                }
            }
            for (name, matcher) in &asks {
                let expected = if listed("yes", name) {
                    "yes"
                } else if listed("perhaps", name) {
                    "perhaps"
                } else if listed("sweep", name) {
                    "sweep"
                } else {
                    "no"
                };
                let answered = match answer(matcher, &line) {
                    Answer::Yes => "yes",
                    Answer::No => "no",
                    Answer::Perhaps(word) if word.is_empty() => "perhaps, without a word",
                    Answer::Perhaps(_) => "perhaps",
                    Answer::Sweep(_) => "sweep",
                };
                if answered != expected {
                    wrong.push(format!("{text:?}: {name} is {answered}, not {expected}"));
                }
            }
        }
        if says_all {
            continue;
        }
        let beside = table.with_extension("facts");
        if std::env::var_os("UPDATE_SHELL").is_some() {
            std::fs::write(&beside, &read_so).unwrap();
        }
        let kept = std::fs::read_to_string(&beside).unwrap_or_default();
        for (kept, now) in kept.lines().zip(read_so.lines()).filter(|(kept, now)| kept != now).take(5) {
            wrong.push(format!("{}: `{kept}` is now `{now}`", beside.display()));
        }
        if kept.lines().count() != read_so.lines().count() {
            wrong.push(format!("{} has other lines", beside.display()));
        }
    }
    assert!(count >= 400, "{count} lines");
    assert!(wrong.is_empty(), "{} answers of {count} lines:\n{}", wrong.len(), wrong.join("\n"));
}
