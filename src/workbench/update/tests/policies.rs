//! A policy arrives, breaks, is repaired; the mode changes.

use super::*;

#[test]
fn reading_the_policy_again_ends_with_a_word() {
    let mut model = model();
    let arrives = |model: &mut Model, text: &str| {
        feed(model, Msg::Policy { loaded: Box::new(loaded(text)), at: "12:06:00".to_owned() });
    };
    assert_eq!(format!("{:?}", press(&mut model, "r")), "[LoadSessions, LoadPolicy]");
    arrives(&mut model, CONTRACT);
    assert_eq!(note(&model), "the policy is unchanged");
    press(&mut model, "r");
    arrives(&mut model, "tool: issue_refund\nforbids: [x]\n");
    assert_eq!(note(&model), "the policy does not load: 1 error, ! lists them");
    press(&mut model, "r");
    arrives(&mut model, &format!("{CONTRACT}# the same rules\n"));
    assert_eq!(note(&model), "policy read at 12:06:00: no decision changed");
    press(&mut model, "r");
    arrives(&mut model, "tool: issue_refund\nforbids_after: [void_order]\n");
    assert_eq!(
        note(&model),
        "policy read at 12:06:00: 1 decision changed, a tool became visible or hidden 3 times, 1 rule removed"
    );
}

#[test]
fn a_policy_that_breaks_takes_back_what_was_said_of_it() {
    let mut model = model();
    let broken = "tool: issue_refund\nforbids: [x]\n";
    for text in [broken, CONTRACT, broken] {
        feed(&mut model, Msg::Policy { loaded: Box::new(loaded(text)), at: "12:06:00".to_owned() });
        match text == broken {
            true => assert!(model.dialog.note.is_none()),
            false => assert!(note(&model).starts_with("the policy loads again")),
        }
    }
}

#[test]
fn the_cause_comes_before_what_follows_from_it() {
    let mut model = model();
    let broken = "tool: issue_refund\npreconditions:\n  - requires_prior_tol: x\n    description: \"open\n";
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(broken)), at: "12:06:00".to_owned() });
    assert_eq!(model.basis.rules.first_problem().unwrap().code, code::SYNTAX);
}

#[test]
fn without_any_policy_nothing_looks_like_a_pass() {
    let mut model = opened(120, 40, "mono", vec![clean()]);
    model.basis.rules = crate::workbench::model::Ruling::default();
    (model.archive.entries[0].judgement, model.archive.entries[0].replay) = (None, None);
    let told =
        Diagnostic::error(code::MISSING_FILE, "no policy is named, and there is no folder `contracts` here");
    let loaded = rulestep_engine::policy::LoadResult {
        policy: None,
        documents: Vec::new(),
        cases: Vec::new(),
        diagnostics: vec![told],
    };
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded), at: "12:06:00".to_owned() });
    for (width, height) in [(120, 40), (80, 24), (58, 14)] {
        feed(&mut model, Msg::Resize(ratatui::layout::Size::new(width, height)));
        let seen = screen(&model);
        assert!(seen.contains("not judged: no policy"), "{seen}");
        assert!(!seen.contains('✓') && !seen.contains("contracts 0"), "{seen}");
    }
}

#[test]
fn the_mode_is_changed_and_everything_judged_anew() {
    let mut model = model();
    press(&mut model, "]f");
    assert_eq!(model.archive.entries[0].verdict().unwrap().stopped, 1);
    assert!(screen(&model).contains("counterfactual from here"));
    press(&mut model, "m");
    assert_eq!((model.basis.mode, model.work.generation), (Mode::Shadow, 2));
    assert_eq!(at(&model), "T2.2 issue_refund", "the place stays");
    assert!(!screen(&model).contains("counterfactual from here"));
    assert!(
        model
            .archive
            .entries
            .iter()
            .all(|entry| entry.judgement.as_ref().is_some_and(|judgement| judgement.generation == 2))
    );
}

#[test]
fn an_answer_to_an_older_request_is_dropped() {
    let mut model = model();
    let generation =
        |model: &Model| model.archive.entries[0].judgement.as_ref().map(|judgement| judgement.generation);
    let before = generation(&model);
    let policy = loaded(CONTRACT).policy.unwrap();
    let late = answered(0, 0, &listed(&model), &policy, Mode::Shadow);
    feed(&mut model, late);
    assert_eq!(generation(&model), before);
}

#[test]
fn a_policy_that_breaks_leaves_the_last_whole_one_deciding() {
    let mut model = model();
    press(&mut model, "]f");
    let broken = CONTRACT.replace("requires_prior_tool", "requires_prior_tol");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&broken)), at: "12:05:00".to_owned() });
    assert!(model.basis.rules.stale);
    let seen = screen(&model);
    assert!(seen.contains("contracts/issue_refund.yaml:4:5 unknown key `requires_prior_to"), "{seen}");
    assert!(seen.contains("the policy of 12:03:58 decides"));
    assert_eq!(model.finding().unwrap().code, codes::RESOURCE_UNMATCHED);
    for (width, height) in [(80, 24), (58, 14), (40, 8)] {
        feed(&mut model, Msg::Resize(ratatui::layout::Size::new(width, height)));
        assert!(screen(&model).contains("issue_refund"), "{width}x{height}");
    }
    press(&mut model, "!");
    assert!(screen(&model).contains("unknown_key"));
    press(&mut model, "q");
    let repaired = CONTRACT.replace("    resource: {bind_from: arguments, path: $.order_id}\n", "");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&repaired)), at: "12:06:00".to_owned() });
    assert!(!model.basis.rules.stale);
    assert_eq!(model.finding(), None, "judged by the new version");
    assert_eq!(at(&model), "T2.2 issue_refund");
}

#[test]
fn without_a_whole_policy_nothing_is_judged() {
    let mut model = Model::new(crate::workbench::model::Opening {
        theme: crate::workbench::theme::Theme::builtin("mono", crate::workbench::theme::Depth::None).unwrap(),
        size: ratatui::layout::Size::new(120, 40),
        policy_name: "contracts".to_owned(),
        mode: Mode::Enforce,
    });
    assert!(
        screen(&model).contains("reading the sessions"),
        "the first frame stands before anything is read"
    );
    let sessions = vec![Arc::new(refunds())];
    let file = Arc::from("sessions/refunds.json");
    read_part(&mut model, &file, sessions, Vec::new(), (1, 2));
    let bad = Diagnostic::error(code::SYNTAX, "not JSON").on_line("broken.json", 41);
    read_part(&mut model, "broken.json", Vec::<Arc<Session>>::new(), vec![bad], (2, 2));
    read_all(&mut model);
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded("tool: 3\n")), at: "12:00:00".to_owned() });
    let seen = screen(&model);
    assert!(
        seen.contains("not judged issue_refund") || seen.contains("not judged check_eligibility"),
        "{seen}"
    );
    assert!(seen.contains("nothing is judged"));
    assert!(seen.contains("? broken.json"));
    press(&mut model, "]f");
    assert_eq!(note(&model), "this session is not judged yet");
    press(&mut model, "}");
    assert!(screen(&model).contains("broken.json could not be read"));
    assert!(screen(&model).contains("broken.json:41: error[syntax]: not JSON"));
}
