//! The running state of tool policies: the record, its snapshots, and the files that exist.
//!
//! Snapshots, restoring and resetting concern only the record; files are facts of the world and stay.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde_json::Value;

use super::explain::{MissingTools, RecordState, WrittenFile};
use super::files::Files;
use super::path::{self, Locator};
use super::record::Record;
use super::unit::{Ask, Part, Reads, ToolPolicies};
use crate::dialect::tool_policies::codes;
use crate::monitor::saved;
use crate::monitor::{
    CheckedValue, Cx, Depth, Digest, EarlierCall, Effect, Event, Explain, Hidden, Monitor, ProposedCall,
    Sink, Slot, StateItem, Timers,
};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{Body, CallRef, Facts, Operation, Outcome, refusal};

#[derive(Clone)]
pub(super) struct ToolPoliciesMonitor {
    unit: Arc<ToolPolicies>,
    recorded: Record,
    snapshots: RedBlackTreeMapSync<Arc<str>, Record>,
    files: Files,
    /// Whether the files at the session's start are known.
    listed: bool,
    /// The newest successful read that named no file, so that no write can rest on it, with its tool.
    unplaced: Option<(Arc<str>, CallRef)>,
}

/// The result of an ask for a call.
enum Answer<'a> {
    /// The call names no path, so nothing can be asked.
    Pathless,
    /// Tools that must have succeeded.
    Needs {
        /// Those that have not; none: all have.
        missing: Vec<&'a Arc<str>>,
        /// The calls with which the others have.
        by: Vec<CallRef>,
    },
    File(FileAnswer<'a>),
}

struct FileAnswer<'a> {
    /// As the caller spelled it.
    path: Cow<'a, str>,
    locator: &'a Locator,
    /// The argument that holds it.
    place: Arc<str>,
    /// See [`Files::exists`].
    exists: Option<Option<CallRef>>,
    /// Whether the files are not listed, so that one no call has touched counts as new.
    assumed: bool,
    /// The call that read it.
    read: Option<CallRef>,
    /// See [`ToolPoliciesMonitor::unplaced`].
    unplaced: Option<CallRef>,
}

impl ToolPoliciesMonitor {
    pub fn new(unit: Arc<ToolPolicies>, facts: &Facts) -> ToolPoliciesMonitor {
        let (files, listed) = unit.files(facts);
        ToolPoliciesMonitor {
            unit,
            recorded: Record::default(),
            snapshots: RedBlackTreeMapSync::new_sync(),
            files,
            listed,
            unplaced: None,
        }
    }

    /// See [`Unit::resume`](crate::monitor::Unit::resume).
    pub fn resumed(unit: Arc<ToolPolicies>, saved: &str) -> Option<ToolPoliciesMonitor> {
        let (recorded, snapshots, files, listed, unplaced): Recorded = saved::read(saved)?;
        let snapshots = snapshots.into_iter().collect();
        Some(ToolPoliciesMonitor { unit, recorded, snapshots, files, listed, unplaced })
    }

    fn asks(&self, slot: Slot) -> &[Ask] {
        self.unit.part(slot).map(|part| part.asks.as_slice()).unwrap_or_default()
    }

