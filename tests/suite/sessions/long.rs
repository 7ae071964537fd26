//! Long sessions in every format that goes on line by line: of each step what is said, and two calls at once with their
//! results.

use std::path::Path;

use rulestep_base::session::{Outcome, Session};
use rulestep_engine::replay::counted_refusals;
use serde_json::{Value, json};

use super::opened;
use crate::policies;

/// Names of the formats.
const FORMATS: [&str; 23] = [
    "native",
    "claude-code",
    "codex-rollout",
    "codex-exec",
    "openai-responses",
    "bedrock",
    "langchain",
    "gemini-cli",
    "gemini-stream",
    "cursor-agent",
    "qwen-code",
    "vercel-ai",
    "openhands",
    "mini-swe-agent",
    "agentfootprint",
    "mcp",
    "assay",
    "otel",
    "otel-flat",
    "jaeger",
    "langsmith",
    "langfuse",
    "openai-agents",
];

/// So many steps, a value a line.
fn long(format: &str, steps: usize) -> String {
    let mut lines = beginning(format);
    let mut before = Value::Null;
    for step in 0..steps {
        let ids = [format!("a{step}"), format!("b{step}")];
        lines.extend(match format {
            "native" => native(&ids),
            "claude-code" => claude(step, &ids, &mut before),
            "codex-rollout" => rollout(&ids),
            "codex-exec" => exec(&ids),
            "openai-responses" => going_on(step, &ids),
            "gemini-cli" => gemini(step, &ids),
            "gemini-stream" => gemini_stream(&ids),
            "cursor-agent" => cursor(step, &ids),
            "qwen-code" => qwen(step, &ids, &mut before),
            "bedrock" => bedrock(step, &ids),
            "langchain" => langchain(&ids),
            "vercel-ai" => vercel(&ids),
            "openhands" => openhands(step, &ids),
            "mini-swe-agent" => mini_swe(step),
            "agentfootprint" => footprint(&ids),
            "mcp" => mcp(&ids),
            "assay" => assay(step),
            traced => spans(step).iter().map(|span| span.line(traced)).collect(),
        });
    }
    if !before_spans(format) {
        // What all are part of ends behind them.
        lines.push(Span { id: "run".to_owned(), start: 0, what: What::Run, within: None }.line(format));
    }
    if format == "assay" {
        // What is known of the surroundings at the end alone.
        lines.push(
            json!({"type": "episode_end", "episode_id": "e", "final_output": "done", "outcome": "pass"}),
        );
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn before_spans(format: &str) -> bool {
    FORMATS.iter().take(17).any(|name| *name == format)
}

fn beginning(format: &str) -> Vec<Value> {
    match format {
        "codex-rollout" => {
            vec![json!({"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "s"}})]
        }
        "gemini-cli" => vec![json!({"sessionId": "s", "projectHash": "1b"})],
        "gemini-stream" => vec![json!({"type": "init", "session_id": "s", "model": "auto"})],
        "cursor-agent" => {
            vec![json!({"type": "system", "subtype": "init", "session_id": "s", "apiKeySource": "login"})]
        }
        "assay" => vec![json!({"type": "episode_start", "episode_id": "e", "input": {"prompt": "do it"}})],
        _ => Vec::new(),
    }
}

fn native(ids: &[String; 2]) -> Vec<Value> {
    let call = |id: &String| json!({"id": id, "function": {"name": "t", "arguments": "{}"}});
    let mut lines =
        vec![json!({"role": "assistant", "content": "so", "tool_calls": ids.each_ref().map(call)})];
    lines.extend(ids.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": id})));
    lines
}

fn claude(step: usize, ids: &[String; 2], before: &mut Value) -> Vec<Value> {
    let mut names = 4 * step;
    let mut line = |kind: &str, parent: Option<Value>, message: Value| {
        names += 1;
        let line = json!({"type": kind, "sessionId": "s", "uuid": format!("u{names}"), "message": message,
            "parentUuid": parent.unwrap_or_else(|| before.clone())});
        *before = line["uuid"].clone();
        line
    };
    let mut lines = Vec::new();
    for id in ids {
        let call = json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
        let message = json!({"id": format!("m{step}"), "role": "assistant", "content": [call]});
        lines.push(line("assistant", None, message));
    }
    let parents: Vec<_> = lines.iter().map(|line| line["uuid"].clone()).collect();
    for (id, parent) in ids.iter().zip(parents) {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": id});
        lines.push(line("user", Some(parent), json!({"role": "user", "content": [result]})));
    }
    lines
}

fn rollout(ids: &[String; 2]) -> Vec<Value> {
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let call = |id| item(json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": "{}"}));
    let answer = |id| item(json!({"type": "function_call_output", "call_id": id, "output": id}));
    ids.iter().map(call).chain(ids.iter().map(answer)).collect()
}

fn exec(ids: &[String; 2]) -> Vec<Value> {
    let item = |id: &String| json!({"id": id, "type": "command_execution", "command": "ls"});
    let started = ids.iter().map(|id| json!({"type": "item.started", "item": item(id)}));
    started.chain(ids.iter().map(|id| json!({"type": "item.completed", "item": item(id)}))).collect()
}

/// Each request names the response before, and gives what came of its calls.
fn going_on(step: usize, ids: &[String; 2]) -> Vec<Value> {
    let mut request = json!({"input": "do it"});
    if let Some(before) = step.checked_sub(1) {
        let output = |of: &str| json!({"type": "function_call_output", "call_id": format!("{of}{before}"), "output": "fine"});
        request = json!({"previous_response_id": format!("r{before}"), "input": [output("a"), output("b")]});
    }
    let call = |id: &String| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": "{}"});
    let output = ids.each_ref().map(call);
    vec![json!({"request": request,
        "response": {"id": format!("r{step}"), "object": "response", "output": output}})]
}

/// Messages as a session of Strands Agents keeps them.
fn bedrock(step: usize, ids: &[String; 2]) -> Vec<Value> {
    let call = |id: &String| json!({"toolUse": {"toolUseId": id, "name": "t", "input": {}}});
    let result = |id: &String| json!({"toolResult": {"toolUseId": id, "content": [{"text": id}]}});
    let messages = [("assistant", ids.each_ref().map(call)), ("user", ids.each_ref().map(result))];
    let kept = messages.into_iter().enumerate().map(|(number, (role, content))| {
        json!({"message": {"role": role, "content": content}, "message_id": 2 * step + number})
    });
    kept.collect()
}

fn langchain(ids: &[String; 2]) -> Vec<Value> {
    let call = |id: &String| json!({"type": "tool_call", "id": id, "name": "t", "args": {}});
    let mut lines =
        vec![json!({"type": "ai", "data": {"content": "so", "tool_calls": ids.each_ref().map(call)}})];
    lines.extend(ids.iter().map(|id| json!({"type": "tool", "data": {"tool_call_id": id, "content": id}})));
    lines
}

fn gemini(step: usize, ids: &[String; 2]) -> Vec<Value> {
    let call = |id: &String| {
        let result = json!([{"functionResponse": {"id": id, "response": {"output": id}}}]);
        json!({"id": id, "name": "t", "args": {}, "status": "success", "result": result})
    };
    let id = format!("m{step}");
    vec![json!({"id": id, "type": "gemini", "content": "so", "toolCalls": ids.each_ref().map(call)})]
}

fn gemini_stream(ids: &[String; 2]) -> Vec<Value> {
    let call = |id: &String| json!({"type": "tool_use", "tool_id": id, "tool_name": "t", "parameters": {}});
    let result =
        |id: &String| json!({"type": "tool_result", "tool_id": id, "status": "success", "output": id});
    let said = json!({"type": "message", "role": "assistant", "content": "so", "delta": true});
    [said].into_iter().chain(ids.iter().map(call)).chain(ids.iter().map(result)).collect()
}

fn qwen(step: usize, ids: &[String; 2], before: &mut Value) -> Vec<Value> {
    let mut line = |kind: &str, name: String, parts: Vec<Value>| {
        let line = json!({"type": kind, "sessionId": "s", "uuid": name, "parentUuid": before.take(),
            "message": {"parts": parts}});
        *before = line["uuid"].clone();
        line
    };
    let call = |id: &String| json!({"functionCall": {"id": id, "name": "t", "args": {}}});
    let mut lines = vec![line("assistant", format!("u{step}"), ids.iter().map(call).collect())];
    lines.extend(ids.iter().map(|id| {
        let result = json!({"functionResponse": {"id": id, "response": {"output": id}}});
        line("tool_result", id.clone(), vec![result])
    }));
    lines
}

/// The first call is completed before the second one starts.
fn cursor(step: usize, ids: &[String; 2]) -> Vec<Value> {
    let event = |id: &String, subtype: &str, inner: Value| {
        json!({"type": "tool_call", "subtype": subtype, "call_id": id, "session_id": "s",
            "model_call_id": format!("m{step}"), "tool_call": {"readToolCall": inner}})
    };
    let both = |id| {
        let result = json!({"args": {}, "result": {"success": {"content": id}}});
        [event(id, "started", json!({"args": {}})), event(id, "completed", result)]
    };
    ids.iter().flat_map(both).collect()
}

fn vercel(ids: &[String; 2]) -> Vec<Value> {
    let call = |id: &String| json!({"type": "tool-call", "toolCallId": id, "toolName": "t", "input": {}});
    let result = |id: &String| {
        json!({"type": "tool-result", "toolCallId": id, "toolName": "t",
            "output": {"type": "text", "value": id}})
    };
    vec![
        json!({"role": "assistant", "content": ids.each_ref().map(call)}),
        json!({"role": "tool", "content": ids.each_ref().map(result)}),
    ]
}

fn openhands(step: usize, ids: &[String; 2]) -> Vec<Value> {
    let call = |id| {
        json!({"kind": "ActionEvent", "id": format!("e{id}"), "source": "agent", "tool_name": "t",
            "tool_call_id": id, "action": {}, "llm_response_id": format!("r{step}")})
    };
    let result = |id| {
        json!({"kind": "ObservationEvent", "source": "environment", "tool_call_id": id,
            "action_id": format!("e{id}"), "observation": {"content": [{"type": "text", "text": id}]}})
    };
    ids.iter().map(call).chain(ids.iter().map(result)).collect()
}

fn mini_swe(step: usize) -> Vec<Value> {
    // One command is run at a time.
    let command = |part: &str| json!({"role": "assistant", "content": format!("So.\n```mswea_bash_command\nls {part}{step}\n```")});
    let answer = json!({"role": "user", "content": "<returncode>0</returncode>\n<output>\nfine\n</output>"});
    vec![command("a"), answer.clone(), command("b"), answer]
}

fn footprint(ids: &[String; 2]) -> Vec<Value> {
    let event = |kind: &str, payload: Value| json!({"type": format!("agentfootprint.stream.{kind}"), "payload": payload, "meta": {"runId": "r"}});
    let mut lines = vec![event("llm_start", json!({})), event("llm_end", json!({"content": "so"}))];
    let called = |id| event("tool_start", json!({"toolName": "t", "toolCallId": id, "args": {}}));
    lines.extend(ids.iter().map(called));
    lines.extend(ids.iter().map(|id| event("tool_end", json!({"toolCallId": id, "result": id}))));
    lines
}

fn mcp(ids: &[String; 2]) -> Vec<Value> {
    let call = |id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t"}});
    let result =
        |id| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": id}]}});
    ids.iter().map(call).chain(ids.iter().map(result)).collect()
}

fn assay(step: usize) -> Vec<Value> {
    let part = |kind: &str, more: Value| {
        let mut line = json!({"type": kind, "episode_id": "e", "step_id": format!("s{step}")});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let call = |place: usize| {
        part("tool_call", json!({"tool_name": "t", "call_index": place, "args": {}, "result": place}))
    };
    vec![part("step", json!({"idx": step, "kind": "llm", "content": "so"})), call(1), call(0)]
}

/// A span that any of the formats can write.
struct Span {
    id: String,
    start: usize,
    within: Option<&'static str>,
    what: What,
}

enum What {
    Run,
    Request { ids: [String; 2], heard: String },
    Call { id: String },
}

/// A request that proposes two calls, and the two, in the order of their ends.
fn spans(step: usize) -> Vec<Span> {
    let ids = [format!("a{step}"), format!("b{step}")];
    let span = |id: String, at: usize, what| Span { id, start: 10 * step + at, within: Some("run"), what };
    let call = |id: &String| What::Call { id: id.clone() };
    let heard = format!("question {step}");
    vec![
        span(format!("r{step}"), 1, What::Request { ids: ids.clone(), heard }),
        span(format!("y{step}"), 4, call(&ids[1])),
        span(format!("x{step}"), 3, call(&ids[0])),
    ]
}

impl Span {
    fn line(&self, format: &str) -> Value {
        let seconds = 1_777_888_800 + self.start;
        let (begun, ended) = (format!("{seconds}000000000"), format!("{seconds}900000000"));
        let attributes = self.attributes();
        match format {
            "otel" => {
                let given =
                    |(key, value): (&String, &Value)| json!({"key": key, "value": {"stringValue": value}});
                let given: Vec<Value> = attributes.as_object().unwrap().iter().map(given).collect();
                let span = json!({"traceId": "t", "spanId": self.id, "parentSpanId": self.within, "name": "span",
                    "startTimeUnixNano": begun, "endTimeUnixNano": ended, "attributes": given});
                json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
            }
            "otel-flat" => json!({"trace_id": "t", "span_id": self.id, "parent_span_id": self.within,
                "name": "span", "start_time": begun, "end_time": ended, "attributes": attributes}),
            "jaeger" => {
                let tag =
                    |(key, value): (&String, &Value)| json!({"key": key, "type": "string", "value": value});
                let tags: Vec<Value> = attributes.as_object().unwrap().iter().map(tag).collect();
                let outer = |id| json!({"refType": "CHILD_OF", "traceID": "t", "spanID": id});
                json!({"traceID": "t", "spanID": self.id, "operationName": "span", "tags": tags,
                    "references": self.within.map(outer).into_iter().collect::<Vec<_>>(),
                    "startTime": seconds * 1_000_000, "duration": 900_000})
            }
            "langsmith" => self.langsmith(seconds),
            "langfuse" => self.langfuse(seconds),
            _ => self.agents(seconds),
        }
    }

    fn attributes(&self) -> Value {
        match &self.what {
            What::Run => json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}),
            What::Request { heard, .. } => json!({
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": json!([{"role": "user", "content": heard}]).to_string(),
                "gen_ai.output.messages": json!([self.proposal()]).to_string(),
            }),
            What::Call { id } => json!({
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": id,
                "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": format!("done {id}"),
            }),
        }
    }

    fn proposal(&self) -> Value {
        let What::Request { ids, .. } = &self.what else { return Value::Null };
        let call =
            |id: &String| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
        json!({"role": "assistant", "content": "so", "tool_calls": ids.each_ref().map(call)})
    }

    fn with(&self, of_all: Value, of_kind: Value) -> Value {
        let mut line = of_all;
        line.as_object_mut().unwrap().extend(of_kind.as_object().unwrap().clone());
        line
    }

    fn langsmith(&self, seconds: usize) -> Value {
        let of_kind = match &self.what {
            What::Run => json!({"run_type": "chain", "inputs": {}, "outputs": {}}),
            What::Request { heard, .. } => json!({"run_type": "llm",
                "inputs": {"messages": [{"role": "user", "content": heard}]},
                "outputs": {"choices": [{"index": 0, "message": self.proposal()}]}}),
            What::Call { id } => json!({"run_type": "tool", "inputs": {"input": "{}"},
                "outputs": {"output": {"type": "tool", "content": "done", "tool_call_id": id}}}),
        };
        self.with(
            json!({"id": self.id, "trace_id": "run", "parent_run_id": self.within, "name": "t",
                "start_time": seconds, "end_time": seconds}),
            of_kind,
        )
    }

    fn langfuse(&self, seconds: usize) -> Value {
        let of_kind = match &self.what {
            What::Run => json!({"type": "AGENT"}),
            What::Request { heard, .. } => json!({"type": "GENERATION",
                "input": [{"role": "user", "content": heard}], "output": self.proposal()}),
            What::Call { id } => {
                json!({"type": "TOOL", "input": {}, "output": "done", "metadata": {"tool_call_id": id}})
            }
        };
        self.with(
            json!({"id": self.id, "traceId": "t", "parentObservationId": self.within, "name": "t",
                "startTime": seconds, "endTime": seconds}),
            of_kind,
        )
    }

    fn agents(&self, seconds: usize) -> Value {
        let data = match &self.what {
            What::Run => json!({"type": "agent", "name": "helper"}),
            What::Request { heard, .. } => json!({"type": "generation",
                "input": [{"role": "user", "content": heard}], "output": [self.proposal()]}),
            What::Call { .. } => json!({"type": "function", "name": "t", "input": "{}", "output": "done"}),
        };
        json!({"object": "trace.span", "id": self.id, "trace_id": "t", "parent_id": self.within,
            "started_at": seconds, "ended_at": seconds, "span_data": data})
    }
}

/// The one session of a file.
fn read(text: &str) -> Session {
    let (mut sessions, _) = opened(text);
    assert_eq!(sessions.len(), 1, "{text}");
    sessions.remove(0)
}

#[test]
fn every_step_of_a_long_session_is_a_turn_of_two_calls() {
    let forbidden =
        |text: &str| json!({"sequence": ["x"], "action": "deny", "reason": "a:b", "tellLLM": text});
    let text =
        json!({"dialect": "sequence_policy", "id": "p", "forbidden": [forbidden("a7"), forbidden("b41")]});
    let policy = policies::policy("p.json", &text.to_string());
    let mut counted = 0;
    for format in FORMATS {
        let session = read(&long(format, 60));
        let answered = session.calls.iter().filter(|call| call.result.is_some()).count();
        // Results stand in the request after, and there is none after the last response.
        let expected = if format == "openai-responses" { 118 } else { 120 };
        assert_eq!((session.calls.len(), answered), (120, expected), "{format}");
        assert!(session.turns.iter().all(|turn| turn.calls.len() <= 2), "{format}");
        // What may have been a refusal is counted wherever its result stands.
        counted += counted_refusals(&session, &policy).len();
    }
    assert!(counted >= 2 * 12, "{counted}");
}

/// What the last line says changes what was read long before it: how many turns and calls there are then, and how many of
/// the calls failed.
#[rstest::rstest]
#[case::a_branch("claude-code", json!({"type": "user", "sessionId": "s", "uuid": "again", "parentUuid": "u4",
    "message": {"role": "user", "content": "no, from the beginning"}}), [1, 2, 0])]
#[case::a_failure("codex-rollout", json!({"type": "event_msg", "payload": {"type": "exec_command_end",
    "call_id": "a3", "exit_code": 1}}), [60, 120, 1])]
