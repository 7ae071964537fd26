//! What every reader does alike: begins a session where a value stands, leaves a value out and says so, and asks
//! whether a result that bears no mark is a failure.

use std::sync::Arc;

use crate::contract::out::Out;
use crate::contract::unit::Unit;
use crate::input::shallow::{Kind, Node};
use crate::input::{calls, wrong};
use rulestep_base::diagnostic::{Diagnostic, Loss, code};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Damage, Origin, refusal};
use rulestep_base::source::quoted;

/// Tells by its text whether a result is a failure.
pub type ErrorTest = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What a reader knows of its file.
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
    /// A session that begins with this value, with what was already wrong with it. Without an id it is named after the
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

    /// That a value is left out, and why it can be no part of a session; with what was already wrong with it.
    pub fn left_out(&self, unit: &Unit<'_>, why: &str) -> Vec<Diagnostic> {
        let mut told = unit.diagnostics.clone();
        told.push(self.damaged_line(unit.line, Damage::calls(format!("{why}; it is left out"))));
        told
    }

    /// That a value is none of what the format consists of, and so left out; with what was already wrong with it.
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

    /// That a value is not what its place holds, and so left out. Programs add records of new kinds with every version: one that says
    /// its kind, has no member that readers look for calls in, and in which nothing looks like a call, is left out without harm.
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

    /// What is left out of a session as it should be, on a line: no damage.
    pub fn passed_by(&self, line: u32, message: impl Into<String>) -> Diagnostic {
        Diagnostic::notice(code::LEFT_ASIDE, message).on_line(Arc::clone(&self.file), u64::from(line))
    }

    /// Whether a result failed: as it is marked, and where it bears no mark, as its text says by the user's test.
    pub fn failed(&self, marked: Option<bool>, content: &Body) -> bool {
        marked.unwrap_or_else(|| {
            !content.is_missing() && self.error.as_ref().is_some_and(|test| test(content.shown()))
        })
    }
}

/// Keys under which recordings keep a session's own id.
pub(crate) const IDS: [&str; 8] =
    ["id", "session_id", "sessionId", "conversation_id", "thread_id", "trace_id", "instance_id", "uuid"];
