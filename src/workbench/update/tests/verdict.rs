//! Sessions that violate session rules: every place with a verdict shows it.

use super::*;
use crate::compare::Base;
use crate::workbench::popup::findings::FindingsView;
use crate::workbench::theme::Glyph;
use rulestep_base::session::LiveDecision;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::replay::Status;
use rulestep_engine::run::{Mode, Verdict};

/// Two of them are violated by [`clean`], one is held, one has nothing to decide.
const RULES: &str = "\
rules:
  - {type: require, tool: run_tests, description: tests must run}
  - {type: sequence, tools: [lookup_order, ship_order], id: ship-what-is-looked-up}
  - {type: max_calls, tool: lookup_order, max: 2}
  - {type: after, trigger: open_file, then: close_file, within: 1}
";

fn violating(width: u16, height: u16) -> Model {
    judged(width, height, "mono", loaded(RULES), vec![clean(), clean()])
}

fn header(model: &Model) -> String {
    screen(model).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn every_place_shows_a_session_that_only_violates_rules_about_the_session() {
    let model = violating(120, 40);
    let verdict = model.archive.entries[0].verdict().unwrap();
    assert_eq!((verdict.stopped, verdict.violated, verdict.objects()), (0, 2, true));
    let screen = screen(&model);
    assert!(header(&model).contains("✗2"), "{screen}");
    for said in [
        "›✗ What ab… ref…-121",
        "2✗  1│",
        "2✗ violated",
        "end ✗  rule      tests must run: run_tests never succeeded",
        "✗  rule      ship-what-is-looked-up: ended after 1 of 2 steps, before ship_order",
        "✓───✗┤ call 1/1",
        "session rules",
        "✗ tests must run    violated",
        "✗ ship-what-is-looked-up",
    ] {
        assert!(screen.contains(said), "{said}\n{screen}");
    }
    assert!(!screen.contains("nothing stopped"));
    for (width, height) in [(80, 24), (58, 14)] {
        assert!(header(&violating(width, height)).contains("✗2"));
    }
}

/// Once all is judged, as the policy says what is worth knowing.
#[test]
fn results_that_may_have_been_refusals_are_among_the_problems() {
    let policy = r#"{"dialect": "sequence_policy", "id": "p", "forbidden":
      [{"sequence": ["x", "y"], "action": "deny", "reason": "a:b", "tellLLM": "shipped"}]}"#;
    let mut model = judged(120, 40, "mono", loaded(policy), vec![clean()]);
    press(&mut model, "!");
    let screen = screen(&model);
    for said in ["refusal_counted", "the result of `lookup_order` (turn 1 call 1) is the text"] {
        assert!(screen.contains(said), "{said}\n{screen}");
    }
}

#[test]
fn violated_rules_are_gone_to_from_session_to_session() {
    let mut model = violating(120, 40);
    let here = |model: &Model| {
        let rule = model.violation().map(|state| model.rule(state.rule).unwrap().kind);
        (model.place.open, rule)
    };
    for (keys, entry, rule) in [
        ("]f", 0, Some("require")),
        ("]f", 0, Some("sequence")),
        ("]f", 1, Some("require")),
        ("]f", 1, Some("sequence")),
        ("[f", 1, Some("require")),
        ("[f", 0, Some("sequence")),
        ("]s", 1, Some("require")),
        ("k", 1, None),
        ("j", 1, Some("require")),
        ("[s", 0, Some("require")),
    ] {
        press(&mut model, keys);
        assert_eq!(here(&model), (entry, rule), "{keys}");
    }
    for said in ["✓ limit on lookup_order held", "not exercised"] {
        assert!(screen(&model).contains(said), "{said}\n{}", screen(&model));
    }
    let screen = screen(&model);
    for said in ["✗ VIOLATED session rule", "required_missing", "call run_tests successfully"] {
        assert!(screen.contains(said), "{said}\n{screen}");
    }
    press(&mut model, "o");
    assert_eq!(note(&model), "this finding is not based on an earlier call");
    press(&mut model, "j o");
    assert_eq!(at(&model), "T1.1 lookup_order", "the last step that was made");
    press(&mut model, "Ctrl-o");
    assert_eq!(here(&model), (0, Some("sequence")));
    press(&mut model, "]r");
    assert!(note(&model).starts_with("no finding of this rule after"));
    press(&mut model, "b");
    assert_eq!(note(&model), "this row has no text of its own");
    press(&mut model, "w");
    assert_eq!(
        note(&model),
        "a violated session rule stops no call; the decision (pane 6) says what satisfies it"
    );
    press(&mut model, "xd");
    assert!(model.dialog.overlays.is_empty());
}

