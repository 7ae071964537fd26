//! Finding and reading files: order, links, patterns, revisions, and what is said of what cannot be read.

use std::fs;
use std::path::Path;
use std::process::Command;

use rulestep::files::version::VersionFiles;
use rulestep::files::{Input, expand, read_version, utf8};
use rulestep_base::diagnostic::{Code, Diagnostic, Place, Severity, code};
use tempfile::TempDir;

use crate::skipped::skipped;

/// A folder with files, each with its own path as its text.
fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

fn at(folder: &TempDir, path: &str) -> String {
    format!("{}{path}", folder.path().to_str().unwrap())
}

/// Names below a folder, and the codes of diagnostics.
fn found(folder: &TempDir, args: &[&str]) -> (Vec<String>, Vec<Code>) {
    let args: Vec<String> = args.iter().map(|arg| at(folder, arg)).collect();
    let found = expand(&args);
    let root = at(folder, "/");
    let names = found.inputs.iter().map(|input| input.name.strip_prefix(&root).unwrap().to_owned());
    (names.collect(), codes(&found.diagnostics))
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<Code> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn markdown_beside_recordings_is_read_only_where_it_is_named() {
    let folder = folder(&["README.md", "a.json", "b/Notes.MD", "c.mdx", "only/x.markdown"]);
    assert_eq!(found(&folder, &[""]), (vec!["a.json".to_owned(), "c.mdx".to_owned()], vec![]));
    assert_eq!(found(&folder, &["/README.md"]).0, ["README.md"]);
    assert_eq!(found(&folder, &["/only"]), (vec![], vec![code::EMPTY_FOLDER]));
}

#[test]
fn what_a_search_passes_by_is_named_where_it_would_be_read_elsewhere() {
    let told = |files: &[&str]| -> Vec<String> {
        let folder = folder(files);
        let diagnostics = expand(&[at(&folder, "")]).diagnostics;
        diagnostics
            .iter()
            .filter(|told| told.code == code::NOT_SEARCHED)
            .map(|told| told.message.clone())
            .collect()
    };
    let rest = "Hidden names, `target` and `node_modules` are read only where they are named";
    for (files, expected) in [
        (&["a.json", "target/b.json"][..], Some("`target`")),
        (&["a.json", "x/node_modules/y/b.jsonl"], Some("`x/node_modules`")),
        (&["a.json", ".b.json", ".c/d/e.yaml"], Some("`.b.json`, `.c`")),
        (
            &["a.json", ".1.json", ".2.json", ".3.json", ".4.json", ".5.json"],
            Some("`.1.json`, `.2.json`, `.3.json` and 2 more"),
        ),
        (
            &[
                "a.json",
                "target/debug/x",
                ".gitignore",
                ".git/x.json",
                ".DS_Store",
                "target/.fingerprint/x.json",
            ],
            None,
        ),
    ] {
        let expected = expected.map(|names| format!("not searched: {names}. {rest}"));
        assert_eq!(told(files), expected.into_iter().collect::<Vec<_>>(), "{files:?}");
    }
    let policies = folder(&["a.yaml", "target/b.yaml", "c/.d.yaml"]);
    let version = read_version(&at(&policies, ""), &[]).unwrap();
    let told: Vec<&str> = version.diagnostics.iter().map(|told| &*told.message).collect();
    assert_eq!(told, [format!("not searched: `c/.d.yaml`, `target`. {rest}")]);
}

#[test]
fn folders_are_searched_whole_in_the_order_of_bytes() {
    let files = [
        "b.json",
        "a/z.jsonl",
        "a-b.json",
        "a.json",
        "B",
        "a/.hidden/x",
        ".x",
        "target/t",
        "c/node_modules/n",
        "é",
    ];
    let folder = folder(&files);
    let expected = ["B", "a-b.json", "a.json", "a/z.jsonl", "b.json", "é"];
    assert_eq!(found(&folder, &[""]), (expected.map(str::to_owned).to_vec(), vec![]));
    assert_eq!(found(&folder, &["/"]).0, expected);
    assert_eq!(found(&folder, &["/b.json", "/a/"]).0, ["b.json", "a/z.jsonl"], "arguments keep their order");
    assert_eq!(found(&folder, &["/a/.hidden/x", "/a/.hidden"]).0, ["a/.hidden/x"], "named outright");
}

#[test]
fn what_leads_nowhere_is_told() {
    let folder = folder(&["a/x.json"]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(found(&folder, &["/none"]), (vec![], vec![code::MISSING_FILE]));
    assert_eq!(found(&folder, &["/empty"]), (vec![], vec![code::EMPTY_FOLDER]));
    assert_eq!(found(&folder, &["/*.yaml"]), (vec![], vec![code::MISSING_FILE]));
    assert_eq!(found(&folder, &["/[x"]), (vec![], vec![code::MISSING_FILE]));
    assert_eq!(found(&folder, &["/a/x.json/y"]), (vec![], vec![code::UNREADABLE_FILE]));
    let missing = &expand(&[at(&folder, "/none")]).diagnostics[0];
    assert_eq!(
        missing.to_string(),
        format!("{}: error[missing_file]: no such file or folder", at(&folder, "/none"))
    );
}

#[test]
fn standard_input_is_read_once() {
    let found = expand(&["-".to_owned(), "-".to_owned()]);
    assert_eq!(found.inputs, [Input::named("-".into(), None)]);
    assert_eq!(found.diagnostics[0].severity, Severity::Warning);
}

/// Whatever is counted of it would be counted twice.
#[test]
fn a_file_is_there_once_however_it_is_named() {
    let folder = folder(&["a/x.json", "a/y.json", "b/x.json"]);
    let again = code::NAMED_TWICE;
    let all = ["a/x.json", "a/y.json"];
    assert_eq!(found(&folder, &["/a", "/a"]), (all.map(str::to_owned).to_vec(), vec![again]));
    assert_eq!(found(&folder, &["/a", "/b/../a/./y.json"]), (all.map(str::to_owned).to_vec(), vec![again]));
    assert_eq!(found(&folder, &["/a/*.json", "/a"]), (all.map(str::to_owned).to_vec(), vec![again]));
    assert_eq!(found(&folder, &["/a/y.json", "/a"]).0, ["a/y.json", "a/x.json"]);
    assert_eq!(found(&folder, &["/a/x.json", "/b"]).1, [], "a copy is a file of its own");
    let named = expand(&[at(&folder, "/a"), at(&folder, "/a/y.json")]);
    assert_eq!(named.inputs.iter().map(|input| input.named).collect::<Vec<_>>(), [false, true]);
    let told: Vec<_> = named.diagnostics.iter().map(|told| told.message.clone()).collect();
    assert_eq!(told, ["this file is named twice; it is read once"]);
    let told = expand(&[at(&folder, "/a"), at(&folder, "/b/../a")]).diagnostics;
    assert_eq!(told[0].message, "2 of these files are named twice; each of them is read once");
    assert_eq!(told[0].severity, Severity::Notice);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("a/x.json"), folder.path().join("b/a.json")).unwrap();
        assert_eq!(
            found(&folder, &["/b", "/a"]),
            (["b/a.json", "b/x.json", "a/y.json"].map(str::to_owned).to_vec(), vec![again])
        );
        assert_eq!(found(&folder, &[""]).0, ["a/x.json", "a/y.json", "b/x.json"], "not under the link");
    }
}

