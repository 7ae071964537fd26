//! What was said and called in the open session, a row each. Draws only the rows on screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::decision::look;
use super::paint::Row;
use super::session_rules;
use crate::report::words;
use crate::session::{Body, Call, Outcome, Session};
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::transcript::{self, RowKind, one_line};

/// From this width on there is room for whole names of speakers.
const ROOMY: usize = 56;

/// Columns of arguments that are gone through sideways; what is longer is read as a body.
const LONG: usize = 2000;

/// What marks a choice that was not taken.
const NOT_TAKEN: &str = "not chosen: ";

/// Draws the pane's rows into `inner`; gives whether any of them is cut at the right.
pub fn draw(model: &Model, buf: &mut Buffer, inner: Rect, focus: bool) -> bool {
    let Some(session) = model.session() else {
        unread(model, buf, inner);
        return false;
    };
    let mut cut = false;
    let list = model.list(Pane::Transcript);
    let width = usize::from(inner.width);
    for offset in 0..usize::from(inner.height) {
        let at = list.top + offset;
        let Some(row) = model.rows.get(at) else { break };
        let before = at.checked_sub(1).and_then(|at| model.rows.get(at));
        let y = inner.y + u16::try_from(offset).unwrap_or(0);
        let first = before.is_none_or(|before| before.turn != row.turn);
        let selected = at == list.cursor;
        let drawn = one(model, session, row, width, first, selected, before);
        let cursor = selected.then_some(if focus { Role::Cursor } else { Role::CursorIdle });
        cut |= drawn.is_cut();
        drawn.draw_under(buf, inner.x, y, cursor);
    }
    if model.rows.is_empty() {
        let mut row = Row::new(&model.theme, width);
        row.put(Role::TextDim, "nothing was said in this session");
        row.draw(buf, inner.x, inner.y);
    }
    cut
}

