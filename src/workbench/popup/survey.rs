//! How the sessions exercise the rules, and their content.

use super::findings::{self, FindingsView};
use super::spec::{Asks, Popup, acts};
use crate::compare::ChangePlace;
use crate::explore::coverage::Exercise;
use crate::explore::occurrence::{Occurrence, Place};
use crate::explore::survey::Survey;
use crate::report::words;
use crate::workbench::effect::{Effect, SurveyRequest};
use crate::workbench::keys::Command;
use crate::workbench::keys::Scope;
use crate::workbench::layout::Pane;
use crate::workbench::model::select::Editable;
use crate::workbench::model::survey::{RuleRow, SurveyRow, SurveyView, Tab};
use crate::workbench::model::{Model, SurveyQuery};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::update::{go, jump, overlays, table};
use rulestep_base::diagnostic::Diagnostic;
use std::sync::Arc;

/// Columns of the number that a row begins with.
const NUMBER: usize = 7;

impl SurveyView {
    fn at(&self, at: usize) -> Option<&SurveyRow> {
        self.rows.get(*self.shown.get(at)?)
    }
}

impl Rows for SurveyView {
    fn len(&self, _: &Model) -> usize {
        self.shown.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(found) = self.at(at) else { return Vec::new() };
        match &found.rule {
            Some(rule) => of_rule(model, found, rule, space),
            None => vec![one(model, found, &self.heads, space)],
        }
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        let row = self.at(at)?;
        let numbers = self.heads.iter().zip(&row.numbers).map(|(head, number)| format!("{head} {number}"));
        Some(format!("{}: {}", row.name, numbers.collect::<Vec<_>>().join(", ")))
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let why = match (model.work.reading.is_some() || model.surveying().is_some(), self.rows.is_empty()) {
            (true, true) => "not counted yet",
            (false, true) => "there is none",
            (_, false) => "none passes the filter",
        };
        let notes = self.notes.iter().map(|note| (Role::TextDim, note.clone()));
        std::iter::once((Role::TextDim, why.to_owned())).chain(notes).collect()
    }
}

impl Popup for SurveyView {
    fn title(&self, model: &Model, width: usize) -> String {
        let mut title = self.title.clone();
        if let Some(scope) = model.scope_note() {
            title.push_str(&format!(" in {scope}"));
        }
        if let Some(by) = self.sorted_by() {
            // The default order is part of its title.
            title = title.replace(", the newest first", "");
            title.push_str(&format!(", sorted by {by}"));
        }
        if !self.filter.is_empty() {
            title.push_str(&format!("  /{}", self.filter));
        }
        // Numbers of a part would be taken for all.
        if model.work.reading.is_some() {
            title.push_str("  (recordings are being read)");
        } else if let Some((counted, all)) = model.surveying() {
            title.push_str(&format!("  (counted {counted} of {})", words::count(all as u64, "session")));
        }
        // Missing parts are mentioned with the rows.
        if let Some(note) = self.notes.first().filter(|_| !self.rows.is_empty()) {
            let room = width.saturating_sub(text::width(&title, model.theme.marks(), width) + 16);
            if text::width(note, model.theme.marks(), width) <= room {
                title.push_str(&format!("  {note}"));
            }
        }
        title
    }

    fn note(&self, _: &Model) -> String {
        let at = if self.shown.is_empty() { 0 } else { self.list.cursor + 1 };
        format!("{at}/{}", self.shown.len())
    }

    fn tall(&self) -> usize {
        if self.tab == Tab::Rules { 2 } else { 1 }
    }

