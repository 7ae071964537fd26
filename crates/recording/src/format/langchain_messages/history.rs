//! The history of a state as LangGraph keeps it: a snapshot for each step, the newest first, each with all messages so
//! far.
//!
//! A thread is one session: its newest snapshot and those that it follows from. A message that is in one of these and
//! no longer in a later one was sent all the same, and keeps its position. Snapshots that the newest one does not
//! follow from are another branch.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::input::digest::digest;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use rulestep_base::session::Millis;

/// The histories of a file, by thread.
#[derive(Default)]
pub struct Histories(Vec<History>);

/// The snapshots of one thread.
pub struct History {
    key: Key,
    /// Line of the first one.
    pub line: u32,
    messages: Vec<Message>,
    /// Places of messages, by digests of their texts.
    known: HashMap<u64, u32>,
    snapshots: Vec<Snapshot>,
    /// Messages of the snapshot that was read last.
    latest: Vec<u32>,
}

/// The thread, or the graph within it, of snapshots.
#[derive(Clone, PartialEq, Eq, Default)]
struct Key {
    thread: Box<str>,
    graph: Box<str>,
}

/// A message as some snapshot has it.
pub struct Message {
    /// Its text.
    pub json: Box<str>,
    /// Line of the snapshot.
    pub line: u32,
    /// Its identity across snapshots, however it was changed.
    name: u64,
    calls: usize,
}

struct Snapshot {
    line: u32,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    at: Option<Millis>,
    /// Messages at its beginning that the snapshot read before it has as well, and those that follow them: of nearly all there
    /// is nothing to follow.
    shared: usize,
    rest: Vec<u32>,
}

/// The conversation made of a history.
#[derive(Default)]
pub struct Conversation {
    /// Places of the messages, in order.
    pub messages: Vec<u32>,
    /// Messages that the newest snapshot has no more, and the line of a snapshot that has.
    pub removed: Option<(usize, u32)>,
    /// Names of messages that a later snapshot has in another form, and the line of one that has the first.
    pub edited: Option<(HashSet<u64>, u32)>,
    /// Messages, and calls in them, that are on another branch, and the line of its first snapshot.
    pub aside: Option<(usize, usize, u32)>,
}

/// Whether a value is a snapshot.
pub fn is_snapshot(value: &Members<'_>) -> bool {
    let about = ["next", "config", "checkpoint", "parent_config", "parentConfig", "created_at", "createdAt"];
    value.try_get("values").is_some_and(|values| values.kind() == Kind::Object) && value.any(&about).is_some()
        || channels(value).is_some()
}

/// The values of a checkpoint.
fn channels<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    value.try_get("checkpoint")?.tried().members()?.try_get("channel_values")?.tried().members()
}

/// Keys of a snapshot, in the order of its form as a list.
const MEMBERS: [&str; 6] = ["values", "next", "config", "metadata", "created_at", "parent_config"];

