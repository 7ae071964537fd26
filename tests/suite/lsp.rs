//! `rulestep lsp`, as an editor has it: a client that speaks to the program over its input and output.

mod conversation;
mod incomplete;
mod neovim;
mod nested;

use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{CLOSE_CASE, ISSUE_REFUND, REFUND_124, folder, rulestep};

/// How long an answer may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Message>,
    /// What came while something else was waited for.
    kept: Vec<Message>,
    asked: i32,
}

impl Client {
    fn start(folder: &Path, arguments: &[&str]) -> Client {
        let arguments = [&["lsp"], arguments].concat();
        let mut command = rulestep(folder, &arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, messages, kept: Vec::new(), asked: 0 }
    }

    fn send(&mut self, message: Message) {
        message.write(self.input.as_mut().unwrap()).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    fn ask(&mut self, method: &str, params: Value) -> Response {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        let found = self.wait(|message| matches!(message, Message::Response(answer) if answer.id == id));
        let Message::Response(answer) = found else { unreachable!() };
        answer
    }

    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        serde_json::to_value(answer).unwrap()["result"].clone()
    }

    fn wait(&mut self, mut is_it: impl FnMut(&Message) -> bool) -> Message {
        if let Some(at) = self.kept.iter().position(&mut is_it) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            if is_it(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    fn initialize(&mut self, encodings: &[&str]) -> Value {
        let capabilities = json!({
            "general": {"positionEncodings": encodings},
            "workspace": {"codeLens": {"refreshSupport": true}},
        });
        let answer = self
            .result("initialize", json!({"processId": null, "rootUri": null, "capabilities": capabilities}));
        self.tell("initialized", json!({}));
        answer
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Changes a range, or the whole text.
    fn change(&mut self, uri: &str, version: i32, change: Value) {
        let document = json!({"uri": uri, "version": version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    /// The first diagnostics of a version of a file, as `LINE:CHARACTER CODE`.
    fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<String> {
        let found = self.wait(|message| match message {
            Message::Notification(told) => {
                let is_it = told.params["uri"] == uri && told.params["version"] == version;
                told.method == "textDocument/publishDiagnostics" && is_it
            }
            _ => false,
        });
        let Message::Notification(told) = found else { unreachable!() };
        let shown = |told: &Value| {
            let start = &told["range"]["start"];
            format!("{}:{} {}", start["line"], start["character"], told["code"].as_str().unwrap())
        };
        told.params["diagnostics"].as_array().unwrap().iter().map(shown).collect()
    }

    /// Waits for these diagnostics of a version of a file. A file in several folders is reported once for each.
    fn until(&mut self, uri: &str, version: i32, wanted: &[&str]) {
        self.kept.retain(|message| !matches!(message, Message::Notification(_)));
        while self.diagnostics(uri, version) != wanted {}
    }

    fn labels(&mut self, uri: &str, line: u32, character: u32) -> Vec<String> {
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
        let items = self.result("textDocument/completion", at);
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    fn close(mut self) {
        assert_eq!(self.result("shutdown", Value::Null), Value::Null);
        let late = self.ask("textDocument/hover", json!({}));
        assert!(serde_json::to_value(late).unwrap()["error"]["code"] == -32600);
        self.tell("exit", Value::Null);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

fn uri(folder: &TempDir, name: &str) -> String {
    format!("file://{}", folder.path().join(name).display())
}

fn refunds() -> TempDir {
    folder(&[
        ("contracts/issue_refund.yaml", ISSUE_REFUND),
        ("contracts/close_case.yaml", CLOSE_CASE),
        ("sessions/a.json", REFUND_124),
        ("compose.yaml", "services:\n  web: {image: nginx}\n"),
    ])
}

#[test]
fn an_editor_writes_a_policy() {
    let folder = refunds();
    let mut client = Client::start(folder.path(), &["sessions"]);
    let answer = client.initialize(&["utf-16", "utf-8"]);
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(answer["serverInfo"]["name"], "rulestep");
    let refund = uri(&folder, "contracts/issue_refund.yaml");
    client.open(&refund, ISSUE_REFUND);
    assert_eq!(client.diagnostics(&refund, 1), [""; 0]);
    // The recordings are read and counted in the background.
    client.wait(
        |message| matches!(message, Message::Request(asked) if asked.method == "workspace/codeLens/refresh"),
    );

    // A key is misspelt after a character beyond the basic plane, which counts as two.
    let line = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 18}});
    client.change(
        &refund,
        2,
        json!({"range": line, "text": "{x: \"𝒳𝒳\", tol: issue_refund}\n---\ntool: issue_refund"}),
    );
    client.change(
        &refund,
        3,
        json!({"text": "{tool: issue_refund, description: \"𝒳𝒳\", precondition: []}\n"}),
    );
    assert_eq!(client.diagnostics(&refund, 3), ["0:42 unknown_key"]);

    // Keys, words, tools and paths, with the rest of the text half written.
    client.change(
        &refund,
        4,
        json!({"text": "tool: issue_refund\npreconditions:\n  - match: \n    re\nforbids_after: [\n"}),
    );
    assert!(!client.diagnostics(&refund, 4).is_empty());
    assert_eq!(client.labels(&refund, 2, 11), ["newest", "any"]);
    let keys = client.labels(&refund, 3, 6);
    assert!(
        keys.contains(&"requires_prior_tool".to_owned()) && keys.contains(&"resource".to_owned()),
        "{keys:?}"
    );
    assert!(!keys.contains(&"match".to_owned()) && !keys.contains(&"tool".to_owned()), "{keys:?}");
    client.change(&refund, 5, json!({"text": "tool: issue_refund\npreconditions: [{requires_prior_tool: che, resource: {bind_from: arguments, path: $"}));
    let tools = client.labels(&refund, 1, 38);
    assert!(tools.contains(&"check_eligibility".to_owned()), "{tools:?}");
    assert_eq!(client.labels(&refund, 1, 82), ["$.order_id"]);

    // What is known of a key, a rule and a tool.
    client.change(&refund, 6, json!({"text": ISSUE_REFUND}));
    let at = |line: u32, character: u32| json!({"textDocument": {"uri": refund}, "position": {"line": line, "character": character}});
    let hover =
        client.result("textDocument/hover", at(2, 6))["contents"]["value"].as_str().unwrap().to_owned();
    for part in [
        "contract.preconditions.requires_prior_tool",
        "must have succeeded",
        "stops 1 call in 1 of 1 session",
    ] {
        assert!(hover.contains(part), "{part}: {hover}");
    }
    let hover =
        client.result("textDocument/hover", at(2, 30))["contents"]["value"].as_str().unwrap().to_owned();
    assert!(hover.contains("`check_eligibility` is called 1 time in 1 session."), "{hover}");

    let lenses = client.result("textDocument/codeLens", json!({"textDocument": {"uri": refund}}));
    assert_eq!(lenses[0]["command"]["title"], "stops 1 call in 1 of 1 session");
    assert_eq!(lenses[0]["range"]["start"]["line"], 2);

    // The calls of a rule, and the document of a tool.
    let mut asked = at(3, 6);
    asked["context"] = json!({"includeDeclaration": false});
    let calls = client.result("textDocument/references", asked);
    assert_eq!(calls[0]["uri"], uri(&folder, "sessions/a.json"));
    let close = uri(&folder, "contracts/close_case.yaml");
    client.open(&close, CLOSE_CASE);
    let asked = json!({"textDocument": {"uri": refund}, "position": {"line": 0, "character": 8}});
    let definition = client.result("textDocument/definition", asked);
    assert_eq!((&definition["uri"], &definition["range"]["start"]["character"]), (&json!(refund), &json!(6)));

    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let asked = json!({"textDocument": {"uri": refund}, "range": range, "context": {"diagnostics": []}});
    assert_eq!(client.result("textDocument/codeAction", asked), json!([]), "one session suggests nothing");
    client.close();
}

/// A mistake between two documents is reported in both, from unsaved texts.
#[test]
fn unsaved_texts_are_a_version_together() {
    let folder = refunds();
    let mut client = Client::start(folder.path(), &[]);
    client.initialize(&["utf-8"]);
    let other = uri(&folder, "contracts/other.yaml");
    client.open(&other, "tool: close_case\nforbids_after: [void_order]\n");
    assert_eq!(client.diagnostics(&other, 1), ["0:6 duplicate_contract"]);
    client.change(&other, 2, json!({"text": "tool: reopen_case\nforbids_after: [void_order]\n"}));
    assert_eq!(client.diagnostics(&other, 2), [""; 0]);
    // Without recordings there is nothing to say above a rule.
    assert_eq!(client.result("textDocument/codeLens", json!({"textDocument": {"uri": other}})), json!([]));
    client.close();
}

/// YAML of somebody else's gets nothing at all.
#[test]
fn other_yaml_is_left_alone() {
    let folder = refunds();
    let mut client = Client::start(folder.path(), &[]);
    client.initialize(&[]);
    let compose = uri(&folder, "compose.yaml");
    client.open(&compose, "services:\n  web: {image: nginx}\n");
    client.change(&compose, 2, json!({"text": "services:\n  web: {image: nginx\nto"}));
    assert_eq!(client.labels(&compose, 2, 2), [""; 0]);
    let at = json!({"textDocument": {"uri": compose}, "position": {"line": 0, "character": 2}});
    assert_eq!(client.result("textDocument/hover", at), Value::Null);
    assert_eq!(client.result("textDocument/codeLens", json!({"textDocument": {"uri": compose}})), json!([]));
    let published =
        |message: &Message| matches!(message, Message::Notification(told) if told.method.contains("publish"));
    assert!(!client.kept.iter().any(published));
    client.close();
}

/// An editor that goes away without a word, and one that sends what is no message.
#[test]
fn it_ends_with_its_editor() {
    let folder = refunds();
    let mut client = Client::start(folder.path(), &[]);
    client.initialize(&[]);
    drop(client.input.take());
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
    let mut client = Client::start(folder.path(), &["--stdio"]);
    client.input.as_mut().unwrap().write_all(b"Content-Length: 3\r\n\r\n{]}").unwrap();
    drop(client.input.take());
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
}
