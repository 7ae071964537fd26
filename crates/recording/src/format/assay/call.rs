//! A call, on a line of its own or within a step.

use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use crate::input::time;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};
use rulestep_base::source::quoted;

/// A call with its outcome.
pub struct Call {
    pub tool: Box<str>,
    pub order: Option<u64>,
    pub arguments: Body,
    pub result: Body,
    pub error: Option<Body>,
    pub at: Option<Millis>,
    pub line: u32,
}

/// The call that a line is.
pub fn call(line: &Members<'_>, at: Option<Millis>, number: u32) -> Call {
    let body = |keys: &[&str]| line.any(keys).map_or(Body::MISSING, |node| Body::json(node.json()));
    let error = line.get("error").filter(|error| !matches!(error.json(), "\"\"" | "false"));
    Call {
        tool: line.any(&["tool_name", "tool"]).and_then(Node::text).unwrap_or_default().as_ref().into(),
        order: line.get("call_index").and_then(Node::number),
        arguments: body(&["args", "arguments"]),
        result: body(&["result", "response"]),
        error: error.map(|error| Body::json(error.json())),
        at,
        line: number,
    }
}

/// Adds calls of the latest response, and then their results.
pub fn give(builder: &mut Builder, calls: &[(String, Call)], setting: &Setting) {
    for (id, call) in calls {
        builder.at_line(call.line).call(Some(id), &call.tool, call.arguments.clone(), call.at);
    }
    for (id, call) in calls {
        builder.at_line(call.line);
        if let Some(error) = &call.error {
            // An error of the call is not a result that the model saw.
            if call.result.is_missing() {
                let (tool, error) = (quoted(&call.tool), quoted(error.shown()));
                builder.damaged(format!("the call to {tool} failed without a result: {error}"));
            }
        } else if call.result.is_missing() {
            continue;
        }
        let marked = call.error.is_some().then_some(true);
        let mark = Mark { error: setting.failed(marked, &call.result), refused: None };
        builder.result(Some(id), call.result.clone(), mark, call.at);
    }
}

/// The time of a line, in milliseconds.
pub fn at(line: &Members<'_>, builder: &mut Builder) -> Option<Millis> {
    let node = line.get("timestamp")?;
    // Small numbers are milliseconds here too; those beyond every calendar are a finer unit.
    let millis =
        node.json().parse().ok().filter(|millis: &Millis| millis.unsigned_abs() < 100_000_000_000_000);
    let found = millis.or_else(|| time::instant(node));
    if found.is_none() {
        builder.damaged(format!("`timestamp` is not a known form of time: {}", quoted(node.json())));
    }
    found
}