/// A rule that reports at a call and is violated in the end is one rule at both places.
#[test]
fn findings_of_a_rule_lead_on_to_its_violation() {
    let rules = "rules: [{type: eventually, tool: run_tests, within: 1}]";
    let mut model = judged(120, 40, "mono", loaded(rules), vec![clean()]);
    assert!(model.finding().is_some() && model.violation().is_none());
    press(&mut model, "]r");
    assert!(model.violation().is_some(), "{}", note(&model));
    press(&mut model, "[r");
    assert!(model.finding().is_some() && model.violation().is_none(), "{}", note(&model));
}

#[test]
fn the_list_of_findings_has_them() {
    for (width, height) in [(120, 40), (80, 24), (58, 14)] {
        let mut model = violating(width, height);
        press(&mut model, "F");
        let shown = screen(&model);
        assert!(shown.contains("✗ end    run_tests never succeeded"), "{shown}");
        assert!(shown.contains("1/4"), "{shown}");
    }
    let mut model = violating(120, 40);
    press(&mut model, "F j j j Enter");
    assert_eq!((model.place.open, model.violation().unwrap().outcome), (1, RuleOutcome::Violated));
    press(&mut model, "F");
    let Some(view) = model.dialog.top::<FindingsView>() else { panic!() };
    assert_eq!(view.list.cursor, 3, "the list begins where one is");
    press(&mut model, "gg t / ship Enter");
    let shown = screen(&model);
    assert!(shown.contains("Findings by rule") && shown.contains("1/2"), "{shown}");
}

/// What comes and goes with another version, another mode, or what is supposed.
#[test]
fn rows_of_violated_rules_follow_the_policy() {
    let mut model = violating(120, 40);
    press(&mut model, "G");
    assert!(model.violation().is_some());
    let rows = model.derived.rows.len();
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(CONTRACT)), at: "12:05:00".to_owned() });
    assert_eq!(model.derived.rows.len(), rows - 2);
    assert!(header(&model).contains("✗0") && model.violation().is_none(), "{}", screen(&model));
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(RULES)), at: "12:05:30".to_owned() });
    assert_eq!(model.derived.rows.len(), rows);
    press(&mut model, "G xx");
    assert!(header(&model).contains("✗1"), "{}", screen(&model));
    press(&mut model, "xu");
    assert!(header(&model).contains("✗2"), "{}", screen(&model));
}

/// In shadow the call ran, so the rule that would have stopped it is violated as well: as `replay` counts.
#[test]
fn in_shadow_nothing_is_stopped_and_what_ran_violates() {
    let rules = "rules: [{type: require, tool: run_tests}, {type: blocklist, tools: [lookup_order]}]";
    let mut model = judged(120, 40, "mono", loaded(rules), vec![clean()]);
    let verdict = model.archive.entries[0].verdict().unwrap();
    assert_eq!((verdict.stopped, verdict.violated), (1, 1));
    press(&mut model, "m");
    assert_eq!(model.basis.mode, Mode::Shadow);
    let verdict = model.archive.entries[0].verdict().unwrap();
    assert_eq!((verdict.stopped, verdict.violated), (1, 2));
    assert_eq!(model.replay().unwrap().rules().iter().filter(|state| state.is_violated()).count(), 2);
    let shown = screen(&model);
    assert!(
        shown.contains("✗ WOULD STOP lookup_order") && shown.contains("1✗ would stop  2✗ violated"),
        "{shown}"
    );
    assert!(!shown.contains("stopped") && !shown.contains("DENY"), "{shown}");
    press(&mut model, "F");
    let shown = screen(&model);
    assert!(shown.contains("Findings by session, what would stop") && shown.contains("1/3"), "{shown}");
}

