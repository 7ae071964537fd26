//! What is known at the end of an output.

use super::report_data::ReportData;
use super::{RunCounts, ci, words};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};

/// What is known once all sessions are judged.
pub struct End<'a> {
    /// Their totals.
    pub total: &'a RunCounts,
    /// The policy that judged them.
    pub policy: &'a Policy,
    /// What there is to say against that policy, though it decides: its warnings, and what the sessions say of it.
    pub of_policy: &'a [Diagnostic],
    /// The mode they were judged in.
    pub mode: Mode,
    /// The findings, where an output gathers them.
    pub gathered: &'a ci::Issues,
    /// What a document says of the sessions, for an output that is one.
    pub data: &'a ReportData,
    /// The session, where there is only one: a document shows it as a whole.
    pub only: Option<&'a Replay>,
    /// Why it is not what is recorded or what the policy files say now, a sentence each.
    pub caveats: &'a [String],
    /// The command that repeats the run; empty without one.
    pub command: &'a str,
}

impl End<'_> {
    pub(super) fn run(&self) -> ci::Run<'_> {
        let counts = &self.total.counts;
        let did = words::stopped(self.mode);
        let mut summary = match counts.deny + counts.halt {
            0 => format!("no call {did}"),
            stopped => format!("{} {did}", words::count(stopped, "call")),
        };
        if counts.alternatives_stopped > 0 {
            let others = words::thousands(counts.alternatives_stopped);
            summary.push_str(&format!(
                ", {others} {} in choices not taken",
                words::decided(Verdict::Deny, self.mode)
            ));
        }
        if counts.reported > 0 {
            summary.push_str(&format!(", {} reported", words::thousands(counts.reported)));
        }
        for (_, count, noun) in counts.worded() {
            summary.push_str(&format!(", {} {noun}", words::thousands(count)));
        }
        summary.push_str(&format!(" in {}", words::count(counts.sessions, "session")));
        ci::Run {
            gathered: self.gathered,
            told: self.total,
            summary,
            policy: self.of_policy,
            command: self.command,
        }
    }

    /// What a group of the data is called.
    pub(super) fn name(&self, rule: Option<RuleId>) -> String {
        let rule = rule.and_then(|rule| self.policy.rules().get(rule));
        rule.map_or_else(|| "Allowed here, refused when it was recorded".to_owned(), words::rule_name)
    }

    /// The command that shows what a document leaves out.
    pub(super) fn all(&self) -> Option<String> {
        (!self.command.is_empty()).then(|| format!("{} --full", words::line(self.command)))
    }
}
