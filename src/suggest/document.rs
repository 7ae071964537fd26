//! Suggested rules as contracts: a document for each tool whose contract holds some.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::claim::{Candidate, Claim, Need, SharedValue, Side};
use rulestep_base::source::inline::{inline, scalar};
use rulestep_engine::policy::PolicyFile;

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
    commented(candidates, &notes, false)
}

/// The same, with comment lines before each rule; with `shadow`, no rule stops a call until the user enforces it.
pub fn commented(
    candidates: &[&Candidate],
    notes: &dyn Fn(&Candidate) -> Vec<String>,
    shadow: bool,
) -> Vec<Document> {
    let mut by_tool: BTreeMap<&Arc<str>, Vec<&Candidate>> = BTreeMap::new();
    for candidate in candidates {
        by_tool.entry(candidate.home()).or_default().push(candidate);
    }
    let mut taken = HashSet::new();
    let mut document = |(tool, mut rules): (&Arc<str>, Vec<&Candidate>)| {
        rules.sort_by_key(|rule| !matches!(rule.claim, Claim::Needs(_)));
        let text = contract(tool, &rules, notes, shadow);
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
pub fn file_name(tool: &str, taken: &mut HashSet<String>) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let base: String = tool.chars().map(letter).take(80).collect();
    let mut name = format!("{base}.yaml");
    let mut number = 2;
    // Some file systems do not distinguish `A.yaml` from `a.yaml`.
    while !taken.insert(name.to_lowercase()) {
        name = format!("{base}-{number}.yaml");
        number += 1;
    }
    name
}

fn contract(
    tool: &str,
    rules: &[&Candidate],
    notes: &dyn Fn(&Candidate) -> Vec<String>,
    shadow: bool,
) -> String {
    let mut text = if shadow { SHADOW.to_owned() } else { String::new() };
    let _ = writeln!(text, "tool: {}", scalar(tool, false));
    let mut heading = "";
    for rule in rules {
        let (list, item) = match &rule.claim {
            Claim::Needs(need) => ("preconditions", precondition(need)),
            Claim::Once | Claim::NeverAfter(_) => {
                let tool = scalar(&rule.tool, false);
                let item = if shadow { format!("{{tool: {tool}, mode: shadow}}") } else { tool };
                ("forbids_after", format!("  - {item}\n"))
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
        if shadow && list == "preconditions" {
            text.push_str("    mode: shadow\n");
        }
    }
    text
}

/// The head of a suggested contract.
const SHADOW: &str = "# Suggested by recordings. In shadow mode a rule is decided and counted, and stops nothing:\n# remove `mode: shadow` where it is to be enforced.\n";

fn precondition(need: &Need) -> String {
    let path = |path: &str| scalar_path(path);
    let mut text = format!("  - requires_prior_tool: {}\n", scalar(&need.prior, false));
    if let Some(shared) = &need.shared {
        let mut resource = format!("bind_from: arguments, path: {}", path(&shared.path));
        if let Some(from) = shared.elsewhere() {
            let place = path(&shared.prior_path);
            let _ = write!(resource, ", prior: {{bind_from: {from}, path: {place}}}");
        }
        let _ = writeln!(text, "    resource: {{{resource}}}");
    }
    if let Some((path, value)) = &need.result {
        let value = serde_json::from_str::<Value>(value).map(|value| inline(&value, false));
        let (path, value) = (scalar_path(path), value.unwrap_or_default());
        let _ = writeln!(text, "    with_output: [{{path: {path}, equals: {value}}}]");
    }
    if need.is_of_any() {
        text.push_str("    match: any\n");
    }
    text
}

/// The same as a value, for an existing contract.
fn precondition_value(need: &Need) -> Value {
    let mut item = Map::new();
    item.insert("requires_prior_tool".to_owned(), json!(&*need.prior));
    if let Some(shared) = &need.shared {
        let mut resource = Map::new();
        resource.insert("bind_from".to_owned(), json!("arguments"));
        resource.insert("path".to_owned(), json!(&*shared.path));
        if let Some(from) = shared.elsewhere() {
            resource.insert("prior".to_owned(), json!({"bind_from": from, "path": &*shared.prior_path}));
        }
        item.insert("resource".to_owned(), resource.into());
    }
    if let Some((path, value)) = &need.result {
        let value = serde_json::from_str::<Value>(value).unwrap_or_default();
        item.insert("with_output".to_owned(), json!([{"path": &**path, "equals": value}]));
    }
    if need.is_of_any() {
        item.insert("match".to_owned(), json!("any"));
    }
    item.into()
}

impl Need {
    /// Whether one earlier call is enough, whatever the results of later ones. That is the default if no value is
    /// shared.
    fn is_of_any(&self) -> bool {
        self.shared.is_some() && self.result.is_none()
    }
}

impl SharedValue {
    /// Where the earlier call has the value, if not at the same place.
    fn elsewhere(&self) -> Option<&'static str> {
        match self.side {
            Side::Output => Some("output"),
            Side::Arguments => (self.prior_path != self.path).then_some("arguments"),
        }
    }
}

impl Candidate {
    /// The tool whose contract holds the rule: a contract lists what must not follow its own tool.
    pub fn home(&self) -> &Arc<str> {
        match &self.claim {
            Claim::Needs(_) | Claim::Once => &self.tool,
            Claim::NeverAfter(earlier) => earlier,
        }
    }

    /// The list of a contract that holds the rule, and the item there.
    pub(super) fn item(&self) -> (&'static str, Value) {
        match &self.claim {
            Claim::Needs(need) => ("preconditions", precondition_value(need)),
            Claim::Once | Claim::NeverAfter(_) => ("forbids_after", json!(&*self.tool)),
        }
    }
}

/// A path is plain text in YAML unless it has brackets.
fn scalar_path(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '$' | '.' | '_'));
    if plain { path.to_owned() } else { scalar(path, true) }
}
