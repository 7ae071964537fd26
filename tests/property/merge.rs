//! Results of any parts of a corpus, merged in any order and grouping, are the result of one run over all of it.

use std::sync::Arc;

use proptest::prelude::*;
use rulestep::compare::{Base, Comparison};
use rulestep::explore::coverage::Coverage;
use rulestep::explore::identity::Identity;
use rulestep::explore::inventory::Inventory;
use rulestep::report::diff::{DiffResult, Part, View};
use rulestep::report::formats::Report as _;
use rulestep::report::merge::RunResult;
use rulestep::report::{Judged, Look, RunCounts, Scope, coverage, diff, stats, totals};
use rulestep_base::session::Session;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::read;
use crate::generate::pools;
use crate::generate_contracts::contracts;
use crate::generate_rules::document;
use crate::generate_sessions::session;

/// Two versions, sessions, and for each the file and the part it is in.
type Corpus = (Vec<Value>, Vec<Value>, Vec<(Value, u8, u8)>);

fn corpora() -> impl Strategy<Value = Corpus> {
    pools().prop_flat_map(|pools| {
        let sessions = proptest::collection::vec((session(pools), 0..3_u8, 0..4_u8), 1..8);
        (contracts(pools), contracts(pools), proptest::option::of(document(pools)), sessions).prop_map(
            |(base, mut new, rules, sessions)| {
                new.extend(rules);
                (base, new, sessions)
            },
        )
    })
}

fn policy(documents: &[Value]) -> Arc<Policy> {
    let file = |(index, document): (usize, &Value)| {
        let name: Arc<str> = format!("p/{index}.json").into();
        PolicyFile { relative: Arc::clone(&name), name, text: document.to_string().into(), named: true }
    };
    let files: Vec<PolicyFile> = documents.iter().enumerate().map(file).collect();
    Policy::load(&files, None).policy.unwrap()
}

/// What every command writes of these sessions, in the order of [`COMMANDS`].
fn results(base: &Arc<Policy>, new: &Arc<Policy>, sessions: &[&Arc<Session>]) -> [Vec<u8>; 4] {
    let mode = Mode::Enforce;
    let mut total = RunCounts::default();
    let (mut covered, mut held) = (Coverage::default(), Inventory::default());
    let comparison = Comparison::new(Base::Version(Arc::clone(base)), Arc::clone(new));
    let look = Look { scope: Scope::Summary, color: false };
    let view = View { comparison: &comparison, base: "b", new: "n", mode, look, fails: &[], command: "" };
    let outputs: Vec<_> = diff::OUTPUTS.iter().filter(|output| output.name == "json").collect();
    let mut compared = DiffResult::default();
    for session in sessions {
        let identity = Identity::of(session);
        total.add(&Judged::new(Arc::clone(session), new, mode, Scope::Summary));
        total.note(&session.diagnostics);
        total.provenance.sessions.push(identity);
        covered.merge(&Coverage::of(&Replay::with_checks(session, new, mode)));
        held.merge(&Inventory::of(&Replay::new(session, new, mode)));
        compared.take(Part::of(&comparison.session(session, mode), &view, &outputs), 1);
        compared.told.provenance.sessions.push(identity);
    }
    let mut written = [const { Vec::new() }; 4];
    let [replayed, differences, coverages, inventories] = &mut written;
    totals::json(&total, new, mode, replayed).unwrap();
    (outputs[0].end)(&compared, &view, differences).unwrap();
    let view = coverage::View { coverage: &covered, policy: new, mode, read: &total, color: false };
    view.json(coverages).unwrap();
    let (policy, read) = (Some(&**new), &total);
    let view = stats::View { inventory: &held, policy, mode, read, full: true, color: false };
    view.json(inventories).unwrap();
    written
}

fn read_result(bytes: &[u8]) -> RunResult {
    RunResult::read(bytes).unwrap()
}

fn written(result: &RunResult) -> String {
    let mut bytes = Vec::new();
    result.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn merged<'a>(results: impl IntoIterator<Item = &'a Vec<u8>>) -> RunResult {
    results
        .into_iter()
        .map(|bytes| read_result(bytes))
        .reduce(|mut one, two| {
            one.merge(two).unwrap();
            one
        })
        .unwrap()
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn merged_parts_are_one_run((base, new, sessions) in corpora(), order in any::<u64>()) {
        let (base, new) = (policy(&base), policy(&new));
        let mut all: Vec<(Arc<Session>, u8)> = Vec::new();
        for (place, (value, file, part)) in sessions.into_iter().enumerate() {
            let mut session = read(&value);
            session.id = format!("s{place}").into();
            session.origin.file = format!("f{file}.jsonl").into();
            session.origin.index = place;
            all.push((Arc::new(session), part));
        }
        all.sort_by_key(|(session, _)| (Arc::clone(&session.origin.file), session.origin.index));
        let whole = results(&base, &new, &all.iter().map(|(session, _)| session).collect::<Vec<_>>());
        // A part may have no session.
        let mut parts: Vec<_> = (0..4_u8).map(|part| {
            let part: Vec<_> = all.iter().filter(|(_, of)| *of == part).map(|(session, _)| session).collect();
            results(&base, &new, &part)
        }).collect();
        let nothing = results(&base, &new, &[]);
        for (command, whole) in whole.iter().enumerate() {
            let whole = String::from_utf8(whole.clone()).unwrap();
            let of = |part: &[Vec<u8>; 4]| part[command].clone();
            prop_assert_eq!(&written(&merged(parts.iter().map(|part| &part[command]))), &whole);
            // In another order.
            let turned = order as usize % parts.len();
            parts.rotate_left(turned);
            parts.swap(0, order as usize / 7 % 4);
            prop_assert_eq!(&written(&merged(parts.iter().map(|part| &part[command]))), &whole);
            // In another grouping, with a result that was written and read in between.
            let pairs: Vec<Vec<u8>> = parts.chunks(2)
                .map(|pair| written(&merged(pair.iter().map(|part| &part[command]))).into_bytes())
                .collect();
            prop_assert_eq!(&written(&merged(&pairs)), &whole);
            // With a result that has nothing in it.
            let with_nothing = [of(&nothing), whole.clone().into_bytes(), of(&nothing)];
            prop_assert_eq!(&written(&merged(&with_nothing)), &whole);
            // The same sessions twice are refused.
            let mut twice = read_result(whole.as_bytes());
            prop_assert!(twice.merge(read_result(whole.as_bytes())).is_err());
        }
    }

    #[test]
    fn a_session_keeps_its_identity_wherever_it_is(value in pools().prop_flat_map(session)) {
        let session = read(&value);
        let mut moved = session.clone();
        moved.origin.file = "elsewhere.jsonl".into();
        moved.origin.index = 7;
        moved.diagnostics.clear();
        prop_assert_eq!(Identity::of(&session), Identity::of(&moved));
        let mut other = value.clone();
        other["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "one more"}));
        prop_assert_ne!(Identity::of(&session), Identity::of(&read(&other)));
        moved.id = "another".into();
        prop_assert_ne!(Identity::of(&session), Identity::of(&moved));
    }
}
