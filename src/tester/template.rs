//! Liquid, tried on the history that a call has: a plan with that one condition, decided by the engine.

use serde_json::{Value, json};

use super::answer::{Answer, MOST, Part, State, Subject};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::decide_one;
use rulestep_template::liquid as engine;
use rulestep_template::liquid::Unevaluable;

pub fn liquid(expression: &str, subject: &Subject) -> Answer {
    if let Err(error) = engine::parse(expression) {
        let at = match &error {
            Unevaluable::Syntax { offset, .. }
            | Unevaluable::UnknownFilter { offset, .. }
            | Unevaluable::UnknownTag { offset, .. } => Some(*offset),
            _ => None,
        };
        return Answer::refused(format!("not a template: {error}"), at);
    }
    let refused = |why: &str| Answer::refused(why.to_owned(), None);
    let call = subject.call.and_then(|index| subject.session.calls.get(index as usize));
    let Some(call) = call else { return refused("no call comes after this, so no plan would be checked") };
    let document = json!({
        "type": "function",
        "function": {"name": &*call.tool},
        "rejectionPlan": {"conditions": [{"type": "liquid", "liquid": expression}]},
    });
    let text = document.to_string().into();
    let file = PolicyFile { name: "typed".into(), relative: "typed.json".into(), text, named: true };
    let loaded = Policy::load(&[file], None);
    let Some(policy) = &loaded.policy else { return refused("no plan can hold this template") };
    let said = loaded.diagnostics.iter().map(|problem| Part::new("", &problem.message));
    let mut parts: Vec<Part> = said.collect();
    let data = decide_one(&subject.session, policy, call.at.index)
        .and_then(|decision| Some(decision.checks.first()?.facts.as_ref()?.data()))
        .unwrap_or_default();
    let Some(condition) = data.get("tree").and_then(|tree| tree.get("conditions")?.get(0)) else {
        return refused("the template could not be evaluated");
    };
    let printed = condition.get("text").and_then(Value::as_str).unwrap_or_default();
    let lines = (1..).zip(printed.lines()).take(MOST);
    parts.extend(lines.map(|(number, line): (u32, _)| Part::new(number.to_string(), line)));
    let (state, sentence) = match (condition.get("unevaluable").and_then(Value::as_str), printed) {
        (Some(cause), _) => (State::Unsure, format!("counts as a match: {cause}")),
        (None, "false") => (State::NoMatch, "prints `false`: the condition does not match".to_owned()),
        (None, _) => (State::Match, "prints `true`: the condition matches".to_owned()),
    };
    Answer::new(state, sentence, parts)
}
