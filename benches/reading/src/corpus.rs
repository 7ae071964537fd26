//! The sessions that are read: made, or taken from recordings, and written in each format.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// How a format lays out its sessions.
pub struct Layout {
    /// Name of the format.
    pub name: &'static str,
    /// Whether each line is a value.
    pub by_lines: bool,
    /// Whether each session is a file, as its program writes it.
    a_file_each: bool,
    write: fn(&Value, usize, &mut dyn Write),
}

/// The formats that are measured.
pub const LAYOUTS: &[Layout] = &[
    Layout { name: "native", by_lines: true, a_file_each: false, write: native },
    Layout { name: "tau-bench", by_lines: false, a_file_each: false, write: tau_bench },
    Layout { name: "claude-code", by_lines: true, a_file_each: true, write: claude_code },
    Layout { name: "otel", by_lines: true, a_file_each: false, write: otel },
];

/// Sessions on the disk.
pub struct Corpus {
    pub folder: PathBuf,
    pub files: Vec<PathBuf>,
    pub sessions: usize,
    pub bytes: usize,
}

/// Writes sessions in a format, again and again with ids of their own, until there are this many bytes.
pub fn write(layout: &Layout, sessions: &[Value], most: usize, folder: &Path) -> Corpus {
    fs::create_dir_all(folder).expect("a folder can be made");
    let mut corpus = Corpus { folder: folder.to_owned(), files: Vec::new(), sessions: 0, bytes: 0 };
    let mut open: Option<BufWriter<File>> = None;
    for (number, session) in sessions.iter().cycle().enumerate() {
        let mut bytes = Vec::new();
        (layout.write)(session, number, &mut bytes);
        // A session in which nothing is said has no place in some formats.
        if bytes.is_empty() {
            assert!(corpus.sessions > 0 || number < sessions.len(), "no session says anything");
            continue;
        }
        if corpus.bytes + bytes.len() > most && corpus.sessions > 0 {
            break;
        }
        if layout.a_file_each || open.is_none() {
            let extension = if layout.by_lines { "jsonl" } else { "json" };
            let path = folder.join(format!("{number}.{extension}"));
            open = Some(BufWriter::new(File::create(&path).expect("a file can be made")));
            corpus.files.push(path);
        }
        let file = open.as_mut().expect("a file is open");
        if !layout.by_lines {
            file.write_all(if corpus.sessions == 0 { b"[" } else { b", " })
                .expect("the corpus can be written");
        }
        file.write_all(&bytes).expect("the corpus can be written");
        corpus.bytes += bytes.len();
        corpus.sessions += 1;
    }
    if let Some(mut file) = open.filter(|_| !layout.by_lines) {
        file.write_all(b"]\n").expect("the corpus can be written");
    }
    corpus
}

/// The sessions of recordings, in the native form.
pub fn converted(binary: &Path, recordings: &Path) -> Vec<Value> {
    let output = Command::new(binary).arg("convert").arg(recordings).stderr(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{} does not run: {error}", binary.display()));
    let text = String::from_utf8(output.stdout).expect("`convert` writes text");
    let sessions: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("`convert` writes JSON")).collect();
    assert!(!sessions.is_empty(), "{} holds no session", recordings.display());
    sessions
}

/// Sessions in which a customer asks a shop for something, in the shape of tau-bench: long instructions, lookups with long
/// results, a few writes.
pub fn made() -> Vec<Value> {
    (0..100).map(conversation).collect()
}

