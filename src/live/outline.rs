//! What the index of a journal keeps of a record: all that tells what happened, and of a long body the place where it is.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use twox_hash::XxHash3_64;

use crate::session::body::Place;
use crate::session::{Body, Form, refusal};

/// What a decision is never based on: what was found about earlier calls, and by which policy.
const UNREAD: [&str; 6] = ["findings", "mode", "policy", "policy_from", "policy_fault", "took"];
/// Members that are bodies.
pub const BODIES: [&str; 4] = ["arguments", "output", "content", "told"];
/// A body of this many bytes takes more room than its place.
const LONG: usize = 256;
/// Longer lines are left to the reader of the journal, which says of some that they are too long.
const LONGEST: usize = 64 << 20;

/// The outlines of whole lines that begin at this byte of the journal. `None` where one is not as records are written: then
/// nothing but the journal tells what it means.
pub fn outlines(lines: &[u8], start: u64) -> Option<Vec<u8>> {
    let mut outlines = String::new();
    let mut at = start;
    for line in std::str::from_utf8(lines).ok()?.split_inclusive('\n') {
        outline(line.strip_suffix('\n')?, at, &mut outlines)?;
        at += line.len() as u64;
    }
    Some(outlines.into_bytes())
}

fn outline(line: &str, start: u64, out: &mut String) -> Option<()> {
    if line.len() > LONGEST {
        return None;
    }
    let Members(members) = serde_json::from_str(line).ok()?;
    let kind = members.first().filter(|(name, _)| *name == "record")?.1.get();
    let mut at = 1;
    for (place, (name, value)) in members.iter().enumerate() {
        let twice = members.iter().take(place).any(|(other, _)| other == name);
        if twice || name.contains(['@', '"', '\\']) {
            return None;
        }
        // What is between two members is a comma, and between a name and its value a colon.
        let value_at = at + name.len() + 3;
        at = value_at + value.get().len() + 1;
        let value = value.get();
        if line.get(value_at..value_at + value.len()) != Some(value) {
            return None;
        }
        if kind == "\"proposed\"" && UNREAD.contains(name) {
            continue;
        }
        out.push(if place == 0 { '{' } else { ',' });
        let written = match kept_form(name, value) {
            Some(form) => {
                let (start, length) = (start + value_at as u64, value.len());
                let digest = XxHash3_64::oneshot(value.as_bytes());
                write!(out, "\"{name}@\":[{start},{length},{digest},{}]", form == Form::Text)
            }
            None => write!(out, "\"{name}\":{value}"),
        };
        written.ok()?;
    }
    out.push_str("}\n");
    (at == line.len()).then_some(())
}

/// The form of a body that its place is kept of: nothing about it shows before a rule looks at it.
fn kept_form(name: &str, value: &str) -> Option<Form> {
    // Halves of surrogate pairs are corrected, and reported, wherever they are.
    let halves = || value.contains("\\ud") || value.contains("\\uD");
    if value.len() < LONG || !BODIES.contains(&name) || halves() {
        return None;
    }
    let body = Body::json(value);
    let shows = match name {
        "arguments" => body.fault().is_some() || body.not_arguments().is_some(),
        _ => refusal::may_be(&body),
    };
    body.form().filter(|_| !shows)
}

/// The place that an outline has of a body.
pub fn place(value: &serde_json::Value) -> Option<Place> {
    let number = |index: usize| value.get(index)?.as_u64();
    Some(Place { start: number(0)?, length: number(1)?, digest: number(2)? })
}

/// The members of an object, as they are written.
struct Members<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::with_capacity(12);
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
