//! An author's options for a rule that objects to a call: whether the call is stopped, whether that is enforced yet,
//! and the message to the model.

use std::sync::Arc;

use super::evidence::Effect;

/// The keys that a rule of every dialect may have besides its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOptions {
    /// [`Effect::Ask`] or [`Effect::Report`] in place of a stop; [`Effect::Deny`]: the rule stops a call in its own way.
    pub effect: Effect,
    /// The rule decides; its decisions are shown and counted, but not enforced.
    pub shadow: bool,
    /// The author's words for the model, in place of the dialect's.
    pub tell: Option<Arc<str>>,
    /// The rule looks at an agent, its subagents and their parent as one history.
    pub tree: bool,
}

impl Default for RuleOptions {
    fn default() -> RuleOptions {
        RuleOptions { effect: Effect::Deny, shadow: false, tell: None, tree: false }
    }
}

impl RuleOptions {
    /// The effect that results from a rule's own; for a rule that is not enforced also what it would have been. An
    /// effect that stops no call stays as it is.
    pub fn weigh(&self, own: Effect) -> (Effect, Option<Effect>) {
        let wanted = if self.effect >= Effect::Deny { own } else { own.min(self.effect) };
        match self.shadow && wanted >= Effect::Ask {
            true => (Effect::Report, Some(wanted)),
            false => (wanted, None),
        }
    }

    /// Whether a call that the rule objects to never runs, even if a person is asked.
    pub fn stops(&self) -> bool {
        self.weigh(Effect::Deny).0 >= Effect::Deny
    }

    /// Whether what the rule says can keep a call from running, or a session from passing. Where it cannot, a violation is
    /// shown and fails nothing.
    pub fn is_enforced(&self) -> bool {
        self.weigh(Effect::Deny).0 >= Effect::Ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_weaken_a_stop_and_nothing_else() {
        use Effect::{Also, Ask, Deny, Halt, Report};
        let cases = [
            (Deny, false, [(Deny, None), (Halt, None)]),
            (Ask, false, [(Ask, None), (Ask, None)]),
            (Report, false, [(Report, None), (Report, None)]),
            (Deny, true, [(Report, Some(Deny)), (Report, Some(Halt))]),
            (Ask, true, [(Report, Some(Ask)), (Report, Some(Ask))]),
            // A rule that only reports has nothing to hold back.
            (Report, true, [(Report, None), (Report, None)]),
        ];
        for (effect, shadow, [deny, halt]) in cases {
            let options = RuleOptions { effect, shadow, ..RuleOptions::default() };
            assert_eq!((options.weigh(Deny), options.weigh(Halt)), (deny, halt), "{options:?}");
            for own in [Effect::None, Also, Report] {
                assert_eq!(options.weigh(own), (own, None), "{options:?}");
            }
            // A rule that only reports does not ask, either.
            let asks = if effect == Report {
                (Report, None)
            } else {
                (if shadow { Report } else { Ask }, shadow.then_some(Ask))
            };
            assert_eq!(options.weigh(Ask), asks, "{options:?}");
        }
    }
}
