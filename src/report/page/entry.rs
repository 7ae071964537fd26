//! What one rule found, call by call.

use maud::{Markup, html};

use super::parts::{all, anchor};
use crate::report::account::{Account, Objection};
use crate::report::report_data::{Entry, Group};
use crate::report::{End, words};
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::monitor::{Effect, RuleId};

/// A rule with its lines, then its findings: the first in full, the others folded.
pub fn group(rule: Option<RuleId>, group: &Group, end: &End<'_>) -> Markup {
    let lines = rule.and_then(|rule| end.policy.rules().get(rule));
    let rest = group.rest();
    let (first, others) = group.entries.split_at(group.entries.len().min(1));
    html! {
        section {
            h3 id=(anchor(rule)) { (end.name(rule)) }
            p.meta {
                @if let Some(rule) = lines { code { (rule.place()) } " · " }
                (group.did(end.mode))
            }
            @for entry in first { (finding(entry, rule, true)) }
            @if let Some(rule) = lines { (yaml(&words::lines(rule))) }
            @for entry in others { (finding(entry, rule, false)) }
            @if rest > 0 {
                p { (words::count(rest, "more finding")) " of this rule " (if rest == 1 { "is" } else { "are" }) " not shown here." }
                (all(end))
            }
        }
    }
}

/// The lines of a rule, with their numbers in the file.
fn yaml((lines, goes_on): &(Vec<(u32, String)>, bool)) -> Markup {
    html! {
        pre {
            @for (number, line) in lines { span.line { span.number { (format!("{number:>4} ")) } (line) "\n" } }
            @if *goes_on { span.line { span.number { "     " } "…\n" } }
        }
    }
}

fn finding(entry: &Entry, group: Option<RuleId>, open: bool) -> Markup {
    let account = &entry.account;
    let minor = account.remark.is_some() || !matches!(account.glyph, Glyph::Deny | Glyph::Halt);
    html! {
        details.finding.minor[minor] open[open] {
            summary {
                (mark(account)) " "
                @if let Some(call) = &account.call { code { (call) } " " }
                span.meta { (account.session) ", " (account.place) }
            }
            dl.facts {
                @if let Some(first) = account.deciding() { (why(first)) }
                @if let Some(remark) = account.remark { dt { "Note" } dd { (remark) ": " (meaning(remark)) } }
                @for row in account.deciding().into_iter().flat_map(|first| &first.rows).chain(&account.rows) {
                    (lines(row.label, &row.lines))
                }
                @for other in account.objections.iter().skip(1) { (also(other, group)) }
                @if entry.like.count() > 0 {
                    dt { "Also at" }
                    dd {
                        @for line in &entry.like.shown { code { (line) } br; }
                        @if entry.like.more > 0 { "and " (words::count(entry.like.more, "more call")) }
                    }
                }
                dt { "Recorded in" }
                dd { code { (account.file) } " as " code { (account.at) } }
            }
        }
        "\n"
    }
}

/// The decision, in a character and a word.
pub fn mark(account: &Account) -> Markup {
    let look = match account.glyph {
        Glyph::Deny | Glyph::Halt => "mark bad",
        Glyph::Allow => "mark good",
        _ => "mark note",
    };
    html! { span class=(look) { (account.glyph.unicode()) " " (account.decision) } }
}

fn why(objection: &Objection) -> Markup {
    html! {
        dt { "Why" }
        dd {
            span.why { (objection.headline) }
            @if let Some(code) = objection.code { " " code { (code) } }
        }
    }
}

/// What another rule says of the same call.
fn also(other: &Objection, group: Option<RuleId>) -> Markup {
    html! {
        dt { @if other.effect == Effect::Report { "Report" } @else { "Also" } }
        dd {
            (other.headline)
            @if let Some(code) = other.code { " " code { (code) } }
            @if group != Some(other.rule) { br; span.meta { (other.name) " " code { (other.place) } } }
        }
    }
}

fn lines(label: &str, lines: &[String]) -> Markup {
    html! {
        dt { (label) }
        dd { @for (nth, line) in lines.iter().enumerate() { @if nth > 0 { br; } (line) } }
    }
}

/// What a remark on a decision means.
pub fn meaning(remark: &str) -> &'static str {
    match remark {
        "counterfactual" => {
            "an earlier call ran and is now stopped, or did not run and is now allowed, so the agent would have seen something different by then"
        }
        _ => "the model proposed this call in a choice that was not taken",
    }
}
