//! The common name of a command: its program with the subcommand, `git push`, `cargo test`, `npm run build`.

use super::call::SmallCall;
use super::facts::Table;
use super::options::arguments;
use super::word::Word;

/// Longest name of a program, and longest subcommand.
const LONGEST: usize = 64;

/// The program, then the words of its subcommand. `None` if the program is unknown, and for redirections alone.
pub fn action(call: &SmallCall, facts: &Table) -> Option<Vec<String>> {
    let program = call.program.known().filter(|name| !name.is_empty() && call.unclear.is_none())?;
    let mut words = vec![program.to_owned()];
    let Some(row) = facts.program(program) else { return Some(words) };
    let read = arguments(row, &call.args);
    let verbs = read.levels.iter().map(|level| level.verbs).max().unwrap_or_default();
    let most = match (read.skipped, row.has_subs()) {
        // A word that is not listed may be a plugin or an alias.
        (0, true) => verbs.max(1),
        (skipped, _) => skipped + read.levels.last().map_or(0, |level| level.verbs),
    };
    // If listed subcommands have dots in their names, like `ecto.migrate`, others may have.
    let dotted = row.levels.iter().flat_map(|level| &level.subs).flatten().any(|word| word.contains('.'));
    // An option that the table does not know may have the next word as its value.
    let sure = read.doubtful.as_ref().map_or(usize::MAX, |(at, _)| *at);
    for operand in read.operands.iter().take(sure.min(most.max(verbs))) {
        let Some(word) = subcommand(operand, dotted) else { break };
        words.push(word.to_owned());
    }
    Some(words)
}

/// A word that can be a subcommand: no path, no pattern, no sentence.
fn subcommand(word: &Word, dotted: bool) -> Option<&str> {
    let text = word.known().filter(|text| text.len() <= LONGEST && !word.many)?;
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-') || dotted && c == '.';
    (text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(letters)).then_some(text)
}

/// Whether a policy can name the program: nothing in it is read as a pattern.
pub fn is_plain(program: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    program.len() <= LONGEST
        && program.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && program.chars().all(letters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Root, read};

    #[test]
    fn programs_are_called_with_their_subcommands() {
        for (line, expected) in [
            ("git push origin main", "git push"),
            ("git -C /x -c a=b --no-pager push", "git push"),
            ("git remote add origin x", "git remote add"),
            ("git", "git"),
            ("git $VERB", "git"),
            ("git --unknown push", "git"),
            ("git checkout src/a.rs", "git checkout"),
            ("cargo +nightly test -p x name", "cargo test"),
            ("cargo run x", "cargo run"),
            ("npm run test:unit -- --watch", "npm run test:unit"),
            ("npm install left-pad", "npm install"),
            ("make -j4 test", "make test"),
            ("make out/a.o", "make"),
            ("mix ecto.migrate", "mix ecto.migrate"),
            ("gh pr create --title 'a b'", "gh pr create"),
            ("gh api repos/a/b", "gh api"),
            ("aws s3 cp a s3://b", "aws s3 cp"),
            ("docker compose up -d", "docker compose up"),
            ("kubectl -n prod delete pod x", "kubectl delete"),
            ("go mod tidy", "go mod tidy"),
            ("terraform apply", "terraform apply"),
            ("echo git push", "echo"),
            ("rm -rf build", "rm"),
            ("python3 -m pytest tests", "python3; pytest"),
            ("/usr/bin/git status", "git status"),
            ("git commit -m 'git push'", "git commit"),
        ] {
            let read = read(line, &Root::default());
            let names: Vec<String> = read
                .calls
                .iter()
                .filter_map(|call| action(call, &Table::default()))
                .map(|words| words.join(" "))
                .collect();
            assert_eq!(names.join("; "), expected, "`{line}`");
        }
        for line in ["$CMD push", "eval \"$X\"", "> out"] {
            assert!(
                read(line, &Root::default())
                    .calls
                    .iter()
                    .all(|call| action(call, &Table::default()).is_none_or(|words| words == ["eval"])),
                "`{line}`"
            );
        }
    }

    #[test]
    fn a_program_is_named_only_by_plain_letters() {
        assert!(["git", "g++", "7z", "python3.12", "_x"].iter().all(|name| is_plain(name)));
        assert!(["", "*", "a*", "a b", "-x", "é", "[", "a\n"].iter().all(|name| !is_plain(name)));
        assert!(!is_plain(&"x".repeat(65)));
    }
}
