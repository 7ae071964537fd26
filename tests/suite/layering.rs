//! How the source hangs together: imports run one way, files stay short, and the engine's side of the house neither
//! prints nor reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The rooms of `src`, from left to right. Those in one list do not know each other.
const ROOMS: &[&[&str]] = &[
    &["source"],
    &["diagnostic"],
    &["session"],
    &["recording"],
    &["wording"],
    &["monitor"],
    &["condition"],
    &["dialect"],
    &["policy"],
    &["engine"],
    &["replay"],
    &["compare", "what_if", "case", "explain", "coverage", "mine"],
    // What still shows a change asks what a change is.
    &["witness", "redact"],
    &["files"],
    &["workspace"],
    &["report"],
    &["gate"],
    &["workbench"],
    // The command without a verb opens the workbench, which knows nothing of the command line.
    &["cli"],
];

/// The most lines of a file.
const LINES: usize = 700;

/// What nothing left of `report` may do.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "File::open",
    "SystemTime",
    "Instant::now",
    "stdin()",
    "stdout()",
    "stderr()",
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
];

struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// The room: the first part of the path.
    fn room(&self) -> &str {
        self.path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs")
    }

    /// The lines with code in them, without tests at the end and without comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let code = lines.take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
        code.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<Source>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push(Source { path: path.strip_prefix(root).unwrap().to_owned(), text });
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &root, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 20, "the sources are not where they were");
    found
}

fn place(room: &str) -> Option<usize> {
    ROOMS.iter().position(|rooms| rooms.contains(&room))
}

