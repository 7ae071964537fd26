//! Servers over HTTP: what each request carries, how answers come, and what the client reads where none does.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{POLICY, call, journal_folder, recordings, result};
use crate::cli::folder;
use crate::live::{fed, live, records};

const PATIENCE: Duration = Duration::from_secs(30);

/// A server: what it is asked, each with the connection to answer on.
struct Server {
    url: String,
    asked: Receiver<Request>,
}

struct Request {
    line: String,
    headers: HashMap<String, String>,
    body: Value,
    stream: TcpStream,
}

impl Server {
    fn new() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (send, asked) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, send) = (stream.unwrap(), send.clone());
                thread::spawn(move || {
                    if let Some(request) = Request::read(stream) {
                        let _ = send.send(request);
                    }
                });
            }
        });
        Server { url, asked }
    }

    fn next(&self) -> Request {
        self.asked.recv_timeout(PATIENCE).unwrap()
    }

    /// The next request, which has this message as its body.
    fn takes(&self, message: &Value) -> Request {
        let request = self.next();
        assert!(request.line.starts_with("POST "), "{}", request.line);
        assert_eq!(&request.body, message);
        assert_eq!(request.headers["accept"], "application/json, text/event-stream");
        assert_eq!(request.headers["content-type"], "application/json");
        request
    }
}

impl Request {
    fn read(stream: TcpStream) -> Option<Request> {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let mut headers = HashMap::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Some(Request { line: line.trim().to_owned(), headers, body, stream })
    }

    fn answer(mut self, status: &str, more: &str, body: &str) {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n");
        let _ = self.stream.write_all(format!("{head}{body}").as_bytes());
    }

    fn json(self, body: &Value) {
        self.answer("200 OK", "Content-Type: application/json\r\n", &body.to_string());
    }

    fn accepted(self) {
        self.answer("202 Accepted", "", "");
    }

    /// Begins a stream of events, in pieces of their own.
    fn events(mut self) -> Events {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        self.stream.write_all(head.as_bytes()).unwrap();
        Events(self.stream)
    }
}

struct Events(TcpStream);

impl Events {
    fn write(&mut self, text: &[u8]) {
        write!(self.0, "{:x}\r\n", text.len()).unwrap();
        self.0.write_all(text).unwrap();
        self.0.write_all(b"\r\n").unwrap();
    }

    fn message(&mut self, message: &Value) {
        self.write(format!("event: message\ndata: {message}\n\n").as_bytes());
    }

    /// Ends the stream; the proxy may have left it, since it has its answer.
    fn end(mut self) {
        let _ = self.0.write_all(b"0\r\n\r\n");
    }
}

/// The proxy, with its client's side here.
struct Client {
    child: Child,
    lines: Receiver<String>,
    files: TempDir,
    state: TempDir,
}

impl Client {
    fn new(server: &Server, options: &[&str]) -> Client {
        Client::with(POLICY, &server.url, options)
    }

    fn with(policy: &str, url: &str, options: &[&str]) -> Client {
        let (files, state) = (folder(&[("p.yaml", policy)]), tempfile::tempdir().unwrap());
        let arguments = [&["proxy", "-p", "p.yaml", "--url", url], options].concat();
        let mut command = live(files.path(), state.path(), &arguments);
        command.env("MCP_TEST_KEY", "Bearer s3cret-token");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Client { child, lines, files, state }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    fn leave(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Exit code and standard error.
    fn ended(mut self) -> (Option<i32>, String) {
        self.leave();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    fn outcomes(&self) -> Vec<String> {
        let records = records(&journal_folder(self.state.path())[0]);
        records.iter().filter_map(|record| record["outcome"].as_str().map(str::to_owned)).collect()
    }

    /// Shakes hands with a server that has a session, and gives its stream.
    fn begin(&mut self, server: &Server) -> Events {
        let hello =
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}});
        self.send(&hello);
        let request = server.takes(&hello);
        assert!(!request.headers.contains_key("mcp-session-id"));
        let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}});
        let more = "Content-Type: application/json\r\nMcp-Session-Id: session-1\r\n";
        request.answer("200 OK", more, &answer.to_string());
        assert_eq!(self.next()["result"]["capabilities"]["tools"]["listChanged"], true);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(&ready);
        in_session(server.takes(&ready)).accepted();
        let stream = in_session(server.next());
        assert!(stream.line.starts_with("GET ") && stream.headers["accept"] == "text/event-stream");
        stream.events()
    }
}

