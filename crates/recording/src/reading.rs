//! Reads one input: values go to the format's reader, sessions come out.

mod checkpoint;
mod line;

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::Arc;

pub use self::checkpoint::{Checkpoint, resume};
pub use self::line::LineReader;
pub(super) use self::line::unit;
use self::line::{apart, place};
use crate::contract::line::SessionLine;
use crate::contract::out::Out;
use crate::contract::parts::Parts;
use crate::contract::setting::Setting;
use crate::contract::{Again, Format, Options, Reader};
use crate::finish::Finish;
use crate::input::shallow::Members;
use crate::input::text;
use crate::input::units;
use crate::input::units::{Kind, Units};
use crate::recognise;
use crate::recognise::{Excerpt, Excerpts, take, unreadable};
use rulestep_base::diagnostic::{Diagnostic, Loss, Severity, code};
use rulestep_base::session::{MessageKind, Session};

/// The sessions of one input, in its order.
pub struct Reading {
    file: Arc<str>,
    setting: Setting,
    /// Lines that were cut off and joined again, each with the result of a separate reader if it is a session of its
    /// own.
    ahead: VecDeque<(Excerpt, Option<Out>)>,
    /// Stretches that were cut off and are not joined again yet.
    away: usize,
    /// Memory for lines that are cut off, of others that were joined again.
    spare: Vec<Vec<u8>>,
    /// A line that is no object, and waits for those stretches.
    odd: Option<Excerpt>,
    /// Lines that are not cut off, since one before them was no object.
    one_by_one: usize,
    format: &'static Format,
    units: Units,
    reader: Box<dyn Reader>,
    seen: Excerpts,
    /// Whether every value so far was a session of its own.
    lone: bool,
    following: bool,
    ended: bool,
    /// Diagnostics that were returned, and how many of them are not of the file's end.
    told: usize,
    told_before_end: Option<usize>,
    out: Out,
    finish: Finish,
    again: Option<Again>,
    /// Whether sessions come with their places.
    places: bool,
    /// The line that the latest session is.
    latest: Option<SessionLine>,
    /// The files that the input consists of.
    parts: Option<Arc<Parts>>,
}

/// Begins to read `input`. `file` is its name, as shown; `-` for standard input.
///
/// # Errors One diagnostic, if nothing can be read at all: the input fails, is empty, or is no recording of a known
/// format.
pub fn open(
    file: impl Into<Arc<str>>,
    input: Box<dyn BufRead + Send>,
    options: &Options,
) -> Result<Reading, Diagnostic> {
    open_within(file.into(), input, options, units::LARGEST)
}

fn open_within(
    file: Arc<str>,
    input: Box<dyn BufRead + Send>,
    options: &Options,
    largest: u64,
) -> Result<Reading, Diagnostic> {
    let mut units = Units::new(input, largest).map_err(|error| unreadable(&file, None, &error))?;
    let mut seen = Excerpts::default();
    let format = match options.format {
        Some(format) => format,
        None => recognise::format(&file, &mut units, &mut seen, options.following)?,
    };
    let finish = Finish::new(&file, format, options);
    Ok(Reading { seen, ..Reading::new(file, format, units, finish, options) })
}

/// Lines of a stretch, and their bytes: small enough to stay in one thread's cache until they are judged.
const LINES: usize = 256;
const BYTES: usize = 256 << 10;
/// Buffers of lines that are kept for reuse: as many as a stretch of long lines has, where reuse pays.
const SPARE: usize = 32;

/// Lines that were cut off an input. Any thread may read them, while others read what comes after them.
pub struct Stretch {
    lines: Vec<(Excerpt, Option<Out>)>,
    setting: Setting,
    format: &'static Format,
    apart: fn(&Members<'_>) -> bool,
    places: bool,
}

impl Stretch {
    /// Reads the lines that are sessions by themselves.
    pub fn read(&mut self) {
        for (line, made) in &mut self.lines {
            *made = apart(&self.setting, self.format, self.apart, line);
            if let Some(out) = made.as_mut().filter(|_| self.places) {
                place(out, 0, line);
            }
        }
    }
}

impl Reading {
    fn new(
        file: Arc<str>,
        format: &'static Format,
        units: Units,
        finish: Finish,
        options: &Options,
    ) -> Reading {
        let (error, refused) = (options.error.clone(), options.refused.clone());
        let marks_alone = options.marks_alone;
        let setting = Setting { file: Arc::clone(&file), format: format.name, error, refused, marks_alone };
        let mut out = Out::default();
        let parts = options.parts.clone();
        out.diagnostics(parts.iter().flat_map(|parts| parts.told.iter().cloned()));
        Reading {
            finish,
            file,
            format,
            units,
            reader: (format.reader)(&setting),
            setting,
            ahead: VecDeque::new(),
            away: 0,
            spare: Vec::new(),
            odd: None,
            one_by_one: 0,
            seen: Excerpts::default(),
            lone: true,
            following: options.following,
            ended: false,
            told: 0,
            told_before_end: None,
            out,
            again: options.again.clone(),
            places: options.places,
            latest: None,
            parts,
        }
    }

