//! Damaged input: what is lost, what is told, and that nothing worse happens.

use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rstest::rstest;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::write::Native;
use rulestep_base::session::{Outcome, Results};
use rulestep_recording::{self as recording, FORMATS, Options};
use serde_json::json;

use super::{opened, opened_with, told, written};

const A: &str = r#"{"id": "a", "messages": [{"role": "user", "content": "x"}]}"#;
const B: &str = r#"{"id": "b", "messages": [{"role": "user", "content": "y"}]}"#;
const CALLS: &str = r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]}"#;

/// Input, ids of the sessions, and everything told without the file's name.
fn check(input: impl Into<Vec<u8>>, ids: &[&str], expected: &[&str]) {
    let input = input.into();
    let shown = String::from_utf8_lossy(&input).chars().take(200).collect::<String>();
    let (sessions, of_file) = opened(input);
    assert_eq!(sessions.iter().map(|session| &*session.id).collect::<Vec<_>>(), ids, "{shown}");
    let told = told(&sessions, &of_file);
    let mut told: Vec<_> = told.iter().map(|line| line.strip_prefix("some.json:").unwrap_or(line)).collect();
    // A file that lost what may hold calls does not pass for one that was judged whole.
    let of_sessions = sessions.iter().flat_map(|session| &session.diagnostics);
    let unread = of_file.iter().chain(of_sessions).any(Diagnostic::may_lose_calls);
    let all = told.len();
    told.retain(|line| !line.contains("may have contained calls"));
    assert_eq!(told.len() + usize::from(unread), all, "{shown}");
    assert_eq!(told, expected, "{shown}");
}

