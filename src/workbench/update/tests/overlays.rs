//! Bodies, findings and help: opened, searched, sifted, left.

use super::*;

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
    assert!(screen(&model).contains("none passes the filter"));
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
    assert_eq!(format!("{effects:?}"), "[Quit]");
}

#[test]
fn a_repeated_overlay_stays_in_the_findings_it_came_from() {
    let mut model = model();
    press(&mut model, "F");
    read_part(&mut model, "more.json", vec![Arc::new(refunds())], Vec::new(), (3, 3));
    let Some(Overlay::Findings(view)) = model.dialog.overlays.last() else { panic!("the list is open") };
    assert_eq!(view.rows.len(), 2, "what was judged meanwhile is in it");
}
