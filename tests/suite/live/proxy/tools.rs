//! The list of tools: without those that are stopped now, and told when it changes.

use rulestep::live::agent::Answer;
use rulestep::live::proxy::Delivery;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use super::{Connection, POLICY, kinds};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn initialized(connection: &Connection) {
    connection.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
}

/// Lists tools from a cursor; what the client sees of what the server answers.
fn list(connection: &Connection, cursor: Option<&str>, tools: &[&str]) -> (Vec<String>, Value) {
    let mut ask = json!({"jsonrpc": "2.0", "id": "l", "method": "tools/list", "params": {}});
    if let Some(cursor) = cursor {
        ask["params"]["cursor"] = json!(cursor);
    }
    assert_eq!(connection.client(&ask), [Delivery::Server(ask.to_string())]);
    let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name, "x-more": 1.50})).collect();
    let answer =
        json!({"jsonrpc": "2.0", "id": "l", "result": {"tools": tools, "nextCursor": "c", "_meta": {}}});
    let deliveries = connection.server(&answer);
    let [Delivery::Client(text)] = &deliveries[..] else { panic!("{deliveries:?}") };
    let seen: Value = serde_json::from_str(text).unwrap();
    let names = seen["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned());
    (names.collect(), seen)
}

#[test]
fn tools_appear_when_their_preconditions_hold() {
    let connection = Connection::new(POLICY);
    initialized(&connection);
    let (names, seen) = list(&connection, None, &["deploy", "test", "erase"]);
    assert_eq!(names, ["test", "erase"]);
    assert_eq!((&seen["result"]["nextCursor"], &seen["result"]["_meta"]), (&json!("c"), &json!({})));
    assert!(seen.to_string().contains(r#""x-more":1.5"#), "{seen}");
    connection.call(1, "test").unwrap();
    let deliveries = connection.result(1);
    assert_eq!(deliveries[1..], [Delivery::Client(CHANGED.to_owned())]);
    assert_eq!(list(&connection, None, &["deploy", "test", "erase"]).0, ["deploy", "test", "erase"]);
    // Nothing changes, so nothing is said.
    connection.call(2, "test").unwrap();
    assert_eq!(kinds(&connection.result(2)), ["client"]);
    connection.call(3, "erase").unwrap();
    assert_eq!(connection.result(3)[1..], [Delivery::Client(CHANGED.to_owned())]);
    assert_eq!(list(&connection, None, &["deploy", "test", "erase"]).0, ["deploy", "test"]);
}

/// The client sees every tool, and a call that is not allowed is denied with its reason, and is in the journal.
#[test]
fn tools_may_be_kept() {
    let Connection { proxy, policy, state, _folder } = Connection::new(POLICY);
    let connection = Connection { proxy: proxy.keep_tools(), policy, state, _folder };
    initialized(&connection);
    assert_eq!(list(&connection, None, &["deploy", "test", "erase"]).0, ["deploy", "test", "erase"]);
    assert!(connection.call(1, "deploy").is_err());
    connection.call(2, "test").unwrap();
    // What is offered does not change.
    assert_eq!(kinds(&connection.result(2)), ["client"]);
    let calls = connection.calls(Mode::Enforce);
    assert_eq!((calls[0].0.as_str(), calls[0].1.as_str(), calls.len()), ("deploy", "deny", 2));
}

#[test]
fn pages_are_one_list() {
    let connection = Connection::new(POLICY);
    initialized(&connection);
    assert_eq!(list(&connection, None, &["test", "read"]).0, ["test", "read"]);
    assert_eq!(list(&connection, Some("c"), &["deploy", "send"]).0, ["send"]);
    connection.call(1, "test").unwrap();
    // The tool that appears is on the second page.
    assert_eq!(connection.result(1)[1..], [Delivery::Client(CHANGED.to_owned())]);
    assert_eq!(list(&connection, Some("c"), &["deploy", "send"]).0, ["deploy", "send"]);
    // A list from its beginning forgets the pages of the one before.
    list(&connection, None, &["read"]);
    connection.call(2, "erase").unwrap();
    assert_eq!(kinds(&connection.result(2)), ["client"]);
}

#[test]
fn changes_are_told_to_who_asked_for_them() {
    let connection = Connection::new(POLICY);
    list(&connection, None, &["deploy", "test"]);
    connection.call(1, "test").unwrap();
    assert_eq!(kinds(&connection.result(1)), ["client"], "the client is not ready");
    let connection = Connection::new(POLICY);
    let listen = json!({"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": true}}});
    connection.client(&listen);
    list(&connection, None, &["deploy", "erase"]);
    connection.call(1, "test").unwrap();
    let deliveries = connection.result(1);
    let [_, Delivery::Client(told)] = &deliveries[..] else { panic!("{deliveries:?}") };
    let told: Value = serde_json::from_str(told).unwrap();
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    connection.server(&json!({"jsonrpc": "2.0", "id": "sub", "result": {}}));
    connection.call(2, "erase").unwrap();
    assert_eq!(kinds(&connection.result(2)), ["client"], "the subscription is over");
}

fn handshake(connection: &Connection, capabilities: &Value) -> Value {
    connection.client(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": capabilities, "serverInfo": {"name": "x", "icons": []}}});
    let deliveries = connection.server(&answer);
    let [Delivery::Client(text)] = &deliveries[..] else { panic!("{deliveries:?}") };
    let mut seen: Value = serde_json::from_str(text).unwrap();
    let result = seen["result"]["capabilities"].take();
    assert_eq!(seen["result"]["serverInfo"], answer["result"]["serverInfo"]);
    result
}

#[test]
fn the_handshake_announces_changes() {
    let announced = |capabilities: Value| handshake(&Connection::new(POLICY), &capabilities);
    assert_eq!(announced(json!({"tools": {}, "x": 1})), json!({"tools": {"listChanged": true}, "x": 1}));
    assert_eq!(announced(json!({"tools": {"listChanged": false}})), json!({"tools": {"listChanged": true}}));
    assert_eq!(announced(json!({"prompts": {}})), json!({"prompts": {}}));
    let shadow = Connection::with(POLICY, Mode::Shadow, None, |_| Answer::Silent);
    assert_eq!(handshake(&shadow, &json!({"tools": {}})), json!({"tools": {}}));
}

#[test]
fn in_shadow_mode_no_tool_is_hidden() {
    let connection = Connection::with(POLICY, Mode::Shadow, None, |_| Answer::Silent);
    initialized(&connection);
    assert_eq!(list(&connection, None, &["deploy", "test"]).0, ["deploy", "test"]);
    connection.call(1, "test").unwrap();
    assert_eq!(kinds(&connection.result(1)), ["client"]);
}

#[test]
fn names_of_the_server_are_not_changed_in_its_list() {
    let policy = "tool: mcp__ci__deploy\npreconditions: [{requires_prior_tool: mcp__ci__test}]\n";
    let connection = Connection::with(policy, Mode::Enforce, Some("ci"), Answer::Deny);
    assert_eq!(list(&connection, None, &["deploy", "test"]).0, ["test"]);
}

/// Nobody knows then what may be called, and each call is denied with the reason.
#[test]
fn without_a_policy_the_list_passes_with_a_note() {
    let connection = Connection::new("tool: [");
    connection.client(&json!({"jsonrpc": "2.0", "id": "l", "method": "tools/list"}));
    let answer = json!({"jsonrpc": "2.0", "id": "l", "result": {"tools": [{"name": "deploy"}]}});
    let deliveries = connection.server(&answer);
    assert_eq!(kinds(&deliveries), ["client", "note"], "{deliveries:?}");
}
