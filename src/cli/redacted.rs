//! `--redact`: a session as others may see it, and whether it still has the same decisions.

use std::sync::Arc;

use crate::redact::{Redacted, alike, redact};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::Session;
use rulestep_base::wording::count;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// The session without the values that no rule reads. If its decisions differ from those of the recording, it says so.
pub fn redacted(session: &Arc<Session>, policies: &[&Arc<Policy>], mode: Mode) -> Session {
    let plain: Vec<&Policy> = policies.iter().map(|policy| &***policy).collect();
    let Redacted { session: blank, whole, secrets } = redact(session, &plain);
    let blank = Arc::new(blank);
    let same = alike(session, &blank, policies, mode);
    let mut blank = Arc::unwrap_or_clone(blank);
    let calls = |calls: usize| count(calls as u64, "call");
    let mut say = |diagnostic: Diagnostic| {
        blank.diagnostics.push(diagnostic.in_file(Arc::clone(&session.origin.file)));
    };
    if !same {
        let because = match secrets {
            0 => String::new(),
            _ => format!(": what decides {} looks like a secret and is redacted", calls(secrets)),
        };
        let message = format!(
            "without its redacted values the session is decided differently from the recording{because}"
        );
        say(Diagnostic::warning(code::REDACTED_DIFFERS, message));
    }
    if whole > 0 {
        let message = format!("the command of {} is shown whole, since a rule reads its text", calls(whole));
        let help = "ask what it does (`runs`, `reads`, `writes`, `reaches`) instead of `args_match`, and only those words stay";
        say(Diagnostic::notice(code::REDACTED_WHOLE, message).help(help));
    }
    blank
}
