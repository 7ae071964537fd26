//! Further choices in the formats that hold several answers to one request, each in its own form.

use serde_json::{Value, json};

use super::{alternatives, call, one, opened, says};

const USER: &str = "a refund, please";

fn user() -> Value {
    json!({"role": "user", "content": USER})
}

fn taken() -> Value {
    says(json!("Let me look."), &[])
}

fn refunds() -> Value {
    says(Value::Null, &[call("b", "issue_refund")])
}

fn choices(messages: [Value; 2]) -> Value {
    let [first, second] = messages;
    json!([{"index": 0, "message": first, "finish_reason": "stop"}, {"index": 1, "message": second, "finish_reason": "tool_calls"}])
}

fn langsmith(outputs: Value) -> Value {
    json!({"id": "r", "trace_id": "r", "run_type": "llm", "name": "ChatOpenAI", "start_time": "2026-05-04T10:00:00",
        "end_time": "2026-05-04T10:00:01", "inputs": {"messages": [[user()]]}, "outputs": outputs})
}

fn langfuse(about: Value, output: Value) -> Value {
    let mut made = json!({"id": "g", "traceId": "t", "type": "GENERATION", "name": "OpenAI-generation", "startTime": "2026-05-04T10:00:00Z",
        "endTime": "2026-05-04T10:00:01Z", "input": [user()], "output": output});
    made.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
    json!([made])
}

/// A request to a model as a span with these attributes.
fn otel(attributes: &Value) -> Value {
    otel_with(attributes, &[])
}

fn otel_with(attributes: &Value, further: &[Value]) -> Value {
    let mut spans = vec![span("m", 1, attributes)];
    spans.extend_from_slice(further);
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

fn span(id: &str, second: u64, attributes: &Value) -> Value {
    let attributes: Vec<_> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| match value {
            Value::Array(texts) if texts.iter().all(Value::is_string) => {
                let texts: Vec<_> = texts.iter().map(|text| json!({"stringValue": text})).collect();
                json!({"key": key, "value": {"arrayValue": {"values": texts}}})
            }
            Value::Number(number) => json!({"key": key, "value": {"intValue": number.to_string()}}),
            Value::String(text) => json!({"key": key, "value": {"stringValue": text}}),
            other => json!({"key": key, "value": {"stringValue": other.to_string()}}),
        })
        .collect();
    let at = |second: u64| (1_777_888_800 + second) * 1_000_000_000;
    json!({"traceId": "t", "spanId": id, "name": id, "startTimeUnixNano": at(second).to_string(),
        "endTimeUnixNano": (at(second) + 500_000_000).to_string(), "attributes": attributes})
}

/// Messages as the convention of OpenTelemetry has them.
fn parts(finish: bool) -> Value {
    let mut said = json!([
        {"role": "assistant", "parts": [{"type": "text", "content": "Let me look."}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "b", "name": "issue_refund", "arguments": {}}]},
    ]);
    if finish {
        said[0]["finish_reason"] = json!("stop");
        said[1]["finish_reason"] = json!("tool_call");
    }
    said
}

/// `gen_ai.completion.N` as OpenLLMetry writes it.
fn completions(provider: &str) -> Value {
    json!({"gen_ai.operation.name": "chat", "gen_ai.system": provider,
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Let me look.",
        "gen_ai.completion.0.finish_reason": "stop",
        "gen_ai.completion.1.role": "assistant", "gen_ai.completion.1.finish_reason": "tool_calls",
        "gen_ai.completion.1.tool_calls.0.id": "b", "gen_ai.completion.1.tool_calls.0.name": "issue_refund",
        "gen_ai.completion.1.tool_calls.0.arguments": "{}"})
}

fn with(mut attributes: Value, name: &str, value: Value) -> Value {
    attributes[name] = value;
    attributes
}

fn chat(name: &str, value: Value) -> Value {
    json!({"gen_ai.operation.name": "chat", name: value})
}

fn inspect(messages: &[Value], output: Value, events: &[Value]) -> Value {
    json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [
        {"id": "s", "epoch": 1, "input": USER, "target": "", "messages": messages, "output": output, "store": {}, "events": events}]})
}

fn named(id: &str, mut message: Value) -> Value {
    message["id"] = json!(id);
    if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
        for call in calls {
            *call = json!({"id": call["id"], "function": call["function"]["name"], "arguments": {}, "type": "function"});
        }
    }
    message
}

