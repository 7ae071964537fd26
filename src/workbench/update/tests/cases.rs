//! The cases beside the policy: counted where everybody sees it, listed, opened, judged again.

use crate::workbench::model::cases::CasesView;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::files::watch::{ChangedFiles, WatchEvent, WatchTargets, Way};
use crate::workbench::effect::Effect;
use crate::workbench::model::cases::{CaseCounts, CaseState};
use crate::workbench::run::headless::Headless;
use crate::workspace::Workspace;

fn header(model: &Model) -> String {
    screen(model).lines().next().unwrap_or_default().to_owned()
}

/// What does not pass is seen at every size, without opening anything; what passes, where there is room.
#[test]
fn what_fails_is_in_sight_at_every_size() {
    for (width, height, told) in [
        (200, 60, "cases ?1 ✗1 –1 ✓1 │"),
        (120, 40, "cases ?1 ✗1 –1 ✓1 │"),
        (80, 24, "cases ?1 ✗1 │"),
        (40, 8, "case ?1 ✗1 │"),
    ] {
        let mut model = opened(width, height, "mono", vec![refunds()]);
        assert!(!header(&model).contains("case"), "{}", header(&model));
        with_cases(&mut model, &CASES);
        assert!(header(&model).contains(told), "{}", header(&model));
    }
    let mut model = opened(30, 5, "mono", vec![refunds()]);
    with_cases(&mut model, &CASES);
    assert!(screen(&model).contains("?1 ✗1"), "{}", screen(&model));
}

/// The counts of the version before are marked until the new ones are there; an older answer does not end that.
#[test]
fn counts_that_may_be_out_of_date_say_so() {
    let mut model = model();
    model.basis.paths = vec!["contracts".to_owned()];
    with_cases(&mut model, &CASES[3..]);
    assert!(header(&model).contains("cases ✓1 │"));
    let touched = WatchEvent::Touched(ChangedFiles { policies: true, sessions: false });
    let effects = feed(&mut model, Msg::Watch(touched));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Cases(2))), "{effects:?}");
    assert!(header(&model).contains("cases ✓1… │"), "{}", header(&model));
    let effects = press(&mut model, "r");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Cases(3))), "{effects:?}");
    feed(&mut model, Msg::Cases { number: 2, cases: Box::default() });
    assert!(model.basis.cases.is_asked(), "the newest answer is still missing");
    feed(&mut model, Msg::Cases { number: 3, cases: Box::default() });
    assert!(!model.basis.cases.is_asked() && !header(&model).contains("case"));
}

#[test]
fn a_case_is_opened_with_its_own_session_and_policy() {
    let mut model = model();
    with_cases(&mut model, &CASES);
    press(&mut model, "j C");
    let seen = screen(&model);
    for told in [
        "1 could not be judged, 1 failed, 1 not exercised, 1 passed",
        "unknown key `decison`",
        "expected decision deny  got allow",
        "expected told no  got nothing",
        "idle  not exercised",
    ] {
        assert!(seen.contains(told), "{told}: {seen}");
    }
    press(&mut model, "Enter");
    assert!(note(&model).contains("could not be judged"), "{}", note(&model));
    // To the second thing that is not as expected.
    press(&mut model, "G");
    for _ in 0..3 {
        press(&mut model, "k");
    }
    assert!(screen(&model).contains("expected told no"));
    press(&mut model, "Enter");
    assert_eq!(note(&model), "turn 2 refund: expected told no, got nothing; q goes back");
    assert_eq!(at(&model), "T2.1 refund");
    let seen = screen(&model);
    assert!(
        header(&model).contains("CASE paid twice") && seen.contains("expected told no  got nothing"),
        "{seen}"
    );
    assert_eq!(model.replay().unwrap().policy().rules().len(), 1);
    press(&mut model, "s");
    assert!(note(&model).contains("a case already"));
    // Fixed while it is open, it stays open; the list shows it as it is now.
    with_cases(&mut model, &[("paid twice", "{call: 2.1, decision: allow}")]);
    assert_eq!(at(&model), "T2.1 refund");
    assert!(!screen(&model).contains("expected told"), "{}", screen(&model));
    // A what-if of it is decided by its policy.
    press(&mut model, "k xd");
    assert_eq!(model.replay().unwrap().summary().deny, 1, "{}", screen(&model));
    press(&mut model, "xu q");
    assert_eq!(at(&model), "T2.1 issue_refund", "back to where the list was opened");
    assert!(!header(&model).contains("CASE"));
}

