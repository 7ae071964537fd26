//! Compressed recordings, and files that are skipped.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::TempDir;

use super::{CLEAN, ISSUE_REFUND, REFUND_124, folder, rulestep, run, seen};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

fn one_line(session: &str) -> String {
    format!("{}\n", session.replace('\n', " "))
}

fn archives() -> TempDir {
    let folder = folder(&[("contracts/issue_refund.yaml", ISSUE_REFUND), ("sessions/clean.json", CLEAN)]);
    fs::write(folder.path().join("sessions/refund.jsonl.gz"), gzip(&one_line(REFUND_124))).unwrap();
    folder
}

fn last_line(told: &str) -> &str {
    told.split("--- stderr").next().unwrap_or_default().lines().last().unwrap_or_default()
}

/// The denied call in it was not seen, and the exit code was 0.
#[test]
fn a_call_in_a_compressed_recording_is_judged() {
    let folder = archives();
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    write("refund.zst", zstd(REFUND_124));
    // By its content, not by its name.
    write("refund.json", gzip(REFUND_124));
    let two = [gzip(&one_line(CLEAN)), gzip(&one_line(REFUND_124))].concat();
    write("two.jsonl.gz", two);
    for named in [
        "sessions",
        "sessions/*.jsonl.gz",
        "sessions/refund.jsonl.gz",
        "refund.zst",
        "refund.json",
        "two.jsonl.gz",
    ] {
        for verb in [&["replay"][..], &["replay", "--summary"]] {
            let told = run(&folder, &[verb, &[named]].concat());
            assert!(told.starts_with("exit 1\n") && told.contains("refund-124"), "{named}: {told}");
        }
    }
    assert!(last_line(&run(&folder, &["replay", "two.jsonl.gz"])).starts_with("2 sessions, "));
    let told = run(&folder, &["explain", "--at", "refund-124:2.1", "sessions"]);
    assert!(told.contains("resource_unmatched"), "{told}");
}

#[test]
fn compressed_standard_input_is_unpacked() {
    let folder = archives();
    for packed in [gzip(REFUND_124), zstd(REFUND_124)] {
        let mut child = rulestep(folder.path(), &["replay", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&packed).unwrap();
        let told = seen(&child.wait_with_output().unwrap());
        assert!(told.starts_with("exit 1\n") && told.contains("resource_unmatched"), "{told}");
    }
}

/// What precedes the damage is judged, and that something is missing is an error.
#[test]
fn a_damaged_archive_is_a_loss() {
    let folder = folder(&[("contracts/issue_refund.yaml", ISSUE_REFUND)]);
    let many: String =
        (0..400).map(|number| one_line(&CLEAN.replace("clean", &format!("clean-{number}")))).collect();
    for (packed, name) in [(gzip(&many), "many.jsonl.gz"), (zstd(&many), "many.jsonl.zst")] {
        let cut = packed.len() - 8;
        for place in ["", "sessions/"] {
            let path = folder.path().join(place).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &packed[..cut]).unwrap();
        }
        for named in [name, "sessions"] {
            let told = run(&folder, &["replay", named, "--summary"]);
            assert!(told.starts_with("exit 2\n"), "{told}");
            let kind = if name.ends_with("gz") { "gzip" } else { "zstd" };
            assert!(told.contains(&format!("the file cannot be read: its {kind} data is cut off")), "{told}");
        }
        fs::remove_dir_all(folder.path().join("sessions")).unwrap();
    }
    fs::write(folder.path().join("head.gz"), [0x1f, 0x8b, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]).unwrap();
    assert!(run(&folder, &["replay", "head.gz"]).starts_with("exit 2\n"));
}

#[test]
fn what_is_skipped_is_counted_and_can_be_an_error() {
    let folder = archives();
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join("sessions").join(name), bytes).unwrap();
    fs::remove_file(folder.path().join("sessions/refund.jsonl.gz")).unwrap();
    let verbs = [&["replay"][..], &["replay", "--summary"], &["diff", "-b", "contracts"]];
    for verb in verbs {
        let told = run(&folder, &[verb, &["sessions", "--strict"]].concat());
        assert!(told.starts_with("exit 0\n") && !last_line(&told).contains("skipped"), "{told}");
    }
    write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    write("notes.gz", &gzip("remember the milk"));
    write("empty.jsonl", b"");
    write("README.md", b"# About these recordings");
    for verb in verbs {
        let told = run(&folder, &[verb, &["sessions"]].concat());
        assert!(told.starts_with("exit 0\n") && last_line(&told).ends_with("; 3 files skipped"), "{told}");
        assert!(run(&folder, &[verb, &["sessions", "--strict"]].concat()).starts_with("exit 2\n"));
        let data = run(&folder, &[verb, &["sessions", "--format", "json"]].concat());
        let totals: serde_json::Value = serde_json::from_str(last_line(&data)).unwrap();
        assert_eq!(totals["totals"]["skipped"], 3, "{data}");
    }
    assert!(run(&folder, &["convert", "sessions"]).starts_with("exit 0\n"));
    assert!(run(&folder, &["convert", "sessions", "--strict"]).starts_with("exit 2\n"));
    let told = run(&folder, &["convert", "sessions", "-o", "out/"]);
    assert!(told.contains("note: 1 session in 1 file; 3 files skipped"), "{told}");
    // Nor is quiet a reason to say nothing of what was not read.
    for quiet in
        [&["convert", "sessions", "-q", "-o", "quiet/"][..], &["export", "sessions", "-q", "-o", "rows"]]
    {
        let told = run(&folder, quiet);
        assert!(told.contains("warning: 2 files skipped: not recordings"), "{told}");
        assert!(told.contains("the file is empty") && !told.contains("picture.png"), "{told}");
    }
    // A violation is no excuse.
    write("refund.json.gz", &gzip(REFUND_124));
    assert!(run(&folder, &["replay", "sessions"]).starts_with("exit 1\n"));
    assert!(run(&folder, &["replay", "sessions", "--strict"]).starts_with("exit 2\n"));
}

#[test]
fn converted_files_lose_the_end_of_the_name_that_says_compressed() {
    let folder = archives();
    run(&folder, &["convert", "sessions", "-o", "out/"]);
    assert!(Path::new(&folder.path().join("out/refund.jsonl")).exists());
}
