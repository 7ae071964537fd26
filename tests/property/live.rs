//! What is kept beside a journal, its index and the state of a run, changes nothing: whatever happens to it, a hook decides what one decides that reads the whole
//! journal, and what a replay of the journal says.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::hook_service::HookService;
use rulestep::live::journal::Journal;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::{Body, Policy, Session};
use rulestep_recording as recording;
use serde_json::{Value, json};

use crate::contracts::config;

/// Rules of every language: of arguments, of results, of what was said and of the whole conversation.
const POLICY: &str = r#"
tool: Edit
preconditions: [{requires_prior_tool: Read, resource: {bind_from: arguments, path: $.file}, match: any}]
---
tool: deploy
preconditions: [{requires_prior_tool: Bash, with_output: [{path: $.code, equals: 0}]}]
---
forbidden: [{sequence: [Grep, Write, deploy], action: halt, reason: "cost:r"}]
---
rules:
  - {type: before, first: Read, then: Write}
  - {type: max_calls, tool: Bash, max: 5}
---
policies: [{type: sequential_dependency, dependencies: {Grep: [Edit]}}]
---
type: function
function: {name: Bash}
rejectionPlan:
  conditions: [{type: regex, regex: "stop[^e]*$", target: {role: user, position: -1}}]
---
type: function
function: {name: Write}
# The word is put together, since the reason of a denial quotes the template, and is part of the conversation.
rejectionPlan:
  conditions: [{type: liquid, liquid: "{% assign said = messages | map: 'content' | join: ' ' %}{% assign word = 'sec' | append: 'ret' %}{% if said contains word %}true{% else %}false{% endif %}"}]
"#;
const TOOLS: [&str; 6] = ["Read", "Edit", "Bash", "deploy", "Grep", "Write"];

#[derive(Debug, Clone)]
enum Step {
    /// A call with this id and tool; one that was proposed before may come again.
    Propose(u16, usize, Value),
    Resolve(u16, &'static str, Value),
    Say(String),
    End,
}

/// What happens to the index, or the state, between two processes.
#[derive(Debug, Clone)]
enum Damage {
    Gone,
    Shorter(prop::sample::Index),
    Flipped(prop::sample::Index, u8),
    Longer(Vec<u8>),
    /// What it was this many events ago.
    Older(usize),
    /// That of a journal of another session.
    Foreign,
}

/// Bodies that are short and long, JSON and text, some of which look like something else.
fn body() -> BoxedStrategy<Value> {
    let text = prop_oneof![
        Just(String::new()),
        "[a-z \"\\\\\n]{0,12}",
        Just("[permission denied: nobody]".to_owned()),
        Just("Denied by policy.".to_owned()),
        Just("File 'a' must be read before overwriting.".to_owned()),
        Just("{\"code\": 0}".to_owned()),
        Just("secret \u{1f600} stop".to_owned()),
        Just("output@\":[0,9,1,true]".to_owned()),
    ];
    let long = (text, prop_oneof![Just(0usize), Just(300), 200..300usize, Just(5000)]);
    let text = long.prop_map(|(text, more)| text + &"e ".repeat(more / 2)).boxed();
    prop_oneof![
        text.clone().prop_map(Value::String),
        (0..3, text.clone()).prop_map(|(code, text)| json!({"code": code, "out": text})),
        (0..3, text.clone()).prop_map(|(file, text)| json!({"file": file, "text": text})),
        text.clone().prop_map(|text| json!([{"type": "text", "text": text}, {"type": "image"}])),
        text.prop_map(|text| json!([text, 1])),
        Just(json!({"arguments@": [0, 400, 1, false], "record": "resolved"})),
        Just(Value::Null),
        Just(json!(17)),
    ]
    .boxed()
}

fn step() -> BoxedStrategy<Step> {
    prop_oneof![
        5 => (0..12u16, 0..TOOLS.len(), body()).prop_map(|(id, tool, body)| Step::Propose(id, tool, body)),
        5 => (0..12u16, prop_oneof![3 => Just("ok"), 1 => Just("error")], body())
            .prop_map(|(id, outcome, body)| Step::Resolve(id, outcome, body)),
        1 => prop_oneof![Just("go on"), Just("stop"), Just("a secret")]
            .prop_flat_map(|text| prop_oneof![Just(text.to_owned()), Just(text.to_owned() + &" e".repeat(400))])
            .prop_map(Step::Say),
        1 => Just(Step::End),
    ]
    .boxed()
}

fn damage() -> impl Strategy<Value = Option<Damage>> {
    use prop::sample::Index;
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Damage::Gone)),
        1 => any::<Index>().prop_map(|at| Some(Damage::Shorter(at))),
        2 => (any::<Index>(), 1..=255u8).prop_map(|(at, bits)| Some(Damage::Flipped(at, bits))),
        1 => prop::collection::vec(any::<u8>(), 1..80).prop_map(|more| Some(Damage::Longer(more))),
        1 => (1..4usize).prop_map(|ago| Some(Damage::Older(ago))),
        1 => Just(Some(Damage::Foreign)),
    ]
}

