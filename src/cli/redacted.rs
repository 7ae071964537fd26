//! `--redact`: a session as others may see it, and whether it still decides the same.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, code};
use crate::engine::Mode;
use crate::policy::Policy;
use crate::redact::{alike, redact};
use crate::session::Session;

/// The session without the values that no rule reads. If its decisions differ from those of the recording, it says so.
pub fn redacted(session: &Arc<Session>, policies: &[&Arc<Policy>], mode: Mode) -> Session {
    let plain: Vec<&Policy> = policies.iter().map(|policy| &***policy).collect();
    let blank = Arc::new(redact(session, &plain));
    let same = alike(session, &blank, policies, mode);
    let mut blank = Arc::unwrap_or_clone(blank);
    if !same {
        let message = "without its redacted values the session is decided differently from the recording";
        let warning = Diagnostic::warning(code::REDACTED_DIFFERS, message);
        blank.diagnostics.push(warning.in_file(Arc::clone(&session.origin.file)));
    }
    blank
}
