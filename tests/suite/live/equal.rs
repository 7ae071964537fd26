//! What is decided live is what a replay decides: of the whole recording, and of the journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rulestep::live::Agent;
use rulestep::live::agent::{Answer, Event, Report};
use rulestep::live::hook_service::HookService;
use rulestep_base::session::{Call, Message, MessageKind, Outcome, Session};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::{Policy, Verdict};

use crate::sessions::recorded::traces;

/// Rules of several languages that stop calls of these recordings, one way or the other.
const STRICT: &str = "\
tool: Edit
preconditions: [{requires_prior_tool: Read, resource: {bind_from: arguments, path: $.file_path}, match: any}]
---
tool: Write
preconditions: [{requires_prior_tool: Bash}]
---
tool: Grep
forbids_after: [Bash]
---
tool: apply_patch
preconditions: [{requires_prior_tool: shell}]
---
rules:
  - {type: max_calls, tool: Bash, max: 4}
  - {type: max_calls, tool: shell, max: 3}
  - {type: max_calls, tool: Read, max: 6}
---
rules:
  - {type: before, first: TodoWrite, then: Task}
  - {type: blocklist, pattern: \"Web*\"}
";

/// The same without limits, so that sessions go on, and one that ends them.
const HALTS: &str = "\
tool: Edit
preconditions: [{requires_prior_tool: Read}]
---
tool: update_plan
forbids_after: [shell]
---
forbidden: [{sequence: [Read, Bash], action: halt, reason: read and run}]
";

struct Recorded {
    agent: Agent,
    path: PathBuf,
    lines: Vec<String>,
    session: Arc<Session>,
}

fn recorded() -> Vec<Recorded> {
    let named = |name| Agent::named(name).unwrap();
    let mut files: Vec<(Agent, PathBuf)> = vec![
        (named("claude-code"), "sample-traces/workspace-821-claude-code.jsonl".into()),
        (named("codex"), "sample-traces/workspace-824-codex.jsonl".into()),
    ];
    for (agent, name) in [
        (named("claude-code"), "claude-code"),
        (named("claude-code"), "claude-code-edge"),
        (named("codex"), "codex-rollout"),
    ] {
        let Some(folder) = traces(name) else { continue };
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.extend(
            entries
                .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
                .map(|path| (agent, path)),
        );
    }
    let mut all = Vec::new();
    for (agent, path) in files {
        let text = fs::read_to_string(&path).unwrap();
        let Ok(sessions) = rulestep_recording::read(path.to_str().unwrap(), text.clone()) else { continue };
        let own =
            sessions.into_iter().filter(|session| session.parent.is_none() && !session.calls.is_empty());
        for session in own.take(1) {
            let lines = text.split_inclusive('\n').map(str::to_owned).collect();
            all.push(Recorded { agent, path: path.clone(), lines, session: Arc::new(session) });
        }
    }
    all
}

/// A live session that goes as a recording went.
struct Rerun<'a> {
    recorded: &'a Recorded,
    service: HookService,
    log: PathBuf,
    decided: Vec<&'static str>,
}

impl Rerun<'_> {
    fn report(&self, event: Event) -> Report {
        Report {
            session: self.recorded.session.id.to_string(),
            subagent: None,
            transcript: Some(self.log.to_str().unwrap().to_owned()),
            folder: None,
            cwd: None,
            event,
        }
    }

    fn answer(&self, event: Event) -> Answer {
        self.service.answer(&self.report(event), Instant::now()).unwrap()
    }

    /// Cuts the log before a message.
    fn cut(&self, before: &Message) {
        let lines = &self.recorded.lines[..before.line as usize - 1];
        fs::write(&self.log, lines.concat()).unwrap();
    }

    fn propose(&mut self, call: &Call) {
        let (id, tool) = (call.id.as_deref().map(str::to_owned), call.tool.to_string());
        let answer = self.answer(Event::Propose { id, tool, arguments: call.arguments.clone() });
        let word = match answer {
            Answer::Silent => "allow",
            Answer::Deny(_) => "deny",
            Answer::Halt(_) => "halt",
            Answer::Ask(_) => "ask",
        };
        self.decided.push(word);
    }

    fn resolve(&self, call: &Call) {
        let ran = self.service.mode == Mode::Shadow || self.decided[call.at.index as usize] == "allow";
        let outcome = match call.outcome {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            _ => return,
        };
        if ran {
            let (id, tool) = (call.id.as_deref().map(str::to_owned), call.tool.to_string());
            self.answer(Event::Resolve { id, tool, arguments: None, outcome, output: call.output.clone() });
        }
    }

    fn run(&mut self) {
        let session = Arc::clone(&self.recorded.session);
        let mut turn = 0;
        for message in &session.messages {
            match &message.kind {
                MessageKind::Response(number) if *number != turn => {
                    turn = *number;
                    self.cut(message);
                    for call in session.calls_of(session.turn(turn).unwrap()) {
                        self.propose(call);
                        if call.in_turn {
                            self.resolve(call);
                        }
                    }
                }
                MessageKind::Result(Some(index), _) if !session.calls[*index as usize].in_turn => {
                    self.resolve(&session.calls[*index as usize]);
                }
                _ => {}
            }
        }
    }
}

