//! The numbers: totals, rules, sessions; and what the words of a report mean.

use maud::{Markup, html};

use super::parts::{all, anchor};
use crate::explore::coverage::{Exercise, RuleUse};
use crate::report::report_data::{Listed, SessionRow};
use crate::report::{End, words};
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::run::Verdict;

/// Rules that are listed.
const RULES: usize = 1000;
/// Tools that no rule is about that are named.
const TOOLS: usize = 20;

/// What all sessions add up to.
pub fn totals(end: &End<'_>) -> Markup {
    let total = &end.total.counts;
    let decided = |verdict| words::decided(verdict, end.mode);
    let counts = [
        (total.sessions, if total.sessions == 1 { "session" } else { "sessions" }, true),
        (total.calls, if total.calls == 1 { "call" } else { "calls" }, true),
        (total.allow, "allowed", true),
        (total.reported, "of these reported", false),
        (total.deny, decided(Verdict::Deny), true),
        (total.halt, decided(Verdict::Halt), false),
        (total.deny_counterfactual, "of these counterfactual", false),
        (total.not_reached, "not reached", false),
        (total.copied, "copied and not counted", false),
        (total.alternatives_stopped, "stopped in choices not taken", false),
    ];
    let differ = if total.disagree == 1 { "differs from the recording" } else { "differ from the recording" };
    let worded = total.worded().map(|(_, count, noun)| (count, noun, false));
    let counts = counts.into_iter().chain(worded).chain([(total.disagree, differ, false)]);
    html! {
        dl.totals {
            @for (count, label, always) in counts {
                @if always || count > 0 { div { dt { (label) } dd { (words::thousands(count)) } } }
            }
        }
    }
}

/// Every rule of the policy and what the recordings ask it.
pub fn rules(end: &End<'_>) -> Markup {
    let coverage = &end.data.coverage;
    let rules = coverage.of_policy(end.policy);
    let count = |exercise| rules.iter().filter(|(_, _, used)| used.exercise() == exercise).count() as u64;
    let found = end.data.groups();
    let free = coverage.ungoverned(end.policy);
    html! {
        section {
            h2 { "Rules" }
            p {
                (words::count(rules.len() as u64, "rule")) ": "
                (words::thousands(count(Exercise::Fired))) " with findings, "
                (words::thousands(count(Exercise::Passed))) " checked without findings, "
                (words::thousands(count(Exercise::NeverAsked))) " never checked."
            }
            @if !rules.is_empty() {
                div.wide { table {
                    caption { "How often each rule was checked, with the results" }
                    thead { tr {
                        th scope="col" { "Rule" } th scope="col" { "Result" }
                        @for head in ["Calls", "Satisfied", "Stopped", "Also failed", "Reported", "Sessions", "Violated"] {
                            th.count scope="col" { (head) }
                        }
                    } }
                    tbody {
                        @for (id, rule, used) in rules.iter().take(RULES) {
                            @let linked = found.iter().any(|(group, _)| *group == Some(*id));
                            tr {
                                th scope="row" {
                                    @if linked { a href=(format!("#{}", anchor(Some(*id)))) { (words::rule_name(rule)) } }
                                    @else { (words::rule_name(rule)) }
                                    br; code.meta { (rule.place()) }
                                }
                                td { (result(used)) }
                                @for number in [used.calls, used.passed, used.stopped, used.objected.saturating_sub(used.reported + used.asked_about), used.reported, used.sessions, used.violated] {
                                    td.count { (words::thousands(number)) }
                                }
                            }
                            "\n"
                        }
                    }
                } }
            }
            @if rules.len() > RULES {
                p { (words::count((rules.len() - RULES) as u64, "more rule")) " not shown here: `rulestep coverage` lists all." }
            }
            @if !free.is_empty() {
                p {
                    "Tools that no rule is about, with their calls: "
                    @for (nth, (tool, calls)) in free.iter().take(TOOLS).enumerate() {
                        @if nth > 0 { ", " } code { (words::name(tool)) } " " (words::thousands(*calls))
                    }
                    @if free.len() > TOOLS { " and " (words::count((free.len() - TOOLS) as u64, "more tool")) }
                    "."
                }
            }
        }
    }
}

fn result(used: &RuleUse) -> Markup {
    match used.exercise() {
        Exercise::Fired if used.only_reports() => {
            html! { span.mark.note { (Glyph::Report.unicode()) " reported" } }
        }
        Exercise::Fired => html! { span.mark.bad { (Glyph::Deny.unicode()) " with findings" } },
        Exercise::Passed => html! { span.mark.good { (Glyph::Allow.unicode()) " satisfied" } },
        Exercise::NeverAsked => html! { span.mark.note { (Glyph::None.unicode()) " never checked" } },
    }
}

/// The sessions, those with findings first.
pub fn sessions(end: &End<'_>) -> Markup {
    let (objected, clean) = (&end.data.objected, &end.data.clean);
    html! {
        section {
            h2 { "Sessions" }
            (table(objected, "Sessions with findings", end))
            (table(clean, "Sessions without findings", end))
        }
    }
}

fn table(listed: &Listed<SessionRow>, caption: &str, end: &End<'_>) -> Markup {
    html! {
        @if listed.count() > 0 {
            div.wide { table {
                caption { (caption) ": " (words::thousands(listed.count())) }
                thead { tr {
                    th scope="col" { "Session" } th scope="col" { "About" }
                    th.count scope="col" { "Calls" } th.count scope="col" { "Stopped" } th.count scope="col" { "Violated" }
                } }
                tbody {
                    @for row in &listed.shown {
                        tr {
                            th scope="row" { (row.id) br; code.meta { (row.file) } }
                            td { (row.title) }
                            td.count { (words::thousands(row.calls)) }
                            td.count { (words::thousands(row.stopped)) }
                            td.count { (words::thousands(row.violated)) }
                        }
                        "\n"
                    }
                }
            } }
            @if listed.more > 0 { p { (words::count(listed.more, "more session")) " not shown here." } (all(end)) }
        }
    }
}

/// The words of a report.
pub fn glossary(end: &End<'_>) -> Markup {
    let denied = words::decided(Verdict::Deny, end.mode);
    let terms = [
        (denied, "A rule stops the call. The agent reads a message instead of a result."),
        (words::decided(Verdict::Halt, end.mode), "The call is denied, and the whole session ends with it."),
        ("not reached", "The session had been halted before this call."),
        (
            "counterfactual",
            "The call comes after one that ran and is now stopped, or did not run and is now allowed. The agent would have seen something different by then, so such a decision is weaker evidence.",
        ),
        (
            "differ from the recording",
            "The call ran when it was recorded and this policy stops it, or it was refused then and this policy allows it.",
        ),
        (
            "place",
            "The number of a call among the calls of its session that ran, where the order of calls matters.",
        ),
        (
            "rule with findings",
            "The rule stopped or reported a call, objected to one that another rule had stopped, or was violated.",
        ),
        (
            "session rule",
            "A rule about the whole session, such as an order of calls. It is decided when the session ends.",
        ),
        ("never checked", "The rule applies to no recorded call, so these recordings say nothing about it."),
        ("turn", "One response of the model. Turns and the calls in them are numbered from 1."),
    ];
    html! {
        section {
            h2 { "Words in this report" }
            dl.facts { @for (term, meaning) in terms { dt { (term) } dd { (meaning) } } }
        }
    }
}
