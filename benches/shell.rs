//! What reading a shell command costs: the commands of the tables in `tests/cases/shell`, one after the other.
//!
//! `cargo bench --bench shell`. `items/s` counts commands, `B/s` their bytes. `read` begins anew each time; `asked` puts the
//! rules of `contracts/coding` to calls whose readings are kept, as they are in a session.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

use std::fs;
use std::sync::Arc;

use divan::{
    Bencher,
    counter::{BytesCount, ItemsCount},
};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::outcomes;
use rulestep_engine::run::Mode;
use rulestep_shell::{Root, read};
use serde_json::json;

fn main() {
    divan::main();
}

/// The commands of all tables.
fn commands() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/shell");
    let files =
        fs::read_dir(folder).expect("the tables are there").map(|entry| entry.expect("a file").path());
    let mut tables: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    tables.sort();
    let cases = tables.iter().flat_map(|path| {
        let text = fs::read_to_string(path).expect("a table is a text");
        let table: serde_yaml::Value = serde_yaml::from_str(&text).expect("a table is YAML");
        table.as_sequence().cloned().unwrap_or_default()
    });
    let lines: Vec<String> = cases.filter_map(|case| Some(case.get("line")?.as_str()?.to_owned())).collect();
    assert!(lines.len() >= 400, "{} commands", lines.len());
    lines
}

fn count(bencher: Bencher<'_, '_>, lines: &[String], work: impl Fn() + Sync) {
    let bytes: usize = lines.iter().map(String::len).sum();
    bencher.counter(ItemsCount::new(lines.len())).counter(BytesCount::new(bytes)).bench(work);
}

#[divan::bench]
fn read_all(bencher: Bencher<'_, '_>) {
    let lines = commands();
    let root = Root { folder: Some("/home/me/project".to_owned()), ..Root::default() };
    count(bencher, &lines, || {
        for line in divan::black_box(&lines) {
            divan::black_box(read(line, &root));
        }
    });
}

/// A long line, whose cost must grow with its length and no faster: in KB.
#[divan::bench(args = [1, 4, 16])]
fn read_long(bencher: Bencher<'_, '_>, kilobytes: usize) {
    let root = Root::default();
    let mut line = String::new();
    for part in commands()
        .iter()
        .filter(|line| !line.contains(['\n', '\'', '"', '`', '$', '(', '{', '<', '#']))
        .cycle()
    {
        if line.len() + part.len() + 1 > kilobytes * 1024 {
            break;
        }
        line = line + part + "\n";
    }
    count(bencher, std::slice::from_ref(&line), || {
        drop(divan::black_box(read(divan::black_box(&line), &root)))
    });
}

fn coding() -> Arc<Policy> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/contracts/coding");
    let mut files: Vec<PolicyFile> = Vec::new();
    for entry in fs::read_dir(folder).expect("the contracts are there") {
        let name = entry.expect("a file").file_name().into_string().expect("a name is a text");
        if name.ends_with(".yaml") && !name.ends_with(".case.yaml") {
            let text = fs::read_to_string(format!("{folder}/{name}")).expect("a contract is a text");
            files.push(PolicyFile {
                name: name.as_str().into(),
                relative: name.into(),
                text: text.into(),
                named: true,
            });
        }
    }
    Policy::load(&files, None).policy.expect("the contracts are sound")
}

fn session(lines: &[String]) -> Session {
    let mut build =
        Builder::new("bench", Origin { file: "bench".into(), index: 0, format: "native", line: 1 });
    for line in lines {
        build.response(None, Body::MISSING, None);
        build.call(None, "Bash", Body::text(json!({"command": line}).to_string()), None);
        build.result(None, Body::text("done"), Mark::default(), None);
    }
    build.finish()
}

#[divan::bench]
fn asked(bencher: Bencher<'_, '_>) {
    // As many as a thread keeps.
    let lines: Vec<String> = commands().into_iter().take(400).collect();
    let (session, policy) = (session(&lines), coding());
    count(bencher, &lines, || {
        divan::black_box(outcomes(divan::black_box(&session), &policy, Mode::Enforce));
    });
}
