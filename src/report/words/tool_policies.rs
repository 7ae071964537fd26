//! Words for what tool policies find.

use std::borrow::Cow;
use std::sync::Arc;

use super::{at, count, list, thousands};
use crate::monitor::finding::Touched;
use crate::monitor::kept::{Files, Recorded};
use crate::monitor::{Checked, Found};
use crate::session::Session;
use crate::wording::sentence::name;

/// Tools that have not succeeded: `test and build have not succeeded`.
pub(super) fn missing(tools: &[Arc<str>]) -> String {
    match tools {
        [] => "every tool it needs has succeeded".to_owned(),
        [only] => format!("{} has not succeeded", name(only)),
        many => format!("{} have not succeeded", list(many.iter().map(|tool| name(tool).into_owned()))),
    }
}

/// What is known of a file that the call writes.
pub(super) fn file(
    touched: &Touched,
    checked: Option<&Checked>,
    found: &[Found],
    session: &Session,
) -> String {
    let Some(path) = path(touched, checked) else {
        return "the call names no path that the policy knows, so it is let through unchecked".to_owned();
    };
    let since = found.first().map(|found| format!(" since {}", at(found.call, session))).unwrap_or_default();
    match (touched.exists, touched.read) {
        (Some(true), false) => format!("{path} exists{since} and was not read"),
        (Some(true), true) => format!("{path} was read"),
        (Some(false), _) => format!("{path} is a new file"),
        (None, _) => format!("whether {path} exists is not known; it counts as new"),
    }
}

/// What would change a finding about a file.
pub(super) fn way_out_for_file(touched: &Touched, checked: Option<&Checked>) -> String {
    match touched.exists {
        None if touched.key.is_none() => {
            "name the argument that holds the path in the policy, as in `path_argument: $.target_file`"
                .to_owned()
        }
        None => "list the files that exist, in the session's `files` or the document's `existing_files`"
            .to_owned(),
        Some(_) => {
            let path = path(touched, checked).unwrap_or_else(|| "the file".to_owned());
            format!("read {path} with success first, spelled the same")
        }
    }
}

/// What would change a finding about missing tools.
pub(super) fn way_out_for_missing(tools: &[Arc<str>]) -> String {
    format!("call {} with success first", list(tools.iter().map(|tool| name(tool).into_owned())))
}

/// What a rule about a file knows beyond its code.
pub(super) fn details(touched: &Touched) -> Vec<String> {
    touched.key.iter().map(|key| format!("looked up as {}", quoted(key))).collect()
}

/// What a document has recorded.
pub(super) fn recorded(recorded: &Recorded, files: &Files, listed: bool) -> String {
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
        parts.push("nothing recorded".to_owned());
    }
    let files: Cow<'_, str> = match (files.len(), listed) {
        (0, true) => "no file exists".into(),
        (0, false) => "files were not listed".into(),
        (many, true) => format!("{} known", count(many as u64, "file")).into(),
        (many, false) => format!("{} known of, not listed", thousands(many as u64)).into(),
    };
    parts.push(files.into_owned());
    parts.join("; ")
}

/// As the caller spelled it, where that is known.
fn path(touched: &Touched, checked: Option<&Checked>) -> Option<String> {
    let given = checked.and_then(|checked| checked.value.as_ref()).and_then(|value| value.as_str());
    given.or(touched.key.as_deref()).map(quoted)
}

fn quoted(text: &str) -> String {
    format!("`{}`", name(text))
}
