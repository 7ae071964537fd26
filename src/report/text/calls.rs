//! The lines about one call: the decision, the reason, the evidence.

use std::io::{self, Write};

use super::row::row;
use super::trace;
use crate::report::paint::Paint;
use crate::report::words::live::LiveWords;
use crate::report::words::{self, ByTool, Sentence};
use rulestep_base::diagnostic::Code;
use rulestep_base::session::{Call, Outcome, Session};
use rulestep_base::wording::clean::Marks;
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::monitor::{Effect, Explanation, Rule};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{DecidedCall, NotTaken, Replay};
use rulestep_engine::run::{Decision, Mode, Verdict};

/// Columns of the rows of one session.
#[derive(Clone, Copy, Default)]
pub struct Widths {
    at: usize,
    tool: usize,
}

impl Widths {
    /// Makes room for the row of a call.
    pub fn fit(&mut self, call: &Call, session: &Session) {
        self.fit_texts(&words::at(call.at, session), &call.tool);
    }

    /// Makes room for the row of a call of a choice that was not taken.
    pub fn fit_not_taken(&mut self, other: &NotTaken<'_>) {
        self.fit_texts(&words::at_choice(other), &other.call.tool);
    }

    fn fit_texts(&mut self, at: &str, tool: &str) {
        self.at = self.at.max(at.len());
        self.tool = self.tool.max(words::name(tool).chars().count());
    }
}

/// `  ✗ turn 2  issue_refund  denied  resource_unmatched`.
pub fn verdict_line(
    replay: &Replay,
    call: &Call,
    decided: &DecidedCall,
    widths: Widths,
    count: Option<String>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let at = words::at(call.at, replay.session());
    let remark = call.copied.then_some(words::COPIED);
    row_of((&at, &call.tool), (decided, replay.mode()), count, remark, widths, paint, out)
}

/// `  ✗ turn 2 choice 2  issue_refund  denied  resource_unmatched  not chosen`.
pub fn not_taken_line(
    other: &NotTaken<'_>,
    mode: Mode,
    widths: Widths,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    row_of(
        (&words::at_choice(other), &other.call.tool),
        (other.judged, mode),
        None,
        Some("not chosen"),
        widths,
        paint,
        out,
    )
}

fn row_of(
    (at, tool): (&str, &str),
    (decided, mode): (&DecidedCall, Mode),
    count: Option<String>,
    remark: Option<&str>,
    widths: Widths,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let verdict = decided.decision.verdict;
    let tool = words::name(tool);
    write!(
        out,
        "  {} {at:<at_width$}  {tool:<tool_width$}  {}",
        paint.verdict(verdict, words::glyph(decided).unicode()),
        paint.verdict(verdict, words::decided(verdict, mode)),
        at_width = widths.at,
        tool_width = widths.tool,
    )?;
    if let Some(finding) = decided.decision.deciding() {
        write!(out, "  {}", finding.code)?;
    }
    if decided.counterfactual {
        write!(out, "  {}", paint.dim("counterfactual"))?;
    }
    if let Some(count) = count {
        write!(out, "  {}", paint.bold(&format!("({count})")))?;
    }
    if let Some(remark) = remark {
        write!(out, "  {}", paint.dim(remark))?;
    }
    writeln!(out)
}

/// The call's arguments, the most informative first; nothing if it has none.
pub fn arguments(call: &Call, out: &mut dyn Write) -> io::Result<()> {
    let shown = words::call::arguments(&call.arguments, words::call::WIDTH, Marks::Unicode);
    if shown.width == 0 { Ok(()) } else { row(out, "arguments", shown.text()) }
}

/// The findings against a call, the deciding one first.
pub fn findings(
    replay: &Replay,
    by_tool: &ByTool<'_>,
    call: &Call,
    decided: &DecidedCall,
    whole: bool,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (session, rules) = (replay.session(), replay.policy().rules());
    let explained = decided.decision.findings.iter().filter_map(|finding| finding.explain(rules, session));
    for (nth, explanation) in explained.enumerate() {
        let rule = &explanation.rule;
        let said = cut(&explanation.headline, whole);
        let label = match (nth, explanation.effect) {
            (_, Effect::Report) => explanation.would.map_or("report", |_| "shadow"),
            (0, Effect::Ask) => "ask",
            (0, _) => "because",
            _ => "also",
        };
        let said =
            if nth == 0 { said } else { format!("{}: {said}", explanation.code.map_or("", Code::as_str)) };
        row(out, label, if nth == 0 { paint.bold(&said) } else { said })?;
        let test = rule.test.as_deref().map(|test| paint.dim(&format!("  test {}", words::name(test))));
        row(out, "rule", format!("{}{}", named(rule, paint), test.unwrap_or_default()))?;
        if let Some(reason) = &explanation.reason {
            row(out, "reason", words::line(reason))?;
        }
        if whole {
            yaml(rule, paint, out)?;
        }
        let in_order = explanation.expected.is_some();
        if nth == 0 && !in_order || whole {
            evidence(&explanation, call, replay, by_tool, whole, out)?;
        }
        if in_order && (nth == 0 || whole) {
            five_parts(explanation, call, replay, by_tool, paint, out)?;
        } else if let Some(way) = explanation.way_out.filter(|_| whole) {
            row(out, "suggest", way.whole())?;
        }
    }
    Ok(())
}

