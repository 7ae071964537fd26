//! Titles of sessions: lines with titles may be anywhere in a log, also for other sessions.

use std::collections::HashMap;

use crate::input::shallow::{Members, Node};

/// Titles of one file, by the session, or by the line that a summary ends with.
#[derive(Default)]
pub struct Titles(HashMap<Box<str>, (Source, Box<str>)>);

/// The source of a title, the best one last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Summary,
    Model,
    User,
}

/// Titles that are kept: a file has one session, or a few.
const MOST: usize = 4096;

impl Titles {
    /// Keeps in mind what a line says that a session is called.
    pub fn note(&mut self, kind: &str, session: Option<Node<'_>>, members: &Members<'_>) {
        let (source, key) = match kind {
            "summary" => (Source::Summary, "summary"),
            "ai-title" => (Source::Model, "aiTitle"),
            "custom-title" => (Source::User, "customTitle"),
            _ => return,
        };
        // A log may begin with summaries of other sessions: the line that it ends with says which one.
        let of = if source == Source::Summary { members.get("leafUuid") } else { session };
        let (Some(of), Some(text)) = (of.and_then(Node::id), members.get(key).and_then(Node::text)) else {
            return;
        };
        let known = self.0.get(&*of).map(|(known, _)| *known);
        if !text.trim().is_empty() && known <= Some(source) && (known.is_some() || self.0.len() < MOST) {
            self.0.insert(of.as_ref().into(), (source, text.as_ref().into()));
        }
    }

    /// The title of a session whose log has lines with these ids.
    pub fn of(&self, session: &str, place_of: impl Fn(&str) -> Option<usize>) -> Option<&str> {
        let own = self.0.get(session).map(|(_, text)| text);
        let summaries = || self.0.iter().filter(|(_, (source, _))| *source == Source::Summary);
        let ends = || summaries().filter_map(|(of, (_, text))| Some((place_of(of)?, text)));
        let last = || ends().max_by_key(|(place, _)| *place).map(|(_, text)| text);
        own.or_else(last).map(|text| &**text)
    }
}
