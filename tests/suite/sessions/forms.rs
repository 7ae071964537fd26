//! Every place that holds a model's answer, with an answer in every form: its call is read, or its loss is said.

use std::collections::BTreeMap;

use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Outcome;
use rulestep_recording::{self as recording, Options};
use serde_json::{Map, Value, json};

const CASES: &str = include_str!("../../fixtures/answers.json");

/// A carrier with an answer: where its places are, in the way that they are written.
fn filled(carrier: &Value, answer: &Value) -> Value {
    let text = || answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    match carrier {
        Value::String(place) => match (place.as_str(), answer) {
            ("@answer", _) => answer.clone(),
            ("@json", _) => Value::String(text()),
            ("@listed" | "@parts", Value::Array(_)) => answer.clone(),
            ("@parts", Value::String(text)) => json!([{"type": "output_text", "text": text}]),
            ("@listed" | "@parts", _) => json!([answer]),
            _ => carrier.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, answer)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), filled(value, answer))).collect()
        }
        _ => carrier.clone(),
    }
}

/// Attributes in the form of OpenTelemetry.
fn attributes(of: &Value) -> Value {
    fn value(of: &Value) -> Value {
        match of {
            Value::String(text) => json!({"stringValue": text}),
            other => json!({"stringValue": other.to_string()}),
        }
    }
    of.as_object().into_iter().flatten().map(|(key, of)| json!({"key": key, "value": value(of)})).collect()
}

/// The file that a carrier is; one of a span is the trace around it.
fn file(carrier: &Value) -> String {
    if let Some(span) = carrier.get("span") {
        let events = carrier.get("event").and_then(Value::as_object).into_iter().flatten();
        let events: Vec<_> = events
            .map(|(name, event)| {
                json!({"name": name, "timeUnixNano": "1772359201000000000", "attributes": attributes(event)})
            })
            .collect();
        let span = json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "chat",
            "startTimeUnixNano": "1772359200000000000", "endTimeUnixNano": "1772359201000000000",
            "attributes": attributes(span), "events": events});
        return json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string();
    }
    match carrier {
        Value::Array(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
        whole => whole.to_string(),
    }
}

/// What is read of a file: its calls, and whether it is said that some may be missing.
fn read(text: String) -> (Vec<(String, Value)>, bool) {
    let input = Box::new(std::io::Cursor::new(text.into_bytes()));
    let Ok(mut reading) = recording::open("some.json", input, &Options::default()) else {
        return (Vec::new(), true);
    };
    let sessions: Vec<_> = reading.by_ref().collect();
    let mut told = reading.diagnostics();
    told.extend(sessions.iter().flat_map(|session| session.diagnostics.clone()));
    let calls = sessions.iter().flat_map(|session| &session.calls);
    let calls =
        calls.map(|call| (call.tool.to_string(), call.arguments.value().cloned().unwrap_or_default()));
    (calls.collect(), told.iter().any(Diagnostic::may_lose_calls))
}

#[test]
fn an_answer_in_any_form_is_read_or_is_damage() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let members = |key: &str| -> Map<String, Value> { cases[key].as_object().unwrap().clone() };
    let arguments = cases["call"]["arguments"].clone();
    let (mut silent, mut read_in) = (Vec::new(), BTreeMap::<String, usize>::new());
    for (name, carrier) in members("carriers") {
        for (form, answer) in members("forms") {
            let tool = if form == "roo tags" { "read_file" } else { "lookup" };
            let (calls, lost) = read(file(&filled(&carrier, &answer)));
            if calls == [(tool.to_owned(), arguments.clone())] && !lost {
                *read_in.entry(name.clone()).or_default() += 1;
            } else if !lost {
                silent.push(format!("{name} / {form}: {calls:?}"));
            }
        }
    }
    assert!(silent.is_empty(), "{} cells:\n{}", silent.len(), silent.join("\n"));
    // Tracing systems hold the answers of any model: all but those in texts are read there.
    let structured = members("forms").values().filter(|answer| !answer.is_string()).count();
    for (name, carrier) in members("carriers") {
        let is_content = ["content", "llm.output_messages"].iter().any(|word| name.ends_with(word));
        if (carrier.get("span").is_some() || name.starts_with("lang") && name != "langchain messages")
            && !(is_content && carrier.get("event").is_none())
        {
            assert_eq!(read_in.get(&name), Some(&structured), "{name}");
        }
    }
}

