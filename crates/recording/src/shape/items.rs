//! Items of the OpenAI Responses API, as its requests, its answers and Codex write them: messages, calls and results in
//! order.
//!
//! Thoughts of the model are not kept.

use serde_json::json;

use crate::input::shallow::{Kind, Members, Node};
use crate::shape::{status, suspicion};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Damage, Millis, Results};

/// The kind of an item, with its content.
pub enum Item {
    /// A message of anyone but the model.
    Said { role: Box<str>, content: Body },
    /// Said by the model.
    Response(Body),
    /// A call that the host runs.
    Call(Call),
    /// A result.
    Answer(Answer),
    /// A call that the provider ran, with its result.
    Ran(Call, Answer),
    /// The result of one that it ran, which names no call: that of the oldest call of its tool that waits.
    Came(Answer),
    /// A call that the provider asks about before it runs it.
    Asked(Call),
    /// The user lets it run.
    Approved,
    /// An item that is not part of the conversation.
    Aside,
}

/// A call.
pub struct Call {
    /// Its id.
    pub id: Option<Box<str>>,
    /// The tool.
    pub tool: Box<str>,
    /// The arguments.
    pub arguments: Body,
    /// Id of the item that asked whether it may run, and proposed it with that.
    pub approval: Option<Box<str>>,
}

/// A result.
pub struct Answer {
    /// Id of the call.
    pub id: Option<Box<str>>,
    /// Its content.
    pub content: Body,
    /// Whether it is marked as failed, if it has a mark.
    pub error: Option<bool>,
    /// How a refusal is known, if the item itself marks one.
    pub refused: Option<&'static str>,
}

/// Items in a row are one response of the model.
const ROW: &str = "row";

/// Types of items that are not part of the conversation.
const ASIDE: [&str; 10] = [
    "reasoning",
    "item_reference",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "additional_tools",
    // A message of another agent.
    "agent_message",
    "mcp_list_tools",
    "ghost_snapshot",
];

/// Types of the items that ask whether a call may run, and that say so.
const APPROVAL: [&str; 2] = ["mcp_approval_request", "mcp_approval_response"];

/// The tool that finds others, which the provider runs and answers by an item of its own.
pub const TOOL_SEARCH: &str = "tool_search";

/// Damage of a message item with calls: calls are items of their own, and are not read in a message.
pub fn odd(members: &Members<'_>) -> Option<Damage> {
    let kind = members.get("type").and_then(Node::text).unwrap_or_default();
    let what = suspicion::unread(members, &[]).filter(|_| matches!(&*kind, "message" | ""))?;
    Some(suspicion::lost(&what))
}

/// Whether this is the type of an item.
pub fn is_item(kind: &str) -> bool {
    kind == "message"
        || APPROVAL.contains(&kind)
        || ASIDE.contains(&kind)
        || kind.ends_with("_call")
        || kind.ends_with("_output")
}

