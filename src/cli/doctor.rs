//! `rulestep doctor`: whether the installed hooks work.

use std::io;

use clap::Args;

use super::args::agents;
use super::hook;
use super::install::failed;
use super::verb::{ARGUMENTS, Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::live::Agent;
use crate::live::doctor::{Item, Level, Surroundings, journals, look};
use rulestep_base::wording as words;

/// Test the hooks installed for the user and for the project in the current folder, and report what does not work
#[derive(Debug, Args)]
pub struct Doctor {
    /// The agents whose hooks are run [default: every agent]
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agents: Vec<String>,
}

impl Verb for Doctor {
    const NAME: &'static str = "doctor";
    const EXITS: Exits = &[
        (0, "every installed hook works; warnings do not count"),
        (1, "something does not work or is not proved to, or no hook is installed"),
        ARGUMENTS,
        FAULT,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let named: Vec<Agent> = self.agents.iter().filter_map(|name| Agent::named(name)).collect();
        let agents = if named.is_empty() { Agent::ALL.to_vec() } else { named };
        let system = |error: io::Error| Failure::System(anyhow::Error::new(error));
        let state = tempfile::tempdir().map_err(system)?;
        let around = Surroundings {
            here: std::env::current_dir().map_err(system)?,
            home: hook::home(),
            journals: hook::folder().map_err(failed)?,
            state: state.path().to_owned(),
        };
        let get = |name: &str| std::env::var(name).ok();
        let wards = look(&agents, &get, &around);
        let mut worst = Level::Fine;
        for ward in &wards {
            let path = words::line(&ward.path.display().to_string());
            writeln!(screen.out(), "{}: {path}", ward.agent.name())?;
            worst = worst.max(list(&ward.items, screen)?);
        }
        if wards.is_empty() {
            let names = words::list(agents.iter().map(|agent| agent.name().to_owned()));
            writeln!(
                screen.out(),
                "no hook is installed for {names}, so no call is checked: run `rulestep install`"
            )?;
            return Ok(Exit::Found);
        }
        writeln!(screen.out(), "journals")?;
        worst = worst.max(list(&journals(&around), screen)?);
        Ok(if worst >= Level::Unproved { Exit::Found } else { Exit::Clean })
    }
}

fn list(items: &[Item], screen: &mut Screen) -> Result<Level, Failure> {
    for item in items {
        let word = match item.level {
            Level::Fine => "ok",
            Level::Warning => "warning",
            Level::Unproved => "unproved",
            Level::Error => "error",
        };
        writeln!(screen.out(), "  {word:<8} {}", words::line(&item.text))?;
    }
    Ok(items.iter().map(|item| item.level).max().unwrap_or(Level::Fine))
}