    fn hints(&self) -> &'static [Hint] {
        match self.tab {
            Tab::Rules => hints![
                Open "its findings", SortRows "sort", NextTab "tools without a rule", Search "filter", Quit "close"
            ],
            Tab::Tools => {
                hints![Open "list sessions", FirstCall "first call", SortRows "sort", NextTab "rules", Search "filter", Quit "close"]
            }
            Tab::List(_) => {
                hints![Open "list sessions", FirstCall "first call", NextTab "next list", SortRows "sort", Search "filter", Quit "close"]
            }
        }
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.filter)
    }

    fn sift(&mut self, model: &Model, words: String) {
        self.filter = words;
        SurveyView::sift(self, model);
    }

    fn scope(&self) -> Scope {
        Scope::Survey
    }

    acts![
        Open Do(enter),
        NextTab Do(|model| tab(model, 1)),
        PreviousTab Do(|model| tab(model, -1)),
        FirstCall Do(first),
        SortRows Do(sort),
    ];

    fn asks(&self) -> Option<Asks> {
        Some(ask)
    }

    fn renew(&mut self, model: &Model) {
        self.collect(model);
    }

    fn rule(&self, _: &Model) -> Option<String> {
        Some(self.row()?.rule.as_ref()?.id.to_string())
    }

    fn editable(&self, model: &Model) -> Option<Editable> {
        let id = &self.row()?.rule.as_ref()?.id;
        let rules = model.basis.rules.policy.as_ref()?.rules();
        let (_, rule) = rules.iter().find(|(_, rule)| rule.id == *id)?;
        Some(Editable::rule(rule.source.name(), rule.source.position(rule.span.start).line))
    }
}

/// The rule and its place; below it its answers.
fn of_rule<'m>(model: &'m Model, found: &SurveyRow, rule: &RuleRow, space: &Space<'_>) -> Vec<Row<'m>> {
    let (marks, width) = (model.theme.marks(), space.width);
    let (role, glyph) = match rule.exercise {
        Exercise::Fired if rule.only_reports => (Role::VerdictReport, Glyph::Report),
        Exercise::Fired => (Role::VerdictDeny, Glyph::Deny),
        Exercise::Passed => (Role::VerdictAllow, Glyph::Allow),
        Exercise::NeverAsked => (Role::VerdictReport, Glyph::None),
    };
    let mut row = space.columns(model);
    row.gap(1).glyph(role, glyph).gap(1);
    let place = text::width(&rule.place, marks, width).min(width / 3);
    row.put_at_most(Role::TextStrong, &found.name, row.left().saturating_sub(place + 2));
    row.to(width.saturating_sub(place + 1));
    row.put_tail(Role::TextDim, &rule.place, place);
    let so_far = if model.surveying().is_some() { " so far" } else { "" };
    let told = match rule.exercise {
        Exercise::Fired => rule.answers.clone(),
        Exercise::Passed => format!("without findings{so_far}; {}", rule.answers),
        Exercise::NeverAsked => {
            let calls = if model.scope_note().is_some() { "call of these sessions" } else { "recorded call" };
            format!("never checked{so_far}: the rule applies to no {calls}")
        }
    };
    let mut below = space.columns(model);
    below.gap(5).put(Role::TextDim, &told);
    vec![row, below]
}

/// The first number, the name, and the other numbers that are not 0.
fn one<'m>(model: &'m Model, found: &SurveyRow, heads: &[&'static str], space: &Space<'_>) -> Row<'m> {
    let (marks, width) = (model.theme.marks(), space.width);
    let first = words::thousands(found.numbers.first().copied().unwrap_or_default());
    let others = heads.iter().zip(&found.numbers).skip(1).filter(|(_, number)| **number > 0);
    let others: Vec<String> =
        others.map(|(head, number)| format!("{head} {}", words::thousands(*number))).collect();
    let others = others.join("  ");
    let mut row = space.columns(model);
    row.gap(NUMBER.saturating_sub(first.len())).put(Role::Text, &first).gap(2);
    let room = text::width(&others, marks, width).min(width / 2);
    // The end of a path is more informative.
    row.put_tail(Role::TextStrong, &found.name, row.left().saturating_sub(room + 2));
    row.to(width.saturating_sub(room + 1));
    row.put(Role::TextDim, &others);
    row
}

