//! JSONPath (RFC 9535): parsed once, and walked directly if it is a singular query.

use std::fmt;
use std::sync::Arc;

use jsonpath_rust::parser::model::{
    Comparable, Filter, FilterAtom, FnArg, JpQuery, Segment, Selector, Test, TestFunction,
};
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value;

mod patterns;
mod peek;

pub use peek::{first_in_json, in_json, in_value, peek};

/// Steps that compiling a pattern costs, which `match` and `search` of a filter do at each place again.
const PATTERN: u64 = 10_000;

/// Most `..` in a path: each multiplies the visited places by the depth of a value.
const DESCENTS: usize = 3;

/// A parsed path.
#[derive(Clone)]
pub struct Path {
    text: Arc<str>,
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// Names and indices alone: at most one node.
    Singular(Arc<[Step]>),
    Query(Arc<JpQuery>),
}

#[derive(Debug, PartialEq)]
enum Step {
    Name(Box<str>),
    /// From the end where negative.
    Index(i64),
}

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not a JSONPath: {cause}")]
pub struct BadPath {
    path: String,
    cause: String,
    /// Where the parser stopped, in bytes of the path.
    pub at: usize,
}

impl Path {
    /// Parses a JSONPath.
    pub fn parse(text: &str) -> Result<Path, BadPath> {
        let bad = |cause: String, at: usize| BadPath { path: text.to_owned(), cause, at };
        // The library lets white space after a path pass; RFC 9535 does not.
        if text != text.trim() {
            let end = text.trim_end().len();
            let at = if text.starts_with(char::is_whitespace) { 0 } else { end };
            return Err(bad("it has white space around it".to_owned(), at));
        }
        let query = parse_json_path(text).map_err(|error| bad(cause(text, &error), place(text, &error)))?;
        if let Some((pattern, why)) = patterns::unusable(&query.segments) {
            let at = text.find(&pattern).unwrap_or_default();
            return Err(bad(
                format!(
                    "the pattern `{pattern}` in its filter cannot be used: {why}; expected a pattern in RE2's syntax"
                ),
                at,
            ));
        }
        if descents(&query.segments) > DESCENTS {
            let at = text.find("..").unwrap_or_default();
            let cause = format!(
                "it has more than {DESCENTS} `..`, each of which goes through all that is below each place of the one before"
            );
            return Err(bad(cause, at));
        }
        let form = match singular(&query.segments) {
            Some(steps) => Form::Singular(steps.into()),
            None => Form::Query(Arc::new(query)),
        };
        Ok(Path { text: text.into(), form })
    }

    /// The path to a member of this name.
    pub fn member(name: &str) -> Path {
        let text = format!("${}", name_step(name)).into();
        Path { text, form: Form::Singular([Step::Name(name.into())].into()) }
    }

    /// The path as it was written.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Whether it is a singular query: never more than one node, whatever the value.
    pub fn is_singular(&self) -> bool {
        matches!(self.form, Form::Singular(_))
    }

