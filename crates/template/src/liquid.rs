//! Liquid templates as guard conditions, with the meaning that LiquidJS 10 gives them.
//!
//! The meaning is that of LiquidJS 10.30.1 with its default options and the time zone UTC; numbers, text and
//! conversions are JavaScript's. A template either prints what LiquidJS prints or is refused
//! ([`Unevaluable`]), with two departures: `last: N` gives the N newest items in order, and `'now' | date`
//! means the instant of the session. Refused are `sample`, which
//! draws by chance, the tags that read other templates (`include`, `render`, `layout`, `block`), unknown filters (LiquidJS passes over
//! them), and a few corners in which the result hangs on the inner workings of a JavaScript engine: sorting
//! 64 or more values that have no common order, JavaScript's own methods of `forloop`, named time zones before
//! the year 100, output with half a surrogate pair. Named time zones follow the bundled database, which may
//! know newer laws than the one of a given JavaScript engine.
//!
//! Why not the crate `liquid`: a guard that silently means something else is worse than none. Of the 4,888
//! recorded cases in `tests/conformance/liquid.jsonl` (made by liquidjs, see `tests/oracles/liquid/`),
//! `liquid` 0.26.11 with its standard library prints the same in 683 and fails like liquidjs in 457; it
//! refuses 3,277, most for a filter it does not have, prints something else without a word in 449, prints
//! where liquidjs fails in 15, and panics in 7. The differences lie in its core (`and` and `or` group from
//! the left, whole numbers divide without a fraction, lengths do not count UTF-16 units, unknown names are errors,
//! no `liquid` and `echo` tags), so an adapter would have had to replace most of it. The engine here agrees
//! on all of them; 3 it refuses.
//!
//! A rendering reads no file, no clock and no environment, and is bounded by counted steps and memory.

mod blocks;
mod dateparse;
mod expression;
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
mod unevaluable;
mod value;

use std::sync::Arc;

pub use render::Scope;
pub use text::Text;
pub use unevaluable::Unevaluable;
pub use value::Value;

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

/// Parses a template.
///
/// # Errors [`Unevaluable`] with the place of the mistake; also if a construct is unknown or not supported.
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

    /// The text that the template prints, in at most `budget` steps: nodes, operands, filters, items and characters
    /// that these go through or make.
    ///
    /// # Errors [`Unevaluable`] if LiquidJS fails, and if the result is not known to be that of LiquidJS.
    pub fn render(&self, scope: &Scope<'_>, budget: u64) -> Result<String, Unevaluable> {
        let mut out = Vec::new();
        render::Render::new(scope, budget).nodes(&self.inner.nodes, &mut out)?;
        String::from_utf16(&out).map_err(|_| Unevaluable::NotText)
    }
}