/// What a recording refused was refused; what a version decides in shadow stops nothing.
#[test]
fn in_shadow_no_change_says_that_something_was_stopped() {
    let mut model = opened(120, 40, "mono", vec![refunds(), clean()]);
    let other = "tool: lookup_order\npreconditions:\n  - requires_prior_tool: never\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(other)), at: "12:05:00".to_owned() });
    press(&mut model, "8");
    assert!(screen(&model).contains("DENY → allow") && screen(&model).contains("allow → DENY"));
    press(&mut model, "m");
    let shown = screen(&model);
    assert!(shown.contains("WOULD STOP → allow") && shown.contains("allow → WOULD STOP"), "{shown}");
    for pane in ["1", "2", "8"] {
        press(&mut model, pane);
        let shown = screen(&model);
        assert!(!shown.contains("stopped") && !shown.contains("DENY"), "{shown}");
    }
    press(&mut model, "gg j");
    let effects = format!("{:?}", press(&mut model, "yy"));
    assert!(effects.contains("issue_refund WOULD STOP → allow primary"), "{effects}");
    // What is supposed is worded in the same way.
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(CONTRACT)), at: "12:06:00".to_owned() });
    press(&mut model, "2 gg ]f xx");
    let shown = screen(&model);
    assert!(shown.contains("what if  would stop → allow"), "{shown}");
}

#[test]
fn what_the_recording_refused_is_called_refused() {
    let mut made = refunding();
    made.response(None, Body::MISSING, None);
    made.call(Some("c9"), "close_case", Body::text("{}"), None);
    made.result(Some("c9"), Body::text("no"), Mark { refused: Some("rejected"), ..Mark::default() }, None);
    let mut model = opened(120, 40, "mono", vec![made.finish()]);
    press(&mut model, "db Ctrl-u");
    typed(&mut model, "recorded");
    press(&mut model, "Enter");
    feed(&mut model, Msg::Base { name: "recorded".to_owned(), read: Ok(Base::Recorded) });
    press(&mut model, "8");
    for (mode, stops) in [("m", "WOULD STOP"), ("m", "DENY")] {
        press(&mut model, mode);
        let shown = screen(&model);
        assert!(shown.contains("refused → allow") && shown.contains(&format!("allow → {stops}")), "{shown}");
    }
}

/// Above: the current decision. Below: the live decision, with its policy, its mode, and the difference.
#[test]
fn what_was_decided_live_is_beside_what_is_decided_now() {
    let findings = r#"[{"rule": "p.yaml#/limits/0", "rule_name": "too many", "code": "limit_reached"}]"#;
    for (live, shadow, shown, mark) in [
        (Verdict::Deny, false, "denied", Some("newly allowed")),
        (Verdict::Deny, true, "would be denied", Some("newly allowed")),
        (Verdict::Allow, false, "allowed", None),
    ] {
        let mut made = refunding();
        made.response(None, Body::MISSING, None);
        made.call(Some("c9"), "close_case", Body::text("{}"), None);
        made.decided(LiveDecision {
            verdict: live,
            shadow,
            runs: None,
            findings: Body::json(if live == Verdict::Deny { findings } else { "[]" }),
            told: None,
            policy: "sha256:0123456789abcdef".into(),
            policy_fault: None,
            tree: None,
            took: None,
        });
        for (width, height) in [(120, 40), (80, 24)] {
            let mut model = judged(width, height, "mono", loaded(CONTRACT), vec![made.clone().finish()]);
            press(&mut model, "2 G 6");
            let screen = screen(&model);
            for part in ["ALLOW close_case", &format!("live     {shown}"), "by policy 01234567, "] {
                assert!(screen.contains(part), "{part}: {screen}");
            }
            assert_eq!(screen.contains("(limit_reached)"), mark.is_some(), "{screen}");
            assert_eq!(screen.contains("newly"), mark.is_some(), "{screen}");
            assert!(mark.is_none_or(|mark| screen.contains(&format!("≠ {mark}"))), "{screen}");
        }
    }
}

#[test]
fn rules_that_had_nothing_to_decide_are_no_pass() {
    let rules = "rules: [{type: after, trigger: open_file, then: close_file, within: 1}]";
    let model = judged(120, 40, "mono", loaded(rules), vec![clean()]);
    let shown = screen(&model);
    assert!(shown.contains("›– What about ORD-1?") && shown.contains("– no rule had to decide"), "{shown}");
    let summary = model.archive.entries[0].verdict().unwrap();
    assert!(summary.not_exercised && !summary.objects());
}

