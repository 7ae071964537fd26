//! The combined statements of a version's rules, for the sessions that they all apply to.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::linter::Linter;
use super::needs::{AnyOf, Necessary, Need, NeedsByTool};
use rulestep_base::session::value;
use rulestep_engine::monitor::{NameTest, RuleId, Says, Statement};

/// The sessions for which rules are written: those of a context, and perhaps those of one test.
type Sessions<'p> = (&'p [(Arc<str>, Value)], Option<Arc<str>>);

/// A call of a tool must be followed by one of these: each call, or the first one.
#[derive(Clone, Copy)]
pub struct Follow<'p> {
    pub rule: RuleId,
    pub after: &'p Arc<str>,
    pub any_of: AnyOf<'p>,
    pub each: bool,
}

/// Rules that apply together.
pub struct World<'p> {
    sessions: Sessions<'p>,
    pub needs: Vec<Need<'p>>,
    /// The rules that deny every call of a tool.
    never: Vec<(RuleId, NameTest)>,
    /// After the first tool, the second one is forbidden.
    pub forbids: HashMap<(&'p str, &'p str), RuleId>,
    pub apart: Vec<(RuleId, &'p NameTest, &'p NameTest)>,
    pub must: Vec<(RuleId, AnyOf<'p>)>,
    pub follows: Vec<Follow<'p>>,
    /// For each tool, those after which it is forbidden.
    forbidden_after: HashMap<&'p str, BTreeSet<&'p str>>,
    necessary: Necessary<'p>,
}

/// The worlds of a version: one for the rules that always apply, one for each context and each test that brings more.
pub fn worlds<'p>(linter: &Linter<'p>) -> Vec<World<'p>> {
    let test = |statement: &Statement| linter.rule(statement.rule).and_then(|rule| rule.test.clone());
    let mut kinds: Vec<Sessions<'p>> = Vec::new();
    for statement in linter.enforced() {
        let kind = (&*statement.when, test(statement));
        if !kinds.iter().any(|(when, test)| *test == kind.1 && same(when, kind.0)) {
            kinds.push(kind);
        }
    }
    let of_kind = |(when, in_test): Sessions<'p>| {
        let applies = |statement: &&Statement| {
            let own = test(statement);
            (own.is_none() || own == in_test) && statement.when.iter().all(|wanted| has(when, wanted))
        };
        World::of((when, in_test.clone()), linter.enforced().filter(applies))
    };
    kinds.into_iter().map(of_kind).collect()
}

fn has(when: &[(Arc<str>, Value)], wanted: &(Arc<str>, Value)) -> bool {
    when.iter().any(|(key, known)| *key == wanted.0 && value::equal(known, &wanted.1))
}

fn same(one: &[(Arc<str>, Value)], other: &[(Arc<str>, Value)]) -> bool {
    one.len() == other.len() && one.iter().all(|wanted| has(other, wanted))
}

impl<'p> World<'p> {
    fn of(sessions: Sessions<'p>, statements: impl Iterator<Item = &'p Statement>) -> World<'p> {
        let mut world = World {
            sessions,
            needs: Vec::new(),
            never: Vec::new(),
            forbids: HashMap::new(),
            apart: Vec::new(),
            must: Vec::new(),
            follows: Vec::new(),
            forbidden_after: HashMap::new(),
            necessary: Necessary::default(),
        };
        for Statement { rule, says, .. } in statements {
            let rule = *rule;
            match says {
                Says::Needs { tool, any_of, directly } => {
                    world.needs.push(Need { rule, tool, any_of, directly: *directly });
                }
                Says::Never(test) => world.never.push((rule, Arc::clone(test))),
                Says::Forbids { after, tool } => {
                    world.forbids.entry((after, tool)).or_insert(rule);
                }
                Says::Nothing => {}
                Says::Apart(first, then) => world.apart.push((rule, first, then)),
                Says::Must(any_of) => world.must.push((rule, any_of)),
                Says::Follows { after, any_of, each } => {
                    world.follows.push(Follow { rule, after, any_of, each: *each });
                }
                Says::Exactly(tools) => {
                    world.must.extend(tools.iter().map(|tool| (rule, std::slice::from_ref(tool))));
                    let listed: BTreeSet<Arc<str>> = tools.iter().cloned().collect();
                    world.never.push((rule, Arc::new(move |name| !listed.contains(name))));
                }
            }
        }
        for (after, tool) in world.forbids.keys() {
            world.forbidden_after.entry(tool).or_default().insert(after);
        }
        let asked = world.forbids.keys().map(|(after, _)| *after);
        world.necessary = NeedsByTool::of(&world.needs).necessary(asked);
        world
    }

    /// Whether a rule, of which this is the first statement, is written for all sessions of this world: others apply
    /// elsewhere too.
    pub fn is_home(&self, linter: &Linter<'_>, rule: RuleId, said: Option<&Statement>) -> bool {
        let (when, test) = &self.sessions;
        let own = said.map_or(&[][..], |said| &said.when);
        linter.rule(rule).is_some_and(|rule| rule.test == *test) && same(own, when)
    }

    /// The rule that denies every call of a tool.
    pub fn never(&self, tool: &str) -> Option<RuleId> {
        self.never.iter().find(|(_, covers)| covers(tool)).map(|(rule, _)| *rule)
    }

    /// The rule besides this one that denies every call of a tool, if this one denies calls in this world at all.
    pub fn never_besides(&self, own: RuleId, tool: &str) -> Option<RuleId> {
        self.never.iter().find(|(rule, _)| *rule == own)?;
        self.never.iter().find(|(rule, covers)| *rule != own && covers(tool)).map(|(rule, _)| *rule)
    }

    /// The rule that forbids a tool once `before` has run, or once something has that must run before it.
    pub fn banned_by(&self, before: &'p str, tool: &'p str) -> Option<RuleId> {
        let earlier = || {
            let mut after = self.forbidden_after.get(tool)?.iter();
            let earlier = after.find(|earlier| self.necessary.has(before, earlier))?;
            self.forbids.get(&(earlier, tool))
        };
        self.forbids.get(&(before, tool)).or_else(earlier).copied()
    }

    /// The tools that can never run because they need each other.
    pub fn stuck(&self) -> BTreeSet<&'p str> {
        NeedsByTool::of(&self.needs).stuck()
    }
}
