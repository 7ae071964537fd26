//! Conditions on a result: a path, and tests of its node.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smallvec::SmallVec;

use crate::condition::path::{Path, peek};
use crate::monitor::Look;
use crate::monitor::enabler::ANY_VALUE;
use crate::monitor::saved;
use rulestep_base::session::Body;
use rulestep_base::session::value::{self, Bound, Numeral};

/// One condition on a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Output {
    /// JSONPath in the result.
    pub path: Arc<str>,
    /// The comparison.
    #[serde(rename = "operator")]
    pub comparison: Comparison,
    /// The required value.
    pub wanted: Value,
    /// The actual values: the first few nodes.
    pub got: Vec<Value>,
    /// The number of nodes.
    pub nodes: usize,
    /// Whether it holds.
    pub holds: bool,
}

/// Operators of conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// There is, or there is no, node.
    Exists,
    /// Equal by JSON equality.
    Equals,
    /// A number that is at least the wanted one.
    Gte,
    /// A number that is at most the wanted one.
    Lte,
}

impl Comparison {
    /// The key of the policy language.
    pub fn word(self) -> &'static str {
        match self {
            Comparison::Exists => "exists",
            Comparison::Equals => "equals",
            Comparison::Gte => "gte",
            Comparison::Lte => "lte",
        }
    }

    /// Whether an order between two numbers is what a bound asks for.
    pub fn admits(self, order: Ordering) -> bool {
        match self {
            Comparison::Gte => order != Ordering::Less,
            Comparison::Lte => order != Ordering::Greater,
            Comparison::Equals => order == Ordering::Equal,
            Comparison::Exists => true,
        }
    }
}

/// Conditions of which every one must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions(Vec<Condition>);

/// One path with one or more tests, all of which must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The path in the result.
    pub path: Path,
    /// The tests of its node; never empty.
    pub tests: Vec<Test>,
}

/// One operator with its operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// At least one node (`true`), or none (`false`). `null` is a node.
    Exists(bool),
    /// At least one node, and every node equal.
    Equals(Value),
    /// At least one node, and every node a number that is at least this.
    Gte(Bound),
    /// At least one node, and every node a number that is at most this.
    Lte(Bound),
}

/// Several [`Conditions`] on the same results: each path is looked up once, and each of its tests made once.
#[derive(Debug, Default)]
pub struct Table {
    looks: Vec<PathTests>,
    tests: usize,
    /// For each of the conditions, the tests it needs.
    needs: Vec<Tests>,
}

/// A path, and the tests of what is there, each with its number in the table.
#[derive(Debug)]
struct PathTests {
    path: Path,
    tests: Vec<(Test, usize)>,
}

/// A set of tests by their numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tests(#[serde(with = "saved::list")] SmallVec<[u64; 2]>);

/// A result that would do.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// This one; with nothing in it where any does.
    Value(Option<Value>),
    /// No result can, since two conditions contradict each other.
    Impossible,
    /// Not known: the paths ask for more than can be made up.
    Unknown,
}

/// Number of nodes that a finding quotes.
const QUOTED: usize = 4;

impl Table {
    /// Adds conditions; they are asked for by their place, which it returns.
    pub fn add(&mut self, conditions: &Conditions) -> usize {
        let mut need = Tests::default();
        for condition in &conditions.0 {
            for test in &condition.tests {
                need.insert(self.number(&condition.path, test));
            }
        }
        self.needs.push(need);
        self.needs.len() - 1
    }

    fn number(&mut self, path: &Path, test: &Test) -> usize {
        let place = self.looks.iter().position(|look| look.path == *path).unwrap_or_else(|| {
            self.looks.push(PathTests { path: path.clone(), tests: Vec::new() });
            self.looks.len() - 1
        });
        let Some(look) = self.looks.get_mut(place) else { return self.tests };
        if let Some((_, number)) = look.tests.iter().find(|(known, _)| known == test) {
            return *number;
        }
        look.tests.push((test.clone(), self.tests));
        self.tests += 1;
        self.tests - 1
    }

    /// Makes every test of a result, and returns those that pass; of a missing result none does.
    pub fn read(&self, output: &Body) -> Tests {
        let mut passed = Tests::default();
        if self.looks.is_empty() {
            return passed;
        }
        if let Some(places) = peek(self.looks.iter().map(|look| &look.path), output) {
            for (PathTests { tests, .. }, node) in self.looks.iter().zip(&places) {
                read_one(tests, node.as_ref(), &mut passed);
            }
            return passed;
        }
        let Some(value) = output.value() else { return passed };
        for PathTests { path, tests } in &self.looks {
            if path.is_singular() {
                read_one(tests, path.one(value), &mut passed);
            } else {
                let nodes = path.nodes(value);
                let held = tests.iter().filter(|(test, _)| test.holds(&nodes));
                held.for_each(|(_, number)| passed.insert(*number));
            }
        }
        passed
    }

    /// Whether the conditions at this place hold of a result that passes these tests.
    pub fn hold(&self, conditions: usize, passed: &Tests) -> bool {
        self.needs.get(conditions).is_some_and(|needed| passed.contains(needed))
    }
}

