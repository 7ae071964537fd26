//! The documents of two versions as text: the differences, in hunks, and the rules that each hunk touches.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::changes::Pair;
use crate::compare::{Comparison, RuleAt, Side};
use crate::workbench::list::List;
use rulestep_base::source::{Source, Span};
use rulestep_engine::policy::Policy;

/// Lines around a hunk that are the same in both versions.
const AROUND: usize = 3;
/// Longest line whose words are compared, in bytes: handwritten lines are shorter.
const LONGEST: usize = 4096;

/// The differences between the texts of two versions. Computed once, in the background.
#[derive(Default)]
pub struct Texts {
    /// The differences, by file and line.
    pub hunks: Vec<Hunk>,
    /// The last line's number.
    pub last: u32,
    /// With both versions on one row.
    beside: Vec<TextRow>,
    /// With a row for each line that only one version has.
    below: Vec<TextRow>,
}

/// The texts being read.
pub struct TextsView {
    /// The differences.
    pub texts: Arc<Texts>,
    /// The cursor.
    pub list: List,
}

/// Lines of a file that differ, and those around them.
pub struct Hunk {
    /// The file in the new version, else in the base.
    pub file: Arc<str>,
    /// The first line in that file which differs, from 1.
    pub line: u32,
    /// The new version has the file.
    pub is_new: bool,
    /// The rules that the lines touch, as either version numbers them.
    pub(super) rules: HashSet<RuleAt>,
}

/// A row of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextRow {
    /// A hunk begins.
    Hunk(usize),
    /// Lines of both, or of one.
    Lines {
        /// The line of the base.
        base: Option<TextLine>,
        /// The line of the new version.
        new: Option<TextLine>,
    },
}

/// A line of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its text in parts; for a line that differs, whether the part does.
    pub parts: Vec<(bool, String)>,
    /// Whether the other version has another line here, or none.
    pub differs: bool,
}

impl Texts {
    /// For two versions; empty if the base has no text.
    pub fn of(comparison: &Comparison) -> Self {
        let mut texts = Self::default();
        let sides = [Side::Base, Side::New].map(|side| comparison.side(side).map(|policy| sources(policy)));
        let [Some(base), Some(new)] = sides else { return texts };
        let names: BTreeSet<_> = base.keys().chain(new.keys()).collect();
        for name in names {
            texts.file(comparison, base.get(name).copied(), new.get(name).copied());
        }
        let numbers = |row: &TextRow| match row {
            TextRow::Hunk(_) => None,
            TextRow::Lines { base, new } => [base, new].into_iter().flatten().map(|line| line.number).max(),
        };
        texts.last = texts.beside.iter().filter_map(numbers).max().unwrap_or(0);
        texts
    }

    /// The rows, with both versions side by side or one below the other.
    pub fn rows(&self, beside: bool) -> &[TextRow] {
        if beside { &self.beside } else { &self.below }
    }

    /// The row at which a hunk begins.
    pub fn row_of(&self, hunk: usize, beside: bool) -> Option<usize> {
        self.rows(beside).iter().position(|row| row.hunk() == Some(hunk))
    }

    /// The first hunk that touches a rule.
    pub fn hunk_of(&self, rule: RuleAt) -> Option<usize> {
        self.hunks.iter().position(|hunk| hunk.rules.contains(&rule))
    }

    fn file(&mut self, comparison: &Comparison, base: Option<&Source>, new: Option<&Source>) {
        let lines = |source: Option<&Source>| -> Vec<String> {
            let all =
                source.into_iter().flat_map(|source| (1..=source.line_count()).map(|at| source.line(at)));
            all.flatten().map(|line| line.trim_end_matches(['\r', '\n']).to_owned()).collect()
        };
        let (olds, news) = (lines(base), lines(new));
        let Some(source) = new.or(base) else { return };
        for operations in group_diff_ops(capture_diff_slices(Algorithm::Patience, &olds, &news), AROUND) {
            let differing = || operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
            let Some(first) = differing().next() else { continue };
            let line = if new.is_some() { first.new_range().start } else { first.old_range().start };
            let touched = |side: Side, range: fn(&DiffOp) -> Range<usize>| {
                let source = if side == Side::Base { base } else { new };
                let ranges: Vec<_> = differing().map(range).filter(|range| !range.is_empty()).collect();
                let (Some(source), Some(policy)) = (source, comparison.side(side)) else { return Vec::new() };
                touched(policy, side, source, &ranges, comparison)
            };
            let mut rules = touched(Side::Base, DiffOp::old_range);
            rules.extend(touched(Side::New, DiffOp::new_range));
            let both = rules.into_iter().flat_map(|rule| both(Pair::of(comparison, rule)));
            let hunk = self.hunks.len();
            self.hunks.push(Hunk {
                file: source.name().into(),
                line: number(line),
                is_new: new.is_some(),
                rules: both.collect(),
            });
            self.beside.push(TextRow::Hunk(hunk));
            self.below.push(TextRow::Hunk(hunk));
            for operation in &operations {
                self.operation(operation, &olds, &news);
            }
        }
    }

