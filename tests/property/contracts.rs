//! Properties of whatever judges contracts: the oracle, and the engine against it.

use std::sync::Arc;

use proptest::prelude::*;
use rulestep_engine::replay::Replay;
use serde_json::Value;

use crate::engine::{self, Host};
use crate::generate::{self, Pair};
use crate::naive::{self, MODES, Mode, list};
use crate::policy_sessions::{named_runs_agree, saved_runs_agree};

/// Something that judges a session in the shape of [`naive::evaluate`].
pub type Judge = fn(&[Value], &Value, Mode) -> Vec<Value>;

/// As many cases as `PROPTEST_CASES` says, else `usual`.
pub fn config(usual: u32) -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = usual;
    }
    config
}

/// What the first call of a turn would be told, by code and precondition.
fn first_call(
    judge: Judge,
    pair: &Pair,
    mode: Mode,
    turn: usize,
    tool: &str,
    arguments: &Value,
) -> Vec<Value> {
    let asked = naive::with_first_call(&pair.session, turn, tool, arguments);
    list(&judge(&pair.contracts, &asked, mode)[turn - 1]["calls"][0]["codes"])
}

/// "hides a tool when one rule alone refuses it for every argument": a hidden tool is denied as the turn's first call
/// whatever its arguments, for the reasons narrowing gave; for each rule of a visible one there are arguments that
/// the rule lets pass.
fn narrowing_is_exact(
    judge: Judge,
    pair: &Pair,
    mode: Mode,
    turn: usize,
    drawn: &[Value],
) -> Result<(), TestCaseError> {
    let narrowed = judge(&pair.contracts, &pair.session, mode).swap_remove(turn - 1);
    let candidates = |tool: &str| {
        let bindable = naive::bindable_values(&pair.contracts, &pair.session, tool);
        let mut candidates: Vec<Value> =
            bindable.iter().map(|(path, value)| generate::arguments_with(path, value)).collect();
        candidates.extend_from_slice(drawn);
        candidates.dedup();
        candidates
    };
    for (tool, reasons) in narrowed["hidden"].as_object().unwrap() {
        for arguments in candidates(tool) {
            let codes = first_call(judge, pair, mode, turn, tool, &arguments);
            for reason in list(reasons) {
                // Other arguments may meet an earlier obstacle of the same precondition (no value at the path).
                let same = |code: &Value| code["precondition"] == reason["precondition"];
                prop_assert!(
                    codes.iter().any(same),
                    "{tool} hidden for {reason}, yet {arguments} give {codes:?}"
                );
            }
        }
    }
    for tool in naive::strings(&narrowed["visible"]) {
        let governed = pair.contracts.iter().find(|contract| contract["tool"] == tool);
        let rules = governed.map_or(0, |contract| list(&contract["preconditions"]).len());
        let mut never_passed: Vec<usize> = (0..rules).collect();
        for arguments in candidates(&tool) {
            let codes = first_call(judge, pair, mode, turn, &tool, &arguments);
            prop_assert!(
                codes.iter().all(|code| code["code"] != "forbidden"),
                "{tool} is visible and forbidden"
            );
            never_passed.retain(|rule| codes.iter().any(|code| code["precondition"] == *rule));
            if never_passed.is_empty() {
                break;
            }
        }
        prop_assert!(never_passed.is_empty(), "{tool} is visible, yet {never_passed:?} refuse all arguments");
    }
    Ok(())
}

/// A pair, one of its turns, and arguments that nothing in it suggests.
fn questions() -> impl Strategy<Value = (Pair, usize, Vec<Value>)> {
    let arguments = proptest::collection::vec(generate::record(generate::ANY_POOLS), 3);
    (generate::pairs(), any::<proptest::sample::Index>(), arguments).prop_map(|(pair, index, arguments)| {
        let turns = naive::evaluate(&pair.contracts, &pair.session, Mode::Shadow).len();
        let turn = index.index(turns) + 1;
        (pair, turn, arguments)
    })
}

