//! The one language that lists are filtered with: words and `key:value` terms, all of which must match.
//!
//! ```text
//! refund tool:issue_* is:stopped !code:forbidden since:7d turn:3..9 file:/2026-1[01]/ "go ahead"
//! ```
//!
//! A word is found anywhere in a row, without regard to case. `*` and `?` in a value make it a pattern for the whole of it,
//! slashes around it a regular expression. Nothing here knows a screen, a clock or a file.

mod terms;

use std::ops::{Range, RangeInclusive};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::{Regex, RegexBuilder};

use terms::{FIELDS, STATES};
pub use terms::{FORMS, Field, STATE_KEY, State, keys, meanings, states};

use rulestep_base::session::Millis;
use rulestep_base::source::nearest::nearest;

/// A parsed filter. The empty one lets everything pass.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    text: String,
    terms: Vec<Term>,
}

/// A term.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub negated: bool,
    pub test: Test,
}

/// The test of a term.
#[derive(Debug, Clone)]
pub enum Test {
    /// Whether a pattern is found in a field.
    Field(Field, Regex),
    /// Whether the row is in a state.
    Is(State),
    /// Whether its turn is one of these.
    Turn(RangeInclusive<u32>),
    /// Whether its session began then or later.
    Since(Millis),
    /// Whether its session began before.
    Until(Millis),
}

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidFilter {
    /// The term, as bytes of the text.
    pub at: Range<usize>,
    /// The problem.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl InvalidFilter {
    /// The problem and its place in the text, in one line.
    pub fn in_line(&self, text: &str) -> String {
        let column = text.get(..self.at.start).map_or(0, |before| before.chars().count()) + 1;
        let help = self.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("at {column}: {}{help}", self.message)
    }
}

impl Filter {
    /// Reads a filter. `now` is what `since:7d` counts back from.
    ///
    /// # Errors
    /// The first term that cannot be understood: a filter that is only half understood would hide rows, or show too many,
    /// without a word.
    pub fn parse(text: &str, now: Millis) -> Result<Filter, InvalidFilter> {
        let mut terms = Vec::new();
        for token in tokens(text) {
            let token = token?;
            let term = term(&token, now).map_err(|(message, help)| InvalidFilter {
                at: token.at.clone(),
                message,
                help,
            })?;
            terms.push(term);
        }
        Ok(Filter { text: text.to_owned(), terms })
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it depends on when a session began: a session without a time cannot pass.
    pub fn asks_when(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Since(_) | Test::Until(_)))
    }

    /// Whether it asks what a policy decided, so that a session must be judged first.
    pub fn asks_decisions(&self) -> bool {
        self.terms.iter().any(|term| match &term.test {
            Test::Field(field, _) => matches!(field, Field::Rule | Field::Code),
            Test::Is(state) => {
                !matches!(state, State::Error | State::Refused | State::Unanswered | State::Changed)
            }
            Test::Turn(_) | Test::Since(_) | Test::Until(_) => false,
        })
    }

    /// Whether it asks what a comparison changes.
    pub fn asks_changes(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Is(State::Changed)))
    }

    /// Whether it has no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a row passes for which these tests hold.
    pub fn lets_pass(&self, is_so: impl Fn(&Test) -> bool) -> bool {
        self.terms.iter().all(|term| is_so(&term.test) != term.negated)
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }
}

/// A term that a row passes which has this value, as people would type it. `whole`: and none with a longer one.
pub fn term_of(key: Option<&str>, value: &str, whole: bool) -> String {
    let key = key.map(|key| format!("{key}:")).unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !whole && !value.is_empty() && value.chars().all(plain) {
        return format!("{key}{value}");
    }
    if !whole && !value.is_empty() && !value.contains(['"', '*', '?']) && !value.contains(char::is_control) {
        return format!("{key}\"{value}\"");
    }
    let (start, end) = if whole { ("^", "$") } else { ("", "") };
    let escaped = |c: char| match c {
        '/' => "\\/".to_owned(),
        // These cannot be typed.
        c if c.is_control() => format!("\\x{{{:x}}}", u32::from(c)),
        c => regex::escape(c.encode_utf8(&mut [0; 4])),
    };
    format!("{key}/{start}{}{end}/", value.chars().map(escaped).collect::<String>())
}

/// A term as written: where, and its text without quotes around the value.
struct Token<'t> {
    at: Range<usize>,
    negated: bool,
    key: Option<&'t str>,
    value: &'t str,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Quoted,
    Regex,
}

/// Cuts a filter into terms. White space ends a term, except in quotes and in a regular expression.
fn tokens(text: &str) -> impl Iterator<Item = Result<Token<'_>, InvalidFilter>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        let start = from + (rest.len() - rest.trim_start().len());
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let token = token(rest, start);
        from = token.as_ref().map_or(text.len(), |token| token.at.end);
        Some(token)
    })
}

fn token(rest: &str, start: usize) -> Result<Token<'_>, InvalidFilter> {
    let body = rest.strip_prefix('!').unwrap_or(rest);
    let negated = body.len() < rest.len();
    let (key, value) = match body.split_once(':') {
        Some((key, value)) if is_key(key) => (Some(key), value),
        _ => (None, body),
    };
    let before = start + (rest.len() - value.len());
    let (form, close) = match value.chars().next() {
        Some('"') => (Form::Quoted, '"'),
        // A path is not a regular expression: that one ends in a slash, too, and white space or the end follows.
        Some('/') if regex_end(value).is_some() => (Form::Regex, '/'),
        _ => {
            let end = value.find(char::is_whitespace).unwrap_or(value.len());
            let value = value.get(..end).unwrap_or_default();
            return Ok(Token { at: start..before + end, negated, key, value, form: Form::Plain });
        }
    };
    let inner = value.get(1..).unwrap_or_default();
    let end = if form == Form::Regex { regex_end(value) } else { inner.find(close) };
    let Some(end) = end else {
        return Err(InvalidFilter {
            at: start..start + rest.len(),
            message: "the quotation mark is not closed".to_owned(),
            help: Some("write `\"` after the last word".to_owned()),
        });
    };
    let value = inner.get(..end).unwrap_or_default();
    Ok(Token { at: start..before + end + 2, negated, key, value, form })
}