    fn operation(&mut self, operation: &DiffOp, olds: &[String], news: &[String]) {
        let differs = operation.tag() != DiffTag::Equal;
        let line = |lines: &[String], at: usize| {
            let text = lines.get(at).cloned().unwrap_or_default();
            TextLine { number: number(at), parts: vec![(false, text)], differs }
        };
        let mut base: Vec<TextLine> = operation.old_range().map(|at| line(olds, at)).collect();
        let mut new: Vec<TextLine> = operation.new_range().map(|at| line(news, at)).collect();
        if differs {
            for (base, new) in base.iter_mut().zip(&mut new) {
                emphasise(base, new);
            }
        }
        let rows = base.len().max(new.len());
        let pairs = (0..rows).map(|at| (base.get(at).cloned(), new.get(at).cloned()));
        self.beside.extend(pairs.clone().map(|(base, new)| TextRow::Lines { base, new }));
        if differs {
            let (olds, news) = (base.into_iter(), new.into_iter());
            self.below.extend(olds.map(|line| TextRow::Lines { base: Some(line), new: None }));
            self.below.extend(news.map(|line| TextRow::Lines { base: None, new: Some(line) }));
        } else {
            self.below.extend(pairs.map(|(base, new)| TextRow::Lines { base, new }));
        }
    }
}

impl TextsView {
    /// At their beginning.
    pub fn new(texts: Arc<Texts>) -> Self {
        Self { texts, list: List::default() }
    }

    /// The rows, with both versions side by side or one below the other.
    pub fn rows(&self, beside: bool) -> &[TextRow] {
        self.texts.rows(beside)
    }

    /// The hunk that the cursor is in.
    pub fn hunk(&self, beside: bool) -> Option<usize> {
        let rows = self.rows(beside).iter().take(self.list.cursor + 1).rev();
        rows.filter_map(TextRow::hunk).next()
    }

    /// File and line under the cursor in the new version, for an editor; for a removed line, its former position.
    pub fn place(&self, beside: bool) -> Option<(Arc<str>, u32)> {
        let hunk = self.texts.hunks.get(self.hunk(beside)?).filter(|hunk| hunk.is_new)?;
        let line = match self.rows(beside).get(self.list.cursor)? {
            TextRow::Lines { new: Some(line), .. } => line.number,
            _ => hunk.line,
        };
        Some((Arc::clone(&hunk.file), line))
    }

    /// The text of a row.
    pub fn text(&self, at: usize, beside: bool) -> Option<String> {
        let text = |line: &TextLine| line.parts.iter().map(|(_, part)| part.as_str()).collect();
        match self.rows(beside).get(at)? {
            TextRow::Hunk(hunk) => {
                self.texts.hunks.get(*hunk).map(|hunk| format!("{}:{}", hunk.file, hunk.line))
            }
            TextRow::Lines { base, new } => new.as_ref().or(base.as_ref()).map(text),
        }
    }
}

impl TextRow {
    fn hunk(&self) -> Option<usize> {
        match self {
            Self::Hunk(hunk) => Some(*hunk),
            Self::Lines { .. } => None,
        }
    }
}

/// The lines a span covers, from 1, the last one included.
pub fn lines_of(source: &Source, span: Span) -> (u32, u32) {
    let first = source.position(span.start).line;
    let text = source.slice(span).trim_end();
    let last = source.position(span.start + text.len().saturating_sub(1)).line;
    (first, last.max(first))
}

/// The files of a version by their path in it; files from several folders with one path are kept apart.
fn sources(policy: &Policy) -> BTreeMap<(&str, usize), &Source> {
    let mut sources: BTreeMap<(&str, usize), &Source> = BTreeMap::new();
    for document in policy.documents() {
        let path = &*document.relative;
        let known = |source: &&Source| source.name() == document.source.name();
        let same = || sources.range((path, 0)..=(path, usize::MAX)).map(|(_, source)| *source);
        if !same().any(|source| known(&source)) {
            let count = same().count();
            sources.insert((path, count), &document.source);
        }
    }
    sources
}

