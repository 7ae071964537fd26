//! Which values a reader looked for in another type than they have. Every typed look at a [`Node`](super::shallow::Node) is
//! noted here, so a wrong type is found without the reader's help, and none can take it for a value that is absent.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::recording::input::kind::{Kind, Kinds};
use crate::recording::input::lines::Lines;
use crate::session::Damage;
use crate::source::quoted;

/// The looks at one value of a file and its parts.
#[derive(Default)]
pub struct Looks {
    /// Address of the part, and the types that were looked for; none where one of them was the right one.
    noted: RefCell<Vec<(Address, Kinds)>>,
    /// Whether some look was in vain, so that it is worth going through them.
    vain: Cell<bool>,
    /// Parts that were read where their object has others of the same name.
    twice: RefCell<BTreeSet<u64>>,
}

/// The lower 48 bits of an address, which are all that systems use, in as little room: every part of a value is looked at.
type Address = (u32, u16);

fn address(part: &str) -> Address {
    let address = part.as_ptr() as usize as u64;
    (address as u32, (address >> 32) as u16)
}

/// Looks for which memory is reserved at once.
const LOOKS: usize = 48;

impl Looks {
    /// A part of this kind, which is at this place of the memory, is looked for as one of these; whether it is one.
    pub fn note(&self, part: &str, kind: Kind, wanted: Kinds) -> bool {
        let right = wanted.has(kind);
        let mut noted = self.noted.borrow_mut();
        if noted.capacity() == 0 {
            noted.reserve(LOOKS);
        }
        noted.push((address(part), if right { Kinds::NONE } else { wanted }));
        self.vain.set(self.vain.get() || !right);
        right
    }

    /// This part is read, and its object has another one of its name, which is not.
    pub fn note_twice(&self, part: &str) {
        self.twice.borrow_mut().insert(part.as_ptr() as usize as u64);
    }

    /// What is given more than once, so that only the last one is read, with its line.
    fn given_twice(&self, text: &str, line: u32) -> Vec<(u32, Damage)> {
        let mut lines = Lines::new(text, line);
        let begins = text.as_ptr() as usize as u64;
        let parts = self.twice.borrow();
        let said = parts.iter().filter_map(|at| {
            let (before, part) = text.split_at_checked(usize::try_from(at.checked_sub(begins)?).ok()?)?;
            let message =
                format!("{} is given twice in one object; only the last one is read", quoted(&key(before)?));
            Some((lines.of(part), Damage::calls(message)))
        });
        said.collect()
    }

    /// What has another type than every one it was looked for in, or is given more than once, with its line: `text` is the whole value, which begins on
    /// `line`.
    pub fn wrong(&self, text: &str, line: u32) -> Vec<(u32, Damage)> {
        let mut said = match self.twice.borrow().is_empty() {
            true => Vec::new(),
            false => self.given_twice(text, line),
        };
        if !self.vain.get() {
            return said;
        }
        // The types that each part was looked for in; `None` once one was right.
        let mut parts: BTreeMap<u64, Option<Kinds>> = BTreeMap::new();
        let whole = |(low, high): Address| u64::from(high) << 32 | u64::from(low);
        let begins = whole(address(text));
        for &(part, wanted) in self.noted.borrow().iter() {
            let Some(at) = whole(part).checked_sub(begins) else { continue };
            let part = parts.entry(at).or_insert(Some(Kinds::NONE));
            *part = part.filter(|_| wanted != Kinds::NONE).map(|before| before.or(wanted));
        }
        let mut lines = Lines::new(text, line);
        let wrong = parts.into_iter().filter_map(|(at, wanted)| {
            let (before, part) = text.split_at_checked(usize::try_from(at).ok()?)?;
            let what = match key(before) {
                Some(key) => quoted(&key).to_string(),
                None => "an item of a list".to_owned(),
            };
            let message =
                format!("{what} is {}, not {}; it is left out", Kind::of(part).word(), wanted?.words());
            Some((lines.of(part), Damage::calls(message)))
        });
        said.extend(wrong);
        said
    }
}

/// Name of the member whose value is after this.
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
