//! A thousand random saves while keys are pressed: the real files, watch, threads and model, without the terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::files::watch::{WatchTargets, Way};
use crate::workbench::keys::{TABLE, chord};
use crate::workbench::message::Msg;
use crate::workbench::model::{Changes, Compare};
use crate::workbench::run::headless::Headless;
use crate::workbench::testing::{press, screen};
use crate::workspace::Workspace;
use rulestep_recording::Options;

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

const TOOLS: [&str; 4] = ["look", "check", "pay", "void"];
const POLICIES: [&str; 4] =
    ["contracts/a.yaml", "contracts/b.yaml", "contracts/c.yml", "contracts/more/d.yaml"];
const SESSIONS: [&str; 4] =
    ["sessions/a.jsonl", "sessions/b.jsonl", "sessions/c.json", "sessions/more/d.jsonl"];

/// A contract about a tool; one in five has a mistake.
fn contract(tool: &str, numbers: &mut Numbers) -> String {
    let other = numbers.pick(&TOOLS);
    match numbers.below(10) {
        0 => format!("tool: {tool}\nforbids: [{other}]\n"),
        1 => format!("tool: \"{tool}\n"),
        2 | 3 => format!("tool: {tool}\nforbids_after: [{other}]\n"),
        4 => {
            format!("tool: {tool}\npreconditions:\n  - requires_step_count: {{gte: {}}}\n", numbers.below(4))
        }
        _ => format!("tool: {tool}\npreconditions:\n  - requires_prior_tool: {other}\n"),
    }
}

