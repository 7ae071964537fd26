//! Unlisted tools, and unlisted arguments of known tools. Vendors add both every month, so an unlisted one is unknown,
//! never harmless.

use serde_json::{Map, Value};

use super::call::Act;
use super::facts::Tool;
use super::given::{all_texts, is_data, is_same};

/// The longest text that may name a file.
const LONGEST: usize = 1024;

/// Words of tools that change a file.
const CHANGES: [&str; 14] = [
    "write", "edit", "create", "update", "save", "append", "replace", "insert", "patch", "move", "copy",
    "upload", "rename", "download",
];
/// Words of tools that delete a file, or take it away.
const DELETES: [&str; 7] = ["delete", "remove", "unlink", "trash", "purge", "move", "rename"];
/// Words with which the names of tools begin that only look.
const LOOKS: [&str; 21] = [
    "read", "get", "list", "search", "view", "show", "fetch", "find", "query", "open", "describe", "status",
    "info", "count", "check", "diff", "log", "blame", "lookup", "grep", "cat",
];

/// The possible actions of a tool without a row on a file in its arguments, by the words of its name. If the name does
/// not say, it may do anything.
pub fn acts(name: &str) -> Vec<Act> {
    // The name of a server says nothing of its tools.
    let own = name.rsplit("__").next().unwrap_or(name);
    let lower = own.to_lowercase();
    let says = |verbs: &[&str]| verbs.iter().any(|verb| lower.contains(verb));
    let (changes, deletes) = (says(&CHANGES), says(&DELETES));
    let looks =
        words(own).iter().find(|word| !word.is_empty()).is_some_and(|first| LOOKS.contains(&first.as_str()));
    let unsaid = !changes && !deletes && !looks;
    let acts = [(Act::Reads, true), (Act::Writes, changes || unsaid), (Act::Deletes, deletes || unsaid)];
    acts.into_iter().filter(|(_, may)| *may).map(|(act, _)| act).collect()
}

/// The words of a name in snake case, kebab case or camel case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let begins = letter.is_uppercase() && was_small;
        was_small = letter.is_lowercase();
        if !letter.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// The texts of arguments that may name files: each on one line, and the lines of a text that is a list of names.
pub fn names(given: &Map<String, Value>) -> Vec<&str> {
    let mut texts = Vec::new();
    given.values().for_each(|value| all_texts(value, &mut texts));
    let mut names = Vec::new();
    for text in texts {
        let is_list = || text.lines().all(|line| !line.trim().contains(char::is_whitespace));
        match text.contains('\n') {
            false if text.len() <= LONGEST => names.push(text),
            true if is_list() => {
                let lines = text.lines().map(str::trim);
                names.extend(lines.filter(|line| !line.is_empty() && line.len() <= LONGEST));
            }
            _ => {}
        }
    }
    names
}

/// Paths under names that the row of the tool does not list, each with its name.
pub fn paths<'v>(
    row: &'v Tool,
    given: &'v Map<String, Value>,
) -> impl Iterator<Item = (&'v String, &'v str)> {
    let is_listed = |key: &str| is_data(key) || lists(row, key);
    given.iter().flat_map(move |(key, value)| {
        let mut texts = Vec::new();
        all_texts(value, &mut texts);
        texts.retain(|text| is_path(text));
        // Asked last: there are many names.
        if !texts.is_empty() && is_listed(key) {
            texts.clear();
        }
        texts.into_iter().map(move |text| (key, text))
    })
}

/// Whether the row of a tool lists an argument.
fn lists(row: &Tool, key: &str) -> bool {
    row.does.iter().flat_map(|argument| &argument.names).any(|name| is_same(key, name))
}

/// Whether a text can hardly be anything but a path.
fn is_path(text: &str) -> bool {
    let dotted = || text.split_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphanumeric));
    let named = || !text.contains(char::is_whitespace) && (text.contains('/') || dotted());
    let fits = !text.is_empty() && text.len() <= LONGEST && !text.contains('\n') && !text.contains("://");
    fits && (text.starts_with(['/', '~', '.']) || named())
}

/// An argument that may be the folder of a command, under a name that no row lists.
pub fn folder<'v>(row: &Tool, given: &'v Map<String, Value>) -> Option<&'v str> {
    given.iter().find_map(|(key, value)| {
        let lower = key.to_lowercase();
        let says = ["dir", "folder", "cwd"].iter().any(|word| lower.contains(word));
        let has_text = value.as_str().is_some_and(|text| !text.is_empty());
        (says && has_text && !lists(row, key)).then_some(key.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_say_may_do_anything() {
        use Act::{Deletes, Reads, Writes};
        for (name, expected) in [
            ("mcp__fs__read_file", &[Reads][..]),
            ("mcp__fs__readTextFile", &[Reads]),
            ("mcp__github__get-file-contents", &[Reads]),
            ("mcp__fs__write_file", &[Reads, Writes]),
            ("mcp__fs__get_or_create", &[Reads, Writes]),
            ("mcp__fs__delete_file", &[Reads, Deletes]),
            ("mcp__fs__move_file", &[Reads, Writes, Deletes]),
            // The words of the server are not those of the tool, nor are letters within words.
            ("mcp__reader__run", &[Reads, Writes, Deletes]),
            ("mcp__target__rotate", &[Reads, Writes, Deletes]),
            ("mcp__editor__rotate", &[Reads, Writes, Deletes]),
            // Nor is what they work on.
            ("mcp__fs__truncate_log", &[Reads, Writes, Deletes]),
            ("prune_view", &[Reads, Writes, Deletes]),
            ("budget", &[Reads, Writes, Deletes]),
        ] {
            assert_eq!(acts(name), expected, "{name}");
        }
    }
}
