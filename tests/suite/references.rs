//! The reference page of each dialect says what its reader does: the same keys, examples that load, every code.
//!
//! Every mapping of every example on a page is given a key that nobody knows. Its reader then lists the keys that it
//! does know there, and these must be the ones that the page lists for this place.

mod described;
mod entries;
pub mod exact;
pub mod schemas;

use std::collections::{BTreeMap, BTreeSet};

use rulestep_base::diagnostic::{Diagnostic, PageKind, code};
use rulestep_base::source::{Source, parse};
use rulestep_engine::dialect::{self, DIALECTS, Dialect, named};
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};
use serde_json::{Value, json};

/// A key that is near to none.
const STRANGER: &str = "zzzz_nobody_knows";

/// Where a rule names a call: `CALL` in the headings of the pages.
const CALLS: &[&str] = &[
    "tool",
    "first",
    "first[]",
    "then",
    "then[]",
    "trigger",
    "forbidden",
    "until",
    "call",
    "tools[]",
    "requires_prior_tool",
    "requires_prior_tool[]",
];

/// An example of a page.
struct Example {
    /// What its first line calls it, or a name of its own.
    name: String,
    text: String,
}

/// The examples of a page, in order.
fn examples(page: &str) -> Vec<Example> {
    let fences: Vec<&str> = page.split("```").collect();
    assert!(fences.len() % 2 == 1, "a fence is not closed");
    let fenced = fences.iter().skip(1).step_by(2).enumerate();
    fenced
        .map(|(place, block)| {
            let text = block.strip_prefix("yaml\n").unwrap_or_else(|| panic!("not YAML: {block}"));
            let named = text
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("# "))
                .filter(|name| name.ends_with(".yaml"));
            Example {
                name: named.map_or(format!("example-{place}.yaml"), str::to_owned),
                text: text.to_owned(),
            }
        })
        .collect()
}

/// Loads a text together with the examples that it names.
fn load(name: &str, text: &str, examples: &[Example]) -> LoadResult {
    let file = |name: &str, text: &str| PolicyFile {
        name: name.into(),
        relative: name.into(),
        text: text.into(),
        named: true,
    };
    let beside = examples.iter().filter(|other| other.name != name && text.contains(&other.name));
    let files: Vec<PolicyFile> =
        [file(name, text)].into_iter().chain(beside.map(|other| file(&other.name, &other.text))).collect();
    Policy::load(&files, None)
}

/// The keys that a page lists, by the place in its heading: `preconditions[].resource`, `rules[type=before]`, `.`.
fn listed(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut here: Option<String> = None;
    // An item of a list as one line.
    for line in page.replace("\n  ", " ").lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            let place = heading.rsplit_once("(`").and_then(|(_, rest)| rest.strip_suffix("`)"));
            here = place.map(str::to_owned);
            places.extend(here.clone().map(|place| (place, BTreeSet::new())));
        } else if let (Some(place), Some(item)) = (&here, line.strip_prefix("- `")) {
            // `key`: …, or several keys with one meaning. What comes before the colon is keys alone.
            let Some((keys, _)) = item.split_once("`:") else { continue };
            let keys = keys.split("`, `").map(str::to_owned);
            places.get_mut(place).unwrap().extend(keys);
        }
    }
    places
}

/// Every mapping of a value, with the way to it.
fn mappings<'v>(value: &'v Value, pointer: String, out: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(members) => {
            out.push((pointer.clone(), value));
            for (key, member) in members {
                mappings(member, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                mappings(item, format!("{pointer}/{place}"), out);
            }
        }
        _ => {}
    }
}

/// One step of the way to a mapping: a key, `[]` behind it for an item of a list, and the item's own `type`.
struct Step {
    key: String,
    kind: Option<String>,
}

impl Step {
    /// Whether a step of a heading's place is this one.
    fn is(&self, wanted: &str) -> bool {
        // These are read as if they were called otherwise.
        let key = self.key.replace("sequences[]", "rules[]").replace("assertions[]", "expected");
        let key = key.replace("runs[]", "runs");
        let typed = self.kind.as_ref().map(|kind| key.replace("[]", &format!("[type={kind}]")));
        wanted == "*"
            || wanted == key
            || typed.as_deref() == Some(wanted)
            || wanted == "CALL" && CALLS.contains(&&*key)
    }
}

