//! Counts before commands, which share their digits with the panes; and marks.

use super::*;
use crate::workbench::model::Spot;

/// A session of this many turns with a call each, of which every fifth is stopped.
fn long(turns: usize) -> Session {
    let mut made = Builder::new(
        "long",
        Origin { file: "sessions/long.json".into(), index: 0, format: "native", line: 1 },
    );
    for turn in 1..=turns {
        made.response(None, Body::MISSING, None);
        let tool = if turn % 5 == 0 { "issue_refund" } else { "lookup_order" };
        let id = format!("c{turn}");
        made.call(Some(&id), tool, Body::text(r#"{"order_id": "ORD-1"}"#), None);
        made.result(Some(&id), Body::text("{}"), Mark::default(), None);
    }
    made.finish()
}

fn model() -> Model {
    opened(120, 40, "mono", vec![long(40), clean(), refunds()])
}

#[test]
fn a_count_repeats_a_movement() {
    let cases = [
        ("13j", "T14.1 lookup_order"),
        ("13j 12k", "T2.1 lookup_order"),
        ("03j", "T4.1 lookup_order"),
        ("9j", "T10.1 issue_refund"),
        ("3]f", "T15.1 issue_refund"),
        ("3]f 2[f", "T5.1 issue_refund"),
        ("4J", "T5.1 issue_refund"),
        ("5G", "T5.1 issue_refund"),
        ("5G 12gg", "T12.1 lookup_order"),
        ("99G", "T40.1 issue_refund"),
        ("999j", "T40.1 issue_refund"),
    ];
    for (keys, expected) in cases {
        let mut model = model();
        press(&mut model, keys);
        // A turn begins with its words, if it has any.
        let call = model.call().map(|call| format!("T{}.{} {}", call.at.turn, call.at.call, call.tool));
        assert_eq!(call.as_deref(), Some(expected), "{keys}");
        assert_eq!(model.place.focus, Pane::Transcript, "{keys}: the digits go to no pane in the end");
        assert_eq!(model.dialog.count, None, "{keys}");
    }
    let mut model = model();
    press(&mut model, "99G");
    assert_eq!(note(&model), "this session has no call 99: it has 40 calls");
}

#[test]
fn digits_go_to_panes() {
    for (keys, pane) in [
        ("1", Pane::Sessions),
        ("1j", Pane::Sessions),
        ("1G", Pane::Sessions),
        ("3j", Pane::Tools),
        ("5 G", Pane::Preconditions),
        ("5 ]f", Pane::Preconditions),
        ("1 3 j", Pane::Tools),
        ("6z", Pane::Decision),
        ("16z", Pane::Decision),
    ] {
        let mut model = model();
        press(&mut model, keys);
        assert_eq!((model.place.focus, model.dialog.count), (pane, None), "{keys}");
    }
    let mut model = model();
    press(&mut model, "1j");
    assert_eq!(model.place.open, 1, "the next session, not the next call");
    press(&mut model, "1 02j");
    assert_eq!(model.place.open, 2, "the count goes no farther than the list");
    let mut model = model_at("z13");
    assert!(model.place.zoom);
    press(&mut model, "Esc j");
    assert_eq!(model.dialog.count, None);
}

fn model_at(keys: &str) -> Model {
    let mut model = model();
    press(&mut model, keys);
    model
}

#[test]
fn a_pending_count_is_seen() {
    let model = model_at("13");
    assert!(screen(&model).contains("13 times the next movement or jump"));
    let model = model_at("0");
    assert_eq!(note(&model), "");
}

#[test]
fn counts_in_lists_over_the_panes() {
    let mut model = model_at("F 3j");
    let cursor = |model: &Model| model.dialog.popup().map(|popup| popup.list().cursor);
    assert_eq!(cursor(&model), Some(3), "no digit is a pane there");
    press(&mut model, "2G");
    assert_eq!(cursor(&model), Some(1));
    press(&mut model, "2t");
    assert!(screen(&model).contains("Findings by rule"), "what cannot be repeated happens once");
}

#[test]
fn marks_are_set_and_gone_to() {
    let mut model = model();
    press(&mut model, "'a");
    assert_eq!(note(&model), "no row has a bookmark; `+` and a letter set one");
    press(&mut model, "3]f +a 1 j 2 +b 'a");
    assert_eq!((model.place.open, at(&model)), (0, "T15.1 issue_refund".to_owned()));
    press(&mut model, "'b");
    assert_eq!(model.place.open, 1);
    press(&mut model, "Ctrl-o");
    assert_eq!(at(&model), "T15.1 issue_refund", "going to a mark is a jump");
    press(&mut model, "'x");
    assert_eq!(note(&model), "there is no bookmark x; bookmarks: a b");
    press(&mut model, "'");
    feed(&mut model, Msg::ChordWaits);
    let shown = screen(&model);
    assert!(shown.contains("a   long T15") && shown.contains("b   refund-121"), "{shown}");
    press(&mut model, "Esc :");
    typed(&mut model, "go-to-bookmark b");
    press(&mut model, "Enter");
    assert_eq!(model.place.open, 1);
}

#[test]
fn marks_stay_at_their_sessions() {
    let mut model = model();
    press(&mut model, "1 G +a 2");
    assert_eq!(model.place.marks.get(&'a').map(|spot| spot.entry), Some(2));
    // The first file is gone.
    read_whole(&mut model, "sessions/long.json", Vec::new(), Vec::new(), (1, 1));
    let session = |model: &Model, spot: Spot| model.archive.entries[spot.entry].name.clone();
    let spot = model.place.marks.get(&'a').copied().expect("the mark is kept");
    assert_eq!(&*session(&model, spot), "refund-124");
}
