//! Changed sessions hang together as if they had been recorded, and survive being written and read.

use std::sync::Arc;

use proptest::prelude::*;
use rulestep::witness;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::edit::{AddedCall, Edit, EditResult, Part, apply, part};
use rulestep_base::session::{Body, MessageKind, Outcome, Session};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use super::opened;
use super::written::{again, document, normal};
use crate::policies::policy;

fn read(document: &Value) -> Session {
    let (mut sessions, _) = opened(document.to_string());
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

/// Numbers and ranges are those of the places where things stand.
fn assert_hangs_together(session: &Session) {
    for (index, call) in session.calls.iter().enumerate() {
        assert_eq!(call.at.index as usize, index);
        let turn = session.turn(call.at.turn).unwrap();
        assert_eq!(turn.calls.start + call.at.call as usize - 1, index);
        if let Some(result) = call.result {
            assert!(
                matches!(session.messages[result].kind, MessageKind::Result(Some(of), _) if of as usize == index)
            );
        }
    }
    let mut calls = 0;
    for (place, turn) in session.turns.iter().enumerate() {
        assert_eq!((turn.number as usize, turn.calls.start), (place + 1, calls));
        calls = turn.calls.end;
        let responses = &session.messages[turn.messages.clone()];
        assert!(matches!(responses[0].kind, MessageKind::Response(number) if number == turn.number));
        assert!(
            matches!(responses.last().unwrap().kind, MessageKind::Response(number) if number == turn.number)
        );
    }
    assert_eq!(calls, session.calls.len());
    assert_eq!(normal(&again(session)), normal(session));
}

/// Every kept call is what it was.
fn assert_same_calls(session: &Session, edited: &EditResult) {
    let mut kept = 0;
    for call in &session.calls {
        let Some(now) = edited.call(call.at.index) else { continue };
        let now = &edited.session.calls[now as usize];
        assert_eq!((&now.tool, &now.arguments, &now.id), (&call.tool, &call.arguments, &call.id));
        assert_eq!((now.outcome, &now.output, now.time), (call.outcome, &call.output, call.time));
        assert_eq!(edited.turn(call.at.turn), Some(now.at.turn));
        kept += 1;
    }
    assert_eq!(edited.session.calls.len(), kept);
}

const BUSY: &str = r#"{"id": "busy", "tools": [{"name": "a"}], "tools_at": [{"turn": 2, "tools": [{"name": "b"}]}, {"turn": 4, "tools": []}],
 "messages": [
  {"role": "user", "content": "go"},
  {"role": "assistant", "tool_calls": [{"id": "x", "name": "a", "arguments": "{}"}, {"id": "y", "name": "b", "arguments": "{}"}]},
  {"role": "tool", "tool_call_id": "x", "content": "1"},
  {"role": "assistant", "content": "thinking"},
  {"role": "assistant", "tool_calls": [{"id": "x", "name": "a", "arguments": "{\"n\": 2}"}]},
  {"role": "tool", "tool_call_id": "y", "content": "late"},
  {"role": "tool", "tool_call_id": "x", "content": "2", "is_error": true}]}"#;

fn busy() -> Session {
    read(&serde_json::from_str(BUSY).unwrap())
}

/// `TURN.CALL TOOL OUTCOME`, and what stands late.
fn shape(session: &Session) -> Vec<String> {
    let calls = session.calls.iter().map(|call| {
        let late = if call.result.is_some() && !call.in_turn { " late" } else { "" };
        format!(
            "{}.{} {} {} {}{late}",
            call.at.turn,
            call.at.call,
            call.tool,
            call.outcome.word(),
            call.output.shown()
        )
    });
    calls.collect()
}

