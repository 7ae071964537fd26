//! The built-in samples: every contract loads clean, every recording reads, and each call is decided as declared here
//! and in the samples' own README.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::edit::apply;
use rulestep_base::session::{Outcome, Session};
use rulestep_engine::dialect::contracts::explain::Prior;
use rulestep_engine::monitor::Effect;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{Replay, outcomes};
use rulestep_engine::run::{Mode, Verdict};
use rulestep_engine::way_out::{Answer, way_out};
use rulestep_recording::{self as recording, Options};

/// What each session comes to in `enforce`. Named are the calls that are stopped, with the deciding code, and those that
/// were refused when it was recorded; every other call is allowed and ran.
const OUTCOMES: &[(&str, &str)] = &[
    ("coding-821", "3.1 deny before_missing; 4.1 deny before_missing"),
    ("coding-822", "3.1 deny after_trigger; 4.1 deny after_trigger"),
    ("coding-823", "1.1 deny before_missing; 5.1 deny before_missing"),
    ("coding-824", "4.1 deny before_missing; 8.1 deny after_trigger"),
    ("clinic-901", "all allowed"),
    ("clinic-902", "1.1 deny before_missing; 3.1 deny before_missing"),
    ("clinic-903", "3.1 deny not_adjacent; 4.1 deny blocklisted; 5.2 deny max_calls_over"),
    ("clinic-904", "4.1 deny after_trigger; 6.1 deny sequence_out_of_order"),
    ("clinic-905", "2.1 deny sequence_interrupted"),
    ("coding-801", "all allowed"),
    (
        "coding-802",
        "1.1 deny not_read_before_write; 3.1 deny not_read_before_write; 5.2 deny not_read_before_write; 5.3 deny not_read_before_write",
    ),
    ("coding-803", "1.1 deny dependency_missing; 5.1 deny dependency_missing"),
    ("coding-804", "2.1 deny not_read_before_write"),
    ("desk-701", "all allowed"),
    ("desk-702", "3.1 halt sequence_forbidden; 3.2 not_reached; 4.1 not_reached"),
    ("desk-703", "5.3 deny sequence_forbidden"),
    ("desk-704", "2.1 deny limit_reached; 3.1 halt limit_reached"),
    (
        "desk-705",
        "2.1 deny sequence_forbidden; 4.2 deny limit_reached; 4.3 halt sequence_forbidden; 5.1 not_reached",
    ),
    ("notes-811", "1.1 deny not_read_before_write"),
    ("phone-901", "all allowed"),
    ("phone-902", "2.1 deny plan_matched"),
    ("phone-903", "3.1 deny plan_matched; 5.1 deny plan_matched"),
    ("phone-904", "2.1 deny plan_matched"),
    ("phone-905", "4.1 deny plan_matched, refused then"),
    ("refund-121", "all allowed"),
    ("refund-122", "all allowed"),
    ("refund-124", "4.1 deny resource_unmatched; 5.1 deny prior_tool_missing; 7.1 deny forbidden"),
    ("refund-125", "5.1 deny prior_output_unmatched"),
    ("refund-126", "4.2 deny forbidden"),
    ("refund-127", "4.1 deny resource_missing"),
    ("refund-128", "5.1 deny prior_output_unmatched"),
    ("refund-129", "4.1 deny prior_tool_missing"),
    ("refund-130", "4.1 allow, refused then; 6.1 allow, refused then"),
    ("refund-131", "2.1 deny prior_tool_missing, refused then"),
    ("refund-132", "3.1 deny step_count_below; 5.1 deny step_count_below"),
    ("refund-133", "4.1 deny resource_missing"),
    ("refund-134", "4.1 deny prior_tool_missing"),
    ("refund-135", "5.1 deny forbidden"),
    ("refund-136", "4.1 deny prior_output_unmatched"),
    ("release-205", "all allowed"),
    ("release-206", "4.2 deny prior_tool_missing"),
    ("release-207", "4.1 deny forbidden"),
    ("release-208", "1.1 deny prior_tool_missing; 2.1 deny prior_tool_missing; 3.1 deny prior_tool_missing"),
    ("release-201", "all allowed"),
    ("release-202", "2.1 deny prior_tool_missing; 5.1 deny prior_tool_missing"),
    ("release-203", "8.1 deny forbidden; 10.1 deny forbidden"),
    ("release-204", "1.1 deny prior_tool_missing, refused then; 3.1 allow, refused then"),
    ("risk-601", "all allowed"),
    ("risk-602", "2.1 deny prior_output_unmatched; 3.1 deny step_count_below"),
    ("risk-603", "4.1 deny prior_output_unmatched"),
    ("risk-604", "2.1 allow, refused then"),
    ("shop-505", "4.1 deny prior_output_unmatched"),
    ("shop-501", "all allowed"),
    ("shop-502", "4.1 deny forbidden; 5.1 deny forbidden"),
    ("shop-503", "2.2 deny prior_tool_missing"),
    ("shop-504", "4.1 deny forbidden"),
    ("support-140", "all allowed"),
    ("transfer-405", "3.1 deny prior_output_unmatched"),
    ("transfer-406", "3.1 deny prior_tool_missing"),
    ("transfer-401", "all allowed"),
    ("transfer-402", "4.1 deny resource_unmatched"),
    ("transfer-403", "3.1 deny prior_output_unmatched"),
    ("transfer-404", "5.1 deny forbidden"),
    ("warehouse-301", "all allowed"),
    ("warehouse-302", "4.1 deny resource_unmatched; 5.1 deny prior_tool_missing"),
    ("warehouse-303", "4.1 deny forbidden; 5.1 deny forbidden"),
    ("warehouse-304", "11.1 deny prior_output_unmatched; 36.1 deny resource_unmatched"),
    ("warehouse-305", "all allowed"),
];