fn conversation(task: usize) -> Value {
    let order = format!("#W{:07}", 2_378_156 + task * 31);
    let instructions = "As a retail agent, you can help users cancel or modify pending orders, return or exchange delivered \
        orders. At the beginning of the conversation, you have to authenticate the user's identity. You should not make up \
        any information.\n\n- You should at most make one tool call at a time.\n";
    let mut messages = vec![
        json!({"role": "system", "content": instructions.repeat(16)}),
        json!({"role": "user", "content": format!("Hi, I'd like to exchange the keyboard of my order {order}, please.")}),
    ];
    let mut call = |number: usize, tool: &str, arguments: Value, result: Value| {
        let id = format!("call_{task}_{number}");
        let function = json!({"name": tool, "arguments": arguments.to_string()});
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages
            .push(json!({"role": "tool", "tool_call_id": id, "name": tool, "content": result.to_string()}));
    };
    let item = |number: usize| {
        json!({"name": "Mechanical Keyboard", "product_id": format!("{}", 1_656_367_028 + number),
            "item_id": format!("{}", 1_151_293_680 + number), "price": 272.33,
            "options": {"switch type": "linear", "backlight": "RGB", "size": "full size"}})
    };
    let details = |status: &str| {
        json!({"order_id": order, "user_id": format!("yusuf_rossi_{task}"), "status": status,
            "address": {"address1": "763 Broadway", "address2": "Suite 135", "city": "Philadelphia", "zip": "19122"},
            "items": (0..5).map(item).collect::<Vec<_>>(), "payment_history": [{"transaction_type": "payment",
            "amount": 1379.14, "payment_method_id": "credit_card_9513926"}]})
    };
    let variants: serde_json::Map<String, Value> =
        (0..8).map(|number| (format!("{}", 9_000_000_000_u64 + number as u64), item(number))).collect();
    let status = if task % 4 == 0 { "pending" } else { "delivered" };
    call(
        0,
        "find_user_id_by_name_zip",
        json!({"first_name": "Yusuf", "last_name": "Rossi", "zip": "19122"}),
        json!(format!("yusuf_rossi_{task}")),
    );
    for number in 0..1 + task % 3 {
        call(number + 1, "get_order_details", json!({"order_id": order}), details(status));
        call(
            number + 4,
            "get_product_details",
            json!({"product_id": "1656367028"}),
            json!({"name": "Mechanical Keyboard", "product_id": "1656367028", "variants": variants}),
        );
    }
    call(
        8,
        "exchange_delivered_order_items",
        json!({"order_id": order, "item_ids": ["1151293680"], "new_item_ids": ["7706410293"],
            "payment_method_id": "credit_card_9513926"}),
        details("exchange requested"),
    );
    messages
        .push(json!({"role": "assistant", "content": "The exchange is requested. Is there anything else?"}));
    messages.push(json!({"role": "user", "content": "No, thank you! ###STOP###"}));
    json!({"id": format!("task-{task}"), "messages": messages, "results": "recorded"})
}

fn native(session: &Value, number: usize, out: &mut dyn Write) {
    let mut session = session.clone();
    session["id"] = json!(format!("session-{number}"));
    line(&session, out);
}

fn tau_bench(session: &Value, number: usize, out: &mut dyn Write) {
    let run = json!({"task_id": number, "reward": 1.0, "info": {}, "traj": session["messages"], "trial": 0});
    serde_json::to_writer(out, &run).expect("memory can be written");
}

fn claude_code(session: &Value, number: usize, out: &mut dyn Write) {
    let mut parent = Value::Null;
    // No two sessions have calls of one id: those would be forks.
    let own = |id: &Value| json!(format!("{}_{number}", id.as_str().unwrap_or_default()));
    let mut entry = |place: usize, kind: &str, message: Value, more: Value| {
        let uuid = format!("{number:08x}-0000-4000-8000-{place:012x}");
        let mut entry = json!({"parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": "/srv/shop", "sessionId": format!("{number:08x}-1111-4000-8000-000000000000"), "version": "2.1.39",
            "gitBranch": "main", "type": kind, "message": message, "uuid": uuid,
            "timestamp": format!("2026-02-11T20:{:02}:{:02}.375Z", place / 60 % 60, place % 60)});
        if !more.is_null() {
            entry["toolUseResult"] = more;
        }
        line(&entry, out);
        parent = json!(uuid);
    };
    for (place, message) in messages(session).iter().enumerate() {
        let content = &message["content"];
        match message["role"].as_str().unwrap_or_default() {
            "assistant" => {
                let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
                    json!({"type": "tool_use", "id": own(&call["id"]), "name": call["function"]["name"],
                        "input": arguments(call)})
                });
                let said = content.as_str().map(|text| json!({"type": "text", "text": text}));
                let content: Vec<Value> = said.into_iter().chain(calls).collect();
                let message = json!({"model": "model-t", "id": format!("msg_{number}_{place}"), "type": "message",
                    "role": "assistant", "content": content, "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": 3, "output_tokens": 120}});
                entry(place, "assistant", message, Value::Null);
            }
            "tool" => {
                let result = json!({"type": "tool_result", "tool_use_id": own(&message["tool_call_id"]),
                    "content": [{"type": "text", "text": content}]});
                let message = json!({"role": "user", "content": [result]});
                entry(place, "user", message, content.clone());
            }
            _ => entry(place, "user", json!({"role": "user", "content": content}), Value::Null),
        }
    }
}

