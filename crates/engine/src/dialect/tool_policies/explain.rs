//! The explanations of tool policies: which tools have not succeeded, which file was not read, what is recorded.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::files::Files;
use super::record::Record;
use crate::monitor::explanation::{detail, state};
use crate::monitor::{About, CheckedValue, Explain, Explanation, Line, Rule};
use rulestep_base::session::CallRef;
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{Sentence, all, at, count, list};

/// The facts of a rule about tools that must have succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingTools {
    /// Those that have not, sorted.
    pub missing: Vec<Arc<str>>,
}

/// The facts of a rule about a file that a call writes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WrittenFile {
    /// The key of a read: the path below the mount point. `None`: the call names no path, and passes.
    pub key: Option<Arc<str>>,
    /// Whether it exists; `None`: there is no path, or the files are not listed and no call has touched it.
    pub exists: Option<bool>,
    /// Whether it was read with one of the tools that count.
    pub read: bool,
    /// For a file that was not read: the newest successful read that named no file. It may have been a read of this
    /// one.
    #[serde(rename = "read_without_path", skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<CallRef>,
}

/// The record of a document, and the files it knows.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordState {
    /// Prefix of its rules' ids: `FILE#`.
    pub document: Arc<str>,
    /// Tools and keys.
    pub recorded: Record,
    /// The files that exist.
    pub files: Files,
    /// Whether the files at the session's start were listed.
    pub listed: bool,
}

/// The name of a rule without its own.
pub(super) fn phrase(rule: &Rule) -> Option<String> {
    match (rule.kind, &*rule.tools) {
        (_, []) => None,
        ("sequential_dependency", tools) => Some(format!("dependencies of {}", all(tools))),
        ("read_before_write", tools) => Some(format!("read before {}", all(tools))),
        _ => None,
    }
}

impl Explain for MissingTools {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let tools = || list(self.missing.iter().map(|tool| name(tool).into_owned()));
        let sentence = match self.missing.as_slice() {
            [] => "every tool it needs has succeeded".to_owned(),
            [only] => format!("{} has not succeeded", name(only)),
            _ => format!("{} have not succeeded", tools()),
        };
        let against = about.code.is_some();
        let middle = if against { about.starts_in_the_middle() } else { "" };
        Explanation {
            way_out: against.then(|| Sentence::new(format!("call {} successfully first", tools()))),
            telling: true,
            ..Explanation::new(about, sentence + middle)
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(self)
    }
}

impl Explain for WrittenFile {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let key = self.key.as_deref().map(|key| Line::new(format!("looked up as {}", quoted(key))));
        Explanation {
            lines: key.into_iter().collect(),
            way_out: about.code.map(|_| Sentence::new(self.way_out(about))),
            telling: true,
            ..Explanation::new(about, self.sentence(about))
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(self)
    }
}

impl WrittenFile {
    fn sentence(&self, about: &About<'_>) -> String {
        let Some(path) = self.path(about.checked) else {
            return "the policy finds no path in the call, so it is allowed without a check".to_owned();
        };
        // A call that may be mistaken for the missing read.
        let unplaced = || match self.unplaced {
            Some(call) => {
                format!("; the read in {} names no file where the policy looks", at(call, about.session))
            }
            None => String::new(),
        };
        match (self.exists, self.read) {
            (Some(true), false) => match about.earlier() {
                Some(call) => {
                    format!(
                        "{path} was written in {} and was not read{}",
                        at(call, about.session),
                        unplaced()
                    )
                }
                None => format!("{path} exists and was not read{}", unplaced()),
            },
            (Some(true), true) => format!("{path} was read"),
            (Some(false), _) => format!("{path} is a new file"),
            (None, _) => format!("it is not known whether {path} exists, so it counts as new"),
        }
    }

    fn way_out(&self, about: &About<'_>) -> String {
        match self.exists {
            None if self.key.is_none() => {
                "name the argument that holds the path in the policy, as in `path_argument: $.target_file`"
                    .to_owned()
            }
            None => "list the files that exist, in the session's `files` or the document's `existing_files`"
                .to_owned(),
            Some(_) => {
                let path = self.path(about.checked).unwrap_or_else(|| "the file".to_owned());
                let named = match self.unplaced {
                    Some(_) => ", in an argument where the policy looks for it (`path_argument`)",
                    None => "",
                };
                format!("read {path} successfully first, with the path spelled the same way{named}")
            }
        }
    }

    /// As the caller spelled it, if that is known.
    fn path(&self, checked: Option<&CheckedValue>) -> Option<String> {
        let given = checked.and_then(|checked| checked.value.as_ref()).and_then(|value| value.as_str());
        given.or(self.key.as_deref()).map(quoted)
    }
}

impl Explain for RecordState {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let RecordState { recorded, files, listed, .. } = self;
        let mut parts = Vec::new();
        let tools: Vec<String> = recorded.tools().map(|tool| name(tool).into_owned()).collect();
        if !tools.is_empty() {
            parts.push(format!("succeeded: {}", tools.join(", ")));
        }
        let keys: Vec<String> =
            recorded.keys().map(|(tool, key)| format!("{} {}", name(tool), quoted(key))).collect();
        if !keys.is_empty() {
            parts.push(format!("read: {}", keys.join(", ")));
        }
        if parts.is_empty() {
            parts.push("no governed call has succeeded yet".to_owned());
        }
        let files: Cow<'_, str> = match (files.len(), *listed) {
            (0, true) => "no file exists".into(),
            (0, false) => "initial files not listed".into(),
            (many, listed) => {
                let (files, are) = (count(many as u64, "file"), if many == 1 { "is" } else { "are" });
                let unlisted = if listed { "" } else { ", initial files not listed" };
                format!("{files} {are} known to exist{unlisted}").into()
            }
        };
        parts.push(files.into_owned());
        Explanation { label: Some("recorded".to_owned()), ..Explanation::new(about, parts.join("; ")) }
    }

    fn data(&self) -> Map<String, Value> {
        let RecordState { document, recorded, .. } = self;
        if recorded.is_empty() {
            return Map::new();
        }
        let tools: Vec<&Arc<str>> = recorded.tools().collect();
        let keys: Vec<[&Arc<str>; 2]> = recorded.keys().map(|(tool, key)| [tool, key]).collect();
        // It belongs to the document, not to one of its rules.
        state("recorded", &json!({"rule": document, "tools": tools, "keys": keys}))
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", name(text))
}
