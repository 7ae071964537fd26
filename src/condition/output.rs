//! Conditions on a result: a path, and what must stand there.

use std::sync::Arc;

use serde_json::{Number, Value};

use super::path::Path;
use crate::monitor::finding::{Comparison, Output};
use crate::session::{Body, value};

/// Conditions of which every one must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions(Vec<Condition>);

/// One path with one or more operators, all of which must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Where to look in the result.
    pub path: Path,
    /// What must be true of what stands there; never empty.
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
    Gte(Number),
    /// At least one node, and every node a number that is at most this.
    Lte(Number),
}

/// How many nodes a finding quotes.
const QUOTED: usize = 4;

impl Conditions {
    /// These conditions together.
    pub fn new(conditions: Vec<Condition>) -> Conditions {
        Conditions(conditions)
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all hold. Of a missing result nothing holds.
    pub fn hold(&self, output: &Body) -> bool {
        self.0.is_empty()
            || output.value().is_some_and(|value| self.0.iter().all(|condition| condition.holds(value)))
    }

    /// What each condition asked and found, for people.
    pub fn explain(&self, output: &Body) -> Vec<Output> {
        let value = output.value();
        self.0.iter().flat_map(|condition| condition.explain(value)).collect()
    }

    /// The path of the first failed condition under the one member of an object that wraps the result, if there all
    /// conditions hold: the recording keeps `{"result": …}` where the policy expects what is inside.
    pub fn unwrapped(&self, output: &Body) -> Option<Arc<str>> {
        let Some(value @ Value::Object(wrapper)) = output.value() else { return None };
        let failed = self.0.iter().find(|condition| !condition.holds_in(output))?;
        // What stands at the path itself is what was meant.
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
    fn holds_in(&self, output: &Body) -> bool {
        output.value().is_some_and(|value| self.holds(value))
    }

    fn holds(&self, value: &Value) -> bool {
        if self.path.is_singular() {
            let node = self.path.one(value);
            return self.tests.iter().all(|test| test.holds(node.as_slice()));
        }
        let nodes = self.path.nodes(value);
        self.tests.iter().all(|test| test.holds(&nodes))
    }

    fn explain(&self, value: Option<&Value>) -> Vec<Output> {
        let nodes = value.map(|value| self.path.nodes(value)).unwrap_or_default();
        let explained = self.tests.iter().map(|test| {
            let (comparison, wanted) = match test {
                Test::Exists(wanted) => (Comparison::Exists, Value::Bool(*wanted)),
                Test::Equals(wanted) => (Comparison::Equals, wanted.clone()),
                Test::Gte(bound) => (Comparison::Gte, Value::Number(bound.clone())),
                Test::Lte(bound) => (Comparison::Lte, Value::Number(bound.clone())),
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
    fn holds(&self, nodes: &[&Value]) -> bool {
        let every =
            |holds: &dyn Fn(&Value) -> bool| !nodes.is_empty() && nodes.iter().all(|node| holds(node));
        match self {
            Test::Exists(wanted) => nodes.is_empty() != *wanted,
            Test::Equals(wanted) => every(&|node| value::equal(node, wanted)),
            Test::Gte(bound) => every(&|node| bounded(node, Comparison::Gte, bound)),
            Test::Lte(bound) => every(&|node| bounded(node, Comparison::Lte, bound)),
        }
    }
}

fn bounded(node: &Value, comparison: Comparison, bound: &Number) -> bool {
    matches!(node, Value::Number(number) if comparison.admits(value::compare(number, bound)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(path: &str, test: Test, output: &str) -> bool {
        let condition = Condition { path: Path::parse(path).unwrap(), tests: vec![test] };
        Conditions::new(vec![condition]).hold(&Body::json(output))
    }

    #[test]
    fn operators_need_every_node_and_at_least_one() {
        let number = |text: &str| text.parse::<Number>().unwrap();
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
        assert!(!conditions.hold(&wrapped));
        assert_eq!(conditions.unwrapped(&wrapped).as_deref(), Some("$.result.eligible"));
        assert_eq!(conditions.unwrapped(&Body::text(r#"{"result": {"eligible": false}}"#)), None);
    }
}
