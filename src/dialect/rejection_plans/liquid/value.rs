//! The values a template handles, and how a property of one is read.
//!
//! Lists and objects are shared, never changed, and compared by identity where JavaScript does so: a
//! caller that gives the same [`Value`] twice gives the same object.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::js;
use super::meter::Meter;
use super::text::{self, Text};
use super::{Outcome, Unevaluable};

/// How deeply lists and objects may nest; every walk over a value relies on it.
const DEPTH: u16 = 200;

/// Objects with more keys than this get an index.
const SCANNED: usize = 8;

/// The names that every JavaScript object has without having them itself.
const INHERITED: [&str; 12] = [
    "constructor",
    "__defineGetter__",
    "__defineSetter__",
    "hasOwnProperty",
    "__lookupGetter__",
    "__lookupSetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "valueOf",
    "__proto__",
    "toLocaleString",
];

/// A value: those of JSON, JavaScript's `undefined`, and the four special ones that only templates make.
#[derive(Clone, Debug)]
pub enum Value {
    /// What a name that does not exist stands for.
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
    /// # Errors
    /// [`Unevaluable::TooDeep`] where it would nest over 200 deep.
    pub fn list(items: Vec<Self>) -> Outcome<Self> {
        let depth = deeper(items.iter())?;
        Ok(Self::List(Arc::new(List { items, depth })))
    }

    /// An object of `entries`; of a key given twice the last value is in the first place.
    ///
    /// # Errors
    /// [`Unevaluable::TooDeep`] where it would nest over 200 deep.
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

