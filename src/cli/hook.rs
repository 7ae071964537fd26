//! `rulestep hook`: one event of an agent on standard input, one answer on standard output.
//!
//! Agents take most exit codes for "go on", so whatever happens here ends with 0 or with 2, which blocks.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::args::{self, Fallback, OnAsk};
use super::exit::Exit;
use crate::live::agent::{Answer, Event, Reply};
use crate::live::hook_service::HookService;
use crate::live::self_guard::{self, SelfGuard};
use crate::live::{self, Agent, Fault};
use rulestep_base::session::refusal;
use rulestep_engine::run::Mode;

/// Whether one of the two threads writes its answer, which ends the process.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Whether the event is known to be none that is decided.
static OBSERVES: AtomicBool = AtomicBool::new(false);

/// Whether the agent asks its user where the event is answered so.
static ASKS: AtomicBool = AtomicBool::new(false);

/// Runs the verb. Agents let a call run when its hook takes too long, so an answer is given before they do.
pub fn run(asked: &args::Hook) -> Exit {
    let began = Instant::now();
    let answered = match watch(asked.clone()) {
        Ok(()) => catch_unwind(AssertUnwindSafe(|| answer(asked, began))),
        Err(fault) => Ok(Err(fault)),
    };
    only_one();
    finish(asked, answered)
}

/// Answers for the thread that decides when it takes longer than it may.
fn watch(asked: args::Hook) -> Result<(), Fault> {
    let watching = move || {
        thread::sleep(Duration::from_millis(asked.limit));
        only_one();
        let fault = Fault::new(
            format!("there was no answer within {} ms", asked.limit),
            "look at what the event and the policy ask for, or allow more with `--limit`",
        );
        let answered = match OBSERVES.load(Ordering::Acquire) {
            true => {
                let _ = writeln!(io::stderr(), "rulestep: {fault}");
                Ok(Answer::Silent)
            }
            false => Err(fault),
        };
        let code = if finish(&asked, Ok(answered)) == Exit::Clean { 0 } else { 2 };
        std::process::exit(code);
    };
    let started = thread::Builder::new().name("limit".to_owned()).spawn(watching);
    started.map(drop).map_err(|error| {
        Fault::new(format!("nothing can watch the time: {error}"), "let the system start one more thread")
    })
}

/// Lets one thread continue and parks all others.
fn only_one() {
    if ANSWERED.swap(true, Ordering::AcqRel) {
        loop {
            thread::park();
        }
    }
}

fn finish(asked: &args::Hook, answered: thread::Result<Result<Answer, Fault>>) -> Exit {
    let defect =
        |_| Fault::new("Rulestep has a defect and stopped", "report it, with the event and the policy");
    let answer = match answered.map_err(defect).flatten() {
        Ok(answer) => answer,
        // Nothing is stopped, but a trial in which nothing was decided must not look like one in which nothing was found.
        Err(fault) if asked.shadow => {
            let _ = writeln!(io::stderr(), "rulestep: {fault}");
            Answer::Silent
        }
        Err(fault) => fallback(asked, &fault),
    };
    let answer = match answer {
        // In shadow mode nothing is ever stopped.
        _ if asked.shadow => Answer::Silent,
        Answer::Ask(reason) if asked.on_ask == OnAsk::Deny || !ASKS.load(Ordering::Acquire) => {
            Answer::Deny(reason)
        }
        other => other,
    };
    let Some(agent) = Agent::named(&asked.agent) else { return Exit::Bad };
    write(&agent.reply(&answer))
}

/// Writes the answer. One that cannot be written must not be taken for "go on".
fn write(reply: &Reply) -> Exit {
    // Whoever does not read the reason still sees the exit code.
    let _ = io::stderr().write_all(reply.error.as_bytes());
    let mut stdout = io::stdout();
    let written = stdout.write_all(reply.output.as_bytes()).and_then(|()| stdout.flush());
    if reply.blocks || written.is_err() { Exit::Bad } else { Exit::Clean }
}

fn answer(asked: &args::Hook, began: Instant) -> Result<Answer, Fault> {
    let agent = Agent::named(&asked.agent);
    let agent = agent.ok_or_else(|| Fault::new("the agent is not known", "name one that `--help` lists"))?;
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input).map_err(|error| {
        Fault::new(format!("the hook event cannot be read: {error}"), "send it on standard input")
    })?;
    let asks = agent.asks_about(&input);
    ASKS.store(asks, Ordering::Release);
    let report = agent.read(&input)?;
    OBSERVES.store(!matches!(report.event, Event::Propose { .. }), Ordering::Release);
    let service = HookService {
        agent: agent.name(),
        transcripts: agent.transcripts(),
        folder: folder()?,
        policy: asked.policy.clone(),
        guard: guard(asked.no_self_guard)?
            .map(|guard| SelfGuard { anywhere: agent.logs_commands(), ..guard }),
        home: home(),
        asks: asked.on_ask == OnAsk::Ask && asks,
        mode: if asked.shadow { Mode::Shadow } else { Mode::Enforce },
        wait: Duration::from_millis(asked.wait),
    };
    match service.answer_and_end(&report, began) {
        // What is not recorded of other events makes later calls wait or be denied; there is nothing to deny here.
        Err(fault) if !matches!(report.event, Event::Propose { .. }) => {
            let _ = writeln!(io::stderr(), "rulestep: {fault}");
            Ok(Answer::Silent)
        }
        // Nothing is stopped in shadow mode, and nothing was decided.
        Err(fault) if !asked.shadow => {
            let runs = match (asked.on_error, service.asks) {
                (Fallback::Allow, _) => Some(true),
                (Fallback::Ask, true) => None,
                _ => Some(false),
            };
            // Where the journal is what cannot be written, the answer says so.
            let _ = service.record_undecided(&report, &undecided(&fault), runs);
            Err(fault)
        }
        answer => answer,
    }
}

/// The refusal of a call that could not be decided.
fn undecided(fault: &Fault) -> String {
    format!("{}{fault}", refusal::UNDECIDED)
}

/// What is answered when nothing could be decided, with what failed.
fn fallback(asked: &args::Hook, fault: &Fault) -> Answer {
    let reason = undecided(fault);
    match asked.on_error {
        Fallback::Deny => Answer::Deny(reason),
        Fallback::Ask => Answer::Ask(reason),
        Fallback::Allow => {
            let _ = writeln!(io::stderr(), "rulestep: {fault}");
            Answer::Silent
        }
    }
}

/// The paths that the self-guard protects; `None` with `--no-self-guard`.
pub fn guard(off: bool) -> Result<Option<SelfGuard>, Fault> {
    let here = || Ok(SelfGuard::here(folder()?, &|name| std::env::var(name).ok()));
    (!off).then(here).transpose()
}

/// The home folder, if it is an absolute path: without `//` and `/./`, which no path of a call has.
pub fn home() -> Option<String> {
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'))?;
    Some(self_guard::clean(Path::new(&home)).display().to_string())
}

/// The folder of all journals.
pub fn folder() -> Result<PathBuf, Fault> {
    let get = |name| std::env::var(name).ok();
    live::folder(get("XDG_STATE_HOME").as_deref(), get("HOME").as_deref())
}