    /// Name of the format.
    pub fn format(&self) -> &'static str {
        self.format.name
    }

    /// The next lines, if some of them may be sessions of their own. Every stretch has to be joined again before the
    /// next session is requested.
    pub fn cut(&mut self) -> Option<Stretch> {
        let first = self.seen.sampled.is_empty() && self.seen.failed.is_none() && self.ahead.is_empty();
        if !first || self.odd.is_some() || self.one_by_one > 0 || self.following || self.ended {
            return None;
        }
        let apart = self.reader.apart()?;
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < LINES && bytes < BYTES {
            if let Some(spare) = self.spare.pop() {
                self.units.give_back(spare);
            }
            match self.line() {
                Ok(Some(line)) => {
                    bytes += line.text.len();
                    lines.push((line, None));
                }
                Ok(None) => break,
                // It is reported at its place, after these lines.
                Err(error) => {
                    self.units.fail(error);
                    break;
                }
            }
        }
        if lines.is_empty() {
            return None;
        }
        self.away += 1;
        Some(Stretch {
            lines,
            setting: self.setting.clone(),
            format: self.format,
            apart,
            places: self.places,
        })
    }

    /// Takes cut-off lines back, in the order of the input; sessions that they complete are [ready](Self::ready).
    pub fn join(&mut self, stretch: Stretch) {
        self.away = self.away.saturating_sub(1);
        self.ahead.extend(stretch.lines);
        if self.away == 0
            && let Some(odd) = self.odd.take()
        {
            self.put_back(odd);
        }
    }

    /// The next session that needs no further reading and was not joined.
    pub fn ready(&mut self) -> Option<Session> {
        loop {
            if let Some(session) = self.complete() {
                return Some(session);
            }
            if self.ahead.is_empty() || self.odd.is_some() {
                return None;
            }
            self.step();
        }
    }

