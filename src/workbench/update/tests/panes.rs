//! What the panes show first, what they only count, and what is marked.

use super::*;
use crate::compare::Base;
use crate::report::reference;
use crate::workbench::line::Line;
use crate::workbench::model::Framed;
use crate::workbench::popup::reference::ReferenceView;

fn lines(model: &Model, pane: Pane) -> Vec<String> {
    let lines = pane.lines(model, model.layout().width(pane)).unwrap_or_default();
    lines.iter().map(Line::plain).collect()
}

fn line_of(lines: &[String], wanted: &str) -> usize {
    lines.iter().position(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{wanted}: {lines:#?}"))
}

/// One rule stops the call, many others have nothing to say about it.
const MANY: &str = "\
rules:
  - {type: never_after, trigger: other_a, forbidden: issue_refund}
  - {type: never_after, trigger: other_b, forbidden: issue_refund}
  - {type: never_after, trigger: other_c, forbidden: issue_refund}
  - {type: before, first: audit, then: issue_refund, description: an audit comes before any refund}
";

/// `K` shows what `rulestep explain DIALECT.KEY` says of the key on the line, and of each where there are several.
#[test]
fn a_line_of_the_policy_has_a_reference_page() {
    for (width, height) in [(120, 40), (80, 24), (58, 14), (40, 8)] {
        let mut model = opened(width, height, "mono", vec![refunds(), clean()]);
        press(&mut model, "]f 7 gg j j j K");
        let Some(view) = model.dialog.top::<ReferenceView>() else { panic!("{}", screen(&model)) };
        assert_eq!(view.title, "rulestep explain contract.preconditions.requires_prior_tool");
        assert_eq!(
            view.lines.first().map(String::as_str),
            Some("contract.preconditions.requires_prior_tool")
        );
        let page =
            rulestep_engine::dialect::lookup::asked("contract.preconditions.requires_prior_tool").unwrap();
        let found = page.0.named(page.1);
        let meaning: String = found[0].key.meaning.split_whitespace().collect();
        let shown: String = view.lines.concat().split_whitespace().collect();
        assert!(shown.contains(&meaning), "{shown}");
        assert!(view.lines.iter().all(|line| line.chars().count() <= reference::WIDTH));
        press(&mut model, "q j K");
        let seen: Vec<String> = match model.dialog.top::<ReferenceView>() {
            Some(view) => view.lines.clone(),
            _ => panic!("{}", screen(&model)),
        };
        for key in ["resource", "resource.bind_from", "resource.path"] {
            assert!(seen.contains(&format!("contract.preconditions.{key}")), "{key}: {seen:#?}");
        }
        // The first line is a comment, before any key.
        press(&mut model, "q gg K");
        assert_eq!(note(&model), "no reference page is about this line");
        // Everywhere else it goes to the turn before.
        press(&mut model, "2 G K");
        assert!(model.dialog.overlays.is_empty());
    }
}

#[test]
fn what_failed_comes_first_and_what_says_nothing_is_a_count() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut model = judged(width, height, "mono", loaded(MANY), vec![refunds()]);
        press(&mut model, "]f");
        for pane in [Pane::Preconditions, Pane::Decision] {
            if model.layout().pane(pane).is_none() {
                continue;
            }
            let lines = lines(&model, pane);
            let rest = line_of(&lines, "3 more rules passed").max(1);
            assert!(lines[..rest].iter().any(|line| line.contains("an audit comes before")), "{lines:#?}");
            let own = lines.iter().position(|line| line.contains("session rules")).unwrap_or(lines.len());
            assert!(!lines[..own].iter().any(|line| line.contains("other_a")), "{lines:#?}");
        }
        let decision = lines(&model, Pane::Decision);
        assert!(line_of(&decision, "suggest") < 12, "{decision:#?}");
        assert!(screen(&model).contains("suggest"), "{}", screen(&model));
    }
}

#[test]
fn the_policy_pane_shows_the_rule_that_is_most_about_the_tool() {
    let policy =
        "rules:\n  - {type: allowlist, tools: ['*']}\n  - {type: max_calls, tool: lookup_order, max: 3}\n";
    let model = judged(120, 40, "mono", loaded(policy), vec![clean()]);
    let rule = model.rule(model.shown_rule().unwrap()).unwrap();
    assert_eq!(rule.kind, "max_calls");
}

