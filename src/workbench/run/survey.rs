//! Counts how sessions exercise the rules, and their content.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::explore::survey::Survey;
use crate::lint::{Levels, recorded, settle};
use crate::stored::{NotRestored, StoredSession};
use crate::workbench::effect::SurveyRequest;
use crate::workbench::message::Msg;
use rulestep_base::diagnostic::Severity;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;

/// Sessions that are counted before anything newer is looked for.
const TOGETHER: usize = 64;

/// Counts sessions on the threads of the pool that runs this; stops when a newer request exists. The counts are sent
/// each time half as many more sessions are counted, so that a long list is not made again for each.
pub fn count(request: &SurveyRequest, levels: &Levels, newest: &AtomicU64, tell: &mut dyn FnMut(Msg)) {
    let wish = &request.wish;
    let policy = wish.policy.clone().unwrap_or_else(Policy::empty);
    let (mut survey, mut counted, mut told) = (Survey::default(), 0, 0);
    for sessions in wish.sessions.chunks(TOGETHER) {
        if newest.load(Ordering::SeqCst) > request.number {
            return;
        }
        let of = |session: &Arc<StoredSession>| {
            let session = session.session().map_err(|error| (Arc::clone(&session.id), error))?;
            Ok(Survey::of(&Replay::with_checks(&session, &policy, wish.mode)))
        };
        let counts: Result<Vec<Survey>, (Arc<str>, NotRestored)> = sessions.par_iter().map(of).collect();
        let counts = match counts {
            Ok(counts) => counts,
            // An incomplete count is useless.
            Err((id, error)) => return tell(Msg::Unrestored { id, error }),
        };
        counts.iter().for_each(|count| survey.merge(count));
        counted += sessions.len();
        if counted >= told + told / 2 && counted < wish.sessions.len() {
            told = counted;
            let findings = Vec::new();
            tell(Msg::Survey { number: request.number, counted, survey: Arc::new(survey.clone()), findings });
        }
    }
    let mut findings = settle(recorded(&policy, &survey), &policy, levels);
    // Rules that never fired are in the list of rules.
    findings.retain(|found| found.severity > Severity::Notice);
    tell(Msg::Survey { number: request.number, counted, survey: Arc::new(survey), findings });
}
