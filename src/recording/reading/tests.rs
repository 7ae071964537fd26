use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;

fn reading(text: &str) -> Option<Reading> {
    // A small buffer, so that lines begin in one and end in another.
    let input = BufReader::with_capacity(700, Cursor::new(text.as_bytes().to_vec()));
    open("many.jsonl", Box::new(input), &Options::default()).ok()
}

/// What there is to compare of sessions and their file.
type Read = (Vec<String>, Vec<Diagnostic>);

fn said(session: &Session) -> String {
    let texts: Vec<_> = session.messages.iter().map(|message| message.content.raw().to_owned()).collect();
    format!("{} {:?} {texts:?} {:?}", session.id, session.origin, session.diagnostics)
}

fn one_by_one(text: &str) -> Option<Read> {
    let mut reading = reading(text)?;
    let sessions = reading.by_ref().map(|session| said(&session)).collect();
    Some((sessions, reading.diagnostics()))
}

/// With up to `most` stretches that are away at a time, each read when `choice` says so.
fn in_stretches(text: &str, most: usize, choice: &[bool]) -> Option<Read> {
    let mut reading = reading(text)?;
    let (mut sessions, mut away) = (Vec::new(), VecDeque::new());
    let mut choice = choice.iter().cycle();
    loop {
        while away.len() < most
            && let Some(stretch) = reading.cut()
        {
            away.push_back(stretch);
            if choice.next().copied().unwrap_or_default() {
                break;
            }
        }
        let next = match away.pop_front() {
            Some(mut stretch) => {
                stretch.read();
                reading.join(stretch);
                std::iter::from_fn(|| reading.ready()).map(|session| said(&session)).collect()
            }
            None => match reading.next() {
                Some(session) => vec![said(&session)],
                None => return Some((sessions, reading.diagnostics())),
            },
        };
        sessions.extend(next);
    }
}

/// Lines, with what stands on them.
fn line() -> impl Strategy<Value = String> {
    let session = |id: u16| {
        format!(
            r#"{{"id": "s{}", "messages": [{{"role": "user", "content": "{id}"}}, {{"role": "assistant", "tool_calls": [{{"id": "c", "function": {{"name": "t", "arguments": "{{}}"}}}}]}}]}}"#,
            id % 300
        )
    };
    let answered = r#"{"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "x"}]}"#;
    prop_oneof![
        400 => any::<u16>().prop_map(session),
        4 => any::<u16>().prop_map(move |id| format!("[{}, {}]", session(id), session(id ^ 1))),
        4 => any::<u16>().prop_map(move |id| session(id).replace("[{", "[\n{").replace("}]", "}\n]")),
        20 => Just(answered.to_owned()),
        20 => Just(r#"{"role": "user", "content": "alone"}"#.to_owned()),
        10 => Just(String::new()),
        2 => Just(r#"{"messages": [{"role": "user""#.to_owned()),
        2 => Just(r#"{"messages": null}"#.to_owned()),
        2 => Just("{".to_owned()),
        2 => Just("what is this?".to_owned()),
        1 => Just("[".to_owned()),
        1 => Just(r#"{"other": 1} {"messages": []}"#.to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whoever_reads_the_lines_the_sessions_are_the_same(
        lines in prop::collection::vec(line(), 0..1500),
        most in 1..4usize,
        choice in prop::collection::vec(any::<bool>(), 1..20),
    ) {
        let text = lines.join("\n");
        prop_assert_eq!(in_stretches(&text, most, &choice), one_by_one(&text));
    }
}

#[test]
fn lines_are_cut_off_wherever_they_may_be_sessions() {
    let line = r#"{"messages": [{"role": "user", "content": "hi"}]}"#;
    let mut reading = reading(&format!("{line}\n").repeat(2000)).unwrap();
    let (mut cut, mut read) = (0, 0);
    loop {
        if let Some(stretch) = reading.cut() {
            cut += stretch.lines.len();
            reading.join(stretch);
            read += std::iter::from_fn(|| reading.ready()).count();
        } else if reading.next().is_some() {
            read += 1;
        } else {
            break;
        }
    }
    assert_eq!(read, 2000);
    assert!(cut > 1900, "only {cut} lines, though few are read to recognise the format");
}