/// Reads an item; `None` where its type is not known.
pub fn item(members: &Members<'_>) -> Option<Item> {
    let text = |key| members.get(key).and_then(Node::text);
    let kind = text("type").unwrap_or_default();
    let content = |key| members.get(key).map_or(Body::MISSING, Node::body);
    Some(match &*kind {
        // A message may leave out that it is one.
        "message" | "" if members.has("role") => match &*text("role").unwrap_or_default() {
            "assistant" => Item::Response(content("content")),
            role => Item::Said { role: role.into(), content: content("content") },
        },
        "function_call" => Item::Call(call(members, &text("name")?, arguments(members))),
        "custom_tool_call" => {
            // Free text: kept if the same tool keeps it when called with JSON.
            let input = text("input").unwrap_or_default();
            Item::Call(call(members, &text("name")?, Body::text(json!({ "input": input }).to_string())))
        }
        "tool_search_call" => Item::Call(call(members, TOOL_SEARCH, arguments(members))),
        "tool_search_output" if members.get("call_id").is_none() => {
            Item::Came(Answer { id: None, ..answer(members) })
        }
        "local_shell_call" | "computer_call" | "shell_call" | "apply_patch_call" => {
            let tool = kind.trim_end_matches("_call");
            let acted = members.any(&["action", "operation"]);
            let arguments = acted.map_or(Body::MISSING, Node::body);
            Item::Call(call(members, tool, arguments))
        }
        "mcp_call" => {
            let call = call(members, &text("name")?, arguments(members));
            let status = text("status");
            if matches!(status.as_deref(), Some("in_progress" | "calling")) {
                return Some(Item::Call(call));
            }
            let failed = status.is_some_and(|status| status::failed(&status).is_some());
            let error = Some(failed || members.get("error").is_some());
            let content = members.any(&["output", "error"]).map_or(Body::MISSING, Node::body);
            let answer = Answer { id: id(members), content, error, refused: None };
            Item::Ran(call, answer)
        }
        "mcp_approval_request" => Item::Asked(call(members, &text("name")?, arguments(members))),
        "mcp_approval_response" => {
            if members.get("approve").and_then(Node::bool) == Some(true) {
                return Some(Item::Approved);
            }
            let refused = Some("the approval says `approve: false`");
            let id = members.get("approval_request_id").and_then(Node::id).map(|id| id.as_ref().into());
            Item::Answer(Answer { id, content: content("reason"), error: None, refused })
        }
        kind if ASIDE.contains(&kind) => Item::Aside,
        kind if kind.ends_with("_output") => Item::Answer(answer(members)),
        kind if kind.ends_with("_call") => {
            // Tools of the provider: each kind has its own key for the arguments.
            let asked = ["action", "queries", "code", "prompt", "arguments"];
            let arguments = asked.iter().find_map(|key| Some((*key, members.get(key)?)));
            let arguments = match arguments {
                Some(("action" | "arguments", node)) => node.body(),
                Some((key, node)) => Body::json(&format!("{{\"{key}\": {}}}", node.json())),
                None => Body::MISSING,
            };
            let error = text("status").and_then(|status| status::failed(&status));
            let content = members.any(&["results", "outputs", "result"]);
            let content = content.map_or(Body::MISSING, Node::body);
            Item::Ran(
                call(members, text("name").as_deref().unwrap_or(kind.trim_end_matches("_call")), arguments),
                Answer { id: id(members), content, error, refused: None },
            )
        }
        _ => return None,
    })
}

/// Adds items to a session. Results of what the provider ran wait for the end of the response that they are in.
#[derive(Default)]
pub struct Row {
    waiting: Vec<(u32, Answer, Option<Millis>)>,
}

/// Finds the mark of a result.
pub type Marks<'m> = dyn Fn(&Answer) -> Option<Mark> + 'm;

impl Row {
    /// Adds an item on this line. `mark` finds the mark of a result.
    pub fn add(
        &mut self,
        builder: &mut Builder,
        line: u32,
        item: Item,
        at: Option<Millis>,
        mark: &Marks<'_>,
    ) {
        if matches!(item, Item::Said { .. } | Item::Answer(_) | Item::Approved) {
            self.end(builder, mark);
        }
        builder.at_line(line);
        match item {
            Item::Aside => {}
            Item::Approved => builder.end_response(),
            Item::Said { role, content } => builder.said(&role, content, at),
            Item::Response(content) => builder.response(Some(ROW), content, at),
            Item::Call(call) => match call.proposed_as(builder) {
                Some(_) => builder.ensure_response(ROW, at),
                None => call.give(builder, at),
            },
            Item::Asked(call) => {
                // Without an answer it did not run, even if no result of any call is recorded.
                builder.results(Results::Recorded);
                call.give(builder, at);
            }
            Item::Answer(answer) => give(builder, answer, at, mark),
            Item::Came(answer) => {
                let answered: Vec<_> =
                    self.waiting.iter().filter_map(|(_, answer, _)| answer.id.as_deref()).collect();
                let id = builder.oldest_waiting(TOOL_SEARCH, &answered);
                self.waiting.push((line, Answer { id, ..answer }, at));
            }
            Item::Ran(call, answer) => {
                // It may also be there from an earlier continuation.
                let again =
                    |id: &str| self.waiting.iter().any(|(_, answer, _)| answer.id.as_deref() == Some(id));
                let own = || call.id.clone().filter(|id| call.is_waiting(id, builder) && !again(id));
                let answer = match call.proposed_as(builder).or_else(own) {
                    Some(id) => {
                        builder.ensure_response(ROW, at);
                        Answer { id: Some(id), ..answer }
                    }
                    None => {
                        call.give(builder, at);
                        answer
                    }
                };
                self.waiting.push((line, answer, at));
            }
        }
    }

