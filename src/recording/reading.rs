//! The reading of one input: values go to the format's reader, sessions come out.

use std::io::BufRead;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Loss, Severity, code};
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::recording::contract::{Again, Format, Options, Reader, Unit};
use crate::recording::finish::Finish;
use crate::recording::input::looks::Looks;
use crate::recording::input::shallow;
use crate::recording::input::tape::Tape;
use crate::recording::input::text;
use crate::recording::input::units;
use crate::recording::input::units::{Kind, Units};
use crate::recording::recognise;
use crate::recording::recognise::{Excerpt, Excerpts, take, unreadable};
use crate::session::{MessageKind, Session};

/// The sessions of one input, in its order.
pub struct Reading {
    file: Arc<str>,
    format: &'static Format,
    units: Units,
    reader: Box<dyn Reader>,
    seen: Excerpts,
    following: bool,
    ended: bool,
    out: Out,
    finish: Finish,
    again: Option<Again>,
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
    let mut seen = Excerpts::default();
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
        again: options.again.clone(),
    })
}

impl Reading {
    /// Name of the format.
    #[cfg_attr(not(feature = "internals"), expect(dead_code, reason = "each session names it as well"))]
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
        diagnostics
    }

    /// Names the sessions that the reader has made, and settles what their file decides.
    fn complete(&mut self) -> Option<Session> {
        while let Some(made) = self.out.sessions.pop_front() {
            let alone = self.out.sessions.is_empty() && self.seen.sampled.is_empty() && self.units.at_end();
            self.finish.push(made, alone, self.out.lost, &mut self.out.diagnostics);
            if self.finish.holds_too_much() {
                self.finish.decide(self.look_ahead(), &mut self.out.diagnostics);
            }
        }
        self.finish.pop()
    }

    /// Whether a result comes in the rest of the input, where that can be read a second time.
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
                Ok(Some(sampled))
            }
            (None, Some(error)) => Err(error),
            (None, None) => self.units.line_ahead().and_then(|line| match line {
                Some(piece) => Ok(Some(Excerpt { piece, text: self.units.take_text(), cut_off: false })),
                None => take(&mut self.units, self.following),
            }),
        };
        match next {
            Ok(Some(sampled)) => match self.value(&sampled) {
                true => self.units.give_back(sampled.text),
                false => self.units.put_back(sampled.piece.line, sampled.text),
            },
            Ok(None) => self.end(),
            Err(error) => {
                self.out.diagnostic(unreadable(&self.file, Some(self.units.line()), &error));
                self.end();
            }
        }
    }

    /// Reads a piece; gives whether it was one, and no line that has to be cut in another way.
    fn value(&mut self, Excerpt { piece, text, cut_off }: &Excerpt) -> bool {
        let damage = |message: String| {
            Diagnostic::lost(code::DAMAGED_LINE, Loss::MayHoldCalls, message)
                .on_line(Arc::clone(&self.file), piece.line)
        };
        let diagnostic = match piece.kind {
            Kind::Value | Kind::Line => {
                let mut read = text::decode(text, &self.file, piece.line);
                if *cut_off {
                    read.diagnostics
                        .push(damage("the file is cut off; the complete part of it is read".to_owned()));
                }
                let looks = Looks::default();
                let tape = Tape::of(read.text.trim_ascii());
                let value = tape.as_ref().map(|tape| shallow::of_tape(tape, Some(&looks)));
                match value.unwrap_or_else(|| Err(shallow::error(&read.text))) {
                    Ok((node, members)) => {
                        let line = u32::try_from(piece.line).unwrap_or(u32::MAX);
                        let unit =
                            Unit { node, members, line, list: piece.list, diagnostics: read.diagnostics };
                        self.reader.unit(&unit, &mut self.out);
                        for (line, damage) in looks.wrong(&read.text, line) {
                            let wrong = damage.diagnostic(code::DAMAGED_RECORD);
                            self.out.diagnostic(wrong.on_line(Arc::clone(&self.file), u64::from(line)));
                        }
                        return true;
                    }
                    Err(_) if piece.kind == Kind::Line => return false,
                    Err(error) => damage(text::not_json(&read.text, &error)),
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
                return self.finish.end(self.out.lost, &mut self.out.diagnostics);
            }
            self.step();
        }
    }
}
