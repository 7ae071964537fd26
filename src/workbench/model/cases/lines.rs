//! The lines of the list: each case, and its unmet expectations below it.

use super::{CaseLine, CaseList, CaseState, CasesView};
use crate::workbench::model::overlay::words_of;

impl CasesView {
    /// Makes the lines again, of the cases that pass the filter.
    pub fn collect(&mut self, cases: &CaseList) {
        let filter = self.filter.to_lowercase();
        let words = words_of(&filter);
        self.lines.clear();
        for (at, case) in cases.cases.iter().enumerate().filter(|(_, case)| case.passes(&words)) {
            self.lines.push(CaseLine::Case(at));
            if matches!(case.state, CaseState::Unreadable(_)) {
                self.lines.push(CaseLine::Why(at));
            }
            let mut before = None;
            for (place, unmet) in case.judged.iter().flat_map(|judged| judged.report.unmet.iter().enumerate())
            {
                if before.replace(&unmet.subject) != Some(&unmet.subject) {
                    self.lines.push(CaseLine::Subject(at, place));
                }
                self.lines.push(CaseLine::Unmet(at, place));
                self.lines.extend((0..unmet.because.len()).map(|why| CaseLine::Because(at, place, why)));
            }
        }
    }

    /// The line under the cursor.
    pub fn line(&self) -> Option<CaseLine> {
        self.lines.get(self.list.cursor).copied()
    }
}
