//! All problems of policies and recordings: the place, and below it the message.

use super::spec::{Asks, Popup, acts};
use super::survey;
use crate::report::words;
use crate::workbench::line::problem_place;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::model::select::Editable;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::Role;
use crate::workbench::update::overlays;
use crate::workspace::cases::NOT_LOADED;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::diagnostic::Severity;

/// The list of problems.
#[derive(Default)]
pub struct ProblemsView {
    /// All problems.
    pub rows: Vec<Diagnostic>,
    /// The cursor.
    pub list: List,
}

/// Rows that a problem takes at least: one for what and where, two for the message.
const TALL: usize = 3;
/// Rows that its message takes at most: some quote a document.
const MOST: usize = 12;

impl Rows for ProblemsView {
    fn len(&self, _: &Model) -> usize {
        self.rows.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(problem) = self.rows.get(at) else { return Vec::new() };
        let (theme, width) = (&model.theme, space.width);
        let role = if problem.severity == Severity::Error { Role::VerdictDeny } else { Role::VerdictReport };
        let mut row = space.columns(model);
        row.gap(1)
            .put(role, problem.severity.name())
            .gap(1)
            .put(Role::TextStrong, problem.code.as_str())
            .gap(2);
        row.put_tail(Role::TextDim, &problem_place(problem), usize::MAX);
        let mut rows = vec![row];
        let mut message = problem.message.clone();
        if let Some(help) = &problem.help {
            message.push_str(if message.ends_with('?') { " " } else { "; " });
            message.push_str(help);
        }
        for shown in text::wrap(&message, width.saturating_sub(3), MOST, theme.marks()) {
            let mut row = Row::new(theme, width);
            row.gap(3).shown(Role::Text, shown);
            rows.push(row);
        }
        rows.resize(TALL.max(rows.len()), Row::new(theme, width));
        rows
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.rows.get(at).map(ToString::to_string)
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let text = match model.surveying() {
            Some(_) => "the policy is being compared with the recordings",
            None => "no problems in the policy or the recordings",
        };
        vec![(Role::TextDim, text.to_owned())]
    }
}

impl Popup for ProblemsView {
    fn title(&self, _: &Model, _: usize) -> String {
        "Problems".to_owned()
    }

    fn note(&self, model: &Model) -> String {
        let at = if self.rows.is_empty() { 0 } else { self.list.cursor + 1 };
        let place = format!("{at}/{}", self.rows.len());
        match model.surveying() {
            Some((counted, all)) => format!("{place}, {counted} of {all} sessions compared"),
            None => place,
        }
    }

    fn tall(&self) -> usize {
        TALL
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "edit", Quit "close"]
    }

    acts![Open Ask(overlays::edit)];

    fn asks(&self) -> Option<Asks> {
        // Findings from recordings about the policy are among its problems.
        Some(survey::ask)
    }

    fn renew(&mut self, model: &Model) {
        self.rows = all_problems(model);
    }

    fn editable(&self, model: &Model) -> Option<Editable> {
        let place = self.rows.get(self.list.cursor)?.place()?;
        let line = place.line().and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
        let recorded = model.archive.entries.iter().any(|entry| *entry.file == *place.file());
        let case = model.basis.cases.cases.iter().any(|case| *case.file == *place.file());
        Some(match (recorded, case) {
            (true, _) => Editable::recording(place.file(), line),
            (_, true) => Editable::case(place.file(), line),
            (false, false) => Editable::rule(place.file(), line),
        })
    }
}

/// Everything that is wrong: the policy first, then the recordings; errors before the rest.
pub fn open(model: &mut Model) {
    let view = ProblemsView { rows: all_problems(model), list: List::default() };
    model.dialog.open(view);
}

fn all_problems(model: &Model) -> Vec<Diagnostic> {
    let mut rows = model.basis.rules.problems.clone();
    let caused = |row: &&Diagnostic| row.message == NOT_LOADED;
    let (following, of_cases): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        model.basis.cases.problems.iter().partition(caused);
    if rows.iter().any(|row| row.severity == Severity::Error) {
        rows.extend(consequence(&following));
    } else {
        rows.extend(following.into_iter().cloned());
    }
    // From the version and the sessions that are open now; others are counted again.
    let counted = model.work.survey.as_ref().filter(|query| query.wish.is(&model.survey_wish()));
    rows.extend(counted.iter().flat_map(|query| query.findings.iter().cloned()));
    rows.extend(model.preferences.problems.iter().cloned());
    rows.extend(of_cases.into_iter().cloned());
    rows.extend(model.archive.problems.iter().cloned());
    for entry in &model.archive.entries {
        rows.extend(entry.diagnostics.iter().cloned());
        rows.extend(entry.session.iter().flat_map(|session| session.diagnostics.iter().cloned()));
        let notices = entry.judgement.iter().flat_map(|judgement| judgement.notices.iter());
        rows.extend(notices.cloned());
    }
    // Stable: the policy's errors come before those of the recordings.
    rows.sort_by_key(|row| row.severity != Severity::Error);
    rows
}

/// Cases that cannot be judged because of the errors before it: one row for all of them, at the first.
fn consequence(cases: &[&Diagnostic]) -> Option<Diagnostic> {
    let first = cases.first().copied()?.clone();
    let counted = words::count(cases.len() as u64, "case");
    let message = format!("{counted} cannot be judged until the policy loads, because of the errors above");
    Some(Diagnostic { message, ..first })
}
