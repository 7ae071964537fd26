//! Changes worked out by hand from the reference pages, every kind, in both modes.

use rulestep_engine::run::Mode::{Enforce, Shadow};

use super::compare;

/// Says nothing about the tools of these sessions.
const NOTHING: &str = "tool: unused\nforbids_after: [unused]\n";
/// `refund` needs a successful `check` in an earlier turn.
const CHECKED: &str = "tool: refund\npreconditions: [{requires_prior_tool: check}]\n";
/// `refund` needs a completed turn.
const LATER: &str = "tool: refund\npreconditions: [{requires_step_count: {gte: 1}}]\n";
/// Nothing is run behind `read`.
const NO_SEND: &str = "forbidden: [{sequence: [read, send], action: deny, reason: r}]\n";

#[test]
fn a_condition_that_is_gone() {
    // The first refund runs under the new version alone, which parts the histories.
    assert_eq!(
        compare(CHECKED, NOTHING, "refund: refund | refund", Enforce),
        [
            "1.1 refund deny → allow newly_allowed primary p.yaml#/preconditions/0",
            "2.1 refund deny → allow newly_allowed downstream counterfactual p.yaml#/preconditions/0",
            "1 refund hidden → visible newly_visible primary p.yaml#/preconditions/0",
            "2 refund hidden → visible newly_visible downstream counterfactual p.yaml#/preconditions/0",
        ]
    );
    // In `shadow` both ran under both, and a session is never stopped.
    assert_eq!(
        compare(CHECKED, NOTHING, "refund: refund | refund", Shadow),
        [
            "1.1 refund deny → allow newly_allowed primary p.yaml#/preconditions/0",
            "2.1 refund deny → allow newly_allowed primary p.yaml#/preconditions/0",
            "1 refund hidden → visible newly_visible primary p.yaml#/preconditions/0",
            "2 refund hidden → visible newly_visible primary p.yaml#/preconditions/0",
        ]
    );
}

#[test]
fn a_condition_that_is_new() {
    assert_eq!(
        compare(NOTHING, CHECKED, "refund: refund | check | refund", Enforce),
        [
            "1.1 refund allow → deny newly_blocked primary p.yaml#/preconditions/0",
            "1 refund visible → hidden newly_hidden primary p.yaml#/preconditions/0",
            "2 refund visible → hidden newly_hidden downstream counterfactual p.yaml#/preconditions/0",
        ]
    );
    assert_eq!(
        compare(NOTHING, CHECKED, "refund | check | refund", Shadow),
        ["1.1 refund allow → deny newly_blocked primary p.yaml#/preconditions/0"]
    );
}

#[test]
fn a_sibling_that_is_forbidden_at_once() {
    // `close` runs under both, so what it forbids to its sibling is the new version's own doing.
    let new = "tool: close\nforbids_after: [void]\n";
    assert_eq!(
        compare(NOTHING, new, "close void", Enforce),
        ["1.2 void allow → deny newly_blocked primary p.yaml#/forbids_after/0",]
    );
}

#[test]
fn what_follows_from_a_stopped_sibling() {
    // Without `read` there is nothing behind which `send` would be forbidden; both versions forbid it there.
    let new = "forbidden: [{sequence: [read], action: deny, reason: r}, {sequence: [read, send], action: deny, reason: r}]\n";
    assert_eq!(
        compare(NO_SEND, new, "read send", Enforce),
        [
            "1.2 send deny → allow newly_allowed downstream p.yaml#/forbidden/0",
            "1.1 read allow → deny newly_blocked primary p.yaml#/forbidden/0",
        ]
    );
    assert_eq!(
        compare(NO_SEND, new, "read send", Shadow),
        ["1.1 read allow → deny newly_blocked primary p.yaml#/forbidden/0"]
    );
}

#[test]
fn a_denial_that_becomes_a_halt() {
    let deny = "forbidden: [{sequence: [wipe], action: deny, reason: r}]\n";
    let halt = "forbidden: [{sequence: [wipe], action: halt, reason: r}]\n";
    assert_eq!(
        compare(deny, halt, "wipe: look | wipe | look wipe", Enforce),
        [
            "2.1 wipe deny → halt harder primary p.yaml#/forbidden/0",
            "3.1 look allow → not_reached now_unreached downstream counterfactual p.yaml#/forbidden/0",
            "3.2 wipe deny → not_reached now_unreached downstream counterfactual p.yaml#/forbidden/0",
        ]
    );
    assert_eq!(
        compare(halt, deny, "look | wipe | look wipe", Enforce),
        [
            "2.1 wipe halt → deny softer primary p.yaml#/forbidden/0",
            "3.1 look not_reached → allow now_reached downstream counterfactual p.yaml#/forbidden/0",
            "3.2 wipe not_reached → deny now_reached downstream counterfactual p.yaml#/forbidden/0",
        ]
    );
    // In `shadow` deciding goes on after a halt.
    assert_eq!(
        compare(deny, halt, "look | wipe | look wipe", Shadow),
        [
            "2.1 wipe deny → halt harder primary p.yaml#/forbidden/0",
            "3.2 wipe deny → halt harder primary p.yaml#/forbidden/0",
        ]
    );
}

