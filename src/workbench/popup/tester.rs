//! A tried expression: its result in a sentence, with the position of a mistake; then the matches.

use super::spec::{Asks, Popup, acts};
use crate::compare::Side;
use crate::report::words;
use crate::tester::test_by;
use crate::tester::{Answer, Language, MOST, State, Subject};
use crate::workbench::effect::{Effect, Job};
use crate::workbench::layout::Pane;
use crate::workbench::line::place;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::tester::{Expression, TesterView};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::transcript::RowKind;
use crate::workbench::update::prompt::prompt;
use rulestep_base::session::{Body, Results};
use rulestep_base::source::floor_boundary;

/// Rows of the screen that a sentence may take.
const TALL: usize = 6;
/// Characters of an expression that are shown before the place of an error.
const BEFORE: usize = 30;

impl TesterView {
    fn headline<'m>(&self, answer: &Answer, model: &'m Model, space: &Space<'_>) -> Vec<Row<'m>> {
        let marks = model.theme.marks();
        let (role, glyph) = match answer.state {
            State::Match => (Role::VerdictAllow, Glyph::Allow),
            State::NoMatch => (Role::TextDim, Glyph::None),
            State::Unsure => (Role::VerdictReport, Glyph::Report),
            State::Refused if self.expression.text.is_empty() => (Role::TextDim, Glyph::None),
            State::Refused => (Role::StatusProblem, Glyph::Problem),
        };
        let lines = text::wrap(&answer.sentence, space.width.saturating_sub(4), TALL, marks);
        let line = |(at, shown): (usize, _)| {
            let mut row = Row::new(&model.theme, space.width);
            row.gap(1);
            if at == 0 {
                row.glyph(role, glyph).gap(1)
            } else {
                row.gap(2)
            };
            row.shown(Role::TextStrong, shown);
            row
        };
        let mut rows: Vec<Row<'m>> = lines.into_iter().enumerate().map(line).collect();
        if let Some(fault) = answer.fault {
            rows.extend(self.pointed(fault, model, space));
        }
        rows
    }

    /// The expression around a place, and a mark below it.
    fn pointed<'m>(&self, fault: usize, model: &'m Model, space: &Space<'_>) -> [Row<'m>; 2] {
        let text = &self.expression.text;
        let (before, rest) = text.split_at(floor_boundary(text, fault));
        let from = before.char_indices().nth_back(BEFORE).map_or(0, |(at, _)| at);
        let before = before.get(from..).unwrap_or_default();
        let mut shown = Row::new(&model.theme, space.width);
        shown.gap(3).put(Role::Text, before);
        let column = shown.used();
        // The rest is cut where the row ends.
        let room = shown.left();
        shown.shown(Role::Text, text::fit(rest, room, model.theme.marks()));
        let mut mark = Row::new(&model.theme, space.width);
        mark.gap(column).put(Role::StatusProblem, "^");
        [shown, mark]
    }
}

impl Rows for TesterView {
    fn len(&self, _: &Model) -> usize {
        self.answer().map_or(0, |answer| 1 + answer.parts.len())
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(answer) = self.answer() else { return Vec::new() };
        let Some(at_part) = at.checked_sub(1) else { return self.headline(answer, model, space) };
        let Some(part) = answer.parts.get(at_part) else { return Vec::new() };
        let mut row = space.row(model);
        row.gap(3);
        if !part.label.is_empty() {
            row.put(Role::TextDim, &part.label).gap(2);
        }
        row.put_marked(Role::Text, &part.text, &part.found, at == space.cursor);
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        let answer = self.answer()?;
        match at.checked_sub(1) {
            None => Some(answer.sentence.clone()),
            Some(at) => answer.parts.get(at).map(|part| part.text.clone()),
        }
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        vec![(Role::TextDim, "trying it".to_owned())]
    }
}

impl Popup for TesterView {
    fn title(&self, _: &Model, _: usize) -> String {
        format!("{} on {}", self.expression.language.name(), words::line(&self.of))
    }

    fn note(&self, model: &Model) -> String {
        match Rows::len(self, model).saturating_sub(1) {
            0 => String::new(),
            MOST => format!("the first {MOST}"),
            parts => format!("{}/{parts}", self.list.cursor),
        }
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len().max(1)
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "type on", CopyRow "copy", Quit "close"]
    }

    acts![Open Do(open)];

    fn asks(&self) -> Option<Asks> {
        Some(ask)
    }
}

/// Opens the prompt for an expression; over an answer, with the earlier text.
pub fn open(model: &mut Model) {
    if model.dialog.top::<TesterView>().is_none() {
        let Some((subject, of)) = subject(model) else {
            return model.say("this row has no text of its own");
        };
        let language = language(model);
        let known = model.dialog.tested.iter().find(|known| known.language == language);
        let text = known.map(|known| known.text.clone()).unwrap_or_default();
        let expression = Expression { language, text };
        let view = TesterView { expression, subject, of, asked: None, answer: None, list: List::default() };
        model.dialog.open(view);
    }
    let Some(view) = model.dialog.top::<TesterView>() else { return };
    model.dialog.prompt = Some(prompt(Ask::Expression, &view.expression.text, None));
}

/// The input of an expression: the row whose body is open, else the selected one.
fn subject(model: &Model) -> Option<(Subject, String)> {
    let at = match model.dialog.top::<BodyView>() {
        Some(view) => view.row,
        None => model.list(Pane::Transcript).cursor,
    };
    let (session, row) = (model.session()?, model.derived.rows.get(at)?);
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

/// Tries the typed text.
pub fn typed(model: &mut Model) {
    let Some(text) = model.dialog.prompt.as_ref().map(|prompt| prompt.input.value().to_owned()) else {
        return;
    };
    if let Some(view) = model.dialog.top_mut::<TesterView>() {
        view.expression.text = text;
    }
}

/// Switches the language for the same text.
pub fn step(model: &mut Model, forward: bool) {
    if let Some(view) = model.dialog.top_mut::<TesterView>() {
        view.expression.language = view.expression.language.step(forward);
    }
}

/// The text is kept for the next row it is tried on.
pub fn keep(model: &mut Model) {
    if let Some(view) = model.dialog.top::<TesterView>() {
        let expression = view.expression.clone();
        model.dialog.tested.retain(|known| known.language != expression.language);
        model.dialog.tested.push(expression);
    }
}

/// Tries the typed expression after any change.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(view) = model.dialog.top::<TesterView>() else { return };
    if view.asked.as_ref().is_some_and(|(_, expression)| *expression == view.expression) {
        return;
    }
    let number = model.work.next_number();
    let Some(view) = model.dialog.top_mut::<TesterView>() else { return };
    let (expression, subject) = (view.expression.clone(), view.subject.clone());
    view.asked = Some((number, expression.clone()));
    view.list = List::default();
    let known = model.seen(Side::New).replay().map(|replay| replay.policy().facts(None)).unwrap_or_default();
    effects.push(Effect::Job(Job::new(number, "trying an expression", move |_| {
        let answer = test_by(expression.language, &expression.text, &subject, &known);
        Some(Box::new(move |model| arrived(model, number, answer)))
    })));
}

/// The result arrived. An answer to an older request is dropped.
pub fn arrived(model: &mut Model, number: u64, answer: Answer) {
    for view in model.dialog.views_mut::<TesterView>() {
        if view.asked.as_ref().is_some_and(|(asked, _)| *asked == number) {
            view.answer = Some((number, answer));
            return;
        }
    }
}
