//! Bodies, findings and help: opened, searched, sifted, left.

use super::*;
use crate::workbench::popup::findings::FindingsView;
use crate::workbench::popup::help::HelpView;
use crate::workbench::popup::problems::ProblemsView;
use crate::workbench::rows::Rows;

#[test]
fn bodies_have_paths_to_copy() {
    let mut model = model();
    press(&mut model, "Down b");
    assert!(screen(&model).contains("6 Decision") || screen(&model).contains("check_eligibility result"));
    press(&mut model, "j j");
    let effects = press(&mut model, "yp");
    assert_eq!(format!("{effects:?}"), r#"[Copy(path: "$.reason")]"#);
    let effects = press(&mut model, "yj");
    assert_eq!(format!("{effects:?}"), r#"[Copy(JSON: "\"within_policy\"")]"#);
    press(&mut model, "gg Space");
    assert!(screen(&model).contains("{ … 2 keys }"));
    press(&mut model, "/");
    typed(&mut model, "WITHIN");
    press(&mut model, "Enter");
    let effects = press(&mut model, "yp");
    assert_eq!(format!("{effects:?}"), r#"[Copy(path: "$.reason")]"#, "the search unfolded it");
    press(&mut model, "]b");
    assert!(screen(&model).contains("T2 user"));
    press(&mut model, "q");
    assert!(model.dialog.overlays.is_empty());
    assert!(matches!(model.row().unwrap().kind, RowKind::Message(_)), "the cursor went along");
}

#[test]
fn findings_are_filtered_grouped_and_visited() {
    let mut model = opened(120, 40, "mono", vec![clean(), refunds()]);
    press(&mut model, "F");
    assert!(screen(&model).contains("resource_unmatched"));
    press(&mut model, "/");
    typed(&mut model, "refund-1 nothing");
    assert!(screen(&model).contains("No finding passes the filter"));
    press(&mut model, "Ctrl-u");
    typed(&mut model, "ISSUE unmatched");
    press(&mut model, "Enter t");
    assert!(screen(&model).contains("Findings by rule"));
    let effects = press(&mut model, "yr");
    assert!(
        format!("{effects:?}").contains("contracts/issue_refund.yaml#/preconditions/0"),
        "{effects:?} {}",
        screen(&model)
    );
    press(&mut model, "Enter");
    assert_eq!((model.place.open, at(&model).as_str()), (1, "T2.2 issue_refund"));
    assert!(model.dialog.overlays.is_empty());
}

#[test]
fn searching_goes_around_and_gives_up() {
    let mut model = model();
    press(&mut model, "gg /");
    typed(&mut model, "ord-124");
    assert_eq!(model.list(Pane::Transcript).cursor, 4, "while typing");
    press(&mut model, "Enter");
    assert_eq!(note(&model), "1 of 2");
    press(&mut model, "n");
    assert_eq!((at(&model).as_str(), note(&model)), ("T2.2 issue_refund", "2 of 2"));
    press(&mut model, "n");
    assert_eq!(model.list(Pane::Transcript).cursor, 4);
    assert_eq!(note(&model), "1 of 2, found again from the start");
    press(&mut model, "N");
    assert_eq!(at(&model), "T2.2 issue_refund");
    press(&mut model, "/");
    typed(&mut model, "zzz");
    press(&mut model, "Esc");
    assert_eq!(at(&model), "T2.2 issue_refund");
    assert_eq!(model.dialog.query.as_deref(), Some("ord-124"));
    press(&mut model, "Esc");
    assert_eq!(model.dialog.query, None);
    press(&mut model, "n");
    assert!(note(&model).starts_with("there is no search to repeat"));
}

#[test]
fn help_runs_what_it_lists() {
    let mut model = model();
    press(&mut model, "? /");
    typed(&mut model, "unzoom");
    press(&mut model, "Enter Enter");
    assert!(model.place.zoom && model.dialog.overlays.is_empty());
    press(&mut model, "? ?");
    assert!(model.dialog.overlays.is_empty());
    let effects = press(&mut model, "q");
    assert!(effects.is_empty() && !model.place.zoom, "the zoom is closed first");
    let effects = press(&mut model, "q");
    assert_eq!(format!("{effects:?}"), "[Quit]");
}

/// Rows of help take several lines where they wrap, so a screen has fewer rows than lines.
#[test]
fn paging_skips_no_row_of_help() {
    let every = |model: &Model| {
        let Some(view) = model.dialog.top::<HelpView>() else { panic!("help is open") };
        Rows::len(view, model)
    };
    for (width, height) in [(80, 24), (58, 30), (40, 24), (120, 40)] {
        for (page, back) in [("PgDn", "PgUp"), ("Ctrl-d", "Ctrl-u")] {
            let mut model = opened(width, height, "mono", vec![refunds()]);
            press(&mut model, "?");
            let (all, mut seen) = (0..every(&model), std::collections::BTreeSet::new());
            for keys in [page, back] {
                loop {
                    let list = model.dialog.popup().unwrap().list();
                    seen.extend((list.top..all.end).take_while(|at| is_whole(&model, *at)));
                    press(&mut model, keys);
                    if model.dialog.popup().unwrap().list() == list {
                        break;
                    }
                }
                assert_eq!(seen.len(), all.len(), "{width}x{height} {keys}");
                seen.clear();
            }
        }
    }
}

/// Whether all lines of a row of the topmost popup are on the screen.
fn is_whole(model: &Model, at: usize) -> bool {
    let window = model.dialog.popup().unwrap();
    let space = model.overlay_space(window.list());
    (space.window.start..=at).map(|row| window.height(model, row, &space)).sum::<usize>()
        <= space.window.len()
}

/// Cases that cannot be judged because of an error in the policy are one row after it, which says so.
#[test]
fn what_follows_from_an_error_is_said_after_it() {
    let mut model = model();
    let broken = "tool: [refund\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(broken)), at: "12:05:00".to_owned() });
    let follow = |case: &str| {
        Diagnostic::error(code::BAD_REFERENCE, crate::workspace::cases::NOT_LOADED).in_file(case)
    };
    model.basis.cases.problems = vec![follow("a.case.yaml"), follow("b.case.yaml")];
    press(&mut model, "!");
    let Some(view) = model.dialog.top::<ProblemsView>() else { panic!("the list is open") };
    let codes: Vec<&str> = view.rows.iter().map(|row| row.code.as_str()).collect();
    assert_eq!(codes.iter().filter(|code| **code == "bad_reference").count(), 1, "{codes:?}");
    assert_ne!(codes[0], "bad_reference");
    let said = "2 cases cannot be judged until the policy loads, because of the errors above";
    assert!(view.rows.iter().any(|row| row.message == said), "{codes:?}");
}

#[test]
fn a_repeated_overlay_stays_in_the_findings_it_came_from() {
    let mut model = model();
    press(&mut model, "F");
    read_part(&mut model, "more.json", vec![Arc::new(refunds())], Vec::new(), (3, 3));
    let Some(view) = model.dialog.top::<FindingsView>() else { panic!("the list is open") };
    assert_eq!(view.rows.len(), 2, "what was judged meanwhile is in it");
}

#[test]
fn help_has_a_legend_and_finds_its_words() {
    let mut model = model();
    press(&mut model, "? G");
    assert!(screen(&model).contains("Marks") && screen(&model).contains("Colours"), "{}", screen(&model));
    for (words, found) in [
        ("differs from the recording", "\u{2260}"),
        ("marks stopped session", "\u{25a0}"),
        ("verdict.deny", "A call that was stopped"),
        ("next-finding", "]f"),
        ("go to bookmark", "'"),
    ] {
        press(&mut model, "/ Ctrl-u");
        typed(&mut model, words);
        assert!(screen(&model).contains(found), "{words}: {}", screen(&model));
        press(&mut model, "Enter");
    }
    press(&mut model, "/ Ctrl-u");
    typed(&mut model, "verdict.deny");
    press(&mut model, "Enter Enter");
    assert_eq!(note(&model), "this row explains what is on the screen; there is nothing to run");
    press(&mut model, "/ Ctrl-u");
    typed(&mut model, "shadow enforce");
    press(&mut model, "Enter Enter");
    assert_eq!(model.basis.mode, Mode::Shadow, "Enter runs the row");
    press(&mut model, "?");
    press(&mut model, "/");
    typed(&mut model, "no row has these");
    assert!(screen(&model).contains("No row has these words"));
}

#[test]
fn q_asks_once_before_what_ifs_of_other_sessions_are_lost() {
    let mut model = model();
    press(&mut model, "xd }");
    assert!(press(&mut model, "q").is_empty());
    assert!(
        note(&model).starts_with("what-ifs of 1 other session would be lost; q again quits"),
        "{}",
        note(&model)
    );
    press(&mut model, "j");
    assert!(press(&mut model, "q").is_empty(), "after another key it asks again");
    assert_eq!(format!("{:?}", press(&mut model, "q")), "[Quit]");
    let mut model = model_with_what_if();
    assert_eq!(format!("{:?}", press(&mut model, "Ctrl-c")), "[Quit]", "that one quits at once");
    assert!(press(&mut model, ":").is_empty());
    typed(&mut model, "q");
    assert!(press(&mut model, "Enter").is_empty(), "by name it asks as well");
    press(&mut model, ":");
    typed(&mut model, "q");
    assert_eq!(format!("{:?}", press(&mut model, "Enter")), "[Quit]");
}

fn model_with_what_if() -> Model {
    let mut model = model();
    press(&mut model, "xd }");
    model
}

#[test]
fn a_decision_is_copied_for_a_ticket() {
    let mut model = model();
    press(&mut model, "]f");
    let effects = press(&mut model, "ym");
    let [crate::workbench::effect::Effect::Copy { text, what: "Markdown" }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    for part in [
        "##### \u{2717} denied: `issue_refund(order_id: \"ORD-124\"",
        "- Rule: `Eligibility must be checked for the same order`, `contracts/issue_refund.yaml:4",
        "What would change it",
        "requires_prior_tool: check_eligibility",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    press(&mut model, "xn");
    typed(&mut model, "check_eligibility {}");
    press(&mut model, "Enter k");
    let effects = press(&mut model, "ym");
    assert!(
        format!("{effects:?}").contains("not the session as it was recorded but a what-if"),
        "{effects:?}"
    );
    press(&mut model, "yc");
    assert_eq!(note(&model), "a what-if is in no file, so no command reproduces it; save it as a case");
}

/// Long strings are wrapped at the width of the screen, whatever that becomes.
#[test]
fn a_long_string_fills_the_rows_of_the_screen() {
    let mut made = Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    made.response(None, Body::MISSING, None);
    let content = serde_json::json!({"content": "word ".repeat(400)}).to_string();
    made.call(Some("c"), "Write", Body::text(content), None);
    let mut model = opened(80, 24, "mono", vec![made.finish()]);
    press(&mut model, "gg b");
    for (width, height) in [(80, 24), (120, 40), (58, 14), (80, 24)] {
        feed(&mut model, Msg::Resize(ratatui::layout::Size::new(width, height)));
        press(&mut model, "gg j");
        let shown = screen(&model);
        let rows: Vec<&str> = shown.lines().filter(|line| line.contains("word word")).collect();
        let text =
            |row: &str| row.split('"').next_back().unwrap().trim_matches(|c: char| !c.is_alphabetic()).len();
        assert!(rows.len() > 4, "{shown}");
        for row in rows.iter().skip(1).filter(|row| !row.contains('"')) {
            assert!(text(row) + 6 + 5 + 4 > usize::from(width) - 4, "{shown}");
        }
    }
}
