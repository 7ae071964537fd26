//! JSON one level at a time: the members of an object and the items of a list, each as the text that it is.
//!
//! Nothing is built that was not asked for, nothing recurses, and a damaged part can be told by itself. Each look for a type
//! is noted, see [`Looks`].

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

pub use crate::recording::input::kind::Kind;
use crate::recording::input::kind::Kinds;
use crate::recording::input::looks::Looks;
use crate::session::body;
use crate::session::build::Builder;

/// One JSON value, as its text.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    json: &'a str,
    /// Where looks for its type are noted.
    looks: Option<&'a Looks>,
}

/// The members of an object.
#[derive(Clone, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Node<'a>)>);

/// The one value that `text` is, with its members where it is an object. Looks at its parts are noted, where that is asked
/// for.
pub fn value<'a>(text: &'a str, looks: Option<&'a Looks>) -> serde_json::Result<(Node<'a>, Members<'a>)> {
    let trimmed = text.trim_ascii();
    if trimmed.starts_with('{') {
        let members: Members<'a> = serde_json::from_str(trimmed)?;
        return Ok((Node { json: trimmed, looks }, members.noting(looks)));
    }
    Ok((Node { looks, ..Node::parse(trimmed)? }, Members::default()))
}

/// Reads a value that was kept or made since its unit was read. What has a wrong type in it is said of the session. Gives
/// whether it is JSON.
pub fn read_again(
    json: &str,
    line: u32,
    builder: &mut Builder,
    read: impl FnOnce(&mut Builder, Node<'_>, &Members<'_>),
) -> bool {
    let looks = Looks::default();
    let Ok((node, members)) = value(json, Some(&looks)) else { return false };
    read(builder, node, &members);
    for (line, damage) in looks.wrong(json, line) {
        builder.at_line(line).damaged(damage);
    }
    true
}

impl<'a> From<Node<'a>> for &'a str {
    fn from(node: Node<'a>) -> &'a str {
        node.json
    }
}

impl<'a> Node<'a> {
    /// The one value that `text` is.
    pub fn parse(text: &'a str) -> serde_json::Result<Node<'a>> {
        serde_json::from_str::<&RawValue>(text).map(Node::of)
    }

    fn of(raw: &'a RawValue) -> Node<'a> {
        Node { json: raw.get(), looks: None }
    }

    /// A part of this value, looks at which are noted where those at this are.
    fn part(self, raw: &'a RawValue) -> Node<'a> {
        Node { json: raw.get(), looks: self.looks }
    }

    /// The same, for a look that may be in vain: the value may have other types as well, or nothing depends on it.
    pub fn tried(self) -> Node<'a> {
        Node { looks: None, ..self }
    }

    /// What kind of value it is, in words, for a reader that says itself what it could not read.
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

    /// Its text, without blanks around.
    pub fn json(self) -> &'a str {
        self.json
    }

    /// What kind of value it is.
    pub fn kind(self) -> Kind {
        Kind::of(self.json)
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
        if !self.is(LIST) {
            return None;
        }
        let items = serde_json::from_str::<Vec<&'a RawValue>>(self.json).ok()?;
        Some(items.into_iter().map(|item| self.part(item)).collect())
    }

    /// The first item, of a list; the others are not looked at.
    pub fn first_item(self) -> Option<Node<'a>> {
        let items = self.json.strip_prefix('[').filter(|_| self.is(LIST))?;
        let first = serde_json::Deserializer::from_str(items).into_iter::<&'a RawValue>().next()?;
        first.ok().map(|item| self.part(item))
    }

    /// The members of each item, of a list of objects and nothing else.
    pub fn objects(self) -> Option<Vec<Members<'a>>> {
        if !self.is(LIST) {
            return None;
        }
        match serde_json::from_str::<Vec<Members<'a>>>(self.json) {
            Ok(objects) => Some(objects.into_iter().map(|object| object.noting(self.looks)).collect()),
            // Which of them is none is noted one by one.
            Err(_) => self.items()?.into_iter().map(Node::members).collect(),
        }
    }

    /// The members, of an object.
    pub fn members(self) -> Option<Members<'a>> {
        if !self.is(Kinds::one(Kind::Object)) {
            return None;
        }
        serde_json::from_str::<Members<'a>>(self.json).ok().map(|members| members.noting(self.looks))
    }

    /// The value as a tree; `None` where it nests too deeply, or has a key that serde_json reserves.
    pub fn value(self) -> Option<Value> {
        body::parse(self.json)
    }
}

const TEXT: Kinds = Kinds::one(Kind::Text);
const LIST: Kinds = Kinds::one(Kind::List);

impl<'a> Members<'a> {
    fn noting(mut self, looks: Option<&'a Looks>) -> Members<'a> {
        self.0.iter_mut().for_each(|(_, node)| node.looks = looks);
        self
    }

    /// The first member.
    pub fn first(&self) -> Option<Node<'a>> {
        self.0.first().map(|(_, node)| *node)
    }

    /// The member of this name that is not `null`; the last one, where it is given twice.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.raw(key).filter(|node| node.kind() != Kind::Null)
    }

    /// The same, where a look at its type may be in vain, see [`Node::tried`].
    pub fn try_get(&self, key: &str) -> Option<Node<'a>> {
        self.get(key).map(Node::tried)
    }

    /// The first of these names that is there and not `null`.
    pub fn any(&self, keys: &[&str]) -> Option<Node<'a>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// Whether there is such a member, be it `null`.
    pub fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    fn raw(&self, key: &str) -> Option<Node<'a>> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, node)| *node)
    }

    /// Names and values, in recorded order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Node<'a>)> {
        self.0.iter().map(|(name, node)| (&**name, *node))
    }

    /// The names, in recorded order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((key.0, Node::of(value)));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// A text that is borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Reader)
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
