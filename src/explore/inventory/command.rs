//! Which programs a command line runs, as far as that is certain without a parser of the shell language: the first word of
//! each simple command.
//!
//! Reading stops where anything begins that only such a parser could follow to its end: a substitution, a group, a here-document,
//! a compound command. What was read until then counts, and the rest is reported as not read.

/// What a command line runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The words of each simple command, its program first.
    pub commands: Vec<Vec<String>>,
    /// Whether it was read to its end.
    pub whole: bool,
}

/// Words that begin or continue a compound command, where a program could be.
const KEYWORDS: [&str; 18] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "{", "}", "[[", "coproc",
];

/// Shells whose `-c` takes a command line.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];

/// Reads a command line.
pub fn programs(line: &str) -> Programs {
    let mut reader = Reader { rest: line, commands: Vec::new(), words: Vec::new() };
    let whole = reader.read().is_some();
    // `name ()` would be a function, not a program.
    if whole || !reader.rest.starts_with('(') || reader.words.len() > 1 {
        reader.end();
    }
    let mut commands = reader.commands;
    if let (true, [only]) = (whole, commands.as_mut_slice())
        && let Some(script) = script(only)
    {
        return programs(&script);
    }
    for command in &mut commands {
        if let Some(program) = command.first_mut() {
            *program = base(program).to_owned();
        }
    }
    Programs { commands, whole }
}

/// The same of words that no shell reads: a program with its arguments, or a shell with its script.
pub fn of_words(words: Vec<String>) -> Programs {
    if let Some(script) = script(&words) {
        return programs(&script);
    }
    match words.split_first() {
        Some((program, rest)) if !program.is_empty() => {
            let words = std::iter::once(base(program).to_owned()).chain(rest.iter().cloned()).collect();
            Programs { commands: vec![words], whole: true }
        }
        _ => Programs::default(),
    }
}

/// The script of `bash -lc SCRIPT`.
fn script(words: &[String]) -> Option<String> {
    let [shell, flags, script] = words else { return None };
    let runs = SHELLS.contains(&base(shell)) && flags.starts_with('-') && flags.ends_with('c');
    runs.then(|| script.clone())
}

/// A program's name without its folder.
fn base(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or_default();
    if name.is_empty() { program } else { name }
}

struct Reader<'l> {
    rest: &'l str,
    commands: Vec<Vec<String>>,
    /// The words of the simple command at hand.
    words: Vec<String>,
}

impl Reader<'_> {
    /// Reads to the end; `None` where something begins that is not followed.
    fn read(&mut self) -> Option<()> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r']);
            if let Some(rest) = self.rest.strip_prefix("\\\n") {
                self.rest = rest;
                continue;
            }
            let Some(next) = self.rest.chars().next() else { return Some(()) };
            match next {
                '#' => {
                    self.rest = self.rest.find('\n').and_then(|end| self.rest.get(end..)).unwrap_or_default()
                }
                '(' | ')' => return None,
                '>' | '<' => self.redirection()?,
                '&' if self.rest.starts_with("&>") => {
                    self.rest = self.rest.get(1..)?;
                    self.redirection()?;
                }
                ';' | '&' | '|' | '\n' => {
                    if self.rest.starts_with(";;") {
                        return None;
                    }
                    self.end();
                    self.rest = self.rest.get(1..)?;
                }
                _ => self.argument()?,
            }
        }
    }

    /// Skips a redirection with its target.
    fn redirection(&mut self) -> Option<()> {
        let target = self.rest.trim_start_matches(['>', '<', '|', '&']);
        let operator = self.rest.get(..self.rest.len() - target.len())?;
        if operator.starts_with("<<") || target.starts_with('(') {
            return None;
        }
        self.rest = target.trim_start_matches([' ', '\t']);
        self.word().map(drop)
    }

    fn argument(&mut self) -> Option<()> {
        let begin = self.rest;
        let (word, plain) = self.word()?;
        // `2>`: a number that belongs to a redirection.
        if plain && self.rest.starts_with(['>', '<']) && word.chars().all(|c| c.is_ascii_digit()) {
            return Some(());
        }
        if self.words.is_empty() {
            let assigns = begin.split_once('=').is_some_and(|(name, _)| is_name(name.trim_end_matches('+')));
            if assigns || (plain && word == "!") {
                return Some(());
            }
            if word.is_empty()
                || (plain && KEYWORDS.contains(&word.as_str()))
                || word.contains(['$', '*', '?', '~'])
            {
                self.rest = begin;
                return None;
            }
        }
        self.words.push(word);
        Some(())
    }

    /// A word without its quotes, and whether it had none.
    fn word(&mut self) -> Option<(String, bool)> {
        let (mut word, mut plain) = (String::new(), true);
        while let Some(next) = self.rest.chars().next() {
            if next.is_ascii_whitespace() || matches!(next, ';' | '&' | '|' | '<' | '>' | '(' | ')') {
                break;
            }
            let after = self.rest.get(next.len_utf8()..)?;
            match next {
                '\'' => {
                    let (inner, after) = after.split_once('\'')?;
                    word.push_str(inner);
                    (self.rest, plain) = (after, false);
                    continue;
                }
                '"' => {
                    self.rest = quoted(after, &mut word)?;
                    plain = false;
                    continue;
                }
                '\\' => {
                    let escaped = after.chars().next()?;
                    if escaped != '\n' {
                        word.push(escaped);
                    }
                    (self.rest, plain) = (after.get(escaped.len_utf8()..)?, false);
                    continue;
                }
                '`' => return None,
                '$' if after.starts_with(['(', '{', '\'', '"']) => return None,
                _ => word.push(next),
            }
            self.rest = after;
        }
        Some((word, plain))
    }

    /// Ends the simple command at hand.
    fn end(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.commands.push(words);
        }
    }
}

