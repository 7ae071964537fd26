//! Choices of a response that were not taken: read, judged beside the turn that was, counted apart, and never lost.

use std::sync::Arc;

use rulestep_base::session::Session;
use rulestep_base::session::write::Native;
use rulestep_engine::replay::{Replay, Status, outcomes};
use rulestep_engine::run::{Mode, Verdict};
use serde_json::{Value, json};

use super::policies::policy;
use super::sessions::opened;

mod cases;
mod formats;
mod shown;

/// Eligibility comes before a refund.
pub const REFUNDS: &str = "tool: issue_refund\npreconditions: [{requires_prior_tool: check_eligibility}]\n";

fn call(id: &str, tool: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}})
}

fn says(content: Value, calls: &[Value]) -> Value {
    match calls {
        [] => json!({"role": "assistant", "content": content}),
        calls => json!({"role": "assistant", "content": content, "tool_calls": calls}),
    }
}

/// A request with its response, as a log of OpenAI's chat interface has them.
pub fn exchange(messages: &[Value], choices: &[Value]) -> Value {
    let choices: Vec<Value> = choices
        .iter()
        .enumerate()
        .map(|(index, message)| json!({"index": index, "message": message}))
        .collect();
    json!({"request": {"messages": messages}, "response": {"id": "r", "choices": choices}})
}

/// Text is taken; the other choice refunds at once.
pub fn refund_not_taken() -> Value {
    let user = json!({"role": "user", "content": "a refund, please"});
    let taken = says(json!("Let me look."), &[]);
    let other = says(Value::Null, &[call("a", "check_eligibility"), call("b", "issue_refund")]);
    exchange(&[user], &[taken, other])
}

fn one(text: impl Into<Vec<u8>>) -> Session {
    let (mut sessions, _) = opened(text);
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

/// Every alternative as `turn.choice: tools`.
fn alternatives(session: &Session) -> Vec<String> {
    let tools = |other: &rulestep_base::session::Alternative| -> Vec<String> {
        other.calls().iter().map(|call| call.tool.to_string()).collect()
    };
    let all = session.alternatives.iter();
    all.map(|other| format!("{}.{}: {}", other.turn, other.choice, tools(other).join(" "))).collect()
}

#[test]
fn further_choices_are_judged_from_the_same_state_and_counted_apart() {
    let session = Arc::new(one(refund_not_taken().to_string()));
    assert_eq!(session.diagnostics, []);
    assert_eq!(alternatives(&session), ["1.2: check_eligibility issue_refund"]);
    let policy = policy("p.yaml", REFUNDS);
    for mode in [Mode::Enforce, Mode::Shadow] {
        let replay = Replay::new(&session, &policy, mode);
        let verdicts: Vec<_> = replay.alternative(0).iter().map(|judged| judged.decision.verdict).collect();
        assert_eq!(verdicts, [Verdict::Allow, Verdict::Deny]);
        let summary = replay.summary();
        assert_eq!((summary.calls, summary.deny, summary.disagree), (0, 0, 0));
        assert_eq!((summary.alternatives, summary.alternatives_stopped), (2, 1));
        assert!(replay.objects());
        assert_eq!(replay.status(), if mode == Mode::Enforce { Status::Stopped } else { Status::Pass });
        let alone = outcomes(&session, &policy, mode);
        assert_eq!((alone.summary, alone.status, alone.objects()), (summary, replay.status(), true));
        // The session that takes it is judged the same.
        let taken = replay.taking(0).unwrap();
        let again = Replay::new(&Arc::new(session.taking(&session.alternatives[0])), &policy, mode);
        assert_eq!(taken.session(), again.session());
        assert_eq!(taken.summary(), again.summary());
        assert_eq!(taken.call(1).unwrap().decision, again.call(1).unwrap().decision);
        assert_eq!(taken.frame(1).unwrap().calls, again.frame(1).unwrap().calls);
    }
}

#[test]
fn what_an_alternative_proposes_changes_nothing_that_follows() {
    let messages = [
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": "one moment", "alternatives": [
            {"content": null, "tool_calls": [call("x", "check_eligibility"), call("y", "close_case")]}]}),
        says(Value::Null, &[call("b", "issue_refund")]),
        json!({"role": "tool", "tool_call_id": "b", "content": "done"}),
    ];
    let session = Arc::new(one(json!({"messages": messages}).to_string()));
    let texts = [REFUNDS, "tool: close_case\nforbids_after: [issue_refund]\n"].join("---\n");
    let replay = Replay::new(&session, &policy("p.yaml", &texts), Mode::Enforce);
    let codes: Vec<_> =
        replay.call(0).unwrap().decision.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["prior_tool_missing"], "the check did not run, and the case was not closed");
    assert_eq!(replay.alternative(0).iter().filter(|judged| judged.decision.verdict.stops()).count(), 0);
}

