//! From bytes to sessions: the table of formats, recognition by shape, and streaming.
//!
//! Reads from what it is given and opens nothing itself. A format is one row of [`FORMATS`] and one file; its
//! `Reader` gets the values of the file one after the other and makes sessions of them with
//! [`Builder`]. At most one value of the file, and the sessions it makes, are in memory at once.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::Arc;

use super::build::{Builder, Tail};
use super::{Part, Session};
use crate::diagnostic::{Diagnostic, Severity, code};

mod agentdojo;
mod agentfootprint;
mod anthropic;
mod assay;
mod blocks;
mod callless;
mod chat;
mod claude_code;
mod codex_exec;
mod codex_rollout;
mod exchange;
mod finish;
mod gemini_cli;
mod inspect;
mod interleaved;
mod items;
mod jaeger;
mod langchain;
mod langfuse;
mod langsmith;
mod mcp;
mod mini_swe_agent;
mod native;
mod open;
mod openai_agents;
mod openai_chat;
mod openai_responses;
mod openhands;
mod otel;
mod python;
mod recognise;
mod setting;
mod shallow;
mod spans;
mod swe_agent;
mod tau2;
mod tau_bench;
mod text;
mod time;
mod units;
mod unknown;
mod vercel_ai;

use finish::Finish;
use recognise::{Sample, Sampled, Seen, take};
use setting::Setting;
use shallow::{Members, Node};
use units::{Kind, Units};

/// A kind of recording.
pub struct Format {
    /// Name for `--from` and for the output.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Whether a file of it that has calls and no result is one that does not record results.
    absent_without_results: bool,
    /// Whether the beginning of a file is one.
    recognise: fn(&Sample<'_>) -> bool,
    /// A new reader for one file.
    reader: fn(&Setting) -> Box<dyn Reader>,
}

/// Every format, in the order in which they are asked: the first that recognises a file reads it. The last one, whose
/// shape many others begin with, is asked when the whole sample of a file was seen.
pub static FORMATS: &[Format] = &[
    claude_code::FORMAT,
    codex_rollout::FORMAT,
    codex_exec::FORMAT,
    vercel_ai::FORMAT,
    gemini_cli::FORMAT,
    langsmith::FORMAT,
    langfuse::FORMAT,
    openai_agents::FORMAT,
    otel::FORMAT,
    jaeger::FORMAT,
    mcp::FORMAT,
    inspect::FORMAT,
    assay::FORMAT,
    agentfootprint::FORMAT,
    tau_bench::FORMAT,
    tau2::FORMAT,
    swe_agent::FORMAT,
    mini_swe_agent::FORMAT,
    openhands::FORMAT,
    agentdojo::FORMAT,
    anthropic::FORMAT,
    openai_responses::FORMAT,
    openai_chat::FORMAT,
    native::FORMAT,
];

/// Tells by its text whether a result is a failure.
pub type ErrorTest = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Opens the same input once more, from its beginning.
pub type Again = Arc<dyn Fn() -> io::Result<Box<dyn BufRead + Send>> + Send + Sync>;

/// How to read.
#[derive(Clone, Default)]
pub struct Options {
    /// The format, where it is not to be recognised.
    pub format: Option<&'static Format>,
    /// For results that bear no mark of their own.
    pub error: Option<ErrorTest>,
    /// The file is still being written: its end proves nothing, and an unfinished last value is no damage.
    pub following: bool,
    /// How to look ahead in the input, where that is possible: whether a file that begins with many calls and no result
    /// has one later is then known at once. Without it, such calls are `unknown`.
    pub again: Option<Again>,
    /// A session longer than this many bytes of text may be handed on in parts, see [`Reading::piece`]. That needs
    /// `again`; sessions are whole without it.
    pub parts_beyond: Option<usize>,
}

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
    /// Sessions that were given.
    given: usize,
    /// Diagnostics that were told, beside those yet to be passed over because they had been told before.
    told: usize,
    passed_over: usize,
}

/// A format's own part: makes sessions of one file's values.
trait Reader: Send {
    /// The next value.
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out);

    /// Something stood here that is no value.
    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        out.diagnostic(diagnostic);
    }

    /// The file's end.
    fn end(&mut self, _out: &mut Out) {}

    /// The session that is being read, where what its builder holds is so for good as far as can be known. A reader that
    /// holds back what it reads gives its builder what is beyond `most` bytes of that.
    fn long(&mut self, _most: usize) -> Option<&mut Builder> {
        None
    }
}

/// One value of a file.
struct Unit<'a> {
    node: Node<'a>,
    /// The members, where it is an object; else none.
    members: Members<'a>,
    /// Line where it begins, from 1.
    line: u32,
    /// The list at the top of the file that it stands in, from 0.
    list: Option<u32>,
    /// What is already known to be wrong with it.
    diagnostics: Vec<Diagnostic>,
}

