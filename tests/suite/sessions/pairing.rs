//! Which call a span of a tool is: the same story of two responses before their tools run, in every format of spans.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Map, Value, json};

use super::{opened, told};

/// One span of the story.
#[derive(Clone, Debug)]
enum Step {
    /// A response that proposes checks of these orders; the id of a call is `c` and its order.
    Asks(Vec<u32>),
    /// A tool ran: the id of its call, its arguments, and what it gave back.
    Runs { id: Option<u32>, given: Option<Value>, gave: String },
}

use Step::{Asks, Runs};

fn asks(orders: &[u32]) -> Step {
    Asks(orders.to_vec())
}

/// A tool that checked an order.
fn runs(order: u32) -> Step {
    Runs { id: None, given: Some(json!({"order": order})), gave: format!("gave {order}") }
}

/// The same, where the span names its call.
fn named(order: u32) -> Step {
    Runs { id: Some(order), given: None, gave: format!("gave {order}") }
}

/// The same, where it only says that a check ran.
fn bare(gave: u32) -> Step {
    Runs { id: None, given: None, gave: format!("gave {gave}") }
}

fn given(given: Value, gave: u32) -> Step {
    Runs { id: None, given: Some(given), gave: format!("gave {gave}") }
}

/// The message of a response in the chat form.
fn message(orders: &[u32]) -> Value {
    let call = |order: &u32| {
        json!({"id": format!("c{order}"), "type": "function",
            "function": {"name": "check", "arguments": json!({"order": order}).to_string()}})
    };
    json!({"role": "assistant", "content": null, "tool_calls": orders.iter().map(call).collect::<Vec<_>>()})
}

type Write = fn(&[Step]) -> String;

const FORMATS: [(&str, Write); 8] = [
    ("gen_ai", |steps| otel(steps, gen_ai)),
    ("openinference", |steps| otel(steps, openinference)),
    ("openllmetry", |steps| otel(steps, openllmetry)),
    ("vercel", |steps| otel(steps, vercel)),
    ("jaeger", jaeger),
    ("langfuse", langfuse),
    ("langsmith", langsmith),
    ("openai agents", openai_agents),
];

fn with(mut object: Value, more: &[(&str, Option<Value>)]) -> Value {
    for (key, value) in more {
        if let Some(value) = value {
            object[*key] = value.clone();
        }
    }
    object
}

/// The id of a call, where a span has one.
fn call_id(id: Option<u32>) -> Option<Value> {
    id.map(|id| json!(format!("c{id}")))
}

fn text(value: &Option<Value>) -> Option<Value> {
    value.as_ref().map(|value| json!(value.to_string()))
}

fn gen_ai(step: &Step) -> Value {
    match step {
        Asks(orders) => {
            let part = |order: &u32| json!({"type": "tool_call", "id": format!("c{order}"), "name": "check", "arguments": {"order": order}});
            let parts: Vec<_> = orders.iter().map(part).collect();
            let messages = json!([{"role": "assistant", "parts": parts}]);
            json!({"gen_ai.operation.name": "chat", "gen_ai.output.messages": messages.to_string()})
        }
        Runs { id, given, gave } => with(
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "check", "gen_ai.tool.call.result": gave}),
            &[("gen_ai.tool.call.id", call_id(*id)), ("gen_ai.tool.call.arguments", text(given))],
        ),
    }
}

fn openinference(step: &Step) -> Value {
    match step {
        Asks(orders) => {
            let mut all = Map::new();
            all.insert("openinference.span.kind".to_owned(), json!("LLM"));
            for (n, order) in orders.iter().enumerate() {
                let call = format!("llm.output_messages.0.message.tool_calls.{n}.tool_call");
                all.insert("llm.output_messages.0.message.role".to_owned(), json!("assistant"));
                all.insert(format!("{call}.id"), json!(format!("c{order}")));
                all.insert(format!("{call}.function.name"), json!("check"));
                all.insert(format!("{call}.function.arguments"), json!(json!({"order": order}).to_string()));
            }
            Value::Object(all)
        }
        Runs { id, given, gave } => with(
            json!({"openinference.span.kind": "TOOL", "tool.name": "check", "output.value": gave}),
            &[("tool_call.id", call_id(*id)), ("input.value", text(given))],
        ),
    }
}