#[test]
fn patterns_match_within_parts_and_folders_whole() {
    let folder = folder(&["a/1.json", "a/2.jsonl", "a/b/3.json", "c/4.json", "c/.h/5.json", "x[1].json"]);
    let names = |pattern: &str| found(&folder, &[pattern]).0;
    assert_eq!(names("/a/*.json"), ["a/1.json"]);
    assert_eq!(names("/*/?.json"), ["a/1.json", "c/4.json"]);
    assert_eq!(names("/**/*.json"), ["a/1.json", "a/b/3.json", "c/4.json", "x[1].json"]);
    assert_eq!(names("/a*"), ["a/1.json", "a/2.jsonl", "a/b/3.json"]);
    assert_eq!(names("/{a,c}/*.{json,jsonl}"), ["a/1.json", "a/2.jsonl", "c/4.json"]);
    assert_eq!(names("/c/.h/*"), ["c/.h/5.json"]);
    assert_eq!(names("/**"), ["a/1.json", "a/2.jsonl", "a/b/3.json", "c/4.json", "x[1].json"]);
    assert_eq!(names("/x[1].json"), ["x[1].json"], "a file of that name comes before the pattern");
}

#[cfg(unix)]
#[test]
fn links_never_lead_round_in_circles() {
    use std::os::unix::fs::symlink;
    let folder = folder(&["z/a.yaml", "z/deep/b.yaml"]);
    let outside = self::folder(&["c.yaml"]);
    symlink(folder.path(), folder.path().join("z/deep/up")).unwrap();
    symlink(folder.path().join("z"), folder.path().join("a")).unwrap();
    symlink(outside.path(), folder.path().join("m1")).unwrap();
    symlink(outside.path(), folder.path().join("m2")).unwrap();
    symlink("nowhere", folder.path().join("broken.yaml")).unwrap();
    symlink("z/a.yaml", folder.path().join("link.yaml")).unwrap();
    let (names, codes) = found(&folder, &[""]);
    assert_eq!(names, ["m1/c.yaml", "z/a.yaml", "z/deep/b.yaml"]);
    let repeats = code::LINK_REPEATS;
    assert_eq!(codes, [code::UNREADABLE_FILE, repeats, repeats, repeats, code::NAMED_TWICE]);
    assert!(found(&folder, &["/**/*.yaml"]).0.contains(&"z/deep/b.yaml".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_not_waited_for() {
    let folder = folder(&["a.json"]);
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        skipped("no `mkfifo`");
        return;
    }
    assert_eq!(found(&folder, &[""]), (vec!["a.json".to_owned()], vec![code::UNREADABLE_FILE]));
}

#[test]
fn bytes_that_are_no_text_are_told_with_line_and_byte() {
    let told = utf8("x", b"one\nt\xc3\xa9\xff".to_vec()).unwrap_err();
    assert_eq!(told.message, "not UTF-8 text: line 2, byte 4");
    assert_eq!(told.place(), Some(&Place::Line { file: "x".into(), line: 2, byte: Some(4) }));
    assert_eq!(utf8("x", "é".into()).unwrap().as_ref(), "é");
}

/// Shown name, relative path, text, and whether named, of each file.
fn shown(version: &VersionFiles, root: &str) -> Vec<(String, String, String, bool)> {
    let files = version.files.iter().map(|file| {
        let text =
            file.text.as_ref().map_or_else(|diagnostic| diagnostic.to_string(), |text| text.to_string());
        (file.name.replace(root, "ROOT"), file.relative.to_string(), text, file.named)
    });
    files.collect()
}

fn file(name: &str, relative: &str, text: &str, named: bool) -> (String, String, String, bool) {
    (name.to_owned(), relative.to_owned(), text.to_owned(), named)
}

#[test]
fn a_version_is_a_file_or_the_documents_of_a_folder() {
    let folder = folder(&["p/b.yml", "p/a.yaml", "p/sub/c.JSON", "p/notes.md", "p/.git/d.yaml", "rules.txt"]);
    let root = at(&folder, "");
    let version = read_version(&at(&folder, "/p/"), &[]).unwrap();
    let expected = [
        file("ROOT/p/a.yaml", "a.yaml", "p/a.yaml", false),
        file("ROOT/p/b.yml", "b.yml", "p/b.yml", false),
        file("ROOT/p/sub/c.JSON", "sub/c.JSON", "p/sub/c.JSON", false),
    ];
    assert_eq!(shown(&version, &root), expected);
    let named = read_version(&at(&folder, "/rules.txt"), &[]).unwrap();
    assert_eq!(shown(&named, &root), [file("ROOT/rules.txt", "rules.txt", "rules.txt", true)]);

    assert_eq!(read_version(&at(&folder, "/none"), &[]).unwrap_err().code, code::MISSING_FILE);
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(read_version(&at(&folder, "/empty"), &[]).unwrap_err().code, code::EMPTY_FOLDER);
}

#[test]
fn a_file_that_is_no_text_does_not_hide_the_others() {
    let folder = folder(&["a.yaml"]);
    fs::write(folder.path().join("b.yaml"), b"\xff").unwrap();
    let (files, diagnostics) = read_version(&at(&folder, ""), &[]).unwrap().into_policy_files();
    assert_eq!(files.len(), 1);
    assert_eq!(codes(&diagnostics), [code::UNREADABLE_FILE]);
}

fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"])
        .args(args)
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository whose first commit has contracts that are changed, moved and added to since.
fn repository() -> TempDir {
    let folder =
        folder(&["app/contracts/a b.yaml", "app/contracts/gone/é.yaml", "app/contracts/n.md", "top.yaml"]);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    git(folder.path(), &["tag", "v1"]);
    fs::write(folder.path().join("app/contracts/a b.yaml"), "edited").unwrap();
    fs::remove_dir_all(folder.path().join("app/contracts/gone")).unwrap();
    fs::write(folder.path().join("app/contracts/new.yaml"), "new").unwrap();
    folder
}

#[test]
fn a_version_of_a_git_revision() {
    let folder = repository();
    let root = at(&folder, "");
    let contracts = at(&folder, "/app/contracts");
    let expected = |spec: &str| {
        [
            file(&format!("{spec}:ROOT/app/contracts/a b.yaml"), "a b.yaml", "app/contracts/a b.yaml", false),
            file(
                &format!("{spec}:ROOT/app/contracts/gone/é.yaml"),
                "gone/é.yaml",
                "app/contracts/gone/é.yaml",
                false,
            ),
        ]
    };
    let same_paths = read_version("git:HEAD", std::slice::from_ref(&contracts)).unwrap();
    assert_eq!(shown(&same_paths, &root), expected("git:HEAD"));
    let given = read_version(&format!("git:v1:{contracts}"), &[]).unwrap();
    assert_eq!(shown(&given, &root), expected("git:v1"));

    let gone = format!("{contracts}/gone/é.yaml");
    let one = read_version(&format!("git:main:{gone}"), &[]).unwrap();
    assert_eq!(
        shown(&one, &root),
        [file("git:main:ROOT/app/contracts/gone/é.yaml", "é.yaml", "app/contracts/gone/é.yaml", true)]
    );
    let gone_folder = read_version(&format!("git:main:{contracts}/gone/"), &[]).unwrap();
    assert_eq!(shown(&gone_folder, &root)[0].1, "é.yaml");
    let both = read_version("git:HEAD", &[at(&folder, "/top.yaml"), contracts]).unwrap();
    assert_eq!(both.files.len(), 3);
}

/// Git keeps of a link the path it leads to. That text is no policy, and must not pass for one.
#[cfg(unix)]
#[test]
fn a_link_in_a_revision_is_not_read_as_a_file() {
    let folder = folder(&["shared/far.yaml", "p/near.yaml"]);
    std::os::unix::fs::symlink("../shared/far.yaml", folder.path().join("p/linked.yaml")).unwrap();
    std::os::unix::fs::symlink("../shared", folder.path().join("p/folder.yaml")).unwrap();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);

    let version = read_version(&format!("git:HEAD:{}", at(&folder, "/p")), &[]).unwrap();
    let relative: Vec<&str> = version.files.iter().map(|file| &*file.relative).collect();
    assert_eq!(relative, ["near.yaml"]);
    assert_eq!(version.files[0].text.as_deref().unwrap(), "p/near.yaml");
    assert_eq!(codes(&version.diagnostics), [code::LINK_REPEATS, code::LINK_REPEATS]);

    let named = read_version(&format!("git:HEAD:{}", at(&folder, "/p/linked.yaml")), &[]).unwrap_err();
    assert_eq!((named.code, named.severity), (code::NOT_IN_REVISION, Severity::Error));
    assert!(named.message.contains("a link"), "{named}");
    // On disk the link is followed.
    let there = read_version(&at(&folder, "/p/linked.yaml"), &[]).unwrap();
    assert_eq!(there.files[0].text.as_deref().unwrap(), "shared/far.yaml");
}

/// A suite of tests that names two policy files, one in its folder and one outside of it, and one that is not there.
const NAMING: &str = "
tests:
  - {id: near_by, expected: {type: sequence_valid, policy: ./near.yaml}}
  - {id: further_away, expected: {type: sequence_valid, policy: ../shared/far.yaml}}
  - {id: nowhere, metric: sequence_valid, policy: ../../../../../../../../gone.yaml}
";

fn naming() -> TempDir {
    let folder = folder(&["app/other.txt"]);
    for (name, text) in [
        ("app/suites/eval.yaml", NAMING),
        ("app/suites/near.yaml", "[{type: require, tool: A}]"),
        ("app/shared/far.yaml", "[A, B]"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn names(version: &VersionFiles, root: &str) -> Vec<(String, String)> {
    shown(version, root).into_iter().map(|(name, relative, ..)| (name, relative)).collect()
}

#[test]
fn files_that_a_suite_names_are_part_of_the_version() {
    let folder = naming();
    let root = at(&folder, "");
    let pair = |name: &str, relative: &str| (name.to_owned(), relative.to_owned());
    let expected = [
        pair("ROOT/app/shared/far.yaml", "../shared/far.yaml"),
        pair("ROOT/app/suites/eval.yaml", "eval.yaml"),
        pair("ROOT/app/suites/near.yaml", "near.yaml"),
    ];
    for spec in ["/app/suites", "/app/suites/eval.yaml"] {
        assert_eq!(names(&read_version(&at(&folder, spec), &[]).unwrap(), &root), expected, "{spec}");
    }
    // However the folder is written, a file of it that is named is one file.
    let detour = read_version(&at(&folder, "/app/./suites"), &[]).unwrap();
    let (files, _) = detour.into_policy_files();
    let loaded = rulestep_engine::policy::Policy::load(&files, None);
    assert_eq!(loaded.documents.len(), 3);
    let told: Vec<String> = loaded.diagnostics.iter().map(ToString::to_string).collect();
    assert!(loaded.policy.is_none() && told.len() == 1 && told[0].contains("gone.yaml"), "{told:?}");
}

#[test]
fn files_that_a_suite_names_come_from_the_same_revision() {
    let folder = naming();
    let root = at(&folder, "");
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    fs::write(folder.path().join("app/shared/far.yaml"), "edited").unwrap();
    fs::remove_file(folder.path().join("app/suites/near.yaml")).unwrap();
    for spec in ["/app/suites", "/app/suites/eval.yaml"] {
        let version = read_version(&format!("git:HEAD:{}", at(&folder, spec)), &[]).unwrap();
        let shown = shown(&version, &root);
        assert_eq!(
            shown.iter().map(|(name, _, text, _)| (name.as_str(), text.as_str())).collect::<Vec<_>>(),
            [
                ("git:HEAD:ROOT/app/shared/far.yaml", "[A, B]"),
                ("git:HEAD:ROOT/app/suites/eval.yaml", NAMING),
                ("git:HEAD:ROOT/app/suites/near.yaml", "[{type: require, tool: A}]"),
            ],
            "{spec}"
        );
    }
}

/// Whoever starts the program may have set where git looks, as its hooks do.
#[test]
fn a_revision_is_one_of_the_folders_repository() {
    let (own, other) = (folder(&["x"]), folder(&["x"]));
    for (folder, tool) in [(&own, "deploy"), (&other, "look")] {
        let policy = format!("{{tool: {tool}, preconditions: [{{requires_prior_tool: test}}]}}\n");
        fs::write(folder.path().join("p.yaml"), policy).unwrap();
        for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
            git(folder.path(), args);
        }
    }
    let git_dir = other.path().join(".git");
    let cases = [
        ("GIT_DIR", git_dir.clone()),
        ("GIT_COMMON_DIR", git_dir.clone()),
        ("GIT_OBJECT_DIRECTORY", git_dir.join("objects")),
    ];
    for (name, value) in cases {
        let state = own.path().join("state");
        let mut hook =
            crate::live::live(own.path(), &state, &["hook", "claude-code", "-p", "git:HEAD:p.yaml"]);
        hook.env(name, value);
        let event = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"deploy","tool_use_id":"1","tool_input":{}}"#;
        let output = crate::live::fed(hook, event.as_bytes());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("test has not succeeded"), "{name}: {said}");
    }
}

#[test]
fn what_git_cannot_give_is_told_in_plain_words() {
    let folder = repository();
    let contracts = at(&folder, "/app/contracts");
    let told = |spec: String| {
        let diagnostic = read_version(&spec, &[]).unwrap_err();
        (diagnostic.code, diagnostic.message.replace(&contracts, "C"))
    };
    let bad = |name: &str| (code::BAD_REVISION, format!("git knows no revision `{name}`"));
    assert_eq!(told(format!("git:nope:{contracts}")), bad("nope"));
    assert_eq!(told(format!("git:--all:{contracts}")), bad("--all"));
    assert_eq!(told(format!("git:{contracts}")).0, code::BAD_REVISION, "a path is no revision");
    assert_eq!(
        told(format!("git::{contracts}")),
        (code::BAD_REVISION, "no revision follows `git:`".to_owned())
    );
    let new = format!("git:HEAD:{contracts}/new.yaml");
    assert_eq!(
        told(new),
        (code::NOT_IN_REVISION, "`C/new.yaml` is not part of the revision `HEAD`".to_owned())
    );

    let outside = self::folder(&["a.yaml"]);
    let (code, message) = told(format!("git:HEAD:{}", at(&outside, "")));
    assert_eq!((code, message.as_str()), (code::NO_REPOSITORY, "the folder is in no git repository"));
}

#[test]
fn large_and_many_files_come_whole_out_of_git() {
    let folder = folder(&["x/0.yaml"]);
    for index in 1..300 {
        fs::write(folder.path().join(format!("x/{index}.yaml")), format!("n: {index}\n").repeat(index))
            .unwrap();
    }
    fs::write(folder.path().join("x/big.yaml"), "x".repeat(3_000_000)).unwrap();
    fs::write(folder.path().join("x/none.yaml"), "").unwrap();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "many"]);
    let here = read_version(&at(&folder, "/x"), &[]).unwrap();
    let there = read_version("git:HEAD", &[at(&folder, "/x")]).unwrap();
    assert_eq!(there.files.len(), 302);
    for (here, there) in here.files.iter().zip(&there.files) {
        assert_eq!((&here.relative, &here.text), (&there.relative, &there.text));
    }
}
