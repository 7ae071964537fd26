//! Collects the answers of monitors about a call, and about an offered tool. A rule's options are applied here, so that
//! no dialect knows them.

use std::sync::Arc;

use super::{Check, Code, Effect, Fault, Finding, RuleId, Rules, Unit};

/// How much a caller wants to know of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The effect alone: no finding is built.
    Verdict,
    /// Also the finding that stops the call, asks about it, would stop it or reports it, without the calls that it rests on.
    Deciding,
    /// Findings of the rules that spoke against the call, without what they rest on.
    Named,
    /// The same with their evidence.
    Findings,
    /// Also a check for every rule that was asked.
    Checks,
}

/// Collects a monitor's findings about a call. Rules are named by their number in the unit; the engine translates.
pub struct Sink<'a> {
    depth: Depth,
    rules: &'a Rules,
    unit: Option<&'a dyn Unit>,
    effect: Effect,
    asked: Option<usize>,
    findings: &'a mut Vec<Finding>,
    checks: &'a mut Vec<Check>,
}

impl<'a> Sink<'a> {
    /// A sink that is of no unit yet.
    pub fn new(
        depth: Depth,
        rules: &'a Rules,
        findings: &'a mut Vec<Finding>,
        checks: &'a mut Vec<Check>,
    ) -> Self {
        Sink { depth, rules, unit: None, effect: Effect::None, asked: None, findings, checks }
    }

    /// Turns to a unit, which has reported nothing yet. Its rules' local numbers are looked up when it reports
    /// something.
    pub fn turn_to(&mut self, unit: &'a dyn Unit) {
        (self.unit, self.effect, self.asked) = (Some(unit), Effect::None, None);
    }

    fn rule(&self, local: usize) -> Option<RuleId> {
        self.unit?.rules().get(local).copied()
    }

    /// The requested depth.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Whether the call is stopped, and further objections are not wanted. A rule that asks, reports or is not enforced
    /// never hides one that stops the call.
    pub fn is_decided(&self) -> bool {
        self.depth < Depth::Named && self.stops()
    }

    /// Whether a rule of the unit has stopped the call.
    pub fn stops(&self) -> bool {
        self.effect >= Effect::Deny
    }

    /// The strongest effect reported so far.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Sets the rule that is evaluated next. If it fails, its name is known from here.
    pub fn asks(&mut self, rule: usize) {
        self.asked = Some(rule);
    }

    /// The rule that was evaluated last.
    pub fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// Adds an objection of a rule; `own` is the effect of the rule itself, which its options may weaken. The first of
    /// the unit that stops the call decides, those after it are true as well. The finding is built only if it is
    /// wanted.
    pub fn find(&mut self, rule: usize, own: Effect, code: Code, fill: impl FnOnce(&mut Finding)) {
        let rule = self.rule(rule);
        let options = rule.and_then(|rule| self.rules.get(rule)).map(|rule| &rule.options);
        let (weighed, would) = options.map_or((own, None), |options| options.weigh(own));
        let tell = options.and_then(|options| options.tell.as_ref()).filter(|_| own >= Effect::Ask);
        self.put(rule, (weighed, would), code, |finding| {
            fill(finding);
            if let Some(tell) = tell {
                finding.tell_llm = Some(Arc::clone(tell));
            }
        });
    }

    /// The unit failed under this rule, and the state may be lost, so it says what the strongest of its rules would.
    pub fn fail(&mut self, rule: usize, own: Effect, code: Code, fill: impl FnOnce(&mut Finding)) {
        let weighed = self.unit.map_or((own, None), |unit| strongest(unit, self.rules, own));
        self.put(self.rule(rule), weighed, code, fill);
    }

    fn put(
        &mut self,
        rule: Option<RuleId>,
        (weighed, would): (Effect, Option<Effect>),
        code: Code,
        fill: impl FnOnce(&mut Finding),
    ) {
        let effect = if weighed >= Effect::Deny && self.stops() { Effect::Also } else { weighed };
        self.effect = self.effect.max(effect);
        let wanted = self.depth >= Depth::Named || self.depth == Depth::Deciding && effect >= Effect::Report;
        if wanted && let Some(rule) = rule {
            let mut finding = Finding { would, ..Finding::new(rule, effect, code) };
            fill(&mut finding);
            // Findings are kept, and there is mostly one: a list that grows by itself begins with room for four.
            if self.findings.is_empty() {
                self.findings.reserve_exact(1);
            }
            self.findings.push(finding);
        }
    }

    /// Adds the check of a rule: what it looked at and whether it passed.
    pub fn check(&mut self, rule: usize, passed: bool, fill: impl FnOnce(&mut Check)) {
        if self.depth >= Depth::Checks
            && let Some(rule) = self.rule(rule)
        {
            let mut check = Check::new(rule, passed);
            fill(&mut check);
            self.checks.push(check);
        }
    }
}

/// The strongest effect of a unit's rules if any of them may have objected.
pub fn strongest(unit: &dyn Unit, rules: &Rules, own: Effect) -> (Effect, Option<Effect>) {
    let known = unit.rules().iter().filter_map(|rule| rules.get(*rule));
    known.map(|rule| rule.options.weigh(own)).max().unwrap_or((own, None))
}

/// Collects the rules that hide a tool.
pub struct Hidden<'a> {
    unit: &'a dyn Unit,
    rules: &'a Rules,
    asked: Option<usize>,
    reasons: &'a mut Vec<Reason>,
}

/// One rule that alone refuses a tool for every argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The rule.
    pub rule: RuleId,
    /// Its code.
    pub code: Code,
    /// The fault of the rule: it is unknown whether it refuses the tool, and it counts as if it did.
    pub fault: Option<Arc<Fault>>,
}

impl<'a> Hidden<'a> {
    /// For one unit.
    pub fn new(unit: &'a dyn Unit, rules: &'a Rules, reasons: &'a mut Vec<Reason>) -> Self {
        Hidden { unit, rules, asked: None, reasons }
    }

    /// See [`Sink::asks`].
    pub fn asks(&mut self, rule: usize) {
        self.asked = Some(rule);
    }

    /// See [`Sink::asked`].
    pub fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// This rule hides the tool, if it stops the tool's calls; whether it does.
    pub fn hide(&mut self, rule: usize, code: Code) -> bool {
        let Some(rule) = self.unit.rules().get(rule).copied() else { return false };
        let stops = self.rules.get(rule).is_none_or(|rule| rule.options.stops());
        if stops {
            self.reasons.push(Reason { rule, code, fault: None });
        }
        stops
    }
}
