//! Damage of types: every key of every fixture is given a value of each other type, or taken away. Then the same calls come
//! out of it, or it is said that calls may be lost.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rulestep::diagnostic::Diagnostic;
use rulestep::session::read::{self, Options};
use serde_json::{Value, json};

/// A step into a document: the name of a member, or the place of an item.
#[derive(Clone, PartialEq)]
enum Step {
    Key(String),
    Item(usize),
}

type Place = Vec<Step>;

/// What came of reading: the calls, and what was said to be lost.
#[derive(PartialEq)]
struct Seen {
    calls: Vec<(String, String, &'static str)>,
    lost: Vec<String>,
}

fn seen(bytes: Vec<u8>) -> Option<Seen> {
    let mut reading = read::open("some.json", Box::new(Cursor::new(bytes)), &Options::default()).ok()?;
    let (mut calls, mut lost) = (Vec::new(), Vec::new());
    let lose = |told: &[Diagnostic], lost: &mut Vec<String>| {
        let may = told.iter().filter(|told| told.may_lose_calls());
        lost.extend(may.map(ToString::to_string));
    };
    for session in reading.by_ref() {
        for call in &session.calls {
            calls.push((call.tool.to_string(), call.arguments.raw().to_owned(), call.outcome.word()));
        }
        lose(&session.diagnostics, &mut lost);
    }
    lose(&reading.diagnostics(), &mut lost);
    Some(Seen { calls, lost })
}

/// The documents of a file: its lines, or the whole.
fn documents(text: &str) -> Vec<Value> {
    if let Ok(whole) = serde_json::from_str(text) {
        return vec![whole];
    }
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn bytes(documents: &[Value]) -> Vec<u8> {
    documents.iter().flat_map(|document| format!("{document}\n").into_bytes()).collect()
}

/// Everything in a document but its top: one place for each path of names.
fn places(document: usize, value: &Value, known: &mut HashSet<String>) -> Vec<(usize, Place)> {
    fn walk(value: &Value, path: &mut Place, shape: &str, out: &mut Vec<(Place, String)>) {
        match value {
            Value::Object(map) => {
                let kind = ["type", "role", "kind", "event", "op", "key", "name"]
                    .iter()
                    .find_map(|key| map.get(*key)?.as_str());
                for (key, inner) in map {
                    let shape = format!("{shape}/{}.{key}", kind.unwrap_or_default());
                    path.push(Step::Key(key.clone()));
                    out.push((path.clone(), shape.clone()));
                    walk(inner, path, &shape, out);
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (place, inner) in items.iter().enumerate() {
                    let shape = format!("{shape}[]");
                    path.push(Step::Item(place));
                    out.push((path.clone(), shape.clone()));
                    walk(inner, path, &shape, out);
                    path.pop();
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, &mut Vec::new(), "", &mut out);
    out.into_iter()
        .filter(|(_, shape)| known.insert(shape.clone()))
        .map(|(path, _)| (document, path))
        .collect()
}

fn at<'v>(value: &'v mut Value, place: &[Step]) -> &'v mut Value {
    place.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Item(item) => &mut value[*item],
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn shown(place: &[Step]) -> String {
    place
        .iter()
        .map(|step| match step {
            Step::Key(key) => format!("/{key}"),
            Step::Item(_) => "/*".to_owned(),
        })
        .collect()
}

/// Fixtures, and places in them, where another type changes calls and nothing is said. Of the most the format allows the
/// other type: an error is any value but `null`, `function` may be a name, content may be a text. The rest are marks of
/// results and members of answers that tracing services keep, whose wrong types are not noticed so far. Nothing may be added.
const QUIET: &[(&str, &str)] = &[
    ("agentdojo-drift.json", "/conversations/*/error"),
    ("agentdojo-invariant.jsonl", "/messages/*/error"),
    ("agentdojo-invariant.jsonl", "/messages/*/tool_call_id"),
    ("agentdojo-run.json", "/messages/*/error"),
    ("anthropic-streamed.jsonl", "/request/messages/*/content"),
    ("anthropic.jsonl", "/request/messages/*/content/*/text"),
    ("anthropic.jsonl", "/response/content/*/content"),
    ("anthropic.jsonl", "/response/content/*/content/type"),
    ("assay.jsonl", "/call_index"),
    ("assay.jsonl", "/idx"),
    ("bedrock-strands.jsonl", "/message/content/*/toolResult/status"),
    ("bedrock.jsonl", "/output/outputBodyJson/output/message/content"),
    ("bedrock.jsonl", "/request/messages/*/content"),
    ("bedrock.jsonl", "/request/messages/*/content/*/text"),
    ("bedrock.jsonl", "/request/messages/*/content/*/toolResult/status"),
    ("bedrock.jsonl", "/output/outputBodyJson/output/message/content/*"),
    ("claude-code-stream.jsonl", "/message/content"),
    ("claude-code-stream.jsonl", "/message/content/*"),
    ("claude-code.jsonl", "/message/content/*"),
    ("codex-exec.jsonl", "/item/command"),
    ("codex-exec.jsonl", "/item/exit_code"),
    ("codex-exec.jsonl", "/item/query"),
    ("codex-rollout.jsonl", "/payload/output"),
    ("codex-rollout.jsonl", "/payload/output/content"),
    ("cursor-agent.jsonl", "/tool_call/editToolCall/result"),
    ("cursor-agent.jsonl", "/tool_call/function/result"),
    ("cursor-agent.jsonl", "/tool_call/shellToolCall/result"),
    ("cursor-agent.jsonl", "/tool_call/shellToolCall/result/success"),
    ("gemini-cli-lines.jsonl", "/toolCalls/*/result/*/functionResponse/response/error"),
    ("gemini-stream.jsonl", "/status"),
    ("gemini-stream.jsonl", "/tool_name"),
    ("langfuse-langchain.json", "/observations/*/name"),
    ("langfuse-langchain.json", "/observations/*/startTime"),
    ("langfuse-observations.jsonl", "/output"),
    ("langfuse-observations.jsonl", "/output/status"),
    ("langfuse-observations.jsonl", "/output/type"),
    ("langfuse.json", "/observations/*/output/tool_calls/*"),
    ("langfuse.json", "/observations/*/output/tool_calls/*/function"),
    ("langfuse.json", "/observations/*/output/tool_calls/*/function/name"),
    ("langfuse.json", "/observations/*/startTime"),
    ("langsmith.jsonl", "/outputs/generations/*/*/message/kwargs/tool_calls/*"),
    ("langsmith.jsonl", "/outputs/generations/*/*/message/kwargs/tool_calls/*/name"),
    ("lines.jsonl", "/messages/*/tool_calls/*/function"),
    ("mcp-wrapped.jsonl", "/message/*/id"),
    ("mcp-wrapped.jsonl", "/message/id"),
    ("messages.json", "/*/tool_call_id"),
    ("mini-swe-agent-2.json", "/messages/*/extra/actions/*/command"),
    ("mini-swe-agent-2.json", "/messages/*/extra/exception_info"),
    ("mini-swe-agent-2.json", "/messages/*/tool_calls/*/function"),
    ("openai-agents.jsonl", "/span_data/from_agent"),
    ("openai-agents.jsonl", "/span_data/output/*/tool_calls/*/function"),
    ("openai-chat-streamed.jsonl", "/request/messages/*/content"),
    ("openai-chat-streamed.jsonl", "/request/messages/*/tool_calls/*/function"),
    ("openai-chat.jsonl", "/request/messages/*/content"),
    ("openai-responses-streamed.jsonl", "/response/*/delta"),
    ("openai-responses-streamed.jsonl", "/response/*/output_index"),
    ("openai-responses-streamed.jsonl", "/response/*/type"),
    ("openai-responses.jsonl", "/response/output/*/error"),
    ("openhands-history.jsonl", "/history/*/*/extras/exit_code"),
    ("openhands.json", "/*/tool_call_metadata/model_response/choices"),
    ("otel-flat.jsonl", "/attributes"),
    ("otel-flat.jsonl", "/attributes/input.value"),
    (
        "otel-flat.jsonl",
        "/attributes/llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
    ),
    ("otel-flat.jsonl", "/startTimeUnixNano"),
    ("otel-flat.jsonl", "/tags/langfuse.observation.input"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue/values"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue/values/*"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue/values/*/key"),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue/values/*/value"),
    (
        "otel.json",
        "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue/values/*/value/intValue",
    ),
    (
        "otel.json",
        "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/kvlistValue/values/*/value/stringValue",
    ),
    ("otel.json", "/resourceSpans/*/scopeSpans/*/spans/*/attributes/*/value/stringValue"),
    ("qwen-code.jsonl", "/message/parts/*/functionResponse/response/error"),
    ("tau-bench.json", "/*/traj/*/content"),
    ("tau-bench.json", "/*/traj/*/tool_calls/*/function"),
    ("vercel-ai-model.json", "/*/content/*/output/type"),
    ("vercel-ai-result.json", "/response"),
    ("vercel-ai-result.json", "/response/messages"),
];

/// Keys of what the model wrote, whatever it is: what stands deeper is the call's own.
const WRITTEN: [&str; 9] =
    ["arguments", "args", "input", "inputs", "parameters", "params", "action", "changes", "partial_json"];

fn is_quiet(file: &str, place: &[Step]) -> bool {
    let name = shown(place);
    let written = place.iter().any(|step| matches!(step, Step::Key(key) if WRITTEN.contains(&key.as_str())));
    written || QUIET.contains(&(file, &*name))
}

/// Other values for one of this kind: all of them, or two that are chosen by where it stands.
fn others(was: &str, place: usize, all: bool) -> Vec<Value> {
    let values = [json!(7), json!([7]), json!("x"), json!({}), json!(true), json!([]), json!({"x": 1})];
    let others: Vec<_> = values.into_iter().filter(|value| kind(value) != was).collect();
    match all {
        true => others,
        false => (0..2).map(|n| others[(place + n) % others.len()].clone()).collect(),
    }
}

/// What goes wrong with one fixture.
fn failures(file: &Path, all: bool) -> Vec<String> {
    let documents = documents(&std::fs::read_to_string(file).unwrap());
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let base = seen(bytes(&documents)).unwrap();
    let mut known = HashSet::new();
    let places: Vec<_> =
        documents.iter().enumerate().flat_map(|(n, document)| places(n, document, &mut known)).collect();
    let mut failures = Vec::new();
    for (count, (document, place)) in places.into_iter().enumerate() {
        if is_quiet(&name, &place) {
            continue;
        }
        let mut damaged = documents.clone();
        let was = std::mem::take(at(&mut damaged[document], &place));
        for value in others(kind(&was), count, all) {
            *at(&mut damaged[document], &place) = value.clone();
            // A file that is no recording any more is an error.
            let Some(after) = seen(bytes(&damaged)) else { continue };
            let count = |of: &Seen, lost: &String| of.lost.iter().filter(|other| *other == lost).count();
            let told = after.lost.iter().any(|lost| count(&after, lost) > count(&base, lost));
            // A number is as good an id as a text.
            let id = kind(&was) == "text"
                && value.is_number()
                && shown(&place).to_ascii_lowercase().ends_with("id");
            if after.calls != base.calls && !told && !id {
                let what = if after.calls.len() < base.calls.len() { "calls lost" } else { "calls changed" };
                failures.push(format!(
                    "{name} {}: {} instead of {}: {what}",
                    shown(&place),
                    value,
                    kind(&was)
                ));
            }
        }
    }
    failures
}

/// Two wrong types for each place, or with `EVERY_TYPE=1` all of them.
#[test]
fn a_wrong_type_loses_no_call_without_a_word() {
    let all = std::env::var_os("EVERY_TYPE").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failures = failures(file, all);
                    found.lock().unwrap().extend(failures);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n"));
}
