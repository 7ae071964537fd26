//! Trying expressions on what is selected, and a field of a result that becomes a condition.

use crate::workbench::model::overlay::BodyView;
use crate::workbench::model::suggest::SuggestView;
use crate::workbench::popup::tester;
use ratatui::layout::Size;

use super::*;
use crate::tester::{Language, State};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::model::tester::TesterView;

fn view(model: &Model) -> &TesterView {
    let Some(view) = model.dialog.top::<TesterView>() else { panic!("{}", screen(model)) };
    view
}

fn state(model: &Model) -> State {
    view(model).answer().expect("an answer").state
}

/// At the first result.
fn at_result(width: u16, height: u16) -> Model {
    let mut model = opened(width, height, "mono", vec![refunds(), clean()]);
    press(&mut model, "Down");
    assert!(matches!(model.row().unwrap().kind, RowKind::Result(_)));
    model
}

#[test]
fn an_expression_is_tried_while_it_is_typed() {
    let key = Command::Test.row().keys[0];
    for (width, height) in [(200, 60), (120, 40), (80, 24), (58, 14), (40, 8)] {
        let mut model = at_result(width, height);
        press(&mut model, key);
        assert_eq!((state(&model), view(&model).expression.language), (State::Refused, Language::JsonPath));
        typed(&mut model, "$.elig");
        assert_eq!(state(&model), State::NoMatch, "{}", screen(&model));
        typed(&mut model, "ible");
        assert_eq!(state(&model), State::Match);
        let seen = screen(&model);
        assert!(seen.contains("✓ 1 value") && seen.contains("$.eligible  true"), "{seen}");
        // It does not load any more: nothing on the screen says that it matches.
        typed(&mut model, "[");
        let seen = screen(&model);
        assert!(state(&model) == State::Refused && !seen.contains("1 value"), "{seen}");
        assert!(seen.contains("? `$.eligible[` is not a JSONPath") && seen.contains('^'), "{seen}");
        press(&mut model, "Backspace Tab");
        assert_eq!(view(&model).expression.language, Language::JavaScript);
        assert_eq!(model.dialog.prompt.as_ref().unwrap().input.value(), "$.eligible");
        press(&mut model, "Shift-Tab Enter");
        assert!(model.dialog.prompt.is_none() && state(&model) == State::Match, "{}", screen(&model));
        // The rows are gone through, and it is typed on.
        press(&mut model, "j");
        assert_eq!(view(&model).list.cursor, 1);
        press(&mut model, key);
        typed(&mut model, "x");
        assert_eq!(view(&model).expression.text, "$.eligiblex");
        press(&mut model, "Esc");
        assert!(model.dialog.overlays.is_empty() && model.dialog.prompt.is_none());
        // What was tried last is there for the next row.
        press(&mut model, key);
        assert_eq!(view(&model).expression.text, "$.eligible");
    }
}

#[test]
fn the_body_that_is_open_is_tried_and_a_paste_is_too() {
    let mut model = at_result(80, 24);
    press(&mut model, "b T");
    feed(&mut model, Msg::Paste("$.reason\nnot this".to_owned()));
    assert!(screen(&model).contains("\"within_policy\""), "{}", screen(&model));
    press(&mut model, "Enter q");
    assert!(model.dialog.top::<BodyView>().is_some(), "the body lies below it");
}

#[test]
fn the_language_is_that_of_the_rule_on_screen() {
    let mut model = judged(
        80,
        24,
        "mono",
        loaded("{rules: [{type: blocklist, tools: [issue_refund]}]}"),
        vec![refunds()],
    );
    press(&mut model, "]f T");
    assert_eq!(view(&model).expression.language, Language::Rust);
    typed(&mut model, "^ORD");
    assert!(screen(&model).contains("order_id:1  ORD-123"), "{}", screen(&model));
}

#[test]
fn an_answer_to_what_was_typed_before_is_not_shown() {
    let mut model = at_result(80, 24);
    press(&mut model, "T");
    typed(&mut model, "$.eligible");
    let (_, answer) = view(&model).answer.clone().unwrap();
    let asked = view(&model).asked.as_ref().unwrap().0;
    let answer = crate::tester::Answer { state: State::NoMatch, ..answer };
    feed(&mut model, Msg::Answer(Box::new(move |model| tester::arrived(model, asked - 1, answer))));
    assert_eq!(state(&model), State::Match);
    let mut late = at_result(80, 24);
    press(&mut late, "T");
    typed(&mut late, "$.eligible");
    // The next character is typed and its answer is not there yet.
    crate::workbench::update::update(&mut late, Msg::Key(Key::char('[')));
    assert!(view(&late).answer().is_none() && screen(&late).contains("trying it"), "{}", screen(&late));
    feed(&mut late, Msg::Resize(Size::new(80, 24)));
    assert!(!screen(&late).contains("1 value"), "{}", screen(&late));
}

/// A policy in a folder of its own, with the sessions opened at the body of the first result.
fn pointing(policy: &str) -> (tempfile::TempDir, Model) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    let mut model = judged(120, 40, "mono", loaded(policy), vec![refunds(), clean()]);
    model.basis.paths = vec![path];
    press(&mut model, "Down b");
    (folder, model)
}

fn sentences(model: &Model) -> Vec<&str> {
    let Some(view) = model.dialog.top::<SuggestView>() else { panic!("{}", screen(model)) };
    view.rows.as_ref().unwrap().iter().map(|row| row.sentence.as_str()).collect()
}

