//! Answers that are merged and cached, and the answers of a file.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::corpus::Weigh;
use crate::explore::identity::Identity;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;

/// Answers of one session or of several consecutive ones.
pub trait Answers: Serialize + DeserializeOwned + Default + Send {
    /// Their diagnostics.
    fn diagnostics(&self) -> &[Diagnostic];
    /// Adds those of the sessions after these.
    fn append(&mut self, later: &Self);
    /// Bytes that it keeps, about.
    fn weight(&self) -> usize;
}

/// Answers with the identities of their sessions.
#[derive(Default, Serialize, Deserialize)]
pub struct Marked<A> {
    /// The marks of the sessions that have one.
    pub marks: Vec<Identity>,
    /// The beginnings of sessions that may have forks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beginnings: Vec<Identity>,
    /// The answers.
    pub answers: A,
}

impl<A: Answers> Answers for Marked<A> {
    fn diagnostics(&self) -> &[Diagnostic] {
        self.answers.diagnostics()
    }

    fn append(&mut self, later: &Marked<A>) {
        self.marks.extend_from_slice(&later.marks);
        self.beginnings.extend_from_slice(&later.beginnings);
        self.answers.append(&later.answers);
    }

    fn weight(&self) -> usize {
        self.answers.weight() + (self.marks.len() + self.beginnings.len()) * size_of::<Identity>()
    }
}

/// A session, or answers that are known.
pub enum Read<A> {
    Session(Box<Session>),
    /// Of a file.
    Answers(A),
    GroupAnswers(A),
}

impl<A: Answers> Weigh for Read<A> {
    fn weight(&self) -> usize {
        match self {
            Read::Session(session) => session.weight(),
            Read::Answers(answers) | Read::GroupAnswers(answers) => answers.weight(),
        }
    }
}
