//! What all readers have in common: beginning a session at a value, skipping a value with a diagnostic, and asking
//! whether an unmarked result is a failure.

use std::sync::Arc;

use crate::contract::out::Out;
use crate::contract::unit::Unit;
use crate::input::shallow::{Kind, Node};
use crate::input::{calls, wrong};
use rulestep_base::diagnostic::{Diagnostic, Loss, code};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Damage, Origin, refusal};
use rulestep_base::source::quoted;

/// Recognises by its text a result that is a failure.
pub type ErrorTest = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The file as a reader knows it.
#[derive(Clone, Default)]
pub struct Setting {
    /// Name of the file, as shown.
    pub file: Arc<str>,
    /// Name of the format.
    pub format: &'static str,
    /// For results that bear no mark of their own.
    pub error: Option<ErrorTest>,
    /// For refusals that are neither marked nor published.
    pub refused: Option<refusal::Test>,
    /// See [`Options`](super::Options).
    pub marks_alone: bool,
}

impl Setting {
    /// A session that begins with this value, with the diagnostics of the value. Without an id it is named after the
    /// file.
    pub fn session(&self, id: &str, unit: &Unit<'_>, out: &Out) -> Builder {
        let mut builder = self.session_at(id, unit.line, out);
        unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
        builder
    }

    /// A session that begins on this line.
    pub fn session_at(&self, id: &str, line: u32, out: &Out) -> Builder {
        let origin = Origin { file: Arc::clone(&self.file), index: out.index(), format: self.format, line };
        Builder::new(id, origin).refused_by(self.refused.clone())
    }

    /// Diagnostics for a skipped value: why it can be no part of a session, and its earlier problems.
    pub fn left_out(&self, unit: &Unit<'_>, why: &str) -> Vec<Diagnostic> {
        let mut told = unit.diagnostics.clone();
        told.push(self.damaged_line(unit.line, Damage::calls(format!("{why}; it is left out"))));
        told
    }

    /// Diagnostics for a skipped value that is not part of the format, with its earlier problems.
    pub fn foreign(&self, unit: &Unit<'_>, expected: &str) -> Vec<Diagnostic> {
        let what = match unit.node.kind() {
            Kind::Object => {
                let names: Vec<_> = unit.members.names().take(6).map(quoted).collect();
                format!("an object with {}", names.join(", "))
            }
            kind => kind.word().to_owned(),
        };
        let mut told = unit.diagnostics.clone();
        told.push(self.stray(unit.node, unit.line, &format!("{expected}: {what}")));
        told
    }

    /// The diagnostic for a skipped value that does not belong at its place. Programs add records of new kinds with
    /// every version: a record that names its kind, has no member in which readers look for calls, and holds nothing
    /// that looks like a call is skipped without harm.
    pub fn stray(&self, node: Node<'_>, line: u32, what: &str) -> Diagnostic {
        let message = format!("{what}; it is left out");
        let members = node.tried().members().unwrap_or_default();
        let is_kind = |name: &str| calls::KIND.contains(&name);
        let says_kind = members.any(&calls::KIND).is_some_and(|kind| kind.kind() == Kind::Text);
        let may_hold = || members.names().any(|name| !is_kind(name) && wrong::is_holder(name));
        if !says_kind || may_hold() || calls::loss_of(node) == Loss::MayHoldCalls {
            return self.damaged_line(line, Damage::calls(message));
        }
        let told = Diagnostic::warning(code::DAMAGED_LINE, message);
        Diagnostic { loss: Some(Loss::Harmless), ..told.on_line(Arc::clone(&self.file), u64::from(line)) }
    }

    /// Damage on a line.
    pub fn damaged_line(&self, line: u32, damage: impl Into<Damage>) -> Diagnostic {
        damage.into().diagnostic(code::DAMAGED_LINE).on_line(Arc::clone(&self.file), u64::from(line))
    }

    /// The notice for content that is skipped on purpose, on a line: no damage.
    pub fn passed_by(&self, line: u32, message: impl Into<String>) -> Diagnostic {
        Diagnostic::notice(code::LEFT_ASIDE, message).on_line(Arc::clone(&self.file), u64::from(line))
    }

    /// Whether a result failed: by its mark, or without a mark by the user's test of its text.
    pub fn failed(&self, marked: Option<bool>, content: &Body) -> bool {
        marked.unwrap_or_else(|| {
            !content.is_missing() && self.error.as_ref().is_some_and(|test| test(content.shown()))
        })
    }
}

/// Keys under which recordings keep a session's own id.
pub(crate) const IDS: [&str; 8] =
    ["id", "session_id", "sessionId", "conversation_id", "thread_id", "trace_id", "instance_id", "uuid"];