fn openllmetry(step: &Step) -> Value {
    match step {
        Asks(orders) => {
            let mut all = Map::new();
            all.insert("llm.request.type".to_owned(), json!("chat"));
            all.insert("gen_ai.completion.0.role".to_owned(), json!("assistant"));
            for (n, order) in orders.iter().enumerate() {
                let call = format!("gen_ai.completion.0.tool_calls.{n}");
                all.insert(format!("{call}.id"), json!(format!("c{order}")));
                all.insert(format!("{call}.name"), json!("check"));
                all.insert(format!("{call}.arguments"), json!(json!({"order": order}).to_string()));
            }
            Value::Object(all)
        }
        Runs { id, given, gave } => {
            let wrapped = given.as_ref().map(|given| json!({"args": [], "kwargs": given}));
            with(
                json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "check",
                    "traceloop.entity.output": json!({"output": gave, "kwargs": {}}).to_string()}),
                &[("gen_ai.tool.call.id", call_id(*id)), ("traceloop.entity.input", text(&wrapped))],
            )
        }
    }
}

fn vercel(step: &Step) -> Value {
    match step {
        Asks(orders) => {
            let call = |order: &u32| json!({"toolCallId": format!("c{order}"), "toolName": "check", "input": {"order": order}});
            let calls: Vec<_> = orders.iter().map(call).collect();
            json!({"gen_ai.system": "openai", "gen_ai.request.model": "m", "ai.response.toolCalls": json!(calls).to_string()})
        }
        Runs { id, given, gave } => with(
            json!({"ai.toolCall.name": "check", "ai.toolCall.result": gave}),
            &[("ai.toolCall.id", call_id(*id)), ("ai.toolCall.args", text(given))],
        ),
    }
}

fn nanoseconds(at: usize) -> String {
    (1_777_888_800_000_000_000 + at * 1_000_000_000).to_string()
}

