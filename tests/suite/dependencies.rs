//! What the crate depends on: how much the bare engine brings along, under which licences, and that each line of
//! `Cargo.toml` is used.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, ParseMode};

/// The most crates that the bare engine may compile, itself included. Half of them come with the grammar of bash.
const BARE: usize = 95;

/// Licences that allow what `MIT OR Apache-2.0` promises.
const ALLOWED: [&str; 11] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "ISC",
    "BSD-3-Clause",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "0BSD",
    "Unicode-3.0",
];

fn cargo(arguments: &[&str]) -> String {
    // Not offline: packages of other platforms are missing until something asks for them.
    let output = Command::new(env!("CARGO")).args(arguments).arg("--locked").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_bare_engine_brings_few_crates() {
    let tree = cargo(&[
        "tree",
        "-p",
        "rulestep-engine",
        "-e",
        "normal",
        "--no-default-features",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() <= BARE, "{} crates: {names:?}", names.len());
    for heavy in ["ratatui", "crossterm", "clap", "yaml_serde", "rayon", "notify"] {
        assert!(!names.contains(heavy), "{heavy} is compiled for the bare engine");
    }
}

/// Some of the old crates write `MIT/Apache-2.0`.
fn is_allowed(licences: &str) -> bool {
    let expression = Expression::parse_mode(licences, ParseMode::LAX).unwrap();
    expression.evaluate(|needed| ALLOWED.contains(&needed.to_string().as_str()))
}

#[test]
fn every_licence_is_allowed() {
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0") && is_allowed("GPL-3.0 OR MIT"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("(MIT OR Apache-2.0) AND GPL-3.0"));
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--format-version", "1"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or("none")))
        .map(|package| format!("{} {}", package["name"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Clippy's `incompatible_msrv` asks the same of what the crate itself uses from the standard library.
#[test]
fn no_dependency_needs_a_newer_compiler_than_the_crate_says() {
    let release = |version: &str| -> Vec<u32> {
        version.split('.').map(|part| part.parse().unwrap()).chain([0, 0]).take(3).collect()
    };
    let promised = release(env!("CARGO_PKG_RUST_VERSION"));
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--format-version", "1"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let newer: Vec<String> = packages
        .iter()
        .filter(|package| package["rust_version"].as_str().is_some_and(|needs| release(needs) > promised))
        .map(|package| format!("{} needs {}", package["name"], package["rust_version"]))
        .collect();
    assert!(newer.is_empty(), "rust-version says {}: {newer:#?}", env!("CARGO_PKG_RUST_VERSION"));
}

/// Each direct dependency is named somewhere in the code that may use it.
#[test]
fn every_dependency_is_used() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        let root = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let mut program = String::new();
        gather(&root.join("src"), &mut program);
        let mut all = program.clone();
        ["tests", "benches", "examples"].iter().for_each(|folder| gather(&root.join(folder), &mut all));
        let build = std::fs::read_to_string(root.join("build.rs")).unwrap_or_default() + &program;
        for dependency in package["dependencies"].as_array().unwrap() {
            let name =
                dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap().replace('-', "_");
            let text = match dependency["kind"].as_str() {
                Some("dev") => &all,
                Some("build") => &build,
                _ => &program,
            };
            let used =
                [format!("{name}::"), format!("use {name};"), format!("use {name} as"), format!("{name}!")];
            let of = &package["name"];
            assert!(used.iter().any(|form| text.contains(form)), "{of} does not use `{name}`");
        }
    }
}

fn gather(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// A plain build and the archives of a release optimise the same crates for speed.
#[test]
fn both_profiles_name_the_same_crates() {
    let manifest: toml::Table = toml::from_str(
        &std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap(),
    )
    .unwrap();
    let named = |profile: &str| {
        let packages = manifest["profile"][profile]["package"].as_table().unwrap();
        packages.keys().filter(|name| *name != "*").cloned().collect::<BTreeSet<_>>()
    };
    let (plain, archives) = (named("dev"), named("dist"));
    assert!(plain.contains("rulestep-engine"), "{plain:?}");
    assert_eq!(plain, archives);
}
