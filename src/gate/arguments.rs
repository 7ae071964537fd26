//! Arguments that cannot be decided about.

use serde::de::IgnoredAny;

use crate::engine::{Decision, NewCall, Run, Ticket};
use crate::session::body::Fault;
use crate::session::{Body, Form};

/// Why rules cannot look into all of these arguments, or would read in them what the program that runs the call does not: that must
/// not be taken for a call without arguments. `None` where they can; some tools take a text that is not JSON.
pub fn undecidable(arguments: &Body) -> Option<String> {
    let (fault, twice) = arguments.flaws();
    let why = match fault {
        None => return twice.map(|name| format!("the member `{name}` is given twice")),
        Some(Fault::TooDeep) => "they nest deeper than 127 levels",
        Some(Fault::ReservedKey) => "they have a key that JSON readers reserve (`$serde_json::…`)",
        Some(Fault::NotJson)
            if arguments.form() == Some(Form::Text)
                && serde_json::from_str::<IgnoredAny>(arguments.raw()).is_err() =>
        {
            return None;
        }
        Some(Fault::NotJson) => "they are not JSON that every program can read",
    };
    Some(why.to_owned())
}

/// Decides a call; one whose arguments no rule can be asked about is denied.
pub fn decided(run: &mut Run, call: NewCall<'_>) -> (Ticket, Decision) {
    match undecidable(call.arguments).filter(|_| !run.is_over()) {
        Some(why) => {
            let denied = Decision::unclear(&why);
            (run.follow(call, &denied), denied)
        }
        None => run.propose(call),
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
            assert_eq!(undecidable(&Body::json(text)), None, "{text}");
            assert_eq!(undecidable(&Body::text(text.as_str())), None, "{text}");
        }
        for text in &unclear {
            assert!(undecidable(&Body::json(text)).is_some(), "{text}");
            assert!(undecidable(&Body::text(text.as_str())).is_some(), "as a text: {text}");
        }
        assert!(undecidable(&Body::json(r#""{\"path\": \"\ud800\"}""#)).is_some());
        for text in ["*** Begin Patch", "{not JSON", ""] {
            assert_eq!(undecidable(&Body::text(text)), None, "{text}");
        }
        assert_eq!(undecidable(&Body::MISSING), None);
    }
}
