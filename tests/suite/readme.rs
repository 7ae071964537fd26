//! What the README and the pages in `docs` promise: commands run, the contract and the table of keys are the real ones.

use std::fs;
use std::process::Command as Process;

use assert_cmd::Command;

fn readme() -> String {
    fs::read_to_string("README.md").unwrap()
}

/// The lines of all blocks fenced as this language.
fn blocks(language: &str) -> Vec<String> {
    blocks_of(&readme(), language)
}

fn blocks_of(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let bodies = page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    bodies.collect()
}

#[test]
fn its_commands_run() {
    // What stands behind each command line: an exit code, and a word of the output.
    let expected = [
        ("rulestep sessions/ -p contracts/", 2, "sessions/"),
        ("rulestep ~/.claude/projects -p contracts/coding", 1, "denied"),
        ("rulestep replay sample-traces -p contracts", 1, "resource_unmatched"),
        ("rulestep replay sample-traces -p contracts --mode shadow --format json", 1, "\"mode\":\"shadow\""),
        ("rulestep replay sample-traces -p contracts --summary --format json", 1, "\"summary\""),
        ("rulestep report sample-traces -p contracts -o report.html", 1, "arguments_not_json"),
        ("rulestep diff sample-traces -p contracts -b recorded", 1, "newly blocked"),
        ("rulestep check contracts", 0, "nothing wrong"),
        ("rulestep test contracts", 0, " as expected"),
        ("rulestep explain resource_unmatched", 0, "requires_prior_tool"),
        ("rulestep explain --at refund-124:4.1 sample-traces -p contracts", 0, "way out"),
    ];
    let (mut ran, folder) = (0, tempfile::tempdir().unwrap());
    let page = folder.path().join("report.html");
    for line in blocks("sh").iter().flat_map(|block| block.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["rulestep", arguments @ ..] => {
                let (_, code, word) = expected.iter().find(|(known, ..)| *known == line).unwrap();
                let recorded = |argument: &str| {
                    let argument =
                        argument.replace("~/.claude/projects", "tests/fixtures/sessions/claude-code.jsonl");
                    argument.replace("report.html", page.to_str().unwrap())
                };
                let arguments = arguments.iter().map(|argument| recorded(argument));
                let output = Command::cargo_bin("rulestep").unwrap().args(arguments).output().unwrap();
                let told =
                    [output.stdout, output.stderr].map(|told| String::from_utf8(told).unwrap()).concat();
                assert_eq!(output.status.code(), Some(*code), "{line}\n{told}");
                assert!(told.contains(word), "{line}\n{told}");
                ran += 1;
            }
            // Cargo's own: building is what brought us here, and the examples are built beside the tests.
            ["cargo", "run"] | ["cargo", "test"] => {}
            ["cargo", "run", "-p", "rulestep-engine", "--example", name] => {
                assert!(fs::exists(format!("crates/engine/examples/{name}.rs")).unwrap(), "{line}")
            }
            other => panic!("nobody checks {other:?}"),
        }
    }
    assert_eq!(ran, expected.len());
    assert!(page.exists());
}

/// The blocks that show what the program prints are the beginnings of it.
#[test]
fn its_outputs_are_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["contracts", "sample-traces"] {
        let copied = Process::new("cp").args(["-r", name]).arg(folder.path()).status().unwrap();
        assert!(copied.success());
    }
    let git = |arguments: &[&str]| {
        let mut git = Process::new("git");
        git.args(["-c", "user.email=a@b.example", "-c", "user.name=a"]).args(arguments);
        let done = git.current_dir(folder.path()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "All"]);
    let prints = |arguments: &[&str]| {
        let mut program = Command::cargo_bin("rulestep").unwrap();
        let output = program.args(arguments).current_dir(folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = blocks("text");
    // A block that ends with an ellipsis shows the first lines.
    let begins = |printed: &str| {
        shown.iter().any(|block| printed.starts_with(block.strip_suffix("…\n").unwrap_or(block)))
    };
    let explained = prints(&["explain", "--at", "refund-124:4.1", "sample-traces", "-p", "contracts"]);
    assert!(begins(&explained), "{explained}");
    let edited = folder.path().join("contracts/refunds/issue_refund.yaml");
    let text = fs::read_to_string(&edited).unwrap();
    fs::write(&edited, text.replace("requires_step_count: {gte: 3}", "requires_step_count: {gte: 2}"))
        .unwrap();
    let compared = prints(&["diff", "sample-traces", "-p", "contracts", "-b", "git:HEAD"]);
    assert!(begins(&compared), "{compared}");
    fs::write(&edited, text.replacen("    with_output:", "    with_outptu:", 1)).unwrap();
    let program = Command::cargo_bin("rulestep")
        .unwrap()
        .args(["check", "contracts"])
        .current_dir(folder.path())
        .output();
    let checked = String::from_utf8(program.unwrap().stderr).unwrap();
    assert!(begins(&checked), "{checked}");
}

#[test]
fn without_a_terminal_the_program_prints_what_replay_prints() {
    let output = Command::cargo_bin("rulestep").unwrap().output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("refund-124"));
}