/// What is said about a session when it is read; nothing about the others.
const DIAGNOSTICS: &[(&str, &[&str])] = &[
    ("refund-133", &["arguments_not_json"]),
    ("refund-134", &["result_without_call"]),
    ("release-207", &["call_without_result"]),
];

/// The codes of findings that can decide.
const CODES: [&str; 18] = [
    "forbidden",
    "step_count_below",
    "prior_tool_missing",
    "resource_missing",
    "resource_unmatched",
    "prior_output_unmatched",
    "sequence_forbidden",
    "limit_reached",
    "dependency_missing",
    "not_read_before_write",
    "plan_matched",
    "before_missing",
    "not_adjacent",
    "blocklisted",
    "max_calls_over",
    "after_trigger",
    "sequence_interrupted",
    "sequence_out_of_order",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Every file below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> Arc<str> {
    path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/").into()
}

pub fn contracts() -> Vec<PolicyFile> {
    let files = files(&root().join("contracts"));
    let yaml = files.iter().filter(|path| {
        let name = path.to_str().unwrap();
        name.ends_with(".yaml") && !name.ends_with(".case.yaml")
    });
    yaml.map(|path| PolicyFile {
        name: shown(path),
        relative: shown(path).strip_prefix("contracts/").unwrap().into(),
        text: fs::read_to_string(path).unwrap().into(),
        named: false,
    })
    .collect()
}

pub fn policy() -> Arc<Policy> {
    Policy::load(&contracts(), None).policy.unwrap()
}

pub fn sessions() -> Vec<Arc<Session>> {
    samples().sessions
}

/// All recordings.
#[derive(Default)]
struct Samples {
    sessions: Vec<Arc<Session>>,
    /// What is said of files that belongs to no session: file and code.
    of_files: Vec<(Arc<str>, &'static str)>,
}

fn samples() -> Samples {
    let mut samples = Samples::default();
    for path in files(&root().join("sample-traces")) {
        if path.extension().is_some_and(|extension| extension == "md") {
            continue;
        }
        let input = Box::new(BufReader::new(File::open(&path).unwrap()));
        let mut reading = recording::open(shown(&path), input, &Options::default()).unwrap();
        samples.sessions.extend(reading.by_ref().map(Arc::new));
        let said = reading.diagnostics();
        samples.of_files.extend(said.iter().map(|diagnostic| (shown(&path), diagnostic.code.as_str())));
    }
    samples
}

pub fn session(id: &str) -> Arc<Session> {
    sessions().into_iter().find(|session| &*session.id == id).unwrap()
}

fn enforced(id: &str) -> Replay {
    Replay::new(&session(id), &policy(), Mode::Enforce)
}

/// A session's row of [`OUTCOMES`].
fn outcome(replay: &Replay) -> String {
    let mut parts = Vec::new();
    for (call, judged) in replay.session().calls.iter().zip(replay.calls()) {
        let mut part = format!("{}.{} {}", call.at.turn, call.at.call, judged.decision.verdict.word());
        if let Some(finding) = judged.decision.deciding() {
            part += &format!(" {}", finding.code);
        }
        if call.outcome == Outcome::Refused {
            part += ", refused then";
        }
        if judged.decision.verdict != Verdict::Allow || call.outcome == Outcome::Refused {
            parts.push(part);
        }
    }
    if parts.is_empty() { "all allowed".to_owned() } else { parts.join("; ") }
}

#[test]
fn every_contract_loads_without_a_diagnostic() {
    let files = contracts();
    let loaded = Policy::load(&files, None);
    // What a comment allows is left out by `check`, see `lint`.
    let left = |told: &&Diagnostic| told.code.as_str() != "zero_limit";
    assert_eq!(loaded.diagnostics.iter().filter(left).collect::<Vec<_>>(), Vec::<&Diagnostic>::new());
    assert_eq!(loaded.documents.len(), files.len());
    assert!(loaded.policy.is_some());
}

/// The samples are the documentation of the dialect, so each of its features is in one of them.
#[test]
fn the_contracts_use_the_whole_dialect() {
    let all: String = contracts().iter().map(|file| format!("{}\n", file.text)).collect();
    for feature in [
        "match: any",
        "match: newest",
        "exists: true",
        "exists: false",
        "equals: true",
        "gte: 0.8, lte: 1}",
        "{path: $.score, lte:",
        "{path: $.total}",
        "requires_step_count: {gte: 4}\n    requires_prior_tool:",
        "prior: {bind_from: output,",
        "prior: {bind_from: arguments,",
        "[*]",
        "[0]",
        "['digest']",
        "forbids_after: [issue_refund, void_order]",
        "forbids_after: [void_order]",
    ] {
        assert!(all.contains(feature), "no sample contract has `{feature}`");
    }
}

#[test]
fn every_recording_reads_and_says_what_is_odd_about_it() {
    let Samples { sessions, of_files } = samples();
    assert_eq!(
        of_files,
        [
            ("sample-traces/releases.jsonl".into(), "no_errors_marked"),
            ("sample-traces/shop-505-no-results.json".into(), "no_results_recorded"),
        ]
    );
    let ids: BTreeSet<&str> = sessions.iter().map(|session| &*session.id).collect();
    assert_eq!(ids.len(), sessions.len(), "an id is used twice");
    for session in &sessions {
        let said: Vec<&str> = session.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        let row = DIAGNOSTICS.iter().find(|(id, _)| *id == &*session.id);
        assert_eq!(said, row.map_or(&[][..], |(_, codes)| codes), "{}", session.id);
        assert!(!session.turns.is_empty(), "{}", session.id);
    }
    assert!(DIAGNOSTICS.iter().all(|(id, _)| ids.contains(id)));
    assert!(sessions.iter().any(|session| session.turns.len() > 40));
    let size: u64 =
        files(&root().join("sample-traces")).iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(size < 300_000, "{size} bytes of samples");
}

#[test]
fn every_call_is_decided_as_declared() {
    let policy = policy();
    let sessions = sessions();
    let mut actual = Vec::new();
    for session in &sessions {
        let replay = Replay::new(session, &policy, Mode::Enforce);
        assert_eq!(outcomes(session, &policy, Mode::Enforce).summary, replay.summary(), "{}", session.id);
        actual.push((&*session.id, outcome(&replay)));
    }
    // By session, wherever its file sorts.
    let actual: BTreeSet<(&str, &str)> = actual.iter().map(|(id, outcome)| (*id, outcome.as_str())).collect();
    assert_eq!(actual, OUTCOMES.iter().copied().collect());
}

/// What no gate could save is told at the end of the session, and of no other session.
#[test]
fn rules_about_sessions_are_violated_where_the_readme_says_so() {
    let policy = policy();
    let mut violated = Vec::new();
    for session in sessions() {
        let replay = Replay::new(&session, &policy, Mode::Enforce);
        let codes = replay.rules().iter().filter_map(|state| state.code);
        violated.extend(codes.map(|code| format!("{} {code}", session.id)));
    }
    assert_eq!(
        violated,
        [
            "clinic-904 follow_up_missing",
            "clinic-904 sequence_cut_short",
            "clinic-905 sequence_cut_short",
            "coding-801 follow_up_missing",
            "coding-802 follow_up_missing",
            "coding-823 follow_up_missing"
        ]
    );
}

#[test]
fn the_readmes_say_the_same() {
    let table = text("sample-traces/README.md");
    for (id, outcome) in OUTCOMES {
        let row = table.lines().find(|line| line.contains(&format!("| {id} |")));
        let row = row.unwrap_or_else(|| panic!("no row for {id}"));
        assert!(row.ends_with(&format!("| {outcome} |")), "{row}");
    }
    for path in files(&root().join("sample-traces")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || table.contains(&format!("`{name}`")), "{name} is not in the README");
    }
    let table = text("contracts/README.md");
    for file in contracts() {
        assert!(table.contains(&format!("`{}`", file.relative)), "{} is not in the README", file.relative);
    }
}

#[test]
fn every_code_decides_a_call_and_hides_a_tool_where_it_can() {
    let policy = policy();
    let (mut decided, mut reported, mut hid) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for session in sessions() {
        let replay = Replay::new(&session, &policy, Mode::Enforce);
        for finding in replay.calls().iter().filter_map(|judged| judged.decision.deciding()) {
            decided.insert(finding.code.as_str());
        }
        let findings = replay.calls().iter().flat_map(|judged| &judged.decision.findings);
        let reports = findings.filter(|finding| finding.effect == Effect::Report);
        reported.extend(reports.map(|finding| finding.code.as_str()));
        for frame in replay.frames(1, session.turns.len() as u32) {
            let reasons = frame.narrowing.tools.iter().flat_map(|tool| &tool.reasons);
            hid.extend(reasons.map(|reason| reason.code.as_str()));
        }
    }
    assert_eq!(decided, BTreeSet::from(CODES));
    assert_eq!(reported, BTreeSet::from(["existence_unknown", "follow_up_missing"]));
    // What a call lacks is known of the call alone.
    assert!(
        [
            "forbidden",
            "step_count_below",
            "prior_tool_missing",
            "prior_output_unmatched",
            "sequence_forbidden",
            "limit_reached",
            "dependency_missing",
            "plan_matched"
        ]
        .iter()
        .all(|code| hid.contains(code)),
        "{hid:?}"
    );
    assert!(!hid.contains("resource_missing") && !hid.contains("not_read_before_write"));
}

/// The recordings show every outcome of a call, every way in which a refusal is known, and both kinds of disagreement.
#[test]
fn every_situation_occurs() {
    let policy = policy();
    let (mut ended, mut refusals, mut disagreements) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut late, mut parallel, mut inferred, mut changes, mut silent) = (0, 0, 0, 0, 0);
    for session in sessions() {
        let replay = Replay::new(&session, &policy, Mode::Enforce);
        for (call, judged) in session.calls.iter().zip(replay.calls()) {
            ended.insert(call.outcome.word());
            refusals.extend(call.refusal);
            if !judged.agrees {
                disagreements.insert((call.outcome.word(), judged.decision.verdict.word()));
            }
        }
        late += session.turns.iter().filter(|turn| !turn.late.is_empty()).count();
        parallel += session.turns.iter().filter(|turn| turn.calls.len() > 1).count();
        inferred += usize::from(session.offered.is_empty());
        changes += usize::from(session.offered.len() > 1);
        silent += usize::from(session.calls.is_empty());
    }
    assert_eq!(ended, BTreeSet::from(["ok", "error", "refused", "unknown"]));
    assert_eq!(refusals.len(), 4, "{refusals:?}");
    assert!(disagreements.contains(&("ok", "deny")) && disagreements.contains(&("refused", "allow")));
    assert!(late > 0 && parallel > 0 && inferred > 0 && changes > 0 && silent > 0);
}

