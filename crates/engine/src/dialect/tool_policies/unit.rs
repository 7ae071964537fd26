//! One document of tool policies as a unit: which policies govern which tool, settled once.

use std::collections::HashMap;
use std::sync::Arc;

use super::files::Files;
use super::monitor::ToolPoliciesMonitor;
use super::path::{self, Locator};
use crate::condition::path::Path;
use crate::monitor::{
    CallPart, Enabler, Enablers, Look, Monitor, Observes, Probe, Prospect, Read, RuleId, Says, SessionEvents,
    Slot, Statement, Unit, Wakes,
};
use rulestep_base::session::{Body, Facts, Session};

/// A document as it was read.
#[derive(Debug)]
pub(super) struct Document {
    /// Prefix of its rules' ids.
    pub prefix: Arc<str>,
    pub policies: Vec<Policy>,
    /// Policies of the prompt, by number.
    pub prompt: Vec<usize>,
    pub sections: Vec<Section>,
    pub existing: Option<Vec<Arc<str>>>,
}

#[derive(Debug)]
pub(super) struct Section {
    pub tools: Vec<Arc<str>>,
    /// Its own policies, by number.
    pub policies: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Policy {
    pub rule: usize,
    pub kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// For each tool, those that must have succeeded, sorted.
    Dependencies(HashMap<Arc<str>, Arc<[Arc<str>]>>),
    Files(FileRule),
}

#[derive(Debug)]
pub(super) struct FileRule {
    pub read: Arc<[Arc<str>]>,
    pub write: Arc<[Arc<str>]>,
    pub locator: Locator,
}

impl FileRule {
    /// The tools that write files, unless a policy lists them.
    pub const WRITE_TOOLS: [&str; 2] = ["write_file", "edit_file"];
}

/// A document of tool policies.
#[derive(Debug)]
pub(super) struct ToolPolicies {
    pub rules: Vec<RuleId>,
    pub document: Arc<str>,
    /// The files at a session's start, if the document lists them.
    existing: Option<Files>,
    /// Prefixes that are removed from the paths of calls.
    mounts: Vec<Arc<str>>,
    /// The tools that the document names, then one for all others.
    parts: Vec<Part>,
    slots: HashMap<Arc<str>, usize>,
}

/// The part that one tool plays.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// `None` for the tools that the document does not name.
    pub name: Option<Arc<str>>,
    /// The questions about its calls, in order.
    pub asks: Vec<Ask>,
    /// Whether its successes are recorded.
    pub records: bool,
    /// Its reads are recorded under the keys of these policies, all different.
    pub reads: Vec<Reads>,
    /// Its calls make files at the paths that these policies find, whatever governs it.
    pub makes: Vec<Locator>,
    /// Its reads show files at the paths that these policies find, whatever governs it.
    pub shows: Vec<Locator>,
}

/// Where a policy finds the path of a read.
#[derive(Debug)]
pub(super) struct Reads {
    /// The first policy that looks there.
    pub rule: usize,
    pub locator: Locator,
}

/// The question of one policy about a tool's calls.
#[derive(Debug)]
pub(super) enum Ask {
    /// These tools must have succeeded.
    Needs { rule: usize, tools: Arc<[Arc<str>]> },
    /// A file that exists must have been read with one of these tools.
    Write { rule: usize, read: Arc<[Arc<str>]>, locator: Locator },
}

impl ToolPolicies {
    pub fn new(rules: Vec<RuleId>, document: Document) -> ToolPolicies {
        let mut names: Vec<Arc<str>> =
            document.sections.iter().flat_map(|section| section.tools.iter().cloned()).collect();
        for policy in &document.policies {
            match &policy.kind {
                Kind::Dependencies(needs) => {
                    names.extend(needs.iter().flat_map(|(tool, needs)| needs.iter().chain([tool])).cloned());
                }
                Kind::Files(files) => names.extend(files.read.iter().chain(files.write.iter()).cloned()),
            }
        }
        names.sort();
        names.dedup();
        let slots = names.iter().cloned().enumerate().map(|(slot, name)| (name, slot)).collect();
        let parts =
            names.into_iter().map(Some).chain([None]).map(|name| Part::new(name, &document)).collect();
        let mut mounts: Vec<Arc<str>> = Vec::new();
        for policy in &document.policies {
            if let Kind::Files(FileRule { locator: Locator { mount: Some(mount), .. }, .. }) = &policy.kind
                && !mounts.contains(mount)
            {
                mounts.push(Arc::clone(mount));
            }
        }
        let existing = document.existing.map(|paths| files(paths.iter().map(|path| &**path), &mounts));
        ToolPolicies { rules, document: document.prefix, existing, mounts, parts, slots }
    }

