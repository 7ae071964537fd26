//! Parts of a corpus that were chosen, checked apart and merged; and what is said of the sessions left out.

use serde_json::Value;
use tempfile::TempDir;

use super::{folder, rulestep};

const POLICY: &str = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";

/// Twelve sessions in three files, of which one is broken and one is no recording.
fn corpus() -> TempDir {
    let session = |number: u32| {
        let at = if (number + 1).is_multiple_of(4) {
            String::new()
        } else {
            format!(r#", "at": "2026-05-{:02}T10:00:00Z""#, number + 1)
        };
        let tool = if number.is_multiple_of(3) { "pay" } else { "look" };
        format!(
            r#"{{"id": "s{number}", "messages": [{{"role": "user", "content": "go {number}"{at}}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": "c1", "type": "function", "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}}]}}"#
        )
    };
    let file = |numbers: std::ops::Range<u32>| numbers.map(session).collect::<Vec<_>>().join("\n");
    folder(&[
        ("p/pay.yaml", POLICY),
        ("q/pay.yaml", "tool: pay\n"),
        ("s/a.jsonl", &file(0..5)),
        ("s/b.jsonl", &format!("{}\n{{\"id\": \"cut", file(5..9))),
        ("s/c.jsonl", &file(9..12)),
        ("s/notes.txt", "nothing"),
    ])
}

/// The exit code, standard output and standard error.
fn run(folder: &TempDir, arguments: &str) -> (i32, String, String) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = rulestep(folder.path(), &arguments).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|told| String::from_utf8(told).unwrap());
    (output.status.code().unwrap(), stdout, stderr)
}

fn last(stdout: &str) -> &str {
    stdout.lines().last().unwrap()
}

fn ids(stdout: &str) -> Vec<String> {
    let lines = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| Some(line["session"]["id"].as_str()?.to_owned())).collect()
}

const COMMANDS: [&str; 4] = [
    "replay s -p p --summary --format json",
    "coverage s -p p --format json",
    "stats s --format json",
    "diff s -p p -b q --format json",
];

#[test]
fn shards_and_files_that_were_checked_apart_are_one_run() {
    for command in COMMANDS {
        let files = corpus();
        let (code, whole, _) = run(&files, command);
        let mut names = Vec::new();
        for shard in 1..=7 {
            let (_, stdout, stderr) = run(&files, &format!("{command} --shard {shard}/7"));
            assert!(stderr.contains(&format!("are in shard {shard} of 7")), "{stderr}");
            std::fs::write(files.path().join(format!("{shard}.json")), stdout).unwrap();
            names.push(format!("{shard}.json"));
        }
        names.rotate_left(3);
        let (merged, stdout, stderr) = run(&files, &format!("merge {}", names.join(" ")));
        assert_eq!((merged, &*stdout), (code, &*format!("{}\n", last(&whole))), "{command} {stderr}");
        let (_, _, stderr) = run(&files, &format!("merge {}", names[1..].join(" ")));
        assert!(stderr.contains("not all sessions were checked: no result of shard `4/7`"), "{stderr}");
        // One of each file, all in one pipe.
        let mut parts = String::new();
        for file in ["a", "b", "c"] {
            parts += &run(&files, &command.replacen(" s ", &format!(" s/{file}.jsonl "), 1)).1;
        }
        std::fs::write(files.path().join("parts"), parts).unwrap();
        let (_, stdout, stderr) = run(&files, "merge parts");
        let (merged, whole): (Value, Value) =
            (serde_json::from_str(&stdout).expect(&stderr), serde_json::from_str(last(&whole)).unwrap());
        let sessions = |of: &Value| of.pointer("/totals/sessions").unwrap_or(&of["sessions"]).clone();
        assert_eq!(sessions(&merged), sessions(&whole));
    }
}

