//! The body of a row of the transcript, as lines.

use super::Model;
use super::overlay::BodyView;
use crate::workbench::document::Document;
use crate::workbench::line::{place, place_not_taken};
use crate::workbench::list::List;
use crate::workbench::text::Marks;
use crate::workbench::transcript::RowKind;
use rulestep_base::session::Results;

/// Most bytes of a body beside the transcript, which is laid out whenever another row is selected.
const BESIDE: usize = 200_000;

impl BodyView {
    /// Breaks its long lines for a screen of this width.
    pub fn fit(&mut self, width: usize, marks: Marks) {
        self.list.cursor = self.document.fit(width, marks, self.list.cursor);
    }

    /// The body of a row to be shown beside the transcript.
    pub fn beside(model: &Model, at: usize) -> Option<Self> {
        let (row, session) = (model.derived.rows.get(at)?, model.session()?);
        if row.body(session)?.raw().len() <= BESIDE {
            return Self::of(model, at);
        }
        let document = Document::of_text("too long to be shown while going from row to row");
        Some(Self {
            title: format!("T{} {}", row.turn, row.speaker(session)),
            row: at,
            document,
            list: List::default(),
        })
    }

    /// The body of a row of the transcript.
    pub fn of(model: &Model, at: usize) -> Option<Self> {
        let session = model.session()?;
        let row = model.derived.rows.get(at)?;
        let body = row.body(session)?;
        let title = match row.kind {
            RowKind::Message(_) => format!("T{} {}", row.turn, row.speaker(session)),
            RowKind::Call(index) | RowKind::Result(index) => {
                let call = session.calls.get(index as usize)?;
                let what = if matches!(row.kind, RowKind::Call(_)) { "arguments" } else { "result" };
                format!("{} {} {what}", place(call.at), call.tool)
            }
            RowKind::Choice(place, _) => {
                let choice = session.alternatives.get(place)?.choice;
                match row.not_taken(session) {
                    Some(own) => {
                        format!("{} {} arguments (not chosen)", place_not_taken(own.at()), own.call.tool)
                    }
                    None => format!("T{} choice {choice} (not chosen)", row.turn),
                }
            }
            RowKind::Rule(_) => return None,
        };
        let document = match body.parsed() {
            Some(value) => Document::of_value(value),
            None if body.is_missing() && session.facts.results == Results::Absent => {
                Document::of_text("this recording keeps no results")
            }
            None => Document::of_text(body.shown()),
        };
        Some(BodyView { title, row: at, document, list: List::default() })
    }
}
