//! What the reference page says beyond the measured cases: failures, results that are late or missing, refusals, deadlines.
//!
//! Each row: rules, turns in short, findings in shadow, outcomes in shadow, findings in enforce, outcomes in enforce; `=`:
//! as in shadow.

use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Outcome};
use rulestep_engine::dialect::limit::Limit;
use rulestep_engine::dialect::sequence_rules::explain::{Deadline, Progress};
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::monitor::{Depth, StateItem};
use rulestep_engine::run::{Mode, NewCall, Run};

use super::{built, findings, outcomes, policy, replay, session, so_far};

const BEFORE: &str = "rules: [{type: before, first: A, then: B}]";
const ADJACENT: &str = "rules: [{type: immediately_before, first: A, then: B}]";
const AFTER_2: &str = "rules: [{type: after, trigger: A, then: B, within: 2}]";
const AFTER_3: &str = "rules: [{type: after, trigger: A, then: B, within: 3}]";
const SOON_2: &str = "rules: [{type: eventually, tool: A, within: 2}]";
const STRICT: &str = "rules: [{type: sequence, tools: [A, B, C], strict: true}]";
const LOOSE: &str = "rules: [{type: sequence, tools: [A, B, C]}]";
const NEVER: &str = "rules: [{type: never_after, trigger: A, forbidden: B}]";
const ONCE: &str = "rules: [{type: max_calls, tool: A, max: 1}]";

/// The rules of the rows, by name.
const RULES: [(&str, &str); 9] = [
    ("BEFORE", BEFORE),
    ("ADJACENT", ADJACENT),
    ("AFTER_2", AFTER_2),
    ("AFTER_3", AFTER_3),
    ("SOON_2", SOON_2),
    ("STRICT", STRICT),
    ("LOOSE", LOOSE),
    ("NEVER", NEVER),
    ("ONCE", ONCE),
];

const ROWS: &str = "
# A failure satisfies nothing, and is no reason to forget what came before it.
BEFORE   | A! B         | 1 deny before_missing                        | before_missing@1        | = | averted 1
BEFORE   | A A! B       |                                              | held                    | = | =
BEFORE   | B A          | 0 deny before_missing                        | before_late@0           | = | averted 1
# What is on its way, or never ends, may have failed; in the end the late result counts where the call stands.
BEFORE   | A? B         | 1 deny before_missing                        | before_missing@1        | = | averted 1
BEFORE   | A> B         | 1 deny before_missing                        | held                    | = | averted 1
BEFORE   | A> X B       |                                              | held                    | = | =
BEFORE   | A>! X B      | 2 deny before_missing                        | before_missing@2        | = | averted 1
# A refused call never ran; an earlier sibling that succeeded did.
BEFORE   | A- B         | 1 deny before_missing                        | before_missing@1        | = | averted 1
BEFORE   | B-           | 0 deny before_missing                        | NotExercised            | = | averted 1
BEFORE   | A+B          |                                              | held                    | = | =
ADJACENT | A B B        | 2 deny not_adjacent                          | not_adjacent@2          | = | averted 1
ADJACENT | A X B        | 2 deny not_adjacent                          | not_adjacent@2          | = | averted 1
ADJACENT | A- A B- B    |                                              | held                    | = | =
ADJACENT | A! B         | 1 deny not_adjacent                          | not_adjacent@1          | = | averted 1
ADJACENT | A> B X       | 1 deny not_adjacent                          | held                    | = | averted 1
ADJACENT | A>! B X      | 1 deny not_adjacent                          | not_adjacent@1          | = | averted 1
# Triggers and counts take what may have happened.
NEVER    | A! B         | 1 deny after_trigger                         | after_trigger@1         | = | averted 1
NEVER    | A? B         | 1 deny after_trigger                         | after_trigger@1         | = | averted 1
NEVER    | A- B         |                                              | NotExercised            | = | =
ONCE     | A! A? A      | 1 deny max_calls_over; 2 deny max_calls_over | max_calls_over@1        | = | averted 2
ONCE     | A- A         |                                              | held                    | = | =
# A deadline passes with the last call that could have been it, or with the one after a failure.
SOON_2   | X A          |                                              | held                    | = | =
SOON_2   | X Y A        | 1 report deadline_missed                     | deadline_missed@2       | = | =
SOON_2   | X A! Y       | 2 report deadline_missed                     | deadline_missed         | = | =
SOON_2   | X A? Y Z     | 2 report deadline_missed                     | deadline_missed         | = | =
SOON_2   | A> X Y       | 1 report deadline_missed                     | held                    | = | =
SOON_2   | X            |                                              | deadline_missed         | = | =
AFTER_2  | A X B        |                                              | held                    | = | =
AFTER_2  | A X Y B      | 2 report follow_up_missing                   | follow_up_missing@0     | = | =
AFTER_2  | A X B! Y     | 3 report follow_up_missing                   | follow_up_missing@0     | = | =
AFTER_2  | A! X Y       | 2 report follow_up_missing                   | follow_up_missing@0     | = | =
AFTER_2  | A A B X Y    |                                              | held                    | = | =
AFTER_2  | A A X B X    | 2 report follow_up_missing                   | follow_up_missing@0     | = | =
AFTER_2  | A B> X Y     | 2 report follow_up_missing                   | held                    | = | =
AFTER_2  | A B- X Y     | 3 report follow_up_missing                   | follow_up_missing@0     | = | =
# Two deadlines of one rule, of which the later is set while the earlier waits for an answer that fails.
AFTER_3  | A X A B! Y Z | 4 report follow_up_missing; 5 report follow_up_missing | follow_up_missing@0 | = | =
# Steps need success; while one is on its way, what only its success or only its failure allows is denied.
STRICT   | A B C        |                                              | held                    | = | =
STRICT   | A B! B C     |                                              | held                    | = | =
STRICT   | A X B C      | 1 deny sequence_interrupted                  | sequence_interrupted@1  | = | averted 1
STRICT   | A! X A B C   |                                              | held                    | = | =
STRICT   | A? X         | 1 deny sequence_interrupted                  | NotExercised            | = | averted 1
STRICT   | A B> C       | 2 deny sequence_interrupted                  | held                    | = | sequence_cut_short
STRICT   | A B>! C      | 2 deny sequence_interrupted                  | sequence_interrupted@2  | = | sequence_cut_short
STRICT   | A B C X A    |                                              | held                    | = | =
LOOSE    | A? B         | 1 deny sequence_out_of_order                 | sequence_out_of_order@1 | = | averted 1
LOOSE    | A> B         | 1 deny sequence_out_of_order                 | sequence_cut_short      | = | =
LOOSE    | A> B X C     | 1 deny sequence_out_of_order                 | held                    | 1 deny sequence_out_of_order; 3 deny sequence_out_of_order | sequence_cut_short
LOOSE    | A X B! A B C |                                              | held                    | = | =
LOOSE    | C A B        | 0 deny sequence_out_of_order                 | sequence_out_of_order@0 | = | sequence_cut_short
";

