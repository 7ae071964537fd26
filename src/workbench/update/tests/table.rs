//! The list of sessions as a table: filtered, sorted, grouped, searched.

use crate::workbench::popup::findings::FindingsView;
use serde_json::json;

use super::*;
use crate::explore::table::Column;
use crate::workbench::model::hits::HitsView;
use crate::workbench::testing::screen;

/// Noon of the 22nd of November 2026.
const NOW: i64 = 1_795_348_800_000;
const DAY: i64 = 86_400_000;

/// A session of a project, which refunds an order unchecked that many times, and then looks something up.
fn session(id: &str, project: &str, days: i64, refunds: usize) -> Session {
    let origin =
        Origin { file: format!("sessions/{project}.jsonl").into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new(id, origin);
    made.context("project", json!(project));
    made.said("user", Body::text(format!("Help with {id}")), Some(NOW - days * DAY));
    for refund in 0..refunds {
        made.response(None, Body::MISSING, None);
        let (call, arguments) = (format!("r{refund}"), format!(r#"{{"order_id": "ORD-{refund}"}}"#));
        made.call(Some(&call), "issue_refund", Body::text(arguments), None);
        made.result(Some(&call), Body::text("done"), Mark::default(), None);
    }
    made.response(None, Body::MISSING, None);
    made.call(Some("l"), "lookup_order", Body::text(format!(r#"{{"note": "needle of {id}"}}"#)), None);
    made.result(Some("l"), Body::text("first line\nthe haystack is here"), Mark::default(), None);
    made.finish()
}

fn table(width: u16, height: u16) -> Model {
    let sessions = vec![
        session("alpha", "shop", 1, 0),
        session("beta", "shop", 3, 2),
        session("gamma", "bank", 3, 1),
        session("delta", "bank", 40, 0),
    ];
    let mut model = opened(width, height, "mono", sessions);
    model.work.now = NOW;
    model
}

/// The ids of the listed sessions, headings in brackets.
fn listed(model: &Model) -> String {
    let rows = Pane::Sessions.rows(model);
    let row = |at: usize| rows.copied(model, at).unwrap();
    (0..rows.len(model)).map(row).collect::<Vec<_>>().join(" ")
}

fn filtered(model: &mut Model, text: &str) -> String {
    press(model, "f Ctrl-u");
    typed(model, text);
    press(model, "Enter");
    listed(model)
}

fn open_id(model: &Model) -> &str {
    &model.entry().unwrap().name
}

#[test]
fn a_filter_keeps_what_passes_as_it_is_typed() {
    let mut model = table(120, 40);
    press(&mut model, "f");
    assert_eq!(model.place.focus, Pane::Sessions);
    typed(&mut model, "is:stopped");
    assert_eq!(listed(&model), "beta gamma", "while it is typed");
    assert_eq!(open_id(&model), "beta", "what is open is listed");
    assert!(screen(&model).contains("1/2 of 4"), "{}", screen(&model));
    press(&mut model, "Esc");
    assert_eq!(listed(&model), "alpha beta gamma delta", "taken back");
    for (text, expected) in [
        ("project:bank", "gamma delta"),
        ("since:7d", "alpha beta gamma"),
        ("ORD-1", "beta"),
        ("tool:issue_refund !is:stopped", ""),
        ("!tool:issue_refund", "alpha delta"),
        ("rule:eligibility turn:2", "beta"),
        ("", "alpha beta gamma delta"),
    ] {
        assert_eq!(filtered(&mut model, text), expected, "{text}");
    }
    filtered(&mut model, "zzz");
    assert!(screen(&model).contains("none of 4 sessions"), "{}", screen(&model));
}

#[test]
fn a_filter_that_is_none_yet_says_what_is_wrong_and_changes_nothing() {
    let mut model = table(120, 40);
    filtered(&mut model, "project:bank");
    press(&mut model, "f Ctrl-u");
    typed(&mut model, "project:bank is:stoped");
    let shown = screen(&model);
    assert!(shown.contains("at 14: unknown value `is:stoped`; did you mean `is:stopped`?"), "{shown}");
    assert_eq!(listed(&model), "gamma", "as of the last text that was a filter: `project:bank is`");
    press(&mut model, "Enter");
    assert!(model.dialog.prompt.is_some(), "it is not taken");
    press(&mut model, "Esc");
    assert_eq!(listed(&model), "gamma delta");
    // A paste is a filter, too.
    press(&mut model, "f Ctrl-u");
    feed(&mut model, Msg::Paste("is:stopped".to_owned()));
    assert_eq!(listed(&model), "beta gamma");
}

#[test]
fn the_filter_is_the_scope_of_lists_and_jumps() {
    let mut model = table(120, 40);
    filtered(&mut model, "project:bank");
    assert_eq!(model.scope().collect::<Vec<_>>(), [2, 3]);
    press(&mut model, "gg ]s");
    assert_eq!(note(&model), "no session with a stopped call or a violated rule after this one");
    assert_eq!(open_id(&model), "gamma");
    press(&mut model, "}");
    assert_eq!(open_id(&model), "delta");
    press(&mut model, "}");
    assert_eq!(note(&model), "this is the last session");
    press(&mut model, "F");
    let Some(view) = model.dialog.top::<FindingsView>() else { panic!("findings") };
    assert_eq!(view.rows.len(), 1, "of beta none");
    assert!(screen(&model).contains("Findings by session in 2 of 4 sessions"), "{}", screen(&model));
    press(&mut model, "q");
    // Another policy: pane 8 lists what changes in these.
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded("tool: other\n")), at: "12:04:31".to_owned() });
    let of = |model: &Model| {
        model.all_changes().map(|(entry, _)| entry).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(of(&model), [2, 3].into(), "{}", screen(&model));
    let last = Pane::Changes.rows(&model).len(&model) - 1;
    let rest = Pane::Changes.rows(&model).text(&model, last).unwrap();
    assert!(
        rest.starts_with("changes of 2 of 4 sessions, as filtered; 2 sessions unchanged in all"),
        "{rest}"
    );
    assert_eq!(filtered(&mut model, "is:changed tool:issue_refund"), "beta gamma");
    assert_eq!(of(&model), [1, 2].into());
    let changed: Vec<&str> = vec!["alpha", "beta", "gamma", "delta"];
    let (with, without) = (filtered(&mut model, "is:changed"), filtered(&mut model, "!is:changed"));
    let both: Vec<&str> = with.split(' ').chain(without.split(' ')).filter(|id| !id.is_empty()).collect();
    assert_eq!(both.len(), changed.len());
    assert!(changed.iter().all(|id| both.contains(id)), "{with}, {without}");
    assert_eq!(filtered(&mut model, ""), "alpha beta gamma delta");
}

#[test]
fn damaged_recordings_are_never_hidden_without_a_word() {
    let mut model = table(120, 40);
    let broken = Diagnostic::error(code::DAMAGED_LINE, "broken").in_file("sessions/unread.jsonl");
    read_part(&mut model, "sessions/unread.jsonl", Vec::new(), vec![broken], (5, 5));
    let torn = Diagnostic::error(code::DAMAGED_LINE, "torn").in_file("sessions/torn.jsonl");
    let session = Session { id: "torn".into(), ..session("torn", "torn", 2, 0) };
    read_part(&mut model, "sessions/torn.jsonl", vec![Arc::new(session)], vec![torn], (6, 6));
    read_all(&mut model);
    // Nobody knows what is in a file that was not read.
    assert_eq!(filtered(&mut model, "project:bank"), "gamma delta sessions/unread.jsonl");
    assert!(screen(&model).contains("1 damaged hidden"), "{}", screen(&model));
    assert_eq!(filtered(&mut model, "file:bank"), "gamma delta");
    assert!(screen(&model).contains("2 damaged hidden"), "{}", screen(&model));
}

#[test]
fn sessions_are_sorted_by_a_column_and_backwards() {
    let mut model = table(120, 40);
    let by = |model: &mut Model, column: &str| {
        press(model, "S");
        typed(model, column);
        press(model, "Enter");
        listed(model)
    };
    assert_eq!(by(&mut model, "calls"), "beta gamma alpha delta", "the most first");
    assert_eq!(open_id(&model), "alpha", "what is open stays open");
    assert_eq!(model.list(Pane::Sessions).cursor, 2, "under the cursor");
    assert_eq!(by(&mut model, "calls"), "alpha delta gamma beta", "again is backwards");
    assert_eq!(by(&mut model, "title"), "alpha beta delta gamma");
    assert_eq!(by(&mut model, "when"), "alpha beta gamma delta", "the newest first");
    press(&mut model, "gg j j");
    assert_eq!(open_id(&model), "gamma");
    assert_eq!(by(&mut model, "file"), "alpha beta gamma delta");
}

#[test]
fn sessions_are_grouped_and_groups_are_folded() {
    let mut model = table(120, 40);
    press(&mut model, "1 t t");
    assert_eq!(listed(&model), "2 sessions bank gamma delta 2 sessions shop alpha beta");
    assert_eq!(open_id(&model), "alpha");
    press(&mut model, "gg");
    assert_eq!(open_id(&model), "alpha", "a heading opens nothing");
    press(&mut model, "Enter");
    assert_eq!(listed(&model), "2 sessions bank 2 sessions shop alpha beta");
    assert!(screen(&model).contains("⊞ bank"), "{}", screen(&model));
    press(&mut model, "Space");
    assert_eq!(listed(&model), "2 sessions bank gamma delta 2 sessions shop alpha beta");
    press(&mut model, "Space");
    assert_eq!(listed(&model), "2 sessions bank 2 sessions shop");
    // Jumps look into folded groups, in the order of the list.
    press(&mut model, "2 ]s");
    assert_eq!(open_id(&model), "beta");
    press(&mut model, "[s");
    assert_eq!(open_id(&model), "gamma");
    for (word, expected) in [
        ("day", "1 session 2026-11-21 alpha 2 sessions 2026-11-19 beta gamma 1 session 2026-10-13 delta"),
        (
            "first rule",
            "2 sessions Eligibility must be checked for the same order beta gamma 2 sessions no rule alpha delta",
        ),
        ("verdict", "2 sessions stopped or violated beta gamma 2 sessions nothing stopped alpha delta"),
    ] {
        press(&mut model, "1 t");
        assert!(note(&model).starts_with(&format!("sessions grouped by {word}")), "{}", note(&model));
        assert_eq!(listed(&model), expected);
    }
    press(&mut model, "t");
    assert_eq!(listed(&model), "alpha beta gamma delta");
}

#[test]
fn the_whole_table_has_a_column_for_each_thing_known() {
    let mut model = table(120, 40);
    press(&mut model, "1 z");
    insta::assert_snapshot!("table_120x40", screen(&model));
    filtered(&mut model, "is:stopped");
    press(&mut model, "t");
    insta::assert_snapshot!("table_grouped_120x40", screen(&model));
}

/// Columns are as wide as what is in them, those that are empty go, and the title has the rest.
#[test]
fn columns_are_as_wide_as_what_is_in_them() {
    let heading = |model: &Model| {
        let seen = screen(model);
        let line = seen.lines().find(|line| line.contains("title")).unwrap_or_default();
        line.trim_matches(['║', '│', ' ']).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut model = table(120, 40);
    press(&mut model, "1 z");
    assert_eq!(heading(&model), ["title", "when", "project", "turns", "calls", "stopped", "rules"]);
    // What the filter leaves out has no part in it.
    filtered(&mut model, "!is:stopped");
    assert_eq!(heading(&model), ["title", "when", "project", "turns", "calls"]);
    filtered(&mut model, "");
    // What was chosen is in that order; what is empty goes all the same.
    model.archive.table.columns = vec![Column::Calls, Column::Branch, Column::Stopped, Column::When];
    filtered(&mut model, "");
    assert_eq!(heading(&model), ["title", "calls", "stopped", "when"]);
    // One session in ten has a project and a time: they come last, and leave the title its part.
    let mut sessions: Vec<Session> = (0..60)
        .map(|at| {
            let mut made = Builder::new(
                format!("s{at}"),
                Origin { file: "a.jsonl".into(), index: at, format: "native", line: 1 },
            );
            made.said(
                "user",
                Body::text(format!("{at}: a title of some length that nobody wants to see cut off")),
                None,
            );
            made.response(None, Body::MISSING, None);
            made.call(Some("l"), "lookup_order", Body::text("{}"), None);
            made.finish()
        })
        .collect();
    sessions.extend((0..3).map(|at| session(&format!("t{at}"), "/a/very/long/path/of/a/project", 1, 0)));
    let mut model = opened(100, 40, "mono", sessions);
    press(&mut model, "1 z");
    assert!(screen(&model).contains("0: a title of some length that nobody"), "{}", screen(&model));
}

#[test]
fn the_list_of_columns_says_what_it_is() {
    let mut model = table(120, 40);
    press(&mut model, "S");
    assert!(screen(&model).contains("Sort sessions by"), "{}", screen(&model));
    press(&mut model, "Esc :");
    assert!(screen(&model).contains("Run a command"), "{}", screen(&model));
}

fn hits(model: &Model) -> &HitsView {
    match model.dialog.top::<HitsView>() {
        Some(view) => view,
        _ => panic!("no hits: {}", screen(model)),
    }
}

#[test]
fn all_sessions_are_searched() {
    let mut model = table(120, 40);
    press(&mut model, "g/");
    typed(&mut model, "NEEDLE of");
    press(&mut model, "Enter");
    assert_eq!((hits(&model).rows.len(), hits(&model).sessions, hits(&model).done), (4, 4, (4, 4)));
    let shown = screen(&model);
    assert!(shown.contains("Help with beta") && shown.contains("needle of beta"), "{shown}");
    press(&mut model, "j Enter");
    assert!(model.dialog.overlays.is_empty());
    assert_eq!((open_id(&model), at(&model).as_str()), ("beta", "T3.1 lookup_order"));
    assert_eq!(model.dialog.query.as_deref(), Some("needle of"), "it is marked, and `n` goes on");
    // The list is kept.
    press(&mut model, "g/ Enter");
    assert_eq!(hits(&model).list.cursor, 1);
    press(&mut model, "q Ctrl-o");
    assert_eq!(open_id(&model), "alpha");
    // A line of a result, in what the filter keeps.
    filtered(&mut model, "project:bank");
    press(&mut model, "g/");
    typed(&mut model, "/hay.*here/");
    press(&mut model, "Enter");
    assert_eq!(hits(&model).rows.len(), 2);
    assert_eq!(hits(&model).rows[0].hit.line, "the haystack is here");
    press(&mut model, "q g/");
    typed(&mut model, "/(/");
    press(&mut model, "Enter");
    assert!(screen(&model).contains("is not a regular expression"), "{}", screen(&model));
    press(&mut model, "Ctrl-u");
    typed(&mut model, "nowhere");
    press(&mut model, "Enter");
    assert!(screen(&model).contains("not found in 2 sessions that the filter keeps"), "{}", screen(&model));
}

#[test]
fn an_older_search_answers_nothing() {
    let mut model = table(120, 40);
    let answer = |model: &Model| {
        let session = Arc::clone(model.archive.entries[0].session.as_ref().unwrap());
        let hits = crate::workbench::model::hits::Pattern::parse("needle")
            .unwrap()
            .find_in(&session.session().unwrap());
        vec![(0, 0, session, hits)]
    };
    press(&mut model, "g/");
    typed(&mut model, "needle");
    press(&mut model, "Enter q g/");
    typed(&mut model, "nowhere");
    press(&mut model, "Enter");
    let hits_of = answer(&model);
    feed(&mut model, Msg::Found { number: 1, searched: 1, hits: hits_of });
    assert!(hits(&model).rows.is_empty());
}

/// While sessions come, the list is made again now and then, and at the end.
#[test]
fn sessions_that_come_later_are_listed_by_the_same_rules() {
    let mut model = table(120, 40);
    filtered(&mut model, "is:stopped");
    for number in 0..20 {
        let new = session(&format!("new-{number:02}"), "later", 2, number % 2);
        read_part(&mut model, "sessions/later.jsonl", vec![Arc::new(new)], Vec::new(), (5, 5));
    }
    read_all(&mut model);
    let shown = listed(&model);
    assert_eq!(shown.split(' ').filter(|id| id.starts_with("new-")).count(), 10, "{shown}");
    assert!(shown.starts_with("beta gamma new-01"), "{shown}");
    assert_eq!(open_id(&model), "beta");
}

/// With recordings and no policy no pane is empty, and the screen says what to do.
#[test]
fn without_a_policy_the_panes_say_what_there_is_and_what_to_do() {
    let missing = Diagnostic::error(code::MISSING_FILE, "no policy is named");
    let loaded = rulestep_engine::policy::LoadResult {
        policy: None,
        documents: Vec::new(),
        cases: Vec::new(),
        diagnostics: vec![missing],
    };
    let mut model = judged(120, 40, "mono", loaded, vec![session("beta", "shop", 3, 2)]);
    press(&mut model, "j");
    let shown = screen(&model);
    for said in [
        "no policy hides a tool;",
        "issue_refund 2 calls",
        "nothing is forbidden",
        "no call needs another one",
        "FILE-OR-FOLDER",
    ] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
}

#[test]
fn the_key_that_sorts_turns_the_order_around_when_it_is_pressed_again() {
    let mut model = table(120, 40);
    press(&mut model, "S S");
    let refused = model.dialog.prompt.as_ref().and_then(|prompt| prompt.refused.as_deref());
    assert_eq!(refused, Some("the sessions are in the order of their files; choose a column"));
    typed(&mut model, "calls");
    press(&mut model, "Enter");
    assert_eq!(listed(&model), "beta gamma alpha delta");
    press(&mut model, "S");
    assert!(screen(&model).contains("as they are now, descending; S, or chosen again: ascending"));
    // As a terminal sends it: as text.
    feed(&mut model, Msg::Typed("S".to_owned()));
    assert!(model.dialog.prompt.is_none() && model.dialog.overlays.is_empty(), "{}", screen(&model));
    assert_eq!(listed(&model), "alpha delta gamma beta");
    // What begins the name of a column is typed, whatever it is bound to.
    model.preferences.keymap.bind(crate::workbench::keys::Command::SortSessions, &["t".into()]);
    press(&mut model, "t t");
    assert_eq!(model.dialog.prompt.as_ref().unwrap().input.value(), "sort-sessions t");
}

#[test]
fn a_warning_about_a_whole_recording_is_no_damage() {
    let mut model = table(120, 40);
    let odd = Diagnostic::warning(code::ARGUMENTS_NOT_JSON, "kept as text").in_file("sessions/odd.jsonl");
    let session = Session { id: "odd".into(), ..session("odd", "odd", 2, 0) };
    read_part(&mut model, "sessions/odd.jsonl", vec![Arc::new(session)], vec![odd], (5, 5));
    let lost =
        Diagnostic::lost(code::RESULT_WITHOUT_CALL, rulestep_base::diagnostic::Loss::MayHoldCalls, "whose?");
    let session = Session { id: "lost".into(), ..self::session("lost", "lost", 2, 0) };
    read_part(&mut model, "sessions/lost.jsonl", vec![Arc::new(session)], vec![lost], (6, 6));
    read_all(&mut model);
    assert_eq!(filtered(&mut model, "project:bank"), "gamma delta");
    assert!(screen(&model).contains("1 damaged hidden"), "{}", screen(&model));
    filtered(&mut model, "odd");
    assert!(screen(&model).contains("? 1 problem"), "what is odd is still said\n{}", screen(&model));
}