/// The session that the pictures of the workbench show.
#[test]
fn the_order_mismatch_stands_as_it_is_pictured() {
    let replay = enforced("refund-124");
    let frame = replay.frame(4).unwrap();
    let hidden: Vec<_> = frame.narrowing.tools.iter().filter(|tool| !tool.visible()).collect();
    let reasons: Vec<_> = hidden.iter().map(|tool| (&*tool.tool, tool.reasons[0].code.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("void_order", "forbidden"),
            ("send_refund_receipt", "prior_tool_missing"),
            ("escalate_to_human", "step_count_below")
        ]
    );
    assert_eq!(frame.narrowing.tools.len(), 8);
    let judged = replay.call(4).unwrap();
    let finding = judged.decision.deciding().unwrap();
    assert_eq!(judged.decision.findings.len(), 1);
    assert_eq!(finding.checked.as_ref().unwrap().value, Some("ORD-124".into()));
    assert_eq!(finding.found[0].value, Some("ORD-123".into()));
    assert_eq!(finding.found[0].call.turn, 3);
    assert!(!judged.counterfactual && replay.call(5).unwrap().counterfactual);
}

#[test]
fn findings_say_what_would_have_helped() {
    let prior = |id: &str, index: u32| {
        let replay = enforced(id);
        let facts = replay.call(index).unwrap().decision.deciding().unwrap().facts.clone();
        facts.unwrap().downcast_ref::<Prior>().unwrap().clone()
    };
    assert_eq!(prior("refund-128", 3).hint.as_deref(), Some("$.result.eligible"));
    let withdrawn = prior("refund-125", 4);
    assert!(withdrawn.other_reading, "an earlier check had found the order eligible");
    assert_eq!(withdrawn.matching, "newest");
    assert!(prior("risk-603", 5).other_reading, "the desk had been open");
}

