//! Which files of a folder the options of a program choose.

use std::sync::Arc;

use super::above::Choice;
use super::call::Extent;
use super::options::Arguments;
use super::scene::Effects;
use super::word::{Piece, Word};

/// Keeps which files of the folders that a program goes through its options choose.
pub fn choose(name: &str, arguments: &Arguments<'_>, found: &mut Effects) {
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
