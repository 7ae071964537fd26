//! Rules switched off: the rest decides as if their text were not there.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rulestep_base::session::Session;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use crate::samples;

const MODES: [Mode; 2] = [Mode::Enforce, Mode::Shadow];

/// Everything that is decided, rules by what they are about instead of their ids.
fn decided(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Vec<String> {
    let replay = Replay::new(session, policy, mode);
    let place = |rule| {
        policy.rules().get(rule).map(|rule| (rule.source.name().to_owned(), rule.kind, rule.tool.clone()))
    };
    let mut seen: Vec<String> = Vec::new();
    for judged in replay.calls() {
        let findings = judged
            .decision
            .findings
            .iter()
            .map(|finding| (place(finding.rule), finding.effect, finding.code));
        seen.push(format!(
            "{:?} {:?} {:?}",
            judged.decision.verdict,
            judged.decision.told,
            findings.collect::<Vec<_>>()
        ));
    }
    for frame in replay.frames(1, 6) {
        let turn = session.turn(frame.turn).unwrap();
        let hidden = frame
            .narrowing
            .tools
            .iter()
            .filter(|tool| session.offered_in(turn.number).is_some() && !tool.visible());
        seen.extend(hidden.map(|tool| {
            format!("{} {:?}", tool.tool, tool.reasons.iter().map(|reason| reason.code).collect::<Vec<_>>())
        }));
    }
    seen.extend(replay.rules().iter().map(|state| format!("{:?} {:?}", state.outcome, state.code)));
    seen
}

/// A document without what stands at a pointer.
fn cut(value: &mut Value, pointer: &str) {
    let (above, last) = pointer.rsplit_once('/').unwrap();
    let last = last.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(above).unwrap() {
        Value::Array(items) => drop(items.remove(last.parse().unwrap())),
        Value::Object(map) => drop(map.remove(&last).unwrap()),
        other => panic!("{other}"),
    }
}

#[test]
fn rules_of_every_kind_can_be_switched_off() {
    let files = samples::contracts();
    let whole = samples::policy();
    let mut sessions = samples::sessions();
    sessions.retain(|session| session.turns.len() <= 12);
    let before: Vec<_> =
        sessions.iter().map(|session| MODES.map(|mode| decided(session, &whole, mode))).collect();
    let (mut changed, mut kinds) = (0, HashMap::new());
    for (id, rule) in whole.rules().iter() {
        // Three rules of each kind are enough.
        let seen: &mut u32 = kinds.entry((rule.dialect, rule.kind)).or_default();
        *seen += 1;
        if *seen > 3 {
            continue;
        }

        let less = whole.without(&BTreeSet::from([id])).unwrap_or_else(|| panic!("{}", rule.id));
        assert_eq!(less.rules().len(), whole.rules().len());
        assert!(less.digest() != whole.digest() && less.off().contains(&id));
        // The same with the text taken out, as a document of its own.
        let files: Vec<PolicyFile> = files
            .iter()
            .map(|file| {
                if *file.name != *rule.source.name() {
                    return file.clone();
                }
                let source = rulestep_base::source::Source::new(file.name.clone(), file.text.clone());
                let mut document = rulestep_base::source::parse(&source).documents[0].to_json();
                let dialect =
                    whole.documents().iter().find(|document| document.source == source).unwrap().dialect;
                cut(&mut document, &rule.pointer);
                document["dialect"] = json!(dialect);
                PolicyFile { text: document.to_string().into(), ..file.clone() }
            })
            .collect();
        let cut = Policy::load(&files, None);
        // A plan's document may not bear the key, and decides nothing without its plan.
        let Some(cut) = cut.policy else { panic!("{}: {:#?}", rule.id, cut.diagnostics) };
        let which = id.0 as usize % 2;
        for (place, session) in sessions.iter().enumerate() {
            let now = decided(session, &less, MODES[which]);
            let differs = now != before[place][which];
            changed += usize::from(differs);
            // Where nothing changes, some are looked at all the same.
            if differs || place % 8 == id.0 as usize % 8 {
                assert_eq!(now, decided(session, &cut, MODES[which]), "{} {}", rule.id, session.id);
            }
        }
    }
    assert!(changed > 30 && kinds.len() >= 14, "{changed} {kinds:?}");
}

#[test]
fn switching_off_adds_up_and_none_changes_nothing() {
    let whole = samples::policy();
    let ids: Vec<_> = whole.rules().iter().map(|(id, _)| id).take(3).collect();
    let one = whole.without(&BTreeSet::from([ids[0]])).unwrap();
    let two = one.without(&BTreeSet::from([ids[2]])).unwrap();
    let both = whole.without(&BTreeSet::from([ids[0], ids[2]])).unwrap();
    assert_eq!((two.off(), two.off().len()), (both.off(), 2));
    let all = whole.without(&whole.rules().iter().map(|(id, _)| id).collect()).unwrap();
    for session in samples::sessions() {
        assert_eq!(decided(&session, &two, Mode::Enforce), decided(&session, &both, Mode::Enforce));
        let same = whole.without(&BTreeSet::new()).unwrap();
        assert_eq!(decided(&session, &same, Mode::Enforce), decided(&session, &whole, Mode::Enforce));
        assert!(!Replay::new(&session, &all, Mode::Enforce).objects());
    }
}

#[test]
fn a_pair_of_the_old_form_can_be_switched_off() {
    let policy = super::version(&[("old.yaml", "sequences: [[a, b, c]]\n")]);
    let off = |rule: u32| policy.without(&BTreeSet::from([rulestep_engine::monitor::RuleId(rule)])).unwrap();
    assert_eq!(policy.rules().len(), 2);
    for (rule, left) in [(0, "sequences: [[b, c]]\n"), (1, "sequences: [[a, b]]\n")] {
        let cut = super::version(&[("old.yaml", left)]);
        for tools in ["b", "c", "a | c", "a | b | c", "b | c", "a | b"] {
            let session = crate::compare::session(tools);
            let [now, then] = [&off(rule), &cut].map(|policy| decided(&session, policy, Mode::Enforce));
            assert_eq!(now, then, "{rule} {tools}");
        }
    }
}

#[test]
fn rules_of_a_policy_without_files_cannot_be_switched_off() {
    let built = Policy::of_units(samples::policy().rules().clone(), Vec::new());
    assert!(built.without(&BTreeSet::from([rulestep_engine::monitor::RuleId(0)])).is_none());
}
