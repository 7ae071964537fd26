//! A report as one HTML page that needs nothing else: no network, no program, no script.
//!
//! Whatever comes from a recording or a policy was made visible and harmless as text by [`account`](super::account) and
//! [`words`], and is escaped by the `html!` macro. Nothing here builds HTML from strings.

mod entry;
pub(super) mod parts;
mod session;
mod sums;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{End, counts, diagnostic, words};
use parts::{all, anchor, fitting, sentence};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::run::Mode;

const STYLE: &str = include_str!("page/style.css");
/// What the browser may do with the page: show it in its own style, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Writes the page of a run.
pub fn write(end: &End<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page(end).into_string().as_bytes())
}

/// Writes a page that says that nothing was judged, and why.
pub fn nothing<'d>(
    message: &str,
    errors: impl Iterator<Item = &'d Diagnostic>,
    command: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let body = html! {
        p.brand { "Rulestep report" }
        h1.bad { (Glyph::Deny.unicode()) " Nothing was judged" }
        p { (sentence(&words::line(message))) "." }
        @for told in errors { pre { (diagnostic::text(told, diagnostic::Style::default())) } }
        (footer(command, None))
    };
    out.write_all(whole("nothing was judged", &body).into_string().as_bytes())
}

/// A page in the style of a report, which needs nothing else.
pub(super) fn whole(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Rulestep: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) "\n" }
        }
        "\n"
    }
}

fn page(end: &End<'_>) -> Markup {
    let summary = end.run().summary;
    let body = html! {
        header {
            p.brand { "Rulestep report" }
            h1 { (sentence(&summary)) }
            @match end.only {
                Some(replay) => (session::heading(replay)),
                None => p { (asked(end)) },
            }
            (incomplete(end))
            (sums::totals(end))
        }
        "\n"
        main {
            (findings(end))
            @if let Some(replay) = end.only { (session::transcript(replay, end)) }
            (sums::rules(end))
            @if end.only.is_none() { (sums::sessions(end)) }
            (unread(end))
            (sums::glossary(end))
        }
        (footer(end.command, Some(end)))
    };
    whole(&summary, &body)
}

/// What was done, for readers who do not know Rulestep.
fn asked(end: &End<'_>) -> String {
    let rules = words::count(end.policy.rules().len() as u64, "rule");
    let sessions = words::count(end.total.counts.sessions, "recorded agent session");
    let calls = words::count(end.total.counts.calls, "tool call");
    let mode = match end.mode {
        Mode::Enforce => "Later calls are decided as if a stopped call had not run.",
        Mode::Shadow => "Nothing is stopped: each decision says what the policy would do.",
    };
    let documents = words::count(end.policy.documents().len() as u64, "document");
    format!("{sessions} with {calls}, replayed under a policy of {rules} in {documents}. {mode}")
}

/// Why these results are not the whole truth, ahead of everything that is said.
fn incomplete(end: &End<'_>) -> Markup {
    let why = counts::incomplete(end.total, "judged");
    let missing = why.iter().any(|(missing, _)| *missing);
    let unasked = end.data.coverage.rules.is_empty() && end.total.counts.calls > 0;
    html! {
        @if !end.caveats.is_empty() {
            section.incomplete {
                h2 { "! Read this first" }
                ul { @for line in end.caveats { li { (line) } } }
            }
        }
        @if !why.is_empty() {
            section.incomplete {
                h2 { "! " (if missing { "This report is incomplete" } else { "Some files were skipped" }) }
                ul { @for (_, line) in &why { li { (sentence(line)) } } }
                @if end.data.errors.count() > 0 { p { a href="#problems" { "What could not be read, and why" } } }
            }
        }
        @if unasked {
            section.incomplete {
                h2 { "! No rule was checked for any call" }
                p { "Every call was allowed only because no rule of the policy is about it." }
            }
        }
    }
}

fn findings(end: &End<'_>) -> Markup {
    let groups = end.data.groups();
    let shown = fitting(groups.iter().map(|(rule, group)| entry::group(*rule, group, end)));
    let left_out = groups.get(shown.len()..).unwrap_or_default();
    let nothing = match end.mode {
        Mode::Enforce => "No call was stopped, and no session rule is violated.",
        Mode::Shadow => "No call would be stopped, and no session rule is violated.",
    };
    html! {
        section {
            h2 { "Findings" }
            @if groups.is_empty() { p.good { (Glyph::Allow.unicode()) " " (nothing) } }
            @if groups.len() > 1 {
                details {
                    summary { "Findings by rule (" (groups.len()) ")" }
                    ul {
                        @for (rule, group) in &groups {
                            li { a href=(format!("#{}", anchor(*rule))) { (end.name(*rule)) } ": " (group.did(end.mode)) }
                        }
                    }
                }
            }
            @for group in &shown { (group) "\n" }
            @if !left_out.is_empty() {
                h3 { "Not described here, as the page would become too large" }
                ul {
                    @for (rule, group) in left_out {
                        li id=(anchor(*rule)) { (end.name(*rule)) ": " (group.did(end.mode)) }
                    }
                }
                (all(end))
            }
        }
    }
}

/// Errors and warnings about the recordings and the policy.
fn unread(end: &End<'_>) -> Markup {
    let lists = [(&end.data.errors, "more error"), (&end.data.warnings, "more warning")];
    html! {
        @if lists.iter().any(|(list, _)| list.count() > 0) {
            section {
                h2 id="problems" { "Problems in recordings and in the policy" }
                @for (list, more) in lists {
                    @for text in &list.shown { pre { (text) } }
                    @if list.more > 0 { p { (words::count(list.more, more)) " not shown here." } }
                }
                @if lists.iter().any(|(list, _)| list.more > 0) { (all(end)) }
            }
        }
    }
}

fn footer(command: &str, end: Option<&End<'_>>) -> Markup {
    html! {
        footer.meta {
            @if !command.is_empty() { p { "Repeat this replay: " code { (words::line(command)) } } }
            p {
                "Made by Rulestep " (env!("CARGO_PKG_VERSION"))
                @if let Some(end) = end { ". Policy version " code { (end.policy.digest()) } }
                "."
            }
        }
    }
}