/// A snapshot that is a list, as Python writes it, as an object.
pub fn listed(list: Node<'_>) -> Option<String> {
    let items = list.items()?;
    let config = items.get(2)?.members()?;
    let is_one = items.first()?.kind() == Kind::Object && config.has("configurable");
    let members = MEMBERS.iter().zip(items).map(|(name, item)| format!("\"{name}\":{}", item.json()));
    is_one.then(|| format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// The messages of a snapshot; none at the beginning.
pub fn messages<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    let values = channels(value).or_else(|| value.try_get("values")?.tried().members())?;
    values.get("messages").filter(|list| list.kind() == Kind::List)
}

impl Histories {
    /// Takes a snapshot that begins on this line.
    pub fn add(&mut self, value: &Members<'_>, line: u32) {
        let about = About::of(value);
        let place = self.0.iter().position(|history| history.key == about.key).unwrap_or(self.0.len());
        if place == self.0.len() {
            self.0.push(History::new(about.key.clone(), line));
        }
        if let Some(history) = self.0.get_mut(place) {
            history.add(about, messages(value), line);
        }
    }

    /// The histories, each whole.
    pub fn take(&mut self) -> Vec<History> {
        std::mem::take(&mut self.0)
    }
}

/// Metadata of a snapshot.
struct About {
    key: Key,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    at: Option<Millis>,
}

impl About {
    fn of(value: &Members<'_>) -> About {
        let inner =
            |of: Option<Members<'_>>, key: &str| of?.try_get(key)?.tried().id().map(|id| Box::from(&*id));
        let configured = |key: &str| {
            let config = value.try_get(key)?.tried().members()?;
            Some(config.try_get("configurable").and_then(|inner| inner.tried().members()).unwrap_or(config))
        };
        let first = |keys: &[&str], name: &str| keys.iter().find_map(|key| inner(configured(key), name));
        let own = ["config", "checkpoint", "metadata"];
        let parents = ["parent_config", "parentConfig", "parent_checkpoint"];
        let named = |keys: &[&str]| value.any(keys).and_then(Node::id).map(|id| Box::from(&*id));
        About {
            key: Key {
                thread: first(&own, "thread_id").or_else(|| named(&["thread_id"])).unwrap_or_default(),
                graph: first(&own, "checkpoint_ns").unwrap_or_default(),
            },
            id: first(&own, "checkpoint_id")
                .or_else(|| named(&["checkpoint_id"]))
                .or_else(|| inner(configured("checkpoint"), "id")),
            parent: first(&parents, "checkpoint_id").or_else(|| named(&["parent_checkpoint_id"])),
            at: time::of(value, &["created_at", "createdAt"]).ok().flatten(),
        }
    }
}

impl History {
    fn new(key: Key, line: u32) -> History {
        let (messages, known, snapshots) = (Vec::new(), HashMap::new(), Vec::new());
        History { key, line, messages, known, snapshots, latest: Vec::new() }
    }

    /// The name of the session.
    pub fn id(&self) -> String {
        match (&*self.key.thread, &*self.key.graph) {
            (thread, "") => thread.to_owned(),
            (thread, graph) => format!("{thread}/{graph}"),
        }
    }

    /// The message at a place.
    pub fn message(&self, place: u32) -> Option<&Message> {
        self.messages.get(place as usize)
    }

    fn add(&mut self, about: About, messages: Option<Node<'_>>, line: u32) {
        let items = messages.and_then(Node::items).unwrap_or_default();
        let own: Vec<u32> = items.into_iter().map(|message| self.place(message, line)).collect();
        let shared = own.iter().zip(&self.latest).take_while(|(own, latest)| own == latest).count();
        let rest = own.get(shared..).unwrap_or_default().to_vec();
        let About { id, parent, at, .. } = about;
        self.snapshots.push(Snapshot { line, id, parent, at, shared, rest });
        self.latest = own;
    }

    fn place(&mut self, message: Node<'_>, line: u32) -> u32 {
        let json = message.json();
        let next = self.messages.len() as u32;
        let place = *self.known.entry(digest(json)).or_insert(next);
        if place == next {
            let members = message.members().unwrap_or_default();
            let inner = members.any(&["kwargs", "data"]).and_then(Node::members).unwrap_or(members);
            let name = inner
                .try_get("id")
                .and_then(|id| id.tried().id())
                .map_or_else(|| digest(json), |id| digest(&*id));
            let calls = inner
                .try_get("tool_calls")
                .and_then(|calls| calls.tried().items())
                .map_or(0, |calls| calls.len());
            self.messages.push(Message { json: json.into(), line, name, calls });
        }
        place
    }

    /// The place of the newest snapshot: by its time, else the one that no other follows from.
    fn newest(&self) -> Option<usize> {
        let timed = self.snapshots.iter().enumerate().filter(|(_, snapshot)| snapshot.at.is_some());
        let latest = timed.max_by_key(|(place, snapshot)| (snapshot.at, Reverse(*place)));
        latest.map(|(place, _)| place).or_else(|| {
            let parents: HashSet<&str> =
                self.snapshots.iter().filter_map(|one| one.parent.as_deref()).collect();
            let is_last = |one: &Snapshot| one.id.as_deref().is_none_or(|id| !parents.contains(id));
            self.snapshots.iter().position(is_last)
        })
    }

    /// The places of the snapshots that the newest one follows from, itself included; all if none names its
    /// predecessor.
    fn line_of_newest(&self) -> HashSet<usize> {
        let Some(newest) = self.newest() else { return HashSet::new() };
        if self.snapshots.iter().all(|snapshot| snapshot.parent.is_none()) {
            return (0..self.snapshots.len()).collect();
        }
        let ids = self.snapshots.iter().enumerate();
        let ids: HashMap<&str, usize> = ids.filter_map(|(at, one)| Some((one.id.as_deref()?, at))).collect();
        let (mut line, mut at) = (HashSet::from([newest]), newest);
        while let Some(parent) = self.snapshots.get(at).and_then(|one| ids.get(one.parent.as_deref()?))
            && line.insert(*parent)
        {
            at = *parent;
        }
        line
    }

    /// The snapshots with the places of their messages, in the order of the file.
    fn each(&self, visit: &mut dyn FnMut(usize, &Snapshot, &[u32])) {
        let mut own: Vec<u32> = Vec::new();
        for (place, snapshot) in self.snapshots.iter().enumerate() {
            own.truncate(snapshot.shared);
            own.extend(&snapshot.rest);
            visit(place, snapshot, &own);
        }
    }

    /// The conversation made of the snapshots.
    pub fn conversation(&self) -> Conversation {
        let line = self.line_of_newest();
        let mut merged = Merged { history: self, all: Conversation::default(), latest: HashMap::new() };
        for (snapshot, own) in self.newest_first(&line) {
            merged.add(snapshot, &own);
        }
        let Merged { mut all, latest, .. } = merged;
        let mut aside: HashSet<u64> = HashSet::new();
        self.each(&mut |place, snapshot, own| {
            let others = own.iter().filter(|_| !line.contains(&place)).filter_map(|at| self.message(*at));
            for message in others.filter(|message| !latest.contains_key(&message.name)) {
                if aside.insert(message.name) {
                    let (count, calls, first) = all.aside.unwrap_or((0, 0, snapshot.line));
                    all.aside = Some((count + 1, calls + message.calls, first));
                }
            }
        });
        all
    }

    /// The snapshots of a line with their messages, without those that another one has all messages of.
    fn newest_first(&self, line: &HashSet<usize>) -> Vec<(&Snapshot, Vec<u32>)> {
        let mut kept: Vec<(usize, Vec<u32>)> = Vec::new();
        self.each(&mut |place, _, own| match kept.last_mut() {
            _ if !line.contains(&place) => {}
            Some((_, last)) if last.starts_with(own) => {}
            Some(last) if own.starts_with(&last.1) => *last = (place, own.to_vec()),
            _ => kept.push((place, own.to_vec())),
        });
        let with = kept.into_iter().filter_map(|(place, own)| Some((self.snapshots.get(place)?, own)));
        let mut all: Vec<_> = with.collect();
        all.sort_by_key(|(snapshot, own)| (Reverse(snapshot.at), Reverse(own.len())));
        all
    }
}

/// Snapshots merged, the newest first.
struct Merged<'h> {
    history: &'h History,
    all: Conversation,
    /// The places of messages as they are in the newest snapshot, by their names.
    latest: HashMap<u64, u32>,
}

impl Merged<'_> {
    fn add(&mut self, snapshot: &Snapshot, own: &[u32]) {
        let name = |place: u32| self.history.message(place).map_or(0, |message| message.name);
        let is_newest = self.latest.is_empty();
        let mut before: Option<u64> = None;
        for message in own {
            let own_name = name(*message);
            match self.latest.get(&own_name) {
                Some(known) if known == message => {}
                Some(_) => {
                    self.all.edited.get_or_insert_with(|| (HashSet::new(), snapshot.line)).0.insert(own_name);
                }
                None => {
                    let after = |before| self.all.messages.iter().position(|known| name(*known) == before);
                    let place = match is_newest {
                        true => self.all.messages.len(),
                        false => before.and_then(after).map_or(0, |before| before + 1),
                    };
                    self.all.messages.insert(place, *message);
                    self.latest.insert(own_name, *message);
                    if !is_newest {
                        self.all.removed.get_or_insert((0, snapshot.line)).0 += 1;
                    }
                }
            }
            before = Some(own_name);
        }
    }
}
