//! `rulestep new` and `rulestep init`: files to begin with. What is there already is never changed.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{ArgAction, Args};

use super::args::{Reading, kinds};
use super::corpus_run::CorpusRun;
use super::input::{self, SessionSource};
use super::new_file::create;
use super::selection::Selection;
use super::suggest;
use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::report::words;
use crate::suggest::Bounds;
use crate::workspace::samples;
use crate::workspace::version::DEFAULT_POLICY;
use rulestep_base::diagnostic::Severity;
use rulestep_engine::dialect::{self, DIALECTS, Dialect};
use rulestep_engine::gate::InvalidPolicy;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// What `new` writes besides documents of the dialects.
const CASE: &str = "case";
/// A case with its policy in it.
const CASE_ALONE: &str = include_str!("new/case.yaml");
/// The contract that `init` writes: for another tool than the example of `new`, so that both can be in one folder.
const CONTRACT: &str = include_str!("new/issue_refund.yaml");
/// A case for it, beside it.
const CASE_BESIDE: &str = include_str!("new/beside.case.yaml");
const SETTINGS: &str = include_str!("new/rulestep.toml");
/// Policies that come with the program: for coding agents, and for agents that refund orders.
const SETS: [(&str, &str); 2] = [("coding", "coding"), ("support", "refunds")];
/// The dialect of suggested rules, and of the contract that `init` writes.
const FIRST: &str = "contract";

/// A file that is to be written.
struct Draft {
    path: PathBuf,
    text: String,
}

/// Write a commented example of a policy or a case, to start from
#[derive(Debug, Args)]
pub struct New {
    #[arg(value_name = "KIND", help = kinds())]
    pub kind: String,
    /// File to write; one that exists is not overwritten. Editors find the schema of the language in `.schemas` beside it, which is
    /// written too [default: contracts/KIND.yaml, for a case contracts/example.case.yaml]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

impl Verb for New {
    const NAME: &'static str = "new";
    const EXITS: Exits = &[(0, "the file was written"), (2, "wrong arguments, or the file exists"), FAULT];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let dialect = dialect::meant(&self.kind);
        let (name, text) = match dialect {
            Some(dialect) => (format!("{}.yaml", dialect.name), document(dialect, dialect.example)),
            None if self.kind == CASE => ("example.case.yaml".to_owned(), CASE_ALONE.to_owned()),
            None => {
                let known = DIALECTS.iter().map(|dialect| dialect.name).chain([CASE]);
                return Err(input::unknown("kind of file", &self.kind, known));
            }
        };
        let path = self.file.clone().unwrap_or_else(|| Path::new(DEFAULT_POLICY).join(name));
        if !path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            let message = format!("`{}` is not named as a YAML file", path.display());
            return Err(
                Failure::usage(message).help("let the name end in `.yaml`: no other file is read as YAML")
            );
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let loaded = Policy::from_dir(folder).is_ok();
        write(vec![Draft { path: path.clone(), text }], dialect, screen)?;
        let (verb, file) = (if dialect.is_some() { "check" } else { "test" }, path.display().to_string());
        screen.note(&format!("edit it, then run `rulestep {verb} {}`", words::line(&file)));
        if let Some(why) = Policy::from_dir(folder).err().filter(|_| loaded).and_then(first_error) {
            let folder = words::line(&folder.display().to_string());
            screen.warn(&format!("the policies in {folder} do not load until the new file is edited: {why}"));
        }
        Ok(Exit::Clean)
    }
}

/// What keeps a version from loading, in a line.
fn first_error(invalid: InvalidPolicy) -> Option<String> {
    let error = invalid.diagnostics().iter().find(|told| told.severity == Severity::Error)?;
    Some(error.message.clone())
}

/// Set up a folder of policies: a first policy, a case that tests it, and `rulestep.toml` with settings of `check`
#[derive(Debug, Args)]
pub struct Init {
    /// Policies of Rulestep to write instead of the example, with their cases: `coding`, for coding agents, or `support`, for agents
    /// that refund orders. Cannot be combined with --sessions
    #[arg(value_name = "SET", conflicts_with = "sessions")]
    pub set: Option<String>,
    /// Folder to set up; if one of the files exists already, nothing is written. Its subfolder `.schemas` is for editors
    /// [default: contracts]
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Recordings: files, folders or globs. Write the rules that they suggest instead of the example. May be repeated
    #[arg(long, value_name = "SESSIONS", num_args = 1, action = ArgAction::Append)]
    pub sessions: Vec<String>,
    #[command(flatten)]
    pub reading: Reading,
}

