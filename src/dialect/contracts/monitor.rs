//! The running state of the contracts: what has been met, what is forbidden, how many turns are complete.
//!
//! Every question is answered from what was kept when a call was resolved; the past is never looked through again.

use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde_json::Value;

use super::unit::{Contracts, Group, Matching, Member, Need, Precondition, Resource};
use crate::condition::output::Tests;
use crate::diagnostic::code::{self, Code};
use crate::monitor::finding::{Prior, StateItem};
use crate::monitor::{
    Asked, Checked, Cx, Depth, Detail, Effect, Event, Found, Hidden, Monitor, Sink, Slot, Timers,
};
use crate::session::{Body, CallRef, Outcome, value};

/// How many earlier calls are kept as evidence for a value that did not match.
const RECENT: usize = 4;

#[derive(Clone)]
pub(super) struct ContractsMonitor {
    unit: Arc<Contracts>,
    hasher: DefaultHashBuilder,
    /// What is kept about each tool, by slot.
    tools: Vec<ToolState>,
    /// What the earlier calls of each group come to.
    standings: Vec<Standings>,
    /// Turns completed.
    completed: u64,
    /// Calls of this turn that ran and forbid something, in the order in which they were proposed.
    running: Vec<Running>,
    /// Calls with a good result that count from the next turn on.
    resolved: Vec<Resolved>,
    /// What the latest result passes: room that is used again.
    passed: Tests,
}

#[derive(Clone, Default)]
struct ToolState {
    /// What forbids it for the rest of the session, the earliest first, each rule once.
    bans: Vec<Ban>,
    /// What forbids it until the turn ends because of calls of this turn: of each rule the earliest.
    running: Vec<Ban>,
    /// Whether one of its calls counts.
    counts: bool,
    /// The newest of those, newest first: evidence, kept where findings are wanted.
    recent: Vec<Resolved>,
}

/// A tool is forbidden since a call, by a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ban {
    since: CallRef,
    rule: usize,
}

#[derive(Clone)]
struct Running {
    at: CallRef,
    slot: usize,
    failed: bool,
}

#[derive(Clone)]
struct Resolved {
    at: CallRef,
    slot: usize,
    arguments: Body,
    output: Body,
}

/// A call whose result counts from now on.
#[derive(Clone, Copy)]
struct News<'a> {
    call: &'a Resolved,
    /// What its result passes of the group's tests.
    passed: &'a Tests,
    /// Whether findings are wanted.
    telling: bool,
}

/// What the earlier calls of one group's tool come to.
#[derive(Clone, Default)]
struct Standings {
    /// For an unbound group: all calls together.
    all: Option<Standing>,
    /// For a bound one: by value. Shared between forks until one of them changes it.
    by_value: HashTable<Arc<(Value, Standing)>>,
    /// For each member, the values whose deciding call is good.
    good: Vec<usize>,
}

/// What the earlier calls with one value come to.
#[derive(Clone)]
struct Standing {
    newest: CallRef,
    /// Evidence, kept where findings are wanted.
    newest_output: Body,
    members: Box<[MemberStanding]>,
}

#[derive(Clone, Copy)]
struct MemberStanding {
    /// Whether the newest call meets the member's conditions.
    newest_good: bool,
    /// The newest call that does.
    good: Option<CallRef>,
}

/// What there is of earlier calls for a call with given arguments.
#[derive(Clone, Copy)]
enum Sought<'a> {
    NoPrior,
    NoValue,
    Unmatched,
    Standing(&'a Standing),
}

/// What a precondition comes to, and what people are told of it.
struct Outlook {
    code: Option<Code>,
    checked: Option<Checked>,
    found: Vec<Found>,
    detail: Detail,
}

/// The group that was looked up last in a decision: preconditions often ask about the same one.
type Last<'a> = Option<(usize, Sought<'a>)>;

impl ContractsMonitor {
    pub fn new(unit: Arc<Contracts>) -> ContractsMonitor {
        let standings = unit
            .groups
            .iter()
            .map(|group| Standings { good: vec![0; group.members.len()], ..Standings::default() });
        ContractsMonitor {
            hasher: DefaultHashBuilder::default(),
            tools: vec![ToolState::default(); unit.tools.len()],
            standings: standings.collect(),
            completed: 0,
            running: Vec::new(),
            resolved: Vec::new(),
            passed: Tests::default(),
            unit,
        }
    }