fn otel(steps: &[Step], attributes: fn(&Step) -> Value) -> String {
    let span = |(at, step): (usize, &Step)| {
        let attributes = attributes(step);
        let attributes = attributes.as_object().unwrap().iter();
        let attributes: Vec<_> =
            attributes.map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
        json!({"traceId": "t", "spanId": format!("{at}"), "parentSpanId": "", "name": "span", "attributes": attributes,
            "startTimeUnixNano": nanoseconds(at), "endTimeUnixNano": nanoseconds(at + 1)})
    };
    let spans: Vec<_> = steps.iter().enumerate().map(span).collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

fn jaeger(steps: &[Step]) -> String {
    let span = |(at, step): (usize, &Step)| {
        let attributes = gen_ai(step);
        let attributes = attributes.as_object().unwrap().iter();
        let tags: Vec<_> =
            attributes.map(|(key, value)| json!({"key": key, "type": "string", "value": value})).collect();
        json!({"traceID": "t", "spanID": format!("{at}"), "operationName": "span", "references": [], "logs": [], "tags": tags,
            "startTime": 1_777_888_800_000_000usize + at * 1_000_000, "duration": 1_000_000, "processID": "p"})
    };
    let spans: Vec<_> = steps.iter().enumerate().map(span).collect();
    json!({"data": [{"traceID": "t", "spans": spans, "processes": {"p": {"serviceName": "desk"}}}]})
        .to_string()
}

fn time(at: usize) -> String {
    format!("2026-05-04T10:{:02}:{:02}.000Z", at / 60, at % 60)
}

fn langfuse(steps: &[Step]) -> String {
    let observation = |(at, step): (usize, &Step)| {
        let common =
            json!({"id": format!("o{at}"), "traceId": "t", "startTime": time(at), "endTime": time(at + 1)});
        match step {
            Asks(orders) => with(
                common,
                &[
                    ("type", Some(json!("GENERATION"))),
                    ("name", Some(json!("m"))),
                    ("output", Some(message(orders))),
                ],
            ),
            Runs { id, given, gave } => with(
                common,
                &[
                    ("type", Some(json!("TOOL"))),
                    ("name", Some(json!("check"))),
                    ("input", given.clone()),
                    ("output", Some(json!(gave))),
                    ("metadata", call_id(*id).map(|id| json!({"tool_call_id": id}))),
                ],
            ),
        }
    };
    let observations: Vec<_> = steps.iter().enumerate().map(observation).collect();
    json!({"id": "t", "projectId": "p", "timestamp": time(0), "name": "agent", "observations": observations})
        .to_string()
}

fn langsmith(steps: &[Step]) -> String {
    let run = |(at, step): (usize, &Step)| {
        let common = json!({"id": format!("r{at}"), "trace_id": "t", "parent_run_id": "t", "start_time": time(at), "end_time": time(at + 1)});
        match step {
            Asks(orders) => with(
                common,
                &[
                    ("run_type", Some(json!("llm"))),
                    ("name", Some(json!("m"))),
                    ("inputs", Some(json!({"messages": [{"role": "user", "content": "Look"}]}))),
                    ("outputs", Some(json!({"choices": [{"message": message(orders)}]}))),
                ],
            ),
            Runs { id, given, gave } => with(
                common,
                &[
                    ("run_type", Some(json!("tool"))),
                    ("name", Some(json!("check"))),
                    ("inputs", given.clone()),
                    ("outputs", Some(json!({"output": gave}))),
                    ("extra", call_id(*id).map(|id| json!({"tool_call_id": id}))),
                ],
            ),
        }
    };
    let root = json!({"id": "t", "name": "agent", "run_type": "chain", "trace_id": "t", "parent_run_id": null,
        "start_time": time(0), "end_time": time(600), "inputs": {}, "outputs": {}});
    let runs = std::iter::once(root).chain(steps.iter().enumerate().map(run));
    runs.map(|run| format!("{run}\n")).collect()
}

fn openai_agents(steps: &[Step]) -> String {
    let span = |(at, step): (usize, &Step)| {
        let data = match step {
            Asks(orders) => json!({"type": "generation", "model": "m", "output": [message(orders)]}),
            // Its spans never name their calls.
            Runs { id, given, gave } => {
                let given = given.clone().or_else(|| id.map(|id| json!({"order": id})));
                with(json!({"type": "function", "name": "check", "output": gave}), &[("input", text(&given))])
            }
        };
        json!({"object": "trace.span", "id": format!("s{at}"), "trace_id": "t", "parent_id": null, "started_at": time(at),
            "ended_at": time(at + 1), "span_data": data, "error": null})
    };
    let trace =
        json!({"object": "trace", "id": "t", "workflow_name": "desk", "group_id": null, "metadata": null});
    let spans = std::iter::once(trace).chain(steps.iter().enumerate().map(span));
    spans.map(|span| format!("{span}\n")).collect()
}

/// Each turn's calls as `order: what it gave`, and what is said of them.
fn read(text: String) -> (Vec<Vec<String>>, Vec<String>) {
    let (sessions, of_file) = opened(text);
    assert_eq!(sessions.len(), 1);
    let call = |call: &rulestep_base::session::Call| {
        assert_eq!(&*call.tool, "check");
        let order = call.arguments.value().map_or("?".to_owned(), |given| given["order"].to_string());
        format!("{order}: {}", if call.result.is_some() { call.output.shown() } else { "-" })
    };
    let turns = sessions[0].turns.iter();
    let turns = turns.map(|turn| sessions[0].calls_of(turn).iter().map(call).collect()).collect();
    (turns, told(&sessions, &of_file))
}

/// What a story comes to in every format: its turns, and whether it is said that a span may be another call's.
fn check(story: &[Step], expected: &str, unclear: bool) {
    for (name, write) in FORMATS {
        let (turns, told) = read(write(story));
        let turns: Vec<_> = turns.iter().map(|calls| calls.join(", ")).collect();
        assert_eq!(turns.join(" | "), expected, "{name}: {told:?}");
        let said = told.iter().any(|line| line.contains("notice[ambiguous_record]"));
        assert_eq!(said, unclear, "{name}: {told:?}");
    }
}

#[rstest]
#[case::by_ids(vec![asks(&[1]), asks(&[2]), named(1), named(2)], "1: gave 1 | 2: gave 2", false)]
#[case::by_ids_the_other_way_round(vec![asks(&[1]), asks(&[2]), named(2), named(1)], "1: gave 1 | 2: gave 2", false)]
#[case::by_arguments(vec![asks(&[1]), asks(&[2]), runs(1), runs(2)], "1: gave 1 | 2: gave 2", false)]
#[case::by_arguments_the_other_way_round(vec![asks(&[1]), asks(&[2]), runs(2), runs(1)], "1: gave 1 | 2: gave 2", false)]
#[case::by_arguments_of_siblings(vec![asks(&[1, 2, 3]), runs(3), runs(1), runs(2)], "1: gave 1, 2: gave 2, 3: gave 3", false)]
#[case::with_more_arguments(
    vec![asks(&[1]), asks(&[2]), given(json!({"limit": 5, "order": 2}), 2), given(json!({"limit": 5, "order": 1}), 1)],
    "1: gave 1 | 2: gave 2", false)]