#[test]
fn a_damaged_line_costs_itself_alone() {
    const OPEN: &str = "2: warning[damaged_line]: the value is not closed; the line is left out";
    const TEXT: &str = "2: warning[damaged_line]: a line ends within a text; the line is left out";
    for (line, expected) in [
        (r#"{"id": "c", "messages": [}"#, OPEN),
        (r#"{"id": "c", "messages": [{"role": "user"}"#, OPEN),
        (r#"{"id": "c","#, OPEN),
        (r#"{"id": "c", "mess"#, TEXT),
        (r#"{"id": "c", "mes{"id": "d", "messages": []}"#, TEXT),
        (
            r#"{"id": "c" "messages": []}"#,
            "2: warning[damaged_line]: `{\"id\": \"c\" \"messages\": []}` is not JSON: expected `,` or `}`; it is left out",
        ),
        (
            "WARN: hello",
            "2: warning[damaged_line]: `WARN: hello` is not JSON: expected value; it is left out",
        ),
        ("\u{1b}[31m\u{7}", "2: warning[damaged_line]: `[31m` is not JSON: expected value; it is left out"),
        ("}", "2: warning[damaged_line]: `}` is not JSON: expected value; it is left out"),
        ("\"text\"", "2: warning[damaged_line]: neither a session nor a message: a text; it is left out"),
        ("[1]", "2: warning[damaged_line]: neither a session nor a message: a number; it is left out"),
        (
            r#"{"type": "event"}"#,
            "2: warning[damaged_line]: neither a session nor a message: an object with `type`; it is left out",
        ),
    ] {
        check(format!("{A}\n{line}\n{B}\n"), &["a", "b"], &[expected]);
    }
}

#[test]
fn a_damaged_first_line_costs_itself_alone() {
    for (line, why) in
        [("{\"id\": \"c\",", "the value is not closed"), ("{\"id\": \"c", "a line ends within a text")]
    {
        let expected = format!("1: warning[damaged_line]: {why}; the line is left out");
        check(format!("{line}\n{A}\n{B}\n"), &["a", "b"], &[&expected]);
    }
}

#[test]
fn a_cut_off_end_costs_what_is_not_whole() {
    let cut = &B[..40];
    let lost = "2: warning[damaged_line]: the file ends within this value, which is left out";
    check(format!("{A}\n{cut}"), &["a"], &[lost]);
    check(format!("[{A},\n{cut}"), &["a"], &[lost]);
    check(format!("[{A},\n"), &["a"], &["2: warning[damaged_line]: the file ends inside its list"]);
    // A file that is one session, cut off within its second message.
    check(
        "{\n \"id\": \"a\",\n \"messages\": [\n  {\"role\": \"user\", \"content\": \"x\"},\n  {\"role\": \"ass",
        &["a"],
        &["1: warning[damaged_line]: the file is cut off; the complete part of it is read"],
    );
}

#[test]
fn a_damaged_element_of_a_printed_list_costs_itself_alone() {
    check(
        format!("[\n {{\n  \"id\": \"c,\n  \"messages\": []\n }},\n {A}\n]"),
        &["a"],
        &["2: warning[damaged_line]: a line ends within a text; lines 2 to 5 are left out"],
    );
    check(
        format!("[\n {B},\n {{\"id\": \"c\", \"messages\": [\n {A}\n]"),
        &["b", "a"],
        &["3: warning[damaged_line]: the value is not closed; the line is left out"],
    );
}

#[test]
fn shapes_and_encodings_that_are_no_damage() {
    for input in [
        format!("[{A},{B}]"),
        format!("[{A}\n\n,\n{B}\n]\n"),
        format!("{A}{B}"),
        format!("{A}\n\n  \n{B}"),
        format!("\u{feff}{A}\r\n\r\n{B}\r\n"),
        format!("[{A}]\n[{B}]\n"),
    ] {
        check(input, &["a", "b"], &[]);
    }
    let messages = r#"[{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]"#;
    check(messages, &["some"], &[]);
    check(format!("{messages}\n{messages}"), &["some#0", "some#1"], &[]);
    check(format!("[{messages}, {messages}]"), &["some#0", "some#1"], &[]);
    check(
        "{\"role\": \"user\", \"content\": \"x\"}\n{\"role\": \"user\", \"content\": \"y\"}\n",
        &["some"],
        &[],
    );
}

#[test]
fn faults_of_encoding_cost_a_character() {
    let bad =
        [A.as_bytes(), b"\n{\"id\": \"c\", \"messages\": [{\"role\": \"user\", \"content\": \"<\xff>\"}]}"]
            .concat();
    let expected = "2: warning[damaged_record]: the byte 0xff is not UTF-8; such bytes are read as U+FFFD";
    check(bad.clone(), &["a", "c"], &[expected]);
    assert_eq!(opened(bad).0[1].messages[0].content.raw(), "<\u{FFFD}>");
    let half = r#"{"id": "c", "messages": [{"role": "user", "content": "\ud800!"}]}"#;
    let expected = "1: warning[damaged_record]: half of a surrogate pair is read as U+FFFD";
    check(half, &["c"], &[expected]);
    assert_eq!(opened(half).0[0].messages[0].content.raw(), "\u{FFFD}!");
}

#[test]
fn wrong_types_are_told_one_by_one() {
    check(
        r#"{"id": [1], "messages": [1, {"role": 7, "content": "x"}, {"role": "assistant", "tool_calls": 5},
           {"role": "assistant", "tool_calls": [3, {"function": {"name": 4}}, {"function": {"name": "f", "arguments": "{"}}]},
           {"role": "tool", "is_error": "yes", "tool_call_id": 9, "content": "r"}, {"role": "user", "at": "soon"},
           {"role": "user", "tool_calls": [{}]}, {"role": "policy", "op": "restore"}, {"role": "policy", "op": "burn"}],
           "tools": 5, "tools_at": [{"turn": 0}], "files": [1], "variables": [], "now": "x", "results": 1, "parent": {},
           "from_the_middle": 1, "context": {"$serde_json::private::Number": "1"}}"#,
        &["some"],
        &[
            "1: warning[damaged_record]: `role` is a number, not a text; it is left out",
            "2: warning[damaged_record]: `name` is a number, not a text; it is left out",
            "1: warning[damaged_record]: `context` is not JSON that can be read, and is left out",
            "1: warning[damaged_record]: `variables` is not an object, and is left out",
            "1: warning[damaged_record]: `files` is not a list of texts, and is left out",
            "1: warning[damaged_record]: `now` is not a time, and is left out",
            "1: warning[damaged_record]: `parent` is not the id of a session, and is left out",
            "1: warning[damaged_record]: `from_the_middle` is not a truth value, and is read as true",
            "1: warning[damaged_record]: `results` is not `recorded` or `absent`, and is left out",
            "1: warning[damaged_record]: `tools` is not a list of tools, and is left out",
            "1: warning[damaged_record]: `tools_at` is not a list of `{turn, tools}` with turns from 1, and is left out",
            "1: warning[damaged_record]: a message is a number, not an object; it is left out",
            "1: warning[damaged_record]: a message has no role; it is read as one of the role `unknown`",
            "1: warning[damaged_record]: `tool_calls` is a number, not a list; it is left out",
            "2: warning[damaged_record]: a call is a number, not an object; it is left out",
            "2: warning[damaged_record]: a call names no tool; it is kept as `(unnamed)`",
            "2: warning[arguments_not_json]: the arguments of a call to `f` are not JSON; they are kept as text",
            "3: warning[damaged_record]: `is_error` is a text, not a truth value; it is read as true",
            "3: warning[result_without_call]: result for call `9`, which is not in this recording",
            "3: warning[damaged_record]: `at` is not a known form of time: `\"soon\"`",
            "4: warning[damaged_record]: calls of the role `user` are left out",
            "4: warning[unknown_operation]: `restore` names no snapshot, so the recorded state is emptied",
            "4: warning[unknown_operation]: `burn` is not an operation, so the recorded state is emptied",
            "2: notice[call_without_result]: 2 calls have no result; the first is here",
        ],
    );
}

#[test]
fn tools_that_cannot_be_read_are_told() {
    check(
        r#"{"messages": [{"role": "user"}], "tools": ["a", 1, {"name": "b", "parameters": {"$serde_json::x": 1}}]}"#,
        &["some"],
        &[
            "1: notice[damaged_record]: 1 entries of `tools` are not tools and are left out",
            "1: warning[damaged_record]: the parameters of 1 tools of `tools` cannot be read",
        ],
    );
    // Also as text, as data sets keep them.
    let (sessions, _) = opened(r#"{"messages": [{"role": "user"}], "tools": "[{\"name\": \"a\"}]"}"#);
    assert_eq!(&*sessions[0].offered_in(1).unwrap()[0].name, "a");
}

#[test]
fn depth_is_told_and_harms_nothing() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    check(
        format!("{{\"messages\": [{{\"role\": \"user\", \"content\": {open}1{close}}}]}}"),
        &["some"],
        &[
            "1: warning[damaged_record]: the content of a message nests deeper than 127 levels, and is kept as text",
        ],
    );
    let call = format!(
        "{{\"messages\": [{{\"role\": \"assistant\", \"function_call\": {{\"name\": \"f\", \"arguments\": \"{open}{close}\"}}}}, \
         {{\"role\": \"function\"}}]}}"
    );
    let kept = "the arguments of a call to `f` nest deeper than 127 levels; no rule can decide the call, so it counts as denied";
    check(call, &["some"], &[&format!("1: warning[arguments_not_json]: {kept}")]);
    let objects = "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    let expected =
        "2: warning[damaged_line]: neither a session nor a message: an object with `a`; it is left out";
    check(format!("{A}\n{objects}\n{B}"), &["a", "b"], &[expected]);
}

#[test]
fn an_id_that_is_given_again_gets_its_place() {
    let again =
        |line| format!("{line}: notice[damaged_record]: the id `a` is not the first of its name in the file");
    check(format!("{A}\n{A}\n{A}"), &["a", "a#1", "a#2"], &[&again(2), &again(3)]);
}

/// Nothing at all can be read.
#[test]
fn what_is_no_recording_is_refused_with_its_reason() {
    let formats = "`rulestep explain formats` lists what can be read, where it is and how to export it";
    let deep = "[".repeat(10_000);
    for (bytes, expected) in [
        (&b""[..], "x: warning[empty_session]: the file is empty"),
        (b" \n\r\n", "x: warning[empty_session]: the file is empty"),
        (b"[ ]", "x: warning[empty_session]: the file holds an empty list"),
        (b"{}", "x: error[not_a_session]: the file begins with an empty object"),
        (
            b"hello\nworld",
            "x: error[not_a_session]: the file is not JSON: it begins with `hello` (parser: expected value at line 1 column 1)",
        ),
        (
            b"{\"a\": 1, \"b\": 2}",
            "x: error[not_a_session]: no known format has objects with the keys `a`, `b`",
        ),
        (
            b"{\"messages\": 1}",
            "x: error[not_a_session]: no known format has objects with the keys `messages`",
        ),
        (b"[1, 2]", "x: error[not_a_session]: no known format is made of a number"),
        (b"{\"messages\": [", "x: error[damaged_line]: the file ends within its first value"),
        (
            b"[{\"role\" \"user\"}]",
            "x: error[damaged_line]: the file is not JSON: it begins with `{\"role\" \"user\"}` (parser: expected `:` at line 1 column 9)",
        ),
        (
            b"{\"org\": \"x\", \"role\": \"admin\"}",
            "x: error[not_a_session]: no known format has objects with the keys `org`, `role`",
        ),
        (
            // Not read, and not passed over in silence: a call may be in it.
            b"{\"log\": [{\"toolCalls\": [{\"name\": \"refund\"}]}]}",
            "x: error[not_a_session]: no known format has objects with the keys `log`, though something in it looks like a tool call",
        ),
        (deep.as_bytes(), "x: error[not_a_session]: the file ends within its first value"),
        (
            b"{\"record_type\": \"task_start\", \"task_name\": \"step1\"}\n{\"record_type\": \"task_result\"}",
            "x: error[not_a_session]: the file is a stream of LangGraph tasks, which holds no tool calls",
        ),
        (
            b"{\"experiment_name\": \"e\", \"item_ref\": \"i\", \"evaluations\": []}",
            "x: error[not_a_session]: the file is an item of an experiment, which holds no tool calls",
        ),
        (
            b"PK\x03\x04",
            "x: error[not_a_session]: the file is a zip archive: unpack it, and open what is in it",
        ),
        (
            b"\x1f\x8b\x08",
            "x: error[not_a_session]: the file is compressed with gzip: unpack it with `gunzip`",
        ),
        (
            b"\xff\xfeh\0i\0",
            "x: error[not_a_session]: the file is UTF-16 text: convert it with `iconv -f utf-16 -t utf-8`",
        ),
        (
            // Of what begins like a recording nothing was read, in a folder too.
            b"\xfe\xff\0{\0\"\0a",
            "x: error[damaged_line]: the file is UTF-16 text: convert it with `iconv -f utf-16 -t utf-8`",
        ),
    ] {
        let refused = recording::open("x", Box::new(Cursor::new(bytes.to_vec())), &Options::default());
        let diagnostic = refused.err().unwrap();
        assert_eq!(diagnostic.to_string(), expected);
        let unknown = ["no known format", "not JSON", "an empty object", "its first value"];
        let help = diagnostic.help.as_deref();
        match unknown.iter().any(|part| expected.contains(part)) && diagnostic.code == code::NOT_A_SESSION {
            true => assert_eq!(help, Some(formats), "{expected}"),
            false => assert_eq!(help.is_some(), expected.contains("holds no tool calls"), "{expected}"),
        }
    }
}

/// A file that gives no call is told where it may hold some.
#[rstest]
#[case::in_another_key(
    r#"{"messages": [{"role": "user", "content": "hi"},
         {"role": "assistant", "steps": [{"tool": "refund"}]}]}"#,
    "2: `steps`"
)]
#[case::of_a_message_that_says_nothing(
    r#"[{"role": "assistant", "blocks": [{"refund": {}}]}]"#,
    "1: `blocks`"
)]
#[case::in_the_content(
    r#"[{"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "action", "name": "refund"}]}]"#,
    "1: a part of the type `action`"
)]
#[case::in_the_content_without_a_type(
    r#"[{"role": "assistant", "content": [{"name": "refund"}]}]"#,
    "1: a part of a content"
)]
#[case::beside_the_messages(
    r#"{"messages": [{"role": "user"}], "actions": [{"tool": "refund"}]}"#,
    "1: `actions`"
)]
#[case::a_line_each(
    "{\"role\": \"user\", \"content\": \"hi\"}\n{\"role\": \"assistant\", \"content\": \"\", \"toolUses\": [1]}",
    "2: `toolUses`"
)]
#[case::words_alone(
    r#"{"tools": [{"name": "refund"}], "tool_choice": {"type": "auto"}, "messages": [
         {"role": "user", "content": [{"type": "action", "name": "refund"}]}, {"role": "assistant", "content": "no",
          "tool_calls": [], "steps": {}, "metadata": {"model": "m"}, "action": "none"},
         {"role": "assistant", "content": [{"type": "text", "text": "no", "name": "x"}]}]}"#,
    ""
)]
#[case::a_call(
    r#"[{"role": "assistant", "steps": [1]}, {"role": "assistant", "tool_calls": [{"function": {"name": "refund"}}]},
        {"role": "tool", "content": "x"}]"#,
    ""
)]
#[case::written_by_convert(
    r#"{"results": "recorded", "messages": [{"role": "assistant", "content": [{"type": "action", "name": "x"}]}]}"#,
    ""
)]
fn calls_in_a_form_that_is_not_read_are_no_absence_of_calls(#[case] input: &str, #[case] place: &str) {
    let (sessions, of_file) = opened(input);
    let told = told(&sessions, &of_file);
    let Some((line, what)) = place.split_once(": ") else { return assert_eq!(told, [""; 0]) };
    let may = format!(
        "some.json:{line}: warning[damaged_record]: {what} may hold calls, and is left out: calls are read from \
         `tool_calls` and `function_call` of messages"
    );
    let unread = "some.json: error[damaged_record]: no call could be read: 1 part of the file is damaged or \
                  skipped, and may have contained calls";
    assert_eq!(told, [unread, &*may]);
}