    /// What forbids a tool now, the earliest first: kept bans, then those of calls that run in this turn.
    fn bans(&self, slot: usize) -> impl Iterator<Item = Ban> {
        self.tools.get(slot).into_iter().flat_map(|tool| tool.bans.iter().chain(&tool.running).copied())
    }

    /// The preconditions of a tool's contract, each with the requirement it rests on.
    fn preconditions(&self, slot: usize) -> impl Iterator<Item = (&Precondition, Option<Need>)> {
        let part = self.unit.tools.get(slot);
        let contract = part.and_then(|part| self.unit.contracts.get(part.contract?));
        let needs = part.map(|part| part.needs.as_slice()).unwrap_or_default();
        let preconditions = contract.map(|contract| contract.preconditions.as_slice()).unwrap_or_default();
        preconditions.iter().zip(needs.iter().copied())
    }

    fn steps_hold(&self, precondition: &Precondition) -> bool {
        match &precondition.steps {
            Some(steps) => steps.fewest.is_some_and(|fewest| self.completed >= fewest),
            None => true,
        }
    }

    fn group(&self, number: usize) -> Option<(&Group, &Standings)> {
        Some((self.unit.groups.get(number)?, self.standings.get(number)?))
    }

    /// Whether some call of the group's tool counts.
    fn counts(&self, group: &Group) -> bool {
        self.tools.get(group.tool).is_some_and(|tool| tool.counts)
    }

    fn recent(&self, group: &Group) -> &[Resolved] {
        self.tools.get(group.tool).map(|tool| tool.recent.as_slice()).unwrap_or_default()
    }

