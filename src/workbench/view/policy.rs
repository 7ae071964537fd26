//! The text of the policy, with the lines of the shown rule marked. Draws only the lines on screen.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::paint::Row;
use crate::monitor::RuleId;
use crate::policy::Document;
use crate::source::Source;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::model::texts::lines_of;
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::transcript;

/// A document on screen and the rule in it.
pub struct Shown<'m> {
    /// The text.
    pub source: &'m Source,
    /// The rule, and its lines from the first to the last, from 1.
    pub rule: Option<(RuleId, u32, u32)>,
}

/// What the pane shows: the document of the shown rule, else the one that does not load; else none, and the pane lists
/// them.
#[must_use]
pub fn shown(model: &Model) -> Option<Shown<'_>> {
    if let Some((id, rule)) = model.shown_rule().and_then(|id| Some((id, model.rule(id)?))) {
        let (first, last) = lines_of(&rule.source, rule.span);
        return Some(Shown { source: &rule.source, rule: Some((id, first, last)) });
    }
    let broken = model.rules.stale || model.rules.policy.is_none();
    let problem = model.rules.first_problem().filter(|_| broken);
    let wanted = problem.and_then(|problem| problem.place()).map(|place| place.file());
    let mut documents = model.rules.documents.iter();
    let document = documents.find(|document| Some(document.source.name()) == wanted);
    document.map(|document| Shown { source: &document.source, rule: None })
}

/// Draws the pane's lines into `inner`; gives whether any of them is cut at the right.
pub fn draw(model: &Model, buf: &mut Buffer, inner: Rect, focus: bool) -> bool {
    let theme = &model.theme;
    let width = usize::from(inner.width);
    let Some(shown) = shown(model) else {
        without(model, buf, inner);
        return false;
    };
    let list = model.list(Pane::Policy);
    let query = model.query.as_deref().filter(|_| focus);
    let against = shown.rule.is_some_and(|(id, ..)| {
        model
            .judged_call()
            .is_some_and(|judged| judged.decision.findings.iter().any(|finding| finding.rule == id))
    });
    let mark = if against { Role::VerdictDeny } else { Role::StatusNote };
    let off = switched_off(model, shown.source);
    let digits = digits(shown.source);
    let out = model.out(Pane::Policy);
    let mut cut = false;
    for offset in 0..usize::from(inner.height) {
        let Ok(number) = u32::try_from(list.top + offset + 1) else { break };
        let Some(line) = shown.source.line(number) else { break };
        let y = inner.y + u16::try_from(offset).unwrap_or(0);
        let marked = shown.rule.is_some_and(|(_, first, last)| (first..=last).contains(&number));
        let mut row = Row::scrolled(theme, width, out);
        let off = off.iter().find(|(first, last)| (*first..=*last).contains(&number));
        if off.is_some() {
            row.glyph(Role::StatusProblem, Glyph::None);
        } else if marked {
            row.glyph(mark, Glyph::Rule);
        } else {
            row.gap(1);
        }
        row.put(Role::CodeLine, &format!("{number:>digits$} ")).hold();
        match query {
            Some(query) => {
                row.put_found(Role::Text, line, Some(query), false);
            }
            None if off.is_some() => {
                row.put(Role::TextDim, line);
            }
            None => yaml(&mut row, line),
        }
        if off.is_some_and(|(first, _)| *first == number) {
            row.put(Role::StatusProblem, "  off");
        }
        cut |= row.is_cut();
        row.to(width + out);
        let cursor = focus && list.cursor == list.top + offset;
        let under = if cursor { Some(Role::Cursor) } else { marked.then_some(Role::CodeRule) };
        row.draw_under(buf, inner.x, y, under);
        if off.is_some() && out == 0 {
            let text = line.trim_start();
            let from = row.used().min(1 + digits + 1 + (line.len() - text.len()));
            let struck = Style::new().add_modifier(Modifier::CROSSED_OUT);
            let x = inner.x + u16::try_from(from).unwrap_or(0);
            let length = u16::try_from(text.chars().count()).unwrap_or(u16::MAX);
            buf.set_style(Rect::new(x, y, length, 1).intersection(inner), struck);
        }
    }
    cut
}

fn digits(source: &Source) -> usize {
    source.line_count().to_string().len().max(2)
}

/// The columns at which `query` (lower case) is found in a row of the pane.
#[must_use]
pub fn columns_of(model: &Model, row: usize, query: &str) -> Option<Range<usize>> {
    let source = shown(model)?.source;
    let line = source.line(u32::try_from(row + 1).ok()?)?;
    let before = line.get(..transcript::find(line, query)?)?;
    let columns = |text: &str| text::width(text, model.theme.marks(), usize::MAX);
    // Before the text stand the mark of the rule, and the number.
    let start = digits(source) + 2 + columns(before);
    Some(start..start + columns(query))
}

/// The lines of the rules of this document that are switched off.
fn switched_off(model: &Model, source: &Source) -> Vec<(u32, u32)> {
    let Some((_, shown)) = model.shown_supposed() else { return Vec::new() };
    let policy = &shown.hypothesis.policy;
    let rules = policy.off().iter().filter_map(|rule| policy.rules().get(*rule));
    let here = rules.filter(|rule| rule.source.name() == source.name());
    here.map(|rule| lines_of(&rule.source, rule.span)).collect()
}