    /// What a special value stands for; any other value as it is.
    pub(super) fn plain(self, meter: &mut Meter) -> Outcome<Self> {
        Ok(match self {
            Self::Nil => Self::Null,
            Self::Empty | Self::Blank => Self::text(""),
            Self::Loop(state) => Self::Text(js::object_json(&state.fields(), meter)?),
            other => other,
        })
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

/// The state behind `forloop` and `tablerowloop`. A template may keep it after the loop, and then sees
/// where the loop ended.
#[derive(Debug)]
pub struct Loop {
    round: AtomicU32,
    length: f64,
    name: Text,
    columns: Option<Value>,
    depth: u16,
}

impl Loop {
    pub(super) fn new(length: usize, name: Text, columns: Option<Value>) -> Outcome<Arc<Self>> {
        let depth = deeper(columns.iter())?;
        Ok(Arc::new(Self { round: AtomicU32::new(0), length: js::count(length), name, columns, depth }))
    }

    pub(super) fn next(&self) {
        self.round.fetch_add(1, Ordering::Relaxed);
    }

    fn round(&self) -> f64 {
        f64::from(self.round.load(Ordering::Relaxed))
    }

    /// The column, counted from 0, of a `tablerow`.
    pub(super) fn column(&self, meter: &mut Meter) -> Outcome<f64> {
        Ok(self.round() % self.column_count(meter)?)
    }

    /// The row, counted from 1, of a `tablerow`.
    pub(super) fn row(&self, meter: &mut Meter) -> Outcome<f64> {
        Ok((self.round() / self.column_count(meter)?).floor() + 1.0)
    }

    fn column_count(&self, meter: &mut Meter) -> Outcome<f64> {
        js::number(self.columns.as_ref().unwrap_or(&Value::Undefined), meter)
    }

    /// The fields that its JSON shows.
    pub(super) fn fields(&self) -> Vec<(Text, Value)> {
        let mut fields = vec![
            (text::units("i"), Value::Number(self.round())),
            (text::units("length"), Value::Number(self.length)),
            (text::units("name"), Value::Text(Arc::clone(&self.name))),
        ];
        if let Some(columns) = &self.columns {
            fields.push((text::units("cols"), columns.clone()));
        }
        fields
    }

    fn property(&self, key: &str, meter: &mut Meter) -> Outcome<Option<Value>> {
        let round = self.round();
        let number = |number| Ok(Some(Value::Number(number)));
        let truth = |truth| Ok(Some(Value::Bool(truth)));
        match key {
            "i" | "index0" => number(round),
            "index" => number(round + 1.0),
            "length" => number(self.length),
            "name" => Ok(Some(Value::Text(Arc::clone(&self.name)))),
            "first" => truth(round == 0.0),
            "last" => truth(round == self.length - 1.0),
            "rindex" => number(self.length - round),
            "rindex0" => number(self.length - round - 1.0),
            "valueOf" => Ok(Some(Value::Text(js::object_json(&self.fields(), meter)?))),
            "next" => {
                self.next();
                Ok(Some(Value::Undefined))
            }
            _ => {
                let Some(columns) = &self.columns else { return Ok(None) };
                match key {
                    "cols" => Ok(Some(columns.clone())),
                    "row" => number(self.row(meter)?),
                    "col0" => number(self.column(meter)?),
                    "col" => number(self.column(meter)? + 1.0),
                    "col_first" => truth(self.column(meter)? == 0.0),
                    "col_last" => truth(js::same(&Value::Number(self.column(meter)? + 1.0), columns)),
                    _ => Ok(None),
                }
            }
        }
    }
}

/// Reads `key` of `holder` as a path in a template does.
pub(super) fn property(holder: &Value, key: &Value, meter: &mut Meter) -> Outcome<Value> {
    meter.step(1)?;
    let key = key.clone().plain(meter)?;
    match (holder, &key) {
        (Value::Undefined | Value::Null, _) => return Ok(holder.clone()),
        (Value::List(list), Value::Number(place)) => return Ok(element(list.items(), *place)),
        _ => {}
    }
    let name = js::key(&key, meter)?;
    meter.step(name.len())?;
    if matches!(holder, Value::Nil | Value::Empty | Value::Blank | Value::Loop(_)) {
        return Ok(special(holder, &name, meter)?.unwrap_or(Value::Undefined));
    }
    if let Some(own) = own(holder, &name) {
        return Ok(own);
    }
    if !matches!(key, Value::Text(_)) {
        return Ok(Value::Undefined);
    }
    Ok(match holder {
        Value::List(list) if text::is(&name, "size") => Value::Number(js::count(list.items.len())),
        Value::List(list) if text::is(&name, "first") => element(&list.items, 0.0),
        Value::List(list) if text::is(&name, "last") => element(&list.items, -1.0),
        Value::Text(text) if text::is(&name, "size") => Value::Number(js::count(text.len())),
        Value::Object(object) if text::is(&name, "size") => Value::Number(js::count(object.entries.len())),
        _ => Value::Undefined,
    })
}

/// The property that `holder` has itself, if it has it.
pub(super) fn own(holder: &Value, name: &[u16]) -> Option<Value> {
    match holder {
        Value::Object(object) => object.get(name).cloned(),
        Value::List(list) if text::is(name, "length") => Some(Value::Number(js::count(list.items.len()))),
        Value::List(list) => list.items.get(usize::try_from(index_of(name)?).ok()?).cloned(),
        Value::Text(text) if text::is(name, "length") => Some(Value::Number(js::count(text.len()))),
        Value::Text(text) => {
            text.get(usize::try_from(index_of(name)?).ok()?).map(|&unit| Value::Text([unit].into()))
        }
        _ => None,
    }
}

/// A property of one of the special values; `None` where it has no such name.
pub(super) fn special(holder: &Value, name: &[u16], meter: &mut Meter) -> Outcome<Option<Value>> {
    let Some(key) = text::utf8(name) else { return Ok(None) };
    let found = match holder {
        Value::Loop(state) => state.property(&key, meter)?,
        _ => match (key.as_str(), holder) {
            ("gt" | "geq" | "lt" | "leq", _) => Some(Value::Bool(false)),
            ("equals", _) => Some(Value::Bool(!matches!(holder, Value::Empty))),
            ("valueOf", _) => Some(holder.clone().plain(meter)?),
            _ => None,
        },
    };
    if found.is_none() && key == "liquidMethodMissing" {
        return Ok(Some(Value::Undefined));
    }
    if found.is_none() && is_inherited(name) {
        return Err(Unevaluable::Unsupported {
            what: format!("the JavaScript property `{key}` of a special value"),
        });
    }
    Ok(found)
}

/// Whether every JavaScript object answers to this name.
pub(super) fn is_inherited(name: &[u16]) -> bool {
    INHERITED.iter().any(|inherited| text::is(name, inherited))
}

/// The element at `place`; from the end if negative; undefined where there is none.
pub(super) fn element(items: &[Value], place: f64) -> Value {
    let place = if place < 0.0 { js::count(items.len()) + place } else { place };
    js::whole(place).and_then(|place| items.get(place)).cloned().unwrap_or(Value::Undefined)
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
