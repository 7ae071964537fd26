//! Which rule of one version is which of the other, and what that makes of a denial that stays one.

use std::sync::Arc;

use rulestep::compare::{Base, Comparison};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

use super::{all, compare, files, session, version};

/// `BASE → NEW` for every rule of either version, an edited pair with `*`.
fn pairs(base: &Arc<Policy>, new: &Arc<Policy>) -> Vec<String> {
    let comparison = Comparison::new(Base::Version(Arc::clone(base)), Arc::clone(new));
    let rules = comparison.rules();
    let mut pairs = Vec::new();
    for (id, rule) in base.rules().iter() {
        let other = rules.in_new(id);
        assert!(other.is_none_or(|other| rules.in_base(other) == Some(id)));
        let other = other.map_or("–".to_owned(), |other| new.rules().get(other).unwrap().id.to_string());
        pairs.push(format!("{} → {other}{}", rule.id, if rules.is_edited(id) { " *" } else { "" }));
    }
    for (id, rule) in new.rules().iter().filter(|(id, _)| rules.in_base(*id).is_none()) {
        assert!(base.rules().iter().all(|(old, _)| rules.in_new(old) != Some(id)));
        pairs.push(format!("– → {}", rule.id));
    }
    pairs
}

fn contract(preconditions: &str) -> String {
    format!("tool: pay\npreconditions: [{preconditions}]\n")
}

#[test]
fn a_rule_that_moved_is_itself() {
    let a = "{requires_prior_tool: a}";
    let b = "{requires_prior_tool: b, match: any}";
    let b_again = "{match: any, requires_prior_tool: \"b\"}  ";
    let at = |index: usize| format!("p.yaml#/preconditions/{index}");
    for (base, new, expected) in [
        (
            b.to_owned(),
            format!("{a}, {b_again}"),
            vec![format!("{} → {}", at(0), at(1)), format!("– → {}", at(0))],
        ),
        (format!("{a}, {b}"), b.to_owned(), vec![format!("{} → –", at(0)), format!("{} → {}", at(1), at(0))]),
        (
            format!("{a}, {b}"),
            format!("{b}, {a}"),
            vec![format!("{} → {}", at(0), at(1)), format!("{} → {}", at(1), at(0))],
        ),
        (
            a.to_owned(),
            "{requires_prior_tool: a, match: any}".to_owned(),
            vec![format!("{0} → {0} *", at(0))],
        ),
        (a.to_owned(), "{requires_step_count: {gte: 1}}".to_owned(), vec![format!("{0} → {0} *", at(0))]),
        (format!("{a}, {a}"), a.to_owned(), vec![format!("{0} → {0}", at(0)), format!("{} → –", at(1))]),
    ] {
        assert_eq!(pairs(&version(&contract(&base)), &version(&contract(&new))), expected, "{base} / {new}");
    }
}

#[test]
fn a_file_is_known_by_its_path_within_the_version() {
    let (pay, send) = ("tool: pay\nforbids_after: [pay]\n", "tool: send\nforbids_after: [send]\n");
    let base = files(&[("a.yaml", pay), ("b.yaml", send)]);
    // Renamed, and edited under another name; `tool` says which contract it is.
    let new = files(&[("a.yaml", send), ("c.yaml", pay)]);
    assert_eq!(
        pairs(&base, &new),
        [
            "a.yaml#/forbids_after/0 → c.yaml#/forbids_after/0",
            "b.yaml#/forbids_after/0 → a.yaml#/forbids_after/0",
        ]
    );
    let new = files(&[
        ("d.yaml", "tool: pay\nforbids_after: [send]\n"),
        ("e.yaml", "tool: x\nforbids_after: [x]\n"),
    ]);
    assert_eq!(
        pairs(&base, &new),
        [
            "a.yaml#/forbids_after/0 → d.yaml#/forbids_after/0 *",
            "b.yaml#/forbids_after/0 → –",
            "– → e.yaml#/forbids_after/0",
        ]
    );
}

