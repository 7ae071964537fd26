//! The outlines of a journal's records.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::outline::Kind;
use rulestep_base::session::body::{Place, Store};
use rulestep_base::session::{Body, Form, Millis};
use rulestep_recording::known::{Known, Step, outcome};

/// Every record of a journal, in its order.
#[derive(Debug, Default)]
pub struct Outlines {
    text: String,
    records: Vec<Outline>,
    /// Bytes of the journal.
    end: u64,
    /// The latest records about each call, once lookups are repeated.
    about: Option<HashMap<Box<str>, Last>>,
}

/// The last records about a call.
#[derive(Debug, Default)]
struct Last {
    proposed: Option<usize>,
    resolved: Option<usize>,
}

/// The position of a record.
#[derive(Debug, Clone, Copy)]
struct Outline {
    kind: Kind,
    /// Its beginning in the outlines.
    at: u32,
    /// The beginning of its line in the journal.
    start: u64,
}

/// The fields of an outline that are not read yet.
struct Fields<'a>(&'a str);

impl Outlines {
    /// These outlines. `None`: the text is invalid.
    pub fn of(text: String) -> Option<Outlines> {
        let mut outlines = Outlines::default();
        outlines.push(&text)?;
        // The pushed text is the whole text: no copy is needed.
        outlines.text = text;
        Some(outlines)
    }

    /// Adds the outlines of further records.
    pub fn add(&mut self, text: &str) -> Option<()> {
        self.push(text)?;
        self.text.push_str(text);
        Some(())
    }

    fn push(&mut self, text: &str) -> Option<()> {
        let mut rest = Fields(text);
        while let Some(letter) = rest.0.chars().next() {
            let at = self.text.len() + (text.len() - rest.0.len());
            rest.skip(letter.len_utf8())?;
            let length = rest.number()?;
            let fields = rest.text()?;
            let outline = Outline { kind: Kind::of(letter)?, at: u32::try_from(at).ok()?, start: self.end };
            self.records.push(outline);
            if let Some(about) = &mut self.about {
                note(about, outline.kind, fields, self.records.len() - 1);
            }
            self.end = self.end.checked_add(length)?;
        }
        Some(())
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Bytes of the journal that they are of.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The number of records of this kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.records.iter().filter(|record| record.kind == kind).count()
    }

    fn fields(&self, record: Outline) -> Fields<'_> {
        let mut rest = Fields(self.text.get(record.at as usize..).unwrap_or_default());
        let fields = rest.skip(1).and_then(|_| rest.number()).and_then(|_| rest.text());
        Fields(fields.unwrap_or_default())
    }

    /// The outlines of the records before this one: all that a rule can see of them.
    pub fn before(&self, number: usize) -> Option<&str> {
        let end = match self.records.get(number) {
            Some(record) => record.at as usize,
            None => Some(self.text.len()).filter(|_| number == self.records.len())?,
        };
        self.text.get(..end)
    }

    /// The kind of a record.
    pub fn kind(&self, number: usize) -> Option<Kind> {
        self.records.get(number).map(|record| record.kind)
    }

    /// The number of records of this kind from this one on.
    pub fn count_from(&self, from: usize, kind: Kind) -> usize {
        self.records.get(from..).unwrap_or_default().iter().filter(|record| record.kind == kind).count()
    }

    /// The ids of the calls that records are about, from this record on or before it.
    fn ids(&self, records: std::ops::Range<usize>) -> impl Iterator<Item = &str> {
        let records = self.records.get(records).unwrap_or_default().iter();
        let about = records.filter(|record| matches!(record.kind, Kind::Proposed | Kind::Resolved));
        about.filter_map(|record| self.fields(*record).text())
    }

    /// Whether no record from this one on, and none of `added`, is about a call with a record before it.
    pub fn parts_at(&self, number: usize, added: &Outlines) -> bool {
        let later: HashSet<&str> =
            self.ids(number..self.records.len()).chain(added.ids(0..added.records.len())).collect();
        later.is_empty() || !self.ids(0..number).any(|id| later.contains(id))
    }

    /// The number of the last record of this kind.
    pub fn last(&self, kind: Kind) -> Option<usize> {
        self.records.iter().rposition(|record| record.kind == kind)
    }

    /// The number of the last record of this kind that is about the call with this id.
    pub fn last_about(&self, kind: Kind, id: &str) -> Option<usize> {
        if let Some(about) = &self.about {
            let last = about.get(id)?;
            return if kind == Kind::Proposed { last.proposed } else { last.resolved };
        }
        self.records.iter().rposition(|record| record.kind == kind && self.fields(*record).text() == Some(id))
    }

    /// From now on, finding the records of a call costs the same however many records there are.
    pub fn remember_calls(&mut self) {
        let mut about = HashMap::new();
        for (number, record) in self.records.iter().enumerate() {
            note(&mut about, record.kind, self.fields(*record).0, number);
        }
        self.about = Some(about);
    }

    /// The range of a record's line in the journal.
    pub fn line(&self, number: usize) -> Option<(u64, u64)> {
        let record = self.records.get(number)?;
        Some((record.start, self.records.get(number + 1).map_or(self.end, |next| next.start)))
    }

    /// The bytes of the agent's log that a turn says were read.
    pub fn transcript(&self, turn: usize) -> Option<u64> {
        self.fields(*self.records.get(turn)?).number()
    }

    /// Whether a proposed call was stopped.
    pub fn is_stopped(&self, proposed: usize) -> Option<bool> {
        let mut fields = self.fields(*self.records.get(proposed)?);
        fields.text()?;
        fields.text()?;
        fields.instant()?;
        fields.body(None, 0)?;
        Some(fields.number()? == 1)
    }

    /// The bytes of the agent's log that were read before the turn of the first call that was allowed and has no
    /// result.
    pub fn waits_since(&self) -> Option<u64> {
        let mut open: HashMap<&str, u64> = HashMap::new();
        let mut before = 0;
        for (number, record) in self.records.iter().enumerate() {
            let mut fields = self.fields(*record);
            match record.kind {
                Kind::Turn => before = fields.number()?,
                Kind::Proposed if self.is_stopped(number) == Some(false) => {
                    open.insert(fields.text()?, before);
                }
                Kind::Proposed | Kind::Resolved => {
                    open.remove(fields.text()?);
                }
                _ => {}
            }
        }
        open.into_values().min()
    }

    /// Plays the records from this one on. `store` has the bodies of which they have the places. `None`: one is not a
    /// valid outline.
    pub fn play(&self, from: usize, store: Option<&Arc<dyn Store>>, known: &mut Known) -> Option<()> {
        self.play_some(self.records.get(from..)?, store, known)
    }

    /// Plays the record with which the journal begins.
    pub fn play_first(&self, known: &mut Known) -> Option<()> {
        self.play_some(self.records.get(..1)?, None, known)
    }

    fn play_some(
        &self,
        records: &[Outline],
        store: Option<&Arc<dyn Store>>,
        known: &mut Known,
    ) -> Option<()> {
        for record in records {
            let mut fields = self.fields(*record);
            if record.kind == Kind::Skipped {
                known.pass_by();
                continue;
            }
            if record.kind == Kind::Opened {
                known.line(fields.text()?);
                if records.len() > 1 {
                    known.expect(self.count(Kind::Turn), self.count(Kind::Proposed), self.records.len());
                }
                continue;
            }
            let (at, step) = fields.step(record.kind, store, record.start)?;
            known.step(at, step);
        }
        Some(())
    }
}

