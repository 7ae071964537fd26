//! OpenLLMetry's wrapper around the arguments and the result of a watched tool.
//!
//! Knows no other attributes: a tool may well have arguments and results that look like these.

use serde_json::{Map, Value};

use super::attributes::structure;
use crate::shape::langchain;
use rulestep_base::session::Body;

/// The attribute that holds what a tool was given.
pub const INPUT: &str = "traceloop.entity.input";
/// The attribute of the result.
pub const OUTPUT: &str = "traceloop.entity.output";

/// Reads the value of [`INPUT`], given as JSON text: the arguments, or the wrapper as it is if they cannot be
/// separated.
pub fn input(json: &str) -> Body {
    let as_is = || Body::json(json);
    let Some(Value::Object(members)) = structure(json) else { return as_is() };
    let arguments = match (members.get("args"), members.get("kwargs"), members.get("input_str")) {
        (Some(Value::Array(args)), Some(named @ Value::Object(_)), None) if members.len() == 2 => {
            args.is_empty().then(|| named.clone())
        }
        (_, Some(_), Some(text)) => of_langchain(&members, text),
        _ => None,
    };
    arguments.map_or_else(as_is, Body::from)
}

/// LangChain has the arguments and, in older versions only, their text.
fn of_langchain(members: &Map<String, Value>, text: &Value) -> Option<Value> {
    let inputs = members.get("inputs").filter(|inputs| inputs.is_object()).cloned();
    inputs.or_else(|| Some(langchain::arguments(text.clone())).filter(Value::is_object))
}

/// Reads the value of [`OUTPUT`], given as JSON text.
pub fn output(json: &str) -> Body {
    if let Some(Value::Object(members)) = structure(json)
        && members.len() == 2
        && members.contains_key("kwargs")
        && let Some(output) = members.get("output")
    {
        return Body::from(output);
    }
    // A returned text is written as JSON, within the text of the attribute.
    let text = serde_json::from_str::<String>(json).ok();
    match text.and_then(|text| serde_json::from_str::<String>(&text).ok()) {
        Some(text) => Body::text(text),
        None => Body::json(json),
    }
}
