//! Questions about what a call does, on the command line of the selected call.

use serde_json::Value;

use super::answer::{Answer, Part, State, Subject};
use crate::session::Call;
use crate::session::Outcome;
use crate::shell::facts::tools::{self, Argument};
use crate::shell::matcher::{Agent, End, Hosts, Matcher, Runs, Surroundings};
use crate::shell::{self, Act, Line, Patterns, Root, SmallCall};
use crate::source::{Field, Fields, Problem, Source, parse};
use crate::wording::count;

/// Bytes of a command line that is read.
const LONGEST: usize = 100_000;

pub fn matcher(expression: &str, subject: &Subject) -> Answer {
    // The braces of a mapping on one line may be left out.
    let (text, before) = match expression.trim_start().starts_with('{') {
        true => (expression.to_owned(), 0),
        false => (format!("{{{expression}}}"), 1),
    };
    let wanted = match read(&text) {
        Ok(wanted) => wanted,
        Err(problem) => {
            let at = problem.span.start.saturating_sub(before).min(expression.len());
            return Answer::refused(problem.message, Some(at));
        }
    };
    let refused = |why: &str| Answer::refused(why.to_owned(), None);
    let call = subject.call.and_then(|index| subject.session.calls.get(index as usize));
    let Some((call, line)) = call.and_then(|call| Some((call, command(call)?))) else {
        return refused("this is no call that runs a command line");
    };
    let ended = match call.outcome {
        Outcome::Ok => Some(End::Ok),
        Outcome::Error => Some(End::Error),
        _ => None,
    };
    let around = Surroundings { agent: None, ended, alone: line.calls.len() == 1 };
    let answers: Vec<shell::Answer> = line.calls.iter().map(|small| all(&wanted, small, &around)).collect();
    let state = match shell::Answer::any(answers.iter().cloned()) {
        shell::Answer::Yes => State::Match,
        shell::Answer::Perhaps(_) => State::Unsure,
        // What could not be read may do anything.
        shell::Answer::No if line.problem.is_some() => State::Unsure,
        shell::Answer::No => State::NoMatch,
    };
    let matching = answers.iter().filter(|answer| **answer == shell::Answer::Yes).count();
    let calls = count(answers.len() as u64, "call");
    let sentence = match (state, &line.problem) {
        (_, Some(problem)) => format!("the line cannot be read to its end: {problem}"),
        (State::Match, _) => format!("{matching} of {calls} in the line"),
        (State::NoMatch, _) => format!("none of {calls} in the line"),
        _ => "perhaps: it depends on a word that is not known".to_owned(),
    };
    let parts = line.calls.iter().zip(&answers).map(|(small, answer)| part(small, answer));
    Answer::new(state, sentence, parts.collect())
}

/// All questions must be answered with yes.
fn all(wanted: &[Matcher], small: &SmallCall, around: &Surroundings) -> shell::Answer {
    wanted.iter().fold(shell::Answer::Yes, |answer, one| answer.and(|| one.answer(small, around)))
}

/// A small call and the answer about it.
fn part(small: &SmallCall, answer: &shell::Answer) -> Part {
    let words = std::iter::once(&small.program).chain(&small.args);
    let text = words.map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut part = match answer {
        shell::Answer::Yes => Part::new("yes", &text),
        shell::Answer::No => Part::new("no", &text),
        shell::Answer::Perhaps(word) => Part::new(format!("perhaps, `{word}` is not known"), &text),
    };
    if *answer == shell::Answer::Yes {
        part.found.push(0..part.text.len());
    }
    part
}

fn command(call: &Call) -> Option<Line> {
    let tool = tools::tool(&call.tool)?;
    let names = tool.does.iter().find_map(|does| match does {
        Argument::Command(names) => Some(*names),
        _ => None,
    })?;
    let given = call.arguments.parsed()?;
    let given = names.split(' ').find_map(|name| given.get(name))?;
    let root = Root::default();
    match given {
        Value::String(text) if text.len() > LONGEST => {
            Some(Line { calls: Vec::new(), problem: Some("it is too long to be tried here".to_owned()) })
        }
        Value::String(text) => Some(shell::read(text, &root)),
        Value::Array(words) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            Some(shell::read_words(&words?, &root))
        }
        _ => None,
    }
}

fn read(text: &str) -> Result<Vec<Matcher>, Problem> {
    let source = Source::new("typed", text);
    let parsed = parse(&source);
    let mut wrong = parsed.problems;
    let mut wanted = Vec::new();
    if let (Some(document), true) = (parsed.documents.first(), wrong.is_empty()) {
        let document = Field::document(document);
        if let Some(fields) = document.fields(&mut wrong) {
            wanted = matchers(fields, &mut wrong);
            if wanted.is_empty() && wrong.is_empty() {
                document.refuse(
                    "ask something: `runs`, `reads`, `writes`, `deletes`, `reaches`, `ended`",
                    &mut wrong,
                );
            }
        }
    }
    match wrong.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok(wanted),
    }
}

fn matchers(mut fields: Fields<'_>, wrong: &mut Vec<Problem>) -> Vec<Matcher> {
    let mut wanted = Vec::new();
    if let Some(mut runs) = fields.mapping("runs", wrong) {
        let program = runs.required("program", wrong).and_then(|field| field.name(wrong)).unwrap_or_default();
        let args = runs.list("args", wrong, |item, wrong| Some(texts(&item, wrong))).unwrap_or_default();
        let flags = runs.list("flags", wrong, |item, wrong| item.name(wrong)).unwrap_or_default();
        runs.finish(wrong);
        wanted.push(Matcher::Runs(Runs::new(program, args, flags)));
    }
    for (key, act) in [("reads", Act::Reads), ("writes", Act::Writes), ("deletes", Act::Deletes)] {
        if let Some(field) = fields.optional(key) {
            wanted.push(Matcher::Touches(act, Patterns::new(texts(&field, wrong))));
        }
    }
    let except = fields.optional("except");
    let except = except.map(|field| texts(&field, wrong)).unwrap_or_default();
    if let Some(field) = fields.optional("reaches") {
        wanted.push(Matcher::Reaches(Hosts::new(texts(&field, wrong), except)));
    }
    if let Some(field) = fields.optional("agent") {
        let agents = [("main", Agent::Main), ("sub", Agent::Sub)];
        wanted.extend(field.one_of(&agents, wrong).map(Matcher::Agent));
    }
    if let Some(field) = fields.optional("ended") {
        wanted.extend(field.one_of(&[("ok", End::Ok), ("error", End::Error)], wrong).map(Matcher::Ended));
    }
    fields.finish(wrong);
    wanted
}

/// One text, or a list of them.
fn texts<'a>(field: &Field<'a>, wrong: &mut Vec<Problem>) -> Vec<&'a str> {
    match field.node.as_seq() {
        Some(_) => field.list(wrong, |item, wrong| item.name(wrong)).unwrap_or_default(),
        None => field.name(wrong).into_iter().collect(),
    }
}
