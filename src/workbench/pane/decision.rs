//! The decision about the selected call: the verdict beside the recorded one, the findings and their evidence, and the
//! checks that passed.

use super::part::{command, counters, evidence, session_rules, supposed};
use super::spec::{Enter, OF_LINES, PaneSpec};
use super::split;
use crate::report::words;
use crate::report::words::Attempt;
use crate::report::words::live::LiveWords;
use crate::workbench::line::{
    Key, LABEL, Line, Link, labelled, paragraph, place, place_not_taken, rule_place, tool_of,
};
use crate::workbench::model::Taking;
use crate::workbench::model::seen::Seen;
use crate::workbench::model::verdict::headline;
use crate::workbench::paint::tail;
use crate::workbench::theme::{Glyph, Role};
use crate::workbench::transcript::RowKind;
use rulestep_base::session::{Call, Outcome, Session};
use rulestep_engine::monitor::{EarlierCall, Effect, Explanation, Finding, effect_word};
use rulestep_engine::replay::DecidedCall;
use rulestep_engine::run::{Mode, Verdict};

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Decision",
    short: "Dec",
    lines: |model, width| {
        let mut own = Vec::new();
        split::change(&mut own, model, width);
        own.extend(split::lines(model, width, lines, false));
        Some(own)
    },
    enter: Enter::Call,
    ..OF_LINES
};

/// The lines of the pane, at most `width` columns wide.
pub fn lines(seen: Seen<'_>, width: usize) -> Vec<Line> {
    let model = seen.model;
    let mut lines = Vec::new();
    if let Some(state) = model.violation() {
        // Versions may differ about it, so each shows its own.
        let own = seen.replay().and_then(|replay| replay.rules().iter().find(|own| own.rule == state.rule));
        session_rules::violated(&mut lines, seen, own.unwrap_or(state), width);
        return lines;
    }
    if let Some(taking) = seen.taking() {
        not_taken(&mut lines, seen, taking, width);
        return lines;
    }
    if model.not_taken().is_some() && seen.replay().is_some() {
        lines.push(Line::dim("being decided"));
        return lines;
    }
    let (Some(session), Some(call)) = (model.session(), model.call()) else {
        lines.push(Line::dim(if model.session().is_some() {
            "no call in this turn"
        } else {
            "no session is open"
        }));
        return lines;
    };
    let Some(judged) = seen.judged_call() else {
        lines.push(
            Line::new().text(Role::Text, "not judged").text(Role::TextStrong, format!(" {}", call.tool)),
        );
        let why = match (&model.basis.rules.policy, model.basis.rules.read) {
            (Some(_), _) => "being judged",
            (None, false) => "the policy is being read",
            (None, true) if model.basis.rules.none() => {
                "there is no policy to judge by; -p FILE-OR-FOLDER names one when the program starts, and a folder `contracts` is found by itself. `rulestep stats` lists what the recordings contain"
            }
            (None, true) => "the policy does not load; the policy pane lists its problems",
        };
        paragraph(&mut lines, &model.theme, Role::TextDim, why, width, 0, Link::default());
        return lines;
    };
    head(&mut lines, seen, session, call, judged, width);
    decided(&mut lines, seen, session, judged, width);
    command::lines(&mut lines, seen, session, call, width);
    counted(&mut lines, seen, session, call, width);
    lines
}

