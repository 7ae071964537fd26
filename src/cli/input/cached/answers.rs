//! What is put together and kept, and what a file gives of it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;
use crate::replay::corpus::Weigh;
use crate::session::Session;

/// What is left of sessions once they are looked at, of one or of several after each other.
pub trait Answers: Serialize + DeserializeOwned + Default + Send {
    /// What there is to say of them.
    fn diagnostics(&self) -> &[Diagnostic];
    /// Adds those of the sessions after these.
    fn append(&mut self, later: &Self);
    /// Bytes that it keeps, about.
    fn weight(&self) -> usize;
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
