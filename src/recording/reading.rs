//! The reading of one input: values go to the format's reader, sessions come out whole or in parts.
//!
//! Where what was handed on turns out to have been told too early, the input is read once more; nothing is told twice.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Loss, Severity, code};
use crate::recording::contract::out::{Complete, Out};
use crate::recording::contract::setting::Setting;
use crate::recording::contract::{Format, Options, Reader, Unit};
use crate::recording::finish::Finish;
use crate::recording::input::looks::Looks;
use crate::recording::input::shallow;
use crate::recording::input::text;
use crate::recording::input::units;
use crate::recording::input::units::{Kind, Units};
use crate::recording::recognise;
use crate::recording::recognise::{Sampled, Seen, take};
use crate::session::build::{Known, Tail};
use crate::session::{Part, Session};

/// What a reading gives next.
#[derive(Debug)]
pub enum Piece {
    /// A session.
    Whole(Session),
    /// A part of one that is still being read. Its last part follows, though other sessions may come between.
    Part(Part),
    /// The last part of the session whose parts came before: it knows the session's id and origin, and what was odd.
    Last(Part),
    /// The parts that came before were told too early: something stood behind them that changes what they mean. The
    /// session comes again, as a whole.
    Again,
}

/// The sessions of one input, in its order.
pub struct Reading {
    file: Arc<str>,
    format: &'static Format,
    units: Units,
    reader: Box<dyn Reader>,
    seen: Seen,
    following: bool,
    ended: bool,
    out: Out,
    finish: Finish,
    options: Options,
    /// What an earlier look at the input found of sessions that came in parts; `None` before that.
    known: Option<Known>,
    /// Parts that came while sessions were passed over.
    kept: VecDeque<Part>,
    /// Sessions that were given.
    given: usize,
    /// Diagnostics that were told, by the looks at the input before this one too.
    told: usize,
    /// Of those, the ones that this look is still to find, and not to tell, again.
    passed_over: usize,
}

/// Begins to read `input`. `file` is its name, as shown; `-` for standard input.
///
/// # Errors
/// One diagnostic, where nothing can be read at all: the input fails, is empty, or is no recording of a known format.
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
    let mut seen = Seen::default();
    let format = match options.format {
        Some(format) => format,
        None => recognise::format(&file, &mut units, &mut seen, options.following)?,
    };
    let (error, refused) = (options.error.clone(), options.refused.clone());
    let setting = Setting { file: Arc::clone(&file), format: format.name, error, refused };
    Ok(Reading {
        finish: Finish::new(&file, format, options),
        file,
        format,
        units,
        reader: (format.reader)(&setting),
        seen,
        following: options.following,
        ended: false,
        out: Out::default(),
        options: options.clone(),
        known: None,
        kept: VecDeque::new(),
        given: 0,
        told: 0,
        passed_over: 0,
    })
}

