use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;

fn reading(text: &str) -> Option<Reading> {
    // A small buffer, so that lines begin in one and end in another.
    let input = BufReader::with_capacity(700, Cursor::new(text.as_bytes().to_vec()));
    open("many.jsonl", Box::new(input), &Options { places: true, ..Options::default() }).ok()
}

/// Whether the latest session has a place. Where it has, what is there gives the session again.
fn has_place(reading: &Reading, text: &str, session: &Session) -> bool {
    let Some(line) = reading.latest_line() else { return false };
    let at = line.at as usize;
    let bytes = text.as_bytes()[at..at + line.length].to_vec();
    let lines = reading.lines().unwrap();
    let again = lines.read(&line, bytes.clone()).expect("the line is there");
    let Session { facts, offered, messages, turns, calls, alternatives, .. } = &again;
    assert_eq!(
        (facts, offered, messages, turns, calls, alternatives),
        (
            &session.facts,
            &session.offered,
            &session.messages,
            &session.turns,
            &session.calls,
            &session.alternatives
        )
    );
    for changed in [&bytes[1..], &[&bytes[..], b" "].concat(), &bytes.to_ascii_uppercase()] {
        assert!(lines.read(&line, changed.to_vec()).is_none(), "another line is not the session");
    }
    true
}

/// What there is to compare of sessions and their file.
type Read = (Vec<String>, Vec<Diagnostic>);

fn said(session: &Session) -> String {
    let texts: Vec<_> = session.messages.iter().map(|message| message.content.raw().to_owned()).collect();
    format!("{} {:?} {texts:?} {:?}", session.id, session.origin, session.diagnostics)
}

fn one_by_one(text: &str) -> Option<Read> {
    let mut reading = reading(text)?;
    let mut sessions = Vec::new();
    while let Some(session) = reading.next() {
        has_place(&reading, text, &session);
        sessions.push(said(&session));
    }
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
                let mut ready = Vec::new();
                while let Some(session) = reading.ready() {
                    has_place(&reading, text, &session);
                    ready.push(said(&session));
                }
                ready
            }
            None => match reading.next() {
                Some(session) => {
                    has_place(&reading, text, &session);
                    vec![said(&session)]
                }
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

/// How many sessions a text gives, and how many of them can be read again where they are; by one thread and by several.
fn placed(text: &str) -> [(usize, usize); 2] {
    let (mut alone, mut parts) = (reading(text).unwrap(), reading(text).unwrap());
    let [mut one, mut other] = [(0, 0); 2];
    let count = |of: &mut (usize, usize), reading: &Reading, session: &Session| {
        *of = (of.0 + 1, of.1 + usize::from(has_place(reading, text, session)));
    };
    while let Some(session) = alone.next() {
        count(&mut one, &alone, &session);
    }
    loop {
        if let Some(mut stretch) = parts.cut() {
            stretch.read();
            parts.join(stretch);
            while let Some(session) = parts.ready() {
                count(&mut other, &parts, &session);
            }
        } else if let Some(session) = parts.next() {
            count(&mut other, &parts, &session);
        } else {
            return [one, other];
        }
    }
}

#[test]
fn sessions_that_are_lines_can_be_read_again_where_they_are() {
    let line = |id: usize| {
        format!(
            r#"{{"id": "s{id}", "messages": [{{"role": "user", "content": "hé"}}, {{"role": "assistant", "tool_calls": [{{"id": "c", "function": {{"name": "t", "arguments": "{{}}"}}}}]}}]}}"#
        )
    };
    let lines = |end: &str| (0..600).map(|id| line(id) + end).collect::<String>();
    // No result is recorded, which is not said by the lines.
    let mut first = reading(&lines("\n")).unwrap();
    assert_eq!(first.next().unwrap().facts.results, crate::session::Results::Absent);
    let all = [(600, 600); 2];
    assert_eq!(placed(&lines("\n")), all);
    assert_eq!(placed(lines("\n").trim_end()), all, "the last line does not end");
    assert_eq!(placed(&lines("\r\n")), all);
    assert_eq!(placed(&lines("\n \t\n")), all, "with blank lines");
    assert_eq!(placed(&format!("\u{feff}{}", lines("\n"))), all, "with a mark in front");
    // Damaged lines among them, and messages that are lines by themselves: those that are whole lines have places.
    let alone = r#"{"role": "user", "content": "alone"}"#;
    let mixed =
        lines("\n").replacen("\"s300\"", "", 1).replacen(&line(200), &format!("{}\n{alone}", line(200)), 1);
    for (sessions, places) in placed(&mixed) {
        assert!(sessions == 600 && places >= 599 - LINES, "{places} of {sessions}");
    }
    assert_eq!(placed(&format!("[{}]", lines(",").trim_end_matches(','))), [(600, 0); 2], "one document");
}
