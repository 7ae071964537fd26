//! Recordings that could not be read whole: the user is told, and every count says so.

use super::*;

type Files<'a> = &'a [(&'a str, &'a str)];

/// The message that the editor shows of the recordings.
fn shown(client: &mut Client) -> (Value, String) {
    let found = client.wait(
        |message| matches!(message, Message::Notification(told) if told.method == "window/showMessage"),
    );
    let Message::Notification(told) = found else { unreachable!() };
    (told.params["type"].clone(), told.params["message"].as_str().unwrap().to_owned())
}

fn refreshed(client: &mut Client) {
    client.wait(
        |message| matches!(message, Message::Request(asked) if asked.method == "workspace/codeLens/refresh"),
    );
}

fn lens(client: &mut Client, uri: &str) -> Value {
    client.result("textDocument/codeLens", json!({"textDocument": {"uri": uri}}))[0]["command"]["title"]
        .clone()
}

#[test]
fn counts_of_damaged_recordings_say_so() {
    let damaged = format!("{}\n{{\"id\": \"cut", REFUND_124.replace('\n', " "));
    let cases: [(&str, Files<'_>, &[&str], &str); 4] = [
        ("a damaged line", &[("sessions/b.jsonl", &damaged)], &["sessions"], "b.jsonl:2: "),
        (
            "a file that is missing",
            &[("sessions/a.json", REFUND_124)],
            &["sessions", "gone.json"],
            "gone.json: ",
        ),
        (
            "a folder without recordings",
            &[("sessions/a.json", REFUND_124), ("empty/x/notes.md", "")],
            &["sessions", "empty"],
            "/empty: ",
        ),
        (
            "a file that is none",
            &[("sessions/a.json", REFUND_124), ("b.json", "{\"a\": 1}")],
            &["sessions", "b.json"],
            "b.json: ",
        ),
    ];
    for (name, files, sessions, first) in cases {
        let folder = folder(&[files, &[("contracts/issue_refund.yaml", ISSUE_REFUND)]].concat());
        let mut client = Client::start(folder.path(), sessions);
        client.initialize(&["utf-8"]);
        let refund = uri(&folder, "contracts/issue_refund.yaml");
        client.open(&refund, ISSUE_REFUND);
        let (kind, text) = shown(&mut client);
        assert_eq!(kind, 2, "{name}");
        let loses = name != "a folder without recordings";
        let said = match (name, loses) {
            ("a damaged line", _) => {
                "the recordings have 2 problems, so counts may leave calls out; the first is "
            }
            (_, true) => "the recordings have 1 problem, so counts may leave calls out; it is ",
            (_, false) => "the recordings have 1 problem; it is ",
        };
        assert!(text.starts_with(said), "{name}: {text}");
        assert!(text.contains(first) && !text.contains('\n'), "{name}: {text}");
        refreshed(&mut client);
        let gap = if loses { " · recordings incomplete" } else { "" };
        assert_eq!(lens(&mut client, &refund), format!("stops 1 call in 1 of 1 session{gap}"), "{name}");
        let at = json!({"textDocument": {"uri": refund}, "position": {"line": 2, "character": 30}});
        let hover = client.result("textDocument/hover", at)["contents"]["value"].as_str().unwrap().to_owned();
        assert!(hover.contains(&format!("is called 1 time in 1 session{gap}.")), "{name}: {hover}");
        assert!(hover.contains(&format!("in 1 of 1 session{gap}.")), "{name}: {hover}");
        client.close();
    }
}

/// Nothing could be read at all: no lens appears, so the message is all there is.
#[test]
fn recordings_without_a_session_are_reported() {
    for (files, first) in [
        (&[][..], "no such file"),
        (&[("sessions/notes.json", "{\"a\": 1}")][..], "no session could be read"),
    ] {
        let folder = folder(&[files, &[("contracts/issue_refund.yaml", ISSUE_REFUND)]].concat());
        let mut client = Client::start(folder.path(), &["sessions"]);
        client.initialize(&["utf-8"]);
        let (_, text) = shown(&mut client);
        assert!(text.contains(first), "{text}");
        client.close();
    }
}

/// Whole recordings, also when the editor names what the command line names: nothing is said, and each file counts once.
#[test]
fn whole_recordings_are_counted_once() {
    let folder = refunds();
    let mut client = Client::start(folder.path(), &["sessions", "sessions/a.json"]);
    let named = json!({"recordings": [folder.path().join("sessions").display().to_string()]});
    let capabilities = json!({"workspace": {"codeLens": {"refreshSupport": true}}});
    client.result("initialize", json!({"capabilities": capabilities, "initializationOptions": named}));
    client.tell("initialized", json!({}));
    let refund = uri(&folder, "contracts/issue_refund.yaml");
    client.open(&refund, ISSUE_REFUND);
    refreshed(&mut client);
    assert_eq!(lens(&mut client, &refund), "stops 1 call in 1 of 1 session");
    let shown =
        |message: &Message| matches!(message, Message::Notification(told) if told.method.contains("show"));
    assert!(!client.kept.iter().any(shown));
    client.close();
}
