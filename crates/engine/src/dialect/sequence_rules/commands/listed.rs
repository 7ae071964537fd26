//! The command of a call that is not on an allowlist.

use std::rc::Rc;

use super::super::asks::{Copies, Part};
use super::super::operand::{Look, Operand};
use super::{Counts, around, line, part_of};
use crate::dialect::question::{Table, runs_commands};
use rulestep_shell::{Answer, Line, SmallCall};

/// Folders in which a system has its programs.
const SYSTEM: [&str; 11] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/opt/local/bin",
    "/run/current-system/sw/bin",
    "/snap/bin",
];

/// Whether a program is found by its bare name in the system's folders.
fn is_of_system(call: &SmallCall) -> Answer {
    match &call.from {
        None => Answer::Yes,
        Some(folder) => match folder.known() {
            Some(folder) if SYSTEM.contains(&folder.trim_end_matches('/')) => Answer::Yes,
            None if folder.unclear().is_some() => Answer::Perhaps(folder.to_string()),
            _ => Answer::No,
        },
    }
}

/// Whether a listed program runs code from elsewhere. A completely unknown one is trusted because it is listed.
fn runs_code(call: &SmallCall, facts: &Table) -> bool {
    let name = call.program.known().unwrap_or_default();
    let is_known = facts.program(name).is_some();
    let loads = |name: &str| name == "PATH" || name.starts_with("LD_") || name.starts_with("DYLD_");
    let changed = || call.env.as_ref().is_some_and(|env| env.set.iter().any(|own| loads(&own.name)));
    call.opaque && (is_known || changed())
}

impl Operand {
    /// Whether a list means a command by this, if it runs.
    fn lists(&self, call: &SmallCall, answer: &Answer, look: Look<'_>, line: &Line) -> Answer {
        let answer = match (answer, &call.doubt, &self.asks) {
            (Answer::Perhaps(_), Some(_), Some(question)) => {
                let certain = SmallCall { doubt: None, ..call.clone() };
                let alone = Line { calls: vec![certain], problem: None };
                let answers = question.answers(&alone, &around(look, line), &mut Copies::default());
                answers.into_iter().next().unwrap_or(Answer::No)
            }
            (answer, ..) => answer.clone(),
        };
        answer.and(|| if self.asks.is_some() { is_of_system(call) } else { Answer::Yes })
    }
}

/// The first command of a call that a list does not name. Redirections alone are no commands.
pub fn stray(listed: &[Operand], look: Look<'_>) -> Option<Part> {
    look.arguments?;
    let facts = &listed.first()?.facts;
    let line = line(look, facts)?;
    let named: Vec<&Operand> = listed.iter().filter(|operand| operand.names(look.tool)).collect();
    let rows: Vec<Rc<[Answer]>> = named.iter().map(|operand| operand.row(look, &line)).collect();
    // A tool that runs commands does nothing else.
    let runs = runs_commands(facts, look.tool);
    let is_nothing = |call: &SmallCall| {
        call.program.known() == Some("") && call.unclear.is_none() && (runs || !call.at.is_empty())
    };
    for (number, call) in line.calls.iter().enumerate().filter(|(_, call)| !is_nothing(call)) {
        let each = named
            .iter()
            .zip(&rows)
            .filter_map(|(operand, row)| Some(operand.lists(call, row.get(number)?, look, &line)));
        let counts = match Answer::any(each) {
            Answer::Yes if look.opaque && runs_code(call, facts) => Counts::Opaquely,
            Answer::Yes => continue,
            Answer::Perhaps(_) if look.unsure => continue,
            Answer::Perhaps(word) => Counts::Unsurely(word),
            // Reading is not asked for in a list.
            Answer::No | Answer::Sweep(_) => match &call.unclear {
                Some(_) if look.unsure => continue,
                Some(word) => Counts::Unsurely(word.clone()),
                None => Counts::Surely,
            },
        };
        let part = part_of(call, counts);
        let folder =
            call.from.as_ref().filter(|_| is_of_system(call) != Answer::Yes && call.unclear.is_none());
        let command = match folder {
            Some(folder) => format!("{}/{}", folder.to_string().trim_end_matches('/'), part.command).into(),
            None => part.command,
        };
        return Some(Part { command, ..part });
    }
    None
}
