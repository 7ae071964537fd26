//! All findings of all sessions in one list, under headings.

pub mod state;

pub use self::state::{FindingRow, FindingsView, GroupBy};
use super::spec::{Popup, acts};
use crate::compare::ChangePlace;
use crate::report::words;
use crate::workbench::keys::Scope;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::model::select::Editable;
use crate::workbench::model::survey::SurveyView;
use crate::workbench::paint::{Row, WHOLE, tail};
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::update::{go, jump, overlays};
use rulestep_engine::monitor::Effect;
use rulestep_engine::run::Mode;
use std::sync::Arc;

impl Rows for FindingsView {
    fn len(&self, _: &Model) -> usize {
        self.shown.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let row = |at: usize| self.rows.get(*self.shown.get(at)?);
        let Some(found) = row(at) else { return Vec::new() };
        // The column of names is as wide as the names on screen.
        let names = space.window.clone().map_while(row).map(|row| row.group(self.by));
        let longest = names.map(|name| text::width(name, model.theme.marks(), 60)).max().unwrap_or(0);
        // At little room what the rules say matters more than a name.
        let most = if space.width < WIDE { 22 } else { 40 };
        let column = longest.clamp(8, (space.width * most / 100).max(8));
        // The name of a group is on its first row only, and on the first visible one.
        let before = at.checked_sub(1).filter(|_| at > space.window.start).and_then(row);
        let named = before.is_none_or(|before| before.group(self.by) != found.group(self.by));
        vec![one(model, found, self.by, named, column, space)]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        let row = self.rows.get(*self.shown.get(at)?)?;
        Some(format!("{} {} {} {} {}", row.session, row.place(), row.tool, row.code, row.rule))
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        let why = match self.rows.is_empty() {
            true => "No rule stops or reports a call, and no session rule is violated.",
            false => {
                "No finding passes the filter. `is:stopped`, `is:violated` and `is:reported` are its sorts."
            }
        };
        vec![(Role::TextDim, why.to_owned())]
    }
}

impl Popup for FindingsView {
    fn title(&self, model: &Model, width: usize) -> String {
        let would = if model.basis.mode == Mode::Shadow { ", what would stop" } else { "" };
        let of = self.only.as_ref().map(|(_, name)| format!(" of {name}")).unwrap_or_default();
        let mut title = format!("Findings{of} by {}{would}", self.by.word());
        if let Some(scope) = model.scope_note() {
            title.push_str(&format!(" in {scope}"));
        }
        if !self.filter.is_empty() {
            title.push_str(&format!("  /{}", self.filter));
        }
        // Several files may hold sessions of one name: the file of the row under the cursor is above the list.
        if let Some(entry) = self.row().and_then(|row| model.archive.entries.get(row.entry)) {
            let (marks, note) = (model.theme.marks(), self.note(model).len());
            let room = width.saturating_sub(text::width(&title, marks, 80) + note + 19);
            if room >= 8 {
                title.push_str(&format!("   row of {}", tail(&entry.file, room, marks)));
            }
        }
        title
    }

    fn hints(&self) -> &'static [Hint] {
        match self.row() {
            None => hints![Quit "close"],
            Some(_) => hints![
                Open "go there", GroupBy "group", Search "filter", CopyRule "copy rule", Quit "close"
            ],
        }
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.filter)
    }

    fn refused(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    fn sift(&mut self, model: &Model, words: String) {
        self.filter = words;
        FindingsView::sift(self, model);
    }

    fn scope(&self) -> Scope {
        Scope::Findings
    }

    acts![Open Do(enter), GroupBy Do(group)];

    fn typing(&self) -> (&'static str, &'static str) {
        ("/", "is:stopped is:violated is:reported tool: rule: !not; Enter keeps, Esc goes back")
    }

    fn rule(&self, _: &Model) -> Option<String> {
        Some(self.row()?.rule.to_string())
    }

    fn editable(&self, model: &Model) -> Option<Editable> {
        let row = self.row()?;
        let judgement = model.archive.entries.get(row.entry)?.judgement.as_ref()?;
        let rule = judgement.policy.rules().get(row.rule_id)?;
        Some(Editable::rule(rule.source.name(), rule.source.position(rule.span.start).line))
    }
}

