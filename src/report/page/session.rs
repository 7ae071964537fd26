//! One session as a whole: its messages, its calls, and their decisions.

use maud::{Markup, html};

use super::parts::{all, fitting, sentence};
use crate::report::transcript::{Row, RowKind, Rows, one_line};
use crate::report::words::live::LiveWords;
use crate::report::{End, words};
use rulestep_base::session::Body;
use rulestep_base::wording::clean::{self, Marks};
use rulestep_engine::monitor::Explanation;
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::Verdict;

/// Columns and lines of a body that are shown at once; more is folded.
const OPEN: (usize, usize) = (600, 8);
/// Columns of a body that are in the page.
const COLUMNS: usize = 6000;
/// Columns of a folded body that are shown.
const FIRST: usize = 110;

/// Columns of what the session is about.
const TITLE: usize = 160;

/// The heading of a session.
pub fn heading(replay: &Replay) -> Markup {
    let session = replay.session();
    html! {
        p {
            "Session " strong { (words::name(&session.id)) }
            @if let Some(title) = &session.title { ", “" (clean::fit(title, TITLE, Marks::Unicode).text()) "”" }
            ", recorded in " code { (words::line(&session.origin.file)) }
            ". Each tool call was decided by a policy of " (words::count(replay.policy().rules().len() as u64, "rule")) "."
        }
    }
}

/// Every message, call and result in recorded order.
pub fn transcript(replay: &Replay, end: &End<'_>) -> Markup {
    let rows = Rows::of(replay.session());
    let shown = fitting((0..rows.len()).filter_map(|at| Some(row(rows.get(at)?, replay))));
    let left_out = rows.len() - shown.len();
    html! {
        section {
            h2 { "The session" }
            ol.transcript { @for row in &shown { (row) "\n" } }
            @if left_out > 0 {
                p { (words::count(left_out as u64, "more row")) " of this session left out, as the page would become too large." }
                (all(end))
            }
        }
    }
}

fn row(row: Row, replay: &Replay) -> Markup {
    let session = replay.session();
    let speaker = words::name(row.speaker(session)).into_owned();
    match row.kind {
        RowKind::Call(index) => {
            let Some((call, decided)) = session.calls.get(index as usize).zip(replay.call(index)) else {
                return html! {};
            };
            let stops = decided.decision.verdict.stops();
            html! {
                li.stopped[stops] {
                    div.meta { (sentence(&words::at(call.at, session))) }
                    div {
                        (mark(decided, replay)) " " strong { (words::name(&call.tool)) }
                        @if !call.arguments.is_missing() { (body(&call.arguments)) }
                        (said(decided, replay))
                        @if let Some(live) = LiveWords::of(call, decided, replay.policy()) {
                            p.meta { "Decided live: " (live.sentence()) }
                        }
                    }
                }
            }
        }
        RowKind::Result(index) => {
            let stopped = replay.call(index).is_some_and(|decided| decided.decision.verdict.stops());
            let tool =
                session.calls.get(index as usize).map(|call| words::name(&call.tool)).unwrap_or_default();
            html! {
                li {
                    div.meta { "Result" @if row.is_error(session) { ", failed" } }
                    div {
                        span.meta { (tool) @if stopped { ", as recorded (this policy stops the call)" } }
                        @if let Some(result) = row.body(session) { (body(result)) }
                    }
                }
            }
        }
        RowKind::Choice(place, number) => {
            let at = number.and_then(|number| (number as usize).checked_sub(1));
            let decided = at.and_then(|at| replay.alternative(place).get(at));
            html! {
                li {
                    div.meta { "Choice not taken" }
                    div {
                        @if let Some(decided) = decided { (mark(decided, replay)) " " }
                        @if let Some(own) = row.not_taken(session) { strong { (words::name(&own.call.tool)) } }
                        @if let Some(shown) = row.body(session) { (body(shown)) }
                    }
                }
            }
        }
        RowKind::Message(_) => html! {
            li {
                div.meta { (sentence(&speaker)) }
                div { @if let Some(said) = row.body(session) { (body(said)) } }
            }
        },
        RowKind::Rule(_) => html! {},
    }
}

fn mark(decided: &DecidedCall, replay: &Replay) -> Markup {
    let verdict = decided.decision.verdict;
    let look = match verdict {
        Verdict::Allow if decided.agrees => "mark good",
        Verdict::Deny | Verdict::Halt if !decided.counterfactual => "mark bad",
        _ => "mark note",
    };
    html! {
        span class=(look) { (words::glyph(decided).unicode()) " " (words::decided(verdict, replay.mode())) }
        @if decided.counterfactual { " " span.meta { "counterfactual" } }
    }
}

/// Why a call was stopped, in a line for each rule.
fn said(decided: &DecidedCall, replay: &Replay) -> Markup {
    let (rules, session) = (replay.policy().rules(), replay.session());
    let explained = decided.decision.findings.iter().filter_map(|finding| finding.explain(rules, session));
    let explained: Vec<Explanation> = explained.collect();
    html! {
        @for explanation in &explained {
            p { (explanation.headline.to_string()) " " span.meta { (words::rule_name(&explanation.rule)) " " code { (explanation.rule.place()) } } }
        }
        @if let Some(told) = &decided.decision.told {
            p.meta { "Message to the model: " code { (words::name(told)) } }
        }
    }
}

/// A text as it was recorded, the long ones folded.
fn body(body: &Body) -> Markup {
    let text = one_line(body);
    let (lines, more) = cut(&text);
    let width: usize = lines.iter().map(String::len).sum();
    let whole = html! {
        pre { @for line in &lines { (line) "\n" } }
        @if more > 0 { p.meta { (words::count(more, "more character")) " in the recording." } }
    };
    html! {
        @if lines.len() <= OPEN.1 && width <= OPEN.0 && more == 0 {
            (whole)
        } @else {
            details {
                summary { code { (clean::fit(&text, FIRST, Marks::Unicode).text()) } }
                (whole)
            }
        }
    }
}

/// The lines of a text, made safe, up to what a page takes; and how many characters come after that.
fn cut(text: &str) -> (Vec<String>, u64) {
    let (mut lines, mut left) = (Vec::new(), COLUMNS);
    let mut rest = text;
    while left > 0 && !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let head = line.char_indices().nth(left).map_or(line.len(), |(at, _)| at);
        let (shown, beyond) = line.split_at_checked(head).unwrap_or((line, ""));
        lines.push(clean::show(shown.strip_suffix('\r').unwrap_or(shown), Marks::Unicode).text());
        left = left.saturating_sub(shown.chars().count() + 1);
        rest = if beyond.is_empty() { after } else { rest.get(head..).unwrap_or_default() };
        if !beyond.is_empty() {
            break;
        }
    }
    (lines, rest.chars().count() as u64)
}
