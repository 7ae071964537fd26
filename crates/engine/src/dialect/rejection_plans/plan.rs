//! A plan in the form in which it is evaluated.

use std::sync::Arc;

use super::facts::{ConditionKind, Join};
use super::monitor::PlanMonitor;
use crate::monitor::history::Speaker;
use crate::monitor::{
    Enablers, Monitor, Observes, Prospect, Read, RuleId, Says, SessionEvents, Slot, Statement, Unit, Wakes,
};
use rulestep_base::session::{Facts, Session};
use rulestep_template::js_regex::JsRegex;
use rulestep_template::liquid::Template;

/// The plan of one tool, which may be called by several names: a unit of one rule.
#[derive(Debug)]
pub(super) struct Plan {
    pub rules: Vec<RuleId>,
    pub tools: Arc<[Arc<str>]>,
    pub pointer: Arc<str>,
    /// Whether a call whose response has no text counts as the model's newest message.
    pub counts: bool,
    pub body: Body,
}

/// The content of a plan.
#[derive(Debug)]
pub(super) enum Body {
    /// All of these must match, and there must be one.
    Conditions(Vec<Node>),
    /// It cannot be read, for this reason: every call is rejected.
    Broken(Arc<str>),
}

/// One condition.
#[derive(Debug)]
pub(super) struct Node {
    /// Its place in the document.
    pub pointer: Arc<str>,
    /// Its kind, for people, without the observed text.
    pub kind: ConditionKind,
    pub test: Test,
}

/// How a condition is evaluated.
#[derive(Debug)]
pub(super) enum Test {
    /// Not at all: its text is wrong, for this reason.
    Broken(Arc<str>),
    /// A match in one message; [`Node::kind`] says in which, and whether it is negated.
    Regex(JsRegex),
    Liquid(Template),
    Group(Join, Vec<Node>),
}

impl Body {
    /// The conditions; none of a plan that cannot be read.
    pub fn conditions(&self) -> &[Node] {
        match self {
            Body::Conditions(conditions) => conditions,
            Body::Broken(_) => &[],
        }
    }
}

impl Node {
    /// Whether some leaf of the condition passes the test.
    pub fn any(&self, test: &mut dyn FnMut(&Node) -> bool) -> bool {
        match &self.test {
            Test::Group(_, conditions) => conditions.iter().any(|condition| condition.any(test)),
            _ => test(self),
        }
    }
}

impl Plan {
    fn governs(&self, tool: &str) -> bool {
        self.tools.iter().any(|own| **own == *tool)
    }

    /// Whether some condition looks at a message that depends on whether the call counts as one.
    pub fn counts_back(&self) -> bool {
        let mut back = |leaf: &Node| match &leaf.kind {
            ConditionKind::Regex { speaker, position, .. } => *speaker == Speaker::Assistant && *position < 0,
            _ => false,
        };
        self.body.conditions().iter().any(|condition| condition.any(&mut back))
    }

    /// Whether its conditions read only the user's messages, so that no call changes their values.
    pub fn reads_only_the_user(&self) -> bool {
        let mut reads_others = |leaf: &Node| match (&leaf.test, &leaf.kind) {
            (Test::Broken(_), _) => false,
            (_, ConditionKind::Regex { speaker, .. }) => *speaker != Speaker::User,
            (Test::Liquid(template), _) => template.names_messages(),
            _ => true,
        };
        !self.body.conditions().iter().any(|condition| condition.any(&mut reads_others))
    }
}

impl Unit for Plan {
    fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    fn wakes(&self, tool: &str) -> Wakes {
        Wakes { decide: self.governs(tool), observe: Observes::default(), slot: Slot(0) }
    }

    fn wakes_by_name(&self) -> bool {
        true
    }

    fn subscriptions(&self) -> SessionEvents {
        let mut asks = |leaf: &Node| matches!(leaf.test, Test::Liquid(_));
        let time = self.body.conditions().iter().any(|condition| condition.any(&mut asks));
        SessionEvents { time, ..SessionEvents::default() }
    }

    fn reads_history(&self) -> bool {
        let mut reads = |leaf: &Node| match &leaf.test {
            Test::Regex(_) => true,
            Test::Liquid(template) => template.names_messages(),
            Test::Broken(_) | Test::Group(..) => false,
        };
        self.body.conditions().iter().any(|condition| condition.any(&mut reads))
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tools.iter().cloned());
    }

    fn reads(&self, session: &Session, out: &mut Vec<Read>) {
        let called = session.calls.iter().any(|call| self.governs(&call.tool));
        let mut offered = session.offered.iter().flat_map(|from| from.tools.iter());
        // Without a list of tools every named one counts as offered.
        if !called && !session.offered.is_empty() && !offered.any(|tool| self.governs(&tool.name)) {
            return;
        }
        let facts = &session.facts;
        let mut look = |leaf: &Node| {
            match (&leaf.test, &leaf.kind) {
                (Test::Regex(_), ConditionKind::Regex { speaker, position, .. }) => {
                    out.push(Read::Message(*speaker, *position));
                }
                (Test::Liquid(template), _) => {
                    if template.names_messages() {
                        out.push(Read::Conversation);
                    }
                    let context = facts.context.as_ref().and_then(|context| context.as_object());
                    let names = facts.variables.as_ref().or(context);
                    let named = names.into_iter().flat_map(|names| names.keys());
                    let named = named.filter(|name| template.names(name));
                    out.extend(named.map(|name| Read::Variable(name.as_str().into())));
                }
                _ => {}
            }
            false
        };
        for condition in self.body.conditions() {
            condition.any(&mut look);
        }
    }

    fn enablers(&self, _call: Prospect<'_>, out: &mut Enablers) {
        if !self.reads_only_the_user() {
            out.unsure();
        }
    }

    fn statements(&self, out: &mut Vec<Statement>) {
        let says = match &self.body {
            Body::Broken(_) => {
                let tools = Arc::clone(&self.tools);
                Says::Never(Arc::new(move |name| tools.iter().any(|tool| **tool == *name)))
            }
            Body::Conditions(conditions) if conditions.is_empty() => Says::Nothing,
            Body::Conditions(_) => return,
        };
        let say = |rule: &RuleId| Statement { rule: *rule, when: Arc::default(), says: says.clone() };
        out.extend(self.rules.iter().map(say));
    }

    fn start(self: Arc<Self>, _facts: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(PlanMonitor::new(self))
    }

    fn remembers(&self) -> bool {
        true
    }

    fn sees_tree(&self) -> bool {
        false
    }

    fn refusal_texts(&self, _out: &mut Vec<(Arc<str>, RuleId)>) {}

    fn conditions(&self, _out: &mut Vec<crate::monitor::Condition>) {}

    fn probes(&self, _out: &mut Vec<crate::monitor::Probe>) {}

    fn resume(self: Arc<Self>, _saved: &str) -> Option<Box<dyn Monitor>> {
        None
    }
}
