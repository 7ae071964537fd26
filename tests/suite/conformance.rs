//! The cases in `tests/cases`: what each policy language means, readable as documentation.
//!
//! Each expectation was derived from the reference pages before it was run. The files are what `rulestep test` reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulestep::case::judge::judge;
use rulestep::case::read::read;
use rulestep::case::{Aspect, Case, Fact};
use rulestep_base::diagnostic::{PageKind, Severity};
use rulestep_base::source::Source;
use rulestep_engine::dialect::{self, meant};
use rulestep_engine::policy::Policy;

use super::cases::session;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The cases of a folder, each with its policy.
fn cases(folder: &str) -> Vec<(Case, Arc<Policy>)> {
    let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.ends_with(".case.yaml"), "{folder}/{name}");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# "), "{folder}/{name} does not begin with what it is about");
        let read = read(&Source::new(format!("{folder}/{name}"), text), true);
        let errors: Vec<_> =
            read.diagnostics.iter().filter(|told| told.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        for case in read.cases {
            assert!(case.description.is_some() && case.policy.is_empty(), "{}", case.title());
            let loaded = Policy::load(&case.documents, None);
            let policy =
                loaded.policy.unwrap_or_else(|| panic!("{}: {:#?}", case.title(), loaded.diagnostics));
            all.push((case, policy));
        }
    }
    all
}

/// The same expectation, wrong.
fn falsified(fact: &Fact) -> Fact {
    match fact {
        Fact::Nothing => Fact::Word("something".into()),
        Fact::Word(word) => Fact::Word(format!("{word}?").into()),
        Fact::Words(words) => Fact::Words(words.iter().cloned().chain(["something".into()]).collect()),
        Fact::Number(number) => Fact::Number(number + 1),
    }
}

/// All cases of a folder are met, and each expectation in them is one that fails when it is wrong. What the folder's
/// cases find must be on the page of its dialect.
fn check(folder: &str, fewest: usize) {
    let cases = cases(folder);
    assert!(cases.len() >= fewest, "{folder} has {} cases", cases.len());
    let page = meant(folder).map(|dialect| dialect.reference);
    for (case, policy) in &cases {
        let place = format!("{}:{}", case.source.name(), case.line());
        let judged = judge(case, session(case), policy);
        for answer in &judged.answers {
            let want = &case.expect[answer.expectation].wants[answer.want];
            let line = case.source.position(want.key_span.start).line;
            assert!(answer.met, "{place}: line {line}: {} is {:?}", want.aspect.key(), answer.got);
            if let (Some(page), Fact::Word(code), Aspect::Code | Aspect::Violation) =
                (page, &want.expected, &want.aspect)
            {
                let dialect = policy
                    .documents()
                    .iter()
                    .all(|document| Some(document.dialect) == meant(folder).map(|dialect| dialect.name));
                assert!(
                    !dialect || page.contains(&format!("`{code}`")),
                    "{place}: {code} is not on the page"
                );
            }
        }
        let mut wrong = case.clone();
        wrong
            .expect
            .iter_mut()
            .flat_map(|expected| &mut expected.wants)
            .for_each(|want| want.expected = falsified(&want.expected));
        let judged = judge(&wrong, session(case), policy);
        assert!(judged.answers.iter().all(|answer| !answer.met), "{place}: a wrong expectation is met");
    }
}

#[test]
fn contracts() {
    check("contracts", 30);
}

#[test]
fn sequence_policies() {
    check("sequence_policies", 15);
}

#[test]
fn tool_policies() {
    check("tool_policies", 20);
}

#[test]
fn rejection_plans() {
    check("rejection_plans", 20);
}

#[test]
fn sequence_rules() {
    check("sequence_rules", 30);
}

#[test]
fn decisions() {
    check("decisions", 12);
}

/// A code that no case meets would be documented by its page alone.
#[test]
fn every_finding_code_is_met_by_a_case() {
    let mut met = BTreeSet::from(["rule_fault".to_owned()]);
    let folders = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name());
    // Tables of shell commands, lists of calls and edits of rules have tests of their own, and so has the gate's own guard.
    met.insert("self_guard".to_owned());
    for folder in folders.filter(|folder| folder != "shell" && folder != "coding" && folder != "edits") {
        for (case, _) in cases(folder.to_str().unwrap()) {
            for want in case.expect.iter().flat_map(|expected| &expected.wants) {
                match &want.expected {
                    Fact::Word(word) => drop(met.insert(word.to_string())),
                    Fact::Words(words) => met.extend(words.iter().map(|word| word.to_string())),
                    _ => {}
                }
            }
        }
    }
    let codes = dialect::codes().filter(|page| page.kind == PageKind::Finding).map(|page| page.code.as_str());
    let missing: Vec<&str> = codes.filter(|code| !met.contains(*code)).collect();
    assert!(missing.is_empty(), "in no case: {missing:?}");
}

/// A policy in the case itself keeps its lines, and several have names of their own.
#[test]
fn documents_in_a_case_keep_their_places() {
    let text = "policy:\n  - {tool: ä, preconditions: [{requires_prior_tool: check}]}  # one\n  - limits:\n      \
                pay: {maxPerSession: 0, action: deny, reason: a:b}\nsession: [{role: assistant, tool_calls: [{name: pay}]}]\n\
                expect: {call: 1.1, decision: deny, rule: '#/limits/pay'}\n";
    let read = read(&Source::new("a.case.yaml", text), true);
    let case = &read.cases[0];
    let policy = Policy::load(&case.documents, None).policy.unwrap();
    let places: Vec<String> = policy
        .rules()
        .iter()
        .map(|(_, rule)| {
            let at = rule.source.position(rule.span.start);
            format!("{} {}:{}", rule.id, at.line, at.column)
        })
        .collect();
    assert_eq!(places, ["a.case.yaml#/preconditions/0 2:31", "a.case.yaml#1#/limits/pay 4:12"]);
    assert!(judge(case, session(case), &policy).passes());
}