    /// Diagnostics of the file that belong to no session, since the last call. Complete when there is no further
    /// session.
    pub fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut diagnostics = std::mem::take(&mut self.out.diagnostics);
        if self.ended && self.out.more > 0 {
            let more = std::mem::take(&mut self.out.more);
            let message = format!("{more} more problems of this file are not listed");
            let diagnostic = Diagnostic::warning(code::DAMAGED_LINE, message);
            diagnostics.push(diagnostic.in_file(Arc::clone(&self.file)));
        }
        self.told += diagnostics.len();
        self.place_in_parts(&mut diagnostics);
        diagnostics
    }

    /// Names the sessions that the reader has made, and settles what their file decides.
    fn complete(&mut self) -> Option<Session> {
        while let Some(made) = self.out.sessions.pop_front() {
            let read = self.seen.sampled.is_empty() && self.ahead.is_empty() && self.away == 0;
            let last = read && self.odd.is_none() && self.units.at_end();
            let alone = self.out.sessions.is_empty() && last;
            self.finish.push(made, alone, self.out.lost, &mut self.out.diagnostics);
            if self.finish.holds_too_much() {
                self.finish.decide(self.look_ahead(), &mut self.out.diagnostics);
            }
        }
        let next = self.finish.pop();
        self.hand_out(next)
    }

    /// Sets the file of each diagnostic, if the recording has several.
    fn place_in_parts(&self, diagnostics: &mut [Diagnostic]) {
        if let Some(parts) = &self.parts {
            diagnostics.iter_mut().for_each(|told| parts.place(&self.file, told));
        }
    }

    fn hand_out(&mut self, next: Option<(Session, Option<SessionLine>)>) -> Option<Session> {
        let (mut session, line) = next?;
        self.place_in_parts(&mut session.diagnostics);
        self.latest = line;
        Some(session)
    }

    /// Where the latest session can be read again, if places were [requested](Options::places).
    pub fn latest_line(&self) -> Option<SessionLine> {
        self.latest.clone()
    }

    /// Whether the sessions depend on other files, which may change without this one.
    pub fn has_asked_others(&self) -> bool {
        self.finish.has_asked_others()
    }

    /// A reader for such lines.
    pub fn lines(&self) -> Option<LineReader> {
        let apart = self.reader.apart()?;
        Some(LineReader { setting: self.setting.clone(), format: self.format, apart })
    }

    /// Whether the rest of the input has a result, if it can be read a second time.
    fn look_ahead(&self) -> Option<bool> {
        let options = Options { format: Some(self.format), following: true, ..Options::default() };
        let input = self.again.as_ref()?().ok()?;
        let mut ahead = open(Arc::clone(&self.file), input, &options).ok()?;
        Some(ahead.any(|session| session.messages.iter().any(|m| matches!(m.kind, MessageKind::Result(..)))))
    }

    fn step(&mut self) {
        let next = match (self.seen.sampled.pop_front(), self.seen.failed.take()) {
            (Some(sampled), failed) => {
                self.seen.failed = failed;
                Ok(Some((sampled, None)))
            }
            (None, Some(error)) => Err(error),
            (None, None) => self.take(),
        };
        match next {
            Ok(Some((line, Some(made)))) => {
                self.reader.before_apart(&mut self.out);
                self.out.append(made);
                if self.spare.len() < SPARE && line.text.capacity() <= BYTES / 8 {
                    self.spare.push(line.text);
                }
            }
            Ok(Some((sampled, None))) => match self.value(&sampled) {
                true => self.units.give_back(sampled.text),
                false => self.put_back(sampled),
            },
            Ok(None) => self.end(),
            Err(error) => {
                self.lone = false;
                self.out.diagnostic(unreadable(&self.file, Some(self.units.line()), &error));
                self.end();
            }
        }
    }

    fn take(&mut self) -> io::Result<Option<(Excerpt, Option<Out>)>> {
        if let Some(next) = self.ahead.pop_front() {
            return Ok(Some(next));
        }
        self.one_by_one = self.one_by_one.saturating_sub(1);
        let next = match self.line()? {
            Some(line) => Some(line),
            None => take(&mut self.units, self.following)?,
        };
        Ok(next.map(|next| (next, None)))
    }

    fn line(&mut self) -> io::Result<Option<Excerpt>> {
        let Some(piece) = self.units.line_ahead()? else { return Ok(None) };
        Ok(Some(Excerpt { piece, text: self.units.take_text(), cut_off: false }))
    }

    /// A line is no object, so it is cut by its brackets, and what was cut off after it is read again.
    fn put_back(&mut self, line: Excerpt) {
        self.lone = false;
        if self.away > 0 {
            self.odd = Some(line);
            return;
        }
        let (mut text, mut next) = (line.text, line.piece.line + 1);
        for (ahead, _) in self.ahead.drain(..) {
            // Empty lines were passed over.
            text.extend((next..ahead.piece.line).map(|_| b'\n'));
            text.extend(ahead.text);
            next = ahead.piece.line + 1;
        }
        self.units.put_back((line.piece.line, line.piece.at), text, next);
        self.one_by_one = LINES;
    }

    /// Reads a piece; returns whether it was a value, and not a line that has to be split differently.
    fn value(&mut self, value: &Excerpt) -> bool {
        let Excerpt { piece, text, cut_off } = value;
        let damage = |message: String| {
            Diagnostic::lost(code::DAMAGED_LINE, Loss::MayHoldCalls, message)
                .on_line(Arc::clone(&self.file), piece.line)
        };
        let diagnostic = match piece.kind {
            Kind::Value | Kind::Line => {
                let mut read = text::decode(text, &self.file, piece.line);
                if *cut_off {
                    let told = "the file is cut off; the complete part of it is read".to_owned();
                    read.cut_off = Some(damage(told));
                }
                let (setting, reader, out) = (&self.setting, &mut self.reader, &mut self.out);
                let apart = reader.apart();
                let (mut before, mut is_lone) = (None, false);
                let read = unit(setting, piece, read, |unit| {
                    is_lone = !cut_off && apart.is_some_and(|is_apart| is_apart(&unit.members));
                    if is_lone && self.places {
                        reader.before_apart(out);
                        before = Some(out.sessions.len());
                    }
                    reader.unit(unit, out);
                });
                self.lone &= is_lone;
                match read {
                    Ok(wrong) => {
                        before.into_iter().for_each(|before| place(&mut self.out, before, value));
                        self.out.diagnostics(wrong);
                        return true;
                    }
                    Err(_) if piece.kind == Kind::Line => return false,
                    Err(why) => damage(why),
                }
            }
            // It is still being written.
            Kind::CutOff | Kind::Unclosed if self.following => return true,
            Kind::CutOff => damage("the file ends within this value, which is left out".to_owned()),
            Kind::Unclosed => damage("the file ends inside its list".to_owned()),
            Kind::Broken(why) if piece.last_line > piece.line => {
                damage(format!("{why}; lines {} to {} are left out", piece.line, piece.last_line))
            }
            Kind::Broken(why) => damage(format!("{why}; the line is left out")),
            Kind::TooLarge(size) => {
                let most = self.units.limit() >> 20;
                damage(format!(
                    "a value of {size} bytes is left out: more than {most} MiB are not read at once"
                ))
                .severity(Severity::Error)
            }
        };
        self.lone = false;
        let mut diagnostic = diagnostic;
        self.parts.iter().for_each(|parts| parts.weigh(&mut diagnostic));
        self.reader.damaged(diagnostic, &mut self.out);
        true
    }

    fn end(&mut self) {
        self.ended = true;
        self.reader.end(&mut self.out);
    }
}

impl Iterator for Reading {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        loop {
            if let Some(session) = self.complete() {
                return Some(session);
            }
            if self.ended {
                self.told_before_end.get_or_insert(self.told + self.out.diagnostics.len());
                let next = self.finish.end(self.out.lost, &mut self.out.diagnostics);
                return self.hand_out(next);
            }
            self.step();
        }
    }
}

#[cfg(test)]
mod tests;
