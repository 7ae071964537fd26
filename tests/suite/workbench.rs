//! The workbench in a real terminal: a pty, the built program, keys, and what a terminal makes of its output.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// How long something may take to appear: long, for slow machines. A screen that shows it sooner costs less.
const PATIENCE: Duration = Duration::from_secs(60);

struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    terminal: Arc<Mutex<vt100::Parser>>,
    /// Everything the program wrote.
    written: Arc<Mutex<Vec<u8>>>,
    modes: String,
}

impl Session {
    fn start(
        columns: u16,
        rows: u16,
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Session {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let modes = format!("{:?}", pair.master.get_termios());
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_rulestep"));
        command.args(arguments);
        command.cwd(folder);
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env_remove("NO_COLOR");
        // Nothing of the person who runs the tests, and nothing that another test leaves.
        command.env("XDG_CONFIG_HOME", "/nonexistent/config");
        // Not even an administrator makes a folder there.
        command.env("XDG_STATE_HOME", "/dev/null/state");
        command.env_remove("LC_ALL");
        variables.iter().for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        let keys = pair.master.take_writer().unwrap();
        let terminal = Arc::new(Mutex::new(vt100::Parser::new(some(rows), some(columns), 0)));
        let mut output = pair.master.try_clone_reader().unwrap();
        let shown = Arc::clone(&terminal);
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                kept.lock().unwrap().extend(&bytes[..count]);
                shown.lock().unwrap().process(&bytes[..count]);
            }
        });
        Session { master: pair.master, child, keys, terminal, written, modes }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.lock().unwrap().screen_mut().set_size(some(rows), some(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    fn screen(&self) -> String {
        self.terminal.lock().unwrap().screen().contents()
    }

    fn until(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !wanted(&self.screen()) {
            assert!(begun.elapsed() < PATIENCE, "never saw {what}:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn sees(&self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    /// What the program last put on the clipboard.
    fn copied(&self) -> String {
        use base64::Engine as _;
        let written = String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned();
        let (_, rest) = written.rsplit_once("\x1b]52;c;").unwrap();
        let end = rest.find(['\x07', '\x1b']).unwrap();
        String::from_utf8(base64::engine::general_purpose::STANDARD.decode(&rest[..end]).unwrap()).unwrap()
    }

    /// The program has ended well and the terminal is as it was.
    fn ended(mut self) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "{status:?}\n{}", self.screen());
        self.until("the screen of before", |_| !self.terminal.lock().unwrap().screen().alternate_screen());
        let terminal = self.terminal.lock().unwrap();
        assert!(!terminal.screen().hide_cursor(), "the cursor is shown");
        assert!(!terminal.screen().bracketed_paste(), "pastes are plain");
        assert_eq!(format!("{:?}", self.master.get_termios()), self.modes, "the terminal's modes");
    }
}

fn some(size: u16) -> NonZero<u16> {
    NonZero::new(size).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const MISMATCH: &str = "sample-traces/refund-124-order-mismatch.json";

#[test]
fn a_denied_call_is_found_and_left_again() {
    let mut session = Session::start(120, 40, root(), &[MISMATCH, "--policy", "contracts/refunds"], &[]);
    session.sees("6 Decision");
    session.sees("✗1");
    // It begins there.
    session.sees("DENY issue_refund");
    session.sees("resource_unmatched");
    session.sees("contracts/refunds/issue_refund.yaml:8");
    session.press("o");
    session.sees("ALLOW check_eligibility");
    session.press("\x1b[Bb");
    session.sees("check_eligibility result");
    session.press("j");
    session.sees("$.eligible");
    session.press("q\x0f");
    session.sees("DENY issue_refund");
    session.press("m");
    session.sees("shadow");
    session.resize(80, 24);
    session.until("the medium screen", |screen| screen.contains("6Dec") && !screen.contains("5 Precond"));
    session.resize(58, 14);
    session.until("the narrow screen", |screen| screen.contains("2Text") && screen.contains("T4/"));
    session.resize(30, 5);
    session.sees("40x8 needed");
    session.resize(120, 40);
    session.sees("WOULD STOP issue_refund");
    session.press("q");
    session.ended();
}

#[test]
fn the_samples_open_with_nothing_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::start(120, 40, folder.path(), &[], &[]);
    // At a call that is stopped, with its rule, and with what to do next.
    session.sees("These are samples. ]f next finding · your own: `rulestep SESSIONS -p POLICIES` · ? help");
    session.until("the first stop", |screen| {
        let shown = ["1 Sessions", "sample 3/", "DENY issue_refund", "refunds/issue_refund.yaml:8"];
        shown.iter().all(|text| screen.contains(text))
    });
    session.press("F");
    session.sees("resource_unmatched");
    session.press("\x03");
    session.ended();
}

#[test]
fn an_edit_changes_the_decision_and_the_editor_gets_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let contract = "tool: issue_refund\npreconditions:\n  - requires_prior_tool: check_eligibility\n";
    std::fs::create_dir(folder.path().join("contracts")).unwrap();
    std::fs::write(folder.path().join("contracts/refund.yaml"), contract).unwrap();
    let recording = r#"{"id": "one", "messages": [
        {"role": "assistant", "content": null, "tool_calls": [
          {"id": "c1", "type": "function", "function": {"name": "issue_refund", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"}]}"#;
    std::fs::write(folder.path().join("one.json"), recording).unwrap();
    // The editor tells its arguments and the key it gets, then takes the precondition out.
    let editor = folder.path().join("editor.sh");
    let script = "#!/bin/sh\nread key\nprintf '%s %s %s' \"$1\" \"$2\" \"$key\" > told.txt\n\
                  printf 'tool: issue_refund\\nforbids_after: [issue_refund]\\n' > \"$2\"\n";
    std::fs::write(&editor, script).unwrap();
    let editor = format!("sh {}", editor.display());
    let variables = [("VISUAL", editor.as_str())];
    let mut session = Session::start(80, 24, folder.path(), &["one.json"], &variables);
    session.sees("DENY issue_refund");
    session.press("e");
    session.until("the editor's own screen", |screen| !screen.contains("6 Decision"));
    session.press("q\r");
    session.sees("ALLOW issue_refund");
    let told = std::fs::read_to_string(folder.path().join("told.txt")).unwrap();
    assert_eq!(told, "+3 contracts/refund.yaml q");
    session.press("q");
    session.ended();
}

/// The pictures that `README.md` shows are what somebody sees who starts the program, written by the program itself.
/// `UPDATE_README=1 cargo test --test suite readmes_pictures` takes them anew.
#[test]
fn the_readmes_pictures_are_the_programs() {
    for (theme, picture) in [("harbor", "docs/screen-dark.svg"), ("paper", "docs/screen-light.svg")] {
        let folder = tempfile::tempdir().unwrap();
        let mut session =
            Session::start(120, 40, folder.path(), &["--theme", theme], &[("COLORTERM", "truecolor")]);
        session.until("all judged", |screen| screen.contains("1✗ 2~ 12") && !screen.contains("judging"));
        // The line that welcomes goes with the first key.
        session.sees("These are samples.");
        session.press("\x0c");
        session.until("the first stop", |screen| {
            screen.contains("DENY issue_refund") && screen.contains("o cause")
        });
        let (shown, update) = (root().join(picture), std::env::var_os("UPDATE_README").is_some());
        // The last of the samples may still be on their way.
        let begun = Instant::now();
        for nth in 0.. {
            if update {
                std::thread::sleep(Duration::from_secs(2));
            }
            session.press(":");
            session.until("the commands", |screen| !screen.contains("o cause"));
            session.press(&format!("export {nth}.svg"));
            session.sees(&format!("export {nth}.svg"));
            session.press("\r");
            session.sees(&format!("wrote {nth}.svg"));
            let made = std::fs::read_to_string(folder.path().join(format!("{nth}.svg"))).unwrap();
            if update {
                std::fs::write(&shown, &made).unwrap();
            }
            if made == std::fs::read_to_string(&shown).unwrap_or_default() {
                break;
            }
            let late = begun.elapsed() > PATIENCE;
            assert!(
                !late,
                "{picture} is not the screen; UPDATE_README=1 takes it anew:\n{}",
                session.screen()
            );
        }
        session.press("q");
        session.ended();
    }
}

/// What only the session as a whole violates was shown as a pass, with nothing to go to.
#[test]
fn a_session_that_violates_a_rule_is_no_pass() {
    let folder = refund_on_disk();
    let rules = "rules:\n  - {type: require, tool: send_receipt, description: a receipt must be sent}\n";
    std::fs::write(folder.path().join("contracts/refund.yaml"), rules).unwrap();
    for mode in ["enforce", "shadow"] {
        let mut replay = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rulestep"));
        replay.current_dir(folder.path()).args(["replay", "runs", "--mode", mode]).assert().code(1);
        for (columns, rows) in [(120, 40), (80, 24)] {
            let mut session = Session::start(columns, rows, folder.path(), &["runs", "--mode", mode], &[]);
            session.sees("✗1 ✓1");
            session.sees("a receipt must be sent");
            session.press("]f");
            session.sees("✗ VIOLATED session rule");
            session.until("what happened", |screen| {
                ["actual   send_receipt never", "suggest  call send_receipt"]
                    .iter()
                    .all(|said| screen.contains(said))
            });
            session.press("F");
            session.sees("✗ end ");
            session.press("q5");
            session.sees("session rules");
            session.press("q");
            session.ended();
        }
    }
}

/// What is supposed is judged, marked and saved; what is saved passes.
#[test]
fn what_if_and_a_saved_case() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("one.json");
    std::fs::copy(root().join(MISMATCH), &recording).unwrap();
    std::fs::create_dir(folder.path().join("contracts")).unwrap();
    for name in ["issue_refund.yaml", "check_eligibility.yaml"] {
        let from = root().join("contracts/refunds").join(name);
        std::fs::copy(from, folder.path().join("contracts").join(name)).unwrap();
    }
    let before = std::fs::read(&recording).unwrap();
    let passes = |file: &str| {
        let mut test = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rulestep"));
        test.current_dir(folder.path()).args(["test", file]).assert().success();
    };
    let mut session = Session::start(120, 40, folder.path(), &["one.json"], &[]);
    session.sees("✗1");
    session.press("]f");
    session.sees("DENY issue_refund");
    session.press("xx");
    session.sees("WHAT IF 1");
    session.sees("deny → allow");
    session.press("s");
    session.sees("save as: contracts/refund-124");
    session.press("\x15off.case.yaml\r");
    session.sees("saved off.case.yaml");
    passes("off.case.yaml");
    let text = std::fs::read_to_string(folder.path().join("off.case.yaml")).unwrap();
    assert!(text.contains("without: ") && text.contains("policy: contracts"), "{text}");
    session.press("xu");
    session
        .until("the recording", |screen| !screen.contains("WHAT IF") && screen.contains("DENY issue_refund"));
    session.press("W");
    session.sees("minimal example of refund-124");
    session.press("s\r");
    session.sees("-minimal.case.yaml` passes");
    let saved = std::fs::read_dir(folder.path().join("contracts")).unwrap();
    let names = saved.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let name = names.into_iter().find(|name| name.ends_with("-minimal.case.yaml")).unwrap();
    passes(&format!("contracts/{name}"));
    assert!(std::fs::read(&recording).unwrap() == before, "the recording is as it was");
    session.press("q");
    session.until("the recording", |screen| !screen.contains("MINIMAL EXAMPLE"));
    session.press("q");
    session.ended();
}

#[test]
fn hostile_text_does_nothing_to_the_terminal() {
    let recording = "sample-traces/transfer-405-hostile-text.json";
    let mut session = Session::start(120, 40, root(), &[recording], &[]);
    session.sees("␛");
    session.press("GbqF");
    session.sees("Findings by session");
    let title = session.terminal.lock().unwrap().screen().contents();
    assert!(title.contains("Findings"), "still its own screen");
    session.press("qq");
    session.ended();
}

/// The place is kept in the folder for state alone; what is damaged there is no reason to end.
#[test]
fn the_next_start_is_where_the_last_one_ended() {
    let state = tempfile::tempdir().unwrap();
    let variables = [("XDG_STATE_HOME", state.path().to_str().unwrap())];
    let start = |more: &[&str]| Session::start(120, 40, root(), &[&[MISMATCH], more].concat(), &variables);
    let mut session = start(&[]);
    session.sees("the first call that is stopped; ]f goes to the next");
    session.sees("DENY issue_refund");
    session.press("k");
    session.sees("ALLOW check_eligibility");
    session.press("q");
    session.ended();
    let places = state.path().join("rulestep/places");
    let kept: Vec<_> = std::fs::read_dir(&places).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let mut session = start(&[]);
    session.sees("back in refund-124");
    session.sees("ALLOW check_eligibility");
    // A click on the first pane, as terminals report it.
    let listens = |session: &Session, mode: &str| {
        String::from_utf8_lossy(&session.written.lock().unwrap()).contains(&format!("\u{1b}[?1000{mode}"))
    };
    assert!(listens(&session, "h") && !listens(&session, "l"));
    session.press("\u{1b}[<0;5;3M\u{1b}[<0;5;3m");
    session.sees("╔═ 1 Sessions");
    session.press("M");
    session.sees("the mouse is off");
    assert!(listens(&session, "l"));
    session.press("q");
    session.ended();
    let mut session = start(&["--no-restore"]);
    session.sees("call 5/12");
    session.press("q");
    session.ended();
    std::fs::write(&kept[0], "{\"schema\": \"other\"").unwrap();
    let mut session = start(&[]);
    session.sees("the place of the last visit cannot be read");
    session.sees("call 5/12");
    session.press("q");
    session.ended();
}

#[test]
fn without_colours_weight_and_reversal_remain() {
    let variables = [("NO_COLOR", "1")];
    let mut session = Session::start(120, 40, root(), &[MISMATCH], &variables);
    session.sees("✗1");
    session.sees("DENY issue_refund");
    {
        let terminal = session.terminal.lock().unwrap();
        let cells: Vec<_> = (0..40)
            .flat_map(|row| (0..120).map(move |column| (row, column)))
            .filter_map(|(row, column)| terminal.screen().cell(row, column))
            .collect();
        assert!(cells.iter().any(|cell| cell.inverse()), "the cursor's row is reversed");
        assert!(cells.iter().any(|cell| cell.bold()));
        let coloured = |color: vt100::Color| color != vt100::Color::Default;
        assert!(!cells.iter().any(|cell| coloured(cell.fgcolor()) || coloured(cell.bgcolor())));
    }
    session.press("q");
    session.ended();
}

#[test]
fn a_dumb_terminal_gets_what_replay_prints() {
    let variables = [("TERM", "dumb")];
    let session = Session::start(120, 60, root(), &[MISMATCH, "--policy", "contracts/refunds"], &variables);
    session.sees("TERM is `dumb`");
    session.sees("resource_unmatched");
    assert!(!session.terminal.lock().unwrap().screen().alternate_screen());
}

#[test]
fn nothing_to_open_is_told_before_the_terminal_is_taken() {
    let session = Session::start(80, 24, root(), &["no-such-file.json"], &[]);
    session.sees("no-such-file.json");
    session.sees("no such file");
    let mut child = session.child;
    assert_eq!(child.wait().unwrap().exit_code(), 2);
}

#[test]
fn more_keys_than_fit_into_one_reading_all_arrive() {
    let mut session = Session::start(120, 40, root(), &[MISMATCH, "--policy", "contracts/refunds"], &[]);
    session.sees("6 Decision");
    session.press("/");
    session.sees("Enter keeps");
    session.press(&format!("{}END", "k".repeat(2500)));
    session.sees("kkkEND");
    session.press("\x01");
    session.press("BEGIN");
    session.sees("/BEGINkkk");
    session.press("\x1b");
    session.sees("q quit");
    session.press("F");
    session.sees("Findings by session");
    session.press("qq");
    session.ended();
}

/// Each of these took seconds, and `Ctrl-c` waited for them: 22 s for 200 kB.
#[test]
fn a_paste_is_taken_at_once_and_no_command_is_made_of_it() {
    let long = "quit now; ".repeat(20_000);
    let lines = "q\rm\rxd\r".repeat(25_000);
    let marked = |text: &str| format!("\x1b[200~{text}\x1b[201~");
    for (prompt, text, said) in [
        ("/", marked(&long), "pasted 10,000 characters of 200,000 characters"),
        ("/", long.clone(), "pasted 10,000 characters of 200,000 characters"),
        ("db", marked(&lines), "pasted the first of 75,000 lines"),
        ("F", marked(&lines), "ignored: only a prompt takes a paste"),
        ("", marked(&long), "200,000 pasted characters ignored"),
        ("", lines, "ignored: only a prompt takes a paste"),
    ] {
        let mut session = Session::start(120, 40, root(), &[MISMATCH, "--policy", "contracts/refunds"], &[]);
        session.until("all judged", |screen| screen.contains("✗1") && screen.contains("6 Decision"));
        session.press(prompt);
        session.until("the prompt", |screen| match prompt {
            "/" => screen.contains("Enter keeps"),
            "db" => screen.contains("Enter, Esc"),
            "F" => screen.contains("Findings by"),
            _ => true,
        });
        let begun = Instant::now();
        session.press(&text);
        session.sees(said);
        assert!(session.screen().contains("✗1"), "nothing was done:\n{}", session.screen());
        session.press("\x03");
        session.ended();
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(5), "{prompt} {took:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_told_to_end_gives_the_terminal_back() {
    for signal in ["-TERM", "-HUP"] {
        let session = Session::start(120, 40, root(), &[MISMATCH, "--policy", "contracts/refunds"], &[]);
        session.sees("6 Decision");
        let program = session.child.process_id().unwrap().to_string();
        let told = std::process::Command::new("kill").args([signal, &program]).status().unwrap();
        assert!(told.success());
        session.ended();
    }
}

#[test]
fn without_a_policy_nothing_looks_like_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    let recordings = root().join("sample-traces");
    let mut session = Session::start(120, 40, folder.path(), &[recordings.to_str().unwrap()], &[]);
    session.sees("not judged: no policy");
    session.sees("there is no folder `contracts` here");
    session.press("q");
    session.ended();
}

/// A policy and a recording on disk: a refund without the check that it needs.
fn refund_on_disk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("contracts")).unwrap();
    std::fs::write(folder.path().join("contracts/refund.yaml"), STRICT).unwrap();
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    std::fs::write(folder.path().join("runs/one.jsonl"), format!("{}\n", run("one"))).unwrap();
    folder
}

const STRICT: &str = "tool: issue_refund\npreconditions:\n  - requires_prior_tool: check_eligibility\n";
const LOOSE: &str = "tool: issue_refund\nforbids_after: [issue_refund]\n";

fn run(id: &str) -> String {
    let call = r#"{"id": "c1", "type": "function", "function": {"name": "issue_refund", "arguments": "{}"}}"#;
    format!(
        r#"{{"id": "{id}", "messages": [{{"role": "assistant", "content": null, "tool_calls": [{call}]}}, {{"role": "tool", "tool_call_id": "c1", "content": "{{}}"}}]}}"#
    )
}

#[test]
fn edits_from_outside_are_seen_by_themselves() {
    for (way, word) in [("system", "live "), ("poll", "polling ")] {
        let folder = refund_on_disk();
        let policy = folder.path().join("contracts/refund.yaml");
        let mut session = Session::start(130, 40, folder.path(), &["runs", "--watch", way], &[]);
        session.sees("DENY issue_refund");
        session.sees(word);
        // In place.
        std::fs::write(&policy, LOOSE).unwrap();
        session.sees("ALLOW issue_refund");
        session.sees("DENY → allow");
        session.sees("since ");
        // By renaming another file onto it.
        std::fs::write(folder.path().join("contracts/.refund.yaml.new"), STRICT).unwrap();
        std::fs::rename(folder.path().join("contracts/.refund.yaml.new"), &policy).unwrap();
        session.sees("DENY issue_refund");
        session.sees("allow → DENY");
        // A version that does not load is said, and the last whole one goes on.
        std::fs::write(&policy, "tool: issue_refund\nprecondition: []\n").unwrap();
        session.sees("contracts/refund.yaml:2:1 unknown key `precondition`");
        session.sees("decides");
        session.sees("DENY issue_refund");
        std::fs::write(&policy, LOOSE).unwrap();
        session.sees("ALLOW issue_refund");
        session.until("no more of the mistake", |screen| !screen.contains("unknown key"));
        // The recording goes on, and another one comes and goes.
        let mut runs = format!("{}\n{}\n", run("one"), run("two"));
        std::fs::write(folder.path().join("runs/one.jsonl"), &runs).unwrap();
        session.sees("1/2");
        std::fs::write(folder.path().join("runs/zero.jsonl"), run("zero")).unwrap();
        session.sees("1/3");
        std::fs::remove_file(folder.path().join("runs/zero.jsonl")).unwrap();
        session.sees("1/2");
        // Turned off, nothing is picked up until it is turned on again.
        session.press("R");
        session.sees("live off");
        runs.push_str(&run("three"));
        std::fs::write(folder.path().join("runs/one.jsonl"), &runs).unwrap();
        session.sees("live off, edits wait");
        session.sees("1/2");
        session.press("R");
        session.sees("1/3");
        session.press("q");
        session.ended();
    }
}

#[test]
fn a_folder_of_policies_that_vanishes_and_returns() {
    let folder = refund_on_disk();
    let mut session = Session::start(130, 40, folder.path(), &["runs"], &[]);
    session.sees("DENY issue_refund");
    session.sees("live ");
    std::fs::rename(folder.path().join("contracts"), folder.path().join("away")).unwrap();
    session.sees("decides");
    session.sees("DENY issue_refund");
    std::fs::create_dir(folder.path().join("contracts")).unwrap();
    std::fs::write(folder.path().join("contracts/other.yaml"), LOOSE).unwrap();
    session.sees("ALLOW issue_refund");
    session.until("no more of what was wrong", |screen| !screen.contains("decides"));
    session.press("q");
    session.ended();
}

#[test]
fn a_base_stands_beside_the_new_version_until_it_is_ended() {
    let folder = refund_on_disk();
    let policy = folder.path().join("contracts/refund.yaml");
    std::fs::create_dir(folder.path().join("old")).unwrap();
    std::fs::write(folder.path().join("old/refund.yaml"), LOOSE).unwrap();
    let mut session = Session::start(130, 40, folder.path(), &["runs", "-b", "old", "--watch", "poll"], &[]);
    session.sees("base old");
    session.sees("compared with old: 1 decision changed");
    session.sees("∆ newly blocked");
    session.sees("◂ ✓ ALLOW issue_refund");
    session.sees("▸ ✗ DENY issue_refund");
    session.press("dt");
    session.sees("Text of old → new");
    session.sees("1 newly blocked");
    session.press("\r");
    session.until("the panes again", |screen| screen.contains("6 Decision"));
    // An edit is compared with the same base.
    std::fs::write(&policy, LOOSE).unwrap();
    session.sees("compared with old: no decision changed");
    session.sees("the same under both");
    // What is no version leaves what stood; `recorded` is one, without a text.
    session.press("db\x15nowhere\r");
    session.sees("not compared: nowhere: no such file");
    session.sees("base old");
    session.press("db\x15recorded\r");
    session.sees("base recorded");
    session.press("dd");
    session.until("no base", |screen| !screen.contains("base recorded"));
    session.press("q");
    session.ended();
}

#[test]
fn a_base_that_cannot_be_read_is_told_before_the_terminal_is_taken() {
    let folder = refund_on_disk();
    for (base, said) in [("nowhere", "no such file"), ("git:HEAD", "git")] {
        let session = Session::start(80, 24, folder.path(), &["runs", "-b", base], &[]);
        session.sees(said);
        let mut child = session.child;
        assert_eq!(child.wait().unwrap().exit_code(), 2, "{base}");
    }
}

#[test]
fn a_copied_command_explains_the_decision_again() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("it's a \"trace\" $HOME.json");
    std::fs::copy(root().join(MISMATCH), &trace).unwrap();
    std::fs::create_dir(folder.path().join("my rules")).unwrap();
    let policy = folder.path().join("my rules/issue refund.yaml");
    std::fs::copy(root().join("contracts/refunds/issue_refund.yaml"), &policy).unwrap();
    let name = trace.file_name().unwrap().to_str().unwrap();
    let with_policy = [name, "--policy", "my rules", "--mode", "shadow", "--error-regex", "^it's bad"];
    for (arguments, keys, expected) in
        [(with_policy.as_slice(), "]f", "issue_refund"), (&["--samples"], "", "issue_refund")]
    {
        let mut session = Session::start(120, 40, folder.path(), arguments, &[]);
        session.sees("6 Decision");
        session
            .until("everything judged", |screen| !screen.contains("judging") && !screen.contains("reading"));
        session.press(keys);
        session.press("yc");
        session.sees("copied the command");
        let command = session.copied();
        assert!(command.starts_with("rulestep explain "), "{command}");
        session.press("q");
        session.ended();
        let bin = Path::new(env!("CARGO_BIN_EXE_rulestep")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let ran = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path())
            .env("PATH", format!("{}:{path}", bin.display()))
            .output()
            .unwrap();
        let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{command}\n{error}");
        assert!(out.contains(expected), "{command}\n{out}");
        if keys == "]f" {
            assert!(command.contains("--mode=shadow") && out.contains("would"), "{command}\n{out}");
        }
    }
}

#[test]
fn settings_change_keys_and_theme_and_their_mistakes_stay_on_screen() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "theme = 'paper'\nmode = 'shadow'\nlvie = true\n").unwrap();
    std::fs::write(folder.path().join("keys.toml"), "next-finding = 'gn'\nzoom = 'j'\n").unwrap();
    let named = config.to_str().unwrap();
    let arguments = [MISMATCH, "--policy", "contracts/refunds"];
    let mut session = Session::start(120, 40, root(), &arguments, &[("RULESTEP_CONFIG", named)]);
    session.sees("6 Decision");
    session.sees("there is no setting `lvie`");
    session.sees("shadow");
    session.sees("✗2");
    session.sees("WOULD STOP issue_refund");
    session.press("gn");
    session.sees("WOULD STOP void_order");
    session.press("!");
    session.sees("`j` is `next-call` already");
    session.press("q");
    session.press("q");
    session.ended();
    let check = |arguments: &[&str]| {
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_rulestep"))
            .args(arguments)
            .env("XDG_CONFIG_HOME", folder.path().join("none"))
            .output()
            .unwrap();
        (
            ran.status.code(),
            String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr),
        )
    };
    let (code, out) = check(&["check", &format!("--config={named}")]);
    assert_eq!(code, Some(1), "{out}");
    for part in ["did you mean `live`?", "config.toml:3:1", "keys.toml:2:1", "2 errors"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert_eq!(check(&["check", "--config"]), (Some(0), "no settings: nothing wrong\n".to_owned()));
    let (code, out) = check(&["check", "--config=/nonexistent/config.toml"]);
    assert_eq!(code, Some(2), "{out}");
    let (code, out) = check(&["--config", "/nonexistent/config.toml", MISMATCH]);
    assert_eq!(code, Some(2), "{out}");
}
