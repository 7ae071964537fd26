//! What programs read, write, delete and reach, and which of their words say so: a table.

mod besides;
mod clients;
mod databases;
mod files;
mod idle;
mod inside;
mod makers;
mod network;
mod outside;
mod packages;
mod row;
mod runners;
mod services;
mod show;
mod subcommands;
pub mod table;
pub mod tools;
mod wrapper;
mod wrappers;
pub mod written;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use idle::{is_idle, takes_goals};
pub use row::{At, Does, Net, Program};
pub use subcommands::{command_of_git, is_foreign};
pub use table::{Row, Table};
pub use wrapper::{Apart, FLATPAK, Inner, Wrapper};
pub use wrappers::{is_shell, wrapper_rows, wrappers};

/// All rows.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    files::PROGRAMS
        .iter()
        .chain(network::PROGRAMS)
        .chain(services::PROGRAMS)
        .chain(packages::PROGRAMS)
        .chain(databases::PROGRAMS)
        .chain(makers::PROGRAMS)
        .chain(clients::PROGRAMS)
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Program>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<&Program>> = HashMap::new();
    for program in programs() {
        for name in program.names.split(' ') {
            by_name.entry(name).or_default().push(program);
        }
    }
    by_name
});

/// The name of a program without its version: `python3.12`, `pip3.11`.
pub fn unversioned(name: &str) -> &str {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let versioned = ["python", "pip", "pypy", "ruby", "gem", "perl", "php", "node", "lua"];
    match versioned.iter().find(|known| **known == plain) {
        Some(_) if name.len() > plain.len() => plain,
        _ => name,
    }
}

/// The rows of a program.
pub fn program(name: &str) -> &'static [&'static Program] {
    let name = if BY_NAME.contains_key(name) { name } else { unversioned(name) };
    BY_NAME.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// The other spelling of an option: `-r` of `rm` is `--recursive`, `-n` of `kubectl` is `--namespace`.
pub fn other_spelling<'p>(rows: &[&'p Program], name: &str) -> Vec<&'p str> {
    let mut found = Vec::new();
    for pair in rows.iter().flat_map(|row| [row.takes, row.flags]).flat_map(|list| list.split(' ')) {
        let mut spellings = pair.split('=');
        if spellings.any(|spelling| spelling == name) {
            found.extend(pair.split('=').filter(|spelling| *spelling != name));
        }
    }
    found
}
