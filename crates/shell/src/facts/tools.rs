//! A row about a tool of an agent: its effects, and which of its arguments show them. Also a module of the build
//! script.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::{Fault, FaultKind, Reader};
use super::words::is_plain;

/// A tool of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tool {
    /// Its names.
    pub names: Vec<String>,
    /// Whether its argument `command` says if it shows a file or changes it.
    pub editor: bool,
    /// Whether its call ends when the command has begun.
    pub starts: bool,
    /// Whether it types its command into a program that runs already.
    pub types: bool,
    /// The arguments that determine its effects.
    pub does: Vec<Argument>,
}

/// An argument's role, under any of its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its role.
    pub role: Role,
    /// Its names.
    pub names: Vec<String>,
}

/// The role of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A command line, or a list of words.
    Command,
    /// The folder in which the command runs.
    Folder,
    /// A file, or a list of them, that is read.
    Reads,
    /// A folder whose files are read; the call's folder if it is missing.
    Searches,
    /// A file that is written.
    Writes,
    /// A file that is deleted.
    Deletes,
    /// A patch in the form of `apply_patch`.
    Patch,
    /// A URL; `*` for unknown hosts.
    Reaches,
}

/// The keys of arguments, in the order of the reference page.
const ROLES: [(&str, Role); 8] = [
    ("command", Role::Command),
    ("folder", Role::Folder),
    ("reads", Role::Reads),
    ("searches", Role::Searches),
    ("writes", Role::Writes),
    ("deletes", Role::Deletes),
    ("patch", Role::Patch),
    ("reaches", Role::Reaches),
];

/// Keys whose value is `true` or `false`.
const SWITCHES: [&str; 3] = ["editor", "starts", "types"];

/// Reads the row of a tool. Unreadable parts are left out, and reported.
pub fn read(row: &Map<String, Value>) -> (Tool, Vec<Fault>) {
    let mut reader = Reader { faults: Vec::new() };
    let names = reader.names(row, "tool", "a tool's name");
    let mut does = Vec::new();
    for (key, role) in ROLES {
        let Some(value) = row.get(key) else { continue };
        let names = reader.words(value, &format!("/{key}"), is_plain, "the name of an argument");
        if let Some(path) = names.iter().find(|name| name.starts_with("$.") || name.starts_with("$[")) {
            let own = path.trim_start_matches(['$', '.', '[']).trim_matches([']', '\'', '"']);
            let help = match own.contains(['.', '[']) || own.is_empty() {
                true => "write the name of the argument".to_owned(),
                false => format!("write `{own}`"),
            };
            let message = format!("no argument is called `{path}`: `facts` has names, not paths");
            let fault = Fault::new(FaultKind::MatchesNothing, &format!("/{key}"), message);
            reader.faults.push(Fault { help: Some(help), ..fault });
        }
        does.push(Argument { role, names });
    }
    for (key, value) in row {
        let known = || ["tool"].into_iter().chain(ROLES.map(|(key, _)| key)).chain(SWITCHES);
        match key.as_str() {
            key if SWITCHES.contains(&key) && !value.is_boolean() => {
                reader.fault(&format!("/{key}"), "expected `true` or `false`");
            }
            key if !known().any(|own| own == key) => reader.unknown_key(key, "", known().collect()),
            _ => {}
        }
    }
    let said = |key: &str| row.get(key) == Some(&Value::Bool(true));
    let [editor, starts, types] = SWITCHES.map(said);
    (Tool { names, editor, starts, types, does }, reader.faults)
}
