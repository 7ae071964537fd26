//! Names with `*` for any text, including none, and `?` for any one character; all other characters are literal.

use std::sync::Arc;

/// A pattern over a whole name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(Arc<str>);

impl Glob {
    /// The pattern with this text.
    pub fn new(text: impl Into<Arc<str>>) -> Glob {
        Glob(text.into())
    }

    /// Its text.
    pub fn text(&self) -> &Arc<str> {
        &self.0
    }

    /// The name itself, if it has neither `*` nor `?`.
    pub fn exact(&self) -> Option<&Arc<str>> {
        if self.0.contains(['*', '?']) { None } else { Some(&self.0) }
    }

    /// Whether the whole name matches. Costs at most the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let (mut pattern, mut rest) = (self.0.chars(), name.chars());
        // Where to continue when a later part does not fit: after the last star, one character further in the name.
        let mut again: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
        loop {
            let at = rest.clone();
            match (pattern.next(), rest.next()) {
                (Some('*'), _) => {
                    rest = at.clone();
                    again = Some((pattern.clone(), at));
                }
                (Some('?'), Some(_)) => {}
                (Some(wanted), Some(found)) if wanted == found => {}
                (None, None) => return true,
                _ => {
                    let Some((behind, mut from)) = again.take() else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    (pattern, rest) = (behind.clone(), from.clone());
                    again = Some((behind, from));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_are_all_there_is() {
        for (pattern, name, matches) in [
            ("admin_*", "admin_delete", true),
            ("admin_*", "admin_", true),
            ("admin_*", "my_admin_x", false),
            ("*_dangerous", "run_dangerous", true),
            ("*_dangerous", "run_dangerous_now", false),
            ("*a*b*", "xaxxbx", true),
            ("*ab", "aab", true),
            ("a*a", "a", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("***", "anything", true),
            ("?", "ß", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[ab]", "a", false),
            ("[ab]", "[ab]", true),
            ("{a,b}", "a", false),
            ("a.c", "abc", false),
            ("Get*", "getCustomer", false),
            ("a\\*", "a\\b", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), matches, "{pattern} on {name}");
        }
    }

    #[test]
    fn many_stars_cost_little() {
        let pattern = Glob::new("*a".repeat(50) + "b");
        assert!(!pattern.matches(&"a".repeat(2000)));
    }
}
