//! Edits from outside, by messages: what is kept, what is reported, and what comes too late.

use crate::workbench::model::overlay::BodyView;
use crate::workbench::popup::findings::FindingsView;
use std::sync::Arc;

use super::{at, note};
use crate::compare::{Change, Kind};
use crate::files::watch::{ChangedFiles, LOOK, WatchEvent, Way};
use crate::stored::{NotRestored, StoredSession};
use crate::workbench::effect::Effect;
use crate::workbench::layout::Pane;
use crate::workbench::message::{ComparedSession, Event, Msg};
use crate::workbench::model::{Loads, Model, ReadSession, SessionChanges, SessionDecisions};
use crate::workbench::testing::*;
use crate::workbench::update::update;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::dialect::contracts::codes;
use rulestep_engine::replay::Replay;

const WITHOUT_RESOURCE: &str = "\
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    with_output: [{path: $.eligible, equals: true}]
forbids_after: [void_order]
";

fn policy(model: &mut Model, text: &str, at: &str) {
    feed(model, Msg::Policy { loaded: Box::new(loaded(text)), at: at.to_owned() });
}

fn file(model: &mut Model, name: &str, sessions: Vec<Session>) {
    let sessions = sessions.into_iter().map(Arc::new).collect();
    read_whole(model, name, sessions, Vec::new(), (0, 1));
    read_all(model);
}

fn listing(model: &mut Model, files: &[&str]) {
    feed(
        model,
        Msg::Recordings(Event::Listing { files: files.iter().map(|file| Arc::from(*file)).collect() }),
    );
}

const REFUNDS: &str = "sessions/refunds.json";
const CLEAN: &str = "sessions/clean.json";

/// Two files, listed.
fn model() -> Model {
    let mut model = opened(120, 40, "mono", Vec::new());
    listing(&mut model, &[CLEAN, REFUNDS]);
    file(&mut model, REFUNDS, vec![refunds()]);
    file(&mut model, CLEAN, vec![clean()]);
    model
}