    /// What there is for these arguments in a group.
    fn seek(&self, number: usize, arguments: &Body) -> Sought<'_> {
        let Some((group, standings)) = self.group(number) else { return Sought::NoPrior };
        if !self.counts(group) {
            return Sought::NoPrior;
        }
        let standing = match &group.resource {
            None => standings.all.as_ref(),
            Some(resource) => match arguments.parsed().and_then(|arguments| resource.here.one(arguments)) {
                None => return Sought::NoValue,
                Some(bound) => standings.get(bound, &self.hasher),
            },
        };
        standing.map_or(Sought::Unmatched, Sought::Standing)
    }

    /// The first code of a precondition that a call with these arguments does not meet.
    fn unmet<'a>(
        &'a self,
        precondition: &Precondition,
        need: Option<Need>,
        arguments: &Body,
        last: &mut Last<'a>,
    ) -> Option<Code> {
        if !self.steps_hold(precondition) {
            return Some(code::STEP_COUNT_BELOW);
        }
        let need = need?;
        let sought = match last {
            Some((group, sought)) if *group == need.group => *sought,
            _ => self.seek(need.group, arguments),
        };
        *last = Some((need.group, sought));
        self.unmet_by(sought, need)
    }

    fn unmet_by(&self, sought: Sought<'_>, need: Need) -> Option<Code> {
        match sought {
            Sought::NoPrior => Some(code::PRIOR_TOOL_MISSING),
            Sought::NoValue => Some(code::RESOURCE_MISSING),
            Sought::Unmatched => Some(code::RESOURCE_UNMATCHED),
            Sought::Standing(standing) => {
                let matching = self.unit.groups.get(need.group)?.members.get(need.member)?.matching;
                let decides =
                    standing.members.get(need.member).is_some_and(|member| member.decides(matching));
                (!decides).then_some(code::PRIOR_OUTPUT_UNMATCHED)
            }
        }
    }

    /// The first code of a precondition that no call at all could meet now.
    fn unmeetable(&self, precondition: &Precondition, need: Option<Need>) -> Option<Code> {
        if !self.steps_hold(precondition) {
            return Some(code::STEP_COUNT_BELOW);
        }
        let need = need?;
        let (group, standings) = self.group(need.group)?;
        if group.resource.is_none() || !self.counts(group) {
            return self.unmet_by(self.seek(need.group, &Body::MISSING), need);
        }
        if standings.by_value.is_empty() {
            return Some(code::RESOURCE_UNMATCHED);
        }
        let good = standings.good.get(need.member).is_some_and(|good| *good > 0);
        (!good).then_some(code::PRIOR_OUTPUT_UNMATCHED)
    }

    /// Everything about a precondition and a call.
    fn explain(&self, precondition: &Precondition, need: Option<Need>, arguments: &Body) -> Outlook {
        let explained = need.and_then(|need| {
            let (group, _) = self.group(need.group)?;
            Some((need, group, group.members.get(need.member)?))
        });
        match explained {
            Some((need, group, member)) if self.steps_hold(precondition) => {
                self.explain_prior(need, group, member, arguments)
            }
            _ => Outlook {
                code: (!self.steps_hold(precondition)).then_some(code::STEP_COUNT_BELOW),
                checked: None,
                found: Vec::new(),
                detail: self.steps(precondition),
            },
        }
    }

    fn steps(&self, precondition: &Precondition) -> Detail {
        match &precondition.steps {
            Some(steps) => Detail::Steps { completed: self.completed, wanted: steps.bound.clone() },
            None => Detail::None,
        }
    }

    fn explain_prior(&self, need: Need, group: &Group, member: &Member, arguments: &Body) -> Outlook {
        let mut prior = self.facts(group, member);
        let checked = group.resource.as_ref().map(|resource| {
            let value = arguments.parsed().and_then(|arguments| resource.here.one(arguments)).cloned();
            Checked { path: Arc::clone(resource.here.text()), value }
        });
        let sought = self.seek(need.group, arguments);
        let code = self.unmet_by(sought, need);
        let found = match sought {
            Sought::NoPrior => Vec::new(),
            Sought::NoValue | Sought::Unmatched => {
                self.recent(group).iter().map(|call| call.found(group.resource.as_ref())).collect()
            }
            Sought::Standing(standing) => {
                let own = standing.members.get(need.member);
                prior.other_reading = own.is_some_and(|own| own.newest_good != own.good.is_some());
                let good = own.and_then(|own| own.good).filter(|_| member.matching == Matching::Any);
                let call = good.unwrap_or(standing.newest);
                if call == standing.newest {
                    prior.outputs = member.outputs.explain(&standing.newest_output);
                }
                if code.is_some() {
                    prior.hint = member.outputs.unwrapped(&standing.newest_output);
                }
                vec![Found { call, value: checked.as_ref().and_then(|checked| checked.value.clone()) }]
            }
        };
        Outlook { code, checked, found, detail: Detail::Prior(Box::new(prior)) }
    }

    fn facts(&self, group: &Group, member: &Member) -> Prior {
        Prior {
            tool: self.unit.tools.get(group.tool).map(|part| Arc::clone(&part.name)).unwrap_or_default(),
            matching: member.matching.word(),
            other_reading: false,
            outputs: Vec::new(),
            hint: None,
        }
    }

    /// A few calls that meet a requirement for some argument, the newest first.
    fn good_calls(&self, need: Need, group: &Group, member: &Member) -> Vec<CallRef> {
        let Some(standings) = self.standings.get(need.group) else { return Vec::new() };
        let call = |standing: &Standing| {
            let own = standing.members.get(need.member)?;
            match member.matching {
                Matching::Any => own.good,
                Matching::Newest => own.newest_good.then_some(standing.newest),
            }
        };
        let Some(resource) = &group.resource else { return standings.all.iter().filter_map(call).collect() };
        let values = self
            .recent(group)
            .iter()
            .filter_map(|recent| resource.of_prior(&recent.arguments, &recent.output));
        let mut calls: Vec<CallRef> =
            values.filter_map(|value| standings.get(value, &self.hasher)).filter_map(call).collect();
        calls.dedup();
        calls
    }

    /// Calls whose results count from now on.
    fn commit(&mut self, telling: bool) {
        if self.resolved.is_empty() {
            return;
        }
        let mut resolved = std::mem::take(&mut self.resolved);
        if resolved.len() > 1 {
            resolved.sort_by_key(|call| call.at);
        }
        for call in resolved.drain(..) {
            let Some(part) = self.unit.tools.get(call.slot) else { continue };
            for number in &part.meets {
                if let (Some(group), Some(standings)) =
                    (self.unit.groups.get(*number), self.standings.get_mut(*number))
                {
                    group.table.read(&call.output, &mut self.passed);
                    let news = News { call: &call, passed: &self.passed, telling };
                    standings.add(group, news, &self.hasher);
                }
            }
            let Some(tool) = self.tools.get_mut(call.slot) else { continue };
            tool.counts = true;
            if telling {
                let place = tool.recent.partition_point(|recent| recent.at > call.at);
                tool.recent.insert(place, call);
                tool.recent.truncate(RECENT);
            }
        }
        // Keep the room for the next turn.
        self.resolved = resolved;
    }

    /// A call runs: its later siblings are bound by what it forbids.
    fn run(&mut self, at: CallRef, slot: usize) {
        let Some(part) = self.unit.tools.get(slot).filter(|part| !part.forbids.is_empty()) else { return };
        self.running.push(Running { at, slot, failed: false });
        for (target, rule) in &part.forbids {
            if let Some(tool) = self.tools.get_mut(*target)
                && tool.running.iter().all(|ban| ban.rule != *rule)
            {
                tool.running.push(Ban { since: at, rule: *rule });
            }
        }
    }

    /// The calls of the turn keep what they forbid, unless they failed.
    fn keep_bans(&mut self) {
        for running in std::mem::take(&mut self.running) {
            let Some(part) = self.unit.tools.get(running.slot) else { continue };
            for (target, rule) in &part.forbids {
                let Some(tool) = self.tools.get_mut(*target) else { continue };
                tool.running.clear();
                // Later calls of the same rule change nothing: the first ban lasts for ever.
                if !running.failed && tool.bans.iter().all(|ban| ban.rule != *rule) {
                    let ban = Ban { since: running.at, rule: *rule };
                    let place = tool.bans.partition_point(|kept| *kept < ban);
                    tool.bans.insert(place, ban);
                }
            }
        }
    }
}

