//! What every policy target does: load a document, and let it judge.

use std::io::Cursor;
use std::sync::Arc;

use rulestep_engine::dialect;
use rulestep_engine::run::Mode;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{Replay, outcomes};
use rulestep_base::session::Session;
use rulestep_recording::{self as recording, Options};

/// The input is a document, a zero byte, and sessions as JSON lines; without the zero byte, a document alone.
///
/// Reading ends, what loads judges without a fault, a summary is that of the whole replay, and frames made from forks say
/// what the replay said.
pub fn any(dialect: &str, bytes: &[u8]) {
    let (text, recording) = match bytes.iter().position(|byte| *byte == 0) {
        Some(zero) => (&bytes[..zero], &bytes[zero + 1..]),
        None => (bytes, &b""[..]),
    };
    let text = String::from_utf8_lossy(text);
    let name = if text.trim_start().starts_with('{') { "fuzz.json" } else { "fuzz.yaml" };
    let file = PolicyFile { name: name.into(), relative: name.into(), text: text.as_ref().into(), named: true };
    let Some(policy) = Policy::load(&[file], dialect::named(dialect)).policy else { return };
    for session in sessions(recording) {
        let session = Arc::new(session);
        for mode in [Mode::Enforce, Mode::Shadow] {
            let replay = Replay::new(&session, &policy, mode);
            assert_eq!(outcomes(&session, &policy, mode).summary, replay.summary());
            let frames = replay.frames(1, session.turns.len() as u32);
            let framed = frames.iter().flat_map(|frame| &frame.calls).map(|decision| decision.verdict);
            assert!(framed.eq(replay.calls().iter().map(|judged| judged.decision.verdict)));
        }
    }
}

fn sessions(recording: &[u8]) -> Vec<Session> {
    let options = Options { format: recording::named("native"), ..Options::default() };
    match recording::open("fuzz", Box::new(Cursor::new(recording.to_vec())), &options) {
        Ok(reading) => reading.take(4).collect(),
        Err(_) => Vec::new(),
    }
}