fn one<'m>(
    model: &'m Model,
    found: &FindingRow,
    by: GroupBy,
    named: bool,
    column: usize,
    space: &Space<'_>,
) -> Row<'m> {
    let theme = &model.theme;
    let mut row = space.columns(model);
    let (role, glyph) = match found.effect {
        Effect::Halt => (Role::VerdictHalt, Glyph::Halt),
        Effect::Deny if found.counterfactual => (Role::VerdictAfter, Glyph::After),
        Effect::Deny => (Role::VerdictDeny, Glyph::Deny),
        Effect::Ask => (Role::VerdictReport, Glyph::Ask),
        Effect::Report => (Role::VerdictReport, Glyph::Report),
        Effect::Also | Effect::None => (Role::TextDim, Glyph::Dot),
    };
    row.gap(1).column(Role::TextStrong, if named { found.group(by) } else { "" }, column).gap(1);
    row.glyph(role, glyph).gap(1).column(Role::TextDim, &found.place(), 6).gap(1);
    // The call, then the rule that objects, then the code if there is room for it.
    let code = if row.left() >= ROOMY { CODE } else { 0 };
    let session = if by == GroupBy::Session || row.left() < ROOMY { 0 } else { SESSION };
    let end = row.used() + row.left() - code - session;
    let room = end.saturating_sub(row.used());
    let rule = if by == GroupBy::Rule || room < 40 { 0 } else { room * 2 / 5 };
    let call = room - rule;
    match (found.call(model), found.violation(model)) {
        (Some((tool, arguments)), _) => {
            let most = row.most(call.saturating_sub(1));
            let [whole, shown] =
                [WHOLE, most].map(|room| words::call::in_line(&tool, &arguments, room, theme.marks()));
            let cut = most < NARROW || shown.text() != whole.text();
            match most {
                WHOLE => row.put(Role::Text, &whole.text()),
                most if most < NARROW => row.put_at_most(Role::Text, &tool, most),
                _ => row.shown(Role::Text, shown),
            };
            if cut {
                row.cut();
            }
        }
        (None, Some(actual)) => {
            row.put_at_most(Role::Text, actual, call.saturating_sub(1));
        }
        (None, None) => {}
    }
    row.to(end - rule);
    if rule > 0 {
        row.column(Role::TextDim, &found.name, rule.saturating_sub(1)).gap(1);
    }
    if session > 0 {
        row.column(Role::TextDim, &found.session, session - 1).gap(1);
    }
    if code > 0 {
        row.column(Role::TextDim, found.code.as_str(), code);
    }
    row
}

/// Columns left for a finding from which its code and its session have columns of their own.
const ROOMY: usize = 76;
/// Columns in which there is only room for a call's tool.
const NARROW: usize = 24;
/// Columns from which names of groups may take more than a fifth of them.
const WIDE: usize = 96;
/// Columns of a code.
const CODE: usize = 22;
/// Columns of a session's name, with the space after it.
const SESSION: usize = 18;

/// Opens the list.
pub fn open(model: &mut Model) {
    open_as(model, FindingsView::default());
}

/// The findings of a view.
pub fn open_as(model: &mut Model, mut view: FindingsView) {
    view.collect(model);
    // The cursor begins at the selected call, or rule about the session, if there is a finding.
    let rule = model.violation().map(|state| state.rule);
    let not_taken = model.not_taken().map(ChangePlace::Alternative);
    let here = not_taken.or_else(|| model.call().map(|call| ChangePlace::Call(call.at)));
    let here = if rule.is_some() { Some(ChangePlace::End) } else { here };
    let row = |at: &usize| {
        view.rows.get(*at).is_some_and(|row| {
            let same = rule.is_none_or(|rule| row.rule_id == rule);
            row.entry == model.place.open && Some(row.at) == here && same
        })
    };
    view.list.cursor = view.shown.iter().position(row).unwrap_or(0);
    model.dialog.open(view);
}

/// Groups findings by the next property, staying on the same one.
fn group(model: &mut Model) {
    model.dialog.views_mut().for_each(|view: &mut FindingsView| view.by = view.by.next());
    collect(model, &Some, false);
}

/// Takes new findings into the list, if it is open, staying on the same one: `moved` maps the places of entries to the
/// new ones.
pub fn recollect(model: &mut Model, moved: &dyn Fn(usize) -> Option<usize>) {
    collect(model, moved, false);
}

/// With `top`, a cursor on the first row, which perhaps never moved, stays on the first row.
fn collect(model: &mut Model, moved: &dyn Fn(usize) -> Option<usize>, top: bool) {
    overlays::each(model, |view: &mut FindingsView, model| {
        let here = view.row().filter(|_| !top || view.list.cursor > 0);
        let here = here.map(|row| (moved(row.entry), row.at, row.code, Arc::clone(&row.rule)));
        view.collect(model);
        if let Some((Some(entry), at, code, rule)) = here {
            let row =
                |row: &FindingRow| (row.entry, row.at, row.code) == (entry, at, code) && row.rule == rule;
            let same = |at: &usize| view.rows.get(*at).is_some_and(row);
            if let Some(at) = view.shown.iter().position(same) {
                view.list.cursor = at;
            }
        }
    });
}

/// The same while sessions are being judged: each time half as many more are, so that a long list is not made again for
/// every session.
pub fn recollect_at_times(model: &mut Model) {
    let judged = model.work.judged;
    let due = |view: &mut FindingsView| judged >= view.judged + view.judged / 2 || judged < view.judged;
    if model.dialog.views_mut().any(due) || model.judging().is_none() {
        collect(model, &Some, true);
    }
}

/// Goes to the subject of the finding under the cursor. A list of rules from which the findings were opened is closed
/// as well.
fn enter(model: &mut Model) {
    let found = model.dialog.top::<FindingsView>().and_then(FindingsView::row);
    let Some((entry, at, rule)) = found.map(|row| (row.entry, row.at, row.rule_id)) else { return };
    model.dialog.overlays.pop();
    model.dialog.close_all::<SurveyView>();
    jump::to(model, entry, if at == ChangePlace::End { Err(rule) } else { Ok(at) });
    go::focus(model, Pane::Transcript);
}
