//! What a reader found wrong with a part of a recording, before it is known which session and line it belongs to.

use crate::diagnostic::{Code, Diagnostic, Loss};

/// Something wrong with a part of a recording.
///
/// A text alone says that the part is read all the same. Whoever drops a part says with [`Damage::lost`] whether calls may
/// have been in it, as there is no other way to say that something is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong, in lower case.
    pub message: String,
    /// Whether something is gone for it, and what that may have held.
    pub loss: Option<Loss>,
}

impl Damage {
    /// A part is dropped.
    pub fn lost(loss: Loss, message: impl Into<String>) -> Damage {
        Damage { message: message.into(), loss: Some(loss) }
    }

    /// A part is dropped that may have held calls.
    pub fn calls(message: impl Into<String>) -> Damage {
        Damage::lost(Loss::MayHoldCalls, message)
    }

    /// As a diagnostic without a place: a warning, but for what is gone without harm.
    pub fn diagnostic(self, code: Code) -> Diagnostic {
        match self.loss {
            Some(loss) => Diagnostic::lost(code, loss, self.message),
            None => Diagnostic::warning(code, self.message),
        }
    }
}

impl From<String> for Damage {
    fn from(message: String) -> Damage {
        Damage { message, loss: None }
    }
}

impl From<&str> for Damage {
    fn from(message: &str) -> Damage {
        message.to_owned().into()
    }
}
