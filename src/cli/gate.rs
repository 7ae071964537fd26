//! `rulestep gate --stdio`: lines of JSON in, a line of JSON for each.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::args::{Fallback, GatePolicy, Guarding, OnError};
use super::hook;
use super::verb::{Exit, Exits, Failure, Screen, Verb};
use crate::live::Fault;
use crate::live::host::Host;
use rulestep_base::session::refusal;
use rulestep_engine::run::Mode;

/// The help of `--on-error`: here, the host program asks.
const ON_ERROR: &str = "What to answer if an error prevents a decision, such as a policy that has never loaded (of one that loaded once, the last good version decides). With `ask`, your program must ask its user. A call that no rule covers is no error: it is allowed";

/// Decide the tool calls of a program of your own, which sends and receives lines of JSON (docs/gate.md)
#[derive(Debug, Args)]
#[command(mut_arg("on_error", |on_error| on_error.help(ON_ERROR)))]
pub struct Gate {
    /// Talk over standard input and output. Must be given: other ways to connect may be added later
    #[arg(long, required = true)]
    pub stdio: bool,
    #[command(flatten)]
    pub gate: GatePolicy,
    /// Shadow mode: decide and record, but stop nothing, whatever --on-error says
    #[arg(long)]
    pub shadow: bool,
    #[command(flatten)]
    pub fallback: OnError,
    #[command(flatten)]
    pub guarding: Guarding,
}

impl Verb for Gate {
    const NAME: &'static str = "gate";
    const EXITS: Exits = &[
        (
            0,
            "standard input ended; a request that could not be decided was answered as `--on-error` says, with the reason in `error`",
        ),
        (2, "wrong arguments, or standard input or output failed"),
    ];

    fn run(&self, _: &mut Screen) -> Result<Exit, Failure> {
        let mode = if self.shadow { Mode::Shadow } else { Mode::Enforce };
        let wait = Duration::from_millis(self.guarding.wait);
        let mut host = hook::folder().and_then(|folder| {
            let mut host = Host::new(folder, self.gate.policy.clone(), mode, wait);
            host.guard = hook::guard(self.guarding.no_self_guard)?;
            Ok(host)
        });
        let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => return Ok(Exit::Clean),
                Ok(_) if line.iter().all(u8::is_ascii_whitespace) => continue,
                Ok(_) => {}
                Err(_) => return Ok(Exit::Bad),
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
            let answer = answered.unwrap_or_else(|fault| failed(&fault, &text, self));
            // Nobody listens any more; a host that gets no answer must not go on. One write, so that nothing of it is left to be
            // written at the end, where a closed output would count as success.
            let answer = format!("{answer}\n");
            if output.write_all(answer.as_bytes()).and_then(|()| output.flush()).is_err() {
                return Ok(Exit::Bad);
            }
        }
    }
}

/// The answer to what could not be done: where a decision was asked for, it is one.
fn failed(fault: &Fault, line: &str, asked: &Gate) -> Value {
    let error = fault.to_string();
    // A host that asks for many sessions at once has to know which of its requests this answers.
    let mut answer = Host::about(line);
    answer.insert("error".to_owned(), json!(error));
    if !Host::proposes(line) {
        return Value::Object(answer);
    }
    let (decision, runs) = match asked.fallback.on_error {
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
