//! What narrowing knows of a session that it follows is what the whole journal says.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::followed::Followed;
use rulestep::live::hook_service::{HookService, NewCall};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::{Body, Gate, Policy};
use serde_json::Value;

use super::records;

const POLICY: &str = r#"
tool: deploy
preconditions: [{requires_prior_tool: build, with_output: [{path: $.code, equals: 0}]}]
---
tool: build
preconditions: [{requires_prior_tool: look}]
---
rules:
  - {type: before, first: look, then: write}
  - {type: max_calls, tool: write, max: 4}
  - {type: never_after, trigger: deploy, forbidden: look}
---
forbidden: [{sequence: [look, write, look], action: deny, reason: "cost:r"}]
"#;
const TOOLS: [&str; 5] = ["look", "build", "write", "deploy", "other"];

/// A small generator, so that the sessions are the same each time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn it_is_what_the_whole_journal_says() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("policy.yaml");
    fs::write(&file, POLICY).unwrap();
    let policy = Policy::from_dir(&file).unwrap();
    let tools = TOOLS.map(str::to_owned);
    let service = HookService {
        agent: "mcp",
        transcripts: None,
        folder: root.path().join("live"),
        policy: file.to_str().unwrap().to_owned(),
        guard: None,
        home: None,
        mode: Mode::Enforce,
        asks: true,
        wait: Duration::from_secs(5),
    };
    let other = HookService { folder: root.path().join("other"), ..service.clone() };
    let (mut seen, mut dice) = (Vec::new(), Dice(7));
    for session in 0..6 {
        let (mut followed, mut open, name) = (Followed::default(), Vec::new(), format!("s-{session}"));
        let journal = root.path().join(format!("live/mcp/{name}.jsonl"));
        let report = |event| Report {
            session: name.clone(),
            subagent: None,
            transcript: None,
            folder: None,
            cwd: None,
            event,
        };
        for step in 0..60 {
            let place = dice.throw(open.len().max(1) as u64) as usize;
            match dice.throw(8) {
                0..4 => {
                    let id = format!("id-{step}");
                    let tool = TOOLS[dice.throw(5) as usize];
                    let sibling = [None, Some(true), Some(false)][dice.throw(3) as usize];
                    let arguments = Body::json("{}");
                    let call = NewCall { id: Some(&id), tool, arguments: &arguments, sibling };
                    let answer =
                        service.decide(&report(Event::Nothing), &call, Instant::now(), &mut followed);
                    // Another service, which knows nothing at each call, decides the same.
                    let anew = &mut Followed::default();
                    let same = other.decide(&report(Event::Nothing), &call, Instant::now(), anew);
                    assert_eq!(answer.unwrap(), same.unwrap(), "session {session}, step {step}");
                    open.push(id);
                }
                4..7 if place < open.len() => {
                    let outcome = ["ok", "ok", "ok", "error", "refused"][dice.throw(5) as usize];
                    let text = if dice.throw(2) == 0 { "x".repeat(400) } else { String::new() };
                    let output = Body::json(&format!("{{\"code\":{},\"text\":\"{text}\"}}", dice.throw(2)));
                    let id = Some(open.remove(place));
                    let event = Event::Resolve { id, tool: String::new(), arguments: None, outcome, output };
                    let event = report(event);
                    match dice.throw(2) {
                        0 => service.answer_following(&event, &mut followed).unwrap(),
                        _ => service.answer(&event, Instant::now()).unwrap(),
                    };
                    other.answer(&event, Instant::now()).unwrap();
                }
                _ => {
                    for service in [&service, &other] {
                        service.answer(&report(Event::Prompt("go on".to_owned())), Instant::now()).unwrap();
                    }
                }
            }
            if dice.throw(12) == 0 {
                let _ = fs::remove_file(journal.with_extension("index"));
            }
            let visible = service.visible(&report(Event::Nothing), &tools, &mut followed).unwrap();
            let anew = service.visible(&report(Event::Nothing), &tools, &mut Followed::default()).unwrap();
            let read =
                rulestep_recording::read(journal.to_str().unwrap(), fs::read(&journal).unwrap()).unwrap();
            let [read] = &read[..] else { panic!("one session") };
            let whole = Gate::resume(&policy, read.clone()).turn().visible(&tools);
            assert_eq!(visible, whole, "session {session}, step {step}");
            assert_eq!(anew, whole, "session {session}, step {step}");
            seen.push(whole);
        }
        let recorded = [&service, &other].map(|service| {
            let mut records = records(&service.folder.join(format!("mcp/{name}.jsonl")));
            for record in records.iter_mut().filter_map(Value::as_object_mut) {
                record.remove("at");
                record.remove("took");
            }
            records
        });
        assert_eq!(recorded[0], recorded[1], "session {session}");
        let [read] = &rulestep_recording::read("journal", fs::read(&journal).unwrap()).unwrap()[..] else {
            panic!()
        };
        let replay = Replay::new(&Arc::new(read.clone()), &policy, Mode::Enforce);
        let replayed = replay.calls().iter().map(|call| call.decision.verdict.word());
        let decided = recorded[0].iter().filter_map(|record| record["decision"].as_str());
        assert!(decided.eq(replayed), "session {session}");
    }
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 5, "few lists are different, so little was shown: {seen:?}");
}

