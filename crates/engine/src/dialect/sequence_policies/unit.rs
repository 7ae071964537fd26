//! One sequence policy as a unit: names are sorted into classes once, so that calls are compared by number.

use std::collections::HashMap;
use std::sync::Arc;

use super::explain::NamePattern;
use super::monitor::SequencesMonitor;
use crate::monitor::{
    Effect, Enablers, Monitor, Observes, Prospect, RuleId, Says, SessionEvents, Slot, Statement, Unit, Wakes,
};
use rulestep_base::session::{Facts, refusal};

/// Calls that may not end the dispatched ones.
#[derive(Debug)]
pub(super) struct Forbidden {
    pub rule: usize,
    pub sequence: Arc<[NamePattern]>,
    pub said: Response,
}

/// The most calls of one tool.
#[derive(Debug)]
pub(super) struct Limit {
    pub rule: usize,
    pub tool: Arc<str>,
    pub allowed: u64,
    pub said: Response,
}

/// A rule's effect on a call, and its message.
#[derive(Debug)]
pub(super) struct Response {
    /// [`Effect::Deny`] or [`Effect::Halt`].
    pub effect: Effect,
    pub reason: Arc<str>,
    pub tell_llm: Option<Arc<str>>,
}

impl Response {
    /// The message to the model for a call of this tool.
    pub fn told(&self, tool: &str) -> Arc<str> {
        match (&self.tell_llm, self.effect) {
            (Some(text), _) => Arc::clone(text),
            (None, Effect::Halt) => refusal::not_available(tool).into(),
            (None, _) => refusal::permission_denied("policy").into(),
        }
    }
}

/// A sequence policy.
#[derive(Debug)]
pub(super) struct SequencePolicy {
    pub rules: Vec<RuleId>,
    pub id: Arc<str>,
    pub forbidden: Vec<Forbidden>,
    pub limits: Vec<Limit>,
    /// Number of latest calls to be kept: one less than the longest sequence has.
    pub kept: usize,
    /// Whether some rule halts, so that all dispatched names are wanted.
    pub halts: bool,
    classes: Classes,
    /// For each sequence, its positions as numbers of patterns.
    sequences: Vec<Box<[usize]>>,
    /// By class: the sequences that a call can complete, and its limit.
    asked: Vec<ClassRules>,
}

#[derive(Debug, Default)]
pub(super) struct ClassRules {
    /// Numbers of sequences, in the order of precedence.
    pub sequences: Vec<usize>,
    pub limit: Option<usize>,
}

/// The classes of names: each exact name is a class of its own, then each longest prefix, then the rest. Prefixes of
/// one name are prefixes of each other, so the longest one determines which of them a name has.
#[derive(Debug, Default)]
struct Classes {
    exact: HashMap<Arc<str>, usize>,
    /// The longest first, each with its class.
    prefixes: Vec<(Arc<str>, usize)>,
    /// By pattern, then class: whether names of the class match.
    fits: Vec<Box<[bool]>>,
}

impl SequencePolicy {
    pub fn new(
        rules: Vec<RuleId>,
        id: Arc<str>,
        forbidden: Vec<Forbidden>,
        limits: Vec<Limit>,
    ) -> SequencePolicy {
        let mut numbers: HashMap<&NamePattern, usize> = HashMap::new();
        let mut sequences: Vec<Box<[usize]>> = Vec::new();
        for rule in &forbidden {
            let positions = rule.sequence.iter().map(|pattern| {
                let next = numbers.len();
                *numbers.entry(pattern).or_insert(next)
            });
            sequences.push(positions.collect());
        }
        let mut patterns: Vec<&NamePattern> = numbers.keys().copied().collect();
        patterns.sort_by_key(|pattern| numbers.get(pattern));
        let classes = Classes::new(&patterns, limits.iter().map(|limit| &limit.tool));
        let asked = (0..classes.count()).map(|class| ClassRules {
            sequences: (0..forbidden.len())
                .filter(|number| match sequences.get(*number).and_then(|positions| positions.last()) {
                    Some(last) => classes.fits(*last, class),
                    None => true,
                })
                .collect(),
            limit: limits.iter().position(|limit| classes.exact.get(&limit.tool) == Some(&class)),
        });
        let kept = sequences.iter().map(|positions| positions.len().saturating_sub(1)).max();
        let effects = forbidden.iter().map(|rule| rule.said.effect);
        let halts = effects.chain(limits.iter().map(|limit| limit.said.effect)).any(|e| e == Effect::Halt);
        SequencePolicy {
            asked: asked.collect(),
            kept: kept.unwrap_or_default(),
            halts,
            rules,
            id,
            forbidden,
            limits,
            classes,
            sequences,
        }
    }

