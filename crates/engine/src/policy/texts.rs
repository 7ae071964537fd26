//! The messages to the model that rules have, for recognising them in recordings.

use std::collections::HashMap;
use std::sync::Arc;

use crate::monitor::{RuleId, Rules, Unit};
use rulestep_base::session::Body;

/// Texts of a version, without the white space around them.
#[derive(Default)]
pub(super) struct Texts {
    pub rules: HashMap<Box<str>, Vec<RuleId>>,
    /// Bytes of the longest one.
    longest: usize,
}

/// Most bytes that JSON takes for a byte of a text, and for what is around the text of a list of one part.
const ESCAPED: usize = 6;
const AROUND: usize = 256;

impl Texts {
    pub fn of(units: &[Arc<dyn Unit>], rules: &Rules) -> Texts {
        let mut all = Vec::new();
        units.iter().for_each(|unit| unit.refusal_texts(&mut all));
        let known = units.iter().flat_map(|unit| unit.rules());
        all.extend(
            known.filter_map(|rule| Some((Arc::clone(rules.get(*rule)?.options.tell.as_ref()?), *rule))),
        );
        all.sort_by_key(|(_, rule)| *rule);
        all.dedup();
        let mut texts = Texts::default();
        for (text, rule) in all {
            let text = text.trim();
            // No text at all is the result of many a call.
            if !text.is_empty() {
                texts.longest = texts.longest.max(text.len());
                texts.rules.entry(text.into()).or_default().push(rule);
            }
        }
        texts
    }

    pub fn get(&self, result: &Body) -> &[RuleId] {
        // A long result is neither parsed nor compared.
        if result.raw().len() > self.longest * ESCAPED + AROUND {
            return &[];
        }
        self.rules.get(result.shown().trim()).map(Vec::as_slice).unwrap_or_default()
    }
}
