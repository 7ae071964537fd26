//! Patterns in the filters of a path. By RFC 9535, an unusable one finds nothing, silently; in a guard that is a
//! mistake.

use jsonpath_rust::parser::model::{
    Comparable, Filter, FilterAtom, FnArg, Literal, Segment, Selector, Test, TestFunction,
};
use regex::Regex;

/// The first pattern that cannot be used, and why.
pub fn unusable(segments: &[Segment]) -> Option<(String, String)> {
    segments.iter().find_map(|segment| match segment {
        Segment::Descendant(inner) => unusable(std::slice::from_ref(&**inner)),
        Segment::Selector(selector) => of_selector(selector),
        Segment::Selectors(selectors) => selectors.iter().find_map(of_selector),
    })
}

fn of_selector(selector: &Selector) -> Option<(String, String)> {
    if let Selector::Filter(filter) = selector { of_filter(filter) } else { None }
}

fn of_filter(filter: &Filter) -> Option<(String, String)> {
    match filter {
        Filter::Or(parts) | Filter::And(parts) => parts.iter().find_map(of_filter),
        Filter::Atom(FilterAtom::Filter { expr, .. }) => of_filter(expr),
        Filter::Atom(FilterAtom::Test { expr, .. }) => of_test(expr),
        Filter::Atom(FilterAtom::Comparison(comparison)) => {
            let (left, right) = comparison.vals();
            [left, right].into_iter().find_map(|side| match side {
                Comparable::Function(function) => of_function(function),
                Comparable::Literal(_) | Comparable::SingularQuery(_) => None,
            })
        }
    }
}

fn of_test(test: &Test) -> Option<(String, String)> {
    match test {
        Test::RelQuery(segments) => unusable(segments),
        Test::AbsQuery(query) => unusable(&query.segments),
        Test::Function(function) => of_function(function),
    }
}

fn of_function(function: &TestFunction) -> Option<(String, String)> {
    let of = |argument: &FnArg| match argument {
        FnArg::Literal(_) => None,
        FnArg::Test(test) => of_test(test),
        FnArg::Filter(filter) => of_filter(filter),
    };
    match function {
        TestFunction::Length(argument) => of(argument),
        TestFunction::Count(argument) | TestFunction::Value(argument) => of(argument),
        TestFunction::Search(text, pattern) | TestFunction::Match(text, pattern) => {
            let written = match pattern {
                FnArg::Literal(Literal::String(written)) => bad(written),
                _ => None,
            };
            written.or_else(|| of(text)).or_else(|| of(pattern))
        }
        TestFunction::Custom(_, arguments) => arguments.iter().find_map(of),
    }
}

fn bad(pattern: &str) -> Option<(String, String)> {
    let error = Regex::new(pattern).err()?.to_string();
    let why =
        error.lines().rev().find_map(|line| line.trim().strip_prefix("error: ")).unwrap_or("it is none");
    Some((pattern.to_owned(), why.to_owned()))
}
