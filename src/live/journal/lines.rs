//! The lines of a journal in which some line is not in the form of records: a writer was killed, or the file was
//! edited.

use hashbrown::HashMap;
use serde_json::Value;

/// Complete lines.
#[derive(Debug, Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// These.
    pub fn of(text: Vec<u8>) -> Lines {
        Lines(text)
    }

    /// Adds lines.
    pub fn add(&mut self, lines: &str) {
        self.0.extend_from_slice(lines.as_bytes());
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All lines.
    pub fn text(&self) -> &[u8] {
        &self.0
    }

    /// The last turn, with what followed it.
    pub fn latest(&self) -> &[u8] {
        self.0.get(self.last("turn\"").unwrap_or_default()..).unwrap_or_default()
    }

    /// The beginning of the last record that begins so. The line feed before it is in no record, whatever a tool
    /// printed.
    fn last(&self, beginning: &str) -> Option<usize> {
        let beginning = format!("\n{{\"record\":\"{beginning}");
        memchr::memmem::rfind(&self.0, beginning.as_bytes()).map(|before| before + 1)
    }

    /// The last record that begins so, as JSON.
    pub fn record(&self, beginning: &str) -> Option<Value> {
        let rest = self.0.get(self.last(beginning)?..)?;
        serde_json::from_slice(rest.get(..memchr::memchr(b'\n', rest)?)?).ok()
    }

    /// Whether the call with this id was allowed and has no result yet. `None`: there is no such call.
    pub fn waits_for(&self, id: &str) -> Option<bool> {
        let proposed = self.last(&about("proposed", id))?;
        let stopped =
            self.record(&about("proposed", id))?.get("runs").and_then(Value::as_bool) == Some(false);
        Some(!stopped && self.last(&about("resolved", id)).is_none_or(|resolved| resolved < proposed))
    }

    /// The bytes of the agent's log that were read before the turn of the first call that was allowed and has no
    /// result.
    pub fn waits_since(&self) -> Option<u64> {
        let mut open = HashMap::new();
        let mut before = 0;
        let lines = self.0.split(|byte| *byte == b'\n');
        for record in lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()) {
            let id = || record.get("id")?.as_str().map(str::to_owned);
            let stopped = record.get("runs").and_then(Value::as_bool) == Some(false);
            match (record.get("record").and_then(Value::as_str), id()) {
                (Some("turn"), _) => before = record.get("transcript")?.as_u64()?,
                (Some("proposed"), Some(id)) if !stopped => {
                    open.insert(id, before);
                }
                (Some("proposed" | "resolved"), Some(id)) => {
                    open.remove(&id);
                }
                _ => {}
            }
        }
        open.into_values().min()
    }

    /// Whether no call was proposed after the one with this id.
    pub fn is_last(&self, id: &str) -> bool {
        self.last("proposed\"") == self.last(&about("proposed", id))
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        memchr::memmem::find_iter(&self.0, b"\n{\"record\":\"proposed\",").count()
    }
}

/// The beginning of a record about a call.
pub fn about(record: &str, id: &str) -> String {
    format!("{record}\",\"id\":{},", Value::from(id))
}