#[test]
fn a_format_that_is_asked_for_tells_where_the_file_departs_from_it() {
    let tau = FORMATS.iter().find(|format| format.name == "tau-bench");
    let (sessions, of_file) =
        opened_with(format!("{A}\n{{\"traj\": []}}"), &Options { format: tau, ..Options::default() });
    assert_eq!(sessions.len(), 0);
    assert_eq!(
        told(&sessions, &of_file),
        [
            "some.json:1: warning[damaged_line]: not an episode with `traj`: an object with `id`, `messages`; it is left out",
            "some.json: error[empty_session]: no session could be read: 1 part of the file is damaged or skipped",
        ]
    );
}

#[test]
fn an_input_that_fails_midway_keeps_what_was_read() {
    struct Fails;
    impl io::Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let input = Cursor::new(format!("{A}\n{B}\n")).chain(BufReader::new(Fails));
    let mut reading = recording::open("x", Box::new(input), &Options::default()).unwrap();
    assert_eq!(reading.by_ref().count(), 2);
    let told: Vec<_> = reading.diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["x:3: error[unreadable_file]: the file cannot be read: the disk is gone"]);
}

#[test]
fn results_are_absent_when_the_whole_file_has_none() {
    let absent = "some.json: notice[no_results_recorded]: the file has calls but no results, so every call counts as \
                  ok";
    let (sessions, of_file) = opened(format!("{CALLS}\n{A}\n{CALLS}"));
    let results: Vec<_> = sessions.iter().map(|session| session.facts.results).collect();
    assert_eq!(results, [Results::Absent; 3]);
    assert_eq!((sessions[2].calls[0].outcome, sessions[2].calls[0].in_turn), (Outcome::Ok, true));
    assert_eq!(told(&sessions, &of_file), [absent]);

    // One result anywhere, or a word of its own, and a call without one is unknown.
    let later = r#"{"messages": [{"role": "tool", "tool_call_id": "z", "content": "late"}]}"#;
    let states = CALLS.replace("{\"messages\"", "{\"results\": \"recorded\", \"messages\"");
    for input in [format!("{CALLS}\n{A}\n{later}"), states] {
        let (sessions, _) = opened(input);
        assert_eq!(sessions[0].facts.results, Results::Recorded);
        assert_eq!(sessions[0].calls[0].outcome, Outcome::Unknown);
    }
    // A file that is still written may yet get them, and its last line is no damage.
    let following = Options { following: true, ..Options::default() };
    let (sessions, of_file) = opened_with(format!("{CALLS}\n{{\"mess"), &following);
    assert_eq!(sessions[0].calls[0].outcome, Outcome::Unknown);
    assert_eq!(told(&sessions, &of_file), [""; 0]);
}

