//! Pointing at a call: rules about it, the file as it would be, the write and its undoing.

use std::fs;

use super::*;
use crate::workbench::effect::Effect;
use crate::workbench::model::suggest::{FileWrite, SuggestView};
use crate::workbench::run::suggest::write;

/// A session in which an order is looked up before it is closed, apart from the last one.
fn orders() -> Vec<Session> {
    let one = |number: usize| {
        let origin =
            Origin { file: format!("sessions/{number}.json").into(), index: 0, format: "native", line: 1 };
        let mut made = Builder::new(format!("order-{number}"), origin);
        made.said("user", Body::text(format!("Close order {number}")), None);
        let mut call = |id: &str, tool: &str, order: String| {
            made.response(None, Body::MISSING, None);
            made.call(Some(id), tool, Body::text(format!("{{\"order_id\": \"{order}\"}}")), None);
            made.result(Some(id), Body::text("{\"ok\": true}"), Mark::default(), None);
        };
        let other = if number == 11 { "ORD-0".to_owned() } else { format!("ORD-{number}") };
        call("a", "check_eligibility", other);
        call("b", "close_order", format!("ORD-{number}"));
        made.finish()
    };
    (0..12).map(one).collect()
}

fn pointed(policy: &str) -> Model {
    let mut model = judged(120, 40, "mono", loaded(policy), orders());
    model.basis.paths = vec!["contracts".to_owned()];
    model
}

fn view(model: &Model) -> &SuggestView {
    let Some(view) = model.dialog.top::<SuggestView>() else { panic!("no rules are shown") };
    view
}

fn sentences(model: &Model) -> Vec<(&str, u64)> {
    let rows = view(model).rows.as_ref().unwrap();
    rows.iter().map(|row| (row.sentence.as_str(), row.proposal.suggestion.against)).collect()
}

fn written(effects: &[Effect]) -> FileWrite {
    let [Effect::Write { write, .. }] = effects else { panic!("{effects:?}") };
    (**write).clone()
}

#[test]
fn a_call_has_rules_those_that_none_breaks_first() {
    let mut model = pointed(CONTRACT);
    press(&mut model, "2 G a");
    assert_eq!(
        sentences(&model),
        [
            ("close_order needs an earlier check_eligibility", 0),
            ("close_order runs at most once per session", 0),
            ("close_order needs an earlier check_eligibility with the same order_id", 1),
        ]
    );
    insta::assert_snapshot!("suggest_120x40", screen(&model));
    press(&mut model, "j j");
    assert!(screen(&model).contains("stops 1 recorded call; 1 of them allowed now"), "{}", screen(&model));
    // From the call that breaks it, this is said.
    press(&mut model, "q } } } } } } } } } } } 2 G a j j");
    assert!(screen(&model).contains("stops 1 recorded call, this one among them"), "{}", screen(&model));
}

/// Beside the list, where there is room, is what the rule under the cursor would stop: what is allowed now first.
#[test]
fn the_calls_that_a_rule_would_newly_stop_follow_the_cursor() {
    let mut sessions = orders();
    let again = |id: &str, tools: &[&str]| {
        let origin =
            Origin { file: format!("sessions/{id}.json").into(), index: 0, format: "native", line: 1 };
        let mut made = Builder::new(id, origin);
        made.said("user", Body::text(format!("Again {id}")), None);
        for tool in tools {
            made.response(None, Body::MISSING, None);
            made.call(Some(tool), tool, Body::text("{\"order_id\": \"ORD-900\"}"), None);
            made.result(Some(tool), Body::text("{}"), Mark::default(), None);
        }
        made.finish()
    };
    // The policy stops the first of them already.
    sessions.extend([again("known", &["freeze", "close_order"]), again("new", &["close_order"])]);
    let policy = "{rules: [{type: never_after, trigger: freeze, forbidden: close_order}]}";
    let mut model = judged(120, 40, "mono", loaded(policy), sessions);
    model.basis.paths = vec!["contracts".to_owned()];
    press(&mut model, "2 G a");
    let pane = |model: &Model| {
        let seen = screen(model);
        let from = seen.lines().position(|line| line.contains("8 Stopped by this rule")).unwrap();
        seen.lines().skip(from).map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    assert!(pane(&model).contains("no recorded call"), "{}", screen(&model));
    let wanted = "close_order needs an earlier check_eligibility";
    let at = sentences(&model).iter().position(|(sentence, _)| *sentence == wanted).unwrap();
    press(&mut model, &"j ".repeat(at));
    let first = pane(&model);
    let rows: Vec<&str> = first.lines().filter(|line| line.contains("Again ")).collect();
    assert!(
        matches!(rows.as_slice(), [new, known] if new.contains("✗ T1.1 Again new") && known.contains("– T2.1 Again known")),
        "{first}"
    );
    // Where there is no room for a pane, they stand in the list.
    feed(&mut model, Msg::Resize(ratatui::layout::Size::new(80, 24)));
    let seen = screen(&model);
    assert!(!seen.contains("Stopped by this rule") && seen.contains("✗ T1.1 Again new"), "{seen}");
}

#[test]
fn three_keys_write_a_rule_and_one_takes_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = pointed(CONTRACT);
    let path = folder.path().to_str().unwrap().to_owned();
    model.basis.paths = vec![path.clone()];
    press(&mut model, "2 G a Enter");
    assert!(screen(&model).contains("Not written yet: new file"), "{}", screen(&model));
    let effects = press(&mut model, "Enter");
    let done = written(&effects);
    assert_eq!(&*done.file, format!("{path}/close_order.yaml"));
    let text = done.after.clone().unwrap();
    assert!(
        text.starts_with("tool: close_order\npreconditions:\n  # close_order needs an earlier"),
        "{text}"
    );
    let told = write(done.clone(), false);
    assert_eq!(fs::read_to_string(&*done.file).unwrap(), *text);
    let effects = feed(&mut model, told);
    assert!(matches!(effects.as_slice(), [Effect::LoadPolicy]), "{effects:?}");
    assert!(model.dialog.overlays.is_empty() && note(&model).contains("u takes it back"), "{}", note(&model));
    let effects = press(&mut model, "u");
    feed(&mut model, write(written(&effects), true));
    assert!(!fs::exists(&*done.file).unwrap());
    press(&mut model, "u");
    assert_eq!(note(&model), "there is no written rule to undo");
}

