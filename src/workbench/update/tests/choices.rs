//! Choices that were not taken: rows, findings, jumps, bodies and changes of their calls.

use super::note;
use crate::case::Place;
use crate::compare::{Base, ChangePlace};
use crate::workbench::effect::Effect;
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::popup::findings::FindingsView;
use crate::workbench::testing::*;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Origin, Session};

/// A check is taken. Choice 2 checks as well and refunds beside it, choice 3 only says something.
fn chosen() -> Session {
    choosing().finish()
}

fn choosing() -> Builder {
    let origin = Origin { file: "sessions/chosen.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("chosen", origin);
    made.said("user", Body::text("Please refund ORD-7"), None);
    made.response(None, Body::MISSING, None);
    made.call(Some("a"), "check_eligibility", Body::text(r#"{"order_id": "ORD-7"}"#), None);
    let mut second = made.aside();
    second.response(None, Body::MISSING, None);
    second.call(Some("b"), "check_eligibility", Body::text(r#"{"order_id": "ORD-7"}"#), None);
    second.call(Some("c"), "issue_refund", Body::text(r#"{"order_id": "ORD-7", "amount": 99}"#), None);
    made.beside(2, second);
    let mut third = made.aside();
    third.response(None, Body::text("Refunds are closed."), None);
    made.beside(3, third);
    made.response(None, Body::text("Done."), None);
    made
}

fn model() -> Model {
    let mut model = opened(120, 40, "mono", vec![clean(), chosen()]);
    read_all(&mut model);
    model
}

#[test]
fn the_transcript_shows_them_after_the_calls_of_their_turn() {
    let mut model = model();
    press(&mut model, "]f");
    let screen = screen(&model);
    assert!(screen.contains("✗1") && screen.contains("1✗ not chosen"), "the session is not green\n{screen}");
    for said in [
        "✓  choice 2  not chosen: check_eligibility order_id: \"ORD-7\"",
        "✗  choice 2  not chosen: issue_refund",
        "choice 3  not chosen: Refunds are closed.",
        "✗ DENY issue_refund",
        "T1.2.2",
        "recorded not chosen (choice 2)",
        "prior_tool_missing",
        "choice 2 not chosen",
    ] {
        assert!(screen.contains(said), "{said}\n{screen}");
    }
}

#[test]
fn they_are_gone_to_listed_and_opened() {
    let not_taken = |model: &Model| model.not_taken().map(|at| (at.turn, at.choice, at.call));
    let mut model = self::model();
    press(&mut model, "]f");
    assert_eq!((model.place.open, not_taken(&model)), (1, Some((1, 2, 2))), "in the next session");
    press(&mut model, "]f");
    assert!(
        note(&model).starts_with("no stopped call or violated session rule after this"),
        "{}",
        note(&model)
    );
    press(&mut model, "F");
    let Some(view) = model.dialog.top::<FindingsView>() else { panic!("no findings") };
    let row = view.row().unwrap();
    assert_eq!((row.place().as_str(), &*row.tool), ("T1.2.2", "issue_refund"));
    press(&mut model, "Enter");
    assert_eq!(not_taken(&model), Some((1, 2, 2)));
    press(&mut model, "Enter");
    let Some(view) = model.dialog.top::<BodyView>() else { panic!("no body") };
    assert_eq!(view.title, "T1.2.2 issue_refund arguments (not chosen)");
    press(&mut model, "Esc");
    // What stands beside it in the choice has no row of its own number.
    assert_eq!(model.cause(), None);
    let mut model = self::model();
    press(&mut model, "]s");
    assert_eq!(
        (model.place.open, not_taken(&model)),
        (1, Some((1, 2, 2))),
        "the next session that anything speaks against"
    );
}

/// The first stop of a session may be of a choice that was not taken, with stopped calls after it.
#[test]
fn a_session_is_entered_at_its_first_stop_be_it_of_a_choice() {
    let mut made = choosing();
    made.response(None, Body::MISSING, None);
    made.call(Some("d"), "issue_refund", Body::text(r#"{"order_id": "ORD-8", "amount": 99}"#), None);
    let mut model = opened(120, 40, "mono", vec![clean(), made.finish()]);
    press(&mut model, "]s");
    assert_eq!(
        (model.place.open, model.not_taken().map(|other| other.turn)),
        (1, Some(1)),
        "{}",
        note(&model)
    );
}

#[test]
fn a_change_of_one_is_counted_shown_and_gone_to() {
    let mut model = model();
    let base = "tool: issue_refund\nforbids_after: [void_order]\n";
    press(&mut model, "db");
    typed(&mut model, "git:HEAD");
    press(&mut model, "Enter");
    let base = Base::Version(loaded(base).policy.expect("a policy"));
    feed(&mut model, Msg::Base { name: "git:HEAD".to_owned(), read: Ok(base) });
    assert_eq!(model.changed().decisions, 1);
    assert_eq!(
        note(&model),
        "compared with git:HEAD: 1 decision changed, a tool became visible or hidden 4 times, 1 rule added"
    );
    // Before it, what tools the turns show.
    for _ in 0..6 {
        if model.not_taken().is_none() {
            press(&mut model, "]c");
        }
    }
    assert_eq!(model.not_taken().map(|at| (at.choice, at.call)), Some((2, 2)));
    assert!(matches!(model.change_here().map(|change| change.at), Some(ChangePlace::Alternative(_))));
    let shown = screen(&model);
    assert!(shown.contains("chosen T1.2.2 issue_r"), "{shown}");
    assert!(shown.contains("✗ ∆choice 2"), "{shown}");
    assert!(shown.lines().any(|line| line.contains("choice 2 not chosen") && line.contains('∆')), "{shown}");
    assert_eq!(model.archive.entries[1].changed(), 1);
}

#[test]
fn one_is_saved_as_a_case() {
    let mut model = model();
    model.basis.paths = vec!["contracts".to_owned()];
    press(&mut model, "]f");
    press(&mut model, "s");
    let effects = press(&mut model, "Enter");
    let Some(Effect::Save(save)) = effects.into_iter().next() else {
        panic!("nothing is saved: {}", note(&model))
    };
    assert_eq!(save.file, "contracts/chosen-1_2_2.case.yaml");
    assert_eq!((save.name.as_str(), save.turn), ("chosen 1.2.2: deny", 1));
    assert!(matches!(save.call, Place::NotTaken(at) if (at.turn, at.choice, at.call) == (1, 2, 2)));
    assert_eq!(save.comments, ["turn 1 choice 2 (not chosen) call 2 of chosen, sessions/chosen.json"]);
}
