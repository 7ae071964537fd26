//! Lines of panes: their text, their links, and how they fill a row of the screen.

use std::ops::Range;
use std::sync::Arc;

use super::paint::Row;
use crate::compare::{RuleAt, Side};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role, Theme};
use crate::workbench::transcript;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{AlternativeRef, CallRef, Session};
use rulestep_engine::monitor::{Rule, RuleId};

/// A line of a pane.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// The only version that has it.
    gutter: Option<(Role, Glyph)>,
    indent: usize,
    glyph: Option<(Role, Glyph)>,
    parts: Vec<(Role, String)>,
    right: Option<(Role, String)>,
    /// The same row of two versions, instead of everything else.
    beside: Option<Box<Beside>>,
    /// A part of the pane begins here, which is aligned with the same part of the other version.
    pub key: Option<Key>,
    /// The targets of the row.
    pub link: Link,
}

/// A row of the base and one of the new version.
#[derive(Debug, Clone)]
struct Beside {
    base: Line,
    new: Line,
    differs: bool,
}

/// The visible content of a line: lines that look alike are the same for the reader.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Look<'l> {
    indent: usize,
    glyph: Option<(Role, Glyph)>,
    parts: &'l [(Role, String)],
    right: Option<&'l (Role, String)>,
}

/// The identity of a part of a pane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A part that every version has once.
    Part(&'static str),
    /// The part about a tool.
    Tool(Arc<str>),
    /// The part about a rule.
    Rule(RuleAt),
}

/// The targets of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// A call, by index.
    pub call: Option<u32>,
    /// A rule.
    pub rule: Option<RuleId>,
    /// The rule of the base, where two versions are compared.
    pub base: Option<RuleId>,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of dim text.
    pub fn dim(text: impl Into<String>) -> Self {
        Self::new().text(Role::TextDim, text)
    }

    /// Begins after this many columns more.
    pub fn indent(mut self, columns: usize) -> Self {
        self.indent += columns;
        self
    }

    /// Begins at the left edge.
    pub fn outdent(mut self) -> Self {
        self.indent = 0;
        self
    }

    /// Begins with a glyph and a space.
    pub fn glyph(mut self, role: Role, glyph: Glyph) -> Self {
        self.glyph = Some((role, glyph));
        self
    }

    /// Appends text.
    pub fn text(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push((role, text.into()));
        self
    }

    /// Ends with text at the right edge, if there is room for it.
    pub fn right(mut self, role: Role, text: impl Into<String>) -> Self {
        self.right = Some((role, text.into()));
        self
    }

    /// Begins a part.
    pub fn part(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// Belongs to only one version; an empty line needs no mark.
    pub fn of(mut self, side: Side) -> Self {
        self.gutter = Some(mark_of(side)).filter(|_| !self.parts.is_empty());
        self
    }

    /// Two rows side by side.
    pub fn beside(base: Line, new: Line, differs: bool) -> Self {
        let link = if new.link == Link::default() { base.link } else { new.link };
        Self { beside: Some(Box::new(Beside { base, new, differs })), link, ..Self::default() }
    }

    /// Its visible content.
    pub fn look(&self) -> Look<'_> {
        Look { indent: self.indent, glyph: self.glyph, parts: &self.parts, right: self.right.as_ref() }
    }

    /// Points at a call.
    pub fn call(mut self, call: CallRef) -> Self {
        self.link.call = Some(call.index);
        self
    }

    /// Points at a rule.
    pub fn rule(mut self, rule: RuleId) -> Self {
        self.link.rule = Some(rule);
        self
    }

    /// Columns it takes up to its last left part, counted no further than 200.
    pub fn width(&self) -> usize {
        let glyph = if self.glyph.is_some() { 2 } else { 0 };
        let parts = self.parts.iter().map(|(_, part)| text::width(part, text::Marks::Unicode, 200));
        self.indent + glyph + parts.sum::<usize>()
    }

    /// The columns of the match of `query` (lower case); none if two versions are side by side.
    pub fn columns_of(&self, query: &str) -> Option<Range<usize>> {
        let text: String = self.parts.iter().map(|(_, part)| part.as_str()).collect();
        let found = transcript::find(&text, query)?;
        let signs = [self.gutter, self.glyph].into_iter().flatten().count() * 2;
        let before = text::width(text.get(..found).unwrap_or_default(), text::Marks::Unicode, usize::MAX);
        let start = signs + self.indent + before;
        Some(start..start + text::width(query, text::Marks::Unicode, usize::MAX))
    }

    /// Its text, for copying and searching.
    pub fn plain(&self) -> String {
        if let Some(beside) = &self.beside {
            return format!("{} | {}", beside.base.plain(), beside.new.plain());
        }
        let mut text: String = self.parts.iter().map(|(_, part)| part.as_str()).collect();
        if let Some((_, right)) = &self.right {
            text.push(' ');
            text.push_str(right);
        }
        text
    }

    /// Fills a row of the screen.
    pub fn fill(&self, row: &mut Row<'_>, query: Option<&str>) {
        if let Some(beside) = &self.beside {
            let half = half(row.left());
            if beside.differs {
                row.glyph(Role::ChangeNew, Glyph::Changed).gap(1);
            } else {
                row.gap(2);
            }
            for (line, rule) in [(&beside.base, true), (&beside.new, false)] {
                let mut own = Row::new(row.theme(), half);
                line.fill(&mut own, query);
                own.to(half);
                row.append(own);
                if rule {
                    row.gap(1).glyph(Role::Border, Glyph::Between).gap(1);
                }
            }
            return;
        }
        if let Some((role, glyph)) = self.gutter {
            row.glyph(role, glyph).gap(1);
        }
        row.gap(self.indent);
        if let Some((role, glyph)) = self.glyph {
            row.glyph(role, glyph).gap(1);
        }
        for (role, part) in &self.parts {
            row.put_found(*role, part, query, false);
        }
        if let Some((role, right)) = &self.right {
            let width = text::width(right, row.theme().marks(), 200);
            if row.left() > width {
                row.to(row.used() + row.left() - width);
                row.put(*role, right);
            }
        }
    }
}

