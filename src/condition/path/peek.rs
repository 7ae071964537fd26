//! What is at a few places of a JSON text, found without a tree of all that is around them.

use std::fmt;

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use smallvec::SmallVec;

use super::{Form, Path, Step, walk};
use crate::session::Body;

/// What is at one path each; `None` where nothing is.
pub type Places = SmallVec<[Option<Value>; 4]>;

/// The ways to go on from a value: of each path its number, and the steps that are left.
type Ways<'p> = SmallVec<[(usize, &'p [Step]); 4]>;

/// What is at each of these paths in a body that is an object: the same as [`Path::one`] in [`Body::value`]. `None` where only
/// the whole value can tell, or where there is one already.
pub fn peek<'p>(paths: impl Iterator<Item = &'p Path>, body: &Body) -> Option<Places> {
    body.peek(|text| {
        let ways = paths.enumerate().map(|(number, path)| Some((number, steps(path)?)));
        let ways: Ways<'_> = ways.collect::<Option<_>>()?;
        let mut places: Places = ways.iter().map(|_| None).collect();
        let mut reader = serde_json::Deserializer::from_str(text);
        Seeker { ways, places: &mut places }.deserialize(&mut reader).ok()?;
        reader.end().ok()?;
        Some(places)
    })
}

/// The steps of a path that leads to at most one place, counted from the beginning.
fn steps(path: &Path) -> Option<&[Step]> {
    let Form::Singular(steps) = &path.form else { return None };
    let is_plain = |step: &Step| match step {
        // Long numbers look to a visitor like objects with a member of such a name.
        Step::Name(name) => !name.starts_with("$serde_json::"),
        Step::Index(index) => *index >= 0,
    };
    steps.iter().all(is_plain).then_some(steps)
}

/// Goes on from a value on several ways, and keeps what is at their ends.
struct Seeker<'p, 'o> {
    ways: Ways<'p>,
    places: &'o mut Places,
}

impl<'p> Seeker<'p, '_> {
    /// The ways that go on with a step.
    fn through(&self, is: impl Fn(&Step) -> bool) -> Ways<'p> {
        let ways = self.ways.iter();
        ways.filter_map(|(number, steps)| {
            let (first, rest) = steps.split_first()?;
            is(first).then_some((*number, rest))
        })
        .collect()
    }

    fn keep(&mut self, number: usize, value: Option<&Value>) {
        if let Some(place) = self.places.get_mut(number) {
            *place = value.cloned();
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seeker<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, from: D) -> Result<(), D::Error> {
        // The last of several members of one name is the one that counts.
        for (number, _) in self.ways.clone() {
            self.keep(number, None);
        }
        match self.ways.as_slice() {
            [] => IgnoredAny::deserialize(from).map(drop),
            [(number, [])] => {
                let (number, value) = (*number, Value::deserialize(from)?);
                if let Some(place) = self.places.get_mut(number) {
                    *place = Some(value);
                }
                Ok(())
            }
            ways if ways.iter().any(|(_, steps)| steps.is_empty()) => {
                let value = Value::deserialize(from)?;
                for (number, steps) in self.ways.clone() {
                    self.keep(number, walk(steps, &value));
                }
                Ok(())
            }
            _ => from.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Seeker<'_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(ways) = map.next_key_seed(NameOf(&self))? {
            map.next_value_seed(Seeker { ways, places: &mut *self.places })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for place in 0_i64.. {
            let ways = self.through(|step| *step == Step::Index(place));
            if items.next_element_seed(Seeker { ways, places: &mut *self.places })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The name of a member, as the ways that go on with it.
struct NameOf<'s, 'p, 'o>(&'s Seeker<'p, 'o>);

impl<'de, 'p> DeserializeSeed<'de> for NameOf<'_, 'p, '_> {
    type Value = Ways<'p>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Ways<'p>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for NameOf<'_, 'p, '_> {
    type Value = Ways<'p>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Ways<'p>, E> {
        Ok(self.0.through(|step| matches!(step, Step::Name(own) if **own == *name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<Path> {
        texts.iter().map(|text| Path::parse(text).unwrap()).collect()
    }

    #[test]
    fn a_peek_finds_what_the_whole_value_holds() {
        let ways = [
            "$",
            "$.a",
            "$.a.b",
            "$.a.b[1]",
            "$.a.b[1].c",
            "$['a b']",
            "$.n",
            "$.a[0]",
            "$.none.x",
            "$['']",
            "$['q\\u0022']",
        ];
        for text in [
            "{}",
            r#"{"a": {"b": [1, {"c": [null]}]}, "a b": "x\n\"y\"", "n": -1.50e3}"#,
            r#" {"a": {"b": 1}, "a": 2, "n": null} "#,
            r#"{"a": 2, "a": {"b": [true, false]}}"#,
            r#"{"a": {"b": [0, 1], "b": {"c": 1}}, "": {}, "q\"": 7}"#,
            r#"{"a": [[], {"b": 3}], "n": 12345678901234567890123456789}"#,
            r#"{"a": "b", "x": [[[[]]]]}"#,
        ] {
            for chosen in [&ways[..], &ways[1..], &ways[2..5], &ways[4..5], &ways[6..]] {
                let paths = paths(chosen);
                let body = Body::text(text);
                let found = peek(paths.iter(), &body).unwrap();
                let value = body.value().unwrap();
                let whole: Places = paths.iter().map(|path| path.one(value).cloned()).collect();
                assert_eq!(found, whole, "{text} {chosen:?}");
            }
        }
    }

    #[test]
    fn what_only_the_whole_value_tells_is_not_peeked_at() {
        let deep = format!("{{\"a\": 1, \"b\": {}{}}}", "[".repeat(200), "]".repeat(200));
        let whole = [
            "[{\"a\": 1}]",
            "plain",
            "{\"a\": 1",
            "{\"a\": 1} x",
            "{\"a\": 01}",
            "{\"a\": \"\\ud800\"}",
            &deep,
            "{\"$serde_json::private::Number\": \"1\", \"a\": 1}",
            "{\"a\": \"\u{1}\"}",
            "",
        ];
        let paths = paths(&["$.a"]);
        for text in whole {
            assert_eq!(peek(paths.iter(), &Body::text(text)), None, "{text}");
        }
        let read = Body::text("{\"a\": 1}");
        assert!(peek(paths.iter(), &read).is_some());
        assert!(read.value().is_some());
        assert_eq!(peek(paths.iter(), &read), None);
        for path in ["$.a[-1]", "$..a", "$['$serde_json::private::Number']"] {
            let path = Path::parse(path).unwrap();
            assert_eq!(peek([&path].into_iter(), &Body::text("{\"a\": 1}")), None, "{path:?}");
        }
    }
}
