//! Scripts of filters: `sed`, `awk`, `jq`.

use super::step::Step;

/// A program of `awk`.
pub fn awk(code: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    if code.contains(['|', '>']) || code.contains("system(") {
        steps.push(Step::Opaque);
    }
    for rest in code.split("ENVIRON").skip(1) {
        let name = rest.strip_prefix("[\"").and_then(|rest| rest.split_once("\"]"));
        steps.push(Step::Variable(name.map(|(name, _)| name)));
    }
    steps
}

/// Filters of `jq` see the environment as `env` and `$ENV`.
pub fn jq(filter: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    // Every second part is in quotes.
    for part in filter.split('"').step_by(2) {
        for (at, mark) in part.match_indices("env").chain(part.match_indices("$ENV")) {
            let name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let before = part.get(..at).and_then(|text| text.chars().next_back());
            let after = part.get(at + mark.len()..).unwrap_or_default();
            let key =
                after.trim_start().starts_with(':') || after.starts_with(name) || after.starts_with('(');
            if before.is_some_and(|letter| name(letter) || matches!(letter, '.' | '$' | '@')) || key {
                continue;
            }
            let field = after
                .strip_prefix('.')
                .map(|rest| rest.split(|letter| !name(letter)).next().unwrap_or_default());
            steps.push(Step::Variable(field.filter(|field| !field.is_empty())));
        }
    }
    steps
}

/// Files that a script of `sed` reads and writes; the commands that it runs are unknown.
pub fn sed(script: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = script;
    while let Some(command) = rest.chars().next() {
        let after = rest.get(command.len_utf8()..).unwrap_or_default();
        let line = || after.split_once('\n').unwrap_or((after, ""));
        rest = match command {
            '/' => until(after, '/').1,
            '\\' => after
                .chars()
                .next()
                .map_or("", |mark| until(after.get(mark.len_utf8()..).unwrap_or_default(), mark).1),
            's' | 'y' => {
                let Some(mark) = after.chars().next() else { return steps };
                let after = until(after.get(mark.len_utf8()..).unwrap_or_default(), mark).1;
                let flags = until(after, mark).1;
                let end = flags.find(|letter: char| !(letter.is_ascii_digit() || "gpiImMe".contains(letter)));
                let (given, after) = flags.split_at(end.unwrap_or(flags.len()));
                if command == 's' && given.contains('e') {
                    steps.push(Step::Opaque);
                }
                match after.strip_prefix('w').filter(|_| command == 's') {
                    Some(file) => {
                        let (file, after) = file.split_once('\n').unwrap_or((file, ""));
                        steps.push(Step::Writes(file.trim()));
                        after
                    }
                    None => after,
                }
            }
            'w' | 'W' | 'r' | 'R' => {
                let (file, after) = line();
                let step = if matches!(command, 'w' | 'W') { Step::Writes } else { Step::Reads };
                steps.push(step(file.trim()));
                after
            }
            'e' => {
                steps.push(Step::Opaque);
                line().1
            }
            'a' | 'i' | 'c' | '#' => line().1,
            ':' | 'b' | 't' | 'T' => {
                after.find(['\n', ';', '}']).and_then(|end| after.get(end..)).unwrap_or("")
            }
            _ => after,
        };
    }
    steps
}

/// The text before a mark that has no backslash before it, and what follows it.
fn until(text: &str, mark: char) -> (&str, &str) {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == mark && !escaped {
            return (
                text.get(..at).unwrap_or_default(),
                text.get(at + letter.len_utf8()..).unwrap_or_default(),
            );
        }
        escaped = letter == '\\' && !escaped;
    }
    (text, "")
}