/// The ends of the names of what is kept beside a journal.
const KEPT: [&str; 2] = ["index", "state"];

struct Hooks {
    service: HookService,
    /// What the index and the state were after each event.
    before: [Vec<Vec<u8>>; 2],
}

impl Hooks {
    fn new(state: &Path, policy: &Path) -> Hooks {
        let service = HookService {
            agent: "claude-code",
            transcripts: None,
            folder: state.to_owned(),
            policy: policy.to_str().unwrap().to_owned(),
            guard: None,
            home: None,
            mode: Mode::Enforce,
            asks: true,
            wait: Duration::from_secs(5),
        };
        Hooks { service, before: Default::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.service.folder.join("claude-code").join(name)
    }

    fn answer(&mut self, session: &str, step: &Step) -> Answer {
        let event = match step.clone() {
            Step::Propose(id, tool, arguments) => Event::Propose {
                id: Some(format!("id-{id}")),
                tool: TOOLS[tool].to_owned(),
                arguments: Body::json(&arguments.to_string()),
            },
            Step::Resolve(id, outcome, output) => Event::Resolve {
                id: Some(format!("id-{id}")),
                tool: String::new(),
                arguments: None,
                outcome,
                output: Body::json(&output.to_string()),
            },
            Step::Say(text) => Event::Prompt(text),
            Step::End => Event::End,
        };
        let report = Report {
            session: session.to_owned(),
            subagent: None,
            transcript: None,
            folder: None,
            cwd: None,
            event,
        };
        let answer = self.service.answer(&report, Instant::now()).unwrap();
        for (before, kept) in self.before.iter_mut().zip(KEPT) {
            before.push(
                fs::read(self.service.folder.join("claude-code").join(format!("s.{kept}")))
                    .unwrap_or_default(),
            );
        }
        answer
    }

    fn damage(&self, damage: &Damage, which: usize) {
        let (kept, before) = (KEPT[which], &self.before[which]);
        let path = self.path(&format!("s.{kept}"));
        let Ok(mut bytes) = fs::read(&path) else { return };
        match damage {
            Damage::Gone => return fs::remove_file(&path).unwrap(),
            Damage::Shorter(at) => bytes.truncate(at.index(bytes.len().max(1))),
            Damage::Flipped(at, bits) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            Damage::Flipped(..) => {}
            Damage::Longer(more) => bytes.extend(more),
            Damage::Older(ago) => {
                let before = before.len().checked_sub(ago + 1).and_then(|place| before.get(place));
                bytes = before.cloned().unwrap_or_default();
            }
            Damage::Foreign => bytes = fs::read(self.path(&format!("other.{kept}"))).unwrap_or_default(),
        }
        fs::write(&path, bytes).unwrap();
    }

    /// The journal, without what the clock says.
    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("s.jsonl")).unwrap();
        let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for record in records.iter_mut().filter_map(Value::as_object_mut) {
            record.remove("at");
            record.remove("took");
        }
        records
    }
}

proptest! {
    // Every event is synced to the disk, so there are few cases, and little is shrunk.
    #![proptest_config(ProptestConfig { max_shrink_iters: 60, ..config(24) })]

    #[test]
    fn an_index_changes_no_decision(steps in prop::collection::vec((step(), damage()), 1..40)) {
        let root = tempfile::tempdir().unwrap();
        let policy = root.path().join("policy.yaml");
        fs::write(&policy, POLICY).unwrap();
        let mut with = Hooks::new(&root.path().join("with"), &policy);
        let mut without = Hooks::new(&root.path().join("without"), &policy);
        let other = Step::Propose(0, 0, json!({"file": "e".repeat(400)}));
        with.answer("other", &other);
        for (step, damage) in &steps {
            if let Some(damage) = damage {
                with.damage(damage, 0);
            }
            let _ = fs::remove_file(without.path("s.index"));
            prop_assert_eq!(with.answer("s", step), without.answer("s", step));
        }
        prop_assert_eq!(with.records(), without.records());
        let path = with.path("s.jsonl");
        let text = fs::read(&path).unwrap();
        if text.is_empty() {
            return Ok(());
        }
        // Arguments that are no object are reported, and decided all the same.
        let name = path.to_str().unwrap();
        let mut reading = recording::open(name, Box::new(Cursor::new(text)), &Default::default()).unwrap();
        let mut session: Session = reading.next().unwrap();
        // What was decided before is for people: no decision rests on it.
        session.calls.iter_mut().for_each(|call| call.live = None);
        let journal = Journal::open(&with.path(""), "s", Duration::from_secs(5)).unwrap();
        prop_assert_eq!(&journal.session("").unwrap(), &session);
        let replay = Replay::new(&Arc::new(session), &Policy::from_dir(&policy).unwrap(), Mode::Enforce);
        let replayed: Vec<&str> = replay.calls().iter().map(|call| call.decision.verdict.word()).collect();
        let records = with.records();
        let decided: Vec<&str> = records.iter().filter_map(|record| record["decision"].as_str()).collect();
        prop_assert_eq!(decided, replayed);
    }
}