/// Exact names before beginnings of names, and rules about this tool before those about any tool, wherever they are.
#[test]
fn exact_names_come_before_beginnings_of_names() {
    let rule = |pattern: &str| format!("{{sequence: [void_order, {pattern}], action: deny, reason: a:b}}");
    let (named, begins) = (rule("lookup_order"), rule("{namePrefix: look}"));
    for (first, second) in [(&begins, &named), (&named, &begins)] {
        let policy = format!("id: p\nforbidden: [{first}, {second}]\n");
        let model = judged(120, 40, "mono", loaded(&policy), vec![clean()]);
        let rule = model.rule(model.shown_rule().unwrap()).unwrap();
        assert!(rule.tools.iter().any(|tool| &**tool == "lookup_order"), "{policy}: {:?}", rule.tools);
    }
}

#[test]
fn tools_that_came_or_went_since_the_turn_before_are_marked() {
    let mut model = model();
    press(&mut model, "j");
    let before: Option<u32> =
        model.place.frames.framed.as_ref().and_then(Framed::before).map(|frame| frame.turn);
    assert_eq!(before, Some(1));
    let tools = lines(&model, Pane::Tools);
    assert!(tools[line_of(&tools, "issue_refund")].contains("new"), "{tools:#?}");
    press(&mut model, "G");
    let tools = lines(&model, Pane::Tools);
    assert!(tools[line_of(&tools, "void_order")].contains("gone"), "{tools:#?}");
    assert!(!tools[line_of(&tools, "issue_refund")].contains("new"), "{tools:#?}");
}

#[test]
fn a_changed_call_has_a_mark_of_its_own() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut model = opened(width, height, "mono", vec![refunds()]);
        press(&mut model, "db");
        typed(&mut model, "base");
        press(&mut model, "Enter");
        let base = "tool: issue_refund\nforbids_after: [void_order]\n";
        let base = Base::Version(loaded(base).policy.expect("a policy"));
        feed(&mut model, Msg::Base { name: "base".to_owned(), read: Ok(base) });
        press(&mut model, "]f");
        let shown = screen(&model);
        assert!(shown.contains("✗≠∆"), "differs from the recording, and from the base\n{shown}");
        assert!(shown.contains("✗∆──"), "the timeline\n{shown}");
        press(&mut model, "1");
        let shown = screen(&model);
        assert!(shown.contains("1∆"), "the list\n{shown}");
        press(&mut model, "dd");
        assert!(!screen(&model).contains('∆'));
    }
}

#[test]
fn the_pane_of_changes_can_always_be_closed() {
    let mut model = model();
    press(&mut model, "dd");
    assert!(note(&model).starts_with("no base to compare with"));
    let edited = "tool: issue_refund\nforbids_after: [void_order]\n";
    for at in ["12:05:00", "12:06:00"] {
        let text = if at == "12:05:00" { edited } else { CONTRACT };
        feed(&mut model, Msg::Policy { loaded: Box::new(loaded(text)), at: at.to_owned() });
        assert!(screen(&model).contains("8 Changes"), "{}", screen(&model));
        press(&mut model, "8 dd");
        // Whoever looks at the pane stays there, and it says that nothing is compared.
        assert_eq!(model.place.focus, Pane::Changes);
        assert!(screen(&model).contains("nothing is compared"), "{}", screen(&model));
        press(&mut model, "2");
        assert!(!screen(&model).contains("8 Changes"), "{}", screen(&model));
    }
}

