//! Reading a property of a value, and the values of special ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Loop, Value, deeper, index_of};
use crate::liquid::js;
use crate::liquid::meter::Meter;
use crate::liquid::text::{self, Text};
use crate::liquid::unevaluable::{Outcome, Unevaluable};

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

impl Value {
    /// The value of a special value; any other value as it is.
    pub(in super::super) fn plain(self, meter: &mut Meter) -> Outcome<Self> {
        Ok(match self {
            Self::Nil => Self::Null,
            Self::Empty | Self::Blank => Self::text(""),
            Self::Loop(state) => Self::Text(js::object_json(&state.fields(), meter)?),
            other => other,
        })
    }
}

impl Loop {
    pub(in super::super) fn new(length: usize, name: Text, columns: Option<Value>) -> Outcome<Arc<Self>> {
        let depth = deeper(columns.iter())?;
        Ok(Arc::new(Self { round: AtomicU32::new(0), length: js::count(length), name, columns, depth }))
    }

    pub(in super::super) fn next(&self) {
        self.round.fetch_add(1, Ordering::Relaxed);
    }

    fn round(&self) -> f64 {
        f64::from(self.round.load(Ordering::Relaxed))
    }

    /// The column, counted from 0, of a `tablerow`.
    pub(in super::super) fn column(&self, meter: &mut Meter) -> Outcome<f64> {
        Ok(self.round() % self.column_count(meter)?)
    }

    /// The row, counted from 1, of a `tablerow`.
    pub(in super::super) fn row(&self, meter: &mut Meter) -> Outcome<f64> {
        Ok((self.round() / self.column_count(meter)?).floor() + 1.0)
    }

    fn column_count(&self, meter: &mut Meter) -> Outcome<f64> {
        js::number(self.columns.as_ref().unwrap_or(&Value::Undefined), meter)
    }

    /// The fields that its JSON shows.
    pub(in super::super) fn fields(&self) -> Vec<(Text, Value)> {
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
pub(in super::super) fn property(holder: &Value, key: &Value, meter: &mut Meter) -> Outcome<Value> {
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
pub(in super::super) fn own(holder: &Value, name: &[u16]) -> Option<Value> {
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

/// A property of one of the special values; `None` if it has no such name.
pub(in super::super) fn special(holder: &Value, name: &[u16], meter: &mut Meter) -> Outcome<Option<Value>> {
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
pub(in super::super) fn is_inherited(name: &[u16]) -> bool {
    INHERITED.iter().any(|inherited| text::is(name, inherited))
}

/// The element at `place`; from the end if negative; undefined if there is none.
pub(in super::super) fn element(items: &[Value], place: f64) -> Value {
    let place = if place < 0.0 { js::count(items.len()) + place } else { place };
    js::whole(place).and_then(|place| items.get(place)).cloned().unwrap_or(Value::Undefined)
}