/// A trace a line, as the file exporter of a collector writes them. A request repeats the whole history, as it was sent.
fn otel(session: &Value, number: usize, out: &mut dyn Write) {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let mut spans = Vec::new();
    let mut span = |name: &str, operation: &str, attributes: Vec<Value>| {
        let place = spans.len() as u64 + 1;
        let common = ["gen_ai.operation.name", "gen_ai.conversation.id"];
        let [operation, conversation] = [operation.to_owned(), format!("conversation-{number}")];
        let mut all = vec![attribute(common[0], &operation), attribute(common[1], &conversation)];
        all.extend(attributes);
        let begin = 1_778_497_200_000_000_000 + place * 1_000_000_000;
        spans.push(json!({"traceId": format!("{number:032x}"), "spanId": format!("{place:016x}"), "name": name, "kind": 3,
            "startTimeUnixNano": begin.to_string(), "endTimeUnixNano": (begin + 900_000_000).to_string(),
            "attributes": all}));
    };
    let mut history: Vec<Value> = Vec::new();
    let mut names = std::collections::HashMap::new();
    for message in messages(session) {
        let role = message["role"].as_str().unwrap_or_default();
        let text = message["content"].as_str().map(|text| json!({"type": "text", "content": text}));
        match role {
            "assistant" => {
                let calls: Vec<&Value> = message["tool_calls"].as_array().into_iter().flatten().collect();
                for call in &calls {
                    names.insert(call["id"].to_string(), (*call).clone());
                }
                let calls = calls.iter().map(|call| {
                    json!({"type": "tool_call", "id": call["id"], "name": call["function"]["name"],
                        "arguments": arguments(call)})
                });
                let parts: Vec<Value> = text.into_iter().chain(calls).collect();
                let said = json!({"role": "assistant", "parts": parts});
                let attributes = vec![
                    attribute("gen_ai.input.messages", &Value::from(history.clone()).to_string()),
                    attribute("gen_ai.output.messages", &json!([said]).to_string()),
                ];
                span("chat model-t", "chat", attributes);
                history.push(said);
            }
            "tool" => {
                let id = &message["tool_call_id"];
                let result = message["content"].as_str().unwrap_or_default();
                let call = names.get(&id.to_string()).cloned().unwrap_or_default();
                let tool = call["function"]["name"].as_str().unwrap_or_default();
                let attributes = vec![
                    attribute("gen_ai.tool.name", tool),
                    attribute("gen_ai.tool.call.id", id.as_str().unwrap_or_default()),
                    attribute("gen_ai.tool.call.arguments", &arguments(&call).to_string()),
                    attribute("gen_ai.tool.call.result", result),
                ];
                span(&format!("execute_tool {tool}"), "execute_tool", attributes);
                let part = json!({"type": "tool_call_response", "id": id, "response": result});
                history.push(json!({"role": "tool", "parts": [part]}));
            }
            role => history.push(json!({"role": role, "parts": text.into_iter().collect::<Vec<_>>()})),
        }
    }
    let resource = json!({"attributes": [attribute("service.name", "shop-agent")]});
    let scope = json!({"scope": {"name": "shop-agent"}, "spans": spans});
    line(&json!({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}), out);
}

fn messages(session: &Value) -> &[Value] {
    session["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// Arguments as an object, where the session holds them as its text.
fn arguments(call: &Value) -> Value {
    let recorded = &call["function"]["arguments"];
    recorded.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| recorded.clone())
}

fn line(value: &Value, mut out: &mut dyn Write) {
    serde_json::to_writer(&mut out, value).expect("memory can be written");
    out.write_all(b"\n").expect("memory can be written");
}
