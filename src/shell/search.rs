//! Programs that search the folder where they run, if no word names another; and which files of a folder options choose.

use std::sync::Arc;

use super::above::Choice;
use super::call::{Act, Extent};
use super::effects::parsed;
use super::options::Arguments;
use super::scene::{Effects, Scene, mention};
use super::word::{Piece, Word};

/// Adds the folder that a search without a path goes through. Nothing feeds the program; otherwise it searches that.
pub fn searches_here(name: &str, args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let facts = &scene.root.facts;
    if facts.says_all_of(name) {
        return;
    }
    let (arguments, ..) = parsed(facts.program(name), args);
    let operands = arguments.operands.len();
    let pattern = usize::from(!arguments.has("-e -f --regexp --file"));
    let here = match (name, arguments.operands.first().and_then(Word::known)) {
        ("rg" | "ag" | "ack", _) => {
            operands == pattern && !arguments.has("--files --type-list --version -V --help -h")
        }
        // What follows `--` is a path.
        ("git", Some("grep")) => operands == pattern + 1 && !arguments.has("--help -h"),
        _ => false,
    };
    if here {
        let mut own = Effects::default();
        mention(Act::Reads, Extent::Below, &Word::text("."), scene, &mut own);
        choose(name, &arguments, &mut own);
        found.mentions.append(&mut own.mentions);
    }
}

/// Keeps which files of the folders that a program goes through its options choose.
pub fn choose(name: &str, arguments: &Arguments, found: &mut Effects) {
    let left_out = if name == "zip" { "--exclude -x" } else { "--exclude --exclude-dir" };
    let mut out: Vec<Word> = arguments.values(left_out).cloned().collect();
    let mut only = Vec::new();
    let names = match name {
        "grep" | "egrep" | "fgrep" | "zgrep" => "--include",
        "rg" => "-g --glob --iglob",
        _ => "",
    };
    for word in arguments.values(names).filter(|_| !names.is_empty()) {
        match word.strip_prefix("!") {
            Some(word) => out.push(word),
            None => only.push(word.clone()),
        }
    }
    out.retain(|word| word.pieces.iter().all(|piece| !matches!(piece, Piece::Unknown(_))));
    if only.is_empty() && out.is_empty() {
        return;
    }
    let choice = Arc::new(Choice { only, out });
    let touches = found.touches.iter_mut().chain(&mut found.mentions);
    let folders = touches.filter(|touch| touch.extent == Extent::Below);
    folders.for_each(|touch| touch.place.choosing(&choice));
}
