//! What files and documents make a version, and what their rules are called.

use rulestep_base::diagnostic::code;
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};

fn load(text: &str) -> LoadResult {
    let file =
        PolicyFile { name: "a.yaml".into(), relative: "a.yaml".into(), text: text.into(), named: false };
    Policy::load(&[file], None)
}

#[test]
fn the_first_document_keeps_its_ids_when_others_follow() {
    let alone = "tool: a\nforbids_after: [b]\n";
    let ids = |text: &str| -> Vec<String> {
        let policy = load(text).policy.unwrap();
        policy.rules().iter().map(|(_, rule)| rule.id.to_string()).collect()
    };
    assert_eq!(ids(alone), ["a.yaml#/forbids_after/0"]);
    assert_eq!(
        ids(&format!("{alone}---\ntool: c\nforbids_after: [b]\n")),
        ["a.yaml#/forbids_after/0", "a.yaml#1/forbids_after/0"]
    );
    // Empty documents count for the place, and for nothing else.
    assert_eq!(
        ids(&format!("{alone}---\n# nothing\n---\ntool: c\nforbids_after: [b]\n---\n")),
        ["a.yaml#/forbids_after/0", "a.yaml#2/forbids_after/0"]
    );
    let codes = |text: &str| -> Vec<_> { load(text).diagnostics.iter().map(|told| told.code).collect() };
    assert_eq!(codes(&format!("{alone}---\nother: 1\n")), [code::UNRECOGNISED_DOCUMENT]);
}

#[test]
fn a_contract_with_a_misspelt_tool_is_not_passed_by() {
    for text in ["tol: a\nforbids_after: [b]\n", "Tool: a\npreconditions: [{requires_prior_tool: b}]\n"] {
        let loaded = load(text);
        assert!(loaded.policy.is_none(), "{text}");
        assert!(loaded.diagnostics.iter().any(|told| told.code == code::UNKNOWN_KEY), "{text}");
    }
}

#[test]
fn a_file_that_is_named_twice_is_one() {
    let file = |name: &str, relative: &str, named: bool| PolicyFile {
        name: name.into(),
        relative: relative.into(),
        text: format!("tool: {}\nforbids_after: [x]\n", name.replace('/', "_")).into(),
        named,
    };
    let ids = |files: &[PolicyFile]| -> Vec<String> {
        let policy = Policy::load(files, None).policy.unwrap();
        policy.rules().iter().map(|(_, rule)| rule.id.to_string()).collect()
    };
    let (a, b) = (file("p/sub/a.yaml", "sub/a.yaml", false), file("q/sub/a.yaml", "sub/a.yaml", false));
    let again = file("p/sub/a.yaml", "a.yaml", true);
    let wanted = ["p/sub/a.yaml#/forbids_after/0", "q/sub/a.yaml#/forbids_after/0"];
    assert_eq!(ids(&[a.clone(), b.clone()]), wanted);
    assert_eq!(ids(&[b.clone(), a.clone()]), wanted);
    assert_eq!(ids(&[a, b, again]), wanted);
}

/// Where one file ends and the next begins is part of what a version is.
#[test]
fn the_digest_knows_where_texts_end() {
    let file = |name: &str, text: &str| PolicyFile {
        name: name.into(),
        relative: name.into(),
        text: text.into(),
        named: false,
    };
    let digest = |files: &[PolicyFile]| Policy::load(files, None).policy.unwrap().digest().to_string();
    let second = "tool: b\nforbids_after: [x]\n";
    let one = [file("a.yaml", "tool: a\nforbids_after: [x]\n# z"), file("b.yaml", second)];
    let other = [file("a.yaml", "tool: a\nforbids_after: [x]\n# "), file("zb.yaml", second)];
    assert_ne!(digest(&one), digest(&other), "a letter went from the end of a text to the name that follows");
}
