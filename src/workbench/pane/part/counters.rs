//! Counters at the beginning of a turn: how far limits are used up, how soon deadlines pass, how far sequences have
//! come.

use super::evidence;
use crate::workbench::line::Line;
use crate::workbench::model::seen::Seen;
use rulestep_base::session::Session;
use rulestep_engine::monitor::{Explanation, LineState, Rules, StateItem};

/// The counter of an item, if it has one.
pub fn of(item: &StateItem, rules: &Rules, session: &Session) -> Option<Explanation> {
    let explanation = matches!(item, StateItem::Kept { .. }).then(|| item.explain(rules, session))??;
    (!explanation.lines.is_empty()).then_some(explanation)
}

/// Whether it matters whatever is called.
pub fn is_pending(explanation: &Explanation) -> bool {
    explanation.lines.iter().any(|line| line.state == LineState::Pending)
}

/// Adds the lines of a counter, at most `width` columns wide.
pub fn lines(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    item: &StateItem,
    explanation: &Explanation,
    width: usize,
) {
    let from = lines.len();
    evidence::tree(lines, seen, item.rule(), &explanation.lines, 0, width);
    if let Some(first) = lines.get_mut(from) {
        *first = std::mem::take(first).part(seen.key(item.rule()));
    }
}
