//! All rules, and what the sessions hold: opened, sorted, sifted, left for a call.

use super::*;
use crate::workbench::effect::Effect;
use crate::workbench::model::survey::SurveyView;
use crate::workbench::update::update;

fn two() -> Model {
    opened(120, 40, "mono", vec![clean(), refunds()])
}

#[test]
fn one_key_says_which_rules_never_fired() {
    for (width, height) in [(120, 40), (80, 24), (58, 14), (40, 8)] {
        let mut model = opened(width, height, "mono", vec![clean(), refunds()]);
        press(&mut model, "O");
        insta::assert_snapshot!(format!("rules_{width}x{height}"), screen(&model));
    }
}

#[test]
fn a_rule_lists_its_findings_and_goes_there() {
    let mut model = two();
    press(&mut model, "O");
    // The rule that fired is after the one that was never asked.
    press(&mut model, "Enter");
    assert_eq!(note(&model), "this rule has no findings");
    let effects = press(&mut model, "yr");
    assert!(format!("{effects:?}").contains("contracts/issue_refund.yaml#/forbids_after/0"), "{effects:?}");
    let effects = press(&mut model, "j e");
    assert_eq!(format!("{effects:?}"), "[Edit(contracts/issue_refund.yaml:4)]");
    press(&mut model, "Enter");
    assert!(
        screen(&model).contains("Findings of Eligibility must be checked for the same order"),
        "{}",
        screen(&model)
    );
    assert!(screen(&model).contains("1/1"));
    press(&mut model, "q");
    assert!(screen(&model).contains("Rules 2: 1 without findings (1 never checked)"), "{}", screen(&model));
    press(&mut model, "Enter Enter");
    assert_eq!((model.place.open, at(&model).as_str()), (1, "T2.2 issue_refund"));
    assert!(model.dialog.overlays.is_empty());
}

#[test]
fn rules_are_sorted_and_sifted() {
    let mut model = two();
    press(&mut model, "O S");
    let first = |model: &Model| match model.dialog.top::<SurveyView>() {
        Some(view) => view.row().unwrap().name.clone(),
        _ => panic!("no list of rules"),
    };
    assert!(screen(&model).contains(", sorted by findings"), "{}", screen(&model));
    assert_eq!(first(&model), "Eligibility must be checked for the same order");
    let mut orders = Vec::new();
    for _ in 0..6 {
        press(&mut model, "S");
        orders.push(
            screen(&model).lines().find_map(|line| {
                Some(line.split(", sorted by ").nth(1)?.split_whitespace().next()?.to_owned())
            }),
        );
    }
    let orders: Vec<_> = orders.iter().map(|order| order.as_deref().unwrap_or("-")).collect();
    assert_eq!(orders, ["stopped", "violated", "calls", "sessions", "name", "-"]);
    press(&mut model, "/");
    typed(&mut model, "eligib");
    press(&mut model, "Enter");
    assert!(screen(&model).contains("1/1"), "{}", screen(&model));
    press(&mut model, "/");
    typed(&mut model, "ility nothing");
    assert!(screen(&model).contains("none passes the filter"), "{}", screen(&model));
}

#[test]
fn tools_without_a_rule_have_a_list() {
    let mut model = two();
    press(&mut model, "O t");
    let shown = screen(&model);
    assert!(shown.contains("Tools without a rule, 1 of 3") && shown.contains("1  lookup_order"), "{shown}");
    press(&mut model, "Enter");
    assert_eq!((model.place.open, at(&model).as_str()), (0, "T1.1 lookup_order"));
    press(&mut model, "O Shift-Tab Tab");
    assert!(screen(&model).contains("Rules 2"), "{}", screen(&model));
}

#[test]
fn the_inventory_goes_to_the_first_call() {
    let mut model = two();
    for (width, height) in [(120, 40), (80, 24), (58, 14), (40, 8)] {
        let mut model = opened(width, height, "mono", vec![clean(), refunds()]);
        press(&mut model, "I");
        insta::assert_snapshot!(format!("inventory_{width}x{height}"), screen(&model));
    }
    press(&mut model, "I");
    assert!(
        screen(&model).contains("2  issue_refund") && screen(&model).contains("stopped 1"),
        "{}",
        screen(&model)
    );
    press(&mut model, "o");
    assert_eq!((model.place.open, at(&model).as_str()), (1, "T2.1 issue_refund"));
    let mut titles = Vec::new();
    press(&mut model, "I");
    for _ in 0..9 {
        titles.push(
            screen(&model)
                .lines()
                .find_map(|line| Some(line.split("Inventory: ").nth(1)?.split([' ', ',']).next()?.to_owned()))
                .unwrap(),
        );
        press(&mut model, "t");
    }
    assert_eq!(titles, ["tools", "programs", "where", "files", "hosts", "not", "projects", "days", "tools"]);
    press(&mut model, "Shift-Tab Shift-Tab Shift-Tab");
    assert!(screen(&model).contains("(not recorded)"), "{}", screen(&model));
    press(&mut model, "o");
    assert_eq!(model.place.open, 0, "a row of sessions goes to the first of them");
}

