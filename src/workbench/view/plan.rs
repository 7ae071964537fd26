//! The conditions of a rejection plan as a tree: what each came to, and the text it looked at.

use super::line::{Line, Link, paragraph};
use super::preconditions::sign;
use crate::monitor::RuleId;
use crate::monitor::plan::{Condition, Plan};
use crate::report::words;
use crate::workbench::model::Model;
use crate::workbench::theme::Role;

/// Columns a group's own conditions stand further right.
const STEP: usize = 2;

/// A line or more a condition, groups before what is in them. A condition that matched is marked as speaking against
/// the call, and one that cannot be evaluated is worded as such.
pub fn tree(lines: &mut Vec<Line>, model: &Model, rule: RuleId, plan: &Plan, indent: usize, width: usize) {
    let mut branches = vec![(indent, plan.tree.conditions.iter())];
    while let Some((indent, conditions)) = branches.last_mut() {
        let indent = *indent;
        match conditions.next() {
            Some(next) => {
                condition(lines, model, rule, next, indent, width);
                branches.push((indent + STEP, next.conditions.iter()));
            }
            None => drop(branches.pop()),
        }
    }
}

fn condition(
    lines: &mut Vec<Line>,
    model: &Model,
    rule: RuleId,
    made: &Condition,
    indent: usize,
    width: usize,
) {
    let (role, glyph) = sign(!made.value);
    let text = if made.unevaluable.is_some() { Role::VerdictReport } else { Role::Text };
    let link = Link { rule: Some(rule), ..Link::default() };
    let mut said = Vec::new();
    let width = width.saturating_sub(indent + STEP);
    paragraph(&mut said, &model.theme, text, &words::plan::condition(made).to_string(), width, 0, link);
    let mut said = said.into_iter();
    lines.extend(said.next().map(|line| line.indent(indent).glyph(role, glyph)));
    lines.extend(said.map(|line| line.indent(indent + STEP)));
}