    /// The node, if there is exactly one.
    pub fn one<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match &self.form {
            Form::Singular(steps) => walk(steps, value),
            Form::Query(_) => match self.nodes(value).as_slice() {
                [one] => Some(*one),
                _ => None,
            },
        }
    }

    /// All nodes.
    pub fn nodes<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match &self.form {
            Form::Singular(steps) => walk(steps, value).into_iter().collect(),
            // The library errs only where a query computes a new value, which a path cannot.
            Form::Query(query) => js_path_process(query, value)
                .map(|nodes| nodes.into_iter().map(|node| node.val()).collect())
                .unwrap_or_default(),
        }
    }

    /// All nodes, each with its place: a singular path as it is written, others as RFC 9535 spells them.
    pub fn located<'v>(&self, value: &'v Value) -> Vec<(String, &'v Value)> {
        match &self.form {
            Form::Singular(steps) => {
                walk(steps, value).into_iter().map(|node| (self.text.to_string(), node)).collect()
            }
            Form::Query(query) => {
                let found = js_path_process(query, value).unwrap_or_default().into_iter();
                found.map(|node| (node.clone().path(), node.val())).collect()
            }
        }
    }

    /// An upper bound for the steps of finding the nodes in a value of this many parts and this depth, for callers with
    /// a budget.
    pub fn effort(&self, size: u64, depth: u64) -> u64 {
        match &self.form {
            Form::Singular(steps) => steps.len() as u64,
            Form::Query(query) => size.saturating_mul(factor(&query.segments, size, depth)),
        }
    }

    /// The least value that has this one at the path, and only there; `None` where a path asks for more than names, places
    /// and stars.
    pub fn built(&self, value: Value) -> Option<Value> {
        match &self.form {
            Form::Singular(steps) => steps.iter().rev().try_fold(value, |inner, step| match step {
                Step::Name(name) => Some(member(name, inner)),
                Step::Index(index) => item(*index, inner),
            }),
            Form::Query(query) => query.segments.iter().rev().try_fold(value, |inner, segment| {
                // A descendant segment also finds direct children.
                let segment = if let Segment::Descendant(segment) = segment { segment } else { segment };
                match segment {
                    Segment::Selector(Selector::Name(name)) => Some(member(name, inner)),
                    Segment::Selector(Selector::Index(index)) => item(*index, inner),
                    Segment::Selector(Selector::Wildcard) => item(0, inner),
                    _ => None,
                }
            }),
        }
    }

    /// The node at this path if `outer`, a prefix of it, is known to be `value`; `None` if `outer` is not a prefix.
    pub fn beyond<'v>(&self, outer: &Path, value: &'v Value) -> Option<Option<&'v Value>> {
        let rest = self.rest(outer)?;
        Some(walk(rest, value))
    }

    /// Whether it leads through another path, to something inside what is there.
    pub fn is_inside(&self, outer: &Path) -> bool {
        self.rest(outer).is_some()
    }

    /// Whether no value has something at both: one takes a place for a mapping, the other one for a list.
    pub fn excludes(&self, other: &Path) -> bool {
        let (Form::Singular(own), Form::Singular(others)) = (&self.form, &other.form) else { return false };
        let apart = own.iter().zip(others.iter()).find(|(own, other)| own != other);
        matches!(apart, Some((Step::Name(_), Step::Index(_)) | (Step::Index(_), Step::Name(_))))
    }

    fn rest(&self, outer: &Path) -> Option<&[Step]> {
        let (Form::Singular(own), Form::Singular(outer)) = (&self.form, &outer.form) else { return None };
        own.strip_prefix(&**outer).filter(|rest| !rest.is_empty())
    }

    /// The same path below a member of the root: `$.eligible` below `result` is `$.result.eligible`.
    pub fn below(&self, member: &str) -> Option<Path> {
        let rest = self.text.trim_start().strip_prefix('$')?;
        Path::parse(&format!("${}{rest}", name_step(member))).ok()
    }
}

/// The number of `..` in a path, without those of its filters: [`Path::effort`] counts them.
fn descents(segments: &[Segment]) -> usize {
    segments.iter().filter(|segment| matches!(segment, Segment::Descendant(_))).count()
}

/// The step to a member, as it is written.
fn name_step(name: &str) -> String {
    let plain = |(i, c): (usize, char)| c == '_' || c.is_ascii_alphabetic() || (i > 0 && c.is_ascii_digit());
    if !name.is_empty() && name.chars().enumerate().all(plain) {
        format!(".{name}")
    } else {
        format!("[{}]", Value::from(name))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Two paths are the same if they are written the same, or walk the same steps.
impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        match (&self.form, &other.form) {
            (Form::Singular(a), Form::Singular(b)) => a == b,
            _ => self.text == other.text,
        }
    }
}

fn member(name: &str, inner: Value) -> Value {
    Value::Object([(name.to_owned(), inner)].into_iter().collect())
}

/// A list with a value at this index. No list of thousands is built for one value.
fn item(index: i64, inner: Value) -> Option<Value> {
    let before =
        usize::try_from(if index < 0 { -index - 1 } else { index }).ok().filter(|before| *before < 64)?;
    let mut items = vec![Value::Null; before];
    items.insert(if index < 0 { 0 } else { before }, inner);
    Some(Value::Array(items))
}