/// Each row of each list asks for the sessions that it counts, in the language of the filter; the next adds to it.
#[test]
fn enter_lists_the_sessions_that_a_row_counts() {
    use rulestep_base::session::Session;
    let session = |id: &str, tool: &str, arguments: &str, at: i64, project: Option<&str>| -> Session {
        let mut made = Builder::new(
            id,
            Origin { file: format!("{id}.json").into(), index: 0, format: "native", line: 1 },
        );
        if let Some(project) = project {
            made.context("project", serde_json::json!(project));
        }
        made.said("user", Body::text("go"), Some(at));
        made.response(None, Body::MISSING, Some(at));
        made.call(Some("c"), tool, Body::text(arguments), Some(at));
        made.result(Some("c"), Body::text("done"), Mark::default(), None);
        made.finish()
    };
    const DAY: i64 = 86_400_000;
    let mut sessions = vec![
        session("one", "bash", r#"{"command": "cargo test --all"}"#, 20_000 * DAY, Some("/work/a b")),
        session(
            "two",
            "bash_output",
            r#"{"url": "https://example.com/x?q=1"}"#,
            20_001 * DAY,
            Some("/work/a b/c"),
        ),
        session("three", "Read*", r#"{"file_path": "src/it's \\"a\\".rs"}"#, 20_001 * DAY + 5, None),
        session("four", "bash", r#"{"file_path": "src/lib.rs"}"#, 20_002 * DAY - 1, None),
    ];
    let mut broken = session("five", "bash", "{}", 0, None);
    broken.began = None;
    sessions.push(broken);
    let mut rows = 0;
    for list in 0..8 {
        let mut at = 0;
        loop {
            let mut model = opened(120, 40, "mono", sessions.clone());
            press(&mut model, "I");
            for _ in 0..list {
                press(&mut model, "t");
            }
            let Some(view) = model.dialog.top_mut::<SurveyView>() else { panic!("a list") };
            if at >= view.shown.len() {
                break;
            }
            view.list.cursor = at;
            let row = view.row().unwrap().clone();
            // No filter asks where files are, or what is not known.
            if row.term.is_none() {
                assert!(matches!(list, 2 | 5), "{}", row.name);
                at += 1;
                continue;
            }
            press(&mut model, "Enter");
            assert!(model.dialog.overlays.is_empty() && model.place.focus == Pane::Sessions);
            let filter = model.archive.table.filter.text().to_owned();
            let listed: Vec<usize> = model.scope().collect();
            let first = row.first.as_ref().unwrap();
            let counted = model.entry_of(first).unwrap();
            assert!(listed.contains(&counted), "{filter} {}: {listed:?}", row.name);
            // Of tools, projects and days it is exactly those.
            match row.numbers.as_slice() {
                [sessions, _] if list > 5 => assert_eq!(listed.len() as u64, *sessions, "{filter}"),
                [calls, ..] if list == 0 => assert_eq!(listed.len() as u64, *calls, "{filter}"),
                _ => {}
            }
            assert!(note(&model).ends_with("listed; f changes the filter"), "{}", note(&model));
            press(&mut model, "f");
            assert_eq!(model.dialog.prompt.as_ref().unwrap().input.value(), filter, "it can be edited");
            (at, rows) = (at + 1, rows + 1);
        }
    }
    assert!(rows >= 10, "{rows}");
    // The next one adds to it.
    let mut model = opened(120, 40, "mono", sessions);
    press(&mut model, "I Enter I t t t t t t Enter");
    let filter = model.archive.table.filter.text().to_owned();
    assert!(filter.starts_with("tool:") && filter.contains("project:"), "{filter}");
    press(&mut model, "I Enter I Enter");
    assert_eq!(model.archive.table.filter.text().matches("tool:").count(), 1, "{filter}");
}

#[test]
fn without_a_policy_there_is_an_inventory_and_no_rule() {
    let mut model = judged(100, 30, "mono", loaded("tool: [broken"), vec![refunds()]);
    press(&mut model, "O");
    assert!(screen(&model).contains("no policy is loaded, so there are no rules"), "{}", screen(&model));
    press(&mut model, "q I");
    let shown = screen(&model);
    assert!(shown.contains("2  issue_refund") && !shown.contains("stopped"), "{shown}");
}

/// While sessions are counted the list says of how many it speaks, and a newer question voids the older answer.
#[test]
fn what_is_not_counted_yet_is_said() {
    let mut model = two();
    let effects = update(&mut model, Msg::Key(Key::char('O')));
    let [Effect::Survey(first)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(screen(&model).contains("(counted 0 of 2 sessions)"), "{}", screen(&model));
    assert!(screen(&model).contains("never checked so far"), "{}", screen(&model));
    // Nothing is asked for twice.
    assert!(update(&mut model, Msg::Key(Key::char('j'))).is_empty());
    let effects = feed(
        &mut model,
        Msg::Policy {
            loaded: Box::new(loaded("tool: lookup_order\npreconditions: [{requires_prior_tool: x}]\n")),
            at: "now".to_owned(),
        },
    );
    assert!(effects.is_empty(), "{effects:?}");
    let shown = screen(&model);
    assert!(shown.contains("Rules 1: all of them have findings") && !shown.contains("counted"), "{shown}");
    let old = Msg::Survey { number: first.number, counted: 2, survey: Arc::default(), findings: Vec::new() };
    update(&mut model, old);
    assert_eq!(screen(&model), shown);
}

/// A misspelt tool stops every call that needs it, and the list of problems says so.
#[test]
fn what_recordings_say_against_the_policy_is_a_problem() {
    let mut model = two();
    let typo = "tool: issue_refund\npreconditions: [{requires_prior_tool: check_eligibilty}]\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(typo)), at: "now".to_owned() });
    press(&mut model, "!");
    let shown = screen(&model);
    assert!(
        shown.contains("unknown_tool") && shown.contains("`check_eligibility`, which is called once?"),
        "{shown}"
    );
    let right = typo.replace("eligibilty", "eligibility");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&right)), at: "now".to_owned() });
    assert!(!screen(&model).contains("unknown_tool"), "{}", screen(&model));
}