#[test]
fn a_turn_goes_with_its_calls_and_a_call_with_its_result() {
    let session = busy();
    assert_eq!(shape(&session), ["1.1 a ok 1", "1.2 b ok late late", "3.1 a error 2"]);
    let mut kept = Part::whole(&session);
    kept.drop_turn(2);
    kept.drop_call(0);
    let edited = part(&session, &kept);
    assert_eq!(shape(&edited.session), ["1.1 b ok late late", "2.1 a error 2"]);
    assert_eq!(edited.session.turns[1].late, [0]);
    let offered: Vec<u32> = edited.session.offered.iter().map(|from| from.turn).collect();
    assert_eq!(offered, [1, 2, 3]);
    kept.drop_turn(3);
    // Its result still stands behind everything, and no other response is before it now.
    assert_eq!(shape(&part(&session, &kept).session), ["1.1 b ok late"]);
}

#[test]
fn a_prefix_ends_before_the_next_response() {
    let session = busy();
    let edited = part(&session, &Part::up_to(&session, 1));
    assert_eq!(edited.session.turns.len(), 1);
    assert_eq!(shape(&edited.session), ["1.1 a ok 1", "1.2 b ok late"]);
}

#[test]
fn arguments_results_and_calls_are_put_in_place() {
    let session = busy();
    let added = AddedCall {
        tool: "c".into(),
        arguments: Body::text("{}"),
        outcome: Outcome::Ok,
        content: Body::text("new"),
    };
    let edited = apply(
        &session,
        &[
            Edit::Arguments { call: 2, arguments: Body::text("{\"n\": 3}") },
            Edit::Result { call: 2, outcome: Outcome::Ok, content: Body::text("fine") },
            // The second call has the id that the first one has: without its result, it needs one of its own.
            Edit::Result { call: 0, outcome: Outcome::Unknown, content: Body::MISSING },
            Edit::AddCall { turn: 2, behind: None, call: added.clone() },
            Edit::AddCall { turn: 2, behind: None, call: AddedCall { outcome: Outcome::Unknown, ..added } },
        ],
    );
    assert_eq!(
        shape(&edited.session),
        ["1.1 a unknown ", "1.2 b ok late late", "2.1 c ok new", "2.2 c unknown ", "3.1 a ok fine"]
    );
    assert_eq!((edited.added.as_slice(), edited.call(2)), (&[2, 3][..], Some(4)));
    assert_eq!(edited.session.calls[4].arguments, Body::text("{\"n\": 3}"));
    assert_hangs_together(&edited.session);
    // A result that nobody recorded stands behind the response.
    let again = apply(
        &edited.session,
        &[Edit::Result { call: 0, outcome: Outcome::Error, content: Body::text("no") }],
    );
    assert_eq!(shape(&again.session)[0], "1.1 a error no");
    assert_hangs_together(&again.session);
}

/// A call stands behind the one it was added behind, also where that one goes.
#[test]
fn calls_are_added_behind_others() {
    let session = busy();
    let added = |tool: &str, behind: Option<u32>| Edit::AddCall {
        turn: 1,
        behind,
        call: AddedCall {
            tool: tool.into(),
            arguments: Body::text("{}"),
            outcome: Outcome::Ok,
            content: Body::text(tool),
        },
    };
    let edits = [added("last", None), added("x", Some(0)), added("y", Some(0)), added("elsewhere", Some(2))];
    let edited = apply(&session, &edits);
    let shown = shape(&edited.session);
    let tools: Vec<&str> = shown.iter().map(|call| call.split(' ').nth(1).unwrap()).collect();
    assert_eq!(tools[..6], ["a", "x", "y", "b", "last", "elsewhere"], "{shown:?}");
    assert_eq!((edited.call(0), edited.call(1)), (Some(0), Some(3)));
    let by: Vec<Option<usize>> = (0..6).map(|now| edited.addition(now)).collect();
    assert_eq!(by, [None, Some(1), Some(2), None, Some(0), Some(3)]);
    assert!((0..4).all(|place| edited.added_by(place).and_then(|now| edited.addition(now)) == Some(place)));
    assert_hangs_together(&edited.session);
    let edited = apply(&session, &[Edit::DropCall(0), added("x", Some(0))]);
    assert_eq!((edited.call(0), edited.added.as_slice(), edited.call(1)), (None, &[0][..], Some(1)));
    assert_hangs_together(&edited.session);
}

