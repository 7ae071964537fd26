//! Tools of agents and commands that do the same have one answer: the pairs of `tests/cases/shell/pairs`.

use std::fmt::Write;

use rulestep_shell::matcher::{Hosts, Matcher};
use rulestep_shell::tool::of_call;
use rulestep_shell::{Act, Answer, Line, Patterns, Root, read};
use serde_json::Value as Json;
use serde_yaml::Value;

use super::{answer, folder, texts};

const PATTERNS: [&str; 5] = [".env", "*.pem", "src/**", "**/secrets/**", "~/.ssh/**"];
const HOSTS: [&str; 2] = ["*", "evil.example"];

/// Answers that a row lists questions for.
const ANSWERS: [&str; 3] = ["yes", "perhaps", "sweep"];

/// Files, each with the patterns that it certainly matches; it certainly does not match the others.
const FILES: [(&str, &[&str]); 9] = [
    (".env", &[".env"]),
    ("src/main.rs", &["src/**"]),
    ("src/secrets/db.txt", &["src/**", "**/secrets/**"]),
    ("secrets/db.txt", &["**/secrets/**"]),
    ("~/.ssh/id_rsa", &["~/.ssh/**"]),
    ("certs/server.pem", &["*.pem"]),
    // Signs that are patterns in a shell and part of a name in an argument.
    ("src/[id].pem", &["src/**", "*.pem"]),
    ("/etc/hosts", &[]),
    ("docs/READ ME.md", &[]),
];

/// Folders that are searched with all that they hold.
const FOLDERS: [(&str, &[&str]); 4] = [
    ("src", &["src/**"]),
    ("secrets", &["**/secrets/**"]),
    ("src/secrets", &["src/**", "**/secrets/**"]),
    ("~/.ssh", &["~/.ssh/**"]),
];

const ADDRESSES: [(&str, &[&str]); 3] = [
    ("https://evil.example/x?a=b", &["*", "evil.example"]),
    ("https://docs.example", &["*"]),
    ("http://localhost:8080/x", &[]),
];

/// A question by its name, such as `reads .env`.
fn questions() -> Vec<(String, Matcher)> {
    let touches = [Act::Reads, Act::Writes, Act::Deletes].into_iter().flat_map(|act| {
        PATTERNS.map(|pattern| {
            (format!("{} {pattern}", act.name()), Matcher::Touches(act, Patterns::new([pattern])))
        })
    });
    let reaches = HOSTS.map(|host| (format!("reaches {host}"), Matcher::Reaches(Hosts::new([host], []))));
    touches.chain(reaches).collect()
}

/// What a pair says of a question.
#[derive(Debug, PartialEq)]
enum Expected {
    Said(&'static str),
    /// Both sides have the same answer.
    Same,
}

/// A pair with the words in it replaced.
struct Pair {
    name: String,
    tool: Line,
    command: Line,
    expected: Vec<(String, Expected)>,
}

/// A word of a command that names this path.
fn quoted(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/'{rest}'"),
        None => format!("'{path}'"),
    }
}

/// The same arguments with a text in place of a word. In commands, the text is quoted.
fn replaced(value: &Json, word: &str, text: &str, quote: bool) -> Json {
    match value {
        Json::String(whole) if whole == word && !quote => text.into(),
        Json::String(whole) if whole == word => text.into(),
        Json::String(whole) if quote => whole.replace(word, &quoted(text)).into(),
        Json::String(whole) => whole.replace(word, text).into(),
        Json::Array(items) => items.iter().map(|item| replaced(item, word, text, quote)).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let quote = quote || matches!(key.as_str(), "command" | "cmd");
                // A patch in a list of words is one of them.
                let quote = quote && !value.to_string().contains("*** ");
                (key.clone(), replaced(value, word, text, quote))
            })
            .collect(),
        other => other.clone(),
    }
}

