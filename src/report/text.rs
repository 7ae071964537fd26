//! Judged sessions for people: what was stopped, why, and by which line of which policy.
//!
//! A session in which nothing happened takes no room; the closing lines count it. Whatever comes from a recording goes
//! through [`words`], so nothing here can steer a terminal.

pub(super) mod blocks;
mod calls;
mod findings;
mod row;
mod rules;
pub(super) mod trace;

use std::io::{self, Write};

use blocks::blocks;
use calls::{Widths, arguments, checks, findings, halt, live, not_taken_line, recorded, told, verdict_line};
pub use findings::{findings as all_findings, not_whole};
use row::row;

use super::paint::Paint;
use super::words::ByTool;
use super::words::live::differs;
use super::{Judged, Look, Scope, words};
use rulestep_base::session::Call;
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::monitor::Effect;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::replay::{Counts, DecidedCall, Frame, NotTaken, Replay, Status};
use rulestep_engine::run::{Mode, Verdict};
use rulestep_engine::way_out::way_out;

/// Writes a session: its heading, and each call that was stopped or that the recording treated otherwise.
pub fn session(judged: &Judged, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: look.color };
    match judged {
        Judged::Whole(replay) if look.scope != Scope::Summary => {
            let full = look.scope == Scope::Full;
            if full || shows(replay) {
                heading(judged, paint, out)?;
                if full {
                    every_turn(replay, paint, out)?
                } else {
                    stops(replay, paint, out)?
                }
                rules::violated(replay, paint, out)?;
                writeln!(out)?;
            }
            Ok(())
        }
        _ => {
            heading(judged, paint, out)?;
            rules::names(judged, paint, out)
        }
    }
}

/// How an explained call got into its session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallOrigin {
    Recorded,
    /// By a choice of this number, which was not taken.
    NotTaken(u32),
    /// It was made up to ask about it, so there is no recording to compare with.
    MadeUp,
}

/// Writes everything that is known of the decision about one call; `choice` is given for a call of the session that takes
/// a choice which was not taken ([`Replay::not_taken`]).
pub fn call(
    replay: &Replay,
    frame: &Frame,
    call: &Call,
    choice: Option<u32>,
    look: &Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let session = replay.session();
    let id = words::name(&session.id);
    writeln!(out, "{}  {}  {}", paint.bold(&id), words::name(&session.origin.file), replay.mode().word())?;
    let origin = choice.map_or(CallOrigin::Recorded, CallOrigin::NotTaken);
    decision(replay, frame, call, origin, paint, out)
}

/// The same for an unrecorded call, which is the whole session.
pub fn made_up_call(
    replay: &Replay,
    frame: &Frame,
    call: &Call,
    look: &Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paint = Paint { color: look.color };
    writeln!(out, "{}  {}", paint.bold("Decided as the first call of a session"), replay.mode().word())?;
    decision(replay, frame, call, CallOrigin::MadeUp, paint, out)
}

fn decision(
    replay: &Replay,
    frame: &Frame,
    call: &Call,
    origin: CallOrigin,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(decided) = replay.call(call.at.index) else { return Ok(()) };
    let (session, policy) = (replay.session(), replay.policy());
    verdict_line(replay, call, decided, Widths::default(), None, paint, out)?;
    if !call.arguments.is_missing() {
        row(out, "arguments", words::line(call.arguments.raw()))?;
    }
    findings(replay, &ByTool::of(session), call, decided, true, paint, out)?;
    match origin {
        CallOrigin::Recorded => {
            live(replay, call, decided, paint, out)?;
            recorded(call, decided, out)?;
        }
        CallOrigin::NotTaken(choice) => {
            row(out, "recorded", format!("choice {choice} of the response, which was not taken"))?
        }
        CallOrigin::MadeUp => {}
    }
    told(decided, out)?;
    let is_not_taken = matches!(origin, CallOrigin::NotTaken(_));
    if let Some(way) = (!is_not_taken).then(|| way_out(replay, call.at.index)).flatten() {
        let sentence = paint.bold(&words::way_out::sentence(&way, replay).whole());
        let steps = words::way_out::steps(&way, replay);
        let places = |rules: &[String]| paint.dim(&rules.join(", "));
        match steps.as_slice() {
            [(_, rules)] => row(out, "way out", format!("{sentence}  {}", places(rules)))?,
            _ => row(out, "way out", sentence)?,
        }
        for (nth, (step, rules)) in steps.iter().enumerate().filter(|_| steps.len() > 1) {
            row(out, "", format!("{}. {}  {}", nth + 1, step.whole(), places(rules)))?;
        }
    }
    halt(replay, call, out)?;
    let place = (call.at.call as usize).checked_sub(1);
    if let Some(decision) = place.and_then(|place| frame.calls.get(place)) {
        checks(decision, session, policy, true, paint, out)?;
    }
    let narrowed = frame.narrowing.tools.iter().find(|narrowed| narrowed.tool == call.tool);
    for reason in narrowed.into_iter().flat_map(|narrowed| &narrowed.reasons) {
        row(out, "hidden", words::reason(reason, policy.rules()))?;
    }
    let of_tool = frame.state.iter().filter(|item| item.tool().is_none_or(|tool| *tool == call.tool));
    for (nth, item) in of_tool.enumerate() {
        let Some(said) = words::state(item, policy.rules(), session) else { continue };
        row(out, if nth == 0 { "at start" } else { "" }, said.whole())?;
    }
    Ok(())
}

