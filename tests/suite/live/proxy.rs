//! `rulestep proxy`: what passes between an MCP client and its server, what does not, and what the journal has of it.

mod faults;
#[cfg(feature = "proxy-http")]
mod http;
mod peers;
mod recordings;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use rulestep::live::agent::Answer;
use rulestep::live::hook_service::HookService;
use rulestep::live::proxy::{AGENT, Delivery, Proxy};
use rulestep_engine::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::records;
use crate::cli::folder;

const POLICY: &str = "\
tool: deploy
preconditions: [{requires_prior_tool: test}]
---
tool: erase
forbids_after: [erase]
---
tool: push
preconditions: [{requires_prior_tool: test, effect: ask, tell: Run the tests first.}]
---
forbidden: [{sequence: [read, send], action: halt, reason: read and sent}]
";

/// A connection without processes.
pub struct Connection {
    pub proxy: Proxy,
    pub policy: PathBuf,
    state: PathBuf,
    _folder: TempDir,
}

impl Connection {
    pub fn new(policy: &str) -> Connection {
        Connection::with(policy, Mode::Enforce, None, Answer::Deny)
    }

    pub fn with(
        policy: &str,
        mode: Mode,
        server: Option<&str>,
        on_error: fn(String) -> Answer,
    ) -> Connection {
        let folder = folder(&[("p.yaml", policy)]);
        let (policy, state) = (folder.path().join("p.yaml"), folder.path().join("state"));
        let service = HookService {
            agent: AGENT,
            transcripts: None,
            folder: state.clone(),
            policy: policy.to_str().unwrap().to_owned(),
            guard: None,
            home: None,
            mode,
            asks: true,
            wait: Duration::from_secs(5),
        };
        let proxy = Proxy::new(service, Some("s".to_owned()), server.map(str::to_owned), on_error);
        Connection { proxy, policy, state, _folder: folder }
    }

    pub fn client(&self, message: &Value) -> Vec<Delivery> {
        self.proxy.client_line(message.to_string().as_bytes())
    }

    pub fn server(&self, message: &Value) -> Vec<Delivery> {
        self.proxy.server_line(message.to_string().as_bytes())
    }

    /// Sends a call; whether it was passed on, and the text of the answer if there is one.
    pub fn call(&self, id: u32, tool: &str) -> Result<(), String> {
        let deliveries = self.client(&call(id, tool));
        match &deliveries[0] {
            Delivery::Server(text) => {
                assert_eq!(serde_json::from_str::<Value>(text).unwrap(), call(id, tool));
                Ok(())
            }
            Delivery::Client(text) => {
                let answer: Value = serde_json::from_str(text).unwrap();
                assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(true)));
                Err(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned())
            }
            Delivery::Note(note) => panic!("{note}"),
        }
    }

    pub fn result(&self, id: u32) -> Vec<Delivery> {
        self.server(&result(id))
    }

    pub fn journal(&self) -> PathBuf {
        self.state.join("mcp/s.jsonl")
    }

    /// Tool, decision and outcome of each call in the journal, which decides the same when it is replayed.
    pub fn calls(&self, mode: Mode) -> Vec<(String, String, String)> {
        let (text, policy) = (fs::read(self.journal()).unwrap(), Policy::from_dir(&self.policy).unwrap());
        let session = rulestep_recording::read("s.jsonl", text).unwrap().remove(0);
        let replay = Replay::new(&Arc::new(session.clone()), &policy, mode);
        let again: Vec<&str> = replay.calls().iter().map(|call| call.decision.verdict.word()).collect();
        let records = records(&self.journal());
        let decided: Vec<&str> = records.iter().filter_map(|record| record["decision"].as_str()).collect();
        assert_eq!(again, decided);
        let calls = session.calls.iter().zip(decided);
        calls
            .map(|(call, decided)| {
                (call.tool.to_string(), decided.to_owned(), call.outcome.word().to_owned())
            })
            .collect()
    }
}

pub fn call(id: u32, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"n": 1}}})
}

pub fn result(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "done"}]}})
}

fn kinds(deliveries: &[Delivery]) -> Vec<&str> {
    let kind = |delivery: &Delivery| match delivery {
        Delivery::Server(_) => "server",
        Delivery::Client(_) => "client",
        Delivery::Note(_) => "note",
    };
    deliveries.iter().map(kind).collect()
}

