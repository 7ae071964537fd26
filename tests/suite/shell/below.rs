//! Acts on folders, compared with a plain matcher that goes through every path of a made-up tree.
//!
//! The tree has all folders and files of a few names, so whatever lies in some tree lies in this one. An answer knows no tree:
//! "no" must hold of every path, "yes" needs a reason, and a doubt needs a path that may be met.

use rulestep_shell::facts::Table;
use rulestep_shell::matcher::{Matcher, Surroundings};
use rulestep_shell::tool::of_call;
use rulestep_shell::{Act, Answer, Line, Patterns, Root, read};

const FOLDERS: [&str; 4] = ["a", "secrets", "conf", ".git"];
const FILES: [&str; 4] = ["x.pem", ".e.pem", ".env", "b.rs"];

/// Patterns, each with whether it has a place.
const PATTERNS: [(&str, bool); 22] = [
    (".env", false),
    ("*.pem", false),
    ("**/*.pem", false),
    ("secrets", false),
    ("secrets/", false),
    ("**/secrets/", false),
    ("**/secrets/**", false),
    ("**/secrets/*", false),
    ("**/.git/**", false),
    ("**/a/secrets/**", false),
    ("secrets/**", true),
    ("secrets/*", true),
    ("./secrets", true),
    (".git/**", true),
    ("a/secrets/**", true),
    ("a/*.pem", true),
    ("a/**/x.pem", true),
    ("*/secrets/**", true),
    ("*/secrets/*", true),
    ("./x.pem", true),
    ("conf/.env", true),
    ("a/.env", true),
];

const OUT: [&str; 7] =
    ["", "!x.pem", "!a/**", "!secrets/conf/**", "!**/conf/**", "!secrets/**", "!**/secrets/**"];

/// How a command works on the files below a folder.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// It searches those that have one of these names.
    Search(&'static [&'static str]),
    /// It searches all but those that have one of these names.
    SearchBut(&'static [&'static str]),
    /// It deletes them, or takes them elsewhere.
    Whole,
    /// It makes files of any name.
    Put,
}

const ALL: &[&str] = &["*"];

/// Command lines, where `{}` is the folder.
const LINES: [(&str, Act, Way); 16] = [
    ("grep -r K {}", Act::Reads, Way::Search(ALL)),
    ("rg K {}", Act::Reads, Way::Search(ALL)),
    ("cd {} && ag K", Act::Reads, Way::Search(ALL)),
    ("git grep K -- {}", Act::Reads, Way::Search(ALL)),
    ("grep -r --include='*.pem' K {}", Act::Reads, Way::Search(&["*.pem"])),
    ("grep -r --include=x.pem K {}", Act::Reads, Way::Search(&["x.pem"])),
    ("grep -r --include='*.rs' K {}", Act::Reads, Way::Search(&["*.rs"])),
    ("rg -g .env -g '*.rs' K {}", Act::Reads, Way::Search(&[".env", "*.rs"])),
    ("rg -g '*.{rs,pem}' K {}", Act::Reads, Way::Search(&["*.rs", "*.pem"])),
    ("rg -g '.e*' K {}", Act::Reads, Way::Search(&[".e*"])),
    ("grep -r --exclude='*.pem' K {}", Act::Reads, Way::SearchBut(&["*.pem"])),
    ("rm -rf {}", Act::Deletes, Way::Whole),
    ("cp -r {} /tmp/z", Act::Reads, Way::Whole),
    ("tar cf /tmp/z.tar {}", Act::Reads, Way::Whole),
    ("tar xf /tmp/z.tar -C {}", Act::Writes, Way::Put),
    ("cp -r /tmp/z/. {}/", Act::Writes, Way::Put),
];

/// All folders down to a depth, each as its names.
fn folders(depth: usize) -> Vec<Vec<&'static str>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..depth {
        let deeper = |path: &Vec<&'static str>| {
            FOLDERS.iter().map(|name| [path.as_slice(), &[*name]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(deeper).collect();
        all.extend(last.iter().cloned());
    }
    all
}

fn is_name(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

fn is_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        // At the end, it means what lies in the folder.
        (["**"], rest) => !rest.is_empty(),
        (["**", after @ ..], _) => (0..=path.len()).any(|at| is_path(after, &path[at..])),
        ([name, after @ ..], [own, rest @ ..]) => is_name(name, own) && is_path(after, rest),
        _ => false,
    }
}

/// Whether a pattern means a file: itself, or a folder that it lies in.
fn means(pattern: &str, path: &[&str]) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let anchored = pattern.starts_with("./") || pattern.contains('/') && !pattern.starts_with("**/");
    let mut names: Vec<&str> = pattern.trim_start_matches("./").split('/').collect();
    if !anchored && names[0] != "**" {
        names.insert(0, "**");
    }
    (1..=path.len()).any(|end| is_path(&names, &path[..end]))
}

fn is_meant(list: &[&str], path: &[&str]) -> bool {
    list.iter().fold(false, |meant, pattern| match pattern.strip_prefix('!') {
        Some(out) => meant && !means(out, path),
        None => meant || means(pattern, path),
    })
}

fn answer(line: &Line, matcher: &Matcher) -> Answer {
    Answer::any(line.calls.iter().map(|call| matcher.answer(call, &Surroundings::default())))
}

fn root() -> Root {
    Root::of("/w/p", None, Table::default())
}