/// A turn before a call parts that call's own turn: what came of the calls before it is known by then.
#[test]
fn turns_are_added_before_calls() {
    let session = busy();
    let before = shape(&session);
    assert!(before[0].starts_with("1.1 a") && before[1].starts_with("1.2 b"), "{before:?}");
    let call = AddedCall {
        tool: "new".into(),
        arguments: Body::text("{}"),
        outcome: Outcome::Ok,
        content: Body::text("yes"),
    };
    let added = |before| Edit::AddTurn { before, call: Some(call.clone()) };
    let edited = apply(&session, &[added(1), Edit::AddTurn { before: 1, call: None }, added(0), added(1)]);
    let now = &edited.session;
    assert_eq!(shape(now)[0], "1.1 new ok yes");
    assert_eq!(shape(now)[1], before[0].replacen("1.1", "2.1", 1));
    assert_eq!(shape(now)[2..4], ["3.1 new ok yes", "5.1 new ok yes"]);
    assert_eq!(shape(now)[4], before[1].replacen("1.2", "6.1", 1));
    let result = now.calls[1].result.unwrap();
    assert!(now.calls[1].in_turn && result < now.turn(3).unwrap().messages.start, "{:?}", now.calls[1]);
    assert_eq!((edited.call(0), edited.call(1), edited.added.as_slice()), (Some(1), Some(4), &[0, 2, 3][..]));
    assert_eq!((edited.addition(0), edited.addition(2), edited.addition(3)), (Some(2), Some(0), Some(3)));
    assert_hangs_together(now);
    let edited = apply(&session, &[Edit::NextTurn(1)]);
    assert_eq!(shape(&edited.session)[..2], [before[0].clone(), before[1].replacen("1.2", "2.1", 1)]);
    assert_hangs_together(&edited.session);
    // A call that is the first of its turn has that turn for itself already.
    assert_eq!(shape(&apply(&session, &[Edit::NextTurn(0)]).session), before);
}

/// Results go by their ids in order, so one that moves in front of another's needs an id of its own.
#[test]
fn a_parted_turn_leaves_a_late_result_of_the_same_id_to_its_call() {
    let session = read(&json!({"id": "late", "messages": [
        {"role": "assistant", "tool_calls": [{"id": "", "name": "first", "arguments": "{}"}]},
        {"role": "assistant", "tool_calls": [
            {"id": "", "name": "second", "arguments": "{}"}, {"id": "z", "name": "third", "arguments": "{}"}]},
        {"role": "tool", "tool_call_id": "", "content": "1"},
        {"role": "tool", "tool_call_id": "", "content": "2", "refused": true}]}));
    assert_eq!(shape(&session), ["1.1 first ok 1 late", "2.1 second refused 2", "2.2 third unknown "]);
    let edited = apply(&session, &[Edit::AddTurn { before: 2, call: None }]);
    assert_eq!(shape(&edited.session), ["1.1 first ok 1 late", "2.1 second refused 2", "4.1 third unknown "]);
    assert_hangs_together(&edited.session);
}

/// Its tests go on in the background, so it is not known whether they passed: then nothing may be pushed.
fn in_background() -> Session {
    let call = |id: &str, command: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "name": "Bash", "arguments": {"command": command}}]});
    let result = |id: &str, content: &str| json!({"role": "tool", "tool_call_id": id, "content": content});
    let mut runs_on = result("t1", "it runs on");
    runs_on["status"] = json!("running");
    read(
        &json!({"id": "background", "messages": [{"role": "user", "content": "push it"}, call("t1", "cargo test"), runs_on,
        call("t2", "ls"), result("t2", "a"), call("t3", "git push"), result("t3", "pushed")]}),
    )
}

