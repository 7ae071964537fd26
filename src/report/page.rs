//! A report as one HTML page that needs nothing else: no network, no program, no script.
//!
//! Whatever comes from a recording or a policy was made visible and harmless as text by [`account`](super::account) and
//! [`words`], and is escaped by the `html!` macro. Nothing here builds HTML from strings.

mod entry;
mod session;
mod sums;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::ci::failed::NoResult;
use super::{End, diagnostic, words};
use crate::engine::Mode;
use crate::monitor::RuleId;

const STYLE: &str = include_str!("page/style.css");
/// What the browser may do with the page: show it in its own style, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Bytes after which no more findings, and no more of a transcript, are put into a page.
const ROOM: usize = 4 << 20;

/// Writes the page of a run.
pub fn write(end: &End<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page(end).into_string().as_bytes())
}

/// Writes a page that says that nothing was judged, and why.
pub fn nothing(failed: &NoResult<'_>, out: &mut dyn Write) -> io::Result<()> {
    let body = html! {
        p.brand { "Rulestep report" }
        h1.bad { "✗ Nothing was judged" }
        p { (words::line(failed.message)) "." }
        @for told in failed.errors() {
            pre { (diagnostic::text(told, diagnostic::Style::default())) }
        }
        (footer(failed.command, None))
    };
    out.write_all(whole("nothing was judged", &body).into_string().as_bytes())
}

fn whole(title: &str, body: &Markup) -> Markup {
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
    let only = end.dossier.only.as_deref();
    let body = html! {
        header {
            p.brand { "Rulestep report" }
            h1 { (sentence(&summary)) }
            @match only {
                Some(replay) => (session::heading(replay)),
                None => p { (asked(end)) },
            }
            (incomplete(end))
            (sums::totals(end))
        }
        "\n"
        main {
            (findings(end))
            @if let Some(replay) = only { (session::transcript(replay, end)) }
            (sums::rules(end))
            @if only.is_none() { (sums::sessions(end)) }
            (unread(end))
            (sums::glossary(end))
        }
        (footer(end.command, Some(end)))
    };
    whole(&summary, &body)
}

/// What was done, for somebody who has never heard of it.
fn asked(end: &End<'_>) -> String {
    let rules = words::count(end.policy.rules().len() as u64, "rule");
    let sessions = words::count(end.total.sessions, "recorded agent session");
    let calls = words::count(end.total.calls, "tool call");
    let mode = match end.mode {
        Mode::Enforce => "A call that the policy stops is taken as not run when later calls are decided.",
        Mode::Shadow => "Every call is taken as run: the decisions are only reported.",
    };
    format!("{sessions} with {calls} replayed under a policy of {rules}. {mode}")
}

/// Why these results are not the whole truth, ahead of everything that is said.
fn incomplete(end: &End<'_>) -> Markup {
    let why = end.incomplete();
    let unasked = end.dossier.coverage.rules.is_empty() && end.total.calls > 0;
    html! {
        @if !why.is_empty() {
            section.incomplete {
                h2 { "! This report is incomplete" }
                ul { @for line in &why { li { (line) } } }
            }
        }
        @if unasked {
            section.incomplete {
                h2 { "! No rule was asked about any call" }
                p { "Every call was allowed only because no rule of the policy is about it." }
            }
        }
    }
}

fn findings(end: &End<'_>) -> Markup {
    let groups = end.dossier.groups();
    let shown = fitting(groups.iter().map(|(rule, group)| entry::group(*rule, group, end)));
    let left_out = groups.get(shown.len()..).unwrap_or_default();
    let nothing = match end.mode {
        Mode::Enforce => "No call was stopped, and no session rule is violated.",
        Mode::Shadow => "No call would be stopped, and no session rule is violated.",
    };
    html! {
        section {
            h2 { "Findings" }
            @if groups.is_empty() { p.good { "✓ " (nothing) } }
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

/// The parts that a page has room for.
fn fitting(parts: impl Iterator<Item = Markup>) -> Vec<Markup> {
    let fits = |room: &mut usize, part: Markup| {
        *room = room.checked_sub(part.0.len())?;
        Some(part)
    };
    parts.scan(ROOM, fits).collect()
}

/// How to see what a page leaves out.
fn all(end: &End<'_>) -> Markup {
    html! { @if let Some(command) = end.all() { p.meta { "This command lists all: " code { (command) } } } }
}

/// Errors and warnings about the recordings.
fn unread(end: &End<'_>) -> Markup {
    let diagnostics = &end.dossier.diagnostics;
    html! {
        @if diagnostics.count() > 0 {
            section {
                h2 { "Problems in recordings" }
                @for text in &diagnostics.shown { pre { (text) } }
                @if diagnostics.more > 0 {
                    p { (words::count(diagnostics.more, "more problem")) " not shown here." }
                    (all(end))
                }
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

/// The anchor of a group.
fn anchor(rule: Option<RuleId>) -> String {
    rule.map_or("rule-none".to_owned(), |RuleId(number)| format!("rule-{number}"))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
