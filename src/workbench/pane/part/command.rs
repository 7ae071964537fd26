//! The effects of a call's command line: its small calls in order, with what each reads, writes, deletes and reaches.

use crate::report::shell::facts;
use crate::workbench::line::{Key, Line, Link, paragraph};
use crate::workbench::model::seen::Seen;
use crate::workbench::theme::Role;
use rulestep_base::session::{Call, Session};
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{count, line};
use rulestep_engine::monitor::LineState;
use rulestep_shell::facts::Table;
use rulestep_shell::reading::{Made, reading};
use rulestep_shell::tool::runs_commands;

/// Number of small calls that are shown. `explain shell` has all of them.
const MOST: usize = 20;
/// Letters of one that are shown.
const LONGEST: usize = 300;

/// The lines, for a call of a tool that runs a command. The small calls that findings are about are marked as found.
pub fn lines(lines: &mut Vec<Line>, seen: Seen<'_>, session: &Session, call: &Call, width: usize) {
    let known = known(seen);
    if !runs_commands(&known, &call.tool) {
        return;
    }
    let theme = &seen.model.theme;
    let read = reading(Made::of(call, &session.facts), &known);
    let meant = matched(seen, session);
    lines.push(Line::new().part(Key::Part("does")));
    lines.push(Line::dim("what the command does:"));
    let mut pipeline = None;
    for small in read.calls.iter().take(MOST) {
        // Commands of one pipeline are separated from those that run later.
        let beside = if pipeline.replace(small.pipeline) == Some(small.pipeline) { "| " } else { "" };
        let text = small.to_string();
        let is_meant = meant.contains(&name(&text).into_owned());
        let role = if is_meant { Role::Match } else { Role::Text };
        let text = if text.is_empty() { call.tool.to_string() } else { cut(text) };
        paragraph(lines, theme, role, &format!("{beside}{}", line(&text)), width, 2, Link::default());
        for fact in facts(small) {
            let indent = 4 + fact.len() - fact.trim_start().len();
            paragraph(lines, theme, Role::TextDim, &line(fact.trim_start()), width, indent, Link::default());
        }
    }
    if let Some(more) = read.calls.len().checked_sub(MOST).filter(|more| *more > 0) {
        lines.push(Line::dim(format!("{} more", count(more as u64, "command"))).indent(2));
    }
    if let Some(problem) = &read.problem {
        let text = format!("not read to its end: {problem}. It may do anything");
        paragraph(lines, theme, Role::VerdictReport, &line(&text), width, 2, Link::default());
    }
}

/// The facts about programs and tools for the rule of the first finding; without one, those of the policy.
fn known(seen: Seen<'_>) -> Table {
    let Some(replay) = seen.replay() else { return Table::default() };
    let finding = seen.judged_call().and_then(|judged| judged.decision.findings.first());
    replay.policy().facts(finding.map(|finding| finding.rule))
}

/// A command cut to its distinctive part: a written file may be among its words.
fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The small calls that the findings on a call name.
fn matched(seen: Seen<'_>, session: &Session) -> Vec<String> {
    let (Some(rules), Some(judged)) = (seen.rules(), seen.judged_call()) else { return Vec::new() };
    let explained = judged.decision.findings.iter().filter_map(|finding| finding.explain(rules, session));
    let lines = explained.flat_map(|explanation| explanation.lines);
    let named = lines.filter(|line| line.label == "matched" && line.state != LineState::Good);
    named.map(|line| line.text.to_string()).collect()
}