/// The match is far to the right, or after more informative arguments.
fn haystack() -> Session {
    let mut made = Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    made.said("user", Body::text(format!("{} the NEEDLE is here", "hay ".repeat(200))), None);
    made.response(None, Body::MISSING, None);
    let arguments =
        format!(r#"{{"content": "{} a Needle too", "file_path": "/a/b.txt"}}"#, "long ".repeat(300));
    made.call(Some("a"), "write_file", Body::text(arguments), None);
    let result = format!("{} last needle", "x".repeat(5_000));
    made.result(Some("a"), Body::text(result), Mark::default(), None);
    made.finish()
}

#[test]
fn a_match_is_brought_into_view_wherever_it_is() {
    for (width, height) in [(120, 40), (80, 24), (58, 14)] {
        let mut model = opened(width, height, "mono", vec![haystack()]);
        let shown = screen(&model);
        let tells = shown.contains("write_file file_path: \"/a/b.txt\"");
        assert!(tells || width < 120, "what tells most comes first\n{shown}");
        press(&mut model, "/");
        typed(&mut model, "needle");
        press(&mut model, "Enter");
        let shown = screen(&model).to_lowercase();
        assert_eq!(shown.matches("needle").count(), 3, "{shown}");
    }
}

/// Half a minute, four minutes and an hour between what is recorded.
fn timed() -> Session {
    let origin = Origin { file: "sessions/timed.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("timed", origin);
    made.said("user", Body::text("Please"), Some(1_000_000));
    made.response(None, Body::text("First"), Some(1_030_000));
    made.call(Some("a"), "lookup_order", Body::text("{}"), Some(1_030_000));
    made.result(Some("a"), Body::text("slow"), Mark::default(), Some(1_282_000));
    made.said("user", Body::text("Back again"), Some(4_882_000));
    made.response(None, Body::text("Second"), None);
    made.finish()
}

#[test]
fn the_transcript_says_when_and_how_long_nothing_was_recorded() {
    let model = opened(120, 40, "mono", vec![timed()]);
    let shown = screen(&model);
    let row = |text: &str| shown.lines().find(|row| row.contains(text)).unwrap().to_owned();
    assert!(row("Please").contains(" +0:00 "), "{shown}");
    assert!(row("slow").contains(" 4 min 12 s later"), "{shown}");
    assert!(row("Back again").contains(" 1 h later +1:04:42 "), "{shown}");
    assert!(
        !row("Second").contains('+') && !row("Second").contains("later"),
        "nothing is recorded of it: {shown}"
    );
    let without = screen(&super::model());
    assert!(!without.contains(" later") && !without.contains(" +0:"), "{without}");
}

#[test]
fn a_large_screen_shows_the_body_beside_the_transcript() {
    let id = "258c7280-ae70-4798-800f-63464d01a85d";
    let mut named = refunds();
    named.id = id.into();
    let mut model = opened(200, 60, "mono", vec![named]);
    press(&mut model, "]f");
    let shown = screen(&model);
    assert!(
        shown.contains("b  T2.2 issue_refund arguments") && shown.contains(r#"  "amount": 214.0"#),
        "{shown}"
    );
    assert!(shown.contains(id), "an id is shown whole: {shown}");
    press(&mut model, "Down");
    assert!(screen(&model).contains("b  T2.1 issue_refund result"), "it follows the cursor");
    press(&mut model, "z");
    assert!(!screen(&model).contains("b  T2.2"), "one pane alone has all the room");
    press(&mut model, "z");
    feed(&mut model, Msg::Resize(ratatui::layout::Size::new(179, 60)));
    assert!(model.derived.body.is_none() && !screen(&model).contains("b  T2.2"));
    let mut long = refunding();
    long.said("user", Body::text("x".repeat(300_000)), None);
    let mut model = opened(200, 60, "mono", vec![long.finish()]);
    press(&mut model, "G");
    assert!(screen(&model).contains("too long to be shown while going from row to row"));
}

/// What `replay` lists as earlier attempts is where `o` goes, and what the decision lists.
#[test]
fn a_call_that_waits_for_another_leads_to_attempts_that_do_not_count() {
    let mut model = sample(120, 50, "mono", "refunds/issue_refund.yaml", "refund-129-error-result.json");
    press(&mut model, "]f");
    let (before, decision) = (at(&model), lines(&model, Pane::Decision));
    let line = line_of(&decision, "earlier  ");
    let said = decision[line..line + 2].concat().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said, "earlier T3.1 check_eligibility, it ran and failed");
    press(&mut model, "o");
    assert_eq!(at(&model), "T3.1 check_eligibility");
    assert_eq!(
        note(&model),
        "T4.1 prior_tool_missing: this call does not count (it ran and failed); Ctrl-o goes back"
    );
    press(&mut model, "Ctrl-o");
    assert_eq!(at(&model), before);
}

/// A rule that is asked about every call, and passes this one without having anything to say of it, is not shown with it.
#[test]
fn a_rule_that_is_not_about_the_call_is_not_shown_with_it() {
    let rules = "rules: [{type: never, call: {runs: {program: kubectl}}, opaque: allow}]";
    let mut made = Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    made.response(None, Body::MISSING, None);
    made.call(Some("a"), "Bash", Body::text(r#"{"command": "git log | head"}"#), None);
    made.result(Some("a"), Body::text("ok"), Mark::default(), None);
    made.response(None, Body::MISSING, None);
    made.call(Some("b"), "Bash", Body::text(r#"{"command": "kubectl get pods"}"#), None);
    made.result(Some("b"), Body::text("ok"), Mark::default(), None);
    let mut model = judged(120, 40, "mono", loaded(rules), vec![made.finish()]);
    assert_eq!(model.shown_rule(), None, "{}", screen(&model));
    assert!(screen(&model).contains("no rule names Bash, one about any tool passed"), "{}", screen(&model));
    press(&mut model, "]f");
    assert!(model.shown_rule().is_some(), "{}", screen(&model));
}

/// A call has one mark, in what `replay` prints and on screen; beside it the screen says where the recording differs.
#[test]
fn a_call_is_marked_as_replay_marks_it() {
    let mut seen = std::collections::BTreeSet::new();
    for (policy, sessions) in [
        ("refunds/issue_refund.yaml", "refund-130-refused-then-allowed-now.json"),
        ("refunds/issue_refund.yaml", "refund-124-order-mismatch.json"),
        ("refunds/send_refund_receipt.yaml", "refund-124-order-mismatch.json"),
        ("desk/analyst.yaml", "support-desk.jsonl"),
        ("clinic/records.yaml", "ward.jsonl"),
    ] {
        let mut model = sample(120, 40, "mono", policy, sessions);
        for entry in 0..model.archive.entries.len() {
            crate::workbench::update::go::open(&mut model, entry);
            for judged in model.replay().unwrap().calls() {
                let (_, glyph) = crate::workbench::pane::look(judged);
                let (shown, printed) = (glyph.unicode(), crate::report::words::glyph(judged).unicode());
                let refused_then = shown == "✓" && !judged.agrees;
                assert_eq!(printed, if refused_then { "≠" } else { shown });
                seen.insert(printed);
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<String>(), "!~–≠■✓✗");
}

/// Between what a rule is about and what was called last, calls are left out, and the trace says how many.
#[test]
fn a_trace_says_how_many_calls_it_leaves_out() {
    let origin = Origin { file: "sessions/long.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("long", origin);
    for tool in ["plan", "run_python", "a", "b", "c", "d", "e", "post"] {
        made.response(None, Body::MISSING, None);
        made.call(Some(tool), tool, Body::text("{}"), None);
        made.result(Some(tool), Body::text("done"), Mark::default(), None);
    }
    let rule = "rules: [{type: never_after, trigger: run_python, forbidden: post}]";
    let mut model = judged(120, 40, "mono", loaded(rule), vec![made.finish()]);
    press(&mut model, "gg ]f 6 z");
    let screen = screen(&model);
    let shown: Vec<&str> = screen.lines().map(|line| line.trim_matches(['║', '│', ' '])).collect();
    let begin = shown.iter().position(|line| line.starts_with("trace ")).expect("a trace");
    let trace: Vec<&str> =
        shown.iter().skip(begin).take(7).map(|line| line.trim_start_matches("trace").trim()).collect();
    let calls = ["… 1 other call", "T2.1 run_python", "… 2 other calls", "T5.1 c", "T6.1 d", "T7.1 e"];
    assert_eq!(trace.first_chunk::<6>(), Some(&calls), "{screen}");
    assert!(trace[6].starts_with("T8.1 post ← stopped here"), "{screen}");
}