/// A session of a few calls, on one line.
fn session(id: usize, numbers: &mut Numbers) -> String {
    let mut messages = vec![r#"{"role": "user", "content": "please"}"#.to_owned()];
    for call in 0..1 + numbers.below(5) {
        let tool = numbers.pick(&TOOLS);
        messages.push(format!(
            r#"{{"role": "assistant", "content": null, "tool_calls": [{{"id": "c{call}", "type": "function", "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}}"#
        ));
        messages.push(format!(r#"{{"role": "tool", "tool_call_id": "c{call}", "content": "ok"}}"#));
    }
    format!(r#"{{"id": "s{id}", "messages": [{}]}}"#, messages.join(", "))
}

fn recording(numbers: &mut Numbers) -> String {
    match numbers.below(8) {
        0 => "{\"id\": \"half".to_owned(),
        1 => String::new(),
        _ => (0..1 + numbers.below(4)).map(|id| format!("{}\n", session(id, numbers))).collect(),
    }
}

/// Saves a text in one of the ways of editors and programs.
fn save(path: &Path, text: &str, numbers: &mut Numbers) {
    // Its folder may just have been removed.
    let beside = path.with_file_name(".new.tmp");
    let _ = match numbers.below(6) {
        0 | 1 => fs::write(path, text),
        2 => fs::write(&beside, text).and_then(|()| fs::rename(&beside, path)),
        3 => {
            let _ = fs::rename(path, path.with_extension("yaml~"));
            fs::write(path, text)
        }
        4 => {
            let middle = text.len() / 2;
            let half = text.get(..middle).unwrap_or_default();
            fs::write(path, half).and_then(|()| {
                thread::sleep(Duration::from_millis(1));
                let mut file = fs::File::options().append(true).open(path)?;
                std::io::Write::write_all(&mut file, text.get(middle..).unwrap_or(text).as_bytes())
            })
        }
        _ => fs::remove_file(path).and_then(|()| fs::write(path, text)),
    };
}

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        for name in ["contracts/more", "sessions/more"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Scene { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, way: Option<Way>) -> Headless {
        let named = |name: &str| vec![self.path(name).display().to_string()];
        // Growing files are soon complete, so that the end can be waited for.
        let watched = WatchTargets { policies: named("contracts"), sessions: named("sessions") };
        let workspace = Workspace::new(named("contracts"), None, named("sessions"), Options::default());
        let workspace = workspace.resting(Duration::from_millis(300));
        Headless::start(Arc::new(workspace), way.map(|way| (watched, way)))
    }

    /// One random change on disk.
    fn change(&self, numbers: &mut Numbers) {
        match numbers.below(40) {
            0..18 => {
                // A tool has one contract, in its own file.
                let which = numbers.below(POLICIES.len());
                let text = contract(TOOLS[which], numbers);
                save(&self.path(POLICIES[which]), &text, numbers);
            }
            18..28 => {
                let text = recording(numbers);
                save(&self.path(numbers.pick(&SESSIONS)), &text, numbers);
            }
            28..34 => {
                // A recording grows, possibly in the middle of a line.
                let more = format!("{}\n", session(10 + numbers.below(5), numbers));
                let end = if numbers.below(2) == 0 { more.len() } else { numbers.below(more.len()) };
                let file = fs::File::options().append(true).open(self.path(numbers.pick(&SESSIONS)));
                if let Ok(mut file) = file {
                    let _ = std::io::Write::write_all(&mut file, &more.as_bytes()[..end]);
                }
            }
            34 => drop(fs::remove_file(self.path(numbers.pick(&POLICIES)))),
            35 => drop(fs::remove_file(self.path(numbers.pick(&SESSIONS)))),
            36 => drop(fs::remove_dir_all(self.path("sessions/more"))),
            37 => drop(fs::rename(self.path("contracts"), self.path("away"))),
            38 => drop(fs::remove_dir_all(self.path("contracts/more"))),
            _ => {
                if !self.path("contracts").exists() {
                    let _ = fs::rename(self.path("away"), self.path("contracts"));
                }
                for name in ["contracts/more", "sessions/more"] {
                    let _ = fs::create_dir_all(self.path(name));
                }
            }
        }
    }
}

/// Every session's screen, the findings and the problems: everything that is independent of the earlier steps. With
/// `rest`, only some of the sessions, and requests of the screen to other threads are waited for.
fn everything(bench: &mut Headless, rest: Option<(usize, Duration)>) -> Vec<String> {
    let model = &mut bench.model;
    model.dialog.overlays.clear();
    (model.dialog.note, model.dialog.query, model.dialog.prompt, model.place.zoom) =
        (None, None, None, false);
    model.dialog.pending.clear();
    (model.place.back, model.place.forward, model.dialog.which_key, model.place.pinned) =
        (Vec::new(), Vec::new(), false, None);
    model.forget_changes();
    model.archive.table = Default::default();
    model.arrange();
    (model.basis.changes, model.basis.compare) = (Changes::default(), Compare::default());
    model.basis.live = Default::default();
    model.basis.rules.since = "12:00:00".to_owned();
    model.work.looking = None;
    for entry in &mut model.archive.entries {
        (entry.left_at, entry.supposed) = (None, Default::default());
    }
    if model.basis.mode != rulestep_engine::run::Mode::Enforce {
        bench.take(Msg::Key(crate::workbench::keys::Key::char('m')));
        bench.settle(Duration::from_millis(300));
    }
    let mut screens = Vec::new();
    let mut shown = |bench: &mut Headless, keys: &str| {
        match rest {
            Some((_, rest)) => {
                bench.press(keys);
                bench.settle(rest);
            }
            None => drop(press(&mut bench.model, keys)),
        }
        bench.model.dialog.note = None;
        screens.push(screen(&bench.model));
    };
    press(&mut bench.model, "2 6 2 } 1 G gg");
    let step = rest.map_or(1, |(step, _)| step);
    for _ in (0..bench.model.archive.entries.len()).step_by(step) {
        shown(bench, "2 gg");
        for _ in 0..step {
            press(&mut bench.model, "1 j");
        }
    }
    for list in ["F", "!"] {
        shown(bench, list);
        press(&mut bench.model, "q");
    }
    screens
}

fn storm(way: Way, saves: usize, seed: u64, rest: Duration) -> Duration {
    let scene = Scene::new();
    let numbers = &mut Numbers(seed);
    let keys: Vec<_> =
        TABLE.iter().flat_map(|row| row.keys).flat_map(|keys| chord::parse(keys)).flatten().collect();
    let mut bench = scene.start(Some(way));
    let mut longest = Duration::ZERO;
    for at in 0..saves {
        scene.change(numbers);
        for _ in 0..numbers.below(4) {
            let key = numbers.pick(&keys);
            // Reloading stays on, because it is tested.
            if key != crate::workbench::keys::Key::char('R') {
                longest = longest.max(bench.take(Msg::Key(key)));
            }
        }
        bench.drain();
        if at % 16 == 0 {
            screen(&bench.model);
        }
        thread::sleep(Duration::from_micros(100 * numbers.below(40) as u64));
    }
    // The last word on every policy is a whole one: a version that does not load leaves an older one deciding.
    let _ = fs::rename(scene.path("away"), scene.path("contracts"));
    for (name, tool) in POLICIES.into_iter().zip(TOOLS) {
        let path = scene.path(name);
        let broken = |text: String| text.contains("forbids:") || text.contains('"') || !text.ends_with('\n');
        if fs::read_to_string(&path).is_ok_and(broken) {
            fs::write(&path, format!("tool: {tool}\nforbids_after: [void]\n")).unwrap();
        }
    }
    fs::create_dir_all(scene.path("contracts")).unwrap();
    fs::write(scene.path("contracts/last.yaml"), "tool: last\nforbids_after: [look]\n").unwrap();
    bench.settle(rest);
    assert!(bench.model.basis.rules.loads.newest_first().len() > 3, "edits were picked up on the way");
    let mut fresh = scene.start(None);
    fresh.settle(rest);
    assert!(!bench.model.basis.rules.stale, "{:?}", bench.model.basis.rules.problems);
    let digest =
        |bench: &Headless| bench.model.basis.rules.policy.as_ref().map(|policy| policy.digest().to_string());
    assert_eq!(digest(&bench), digest(&fresh));
    assert_eq!(bench.model.judging(), None);
    let (kept, new) = (everything(&mut bench, None), everything(&mut fresh, None));
    assert_eq!(kept.len(), new.len(), "as many sessions");
    for (kept, new) in kept.iter().zip(&new) {
        assert!(kept == new, "seed {seed}\nkept:\n{kept}\n\nfresh:\n{new}");
    }
    longest
}

/// If no session fits into memory, every screen and every list is the same as if all do, and a recording that changes
/// on disk is shown as it is now.
#[test]
fn what_has_left_memory_is_shown_as_what_has_not() {
    let scene = Scene::new();
    let numbers = &mut Numbers(3);
    for (name, tool) in POLICIES.into_iter().zip(TOOLS) {
        let rule = if tool == "check" { "forbids_after: [void]" } else { "forbids_after: [check]" };
        let text = format!("tool: {tool}\npreconditions:\n  - requires_prior_tool: look\n{rule}\n");
        fs::write(scene.path(name), text).unwrap();
    }
    let many = |numbers: &mut Numbers, from: usize| -> String {
        (from..from + 120).map(|id| format!("{}\n", session(id, numbers))).collect()
    };
    for (at, name) in SESSIONS.into_iter().enumerate() {
        fs::write(scene.path(name), many(numbers, 1000 * at)).unwrap();
    }
    let start = |most| {
        let named = |name: &str| vec![scene.path(name).display().to_string()];
        let workspace = Workspace::new(named("contracts"), None, named("sessions"), Options::default());
        Headless::start(Arc::new(workspace.bounded(most)), None)
    };
    let quiet = Duration::from_millis(1200);
    let (mut kept, mut left) = (start(usize::MAX), start(0));
    for again in [false, true] {
        if again {
            // There is more before the part that was read, and something at its end is removed.
            let path = scene.path(SESSIONS[0]);
            let text = fs::read_to_string(&path).unwrap();
            let end = text.trim_end().rfind('\n').unwrap();
            fs::write(&path, many(numbers, 500) + &text[..=end]).unwrap();
        }
        for bench in [&mut kept, &mut left] {
            if again {
                bench.reads_again();
            }
            bench.settle(quiet);
            assert_eq!(bench.model.judging(), None);
            assert!(bench.model.archive.entries.len() > 450);
        }
        let replays = |bench: &Headless| {
            bench.model.archive.entries.iter().filter(|entry| entry.replay.is_some()).count()
        };
        assert_eq!(replays(&kept), kept.model.archive.entries.len());
        assert!(replays(&left) <= 1, "{}", replays(&left));
        let is_stopped =
            |entry: &crate::workbench::model::Entry| entry.verdict().is_some_and(|verdict| verdict.objects());
        assert!(kept.model.archive.entries.iter().any(is_stopped), "something is found");
        // Sessions that left memory are judged again on other threads, so the screen is compared once they are idle.
        let rest = Some((7, Duration::from_millis(60)));
        let (kept, left) = (everything(&mut kept, rest), everything(&mut left, rest));
        for (kept, left) in kept.iter().zip(&left) {
            assert!(kept == left, "in memory:\n{kept}\n\nread back:\n{left}");
        }
        assert_eq!(kept.len(), left.len());
    }
}

#[test]
fn a_thousand_saves_while_keys_are_pressed() {
    let longest = storm(Way::System, 1000, 1, Duration::from_millis(1200));
    println!("the slowest key took {longest:?}");
}

#[test]
fn saves_that_are_only_looked_for() {
    storm(Way::Polling(Duration::from_millis(20)), 200, 2, Duration::from_millis(2600));
}

#[test]
#[ignore = "takes minutes: many storms, one after the other"]
fn many_storms() {
    for seed in 10..40 {
        let longest = storm(Way::System, 1000, seed, Duration::from_millis(1200));
        println!("seed {seed}: the slowest key took {longest:?}");
    }
}