#[test]
fn a_response_that_is_repeated_by_the_next_request_keeps_its_choices() {
    let user = json!({"role": "user", "content": "go"});
    let (first, second) = (says(Value::Null, &[call("a", "f")]), says(Value::Null, &[call("b", "g")]));
    let third = says(json!("or nothing"), &[]);
    let choices = [first.clone(), second.clone(), third.clone()];
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "fine"});
    let end = says(json!("done"), &[]);
    for (taken, id, tool, expected) in
        [(&first, "a", "f", ["1.2: g", "1.3: "]), (&second, "b", "g", ["1.1: f", "1.3: "])]
    {
        let next = exchange(&[user.clone(), taken.clone(), result(id)], std::slice::from_ref(&end));
        let last = exchange(
            &[user.clone(), taken.clone(), result(id), end.clone(), user.clone()],
            &[end.clone(), second.clone()],
        );
        let log = format!("{}\n{next}\n{last}\n", exchange(std::slice::from_ref(&user), &choices));
        let session = one(log);
        let tools: Vec<_> = session.calls.iter().map(|call| &*call.tool).collect();
        assert_eq!(tools, [tool]);
        let expected: Vec<_> = expected.into_iter().chain(["3.2: g"]).collect();
        assert_eq!(alternatives(&session), expected);
        assert_eq!(session.diagnostics, [], "the result has its call");
    }
}

#[test]
fn streams_batches_and_choices_out_of_order_are_read_whole() {
    let chunk = |index: u32, delta: Value| json!({"object": "chat.completion.chunk", "id": "r", "choices": [{"index": index, "delta": delta}]});
    let piece = |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
    let begun = json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "b", "type": "function", "function": {"name": "issue_refund", "arguments": ""}}]});
    let chunks = [
        chunk(1, begun),
        chunk(0, json!({"role": "assistant", "content": "Let me"})),
        chunk(1, piece("{\"order\"")),
        chunk(0, json!({"content": " look."})),
        chunk(1, piece(": 1}")),
    ];
    let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let request = json!({"messages": [{"role": "user", "content": "go"}]});
    let streamed = json!({"request": request, "response": text + "data: [DONE]\n"});
    let other = says(Value::Null, &[call("b", "issue_refund")]);
    let choices =
        json!([{"index": 1, "message": other}, {"index": 0, "message": says(json!("Let me look."), &[])}]);
    let batch =
        json!({"custom_id": "x", "response": {"status_code": 200, "body": {"id": "r", "choices": choices}}});
    for log in [streamed, batch] {
        let session = one(log.to_string());
        assert_eq!(session.calls, [], "{log}");
        assert_eq!(session.messages.last().unwrap().content.shown(), "Let me look.");
        assert_eq!(alternatives(&session), ["1.2: issue_refund"], "{log}");
    }
}

#[test]
fn the_native_form_holds_them_and_reads_them_back() {
    let user = json!({"role": "user", "content": "go"});
    let choices = [
        says(json!("first"), &[call("a", "f")]),
        says(json!("second"), &[]),
        says(Value::Null, &[call("b", "g"), call("c", "h")]),
    ];
    let session = one(exchange(&[user], &choices).to_string());
    let written = serde_json::to_string(&Native(&session)).unwrap();
    let again = one(written.clone());
    assert_eq!(alternatives(&again), ["1.2: ", "1.3: g h"]);
    let same = |session: &Session| {
        let others = session.alternatives.iter();
        others.map(|other| (other.message.content.clone(), other.message.calls.clone())).collect::<Vec<_>>()
    };
    assert_eq!(same(&again), same(&session));
    assert_eq!(serde_json::to_string(&Native(&again)).unwrap(), written);
}

