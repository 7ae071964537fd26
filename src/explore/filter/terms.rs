//! The terms of a filter, each with its meaning: one table for the parser, the help and the page about it.

/// A field that a row may be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Whatever words are looked for in.
    Text,
    /// The tool of a call.
    Tool,
    /// A rule that stopped a call or is violated: its id or its description.
    Rule,
    /// The code of what that rule says.
    Code,
    /// The file of a session.
    File,
    /// The folder or project that the agent worked in.
    Project,
    /// The branch that it worked on.
    Branch,
    /// The agent.
    Agent,
    /// The format of the recording.
    Format,
    /// The id of a session.
    Id,
}

/// The states of `is:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A call that was denied or halted.
    Stopped,
    /// A call that a person is asked about.
    Asked,
    /// A call that a rule in shadow mode would stop.
    WouldStop,
    /// A denied call.
    Denied,
    /// A call that ended its session.
    Halted,
    /// A call after the end of its session.
    NotReached,
    /// An allowed call.
    Allowed,
    /// An allowed call that a rule reports.
    Reported,
    /// A session rule that is violated.
    Violated,
    /// A session in which the comparison changes something.
    Changed,
    /// A decision that differs from what the recording did.
    Differs,
    /// A call whose result is an error.
    Error,
    /// A call that was refused when it was recorded.
    Refused,
    /// A call without a recorded result.
    Unanswered,
}

/// The key of a state.
pub const STATE_KEY: &str = "is";

/// A key, the field that it is about, and what matches.
pub(super) const FIELDS: [(&str, Field, &str); 9] = [
    ("tool", Field::Tool, "a call to this tool"),
    (
        "rule",
        Field::Rule,
        "a call that this rule stops, asks about or reports, or a session that violates it; by id or description",
    ),
    (
        "code",
        Field::Code,
        "a call or a session that a rule objects to with this code, such as `resource_unmatched`",
    ),
    ("file", Field::File, "a session that was read from this file"),
    ("project", Field::Project, "a session in this project, or in this working folder"),
    ("branch", Field::Branch, "a session on this Git branch"),
    ("agent", Field::Agent, "a session of this agent"),
    ("format", Field::Format, "a session recorded in this format, such as `claude-code`"),
    ("id", Field::Id, "a session with this id"),
];

const OTHER_KEYS: [(&str, &str); 4] = [
    (STATE_KEY, "a call or a session in one of the states below"),
    ("turn", "a call in this turn, from 1; or in one of several turns: `turn:3..9`, `turn:3..`, `turn:..9`"),
    (
        "since",
        "a session that began at this time or later: `30m`, `12h`, `7d` or `2w` ago, a day such as `2026-11-01`, or an \
         instant such as `2026-11-01T09:30:00Z`; all in UTC",
    ),
    ("until", "a session that began before this time, which is written as for `since:`"),
];

/// A value of `is:`, its state, and the description of its calls.
pub(super) const STATES: [(&str, State, &str); 14] = [
    ("stopped", State::Stopped, "a call that is denied or halted; with `--mode shadow`, one that would be"),
    ("asked", State::Asked, "a call about which a person is asked"),
    ("would_stop", State::WouldStop, "an allowed call that a rule with `mode: shadow` would stop"),
    ("denied", State::Denied, "a stopped call after which the session goes on"),
    ("halted", State::Halted, "a stopped call that ends its session"),
    ("not_reached", State::NotReached, "a call after the one that ended its session"),
    ("allowed", State::Allowed, "a call that runs, whether or not a rule reports it"),
    (
        "reported",
        State::Reported,
        "an allowed call that a rule reports, or a violated session rule that is not enforced",
    ),
    ("violated", State::Violated, "a session that violates a session rule that is enforced"),
    (
        "changed",
        State::Changed,
        "a session in which the comparison changes something; only in `diff` and, while comparing, in the workbench",
    ),
    ("differs", State::Differs, "a call that ran and is stopped now, or was refused and is allowed now"),
    ("error", State::Error, "a call whose recorded result is an error"),
    ("refused", State::Refused, "a call that was refused when it was recorded, so it did not run"),
    ("unanswered", State::Unanswered, "a call without a recorded result"),
];

/// Terms of another form than a key and a value, and their meaning.
pub const FORMS: [(&str, &str); 6] = [
    (
        "refund",
        "the word in the title, id, file, project, tools or arguments of the session, in upper or lower case",
    ),
    ("\"two words\"", "the same for several words in this order; after a key too: `tool:\"my tool\"`"),
    ("/ORD-\\d+/", "the same as a regular expression; after a key too: `file:/2026-1[01]/`"),
    ("KEY:VALUE", "a value of the key that contains VALUE, in upper or lower case"),
    ("KEY:*VALUE?", "the whole value of the key, with `*` for any characters and `?` for one"),
    ("!TERM", "sessions that TERM does not match: `!is:error`"),
];

/// Every key, for completion and help.
pub fn keys() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(key, ..)| *key).chain(OTHER_KEYS.iter().map(|(key, _)| *key))
}

/// Every value of `is:`.
pub fn states() -> impl Iterator<Item = &'static str> {
    STATES.iter().map(|(word, ..)| *word)
}

/// Every key, then every value of `is:`, as they are typed, with their meaning.
pub fn meanings() -> impl Iterator<Item = (String, &'static str)> {
    let fields = FIELDS.iter().map(|(key, _, meaning)| (*key, *meaning)).chain(OTHER_KEYS);
    let states = STATES.iter().map(|(word, _, meaning)| (format!("{STATE_KEY}:{word}"), *meaning));
    fields.map(|(key, meaning)| (format!("{key}:"), meaning)).chain(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::filter::Filter;

    /// The parser accepts exactly the terms that the page, the help and the documentation list.
    #[test]
    fn every_term_that_is_explained_can_be_written() {
        let documented = include_str!("../../../docs/commands.md");
        for (term, meaning) in meanings() {
            let value = match term.as_str() {
                "is:" => "stopped",
                "turn:" => "3",
                "since:" | "until:" => "7d",
                _ if term.ends_with(':') => "value",
                _ => "",
            };
            assert!(Filter::parse(&format!("{term}{value}"), 0).is_ok(), "{term}");
            let name = term.strip_prefix("is:").filter(|name| !name.is_empty()).unwrap_or(&term);
            let is_named = ["`", " `"].iter().any(|before| documented.contains(&format!("{before}{name}")));
            assert!(is_named, "docs/commands.md does not name {name}");
            examples(meaning);
        }
        for (form, meaning) in FORMS {
            let form = form.replace("KEY", "tool").replace("!TERM", "!refund");
            assert!(Filter::parse(&form, 0).is_ok(), "{form}");
            examples(meaning);
        }
        assert_eq!(meanings().count(), keys().count() + states().count());
    }

    /// Examples of terms within a meaning.
    fn examples(meaning: &str) {
        let is_term =
            |text: &&str| keys().any(|key| text.trim_start_matches('!').starts_with(&format!("{key}:")));
        for example in meaning.split('`').skip(1).step_by(2).filter(is_term) {
            let text = if example.ends_with(':') { format!("{example}7d") } else { example.to_owned() };
            assert!(Filter::parse(&text, 0).is_ok(), "{example}");
        }
    }
}
