//! The text of the policy, with the lines of the shown rule marked.

mod rules;

use std::hash::{DefaultHasher, Hash};
use std::ops::Range;

use super::spec::{Enter, OF_LINES, PaneSpec};
use crate::workbench::model::Model;
use crate::workbench::model::select::ShownDocument;
use crate::workbench::model::texts::lines_of;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::transcript::{contains, find};
use rulestep_base::source::Source;
use rulestep_engine::policy::Document;

/// The pane: the text of the rule; while two versions are compared, in both.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Policy",
    short: "Pol",
    note: |model| if model.splits() { rules::title(model) } else { title(model) },
    lines: |model, width| model.splits().then(|| rules::lines(model, width)),
    rows: &Text,
    enter: Enter::Nothing,
    about_call: false,
    hints: |_| {
        hints![
            NextCall PreviousCall "line", Reference "reference", NextFinding "stop",
            NextPane "pane", Right "scroll right", Search "search", Edit "edit", CopyRule "copy rule",
            Zoom "zoom", Help "help", Quit "quit"
        ]
    },
    ..OF_LINES
};

/// The lines of the document on screen.
struct Text;

impl Rows for Text {
    fn len(&self, model: &Model) -> usize {
        model.document().map_or(0, |shown| shown.source.line_count() as usize)
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let number = u32::try_from(at + 1).ok();
        let row = model.document().zip(number).and_then(|(shown, number)| one(model, &shown, number, space));
        row.into_iter().collect()
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        line(model, at).map(str::to_owned)
    }

    fn matches(&self, model: &Model, at: usize, query: &str) -> bool {
        line(model, at).is_some_and(|line| contains(line, query))
    }

    fn columns_of(&self, model: &Model, at: usize, query: &str) -> Range<usize> {
        let found = line(model, at).and_then(|line| line.get(..find(line, query)?));
        let Some((before, shown)) = found.zip(model.document()) else { return 0..0 };
        let columns = |text: &str| text::width(text, model.theme.marks(), usize::MAX);
        // The text is preceded by the mark of the rule, and the number.
        let start = digits(shown.source) + 2 + columns(before);
        start..start + columns(query)
    }

    fn subject(&self, model: &Model, hasher: &mut DefaultHasher) {
        if let Some(shown) = model.document() {
            (shown.source.name(), shown.rule, shown.source.text()).hash(hasher);
        }
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let mut lines = Vec::new();
        if !model.basis.rules.read {
            lines.push((Role::TextDim, "reading the policy".to_owned()));
        } else if model.basis.rules.policy.is_some() {
            lines.extend(nothing_to_show(model));
        }
        if model.basis.rules.policy.is_none() {
            lines.extend(model.basis.rules.problems.iter().map(|problem| (Role::Text, problem.to_string())));
        }
        lines
    }
}

fn line(model: &Model, at: usize) -> Option<&str> {
    model.document()?.source.line(u32::try_from(at + 1).ok()?)
}

/// A line with its number, the mark of the shown rule, and struck out where its rule is switched off.
fn one<'m>(model: &'m Model, shown: &ShownDocument<'_>, number: u32, space: &Space<'_>) -> Option<Row<'m>> {
    let line = shown.source.line(number)?;
    let marked = shown.rule.filter(|(_, first, last)| (*first..=*last).contains(&number)).map(|(id, ..)| id);
    let mut row = space.row(model);
    let off = switched_off(model, shown.source)
        .into_iter()
        .find(|(first, last)| (*first..=*last).contains(&number));
    match marked {
        _ if off.is_some() => row.glyph(Role::StatusProblem, Glyph::None),
        Some(id) => {
            let findings = model.judged_call().map(|judged| judged.decision.findings.as_slice());
            let against = findings.unwrap_or_default().iter().any(|finding| finding.rule == id);
            row.glyph(if against { Role::VerdictDeny } else { Role::StatusNote }, Glyph::Rule)
        }
        None => row.gap(1),
    };
    let digits = digits(shown.source);
    row.put(Role::CodeLine, &format!("{number:>digits$} ")).hold();
    match off {
        Some((first, _)) => {
            let text = line.trim_start();
            let role = if space.query.is_some() { Role::Text } else { Role::TextDim };
            row.gap(line.len() - text.len());
            row.struck(|row| {
                row.put_found(role, text, space.query, false);
            });
            if first == number {
                row.put(Role::StatusProblem, "  off");
            }
        }
        None if space.query.is_some() => {
            row.put_found(Role::Text, line, space.query, false);
        }
        None => yaml(&mut row, line),
    }
    row.to(space.width + space.out);
    if marked.is_some() {
        row.stand_out(Role::CodeRule);
    }
    Some(row)
}

fn digits(source: &Source) -> usize {
    source.line_count().to_string().len().max(2)
}

/// The lines of the rules of this document that are switched off.
fn switched_off(model: &Model, source: &Source) -> Vec<(u32, u32)> {
    let Some((_, shown)) = model.shown_supposed() else { return Vec::new() };
    let policy = &shown.hypothesis.policy;
    let rules = policy.off().iter().filter_map(|rule| policy.rules().get(*rule));
    let here = rules.filter(|rule| rule.source.name() == source.name());
    here.map(|rule| lines_of(&rule.source, rule.span)).collect()
}

/// The content if no rule is about the selected call: the documents.
fn nothing_to_show(model: &Model) -> Vec<(Role, String)> {
    if model.basis.rules.documents.is_empty() {
        return vec![(Role::TextDim, "no policy: every call is allowed".to_owned())];
    }
    let mut lines = Vec::new();
    if let Some(call) = model.call() {
        let checks = model.full_decision().map_or(0, |decision| decision.checks.len());
        let about = match checks {
            0 => format!("no rule is about {}", call.tool),
            1 => format!("no rule names {}, one about any tool passed", call.tool),
            _ => format!("no rule names {}, {checks} about any tool passed", call.tool),
        };
        lines.push((Role::TextDim, format!("{about}; the policy is")));
    }
    let name =
        |document: &Document| (Role::Text, format!("{}  {}", document.source.name(), document.dialect));
    lines.extend(model.basis.rules.documents.iter().map(name));
    lines
}

/// The pane's title: the file and, if a rule is shown, its line.
fn title(model: &Model) -> String {
    match model.document() {
        Some(ShownDocument { source, rule: Some((_, first, _)) }) => format!("{}:{first}", source.name()),
        Some(ShownDocument { source, rule: None }) => source.name().to_owned(),
        None => String::new(),
    }
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
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

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