fn in_session(request: Request) -> Request {
    assert_eq!(request.headers["mcp-session-id"], "session-1");
    assert_eq!(request.headers["mcp-protocol-version"], "2025-06-18");
    request
}

#[test]
fn answers_come_as_json_and_as_events() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    let mut stream = client.begin(&server);
    // Messages that the server sends by itself, and the answer to one.
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    stream.write(b": keep alive\r\n\r\nevent: other\ndata: x\n\n");
    stream.message(&ping);
    assert_eq!(client.next(), ping);
    let pong = json!({"jsonrpc": "2.0", "id": "p", "result": {}});
    client.send(&pong);
    in_session(server.takes(&pong)).accepted();
    // A list, narrowed, as one event of several lines.
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    client.send(&list);
    let mut events = in_session(server.takes(&list)).events();
    events.write(
        b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"tools\":[{\"name\":\"test\"},\r\n",
    );
    events.write(b"data: {\"name\":\"deploy\"}]}}\r\n\r");
    assert_eq!(client.next()["result"]["tools"], json!([{"name": "test"}]));
    drop(events);
    // Denied without a request.
    client.send(&call(2, "deploy"));
    assert_eq!(client.next()["result"]["isError"], true);
    // Progress before the answer; what is not JSON is not passed on; a letter in two pieces.
    client.send(&call(3, "test"));
    let mut events = in_session(server.takes(&call(3, "test"))).events();
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}});
    events.message(&progress);
    assert_eq!(client.next(), progress);
    events.write(b"data: not json\n\n");
    let answer =
        json!({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "grün"}]}});
    let text = format!("data: {answer}\n\n").into_bytes();
    let (first, second) = text.split_at(text.iter().position(|byte| *byte > 127).unwrap() + 1);
    events.write(first);
    events.write(second);
    assert_eq!(client.next(), answer);
    assert_eq!(client.next()["method"], "notifications/tools/list_changed");
    events.end();
    // The tool is there now, and is answered with JSON.
    client.send(&call(4, "deploy"));
    server.takes(&call(4, "deploy")).json(&result(4));
    assert_eq!(client.next(), result(4));
    assert_eq!(client.outcomes(), ["ok", "ok"]);
    client.leave();
    let end = in_session(server.next());
    assert!(end.line.starts_with("DELETE "), "{}", end.line);
    end.answer("200 OK", "", "");
    let (code, errors) = client.ended();
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("not JSON-RPC and is not passed on"), "{errors}");
    drop(stream);
}

const PLAIN: &str = "Content-Type: text/plain\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

/// A request is sent once, and its client reads why there is no answer.
#[rstest]
#[case::fault("500 Internal Server Error", PLAIN, "out of luck", "out of luck", true)]
#[case::gateway("504 Gateway Timeout", "Content-Type: text/html\r\n", "<html>", "HTTP 504", true)]
#[case::credentials("401 Unauthorized", JSON, r#"{"error":"invalid_token"}"#, "--header-env", false)]
#[case::method("405 Method Not Allowed", "", "", "HTTP 405", false)]
#[case::other_id(
    "400 Bad Request",
    JSON,
    r#"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"no"}}"#,
    "HTTP 400 Bad Request: no",
    false
)]
#[case::page("200 OK", "Content-Type: text/html\r\n", "<html>", "text/html, neither JSON nor", true)]
#[case::nothing("202 Accepted", "", "", "without an answer", true)]
#[case::nonsense("200 OK", JSON, "nonsense", "no response to this request", true)]
#[case::another(
    "200 OK",
    JSON,
    r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
    "no response to this request",
    true
)]
#[case::half(
    "200 OK",
    "Content-Type: text/event-stream\r\n",
    "data: {}\n\n",
    "ended before the response",
    true
)]
#[case::elsewhere(
    "307 Temporary Redirect",
    "Location: http://127.0.0.2:9/mcp?k=v\r\n",
    "",
    "redirect to http://127.0.0.2:9 is not followed",
    true
)]
#[case::as_get("302 Found", "Location: /other\r\n", "", "the redirect is not followed", true)]
fn a_call_without_an_answer_says_why(
    #[case] status: &str,
    #[case] more: &str,
    #[case] body: &str,
    #[case] why: &str,
    #[case] begun: bool,
) {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    client.send(&call(1, "test"));
    server.takes(&call(1, "test")).answer(status, more, body);
    let mut answer = client.next();
    // What was an answer to something else passes as it is.
    if answer["id"] == 9 || answer["id"].is_null() {
        answer = client.next();
    }
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains(why), "{message}");
    let happened = if begun { "may have happened" } else { "did not happen" };
    assert!(message.ends_with(happened), "{message}");
    assert_eq!(client.outcomes(), if begun { vec![] } else { vec!["error"] });
    assert!(server.asked.recv_timeout(Duration::from_millis(100)).is_err(), "it was sent again");
    assert_eq!(client.ended().0, Some(0));
}