/// Reads to the closing quotation mark; returns what is after it.
fn quoted<'t>(text: &'t str, word: &mut String) -> Option<&'t str> {
    let mut rest = text;
    loop {
        let next = rest.chars().next()?;
        let after = rest.get(next.len_utf8()..)?;
        match next {
            '"' => return Some(after),
            '`' => return None,
            '$' if after.starts_with(['(', '{']) => return None,
            '\\' => {
                let escaped = after.chars().next()?;
                match escaped {
                    '\n' => {}
                    '"' | '\\' | '$' | '`' => word.push(escaped),
                    other => word.extend(['\\', other]),
                }
                rest = after.get(escaped.len_utf8()..)?;
                continue;
            }
            _ => word.push(next),
        }
        rest = after;
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_of_each_simple_command_is_its_program() {
        for (line, expected, whole) in [
            ("ls", "ls", true),
            ("  ls -la\n", "ls", true),
            ("cd /x && git status; cargo test | tail -5", "cd git cargo tail", true),
            ("a || b & c |& d\ne", "a b c d e", true),
            ("/usr/bin/env python3 x.py", "env", true),
            ("X=1 Y='a b' make -j4", "make", true),
            ("X=1", "", true),
            ("! grep -q x y", "grep", true),
            ("\"git\" push", "git", true),
            ("gi\\t push", "git", true),
            ("echo 'a; rm -rf /' \"b && c\" d\\;e", "echo", true),
            ("echo a # rm b\nls", "echo ls", true),
            ("echo a#b; ls", "echo ls", true),
            ("cmd 2>&1 >/dev/null; ls", "cmd ls", true),
            ("2>/dev/null cmd", "cmd", true),
            (">out cmd a; b &> log; c 2>&1 | d", "cmd b c d", true),
            ("git commit \\\n  -m x", "git", true),
            ("bash -lc 'cd x && ls'", "cd ls", true),
            ("/bin/bash -c \"ls | wc\"", "ls wc", true),
            ("bash -lc ls -x", "bash", true),
            ("echo $HOME \"$USER\"", "echo", true),
            // What is not followed.
            ("git commit -m \"$(cat <<'EOF'\nrm x\nEOF\n)\"", "git", false),
            ("ls; for f in *; do rm $f; done", "ls", false),
            ("ls && (cd x; rm y)", "ls", false),
            ("f() { rm x; }; f", "", false),
            ("f () { rm x; }", "", false),
            ("cat <<EOF\nrm x\nEOF", "cat", false),
            ("cat <<< hi; ls", "cat", false),
            ("diff <(ls a) <(ls b)", "diff", false),
            ("echo `rm x`", "echo", false),
            ("$CMD push; ls", "", false),
            ("a; ${X} b", "a", false),
            ("./*.sh", "", false),
            ("if true; then rm x; fi", "", false),
            ("[[ -f x ]] && rm x", "", false),
            ("echo 'open", "echo", false),
            ("echo \"open", "echo", false),
            ("", "", true),
            ("\\", "", false),
            ("''", "", false),
            ("case x in a) rm b;; esac", "", false),
        ] {
            let found = programs(line);
            let names: Vec<&str> =
                found.commands.iter().filter_map(|words| Some(words.first()?.as_str())).collect();
            assert_eq!((names.join(" ").as_str(), found.whole), (expected, whole), "`{line}`");
        }
    }

    #[test]
    fn words_that_no_shell_reads_are_one_command() {
        let words = |line: &str| of_words(line.split(' ').map(str::to_owned).collect());
        assert_eq!(words("bash -lc ls;id").commands, [vec!["ls".to_owned()], vec!["id".to_owned()]]);
        assert_eq!(words("/usr/bin/git push; $(x)").commands.first().map(|words| words.len()), Some(3));
        assert_eq!(of_words(Vec::new()), Programs::default());
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in
            ["é>ü", "\\é", "\"\\é", "$", "`", "&", "&>", ">", "<", ";;", "=", "a=", "\u{2028}", "2>", "é=1 x"]
        {
            let _ = programs(text);
        }
    }
}
