//! `rulestep gate --stdio`: lines of JSON in, a line of JSON for each.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::{Value, json};

use super::args::{self, Fallback};
use super::exit::Exit;
use super::hook;
use crate::live::Fault;
use crate::live::host::Host;
use rulestep_base::session::refusal;
use rulestep_engine::run::Mode;

/// Runs the verb.
pub fn run(asked: &args::Gate) -> Exit {
    let mode = if asked.shadow { Mode::Shadow } else { Mode::Enforce };
    let wait = Duration::from_millis(asked.wait);
    let mut host = hook::folder().and_then(|folder| {
        let mut host = Host::new(folder, asked.policy.clone(), mode, wait);
        host.guard = hook::guard(asked.no_self_guard)?;
        Ok(host)
    });
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => return Exit::Clean,
            Ok(_) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(_) => {}
            Err(_) => return Exit::Bad,
        }
        let text = String::from_utf8_lossy(&line);
        let answered = match &mut host {
            Ok(host) => catch_unwind(AssertUnwindSafe(|| host.answer(&text))).unwrap_or_else(|_| {
                Err(Fault::new(
                    "Rulestep has a defect and stopped",
                    "report it, with the request and the policy",
                ))
            }),
            Err(fault) => Err(fault.clone()),
        };
        let answer = answered.unwrap_or_else(|fault| failed(&fault, &text, asked));
        // Nobody listens any more; a host that gets no answer must not go on. One write, so that nothing of it is left to be
        // written at the end, where a closed output would count as success.
        let answer = format!("{answer}\n");
        if output.write_all(answer.as_bytes()).and_then(|()| output.flush()).is_err() {
            return Exit::Bad;
        }
    }
}

/// The answer to what could not be done: where a decision was asked for, it is one.
fn failed(fault: &Fault, line: &str, asked: &args::Gate) -> Value {
    let error = fault.to_string();
    // A host that asks for many sessions at once has to know which of its requests this answers.
    let mut answer = Host::about(line);
    answer.insert("error".to_owned(), json!(error));
    if !Host::proposes(line) {
        return Value::Object(answer);
    }
    let (decision, runs) = match asked.on_error {
        _ if asked.shadow => ("deny", true),
        Fallback::Deny => ("deny", false),
        Fallback::Ask => ("ask", false),
        Fallback::Allow => ("allow", true),
    };
    let reason = format!("{}{error}", refusal::UNDECIDED);
    let decided = [("decision", json!(decision)), ("runs", json!(runs)), ("reason", json!(reason))];
    answer.extend(decided.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(answer)
}
