//! JSON one level at a time: the members of an object and the items of a list, each as its text.
//!
//! Nothing is built before it is requested, nothing recurses, and a damaged part can be reported by itself. Each typed
//! access is recorded, see [`Looks`]. The parts of a value of the file are found once, by its [`Tape`]; those of JSON
//! inside a text are found level by level, on demand.

mod parts;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::Error as _;
use serde_json::Value;
use serde_json::value::RawValue;

pub use self::parts::Parts;
pub use crate::input::kind::Kind;
use crate::input::kind::Kinds;
use crate::input::looks::{LISTED, Looks};
use rulestep_base::session::Body;
use rulestep_base::session::body;
use rulestep_base::source::tape::{Tape, mark};

/// One JSON value, as its text.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    json: &'a str,
    /// Its tape and its position there, if it has one.
    on: Option<(&'a Tape<'a>, u32)>,
    /// Where typed accesses are recorded.
    looks: Option<&'a Looks>,
}

/// The members of an object.
#[derive(Clone)]
pub struct Members<'a>(Listing<'a>);

#[derive(Clone)]
enum Listing<'a> {
    /// By a tape whose names have no escapes: the range of parts.
    OnTape {
        tape: &'a Tape<'a>,
        parts: (u32, u32),
        /// Which names there may be: a bit for each, see [`mark`]. Most lookups are for absent members.
        names: u64,
        looks: Option<&'a Looks>,
    },
    List(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Default for Members<'_> {
    fn default() -> Self {
        Members(Listing::List(Vec::new()))
    }
}

/// The one value of `text`, with its members if it is an object. Typed accesses to its parts are recorded if `looks` is
/// given.
pub fn value<'a>(text: &'a str, looks: Option<&'a Looks>) -> serde_json::Result<(Node<'a>, Members<'a>)> {
    let node = Node { looks, ..Node::parse(text.trim_ascii()).map_err(|_| error(text))? };
    with_members(node).ok_or_else(|| error(text))
}

/// The value of a tape, in the same way.
pub fn of_tape<'a>(
    tape: &'a Tape<'a>,
    looks: Option<&'a Looks>,
) -> serde_json::Result<(Node<'a>, Members<'a>)> {
    let node = Node::on(tape, 0, looks).map(|(node, _)| node);
    node.and_then(with_members).ok_or_else(|| error(tape.text()))
}

fn with_members(node: Node<'_>) -> Option<(Node<'_>, Members<'_>)> {
    let members = if node.kind() == Kind::Object { node.listed()? } else { Members::default() };
    Some((node, members))
}

/// Why a text is not a JSON value.
pub fn error(text: &str) -> serde_json::Error {
    let text = text.trim_ascii();
    let error = match text.starts_with('{') {
        true => serde_json::from_str::<BTreeMap<String, &RawValue>>(text).err(),
        false => serde_json::from_str::<&RawValue>(text).err(),
    };
    error.unwrap_or_else(|| serde_json::Error::custom("it cannot be read"))
}

impl<'a> From<Node<'a>> for &'a str {
    fn from(node: Node<'a>) -> &'a str {
        node.json
    }
}

impl<'a> Node<'a> {
    /// The one value that `text` is.
    pub fn parse(text: &'a str) -> serde_json::Result<Node<'a>> {
        let json = text.trim_matches([' ', '\n', '\t', '\r']);
        match Tape::flat(json) {
            Some(_) => Ok(Node { json, on: None, looks: None }),
            None => Err(serde_json::from_str::<&RawValue>(text).err().unwrap_or_else(|| error(text))),
        }
    }

    /// The value that a part of a tape is, and the number of the part that follows it.
    fn on(tape: &'a Tape<'a>, part: u32, looks: Option<&'a Looks>) -> Option<(Node<'a>, u32)> {
        let found = tape.part(part)?;
        // If there are very many parts, only those at the first level are on the tape.
        let on = tape.holds_inside(part).then_some((tape, part));
        Some((Node { json: tape.text_of(found), on, looks }, found.next))
    }

    /// The same, for an access that may fail: the value may have other types as well, or nothing depends on it.
    pub fn tried(self) -> Node<'a> {
        Node { looks: None, ..self }
    }

