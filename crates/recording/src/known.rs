//! Journals whose records are known already: a session is built from them as from the lines of their file, and nothing
//! is parsed twice.

use std::sync::Arc;

use crate::Options;
use crate::contract::Reader;
use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::finish::Finish;
use crate::format::rulestep_live::{FORMAT, Journal};
pub use crate::format::rulestep_live::{Step, outcome};
use crate::input::shallow::Node;
use crate::input::units::{Kind, Piece};
use crate::input::{text, time};
use crate::reading::unit;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Body;
use rulestep_base::session::{Facts, Millis, Session};

/// A journal, record by record. Decisions that it has are left out, as none rests on those before it.
pub struct Known {
    setting: Setting,
    reader: Journal,
    out: Out,
    /// Lines so far.
    line: u32,
}

impl Known {
    /// From the beginning of the journal with this name.
    pub fn new(name: &str) -> Known {
        Known::of(name, |setting, _| Journal::new(setting, false))
    }

    /// From a part of it. What precedes that part is not missing.
    pub fn part(name: &str) -> Known {
        Known::of(name, Journal::part)
    }

    fn of(name: &str, reader: impl Fn(&Setting, &Out) -> Journal) -> Known {
        let setting = Setting { file: name.into(), format: FORMAT.name, ..Setting::default() };
        let out = Out::default();
        Known { reader: reader(&setting, &out), setting, out, line: 0 }
    }

    /// Hint: about this many records follow.
    pub fn expect(&mut self, turns: usize, calls: usize, records: usize) {
        if let Some(builder) = self.reader.builder() {
            builder.expect(turns, calls, records);
        }
    }

    /// The next record, where one before it was `opened`.
    pub fn step(&mut self, at: Option<Millis>, step: Step<'_>) {
        self.line += 1;
        self.reader.step(self.line, at, step);
    }

    /// The next line is no record: it was cut off, or says so of the one before.
    pub fn pass_by(&mut self) {
        self.line += 1;
    }

    /// The next record as its line has it.
    pub fn line(&mut self, line: &str) {
        self.line += 1;
        let (number, file) = (u64::from(self.line), &self.setting.file);
        let piece = Piece { line: number, last_line: number, list: None, at: None, kind: Kind::Line };
        let decoded = text::decode(line.as_bytes(), file, number);
        let (reader, out) = (&mut self.reader, &mut self.out);
        match unit(&self.setting, &piece, decoded, |unit| reader.unit(unit, out)) {
            Ok(wrong) => self.out.diagnostics(wrong),
            Err(why) => {
                let damage = self.setting.damaged_line(self.line, rulestep_base::session::Damage::calls(why));
                self.reader.damaged(damage, &mut self.out);
            }
        }
    }

    /// Whether a call may be missing, since a line could not be read.
    pub fn is_damaged(&self) -> bool {
        self.out.diagnostics.iter().any(Diagnostic::may_lose_calls)
    }

    /// The facts of the session, once the journal has begun.
    pub fn facts(&mut self) -> Option<Arc<Facts>> {
        Some(Arc::new(self.reader.builder()?.facts().clone()))
    }

    /// The session so far.
    pub fn so_far(&mut self) -> Option<&Session> {
        let builder = self.reader.builder()?;
        builder.show_facts();
        Some(builder.so_far())
    }

    /// The call that was proposed last was stopped, and the model read this.
    pub fn told(&mut self, at: Option<Millis>, id: &str, told: Body) {
        self.reader.told(self.line, at, id, told);
    }

    /// The session, if it is one; and the problems of the journal that belong to no session.
    pub fn session(mut self) -> (Option<Session>, Vec<Diagnostic>) {
        self.reader.end(&mut self.out);
        let Out { sessions, mut diagnostics, lost, .. } = self.out;
        let mut finish = Finish::new(&self.setting.file, &FORMAT, &Options::default());
        let alone = sessions.len() == 1;
        sessions.into_iter().for_each(|made| finish.push(made, alone, lost, &mut diagnostics));
        let session = finish.end(lost, &mut diagnostics).filter(|_| alone).map(|(session, _)| session);
        (session, diagnostics)
    }
}

/// The instant of a JSON value, as readers read it.
pub fn instant(json: &str) -> Option<Millis> {
    time::instant(Node::parse(json).ok()?)
}

/// Whether half of a surrogate pair is in a JSON text: readers correct it, and say so.
pub fn has_half(json: &str) -> bool {
    text::has_half(json)
}
