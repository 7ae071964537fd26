//! Exports that people take for sessions, and that hold no tool calls: what they are, and what to open instead.

use crate::recording::contract::Sample;
use crate::recording::input::shallow::{Kind, Members, Node};

/// What a file is that has the shape of such an export.
pub fn export(sample: &Sample<'_>) -> Option<&'static str> {
    sample.objects().find_map(known)
}

fn known(value: &Members<'_>) -> Option<&'static str> {
    let text = |key| value.get(key).and_then(Node::text).unwrap_or_default();
    let record = text("record_type");
    let is_task = value.any(&["task_ref", "task_name", "task_id"]).is_some();
    if matches!(&*record, "task_start" | "task_result") && is_task || text("schema").starts_with("langgraph.")
    {
        return Some(
            "the file is a stream of LangGraph tasks, which holds no tool calls: export the messages of the thread",
        );
    }
    let prompt = text("type") == "user" && value.get("message").is_some_and(|said| said.kind() == Kind::Text);
    if prompt && value.has("sessionId") && value.has("messageId") {
        return Some(
            "the file is the Gemini CLI's list of prompts (`logs.json`), which holds no tool calls: open the sessions in \
             `chats/` beside it",
        );
    }
    let experiment =
        value.any(&["experiment_name", "dataset_name", "datasetRunId", "datasetItemId"]).is_some();
    if experiment && value.any(&["item_ref", "evaluations", "datasetItemId"]).is_some() {
        return Some(
            "the file is an item of an experiment, which holds no tool calls: export the trace that it was made from",
        );
    }
    None
}
