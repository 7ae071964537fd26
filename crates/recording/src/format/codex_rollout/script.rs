//! Calls made by a script: in code mode the model writes a script that calls the tools, so its own item is the call of
//! the script, and only events record the script's calls.

use std::collections::HashMap;

use serde_json::json;

use crate::input::shallow::{Members, Node};
use crate::shape::items::{Answer, Call, Item};
use crate::shape::status::{Status, status};
use rulestep_base::session::Body;

/// Prefix of the ids of such calls.
pub const CALL: &str = "exec-";

/// The tool that runs scripts.
pub const TOOL: &str = "exec";

/// Replaces the script's text: its calls are recorded separately and it does nothing else, so a rule must not search
/// the text for calls.
pub fn recorded(call: &mut Call) {
    if &*call.tool == TOOL
        && let Some(script) = call.arguments.value().and_then(|given| given.get("input")?.as_str())
    {
        call.arguments = Body::text(json!({ "code_mode_script": script }).to_string());
    }
}

/// The call at which a script ended because a hook blocked it, for which there is no event.
pub fn denied(answer: &Answer) -> Option<Item> {
    const BEGINS: [(&str, &str); 2] = [
        ("Command blocked by PreToolUse hook: ", ". Command: "),
        ("Tool call blocked by PreToolUse hook: ", ". Tool: "),
    ];
    let text = answer.content.shown();
    let (head, error) = text.rsplit_once("\nScript error:\n")?;
    let (kind, (told, what)) = BEGINS.iter().enumerate().find_map(|(kind, (begins, between))| {
        let own = error.strip_prefix(begins).filter(|_| head.starts_with("Script failed"))?;
        Some((kind, own.rsplit_once(between)?))
    })?;
    let (tool, arguments) = match kind {
        0 if what.starts_with("*** Begin Patch") => ("apply_patch", json!({ "input": what })),
        0 => (COMMAND.0, json!({ "cmd": what })),
        _ => (what.trim_end(), json!({})),
    };
    let id = Some(format!("{} denied", answer.id.as_deref().unwrap_or_default()).into());
    let arguments = Body::text(arguments.to_string());
    let call = Call { id, tool: tool.into(), arguments, approval: None };
    let refused = Some("the script's result says that a hook blocked the call");
    let answer = Answer { id: call.id.clone(), content: Body::text(told), error: None, refused };
    Some(Item::Ran(call, answer))
}

/// The kinds of events and items that are the end of a command.
pub const COMMANDS: [&str; 2] = ["exec_command_end", "CommandExecution"];

/// The only tool that starts a process of its own, and the event's name for that.
const COMMAND: (&str, &str) = ("exec_command", "unified_exec_startup");

