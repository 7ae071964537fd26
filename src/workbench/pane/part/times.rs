//! The times of a row of the transcript, and pauses.

use crate::workbench::model::Model;
use crate::workbench::transcript::Row;
use rulestep_base::session::{Millis, Session};

/// From here on a pause is worth a word.
const PAUSE: Millis = 60_000;
/// Rows before one that are looked at for a time: few rows have none where others have.
const NEAR: usize = 16;

/// The time of a row: the pause before it, and for the first row of a turn the time since the session's beginning.
/// Empty if the times are not recorded.
pub fn of(model: &Model, session: &Session, row: Row, at: usize, first: bool) -> Vec<String> {
    let Some(now) = row.time(session) else { return Vec::new() };
    let mut before =
        (at.saturating_sub(NEAR)..at).rev().filter_map(|at| model.derived.rows.get(at)?.time(session));
    let pause = before.next().map_or(0, |before| now.saturating_sub(before));
    let began = session.began.or_else(|| session.messages.first()?.at);
    let since = began.map(|began| now.saturating_sub(began)).filter(|since| first && *since >= 0);
    let pause = (pause >= PAUSE).then(|| format!(" {} later", long(pause)));
    pause.into_iter().chain(since.map(|since| format!(" +{} ", clock(since)))).collect()
}

/// The two largest units of a time.
fn long(time: Millis) -> String {
    let seconds = time / 1000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")];
    let shown = units.iter().skip_while(|(count, _)| *count == 0).take(2).filter(|(count, _)| *count > 0);
    shown.map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

/// Hours, minutes and seconds.
fn clock(time: Millis) -> String {
    let seconds = time / 1000;
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (time, expected) in [
            (60_000, ["1 min", "1:00"]),
            (252_999, ["4 min 12 s", "4:12"]),
            (3_600_000, ["1 h", "1:00:00"]),
            (3_605_000, ["1 h", "1:00:05"]),
            (90_061_000, ["1 d 1 h", "25:01:01"]),
        ] {
            assert_eq!([long(time), clock(time)], expected);
        }
    }
}