fn triples(calls: &[(String, String, String)]) -> Vec<(&str, &str, &str)> {
    calls.iter().map(|(tool, decided, outcome)| (&**tool, &**decided, &**outcome)).collect()
}

#[test]
fn a_call_is_decided_before_it_is_passed_on_and_its_end_recorded_before_the_answer() {
    let connection = Connection::new(POLICY);
    let why = connection.call(1, "deploy").unwrap_err();
    assert!(why.contains("Way out: call test successfully"), "{why}");
    connection.call(2, "test").unwrap();
    // In flight it has not succeeded.
    connection.call(3, "deploy").unwrap_err();
    assert_eq!(connection.result(2), [Delivery::Client(result(2).to_string())]);
    connection.call(4, "deploy").unwrap();
    let failed = json!({"jsonrpc": "2.0", "id": 4, "result": {"content": [], "isError": true}});
    connection.server(&failed);
    connection.call(5, "erase").unwrap();
    connection.server(&json!({"jsonrpc": "2.0", "id": 5.0, "error": {"code": -32603, "message": "no"}}));
    // It failed, so it may be tried again; while it is in flight it may have happened.
    connection.call(6, "erase").unwrap();
    connection.call(7, "erase").unwrap_err();
    let calls = connection.calls(Mode::Enforce);
    let expected = [
        ("deploy", "deny", "refused"),
        ("test", "allow", "ok"),
        ("deploy", "deny", "refused"),
        ("deploy", "allow", "error"),
        ("erase", "allow", "error"),
        ("erase", "allow", "unknown"),
        ("erase", "deny", "refused"),
    ];
    assert_eq!(triples(&calls), expected);
}

#[test]
fn after_a_halt_every_call_is_denied() {
    let connection = Connection::new(POLICY);
    connection.call(1, "read").unwrap();
    connection.result(1);
    assert!(connection.call(2, "send").unwrap_err().contains("This ends the session."));
    for id in 3..6 {
        connection.call(id, "test").unwrap_err();
    }
    assert_eq!(connection.calls(Mode::Enforce).len(), 5);
}

#[test]
fn in_shadow_mode_everything_passes_and_is_recorded() {
    let connection = Connection::with(POLICY, Mode::Shadow, None, |_| Answer::Silent);
    for (id, tool) in [(1, "deploy"), (2, "push"), (3, "read"), (4, "send"), (5, "deploy")] {
        connection.call(id, tool).unwrap();
        connection.result(id);
    }
    let decided: Vec<_> = connection.calls(Mode::Shadow).into_iter().map(|call| call.1).collect();
    assert_eq!(decided, ["deny", "ask", "allow", "halt", "deny"]);
}

#[test]
fn a_name_of_the_server_is_in_the_names_of_its_tools() {
    let policy = "tool: mcp__ci__deploy\npreconditions: [{requires_prior_tool: mcp__ci__test}]\n";
    let connection = Connection::with(policy, Mode::Enforce, Some("ci"), Answer::Deny);
    connection.call(1, "deploy").unwrap_err();
    connection.call(2, "test").unwrap();
    connection.result(2);
    connection.call(3, "deploy").unwrap();
    assert_eq!(connection.calls(Mode::Enforce)[2].0, "mcp__ci__deploy");
}

/// What an SDK would drop or write anew.
#[rstest]
#[case(r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"x/unknown","params":{"n":1.10,"m":1E400,"_meta":{"progressToken":"t"}},"more":[]}"#)]
#[case(r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":0.50},"jsonrpc":"2.0"}"#)]
#[case(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77,"reason":"\u00e4"}}"#)]
#[case(r#"{"jsonrpc":"2.0","id":"server-1","result":{"role":"assistant","content":{"type":"text","text":"\/"},"model":"m"}}"#)]
#[case(r#"{"jsonrpc":"2.0","id":"server-2","error":{"code":-1,"message":"no"}}"#)]
#[case(r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"file:///a  b"}}"#)]
#[case(r#"{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"deploy","arguments":{"n":"1"}}}"#)]
#[case(r#"{"jsonrpc":"2.0","id":7,"method":"x/get","params":{"name":"deploy"}}"#)]
#[case(r#"{"jsonrpc":"2.0","id":"server-3","method":"sampling/createMessage","params":{"messages":[]}}"#)]
fn everything_else_passes_unchanged(#[case] line: &str) {
    let connection = Connection::new(POLICY);
    let text = format!("{line}\r\n");
    assert_eq!(connection.proxy.client_line(text.as_bytes()), [Delivery::Server(line.to_owned())]);
    assert_eq!(connection.proxy.server_line(text.as_bytes()), [Delivery::Client(line.to_owned())]);
    assert!(!connection.journal().exists(), "nothing is recorded of it");
}

