//! The documents of two versions: beside each other where there is room, else one below the other; each hunk with the
//! number of changes that are about its rules.

use super::Window;
use crate::compare::{Origin, Side};
use crate::report::{diff, words};
use crate::workbench::line::{half, mark_of};
use crate::workbench::model::Model;
use crate::workbench::model::texts::{Hunk, TextLine, TextRow, TextsView};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

impl Rows for TextsView {
    fn len(&self, model: &Model) -> usize {
        self.rows(model.texts_beside()).len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let (beside, width) = (model.texts_beside(), space.width);
        let digits = self.texts.last.to_string().len().max(2);
        let mut row = Row::new(&model.theme, width);
        match self.rows(beside).get(at) {
            None => {}
            Some(TextRow::Hunk(hunk)) => {
                if let Some(hunk) = self.texts.hunks.get(*hunk) {
                    row = heading(model, hunk, width);
                }
            }
            Some(TextRow::Lines { base, new }) if beside => {
                if [base, new].into_iter().flatten().any(|line| line.differs) {
                    row.glyph(Role::Disagree, Glyph::Disagree);
                }
                row.to(2);
                let half = half(width);
                row.append(line(model, base.as_ref(), Side::Base, digits, half));
                row.gap(1).glyph(Role::Border, Glyph::Between).gap(1);
                row.append(line(model, new.as_ref(), Side::New, digits, half));
            }
            Some(TextRow::Lines { base, new }) => {
                let (side, of) = match (base, new) {
                    (Some(_), None) => (Side::Base, base),
                    _ => (Side::New, new),
                };
                if of.as_ref().is_some_and(|of| of.differs) {
                    let (role, glyph) = mark_of(side);
                    row.glyph(role, glyph);
                }
                row.to(2);
                row.append(line(model, of.as_ref(), side, digits, width.saturating_sub(2)));
            }
        }
        vec![row]
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        self.text(at, model.texts_beside())
    }
}

impl Window for TextsView {
    fn title(&self, model: &Model, _: usize) -> String {
        format!("Text of {} {} new", model.basis.changes.since, model.theme.glyph(Glyph::Arrow))
    }

    fn note(&self, model: &Model) -> String {
        let at = self.hunk(model.texts_beside()).map_or(0, |hunk| hunk + 1);
        format!("hunk {at}/{}", self.texts.hunks.len())
    }

    fn hints(&self) -> &'static [Hint] {
        hints![NextHunk PreviousHunk "hunk", Open "to its changes", Edit "edit", Quit "close"]
    }
}

/// Where a hunk is, and what it changes.
fn heading<'m>(model: &'m Model, hunk: &Hunk, width: usize) -> Row<'m> {
    let mut row = Row::new(&model.theme, width);
    let counts = model.counts_of(hunk);
    let said = counts.iter().map(|((origin, kind), count)| {
        let (count, title, noun) = (*count as u64, diff::title(*kind), diff::noun(*kind));
        let said = match noun {
            "call" => format!("{} {title}", words::thousands(count)),
            _ => format!("{title} in {}", words::count(count, noun)),
        };
        if *origin == Origin::Downstream { format!("{said} downstream") } else { said }
    });
    let compared = model.basis.changes.counts().0 < model.session_count();
    let so_far = if compared { " so far" } else { "" };
    let said = match counts.is_empty() {
        true => format!("no change{so_far}"),
        false => format!("{}{so_far}", said.collect::<Vec<_>>().join(", ")),
    };
    let place = format!("{}:{}", hunk.file, hunk.line);
    let room = width.saturating_sub(said.len() + 2).max(width / 3);
    row.put(Role::TextStrong, &tail(&place, room, model.theme.marks())).gap(2);
    row.put(if counts.is_empty() { Role::TextDim } else { Role::StatusNote }, &said);
    row.to(width);
    row
}

/// A line of one version in `width` columns; without one, blanks.
fn line<'m>(model: &'m Model, line: Option<&TextLine>, side: Side, digits: usize, width: usize) -> Row<'m> {
    let mut row = Row::new(&model.theme, width);
    if let Some(line) = line {
        row.put(Role::CodeLine, &format!("{:>digits$} ", line.number));
        let own = if line.differs { mark_of(side).0 } else { Role::Text };
        let mut parts = line.parts.iter().map(|(differs, part)| (*differs, part.as_str())).peekable();
        // The first word that differs is in sight, however long the line.
        if let (Some((false, before)), true) = (parts.peek().copied(), line.parts.len() > 1) {
            let word = line.parts.get(1).map_or("", |(_, part)| part.as_str());
            let marks = model.theme.marks();
            let most = row.left().saturating_sub(text::width(word, marks, row.left() / 2) + 1);
            row.put(own, &end(before, most.max(1), marks));
            parts.next();
        }
        for (differs, part) in parts {
            row.put(if differs { Role::ChangeWord } else { own }, part);
        }
    }
    row.to(width);
    row
}

/// A text in at most `width` columns: what is cut is its beginning.
fn end(whole: &str, width: usize, marks: text::Marks) -> String {
    if text::width(whole, marks, width + 1) <= width {
        return whole.to_owned();
    }
    let ends = whole.char_indices().map(|(at, _)| whole.get(at..).unwrap_or_default());
    let mut fitting = ends.filter(|end| text::width(end, marks, width) < width);
    format!("{}{}", marks.ellipsis(), fitting.next().unwrap_or_default())
}