    fn answer<'a>(&'a self, ask: &'a Ask, arguments: &'a Body) -> Answer<'a> {
        match ask {
            Ask::Needs { tools, .. } => {
                let (mut missing, mut by) = (Vec::new(), Vec::new());
                for tool in tools.iter() {
                    match self.recorded.tool(tool) {
                        Some(call) => by.push(call),
                        None => missing.push(tool),
                    }
                }
                Answer::Needs { missing, by }
            }
            Ask::Write { read, locator, .. } => {
                let Some(path) = locator.path(arguments) else { return Answer::Pathless };
                let key = locator.key(&path);
                let exists = self.files.exists(&path::fold(key));
                let by = read.iter().find_map(|tool| self.recorded.key(tool, key));
                Answer::File(FileAnswer {
                    locator,
                    place: locator.place(arguments),
                    exists,
                    assumed: exists.is_none() && !self.listed,
                    read: by,
                    unplaced: self
                        .unplaced
                        .as_ref()
                        .filter(|(tool, _)| read.contains(tool))
                        .map(|(_, call)| *call),
                    path,
                })
            }
        }
    }

    /// The folded paths that a call names for some policies, each once.
    fn paths(locators: &[Locator], arguments: &Body) -> Vec<String> {
        let found =
            locators.iter().filter_map(|locator| Some(path::fold(locator.key(&locator.path(arguments)?))));
        // The root is there anyhow.
        let mut paths: Vec<String> = found.filter(|path| !path.is_empty()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    fn record(&mut self, part: &Part, call: &ProposedCall<'_>) {
        let name = || part.name.clone().unwrap_or_else(|| call.tool.into());
        if part.records && self.recorded.tool(call.tool).is_none() {
            self.recorded.add_tool(&name(), call.at);
        }
        let mut placed = part.reads.is_empty();
        for Reads { locator, .. } in &part.reads {
            if let Some(path) = locator.path(call.arguments) {
                self.recorded.add_key(&name(), locator.key(&path), call.at);
                placed = true;
            }
        }
        if !placed {
            self.unplaced = Some((name(), call.at));
        }
    }

    fn operate(&mut self, operation: &Operation) {
        match operation {
            Operation::Snapshot(name) => self.snapshots.insert_mut(Arc::clone(name), self.recorded.clone()),
            // The state of an unknown name is unknown: an event that may not have happened satisfies nothing.
            Operation::Restore(name) => self.recorded = self.snapshots.get(name).cloned().unwrap_or_default(),
            Operation::Reset | Operation::Unknown(_) => self.recorded = Record::default(),
        }
    }
}

impl Ask {
    fn rule(&self) -> usize {
        match self {
            Ask::Needs { rule, .. } | Ask::Write { rule, .. } => *rule,
        }
    }
}

impl Answer<'_> {
    /// The code of the objection to the call, if any.
    fn against(&self) -> Option<Code> {
        match self {
            Answer::Needs { missing, .. } if !missing.is_empty() => Some(codes::DEPENDENCY_MISSING),
            Answer::File(file) if file.exists.is_some() && file.read.is_none() => {
                Some(codes::NOT_READ_BEFORE_WRITE)
            }
            _ => None,
        }
    }

    /// Why the call passes unchecked: it names no path, or a file counts as new because the files are not listed.
    fn unchecked(&self) -> Option<Code> {
        match self {
            Answer::Pathless => Some(codes::PATH_UNKNOWN),
            Answer::File(file) if file.assumed && file.read.is_none() => Some(codes::EXISTENCE_UNKNOWN),
            Answer::File(_) | Answer::Needs { .. } => None,
        }
    }

    fn told(&self, tool: &str) -> Option<Arc<str>> {
        match self {
            Answer::Pathless => None,
            Answer::Needs { missing, .. } => {
                let missing: Vec<&str> = missing.iter().map(|tool| &***tool).collect();
                Some(refusal::requires(tool, &missing).into())
            }
            Answer::File(file) => Some(refusal::not_read(&file.path).into()),
        }
    }

    fn facts(&self) -> Option<Arc<dyn Explain>> {
        Some(match self {
            Answer::Pathless => Arc::new(WrittenFile::default()),
            Answer::Needs { missing, .. } => {
                Arc::new(MissingTools { missing: missing.iter().map(|tool| Arc::clone(tool)).collect() })
            }
            Answer::File(file) => Arc::new(WrittenFile {
                key: Some(file.locator.key(&file.path).into()),
                exists: if file.assumed { None } else { Some(file.exists.is_some()) },
                read: file.read.is_some(),
                unplaced: file.unplaced.filter(|_| file.read.is_none()),
            }),
        })
    }

    fn checked(&self) -> Option<CheckedValue> {
        let Answer::File(file) = self else { return None };
        Some(CheckedValue { path: Arc::clone(&file.place), value: Some(Value::from(&*file.path)) })
    }

    /// The calls that satisfied it; of a file that was not read, the one that made it.
    fn found(&self) -> Vec<EarlierCall> {
        let calls = match self {
            Answer::Pathless => Vec::new(),
            Answer::Needs { missing, by } if missing.is_empty() => by.clone(),
            Answer::Needs { .. } => Vec::new(),
            Answer::File(file) => file.read.or(file.exists.flatten()).into_iter().collect(),
        };
        calls.into_iter().map(EarlierCall::new).collect()
    }
}

/// A monitor's fields without its unit, as they are read.
type Recorded = (Record, Vec<(Arc<str>, Record)>, Files, bool, Option<(Arc<str>, CallRef)>);

