//! The running state of a plan: its conditions on the history that a call has.
//!
//! The history knows each speaker's messages by number, so a pattern looks only at its one message.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::facts::{self, Cause, Condition, ConditionKind, Join, TargetMessage};
use super::plan::{Body, Node, Plan, Test};
use super::template::{self, Messages};
use crate::dialect::rejection_plans::codes;
use crate::monitor::history::Speaker;
use crate::monitor::{
    Cx, Depth, Digest, Effect, Event, Explain, Hidden, Monitor, ProposedCall, Sink, Slot, StateItem, Timers,
};
use rulestep_base::session::{Body as Content, Message, MessageKind, refusal};
use rulestep_template::js_regex::{self, JsRegex};

pub(super) struct PlanMonitor {
    plan: Arc<Plan>,
    /// The history as templates see it, built on first use. Locked, since threads may share a run that does not change.
    messages: Mutex<Messages>,
}

impl PlanMonitor {
    pub fn new(plan: Arc<Plan>) -> PlanMonitor {
        PlanMonitor { plan, messages: Mutex::default() }
    }

    fn look<'a>(&'a self, cx: &'a Cx<'a>, own: &'a [Message]) -> Look<'a> {
        let own = own.iter().filter(|message| message.content.said().is_some_and(|text| !text.is_empty()));
        Look { cx, own: own.collect(), messages: &self.messages }
    }

    /// The same for a call that is made.
    fn look_at_call<'a>(&'a self, cx: &'a Cx<'a>, counts: bool) -> Look<'a> {
        let mut look = self.look(cx, cx.response);
        if counts && look.own.is_empty() {
            look.own.push(&PENDING);
        }
        look
    }

    /// Whether the plan rejects, without looking at more conditions than it must.
    fn rejects(&self, look: &Look<'_>) -> bool {
        match &self.plan.body {
            Body::Broken(_) => true,
            Body::Conditions(conditions) => {
                !conditions.is_empty() && conditions.iter().all(|condition| look.holds(condition))
            }
        }
    }

    /// Every condition, with what it looked at.
    fn facts(&self, look: &Look<'_>) -> facts::Plan {
        let conditions: Vec<Condition> =
            self.plan.body.conditions().iter().map(|condition| look.tree(condition)).collect();
        let matched: Vec<bool> = conditions.iter().map(|condition| condition.value).collect();
        let unevaluable = match &self.plan.body {
            Body::Broken(cause) => Some(Cause::Text(Arc::clone(cause))),
            Body::Conditions(_) => None,
        };
        let all = !matched.is_empty() && matched.iter().all(|matched| *matched);
        let tree = Condition {
            kind: ConditionKind::Plan,
            pointer: Arc::clone(&self.plan.pointer),
            value: all || unevaluable.is_some(),
            unevaluable,
            conditions,
        };
        facts::Plan { matched, tree, counts: None }
    }

    /// Whether no condition can depend on what the model is about to say.
    fn settled(&self, cx: &Cx<'_>) -> bool {
        let mut depends = |leaf: &Node| match (&leaf.test, &leaf.kind) {
            (Test::Regex(_), ConditionKind::Regex { speaker, position, .. }) => {
                let stands =
                    usize::try_from(*position).is_ok_and(|number| number < cx.history.count(*speaker));
                *speaker != Speaker::User && !stands
            }
            (Test::Liquid(template), _) => template.names_messages(),
            _ => false,
        };
        !self.plan.body.conditions().iter().any(|condition| condition.any(&mut depends))
    }
}