impl Verb for Init {
    const NAME: &'static str = "init";
    const EXITS: Exits = &[
        (0, "the files were written"),
        (
            2,
            "nothing was written: wrong arguments, a file exists, or a recording could not be read completely",
        ),
        FAULT,
        (130, "interrupted with Ctrl-C; nothing was written"),
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let folder = self.output.clone().unwrap_or_else(|| DEFAULT_POLICY.into());
        let draft = |name: &str, text: &str| Draft { path: folder.join(name), text: text.to_owned() };
        let contract = dialect::named(FIRST);
        let mut files = vec![draft("rulestep.toml", SETTINGS)];
        if let Some(name) = &self.set {
            let Some((_, sample)) = SETS.iter().find(|(known, _)| known == name) else {
                return Err(input::unknown("set of policies", name, SETS.iter().map(|(known, _)| *known)));
            };
            files.extend(samples::policies_of(sample).map(|(name, text)| draft(name, text)));
            write(files, None, screen)?;
            return Ok(said(&folder, Exit::Clean, screen));
        }
        let mut exit = Exit::Clean;
        let mut suggested = Vec::new();
        if !self.sessions.is_empty() {
            let source = SessionSource::Named(self.sessions.as_slice().into());
            let mut run =
                CorpusRun::over(source, &self.reading, Selection::default(), Mode::Shadow, 0, screen)?;
            let sessions = suggest::sessions(&mut run, screen)?;
            exit = run.exit(false);
            if exit != Exit::Clean {
                let message =
                    "nothing was written: rules are suggested only from recordings that can be read";
                screen.error(message, None);
                return Ok(exit);
            }
            suggested = suggest::documents(&suggest::rules(&sessions, &Bounds::default(), screen));
            if suggested.is_empty() {
                screen.note("the recordings suggest no rule, so an example is written");
            }
        }
        for rules in &suggested {
            // Beside the files there is the schema of one dialect.
            let schema = contract.filter(|contract| contract.name == rules.dialect);
            let text = schema.map_or_else(|| rules.text.clone(), |contract| document(contract, &rules.text));
            files.push(draft(&rules.name, &text));
        }
        match contract.filter(|_| suggested.is_empty()) {
            Some(contract) => {
                files.push(draft("issue_refund.yaml", &document(contract, CONTRACT)));
                files.push(draft("issue_refund.case.yaml", CASE_BESIDE));
            }
            None => files.push(draft("example.case.yaml", CASE_ALONE)),
        }
        write(files, contract, screen)?;
        Ok(said(&folder, exit, screen))
    }
}

fn said(folder: &Path, exit: Exit, screen: &mut Screen) -> Exit {
    let folder = words::line(&folder.display().to_string());
    screen.note(&format!("edit the files, then run `rulestep check {folder}` and `rulestep test {folder}`"));
    exit
}

/// A document below the line by which editors find its schema.
fn document(dialect: &Dialect, text: &str) -> String {
    format!("# yaml-language-server: $schema={}\n{text}", schema(dialect))
}

/// The schema's file, relative to the document. The folder is hidden: the schema is a JSON file, and no policy.
fn schema(dialect: &Dialect) -> String {
    format!(".schemas/{}.schema.json", dialect.name)
}

/// Writes all the files, or none where one is there; beside them the schema, unless it is there.
fn write(files: Vec<Draft>, dialect: Option<&Dialect>, screen: &mut Screen) -> Result<(), Failure> {
    let taken = files.iter().find(|file| file.path.symlink_metadata().is_ok());
    // Says what is wrong.
    if let Some(file) = taken {
        create(&file.path, &file.text)?;
    }
    let folder = files.first().and_then(|file| file.path.parent()).unwrap_or(Path::new("")).to_owned();
    let schema =
        dialect.map(|dialect| Draft { path: folder.join(schema(dialect)), text: dialect.schema.to_owned() });
    let schema = schema.filter(|schema| !schema.path.exists());
    for Draft { path, text } in files.into_iter().chain(schema) {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{} cannot be made", folder.display()))
                .map_err(Failure::System)?;
        }
        create(&path, &text)?;
        writeln!(screen.out(), "wrote {}", words::line(&path.display().to_string()))?;
    }
    Ok(())
}