/// What is said of every stopped call, the call itself as it is in the session with the steps put into it.
#[test]
fn every_stopped_call_has_a_way_out_or_none() {
    let policy = policy();
    let (mut ways, mut missing) = (0, Vec::new());
    for session in sessions() {
        for mode in [Mode::Enforce, Mode::Shadow] {
            let replay = Replay::new(&session, &policy, mode);
            for call in &session.calls {
                let stops = replay.call(call.at.index).unwrap().decision.verdict.stops();
                let Some(way) = way_out(&replay, call.at.index) else {
                    assert!(!stops, "{} {:?}", session.id, call.at);
                    continue;
                };
                let edited = apply(&session, &way.edits());
                let judged = Replay::new(&edited.session, &policy, mode);
                let now = judged.call(edited.call(call.at.index).unwrap()).unwrap().decision.verdict;
                let helps = matches!(way.answer, Answer::After(_)) || way.change.is_some();
                assert_eq!(now == Verdict::Allow, helps, "{} {:?}: {way:?}", session.id, call.at);
                if let Answer::NotWithin(most) = way.answer {
                    missing.push(format!("{} {}.{} {most}", session.id, call.at.turn, call.at.call));
                }
                ways += 1;
            }
        }
    }
    assert!(ways > 150, "{ways}");
    assert_eq!(missing, <[String; 0]>::default(), "of so few rules everything is known");
}
