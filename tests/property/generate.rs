//! Pairs of contracts and a session, drawn from pools so small that tools, values and paths meet all the time.
//!
//! A strategy here is a plain structure first (few fields, the simplest alternative first), written as JSON last, so
//! that what proptest shrinks is the number of turns and calls and not the text. The bigger parts are boxed: their
//! trees would otherwise lie on the stack of a test thread, inside each other.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub const TOOLS: [&str; 6] = ["check", "lookup", "refund", "void", "notify", "escalate"];

/// Singular paths into what [`record`] writes.
const PATHS: [&str; 5] = ["$.order_id", "$.ref.id", "$.items[0].id", "$['weird key']", "$.items[-1].id"];

const CHECKS: &str = "$.checks[*]";

/// Values that collide: within a family some are equal in other spellings, some only look equal.
const FAMILIES: [&[&str]; 5] = [
    &[r#""A""#, r#""B""#, r#""a""#],
    &["1", "1.0", "1e0", r#""1""#, "10e-1", "true"],
    &["9007199254740993", "9007199254740992", "9007199254740993.0", "9.007199254740993e15"],
    &[
        r#"{"k": 1, "l": [2]}"#,
        r#"{"l": [2.0], "k": 1}"#,
        r#"{"k": 1}"#,
        "[1, null]",
        "[1.0, null]",
        "[null, 1]",
    ],
    &["null", "0", "-0.0", "false", r#""""#, "0.1", "1e-1"],
];

/// What one pair draws from.
#[derive(Debug, Clone, Copy)]
pub struct Pools {
    tools: &'static [&'static str],
    values: &'static [&'static str],
}

/// The pools of arguments that no pair suggested.
pub const ANY_POOLS: Pools = Pools { tools: &TOOLS, values: FAMILIES[0] };

#[derive(Debug, Clone)]
pub struct Pair {
    pub contracts: Vec<Value>,
    pub session: Value,
}

pub fn pairs() -> impl Strategy<Value = Pair> {
    pools()
        .prop_flat_map(|pools| (contracts(pools), session(pools)))
        .prop_map(|(contracts, session)| Pair { contracts, session })
}

fn pools() -> impl Strategy<Value = Pools> {
    let used = prop_oneof![8 => 2..=4_usize, 3 => 5..=6_usize, 1 => Just(1)];
    let family = prop_oneof![4 => Just(FAMILIES[0]), 5 => select(&FAMILIES[..])];
    (used, family).prop_map(|(used, values)| Pools { tools: &TOOLS[..used], values })
}

/// Arguments with this value at one of the paths and nothing at the others; for the narrowing properties.
pub fn arguments_with(path: &str, value: &Value) -> Value {
    match path {
        "$.order_id" => json!({"order_id": value}),
        "$.ref.id" => json!({"ref": {"id": value}}),
        "$['weird key']" => json!({"weird key": value}),
        "$.items[0].id" | "$.items[-1].id" => json!({"items": [{"id": value}]}),
        other => panic!("`{other}` is not a path of this generator"),
    }
}

/// The arguments or the output of a call, as a JSON object.
pub fn record(pools: Pools) -> BoxedStrategy<Value> {
    let fields = (
        weighted(0.9, value(pools)),
        weighted(0.5, value(pools)),
        vec(value(pools), 0..3),
        weighted(0.3, value(pools)),
    );
    fields
        .prop_map(|(order, reference, items, weird)| {
            let mut record = Map::new();
            record.extend(order.map(|id| ("order_id".to_owned(), id)));
            record.extend(reference.map(|id| ("ref".to_owned(), json!({"id": id}))));
            if !items.is_empty() {
                let items: Vec<Value> = items.iter().map(|id| json!({"id": id})).collect();
                record.insert("items".to_owned(), items.into());
            }
            record.extend(weird.map(|id| ("weird key".to_owned(), id)));
            Value::Object(record)
        })
        .boxed()
}

fn value(pools: Pools) -> BoxedStrategy<Value> {
    let foreign = select(FAMILIES.concat());
    prop_oneof![6 => Just(pools.values[0]), 6 => select(pools.values), 1 => foreign].prop_map(parse).boxed()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The first tool is what others mostly ask for: without such a favourite nearly every call lacks its prior tool.
fn tool(pools: Pools) -> impl Strategy<Value = &'static str> {
    prop_oneof![9 => Just(TOOLS[0]), 12 => select(pools.tools), 1 => select(&TOOLS[..])]
}

// ---- Contracts --------------------------------------------------------------------------------------------------

fn contracts(pools: Pools) -> impl Strategy<Value = Vec<Value>> {
    let one = |often, preconditions| {
        let forbids = weighted(0.3, vec(select(pools.tools), 0..3));
        weighted(often, (vec(precondition(pools), preconditions), forbids))
    };
    (one(0.3, 0..2), vec(one(0.8, 1..3), pools.tools.len() - 1)).prop_map(|(first, others)| {
        let drawn = std::iter::once(first).chain(others);
        let written = drawn.zip(TOOLS).filter_map(|(contract, tool)| Some((contract?, tool)));
        written.map(|((preconditions, forbids), tool)| contract(tool, preconditions, forbids)).collect()
    })
}

fn contract(tool: &str, preconditions: Vec<Value>, forbids: Option<Vec<&str>>) -> Value {
    let mut contract = json!({"tool": tool});
    if !preconditions.is_empty() {
        contract["preconditions"] = preconditions.into();
    }
    if let Some(mut forbids) = forbids {
        forbids.sort_unstable();
        forbids.dedup();
        contract["forbids_after"] = json!(forbids);
    }
    contract
}

fn precondition(pools: Pools) -> BoxedStrategy<Value> {
    let steps = select(vec!["1", "0", "2", "1.0", "1.5", "3"])
        .prop_map(|bound| json!({"requires_step_count": {"gte": parse(bound)}}));
    prop_oneof![1 => steps.clone(), 8 => prior(pools), 1 => (prior(pools), steps).prop_map(|(mut both, steps)| {
        both["requires_step_count"] = steps["requires_step_count"].clone();
        both
    })]
    .boxed()
}

fn prior(pools: Pools) -> BoxedStrategy<Value> {
    let reading = weighted(0.3, select(vec!["newest", "any"]));
    let described = weighted(0.1, Just("why it must be so"));
    let output = prop_oneof![4 => vec(entry(pools), 1), 1 => vec(entry(pools), 0..3)];
    let wanted = prop_oneof![3 => Just(TOOLS[0]), 2 => tool(pools)];
    let parts = (wanted, weighted(0.55, resource()), weighted(0.5, output), reading, described);
    parts
        .prop_map(|(tool, resource, output, reading, description)| {
            let mut precondition = json!({"requires_prior_tool": tool});
            let optional = [
                ("resource", resource),
                ("with_output", output.map(Value::from)),
                ("match", reading.map(Value::from)),
                ("description", description.map(Value::from)),
            ];
            for (key, value) in optional {
                if let Some(value) = value {
                    precondition[key] = value;
                }
            }
            precondition
        })
        .boxed()
}

fn resource() -> BoxedStrategy<Value> {
    let elsewhere = (select(vec!["arguments", "output"]), path())
        .prop_map(|(from, path)| json!({"bind_from": from, "path": path}));
    (path(), weighted(0.25, elsewhere))
        .prop_map(|(path, prior)| {
            let mut resource = json!({"bind_from": "arguments", "path": path});
            if let Some(prior) = prior {
                resource["prior"] = prior;
            }
            resource
        })
        .boxed()
}

fn path() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just(PATHS[0]), 2 => select(&PATHS[..])]
}

