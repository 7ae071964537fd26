//! The mouse: what is under the pointer is what is drawn there, and clicks do what keys do.

use crate::workbench::model::overlay::BodyView;
use ratatui::layout::{Position, Size};

use super::*;
use crate::explore::table::Column;
use crate::workbench::effect::Effect;
use crate::workbench::message::{Mouse, MouseAct};
use crate::workbench::model::preferences::Target;

/// Where a text is first on the screen.
fn place(model: &Model, text: &str) -> Position {
    let seen = screen(model);
    let found = seen.lines().enumerate().find_map(|(y, line)| {
        let at = line.find(text)?;
        Some(Position::new(line[..at].chars().count() as u16, y as u16))
    });
    found.unwrap_or_else(|| panic!("{text} is not in {seen}"))
}

fn act(model: &mut Model, text: &str, act: MouseAct) -> Vec<Effect> {
    let at = place(model, text);
    feed(model, Msg::Mouse(Mouse { at, act }))
}

fn click(model: &mut Model, text: &str) -> Vec<Effect> {
    // Long after the last one.
    model.work.now += 10_000;
    act(model, text, MouseAct::Click)
}

#[test]
fn a_click_selects_a_row_and_focuses_its_pane() {
    let mut model = model();
    click(&mut model, "amount: 214");
    assert_eq!((model.place.focus, at(&model).as_str()), (Pane::Transcript, "T2.2 issue_refund"));
    click(&mut model, "6 Decision");
    assert_eq!((model.place.focus, at(&model).as_str()), (Pane::Decision, "T2.2 issue_refund"));
    click(&mut model, "What about ORD-1");
    assert_eq!((model.place.focus, model.place.open), (Pane::Sessions, 1));
    // A second click on the row is Enter: the transcript.
    act(&mut model, "What about ORD-1", MouseAct::Click);
    assert_eq!(model.place.focus, Pane::Transcript);
    // Two clicks that are far apart in time, or hit different rows, are two clicks.
    for _ in 0..2 {
        click(&mut model, "lookup_order");
    }
    assert!(model.dialog.overlays.is_empty());
    act(&mut model, "lookup_order", MouseAct::Click);
    assert!(model.dialog.top::<BodyView>().is_some(), "{}", screen(&model));
}

#[test]
fn a_click_on_a_heading_sorts() {
    let mut model = model();
    press(&mut model, "1 z");
    click(&mut model, "calls");
    assert_eq!(model.archive.table.sort, Some((Column::Calls, true)));
    click(&mut model, "-calls");
    assert_eq!(model.archive.table.sort, Some((Column::Calls, false)));
    click(&mut model, "title");
    assert_eq!(model.archive.table.sort, Some((Column::Title, false)));
}

#[test]
fn the_wheel_scrolls_what_is_under_the_pointer() {
    let mut made = refunding();
    for turn in 0..200 {
        made.response(None, Body::text(format!("turn number {turn}")), None);
    }
    let mut model = opened(120, 40, "mono", vec![made.finish()]);
    press(&mut model, "3");
    let (focus, before) = (model.place.focus, model.list(Pane::Transcript));
    for _ in 0..4 {
        act(&mut model, "2 Transcript", MouseAct::Down);
    }
    let after = model.list(Pane::Transcript);
    assert_eq!((model.place.focus, after.top), (focus, before.top + 12), "{after:?}");
    assert!(after.cursor >= after.top, "the cursor is in sight");
    for _ in 0..9 {
        act(&mut model, "2 Transcript", MouseAct::Up);
    }
    assert_eq!(model.list(Pane::Transcript).top, 0);
    // In a list over the panes.
    press(&mut model, "?");
    act(&mut model, "Help", MouseAct::Down);
    assert!(model.dialog.popup().unwrap().list().cursor > 0);
}

#[test]
fn in_a_list_over_the_panes() {
    let mut model = opened(120, 40, "mono", vec![refunds(), clean(), refunds()]);
    press(&mut model, "F");
    click(&mut model, "T2.2");
    act(&mut model, "T2.2", MouseAct::Click);
    assert!(model.dialog.overlays.is_empty());
    assert_eq!(at(&model), "T2.2 issue_refund");
    // What lies below is not reached through it.
    press(&mut model, "F");
    let (focus, open) = (model.place.focus, model.place.open);
    for y in 1..39 {
        feed(&mut model, Msg::Mouse(Mouse { at: Position::new(60, y), act: MouseAct::Click }));
        model.work.now += 10_000;
        assert_eq!((model.place.focus, model.place.open), (focus, open));
    }
}

/// Where not all panes are seen, their names go to them.
#[test]
fn names_of_panes_are_clicked() {
    for (width, height) in [(80, 24), (58, 14), (40, 8)] {
        let mut model = opened(width, height, "mono", vec![refunds()]);
        for (text, pane) in [("7", Pane::Policy), ("3", Pane::Tools), ("1", Pane::Sessions)] {
            let tabs = model.layout().tabs.expect("names");
            let line = screen(&model).lines().nth(usize::from(tabs.y)).unwrap().to_owned();
            let from = line.char_indices().nth(usize::from(tabs.x)).unwrap().0;
            let x = tabs.x + line[from..].find(text).unwrap() as u16;
            feed(&mut model, Msg::Mouse(Mouse { at: Position::new(x, tabs.y), act: MouseAct::Click }));
            assert_eq!(model.place.focus, pane, "{width}: {line}");
        }
    }
}

/// Every cell of the screen at every size: what is hit is on screen there, and nothing panics outside.
#[test]
fn every_cell_is_part_of_what_is_drawn_there() {
    for (width, height) in [(200, 60), (120, 40), (80, 24), (58, 14), (40, 8), (30, 5), (0, 0)] {
        for keys in ["", "1 z", "7", "F", "C"] {
            let mut model = opened(width.max(40), height.max(8), "mono", vec![refunds(), clean()]);
            with_cases(&mut model, &CASES);
            press(&mut model, keys);
            feed(&mut model, Msg::Resize(Size::new(width, height)));
            let layout = model.layout();
            for (x, y) in (0..=width).flat_map(|x| (0..=height).map(move |y| (x, y))) {
                let hit = crate::workbench::update::mouse::target(&model, Position::new(x, y));
                let inside = |pane| layout.pane(pane).is_some_and(|area| area.contains(Position::new(x, y)));
                match hit {
                    Some(Target::Row(pane, row)) => {
                        assert!(inside(pane) && row < pane.rows(&model).len(&model), "{x},{y} {hit:?}");
                    }
                    Some(Target::Heading(_)) => assert!(inside(Pane::Sessions)),
                    Some(Target::Pane(pane)) => assert!(inside(pane) || layout.tabs.is_some()),
                    Some(Target::OverlayRow(row)) => {
                        let window = model.dialog.popup().unwrap();
                        assert!(row < window.len(&model));
                    }
                    Some(Target::Overlay) | None => {}
                }
            }
        }
    }
}

#[test]
fn it_is_turned_off_and_on() {
    let mut model = model();
    model.preferences.mouse = true;
    let effects = press(&mut model, "M");
    assert!(matches!(effects.as_slice(), [Effect::Mouse(false)]), "{effects:?}");
    let effects = press(&mut model, "M");
    assert!(matches!(effects.as_slice(), [Effect::Mouse(true)]) && note(&model).contains("Shift"));
    // While text is typed, a click changes nothing.
    press(&mut model, "/");
    click(&mut model, "6 Decision");
    assert!(model.dialog.prompt.is_some() && model.place.focus == Pane::Transcript);
}
