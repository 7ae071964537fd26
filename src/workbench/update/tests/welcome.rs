//! The first screen of the samples.

use super::*;
use crate::workbench::model::Welcome;
use crate::workbench::theme::{Depth, Theme};

/// Starts with the samples: the policy comes first, then the sessions.
fn started(width: u16) -> Model {
    begun(width, Welcome::Samples)
}

fn begun(width: u16, welcome: Welcome) -> Model {
    let mut model = Model::new(crate::workbench::model::Opening {
        theme: Theme::builtin("mono", Depth::None).unwrap(),
        size: ratatui::layout::Size::new(width, 24),
        policy_name: "contracts".to_owned(),
        mode: Mode::Enforce,
    });
    model.preferences.welcome = welcome;
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(CONTRACT)), at: "12:03:58".to_owned() });
    model
}

fn reads(model: &mut Model, session: Session, done: usize) {
    let file = session.origin.file.to_string();
    read_part(model, &file, vec![Arc::new(session)], Vec::new(), (done, 2));
}

#[test]
fn the_first_stopped_call_is_on_screen_with_what_to_do_next() {
    for (width, said) in [
        (120, "These are samples. ]f next finding · your own: `rulestep SESSIONS -p POLICIES` · ? help"),
        (80, "Samples. ]f next finding · your own: `rulestep SESSIONS -p POLICIES` · ? help"),
        (58, "Samples. ]f next · ? help"),
    ] {
        let mut model = started(width);
        reads(&mut model, clean(), 1);
        assert_eq!((model.place.open, model.dialog.note.is_none()), (0, true), "nothing is stopped so far");
        reads(&mut model, refunds(), 2);
        assert_eq!((model.place.open, at(&model).as_str(), note(&model)), (1, "T2.2 issue_refund", said));
        read_all(&mut model);
        assert!(screen(&model).contains(said), "{}", screen(&model));
        press(&mut model, "k");
        assert!(model.dialog.note.is_none());
        read_all(&mut model);
        assert_eq!(at(&model), "T2.1 issue_refund", "once");
    }
}

#[test]
fn own_recordings_begin_at_their_first_stopped_call() {
    let mut model = begun(120, Welcome::Recordings);
    reads(&mut model, clean(), 1);
    assert_eq!((model.place.open, model.dialog.note.is_none()), (0, true));
    reads(&mut model, refunds(), 2);
    assert_eq!((model.place.open, at(&model).as_str()), (1, "T2.2 issue_refund"));
    assert_eq!(note(&model), "the first call that is stopped; ]f goes to the next");
    press(&mut model, "Ctrl-o");
    assert_eq!(model.place.open, 0, "where it would have begun");
    // Nothing is said where there is nothing to go to.
    let mut model = begun(120, Welcome::Recordings);
    reads(&mut model, clean(), 1);
    read_all(&mut model);
    assert!(model.place.open == 0 && model.dialog.note.is_none(), "{}", screen(&model));
}

#[test]
fn own_recordings_that_only_violate_a_session_rule_begin_there() {
    let mut model = begun(120, Welcome::Recordings);
    let rules = "rules: [{type: require, tool: run_tests}]";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(rules)), at: "12:04:00".to_owned() });
    reads(&mut model, clean(), 1);
    assert!(model.violation().is_some(), "{}", screen(&model));
    assert_eq!(note(&model), "the first violated session rule; ]f goes to the next");
}

#[test]
fn whoever_goes_somewhere_is_not_taken_elsewhere() {
    let mut model = started(120);
    reads(&mut model, clean(), 1);
    press(&mut model, "j");
    reads(&mut model, refunds(), 2);
    read_all(&mut model);
    assert!(model.place.open == 0 && !note(&model).contains("samples"), "{}", note(&model));
}

#[test]
fn where_nothing_is_stopped_it_says_so_all_the_same() {
    let mut model = started(120);
    reads(&mut model, clean(), 1);
    read_all(&mut model);
    assert_eq!(model.place.open, 0);
    assert!(note(&model).starts_with("These are samples."));
}

/// However narrow the screen is, its first line says which session this is, and that it is not the recording.
#[test]
fn the_top_line_keeps_the_position_and_the_what_if() {
    for (width, height) in [(120, 40), (80, 24), (58, 14), (40, 8)] {
        let mut model = opened(width, height, "mono", vec![clean(), refunds()]);
        let base = crate::workbench::model::Chosen {
            name: "a folder with a very long name/contracts".to_owned(),
            base: crate::compare::Base::Recorded,
        };
        model.basis.compare.base = Some(base);
        press(&mut model, "]f xx");
        let shown = screen(&model);
        let first = shown.lines().next().unwrap();
        assert!(first.contains("2/2 WHAT IF 1"), "{shown}");
        assert!(first.contains("✗0"), "{shown}");
        press(&mut model, "xu");
        assert!(screen(&model).lines().next().unwrap().contains(" 2/2 "), "{}", screen(&model));
    }
}
