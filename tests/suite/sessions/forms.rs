//! Every place that holds a model's answer, with an answer in every form: its call is read, or its loss is said.

use std::collections::BTreeMap;

use rulestep::internals::diagnostic::Diagnostic;
use rulestep::internals::recording::{self, Options};
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