#[test]
fn outcomes_and_findings_beyond_the_measured_cases() {
    let mut wrong = Vec::new();
    for row in ROWS.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, turns, in_shadow, ended_shadow, in_enforce, ended_enforce] = cells[..] else {
            panic!("a row has six cells: {row}");
        };
        let rules = RULES.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{row}")).1;
        let or = |cell, same| if cell == "=" { same } else { cell };
        for (mode, said, ended) in [
            (Mode::Shadow, in_shadow, ended_shadow),
            (Mode::Enforce, or(in_enforce, in_shadow), or(ended_enforce, ended_shadow)),
        ] {
            let replay = replay(rules, turns, mode);
            let (found, outcome) = (findings(&replay), outcomes(&replay));
            if (found.as_str(), outcome.as_str()) != (said, ended) {
                wrong.push(format!(
                    "{rules} on `{turns}` {mode:?}: `{found}` `{outcome}`, expected `{said}` `{ended}`"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Results that come in the opposite order count where their calls stand, and cost no more for it.
#[test]
fn answers_that_come_backwards() {
    const PAIRS: u32 = 20_000;
    let session = |backwards: bool| {
        let mut build = Builder::new("s", Origin { file: "s".into(), index: 0, format: "native", line: 1 });
        for pair in 0..PAIRS {
            for tool in ["A", "B"] {
                build.response(None, Body::MISSING, None);
                build.call(Some(&format!("{tool}{pair}")), tool, Body::text("{}"), None);
            }
        }
        // One trigger stays without an answer, so that the rule lists the calls it has read.
        build.response(None, Body::MISSING, None);
        build.call(Some("last"), "A", Body::text("{}"), None);
        let answer = |pair: u32| if backwards { PAIRS - 1 - pair } else { pair };
        for pair in (0..PAIRS).map(answer) {
            build.result(Some(&format!("B{pair}")), Body::text("done"), Mark::default(), None);
        }
        build.finish()
    };
    let policy = policy(AFTER_2);
    let [forwards, backwards] = [false, true].map(|backwards| {
        let ended = rulestep_engine::replay::outcomes(&session(backwards), &policy, Mode::Shadow);
        let [rule] = &ended.rules[..] else { panic!("one rule") };
        assert_eq!(rule.position, Some(PAIRS * 2));
        assert!(rule.calls.iter().copied().eq(0..=PAIRS * 2));
        ended.rules.clone()
    });
    assert_eq!(forwards, backwards);
}

/// A call that matches both sides of `before` is its own `first`, and with a list every tool of it needs one.
#[test]
fn operands_of_before() {
    let own = "aliases: {Any: [A, B]}\nrules: [{type: before, first: B, then: Any}]";
    assert_eq!(findings(&replay(own, "A B A", Mode::Shadow)), "0 deny before_missing");
    assert_eq!(outcomes(&replay(own, "B! A", Mode::Shadow)), "before_missing@1");
    let list = "rules: [{type: before, first: A, then: [B, C]}]";
    assert_eq!(
        findings(&replay(list, "C B A B C", Mode::Shadow)),
        "0 deny before_missing; 1 deny before_missing"
    );
    assert_eq!(outcomes(&replay(list, "X C B A", Mode::Shadow)), "before_late@1");
}

/// Rules that wait for something say so on the way: what is awaited, since when, and how many calls are left.
#[test]
fn deadlines_and_steps_are_seen_on_the_way() {
    let rules = "rules:\n- {type: after, trigger: A, then: B, within: 3}\n- {type: eventually, tool: C, within: 9}\n\
                 - {type: sequence, tools: [A, D, E]}\n- {type: max_calls, tool: A, max: 5}\n- {type: require, tool: D}";
    let (session, policy) = (session("X A A X"), policy(rules));
    let replay = rulestep_engine::replay::Replay::new(&session, &policy, Mode::Enforce);
    let seen: Vec<String> = replay.state_end().iter().map(shown).collect();
    assert_eq!(
        seen,
        [
            "B due since 1: 1 left, 2 open",
            "C due since the start: 5 left, 1 open",
            "1 of 3, then D",
            "A 2 of 5"
        ]
    );
    let pending = so_far(&session, &policy)
        .iter()
        .map(|state| state.outcome == RuleOutcome::Pending)
        .collect::<Vec<_>>();
    assert_eq!(pending, [true, true, true, false, true]);
    let turn_2: Vec<String> = replay.frame(2).unwrap().state.iter().map(shown).collect();
    assert_eq!(turn_2, ["C due since the start: 8 left, 1 open"]);
}

fn shown(item: &StateItem) -> String {
    let StateItem::Kept { facts, .. } = item else { panic!("{item:?}") };
    if let Some(Deadline { tool, since, left, open }) = facts.downcast_ref() {
        let since = since.map_or("the start".to_owned(), |call| call.index.to_string());
        return format!("{tool} due since {since}: {left} left, {open} open");
    }
    if let Some(Progress { done, of, next }) = facts.downcast_ref() {
        return format!("{done} of {of}, then {}", next.as_deref().unwrap_or("-"));
    }
    let Limit { tool, used, allowed } = facts.downcast_ref().unwrap();
    format!("{tool} {used} of {allowed}")
}

/// A tool is hidden when the rule refuses it whatever its arguments.
#[test]
fn narrowing_hides_what_every_argument_would_be_refused() {
    let pattern = |key: &str, tool: &str| format!("{key}: {{tool: {tool}, args_match: {{env: prod}}}}");
    let rows = [
        ("rules: [{type: blocklist, tools: [\"adm*\"]}]".to_owned(), "X", "admin"),
        ("rules: [{type: allowlist, tools: [X, B]}]".to_owned(), "X", "A C admin"),
        (BEFORE.to_owned(), "X", "B"),
        (BEFORE.to_owned(), "A X", ""),
        (format!("rules: [{{type: before, first: A, {}}}]", pattern("then", "B")), "X", ""),
        (format!("rules: [{{type: before, {}, then: B}}]", pattern("first", "A")), "A X", "B"),
        (
            format!(
                "aliases: {{Any: [B, C]}}\nrules: [{{type: before, {}, then: Any}}]",
                pattern("first", "B")
            ),
            "X",
            "C",
        ),
        (ADJACENT.to_owned(), "A X", ""),
        (ADJACENT.to_owned(), "A X X", "B"),
        (NEVER.to_owned(), "A X", "B"),
        (format!("rules: [{{type: never_after, trigger: A, {}}}]", pattern("forbidden", "B")), "A X", ""),
        (ONCE.to_owned(), "A X", "A"),
        (format!("rules: [{{type: max_calls, {}, max: 0}}]", pattern("tool", "A")), "X", ""),
        (STRICT.to_owned(), "A X", "A C X admin"),
        (LOOSE.to_owned(), "A X", "C"),
        (LOOSE.to_owned(), "X X", "B C"),
        ("rules: [{type: require, tool: A}]".to_owned(), "X", ""),
    ];
    for (rules, turns, hidden) in rows {
        let (session, policy) = (session(turns), policy(&rules));
        let mut run = rulestep_engine::run::Run::new(
            &policy,
            Mode::Enforce,
            rulestep_engine::monitor::Depth::Verdict,
            &session.facts,
        );
        for call in session.calls.iter().take(session.calls.len() - 1) {
            run.begin_turn(None);
            let (ticket, _) =
                run.propose(rulestep_engine::run::NewCall { tool: &call.tool, arguments: &call.arguments });
            run.resolve(ticket, call.outcome, &call.output);
            run.end_turn();
        }
        run.begin_turn(None);
        let offered: Vec<std::sync::Arc<str>> = ["A", "B", "C", "X", "admin"].map(Into::into).to_vec();
        let narrowed = run.narrow(&offered);
        let names: Vec<&str> =
            narrowed.iter().filter(|tool| !tool.visible()).map(|tool| &*tool.tool).collect();
        assert_eq!(names.join(" "), hidden, "{rules} after `{turns}` but its last call");
    }
}

/// A rule with `when` applies unless the context says something else.
#[test]
fn rules_that_apply_to_some_sessions() {
    let rules = "rules: [{type: require, tool: A, when: {context.user.role: standard, context.level: 1}}]";
    for (context, outcome) in [
        (None, "required_missing"),
        (Some(serde_json::json!({})), "required_missing"),
        (Some(serde_json::json!({"user": {"role": "standard"}, "level": 1.0})), "required_missing"),
        (Some(serde_json::json!({"user.role": "admin"})), "NotExercised"),
        (Some(serde_json::json!({"user": {"role": "admin"}})), "NotExercised"),
        (Some(serde_json::json!({"user": {"role": "standard"}, "level": "1"})), "NotExercised"),
        (Some(serde_json::json!({"user": null})), "required_missing"),
        (Some(serde_json::json!("standard")), "required_missing"),
    ] {
        let session = built(&[vec![super::Short::parse("X")]], context.clone());
        let replay = rulestep_engine::replay::Replay::new(&session, &policy(rules), Mode::Shadow);
        assert_eq!(outcomes(&replay), outcome, "{context:?}");
    }
}

/// A step that never gets a result must not make the rule keep the whole session.
#[test]
fn a_step_without_a_result_is_kept_for_so_long() {
    let turns = format!("A? {} A B X C", "A? ".repeat(1000));
    let replay = replay(LOOSE, &turns, Mode::Enforce);
    // What may have been the first step makes the second one possible, and it may also not have been.
    assert_eq!(findings(&replay), "");
    assert_eq!(outcomes(&replay), "held");
}

/// Calls that wake no rule are put to those whose deadline passes, in a copy as in the run it was made from.
#[test]
fn a_fork_keeps_its_deadlines() {
    for rule in [AFTER_2, SOON_2.replace("tool: A", "tool: Z").as_str()] {
        let policy = policy(rule);
        let session = session("A X Y");
        let mut run = Run::new(&policy, Mode::Shadow, Depth::Findings, &session.facts);
        let found = |run: &mut Run, tool: &str| {
            run.begin_turn(None);
            let (ticket, decision) = run.propose(NewCall { tool, arguments: &Body::text("{}") });
            let found = decision.findings.len();
            run.resolve(ticket, Outcome::Ok, &Body::text("{}"));
            run.end_turn();
            found
        };
        let mut seen = Vec::new();
        for tool in ["A", "X", "Y"] {
            let mut copy = run.fork();
            seen.push((found(&mut copy, tool), found(&mut run, tool)));
            run = copy.fork();
        }
        let passed = seen.iter().filter(|found| **found == (1, 1)).count();
        assert_eq!(passed, 1, "{rule}: {seen:?}");
        assert!(seen.iter().all(|(copy, run)| copy == run), "{rule}: {seen:?}");
    }
}