#[test]
fn another_reason_parts_nothing_where_nobody_reads_it() {
    // `refund` stays stopped, for another reason; the later `refund` is the versions' own difference.
    assert_eq!(
        compare(CHECKED, LATER, "refund | x | refund", Enforce),
        [
            "3.1 refund deny → allow newly_allowed primary counterfactual p.yaml#/preconditions/0",
            "1.1 refund deny → deny other_reason primary p.yaml#/preconditions/0",
        ]
    );
}

#[test]
fn another_reason_parts_what_is_read() {
    // The plan reads what the model was told of the refund: under the base, that a prior tool is missing.
    let plan = "---\ntool: send\nrejectionPlan:\n  conditions:\n    \
                - {type: regex, regex: prior_tool_missing, target: {position: 2}}\n";
    let (base, new) = (format!("{CHECKED}{plan}"), format!("{LATER}{plan}"));
    assert_eq!(
        compare(&base, &new, "refund | send | refund", Enforce),
        [
            "2.1 send deny → allow newly_allowed downstream counterfactual p.yaml#1/rejectionPlan",
            "3.1 refund deny → allow newly_allowed downstream counterfactual p.yaml#/preconditions/0",
            "1.1 refund deny → deny other_reason primary p.yaml#/preconditions/0",
        ]
    );
    assert_eq!(
        compare(&base, &new, "refund | send | refund", Shadow),
        [
            "3.1 refund deny → allow newly_allowed primary p.yaml#/preconditions/0",
            "1.1 refund deny → deny other_reason primary p.yaml#/preconditions/0",
        ]
    );
    // Without a result nothing is put in its place, so nothing was read.
    assert_eq!(
        compare(&base, &new, "refund? | x | refund", Enforce),
        [
            "3.1 refund deny → allow newly_allowed primary counterfactual p.yaml#/preconditions/0",
            "1.1 refund deny → deny other_reason primary p.yaml#/preconditions/0",
        ]
    );
}

#[test]
fn what_was_refused_then_runs_under_no_version() {
    assert_eq!(
        compare(CHECKED, NOTHING, "refund- | refund", Enforce),
        [
            "1.1 refund deny → allow newly_allowed primary p.yaml#/preconditions/0",
            "2.1 refund deny → allow newly_allowed primary counterfactual p.yaml#/preconditions/0",
        ]
    );
}

#[test]
fn rules_about_sessions() {
    let wanted = |tool: &str| format!("rules: [{{type: require, tool: {tool}}}]\n");
    let (send, sign) = (wanted("send"), wanted("sign"));
    for mode in [Enforce, Shadow] {
        assert_eq!(
            compare(&send, &sign, "send", mode),
            [
                "end pass → fail outcome_changed primary",
                "end held → violated outcome_changed primary p.yaml#/rules/0",
            ]
        );
        // A rule that is not there is not violated; that a new one holds is no change.
        let both = "rules: [{type: require, tool: sign}, {type: require, tool: send}]\n";
        assert_eq!(
            compare(both, &send, "send", mode),
            [
                "end fail → pass outcome_changed primary",
                "end violated → none outcome_changed primary p.yaml#/rules/0",
            ]
        );
        assert_eq!(compare(&send, both, "send sign", mode), [""; 0]);
    }
}

#[test]
fn a_halted_turn_narrows_no_more() {
    let halt = "forbidden: [{sequence: [wipe], action: halt, reason: r}]\n";
    let blocked = "forbidden: [{sequence: [wipe], action: halt, reason: r}, {sequence: [send], action: deny, reason: r}]\n";
    // The narrowing of the turn in which the session ends still counts, that of later turns does not.
    assert_eq!(
        compare(halt, blocked, "send: x | wipe | x", Enforce),
        [
            "1 send visible → hidden newly_hidden primary p.yaml#/forbidden/1",
            "2 send visible → hidden newly_hidden primary p.yaml#/forbidden/1",
        ]
    );
}

#[test]
fn the_recording_as_the_base() {
    // Its own gate refused the first `refund` and let the others pass.
    assert_eq!(
        compare("recorded", CHECKED, "refund: refund- | refund | check | refund", Enforce),
        ["2.1 refund allow → deny newly_blocked primary p.yaml#/preconditions/0"]
    );
    assert_eq!(
        compare("recorded", NOTHING, "refund- | refund- | x", Enforce),
        [
            "1.1 refund deny → allow newly_allowed primary",
            "2.1 refund deny → allow newly_allowed primary counterfactual",
        ]
    );
    let halt = "forbidden: [{sequence: [wipe], action: halt, reason: r}]\n";
    assert_eq!(
        compare("recorded", halt, "wipe | x x-", Enforce),
        [
            "1.1 wipe allow → halt newly_blocked primary p.yaml#/forbidden/0",
            "2.1 x allow → not_reached now_unreached downstream counterfactual p.yaml#/forbidden/0",
        ]
    );
    assert_eq!(
        compare("recorded", halt, "wipe | x x-", Shadow),
        [
            "2.2 x deny → allow newly_allowed primary",
            "1.1 wipe allow → halt newly_blocked primary p.yaml#/forbidden/0",
        ]
    );
}

