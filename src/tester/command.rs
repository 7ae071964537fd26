//! Questions about what a call does, tried on the selected call with the code that rules use.

use std::rc::Rc;
use std::sync::Arc;

use super::answer::{Answer, Part, State, Subject};
use rulestep_base::session::Outcome;
use rulestep_base::source::{Field, Problem, ProblemKind, Source, Span, parse};
use rulestep_base::wording::count;
use rulestep_engine::dialect::question::{Question, RunsRead, Table, question};
use rulestep_shell::matcher::{Agent, End, Surroundings};
use rulestep_shell::question::Copies;
use rulestep_shell::reading::{Made, reading};
use rulestep_shell::{self as shell, SmallCall, tool};

/// Copies of files by earlier calls are ignored.
pub fn matcher(expression: &str, subject: &Subject, known: &Table) -> Answer {
    // The braces of a mapping on one line may be left out.
    let (text, before) = match expression.trim_start().starts_with('{') {
        true => (expression.to_owned(), 0),
        false => (format!("{{{expression}}}"), 1),
    };
    let question = match read(&text, known) {
        Ok(question) => question,
        Err(problem) => {
            let at = problem.span.start.saturating_sub(before).min(expression.len());
            return Answer::refused(problem.message, Some(at));
        }
    };
    let facts = &subject.session.facts;
    let Some(call) = subject.call.and_then(|index| subject.session.calls.get(index as usize)) else {
        return Answer::refused("this is no call".to_owned(), None);
    };
    if let Some(group) = question.groups().iter().find(|group| !tool::can(known, &call.tool, group.key)) {
        let sentence = format!("`{}` is nothing that a call to `{}` does", group.key, call.tool);
        return Answer::new(State::NoMatch, sentence, Vec::new());
    }
    let ended = match call.outcome {
        Outcome::Ok => Some(End::Ok),
        Outcome::Error => Some(End::Error),
        _ => None,
    };
    let line = reading(Made::of(call, facts), known);
    let agent = Some(if facts.subagent { Agent::Sub } else { Agent::Main });
    let around = Surroundings { agent, ended, alone: line.calls.len() == 1 };
    let answers: Rc<[shell::Answer]> = line.answers(&question, around, &Copies::default()).0;
    let answer = shell::Answer::any(answers.iter().cloned());
    let state = match answer {
        shell::Answer::Yes => State::Match,
        shell::Answer::Perhaps(_) | shell::Answer::Sweep(_) => State::Unsure,
        shell::Answer::No => State::NoMatch,
    };
    let matching = answers.iter().filter(|answer| **answer == shell::Answer::Yes).count();
    let commands = count(answers.len() as u64, "command");
    let sentence = match (state, &line.problem) {
        (_, Some(problem)) => format!("the line cannot be read to its end: {problem}"),
        (State::Match, _) if answers.len() == 1 => "the call does".to_owned(),
        (State::NoMatch, _) if answers.len() == 1 => "the call does not".to_owned(),
        (State::Match, _) => format!("{matching} of {commands} in the line"),
        (State::NoMatch, _) => format!("none of {commands} in the line"),
        _ => match answer {
            shell::Answer::Sweep(folder) => {
                format!("a sweep: it searches `{folder}`, where such a file may lie")
            }
            _ => "perhaps: it depends on a word that is not known".to_owned(),
        },
    };
    let parts = line.calls.iter().zip(answers.iter()).map(|(small, answer)| part(&call.tool, small, answer));
    Answer::new(state, sentence, parts.collect())
}

/// A small call and the answer about it.
fn part(tool: &str, small: &SmallCall, answer: &shell::Answer) -> Part {
    let words = std::iter::once(&small.program).chain(&small.args);
    let text = words.map(ToString::to_string).collect::<Vec<_>>().join(" ");
    // A tool that runs no command is one call without a program.
    let text = if text.is_empty() && small.at.is_empty() { tool } else { &text };
    let mut part = match answer {
        shell::Answer::Yes => Part::new("yes", text),
        shell::Answer::No => Part::new("no", text),
        shell::Answer::Sweep(folder) => Part::new(format!("a sweep of `{folder}`"), text),
        shell::Answer::Perhaps(word) => Part::new(format!("perhaps, `{word}` is not known"), text),
    };
    if *answer == shell::Answer::Yes {
        part.found.push(0..part.text.len());
    }
    part
}

fn read(text: &str, known: &Table) -> Result<Arc<Question>, Problem> {
    let source = Source::new("typed", text);
    let parsed = parse(&source);
    let mut wrong = parsed.problems;
    let mut asked = None;
    if let (Some(document), true) = (parsed.documents.first(), wrong.is_empty()) {
        let document = Field::document(document);
        if let Some(mut fields) = document.fields(&mut wrong) {
            asked = question(&mut fields, known, &mut RunsRead::default(), &mut wrong).flatten();
            fields.finish(&mut wrong);
        }
        if asked.is_none() && wrong.is_empty() {
            let keys = "`runs`, `reads`, `writes`, `deletes`, `reaches`, `agent`, `ended`";
            document.refuse(format!("ask something: {keys}"), &mut wrong);
        }
    }
    match (wrong.into_iter().next(), asked) {
        (None, Some(question)) => Ok(question),
        (Some(problem), _) => Err(problem),
        (None, None) => Err(Problem::new(ProblemKind::BadValue, Span::default(), "ask something")),
    }
}
