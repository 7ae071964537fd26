//! Sequence rules evaluated the naive way: every question scans the whole trace, and whatever is not known of a call is
//! tried both ways. It shares no code with the engine, and it judges valid rules only.

use regex::Regex;
use serde_json::{Value, json};

use crate::naive::{Call, Mode, Outcome, Recording, list, read};

/// A call of the trace, and whether it is taken to have succeeded.
#[derive(Clone, Copy)]
struct Ran<'a> {
    call: &'a Call,
    ok: bool,
}

/// `{"calls": [[[rule, effect, code]]], "rules": [{outcome, code, position, calls, averted}]}`.
pub fn evaluate(document: &Value, session: &Value, mode: Mode) -> Value {
    let recording = read(session);
    let rules = list(&document["rules"]);
    let (mut stopped, mut averted) = (vec![false; recording.calls.len()], vec![0; rules.len()]);
    let mut calls = Vec::new();
    for call in &recording.calls {
        let before = trace(&recording, &stopped, mode, call.index);
        let mut said = Vec::new();
        // A deadline passes only with a call that runs; without any room it is the trigger's own fault.
        let stops = mode == Mode::Enforce
            && rules.iter().any(|rule| denied(document, rule, &recording, &before, call).is_some());
        for (number, rule) in rules.iter().enumerate() {
            let at_once = kind(rule) == "after" && rule["within"] == 0;
            if let Some(code) = denied(document, rule, &recording, &before, call) {
                said.push(json!([number, "deny", code]));
                stopped[call.index] = true;
                averted[number] += u32::from(mode == Mode::Enforce);
            } else if let Some(code) =
                deadline_passes(document, rule, &recording, &before, call).filter(|_| !stops || at_once)
            {
                said.push(json!([number, "report", code]));
            }
        }
        calls.push(Value::from(said));
    }
    let whole = trace(&recording, &stopped, mode, recording.calls.len());
    let end: Vec<Ran<'_>> =
        whole.iter().map(|call| Ran { call, ok: finally(&recording, call) == Outcome::Ok }).collect();
    let outcomes = rules.iter().zip(averted).map(|(rule, averted)| outcome(document, rule, &end, averted));
    json!({"calls": calls, "rules": outcomes.collect::<Vec<_>>()})
}

/// "hides a tool when one rule alone refuses it for every argument": whether the rule with this number denies a first
/// call of the turn with these arguments. `judged` is what [`evaluate`] says of the session.
#[expect(clippy::too_many_arguments, reason = "a question in full")]
pub fn denies_first(
    document: &Value,
    session: &Value,
    judged: &Value,
    mode: Mode,
    rule: usize,
    turn: usize,
    tool: &str,
    arguments: Value,
) -> bool {
    let recording = read(session);
    let denied = |said: &Value| list(said).iter().any(|finding| finding[1] == "deny");
    let stopped: Vec<bool> = list(&judged["calls"]).iter().map(denied).collect();
    let first = recording.calls.iter().filter(|call| call.turn < turn).count();
    let before = trace(&recording, &stopped, mode, first);
    let asked = Call {
        turn,
        index: first,
        id: None,
        tool: tool.to_owned(),
        arguments: Some(arguments),
        result: None,
    };
    self::denied(document, &document["rules"][rule], &recording, &before, &asked).is_some()
}

/// "The trace of a rule is the calls that ran, in order": those before this one.
fn trace<'a>(recording: &'a Recording, stopped: &[bool], mode: Mode, before: usize) -> Vec<&'a Call> {
    let ran = |call: &&Call| {
        call.index < before
            && finally(recording, call) != Outcome::Refused
            && (mode == Mode::Shadow || !stopped[call.index])
    };
    recording.calls.iter().filter(ran).collect()
}

fn finally(recording: &Recording, call: &Call) -> Outcome {
    match &call.result {
        _ if recording.results_absent => Outcome::Ok,
        Some(result) => result.outcome,
        None => Outcome::Unknown,
    }
}