/// The decision about a call of a choice that was not taken: it has no recorded outcome, and no consequences.
fn not_taken(lines: &mut Vec<Line>, seen: Seen<'_>, taking: &Taking, width: usize) {
    let Some(judged) = taking.replay.call(taking.call.at.index) else { return };
    let (role, glyph) = look(judged);
    let word = headline(judged.decision.verdict, seen.model.basis.mode);
    let line = Line::new().glyph(role, glyph).text(role, word);
    let line = line.text(Role::TextStrong, format!(" {}", taking.call.tool));
    let at = place_not_taken(taking.at);
    let fits = line.width() + at.len() < width;
    lines.push(if fits { line.right(Role::TextDim, &*at) } else { line });
    let choice = Line::dim(format!("{:LABEL$}", "recorded"))
        .text(Role::Text, format!("not chosen (choice {})", taking.at.choice));
    lines.push(if fits { choice } else { choice.right(Role::TextDim, at) });
    decided(lines, seen, taking.replay.session(), judged, width);
    // Calls beside it have no row to go to: their numbers belong to other calls here.
    let first = taking.replay.session().turns.last().map_or(0, |turn| turn.calls.start as u32);
    for line in lines {
        line.link.call = line.link.call.filter(|call| *call < first);
    }
}

/// The findings about a call, the message to the model, and the checks that passed.
fn decided(lines: &mut Vec<Line>, seen: Seen<'_>, session: &Session, judged: &DecidedCall, width: usize) {
    let model = seen.model;
    for (at, finding) in judged.decision.findings.iter().enumerate() {
        // The deciding findings are aligned, whatever their rules.
        let key = if at == 0 { Key::Part("decided") } else { seen.key(finding.rule) };
        if at > 0 {
            lines.push(Line::new());
        }
        let from = lines.len();
        self::finding(lines, seen, session, finding, width);
        if let Some(first) = lines.get_mut(from - usize::from(at > 0)) {
            first.key = Some(key);
        }
    }
    if let Some(told) = &judged.decision.told {
        lines.push(Line::new().part(Key::Part("told")));
        labelled(lines, &model.theme, "message", Role::Text, told, width, Link::default());
    }
    passed(lines, seen, width);
}

/// The counters at the beginning of the turn that may matter to the call: the limit of its own tool, and anything
/// pending for all tools.
fn counted(lines: &mut Vec<Line>, seen: Seen<'_>, session: &Session, call: &Call, width: usize) {
    let Some(framed) = seen.current() else { return };
    let mut counted = Vec::new();
    for item in &framed.frame.state {
        let Some(counter) = counters::of(item, framed.replay.policy().rules(), session) else { continue };
        if item.tool().is_none_or(|tool| *tool == call.tool) || counters::is_pending(&counter) {
            counters::lines(&mut counted, seen, item, &counter, width);
        }
    }
    if !counted.is_empty() {
        lines.push(Line::new().part(Key::Part("counters")));
        lines.push(Line::dim("as the turn begins:"));
        lines.append(&mut counted);
    }
}

fn head(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    session: &Session,
    call: &Call,
    judged: &DecidedCall,
    width: usize,
) {
    let model = seen.model;
    let verdict = judged.decision.verdict;
    let (role, glyph) = look(judged);
    let word = headline(verdict, model.basis.mode);
    let line =
        Line::new().glyph(role, glyph).text(role, word).text(Role::TextStrong, format!(" {}", call.tool));
    // A long name takes the room; then the place is on the next line.
    let at = place(call.at);
    let fits = line.width() + at.len() < width;
    lines.push(if fits { line.right(Role::TextDim, &*at) } else { line });
    let outcome = if session.facts.results == rulestep_base::session::Results::Absent {
        "without results"
    } else {
        words::outcome_word(call.outcome)
    };
    let as_recorded = supposed::mark(model, RowKind::Call(call.at.index)).is_empty()
        && supposed::mark(model, RowKind::Result(call.at.index)).is_empty();
    let label = if as_recorded { "recorded" } else { "supposed" };
    let mut recorded = Line::dim(format!("{label:LABEL$}"));
    let failed = matches!(call.outcome, Outcome::Error | Outcome::Refused);
    recorded = recorded.text(if failed { Role::VerdictReport } else { Role::Text }, outcome);
    if !judged.agrees {
        let other = match (verdict, model.basis.mode) {
            (Verdict::Allow, _) => "allowed now",
            (_, Mode::Enforce) => "stopped now",
            // In shadow nothing is stopped.
            (_, Mode::Shadow) => "would stop",
        };
        recorded = recorded.text(Role::Disagree, format!(" {} {other}", model.theme.glyph(Glyph::Disagree)));
    }
    lines.push(if fits { recorded } else { recorded.right(Role::TextDim, at) });
    then(lines, seen, call, judged, width);
    if let Some(pair) = supposed::beside(model) {
        lines.push(Line::dim(format!("{:LABEL$}", "what if")).text(Role::TextStrong, pair));
    }
    for (expected, got) in supposed::unmet(model) {
        lines.push(
            Line::dim(format!("{:LABEL$}", "expected"))
                .text(Role::VerdictAllow, expected)
                .text(Role::TextDim, "  got ")
                .text(Role::VerdictDeny, got),
        );
    }
    if let Some(refusal) = call.refusal {
        paragraph(lines, &model.theme, Role::TextDim, refusal, width, LABEL, Link::default());
    }
    if judged.counterfactual {
        let sign = model.theme.glyph(Glyph::Counterfactual);
        let text = format!("{sign} counterfactual: the model had seen something else by then");
        paragraph(lines, &model.theme, Role::TextDim, &text, width, 0, Link::default());
    }
}

