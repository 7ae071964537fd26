//! Conclusions from needs alone: which tools can never run, and what must have run before a tool.
//!
//! A version is checked each time it loads, so both look at each need only a few times, however long a chain of them
//! is.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rulestep_engine::monitor::RuleId;

/// Tools, any of which is enough.
pub type AnyOf<'p> = &'p [Arc<str>];

/// Calls of a tool need an earlier success of one of these.
#[derive(Clone)]
pub struct Need<'p> {
    pub rule: RuleId,
    pub tool: &'p Arc<str>,
    pub any_of: AnyOf<'p>,
    pub directly: bool,
}

/// The needs of each tool.
pub struct NeedsByTool<'p>(BTreeMap<&'p str, Vec<AnyOf<'p>>>);

/// For each tool, those of some tools without which it never runs.
#[derive(Default)]
pub struct Necessary<'p> {
    /// The bit of each tool in a row.
    bits: HashMap<&'p str, usize>,
    rows: HashMap<&'p str, Vec<u64>>,
}

impl Necessary<'_> {
    /// Whether a tool never runs before `earlier` has.
    pub fn has(&self, tool: &str, earlier: &str) -> bool {
        let (Some(row), Some(bit)) = (self.rows.get(tool), self.bits.get(earlier)) else { return false };
        row.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

impl<'p> NeedsByTool<'p> {
    pub fn of(needs: &[Need<'p>]) -> NeedsByTool<'p> {
        let mut by_tool: BTreeMap<&'p str, Vec<AnyOf<'p>>> = BTreeMap::new();
        needs.iter().for_each(|need| by_tool.entry(need.tool).or_default().push(need.any_of));
        NeedsByTool(by_tool)
    }

    /// The tools that can never run because they need each other, so that the first of them never runs.
    pub fn stuck(&self) -> BTreeSet<&'p str> {
        // Needs that are open, by tool, and the needs that a tool's run satisfies.
        let mut open: HashMap<&str, usize> = HashMap::new();
        let mut satisfies: HashMap<&str, Vec<(&'p str, usize)>> = HashMap::new();
        for (tool, needs) in &self.0 {
            open.insert(tool, needs.len());
            for (at, needed) in
                needs.iter().enumerate().flat_map(|(at, any_of)| any_of.iter().map(move |of| (at, of)))
            {
                satisfies.entry(needed).or_default().push((tool, at));
            }
        }
        let mut satisfied: HashSet<(&str, usize)> = HashSet::new();
        let mut stuck: BTreeSet<&'p str> = self.0.keys().copied().collect();
        let mut free: Vec<&str> =
            satisfies.keys().filter(|tool| !open.contains_key(**tool)).copied().collect();
        while let Some(tool) = free.pop() {
            for (dependant, at) in satisfies.get(tool).into_iter().flatten() {
                let Some(left) = open.get_mut(dependant).filter(|_| satisfied.insert((dependant, *at)))
                else {
                    continue;
                };
                *left -= 1;
                if *left == 0 {
                    stuck.remove(dependant);
                    free.push(dependant);
                }
            }
        }
        stuck
    }

    /// Which tools of `asked` must have succeeded before any call of each tool, on any path. If tools need each other
    /// there is no path, and nothing more is concluded.
    ///
    /// The set of a tool has as many members as the chain before it is long, so the sets are bits, and only of the
    /// requested tools.
    pub fn necessary(&self, asked: impl Iterator<Item = &'p str>) -> Necessary<'p> {
        let named: HashSet<&str> = self.any_of().map(|needed| &**needed).collect();
        let asked: BTreeSet<&'p str> = asked.filter(|tool| named.contains(tool)).collect();
        let mut known = Necessary::default();
        known.bits.extend(asked.into_iter().enumerate().map(|(bit, tool)| (tool, bit)));
        let mut dependants: HashMap<&str, Vec<&'p str>> = HashMap::new();
        for (tool, needs) in &self.0 {
            needs
                .iter()
                .copied()
                .flatten()
                .for_each(|needed| dependants.entry(needed).or_default().push(tool));
        }
        let order = self.needed_first();
        // Each tool once, but for those that need each other.
        let mut open: HashSet<&str> = order.iter().copied().collect();
        while !open.is_empty() {
            for tool in order.iter().copied() {
                if !open.remove(tool) {
                    continue;
                }
                let row = self.row(tool, &known);
                // Sets only grow, and there are finitely many names in them.
                if known.rows.get(tool) != Some(&row) {
                    known.rows.insert(tool, row);
                    open.extend(dependants.get(tool).into_iter().flatten());
                }
            }
        }
        known
    }

    /// The tools necessary for a tool, from those of the tools that it needs.
    fn row(&self, tool: &str, known: &Necessary<'p>) -> Vec<u64> {
        let none = vec![0; known.bits.len().div_ceil(64)];
        let way = |needed: &Arc<str>| {
            let mut way = known.rows.get(&**needed).unwrap_or(&none).clone();
            if let Some(bit) = known.bits.get(&**needed)
                && let Some(word) = way.get_mut(bit / 64)
            {
                *word |= 1 << (bit % 64);
            }
            way
        };
        let mut row = none.clone();
        for any_of in self.0.get(tool).into_iter().flatten() {
            let both = |mut one: Vec<u64>, other: Vec<u64>| {
                one.iter_mut().zip(other).for_each(|(one, other)| *one &= other);
                one
            };
            let common = any_of.iter().map(way).reduce(both).unwrap_or_default();
            row.iter_mut().zip(common).for_each(|(row, common)| *row |= common);
        }
        row
    }

    fn any_of(&self) -> impl Iterator<Item = &'p Arc<str>> {
        self.0.values().flatten().copied().flatten()
    }

    /// The tools that have needs, each after those it needs if possible.
    fn needed_first(&self) -> Vec<&'p str> {
        let mut order = Vec::with_capacity(self.0.len());
        let mut seen: HashSet<&str> = HashSet::new();
        // A chain may be longer than the stack of a thread is deep.
        let mut open: Vec<(&str, bool)> = self.0.keys().map(|tool| (*tool, false)).collect();
        while let Some((tool, is_complete)) = open.pop() {
            let Some((tool, needs)) = self.0.get_key_value(tool) else { continue };
            if is_complete {
                order.push(*tool);
            } else if seen.insert(tool) {
                open.push((tool, true));
                open.extend(needs.iter().copied().flatten().map(|needed| (&**needed, false)));
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = Vec<(Arc<str>, Vec<Arc<str>>)>;

    /// By definition: sets that grow until nothing is added.
    fn defined(needs: &Owned) -> HashMap<&str, BTreeSet<&str>> {
        let mut known: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        loop {
            let before = known.clone();
            for (tool, any_of) in needs {
                let way = |needed: &'_ Arc<str>| {
                    let mut way = before.get(&**needed).cloned().unwrap_or_default();
                    way.extend(
                        needs
                            .iter()
                            .flat_map(|need| &need.1)
                            .find(|name| *name == needed)
                            .map(|name| &**name),
                    );
                    way
                };
                let common =
                    any_of.iter().map(way).reduce(|one, other| one.intersection(&other).copied().collect());
                known.entry(tool).or_default().extend(common.unwrap_or_default());
            }
            if known == before {
                return known;
            }
        }
    }

    /// By definition: all that need something, except those that can run without one of the others.
    fn defined_stuck(needs: &Owned) -> BTreeSet<&str> {
        let mut stuck: BTreeSet<&str> = needs.iter().map(|need| &*need.0).collect();
        loop {
            let blocked = |tool: &&str| {
                let mut own = needs.iter().filter(|need| *need.0 == **tool);
                own.any(|need| need.1.iter().all(|needed| stuck.contains(&**needed)))
            };
            let still: BTreeSet<&str> = stuck.iter().copied().filter(blocked).collect();
            if still.len() == stuck.len() {
                return stuck;
            }
            stuck = still;
        }
    }

    fn needs() -> impl Strategy<Value = Owned> {
        let tool = || (0..9_u8).prop_map(|tool| Arc::from(format!("t{tool}")));
        prop::collection::vec((tool(), prop::collection::vec(tool(), 0..4)), 0..16)
    }

    proptest! {
        #[test]
        fn what_follows_from_needs_is_as_defined(owned in needs()) {
            let rule = RuleId(0);
            let needs: Vec<Need<'_>> = owned
                .iter()
                .map(|(tool, any_of)| Need { rule, tool, any_of, directly: false })
                .collect();
            let by_tool = NeedsByTool::of(&needs);
            prop_assert_eq!(by_tool.stuck(), defined_stuck(&owned));
            let names: BTreeSet<&str> = owned.iter().flat_map(|need| &need.1).map(|name| &**name).collect();
            let known = by_tool.necessary(names.iter().copied());
            let defined = defined(&owned);
            for tool in owned.iter().map(|need| &*need.0) {
                let own: BTreeSet<&str> = names.iter().copied().filter(|earlier| known.has(tool, earlier)).collect();
                prop_assert_eq!(Some(&own), defined.get(tool), "{}", tool);
            }
            // A tool that is not requested is unknown, and changes nothing for the others.
            let half = by_tool.necessary(names.iter().copied().step_by(2));
            for (earlier, tool) in names.iter().copied().step_by(2).zip(owned.iter().map(|need| &*need.0)) {
                prop_assert_eq!(half.has(tool, earlier), known.has(tool, earlier));
            }
        }
    }

    /// A chain that is longer than a stack is deep, written from its end to its beginning.
    #[test]
    fn a_long_chain_is_followed() {
        let rule = RuleId(0);
        let names: Vec<Arc<str>> = (0..5_000).map(|number| Arc::from(format!("t{number:05}"))).collect();
        let pairs: Vec<Vec<Arc<str>>> = names.windows(2).map(<[_]>::to_vec).collect();
        let needs: Vec<Need<'_>> = pairs
            .iter()
            .filter_map(|pair| {
                Some(Need { rule, tool: pair.first()?, any_of: pair.get(1..)?, directly: false })
            })
            .collect();
        let by_tool = NeedsByTool::of(&needs);
        assert_eq!(by_tool.stuck(), BTreeSet::new());
        let known = by_tool.necessary(names.iter().map(|name| &**name));
        assert!(known.has("t00000", "t04999") && known.has("t00000", "t00001"));
        assert!(!known.has("t04998", "t04998") && !known.has("t04999", "t00000"));
    }
}