/// Makes the tests of what is at one place, and adds those that pass.
fn read_one(tests: &[(Test, usize)], node: Option<&Value>, passed: &mut Tests) {
    let numeral = node.and_then(numeral);
    let held = tests.iter().filter(|(test, _)| test.holds_one(node, numeral));
    held.for_each(|(_, number)| passed.insert(*number));
}

impl Tests {
    fn insert(&mut self, number: usize) {
        let (word, bit) = (number / 64, number % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    fn contains(&self, needed: &Tests) -> bool {
        let mut words = self.0.iter().copied();
        needed.0.iter().all(|needed| needed & !words.next().unwrap_or(0) == 0)
    }
}

impl Conditions {
    /// These conditions together.
    pub fn new(conditions: Vec<Condition>) -> Conditions {
        Conditions(conditions)
    }

    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &Condition> {
        self.0.iter()
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|condition| &condition.path)
    }

    /// A result that satisfies every condition.
    pub fn sample(&self) -> Sample {
        let mut sample: Option<Value> = None;
        for condition in &self.0 {
            let own = self.0.iter().filter(|other| other.path == condition.path);
            let tests: Vec<&Test> = own.flat_map(|other| &other.tests).collect();
            let value = match wanted(&tests) {
                Wanted::Nothing => continue,
                Wanted::Value(value) => value,
                Wanted::Impossible => return Sample::Impossible,
            };
            let Some(built) = condition.path.built(value) else { return Sample::Unknown };
            let joined = match &sample {
                Some(sample) => value::join(sample, &built),
                None => Some(built),
            };
            let Some(joined) = joined else { return Sample::Unknown };
            sample = Some(joined);
        }
        let nothing = Value::Object(serde_json::Map::new());
        let holds = self.0.iter().all(|condition| condition.holds(sample.as_ref().unwrap_or(&nothing)));
        if holds { Sample::Value(sample) } else { Sample::Unknown }
    }

    /// The requirement and the actual values of each condition, for people.
    pub fn explain(&self, output: &Body) -> Vec<Output> {
        let value = output.value();
        self.0.iter().flat_map(|condition| condition.explain(value)).collect()
    }

    /// The path of the first failed condition under the one member of an object that wraps the result, if there all
    /// conditions hold: the recording keeps `{"result": …}` where the policy expects what is inside.
    pub fn unwrapped(&self, output: &Body) -> Option<Arc<str>> {
        let Some(value @ Value::Object(wrapper)) = output.value() else { return None };
        let failed = self.0.iter().find(|condition| !condition.holds_in(output))?;
        // A node at the path itself is the intended one.
        if !failed.path.nodes(value).is_empty() {
            return None;
        }
        wrapper.iter().find_map(|(member, inner)| {
            // The inner value is often JSON written as text.
            let read = inner.as_str().map(Body::text);
            let inner = read.as_ref().and_then(Body::value).unwrap_or(inner);
            let all = self.0.iter().all(|condition| condition.holds(inner));
            if all { failed.path.below(member).map(|path| Arc::clone(path.text())) } else { None }
        })
    }
}

impl Condition {
    /// The condition that something is at a path.
    pub fn exists(path: &Path) -> Condition {
        Condition { path: path.clone(), tests: vec![Test::Exists(true)] }
    }

    /// Whether any value at the path will do.
    pub fn is_only_presence(&self) -> bool {
        self.tests.iter().all(|test| *test == Test::Exists(true))
    }

    /// Its requirement, in words: `equals true`.
    pub fn words(&self) -> String {
        let words = self.explain(None).into_iter().map(|output| match output.comparison {
            Comparison::Exists if output.wanted == Value::Bool(false) => "is not there".to_owned(),
            Comparison::Exists => "is there".to_owned(),
            Comparison::Equals => format!("equals {}", output.wanted),
            Comparison::Gte => format!("is at least {}", output.wanted),
            Comparison::Lte => format!("is at most {}", output.wanted),
        });
        words.collect::<Vec<_>>().join(" and ")
    }

    /// Its node in a part of a call.
    pub fn look(&self, body: &Body) -> Look {
        let Some(value) = body.value() else { return Look { present: false, passes: false } };
        let nodes = self.path.nodes(value);
        let passes = self.tests.iter().all(|test| test.holds(&nodes));
        Look { present: !nodes.is_empty(), passes }
    }

    fn holds_in(&self, output: &Body) -> bool {
        output.value().is_some_and(|value| self.holds(value))
    }

    fn holds(&self, value: &Value) -> bool {
        let nodes = self.path.nodes(value);
        self.tests.iter().all(|test| test.holds(&nodes))
    }

