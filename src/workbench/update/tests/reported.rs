//! Rules about sessions that fail nothing, and edits that change no decision: neither is passed over.

use super::*;

/// What fails no session is no `✗`, and is not passed over either: each place has it as a report.
#[test]
fn a_violated_rule_that_is_not_enforced_is_reported_everywhere() {
    for options in ["effect: report", "mode: shadow"] {
        let rules = format!("rules: [{{type: require, tool: run_tests, id: tests, {options}}}]");
        let mut model = judged(120, 40, "mono", loaded(&rules), vec![clean(), clean()]);
        let verdict = model.archive.entries[0].verdict().unwrap();
        assert_eq!((verdict.violated, verdict.unenforced, verdict.objects()), (0, 1, false), "{options}");
        let shown = screen(&model);
        for said in ["✗0 !1 ✓1", "›! What ab", "1! nothing stopped", "end !  rule      tests", "✓───!┤"]
        {
            assert!(shown.contains(said), "{options}: {said}\n{shown}");
        }
        press(&mut model, "] !");
        assert!(model.violation().is_some_and(|state| !state.enforced), "{options}: {}", screen(&model));
        press(&mut model, "] !");
        assert_eq!(model.place.open, 1, "{options}: {}", screen(&model));
        press(&mut model, "] f");
        assert!(screen(&model).contains("]! goes to 2 reports"), "{}", screen(&model));
        press(&mut model, "F");
        let shown = screen(&model);
        assert!(shown.contains("! end    run_tests never succeeded") && shown.contains("/2"), "{shown}");
        press(&mut model, "q");
        for (term, listed) in [("is:reported", 2), ("is:violated", 0)] {
            super::super::table::filter(&mut model, term).unwrap();
            assert_eq!(model.scope_len(), listed, "{options}: {term}");
        }
    }
}

/// That no decision changed is not all there is to say.
#[test]
fn an_edit_that_only_violates_sessions_says_so() {
    let mut model = judged(
        120,
        40,
        "mono",
        loaded("rules: [{type: max_calls, tool: lookup_order, max: 9}]"),
        vec![clean(), clean()],
    );
    feed(
        &mut model,
        Msg::Policy {
            loaded: Box::new(loaded(
                "rules: [{type: max_calls, tool: lookup_order, max: 9}, {type: require, tool: run_tests}]",
            )),
            at: "12:05:00".to_owned(),
        },
    );
    let shown = screen(&model);
    assert!(shown.contains("no decision changed, 2 session rule outcomes changed"), "{shown}");
}