impl Monitor for ContractsMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn narrow(&self, _tool: &str, slot: Slot, _cx: &Cx<'_>, out: &mut Hidden<'_>) {
        let slot = slot.0 as usize;
        if let Some(ban) = self.bans(slot).next() {
            out.hide(ban.rule, code::FORBIDDEN);
        }
        for (precondition, need) in self.preconditions(slot) {
            if let Some(code) = self.unmeetable(precondition, need) {
                out.hide(precondition.rule, code);
            }
        }
    }

    fn decide(&self, call: Asked<'_>, _cx: &Cx<'_>, out: &mut Sink<'_>) {
        let slot = call.slot.0 as usize;
        // The first finding denies, the others are true as well.
        let mut effect = Effect::Deny;
        if let Some(first) = self.bans(slot).next() {
            out.find(first.rule, effect, code::FORBIDDEN, |finding| {
                finding.found = self.bans(slot).map(|ban| Found { call: ban.since, value: None }).collect();
                finding.found.dedup();
            });
            effect = Effect::Also;
        }
        let mut last = None;
        for (precondition, need) in self.preconditions(slot) {
            let unmet = self.unmet(precondition, need, call.arguments, &mut last);
            if let Some(code) = unmet {
                if out.depth() == Depth::Verdict {
                    out.find(precondition.rule, effect, code, |_| {});
                    return;
                }
                out.find(precondition.rule, effect, code, |finding| {
                    let outlook = self.explain(precondition, need, call.arguments);
                    (finding.checked, finding.found, finding.detail) =
                        (outlook.checked, outlook.found, outlook.detail);
                });
                effect = Effect::Also;
            }
            out.check(precondition.rule, unmet.is_none(), |check| {
                let outlook = self.explain(precondition, need, call.arguments);
                check.code = outlook.code;
                (check.checked, check.found, check.detail) = (outlook.checked, outlook.found, outlook.detail);
            });
        }
    }

    fn observe(&mut self, event: &Event<'_>, cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        match *event {
            Event::Started(call) => self.run(call.at, call.slot.0 as usize),
            Event::Resolved { call, outcome, output } => {
                if matches!(outcome, Outcome::Error | Outcome::Refused)
                    && let Ok(place) = self.running.binary_search_by_key(&call.at, |running| running.at)
                    && let Some(running) = self.running.get_mut(place)
                {
                    running.failed = true;
                }
                let slot = call.slot.0 as usize;
                if outcome == Outcome::Ok
                    && self.unit.tools.get(slot).is_some_and(|part| !part.meets.is_empty())
                {
                    let (arguments, output) = (call.arguments.clone(), output.clone());
                    self.resolved.push(Resolved { at: call.at, slot, arguments, output });
                }
            }
            Event::TurnStart => self.commit(cx.telling),
            Event::TurnEnd { proposed, started } => {
                self.commit(cx.telling);
                self.keep_bans();
                if proposed == 0 || started > 0 {
                    self.completed += 1;
                }
            }
            Event::Stopped(_) | Event::Message(_) | Event::Operation(_) | Event::Due(_) => {}
        }
    }

    fn state(&self, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        for (part, tool) in self.unit.tools.iter().zip(&self.tools) {
            let ban = tool.bans.first().and_then(|ban| Some((ban.since, *self.unit.rules.get(ban.rule)?)));
            if let Some((since, rule)) = ban {
                out.push(StateItem::Forbidden { tool: Arc::clone(&part.name), since, rule });
            }
        }
        for contract in &self.unit.contracts {
            let slot = self.unit.slot_of(&contract.tool);
            for (precondition, need) in slot.into_iter().flat_map(|slot| self.preconditions(slot)) {
                let Some(rule) = self.unit.rules.get(precondition.rule) else { continue };
                let code = self.unmeetable(precondition, need);
                let asked = need.and_then(|need| {
                    let group = self.unit.groups.get(need.group)?;
                    Some((need, group, group.members.get(need.member)?))
                });
                let (by, detail) = match asked {
                    Some((need, group, member)) if code != Some(code::STEP_COUNT_BELOW) => {
                        let prior = self.facts(group, member);
                        (self.good_calls(need, group, member), Detail::Prior(Box::new(prior)))
                    }
                    _ => (Vec::new(), self.steps(precondition)),
                };
                out.push(StateItem::Precondition {
                    rule: *rule,
                    tool: Arc::clone(&contract.tool),
                    satisfied: code.is_none(),
                    code,
                    by,
                    detail,
                });
            }
        }
    }
}

