//! Spans of any kind, within each other in any way and in any order: requests, calls, runs of agents and others.

use std::path::Path;

use proptest::prelude::*;
use rulestep_recording::{self as recording, Options};
use serde_json::{Value, json};

use super::written;

/// A span, by small numbers.
#[derive(Debug, Clone)]
struct Span {
    kind: u8,
    trace: u8,
    /// The span that it is part of; none, or one that is not there.
    parent: Option<usize>,
    start: u8,
    long: u8,
    /// Ids of calls: the own one, or those that are proposed.
    calls: Vec<u8>,
    /// The call whose result the request holds.
    hears: Option<u8>,
    says: bool,
    failed: bool,
    result: bool,
    tools: Option<u8>,
    named: Option<u8>,
    /// How much later it is written than it ends.
    late: u8,
}

/// A file of spans, mostly in the order of their ends.
fn spans() -> impl Strategy<Value = String> {
    let what = (
        prop_oneof![4 => Just(0u8), 4 => Just(1u8), 1 => Just(2u8), 2 => Just(3u8)],
        prop_oneof![9 => Just(0u8), 1 => Just(1u8)],
        prop::option::weighted(0.7, 0..40usize),
        0..120u8,
        0..12u8,
    );
    let says = (
        prop::collection::vec(0..40u8, 0..3),
        prop::option::weighted(0.3, 0..40u8),
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.8),
    );
    let more = (
        prop::option::weighted(0.1, 0..3u8),
        prop::option::weighted(0.1, 0..2u8),
        prop_oneof![9 => Just(0u8), 1 => 0..100u8],
    );
    let span = (what, says, more).prop_map(
        |((kind, trace, parent, start, long), (calls, hears, says, failed, result), (tools, named, late))| {
            Span { kind, trace, parent, start, long, calls, hears, says, failed, result, tools, named, late }
        },
    );
    prop::collection::vec(span, 2..40).prop_map(|spans| {
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|at| {
            let span = &spans[*at];
            u32::from(span.start) + u32::from(span.long) + u32::from(span.late)
        });
        order.into_iter().map(|at| format!("{}\n", line(at, &spans[at]))).collect()
    })
}

fn line(at: usize, span: &Span) -> Value {
    let id = |call: &u8| format!("c{call}");
    let mut attributes = match span.kind {
        0 => {
            let call = |call: &u8| {
                let function = json!({"name": "t", "arguments": format!("{{\"order_id\": {call}}}")});
                json!({"id": id(call), "type": "function", "function": function})
            };
            let calls: Vec<Value> = span.calls.iter().map(call).collect();
            let mut sent = vec![json!({"role": "user", "content": format!("question {}", span.start / 8)})];
            sent.extend(span.hears.as_ref().map(
                |call| json!({"role": "tool", "tool_call_id": id(call), "content": format!("heard {call}")}),
            ));
            let sent = if span.says { sent } else { Vec::new() };
            let answer = json!([{"role": "assistant", "content": "so", "tool_calls": calls}]);
            json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": Value::Array(sent).to_string(),
                "gen_ai.output.messages": if span.failed { "[]".to_owned() } else { answer.to_string() }})
        }
        1 => {
            let mut given = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t",
                "gen_ai.tool.call.arguments": format!("{{\"order_id\": {}}}", span.start % 4)});
            if let Some(call) = span.calls.first() {
                given["gen_ai.tool.call.id"] = id(call).into();
            }
            if span.result {
                given["gen_ai.tool.call.result"] = format!("done {at}").into();
            }
            given
        }
        2 => json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": format!("helper {at}"),
            "gen_ai.input.messages": "[{\"role\": \"user\", \"content\": \"begin\"}]"}),
        _ => json!({"note": "nothing of a run"}),
    };
    if let Some(tools) = span.tools {
        attributes["gen_ai.tool.definitions"] = json!([{"name": format!("t{tools}")}]).to_string().into();
    }
    if let Some(named) = span.named {
        attributes["session.id"] = format!("s{named}").into();
    }
    let nanos = |at: u32| format!("{}000000000", 1_777_888_800 + at);
    let (start, long) = (u32::from(span.start), u32::from(span.long));
    json!({"trace_id": format!("t{}", span.trace), "span_id": format!("i{at}"), "name": "span",
        "parent_span_id": span.parent.map(|parent| format!("i{parent}")),
        "start_time": nanos(start), "end_time": nanos(start + long), "attributes": attributes,
        "status": {"code": if span.failed { "ERROR" } else { "OK" }}})
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever is read of them can be written and read again.
    #[test]
    fn any_spans_are_survived(text in spans()) {
        let opened = recording::open("f.jsonl", Box::new(std::io::Cursor::new(text.into_bytes())), &Options::default());
        for session in opened.into_iter().flatten() {
            written::survives(&session, Path::new("f.jsonl"));
        }
    }
}