#[test]
fn every_format_reads_them_beside_the_turn() {
    let generation = |message: Value| json!({"text": "", "message": message});
    let lc = |message: Value| json!({"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": message});
    let both = || [taken(), refunds()];
    let openinference = json!({"openinference.span.kind": "LLM", "llm.invocation_parameters": {"model": "m", "n": 2},
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Let me look.",
        "llm.output_messages.1.message.role": "assistant",
        "llm.output_messages.1.message.tool_calls.0.tool_call.id": "b",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.name": "issue_refund",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.arguments": "{}"});
    let events = || {
        let event = |index: u64, message: Value, reason: &str| {
            let attributes = json!([{"key": "index", "value": {"intValue": index.to_string()}},
                {"key": "finish_reason", "value": {"stringValue": reason}},
                {"key": "message", "value": {"stringValue": message.to_string()}}]);
            json!({"name": "gen_ai.choice", "timeUnixNano": "1777888801000000000", "attributes": attributes})
        };
        let mut made = span("m", 1, &json!({"gen_ai.operation.name": "chat"}));
        made["events"] = json!([event(0, taken(), "stop"), event(1, refunds(), "tool_calls")]);
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [made]}]}]})
    };
    let jaeger = json!({"data": [{"traceID": "t", "processes": {}, "spans": [{"traceID": "t", "spanID": "m", "operationName": "chat",
        "startTime": 1_777_888_800_000_000_u64, "duration": 10, "references": [], "tags":
        completions("openai").as_object().unwrap().iter().map(|(key, value)| json!({"key": key, "type": "string", "value": value})).collect::<Vec<_>>()}]}]});
    let gemini = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Let me look."}]}},
        {"content": {"role": "model", "parts": [{"functionCall": {"name": "issue_refund", "args": {}}}]}}]});
    let model_event = |output: Value| json!({"event": "model", "timestamp": "2026-05-04T10:00:00Z", "output": output, "tools": []});
    let inspected = || json!({"model": "m", "choices": [{"message": named("x", taken()), "stop_reason": "stop"}, {"message": named("y", refunds()), "stop_reason": "tool_calls"}]});
    let user_said = || named("u", user());
    for (what, log) in [
        ("generations", langsmith(json!({"generations": [both().map(generation)]}))),
        ("generations of one prompt", langsmith(json!({"generations": both().map(generation)}))),
        ("wrapped generations", langsmith(json!({"generations": [both().map(lc).map(generation)]}))),
        ("choices", langsmith(json!({"choices": choices(both())}))),
        ("candidates", langsmith(gemini.clone())),
        ("several messages, n", langfuse(json!({"modelParameters": {"n": 2}}), json!(both()))),
        ("choices of a generation", langfuse(json!({}), json!({"choices": choices(both())}))),
        ("completions", otel(&completions("openai"))),
        ("tags", jaeger),
        ("output messages, each finished", otel(&chat("gen_ai.output.messages", parts(true)))),
        (
            "output messages, counted",
            otel(&with(
                chat("gen_ai.output.messages", parts(false)),
                "gen_ai.request.choice.count",
                json!(2),
            )),
        ),
        (
            "output messages, several reasons",
            otel(&with(
                chat("gen_ai.output.messages", parts(false)),
                "gen_ai.response.finish_reasons",
                json!(["stop", "tool_call"]),
            )),
        ),
        ("OpenInference", otel(&openinference)),
        (
            "the response as it came",
            otel(&json!({"openinference.span.kind": "LLM", "output.value": {"choices": choices(both())}})),
        ),
        ("the response of Gemini", otel(&json!({"openinference.span.kind": "LLM", "output.value": gemini}))),
        (
            "generations in a span",
            otel(&chat("gen_ai.completion", json!({"generations": [both().map(generation)]}))),
        ),
        (
            "what Langfuse observed",
            otel(
                &json!({"langfuse.observation.type": "generation", "langfuse.observation.output": both(), "langfuse.observation.model.parameters": {"n": 2}}),
            ),
        ),
        ("events of a span", events()),
        ("Inspect", inspect(&[user_said(), named("x", taken())], inspected(), &[model_event(inspected())])),
        ("Inspect without events", inspect(&[user_said(), named("x", taken())], inspected(), &[])),
    ] {
        let session = one(log.to_string());
        assert_eq!(alternatives(&session), ["1.2: issue_refund"], "{what}");
        assert_eq!(session.calls, [], "{what}");
        let said = session.messages.iter().filter(|message| &*message.role == "assistant");
        let said: Vec<_> = said.map(|message| message.content.shown().to_owned()).collect();
        assert_eq!(said, ["Let me look."], "{what}");
        assert_eq!(session.diagnostics, [], "{what}");
    }
}