#[test]
fn what_is_wrong_with_a_choice_is_reported() {
    let message = |alternatives: Value| json!({"messages": [{"role": "assistant", "content": "x", "alternatives": alternatives}]});
    for (alternatives, expected) in [
        (json!(7), "`alternatives` is a number, not a list"),
        (json!([7]), "an alternative is a number, not an object"),
        (json!([{"tool_calls": [{"function": {}}]}]), "a call names no tool"),
        (json!([{"tool_calls": "f"}]), "`tool_calls` is a text, not a list"),
    ] {
        let session = one(message(alternatives.clone()).to_string());
        let told: Vec<_> = session.diagnostics.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|told| told.contains(expected)), "{alternatives}: {told:?}");
    }
    let log = json!({"request": {"messages": []}, "response": {"choices": [{"message": {"role": "assistant", "content": "x"}}, {"finish_reason": "length"}]}});
    let told = one(log.to_string()).diagnostics;
    assert!(
        told.iter().any(|told| told.message.contains("choice 2 of the response has no message")),
        "{told:?}"
    );
}

#[test]
fn a_changed_decision_of_one_is_a_change() {
    use rulestep::compare::{Base, ChangePlace, Comparison, Kind, Origin};

    let session = Arc::new(one(refund_not_taken().to_string()));
    let base = policy("p.yaml", REFUNDS);
    let new = policy("p.yaml", "tool: issue_refund\nforbids_after: [issue_refund]\n");
    let comparison = Comparison::new(Base::Version(base), new);
    for mode in [Mode::Enforce, Mode::Shadow] {
        let compared = comparison.session(&session, mode);
        let change = compared
            .changes()
            .iter()
            .find(|change| matches!(change.at, ChangePlace::Alternative(_)))
            .unwrap();
        let at = change.at.alternative().unwrap();
        assert_eq!((at.turn, at.choice, at.call), (1, 2, 2));
        assert_eq!((change.kind, change.origin), (Kind::NewlyAllowed, Origin::Primary));
    }
}

/// Each choice is a world of its own: what one of its calls changes is downstream in its siblings, and what stands after a
/// turn in which the versions or the recording parted is counterfactual.
#[test]
fn changes_of_one_say_what_they_rest_on() {
    use rulestep::compare::{Base, ChangePlace, Comparison, Origin};

    let user = json!({"role": "user", "content": "a refund, please"});
    let first = says(Value::Null, &[call("a", "issue_refund")]);
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "done"});
    let taken = says(json!("Done."), &[]);
    let other = says(Value::Null, &[call("b", "issue_refund"), call("c", "issue_refund")]);
    let session = Arc::new(one(exchange(&[user, first, result], &[taken, other]).to_string()));
    let free = "tool: issue_refund\nforbids_after: [unused]\n";
    for (base, new) in [(REFUNDS, free), (free, REFUNDS)] {
        let comparison = Comparison::new(Base::Version(policy("p.yaml", base)), policy("p.yaml", new));
        let compared = comparison.session(&session, Mode::Enforce);
        let others: Vec<_> = compared
            .changes()
            .iter()
            .filter(|change| matches!(change.at, ChangePlace::Alternative(_)))
            .collect();
        assert_eq!(others.len(), 2);
        assert!(others.iter().all(|change| change.counterfactual && change.origin == Origin::Downstream));
    }
    // Where nothing parted before, the first of its calls is primary, and its sibling follows from it.
    let user = json!({"role": "user", "content": "a refund, please"});
    let other = says(Value::Null, &[call("b", "issue_refund"), call("c", "issue_refund")]);
    let session = Arc::new(one(exchange(&[user], &[says(json!("Well."), &[]), other]).to_string()));
    let comparison = Comparison::new(Base::Version(policy("p.yaml", free)), policy("p.yaml", REFUNDS));
    let compared = comparison.session(&session, Mode::Enforce);
    let others = compared.changes().iter().filter(|change| matches!(change.at, ChangePlace::Alternative(_)));
    let origins: Vec<_> = others.map(|change| change.origin).collect();
    assert_eq!(origins, [Origin::Primary, Origin::Downstream]);
}
