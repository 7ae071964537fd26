//! Options with which a program does not do what its words say, and programs whose words are goals.

/// Programs, the first of their operands where that matters, and words with which a success proves nothing: they list what would be
/// run, or leave it out.
const IDLE: &[(&str, &str, &str)] = &[
    ("cargo", "", "--no-run --list --help -h"),
    ("cargo", "nextest", "list"),
    (
        "pytest py.test",
        "",
        "--collect-only --co --version -V --fixtures --help -h --markers --setup-plan --trace-config",
    ),
    ("make gmake", "", "-n --dry-run --just-print --recon -q --question -t --touch -h --help -v --version"),
    ("just", "", "-n --dry-run -l --list --summary --show -s --evaluate --dump --help --version"),
    ("rake", "", "-n --dry-run -P --prereqs -T --tasks -W --where --help --version"),
    ("task", "", "-n --dry -l --list -a --list-all --status --help --version"),
    ("go", "test", "-list -c -n -help"),
    ("jest", "", "--listTests --showConfig --version --help --init --clearCache"),
    ("vitest", "", "list init --version --help"),
    ("mocha", "", "--dry-run --version --help --list-reporters"),
    ("ava tap playwright cypress", "", "--list --version --help"),
    ("npm yarn pnpm bun", "", "--listTests --if-present --help -h --dry-run"),
    ("rspec", "", "--dry-run --version --help"),
    ("mvn mvnw", "", "-DskipTests -Dmaven.test.skip -DskipITs --help --version -v -h"),
    ("gradle gradlew", "", "-m --dry-run --help --version"),
    ("ctest", "", "-N --show-only --version --help --print-labels"),
    ("dotnet", "", "-t --list-tests --help"),
    ("tox", "", "-l --listenvs -a --notest -n --showconfig --help --version"),
    ("nox", "", "-l --list --list-sessions --install-only --help --version"),
    ("bats", "", "-c --count --help --version"),
    ("deno", "", "--no-run --help"),
    ("phpunit pest", "", "--list-tests --list-suites --list-groups --version --help"),
];

/// Whether the success of a command proves nothing of what its words say.
pub fn is_idle<'w>(program: &str, words: impl Iterator<Item = &'w str> + Clone) -> bool {
    let rows = IDLE.iter().filter(|(names, ..)| names.split(' ').any(|name| name == program));
    let fits = |word: &str, list: &str| {
        let clusters = matches!(program, "make" | "gmake");
        list.split(' ').any(|idle| {
            word == idle
                || word.strip_prefix(idle).is_some_and(|rest| rest.starts_with('=') && rest != "=false")
                || clusters
                    && idle.len() == 2
                    && word.starts_with('-')
                    && !word.starts_with("--")
                    && word
                        .chars()
                        .skip(1)
                        .take_while(|letter| !"fCIjlo".contains(*letter))
                        .any(|letter| idle.ends_with(letter))
        })
    };
    // `gradle check -x test` leaves the tests out.
    let excludes = |(option, task): (&str, &str)| {
        matches!(option, "-x" | "--exclude-task") && (task == "check" || task.to_lowercase().contains("test"))
    };
    if matches!(program, "gradle" | "gradlew") && words.clone().zip(words.clone().skip(1)).any(excludes) {
        return true;
    }
    let mut rows = rows.filter(|(_, first, _)| {
        first.is_empty() || words.clone().find(|word| !word.starts_with('-')) == Some(first)
    });
    rows.any(|(.., list)| words.clone().any(|word| fits(word, list)))
}

/// Whether each operand of a program is a goal of its own: `make lint test`.
pub fn takes_goals(program: &str) -> bool {
    matches!(
        program,
        "make"
            | "gmake"
            | "mvn"
            | "mvnw"
            | "gradle"
            | "gradlew"
            | "sbt"
            | "rake"
            | "just"
            | "task"
            | "ninja"
            | "mage"
            | "ant"
            | "invoke"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_tests_proves_nothing() {
        let idle = |line: &str| {
            let (program, words) = line.split_once(' ').unwrap_or((line, ""));
            is_idle(program, words.split(' '))
        };
        for line in [
            "cargo test --no-run",
            "cargo test -- --list",
            "cargo nextest list",
            "make -kn test",
            "make test --dry-run",
            "go test -list .",
            "mvn verify -DskipTests=true",
            "gradle check -x test",
            "gradlew build -x integrationTest",
            "vitest list",
        ] {
            assert!(idle(line), "{line}");
        }
        for line in [
            "cargo test",
            "cargo test list",
            "cargo nextest run",
            "make -j4 test",
            "make -C n test",
            "go test -count=1 ./...",
            "mvn verify -DskipTests=false",
            "gradle test -x lint",
            "git push -n",
            "vitest run",
        ] {
            assert!(!idle(line), "{line}");
        }
    }
}
