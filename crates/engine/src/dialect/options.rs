//! The keys that a rule of every dialect may have besides its own: `effect`, `mode`, `tell`.

use std::sync::Arc;

use crate::monitor::{Effect, RuleOptions};
use rulestep_base::source::{Fields, Problem};

/// Their names.
pub const KEYS: [&str; 3] = ["effect", "mode", "tell"];

/// Takes them from a rule's keys. A document without them keeps its published meaning.
pub fn options(fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> RuleOptions {
    let effects = [("deny", Effect::Deny), ("ask", Effect::Ask), ("report", Effect::Report)];
    let modes = [("enforce", false), ("shadow", true)];
    let effect = fields.optional("effect").and_then(|effect| effect.one_of(&effects, out));
    let shadow = fields.optional("mode").and_then(|mode| mode.one_of(&modes, out));
    let tell = fields.text("tell", out).map(Arc::from);
    let (effect, shadow) = (effect.unwrap_or(Effect::Deny), shadow.unwrap_or_default());
    RuleOptions { effect, shadow, tell, tree: false }
}
