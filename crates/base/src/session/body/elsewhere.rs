//! Bodies whose text is kept elsewhere, so that a long history costs only what something looks at.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::json::unescaped;

/// What keeps the texts of bodies.
pub trait Store: Send + Sync {
    /// The JSON text at this place. Where that cannot be had it is empty, and the store says so to whoever trusts a decision.
    fn read(&self, place: Place) -> String;
}

/// A place in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub start: u64,
    /// Bytes of it.
    pub length: u64,
    /// By which the store knows that the text is still the one that was meant.
    pub digest: u64,
}

/// A text that is read when something first looks.
pub(super) struct Elsewhere {
    store: Arc<dyn Store>,
    place: Place,
    text: OnceLock<Box<str>>,
    /// Whether it was looked at in passing.
    passed: AtomicBool,
}

impl Elsewhere {
    pub fn new(store: Arc<dyn Store>, place: Place) -> Elsewhere {
        Elsewhere { store, place, text: OnceLock::new(), passed: AtomicBool::new(false) }
    }

    /// The JSON for a look in passing, after which it is not kept: most bodies are looked at once, and all of them together are
    /// as long as the history. `None` where it is kept, or was looked at before: then it is worth keeping.
    pub fn in_passing(&self) -> Option<String> {
        let first = self.text.get().is_none() && !self.passed.swap(true, Ordering::Relaxed);
        first.then(|| self.store.read(self.place))
    }

    pub fn place(&self) -> Place {
        self.place
    }

    pub fn length(&self) -> usize {
        usize::try_from(self.place.length).unwrap_or(usize::MAX)
    }

    /// What is there: a text that is written as JSON, where it `is_text`, else JSON.
    pub fn text(&self, is_text: bool) -> &str {
        self.text.get_or_init(|| {
            let json = self.store.read(self.place);
            let text = if is_text { unescaped(&json).map(Into::into) } else { None };
            text.unwrap_or_else(|| json.into_boxed_str())
        })
    }
}
