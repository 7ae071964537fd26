//! Sides with questions about what a call does: which of its commands they match, and the order within one call.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::asks::{Copies, Part, Role};
use super::operand::{Look, Match, Operand, Side};
use crate::dialect::question::{Question, Table};
use rulestep_shell::matcher::{Agent, End, Matcher, Surroundings};
use rulestep_shell::path::Place;
use rulestep_shell::reading::{Made, Reading, reading};
use rulestep_shell::{Act, Answer, Line, SmallCall, given, tool};

mod listed;
mod until;

pub(super) use listed::stray;
pub(super) use until::lifts;

/// The answer of a side for each command of a call.
pub(super) struct Row {
    line: Rc<Reading>,
    answers: Rc<[Answer]>,
    /// Whether the call meets all other conditions, so that opaque code decides whether it matches.
    inside: bool,
}

/// A file of a command.
pub(super) struct File {
    /// The names by which it is certainly known; none if its name is unknown.
    pub names: Vec<String>,
}

/// How a command counts.
enum Counts {
    Surely,
    Unsurely(String),
    Opaquely,
    /// A search of this folder may come across it.
    Sweeping(String),
}

fn part_of(call: &SmallCall, counts: Counts) -> Part {
    let command = if call.program.known() == Some("") && call.unclear.is_none() {
        if call.at.is_empty() { String::new() } else { "a redirection".to_owned() }
    } else {
        call.to_string()
    };
    let (unknown, sweep) = match &counts {
        Counts::Unsurely(word) => (Some(Arc::from(word.as_str())), None),
        Counts::Sweeping(folder) => (None, Some(Arc::from(folder.as_str()))),
        Counts::Surely | Counts::Opaquely => (None, None),
    };
    let opaque = matches!(counts, Counts::Opaquely);
    let characters = [call.at.start, call.at.end];
    Part { command: command.into(), characters, unknown, opaque, sweep, since: None, trigger: None }
}

/// What is known of a call besides its words.
fn around(look: Look<'_>, line: &Line) -> Surroundings {
    let agent = look.facts.map(|facts| if facts.subagent { Agent::Sub } else { Agent::Main });
    let ended = look.ended.map(|ok| if ok { End::Ok } else { End::Error });
    Surroundings { agent, ended, alone: line.calls.len() == 1 }
}

/// A text as the path of a file that the call works on: the same for all ways to write it. `None`: it is no such path.
pub(super) fn path(text: &str, look: Look<'_>, facts: &Table) -> Option<String> {
    let root = made(look)?.root(Table::default());
    let place = Place::new(&given::path(text), &root.here(), &root);
    let line = line(look, facts)?;
    let mut files = line.calls.iter().flat_map(|call| &call.touches);
    files.find(|touch| touch.place.names().any(|name| place.names().any(|own| own == name)))?;
    let absolute = place.names().find(|name| name.starts_with('/'));
    absolute.or_else(|| place.names().next()).map(str::to_owned)
}

/// The commands of a call, if it is a command line.
pub(super) fn line(look: Look<'_>, facts: &Table) -> Option<Rc<Reading>> {
    Some(reading(made(look)?, facts))
}

