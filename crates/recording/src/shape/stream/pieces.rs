//! The pieces of a stream, and the values made of them.

use std::borrow::Cow;

use serde_json::Value;

use crate::input::shallow::{Members, Node};
use rulestep_base::session::Damage;

/// The response made of a stream.
pub struct Whole {
    /// The response.
    pub json: String,
    /// Its missing parts.
    pub odd: Vec<Damage>,
    /// Whether it broke off before its end.
    pub broken: bool,
}

/// The pieces of a stream, and whether it was marked as complete.
pub struct Pieces<'p> {
    /// In order; `None` for an unreadable one.
    pub list: &'p [Option<Members<'p>>],
    /// Whether it was.
    pub done: bool,
}

/// The problem of pieces without a beginning.
pub const STRAY: &str =
    "pieces of the response belong to a part of it whose beginning is missing; they are left out";

/// The arguments of a call, as they come.
#[derive(Default)]
pub struct Arguments {
    /// So far.
    pub text: String,
    /// Whether a piece of them may be missing.
    pub torn: bool,
}

impl Arguments {
    /// Adds a piece.
    pub fn add(&mut self, piece: Node<'_>) {
        self.text.push_str(&piece.text().unwrap_or(Cow::Borrowed(piece.json())));
    }

    /// As a text, which is kept even if it is not JSON; nothing if a piece may be missing.
    pub fn write(&self, key: &str, to: &mut Object) {
        if !self.torn {
            to.text(key, &self.text);
        }
    }
}

/// Writes an object.
pub struct Object(String);

impl Object {
    /// Without members.
    pub fn new() -> Object {
        Object("{".to_owned())
    }

    /// A member that is JSON.
    pub fn raw(&mut self, key: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push_str(", ");
        }
        self.0.push_str(&Value::from(key).to_string());
        self.0.push_str(": ");
        self.0.push_str(json);
    }

    /// A member that is a text.
    pub fn text(&mut self, key: &str, text: &str) {
        self.raw(key, &Value::from(text).to_string());
    }

    /// Copies a member of these, if they have it.
    pub fn copied(&mut self, key: &str, from: &Members<'_>) {
        if let Some(node) = from.get(key) {
            self.raw(key, node.json());
        }
    }

    /// The object's text.
    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Writes a list of JSON texts.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    format!("[{}]", items.join(", "))
}
