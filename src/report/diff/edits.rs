//! Changes of rules in words: the effect of an edit on a rule, with the lines of the edit, whether or not a recording
//! exercises it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::{self, Line};
use super::{DiffResult, View, idle};
use crate::compare::{Comparison, Kind, Passage, RuleAt, RuleChange, Side, Subject};
use crate::report::ci::Spot;
use crate::report::words;
use rulestep_engine::monitor::Rule;
use rulestep_engine::monitor::rule::RulePlace;

/// Lines of an edit that are shown.
const LINES: usize = 24;

/// A change of a rule, or of what the rules of a document rest on.
pub struct RuleEdit<'a> {
    /// The kind of change.
    pub kind: Kind,
    /// The rule, in the new version if that has it.
    pub rule: Option<(RuleAt, &'a Rule)>,
    /// The rule's name for people.
    pub name: String,
    /// `contracts/a.yaml:3`, of the new version if that has it.
    pub place: String,
    /// The same as a place to link to.
    pub spot: Spot,
    /// The lines of the edit.
    pub lines: Vec<Line>,
    /// Whether there are more.
    pub cut: bool,
    /// `weakened: effect, tools; edited: description`; `None` if the whole rule is new or removed.
    pub keys: Option<String>,
    /// What it matches, if no change is about it: `no call matches`.
    pub idle: Option<String>,
    change: &'a RuleChange,
}

/// `1 rule weakened, 2 rules added`; none where no rule changed.
pub fn summary(comparison: &Comparison) -> Option<String> {
    let kinds = Kind::ALL.into_iter().map(|kind| (kind, comparison.edited(kind)));
    let counted = kinds.filter(|(_, count)| *count > 0).map(|(kind, count)| entry::counted(kind, count));
    let counted: Vec<String> = counted.collect();
    (!counted.is_empty()).then(|| counted.join(", "))
}

/// All changes of rules, by kind.
pub fn all<'a>(whole: &DiffResult, view: &View<'a>) -> Vec<RuleEdit<'a>> {
    let idle: BTreeMap<RuleAt, String> =
        idle::all(whole, view).into_iter().map(|idle| (idle.altered.at, idle.why(view))).collect();
    let comparison = view.comparison;
    let edit = |change: &'a RuleChange| {
        let rule = change.rule().and_then(|at| Some((at, comparison.side(at.side)?.rules().get(at.rule)?)));
        let shown = change.passages.iter().find_map(|(old, new)| new.as_ref().or(old.as_ref()));
        let spot = shown.map_or_else(Spot::default, spot);
        let place = format!("{}:{}", words::line(&spot.file), spot.line);
        let name = match (&change.subject, rule) {
            (Subject::Document { key, .. }, _) => format!("{} of the document", words::line(key)),
            (Subject::Rule(_), Some((_, rule))) => words::rule_name(rule),
            (Subject::Rule(_), None) => String::new(),
        };
        let (lines, cut) = lines(change);
        let keys = keys(change);
        let idle = change.rule().and_then(|at| idle.get(&at).cloned());
        RuleEdit { kind: change.kind, rule, name, place, spot, lines, cut, keys, idle, change }
    };
    comparison.edits().iter().map(edit).collect()
}

/// The effect of each key of an edited rule by itself.
fn keys(change: &RuleChange) -> Option<String> {
    let kinds = [Kind::RuleWeakened, Kind::RuleEdited, Kind::RuleTightened].into_iter();
    let parts: Vec<String> = kinds
        .filter_map(|kind| {
            let keys = change.keys.iter().filter(|(_, own)| *own == kind);
            let keys: Vec<String> = keys.map(|(key, _)| words::line(key)).collect();
            (!keys.is_empty()).then(|| format!("{}: {}", entry::adjective(kind), keys.join(", ")))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn lines(change: &RuleChange) -> (Vec<Line>, bool) {
    let mut lines = Vec::new();
    for (old, new) in &change.passages {
        let of = |passage: &Option<Passage>| passage.as_ref().map(text).unwrap_or_default();
        let all = entry::compared(&of(old), &of(new));
        let edited: Vec<bool> = all.iter().map(|line| line.sign != ' ').collect();
        let near = |at: usize| {
            let from = at.saturating_sub(1);
            edited.iter().skip(from).take(at + 2 - from).any(|edited| *edited)
        };
        lines.extend(all.into_iter().enumerate().filter(|(at, _)| near(*at)).map(|(_, line)| line));
    }
    let cut = lines.len() > LINES;
    lines.truncate(LINES);
    (lines, cut)
}

/// The lines of a passage with their numbers.
fn text(passage: &Passage) -> Vec<(u32, String)> {
    let (source, span) = (&passage.source, passage.span);
    let first = source.position(span.start).line;
    let last = source.position(span.end.saturating_sub(1).max(span.start)).line;
    (first..=last).map(|number| (number, source.line(number).map(words::line).unwrap_or_default())).collect()
}

fn spot(passage: &Passage) -> Spot {
    let position = passage.source.position(passage.span.start);
    let file = passage.source.name().to_owned();
    Spot { file, line: position.line.into(), column: position.column.into() }
}

impl RuleEdit<'_> {
    /// `-tools: [a, b]`, a line of the edit each, as `diff` writes it.
    pub fn signed(&self) -> Vec<String> {
        let line = |line: &Line| format!("{}{}", line.sign, line.text).trim_end().to_owned();
        let cut = self.cut.then(|| "…".to_owned());
        self.lines.iter().map(line).chain(cut).collect()
    }
}

/// A change of a rule, as data.
#[derive(Serialize, Deserialize, PartialEq)]
pub struct RuleEditLine {
    kind: String,
    /// Null where it is about a key of a document.
    rule: Option<String>,
    name: String,
    /// Its place: in the new version if that has it.
    source: RulePlace,
    /// Whether it is in the base alone.
    base: bool,
    keys: BTreeMap<String, String>,
    lines: Vec<EditedLine>,
    cut: bool,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct EditedLine {
    sign: String,
    line: u32,
    text: String,
}

/// All changes of rules, as data.
pub fn data(whole: &DiffResult, view: &View<'_>) -> Vec<RuleEditLine> {
    let line = |edit: RuleEdit<'_>| {
        let passage = edit.change.passages.iter().find_map(|(old, new)| new.as_ref().or(old.as_ref()))?;
        let position = passage.source.position(passage.span.start);
        let lines = edit.lines.iter().map(|line| EditedLine {
            sign: line.sign.to_string(),
            line: line.number,
            text: line.text.clone(),
        });
        let keys = edit.change.keys.iter();
        Some(RuleEditLine {
            kind: edit.kind.word().to_owned(),
            rule: edit.rule.map(|(_, rule)| rule.id.to_string()),
            name: edit.name,
            source: RulePlace { file: passage.source.name().to_owned(), position },
            base: edit.rule.is_some_and(|(at, _)| at.side == Side::Base),
            keys: keys.map(|(key, kind)| (key.clone(), kind.word().to_owned())).collect(),
            lines: lines.collect(),
            cut: edit.cut,
        })
    };
    all(whole, view).into_iter().filter_map(line).collect()
}
