//! What a frame of the workbench costs with a session of 100,000 calls open, and what a key costs.
//!
//! `cargo bench --bench frame`. A frame that takes under 16 ms is never late.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

use std::sync::Arc;

use divan::Bencher;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use toolgate::engine::Mode;
use toolgate::policy::{Policy, PolicyFile};
use toolgate::replay::Replay;
use toolgate::session::build::{Builder, Mark};
use toolgate::session::{Body, Origin, Session};
use toolgate::workbench::effect::{Effect, Judge};
use toolgate::workbench::keys::Key;
use toolgate::workbench::message::Msg;
use toolgate::workbench::model::{Model, Opening};
use toolgate::workbench::theme::{Depth, Theme};
use toolgate::workbench::{update, view};

const CALLS: usize = 100_000;
const SIZE: Size = Size::new(160, 50);

fn main() {
    divan::main();
}

fn session() -> Session {
    let mut build =
        Builder::new("long", Origin { file: "long.json".into(), index: 0, format: "native", line: 1 });
    for call in 0..CALLS {
        let tool = if call % 2 == 0 { "check_eligibility" } else { "issue_refund" };
        build.response(None, Body::text("One more."), None);
        build.call(None, tool, Body::text(format!(r#"{{"order_id": "ORD-{}"}}"#, call / 3)), None);
        build.result(None, Body::text(r#"{"eligible": true}"#), Mark::default(), None);
    }
    build.finish()
}

/// The workbench with the session open and judged, its cursor in the middle of it.
fn model() -> Model {
    let text = "tool: issue_refund\npreconditions:\n  - requires_prior_tool: check_eligibility\n    \
                resource: {bind_from: arguments, path: $.order_id}\n";
    let (name, relative) = ("contracts/issue_refund.yaml".into(), "issue_refund.yaml".into());
    let file = PolicyFile { name, relative, text: text.into(), named: true };
    let mut model = Model::new(Opening {
        theme: Theme::builtin("ansi-dark", Depth::Rgb).expect("a theme inside the program"),
        size: SIZE,
        policy_name: "contracts".to_owned(),
        mode: Mode::Enforce,
    });
    feed(
        &mut model,
        Msg::Policy { loaded: Box::new(Policy::load(&[file], None)), at: "12:00:00".to_owned() },
    );
    let sessions = vec![Arc::new(session())];
    let file = "long.json".into();
    feed(&mut model, Msg::Sessions { file, sessions, diagnostics: Vec::new(), progress: (1, 1) });
    feed(&mut model, Msg::SessionsEnd { diagnostics: Vec::new() });
    for key in "GKKKK".chars() {
        feed(&mut model, Msg::Key(Key::char(key)));
    }
    model
}

fn feed(model: &mut Model, msg: Msg) {
    let mut effects = update::update(model, msg);
    while let Some(effect) = effects.pop() {
        if let Effect::Judge(Judge { generation, policy, mode, sessions }) = effect {
            let judged = sessions
                .into_iter()
                .map(|(at, session)| (at, Box::new(Replay::new(&session, &policy, mode))));
            let replays = judged.collect();
            effects.extend(update::update(model, Msg::Judged { generation, replays }));
        }
    }
}

/// Drawing alone.
#[divan::bench]
fn draw(bencher: Bencher<'_, '_>) {
    let model = model();
    let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.width, SIZE.height));
    bencher.bench_local(|| view::draw(divan::black_box(&model), &mut buffer));
}

/// A key that moves to another turn, whose frame is made from the nearest fork, and the drawing of it.
#[divan::bench]
fn step_and_draw(bencher: Bencher<'_, '_>) {
    let mut model = model();
    let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.width, SIZE.height));
    let mut back = false;
    bencher.bench_local(|| {
        back = !back;
        feed(&mut model, Msg::Key(Key::char(if back { 'k' } else { 'j' })));
        view::draw(&model, &mut buffer)
    });
}

/// Judging the session: what an edit of the policy costs before it shows.
#[divan::bench(sample_count = 10)]
fn judge_again(bencher: Bencher<'_, '_>) {
    let model = model();
    let replay = model.replay().expect("the session is judged");
    let (session, policy) = (replay.session(), replay.policy());
    bencher.bench_local(|| Replay::new(session, policy, Mode::Enforce).summary().deny);
}
