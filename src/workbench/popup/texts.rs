//! The documents of two versions: side by side with enough room, else one below the other; each hunk with the number of
//! changes about its rules.

use super::spec::{Popup, acts};
use crate::compare::{Comparison, Origin, RuleAt, Side};
use crate::report::{diff, words};
use crate::workbench::effect::{Effect, Job};
use crate::workbench::keys::Scope;
use crate::workbench::layout::Pane;
use crate::workbench::line::{half, mark_of};
use crate::workbench::model::select::Editable;
use crate::workbench::model::texts::{Hunk, TextLine, TextRow, Texts, TextsView};
use crate::workbench::model::{ChangeRow, Model};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::update::jump;
use std::sync::Arc;

impl Rows for TextsView {
    fn len(&self, model: &Model) -> usize {
        self.rows(model.texts_beside()).len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let (beside, width) = (model.texts_beside(), space.width);
        let digits = self.texts.last.to_string().len().max(2);
        let mut row = Row::new(&model.theme, width);
        let line = |of: Option<&TextLine>, side, width| line(model, of, (side, digits), width, space.out);
        match self.rows(beside).get(at) {
            None => {}
            Some(TextRow::Hunk(hunk)) => {
                if let Some(hunk) = self.texts.hunks.get(*hunk) {
                    row = heading(model, hunk, space);
                }
            }
            Some(TextRow::Lines { base, new }) if beside => {
                if [base, new].into_iter().flatten().any(|line| line.differs) {
                    row.glyph(Role::ChangeNew, Glyph::Changed);
                }
                row.to(2);
                let half = half(width);
                row.append(line(base.as_ref(), Side::Base, half));
                row.gap(1).glyph(Role::Border, Glyph::Between).gap(1);
                row.append(line(new.as_ref(), Side::New, half));
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
                row.append(line(of.as_ref(), side, width.saturating_sub(2)));
            }
        }
        vec![row]
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        self.text(at, model.texts_beside())
    }
}

impl Popup for TextsView {
    fn title(&self, model: &Model, _: usize) -> String {
        format!("Text of {} {} new", model.basis.changes.since, model.theme.glyph(Glyph::Arrow))
    }

    fn note(&self, model: &Model) -> String {
        let at = self.hunk(model.texts_beside()).map_or(0, |hunk| hunk + 1);
        format!("edit {at}/{}", self.texts.hunks.len())
    }

    fn stride(&self, model: &Model) -> usize {
        let width = model.overlay_space(self.list).width;
        match model.dialog.out() {
            0 => 1,
            _ if model.texts_beside() => half(width) / 2,
            _ => width / 2,
        }
    }

    fn hints(&self) -> &'static [Hint] {
        hints![NextHunk PreviousHunk "next edit", Open "to its changes", Edit "edit", Quit "close"]
    }

    fn scope(&self) -> Scope {
        Scope::Texts
    }

    acts![Open Do(enter), NextHunk Do(|model| hunk(model, true)), PreviousHunk Do(|model| hunk(model, false))];

    fn editable(&self, model: &Model) -> Option<Editable> {
        let (file, line) = self.place(model.texts_beside())?;
        Some(Editable::rule(&file, line))
    }
}

/// The place of a hunk, and its changes.
fn heading<'m>(model: &'m Model, hunk: &Hunk, space: &Space<'_>) -> Row<'m> {
    let (mut row, width) = (space.columns(model), space.width);
    let counts = model.counts_of(hunk);
    let said = counts.iter().map(|((origin, kind), count)| {
        let (count, title, noun) = (*count as u64, diff::title(*kind), diff::noun(*kind));
        let said = match noun {
            "call" => format!("{} {title}", words::thousands(count)),
            _ => format!("{title}: {}", words::count(count, noun)),
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
    row.put_tail(Role::TextStrong, &place, room).gap(2);
    row.put(if counts.is_empty() { Role::TextDim } else { Role::StatusNote }, &said);
    row.to(width);
    row
}

/// A line of one version in `width` columns; without one, blanks. Scrolled by a step it is shown from its start, by more
/// from there on.
fn line<'m>(
    model: &'m Model,
    line: Option<&TextLine>,
    (side, digits): (Side, usize),
    width: usize,
    out: usize,
) -> Row<'m> {
    let mut row = Row::scrolled(&model.theme, width, out.saturating_sub(1));
    if let Some(line) = line {
        row.put(Role::CodeLine, &format!("{:>digits$} ", line.number)).hold();
        let own = if line.differs { mark_of(side).0 } else { Role::Text };
        let mut parts = line.parts.iter().map(|(differs, part)| (*differs, part.as_str())).peekable();
        // The first word that differs is in sight, however long the line.
        if let (Some((false, before)), true, 0) = (parts.peek().copied(), line.parts.len() > 1, out) {
            let word = line.parts.get(1).map_or("", |(_, part)| part.as_str());
            let marks = model.theme.marks();
            let most = row.left().saturating_sub(text::width(word, marks, row.left() / 2) + 1);
            let shown = end(before, most.max(1), marks);
            if shown != before {
                row.cut();
            }
            row.put(own, &shown);
            parts.next();
        }
        for (differs, part) in parts {
            row.put(if differs { Role::ChangeWord } else { own }, part);
        }
    }
    row.to(row.used() + row.left());
    row
}

/// A text in at most `width` columns, cut at its beginning.
fn end(whole: &str, width: usize, marks: text::Marks) -> String {
    if text::width(whole, marks, width + 1) <= width {
        return whole.to_owned();
    }
    let ends = whole.char_indices().map(|(at, _)| whole.get(at..).unwrap_or_default());
    let mut fitting = ends.filter(|end| text::width(end, marks, width) < width);
    format!("{}{}", marks.ellipsis(), fitting.next().unwrap_or_default())
}

/// Opens the texts, at the hunk of the selected change; if they were not compared yet, once they are.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(comparison) = model.comparison().cloned() else { return };
    match &model.basis.compare.texts {
        Some((known, texts)) if Arc::ptr_eq(known, &comparison) => show(model, Arc::clone(texts)),
        _ => {
            model.basis.compare.opens_texts = true;
            effects.push(compare(model, comparison));
        }
    }
}