#[test]
fn what_is_not_known_to_have_succeeded_never_becomes_a_success() {
    let session = Arc::new(in_background());
    let recorded = ["1.1 Bash unknown ", "2.1 Bash ok a", "3.1 Bash ok pushed"];
    assert_eq!(shape(&session), recorded);
    let policy = policy(
        "p.yaml",
        "rules:\n  - {type: before, first: {runs: {program: cargo, args: [test]}}, then: {runs: {program: git, args: [push]}}}\n",
    );
    let denied = |session: &Arc<Session>| {
        let replay = Replay::new(session, &policy, Mode::Enforce);
        replay.calls().last().unwrap().decision.verdict.stops()
    };
    assert!(denied(&session));
    let cut = part(&session, &Part::up_to(&session, 3)).session;
    assert!(denied(&cut));
    assert_eq!(shape(&cut), recorded);
    assert_hangs_together(&cut);
    // Something else is supposed.
    let edited = apply(&session, &[Edit::DropCall(1)]).session;
    assert!(denied(&edited));
    assert_eq!(shape(&edited), ["1.1 Bash unknown ", "3.1 Bash ok pushed"]);
    assert_hangs_together(&edited);
    // Its result goes with it, and is none of a call that is missing.
    let gone = apply(&session, &[Edit::DropCall(0)]).session;
    assert_eq!(gone.messages.len(), session.messages.len() - 1);
    assert!(again(&gone).diagnostics.is_empty(), "{:?}", again(&gone).diagnostics);
    let found =
        witness::denial(&session, &policy, Mode::Enforce, 2, witness::BUDGET).expect("a minimal example");
    assert_eq!(shape(found.session()), ["1.1 Bash ok pushed"]);
    // It is supposed that it did succeed: the result takes the place of the one that did not say.
    let content = Body::text("all passed");
    let passed = apply(&session, &[Edit::Result { call: 0, outcome: Outcome::Ok, content }]).session;
    assert!(!denied(&passed));
    assert_eq!(shape(&passed)[0], "1.1 Bash ok all passed");
    assert_eq!((passed.messages.len(), passed.calls[0].result), (session.messages.len(), Some(2)));
    assert_eq!(passed.calls[0].id.as_deref(), Some("t1"));
    assert_hangs_together(&passed);
}

/// What is written of a result that said nothing must not take the place of the one that did, later.
#[test]
fn a_call_that_ended_later_is_written_so() {
    let session = read(&json!({"id": "later", "messages": [
        {"role": "assistant", "tool_calls": [{"id": "x", "name": "run", "arguments": "{}"}]},
        {"role": "tool", "tool_call_id": "x", "content": "runs on", "status": "running"},
        {"role": "tool", "tool_call_id": "x", "content": "exit 1", "is_error": true}]}));
    assert_eq!(shape(&session), ["1.1 run error exit 1"]);
    assert_eq!(shape(&again(&session)), shape(&session));
    assert_hangs_together(&session);
    assert_eq!(shape(&apply(&session, &[]).session), shape(&session));
}

/// Of two calls with one id, the result is the newer one's, also when the session goes on.
#[test]
fn a_session_that_goes_on_keeps_what_is_not_known() {
    let call =
        |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "name": "run", "arguments": "{}"}]});
    for id in ["x", ""] {
        let session = read(&json!({"id": "on", "results": "recorded", "messages": [call(id),
            {"role": "tool", "tool_call_id": id, "content": "runs on", "status": "running"}]}));
        let mut builder = Builder::continued(session);
        builder.response(None, Body::MISSING, None);
        builder.call(Some(id), "run", Body::text("{}"), None);
        builder.result(Some(id), Body::text("done"), Mark::default(), None);
        assert_eq!(shape(&builder.finish()), ["1.1 run unknown ", "2.1 run ok done"], "{id:?}");
    }
}