/// Opens a list.
pub fn open(model: &mut Model, tab: Tab) {
    let mut view = SurveyView::new(tab);
    view.collect(model);
    model.dialog.open(view);
}

/// The next list.
fn tab(model: &mut Model, by: isize) {
    let Some(view) = model.dialog.top::<SurveyView>() else { return };
    let tab = view.tab_after(by);
    model.dialog.overlays.pop();
    open(model, tab);
}

/// Sorts by the next number, staying on the same row.
fn sort(model: &mut Model) {
    let Some(mut view) = model.dialog.take::<SurveyView>() else { return };
    view.sort = view.next_sort();
    view.list = Default::default();
    view.sift(model);
    model.dialog.open(*view);
}

/// Requests the counts of the sessions that are listed now.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.work.reading.is_some() {
        return;
    }
    let wish = model.survey_wish();
    if model.work.survey.as_ref().is_some_and(|query| query.wish.is(&wish)) {
        return;
    }
    let number = model.work.next_number();
    let query =
        SurveyQuery { number, wish: wish.clone(), counted: 0, survey: Arc::default(), findings: Vec::new() };
    model.work.survey = Some(query);
    effects.push(Effect::Survey(Box::new(SurveyRequest { number, wish })));
    overlays::renew(model);
}

/// Sessions were counted; what answers an older request is dropped.
pub fn arrived(model: &mut Model, number: u64, done: (usize, Arc<Survey>), findings: Vec<Diagnostic>) {
    let Some(query) = model.work.survey.as_mut().filter(|query| query.number == number) else { return };
    ((query.counted, query.survey), query.findings) = (done, findings);
    overlays::renew(model);
}

/// To the findings of the rule under the cursor, or to the first call of what the row counts.
fn enter(model: &mut Model) {
    let Some(view) = model.dialog.top::<SurveyView>() else { return };
    let Some(row) = view.row() else { return };
    match (&row.rule, &row.first) {
        (Some(rule), Some(_)) => {
            let only = Some((Arc::clone(&rule.id), row.name.clone()));
            findings::open_as(model, FindingsView { only, ..FindingsView::default() });
        }
        (Some(_), None) => model.say("this rule has no findings"),
        (None, _) => match row.term.clone() {
            Some(term) => list(model, &term),
            None => model.say("no filter selects this row"),
        },
    }
}

/// Lists the sessions that a row counts: its term is added to the filter.
fn list(model: &mut Model, term: &str) {
    let before = model.archive.table.filter.text().trim().to_owned();
    let text = match format!(" {before} ").contains(&format!(" {term} ")) {
        true => before,
        false => format!("{before} {term}").trim().to_owned(),
    };
    if let Err(why) = table::filter(model, &text) {
        return model.fail(format!("the filter `{text}` cannot be read: {why}"));
    }
    model.dialog.overlays.clear();
    go::focus(model, Pane::Sessions);
    let (listed, key) = (model.scope_len() as u64, model.key(Command::FilterSessions));
    model.say(format!("{} listed; {key} changes the filter", words::count(listed, "session")));
}

/// Goes to the first call that the row under the cursor counts, or to its first session.
fn first(model: &mut Model) {
    let Some(view) = model.dialog.top::<SurveyView>() else { return };
    match view.row().map(|row| row.first.clone()) {
        Some(Some(first)) => visit(model, &first),
        Some(None) => model.say("no call that was taken is counted here"),
        None => {}
    }
}

/// Goes to a call, or to a session.
fn visit(model: &mut Model, first: &Occurrence) {
    let Some(entry) = model.entry_of(first) else {
        return model.say("this session is no longer in the list");
    };
    model.dialog.overlays.pop();
    match first.place() {
        Place::Call(call) => jump::to(model, entry, Ok(ChangePlace::Call(call))),
        Place::Choice(at) => jump::to(model, entry, Ok(ChangePlace::Alternative(at))),
        Place::Session => {
            jump::leave(model);
            go::open(model, entry);
        }
    }
    go::focus(model, Pane::Transcript);
}