/// 9 MiB of calls without a result, and one result at the very end: known at once where the input can be looked ahead
/// in, and never a success by mistake where it cannot.
#[test]
fn a_long_file_is_not_held_back_for_its_results() {
    let filler = "x".repeat(1 << 20);
    let long = CALLS.replace(
        "{\"role\": \"assistant\"",
        &format!("{{\"role\": \"user\", \"content\": \"{filler}\"}}, {{\"role\": \"assistant\""),
    );
    let mut text = format!("{long}\n").repeat(9);
    let without: Arc<str> = text.as_str().into();
    text.push_str(r#"{"from_the_middle": true, "messages": [{"role": "tool", "content": "late"}]}"#);
    let with: Arc<str> = text.into();
    let outcome = |text: &Arc<str>, ahead: bool| {
        let bytes = Arc::clone(text);
        let again = move || Ok(Box::new(Cursor::new(bytes.as_bytes().to_vec())) as Box<dyn BufRead + Send>);
        let options = Options {
            again: ahead.then(|| Arc::new(again) as recording::contract::Again),
            ..Options::default()
        };
        let (sessions, of_file) = opened_with(text.as_bytes(), &options);
        (sessions[0].calls[0].outcome, of_file.len())
    };
    assert_eq!(outcome(&with, true), (Outcome::Unknown, 0));
    assert_eq!(outcome(&without, true), (Outcome::Ok, 1));
    assert_eq!(outcome(&with, false), (Outcome::Unknown, 1));
    assert_eq!(outcome(&without, false), (Outcome::Unknown, 1));
}

#[test]
fn errors_are_told_by_their_text_where_nothing_marks_them() {
    let input = r#"[{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}, {"id": "2", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "Traceback"},
        {"role": "tool", "tool_call_id": "2", "content": "Traceback", "is_error": false}]"#;
    let outcomes = |options: &Options| -> Vec<_> {
        opened_with(input, options).0[0].calls.iter().map(|call| call.outcome).collect()
    };
    assert_eq!(outcomes(&Options::default()), [Outcome::Ok, Outcome::Ok]);
    let test: recording::contract::ErrorTest = Arc::new(|text: &str| text.starts_with("Trace"));
    let options = Options { error: Some(test), ..Options::default() };
    assert_eq!(outcomes(&options), [Outcome::Error, Outcome::Ok]);
}