/// What is known of an earlier call when another one is decided: results that stand before the next response count in
/// their own turn, others "from the turn after" the one they stand in.
fn known(recording: &Recording, earlier: &Call, call: &Call) -> Outcome {
    let from_turn = if earlier.turn == call.turn { call.turn + 1 } else { call.turn };
    let now = recording.turn_starts.get(from_turn - 1).copied().unwrap_or(usize::MAX);
    match &earlier.result {
        _ if recording.results_absent => Outcome::Ok,
        Some(result) if result.position < now => result.outcome,
        _ => Outcome::Unknown,
    }
}

/// "While a call is in flight or `unknown`, the gate denies if either outcome would make the rule false."
fn denied(
    document: &Value,
    rule: &Value,
    recording: &Recording,
    before: &[&Call],
    call: &Call,
) -> Option<&'static str> {
    let mut taken: Vec<Ran<'_>> = before
        .iter()
        .map(|earlier| Ran { call: earlier, ok: known(recording, earlier, call) == Outcome::Ok })
        .collect();
    let satisfies = |earlier: &Call| match kind(rule) {
        "before" | "immediately_before" => is(document, &rule["first"], earlier),
        "sequence" => list(&rule["tools"]).iter().any(|step| is(document, step, earlier)),
        _ => false,
    };
    let open: Vec<usize> = (0..before.len())
        .filter(|place| {
            known(recording, before[*place], call) == Outcome::Unknown && satisfies(before[*place])
        })
        .collect();
    // More than this many unknowns at once would take too long to try; the newest are tried.
    let open = &open[open.len().saturating_sub(12)..];
    for tried in 0..1_u32 << open.len() {
        for (bit, place) in open.iter().enumerate() {
            taken[*place].ok = tried >> bit & 1 == 1;
        }
        if let Some(code) = wrong(document, rule, &taken, call) {
            return Some(code);
        }
    }
    None
}

