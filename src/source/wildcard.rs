//! Names that look like patterns, have blanks at their ends, or letters that nobody sees, at places where a name is compared letter by letter.
//!
//! Such a name matches no call, so the rule around it never applies although it reads as if it did. Every reader of exact
//! names asks [`Wildcard::of`], and refuses the name with the form that works at its place.
//!
//! ```
//! use rulestep::internals::source::wildcard::Wildcard;
//!
//! let found = Wildcard::of("slack.*").expect("a star");
//! assert_eq!((found.sign, found.prefix), ("*", Some("slack.")));
//! assert!(Wildcard::of("slack.post_message").is_none());
//! ```

use super::{Field, Problem, ProblemKind, Span, is_unseen, quoted};

/// A sign in a name that people write for "any of these names".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wildcard<'a> {
    /// The whole name.
    pub name: &'a str,
    /// The first such sign: `*`, `?`, `[a-z]`, `{a,b}` or `|`; a blank, or the end of a line, where there is one at an end; a
    /// letter that nobody sees.
    pub sign: &'a str,
    /// What all meant names begin with, where the name is that and one star after it.
    pub prefix: Option<&'a str>,
}

impl<'a> Wildcard<'a> {
    /// The first wildcard in a name, or another sign that stands for something else. No provider of models and no MCP server
    /// allows these signs in the names of tools.
    pub fn of(name: &'a str) -> Option<Wildcard<'a>> {
        let foreign = || {
            let found = name.char_indices().find_map(|(at, sign)| {
                let rest = name.get(at..)?;
                let is_two = |pair: &str| rest.starts_with(pair);
                match sign {
                    '^' | '$' | '(' | ')' => rest.get(..1),
                    '{' if is_two("{{") => rest.get(..2),
                    ',' if is_two(", ") => rest.get(..1),
                    _ => None,
                }
            });
            found.map(|sign| Wildcard { name, sign, prefix: None })
        };
        Wildcard::in_pattern(name).or_else(foreign)
    }

    /// The first wildcard in a text that is no name of a tool: a path, a host, a word of a command.
    pub fn in_pattern(name: &'a str) -> Option<Wildcard<'a>> {
        if let Some(sign) = name.matches(is_unseen).next() {
            return Some(Wildcard { name, sign, prefix: None });
        }
        let blank = |letter: char| letter.is_whitespace();
        if name.starts_with(blank) || name.ends_with(blank) {
            let sign = name.matches(blank).next()?;
            return Some(Wildcard { name, sign, prefix: None });
        }
        let sign = name.char_indices().find_map(|(at, sign)| {
            let rest = name.get(at..)?;
            let closed = |close: char| rest.find(close).and_then(|end| rest.get(..=end));
            match sign {
                '*' | '?' | '|' => rest.get(..1),
                '[' => closed(']').filter(|set| set.len() > 2),
                '{' => closed('}').filter(|set| set.contains(',')),
                _ => None,
            }
        })?;
        let prefix = name.strip_suffix('*').filter(|prefix| Wildcard::of(prefix).is_none());
        Some(Wildcard { name, sign, prefix })
    }

    /// The error at a place where names are exact; `help` is the form that works there.
    pub fn problem(&self, span: Span, help: impl Into<String>) -> Problem {
        if let Some(problem) = self.unseen(span) {
            return problem;
        }
        let message = format!(
            "names are compared exactly here, so the `{}` in {} would match nothing",
            self.sign,
            quoted(self.name)
        );
        let help = self.instead().unwrap_or_else(|| help.into());
        Problem::new(ProblemKind::StarInName, span, message).help(help)
    }

    /// The name that was meant, where a sign says so.
    fn instead(&self) -> Option<String> {
        let plain = |name: &str| !name.is_empty() && Wildcard::of(name).is_none();
        match self.sign {
            "^" | "$" if self.name.starts_with("${") => {
                Some("write the name itself: variables are not filled in here".to_owned())
            }
            "{{" => Some("write the name itself: templates are not filled in here".to_owned()),
            "^" | "$" => {
                let name = self.name.trim_start_matches('^').trim_end_matches('$');
                plain(name).then(|| format!("write {}", quoted(name)))
            }
            "(" => {
                let name =
                    self.name.split_once('(').map(|(name, _)| name.trim()).filter(|name| plain(name))?;
                Some(format!(
                    "write {}; a rule of type `never` can say which calls of it are meant",
                    quoted(name)
                ))
            }
            "," => {
                let names: Vec<&str> =
                    self.name.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
                Some(format!("write an entry for each name: {}", quoted(&format!("[{}]", names.join(", ")))))
            }
            _ => None,
        }
    }

    /// The error at a place where `*` and `?` are wildcards, and nothing else is. `None`: the name has only these.
    pub fn problem_in_glob(&self, span: Span) -> Option<Problem> {
        if let Some(problem) = self.unseen(span) {
            return Some(problem);
        }
        let found = self.name.char_indices().filter_map(|(at, _)| Wildcard::of(self.name.get(at..)?));
        let sign = { found }.map(|found| found.sign).find(|sign| !matches!(*sign, "*" | "?"))?;
        let message = format!(
            "only `*` and `?` are wildcards here, so the `{sign}` in {} would match nothing",
            quoted(self.name)
        );
        let own = Wildcard { sign, ..*self }.instead();
        let help = own.unwrap_or_else(|| "write an entry for each name".to_owned());
        Some(Problem::new(ProblemKind::StarInName, span, message).help(help))
    }

    /// That the name has blanks at its ends, or letters that nobody sees.
    fn unseen(&self, span: Span) -> Option<Problem> {
        let seen: String = self.name.chars().filter(|letter| !is_unseen(*letter)).collect();
        let trimmed = seen.trim();
        let message = match self.name.chars().find(|letter| is_unseen(*letter)) {
            Some(letter) => {
                let code = u32::from(letter);
                format!(
                    "no tool's name has the letter U+{code:04X}, which nobody sees, in it: {}",
                    quoted(trimmed)
                )
            }
            None if trimmed != self.name => {
                format!("no tool's name begins or ends with a blank: {}", quoted(self.name))
            }
            None => return None,
        };
        let help = match trimmed {
            "" => "write the name of a tool".to_owned(),
            name => format!("write {}", quoted(name)),
        };
        Some(Problem::new(ProblemKind::MatchesNothing, span, message).help(help))
    }
}

impl<'a> Field<'a> {
    /// The text as an exact name. A name with a wildcard in it is noted with `help`, and given all the same.
    pub fn exact_name(
        &self,
        out: &mut Vec<Problem>,
        help: impl Fn(&Wildcard<'a>) -> String,
    ) -> Option<&'a str> {
        let name = self.name(out)?;
        out.extend(Wildcard::of(name).map(|found| found.problem(self.span(), help(&found))));
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_people_write_for_any_name() {
        let cases = [
            ("*", Some(("*", Some("")))),
            ("get_*", Some(("*", Some("get_")))),
            ("*_order", Some(("*", None))),
            ("get_*_order", Some(("*", None))),
            ("mcp__**", Some(("*", None))),
            ("get_order?", Some(("?", None))),
            ("get_?*", Some(("?", None))),
            ("get_[a-z]*", Some(("[a-z]", None))),
            ("{read,write}_file", Some(("{read,write}", None))),
            ("Edit|Write", Some(("|", None))),
            ("Bash ", Some((" ", None))),
            ("\tBash", Some(("\t", None))),
            ("Bash\n", Some(("\n", None))),
            (" ", Some((" ", None))),
            ("Ba\u{200b}sh", Some(("\u{200b}", None))),
            ("Bash\u{feff}", Some(("\u{feff}", None))),
            ("Run a command", None),
            ("get_order", None),
            ("mcp__slack-2__post.message/now:x", None),
            ("a[]", None),
            ("a[", None),
            ("{a}", None),
            ("größe", None),
            ("", None),
            ("^root$", Some(("^", None))),
            ("root$", Some(("$", None))),
            ("Bash(git push)", Some(("(", None))),
            ("x, y", Some((",", None))),
            ("x,y", None),
            ("${TOOL}", Some(("$", None))),
            ("{{ tool }}", Some(("{{", None))),
            ("admin_(a|b)", Some(("|", None))),
        ];
        for (name, expected) in cases {
            assert_eq!(Wildcard::of(name).map(|found| (found.sign, found.prefix)), expected, "{name}");
        }
    }
}
