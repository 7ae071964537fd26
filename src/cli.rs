//! The command line: what was asked, put to the library, and an exit code.
//!
//! Results go to standard output, diagnostics and progress to standard error. A verb is one file here, a variant of
//! `args::Verb` and an arm of `run`.

mod args;
mod check;
mod convert;
mod count;
mod coverage;
mod diff;
mod doctor;
mod exit;
mod exit_codes;
mod explain;
mod export;
mod gate;
mod hanging;
mod hook;
mod input;
mod install;
mod lines;
mod live;
mod lsp;
mod manual;
mod merge;
mod migrate;
mod mutate;
mod new;
mod new_file;
mod open;
mod proxy;
mod prune;
mod redacted;
mod repeated;
mod replay;
mod report;
mod reports;
mod screen;
mod selection;
mod stats;
mod suggest;
mod test;
mod witness;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use args::{Cli, Verb};
use exit::{Exit, Failure};
use screen::Screen;

pub use exit_codes::markdown as exit_codes_markdown;

/// Where and why the program failed by itself; kept by the panic hook.
static FAULT: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program: arguments in, exit code out.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // A rule that fails is caught by the engine and is a denial, so the hook keeps quiet; only what nobody catches is reported.
    set_hook(Box::new(|panic| {
        if let Ok(mut fault) = FAULT.lock() {
            *fault = Some(panic.to_string());
        }
    }));
    let cli = match command().try_get_matches_from(arguments).and_then(read) {
        Ok(cli) => cli,
        Err(mut told) => {
            args::look_elsewhere(&mut told);
            // Help and version are answers, everything else is bad usage. A closed pipe is nobody's fault.
            let _ = told.print();
            return if told.use_stderr() { Exit::Bad.into() } else { Exit::Clean.into() };
        }
    };
    let mut screen = Screen::new(cli.show);
    guarded(&mut screen, |screen| run(cli, screen)).into()
}

/// The command line as it is documented and parsed.
fn command() -> Command {
    exit_codes::explained(args::defaults_explained(Cli::command()))
}

fn read(matches: ArgMatches) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))
}

/// Does the work, reports why it failed, and survives its panics.
fn guarded(screen: &mut Screen, work: impl FnOnce(&mut Screen) -> Result<Exit, Failure>) -> Exit {
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let exit = work(screen)?;
        screen.finish()?;
        Ok::<Exit, Failure>(exit)
    }));
    match ended {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => failure.tell(screen),
        Err(_) => {
            let fault = FAULT.lock().ok().and_then(|mut fault| fault.take()).unwrap_or_default();
            let told =
                format!("this is a defect in rulestep, please report it: {}", fault.replace('\n', " "));
            screen.error(&told, Some("nothing was judged after that"));
            Exit::Fault
        }
    }
}

fn run(mut cli: Cli, screen: &mut Screen) -> Result<Exit, Failure> {
    if let Some(recordings) = cli.recordings() {
        input::add_listed(recordings)?;
    }
    match cli.verb {
        None => open::run(cli.open, screen),
        Some(Verb::Replay(replay)) => replay::run(&replay, screen),
        Some(Verb::Diff(diff)) => diff::run(&diff, screen),
        Some(Verb::Coverage(coverage)) => coverage::run(&coverage, screen),
        Some(Verb::Report(report)) => report::run(&report, screen),
        Some(Verb::Stats(stats)) => stats::run(&stats, screen),
        Some(Verb::Suggest(suggest)) => suggest::run(&suggest, screen),
        Some(Verb::New(new)) => new::new(&new, screen),
        Some(Verb::Init(init)) => new::init(&init, screen),
        Some(Verb::Check(check)) => check::run(&check, screen),
        Some(Verb::Test(test)) => test::run(&test, screen),
        Some(Verb::Explain(explain)) => explain::run(&explain, screen),
        Some(Verb::Hook(hook)) => Ok(hook::run(&hook)),
        Some(Verb::Gate(gate)) => Ok(gate::run(&gate)),
        Some(Verb::Proxy(proxy)) => proxy::run(&proxy, screen),
        Some(Verb::Install(asked)) => install::install(&asked, screen),
        Some(Verb::Live(asked)) => live::run(asked, screen),
        Some(Verb::Prune(asked)) => prune::run(&asked, screen),
        Some(Verb::Doctor(asked)) => doctor::run(&asked, screen),
        Some(Verb::Uninstall(asked)) => install::uninstall(&asked, screen),
        Some(Verb::Schema { dialect }) => manual::schema(&dialect, screen),
        Some(Verb::Lsp(lsp)) => lsp::run(&lsp),
        Some(Verb::Convert(convert)) => convert::run(&convert, screen),
        Some(Verb::Export(export)) => export::run(&export, screen),
        Some(Verb::Merge(merge)) => merge::run(&merge, screen),
        Some(Verb::Migrate(migrate)) => migrate::run(&migrate, screen),
        Some(Verb::Completions { shell }) => manual::completions(shell, command(), screen),
        Some(Verb::Man { verb }) => manual::man(verb.as_deref(), command(), screen),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use clap::Parser;

    use super::*;

    fn ended(work: impl FnOnce(&mut Screen) -> Result<Exit, Failure>) -> Exit {
        guarded(&mut Screen::new(Cli::parse_from(["rulestep"]).show), work)
    }

    #[test]
    fn every_end_has_its_exit_code() {
        assert_eq!(ended(|_| Ok(Exit::Found)), Exit::Found);
        assert_eq!(ended(|_| Err(Failure::usage("no"))), Exit::Bad);
        assert_eq!(ended(|_| Err(Failure::Output(io::ErrorKind::BrokenPipe.into()))), Exit::Clean);
        assert_eq!(ended(|_| Err(Failure::Output(io::ErrorKind::StorageFull.into()))), Exit::Fault);
        assert_eq!(ended(|_| panic!("a fault")), Exit::Fault);
    }

    #[test]
    fn the_arguments_are_consistent() {
        command().debug_assert();
    }
}
