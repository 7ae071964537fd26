//! `rulestep migrate`: a document of sequence rules in the old form, written in the current one.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;

use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::files::Input;
use crate::files::replace::{Expected, replace};
use crate::report::words;
use rulestep_base::source::Source;
use rulestep_engine::dialect::sequence_rules::migrate::{Change, Migration, Refusal, migrate};

/// Convert a file of sequence rules (Assay) from the old syntax, version 0, to the current one, and print it or write it
#[derive(Debug, Args)]
#[command(override_usage = "rulestep migrate [OPTIONS] <FILE|--config FILE>")]
pub struct Migrate {
    /// File to rewrite, or `-` for standard input
    #[arg(required_unless_present = "config")]
    pub file: Option<String>,
    /// The same as FILE, for scripts that call `assay migrate --config`
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub config: Option<String>,
    /// Replace FILE with the result instead of printing it. Not possible with `-`
    #[arg(long)]
    pub write: bool,
}

impl Verb for Migrate {
    const NAME: &'static str = "migrate";
    const EXITS: Exits = &[
        (0, "the result was printed or written, or the file has the current syntax already"),
        (2, "wrong arguments, or a file without sequence rules that can be rewritten"),
        FAULT,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let name = self.file.as_deref().or(self.config.as_deref()).unwrap_or("-");
        let stdin = name == "-";
        if stdin && self.write {
            return Err(Failure::usage("standard input cannot be written back").help("leave `--write` out"));
        }
        let input = Input::named(name.into(), (!stdin).then(|| name.into()));
        let text = input.read_text().map_err(|told| Failure::Input(vec![told]))?;
        let source = Source::new(name, text);
        let migrated = migrate(&source).map_err(|refusal| refused(&refusal, name))?;
        if migrated.changes.is_empty() {
            screen.note(&format!("{name} is in the current form already: nothing to change"));
        }
        if !self.write {
            tell(&migrated, name, &mut |line| screen.note(line));
            write!(screen.out(), "{}", migrated.text)?;
            return Ok(Exit::Clean);
        }
        if !migrated.changes.is_empty() {
            replace(Path::new(name), Expected::Text(source.text()), &migrated.text)
                .with_context(|| format!("{name} cannot be written"))
                .map_err(Failure::System)?;
            let mut lines = Vec::new();
            tell(&migrated, name, &mut |line| lines.push(line.to_owned()));
            for line in lines {
                writeln!(screen.out(), "{}", words::line(&line))?;
            }
        }
        Ok(Exit::Clean)
    }
}

/// What was changed, a line each.
fn tell(migrated: &Migration, name: &str, say: &mut dyn FnMut(&str)) {
    for change in &migrated.changes {
        match change {
            Change::Version { line } => say(&format!("{name}:{line}: version 0 is now 1")),
            Change::Sequences { line, lists, rules, empty } => {
                let made = format!(
                    "`sequences` with {} is now `rules` with {}",
                    words::count(*lists as u64, "list"),
                    words::count(*rules as u64, "`before` rule")
                );
                say(&format!("{name}:{line}: {made}"));
                if *empty > 0 {
                    let gone = words::count(*empty as u64, "list");
                    say(&format!(
                        "{name}:{line}: removed {gone} of fewer than two names, which require nothing"
                    ));
                }
            }
        }
    }
}

fn refused(refusal: &Refusal, name: &str) -> Failure {
    match refusal {
        Refusal::Broken(told) => Failure::Input(told.clone()),
        Refusal::Foreign => {
            Failure::usage(format!("{name} holds no sequence rules, so there is nothing to migrate"))
                .help("the old form has `sequences` with lists of names, at the top or in a test")
        }
        Refusal::Tangled(line) => Failure::usage(format!(
            "{name}:{line}: `sequences` is written in a way that cannot be changed in place"
        ))
        .help("write it as a plain list of lists of names, without anchors, and with `rules` only as a list"),
    }
}