/// Calls that a server might see where the proxy does not, and calls that cannot be answered.
#[rstest]
#[case("nonsense", -32700)]
#[case("7", -32700)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test"}"#, -32700)]
#[case(r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test"}}]"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#, -32602)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32602)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""}}"#, -32602)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["test"]}"#, -32602)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test","Name":"erase"}}"#, -32602)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test","name":"erase"}}"#, -32700)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test","arguments":{"p":1,"p":2}}}"#, -32700)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"test"}}"#, -32700)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"test"}}"#, -32700)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":" tools/call","params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"tools/execute","params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"CallTool","params":{"name":"test"}}"#, -32600)]
#[case(r#"{"jsonrpc":"2.0","id":1,"method":"x/run","params":{"name":"test","arguments":{}}}"#, -32600)]
fn what_cannot_be_decided_is_never_passed_on(#[case] line: &str, #[case] code: i32) {
    let connection = Connection::with(POLICY, Mode::Enforce, None, |_| Answer::Silent);
    let deliveries = connection.proxy.client_line(line.as_bytes());
    let Some(Delivery::Client(answer)) = deliveries.last() else { panic!("{deliveries:?}") };
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["error"]["code"], code, "{answer}");
    assert!(!kinds(&deliveries).contains(&"server"), "{deliveries:?}");
    assert!(!connection.journal().exists());
    assert_eq!(kinds(&connection.proxy.client_line(b"{\"id\":1,\"method\":\"\xff\"}")), ["note", "client"]);
}

/// However a call is damaged, what a careless server could still take for one is in the journal.
#[test]
fn a_damaged_call_is_decided_or_not_passed_on() {
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let connection = Connection::new("rules: [{type: max_calls, tool: erase, max: 1}]");
    let (mut passed, mut allowed) = (0, 0);
    for id in 0..400 {
        let mut line = call(id, "test").to_string().into_bytes();
        for _ in 0..=next(2) {
            let place = next(line.len());
            match next(4) {
                0 => drop(line.remove(place)),
                1 => line.insert(place, b" \r\"{}[],:\\x"[next(10)]),
                2 => line[place] = line[place].to_ascii_uppercase(),
                _ => line.extend_from_within(place..),
            }
        }
        let deliveries = connection.proxy.client_line(&line);
        for delivery in &deliveries {
            let Delivery::Server(text) = delivery else { continue };
            assert!(serde_json::from_str::<Value>(text).unwrap().is_object(), "{text}");
            passed += 1;
            allowed += usize::from(text.to_lowercase().contains("\"method\":\"tools/call\""));
        }
    }
    let decided = connection.calls(Mode::Enforce).len();
    assert!(allowed > 20 && passed > allowed, "{passed} {allowed}");
    assert!(decided >= allowed, "{decided} {allowed}");
}

/// A reader that ends a line at a carriage return would find a call in this one.
#[test]
fn a_line_is_one_line_for_every_reader() {
    let connection = Connection::new(POLICY);
    let inner = call(1, "deploy");
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":\r{inner}\r}}\n");
    let deliveries = connection.proxy.client_line(line.as_bytes());
    let [Delivery::Server(passed)] = &deliveries[..] else { panic!("{deliveries:?}") };
    assert!(!passed.contains(['\r', '\n']) && passed.contains("notifications/x"), "{passed}");
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let connection = Connection::new(POLICY);
    connection.call(1, "test").unwrap();
    for again in [call(1, "read"), json!({"jsonrpc": "2.0", "id": 1.0, "method": "tools/list"})] {
        let deliveries = connection.client(&again);
        assert_eq!(kinds(&deliveries), ["client"], "{deliveries:?}");
    }
    connection.result(1);
    connection.call(1, "read").unwrap();
    // The same call under the same id is another call.
    connection.result(1);
    connection.call(1, "erase").unwrap();
    connection.result(1);
    connection.call(1, "erase").unwrap_err();
}

