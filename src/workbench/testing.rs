//! Small sessions and policies for the workbench's own tests.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Rect, Size};

use super::effect::{Effect, Judge, Judging};
use super::keys::{Key, chord};
use super::message::{ComparedSession, Event, JudgedSession, Msg};
use super::model::hits::hits;
use super::model::{CaseList, Model, Opening, ReadSession, SessionChanges};
use super::run::{frames, suppose, survey};
use super::theme::{Depth, Theme};
use super::update::update;
use crate::lint::Levels;
use crate::stored::StoredSession;
use crate::workspace::cases::{CaseFiles, CaseRunner};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_recording as recording;

pub const CONTRACT: &str = "\
# A refund needs an eligibility check of the same order.
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    resource: {bind_from: arguments, path: $.order_id}
    with_output: [{path: $.eligible, equals: true}]
    description: Eligibility must be checked for the same order
forbids_after: [void_order]
";

fn origin(file: &str) -> Origin {
    Origin { file: file.into(), index: 0, format: "native", line: 1 }
}

/// Three turns: a check of one order, refunds of that and of another one, a closing word.
pub fn refunds() -> Session {
    refunding().finish()
}

/// The same, to be continued.
pub fn refunding() -> Builder {
    let mut made = Builder::new("refund-124", origin("sessions/refunds.json"));
    made.said("user", Body::text("Please refund ORD-123"), None);
    made.response(None, Body::text("Let me check that order."), None);
    made.call(Some("c1"), "check_eligibility", Body::text(r#"{"order_id": "ORD-123"}"#), None);
    made.result(
        Some("c1"),
        Body::text(r#"{"eligible": true, "reason": "within_policy"}"#),
        Mark::default(),
        None,
    );
    made.said("user", Body::text("and refund ORD-124 too"), None);
    made.response(None, Body::MISSING, None);
    made.call(Some("c2"), "issue_refund", Body::text(r#"{"order_id": "ORD-123", "amount": 20}"#), None);
    made.call(Some("c3"), "issue_refund", Body::text(r#"{"order_id": "ORD-124", "amount": 214.0}"#), None);
    made.result(Some("c2"), Body::text(r#"{"ok": true}"#), Mark::default(), None);
    made.result(Some("c3"), Body::text(r#"{"ok": true}"#), Mark::default(), None);
    made.response(None, Body::text("Both refunds are on their way."), None);
    made
}

/// A session that no rule minds.
pub fn clean() -> Session {
    let mut made = Builder::new("refund-121", origin("sessions/clean.json"));
    made.said("user", Body::text("What about ORD-1?"), None);
    made.response(None, Body::MISSING, None);
    made.call(Some("a"), "lookup_order", Body::text(r#"{"order_id": "ORD-1"}"#), None);
    made.result(Some("a"), Body::text("shipped"), Mark::default(), None);
    made.response(None, Body::text("It is on its way."), None);
    made.finish()
}

pub fn loaded(text: &str) -> LoadResult {
    let file = PolicyFile {
        name: "contracts/issue_refund.yaml".into(),
        relative: "issue_refund.yaml".into(),
        text: text.into(),
        named: true,
    };
    Policy::load(&[file], None)
}

/// A model of the given size with these sessions, judged by the policy.
pub fn opened(width: u16, height: u16, theme: &str, sessions: Vec<Session>) -> Model {
    judged(width, height, theme, loaded(CONTRACT), sessions)
}

/// The same under another policy.
pub fn judged(width: u16, height: u16, theme: &str, policy: LoadResult, sessions: Vec<Session>) -> Model {
    let mut model = Model::new(Opening {
        theme: Theme::builtin(theme, Depth::Rgb).expect("a theme inside the program"),
        size: Size::new(width, height),
        policy_name: "contracts".to_owned(),
        mode: Mode::Enforce,
    });
    feed(&mut model, Msg::Policy { loaded: Box::new(policy), at: "12:03:58".to_owned() });
    let total = sessions.len();
    for (done, session) in sessions.into_iter().enumerate() {
        // Sessions of one file are adjacent; one that is not belongs to another file.
        let mut file = Arc::clone(&session.origin.file);
        if model.archive.files.has(&file)
            && model.archive.entries.last().is_some_and(|last| last.file != file)
        {
            file = format!("{file} ({done})").into();
        }
        let sessions = vec![Arc::new(session)];
        let progress = (done + 1, total);
        read_part(&mut model, &file, sessions, Vec::new(), progress);
    }
    read_all(&mut model);
    model
}

/// A model of the given size with a policy and the sessions of a file that come with the program.
pub fn sample(width: u16, height: u16, theme: &str, policy: &str, sessions: &str) -> Model {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let (name, path) = (format!("contracts/{policy}"), root.join("sample-traces").join(sessions));
    let text = std::fs::read_to_string(root.join(&name)).expect("a document that comes with the program");
    let file = PolicyFile { name: name.into(), relative: policy.into(), text: text.into(), named: true };
    let recording = std::fs::File::open(path).expect("sessions that come with the program");
    let reading = recording::open(
        sessions,
        Box::new(std::io::BufReader::new(recording)),
        &recording::Options::default(),
    );
    let sessions = reading.expect("a known format").collect();
    judged(width, height, theme, Policy::load(&[file], None), sessions)
}

/// Feeds a message and judges at once the sessions it requests; returns the other effects.
pub fn feed(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut others = Vec::new();
    let mut effects = update(model, msg);
    while let Some(effect) = effects.pop() {
        match effect {
            Effect::Judge(judge) => {
                let Judge { by, sessions, .. } = judge;
                let Judging { generation, policy, mode, against, beside } = &*by;
                let (generation, mode) = (*generation, *mode);
                let compared = against.as_ref().map(|against| {
                    let one = |(place, stored): &(usize, Arc<StoredSession>)| {
                        let session = &stored.session().expect("it can be read back");
                        let new = Replay::new(session, policy, mode);
                        let base = against.base().policy().filter(|_| !against.is_same());
                        let base = base.map(|policy| Arc::new(Replay::new(session, policy, mode)));
                        let changes = against.changes(base.as_deref(), &new);
                        let changes = SessionChanges { base: base.filter(|_| *beside), changes };
                        ComparedSession { place: *place, session: Arc::clone(stored), changes }
                    };
                    Msg::Compared { generation, sessions: sessions.iter().map(one).collect() }
                });
                let one = |(place, session): (usize, Arc<StoredSession>)| {
                    let content = session.session().expect("it can be read back");
                    let replay = Arc::new(Replay::new(&content, policy, mode));
                    JudgedSession::of(generation, place, &session, replay)
                };
                let sessions = sessions.into_iter().map(one).collect();
                effects.extend(update(model, Msg::Judged { generation, sessions }));
                effects.extend(compared.into_iter().flat_map(|compared| update(model, compared)));
            }
            Effect::Suppose(asked) => effects.extend(update(model, suppose::suppose(&asked))),
            Effect::Witness(Some(wanted)) => {
                let newest = AtomicU64::new(wanted.number);
                effects.extend(update(model, suppose::look(&wanted, &newest)));
            }
            Effect::Job(job) => {
                let answer = (job.work)(&|| false);
                effects.extend(answer.into_iter().flat_map(|answer| update(model, Msg::Answer(answer))));
            }
            Effect::Frames(request) => {
                let made = frames::make(&request, &AtomicU64::new(request.number));
                effects.extend(made.into_iter().flat_map(|made| update(model, made)));
            }
            Effect::Hidden(search) => {
                let found = frames::look(&search, &AtomicU64::new(search.number));
                effects.extend(found.into_iter().flat_map(|found| update(model, found)));
            }
            Effect::Search(search) => {
                let (number, searched) = (search.number, search.sessions.len());
                let sessions: Vec<_> = search.sessions.into_iter().enumerate().collect();
                let hits = hits(&sessions, &search.pattern).expect("they can be read back");
                effects.extend(update(model, Msg::Found { number, searched, hits }));
            }
            Effect::Survey(request) => {
                let mut told = Vec::new();
                survey::count(&request, &Levels::default(), &AtomicU64::new(request.number), &mut |msg| {
                    told.push(msg)
                });
                effects.extend(told.into_iter().flat_map(|told| update(model, told)));
            }
            other => others.push(other),
        }
    }
    others
}

/// Presses keys, written as in the table of commands and separated by blanks, at each of which a digit has waited long
/// enough to be the number of a pane; returns the effects.
pub fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for chord in keys.split(' ').filter(|chord| !chord.is_empty()) {
        for key in chord::parse(chord).expect("a chord") {
            effects.extend(feed(model, Msg::Key(key)));
        }
        if model.dialog.count.is_some() {
            effects.extend(feed(model, Msg::ChordWaits));
        }
    }
    effects
}

/// Types text, as into a prompt.
pub fn typed(model: &mut Model, text: &str) {
    for c in text.chars() {
        feed(model, Msg::Key(Key::char(c)));
    }
}

/// The screen as text, a line a row, without blanks at the ends.
pub fn screen(model: &Model) -> String {
    let buf = drawn(model);
    let rows = buf.content().chunks(usize::from(buf.area.width).max(1));
    let line = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
    rows.map(line).collect::<Vec<_>>().join("\n")
}

/// The drawn screen.
pub fn drawn(model: &Model) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    crate::workbench::draw::draw(model, &mut buf);
    buf
}

type Progress = (usize, usize);

/// Sessions as the list holds them.
pub fn stored(sessions: Vec<Arc<Session>>) -> Vec<Arc<StoredSession>> {
    sessions.into_iter().map(StoredSession::resident).collect()
}

fn read(sessions: Vec<Arc<Session>>) -> Vec<ReadSession> {
    stored(sessions).into_iter().map(ReadSession::from).collect()
}

/// The answer to a request to judge one session.
pub fn answered(
    generation: u64,
    place: usize,
    session: &Arc<StoredSession>,
    policy: &Arc<Policy>,
    mode: Mode,
) -> Msg {
    let content = session.session().expect("it can be read back");
    let replay = Arc::new(Replay::new(&content, policy, mode));
    Msg::Judged { generation, sessions: vec![JudgedSession::of(generation, place, session, replay)] }
}

/// The open session, as the list has it.
pub fn listed(model: &Model) -> Arc<StoredSession> {
    model.entry().and_then(|entry| entry.session.clone()).expect("a session is open")
}

/// A part of a file of recordings was read for the first time.
pub fn read_part(
    model: &mut Model,
    file: &str,
    sessions: Vec<Arc<Session>>,
    diagnostics: Vec<Diagnostic>,
    progress: Progress,
) {
    let (file, sessions) = (file.into(), read(sessions));
    feed(model, Msg::Recordings(Event::Sessions { file, sessions, diagnostics, progress }));
}

/// A file of recordings was read again.
pub fn read_whole(
    model: &mut Model,
    file: &str,
    sessions: Vec<Arc<Session>>,
    diagnostics: Vec<Diagnostic>,
    progress: Progress,
) {
    let (file, sessions) = (file.into(), read(sessions));
    feed(model, Msg::Recordings(Event::File { file, sessions, diagnostics, progress }));
}

/// All recordings were read.
pub fn read_all(model: &mut Model) {
    feed(model, Msg::Recordings(Event::End { diagnostics: Vec::new() }));
}

/// The expectations of four cases, of which one cannot be read, one fails, one tests nothing and one passes.
pub const CASES: [(&str, &str); 4] = [
    ("broken", "{call: 1.1, decison: allow}"),
    ("paid twice", "[{call: 1.1, decision: deny}, {call: 2.1, decision: allow, told: 'no'}]"),
    ("idle", "{summary: {calls: 2}}"),
    ("checked first", "{call: 2.1, decision: allow}"),
];

/// Cases of these names and expectations, each in a file of its own, are judged by policies of their own.
pub fn with_cases(model: &mut Model, cases: &[(&str, &str)]) {
    let (mut runner, mut read) = (CaseRunner::default(), CaseFiles::default());
    for (name, expect) in cases {
        let policy = match *name {
            "idle" => "{rules: [{type: before, first: a, then: b}]}",
            _ => "{tool: refund, preconditions: [{requires_prior_tool: check, description: checked before}]}",
        };
        let session = "{id: s, messages: [{role: user, content: hello}, \
            {role: assistant, tool_calls: [{name: check, arguments: {}}]}, {role: tool, content: ok}, \
            {role: assistant, tool_calls: [{name: refund, arguments: {}}]}, {role: tool, content: ok}]}";
        let text = format!("name: {name}\npolicy: {policy}\nsession: {session}\nexpect: {expect}\n");
        let file = format!("contracts/{}.case.yaml", name.replace(' ', "_"));
        read.files.extend(runner.file(&file.into(), text.into(), false));
    }
    let number = model.basis.cases.ask();
    feed(model, Msg::Cases { number, cases: Box::new(CaseList::of(read)) });
}
