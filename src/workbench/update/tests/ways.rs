//! The ways that a new user must find: few keys, each read from the table of keys and named on the screen before it is
//! pressed.

use ratatui::layout::Size;

use super::*;
use crate::workbench::keys::{Command, chord};
use crate::workbench::model::table::TableLine;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_recording as recording;

const DAY: i64 = 86_400_000;
/// 2026-11-22, at noon.
const NOW: i64 = 1_795_348_800_000;

/// The policies for coding agents that come with the program.
fn coding() -> rulestep_engine::policy::LoadResult {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/coding");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".yaml") && !name.ends_with(".case.yaml")
    });
    paths.sort();
    let file = |path: &std::path::PathBuf| {
        let name: Arc<str> = path.file_name().unwrap().to_str().unwrap().into();
        let text = std::fs::read_to_string(path).unwrap();
        PolicyFile { relative: Arc::clone(&name), name, text: text.into(), named: true }
    };
    let loaded = Policy::load(&paths.iter().map(file).collect::<Vec<_>>(), None);
    assert!(loaded.policy.is_some(), "{:#?}", loaded.diagnostics);
    loaded
}

/// A session of a coding agent: in which project, how many days ago, whether a command failed, and whether a file is edited
/// that was not read.
fn coded(id: &str, project: &str, days: i64, failed: bool, unread: bool) -> Session {
    let call = |id: &str, tool: &str, arguments: &str| {
        let arguments = serde_json::Value::String(arguments.to_owned());
        format!(
            r#"{{"role": "assistant", "tool_calls": [{{"id": "{id}", "function": {{"name": "{tool}", "arguments": {arguments}}}}}]}}"#
        )
    };
    let result = |id: &str, error: bool| {
        format!(r#"{{"role": "tool", "tool_call_id": "{id}", "content": "done", "is_error": {error}}}"#)
    };
    let mut messages = vec![
        r#"{"role": "user", "content": "fix the build"}"#.to_owned(),
        call("1", "Bash", r#"{"command": "make"}"#),
        result("1", failed),
        call("2", "Write", r#"{"file_path": "/p/notes.md"}"#),
        result("2", false),
    ];
    if unread {
        messages.extend([
            call("3", "Edit", r#"{"file_path": "/p/a.rs", "old_string": "a"}"#),
            result("3", false),
        ]);
    }
    let text = format!(
        r#"{{"session_id": "{id}", "context": {{"project": "{project}"}}, "messages": [{}]}}"#,
        messages.join(",")
    );
    let name = format!("{id}.json");
    let reading = recording::open(
        &*name,
        Box::new(std::io::Cursor::new(text.into_bytes())),
        &recording::Options::default(),
    );
    let mut session = reading.unwrap().next().unwrap();
    session.began = Some(NOW - days * DAY);
    session
}

fn started(width: u16, height: u16) -> Model {
    let sessions = vec![
        coded("first", "shop", 1, false, false),
        coded("second", "shop", 2, false, true),
        coded("third", "shop", 3, true, false),
        coded("old", "shop", 30, true, false),
        coded("other", "desk", 1, true, false),
    ];
    let mut model = judged(width, height, "mono", coding(), sessions);
    feed(&mut model, Msg::Resize(Size::new(width, height)));
    model.work.now = NOW;
    model
}

/// The keys of a command, once the footer or the palette has named it.
fn named(model: &mut Model, command: Command) -> &'static str {
    let key = command.row().keys[0];
    let seen = screen(model);
    let footer = seen.lines().last().unwrap().to_owned();
    if !footer.split("  ").any(|hint| hint.trim().split(' ').next() == Some(key)) {
        press(model, Command::Palette.row().keys[0]);
        typed(model, command.row().name);
        let listed = screen(model);
        let row = listed.lines().find(|line| line.contains(command.row().name) && line.contains(key));
        let begins: String = command.row().doc.chars().take(12).collect();
        assert!(row.is_some_and(|row| row.contains(&begins)), "{}\n{footer}\n{listed}", command.row().name);
        press(model, Command::Close.row().keys[0]);
        press(model, Command::Close.row().keys[0]);
        assert!(model.dialog.overlays.is_empty());
    }
    key
}

#[test]
fn the_reason_of_the_first_stopped_call_is_three_keys_away() {
    for (width, height) in [(200, 60), (120, 40), (80, 24)] {
        let mut model = started(width, height);
        let key = named(&mut model, Command::NextFinding);
        assert!(chord::parse(key).unwrap().len() <= 3, "{key}");
        press(&mut model, key);
        let seen = screen(&model);
        assert_eq!(at(&model), "T3.1 Edit");
        for said in ["DENY Edit", "before_missing", "A file is read", "edit.yaml:"] {
            assert!(seen.contains(said), "{width}x{height} {said}\n{seen}");
        }
    }
}

#[test]
fn rules_that_never_fired_are_one_key_away() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut model = started(width, height);
        let key = named(&mut model, Command::Overview);
        assert_eq!(chord::parse(key).unwrap().len(), 1, "{key}");
        press(&mut model, key);
        let seen = screen(&model);
        assert!(seen.contains("never checked") || seen.contains("without findings"), "{seen}");
        let first = seen.lines().position(|line| line.contains("never checked"));
        let fired = seen.lines().position(|line| line.contains("stopped, ") || line.contains(" reported"));
        assert!(first.is_some() && fired.is_none_or(|fired| first < Some(fired)), "those come first\n{seen}");
    }
}

#[test]
fn sessions_of_a_project_with_an_error_last_week_are_one_filter() {
    let mut model = started(120, 40);
    let key = named(&mut model, Command::FilterSessions);
    press(&mut model, key);
    typed(&mut model, "project:shop is:error since:7d");
    press(&mut model, Command::Open.row().keys[0]);
    let listed = |at: usize| match model.table_line(at) {
        Some(TableLine::Entry(entry)) => Some(model.archive.entries[entry].name.to_string()),
        _ => None,
    };
    assert_eq!((0..5).filter_map(listed).collect::<Vec<_>>(), ["third"], "{}", screen(&model));
    assert!(screen(&model).contains("1 of 5"), "{}", screen(&model));
}
