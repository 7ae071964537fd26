//! The members of a JSON object as they are written.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Names and values; an object with a repeated name is invalid. If names are borrowed, so is one in which a name has
/// escapes.
#[derive(Debug, Default)]
pub struct Members<'a, N>(pub Vec<(N, &'a RawValue)>);

impl<'de, N: Deserialize<'de> + AsRef<str>> Deserialize<'de> for Members<'de, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<N>(PhantomData<N>);
        impl<'de, N: Deserialize<'de> + AsRef<str>> Visitor<'de> for Object<N> {
            type Value = Members<'de, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de, N>, A::Error> {
                let mut members: Vec<(N, &RawValue)> = Vec::with_capacity(12);
                while let Some((name, value)) = map.next_entry::<N, &RawValue>()? {
                    if members.iter().any(|(member, _)| member.as_ref() == name.as_ref()) {
                        return Err(twice(name.as_ref()));
                    }
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object(PhantomData))
    }
}

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

/// The error for a repeated name.
pub fn twice<E: Error>(name: &str) -> E {
    E::custom(format_args!("the member `{name}` is given twice"))
}
