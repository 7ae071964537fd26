//! The parents of spans, as far as they matter to the run of an agent.
//!
//! Parents may be missing or form cycles; every walk remembers where it ended, so all walks together take time in
//! proportion to the number of spans.

use std::collections::{HashMap, HashSet};

use super::{Part, Span};

/// The parts of one session's runs, by their place in its list of spans.
pub struct Ancestry {
    /// The part of each span; a request with other requests inside it is the run of an agent.
    parts: Vec<Part>,
    /// The parent of each, skipping those that are [`Part::Other`].
    around: Vec<Option<usize>>,
}

/// Parents of spans that are not kept, by trace and id.
pub type Passed = HashMap<Key, Option<Box<str>>>;

/// Trace and id of a span.
pub type Key = (Box<str>, Box<str>);

impl Ancestry {
    /// Of these spans; `passed` are those between them.
    pub fn of(spans: &[Span], passed: &Passed) -> Ancestry {
        let mut parts: Vec<Part> = spans.iter().map(Span::part).collect();
        let mut parents = Parents::of(spans, passed);
        let mut around = Vec::with_capacity(spans.len());
        for (place, span) in spans.iter().enumerate() {
            let found = parents.nearest(&span.trace, span.parent.as_deref());
            around.push(found.filter(|outer| *outer != place));
        }
        let mut within = vec![0_u32; spans.len()];
        for (place, outer) in around.iter().enumerate() {
            if let Some(outer) = *outer
                && parts.get(place) == Some(&Part::Model)
                && let Some(count) = within.get_mut(outer)
            {
                *count += 1;
            }
        }
        for (part, within) in parts.iter_mut().zip(within) {
            if *part == Part::Model && within > 1 {
                *part = Part::Agent;
            }
        }
        Ancestry { parts, around }
    }

    /// The part of a span.
    pub fn part(&self, place: usize) -> Part {
        self.parts.get(place).copied().unwrap_or(Part::Other)
    }

    /// The nearest span around it that is part of a run.
    pub fn around(&self, place: usize) -> Option<usize> {
        self.around.get(place).copied().flatten()
    }

    /// The outermost span that represents the same thing as a span, through all spans between: those for which `same`
    /// (inner, outer) holds. `known` is kept from one call to the next.
    pub fn outermost(
        &self,
        place: usize,
        known: &mut HashMap<usize, usize>,
        same: impl Fn(usize, usize) -> bool,
    ) -> usize {
        let mut path = vec![place];
        let mut seen = HashSet::from([place]);
        let mut at = place;
        let root = loop {
            if let Some(root) = known.get(&at) {
                break *root;
            }
            match self.around(at).filter(|outer| same(at, *outer)) {
                Some(outer) if seen.insert(outer) => {
                    path.push(outer);
                    at = outer;
                }
                // A cycle has no outermost one, so the first of the file is taken.
                Some(_) => break path.iter().copied().min().unwrap_or(place),
                None => break at,
            }
        };
        known.extend(path.into_iter().map(|place| (place, root)));
        root
    }
}

/// Finds the ancestors of a span, by the parents of those between.
struct Parents<'a> {
    places: HashMap<(&'a str, &'a str), usize>,
    passed: &'a Passed,
    known: HashMap<Key, Option<usize>>,
}

impl<'a> Parents<'a> {
    fn of(spans: &'a [Span], passed: &'a Passed) -> Parents<'a> {
        let named = spans.iter().enumerate().map(|(place, span)| ((&*span.trace, &*span.id), place));
        Parents { places: named.collect(), passed, known: HashMap::new() }
    }

    /// The nearest span that is kept, from the one of this id on.
    fn nearest(&mut self, trace: &str, id: Option<&str>) -> Option<usize> {
        let mut path: Vec<Key> = Vec::new();
        let mut parent: Option<Box<str>> = id.map(Into::into);
        let found = loop {
            let Some(id) = parent else { break None };
            if let Some(place) = self.places.get(&(trace, &*id)) {
                break Some(*place);
            }
            let key: Key = (trace.into(), id);
            if let Some(found) = self.known.get(&key) {
                break *found;
            }
            // Said now already, so that a circle ends here.
            self.known.insert(key.clone(), None);
            let Some(outer) = self.passed.get(&key) else { break None };
            parent = outer.clone();
            path.push(key);
        };
        self.known.extend(path.into_iter().map(|key| (key, found)));
        found
    }
}
