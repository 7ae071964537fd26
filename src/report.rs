//! What is shown of judged sessions and of policies: one file an output, one place for words.
//!
//! An output writes into what it is given and knows nothing of terminals, files or the environment. Sessions are
//! written one by one, in input order; [`Total`] adds them up.

pub mod breakdown;
pub mod cases;
pub mod ci;
pub mod coverage;
pub mod diagnostic;
pub mod diff;
pub mod json;
mod paint;
pub mod reference;
pub mod text;
pub mod totals;
pub mod words;

use std::io::{self, Write};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity};
use crate::engine::{Halt, Mode, Verdict};
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::policy::{Document, Policy};
use crate::replay::{Outcomes, Replay, Status, Summary, Tables, counted_refusals, outcomes};
use crate::session::Session;

/// An output of judged sessions.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Whether it needs the findings of all sessions at its end.
    pub gathers: bool,
    /// Writes one session.
    pub session: fn(&Judged, &Look, &mut dyn Write) -> io::Result<()>,
    /// Writes what closes the output, or all of it.
    pub end: fn(&End<'_>, &Look, &mut dyn Write) -> io::Result<()>,
}

/// What is known once all sessions are judged.
pub struct End<'a> {
    /// What they come to.
    pub total: &'a Total,
    /// The policy that judged them.
    pub policy: &'a Policy,
    /// The mode they were judged in.
    pub mode: Mode,
    /// The findings, where an output gathers them.
    pub gathered: &'a ci::Gathered,
    /// The command that does it again.
    pub command: &'a str,
}

/// Every output of judged sessions; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output {
        name: "text",
        title: "text for people",
        gathers: false,
        session: text::session,
        end: |end, look, out| totals::text(end, look, out),
    },
    Output {
        name: "json",
        title: "one JSON object per session, then one with totals, each on its own line",
        gathers: false,
        session: |judged, look, out| json::session(judged, look.scope, out),
        end: |end, _, out| totals::json(end.total, end.policy, out),
    },
    gathering("markdown", "Markdown for a pull request", |end, _, out| ci::replay::markdown(&end.run(), out)),
    gathering("junit", "JUnit XML for a build server, one test case per session", |end, _, out| {
        ci::replay::junit(&end.run(), out)
    }),
    gathering("sarif", "SARIF for code scanning", |end, _, out| ci::sarif::write(&end.run(), out)),
    gathering("github", "GitHub Actions annotations", |end, _, out| ci::github::write(&end.run(), out)),
];

/// An output that is written as a whole.
const fn gathering(
    name: &'static str,
    title: &'static str,
    end: fn(&End<'_>, &Look, &mut dyn Write) -> io::Result<()>,
) -> Output {
    Output { name, title, gathers: true, session: |_, _, _| Ok(()), end }
}

impl End<'_> {
    fn run(&self) -> ci::Run<'_> {
        let total = self.total;
        let did = words::stopped(self.mode);
        let mut summary = match total.deny + total.halt {
            0 => format!("no call {did}"),
            stopped => format!("{} {did}", words::count(stopped, "call")),
        };
        if total.alternatives_stopped > 0 {
            let others = words::thousands(total.alternatives_stopped);
            summary.push_str(&format!(
                ", {others} {} in choices not taken",
                words::decided(Verdict::Deny, self.mode)
            ));
        }
        let violated = total.tables.violated();
        if violated > 0 {
            summary.push_str(&format!(", {} violated", words::count(violated, "session rule")));
        }
        summary.push_str(&format!(" in {}", words::count(total.sessions, "session")));
        ci::Run { gathered: self.gathered, told: total, summary, command: self.command }
    }
}

/// How much of a session is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// What it comes to, alone.
    Summary,
    /// Turns, calls and findings.
    #[default]
    Findings,
    /// Also preconditions, state and every check.
    Full,
}

/// How an output is to look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// How much is shown.
    pub scope: Scope,
    /// Whether it may be coloured.
    pub color: bool,
}

/// A session that was judged, as a whole or for its outcome alone.
pub enum Judged {
    /// Every decision with its findings.
    Whole(Box<Replay>),
    /// Counts and status.
    Outcome {
        /// The session.
        session: Arc<Session>,
        /// The policy that judged it.
        policy: Arc<Policy>,
        /// The mode it was judged in.
        mode: Mode,
        /// What came of it.
        outcomes: Box<Outcomes>,
    },
}

/// What all sessions come to.
#[derive(Debug, Clone, Default)]
pub struct Total {
    /// Sessions judged.
    pub sessions: u64,
    /// Sessions in which a call was stopped or a rule is violated.
    pub objected: u64,
    /// Counts, added up.
    pub turns: u64,
    /// See `turns`.
    pub calls: u64,
    /// See `turns`.
    pub allow: u64,
    /// See `turns`.
    pub deny: u64,
    /// See `turns`.
    pub halt: u64,
    /// See `turns`.
    pub not_reached: u64,
    /// Denied or halted calls beyond a frontier, which the others count as well.
    pub deny_counterfactual: u64,
    /// Calls where decision and recording differ.
    pub disagree: u64,
    /// Calls of choices that were not taken, which no other count has.
    pub alternatives: u64,
    /// Those of them that are denied or halted.
    pub alternatives_stopped: u64,
    /// Diagnostics about recordings and policies.
    pub errors: u64,
    /// See `errors`.
    pub warnings: u64,
    /// See `errors`.
    pub notices: u64,
    /// What stopped calls and which rules are violated, counted.
    pub tables: Tables,
    /// Files that gave no session.
    pub skipped: u64,
    /// The work was broken off.
    pub interrupted: bool,
}

