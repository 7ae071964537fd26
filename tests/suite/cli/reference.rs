//! The whole command-line reference, so that its wording is reviewed when it changes.

use super::run;

/// The commands that the program's help lists.
pub fn verbs(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The help of the program and of every command.
pub fn all() -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut reference = run(&folder, &["--help"]);
    for verb in verbs(&reference) {
        reference.push_str(&format!("\n\n# rulestep {verb}\n"));
        reference.push_str(&run(&folder, &[&verb, "--help"]));
    }
    reference
}

#[test]
fn the_help_of_every_command() {
    insta::assert_snapshot!(all());
}