    /// The kind of value in words, for a reader that reports itself what it could not read.
    pub fn said_kind(self) -> &'static str {
        let kind = self.kind();
        self.is(Kinds::one(kind));
        kind.word()
    }

    /// Whether it is one of these.
    fn is(self, wanted: Kinds) -> bool {
        let kind = self.kind();
        self.looks.map_or_else(|| wanted.has(kind), |looks| looks.note(self.json, kind, wanted))
    }

    /// Its text, without surrounding blanks.
    pub fn json(self) -> &'a str {
        self.json
    }

    /// Its content, to be kept.
    pub fn body(self) -> Body {
        match self.on {
            Some((tape, _)) if !tape.has_unicode() => Body::json_without_unicode(self.json),
            _ => Body::json(self.json),
        }
    }

    /// Its kind.
    pub fn kind(self) -> Kind {
        Kind::of(self.json)
    }

    /// Whether it is a text, for a reader that takes it as it is written.
    pub fn is_text(self) -> bool {
        self.is(TEXT)
    }

    /// The text, of a text.
    pub fn text(self) -> Option<Cow<'a, str>> {
        if !self.is(TEXT) {
            return None;
        }
        body::unescaped(self.json)
    }

    /// The text, or the digits of a number: how recordings write ids.
    pub fn id(self) -> Option<Cow<'a, str>> {
        match self.is(TEXT.or(Kinds::one(Kind::Number))) {
            true if self.kind() == Kind::Number => Some(Cow::Borrowed(self.json)),
            true => body::unescaped(self.json),
            false => None,
        }
    }

    /// The number, of one that fits; also of its digits as a text, while any other text is a wrong type.
    pub fn number<N: FromStr>(self) -> Option<N> {
        let text = self.tried().text();
        let number = text.as_deref().unwrap_or(self.json).parse().ok();
        let as_text = number.is_some() && text.is_some();
        self.is(if as_text { TEXT } else { Kinds::one(Kind::Number) });
        number
    }

    /// The truth value, of one.
    pub fn bool(self) -> Option<bool> {
        self.is(Kinds::one(Kind::Bool)).then_some(self.json == "true")
    }

    /// The items, of a list.
    pub fn items(self) -> Option<Vec<Node<'a>>> {
        self.each_item().map(Iterator::collect)
    }

    /// The items of a list, one by one: for lists that may be very long.
    pub fn each_item(self) -> Option<Parts<'a>> {
        if self.is(LIST) { self.parts() } else { None }
    }

    /// The first item, of a list; the others are not looked at.
    pub fn first_item(self) -> Option<Node<'a>> {
        let items = self.json.strip_prefix('[').filter(|_| self.is(LIST))?;
        if let Some((tape, part)) = self.on {
            let inside = part + 1..tape.part(part)?.next;
            return if inside.is_empty() { None } else { Some(Node::on(tape, inside.start, self.looks)?.0) };
        }
        let first = serde_json::Deserializer::from_str(items).into_iter::<&'a RawValue>().next()?;
        first.ok().map(|item| Node { json: item.get(), ..self })
    }

    /// The members of each item, of a list of objects and nothing else.
    pub fn objects(self) -> Option<Vec<Members<'a>>> {
        if !self.is(LIST) {
            return None;
        }
        let items = self.parts()?;
        let only_objects = items.clone().all(|item| item.kind() == Kind::Object);
        match only_objects.then(|| items.map(Node::listed).collect()).flatten() {
            Some(objects) => Some(objects),
            // Items that are not objects are recorded one by one.
            None => self.items()?.into_iter().map(Node::members).collect(),
        }
    }

    /// The members, of an object.
    pub fn members(self) -> Option<Members<'a>> {
        if self.is(Kinds::one(Kind::Object)) { self.listed() } else { None }
    }

    /// The value as a tree; `None` if it nests too deeply, or has a key that serde_json reserves.
    pub fn value(self) -> Option<Value> {
        body::parse(self.json)
    }

    /// Notes that this `null` has the place of messages, if members of this name list them.
    #[cold]
    fn lists_messages(self, key: &str) -> Option<Node<'a>> {
        if LISTED.contains(&key) {
            self.is(LIST);
        }
        None
    }

    /// The members, of an object; nothing is noted of one.
    pub fn as_object(self) -> Option<Members<'a>> {
        if self.kind() == Kind::Object { self.listed() } else { self.members() }
    }

    /// The direct parts of a list or an object; the names of members are separate values.
    fn parts(self) -> Option<Parts<'a>> {
        if let Some((tape, part)) = self.on {
            let (next, end) = tape.within(part);
            return Some(Parts::OnTape { tape, next, end, looks: self.looks });
        }
        let tape = Tape::flat(self.json)?;
        let (mut parts, mut next) = (Vec::with_capacity(tape.count(tape.within(0))), 1);
        while let Some(part) = tape.part(next) {
            parts.push(Node { json: tape.text_of(part), ..self });
            next = part.next;
        }
        Some(Parts::List(parts.into_iter()))
    }

    /// The members of an object; `None` if the name of one is not text.
    fn listed(self) -> Option<Members<'a>> {
        if let Some((tape, part)) = self.on.filter(|(tape, _)| !tape.has_escaped_names()) {
            let parts = (part + 1, tape.part(part)?.next);
            let (mut names, mut next) = (0, parts.0);
            while next < parts.1 {
                names |= mark(tape.name(next));
                next = tape.part(next + 1)?.next;
            }
            return Some(Members(Listing::OnTape { tape, parts, names, looks: self.looks }));
        }
        let mut parts = self.parts()?;
        let pairs = std::iter::from_fn(|| Some((parts.next()?, parts.next()?)));
        let pairs = pairs.map(|(name, value)| Some((body::unescaped(name.json)?, value)));
        Some(Members(Listing::List(pairs.collect::<Option<_>>()?)))
    }
}

