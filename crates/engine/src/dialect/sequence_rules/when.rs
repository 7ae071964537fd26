//! When a rule applies.

use std::sync::Arc;

use serde_json::Value;

use rulestep_base::session::value;

/// A condition on the session's context: the rule does not apply if the key has another value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct When {
    /// Below `context`, with dots.
    pub key: Arc<str>,
    pub value: Value,
}

impl When {
    /// Whether a session may be one that the rule applies to.
    pub fn allows(&self, context: Option<&Value>) -> bool {
        let found = context.and_then(|context| value::dotted(context, &self.key));
        found.is_none_or(|found| value::equal(found, &self.value))
    }
}