/// What explains, quotes or is data is no call, and no damage.
#[test]
fn words_about_calls_are_no_damage() {
    let call = json!({"id": "c", "function": {"name": "lookup", "arguments": "{}"}});
    let quoted =
        "A call is written so:\n\n```\n<function=lookup>\n<parameter=order>A-7</parameter>\n</function>\n```";
    let written = "<function=lookup>\n<parameter=order>A-7</parameter>\n</function>";
    for messages in [
        json!([{"role": "assistant", "content": "Models of this kind write `<tool_call>` and `<function=name>`."}]),
        json!([{"role": "assistant", "content": quoted}]),
        json!([{"role": "assistant", "content": format!("{written}\n\nThis is how it is called.")}]),
        json!([{"role": "assistant", "content": "{\"name\": \"Ada\", \"input\": \"none\", \"tools\": [\"lookup\"]}"}]),
        json!([{"role": "assistant", "content": "[{\"action\": \"approve\", \"reason\": \"fine\"}]"}]),
        json!([{"role": "user", "content": written}, {"role": "assistant", "content": "So it is."}]),
        json!([{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "x"},
            {"role": "assistant", "content": written}]),
    ] {
        let (_, lost) = read(json!({"messages": messages}).to_string());
        assert!(!lost, "{messages}");
    }
    let (_, lost) = read(json!({"messages": [{"role": "assistant", "content": written}]}).to_string());
    assert!(lost, "it is all that is said");
    let tags = "<find_order>\n<order>A-7</order>\n</find_order>";
    for (system, expected) in [("Be brief.", false), ("Call tools like this: <find_order><order>…", true)] {
        let messages = json!([{"role": "system", "content": system}, {"role": "assistant", "content": tags}]);
        assert_eq!(read(json!({"messages": messages}).to_string()).1, expected, "{system}");
    }
}

/// Tools, arguments under `command` and outcomes of the calls of a file, and whether some may be missing.
fn done(value: &Value) -> (Vec<(String, String, Outcome)>, bool) {
    let (sessions, told) = super::opened(value.to_string());
    let lost = told.iter().chain(sessions.iter().flat_map(|session| &session.diagnostics));
    let lost = lost.into_iter().any(Diagnostic::may_lose_calls);
    let calls = sessions.iter().flat_map(|session| &session.calls).map(|call| {
        let command = call.arguments.value().and_then(|given| given["command"].as_str());
        (call.tool.to_string(), command.unwrap_or_default().to_owned(), call.outcome)
    });
    (calls.collect(), lost)
}

fn expected(calls: &[(&str, &str, Outcome)]) -> (Vec<(String, String, Outcome)>, bool) {
    (calls.iter().map(|(tool, command, ended)| ((*tool).into(), (*command).into(), *ended)).collect(), false)
}

/// OpenHands answers each call that a model writes into its text in the message after it.
#[test]
fn calls_in_texts_of_openhands_are_read_with_their_results() {
    let calls = |command: &str| {
        format!("I try.\n\n<function=run>\n<parameter=command>{command}</parameter>\n</function>")
    };
    for (first, second) in [
        ("OBSERVATION:\nmade", "OBSERVATION:\nno such file\n[Command finished with exit code 2]"),
        (
            "EXECUTION RESULT of [run]:\nmade",
            "EXECUTION RESULT of [run]:\nno\n[The command completed with exit code 1.]",
        ),
    ] {
        let messages = json!([
            {"role": "user", "content": "go"}, {"role": "assistant", "content": calls("make")},
            {"role": "user", "content": first}, {"role": "assistant", "content": calls("cat x")},
            {"role": "user", "content": [{"type": "text", "text": second}]}, {"role": "assistant", "content": calls("stop")},
            {"role": "user", "content": "Who are you?"}, {"role": "assistant", "content": "An agent."},
        ]);
        let wanted = [
            ("run", "make", Outcome::Ok),
            ("run", "cat x", Outcome::Error),
            ("run", "stop", Outcome::Unknown),
        ];
        for file in [json!([{"id": "t", "messages": messages}]), json!({"messages": messages})] {
            assert_eq!(done(&file), expected(&wanted), "{file}");
        }
        // What comes after a message is not known where each is read by itself.
        assert!(done(&messages).1, "{messages}");
    }
}

/// Its logs of requests keep the calls as it meant them beside the texts that it sent: the server since 2024, the SDK since 2025.
#[test]
fn logs_of_openhands_give_the_calls_as_they_were_meant() {
    let call = |id: &str, command: &str| {
        let arguments = json!({"command": command}).to_string();
        json!({"role": "assistant", "content": "", "tool_calls":
            [{"id": id, "type": "function", "function": {"name": "run", "arguments": arguments}}]})
    };
    let text = |command: &str| json!({"role": "assistant", "content": format!("<function=run>\n<parameter=command>{command}</parameter>\n</function>")});
    let user = json!({"role": "user", "content": "go"});
    let answer = |message: Value| json!({"id": "r", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]});
    let failed = "gone\n[Command finished with exit code 3]";
    let sent = json!([user, text("make"), {"role": "user", "content": format!("EXECUTION RESULT of [run]:\n{failed}")}]);
    let meant = json!([user, call("a", "make"), {"role": "tool", "tool_call_id": "a", "name": "run", "content": failed}]);
    let wanted = [("run", "make", Outcome::Error), ("run", "rm x", Outcome::Unknown)];
    for log in [
        json!({"messages": sent, "tools": null, "kwargs": {}, "raw_messages": meant, "response": answer(call("b", "rm x"))}),
        json!({"messages": sent, "response": answer(text("rm x")), "args": [], "kwargs": {}, "timestamp": 1.5,
            "fncall_messages": meant, "fncall_response": answer(call("b", "rm x"))}),
    ] {
        assert_eq!(done(&log), expected(&wanted), "{log}");
    }
    // Without them the call of the first response is lost, and that is said although the last one has another.
    let log = json!({"messages": sent, "kwargs": {}, "response": answer(call("b", "rm x"))});
    assert!(done(&log).1, "{log}");
}

