//! Any text as a document to be migrated: what is written anew is current, and holds the same rules.

#![no_main]

use std::sync::Arc;

use rulestep_engine::dialect;
use rulestep_engine::dialect::sequence_rules::migrate::migrate;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_base::source::Source;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let name = if text.trim_start().starts_with('{') { "fuzz.json" } else { "fuzz.yaml" };
    let Ok(migrated) = migrate(&Source::new(name, text.as_ref())) else { return };
    let again = migrate(&Source::new(name, migrated.text.as_str())).expect("what was migrated is readable");
    assert!(again.changes.is_empty(), "a second time changes {:?}", again.changes);
    assert_eq!(again.text, migrated.text);
    if let Some(before) = rules(name, &text) {
        assert_eq!(rules(name, &migrated.text).expect("what loaded before loads now"), before);
    }
});

/// The rules of a document, where it loads: their kinds, and the tests they belong to.
fn rules(name: &str, text: &str) -> Option<Vec<(&'static str, Option<Arc<str>>)>> {
    let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
    let policy = Policy::load(&[file], dialect::named("sequence_rule")).policy?;
    Some(policy.rules().iter().map(|(_, rule)| (rule.kind, rule.test.clone())).collect())
}
