//! The command line: what was asked, put to the library, and an exit code.
//!
//! Results go to standard output, diagnostics and progress to standard error. A command is one file here, its `mod` and its
//! row of `VERBS`.

mod args;
mod check;
mod convert;
mod corpus_run;
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
mod verb;
mod witness;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use args::Show;
use exit::{Exit, Failure};
use rulestep_base::source::nearest::nearest;
use screen::Screen;
use verb::{Row, Work};

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
    let _ = manual::PROGRAM.set(command);
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments);
    let asked = matches.and_then(|matches| read(&matches).map_err(|error| error.format(&mut command)));
    let (show, work) = match asked {
        Ok(asked) => asked,
        Err(mut told) => {
            args::look_elsewhere(&mut told, &command);
            // Help and version are answers, everything else is bad usage. A closed pipe is nobody's fault.
            let _ = told.print();
            return if told.use_stderr() { Exit::Bad.into() } else { Exit::Clean.into() };
        }
    };
    let mut screen = Screen::new(show);
    guarded(&mut screen, work).into()
}

/// The program without a command.
const PROGRAM: Row = Row::of::<open::Open>();

/// The commands, in the order of `--help`.
const VERBS: &[Row] = &[
    Row::of::<replay::Replay>(),
    Row::of::<diff::Diff>(),
    Row::of::<coverage::Coverage>(),
    Row::of::<report::Report>(),
    Row::of::<stats::Stats>(),
    Row::of::<suggest::Suggest>(),
    Row::of::<new::New>(),
    Row::of::<new::Init>(),
    Row::of::<check::Check>(),
    Row::of::<test::Test>(),
    Row::of::<explain::Explain>(),
    Row::of::<manual::Schema>(),
    Row::of::<hook::Hook>(),
    Row::of::<gate::Gate>(),
    Row::of::<proxy::Proxy>(),
    Row::of::<install::Install>(),
    Row::of::<install::Uninstall>(),
    Row::of::<live::Live>(),
    Row::of::<prune::Prune>(),
    Row::of::<doctor::Doctor>(),
    Row::of::<lsp::Lsp>(),
    Row::of::<convert::Convert>(),
    Row::of::<export::Export>(),
    Row::of::<merge::Merge>(),
    Row::of::<migrate::Migrate>(),
    Row::of::<manual::Completions>(),
    Row::of::<manual::Man>(),
];

/// The command line as it is documented and parsed.
fn command() -> Command {
    let exits = exit_codes::help("Exit codes of all commands:", PROGRAM.exits);
    let more = "`rulestep COMMAND --help` says when each command ends with which code.";
    // The commands come first: the order in which options are added is that of the help, and `Show` is added to each of them.
    let program = Command::new("rulestep").subcommands(VERBS.iter().map(Row::command));
    let program = Show::augment_args((PROGRAM.add_arguments)(program));
    program.after_help(format!("{exits}\n\n{more}"))
}

/// What is to be done, and how everything is shown.
fn read(matches: &ArgMatches) -> Result<(Show, Work), clap::Error> {
    let shown = Show::from_arg_matches(matches)?;
    let work = match matches.subcommand() {
        None => match misspelt_command(matches) {
            Some(failure) => Ok(Box::new(|_: &mut Screen| Err(failure)) as Work),
            None => (PROGRAM.read)(matches),
        },
        // The parser knows no other names.
        Some((name, matches)) => {
            (VERBS.iter().find(|verb| verb.name == name).unwrap_or(&PROGRAM).read)(matches)
        }
    };
    Ok((shown, work?))
}

/// A word that names no file and nearly a command, or a command that is not the first word.
fn misspelt_command(matches: &ArgMatches) -> Option<Failure> {
    let word = matches.get_many::<String>("sessions")?.find(|word| {
        word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && !std::path::Path::new(word).exists()
    })?;
    let meant = nearest(word, VERBS.iter().map(|verb| verb.name))?;
    let help = if meant == word {
        format!("the command comes before its options: `rulestep {meant} …`")
    } else {
        format!("did you mean `rulestep {meant}`?")
    };
    Some(Failure::usage(format!("`{word}` is not a file, a folder or a command")).help(help))
}

/// The exit codes of all commands, as Markdown. What all commands share is said once, in the text around it.
pub fn exit_codes_markdown() -> String {
    let mut text = String::from("| command | 0 | 1 | 2 |\n|---|---|---|---|\n");
    for verb in VERBS {
        let _ = write!(text, "| `{}` |", verb.name);
        for code in 0..=2 {
            let lines = verb.exits.iter().filter(|(of, _)| *of == code);
            let when: Vec<&str> = lines.map(|(_, when)| *when).collect();
            let _ = write!(text, " {} |", when.join("<br>"));
        }
        text.push('\n');
    }
    text
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn ended(work: impl FnOnce(&mut Screen) -> Result<Exit, Failure>) -> Exit {
        guarded(&mut Screen::new(Show { color: args::Color::Auto, quiet: false }), work)
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

    #[test]
    fn every_command_has_its_codes_in_order() {
        for verb in VERBS.iter().chain([&PROGRAM]) {
            assert!(verb.exits.is_sorted_by_key(|(code, _)| *code), "{}", verb.name);
            assert!(verb.exits.iter().any(|(code, _)| *code == 0), "{}", verb.name);
            let bad = verb.exits.iter().any(|(code, _)| *code == 2);
            assert!(bad, "{}: clap ends with 2 on wrong arguments", verb.name);
        }
    }

    #[test]
    fn no_line_of_the_help_is_wrapped_again() {
        for verb in VERBS.iter().chain([&PROGRAM]) {
            let help = exit_codes::help("Exit codes:", verb.exits);
            assert!(help.lines().all(|line| line.len() <= hanging::WIDTH), "{help}");
        }
    }
}
