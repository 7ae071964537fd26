//! The values a template handles.
//!
//! Lists and objects are shared, never changed, and compared by identity where JavaScript does so: a
//! caller that gives the same [`Value`] twice gives the same object.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::meter::Meter;
use super::text::{self, Text};
use super::unevaluable::{Outcome, Unevaluable};

mod property;

pub(super) use property::{element, is_inherited, own, property, special};

/// Deepest nesting of lists and objects; every walk over a value relies on it.
const DEPTH: u16 = 200;

/// Objects with more keys than this get an index.
const SCANNED: usize = 8;

/// A value: those of JSON, JavaScript's `undefined`, and the four special ones that only templates make.
#[derive(Clone, Debug)]
pub enum Value {
    /// The value of an unknown name.
    Undefined,
    /// `null` of the data.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number as JavaScript has it.
    Number(f64),
    /// Text.
    Text(Text),
    /// A list.
    List(Arc<List>),
    /// An object with its keys in JavaScript's order.
    Object(Arc<Object>),
    /// The literal `nil` or `null`.
    Nil,
    /// The literal `empty`.
    Empty,
    /// The literal `blank`.
    Blank,
    /// `forloop` or `tablerowloop`.
    Loop(Arc<Loop>),
}

impl Value {
    /// The value of a JSON document.
    ///
    /// # Errors
    /// [`Unevaluable::TooDeep`] where lists and objects nest over 200 deep.
    pub fn from_json(json: &serde_json::Value) -> Outcome<Self> {
        Self::nested(json, 0)
    }

    /// A text value.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text::units(text))
    }

    /// A list of `items`.
    ///
    /// # Errors [`Unevaluable::TooDeep`] if it would nest over 200 deep.
    pub fn list(items: Vec<Self>) -> Outcome<Self> {
        let depth = deeper(items.iter())?;
        Ok(Self::List(Arc::new(List { items, depth })))
    }

    /// An object of `entries`; of a key given twice the last value is in the first place.
    ///
    /// # Errors [`Unevaluable::TooDeep`] if it would nest over 200 deep.
    pub fn object(entries: Vec<(Text, Self)>) -> Outcome<Self> {
        let depth = deeper(entries.iter().map(|(_, value)| value))?;
        Ok(Self::Object(Arc::new(Object::new(entries, depth))))
    }

    fn nested(json: &serde_json::Value, depth: u16) -> Outcome<Self> {
        if depth > DEPTH {
            return Err(Unevaluable::TooDeep);
        }
        Ok(match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(*truth),
            serde_json::Value::Number(number) => Self::Number(number.to_string().parse().unwrap_or(f64::NAN)),
            serde_json::Value::String(string) => Self::text(string),
            serde_json::Value::Array(items) => {
                Self::list(items.iter().map(|item| Self::nested(item, depth + 1)).collect::<Outcome<_>>()?)?
            }
            serde_json::Value::Object(map) => Self::object(
                map.iter()
                    .map(|(key, value)| Ok((text::units(key), Self::nested(value, depth + 1)?)))
                    .collect::<Outcome<_>>()?,
            )?,
        })
    }

    /// A list that was made by a template, counted.
    pub(super) fn made(items: Vec<Self>, meter: &mut Meter) -> Outcome<Self> {
        meter.entries(items.len())?;
        Self::list(items)
    }

    fn depth(&self) -> u16 {
        match self {
            Self::List(list) => list.depth,
            Self::Object(object) => object.depth,
            Self::Loop(state) => state.depth,
            _ => 0,
        }
    }

    /// `undefined` or `null`, but not the literal.
    pub(super) fn is_nil(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }
}

/// The items of a list.
#[derive(Debug)]
pub struct List {
    items: Vec<Value>,
    depth: u16,
}

impl List {
    /// The items in order.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }
}

/// The entries of an object.
#[derive(Debug)]
pub struct Object {
    entries: Vec<(Text, Value)>,
    index: HashMap<Text, usize>,
    depth: u16,
}

impl Object {
    fn new(given: Vec<(Text, Value)>, depth: u16) -> Self {
        let mut places: HashMap<Text, usize> = HashMap::with_capacity(given.len());
        let mut entries: Vec<(Text, Value)> = Vec::with_capacity(given.len());
        for (key, value) in given {
            if let Some(entry) = places.get(&key).and_then(|&place| entries.get_mut(place)) {
                entry.1 = value;
            } else {
                places.insert(Arc::clone(&key), entries.len());
                entries.push((key, value));
            }
        }
        // Keys that look like an index come first, by number (stable: the others keep their order).
        if entries.iter().any(|(key, _)| index_of(key).is_some()) {
            entries.sort_by_key(|(key, _)| index_of(key).unwrap_or(u32::MAX));
        }
        let index = if entries.len() > SCANNED {
            entries.iter().enumerate().map(|(place, (key, _))| (Arc::clone(key), place)).collect()
        } else {
            HashMap::new()
        };
        Self { entries, index, depth }
    }

    /// The entries in JavaScript's order.
    #[must_use]
    pub fn entries(&self) -> &[(Text, Value)] {
        &self.entries
    }

    pub(super) fn get(&self, key: &[u16]) -> Option<&Value> {
        if self.index.is_empty() {
            self.entries.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
        } else {
            self.entries.get(*self.index.get(key)?).map(|(_, value)| value)
        }
    }
}

/// The state of `forloop` and `tablerowloop`. A template may keep it after the loop, and then sees where the loop
/// ended.
#[derive(Debug)]
pub struct Loop {
    round: AtomicU32,
    length: f64,
    name: Text,
    columns: Option<Value>,
    depth: u16,
}

/// The number of a key that is written as an array index.
fn index_of(name: &[u16]) -> Option<u32> {
    let (first, rest) = name.split_first()?;
    if name.len() > 10
        || !name.iter().all(|unit| (48..58).contains(unit))
        || (*first == 48 && !rest.is_empty())
    {
        return None;
    }
    let number = name.iter().try_fold(0u64, |sum, unit| Some(sum * 10 + u64::from(unit - 48)))?;
    u32::try_from(number).ok().filter(|&number| number < u32::MAX)
}

fn deeper<'v>(values: impl Iterator<Item = &'v Value>) -> Outcome<u16> {
    let depth = values.map(Value::depth).max().unwrap_or(0) + 1;
    if depth > DEPTH { Err(Unevaluable::TooDeep) } else { Ok(depth) }
}