/// The refunds, continued with one more call in a turn of its own.
fn longer() -> Session {
    let mut made = refunding();
    made.response(None, Body::MISSING, None);
    made.call(Some("c9"), "void_order", Body::text(r#"{"order_id": "ORD-124"}"#), None);
    made.result(Some("c9"), Body::text("{}"), Mark::default(), None);
    made.finish()
}

#[test]
fn files_stand_in_their_order_whatever_order_they_are_read_in() {
    let model = model();
    let names: Vec<&str> = model.archive.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["refund-121", "refund-124"]);
    assert_eq!(model.place.open, 1, "what was open stays open");
}

/// Files that were read already follow the list when it is another one.
#[test]
fn files_that_change_places_take_their_sessions_along() {
    let mut model = model();
    listing(&mut model, &[REFUNDS, CLEAN]);
    let names: Vec<&str> = model.archive.entries.iter().map(|entry| &*entry.file).collect();
    assert_eq!(names, [REFUNDS, CLEAN]);
}

#[test]
fn an_edit_keeps_the_place_and_says_what_it_changed() {
    let mut model = model();
    press(&mut model, "]f / i s s u e Enter");
    press(&mut model, "]f");
    let (call, list) = (at(&model), model.list(Pane::Transcript));
    policy(&mut model, WITHOUT_RESOURCE, "12:04:31");
    assert_eq!((at(&model), model.list(Pane::Transcript)), (call, list));
    assert_eq!(model.dialog.query.as_deref(), Some("issue"));
    assert_eq!(model.finding(), None);
    assert_eq!(note(&model), "policy read at 12:04:31: 1 decision changed, 1 rule removed, 1 rule added");
    assert_eq!(model.basis.rules.since, "12:04:31");
}

#[test]
fn a_body_stays_open_with_its_folds() {
    let mut model = model();
    press(&mut model, "Down b j Space");
    let shown = |model: &Model| match model.dialog.top::<BodyView>() {
        Some(view) => (view.title.clone(), view.document.rows(), view.list),
        _ => panic!("a body is open"),
    };
    let before = shown(&model);
    assert_eq!(before.1, 1, "folded");
    policy(&mut model, WITHOUT_RESOURCE, "12:04:31");
    assert_eq!(shown(&model), before);
    // The session goes on; the body that is read is the same.
    file(&mut model, REFUNDS, vec![longer()]);
    assert_eq!(shown(&model), before);
    // Another text is shown as it is now.
    let mut made = Builder::new("refund-124", refunds().origin);
    made.said("user", Body::text("Please refund ORD-123"), None);
    made.response(None, Body::text("Let me check that order."), None);
    made.call(Some("c1"), "check_eligibility", Body::text(r#"{"order_id": "ORD-123"}"#), None);
    made.result(Some("c1"), Body::text("not any more"), Mark::default(), None);
    file(&mut model, REFUNDS, vec![made.finish()]);
    assert!(screen(&model).contains("not any more"), "{}", screen(&model));
}

#[test]
fn pane_8_lists_the_newly_allowed_first_and_leads_there() {
    let mut model = model();
    press(&mut model, "8");
    assert!(screen(&model).contains("nothing is compared"));
    press(&mut model, "2");
    let stricter = format!(
        "{WITHOUT_RESOURCE}---\ntool: lookup_order\npreconditions:\n  - requires_prior_tool: never\n"
    );
    policy(&mut model, &stricter, "12:04:31");
    let kinds: Vec<Kind> = model.all_changes().map(|(_, change)| change.kind).collect();
    assert_eq!(kinds[..2], [Kind::NewlyAllowed, Kind::NewlyBlocked], "{kinds:?}");
    let seen = screen(&model);
    assert!(seen.contains("8 Changes") && seen.contains("since 12:03:58"), "{seen}");
    assert!(seen.contains("DENY → allow"), "{seen}");
    press(&mut model, "8 gg Enter");
    assert_eq!((at(&model).as_str(), model.place.focus), ("T2.2 issue_refund", Pane::Transcript));
    // A heading, its change, the next heading, its change.
    press(&mut model, "8 gg j j j");
    let effects = format!("{:?}", press(&mut model, "yy"));
    assert!(effects.contains("refund-121 T1.1 lookup_order allow → DENY primary"), "{effects}");
    press(&mut model, "Enter");
    assert_eq!(at(&model), "T1.1 lookup_order");
    // In the other mode the same two versions are compared.
    press(&mut model, "m");
    assert_eq!(model.basis.changes.counts().0, 2);
    // Back to what it was: the changes are those of this edit.
    policy(&mut model, WITHOUT_RESOURCE, "12:05:00");
    let lookup = |(_, change): (usize, &Change)| change.tool.as_deref() == Some("lookup_order");
    assert!(!model.basis.changes.is_empty() && model.all_changes().all(lookup));
    press(&mut model, "8 G");
    let seen = screen(&model);
    assert!(seen.contains("since 12:04:31") && seen.contains("unchanged"), "{seen}");
}

#[test]
fn earlier_loads_are_kept_but_not_without_end() {
    let mut model = model();
    for edit in 0..30 {
        policy(&mut model, &format!("{CONTRACT}# {edit}\n"), &format!("12:00:{edit:02}"));
    }
    let loads = &model.basis.rules.loads;
    assert_eq!(loads.newest_first().len(), Loads::KEPT);
    assert_eq!(loads.newest().unwrap().at, "12:00:29");
    let before = loads.before().unwrap();
    assert_eq!(before.at, "12:00:28");
    assert_eq!(model.basis.changes.since, "12:00:28");
    assert_ne!(before.policy.digest(), loads.newest().unwrap().policy.digest());
}

#[test]
fn a_broken_policy_is_said_until_it_is_mended() {
    let mut model = model();
    let generation = model.work.generation;
    policy(&mut model, "tool: issue_refund\nforbids: [x]\n", "12:05:00");
    assert!(screen(&model).contains("the policy of 12:03:58 decides"));
    press(&mut model, "! q j k");
    assert!(screen(&model).contains("the policy of 12:03:58 decides"), "keys do not take it away");
    press(&mut model, "!");
    policy(&mut model, CONTRACT, "12:06:00");
    assert!(!screen(&model).contains("unknown"), "the open list of problems knows: {}", screen(&model));
    press(&mut model, "q");
    assert!(!model.basis.rules.stale);
    assert_eq!(model.work.generation, generation, "the same version is not judged again");
    assert!(!screen(&model).contains("decides"));
}

#[test]
fn live_is_turned_off_and_on() {
    let both = ChangedFiles { policies: true, sessions: true };
    let mut model = model();
    press(&mut model, "R");
    assert_eq!(note(&model), "no open input is a file that can be watched");
    let told = |model: &mut Model, told| format!("{:?}", feed(model, Msg::Watch(told)));
    assert_eq!(told(&mut model, WatchEvent::Begun(Way::System)), "[]");
    assert_eq!(told(&mut model, WatchEvent::Touched(both)), "[LoadSessions, LoadPolicy]");
    assert!(screen(&model).contains("live 12:03:58"));
    let policies = ChangedFiles { policies: true, sessions: false };
    assert_eq!(told(&mut model, WatchEvent::Touched(policies)), "[LoadPolicy]");
    press(&mut model, "R");
    assert!(screen(&model).contains("live off "), "{}", screen(&model));
    assert_eq!(told(&mut model, WatchEvent::Touched(both)), "[]");
    assert!(screen(&model).contains("live off, edits wait"));
    assert_eq!(format!("{:?}", press(&mut model, "R")), "[LoadSessions, LoadPolicy]");
    assert_eq!(told(&mut model, WatchEvent::Fallen("the system watches no more folders".into())), "[]");
    assert_eq!(model.basis.live.way, Some(Way::Polling(LOOK)));
    let seen = screen(&model);
    assert!(seen.contains("polling 12:03:58") && seen.contains("watches no more folders"), "{seen}");
}

#[test]
fn a_session_that_goes_on_keeps_row_and_decisions() {
    let mut model = model();
    press(&mut model, "]f");
    let list = model.list(Pane::Transcript);
    let sessions = stored(vec![Arc::new(longer())]);
    let message = Msg::Recordings(Event::File {
        file: REFUNDS.into(),
        sessions: sessions.into_iter().map(Into::into).collect(),
        diagnostics: Vec::new(),
        progress: (0, 1),
    });
    let effects = update(&mut model, message);
    // Not judged yet: what was decided on its first calls stands, the new one has no decision.
    assert_eq!(model.list(Pane::Transcript), list);
    assert_eq!(model.finding().unwrap().code, codes::RESOURCE_UNMATCHED);
    assert_eq!(model.judging(), Some((1, 2)));
    let asked = format!("{effects:?}");
    assert_eq!(asked, "[Judge(1 enforce [1])]", "only what changed is judged");
    press(&mut model, "G");
    assert!(screen(&model).contains("void_order"));
    assert!(model.judged_call().is_none());
    let [Effect::Judge(judge)] = &effects[..] else { panic!("one effect") };
    assert!(judge.open, "it is on screen");
    let answer = answered(1, 1, &listed(&model), &judge.by.policy, judge.by.mode);
    feed(&mut model, answer);
    assert_eq!(model.judged_call().unwrap().decision.verdict.word(), "deny");
    assert_eq!(model.judging(), None);
}

#[test]
fn a_file_that_is_read_again_and_says_the_same_is_not_judged_again() {
    let mut model = model();
    let before = Arc::clone(model.session().unwrap());
    let sessions = stored(vec![Arc::new(refunds())]);
    let message = Msg::Recordings(Event::File {
        file: REFUNDS.into(),
        sessions: sessions.into_iter().map(Into::into).collect(),
        diagnostics: Vec::new(),
        progress: (0, 1),
    });
    assert!(update(&mut model, message).is_empty());
    assert!(Arc::ptr_eq(&before, model.session().unwrap()));
    assert_eq!(model.judging(), None);
}

#[test]
fn what_is_answered_too_late_is_dropped() {
    let mut model = model();
    policy(&mut model, WITHOUT_RESOURCE, "12:04:31");
    let old = listed(&model);
    let (generation, at) = (model.work.generation, model.place.open);
    file(&mut model, REFUNDS, vec![longer()]);
    let calls = |model: &Model| model.archive.entries[at].replay.as_ref().map(|replay| replay.calls().len());
    assert_eq!(calls(&model), Some(4));
    // About a version of the session that is no more, though the request is the newest.
    let policy = model.basis.rules.policy.clone().unwrap();
    let answer = answered(generation, at, &old, &policy, model.basis.mode);
    feed(&mut model, answer);
    assert_eq!(calls(&model), Some(4));
    let count = model.basis.changes.len();
    let late = |generation, session: &Arc<StoredSession>| Msg::Compared {
        generation,
        sessions: vec![ComparedSession {
            place: at,
            session: Arc::clone(session),
            changes: SessionChanges { base: None, changes: Vec::new() },
        }],
    };
    feed(&mut model, late(generation, &old));
    let now = listed(&model);
    feed(&mut model, late(generation - 1, &now));
    assert_eq!(model.basis.changes.len(), count);
    feed(&mut model, late(generation, &now));
    assert_eq!(model.basis.changes.len(), 0, "the right one is taken");
}

#[test]
fn an_answer_finds_its_session_where_the_list_has_shifted() {
    let mut model = model();
    let session = listed(&model);
    listing(&mut model, &["sessions/a.json", CLEAN, REFUNDS]);
    let mut other = clean();
    other.id = "refund-100".into();
    file(&mut model, "sessions/a.json", vec![other]);
    assert_eq!((model.place.open, model.place_of(&session, 1)), (2, Some(2)));
    assert_eq!(model.place_of(&session, 400), Some(2));
    assert_eq!(model.place_of(&StoredSession::resident(Arc::new(clean())), 0), None);
    let policy = model.basis.rules.policy.clone().unwrap();
    let answer = answered(1, 1, &session, &policy, model.basis.mode);
    feed(&mut model, answer);
    assert!(model.archive.entries.iter().all(|entry| entry.is_judged(1)));
}

#[test]
fn a_session_that_goes_is_left_and_found_again_when_it_returns() {
    let mut model = model();
    press(&mut model, "]f");
    listing(&mut model, &[CLEAN]);
    assert_eq!((model.archive.entries.len(), model.place.open), (1, 0));
    assert_eq!(note(&model), "the session refund-124 is gone");
    assert_eq!(at(&model), "T1.1 lookup_order");
    listing(&mut model, &[CLEAN, REFUNDS]);
    file(&mut model, REFUNDS, vec![refunds()]);
    assert_eq!((model.place.open, at(&model).as_str()), (1, "T2.2 issue_refund"));
    // Unless the person has gone elsewhere.
    listing(&mut model, &[CLEAN]);
    press(&mut model, "1 gg 2");
    listing(&mut model, &[CLEAN, REFUNDS]);
    file(&mut model, REFUNDS, vec![refunds()]);
    assert_eq!(model.place.open, 0);
    // Everything may go, and come back.
    listing(&mut model, &[]);
    assert!(model.archive.entries.is_empty() && screen(&model).contains("no session"));
    press(&mut model, "j J } ]f b F q ! q 8 Enter");
    listing(&mut model, &[CLEAN, REFUNDS]);
    file(&mut model, CLEAN, vec![clean()]);
    assert_eq!(model.judging(), None);
}

#[test]
fn a_recording_that_breaks_is_told_and_its_session_returns() {
    let mut model = model();
    press(&mut model, "]f");
    let told = Diagnostic::error(code::NOT_A_SESSION, "not JSON").in_file(REFUNDS);
    let broken = Msg::Recordings(Event::File {
        file: REFUNDS.into(),
        sessions: Vec::new(),
        diagnostics: vec![told],
        progress: (0, 1),
    });
    feed(&mut model, broken);
    assert_eq!((model.place.open, model.archive.entries.len()), (1, 2));
    assert!(screen(&model).contains("not JSON"), "{}", screen(&model));
    file(&mut model, REFUNDS, vec![clean(), refunds()]);
    assert_eq!((model.place.open, at(&model).as_str()), (2, "T2.2 issue_refund"));
}

#[test]
fn jumps_and_findings_lead_where_their_sessions_stand_now() {
    let mut model = model();
    let mut second = refunds();
    second.id = "refund-125".into();
    file(&mut model, REFUNDS, vec![refunds(), second]);
    press(&mut model, "]f o { F j");
    let row = |model: &Model| match model.dialog.top::<FindingsView>() {
        Some(view) => view.row().map(|row| (row.entry, row.at)),
        _ => panic!("the list is open"),
    };
    let before = row(&model).unwrap();
    assert_eq!(before.0, 2);
    listing(&mut model, &["sessions/a.json", CLEAN, REFUNDS]);
    let mut other = refunds();
    other.id = "refund-100".into();
    file(&mut model, "sessions/a.json", vec![other]);
    assert_eq!(row(&model), Some((before.0 + 1, before.1)), "still on the same finding");
    press(&mut model, "q Ctrl-o");
    assert_eq!((model.place.open, at(&model).as_str()), (2, "T2.2 issue_refund"));
    // The session that a place was in is gone, and so is the place.
    press(&mut model, "o {");
    listing(&mut model, &["sessions/a.json", CLEAN]);
    press(&mut model, "Ctrl-o");
    assert_eq!(note(&model), "no jump to go back from");
}

#[test]
fn an_id_that_was_edited_is_still_the_same_session() {
    let mut model = model();
    let origin = |index| Origin { file: REFUNDS.into(), index, format: "native", line: 1 };
    let mut renamed = refunds();
    (renamed.id, renamed.origin) = ("refund-124b".into(), origin(0));
    press(&mut model, "]f");
    file(&mut model, REFUNDS, vec![renamed]);
    assert_eq!((model.place.open, at(&model).as_str()), (1, "T2.2 issue_refund"));
    assert!(screen(&model).contains("refund-124b"));
}

#[test]
fn what_was_decided_while_reading_stands_unless_something_newer_is_asked_for() {
    let decided = |model: &Model, generation: u64| {
        let session = StoredSession::resident(Arc::new(clean()));
        let policy = model.basis.rules.policy.as_ref().unwrap();
        let replay = Arc::new(Replay::new(&session.session().unwrap(), policy, model.basis.mode));
        let decisions = SessionDecisions::of(generation, &session, replay, false);
        let read = ReadSession { decisions: Some(decisions), ..ReadSession::from(session) };
        let (sessions, diagnostics) = (vec![read], Vec::new());
        Msg::Recordings(Event::Sessions {
            file: "sessions/new.json".into(),
            sessions,
            diagnostics,
            progress: (1, 1),
        })
    };
    let mut model = model();
    let generation = model.work.generation;
    let message = decided(&model, generation);
    let effects = update(&mut model, message);
    assert!(effects.is_empty(), "{effects:?}");
    assert_eq!((model.archive.entries.len(), model.judging()), (3, None));
    assert!(model.archive.entries[2].verdict().is_some_and(|verdict| !verdict.objects()));
    // It was read while another policy decided.
    let message = decided(&model, generation - 1);
    let effects = format!("{:?}", update(&mut model, message));
    assert_eq!(effects, format!("[Judge({generation} enforce [3])]"));
    assert_eq!(model.judging(), Some((3, 4)));
}

/// Where the recording of a session is another one by now, nothing else is shown for it, and it is read again.
#[test]
fn a_session_whose_recording_has_changed_is_read_again() {
    let mut model = model();
    let lost = |model: &mut Model, error| update(model, Msg::Unrestored { id: "clean".into(), error });
    let loads =
        |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::LoadSessions)).count();
    assert_eq!(loads(&lost(&mut model, NotRestored::Recording)), 1);
    assert!(
        note(&model).contains("clean: its recording was changed after it was read; reading it again"),
        "{}",
        note(&model)
    );
    // The wish is spent, and what the program kept itself is not in the recordings.
    assert_eq!(loads(&lost(&mut model, NotRestored::Changed)), 0);
    assert!(note(&model).contains("its bytes were changed"), "{}", note(&model));
}