#[case::a_branch_of_parts("qwen-code", json!({"type": "user", "sessionId": "s", "uuid": "again",
    "parentUuid": "u4", "message": {"parts": [{"text": "no, from there"}]}}), [5, 10, 0])]
#[case::taken_back("gemini-cli", json!({"$rewindTo": "m3"}), [3, 6, 0])]
#[case::said_anew("gemini-cli", json!({"id": "m3", "type": "gemini", "content": "so"}), [60, 118, 0])]
#[case::a_span_within_one("otel-flat", json!({"trace_id": "t", "span_id": "late", "parent_span_id": "r3",
    "name": "span", "start_time": "1777888832000000000", "attributes": {"gen_ai.tool.name": "t"}}), [60, 121, 0])]
#[case::a_request_before("otel-flat", json!({"trace_id": "t", "span_id": "late", "parent_span_id": "run",
    "name": "span", "start_time": "1777888832000000000",
    "attributes": {"gen_ai.operation.name": "chat"}}), [61, 120, 0])]
fn the_last_line_may_change_the_first(
    #[case] format: &str,
    #[case] late: Value,
    #[case] expected: [usize; 3],
) {
    let session = read(&format!("{}{late}\n", long(format, 60)));
    let failed = session.calls.iter().filter(|call| call.outcome == Outcome::Error).count();
    assert_eq!([session.turns.len(), session.calls.len(), failed], expected);
}