/// A gate's live decision about the call, beside the current one.
fn then(lines: &mut Vec<Line>, seen: Seen<'_>, call: &Call, judged: &DecidedCall, width: usize) {
    let theme = &seen.model.theme;
    let words = seen.replay().and_then(|replay| LiveWords::of(call, judged, replay.policy()));
    let Some((words, live)) = words.zip(call.live.as_deref()) else { return };
    let role = if live.verdict.objects() { Role::VerdictReport } else { Role::Text };
    labelled(lines, theme, "live", role, &words.verdict, width, Link::default());
    if let Some(changed) = words.changed() {
        let mark = format!("{} {changed}", theme.glyph(Glyph::Disagree));
        paragraph(lines, theme, Role::Disagree, &mark, width, LABEL, Link::default());
    }
    paragraph(lines, theme, Role::TextDim, &words.by, width, LABEL, Link::default());
}

fn finding(lines: &mut Vec<Line>, seen: Seen<'_>, session: &Session, finding: &Finding, width: usize) {
    let model = seen.model;
    let link = Link {
        call: finding.found.iter().find_map(EarlierCall::own).map(|call| call.index),
        rule: Some(finding.rule),
        base: None,
    };
    let role = match finding.effect {
        Effect::Halt => Role::VerdictHalt,
        Effect::Deny => Role::VerdictDeny,
        Effect::Ask | Effect::Report => Role::VerdictReport,
        Effect::Also | Effect::None => Role::Text,
    };
    let mut line = Line::new().text(role, finding.code.as_str()).rule(finding.rule);
    if !matches!(finding.effect, Effect::Deny | Effect::Halt) {
        line = line.right(Role::TextDim, effect_word(finding.effect, finding.would));
    }
    lines.push(line);
    let Some(explanation) = seen.rules().and_then(|rules| finding.explain(rules, session)) else { return };
    let name = words::rule_name(&explanation.rule);
    if explanation.expected.is_some() {
        paragraph(lines, &model.theme, Role::Text, &name, width, 0, link);
        session_rules::rule_line(lines, seen, &explanation.rule, width, link);
        let trace = session_rules::trace_of(seen, finding, session);
        session_rules::parts(lines, seen, (&explanation, &trace), width, link);
        return;
    }
    paragraph(lines, &model.theme, Role::Text, &explanation.headline.to_string(), width, 0, link);
    // The way out is what users look for: it comes before the rule's words and the evidence, which may be long.
    if let Some(way) = &explanation.way_out {
        labelled(lines, &model.theme, "suggest", Role::Text, &way.to_string(), width, link);
    }
    paragraph(lines, &model.theme, Role::TextDim, &name, width, 0, link);
    let stands = tail(&rule_place(&explanation.rule), width.saturating_sub(LABEL), model.theme.marks());
    labelled(lines, &model.theme, "rule", Role::TextDim, &stands, width, link);
    if let Some(checked) = &explanation.checked {
        let value = checked.value.as_ref().map_or_else(|| "not one value".to_owned(), ToString::to_string);
        labelled(
            lines,
            &model.theme,
            "checked",
            Role::Text,
            &format!("{} {value}", checked.path),
            width,
            link,
        );
    }
    for (at, found) in explanation.found.iter().enumerate() {
        let value = found.value.as_ref().map(|value| format!("{value} ")).unwrap_or_default();
        let text = match found.own() {
            Some(call) => format!("{value}{} {}", place(call), tool_of(session, call)),
            None => words::found(found, session).whole(),
        };
        let link = Link { call: found.own().map(|call| call.index), ..link };
        labelled(lines, &model.theme, if at == 0 { "found" } else { "" }, Role::Text, &text, width, link);
    }
    attempts(lines, seen, &explanation, width, link);
    evidence::tree(lines, seen, finding.rule, &explanation.lines, LABEL, width);
    if let Some(reason) = &explanation.reason {
        labelled(lines, &model.theme, "reason", Role::Text, reason, width, link);
    }
}