#[test]
fn the_choice_whose_call_was_made_is_the_turn() {
    let first = json!([
        {"role": "assistant", "finish_reason": "tool_call", "parts": [{"type": "tool_call", "id": "a", "name": "lookup", "arguments": {}}]},
        {"role": "assistant", "finish_reason": "tool_call", "parts": [{"type": "tool_call", "id": "b", "name": "issue_refund", "arguments": {}}]},
    ]);
    let asked = chat("gen_ai.output.messages", first);
    let tool = |id: &str, name: &str, second| {
        let about = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": id,
            "gen_ai.tool.call.result": "done"});
        span(id, second, &about)
    };
    let answered = chat(
        "gen_ai.input.messages",
        json!([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "b", "response": "done"}]}]),
    );
    for further in [tool("b", "issue_refund", 2), span("n", 3, &answered)] {
        let session = one(otel_with(&asked, &[further]).to_string());
        assert_eq!(alternatives(&session), ["1.1: lookup"]);
        let calls: Vec<_> = session.calls.iter().map(|call| (&*call.tool, call.outcome.word())).collect();
        assert_eq!(calls, [("issue_refund", "ok")]);
    }
    // Calls of both were made, so they were one response.
    let both = [tool("a", "lookup", 2), tool("b", "issue_refund", 2)];
    let session = one(otel_with(&asked, &both).to_string());
    assert_eq!((session.calls.len(), session.alternatives.len()), (2, 0));
}

#[test]
fn what_may_be_parts_of_one_response_stays_in_the_turn() {
    for (what, attributes) in [
        ("blocks of one message", completions("Anthropic")),
        (
            "messages of which nothing says that they are choices",
            chat("gen_ai.output.messages", parts(false)),
        ),
    ] {
        let session = one(otel(&attributes).to_string());
        assert_eq!((session.calls.len(), session.alternatives.len()), (1, 0), "{what}");
    }
    // The answers to several prompts of one batch.
    let generation = |message: Value| json!({"text": "", "message": message});
    let batch = json!({"generations": [[generation(taken())], [generation(refunds())]]});
    let session = one(langsmith(batch).to_string());
    assert_eq!((session.calls.len(), session.alternatives.len()), (1, 0));
}

#[test]
fn what_cannot_be_read_or_placed_may_hold_calls() {
    let inspected = json!({"model": "m", "choices": [{"message": named("x", taken())}, {"message": named("y", refunds())}]});
    let event =
        json!({"event": "model", "timestamp": "2026-05-04T10:00:00Z", "output": inspected, "tools": []});
    let other = named("z", says(json!("something else"), &[]));
    for (log, expected) in [
        (langsmith(json!({"generations": []})), "`generations` holds no answer that can be read"),
        (
            langsmith(json!({"choices": [{"message": taken()}, 7]})),
            "`choices` holds no answer that can be read",
        ),
        (
            langfuse(json!({}), json!({"candidates": [{"finishReason": "SAFETY"}]})),
            "`candidates` holds no answer",
        ),
        (
            inspect(&[named("u", user()), other], json!({"model": "m", "choices": []}), &[event]),
            "2 choices of responses belong to no message",
        ),
    ] {
        let (sessions, further) = opened(log.to_string());
        let told = sessions.iter().flat_map(|session| &session.diagnostics).chain(&further);
        let told: Vec<_> =
            told.filter(|told| told.loss == Some(rulestep_base::diagnostic::Loss::MayHoldCalls)).collect();
        assert!(told.iter().any(|told| told.message.contains(expected)), "{expected}: {told:?}");
    }
}

#[test]
fn openhands_keeps_them_with_the_response() {
    let response = json!({"id": "r", "choices": [{"index": 0, "message": refunds()}, {"index": 1, "message": says(Value::Null, &[call("a", "finish")])}]});
    let about = |id: &str, name: &str| json!({"tool_call_id": id, "function_name": name, "model_response": response, "total_calls_in_response": 1});
    for (id, name, expected) in [("b", "issue_refund", "1.2: finish"), ("a", "finish", "1.1: issue_refund")] {
        let events = json!([
            {"id": 0, "source": "user", "action": "message", "args": {"content": USER}},
            {"id": 1, "source": "agent", "action": "call_tool_mcp", "args": {"name": name, "arguments": {}}, "tool_call_metadata": about(id, name)},
            {"id": 2, "source": "agent", "observation": "mcp", "cause": 1, "content": "done", "extras": {}, "tool_call_metadata": about(id, name)},
        ]);
        let session = one(events.to_string());
        assert_eq!(alternatives(&session), [expected]);
        assert_eq!(session.calls.iter().map(|call| &*call.tool).collect::<Vec<_>>(), [name]);
    }
}
