//! Content that is written in a case itself: its session, passed to the reader of native sessions as JSON, and
//! documents of its policy.
//!
//! Numbers keep their digits, and every part keeps its line, so that diagnostics of the session refer to the case's own
//! text.

use std::io::Cursor;

use serde_json::Value;

use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_base::source::{Node, NodeValue, Source};
use rulestep_engine::policy::PolicyFile;
use rulestep_recording::{self as recording, Options};

/// Reads a session (a mapping) or its messages (a list). `None`: there is none, and the diagnostics say why.
pub fn session(node: &Node, source: &Source) -> (Option<Session>, Vec<Diagnostic>) {
    let mut json = Json { source, line: 1, text: String::new() };
    match &node.value {
        NodeValue::Seq(_) => {
            json.text.push_str("{\"messages\":");
            json.value(node);
            json.text.push('}');
        }
        _ => json.value(node),
    }
    let options = Options { excerpt: true, format: recording::named("native"), ..Options::default() };
    let mut reading = match recording::open(source.name(), Box::new(Cursor::new(json.text)), &options) {
        Ok(reading) => reading,
        Err(told) => return (None, vec![told]),
    };
    let mut session = reading.next();
    let mut told =
        session.as_mut().map(|session| std::mem::take(&mut session.diagnostics)).unwrap_or_default();
    // Whether results are kept at all is known at the file's end.
    let _ = reading.next();
    told.extend(reading.diagnostics());
    (session, told)
}

/// A policy document: the case's text with blanks for everything else, so that every rule and every mistake keeps its line
/// and column. Of several, all but the first have a number in the name, so that ids of rules differ.
pub fn policy(node: &Node, source: &Source, place: usize) -> PolicyFile {
    let blank = |text: &str| text.chars().map(|c| if c == '\n' { c } else { ' ' }).collect::<String>();
    let text = source.text();
    let (before, after) = (text.get(..node.span.start), text.get(node.span.start..node.span.end));
    let name = match place {
        0 => source.name().into(),
        place => format!("{}#{place}", source.name()).into(),
    };
    let text = blank(before.unwrap_or_default()) + after.unwrap_or_default();
    PolicyFile { name, relative: "".into(), text: text.into(), named: true }
}

/// Writes JSON over the same lines as its original.
struct Json<'s> {
    source: &'s Source,
    line: u32,
    text: String,
}

impl Json<'_> {
    fn value(&mut self, node: &Node) {
        self.reach_line(node.span.start);
        match &node.value {
            NodeValue::Seq(items) => {
                self.text.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    self.value(item);
                }
                self.text.push(']');
            }
            NodeValue::Map(entries) => {
                self.text.push('{');
                for (place, entry) in entries.iter().enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    self.reach_line(entry.key_span.start);
                    self.text.push_str(&Value::from(entry.key.as_str()).to_string());
                    self.text.push(':');
                    self.value(&entry.value);
                }
                self.text.push('}');
            }
            _ => self.text.push_str(&node.to_json().to_string()),
        }
    }

    /// Descends to the line of a place. The target of an alias is further up, and is written at the alias.
    fn reach_line(&mut self, offset: usize) {
        let line = self.source.position(offset).line;
        while self.line < line {
            // Only the text's beginning is in the first column, where a reader looks for the next value.
            self.text.push_str("\n ");
            self.line += 1;
        }
    }
}
