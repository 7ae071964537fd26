//! Bash as a second opinion: what it starts is among what was read, or was said to be unknown; what is certain to have
//! succeeded did; and no text that is only data was read as a command.
//!
//! Lines are made at random from programs that write down how they were started, and run where nothing else can be reached:
//! a folder of their own, and a `PATH` with those programs and a few harmless ones. `SHELL_LINES` and `SHELL_SEED` set how
//! many lines there are and which; 100,000 take some minutes.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rulestep_shell::{Line, Piece, Root, SmallCall, Word, read};

use super::lines::{Maker, STUBS};
use crate::skipped::skipped;

/// Lines for one process.
const BATCH: usize = 250;

/// The longest that one process may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Programs that run others.
const TOOLS: [&str; 14] = [
    "bash", "sh", "env", "nice", "timeout", "nohup", "setsid", "stdbuf", "xargs", "find", "cat", "ionice",
    "chrt", "taskset",
];

/// Writes down its own name, its folder, its status and its arguments, in one write: lines run on while others begin.
const STUB: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
static char text[65536];
static size_t size;
static void add(const char *part, char end) {
  size_t length = strlen(part);
  if (size + length + 2 > sizeof text) return;
  memcpy(text + size, part, length);
  size += length;
  text[size++] = end;
}
int main(int count, char **words) {
  const char *log = getenv("STUB_LOG"), *line = getenv("STUB_LINE"), *path = (const char *)getauxval(AT_EXECFN);
  const char *name = strrchr(path, '/');
  char folder[4096];
  name = name ? name + 1 : path;
  int fails = !strcmp(name, "nope");
  if (!log || !line) return fails;
  add(line, 31);
  add(name, 31);
  add(fails ? "1" : "0", 31);
  add(getcwd(folder, sizeof folder) ? folder : "", 31);
  for (int at = 1; at < count; at++) add(words[at], 31);
  text[size++] = 0;
  int file = open(log, O_WRONLY | O_APPEND);
  if (file >= 0 && write(file, text, size) < 0) return 99;
  return fails;
}
"#;

/// Runs each line in a shell of its own, which costs a fraction of what a process for each would.
const SCRIPT: &str = r#"
mapfile -d '' -t __lines < "$1"
for __at in "${!__lines[@]}"; do
  export STUB_LINE=$__at
  ( unset __at; eval "${__lines[STUB_LINE]}" ) </dev/null >/dev/null 2>&1
  __end=$?
  printf '%s\x1f=%s\0' "$__at" "$__end" >> "$STUB_LOG"
done
"#;

/// A program that was started.
struct Start {
    name: String,
    failed: bool,
    folder: String,
    args: Vec<String>,
}

/// What a line did: its programs in order, and how it ended.
#[derive(Default)]
struct Run {
    starts: Vec<Start>,
    status: Option<i32>,
    /// How many had started when it ended: what it leaves running starts later.
    ended: usize,
}

