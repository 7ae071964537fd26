//! What tool policies add to the data: recorded state, and what a rule looked at.

use std::sync::Arc;

use serde::Serialize;

use crate::monitor::finding::Touched;
use crate::monitor::kept::Recorded;

/// What a document has recorded, sorted.
#[derive(Serialize)]
pub(super) struct RecordedLine<'a> {
    rule: &'a str,
    kind: &'static str,
    tools: Vec<&'a str>,
    keys: Vec<[&'a str; 2]>,
}

impl<'a> RecordedLine<'a> {
    /// Nothing where nothing is recorded.
    pub fn of(document: &'a str, recorded: &'a Recorded) -> Option<RecordedLine<'a>> {
        (!recorded.is_empty()).then(|| RecordedLine {
            rule: document,
            kind: "recorded",
            tools: recorded.tools().map(|tool| &**tool).collect(),
            keys: recorded.keys().map(|(tool, key)| [&**tool, &**key]).collect(),
        })
    }
}

/// Tools that have not succeeded.
#[derive(Serialize)]
pub(super) struct MissingLine<'a> {
    pub missing: &'a [Arc<str>],
}

/// A file that a call writes.
#[derive(Serialize)]
pub(super) struct TouchedLine<'a> {
    /// `null`: the call names no path.
    key: Option<&'a str>,
    /// `null`: nobody lists the files, or there is no path.
    exists: Option<bool>,
    read: bool,
}

impl<'a> TouchedLine<'a> {
    pub fn of(touched: &'a Touched) -> TouchedLine<'a> {
        TouchedLine { key: touched.key.as_deref(), exists: touched.exists, read: touched.read }
    }
}