    pub fn part(&self, slot: Slot) -> Option<&Part> {
        self.parts.get(slot.0 as usize)
    }

    /// The files at a session's start, and whether they are listed.
    pub fn files(&self, facts: &Facts) -> (Files, bool) {
        match (&facts.files, &self.existing) {
            (Some(listed), _) => (files(listed.iter().map(String::as_str), &self.mounts), true),
            (None, Some(existing)) => (existing.clone(), true),
            (None, None) => (Files::default(), false),
        }
    }
}

impl Part {
    fn wakes(&self, slot: usize) -> Wakes {
        let observe = Observes {
            starts: !self.makes.is_empty(),
            results: self.records
                || !self.reads.is_empty()
                || !self.makes.is_empty()
                || !self.shows.is_empty(),
            arguments: !self.reads.is_empty() || !self.makes.is_empty() || !self.shows.is_empty(),
        };
        Wakes { decide: !self.asks.is_empty(), observe, slot: Slot(slot as u64) }
    }

    fn new(name: Option<Arc<str>>, document: &Document) -> Part {
        let mut part = Part::default();
        let named = |tools: &[Arc<str>]| name.as_ref().is_some_and(|name| tools.contains(name));
        let section = document.sections.iter().find(|section| named(&section.tools));
        let own = section.map(|section| section.policies.as_slice()).unwrap_or_default();
        let governing =
            own.iter().chain(&document.prompt).filter_map(|number| document.policies.get(*number));
        for Policy { rule, kind } in governing {
            match kind {
                Kind::Dependencies(needs) => {
                    part.records = true;
                    let tools =
                        name.as_ref().and_then(|name| needs.get(name)).filter(|tools| !tools.is_empty());
                    part.asks.extend(tools.map(|tools| Ask::Needs { rule: *rule, tools: Arc::clone(tools) }));
                }
                Kind::Files(files) => {
                    let (read, locator) = (Arc::clone(&files.read), files.locator.clone());
                    if named(&files.write) {
                        part.asks.push(Ask::Write { rule: *rule, read, locator: locator.clone() });
                    }
                    if named(&files.read) && part.reads.iter().all(|reads| reads.locator != locator) {
                        part.reads.push(Reads { rule: *rule, locator });
                    }
                }
            }
        }
        for policy in &document.policies {
            if let Kind::Files(files) = &policy.kind {
                if named(&files.write) {
                    add(&mut part.makes, files.locator.clone());
                }
                if named(&files.read) {
                    add(&mut part.shows, files.locator.clone());
                }
            }
        }
        part.name = name;
        part
    }
}

fn add(locators: &mut Vec<Locator>, locator: Locator) {
    if !locators.contains(&locator) {
        locators.push(locator);
    }
}

/// Listed files: relative to the root, folded as existence is. With a slash before it a list may name a file as calls do, below
/// a mount point, which is cut off from their paths.
fn files<'a>(paths: impl Iterator<Item = &'a str>, mounts: &[Arc<str>]) -> Files {
    let mut files = Files::default();
    for path in paths {
        let below = mounts.iter().filter(|_| path.starts_with('/')).map(|mount| path::key(path, Some(mount)));
        for key in below.chain([path]) {
            let folded = path::fold(key);
            if !folded.is_empty() {
                files.keep(&folded, None);
            }
        }
    }
    files
}

