//! Diagnostics of a session that is damaged or odd.

use std::sync::Arc;

use super::Builder;
use crate::diagnostic::{Code, Diagnostic, Loss, code};
use crate::session::Damage;
use crate::source::quoted;

impl Builder {
    /// Adds a diagnostic.
    pub fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.session.diagnostics.push(diagnostic);
    }

    /// Adds a warning at the current line.
    pub fn tell(&mut self, code: Code, message: impl Into<String>) {
        let diagnostic = Diagnostic::warning(code, message);
        self.diagnostic(diagnostic.on_line(Arc::clone(&self.session.origin.file), u64::from(self.line)));
    }

    /// Reports damage at the current line: a text if it is read all the same, [`Damage::lost`] if it is dropped.
    pub fn damaged(&mut self, damage: impl Into<Damage>) {
        let diagnostic = damage.into().diagnostic(code::DAMAGED_RECORD);
        self.diagnostic(diagnostic.on_line(Arc::clone(&self.session.origin.file), u64::from(self.line)));
    }

    /// Reports that a part of the recording at the current line is dropped.
    pub fn lost(&mut self, loss: Loss, message: impl Into<String>) {
        self.damaged(Damage::lost(loss, message));
    }

    /// Reports content that is skipped on purpose, from the current line on: no damage.
    pub fn passed_by(&mut self, message: impl Into<String>) {
        let notice = Diagnostic::notice(code::LEFT_ASIDE, message);
        self.diagnostic(notice.on_line(Arc::clone(&self.session.origin.file), u64::from(self.line)));
    }

    /// Reports that the current line can mean two things, and which one is taken.
    pub fn ambiguous(&mut self, message: impl Into<String>) {
        let notice = Diagnostic::notice(code::AMBIGUOUS_RECORD, message);
        self.diagnostic(notice.on_line(Arc::clone(&self.session.origin.file), u64::from(self.line)));
    }

    /// Whether there was a call with this id.
    fn was_called(&mut self, id: &str) -> bool {
        let (ids, until) = &mut self.ids;
        let later = self.session.calls.get(*until..).unwrap_or_default();
        ids.extend(later.iter().filter_map(|call| call.id.clone()));
        *until = self.session.calls.len();
        ids.contains(id)
    }

    /// Reports a result that no call waits for. Unless it is a second one, its call is missing and was not judged.
    pub(super) fn unasked(&mut self, id: Option<&str>) {
        let told = match id {
            Some(id) if self.was_called(id) => Diagnostic::warning(
                code::RESULT_WITHOUT_CALL,
                format!("a second result for call {}, which already has one", quoted(id)),
            ),
            Some(id) => Diagnostic::lost(
                code::RESULT_WITHOUT_CALL,
                Loss::MayHoldCalls,
                format!("result for call {}, which is not in this recording", quoted(id)),
            ),
            None => Diagnostic::lost(
                code::RESULT_WITHOUT_CALL,
                Loss::MayHoldCalls,
                "a result names no call, and no call without an id is waiting for one",
            ),
        };
        self.diagnostic(told.on_line(Arc::clone(&self.session.origin.file), u64::from(self.line)));
    }
}