/// The call that an event of this kind ends, with its result. `None`: the event does not name the call.
pub fn called(id: &str, kind: &str, event: &Members<'_>) -> Option<Item> {
    let text = |key| event.get(key).and_then(Node::text);
    let done = || text("status").map_or(Status::Unknown, |word| status(&word));
    let ((tool, arguments), content) = match kind {
        kind if COMMANDS.contains(&kind) => {
            let code = event.get("exit_code").filter(|_| !matches!(done(), Status::Open | Status::Unknown));
            // In the form in which Codex gives it to the model.
            let told = |code: Node<'_>| {
                let printed = text("aggregated_output").unwrap_or_default();
                Body::json(&format!(
                    r#"{{"output": {}, "metadata": {{"exit_code": {}}}}}"#,
                    json!(printed),
                    code.json()
                ))
            };
            (of_command(event)?, code.map(told))
        }
        "patch_apply_end" | "FileChange" => {
            let success = event.get("success").and_then(Node::bool).or_else(|| match done() {
                Status::Succeeded => Some(true),
                Status::Failed | Status::Refused(_) => Some(false),
                _ => None,
            });
            let printed = |success| event.get(if success { "stdout" } else { "stderr" });
            let content = success.map(|success| printed(success).map_or(Body::MISSING, Node::body));
            (("apply_patch".into(), Body::text(json!({ "input": patch(event)? }).to_string())), content)
        }
        _ => {
            let invocation = event.get("invocation").and_then(Node::members);
            let result = event.get("result").and_then(Node::members);
            let inner = result.as_ref().and_then(|result| result.get("Ok")?.members());
            let content = inner.as_ref().or(result.as_ref()).and_then(|result| result.get("content"));
            let given = content.or_else(|| result.as_ref()?.any(&["Ok", "Err"]));
            let given = given.or_else(|| event.get("error"));
            let ended =
                given.is_some() || result.is_some() || !matches!(done(), Status::Open | Status::Unknown);
            let content = ended.then(|| given.map_or(Body::MISSING, Node::body));
            (of_server(invocation.as_ref().unwrap_or(event))?, content)
        }
    };
    let id = Some(Box::from(id));
    let call = Call { id: id.clone(), tool, arguments, approval: None };
    Some(match content {
        Some(content) => Item::Ran(call, Answer { id, content, error: None, refused: None }),
        None => Item::Call(call),
    })
}

/// A command, as far as its event records the call: what the shell got, and in which folder. Tools that give a list of
/// words to the system or a text to a shell have the same event, so only what one of them alone starts is
/// distinguished.
fn of_command(event: &Members<'_>) -> Option<(Box<str>, Body)> {
    let (tool, source) = COMMAND;
    let text = |key| event.get(key).and_then(Node::text);
    if text("source").as_deref() != Some(source) {
        return None;
    }
    let words = event.get("command").and_then(Node::items)?;
    let [_, flag, script] = words.as_slice() else { return None };
    let script = script.text().filter(|_| flag.text().is_some_and(|flag| ["-c", "-lc"].contains(&&*flag)))?;
    let folder = text("cwd")?;
    let folder = folder.strip_prefix("file://").map_or(Some(folder.to_string()), unescaped)?;
    let arguments = json!({ "cmd": script, "workdir": folder });
    Some((tool.into(), Body::text(arguments.to_string())))
}

/// The path in an address of a file on this machine.
fn unescaped(path: &str) -> Option<String> {
    let mut parts = path.split('%');
    let mut bytes = parts.next().filter(|path| path.starts_with('/'))?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn of_server(invocation: &Members<'_>) -> Option<(Box<str>, Body)> {
    let name = |key| invocation.get(key).and_then(Node::text).filter(|name| !name.is_empty());
    let tool = format!("mcp__{}__{}", name("server")?, name("tool")?).into();
    Some((tool, invocation.get("arguments").map_or_else(|| Body::json("{}"), Node::body)))
}

/// Calls that scripts made, each once: an item and an event may have the same one.
#[derive(Default)]
pub struct Once {
    /// Whether each has its result.
    answered: HashMap<Box<str>, bool>,
}

impl Once {
    /// Merges an item into those before it.
    pub fn take(&mut self, item: Item) -> Option<Item> {
        let id = match &item {
            Item::Call(call) | Item::Ran(call, _) => call.id.clone(),
            Item::Answer(answer) => answer.id.clone(),
            _ => None,
        };
        let Some(id) = id.filter(|id| id.starts_with(CALL)) else { return Some(item) };
        match (item, self.answered.get(&id).copied()) {
            // Its call is not in this part of the log.
            (item @ Item::Answer(_), None) => Some(item),
            (item, None) => {
                self.answered.insert(id, matches!(item, Item::Ran(..)));
                Some(item)
            }
            (Item::Ran(_, answer) | Item::Answer(answer), Some(false)) => {
                self.answered.insert(id, true);
                Some(Item::Answer(answer))
            }
            _ => None,
        }
    }
}

/// The patch that a script applied, as the model would have written it, from the changes in the event.
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
