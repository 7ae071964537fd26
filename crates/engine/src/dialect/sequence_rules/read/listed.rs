//! The tools and calls of a `blocklist` or an `allowlist`.

use super::super::operand::Operand;
use super::operands::{Operands, field_asks};
use crate::condition::glob::Glob;
use rulestep_base::source::wildcard::{List as Names, Wildcard};
use rulestep_base::source::{Field, Problem, ProblemKind};

impl<'a> Operands<'_, '_, 'a, '_> {
    /// The names of a list, all of which can be read; `None` also if there is no list.
    pub fn globs(&mut self, list: Names, out: &mut Vec<Problem>) -> Option<Vec<Glob>> {
        let field = self.fields.optional("tools")?;
        let items: Vec<Field<'a>> = field.items(out)?.collect();
        let read: Vec<Option<Glob>> = items
            .iter()
            .map(|item| {
                if item.node.as_map().is_some() {
                    let message = "a blocklist names tools, and no calls";
                    let help = "write a `never` rule: `{type: never, call: {runs: {program: git}}}`";
                    out.push(item.problem(ProblemKind::WrongType, message).help(help));
                    return None;
                }
                self.listed(item, list, out)
            })
            .collect();
        read.into_iter().collect()
    }

    /// One name of a list.
    fn listed(&mut self, item: &Field<'a>, list: Names, out: &mut Vec<Problem>) -> Option<Glob> {
        let name = item.name(out)?;
        self.aliases.lint_listed(name, item.span(), self.reading);
        out.extend(Wildcard::of(name).and_then(|found| found.problem_in_glob(item.span(), list)));
        Some(Glob::new(name))
    }

    /// The entries of an allowlist: tools, and calls of which each command is allowed.
    pub fn allowed(&mut self, out: &mut Vec<Problem>) -> Option<(Vec<Glob>, Vec<Operand>)> {
        let field = self.fields.optional("tools")?;
        let items: Vec<Field<'a>> = field.items(out)?.collect();
        let (mut globs, mut calls, mut whole) = (Vec::new(), Vec::new(), true);
        for item in &items {
            if item.node.as_map().is_none() {
                let glob = self.listed(item, Names::Allows, out);
                whole &= glob.is_some();
                globs.extend(glob);
                continue;
            }
            let call = self.allowed_call(item, out);
            whole &= call.is_some();
            calls.extend(call);
        }
        whole.then_some((globs, calls))
    }

    fn allowed_call(&mut self, item: &Field<'a>, out: &mut Vec<Problem>) -> Option<Operand> {
        let form = "write programs as `{runs: {program: [git, ls]}}`, and tools by their names";
        // One file of many would allow the whole command.
        let about_files = ["reads", "writes", "deletes", "reaches", "except"];
        if let Some(entry) = about_files.iter().find_map(|key| item.node.entry(key)) {
            let message = "an allowlist names programs and tools, and not what they work on";
            let help = "forbid the rest with a `never` rule, such as `{type: never, call: {writes: ['**', '!src/**']}}`";
            out.push(Problem::new(ProblemKind::BadValue, entry.key_span, message).help(help));
            return None;
        }
        if item.node.get("tool").is_none() && !field_asks(item.node) {
            let message = "expected a tool's name or a call, found a mapping without `tool` and `runs`";
            out.push(item.problem(ProblemKind::WrongType, message).help(form));
            return None;
        }
        self.operand(item, "tools", out)
    }
}
