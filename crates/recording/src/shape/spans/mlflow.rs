//! MLflow's data of a span, which is JSON as text, under the names that are read here: its type, inputs and outputs.

use serde_json::Value;

use super::{Attributes, OPERATION, Part, Span};
use crate::input::shallow::Node;
use crate::shape::langchain::ToolResult;
use crate::shape::{answer, langchain};
use rulestep_base::session::{Damage, body};

const TYPE: &str = "mlflow.spanType";
const INPUTS: &str = "mlflow.spanInputs";
const OUTPUTS: &str = "mlflow.spanOutputs";

/// Adds the data of a span of MLflow, unless another convention has it. Returns damage for an unreadable part.
pub fn translate(span: &mut Span) -> Option<Damage> {
    let kind = span.attributes.get(TYPE)?;
    if span.part() != Part::Other {
        return None;
    }
    let Some(Value::String(kind)) = written(kind) else {
        return Some(Damage::calls(format!(
            "the attribute `{TYPE}` is not a text, so what the span did is left out"
        )));
    };
    match &*kind.to_ascii_uppercase() {
        "TOOL" => {
            tool(span);
            None
        }
        "LLM" | "CHAT_MODEL" => model(&mut span.attributes),
        "AGENT" => {
            span.attributes.add(OPERATION, "\"invoke_agent\"");
            None
        }
        _ => None,
    }
}

/// The value of an attribute, which MLflow keeps as JSON in a text.
fn written(json: &str) -> Option<Value> {
    let value = Node::parse(json).ok()?.value()?;
    match value {
        Value::String(text) => Some(body::parse(&text).unwrap_or(Value::String(text))),
        other => Some(other),
    }
}

fn value(attributes: &Attributes, name: &str) -> Option<Value> {
    written(attributes.get(name)?).filter(|value| !value.is_null())
}

fn tool(span: &mut Span) {
    let (inputs, outputs) = (value(&span.attributes, INPUTS), value(&span.attributes, OUTPUTS));
    let attributes = &mut span.attributes;
    attributes.add(OPERATION, "\"execute_tool\"");
    if let Some(inputs) = inputs {
        attributes.add("gen_ai.tool.call.arguments", langchain::arguments(inputs).to_string());
    }
    let mut name = span.name.to_string();
    if let Some(outputs) = outputs {
        // A message of LangChain names its tool; two spans of a trace may not have the same name.
        if let Some(own) = outputs.get("name").and_then(Value::as_str).filter(|own| name.starts_with(*own)) {
            name = own.to_owned();
        }
        let ToolResult { content, id, failed } = langchain::given(outputs);
        attributes.add("gen_ai.tool.call.result", content.to_string());
        if let Some(id) = id {
            attributes.add("gen_ai.tool.call.id", Value::String(id).to_string());
        }
        span.failed |= failed;
    }
    attributes.add("gen_ai.tool.name", Value::String(name).to_string());
}

fn model(attributes: &mut Attributes) -> Option<Damage> {
    attributes.add(OPERATION, "\"chat\"");
    let inputs = value(attributes, INPUTS);
    if let Some(sent) = inputs.as_ref().and_then(langchain::sent) {
        attributes.add("gen_ai.input.messages", sent.to_string());
    }
    let beside =
        inputs.as_ref().and_then(|inputs| inputs.get("tools")).filter(|tools| tools.is_array()).cloned();
    if let Some(tools) = value(attributes, "mlflow.chat.tools").or(beside) {
        attributes.add("gen_ai.tool.definitions", tools.to_string());
    }
    let named =
        inputs.as_ref().and_then(|inputs| inputs.get("model")).filter(|model| model.is_string()).cloned();
    if let Some(model) = value(attributes, "mlflow.llm.model").or(named) {
        attributes.add("gen_ai.request.model", model.to_string());
    }
    let outputs = value(attributes, OUTPUTS)?;
    answer::add(&outputs, attributes)
}
