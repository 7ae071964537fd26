//! Writes a case as YAML, from a session in the workbench or a command.
//!
//! Block style on the outside, so that it can be read and changed; each message is JSON on a line of its own, in which
//! numbers and texts are as recorded. The result is read again, and must be the same session.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::read::read;
use super::{Aspect, CaseSession, Fact, Place, Subject, judge};
use rulestep_base::session::edit::{self, Part};
use rulestep_base::session::write::Native;
use rulestep_base::session::{Body, Form, Session, value};
use rulestep_base::source::inline::{inline, printable, scalar};
use rulestep_base::source::{Source, parse};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// The content of a case to be saved.
#[derive(Debug, Clone)]
pub struct Draft<'a> {
    /// The name of the case.
    pub name: &'a str,
    /// The lines of a comment above it.
    pub comments: &'a [String],
    /// Its purpose.
    pub description: Option<&'a str>,
    /// The policy's paths, relative to the folder that the case is saved in.
    pub policy: &'a [String],
    /// Rules that are switched off, by the ends of their ids.
    pub without: &'a [Arc<str>],
    /// The mode it is judged in.
    pub mode: Mode,
    /// The session.
    pub session: &'a Session,
    /// The expectations.
    pub expect: &'a [Expected],
}

/// An expectation about one subject.
pub type Expected = (Subject, Vec<(Aspect, Fact)>);

/// The session cannot be written as a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session cannot be written as YAML: {0}")]
pub struct Unwritable(String);

/// The text of a case file.
///
/// # Errors
/// What is written would not be read as the same session: for one, a key of more than a thousand letters.
pub fn write(draft: &Draft<'_>) -> Result<String, Unwritable> {
    let session = tame(draft.session);
    let native = serde_json::to_value(Native(&session)).map_err(|error| Unwritable(error.to_string()))?;
    let mut text = String::new();
    for comment in draft.comments {
        let line: String = comment.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.push_str(&format!("# {}\n", printable(line.trim_end())));
    }
    text.push_str(&format!("name: {}\n", scalar(draft.name, false)));
    if let Some(description) = draft.description {
        text.push_str(&format!("description: {}\n", scalar(description, false)));
    }
    match draft.policy {
        [one] => text.push_str(&format!("policy: {}\n", scalar(one, false))),
        several => text.push_str(&format!("policy: {}\n", inline(&several.into(), false))),
    }
    if !draft.without.is_empty() {
        text.push_str(&format!(
            "without: {}\n",
            inline(&draft.without.iter().map(|rule| &**rule).collect(), false)
        ));
    }
    text.push_str(&format!("mode: {}\nsession:\n", draft.mode.word()));
    for (key, value) in native.as_object().into_iter().flatten() {
        member(key, value, &mut text);
    }
    text.push_str("expect:\n");
    for (subject, wants) in draft.expect {
        text.push_str(&format!("  - {}\n", expectation(subject, wants)));
    }
    let again = read(&Source::new("case.yaml", text.as_str()), true);
    let wrong =
        again.diagnostics.iter().find(|told| told.severity == rulestep_base::diagnostic::Severity::Error);
    if let Some(wrong) = wrong {
        return Err(Unwritable(wrong.to_string()));
    }
    let same = match again.cases.as_slice() {
        [case] => match &case.session {
            CaseSession::Inline(read) => {
                serde_json::to_value(Native(read)).is_ok_and(|read| value::equal(&read, &native))
            }
            CaseSession::InFile { .. } => false,
        },
        _ => false,
    };
    if same { Ok(text) } else { Err(Unwritable("it would read back as a different session".to_owned())) }
}

/// A session up to the end of a turn (from 1), as it is saved.
pub fn up_to(session: &Session, turn: u32) -> Arc<Session> {
    edit::part(session, &Part::up_to(session, turn)).session
}

/// The same for a call that is named by its place, also in a choice that was not taken.
pub fn decision_at(replay: &Replay, place: Place) -> Option<Expected> {
    let subject = Subject::Call(place);
    let (_, decision) = judge::decided(place, replay)?;
    let stopped = decision.verdict.stops();
    let mut aspects = vec![Aspect::Tool, Aspect::Decision];
    if stopped {
        aspects.extend([Aspect::Code, Aspect::Rule, Aspect::Told]);
    }
    Some((subject.clone(), judge::facts(&subject, &aspects, replay)))
}

/// A part of a session: long lists with an item a line.
fn member(key: &str, value: &Value, text: &mut String) {
    let key = scalar(key, false);
    match value {
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
            text.push_str(&format!("  {key}:\n"));
            for item in items {
                text.push_str(&format!("    - {}\n", inline(item, true)));
            }
        }
        value => text.push_str(&format!("  {key}: {}\n", inline(value, true))),
    }
}

fn expectation(subject: &Subject, wants: &[(Aspect, Fact)]) -> String {
    let mut parts = match subject {
        Subject::Call(Place::In { turn, call }) => vec![format!("call: {turn}.{call}")],
        Subject::Call(Place::Index(index)) => vec![format!("index: {index}")],
        Subject::Call(Place::NotTaken(at)) => vec![format!("call: {}.{}.{}", at.turn, at.choice, at.call)],
        Subject::Turn(turn) => vec![format!("turn: {turn}")],
        Subject::Rule(rule) => vec![format!("rule: {}", scalar(rule, false))],
        Subject::Session => Vec::new(),
    };
    let (mut tools, mut counts) = (Vec::new(), Vec::new());
    for (aspect, fact) in wants {
        let entry = format!("{}: {}", scalar(aspect.key(), false), inline(&fact.to_json(), false));
        match aspect {
            Aspect::Offered(_) => tools.push(entry),
            Aspect::Count(_) => counts.push(entry),
            _ => parts.push(entry),
        }
    }
    for (key, entries) in [("tools", tools), ("summary", counts)] {
        if !entries.is_empty() {
            parts.push(format!("{key}: {{{}}}", entries.join(", ")));
        }
    }
    format!("{{{}}}", parts.join(", "))
}

/// The session with JSON bodies as text if a document cannot hold them: with a repeated key, nested too deep, or with a
/// key that JSON readers reserve. Rules look into both in the same way.
fn tame(session: &Session) -> Session {
    let mut session = session.clone();
    let mut fit: HashSet<String> = HashSet::new();
    let mut tamed = |body: &Body| -> Option<Body> {
        if body.form() != Some(Form::Json) || fit.contains(body.raw()) {
            return None;
        }
        // Numbers, truth values and the like cannot be wrong.
        let stands =
            body.fault().is_none() && parse(&Source::new("body.json", body.raw())).problems.is_empty();
        let shallow = body.raw().bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() < DEEP;
        if stands && shallow {
            fit.insert(body.raw().to_owned());
            return None;
        }
        Some(Body::text(body.raw()))
    };
    for message in &mut session.messages {
        if let Some(body) = tamed(&message.content) {
            message.content = body;
        }
    }
    for message in session.alternatives.iter_mut().map(|other| &mut other.message) {
        if let Some(body) = tamed(&message.content) {
            message.content = body;
        }
    }
    session.change_proposed(|call, _| {
        if let Some(body) = tamed(&call.arguments) {
            call.arguments = body;
        }
    });
    session
}

/// A body with fewer brackets cannot nest too deep for a document, even with the levels around it.
const DEEP: usize = 100;
