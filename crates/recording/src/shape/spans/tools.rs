//! The tools that a model could see, wherever its span has them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Span;
use super::attributes::structure;
use super::message::{any, indexed};
use rulestep_base::session::Tool;

/// The tools that the model could see; `None` if they are not recorded.
pub fn tools(span: &Span) -> Option<Vec<Tool>> {
    let attributes = &span.attributes;
    let declared = || {
        let request = attributes.tree("gcp.vertex.agent.llm_request")?;
        let groups = request.get("config")?.get("tools")?.as_array()?.clone();
        let of_group =
            |group: &Value| any(group, &["function_declarations", "functionDeclarations"]).cloned();
        let tools = groups.iter().filter_map(of_group).filter_map(|list| match list {
            Value::Array(tools) => Some(tools),
            _ => None,
        });
        Some(Value::Array(tools.flatten().collect()))
    };
    // Pydantic AI has functions, and tools that are there to answer with.
    let requested = || {
        let request = attributes.tree("model_request_parameters")?;
        let lists = ["function_tools", "output_tools"].map(|key| request.get(key).and_then(Value::as_array));
        Some(Value::Array(lists.into_iter().flatten().flatten().cloned().collect()))
    };
    let parameters = || attributes.tree("llm.invocation_parameters")?.get("tools").cloned();
    let listed = attributes
        .tree("gen_ai.tool.definitions")
        .or_else(|| indexed(attributes, "llm.request.functions."))
        .or_else(|| indexed(attributes, "llm.tools."))
        .or_else(declared)
        .or_else(|| attributes.tree("ai.prompt.tools"))
        .or_else(requested)
        .or_else(parameters)?;
    Some(listed.as_array()?.iter().filter_map(tool).collect())
}

fn tool(value: &Value) -> Option<Tool> {
    let text = |value: &Value| value.as_str().and_then(|text| structure(&json!(text).to_string()));
    let unpacked = text(value).or_else(|| {
        let wrapped = value.get("tool").unwrap_or(value);
        wrapped.get("json_schema").and_then(text)
    });
    let value = unpacked.as_ref().unwrap_or(value);
    if let Some(name) = value.as_str() {
        return Some(Tool { name: name.into(), description: None, parameters: None });
    }
    let inner =
        any(value, &["function", "tool", "toolSpec"]).filter(|inner| inner.is_object()).unwrap_or(value);
    const PARAMETERS: [&str; 6] = [
        "parameters",
        "input_schema",
        "inputSchema",
        "parameters_json_schema",
        "parametersJsonSchema",
        "json_schema",
    ];
    let parameters = any(inner, &PARAMETERS).map(|given| text(given).unwrap_or_else(|| given.clone()));
    Some(Tool {
        name: inner.get("name")?.as_str()?.into(),
        description: inner.get("description").and_then(Value::as_str).map(Arc::from),
        parameters: parameters.filter(|parameters| !parameters.is_null()),
    })
}