/// `Eligibility must be checked first  contracts/issue_refund.yaml:3`.
pub fn named(rule: &Rule, paint: Paint) -> String {
    format!("{}  {}", words::rule_name(rule), paint.dim(&rule.place()))
}

/// The message to the model instead of a result, if there is one.
pub fn told(decided: &DecidedCall, out: &mut dyn Write) -> io::Result<()> {
    match &decided.decision.told {
        Some(told) => row(out, "to model", words::line(told)),
        None => Ok(()),
    }
}

/// The other parts of an explanation of a rule about the order of calls: the rule and the cause were written before.
fn five_parts(
    explanation: Explanation,
    call: &Call,
    replay: &Replay,
    by_tool: &ByTool<'_>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    said(out, "expected", explanation.expected)?;
    trace::of_call(by_tool.ran(replay), call.at, explanation.effect, replay.mode())
        .write(replay, paint, out)?;
    said(out, "suggest", explanation.way_out)
}

/// A line with its label, unless it is empty.
pub(super) fn said(out: &mut dyn Write, label: &str, sentence: Option<Sentence>) -> io::Result<()> {
    sentence.map_or(Ok(()), |sentence| row(out, label, sentence))
}

/// The earlier calls that a finding rests on.
fn evidence(
    explanation: &Explanation,
    call: &Call,
    replay: &Replay,
    by_tool: &ByTool<'_>,
    whole: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (nth, line) in words::earlier(explanation, call, replay, by_tool).into_iter().enumerate() {
        row(out, if nth == 0 { "earlier" } else { "" }, cut(&line, whole))?;
    }
    Ok(())
}

/// The rule's own lines.
fn yaml(rule: &Rule, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let (lines, _) = words::first_lines(rule, u32::MAX);
    for (number, text) in lines {
        row(out, "", format!("{} {text}", paint.dim(&format!("{number:>4} │"))))?;
    }
    Ok(())
}

/// The calls that led to a halt, the halting one last.
pub fn halt(replay: &Replay, call: &Call, out: &mut dyn Write) -> io::Result<()> {
    let session = replay.session();
    let Some(halt) = replay.halt().filter(|halt| halt.at == call.at) else { return Ok(()) };
    for (nth, (at, _)) in halt.sequence().enumerate() {
        let Some(step) = session.calls.get(at.index as usize) else { continue };
        let label = if nth == 0 { "sequence" } else { "" };
        row(out, label, format!("{}.{} {}", at.turn, at.call, words::call::call(step)))?;
    }
    Ok(())
}

/// The checks of the rules.
pub fn checks(
    decision: &Decision,
    session: &Session,
    policy: &Policy,
    whole: bool,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    for check in &decision.checks {
        let Some(explanation) = check.explain(policy.rules(), session) else { continue };
        let glyph = if check.passed {
            paint.verdict(Verdict::Allow, Glyph::Allow.unicode())
        } else {
            paint.verdict(Verdict::Deny, Glyph::Deny.unicode())
        };
        let said = cut(&explanation.headline, whole);
        row(out, "check", format!("{glyph} {said}  {}", paint.dim(&words::rule_name(&explanation.rule))))?;
        if whole {
            if let Some(checked) = &check.checked {
                row(out, "", format!("  {}", words::checked(checked).whole()))?;
            }
            let said = explanation.headline.whole();
            for detail in words::details(&explanation.lines).into_iter().filter(|detail| *detail != said) {
                row(out, "", format!("  {detail}"))?;
            }
            // The evidence of a failed check is shown with its finding.
            for found in check.found.iter().filter(|_| check.passed) {
                row(out, "", format!("  by {}", words::found(found, session)))?;
            }
        }
    }
    Ok(())
}

/// The live decision, and whether it differs.
pub fn live(
    replay: &Replay,
    call: &Call,
    decided: &DecidedCall,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(live) = LiveWords::of(call, decided, replay.policy()) else { return Ok(()) };
    let changed = live
        .changed()
        .map(|changed| paint.bold(&format!("  {} {changed}", Glyph::Disagree.unicode())))
        .unwrap_or_default();
    row(out, "live", format!("{} {}{changed}", live.verdict, live.by))?;
    // A gate's message to the model says more than the published text of the policy's language.
    let told = call.live.as_deref().and_then(|live| live.told.as_ref());
    match told.filter(|told| decided.decision.told.as_ref() != Some(told)) {
        Some(told) => row(out, "model read", words::line(told)),
        None => Ok(()),
    }
}

/// What the recording did, if that differs.
pub fn recorded(call: &Call, decided: &DecidedCall, out: &mut dyn Write) -> io::Result<()> {
    let stopped = decided.decision.verdict.stops();
    if decided.agrees && !(stopped && call.outcome == Outcome::Refused) {
        return Ok(());
    }
    let agreeing = if decided.agrees { " as well" } else { "" };
    row(out, "recorded", format!("{}{agreeing}", words::became(call.outcome)))
}

/// A sentence with its values in full, or cut.
pub fn cut(sentence: &Sentence, whole: bool) -> String {
    if whole { sentence.whole() } else { sentence.to_string() }
}
