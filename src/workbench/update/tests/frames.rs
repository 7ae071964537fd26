//! What is in the selected turn is made on another thread: what is shown until it arrives.

use std::sync::atomic::AtomicU64;

use super::*;
use crate::workbench::effect::Effect;
use crate::workbench::run::frames;
use crate::workbench::update::update;

/// Sixty turns with a call each.
fn long() -> Session {
    let origin = Origin { file: "sessions/long.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("long", origin);
    for turn in 0..60 {
        made.response(None, Body::MISSING, None);
        made.call(Some(&format!("c{turn}")), "check_eligibility", Body::text("{}"), None);
        made.result(Some(&format!("c{turn}")), Body::text("{}"), Mark::default(), None);
    }
    made.finish()
}

/// Presses a key, and leaves what it asks for to be answered.
fn asked(model: &mut Model, key: char) -> Vec<Effect> {
    update(model, Msg::Key(Key::char(key)))
        .into_iter()
        .filter(|effect| matches!(effect, Effect::Frames(_)))
        .collect()
}

fn answer(effect: &Effect) -> Msg {
    let Effect::Frames(request) = effect else { panic!("not a request for frames") };
    frames::make(request, &AtomicU64::new(request.number)).unwrap()
}

#[test]
fn the_frame_before_stays_and_says_so_until_the_newest_answer_arrives() {
    let mut model = opened(120, 40, "mono", vec![long()]);
    assert!(!screen(&model).contains(" at T"));
    let first = asked(&mut model, 'G');
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(model.awaits_frames());
    let waiting = screen(&model);
    assert!(waiting.contains(" at T1 ─┐"), "{waiting}");
    assert!(waiting.contains("what passed is"), "{waiting}");
    // Another key asks again; what answers the first is void.
    asked(&mut model, 'g');
    let second = asked(&mut model, 'g');
    assert!(second.is_empty() && !model.awaits_frames(), "the first turn is known");
    let third = asked(&mut model, 'G');
    update(&mut model, answer(&first[0]));
    assert!(screen(&model).contains(" at T1 ─┐"), "an older answer is dropped");
    update(&mut model, answer(&third[0]));
    assert!(!screen(&model).contains(" at T") && !model.awaits_frames(), "{}", screen(&model));
    assert_eq!(model.place.frames.framed.as_ref().unwrap().turn, 60);
    // Nothing is asked where the turn is among those around it.
    assert!(asked(&mut model, 'K').is_empty());
}

#[test]
fn a_request_that_is_old_is_not_worked_at() {
    let mut model = opened(120, 40, "mono", vec![long()]);
    let first = asked(&mut model, 'G');
    let Effect::Frames(request) = &first[0] else { panic!() };
    assert!(frames::make(request, &AtomicU64::new(request.number + 1)).is_none());
}

#[test]
fn who_went_elsewhere_is_not_fetched_to_a_hidden_tool() {
    let mut model = opened(120, 40, "mono", vec![refunds()]);
    let chord = |model: &mut Model| {
        update(model, Msg::Key(Key::char(']')));
        update(model, Msg::Key(Key::char('h')))
            .into_iter()
            .find(|effect| matches!(effect, Effect::Hidden(_)))
            .unwrap()
    };
    let Effect::Hidden(search) = chord(&mut model) else { panic!() };
    let found = || frames::look(&search, &AtomicU64::new(search.number)).unwrap();
    press(&mut model, "G");
    let here = model.spot();
    update(&mut model, found());
    assert_eq!(model.spot(), here);
    assert!(frames::look(&search, &AtomicU64::new(0)).is_none(), "a newer search ends an older one");
}
