//! Comparing with a base: choosing and ending it, both versions beside each other, and the way from text to changes.

use super::{at, note};
use crate::compare::{Base, Kind, Side};
use crate::workbench::effect::Effect;
use crate::workbench::layout::Pane;
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::model::texts::TextsView;
use crate::workbench::testing::*;
use rulestep_engine::run::Verdict;

/// Without the resource: the refund of another order is allowed. And lookups are not.
const OTHER: &str = "\
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    with_output: [{path: $.eligible, equals: true}]
forbids_after: [void_order]
---
tool: lookup_order
preconditions:
  - requires_prior_tool: never
";

fn model() -> Model {
    let mut model = opened(120, 40, "mono", vec![refunds(), clean()]);
    read_all(&mut model);
    model
}

fn policy(model: &mut Model, text: &str, at: &str) {
    feed(model, Msg::Policy { loaded: Box::new(loaded(text)), at: at.to_owned() });
}

fn ask(model: &mut Model, name: &str) -> Vec<Effect> {
    press(model, "db");
    typed(model, name);
    press(model, "Enter")
}

fn version(text: &str) -> Base {
    Base::Version(loaded(text).policy.expect("a policy"))
}

fn against(model: &mut Model, name: &str, base: Base) {
    ask(model, name);
    feed(model, Msg::Base { name: name.to_owned(), read: Ok(base) });
}

fn verdicts(model: &Model) -> [Option<Verdict>; 2] {
    [Side::Base, Side::New].map(|side| Some(model.seen(side).judged_call()?.decision.verdict))
}

fn kinds(model: &Model) -> Vec<Kind> {
    model.all_changes().map(|(_, change)| change.kind).collect()
}

#[test]
fn a_base_is_asked_for_read_and_ended() {
    let mut model = model();
    let effects = format!("{:?}", ask(&mut model, "git:HEAD"));
    assert_eq!(effects, "[LoadBase(git:HEAD)]");
    assert!(screen(&model).contains("reading base git:HEAD") && !model.splits());
    feed(&mut model, Msg::Base { name: "git:HEAD".to_owned(), read: Ok(version(OTHER)) });
    // A lookup is let through and, in the turns after a refund, the refund of the other order stopped again.
    assert_eq!(
        note(&model),
        "compared with git:HEAD: 2 decisions changed, a tool became visible or hidden 5 times, 2 rules removed, 1 rule added"
    );
    assert!(model.splits() && screen(&model).contains("base git:HEAD"));
    press(&mut model, "]f");
    assert_eq!(at(&model), "T2.2 issue_refund");
    assert_eq!(verdicts(&model), [Some(Verdict::Allow), Some(Verdict::Deny)]);
    let seen = screen(&model);
    assert!(seen.contains("∆ newly blocked") && seen.contains("◂ ✓ ALLOW issue_refund"), "{seen}");
    // Both versions judge in the other mode as well.
    press(&mut model, "m");
    assert_eq!(verdicts(&model), [Some(Verdict::Allow), Some(Verdict::Deny)]);
    press(&mut model, "dd");
    assert!(!model.splits() && model.basis.changes.comparison.is_none() && model.basis.changes.is_empty());
    press(&mut model, "dd");
    assert_eq!(note(&model), "no base to compare with; `db` chooses one");
    assert_eq!(ask(&mut model, "").len(), 0, "nothing stood, nothing ends");
}

#[test]
fn an_empty_answer_ends_it_and_escape_does_not() {
    let mut model = model();
    against(&mut model, "old", version(OTHER));
    press(&mut model, "db Esc");
    assert!(model.splits() && model.dialog.prompt.is_none());
    press(&mut model, "db Ctrl-u Backspace Enter");
    assert!(!model.splits() && model.dialog.prompt.is_none());
    assert_eq!(note(&model), "no longer compared");
}

#[test]
fn what_cannot_be_read_leaves_what_stood() {
    let mut model = model();
    against(&mut model, "old", version(OTHER));
    let before = model.basis.changes.len();
    press(&mut model, "db Ctrl-u");
    typed(&mut model, "nowhere");
    press(&mut model, "Enter");
    let read = Err("nowhere: no such file or folder".to_owned());
    feed(&mut model, Msg::Base { name: "nowhere".to_owned(), read });
    assert_eq!(note(&model), "not compared: nowhere: no such file or folder");
    assert!(model.dialog.note.as_ref().unwrap().failed && model.splits());
    assert_eq!((model.basis.changes.len(), model.basis.changes.since.as_str()), (before, "old"));
    // An answer to a question that nobody asks any more.
    feed(&mut model, Msg::Base { name: "older".to_owned(), read: Ok(Base::Recorded) });
    assert!(model.splits());
}

