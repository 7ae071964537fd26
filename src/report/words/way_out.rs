//! The way out of a stopped call in one sentence, and its steps one by one.

use serde_json::{Value, json};

use super::{Sentence, count, line, list};
use rulestep_base::session::edit::AddedCall;
use rulestep_base::session::{Body, Outcome, Results};
use rulestep_base::wording::sentence::{field, name, value};
use rulestep_engine::monitor::{RuleId, rule_name};
use rulestep_engine::replay::Replay;
use rulestep_engine::way_out::{Answer, ArgumentChange, Obstacle, Step, WayOut};

/// The way out in one sentence.
pub fn sentence(way: &WayOut, replay: &Replay) -> Sentence {
    let mut said = match &way.answer {
        Answer::After(steps) if steps.is_empty() => {
            "Allowed in a turn of its own, once the calls before it have their results.".to_owned()
        }
        Answer::After(steps) => format!("Allowed after {}.", list(worded(steps, replay))),
        Answer::Said(rules) => depends(rules, way, replay),
        Answer::Never(obstacle) => never(obstacle, way, replay),
        Answer::NotWithin(0) => "No way out was found; longer ones may exist.".to_owned(),
        Answer::NotWithin(most) => {
            let most = count(u64::from(*most), "call");
            format!("No way out was found with up to {most}; a longer one may exist.")
        }
    };
    if let Some(ArgumentChange { path, value: other, .. }) = &way.change {
        said += &format!(" With {} = {} it is allowed.", field(path), value(other));
    }
    if !way.not_offered.is_empty() {
        let tools = list(way.not_offered.iter().map(|tool| format!("`{}`", name(tool))));
        let were = if way.not_offered.len() == 1 { "was" } else { "were" };
        said += &format!(" {tools} {were} not offered to the model.");
    }
    Sentence::new(said)
}

/// Each step of the way out, with the places of the rules that ask for it.
pub fn steps(way: &WayOut, replay: &Replay) -> Vec<(Sentence, Vec<String>)> {
    let Answer::After(steps) = &way.answer else { return Vec::new() };
    let rules = |step: &Step| places(&step.rules, replay);
    let said = steps.iter().map(|step| match &step.call {
        Some(call) => (Sentence::new(called(call, step.any, replay)), rules(step)),
        None => (Sentence::new("1 more turn"), rules(step)),
    });
    said.collect()
}

/// The way out as data.
pub fn data(way: &WayOut, replay: &Replay) -> Value {
    let place = |rule: &RuleId| {
        let rule = replay.policy().rules().get(*rule)?;
        Some(json!({"rule": rule.id, "rule_name": rule_name(rule), "place": rule.place()}))
    };
    let places = |rules: &[RuleId]| rules.iter().filter_map(place).collect::<Vec<_>>();
    let step = |step: &Step| {
        let call = step.call.as_ref().map(|call| {
            json!({
                "tool": call.tool, "arguments": call.arguments.value(), "outcome": call.outcome,
                "content": call.content.value(), "any_other_tool": step.any,
            })
        });
        json!({"call": call, "rules": places(&step.rules)})
    };
    let (answer, rules, steps) = match &way.answer {
        Answer::After(steps) => ("after", Vec::new(), steps.as_slice()),
        Answer::Said(rules) => ("said", places(rules), [].as_slice()),
        Answer::Never(obstacle) => ("never", places(&[obstacle.rule]), [].as_slice()),
        Answer::NotWithin(_) => ("not_found", Vec::new(), [].as_slice()),
    };
    let change = way.change.as_ref().map(|change| json!({"path": change.path, "value": change.value}));
    json!({
        "answer": answer, "sentence": sentence(way, replay).whole(), "change": change, "rules": rules,
        "steps": steps.iter().map(step).collect::<Vec<_>>(), "not_offered": way.not_offered,
    })
}

fn places(rules: &[RuleId], replay: &Replay) -> Vec<String> {
    let rule = |rule: &RuleId| Some(replay.policy().rules().get(*rule)?.place());
    rules.iter().filter_map(rule).collect()
}

