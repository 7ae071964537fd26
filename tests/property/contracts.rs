//! Properties of whatever judges contracts: the oracle, and the engine against it.

use proptest::prelude::*;
use serde_json::Value;

use crate::generate::{self, Pair};
use crate::naive::{self, MODES, Mode, list};

/// Something that judges a session in the shape of [`naive::evaluate`].
type Judge = fn(&[Value], &Value, Mode) -> Vec<Value>;

/// As many cases as `PROPTEST_CASES` says, else `usual`.
fn config(usual: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
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

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn the_oracle_narrows_exactly((pair, turn, arguments) in questions()) {
        for (mode, _) in MODES {
            narrowing_is_exact(naive::evaluate, &pair, mode, turn, &arguments)?;
        }
    }
}
