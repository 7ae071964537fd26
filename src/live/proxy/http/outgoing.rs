//! Data of the client's messages, and the headers that repeat it.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;
use ureq::http::{HeaderName, HeaderValue};

use crate::live::proxy::message::{Members, key};

/// The first version of MCP without sessions, whose requests name their version.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// A message for the server.
#[derive(Debug)]
pub struct Outgoing {
    /// The key of its id, if it is a request.
    pub id: Option<String>,
    pub method: Option<String>,
    /// The version that the message itself names, which is one without sessions.
    pub version: Option<String>,
    /// The key of the request that it cancels.
    pub cancels: Option<String>,
    /// The requested tool, prompt or resource.
    name: Option<String>,
    /// Arguments of a tool call, as they were written.
    arguments: Option<Box<RawValue>>,
}

impl Outgoing {
    /// Reads a message that the proxy lets pass.
    pub fn read(text: &str) -> Option<Outgoing> {
        let message = Members::read(text).ok()?;
        let method = message.text("method");
        let params = message.object("params").unwrap_or_default();
        let meta = params.object("_meta").unwrap_or_default();
        let version = meta.text("io.modelcontextprotocol/protocolVersion");
        let is = |name: &str| method.as_deref() == Some(name);
        let name = match method.as_deref() {
            Some("tools/call" | "prompts/get") => params.text("name"),
            Some("resources/read") => params.text("uri"),
            _ => None,
        };
        Some(Outgoing {
            id: method.as_ref().and_then(|_| message.get("id")).map(key),
            version: version.filter(|version| is_stateless(version)),
            cancels: params.get("requestId").filter(|_| is("notifications/cancelled")).map(key),
            arguments: params.get("arguments").filter(|_| is("tools/call")).map(ToOwned::to_owned),
            name,
            method,
        })
    }

    pub fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// The headers in which versions without sessions repeat data.
    pub fn mirrored(&self, tools: &Tools) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&encoded(value))) {
                headers.push((name, value));
            }
        };
        if self.version.is_none() {
            return headers;
        }
        if let Some(method) = &self.method {
            add("mcp-method", method);
        }
        let Some(name) = &self.name else { return headers };
        add("mcp-name", name);
        let Some(arguments) = &self.arguments else { return headers };
        let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
        for parameter in tools.0.get(name).into_iter().flatten() {
            let value = parameter.path.iter().try_fold(&arguments, |value, step| value.get(step));
            let value = match value {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => number.to_string(),
                _ => continue,
            };
            add(&format!("mcp-param-{}", parameter.header), &value);
        }
        headers
    }
}

/// Versions are dates.
pub fn is_stateless(version: &str) -> bool {
    version >= WITHOUT_SESSIONS && version.starts_with("20")
}

/// A text as the value of a header.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && text.trim_matches([' ', '\t']) == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

/// A parameter that a header repeats.
#[derive(Debug, PartialEq, Eq)]
struct Parameter {
    path: Vec<String>,
    header: String,
}

/// Which parameters of which tools are repeated in headers.
#[derive(Debug, Default)]
pub struct Tools(HashMap<String, Vec<Parameter>>);

impl Tools {
    /// Reads the answer to `tools/list`; returns problems with it.
    pub fn learn(&mut self, answer: &str) -> Vec<String> {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        let tools = answer.pointer("/result/tools").and_then(Value::as_array);
        let mut wrong = Vec::new();
        for tool in tools.into_iter().flatten() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let mut found = Vec::new();
            let read = tool.get("inputSchema").map(|schema| parameters(schema, &mut Vec::new(), &mut found));
            match read.unwrap_or(Ok(())).and_then(|()| unique(&found)) {
                Ok(()) => drop(self.0.insert(name.to_owned(), found)),
                Err(why) => {
                    self.0.remove(name);
                    wrong
                        .push(format!("the tool `{name}` has an `x-mcp-header` that is not followed: {why}"));
                }
            }
        }
        wrong
    }
}

/// Only parameters that are reached through `properties` are repeated.
fn parameters(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<Parameter>,
) -> Result<(), &'static str> {
    // A schema that deep is not one of parameters.
    if path.len() > 16 {
        return Ok(());
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header") {
            let token =
                header.as_str().filter(|header| is_token(header)).ok_or("it is not a header's name")?;
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            if !matches!(kind, "string" | "integer" | "boolean") {
                return Err("its parameter is not a string, an integer or a boolean");
            }
            found.push(Parameter { path: path.clone(), header: token.to_owned() });
        }
        parameters(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn is_token(name: &str) -> bool {
    HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).is_ok() && !name.is_empty()
}

fn unique(found: &[Parameter]) -> Result<(), &'static str> {
    let same = |(at, one): (usize, &Parameter)| {
        found.iter().take(at).any(|other| other.header.eq_ignore_ascii_case(&one.header))
    };
    if found.iter().enumerate().any(same) { Err("two parameters have the same") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// The examples of the specification.
    #[rstest]
    #[case("us-west1", "us-west1")]
    #[case("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=")]
    #[case(" padded ", "=?base64?IHBhZGRlZCA=?=")]
    #[case("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=")]
    #[case("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")]
    fn values_are_encoded_where_a_header_cannot_hold_them(#[case] text: &str, #[case] value: &str) {
        assert_eq!(encoded(text), value);
    }

    fn call(version: &str) -> Outgoing {
        let message = json!({"jsonrpc": "2.0", "id": 1.0, "method": "tools/call", "params": {
            "name": "query",
            "arguments": {"region": "ü", "deep": {"flag": true, "count": 42}, "absent": null, "list": [1]},
            "_meta": {"io.modelcontextprotocol/protocolVersion": version},
        }});
        Outgoing::read(&message.to_string()).unwrap()
    }

    fn tools() -> Tools {
        let text = |header: &str| json!({"type": "string", "x-mcp-header": header});
        let deep = json!({"type": "object", "properties": {
            "flag": {"type": "boolean", "x-mcp-header": "Flag"},
            "count": {"type": "integer", "x-mcp-header": "Count"}}});
        let properties = json!({"region": text("Region"), "deep": deep, "absent": text("A"), "missing": text("B"),
            "list": {"type": "array", "items": text("C")}});
        let mut tools = Tools::default();
        let wrong = tools.learn(&json!({"result": {"tools": [
            {"name": "query", "inputSchema": {"type": "object", "properties": properties}},
            {"name": "twice", "inputSchema": {"properties": {"a": text("x"), "b": text("X")}}},
            {"name": "letters", "inputSchema": {"properties": {"a": text("a b")}}},
            {"name": "kind", "inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "a"}}}},
        ]}}).to_string());
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        tools
    }

    #[test]
    fn a_version_without_sessions_is_repeated_in_headers() {
        let call = call("2026-07-28");
        assert_eq!((call.id.as_deref(), call.version.as_deref()), (Some("1"), Some("2026-07-28")));
        let headers = call.mirrored(&tools());
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let expected = [
            ("mcp-method", "tools/call"),
            ("mcp-name", "query"),
            ("mcp-param-region", "=?base64?w7w=?="),
            ("mcp-param-flag", "true"),
            ("mcp-param-count", "42"),
        ];
        assert_eq!(headers, expected);
    }

    #[test]
    fn earlier_versions_repeat_nothing() {
        let call = call("2025-11-25");
        assert!(call.version.is_none() && call.mirrored(&tools()).is_empty());
    }
}