#[test]
fn what_does_not_add_up_is_refused() {
    let files = corpus();
    let write = |name: &str, arguments: &str| {
        std::fs::write(files.path().join(name), run(&files, arguments).1).unwrap();
    };
    let replay = "replay s/a.jsonl -p p --summary --format json";
    write("a.json", replay);
    write("b.json", "replay s/c.jsonl -p q --summary --format json");
    write("c.json", "replay s/c.jsonl -p p --summary --format json --mode shadow");
    write("d.json", "replay s/c.jsonl -p p --summary --format json --error-regex x");
    write("e.json", "coverage s/c.jsonl -p p --format json");
    write("f.json", "replay s/notes.txt -p p --summary --format json");
    write("g.json", "replay s/c.jsonl -p p --by tool --format json");
    let whole = run(&files, replay).1;
    let lines: Vec<&str> = whole.lines().collect();
    let put = |name: &str, text: String| std::fs::write(files.path().join(name), text).unwrap();
    put("cut.json", whole[..whole.len() - 20].to_owned());
    put("open.json", lines[..2].join("\n"));
    put("few.json", lines[1..].join("\n"));
    put("old.json", last(&whole).replace(r#""program":""#, r#""program":"9."#));
    put("other.json", r#"{"schema": "rulestep.replay/9", "totals": {}}"#.to_owned());
    put("empty.json", String::new());
    for (name, why) in [
        ("a.json", "5 sessions would be counted twice"),
        ("b.json", "different policies"),
        ("c.json", "different modes: `enforce` and `shadow`"),
        ("d.json", "different values of `--error-regex`: none and `x`"),
        ("e.json", "a result of `replay` and one of `coverage`"),
        ("f.json", "a run without a result"),
        ("g.json", "`rulestep.breakdown/1` cannot be merged"),
        ("cut.json", "not the JSON of a result"),
        ("open.json", "no totals: the run did not end"),
        ("few.json", "the lines are of 4 sessions and the totals after them of 5 sessions"),
        ("old.json", "different versions of rulestep"),
        ("other.json", "`rulestep.replay/9` cannot be merged"),
        ("empty.json", "nothing in it"),
        ("missing.json", "No such file"),
    ] {
        let (code, stdout, stderr) = run(&files, &format!("merge a.json {name}"));
        assert_eq!((code, &*stdout), (2, ""), "{name}");
        assert!(stderr.contains(why), "{name}: {stderr}");
    }
}

#[test]
fn what_is_left_out_is_counted_and_said() {
    let files = corpus();
    let (_, all, _) = run(&files, "replay s -p p --format json");
    let every = ids(&all);
    assert_eq!(every.len(), 12);
    let (_, stdout, stderr) =
        run(&files, "replay s -p p --format json --since 2026-05-03 --until 2026-05-10T00:00:00Z");
    assert_eq!(ids(&stdout), ["s2", "s4", "s5", "s6", "s8"]);
    assert!(stderr.contains("5 of 12 sessions began within `--since 2026-05-03` and `--until"), "{stderr}");
    assert!(stderr.contains("left out: 3 sessions without a recorded time"), "{stderr}");
    let provenance = serde_json::from_str::<Value>(last(&stdout)).unwrap()["totals"]["provenance"].clone();
    assert_eq!(provenance["left_out"], serde_json::json!({"--since": 5, "--until": 2}));

    let chosen = |options: &str| {
        let (_, stdout, stderr) = run(&files, &format!("replay s -p p --format json {options}"));
        (ids(&stdout), stderr)
    };
    let mut sharded: Vec<String> =
        (1..=3).flat_map(|shard| chosen(&format!("--shard {shard}/3")).0).collect();
    sharded.sort();
    let mut sorted = every.clone();
    sorted.sort();
    assert_eq!(sharded, sorted);
    for (wrong, why) in [
        ("--shard 0/3", "`--shard 0/3`: the shard number must be between 1 and 3"),
        ("--shard 4/3", "must be between 1 and 3"),
        ("--shard 1", "a shard is a number and the number of shards"),
        ("--since yesterday", "`yesterday` is not a time"),
    ] {
        let (code, _, stderr) = run(&files, &format!("replay s -p p {wrong}"));
        assert_eq!((code, stderr.contains(why)), (2, true), "{wrong}: {stderr}");
    }
    let (code, _, stderr) = run(&files, "replay s -p p --since 2027-01-01");
    assert_eq!((code, stderr.contains("0 of 12 sessions began within")), (2, true), "{stderr}");
}

#[test]
fn recordings_are_named_by_a_list() {
    let files = corpus();
    for list in ["s/a.jsonl\ns/c.jsonl\n", "s/a.jsonl\r\ns/c.jsonl", "s/a.jsonl\0s/c.jsonl\0"] {
        std::fs::write(files.path().join("list"), list).unwrap();
        let (_, stdout, stderr) = run(&files, "replay --files-from list -p p --format json");
        assert_eq!(ids(&stdout).len(), 8, "{stderr}");
        let command = rulestep(files.path(), &["stats", "--files-from", "-"]);
        let output = assert_cmd::Command::from_std(command).write_stdin(list).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("8 sessions"));
    }
    // A list without names is not a run without findings, and what it names must be there.
    std::fs::write(files.path().join("list"), "\n\n").unwrap();
    let (code, _, stderr) = run(&files, "replay --files-from list -p p");
    assert_eq!((code, stderr.contains("it names no file")), (2, true), "{stderr}");
    std::fs::write(files.path().join("list"), "s/c.jsonl\ns/[gone].jsonl\n").unwrap();
    let (code, _, stderr) = run(&files, "coverage --files-from list -p p");
    assert_eq!((code, stderr.contains("gone")), (2, true), "{stderr}");
}