#[test]
fn a_connection_that_breaks_leaves_the_call_in_flight() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    client.send(&call(1, "erase"));
    drop(server.takes(&call(1, "erase")));
    let message = client.next()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("the connection broke") && message.ends_with("may have happened"), "{message}");
    // It counts against what it forbids.
    client.send(&call(2, "erase"));
    assert_eq!(client.next()["result"]["isError"], true);
    assert_eq!(client.outcomes(), Vec::<String>::new());
}

#[test]
fn a_server_that_refuses_connections_did_nothing() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut client = Client::with(POLICY, &format!("http://{free}/mcp"), &[]);
    client.send(&call(1, "erase"));
    let message = client.next()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("refuses connections; the tool call did not happen"), "{message}");
    assert_eq!(client.outcomes(), ["error"]);
}

#[test]
fn an_error_that_the_server_explains_is_its_answer() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    client.send(&call(1, "test"));
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32020, "message": "no"}});
    server.takes(&call(1, "test")).answer("400 Bad Request", JSON, &error.to_string());
    assert_eq!(client.next(), error);
    assert_eq!(client.outcomes(), ["error"]);
}

#[test]
fn a_session_that_is_gone_ends_the_proxy() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    let _stream = client.begin(&server);
    client.send(&call(1, "erase"));
    let open = server.takes(&call(1, "erase"));
    client.send(&call(2, "test"));
    server.takes(&call(2, "test")).answer("404 Not Found", JSON, "{}");
    let (gone, ended) = (client.next(), client.next());
    assert!(gone["error"]["message"].as_str().unwrap().ends_with("did not happen"), "{gone}");
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("no longer knows this session; a tool call may have happened"), "{message}");
    assert_eq!((&gone["id"], &ended["id"]), (&json!(2), &json!(1)));
    drop(open);
    // Its client is still there.
    assert_eq!(client.child.wait().unwrap().code(), Some(2));
    assert_eq!(client.outcomes(), ["error"]);
}

/// The stream is asked for again from its last event; the call is not sent again.
#[test]
fn the_stream_of_an_answer_goes_on_after_a_break() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    client.send(&call(1, "test"));
    let mut events = server.takes(&call(1, "test")).events();
    events.write(b"id: e-1\nretry: 20\ndata:\n\nid: e-2\ndata: {\"jsonrpc\":");
    drop(events);
    let again = server.next();
    assert!(again.line.starts_with("GET ") && again.headers["last-event-id"] == "e-1", "{}", again.line);
    again.answer("503 Service Unavailable", "", "");
    let message = client.next()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("HTTP 503") && message.ends_with("may have happened"), "{message}");
    client.send(&call(2, "test"));
    let mut events = server.takes(&call(2, "test")).events();
    events.write(b"id: f-1\nretry: 20\ndata:\n\n");
    events.end();
    let mut events = server.next().events();
    events.message(&result(2));
    assert_eq!(client.next(), result(2));
    assert_eq!(client.outcomes(), ["ok"]);
}

#[test]
fn a_redirect_within_the_server_is_followed() {
    let server = Server::new();
    let mut client = Client::new(&server, &["--header-env", "Authorization=MCP_TEST_KEY"]);
    client.send(&call(1, "test"));
    server.takes(&call(1, "test")).answer("307 Temporary Redirect", "Location: /mcp/\r\n", "");
    let again = server.takes(&call(1, "test"));
    assert_eq!(
        (&*again.line, &*again.headers["authorization"]),
        ("POST /mcp/ HTTP/1.1", "Bearer s3cret-token")
    );
    again.json(&result(1));
    assert_eq!(client.next(), result(1));
}

