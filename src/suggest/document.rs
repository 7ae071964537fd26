//! Suggested rules as contracts: a document for each tool that they are written in.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::claim::{Candidate, Claim, Need, Side};
use crate::policy::PolicyFile;
use crate::source::inline::{inline, scalar};

/// The contract of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The file's name.
    pub name: String,
    /// The tool.
    pub tool: Arc<str>,
    /// Its rules in the order of the text: preconditions, then tools that are forbidden afterwards.
    pub rules: Vec<Candidate>,
    /// The contract.
    pub text: String,
}

impl Document {
    /// As a file of a policy version.
    pub fn file(&self) -> PolicyFile {
        let name: Arc<str> = self.name.as_str().into();
        PolicyFile { name: Arc::clone(&name), relative: name, text: self.text.as_str().into(), named: true }
    }
}

/// The contracts that say all this, each rule once.
pub fn documents(candidates: &[&Candidate]) -> Vec<Document> {
    let notes = |_: &Candidate| Vec::new();
    commented(candidates, &notes)
}

/// The same, with lines of comment before each rule.
pub fn commented(candidates: &[&Candidate], notes: &dyn Fn(&Candidate) -> Vec<String>) -> Vec<Document> {
    let mut by_tool: BTreeMap<&Arc<str>, Vec<&Candidate>> = BTreeMap::new();
    for candidate in candidates {
        // A contract says of its own tool what must not follow it.
        let home = match &candidate.claim {
            Claim::Needs(_) | Claim::Once => &candidate.tool,
            Claim::NeverAfter(earlier) => earlier,
        };
        by_tool.entry(home).or_default().push(candidate);
    }
    let mut taken = HashSet::new();
    let mut document = |(tool, mut rules): (&Arc<str>, Vec<&Candidate>)| {
        rules.sort_by_key(|rule| !matches!(rule.claim, Claim::Needs(_)));
        let text = contract(tool, &rules, notes);
        Document {
            name: file_name(tool, &mut taken),
            tool: Arc::clone(tool),
            rules: rules.into_iter().cloned().collect(),
            text,
        }
    };
    by_tool.into_iter().map(&mut document).collect()
}

/// The id of each candidate's rule.
pub fn places(documents: &[Document]) -> BTreeMap<Candidate, String> {
    let mut places = BTreeMap::new();
    for document in documents {
        let (mut needs, mut bans) = (0, 0);
        for rule in &document.rules {
            let (list, index) = match rule.claim {
                Claim::Needs(_) => ("preconditions", &mut needs),
                Claim::Once | Claim::NeverAfter(_) => ("forbids_after", &mut bans),
            };
            places.insert(rule.clone(), format!("{}#/{list}/{index}", document.name));
            *index += 1;
        }
    }
    places
}

/// A name for a tool's file: of letters that every file system takes, and no other file's.
fn file_name(tool: &str, taken: &mut HashSet<String>) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let base: String = tool.chars().map(letter).take(80).collect();
    let mut name = format!("{base}.yaml");
    let mut number = 2;
    // Not every file system tells `A.yaml` from `a.yaml`.
    while !taken.insert(name.to_lowercase()) {
        name = format!("{base}-{number}.yaml");
        number += 1;
    }
    name
}

fn contract(tool: &str, rules: &[&Candidate], notes: &dyn Fn(&Candidate) -> Vec<String>) -> String {
    let mut text = format!("tool: {}\n", scalar(tool, false));
    let mut heading = "";
    for rule in rules {
        let (list, item) = match &rule.claim {
            Claim::Needs(need) => ("preconditions", precondition(need)),
            Claim::Once | Claim::NeverAfter(_) => {
                ("forbids_after", format!("  - {}\n", scalar(&rule.tool, false)))
            }
        };
        if list != heading {
            heading = list;
            let _ = writeln!(text, "{list}:");
        }
        for note in notes(rule) {
            let _ = writeln!(text, "  # {note}");
        }
        text.push_str(&item);
    }
    text
}

fn precondition(need: &Need) -> String {
    let path = |path: &str| scalar_path(path);
    let mut text = format!("  - requires_prior_tool: {}\n", scalar(&need.prior, false));
    let mut resource = format!("bind_from: arguments, path: {}", path(&need.path));
    if need.side == Side::Output {
        let _ = write!(resource, ", prior: {{bind_from: output, path: {}}}", path(&need.prior_path));
    } else if need.prior_path != need.path {
        let _ = write!(resource, ", prior: {{bind_from: arguments, path: {}}}", path(&need.prior_path));
    }
    let _ = writeln!(text, "    resource: {{{resource}}}");
    match &need.result {
        Some((path, value)) => {
            let value = serde_json::from_str::<Value>(value).map(|value| inline(&value, false));
            let (path, value) = (scalar_path(path), value.unwrap_or_default());
            let _ = writeln!(text, "    with_output: [{{path: {path}, equals: {value}}}]");
        }
        None => text.push_str("    match: any\n"),
    }
    text
}

/// A path is plain text in YAML unless it has brackets.
fn scalar_path(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '$' | '.' | '_'));
    if plain { path.to_owned() } else { scalar(path, true) }
}
