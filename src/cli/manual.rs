//! What is printed for other programs: `rulestep completions` and `rulestep man`, both made from the arguments
//! themselves, and `rulestep schema`.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::exit::{Exit, Failure};
use super::input;
use super::screen::Screen;
use rulestep_engine::dialect::{self, DIALECTS};

/// Completions for a shell.
pub fn completions(shell: Shell, mut command: Command, screen: &mut Screen) -> Result<Exit, Failure> {
    // The generator panics when writing fails, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "rulestep", &mut script);
    screen.write(&script)?;
    Ok(Exit::Clean)
}

/// The JSON Schema of a policy language.
pub fn schema(name: &str, screen: &mut Screen) -> Result<Exit, Failure> {
    let known = DIALECTS.iter().map(|dialect| dialect.name);
    let dialect = dialect::meant(name).ok_or_else(|| input::unknown("policy language", name, known))?;
    screen.write(dialect.schema.as_bytes())?;
    Ok(Exit::Clean)
}

/// The manual page of the program, or of a verb.
pub fn man(verb: Option<&str>, mut command: Command, screen: &mut Screen) -> Result<Exit, Failure> {
    command.build();
    let command = match verb {
        None => command,
        Some(verb) => match command.find_subcommand(verb) {
            Some(found) => found.clone().display_name(format!("rulestep-{verb}")),
            None => return Err(Failure::usage(format!("there is no command `{verb}`"))),
        },
    };
    Man::new(command).render(screen.out())?;
    Ok(Exit::Clean)
}