fn compare(model: &mut Model, comparison: Arc<Comparison>) -> Effect {
    Effect::Job(Job::new(model.work.next_number(), "comparing two texts", move |_| {
        let texts = Arc::new(Texts::of(&comparison));
        Some(Box::new(move |model| arrived(model, comparison, texts)))
    }))
}

/// Takes in the compared texts of two versions, unless others are compared by now.
fn arrived(model: &mut Model, comparison: Arc<Comparison>, texts: Arc<Texts>) {
    if !model.comparison().is_some_and(|now| Arc::ptr_eq(now, &comparison)) {
        return;
    }
    model.basis.compare.texts = Some((comparison, Arc::clone(&texts)));
    if std::mem::take(&mut model.basis.compare.opens_texts) {
        show(model, texts);
    } else {
        replace(model, texts);
    }
}

fn show(model: &mut Model, texts: Arc<Texts>) {
    if texts.hunks.is_empty() {
        return model.say("the documents of both versions have the same text");
    }
    let mut view = TextsView::new(texts);
    let hunk = rule(model).and_then(|rule| view.texts.hunk_of(rule));
    view.list.cursor = hunk.and_then(|hunk| view.texts.row_of(hunk, model.texts_beside())).unwrap_or(0);
    // The content of the hunk is below its heading.
    view.list.top = view.list.cursor;
    model.dialog.open(view);
}

/// The rule of the change under the cursor: in the list of changes, else at the selected call.
fn rule(model: &Model) -> Option<RuleAt> {
    if model.place.focus != Pane::Changes {
        return model.change_here()?.rule;
    }
    match model.change_rows(model.list(Pane::Changes).cursor).next()? {
        ChangeRow::Group(group, _) => group.rule,
        ChangeRow::Change(_, change) => change.rule,
    }
}

/// The texts, if they are open or waited for, are to be those of the versions that are compared now.
pub fn renew(model: &mut Model, effects: &mut Vec<Effect>) {
    model.basis.compare.texts = None;
    let open = place(model).is_some();
    let comparison = model.comparison().filter(|comparison| comparison.base().policy().is_some());
    match comparison.cloned() {
        Some(comparison) if open || model.basis.compare.opens_texts => {
            effects.push(compare(model, comparison))
        }
        Some(_) => {}
        None => {
            model.basis.compare.opens_texts = false;
            replace(model, Arc::default());
        }
    }
}

fn place(model: &Model) -> Option<usize> {
    model.dialog.overlays.iter().position(|overlay| overlay.view::<TextsView>().is_some())
}

/// Puts texts in the place of those that are open; the place in them stays.
fn replace(model: &mut Model, texts: Arc<Texts>) {
    let Some(at) = place(model) else { return };
    if texts.hunks.is_empty() {
        model.dialog.overlays.remove(at);
        if model.dialog.note.is_none() {
            model.say("the documents of both versions have the same text now");
        }
    } else if let Some(view) = model.dialog.views_mut::<TextsView>().next() {
        view.texts = texts;
    }
}

/// To the next hunk, or to the one before.
fn hunk(model: &mut Model, forward: bool) {
    let beside = model.texts_beside();
    let Some(view) = model.dialog.top_mut::<TextsView>() else { return };
    let here = view.hunk(beside).unwrap_or(0);
    let at_start = view.texts.row_of(here, beside) == Some(view.list.cursor);
    let target = match (forward, at_start) {
        (true, _) => Some(here + 1),
        (false, true) => here.checked_sub(1),
        (false, false) => Some(here),
    };
    match target.and_then(|hunk| view.texts.row_of(hunk, beside)) {
        Some(row) => {
            view.list.cursor = row;
            // As much of the hunk as fits is shown, because it is read now.
            view.list.top = row;
        }
        None => model.say(if forward { "this is the last edit" } else { "this is the first edit" }),
    }
}

/// To the first change that the hunk under the cursor makes.
fn enter(model: &mut Model) {
    let beside = model.texts_beside();
    let Some(view) = model.dialog.top::<TextsView>() else { return };
    let hunk = view.hunk(beside).and_then(|hunk| view.texts.hunks.get(hunk));
    let Some(row) = hunk.and_then(|hunk| model.first_change_of(hunk)) else {
        return model.say("no change in any session is about a rule at this place");
    };
    model.dialog.overlays.pop();
    model.place.focus = Pane::Changes;
    let (len, height) = Pane::Changes.extent(model);
    model.list_mut(Pane::Changes).set(row, len, height);
    jump::change(model);
}