#[test]
fn the_list_is_filtered_and_stays_at_its_case() {
    let mut model = model();
    with_cases(&mut model, &CASES);
    press(&mut model, "C /");
    typed(&mut model, "checked");
    press(&mut model, "Enter");
    let Some(view) = model.dialog.top::<CasesView>() else { panic!("the list is open") };
    let named: Vec<&str> =
        view.lines.iter().map(|line| &*model.basis.cases.cases[line.case()].name).collect();
    // The rule that failed is called so.
    assert!(named.contains(&"checked first") && !named.contains(&"idle"), "{named:?}");
    press(&mut model, "G");
    with_cases(&mut model, &CASES[2..]);
    let Some(view) = model.dialog.top::<CasesView>() else { panic!("the list is open") };
    let here = view.line().map(|line| model.basis.cases.cases[line.case()].name.clone());
    assert_eq!(here.as_deref(), Some("checked first"));
}

/// The real files, watch and threads: a case that is saved, broken, fixed, and whose policy is broken.
#[test]
fn cases_on_disk_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    const POLICY: &str = "tool: refund\npreconditions: [{requires_prior_tool: check}]\n";
    let case = |decision: &str| {
        format!(
            "policy: refund.yaml\nsession: [{{role: assistant, tool_calls: [{{name: refund, arguments: {{}}}}]}}]\n\
             expect: {{call: 1.1, decision: {decision}}}\n"
        )
    };
    write("refund.yaml", POLICY);
    write("a.json", r#"{"messages": [{"role": "user", "content": "hello"}]}"#);
    // A file is named: cases are looked for beside it.
    let (policy, session) = (vec![path("refund.yaml")], vec![path("a.json")]);
    let workspace =
        Workspace::new(policy.clone(), None, session.clone(), rulestep_recording::Options::default());
    let targets = WatchTargets { policies: policy.clone(), sessions: session };
    let way = Way::Polling(Duration::from_millis(20));
    let mut bench = Headless::start(Arc::new(workspace), Some((targets, way)));
    bench.model.basis.paths = policy;
    let counts = |passed, failed, unreadable| CaseCounts { passed, failed, unreadable, not_exercised: 0 };
    let mut until = |wanted: CaseCounts| {
        for _ in 0..500 {
            bench.settle(Duration::from_millis(20));
            if bench.model.basis.cases.counts() == wanted && !bench.model.basis.cases.is_asked() {
                return bench.model.basis.cases.cases.first().map(|case| case.state.clone());
            }
        }
        panic!("{:?}, not {wanted:?}", bench.model.basis.cases.counts());
    };
    until(counts(0, 0, 0));
    write("first.case.yaml", &case("deny"));
    assert_eq!(until(counts(1, 0, 0)), Some(CaseState::Passed));
    write("first.case.yaml", &case("allow"));
    until(counts(0, 1, 0));
    write("second.case.yaml", "nothing: of the kind\n");
    let state = until(counts(0, 1, 1));
    assert_eq!(state, Some(CaseState::Unreadable("the file holds no case".to_owned())));
    write("second.case.yaml", &case("deny"));
    until(counts(1, 1, 0));
    write("refund.yaml", "tool: [refund\n");
    let state = until(counts(0, 0, 2));
    assert_eq!(state, Some(CaseState::Unreadable("the policy does not load".to_owned())));
    write("refund.yaml", POLICY);
    until(counts(1, 1, 0));
    std::fs::remove_file(folder.path().join("first.case.yaml")).unwrap();
    until(counts(1, 0, 0));
}
