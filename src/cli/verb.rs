//! What a command is: arguments, exit codes, and what it does; and what every command needs for that.

use clap::{ArgMatches, Args, Command};

pub use super::exit::{Exit, Failure};
use super::exit_codes::help;
pub use super::exit_codes::{
    ARGUMENTS, CLOSED, COUNTED_IN_PART, Exits, FAULT, FINDING, INTERRUPTED, NO_FINDING, NO_TERMINAL,
    NOT_FOUND_IN_PART, NOT_JUDGED, STRICT,
};
pub use super::screen::Screen;

/// A command. Its fields are its arguments, and the documentation of the type is its help.
pub trait Verb: Args + 'static {
    /// As it is typed.
    const NAME: &'static str;
    /// When it ends with which exit code.
    const EXITS: Exits;

    /// Does the work.
    ///
    /// # Errors
    /// It cannot do what was asked.
    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure>;
}

/// What is to be done, once the command line is read.
pub type Work = Box<dyn FnOnce(&mut Screen) -> Result<Exit, Failure>>;

/// A command in the table of commands.
pub struct Row {
    /// As it is typed.
    pub name: &'static str,
    /// Its exit codes.
    pub exits: Exits,
    /// Adds its arguments to a command.
    pub add_arguments: fn(Command) -> Command,
    /// The work that was asked for.
    pub read: fn(&ArgMatches) -> Result<Work, clap::Error>,
}

impl Row {
    /// The row of a command.
    pub const fn of<V: Verb>() -> Row {
        Row { name: V::NAME, exits: V::EXITS, add_arguments: V::augment_args, read: read::<V> }
    }

    /// The command as it is documented and parsed.
    pub fn command(&self) -> Command {
        let command = (self.add_arguments)(Command::new(self.name));
        let usage = usage(&command);
        let command = command.after_help(help("Exit codes:", self.exits));
        usage.into_iter().fold(command, Command::override_usage)
    }
}

fn read<V: Verb>(matches: &ArgMatches) -> Result<Work, clap::Error> {
    let verb = V::from_arg_matches(matches)?;
    Ok(Box::new(move |screen| verb.run(screen)))
}

/// The usage of a command that goes through recordings. It needs one of three arguments, which the parser shows as optional.
fn usage(command: &Command) -> Option<String> {
    command.get_arguments().find(|argument| argument.get_id() == "files_from")?;
    let required = command.get_arguments().filter(|argument| argument.is_required_set());
    let required = required.filter_map(|argument| {
        let value = argument.get_value_names()?.first()?;
        Some(format!("--{} <{value}> ", argument.get_long()?))
    });
    let required: String = required.collect();
    let name = command.get_name();
    Some(format!("rulestep {name} [OPTIONS] {required}<SESSIONS...|--files-from FILE|--samples>"))
}
