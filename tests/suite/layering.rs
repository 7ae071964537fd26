//! How the source hangs together: imports run one way, files stay short, and the engine's side of the house neither
//! prints nor reads.

mod circles;
mod exports;

use std::path::{Path, PathBuf};

use rulestep_engine::dialect::{DIALECTS, Dialect};

/// The modules of each crate that has some, from left to right. Those in one list do not know each other. Which crate knows which is
/// said by the manifests.
const MODULES: &[(&str, &[&[&str]])] = &[
    ("base", &[&["checksum", "merge", "source"], &["diagnostic"], &["session"], &["wording"]]),
    (
        "engine",
        &[
            &["monitor"],
            &["condition"],
            &["dialect"],
            &["policy"],
            &["run"],
            &["replay"],
            &["way_out", "files"],
            &["gate"],
        ],
    ),
    (
        "rulestep",
        &[
            &["stored", "corpus"],
            &["compare", "what_if", "case", "explore", "mutation"],
            // What still shows a change asks what a change is.
            &["witness", "redact", "suggest", "lint", "tester"],
            &["files"],
            &["workspace"],
            &["report"],
            &["live"],
            &["lsp", "workbench"],
            // The command without a verb opens the workbench, which knows nothing of the command line.
            &["cli"],
        ],
    ),
];

/// The crates, each with its folder.
const CRATES: [(&str, &str); 6] = [
    ("rulestep", "src"),
    ("base", "crates/base/src"),
    ("engine", "crates/engine/src"),
    ("recording", "crates/recording/src"),
    ("shell", "crates/shell/src"),
    ("template", "crates/template/src"),
];

/// The most lines of a file.
const LINES: usize = 450;

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
    /// Its crate.
    of: &'static str,
    /// Its folder.
    folder: &'static str,
    /// The path in that folder.
    path: PathBuf,
    text: String,
}

impl Source {
    /// The module: the first part of the path.
    fn module(&self) -> &str {
        self.path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs")
    }

    /// Where it is, for people.
    fn shown(&self) -> String {
        format!("{}/{}", self.folder, self.path.display())
    }

    /// The lines with code in them, without tests at the end and without comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.text.lines().position(|line| line.starts_with("mod ") && line.ends_with('{'));
        let lines = self.text.lines().take(tests.unwrap_or(usize::MAX)).enumerate();
        let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
        code.map(|(at, line)| (at + 1, line))
    }
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root).unwrap().to_owned(), text));
            }
        }
    }
    let mut all = Vec::new();
    for (of, folder) in CRATES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        found.sort();
        assert!(found.len() > 20, "the sources of {of} are not where they were");
        all.extend(found.into_iter().map(|(path, text)| Source { of, folder, path, text }));
    }
    all
}

/// The layer of a module in its crate.
fn place(of: &str, module: &str) -> Option<usize> {
    let (_, modules) = MODULES.iter().find(|(name, _)| *name == of)?;
    modules.iter().position(|modules| modules.contains(&module))
}

