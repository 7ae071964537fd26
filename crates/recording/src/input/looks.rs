//! Which values have another type than a reader expected. Every typed access to a [`Node`](super::shallow::Node) is
//! recorded here, so a wrong type is found without the reader's help, and no reader can take it for a missing value.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::input::kind::{Kind, Kinds};
use crate::input::lines::Lines;
use rulestep_base::source::quoted;

/// Members that are a list of messages or of calls, possibly empty.
pub const LISTED: [&str; 12] = [
    "contents",
    "messages",
    "parts",
    "resourceSpans",
    "samples",
    "scopeSpans",
    "simulations",
    "spans",
    "steps",
    "toolCalls",
    "toolInvocations",
    "trajectory",
];

/// The looks at one value of a file and its parts.
pub struct Looks {
    /// Address of the value's text.
    begins: usize,
    /// For each byte, whether a part that begins there was accessed with the right type: very many parts are.
    right: Box<[Cell<u64>]>,
    /// The beginnings of parts that were accessed with a wrong type, and these types.
    wrong: RefCell<Vec<(usize, Kinds)>>,
    /// The beginnings of parts that were read although their object has others of the same name.
    twice: RefCell<BTreeSet<usize>>,
}

/// A part that has a wrong type, or that occurs more than once.
pub struct WrongType {
    /// Its line.
    pub line: u32,
    /// Its position.
    pub at: usize,
    /// The problem.
    pub message: String,
}

impl Looks {
    /// None yet, at the value that is this text.
    pub fn at(text: &str) -> Looks {
        Looks {
            begins: text.as_ptr().addr(),
            right: vec![Cell::default(); text.len() / 64 + 1].into(),
            wrong: RefCell::default(),
            twice: RefCell::default(),
        }
    }

    /// The position of a part; beyond the text if the part is not a slice of it.
    fn place(&self, part: &str) -> usize {
        part.as_ptr().addr().wrapping_sub(self.begins)
    }

    /// A part of this kind is looked for as one of these; whether it is one.
    pub fn note(&self, part: &str, kind: Kind, wanted: Kinds) -> bool {
        let (right, at) = (wanted.has(kind), self.place(part));
        if right {
            if let Some(bits) = self.right.get(at / 64) {
                bits.set(bits.get() | 1 << (at % 64));
            }
        } else {
            self.wrong.borrow_mut().push((at, wanted));
        }
        right
    }

    /// This part is read, and its object has another one of its name, which is not.
    pub fn note_twice(&self, part: &str) {
        self.twice.borrow_mut().insert(self.place(part));
    }

    /// Members that are given more than once, so that only the last one is read, with their lines.
    fn given_twice(&self, text: &str, line: u32) -> Vec<WrongType> {
        let mut lines = Lines::new(text, line);
        let parts = self.twice.borrow();
        let said = parts.iter().filter_map(|&at| {
            let (before, part) = text.split_at_checked(at)?;
            let message =
                format!("{} is given twice in one object; only the last one is read", quoted(&key(before)?));
            Some(WrongType { line: lines.of(part), at, message })
        });
        said.collect()
    }

    /// Parts of another type than every expected one, or given more than once, in order: `text` is the whole value,
    /// which begins on `line`.
    pub fn wrong(&self, text: &str, line: u32) -> Vec<WrongType> {
        let twice = match self.twice.borrow().is_empty() {
            true => Vec::new(),
            false => self.given_twice(text, line),
        };
        // The expected types of each part, none of which it has.
        let mut parts: BTreeMap<usize, Kinds> = BTreeMap::new();
        for &(at, wanted) in self.wrong.borrow().iter().filter(|(at, _)| !self.is_right(*at)) {
            let kinds = parts.entry(at).or_insert(Kinds::NONE);
            *kinds = kinds.or(wanted);
        }
        let mut lines = Lines::new(text, line);
        let wrong = parts.into_iter().filter_map(|(at, wanted)| {
            let (before, part) = text.split_at_checked(at)?;
            let what = match key(before) {
                Some(key) => quoted(&key).to_string(),
                None => "an item of a list".to_owned(),
            };
            let message =
                format!("{what} is {}, not {}; it is left out", Kind::of(part).word(), wanted.words());
            Some(WrongType { line: lines.of(part), at, message })
        });
        let mut said: Vec<_> = wrong.collect();
        if !twice.is_empty() {
            said.extend(twice);
            said.sort_by_key(|wrong| wrong.at);
        }
        said
    }

    /// Whether some look at the part that begins here was for the right type.
    fn is_right(&self, at: usize) -> bool {
        self.right.get(at / 64).is_some_and(|bits| bits.get() >> (at % 64) & 1 == 1)
    }
}

/// Name of the member whose value follows this.
fn key(before: &str) -> Option<String> {
    let before = before.trim_ascii_end().strip_suffix(':')?.trim_ascii_end();
    let inner = before.strip_suffix('"')?;
    let mut open = inner.len();
    loop {
        open = inner.get(..open)?.rfind('"')?;
        let slashes = inner.get(..open)?.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if slashes % 2 == 0 {
            return serde_json::from_str(before.get(open..)?).ok();
        }
    }
}