impl Monitor for ToolPoliciesMonitor {
    fn save(&self) -> Option<String> {
        let ToolPoliciesMonitor { unit: _, recorded, snapshots, files, listed, unplaced } = self;
        let snapshots: Vec<_> = snapshots.iter().collect();
        saved::save(&(recorded, snapshots, files, listed, unplaced))
    }

    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn narrow(&self, _tool: &str, slot: Slot, _cx: &Cx<'_>, out: &mut Hidden<'_>) {
        for ask in self.asks(slot) {
            out.asks(ask.rule());
            // A call without a path is never refused for a file, so a rule about files hides nothing.
            if let Ask::Needs { .. } = ask
                && let Some(code) = self.answer(ask, &Body::MISSING).against()
            {
                out.hide(ask.rule(), code);
            }
        }
    }

    fn decide(&self, call: ProposedCall<'_>, _cx: &Cx<'_>, out: &mut Sink<'_>) {
        let asks = self.asks(call.slot);
        for ask in asks {
            out.asks(ask.rule());
            let answer = self.answer(ask, call.arguments);
            let against = answer.against();
            if let Some(code) = against {
                // The first policy decides, the others would have denied as well.
                out.find(ask.rule(), Effect::Deny, code, |finding| {
                    (finding.checked, finding.found) = (answer.checked(), answer.found());
                    (finding.facts, finding.tell_llm) = (answer.facts(), answer.told(call.tool));
                });
                if out.is_decided() {
                    return;
                }
            }
            out.check(ask.rule(), against.is_none(), |check| {
                (check.code, check.checked) = (against, answer.checked());
                (check.found, check.facts) = (answer.found(), answer.facts());
            });
        }
        if out.stops() || out.depth() < Depth::Deciding {
            return;
        }
        let mut effect = Effect::Report;
        for ask in asks {
            out.asks(ask.rule());
            let answer = self.answer(ask, call.arguments);
            if let Some(code) = answer.unchecked() {
                out.find(ask.rule(), effect, code, |finding| {
                    (finding.checked, finding.facts) = (answer.checked(), answer.facts());
                });
                effect = Effect::Also;
            }
        }
    }

    fn observe(&mut self, event: &Event<'_>, _cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        let unit = Arc::clone(&self.unit);
        match *event {
            Event::Started(call) => {
                let makes = unit.part(call.slot).map(|part| part.makes.as_slice()).unwrap_or_default();
                for path in Self::paths(makes, call.arguments) {
                    self.files.begin_write(&path, call.at);
                }
            }
            Event::Resolved { call, outcome, .. } => {
                let Some(part) = unit.part(call.slot) else { return };
                if outcome == Outcome::Ok {
                    self.record(part, &call);
                    if !self.listed {
                        for path in Self::paths(&part.shows, call.arguments) {
                            self.files.keep(&path, Some(call.at));
                        }
                    }
                } else {
                    for path in Self::paths(&part.makes, call.arguments) {
                        self.files.take_back(&path, call.at);
                    }
                }
            }
            Event::Operation(operation) => self.operate(operation),
            Event::TurnStart
            | Event::TurnEnd { .. }
            | Event::Stopped(_)
            | Event::Message(_)
            | Event::Due(_) => {}
        }
    }

    fn digest(&self, calls: &[ProposedCall<'_>], _cx: &Cx<'_>, out: &mut Digest) {
        for (call, ask) in
            calls.iter().flat_map(|call| self.asks(call.slot).iter().map(move |ask| (call, ask)))
        {
            match self.answer(ask, call.arguments) {
                Answer::Pathless => {}
                Answer::Needs { missing, .. } => missing.hash(out),
                Answer::File(file) => (file.exists.is_some(), file.read.is_some()).hash(out),
            }
        }
    }

    fn state(&self, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        if (!self.recorded.is_empty() || !self.files.is_empty())
            && let Some(rule) = self.unit.rules.first()
        {
            let kept = RecordState {
                document: Arc::clone(&self.unit.document),
                recorded: self.recorded.clone(),
                files: self.files.clone(),
                listed: self.listed,
            };
            out.push(StateItem::Kept { rule: *rule, tool: None, facts: Arc::new(kept) });
        }
    }

    fn permanent_denial(
        &self,
        _call: ProposedCall<'_>,
        _cx: &Cx<'_>,
        _enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        None
    }

    fn report(
        &self,
        _end: crate::monitor::End,
        _cx: &Cx<'_>,
        _out: &mut Vec<crate::monitor::finding::RuleState>,
    ) {
    }
}