/// The steps as parts of one sentence; turns without calls that follow each other are counted.
fn worded(steps: &[Step], replay: &Replay) -> Vec<String> {
    let (mut parts, mut turns) = (Vec::new(), 0u64);
    let more = |turns: &mut u64, parts: &mut Vec<String>| {
        if *turns > 0 {
            parts.push(count(std::mem::take(turns), "more turn"));
        }
    };
    for step in steps {
        match &step.call {
            None => turns += 1,
            Some(call) => {
                more(&mut turns, &mut parts);
                parts.push(called(call, step.any, replay));
            }
        }
    }
    more(&mut turns, &mut parts);
    let last = parts.len().saturating_sub(1);
    if last > 0
        && let Some(part) = parts.last_mut()
    {
        part.insert_str(0, "then ");
    }
    parts
}

/// `check_eligibility` with order_id = 7 returns eligible = true.
fn called(call: &AddedCall, any: bool, replay: &Replay) -> String {
    let tool = name(&call.tool);
    let with = match assignments(&call.arguments) {
        with if with.is_empty() => String::new(),
        with => format!(" with {}", list(with)),
    };
    if any {
        let failed = if call.outcome == Outcome::Ok { "" } else { " that fails" };
        let known = replay.policy().names().contains(&call.tool)
            || replay.session().calls.iter().any(|earlier| earlier.tool == call.tool);
        let example = if known { format!(", for example `{tool}`") } else { String::new() };
        return format!("a call to another tool{failed}{example}");
    }
    match (call.outcome, assignments(&call.content)) {
        (Outcome::Ok, result) if result.is_empty() => format!("`{tool}`{with} succeeds"),
        (Outcome::Ok, result) => format!("`{tool}`{with} returns {}", list(result)),
        _ => format!("`{tool}`{with} fails"),
    }
}

/// Each value of a body with its path: `order_id = 7`.
fn assignments(body: &Body) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(parsed) = body.value() {
        assign("", parsed, &mut out);
    }
    out
}

fn assign(path: &str, at: &Value, out: &mut Vec<String>) {
    match at {
        Value::Object(members) => members.iter().for_each(|(key, inner)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            assign(&path, inner, out);
        }),
        Value::Array(items) => {
            let items = items.iter().enumerate().filter(|(_, item)| !item.is_null());
            items.for_each(|(place, item)| assign(&format!("{path}[{place}]"), item, out));
        }
        leaf if path.is_empty() => out.push(value(leaf)),
        leaf => out.push(format!("{} = {}", name(path), value(leaf))),
    }
}

/// What would have to be different, whatever is called.
fn depends(rules: &[RuleId], way: &WayOut, replay: &Replay) -> String {
    let decided = replay.call(way.call.index);
    let findings = decided.into_iter().flat_map(|decided| &decided.decision.findings);
    let conditions = findings.filter(|finding| rules.contains(&finding.rule)).filter_map(|finding| {
        let explained = finding.explain(replay.policy().rules(), replay.session())?;
        Some(format!("{} ({})", explained.way_out?.whole(), explained.rule.place()))
    });
    format!("No call changes this: {}.", list(conditions))
}

fn never(obstacle: &Obstacle, way: &WayOut, replay: &Replay) -> String {
    let (rules, session) = (replay.policy().rules(), replay.session());
    let place = rules.get(obstacle.rule).map(|rule| rule.place()).unwrap_or_default();
    let stopped = session.calls.get(way.call.index as usize).map(|call| &call.tool);
    if stopped != Some(&obstacle.tool) {
        let rule = rules.get(obstacle.rule).map(rule_name).unwrap_or_default();
        let tool = name(&obstacle.tool);
        return format!(
            "No sequence of calls allows this: it needs `{tool}`, which is stopped itself by {rule} ({place})."
        );
    }
    let decided = replay.call(way.call.index);
    let finding = decided.and_then(|decided| {
        decided
            .decision
            .findings
            .iter()
            .find(|finding| finding.rule == obstacle.rule)?
            .explain(rules, session)
    });
    let headline = finding.as_ref().map(|finding| finding.headline.whole()).unwrap_or_default();
    let headline = line(&headline);
    match (obstacle.lasting, session.facts.results) {
        (true, _) => format!("No sequence of calls allows this: {headline} ({place})."),
        (false, Results::Recorded) => format!(
            "No sequence of calls allows this: {headline}, and every call that could change that is stopped itself ({place})."
        ),
        // A what-if cannot show it; in a run it may well help.
        (false, Results::Absent) => {
            let live = finding.and_then(|finding| finding.way_out);
            let live =
                live.map(|way| format!(" In a run that has results: {}.", way.whole())).unwrap_or_default();
            format!(
                "This recording keeps no results, so no call that is added to it helps: {headline} ({place}).{live}"
            )
        }
    }
}