/// What readers may take for a success or a failure is not known to have succeeded, and may have happened.
#[rstest]
#[case(r#""result":null"#)]
#[case(r#""result":"boom""#)]
#[case(r#""result":[]"#)]
#[case(r#""result":{"isError":true,"content":[],"isError":false}"#)]
#[case(r#""result":{"isError":false,"content":[],"isError":true}"#)]
#[case(r#""result":{"content":[],"is_error":true}"#)]
#[case(r#""result":{"content":[],"ISERROR":true}"#)]
fn a_result_that_is_unclear_satisfies_nothing(#[case] result: &str) {
    let connection = Connection::new(POLICY);
    connection.call(1, "test").unwrap();
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,{result}}}"#);
    let deliveries = connection.proxy.server_line(line.as_bytes());
    assert_eq!(kinds(&deliveries), ["note", "client"], "{deliveries:?}");
    assert_eq!(deliveries[1], Delivery::Client(line));
    connection.call(2, "deploy").unwrap_err();
    connection.call(3, "erase").unwrap();
    connection.proxy.server_line(format!(r#"{{"jsonrpc":"2.0","id":3,{result}}}"#).as_bytes());
    connection.call(4, "erase").unwrap_err();
    let outcomes: Vec<String> = connection.calls(Mode::Enforce).into_iter().map(|call| call.2).collect();
    assert_eq!(outcomes, ["unknown", "refused", "unknown", "refused"]);
}

fn initialize(connection: &Connection, elicitation: Value) {
    let hello = json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"capabilities": {"elicitation": elicitation}}});
    assert_eq!(connection.client(&hello), [Delivery::Server(hello.to_string())]);
    connection.server(&json!({"jsonrpc": "2.0", "id": "i", "result": {"capabilities": {}}}));
}

/// The question about a call, by its id.
fn question(connection: &Connection, id: u32) -> Value {
    let deliveries = connection.client(&call(id, "push"));
    let [Delivery::Client(question)] = &deliveries[..] else { panic!("{deliveries:?}") };
    let question: Value = serde_json::from_str(question).unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    let begins = "Rulestep asks about this call: Run the tests first.";
    assert!(message.starts_with(begins) && message.ends_with("push {\"n\":1}"), "{message}");
    question["id"].clone()
}

#[test]
fn a_client_that_can_ask_asks_its_user() {
    let connection = Connection::new(POLICY);
    initialize(&connection, json!({}));
    let answer = |id: &Value, action: &str| {
        connection.client(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": action, "content": {}}}))
    };
    let agreed = question(&connection, 1);
    // Meanwhile others are decided.
    connection.call(2, "deploy").unwrap_err();
    assert_eq!(answer(&agreed, "accept"), [Delivery::Server(call(1, "push").to_string())]);
    connection.result(1);
    for (id, action) in [(3, "decline"), (4, "cancel"), (5, "what")] {
        let asked = question(&connection, id);
        let deliveries = answer(&asked, action);
        let [Delivery::Client(denied)] = &deliveries[..] else { panic!("{deliveries:?}") };
        assert!(
            denied.contains("Rulestep stopped this call: The user did not agree to it. Run the tests first."),
            "{denied}"
        );
        // An answer counts once.
        assert_eq!(kinds(&answer(&asked, "accept")), ["server"]);
        assert!(connection.result(id).iter().all(|delivery| matches!(delivery, Delivery::Client(_))));
    }
    let asked = question(&connection, 6);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}});
    let deliveries = connection.client(&cancelled);
    let [Delivery::Client(withdrawn)] = &deliveries[..] else { panic!("{deliveries:?}") };
    assert!(withdrawn.contains(asked.as_str().unwrap()), "{withdrawn}");
    let calls = connection.calls(Mode::Enforce);
    let outcomes: Vec<&str> = calls.iter().map(|call| &*call.2).collect();
    assert_eq!(outcomes, ["ok", "refused", "refused", "refused", "refused", "refused"], "{calls:?}");
}

#[test]
fn a_client_that_cannot_ask_gets_a_denial() {
    for elicitation in [json!(null), json!({"url": {}})] {
        let connection = Connection::new(POLICY);
        initialize(&connection, elicitation);
        let told = connection.call(1, "push").unwrap_err();
        assert!(told.starts_with("Rulestep stopped this call: Run the tests first."), "{told}");
        assert_eq!(triples(&connection.calls(Mode::Enforce)), [("push", "ask", "refused")]);
    }
}

