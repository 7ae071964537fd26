//! Judging the cases beside the policy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};

use crate::workbench::message::{Arrived, Msg};
use crate::workbench::model::CaseList;
use crate::workspace::Workspace;

/// Judges the cases as often as it is wanted; wishes that come meanwhile are one.
pub fn judge(workspace: &Workspace, wanted: &Receiver<u64>, out: &Sender<Arrived>) {
    while let Ok(first) = wanted.recv() {
        let number = wanted.try_iter().last().unwrap_or(first);
        let judged = catch_unwind(AssertUnwindSafe(|| Box::new(CaseList::of(workspace.cases()))));
        let told = judged.map_or_else(
            // Without an answer, the list still says that it is out of date.
            |_| Msg::Note { failed: true, text: "a fault of the program while judging the cases".to_owned() },
            |cases| Msg::Cases { number, cases },
        );
        // The receiver is gone once the workbench is closed.
        let _ = out.send(Arrived::Work(told));
    }
}