/// `2 allowed, 1 denied (1 counterfactual)`; of both denied and halted calls `(2 of the stopped are counterfactual)`.
pub(super) fn phrase(counts: &Counts, mode: Mode, paint: Paint) -> String {
    let mut parts = vec![format!("{} allowed", words::thousands(counts.allow))];
    for (verdict, count) in [
        (Verdict::Ask, counts.ask),
        (Verdict::Deny, counts.deny),
        (Verdict::Halt, counts.halt),
        (Verdict::NotReached, counts.not_reached),
    ] {
        if count > 0 {
            let text = format!("{} {}", words::thousands(count), words::decided(verdict, mode));
            parts.push(paint.verdict(verdict, text));
        }
        // After the last of those that it counts.
        let is_last = if counts.halt > 0 { Verdict::Halt } else { Verdict::Deny } == verdict;
        if let Some(last) = parts.last_mut().filter(|_| is_last && counts.deny_counterfactual > 0) {
            let number = words::thousands(counts.deny_counterfactual);
            last.push_str(&match counts.deny > 0 && counts.halt > 0 {
                true if counts.deny_counterfactual == 1 => " (1 of the stopped is counterfactual)".to_owned(),
                true => format!(" ({number} of the stopped are counterfactual)"),
                false => format!(" ({number} counterfactual)"),
            });
        }
    }
    if counts.deny + counts.halt == 0 {
        parts.push(format!("none {}", words::stopped(mode)));
    }
    let mut phrase = parts.join(", ");
    // These are among the allowed ones, and are not what nobody has to look at.
    if counts.reported > 0 {
        let reported = format!("{} reported", words::thousands(counts.reported));
        phrase.push_str(&format!(", {}", paint.verdict(Verdict::Ask, reported)));
    }
    if counts.would_stop > 0 {
        phrase.push_str(&format!("; {}", words::would_stop(counts.would_stop)));
    }
    if counts.alternatives > 0 {
        let calls = words::count(counts.alternatives, "call");
        let stopped = match counts.alternatives_stopped {
            0 => format!("none {}", words::decided(Verdict::Deny, mode)),
            stopped => {
                let denied = words::decided(Verdict::Deny, mode);
                let stopped = format!("{} {denied}", words::thousands(stopped));
                paint.verdict(Verdict::Deny, stopped)
            }
        };
        phrase.push_str(&format!("; in choices not taken: {calls}, {stopped}"));
    }
    if counts.copied > 0 {
        phrase.push_str(&format!("; {}", words::not_counted(counts.copied)));
    }
    phrase
}

fn shows(replay: &Replay) -> bool {
    replay.objects()
        || replay.summary().disagree > 0
        || replay.made().any(|(call, decided)| {
            differs(call, decided, replay) || reported(decided) || decided.decision.verdict == Verdict::Ask
        })
        || replay.rules().iter().any(|state| state.outcome == RuleOutcome::Violated)
        || replay.alternatives(None).any(|other| reported(other.judged))
}

/// Whether a rule has something to say of a call that it does not stop.
fn reported(decided: &DecidedCall) -> bool {
    decided.decision.findings.iter().any(|finding| finding.effect == Effect::Report)
}

fn heading(judged: &Judged, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let (session, summary) = (judged.session(), judged.summary());
    let glyph = match judged.status() {
        // In `shadow` a session is never stopped; what would have been still shows.
        _ if judged.objects() => paint.verdict(Verdict::Deny, Glyph::Deny.unicode()),
        Status::Stopped | Status::Fail => paint.verdict(Verdict::Deny, Glyph::Deny.unicode()),
        // What the recording refused is allowed now: nothing is stopped, and yet it is not all as it was.
        _ if summary.disagree > 0 => paint.bold(Glyph::Disagree.unicode()),
        Status::NotExercised => paint.dim(Glyph::None.unicode()),
        Status::Pass => paint.verdict(Verdict::Allow, Glyph::Allow.unicode()),
    };
    let id = paint.bold(&words::name(&session.id));
    let file = paint.dim(&words::name(&session.origin.file));
    let counts = [words::count(summary.turns, "turn"), words::count(summary.calls, "call")].join(", ");
    let more = match judged.status() {
        Status::Fail => ", a rule is violated",
        Status::NotExercised => ", no rule had anything to decide",
        Status::Stopped | Status::Pass => "",
    };
    let sums = phrase(&summary, judged.mode(), paint);
    writeln!(out, "{glyph} {id}  {file}  {counts}: {sums}{more}")
}