fn pairs(row: &Value) -> Vec<Pair> {
    let tool = row["tool"].as_str().unwrap();
    let arguments: Json = serde_json::to_value(&row["arguments"]).unwrap();
    let command = row["command"].as_str().unwrap();
    let pair = |arguments: &Json, command: &str, expected| Pair {
        name: format!("{tool} {arguments} and `{command}`"),
        tool: of_call(tool, Some(arguments), &Root::default()),
        command: read(command, &Root::default()),
        expected,
    };
    let names = || questions().into_iter().map(|(name, _)| name);
    let Some(does) = row.get("does").and_then(Value::as_str) else {
        let listed = |key: &str, name: &str| row.get(key).is_some_and(|names| texts(names).contains(&name));
        let same = ANSWERS.iter().all(|answer| row.get(answer).is_none());
        let expected = names().map(|name| {
            let said = ANSWERS.into_iter().find(|answer| listed(answer, &name)).unwrap_or("no");
            let said = if same { Expected::Same } else { Expected::Said(said) };
            (name, said)
        });
        return vec![pair(&arguments, command, expected.collect())];
    };
    let whole = format!("{arguments} {command}");
    let (word, stand_ins): (&str, &[(&str, &[&str])]) =
        [("FILE", &FILES[..]), ("FOLDER", &FOLDERS[..]), ("URL", &ADDRESSES[..])]
            .into_iter()
            .find(|(word, _)| whole.contains(word))
            .unwrap_or_else(|| panic!("{whole}: nothing to replace"));
    let one = |(text, matches): &(&str, &[&str])| {
        let arguments = replaced(&arguments, word, text, false);
        let expected = names().map(|name| {
            let (act, pattern) = name.split_once(' ').unwrap();
            let met = act == does && matches.contains(&pattern);
            // A search of a folder that may hold what is asked for may read it.
            let may = word == "FOLDER" && act == does;
            let said = if met {
                Expected::Said("yes")
            } else if may {
                Expected::Same
            } else {
                Expected::Said("no")
            };
            (name, said)
        });
        pair(&arguments, &command.replace(word, &quoted(text)), expected.collect())
    };
    let left_out = row.get("except").map(texts).unwrap_or_default();
    stand_ins.iter().filter(|(text, _)| !left_out.contains(text)).map(one).collect()
}

/// The answer without the word that it depends on.
fn word(answer: &Answer) -> String {
    let shown = format!("{answer:?}");
    shown.split('(').next().unwrap().to_lowercase()
}

#[test]
fn tools_and_commands_that_do_the_same_have_one_answer() {
    let questions = questions();
    let mut files: Vec<_> =
        std::fs::read_dir(folder().join("pairs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    let (mut wrong, mut count) = (String::new(), 0);
    for file in &files {
        let agent = file.file_stem().unwrap().to_str().unwrap();
        let rows: Vec<Value> = serde_yaml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for row in &rows {
            let known =
                ["tool", "arguments", "command", "does", "except", "yes", "perhaps", "sweep", "pending"];
            let keys: Vec<&str> = row.as_mapping().unwrap().keys().map(|key| key.as_str().unwrap()).collect();
            assert!(keys.iter().all(|key| known.contains(key)), "{agent}: {keys:?}");
            let named = ANSWERS.into_iter().filter_map(|key| row.get(key)).flat_map(texts);
            let pending = row.get("pending").and_then(Value::as_mapping).into_iter().flatten();
            let pending: Vec<&str> = pending
                .map(|(name, why)| (name, why.as_str().unwrap()))
                .map(|(name, _)| name.as_str().unwrap())
                .collect();
            for name in named.chain(pending.iter().copied()) {
                assert!(
                    questions.iter().any(|(question, _)| question == name),
                    "{agent}: nobody asks `{name}`"
                );
            }
            let mut unmet: Vec<&str> = Vec::new();
            for pair in pairs(row) {
                count += 1;
                for ((name, matcher), (_, expected)) in questions.iter().zip(&pair.expected) {
                    let tool = answer(matcher, &pair.tool);
                    let command = answer(matcher, &pair.command);
                    let (tool, command) = (word(&tool), word(&command));
                    let met = match expected {
                        Expected::Same => tool == command,
                        Expected::Said(said) => tool == *said && command == *said,
                    };
                    if met {
                        continue;
                    }
                    if pending.contains(&name.as_str()) {
                        unmet.push(name);
                        continue;
                    }
                    writeln!(wrong, "{agent}: {}: {name}: the tool says {tool}, the command {command}, expected {expected:?}", pair.name).unwrap();
                }
            }
            for name in pending.iter().filter(|name| !unmet.contains(name)) {
                writeln!(
                    wrong,
                    "{agent}: {} holds for `{name}` now: remove it from `pending`",
                    row["tool"].as_str().unwrap()
                )
                .unwrap();
            }
        }
    }
    assert!(count >= 500, "{count} pairs");
    assert!(wrong.is_empty(), "{} answers of {count} pairs:\n{wrong}", wrong.lines().count());
}