impl Reading {
    /// Name of the format.
    pub fn format(&self) -> &'static str {
        self.format.name
    }

    /// What has been found about the file that belongs to no session, since last asked. Complete when there is no
    /// further session.
    pub fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut diagnostics = std::mem::take(&mut self.out.diagnostics);
        if self.ended && self.out.more > 0 {
            let more = std::mem::take(&mut self.out.more);
            let message = format!("{more} more problems of this file are not listed");
            let diagnostic = Diagnostic::warning(code::DAMAGED_LINE, message);
            diagnostics.push(diagnostic.in_file(Arc::clone(&self.file)));
        }
        let known = diagnostics.len().min(self.passed_over);
        diagnostics.drain(..known);
        self.passed_over -= known;
        self.told += diagnostics.len();
        diagnostics
    }

    /// The next session, or the next part of one. Without [`Options::parts_beyond`] sessions are whole.
    pub fn piece(&mut self) -> Option<Piece> {
        loop {
            if let Some(part) = self.kept.pop_front() {
                return Some(Piece::Part(part));
            }
            if let Some(complete) = self.complete() {
                return Some(self.give(complete));
            }
            if let Some(part) = self.out.parts.pop_front() {
                return Some(Piece::Part(part));
            }
            if self.out.spoiled {
                return Some(self.read_again(None));
            }
            if self.ended {
                let last = self.finish.end(self.out.lost, &mut self.out.diagnostics)?;
                return Some(self.give(last));
            }
            self.step();
        }
    }

    /// A session that is ready.
    fn complete(&mut self) -> Option<Complete> {
        while let Some(made) = self.out.sessions.pop_front() {
            let alone = self.out.sessions.is_empty() && self.seen.sampled.is_empty() && self.units.at_end();
            self.finish.push(made, alone, self.out.lost, &mut self.out.diagnostics);
        }
        self.finish.pop()
    }

    fn give(&mut self, Complete { session, tail }: Complete) -> Piece {
        match tail {
            Some(tail) if tail.spoiled => self.read_again(None),
            Some(tail) if tail.otherwise => {
                let known = if self.known.is_none() { self.look_ahead() } else { None };
                self.read_again(known)
            }
            Some(Tail { first, answered, .. }) => {
                self.given += 1;
                Piece::Last(Part { session, first, answered })
            }
            None => {
                self.given += 1;
                Piece::Whole(session)
            }
        }
    }

    /// What the sessions that come in parts have told of their surroundings by their ends. `None` where one of them
    /// proves too late to have been told in parts at all.
    fn look_ahead(&self) -> Option<Known> {
        let input = self.options.again.as_ref()?().ok()?;
        let mut ahead = open(Arc::clone(&self.file), input, &self.options).ok()?;
        let mut known = Known::new();
        while !ahead.ended {
            ahead.step();
            for made in ahead.out.sessions.drain(..) {
                if let Some(tail) = made.tail {
                    ahead.out.spoiled |= tail.spoiled;
                    known.insert(tail.begun, made.session.facts);
                }
            }
            if ahead.out.spoiled {
                return None;
            }
            ahead.out.parts.clear();
            ahead.out.diagnostics.clear();
        }
        Some(known)
    }

    /// Reads the input once more: in parts, where it is `known` what their sessions tell at their ends, else without.
    /// What was given is passed over.
    fn read_again(&mut self, known: Option<Known>) -> Piece {
        let parts_beyond = self.options.parts_beyond.filter(|_| known.is_some());
        let options = Options { parts_beyond, ..self.options.clone() };
        let input = match &options.again {
            Some(again) => again().map_err(|error| unreadable(&self.file, None, &error)),
            None => Err(unreadable(&self.file, None, &io::ErrorKind::Unsupported.into())),
        };
        let opened = input.and_then(|input| open(Arc::clone(&self.file), input, &options));
        self.out = Out::default();
        match opened {
            Ok(reading) => {
                let (given, told) = (self.given, self.told);
                *self = Reading { told, passed_over: told, known, ..reading };
                self.pass_over(given);
            }
            Err(told) => {
                self.ended = true;
                self.finish = Finish::new(&self.file, self.format, &options);
                self.out.diagnostic(told);
            }
        }
        Piece::Again
    }

    /// Passes over sessions that were given, but not over the parts of one that was not.
    fn pass_over(&mut self, given: usize) {
        let mut open = VecDeque::new();
        while self.given < given {
            match self.piece() {
                Some(Piece::Part(part)) => open.push_back(part),
                Some(Piece::Last(_) | Piece::Again) => open.clear(),
                Some(Piece::Whole(_)) => {}
                None => break,
            }
        }
        self.kept = open;
    }

    /// Hands on what is complete of a session that is too long to be held.
    fn hand_on(&mut self) {
        let Some(most) = self.options.parts_beyond.filter(|_| self.options.again.is_some()) else { return };
        let Some(builder) = self.reader.long(most) else { return };
        if builder.is_spoiled() {
            self.out.spoiled = true;
        } else if builder.held() > most {
            self.out.parts.extend(builder.take_part(self.known.as_ref()));
        }
    }

    fn step(&mut self) {
        let next = match (self.seen.sampled.pop_front(), self.seen.failed.take()) {
            (Some(sampled), failed) => {
                self.seen.failed = failed;
                Ok(Some(sampled))
            }
            (None, Some(error)) => Err(error),
            (None, None) => take(&mut self.units, self.following),
        };
        match next {
            Ok(Some(sampled)) => {
                self.value(&sampled);
                self.units.give_back(sampled.text);
            }
            Ok(None) => self.end(),
            Err(error) => {
                self.out.diagnostic(unreadable(&self.file, Some(self.units.line()), &error));
                self.end();
            }
        }
    }

    fn value(&mut self, Sampled { piece, text, cut_off }: &Sampled) {
        let damage = |message: String| {
            Diagnostic::lost(code::DAMAGED_LINE, Loss::MayHoldCalls, message)
                .on_line(Arc::clone(&self.file), piece.line)
        };
        let diagnostic = match piece.kind {
            Kind::Value => {
                let mut read = text::decode(text, &self.file, piece.line);
                if *cut_off {
                    read.diagnostics
                        .push(damage("the file is cut off; what is whole of it is read".to_owned()));
                }
                let looks = Looks::default();
                match shallow::value(&read.text, Some(&looks)) {
                    Ok((node, members)) => {
                        let line = u32::try_from(piece.line).unwrap_or(u32::MAX);
                        let unit =
                            Unit { node, members, line, list: piece.list, diagnostics: read.diagnostics };
                        self.reader.unit(&unit, &mut self.out);
                        for (line, damage) in looks.wrong(&read.text, line) {
                            let wrong = damage.diagnostic(code::DAMAGED_RECORD);
                            self.out.diagnostic(wrong.on_line(Arc::clone(&self.file), u64::from(line)));
                        }
                        return self.hand_on();
                    }
                    Err(error) => damage(text::not_json(&read.text, &error)),
                }
            }
            // It is still being written.
            Kind::CutOff | Kind::Unclosed if self.following => return,
            Kind::CutOff => damage("the file ends within this value, which is left out".to_owned()),
            Kind::Unclosed => damage("the file ends within the list that it is".to_owned()),
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
        self.reader.damaged(diagnostic, &mut self.out);
    }

    fn end(&mut self) {
        self.ended = true;
        self.reader.end(&mut self.out);
    }
}

impl Iterator for Reading {
    type Item = Session;

    /// The next session, whole. The parts of one that was handed on are lost here.
    fn next(&mut self) -> Option<Session> {
        loop {
            if let Piece::Whole(session) | Piece::Last(Part { session, .. }) = self.piece()? {
                return Some(session);
            }
        }
    }
}

/// What an input fails with; on this line, where it is known.
pub fn unreadable(file: &Arc<str>, line: Option<u64>, error: &io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(code::UNREADABLE_FILE, format!("the file cannot be read: {error}"));
    match line {
        Some(line) => diagnostic.on_line(Arc::clone(file), line),
        None => diagnostic.in_file(Arc::clone(file)),
    }
}