fn made(look: Look<'_>) -> Option<Made<'_>> {
    Some(Made { tool: look.tool, arguments: look.arguments?, folder: look.folder, facts: look.facts? })
}

/// Whether a call runs code that was not read.
pub(super) fn is_opaque(look: Look<'_>, facts: &Table) -> bool {
    line(look, facts).is_some_and(|line| line.calls.iter().any(|call| call.opaque))
}

/// Whether a call searches a folder that may hold a file of some operand.
pub(super) fn is_sweep(operands: &[&Operand], look: Look<'_>) -> bool {
    let sweeps = |operand: &Operand| {
        let row = line(look, &operand.facts).map(|line| operand.row(look, &line));
        row.is_some_and(|row| row.iter().any(|answer| matches!(answer, Answer::Sweep(_))))
    };
    let asks = |operand: &Operand| operand.asks.as_ref().is_some_and(|question| question.asks(Act::Reads));
    operands.iter().any(|operand| asks(operand) && operand.names(look.tool) && sweeps(operand))
}

/// Whether a call does anything of the kind that a question is about, so that a non-match is worth reporting.
pub(super) fn is_about(question: &Question, look: Look<'_>, facts: &Table) -> bool {
    let does = |call: &SmallCall, asked: &Matcher| match asked {
        Matcher::Runs(_) => call.program.known() != Some(""),
        Matcher::Touches(act, _) => call.touches.iter().chain(&call.mentions).any(|touch| touch.act == *act),
        Matcher::Reaches(_) => !call.reaches.is_empty(),
        Matcher::Agent(_) | Matcher::Ended(_) => true,
    };
    let is_about = |call: &SmallCall| {
        let mut groups = question.groups().iter();
        call.opaque
            || call.unclear.is_some()
            || groups.all(|group| group.any.iter().any(|asked| does(call, asked)))
    };
    line(look, facts).is_none_or(|line| line.calls.iter().any(is_about))
}

impl Side {
    /// Whether an answer may depend on the folder of a call: files and copies of them are identified by it.
    pub fn needs_folder(&self) -> bool {
        let questions = self.operands().iter().filter_map(|operand| operand.asks.as_ref());
        questions.into_iter().any(|question| question.asks_folder())
    }
}

impl Operand {
    /// Whether it can mean a call of this tool.
    pub fn can_mean(&self, name: &str) -> bool {
        self.asks.as_ref().is_none_or(|question| {
            question.groups().iter().all(|group| tool::can(&self.facts, name, group.key))
        })
    }

    /// Keeps the copies that a call makes.
    pub fn copies(&self, look: Look<'_>, copies: &mut Copies) {
        let Some(question) = &self.asks else { return };
        if !question.asks_files() || !self.given(look) {
            return;
        }
        if let Some(line) = line(look, &self.facts)
            && line.calls.iter().flat_map(SmallCall::files).any(|(touch, _)| touch.act == Act::Writes)
        {
            *copies = line.answers(question, around(look, &line), copies).1;
        }
    }

    fn row(&self, look: Look<'_>, line: &Reading) -> Rc<[Answer]> {
        let all = |answer: Answer| vec![answer; line.calls.len()].into();
        match &self.asks {
            _ if !self.given(look) => all(Answer::No),
            None => all(Answer::Yes),
            Some(question) => {
                let copies = look.copies.get(self.number).map_or_else(Cow::default, Cow::Borrowed);
                line.answers(question, around(look, line), &copies).0
            }
        }
    }

    /// Whether a call satisfies the conditions besides commands: the arguments, and the agent that makes it.
    fn concerns(&self, look: Look<'_>, line: &Reading) -> bool {
        let agent = around(look, line).agent;
        let is_by = |asked: &Matcher| match asked {
            Matcher::Agent(wanted) => agent.is_none_or(|agent| agent == *wanted),
            _ => true,
        };
        let mut asked = self.asks.iter().flat_map(|question| question.groups()).flat_map(|group| &group.any);
        self.given(look) && asked.all(is_by)
    }

    /// The first command of a call that matches or perhaps matches, and of which it is unknown whether it succeeded.
    pub fn doubt(&self, look: Look<'_>) -> Option<Part> {
        let line = line(look, &self.facts).filter(|_| self.asks.is_some())?;
        let row = self.row(look, &line);
        let (call, answer) = line.calls.iter().zip(row.iter()).find(|(_, answer)| **answer != Answer::No)?;
        Some(part_of(
            call,
            match answer {
                Answer::Perhaps(word) => Counts::Unsurely(word.clone()),
                Answer::Sweep(folder) => Counts::Sweeping(folder.clone()),
                Answer::Yes | Answer::No => Counts::Surely,
            },
        ))
    }

    /// Whether the call matches a side that asks what calls do.
    pub fn does(&self, look: Look<'_>, role: Role) -> Match {
        let Some(line) = line(look, &self.facts) else { return Match::Perhaps };
        let row = Row { answers: self.row(look, &line), inside: self.concerns(look, &line), line };
        let meant = row.counted(role, look).next().is_some();
        if meant { Match::Yes } else { Match::No }
    }
}

impl Row {
    /// The commands that count, in order. Where a result is known, only success that is known satisfies.
    fn counted<'r>(&'r self, role: Role, look: Look<'_>) -> impl Iterator<Item = (usize, Counts)> + use<'r> {
        let (resolved, opaque, unsure, sweeps) =
            (look.ended.is_some(), look.opaque, look.unsure, look.sweeps);
        let calls = self.line.calls.iter().zip(self.answers.iter()).enumerate();
        calls.filter_map(move |(number, (call, answer))| {
            let counts = match (answer, role) {
                (Answer::Yes, _) => Some(Counts::Surely),
                // A doubt counts against the agent, or for it if the rule says so.
                (Answer::Perhaps(word), role) => {
                    ((role == Role::Permits) == unsure).then(|| Counts::Unsurely(word.clone()))
                }
                // A file that a search comes across satisfies nothing.
                (Answer::Sweep(folder), Role::Forbids | Role::Triggers) if sweeps => {
                    Some(Counts::Sweeping(folder.clone()))
                }
                (Answer::No | Answer::Sweep(_), Role::Forbids) => {
                    (opaque && self.inside && call.opaque).then_some(Counts::Opaquely)
                }
                (Answer::No | Answer::Sweep(_), Role::Permits | Role::Triggers) => None,
            };
            let proven = role != Role::Permits || !resolved || call.proven;
            counts.filter(|_| proven).map(|counts| (number, counts))
        })
    }
}

impl Side {
    /// Its answer for each command of a call. `None` if it has no question about what calls do: then a call matches as
    /// a whole.
    fn row(&self, look: Look<'_>) -> Option<Row> {
        if !self.asks {
            return None;
        }
        let line = line(look, self.facts())?;
        let mut named = self.operands().iter().filter(|operand| operand.names(look.tool));
        let Some(first) = named.next() else {
            let answers = vec![Answer::No; line.calls.len()].into();
            return Some(Row { line, answers, inside: false });
        };
        let mut inside = first.concerns(look, &line);
        let answers = named.fold(first.row(look, &line), |answers, operand| {
            inside |= operand.concerns(look, &line);
            let other = operand.row(look, &line);
            if other.iter().all(|answer| *answer == Answer::No) {
                return answers;
            }
            let both = answers.iter().zip(other.iter());
            both.map(|(own, other)| own.clone().or(|| other.clone())).collect()
        });
        Some(Row { line, answers, inside })
    }

    fn counted<'r>(&self, row: &'r Row, look: Look<'_>) -> impl Iterator<Item = (usize, Counts)> + use<'r> {
        row.counted(self.role, look)
    }

    /// Whether it means a command of the call.
    pub fn does(&self, look: Look<'_>) -> Match {
        match self.row(look) {
            _ if look.arguments.is_none() => Match::Perhaps,
            Some(row) if self.counted(&row, look).next().is_some() => Match::Yes,
            _ => Match::No,
        }
    }

    /// The number of matching commands of the call.
    pub fn times(&self, look: Look<'_>) -> u64 {
        match self.row(look) {
            Some(row) => self.counted(&row, look).count() as u64,
            None => u64::from(self.means(look) == Match::Yes),
        }
    }

    /// The first command that it means.
    pub fn part(&self, look: Look<'_>) -> Option<Part> {
        let row = self.row(look)?;
        let (number, counts) = self.counted(&row, look).next()?;
        Some(part_of(row.line.calls.get(number)?, counts))
    }

    /// The first command of this side that no success of the other side's comes before within the call; where it must come
    /// directly before, with whether one did before the call.
    pub fn without(&self, first: &Side, look: Look<'_>, directly: Option<bool>) -> Option<Part> {
        let own = self.row(look)?;
        let other = first.row(look);
        let firsts: Option<Vec<usize>> =
            other.as_ref().map(|row| first.counted(row, look).map(|(number, _)| number).collect());
        let found = self.counted(&own, look).find(|(number, _)| {
            let Some(call) = own.line.calls.get(*number) else { return true };
            let Some(firsts) = &firsts else { return first.means(look) != Match::Yes };
            if *number == 0 && directly == Some(true) {
                return false;
            }
            let near = |first: &usize| directly.is_none() || first + 1 == *number;
            !firsts.iter().any(|first| first == number || call.after.contains(first) && near(first))
        });
        let (number, counts) = found?;
        Some(part_of(own.line.calls.get(number)?, counts))
    }

    /// Whether every command of the other side is followed by a success of this side, within one call that succeeds.
    pub fn follows(&self, trigger: &Side, look: Look<'_>) -> bool {
        let (Some(own), Some(other)) = (self.row(look), trigger.row(look)) else { return false };
        let look = Look { ended: Some(true), ..look };
        let last = self.counted(&own, look).last();
        last.is_some_and(|(last, _)| {
            let last_call = own.line.calls.get(last);
            let runs_on = |number: usize| {
                other.line.calls.get(number).zip(last_call).is_some_and(|(call, last)| call.runs_on(last))
            };
            trigger.counted(&other, look).all(|(number, _)| number < last && !runs_on(number))
        })
    }

    /// Whether the call ends with a command of this side.
    pub fn ends(&self, look: Look<'_>) -> bool {
        self.row(look).is_none_or(|row| {
            self.counted(&row, look).last().is_some_and(|(last, _)| last + 1 == row.line.calls.len())
        })
    }

    fn reads(&self) -> bool {
        self.operands().iter().flat_map(|operand| &operand.asks).any(|question| question.asks(Act::Reads))
    }

    /// The files that the call works on and that this side asks about: each with the number of its command, and of those
    /// that are known to have succeeded before.
    pub fn files(&self, look: Look<'_>, mut each: impl FnMut(usize, &[usize], File)) {
        let Some(line) = line(look, self.facts()) else { return };
        let row = self.row(look).unwrap_or_else(|| {
            let answer = if self.means(look) == Match::Yes { Answer::Yes } else { Answer::No };
            Row { answers: vec![answer; line.calls.len()].into(), line: Rc::clone(&line), inside: true }
        });
        for (number, _) in self.counted(&row, look) {
            let Some(call) = line.calls.get(number) else { continue };
            for operand in self.operands().iter().filter(|operand| operand.names(look.tool)) {
                let copies = look.copies.get(operand.number).cloned().unwrap_or_default();
                let files = match &operand.asks {
                    Some(question) => question.files(call, &copies, self.role == Role::Permits),
                    None => call.touches.iter().map(|touch| &touch.place).collect(),
                };
                files.into_iter().for_each(|file| {
                    each(number, &call.after, File { names: file.names().map(str::to_owned).collect() })
                });
            }
        }
    }
}
