//! Places to jump to, with more than one of them in a session, and at the borders of what is looked at together.

use super::*;
use crate::compare::Base;

/// Four lookups, of which the policy below stops the second and the third.
fn lookups() -> Session {
    let mut made =
        Builder::new("many", Origin { file: "many.json".into(), index: 0, format: "native", line: 1 });
    for order in 1..=4 {
        made.response(None, Body::MISSING, None);
        let tool = if matches!(order, 2 | 3) { "void_order" } else { "lookup_order" };
        made.call(None, tool, Body::text(format!(r#"{{"order_id": "ORD-{order}"}}"#)), None);
        made.result(None, Body::text("{}"), Mark::default(), None);
    }
    made.finish()
}

const NO_VOIDS: &str = "rules: [{type: blocklist, tools: [void_order]}]";
const NOTHING: &str = "rules: [{type: blocklist, tools: [nothing]}]";

#[test]
fn going_back_into_a_session_goes_to_its_last_finding() {
    let mut model = judged(120, 40, "mono", loaded(NO_VOIDS), vec![lookups(), lookups()]);
    for (keys, entry, place) in [
        ("]f ]f ]f", 1, "T2.1 void_order"),
        ("[f", 0, "T3.1 void_order"),
        ("[f", 0, "T2.1 void_order"),
        ("]f ]f", 1, "T2.1 void_order"),
        ("]f", 1, "T3.1 void_order"),
    ] {
        press(&mut model, keys);
        assert_eq!((model.place.open, at(&model).as_str()), (entry, place), "{keys}");
    }
}

#[test]
fn going_back_into_a_session_goes_to_its_last_change() {
    let mut model = judged(120, 40, "mono", loaded(NO_VOIDS), vec![lookups(), lookups()]);
    press(&mut model, "db");
    typed(&mut model, "base");
    press(&mut model, "Enter");
    let base = Base::Version(loaded(NOTHING).policy.expect("a policy"));
    feed(&mut model, Msg::Base { name: "base".to_owned(), read: Ok(base) });
    let calls = |model: &Model| model.archive.entries[0].changes.as_ref().map_or(0, Vec::len);
    assert!(calls(&model) >= 2);
    press(&mut model, "} G");
    let mut seen = Vec::new();
    for _ in 0..40 {
        press(&mut model, "[c");
        if model.place.open == 0 {
            seen.push(model.turn().unwrap().number);
        }
    }
    assert_eq!(seen.first(), Some(&4), "the last turn, whose tools differ too: {seen:?}");
    let mut sorted = seen.clone();
    sorted.sort_by(|a, b| b.cmp(a));
    assert_eq!(seen, sorted, "always further back");
    assert_eq!(seen.last(), Some(&1));
}

/// Turns are looked at 64 together: a tool is hidden in each turn around such a border in turn.
#[test]
fn a_tool_hidden_at_any_turn_is_found_from_both_sides() {
    for hidden in [2_u32, 3, 63, 64, 65, 66, 67, 127, 128, 129, 130, 199, 200] {
        let mut made =
            Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
        for turn in 1..=200 {
            made.response(None, Body::text("a turn"), None);
            let tool = if turn + 1 == hidden { "issue_refund" } else { "check_eligibility" };
            made.call(None, tool, Body::text("{}"), None);
            made.result(None, Body::text("{}"), Mark::default(), None);
        }
        let policy = "tool: issue_refund\nforbids_after: [void_order]\n";
        let mut model = judged(80, 24, "mono", loaded(policy), vec![made.finish()]);
        for start in [1_u32, 2, 64, 65, 66, 128, 129, 200] {
            for (keys, found) in [("]h", start < hidden), ("[h", start > hidden)] {
                let row = model.derived.rows.of_turn(start).unwrap();
                crate::workbench::update::go::to_row(&mut model, row);
                press(&mut model, keys);
                let turn = model.turn().unwrap().number;
                assert_eq!(turn, if found { hidden } else { start }, "{hidden} {start} {keys}");
            }
        }
    }
}