    /// The number of classes of names.
    pub fn classes(&self) -> usize {
        self.asked.len()
    }

    /// The rules that apply to a call of this class.
    pub fn asked(&self, class: usize) -> Option<&ClassRules> {
        self.asked.get(class)
    }

    /// Whether a call of this class, after calls of these (the newest first), completes the sequence.
    pub fn completes(&self, sequence: usize, class: usize, mut before: impl Iterator<Item = usize>) -> bool {
        let Some(positions) = self.sequences.get(sequence) else { return false };
        let Some((last, rest)) = positions.split_last() else { return true };
        self.classes.fits(*last, class)
            && rest
                .iter()
                .rev()
                .all(|position| before.next().is_some_and(|class| self.classes.fits(*position, class)))
    }
}

impl Classes {
    fn new<'a>(patterns: &[&'a NamePattern], limited: impl Iterator<Item = &'a Arc<str>>) -> Classes {
        let mut classes = Classes::default();
        let named = patterns.iter().filter_map(|pattern| match pattern {
            NamePattern::Exact(name) => Some(name),
            NamePattern::Prefix(_) => None,
        });
        for name in named.chain(limited) {
            let next = classes.exact.len();
            classes.exact.entry(Arc::clone(name)).or_insert(next);
        }
        for pattern in patterns {
            if let NamePattern::Prefix(prefix) = pattern {
                let class = classes.exact.len() + classes.prefixes.len();
                classes.prefixes.push((Arc::clone(prefix), class));
            }
        }
        // A class is judged by the text that all its names begin with.
        let mut known: Vec<(&Arc<str>, usize)> =
            classes.exact.iter().map(|(name, class)| (name, *class)).collect();
        known.extend(classes.prefixes.iter().map(|(prefix, class)| (prefix, *class)));
        let count = known.len() + 1;
        let fits = patterns.iter().map(|pattern| {
            let mut fits = vec![false; count];
            for (text, class) in &known {
                let fit = match pattern {
                    NamePattern::Exact(name) => classes.exact.get(name) == Some(class),
                    NamePattern::Prefix(prefix) => text.starts_with(&**prefix),
                };
                if let Some(place) = fits.get_mut(*class) {
                    *place = fit;
                }
            }
            fits.into()
        });
        classes.fits = fits.collect();
        classes.prefixes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        classes
    }

    fn count(&self) -> usize {
        self.exact.len() + self.prefixes.len() + 1
    }

    fn of(&self, name: &str) -> usize {
        let exact = self.exact.get(name).copied();
        let prefix = || self.prefixes.iter().find(|(prefix, _)| name.starts_with(&**prefix));
        exact.or_else(|| prefix().map(|(_, class)| *class)).unwrap_or(self.count() - 1)
    }

    fn fits(&self, pattern: usize, class: usize) -> bool {
        self.fits.get(pattern).and_then(|fits| fits.get(class)).copied().unwrap_or_default()
    }
}

impl Unit for SequencePolicy {
    fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    fn wakes(&self, tool: &str) -> Wakes {
        let class = self.classes.of(tool);
        let asked = self.asked(class);
        let limited = asked.is_some_and(|asked| asked.limit.is_some());
        Wakes {
            decide: limited || asked.is_some_and(|asked| !asked.sequences.is_empty()),
            // Sequences have no gaps: any call at all breaks one.
            observe: Observes { results: limited || self.kept > 0 || self.halts, ..Observes::default() },
            slot: Slot(class as u64),
        }
    }

    fn wakes_by_name(&self) -> bool {
        self.forbidden.is_empty() && !self.halts
    }

