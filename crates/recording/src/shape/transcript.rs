//! Files that hold conversations entry by entry: an object with a list of messages or events, only that list, or an
//! entry on each line.
//!
//! A format defines its entries and their content. The beginning and end of a conversation, the conversation of an
//! entry, and the order of calls and results are decided here, once for all of them.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::contract::out::Out;
use crate::contract::setting::{IDS, Setting};
use crate::contract::{Reader, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::interleaved::Interleaved;
use crate::shape::scribe::Scribe;
use crate::shape::unknown::Unknown;
use rulestep_base::diagnostic::{Diagnostic, Loss};
use rulestep_base::session::Damage;
use rulestep_base::session::build::Builder;

/// The particulars of a format. A value of the type is the state of one conversation while it is read.
pub trait Conversation: Default + Send + 'static {
    /// The message for a value that is neither a conversation nor an entry, such as "not an event of a session".
    const EXPECTED: &'static str;
    /// A conversation with a key is that of a subagent, which the one without a key started.
    const SUBAGENTS: bool = false;

    /// The entries of a value that is a whole conversation.
    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>>;

    /// Further conversations that a whole one holds: those of its subagents.
    fn others<'a>(_whole: &Members<'a>) -> Option<Node<'a>> {
        None
    }

    /// Whether a value is an entry.
    fn is_entry(value: &Members<'_>) -> bool;

    /// The name of a whole conversation.
    fn id<'a>(whole: &Members<'a>) -> Option<Cow<'a, str>> {
        whole.any(&IDS).and_then(Node::id)
    }

    /// The conversation of an entry, if a file has several.
    fn key<'a>(_entry: &Members<'a>) -> Option<Cow<'a, str>> {
        None
    }

    /// Whether another conversation begins with this entry.
    fn begins(_entry: &Members<'_>) -> bool {
        false
    }

    /// Adds what a value says about the conversation that it holds whole.
    fn about(&mut self, _whole: &Members<'_>, _scribe: &mut Scribe) {}

    /// Adds an entry. An error is the type of one that is not known.
    fn entry(&mut self, entry: &Members<'_>, scribe: &mut Scribe) -> Result<(), String>;

    /// No entry follows.
    fn end(&mut self, _scribe: &mut Scribe) {}
}

/// The reader of a format whose files hold conversations of this kind.
pub fn reader<C: Conversation>(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Transcripts::<C> {
        setting: setting.clone(),
        open: Interleaved::default(),
        latest: None,
        list: None,
        unknown: Unknown::default(),
        kind: PhantomData,
    })
}

struct Transcripts<C> {
    setting: Setting,
    /// Conversations made of single entries, by their keys.
    open: Interleaved<(C, Scribe)>,
    /// Key of the conversation of the latest entry.
    latest: Option<Box<str>>,
    /// The list of entries that are not in an envelope.
    list: Option<u32>,
    unknown: Unknown,
    kind: PhantomData<C>,
}

impl<C: Conversation> Reader for Transcripts<C> {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let entries = match unit.node.kind() {
            Kind::List => Some(unit.node),
            _ => C::entries(members),
        };
        if let Some(entries) = entries {
            self.close(out);
            let id = C::id(members).unwrap_or_default();
            let builder = self.setting.session(&id, unit, out);
            return self.whole(builder, entries, members, unit, out);
        }
        if !C::is_entry(members) {
            return out.diagnostics(self.setting.foreign(unit, C::EXPECTED));
        }
        if self.list != unit.list || C::begins(members) {
            self.close(out);
            self.list = unit.list;
        }
        let key = C::key(members).unwrap_or_default();
        while let Some((conversation, scribe)) = self.open.too_much(&key) {
            finish(conversation, scribe, out);
        }
        let parent = if C::SUBAGENTS && !key.is_empty() {
            let root = self.open.known("");
            root.map(|(_, scribe)| scribe.builder.session_id().to_string())
        } else {
            None
        };
        let begin = |again| {
            let mut builder = self.setting.session_at(&key, unit.line, out);
            if again {
                builder.starts_in_the_middle(
                    "earlier entries of the same conversation are too far before these",
                );
            }
            parent.into_iter().for_each(|parent| builder.parent(parent));
            (C::default(), Scribe::new(builder, &self.setting))
        };
        let Some((conversation, scribe)) = self.open.get(&key, unit.node.json().len(), begin) else { return };
        unit.diagnostics.iter().cloned().for_each(|diagnostic| scribe.builder.diagnostic(diagnostic));
        add(conversation, members, unit.line, scribe, &mut self.unknown);
        self.latest = Some(key.as_ref().into());
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        match self.latest.as_ref().and_then(|latest| self.open.known(latest)) {
            Some((_, scribe)) => scribe.builder.diagnostic(diagnostic),
            None => out.diagnostic(diagnostic),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.unknown.tell(&self.setting, out);
    }
}

impl<C: Conversation> Transcripts<C> {
    fn whole(
        &mut self,
        builder: Builder,
        entries: Node<'_>,
        whole: &Members<'_>,
        unit: &Unit<'_>,
        out: &mut Out,
    ) {
        let id = Arc::clone(builder.session_id());
        let mut scribe = Scribe::new(builder, &self.setting);
        let mut conversation = C::default();
        conversation.about(whole, &mut scribe);
        let mut lines = Lines::new(unit.node, unit.line);
        match entries.items() {
            Some(items) => {
                for item in items {
                    let line = lines.of(item);
                    match item.members() {
                        Some(entry) => add(&mut conversation, &entry, line, &mut scribe, &mut self.unknown),
                        None => {
                            let word = item.said_kind();
                            let odd = format!("an entry is {word}, not an object; it is left out");
                            scribe.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
                        }
                    }
                }
            }
            None => {
                let odd = format!("the entries are {}, not a list", entries.said_kind());
                scribe.builder.lost(Loss::MayHoldCalls, odd);
            }
        }
        let others = C::others(whole).map(Node::objects);
        if matches!(others, Some(None)) {
            scribe.builder.damaged(Damage::calls("the conversations of subagents are no list of objects"));
        }
        finish(conversation, scribe, out);
        for other in others.flatten().unwrap_or_default() {
            let line = other.first().map_or(unit.line, |first| lines.of(first));
            let mut builder = self.setting.session_at(&C::id(&other).unwrap_or_default(), line, out);
            builder.parent(Arc::clone(&id));
            match C::entries(&other) {
                Some(entries) => self.whole(builder, entries, &other, unit, out),
                None => out.diagnostic(
                    self.setting
                        .damaged_line(line, Damage::calls("the conversation of a subagent has no entries")),
                ),
            }
        }
    }

    fn close(&mut self, out: &mut Out) {
        self.open.close().for_each(|(conversation, scribe)| finish(conversation, scribe, out));
        self.latest = None;
    }
}

fn add<C: Conversation>(
    conversation: &mut C,
    entry: &Members<'_>,
    line: u32,
    scribe: &mut Scribe,
    unknown: &mut Unknown,
) {
    scribe.at_line(line);
    if let Err(kind) = conversation.entry(entry, scribe) {
        unknown.note_object(&kind, entry, line);
    }
}

fn finish<C: Conversation>(mut conversation: C, mut scribe: Scribe, out: &mut Out) {
    conversation.end(&mut scribe);
    out.session(scribe.end());
}