/// Columns of each of two versions in a pane of `width` columns.
pub fn half(width: usize) -> usize {
    width.saturating_sub(5) / 2
}

/// The mark of a row that only one version has.
pub fn mark_of(side: Side) -> (Role, Glyph) {
    match side {
        Side::Base => (Role::ChangeBase, Glyph::Base),
        Side::New => (Role::ChangeNew, Glyph::New),
    }
}

/// Lines of `text` in one role, wrapped at `width`, each after `indent` columns.
pub fn paragraph(
    lines: &mut Vec<Line>,
    theme: &Theme,
    role: Role,
    text: &str,
    width: usize,
    indent: usize,
    link: Link,
) {
    const MOST: usize = 40;
    for shown in text::wrap(text, width.saturating_sub(indent).max(1), MOST, theme.marks()) {
        let mut line = Line::new().indent(indent);
        line.link = link;
        for run in shown.runs {
            line = line.text(if run.mark { Role::TextMark } else { role }, run.text);
        }
        lines.push(line);
    }
}

/// A label and a value after it, wrapped under itself.
pub fn labelled(
    lines: &mut Vec<Line>,
    theme: &Theme,
    label: &str,
    role: Role,
    value: &str,
    width: usize,
    link: Link,
) {
    let from = lines.len();
    paragraph(lines, theme, role, value, width, LABEL, link);
    if let Some(first) = lines.get_mut(from) {
        first.indent = 0;
        first.parts.insert(0, (Role::TextDim, format!("{label:LABEL$}")));
    }
}

/// Columns of a label, with the space after it.
pub const LABEL: usize = 9;

/// A call as people name it: `T2.1`.
pub fn place(at: CallRef) -> String {
    format!("T{}.{}", at.turn, at.call)
}

/// The position of a call of a choice that was not taken: `T2.3.1` is the first call of choice 3 in turn 2.
pub fn place_not_taken(at: AlternativeRef) -> String {
    format!("T{}.{}.{}", at.turn, at.choice, at.call)
}

/// The tool of a call.
pub fn tool_of(session: &Session, at: CallRef) -> &str {
    session.calls.get(at.index as usize).map_or("", |call| &call.tool)
}

/// The place of a rule: `contracts/issue_refund.yaml:3`.
pub fn rule_place(rule: &Rule) -> String {
    format!("{}:{}", rule.source.name(), rule.source.position(rule.span.start).line)
}

/// The place of a problem: `contracts/issue_refund.yaml:4:5`; empty if it has none.
pub fn problem_place(problem: &Diagnostic) -> String {
    let Some(place) = problem.place() else { return String::new() };
    match (place.position(), place.line()) {
        (Some(position), _) => format!("{}:{position}", place.file()),
        (None, Some(line)) => format!("{}:{line}", place.file()),
        (None, None) => format!("{}:", place.file()),
    }
}
