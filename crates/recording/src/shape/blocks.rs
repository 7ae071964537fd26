//! Messages made of content blocks, as the Anthropic API, Claude Code and Bedrock write them: text, calls and results.
//! Those of Bedrock have no type; each kind has its own key.
//!
//! Thoughts of the model are not kept: they are not messages, and no policy looks at them.

use crate::input::shallow::{Kind, Members, Node};
use crate::shape::status::{self, Status};
use crate::shape::suspicion;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Damage, Form, Millis};
use rulestep_base::source::quoted;

/// The content of one message made of blocks.
#[derive(Default)]
pub struct Blocks {
    /// Its text, in the runs between the results; for the model's own message all at once.
    said: Vec<Run>,
    /// The calls, in their order.
    pub calls: Vec<BlockCall>,
    /// The results, in their order.
    pub answers: Vec<Answer>,
    /// Damage of the message.
    pub odd: Vec<Damage>,
}

/// A text.
struct Run {
    content: Body,
    /// Number of results before it.
    after: usize,
}

/// A call.
#[derive(PartialEq)]
pub struct BlockCall {
    /// Its id.
    pub id: Option<Box<str>>,
    /// The tool.
    pub tool: Box<str>,
    /// Its arguments.
    pub input: Body,
}

/// A result.
pub struct Answer {
    /// Id of the call.
    pub id: Option<Box<str>>,
    /// Its content.
    pub content: Body,
    /// Whether it is marked as failed, if it has a mark.
    pub error: Option<bool>,
    /// Whether it says that the call is still running or was aborted.
    pub unsure: bool,
}

/// The writer of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The model: its text is one content, wherever its calls are.
    Model,
    /// Anyone else.
    Other,
}

impl Blocks {
    /// The blocks of a content: a list of them, or a text.
    pub fn read(content: Option<Node<'_>>, side: Side) -> Blocks {
        let mut blocks = Blocks::default();
        let Some(content) = content else {
            blocks.odd.push(Damage::calls("the message has no `content`"));
            return blocks;
        };
        // The content may be a bare text; anything else that is not a list is reported.
        let items = if content.kind() == Kind::Text { None } else { content.items() };
        let Some(items) = items else {
            blocks.said.push(Run { content: content.body(), after: 0 });
            return blocks;
        };
        let mut run = Vec::new();
        for item in items {
            let before = blocks.answers.len();
            let told = blocks.block(item, &mut run);
            if side == Side::Other && told && !run.is_empty() {
                blocks.say(&mut run, before);
            }
        }
        let after = if side == Side::Model { 0 } else { blocks.answers.len() };
        blocks.say(&mut run, after);
        blocks
    }

    /// The same, if a content is always a list: a text in its place may have been calls.
    pub fn listed(content: Option<Node<'_>>, side: Side) -> Blocks {
        let mut blocks = Blocks::read(content, side);
        if content.is_some_and(|content| content.kind() == Kind::Text) {
            let odd = "the content of a message is a text, not a list; it is read as what is said";
            blocks.odd.push(Damage::calls(odd));
        }
        blocks
    }

    /// Reports that the model stopped for this reason, to have tools called, if there is no call.
    pub fn promised(mut self, reason: Option<Node<'_>>) -> Blocks {
        if self.calls.is_empty() {
            self.odd.extend(suspicion::promised(reason));
        }
        self
    }

    /// A message that was read in another form: its text, calls and results.
    pub fn of(said: Body, calls: Vec<BlockCall>, answers: Vec<Answer>) -> Blocks {
        let after = answers.len();
        let said = if said.is_missing() { Vec::new() } else { vec![Run { content: said, after }] };
        Blocks { said, calls, answers, odd: Vec::new() }
    }

