//! The index of a journal: a cache that holds nothing up and that nothing depends on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::hook_service::HookService;
use rulestep::live::index::{Index, Stamp};
use rulestep::live::journal::Journal;
use rulestep::live::outline::{Keep, outlines};
use rulestep_engine::Body;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

const POLICY: &str = "\
tool: deploy
preconditions: [{requires_prior_tool: Bash, with_output: [{path: $.code, equals: 0}]}]
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

    fn call(&mut self, tool: &str, output: &Value) -> Answer {
        self.calls += 1;
        let id = Some(format!("call {}", self.calls));
        let arguments = Body::json("{}");
        let answer = self.answer(Event::Propose { id: id.clone(), tool: tool.to_owned(), arguments });
        if answer == Answer::Silent {
            let output = Body::json(&output.to_string());
            self.answer(Event::Resolve { id, tool: tool.to_owned(), arguments: None, outcome: "ok", output });
        }
        answer
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }
}

/// The outlines of a journal.
fn made_of(journal: &Path) -> String {
    outlines(&fs::read(journal).unwrap(), true, Keep::Short).unwrap()
}

fn long(code: u8) -> Value {
    json!({"code": code, "text": "line\n".repeat(2000)})
}

#[test]
fn it_is_private_short_and_only_added_to() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.call("Bash", &long(1));
    let (file, before) = (session.folder.join("s.index"), session.read("s.index"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let state = fs::metadata(&file).unwrap();
        assert_eq!(state.mode() & 0o777, 0o600);
        session.call("Bash", &long(0));
        assert_eq!(fs::metadata(&file).unwrap().ino(), state.ino(), "the same file");
    }
    let (outlines, _) = before.rsplit_once("#rulestep.index/").unwrap();
    let after = session.read("s.index");
    assert!(after.starts_with(outlines) && after.len() > before.len(), "{after}");
    assert!(after.len() < 2000 && session.read("s.jsonl").len() > 20_000, "{after}");
}

#[test]
fn a_folder_in_which_it_cannot_be_made_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    fs::create_dir_all(session.folder.join("s.index")).unwrap();
    assert!(matches!(session.call("deploy", &Value::Null), Answer::Deny(_)));
    session.call("Bash", &long(0));
    assert_eq!(session.call("deploy", &Value::Null), Answer::Silent);
}

/// A journal that somebody edited in place is what counts, even where its index seems to fit.
#[test]
fn a_body_that_is_not_the_one_of_the_index_is_read_from_the_journal() {
    for (before, now) in [(1, 0), (0, 1)] {
        let root = tempfile::tempdir().unwrap();
        let mut session = Session::new(root.path());
        session.call("Bash", &long(before));
        let old = session.read("s.jsonl");
        let old_code = format!("\"code\":{before}");
        assert!(old.contains(&old_code), "{old}");
        let (journal, index) = (session.folder.join("s.jsonl"), session.folder.join("s.index"));
        fs::write(&journal, old.replace(&old_code, &format!("\"code\":{now}"))).unwrap();
        let stamp = Stamp::of(&fs::metadata(&journal).unwrap());
        drop(Index::create(&index, &outlines(old.as_bytes(), true, Keep::Short).unwrap(), &stamp).unwrap());
        assert!(Index::open(&index, &stamp).is_some(), "the index seems to fit");
        let answer = session.call("deploy", &Value::Null);
        assert_eq!(answer == Answer::Silent, now == 0, "{answer:?}");
        let stamp = Stamp::of(&fs::metadata(&journal).unwrap());
        let (_, again) = Index::open(&index, &stamp).unwrap();
        assert_eq!(again, made_of(&journal));
    }
}

/// A writer that was stopped costs one reading of the journal.
#[test]
fn a_journal_that_was_repaired_has_an_index() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::new(root.path());
    session.call("Bash", &long(1));
    let (journal, index) = (session.folder.join("s.jsonl"), session.folder.join("s.index"));
    let opens = || {
        let stamp = Stamp::of(&fs::metadata(&journal).unwrap());
        Index::open(&index, &stamp).map(|(_, outlines)| outlines)
    };
    for cut_off in ["{\"record\":\"proposed\",\"id\":\"lost\",\"to", "{", "{\"record\":\"turn\"}"] {
        fs::write(&journal, session.read("s.jsonl") + cut_off).unwrap();
        assert!(matches!(session.call("deploy", &Value::Null), Answer::Deny(_)));
        assert!(session.read("s.jsonl").contains("{\"record\":\"repaired\"}"));
        assert!(matches!(session.call("deploy", &Value::Null), Answer::Deny(_)));
        if cut_off.ends_with('}') {
            break;
        }
        assert_eq!(opens(), Some(made_of(&journal)), "{cut_off}");
        let kept = Journal::open(&session.folder, "s", Duration::from_secs(1)).unwrap();
        let text = fs::read(&journal).unwrap();
        let read = rulestep_recording::read(journal.to_str().unwrap(), text).unwrap();
        let mut read = read.into_iter().next().unwrap();
        read.calls.iter_mut().for_each(|call| call.live = None);
        assert_eq!(kept.session("").unwrap(), read, "{cut_off}");
    }
    session.call("Bash", &long(0));
    assert_eq!(session.call("deploy", &Value::Null), Answer::Silent);
}

#[test]
fn lines_that_no_record_looks_like_have_no_outline() {
    let record = r#"{"record":"said","role":"user","content":"a"}"#;
    let opened = r#"{"record":"opened","schema":"rulestep.live/1","session":"s"}"#;
    let of = |lines: &str, first: bool| outlines(lines.as_bytes(), first, Keep::Short);
    assert!(of(&format!("{record}\n"), false).is_some());
    assert!(of(&format!("{opened}\n{record}\n"), true).is_some());
    for odd in [
        "",
        "{}",
        "[1]",
        "{\"record\":\"said\"",
        "{\"record\":\"said\"}",
        "{\"record\":\"repaired\"}",
        "{\"record\":\"turn\",\"at\":\"yesterday\"}",
        "{\"record\":\"turn\",\"transcript\":-1}",
        "{\"record\":\"turn\",\"record\":\"turn\"}",
        "{\"record\":\"proposed\",\"id\":7,\"tool\":\"a\"}",
        "{\"record\":\"proposed\",\"id\":\"a\"}",
        "{\"record\":\"proposed\",\"id\":\"a\",\"tool\":\"a\",\"runs\":1}",
        "{\"record\":\"resolved\",\"id\":\"a\",\"outcome\":\"unknown\"}",
        "{\"record\":\"resolved\",\"id\":\"a\",\"outcome\":\"ok\",\"output\":\"\\ud83d\"}",
        "{\"record\":\"said\",\"role\":\"user\",\"content\":\"\u{1}\"}",
        opened,
    ] {
        assert_eq!(of(&format!("{record}\n{odd}\n"), false), None, "{odd}");
    }
    assert_eq!(outlines(b"{\"record\":\"turn\",\"role\":\"\xff\"}\n", false, Keep::Short), None);
    assert_eq!(of(&format!("{record}\n"), true), None, "a journal without its beginning");
    assert_eq!(of(record, false), None, "a line without its end");
}
