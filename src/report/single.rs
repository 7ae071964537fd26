//! A document about one session, as the workbench writes it.

use std::sync::Arc;

use super::ci::Issues;
use super::report_data::ReportData;
use super::{End, Judged, Look, Output, RunCounts};
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// What a document is about.
pub struct Subject {
    /// The session.
    pub session: Arc<Session>,
    /// The policy that decides.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// Why it is not what is recorded or what the policy files say now, a sentence each.
    pub caveats: Vec<String>,
}

/// Judges the session and makes the document.
///
/// # Errors
/// Never: it is written to memory.
pub fn document(output: &Output, subject: &Subject) -> std::io::Result<Vec<u8>> {
    let Subject { session, policy, mode, caveats } = subject;
    let judged = Judged::Whole(Box::new(Replay::new(session, policy, *mode)));
    let (mut total, mut diagnostics) = (RunCounts::default(), session.diagnostics.clone());
    diagnostics.extend(judged.notices());
    total.add(&judged);
    total.note(&diagnostics);
    let Judged::Whole(replay) = judged else { return Ok(Vec::new()) };
    let mut data = ReportData::of(&replay);
    data.note(&diagnostics);
    let of_policy = policy.warnings();
    data.note(&of_policy);
    let end = End {
        total: &total,
        policy,
        of_policy: &of_policy,
        mode: *mode,
        gathered: &Issues::default(),
        data: &data,
        only: Some(&replay),
        caveats,
        command: "",
    };
    let mut out = Vec::new();
    (output.end)(&end, &Look::default(), &mut out)?;
    Ok(out)
}
