//! `rulestep test`: judges cases, and reports unexpected results or writes them in place of the expected ones.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::args::TestFormat;
use super::mutate::{self, Mutation};
use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::case::Case;
use crate::case::judge::CaseResult;
use crate::case::update::update;
use crate::files::replace::{Expected, replace};
use crate::files::{self, Input};
use crate::report::cases::{self, CaseReport, Totals};
use crate::report::{Look, words};
use crate::workspace::cases::{CaseFile, CaseRunner};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::source::Source;

/// The folder of cases where none is named.
const DEFAULT: &str = "contracts";

/// Run case files: each contains a session, the policy or its path, and the expected decisions
#[derive(Debug, Args)]
pub struct Test {
    /// Cases: files, folders, globs, or `-` for standard input [default: contracts/]
    #[arg(value_name = "CASES")]
    pub cases: Vec<String>,
    /// Edit the files: replace the expectations that fail with the actual decisions
    #[arg(long)]
    pub update: bool,
    #[command(flatten)]
    pub mutation: Mutation,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TestFormat,
}

impl Verb for Test {
    const NAME: &'static str = "test";
    const EXITS: Exits = &[
        (0, "every case passes; with `--mutate`: every removal is noticed"),
        (1, "a case fails"),
        (1, "with `--mutate`: the removal of a rule is not noticed (a weakened rule may stay unnoticed)"),
        (1, "with `--min-score`: too few of all removals and weakenings are noticed"),
        (2, "a case could not be judged, whatever the others did"),
        (2, "with `--mutate`: a case does not pass"),
        (2, "wrong arguments, or no case"),
        FAULT,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let named = match self.cases.as_slice() {
            [] if Path::new(DEFAULT).exists() => vec![DEFAULT.to_owned()],
            [] => {
                let message = format!("no case is named, and there is no folder `{DEFAULT}` here");
                return Err(Failure::usage(message).help("name a case file, or a folder with some in it"));
            }
            named => named.to_vec(),
        };
        if self.mutation.mutate {
            return mutate::run(&self.mutation, self.format, &named, screen);
        }
        let found = files::expand(&named);
        let mut test =
            TestRun { screen, update: self.update, runner: CaseRunner::default(), answer: Answer::default() };
        test.answer.errors +=
            found.diagnostics.iter().filter(|told| told.severity == Severity::Error).count();
        found.diagnostics.iter().for_each(|told| test.screen.tell(told));
        let mut with_cases: Vec<&Path> = Vec::new();
        for (place, input) in found.inputs.iter().enumerate() {
            // Named twice, say by itself and with its folder, a file is still one.
            let again = found.inputs.iter().take(place).any(|other| other.path == input.path);
            if !again && (input.named || files::is_document(&input.name)) && test.file(input)? {
                with_cases.extend(input.path.as_deref());
            }
        }
        // What was named to be judged and holds nothing is not passed over, though others do.
        // Files that several of them lead to are judged once, under the first name.
        let is_in = |path: &Path, folder: &Path| {
            let real = || Some(path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
            path.starts_with(folder) || real().unwrap_or_default()
        };
        let holds = |folder: &str| with_cases.iter().any(|path| is_in(path, Path::new(folder)));
        for folder in named.iter().filter(|named| Path::new(named).is_dir() && !holds(named)) {
            let told =
                Diagnostic::error(code::NOT_A_CASE, "the folder holds no case").in_file(folder.as_str());
            test.screen.tell(&told.help("a case has `policy`, `session` and `expect`"));
            test.answer.errors += 1;
        }
        let TestRun { answer, .. } = test;
        screen.tell_rest();
        answer.write(self, screen)
    }
}

/// The results of all files.
#[derive(Default)]
struct Answer {
    told: Vec<CaseReport>,
    totals: Totals,
    /// Files with cases that could not be judged, and why.
    broken: Vec<(String, String)>,
    /// Inputs that could not be read.
    errors: usize,
    /// What was rewritten, a line a file.
    rewritten: Vec<String>,
}

struct TestRun<'s> {
    screen: &'s mut Screen,
    update: bool,
    runner: CaseRunner,
    answer: Answer,
}