/// Rules of every language of which a run can be written down.
const KEPT_POLICY: &str = r#"
tool: Edit
preconditions: [{requires_prior_tool: Read, resource: {bind_from: arguments, path: $.file}, match: any}]
---
tool: deploy
preconditions: [{requires_prior_tool: Bash, with_output: [{path: $.code, equals: 0}]}]
---
tool: Grep
forbids_after: [Edit]
---
limits: {Bash: {maxPerSession: 30, action: deny, reason: "cost:b"}}
forbidden: [{sequence: [Grep, Write, deploy], action: deny, reason: "cost:r"}]
---
rules:
  - {type: before, first: Read, then: Write}
  - {type: max_calls, tool: Write, max: 12}
  - {type: never_after, trigger: deploy, forbidden: Bash}
  - {type: after, trigger: Write, then: Read, within: 6}
---
policies: [{type: sequential_dependency, dependencies: {Grep: [Edit]}}]
"#;

/// A call: its tool, arguments and result, after how many further calls it has that, and whether its event comes again at the end.
type Planned = (usize, Value, &'static str, Value, Option<usize>, bool);

fn planned() -> impl Strategy<Value = Planned> {
    let outcome = prop_oneof![6 => Just("ok"), 1 => Just("error"), 1 => Just("refused")];
    let delay = prop_oneof![12 => Just(Some(0)), 3 => (1..3usize).prop_map(Some), 1 => (10..40usize).prop_map(Some), 1 => Just(None)];
    (0..TOOLS.len(), body(), outcome, body(), delay, prop::bool::weighted(0.03))
}

/// The events of these calls.
fn events(calls: &[Planned]) -> Vec<Step> {
    let mut due: Vec<(usize, Step)> = Vec::new();
    let mut steps = Vec::new();
    for (number, (tool, arguments, outcome, output, delay, _)) in calls.iter().enumerate() {
        steps.push(Step::Propose(number as u16, *tool, arguments.clone()));
        due.extend(
            delay.map(|delay| (number + delay, Step::Resolve(number as u16, outcome, output.clone()))),
        );
        due.retain(|(when, step)| {
            let waits = *when > number;
            steps.extend((!waits).then(|| step.clone()));
            waits
        });
    }
    for (number, (tool, arguments, .., again)) in calls.iter().enumerate() {
        steps
            .extend(again.then(|| Step::Propose(number as u16, (tool + 1) % TOOLS.len(), arguments.clone())));
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 60, ..config(16) })]

    #[test]
    fn a_state_that_is_kept_changes_no_decision(
        calls in prop::collection::vec(planned(), 20..90),
        damages in prop::collection::vec((damage(), 0..KEPT.len()), 200),
    ) {
        let root = tempfile::tempdir().unwrap();
        let policy = root.path().join("policy.yaml");
        fs::write(&policy, KEPT_POLICY).unwrap();
        let mut with = Hooks::new(&root.path().join("with"), &policy);
        let mut without = Hooks::new(&root.path().join("without"), &policy);
        for number in 0..12 {
            with.answer("other", &Step::Propose(number, 0, json!({"file": "e".repeat(400)})));
            with.answer("other", &Step::Resolve(number, "ok", json!({"file": "e".repeat(400)})));
        }
        prop_assert!(with.path("other.state").is_file(), "a state is kept");
        for (number, step) in events(&calls).iter().enumerate() {
            // Long stretches without damage, so that a state is gone on from.
            if let Some((Some(damage), which)) = damages.get(number).filter(|_| number % 30 < 8) {
                with.damage(damage, *which);
            }
            let _ = fs::remove_file(without.path("s.state"));
            prop_assert_eq!(with.answer("s", step), without.answer("s", step), "event {}: {:?}", number, step);
        }
        for (one, other) in with.records().iter().zip(without.records()) {
            prop_assert_eq!(one, &other);
        }
        prop_assert_eq!(with.records(), without.records());
    }
}
