//! Which findings are reported, and how: `--allow`, `--deny`, and the table `lint` of `rulestep.toml`.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use rulestep_base::diagnostic::{Code, Diagnostic, PageKind, Severity, code};
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Source, Span, quoted};
use rulestep_engine::dialect::{self, DIALECTS};

/// The level of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It is not reported.
    Allow,
    /// It is a warning.
    Warn,
    /// It is an error of `check`.
    Deny,
}

/// The levels of codes that were configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    codes: BTreeMap<&'static str, Level>,
    /// `allow_empty` under `[policy]`: a version without rules may replace one that has some. Only gates use it.
    pub allow_empty: bool,
    /// Whether a denied code is an error. A version loads all the same, so outside of `check` it is a warning.
    pub strict: bool,
}

/// The codes that findings about policies have.
fn lints() -> impl Iterator<Item = &'static str> {
    let own = DIALECTS.iter().flat_map(|dialect| dialect.codes).chain(code::of_policies());
    own.filter(|page| page.kind == PageKind::Problem).map(|page| page.code.as_str())
}

/// Whether there can be findings about policies with this code.
pub fn is_lint(name: &str) -> bool {
    lints().any(|known| known == name)
}

/// The problem of an unknown code, with the nearest one.
pub(super) fn unknown(name: &str) -> Diagnostic {
    let told = match dialect::page(name) {
        Some(_) => Diagnostic::warning(
            code::UNKNOWN_CODE,
            format!("{} is not a code of findings about policies", quoted(name)),
        ),
        None => Diagnostic::warning(code::UNKNOWN_CODE, format!("there is no code {}", quoted(name))),
    };
    match nearest(name, lints()) {
        Some(near) => told.help(format!("did you mean `{near}`?")),
        None => told.help("`rulestep explain` lists all codes"),
    }
}

impl Levels {
    /// Chooses a level for a code.
    ///
    /// # Errors
    /// There is no such code.
    pub fn set(&mut self, name: &str, level: Level) -> Result<(), Diagnostic> {
        let known = lints().find(|known| *known == name).ok_or_else(|| unknown(name))?;
        self.codes.insert(known, level);
        Ok(())
    }

    /// The level that was chosen for a code. A rule that is never asked never fires.
    pub fn of(&self, code: Code) -> Option<Level> {
        let own = self.codes.get(code.as_str()).copied();
        let implied = (code == code::RULE_NEVER_EXERCISED)
            .then(|| self.codes.get(code::RULE_NEVER_FIRED.as_str()))
            .flatten()
            .filter(|level| **level == Level::Deny);
        own.or(implied.copied())
    }

    /// Merges levels of another file for the same version: of two for one code the stricter one counts.
    pub fn join(&mut self, other: Levels) {
        for (code, level) in other.codes {
            let own = self.codes.entry(code).or_insert(level);
            *own = level.max(*own);
        }
    }

    /// The levels of a `rulestep.toml`, and its problems.
    pub fn read(source: &Source) -> (Levels, Vec<Diagnostic>) {
        let (mut levels, mut problems) = (Levels::default(), Vec::new());
        let (table, errors) = DeTable::parse_recoverable(source.text());
        for error in errors {
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            let span = error.span().map_or_else(Span::default, |range| Span::new(range.start, range.end));
            problems.push(Diagnostic::error(code::BAD_LINT_SETTINGS, message).at(source, span));
        }
        let wrong = |message: String, span: Range<usize>| {
            Diagnostic::error(code::BAD_LINT_SETTINGS, message).at(source, Span::new(span.start, span.end))
        };
        for (name, value) in table.get_ref() {
            if name.get_ref() == "policy" {
                match allow_empty(value) {
                    Ok(allow) => levels.allow_empty = allow,
                    Err((message, span)) => problems.push(wrong(message, span)),
                }
                continue;
            }
            if name.get_ref() != "lint" {
                let message = format!("there is no setting {} here", quoted(name.get_ref()));
                problems.push(wrong(message, name.span()).help("the tables are `[lint]` and `[policy]`"));
                continue;
            }
            let DeValue::Table(codes) = value.get_ref() else {
                problems.push(wrong("`lint` is a table: `[lint]`".to_owned(), value.span()));
                continue;
            };
            for (name, value) in codes {
                let level = match value.get_ref().as_str() {
                    Some("allow") => Level::Allow,
                    Some("warn") => Level::Warn,
                    Some("deny") => Level::Deny,
                    _ => {
                        let message = format!("the level of {} is not one", quoted(name.get_ref()));
                        let help = "write `\"allow\"`, `\"warn\"` or `\"deny\"`";
                        problems.push(wrong(message, value.span()).help(help));
                        continue;
                    }
                };
                if let Err(told) = levels.set(name.get_ref(), level) {
                    let at = name.span();
                    let told = told.severity(Severity::Error);
                    problems.push(told.at(source, Span::new(at.start, at.end)));
                }
            }
        }
        problems.sort_by_key(|problem| problem.place().and_then(|place| place.position()));
        (levels, problems)
    }