#[case::arguments_before_order(
    vec![asks(&[1]), asks(&[2]), given(json!({"q": "two"}), 2), runs(1)],
    "1: gave 1 | 2: gave 2", false)]
#[case::by_order(vec![asks(&[1]), bare(1), asks(&[2]), bare(2)], "1: gave 1 | 2: gave 2", false)]
#[case::only_one_ran(vec![asks(&[1]), asks(&[2]), runs(2)], "1: - | 2: gave 2", false)]
#[case::nothing_tells(vec![asks(&[1]), asks(&[2]), given(json!({"q": "?"}), 1), given(json!({"q": "?"}), 2)], "1: gave 1 | 2: gave 2", true)]
#[case::equal_calls(vec![asks(&[1]), asks(&[1]), runs(1), given(json!({"order": 1}), 2)], "1: gave 1 | 1: gave 2", false)]
#[case::other_arguments_do_not_replace_those(vec![asks(&[1]), given(json!({"order": 9}), 9)], "1: gave 9", false)]
#[case::nobody_proposed_it(vec![asks(&[1]), named(1), runs(9)], "1: gave 1, 9: gave 9", false)]
#[case::it_ran_before(vec![asks(&[1]), runs(2), asks(&[2])], "1: gave 2 | 2: -", false)]
fn spans_of_tools_find_their_calls(#[case] story: Vec<Step>, #[case] expected: &str, #[case] unclear: bool) {
    check(&story, expected, unclear);
}

/// Requests repeat results that have no span: their calls wait for none.
#[test]
fn what_a_request_has_a_result_for_waits_no_longer() {
    let told = |messages: Value| json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages.to_string()});
    let result = json!([{"role": "tool", "tool_call_id": "c1", "content": "denied"}]);
    let attributes = [gen_ai(&asks(&[1])), told(result), gen_ai(&asks(&[2])), gen_ai(&bare(2))];
    let span = |(at, attributes): (usize, &Value)| {
        json!({"trace_id": "t", "span_id": format!("{at}"), "name": "span", "startTimeUnixNano": nanoseconds(at),
            "endTimeUnixNano": nanoseconds(at + 1), "attributes": attributes})
    };
    let text: String = attributes.iter().enumerate().map(span).map(|span| format!("{span}\n")).collect();
    let (turns, told) = read(text);
    assert_eq!(turns, [vec!["1: denied"], vec![], vec!["2: gave 2"]], "{told:?}");
}

/// A call of one that is known to be another one's.
fn order(of: &str) -> &str {
    of.split_once(':').map_or(of, |(order, _)| order)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However many calls, in whatever order their tools ran, and whichever of them name their call: each result is that of the
    /// call with its arguments, and every call is there once.
    #[test]
    fn every_result_is_of_its_call(
        shape in prop::collection::vec(1..4usize, 1..5),
        shuffled in Just((0..16u32).collect::<Vec<_>>()).prop_shuffle(),
        names in prop::collection::vec(any::<bool>(), 16),
        format in 0..FORMATS.len(),
    ) {
        let mut orders = 0..;
        let mut story: Vec<Step> = shape.iter().map(|count| Asks(orders.by_ref().take(*count).collect())).collect();
        let count = orders.start;
        let ran = shuffled.into_iter().filter(|order| *order < count);
        story.extend(ran.map(|order| if names[order as usize] { named(order) } else { runs(order) }));
        let (turns, told) = read(FORMATS[format].1(&story));
        let sizes: Vec<_> = turns.iter().map(Vec::len).collect();
        prop_assert_eq!(&sizes, &shape, "{:?}", told);
        for call in turns.iter().flatten() {
            prop_assert_eq!(call, &format!("{0}: gave {0}", order(call)));
        }
    }
}
