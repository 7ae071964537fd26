//! The cases beside the policy: the result of each; below a failed one the expected and the actual values.

use super::spec::{Popup, acts};
use crate::report::cases::{FailedExpectation, shown};
use crate::report::words;
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::model::cases::{CaseCounts, CaseEntry, CaseLine, CaseList, CaseState, CasesView};
use crate::workbench::model::select::Editable;
use crate::workbench::model::supposed::{Land, Layer, OpenCase};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::update::{go, overlays, suppose};
use std::sync::Arc;

impl CasesView {
    fn of<'m>(&self, model: &'m Model, at: usize) -> Option<(CaseLine, &'m CaseEntry)> {
        let line = *self.lines.get(at)?;
        Some((line, model.basis.cases.cases.get(line.case())?))
    }
}

impl CaseEntry {
    /// Its mark.
    pub const fn sign(&self) -> (Role, Glyph) {
        match self.state {
            CaseState::Unreadable(_) => (Role::StatusProblem, Glyph::Problem),
            CaseState::Failed => (Role::VerdictDeny, Glyph::Deny),
            CaseState::NotExercised => (Role::VerdictNone, Glyph::None),
            CaseState::Passed => (Role::VerdictAllow, Glyph::Allow),
        }
    }

    fn failed(&self, at: Option<usize>) -> Option<&FailedExpectation> {
        self.judged.as_ref()?.report.unmet.get(at?)
    }
}

impl CaseCounts {
    /// Those that there are, what wants to be looked at first.
    pub fn parts(self) -> impl Iterator<Item = (Role, Glyph, usize, &'static str)> {
        let parts = [
            (Role::StatusProblem, Glyph::Problem, self.unreadable, "could not be judged"),
            (Role::VerdictDeny, Glyph::Deny, self.failed, "failed"),
            (Role::VerdictNone, Glyph::None, self.not_exercised, "not exercised"),
            (Role::VerdictAllow, Glyph::Allow, self.passed, "passed"),
        ];
        parts.into_iter().filter(|(.., count, _)| *count > 0)
    }
}

impl Rows for CasesView {
    fn len(&self, _: &Model) -> usize {
        self.lines.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some((line, case)) = self.of(model, at) else { return Vec::new() };
        let (marks, width) = (model.theme.marks(), space.width);
        let mut row = space.columns(model);
        match (line, case.failed(line.unmet())) {
            (CaseLine::Case(_), _) => {
                let (role, glyph) = case.sign();
                row.gap(1).glyph(role, glyph).gap(1);
                let place = format!("{}:{}", case.file, case.line);
                let room = text::width(&tail(&place, width / 3, marks), marks, width);
                let names = row.left().saturating_sub(room + 2);
                row.put_at_most(Role::TextStrong, &case.name, names * 3 / 5);
                if case.state == CaseState::NotExercised {
                    row.put_at_most(
                        Role::VerdictNone,
                        "  not exercised",
                        row.left().saturating_sub(room + 2),
                    );
                }
                row.gap(2);
                row.put_at_most(Role::TextDim, &case.tests, row.left().saturating_sub(room + 2));
                row.to(width.saturating_sub(room + 1));
                row.put_tail(Role::TextDim, &place, room);
            }
            (CaseLine::Why(_), _) => {
                if let CaseState::Unreadable(why) = &case.state {
                    row.gap(5).put(Role::StatusProblem, why);
                }
            }
            (CaseLine::Subject(..), Some(unmet)) => {
                row.gap(5).put(Role::Text, &unmet.subject);
            }
            (CaseLine::Unmet(..), Some(unmet)) => {
                row.gap(7).put(Role::TextDim, "expected ").put(Role::Text, &format!("{} ", unmet.key));
                // The actual value is always visible.
                let got = shown(&unmet.got);
                let room = row.left().saturating_sub(6 + text::width(&got, marks, width / 2));
                row.put_at_most(Role::VerdictAllow, &shown(&unmet.expected), room);
                row.put(Role::TextDim, "  got ").put(Role::VerdictDeny, &got);
            }
            (CaseLine::Because(_, _, why), Some(unmet)) => {
                let why = unmet.because.get(why).map_or("", String::as_str);
                row.gap(9).put(Role::TextDim, why);
            }
            (_, None) => {}
        }
        vec![row]
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        let (line, case) = self.of(model, at)?;
        let place = format!("{}:{}: {} ({})", case.file, case.line, case.name, case.state_word());
        Some(match (line, &case.state) {
            (CaseLine::Why(_), CaseState::Unreadable(why)) => format!("{place}: {why}"),
            (line, _) => match line.unmet().and_then(|at| case.unmet(at)) {
                Some(unmet) => format!("{place}: {unmet}"),
                None => place,
            },
        })
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let cases = &model.basis.cases;
        let lines: &[&str] = match () {
            () if cases.is_asked() && cases.cases.is_empty() => &["the cases are being judged"],
            () if !cases.cases.is_empty() => &["none passes the filter"],
            () if model.basis.paths.iter().all(|path| path.starts_with("git:")) => {
                &["cases are judged only beside policies that are files on disk"]
            }
            () => &[
                "no case is beside the policy",
                "`s` on a call saves the session up to it as a case, `NAME.case.yaml`",
            ],
        };
        lines.iter().map(|line| (Role::TextDim, model.preferences.keymap.worded(line).into_owned())).collect()
    }
}

