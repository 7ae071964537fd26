//! The position when the workbench was closed: ids, digests and indices, no recorded text.

use std::fmt::Write as _;
use std::sync::Arc;

use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};

use super::Model;
use crate::explore::table::{Column, GroupKind};
use crate::workbench::layout::Pane;
use crate::workbench::transcript::RowKind;
use rulestep_base::session::{Call, Session};

/// The schema of the text.
const SCHEMA: &str = "rulestep.place/1";

/// A place to come back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPlace {
    schema: String,
    /// The file of the open session.
    pub file: Arc<str>,
    /// Its id.
    pub session: Arc<str>,
    /// The row of its transcript.
    pub row: usize,
    /// The call that this row is at or after.
    pub call: Option<SavedCall>,
    /// The number of the pane that has the keys.
    pub focus: u8,
    /// The number of the pane beside the transcript if only one fits.
    pub side: u8,
    /// One pane takes all the room.
    pub zoom: bool,
    /// The filter of the list of sessions.
    pub filter: String,
    /// The column that it is sorted by, and whether backwards.
    pub sort: Option<(String, bool)>,
    /// The grouping.
    pub group: Option<String>,
}

/// A call to come back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCall {
    /// Its index in the session.
    pub index: u32,
    /// Digest of its tool and arguments.
    pub digest: String,
    /// Rows from it to the one that the cursor is on.
    pub below: usize,
}

/// A position that is restored as soon as its session is read.
pub struct Restore {
    /// The place.
    pub place: SavedPlace,
    /// Sessions of its file that were looked at already.
    pub passed: usize,
}

impl SavedPlace {
    /// The current position; `None` if no session is open, or the last position was not restored yet.
    pub fn of(model: &Model) -> Option<SavedPlace> {
        let entry = model.entry().filter(|_| model.preferences.restore.is_none())?;
        let cursor = model.list(Pane::Transcript).cursor;
        let rows = &model.derived.rows;
        let at = rows.seek(cursor + 1, false, |row| matches!(row.kind, RowKind::Call(_)));
        let call = at.and_then(|at| {
            let RowKind::Call(index) = rows.get(at)?.kind else { return None };
            let index = entry.supposed.recorded(index)?;
            let digest = digest(model.content()?.calls.get(index as usize)?);
            Some(SavedCall { index, digest, below: cursor - at })
        });
        let table = &model.archive.table;
        Some(SavedPlace {
            schema: SCHEMA.to_owned(),
            file: Arc::clone(&entry.file),
            session: Arc::clone(&entry.name),
            row: cursor,
            call,
            focus: model.place.focus.number(),
            side: model.place.side.number(),
            zoom: model.place.zoom,
            filter: table.filter.text().to_owned(),
            sort: table.sort.map(|(column, reverse)| (column.word().to_owned(), reverse)),
            group: table.group.map(|kind| kind.word().to_owned()),
        })
    }

    /// Reads one.
    ///
    /// # Errors
    /// The text is something else, in a line.
    pub fn parse(text: &str) -> Result<SavedPlace, String> {
        let saved: SavedPlace = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let known = |number: u8| Pane::ALL.iter().any(|pane| pane.number() == number);
        match () {
            () if saved.schema != SCHEMA => Err(format!("its schema is not `{SCHEMA}`")),
            () if !known(saved.focus) || !known(saved.side) => Err("there is no such pane".to_owned()),
            () => Ok(saved),
        }
    }

    /// The text for a file.
    pub fn to_text(&self) -> String {
        // It holds texts and numbers, which can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The order of the list of sessions.
    pub fn order(&self) -> Option<(Column, bool)> {
        let (word, reverse) = self.sort.as_ref()?;
        Column::ALL.into_iter().find(|column| column.word() == word).map(|column| (column, *reverse))
    }

    /// The grouping of the list.
    pub fn groups(&self) -> Option<GroupKind> {
        GroupKind::ALL.into_iter().find(|kind| Some(kind.word()) == self.group.as_deref())
    }
}

impl SavedCall {
    /// The call in a session that may have been recorded on since, and whether it is the same: the nearest of those that are
    /// the same, else the one that has its place now.
    pub fn find(&self, session: &Session) -> Option<(u32, bool)> {
        let same = |call: &&Call| digest(call) == self.digest;
        let last = u32::try_from(session.calls.len()).ok()?.checked_sub(1)?;
        let at = |index: u32| session.calls.get(index as usize);
        if at(self.index).as_ref().is_some_and(same) {
            return Some((self.index, true));
        }
        let others = session.calls.iter().filter(same).map(|call| call.at.index);
        match others.min_by_key(|index| index.abs_diff(self.index)) {
            Some(index) => Some((index, true)),
            None => Some((self.index.min(last), false)),
        }
    }
}

/// The digest of a call's tool and arguments, in hexadecimal digits.
fn digest(call: &Call) -> String {
    let mut hash = Hash::new();
    hash.update((call.tool.len() as u64).to_be_bytes());
    hash.update(call.tool.as_bytes());
    hash.update(call.arguments.raw().as_bytes());
    hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
