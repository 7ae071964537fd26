//! `rulestep gate --stdio`, as a host of any language sees it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;

use rulestep_engine::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use super::live;
use crate::cli::folder;

const POLICY: &str =
    "tool: deploy\npreconditions: [{requires_prior_tool: test}]\n---\ntool: erase\nforbids_after: [erase]\n";

struct Host {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Host {
    fn new(files: &Path, state: &Path, arguments: &[&str]) -> Host {
        let arguments: Vec<&str> =
            ["gate", "--stdio", "-p", "p.yaml"].iter().chain(arguments).copied().collect();
        let mut command = live(files, state, &arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Host { child, output }
    }

    fn raw(&mut self, line: &str) -> Value {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn ask(&mut self, request: Value) -> Value {
        self.raw(&request.to_string())
    }

    fn call(&mut self, id: &str, tool: &str) -> String {
        let answer =
            self.ask(json!({"op": "propose", "session": "s", "id": id, "tool": tool, "arguments": {}}));
        assert_eq!(answer["id"], id, "{answer}");
        answer["decision"].as_str().unwrap().to_owned()
    }

    fn done(&mut self, id: &str, outcome: &str) -> Value {
        self.ask(json!({"op": "resolve", "session": "s", "id": id, "outcome": outcome, "output": "x"}))
    }

    fn turn(&mut self) {
        assert!(self.ask(json!({"op": "turn", "session": "s"}))["turn"].is_number());
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// A session in two processes; the journal replayed decides the same.
#[test]
fn a_host_is_answered_line_by_line() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let mut host = Host::new(files.path(), state.path(), &[]);
    let opened = host.ask(json!({"op": "open", "session": "s", "context": {"role": "admin"}}));
    assert_eq!(
        (&opened["protocol"], &opened["resumed"]),
        (&json!("rulestep.gate/1"), &json!(false)),
        "{opened}"
    );
    assert_eq!(
        host.ask(json!({"op": "message", "session": "s", "role": "user", "content": "go"}))["noted"],
        "user"
    );
    let turn = host.ask(json!({"op": "turn", "session": "s", "tools": ["deploy", "test"]}));
    assert_eq!(turn, json!({"turn": 1, "visible": ["test"]}));
    let denied = host.ask(json!({"op": "propose", "session": "s", "id": "1", "tool": "deploy"}));
    assert_eq!((&denied["decision"], &denied["runs"]), (&json!("deny"), &json!(false)));
    assert!(denied["reason"].as_str().unwrap().contains("Way out: call test successfully"), "{denied}");
    assert_eq!(host.call("2", "test"), "allow");
    assert_eq!(host.call("3", "erase"), "allow");
    host.done("2", "ok");
    host.done("3", "ok");
    assert_eq!(host.call("4", "erase"), "deny");
    host.turn();
    assert_eq!(host.call("5", "deploy"), "allow");
    host.end();
    // The process is gone while a call runs; another one goes on.
    let mut host = Host::new(files.path(), state.path(), &[]);
    assert_eq!(host.ask(json!({"op": "open", "session": "s"}))["resumed"], true);
    assert_eq!(host.done("5", "ok")["resolved"], "5");
    host.turn();
    assert_eq!(host.call("6", "deploy"), "allow");
    assert_eq!(host.call("7", "erase"), "deny");
    assert_eq!(host.done("6", "refused")["resolved"], "6");
    assert_eq!(host.ask(json!({"op": "close", "session": "s"})), json!({"closed": "s"}));
    host.end();
    let path = state.path().join("rulestep/live/host/s.jsonl");
    let session = rulestep_recording::read("s.jsonl", std::fs::read(&path).unwrap()).unwrap().remove(0);
    let policy = Policy::from_dir(files.path().join("p.yaml")).unwrap();
    let replay = Replay::new(&Arc::new(session), &policy, Mode::Enforce);
    let again: Vec<_> = replay.calls().iter().map(|call| call.decision.verdict.word()).collect();
    assert_eq!(again, ["deny", "allow", "allow", "deny", "allow", "allow", "deny"]);
}

#[test]
fn what_a_host_does_wrong_is_an_error_and_never_an_allowance() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let mut host = Host::new(files.path(), state.path(), &[]);
    for line in ["nonsense", "[]", "{}", r#"{"op": "propose", "session": "s", "tool": "x"}"#] {
        let answer = host.raw(line);
        assert!(answer["error"].is_string() && answer["runs"] == json!(false), "{line}: {answer}");
        assert_eq!(answer["decision"], "deny");
    }
    host.ask(json!({"op": "open", "session": "s"}));
    assert!(
        host.ask(json!({"op": "open", "session": "s"}))["error"].as_str().unwrap().contains("open already")
    );
    let answer = host.ask(json!({"op": "propose", "session": "s", "id": "1", "tool": "x"}));
    assert!(answer["error"].as_str().unwrap().contains("no turn") && answer["runs"] == json!(false));
    assert!(host.done("9", "ok")["error"].as_str().unwrap().contains("waits for a result"));
    host.turn();
    assert_eq!(host.call("1", "test"), "allow");
    assert!(host.done("1", "maybe")["error"].is_string());
    // What is not said is no success.
    for request in [
        json!({"op": "resolve", "session": "s", "id": "1"}),
        json!({"op": "resolve", "session": "s", "id": "1", "outcome": null}),
    ] {
        let answer = host.ask(request);
        assert!(answer["error"].as_str().unwrap().contains("no `outcome`"), "{answer}");
    }
    assert!(host.ask(json!({"op": "dance", "session": "s"}))["error"].is_string());
    // A misspelt field would be a call without its arguments.
    let misspelt = json!({"op": "propose", "session": "s", "id": "2", "tool": "test", "argument": {"a": 1}});
    let answer = host.ask(misspelt);
    assert!(answer["error"].as_str().unwrap().contains("`argument`"), "{answer}");
    assert_eq!((&answer["decision"], &answer["runs"]), (&json!("deny"), &json!(false)));
    // Which of many requests it answers is told even where the request cannot be read as one.
    assert_eq!((&answer["session"], &answer["id"]), (&json!("s"), &json!("2")));
    let nameless = host.ask(json!({"op": "propose", "session": "s", "id": "2", "tool": ""}));
    assert!(nameless["error"].as_str().unwrap().contains("no `tool`") && nameless["runs"] == json!(false));
    // Another process cannot decide on the same session meanwhile.
    let mut other = Host::new(files.path(), state.path(), &["--wait", "50"]);
    let answer = other.ask(json!({"op": "open", "session": "s"}));
    assert!(answer["error"].as_str().unwrap().contains("has held the lock"), "{answer}");
    other.end();
    host.end();
}

/// A host that gets no answer must not take the end for success, whatever is wrong with the output.
#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let mut host = Host::new(files.path(), state.path(), &[]);
    assert!(host.ask(json!({"op": "open", "session": "s"}))["error"].is_null());
    let Host { mut child, output } = host;
    drop(output);
    writeln!(child.stdin.as_mut().unwrap(), "{}", json!({"op": "turn", "session": "s"})).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = live(files.path(), state.path(), &["gate", "--stdio", "-p", "p.yaml"]);
        let mut child = command.stdin(Stdio::piped()).stdout(full).spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{{}}").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2));
    }
}
