//! Every fixture, as what is read of it: a snapshot each, so that a reader cannot change its mind unseen.

use std::fmt::Write as _;
use std::path::Path;

use insta::assert_snapshot;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{MessageKind, Session};
use rulestep_recording::{self as recording, Options};

/// All that a policy can see of a session, a line each.
fn outline(session: &Session) -> String {
    let mut text = format!("session {} from line {}", session.id, session.origin.line);
    if let Some(parent) = &session.parent {
        write!(text, ", of {parent}").unwrap();
    }
    if session.facts.from_the_middle {
        text.push_str(", from the middle");
    }
    writeln!(text, ", results {:?}", session.facts.results).unwrap();
    if let Some(context) = &session.facts.context {
        writeln!(text, "  context {context}").unwrap();
    }
    for from in &session.offered {
        let names: Vec<_> = from.tools.iter().map(|tool| &*tool.name).collect();
        writeln!(text, "  from turn {}: {}", from.turn, names.join(", ")).unwrap();
    }
    for message in &session.messages {
        let kind = match &message.kind {
            MessageKind::Said => message.role.to_string(),
            MessageKind::Response(turn) => format!("turn {turn}"),
            MessageKind::Result(call, id) => {
                format!("result of {call:?} {}", id.as_deref().unwrap_or("-")).replace("Some", "")
            }
            MessageKind::Operation(operation) => format!("{operation:?}"),
        };
        let at = message.at.map_or(String::new(), |at| format!(" @{at}"));
        writeln!(text, "  {:>3} {kind}{at}: {}", message.line, message.content.raw()).unwrap();
    }
    for call in &session.calls {
        let id = call.id.as_deref().unwrap_or("-");
        let late = if call.result.is_some() && !call.in_turn { " late" } else { "" };
        let how = call.refusal.map_or(String::new(), |how| format!(" ({how})"));
        let at = call.time.map_or(String::new(), |at| format!(" @{at}"));
        let (place, outcome) = (format!("{}.{}", call.at.turn, call.at.call), call.outcome.word());
        writeln!(text, "  {place} {} {id}{at} {}: {outcome}{late}{how}", call.tool, call.arguments.raw())
            .unwrap();
    }
    text
}

#[test]
fn fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let input = std::io::Cursor::new(std::fs::read(&path).unwrap());
        let mut reading = recording::open(name, Box::new(input), &Options::default()).unwrap();
        let mut text = format!("format {}\n", reading.format());
        let mut told = Vec::new();
        for session in reading.by_ref() {
            text.push_str(&outline(&session));
            told.extend(session.diagnostics);
        }
        told.extend(reading.diagnostics());
        told.iter().map(Diagnostic::to_string).for_each(|line| writeln!(text, "{line}").unwrap());
        assert_snapshot!(name.replace('.', "_"), text);
    }
}
