//! Calls that could not be decided: the journal has the answer, and the reason.

use super::agent::{Answer, Event, Report};
use super::earlier::is_sibling;
use super::fault::Fault;
use super::hook_service::HookService;
use super::journal::Journal;
use super::record::{Json, Judged, Proposed, Record};
use super::tree::Clock;
use rulestep_engine::run::Verdict;

impl HookService {
    /// Records a call that was answered without a decision, with the reason. `runs`: the answer; `None`: the user is asked.
    ///
    /// # Errors
    /// It cannot be recorded either.
    pub fn record_undecided(&self, report: &Report, why: &str, runs: Option<bool>) -> Result<(), Fault> {
        let Event::Propose { id, tool, arguments } = &report.event else { return Ok(()) };
        let record = |journal: &mut Journal, clock: Clock<'_>| {
            let mut records = String::new();
            let latest = if journal.is_new() { None } else { Some(journal.latest()?) };
            if latest.is_none() {
                records += &self.opened(report, None, clock);
            }
            if !is_sibling(latest.as_ref(), None, id.as_deref()) {
                records += &Record::Turn { at: clock.now(), transcript: journal.transcript() }.line();
            }
            let verdict = match runs {
                Some(true) => Verdict::Allow,
                Some(false) => Verdict::Deny,
                None => Verdict::Ask,
            };
            let made = format!("call-{}", journal.calls() + 1);
            let told = (runs != Some(true)).then_some(why);
            let mode = self.mode.word();
            let judged = Judged {
                decision: verdict,
                mode,
                runs,
                findings: &[],
                told,
                policy: "",
                policy_from: None,
                policy_fault: Some(why),
                tree: None,
                took: 0.0,
            };
            let (id, arguments) = (id.as_deref().unwrap_or(&made), Json(arguments));
            let (at, cwd) = (clock.now(), report.cwd.as_deref());
            records +=
                &Record::Proposed(Proposed { id, tool, arguments, at, cwd, judged: Some(judged) }).line();
            clock.save()?;
            journal.append(&records)
        };
        let record =
            |journal: &mut Journal, clock: Clock<'_>| record(journal, clock).map(|()| Answer::Silent);
        self.with_journal(report, false, record).map(drop)
    }
}
