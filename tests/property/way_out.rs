//! Ways out: each answer replays as allowed, nothing shorter is found by trying all short sequences of calls, and where there
//! is said to be none, trying them finds none either.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::edit::apply;
use rulestep_base::session::{Body, Origin, Outcome, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, NewCall, Run, Verdict};
use rulestep_engine::way_out::{Answer, way_out};

const TOOLS: [&str; 4] = ["a", "b", "c", "d"];
const GOAL: &str = r#"{"order_id": 1, "path": "f"}"#;
/// Moves that the brute force may make for one call.
const BUDGET: u32 = 3000;
/// Calls after which states are looked at, where each state is followed once.
const DEEP: usize = 12;

/// Documents, then calls: tool, order, whether the result is good, whether the turn goes on.
type Case = (Vec<String>, Vec<(&'static str, u8, u8, bool)>);

fn tool() -> impl Strategy<Value = &'static str> {
    select(&TOOLS[..])
}

/// A rule that stops nothing is no obstacle.
fn options() -> impl Strategy<Value = &'static str> {
    prop_oneof![5 => Just(""), 1 => Just(", mode: shadow")]
}

fn contract(tool: &'static str) -> impl Strategy<Value = String> {
    let output = select(vec![
        "",
        ", with_output: [{path: $.ok, equals: true}]",
        ", with_output: [{path: $.n, gte: 2, lte: 3}]",
        ", with_output: [{path: $.n, gte: 2}, {path: $.n, lte: 1}]",
    ]);
    let bound = select(vec!["", ", resource: {bind_from: arguments, path: $.order_id}"]);
    let prior = (self::tool(), bound, output, options()).prop_map(|(prior, bound, output, options)| {
        format!("{{requires_prior_tool: {prior}{bound}{output}{options}}}")
    });
    let steps = (1..5, options())
        .prop_map(|(least, options)| format!("{{requires_step_count: {{gte: {least}}}{options}}}"));
    let preconditions = vec(prop_oneof![5 => prior, 1 => steps], 0..3);
    (preconditions, vec((self::tool(), options()), 0..2)).prop_map(move |(preconditions, forbids)| {
        let forbids: Vec<String> =
            forbids.iter().map(|(tool, options)| format!("{{tool: {tool}{options}}}")).collect();
        format!(
            "{{tool: {tool}, preconditions: [{}], forbids_after: [{}]}}",
            preconditions.join(", "),
            forbids.join(", ")
        )
    })
}

fn document() -> impl Strategy<Value = String> {
    let pattern = prop_oneof![tool().prop_map(str::to_owned), Just("{namePrefix: \"\"}".to_owned())];
    let sequence = vec(pattern, 1..4).prop_map(|sequence| {
        format!("{{forbidden: [{{sequence: [{}], action: deny, reason: r}}]}}", sequence.join(", "))
    });
    let limit = (tool(), 0..3).prop_map(|(tool, most)| {
        format!("{{limits: {{{tool}: {{maxPerSession: {most}, action: deny, reason: r}}}}}}")
    });
    let dependencies = (tool(), subsequence(&TOOLS[..], 1..3)).prop_map(|(tool, needs)| {
        format!(
            "{{policies: [{{type: sequential_dependency, dependencies: {{{tool}: [{}]}}}}]}}",
            needs.join(", ")
        )
    });
    let files = (tool(), tool()).prop_map(|(read, write)| {
        format!(
            "{{existing_files: [f], policies: [{{type: read_before_write, read_tools: [{read}], write_tools: [{write}]}}]}}"
        )
    });
    let order =
        (select(vec!["before", "immediately_before"]), tool(), tool()).prop_map(|(kind, first, then)| {
            format!("{{rules: [{{type: {kind}, first: {first}, then: {then}}}]}}")
        });
    let never = (tool(), tool()).prop_map(|(trigger, forbidden)| {
        format!("{{rules: [{{type: never_after, trigger: {trigger}, forbidden: {forbidden}}}]}}")
    });
    let most = (tool(), 0..3)
        .prop_map(|(tool, max)| format!("{{rules: [{{type: max_calls, tool: {tool}, max: {max}}}]}}"));
    let walk = (subsequence(&TOOLS[..], 2..4), any::<bool>()).prop_map(|(tools, strict)| {
        format!("{{rules: [{{type: sequence, tools: [{}], strict: {strict}}}]}}", tools.join(", "))
    });
    prop_oneof![3 => sequence, 2 => limit, 2 => dependencies, 2 => files, 2 => order, 1 => never, 1 => most, 1 => walk]
}

