//! The `tool_call` of an event: one key that names the tool, with the arguments and, once there is one, the result.

use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use rulestep_base::session::Body;
use rulestep_base::session::build::Mark;

/// A call and its result, if known.
pub struct BlockCall<'a> {
    /// Its id.
    pub id: Option<Box<str>>,
    /// The tool.
    pub tool: Box<str>,
    /// The arguments.
    pub arguments: Body,
    result: Option<Node<'a>>,
}

/// Suffix of the keys of tools.
const TOOL_CALL: &str = "ToolCall";

/// Keys of successful results.
const SUCCESSES: [&str; 6] =
    ["success", "complete", "registered", "startSuccess", "saveSuccess", "discardSuccess"];

/// Keys of results that are not final: running, or waiting for approval.
const NOT_YET: [&str; 4] = ["approved", "async", "stillRunning", "needsConfirmation"];

/// The call of an event.
pub fn read<'a>(event: &Members<'a>) -> Option<BlockCall<'a>> {
    let call = event.get("tool_call")?.members()?;
    let id = event.get("call_id").or_else(|| call.get("toolCallId")).and_then(Node::id);
    let id = id.map(|id| id.as_ref().into());
    if let Some(function) = call.get("function").and_then(Node::members) {
        let arguments = function.get("arguments").map_or(Body::MISSING, |given| Body::json(given.json()));
        let tool = function.get("name").and_then(Node::text).unwrap_or_default().as_ref().into();
        return Some(BlockCall { id, tool, arguments, result: function.get("result") });
    }
    let (key, inner) = call.iter().find(|(key, _)| key.ends_with(TOOL_CALL))?;
    let inner = inner.members().unwrap_or_default();
    let given = inner.get("args");
    let of_server = given.and_then(Node::members).filter(|_| key == "mcpToolCall");
    let name = |key| Some(of_server.as_ref()?.get(key)?.text()?.into_owned());
    let tool = match (name("providerIdentifier"), name("toolName"), name("name")) {
        (Some(server), Some(tool), _) => format!("mcp__{server}__{tool}"),
        (_, _, Some(name)) => name,
        _ => key.strip_suffix(TOOL_CALL).unwrap_or(key).to_owned(),
    };
    let given = of_server.as_ref().and_then(|given| given.get("args")).or(given);
    let arguments = given.map_or(Body::MISSING, |given| Body::json(given.json()));
    Some(BlockCall { id, tool: tool.into(), arguments, result: inner.get("result") })
}

impl BlockCall<'_> {
    /// The result, if it is known.
    pub fn result(&self, setting: &Setting) -> Option<(Body, Mark)> {
        let result = self.result?;
        let Some(members) = result.tried().members() else {
            let content = Body::json(result.json());
            let error = setting.failed(None, &content);
            return Some((content, Mark { error, refused: None }));
        };
        let (how, told) =
            members.iter().find(|(_, told)| told.members().is_some()).or(members.iter().next())?;
        if NOT_YET.contains(&how) {
            return None;
        }
        let inner = told.members().unwrap_or_default();
        let exit = inner.get("exitCode").is_some_and(|code| code.number() != Some(0i64));
        let by_server = inner.get("isError").and_then(Node::bool) == Some(true);
        let failed = !SUCCESSES.contains(&how) || exit || by_server;
        let refused = (how == "rejected").then_some("the result is `rejected`");
        Some((Body::json(told.json()), Mark { error: failed, refused }))
    }
}
