//! What the crates show each other is used: of items that are `pub`, rustc does not say when nobody names them.
//! Items are known by their names alone, so one that shares its name with another that is used is not found.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;

use super::sources;

/// Every word of the code in a folder, with how often it occurs.
fn count(folder: &Path, words: &mut BTreeMap<String, usize>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count(&path, words);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for word in
                code.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
            {
                *words.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
}

#[test]
fn no_public_item_is_named_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut words = BTreeMap::new();
    ["src", "crates", "tests", "benches", "fuzz/fuzz_targets"]
        .iter()
        .for_each(|folder| count(&root.join(folder), &mut words));
    let item = Regex::new(r"(?m)^\s*pub (?:const |async )*(?:fn|struct|enum|trait|const|static|type) (\w+)")
        .unwrap();
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        for found in item.captures_iter(&source.text) {
            defined.entry(found[1].to_owned()).or_default().push(source.shown());
        }
    }
    assert!(defined.len() > 2_000, "{} items", defined.len());
    let unused: Vec<_> = defined.iter().filter(|(name, places)| words[*name] <= places.len()).collect();
    assert!(unused.is_empty(), "nobody uses {unused:#?}");
}
