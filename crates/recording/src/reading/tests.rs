use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;

fn reading(text: &str) -> Option<Reading> {
    // A small buffer, so that lines begin in one and end in another.
    let input = BufReader::with_capacity(700, Cursor::new(text.as_bytes().to_vec()));
    open("many.jsonl", Box::new(input), &Options { places: true, ..Options::default() }).ok()
}

/// Whether the latest session has a place. If so, reading there gives the same session.
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

/// The comparable parts of sessions and their file.
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

/// With up to `most` stretches read separately at a time, each when `choice` says so.
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

/// Lines of various content.
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

/// The number of sessions in a text, and how many of them can be read again at their place; by one thread and by
/// several.
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
    // No result is recorded, and the lines do not say so.
    let mut first = reading(&lines("\n")).unwrap();
    assert_eq!(first.next().unwrap().facts.results, rulestep_base::session::Results::Absent);
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

/// All that is left of a reading: its sessions and its diagnostics, and the checkpoint at its end.
fn to_the_end(mut reading: Reading) -> (Read, Option<Checkpoint>) {
    let (mut sessions, mut diagnostics) = (Vec::new(), Vec::new());
    while let Some(session) = reading.next() {
        sessions.push(said(&session));
        diagnostics.extend(reading.diagnostics());
    }
    diagnostics.extend(reading.diagnostics());
    ((sessions, diagnostics), reading.checkpoint())
}

/// The sessions and diagnostics of a text that was read up to `grown` and then, from a checkpoint, to its end. `None`
/// if there is no checkpoint.
fn read_on(text: &str, grown: usize) -> Option<Read> {
    let (before, after) = text.split_at(grown);
    let ((mut sessions, mut diagnostics), checkpoint) = to_the_end(reading(before)?);
    let kept = serde_json::to_string(&checkpoint?).unwrap();
    let checkpoint: Checkpoint = serde_json::from_str(&kept).unwrap();
    diagnostics.truncate(checkpoint.diagnostics);
    let input = BufReader::with_capacity(700, Cursor::new(after.as_bytes().to_vec()));
    let rest = resume("many.jsonl", Box::new(input), &Options::default(), checkpoint).unwrap();
    let ((more, told), _) = to_the_end(rest);
    sessions.extend(more);
    diagnostics.extend(told);
    Some((sessions, diagnostics))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_file_that_has_grown_is_read_as_if_at_once(
        mut lines in prop::collection::vec(line(), 1..120),
        answered in any::<bool>(),
        grown in any::<prop::sample::Index>(),
        ends in any::<bool>(),
    ) {
        let grown = grown.index(lines.len());
        // Mostly something is said before it that allows to go on, and nothing that does not.
        if answered {
            let answer = r#"{"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t"}}]}, {"role": "tool", "tool_call_id": "c", "content": "x"}]}"#;
            lines[..grown].iter_mut().filter(|line| !line.ends_with("]}")).for_each(|line| *line = answer.to_owned());
            lines.insert(0, answer.to_owned());
        }
        let text = lines.join("\n");
        let before: usize = lines[..grown].iter().map(|line| line.len() + 1).sum();
        let before = before.min(text.len()).saturating_sub(usize::from(!ends));
        if let Some(read) = read_on(&text, before) {
            prop_assert_eq!(read, to_the_end(reading(&text).unwrap()).0);
        }
    }
}

#[test]
fn what_may_change_by_what_follows_is_not_gone_on_from() {
    let line = |id: usize, result: bool| {
        let result = if result { r#", {"role": "tool", "tool_call_id": "c", "content": "x"}"# } else { "" };
        format!(
            "{{\"id\": \"s{}\", \"messages\": [{{\"role\": \"assistant\", \"tool_calls\": [{{\"id\": \"c\", \
             \"function\": {{\"name\": \"t\", \"arguments\": \"{{}}\"}}}}]}}{result}]}}\n",
            id % 30
        )
    };
    let lines: String = (0..40).map(|id| line(id, id == 5)).collect();
    let end = |text: &str| to_the_end(reading(text).unwrap()).1;
    assert!(end(&lines).is_some());
    let grown = format!("{lines}{}", (0..40).map(|id| line(id, true)).collect::<String>());
    let (read, whole) = (read_on(&grown, lines.len()).unwrap(), one_by_one(&grown).unwrap());
    assert_eq!(read, whole);
    assert_eq!(whole.0.len(), 80);
    assert!(whole.1.iter().any(|told| told.message.contains("of 41 results")), "{:?}", whole.1);
    assert!(end(&line(0, true).repeat(7)).is_none(), "another line may show another format");
    assert!(end(lines.trim_end()).is_none(), "the last line may go on");
    assert!(end(&(0..40).map(|id| line(id, false)).collect::<String>()).is_none(), "a result may come");
    for other in [r#"{"role": "user", "content": "alone"}"#, "{", "[", r#"{"other": 1}"#] {
        assert!(end(&format!("{lines}{other}\n")).is_none(), "{other}");
        assert!(end(&format!("{other}\n{lines}")).is_none(), "{other}");
    }
    assert!(end(&format!("[{}]\n", lines.trim_end().replace('\n', ","))).is_none(), "one document");
}