/// The same messages are the same session by themselves, in an object, and in a list of such.
#[test]
fn commands_in_fences_are_read_in_every_wrapping() {
    let runs = |command: &str| json!({"role": "assistant", "content": format!("THOUGHT: on\n\n```bash\n{command}\n```")});
    let came = |code: i32| json!({"role": "user", "content": format!("<returncode>{code}</returncode>\n<output>\nx\n</output>")});
    let messages = json!([{"role": "system", "content": "You have a shell."}, {"role": "user", "content": "go"},
        runs("make"), came(2), runs("make -k"), came(0)]);
    let wanted = [("bash", "make", Outcome::Error), ("bash", "make -k", Outcome::Ok)];
    for file in [
        messages.clone(),
        json!({"messages": messages}),
        json!([{"id": "1", "messages": messages, "score": 1}]),
        json!({"messages": messages, "info": {}}),
    ] {
        assert_eq!(done(&file), expected(&wanted), "{file}");
    }
}

/// Where Cline gives a model no tools, its calls are tags named after them, and results name the tool.
#[test]
fn tags_of_cline_are_read_with_their_results() {
    let assistant =
        |text: &str| json!({"role": "assistant", "ts": 2, "content": [{"type": "text", "text": text}]});
    let result = |tool: &str, gave: &str| {
        json!({"role": "user", "ts": 3, "content": [{"type": "text", "text": format!("[{tool} for 'x'] Result:")},
            {"type": "text", "text": gave}, {"type": "text", "text": "<environment_details>\nx\n</environment_details>"}]})
    };
    let runs = |command: &str| {
        format!("I try.\n\n<execute_command>\n<command>{command}</command>\n</execute_command>")
    };
    let log = json!([
        {"role": "user", "ts": 1, "content": [{"type": "text", "text": "<task>\ngo\n</task>"}]},
        assistant(&runs("make")),
        result("execute_command", "Command executed.\nmade"),
        assistant(&runs("rm x")),
        result("execute_command", "The user denied this operation."),
        assistant("<attempt_completion>\n<result>Done, as `<execute_command>` says.</result>\n</attempt_completion>"),
    ]);
    let wanted = [
        ("execute_command", "make", Outcome::Ok),
        ("execute_command", "rm x", Outcome::Refused),
        ("attempt_completion", "", Outcome::Unknown),
    ];
    assert_eq!(done(&log), expected(&wanted));
}

/// A call that is a part of a content is not passed over because the response has others, and neither is one of a stranger.
#[test]
fn calls_in_contents_are_looked_for_beside_others() {
    let item =
        |name: &str| json!({"type": "function_call", "call_id": name, "name": name, "arguments": "{}"});
    let message = |content: Value| json!({"type": "message", "role": "assistant", "content": content});
    let text = json!({"type": "output_text", "text": "So."});
    let log = |said: Value| {
        let output = json!([message(said), item("a")]);
        json!({"request": {"model": "m", "input": "go"}, "response": {"id": "r", "object": "response", "output": output}}).to_string()
    };
    for (content, expected) in [
        (json!([text]), false),
        (json!([text, item("b")]), true),
        (json!([text, {"type": "tool_use", "id": "b", "name": "b", "input": {}}]), true),
        // It is the one that is read.
        (json!([text, item("a")]), false),
    ] {
        let (calls, lost) = read(log(content.clone()));
        assert_eq!((calls.len(), lost), (1, expected), "{content}");
    }
    let written = "<function=lookup>\n<parameter=order>A-7</parameter>\n</function>";
    for (role, content, expected) in [
        ("planner", "Let us begin.", false),
        ("planner", written, true),
        ("user", written, false),
        ("", "Let us begin.", true),
    ] {
        let said = json!({"messages": [{"role": role, "content": content}, {"role": "assistant", "content": "So."}]});
        assert_eq!(read(said.to_string()).1, expected, "{role}: {content}");
    }
}