/// The sections of a page that are about a mapping: those of the whole way to it, else those of its end.
fn sections<'p>(
    document: &Value,
    pointer: &str,
    page: &'p BTreeMap<String, BTreeSet<String>>,
) -> Vec<&'p String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut at = document;
    for step in pointer.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        if let Value::Array(items) = at {
            at = &items[key.parse::<usize>().unwrap()];
            let last = steps.last_mut().unwrap();
            last.key.push_str("[]");
            last.kind = at.get("type").and_then(Value::as_str).map(str::to_owned);
        } else {
            at = &at[&key];
            steps.push(Step { key, kind: None });
        }
    }
    if steps.is_empty() {
        return page.keys().filter(|place| *place == ".").collect();
    }
    let about = |place: &str, end: &[Step]| {
        let place: Vec<&str> = place.split('.').collect();
        place.len() == end.len() && end.iter().zip(place).all(|(step, wanted)| step.is(wanted))
    };
    (0..steps.len())
        .map(|from| page.keys().filter(|place| about(place, &steps[from..])).collect::<Vec<_>>())
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn check(dialect: &Dialect) {
    let (name, page) = (dialect.name, listed(dialect.reference));
    let examples = examples(dialect.reference);
    // What readers know at the places of the page, all examples taken together.
    let mut known: BTreeMap<Vec<&String>, BTreeSet<String>> = BTreeMap::new();
    for example in &examples {
        let source = Source::new(example.name.as_str(), example.text.as_str());
        let document = parse(&source).documents[0].to_json();
        let mut found = Vec::new();
        mappings(&document, String::new(), &mut found);
        for (pointer, _) in found {
            let mut edited = document.clone();
            edited.pointer_mut(&pointer).unwrap()[STRANGER] = json!(1);
            let loaded = load(&example.name, &edited.to_string(), &examples);
            let unknown =
                |told: &&Diagnostic| told.code == code::UNKNOWN_KEY && told.message.contains(STRANGER);
            let places = sections(&document, &pointer, &page);
            match loaded.diagnostics.iter().find(unknown) {
                Some(told) => {
                    assert!(!places.is_empty(), "{name}: the page has no section for {pointer}");
                    let list = told.help.as_deref().and_then(|help| help.strip_prefix("known here: "));
                    let list = list.unwrap_or_else(|| panic!("{name}: {pointer}: no keys are named: {told}"));
                    let keys = list.split(", ").map(|key| key.trim_matches('`').to_owned());
                    known.entry(places).or_default().extend(keys);
                }
                // Keys of the author's own, or an object that only contains a plan.
                None => assert!(
                    places.iter().all(|place| page[*place].is_empty()) || document.get("tool").is_none(),
                    "{name}: {pointer} takes any key, and the page lists some"
                ),
            }
        }
    }
    for (places, known) in &known {
        let listed: BTreeSet<String> = places.iter().flat_map(|place| page[*place].iter().cloned()).collect();
        assert_eq!(
            *known, listed,
            "{name}: keys of {places:?}: left, those of the reader; right, of the page"
        );
    }
    let probed: BTreeSet<&String> = known.into_keys().flatten().collect();
    assert_eq!(
        page.keys().collect::<BTreeSet<_>>(),
        probed,
        "{name}: left, the page's sections; right, those in examples"
    );
}

#[test]
fn the_pages_list_the_keys_that_the_readers_know() {
    DIALECTS.iter().for_each(check);
}

#[test]
fn every_example_loads_without_a_diagnostic() {
    for dialect in DIALECTS {
        let examples = examples(dialect.reference);
        assert!(examples.len() > 1, "{}", dialect.name);
        for example in &examples {
            let loaded = load(&example.name, &example.text, &examples);
            let told: Vec<String> =
                loaded.diagnostics.iter().map(|told| format!("{:?}: {told}", told.severity)).collect();
            assert!(told.is_empty(), "{}: {}: {told:#?}", dialect.name, example.text);
            let policy = loaded.policy.expect("no error");
            assert!(
                policy.documents().iter().all(|document| document.dialect == dialect.name),
                "{}",
                example.text
            );
        }
    }
}

/// The `# Codes` section names codes alone, and between them the pages name each code that a rule can give.
#[test]
fn every_finding_code_is_on_a_page() {
    let mut named = BTreeSet::new();
    for dialect in DIALECTS {
        let (_, codes) = dialect.reference.split_once("\n# Codes\n").expect(dialect.name);
        for word in codes.split('`').skip(1).step_by(2).filter(|word| !word.contains(' ')) {
            assert!(dialect::page(word).is_some(), "{}: there is no code {word}", dialect.name);
            named.insert(word);
        }
    }
    let codes = dialect::codes().filter(|page| page.kind == PageKind::Finding).map(|page| page.code.as_str());
    let missing: Vec<&str> = codes.filter(|code| !named.contains(code)).collect();
    assert!(missing.is_empty(), "on no page: {missing:?}");
}

/// Each dialect's page names the dialect's own codes.
#[test]
fn every_code_of_a_dialect_is_on_its_page() {
    for dialect in DIALECTS {
        let missing: Vec<&str> = dialect.codes.iter().map(|page| page.code.as_str()).collect();
        let missing: Vec<&str> =
            missing.into_iter().filter(|code| !dialect.reference.contains(&format!("`{code}`"))).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", dialect.name);
    }
}

/// The keys of the publisher that the page of contracts names are known to its reader: skipped, or refused by name.
#[test]
fn the_publishers_keys_are_known() {
    let page = named("contract").unwrap().reference;
    let (_, section) = page.split_once("\n# Keys of published contracts\n").unwrap();
    let section = section.split("\n# ").next().unwrap();
    let words = section.split('`').skip(1).step_by(2);
    let mut seen = 0;
    for key in words.filter(|word| rulestep_engine::dialect::page(word).is_none() && *word != "assertions") {
        let value = json!({"anything": [1]});
        let value = if key.ends_with("put_invariants") { json!({key: [1]}) } else { value };
        let key = if key.ends_with("put_invariants") { "assertions" } else { key };
        let contract = json!({"tool": "a", "forbids_after": ["b"], key: value});
        let loaded = load("a.json", &contract.to_string(), &[]);
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|told| told.code.as_str()).collect();
        assert!(matches!(codes[..], ["runner_keys" | "not_enforced"]), "{key}: {codes:?}");
        seen += 1;
    }
    assert_eq!(seen, 21);
}

/// A page is found by what people call the dialect.
#[test]
fn dialects_are_known_by_their_plurals() {
    for (written, name) in [
        ("contracts", "contract"),
        ("sequence_policies", "sequence_policy"),
        ("Tool policies", "tool_policy"),
        ("rejection-plans", "rejection_plan"),
        ("sequence_rules", "sequence_rule"),
    ] {
        assert_eq!(rulestep_engine::dialect::meant(written).map(|dialect| dialect.name), Some(name));
        assert_eq!(rulestep_engine::dialect::meant(name).map(|dialect| dialect.name), Some(name));
    }
    assert!(named("contracts").is_none(), "documents use the one name");
}