fn singular(segments: &[Segment]) -> Option<Vec<Step>> {
    segments
        .iter()
        .map(|segment| match segment {
            Segment::Selector(Selector::Name(name)) => Some(Step::Name(name.as_str().into())),
            Segment::Selector(Selector::Index(index)) => Some(Step::Index(*index)),
            _ => None,
        })
        .collect()
}

fn walk<'v>(steps: &[Step], value: &'v Value) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match (step, value) {
        // Arguments have few members: comparing names beats hashing one.
        (Step::Name(name), Value::Object(map)) if map.len() <= 8 => {
            map.iter().find(|(key, _)| key.as_str() == &**name).map(|(_, value)| value)
        }
        (Step::Name(name), Value::Object(map)) => map.get(&**name),
        (Step::Index(index), Value::Array(items)) if *index >= 0 => items.get(usize::try_from(*index).ok()?),
        (Step::Index(index), Value::Array(items)) => {
            items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?).and_then(|i| items.get(i))
        }
        _ => None,
    })
}

/// How often a part of the value is visited at most: from each of its ancestors for every `..`, once for every
/// selector, and by the queries of a filter there.
fn factor(segments: &[Segment], size: u64, depth: u64) -> u64 {
    let of_selector = |selector: &Selector| match selector {
        Selector::Filter(filter) => asked(filter, size, depth).saturating_add(1),
        _ => 1,
    };
    segments.iter().fold(1, |all, segment| {
        let (inner, nested) = match segment {
            Segment::Descendant(inner) => (&**inner, depth.max(1)),
            other => (other, 1),
        };
        let own = match inner {
            Segment::Selectors(selectors) => {
                selectors.iter().fold(0, |sum: u64, selector| sum.saturating_add(of_selector(selector)))
            }
            Segment::Selector(selector) => of_selector(selector),
            Segment::Descendant(_) => depth,
        };
        all.saturating_mul(nested).saturating_mul(own.max(1))
    })
}

/// The cost of a filter at one node.
fn asked(filter: &Filter, size: u64, depth: u64) -> u64 {
    match filter {
        Filter::Or(parts) | Filter::And(parts) => {
            parts.iter().fold(1, |sum: u64, part| sum.saturating_add(asked(part, size, depth)))
        }
        Filter::Atom(FilterAtom::Filter { expr, .. }) => asked(expr, size, depth),
        Filter::Atom(FilterAtom::Test { expr, .. }) => tested(expr, size, depth),
        Filter::Atom(FilterAtom::Comparison(comparison)) => {
            match comparison.vals() {
                // Two values may be compared part by part.
                (Comparable::SingularQuery(_), Comparable::SingularQuery(_)) => size,
                (left, right) => [left, right].into_iter().fold(1, |sum: u64, side| match side {
                    Comparable::Function(function) => sum.saturating_add(called(function, size, depth)),
                    Comparable::Literal(_) | Comparable::SingularQuery(_) => sum,
                }),
            }
        }
    }
}

fn tested(test: &Test, size: u64, depth: u64) -> u64 {
    match test {
        // Below a place there may be everything.
        Test::RelQuery(segments) if singular(segments).is_some() => 1,
        Test::RelQuery(segments) => size.saturating_mul(factor(segments, size, depth)),
        Test::AbsQuery(query) => size.saturating_mul(factor(&query.segments, size, depth)),
        Test::Function(function) => called(function, size, depth),
    }
}

fn called(function: &TestFunction, size: u64, depth: u64) -> u64 {
    let of = |argument: &FnArg| match argument {
        FnArg::Literal(_) => 1,
        FnArg::Test(test) => tested(test, size, depth),
        FnArg::Filter(filter) => asked(filter, size, depth),
    };
    match function {
        TestFunction::Length(argument) => of(argument),
        TestFunction::Count(argument) | TestFunction::Value(argument) => of(argument),
        TestFunction::Search(text, pattern) | TestFunction::Match(text, pattern) => {
            of(text).saturating_add(of(pattern)).saturating_add(PATTERN)
        }
        TestFunction::Custom(_, arguments) => {
            arguments.iter().fold(PATTERN, |sum, argument| sum.saturating_add(of(argument)))
        }
    }
}

