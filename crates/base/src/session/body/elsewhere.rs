//! Bodies whose text is kept in a store, so that a long history costs only what is read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::json::unescaped;

/// Keeps the texts of bodies.
pub trait Store: Send + Sync {
    /// The JSON text at this place. If it cannot be read it is empty, and the store reports that to the user of the
    /// decision.
    fn read(&self, place: Place) -> String;
}

/// A place in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub start: u64,
    /// Bytes of it.
    pub length: u64,
    /// Checksum of the text.
    pub digest: u64,
}

/// A text that is read on first use.
pub(super) struct Elsewhere {
    store: Arc<dyn Store>,
    place: Place,
    text: OnceLock<Box<str>>,
    /// Whether it was read once without being kept.
    passed: AtomicBool,
}

impl Elsewhere {
    pub fn new(store: Arc<dyn Store>, place: Place) -> Elsewhere {
        Elsewhere { store, place, text: OnceLock::new(), passed: AtomicBool::new(false) }
    }

    /// The JSON for a single look, after which it is not kept: most bodies are read once, and together they are as long
    /// as the history. `None` if it is kept, or was read before, as it is then worth keeping.
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

    /// The content: a text that is written as JSON if it `is_text`, else JSON.
    pub fn text(&self, is_text: bool) -> &str {
        self.text.get_or_init(|| {
            let json = self.store.read(self.place);
            let text = if is_text { unescaped(&json).map(Into::into) } else { None };
            text.unwrap_or_else(|| json.into_boxed_str())
        })
    }
}