#[test]
fn credentials_are_in_no_message_and_no_journal() {
    let server = Server::new();
    let options = ["--header-env", "X-Key=MCP_TEST_KEY", "--header", "Authorization: ${MCP_TEST_KEY}"];
    let mut client = Client::new(&server, &options);
    client.send(&call(1, "test"));
    let request = server.takes(&call(1, "test"));
    assert_eq!(request.headers["x-key"], "Bearer s3cret-token");
    assert_eq!(request.headers["authorization"], "Bearer s3cret-token");
    request.answer("403 Forbidden", PLAIN, "s3cret-token may not do that");
    let answer = client.next().to_string();
    assert!(answer.contains("[hidden] may not do that"), "{answer}");
    let note = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    client.send(&note);
    server.takes(&note).answer("403 Forbidden", PLAIN, "Bearer s3cret-token may not do that");
    client.leave();
    client.child.wait().unwrap();
    let journal = std::fs::read_to_string(&journal_folder(client.state.path())[0]).unwrap();
    assert!(journal.contains("may not do that") && !journal.contains("s3cret"), "{journal}");
    let (_, errors) = client.ended();
    assert!(errors.contains("did not take notifications/x") && !errors.contains("s3cret"), "{errors}");
}

/// From version 2026-07-28 on, requests say of themselves what they are, and closing the connection cancels one.
#[test]
fn a_version_without_sessions_repeats_what_is_asked_for() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    let with_meta = |mut message: Value| {
        message["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        message
    };
    let list = with_meta(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
    client.send(&list);
    let request = server.takes(&list);
    assert_eq!(
        (&*request.headers["mcp-method"], &*request.headers["mcp-protocol-version"]),
        ("tools/list", "2026-07-28")
    );
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "Count"}}});
    request.json(
        &json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "test", "inputSchema": schema}]}}),
    );
    client.next();
    let test = with_meta(call(2, "test"));
    client.send(&test);
    let request = server.takes(&test);
    assert_eq!((&*request.headers["mcp-name"], &*request.headers["mcp-param-count"]), ("test", "1"));
    assert!(!request.headers.contains_key("mcp-session-id"));
    let mut events = request.events();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    // The server sees the end of the connection, and nothing else.
    events.0.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(events.0.read(&mut [0]).unwrap(), 0);
    assert!(server.asked.recv_timeout(Duration::from_millis(100)).is_err());
    client.send(&call(3, "test"));
    server.takes(&call(3, "test")).json(&result(3));
    assert_eq!(client.next(), result(3), "what was cancelled has no answer");
    assert_eq!(client.outcomes(), ["ok"]);
}

#[test]
fn a_client_that_leaves_does_not_wait_for_a_server_that_hangs() {
    let server = Server::new();
    let mut client = Client::new(&server, &[]);
    let stream = client.begin(&server);
    client.send(&call(1, "test"));
    let open = server.takes(&call(1, "test")).events();
    client.leave();
    // Neither does it wait for the end of the session.
    let end = in_session(server.next());
    let begun = std::time::Instant::now();
    let (code, errors) = client.ended();
    assert_eq!(code, Some(0), "{errors}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    drop((stream, open, end));
}

#[rstest]
#[case(&["--url", "http://example.com/mcp"], "is reached without TLS")]
#[case(&["--url", "https://example.com/mcp", "--header", "accept: x"], "is set by the proxy")]
#[case(&["--url", "https://example.com/mcp", "--", "server"], "cannot be used with")]
#[case(&["--header", "a: b", "--", "server"], "cannot be used with")]
#[case(&[], "required arguments")]
fn what_cannot_be_reached_is_bad_usage(#[case] options: &[&str], #[case] why: &str) {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let arguments = [&["proxy", "-p", "p.yaml"], options].concat();
    let output = fed(live(files.path(), state.path(), &arguments), b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains(why), "{errors}");
}

/// Logs of the protocol are decided as their replay, in whatever order answers come.
#[test]
fn made_logs_are_decided_as_their_replay() {
    let mut denied = 0;
    for log in recordings::made().into_iter().step_by(3) {
        let server = Server::new();
        let mut client = Client::with(recordings::POLICY, &server.url, &["--shadow"]);
        let mut open = HashMap::new();
        for message in &log {
            let id = message["id"].as_u64();
            if message["method"].is_string() {
                client.send(message);
                let request = server.takes(message);
                match id {
                    Some(id) => drop(open.insert(id, request)),
                    None => request.accepted(),
                }
                continue;
            }
            let request = open.remove(&id.unwrap()).unwrap();
            if id.unwrap() % 2 == 0 {
                request.json(message);
            } else {
                let mut events = request.events();
                events.message(message);
                events.end();
            }
            assert_eq!(&client.next(), message);
        }
        let journal = journal_folder(client.state.path()).remove(0);
        let decided = recordings::decided(&log, &journal, &client.files.path().join("p.yaml"));
        denied += decided.iter().filter(|word| *word == "deny").count();
        drop(open);
        let (code, errors) = client.ended();
        assert_eq!(code, Some(0), "{errors}");
    }
    assert!(denied > 15, "{denied}");
}
