//! The messages and calls of the open session, a row each.

use std::hash::{DefaultHasher, Hash};
use std::sync::Arc;

use super::decision::look;
use super::part::{session_rules, supposed, times};
use super::spec::{Enter, OF_LINES, PaneSpec};
use crate::report::words;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::model::verdict::state_look;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Rows, Space, hints};
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::transcript::{self, RowKind, one_line};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{Body, Call, Outcome, Session};

/// From this width on there is room for whole names of speakers.
const ROOMY: usize = 56;

/// Columns of arguments that can be scrolled sideways; longer ones are read as a body.
const LONG: usize = 2000;

/// The mark of a choice that was not taken.
const NOT_TAKEN: &str = "not chosen: ";

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Transcript",
    short: "Text",
    note,
    rows: &Transcript,
    enter: Enter::Body,
    about_call: false,
    keeps_cursor: true,
    hints: |_| {
        hints![
            NextCall PreviousCall "call", NextTurn PreviousTurn "turn", NextFinding "stop",
            NextChange "change", Cause "cause", WayOut "way out", WhatIfUndo "undo", Body "body", NextPane "pane",
            Search "search", Edit "edit", Suggest "rule from call", Mode "mode", Witness "example", Save "save",
            WhatIfArguments "what if", Right "scroll right", Zoom "zoom", Help "help", Quit "quit"
        ]
    },
    ..OF_LINES
};

struct Transcript;

impl Rows for Transcript {
    fn len(&self, model: &Model) -> usize {
        model.derived.rows.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let row = model.derived.rows.get(at).zip(model.session());
        row.map(|(row, session)| one(model, session, row, at, space)).into_iter().collect()
    }

    fn text(&self, _: &Model, _: usize) -> Option<String> {
        None
    }

    fn copied(&self, model: &Model, at: usize) -> Option<String> {
        copied(model, model.derived.rows.get(at)?)
    }

    fn matches(&self, model: &Model, at: usize, query: &str) -> bool {
        // A body may be long: it is searched in place.
        let row = model.derived.rows.get(at).zip(model.session());
        row.is_some_and(|(row, session)| row.contains(session, query))
    }

    fn subject(&self, model: &Model, hasher: &mut DefaultHasher) {
        (model.place.open, model.session().map(|session| Arc::as_ptr(session).addr())).hash(hasher);
    }

    /// Why there is no transcript.
    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let problems = match model.entry() {
            Some(entry) if entry.session.is_none() => {
                let unread = (Role::TextStrong, format!("{} could not be read", entry.file));
                return [unread].into_iter().chain(told(&entry.diagnostics)).collect();
            }
            Some(_) => {
                let lost = model.place.opened.as_ref().and_then(|opened| opened.content.as_ref().err());
                let why = lost.map_or("this session has no messages", String::as_str);
                let role = if lost.is_some() { Role::StatusProblem } else { Role::TextDim };
                return vec![(role, why.to_owned())];
            }
            None if model.work.reading.is_some() => {
                return vec![(Role::TextDim, "reading the sessions".to_owned())];
            }
            None => told(&model.archive.problems),
        };
        [(Role::TextStrong, "there are no sessions here".to_owned())].into_iter().chain(problems).collect()
    }
}

fn told(problems: &[Diagnostic]) -> impl Iterator<Item = (Role, String)> {
    problems.iter().map(|problem| (Role::Text, problem.to_string()))
}

/// A row as people quote it: `T2 call issue_refund {"order_id":"ORD-124"}`.
fn copied(model: &Model, row: transcript::Row) -> Option<String> {
    let session = model.session()?;
    let tool = match row.kind {
        RowKind::Call(index) => format!(" {}", session.calls.get(index as usize)?.tool),
        RowKind::Choice(place, _) => {
            let number = session.alternatives.get(place)?.choice;
            let tool = row.not_taken(session).map(|own| format!(" {}", own.call.tool));
            format!(" {number} (not chosen){}", tool.unwrap_or_default())
        }
        RowKind::Rule(rule) => {
            let states = model.replay()?.rules();
            let state = states.iter().find(|state| state.rule == rule)?;
            return Some(session_rules::sentence(model, state));
        }
        RowKind::Message(_) | RowKind::Result(_) => String::new(),
    };
    Some(format!("T{} {}{tool} {}", row.turn, row.speaker(session), row.body(session)?.shown()))
}

