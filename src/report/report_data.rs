//! Everything that a document about judged sessions holds: gathered session by session, of bounded size, and in no markup
//! yet. Each list says how much more there is than it shows.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::account::Account;
use super::text::blocks::{Block, blocks};
use super::words::ByTool;
use super::{diagnostic, words};
use crate::explore::coverage::Coverage;
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Call;
use rulestep_base::wording::clean::{self, Marks};
use rulestep_engine::monitor::{Effect, RuleId};
use rulestep_engine::replay::{DecidedCall, NotTaken, Replay};
use rulestep_engine::run::{Mode, Verdict};

/// Findings that are described for each rule.
const PER_RULE: usize = 10;
/// Places of equal findings that are listed with the first of them.
const PLACES: usize = 10;
/// Sessions with findings that are listed, and as many without.
const SESSIONS: usize = 500;
/// Columns of what a listed session is about.
const TITLE: usize = 80;
/// Diagnostics about recordings that are listed.
const DIAGNOSTICS: usize = 100;

/// What a document says of sessions.
#[derive(Default)]
pub struct ReportData {
    /// What the rules found, by the rule that decides; `None` holds calls that the policy allows and the recording refused.
    groups: BTreeMap<Option<RuleId>, Group>,
    /// What the sessions say of every rule.
    pub coverage: Coverage,
    /// The sessions with findings.
    pub objected: Listed<SessionRow>,
    /// The other sessions.
    pub clean: Listed<SessionRow>,
    /// Errors about recordings, drawn. Warnings are apart, so that however many there are leave no error out.
    pub errors: Listed<String>,
    /// Warnings about recordings, drawn.
    pub warnings: Listed<String>,
}

/// Some of many.
pub struct Listed<T> {
    /// Those that are listed.
    pub shown: Vec<T>,
    /// How many more there are.
    pub more: u64,
}

/// What one rule found.
#[derive(Default)]
pub struct Group {
    /// Calls that it stopped, those of choices that were not taken included.
    pub stopped: u64,
    /// Those of them that come after a call whose decision differs from the recording.
    pub counterfactual: u64,
    /// Calls that it only reports.
    pub reported: u64,
    /// Sessions that violate it.
    pub violated: u64,
    /// Calls that the policy allows although they were refused when they were recorded.
    pub refused: u64,
    /// Sessions in which any of this happened.
    pub sessions: u64,
    /// The first of them, described.
    pub entries: Vec<Entry>,
}

/// A finding that is described, with its like in the same session.
pub struct Entry {
    /// The finding.
    pub account: Account,
    /// Other calls of the session of which the same would be said.
    pub like: Listed<String>,
}

/// A session in a list.
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The file it was read from.
    pub file: String,
    /// Its calls.
    pub calls: u64,
    /// Those that were stopped.
    pub stopped: u64,
    /// Rules about the session that it violates.
    pub violated: u64,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { shown: Vec::new(), more: 0 }
    }
}

impl<T> Listed<T> {
    fn add(&mut self, items: impl IntoIterator<Item = T>, most: usize) {
        for item in items {
            if self.shown.len() < most { self.shown.push(item) } else { self.more += 1 }
        }
    }

    fn merge(&mut self, later: Self, most: usize) {
        self.add(later.shown, most);
        self.more += later.more;
    }

    /// All of them.
    pub fn count(&self) -> u64 {
        self.shown.len() as u64 + self.more
    }
}

impl Group {
    /// All findings.
    pub fn count(&self) -> u64 {
        self.stopped + self.reported + self.violated + self.refused
    }

    /// Those that are neither described nor listed by their place.
    pub fn rest(&self) -> u64 {
        let shown = self.entries.iter().map(|entry| 1 + entry.like.count());
        self.count().saturating_sub(shown.sum())
    }

    /// `3 calls stopped and 1 session violates it, in 4 sessions`.
    pub fn did(&self, mode: Mode) -> String {
        let calls =
            |count: u64, did: &str| (count > 0).then(|| format!("{} {did}", words::count(count, "call")));
        let violated = match self.violated {
            0 => None,
            1 => Some("1 session violates it".to_owned()),
            many => Some(format!("{} violate it", words::count(many, "session"))),
        };
        let parts = [
            calls(self.stopped, words::stopped(mode)),
            calls(self.reported, "reported"),
            calls(self.refused, "allowed"),
            violated,
        ];
        let parts = words::list(parts.into_iter().flatten());
        match self.sessions {
            0 | 1 => parts,
            many if self.stopped + self.reported + self.refused > 0 => {
                format!("{parts}, in {}", words::count(many, "session"))
            }
            _ => parts,
        }
    }

    fn enter(&mut self, entry: impl FnOnce() -> Option<Entry>) {
        if self.entries.len() < PER_RULE {
            self.entries.extend(entry());
        }
    }
}