fn one<'m>(
    model: &'m Model,
    session: &Session,
    row: transcript::Row,
    width: usize,
    first: bool,
    selected: bool,
    before: Option<transcript::Row>,
) -> Row<'m> {
    let theme = &model.theme;
    let after = model.counterfactual(row);
    let begins = after && before.is_none_or(|before| !model.counterfactual(before));
    let notice = format!(" {} counterfactual from here ", theme.glyph(Glyph::Counterfactual));
    let room = if begins && width > 60 { width - notice.chars().count() } else { width };
    let out = model.out(Pane::Transcript);
    let mut drawn = Row::scrolled(theme, room, out);
    drawn.put(Role::Text, if selected { theme.glyph(Glyph::Cursor) } else { " " });
    let turn = match row.kind {
        _ if !first => String::new(),
        RowKind::Rule(_) => "end".to_owned(),
        _ => format!("T{}", row.turn),
    };
    drawn.column(Role::TextDim, &turn, 3.max(turn.len())).gap(1);
    let roomy = width >= ROOMY;
    let query = model.query.as_deref();
    let plain = if after { Role::TextDim } else { Role::Text };
    match row.kind {
        RowKind::Call(index) => {
            let Some(call) = session.calls.get(index as usize) else { return drawn };
            verdict(&mut drawn, model, call);
            speaker(&mut drawn, Role::SpeakerAssistant, "call", roomy);
            drawn.put(Role::StatusNote, super::supposed::mark(model, row.kind));
            drawn
                .put_found(if after { Role::Text } else { Role::TextStrong }, &call.tool, query, selected)
                .gap(1);
            arguments(&mut drawn, plain, &call.arguments, query, selected);
        }
        RowKind::Result(index) => {
            let call = session.calls.get(index as usize);
            let failed = call.filter(|call| call.outcome == Outcome::Error);
            let refused = call.filter(|call| call.outcome == Outcome::Refused);
            if let Some((told, call)) = call.and_then(|call| Some((told(model, index)?, call))) {
                // What was recorded did not happen: the model would have been told this instead.
                drawn.gap(3);
                speaker(&mut drawn, Role::SpeakerTool, &numbered("told", session, call), roomy);
                let recorded = match super::supposed::mark(model, row.kind) {
                    "" => "  recorded ",
                    _ => "  supposed ",
                };
                drawn.put_found(Role::Text, told, query, selected).put(Role::TextDim, recorded);
                if let Some(body) = row.body(session) {
                    drawn.put_found(Role::TextDim, &one_line(body), query, selected);
                }
                return drawn;
            }
            drawn.gap(1);
            match (failed, refused) {
                (Some(_), _) => drawn.glyph(Role::VerdictReport, Glyph::Problem),
                (_, Some(_)) => drawn.glyph(Role::VerdictReport, Glyph::Refused),
                _ => drawn.gap(1),
            };
            let name = if failed.is_some() { "error" } else { "result" };
            drawn.gap(1);
            let name = call.map_or_else(|| name.to_owned(), |call| numbered(name, session, call));
            speaker(&mut drawn, Role::SpeakerTool, &name, roomy);
            drawn.put(Role::StatusNote, super::supposed::mark(model, row.kind));
            if let Some(body) = row.body(session) {
                let role = if failed.is_some() { Role::VerdictReport } else { plain };
                found(&mut drawn, role, &one_line(body), query, selected);
            }
        }
        RowKind::Choice(place, number) => {
            let Some(choice) = session.alternatives.get(place) else { return drawn };
            let name = format!("choice {}", choice.choice);
            let Some(proposal) = row.not_taken(session) else {
                drawn.gap(3);
                speaker(&mut drawn, Role::TextDim, &name, roomy);
                drawn.put(Role::TextDim, NOT_TAKEN);
                found(
                    &mut drawn,
                    Role::TextDim,
                    choice.message.content.shown().trim_start(),
                    query,
                    selected,
                );
                return drawn;
            };
            let judged = model
                .replay()
                .and_then(|replay| replay.alternative(place).get((number? as usize).checked_sub(1)?));
            match judged.map(look) {
                Some((role, glyph)) => drawn.glyph(role, glyph).gap(1),
                None => drawn.glyph(Role::TextDim, Glyph::Dot).gap(1),
            };
            if model.changed_choice(proposal.at()).is_some() {
                drawn.glyph(Role::ChangeNew, Glyph::Changed);
            } else {
                drawn.gap(1);
            }
            speaker(&mut drawn, Role::TextDim, &name, roomy);
            drawn
                .put(Role::TextDim, NOT_TAKEN)
                .put_found(Role::TextStrong, &proposal.call.tool, query, selected)
                .gap(1);
            arguments(&mut drawn, plain, &proposal.call.arguments, query, selected);
        }
        RowKind::Rule(rule) => {
            drawn.glyph(Role::VerdictDeny, Glyph::Deny).gap(2);
            speaker(&mut drawn, Role::SpeakerTool, "rule", roomy);
            let states = model.replay().map(|replay| replay.rules()).unwrap_or_default();
            if let Some(state) = states.iter().find(|state| state.rule == rule) {
                drawn.put_found(Role::Text, &session_rules::sentence(model, state), query, selected);
            }
        }
        RowKind::Message(at) => {
            let Some(message) = session.messages.get(at) else { return drawn };
            let role = match &*message.role {
                "user" => Role::SpeakerUser,
                "assistant" => Role::SpeakerAssistant,
                _ => Role::SpeakerTool,
            };
            drawn.gap(3);
            speaker(&mut drawn, role, &message.role, roomy);
            let body = message.content.shown();
            let said = if after {
                Role::TextDim
            } else if role == Role::SpeakerUser {
                role
            } else {
                Role::Text
            };
            match body.trim_start() {
                "" => drawn.put(Role::TextDim, "no text"),
                text => found(&mut drawn, said, text, query, selected),
            };
        }
    }
    if room < width {
        let (end, mut whole) = (room + out, drawn.widen(width + out));
        whole.to(end).put(Role::VerdictAfter, &notice);
        return whole;
    }
    drawn
}

/// The arguments of a call, those that tell most first; where what is searched for is not among what fits, the place of it.
fn arguments(row: &mut Row<'_>, role: Role, arguments: &Body, query: Option<&str>, selected: bool) {
    let marks = row.theme().marks();
    let whole_of = || words::call::arguments(arguments, LONG, marks);
    if row.is_scrolled() {
        // Nothing is cut in the middle of what is gone through from end to end.
        row.put_found(role, &whole_of().text(), query, selected);
        return;
    }
    let shown = words::call::arguments(arguments, row.left(), marks);
    let whole = one_line(arguments);
    let hidden = query.is_some_and(|query| {
        let query = query.to_lowercase();
        transcript::contains(&whole, &query) && !transcript::contains(&shown.text(), &query)
    });
    // Where there is hardly any room, even the first argument may not fit.
    if hidden || shown.width <= 1 {
        found(row, role, &whole, query, selected);
    } else {
        if shown != whole_of() {
            row.cut();
        }
        row.put_shown(role, shown, query, selected);
    }
}