/// The rules whose lines are among these. For lines outside rules, such as a tool's name, those rules of the document
/// that differ or are missing in the other version.
fn touched(
    policy: &Policy,
    side: Side,
    source: &Source,
    ranges: &[Range<usize>],
    comparison: &Comparison,
) -> Vec<RuleAt> {
    let own = || policy.rules().iter().filter(|(_, rule)| rule.source.name() == source.name());
    let at = |rule| RuleAt { side, rule };
    let mut touched = Vec::new();
    for range in ranges {
        let inside = |lines: RangeInclusive<usize>| *lines.start() <= range.end && *lines.end() > range.start;
        let lines = |span| {
            let (first, last) = lines_of(source, span);
            first as usize..=last as usize
        };
        let before = touched.len();
        touched.extend(own().filter(|(_, rule)| inside(lines(rule.span))).map(|(id, _)| at(id)));
        if touched.len() > before {
            continue;
        }
        let documents = policy
            .documents()
            .iter()
            .filter(|document| document.source.name() == source.name() && inside(lines(document.span)));
        let pairs = comparison.rules();
        for document in documents {
            let other = |id| match side {
                Side::Base => pairs.in_new(id).is_none() || pairs.is_edited(id),
                Side::New => pairs.in_base(id).is_none_or(|base| pairs.is_edited(base)),
            };
            let inside = |start: usize| document.span.contains(start);
            let own = own().filter(|(id, rule)| inside(rule.span.start) && other(*id));
            touched.extend(own.map(|(id, _)| at(id)));
        }
    }
    touched
}

fn both(pair: Pair) -> impl Iterator<Item = RuleAt> {
    let base = pair.base.map(|rule| RuleAt { side: Side::Base, rule });
    let new = pair.new.map(|rule| RuleAt { side: Side::New, rule });
    base.into_iter().chain(new)
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// Marks the words that differ, unless hardly any is the same.
fn emphasise(base: &mut TextLine, new: &mut TextLine) {
    let texts =
        [&*base, &*new].map(|line| line.parts.iter().map(|(_, part)| part.as_str()).collect::<String>());
    if texts.iter().any(|text| text.len() > LONGEST) {
        return;
    }
    let [olds, news] = texts.each_ref().map(|text| tokens(text));
    let operations = capture_diff_slices(Algorithm::Myers, &olds, &news);
    let same = operations.iter().filter(|operation| operation.tag() == DiffTag::Equal);
    let kept: usize = same
        .flat_map(|operation| olds.get(operation.old_range()))
        .flatten()
        .map(|word| word.trim().len())
        .sum();
    if kept * 4 < olds.iter().map(|word| word.trim().len()).sum::<usize>() {
        return;
    }
    let parts = |tokens: &[&str], range: fn(&DiffOp) -> Range<usize>| {
        let part = |operation: &DiffOp| {
            let text = tokens.get(range(operation)).unwrap_or_default().concat();
            (operation.tag() != DiffTag::Equal, text)
        };
        operations.iter().map(part).filter(|(_, text)| !text.is_empty()).collect()
    };
    (base.parts, new.parts) = (parts(&olds, DiffOp::old_range), parts(&news, DiffOp::new_range));
}

/// Words, runs of blanks, and every other character alone.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let goes_on = |c: char| class(first) != 2 && class(c) == class(first);
        let others = rest.char_indices().skip(1).find(|(_, c)| !goes_on(*c));
        let (token, after) = rest.split_at(others.map_or(rest.len(), |(at, _)| at));
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        assert_eq!(tokens("a_b: {x:  1}"), ["a_b", ":", " ", "{", "x", ":", "  ", "1", "}"]);
        assert_eq!(tokens("é漢 字"), ["é漢", " ", "字"]);
        let line = |text: &str| TextLine { number: 1, parts: vec![(false, text.to_owned())], differs: true };
        let (mut base, mut new) = (line("  limit: 3 # calls"), line("  limit: 2 # calls"));
        emphasise(&mut base, &mut new);
        let part = |differs: bool, text: &str| (differs, text.to_owned());
        assert_eq!(base.parts, [part(false, "  limit: "), part(true, "3"), part(false, " # calls")]);
        assert_eq!(new.parts, [part(false, "  limit: "), part(true, "2"), part(false, " # calls")]);
        let (mut base, mut new) = (line("tool: refund"), line("and_now: something, else"));
        emphasise(&mut base, &mut new);
        assert_eq!(base.parts.len(), 1, "nothing in common is not marked word by word");
    }
}
