//! The session made of single values: messages or events, each a value of the file. Those of another list are another
//! session.

use crate::contract::Unit;
use crate::contract::out::Out;
use crate::contract::setting::Setting;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::build::Builder;

/// The session that is open, and the list that its values are in.
pub struct Bare<T>(Option<(T, Option<u32>)>);

/// A session that is being read.
pub trait Open {
    /// The session so far.
    fn builder(&mut self) -> &mut Builder;
}

impl Open for Builder {
    fn builder(&mut self) -> &mut Builder {
        self
    }
}

impl<T> Default for Bare<T> {
    fn default() -> Bare<T> {
        Bare(None)
    }
}

impl<T: Open> Bare<T> {
    /// The session, which is over.
    pub fn take(&mut self) -> Option<T> {
        self.0.take().map(|(open, _)| open)
    }

    /// Whether one is open.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the session that is open is that of another list.
    pub fn is_of_another(&self, list: Option<u32>) -> bool {
        self.0.as_ref().is_some_and(|(_, open)| *open != list)
    }

    /// The session that a value belongs to, begun if necessary; to be [put](Bare::put) back.
    pub fn begin(
        &mut self,
        setting: &Setting,
        unit: &Unit<'_>,
        out: &Out,
        new: impl FnOnce(Builder) -> T,
    ) -> T {
        let mut open = self.take().unwrap_or_else(|| new(setting.session_at("", unit.line, out)));
        unit.diagnostics.iter().cloned().for_each(|diagnostic| open.builder().diagnostic(diagnostic));
        open
    }

    /// Puts back the session after this value.
    pub fn put(&mut self, open: T, unit: &Unit<'_>) {
        self.0 = Some((open, unit.list));
    }

    /// Reports a part of the file that is not a value: for the open session, else for the file.
    pub fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        match &mut self.0 {
            Some((open, _)) => open.builder().diagnostic(diagnostic),
            None => out.diagnostic(diagnostic),
        }
    }
}
