//! Inserts a suggested rule into the current policy: into the contract of its tool, or into a new file.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::claim::{Candidate, Claim, Need};
use super::document::{commented, file_name};
use rulestep_base::diagnostic::Severity;
use rulestep_base::source::edit::Edits;
use rulestep_base::source::{Node, NodeValue, Source, is_json, parse};
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};

/// One file as it was and as it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// The file, as it is shown.
    pub file: Arc<str>,
    /// The same relative to the version.
    pub relative: Arc<str>,
    /// Its text; `None` if there is no such file.
    pub before: Option<Arc<str>>,
    /// Its text with the rule.
    pub after: Arc<str>,
}

/// The place for a rule whose tool has no contract yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewHome {
    /// Into a new file of this folder, which is all of the version; the empty one is the working directory.
    Folder(String),
    /// To the end of this file, which is all of the version.
    File(String),
}

/// Why a rule cannot be inserted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInserted {
    /// The contract is written in a form that cannot be changed without losing something.
    #[error("`{0}` cannot be changed in place; write the rule there by hand")]
    Refused(Arc<str>),
    /// The contract says so already, at this line.
    #[error("it is a rule already, at {0}:{1}")]
    Present(Arc<str>, u32),
    /// The contract requires another value at the same place.
    #[error("another value is required there already, at {0}:{1}")]
    Contradicted(Arc<str>, u32),
    /// There is nowhere to write.
    #[error("{0}")]
    NoHome(&'static str),
    /// The version would not load.
    #[error("the policy would no longer load: {0}")]
    Broken(String),
}

/// Puts a rule, below lines of comment, into the contract of its tool; into its `home` if the version has none. The
/// version with it is loaded, so the result is known to be a policy.
///
/// # Errors No text that could be written would be read as the rule.
pub fn insert(
    candidate: &Candidate,
    notes: &[String],
    policy: &Policy,
    home: &NewHome,
) -> Result<Insertion, NotInserted> {
    let inserted = match contract_of(candidate.home(), policy) {
        Some((source, relative, index)) => edited(candidate, notes, &source, relative, index)?,
        None => match home {
            NewHome::Folder(folder) => created(candidate, notes, policy, folder),
            NewHome::File(file) => appended(candidate, notes, policy, file)?,
        },
    };
    inserted.loading(policy)
}

impl Insertion {
    /// The same with another text, if the version loads with it.
    ///
    /// # Errors It does not.
    pub fn with_text(&self, text: &str, policy: &Policy) -> Result<Insertion, NotInserted> {
        Insertion { after: text.into(), ..self.clone() }.loading(policy)
    }

    /// The lines of the text with the rule that are new, each with its number from 1: those between the first and the last
    /// ones which both texts have.
    pub fn new_lines(&self) -> Vec<(usize, &str)> {
        let before: Vec<&str> = self.before.as_deref().unwrap_or_default().lines().collect();
        let after: Vec<&str> = self.after.lines().collect();
        let first = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
        let rest = before.len().min(after.len()) - first;
        let backward = before.iter().rev().zip(after.iter().rev()).take(rest);
        let last = backward.take_while(|(one, other)| one == other).count();
        (1..).zip(after.iter().copied()).skip(first).take(after.len() - last - first).collect()
    }

    /// Itself, if the version loads with it.
    fn loading(self, policy: &Policy) -> Result<Insertion, NotInserted> {
        let file = PolicyFile {
            name: Arc::clone(&self.file),
            relative: Arc::clone(&self.relative),
            text: Arc::clone(&self.after),
            named: true,
        };
        match policy.with_file(file) {
            LoadResult { policy: Some(_), .. } => Ok(self),
            LoadResult { diagnostics, .. } => {
                let why = diagnostics.into_iter().find(|told| told.severity == Severity::Error);
                Err(NotInserted::Broken(why.map_or_else(String::new, |why| why.message)))
            }
        }
    }
}

/// The contract for a tool: its text, its path and its place among the documents of the file.
fn contract_of(tool: &str, policy: &Policy) -> Option<(Source, Arc<str>, usize)> {
    let contracts = policy.documents().iter().filter(|document| document.dialect == "contract");
    for document in contracts {
        let parsed = parse(&document.source);
        let Some(node) = parsed.documents.get(document.index) else { continue };
        let named = node.get("tool").and_then(Node::as_str);
        // Without the key, it is for the tool that the file is named after.
        let by_file = || {
            let name = document.relative.rsplit(['/', '\\']).next().unwrap_or_default();
            name.rsplit_once('.').map_or(name, |(stem, _)| stem)
        };
        if named.unwrap_or_else(by_file) == tool {
            return Some((document.source.clone(), Arc::clone(&document.relative), document.index));
        }
    }
    None
}

fn edited(
    candidate: &Candidate,
    notes: &[String],
    source: &Source,
    relative: Arc<str>,
    index: usize,
) -> Result<Insertion, NotInserted> {
    if let Claim::Needs(Need { prior, shared: None, result: Some(result) }) = &candidate.claim
        && let Some(after) = with_condition(prior, result, notes, source, index)?
    {
        let before = Some(source.text().into());
        return Ok(Insertion { file: source.name().into(), relative, before, after: after.into() });
    }
    let after = into_contract(std::slice::from_ref(candidate), notes, source, index)?;
    let before = Some(source.text().into());
    Ok(Insertion { file: source.name().into(), relative, before, after: after.into() })
}

