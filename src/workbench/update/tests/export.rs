//! `:export FILE`: the name says what is written, and what is there already stays.

use super::*;
use crate::workbench::effect::{Effect, Export};
use crate::workbench::run::export;

/// Runs a line as a person types it.
fn run(model: &mut Model, line: &str) -> Vec<Effect> {
    press(model, ":");
    typed(model, line);
    press(model, "Enter")
}

fn exported(model: &mut Model, line: &str) -> Box<Export> {
    match run(model, line).pop() {
        Some(Effect::Export(export)) => export,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_name_of_the_file_says_what_is_written() {
    let cases = [
        ("export a.svg", "[Picture(a.svg, false)]"),
        ("export a b.SVG!", "[Picture(a b.SVG, true)]"),
        ("export a.html", "[Export(html a.html, false)]"),
        ("export x/a.md!", "[Export(markdown x/a.md, true)]"),
    ];
    for (line, effects) in cases {
        let mut model = model();
        assert_eq!(format!("{:?}", run(&mut model, line)), effects, "{line}");
        assert!(model.dialog.overlays.is_empty(), "the list is closed before the screen is drawn");
    }
    for line in ["export a.txt", "export a", "export .svg.png"] {
        let mut model = model();
        assert!(run(&mut model, line).is_empty(), "{line}");
        assert!(screen(&model).contains("the name says what is written"), "{}", screen(&model));
    }
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session.html").to_str().unwrap().to_owned();
    let mut model = model();
    let said = |message| match message {
        Msg::Note { failed, text } => (failed, text),
        _ => panic!("a note"),
    };
    let (failed, text) = said(export::document(&exported(&mut model, &format!("export {file}"))));
    assert!(!failed && text.starts_with(&format!("wrote {file}, ")), "{text}");
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("1 call stopped in 1 session") && !page.contains("what-if"), "{page}");

    std::fs::write(&file, "mine").unwrap();
    let (failed, text) = said(export::document(&exported(&mut model, &format!("export {file}"))));
    assert!(failed && text.contains(&format!(":export {file}!")), "{text}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    export::document(&exported(&mut model, &format!("export {file}!")));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), page);
}

#[test]
fn the_picture_is_the_screen_without_the_list_of_commands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.svg").to_str().unwrap().to_owned();
    let mut model = model();
    run(&mut model, &format!("export {file}"));
    export::picture(&model, &file, false);
    let picture = std::fs::read_to_string(&file).unwrap();
    assert!(picture.contains("Transcript") && !picture.contains(":export"), "{picture}");
}

#[test]
fn a_what_if_is_called_one() {
    let mut model = model();
    press(&mut model, "]f xx");
    let export = exported(&mut model, "export a.html");
    let page = crate::report::single::document(export.output, &export.subject).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("This is a what-if, not the recording") && page.contains("1 rule off"), "{page}");
}
