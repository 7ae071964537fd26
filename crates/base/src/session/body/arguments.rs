//! Comparison of the arguments of calls, and whether rules can decide about them.

use serde::de::IgnoredAny;

use super::fault::{Cleared, Fault};
use super::{Body, Form, Recorded};
use crate::source::tape::Tape;

impl Body {
    /// Whether two calls have the same arguments: none are equal to an empty object, and text that is not JSON is
    /// compared as text.
    pub fn are_same(&self, other: &Body) -> bool {
        let same = || match (self.value(), other.value()) {
            (Some(one), Some(other)) => one == other,
            _ => self.raw() == other.raw(),
        };
        self.are_none() && other.are_none() || same()
    }

    /// Whether a call has no arguments.
    pub fn are_none(&self) -> bool {
        match self.value() {
            Some(value) => value.as_object().is_some_and(|given| given.is_empty()),
            None => self.raw().trim().is_empty(),
        }
    }

    /// [`Body::fault`], and if there is none, a key that one of its objects has twice.
    pub fn flaws(&self) -> (Option<Fault>, Option<String>) {
        let flaws = self.0.as_deref().map_or((None, None), |body| {
            body.in_passing(|whole| {
                let text = whole.trim_ascii();
                let (plain, repeats) = Tape::plain_or_repeating(text);
                let fault = if plain { None } else { Fault::of(whole) };
                let twice = || Some(Tape::of(text)?.twice()?.into_owned());
                (fault, if repeats && fault.is_none() { twice() } else { None })
            })
        });
        if let (None, None, Some(cleared)) = (flaws.0, &flaws.1, self.cleared()) {
            cleared.now();
        }
        flaws
    }

    /// Why rules cannot look into all of these arguments, or would read them differently from the program that runs the
    /// call; such arguments must not be taken for none. `None` if rules can; some tools take a text that is not JSON.
    pub fn undecidable(&self) -> Option<String> {
        // Content in a store has no flaws.
        let cleared = self.cleared().filter(|cleared| !cleared.is_known())?;
        let (fault, twice) = self.flaws();
        let why = match fault {
            None => return twice.map(|name| format!("the member `{name}` is given twice")),
            Some(Fault::TooDeep) => "they nest deeper than 127 levels",
            Some(Fault::ReservedKey) => "they have a key that JSON readers reserve (`$serde_json::…`)",
            Some(Fault::NotJson)
                if self.form() == Some(Form::Text)
                    && serde_json::from_str::<IgnoredAny>(self.raw()).is_err() =>
            {
                cleared.now();
                return None;
            }
            Some(Fault::NotJson) => "they are not JSON that every program can read",
        };
        Some(why.to_owned())
    }

    fn cleared(&self) -> Option<&Cleared> {
        match &self.0.as_deref()?.recorded {
            Recorded::Plain(_, _, cleared, _) | Recorded::Escaped(_, cleared, _) => Some(cleared),
            Recorded::Elsewhere(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_programs_read_differently_are_not_decided() {
        let nested = |levels: usize| format!(r#"{{"a": {}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let reserved = |key: &str| format!(r#"{{"env": "prod", "{key}": "1"}}"#);
        let clear =
            [r#"{"env": "prod", "n": [{"a": 1}, {"a": 2}]}"#.to_owned(), "{}".to_owned(), nested(120)];
        let unclear = [
            reserved("$serde_json::private::RawValue"),
            reserved("$serde_json::private::Number"),
            reserved("\\u0024serde_json::private::Number"),
            r#"{"n": {"$serde_json::private::Number": "1"}}"#.to_owned(),
            nested(127),
            r#"{"path": "secret", "path": "a"}"#.to_owned(),
            r#"{"n": [{"path": "secret", "p\u0061th": "a"}]}"#.to_owned(),
            r#"{"path": "\ud800"}"#.to_owned(),
        ];
        for text in &clear {
            assert_eq!(Body::json(text).undecidable(), None, "{text}");
            assert_eq!(Body::text(text.as_str()).undecidable(), None, "{text}");
        }
        for text in &unclear {
            assert!(Body::json(text).undecidable().is_some(), "{text}");
            assert!(Body::text(text.as_str()).undecidable().is_some(), "as a text: {text}");
        }
        assert!(Body::json(r#""{\"path\": \"\ud800\"}""#).undecidable().is_some());
        for text in ["*** Begin Patch", "{not JSON", ""] {
            assert_eq!(Body::text(text).undecidable(), None, "{text}");
        }
        assert_eq!(Body::MISSING.undecidable(), None);
    }
}