/// A call keeps the folder that it was made in.
#[test]
fn a_changed_session_keeps_the_folders_of_its_calls() {
    let session = read(
        &json!({"id": "folders", "context": {"cwd": "/p"}, "messages": [{"role": "assistant", "tool_calls": [
        {"id": "x", "name": "run", "arguments": "{}", "cwd": "/q"}, {"id": "y", "name": "run", "arguments": "{}"}]}]}),
    );
    let folders = |session: &Session| -> Vec<Option<String>> {
        session.calls.iter().map(|call| call.folder.as_deref().map(str::to_owned)).collect()
    };
    assert_eq!(folders(&session), [Some("/q".to_owned()), None]);
    assert_eq!(folders(&apply(&session, &[]).session), folders(&session));
}

proptest! {
    #[test]
    fn changing_nothing_gives_an_equal_session(document in document()) {
        let session = read(&document);
        let edited = part(&session, &Part::whole(&session));
        prop_assert_eq!(normal(&edited.session), normal(&session));
        prop_assert_eq!(normal(&apply(&session, &[]).session), normal(&session));
    }

    #[test]
    fn every_part_hangs_together(document in document(), picked in any::<[u64; 3]>()) {
        let session = read(&document);
        let mut kept = Part::whole(&session);
        let picks = |mask: u64, place: usize| mask >> (place % 64) & 1 == 1;
        (0..session.turns.len()).filter(|place| picks(picked[0] & picked[1], *place)).for_each(|place| kept.drop_turn(place as u32 + 1));
        (0..session.calls.len()).filter(|place| picks(picked[1], *place)).for_each(|place| kept.drop_call(place as u32));
        (0..session.messages.len()).filter(|place| picks(picked[2], *place)).for_each(|place| kept.drop_message(place));
        let edited = part(&session, &kept);
        assert_hangs_together(&edited.session);
        assert_same_calls(&session, &edited);
    }

    #[test]
    fn every_change_hangs_together(document in document(), picked in any::<[u8; 4]>(), outcome in 0..4usize) {
        let session = read(&document);
        let calls = session.calls.len().max(1);
        let outcome = [Outcome::Ok, Outcome::Error, Outcome::Refused, Outcome::Unknown][outcome];
        let changed = u32::from(picked[0]) % calls as u32;
        let edits = [
            Edit::Result { call: changed, outcome, content: Body::text("as if") },
            Edit::Arguments { call: u32::from(picked[1]) % calls as u32, arguments: Body::text("[]") },
            Edit::AddCall {
                turn: u32::from(picked[2]) % 4 + 1,
                behind: Some(u32::from(picked[3]) % calls as u32),
                call: AddedCall { tool: "ping".into(), arguments: Body::MISSING, outcome, content: Body::text("x") },
            },
            Edit::AddTurn {
                before: u32::from(picked[3] / 2) % calls as u32,
                call: (picked[0] % 3 > 0).then(|| AddedCall { tool: "pong".into(), arguments: Body::MISSING, outcome, content: Body::text("y") }),
            },
            Edit::NextTurn(u32::from(picked[2] / 3) % calls as u32),
        ];
        let edited = apply(&session, &edits[..if picked[1] % 2 == 0 { 3 } else { 5 }]);
        assert_hangs_together(&edited.session);
        if let Some(now) = edited.call(changed) {
            let call = &edited.session.calls[now as usize];
            // A recording without results takes what has none for a success.
            let absent = session.facts.results == rulestep_base::session::Results::Absent;
            let expected = if outcome == Outcome::Unknown && absent { Outcome::Ok } else { outcome };
            prop_assert_eq!(call.outcome, expected);
            for other in session.calls.iter().filter(|other| other.at.index != changed) {
                let now = &edited.session.calls[edited.call(other.at.index).unwrap() as usize];
                prop_assert_eq!((now.outcome, &now.output), (other.outcome, &other.output), "{}", json!(other.at));
            }
        }
    }
}
