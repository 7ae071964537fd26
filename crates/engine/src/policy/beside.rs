//! Which files of a version are read where a document names them, and so not separately.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cases;
use crate::dialect::beside::{Beside, BesideText, clean, path};
use crate::dialect::{self, Dialect};
use rulestep_base::source::{Node, Parse, Source, parse};

/// The texts that other documents name. A text that names others itself is always read separately: otherwise two that
/// name each other would both be lost.
pub(super) fn beside(texts: &[(Source, Option<Parse>)], only: Option<&Dialect>) -> Beside {
    let (mut named, mut naming) = (BTreeMap::new(), BTreeSet::new());
    for (source, parsed) in texts {
        let documents = parsed.iter().flat_map(|parsed| &parsed.documents);
        for (dialect, written) in documents.flat_map(|node| references(node, only)) {
            naming.insert(clean(source.name()));
            named.insert(path(source.name(), &written), dialect);
        }
    }
    let mut beside = Beside::default();
    for (source, parsed) in texts {
        let name = clean(source.name());
        if let Some(dialect) = named.get(&name).filter(|_| !naming.contains(&name)) {
            // Whatever is named must be read, or be an error.
            let parsed = parsed.as_ref().map_or_else(|| Cow::Owned(parse(source)), Cow::Borrowed);
            let documents = parsed.documents.iter().enumerate().filter(|(_, node)| !node.is_null());
            let documents = documents.map(|(index, node)| (node.clone(), prefix(source.name(), index)));
            beside.add(BesideText { source: source.clone(), documents: documents.collect(), dialect });
        }
    }
    beside
}

/// Prefix of the ids of a document's rules. Those of a file's first document stay when another is added after it.
pub(super) fn prefix(file: &str, index: usize) -> String {
    match index {
        0 => format!("{file}#"),
        index => format!("{file}#{index}"),
    }
}

/// The files that documents of a text name, as they are written there: [`super::Policy::load`] needs them as well.
pub fn named_in(name: &str, text: &str) -> Vec<Arc<str>> {
    // Most texts name none, and need not be read twice for that. A key may be written by the codes of its letters.
    let is_key = |rest: &str| rest.trim_start_matches(['"', '\'', ' ', '\t', '\r', '\n']).starts_with(':');
    let has_key =
        |key: &str| text.match_indices(key).any(|(at, _)| text.get(at + key.len()..).is_some_and(is_key));
    let mut keys = dialect::DIALECTS.iter().filter_map(|dialect| dialect.references.as_ref());
    let is_coded = [r"\x", r"\u", r"\U"].iter().any(|code| text.contains(code));
    if !is_coded && !keys.any(|references| has_key(references.key)) || cases::are_all_of(name, text) {
        return Vec::new();
    }
    let documents = parse(&Source::new(name, text)).documents;
    documents.iter().flat_map(|node| references(node, None)).map(|(_, written)| written).collect()
}

fn references(node: &Node, only: Option<&Dialect>) -> Vec<(&'static str, Arc<str>)> {
    let dialect = dialect::of(node).filter(|dialect| only.is_none_or(|only| only.name == dialect.name));
    let named = dialect.and_then(|dialect| {
        let written = (dialect.references.as_ref()?.of)(node);
        Some(written.into_iter().map(|written| (dialect.name, written)).collect())
    });
    named.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_however_the_key_is_written() {
        let test = |key: &str| {
            format!("tests: [{{id: a, expected: {{type: sequence_valid, {key}: rules.yaml}}}}]\n")
        };
        for key in ["policy", "\"policy\"", "'policy' ", "\"p\\x6flicy\"", "\"\\u0070olicy\""] {
            assert_eq!(named_in("t.yaml", &test(key)), ["rules.yaml".into()], "{key}");
        }
        assert!(named_in("t.yaml", &test("other")).is_empty());
    }
}