/// A contract in which the first precondition that names the tool also requires this of its result; none if no
/// precondition names the tool.
fn with_condition(
    prior: &str,
    (path, value): &(Arc<str>, Arc<str>),
    notes: &[String],
    source: &Source,
    index: usize,
) -> Result<Option<String>, NotInserted> {
    let refused = || NotInserted::Refused(source.name().into());
    let parsed = parse(source);
    let document = parsed.documents.get(index).ok_or_else(refused)?;
    let preconditions = document.get("preconditions").and_then(Node::as_seq).unwrap_or_default();
    let names = |item: &&Node| item.get("requires_prior_tool").and_then(Node::as_str) == Some(prior);
    let Some(item) = preconditions.iter().find(names) else { return Ok(None) };
    let value: Value = serde_json::from_str(value).unwrap_or_default();
    let condition = serde_json::json!({"path": &**path, "equals": value});
    let mut edits = Edits::new(source, &parsed.documents);
    match item.get("with_output") {
        None => edits.insert_key(item, "with_output", Value::Array(vec![condition])),
        Some(list) => {
            let known = list.as_seq().ok_or_else(refused)?;
            for other in known {
                let (there, line) = (other.to_json(), source.position(other.span.start).line);
                if there.get("path") == condition.get("path") && there.get("equals").is_some() {
                    let file = source.name().into();
                    return Err(match there.get("equals") == condition.get("equals") {
                        true => NotInserted::Present(file, line),
                        false => NotInserted::Contradicted(file, line),
                    });
                }
            }
            edits.insert(list, known.len(), comments(notes, list, source), condition);
        }
    }
    edits.finish().map(Some).map_err(|_| refused())
}

/// Notes as comments of an item of a list. JSON has none, and a list on one line has no room for them.
fn comments(notes: &[String], list: &Node, source: &Source) -> Vec<String> {
    if is_json(source) || source.slice(list.span).starts_with('[') {
        return Vec::new();
    }
    notes.iter().map(|note| format!("# {note}")).collect()
}

/// A contract with rules of one claim, below comment lines: the text of its file, in which it is the document at
/// `index`.
///
/// # Errors It has all of them, or its text cannot be changed.
pub fn into_contract(
    candidates: &[Candidate],
    notes: &[String],
    source: &Source,
    index: usize,
) -> Result<String, NotInserted> {
    let refused = || NotInserted::Refused(source.name().into());
    let parsed = parse(source);
    let document = parsed.documents.get(index).ok_or_else(refused)?;
    let (list, _) = candidates.first().ok_or_else(refused)?.item();
    let own = document.get(list).and_then(Node::as_seq).unwrap_or_default();
    let known = |item: &Value| own.iter().find(|known| implies(&known.to_json(), item));
    let items: Vec<Value> = candidates.iter().map(|candidate| candidate.item().1).collect();
    let new: Vec<Value> = items.iter().filter(|item| known(item).is_none()).cloned().collect();
    if let (true, Some(known)) = (new.is_empty(), items.iter().find_map(known)) {
        let line = source.position(known.span.start).line;
        return Err(NotInserted::Present(source.name().into(), line));
    }
    let mut edits = Edits::new(source, &parsed.documents);
    match document.get(list) {
        Some(node) if matches!(node.value, NodeValue::Seq(_)) => {
            let mut comments = comments(notes, node, source);
            for item in new {
                edits.insert(node, own.len(), std::mem::take(&mut comments), item);
            }
        }
        Some(_) => return Err(refused()),
        None => edits.insert_key(document, list, Value::Array(new)),
    }
    edits.finish().map_err(|_| refused())
}

/// Whether an existing rule implies another one.
fn implies(known: &Value, item: &Value) -> bool {
    match (known, item) {
        // Any earlier call is less than the newest one.
        (Value::Object(known), Value::Object(item))
            if known.get("match").is_some_and(|known| known == "any") && !item.contains_key("match") =>
        {
            false
        }
        (Value::Object(known), Value::Object(item)) => {
            let asked = item.iter().filter(|(key, _)| *key != "match");
            let mut asked = asked.map(|(key, value)| known.get(key) == Some(value));
            asked.all(|same| same)
        }
        _ => known == item,
    }
}

fn contract(candidate: &Candidate, notes: &[String]) -> String {
    let notes = |_: &Candidate| notes.to_vec();
    commented(&[candidate], &notes, false).into_iter().map(|document| document.text).collect()
}

/// One document more. JSON has no room for one.
fn appended(
    candidate: &Candidate,
    notes: &[String],
    policy: &Policy,
    file: &str,
) -> Result<Insertion, NotInserted> {
    let known = policy.documents().iter().rfind(|document| document.source.name() == file);
    let known = known.filter(|document| !is_json(&document.source));
    let document = known.ok_or_else(|| NotInserted::Refused(file.into()))?;
    let before = document.source.text();
    let line = if before.ends_with('\n') { "" } else { "\n" };
    Ok(Insertion {
        file: file.into(),
        relative: Arc::clone(&document.relative),
        before: Some(before.into()),
        after: format!("{before}{line}---\n{}", contract(candidate, notes)).into(),
    })
}

fn created(candidate: &Candidate, notes: &[String], policy: &Policy, folder: &str) -> Insertion {
    let text = contract(candidate, notes);
    let mut taken: HashSet<String> =
        policy.documents().iter().map(|document| document.relative.to_lowercase()).collect();
    let name = file_name(candidate.home(), &mut taken);
    let file = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
    Insertion { file: file.into(), relative: name.into(), before: None, after: text.into() }
}