impl Resolved {
    fn found(&self, resource: Option<&Resource>) -> Found {
        let value = resource.and_then(|resource| resource.of_prior(&self.arguments, &self.output)).cloned();
        Found { call: self.at, value }
    }
}

impl Standings {
    fn add(&mut self, group: &Group, news: News<'_>, hasher: &DefaultHashBuilder) {
        let Some(resource) = &group.resource else {
            match &mut self.all {
                Some(standing) => standing.add(group, news, &mut self.good),
                none => *none = Some(Standing::new(group, news, &mut self.good)),
            }
            return;
        };
        // A prior call without exactly one value never matches.
        let Some(bound) = resource.of_prior(&news.call.arguments, &news.call.output) else { return };
        let hash = value::hash(bound, hasher);
        match self.by_value.find_mut(hash, |entry| value::equal(&entry.0, bound)) {
            Some(entry) => Arc::make_mut(entry).1.add(group, news, &mut self.good),
            None => {
                let entry = Arc::new((bound.clone(), Standing::new(group, news, &mut self.good)));
                self.by_value.insert_unique(hash, entry, |entry| value::hash(&entry.0, hasher));
            }
        }
    }

    fn get(&self, bound: &Value, hasher: &DefaultHashBuilder) -> Option<&Standing> {
        let hash = value::hash(bound, hasher);
        self.by_value.find(hash, |entry| value::equal(&entry.0, bound)).map(|entry| &entry.1)
    }
}

impl Standing {
    /// The first call with a value. `good` counts, for each member, the values whose deciding call is good.
    fn new(group: &Group, news: News<'_>, good: &mut [usize]) -> Standing {
        let members =
            group.members.iter().map(|_| MemberStanding { newest_good: false, good: None }).collect();
        let mut standing = Standing { newest: news.call.at, newest_output: Body::MISSING, members };
        standing.add(group, news, good);
        standing
    }

    fn add(&mut self, group: &Group, news: News<'_>, good: &mut [usize]) {
        let at = news.call.at;
        let newer = at >= self.newest;
        if newer {
            self.newest = at;
        }
        if newer && news.telling {
            self.newest_output = news.call.output.clone();
        }
        let members = group.members.iter().zip(&mut self.members).zip(good);
        for (place, ((member, own), good)) in members.enumerate() {
            let before = own.decides(member.matching);
            let holds = group.table.hold(place, news.passed);
            if newer {
                own.newest_good = holds;
            }
            if holds {
                own.good = own.good.max(Some(at));
            }
            *good = *good + usize::from(own.decides(member.matching)) - usize::from(before);
        }
    }
}

impl MemberStanding {
    fn decides(self, matching: Matching) -> bool {
        match matching {
            Matching::Newest => self.newest_good,
            Matching::Any => self.good.is_some(),
        }
    }
}
