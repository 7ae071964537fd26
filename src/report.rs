//! What is shown of judged sessions and of policies: one file an output, one place for words.
//!
//! An output writes into what it is given and knows nothing of terminals, files or the environment. Sessions are
//! written one by one, in input order; [`RunCounts`] adds them up.

pub mod account;
pub mod breakdown;
pub mod cases;
pub mod ci;
mod columns;
pub mod completeness;
mod counts;
pub mod coverage;
pub mod diagnostic;
pub mod diff;
pub mod doc;
mod end;
pub mod export;
pub mod formats;
pub mod json;
mod judged;
mod look;
pub mod merge;
mod mergeable;
pub mod page;
mod paint;
mod provenance;
pub mod reference;
pub mod report_data;
pub mod shell;
pub mod single;
pub mod stats;
pub mod suggest;
pub mod text;
pub mod ticket;
pub mod totals;
pub mod transcript;
mod unread;
pub mod words;

use std::io::{self, Write};

pub use completeness::Completeness;
pub use counts::RunCounts;
pub use end::End;
pub use judged::{Judged, notices};
pub use look::{Look, Scope};
pub use provenance::Provenance;

/// An output of judged sessions.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// What it needs of all sessions at its end.
    pub gathers: Gathers,
    /// Writes one session.
    pub session: fn(&Judged, &Look, &mut dyn Write) -> io::Result<()>,
    /// Writes what closes the output, or all of it.
    pub end: Ending,
}

type Ending = fn(&End<'_>, &Look, &mut dyn Write) -> io::Result<()>;

/// What is kept of all sessions until an output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathers {
    /// Sums.
    Nothing,
    /// Also the findings, a line or two each.
    Issues,
    /// Also what the findings rest on.
    ReportData,
}

/// Every output of judged sessions; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output {
        name: "text",
        title: "Text for people",
        gathers: Gathers::Nothing,
        session: text::session,
        end: |end, look, out| totals::text(end, look, out),
    },
    Output {
        name: "json",
        title: "One JSON object per session, then one with totals, each on its own line",
        gathers: Gathers::Nothing,
        session: |judged, look, out| json::session(judged, look.scope, out),
        end: |end, _, out| totals::json(end.total, end.policy, end.mode, out),
    },
    gathering("markdown", "Markdown for a pull request", |end, _, out| ci::replay::markdown(&end.run(), out)),
    gathering("junit", "JUnit XML for a build server, one test case per session", |end, _, out| {
        ci::replay::junit(&end.run(), out)
    }),
    gathering("sarif", "SARIF for code scanning", |end, _, out| ci::sarif::write(&end.run(), out)),
    gathering("github", "GitHub Actions annotations", |end, _, out| ci::github::write(&end.run(), out)),
    HTML,
];

/// The outputs of `report`: documents for people who do not have the program.
pub static DOCUMENTS: &[Output] = &[
    HTML,
    whole("markdown", "Markdown for a ticket", Gathers::ReportData, |end, _, out| ticket::document(end, out)),
];

const HTML: Output =
    whole("html", "The page of `rulestep report`", Gathers::ReportData, |end, _, out| page::write(end, out));

/// An output that is made of issues.
const fn gathering(name: &'static str, title: &'static str, end: Ending) -> Output {
    whole(name, title, Gathers::Issues, end)
}

/// An output that is written as a whole.
const fn whole(name: &'static str, title: &'static str, gathers: Gathers, end: Ending) -> Output {
    Output { name, title, gathers, session: |_, _, _| Ok(()), end }
}