/// The order of the reasons for hiding a tool is not laid down (that of a call's findings is), and without a list of
/// tools that of the inferred ones is not either.
pub fn comparable(mut turns: Vec<Value>, session: &Value) -> Vec<Value> {
    for turn in &mut turns {
        for reasons in turn["hidden"].as_object_mut().unwrap().values_mut() {
            reasons.as_array_mut().unwrap().sort_by_key(Value::to_string);
        }
        if session["tools"].is_null() {
            turn["visible"].as_array_mut().unwrap().sort_by_key(Value::to_string);
        }
    }
    turns
}

/// A session played without interruption; played on from a fork of each turn, after the original went elsewhere; and
/// played on from a run rebuilt from the recording.
fn resumed_runs_agree(pair: &Pair, mode: Mode) -> Result<(), TestCaseError> {
    let (session, policy) = (Arc::new(engine::read(&pair.session)), engine::policy(&pair.contracts));
    let start = || Host::new(&session, &policy, engine::engine_mode(mode));
    let mut whole = start();
    let (mut forks, mut answers) = (Vec::new(), Vec::new());
    for turn in &session.turns {
        forks.push(whole.fork());
        answers.push(whole.play(turn));
    }
    let replay = Replay::new(&session, &policy, engine::engine_mode(mode));
    let replayed = replay.calls().iter().map(|judged| (judged.decision.verdict, &judged.decision.findings));
    let hosted = answers.iter().flat_map(|turn| &turn.decisions);
    prop_assert!(
        replayed.eq(hosted.map(|decision| (decision.verdict, &decision.findings))),
        "replay and host"
    );
    saved_runs_agree(&session, &policy, engine::engine_mode(mode))?;
    named_runs_agree(&session, &policy, engine::engine_mode(mode))?;
    for (from, mut fork) in forks.into_iter().enumerate() {
        // The fork's own fork goes astray first: nothing of that may be seen.
        let mut astray = fork.fork();
        for turn in session.turns.iter().skip(from).take(1) {
            astray.play(turn);
        }
        let mut rebuilt = start();
        for turn in session.turns.iter().take(from) {
            rebuilt.play(turn);
        }
        for (turn, expected) in session.turns.iter().zip(&answers).skip(from) {
            prop_assert_eq!(&fork.play(turn), expected, "forked before turn {}", from + 1);
            prop_assert_eq!(&rebuilt.play(turn), expected, "rebuilt before turn {}", from + 1);
        }
        let frame = replay.frame(from as u32 + 1).unwrap();
        let expected = &answers[from];
        prop_assert_eq!(
            (&frame.state, &frame.calls),
            (&expected.state, &expected.decisions),
            "frame {}",
            from + 1
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn the_engine_answers_as_the_oracle(pair in generate::pairs()) {
        for (mode, name) in MODES {
            let expected = comparable(naive::evaluate(&pair.contracts, &pair.session, mode), &pair.session);
            let actual = comparable(engine::evaluate(&pair.contracts, &pair.session, mode), &pair.session);
            prop_assert!(actual == expected, "{name}: {}", naive::differences(&expected, &actual));
        }
    }

    #[test]
    fn resumed_runs_answer_as_the_whole_one(pair in generate::pairs()) {
        for (mode, _) in MODES {
            resumed_runs_agree(&pair, mode)?;
        }
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn the_oracle_narrows_exactly((pair, turn, arguments) in questions()) {
        for (mode, _) in MODES {
            narrowing_is_exact(naive::evaluate, &pair, mode, turn, &arguments)?;
        }
    }

    #[test]
    fn the_engine_narrows_exactly((pair, turn, arguments) in questions()) {
        for (mode, _) in MODES {
            narrowing_is_exact(engine::evaluate, &pair, mode, turn, &arguments)?;
        }
    }
}
