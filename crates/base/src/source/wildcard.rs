//! Names that look like patterns, or that have letters by accident, at places where a name is compared letter by letter.
//!
//! Such a name matches no call, so the rule around it never applies although it reads as if it did. Every reader of exact
//! names asks [`Wildcard::of`], and refuses the name with the form that works at its place.
//!
//! ```
//! use rulestep_base::source::wildcard::Wildcard;
//!
//! let found = Wildcard::of("slack.*").expect("a star");
//! assert_eq!((found.sign, found.prefix), ("*", Some("slack.")));
//! assert!(Wildcard::of("slack.post_message").is_none());
//! ```

mod expression;
mod letters;

use super::{Field, Problem, ProblemKind, Span, quoted};
pub use letters::is_quote;

/// A character in a name that people write for "any of these names".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wildcard<'a> {
    /// The whole name.
    pub name: &'a str,
    /// The first such character: `*`, `?`, `[a-z]`, `{a,b}` or `|`; one of a regular expression; an accidental letter,
    /// such as a blank at an end.
    pub sign: &'a str,
    /// The common beginning of all intended names, if the name is that and one star after it.
    pub prefix: Option<&'a str>,
}

impl<'a> Wildcard<'a> {
    /// The first wildcard in a name, or another character with a special meaning. No provider of models and no MCP
    /// server allows these characters in the names of tools.
    pub fn of(name: &'a str) -> Option<Wildcard<'a>> {
        let plain = |sign| Wildcard { name, sign, prefix: None };
        if let Some(slip) = letters::slip(name) {
            return Some(plain(slip.sign));
        }
        if let Some(sign) = expression::sign(name) {
            let prefix = expression::prefix(name, sign).filter(|prefix| Wildcard::of(prefix).is_none());
            return Some(Wildcard { name, sign, prefix });
        }
        Wildcard::in_pattern(name)
            .or_else(|| foreign(name).map(plain))
            .or_else(|| exception(name).and_then(|_| name.get(..1)).map(plain))
    }

    /// The first wildcard in a text that is not the name of a tool: a path, a host, a word of a command.
    pub fn in_pattern(name: &'a str) -> Option<Wildcard<'a>> {
        if let Some(slip) = letters::unseen(name) {
            return Some(Wildcard { name, sign: slip.sign, prefix: None });
        }
        let sign = glob_signs(name).next()?;
        let prefix = name
            .strip_suffix('*')
            // Otherwise a row of stars would be stripped one at a time.
            .filter(|prefix| !prefix.ends_with('*') && Wildcard::of(prefix).is_none());
        Some(Wildcard { name, sign, prefix })
    }

    /// The error at a place where names are exact; `help` is the form that works there.
    pub fn problem(&self, span: Span, help: impl Into<String>) -> Problem {
        if let Some(problem) = self.slip(span) {
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

    /// The name that was meant, if the sign shows it.
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
            "(" if !expression::has_group(self.name) => {
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
            _ if expression::sign(self.name) == Some(self.sign) => {
                let name = expression::as_glob(self.name).filter(|name| plain(name))?;
                Some(format!("write {}", quoted(&name)))
            }
            _ => None,
        }
    }

    /// The error at a place where only `*` and `?` are wildcards. `None`: the name has no others.
    pub fn problem_in_glob(&self, span: Span, list: List) -> Option<Problem> {
        if let Some(problem) = self.slip(span) {
            return Some(problem);
        }
        let told = |message: String, help: String| {
            Some(Problem::new(ProblemKind::StarInName, span, message).help(help))
        };
        let name = quoted(self.name);
        if let Some(inner) = exception(self.name) {
            let sign = self.name.get(..1).unwrap_or_default();
            let message = format!("lists have no exceptions, so the `{sign}` in {name} would match nothing");
            return told(message, list.instead_of_exception(inner));
        }
        if let Some(sign) = expression::sign(self.name) {
            let message = match sign {
                ".*" | ".?" => {
                    let star = sign.trim_start_matches('.');
                    format!(
                        "`{star}` is a wildcard by itself here, so {name} would match only names with the dot"
                    )
                }
                _ => format!(
                    "only `*` and `?` are wildcards here, so the `{sign}` in {name} would match nothing"
                ),
            };
            let instead = expression::as_glob(self.name).map(|glob| format!("write {}", quoted(&glob)));
            let help = "write an entry for each name; `*` matches any text, and `?` any one letter";
            return told(message, instead.unwrap_or_else(|| help.to_owned()));
        }
        let sign =
            glob_signs(self.name).find(|sign| !matches!(*sign, "*" | "?")).or_else(|| foreign(self.name))?;
        let message =
            format!("only `*` and `?` are wildcards here, so the `{sign}` in {name} would match nothing");
        // With these signs, `del.*` is a regular expression.
        let is_expression = match sign {
            "^" | "$" => !self.name.starts_with("${"),
            "(" => expression::has_group(self.name),
            _ => false,
        };
        let glob = is_expression.then(|| expression::as_glob(self.name)).flatten();
        let own = glob.map(|glob| format!("write {}", quoted(&glob)));
        let own = own.or_else(|| Wildcard { sign, ..*self }.instead());
        told(message, own.unwrap_or_else(|| "write an entry for each name".to_owned()))
    }

    /// The problem of a name with accidental letters.
    fn slip(&self, span: Span) -> Option<Problem> {
        let slip = letters::slip(self.name)?;
        let message = slip.message(self.name);
        Some(Problem::new(ProblemKind::MatchesNothing, span, message).help(slip.help(self.name)))
    }
}

/// Whether a list of names blocks or allows the tools in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// A blocklist.
    Blocks,
    /// An allowlist.
    Allows,
}

impl List {
    /// What to write for `!inner`.
    fn instead_of_exception(self, inner: &str) -> String {
        match self {
            List::Allows => {
                let rule = format!("{{type: blocklist, tools: [\"{inner}\"]}}");
                format!("what an allowlist leaves out goes into a rule of its own: {}", quoted(&rule))
            }
            List::Blocks => {
                "list what is blocked, or write an `allowlist` with what may be called".to_owned()
            }
        }
    }
}

/// The signs of globs in a text.
fn glob_signs(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter_map(|(at, sign)| {
        let rest = text.get(at..)?;
        let closed = |close: char| rest.find(close).and_then(|end| rest.get(..=end));
        match sign {
            '*' | '?' | '|' => rest.get(..1),
            '[' => closed(']').filter(|set| set.len() > 2),
            '{' => closed('}').filter(|set| set.contains(',')),
            _ => None,
        }
    })
}

/// The first other character that no name has.
fn foreign(name: &str) -> Option<&str> {
    name.char_indices().find_map(|(at, sign)| {
        let rest = name.get(at..)?;
        match sign {
            '^' | '$' | '(' | ')' => rest.get(..1),
            '{' if rest.starts_with("{{") => rest.get(..2),
            ',' if rest.starts_with(", ") => rest.get(..1),
            _ => None,
        }
    })
}

/// `!name` excludes a name from a list in other programs; `-name` and `~name` are written for it too.
fn exception(name: &str) -> Option<&str> {
    name.strip_prefix(['!', '-', '~']).filter(|rest| !rest.is_empty())
}

impl<'a> Field<'a> {
    /// The text as an exact name. A name with a wildcard is reported with `help`, and returned all the same.
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
            ("slack.*", Some(("*", Some("slack.")))),
            ("delete_.*", Some((".*", Some("delete_")))),
            ("delete_.+", Some((".+", Some("delete_")))),
            (".*_prod", Some((".*", None))),
            ("drop\\w*", Some(("\\w", Some("drop")))),
            ("del%", Some(("%", Some("del")))),
            ("/del/", Some(("/", None))),
            ("re:x", Some(("re:", None))),
            ("!rm", Some(("!", None))),
            ("“rm”", Some(("“", None))),
        ];
        for (name, expected) in cases {
            assert_eq!(Wildcard::of(name).map(|found| (found.sign, found.prefix)), expected, "{name}");
        }
    }
}
