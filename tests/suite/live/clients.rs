//! The clients in `clients/`: their own tests, against this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skipped::skipped;

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// Runs a command; whether it is there and succeeds.
fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn tested(command: &mut Command) {
    let output = command.env("RULESTEP", env!("CARGO_BIN_EXE_rulestep")).output().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{}", said.concat());
}

#[test]
fn the_python_client_passes_its_tests() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let new = "import sys; sys.exit(sys.version_info < (3, 9))";
    if !succeeds(Command::new(&python).args(["-c", new])) {
        return skipped("no Python 3.9 for the client of `gate --stdio`");
    }
    let mut command = Command::new(python);
    // Nothing is written beside the sources.
    command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(client("python"));
    // Tests of adapters skip themselves where their framework is not installed for this Python.
    tested(command.args(["-m", "unittest", "-q"]));
}

/// Node strips types from version 22.18 on; before, the compiler of TypeScript does.
#[test]
fn the_typescript_client_passes_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    let sources = ["rulestep.ts", "rulestep.test.ts", "examples/vercel-ai.ts", "examples/vercel-ai.test.ts"];
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    for name in sources {
        std::fs::copy(client("typescript").join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("package.json"), "{\"type\": \"module\"}").unwrap();
    std::fs::write(folder.path().join("strips.ts"), "const one: number = 1;\n").unwrap();
    if succeeds(Command::new("node").arg("strips.ts").current_dir(folder.path())) {
        let tests = sources.iter().filter(|name| name.ends_with(".test.ts"));
        return tested(Command::new("node").arg("--test").args(tests).current_dir(folder.path()));
    }
    // Types of Node are not there to be checked against.
    let options = ["--noCheck", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
    let mut compile = Command::new(std::env::var("TSC").unwrap_or_else(|_| "tsc".to_owned()));
    compile.args(options).arg("--rewriteRelativeImportExtensions").args(sources);
    if !succeeds(Command::new("node").arg("--version")) || !succeeds(compile.current_dir(folder.path())) {
        return skipped("no Node that runs TypeScript for the client of `gate --stdio`, and no `tsc`");
    }
    let tests = ["rulestep.test.js", "examples/vercel-ai.test.js"];
    tested(Command::new("node").arg("--test").args(tests).current_dir(folder.path()));
}