    /// Reads one block; returns whether it is a result.
    fn block<'a>(&mut self, item: Node<'a>, run: &mut Vec<Node<'a>>) -> bool {
        let members = if item.kind() == Kind::Text { None } else { item.members() };
        let Some(members) = members else {
            if item.kind() == Kind::Text {
                self.odd.push(Damage::calls("a block is a text, not an object; it is read as what is said"));
                run.push(item);
            } else {
                let odd = format!("a block is {}, not an object; it is left out", item.said_kind());
                self.odd.push(Damage::calls(odd));
            }
            return false;
        };
        let kind = members.get("type").and_then(Node::text).unwrap_or_default();
        if kind.is_empty() {
            return self.keyed(item, &members, run);
        }
        match &*kind {
            "thinking" | "redacted_thinking" => {}
            kind if is_call(kind, &members) => self.calls.push(proposed(&members)),
            kind if kind.ends_with("tool_result") => {
                self.answers.push(answer(&members));
                return true;
            }
            kind => {
                if may_be_call(kind, &members) {
                    let kind = quoted(kind);
                    let odd = format!("a block of the type {kind} may be a call, and is left out as one");
                    self.odd.push(Damage::calls(odd));
                }
                run.push(item);
            }
        }
        false
    }

    /// Reads a block without a type, as Bedrock has them; returns whether it is a result.
    fn keyed<'a>(&mut self, item: Node<'a>, members: &Members<'a>, run: &mut Vec<Node<'a>>) -> bool {
        let inner = |key| members.get(key).and_then(Node::members);
        if let Some(call) = inner("toolUse") {
            self.calls.push(proposed(&call));
        } else if let Some(result) = inner("toolResult") {
            self.answers.push(answer(&result));
            return true;
        } else if members.any(&["reasoningContent", "cachePoint"]).is_none() {
            if let Some(what) = suspicion::unread(members, &["toolUse", "toolResult"]) {
                self.odd.push(suspicion::lost(&what));
            } else if is_asked(members) {
                self.odd.push(Damage::calls("a block without a type may be a call, and is left out as one"));
            }
            run.push(item);
        }
        false
    }

    fn say(&mut self, run: &mut Vec<Node<'_>>, after: usize) {
        let content = match run.as_slice() {
            [] => return,
            [one] if one.kind() == Kind::Text => one.body(),
            [one] => plain(*one).unwrap_or_else(|| list(run)),
            _ => list(run),
        };
        run.clear();
        self.said.push(Run { content, after });
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty() && self.calls.is_empty() && self.answers.is_empty()
    }

    /// The text, if it is the only content.
    pub fn text(&self) -> Option<&str> {
        let alone = self.calls.is_empty() && self.answers.is_empty() && self.odd.is_empty();
        match self.said.as_slice() {
            [run] if alone && run.content.form() == Some(Form::Text) => run.content.said(),
            _ => None,
        }
    }

    /// Bytes that it holds, about.
    pub fn size(&self) -> usize {
        let said = self.said.iter().map(|run| &run.content);
        let held = said
            .chain(self.calls.iter().map(|call| &call.input))
            .chain(self.answers.iter().map(|answer| &answer.content));
        held.map(|body| body.size() + 64).sum()
    }

    /// Adds the model's message. Results in it are those of tools that ran before the message ended.
    pub fn respond(
        self,
        builder: &mut Builder,
        key: Option<&str>,
        at: Option<Millis>,
        mark: impl Fn(&Answer) -> Mark,
    ) {
        self.odd.into_iter().for_each(|odd| builder.damaged(odd));
        let content = self.said.into_iter().next().map_or(Body::MISSING, |run| run.content);
        builder.response(key, content, at);
        for BlockCall { id, tool, input } in self.calls {
            builder.call(id.as_deref(), &tool, input, at);
        }
        for answer in self.answers {
            let mark = mark(&answer);
            answer.give(builder, at, mark);
        }
    }

    /// Adds a message of anyone but the model: results, and the text with them.
    pub fn reply(
        self,
        builder: &mut Builder,
        role: &str,
        at: Option<Millis>,
        mark: impl Fn(&Answer) -> Mark,
    ) {
        self.odd.into_iter().for_each(|odd| builder.damaged(odd));
        if !self.calls.is_empty() {
            builder.lost(Loss::MayHoldCalls, format!("calls of the role `{role}` are left out"));
        }
        let mut said = self.said.into_iter().peekable();
        for (index, answer) in self.answers.into_iter().enumerate() {
            while let Some(run) = said.next_if(|run| run.after <= index) {
                builder.said(role, run.content, at);
            }
            let mark = mark(&answer);
            answer.give(builder, at, mark);
        }
        said.for_each(|run| builder.said(role, run.content, at));
    }
}

impl Answer {
    /// Adds it.
    pub fn give(self, builder: &mut Builder, at: Option<Millis>, mark: Mark) {
        if self.error.is_some() {
            builder.mark_errors();
        }
        if self.unsure && !mark.error && mark.refused.is_none() {
            return builder.unsure(self.id.as_deref(), self.content, None, at);
        }
        builder.result(self.id.as_deref(), self.content, mark, at);
    }

    /// Adds how the call ended, in addition to the mark.
    pub fn told(&mut self, ended: Status) {
        match ended {
            Status::Failed => self.error = Some(true),
            Status::Open => self.unsure = true,
            _ => {}
        }
    }
}

