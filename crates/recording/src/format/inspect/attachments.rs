//! Texts that a sample stores separately: `attachment://HASH` refers to the text of that hash.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use crate::input::shallow::{Members, Node};
use rulestep_base::source::quoted;

/// The texts of one sample.
pub struct Attachments {
    texts: HashMap<Box<str>, Box<str>>,
    /// Bytes that may still be inserted.
    budget: usize,
    /// The first reference that could not be followed, and how many there were.
    missing: Option<(Box<str>, u64)>,
}

const PROTOCOL: &str = "attachment://";
/// Most bytes for all references of one sample: one text may be referenced any number of times.
const MOST: usize = 128 << 20;

impl Attachments {
    /// Those of this sample.
    pub fn of(sample: &Members<'_>) -> Attachments {
        let members = sample.get("attachments").and_then(Node::members).unwrap_or_default();
        let texts =
            members.iter().filter_map(|(hash, text)| Some((hash.into(), text.text()?.as_ref().into())));
        Attachments { texts: texts.collect(), budget: MOST, missing: None }
    }

    /// A value with its references followed.
    pub fn resolved<'a>(&mut self, node: Node<'a>) -> Cow<'a, str> {
        let json = node.json();
        if memchr::memmem::find(json.as_bytes(), PROTOCOL.as_bytes()).is_none() {
            return Cow::Borrowed(json);
        }
        match node.value() {
            Some(mut value) => {
                self.follow(&mut value);
                Cow::Owned(value.to_string())
            }
            None => Cow::Borrowed(json),
        }
    }

    /// Recurses no deeper than the value, which is no deeper than 127 levels.
    fn follow(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let Some(hash) = text.strip_prefix(PROTOCOL) else { return };
                match self.texts.get(hash).filter(|whole| whole.len() <= self.budget) {
                    Some(whole) => {
                        self.budget -= whole.len();
                        *text = whole.to_string();
                    }
                    None => self.missing.get_or_insert_with(|| (text.as_str().into(), 0)).1 += 1,
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.follow(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.follow(member)),
            _ => {}
        }
    }

    /// References that could not be resolved.
    pub fn missing(&self) -> Option<String> {
        let (first, count) = self.missing.as_ref()?;
        let first = quoted(first);
        Some(match count {
            1 => format!("the attachment {first} is not in the sample, or too large; it stays a reference"),
            _ => format!(
                "{count} attachments are not in the sample, or too large; they stay references, the first is {first}"
            ),
        })
    }
}
