//! The proxy between servers and clients of the official SDKs.

#[cfg(feature = "proxy-http")]
use std::net::{TcpListener, TcpStream};
use std::process::Command;
#[cfg(feature = "proxy-http")]
use std::process::{Child, Stdio};

use serde_json::{Value, json};

#[cfg(feature = "proxy-http")]
use super::faults::soon;
use super::{POLICY, journal_folder};
use crate::cli::folder;
use crate::live::records;
use crate::skipped::skipped;

/// A Python with the SDK, if there is one.
fn python() -> Option<String> {
    let python = std::env::var("MCP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import mcp"]).output();
    found.is_ok_and(|output| output.status.success()).then_some(python)
}

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/mcp/peer.py");

#[test]
fn the_python_sdk_works_on_both_sides() {
    let Some(python) = python() else {
        return skipped("no Python with the package `mcp`: name one in MCP_PYTHON");
    };
    works(&python, &["--", &python, PEER, "server"]);
}

/// The SDK's own server over HTTP, with sessions and streams of events.
#[cfg(feature = "proxy-http")]
#[test]
fn the_python_sdk_works_over_http() {
    let Some(python) = python() else {
        return skipped("no Python with the package `mcp`: name one in MCP_PYTHON");
    };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new(&python);
    server.args([PEER, "server", "http", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Ended(server.spawn().unwrap());
    soon("the server did not start", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    works(&python, &["--url", &format!("http://127.0.0.1:{port}/mcp")]);
}

/// A process that ends with the test.
#[cfg(feature = "proxy-http")]
struct Ended(Child);

#[cfg(feature = "proxy-http")]
impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The SDK's client uses the server that these arguments of the proxy name.
fn works(python: &str, server: &[&str]) {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let policy = files.path().join("p.yaml");
    let (program, policy) = (env!("CARGO_BIN_EXE_rulestep"), policy.to_str().unwrap());
    // The SDK gives a server no more than a few variables.
    let state_home = format!("XDG_STATE_HOME={}", state.path().display());
    let mut client = Command::new(python);
    client.args([PEER, "client", "env", &state_home, program, "proxy", "-p", policy]).args(server);
    let output = client.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        seen["lists"],
        json!([["test", "erase", "count"], ["test", "deploy", "erase", "count"]]),
        "{errors}"
    );
    assert_eq!((&seen["announced"], &seen["changes"]), (&json!(true), &json!(1)), "{seen}");
    assert_eq!(seen["progress"], json!([0.0, 1.0, 2.0]));
    let calls = &seen["calls"];
    assert!(
        calls["early"][0] == true && calls["early"][1].as_str().unwrap().contains("Way out: call test"),
        "{calls}"
    );
    assert_eq!(
        (&calls["test"], &calls["deploy"]),
        (&json!([false, "41 passed"]), &json!([false, "deployed 7"]))
    );
    assert_eq!((&calls["erase"][0], &calls["count"]), (&json!(true), &json!([false, "3"])));
    let journal = journal_folder(state.path()).remove(0);
    let outcomes: Vec<_> = records(&journal)
        .into_iter()
        .filter_map(|record| record["outcome"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(outcomes, ["ok", "ok", "error", "ok"]);
}
