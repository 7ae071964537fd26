//! Trying an expression on what is selected: opened, typed, asked, taken in.

use super::prompt::prompt;
use crate::compare::Side;
use crate::tester::{Answer, Language, Subject};
use crate::workbench::effect::{Effect, TestRequest};
use crate::workbench::layout::Pane;
use crate::workbench::line::place;
use crate::workbench::list::List;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::tester::{Expression, TesterView};
use crate::workbench::model::{Model, Overlay};
use crate::workbench::transcript::RowKind;
use rulestep_base::session::{Body, Results};

/// Opens the line in which an expression is typed; over an answer, with what was typed there.
pub fn open(model: &mut Model) {
    if !matches!(model.dialog.overlays.last(), Some(Overlay::Tester(_))) {
        let Some((subject, of)) = subject(model) else {
            return model.say("this row has no text of its own");
        };
        let language = language(model);
        let known = model.dialog.tested.iter().find(|known| known.language == language);
        let text = known.map(|known| known.text.clone()).unwrap_or_default();
        let expression = Expression { language, text };
        let view = TesterView { expression, subject, of, asked: None, answer: None, list: List::default() };
        model.dialog.overlays.push(Overlay::Tester(Box::new(view)));
    }
    let Some(Overlay::Tester(view)) = model.dialog.overlays.last() else { return };
    model.dialog.prompt = Some(prompt(Ask::Expression, &view.expression.text, None));
}

/// What an expression would be tried on: the row whose body is open, else the selected one.
fn subject(model: &Model) -> Option<(Subject, String)> {
    let at = match model.dialog.overlays.last() {
        Some(Overlay::Body(view)) => view.row,
        _ => model.list(Pane::Transcript).cursor,
    };
    let (session, row) = (model.session()?, model.settled.rows.get(at)?);
    let body = row.body(session)?.clone();
    let call = |index: u32| session.calls.get(index as usize);
    let named =
        |index: u32, what: &str| call(index).map(|call| format!("{} {} {what}", place(call.at), call.tool));
    let (index, of) = match row.kind {
        RowKind::Call(index) => (Some(index), named(index, "arguments")),
        RowKind::Result(index) => (Some(index), named(index, "result")),
        _ => {
            let next = session.calls.iter().find(|call| call.at.turn >= row.turn);
            (next.map(|call| call.at.index), None)
        }
    };
    let value = match row.kind {
        // Contracts look at the result, whatever form its message has.
        RowKind::Result(index) if session.facts.results != Results::Absent => {
            call(index).map_or(Body::MISSING, |call| call.output.clone())
        }
        _ => body.clone(),
    };
    let is_arguments = matches!(row.kind, RowKind::Call(_) | RowKind::Choice(_, Some(_)));
    let of = of.unwrap_or_else(|| format!("T{} {}", row.turn, row.speaker(session)));
    Some((Subject { session: session.clone(), body, value, is_arguments, call: index }, of))
}

/// The language of the rule on screen; where none is, the one that is used for such rows.
fn language(model: &Model) -> Language {
    let kind = model.row().map(|row| row.kind);
    let rule = model.shown_rule().and_then(|rule| model.rule(rule));
    let of_rule = rule.and_then(|rule| Language::of_dialect(rule.dialect));
    of_rule.unwrap_or(match kind {
        Some(RowKind::Message(_) | RowKind::Choice(_, None)) => Language::JavaScript,
        _ => Language::JsonPath,
    })
}

/// What was typed is what is tried.
pub fn typed(model: &mut Model) {
    let Some(prompt) = &model.dialog.prompt else { return };
    if let Some(Overlay::Tester(view)) = model.dialog.overlays.last_mut() {
        prompt.input.value().clone_into(&mut view.expression.text);
    }
}

/// Another language for the same text.
pub fn step(model: &mut Model, forward: bool) {
    if let Some(Overlay::Tester(view)) = model.dialog.overlays.last_mut() {
        view.expression.language = view.expression.language.step(forward);
    }
}

/// The text is kept for the next row it is tried on.
pub fn keep(model: &mut Model) {
    if let Some(Overlay::Tester(view)) = model.dialog.overlays.last() {
        let expression = view.expression.clone();
        model.dialog.tested.retain(|known| known.language != expression.language);
        model.dialog.tested.push(expression);
    }
}

/// Whatever changed what is typed, it is tried.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Overlay::Tester(view)) = model.dialog.overlays.last() else { return };
    if view.asked.as_ref().is_some_and(|(_, expression)| *expression == view.expression) {
        return;
    }
    let number = model.work.next_number();
    let Some(Overlay::Tester(view)) = model.dialog.overlays.last_mut() else { return };
    let (expression, subject) = (view.expression.clone(), view.subject.clone());
    view.asked = Some((number, expression.clone()));
    view.list = List::default();
    let known = model.seen(Side::New).replay().map(|replay| replay.policy().facts(None)).unwrap_or_default();
    effects.push(Effect::Test(Box::new(TestRequest { number, expression, subject, known })));
}

/// What came of it. What answers an older request is dropped.
pub fn arrived(model: &mut Model, number: u64, answer: Answer) {
    for overlay in &mut model.dialog.overlays {
        if let Overlay::Tester(view) = overlay
            && view.asked.as_ref().is_some_and(|(asked, _)| *asked == number)
        {
            view.answer = Some((number, answer));
            return;
        }
    }
}
