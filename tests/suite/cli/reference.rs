//! The whole command-line reference, so that its wording is reviewed when it changes.

use super::run;

/// The help of the program and of every command.
pub fn all() -> String {
    let folder = tempfile::tempdir().unwrap();
    let verbs = [
        "replay",
        "diff",
        "new",
        "init",
        "check",
        "test",
        "explain",
        "schema",
        "convert",
        "migrate",
        "completions",
        "man",
    ];
    let mut reference = run(&folder, &["--help"]);
    for verb in verbs {
        reference.push_str(&format!("\n\n# rulestep {verb}\n"));
        reference.push_str(&run(&folder, &[verb, "--help"]));
    }
    reference
}

#[test]
fn the_help_of_every_command() {
    insta::assert_snapshot!(all());
}