#[test]
fn an_edit_is_compared_with_the_same_base() {
    let mut model = model();
    against(&mut model, "old", version(OTHER));
    assert_eq!(kinds(&model)[..2], [Kind::NewlyAllowed, Kind::NewlyBlocked]);
    policy(&mut model, OTHER, "12:10:00");
    assert_eq!(note(&model), "compared with old: no decision changed");
    assert!(model.basis.changes.is_empty() && model.splits(), "the base stays, and says the same now");
    press(&mut model, "]f");
    let [base, new] = verdicts(&model);
    assert_eq!(base, new);
    assert!(screen(&model).contains("the same under both"));
    policy(&mut model, CONTRACT, "12:11:00");
    assert_eq!((model.basis.changes.since.as_str(), model.all_changes().count() > 1), ("old", true));
}

#[test]
fn earlier_loads_are_chosen_from_a_list() {
    let mut model = model();
    press(&mut model, "dl");
    assert_eq!(note(&model), "the policy was loaded only once; `db` compares with another version");
    policy(&mut model, OTHER, "12:10:00");
    press(&mut model, "dl");
    assert_eq!(model.basis.changes.since, "the load of 12:03:58");
    policy(&mut model, &format!("{OTHER}# edited\n"), "12:11:00");
    assert_eq!(model.basis.changes.since, "the load of 12:03:58", "the base stays where it was");
    press(&mut model, "dl");
    let seen = screen(&model);
    assert!(seen.contains("12:10:00  2 documents, 3 rules  the one before"), "{seen}");
    press(&mut model, "Enter");
    assert_eq!(model.basis.changes.since, "the load of 12:10:00");
    assert!(model.basis.changes.is_empty());
    press(&mut model, "dl j Enter");
    assert_eq!(model.basis.changes.since, "the load of 12:03:58");
    press(&mut model, "dd");
    assert_eq!(model.basis.changes.since, "12:10:00", "again the edit");
}

#[test]
fn changes_are_stepped_through_into_the_next_session() {
    let mut model = model();
    press(&mut model, "]c");
    assert_eq!(note(&model), "no base to compare with; `db` chooses one");
    against(&mut model, "old", version(OTHER));
    press(&mut model, "gg");
    let mut places = Vec::new();
    loop {
        press(&mut model, "]c");
        if note(&model).starts_with("no change") {
            break;
        }
        places.push((model.place.open, model.list(Pane::Transcript).cursor, note(&model).to_owned()));
    }
    let sessions: Vec<usize> = places.iter().map(|(open, ..)| *open).collect();
    assert!(sessions.is_sorted() && sessions.contains(&0) && sessions.contains(&1), "{places:?}");
    let said = |wanted: &str| places.iter().any(|(.., said)| said.contains(wanted));
    assert!(said("newly blocked issue_refund (primary)"), "{places:?}");
    assert!(said("newly allowed lookup_order (primary)"), "{places:?}");
    // The status of a session follows from its calls.
    assert!(!said("outcome changed"), "{places:?}");
    assert_eq!(note(&model), "no change after this in any session; [c goes to those before it");
    let mut back = Vec::new();
    while !note(&model).starts_with("no change before") {
        press(&mut model, "[c");
        back.push((model.place.open, model.list(Pane::Transcript).cursor));
        // One more may be in the very first row, where the way forward began.
        assert!(back.len() <= places.len() + 2, "{}", note(&model));
    }
    // The same places the other way round: a session is entered at its last change.
    let forward: Vec<_> = places.iter().map(|(open, row, _)| (*open, *row)).rev().skip(1).collect();
    assert!(back.starts_with(&forward), "{back:?}\n{forward:?}");
}

#[test]
fn a_hunk_leads_to_its_changes_and_a_change_to_its_hunk() {
    let mut model = model();
    press(&mut model, "dt");
    assert_eq!(note(&model), "no base to compare with; `db` chooses one");
    against(&mut model, "old", version(OTHER));
    press(&mut model, "]f dt");
    let Some(view) = model.dialog.top::<TextsView>() else { panic!("no texts") };
    let hunk = &view.texts.hunks[view.hunk(true).unwrap()];
    let counts = model.counts_of(hunk);
    let of =
        |kind: Kind| counts.iter().filter(|((_, known), _)| *known == kind).map(|(_, count)| count).sum();
    let calls: [usize; 2] = [of(Kind::NewlyBlocked), of(Kind::NewlyAllowed)];
    assert_eq!(calls, [1, 1], "one hunk of a short file holds both rules");
    assert!(screen(&model).contains("1 newly allowed, 1 newly blocked"));
    press(&mut model, "]c");
    assert_eq!(note(&model), "this is the last edit");
    press(&mut model, "Enter");
    assert!(model.dialog.overlays.is_empty() && model.place.focus == Pane::Transcript);
    assert_eq!(at(&model), "T1.1 lookup_order", "what is newly allowed comes first");
    // The same text leaves nothing to show.
    press(&mut model, "dt");
    policy(&mut model, OTHER, "12:10:00");
    assert!(model.dialog.overlays.is_empty());
    assert!(note(&model).contains("no decision changed"), "{}", note(&model));
}