/// The server asks something before it can answer: the call is sent again with the answer, and was decided before.
#[test]
fn a_call_that_goes_on_is_decided_once() {
    let connection = Connection::new(POLICY);
    connection.call(1, "erase").unwrap();
    let asks = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required", "inputRequests": {}, "requestState": "x"}});
    assert_eq!(connection.server(&asks), [Delivery::Client(asks.to_string())]);
    let again = |id: u32, state: &str, n: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "erase", "arguments": {"n": n}, "inputResponses": {}, "requestState": state}})
    };
    // Other arguments, or a state that the server did not send, are another call.
    assert_eq!(kinds(&connection.client(&again(2, "x", 2))), ["client"]);
    assert_eq!(kinds(&connection.client(&again(3, "y", 1))), ["client"]);
    assert_eq!(kinds(&connection.client(&again(4, "x", 1))), ["server"]);
    connection.result(4);
    assert_eq!(kinds(&connection.client(&again(5, "x", 1))), ["client"]);
    let outcomes: Vec<_> = connection.calls(Mode::Enforce).into_iter().map(|call| call.2).collect();
    assert_eq!(outcomes, ["ok", "refused", "refused", "refused"]);
}

/// A task is in flight until its result is asked for.
#[rstest]
#[case(json!({"task": {"taskId": "t", "status": "working"}}), "tasks/result", json!({"content": []}))]
#[case(json!({"resultType": "task", "taskId": "t", "status": "working"}), "tasks/get",
    json!({"taskId": "t", "status": "completed", "result": {"content": []}}))]
fn a_task_ends_with_its_result(#[case] created: Value, #[case] method: &str, #[case] ended: Value) {
    let connection = Connection::new(POLICY);
    connection.call(1, "test").unwrap();
    connection.server(&json!({"jsonrpc": "2.0", "id": 1, "result": created}));
    connection.call(2, "deploy").unwrap_err();
    let ask = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"taskId": "t"}});
    connection.client(&ask(3));
    connection.server(&json!({"jsonrpc": "2.0", "id": 3, "result": {"taskId": "t", "status": "working"}}));
    connection.call(4, "deploy").unwrap_err();
    connection.client(&ask(5));
    let end = json!({"jsonrpc": "2.0", "id": 5, "result": ended});
    assert_eq!(connection.server(&end), [Delivery::Client(end.to_string())]);
    connection.call(6, "deploy").unwrap();
}

/// That a task is over is no result: it may have completed with a failure.
#[rstest]
#[case(json!({"taskId": "t", "status": "completed"}), json!({"content": [], "isError": true}), false)]
#[case(json!({"taskId": "t", "status": "completed"}), json!({"content": []}), true)]
#[case(json!({"taskId": "t"}), json!({"content": []}), true)]
#[case(json!({"taskId": "t", "status": "failed"}), json!({"content": []}), false)]
#[case(json!({"taskId": "t", "status": "cancelled"}), json!({"content": []}), false)]
fn a_task_that_is_over_has_not_succeeded(#[case] status: Value, #[case] result: Value, #[case] passes: bool) {
    let connection = Connection::new(POLICY);
    connection.call(1, "test").unwrap();
    connection.server(
        &json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working"}}}),
    );
    for (id, method, answer) in [(2, "tasks/get", &status), (3, "tasks/result", &result)] {
        connection.client(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"taskId": "t"}}));
        connection.server(&json!({"jsonrpc": "2.0", "id": id, "result": answer}));
        assert_eq!(connection.call(10 + id, "deploy").is_ok(), passes && id == 3, "{status} {result}");
    }
}

/// Of two tasks with one id, nobody knows which of them a result is of.
#[test]
fn a_task_with_the_id_of_another_stays_in_flight() {
    for finished in [false, true] {
        let connection = Connection::new(POLICY);
        let created = |id: u32| json!({"jsonrpc": "2.0", "id": id, "result": {"task": {"taskId": "t", "status": "working"}}});
        let ends = |id: u32| {
            connection.client(
                &json!({"jsonrpc": "2.0", "id": id, "method": "tasks/result", "params": {"taskId": "t"}}),
            );
            connection.server(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
        };
        connection.call(1, "other").unwrap();
        connection.server(&created(1));
        if finished {
            ends(2);
        }
        connection.call(3, "test").unwrap();
        connection.server(&created(3));
        ends(4);
        connection.call(5, "deploy").unwrap_err();
    }
}

fn journal_folder(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state.join("rulestep/live/mcp")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}
