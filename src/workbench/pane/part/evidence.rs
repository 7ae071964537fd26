//! The evidence of rules, from their explanations: signs, texts, values at the right edge.

use unicode_width::UnicodeWidthStr;

use crate::report::words;
use crate::workbench::line::{Key, Line, Link, paragraph, place, tool_of};
use crate::workbench::model::seen::Seen;
use crate::workbench::theme::{Glyph, Role};
use rulestep_base::session::CallRef;
use rulestep_engine::monitor::{self, Check, EarlierCall, Explanation, LineState, Rule, RuleId};

/// Indentation of a part.
const STEP: usize = 2;

/// Whether a check that passed has something to say about the call: earlier calls it rests on, or a count.
pub fn tells(seen: Seen<'_>, check: &Check) -> bool {
    !check.found.is_empty() || explained(seen, check).is_some_and(|explanation| explanation.telling)
}

fn explained(seen: Seen<'_>, check: &Check) -> Option<Explanation> {
    check.explain(seen.rules()?, seen.model.session()?)
}

/// `✓ 6 more rules passed`; nothing for none.
pub fn others(lines: &mut Vec<Line>, count: usize, more: bool) {
    if count == 0 {
        return;
    }
    let (role, glyph) = sign(true);
    let (more, s) = (if more { " more" } else { "" }, if count == 1 { "" } else { "s" });
    let text = format!("{count}{more} rule{s} passed");
    lines.push(Line::new().glyph(role, glyph).text(Role::TextDim, text).part(Key::Part("others")));
}

/// The lines of a check: the rule's name, the call it rests on, the values it looked at.
pub fn check(lines: &mut Vec<Line>, seen: Seen<'_>, check: &Check, width: usize) {
    let Some(explanation) = explained(seen, check) else { return };
    let one = check.found.first().filter(|_| check.passed && check.found.len() == 1);
    let call = one.and_then(EarlierCall::own);
    let link = Link { rule: Some(check.rule), call: call.map(|call| call.index), base: None };
    let right = call.map(place).unwrap_or_default();
    let key = seen.key(check.rule);
    named(lines, seen, sign(check.passed), &asks(&explanation), &right, (key, link), width);
    if let Some(code) = check.code {
        lines.push(Line::dim(code.as_str()).indent(2).rule(check.rule));
    }
    // Of several calls that satisfied it, each is a place to go to.
    for found in
        check.found.iter().filter_map(|found| found.own().filter(|_| check.passed && check.found.len() > 1))
    {
        let taking = seen.taking().map(|taking| taking.replay.session());
        let session = taking.or(seen.model.session());
        let tool = session.map(|session| tool_of(session, found)).unwrap_or_default();
        let by = Line::dim(tool).indent(2).right(Role::TextDim, place(found));
        lines.push(by.call(found).rule(check.rule));
    }
    if let Some(checked) = &check.checked {
        let value = checked.value.as_ref().map_or_else(|| "not one value".to_owned(), ToString::to_string);
        let text = format!("{} {value}", checked.path);
        paragraph(lines, &seen.model.theme, Role::TextDim, &text, width, 2, link_to(check.rule, None));
    }
    tree(lines, seen, check.rule, &explanation.lines, 2, width);
}

/// A sign, a name in as many lines as it needs, and a word or two at the right edge of the first, else below it.
pub fn named(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    (role, glyph): (Role, Glyph),
    name: &str,
    right: &str,
    (key, link): (Key, Link),
    width: usize,
) {
    let mut line = Line::new().glyph(role, glyph).text(Role::Text, name).part(key.clone());
    line.link = link;
    let beside = if right.is_empty() { 0 } else { 1 + right.len() };
    if line.width() + beside <= width {
        lines.push(if right.is_empty() { line } else { line.right(Role::TextDim, right) });
        return;
    }
    let from = lines.len();
    paragraph(lines, &seen.model.theme, Role::Text, name, width, 2, link);
    if let Some(first) = lines.get_mut(from) {
        *first = std::mem::take(first).outdent().glyph(role, glyph).part(key);
    }
    if right.is_empty() {
        return;
    }
    match lines.last_mut() {
        Some(last) if lines_fit(last, right, width) => {
            *last = std::mem::take(last).right(Role::TextDim, right)
        }
        _ => {
            let mut below = Line::dim(right).indent(2);
            below.link = link;
            lines.push(below);
        }
    }
}

fn lines_fit(line: &Line, right: &str, width: usize) -> bool {
    line.width() + 1 + right.len() <= width
}

/// The requirement of a rule, in a few words: its own name, else `[0] check_eligibility`, `[1] steps 2 of 3`.
pub fn asks(explanation: &Explanation) -> String {
    let rule = &explanation.rule;
    match &explanation.label {
        Some(label) if rule.description.is_none() && rule.name.is_none() => {
            let index = index(rule).map(|index| format!("[{index}] ")).unwrap_or_default();
            format!("{index}{label}")
        }
        _ => words::rule_name(rule),
    }
}

/// The evidence of a rule, a line or more each: parts are below the whole and indented.
pub fn tree(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    rule: RuleId,
    explained: &[monitor::Line],
    indent: usize,
    width: usize,
) {
    for line in explained {
        one(lines, seen, rule, line, indent, width);
        tree(lines, seen, rule, &line.lines, indent + STEP, width);
    }
}

/// A sign if the line has one, the text, and a value at the right edge or, if it does not fit, below.
fn one(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    rule: RuleId,
    line: &monitor::Line,
    indent: usize,
    width: usize,
) {
    let theme = &seen.model.theme;
    let (role, glyph) = match line.state {
        LineState::Plain => (Role::TextDim, None),
        LineState::Note => (Role::VerdictReport, None),
        LineState::Good => (Role::Text, Some(sign(true))),
        LineState::Bad => (Role::Text, Some(sign(false))),
        LineState::Doubtful => (Role::VerdictReport, Some(sign(false))),
        LineState::Pending => (Role::Text, Some((Role::VerdictReport, Glyph::Dot))),
    };
    let link = link_to(rule, line.call);
    let hang = if glyph.is_some() { STEP } else { 0 };
    let text = match line.call {
        Some(call) => format!("{} {}", line.text, place(call)),
        None => line.text.to_string(),
    };
    let mut said = Vec::new();
    paragraph(&mut said, theme, role, &text, width.saturating_sub(indent + hang), 0, link);
    let short = said.len() == 1;
    for (at, text) in said.into_iter().enumerate() {
        lines.push(match glyph {
            Some((role, glyph)) if at == 0 => text.indent(indent).glyph(role, glyph),
            _ => text.indent(indent + hang),
        });
    }
    let Some(value) = line.value.as_ref().map(ToString::to_string) else { return };
    match lines.last_mut().filter(|last| short && last.width() + 1 + value.width() <= width) {
        Some(last) => *last = std::mem::take(last).right(Role::TextDim, value),
        None => paragraph(lines, theme, Role::TextDim, &value, width, indent + STEP, link),
    }
}

fn link_to(rule: RuleId, call: Option<CallRef>) -> Link {
    Link { rule: Some(rule), call: call.map(|call| call.index), base: None }
}

/// The sign of a condition.
pub fn sign(holds: bool) -> (Role, Glyph) {
    if holds { (Role::VerdictAllow, Glyph::Allow) } else { (Role::VerdictDeny, Glyph::Deny) }
}

/// The place of a rule in its list, `[0]`, where its pointer ends in one.
fn index(rule: &Rule) -> Option<&str> {
    let (_, last) = rule.pointer.rsplit_once('/')?;
    (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())).then_some(last)
}
