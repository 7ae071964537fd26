//! The front door, as a program that embeds it uses it. `tests/property/gate.rs` holds its decisions against replays.

use std::sync::Arc;
use std::thread;

use rulestep_base::session::{Outcome, Session};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::{Body, Gate, InvalidPolicy, Policy, Verdict};
use serde_json::json;

const DEPLOY: &str = "tool: deploy\npreconditions: [{requires_prior_tool: test}]\n";
const REFUND: &str = "tool: refund\nforbids_after: [refund]\n";
const HALT: &str = "forbidden: [{sequence: [read, send], action: halt, reason: no export}]\n";

fn outcomes(session: &Session) -> Vec<(&str, Outcome)> {
    session.calls.iter().map(|call| (&*call.tool, call.outcome)).collect()
}

#[test]
fn a_folder_is_the_version_that_the_command_line_loads() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    std::fs::write(folder.path().join("deploy.yaml"), DEPLOY).unwrap();
    std::fs::write(folder.path().join("deep/refund.yml"), REFUND).unwrap();
    std::fs::write(folder.path().join("notes.md"), "tool: nothing").unwrap();
    let policy = Policy::from_dir(folder.path()).unwrap();
    let names: Vec<_> = policy.documents().iter().map(|document| &*document.relative).collect();
    assert_eq!(names, ["deep/refund.yml", "deploy.yaml"]);
    let one = Policy::from_dir(folder.path().join("deploy.yaml")).unwrap();
    assert_eq!(one.digest(), Policy::parse("deploy.yaml", DEPLOY).unwrap().digest());
}

#[test]
fn everything_wrong_with_a_policy_is_in_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = Policy::from_dir(folder.path()).unwrap_err();
    assert!(error.to_string().contains("error[empty_folder]"), "{error}");
    std::fs::write(folder.path().join("a.yaml"), "tool: deploy\nforbids_aftr: [x]\n").unwrap();
    std::fs::write(folder.path().join("b.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    let error: InvalidPolicy = Policy::from_dir(folder.path()).unwrap_err();
    let said: Box<dyn std::error::Error> = Box::new(error.clone());
    let said = said.to_string();
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains("a.yaml:2:1: error[unknown_key]"), "{said}");
    assert!(said.contains("b.yaml") && said.contains("error[unreadable_file]"), "{said}");
    assert!(error.diagnostics().iter().any(|diagnostic| diagnostic.help.is_some()));
}

/// What decides nothing is refused, rather than taken for a policy that allows everything.
#[test]
fn a_folder_without_any_policy_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("compose.yaml"), "services: {web: {image: nginx}}\n").unwrap();
    let error = Policy::from_dir(folder.path()).unwrap_err();
    assert!(error.to_string().contains("none of the files holds a policy"), "{error}");
}

#[test]
fn a_version_that_loads_keeps_its_warnings() {
    let policy = Policy::parse("p.yaml", "dialect: contract\ntool: deploy\n").unwrap();
    assert_eq!(policy.diagnostics().len(), 1, "{:?}", policy.diagnostics());
    assert_eq!(policy.diagnostics()[0].code.as_str(), "no_rules");
}

#[test]
fn a_dropped_call_satisfies_nothing_and_still_forbids() {
    let policy = Policy::parse("p.yaml", &format!("{DEPLOY}---\n{REFUND}")).unwrap();
    let mut gate = Gate::new(&policy);
    let mut turn = gate.turn();
    for tool in ["test", "refund"] {
        let call = turn.propose(tool, json!({}));
        assert!(call.allowed());
        drop(call);
    }
    drop(turn);
    let codes: Vec<_> =
        ["deploy", "refund"].map(|tool| gate.turn().propose(tool, json!({}))).into_iter().collect();
    let codes: Vec<_> = codes.iter().map(|call| call.decision().deciding().unwrap().code.as_str()).collect();
    assert_eq!(codes, ["prior_tool_missing", "forbidden"]);
    let session = gate.into_session();
    assert_eq!(outcomes(&session)[..2], [("test", Outcome::Unknown), ("refund", Outcome::Unknown)]);
    assert_eq!(outcomes(&session)[2..], [("deploy", Outcome::Refused), ("refund", Outcome::Refused)]);
}

#[test]
fn results_arrive_from_other_threads_and_after_the_turn() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&policy);
    let call = gate.turn().propose("test", json!({}));
    assert!(!gate.turn().propose("deploy", json!({})).allowed());
    thread::spawn(move || call.succeeded("41 passed")).join().unwrap();
    assert!(gate.turn().propose("deploy", json!({})).allowed());
    assert_eq!(gate.session().calls[0].output.raw(), "41 passed");
}

