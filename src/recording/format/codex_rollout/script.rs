//! Calls that a script makes: in code mode the model writes a script that calls the tools, so its own item is the call of the
//! script, and only events say what the script called.

use serde_json::json;

use crate::recording::input::shallow::{Members, Node};
use crate::recording::shape::items::{Answer, Call, Item};
use crate::session::Body;

/// What ids of such calls begin with.
pub const CALL: &str = "exec-";

/// The call, with its result. Events about commands do not say what the tool was called with.
pub fn called(event: &Members<'_>) -> Option<Item> {
    let (tool, arguments) = match event.get("invocation").and_then(Node::members) {
        Some(invocation) => of_server(&invocation)?,
        None => ("apply_patch".into(), Body::text(json!({ "input": patch(event)? }).to_string())),
    };
    let id: Option<Box<str>> = event.get("call_id").and_then(Node::id).map(|id| id.as_ref().into());
    let call = Call { id: id.clone(), tool, arguments, approval: None };
    let content = match event.get("result").and_then(Node::members) {
        Some(result) => {
            let content = result.get("Ok").and_then(Node::members).and_then(|ok| ok.get("content"));
            content.or_else(|| result.any(&["Ok", "Err"]))
        }
        None => {
            let Some(success) = event.get("success").and_then(Node::bool) else {
                return Some(Item::Call(call));
            };
            event.get(if success { "stdout" } else { "stderr" })
        }
    };
    let content = content.map_or(Body::MISSING, Node::body);
    Some(Item::Ran(call, Answer { id, content, error: None, refused: None }))
}

fn of_server(invocation: &Members<'_>) -> Option<(Box<str>, Body)> {
    let name = |key| invocation.get(key).and_then(Node::text).filter(|name| !name.is_empty());
    let tool = format!("mcp__{}__{}", name("server")?, name("tool")?).into();
    Some((tool, invocation.get("arguments").map_or_else(|| Body::json("{}"), Node::body)))
}

/// The patch that a script applied, as the model would have written it: the event says what it changed.
fn patch(event: &Members<'_>) -> Option<String> {
    let changes = event.get("changes").and_then(Node::members)?;
    let mut patch = String::from("*** Begin Patch\n");
    for (path, change) in changes.iter() {
        let change = change.members()?;
        let text = |key| change.get(key).and_then(Node::text);
        match &*text("type")? {
            "add" => {
                patch += &format!("*** Add File: {path}\n");
                text("content")?.lines().for_each(|line| patch += &format!("+{line}\n"));
            }
            "delete" => patch += &format!("*** Delete File: {path}\n"),
            "update" => {
                patch += &format!("*** Update File: {path}\n");
                if let Some(to) = text("move_path") {
                    patch += &format!("*** Move to: {to}\n");
                }
                // Patches of the model have no line numbers.
                let lines =
                    |line: &str| if line.starts_with("@@ ") { "@@\n".into() } else { format!("{line}\n") };
                text("unified_diff")?.lines().for_each(|line| patch += &lines(line));
            }
            _ => return None,
        }
    }
    changes.first().map(|_| patch + "*** End Patch")
}
