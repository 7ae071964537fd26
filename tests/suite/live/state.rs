//! The state of a run that is kept beside a journal: a cache that nothing depends on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::hook_service::HookService;
use rulestep::live::journal::Journal;
use rulestep::live::state;
use rulestep_engine::run::Mode;
use rulestep_engine::{Body, Policy};

const POLICY: &str = "\
tool: deploy
preconditions: [{requires_prior_tool: Bash, with_output: [{path: $.code, equals: 0}]}]
---
limits: {Grep: {maxPerSession: 30, action: deny, reason: 'cost:grep'}}
";

struct Session {
    service: HookService,
    folder: PathBuf,
    calls: usize,
}

impl Session {
    fn new(root: &Path) -> Session {
        let policy = root.join("policy.yaml");
        fs::write(&policy, POLICY).unwrap();
        let service = HookService {
            agent: "claude-code",
            transcripts: None,
            folder: root.join("live"),
            policy: policy.to_str().unwrap().to_owned(),
            guard: None,
            home: None,
            mode: Mode::Enforce,
            asks: false,
            wait: Duration::from_secs(1),
        };
        Session { service, folder: root.join("live/claude-code"), calls: 0 }
    }

    fn answer(&self, event: Event) -> Answer {
        let report = Report {
            session: "s".to_owned(),
            subagent: None,
            transcript: None,
            folder: None,
            cwd: None,
            event,
        };
        self.service.answer(&report, Instant::now()).unwrap()
    }

    fn propose(&self, id: &str, tool: &str) -> Answer {
        let (id, tool) = (Some(id.to_owned()), tool.to_owned());
        self.answer(Event::Propose { id, tool, arguments: Body::json("{}") })
    }

    fn resolve(&self, id: &str, output: &str) {
        let (id, output) = (Some(id.to_owned()), Body::json(output));
        self.answer(Event::Resolve { id, tool: String::new(), arguments: None, outcome: "ok", output });
    }

    fn call(&mut self, tool: &str, output: &str) -> Answer {
        self.calls += 1;
        let id = format!("call {}", self.calls);
        let answer = self.propose(&id, tool);
        if answer == Answer::Silent {
            self.resolve(&id, output);
        }
        answer
    }

    /// So many searches, after which a state is kept.
    fn search(&mut self, times: usize) {
        for _ in 0..times {
            assert_eq!(self.call("Grep", r#"{"found": 1}"#), Answer::Silent);
        }
    }

    fn policy(&self) -> Arc<Policy> {
        Policy::from_dir(Path::new(&self.service.policy)).unwrap()
    }

    fn state(&self) -> PathBuf {
        self.folder.join("s.state")
    }

    /// How many turns are played if this call is proposed now, where a state is gone on from.
    fn played(&self, id: &str) -> Option<usize> {
        let journal = Journal::open(&self.folder, "s", Duration::from_secs(1)).unwrap();
        let added = format!(
            "{{\"record\":\"turn\",\"at\":1,\"transcript\":0}}\n\
             {{\"record\":\"proposed\",\"id\":\"{id}\",\"tool\":\"Grep\",\"arguments\":{{}},\"at\":1}}\n"
        );
        journal.continuation(&self.policy(), &added).map(|end| end.session.turns.len())
    }
}

#[test]
fn a_call_plays_a_few_turns_however_long_the_session_is() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.search(4);
    assert!(!session.state().exists(), "a short session is played");
    session.search(20);
    for _ in 0..6 {
        session.call("deploy", "null");
        assert!(matches!(session.played("new"), Some(..=10)), "{:?}", session.played("new"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(fs::metadata(session.state()).unwrap().mode() & 0o777, 0o600);
    }
    session.search(6);
    assert!(matches!(session.call("Grep", "null"), Answer::Deny(_)));
}

/// What is late changes what was played.
#[test]
fn a_result_of_a_call_that_was_played_is_read_with_the_session() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.propose("late", "Bash");
    session.answer(Event::Prompt("go on".to_owned()));
    session.search(20);
    assert!(matches!(session.propose("d1", "deploy"), Answer::Deny(_)));
    assert!(session.played("new").is_some());
    session.resolve("late", r#"{"code": 0}"#);
    assert_eq!(session.played("new"), None);
    assert_eq!(session.propose("d2", "deploy"), Answer::Silent);
    assert_eq!(session.played("late"), None, "an id that was there before");
}

#[test]
fn what_is_damaged_or_foreign_is_as_good_as_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.search(20);
    let (path, policy) = (session.state(), session.policy());
    let whole = fs::read(&path).unwrap();
    let opens = || {
        let state = state::open(&path, &policy, |records| "outlines".get(..records));
        state.map(|state| (state.records, state.run))
    };
    assert_eq!(opens(), None, "of other records");
    state::write(&path, &policy, 7, "outline", "{\"a run\": true}").unwrap();
    let made = fs::read(&path).unwrap();
    assert_eq!(opens(), Some((7, "{\"a run\": true}".to_owned())));
    for at in 0..made.len() {
        for bits in [1, 0x20, 0x80] {
            let mut bytes = made.clone();
            bytes[at] ^= bits;
            fs::write(&path, bytes).unwrap();
            assert_eq!(opens(), None, "byte {at}");
        }
        fs::write(&path, &made[..at]).unwrap();
        assert_eq!(opens(), None, "cut off at {at}");
    }
    fs::write(&path, [made.as_slice(), b" "].concat()).unwrap();
    assert_eq!(opens(), None, "longer");
    // The real one, at some places: the session goes on as if there were none, and a state is kept again.
    for at in (0..whole.len()).step_by(whole.len() / 7 + 1) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(session.played("new"), None, "byte {at}");
        assert!(matches!(session.call("deploy", "null"), Answer::Deny(_)));
        assert!(session.played("new").is_some());
    }
}

#[test]
fn another_policy_plays_the_session_again() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.search(20);
    assert!(session.played("new").is_some());
    fs::write(&session.service.policy, POLICY.replace("maxPerSession: 30", "maxPerSession: 20")).unwrap();
    assert_eq!(session.played("new"), None);
    assert!(matches!(session.call("Grep", "null"), Answer::Deny(_)));
    assert!(session.played("new").is_some());
}

