//! Cycles of needs: near-linear, however many tools there are and however they are connected.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// From each tool, those that it leads to.
type Edges<'p> = BTreeMap<&'p str, BTreeSet<&'p str>>;

/// Circles that are looked for, one after the other, in tools that all lead to each other. Fixing those shows the others.
const ROUNDS: usize = 16;

/// Circles that have no tool in common, each from its first tool in this order on, by a shortest way.
pub fn disjoint_circles<'p>(order: &[&'p str], edges: &Edges<'p>) -> Vec<Vec<&'p str>> {
    let (mut circles, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..ROUNDS {
        let components = components(edges, &seen);
        let (before, mut done) = (circles.len(), HashSet::new());
        for tool in order.iter().copied() {
            let Some(component) = components.get(tool).filter(|component| !done.contains(*component)) else {
                continue;
            };
            let within = |other: &str| components.get(other) == Some(component);
            if let Some(way) = circle(tool, edges, &within) {
                done.insert(*component);
                seen.extend(way.iter().copied());
                circles.push(way);
            }
        }
        if circles.len() == before {
            break;
        }
    }
    circles
}

/// A shortest way from a tool back to itself, with the tool first. Only through tools that `within` has.
fn circle<'p>(tool: &'p str, edges: &Edges<'p>, within: &dyn Fn(&str) -> bool) -> Option<Vec<&'p str>> {
    // From each tool that was reached, the one before it.
    let mut from: HashMap<&str, &'p str> = HashMap::new();
    let mut queue = VecDeque::from([tool]);
    while let Some(at) = queue.pop_front() {
        for next in edges.get(at).into_iter().flatten().copied().filter(|next| within(next)) {
            if next == tool {
                let mut way = vec![at];
                while let Some(before) =
                    way.last().filter(|last| **last != tool).and_then(|last| from.get(last))
                {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            if !from.contains_key(next) {
                from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

/// The tools that lead to each other, several at least, each with the number of its component; without those in `out`.
fn components<'p>(edges: &Edges<'p>, out: &HashSet<&'p str>) -> HashMap<&'p str, usize> {
    let next = |tool: &str| edges.get(tool).into_iter().flatten().copied().filter(|next| !out.contains(next));
    // Depth first, each tool after all that it leads to.
    let (mut known, mut ended): (HashSet<&str>, Vec<&'p str>) = (HashSet::new(), Vec::new());
    for start in edges.keys().copied().filter(|tool| !out.contains(tool)) {
        let mut stack = Vec::new();
        if known.insert(start) {
            stack.push((start, next(start)));
        }
        while let Some((tool, rest)) = stack.last_mut() {
            match rest.next() {
                Some(other) if known.insert(other) => stack.push((other, next(other))),
                Some(_) => {}
                None => {
                    ended.push(*tool);
                    stack.pop();
                }
            }
        }
    }
    let mut back: HashMap<&str, Vec<&'p str>> = HashMap::new();
    for tool in ended.iter().copied() {
        next(tool).for_each(|other| back.entry(other).or_default().push(tool));
    }
    // Backward from the last one that ended: all that is reached is in a circle with it.
    let (mut reached, mut found): (HashSet<&str>, HashMap<&'p str, usize>) = (HashSet::new(), HashMap::new());
    for (number, start) in ended.iter().rev().copied().enumerate() {
        let mut component = Vec::new();
        let mut open: Vec<&'p str> = if reached.insert(start) { vec![start] } else { Vec::new() };
        while let Some(tool) = open.pop() {
            component.push(tool);
            let before = back.get(tool).into_iter().flatten().copied();
            open.extend(before.filter(|before| reached.insert(before)));
        }
        if component.len() > 1 {
            found.extend(component.into_iter().map(|tool| (tool, number)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn found(pairs: &[(&str, &str)]) -> Vec<String> {
        let mut edges: Edges<'_> = BTreeMap::new();
        for (from, to) in pairs {
            edges.entry(from).or_default().insert(to);
        }
        let order: Vec<&str> = pairs.iter().map(|(from, _)| *from).collect();
        disjoint_circles(&order, &edges).iter().map(|way| way.join(" ")).collect()
    }

    #[test]
    fn circles_are_found_once_and_by_a_shortest_way() {
        assert_eq!(found(&[("a", "b"), ("b", "c"), ("c", "a"), ("x", "a")]), ["a b c"]);
        assert_eq!(found(&[("b", "c"), ("c", "b"), ("c", "d"), ("d", "c")]), ["b c"]);
        assert_eq!(found(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("b", "c")]), ["a b", "c d"]);
        // All in one component: after one circle another is left.
        assert_eq!(
            found(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c"), ("d", "a")]),
            ["a b", "c d"]
        );
        assert!(found(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    }

    #[test]
    fn many_tools_take_little_time() {
        let names: Vec<String> = (0..20_000).map(|number| format!("t{number}")).collect();
        let name = |at: usize| names[at % names.len()].as_str();
        let ring: Vec<(&str, &str)> = (0..names.len()).map(|at| (name(at), name(at + 1))).collect();
        // A long way to a small circle; one large circle; all tools need the same one, which needs them.
        let tail: Vec<(&str, &str)> =
            ring[..ring.len() - 1].iter().copied().chain([(name(19_999), name(19_998))]).collect();
        let star: Vec<(&str, &str)> =
            (1..names.len()).flat_map(|at| [(name(at), name(0)), (name(0), name(at))]).collect();
        for (pairs, circles) in [(ring, 1), (tail, 1), (star, 1)] {
            let begun = Instant::now();
            assert_eq!(found(&pairs).len(), circles);
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        }
    }
}