impl TestRun<'_> {
    /// Judges the cases of a file, if it has some.
    fn file(&mut self, input: &Input) -> Result<bool, Failure> {
        let text = match input.read_text() {
            Ok(text) => text,
            Err(told) => {
                self.answer.errors += 1;
                self.screen.tell(&told);
                return Ok(true);
            }
        };
        let Some(file) = self.runner.file(&input.name, Arc::clone(&text), input.named) else {
            return Ok(false);
        };
        file.read.diagnostics.iter().for_each(|told| self.screen.tell(told));
        if let Some((cases, why)) = file.broken() {
            self.broken(&file.source, cases, why.to_string());
        }
        let CaseFile { source, read, runs } = file;
        let mut judged = Vec::with_capacity(runs.len());
        for (case, run) in read.cases.iter().zip(runs) {
            run.of_recording.iter().for_each(|told| self.screen.tell_recording(told));
            run.of_policy.iter().for_each(|told| self.screen.tell(told));
            match run.result {
                Ok(result) => judged.push((case, result)),
                Err(told) => {
                    self.screen.tell(&told);
                    self.broken(&source, 1, told.to_string());
                }
            }
        }
        let whole = judged.len() == read.cases.len();
        let rewritten = self.update && whole && judged.iter().any(|(_, judged)| !judged.passes());
        if rewritten && self.rewrite(input, &source, &judged)? {
            let passed = judged.len() as u64;
            self.answer.totals.cases += passed;
            self.answer.totals.passed += passed;
            return Ok(true);
        }
        for (case, judged) in &judged {
            let told = cases::told(case, judged);
            self.answer.totals.cases += 1;
            self.answer.totals.passed += u64::from(told.passed);
            self.answer.totals.failed += u64::from(!told.passed);
            self.answer.told.push(told);
        }
        Ok(true)
    }

    fn broken(&mut self, source: &Source, cases: usize, why: String) {
        self.answer.totals.broken += cases as u64;
        self.answer.broken.push((source.name().to_owned(), why));
    }

    /// Whether the file now expects what was decided.
    fn rewrite(
        &mut self,
        input: &Input,
        source: &Source,
        judged: &[(&Case, CaseResult)],
    ) -> Result<bool, Failure> {
        let Some(path) = &input.path else {
            return Err(Failure::usage("standard input cannot be rewritten").help("leave `--update` out"));
        };
        let borrowed: Vec<(&Case, &CaseResult)> =
            judged.iter().map(|(case, judged)| (*case, judged)).collect();
        match update(source, &borrowed) {
            Ok(new) => {
                replace(path, Expected::Text(source.text()), &new)
                    .with_context(|| format!("{} cannot be written", input.name))
                    .map_err(Failure::System)?;
                let unmet =
                    judged.iter().flat_map(|(_, judged)| &judged.answers).filter(|answer| !answer.met);
                let count = words::count(unmet.count() as u64, "expectation");
                self.answer.rewritten.push(format!("{}: {count} rewritten", words::name(&input.name)));
                Ok(true)
            }
            Err(told) => {
                self.answer.errors += told.len();
                told.iter().for_each(|told| self.screen.tell(told));
                Ok(false)
            }
        }
    }
}

impl Answer {
    fn write(self, asked: &Test, screen: &mut Screen) -> Result<Exit, Failure> {
        let Answer { told, totals, broken, errors, rewritten } = &self;
        if totals.cases + totals.broken == 0 {
            if *errors > 0 {
                return Ok(Exit::Bad);
            }
            return Err(
                Failure::usage("no case was found").help("a case has `policy`, `session` and `expect`")
            );
        }
        let look = Look { color: screen.color, ..Look::default() };
        match asked.format {
            TestFormat::Text => {
                for line in rewritten {
                    writeln!(screen.out(), "{line}")?;
                }
                cases::text(told, totals, &look, screen.out())?;
            }
            TestFormat::Json => {
                rewritten.iter().for_each(|line| screen.note(line));
                cases::json(told, totals, screen.out())?;
            }
            TestFormat::Junit => {
                rewritten.iter().for_each(|line| screen.note(line));
                cases::junit(told, broken, screen.out())?;
            }
        }
        Ok(match (totals.broken as usize + errors, totals.failed) {
            (0, 0) => Exit::Clean,
            (0, _) => Exit::Found,
            // What was not judged may be anything.
            _ => Exit::Bad,
        })
    }
}