/// The modules that a line names: `crate::MODULE`, also in a list in braces.
fn named(line: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest,
        };
        let names = if list.len() == rest.len() { vec![list] } else { list.split(',').collect() };
        for name in names {
            let end = name.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            modules.extend(end.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    modules
}

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    let is_module = |source: &&Source| {
        MODULES.iter().any(|(of, _)| *of == source.of) && !["lib", "main"].contains(&source.module())
    };
    for source in sources().iter().filter(is_module) {
        let module = source.module();
        let own = place(source.of, module);
        assert!(own.is_some(), "the module `{module}` has no place in this test");
        let own = own.unwrap();
        for (number, line) in source.code() {
            for other in named(line) {
                let Some(theirs) = place(source.of, &other) else { continue };
                let reads = ["cli", "workbench", "gate", "live", "workspace"].contains(&module);
                let allowed = other == module || theirs < own && (other != "files" || reads);
                if !allowed {
                    wrong.push(format!("{}:{number}: {module} imports {other}", source.shown()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of `recording`, from left to right. The table, and what asks it, lies beside them and uses all.
const RECORDING: &[&str] = &["input", "contract", "shape", "format"];

/// Within the module of recordings, shapes know no format and no format knows another.
#[test]
fn recordings_are_read_in_layers() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.of == "recording") {
        let mut path = source.path.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs"));
        let Some(own) = path.next().and_then(|part| RECORDING.iter().position(|name| *name == part)) else {
            continue;
        };
        let file = path.next();
        for (number, line) in source.code() {
            for named in line.split("crate::").skip(1) {
                let mut named = named.split(|part: char| !part.is_alphanumeric() && part != '_');
                let part = named.next().unwrap_or_default();
                let other = named.find(|part| !part.is_empty());
                let allowed = match RECORDING.iter().position(|name| *name == part) {
                    Some(theirs) if theirs == own => RECORDING[own] != "format" || other == file,
                    Some(theirs) => theirs < own,
                    None => !part.starts_with(char::is_lowercase),
                };
                if !allowed {
                    wrong.push(format!("{}:{number}: {line}", source.shown()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of `workbench`, from left to right: what knows nothing of sessions, the model, what is seen of it, what happens
/// to it, the screen. Those in one list do not know each other, but for what happens: a key asks the popup on top, and a
/// popup says what its keys do.
const WORKBENCH: &[&[&str]] = &[
    &["document", "keys", "layout", "list", "theme"],
    &["config", "paint", "svg"],
    &["line"],
    &["model"],
    &["rows", "effect"],
    &["message"],
    &["pane"],
    &["popup", "update"],
    &["draw"],
    &["run"],
];

#[test]
fn the_workbench_is_layered() {
    let layer = |file: &[String]| WORKBENCH.iter().position(|parts| parts.contains(&file[2].as_str()));
    let mut wrong = Vec::new();
    // What tests are made with may use anything.
    let uses = circles::uses();
    let of = |file: &[String]| file.len() > 2 && file[0] == "rulestep" && file[1] == "workbench";
    for (own, used) in uses.iter().filter(|(own, _)| of(own)) {
        assert!(layer(own).is_some(), "{} has no place in this test", own.join("/"));
        for other in used.iter().filter(|other| of(other) && other[2] != own[2]) {
            let happens = [own, other].iter().all(|file| ["popup", "update"].contains(&file[2].as_str()));
            if layer(other) >= layer(own) && !happens {
                wrong.push(format!("{} uses {}", own.join("/"), other.join("/")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_short() {
    let lines = |source: &Source| source.text.lines().count();
    let long = sources().into_iter().filter(|source| lines(source) > LINES);
    let long: Vec<_> = long.map(|source| format!("{}: {}", source.shown(), lines(&source))).collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn nothing_left_of_report_reaches_outside() {
    let report = place("rulestep", "report").unwrap();
    let mut wrong = Vec::new();
    let inside = |source: &&Source| {
        // What these read, the rest gets as values; the gate asks when a call is made.
        !["files", "workspace"].contains(&source.module())
            && (source.of, source.module()) != ("engine", "gate")
            && (source.of != "rulestep" || place(source.of, source.module()).is_some_and(|own| own <= report))
    };
    for source in sources().iter().filter(inside) {
        for (number, line) in source.code() {
            for word in OUTSIDE.iter().filter(|word| line.contains(**word)) {
                wrong.push(format!("{}:{number}: {word}", source.shown()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_module_is_a_mod_rs() {
    let wrong: Vec<_> = sources().into_iter().filter(|source| source.path.ends_with("mod.rs")).collect();
    assert!(wrong.is_empty());
}

/// A random case that failed is written down, and comes first from then on: no property may switch that off, and each
/// finds a place for its seeds.
#[test]
fn failing_random_cases_are_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut properties, off) = (0, ["failure_persistence", ": None"].concat());
    let mut folders = vec![root.join("src"), root.join("crates"), root.join("tests")];
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
    for kept in ["crates/base/proptest-regressions", "tests/proptest-regressions"] {
        assert!(root.join(kept).is_dir(), "{kept} is committed");
    }
}

/// A dialect is a file or a folder and its row, a format a file and its row. What comes of the toys is tested beside them.
#[test]
fn the_toys_touch_at_most_six_lines_elsewhere() {
    for (of, file, name) in
        [("engine", "dialect/toy.rs", "toy::"), ("recording", "format/toy.rs", "format::toy")]
    {
        let elsewhere =
            sources().into_iter().filter(|source| source.of == of && !source.path.ends_with(file));
        let named = |source: Source| {
            let lines = source.text.lines().filter(|line| !line.starts_with("//!"));
            lines.filter(|line| line.contains(name) || line.contains("mod toy")).count()
        };
        let lines: usize = elsewhere.map(named).sum();
        // Each of them has a line of its own that keeps it out of the program.
        assert!((1..=3).contains(&lines), "{lines} lines name the toy in {file}");
    }
}

/// What shows decisions knows no language: it renders what the language says. Only what translates one into another names it.
#[test]
fn the_program_names_no_dialect() {
    let module = |dialect: &Dialect| format!("dialect::{}", dialect.plural().replace(' ', "_"));
    let dialects: Vec<String> = DIALECTS.iter().map(module).collect();
    // Each of them is a module, or nothing would be looked for.
    let engine: Vec<Source> = sources().into_iter().filter(|source| source.of == "engine").collect();
    for dialect in &dialects {
        let file = dialect.replace("::", "/") + ".rs";
        assert!(engine.iter().any(|source| source.path == Path::new(&file)), "{dialect}");
    }
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| {
        source.of == "rulestep"
            && !source.path.ends_with("cli/migrate.rs")
            && !source.shown().contains("/tests")
    }) {
        for (number, line) in source.code() {
            let named = dialects.iter().find(|name| line.contains(name.as_str()));
            wrong.extend(named.map(|name| format!("{}:{number}: {name}", source.shown())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command has its arguments, exit codes and help in its file. Elsewhere it is two lines of `cli.rs`: its `mod`, which other
/// commands of the file share, and its row.
#[test]
fn a_command_is_one_file_and_two_lines_elsewhere() {
    let of_cli = |source: &Source| source.of == "rulestep" && source.module() == "cli";
    let cli: Vec<Source> = sources().into_iter().filter(of_cli).collect();
    let mut names = Vec::new();
    for source in &cli {
        let implements = source.text.lines().filter_map(|line| line.strip_prefix("impl Verb for "));
        for name in implements.filter_map(|rest| rest.strip_suffix(" {")) {
            let module = source.path.file_stem().unwrap().to_str().unwrap();
            let signs = [format!("mod {module};"), format!("Row::of::<{module}::{name}>")];
            let table = cli.iter().find(|other| other.path == Path::new("cli.rs")).unwrap();
            let lines =
                table.code().filter(|(_, line)| signs.iter().any(|sign| line.contains(sign.as_str())));
            assert_eq!(lines.count(), 2, "{name}");
            names.push(name.to_lowercase());
        }
    }
    // The workbench is the program without a command.
    let help = crate::cli::reference::verbs(&crate::cli::run(&tempfile::tempdir().unwrap(), &["--help"]));
    let mut listed: Vec<String> = help.into_iter().chain(["open".to_owned()]).collect();
    names.sort();
    listed.sort();
    assert_eq!(names, listed);
}

/// The lines of the workbench that name a toy, in its own file and elsewhere. The toy popup is named among the popups alone.
fn naming_a_toy(own: &str) -> (usize, usize) {
    let popups = |file: &str| file.contains("popup");
    let (mut inside, mut outside) = (0, 0);
    for source in sources().into_iter().filter(|source| source.module() == "workbench") {
        let file = source.path.to_str().unwrap();
        let code = source.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let toy = |line: &&str| line.contains("toy") || line.contains("Toy");
        let lines = code.filter(|line| toy(line) && !line.contains("dialect::toy")).count();
        match file.ends_with(own) {
            true => inside += lines,
            false if popups(file) == popups(own) => outside += lines,
            false => {}
        }
    }
    (inside, outside)
}

/// A pane is a file and its row. What is done in it is tested beside it.
#[test]
fn the_toy_pane_touches_at_most_six_lines_elsewhere() {
    let (inside, lines) = naming_a_toy("pane/toy.rs");
    // Its variant, its `mod` and its arm; a pane of the program has a place in `Pane::ALL`, a key and its arm besides.
    assert!(inside > 0 && (1..=3).contains(&lines), "{lines} lines name the toy pane");
}

/// A popup is a file and its row. What is done in it is tested beside it.
#[test]
fn the_toy_popup_touches_at_most_four_lines_elsewhere() {
    let (inside, lines) = naming_a_toy("popup/toy.rs");
    // Its `mod` and its row, each with a line that keeps it out of the program; a popup of the program has a key and what that
    // opens instead.
    assert!(inside > 0 && lines == 2, "{lines} lines name the toy popup");
}

/// A counter is its row and what increments it: whatever shows counters has them from their rows, which `counters` tries one by one.
#[test]
fn a_counter_touches_two_files() {
    let names = |source: &Source| source.code().any(|(_, line)| line.contains("unenforced_rules"));
    let files: Vec<String> = sources().iter().filter(|source| names(source)).map(Source::shown).collect();
    assert_eq!(files, ["crates/engine/src/replay/counts.rs", "crates/engine/src/replay/tally.rs"]);
}

/// An agent is a file and its row: nothing else asks which agent it is. `cursor` is a key of MCP as well.
#[test]
fn an_agent_is_one_file_and_two_lines_elsewhere() {
    let is_asked = |source: &Source| {
        source.of == "rulestep"
            && ["live", "cli"].contains(&source.module())
            && !source.path.starts_with("live/proxy.rs")
    };
    let program: Vec<Source> = sources().into_iter().filter(is_asked).collect();
    for agent in rulestep::live::Agent::ALL {
        let (name, module) = (agent.name(), agent.name().replace('-', "_"));
        let own = |source: &&Source| source.path.ends_with(format!("live/agent/{module}.rs"));
        assert_eq!(program.iter().filter(own).count(), 1, "{name} has its file");
        let signs = [format!("{module}::"), format!("mod {module};"), format!("\"{name}\"")];
        let elsewhere = program.iter().filter(|source| !own(source));
        let lines = elsewhere.flat_map(|source| {
            let lines = source.code().filter(|(_, line)| signs.iter().any(|sign| line.contains(sign)));
            lines.map(|(number, line)| format!("{}:{number}: {}", source.shown(), line.trim()))
        });
        let lines: Vec<String> = lines.collect();
        assert_eq!(lines.len(), 2, "{name}: {}", lines.join("\n"));
    }
}