#[test]
fn a_field_of_a_result_becomes_a_condition() {
    let policy = "tool: issue_refund\npreconditions:\n  # Of the same order.\n  - requires_prior_tool: check_eligibility\n    resource: {bind_from: arguments, path: $.order_id}\n";
    let (folder, mut model) = pointing(policy);
    press(&mut model, "j i");
    assert_eq!(
        sentences(&model),
        ["issue_refund needs an earlier check_eligibility, and a result with eligible = true"]
    );
    // The precondition that is there is tried with the condition: the call about another order breaks it.
    assert!(screen(&model).contains("stops 1 recorded call"), "{}", screen(&model));
    press(&mut model, "Enter");
    let effects = press(&mut model, "Enter");
    let [Effect::Write { write, undo: false }] = effects.as_slice() else { panic!("{effects:?}") };
    let after = write.after.clone().unwrap();
    assert!(after.contains("# Of the same order.") && after.starts_with(policy.trim_end()), "{after}");
    let expected = rulestep_base::source::parse(&rulestep_base::source::Source::new("a.yaml", &*after))
        .documents[0]
        .to_json();
    let precondition = &expected["preconditions"][0];
    assert_eq!(precondition["with_output"], serde_json::json!([{"path": "$.eligible", "equals": true}]));
    let file = folder.path().join("refund.yaml");
    std::fs::write(&file, policy).unwrap();
    let mut done = (**write).clone();
    done.file = file.to_str().unwrap().into();
    let told = crate::workbench::run::suggest::write(done, false);
    feed(&mut model, told);
    assert!(model.dialog.overlays.is_empty() && note(&model).contains("u takes it back"), "{}", note(&model));
    let effects = press(&mut model, "u");
    let [Effect::Write { write, undo: true }] = effects.as_slice() else { panic!("{effects:?}") };
    crate::workbench::run::suggest::write((**write).clone(), true);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), policy);
}

#[test]
fn a_condition_goes_into_the_list_that_is_there_or_into_a_new_contract() {
    // There is one on another path.
    let (_folder, mut model) = pointing(CONTRACT);
    press(&mut model, "j j i Enter");
    let effects = press(&mut model, "Enter");
    let [Effect::Write { write, .. }] = effects.as_slice() else { panic!("{effects:?} {}", screen(&model)) };
    let after = write.after.as_deref().unwrap();
    assert!(
        after.contains("{path: $.eligible, equals: true}") && after.contains("equals: within_policy"),
        "{after}"
    );
    // The same one, and another value at the same path.
    for (policy, why) in [
        (CONTRACT.to_owned(), "it is a rule already, at contracts/issue_refund.yaml:6"),
        (CONTRACT.replace("equals: true", "equals: false"), "another value is required there already"),
    ] {
        let (_folder, mut model) = pointing(&policy);
        press(&mut model, "j i");
        assert!(screen(&model).contains(why), "{}", screen(&model));
        assert!(press(&mut model, "Enter").is_empty());
    }
    let (folder, mut model) = pointing("tool: other\nforbids_after: [other]\n");
    press(&mut model, "j i Enter");
    let effects = press(&mut model, "Enter");
    let [Effect::Write { write, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(
        write.file.starts_with(folder.path().to_str().unwrap()) && write.before.is_none(),
        "{}",
        write.file
    );
    let after = write.after.as_deref().unwrap();
    assert!(after.contains("with_output: [{path: $.eligible, equals: true}]"), "{after}");
}

#[test]
fn paths_and_values_are_written_as_they_are() {
    let mut made =
        Builder::new("odd", Origin { file: "odd.json".into(), index: 0, format: "native", line: 1 });
    made.said("user", Body::text("go"), None);
    let odd = r##"{"a b": {"it's \"#1\"": [{"x": "yes: # no"}]}, "n": 9007199254740993, "none": null}"##;
    for (id, tool, result) in [("1", "look", odd), ("2", "act", "ok")] {
        made.response(None, Body::MISSING, None);
        made.call(Some(id), tool, Body::text("{}"), None);
        made.result(Some(id), Body::text(result), Mark::default(), None);
    }
    let mut model = judged(80, 24, "mono", loaded(CONTRACT), vec![made.finish()]);
    model.basis.paths = vec!["contracts".to_owned()];
    press(&mut model, "Down b");
    let (mut written, mut lines) = (0, 0);
    while lines < 20 {
        press(&mut model, "j i");
        lines += 1;
        if model.dialog.top::<SuggestView>().is_none() {
            continue;
        }
        press(&mut model, "Enter");
        let effects = press(&mut model, "Enter");
        let [Effect::Write { write, .. }] = effects.as_slice() else {
            panic!("{effects:?} {}", screen(&model))
        };
        let text = write.after.as_deref().unwrap();
        let seen = loaded(text);
        let policy = seen.policy.unwrap_or_else(|| panic!("{text}: {:?}", seen.diagnostics));
        let session = model.session().cloned().unwrap();
        let replay = rulestep_engine::replay::Replay::new(&session, &policy, Mode::Enforce);
        assert_eq!(replay.summary().deny, 0, "the recorded value passes: {text}");
        written += 1;
        press(&mut model, "q q");
    }
    assert!(written >= 5, "{written}");
}

#[test]
fn what_is_no_field_of_a_result_says_so() {
    for (keys, why) in [("gg b i", "this is no result"), ("b i", "this is no result")] {
        let mut model = opened(120, 40, "mono", vec![refunds(), clean()]);
        press(&mut model, keys);
        assert!(note(&model).contains(why), "{keys}: {}", note(&model));
    }
    let mut model = opened(120, 40, "mono", vec![clean()]);
    press(&mut model, "Down b i");
    assert_eq!(note(&model), "this result is not JSON, so no path leads into it");
}
