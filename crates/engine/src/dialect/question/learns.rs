//! What a rule learns from a call by a question about what it does: everything that its answers depend on, and no word
//! of the call.

use std::fmt::Write;
use std::sync::Arc;

use crate::monitor::{AskedCall, Learns};
use rulestep_shell::matcher::{Matcher, Surroundings};
use rulestep_shell::question::Copies;
use rulestep_shell::reading::{Made, reading};
use rulestep_shell::{Answer, Host, Place, Question, SmallCall};

/// What this question learns of a call: for each of its commands the answer, the program, its connection with the other
/// commands, and the files and hosts if the question is about these.
pub fn learns(question: Arc<Question>) -> Learns {
    Learns::new(move |call: &AskedCall<'_>| {
        let AskedCall { tool, arguments, folder, facts } = *call;
        let line = reading(Made { tool, arguments, folder, facts }, question.facts());
        let answers = line.answers(&question, Surroundings::default(), &Copies::default()).0;
        let mut out = String::new();
        for (call, answer) in line.calls.iter().zip(answers.iter()) {
            out.push(letter(answer));
            command(call, &question, &mut out);
        }
        out
    })
}

fn letter(answer: &Answer) -> char {
    match answer {
        Answer::Yes => 'y',
        Answer::No => 'n',
        Answer::Sweep(_) => 's',
        Answer::Perhaps(_) => 'p',
    }
}

/// Unknown words are learned without their text.
fn command(call: &SmallCall, question: &Question, out: &mut String) {
    let SmallCall { program, after, pipeline, proof, looped, .. } = call;
    let known = [call.unclear.is_none(), call.doubt.is_none()];
    let ends = [call.opaque, call.elsewhere, call.proven, call.background, call.folds];
    // Writing to a text cannot fail.
    let _ = write!(out, "{:?} {known:?} {ends:?} {after:?} {pipeline} {proof} {looped}", program.known());
    if question.asks_files() {
        for touch in &call.touches {
            let _ = write!(out, " {:?} {:?}", touch.act, touch.extent);
            place(&touch.place, out);
        }
    }
    let about_hosts = |asked: &Matcher| matches!(asked, Matcher::Reaches(_));
    if question.groups().iter().flat_map(|group| &group.any).any(about_hosts) {
        for host in &call.reaches {
            let _ = match host {
                Host::Named(word) => write!(out, " at {:?}", word.known()),
                Host::Elsewhere(_) => write!(out, " elsewhere"),
                Host::Unknown(_) => write!(out, " anywhere"),
            };
        }
    }
    out.push('\n');
}

fn place(place: &Place, out: &mut String) {
    let _ = write!(out, " {:?} {}", place.names().collect::<Vec<_>>(), place.unclear().is_some());
}
