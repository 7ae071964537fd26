//! The document readers against second opinions, and their places, problems and bounds as tables.

mod fields;
mod json;
mod yaml;

use rulestep_base::source::{Node, NodeValue, Parse, Problem, Source, Span, parse};

/// One line a problem: place, kind, message, and what goes with it.
pub fn told(source: &Source, problems: &[Problem]) -> Vec<String> {
    let at = |span: Span| format!("{}-{}", source.position(span.start), source.position(span.end).column);
    problems
        .iter()
        .map(|problem| {
            let mut line = format!("{} {:?}: {}", at(problem.span), problem.kind, problem.message);
            if let Some((span, message)) = &problem.related {
                line.push_str(&format!(" ({}: {message})", at(*span)));
            }
            line
        })
        .collect()
}

/// Every scalar and collection of a tree with the text at its span, in the order of the text.
pub fn slices(source: &Source, node: &Node) -> Vec<String> {
    let mut out = Vec::new();
    walk(source, node, &mut String::new(), &mut out);
    out
}

fn walk(source: &Source, node: &Node, pointer: &mut String, out: &mut Vec<String>) {
    out.push(format!("{pointer} = {:?}", source.slice(node.span)));
    let length = pointer.len();
    match &node.value {
        NodeValue::Seq(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.push_str(&format!("/{index}"));
                walk(source, item, pointer, out);
                pointer.truncate(length);
            }
        }
        NodeValue::Map(entries) => {
            for entry in entries.iter() {
                rulestep_base::source::pointer_push(pointer, &entry.key);
                out.push(format!("{pointer} : {:?}", source.slice(entry.key_span)));
                walk(source, &entry.value, pointer, out);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Every span of a tree lies within its parent's and on character boundaries.
pub fn check_spans(source: &Source, node: &Node) {
    let whole = Span::new(0, source.text().len());
    check_within(source, node, whole);
}

fn check_within(source: &Source, node: &Node, outer: Span) {
    let inside = |span: Span| outer.start <= span.start && span.end <= outer.end;
    assert!(inside(node.span), "{:?} is not within {outer:?} of {:?}", node, source.text());
    assert!(source.text().get(node.span.start..node.span.end).is_some());
    match &node.value {
        NodeValue::Seq(items) => items.iter().for_each(|item| check_within(source, item, node.span)),
        NodeValue::Map(entries) => {
            for entry in entries.iter() {
                assert!(inside(entry.key_span));
                check_within(source, &entry.value, node.span);
            }
        }
        _ => {}
    }
}

/// Reads a text that must have nothing wrong with it.
pub fn read_well(name: &str, text: &str) -> (Source, Vec<Node>) {
    let source = Source::new(name, text);
    let Parse { documents, problems } = parse(&source);
    assert!(problems.is_empty(), "{text}\n{:#?}", told(&source, &problems));
    (source, documents)
}

/// The problems of a text.
pub fn problems_of(name: &str, text: &str) -> Vec<String> {
    let source = Source::new(name, text);
    told(&source, &parse(&source).problems)
}
