//! Liquid templates as guard conditions, with the meaning that LiquidJS 10 gives them.
//!
//! The meaning is that of LiquidJS 10.30.1 with its default options and the time zone UTC; numbers, text
//! and conversions are JavaScript's. What differs is named, and is refused ([`Unevaluable`]) instead of
//! being guessed: the filter `sample`, the tags `include`, `render`, `layout` and `block`, and a few
//! corners where the result would depend on the inner workings of a JavaScript engine. `last: N` gives the
//! N newest items in order, and `'now' | date` means the instant of the session.
//!
//! WHY_OWN
//!
//! A rendering may not read files, the clock or the environment, and is bounded by counted steps and
//! memory.

mod blocks;
mod dateparse;
mod filters;
mod js;
mod letters;
mod meter;
mod names;
mod pieces;
mod render;
mod scanner;
mod tags;
mod text;
mod tree;
mod value;

use std::sync::Arc;

pub use text::Text;
pub use value::{List, Loop, Object, Value};

type Outcome<T> = Result<T, Unevaluable>;

/// A parsed template. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Template {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    nodes: Vec<tree::Node>,
    names: names::Names,
}

/// What a rendering may know.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The variables by name. Each is asked for at most once, when a template first reads it.
    pub globals: &'a dyn Fn(&str) -> Option<Value>,
    /// The instant that `'now' | date` means, in milliseconds since 1970.
    pub now: Option<i64>,
}

/// Why a template has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unevaluable {
    /// Not a template. `offset` counts bytes.
    #[error("{message} (at byte {offset})")]
    Syntax {
        /// What is wrong.
        message: String,
        /// Where.
        offset: usize,
    },
    /// A filter that LiquidJS does not have, or that is left out here. `offset` counts bytes.
    #[error("unknown filter `{name}` (at byte {offset})")]
    UnknownFilter {
        /// Its name.
        name: String,
        /// Where.
        offset: usize,
    },
    /// A tag that LiquidJS does not have. `offset` counts bytes.
    #[error("unknown tag `{name}` (at byte {offset})")]
    UnknownTag {
        /// Its name.
        name: String,
        /// Where.
        offset: usize,
    },
    /// LiquidJS has it, a guard condition cannot.
    #[error("not supported in a condition: {what}")]
    Unsupported {
        /// What it is.
        what: String,
    },
    /// LiquidJS fails here too.
    #[error("{message}")]
    Failed {
        /// Why.
        message: String,
    },
    /// The rendering took more steps than it was given.
    #[error("the template took more steps than allowed")]
    Budget,
    /// The rendering made more values and text than allowed.
    #[error("the template made more text and values than allowed")]
    Memory,
    /// Tags, brackets or values nest too deep.
    #[error("nested too deep")]
    TooDeep,
    /// The template asks for the present instant, and the session has none.
    #[error("the template reads the clock, and the session has no time")]
    NoClock,
    /// The result holds half a surrogate pair, which no UTF-8 text can.
    #[error("the result is not text: it holds half a surrogate pair")]
    NotText,
}

/// Parses a template.
///
/// # Errors
/// [`Unevaluable`] with the place of the mistake; also where a construct is unknown or not supported.
pub fn parse(text: &str) -> Result<Template, Unevaluable> {
    let input = text::units(text);
    let nodes = blocks::parse(&input).map_err(|error| error.at_bytes(text))?;
    let names = names::Names::of(&nodes);
    Ok(Template { inner: Arc::new(Inner { nodes, names }) })
}

impl Template {
    /// Whether the template names the variable `messages`, or one that is only known when it is rendered.
    #[must_use]
    pub fn names_messages(&self) -> bool {
        self.names("messages")
    }

    /// Whether the template names the variable `name`, or one that is only known when it is rendered.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        self.inner.names.may_read(name)
    }

    /// Whether the template says `'now' | date` (or `'today'`) or names the variable `now`. One that comes
    /// by `'now'` in another way is found out in [`Self::render`].
    #[must_use]
    pub fn reads_clock(&self) -> bool {
        self.inner.names.reads_clock() || self.names("now")
    }

    /// The text that the template prints, in at most `budget` steps: nodes, operands, filters, items and
    /// characters that these go through or make.
    ///
    /// # Errors
    /// [`Unevaluable`] where LiquidJS fails, and where the result is not known to be that of LiquidJS.
    pub fn render(&self, scope: &Scope<'_>, budget: u64) -> Result<String, Unevaluable> {
        let mut out = Vec::new();
        render::Render::new(scope, budget).nodes(&self.inner.nodes, &mut out)?;
        String::from_utf16(&out).map_err(|_| Unevaluable::NotText)
    }
}

impl Unevaluable {
    /// Turns an offset in UTF-16 units into one in bytes.
    fn at_bytes(mut self, template: &str) -> Self {
        if let Self::Syntax { offset, .. } | Self::UnknownFilter { offset, .. } | Self::UnknownTag { offset, .. } =
            &mut self
        {
            let mut units = 0;
            let before = template.chars().take_while(|letter| {
                units += letter.len_utf16();
                units <= *offset
            });
            *offset = before.map(char::len_utf8).sum();
        }
        self
    }
}
