//! `find`: where it searches, what it finds and what it does there.

use super::call::{Act, Extent};
use super::facts::{Program, Takes};
use super::scene::{Effects, Scene, add};
use super::word::{Piece, Word};

/// Whether a value follows the word.
fn is_valued(row: &Program, word: &str) -> bool {
    let option = row.whole().and_then(|row| row.option(word));
    option.is_some_and(|option| option.takes != Takes::Nothing)
}

/// The folders that `find` searches.
pub fn find_roots(args: &[Word]) -> Vec<Word> {
    let options = |word: &&Word| matches!(word.known(), Some("-L" | "-H" | "-P"));
    let ends = |word: &&Word| !word.start().starts_with(['-', '(', '!']);
    let roots: Vec<Word> = args.iter().skip_while(options).take_while(ends).cloned().collect();
    if roots.is_empty() { vec![Word::text(".")] } else { roots }
}

/// The patterns one of which matches every file that `find` finds; `None` if it may be any name.
fn find_names(row: &Program, args: &[Word]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    // Every alternative has one.
    let mut own = None;
    let mut words = args.iter();
    let mut negated = false;
    while let Some(word) = words.next() {
        match word.known() {
            Some("-o" | "-or" | ",") => names.push(own.take()?),
            Some("!" | "-not") => {
                negated = true;
                continue;
            }
            // Its content is not known well enough.
            Some("(") if negated => return None,
            Some(option) if is_valued(row, option) => {
                let value = words.next();
                if option == "-name" && !negated {
                    own = Some(value?.known()?.to_owned());
                }
            }
            _ => {}
        }
        negated = false;
    }
    names.push(own?);
    Some(names)
}

/// Files that `find` may find below a folder: the folder's name with what is known of theirs.
pub fn find_hits(row: &Program, args: &[Word]) -> Vec<Word> {
    let names = find_names(row, args);
    let roots = find_roots(args);
    let below = |root: &Word| match &names {
        Some(names) => hits(root, names),
        None => {
            let mut below = Word { many: false, ..root.clone() };
            below.push("/");
            below.pieces.push(Piece::Unknown("{}".to_owned()));
            vec![below]
        }
    };
    roots.iter().flat_map(below).collect()
}

/// Files of such names in a folder, and below it.
pub fn hits(folder: &Word, names: &[String]) -> Vec<Word> {
    let mut hits = Vec::new();
    for name in names {
        let mut direct = Word { many: false, ..folder.clone() };
        direct.push("/");
        let mut deeper = direct.clone();
        direct.append(&Word::pattern(name));
        hits.push(direct);
        deeper.pieces.push(Piece::Unknown("{}".to_owned()));
        deeper.push("/");
        deeper.append(&Word::pattern(name));
        hits.push(deeper);
    }
    hits
}

/// Whether with this word `find` may leave out some files.
fn narrows(word: &Word) -> bool {
    let plain =
        "-delete -print -print0 -depth -d -type f -xdev -mount -L -H -P -ls -mindepth -true -follow -noleaf";
    word.start().starts_with(['-', '!', '('])
        && !plain.split(' ').any(|known| known == word.start())
        && !word.start().starts_with("-O")
}

/// Deletes the files that it finds.
fn deletes(row: &Program, args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    for hit in find_hits(row, args) {
        add(Act::Deletes, Extent::Itself, &hit, scene, found);
    }
    let all = !args.iter().any(narrows);
    for root in find_roots(args).iter().filter(|_| all) {
        add(Act::Deletes, Extent::Below, root, scene, found);
    }
}

/// Its effects on the files that it finds.
pub fn find(row: &Program, args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let mut rest = args.iter();
    let first = args.first();
    while let Some(word) = rest.next() {
        match word.known() {
            Some("-delete") => deletes(row, args, scene, found),
            // After the folder, the shell may expand it to any words.
            None if word.many && word.is_open() && first.is_some_and(|first| !std::ptr::eq(first, word)) => {
                let mut own = Effects::default();
                deletes(row, args, scene, &mut own);
                found.perhaps(own, &word.to_string());
            }
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                if let Some(file) = rest.next() {
                    add(Act::Writes, Extent::Itself, file, scene, found);
                }
            }
            Some(name) if is_valued(row, name) => drop(rest.next()),
            _ => {}
        }
    }
}