    /// The response that is open has ended.
    pub fn end(&mut self, builder: &mut Builder, mark: &Marks<'_>) {
        for (line, answer, at) in std::mem::take(&mut self.waiting) {
            builder.at_line(line);
            give(builder, answer, at, mark);
        }
    }
}

fn give(builder: &mut Builder, answer: Answer, at: Option<Millis>, mark: &Marks<'_>) {
    if answer.error.is_some() {
        builder.mark_errors();
    }
    match mark(&answer) {
        Some(mark) => drop(builder.result(answer.id.as_deref(), answer.content, mark, at)),
        None => builder.unsure(answer.id.as_deref(), answer.content, None, at),
    }
}

impl Call {
    /// The id by which this call was proposed before, when approval was requested.
    fn proposed_as(&self, builder: &Builder) -> Option<Box<str>> {
        self.approval.clone().filter(|asked| builder.waits_for(asked))
    }

    /// Whether this very call waits for its result under this id, which others may have as well.
    fn is_waiting(&self, id: &str, builder: &Builder) -> bool {
        let is_it = |known: &rulestep_base::session::Call| {
            *known.tool == *self.tool && known.arguments.are_same(&self.arguments)
        };
        builder.waiting_call(id).is_some_and(is_it)
    }

    fn give(self, builder: &mut Builder, at: Option<Millis>) {
        builder.ensure_response(ROW, at);
        builder.call(self.id.as_deref(), &self.tool, self.arguments, at);
    }
}

fn id(members: &Members<'_>) -> Option<Box<str>> {
    members.any(&["call_id", "id"]).and_then(Node::id).map(|id| id.as_ref().into())
}

fn arguments(members: &Members<'_>) -> Body {
    members.get("arguments").map_or(Body::MISSING, Node::body)
}

fn call(members: &Members<'_>, name: &str, arguments: Body) -> Call {
    let text = |key| members.get(key).and_then(Node::text).filter(|text| !text.is_empty());
    let tool = match (text("server_label"), text("namespace")) {
        (Some(server), _) => format!("mcp__{server}__{name}"),
        // A function that is loaded on demand and is in no namespace has its own name there.
        (None, Some(space)) if space != name => format!("{}__{name}", space.trim_end_matches("__")),
        (None, _) => name.to_owned(),
    };
    let approval = members.get("approval_request_id").and_then(Node::id).map(|id| id.as_ref().into());
    Call { id: id(members), tool: tool.into(), arguments, approval }
}

/// A result: a text, parts of text, or `{content, success}`.
fn answer(members: &Members<'_>) -> Answer {
    let output = members.any(&["output", "tools"]);
    let inner = output.filter(|output| output.kind() == Kind::Object).and_then(Node::members);
    let success = inner.as_ref().and_then(|inner| inner.get("success")?.bool());
    let content = match inner.as_ref().and_then(|inner| inner.get("content")) {
        Some(content) if success.is_some() => Some(content),
        _ => output,
    };
    // An output that is returned whole is `completed`.
    let told = || status::failed(&members.try_get("status")?.text()?);
    Answer {
        id: id(members),
        content: content.map_or(Body::MISSING, Node::body),
        error: success.map(|success| !success).or_else(told).or_else(|| exited(output?)),
        refused: None,
    }
}

/// Whether one of several commands failed, where each says how it ended.
fn exited(output: Node<'_>) -> Option<bool> {
    let commands = if output.kind() == Kind::List { output.tried().objects()? } else { return None };
    let outcomes: Vec<_> =
        commands.iter().filter_map(|command| command.try_get("outcome")?.tried().members()).collect();
    let failed = |outcome: &Members<'_>| {
        outcome.get("type").and_then(Node::text).is_some_and(|kind| kind != "exit")
            || outcome.get("exit_code").is_some_and(|code| code.number() != Some(0i64))
    };
    (!outcomes.is_empty()).then(|| outcomes.iter().any(failed))
}