/// Calls may be written after other steps of their episode.
#[test]
fn a_call_that_comes_late_belongs_to_its_step() {
    let mut text = long("assay", 60);
    text.truncate(text.trim_end().rfind('\n').unwrap() + 1);
    text += &format!(
        "{}\n",
        json!({"type": "tool_call", "episode_id": "e", "step_id": "s3", "tool_name": "t", "result": 1})
    );
    let session = read(&text);
    assert_eq!((session.calls.len(), session.turns[3].calls.len()), (121, 3));
}

/// A call without an id follows from the latest request before it, wherever in the file that stands.
#[test]
fn a_request_that_comes_late_has_its_calls() {
    let file = [
        r#"{"run_type": "tool", "id": "t", "name": "h", "start_time": "4", "outputs": ""}"#,
        r#"{"run_type": ""}"#,
        r#"{"run_type": "tool", "trace_id": "t", "parent_run_id": "t", "start_time": "2"}"#,
        r#"{"run_type": "llm", "trace_id": "t", "parent_run_id": "t"}"#,
        r#"{"run_type": "llm", "trace_id": "t", "parent_run_id": "t", "start_time": "1"}"#,
    ];
    assert_eq!(opened(file.join("\n")).0[0].calls[0].at.turn, 2);
}

/// What a run offers holds from its first call on, even if that call follows from no request.
#[test]
fn a_run_may_say_late_what_it_offers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions/openai-agents.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<&str> = text.split('\n').collect();
    let run = lines.remove(1);
    lines.insert(4, run);
    lines.remove(1);
    let (sessions, _) = opened(lines.join("\n"));
    assert!(sessions.iter().any(|session| session.offered.iter().any(|offered| offered.turn == 1)));
}