impl Monitor for PlanMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(PlanMonitor {
            plan: Arc::clone(&self.plan),
            messages: Mutex::new(known(&self.messages).clone()),
        })
    }

    fn narrow(&self, _tool: &str, _slot: Slot, cx: &Cx<'_>, out: &mut Hidden<'_>) {
        if self.settled(cx) && self.rejects(&self.look(cx, &[])) {
            out.hide(0, codes::PLAN_MATCHED);
        }
    }

    fn decide(&self, _call: ProposedCall<'_>, cx: &Cx<'_>, out: &mut Sink<'_>) {
        let look = self.look_at_call(cx, self.plan.counts);
        let rejected = self.rejects(&look);
        let told = out.depth() >= Depth::Checks || rejected && out.depth() >= Depth::Findings;
        let facts: Option<Arc<dyn Explain>> = told.then(|| {
            // Under the other setting the call may get another answer.
            let other = || self.rejects(&self.look_at_call(cx, !self.plan.counts)) != rejected;
            let counts = (self.plan.counts_back() && other()).then_some(self.plan.counts);
            Arc::new(facts::Plan { counts, ..self.facts(&look) }) as _
        });
        if rejected {
            out.find(0, Effect::Deny, codes::PLAN_MATCHED, |finding| {
                finding.facts = facts.clone();
                finding.tell_llm = Some(refusal::BY_PLAN.into());
            });
        }
        out.check(0, !rejected, |check| {
            check.code = rejected.then_some(codes::PLAN_MATCHED);
            check.facts = facts;
        });
    }

    fn permanent_denial(
        &self,
        _call: ProposedCall<'_>,
        cx: &Cx<'_>,
        enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        (enforced(0) && self.plan.reads_only_the_user() && self.rejects(&self.look(cx, &[]))).then_some(0)
    }

    fn digest(&self, _calls: &[ProposedCall<'_>], _cx: &Cx<'_>, out: &mut Digest) {
        if !self.plan.reads_only_the_user() {
            out.unknown();
        }
    }

    fn observe(&mut self, _event: &Event<'_>, _cx: &Cx<'_>, _timers: &mut Timers<'_>) {}

    fn state(&self, _cx: &Cx<'_>, _out: &mut Vec<StateItem>) {}

    fn save(&self) -> Option<String> {
        None
    }

    fn report(
        &self,
        _end: crate::monitor::End,
        _cx: &Cx<'_>,
        _out: &mut Vec<crate::monitor::finding::RuleState>,
    ) {
    }
}

/// A call whose response has no text, as a message.
static PENDING: LazyLock<Message> = LazyLock::new(|| Message {
    role: "assistant".into(),
    content: Content::text(""),
    at: None,
    kind: MessageKind::Said,
    calls: Vec::new(),
    line: 0,
});

/// Messages are added whole, so what a rule that failed left here is sound.
fn known(messages: &Mutex<Messages>) -> MutexGuard<'_, Messages> {
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The history on which a call's conditions are evaluated.
struct Look<'a> {
    cx: &'a Cx<'a>,
    /// The messages of the turn's own response that have text.
    own: Vec<&'a Message>,
    messages: &'a Mutex<Messages>,
}

/// The result of a pattern.
struct Searched<'a> {
    /// The message that is at the target, and its place.
    at: Option<(usize, &'a Message)>,
    /// Whether the pattern is in it.
    found: bool,
    value: bool,
    cause: Option<Cause>,
}

impl<'a> Look<'a> {
    fn holds(&self, node: &Node) -> bool {
        match (&node.test, &node.kind) {
            (Test::Broken(_), _) => true,
            (Test::Group(Join::And, conditions), _) => {
                conditions.iter().all(|condition| self.holds(condition))
            }
            (Test::Group(Join::Or, conditions), _) => {
                conditions.iter().any(|condition| self.holds(condition))
            }
            (Test::Regex(regex), ConditionKind::Regex { negate, speaker, position, .. }) => {
                self.search(regex, *negate, *speaker, *position).value
            }
            (Test::Regex(_), _) => true,
            (Test::Liquid(template), _) => self.render(template).value,
        }
    }

    fn tree(&self, node: &Node) -> Condition {
        let mut made = Condition {
            kind: node.kind.clone(),
            pointer: Arc::clone(&node.pointer),
            value: true,
            unevaluable: None,
            conditions: Vec::new(),
        };
        match (&node.test, &mut made.kind) {
            (Test::Broken(cause), _) => made.unevaluable = Some(Cause::Text(Arc::clone(cause))),
            (Test::Group(join, conditions), _) => {
                made.conditions = conditions.iter().map(|condition| self.tree(condition)).collect();
                let mut values = made.conditions.iter().map(|condition| condition.value);
                made.value = match join {
                    Join::And => values.all(|value| value),
                    Join::Or => values.any(|value| value),
                };
            }
            (Test::Regex(regex), ConditionKind::Regex { negate, speaker, position, seen, .. }) => {
                let searched = self.search(regex, *negate, *speaker, *position);
                let found = searched.found.then_some(regex);
                *seen = searched.at.map(|(place, message)| self.seen(place, message, found));
                (made.value, made.unevaluable) = (searched.value, searched.cause);
            }
            (Test::Liquid(template), ConditionKind::Liquid { printed, .. }) => {
                let rendered = self.render(template);
                *printed = rendered.printed;
                (made.value, made.unevaluable) = (rendered.value, rendered.cause);
            }
            (Test::Regex(_) | Test::Liquid(_), _) => {}
        }
        made
    }

    fn search(&self, regex: &JsRegex, negate: bool, speaker: Speaker, position: i64) -> Searched<'a> {
        let at = self.target(speaker, position);
        let came = |found, value, cause| Searched { at, found, value, cause };
        let Some((_, message)) = at else { return came(false, negate, None) };
        let Some(text) = message.content.said() else { return came(false, true, Some(Cause::Content)) };
        match regex.is_match(text, js_regex::DEFAULT_BUDGET) {
            Ok(found) => came(found, found != negate, None),
            Err(over) => came(false, true, Some(Cause::Budget(over.budget))),
        }
    }

    /// The message at a position among a speaker's, and its place in the call's history.
    fn target(&self, speaker: Speaker, position: i64) -> Option<(usize, &'a Message)> {
        let history = self.cx.history;
        let before = history.count(speaker);
        let mut own = self.own.iter().enumerate().filter(|(_, message)| speaker.says(message));
        let number = match usize::try_from(position) {
            Ok(number) => number,
            Err(_) => {
                (before + own.clone().count()).checked_sub(usize::try_from(position.unsigned_abs()).ok()?)?
            }
        };
        if let Some(place) = history.place(speaker, number) {
            return Some((place, history.get(place)?));
        }
        let (place, message) = own.nth(number.checked_sub(before)?)?;
        Some((history.len() + place, message))
    }

    /// The message, and where the pattern matches in it, if it does.
    fn seen(&self, place: usize, message: &Message, regex: Option<&JsRegex>) -> TargetMessage {
        let found = message.content.said().and_then(|text| {
            let units = regex?.find(text, js_regex::DEFAULT_BUDGET).ok()??;
            Some(js_regex::byte_range(text, units))
        });
        TargetMessage {
            message: place,
            role: Arc::clone(&message.role),
            own: place >= self.cx.history.len(),
            content: message.content.clone(),
            found,
        }
    }

    fn render(&self, template: &rulestep_template::liquid::Template) -> template::Rendering {
        template::render(template, self.cx, &mut || known(self.messages).list(self.cx.history, &self.own))
    }
}