#[test]
fn its_contract_is_the_sample_without_comments() {
    let sample = fs::read_to_string("contracts/refunds/issue_refund.yaml").unwrap();
    let bare: String = sample
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(blocks("yaml"), [bare]);
}

#[test]
fn the_table_of_formats_is_the_programs() {
    assert_generated("docs/formats.md", "formats", &rulestep_recording::markdown());
}

/// What a picture holds is drawn and written: it loads nothing and runs nothing.
#[test]
fn its_pictures_are_xml_that_needs_nothing_else() {
    use quick_xml::events::Event;
    for picture in ["docs/screen-dark.svg", "docs/screen-light.svg"] {
        assert!(readme().contains(picture));
        let text = fs::read_to_string(picture).unwrap();
        let mut reader = quick_xml::Reader::from_str(&text);
        let (mut depth, mut rows) = (0, std::collections::BTreeSet::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Start(tag) => {
                    depth += 1;
                    let name = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
                    assert!(["svg", "title", "style", "rect", "text"].contains(&&*name), "<{name}>");
                    for attribute in tag.attributes().map(Result::unwrap) {
                        let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                        assert!(!key.contains("href") && !key.starts_with("on"), "{key}");
                        if name == "text" && key == "y" {
                            rows.insert(attribute.value.to_vec());
                        }
                    }
                }
                Event::End(_) => depth -= 1,
                Event::Text(_) | Event::GeneralRef(_) => {}
                Event::Eof => break,
                other => panic!("{other:?} in {picture}"),
            }
        }
        assert!(depth == 0 && rows.len() > 35, "{depth} open, {} of 40 rows", rows.len());
    }
}

#[test]
fn its_session_is_one() {
    use rulestep_recording::{Options, open};
    use std::io::Cursor;
    let page = fs::read_to_string("docs/formats.md").unwrap();
    let [session] = &blocks_of(&page, "json")[..] else { panic!("one block of JSON") };
    let sessions: Vec<_> =
        open("formats.md", Box::new(Cursor::new(session.clone().into_bytes())), &Options::default())
            .unwrap()
            .collect();
    assert_eq!((sessions.len(), sessions[0].calls.len(), &*sessions[0].id), (1, 1, "refund-124"));
    assert!(sessions[0].diagnostics.is_empty());
}

/// Holds a part of a page to what the program has, or writes it.
fn assert_generated(page: &str, part: &str, real: &str) {
    let text = fs::read_to_string(page).unwrap();
    let (start, end) = (format!("<!-- {part} -->\n"), format!("<!-- /{part} -->"));
    let (before, rest) = text.split_once(&start).unwrap();
    let (shown, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(page, format!("{before}{start}{}\n{end}{after}", real.trim())).unwrap();
        return;
    }
    let advice =
        format!("UPDATE_README=1 cargo test --test suite readme -- --test-threads=1 writes {page} anew");
    assert!(shown.trim() == real.trim(), "{advice}");
}

#[test]
fn the_table_of_keys_is_the_programs() {
    assert_generated("docs/keys.md", "keys", &rulestep::workbench::keys::markdown());
}

/// The help of the workbench and `explain marks` are made of the same table.
#[test]
fn the_table_of_marks_is_the_programs() {
    assert_generated("docs/keys.md", "marks", &rulestep_base::wording::glyph::markdown());
}

/// `--help` is made of the same table, as its snapshot shows.
#[test]
fn the_table_of_exit_codes_is_the_programs() {
    assert_generated("docs/commands.md", "exit codes", &rulestep::cli::exit_codes_markdown());
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    for page in [
        "README.md",
        "docs/authoring.md",
        "docs/ci.md",
        "docs/commands.md",
        "docs/formats.md",
        "docs/keys.md",
        "docs/workbench.md",
    ] {
        let folder = std::path::Path::new(page).parent().unwrap();
        for link in fs::read_to_string(page).unwrap().split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            if !target.starts_with("http") {
                assert!(folder.join(target).exists(), "{page} links to {target}");
            }
        }
    }
}
