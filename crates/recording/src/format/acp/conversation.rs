//! The conversation of one session, assembled from its updates.

use std::collections::{HashMap, HashSet};

use crate::contract::out::Out;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, words};
use crate::shape::status::{Status, status};
use rulestep_base::session::{Body, Damage};
use rulestep_base::source::quoted;

/// The update that adds to a call's output.
const CHUNK: &str = "tool_call_content_chunk";
/// Updates that are about the session, or only show progress.
const ASIDE: [&str; 13] = [
    "agent_thought",
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "plan_removed",
    "plan_update",
    "session_info_update",
    "state_update",
    "terminal_output_chunk",
    "terminal_update",
    "usage_update",
];

/// A session that is being read.
pub struct Conversation {
    /// Builds the session.
    pub scribe: Scribe,
    /// Number of the open response.
    response: u32,
    /// Reported calls that are not written yet, in order.
    told: Vec<ToldCall>,
    /// Those that have not ended.
    running: HashSet<Box<str>>,
    /// Those that ended.
    ended: HashSet<Box<str>>,
    /// A result came since the latest response began.
    answered: bool,
    /// How refused permissions are known, by call.
    refused: HashMap<Box<str>, &'static str>,
    /// A message that comes in pieces: whether it is the model's, and the text so far.
    pieces: Option<(bool, String)>,
    /// The agent repeats the prompt that was sent.
    repeats: bool,
}

/// A call as far as it is known.
#[derive(Default)]
struct ToldCall {
    id: Box<str>,
    name: Option<Box<str>>,
    kind: Option<Box<str>>,
    title: Option<Box<str>>,
    input: Body,
    /// Its output so far.
    content: Body,
    written: bool,
}

impl Conversation {
    /// For a session without messages.
    pub fn new(scribe: Scribe) -> Conversation {
        Conversation {
            scribe,
            response: 0,
            told: Vec::new(),
            running: HashSet::new(),
            ended: HashSet::new(),
            answered: false,
            refused: HashMap::new(),
            pieces: None,
            repeats: false,
        }
    }

    /// A message of the user.
    pub fn prompt(&mut self, params: &Members<'_>) {
        self.over();
        let said = params.any(&["prompt", "content"]).map_or(Body::MISSING, words);
        self.scribe.said("user", said);
        self.repeats = true;
    }

    /// An update. An error is the type of one that is not known.
    pub fn update(&mut self, update: &Members<'_>) -> Result<(), String> {
        let kind = update.get("sessionUpdate").and_then(Node::text).unwrap_or_default();
        let piece = || update.get("content").map_or(Body::MISSING, |content| alone(content));
        match &*kind {
            "agent_message_chunk" => self.piece(true, &piece()),
            "user_message_chunk" => self.piece(false, &piece()),
            "agent_message" => {
                self.flush();
                self.says(&update.get("content").map_or(Body::MISSING, words));
            }
            "user_message" if self.repeats => {}
            "user_message" => {
                self.over();
                self.scribe.said("user", update.get("content").map_or(Body::MISSING, words));
            }
            "tool_call" | "tool_call_update" | CHUNK => {
                self.flush();
                self.told(update);
                self.ended(update);
            }
            "" => self
                .scribe
                .builder
                .damaged(Damage::calls("an update does not say what it is; it is left out")),
            kind if ASIDE.contains(&kind) => return Ok(()),
            kind if update.has("toolCallId") => {
                let odd = format!("an update of a call has the type {}, which is not known", quoted(kind));
                self.scribe.builder.damaged(Damage::calls(odd));
            }
            kind => return Err(kind.to_owned()),
        }
        self.repeats &= kind.starts_with("user_message");
        Ok(())
    }

    /// A piece of what the model or the user says.
    fn piece(&mut self, is_model: bool, text: &Body) {
        if !is_model && self.repeats {
            return;
        }
        match &mut self.pieces {
            Some((by_model, said)) if *by_model == is_model => said.push_str(text.shown()),
            _ => {
                self.flush();
                self.pieces = Some((is_model, text.shown().to_owned()));
            }
        }
    }

    fn flush(&mut self) {
        match self.pieces.take() {
            Some((true, said)) => self.says(&Body::text(said)),
            Some((false, said)) => {
                self.over();
                self.scribe.said("user", Body::text(said));
            }
            None => {}
        }
    }

    fn says(&mut self, content: &Body) {
        self.write(None);
        if self.answered {
            self.next();
        }
        self.scribe.response(Some(&self.response.to_string()), content.clone());
    }

    /// The response is over.
    fn over(&mut self) {
        self.flush();
        self.write(None);
        self.next();
    }

    fn next(&mut self) {
        self.scribe.end_response();
        self.response += 1;
        self.answered = false;
    }

