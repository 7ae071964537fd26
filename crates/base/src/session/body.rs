//! Content of a message, of a call's arguments or of a result, kept as recorded and parsed on first use.

use std::fmt;
use std::sync::{Arc, OnceLock};

use memchr::memmem;
use serde_json::Value;

mod arguments;
mod elsewhere;
mod fault;
mod glances;
mod json;
mod parts;
mod saved;

use elsewhere::Elsewhere;
pub use elsewhere::{Place, Store};
use fault::Cleared;
pub use fault::Fault;
use glances::Glances;
pub use json::has_unicode;
pub use json::{parse, plain_tape, unescaped};
pub use saved::with_store;

/// Recorded content. Cloning shares it; a missing body costs nothing.
#[derive(Clone, Default)]
pub struct Body(Option<Arc<BodyText>>);

/// Characters that JSON may write with a short escape; any may be written as `\u…`.
const ESCAPED: [char; 8] = ['"', '\\', '/', '\n', '\t', '\r', '\u{8}', '\u{c}'];

/// Sessions have very many of these, and most are never read, so derived values take no room until then.
struct BodyText {
    recorded: Recorded,
    looked: OnceLock<Box<Looked>>,
}

/// The text of a body.
enum Recorded {
    Plain(Form, Glances, Cleared, Box<str>),
    /// A JSON text with escapes, which are resolved on first use.
    Escaped(Glances, Cleared, Box<str>),
    Elsewhere(Form, Box<Elsewhere>),
}

impl Recorded {
    fn plain(form: Form, text: impl Into<Box<str>>) -> Recorded {
        Recorded::Plain(form, Glances::default(), Cleared::default(), text.into())
    }
}

/// Values derived from a body that was read.
#[derive(Default)]
struct Looked {
    /// The text without escapes; for a list its text parts, joined by line feeds, `None` if it has other parts.
    text: OnceLock<Option<Box<str>>>,
    read: OnceLock<Box<Read>>,
}

/// How the recording wrote a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As text, which may or may not be JSON itself. [`Body::raw`] is that text.
    Text,
    /// As a JSON value in place. [`Body::raw`] is its JSON text.
    Json,
}

struct Read {
    value: Value,
    is_json: bool,
}

impl Body {
    /// No content at all: `null`, or the key left out.
    pub const MISSING: Body = Body(None);

    /// Content that the recording wrote as text.
    pub fn text(text: impl Into<Box<str>>) -> Body {
        Body::of(Recorded::plain(Form::Text, text))
    }

    /// Content that the recording wrote as a JSON value in place: `json` is the text of the value. `null` is missing,
    /// and a JSON string is text.
    pub fn json(json: &str) -> Body {
        Body::of_json(json, true)
    }

    /// The same, for a value in which nothing is written as `\u…`.
    pub fn json_without_unicode(json: &str) -> Body {
        Body::of_json(json, false)
    }

    fn of_json(json: &str, may_have_unicode: bool) -> Body {
        let json = json.trim();
        match json.as_bytes().first() {
            _ if json == "null" => Body::MISSING,
            Some(b'"') => match literal(json, may_have_unicode) {
                Some(recorded) => Body::of(recorded),
                None => Body::of(Recorded::plain(Form::Json, json)),
            },
            _ => Body::of(Recorded::plain(Form::Json, json)),
        }
    }

    /// Content that is kept in a store and read on first use: arguments without flaws, or a result that is not a
    /// refusal.
    pub fn elsewhere(store: &Arc<dyn Store>, place: Place, form: Form) -> Body {
        Body::of(Recorded::Elsewhere(form, Box::new(Elsewhere::new(Arc::clone(store), place))))
    }

    /// Whether it is kept in a store, see [`Body::elsewhere`].
    pub fn is_elsewhere(&self) -> bool {
        self.0.as_ref().is_some_and(|body| matches!(body.recorded, Recorded::Elsewhere(..)))
    }

    fn of(recorded: Recorded) -> Body {
        Body(Some(Arc::new(BodyText { recorded, looked: OnceLock::new() })))
    }

    /// Whether it is the very same content, shared.
    pub fn is(&self, other: &Body) -> bool {
        matches!((&self.0, &other.0), (Some(one), Some(other)) if Arc::ptr_eq(one, other))
    }

    /// Its address in memory: the same for shared content; `None` when missing.
    pub fn address(&self) -> Option<usize> {
        self.0.as_ref().map(|body| Arc::as_ptr(body).addr())
    }

    /// The JSON literal that a text was recorded as, if its escapes are resolved on first use.
    pub fn literal(&self) -> Option<&str> {
        match &self.0.as_ref()?.recorded {
            Recorded::Escaped(.., literal) => Some(literal),
            Recorded::Plain(..) | Recorded::Elsewhere(..) => None,
        }
    }

    /// The text as recorded, a JSON string with its escapes: for comparing recordings, not their meaning.
    pub fn recorded(&self) -> &str {
        self.literal().unwrap_or_else(|| self.raw())
    }

