//! Searching all sessions: the pattern and the hits.

use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::stored::{NotRestored, StoredSession};
use crate::workbench::line::place;
use crate::workbench::list::List;
use crate::workbench::transcript::{Row, RowKind, Rows};
use rulestep_base::session::{Body, Session};

/// The pattern of a search: a text, without regard to case, or a regular expression between slashes.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As typed.
    pub text: String,
    regex: Regex,
}

/// A hit in a session: a row of the transcript, and the first matching line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The row of the recorded session.
    pub row: Row,
    /// The turn or the call, and the speaker, in words.
    pub place: String,
    /// The line, cut around the place.
    pub line: String,
    /// The place, as bytes of the line.
    pub found: Range<usize>,
}

/// A session with hits: the index in the search, the index of its entry, the session, and the hits.
pub type SessionHits = (usize, usize, Arc<StoredSession>, Vec<Hit>);

/// A hit in the list.
#[derive(Debug, Clone)]
pub struct HitRow {
    /// The place that the session's entry had when the search began.
    pub entry: usize,
    /// The session's index in the search, by which the hits are ordered.
    pub rank: usize,
    /// The session.
    pub session: Arc<StoredSession>,
    /// The hit in it.
    pub hit: Hit,
}

/// The list of hits.
pub struct HitsView {
    /// The number of the search.
    pub number: u64,
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// The hits so far.
    pub rows: Vec<HitRow>,
    /// Sessions with hits.
    pub sessions: usize,
    /// Sessions that were searched, of how many.
    pub done: (usize, usize),
    /// Hits that there is no room for.
    pub more: usize,
    /// The cursor.
    pub list: List,
}

impl HitsView {
    /// Most hits that are kept: more than can be read.
    pub const MOST: usize = 10_000;

    /// Takes the hits in some sessions.
    pub fn add(&mut self, searched: usize, hits: Vec<SessionHits>) {
        self.done.0 += searched;
        let cursor = self.rows.get(self.list.cursor).map(|row| (row.rank, row.hit.row));
        for (rank, entry, session, hits) in hits {
            self.sessions += 1;
            let room = Self::MOST.saturating_sub(self.rows.len());
            self.more += hits.len().saturating_sub(room);
            let row = |hit| HitRow { entry, rank, session: Arc::clone(&session), hit };
            self.rows.extend(hits.into_iter().take(room).map(row));
        }
        // Stable: the hits of a session stay in their order.
        self.rows.sort_by_key(|row| row.rank);
        // After moving, the cursor stays on its row, whatever is inserted before it.
        if self.list.cursor > 0
            && let Some(at) = self.rows.iter().position(|row| Some((row.rank, row.hit.row)) == cursor)
        {
            self.list.cursor = at;
        }
    }
}

impl Pattern {
    /// Reads the typed text.
    ///
    /// # Errors It is not a regular expression, or empty.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let inner =
            text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty());
        let source = inner.map_or_else(|| regex::escape(text), str::to_owned);
        if text.trim().is_empty() {
            return Err("type what to look for".to_owned());
        }
        let regex = RegexBuilder::new(&source).case_insensitive(true).build().map_err(|error| {
            let told = error.to_string();
            let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("`{text}` is not a regular expression: {why}")
        })?;
        Ok(Pattern { text: text.to_owned(), regex })
    }

    /// The hits in a session, at most one per row.
    pub fn find_in(&self, session: &Session) -> Vec<Hit> {
        let rows = Rows::of(session);
        let rows = (0..rows.len()).filter_map(|at| rows.get(at));
        rows.filter_map(|row| {
            let tool = row.tool(session).unwrap_or_default();
            let body = row.body(session).map_or("", Body::shown);
            let (line, found) = self.line_of(body).or_else(|| self.line_of(tool))?;
            Some(Hit { row, place: place_of(row, session), line, found })
        })
        .collect()
    }

    /// The first matching line, cut to the width of a screen.
    fn line_of(&self, text: &str) -> Option<(String, Range<usize>)> {
        const BEFORE: usize = 40;
        const AFTER: usize = 300;
        let found = self.regex.find(text)?;
        let (start, end) = (found.start(), found.end());
        let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let from = boundary(line.max(start.saturating_sub(BEFORE)));
        let rest = text.get(start..)?;
        let last = rest.find('\n').map_or(text.len(), |at| start + at);
        let to = boundary(last.min(start + AFTER)).max(start);
        let line = text.get(from..to)?;
        Some((line.to_owned(), start - from..end.min(to) - from))
    }
}

/// The place of a row: the turn or the call, and the speaker.
fn place_of(row: Row, session: &Session) -> String {
    match row.kind {
        RowKind::Call(index) | RowKind::Result(index) => {
            let call = session.calls.get(index as usize);
            call.map_or_else(String::new, |call| format!("{} {}", place(call.at), call.tool))
        }
        _ => format!("T{} {}", row.turn, row.speaker(session)),
    }
}

/// The hits in sessions.
///
/// # Errors One of them cannot be restored.
pub fn hits(
    sessions: &[(usize, (usize, Arc<StoredSession>))],
    pattern: &Pattern,
) -> Result<Vec<SessionHits>, (Arc<str>, NotRestored)> {
    let mut found = Vec::new();
    for (rank, (entry, session)) in sessions {
        let content = session.session().map_err(|error| (Arc::clone(&session.id), error))?;
        let hits = pattern.find_in(&content);
        if !hits.is_empty() {
            found.push((*rank, *entry, Arc::clone(session), hits));
        }
    }
    Ok(found)
}