fn without(model: &Model, buf: &mut Buffer, inner: Rect) {
    let width = usize::from(inner.width);
    let mut lines = Vec::new();
    if !model.rules.read {
        lines.push((Role::TextDim, "reading the policy".to_owned()));
    } else if model.rules.policy.is_some() {
        lines.extend(nothing_to_show(model));
    }
    if model.rules.policy.is_none() {
        lines.extend(model.rules.problems.iter().map(|problem| (Role::Text, problem.to_string())));
    }
    let marks = model.theme.marks();
    let height = usize::from(inner.height);
    let wrapped = lines.into_iter().flat_map(|(role, line)| {
        text::wrap(&line, width, height, marks).into_iter().map(move |line| (role, line))
    });
    for ((role, line), y) in wrapped.zip(inner.top()..inner.bottom()) {
        let mut row = Row::new(&model.theme, width);
        row.shown(role, line);
        row.draw(buf, inner.x, y);
    }
}

/// What stands where no rule is about the selected call: which documents there are.
fn nothing_to_show(model: &Model) -> Vec<(Role, String)> {
    if model.rules.documents.is_empty() {
        return vec![(Role::TextDim, "no policy: every call is allowed".to_owned())];
    }
    let mut lines = Vec::new();
    if let Some(call) = model.call() {
        lines.push((Role::TextDim, format!("no rule is about {}; the policy is", call.tool)));
    }
    let name =
        |document: &Document| (Role::Text, format!("{}  {}", document.source.name(), document.dialect));
    lines.extend(model.rules.documents.iter().map(name));
    lines
}

/// The pane's title: the file and, where a rule is shown, its line.
#[must_use]
pub fn title(model: &Model) -> String {
    match shown(model) {
        Some(Shown { source, rule: Some((_, first, _)) }) => format!("{}:{first}", source.name()),
        Some(Shown { source, rule: None }) => source.name().to_owned(),
        None => String::new(),
    }
}

/// Lines of the document on screen.
#[must_use]
pub fn len(model: &Model) -> usize {
    shown(model).map_or(0, |shown| shown.source.line_count() as usize)
}

/// A line of YAML in colours: keys, comments, numbers and words, strings. It need not be right about every corner of
/// YAML, only never change the text.
fn yaml(row: &mut Row<'_>, line: &str) {
    let (mut rest, mut apart) = (line, true);
    while !rest.is_empty() {
        let (role, end) = token(rest, apart);
        let (part, after) = rest.split_at(end);
        row.put(role, part);
        apart = part.ends_with(' ');
        rest = after;
    }
}

/// The first token of `rest` and its length in bytes. `apart`: it begins the line or follows a blank.
fn token(rest: &str, apart: bool) -> (Role, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '#' if apart => (Role::CodeComment, rest.len()),
        '"' | '\'' => {
            let end =
                rest.char_indices().skip(1).find(|(_, c)| *c == first).map_or(rest.len(), |(at, _)| at + 1);
            let role = if rest.get(end..).is_some_and(|after| after.starts_with(':')) {
                Role::CodeKey
            } else {
                Role::CodeString
            };
            (role, end)
        }
        c if "{}[],:-".contains(c) || c.is_whitespace() => (Role::Text, c.len_utf8()),
        _ => {
            let stop = |(at, c): &(usize, char)| {
                let ends = rest
                    .get(at + 1..)
                    .is_some_and(|after| after.is_empty() || after.starts_with([' ', ',', '}', ']']));
                matches!(c, ',' | '}' | ']' | '{') || (*c == ':' && ends) || (*c == ' ')
            };
            let end = rest.char_indices().skip(1).find(stop).map_or(rest.len(), |(at, _)| at);
            let word = rest.get(..end).unwrap_or(rest);
            let key = rest.get(end..).is_some_and(|after| after.starts_with(':'));
            let literal = matches!(word, "true" | "false" | "null" | "~") || word.parse::<f64>().is_ok();
            let role = if key {
                Role::CodeKey
            } else if literal {
                Role::CodeNumber
            } else {
                Role::CodeString
            };
            (role, end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(line: &str) -> Vec<(Role, &str)> {
        let (mut rest, mut apart, mut all) = (line, true, Vec::new());
        while !rest.is_empty() {
            let (role, end) = token(rest, apart);
            all.push((role, &rest[..end]));
            apart = rest[..end].ends_with(' ');
            rest = &rest[end..];
        }
        all.retain(|(role, _)| *role != Role::Text);
        all
    }

    #[test]
    fn yaml_is_told_apart_and_kept() {
        assert_eq!(
            tokens("  - with_output: [{path: $.a[0], equals: true}] # why"),
            [
                (Role::CodeKey, "with_output"),
                (Role::CodeKey, "path"),
                (Role::CodeString, "$.a[0"),
                (Role::CodeKey, "equals"),
                (Role::CodeNumber, "true"),
                (Role::CodeComment, "# why"),
            ]
        );
        assert_eq!(
            tokens("\"a b\": 'c' 2.5"),
            [(Role::CodeKey, "\"a b\""), (Role::CodeString, "'c'"), (Role::CodeNumber, "2.5"),]
        );
        let theme =
            crate::workbench::theme::Theme::builtin("mono", crate::workbench::theme::Depth::None).unwrap();
        for line in ["é: \"unclosed", "a#b: c", "::", "- - -", "漢: 字", "'", "x: \"a\\\"b\""] {
            let mut row = Row::new(&theme, 80);
            yaml(&mut row, line);
            let mut buf = Buffer::empty(Rect::new(0, 0, 80, 1));
            row.draw(&mut buf, 0, 0);
            let text: String = buf.content().iter().map(ratatui::buffer::Cell::symbol).collect();
            let want: String = line.chars().filter(|c| *c != ' ').collect();
            assert_eq!(text.replace(' ', ""), want);
        }
    }
}
