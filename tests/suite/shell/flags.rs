//! The options that a rule asks for, however they are spelt.

use rulestep_shell::matcher::{Matcher, Runs, Surroundings};
use rulestep_shell::{Answer, Root, read};

#[test]
fn options_are_met_in_all_their_spellings() {
    for (program, flags, lines) in [
        (
            "rm",
            &["-rf"][..],
            &["rm -rf a", "rm -r -f a", "rm -fr a", "rm -rfv a", "rm --recursive --force a"][..],
        ),
        ("rm", &["rf"], &["rm -rf a", "rm a -f -r"]),
        ("rm", &["r", "f"], &["rm -rf a", "rm -fr a"]),
        ("tar", &["xzf"], &["tar -xzf a", "tar -xz -f a"]),
        ("unheard-of", &["-it"], &["unheard-of -it x", "unheard-of -t -i x"]),
        ("unheard-of", &["-verbose"], &["unheard-of -verbose x", "unheard-of --verbose x"]),
        ("docker", &["-it"], &["docker run -it x", "docker run -i -t x"]),
        ("git", &["-am"], &["git commit -am x", "git commit -a -m x"]),
        ("head", &["-n5"], &["head -n5 a", "head -n 5 a"]),
        (
            "terraform",
            &["-auto-approve"],
            &["terraform apply -auto-approve", "terraform apply --auto-approve"],
        ),
        (
            "terraform",
            &["auto-approve"],
            &["terraform apply -auto-approve", "terraform apply --auto-approve"],
        ),
        ("find", &["delete"], &["find . -delete"]),
        ("go", &["run"], &["go test -run X ./...", "go test --run=X ./..."]),
        ("go", &["-run=X*"], &["go test -run Xy ./...", "go test --run=X ./..."]),
    ] {
        for line in lines {
            assert_eq!(asked(line, program, flags), Answer::Yes, "{program} {flags:?}: {line}");
        }
    }
    for (program, flags, line) in [
        ("rm", &["-rf"][..], "rm -r a"),
        ("rm", &["rf"], "rm -f a"),
        ("git", &["prune"], "git push -p -r -u -n -e"),
        ("git", &["amend"], "git commit -a"),
        ("head", &["-n5"], "head -n 6 a"),
        ("find", &["-rf"], "find . -r -f"),
        ("go", &["-run=X"], "go test -run Y"),
    ] {
        assert_eq!(asked(line, program, flags), Answer::No, "{program} {flags:?}: {line}");
    }
}

fn asked(line: &str, program: &str, flags: &[&str]) -> Answer {
    let matcher = Matcher::Runs(Runs::new([program], [], flags.iter().copied()));
    let line = read(line, &Root::default());
    Answer::any(line.calls.iter().map(|call| matcher.answer(call, &Surroundings::default())))
}
