//! Messages of JSON-RPC as they were written.
//!
//! The decided message must be the one that the other side reads. Parsers differ if a member is given twice, if its
//! name differs in case, and in what ends a line; so a message that two parsers may read differently is invalid here.

use serde_json::value::RawValue;

use crate::live::members::{self, Unique};

/// An output of the proxy.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A line for the server.
    Server(String),
    /// A line for the client.
    Client(String),
    /// A line for the user.
    Note(String),
}

/// The members of an object, each as it was written.
pub type Members<'a> = members::Members<'a, String>;

impl<'a> Members<'a> {
    /// Reads an object.
    ///
    /// # Errors It is not an object, or has a member twice.
    pub fn read(text: &'a str) -> serde_json::Result<Members<'a>> {
        serde_json::from_str(text)
    }

    /// A member; null counts as absent.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().find(|(member, _)| member == name)?;
        Some(*value).filter(|value| value.get() != "null")
    }

    /// A member that is a text.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A member that is an object.
    pub fn object(&self, name: &str) -> Option<Members<'a>> {
        Members::read(self.get(name)?.get()).ok()
    }

    /// A member by its path through objects.
    pub fn at(&self, path: &[&str]) -> Option<&'a RawValue> {
        let (last, before) = path.split_last()?;
        match before.split_first() {
            None => self.get(last),
            Some((first, rest)) => self.object(first)?.at(&[rest, &[last]].concat()),
        }
    }

    /// A name that some parsers take for one of these, as it differs only in case.
    pub fn confusable(&self, names: &[&str]) -> Option<&str> {
        let mut members = self.0.iter().map(|(name, _)| name.as_str());
        members.find(|member| !names.contains(member) && names.iter().any(|name| fold(member) == *name))
    }
}

/// Without case. Some letters beyond ASCII have an ASCII letter as their other case, which parsers that fold take for
/// it.
fn fold(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Reads a message that a server will read: every parser must find the same in it.
///
/// # Errors
/// It is no object, or parsers may differ about it.
pub fn unambiguous(text: &str) -> Result<Members<'_>, String> {
    if text.trim_ascii_start().starts_with('[') {
        return Err("it is a batch; send its messages one by one".to_owned());
    }
    let message = Members::read(text).map_err(|error| format!("it is not a JSON object: {error}"))?;
    serde_json::from_str::<Unique>(text).map_err(|error| error.to_string())?;
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    match message.confusable(&known) {
        Some(name) => Err(format!("the member `{name}` is not spelled as JSON-RPC does")),
        None => Ok(message),
    }
}

/// Whether a method is unambiguous, so that no server reads it as a call that was not decided. Only `prompts/get` names
/// something with arguments without being a call of a tool.
pub fn clear(method: &str, params: &Members<'_>) -> bool {
    if matches!(method, "tools/call" | "prompts/get") {
        return true;
    }
    let about_tools = || method.to_ascii_lowercase().contains("tool");
    let calls = params.text("name").is_some() && (params.get("arguments").is_some() || about_tools());
    !calls && !method.trim().eq_ignore_ascii_case("tools/call")
}

/// An id as a key. Some sides write a number back in another way.
pub fn key(id: &RawValue) -> String {
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    match id.get().parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small")]
        Ok(number) if whole(number) => (number as i64).to_string(),
        _ => serde_json::from_str::<String>(id.get())
            .map_or_else(|_| id.get().to_owned(), |text| serde_json::Value::from(text).to_string()),
    }
}

/// The line that is passed on: some readers end a line at a carriage return, which may be between two values.
pub fn one_line(text: &str) -> String {
    text.trim().replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parsers_read_differently_is_no_message() {
        let clear = [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"y":1.0e5},null,true,"s"]},"extra":1}"#,
            r#"{"id":"1","result":{"a":{"k":1},"b":{"k":2}}}"#,
        ];
        for text in clear {
            assert!(unambiguous(text).is_ok(), "{text}");
        }
        let ambiguous = [
            "[]",
            "1",
            "",
            "{} {}",
            r#"{"method":"ping","method":"tools/call"}"#,
            r#"{"method":"ping","m\u0065thod":"tools/call"}"#,
            r#"{"method":"ping","Method":"tools/call"}"#,
            r#"{"params":{},"param\u017f":{}}"#,
            r#"{"params":{"arguments":{"path":"a","path":"b"}}}"#,
            r#"{"params":[{"a":1,"\u0061":2}]}"#,
        ];
        for text in ambiguous {
            assert!(unambiguous(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_is_the_same_however_it_is_written() {
        let key = |text: &str| key(serde_json::from_str::<&RawValue>(text).unwrap());
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key(r#""a""#), key(r#""\u0061""#));
        assert_ne!(key("1"), key(r#""1""#));
        assert_ne!(key("12345678901234567890"), key("12345678901234567891"));
    }

    #[test]
    fn members_are_found_by_their_path() {
        let members = Members::read(r#"{"a":{"b":{"c":"d"},"n":null}}"#).unwrap();
        assert_eq!(members.at(&["a", "b", "c"]).map(RawValue::get), Some("\"d\""));
        assert!(members.at(&["a", "n"]).is_none() && members.at(&["a", "x", "c"]).is_none());
    }
}
