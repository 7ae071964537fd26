//! Cases written from sessions: they pass at once.

use std::sync::Arc;

use proptest::prelude::*;
use rulestep::case::write::{Draft, decision_at, up_to, write};
use rulestep::case::{Aspect, Fact, Place, Subject};
use rulestep::what_if::WhatIf;
use rulestep::witness;
use rulestep_base::diagnostic::Severity;
use rulestep_base::session::Session;
use rulestep_base::session::edit::{AddedCall, Edit};
use rulestep_base::session::{Body, Outcome};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

use super::{cases, judged, policy, session, text};
use crate::samples;

/// The text of a case that holds on to a decision.
fn saved(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode, call: u32) -> String {
    let replay = Replay::new(session, policy, mode);
    let at = session.calls[call as usize].at;
    let turn = at.turn;
    let expect = [decision_at(&replay, Place::In { turn: at.turn, call: at.call }).unwrap()];
    let without: Vec<Arc<str>> =
        policy.off().iter().map(|rule| policy.rules().get(*rule).unwrap().id.clone()).collect();
    let cut = up_to(session, turn);
    let draft = Draft {
        name: &format!("{}: turn {turn}", session.id),
        comments: &["saved\nfrom a test".to_owned()],
        description: Some("- a \"text\" # with marks"),
        policy: &["..".to_owned()],
        without: &without,
        mode,
        session: &cut,
        expect: &expect,
    };
    write(&draft).unwrap()
}

fn assert_passes(text: &str, policy: &Arc<Policy>) {
    let case = &cases("saved.case.yaml", text)[0];
    assert!(judged(case, policy).passes(), "{text}");
}

#[test]
fn every_decision_of_the_samples_passes_once_it_is_saved() {
    let policy = samples::policy();
    let mut saved_cases = 0;
    for session in samples::sessions() {
        for mode in [Mode::Enforce, Mode::Shadow] {
            let replay = Replay::new(&session, &policy, mode);
            // Long sessions have many calls that nobody would save.
            let calls = session.calls.iter().zip(replay.calls()).filter(|(call, judged)| {
                judged.decision.verdict.stops() || !judged.agrees || call.at.index < 2
            });
            for (call, _) in calls {
                assert_passes(&saved(&session, &policy, mode, call.at.index), &policy);
                saved_cases += 1;
            }
        }
    }
    assert!(saved_cases > 200, "{saved_cases}");
}

#[test]
fn a_witness_passes_once_it_is_saved() {
    let policy = samples::policy();
    let session = samples::session("refund-124");
    let found = witness::denial(&session, &policy, Mode::Enforce, 4, witness::BUDGET).unwrap();
    assert!(found.minimal);
    // The refund, the check of another order, and the look at the customer without which the check is stopped.
    assert_eq!(found.session().calls.len(), 3);
    let call = found.call(4).unwrap();
    assert_passes(&saved(found.session(), &policy, Mode::Enforce, call.index), &policy);
}

