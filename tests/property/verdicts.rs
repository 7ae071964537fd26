//! One session, one verdict: what the workbench shows, what `replay` exits with, and what its reports say.

use std::sync::Arc;

use proptest::prelude::*;
use rulestep::stored::StoredSession;
use rulestep::workbench::draw;
use rulestep::workbench::effect::Effect;
use rulestep::workbench::message::{Event, JudgedSession, Msg};
use rulestep::workbench::model::{Model, Opening};
use rulestep::workbench::theme::{Depth, Glyph, Theme};
use rulestep::workbench::update::update;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{Replay, Status};
use serde_json::Value;

use crate::contracts::config;
use crate::engine::{engine_mode, read};
use crate::generate::pools;
use crate::generate_rules::document;
use crate::generate_sessions::session;
use crate::naive::MODES;

/// The workbench with one session, judged.
fn workbench(document: &Value, session: &Value, mode: rulestep_engine::run::Mode) -> Model {
    let mut model = Model::new(Opening {
        theme: Theme::builtin("mono", Depth::None).unwrap(),
        size: ratatui::layout::Size::new(120, 40),
        policy_name: "rules.json".to_owned(),
        mode,
    });
    let (name, text): (Arc<str>, Arc<str>) = ("rules.json".into(), document.to_string().into());
    let file = PolicyFile { relative: Arc::clone(&name), name, text, named: true };
    let loaded = Box::new(Policy::load(&[file], None));
    update(&mut model, Msg::Policy { loaded, at: "12:00:00".to_owned() });
    let (file, sessions) =
        ("session.json".into(), vec![StoredSession::resident(Arc::new(read(session))).into()]);
    let msg = Msg::Recordings(Event::Sessions { file, sessions, diagnostics: Vec::new(), progress: (1, 1) });
    for effect in update(&mut model, msg) {
        let Effect::Judge(judge) = effect else { continue };
        let by = &judge.by;
        let one = |(place, session): &(usize, Arc<StoredSession>)| {
            let content = session.session().unwrap();
            let replay = Arc::new(Replay::new(&content, &by.policy, by.mode));
            JudgedSession::of(by.generation, *place, session, replay)
        };
        let sessions = judge.sessions.iter().map(one).collect();
        update(&mut model, Msg::Judged { generation: by.generation, sessions });
    }
    update(&mut model, Msg::Recordings(Event::End { diagnostics: Vec::new() }));
    model
}

fn header(model: &Model) -> String {
    let mut buf = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 120, 40));
    draw::draw(model, &mut buf);
    buf.content().iter().take(120).map(ratatui::buffer::Cell::symbol).collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn workbench_exit_code_and_reports_agree(
        (document, session) in pools().prop_flat_map(|pools| (document(pools), session(pools))),
    ) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rules.json"), document.to_string()).unwrap();
        std::fs::write(folder.path().join("session.json"), session.to_string()).unwrap();
        for (mode, name) in MODES {
            let model = workbench(&document, &session, engine_mode(mode));
            let verdict = model.archive.entries[0].verdict().unwrap();
            let (_, glyph) = verdict.look();
            prop_assert_eq!(verdict.objects(), matches!(glyph, Glyph::Deny | Glyph::Halt | Glyph::After));
            prop_assert!(header(&model).contains(&format!(" ✗{} ", verdict.against())), "{}", header(&model));
            let replay = model.replay().unwrap();

            let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rulestep"));
            let arguments = ["replay", "session.json", "-p", "rules.json", "--mode", name, "--format", "json",
                "--report", "junit=junit.xml"];
            let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
            let objects = output.status.code() == Some(1);
            prop_assert_eq!(verdict.objects(), objects, "{:?} {} {}", output, document, session);
            let lines = String::from_utf8(output.stdout).unwrap();
            let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
            prop_assert_eq!(first["status"].as_str(), Some(replay.status().word()));
            match replay.status() {
                Status::Stopped => prop_assert!(verdict.stopped + verdict.after > 0),
                Status::Fail => prop_assert!(objects),
                Status::NotExercised => prop_assert!(verdict.not_exercised),
                Status::Pass => prop_assert!(verdict.violated == 0 && !verdict.not_exercised),
            }

            let junit = std::fs::read_to_string(folder.path().join("junit.xml")).unwrap();
            // In shadow nothing is stopped, so the status does not have what would be, and the counts do.
            let failed = usize::from(objects);
            let by_status = matches!(replay.status(), Status::Stopped | Status::Fail);
            prop_assert_eq!(objects, by_status || name == "shadow" && verdict.stopped + verdict.after > 0);
            // Recorded text is escaped, so a tag is one that was written as a tag. The sums are compared as well.
            // What may have held calls and was not read is an error beside the session, and nothing else is one.
            let told = String::from_utf8_lossy(&output.stderr);
            let unread = usize::from(told.contains("could not be read completely") || told.contains("no call could be read"));
            // A warning about the policy is a test as well, which fails nobody.
            let warned = junit.matches("the policy has no warning").count();
            prop_assert!(warned == 0 || told.contains("warning["), "{} but {}", junit, told);
            let tests = 1 + unread + warned;
            let parts = [("<testcase ", tests), ("<failure", failed), ("<error", unread), ("<skipped", warned)];
            for (part, count) in parts {
                prop_assert_eq!(junit.matches(part).count(), count, "{} in {}", part, junit);
            }
            let sums = junit.lines().find(|line| line.starts_with("<testsuites ")).unwrap_or_default();
            let counted = sums.contains(&format!(" tests=\"{tests}\"")) && sums.contains(&format!(" failures=\"{failed}\""));
            prop_assert!(counted, "{}", junit);
        }
    }
}