#[test]
fn answers_about_folders_are_right_of_every_path() {
    let tree: Vec<Vec<&str>> = folders(3)
        .iter()
        .flat_map(|folder| FILES.iter().map(|file| [folder.as_slice(), &[*file]].concat()))
        .collect();
    let acts: Vec<_> = folders(2)
        .into_iter()
        .flat_map(|folder| {
            let written = if folder.is_empty() { ".".to_owned() } else { folder.join("/") };
            LINES.map(|(text, act, way)| {
                let text = text.replace("{}", &written);
                let line = read(&text, &root());
                let touched = |path: &&Vec<&'static str>| {
                    let has = |names: &[&str]| names.iter().any(|name| is_name(name, path.last().unwrap()));
                    path.starts_with(&folder)
                        && match way {
                            Way::Search(names) => has(names),
                            Way::SearchBut(names) => !has(names),
                            Way::Whole | Way::Put => true,
                        }
                };
                let touched: Vec<usize> =
                    tree.iter().enumerate().filter(|(_, path)| touched(path)).map(|(at, _)| at).collect();
                (text, act, way, folder.clone(), line, touched)
            })
        })
        .collect();
    let (mut wrong, mut seen) = (Vec::new(), [0; 4]);
    for (pattern, place) in PATTERNS {
        for out in OUT {
            let list: Vec<&str> = [pattern, out].into_iter().filter(|text| !text.is_empty()).collect();
            let meant: Vec<bool> = tree.iter().map(|path| is_meant(&list, path)).collect();
            // A list that takes out all that it means is no doubt of anybody.
            if !meant.contains(&true) {
                continue;
            }
            let plain: Vec<bool> = tree.iter().map(|path| means(pattern, path)).collect();
            let patterns = Patterns::new(list.iter().copied());
            let asks = [Act::Reads, Act::Writes, Act::Deletes]
                .map(|act| (act, Matcher::Touches(act, patterns.clone())));
            for (text, act, way, folder, line, touched) in &acts {
                let (_, matcher) = asks.iter().find(|(asked, _)| asked == act).unwrap();
                let found = answer(line, matcher);
                // The tree is too low for what may lie in its lower folders.
                let low = folder.len() > 1;
                let hits = touched.iter().filter(|at| meant[**at]).count();
                // Of a search, all files of one of its names; whoever names `.e*` names `.e`.
                let names = if let Way::Search(names) = way { *names } else { &[] };
                let named = |name: &&str| {
                    let mut named = touched.iter().filter(|at| is_name(name, tree[**at].last().unwrap()));
                    named.all(|at| meant[*at])
                };
                let spelt = |name: &str| {
                    let name = name.replace('*', "");
                    !name.is_empty() && is_meant(&list, &[folder.as_slice(), &[&*name]].concat())
                };
                let all = hits == touched.len() || names.iter().any(|name| named(name) || spelt(name));
                let search = matches!(way, Way::Search(_) | Way::SearchBut(_));
                // Any folder may hold a file of a pattern without a place, so only what is certain counts; and for what is
                // deleted or taken away, the session's folder.
                let passed_over =
                    !place && (*way == Way::Put || *way == Way::Whole && !folder.is_empty()) && !all;
                let (right, number) = match &found {
                    Answer::No => (hits == 0 || passed_over, 0),
                    Answer::Sweep(_) => ((hits > 0 || low) && search && !place, 1),
                    // Of a search, a pattern without a place is a doubt only where a part of what it means is taken out.
                    Answer::Perhaps(_) => {
                        let either = touched.iter().any(|at| plain[*at] && !meant[*at]);
                        ((hits > 0 || low) && (!search || place || either), 2)
                    }
                    // A folder above a place is touched with it, also if names are left out; one that something is put into is written itself.
                    Answer::Yes => {
                        let leaves_out = place && matches!(way, Way::SearchBut(_));
                        let above = leaves_out || hits > 0 && (place || touched.iter().all(|at| plain[*at]));
                        (all || if *way == Way::Put { is_meant(&list, folder) } else { above }, 3)
                    }
                };
                seen[number] += 1;
                if !right && wrong.len() < 40 {
                    wrong.push(format!(
                        "{text}: {list:?} is {found:?}, {hits} of {} are meant",
                        touched.len()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seen:?}:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
    assert!(seen.iter().all(|seen| *seen > 500), "{seen:?}");
}

/// The same search by a tool has the same answer.
#[test]
fn a_search_by_a_tool_is_that_of_a_command() {
    for folder in folders(2) {
        let folder = if folder.is_empty() { ".".to_owned() } else { folder.join("/") };
        for glob in ["", "*.pem", "*.rs", ".env", "*.{rs,pem}", "!*.pem", "**/x.pem", "conf/*.pem"] {
            let option = if glob.is_empty() { String::new() } else { format!("-g '{glob}' ") };
            let line = read(&format!("rg {option}K {folder}"), &root());
            let mut arguments = serde_json::json!({"pattern": "K", "path": folder});
            if !glob.is_empty() {
                arguments["glob"] = glob.into();
            }
            let tool = of_call("Grep", Some(&arguments), &root());
            for (pattern, _) in PATTERNS {
                let matcher = Matcher::Touches(Act::Reads, Patterns::new([pattern]));
                let (own, other) = (answer(&line, &matcher), answer(&tool, &matcher));
                assert_eq!(own, other, "{folder} {glob}: {pattern}");
            }
        }
    }
}