/// The parser's own words are about its grammar; say what people get wrong.
fn cause(text: &str, error: &jsonpath_rust::parser::errors::JsonPathError) -> String {
    if !text.starts_with('$') {
        return "it must begin with `$`".to_owned();
    }
    // The first line that points at a column, if the library gives one.
    let words = error.to_string();
    match words.lines().find_map(|line| line.trim().strip_prefix("= ")) {
        Some(expected) => expected.to_owned(),
        None => words.lines().next().unwrap_or("it cannot be parsed").trim().to_owned(),
    }
}

/// The byte at which the parser stopped. The library says so in its words alone: ` --> 1:5`.
fn place(text: &str, error: &jsonpath_rust::parser::errors::JsonPathError) -> usize {
    if !text.starts_with('$') {
        return 0;
    }
    let words = error.to_string();
    let column = words.lines().find_map(|line| line.split_once("--> 1:")?.1.trim().parse::<usize>().ok());
    let column = column.and_then(|column| column.checked_sub(1));
    let place = column.and_then(|column| text.char_indices().nth(column));
    place.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn singular_paths_walk_and_others_query() {
        let value = json!({"a": {"b c": [1, 2, 3]}, "": 7, "many": [{"x": 1}, {"x": 2}]});
        for (path, nodes) in [
            ("$", vec![value.clone()]),
            ("$.a['b c'][0]", vec![json!(1)]),
            ("$['a'][\"b c\"][-1]", vec![json!(3)]),
            ("$.a['b c'][-4]", vec![]),
            ("$.a['b c'][3]", vec![]),
            ("$['']", vec![json!(7)]),
            ("$.many[*].x", vec![json!(1), json!(2)]),
            ("$..x", vec![json!(1), json!(2)]),
            ("$.many[?@.x == 2].x", vec![json!(2)]),
            ("$.none", vec![]),
        ] {
            let path = Path::parse(path).unwrap();
            assert_eq!(path.nodes(&value), nodes.iter().collect::<Vec<_>>(), "{path:?}");
        }
        assert!(Path::parse("$.a[0]['b']").unwrap().is_singular());
        for many in ["$..a", "$.*", "$[0,1]", "$[0:1]", "$[?@.a]"] {
            assert!(!Path::parse(many).unwrap().is_singular(), "{many}");
        }
    }

    #[test]
    fn a_value_is_built_where_a_path_finds_it() {
        for path in ["$", "$.a.b", "$['a b'][2].c", "$[-2]", "$.many[*].x", "$..x", "$..[0]"] {
            let path = Path::parse(path).unwrap();
            let built = path.built(json!(7)).unwrap();
            assert!(path.nodes(&built).contains(&&json!(7)), "{path:?}: {built}");
        }
        for path in ["$[?@.a]", "$[0:2]", "$[99999]", "$[-99999]"] {
            assert_eq!(Path::parse(path).unwrap().built(json!(7)), None, "{path}");
        }
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (text, why) in [
            ("order_id", "begin with `$`"),
            ("", "begin with `$`"),
            ("$.a[", ""),
            ("$.a ", "white space"),
            // By RFC 9535 such a filter finds nothing, which would silently disable the guard.
            ("$.errors[?search(@.m, '(?=f)fatal')]", "`(?=f)fatal` in its filter cannot be used"),
            ("$[?@.a == 1 && (@.b || !match(@.m, '('))]", "`(`"),
            ("$[?count(@.x[?search(@, '*')]) > 1]", "`*`"),
        ] {
            let error = Path::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_path_moves_below_a_member() {
        assert_eq!(
            &**Path::parse("$.eligible").unwrap().below("result").unwrap().text(),
            "$.result.eligible"
        );
        assert_eq!(&**Path::parse("$[0]").unwrap().below("a b").unwrap().text(), "$[\"a b\"][0]");
    }
}