    /// Whether there is no content.
    pub fn is_missing(&self) -> bool {
        self.0.is_none()
    }

    /// How the recording wrote it; `None` when missing.
    pub fn form(&self) -> Option<Form> {
        self.0.as_ref().map(|b| b.form())
    }

    /// Its type, if it cannot be the arguments of a call: those are an object, or text that the model wrote.
    pub fn not_arguments(&self) -> Option<&'static str> {
        if self.form()? == Form::Text {
            return None;
        }
        match self.raw().as_bytes().first()? {
            b'{' => None,
            b'[' => Some("a list"),
            b't' | b'f' => Some("a truth value"),
            _ => Some("a number"),
        }
    }

    /// The text as recorded (see [`Form`]); empty when missing.
    pub fn raw(&self) -> &str {
        self.0.as_ref().map_or("", |b| b.text())
    }

    /// Its approximate size in the recording, in bytes.
    pub fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |b| match &b.recorded {
            Recorded::Plain(.., text) | Recorded::Escaped(.., text) => text.len(),
            Recorded::Elsewhere(_, elsewhere) => elsewhere.length(),
        })
    }

    /// Whether the shown text begins so. Only a text that may do so is read as a whole.
    pub fn shows(&self, beginning: &str) -> bool {
        match self.0.as_deref() {
            // Nearly all begin with another byte.
            Some(BodyText { recorded: Recorded::Escaped(.., literal), .. })
                if literal.as_bytes().get(1).is_some_and(|first| *first != b'\\')
                    && literal.as_bytes().get(1) != beginning.as_bytes().first() =>
            {
                beginning.is_empty()
            }
            Some(body @ BodyText { recorded: Recorded::Escaped(.., literal), .. })
                if body.made().is_none() =>
            {
                let until_escape = beginning.split(ESCAPED).next();
                literal.get(1..).is_some_and(|inner| inner.starts_with(until_escape.unwrap_or_default()))
                    && self.shown().starts_with(beginning)
            }
            // A part that begins so is written so, from its quote on.
            Some(body) if body.is_list() && body.made().is_none() => {
                let text = body.text();
                let until_escape = beginning.split(ESCAPED).next().unwrap_or_default();
                let begins = || self.may_hold(&format!("\"{until_escape}"));
                (text.starts_with(until_escape) || begins()) && self.shown().starts_with(beginning)
            }
            _ => self.shown().starts_with(beginning),
        }
    }

    /// The first byte of [`Body::shown`], if it is cheap to find. A list may also be shown as its JSON text, which
    /// begins with two brackets.
    pub fn first_shown(&self) -> Option<u8> {
        let body = self.0.as_deref()?;
        match &body.recorded {
            Recorded::Escaped(.., literal) => {
                literal.as_bytes().get(1).copied().filter(|first| *first != b'\\')
            }
            Recorded::Plain(.., text) if body.is_list() => parts::first(text),
            Recorded::Plain(.., text) => text.as_bytes().first().copied(),
            Recorded::Elsewhere(..) => None,
        }
    }

    /// Whether this may occur in the unescaped text; `part` holds nothing that JSON escapes. `false` is certain, and
    /// builds no tree.
    pub fn may_hold(&self, part: &str) -> bool {
        let recorded = self.0.as_deref().map_or("", |body| match &body.recorded {
            Recorded::Plain(.., text) | Recorded::Escaped(.., text) => text,
            Recorded::Elsewhere(..) => body.text(),
        });
        let holds = |part: &str| memmem::find(recorded.as_bytes(), part.as_bytes()).is_some();
        holds(part) || holds("\\u")
    }

    /// The text a reader of the conversation saw: text as it is, the text parts of a list joined by line feeds, any
    /// other JSON value as JSON. Empty when missing.
    pub fn shown(&self) -> &str {
        match &self.0 {
            None => "",
            Some(body) => body.joined().unwrap_or(body.text()),
        }
    }

    /// The text of a message: text as it is, the text parts of a list joined by line feeds (empty if it has none), and
    /// empty when missing. `None` if the content is another JSON value, which is not text.
    pub fn said(&self) -> Option<&str> {
        let Some(body) = &self.0 else { return Some("") };
        if body.form() == Form::Text {
            return Some(body.text());
        }
        if let Some(joined) = body.joined() {
            return Some(joined);
        }
        match body.read() {
            Read { is_json: false, .. } => Some(body.text()),
            Read { value: Value::Array(_), .. } => Some(""),
            _ => None,
        }
    }

    /// The value, if the content is JSON; paths find nothing in anything else.
    pub fn parsed(&self) -> Option<&Value> {
        self.0.as_deref().map(BodyText::read).filter(|read| read.is_json).map(|read| &read.value)
    }

    /// The value a condition compares: the JSON value if the text is JSON, else the text as a JSON string. `None` when
    /// missing.
    pub fn value(&self) -> Option<&Value> {
        self.0.as_deref().map(|body| &body.read().value)
    }

    /// Looks into the text of what may be an object, unless it is parsed already: looking at a few places then builds
    /// no tree.
    pub fn peek<T>(&self, look: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let is_object = |text: &str| text.trim_ascii_start().starts_with('{');
        let body = self
            .0
            .as_deref()
            .filter(|body| body.looked.get().is_none_or(|looked| looked.read.get().is_none()))?;
        if let Recorded::Elsewhere(Form::Json, elsewhere) = &body.recorded
            && let Some(text) = elsewhere.in_passing()
            && is_object(&text)
        {
            return look(&text);
        }
        if let Recorded::Plain(_, glances, ..) | Recorded::Escaped(glances, ..) = &body.recorded {
            let before = glances.before();
            if before >= Glances::VALUE {
                return None;
            }
            if let Recorded::Escaped(.., literal) = &body.recorded
                && before < Glances::TEXT
                && body.made().is_none()
                && let Some(text) = unescaped(literal)
            {
                return if is_object(&text) { look(&text) } else { None };
            }
        }
        let text = body.joined().unwrap_or(body.text());
        if is_object(text) { look(text) } else { None }
    }

    /// Why no path can look into the content: it is not JSON, or JSON that may not be parsed. Builds no tree if the
    /// text alone can tell. A missing body has no fault.
    pub fn fault(&self) -> Option<Fault> {
        self.0.as_deref()?.in_passing(Fault::of)
    }
}