fn runs(lines: &[String], folder: &Path) -> Vec<Run> {
    let (script, home) = (folder.join("lines"), folder.join("home"));
    // One of its own: what the lines before left running may start later, and has their numbers.
    let log = tempfile::Builder::new().prefix("log").tempfile_in(folder).unwrap().into_temp_path();
    std::fs::write(&script, lines.iter().flat_map(|line| [line.as_str(), "\0"]).collect::<String>()).unwrap();
    let mut command = Command::new("/bin/bash");
    command.args(["--norc", "-c", SCRIPT, "bash"]).arg(&script).current_dir(folder.join("work")).env_clear();
    command
        .env("PATH", folder.join("bin"))
        .env("BIN", folder.join("bin"))
        .env("HOME", home)
        .env("STUB_LOG", &*log);
    command.env("P", "alpha").env("H", "held").env("FUNCNEST", "6").env("LC_ALL", "C.UTF-8").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bash = command.spawn().unwrap();
    let begin = Instant::now();
    while bash.try_wait().unwrap().is_none() {
        if begin.elapsed() > LIMIT {
            Command::new("/bin/kill").args(["-9", "--", &format!("-{}", bash.id())]).status().unwrap();
            let text = std::fs::read(&log).unwrap();
            let ends = |record: &&[u8]| {
                record.split(|byte| *byte == 31).nth(1).is_some_and(|name| name.starts_with(b"="))
            };
            let done = text.split(|byte| *byte == 0).filter(ends).count();
            panic!(
                "{LIMIT:?} were not enough for {:?}",
                &lines[done.saturating_sub(1)..lines.len().min(done + 2)]
            );
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut runs: Vec<Run> = lines.iter().map(|_| Run::default()).collect();
    for record in std::fs::read(&log).unwrap().split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        let text = String::from_utf8_lossy(record).into_owned();
        let mut fields = text.split('\x1f');
        let mut next = || fields.next().unwrap().to_owned();
        let (number, name) = (next(), next());
        let run: &mut Run = &mut runs[number.parse::<usize>().unwrap()];
        if let Some(status) = name.strip_prefix('=') {
            (run.status, run.ended) = (status.parse().ok(), run.starts.len());
            continue;
        }
        let (failed, folder) = (next() == "1", next());
        let number =
            |word: &str| if word.starts_with("/dev/fd/") { "/dev/fd/63".to_owned() } else { word.to_owned() };
        let mut args: Vec<String> = fields.map(number).collect();
        args.pop();
        run.starts.push(Start { name, failed, folder, args });
    }
    runs
}

/// Whether a word may become this text: the places that its parts can reach, one part after another.
fn fits(pieces: &[Piece], text: &str, home: &str) -> bool {
    let mut reached = BTreeSet::from([0]);
    for piece in pieces {
        let after = |known: &str| {
            reached.iter().filter(|at| text[**at..].starts_with(known)).map(|at| at + known.len()).collect()
        };
        reached = match piece {
            Piece::Text(known) => after(known),
            Piece::Home => after(home),
            Piece::Pattern(_) | Piece::Unknown(_) => match reached.first() {
                Some(first) => (*first..=text.len()).filter(|at| text.is_char_boundary(*at)).collect(),
                None => return false,
            },
        };
    }
    reached.contains(&text.len())
}

/// Whether words may become these.
fn fit(words: &[Word], texts: &[String], home: &str) -> bool {
    let mut reached = BTreeSet::from([0]);
    for word in words {
        let Some(first) = reached.first().copied() else { return false };
        reached = if word.many {
            (first..=texts.len()).collect()
        } else {
            let next =
                |at: &usize| texts.get(*at).filter(|text| fits(&word.pieces, text, home)).map(|_| at + 1);
            reached.iter().filter_map(next).collect()
        };
    }
    reached.contains(&texts.len())
}

fn tag(call: &SmallCall) -> Option<&str> {
    call.args.first().and_then(Word::known)
}

/// What was read wrongly.
fn faults(line: &Line, run: &Run, folder: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let home = folder.join("home").display().to_string();
    let work = folder.join("work").display().to_string();
    let unclear = line.calls.iter().any(|call| call.unclear.is_some());
    let stub = |call: &SmallCall| {
        call.unclear.is_none() && call.program.known().is_some_and(|name| STUBS.contains(&name))
    };
    let below = |folder: &Word| {
        let mut whole = Word::default();
        if folder.start().starts_with('/') || matches!(folder.pieces.first(), Some(Piece::Home)) {
            return folder.clone();
        }
        whole.push(&work);
        match folder.known() {
            Some(".") => {}
            Some(inner) => whole.push(inner.strip_prefix('.').unwrap_or(inner)),
            None => whole = folder.clone(),
        }
        whole
    };
    let may_be_in = |call: &SmallCall, folder: &str| {
        let mut folders = std::iter::once(&call.folder).chain(&call.instead);
        folders.any(|one| fits(&below(one).pieces, folder, &home))
    };
    for start in &run.starts {
        let shown = || format!("{} {:?}", start.name, start.args);
        if start.args.first().is_some_and(|tag| tag.starts_with('z')) {
            faults.push(format!("the generator is wrong: {} is no data", shown()));
        }
        if unclear {
            continue;
        }
        let named = |call: &&SmallCall| fits(&call.program.pieces, &start.name, &home);
        if !line.calls.iter().any(|call| named(&call)) {
            faults.push(format!("{} started and was not read", shown()));
        } else if !line.calls.iter().any(|call| named(&call) && fit(&call.args, &start.args, &home)) {
            // What `find` finds is its folder, too.
            if !start.args.iter().any(|word| word == ".") {
                faults.push(format!("{} started with other words", shown()));
            }
        } else if !line
            .calls
            .iter()
            .any(|call| named(&call) && fit(&call.args, &start.args, &home) && may_be_in(call, &start.folder))
        {
            faults.push(format!("{} started in {}", shown(), start.folder));
        }
    }
    for call in line.calls.iter().filter(|call| stub(call)) {
        if tag(call).is_some_and(|tag| tag.starts_with('z')) {
            faults.push(format!("`{call}` is data"));
        }
    }
    let succeeded: BTreeSet<&str> = run
        .starts
        .iter()
        .take(run.ended)
        .filter(|start| !start.failed)
        .filter_map(|start| start.args.first().map(String::as_str))
        .collect();
    if run.status == Some(0) {
        for call in line.calls.iter().filter(|call| stub(call) && call.proven) {
            if let Some(tag) = tag(call).filter(|tag| !succeeded.contains(tag)) {
                faults.push(format!("{tag} is said to have succeeded, and did not"));
            }
        }
    }
    // What a call comes after has succeeded before it starts.
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut by_tag: HashMap<&str, Vec<&SmallCall>> = HashMap::new();
    for call in line.calls.iter().filter(|call| stub(call)) {
        by_tag.entry(tag(call).unwrap_or_default()).or_default().push(call);
    }
    for start in &run.starts {
        let Some(own) = start.args.first() else { continue };
        let after = |call: &SmallCall| {
            let earlier =
                call.after.iter().filter_map(|number| line.calls.get(*number)).filter(|call| stub(call));
            earlier.filter_map(|call| tag(call)).find(|tag| !done.contains(tag)).map(str::to_owned)
        };
        if let Some(calls) = by_tag.get(own.as_str())
            && !unclear
            && let Some(missing) = calls.iter().map(|call| after(call)).collect::<Option<Vec<_>>>()
        {
            faults.push(format!("{own} is said to come after a success of {missing:?}"));
        }
        if !start.failed {
            done.insert(own);
        }
    }
    faults
}

fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    for name in ["bin", "work/sub/sub/sub/sub", "home"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    folder
}

/// Compiles the program that all stubs are; `None` without a compiler.
fn stubs(folder: &Path) -> Option<()> {
    let (source, made) = (folder.join("stub.c"), folder.join("stub"));
    std::fs::write(&source, STUB).unwrap();
    let compile = |option: &[&str]| {
        let mut command = Command::new("cc");
        command.args(["-O1", "-w", "-o"]).arg(&made).arg(&source).args(option).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    (compile(&["-static"]) || compile(&[])).then_some(())?;
    for stub in STUBS {
        std::fs::hard_link(&made, folder.join("bin").join(stub)).unwrap();
        // So that patterns find them.
        std::fs::write(folder.join("work").join(stub), "").unwrap();
    }
    for tool in TOOLS {
        let path =
            ["/bin", "/usr/bin"].iter().map(|bin| Path::new(bin).join(tool)).find(|path| path.exists());
        if let Some(path) = path {
            std::os::unix::fs::symlink(path, folder.join("bin").join(tool)).unwrap();
        }
    }
    Some(())
}

fn number<N: std::str::FromStr>(name: &str, default: N) -> N {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn bash_does_nothing_that_was_not_read() {
    if !cfg!(target_os = "linux") || !Path::new("/bin/bash").exists() {
        return skipped("bash is not installed");
    }
    let folder = folder();
    if stubs(folder.path()).is_none() {
        return skipped("no C compiler");
    }
    let wanted: usize = number("SHELL_LINES", 2000);
    let mut maker = Maker::new(number("SHELL_SEED", 88_172_645_463_325_252));
    let (mut wrong, mut started, mut perhaps, mut proven, mut left) = (Vec::new(), 0, 0, 0, wanted);
    while left > 0 {
        let lines: Vec<String> = (0..BATCH.min(left)).map(|_| maker.line()).collect();
        left -= lines.len();
        for (text, run) in lines.iter().zip(runs(&lines, folder.path())) {
            let line = read(text, &Root::default());
            started += run.starts.len();
            perhaps += usize::from(line.calls.iter().any(|call| call.unclear.is_some()));
            proven += usize::from(run.status == Some(0));
            wrong.extend(faults(&line, &run, folder.path()).into_iter().map(|fault| (text.clone(), fault)));
        }
    }
    println!(
        "{wanted} lines, {started} starts, {perhaps} lines with something unknown, {proven} succeeded, {} faults",
        wrong.len()
    );
    // Short ones say most.
    wrong.sort_by_key(|(text, _)| text.len());
    let shown: Vec<String> = wrong
        .iter()
        .take(number("SHELL_SHOWN", 20))
        .map(|(text, fault)| format!("{text:?}\n    {fault}"))
        .collect();
    if let Some(file) = std::env::var_os("SHELL_FAULTS") {
        let all: String = wrong.iter().map(|(text, fault)| format!("{fault}\t{text:?}\n")).collect();
        std::fs::write(file, all).unwrap();
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), shown.join("\n"));
    assert!(started > wanted && proven > wanted / 4, "{started} starts, {proven} successes");
    assert!(perhaps * 2 < wanted, "{perhaps} of {wanted} lines were not known");
}