#[test]
fn a_journal_that_was_edited_is_played_again() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.call("Bash", r#"{"code": 1}"#);
    session.search(20);
    let journal = session.folder.join("s.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"code\": 1", "\"code\": 0").replace("\"code\":1", "\"code\":0"))
        .unwrap();
    assert_eq!(session.played("new"), None);
    assert_eq!(session.call("deploy", "null"), Answer::Silent);
}

#[test]
fn where_it_cannot_be_kept_nothing_changes() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    fs::create_dir_all(session.state()).unwrap();
    session.search(30);
    assert!(matches!(session.call("Grep", "null"), Answer::Deny(_)));
}

/// A state of the right records, policy and program that no run has written.
#[test]
fn a_forged_state_is_as_good_as_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.propose("waits", "Bash");
    session.answer(Event::Prompt("go on".to_owned()));
    session.search(20);
    let text = fs::read_to_string(session.state()).unwrap();
    let (head, run) = text.split_once('\n').unwrap();
    let records: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
    let run: serde_json::Value = serde_json::from_str(run).unwrap();
    let keep = |run: &serde_json::Value| {
        let journal = Journal::open(&session.folder, "s", Duration::from_secs(1)).unwrap();
        journal.keep(&session.policy(), records, &run.to_string());
    };
    keep(&run);
    assert!(session.played("new").is_some(), "the one that was there");
    assert!(run["flights"].as_array().is_some_and(|flights| !flights.is_empty()), "{run}");
    let huge = serde_json::json!(4_294_967_000_u32);
    for place in ["/turn", "/clock/index", "/first", "/flights/0/0/index", "/flights/0/0/turn", "/ran/len"] {
        let mut forged = run.clone();
        *forged.pointer_mut(place).unwrap_or_else(|| panic!("{place}: {run}")) = huge.clone();
        keep(&forged);
        assert_eq!(session.played("new"), None, "{place}");
        assert!(matches!(session.propose(place, "deploy"), Answer::Deny(_)));
    }
}

#[test]
fn nothing_is_kept_that_knows_of_what_came_later() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.propose("late", "Bash");
    session.answer(Event::Prompt("go on".to_owned()));
    session.search(20);
    session.propose("one", "Grep");
    session.resolve("late", r#"{"code": 0}"#);
    session.propose("two", "Grep");
    let head = fs::read_to_string(session.state()).unwrap().lines().next().unwrap().to_owned();
    let records: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
    let all = super::records(&session.folder.join("s.jsonl"));
    let (before, after) = all.split_at(records);
    let ids = |records: &[serde_json::Value]| -> Vec<String> {
        records.iter().filter_map(|record| record["id"].as_str().map(str::to_owned)).collect()
    };
    let before = ids(before);
    let early = ids(after).into_iter().find(|id| before.contains(id) && id != "late");
    assert_eq!(early, None);
    // It was kept before the result came: what is kept since would have heard of it too early.
    let proposed = all.iter().position(|record| record["id"] == "one").unwrap();
    assert!(records < proposed - 1, "{records} of {proposed}");
    assert_eq!(session.played("new"), None);
}
