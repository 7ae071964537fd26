//! The proxy's own answers to the client.

use serde_json::json;
use serde_json::value::RawValue;

use super::connection::Running;
use super::message::{Delivery, Members};
use rulestep_base::wording::line;

/// The answer to a message that is not passed on; without an id, the user sees the reason as well.
pub fn refused(id: Option<&RawValue>, code: i32, why: &str) -> Vec<Delivery> {
    let why = format!("the message is not passed on: {why}");
    match id {
        Some(id) => vec![error(id.get(), code, &why)],
        None => vec![Delivery::Note(why.clone()), error("null", code, &why)],
    }
}

/// The same for a message that cannot be read, which may be a list of them.
pub fn unreadable(text: &str, why: &str) -> Vec<Delivery> {
    let batch: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    let ids = batch.iter().filter_map(|message| Members::read(message.get()).ok()?.get("id"));
    let answers: Vec<Delivery> =
        ids.flat_map(|id| refused(Some(id), -32600, "messages must be sent one by one")).collect();
    if answers.is_empty() { refused(None, -32700, why) } else { answers }
}

pub fn error(id: &str, code: i32, message: &str) -> Delivery {
    let error = json!({"code": code, "message": message});
    Delivery::Client(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// Asks the client's user about a call.
pub fn asking(question: &str, running: &Running, reason: &str) -> String {
    let message = format!("{reason}\n\n{} {}", line(&running.tool), line(&running.arguments));
    let params = json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
    format!(r#"{{"jsonrpc":"2.0","id":{question},"method":"elicitation/create","params":{params}}}"#)
}

/// Takes a question back.
pub fn withdrawn(question: &str) -> Delivery {
    let method = "notifications/cancelled";
    Delivery::Client(format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{question}}}}}"#
    ))
}
