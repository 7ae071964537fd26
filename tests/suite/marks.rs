//! Every mark that is drawn is in the one table that explains marks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;
use rulestep_base::wording::glyph::{Glyph, NOTES};

/// The rooms that write to a terminal, a page or a screen.
const DRAWING: &[&str] = &["cli", "report", "workbench", "lsp"];

/// What is no mark: frames, quotation marks, and the arrow of a trace, which has its words beside it.
const PLAIN: &str = "─│┌┐└┘═║╔╗╚╝“”←";

/// The string literals of the rooms, without tests and comments.
fn literals() -> Vec<(String, String)> {
    fn walk(path: &Path, found: &mut Vec<(String, String)>) {
        if path.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| walk(&entry.unwrap().path(), found));
            return;
        }
        let name = path.display().to_string();
        if !name.ends_with(".rs") || name.contains("test") {
            return;
        }
        let text = fs::read_to_string(path).unwrap();
        let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
        for line in text.split("mod tests {").next().unwrap().lines() {
            if !line.trim_start().starts_with("//") {
                let literals = literal.captures_iter(line).map(|literal| literal[1].to_owned());
                found.extend(literals.map(|literal| (name.clone(), literal)));
            }
        }
    }
    let mut found = Vec::new();
    for room in DRAWING {
        walk(Path::new(&format!("src/{room}")), &mut found);
        let file = format!("src/{room}.rs");
        if Path::new(&file).exists() {
            walk(Path::new(&file), &mut found);
        }
    }
    found
}

#[test]
fn every_mark_that_is_drawn_is_explained() {
    let literals = literals();
    assert!(literals.len() > 1000, "{}", literals.len());
    let known: BTreeSet<char> = Glyph::ALL
        .iter()
        .map(|glyph| glyph.unicode())
        .chain(NOTES.iter().map(|(mark, ..)| *mark))
        .chain([PLAIN])
        .flat_map(str::chars)
        .collect();
    for (file, literal) in &literals {
        let unknown = literal.chars().find(|c| !c.is_ascii() && !c.is_alphanumeric() && !known.contains(c));
        assert!(
            unknown.is_none(),
            "{file}: {unknown:?} in {literal:?} is not in crates/base/src/wording/glyph.rs"
        );
    }
}

/// A literal that is a mark alone would escape a change of the table.
#[test]
fn marks_come_from_the_table() {
    for (file, literal) in literals() {
        let is = |glyph: &&Glyph| glyph.unicode() == literal && !literal.is_ascii();
        let found = Glyph::ALL.iter().find(is);
        assert!(found.is_none() || file.ends_with("paint/frame.rs"), "{file}: {literal:?} is {found:?}");
    }
    // In texts they are arrows, dots and dashes, or explained where they are.
    let verdicts =
        [Glyph::Deny, Glyph::Halt, Glyph::Allow, Glyph::Ask, Glyph::Disagree, Glyph::Failed, Glyph::Refused];
    for (file, literal) in literals() {
        let found = verdicts.iter().find(|glyph| literal.contains(glyph.unicode()));
        let explains = file.ends_with("explain/marks.rs");
        assert!(found.is_none() || explains, "{file}: {literal:?} has {found:?}");
    }
}

/// Readers of the output and of the screen find each mark, those of the documentation as well.
#[test]
fn the_page_has_every_mark() {
    let folder = tempfile::tempdir().unwrap();
    let page = crate::cli::run(&folder, &["explain", "marks"]);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for glyph in Glyph::ALL {
        let row = format!("{} {} {}", glyph.unicode(), glyph.ascii(), glyph.doc());
        assert!(words.contains(&row), "no {row:?} in {page}");
    }
    insta::assert_snapshot!(page);
}
