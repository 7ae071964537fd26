//! A problem with a part of a recording, before its session and line are known.

use crate::diagnostic::{Code, Diagnostic, Loss};

/// A problem with a part of a recording.
///
/// A message alone means that the part is read all the same. A reader that drops a part says with [`Damage::lost`]
/// whether it may have held calls; nothing else marks a part as dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong, in lower case.
    pub message: String,
    /// Whether a part was dropped, and what it may have held.
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

    /// As a diagnostic without a place: a warning, or a notice if the loss is harmless.
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
