//! Reading recordings: the counts of real ones, fixtures, damage, and writing them again.

mod costs;
mod damage;
mod edited;
mod ended;
mod exchanges;
mod forms;
mod histories;
mod hooked;
mod long;
mod losses;
mod lost;
mod marks;
mod outlines;
mod pairing;
mod protocols;
pub mod recorded;
mod repeats;
mod responses;
mod spans;
mod streams;
mod traced;
mod types;
mod unread;
mod unsuccessful;
mod widened;
pub mod written;

use std::io::Cursor;

use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::write::Native;
use rulestep_base::session::{MessageKind, Operation, Session};
use rulestep_recording::{self as recording, Options};

/// Sessions and file diagnostics of some bytes.
pub fn opened(bytes: impl Into<Vec<u8>>) -> (Vec<Session>, Vec<Diagnostic>) {
    opened_with(bytes, &Options::default())
}

fn opened_with(bytes: impl Into<Vec<u8>>, options: &Options) -> (Vec<Session>, Vec<Diagnostic>) {
    let input = Box::new(Cursor::new(bytes.into()));
    let mut reading = recording::open("some.json", input, options).unwrap();
    let sessions = reading.by_ref().collect();
    (sessions, reading.diagnostics())
}

/// Every diagnostic as one line: those of the file first.
fn told(sessions: &[Session], of_file: &[Diagnostic]) -> Vec<String> {
    let of_sessions = sessions.iter().flat_map(|session| &session.diagnostics);
    of_file.iter().chain(of_sessions).map(Diagnostic::to_string).collect()
}

/// The program's old name is still read as the role of operations, and written as the new one.
#[test]
fn both_roles_of_operations_are_read_and_one_is_written() {
    for role in ["policy", "toolgate"] {
        let text = format!(r#"{{"messages": [{{"role": "{role}", "op": "reset"}}]}}"#);
        let (sessions, _) = opened(text);
        assert!(matches!(sessions[0].messages[0].kind, MessageKind::Operation(Operation::Reset)), "{role}");
        let written = serde_json::to_value(Native(&sessions[0])).expect("JSON");
        assert_eq!(written["messages"][0], serde_json::json!({"role": "policy", "op": "reset"}));
    }
}

/// Another program may call a speaker `policy`: only what has an `op`, or says nothing at all, is an operation.
#[test]
fn a_speaker_called_policy_operates_on_nothing() {
    let (sessions, _) =
        opened(r#"{"messages": [{"role": "policy", "content": "be kind"}, {"role": "policy"}]}"#);
    let kinds: Vec<_> = sessions[0].messages.iter().map(|message| message.kind.clone()).collect();
    assert!(
        matches!(kinds[..], [MessageKind::Said, MessageKind::Operation(Operation::Unknown(_))]),
        "{kinds:?}"
    );
}

#[test]
fn operations_that_mean_nothing_are_told_with_their_line() {
    let op = |op: &str| format!(r#"{{"role": "policy", {op}}}"#);
    let ops = [
        op(r#""op": "snapshot", "name": "a""#),
        op(r#""op": "restore", "name": "a""#),
        op(r#""op": "restore", "name": "b""#),
        op(r#""op": "snapshot""#),
        op(r#""op": "undo""#),
        op(r#""op": "reset""#),
    ];
    let (sessions, _) = opened(format!("{{\"messages\": [\n{}\n]}}", ops.join(",\n")));
    let said: Vec<String> = sessions[0].diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "some.json:4: warning[unknown_operation]: no snapshot `b` was taken, so the recorded state is emptied",
            "some.json:5: warning[unknown_operation]: `snapshot` names no snapshot, so the recorded state is emptied",
            "some.json:6: warning[unknown_operation]: `undo` is not an operation, so the recorded state is emptied",
        ]
    );
}
