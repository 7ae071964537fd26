//! Sessions of every kind in the native form, as JSON.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::generate::{Pools, TOOLS, parse, record, tool};

/// One response of the model, before it is written as messages.
#[derive(Debug, Clone)]
struct Turn {
    asked_before: bool,
    reset_before: bool,
    text: bool,
    calls: Vec<Call>,
    /// The calls from here on stand in a second message with the same `id`.
    split: Option<usize>,
    /// An `id` of the message even if nothing is split: `shared` makes neighbours one turn.
    id: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Call {
    tool: &'static str,
    arguments: Arguments,
    id: CallId,
    result: Option<Answer>,
}

#[derive(Debug, Clone)]
enum Arguments {
    Text(String),
    Object(Value),
}

#[derive(Debug, Clone)]
enum CallId {
    Own,
    Repeated,
    None,
}

#[derive(Debug, Clone)]
struct Answer {
    content: Value,
    failed: Option<bool>,
    refused: Option<bool>,
    /// How many responses later it stands.
    late: usize,
    /// Results of one place stand in the order of this number.
    order: u8,
}

/// What the session says of itself beside its messages.
#[derive(Debug, Clone)]
struct Heading {
    tools: Option<Vec<&'static str>>,
    openai_tools: bool,
    tools_at: Vec<(usize, Vec<&'static str>)>,
    results: Results,
    says_results: bool,
    orphan: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Results {
    Kept,
    /// No tool message at all, which means that results were not recorded.
    Absent,
    /// No tool message, though the session says that results are recorded.
    NoneYet,
}

pub fn session(pools: Pools) -> impl Strategy<Value = Value> {
    (vec(turn(pools), 1..9), heading()).prop_map(|(turns, heading)| write_session(&turns, &heading))
}

fn heading() -> BoxedStrategy<Heading> {
    let listed = || Just(TOOLS.to_vec()).prop_shuffle().prop_flat_map(|all| (Just(all), 3..=TOOLS.len()));
    let list = || listed().prop_map(|(all, length)| all[..length].to_vec());
    let results =
        prop_oneof![14 => Just(Results::Kept), 1 => Just(Results::Absent), 1 => Just(Results::NoneYet)];
    let changes = prop_oneof![4 => Just(Vec::new()), 1 => vec((1..4_usize, list()), 1..3)];
    let parts =
        (weighted(0.8, list()), any::<bool>(), changes, results, any::<bool>(), prop::bool::weighted(0.05));
    parts
        .prop_map(|(tools, openai_tools, gaps, results, says_results, orphan)| {
            let mut turn = 0;
            let gaps = if tools.is_some() { gaps } else { Vec::new() };
            let from = |(gap, tools)| {
                turn += gap;
                (turn, tools)
            };
            let tools_at = gaps.into_iter().map(from).collect();
            Heading { tools, openai_tools, tools_at, results, says_results, orphan }
        })
        .boxed()
}

fn turn(pools: Pools) -> BoxedStrategy<Turn> {
    let calls = prop_oneof![1 => Just(Vec::new()), 9 => vec(call(pools), 1..4)];
    let asked = prop::bool::weighted(0.3);
    let reset = prop::bool::weighted(0.03);
    let id = prop_oneof![8 => Just(None), 1 => Just(Some("own")), 1 => Just(Some("shared"))];
    let parts = (asked, reset, any::<bool>(), calls, weighted(0.12, 0..3_usize), id);
    parts
        .prop_map(|(asked_before, reset_before, text, calls, split, id)| Turn {
            asked_before,
            reset_before,
            text,
            calls,
            split,
            id,
        })
        .boxed()
}

fn call(pools: Pools) -> BoxedStrategy<Call> {
    let text = record(pools).prop_map(|record| Arguments::Text(record.to_string()));
    let broken = select(vec!["{'order_id': 'A'}", "", "order A", "[1]", "\"A\"", "null"]);
    let arguments = prop_oneof![
        15 => text,
        1 => record(pools).prop_map(Arguments::Object),
        1 => broken.prop_map(|text| Arguments::Text(text.to_owned())),
    ];
    let id = prop_oneof![7 => Just(CallId::Own), 1 => Just(CallId::Repeated), 1 => Just(CallId::None)];
    (tool(pools), arguments, id, weighted(0.93, answer(pools)))
        .prop_map(|(tool, arguments, id, result)| Call { tool, arguments, id, result })
        .boxed()
}

fn answer(pools: Pools) -> BoxedStrategy<Answer> {
    // Both marks in one answer are not rare: the refusal beats the failure.
    let marks = prop_oneof![
        20 => Just((None, None)),
        1 => Just((Some(false), Some(false))),
        2 => Just((Some(true), None)),
        1 => Just((None, Some(true))),
        1 => Just((Some(true), Some(true))),
    ];
    // A failure that comes late must be as frequent as one in time: what it leaves standing differs.
    let in_time = (marks.clone(), Just(0)).boxed();
    let late = (prop_oneof![2 => marks, 1 => Just((Some(true), None))], 1..3_usize).boxed();
    (content(pools), prop_oneof![4 => in_time, 1 => late], any::<u8>())
        .prop_map(|(content, ((failed, refused), late), order)| Answer {
            content,
            failed,
            refused,
            late,
            order,
        })
        .boxed()
}

fn content(pools: Pools) -> BoxedStrategy<Value> {
    let refusals = vec![
        "[permission denied: policy]",
        "Tool 'check' is not available in this context.",
        "Tool call rejected based on configured rejection plan",
        "Tool 'check' requires: lint, test",
        "File 'notes/a.md' must be read before overwriting.",
        "Denied by policy.",
    ];
    let nearly = vec![
        "plain words",
        "7",
        "null",
        "",
        "{broken",
        "he said [permission denied: policy]",
        "it was Denied by policy.",
    ];
    prop_oneof![
        16 => output(pools).prop_map(|output| json!(output.to_string())),
        2 => output(pools).prop_map(|output| as_parts(&output)),
        1 => output(pools),
        2 => Just(Value::Null),
        2 => select(nearly).prop_map(Value::from),
        1 => select(refusals).prop_map(Value::from),
    ]
    .boxed()
}

fn output(pools: Pools) -> impl Strategy<Value = Value> {
    let eligible = weighted(0.9, select(vec!["true", "true", "true", "false", r#""true""#, "null"]));
    let score =
        weighted(0.7, select(vec!["1", "1.0", "0", "0.49", "2", "9007199254740992", r#""1""#, "null"]));
    let checks = weighted(0.6, select(vec!["[true]", "[true, true]", "[true, false]", "[]"]));
    (record(pools), eligible, score, checks).prop_map(|(mut output, eligible, score, checks)| {
        for (key, text) in [("eligible", eligible), ("score", score), ("checks", checks)] {
            if let Some(text) = text {
                output[key] = parse(text);
            }
        }
        output
    })
}

/// The output as text parts, a line each: joined by line feeds it is the same JSON.
fn as_parts(output: &Value) -> Value {
    let text = serde_json::to_string_pretty(output).unwrap();
    text.lines().map(|line| json!({"type": "text", "text": line})).collect()
}

// ---- Writing the native form ------------------------------------------------------------------------------------

fn write_session(turns: &[Turn], heading: &Heading) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "please help"})];
    let mut pending: Vec<(usize, u8, Value)> = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        // Operations stand between turns: between two messages of one id it could be read as either.
        if turn.reset_before && turn.id != Some("shared") {
            messages.push(json!({"role": "policy", "op": "reset"}));
        }
        if turn.asked_before {
            messages.push(json!({"role": "user", "content": "go on"}));
        }
        write_turn(turn, number, &mut messages, &mut pending);
        if heading.results == Results::Kept {
            pending.sort_by_key(|(due, order, _)| (*due, *order));
            let due = pending.iter().take_while(|(due, ..)| *due <= number).count();
            messages.extend(pending.drain(..due).map(|(_, _, result)| result));
        }
    }
    if heading.results == Results::Kept {
        messages.extend(pending.into_iter().map(|(_, _, result)| result));
        if heading.orphan {
            messages
                .push(json!({"role": "tool", "tool_call_id": "nobody", "content": "{\"eligible\": true}"}));
        }
    }
    write_heading(heading, messages)
}

fn write_heading(heading: &Heading, messages: Vec<Value>) -> Value {
    let described = |names: &[&str]| -> Value {
        let tool = |name| {
            let plain = json!({"name": name, "description": "a tool", "parameters": {}});
            if heading.openai_tools { json!({"type": "function", "function": plain}) } else { plain }
        };
        names.iter().map(tool).collect()
    };
    let mut session = json!({"id": "generated"});
    if let Some(tools) = &heading.tools {
        session["tools"] = described(tools);
    }
    if !heading.tools_at.is_empty() {
        let changes =
            heading.tools_at.iter().map(|(turn, tools)| json!({"turn": turn, "tools": described(tools)}));
        session["tools_at"] = changes.collect();
    }
    if heading.results == Results::NoneYet {
        session["results"] = json!("recorded");
    } else if heading.says_results {
        let kept = messages.iter().any(|message| message["role"] == "tool");
        session["results"] = json!(if kept { "recorded" } else { "absent" });
    }
    session["messages"] = messages.into();
    session
}

fn write_turn(turn: &Turn, number: usize, messages: &mut Vec<Value>, pending: &mut Vec<(usize, u8, Value)>) {
    let split = turn.split.map(|at| at.min(turn.calls.len()));
    let id = match turn.id {
        Some("own") => Some(format!("message_{number}")),
        Some(shared) => Some(shared.to_owned()),
        None => split.map(|_| format!("message_{number}")),
    };
    let mut written = Vec::new();
    for (position, call) in turn.calls.iter().enumerate() {
        let call_id = match call.id {
            CallId::Own => Some(format!("call_{number}_{position}")),
            CallId::Repeated => Some("call".to_owned()),
            CallId::None => None,
        };
        written.push(write_call(call, call_id.as_deref()));
        if let Some(answer) = &call.result {
            pending.push((number + answer.late, answer.order, write_result(answer, call_id.as_deref())));
        }
    }
    let text = if turn.text || turn.calls.is_empty() { json!("let me see") } else { Value::Null };
    let (first, second) = written.split_at(split.unwrap_or(written.len()));
    messages.push(write_response(&text, first, id.as_deref()));
    if split.is_some() {
        messages.push(write_response(&Value::Null, second, id.as_deref()));
    }
}

fn write_response(text: &Value, calls: &[Value], id: Option<&str>) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn write_call(call: &Call, id: Option<&str>) -> Value {
    let arguments = match &call.arguments {
        Arguments::Text(text) => json!(text),
        Arguments::Object(object) => object.clone(),
    };
    let mut written = json!({"type": "function", "function": {"name": call.tool, "arguments": arguments}});
    if let Some(id) = id {
        written["id"] = json!(id);
    }
    written
}

fn write_result(answer: &Answer, id: Option<&str>) -> Value {
    let mut result = json!({"role": "tool", "content": answer.content});
    if let Some(id) = id {
        result["tool_call_id"] = json!(id);
    }
    if let Some(failed) = answer.failed {
        result["is_error"] = json!(failed);
    }
    if let Some(refused) = answer.refused {
        result["refused"] = json!(refused);
    }
    result
}