/// One entry of `with_output`: a path alone, or every combination of operators.
fn entry(pools: Pools) -> BoxedStrategy<Value> {
    let number = || select(vec!["0", "0.5", "1", "1.0", "1e0", "9007199254740993"]).prop_map(parse);
    let checks =
        (select(vec![CHECKS, CHECKS, "$.checks"]), select(vec!["true", "true", "[true]", "[true, false]"]));
    prop_oneof![
        7 => Just(json!({"path": "$.eligible", "equals": true})),
        1 => Just(json!({"path": "$.eligible", "equals": "true"})),
        2 => number().prop_map(|low| json!({"path": "$.score", "gte": low})),
        1 => number().prop_map(|high| json!({"path": "$.score", "lte": high})),
        1 => (number(), number()).prop_map(|(low, high)| json!({"path": "$.score", "gte": low, "lte": high})),
        3 => checks.prop_map(|(path, wanted)| json!({"path": path, "equals": parse(wanted)})),
        1 => (path(), value(pools)).prop_map(|(path, wanted)| json!({"path": path, "equals": wanted})),
        1 => select(vec!["$.score", "$.eligible", CHECKS, "$.absent", "$"]).prop_map(|path| json!({"path": path})),
        1 => (select(vec!["$.score", "$.eligible", CHECKS, "$.absent"]), any::<bool>(), weighted(0.3, number()))
            .prop_map(|(path, exists, high)| match high {
                Some(high) => json!({"path": path, "exists": exists, "lte": high}),
                None => json!({"path": path, "exists": exists}),
            }),
        1 => Just(json!({"path": "$", "equals": "plain words"})),
    ].boxed()
}

// ---- Sessions ---------------------------------------------------------------------------------------------------

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

fn session(pools: Pools) -> impl Strategy<Value = Value> {
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
    let late = prop_oneof![8 => Just(0), 1 => Just(1), 1 => Just(2_usize)];
    (content(pools), marks, late, any::<u8>())
        .prop_map(|(content, (failed, refused), late, order)| Answer {
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
    ];
    let nearly = vec!["plain words", "7", "null", "", "{broken", "he said [permission denied: policy]"];
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
        if turn.reset_before {
            messages.push(json!({"role": "toolgate", "op": "reset"}));
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
        if turn.reset_before {
            messages.push(json!({"role": "toolgate", "op": "reset"}));
        }
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
