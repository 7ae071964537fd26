//! Arguments that are sent to be decided: every program has to read the same in them, and this one all of it.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::fault::Fault;
use super::members::twice;
use crate::session::body;
use crate::session::{Body, Form};

/// JSON in which no object has a member twice.
pub struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

macro_rules! primitives {
    ($($visit:ident: $type:ty)*) => {
        $(fn $visit<E: Error>(self, _: $type) -> Result<Unique, E> {
            Ok(Unique)
        })*
    };
}

impl<'de> Visitor<'de> for Unique {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    primitives! { visit_bool: bool visit_i64: i64 visit_u64: u64 visit_f64: f64 visit_str: &str }

    fn visit_unit<E: Error>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
        let mut names = HashSet::new();
        while let Some((name, Unique)) = map.next_entry::<String, Unique>()? {
            if names.contains(&name) {
                return Err(twice(&name));
            }
            names.insert(name);
        }
        Ok(Unique)
    }
}

/// Whether rules can look into all of these arguments. Arguments that cannot be read, or that the program that runs the call reads
/// differently, must not be taken for a call without arguments.
///
/// # Errors
/// They cannot be decided about.
pub fn readable(arguments: &Body) -> Result<(), Fault> {
    let text = arguments.raw();
    let in_place = arguments.form() == Some(Form::Json);
    // Some tools take a text that is not JSON.
    if arguments.is_missing() || !in_place && serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Ok(());
    }
    let why = match arguments.fault() {
        Some(body::Fault::TooDeep) => "they nest deeper than 127 levels".to_owned(),
        Some(body::Fault::ReservedKey) => {
            "they have a key that JSON readers reserve (`$serde_json::…`)".to_owned()
        }
        Some(body::Fault::NotJson) => "they are not JSON that every program can read".to_owned(),
        None => match serde_json::from_str::<Unique>(text) {
            Ok(Unique) => return Ok(()),
            Err(error) => error.to_string(),
        },
    };
    let help = "send arguments that every program reads alike";
    Err(Fault::new(format!("the arguments of the call cannot be decided: {why}"), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_programs_read_differently_are_not_decided() {
        let nested = |levels: usize| format!(r#"{{"a": {}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let reserved = |key: &str| format!(r#"{{"env": "prod", "{key}": "1"}}"#);
        let clear =
            [r#"{"env": "prod", "n": [{"a": 1}, {"a": 2}]}"#.to_owned(), "{}".to_owned(), nested(120)];
        let unclear = [
            reserved("$serde_json::private::RawValue"),
            reserved("$serde_json::private::Number"),
            reserved("\\u0024serde_json::private::Number"),
            r#"{"n": {"$serde_json::private::Number": "1"}}"#.to_owned(),
            nested(127),
            r#"{"path": "secret", "path": "a"}"#.to_owned(),
            r#"{"n": [{"path": "secret", "p\u0061th": "a"}]}"#.to_owned(),
            r#"{"path": "\ud800"}"#.to_owned(),
        ];
        for text in &clear {
            assert_eq!(readable(&Body::json(text)), Ok(()), "{text}");
            assert_eq!(readable(&Body::text(text.as_str())), Ok(()), "{text}");
        }
        for text in &unclear {
            assert!(readable(&Body::json(text)).is_err(), "{text}");
            assert!(readable(&Body::text(text.as_str())).is_err(), "as a text: {text}");
        }
        assert!(readable(&Body::json(r#""{\"path\": \"\ud800\"}""#)).is_err());
        for text in ["*** Begin Patch", "{not JSON", ""] {
            assert_eq!(readable(&Body::text(text)), Ok(()), "{text}");
        }
        assert_eq!(readable(&Body::MISSING), Ok(()));
    }
}
