//! Texts that many sessions share, each stored once: a filter looks at a text once, however many calls have it.

use std::collections::HashSet;
use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};

use rulestep_engine::monitor::{Rule, rule_name};

/// The number of such a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// All such texts.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<Box<[Arc<str>]>, Name>,
    named: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    /// The text for people.
    word: Arc<str>,
    /// Under which it is found, besides.
    texts: Box<[Arc<str>]>,
}

/// A text under which alone a name is found; its hash is that of the list that holds it.
#[derive(PartialEq, Eq, Hash)]
struct Alone<'t>([&'t str; 1]);

impl Equivalent<Box<[Arc<str>]>> for Alone<'_> {
    fn equivalent(&self, texts: &Box<[Arc<str>]>) -> bool {
        matches!(&**texts, [text] if **text == *self.0[0])
    }
}

impl Name {
    /// The name of this number, where numbers have another meaning.
    pub(super) fn numbered(number: usize) -> Name {
        Name(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// As an index into data by name.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl Names {
    /// The number of a text.
    pub fn of(&mut self, text: &Arc<str>) -> Name {
        self.number(std::slice::from_ref(text), || Arc::clone(text))
    }

    /// The same for a text that is not shared yet.
    pub fn of_str(&mut self, text: &str) -> Name {
        match self.numbers.get(&Alone([text])) {
            Some(known) => *known,
            None => self.of(&Arc::from(text)),
        }
    }

    /// The number of a rule, which is found under its id, its own name and its description.
    pub fn of_rule(&mut self, rule: &Rule) -> Name {
        let texts = [Some(&rule.id), rule.name.as_ref(), rule.description.as_ref()];
        let texts: Vec<Arc<str>> = texts.into_iter().flatten().cloned().collect();
        self.number(&texts, || rule_name(rule).into())
    }

    fn number(&mut self, texts: &[Arc<str>], word: impl FnOnce() -> Arc<str>) -> Name {
        if let Some(known) = self.numbers.get(texts) {
            return *known;
        }
        let number = Name::numbered(self.named.len());
        self.named.push(Named { word: word(), texts: texts.into() });
        self.numbers.insert(texts.into(), number);
        number
    }

    /// The text for people.
    pub fn word(&self, name: Name) -> &str {
        self.named.get(name.at()).map_or("", |named| &named.word)
    }

    /// Whether `test` passes for one of its texts.
    pub fn test(&self, name: Name, test: impl Fn(&str) -> bool) -> bool {
        let named = self.named.get(name.at());
        named.is_some_and(|named| test(&named.word) || named.texts.iter().any(|text| test(text)))
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// For those of the names that occur, their places in the order of the alphabet, without regard to case.
    pub fn ranks(&self, of: impl Iterator<Item = Name>) -> HashMap<Name, u32> {
        let of: HashSet<Name> = of.collect();
        let mut order: Vec<(String, Name)> =
            of.into_iter().map(|name| (self.word(name).to_lowercase(), name)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, name)| name).zip(0..).collect()
    }
}
