//! Calls that a script makes: in code mode the model writes a script that calls the tools, so its own item is the call of the
//! script, and only events say what the script called.

use super::{Rollout, Step};
use crate::diagnostic::Loss;
use crate::recording::contract::Unit;
use crate::recording::input::shallow::{Members, Node};
use crate::recording::input::time;
use crate::recording::shape::items::{Answer, Call, Item};
use crate::session::Body;

/// What ids of such calls begin with.
pub const CALL: &str = "exec-";

impl Rollout {
    /// The event at the end of a call that a script made.
    pub(super) fn of_script(&mut self, kind: &str, event: &Members<'_>, unit: &Unit<'_>) {
        let Some(item) = called(event) else {
            let message = format!("a `{kind}` event is of a call that a script made; the call is left out");
            return self.builder.at_line(unit.line).lost(Loss::MayHoldCalls, message);
        };
        let at = time::of(&unit.members, &["timestamp"]);
        let odd = at.as_ref().err().cloned();
        let at = at.unwrap_or_default();
        let folder = self.folder.clone();
        self.items.push(Step { line: unit.line, at, odd, item, prompt: false, folder });
    }
}

/// A call to a tool of a server. Of the others events do not say what they were called with.
fn called(event: &Members<'_>) -> Option<Item> {
    let invocation = event.get("invocation").and_then(Node::members)?;
    let name = |key| invocation.get(key).and_then(Node::text).filter(|name| !name.is_empty());
    let tool = format!("mcp__{}__{}", name("server")?, name("tool")?).into();
    let arguments = invocation.get("arguments").map_or_else(|| Body::json("{}"), Node::body);
    let id: Option<Box<str>> = event.get("call_id").and_then(Node::id).map(|id| id.as_ref().into());
    let call = Call { id: id.clone(), tool, arguments };
    let Some(result) = event.get("result").and_then(Node::members) else { return Some(Item::Call(call)) };
    let content = result.get("Ok").and_then(Node::members).and_then(|ok| ok.get("content"));
    let content = content.or_else(|| result.any(&["Ok", "Err"])).map_or(Body::MISSING, Node::body);
    Some(Item::Ran(call, Answer { id, content, error: None }))
}