    fn explain(&self, value: Option<&Value>) -> Vec<Output> {
        let nodes = value.map(|value| self.path.nodes(value)).unwrap_or_default();
        let explained = self.tests.iter().map(|test| {
            let (comparison, wanted) = match test {
                Test::Exists(wanted) => (Comparison::Exists, Value::Bool(*wanted)),
                Test::Equals(wanted) => (Comparison::Equals, wanted.clone()),
                Test::Gte(bound) => (Comparison::Gte, Value::Number(bound.number().clone())),
                Test::Lte(bound) => (Comparison::Lte, Value::Number(bound.number().clone())),
            };
            Output {
                path: Arc::clone(self.path.text()),
                comparison,
                wanted,
                got: nodes.iter().take(QUOTED).map(|node| (*node).clone()).collect(),
                nodes: nodes.len(),
                holds: value.is_some() && test.holds(&nodes),
            }
        });
        explained.collect()
    }
}

impl Test {
    /// For these nodes.
    pub fn holds(&self, nodes: &[&Value]) -> bool {
        match (self, nodes) {
            (_, []) => self.holds_one(None, None),
            (Test::Exists(wanted), _) => *wanted,
            _ => nodes.iter().all(|node| self.holds_one(Some(node), numeral(node))),
        }
    }

    /// For at most one node; `numeral` is that node, if it is a number.
    fn holds_one(&self, node: Option<&Value>, numeral: Option<Numeral<'_>>) -> bool {
        let bounded = |comparison: Comparison, bound: &Bound| {
            numeral.is_some_and(|numeral| comparison.admits(numeral.compare(bound.numeral())))
        };
        match self {
            Test::Exists(wanted) => node.is_some() == *wanted,
            Test::Equals(wanted) => node.is_some_and(|node| value::equal(node, wanted)),
            Test::Gte(bound) => bounded(Comparison::Gte, bound),
            Test::Lte(bound) => bounded(Comparison::Lte, bound),
        }
    }
}

/// The required value at one path.
enum Wanted {
    Nothing,
    Value(Value),
    Impossible,
}

/// A value that passes every test at one path.
fn wanted(tests: &[&Test]) -> Wanted {
    let bound = |test: &&Test| match test {
        Test::Gte(bound) | Test::Lte(bound) => Some(Value::Number(bound.number().clone())),
        Test::Equals(_) | Test::Exists(_) => None,
    };
    let equals = tests.iter().find_map(|test| match test {
        Test::Equals(value) => Some(value.clone()),
        _ => None,
    });
    // The bounds are the ends of what they admit, so if any number passes, one of them does.
    let candidates: Vec<Value> = match equals {
        Some(value) => vec![value],
        None => tests.iter().filter_map(bound).collect(),
    };
    let candidates = if candidates.is_empty() { vec![Value::from(ANY_VALUE)] } else { candidates };
    if tests.iter().all(|test| **test == Test::Exists(false)) {
        return Wanted::Nothing;
    }
    let passes = |value: &&Value| tests.iter().all(|test| test.holds(&[*value]));
    candidates.iter().find(passes).cloned().map_or(Wanted::Impossible, Wanted::Value)
}

fn numeral(node: &Value) -> Option<Numeral<'_>> {
    match node {
        Value::Number(number) => Some(Numeral::of(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(path: &str, test: Test, output: &str) -> bool {
        let condition = Condition { path: Path::parse(path).unwrap(), tests: vec![test] };
        let mut table = Table::default();
        let place = table.add(&Conditions::new(vec![condition]));
        table.hold(place, &table.read(&Body::json(output)))
    }

    #[test]
    fn operators_need_every_node_and_at_least_one() {
        let number = |text: &str| Bound::new(text.parse().unwrap());
        for (path, test, output, expected) in [
            ("$.a", Test::Exists(true), r#"{"a": null}"#, true),
            ("$.a", Test::Exists(false), r#"{"a": null}"#, false),
            ("$.a", Test::Exists(false), r#"{}"#, true),
            ("$.a", Test::Exists(false), "null", false),
            ("$.a", Test::Equals(json!(1)), r#"{"a": 1.0}"#, true),
            ("$.a", Test::Equals(json!(1)), r#"{"a": "1"}"#, false),
            ("$[*]", Test::Equals(json!(true)), "[true, true]", true),
            ("$[*]", Test::Equals(json!(true)), "[true, false]", false),
            ("$[*]", Test::Equals(json!(true)), "[]", false),
            ("$.a", Test::Gte(number("0.05")), r#"{"a": 0.05}"#, true),
            ("$.a", Test::Gte(number("0.05")), r#"{"a": "1"}"#, false),
            ("$.a", Test::Lte(number("0.05")), r#"{"a": 0.051}"#, false),
            ("$", Test::Equals(json!("plain words")), "\"plain words\"", true),
        ] {
            assert_eq!(holds(path, test.clone(), output), expected, "{path} {test:?} {output}");
        }
    }

    #[test]
    fn a_wrapped_result_is_recognised() {
        let condition =
            Condition { path: Path::parse("$.eligible").unwrap(), tests: vec![Test::Equals(json!(true))] };
        let conditions = Conditions::new(vec![condition]);
        let wrapped = Body::text(r#"{"result": {"eligible": true}, "ms": 4}"#);
        assert_eq!(conditions.unwrapped(&wrapped).as_deref(), Some("$.result.eligible"));
        assert_eq!(conditions.unwrapped(&Body::text(r#"{"result": {"eligible": false}}"#)), None);
    }
}
