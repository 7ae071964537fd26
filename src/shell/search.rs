//! Programs that search the folder where they run, if no word names another.

use super::call::{Act, Extent};
use super::choose::choose;
use super::effects::parsed;
use super::scene::{Effects, Scene, mention};
use super::word::Word;

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
