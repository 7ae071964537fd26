//! Which files of a walked folder are affected: those that the options select, if the program only searches them.

use std::sync::Arc;

use super::call::{Act, Extent, Touch};
use super::choice::{Choice, FileName};
use super::facts::{Choosing, Deed, Does};
use super::options::Arguments;
use super::scene::{Effects, Scene, add};
use super::word::Word;

/// Keeps the selection with the walked folders.
pub fn apply(choice: Choice, found: &mut Effects) {
    if choice.is_empty() {
        return;
    }
    let choice = Arc::new(choice);
    let touches = found.touches.iter_mut().chain(&mut found.mentions);
    let folders = touches.filter(|touch| matches!(touch.extent, Extent::Below | Extent::Searched));
    folders.for_each(|touch| touch.place.choosing(&choice));
}

/// Keeps which files of the walked folders the options select.
pub fn choose<'d>(does: impl Iterator<Item = &'d Does>, arguments: &Arguments<'_>, found: &mut Effects) {
    let mut choice = Choice::default();
    for does in does {
        let Deed::Chooses(how, names) = &does.deed else { continue };
        arguments.values_of(names).for_each(|word| match how {
            Choosing::LeavesOut => choice.leave_out(word, true, true),
            Choosing::LeavesOutFiles => choice.leave_out(word, true, false),
            Choosing::LeavesOutFolders => choice.leave_out(word, false, true),
            Choosing::Only => choice.only.push(FileName::new(word)),
            Choosing::Globs => {
                choice.add_glob(word);
                // Another option may ignore case.
                let folded =
                    Some(word.folded()).filter(|folded| folded != word && !word.start().starts_with('!'));
                folded.iter().for_each(|word| choice.add_glob(word));
            }
        });
    }
    apply(choice, found);
}

/// Adds what `git grep` walks through: paths, and patterns of names.
pub fn pathspecs(words: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let mut choice = Choice::default();
    let mut own = Effects::default();
    for word in words {
        if let Some(out) = [":!", ":^", ":(exclude)"].iter().find_map(|mark| word.strip_prefix(mark)) {
            let mut left_out = Word::text("!");
            left_out.append(&out);
            choice.add_glob(&left_out);
        } else if word.to_string().contains(['*', '?', '[']) {
            choice.add_glob(word);
        } else {
            add(Act::Reads, Extent::Searched, word, scene, &mut own);
        }
    }
    if own.touches.is_empty() {
        add(Act::Reads, Extent::Searched, &Word::text("."), scene, &mut own);
    }
    apply(choice, &mut own);
    found.touches.append(&mut own.touches);
    found.mentions.append(&mut own.mentions);
}

/// Folders that are read and not sent elsewhere are searched.
pub fn searched(found: &mut Effects) {
    let folders = |touch: &&mut Touch| touch.act == Act::Reads && touch.extent == Extent::Below;
    found.touches.iter_mut().filter(folders).for_each(|touch| touch.extent = Extent::Searched);
}

/// A folder that is read as a whole may hold any file.
pub fn whole(found: &mut Effects) {
    let folders =
        found.touches.iter().filter(|touch| touch.act == Act::Reads && touch.extent == Extent::Below);
    let perhaps = folders.map(|touch| Touch { extent: Extent::Whole, ..touch.clone() });
    found.mentions.extend(perhaps.collect::<Vec<_>>());
}