const TEXT: Kinds = Kinds::one(Kind::Text);
const LIST: Kinds = Kinds::one(Kind::List);

impl<'a> Members<'a> {
    /// The first member.
    pub fn first(&self) -> Option<Node<'a>> {
        self.iter().next().map(|(_, node)| node)
    }

    /// The member of this name that is not `null`; the last one, if it is given twice. `null` in place of messages is
    /// recorded as a wrong type, as no program writes it for an empty list.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        let node = self.raw(key)?;
        match node.kind() {
            Kind::Null => node.lists_messages(key),
            _ => Some(node),
        }
    }

    /// The same, if an access with its type may fail, see [`Node::tried`].
    pub fn try_get(&self, key: &str) -> Option<Node<'a>> {
        self.raw(key).filter(|node| node.kind() != Kind::Null).map(Node::tried)
    }

    /// The first of these names that is there and not `null`.
    pub fn any(&self, keys: &[&str]) -> Option<Node<'a>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// Whether there is such a member, even if it is `null`.
    pub fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// Most looks are for members that are not there, and end here.
    #[inline]
    fn raw(&self, key: &str) -> Option<Node<'a>> {
        match &self.0 {
            Listing::OnTape { names, .. } if names & mark(key.as_bytes()) == 0 => None,
            _ => self.find(key),
        }
    }

    fn find(&self, key: &str) -> Option<Node<'a>> {
        let (node, is_only) = match self.0 {
            Listing::OnTape { tape, parts, looks, .. } => {
                let (first, last) = tape.members(parts, key.as_bytes())?;
                (Node::on(tape, last, looks)?.0, first == last)
            }
            Listing::List(_) => {
                let mut named = self.iter().filter(|(name, _)| *name == key).map(|(_, node)| node);
                let (first, more) = (named.next()?, named.last());
                (more.unwrap_or(first), more.is_none())
            }
        };
        if !is_only {
            self.note_others(key, node);
        }
        Some(node)
    }

    /// Records that a member which is read is given more than once. Repetitions with the same text do not count.
    #[cold]
    fn note_others(&self, key: &str, read: Node<'a>) {
        let mut others = self.iter().filter(|(name, _)| *name == key);
        if let Some(looks) = read.looks.filter(|_| others.any(|(_, other)| other.json != read.json)) {
            looks.note_twice(read.json);
        }
    }

    /// Names and values, in recorded order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Node<'a>)> {
        let (mut next, mut listed) = (0, [].iter());
        match &self.0 {
            Listing::OnTape { parts, .. } => next = parts.0,
            Listing::List(list) => listed = list.iter(),
        }
        std::iter::from_fn(move || match &self.0 {
            Listing::OnTape { tape, parts, looks, .. } if next < parts.1 => {
                let name = tape.text_of(tape.part(next)?);
                let (node, after) = Node::on(tape, next + 1, *looks)?;
                next = after;
                Some((name.get(1..name.len() - 1)?, node))
            }
            Listing::OnTape { .. } => None,
            Listing::List(_) => listed.next().map(|(name, node)| (&**name, *node)),
        })
    }

    /// Whether all names are of these. No value is looked at.
    pub fn are_named(&self, known: impl Fn(&[u8]) -> bool) -> bool {
        match &self.0 {
            Listing::OnTape { tape, parts, .. } => {
                let next = |name: &u32| Some(tape.part(name + 1)?.next);
                let mut names = std::iter::successors(Some(parts.0), next).take_while(|name| *name < parts.1);
                names.all(|name| known(tape.name(name)))
            }
            Listing::List(list) => list.iter().all(|(name, _)| known(name.as_bytes())),
        }
    }

    /// The names, in recorded order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_the_text_they_are() {
        let node = Node::parse(r#" {"a": [1, {"b": null}], "\u0062": "x\ny", "c": null, "a": 2} "#).unwrap();
        let members = node.members().unwrap();
        assert_eq!(members.get("a").unwrap().json(), "2");
        assert_eq!(members.get("b").unwrap().text().unwrap(), "x\ny");
        assert!(members.get("c").is_none() && members.has("c"));
        assert_eq!(members.names().collect::<Vec<_>>(), ["a", "b", "c", "a"]);
        let first = |text| Node::parse(text).unwrap().first_item().map(Node::json);
        assert_eq!(first("[ [1] , 2]"), Some("[1]"));
        assert_eq!((first("[]"), first("{}")), (None, None));
    }

    #[test]
    fn what_has_very_many_parts_is_found_level_by_level() {
        let text = r#"{"a": [{"b": [1, 2]}, {"b": [3]}], "c": {"d": "e"}}"#;
        for most in [1, 4, 100] {
            let tape = Tape::of_few(text, most).unwrap();
            let (node, members) = of_tape(&tape, None).unwrap();
            let objects = members.get("a").unwrap().objects().unwrap();
            let numbers: Vec<Vec<u32>> = objects
                .iter()
                .map(|object| object.get("b").unwrap().items().unwrap())
                .map(|items| items.into_iter().filter_map(Node::number).collect())
                .collect();
            assert_eq!(numbers, [vec![1, 2], vec![3]], "{most}");
            let inner = node.members().unwrap().get("c").unwrap().members().unwrap();
            assert_eq!(inner.get("d").unwrap().text().unwrap(), "e", "{most}");
            assert!(inner.get("b").is_none() && inner.first().is_some());
        }
    }

    #[test]
    fn reserved_keys_fool_nobody() {
        let forged = r#"{"$serde_json::private::RawValue": "1"}"#;
        let node = Node::parse(forged).unwrap();
        assert_eq!(node.json(), forged);
        let members = node.members().unwrap();
        assert_eq!(members.names().collect::<Vec<_>>(), ["$serde_json::private::RawValue"]);
        assert!(node.value().is_none());
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let members = Node::parse(&deep).unwrap().members().unwrap();
        assert_eq!(members.get("a").unwrap().json().len(), 200_001);
    }
}