    fn subscriptions(&self) -> SessionEvents {
        SessionEvents::default()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.classes.exact.keys().cloned());
    }

    fn statements(&self, out: &mut Vec<Statement>) {
        let mut say = |rule: usize, says| {
            let rule = self.rules.get(rule).copied();
            out.extend(rule.map(|rule| Statement { rule, when: Arc::default(), says }));
        };
        for Forbidden { rule, sequence, .. } in &self.forbidden {
            match &**sequence {
                // A rule that stops every call at all is reported itself, and would make all other rules pointless.
                [NamePattern::Prefix(prefix)] if prefix.is_empty() => {}
                [only] => say(*rule, Says::Never(only.test())),
                [first, then] => say(*rule, Says::Apart(first.test(), then.test())),
                _ => {}
            }
        }
        for Limit { rule, tool, .. } in self.limits.iter().filter(|limit| limit.allowed == 0) {
            say(*rule, Says::Never(NamePattern::Exact(Arc::clone(tool)).test()));
        }
    }

    fn refusal_texts(&self, out: &mut Vec<(Arc<str>, RuleId)>) {
        let forbidden = self.forbidden.iter().map(|forbidden| (forbidden.rule, &forbidden.said));
        let limits = self.limits.iter().map(|limit| (limit.rule, &limit.said));
        out.extend(
            forbidden.chain(limits).filter_map(|(rule, said)| {
                Some((Arc::clone(said.tell_llm.as_ref()?), *self.rules.get(rule)?))
            }),
        );
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        let asked = self.asked(call.slot.0 as usize);
        let mut ended = asked.iter().flat_map(|asked| &asked.sequences);
        // Sequences have no gaps, so any call can break one. A limit is reached for good.
        if ended.any(|number| self.sequences.get(*number).is_some_and(|positions| positions.len() > 1)) {
            out.any_call();
        }
    }

    fn start(self: Arc<Self>, _facts: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(SequencesMonitor::new(self))
    }

    fn resume(self: Arc<Self>, saved: &str) -> Option<Box<dyn Monitor>> {
        Some(Box::new(SequencesMonitor::resumed(self, saved)?))
    }

    fn reads_history(&self) -> bool {
        false
    }

    fn remembers(&self) -> bool {
        true
    }

    fn sees_tree(&self) -> bool {
        false
    }

    fn reads(&self, _session: &rulestep_base::session::Session, _out: &mut Vec<crate::monitor::Read>) {}

    fn conditions(&self, _out: &mut Vec<crate::monitor::Condition>) {}

    fn probes(&self, _out: &mut Vec<crate::monitor::Probe>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(sequences: &[&[NamePattern]], limits: &[&str]) -> SequencePolicy {
        let said = || Response { effect: Effect::Deny, reason: "r".into(), tell_llm: None };
        let forbidden = sequences.iter().map(|sequence| Forbidden {
            rule: 0,
            sequence: (*sequence).into(),
            said: said(),
        });
        let limits =
            limits.iter().map(|tool| Limit { rule: 0, tool: (*tool).into(), allowed: 1, said: said() });
        SequencePolicy::new(Vec::new(), "p".into(), forbidden.collect(), limits.collect())
    }

    fn exact(name: &str) -> NamePattern {
        NamePattern::Exact(name.into())
    }

    fn prefix(prefix: &str) -> NamePattern {
        NamePattern::Prefix(prefix.into())
    }

    /// Every pattern against every name, by the classes and by the texts.
    #[test]
    fn classes_tell_what_the_names_tell() {
        let patterns = [
            exact("slack"),
            exact("slack.dm"),
            prefix("slack"),
            prefix("slack."),
            prefix("s"),
            prefix(""),
            exact("x"),
        ];
        for count in 0..=patterns.len() {
            let sequences: Vec<[NamePattern; 1]> = patterns.iter().take(count).map(|p| [p.clone()]).collect();
            let sequences: Vec<&[NamePattern]> = sequences.iter().map(|s| &s[..]).collect();
            let policy = policy(&sequences, &["slack.post"]);
            for name in
                ["slack", "slack.dm", "slack.dmx", "slack.post", "slackAdmin", "s", "x", "xy", "other", ""]
            {
                let class = policy.wakes(name).slot.0 as usize;
                for (number, pattern) in patterns.iter().take(count).enumerate() {
                    let expected = match pattern {
                        NamePattern::Exact(exact) => name == &**exact,
                        NamePattern::Prefix(prefix) => name.starts_with(&**prefix),
                    };
                    assert_eq!(
                        policy.completes(number, class, [].into_iter()),
                        expected,
                        "{pattern:?} {name}"
                    );
                }
            }
        }
    }

    #[test]
    fn only_tools_that_can_matter_are_asked() {
        let pair = policy(&[&[exact("a"), prefix("b.")]], &["c"]);
        let wakes = |name| (pair.wakes(name).decide, pair.wakes(name).observe.any());
        assert_eq!(
            (wakes("a"), wakes("b.x"), wakes("c"), wakes("z")),
            ((false, true), (true, true), (true, true), (false, true))
        );
        let single = policy(&[&[exact("a")]], &[]);
        assert_eq!((single.wakes("a").decide, single.wakes("a").observe.any()), (true, false));
        assert!(policy(&[&[]], &[]).wakes("anything").decide);
    }
}