/// "As a gate each call is asked alone".
fn wrong(document: &Value, rule: &Value, before: &[Ran<'_>], call: &Call) -> Option<&'static str> {
    let is = |operand: &str, call: &Call| is_any(document, &rule[operand], call);
    let (code, wrong) = match kind(rule) {
        "before" => {
            let met = before.iter().any(|ran| ran.ok && is("first", ran.call)) || is("first", call);
            ("before_missing", is("then", call) && !met)
        }
        "immediately_before" => {
            let met = before.last().is_some_and(|ran| ran.ok && is("first", ran.call));
            ("not_adjacent", is("then", call) && !met)
        }
        "blocklist" => ("blocklisted", blocked(rule, call)),
        "allowlist" => ("not_allowlisted", !listed(&rule["tools"], call)),
        "max_calls" | "count" => {
            let earlier = before.iter().filter(|ran| is("tool", ran.call)).count() as u64;
            ("max_calls_over", is("tool", call) && earlier >= rule["max"].as_u64().unwrap())
        }
        "never_after" => {
            let triggered = before.iter().any(|ran| is("trigger", ran.call));
            ("after_trigger", is("forbidden", call) && triggered)
        }
        "sequence" => {
            let (done, _) = walk(document, rule, before);
            (sequence_code(rule), breaks(document, rule, done.len(), call))
        }
        _ => return None,
    };
    wrong.then_some(code)
}

/// "for a deadline also on the call at which it passed": the last call that could have been it and is not, or the one
/// after it, when it could and did not succeed.
fn deadline_passes(
    document: &Value,
    rule: &Value,
    recording: &Recording,
    before: &[&Call],
    call: &Call,
) -> Option<&'static str> {
    let ok = |place: usize| known(recording, before[place], call) == Outcome::Ok;
    let within = rule["within"].as_u64().unwrap_or(1) as usize;
    // A window of places of the trace, from 0, and the operand that it waits for.
    let passes = |from: usize, to: usize, operand: &str| {
        let met = (from..to.min(before.len()))
            .any(|place| ok(place) && is(document, &rule[operand], before[place]));
        let now = to == before.len() + 1 && !is(document, &rule[operand], call);
        let failed = to > from && to == before.len() && is(document, &rule[operand], before[to - 1]);
        !met && (now || failed)
    };
    match kind(rule) {
        // Nothing could meet it, which the first call there is shows.
        "eventually" if within == 0 => before.is_empty().then_some("deadline_missed"),
        "eventually" => passes(0, within, "tool").then_some("deadline_missed"),
        "after" if within == 0 => is(document, &rule["trigger"], call).then_some("follow_up_missing"),
        "after" => {
            let triggers = (0..before.len()).filter(|place| is(document, &rule["trigger"], before[*place]));
            let mut passed = triggers.filter(|place| passes(place + 1, place + 1 + within, "then"));
            passed.next().map(|_| "follow_up_missing")
        }
        _ => None,
    }
}

/// How a rule stands at the end: "satisfying positions need outcome `ok`; triggers, counts and forbidden positions take
/// any call that ran or may have".
fn outcome(document: &Value, rule: &Value, trace: &[Ran<'_>], averted: u32) -> Value {
    let all = |operand: &str| -> Vec<usize> {
        (0..trace.len()).filter(|place| is_any(document, &rule[operand], trace[*place].call)).collect()
    };
    let ok =
        |operand: &str| -> Vec<usize> { all(operand).into_iter().filter(|place| trace[*place].ok).collect() };
    let first_wrong = || {
        (0..trace.len())
            .find_map(|place| Some((place, wrong(document, rule, &trace[..place], trace[place].call)?)))
    };
    let hits = |wrong: &dyn Fn(&Call) -> bool| -> Vec<usize> {
        (0..trace.len()).filter(|place| wrong(trace[*place].call)).collect()
    };
    let within = rule["within"].as_u64().unwrap_or(1) as usize;
    // Exercised, and what is wrong: code, place, places read.
    type Wrong = Option<(&'static str, Option<usize>, Vec<usize>)>;
    let (exercised, violated): (bool, Wrong) = match kind(rule) {
        "require" => (true, ok("tool").is_empty().then(|| ("required_missing", None, Vec::new()))),
        "before" => {
            let wrong = first_wrong().map(|(place, _)| match ok("first").first() {
                Some(late) => ("before_late", Some(place), vec![*late, place]),
                None => ("before_missing", Some(place), vec![place]),
            });
            (!all("then").is_empty(), wrong)
        }
        "immediately_before" => {
            let read = |place: usize| (place.saturating_sub(1)..=place).collect();
            let wrong = first_wrong().map(|(place, code)| (code, Some(place), read(place)));
            (!all("then").is_empty(), wrong)
        }
        "blocklist" => {
            let hits = hits(&|call| blocked(rule, call));
            (true, hits.first().copied().map(|first| ("blocklisted", Some(first), hits)))
        }
        "allowlist" => {
            let hits = hits(&|call| !listed(&rule["tools"], call));
            (true, hits.first().copied().map(|first| ("not_allowlisted", Some(first), hits)))
        }
        "max_calls" | "count" => {
            let hits = all("tool");
            let over = hits.get(rule["max"].as_u64().unwrap() as usize).copied();
            (true, over.map(|over| ("max_calls_over", Some(over), hits)))
        }
        "never_after" => {
            let wrong =
                first_wrong().map(|(place, code)| (code, Some(place), vec![all("trigger")[0], place]));
            (!all("trigger").is_empty(), wrong)
        }
        "eventually" => match ok("tool").first() {
            Some(place) if *place < within => (true, None),
            Some(late) => (true, Some(("deadline_missed", Some(*late), vec![*late]))),
            None => (true, Some(("deadline_missed", None, (0..trace.len()).collect()))),
        },
        "after" => {
            let answer =
                |trigger: usize| ok("then").into_iter().find(|p| *p > trigger && *p <= trigger + within);
            let triggers = all("trigger");
            let unanswered = triggers.iter().copied().find(|trigger| answer(*trigger).is_none());
            let wrong = unanswered.map(|unanswered| {
                let ahead = triggers.iter().take_while(|trigger| **trigger < unanswered);
                let mut read: Vec<usize> =
                    triggers.iter().copied().chain(ahead.filter_map(|t| answer(*t))).collect();
                read.sort_unstable();
                read.dedup();
                ("follow_up_missing", Some(unanswered), read)
            });
            (!triggers.is_empty(), wrong)
        }
        "sequence" => {
            let (done, broken) = walk(document, rule, trace);
            let steps = list(&rule["tools"]).len();
            let wrong = match broken {
                Some((place, mut read)) => {
                    read.push(place);
                    Some((sequence_code(rule), Some(place), read))
                }
                None if !done.is_empty() && done.len() < steps => {
                    Some(("sequence_cut_short", None, done.clone()))
                }
                None => None,
            };
            (!done.is_empty(), wrong)
        }
        other => panic!("`{other}` is no type of this evaluator"),
    };
    let index = |place: usize| trace[place].call.index;
    let outcome = match (&violated, exercised || averted > 0) {
        (Some(_), _) => "violated",
        (None, true) => "held",
        (None, false) => "not_exercised",
    };
    let (code, position, read) = violated.map_or((None, None, Vec::new()), |(code, place, read)| {
        (Some(code), place.map(index), read.into_iter().map(index).collect())
    });
    json!({"outcome": outcome, "code": code, "position": position, "calls": read, "averted": averted})
}

/// The places of the steps done, and the first call at fault with the steps done by then. The walk "goes on past a
/// violating call".
fn walk(document: &Value, rule: &Value, trace: &[Ran<'_>]) -> (Vec<usize>, Option<(usize, Vec<usize>)>) {
    let (mut done, mut broken) = (Vec::new(), None);
    for (place, ran) in trace.iter().enumerate() {
        let wanted = rule["tools"].get(done.len()).is_some_and(|step| is(document, step, ran.call));
        if wanted && ran.ok {
            done.push(place);
        } else if breaks(document, rule, done.len(), ran.call) {
            broken = broken.or_else(|| Some((place, done.clone())));
        }
    }
    (done, broken)
}

/// Whether a call is at fault where this many steps are done.
fn breaks(document: &Value, rule: &Value, done: usize, call: &Call) -> bool {
    let steps = list(&rule["tools"]);
    let Some(wanted) = steps.get(done) else { return false };
    if is(document, wanted, call) {
        return false;
    }
    if rule["strict"] == true {
        done > 0
    } else {
        steps[done + 1..].iter().any(|step| is(document, step, call))
    }
}

fn sequence_code(rule: &Value) -> &'static str {
    if rule["strict"] == true { "sequence_interrupted" } else { "sequence_out_of_order" }
}

fn kind(rule: &Value) -> &str {
    rule["type"].as_str().unwrap()
}

fn blocked(rule: &Value, call: &Call) -> bool {
    rule["pattern"].as_str().is_some_and(|pattern| call.tool.contains(pattern))
        || listed(&rule["tools"], call)
}

/// "Globs know `*` and `?` over the whole name, nothing else."
fn listed(globs: &Value, call: &Call) -> bool {
    list(globs).iter().any(|glob| {
        let escaped = regex::escape(glob.as_str().unwrap());
        let pattern = escaped.replace("\\*", ".*").replace("\\?", ".");
        Regex::new(&format!("^(?s:{pattern})$")).unwrap().is_match(&call.tool)
    })
}

/// "`then` may be a list".
fn is_any(document: &Value, operands: &Value, call: &Call) -> bool {
    match operands.as_array() {
        Some(operands) => operands.iter().any(|operand| is(document, operand, call)),
        None => is(document, operands, call),
    }
}

/// "An alias name in a rule stands for its members only"; "all listed arguments must be present and each regex must be
/// found in the value"; "a regex that does not compile: no match".
fn is(document: &Value, operand: &Value, call: &Call) -> bool {
    let name = operand.as_str().or(operand["tool"].as_str()).unwrap();
    let named = match document["aliases"][name].as_array() {
        Some(members) => members.iter().any(|member| *member == call.tool),
        None => call.tool == name,
    };
    let given = call.arguments.as_ref().and_then(Value::as_object);
    let fits = |(argument, pattern): (&String, &Value)| {
        let Ok(pattern) = Regex::new(pattern.as_str().unwrap()) else { return false };
        given.and_then(|given| given.get(argument)).is_some_and(|value| match value {
            Value::String(text) => pattern.is_match(text),
            other => pattern.is_match(&other.to_string()),
        })
    };
    named && operand["args_match"].as_object().is_none_or(|patterns| patterns.iter().all(fits))
}