/// Notes that a record with these fields is the last of its kind about its call.
fn note(about: &mut HashMap<Box<str>, Last>, kind: Kind, fields: &str, number: usize) {
    let Some(id) = Fields(fields).text() else { return };
    match kind {
        Kind::Proposed => about.entry(id.into()).or_default().proposed = Some(number),
        Kind::Resolved => about.entry(id.into()).or_default().resolved = Some(number),
        Kind::Opened | Kind::Turn | Kind::Said | Kind::Closed | Kind::Skipped => {}
    }
}

impl<'a> Fields<'a> {
    fn skip(&mut self, bytes: usize) -> Option<&'a str> {
        let (before, after) = self.0.split_at_checked(bytes)?;
        self.0 = after;
        Some(before)
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0u64, 0u32);
        for (at, byte) in self.0.bytes().enumerate() {
            if byte >= 0x80 || shift > 60 {
                return None;
            }
            number |= u64::from(byte & 0x3f).checked_shl(shift)?;
            shift += 6;
            if byte & 0x40 == 0 {
                self.0 = self.0.get(at + 1..)?;
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        self.skip(length)
    }

    fn instant(&mut self) -> Option<Option<Millis>> {
        Some(match self.skip(1)? {
            "+" => Some(0i64.checked_add_unsigned(self.number()?)?),
            "-" => Some(0i64.checked_sub_unsigned(self.number()?)?),
            "n" => None,
            _ => return None,
        })
    }

    /// A body of the record whose line begins at `start`. Without a store it is skipped.
    fn body(&mut self, store: Option<&Arc<dyn Store>>, start: u64) -> Option<Body> {
        let form = match self.skip(1)? {
            "n" => return Some(Body::MISSING),
            "w" => {
                let json = self.text()?;
                return Some(if store.is_some() { Body::json(json) } else { Body::MISSING });
            }
            "t" => Form::Text,
            "j" => Form::Json,
            _ => return None,
        };
        let (at, length, digest) = (self.number()?, self.number()?, self.number()?);
        let place = Place { start: start.checked_add(at)?, length, digest };
        Some(store.map_or(Body::MISSING, |store| Body::elsewhere(store, place, form)))
    }

    fn step(
        &mut self,
        kind: Kind,
        store: Option<&Arc<dyn Store>>,
        start: u64,
    ) -> Option<(Option<Millis>, Step<'a>)> {
        Some(match kind {
            Kind::Opened | Kind::Skipped => return None,
            Kind::Turn => {
                self.number()?;
                (self.instant()?, Step::Turn)
            }
            Kind::Said => {
                let role = self.text()?;
                (self.instant()?, Step::Said { role, content: self.body(store, start)? })
            }
            Kind::Proposed => {
                let (id, tool, at) = (self.text()?, self.text()?, self.instant()?);
                let arguments = self.body(store, start)?;
                let told = if self.number()? == 1 { Some(self.body(store, start)?) } else { None };
                let folder = Some(self.text()?).filter(|folder| !folder.is_empty());
                (at, Step::Proposed { id, tool, arguments, folder, told })
            }
            Kind::Resolved => {
                let (id, outcome, at) = (self.text()?, outcome(self.text()?)?, self.instant()?);
                (at, Step::Resolved { id, outcome, output: self.body(store, start)? })
            }
            Kind::Closed => (self.instant()?, Step::Closed),
        })
    }
}