/// Letters and `_`: the part before a colon in a time or an address belongs to a word.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// The end of the expression between slashes, counted after the first slash.
fn regex_end(value: &str) -> Option<usize> {
    let inner = value.get(1..)?;
    let mut escaped = false;
    inner.char_indices().find_map(|(at, c)| {
        let ends = c == '/' && !escaped && {
            let after = inner.get(at + 1..).unwrap_or_default();
            after.is_empty() || after.starts_with(char::is_whitespace)
        };
        escaped = c == '\\' && !escaped;
        (ends && at > 0).then_some(at)
    })
}

type Refusal = (String, Option<String>);

fn term(token: &Token<'_>, now: Millis) -> Result<Term, Refusal> {
    let test = match token.key {
        None => Test::Field(Field::Text, pattern(token)?),
        Some("is") => Test::Is(state(token.value)?),
        Some("turn") => Test::Turn(turns(token.value)?),
        Some("since") => Test::Since(instant(token.value, now)?),
        Some("until") => Test::Until(instant(token.value, now)?),
        Some(key) => match FIELDS.iter().find(|(name, ..)| *name == key) {
            Some((_, field, _)) => Test::Field(*field, pattern(token)?),
            None => return Err(unknown_key(key)),
        },
    };
    Ok(Term { negated: token.negated, test })
}

fn unknown_key(key: &str) -> Refusal {
    let help = match nearest(key, keys()) {
        Some(near) => format!("did you mean `{near}:`?"),
        None => {
            format!("keys are {}; quote the term to look for its text", keys().collect::<Vec<_>>().join(", "))
        }
    };
    (format!("unknown key `{key}:`"), Some(help))
}

fn state(word: &str) -> Result<State, Refusal> {
    STATES.iter().find(|(name, ..)| *name == word).map(|(_, state, _)| *state).ok_or_else(|| {
        let help = match nearest(word, states()) {
            Some(near) => format!("did you mean `is:{near}`?"),
            None => format!("values are {}", states().collect::<Vec<_>>().join(", ")),
        };
        (format!("unknown value `is:{word}`"), Some(help))
    })
}

/// `3`, `3..9`, `3..`, `..9`.
fn turns(text: &str) -> Result<RangeInclusive<u32>, Refusal> {
    let wrong = || {
        (
            format!("`turn:{text}` is not a range of turns"),
            Some("write `turn:3`, `turn:3..9`, `turn:3..` or `turn:..9`".to_owned()),
        )
    };
    let number = |text: &str, default| match text {
        "" => Ok(default),
        digits => digits.parse::<u32>().map_err(|_| wrong()),
    };
    match text.split_once("..") {
        Some((first, last)) => Ok(number(first, 1)?..=number(last, u32::MAX)?),
        None if text.is_empty() => Err(wrong()),
        None => number(text, 0).map(|turn| turn..=turn),
    }
}

/// `7d` ago, or a day, or an instant; days begin at midnight UTC, as all times here.
///
/// # Errors It is none of these, with the valid forms.
pub fn instant(text: &str, now: Millis) -> Result<Millis, Refusal> {
    let ago = || {
        let unit = match text.chars().last()? {
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => 86_400_000,
            'w' => 7 * 86_400_000,
            _ => return None,
        };
        let count: i64 = text.get(..text.len() - 1)?.parse().ok().filter(|count| *count >= 0)?;
        now.checked_sub(count.checked_mul(unit)?)
    };
    let day = || {
        text.parse::<Date>()
            .ok()?
            .to_zoned(TimeZone::UTC)
            .ok()
            .map(|zoned| zoned.timestamp().as_millisecond())
    };
    let exact = || text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
    ago().or_else(exact).or_else(day).ok_or_else(|| {
        let help = "write `7d`, `12h`, `30m`, `2w`, a day such as `2026-11-01` or an instant such as `2026-11-01T09:30:00Z`";
        (format!("`{text}` is not a time"), Some(help.to_owned()))
    })
}

/// The pattern to search for: a part of the text, the whole of it if there are wildcards, or an expression.
fn pattern(token: &Token<'_>) -> Result<Regex, Refusal> {
    let text = match token.form {
        Form::Regex => token.value.to_owned(),
        Form::Plain if token.value.is_empty() => {
            let key = token.key.map(|key| format!("{key}:")).unwrap_or_default();
            return Err((format!("`{key}` has no value"), None));
        }
        // Words have no wildcards: many texts hold question marks.
        Form::Plain if token.key.is_some() && token.value.contains(['*', '?']) => {
            let inner: String = token.value.chars().map(wildcard).collect();
            format!("^{inner}$")
        }
        Form::Plain | Form::Quoted => regex::escape(token.value),
    };
    let built = RegexBuilder::new(&text).case_insensitive(true).dot_matches_new_line(true).build();
    built.map_err(|error| {
        let told = error.to_string();
        let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        (format!("`/{}/` is not a regular expression: {why}", token.value), None)
    })
}

fn wildcard(c: char) -> String {
    match c {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        c => regex::escape(c.encode_utf8(&mut [0; 4])),
    }
}
