//! Commands by their names: found, refused, completed, recalled, with what comes after the name.

use super::*;
use crate::workbench::keys::{Command, TABLE};
use crate::workbench::popup::findings::FindingsView;
use crate::workbench::popup::palette::state::{PaletteRow, PaletteView};

fn view(model: &Model) -> &PaletteView {
    match model.dialog.top::<PaletteView>() {
        Some(view) => view,
        _ => panic!("the palette is open"),
    }
}

fn rows(model: &Model) -> Vec<String> {
    view(model).rows.iter().map(PaletteRow::line).collect()
}

/// Runs a line as a person types it.
fn run(model: &mut Model, line: &str) -> Vec<crate::workbench::effect::Effect> {
    press(model, ":");
    typed(model, line);
    press(model, "Enter")
}

#[test]
fn every_command_is_listed_and_its_name_finds_it_first() {
    for keys in [":", "Ctrl-p", "? :"] {
        let mut model = model();
        press(&mut model, keys);
        let (mut listed, mut all) = (rows(&model), TABLE.iter().map(|row| row.name).collect::<Vec<_>>());
        assert_eq!(listed.first().map(String::as_str), Some("next-call"), "what can be used comes first");
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all, "{keys}");
    }
    for row in TABLE {
        let mut model = model();
        press(&mut model, ":");
        typed(&mut model, row.name);
        assert_eq!(rows(&model).first().map(String::as_str), Some(row.name));
    }
}

#[test]
fn words_keys_and_letters_find_commands() {
    let cases = [
        ("q", "quit"),
        ("W", "witness"),
        ("find next", "next-finding"),
        ("pane trans", "pane-transcript"),
        ("jsonpath", "test"),
        ("copy path", "copy-path"),
        ("whanew", "what-if-new"),
    ];
    for (line, first) in cases {
        let mut model = model();
        press(&mut model, ":");
        typed(&mut model, line);
        assert_eq!(rows(&model).first().map(String::as_str), Some(first), "{line}");
    }
    let mut model = model();
    press(&mut model, ":");
    typed(&mut model, "nothing-has-this");
    assert!(screen(&model).contains("No command has these words"));
    press(&mut model, "Enter");
    assert_eq!(rows(&model), Vec::<String>::new(), "there is nothing to run");
}

#[test]
fn enter_runs_and_says_why_it_cannot() {
    let mut model = model();
    run(&mut model, "next-finding");
    assert_eq!(at(&model), "T2.2 issue_refund");
    assert!(model.dialog.overlays.is_empty() && model.dialog.prompt.is_none());
    run(&mut model, "end-compare");
    assert!(screen(&model).contains("no base to compare with"), "the row says it");
    let refused = model.dialog.prompt.as_ref().and_then(|prompt| prompt.refused.clone());
    assert_eq!(refused.as_deref(), Some("no base to compare with; `db` chooses one"));
    press(&mut model, "Esc b");
    run(&mut model, "next-turn");
    let refused = model.dialog.prompt.as_ref().and_then(|prompt| prompt.refused.clone());
    assert_eq!(refused.as_deref(), Some("close the popup first"), "a body lies over the panes");
    press(&mut model, "Esc");
    let effects = run(&mut model, "copy-path");
    assert_eq!(effects.len(), 1, "{effects:?}");
    let effects = { run(&mut model, "quit-now") };
    assert_eq!(format!("{effects:?}"), "[Quit]");
}

#[test]
fn the_list_on_top_gives_way_to_what_lies_below_it() {
    let mut model = model();
    press(&mut model, "F : Esc");
    assert!(model.dialog.top::<FindingsView>().is_some());
    press(&mut model, "?");
    run(&mut model, "group-by");
    assert!(screen(&model).contains("Findings by rule"));
}

#[test]
fn tab_completes_and_up_repeats() {
    let mut model = model();
    press(&mut model, ":");
    typed(&mut model, "the");
    press(&mut model, "Tab");
    assert_eq!(view(&model).typed, "theme ");
    typed(&mut model, "pap");
    press(&mut model, "Tab Enter");
    assert_eq!(model.theme.name, "paper");
    run(&mut model, "zoom");
    run(&mut model, "zoom");
    press(&mut model, ": Up");
    assert_eq!(view(&model).typed, "zoom");
    press(&mut model, "Up");
    assert_eq!(view(&model).typed, "theme paper", "each line is kept once");
    press(&mut model, "Up");
    assert_eq!(view(&model).typed, "theme paper", "there is none before");
    press(&mut model, "Down Down");
    assert_eq!(view(&model).typed, "");
    press(&mut model, "Down Down Up");
    assert_eq!(view(&model).list.cursor, 1, "in the list the arrows go row by row");
}

#[test]
fn a_theme_is_put_on_while_it_is_typed() {
    let mut model = model();
    press(&mut model, ":");
    typed(&mut model, "theme ");
    assert_eq!(model.theme.name, "ansi-dark", "the first of the list");
    typed(&mut model, "harb");
    assert_eq!(model.theme.name, "harbor");
    typed(&mut model, "x");
    assert_eq!(model.theme.name, "mono", "there is no such theme");
    assert!(screen(&model).contains("No theme has this name"));
    press(&mut model, "Backspace Esc");
    assert_eq!(model.theme.name, "mono", "Esc takes it off");
    run(&mut model, "theme harbor");
    assert_eq!((model.theme.name.as_str(), note(&model)), ("harbor", "theme harbor"));
}

#[test]
fn numbers_go_to_calls_and_turns() {
    let mut model = model();
    run(&mut model, "3");
    assert_eq!(at(&model), "T2.2 issue_refund");
    run(&mut model, "T1");
    assert!(matches!(model.row().unwrap().kind, RowKind::Message(0)));
    run(&mut model, "go-to T2.1");
    assert_eq!(at(&model), "T2.1 issue_refund");
    press(&mut model, "Ctrl-o Ctrl-o");
    assert_eq!(at(&model), "T2.2 issue_refund", "a jump is one to come back from");
    press(&mut model, ":");
    typed(&mut model, "2");
    assert_eq!(rows(&model)[..2], ["go-to 2", "go-to T2"]);
    press(&mut model, "Ctrl-u");
    typed(&mut model, "go-to 99");
    assert!(screen(&model).contains("A call by its number, 1 to 3, or a turn, T1 to T3."));
}

#[test]
fn a_base_is_chosen_by_name() {
    let mut model = model();
    let effects = run(&mut model, "base git:HEAD~7");
    assert_eq!(format!("{effects:?}"), "[LoadBase(git:HEAD~7)]", "what is typed counts, not what is listed");
    run(&mut model, "base");
    assert!(model.dialog.prompt.as_ref().is_some_and(|prompt| prompt.ask.is_some()), "without one it asks");
}

#[test]
fn what_is_pasted_is_a_line_too() {
    let mut model = model();
    press(&mut model, ":");
    feed(&mut model, Msg::Paste("theme harbor\nq\n".into()));
    assert_eq!((view(&model).typed.as_str(), model.theme.name.as_str()), ("theme harbor", "harbor"));
    press(&mut model, "Esc");
    assert_eq!(model.theme.name, "mono");
    feed(&mut model, Msg::Typed(":zoom".into()));
    assert_eq!(view(&model).row(), Some(&PaletteRow::Command(Command::Zoom)));
}