/// A refusal beats every other mark of its result; a result that is missing says nothing.
#[test]
fn refusals_are_told_by_their_text_in_every_format_that_has_results() {
    let chat = r#"[{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}, {"id": "2", "function": {"name": "f"}},
          {"id": "3", "function": {"name": "f"}}, {"id": "4", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "blocked by guard"},
        {"role": "tool", "tool_call_id": "2", "content": "blocked by guard", "is_error": true},
        {"role": "tool", "tool_call_id": "3", "content": null},
        {"role": "tool", "tool_call_id": "4", "content": "done"}]"#;
    let blocks = r#"{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}},
          {"type": "tool_use", "id": "2", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "blocked by guard"},
          {"type": "tool_result", "tool_use_id": "2", "content": "done"}]}]}"#;
    let calls = |input: &str, options: &Options| opened_with(input, options).0[0].calls.clone();
    let outcomes = |input: &str, options: &Options| -> Vec<_> {
        calls(input, options).iter().map(|call| call.outcome).collect()
    };
    let (ok, error, refused) = (Outcome::Ok, Outcome::Error, Outcome::Refused);
    assert_eq!(outcomes(chat, &Options::default()), [ok, error, ok, ok]);
    let test =
        rulestep_base::session::refusal::Test::new(|text| text.is_empty() || text.starts_with("blocked"));
    let options = Options { refused: Some(test), ..Options::default() };
    assert_eq!(outcomes(chat, &options), [refused, refused, ok, ok]);
    assert_eq!(outcomes(blocks, &Options::default()), [ok, ok]);
    assert_eq!(outcomes(blocks, &options), [refused, ok]);
    assert_eq!(calls(chat, &options)[0].refusal, Some("the result matches `--refused-regex`"));
}