/// What the reader has made so far.
#[derive(Default)]
struct Out {
    sessions: VecDeque<Made>,
    parts: VecDeque<Part>,
    made: usize,
    diagnostics: Vec<Diagnostic>,
    /// Diagnostics that are only counted.
    more: u64,
    /// Something was handed on too early.
    spoiled: bool,
}

struct Made {
    session: Session,
    /// Whether the session says itself if results were recorded.
    states_results: bool,
    /// Whether its recording marks failures.
    marks_errors: bool,
    /// Results, also of its parts before.
    results: u64,
    /// What belongs to its end, where parts of it were handed on.
    tail: Option<Tail>,
}

/// A session that is complete: its end, where parts were handed on.
struct Complete {
    session: Session,
    tail: Option<Tail>,
}

/// Diagnostics kept of one file; the rest are counted.
const MOST_DIAGNOSTICS: usize = 1000;
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

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
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
    let setting = Setting { file: Arc::clone(&file), format: format.name, error: options.error.clone() };
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
            if let Some(complete) = self.complete() {
                return Some(self.give(complete));
            }
            if let Some(part) = self.out.parts.pop_front() {
                return Some(Piece::Part(part));
            }
            if self.out.spoiled {
                return Some(self.read_again());
            }
            if self.ended {
                let last = self.finish.end(&mut self.out.diagnostics)?;
                return Some(self.give(last));
            }
            self.step();
        }
    }

    /// A session that is ready.
    fn complete(&mut self) -> Option<Complete> {
        while let Some(made) = self.out.sessions.pop_front() {
            let alone = self.out.sessions.is_empty() && self.seen.sampled.is_empty() && self.units.at_end();
            self.finish.push(made, alone, &mut self.out.diagnostics);
        }
        self.finish.pop()
    }

    fn give(&mut self, Complete { session, tail }: Complete) -> Piece {
        match tail {
            Some(tail) if tail.spoiled => self.read_again(),
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

    /// Reads the input once more and hands on no parts. What was given is passed over.
    fn read_again(&mut self) -> Piece {
        let options = Options { parts_beyond: None, ..self.options.clone() };
        let input = match &options.again {
            Some(again) => again().map_err(|error| unreadable(&self.file, None, &error)),
            None => Err(unreadable(&self.file, None, &io::ErrorKind::Unsupported.into())),
        };
        let opened = input.and_then(|input| open(Arc::clone(&self.file), input, &options));
        self.out = Out::default();
        match opened {
            Ok(reading) => {
                let (given, told) = (self.given, self.told);
                *self = Reading { passed_over: told, ..reading };
                for _ in 0..given {
                    let _ = self.piece();
                }
            }
            Err(told) => {
                self.ended = true;
                self.finish = Finish::new(&self.file, self.format, &options);
                self.out.diagnostic(told);
            }
        }
        Piece::Again
    }

    /// Hands on what is complete of a session that is too long to be held.
    fn hand_on(&mut self) {
        let Some(most) = self.options.parts_beyond.filter(|_| self.options.again.is_some()) else { return };
        let Some(builder) = self.reader.long(most) else { return };
        if builder.is_spoiled() {
            self.out.spoiled = true;
        } else if builder.held() > most {
            self.out.parts.extend(builder.take_part());
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
            Diagnostic::warning(code::DAMAGED_LINE, message).on_line(Arc::clone(&self.file), piece.line)
        };
        let diagnostic = match piece.kind {
            Kind::Value => {
                let mut read = text::decode(text, &self.file, piece.line);
                if *cut_off {
                    read.diagnostics
                        .push(damage("the file is cut off; what is whole of it is read".to_owned()));
                }
                match shallow::value(&read.text) {
                    Ok((node, members)) => {
                        let line = u32::try_from(piece.line).unwrap_or(u32::MAX);
                        let unit =
                            Unit { node, members, line, list: piece.list, diagnostics: read.diagnostics };
                        self.reader.unit(&unit, &mut self.out);
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

impl Out {
    /// A session is complete.
    fn session(&mut self, mut builder: Builder) {
        self.made += 1;
        self.sessions.push_back(Made {
            states_results: builder.states_results(),
            marks_errors: builder.marks_errors(),
            results: builder.result_count(),
            tail: builder.tail(),
            session: builder.finish(),
        });
    }

    /// Place in the file of the next session, from 0.
    fn index(&self) -> usize {
        self.made
    }

    /// What was wrong with a part of the file that belongs to no session.
    fn diagnostics(&mut self, told: impl IntoIterator<Item = Diagnostic>) {
        told.into_iter().for_each(|diagnostic| self.diagnostic(diagnostic));
    }

    /// Something about the file.
    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.more += 1;
        }
    }
}

fn unreadable(file: &Arc<str>, line: Option<u64>, error: &io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(code::UNREADABLE_FILE, format!("the file cannot be read: {error}"));
    match line {
        Some(line) => diagnostic.on_line(Arc::clone(file), line),
        None => diagnostic.in_file(Arc::clone(file)),
    }
}