    /// An update of a call, new or known.
    pub fn told(&mut self, update: &Members<'_>) {
        let id = update.get("toolCallId").and_then(Node::id).map(|id| Box::<str>::from(id.as_ref()));
        let Some(id) = id else {
            return self.scribe.builder.damaged(Damage::calls("a call has no id; it is left out"));
        };
        if self.ended.contains(&id) {
            return;
        }
        if !self.told.iter().any(|call| call.id == id) {
            if self.running.is_empty() && self.answered {
                self.write(None);
                self.next();
            }
            self.running.insert(id.clone());
            self.told.push(ToldCall { id: id.clone(), ..ToldCall::default() });
        }
        let Some(call) = self.told.iter_mut().find(|call| call.id == id) else { return };
        let builder = &mut self.scribe.builder;
        let mut take = |found: Result<Option<Box<str>>, &str>| {
            found.unwrap_or_else(|key| {
                let odd = format!("the `{key}` of a call cannot be read, so its name is not known");
                builder.damaged(Damage::calls(odd));
                None
            })
        };
        let name = take(word(update, "name")).or_else(|| take(own_name(update)));
        call.name = name.or(call.name.take());
        call.kind = take(word(update, "kind")).filter(|kind| &**kind != "other").or(call.kind.take());
        // A title is for people: only a call that has nothing else is named by it.
        call.title = word(update, "title").unwrap_or_default().or(call.title.take());
        if let Some(input) = update.get("rawInput") {
            match call.written && !call.input.are_same(&input.body()) {
                true => self
                    .scribe
                    .builder
                    .damaged("a call is reported with other arguments after its result; they are left out"),
                false => call.input = input.body(),
            }
        }
        let content = update
            .get("content")
            .filter(|content| content.kind() != Kind::List || content.first_item().is_some());
        let output = update.get("rawOutput").map(Node::body).or_else(|| content.map(alone));
        let chunk = update.get("sessionUpdate").and_then(Node::text).is_some_and(|kind| kind == CHUNK);
        call.content = match output {
            Some(piece) if chunk && !call.content.is_missing() => {
                Body::text(format!("{}{}", call.content.shown(), piece.shown()))
            }
            Some(output) => output,
            None => std::mem::take(&mut call.content),
        };
    }

    /// How a call ended, if it did.
    fn ended(&mut self, update: &Members<'_>) {
        let word = update.get("status").and_then(Node::text);
        let ended = word.as_deref().map_or(Status::Open, status);
        let id = update.get("toolCallId").and_then(Node::id).unwrap_or_default();
        if ended == Status::Open || !self.running.remove(&*id) {
            return;
        }
        self.write(Some(&id));
        let refused = self.refused.remove(&*id).filter(|_| ended != Status::Succeeded);
        let call = self.told.iter().position(|call| *call.id == *id).map(|place| self.told.remove(place));
        let content = call.map_or(Body::MISSING, |call| call.content);
        self.scribe.later_result(Some(&id), content, refused.map_or(ended, Status::Refused));
        self.ended.insert(id.as_ref().into());
        self.answered = true;
    }

    /// The decision about a call.
    pub fn decided(&mut self, call: Box<str>, refusing: &HashSet<Box<str>>, outcome: Option<Node<'_>>) {
        let outcome = outcome.and_then(Node::members).unwrap_or_default();
        let text = |key| outcome.get(key).and_then(Node::text).unwrap_or_default();
        let refused = match &*text("outcome") {
            "cancelled" => Some("the request for permission was answered with `cancelled`"),
            "selected" if refusing.contains(&*text("optionId")) => {
                Some("the request for permission was answered with a rejection")
            }
            _ => None,
        };
        if let Some(how) = refused {
            self.refused.insert(call, how);
        }
    }

    /// Writes the reported calls: all, or those up to this one and the later ones whose arguments are known.
    fn write(&mut self, up_to: Option<&str>) {
        let last = up_to.and_then(|id| self.told.iter().position(|call| *call.id == *id));
        for (place, call) in self.told.iter_mut().enumerate() {
            let known = !call.input.is_missing() && call.input.raw().trim() != "{}";
            if call.written || last.is_some_and(|last| place > last) && !known {
                continue;
            }
            self.scribe.ensure_response(&self.response.to_string());
            let name = [&call.name, &call.kind, &call.title].into_iter().flatten().next();
            self.scribe.call(Some(&call.id), name.map_or("", |name| name), call.input.clone());
            call.written = true;
        }
    }

    /// Ends the session.
    pub fn close(mut self, out: &mut Out) {
        self.flush();
        self.write(None);
        for call in std::mem::take(&mut self.told) {
            if let Some(how) = self.refused.remove(&call.id) {
                self.scribe.later_result(Some(&call.id), Body::MISSING, Status::Refused(how));
            }
        }
        out.session(self.scribe.end());
    }
}

/// The text of one block or of a list of them, each of which may be wrapped like the output of a call.
fn alone(content: Node<'_>) -> Body {
    let inner = |node: Node<'_>| {
        let block = node.tried().members()?;
        let content = block.try_get("content").and_then(Node::members).unwrap_or(block);
        content.try_get("text")?.text().map(|text| text.into_owned())
    };
    let blocks = content.tried().items().unwrap_or_else(|| vec![content]);
    let texts: Option<Vec<_>> = blocks.into_iter().map(inner).collect();
    texts.map_or_else(|| content.body(), |texts| Body::text(texts.join("\n")))
}

/// A member that is a text; the error is its key.
fn word<'k>(of: &Members<'_>, key: &'k str) -> Result<Option<Box<str>>, &'k str> {
    let Some(word) = of.try_get(key) else { return Ok(None) };
    word.tried().text().map(|word| Some(word.as_ref().into())).ok_or(key)
}

/// A member that is an object; the error is its key.
fn object<'a, 'k>(of: &Members<'a>, key: &'k str) -> Result<Option<Members<'a>>, &'k str> {
    let Some(inner) = of.try_get(key) else { return Ok(None) };
    inner.tried().members().map(Some).ok_or(key)
}

/// The name that Claude Code's adapter gives a tool.
fn own_name(update: &Members<'_>) -> Result<Option<Box<str>>, &'static str> {
    let Some(about) = object(update, "_meta")? else { return Ok(None) };
    object(&about, "claudeCode")?.map_or(Ok(None), |about| word(&about, "toolName"))
}