/// Rule, expected, actual, trace and suggestion, whether the rule stops the call or only reports it.
#[test]
fn a_call_that_breaks_an_order_is_explained_in_five_parts() {
    let enforced = "rules:\n  - {type: before, first: check_stock, then: issue_refund, description: stock before money, id: stock-first}\n";
    for (mode, here) in [(Mode::Enforce, "← stopped here"), (Mode::Shadow, "← here")] {
        let mut model = judged(120, 40, "mono", loaded(enforced), vec![refunds()]);
        if mode == Mode::Shadow {
            press(&mut model, "m");
        }
        press(&mut model, "gg ]f 6 z");
        let screen = screen(&model);
        for said in [
            "stock before money",
            "expected check_stock before issue_refund",
            "actual   ",
            "suggest  ",
            "trace    T1.1 check_eligibility",
            "T2.1 issue_refund",
            here,
            "id       stock-first",
            "rule     contracts/issue_refund.yaml:2",
        ] {
            assert!(screen.contains(said), "{mode:?} {said}\n{screen}");
        }
        assert!(!screen.contains("way out"), "{screen}");
    }
}

/// Three lookups in turns of their own; in the second response another choice ships instead.
fn looking(aside: bool) -> Session {
    let origin = Origin { file: "sessions/looking.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("looking", origin);
    made.said("user", Body::text("Where is ORD-1?"), None);
    for (turn, id) in ["a", "b", "c"].into_iter().enumerate() {
        made.response(None, Body::MISSING, None);
        made.call(Some(id), "lookup_order", Body::text(r#"{"zone": "north"}"#), None);
        if turn == 1 && aside {
            let mut other = made.aside();
            other.response(None, Body::MISSING, None);
            other.call(Some("other"), "ship_order", Body::text("{}"), None);
            made.beside(2, other);
        }
        made.result(Some(id), Body::text("shipped"), Mark::default(), None);
    }
    made.response(None, Body::text("It is on its way."), None);
    made.finish()
}

/// What only one kind of statement objects to, or only reports: every place of the screen agrees with what `replay` exits
/// with and with the status that it writes.
#[test]
fn every_place_agrees_with_what_replay_exits_with() {
    let halt = "id: p\nforbidden: [{sequence: [lookup_order, lookup_order, lookup_order], action: halt, reason: a:b}]\n";
    let report = "dialect: tool_policy\npolicies: [{type: read_before_write, name: r, write_tools: [lookup_order], read_tools: [cat]}]\n";
    for (name, policy, aside, objects) in [
        ("session_rule", "rules: [{type: require, tool: run_tests}]", false, true),
        ("late_halt", halt, false, true),
        ("not_taken", "rules: [{type: blocklist, tools: [ship_order]}]", true, true),
        ("report", report, false, false),
    ] {
        let mut model = judged(120, 40, "mono", loaded(policy), vec![clean(), looking(aside)]);
        for mode in [Mode::Enforce, Mode::Shadow] {
            if model.basis.mode != mode {
                press(&mut model, "m");
            }
            go_to(&mut model, 1);
            let entry = &model.archive.entries[1];
            let (verdict, replay) = (entry.verdict().unwrap(), Arc::clone(entry.replay.as_ref().unwrap()));
            assert_eq!(replay.objects(), objects, "{name} {mode:?}");
            assert_eq!(verdict.objects(), objects, "{name} {mode:?}");
            let green = matches!(replay.status(), Status::Pass);
            // In shadow nothing is stopped, so the status may be `pass`; the exit code speaks of what would be.
            if mode == Mode::Enforce {
                assert_eq!(green, !objects, "{name} {:?}", replay.status());
            }
            let shown = screen(&model);
            let sign = match (name, objects) {
                ("late_halt", _) => model.theme.glyph(Glyph::Halt),
                (_, true) => model.theme.glyph(Glyph::Deny),
                (_, false) => model.theme.glyph(Glyph::Report),
            };
            let row = shown.lines().find(|line| line.contains("Where is ORD-1?")).unwrap_or_default();
            assert!(
                shown.lines().any(|line| line.starts_with(&format!("│›{sign} Where is"))),
                "{name} {row}\n{shown}"
            );
            assert_eq!(
                shown.contains("nothing stopped") || shown.contains("nothing would stop"),
                !objects,
                "{shown}"
            );
            // Only what stops or violates is a stop; what is reported has keys of its own.
            for (keys, wanted) in [("gg ]f", objects), ("gg ]!", !objects)] {
                press(&mut model, keys);
                let said = model.dialog.note.is_some();
                let on = model.finding().is_some() || model.violation().is_some();
                let on = on && model.place.open == 1;
                assert_eq!(
                    (on && !said, said),
                    (wanted, !wanted),
                    "{name} {mode:?}: {keys}\n{}",
                    screen(&model)
                );
            }
            press(&mut model, "F");
            let Some(view) = model.dialog.top::<FindingsView>() else { panic!("no findings") };
            assert!(view.rows.iter().any(|row| row.entry == 1), "{name} {mode:?}: F");
            press(&mut model, "q");
            insta::assert_snapshot!(format!("agrees_{name}_{}", mode.word()), screen(&model));
            go_to(&mut model, 0);
            let first = model.archive.entries[0].verdict().unwrap().objects();
            press(&mut model, "]s");
            assert_eq!(model.place.open == 1, objects, "{name} {mode:?}: ]s, first {first}");
        }
    }
}

/// A stopped call, a violated rule and reported calls side by side: one language says which of them the list of findings
/// shows, and the header counts each of them once.
#[test]
fn findings_of_one_sort_are_listed_alone() {
    let policy = "rules:\n- {type: blocklist, tools: [lookup_order]}\n- {type: require, tool: sign_off}\n- {type: eventually, tool: sign_off, within: 1}\n";
    let mut model = judged(120, 40, "mono", loaded(policy), vec![clean(), refunds()]);
    go_to(&mut model, 1);
    assert!(screen(&model).lines().next().unwrap().trim_end().ends_with("✗2 !1 ✓2"), "{}", screen(&model));
    press(&mut model, "F");
    let listed = |model: &Model| {
        let Some(view) = model.dialog.top::<FindingsView>() else { panic!("no findings") };
        let row = |at: &usize| {
            format!("{} {} {}", view.rows[*at].entry, view.rows[*at].place(), view.rows[*at].effect.word())
        };
        view.shown.iter().map(row).collect::<Vec<_>>()
    };
    let all = listed(&model);
    for (filter, rows) in [
        ("is:stopped", vec!["0 T1.1 deny"]),
        ("is:reported", vec!["1 T1.1 report"]),
        ("is:violated !rule:eventually", vec!["0 end deny", "1 end deny"]),
        ("is:reported tool:check_* turn:1", vec!["1 T1.1 report"]),
        ("is:reported tool:lookup_order", vec![]),
        ("is:allowed id:refund-124", vec!["1 T1.1 report"]),
        ("code:/forbid/", vec![]),
    ] {
        press(&mut model, "/");
        typed(&mut model, filter);
        press(&mut model, "Enter");
        let shown = listed(&model);
        let wanted = rows.iter().all(|row| shown.contains(&(*row).to_owned()));
        assert!(wanted && (rows.is_empty() == shown.is_empty()), "{filter}: {shown:?} of {all:?}");
        assert!(shown.len() < all.len(), "{filter}");
        press(&mut model, "/ Ctrl-u Enter");
    }
    // What is no filter yet says so, shows what was shown before, and cannot be kept.
    press(&mut model, "/");
    typed(&mut model, "is:stop");
    press(&mut model, "Enter");
    assert!(screen(&model).contains("did you mean `is:stopped`?"), "{}", screen(&model));
    assert!(model.dialog.prompt.is_some() && !listed(&model).is_empty());
    press(&mut model, "Esc");
    assert_eq!(listed(&model), all);
}

fn go_to(model: &mut Model, entry: usize) {
    if entry == model.place.open {
        return;
    }
    press(model, if entry > model.place.open { "}" } else { "{" });
    assert_eq!(model.place.open, entry, "{}", note(model));
}