impl ReportData {
    /// Of one session.
    #[must_use]
    pub fn of(replay: &Replay) -> ReportData {
        let session = replay.session();
        let mut groups: BTreeMap<Option<RuleId>, Group> = BTreeMap::new();
        calls(replay, &mut groups);
        for other in replay.alternatives(None) {
            let Some(rule) = subject(other.judged).flatten() else { continue };
            let group = groups.entry(Some(rule)).or_default();
            group.add(other.judged);
            group.enter(|| not_taken(replay, &other));
        }
        for state in replay.rules().iter().filter(|state| state.is_violated()) {
            let group = groups.entry(Some(state.rule)).or_default();
            group.violated += 1;
            group
                .enter(|| Some(Entry { account: Account::of_rule(replay, state)?, like: Listed::default() }));
        }
        groups.values_mut().for_each(|group| group.sessions = 1);
        let summary = replay.summary();
        let row = SessionRow {
            id: words::name(&session.id).into_owned(),
            title: session.title.as_deref().map(about).unwrap_or_default(),
            file: words::line(&session.origin.file),
            calls: summary.calls,
            stopped: summary.deny + summary.halt + summary.alternatives_stopped,
            violated: groups.values().map(|group| group.violated).sum(),
        };
        let mut data = ReportData {
            groups,
            coverage: Coverage::of(&Replay::with_checks(session, replay.policy(), replay.mode())),
            ..ReportData::default()
        };
        if replay.objects() { &mut data.objected } else { &mut data.clean }.add([row], SESSIONS);
        data
    }

    /// Adds the data of later sessions.
    pub fn merge(&mut self, later: ReportData) {
        for (rule, more) in later.groups {
            let group = self.groups.entry(rule).or_default();
            group.stopped += more.stopped;
            group.counterfactual += more.counterfactual;
            group.reported += more.reported;
            group.violated += more.violated;
            group.refused += more.refused;
            group.sessions += more.sessions;
            more.entries.into_iter().for_each(|entry| group.enter(|| Some(entry)));
        }
        self.coverage.merge(&later.coverage);
        self.objected.merge(later.objected, SESSIONS);
        self.clean.merge(later.clean, SESSIONS);
        self.errors.merge(later.errors, DIAGNOSTICS);
        self.warnings.merge(later.warnings, DIAGNOSTICS);
    }

    /// Takes in what is wrong with a recording, or with the policy.
    pub fn note(&mut self, diagnostics: &[Diagnostic]) {
        let of = |severity| diagnostics.iter().filter(move |diagnostic| diagnostic.severity == severity);
        self.errors.add(of(Severity::Error).map(drawn), DIAGNOSTICS);
        self.warnings.add(of(Severity::Warning).map(drawn), DIAGNOSTICS);
    }

    /// The groups: those that stopped the most calls first, so that a document begins with a stopped call where there is one;
    /// what is counterfactual is weaker evidence.
    #[must_use]
    pub fn groups(&self) -> Vec<(Option<RuleId>, &Group)> {
        let mut groups: Vec<_> = self.groups.iter().map(|(rule, group)| (*rule, group)).collect();
        groups.sort_by_key(|(rule, group)| {
            let certain = group.stopped - group.counterfactual;
            let rest = [group.violated, group.stopped, group.reported].map(Reverse);
            (rule.is_none(), Reverse(certain), rest, *rule)
        });
        groups
    }
}

impl Group {
    fn add(&mut self, decided: &DecidedCall) {
        let stops = decided.decision.verdict.stops();
        self.counterfactual += u64::from(stops && decided.counterfactual);
        *match decided.decision.verdict {
            Verdict::Deny | Verdict::Halt => &mut self.stopped,
            _ if decided.decision.findings.is_empty() => &mut self.refused,
            _ => &mut self.reported,
        } += 1;
    }
}

/// By which rule a call is in a document: the one that decides, or that reports it; `Some(None)` for a call that no rule
/// speaks against and that was refused when it was recorded.
fn subject(decided: &DecidedCall) -> Option<Option<RuleId>> {
    let findings = &decided.decision.findings;
    match decided.decision.verdict {
        Verdict::NotReached => None,
        Verdict::Ask | Verdict::Deny | Verdict::Halt => {
            Some(decided.decision.deciding().map(|finding| finding.rule))
        }
        Verdict::Allow => match findings.iter().find(|finding| finding.effect == Effect::Report) {
            Some(finding) => Some(Some(finding.rule)),
            None => (!decided.agrees).then_some(None),
        },
    }
}

/// The calls that are in a document, those of which the same is to be said together.
fn calls(replay: &Replay, groups: &mut BTreeMap<Option<RuleId>, Group>) {
    let session = replay.session();
    let by_tool = ByTool::of(session);
    let calls = replay.made();
    let mut told = Vec::new();
    for (call, decided) in calls {
        if let Some(rule) = subject(decided) {
            groups.entry(rule).or_default().add(decided);
            told.push((call, decided));
        }
    }
    for block in blocks(replay, told.into_iter()) {
        let (call, decided) = block.first;
        let Some(group) = subject(decided).and_then(|rule| groups.get_mut(&rule)) else { continue };
        group.enter(|| {
            let account = Account::of_call(replay, &by_tool, call, decided);
            Some(Entry { account, like: like(&block, replay) })
        });
    }
}

fn drawn(diagnostic: &Diagnostic) -> String {
    diagnostic::text(diagnostic, diagnostic::Style::default())
}

/// What a session is about, where many are listed.
fn about(title: &str) -> String {
    clean::fit(title, TITLE, Marks::Unicode).text()
}

fn like(block: &Block<'_>, replay: &Replay) -> Listed<String> {
    let mut listed = Listed::default();
    let place =
        |call: &&Call| format!("{}: {}", words::at(call.at, replay.session()), words::call::call(call));
    listed.add(block.others.iter().take(PLACES).map(place), PLACES);
    listed.more = block.others.len().saturating_sub(PLACES) as u64;
    listed
}

fn not_taken(replay: &Replay, other: &NotTaken<'_>) -> Option<Entry> {
    Some(Entry { account: Account::of_choice(replay, other)?, like: Listed::default() })
}
