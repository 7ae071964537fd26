//! Requests repeat the conversation so far, each in full: a part that was in an earlier one is read only once.

use std::rc::Rc;

use serde_json::Value;

use super::{SpanMessage, said};
use crate::shape::spans::attributes::structure;

/// The conversations of the latest requests.
#[derive(Default)]
pub struct Repeated<'a>(Vec<Known<'a>>);

struct Known<'a> {
    /// The list of messages as it is recorded, up to the end of the last one.
    open: &'a str,
    messages: Vec<Rc<SpanMessage>>,
}

/// Parallel conversations, such as those of an agent and its subagents.
const SIDE_BY_SIDE: usize = 8;

impl<'a> Repeated<'a> {
    /// The messages of a list, which is recorded as one or as text.
    pub fn list(&mut self, json: &'a str, role: &str) -> Vec<Rc<SpanMessage>> {
        let json = json.trim();
        let longer =
            |known: &Known<'_>| json.strip_prefix(known.open).is_some_and(|new| new.starts_with(','));
        let before = self.0.iter().rposition(longer);
        let continued = before.and_then(|place| {
            let known = self.0.get(place)?;
            let new = json.strip_prefix(known.open)?.strip_prefix(',')?;
            // After the comma, the list is one of its own.
            let begin = if known.open.starts_with('"') { "\"[" } else { "[" };
            match structure(&format!("{begin}{new}"))? {
                Value::Array(new) if !new.is_empty() => {
                    let known = known.messages.iter().cloned();
                    Some(known.chain(read(&new, role)).collect())
                }
                _ => None,
            }
        });
        let messages: Vec<Rc<SpanMessage>> = match (continued, before) {
            (Some(messages), Some(place)) => {
                self.0.remove(place);
                messages
            }
            _ => match structure(json) {
                Some(Value::Array(messages)) => read(&messages, role).collect(),
                Some(message @ Value::Object(_)) => {
                    return said(&message, role).into_iter().map(Rc::new).collect();
                }
                _ => return Vec::new(),
            },
        };
        if let Some(open) = json.strip_suffix("]\"").or_else(|| json.strip_suffix(']'))
            && !messages.is_empty()
        {
            if self.0.len() == SIDE_BY_SIDE {
                self.0.remove(0);
            }
            self.0.push(Known { open, messages: messages.clone() });
        }
        messages
    }
}

fn read<'m>(messages: &'m [Value], role: &'m str) -> impl Iterator<Item = Rc<SpanMessage>> + 'm {
    messages.iter().filter_map(move |message| said(message, role)).map(Rc::new)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The messages of a list read alone, and read after others.
    fn roles(messages: &[Rc<SpanMessage>]) -> Vec<(String, String)> {
        messages.iter().map(|said| (said.role.clone(), said.content.shown().to_owned())).collect()
    }

    #[test]
    fn a_list_is_the_same_whatever_was_read_before() {
        let message = |text: &str| json!({"role": "user", "content": text}).to_string();
        let (one, two, three) = (message("one ]\" \\"), message("two"), message("three"));
        let lists = [
            format!("[{one}]"),
            format!("[{one},{two}]"),
            format!("[{one} , {two}]"),
            format!("[{one},{two},{three}]"),
            format!("[{one},]"),
            format!("[{one},{two}"),
            format!("[{one},{two}],[{three}]"),
            format!("[{one},7,{two}]"),
            format!("[{one},[],{{}}]"),
            "[]".to_owned(),
            "[7]".to_owned(),
            format!("[7,{one}]"),
            one.clone(),
            "[".to_owned(),
            String::new(),
        ];
        let texts = lists.iter().map(|list| json!(list).to_string());
        let all: Vec<String> = lists.iter().cloned().chain(texts).collect();
        for before in &all {
            for between in &all {
                for list in &all {
                    let mut repeated = Repeated::default();
                    repeated.list(before, "user");
                    repeated.list(between, "user");
                    let alone = Repeated::default().list(list, "user");
                    let after = repeated.list(list, "user");
                    assert_eq!(roles(&after), roles(&alone), "{list} after {before} and {between}");
                }
            }
        }
        let both = [format!("[{one}]"), format!("[{one},{two}]")];
        let mut repeated = Repeated::default();
        let first = repeated.list(&both[0], "user");
        let second = repeated.list(&both[1], "user");
        assert!(Rc::ptr_eq(&first[0], &second[0]), "the first message is read once");
        assert_eq!(roles(&second).len(), 2);
    }
}
