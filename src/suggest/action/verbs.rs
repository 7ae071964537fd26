//! Which actions users want conditions for, and which are conditions: by the words of their names.

use super::claim::Action;

/// Words for what people want a condition on: it changes what others see, or cannot be undone.
const MATTERS: &[&str] = &[
    "apply",
    "commit",
    "delete",
    "deploy",
    "destroy",
    "drop",
    "merge",
    "migrate",
    "promote",
    "publish",
    "push",
    "release",
    "rollback",
    "submit",
    "terminate",
    "uninstall",
    "upgrade",
    "upload",
];
/// Programs that do such things whatever comes after them.
const MATTERING: &[&str] = &["dropdb", "mail", "rclone", "rsync", "scp", "sendmail", "sftp", "twine"];
/// Words for looking whether something is right.
const CHECKS: &[&str] = &[
    "audit",
    "build",
    "check",
    "ci",
    "clippy",
    "compile",
    "credo",
    "ctest",
    "dialyzer",
    "e2e",
    "eslint",
    "flake8",
    "fmt",
    "format",
    "jest",
    "lint",
    "mocha",
    "mypy",
    "nextest",
    "nox",
    "phpunit",
    "plan",
    "precommit",
    "prettier",
    "pyright",
    "pytest",
    "rspec",
    "rubocop",
    "ruff",
    "shellcheck",
    "spec",
    "specs",
    "test",
    "tests",
    "tox",
    "tsc",
    "typecheck",
    "unit",
    "validate",
    "verify",
    "vet",
    "vitest",
];
/// Of those, the words for tests.
const TESTS: &[&str] = &[
    "ctest", "e2e", "jest", "mocha", "nextest", "nox", "phpunit", "pytest", "rspec", "spec", "specs", "test",
    "tests", "tox", "unit", "vitest",
];
/// Of those, the words for steps that tests include.
const BUILDS: &[&str] = &["build", "compile"];
/// Words for looking at something, and for what a program needs of itself: no condition of anything else.
const LOOKS: &[&str] = &[
    "add", "branch", "describe", "diff", "fetch", "get", "help", "info", "list", "log", "ls", "pull",
    "search", "show", "stash", "status", "version", "view",
];
/// Programs that are never a condition: every session is full of them.
const COMMON: &[&str] = &[
    ".", ":", "[", "awk", "basename", "bash", "cat", "cd", "chmod", "command", "cp", "cut", "date",
    "dirname", "echo", "env", "exit", "export", "false", "file", "find", "grep", "head", "jq", "kill", "ls",
    "mkdir", "mv", "nl", "node", "perl", "printf", "ps", "pwd", "python", "python3", "rg", "rm", "sed",
    "set", "sh", "sleep", "sort", "source", "stat", "sudo", "tail", "tee", "test", "time", "timeout",
    "touch", "tr", "true", "uniq", "wc", "which", "xargs", "zsh",
];

/// Whether rules are looked for about an action.
pub fn matters(action: &Action) -> bool {
    MATTERING.contains(&action.program())
        || action.0.len() > 1 && action.parts().any(|part| MATTERS.contains(&part))
        || action.program() == "gh" && action.0.get(2).is_some_and(|verb| verb == "create")
}

/// Whether an action looks whether something is right.
pub fn is_check(action: &Action) -> bool {
    // `test -f x` is a condition of the shell.
    !COMMON.contains(&action.program())
        && action.parts().any(|part| CHECKS.contains(&part))
        && !matters(action)
}

/// Whether it is a test.
pub fn is_test(action: &Action) -> bool {
    action.parts().any(|part| TESTS.contains(&part))
}

/// Whether it is a check that every test does as well.
pub fn is_build(action: &Action) -> bool {
    action.parts().any(|part| BUILDS.contains(&part))
}

/// Whether it is nothing that something else would wait for.
pub fn is_common(action: &Action) -> bool {
    action.parts().any(|part| LOOKS.contains(&part)) || COMMON.contains(&action.program())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_and_what_checks_goes_by_whole_words() {
        let of = |text: &str| Action(text.split(' ').map(str::to_owned).collect::<Vec<_>>().into());
        for text in
            ["git push", "npm publish", "npm run deploy:prod", "gh pr create", "scp", "mix ecto.migrate"]
        {
            assert!(matters(&of(text)) && !is_check(&of(text)), "{text}");
        }
        for text in ["git status", "git pull", "push", "npm install", "cargo run", "pushd", "kubectl get"] {
            assert!(!matters(&of(text)), "{text}");
        }
        for text in
            ["cargo test", "npm run test:unit", "pytest", "make lint", "verify.sh", "tsc", "terraform plan"]
        {
            assert!(is_check(&of(text)), "{text}");
        }
        for text in ["test", "latest", "git status", "contest", "ls"] {
            assert!(!is_check(&of(text)), "{text}");
        }
        assert!(is_test(&of("make test")) && !is_test(&of("make lint")));
    }
}
