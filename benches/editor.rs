//! The language server: diagnostics after a change, completion, and the counts above rules.
//!
//! `cargo bench --bench editor`. A person types, so diagnostics have 50 ms; counts come in the background, and those of 500
//! sessions have a second. The sessions are the samples of the program, repeated.

#![expect(clippy::expect_used, clippy::panic, reason = "a benchmark may fail")]

use std::path::Path;
use std::sync::Arc;

use divan::{Bencher, black_box};
use lsp_server::{Message, Notification, Request, RequestId};
use rulestep::files::{Input, expand};
use rulestep::lsp::evidence::{Problems, Recorded, count};
use rulestep::lsp::{Effect, Event, Server};
use rulestep::workspace::Version;
use rulestep::workspace::opener::open;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_recording::Options;
use serde_json::{Value, json};

const SESSIONS: usize = 500;

fn main() {
    divan::main();
}

fn root(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).display().to_string()
}

fn sessions() -> Vec<Arc<Session>> {
    let inputs = expand(&[root("sample-traces")]).inputs.into_iter().filter(Input::is_regular);
    let read = inputs.filter_map(|input| open(input, &Options::default()).ok()).flatten();
    let samples: Vec<Arc<Session>> = read.map(Arc::new).collect();
    samples.iter().cycle().take(SESSIONS).cloned().collect()
}

fn policy() -> Arc<Policy> {
    Version::beside(&[root("contracts")], &[])
        .load(None)
        .policy
        .unwrap_or_else(|_| panic!("the samples load"))
}

fn opened() -> (Server, String, String) {
    let folder = root("contracts");
    let file = expand(std::slice::from_ref(&folder))
        .inputs
        .into_iter()
        .find(|input| input.name.ends_with("issue_refund.yaml"));
    let path = file.expect("a sample").name.to_string();
    let text = std::fs::read_to_string(&path).expect("a sample");
    let uri = format!("file://{path}");
    let mut server = Server::new(Vec::new());
    let request = Request {
        id: RequestId::from(1),
        method: "initialize".to_owned(),
        params: json!({"capabilities": {}}),
    };
    server.handle(Event::Message(request.into()));
    let document = json!({"uri": uri, "languageId": "yaml", "version": 0, "text": text});
    for effect in server.handle(told("textDocument/didOpen", json!({"textDocument": document}))) {
        if let Effect::Read(folder) = effect {
            let version = Version::beside(&[root("contracts")], &[]);
            server.handle(Event::Files(folder, version));
        }
    }
    (server, uri, text)
}

fn told(method: &str, params: Value) -> Event {
    Event::Message(Message::Notification(Notification { method: method.to_owned(), params }))
}

/// A letter is typed in a folder with all sample policies.
#[divan::bench]
fn diagnostics_after_a_change(bencher: Bencher<'_, '_>) {
    let (mut server, uri, text) = opened();
    let mut version = 0;
    bencher.bench_local(|| {
        version += 1;
        let text = format!("{text}# {version}\n");
        let document = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        let sent = server.handle(told("textDocument/didChange", params));
        assert!(!sent.is_empty(), "diagnostics are published");
        black_box(sent)
    });
}

#[divan::bench]
fn completion(bencher: Bencher<'_, '_>) {
    let (mut server, uri, text) = opened();
    let text = format!("{}\nfor", text.trim_end());
    let line = text.lines().count() - 1;
    let params = json!({"textDocument": {"uri": uri, "version": 1}, "contentChanges": [{"text": text}]});
    server.handle(told("textDocument/didChange", params));
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 3}});
    bencher.bench_local(|| {
        let (id, method) = (RequestId::from(2), "textDocument/completion".to_owned());
        black_box(server.handle(Event::Message(Request { id, method, params: params.clone() }.into())))
    });
}

#[divan::bench(sample_count = 10)]
fn counts_of_500_sessions(bencher: Bencher<'_, '_>) {
    let (sessions, policy) = (sessions(), policy());
    bencher.bench_local(|| count(&sessions, &policy, Some(&policy), &|| false).expect("nobody is impatient"));
}

#[divan::bench(sample_count = 10)]
fn names_of_500_sessions(bencher: Bencher<'_, '_>) {
    let sessions = sessions();
    bencher.bench_local(|| Recorded::of(&sessions, Problems::default()));
}
