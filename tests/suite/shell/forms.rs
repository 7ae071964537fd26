//! Forms in which words of a command name files, hosts and other programs.

use rulestep_shell::facts::Table;
use rulestep_shell::{Root, read};

/// What the calls of a line are found to do, with the programs that they run.
fn said(line: &str) -> String {
    let read = read(line, &Root::of("", None, Table::default()));
    let calls = read.calls.iter().map(|call| {
        let mut said: Vec<String> =
            call.touches.iter().map(|it| format!("{} {}", it.act.name(), it.shown())).collect();
        said.extend(call.reaches.iter().map(|host| format!("reaches {host}")));
        format!("{call}: {}", said.join(", "))
    });
    calls.collect::<Vec<_>>().join("; ")
}

#[test]
fn words_are_read_in_the_form_of_their_row() {
    for (line, expected) in [
        ("chmod -x .git/hooks/pre-push", "chmod -x .git/hooks/pre-push: writes .git/hooks/pre-push"),
        ("gunzip a.gz", "gunzip a.gz: reads a.gz, writes a, deletes a.gz"),
        ("gzip a.tgz", "gzip a.tgz: reads a.tgz, writes a.tar, deletes a.tgz"),
        ("command -v git push", "command -v git push: "),
        ("python -um pip --version", "python -um pip --version: ; pip --version: "),
        ("python x.py -m pip", "python x.py -m pip: reads x.py"),
        (
            "env -S 'git diff' --stat HEAD",
            "env -S `git diff` --stat HEAD: ; git diff --stat HEAD: reads HEAD",
        ),
        ("sudo A=b ls", "sudo A=b ls: ; ls: "),
        ("GOPROXY=off go mod tidy", "go mod tidy: writes go.mod, writes go.sum"),
        (
            "curl -o x --output-dir d https://a.example",
            "curl -o x --output-dir d https://a.example: writes d/x, reaches a.example",
        ),
        ("socat - TCP:a.example:80", "socat - TCP:a.example:80: reaches a.example"),
        ("socat - EXEC:ls", "socat - EXEC:ls: ; ls: "),
    ] {
        assert_eq!(said(line), expected, "{line}");
    }
}

#[test]
fn settings_of_git_are_alike_in_any_case() {
    for line in [
        "git -c Core.SSHCommand='npm publish' fetch",
        "git config CORE.sshCommand 'npm publish'",
        "git config --replace-all core.sshcommand 'npm publish'",
        "git config --worktree core.Editor 'npm publish'",
        "git config --file .git/config core.pager 'npm publish'",
        "git config set --file=.git/config Core.Pager 'npm publish'",
    ] {
        assert!(said(line).contains("; npm publish: "), "{line}: {}", said(line));
    }
    assert!(said("git remote add o https://a.example/x; git push o").contains("reaches a.example"));
    assert!(
        said("git config --replace-all Remote.o.URL https://a.example/x; git push o")
            .contains("reaches a.example")
    );
}
