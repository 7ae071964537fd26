//! Texts with names, places in them, and the documents read from them.
//!
//! A [`Source`] is a file's text under the name people know it by; a [`Span`] is a part of it in bytes; a
//! [`Position`] is where that part begins, as an editor counts. [`parse`] turns YAML or JSON into [`Node`]s
//! of which every key and value knows its span, and lists what is wrong with the text beside them.
//!
//! This room knows nothing of policies, and reads no files.

mod build;
pub mod edit;
pub mod fields;
pub mod inline;
pub mod json;
pub mod nearest;
mod node;
mod problem;
mod scalar;
pub mod tape;
mod text;
pub mod wildcard;
pub mod yaml;

pub use fields::{Field, Fields};
pub use node::{Entry, Node, NodeValue, pointer_push, pointer_segments};
pub use problem::{Parse, Problem, ProblemKind, quoted};
pub use text::{Position, Source, Span, floor_boundary, is_unseen};

/// Reads the documents of a source: JSON if its name ends in `.json`, YAML otherwise.
pub fn parse(source: &Source) -> Parse {
    if is_json(source) { json::parse(source) } else { yaml::parse(source) }
}

/// Whether a source is named as JSON.
pub fn is_json(source: &Source) -> bool {
    source.name().rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_how_a_source_is_read() {
        let flow = "{a: 1}";
        assert!(parse(&Source::new("a.yaml", flow)).problems.is_empty());
        assert!(!parse(&Source::new("a.JSON", flow)).problems.is_empty());
    }
}