#[test]
fn a_contract_that_is_there_keeps_its_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let contract = "# Orders.\r\ntool:   close_order   # the last step\r\npreconditions:\r\n  - {requires_step_count: {gte: 0}}\r\n\r\n# end\r\n";
    let mut model = judged(120, 40, "mono", loaded(contract), orders());
    model.basis.paths = vec!["contracts".to_owned()];
    press(&mut model, "2 G a Enter");
    let mut done = written(&press(&mut model, "Enter"));
    assert_eq!((&*done.file, done.before.as_deref()), ("contracts/issue_refund.yaml", Some(contract)));
    let file = folder.path().join("close.yaml");
    fs::write(&file, contract).unwrap();
    done.file = file.to_str().unwrap().into();
    feed(&mut model, write(done.clone(), false));
    let now = fs::read_to_string(&file).unwrap();
    let kept: Vec<&str> = now.lines().filter(|line| contract.lines().any(|known| known == *line)).collect();
    assert_eq!(kept, contract.lines().collect::<Vec<_>>(), "{now}");
    assert!(now.contains("requires_prior_tool: check_eligibility"), "{now}");
    let back = written(&press(&mut model, "u"));
    // Somebody wrote into it meanwhile: nothing of theirs is lost.
    fs::write(&file, format!("{now}# mine\n")).unwrap();
    let Msg::Note { failed: true, text } = write(back.clone(), true) else { panic!("it was written over") };
    assert!(text.contains("was changed meanwhile"), "{text}");
    fs::write(&file, now).unwrap();
    assert!(matches!(write(back, true), Msg::Written { .. }));
    assert_eq!(fs::read(&file).unwrap(), contract.as_bytes());
}

#[test]
fn two_calls_are_the_subject_when_one_is_marked() {
    let mut model = pointed(CONTRACT);
    press(&mut model, "2 G Space");
    assert!(note(&model).starts_with("close_order is chosen; a on another call"), "{}", note(&model));
    press(&mut model, "k k a");
    assert_eq!(
        view(&model).wish.subject.earlier.as_deref().zip(Some(&*view(&model).wish.subject.tool)),
        Some(("check_eligibility", "close_order"))
    );
    assert!(
        sentences(&model).contains(&("check_eligibility never runs after close_order", 0)),
        "{:?}",
        sentences(&model)
    );
}

#[test]
fn what_cannot_be_written_says_why() {
    for (paths, stale, why) in [
        (vec!["git:HEAD:contracts"], false, "a version from git is not changed"),
        (vec!["contracts/*.yaml"], false, "named by a pattern"),
        (vec![], false, "no policy is open"),
        (vec!["contracts"], true, "do not load just now"),
    ] {
        let mut model = pointed(CONTRACT);
        model.basis.paths = paths.into_iter().map(str::to_owned).collect();
        model.basis.rules.stale = stale;
        let effects = press(&mut model, "2 G a Enter");
        assert!(effects.is_empty() && note(&model).contains(why), "{}", note(&model));
    }
}

#[test]
fn an_edited_draft_must_load() {
    let mut model = pointed(CONTRACT);
    press(&mut model, "2 G a Enter");
    let effects = press(&mut model, "e");
    let [Effect::Compose { ask, text }] = effects.as_slice() else { panic!("{effects:?}") };
    let edited = text.replace("preconditions", "preconditoins");
    feed(&mut model, Msg::Composed { ask: ask.clone(), text: edited });
    assert!(note(&model).contains("the edited text is not taken"), "{}", note(&model));
    let edited = format!("{text}description: mine\n");
    feed(&mut model, Msg::Composed { ask: ask.clone(), text: edited.clone() });
    let done = written(&press(&mut model, "Enter"));
    assert_eq!(done.after.as_deref(), Some(edited.as_str()));
}
