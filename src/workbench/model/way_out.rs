//! The way out of a stopped call, while it is looked for and when it is found.

use crate::report::words;
use crate::workbench::list::List;
use rulestep_base::session::edit::Edit;
use rulestep_engine::replay::Replay;
use rulestep_engine::way_out;

/// The way out of a call.
pub struct WayOutView {
    /// The number of the request that it waits for.
    pub number: u64,
    /// The call: `T4.1 issue_refund`.
    pub of: String,
    /// The call, by its index in what is supposed to be changed; `None`: it was added there itself.
    pub known: Option<u32>,
    /// What was found; `None`: it is still looked for.
    pub answer: Option<WayOutAnswer>,
    /// Where in its lines.
    pub list: List,
}

/// A way out in words, and as changes of the session.
#[derive(Clone)]
pub struct WayOutAnswer {
    /// In one sentence.
    pub sentence: String,
    /// Each step, with the places of the rules that ask for it.
    pub steps: Vec<(String, String)>,
    /// The changes that show it; none where nothing helps.
    pub edits: Vec<Edit>,
}

impl WayOutAnswer {
    /// Looks for it.
    pub fn of(replay: &Replay, call: u32) -> Option<WayOutAnswer> {
        let way = way_out::way_out(replay, call)?;
        let steps = words::way_out::steps(&way, replay).into_iter();
        Some(WayOutAnswer {
            sentence: words::way_out::sentence(&way, replay).whole(),
            steps: steps.map(|(step, rules)| (step.whole(), rules.join(", "))).collect(),
            edits: way.edits(),
        })
    }
}