    /// A finding as it is to be reported, if it is. What cannot be used as it is stays an error.
    pub(super) fn apply(&self, mut found: Diagnostic) -> Option<Diagnostic> {
        if found.severity == Severity::Error {
            return Some(found);
        }
        match self.of(found.code) {
            None => {}
            Some(Level::Allow) => return None,
            Some(Level::Deny) if self.strict => found.severity = Severity::Error,
            Some(Level::Warn | Level::Deny) => found.severity = Severity::Warning,
        }
        Some(found)
    }
}

/// The only key of the table `policy`.
fn allow_empty(table: &Spanned<DeValue<'_>>) -> Result<bool, (String, Range<usize>)> {
    let DeValue::Table(settings) = table.get_ref() else {
        return Err(("`policy` is a table: `[policy]`".to_owned(), table.span()));
    };
    let mut allow = false;
    for (name, value) in settings {
        match (&**name.get_ref(), value.get_ref()) {
            ("allow_empty", DeValue::Boolean(given)) => allow = *given,
            ("allow_empty", _) => {
                return Err(("`allow_empty` is `true` or `false`".to_owned(), value.span()));
            }
            (other, _) => return Err((format!("there is no setting {} here", quoted(other)), name.span())),
        }
    }
    Ok(allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Levels, Vec<String>) {
        let (levels, problems) = Levels::read(&Source::new("rulestep.toml", text));
        (levels, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn levels_are_read_and_mistakes_have_a_place() {
        let (levels, problems) = read("[lint]\nzero_limit = 'allow'\nrule_never_fired = 'deny'\n");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(levels.of(code::ZERO_LIMIT), Some(Level::Allow));
        assert_eq!(levels.of(code::RULE_NEVER_EXERCISED), Some(Level::Deny));
        assert_eq!(levels.of(code::SHADOWED_RULE), None);
        for (text, expected) in [
            (
                "[lint]\nzero_limt = 'allow'\n",
                "rulestep.toml:2:1: error[unknown_code]: there is no code `zero_limt`",
            ),
            (
                "[lint]\nforbidden = 'allow'\n",
                "rulestep.toml:2:1: error[unknown_code]: `forbidden` is not a code of findings about policies",
            ),
            (
                "[lint]\nzero_limit = 'off'\n",
                "rulestep.toml:2:14: error[bad_lint_settings]: the level of `zero_limit` is not one",
            ),
            ("lint = 3\n", "rulestep.toml:1:8: error[bad_lint_settings]: `lint` is a table: `[lint]`"),
            ("[lnt]\n", "rulestep.toml:1:2: error[bad_lint_settings]: there is no setting `lnt` here"),
        ] {
            assert_eq!(read(text).1, [expected], "{text}");
        }
        assert!(read("[lint\n").1[0].contains("bad_lint_settings"));
    }

    #[test]
    fn the_stricter_of_two_files_counts() {
        let (mut one, _) = read("[lint]\nzero_limit = 'allow'\n");
        one.join(read("[lint]\nzero_limit = 'warn'\n").0);
        assert_eq!(one.of(code::ZERO_LIMIT), Some(Level::Warn));
    }
}