/// Whatever the bytes, reading ends, and sessions have their places and ids.
fn survives(bytes: Vec<u8>) {
    for format in [None].into_iter().chain(FORMATS.iter().map(Some)) {
        let options = Options { format, ..Options::default() };
        let Ok(reading) = recording::open("f", Box::new(Cursor::new(bytes.clone())), &options) else {
            continue;
        };
        for (index, session) in reading.enumerate() {
            assert_eq!(session.origin.index, index);
            assert!(!session.id.is_empty());
            for (index, call) in session.calls.iter().enumerate() {
                assert_eq!(call.at.index as usize, index);
                let _ = (call.arguments.parsed(), call.output.shown());
            }
        }
    }
}

/// Every fixture.
static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
});

/// Pieces of JSON, and of what it is not.
fn tokens() -> impl Strategy<Value = Vec<u8>> {
    let token = select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\n",
        "\r\n",
        " ",
        "null",
        "true",
        "-1e9",
        "\"role\"",
        "\"messages\"",
        "\"tool_calls\"",
        "\"assistant\"",
        "\"tool\"",
        "\"content\"",
        "\"traj\"",
        "\\ud800",
        "\u{feff}",
        "é",
        "'a'",
        "{\"role\": \"tool\", \"content\": 1}",
        "{\"messages\": [{\"role\": \"user\"}]}",
    ]);
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(bytes);
    }

    #[test]
    fn any_tokens_are_survived(bytes in tokens()) {
        survives(bytes);
    }

    #[test]
    fn any_damage_is_survived(
        seed in select(SEEDS.clone()),
        damage in prop::collection::vec((any::<Index>(), 0..40usize, prop::collection::vec(any::<u8>(), 0..4)), 1..5),
    ) {
        let mut bytes = seed;
        for (at, cut, insert) in damage {
            let at = at.index(bytes.len() + 1);
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, insert);
        }
        survives(bytes);
    }

    /// Lines out of order, gone or there twice: whatever is read of them can be written and read again.
    #[test]
    fn any_order_of_lines_is_survived(
        seed in select(SEEDS.clone()),
        lines in prop::collection::vec(any::<Index>(), 1..40),
    ) {
        let all: Vec<&[u8]> = seed.split_inclusive(|byte| *byte == b'\n').collect();
        let bytes: Vec<u8> = lines.iter().flat_map(|line| all[line.index(all.len())]).copied().collect();
        survives(bytes.clone());
        let opened = recording::open("f.jsonl", Box::new(Cursor::new(bytes)), &Options::default());
        for session in opened.into_iter().flatten() {
            written::survives(&session, Path::new("f.jsonl"));
        }
    }
}

/// A call that stands behind a result which answers nothing must not get that result when the session is written and
/// read again.
#[test]
fn a_call_of_the_agent_within_the_words_of_the_user_is_a_response_of_its_own() {
    let recording = json!({"task_id": 1, "termination_reason": "user_stop", "messages": [
        {"role": "assistant", "content": "Hi!"},
        {"role": "tool", "content": "lost", "error": false},
        {"role": "user", "content": "Look.", "tool_calls": [{"name": "reset", "requestor": "assistant"}]},
        {"role": "tool", "content": "no", "error": true},
    ]});
    let (sessions, _) = opened(recording.to_string());
    let kinds: Vec<_> = sessions[0].messages.iter().map(|message| &*message.role).collect();
    assert_eq!(kinds, ["assistant", "tool", "assistant", "user", "tool"]);
    let call = &sessions[0].calls[0];
    assert_eq!((call.at.turn, call.outcome, call.result), (2, Outcome::Error, Some(4)));
    let (again, _) = opened(serde_json::to_vec(&Native(&sessions[0])).unwrap());
    assert_eq!((again[0].calls[0].at.turn, again[0].calls[0].outcome), (2, Outcome::Error));
}
