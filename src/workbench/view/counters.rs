//! What is counted when a turn begins: how far limits are used up, how soon deadlines pass, how far sequences have come.

use super::line::{Key, Line, Link, paragraph, place, tool_of};
use super::preconditions::sign;
use crate::diagnostic::code;
use crate::monitor::{RuleId, StateItem};
use crate::report::words;
use crate::session::Session;
use crate::workbench::model::Seen;
use crate::workbench::theme::{Glyph, Role};

/// Adds the lines of a counter, at most `width` columns wide; nothing for what is not counted.
pub fn lines(lines: &mut Vec<Line>, seen: Seen<'_>, item: &StateItem, session: &Session, width: usize) {
    let key = |rule| Key::rule(seen, rule);
    match item {
        StateItem::Limit { rule, tool, used, allowed } => {
            let (role, glyph) = sign(used < allowed);
            let name = Line::new().glyph(role, glyph).text(Role::Text, &**tool).part(key(*rule));
            counted(lines, name, format!("limit {used} of {allowed}"), *rule, width);
        }
        StateItem::Deadline { rule, tool, since, left, open } => {
            let name = Line::new().glyph(Role::VerdictReport, Glyph::Dot).text(Role::Text, &**tool);
            let name = name.part(key(*rule));
            let count = format!("deadline {} left", words::count(*left, "call"));
            counted(lines, name, count, *rule, width);
            let mut why = match since {
                Some(call) => format!("after {} {}", tool_of(session, *call), place(*call)),
                None => "from the session's start".to_owned(),
            };
            if *open > 1 {
                why.push_str(&format!(", {} open", words::count(*open, "window")));
            }
            let line = Line::dim(why).indent(2).rule(*rule);
            lines.push(match since {
                Some(call) => line.call(*call),
                None => line,
            });
        }
        StateItem::Step { rule, done, of, next } => {
            let (role, glyph) = match next {
                Some(_) => (Role::VerdictReport, Glyph::Dot),
                None => sign(true),
            };
            let name =
                next.as_deref().map_or_else(|| "sequence done".to_owned(), |next| format!("next {next}"));
            let name = Line::new().glyph(role, glyph).text(Role::Text, name).part(key(*rule));
            counted(lines, name, format!("steps {done} of {of}"), *rule, width);
        }
        StateItem::Fault { rule, fault } => {
            let (role, glyph) = sign(false);
            let code = code::RULE_FAULT.as_str();
            lines.push(Line::new().glyph(role, glyph).text(Role::Text, code).part(key(*rule)).rule(*rule));
            let link = Link { rule: Some(*rule), ..Link::default() };
            let why = words::fault::against(fault);
            paragraph(lines, &seen.model.theme, Role::TextDim, &why, width, 2, link);
        }
        StateItem::Forbidden { .. } | StateItem::Precondition { .. } | StateItem::Recorded { .. } => {}
    }
}

/// The count stands at the right edge; a long name leaves it the next line.
fn counted(lines: &mut Vec<Line>, name: Line, count: String, rule: RuleId, width: usize) {
    if name.width() + 1 + count.len() <= width {
        lines.push(name.right(Role::TextDim, count).rule(rule));
    } else {
        lines.push(name.rule(rule));
        lines.push(Line::dim(count).indent(2).rule(rule));
    }
}