/// A session that is read again is counted again, while the list stays open.
#[test]
fn the_list_follows_the_recordings() {
    let mut model = two();
    press(&mut model, "O S S S");
    read_whole(&mut model, "sessions/clean.json", Vec::new(), Vec::new(), (1, 1));
    read_all(&mut model);
    press(&mut model, "q I");
    assert!(!screen(&model).contains("lookup_order"), "{}", screen(&model));
}

/// The filter of the list of sessions is the scope; its order is not.
#[test]
fn the_filter_of_the_sessions_is_the_scope() {
    let mut model = two();
    press(&mut model, "I");
    assert!(screen(&model).contains("lookup_order"), "{}", screen(&model));
    press(&mut model, "q f");
    typed(&mut model, "is:stopped");
    press(&mut model, "Enter I");
    let shown = screen(&model);
    assert!(
        shown.contains("Inventory: tools in 1 of 2 sessions") && !shown.contains("lookup_order"),
        "{shown}"
    );
    press(&mut model, "q O");
    assert!(screen(&model).contains("never checked) in 1 of 2 sessions"), "{}", screen(&model));
    press(&mut model, "q f Ctrl-u Enter");
    press(&mut model, "O q");
    let number = model.work.survey.as_ref().unwrap().number;
    crate::workbench::update::table::sort(&mut model, "stopped").unwrap();
    press(&mut model, "O");
    assert_eq!(model.work.survey.as_ref().unwrap().number, number, "sorted anew is not counted anew");
}

/// What could not be read is not in the numbers, and the list says so.
#[test]
fn files_that_cannot_be_read_are_said() {
    let mut model = two();
    press(&mut model, "O");
    let told = Diagnostic::error(code::NOT_A_SESSION, "not JSON").in_file("sessions/clean.json");
    read_whole(&mut model, "sessions/clean.json", Vec::new(), vec![told], (1, 1));
    read_all(&mut model);
    assert!(screen(&model).contains("not counted: 1 unreadable file"), "{}", screen(&model));
}
