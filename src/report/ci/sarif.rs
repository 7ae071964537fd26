//! SARIF 2.1.0, for code scanning: a result a finding, at the rule in the policy, with the recording as a related place.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use hmac_sha256::Hash;
use serde_json::{Value, json};

use super::{Issue, Level, Run, Spot, warned};
use crate::report::counts::incomplete;
use crate::report::words;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes the log.
pub fn write(run: &Run<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rules: Vec<Value> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut results = Vec::new();
    for issue in &run.gathered.issues {
        let (id, name) = match &issue.rule {
            Some((id, name)) => (id.as_str(), name.as_str()),
            None => (issue.code.as_str(), issue.code.as_str()),
        };
        let index = *places.entry(id).or_insert_with(|| {
            rules.push(json!({"id": id, "name": name, "shortDescription": {"text": name}}));
            rules.len() - 1
        });
        results.push(result(issue, id, index));
    }
    let incomplete = incomplete(run.told, "read");
    let level = |fails: bool| if fails { "error" } else { "note" };
    let mut notes: Vec<_> = incomplete.iter().map(|(fails, why)| note(level(*fails), why, None)).collect();
    notes.extend(run.policy.iter().map(|told| {
        let level = if warned::is_warning(told) { "warning" } else { "note" };
        let text = format!("{}: {}", told.code, warned::said(told));
        note(level, &text, warned::spot(told).as_ref())
    }));
    if run.gathered.more > 0 {
        let more = words::count(run.gathered.more, "more finding");
        notes.push(note("warning", &format!("{more} not listed"), None));
    }
    notes.push(note("note", &run.summary, None));
    let successful = !incomplete.iter().any(|(fails, _)| *fails);
    log(&rules, &results, &notes, successful, run.command, out)
}

/// Writes a log of one run.
pub fn log(
    rules: &[Value],
    results: &[Value],
    notes: &[Value],
    successful: bool,
    command: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "rulestep", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": successful, "commandLine": command, "toolExecutionNotifications": notes,
            }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    out.write_all(b"\n")
}

/// Something to know about the run itself.
pub fn note(level: &str, text: &str, spot: Option<&Spot>) -> Value {
    let mut note = json!({"level": level, "message": {"text": text}});
    if let (Some(location), Some(note)) = (spot.and_then(location), note.as_object_mut()) {
        note.insert("locations".to_owned(), json!([location]));
    }
    note
}

fn result(issue: &Issue, id: &str, index: usize) -> Value {
    let level = match issue.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let mut hash = Hash::new();
    let file = issue.recording.as_ref().map_or("", |spot| &spot.file);
    for part in [id, &issue.code, &issue.title, &issue.place, file] {
        hash.update(part);
        hash.update([0]);
    }
    let mut mark = String::new();
    for byte in hash.finalize().iter().take(16) {
        let _ = write!(mark, "{byte:02x}");
    }
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": level,
        "message": {"text": format!("{}\n{}\n{}", issue.title, issue.message, issue.place)},
        "partialFingerprints": {"rulestep/v1": mark},
        "properties": {"code": issue.code},
    });
    let recording = issue.recording.as_ref().and_then(location);
    let policy = issue.policy.as_ref().and_then(location);
    if let Some(result) = result.as_object_mut() {
        // A viewer shows a result at its first place, and drops one that has none.
        if let Some(mut first) = policy.clone().or_else(|| recording.clone()) {
            if let Some(first) = first.as_object_mut() {
                first.insert("logicalLocations".to_owned(), json!([{"fullyQualifiedName": issue.place}]));
            }
            result.insert("locations".to_owned(), json!([first]));
        }
        if let (Some(_), Some(mut related)) = (policy, recording) {
            if let Some(related) = related.as_object_mut() {
                related.insert("id".to_owned(), json!(1));
                related.insert("message".to_owned(), json!({"text": format!("recorded: {}", issue.place)}));
            }
            result.insert("relatedLocations".to_owned(), json!([related]));
        }
    }
    result
}

fn location(spot: &Spot) -> Option<Value> {
    if spot.file == "-" || spot.file.is_empty() {
        return None;
    }
    let mut physical = json!({"artifactLocation": {"uri": uri(&spot.file)}});
    if let Some(physical) = physical.as_object_mut()
        && spot.line > 0
    {
        let region = match spot.column {
            0 => json!({"startLine": spot.line}),
            column => json!({"startLine": spot.line, "startColumn": column}),
        };
        physical.insert("region".to_owned(), region);
    }
    Some(json!({"physicalLocation": physical}))
}

/// The path of a file; of one in a revision, the path in the tree.
pub fn path(file: &str) -> &str {
    let path = file.strip_prefix("git:").and_then(|rest| rest.split_once(':')).map_or(file, |(_, path)| path);
    path.strip_prefix("./").unwrap_or(path)
}

/// A path as a reference that any viewer reads back.
fn uri(file: &str) -> String {
    let path = path(file);
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        for (file, expected) in [
            ("contracts/a b.yaml", "contracts/a%20b.yaml"),
            ("./contracts/a.yaml", "contracts/a.yaml"),
            ("git:HEAD~1:contracts/a.yaml", "contracts/a.yaml"),
            ("/tmp/ü.yaml", "file:///tmp/%C3%BC.yaml"),
            ("a:b.yaml", "a%3Ab.yaml"),
        ] {
            assert_eq!(uri(file), expected);
        }
    }
}
