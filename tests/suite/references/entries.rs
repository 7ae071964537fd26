//! The entry of every key: its parts, an example, and a name by which `explain` has it.

use rulestep_engine::dialect::lookup::{Reference, paths};

use super::*;

fn pages() -> impl Iterator<Item = &'static Reference> {
    DIALECTS.iter().map(|dialect| Reference::of(dialect).unwrap())
}

/// The items of a page, each as one line, without those of the section of differences.
fn written(page: &str) -> Vec<String> {
    let (page, _) = page.split_once("\n# Differences").unwrap();
    let joined = page.replace("\n  ", " ");
    let items = joined.lines().filter_map(|line| line.strip_prefix("- `")).filter(|item| item.contains("`:"));
    items.map(str::to_owned).collect()
}

/// `KEY: TYPE, PRESENCE. MEANING.`
#[test]
fn every_item_says_type_presence_and_meaning() {
    let form =
        regex::Regex::new(r"^[^:]+`: ([^.]|\.[^ ])*?[^.,], (required|optional|default [^ ].*?)\. [`A-Z]")
            .unwrap();
    let mut wrong = Vec::new();
    for dialect in DIALECTS {
        let items = written(dialect.reference);
        assert!(items.len() > 10, "{}", dialect.name);
        wrong.extend(items.into_iter().filter(|item| !form.is_match(item)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for found in pages().flat_map(Reference::keys) {
        let key = found.key;
        assert!(!key.form.is_empty() && key.meaning.ends_with('.'), "{}: {key:?}", found.path());
        assert!(!found.reference.follows.is_empty());
    }
}

/// Read as data, a page has the places and the keys that a reader of the page finds on it.
#[test]
fn the_data_of_a_page_is_what_is_written() {
    for page in pages() {
        let mut read: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for section in &page.sections {
            let keys = section.keys.iter().map(|key| key.name.to_owned()).collect();
            assert!(read.insert(section.place.to_owned(), keys).is_none(), "{}", section.place);
        }
        assert_eq!(read, listed(page.dialect.reference), "{}", page.dialect.name);
    }
}

#[test]
fn every_key_has_an_example() {
    let without = pages().flat_map(Reference::keys).filter(|found| found.example().is_none());
    let without: Vec<String> = without.map(|found| found.path()).collect();
    assert!(without.is_empty(), "{without:#?}");
}

/// What has a difference is a key, and all that is within it differs as well.
#[test]
fn differences_are_about_keys() {
    for page in pages() {
        let (_, section) =
            page.dialect.reference.split_once("\n# Differences from the published system\n").unwrap();
        let section = section.split("\n# ").next().unwrap();
        let items = section.lines().filter_map(|line| line.strip_prefix("- `"));
        let named = items.flat_map(|item| item.split_once("`:").unwrap().0.split("`, `"));
        let named: BTreeSet<String> = named.map(|key| format!("{}.{key}", page.dialect.name)).collect();
        let differs =
            |path: &str| page.keys().any(|found| found.path() == path && found.difference().is_some());
        assert!(named.iter().all(|path| differs(path)), "{named:#?}");
        for found in page.keys() {
            let path = found.path();
            let within = named.iter().any(|one| {
                path.strip_prefix(one.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            assert_eq!(found.difference().is_some(), within, "{path}");
        }
        assert!(!named.is_empty());
    }
}

/// A call by what it does, and rows about programs, are additions of Rulestep wherever a page has them.
#[test]
fn additions_are_not_said_to_be_published() {
    let published = ["sequence_rule.rules.CALL.tool", "sequence_rule.rules.CALL.args_match"];
    let mut seen = 0;
    for found in pages().flat_map(Reference::keys) {
        let path = found.path();
        if (path.contains(".CALL.") || path.contains(".facts.")) && !published.contains(&path.as_str()) {
            let difference = found.difference().unwrap_or_default();
            assert!(difference.starts_with("additions by Rulestep"), "{path}: {difference:?}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

/// What is taken out of a page for a terminal are signs of bold text, and no pattern.
#[test]
fn patterns_of_two_stars_are_kept() {
    for dialect in DIALECTS {
        let mut out = Vec::new();
        rulestep::report::reference::text(dialect.reference, &Default::default(), &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        let patterns = |text: &str| text.matches("`**`").count();
        assert_eq!(patterns(&shown), patterns(dialect.reference), "{}", dialect.name);
        assert!(!shown.contains("``"), "{}", dialect.name);
        assert!(!shown.contains("**Names.**"), "{}", dialect.name);
    }
}

/// Each path is that of one key, and asking for it gives that key alone.
#[test]
fn every_key_is_found_by_its_path() {
    assert_eq!(paths().iter().collect::<BTreeSet<_>>().len(), paths().len());
    for page in pages() {
        for found in page.keys() {
            let path = found.path();
            let asked = path.split_once('.').unwrap().1;
            let again: Vec<String> = page.named(asked).iter().map(|found| found.path()).collect();
            assert_eq!(again, [path.as_str()], "{path}");
            // As the document has it: items by their number, and no word of the kind.
            let written =
                asked.replace("preconditions.", "preconditions[0].").replace("limits.*.", "limits.");
            assert!(page.named(&written).iter().any(|found| found.path() == path), "{written}");
        }
    }
}

#[test]
fn keys_are_found_as_documents_have_them() {
    let found = |dialect: &str, asked: &str| -> Vec<String> {
        let page = Reference::of(named(dialect).unwrap()).unwrap();
        page.named(asked).iter().map(|found| found.path()).collect()
    };
    assert_eq!(
        found("contract", "preconditions[].resource.prior.path"),
        ["contract.preconditions.resource.prior.path"]
    );
    assert_eq!(found("sequence_rule", "sequences.before.then"), ["sequence_rule.rules.before.then"]);
    assert_eq!(
        found("sequence_rule", "rules.within"),
        ["sequence_rule.rules.eventually.within", "sequence_rule.rules.after.within"]
    );
    assert_eq!(
        found("sequence_rule", "tests.rules[0].then.args_match"),
        ["sequence_rule.rules.CALL.args_match"]
    );
    assert_eq!(
        found("rejection_plan", "rejectionPlan.conditions.regex"),
        ["rejection_plan.conditions.regex.regex"]
    );
    for nothing in [
        "requires_prior_tool",
        "preconditions.tool",
        "",
        ".",
        "preconditions.",
        "nowhere.tool",
        "preconditions..match",
    ] {
        assert_eq!(found("contract", nothing), [""; 0], "{nothing}");
    }
}

#[test]
fn an_entry_alone_says_on_which_page_the_rest_is() {
    let mut pointed = 0;
    for found in pages().flat_map(Reference::keys) {
        let (meaning, dialect) = (&found.key.meaning, found.reference.dialect.name);
        let beside = ["\" below", "\" above"].iter().any(|there| meaning.contains(there));
        assert!(!beside, "{}: {meaning}", found.path());
        pointed += usize::from(meaning.contains(&format!("\" in `rulestep explain {dialect}`")));
    }
    assert!(pointed > 5, "{pointed}");
}
