//! Whether the run fails, and by which changes: what a reviewer asks first.

use super::{DiffResult, View, entry};
use crate::report::counts::incomplete;

/// `failed by 1 rule weakened, 2 calls newly allowed`; `no change fails the gate`.
pub fn result(whole: &DiffResult, view: &View<'_>) -> String {
    let failing = view.fails.iter().map(|kind| (*kind, whole.count(*kind, view)));
    let failing: Vec<String> =
        failing.filter(|(_, count)| *count > 0).map(|(kind, count)| entry::counted(kind, count)).collect();
    let missing = incomplete(&whole.told, "compared").iter().any(|(fails, _)| *fails);
    match (failing.is_empty(), missing) {
        (false, false) => format!("failed by {}", failing.join(", ")),
        (false, true) => format!("failed by {}; not everything was compared", failing.join(", ")),
        (true, true) => "error: not everything was compared".to_owned(),
        // Of changes alone: `check` and `test` are asked apart.
        (true, false) if view.fails.is_empty() => "no kind of change is named that fails".to_owned(),
        (true, false) => "no change fails the gate".to_owned(),
    }
}