#[test]
fn a_session_that_ends_under_one_version_narrows_no_more() {
    let halt = "forbidden: [{sequence: [wipe], action: halt, reason: r}]\n";
    let blocked = "forbidden: [{sequence: [send], action: deny, reason: r}]\n";
    for (base, new, first, second) in [
        (halt, blocked, "1.1 wipe halt → allow newly_allowed", "1 send visible → hidden newly_hidden"),
        (blocked, halt, "1.1 wipe allow → halt newly_blocked", "1 send hidden → visible newly_visible"),
    ] {
        let changes = compare(base, new, "send: wipe | x | x", Enforce);
        assert!(changes[0].starts_with(first), "{changes:#?}");
        let narrowed: Vec<_> = changes.iter().filter(|change| change.contains(" send ")).collect();
        assert_eq!(narrowed.len(), 1, "{changes:#?}");
        assert!(narrowed[0].starts_with(second), "{changes:#?}");
    }
}

/// What stands beside a halt was proposed with it and did not run: no recording says what it would have done.
#[test]
fn siblings_of_a_halt_are_counterfactual() {
    let halt = "forbidden: [{sequence: [wipe], action: halt, reason: r}]\n";
    assert_eq!(
        compare("recorded", halt, "wipe x", Enforce),
        [
            "1.1 wipe allow → halt newly_blocked primary p.yaml#/forbidden/0",
            "1.2 x allow → not_reached now_unreached downstream counterfactual p.yaml#/forbidden/0",
        ]
    );
}

/// A rule that passes no judgement on the call still found something: nobody should have to compare two replays to see it.
#[test]
fn calls_that_a_rule_only_reports() {
    let within = |within: u8| format!("rules: [{{type: eventually, tool: sign, within: {within}}}]\n");
    let (one, two) = (within(1), within(2));
    for mode in [Enforce, Shadow] {
        // The deadline passes with the first call, or with the second; both are allowed.
        assert_eq!(
            compare(&one, &two, "send | send | sign", mode),
            [
                "2.1 send allow → report newly_reported primary p.yaml#/rules/0",
                "1.1 send report → allow no_longer_reported primary p.yaml#/rules/0",
            ]
        );
        // A rule that is gone reports nothing, and one that is new may.
        let none = "rules: [{type: require, tool: send}]\n";
        let gone = compare(&one, none, "send | send", mode);
        assert_eq!(
            gone.last().unwrap(),
            "1.1 send report → allow no_longer_reported primary p.yaml#/rules/0"
        );
        let new = compare(none, &one, "send | send", mode);
        assert_eq!(new.last().unwrap(), "1.1 send allow → report newly_reported primary p.yaml#/rules/0");
        // That a call is stopped now says all of it.
        let stopped = "rules: [{type: blocklist, tools: [send]}]\n";
        let stops = compare(&one, stopped, "send", mode);
        assert!(stops.iter().any(|change| change.contains("newly_blocked")), "{stops:#?}");
        assert!(!stops.iter().any(|change| change.contains("reported")), "{stops:#?}");
    }
    // A recording says nothing of rules.
    assert_eq!(compare("recorded", &one, "send | sign", Enforce), [""; 0]);
}

/// The change is about the rule of the version that was stricter.
#[test]
fn a_softer_answer_is_about_the_rule_that_was_stricter() {
    let halt = "forbidden: [{sequence: [wipe], action: halt, reason: r}]\n";
    let deny = "forbidden: [{sequence: [other], action: deny, reason: r}, {sequence: [wipe], action: deny, reason: r}]\n";
    assert_eq!(
        compare(halt, deny, "wipe", Enforce),
        ["1.1 wipe halt → deny softer primary p.yaml#/forbidden/0"]
    );
    assert_eq!(
        compare(deny, halt, "wipe", Enforce),
        ["1.1 wipe deny → halt harder primary p.yaml#/forbidden/0"]
    );
}

/// The session still breaks the rule, and no longer fails for it: that is what a reviewer must see first.
#[test]
fn session_rules_that_are_no_longer_enforced() {
    let of_rules = |mut changes: Vec<String>| {
        changes.retain(|change| change.contains("p.yaml") && change.starts_with("end"));
        changes
    };
    let within = |options: &str| format!("rules: [{{type: eventually, tool: sign, within: 1{options}}}]\n");
    let (enforced, shadow) = (within(""), within(", mode: shadow"));
    assert_eq!(
        of_rules(compare(&enforced, &shadow, "send | send", Enforce)),
        ["end violated → reported outcome_changed primary p.yaml#/rules/0"]
    );
    assert_eq!(
        of_rules(compare(&shadow, &enforced, "send | send", Enforce)),
        ["end reported → violated outcome_changed primary p.yaml#/rules/0"]
    );
    assert!(of_rules(compare(&shadow, &shadow, "send | send", Enforce)).is_empty());
}