/// The blocks of a list, if some of them are calls or results, or may be.
pub fn acting(content: Node<'_>, side: Side) -> Option<Blocks> {
    let acts = |block: Members<'_>| {
        let kind = block.try_get("type").and_then(Node::text).unwrap_or_default();
        match &*kind {
            // Most are words.
            "text" => false,
            "" => block.any(&["toolUse", "toolResult"]).is_some() || is_asked(&block),
            kind => kind.ends_with("tool_result") || may_be_call(kind, &block),
        }
    };
    let items = content.tried().items()?;
    let acting = items.into_iter().filter_map(|item| item.tried().members()).any(acts);
    acting.then(|| Blocks::read(Some(content), side))
}

/// Whether a block is a call: by the types of the Anthropic API, those of LangChain, and that of the Vercel AI SDK.
fn is_call(kind: &str, block: &Members<'_>) -> bool {
    match kind {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => true,
        "tool_call" | "function_call" => block.has("name"),
        "tool-call" => block.has("toolName"),
        _ => false,
    }
}

/// Whether a block of this type is a call, or may be one.
fn may_be_call(kind: &str, block: &Members<'_>) -> bool {
    kind.contains("tool_use") || kind.contains("call") || is_asked(block)
}

/// Whether a block has what a call has, whatever its type.
fn is_asked(block: &Members<'_>) -> bool {
    block.any(&NAMES).is_some() && block.any(&ARGUMENTS).is_some()
}

const NAMES: [&str; 5] = ["name", "toolName", "tool_name", "tool", "function"];
const ARGUMENTS: [&str; 4] = ["input", "args", "arguments", "parameters"];

fn proposed(members: &Members<'_>) -> BlockCall {
    let id = members.any(&["call_id", "id", "toolUseId", "toolCallId"]).and_then(Node::id);
    BlockCall {
        id: id.map(|id| id.as_ref().into()),
        tool: members.any(&["name", "toolName"]).and_then(Node::text).unwrap_or_default().as_ref().into(),
        input: members.any(&ARGUMENTS).map_or(Body::MISSING, Node::body),
    }
}

fn answer(members: &Members<'_>) -> Answer {
    let id = members.any(&["tool_use_id", "toolUseId"]).and_then(Node::id);
    let content = members.try_get("content").map(alone);
    // Tools of the provider mark a failure by the type of their result, or by the exit code in it.
    let inner = content.and_then(Node::members);
    let failed = inner.is_some_and(|inner| {
        let kind = inner.get("type").and_then(Node::text);
        kind.is_some_and(|kind| kind.ends_with("_error"))
            || inner.get("return_code").is_some_and(|code| code.number() != Some(0i64))
    });
    // A mark that cannot be read must not pass for success.
    let marked = members.any(&["is_error", "isError"]).map(|mark| mark.bool().unwrap_or(true));
    let told =
        members.try_get("status").map(|word| word.text().is_none_or(|word| status::failed(&word).is_some()));
    // Only Bedrock is known to mark a success so.
    let told = told.filter(|failed| *failed || members.has("toolUseId"));
    let marked = if told == Some(true) { told } else { marked.or(told) };
    Answer {
        id: id.map(|id| id.as_ref().into()),
        content: content.map_or(Body::MISSING, Node::body),
        error: if failed { Some(true) } else { marked },
        unsure: false,
    }
}

/// The value of `json` or `text` in a content of one block without a type.
fn alone(content: Node<'_>) -> Node<'_> {
    let blocks = content.objects().unwrap_or_default();
    let [block] = blocks.as_slice() else { return content };
    let inner = block.any(&["json", "text"]).filter(|_| block.names().count() == 1);
    inner.unwrap_or(content)
}

/// The text of a block that is a text and nothing else.
fn plain(block: Node<'_>) -> Option<Body> {
    let members = block.members()?;
    let is_text = match members.get("type") {
        Some(kind) => kind.text()? == "text" && members.names().count() == 2,
        None => members.names().count() == 1,
    };
    Some(Body::json(members.get("text").filter(|text| is_text && text.kind() == Kind::Text)?.json()))
}

/// Blocks as the original list; a bare text among them as a block.
fn list(blocks: &[Node<'_>]) -> Body {
    let mut json = String::from("[");
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            json.push_str(", ");
        }
        match block.kind() {
            Kind::Text => {
                json.push_str("{\"type\": \"text\", \"text\": ");
                json.push_str(block.json());
                json.push('}');
            }
            _ => json.push_str(block.json()),
        }
    }
    json.push(']');
    Body::json(&json)
}