/// Where not all panes are seen, a change brings the one along that shows it.
#[test]
fn a_change_brings_its_pane_along() {
    let mut model = opened(80, 24, "mono", vec![clean(), refunds()]);
    read_all(&mut model);
    against(&mut model, "old", version(OTHER));
    press(&mut model, "gg");
    let mut seen = Vec::new();
    for _ in 0..5 {
        press(&mut model, "]c");
        let pane =
            [Pane::Tools, Pane::Decision].into_iter().find(|pane| model.layout().pane(*pane).is_some());
        let change = model.change_here().is_some();
        assert_eq!(pane == Some(Pane::Decision), change, "{}", screen(&model));
        assert_eq!(model.place.focus, Pane::Transcript);
        seen.push(pane);
    }
    assert!(seen.contains(&Some(Pane::Tools)) && seen.contains(&Some(Pane::Decision)), "{seen:?}");
    // With the keys in that pane, they stay beside the transcript; a list that is gone through stays as well.
    press(&mut model, "gg 6 [c");
    assert!(matches!(model.place.focus, Pane::Tools | Pane::Decision));
    press(&mut model, "8 ]c");
    assert_eq!(model.place.focus, Pane::Changes);
}

#[test]
fn the_recording_is_a_base_without_a_text() {
    let mut model = model();
    against(&mut model, "recorded", Base::Recorded);
    assert!(!model.splits());
    assert_eq!(kinds(&model), [Kind::NewlyBlocked]);
    assert_eq!(note(&model), "compared with recorded: 1 decision changed");
    press(&mut model, "dt");
    assert_eq!(note(&model), "the base `recorded` has no policy text");
    press(&mut model, "8 gg Enter");
    assert_eq!(at(&model), "T2.2 issue_refund");
    assert!(screen(&model).contains("∆ newly blocked"));
}

/// That no decision changed would be a reassurance that nothing supports.
#[test]
fn recordings_without_a_gate_are_not_compared_with_live() {
    let mut model = model();
    against(&mut model, "live", Base::Live);
    let nothing = "no gate decided a call of these sessions, so there is nothing to compare with";
    assert_eq!(note(&model), format!("compared with live: {nothing}"));
    press(&mut model, "dt");
    assert_eq!(note(&model), "the base `live` has no policy text");
    press(&mut model, "dd");
    assert_eq!(note(&model), "no longer compared");
}

#[test]
fn dropping_the_base_says_that_the_last_edit_is_still_shown() {
    let mut model = model();
    policy(&mut model, OTHER, "12:06:00");
    against(&mut model, "recorded", Base::Recorded);
    press(&mut model, "dd");
    assert_eq!(note(&model), "the base is dropped; pane 8 shows the last edit, and dd closes that too");
    press(&mut model, "dd");
    assert_eq!(note(&model), "closed; the next edit is compared again");
}

/// A rule that stops nothing may still report another call than before: pane 8 lists it, and `]c` goes there.
#[test]
fn a_call_that_is_newly_reported_is_a_change() {
    let within = |within: u8| format!("rules: [{{type: eventually, tool: sign_off, within: {within}}}]\n");
    let mut model = judged(120, 40, "mono", loaded(&within(2)), vec![refunds()]);
    against(&mut model, "old", version(&within(1)));
    assert_eq!(note(&model), "compared with old: no decision changed, 2 reports changed, 1 rule weakened");
    assert_eq!(kinds(&model), [Kind::NewlyReported, Kind::NoLongerReported]);
    press(&mut model, "gg ]c");
    assert_eq!(at(&model), "T1.1 check_eligibility");
    assert_eq!(note(&model), "no longer reported check_eligibility (primary)");
    press(&mut model, "]c");
    assert_eq!(at(&model), "T2.1 issue_refund");
    let seen = screen(&model);
    assert!(seen.contains("∆ newly reported") && seen.contains("newly reported: 1 report"), "{seen}");
    assert!(seen.contains("allow → report"), "{seen}");
}