impl Popup for CasesView {
    fn title(&self, model: &Model, _: usize) -> String {
        let cases = &model.basis.cases;
        let counts: Vec<String> = cases
            .counts()
            .parts()
            .map(|(.., count, word)| format!("{} {word}", words::thousands(count as u64)))
            .collect();
        let mut title = "Cases".to_owned();
        if !counts.is_empty() {
            title.push_str(&format!(": {}", counts.join(", ")));
        }
        if cases.is_asked() {
            title.push_str("  (being judged again)");
        }
        if !self.filter.is_empty() {
            title.push_str(&format!("  /{}", self.filter));
        }
        title
    }

    fn hints(&self) -> &'static [Hint] {
        match self.lines.is_empty() {
            true => hints![Quit "close"],
            false => hints![Open "open as a session", Edit "edit", Search "filter", Quit "close"],
        }
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.filter)
    }

    fn sift(&mut self, model: &Model, words: String) {
        self.filter = words;
        self.collect(&model.basis.cases);
    }

    acts![Open Do(enter)];

    fn editable(&self, model: &Model) -> Option<Editable> {
        let case = model.basis.cases.cases.get(self.line()?.case())?;
        let unmet = self.line()?.unmet();
        let line = unmet.and_then(|at| Some(case.judged.as_ref()?.report.unmet.get(at)?.line));
        Some(Editable::case(&case.file, line.unwrap_or(case.line)))
    }
}

/// Requests to judge all of them.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    // A built-in policy has no files that cases could be beside.
    if !model.basis.paths.is_empty() {
        effects.push(Effect::Cases(model.basis.cases.ask()));
    }
}

/// The results arrived. The open list and the open cases show them.
pub fn arrived(model: &mut Model, number: u64, list: CaseList) {
    let before = std::mem::take(&mut model.basis.cases.cases);
    model.basis.cases.take(number, list);
    let cases = &model.basis.cases;
    for view in model.dialog.views_mut::<CasesView>() {
        let here = view.line().and_then(|line| before.get(line.case()));
        let is = |at: usize| {
            let now = cases.cases.get(at);
            here.zip(now).is_some_and(|(here, now)| here.is(now))
        };
        view.collect(cases);
        let at = view.lines.iter().position(|line| is(line.case()));
        view.list.cursor = at.unwrap_or(view.list.cursor);
    }
    for entry in &mut model.archive.entries {
        let Some(open) = entry.supposed.top_mut().and_then(|layer| layer.case.as_mut()) else { continue };
        // For one that can no longer be judged, the last result stays on screen.
        if let Some(now) = cases.same(&open.case).filter(|now| now.judged.is_some()) {
            open.case = Arc::clone(now);
        }
    }
    overlays::renew(model);
}

/// Opens the list.
pub fn open(model: &mut Model) {
    let mut view = CasesView::default();
    view.collect(&model.basis.cases);
    model.dialog.open(view);
}

/// Opens the case under the cursor, at the call that is not as expected.
fn enter(model: &mut Model) {
    let Some(view) = model.dialog.top::<CasesView>() else { return };
    let Some(line) = view.line() else { return };
    let Some(case) = model.basis.cases.cases.get(line.case()).cloned() else { return };
    let Some(judged) = &case.judged else {
        let text = format!("this case could not be judged; {} opens its file", model.key(Command::Edit));
        return model.say(text);
    };
    let failed = (!judged.report.passed).then_some(line.unmet().unwrap_or(0));
    let land = Land::Call(judged.call(failed).unwrap_or(0));
    let from = model.list(Pane::Transcript);
    let said = match failed.and_then(|at| case.unmet(at)) {
        Some(unmet) => unmet,
        None => format!("the case {} {}", case.name, case.state_word()),
    };
    if model.entry().is_none() {
        return model.say("a case is opened over a session, and none is open");
    }
    suppose::exchange(model, |model| {
        let Some(entry) = model.archive.entries.get_mut(model.place.open) else { return Land::Stay };
        // A second opened case replaces the first.
        let first = entry.supposed.top().and_then(|layer| layer.case.as_ref()).map(|open| open.from);
        if first.is_some() {
            entry.supposed.pop();
        }
        let open = OpenCase { case: Arc::clone(&case), from: first.unwrap_or(from) };
        entry.supposed.push(Layer { case: Some(open), land, ..Layer::default() });
        Land::Stay
    });
    model.dialog.overlays.pop();
    go::focus(model, Pane::Transcript);
    let back = model.key(Command::Quit);
    let text = format!("{said}; {back} goes back");
    model.say(text);
}