fn case() -> impl Strategy<Value = Case> {
    let contracts: Vec<_> = TOOLS.iter().map(|tool| weighted(0.5, contract(tool))).collect();
    let documents = (contracts, vec(document(), 0..3))
        .prop_map(|(contracts, others)| contracts.into_iter().flatten().chain(others).collect());
    let call = (tool(), 1u8..3, 0u8..4, prop::bool::weighted(0.2));
    (documents, vec(call, 1..7))
}

fn policy(documents: &[String]) -> Option<Arc<Policy>> {
    let files: Vec<PolicyFile> = documents
        .iter()
        .enumerate()
        .map(|(nth, text)| {
            let name: Arc<str> = format!("p{nth}.yaml").into();
            PolicyFile { name: Arc::clone(&name), relative: name, text: text.as_str().into(), named: true }
        })
        .collect();
    Policy::load(&files, None).policy
}

fn session(calls: &[(&'static str, u8, u8, bool)]) -> Arc<Session> {
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let (mut builder, mut waiting) = (Builder::new("s", origin), Vec::new());
    for (nth, (tool, order, result, goes_on)) in calls.iter().enumerate() {
        if waiting.is_empty() {
            builder.response(None, Body::text("next"), None);
        }
        let id = format!("c{nth}");
        builder.call(Some(&id), tool, Body::json(&format!(r#"{{"order_id": {order}, "path": "f"}}"#)), None);
        waiting.push((id, *result));
        if !goes_on || nth + 1 == calls.len() {
            for (id, result) in waiting.drain(..) {
                let (text, error) = match result {
                    0 => (r#"{"ok": true, "n": 2}"#, false),
                    1 => (r#"{"ok": false, "n": 9}"#, false),
                    2 => ("failed", true),
                    _ => continue,
                };
                builder.result(Some(&id), Body::text(text), Mark { error, refused: None }, None);
            }
        }
    }
    Arc::new(builder.finish())
}

/// Tries sequences of calls and of turns without any, each in a turn of its own, by length.
struct Brute<'a> {
    goal: NewCall<'a>,
    moves: &'a [Option<(&'static str, Outcome, Body)>],
    arguments: Body,
    left: u32,
}

impl Brute<'_> {
    fn allows(&self, run: &Run) -> bool {
        let mut run = run.fork();
        run.begin_turn(None);
        run.propose(self.goal).1.verdict == Verdict::Allow
    }

    /// Whether some sequence of this length helps. `None`: there were too many to try.
    fn helps(&mut self, run: &Run, length: u32) -> Option<bool> {
        if length == 0 {
            return Some(self.allows(run));
        }
        for step in self.moves {
            self.left = self.left.checked_sub(1)?;
            if let Some(next) = self.after(run, step)
                && self.helps(&next, length - 1)?
            {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The run after a turn with this call, if it is allowed.
    fn after(&self, run: &Run, step: &Option<(&'static str, Outcome, Body)>) -> Option<Run> {
        let mut next = run.fork();
        next.begin_turn(None);
        if let Some((tool, outcome, output)) = step {
            let (ticket, decision) = next.propose(NewCall { tool, arguments: &self.arguments });
            if decision.verdict != Verdict::Allow {
                return None;
            }
            next.resolve(ticket, *outcome, output);
        }
        next.end_turn();
        Some(next)
    }

    /// Whether some sequence of at most this length helps, where states that are alike are followed once: the first time,
    /// which is after the fewest calls. `None`: there were too many to try.
    fn helps_within(&mut self, start: &Run, most: usize) -> Option<bool> {
        let calls: Vec<NewCall<'_>> = self
            .moves
            .iter()
            .flatten()
            .map(|(tool, ..)| *tool)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|tool| NewCall { tool, arguments: &self.arguments })
            .chain([self.goal])
            .collect();
        let mut level = vec![start.fork()];
        let mut seen: HashSet<Vec<u8>> = level.iter_mut().filter_map(|run| run.digest(&calls)).collect();
        for length in 0..=most {
            if level.iter().any(|run| self.allows(run)) {
                return Some(true);
            }
            if length == most || level.is_empty() {
                break;
            }
            let mut further = Vec::new();
            for run in &level {
                for step in self.moves {
                    self.left = self.left.checked_sub(1)?;
                    let Some(mut next) = self.after(run, step) else { continue };
                    if next.digest(&calls).is_none_or(|digest| seen.insert(digest)) {
                        further.push(next);
                    }
                }
            }
            level = further;
        }
        Some(false)
    }
}

/// What was tried and found.
#[derive(Debug, Default)]
struct Tally {
    stopped: u32,
    after: u32,
    never: u32,
    unknown: u32,
    /// Answers of which every shorter sequence was tried.
    shortest: u32,
    /// Of those without a way out, where every sequence of six was tried.
    exhausted: u32,
    /// Of those without a way out, where that was done or every state that twice as many calls lead to was tried.
    alike: u32,
}

fn examine((documents, calls): &Case, mode: Mode, tally: &mut Tally) {
    let Some(policy) = policy(documents) else { return };
    let session = session(calls);
    let replay = Replay::new(&session, &policy, mode);
    let context = || format!("{mode:?}\n{}\n{calls:?}", documents.join("\n"));
    for call in &session.calls {
        let stopped = replay.call(call.at.index).is_some_and(|decided| decided.decision.verdict.stops());
        let Some(way) = way_out(&replay, call.at.index) else {
            assert!(!stopped, "no answer about {:?}\n{}", call.at, context());
            continue;
        };
        assert!(stopped);
        tally.stopped += 1;
        let good = Body::text(r#"{"ok": true, "n": 2}"#);
        let named = TOOLS.into_iter().filter(|tool| {
            documents
                .iter()
                .any(|text| text.contains(&format!(" {tool}")) || text.contains(&format!("[{tool}")))
        });
        let mut moves = vec![None, Some(("other", Outcome::Ok, good.clone()))];
        moves.extend(named.map(|tool| Some((tool, Outcome::Ok, good.clone()))));
        moves.extend(TOOLS.first().map(|tool| Some((*tool, Outcome::Error, Body::text("failed")))));
        let mut brute = Brute {
            goal: NewCall { tool: &call.tool, arguments: &call.arguments },
            moves: &moves,
            arguments: match call.arguments.raw().contains('2') {
                true => call.arguments.clone(),
                false => Body::json(GOAL),
            },
            left: BUDGET,
        };
        let start = replay.run_before(call.at.index).unwrap();
        match &way.answer {
            Answer::After(steps) => {
                tally.after += 1;
                let edited = apply(&session, &way.edits());
                let judged = Replay::new(&edited.session, &policy, mode);
                let now = edited.call(call.at.index).unwrap();
                let verdict = |index| judged.call(index).unwrap().decision.verdict;
                assert_eq!(verdict(now), Verdict::Allow, "{way:?}\n{}", context());
                for added in &edited.added {
                    assert_eq!(verdict(*added), Verdict::Allow, "{way:?}\n{}", context());
                }
                assert_eq!(edited.added.len(), steps.iter().filter(|step| step.call.is_some()).count());
                for step in steps {
                    assert!(!step.rules.is_empty(), "a step for no rule: {way:?}\n{}", context());
                }
                let all = (0..(steps.len() as u32).min(5)).all(|length| match brute.helps(&start, length) {
                    Some(helps) => {
                        assert!(!helps, "{length} are enough: {way:?}\n{}", context());
                        true
                    }
                    None => false,
                });
                tally.shortest += u32::from(all);
            }
            Answer::Never(obstacle) => {
                tally.never += 1;
                let named = policy.rules().get(obstacle.rule).unwrap();
                assert!(named.options.is_enforced(), "{} stops nothing\n{}", named.id, context());
                let all = (0..=6).all(|length| match brute.helps(&start, length) {
                    Some(helps) => {
                        assert!(!helps, "{length} help: {way:?}\n{}", context());
                        true
                    }
                    None => false,
                });
                tally.exhausted += u32::from(all);
                // Where there are too many sequences, at least one to each state.
                brute.left = BUDGET;
                let helps = brute.helps_within(&start, DEEP);
                assert_ne!(helps, Some(true), "some sequence helps: {way:?}\n{}", context());
                tally.alike += u32::from(all || helps.is_some());
            }
            Answer::NotWithin(_) => tally.unknown += 1,
            Answer::Said(_) => panic!("nothing depends on what is said"),
        }
    }
}

/// The rule that a way out names is one that stops the call, also where one that only reports speaks against it first.
#[test]
fn what_stops_nothing_is_no_obstacle() {
    for (weak, strong) in [
        ("{tool: b, forbids_after: [{tool: a, mode: shadow}]}", "{tool: c, forbids_after: [a]}"),
        ("{tool: b, forbids_after: [{tool: a, effect: report}]}", "{tool: c, forbids_after: [a]}"),
        (
            "{tool: a, preconditions: [{requires_prior_tool: b, with_output: [{path: $.n, gte: 2}, {path: $.n, lte: 1}], mode: shadow}]}",
            "{rules: [{type: blocklist, tools: [a]}]}",
        ),
        (
            "{limits: {a: {maxPerSession: 0, action: deny, reason: r, mode: shadow}}}",
            "{limits: {a: {maxPerSession: 0, action: deny, reason: r}}}",
        ),
        (
            "{forbidden: [{sequence: [a], action: deny, reason: r, mode: shadow}]}",
            "{rules: [{type: blocklist, tools: [a]}]}",
        ),
        (
            "{rules: [{type: max_calls, tool: a, max: 0, mode: shadow}]}",
            "{rules: [{type: blocklist, tools: [a]}]}",
        ),
    ] {
        let documents = [weak.to_owned(), strong.to_owned()];
        let policy = policy(&documents).expect(weak);
        let session = session(&[("b", 1, 0, false), ("c", 1, 0, false), ("a", 1, 0, false)]);
        let way = way_out(&Replay::new(&session, &policy, Mode::Enforce), 2).expect(weak);
        let Answer::Never(obstacle) = way.answer else { panic!("{weak}: {way:?}") };
        let rule = policy.rules().get(obstacle.rule).unwrap();
        assert!(rule.place().starts_with("p1.yaml"), "{weak}: {}", rule.place());
    }
}

#[test]
fn every_way_out_is_allowed_and_none_is_shorter() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let (mut runner, mut tally) = (TestRunner::new_with_rng(config, rng), Tally::default());
    let (cases, mut drawn) = (case(), 0);
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500);
    while tally.stopped < wanted {
        let case = cases.new_tree(&mut runner).unwrap().current();
        examine(&case, if drawn % 3 == 0 { Mode::Shadow } else { Mode::Enforce }, &mut tally);
        drawn += 1;
    }
    println!("{drawn} policies and sessions: {tally:?}");
    assert!(tally.after * 5 > tally.stopped && tally.never * 5 > tally.stopped, "{tally:?}");
    assert!(tally.shortest * 10 > tally.after * 9, "{tally:?}");
    assert!(tally.exhausted * 5 > tally.never, "{tally:?}");
    assert!(tally.alike * 100 >= tally.never * 95, "{tally:?}");
    assert!(tally.unknown * 50 <= tally.stopped, "{tally:?}");
}

/// Commands of which rules ask what they do, look-alikes, and what nobody knows.
const COMMANDS: [&str; 9] = [
    "cargo test",
    "cargo test --quiet && git push",
    "git push",
    "git push origin main",
    "cat .env",
    "cat notes.md",
    "curl https://example.org",
    "echo 'cargo test'",
    "$RUN x",
];

fn matcher() -> impl Strategy<Value = &'static str> {
    select(vec![
        "runs: {program: cargo, args: [test]}",
        "runs: {program: git, args: [push]}",
        "reads: .env",
        "reaches: '*'",
        "runs: {program: cat}",
    ])
}

fn rule_of_commands() -> impl Strategy<Value = String> {
    let unsure = select(vec!["", ", unsure: allow", ", unsure: deny"]);
    let before = (matcher(), matcher(), unsure).prop_map(|(first, then, unsure)| {
        format!("{{type: before, first: {{{first}}}, then: {{{then}}}{unsure}}}")
    });
    let ended = select(vec!["", ", ended: ok"]);
    let never = (matcher(), ended, matcher(), weighted(0.3, Just(", unsure: allow"))).prop_map(
        |(trigger, ended, forbidden, unsure)| {
            let unsure = unsure.unwrap_or_default();
            format!(
                "{{type: never_after, trigger: {{{trigger}{ended}}}, forbidden: {{{forbidden}}}{unsure}}}"
            )
        },
    );
    let most = (matcher(), 0..3)
        .prop_map(|(tool, max)| format!("{{type: max_calls, tool: {{{tool}}}, max: {max}}}"));
    prop_oneof![4 => before, 2 => never, 1 => most].prop_map(|rule| format!("{{rules: [{rule}]}}"))
}

fn contract_of_commands() -> impl Strategy<Value = String> {
    matcher()
        .prop_map(|prior| format!("{{tool: deploy, preconditions: [{{requires_prior_tool: {{{prior}}}}}]}}"))
}

/// What rules about commands ask for: each way out replays as allowed, and where there is said to be none, no sequence of
/// these commands is one.
#[test]
fn every_way_out_of_rules_about_commands_is_allowed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    let call = (weighted(0.8, select(&COMMANDS[..])), prop::bool::weighted(0.8));
    let cases =
        (vec(prop_oneof![3 => rule_of_commands(), 1 => contract_of_commands()], 1..4), vec(call, 1..6));
    let [mut stopped, mut after, mut never, mut unknown] = [0u32; 4];
    while stopped < 400 {
        let (documents, calls) = cases.new_tree(&mut runner).unwrap().current();
        let Some(policy) = policy(&documents) else {
            // Only one contract may be of a tool.
            assert!(documents.iter().filter(|text| text.contains("deploy")).count() > 1, "{documents:?}");
            continue;
        };
        let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
        let mut builder = Builder::new("s", origin);
        for (nth, (command, ok)) in calls.iter().enumerate() {
            let id = format!("c{nth}");
            builder.response(None, Body::text("next"), None);
            let (tool, arguments) = match command {
                Some(command) => ("Bash", serde_json::json!({"command": command})),
                None => ("deploy", serde_json::json!({})),
            };
            builder.call(Some(&id), tool, Body::json(&arguments.to_string()), None);
            let mark = Mark { error: !ok, refused: None };
            builder.result(Some(&id), Body::text("done"), mark, None);
        }
        let session = Arc::new(builder.finish());
        let replay = Replay::new(&session, &policy, Mode::Enforce);
        let context = || format!("{}\n{calls:?}", documents.join("\n"));
        for call in &session.calls {
            let Some(way) = way_out(&replay, call.at.index) else { continue };
            stopped += 1;
            match &way.answer {
                Answer::After(_) => {
                    after += 1;
                    let edited = apply(&session, &way.edits());
                    let judged = Replay::new(&edited.session, &policy, Mode::Enforce);
                    let verdict = |index| judged.call(index).unwrap().decision.verdict;
                    for index in edited.added.iter().copied().chain(edited.call(call.at.index)) {
                        assert_eq!(verdict(index), Verdict::Allow, "{way:?}\n{}", context());
                    }
                }
                Answer::Never(_) => {
                    never += 1;
                    let moves: Vec<Body> = COMMANDS
                        .iter()
                        .map(|command| Body::json(&serde_json::json!({"command": command}).to_string()))
                        .collect();
                    let goal = NewCall { tool: &call.tool, arguments: &call.arguments };
                    let mut level = vec![replay.run_before(call.at.index).unwrap()];
                    for _ in 0..3 {
                        let mut further = Vec::new();
                        for (run, arguments) in
                            level.iter().flat_map(|run| moves.iter().map(move |body| (run, body)))
                        {
                            let mut next = run.fork();
                            next.begin_turn(None);
                            let (ticket, decision) = next.propose(NewCall { tool: "Bash", arguments });
                            if decision.verdict != Verdict::Allow {
                                continue;
                            }
                            next.resolve(ticket, Outcome::Ok, &Body::text("done"));
                            next.end_turn();
                            let mut then = next.fork();
                            then.begin_turn(None);
                            let allowed = then.propose(goal).1.verdict == Verdict::Allow;
                            assert!(!allowed, "some command helps: {way:?}\n{}", context());
                            further.push(next);
                        }
                        further.truncate(40);
                        level = further;
                    }
                }
                Answer::NotWithin(_) => unknown += 1,
                Answer::Said(_) => panic!("nothing depends on what is said"),
            }
        }
    }
    println!("{stopped} stopped: {after} with a way out, {never} without, {unknown} not known");
    assert!(after * 10 > stopped && never * 10 > stopped, "{after} of {stopped}, {never} without");
}