fn verdicts(replay: &Replay) -> Vec<&'static str> {
    replay.calls().iter().map(|judged| judged.decision.verdict).map(word).collect()
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Deny => "deny",
        // A call after the end is answered like the one that ended it.
        Verdict::Halt | Verdict::NotReached => "halt",
        _ => panic!("{verdict:?}"),
    }
}

fn journal(folder: &Path, agent: Agent) -> PathBuf {
    let journals = fs::read_dir(folder.join(agent.name())).unwrap().map(|entry| entry.unwrap().path());
    let mut journals = journals.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    journals.next().unwrap()
}

#[test]
fn live_equals_replay() {
    let mut stopped = 0;
    for (name, text) in [("strict.yaml", STRICT), ("halts.yaml", HALTS)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let policy = Policy::from_dir(&file).unwrap();
        // In shadow mode nothing is stopped, so one policy shows as much as two.
        let modes = |one| {
            if name == "strict.yaml" {
                vec![(one, Mode::Enforce), (one, Mode::Shadow)]
            } else {
                vec![(one, Mode::Enforce)]
            }
        };
        for (recorded, mode) in recorded().iter().flat_map(modes) {
            // A long one takes a minute without optimisation, so it is gone through once.
            if recorded.session.calls.len() > 60 && (name, mode) != ("strict.yaml", Mode::Enforce) {
                continue;
            }
            let state = tempfile::tempdir().unwrap();
            let service = HookService {
                asks: true,
                agent: recorded.agent.name(),
                transcripts: recorded.agent.transcripts(),
                folder: state.path().to_owned(),
                policy: file.to_str().unwrap().to_owned(),
                guard: None,
                home: None,
                mode,
                wait: Duration::from_secs(5),
            };
            let log = state.path().join("log.jsonl");
            let mut rerun = Rerun { recorded, service, log, decided: Vec::new() };
            rerun.run();
            let whole = Replay::new(&recorded.session, &policy, mode);
            let what = format!("{} {name} {mode:?}", recorded.path.display());
            let journal = journal(state.path(), recorded.agent);
            let read =
                rulestep_recording::read(journal.to_str().unwrap(), fs::read(&journal).unwrap()).unwrap();
            let [read] = &read[..] else { panic!("{what}") };
            let journaled: Vec<String> = super::records(&journal)
                .iter()
                .filter(|record| record["record"] == "proposed")
                .map(|record| record["decision"].as_str().unwrap_or("none").replace("not_reached", "halt"))
                .collect();
            let again = Replay::new(&Arc::new(read.clone()), &policy, mode);
            let expected = verdicts(&whole);
            if mode == Mode::Enforce {
                assert_eq!(rerun.decided, expected, "{what}");
            }
            assert_eq!(journaled, expected, "{what}");
            assert_eq!(verdicts(&again), expected, "{what}: the journal replayed");
            let turns = |session: &Session| session.calls.iter().map(|call| call.at).collect::<Vec<_>>();
            assert_eq!(turns(read), turns(&recorded.session), "{what}: the turns of the journal");
            stopped += expected.iter().filter(|word| **word != "allow").count();
        }
    }
    assert!(stopped > 3, "{stopped} calls were stopped, so little was shown");
}
