//! Tries calls on the installed command lines, as the agent makes them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::Agent;
use crate::live::probe::TrialCall;
use crate::live::settings::{Hook, best};
use rulestep_engine::policy::Policy;

/// The agent's folder, and the system around it.
#[derive(Debug)]
pub struct Surroundings {
    /// The folder that the agent works in.
    pub here: PathBuf,
    /// The home folder.
    pub home: Option<String>,
    /// The folder of all journals.
    pub journals: PathBuf,
    /// A folder for the journals of this check, so that the user's own get no record of it.
    pub state: PathBuf,
}

impl Surroundings {
    /// Whether a path is in the agent's folder.
    pub fn has(&self, path: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        real(path).starts_with(real(&self.here))
    }
}

/// A hook that takes longer has failed: agents wait no longer than a minute.
const WAIT: Duration = Duration::from_secs(30);

/// The answer of a hook to an event.
#[derive(Default)]
struct Answered {
    /// Whether the agent must not continue.
    stops: bool,
    /// Standard error.
    error: String,
}

/// How calls are tried on hooks.
pub struct Trial<'a> {
    /// The agent.
    pub agent: Agent,
    /// The hooks in its settings.
    pub hooks: &'a [Hook],
    /// The policy that must decide.
    pub policy: &'a Policy,
    /// The surroundings.
    pub around: &'a Surroundings,
    /// The agent's log of the session, if it began before the hook was called.
    pub log: Option<&'a Path>,
}

/// The outcome of the last call.
pub struct Outcome {
    /// The agent is answered that it does not run.
    pub stopped: bool,
    /// The decision that the journal has.
    pub decision: String,
    /// Calls in the journal before it: those of the agent's log, and those that were tried.
    pub before: usize,
}

impl Trial<'_> {
    /// Puts calls of a new session to the hooks, one after the other, all but the last with a result.
    ///
    /// # Errors
    /// Something else than the policy decided, or nothing did.
    pub fn run(&self, session: &str, calls: &[TrialCall]) -> Result<Outcome, String> {
        let agent = self.agent;
        let [(decides, _), (reports, _), ..] = agent.events()[..] else { return Err("no events".to_owned()) };
        let mut last = Answered::default();
        for (index, call) in calls.iter().enumerate() {
            let event = |name: &str| {
                json!({
                    agent.session_key(): session, "hook_event_name": name, "cwd": self.around.here, "tool_name": call.tool,
                    "tool_input": call.arguments, "tool_use_id": format!("call-{}", index + 1),
                    "transcript_path": self.log,
                })
            };
            last = self.answered(decides, &event(decides))?;
            if index + 1 < calls.len() {
                let mut result = event(reports);
                if let Some(result) = result.as_object_mut() {
                    result.insert("tool_response".to_owned(), json!({"output": "ok", "exit_code": 0}));
                }
                self.answered(reports, &result)?;
            }
        }
        let recorded = self.recorded(session).map_err(|why| match last.error.lines().next() {
            Some(error) => format!("{why}: {error}"),
            None => why,
        });
        let (decision, before) = recorded?;
        Ok(Outcome { stopped: last.stops, decision, before })
    }

    /// The answer of the hook to an event.
    fn answered(&self, event: &str, input: &Value) -> Result<Answered, String> {
        let hook = best(self.hooks, event).ok_or_else(|| format!("there is no hook for `{event}`"))?;
        let mut command = Command::new("sh");
        command.args(["-c", &hook.command]).current_dir(&self.around.here);
        command.env("XDG_STATE_HOME", &self.around.state);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("`sh` does not run: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that is missing does not read.
            let _ = stdin.write_all(input.to_string().as_bytes());
        }
        let code = ended(&mut child)?;
        let mut said = String::new();
        let mut error = String::new();
        let _ = child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut said));
        let _ = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut error));
        let answer: Value = match said.trim() {
            "" => json!({}),
            text => serde_json::from_str(text).map_err(|_| format!("it prints what is not JSON: {text}"))?,
        };
        match code {
            Some(2) => Ok(Answered { stops: true, error }),
            Some(0) => {
                let asked = answer.pointer("/hookSpecificOutput/permissionDecision");
                let asked =
                    asked.or(answer.get("decision")).or(answer.get("permission")).and_then(Value::as_str);
                let asks = asked == Some("ask") && self.agent.asks_about(input.to_string().as_bytes());
                let halts = answer.get("continue") == Some(&json!(false));
                Ok(Answered { stops: matches!(asked, Some("deny" | "block")) || asks || halts, error })
            }
            code => {
                let code = code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
                Err(format!("it ends with {code}: {}", error.lines().next().unwrap_or_default()))
            }
        }
    }

    /// The last call in the journal, and the number of calls before it.
    fn recorded(&self, session: &str) -> Result<(String, usize), String> {
        let folder = self.around.state.join("rulestep/live").join(self.agent.name());
        let path = folder.join(format!("{session}.jsonl"));
        let text = fs::read_to_string(path).map_err(|_| "it decided nothing, and denied".to_owned())?;
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let calls: Vec<Value> =
            records.filter(|record| record.get("record") == Some(&json!("proposed"))).collect();
        let (last, before) = calls.split_last().ok_or_else(|| "it decided nothing, and denied".to_owned())?;
        let text = |key: &str| last.get(key).and_then(Value::as_str);
        if text("policy") != Some(&**self.policy.digest()) {
            return Err("another version of the policy decided".to_owned());
        }
        let decision = text("decision").ok_or_else(|| "the journal has no decision".to_owned())?;
        Ok((decision.to_owned(), before.len()))
    }
}

/// The exit code, once it has one.
fn ended(child: &mut Child) -> Result<Option<i32>, String> {
    let begun = Instant::now();
    while begun.elapsed() < WAIT {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(error) => return Err(error.to_string()),
        }
    }
    let _ = child.kill();
    Err(format!("it has not ended after {WAIT:?}"))
}
