//! What is printed for other programs: `rulestep completions` and `rulestep man`, both made from the arguments
//! themselves, and `rulestep schema`.

use std::sync::OnceLock;

use clap::{Args, Command};
use clap_complete::Shell;

use super::args::languages;
use super::input;
use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use rulestep_engine::dialect::{self, DIALECTS};

/// Makes the command line as it is documented. `main` sets it: it is made of all commands, of which some are in this file.
pub static PROGRAM: OnceLock<fn() -> Command> = OnceLock::new();

fn program() -> Result<Command, Failure> {
    let make =
        PROGRAM.get().ok_or_else(|| Failure::System(anyhow::anyhow!("the command line is not known")))?;
    Ok(make())
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Verb for Completions {
    const NAME: &'static str = "completions";
    const EXITS: Exits = &[(0, "printed"), (2, "no such shell"), FAULT];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let mut command = program()?;
        // The generator panics when writing fails, so it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "rulestep", &mut script);
        screen.write(&script)?;
        Ok(Exit::Clean)
    }
}

/// Print the JSON Schema of a policy language, for editors
#[derive(Debug, Args)]
pub struct Schema {
    #[arg(value_name = "LANGUAGE", help = languages())]
    dialect: String,
}

impl Verb for Schema {
    const NAME: &'static str = "schema";
    const EXITS: Exits = &[(0, "printed"), (2, "no such policy language"), FAULT];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let known = DIALECTS.iter().map(|dialect| dialect.name);
        let dialect = dialect::meant(&self.dialect)
            .ok_or_else(|| input::unknown("policy language", &self.dialect, known))?;
        screen.write(dialect.schema.as_bytes())?;
        Ok(Exit::Clean)
    }
}

/// Print the manual page of the program or of one command
#[derive(Debug, Args)]
pub struct Man {
    /// Command to print the page of [default: the whole program]
    #[arg(value_name = "COMMAND")]
    verb: Option<String>,
}

impl Verb for Man {
    const NAME: &'static str = "man";
    const EXITS: Exits = &[(0, "printed"), (2, "no such command"), FAULT];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let mut command = program()?;
        command.build();
        let command = match &self.verb {
            None => command,
            Some(verb) => match command.find_subcommand(verb) {
                Some(found) => found.clone().display_name(format!("rulestep-{verb}")),
                None => return Err(Failure::usage(format!("there is no command `{verb}`"))),
            },
        };
        clap_mangen::Man::new(command).render(screen.out())?;
        Ok(Exit::Clean)
    }
}