/// A text from its beginning; where what is searched for begins further on, from a little before that.
fn found<'r, 't>(
    row: &'r mut Row<'t>,
    role: Role,
    text: &str,
    query: Option<&str>,
    selected: bool,
) -> &'r mut Row<'t> {
    let from = query.and_then(|query| transcript::find(text, &query.to_lowercase())).unwrap_or(0);
    // Columns are at least as many as characters are, with very few exceptions, and a little room is left.
    let before = text.get(..from).unwrap_or_default();
    let room = row.left();
    let length = query.map_or(0, |query| query.chars().count());
    if before.chars().take(room).count() + length + 1 < room {
        return row.put_found(role, text, query, selected);
    }
    let start = before.char_indices().rev().nth(room / 4).map_or(0, |(at, _)| at);
    row.put(Role::TextDim, row.theme().marks().ellipsis());
    row.put_found(role, text.get(start..).unwrap_or_default(), query, selected)
}

/// Who speaks, in a column; where there is little room the usual ones in short.
fn speaker(row: &mut Row<'_>, role: Role, name: &str, roomy: bool) {
    if roomy {
        row.column(role, name, 9).gap(1).hold();
        return;
    }
    let short = match name {
        "assistant" => "asst",
        "system" => "sys",
        "result" => "res",
        name => name,
    };
    let short = short.replacen("result ", "res", 1).replacen("choice ", "ch", 1).replacen("told ", "told", 1);
    row.column(role, &short, 5).gap(1).hold();
}

/// What a result is called: with the call's number where the turn has several.
fn numbered(name: &str, session: &Session, call: &Call) -> String {
    match session.turn(call.at.turn) {
        Some(turn) if turn.calls.len() > 1 => format!("{name} {}", call.at.call),
        _ => name.to_owned(),
    }
}

/// What the model would have been told in place of a call's result.
fn told(model: &Model, index: u32) -> Option<&str> {
    let replay = model.replay().filter(|replay| replay.mode() == crate::engine::Mode::Enforce)?;
    replay.call(index)?.decision.told.as_deref()
}

/// The verdict, and where the recording did something else.
fn verdict(row: &mut Row<'_>, model: &Model, call: &Call) {
    match model.replay().and_then(|replay| replay.call(call.at.index)) {
        None => row.glyph(Role::TextDim, Glyph::Dot).gap(1),
        Some(judged) => {
            let (role, glyph) = look(judged);
            row.glyph(role, glyph);
            if judged.agrees { row.gap(1) } else { row.glyph(Role::Disagree, Glyph::Disagree) }
        }
    };
    if model.is_changed(call.at.index) {
        row.glyph(Role::ChangeNew, Glyph::Changed);
    } else {
        row.gap(1);
    }
}

/// Why there is no transcript.
fn unread(model: &Model, buf: &mut Buffer, inner: Rect) {
    let width = usize::from(inner.width);
    let mut lines: Vec<(Role, String)> = Vec::new();
    match model.entry() {
        Some(entry) => {
            lines.push((Role::TextStrong, format!("{} could not be read", entry.file)));
            lines.extend(entry.diagnostics.iter().map(|diagnostic| (Role::Text, diagnostic.to_string())));
        }
        None if model.reading.is_some() => lines.push((Role::TextDim, "reading the sessions".to_owned())),
        None => {
            lines.push((Role::TextStrong, "there are no sessions here".to_owned()));
            lines.extend(model.problems.iter().map(|diagnostic| (Role::Text, diagnostic.to_string())));
        }
    }
    let mut y = inner.y;
    for (role, text) in lines {
        for shown in
            crate::workbench::text::wrap(&text, width, usize::from(inner.height), model.theme.marks())
        {
            if y >= inner.bottom() {
                return;
            }
            let mut row = Row::new(&model.theme, width);
            row.shown(role, shown);
            row.draw(buf, inner.x, y);
            y += 1;
        }
    }
}

/// What stands beside the title: the turn.
#[must_use]
pub fn note(model: &Model) -> String {
    match (model.turn(), model.session()) {
        (Some(turn), Some(session)) => {
            let turn = format!("turn {}/{}", turn.number, session.turns.len());
            let wide = super::width(&model.layout(), Pane::Transcript) >= ROOMY;
            let supposed = super::supposed::note(model).filter(|_| wide);
            let supposed = supposed.map(|note| format!("{note}; {turn}"));
            supposed.unwrap_or(turn)
        }
        _ => String::new(),
    }
}