impl Unit for ToolPolicies {
    fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.slots.get(tool).copied().unwrap_or(self.parts.len() - 1);
        self.parts.get(slot).map_or_else(Wakes::default, |part| part.wakes(slot))
    }

    fn wakes_by_name(&self) -> bool {
        self.parts.last().is_none_or(|other| {
            let wakes = other.wakes(0);
            !wakes.decide && !wakes.observe.any()
        })
    }

    fn subscriptions(&self) -> SessionEvents {
        SessionEvents { operations: true, ..SessionEvents::default() }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.parts.iter().filter_map(|part| part.name.clone()));
    }

    fn reads(&self, _session: &Session, out: &mut Vec<Read>) {
        for part in &self.parts {
            let asked = part.asks.iter().filter_map(|ask| match ask {
                Ask::Write { locator, .. } => Some(locator),
                Ask::Needs { .. } => None,
            });
            let read = part.reads.iter().map(|reads| &reads.locator);
            let locators = asked.chain(read).chain(&part.makes).chain(&part.shows);
            let Some(tool) = &part.name else { continue };
            for path in locators.flat_map(Locator::places) {
                out.push(Read::Argument { tool: Arc::clone(tool), path });
                out.push(Read::Files);
            }
        }
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        let asks = self.part(call.slot).map(|part| part.asks.as_slice()).unwrap_or_default();
        for ask in asks {
            match ask {
                Ask::Needs { tools, .. } => {
                    let help = |tool| Enabler { tool, arguments: None, output: None };
                    tools.iter().cloned().map(help).for_each(|help| out.call(help));
                }
                Ask::Write { read, locator, .. } => {
                    let Some(path) = locator.path(call.arguments) else { continue };
                    for tool in read.iter() {
                        // A reader may name its argument differently: as it did before, else as this call does.
                        let like =
                            call.earlier_of(tool).find(|earlier| locator.path(&earlier.arguments).is_some());
                        let place = locator.place(like.map_or(call.arguments, |earlier| &earlier.arguments));
                        let built = Path::parse(&place).ok().and_then(|place| place.built((*path).into()));
                        match built {
                            Some(_) => {
                                out.call(Enabler { tool: Arc::clone(tool), arguments: built, output: None })
                            }
                            None => out.unsure(),
                        }
                    }
                }
            }
        }
    }

    fn statements(&self, out: &mut Vec<Statement>) {
        for part in &self.parts {
            for ask in &part.asks {
                let (Some(tool), Ask::Needs { rule, tools }) = (&part.name, ask) else { continue };
                let Some(rule) = self.rules.get(*rule).copied() else { continue };
                out.extend(tools.iter().map(|needs| Statement {
                    rule,
                    when: Arc::default(),
                    says: Says::Needs {
                        tool: Arc::clone(tool),
                        any_of: [Arc::clone(needs)].into(),
                        directly: false,
                    },
                }));
            }
        }
    }

    fn probes(&self, out: &mut Vec<Probe>) {
        for part in &self.parts {
            let Some(tool) = &part.name else { continue };
            let written = part.asks.iter().filter_map(|ask| match ask {
                Ask::Write { rule, locator, .. } => Some((rule, locator)),
                Ask::Needs { .. } => None,
            });
            let read = part.reads.iter().map(|Reads { rule, locator }| (rule, locator));
            for (rule, locator) in written.chain(read) {
                let (Some(rule), Some(path)) = (self.rules.get(*rule).copied(), locator.places().next())
                else {
                    continue;
                };
                let locator = locator.clone();
                let look = Arc::new(move |arguments: &Body| {
                    let present = locator.path(arguments).is_some();
                    Look { present, passes: present }
                });
                let tool = Arc::clone(tool);
                out.push(Probe {
                    rule,
                    tool,
                    part: CallPart::Arguments,
                    path,
                    condition: None,
                    is_required: true,
                    look,
                });
            }
        }
    }

    fn start(self: Arc<Self>, facts: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(ToolPoliciesMonitor::new(self, facts))
    }

    fn resume(self: Arc<Self>, saved: &str) -> Option<Box<dyn Monitor>> {
        Some(Box::new(ToolPoliciesMonitor::resumed(self, saved)?))
    }

    fn reads_history(&self) -> bool {
        false
    }

    fn remembers(&self) -> bool {
        true
    }

    fn sees_tree(&self) -> bool {
        false
    }

    fn refusal_texts(&self, _out: &mut Vec<(Arc<str>, RuleId)>) {}

    fn conditions(&self, _out: &mut Vec<crate::monitor::Condition>) {}
}