/// The earlier calls of the tool that the call waits for, and why they do not count.
fn attempts(lines: &mut Vec<Line>, seen: Seen<'_>, explanation: &Explanation, width: usize, link: Link) {
    let (Some(call), Some(replay), Some(tool)) =
        (seen.model.call(), seen.replay(), explanation.awaited.as_deref())
    else {
        return;
    };
    for (nth, Attempt { call, why }) in words::attempts(call, replay, tool).into_iter().enumerate() {
        let label = if nth == 0 { "earlier" } else { "" };
        let text = format!("{} {}, {why}", place(call.at), words::name(&call.tool));
        let link = Link { call: Some(call.at.index), ..link };
        labelled(lines, &seen.model.theme, label, Role::Text, &text, width, link);
    }
}

fn passed(lines: &mut Vec<Line>, seen: Seen<'_>, width: usize) {
    let model = seen.model;
    let Some(decision) = seen.full_decision() else {
        lines.push(Line::dim("what passed is being looked up").part(Key::Part("passed")));
        return;
    };
    let passed = || decision.checks.iter().filter(|check| check.passed);
    if passed().next().is_some() {
        lines.push(Line::new().part(Key::Part("passed")));
    }
    for check in passed().filter(|check| evidence::tells(seen, check)) {
        evidence::check(lines, seen, check, width);
    }
    let rest = passed().filter(|check| !evidence::tells(seen, check)).count();
    evidence::others(lines, rest, passed().count() > rest || !decision.findings.is_empty());
    if decision.checks.is_empty() && decision.findings.is_empty() && decision.verdict == Verdict::Allow {
        lines.push(Line::new().part(Key::Part("none")));
        // A rule can be about the tool and have nothing to ask of this call, as one that waits for it.
        let named = seen
            .replay()
            .zip(model.call())
            .is_some_and(|(replay, call)| replay.policy().names().contains(&call.tool));
        let said = if named { "no rule was checked for this call" } else { "no rule is about this tool" };
        paragraph(lines, &model.theme, Role::TextDim, said, width, 0, Link::default());
    }
}

/// The mark of a decided call, as in every output.
pub fn look(judged: &DecidedCall) -> (Role, Glyph) {
    let glyph = words::mark(judged);
    let role = match glyph {
        Glyph::Allow => Role::VerdictAllow,
        Glyph::None => Role::VerdictNone,
        Glyph::After => Role::VerdictAfter,
        Glyph::Deny => Role::VerdictDeny,
        Glyph::Halt => Role::VerdictHalt,
        _ => Role::VerdictReport,
    };
    (role, glyph)
}
