//! Programs that search the folder where they run, if no word names another.

use super::call::{Act, Extent};
use super::choose::choose;
use super::options::{Arguments, readings};
use super::scene::{Effects, Scene, add};
use super::word::Word;

/// Adds the folder that a search without a path goes through. Nothing feeds the program; otherwise it searches that.
pub fn searches_here(name: &str, args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let facts = &scene.root.facts;
    if facts.says_all_of(name) {
        return;
    }
    let Some(program) = facts.program(name) else { return };
    let (readings, _) = readings(program, args);
    let all = readings.iter().all(|read| is_here(name, read));
    let Some(arguments) = readings.into_iter().find(|read| is_here(name, read)) else { return };
    let mut own = Effects::default();
    add(Act::Reads, Extent::Searched, &Word::text("."), scene, &mut own);
    choose(name, &arguments, &mut own);
    found.mentions.append(&mut own.mentions);
    // What only some readings of the words search is perhaps searched.
    let touches = if all { &mut found.touches } else { &mut found.mentions };
    touches.append(&mut own.touches);
}

/// Whether a program that is read so searches the folder where it runs.
fn is_here(name: &str, arguments: &Arguments<'_>) -> bool {
    let operands = arguments.operands.len();
    let pattern = usize::from(!arguments.has("-e -f --regexp --file"));
    match (name, arguments.operands.first().and_then(Word::known)) {
        ("rg" | "ag" | "ack", _) => {
            operands == pattern && !arguments.has("--files --type-list --version -V --help -h")
        }
        // What follows `--` is a path.
        ("git", Some("grep")) => operands == pattern + 1 && !arguments.has("--help -h"),
        _ => false,
    }
}
