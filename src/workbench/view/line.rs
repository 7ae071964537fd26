//! Lines of the panes around the transcript: what they say, what they point at, how they are drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::paint::{Row, scroll_mark};
use crate::monitor::{Rule, RuleId};
use crate::session::{CallRef, Session};
use crate::workbench::list::List;
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role, Theme};

/// A line of a pane.
#[derive(Debug, Clone, Default)]
pub struct Line {
    indent: usize,
    glyph: Option<(Role, Glyph)>,
    parts: Vec<(Role, String)>,
    right: Option<(Role, String)>,
    /// What it points at.
    pub link: Link,
}

/// What a line points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// A call, by index.
    pub call: Option<u32>,
    /// A rule.
    pub rule: Option<RuleId>,
}

impl Line {
    /// An empty line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of dim text.
    #[must_use]
    pub fn dim(text: impl Into<String>) -> Self {
        Self::new().text(Role::TextDim, text)
    }

    /// Begins after this many columns more.
    #[must_use]
    pub fn indent(mut self, columns: usize) -> Self {
        self.indent += columns;
        self
    }

    /// Begins with a glyph and a space.
    #[must_use]
    pub fn glyph(mut self, role: Role, glyph: Glyph) -> Self {
        self.glyph = Some((role, glyph));
        self
    }

    /// Goes on with text.
    #[must_use]
    pub fn text(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push((role, text.into()));
        self
    }

    /// Ends with text at the right edge, where there is room for it.
    #[must_use]
    pub fn right(mut self, role: Role, text: impl Into<String>) -> Self {
        self.right = Some((role, text.into()));
        self
    }

    /// Points at a call.
    #[must_use]
    pub fn call(mut self, call: CallRef) -> Self {
        self.link.call = Some(call.index);
        self
    }

    /// Points at a rule.
    #[must_use]
    pub fn rule(mut self, rule: RuleId) -> Self {
        self.link.rule = Some(rule);
        self
    }

    /// Columns it takes up to its last left part, counted no further than 200.
    #[must_use]
    pub fn width(&self) -> usize {
        let glyph = if self.glyph.is_some() { 2 } else { 0 };
        let parts = self.parts.iter().map(|(_, part)| text::width(part, text::Marks::Unicode, 200));
        self.indent + glyph + parts.sum::<usize>()
    }

    /// Its text, for copying and searching.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut text: String = self.parts.iter().map(|(_, part)| part.as_str()).collect();
        if let Some((_, right)) = &self.right {
            text.push(' ');
            text.push_str(right);
        }
        text
    }

    fn fill(&self, row: &mut Row<'_>, query: Option<&str>) {
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

/// Draws the lines of a list that are on screen.
pub fn draw(
    buf: &mut Buffer,
    inner: Rect,
    theme: &Theme,
    lines: &[Line],
    list: List,
    focus: bool,
    query: Option<&str>,
) {
    let width = usize::from(inner.width);
    for (offset, line) in lines.iter().skip(list.top).take(usize::from(inner.height)).enumerate() {
        let mut row = Row::new(theme, width);
        line.fill(&mut row, query.filter(|_| focus));
        let cursor = (focus && list.top + offset == list.cursor).then_some(Role::Cursor);
        row.draw_under(buf, inner.x, inner.y + u16::try_from(offset).unwrap_or(0), cursor);
    }
}

/// Marks on a pane's frame which part of its list is on screen.
pub fn draw_scroll(buf: &mut Buffer, pane: Rect, framed: bool, theme: &Theme, list: List, len: usize) {
    if framed {
        scroll_mark(buf, pane, theme, list.top, len);
    }
}

/// A call as people name it: `T2.1`.
#[must_use]
pub fn place(at: CallRef) -> String {
    format!("T{}.{}", at.turn, at.call)
}

/// The tool of a call.
#[must_use]
pub fn tool_of(session: &Session, at: CallRef) -> &str {
    session.calls.get(at.index as usize).map_or("", |call| &call.tool)
}

/// A file's name in at most `width` columns: what is cut is its beginning.
#[must_use]
pub fn tail(path: &str, width: usize, marks: text::Marks) -> String {
    if text::width(path, marks, width + 1) <= width {
        return path.to_owned();
    }
    let parts = path.match_indices(['/', '\\']).map(|(at, _)| path.get(at..).unwrap_or_default());
    let mut fitting = parts.filter(|part| text::width(part, marks, width) < width);
    if let Some(part) = fitting.next() {
        return format!("{}{part}", marks.ellipsis());
    }
    let from = path.char_indices().rev().map(|(at, _)| path.get(at..).unwrap_or_default());
    let end = from.take_while(|end| text::width(end, marks, width) < width).last();
    format!("{}{}", marks.ellipsis(), end.unwrap_or_default())
}

/// Where a rule stands: `contracts/issue_refund.yaml:3`.
#[must_use]
pub fn rule_place(rule: &Rule) -> String {
    format!("{}:{}", rule.source.name(), rule.source.position(rule.span.start).line)
}
