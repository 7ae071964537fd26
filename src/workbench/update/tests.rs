//! Keys in, model and effects out: no terminal, no thread, no file.

use std::sync::Arc;

use crate::workbench::keys::Key;
use crate::workbench::layout::Pane;
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::testing::*;
use crate::workbench::transcript::RowKind;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::dialect::contracts::codes;
use rulestep_engine::run::Mode;

mod cases;
mod choices;
mod compare;
mod counts;
mod export;
mod frames;
mod live;
mod mouse;
mod overlays;
mod palette;
mod panes;
mod paste;
mod places;
mod policies;
mod random;
mod rebound;
mod reported;
mod restore;
mod saving;
mod sideways;
mod suggest;
mod survey;
mod table;
mod tester;
mod verdict;
mod ways;
mod welcome;
mod what_if;

fn model() -> Model {
    opened(120, 40, "mono", vec![refunds(), clean()])
}

/// The selected call, as `T2.1 tool`.
fn at(model: &Model) -> String {
    let call = model.call().expect("a call is selected");
    format!("T{}.{} {}", call.at.turn, call.at.call, call.tool)
}

fn note(model: &Model) -> &str {
    model.dialog.note.as_ref().map_or("", |note| &note.text)
}

#[test]
fn a_session_opens_at_its_first_call() {
    assert_eq!(at(&model()), "T1.1 check_eligibility");
}

#[test]
fn calls_rows_and_turns() {
    let mut model = model();
    press(&mut model, "j");
    assert_eq!(at(&model), "T2.1 issue_refund");
    press(&mut model, "j j");
    assert_eq!(at(&model), "T2.2 issue_refund");
    assert!(note(&model).starts_with("no call after this one"));
    press(&mut model, "Down");
    assert!(matches!(model.row().unwrap().kind, RowKind::Result(1)));
    press(&mut model, "K");
    assert!(matches!(model.row().unwrap().kind, RowKind::Message(_)), "to the turn's first row");
    press(&mut model, "J");
    assert_eq!(model.row().unwrap().turn, 3);
    press(&mut model, "J");
    assert_eq!(note(&model), "this is the last turn");
    press(&mut model, "gg");
    assert_eq!(model.list(Pane::Transcript).cursor, 0);
    press(&mut model, "K");
    assert_eq!(note(&model), "this is the first turn");
    press(&mut model, "G");
    assert_eq!(model.list(Pane::Transcript).cursor, model.derived.rows.len() - 1);
}

#[test]
fn findings_go_on_in_the_next_session() {
    let mut model = opened(120, 40, "mono", vec![clean(), refunds(), clean(), refunds()]);
    for (keys, entry, place) in [
        ("]f", 1, "T2.2 issue_refund"),
        ("]f", 3, "T2.2 issue_refund"),
        ("]f", 3, "T2.2 issue_refund"),
        ("[f", 1, "T2.2 issue_refund"),
        ("Ctrl-o", 3, "T2.2 issue_refund"),
    ] {
        press(&mut model, keys);
        assert_eq!((model.place.open, at(&model).as_str()), (entry, place), "{keys}");
    }
    press(&mut model, "]f");
    assert_eq!(note(&model), "no stopped call or violated session rule after this in any session");
}