/// The calls that were stopped, that a rule reports, or about which the recording or a gate says something else.
fn stops(replay: &Replay, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let session = replay.session();
    let shown = || {
        replay.made().filter(|(call, decided)| match decided.decision.verdict {
            Verdict::Allow => !decided.agrees || reported(decided) || differs(call, decided, replay),
            Verdict::Ask | Verdict::Deny | Verdict::Halt => true,
            Verdict::NotReached => differs(call, decided, replay),
        })
    };
    let by_tool = ByTool::of(session);
    let mut widths = Widths::default();
    for (call, _) in shown() {
        widths.fit(call, session);
    }
    let matters = |other: &NotTaken<'_>| other.judged.decision.verdict.objects() || reported(other.judged);
    replay.alternatives(None).filter(matters).for_each(|other| widths.fit_not_taken(&other));
    let mut others = replay.alternatives(None).filter(matters).peekable();
    for block in blocks(replay, shown()) {
        let (call, decided) = block.first;
        while let Some(other) = others.next_if(|other| other.alternative.turn < call.at.turn) {
            not_taken(replay, &other, widths, paint, out)?;
        }
        verdict_line(replay, call, decided, widths, block.count(), paint, out)?;
        arguments(call, out)?;
        findings(replay, &by_tool, call, decided, false, paint, out)?;
        live(replay, call, decided, paint, out)?;
        recorded(call, decided, out)?;
        told(decided, out)?;
        halt(replay, call, out)?;
        block.others(replay, out)?;
    }
    others.try_for_each(|other| not_taken(replay, &other, widths, paint, out))
}

/// A call that the model proposed in a choice that was not taken. Its line names its siblings, so the session that
/// takes the choice words it.
fn not_taken(
    replay: &Replay,
    other: &NotTaken<'_>,
    widths: Widths,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    not_taken_line(other, replay.mode(), widths, paint, out)?;
    if other.judged.decision.findings.is_empty() {
        return Ok(());
    }
    let Some((taken, call)) = replay.not_taken(other.at()) else { return Ok(()) };
    arguments(&call, out)?;
    findings(&taken, &ByTool::of(taken.session()), &call, other.judged, false, paint, out)?;
    told(other.judged, out)
}

/// Every turn with its tools and every call with its checks.
fn every_turn(replay: &Replay, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let by_tool = ByTool::of(replay.session());
    let mut written = Ok(());
    replay.each_frame(1, u32::MAX, &mut |frame| {
        written = turn(replay, &frame, &by_tool, paint, out);
        if written.is_ok() { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
    });
    written
}

fn turn(
    replay: &Replay,
    frame: &Frame,
    by_tool: &ByTool<'_>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (session, policy) = (replay.session(), replay.policy());
    writeln!(out, "  {}", paint.bold(&format!("turn {}", frame.turn)))?;
    let visible = frame.narrowing.tools.iter().filter(|tool| tool.visible());
    let visible: Vec<_> = visible.map(|tool| words::name(&tool.tool)).collect();
    let inferred = if frame.narrowing.inferred { " (inferred)" } else { "" };
    row(out, "tools", format!("{}{inferred}", visible.join(", ")))?;
    for tool in frame.narrowing.tools.iter().filter(|tool| !tool.visible()) {
        let reasons: Vec<_> = tool.reasons.iter().map(|reason| reason.code.as_str()).collect();
        row(out, "hidden", format!("{}: {}", words::name(&tool.tool), reasons.join(", ")))?;
    }
    for item in &frame.state {
        if let Some(said) = words::state(item, policy.rules(), session) {
            row(out, "state", said)?;
        }
    }
    let calls = session.turn(frame.turn).map(|turn| session.calls_of(turn)).unwrap_or_default();
    let mut widths = Widths::default();
    calls.iter().for_each(|call| widths.fit(call, session));
    for (call, decision) in calls.iter().zip(&frame.calls) {
        let Some(decided) = replay.call(call.at.index) else { continue };
        verdict_line(replay, call, decided, widths, None, paint, out)?;
        arguments(call, out)?;
        findings(replay, by_tool, call, decided, false, paint, out)?;
        checks(decision, session, policy, false, paint, out)?;
        live(replay, call, decided, paint, out)?;
        recorded(call, decided, out)?;
        told(decided, out)?;
        halt(replay, call, out)?;
    }
    let others = || replay.alternatives(Some(frame.turn));
    others().for_each(|other| widths.fit_not_taken(&other));
    for (other, decision) in others().zip(frame.alternatives.iter().flatten()) {
        not_taken(replay, &other, widths, paint, out)?;
        if let Some((taken, _)) = replay.not_taken(other.at()).filter(|_| !decision.checks.is_empty()) {
            checks(decision, taken.session(), policy, false, paint, out)?;
        }
    }
    Ok(())
}
