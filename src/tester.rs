//! Tries an expression of a policy on recorded data while it is typed. The functions are those that decide rules; the
//! cost of one try is bounded, whatever is typed or recorded.

mod answer;
mod command;
mod pattern;
mod template;

use serde_json::Value;

pub use answer::{Answer, Language, MOST, Part, State, Subject};

use rulestep_base::wording::count;
use rulestep_engine::condition::path::Path;
use rulestep_engine::dialect::question::Table;

/// Steps that a path may take.
const STEPS: u64 = 30_000_000;

/// Tries an expression, with the shipped facts of programs and tools.
pub fn test(language: Language, expression: &str, subject: &Subject) -> Answer {
    test_by(language, expression, subject, &Table::default())
}

/// The same by a policy's facts about them.
pub fn test_by(language: Language, expression: &str, subject: &Subject, known: &Table) -> Answer {
    if expression.is_empty() {
        return Answer::refused(format!("type a {}: {}", language.noun(), language.place()), None);
    }
    match language {
        Language::JsonPath => path(expression, subject),
        Language::Rust => pattern::rust(expression, subject),
        Language::JavaScript => pattern::javascript(expression, subject),
        Language::Liquid => template::liquid(expression, subject),
        Language::Call => command::matcher(expression, subject, known),
    }
}

/// The value that paths of rules look into: of arguments one that is JSON, of a result any.
fn value(subject: &Subject) -> Option<&Value> {
    if subject.is_arguments { subject.value.parsed() } else { subject.value.value() }
}

fn path(expression: &str, subject: &Subject) -> Answer {
    let path = match Path::parse(expression) {
        Ok(path) => path,
        Err(error) => return Answer::refused(error.to_string(), Some(error.at)),
    };
    let Some(value) = value(subject) else {
        return Answer::refused("there is no JSON here to look into".to_owned(), None);
    };
    let (size, depth) = extent(value);
    if path.effort(size, depth) > STEPS {
        let sentence = format!("this may take too long on {}", count(size, "value"));
        return Answer::new(State::Unsure, sentence, Vec::new());
    }
    let nodes = path.located(value);
    let found = count(nodes.len() as u64, "value");
    let parts = nodes.into_iter().take(MOST).map(|(path, node)| Part::new(path, &node.to_string()));
    let parts: Vec<Part> = parts.collect();
    match (parts.is_empty(), subject.value.parsed().is_some()) {
        (false, _) => Answer::new(State::Match, found, parts),
        (true, true) => Answer::new(State::NoMatch, "nothing is there", parts),
        (true, false) => Answer::new(State::NoMatch, "nothing is there: this text is not JSON", parts),
    }
}

/// The number of values in one, itself included, and their depth. No value that was read nests deep.
fn extent(value: &Value) -> (u64, u64) {
    let below = |(size, depth): (u64, u64), inner: &Value| {
        let (more, deeper) = extent(inner);
        (size + more, depth.max(deeper + 1))
    };
    match value {
        Value::Array(items) => items.iter().fold((1, 1), below),
        Value::Object(members) => members.values().fold((1, 1), below),
        _ => (1, 1),
    }
}