impl BodyText {
    fn form(&self) -> Form {
        match &self.recorded {
            Recorded::Plain(form, ..) | Recorded::Elsewhere(form, _) => *form,
            Recorded::Escaped(..) => Form::Text,
        }
    }

    fn text(&self) -> &str {
        match &self.recorded {
            Recorded::Plain(.., text) => text,
            Recorded::Escaped(.., literal) => {
                let text = self.looked().text.get_or_init(|| Some(unescaped(literal)?.into()));
                text.as_deref().unwrap_or(literal)
            }
            Recorded::Elsewhere(form, elsewhere) => elsewhere.text(*form == Form::Text),
        }
    }

    /// Looks at the text; if its escapes are not resolved yet, the resolved text is not kept.
    fn in_passing<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        match &self.recorded {
            Recorded::Escaped(.., literal) if self.made().is_none() => {
                look(unescaped(literal).as_deref().unwrap_or(literal))
            }
            _ => look(self.text()),
        }
    }

    fn looked(&self) -> &Looked {
        self.looked.get_or_init(Box::default)
    }

    /// The derived text, if it was derived already; the inner `None`: there is none.
    fn made(&self) -> Option<&Option<Box<str>>> {
        self.looked.get()?.text.get()
    }

    /// A list of text parts is its text.
    fn joined(&self) -> Option<&str> {
        if !self.is_list() {
            return None;
        }
        self.looked().text.get_or_init(|| parts::joined(self.text())).as_deref()
    }

    fn is_list(&self) -> bool {
        self.form() == Form::Json && self.text().starts_with('[')
    }

    fn read(&self) -> &Read {
        self.looked().read.get_or_init(|| {
            // That text may be JSON again.
            let text = self.joined().unwrap_or(self.text());
            let parsed = parse(text);
            let is_json = parsed.is_some();
            let value = parsed.unwrap_or_else(|| Value::String(text.to_owned()));
            Box::new(Read { value, is_json })
        })
    }
}

/// A JSON text literal as it is kept; `None` if it is not a valid literal.
fn literal(json: &str, may_have_unicode: bool) -> Option<Recorded> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    Some(match memchr::memchr(b'\\', inner.as_bytes()) {
        None => Recorded::plain(Form::Text, inner),
        // Whether such escapes are valid text is known when they are resolved.
        Some(first) if may_have_unicode && has_unicode(inner.get(first..)?) => {
            Recorded::plain(Form::Text, unescaped(json)?)
        }
        Some(_) => Recorded::Escaped(Glances::default(), Cleared::default(), json.into()),
    })
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("missing"),
            Some(body) => write!(f, "{:?} {:?}", body.form(), body.text()),
        }
    }
}

/// As recorded: the same form and the same text.
impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.form() == other.form() && self.raw() == other.raw()
    }
}

impl Eq for Body {}

impl From<Value> for Body {
    fn from(value: Value) -> Body {
        match value {
            Value::String(text) => Body::text(text),
            other => Body::json(&other.to_string()),
        }
    }
}

impl From<&Value> for Body {
    fn from(value: &Value) -> Body {
        match value {
            Value::String(text) => Body::text(text.as_str()),
            other => Body::json(&other.to_string()),
        }
    }
}

/// Text, which may be JSON itself: what a model writes as arguments, what a tool or a person says.
impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Body::text(text)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        Body::text(text)
    }
}

#[cfg(test)]
mod tests;
