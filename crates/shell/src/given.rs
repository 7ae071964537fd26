//! The arguments of a call, under the names that agents use for them.

use serde_json::{Map, Value};

use super::word::{Piece, Word};

/// Arguments that hold no path and no command, of whatever tool: words for people.
const WORDS_FOR_PEOPLE: &str = "description explanation thought thoughts thinking reason intent tool_summary tool_action \
     title note notes comment purpose";

/// Arguments of searches that hold what is searched for, and options of the search.
const OF_SEARCHES: &str = "pattern query regex regexp search search_term type output_mode glob globs include includes \
     include_pattern file_pattern";

/// Arguments of tools with a row that are written to a file, compared, or say how much is read and shown.
const DATA: &str = "content contents file_text text old_string new_string old_str new_str insert_text code_edit code_content replacement_content target_content instructions \
     instruction new_source cell_id cell_type cell_language edit_mode language encoding mode format model message ignore exclude \
     exclude_pattern exclude_patterns ignore_globs ai_proposed_content todos questions glob_pattern task_id shell_id session_id id";

/// Names of the path in a list of files: `files: [{path: …}]`.
const PATHS: &str = "path file_path file uri";

/// An argument by its name: `filePath`, `FilePath` and `file-path` are `file_path`.
pub fn get<'v>(given: &'v Map<String, Value>, name: &str) -> Option<(&'v String, &'v Value)> {
    let spelt = || given.iter().find(|(key, _)| is_same(key, name));
    given.get_key_value(name).or_else(spelt).filter(|(_, value)| !value.is_null())
}

/// The first of these arguments that is given.
pub fn first<'v, 'n>(
    given: &'v Map<String, Value>,
    mut names: impl Iterator<Item = &'n str>,
) -> Option<(&'v String, &'v Value)> {
    names.find_map(|name| get(given, name))
}

/// Whether two names differ in case and separators alone.
pub fn is_same(one: &str, other: &str) -> bool {
    let letters = |name: &str| {
        let kept: Vec<u8> = name.bytes().filter(|letter| !matches!(letter, b'_' | b'-')).collect();
        kept.to_ascii_lowercase()
    };
    // Most names are unlike from their first letter on.
    let begins = |name: &str| {
        name.bytes().find(|letter| !matches!(letter, b'_' | b'-')).map(|letter| letter.to_ascii_lowercase())
    };
    begins(one) == begins(other) && letters(one) == letters(other)
}

/// Whether an argument of a tool with a row holds no path, no command and no host.
pub fn is_data(key: &str) -> bool {
    let known = [DATA, WORDS_FOR_PEOPLE, OF_SEARCHES];
    known.iter().flat_map(|names| names.split(' ')).any(|name| is_same(key, name))
}

/// Whether an argument is there that could hold a path or a command, so that a tool that needs one may have found it there.
pub fn may_hold(given: &Map<String, Value>, searches: bool) -> bool {
    let other = |key: &str| {
        let mut known = WORDS_FOR_PEOPLE.split(' ').chain(OF_SEARCHES.split(' ').filter(|_| searches));
        !known.any(|name| is_same(key, name))
    };
    given.iter().any(|(key, value)| other(key) && has_text(value))
}

fn has_text(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(members) => members.values().any(has_text),
        _ => false,
    }
}

/// A path as an agent writes it.
pub fn path(text: &str) -> Word {
    from_home(text, |text| Word::text(text))
}

/// The same with `*` as a wildcard.
pub fn pattern(text: &str) -> Word {
    from_home(text, Word::pattern)
}

fn from_home(text: &str, word: impl Fn(&str) -> Word) -> Word {
    let text =
        text.strip_prefix("file://").map_or(text, |rest| rest.strip_prefix("localhost").unwrap_or(rest));
    match text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => {
            let mut whole = Word { pieces: vec![Piece::Home], many: false };
            whole.append(&word(rest));
            whole
        }
        None => word(text),
    }
}

/// The texts of an argument: itself, or those of a list.
pub fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        // `read_file` takes `files: [{path: …}]` in some agents.
        Value::Object(members) => {
            first(members, PATHS.split(' ')).map(|(_, value)| texts(value)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// All texts of a value, however deep they lie.
pub fn all_texts<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| all_texts(item, out)),
        Value::Object(members) => members.values().for_each(|member| all_texts(member, out)),
        _ => {}
    }
}