#[test]
fn the_session_before_is_entered_at_its_last_finding() {
    let mut twice = refunding();
    twice.response(None, Body::MISSING, None);
    twice.call(Some("c4"), "issue_refund", Body::text(r#"{"order_id": "ORD-125"}"#), None);
    twice.result(Some("c4"), Body::text("{}"), Mark::default(), None);
    let mut model = opened(120, 40, "mono", vec![twice.finish(), clean()]);
    press(&mut model, "}");
    for place in ["T4.1 issue_refund", "T2.2 issue_refund"] {
        press(&mut model, "[f");
        assert_eq!((model.place.open, at(&model).as_str()), (0, place));
    }
    press(&mut model, "gg } { ]f");
    assert_eq!(at(&model), "T2.2 issue_refund", "forward it is the first");
}

#[test]
fn findings_causes_and_back() {
    let mut model = model();
    press(&mut model, "]f");
    assert_eq!(at(&model), "T2.2 issue_refund");
    assert_eq!(model.finding().unwrap().code, codes::RESOURCE_UNMATCHED);
    press(&mut model, "o");
    assert_eq!(at(&model), "T1.1 check_eligibility");
    press(&mut model, "Ctrl-o");
    assert_eq!(at(&model), "T2.2 issue_refund");
    press(&mut model, "Alt-o");
    assert_eq!(at(&model), "T1.1 check_eligibility");
    press(&mut model, "Ctrl-o");
    assert_eq!(at(&model), "T2.2 issue_refund", "forward and back again");
    press(&mut model, "Alt-o");
    press(&mut model, "o");
    assert_eq!(note(&model), "no rule stops or reports this");
    press(&mut model, "]d");
    assert_eq!(at(&model), "T2.2 issue_refund");
    press(&mut model, "]r");
    assert!(note(&model).starts_with("no finding of this rule after"));
    press(&mut model, "]q");
    assert_eq!(note(&model), "`]q` has no function here; ? lists the keys");
}

/// A UUID says nothing: the top line has the title and so much of the number that two sessions of one title can be distinguished; the
/// mode and the base stay on a narrow screen, however long names are.
#[test]
fn the_top_line_says_which_session_and_what_decides() {
    let titled = |id: &str| {
        let mut made =
            Builder::new(id, Origin { file: "s.jsonl".into(), index: 0, format: "native", line: 1 });
        made.said("user", Body::text("/clear"), None);
        made.response(None, Body::text("Done."), None);
        made.finish()
    };
    let ids = ["258c7280-ae70-4798-800f-63464d01a85d", "491e126e-1e71-469c-ade2-fcc8af567c74"];
    let mut model = opened(120, 40, "mono", ids.map(titled).to_vec());
    press(&mut model, "m");
    let base = crate::compare::Base::Version(loaded(CONTRACT).policy.unwrap());
    press(&mut model, "db");
    typed(&mut model, "git:origin/a-very-long-branch-name");
    press(&mut model, "Enter");
    feed(&mut model, Msg::Base { name: "git:origin/a-very-long-branch-name".to_owned(), read: Ok(base) });
    for (width, height) in [(200, 60), (120, 40), (80, 24), (58, 14), (40, 8)] {
        feed(&mut model, Msg::Resize(ratatui::layout::Size::new(width, height)));
        let seen = screen(&model);
        let top = seen.lines().next().unwrap();
        assert!(top.contains("shadow base git:") && top.contains("✗0"), "{width} {top}");
        assert!(width < 58 || top.contains("/clear"), "{width} {top}");
        assert!(width < 80 || top.contains("258c7280"), "{width} {top}");
    }
    feed(&mut model, Msg::Resize(ratatui::layout::Size::new(80, 24)));
    press(&mut model, "1");
    let seen = screen(&model);
    let rows: Vec<&str> = seen.lines().filter(|line| line.contains("/clear") && line.contains('│')).collect();
    assert!(
        rows.iter().any(|row| row.contains("01a85d")) && rows.iter().any(|row| row.contains("567c74")),
        "{seen}"
    );
}

/// Continuing from an earlier place drops the later ones.
#[test]
fn a_jump_ends_the_way_forward() {
    let mut model = opened(120, 40, "mono", vec![refunds(), clean(), refunds()]);
    press(&mut model, "]f o");
    // The earlier call by itself does not show the finding.
    assert_eq!(note(&model), "T2.2 resource_unmatched is based on this call; Ctrl-o goes back");
    press(&mut model, "Ctrl-o ]s");
    assert_eq!((model.place.open, at(&model).as_str()), (2, "T2.2 issue_refund"));
    press(&mut model, "Alt-o");
    assert_eq!((model.place.open, at(&model).as_str()), (2, "T2.2 issue_refund"), "nothing is ahead");
    press(&mut model, "Ctrl-o");
    assert_eq!((model.place.open, at(&model).as_str()), (0, "T2.2 issue_refund"));
}

#[test]
fn newly_hidden_tools_are_found_both_ways() {
    let mut made = Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    for turn in 0..200 {
        made.response(None, Body::text("a turn"), None);
        // The refund in turn 100 forbids voiding from the next turn on.
        let tool = if turn == 99 { "issue_refund" } else { "check_eligibility" };
        made.call(None, tool, Body::text(r#"{"order_id": 1}"#), None);
        made.result(None, Body::text(r#"{"eligible": true}"#), Mark::default(), None);
    }
    let mut model = opened(80, 24, "mono", vec![made.finish()]);
    press(&mut model, "]h");
    assert_eq!(model.turn().unwrap().number, 101);
    press(&mut model, "]h");
    assert_eq!(note(&model), "no tool is hidden after this");
    press(&mut model, "G [h");
    assert_eq!(model.turn().unwrap().number, 101);
}

/// Turns are looked at 64 at a time: none may fall between two such looks.
#[test]
fn newly_hidden_tools_are_found_wherever_they_are() {
    for hidden in [2, 64, 65, 66, 128, 129, 130, 135, 136, 137, 138, 199, 200] {
        let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
        let mut made = Builder::new("s", origin);
        for turn in 1..=200 {
            made.response(None, Body::text("a turn"), None);
            if turn + 1 == hidden {
                made.call(None, "close", Body::text("{}"), None);
                made.result(None, Body::text("{}"), Mark::default(), None);
            }
        }
        let policy = loaded("tool: close\nforbids_after: [reopen]\n");
        let mut model = judged(80, 24, "mono", policy, vec![made.finish()]);
        press(&mut model, "gg ]h");
        assert_eq!(model.turn().unwrap().number, hidden, "{}", note(&model));
        press(&mut model, "G [h");
        assert_eq!(model.turn().unwrap().number, hidden, "back: {}", note(&model));
    }
}

#[test]
fn sessions_with_a_stop() {
    let mut model = opened(120, 40, "mono", vec![clean(), clean(), refunds()]);
    press(&mut model, "]s");
    assert_eq!((model.place.open, at(&model).as_str()), (2, "T2.2 issue_refund"));
    press(&mut model, "]s");
    assert_eq!(note(&model), "no session with a stopped call or a violated rule after this one");
    press(&mut model, "{ {");
    assert_eq!(model.place.open, 0);
    press(&mut model, "} }");
    assert_eq!(at(&model), "T2.2 issue_refund", "a session is opened where it was left");
    press(&mut model, "1 k");
    assert_eq!(model.place.open, 1);
}

#[test]
fn panes_and_zoom() {
    let mut model = model();
    press(&mut model, "Tab");
    assert_eq!(model.place.focus, Pane::Tools);
    press(&mut model, "Shift-Tab Shift-Tab");
    assert_eq!(model.place.focus, Pane::Sessions);
    press(&mut model, "]f 7 z");
    assert_eq!(model.layout().panes.len(), 1);
    press(&mut model, "G");
    assert_eq!(model.list(Pane::Policy).cursor, 7, "the text can be read to its end");
    press(&mut model, "Esc");
    assert!(!model.place.zoom);
}

#[test]
fn a_row_of_the_decision_leads_to_its_evidence() {
    let mut model = model();
    press(&mut model, "]f 6");
    let found = (0..20).find(|_| {
        press(&mut model, "j");
        Pane::Decision.link(&model).call == Some(0)
    });
    assert!(found.is_some());
    press(&mut model, "Enter");
    assert_eq!(at(&model), "T1.1 check_eligibility");
}

#[test]
fn the_editor_opens_what_is_looked_at() {
    let mut model = model();
    let mut edits = |keys: &str| format!("{:?}", press(&mut model, keys));
    assert_eq!(edits("]f e"), "[Edit(contracts/issue_refund.yaml:4)]");
    assert_eq!(edits("1 e"), "[Edit(contracts/issue_refund.yaml:4)]", "no recording by a mere slip");
    assert_eq!(edits("7 gg e"), "[Edit(contracts/issue_refund.yaml:1)]");
    assert_eq!(edits("2"), "[]");
    assert!(screen(&model).contains("e edit rule"));
    press(&mut model, "Down");
    assert!(screen(&model).contains("e edit recording"));
    let effects = press(&mut model, "e");
    assert_eq!(format!("{effects:?}"), "[Edit(sessions/refunds.json:1)]");
    assert_eq!(note(&model), "opened the recording, sessions/refunds.json:1");
    // A call that no rule is about: only the transcript leads to its recording.
    press(&mut model, "}");
    assert_eq!(format!("{:?}", press(&mut model, "e")), "[Edit(sessions/clean.json:1)]");
    assert_eq!(format!("{:?}", press(&mut model, "6 e")), "[]");
    assert_eq!(note(&model), "no rule is concerned; a recording is opened from the transcript");
}

#[test]
fn samples_are_called_so_and_not_edited() {
    let mut model = model();
    model.archive.built_in = crate::workbench::model::BuiltIn { sessions: true, policy: true };
    let seen = screen(&model);
    assert!(seen.contains("refund-124 sample 1/2"), "{seen}");
    assert!(press(&mut model, "]f e").is_empty());
    assert_eq!(note(&model), "this rule is a sample inside the program, not a file on disk");
    assert!(press(&mut model, "Down e").is_empty());
    assert_eq!(note(&model), "this recording is a sample inside the program, not a file on disk");
}

#[test]
fn a_hidden_tool_and_a_precondition_lead_to_their_rules() {
    let mut model = model();
    let shown = |model: &Model| model.document().and_then(|shown| shown.rule).map(|(_, first, _)| first);
    // In the first turn the refund waits for the check; the selected call is the check, which no rule is about.
    let row = |model: &mut Model, text: &str| {
        (0..20).any(|_| {
            let pane = model.place.focus;
            let here = pane.rows(model).text(model, model.list(pane).cursor);
            let here = here.is_some_and(|line| line.contains(text));
            if !here {
                press(model, "j");
            }
            here
        })
    };
    press(&mut model, "3");
    assert!(row(&mut model, "issue_refund"));
    press(&mut model, "Enter");
    assert_eq!((model.place.focus, shown(&model)), (Pane::Policy, Some(4)));
    press(&mut model, "5 gg");
    assert!(row(&mut model, "Eligibility must"));
    press(&mut model, "Enter");
    assert_eq!((model.place.focus, shown(&model)), (Pane::Policy, Some(4)));
    // The selection ends with the next one.
    press(&mut model, "2 }");
    assert_eq!((model.place.pinned, shown(&model)), (None, None));
    press(&mut model, "3");
    assert!(row(&mut model, "lookup_order"));
    press(&mut model, "Enter");
    assert_eq!((model.place.focus, note(&model)), (Pane::Tools, "this row has no rule"));
    // A tool forbidden by an earlier call leads to that call, with the line that forbids.
    press(&mut model, "{ 2 ]f J 4 gg Enter");
    assert_eq!((at(&model).as_str(), shown(&model)), ("T2.1 issue_refund", Some(8)));
}

#[test]
fn a_waiting_chord_shows_how_it_can_go_on() {
    let mut model = model();
    press(&mut model, "]");
    assert!(!model.dialog.which_key);
    feed(&mut model, Msg::ChordWaits);
    assert!(screen(&model).contains("next stopped call or violated rule"));
    press(&mut model, "f");
    assert!(!model.dialog.which_key && model.dialog.pending.is_empty());
    assert_eq!(at(&model), "T2.2 issue_refund");
}

#[test]
fn every_command_can_be_pressed_anywhere() {
    // With sessions, without, in every overlay and at every size: nothing panics, every frame is drawn.
    for sessions in [vec![refunds(), clean()], Vec::new()] {
        for (width, height) in [(120, 40), (58, 14), (10, 2), (0, 0)] {
            let mut model = opened(width, height, "ansi-dark", sessions.clone());
            for overlay in ["", "b", "F", "?", "!"] {
                for row in crate::workbench::keys::TABLE {
                    for key in row.keys {
                        press(&mut model, overlay);
                        press(&mut model, key);
                        drawn(&model);
                        feed(
                            &mut model,
                            Msg::Key(crate::workbench::keys::Key {
                                code: crossterm::event::KeyCode::Esc,
                                ctrl: false,
                                alt: false,
                            }),
                        );
                        while !model.dialog.overlays.is_empty() {
                            model.dialog.overlays.pop();
                        }
                        model.dialog.prompt = None;
                    }
                }
            }
        }
    }
}

#[test]
fn hostile_text_shows_marks_and_changes_nothing() {
    let mut made = Builder::new(
        "evil\x1b]0;title\x07",
        Origin { file: "s.json".into(), index: 0, format: "native", line: 1 },
    );
    let nasty = "\x1b[2J\x1b]52;c;aGk=\x07 \u{202e}txet \u{200b}\u{9b}31m\r\n";
    made.said("user\x1b[1m", Body::text(nasty), None);
    made.response(None, Body::text(nasty), None);
    made.call(None, "tool\x1b[31m", Body::text(format!("{{\"k\\u001b\": \"{nasty}\"}}")), None);
    made.result(None, Body::text(nasty), Mark::default(), None);
    let mut model = opened(120, 40, "mono", vec![made.finish()]);
    for keys in ["", "b", "Esc Down b", "Esc F", "q 1", "3", "6"] {
        press(&mut model, keys);
        for cell in drawn(&model).content() {
            assert!(!cell.symbol().chars().any(|c| c.is_control() || c == '\u{202e}' || c == '\u{200b}'));
        }
    }
    assert!(screen(&model).contains("evil␛]0;title␇"));
}

#[test]
fn a_long_name_leaves_the_place_of_its_call_on_screen() {
    let mut made = Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    made.response(None, Body::text("now"), None);
    made.call(None, "exchange_delivered_order_items_later", Body::text("{}"), None);
    made.result(None, Body::text("{}"), Mark::default(), None);
    let model = opened(120, 40, "mono", vec![made.finish()]);
    let lines = Pane::Decision.lines(&model, 38).unwrap();
    assert!(lines.iter().any(|line| line.plain().starts_with("recorded") && line.plain().ends_with("T1.1")));
}
