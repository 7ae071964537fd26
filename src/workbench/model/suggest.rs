//! Suggested rules about the tool of a call: the list, and the file with one of them.

use std::sync::Arc;

use crate::stored::StoredSession;
use crate::suggest::about::{Proposal, Subject};
use crate::suggest::field::ResultField;
use crate::suggest::insert::{Insertion, NewHome, NotInserted};
use crate::workbench::list::List;
use rulestep_base::session::{CallRef, Session};
use rulestep_engine::policy::Policy;

/// A request for suggestions.
pub struct SuggestWish {
    /// The tool, and perhaps another one.
    pub subject: Subject,
    /// The value of a result that rules are to require; `None`: whatever the recordings suggest.
    pub field: Option<ResultField>,
    /// The call that was pointed at.
    pub session: Arc<Session>,
    /// The session of the list, unless there is a what-if of it.
    pub recorded: Option<Arc<StoredSession>>,
    /// See above.
    pub call: CallRef,
    /// The sessions in scope.
    pub sessions: Vec<Arc<StoredSession>>,
    /// The policy that a rule is put into.
    pub policy: Arc<Policy>,
    /// The place for a rule whose tool has no contract; or why nothing can be written.
    pub home: Result<NewHome, &'static str>,
}

/// The rules on screen.
pub struct SuggestView {
    /// The number of the request.
    pub number: u64,
    /// The request.
    pub wish: Arc<SuggestWish>,
    /// The suggestions; `None` while they are computed.
    pub rows: Option<Vec<SuggestedRule>>,
    /// The cursor.
    pub list: List,
}

/// A rule, in words and as it would be written.
pub struct SuggestedRule {
    /// Its sentence.
    pub sentence: String,
    /// The number of calls that satisfy it.
    pub support: String,
    /// The rule, with the calls that it would stop.
    pub proposal: Proposal,
    /// Whether the call that was pointed at is among them.
    pub stops_this: bool,
    /// The number of the listed calls that the policy does not stop now: they come first.
    pub newly: usize,
    /// The file with it, or why it cannot be written.
    pub insertion: Result<Insertion, NotInserted>,
}

/// A file as it would be.
pub struct DraftView {
    /// The change of the file.
    pub insertion: Insertion,
    /// The rule, in words.
    pub sentence: String,
    /// Its lines, each with whether it is new.
    pub lines: Vec<(String, bool)>,
    /// The cursor.
    pub list: List,
}

/// A file that is written, made or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// The file.
    pub file: Arc<str>,
    /// Its text before; `None`: there is no such file.
    pub before: Option<Arc<str>>,
    /// Its text afterwards; `None`: it is removed.
    pub after: Option<Arc<str>>,
}

impl SuggestView {
    /// The rule under the cursor.
    pub fn row(&self) -> Option<&SuggestedRule> {
        self.rows.as_ref()?.get(self.list.cursor)
    }
}

impl SuggestedRule {
    /// The lines that are new in the file, each with its number from 1.
    pub fn new_lines(&self) -> Vec<(usize, &str)> {
        let Ok(insertion) = &self.insertion else { return Vec::new() };
        insertion.new_lines()
    }
}

impl DraftView {
    /// For a file that is about to be written, at its first new line.
    pub fn new(insertion: Insertion, sentence: String) -> DraftView {
        let new: Vec<usize> = insertion.new_lines().into_iter().map(|(number, _)| number).collect();
        let lines = (1..).zip(insertion.after.lines());
        let lines = lines.map(|(number, line)| (line.to_owned(), new.contains(&number))).collect();
        let cursor = new.first().map_or(0, |first| first - 1);
        DraftView { insertion, sentence, lines, list: List { cursor, ..List::default() } }
    }
}

impl FileWrite {
    /// The write that undoes it.
    pub fn inverse(&self) -> FileWrite {
        FileWrite { file: Arc::clone(&self.file), before: self.after.clone(), after: self.before.clone() }
    }
}
