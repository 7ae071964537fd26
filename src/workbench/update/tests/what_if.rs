//! What if, witnesses, and saving, by keys.

use super::{at, note};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Key;
use crate::workbench::layout::Pane;
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::popup::way_out;
use crate::workbench::run::suppose;
use crate::workbench::testing::*;
use crate::workbench::update::update;

pub fn refund() -> Model {
    let mut model = opened(120, 40, "mono", vec![refunds(), clean()]);
    press(&mut model, "]f");
    assert_eq!(verdict(&model), "deny");
    model
}

fn verdict(model: &Model) -> &'static str {
    model.judged_call().map_or("none", |judged| judged.decision.verdict.word())
}

fn selected(model: &Model) -> String {
    model.call().map_or_else(String::new, |call| format!("{} {}", call.tool, call.arguments.raw()))
}

/// Clears what is in the prompt and types something else.
pub fn answer(model: &mut Model, text: &str) {
    press(model, "Ctrl-u");
    typed(model, text);
    press(model, "Enter");
}

#[test]
fn other_arguments_are_judged_at_once_and_taken_back() {
    let mut model = refund();
    press(&mut model, "xa");
    let prompt = model.dialog.prompt.as_ref().unwrap();
    assert_eq!(prompt.input.value(), r#"{"order_id": "ORD-124", "amount": 214.0}"#, "as it was recorded");
    answer(&mut model, r#"{"order_id": "ORD-123", "amount": 214.0}"#);
    assert_eq!(verdict(&model), "allow");
    assert_eq!(selected(&model), r#"issue_refund {"order_id": "ORD-123", "amount": 214.0}"#);
    let shown = screen(&model);
    assert!(shown.contains("WHAT IF 1") && shown.contains("2 Transcript (what if)"), "{shown}");
    assert!(shown.contains("call      (changed) issue_refund"), "{shown}");
    assert!(shown.contains("what if  deny → allow"), "{shown}");
    assert!(
        shown.contains("✗ Please refund OR") && shown.contains("1✗  3"),
        "the list keeps what was recorded\n{shown}"
    );
    press(&mut model, "xu");
    assert_eq!(verdict(&model), "deny");
    assert!(!screen(&model).contains("WHAT IF"));
    press(&mut model, "xu");
    assert_eq!(note(&model), "no what-if step to undo");
}

#[test]
fn what_is_no_json_is_given_back() {
    let mut model = refund();
    press(&mut model, "xa");
    answer(&mut model, r#"{"order_id": }"#);
    let prompt = model.dialog.prompt.as_ref().expect("still typing");
    assert_eq!(prompt.input.value(), r#"{"order_id": }"#);
    assert!(prompt.refused.as_ref().unwrap().starts_with("not JSON: "));
    press(&mut model, "Esc");
    assert!(model.dialog.prompt.is_none() && model.shown_supposed().is_none());
}

#[test]
fn another_result_stops_what_rests_on_it() {
    let mut model = refund();
    press(&mut model, "k");
    assert_eq!(verdict(&model), "allow");
    press(&mut model, "k xr");
    answer(&mut model, r#"{"eligible": false}"#);
    assert_eq!(selected(&model), r#"check_eligibility {"order_id": "ORD-123"}"#);
    assert!(screen(&model).contains(r#"result    (changed) {"eligible": false}"#), "{}", screen(&model));
    press(&mut model, "j");
    assert_eq!(verdict(&model), "deny");
    // Back to the recording, and back to what was supposed.
    press(&mut model, "xq");
    assert_eq!(verdict(&model), "allow");
    press(&mut model, "xu");
    assert_eq!(verdict(&model), "deny");
    // Closing is dropping, and the same key then quits.
    assert!(press(&mut model, "q").is_empty());
    assert_eq!(verdict(&model), "allow");
    assert!(matches!(press(&mut model, "q").as_slice(), [Effect::Quit]));
}

#[test]
fn outcomes_go_round() {
    let mut model = refund();
    press(&mut model, "gg j");
    let mut seen = Vec::new();
    for _ in 0..4 {
        press(&mut model, "xo");
        seen.push(model.call().unwrap().outcome.word());
    }
    assert_eq!(seen, ["error", "refused", "unknown", "ok"]);
    assert_eq!(model.call().unwrap().output.raw(), r#"{"eligible": true, "reason": "within_policy"}"#);
}

#[test]
fn a_call_goes_and_another_comes() {
    let mut model = refund();
    press(&mut model, "k k xd");
    assert_eq!(model.session().unwrap().calls.len(), 2);
    press(&mut model, "G k k");
    press(&mut model, "]f");
    assert_eq!(model.replay().unwrap().summary().deny, 2, "nothing was checked");
    press(&mut model, "gg xn");
    answer(&mut model, r#"check_eligibility {"order_id": "ORD-124"} => {"eligible": true}"#);
    assert_eq!(
        selected(&model),
        r#"check_eligibility {"order_id": "ORD-124"}"#,
        "the cursor is on the new one"
    );
    assert!(screen(&model).contains("call      (new) check_eligibility"), "{}", screen(&model));
    press(&mut model, "j j");
    assert_eq!(verdict(&model), "allow");
    // What was added is changed and dropped like any other.
    press(&mut model, "k k xa");
    answer(&mut model, r#"{"order_id": "ORD-9"}"#);
    assert_eq!(selected(&model), r#"check_eligibility {"order_id": "ORD-9"}"#);
    assert_eq!(model.replay().unwrap().summary().deny, 2);
    press(&mut model, "xo");
    assert_eq!(model.call().unwrap().outcome.word(), "error");
    press(&mut model, "xd");
    assert_eq!(model.session().unwrap().calls.len(), 2);
}

/// A call is added after the one under the cursor, even if that was added itself.
#[test]
fn a_call_comes_behind_the_selected_one() {
    let mut model = refund();
    let tools = |model: &Model| -> Vec<String> {
        model.session().unwrap().calls.iter().map(|call| call.tool.to_string()).collect()
    };
    press(&mut model, "gg j j");
    assert_eq!(at(&model), "T2.1 issue_refund");
    press(&mut model, "xn");
    assert!(screen(&model).contains("new call after T2.1"), "{}", screen(&model));
    answer(&mut model, "first => ok");
    assert_eq!(note(&model), "first is added after T2.1 issue_refund");
    assert_eq!(at(&model), "T2.2 first");
    press(&mut model, "k xn");
    answer(&mut model, "third");
    assert_eq!(at(&model), "T2.3 third");
    press(&mut model, "k xn");
    answer(&mut model, "second");
    assert_eq!(at(&model), "T2.3 second");
    let wanted = ["check_eligibility", "issue_refund", "first", "second", "third", "issue_refund"];
    assert_eq!(tools(&model), wanted);
    press(&mut model, "xa");
    answer(&mut model, r#"{"a": 1}"#);
    assert_eq!(selected(&model), r#"second {"a": 1}"#);
    press(&mut model, "xd");
    assert_eq!(tools(&model).len(), 5);
}

#[test]
fn calls_are_typed_in_a_line() {
    let mut model = refund();
    let cases = [
        ("ping", Some(("ping", "{}", "unknown"))),
        ("ping => pong => x", Some(("ping", "{}", "ok"))),
        (r#"ping {"a": "=>"}=> b"#, Some(("ping", r#"{"a": "=>"}"#, "ok"))),
        (r#"ping {"a": 1} b"#, None),
        (r#"ping {"a": "#, None),
        (r#"{"a": 1}"#, None),
        ("", None),
    ];
    for (text, wanted) in cases {
        press(&mut model, "xn");
        answer(&mut model, text);
        match wanted {
            Some((tool, arguments, outcome)) => {
                let call = model.call().unwrap();
                assert_eq!(
                    (&*call.tool, call.arguments.raw(), call.outcome.word()),
                    (tool, arguments, outcome)
                );
                press(&mut model, "xu");
            }
            None => {
                assert!(
                    model.dialog.prompt.as_ref().is_some_and(|prompt| prompt.refused.is_some()),
                    "{text}"
                );
                press(&mut model, "Esc");
            }
        }
    }
}

#[test]
fn a_rule_goes_off_and_on() {
    let mut model = refund();
    press(&mut model, "xx");
    assert_eq!(verdict(&model), "allow");
    assert!(note(&model).starts_with("off: ") && note(&model).contains(".yaml:"), "{}", note(&model));
    let shown = screen(&model);
    assert!(shown.contains("what if: 1 rule off"), "{shown}");
    assert!(shown.contains("– 4 ") || shown.contains("–  4"), "the rule's lines are marked\n{shown}");
    // It is still shown, so the same key switches it on, and nothing is left to undo.
    press(&mut model, "xx");
    assert_eq!(verdict(&model), "deny");
    press(&mut model, "xu");
    assert_eq!((verdict(&model), note(&model)), ("deny", "no what-if step to undo"));
    // What was supposed before is what is undone.
    press(&mut model, "xo");
    assert_ne!(model.call().unwrap().outcome.word(), "ok");
    press(&mut model, "xx xx xu");
    assert_eq!((model.call().unwrap().outcome.word(), model.shown_supposed().is_none()), ("ok", true));
    // All that was dropped comes back.
    press(&mut model, "xx xq xu");
    assert_eq!(verdict(&model), "allow");
    press(&mut model, "xx");
    assert_eq!(verdict(&model), "deny");
    // In the policy, it is the rule under the cursor.
    press(&mut model, "7 G xx");
    assert!(note(&model).contains("no void_order after"), "{}", note(&model));
    assert_eq!(verdict(&model), "deny");
}

#[test]
fn what_is_supposed_stays_with_its_session_and_outlives_an_edit() {
    let mut model = refund();
    press(&mut model, "xx");
    press(&mut model, "}");
    assert!(!screen(&model).contains("WHAT IF"));
    press(&mut model, "{");
    assert!(screen(&model).contains("WHAT IF 1"));
    assert_eq!(verdict(&model), "allow");
    // A rule of the same id is still off in the next version; of another one, that is said.
    let commented = format!("# edited\n{CONTRACT}");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&commented)), at: "12:05:00".to_owned() });
    assert_eq!(verdict(&model), "allow");
    let other = "tool: issue_refund\nforbids_after: [void_order]\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(other)), at: "12:06:00".to_owned() });
    assert!(screen(&model).contains("1 rule to be off is not there"), "{}", screen(&model));
}

#[test]
fn findings_lead_to_recorded_calls_wherever_they_are_now() {
    let mut model = refund();
    press(&mut model, "k k xd F Enter");
    assert_eq!(selected(&model), r#"issue_refund {"order_id": "ORD-124", "amount": 214.0}"#);
    press(&mut model, "xd F Enter");
    assert!(note(&model).contains("leaves the call out"), "{}", note(&model));
}

#[test]
fn a_witness_is_opened_and_left() {
    let mut model = refund();
    let before = model.list(Pane::Transcript);
    press(&mut model, "W");
    assert_eq!(model.session().unwrap().calls.len(), 2);
    assert_eq!(
        (verdict(&model), selected(&model).as_str()),
        ("deny", r#"issue_refund {"order_id": "ORD-124", "amount": 214.0}"#)
    );
    let shown = screen(&model);
    assert!(shown.contains("MINIMAL EXAMPLE 2 of 3 calls"), "{shown}");
    assert!(shown.contains("minimal example of refund-124: 2 of 3 calls"), "{shown}");
    // It can be changed further; leaving it leaves that as well.
    press(&mut model, "xx");
    assert_eq!(verdict(&model), "allow");
    press(&mut model, "Esc");
    assert_eq!(model.session().unwrap().calls.len(), 3);
    assert_eq!(model.list(Pane::Transcript), before);
    press(&mut model, "k W");
    assert!(note(&model).contains("neither stopped"), "{}", note(&model));
}

#[test]
fn the_witness_of_what_is_supposed() {
    let mut model = refund();
    press(&mut model, "k k xo j W");
    assert_eq!(verdict(&model), "deny");
    assert!(screen(&model).contains("MINIMAL EXAMPLE"));
    press(&mut model, "q");
    assert!(screen(&model).contains("WHAT IF 1"), "back to what was supposed\n{}", screen(&model));
}

#[test]
fn an_answer_that_nobody_waits_for_is_dropped() {
    let mut model = refund();
    let wanted = update(&mut model, Msg::Key(Key::char('W')));
    let [Effect::Witness(Some(wanted))] = wanted.as_slice() else { panic!("{wanted:?}") };
    assert!(screen(&model).contains("looking for a minimal example"));
    let called_off = press(&mut model, "Esc");
    assert!(matches!(called_off.as_slice(), [Effect::Witness(None)]), "{called_off:?}");
    let newest = std::sync::atomic::AtomicU64::new(wanted.number);
    feed(&mut model, suppose::look(wanted, &newest));
    assert!(model.shown_supposed().is_none());
}

#[test]
fn the_witness_of_a_change() {
    let mut model = opened(120, 40, "mono", vec![clean(), refunds()]);
    let other = "tool: issue_refund\nforbids_after: [void_order]\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(other)), at: "12:06:00".to_owned() });
    press(&mut model, "8 gg j W");
    assert!(screen(&model).contains("minimal example of refund-124: 2 of 3 calls"), "{}", screen(&model));
    assert_eq!(verdict(&model), "allow");
    press(&mut model, "q");
    assert_eq!((model.place.open, model.place.focus), (0, Pane::Changes), "where one was");
}

/// Where the change is shown, whichever pane has the keys: also of a call that the new version allows.
#[test]
fn the_witness_of_a_change_at_the_call_itself() {
    let mut model = opened(120, 40, "mono", vec![refunds()]);
    let other = "tool: issue_refund\nforbids_after: [void_order]\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(other)), at: "12:06:00".to_owned() });
    press(&mut model, "gg j j");
    assert_eq!(verdict(&model), "allow");
    press(&mut model, "W");
    assert!(note(&model).contains("neither stopped nor decided differently"), "{}", note(&model));
    press(&mut model, "j");
    press(&mut model, "W");
    assert!(screen(&model).contains("minimal example of refund-124: 2 of 3 calls"), "{}", screen(&model));
    press(&mut model, "q");
    assert_eq!((model.place.focus, at(&model).as_str()), (Pane::Transcript, "T2.2 issue_refund"));
}

/// Another text for the model is a change as well, and has a witness.
#[test]
fn the_witness_of_another_reason() {
    let told = |text: &str| CONTRACT.replace("$.order_id}", &format!("$.{text}}}"));
    let mut model = judged(120, 40, "mono", loaded(&told("order_id")), vec![refunds()]);
    press(&mut model, "G k k k");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&told("amount"))), at: "12:06:00".to_owned() });
    press(&mut model, "8 gg j");
    let seen = screen(&model);
    press(&mut model, "W");
    assert!(screen(&model).contains("minimal"), "{seen}\n{}", screen(&model));
}

#[test]
fn long_texts_go_to_the_editor() {
    let mut model = refund();
    press(&mut model, "xa");
    let effect = press(&mut model, "Ctrl-x").pop();
    let Some(Effect::Compose { ask, text }) = effect else { panic!("{effect:?}") };
    assert!(text.contains("\n  \"order_id\": \"ORD-124\""), "laid out for the eye: {text}");
    let written = Msg::Composed { ask, text: "{\n  \"order_id\": \"ORD-123\"\n}\n".to_owned() };
    feed(&mut model, written);
    assert_eq!(selected(&model), r#"issue_refund {"order_id":"ORD-123"}"#);
    let long = format!(r#"{{"order_id": "{}"}}"#, "x".repeat(500));
    press(&mut model, "xa");
    answer(&mut model, &long);
    let effect = press(&mut model, "xa").pop();
    assert!(matches!(effect, Some(Effect::Compose { .. })), "at once");
}

#[test]
fn the_way_out_is_shown_and_tried() {
    let mut model = refund();
    press(&mut model, "w");
    let shown = screen(&model);
    assert!(shown.contains("Way out for T"), "{shown}");
    assert!(shown.contains("Allowed after `check_eligibility` with order_id = \"ORD-124\""), "{shown}");
    press(&mut model, "Enter");
    assert!(model.dialog.overlays.is_empty());
    assert_eq!((selected(&model).split(' ').next(), verdict(&model)), (Some("issue_refund"), "allow"));
    assert!(screen(&model).contains("WHAT IF 1"), "{}", screen(&model));
    press(&mut model, "xu");
    assert_eq!(verdict(&model), "deny", "{}", screen(&model));

    // What is asked again answers the newest question alone.
    press(&mut model, "w");
    update(&mut model, Msg::Answer(Box::new(|model| way_out::found(model, 0, None))));
    assert!(screen(&model).contains("Allowed after"), "{}", screen(&model));
    press(&mut model, "Esc gg j");
    while verdict(&model) != "allow" {
        press(&mut model, "j");
    }
    press(&mut model, "w");
    assert_eq!(note(&model), "no rule stops this call, so there is nothing to get out of");
}