fn one<'m>(
    model: &'m Model,
    session: &Session,
    row: transcript::Row,
    at: usize,
    space: &Space<'_>,
) -> Row<'m> {
    let (width, out, query) = (space.width, space.out, space.query);
    let (before, selected) =
        (at.checked_sub(1).and_then(|at| model.derived.rows.get(at)), at == space.cursor);
    let first = before.is_none_or(|before| before.turn != row.turn);
    let theme = &model.theme;
    let after = model.counterfactual(row);
    let begins = after && before.is_none_or(|before| !model.counterfactual(before));
    let mut notices = Vec::new();
    if begins && width > 60 {
        let notice = format!(" {} counterfactual from here ", theme.glyph(Glyph::Counterfactual));
        notices.push((Role::VerdictAfter, notice));
    }
    for time in times::of(model, session, row, at, first) {
        let taken: usize = notices.iter().map(|(_, notice)| notice.chars().count()).sum();
        if width >= ROOMY + taken + time.chars().count() {
            notices.push((Role::TextDim, time));
        }
    }
    let room = width - notices.iter().map(|(_, notice)| notice.chars().count()).sum::<usize>();
    let mut drawn = Row::scrolled(theme, room, out);
    drawn.put(Role::Text, if selected { theme.glyph(Glyph::Cursor) } else { " " });
    let turn = match row.kind {
        _ if !first => String::new(),
        RowKind::Rule(_) => "end".to_owned(),
        _ => format!("T{}", row.turn),
    };
    drawn.column(Role::TextDim, &turn, 3.max(turn.len())).gap(1);
    let roomy = width >= ROOMY;
    let plain = if after { Role::TextDim } else { Role::Text };
    match row.kind {
        RowKind::Call(index) => {
            let Some(call) = session.calls.get(index as usize) else { return drawn };
            verdict(&mut drawn, model, call);
            speaker(&mut drawn, Role::SpeakerAssistant, "call", roomy);
            if call.copied {
                drawn.put(Role::TextDim, words::COPIED).gap(1);
            }
            drawn.put(Role::StatusNote, supposed::mark(model, row.kind));
            drawn
                .put_found(if after { Role::Text } else { Role::TextStrong }, &call.tool, query, selected)
                .gap(1);
            arguments(&mut drawn, plain, &call.arguments, query, selected);
        }
        RowKind::Result(index) => {
            let call = session.calls.get(index as usize);
            let failed = call.filter(|call| call.outcome == Outcome::Error);
            let refused = call.filter(|call| call.outcome == Outcome::Refused);
            if let Some((told, call)) = call.and_then(|call| Some((told_instead(model, index)?, call))) {
                // The recorded result did not happen: the model would have read this instead.
                drawn.gap(3);
                speaker(&mut drawn, Role::SpeakerTool, &numbered("message", session, call), roomy);
                let recorded = match supposed::mark(model, row.kind) {
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
                (Some(_), _) => drawn.glyph(Role::VerdictReport, Glyph::Failed),
                (_, Some(_)) => drawn.glyph(Role::VerdictReport, Glyph::Refused),
                _ => drawn.gap(1),
            };
            let name = if failed.is_some() { "error" } else { "result" };
            drawn.gap(1);
            let name = call.map_or_else(|| name.to_owned(), |call| numbered(name, session, call));
            speaker(&mut drawn, Role::SpeakerTool, &name, roomy);
            drawn.put(Role::StatusNote, supposed::mark(model, row.kind));
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
            let states = model.replay().map(|replay| replay.rules()).unwrap_or_default();
            let state = states.iter().find(|state| state.rule == rule);
            let (role, glyph) = state.map_or((Role::VerdictDeny, Glyph::Deny), state_look);
            drawn.glyph(role, glyph).gap(2);
            speaker(&mut drawn, Role::SpeakerTool, "rule", roomy);
            if let Some(state) = state {
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
        whole.to(end);
        for (role, notice) in &notices {
            whole.put(*role, notice);
        }
        return whole;
    }
    drawn
}

/// The arguments of a call, the most informative first; if a match is outside the visible part, around the match.
fn arguments(row: &mut Row<'_>, role: Role, arguments: &Body, query: Option<&str>, selected: bool) {
    let marks = row.theme().marks();
    let whole_of = || words::call::arguments(arguments, LONG, marks);
    if row.is_scrolled() {
        // A text that can be scrolled is not cut in its middle.
        row.put_found(role, &whole_of().text(), query, selected);
        return;
    }
    let shown = words::call::arguments(arguments, row.left(), marks);
    let whole = one_line(arguments);
    let hidden = query.is_some_and(|query| {
        let query = query.to_lowercase();
        transcript::contains(&whole, &query) && !transcript::contains(&shown.text(), &query)
    });
    // With very little room, even the first argument may not fit.
    if hidden || shown.width <= 1 {
        found(row, role, &whole, query, selected);
    } else {
        if shown != whole_of() {
            row.cut();
        }
        row.put_shown(role, shown, query, selected);
    }
}

/// A text from its beginning; if the searched text begins further on, from a little before that.
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

/// The speaker, in a column; with little room the usual ones in short.
fn speaker(row: &mut Row<'_>, role: Role, name: &str, roomy: bool) {
    if roomy {
        row.column(role, name, 9).gap(1).hold();
        return;
    }
    let short = match name {
        "assistant" => "asst",
        "system" => "sys",
        "result" => "res",
        "message" => "msg",
        name => name,
    };
    let short =
        short.replacen("result ", "res", 1).replacen("choice ", "ch", 1).replacen("message ", "msg", 1);
    row.column(role, &short, 5).gap(1).hold();
}

/// The label of a result: with the call's number if the turn has several.
fn numbered(name: &str, session: &Session, call: &Call) -> String {
    match session.turn(call.at.turn) {
        Some(turn) if turn.calls.len() > 1 => format!("{name} {}", call.at.call),
        _ => name.to_owned(),
    }
}

/// The message to the model in place of a call's result.
fn told_instead(model: &Model, index: u32) -> Option<&str> {
    let replay = model.replay().filter(|replay| replay.mode() == rulestep_engine::run::Mode::Enforce)?;
    replay.call(index)?.decision.told.as_deref()
}

/// The verdict, and the recorded outcome if it differs.
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

/// The note beside the title: the turn.
fn note(model: &Model) -> String {
    match (model.turn(), model.session()) {
        (Some(turn), Some(session)) => {
            let turn = format!("turn {}/{}", turn.number, session.turns.len());
            let wide = model.layout().width(Pane::Transcript) >= ROOMY;
            let supposed = supposed::note(model).filter(|_| wide);
            let supposed = supposed.map(|note| format!("{note}; {turn}"));
            supposed.unwrap_or(turn)
        }
        _ => String::new(),
    }
}
