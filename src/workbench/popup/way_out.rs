//! The way out of a stopped call: the sentence, then a row for each step with the rules that require it.

use super::spec::{Popup, acts};
use crate::report::words::{self, name};
use crate::workbench::effect::{Effect, Job};
use crate::workbench::keys::Command;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::model::supposed::{Land, Target};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::Role;
use crate::workbench::update::suppose;
use rulestep_base::session::edit::Edit;
use rulestep_engine::replay::Replay;
use rulestep_engine::way_out;
use std::sync::Arc;

/// The way out of a call.
pub struct WayOutView {
    /// The number of the request that it waits for.
    pub number: u64,
    /// The call: `T4.1 issue_refund`.
    pub of: String,
    /// The index of the call in the session before the changes; `None`: it was added there itself.
    pub known: Option<u32>,
    /// The answer; `None` while the search runs.
    pub answer: Option<WayOutAnswer>,
    /// The cursor.
    pub list: List,
}

/// A way out in words, and as changes of the session.
#[derive(Clone)]
pub struct WayOutAnswer {
    /// In one sentence.
    pub sentence: String,
    /// Each step, with the places of the rules that ask for it.
    pub steps: Vec<(String, String)>,
    /// The changes that show it; empty if nothing helps.
    pub edits: Vec<Edit>,
}

impl WayOutAnswer {
    /// Searches for it.
    pub fn of(replay: &Replay, call: u32) -> Option<WayOutAnswer> {
        let way = way_out::way_out(replay, call)?;
        let steps = words::way_out::steps(&way, replay).into_iter();
        Some(WayOutAnswer {
            sentence: words::way_out::sentence(&way, replay).whole(),
            steps: steps.map(|(step, rules)| (step.whole(), rules.join(", "))).collect(),
            edits: way.edits(),
        })
    }
}

/// Rows of the screen that a sentence may take.
const MOST: usize = 12;

impl WayOutView {
    /// The style of a line, its text, and its indentation.
    fn line(&self, at: usize) -> Option<(Role, String, usize)> {
        let answer = self.answer.as_ref()?;
        let Some(at) = at.checked_sub(1) else { return Some((Role::TextStrong, answer.sentence.clone(), 1)) };
        let (step, rules) = answer.steps.get(at / 2)?;
        match at % 2 {
            0 => Some((Role::Text, format!("{}. {step}", at / 2 + 1), 1)),
            _ => Some((Role::TextDim, rules.clone(), 4)),
        }
    }
}

impl Rows for WayOutView {
    fn len(&self, _: &Model) -> usize {
        self.answer.as_ref().map_or(0, |answer| 1 + 2 * answer.steps.len())
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some((role, said, gap)) = self.line(at) else { return Vec::new() };
        let width = space.width.saturating_sub(gap + 1);
        let lines = text::wrap(&said, width, MOST, model.theme.marks());
        let row = |shown| {
            let mut row = Row::new(&model.theme, space.width);
            row.gap(gap).shown(role, shown);
            row
        };
        lines.into_iter().map(row).collect()
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.line(at).map(|(_, said, _)| said)
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        vec![(Role::TextDim, "looking for calls after which this one is allowed".to_owned())]
    }
}

impl Popup for WayOutView {
    fn title(&self, _: &Model, _: usize) -> String {
        format!("Way out for {}", self.of)
    }

    fn note(&self, _: &Model) -> String {
        String::new()
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len().max(1)
    }

    fn hints(&self) -> &'static [Hint] {
        match self.answer.as_ref().is_some_and(|answer| !answer.edits.is_empty()) {
            true => hints![Open "try it (what-if)", CopyRow "copy", Quit "close"],
            false => hints![Quit "close"],
        }
    }

    acts![Open Do(enter)];
}

/// Asks for it.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let stopped = model.judged_call().is_some_and(|judged| judged.decision.verdict.stops());
    let (Some(call), Some(replay)) = (model.call().filter(|_| stopped), model.replay()) else {
        let why = (Command::WayOut.row().missing)(&model.facts());
        return model.say(why.unwrap_or("no rule stops this call, so there is nothing to get out of"));
    };
    let (at, of) = (call.at, format!("T{}.{} {}", call.at.turn, call.at.call, name(&call.tool)));
    let replay = Arc::clone(replay);
    let known = match model.target() {
        Some(Target::Known(known)) => Some(known),
        Some(Target::Added(_)) | None => None,
    };
    let number = model.work.next_number();
    let view = WayOutView { number, of, known, answer: None, list: List::default() };
    model.dialog.open(view);
    effects.push(Effect::Job(Job::new(number, "looking for a way out", move |_| {
        let answer = WayOutAnswer::of(&replay, at.index);
        Some(Box::new(move |model| found(model, number, answer)))
    })));
}

/// The answer arrived. If it is no longer wanted, nothing happens.
pub fn found(model: &mut Model, number: u64, answer: Option<WayOutAnswer>) {
    for view in model.dialog.views_mut::<WayOutView>() {
        if view.number == number {
            view.answer.clone_from(&answer);
        }
    }
}

/// Supposes the changes of the answer.
fn enter(model: &mut Model) {
    let Some(view) = model.dialog.top::<WayOutView>() else { return };
    let Some(answer) = &view.answer else { return };
    if answer.edits.is_empty() {
        return model.say("nothing helps, so there is nothing to try");
    }
    let Some(known) = view.known else {
        return model.say("this call was added by a what-if, and nothing can be put before it");
    };
    let edits: Vec<Edit> = answer.edits.iter().cloned().map(|edit| at(edit, known)).collect();
    model.dialog.overlays.pop();
    let said = match edits.first() {
        Some(Edit::Arguments { .. }) => "what if the call had this argument",
        Some(Edit::NextTurn(_)) => "what if the call were made in a turn of its own",
        _ => "what if these calls had been made before",
    };
    suppose::change(model, Land::Stay, |what_if| edits.into_iter().for_each(|edit| what_if.edit(edit)));
    model.say(said);
}

/// The change, about the call as the what-if numbers it.
fn at(edit: Edit, known: u32) -> Edit {
    match edit {
        Edit::AddTurn { call, .. } => Edit::AddTurn { before: known, call },
        Edit::NextTurn(_) => Edit::NextTurn(known),
        Edit::Arguments { arguments, .. } => Edit::Arguments { call: known, arguments },
        other => other,
    }
}
