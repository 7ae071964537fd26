//! Reads one value, or one line that is a session of its own.

use std::sync::Arc;

use crate::contract::line::SessionLine;
use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Unit};
use crate::input::looks::Looks;
use crate::input::shallow;
use crate::input::shallow::Members;
use crate::input::text;
use crate::input::units::{Kind, Piece};
use crate::input::wrong;
use crate::recognise::Excerpt;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::Session;
use rulestep_base::source::tape::Tape;

/// Reads the value of a piece; returns its wrong types, or why it is not a value.
pub fn unit(
    setting: &Setting,
    piece: &Piece,
    decoded: text::Decoded<'_>,
    read: impl FnOnce(&Unit<'_>),
) -> Result<Vec<Diagnostic>, String> {
    let text::Decoded { text, mut diagnostics, cut_off } = decoded;
    let recorded = Tape::of(text.trim_ascii());
    let fixed = match &recorded {
        Some(tape) if !tape.has_unicode() => None,
        _ => text::fixed(&text, &setting.file, piece.line),
    };
    let (text, tape) = match &fixed {
        None => (&*text, recorded),
        Some((fixed, told)) => {
            diagnostics.push(told.clone());
            (&**fixed, Tape::of(fixed.trim_ascii()))
        }
    };
    diagnostics.extend(cut_off);
    let looks = Looks::at(text);
    let value = tape.as_ref().map(|tape| shallow::of_tape(tape, Some(&looks)));
    let value = value.unwrap_or_else(|| Err(shallow::error(text)));
    let (node, members) = value.map_err(|error| text::not_json(text, &error))?;
    let line = u32::try_from(piece.line).unwrap_or(u32::MAX);
    read(&Unit { node, members, line, list: piece.list, diagnostics });
    let wrong = wrong::types(&looks, text, line).into_iter().map(|(line, damage)| {
        let wrong = damage.diagnostic(code::DAMAGED_RECORD);
        wrong.on_line(Arc::clone(&setting.file), u64::from(line))
    });
    Ok(wrong.collect())
}

/// The output of a separate reader for a line that is a session of its own.
pub fn apart(
    setting: &Setting,
    format: &Format,
    is_apart: fn(&Members<'_>) -> bool,
    line: &Excerpt,
) -> Option<Out> {
    let (mut reader, mut out) = ((format.reader)(setting), Out::default());
    let mut read = false;
    let decoded = text::decode(&line.text, &setting.file, line.piece.line);
    let wrong = unit(setting, &line.piece, decoded, |unit| {
        read = is_apart(&unit.members);
        if read {
            reader.unit(unit, &mut out);
        }
    });
    out.diagnostics(wrong.ok().filter(|_| read)?);
    Some(out)
}

/// Sets the line of the session that was made of it, if that is the only session of the line.
pub fn place(out: &mut Out, before: usize, line: &Excerpt) {
    if out.sessions.len() == before + 1
        && !line.cut_off
        && let Some(session) = out.sessions.back_mut()
    {
        session.line = SessionLine::of(&line.piece, &line.text);
    }
}

/// Reads lines again that are sessions by themselves.
pub struct LineReader {
    pub(super) setting: Setting,
    pub(super) format: &'static Format,
    pub(super) apart: fn(&Members<'_>) -> bool,
}

impl LineReader {
    /// The session of this line, from its bytes, without what its file adds. `None` if the bytes are not those of the
    /// line.
    pub fn read(&self, line: &SessionLine, bytes: Vec<u8>) -> Option<Session> {
        if !line.is(&bytes) {
            return None;
        }
        let SessionLine { at, number, .. } = *line;
        let piece = Piece { line: number, last_line: number, list: None, at: Some(at), kind: Kind::Line };
        let excerpt = Excerpt { piece, text: bytes, cut_off: false };
        let made = apart(&self.setting, self.format, self.apart, &excerpt)?.sessions.pop_front()?;
        let mut session = made.session;
        if line.without_results {
            session.without_results();
        }
        Some(session)
    }
}
