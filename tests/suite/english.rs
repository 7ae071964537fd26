//! The texts that people read most contain none of the phrases that have to be read twice, nor does the code's documentation.
//!
//! Each phrase has an ordinary word in its place: *after* for behind, *different* for otherwise, *skipped* for left aside.

use std::fs;
use std::path::Path;

use regex::Regex;
use rulestep_engine::dialect::{self, DIALECTS};

use crate::cli;

/// Phrases, as words of their own, each with what to write.
const WRONG: &[(&str, &str)] = &[
    ("behind", "after"),
    ("left aside", "skipped"),
    ("told", "reported, or the message to the model"),
    ("mend(s|ed|ing)?", "fix"),
    ("came to", "the result"),
    ("otherwise than|otherwise under|(decided|says?|called|read|written) otherwise", "different"),
    ("stands?|stood", "is"),
    ("so many", "this many"),
    ("be it that", "even if"),
    ("no JSON", "not JSON"),
    ("(is|are|be|always) content|content with", "satisfied, or passes"),
];

/// Further phrases, for the documentation of the code: those of a translation, and of sentences that need their code.
const WRONG_IN_CODE: &[(&str, &str)] = &[
    ("somebody|nobody|anybody|whoever", "the user, the caller or the reader, or that it is unknown"),
    ("(became|becomes?|came|comes) of", "the outcome or the result"),
    ("comes? to", "the result"),
    ("what is said|is said of", "the message or the diagnostic"),
    ("tells", "reports, shows or distinguishes"),
    ("(goes|went|going) on", "continues"),
    ("gives back|gave back|given back", "returns"),
    ("where (it|that|there) (is|are) (no|none)", "if it is not, or without"),
    ("anew|once more", "again"),
    ("as it is meant", "the intended"),
];

/// What may stay, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("`told`", "a key of the JSON output"),
    ("\"told\":", "a key of the JSON output"),
    ("left_aside", "a stable code"),
    ("nobody to ask", "the help of an option: there may be no person at the agent"),
];

/// The phrases as expressions: each between words, in any case.
fn compiled(phrases: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    let compile = |phrase: &str| Regex::new(&format!(r"(?i)\b({phrase})\b")).unwrap();
    phrases.iter().map(|(phrase, instead)| (compile(phrase), *instead)).collect()
}

/// The wrong phrases in a text: its name and line, the phrase, and what to write.
fn wrong(phrases: &[(Regex, &str)], name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let line = EXCEPTIONS.iter().fold(line.to_owned(), |line, (allowed, _)| line.replace(allowed, ""));
        for (phrase, instead) in phrases {
            if let Some(phrase) = phrase.find(&line) {
                let (number, line) = (number + 1, line.trim());
                found.push(format!("{name}:{number}: `{}`: write {instead}\n    {line}", phrase.as_str()));
            }
        }
    }
    found
}

/// The files below a folder whose names end so, with their texts.
fn files(folder: &Path, end: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.extension().and_then(|found| found.to_str()) {
            _ if path.is_dir() => files(&path, end),
            Some(found) if found == end => {
                vec![(path.display().to_string(), fs::read_to_string(&path).unwrap())]
            }
            _ => Vec::new(),
        })
        .collect()
}

fn assert_plain(texts: impl IntoIterator<Item = (String, String)>) {
    assert_without(WRONG, texts);
}

fn assert_without(phrases: &[(&str, &'static str)], texts: impl IntoIterator<Item = (String, String)>) {
    let texts: Vec<(String, String)> = texts.into_iter().collect();
    assert!(!texts.is_empty());
    let phrases = compiled(phrases);
    let found: Vec<String> = texts.iter().flat_map(|(name, text)| wrong(&phrases, name, text)).collect();
    assert!(found.is_empty(), "{} phrases have to be read twice:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_phrases_are_found() {
    let phrases = compiled(WRONG);
    for text in
        ["the call behind it", "What it Came To", "it stands", "is content", "so many calls", "mended"]
    {
        assert_eq!(wrong(&phrases, "text", text).len(), 1, "{text}");
    }
    for text in ["the content of a message", "it is otherwise an error", "standing", "`told` in JSON"] {
        assert_eq!(wrong(&phrases, "text", text), Vec::<String>::new());
    }
}

#[test]
fn the_help_is_plain() {
    assert_plain([("--help".to_owned(), cli::reference::all())]);
}

#[test]
fn the_table_of_keys_is_plain() {
    assert_plain([("keys".to_owned(), rulestep::workbench::keys::markdown())]);
}

#[test]
fn the_pages_of_explain_are_plain() {
    let codes = dialect::codes()
        .map(|page| (page.code.as_str().to_owned(), format!("{}\n{}", page.title, page.text)));
    let dialects = DIALECTS
        .iter()
        .map(|dialect| (dialect.name.to_owned(), format!("{}\n{}", dialect.title, dialect.reference)));
    let semantics = ("semantics".to_owned(), rulestep_engine::run::SEMANTICS.to_owned());
    assert_plain(codes.chain(dialects).chain([semantics]));
}

#[test]
fn the_pages_of_the_documentation_are_plain() {
    let docs = fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().path());
    let pages =
        docs.chain(["README.md".into()]).filter(|path| path.extension().is_some_and(|end| end == "md"));
    assert_plain(pages.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())));
}

/// Every sentence of the program, also those that no snapshot shows: text literals of two words and more.
#[test]
fn the_sentences_in_the_code_are_plain() {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let texts = ["src", "crates"].iter().flat_map(|folder| files(Path::new(folder), "rs"));
    let texts = texts.filter(|(name, _)| !name.contains("test")).map(|(name, text)| {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().map(|line| {
            let comment = line.trim_start().starts_with("//");
            let literals =
                literal.captures_iter(if comment { "" } else { line }).map(|found| found[1].to_owned());
            literals.filter(|literal| literal.trim().contains(' ')).collect::<Vec<_>>().join(" | ")
        });
        (name, lines.collect::<Vec<_>>().join("\n"))
    });
    assert_plain(texts);
}

/// The documentation of the code, in `//!` and `///`, without the code in it. That of options is the text of `--help`.
#[test]
fn the_documentation_of_the_code_is_plain() {
    let code = Regex::new("`[^`]*`").unwrap();
    let phrases = [WRONG, WRONG_IN_CODE].concat();
    let texts = ["src", "crates"].iter().flat_map(|folder| files(Path::new(folder), "rs"));
    let lines = texts.map(|(name, text)| {
        let documented = |line: &str| line.starts_with("//!") || line.starts_with("///");
        let lines = text.lines().map(|line| if documented(line.trim_start()) { line } else { "" });
        (name, lines.map(|line| code.replace_all(line, "").into_owned()).collect::<Vec<_>>().join("\n"))
    });
    assert_without(&phrases, lines);
}

/// Findings, problems and summaries, as the commands print them.
#[test]
fn the_output_of_commands_is_plain() {
    let snapshots = ["cli", "alternatives", "snapshots"]
        .iter()
        .flat_map(|folder| files(&Path::new("tests/suite").join(folder), "snap"));
    // Their heads repeat the code of the test.
    assert_plain(snapshots.map(|(name, text)| (name, text.splitn(3, "---\n").nth(2).unwrap().to_owned())));
}
