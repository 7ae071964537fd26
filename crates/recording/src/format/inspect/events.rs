//! What the events of a sample add to its messages: times, and the tools that the model could see.

use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::attachments::Attachments;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::chat::{self, Choice};
use crate::shape::offer;
use rulestep_base::session::{Damage, Millis, Tool};

/// The events of one sample.
pub struct Events<'a> {
    /// Requests to a model, by the id of the message that answers, and of each call in it.
    models: HashMap<Box<str>, Rc<Model<'a>>>,
    /// When calls had their results, by their ids.
    calls: HashMap<Box<str>, VecDeque<Option<Millis>>>,
    /// Calls that messages have.
    seen: HashSet<Box<str>>,
    /// Requests that were given several choices.
    several: Vec<Rc<Model<'a>>>,
    /// The first thing that is wrong with what a model answered.
    odd: Option<Damage>,
    /// Lists of events that are nested too deep to be read.
    too_deep: u64,
}

/// Events within events that are looked at.
const DEEPEST: u32 = 64;

/// A request to a model.
pub struct Model<'a> {
    /// When its answer came.
    pub at: Option<Millis>,
    /// The messages of its choices.
    choices: Vec<Option<Node<'a>>>,
    /// Whether its further choices were added to a message.
    has_told: Cell<bool>,
    tools: Option<Node<'a>>,
    /// The tools as they were read: any number of messages may say that they answer this request.
    read: OnceCell<Option<Arc<[Tool]>>>,
}

impl<'a> Events<'a> {
    /// Those of this sample.
    pub fn of(sample: &Members<'a>) -> Events<'a> {
        let mut events = Events {
            models: HashMap::new(),
            calls: HashMap::new(),
            seen: HashSet::new(),
            several: Vec::new(),
            odd: None,
            too_deep: 0,
        };
        let older = || sample.get("transcript").and_then(Node::members)?.get("events");
        let whole = sample.get("events").or_else(older);
        let mut lists: Vec<_> = whole.into_iter().map(|list| (list, 0)).collect();
        while let Some((list, depth)) = lists.pop() {
            if depth > DEEPEST {
                events.too_deep += 1;
                continue;
            }
            for event in list.items().unwrap_or_default().into_iter().filter_map(Node::members) {
                let text = |key| event.get(key).and_then(Node::text).unwrap_or_default();
                match &*text("event") {
                    "model" => events.asked(&event),
                    "tool" => {
                        events.calls.entry(text("id").as_ref().into()).or_default().push_back(when(&event));
                    }
                    _ => {}
                }
                // Older logs keep what happened within a call in its event.
                let inner = event.get("events").filter(|inner| inner.kind() == Kind::List);
                lists.extend(inner.map(|inner| (inner, depth + 1)));
            }
        }
        events
    }

    fn asked(&mut self, event: &Members<'a>) {
        let output = event.get("output").and_then(Node::members).unwrap_or_default();
        let choices = chat::choices(&output);
        self.odd = self.odd.take().or_else(|| unkept(&choices));
        let model = Rc::new(Model {
            at: when(event),
            choices: choices.iter().map(|choice| choice.message).collect(),
            has_told: Cell::new(false),
            tools: event.get("tools"),
            read: OnceCell::new(),
        });
        for id in model.choices.iter().flatten().flat_map(|message| ids(*message)) {
            self.models.entry(id).or_insert_with(|| Rc::clone(&model));
        }
        if model.choices.len() > 1 {
            self.several.push(model);
        }
    }

    /// The first thing that is wrong with what a model answered.
    pub fn odd(&mut self) -> Option<Damage> {
        self.odd.take()
    }

    /// Whether some request was given several choices.
    pub fn has_several(&self) -> bool {
        !self.several.is_empty()
    }

    /// Number of choices that belong to no message.
    pub fn untold(&self) -> usize {
        let untold = self.several.iter().filter(|model| !model.has_told.get());
        untold.map(|model| model.choices.len()).sum()
    }

    /// The request that a message answers, by the message's id or that of a call in it.
    pub fn model(&self, id: &str) -> Option<Rc<Model<'a>>> {
        self.models.get(id).cloned()
    }

    /// A message has this call.
    pub fn seen(&mut self, id: &str) {
        self.seen.insert(id.into());
    }

    /// When the next result of a call with this id came.
    pub fn came(&mut self, id: &str) -> Option<Millis> {
        self.calls.get_mut(id)?.pop_front().flatten()
    }

    /// Number of lists of events that are nested too deep, and were not read.
    pub fn too_deep(&self) -> u64 {
        self.too_deep
    }

    /// Number of calls that are in no message.
    pub fn left(&self) -> usize {
        self.calls.keys().filter(|id| !self.seen.contains(*id)).count()
    }
}

impl<'a> Model<'a> {
    /// The choices other than the message with these ids, with their numbers; returned only once.
    pub fn further(&self, own: &[&str]) -> Vec<(u32, Option<Node<'a>>)> {
        if self.has_told.replace(true) { Vec::new() } else { further(&self.choices, own) }
    }

    /// The offered tools, if the event lists them.
    pub fn tools(&self, attachments: &mut Attachments) -> Option<Arc<[Tool]>> {
        let mut read = || {
            let whole = attachments.resolved(self.tools?);
            Some(offer::tools(Node::parse(&whole).ok()?)?.tools.into())
        };
        self.read.get_or_init(&mut read).clone()
    }
}

/// Damage of choices, one of which ended to call a tool and has no call.
pub fn unkept(choices: &[Choice<'_>]) -> Option<Damage> {
    choices.iter().find_map(|choice| {
        let calls = choice.message.and_then(Node::members)?.get("tool_calls").and_then(Node::items);
        choice.promised(calls.map_or(0, |calls| calls.len() as u64))
    })
}

/// The choices that the message with these ids is not, with their numbers. The first is the message where none has them.
pub fn further<'a>(choices: &[Option<Node<'a>>], own: &[&str]) -> Vec<(u32, Option<Node<'a>>)> {
    let is_own = |choice: &Option<Node<'_>>| {
        choice.is_some_and(|message| ids(message).iter().any(|id| own.contains(&&**id)))
    };
    let taken = choices.iter().position(is_own).unwrap_or(0);
    let all = (1..).zip(choices.iter().copied()).enumerate();
    all.filter(|(place, _)| *place != taken).map(|(_, further)| further).collect()
}

/// The ids of a message and of its calls.
fn ids(message: Node<'_>) -> Vec<Box<str>> {
    let message = message.members().unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Node::objects).unwrap_or_default();
    let ids = message.get("id").into_iter().chain(calls.iter().filter_map(|call| call.get("id")));
    ids.filter_map(Node::id).filter(|id| !id.is_empty()).map(|id| id.as_ref().into()).collect()
}

/// When an event ended, or else when it began.
fn when(event: &Members<'_>) -> Option<Millis> {
    time::of(event, &["completed", "timestamp"]).ok().flatten()
}