#[test]
fn what_was_supposed_passes_once_it_is_saved() {
    let (policy, base) = (policy(), &cases("a.case.yaml", &text("  {status: stopped}"))[0]);
    let mut what_if = WhatIf::default();
    assert!(what_if.is_empty());
    what_if.edit(Edit::Arguments { call: 1, arguments: Body::text("{\"id\": 3}") });
    what_if.edit(Edit::AddCall {
        turn: 1,
        behind: None,
        call: AddedCall {
            tool: "check".into(),
            arguments: Body::text("{\"id\": 3}"),
            outcome: Outcome::Ok,
            content: Body::text("{\"ok\": true}"),
        },
    });
    let now = |what_if: &WhatIf| {
        let supposed = what_if.suppose(session(base), &policy).unwrap();
        let replay = Replay::new(&supposed.session, &supposed.policy, Mode::Enforce);
        let words: Vec<&str> = replay.calls().iter().map(|judged| judged.decision.verdict.word()).collect();
        (words.join(" "), supposed)
    };
    let (decided, supposed) = now(&what_if);
    // Checked as well, the first refund runs; then the second is one too many.
    assert_eq!(decided, "allow allow allow deny");
    assert_passes(&saved(&supposed.session, &supposed.policy, Mode::Enforce, 3), &policy);
    // Without the rule against a second one, it runs too.
    assert!(what_if.switch("p/refund.yaml#/forbids_after/0"));
    let (decided, supposed) = now(&what_if);
    assert_eq!(decided, "allow allow allow allow");
    let text = saved(&supposed.session, &supposed.policy, Mode::Enforce, 3);
    assert!(text.contains("without: [\"p/refund.yaml#/forbids_after/0\"]"), "{text}");
    assert_passes(&text, &policy);
    assert!(!what_if.switch("p/refund.yaml#/forbids_after/0"));
    // The later change of one thing is the one that counts, and a call that goes takes its changes along.
    what_if.edit(Edit::Arguments { call: 1, arguments: Body::text("{}") });
    assert_eq!((what_if.edits().len(), now(&what_if).0.as_str()), (2, "allow allow deny allow"));
    what_if.edit(Edit::DropCall(1));
    assert_eq!((what_if.edits().len(), now(&what_if).0.as_str()), (2, "allow allow allow"));
    while what_if.take_back(0).is_some() {}
    assert!(what_if.is_empty());
    what_if.switch("nobody's rule");
    assert_eq!(now(&what_if).1.unknown.len(), 1);
}

#[test]
fn texts_that_yaml_would_read_otherwise_stay_themselves() {
    let words = [
        "yes",
        "null",
        "1.0",
        "- a",
        "a: b",
        "a #b",
        "\u{85}\u{2028}\u{feff}\u{7f}",
        "\"'\\",
        "😀",
        "",
        "*x",
        "~",
    ];
    let mut session = Session::clone(session(&cases("a.case.yaml", &text("  {status: stopped}"))[0]));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(120), "]".repeat(120));
    let bodies = [
        Body::json("{\"a\": 1, \"a\": 2}"),
        Body::json("{\"$serde_json::private::Number\": \"1\"}"),
        Body::json("[\"\\ud83d\\ude00\", 1E400, -0.0, \"\\u0000\"]"),
        Body::json(&deep),
        Body::text("line\r\nline\ttab"),
        Body::text("{\"$serde_json::private::RawValue\": \"1\"}"),
    ];
    for (message, body) in session.messages.iter_mut().filter(|message| &*message.role == "tool").zip(&bodies)
    {
        message.content = body.clone();
    }
    for word in words {
        for body in &bodies {
            session.messages[1].content = body.clone();
            let mut first = true;
            session.change_proposed(|call, _| {
                if std::mem::take(&mut first) {
                    call.arguments = body.clone();
                    call.tool = if word.is_empty() { "x" } else { word }.into();
                }
            });
            session.id = format!("id {word}").into();
            let expect: [(Subject, Vec<(Aspect, Fact)>); 1] =
                [(Subject::Turn(1), vec![(Aspect::Offered(word.into()), Fact::Word("visible".into()))])];
            let draft = Draft {
                name: if word.is_empty() { "x" } else { word },
                comments: &[word.to_owned()],
                description: Some(word),
                policy: &["a b".to_owned(), "#".to_owned()],
                without: &[],
                mode: Mode::Shadow,
                session: &session,
                expect: &expect,
            };
            let text = write(&draft).unwrap_or_else(|error| panic!("{word} {body:?}: {error}"));
            let read = rulestep::case::read::read(
                &rulestep_base::source::Source::new("a.case.yaml", text.as_str()),
                true,
            );
            assert!(read.diagnostics.iter().all(|told| told.severity < Severity::Error), "{text}");
            assert_eq!(read.cases[0].description.as_deref(), Some(word));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_session_can_be_saved(document in crate::sessions::written::document()) {
        let (mut read, _) = crate::sessions::opened(document.to_string());
        let session = Arc::new(read.remove(0));
        prop_assume!(!session.messages.is_empty());
        for call in &session.calls {
            assert_passes(&saved(&session, &policy(), Mode::Enforce, call.at.index), &policy());
        }
    }
}