#[test]
fn a_failed_call_and_a_refused_one_satisfy_nothing() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&policy);
    gate.turn().propose("test", json!({})).failed("2 failed");
    gate.turn().propose("test", json!({})).refused("not now");
    // A result is read as a recording's would be, so that a replay agrees: this one is a published refusal.
    gate.turn().propose("test", json!({})).succeeded("Denied by policy.");
    assert!(!gate.turn().propose("deploy", json!({})).allowed());
    let session = gate.into_session();
    assert_eq!(
        session.calls.iter().map(|call| call.outcome).collect::<Vec<_>>()[..3],
        [Outcome::Error, Outcome::Refused, Outcome::Refused]
    );
}

#[test]
fn a_stopped_call_cannot_succeed() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&policy);
    gate.turn().propose("deploy", json!({})).succeeded("deployed all the same");
    let session = gate.into_session();
    assert_eq!(outcomes(&session), [("deploy", Outcome::Refused)]);
    assert_eq!(session.calls[0].output.raw(), "[permission denied: prior_tool_missing]");
}

#[test]
fn shadow_mode_stops_nothing_and_says_what_it_would_have() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&policy).shadow();
    let call = gate.turn().propose("deploy", json!({}));
    assert!(call.allowed());
    assert_eq!(call.decision().verdict, Verdict::Deny);
    call.succeeded("deployed");
    assert_eq!(outcomes(&gate.into_session()), [("deploy", Outcome::Ok)]);
}

#[test]
fn a_halted_session_stays_halted_when_it_is_resumed() {
    let policy = Policy::parse("export.yaml", HALT).unwrap();
    let mut gate = Gate::new(&policy);
    gate.turn().propose("read", json!({})).succeeded("data");
    let halt = gate.turn().propose("send", json!({}));
    assert_eq!(halt.decision().verdict, Verdict::Halt);
    drop(halt);
    assert!(gate.halt().is_some());
    let mut resumed = Gate::resume(&policy, gate.into_session());
    let next = resumed.turn().propose("read", json!({}));
    assert_eq!((next.decision().verdict, next.message()), (Verdict::NotReached, Some("[session halted]")));
}

#[test]
fn what_a_resumed_session_did_is_not_judged_again() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&Policy::empty());
    gate.turn().propose("deploy", json!({})).succeeded("deployed without tests");
    gate.turn().propose("test", json!({})).succeeded("41 passed");
    let mut resumed = Gate::resume(&policy, gate.into_session()).context(json!({"user_role": "standard"}));
    assert!(resumed.turn().propose("deploy", json!({})).allowed());
    let session = resumed.into_session();
    assert_eq!(session.turns.len(), 3);
    assert_eq!(session.facts.context, Some(json!({"user_role": "standard"})));
}

/// A message is no answer of the model: live and in a replay, rules see the same speaker.
#[test]
fn what_is_said_as_the_model_is_seen_as_a_replay_sees_it() {
    let plan = "tool: pay\nrejectionPlan: {conditions: [{type: regex, target: {role: assistant, position: -1}, regex: go}]}\n";
    let policy = Policy::parse("plan.yaml", plan).unwrap();
    let mut gate = Gate::new(&policy);
    gate.message("assistant", "go");
    let live = gate.turn().propose("pay", json!({})).decision().verdict;
    let session = std::sync::Arc::new(gate.into_session());
    let replay = rulestep_engine::replay::Replay::new(&session, &policy, rulestep_engine::run::Mode::Enforce);
    assert_eq!(live, replay.calls()[0].decision.verdict);
}

#[test]
fn narrowed_tools_are_kept_with_the_session() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&policy);
    let mut turn = gate.turn();
    assert_eq!(turn.visible(&["deploy", "test"]).iter().map(|tool| &**tool).collect::<Vec<_>>(), ["test"]);
    drop(turn);
    let session = gate.into_session();
    let offered: Vec<_> = session.offered_in(1).unwrap().iter().map(|tool| &*tool.name).collect();
    assert_eq!(offered, ["deploy", "test"]);
}