#[test]
fn a_session_that_changes_keeps_both_versions() {
    let mut model = model();
    against(&mut model, "old", version(OTHER));
    press(&mut model, "]f");
    let file = "sessions/refunds.json";
    let mut made = refunding();
    made.response(None, rulestep_base::session::Body::text("Anything else?"), None);
    let sessions = vec![std::sync::Arc::new(made.finish())];
    read_whole(&mut model, file, sessions, Vec::new(), (1, 1));
    assert_eq!(verdicts(&model), [Some(Verdict::Allow), Some(Verdict::Deny)]);
    assert!(model.place.base_frames.framed.is_some());
}

#[test]
fn rows_of_the_list_are_the_same_from_wherever_they_are_asked_for() {
    use crate::workbench::model::ChangeRow;
    let mut model = model();
    against(&mut model, "old", version(OTHER));
    let spelt = |row: ChangeRow<'_>| match row {
        ChangeRow::Group(group, count) => format!("{group:?} {count}"),
        ChangeRow::Change(entry, change) => format!("{entry} {change:?}"),
    };
    let all: Vec<String> = model.change_rows(0).map(spelt).collect();
    assert_eq!(all.len(), model.basis.changes.rows());
    assert!(model.basis.changes.rows() > model.basis.changes.len() && model.basis.changes.len() > 3);
    for from in 0..=all.len() + 1 {
        let rows: Vec<String> = model.change_rows(from).map(spelt).collect();
        assert_eq!(rows, all[from.min(all.len())..]);
    }
    for (at, row) in model.change_rows(0).enumerate() {
        if let ChangeRow::Group(group, _) = row {
            assert_eq!(model.basis.changes.row_of(group), Some(at));
        }
    }
}

#[test]
fn a_line_that_is_no_rules_own_stands_for_the_rules_of_its_document() {
    let mut model = model();
    against(&mut model, "old", version(&CONTRACT.replace("tool: issue_refund", "tool: refund")));
    press(&mut model, "dt");
    let Some(view) = model.dialog.top::<TextsView>() else { panic!("no texts") };
    assert_eq!(view.texts.hunks.len(), 1);
    let counts = model.counts_of(&view.texts.hunks[0]);
    let blocked = counts.iter().find(|((_, kind), _)| *kind == Kind::NewlyBlocked);
    assert_eq!(blocked.map(|(_, count)| *count), Some(1), "{counts:?}");
}

#[test]
fn a_hunk_far_down_opens_at_its_heading() {
    let mut model = opened(58, 14, "mono", vec![refunds(), clean()]);
    read_all(&mut model);
    let filler = |at: usize| format!("---\ntool: tool_{at}\nforbids_after: [other]\n{}", "#\n".repeat(9));
    let filled = |edit: bool, last: &str| {
        let middle: String =
            (0..20).map(|at| filler(at).replace("other", if edit { "another" } else { "other" })).collect();
        format!("{middle}---\n{last}")
    };
    policy(&mut model, &filled(false, CONTRACT), "12:10:00");
    against(&mut model, "old", version(&filled(true, OTHER)));
    press(&mut model, "]f dt");
    let seen = screen(&model);
    let rows: Vec<&str> = seen.lines().collect();
    // Two rows stay in sight above it.
    assert!(rows[4].contains("newly blocked"), "{seen}");
    press(&mut model, "[c");
    assert!(screen(&model).contains("no change"), "{}", screen(&model));
}

/// The recording lists no tools, and no call is of those that become visible: they may not be tools.
#[test]
fn changes_of_inferred_tools_are_marked_and_counted_apart() {
    let before = "tool: refund\npreconditions: [{requires_prior_tool: check}]\n";
    let mut model =
        judged(120, 40, "mono", loaded("{tool: other, forbids_after: [other]}"), vec![clean(), refunds()]);
    read_all(&mut model);
    against(&mut model, "git:HEAD", version(before));
    assert!(model.all_changes().next().is_some() && model.all_changes().all(|(_, change)| change.inferred));
    assert_eq!(model.basis.changes.counts(), (2, 2), "nothing changed that anybody offered");
    press(&mut model, "8 z");
    let screen = screen(&model);
    for said in
        ["newly visible: 5 times, inferred", "inferred", "2 sessions unchanged; inferred tools 5 times"]
    {
        assert!(screen.contains(said), "{said}\n{screen}");
    }
    assert!(!screen.contains("primary"), "{screen}");
    press(&mut model, "z gg j Enter");
    press(&mut model, "]c");
    assert!(note(&model).contains("newly visible refund (inferred)"), "{}", note(&model));
}