/// A journal that somebody replaced is not the one that was followed.
#[test]
fn another_journal_of_that_name_is_read_anew() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("policy.yaml");
    fs::write(&file, POLICY).unwrap();
    let service = HookService {
        agent: "mcp",
        transcripts: None,
        folder: root.path().join("live"),
        policy: file.to_str().unwrap().to_owned(),
        guard: None,
        home: None,
        mode: Mode::Enforce,
        asks: true,
        wait: Duration::from_secs(5),
    };
    let report = |event| Report {
        session: "s".into(),
        subagent: None,
        transcript: None,
        folder: None,
        cwd: None,
        event,
    };
    let mut followed = Followed::default();
    let mut visible = || {
        let names = service.visible(&report(Event::Nothing), &["build".to_owned()], &mut followed).unwrap();
        names.len()
    };
    assert_eq!(visible(), 0);
    let arguments = Body::json("{}");
    let call = NewCall { id: Some("a"), tool: "look", arguments: &arguments, sibling: None };
    service.decide(&report(Event::Nothing), &call, Instant::now(), &mut Followed::default()).unwrap();
    let event = Event::Resolve {
        id: Some("a".into()),
        tool: String::new(),
        arguments: None,
        outcome: "ok",
        output: Body::text("x"),
    };
    service.answer(&report(event), Instant::now()).unwrap();
    assert_eq!(visible(), 1);
    fs::remove_file(root.path().join("live/mcp/s.jsonl")).unwrap();
    fs::remove_file(root.path().join("live/mcp/s.index")).unwrap();
    assert_eq!(visible(), 0, "the session begins once more");
    fs::write(&file, "tool: other\npreconditions: [{requires_prior_tool: look}]\n").unwrap();
    assert_eq!(visible(), 1, "another policy");
}

#[test]
fn what_stands_beside_another_decision_begins_no_turn() {
    let root = tempfile::tempdir().unwrap();
    let service = |name: &str, text: &str| {
        let file = root.path().join(name);
        fs::write(&file, text).unwrap();
        HookService {
            agent: "mcp",
            transcripts: None,
            folder: root.path().join("live"),
            policy: file.to_str().unwrap().to_owned(),
            guard: None,
            home: None,
            mode: Mode::Enforce,
            asks: true,
            wait: Duration::from_secs(5),
        }
    };
    let report = Report {
        session: "s".to_owned(),
        subagent: None,
        transcript: None,
        folder: None,
        cwd: None,
        event: Event::Nothing,
    };
    let arguments = Body::json("{}");
    let decide = |service: &HookService, sibling| {
        let call = NewCall { id: Some("1"), tool: "look", arguments: &arguments, sibling };
        service.decide(&report, &call, Instant::now(), &mut Followed::default()).unwrap()
    };
    assert_eq!(decide(&service("loose.yaml", POLICY), None), Answer::Silent);
    let strict = service("strict.yaml", "tool: look\npreconditions: [{requires_prior_tool: write}]\n");
    assert!(matches!(decide(&strict, Some(false)), Answer::Deny(_)));
    let records = records(&root.path().join("live/mcp/s.jsonl"));
    let kinds: Vec<&str> = records.iter().map(|record| record["record"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["opened", "turn", "proposed", "proposed"]);
}