#[test]
fn a_document_behind_another_is_another() {
    let rules = |tool: &str| format!("rules: [{{type: require, tool: {tool}}}]\n");
    let base = version(&rules("a"));
    let new = version(&format!("{}---\n{}", rules("b"), rules("a")));
    assert_eq!(pairs(&base, &new), ["p.yaml#/rules/0 → p.yaml#1/rules/0", "– → p.yaml#/rules/0"]);
}

#[test]
fn a_moved_rule_is_no_other_reason() {
    let b = "{requires_prior_tool: b}";
    let steps = "{requires_step_count: {gte: 0}}";
    let (plain, moved) = (contract(b), contract(&format!("{steps}, {b}")));
    assert_eq!(compare(&plain, &moved, "pay", Mode::Enforce), [""; 0]);
    // The same pointer and the same code, but another rule.
    let (a, both) = (contract("{requires_prior_tool: a}, {requires_prior_tool: b}"), contract(b));
    assert_eq!(
        compare(&a, &both, "pay", Mode::Enforce),
        ["1.1 pay deny → deny other_reason primary p.yaml#/preconditions/0"]
    );
    // Tightened: the same rule as before.
    let tight = contract("{requires_prior_tool: b, with_output: [{path: $.x, equals: 1}]}");
    assert_eq!(compare(&plain, &tight, "pay", Mode::Enforce), [""; 0]);
}

#[test]
fn what_is_told_is_part_of_the_reason() {
    let rule =
        |told: &str| format!("forbidden: [{{sequence: [x], action: deny, reason: r, tellLLM: {told}}}]\n");
    assert_eq!(
        compare(&rule("no"), &rule("never"), "x", Mode::Enforce),
        ["1.1 x deny → deny other_reason primary p.yaml#/forbidden/0"]
    );
}

#[test]
fn one_version_has_no_changes_and_is_not_replayed() {
    let text = contract("{requires_prior_tool: b}");
    let comparison = Comparison::new(Base::Version(version(&text)), version(&text));
    assert!(comparison.is_same());
    let compared = comparison.session(&session("pay"), Mode::Enforce);
    assert!(
        all(&compared, &comparison).is_empty() && compared.replay(rulestep::compare::Side::New).is_none()
    );
    // Another layout is another text, and still no change.
    let comparison = Comparison::new(Base::Version(version(&text)), version(&format!("# pay\n{text}")));
    assert!(!comparison.is_same());
    assert!(comparison.session(&session("pay: pay"), Mode::Enforce).changes().is_empty());
}

/// Which of two that are alike was meant, nobody knows: they are not paired across files, and within one each is its own.
#[test]
fn what_could_be_either_is_neither() {
    let limit = |tool: &str, max: u32| format!("rules: [{{type: max_calls, tool: {tool}, max: {max}}}]\n");
    let (a, b, c) = (limit("a", 1), limit("b", 1), limit("c", 1));
    let base = files(&[("a.yaml", &a), ("b.yaml", &b)]);
    assert_eq!(
        pairs(&base, &files(&[("c.yaml", &c)])),
        ["a.yaml#/rules/0 → –", "b.yaml#/rules/0 → –", "– → c.yaml#/rules/0"]
    );
    assert_eq!(
        pairs(&files(&[("c.yaml", &c)]), &base),
        ["c.yaml#/rules/0 → –", "– → a.yaml#/rules/0", "– → b.yaml#/rules/0"]
    );
    let (a, b) = (limit("a", 2), limit("b", 2));
    assert_eq!(
        pairs(&base, &files(&[("a.yaml", &a), ("b.yaml", &b)])),
        ["a.yaml#/rules/0 → a.yaml#/rules/0 *", "b.yaml#/rules/0 → b.yaml#/rules/0 *"]
    );
}
