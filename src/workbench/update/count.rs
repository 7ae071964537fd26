//! Counts before a command: `13j`, `3]f`, `5G`. Digits are the numbers of panes, too.
//!
//! A digit goes to its pane at once. If it turns out to begin a count, the earlier pane has the keys again. One digit
//! and a movement in a list are the pane and the movement: `1j` is what users press to go down the list of sessions.
//! `0` begins a count without a pane: `03j`.

use super::{derive, go};
use crate::workbench::keys::{Command, Group, Key};
use crate::workbench::layout::Pane;
use crate::workbench::list::Go;
use crate::workbench::model::{Count, Model};

/// The highest count: more is never useful, and each repetition takes time.
const MOST: u32 = 9_999;

/// A digit was pressed, before its own action.
pub fn digit(model: &mut Model, key: Key) {
    let crossterm::event::KeyCode::Char(c) = key.code else { return };
    let Some(digit) = c.to_digit(10).filter(|_| !key.ctrl && !key.alt) else { return };
    let place = &model.place;
    let begun = Count {
        number: 0,
        digits: 0,
        focus: place.focus,
        side: place.side,
        zoom: place.zoom,
        pinned: place.pinned,
    };
    let count = model.dialog.count.get_or_insert(begun);
    count.number = (count.number * 10 + digit).min(MOST);
    count.digits += 1;
}

/// Whether a key is a digit.
pub fn is_digit(key: Key) -> bool {
    matches!(key, Key { code: crossterm::event::KeyCode::Char('0'..='9'), ctrl: false, alt: false })
}

/// The number before a command, if it is meant as a count: then the earlier pane has the keys again.
pub fn take(model: &mut Model, command: Command) -> Option<u32> {
    let count = model.dialog.count.take()?;
    let row = command.row();
    let counts = matches!(row.group, Group::Move | Group::Jump)
        || matches!(
            command,
            Command::SearchNext | Command::SearchPrevious | Command::NextPane | Command::PreviousPane
        )
        || (row.group == Group::Overlay && row.keys.iter().any(|key| key.starts_with([']', '['])));
    if !counts || count.number == 0 {
        return None;
    }
    let panes = model.dialog.overlays.is_empty();
    if panes && count.is_pane() && (count.number == 1 || !goes_far(command)) {
        return None;
    }
    if panes {
        let Count { focus, side, zoom, pinned, .. } = count;
        (model.place.focus, model.place.side) = (focus, side);
        (model.place.zoom, model.place.pinned) = (zoom, pinned);
        derive::derive(model);
    }
    Some(count.number)
}

/// Whether a command jumps: farther than to the row above or below, or beyond the screen.
fn goes_far(command: Command) -> bool {
    use Command as C;
    let sessions = [C::NextSession, C::PreviousSession, C::NextTurn, C::PreviousTurn, C::First, C::Last];
    command.row().group == Group::Jump || sessions.contains(&command)
}

/// Goes as far in one step as a command would that often; returns whether it is such a command.
pub fn at_once(model: &mut Model, command: Command, times: u32) -> bool {
    let by = isize::try_from(times).unwrap_or(isize::MAX);
    match command {
        Command::First | Command::Last => to(model, times),
        Command::Down => go::rows(model, Go::By(by)),
        Command::Up => go::rows(model, Go::By(-by)),
        Command::NextCall => go::next(model, by),
        Command::PreviousCall => go::next(model, -by),
        Command::HalfDown => go::rows(model, Go::Halves(by)),
        Command::HalfUp => go::rows(model, Go::Halves(-by)),
        Command::PageDown => go::rows(model, Go::Halves(by.saturating_mul(2))),
        Command::PageUp => go::rows(model, Go::Halves(by.saturating_mul(-2))),
        Command::NextSession => go::session(model, by),
        Command::PreviousSession => go::session(model, -by),
        _ => return false,
    }
    true
}

/// To the row of this number; in the transcript, to the call, which is counted there.
fn to(model: &mut Model, number: u32) {
    let panes = model.dialog.overlays.is_empty();
    if panes && model.place.focus == Pane::Transcript {
        match model.derived.rows.of_call(number - 1) {
            Some(row) => go::to_row(model, row),
            None => {
                go::rows(model, Go::Last);
                let calls = model.session().map_or(0, |session| session.calls.len());
                model.say(format!(
                    "this session has no call {number}: it has {}",
                    crate::report::words::count(calls as u64, "call")
                ));
            }
        }
        return;
    }
    go::rows(model, Go::First);
    go::rows(model, Go::By(isize::try_from(number - 1).unwrap_or(isize::MAX)));
}

/// The state that changes when a command gets farther.
pub fn position(model: &Model) -> impl PartialEq + use<> {
    let place = &model.place;
    let overlay = model.dialog.popup().map(|popup| popup.list());
    (
        place.open,
        place.focus,
        model.list(Pane::Transcript),
        model.list(place.focus),
        model.out(place.focus),
        overlay,
    )
}