/// An explanation needs nothing beside it, and is what `replay` writes of the finding.
#[test]
fn a_stopped_call_explains_itself() {
    let policy = Policy::parse("p.yaml", &format!("{REFUND}---\n{DEPLOY}")).unwrap();
    let mut gate = Gate::new(&policy);
    let run = gate.turn().propose("refund", json!({}));
    assert!(run.explain().is_empty() && run.decision().told.is_none());
    run.succeeded("done");
    let call = gate.turn().propose("refund", json!({}));
    let said = call.explain();
    let [why] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(
        (why.rule.place().as_str(), why.code.map(|code| code.as_str())),
        ("p.yaml:2", Some("forbidden"))
    );
    assert_eq!(why.rule.source.slice(why.rule.span), "refund");
    assert!(why.headline.to_string().contains("refund"), "{}", why.headline);
    assert_eq!(why.message().as_deref(), call.message());
    assert_eq!(why.found[0].call.turn, 1);

    let (data, decision) =
        (serde_json::to_value(&said).unwrap(), serde_json::to_value(call.decision()).unwrap());
    let session = std::sync::Arc::new(gate.into_session());
    let replay = rulestep_engine::replay::Replay::new(&session, &policy, rulestep_engine::run::Mode::Enforce);
    let mut out = Vec::new();
    let (frame, last) = (replay.frame(2).unwrap(), session.calls.last().unwrap());
    rulestep::report::json::call(&replay, &frame, last, None, false, &mut out).unwrap();
    let line = &serde_json::from_slice::<serde_json::Value>(&out).unwrap()["call"];
    assert_eq!(line["findings"], data);
    assert_eq!((&line["decision"], &line["told"]), (&decision["decision"], &decision["told"]));
    for (own, whole) in decision["findings"].as_array().unwrap().iter().zip(data.as_array().unwrap()) {
        assert!(own.as_object().unwrap().iter().all(|(key, value)| whole[key] == *value), "{own}\n{whole}");
    }
}

/// Whoever writes the arguments must not be able to blind the rules about them.
#[test]
fn arguments_that_no_rule_can_look_into_are_denied() {
    const GUARD: &str = "{rules: [{type: max_calls, tool: {tool: deploy, args_match: {env: prod}}, max: 0}]}";
    let deep = format!(r#"{{"env": "prod", "x": {}{}}}"#, "[".repeat(127), "]".repeat(127));
    let unclear = [
        r#"{"env": "prod", "$serde_json::private::RawValue": "1"}"#,
        r#"{"env": "prod", "x": "\ud800"}"#,
        r#"{"env": "prod", "env": "dev"}"#,
        &deep,
    ];
    for policy in [GUARD, "{tool: other}"] {
        let policy = Policy::parse("p.yaml", policy).unwrap();
        for arguments in unclear {
            for body in [Body::json(arguments), Body::text(arguments)] {
                let mut gate = Gate::new(&policy);
                let call = gate.turn().propose("deploy", body.clone());
                assert!(!call.allowed() && call.explain().is_empty(), "{arguments}");
                let said = call.message().unwrap();
                assert!(
                    said.starts_with("[permission denied: the arguments of the call cannot be read: "),
                    "{said}"
                );
                // What is kept says so too, and the session goes on.
                let session = gate.session();
                assert_eq!(session.calls[0].output.raw(), said);
                assert!(matches!(session.calls[0].outcome, Outcome::Refused), "{arguments}");
                // A replay comes to the same, and so does the session after it was saved.
                let saved = serde_json::to_string(&session).unwrap();
                let mut read = rulestep_recording::read("saved.json", saved).unwrap();
                // A reader corrects half of a surrogate pair in what is no text, and says so.
                read.retain(|read| read.calls[0].arguments == body);
                assert!(!read.is_empty() || arguments.contains("ud800"), "{arguments}");
                for session in [session].into_iter().chain(read) {
                    let replay = Replay::new(&Arc::new(session), &policy, Mode::Enforce);
                    let decision = &replay.calls()[0].decision;
                    assert_eq!((decision.verdict, decision.told.as_deref()), (Verdict::Deny, Some(said)));
                    assert_eq!(decision, call.decision());
                }
                assert!(gate.turn().propose("deploy", json!({"env": "dev"})).allowed());
                assert!(Gate::new(&policy).shadow().turn().propose("deploy", body).allowed());
            }
        }
        // A text that is not JSON is what some tools take.
        assert!(Gate::new(&policy).turn().propose("apply_patch", "*** Begin Patch").allowed());
    }
}

#[test]
fn a_saved_session_goes_on_where_it_ended() {
    let policy = Policy::parse("deploy.yaml", DEPLOY).unwrap();
    let mut gate = Gate::new(&policy).context(json!({"user_role": "standard"}));
    gate.turn().propose("test", json!({"suite": [1.50]})).succeeded("41 passed");
    let saved = serde_json::to_string(&gate.into_session()).unwrap();
    let mut read = rulestep_recording::read("saved.json", saved.clone()).unwrap();
    assert_eq!(serde_json::to_string(&read[0]).unwrap(), saved);
    let mut resumed = Gate::resume(&policy, read.remove(0));
    assert!(resumed.turn().propose("deploy", json!({})).allowed());

    // What may have held calls is not resumed as if it had held none.
    for broken in ["", "{}", "nothing that anybody records", &saved[..saved.len() - 40]] {
        let error = rulestep_recording::read("saved.json", broken).unwrap_err();
        assert!(error.to_string().contains("saved.json"), "{broken:?}: {error} {:?}", error.diagnostics());
    }
}
