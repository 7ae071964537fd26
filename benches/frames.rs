//! What a frame of the workbench costs: drawn as it stands, and after a step to the next call, in short and long sessions.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use divan::Bencher;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use rulestep::stored::StoredSession;
use rulestep::workbench::draw;
use rulestep::workbench::effect::Effect;
use rulestep::workbench::keys::Key;
use rulestep::workbench::message::{Event, JudgedSession, Msg};
use rulestep::workbench::model::{Model, Opening};
use rulestep::workbench::run::frames;
use rulestep::workbench::theme::{Depth, Theme};
use rulestep::workbench::update::update;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

const CONTRACT: &str = "\
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    resource: {bind_from: arguments, path: $.order_id}
    with_output: [{path: $.eligible, equals: true}]
  - requires_step_count: {gte: 3}
";

const SIZE: Size = Size { width: 120, height: 40 };

fn main() {
    divan::main();
}

fn session(calls: usize) -> Session {
    let origin = Origin { file: "bench.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("bench", origin);
    for at in 0..calls / 2 {
        for tool in ["check_eligibility", "issue_refund"] {
            made.response(None, Body::text("One moment."), None);
            made.call(None, tool, Body::text(format!("{{\"order_id\": \"ORD-{}\"}}", at % 500)), None);
            made.result(None, Body::text(r#"{"eligible": true}"#), Mark::default(), None);
        }
    }
    made.finish()
}

/// A model with the cursor in the middle of one long session.
fn model(calls: usize) -> Model {
    let file = PolicyFile {
        name: "issue_refund.yaml".into(),
        relative: "issue_refund.yaml".into(),
        text: CONTRACT.into(),
        named: true,
    };
    let loaded = Box::new(Policy::load(&[file], None));
    let mut model = Model::new(Opening {
        theme: Theme::builtin("harbor", Depth::Rgb).expect("a theme inside the program"),
        size: SIZE,
        policy_name: "bench".to_owned(),
        mode: Mode::Enforce,
    });
    feed(&mut model, Msg::Policy { loaded, at: String::new() });
    let sessions = vec![StoredSession::resident(Arc::new(session(calls))).into()];
    feed(
        &mut model,
        Msg::Recordings(Event::Sessions {
            file: "bench.json".into(),
            sessions,
            diagnostics: Vec::new(),
            progress: (1, 1),
        }),
    );
    feed(&mut model, Msg::Recordings(Event::End { diagnostics: Vec::new() }));
    let middle = model.derived.rows.len() / 2;
    feed(&mut model, Msg::Key(Key::char('G')));
    while model.list(rulestep::workbench::layout::Pane::Transcript).cursor > middle {
        for _ in 0..64 {
            feed(&mut model, Msg::Key(Key::char('K')));
        }
        if calls > 2000 {
            break;
        }
    }
    model
}

fn feed(model: &mut Model, msg: Msg) {
    let mut effects = update(model, msg);
    while let Some(effect) = effects.pop() {
        match effect {
            Effect::Judge(judge) => {
                let by = &judge.by;
                let one = |(place, session): (usize, Arc<StoredSession>)| {
                    let content = session.session().expect("it is in memory");
                    let replay = Arc::new(Replay::new(&content, &by.policy, by.mode));
                    JudgedSession::of(by.generation, place, &session, replay)
                };
                let sessions = judge.sessions.into_iter().map(one).collect();
                effects.extend(update(model, Msg::Judged { generation: by.generation, sessions }));
            }
            Effect::Frames(request) => {
                let made = frames::make(&request, &AtomicU64::new(request.number));
                effects.extend(made.into_iter().flat_map(|made| update(model, made)));
            }
            _ => {}
        }
    }
}

fn buffer() -> Buffer {
    Buffer::empty(Rect::new(0, 0, SIZE.width, SIZE.height))
}

/// Drawing alone.
#[divan::bench(args = [100, 1_000, 100_000])]
fn draw(bencher: Bencher<'_, '_>, calls: usize) {
    let (model, mut buf) = (model(calls), buffer());
    bencher.bench_local(|| draw::draw(&model, &mut buf));
}

/// A key that goes to another call, with the frame of its turn, and the drawing.
#[divan::bench(args = [100, 1_000, 100_000])]
fn step_and_draw(bencher: Bencher<'_, '_>, calls: usize) {
    let (mut model, mut buf) = (model(calls), buffer());
    let mut back = true;
    bencher.bench_local(|| {
        feed(&mut model, Msg::Key(Key::char(if back { 'k' } else { 'j' })));
        back = !back;
        draw::draw(&model, &mut buf)
    });
}
