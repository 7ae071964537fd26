//! The input of a reader: the values of a file one by one, and its beginning for recognition.

use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::diagnostic::Diagnostic;

/// One value of a file.
pub struct Unit<'a> {
    /// The value.
    pub node: Node<'a>,
    /// The members of an object; else empty.
    pub members: Members<'a>,
    /// Line where it begins, from 1.
    pub line: u32,
    /// The list at the top of the file that holds it, from 0.
    pub list: Option<u32>,
    /// Its problems so far.
    pub diagnostics: Vec<Diagnostic>,
}

/// The beginning of a file, for recognition.
pub struct Sample<'a> {
    /// The values, with the members of objects.
    pub values: Vec<(Node<'a>, Members<'a>)>,
}

impl<'a> Sample<'a> {
    /// The objects among the first values.
    pub fn objects(&self) -> impl Iterator<Item = &Members<'a>> {
        self.values.iter().filter(|(value, _)| value.kind() == Kind::Object).map(|(_, members)| members)
    }

    /// The lists among the first values.
    pub fn lists(&self) -> impl Iterator<Item = Node<'a>> {
        self.values.iter().map(|(value, _)| *value).filter(|value| value.kind() == Kind::List)
    }
}
