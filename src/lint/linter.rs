//! A version being checked, with the places of its rules.

use super::place::Places;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::source::{Span, quoted};
use rulestep_engine::monitor::{Rule, RuleId, Statement, rule_name};
use rulestep_engine::policy::Policy;

/// A version that is looked through.
pub struct Linter<'p> {
    pub policy: &'p Policy,
    pub statements: &'p [Statement],
    pub places: Places,
}

impl<'p> Linter<'p> {
    pub fn rule(&self, id: RuleId) -> Option<&'p Rule> {
        self.policy.rules().get(id)
    }

    /// The statements of rules that stop calls: the others contradict nothing.
    pub fn enforced(&self) -> impl Iterator<Item = &'p Statement> + use<'p> {
        let rules = self.policy.rules();
        let stops = move |said: &&Statement| rules.get(said.rule).is_none_or(|rule| rule.options.stops());
        self.statements.iter().filter(stops)
    }

    /// The name of a rule in a message.
    pub fn name(&self, id: RuleId) -> String {
        self.rule(id).map_or_else(String::new, |rule| quoted(&rule_name(rule)))
    }

    /// The span of a name in a rule; else its first line.
    pub fn span(&mut self, id: RuleId, name: &str, under: Option<&str>) -> Option<Span> {
        let rule = self.rule(id)?;
        self.places.in_rule(rule, name, under).or_else(|| Some(head(rule)))
    }

    /// Adds another rule as a related place.
    pub fn with(&self, diagnostic: Diagnostic, other: RuleId, message: &str) -> Diagnostic {
        match self.rule(other) {
            Some(rule) => diagnostic.related(&rule.source, head(rule), message),
            None => diagnostic,
        }
    }
}

/// The first line of a rule.
pub fn head(rule: &Rule) -> Span {
    rule.span.first_line(rule.source.text())
}
