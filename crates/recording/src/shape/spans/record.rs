//! One record of a trace as its format wrote it: its members, and its oddities.

use std::borrow::Cow;

use super::instant;
use crate::input::shallow::{Members, Node};
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;

/// The members of a record, looked up under the names that a format has for them.
pub struct SpanRecord<'r, 'a> {
    members: &'r Members<'a>,
    /// Its kind, for people: `a span`.
    what: &'static str,
    /// Its oddities, a sentence each.
    pub odd: Vec<Damage>,
}

impl<'r, 'a> SpanRecord<'r, 'a> {
    /// A record that is called `what`.
    pub fn new(members: &'r Members<'a>, what: &'static str) -> SpanRecord<'r, 'a> {
        SpanRecord { members, what, odd: Vec::new() }
    }

    /// A text or a number under the first of these names that is present; an empty one counts as absent.
    pub fn text(&self, keys: &[&str]) -> Option<Cow<'a, str>> {
        self.members.any(keys).and_then(Node::id).filter(|text| !text.is_empty())
    }

    /// A word, for which a number is a wrong type; an empty one counts as absent.
    pub fn word(&self, keys: &[&str]) -> Option<Cow<'a, str>> {
        self.members.any(keys).and_then(Node::text).filter(|text| !text.is_empty())
    }

    /// The same as [`SpanRecord::text`], as an owned value.
    pub fn kept(&self, keys: &[&str]) -> Option<Box<str>> {
        self.text(keys).map(|text| text.as_ref().into())
    }

    /// An instant in nanoseconds. Zero and an empty text count as absent; a value that is not a time is odd.
    pub fn time(&mut self, keys: &[&str]) -> Option<i64> {
        let node = self.members.any(keys)?;
        let found = instant(node);
        if found.is_none() && !matches!(node.json(), "0" | "\"0\"" | "\"\"") {
            self.odd
                .push(format!("the time of {} cannot be read: {}", self.what, quoted(node.json())).into());
        }
        found
    }
}