/// The rooms that a line names: `crate::ROOM`, also in a list in braces.
fn named(line: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest,
        };
        let names = if list.len() == rest.len() { vec![list] } else { list.split(',').collect() };
        for name in names {
            let end = name.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            rooms.extend(end.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    rooms
}

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !["lib", "main"].contains(&source.room())) {
        let room = source.room();
        let own = place(room);
        assert!(own.is_some(), "the room `{room}` has no place in this test");
        let own = own.unwrap();
        for (number, line) in source.code() {
            for other in named(line) {
                let Some(theirs) = place(&other) else { continue };
                let allowed = other == room
                    || theirs < own
                        && (other != "files" || ["cli", "workbench", "gate", "workspace"].contains(&room));
                if !allowed {
                    wrong.push(format!("src/{}:{number}: {room} imports {other}", source.path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of `recording`, from left to right. The table, and what asks it, lies beside them and uses all.
const RECORDING: &[&str] = &["input", "contract", "shape", "format"];

/// Within the room of recordings, shapes know no format and no format knows another.
#[test]
fn recordings_are_read_in_layers() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.room() == "recording") {
        let mut path = source.path.iter().skip(1).map(|part| part.to_str().unwrap().trim_end_matches(".rs"));
        let Some(own) = path.next().and_then(|part| RECORDING.iter().position(|name| *name == part)) else {
            continue;
        };
        let file = path.next();
        for (number, line) in source.code() {
            for named in line.split("crate::recording::").skip(1) {
                let mut named = named.split(|part: char| !part.is_alphanumeric() && part != '_');
                let part = named.next().unwrap_or_default();
                let other = named.find(|part| !part.is_empty());
                let allowed = match RECORDING.iter().position(|name| *name == part) {
                    Some(theirs) if theirs == own => RECORDING[own] != "format" || other == file,
                    Some(theirs) => theirs < own,
                    None => false,
                };
                if !allowed {
                    wrong.push(format!("src/{}:{number}: {line}", source.path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of `workbench`, from left to right: what knows nothing of sessions, the model, what is seen of it, what happens
/// to it, the screen. Those in one list do not know each other.
const WORKBENCH: &[&[&str]] = &[
    &["document", "keys", "layout", "list", "theme", "transcript"],
    &["paint"],
    &["line"],
    &["model"],
    &["rows", "effect", "message"],
    &["pane", "overlay"],
    &["update"],
    &["draw"],
    &["run"],
];

/// The paths that a text names; those in braces each with what stands before the brace.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let (mut found, mut before, mut path, mut joined) = (Vec::new(), vec![Vec::new()], Vec::new(), false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if word > 0 {
            if !joined {
                found.push(std::mem::replace(&mut path, before.last().unwrap().clone()));
            }
            path.push(&rest[..word]);
            word
        } else if rest.starts_with("::") {
            2
        } else {
            if first == '{' && joined {
                before.push(path.clone());
            } else if first == '}' && before.len() > 1 {
                before.pop();
            }
            first.len_utf8()
        };
        joined = rest.starts_with("::");
        rest = &rest[length..];
    }
    found.push(path);
    found
}

/// The files of the workbench, and which of the others each of them uses.
fn workbench() -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let parts = |source: &Source| -> Vec<String> {
        let path = source.path.with_extension("");
        path.iter().map(|part| part.to_str().unwrap().to_owned()).collect()
    };
    let sources: Vec<Source> = sources().into_iter().filter(|source| source.room() == "workbench").collect();
    let files: BTreeSet<Vec<String>> = sources.iter().map(parts).collect();
    let mut uses = BTreeMap::new();
    for source in
        sources.iter().filter(|source| !source.path.iter().any(|part| part == "tests" || part == "tests.rs"))
    {
        let (own, mut used) = (parts(source), BTreeSet::new());
        let code: Vec<&str> = source.code().map(|(_, line)| line).collect();
        for path in paths(&code.join("\n")) {
            let ups = path.iter().take_while(|part| **part == "super").count();
            let (from, names) = match path.first() {
                Some(&"crate") => (Vec::new(), &path[1..]),
                Some(&"self") => (own.clone(), &path[1..]),
                _ if ups > 0 => (own[..own.len().saturating_sub(ups)].to_vec(), &path[ups..]),
                // A module of its own.
                _ => (own.clone(), if path.len() > 1 { &path[..] } else { &[] }),
            };
            let mut known = Some(from).filter(|from| ups > 0 && !names.is_empty() && files.contains(from));
            let mut place = own[..0].to_vec();
            place.extend(if path.first() == Some(&"crate") {
                Vec::new()
            } else {
                own[..own.len() - ups].to_vec()
            });
            for name in names {
                place.push((*name).to_owned());
                if !files.contains(&place) {
                    break;
                }
                known = Some(place.clone());
            }
            used.extend(known.filter(|known| *known != own));
        }
        uses.insert(own, used);
    }
    assert!(uses.len() > 60 && uses.values().map(BTreeSet::len).sum::<usize>() > 200, "they are not found");
    uses
}

#[test]
fn the_workbench_is_layered() {
    let layer = |file: &[String]| WORKBENCH.iter().position(|parts| parts.contains(&file[1].as_str()));
    let mut wrong = Vec::new();
    // What tests are made with may use anything.
    for (own, used) in workbench().iter().filter(|(own, _)| own.len() > 1 && own[1] != "testing") {
        assert!(layer(own).is_some(), "{} has no place in this test", own.join("/"));
        for other in used.iter().filter(|other| other.len() > 1 && other[1] != own[1]) {
            if layer(other) >= layer(own) {
                wrong.push(format!("{} uses {}", own.join("/"), other.join("/")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What uses no file that is left, or is used by none, goes, until only circles are left.
#[test]
fn no_files_of_the_workbench_go_in_a_circle() {
    let mut left = workbench();
    loop {
        let all: BTreeSet<Vec<String>> = left.keys().cloned().collect();
        left.values_mut().for_each(|used| used.retain(|other| all.contains(other)));
        let used: BTreeSet<Vec<String>> = left.values().flatten().cloned().collect();
        left.retain(|own, uses| !uses.is_empty() && used.contains(own));
        if left.len() == all.len() {
            break;
        }
    }
    assert!(left.is_empty(), "these use each other: {left:#?}");
}

#[test]
fn files_stay_short() {
    let lines = |source: &Source| source.text.lines().count();
    let long = sources().into_iter().filter(|source| lines(source) > LINES);
    let long: Vec<_> =
        long.map(|source| format!("src/{}: {}", source.path.display(), lines(&source))).collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn nothing_left_of_report_reaches_outside() {
    let report = place("report").unwrap();
    let mut wrong = Vec::new();
    let inside = |source: &&Source| {
        // What these read, the rest gets as values.
        !["files", "workspace"].contains(&source.room())
            && place(source.room()).is_some_and(|own| own <= report)
    };
    for source in sources().iter().filter(inside) {
        for (number, line) in source.code() {
            for word in OUTSIDE.iter().filter(|word| line.contains(**word)) {
                wrong.push(format!("src/{}:{number}: {word}", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_room_is_a_mod_rs() {
    let wrong: Vec<_> = sources().into_iter().filter(|source| source.path.ends_with("mod.rs")).collect();
    assert!(wrong.is_empty());
}

/// A random case that failed is written down, and comes first from then on: no property may switch that off, and each
/// finds a place for its seeds.
#[test]
fn failing_random_cases_are_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut properties, off) = (0, ["failure_persistence", ": None"].concat());
    let mut folders = vec![root.join("src"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            if path.extension().is_none_or(|extension| extension != "rs") || !text.contains("proptest! {") {
                continue;
            }
            properties += 1;
            assert!(!text.contains(&off), "{}", path.display());
            // proptest looks upwards for the root of a crate; where it finds none, the file must say a place itself.
            let beside = |folder: &Path| ["lib.rs", "main.rs"].iter().any(|root| folder.join(root).is_file());
            let rooted = path.ancestors().skip(1).take_while(|folder| *folder != root).any(beside);
            assert!(rooted || text.contains("FileFailurePersistence::Direct"), "{}", path.display());
        }
    }
    assert!(properties > 10, "{properties}");
    for kept in ["proptest-regressions", "tests/proptest-regressions"] {
        assert!(root.join(kept).is_dir(), "{kept} is committed");
    }
}

/// The list of faults in `tests/README.md` speaks of files and tests that are there.
#[test]
fn the_listed_faults_have_their_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(root.join("tests/README.md")).unwrap();
    let (mut texts, mut folders) = (String::new(), vec![root.join("src"), root.join("tests")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                texts += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let words: BTreeSet<&str> = texts.split(|c: char| c != '_' && !c.is_alphanumeric()).collect();
    let (_, table) = list.split_once("|---|---|---|---|\n").unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows.len() >= 50, "{} faults", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, file, _, test, ..] = cells.as_slice() else { panic!("{row}") };
        assert!(root.join("src").join(file).is_file(), "{file}");
        let (_, name) = test.rsplit_once("::").unwrap();
        assert!(words.contains(name), "{test}");
    }
}

/// A dialect is a file or a folder and its row. What text, data and panes make of the toy is tested beside it.
#[test]
fn the_toy_dialect_touches_at_most_six_lines_elsewhere() {
    let elsewhere = sources().into_iter().filter(|source| !source.path.ends_with("dialect/toy.rs"));
    let lines: usize = elsewhere
        .map(|source| {
            let own = source.path.ends_with("dialect.rs");
            let lines = source.text.lines().filter(|line| !line.starts_with("//!"));
            lines.filter(|line| line.contains("dialect::toy") || own && line.contains("toy")).count()
        })
        .sum();
    // Each of them has a line of its own that keeps it out of the program.
    assert!((1..=3).contains(&lines), "{lines} lines name the toy dialect");
}