impl Judged {
    /// Judges a session, for as much as will be shown of it.
    pub fn new(session: Session, policy: &Arc<Policy>, mode: Mode, scope: Scope) -> Judged {
        let session = Arc::new(session);
        if scope == Scope::Summary {
            let outcomes = outcomes(&session, policy, mode);
            Judged::Outcome { session, policy: Arc::clone(policy), mode, outcomes: Box::new(outcomes) }
        } else {
            Judged::Whole(Box::new(Replay::new(&session, policy, mode)))
        }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        match self {
            Judged::Whole(replay) => replay.session(),
            Judged::Outcome { session, .. } => session,
        }
    }

    /// The policy that judged it.
    pub fn policy(&self) -> &Policy {
        match self {
            Judged::Whole(replay) => replay.policy(),
            Judged::Outcome { policy, .. } => policy,
        }
    }

    /// The mode it was judged in.
    pub fn mode(&self) -> Mode {
        match self {
            Judged::Whole(replay) => replay.mode(),
            Judged::Outcome { mode, .. } => *mode,
        }
    }

    /// The first halt.
    pub fn halt(&self) -> Option<&Halt> {
        match self {
            Judged::Whole(replay) => replay.halt(),
            Judged::Outcome { outcomes, .. } => outcomes.halt.as_ref(),
        }
    }

    /// Status.
    pub fn status(&self) -> Status {
        match self {
            Judged::Whole(replay) => replay.status(),
            Judged::Outcome { outcomes, .. } => outcomes.status,
        }
    }

    /// Counts.
    pub fn summary(&self) -> Summary {
        match self {
            Judged::Whole(replay) => replay.summary(),
            Judged::Outcome { outcomes, .. } => outcomes.summary,
        }
    }

    /// The rules about the session that are violated.
    pub fn violated(&self) -> impl Iterator<Item = &RuleState> {
        let rules = match self {
            Judged::Whole(replay) => replay.rules(),
            Judged::Outcome { outcomes, .. } => &outcomes.rules,
        };
        rules.iter().filter(|state| state.outcome == RuleOutcome::Violated)
    }

    /// What the policy makes worth knowing about the recording: results that may have been refusals.
    pub fn notices(&self) -> Vec<Diagnostic> {
        match self {
            Judged::Whole(replay) => notices(replay.session(), replay.policy()),
            Judged::Outcome { session, policy, outcomes, .. } => {
                let counted = outcomes.counted_refusals.iter();
                counted.map(|counted| words::counted_refusal(counted, policy, session)).collect()
            }
        }
    }

    /// Whether a call was stopped or a rule is violated.
    pub fn objects(&self) -> bool {
        match self {
            Judged::Whole(replay) => replay.objects(),
            Judged::Outcome { outcomes, .. } => outcomes.objects(),
        }
    }
}

impl Total {
    /// Counts a session. What is wrong with its recording is counted with [`Total::note`].
    pub fn add(&mut self, judged: &Judged) {
        let summary = judged.summary();
        self.sessions += 1;
        self.objected += u64::from(judged.objects());
        match judged {
            Judged::Whole(replay) => self.tables.merge(&Tables::of(replay)),
            Judged::Outcome { outcomes, .. } => self.tables.merge(&outcomes.tables),
        }
        for (sum, count) in [
            (&mut self.turns, summary.turns),
            (&mut self.calls, summary.calls),
            (&mut self.allow, summary.allow),
            (&mut self.deny, summary.deny),
            (&mut self.halt, summary.halt),
            (&mut self.not_reached, summary.not_reached),
            (&mut self.deny_counterfactual, summary.deny_counterfactual),
            (&mut self.disagree, summary.disagree),
            (&mut self.alternatives, summary.alternatives),
            (&mut self.alternatives_stopped, summary.alternatives_stopped),
        ] {
            *sum += u64::from(count);
        }
    }

    /// Counts what others counted.
    pub fn merge(&mut self, other: &Total) {
        self.tables.merge(&other.tables);
        for (sum, count) in [
            (&mut self.sessions, other.sessions),
            (&mut self.objected, other.objected),
            (&mut self.turns, other.turns),
            (&mut self.calls, other.calls),
            (&mut self.allow, other.allow),
            (&mut self.deny, other.deny),
            (&mut self.halt, other.halt),
            (&mut self.not_reached, other.not_reached),
            (&mut self.deny_counterfactual, other.deny_counterfactual),
            (&mut self.disagree, other.disagree),
            (&mut self.alternatives, other.alternatives),
            (&mut self.alternatives_stopped, other.alternatives_stopped),
            (&mut self.errors, other.errors),
            (&mut self.warnings, other.warnings),
            (&mut self.notices, other.notices),
            (&mut self.skipped, other.skipped),
        ] {
            *sum += count;
        }
        self.interrupted |= other.interrupted;
    }

    /// Counts diagnostics.
    pub fn note(&mut self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            *match diagnostic.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
                Severity::Notice => &mut self.notices,
            } += 1;
        }
    }
}

/// What a policy makes worth knowing about a recording.
pub fn notices(session: &Session, policy: &Policy) -> Vec<Diagnostic> {
    let counted = counted_refusals(session, policy).into_iter();
    counted.map(|counted| words::counted_refusal(&counted, policy, session)).collect()
}

/// The documents' names: the file, and the place in it where a file has several.
pub fn documents(documents: &[Document]) -> Vec<String> {
    let name = |document: &Document| match document.index {
        0 => document.source.name().to_owned(),
        index => format!("{}#{index}", document.source.name()),
    };
    documents.iter().map(name).collect()
}
