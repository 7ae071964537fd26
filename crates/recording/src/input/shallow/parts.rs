//! The direct parts of a value, one by one.

use super::Node;
use crate::input::looks::Looks;
use rulestep_base::source::tape::Tape;

/// The direct parts of a value.
#[derive(Clone)]
pub enum Parts<'a> {
    OnTape { tape: &'a Tape<'a>, next: u32, end: u32, looks: Option<&'a Looks> },
    List(std::vec::IntoIter<Node<'a>>),
}

impl<'a> Iterator for Parts<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        match self {
            Parts::OnTape { next, end, .. } if *next >= *end => None,
            Parts::OnTape { tape, next, looks, .. } => {
                let (node, after) = Node::on(tape, *next, *looks)?;
                *next = after;
                Some(node)
            }
            Parts::List(parts) => parts.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match self {
            Parts::OnTape { tape, next, end, .. } => tape.count((*next, *end)),
            Parts::List(parts) => parts.len(),
        };
        (count, Some(count))
    }
}

impl ExactSizeIterator for Parts<'_> {}
