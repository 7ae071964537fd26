//! `rulestep hook`: one event of an agent on standard input, one answer on standard output.
//!
//! Agents take most exit codes for "go on", so whatever happens here ends with 0 or with 2, which blocks.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use super::args::{Fallback, GatePolicy, Guarding, OnAsk, OnError, agents};
use super::verb::{Exit, Exits, Failure, Screen, Verb};
use crate::live::agent::{Answer, Event, Reply};
use crate::live::hook_service::HookService;
use crate::live::self_guard::{self, SelfGuard};
use crate::live::{self, Agent, Fault, LIMIT};
use rulestep_base::session::refusal;
use rulestep_engine::run::Mode;

/// Whether one of the two threads writes its answer, which ends the process.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Whether the event is known to be none that is decided.
static OBSERVES: AtomicBool = AtomicBool::new(false);

/// Whether the agent asks its user where the event is answered so.
static ASKS: AtomicBool = AtomicBool::new(false);

/// Answer one hook event of a running agent, such as a tool call to allow or deny (`install` sets it up; docs/gate.md)
#[derive(Debug, Clone, Args)]
pub struct Hook {
    /// The agent whose hook this is
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agent: String,
    #[command(flatten)]
    pub gate: GatePolicy,
    /// Shadow mode: decide and record, but stop nothing, whatever --on-error says. Errors are printed on standard error
    #[arg(long)]
    pub shadow: bool,
    #[command(flatten)]
    pub fallback: OnError,
    /// What to answer when a rule wants a person to be asked. Use `deny` where there is nobody to ask; it also turns `--on-error ask`
    /// into a denial
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_ask: OnAsk,
    #[command(flatten)]
    pub guarding: Guarding,
    /// Time limit for the whole answer, in milliseconds; then the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = LIMIT)]
    pub limit: u64,
}

impl Verb for Hook {
    const NAME: &'static str = "hook";
    const EXITS: Exits = &[
        (
            0,
            "the call runs (the answer is empty or `{}`), or the answer on standard output says what happens",
        ),
        (0, "with `--on-error allow`: an error prevented the decision, and the call runs"),
        (2, "the policy or an error stops the call; agents treat other codes as permission"),
        (2, "wrong arguments, even with `--on-error allow`"),
    ];

    /// Agents let a call run when its hook takes too long, so an answer is given before they do.
    fn run(&self, _: &mut Screen) -> Result<Exit, Failure> {
        let began = Instant::now();
        let answered = match watch(self.clone()) {
            Ok(()) => catch_unwind(AssertUnwindSafe(|| answer(self, began))),
            Err(fault) => Ok(Err(fault)),
        };
        only_one();
        Ok(finish(self, answered))
    }
}

/// Answers for the thread that decides when it takes longer than it may.
fn watch(asked: Hook) -> Result<(), Fault> {
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

fn finish(asked: &Hook, answered: thread::Result<Result<Answer, Fault>>) -> Exit {
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

fn answer(asked: &Hook, began: Instant) -> Result<Answer, Fault> {
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
        policy: asked.gate.policy.clone(),
        guard: guard(asked.guarding.no_self_guard)?
            .map(|guard| SelfGuard { anywhere: agent.logs_commands(), ..guard }),
        home: home(),
        asks: asked.on_ask == OnAsk::Ask && asks,
        mode: if asked.shadow { Mode::Shadow } else { Mode::Enforce },
        wait: Duration::from_millis(asked.guarding.wait),
    };
    match service.answer_and_end(&report, began) {
        // What is not recorded of other events makes later calls wait or be denied; there is nothing to deny here.
        Err(fault) if !matches!(report.event, Event::Propose { .. }) => {
            let _ = writeln!(io::stderr(), "rulestep: {fault}");
            Ok(Answer::Silent)
        }
        // Nothing is stopped in shadow mode, and nothing was decided.
        Err(fault) if !asked.shadow => {
            let runs = match (asked.fallback.on_error, service.asks) {
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
fn fallback(asked: &Hook, fault: &Fault) -> Answer {
    let reason = undecided(fault);
    match asked.fallback.on_error {
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
