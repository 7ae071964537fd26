//! `rulestep test`: cases judged, and what is not as expected told, or put in the place of what was expected.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use super::args::{self, TestFormat};
use super::exit::{Exit, Failure};
use super::replace::replace;
use super::screen::Screen;
use crate::case::judge::{CaseResult, judge, version};
use crate::case::read::read;
use crate::case::update::update;
use crate::case::{Case, CaseSession, Reference};
use crate::diagnostic::{Diagnostic, Severity, code};
use crate::files::{self, Input};
use crate::policy::Policy;
use crate::recording as sessions;
use crate::report::cases::{self, CaseReport, Totals};
use crate::report::{Look, words};
use crate::session::Session;
use crate::source::{Source, quoted};
use crate::workspace::{LoadedVersion, NoPolicy, Version};

/// The folder of cases where none is named.
const DEFAULT: &str = "contracts";

/// Runs the verb.
pub fn run(asked: &args::Test, screen: &mut Screen) -> Result<Exit, Failure> {
    let named = match asked.cases.as_slice() {
        [] if Path::new(DEFAULT).exists() => vec![DEFAULT.to_owned()],
        [] => {
            let message = format!("no case is named, and there is no folder `{DEFAULT}` here");
            return Err(Failure::usage(message).help("name a case file, or a folder with some in it"));
        }
        named => named.to_vec(),
    };
    let found = files::expand(&named);
    let mut test = Test { screen, update: asked.update, policies: HashMap::new(), answer: Answer::default() };
    test.answer.errors += found.diagnostics.iter().filter(|told| told.severity == Severity::Error).count();
    found.diagnostics.iter().for_each(|told| test.screen.tell(told));
    for (place, input) in found.inputs.iter().enumerate() {
        // Named twice, say by itself and with its folder, a file is still one.
        let again = found.inputs.iter().take(place).any(|other| other.path == input.path);
        if !again && (input.named || files::is_document(&input.name)) {
            test.file(input)?;
        }
    }
    let Test { answer, .. } = test;
    screen.tell_rest();
    answer.write(asked, screen)
}

/// What came of all files.
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

struct Test<'s> {
    screen: &'s mut Screen,
    update: bool,
    /// By their paths; `None` for those that do not load, which was reported.
    policies: HashMap<Vec<String>, Result<Arc<Policy>, String>>,
    answer: Answer,
}

impl Test<'_> {
    fn file(&mut self, input: &Input) -> Result<(), Failure> {
        let text = match input.read_text() {
            Ok(text) => text,
            Err(told) => {
                self.answer.errors += 1;
                self.screen.tell(&told);
                return Ok(());
            }
        };
        // Large recordings may be beside cases, and are not worth a closer look.
        let has = |key: &str| text.contains(key);
        let may_be_one = has("expect") || has("policy") && has("session");
        if !input.named && !may_be_one {
            return Ok(());
        }
        let source = Source::new(Arc::clone(&input.name), Arc::clone(&text));
        let read = read(&source, input.named);
        read.diagnostics.iter().for_each(|told| self.screen.tell(told));
        if read.cases.is_empty() {
            if let Some(error) = read.diagnostics.iter().find(|told| told.severity == Severity::Error) {
                self.broken(&source, read.found.max(1), error.to_string());
            }
            return Ok(());
        }
        let mut judged = Vec::with_capacity(read.cases.len());
        for case in &read.cases {
            match self.resolve(case) {
                Ok((session, policy)) => judged.push((case, judge(case, &session, &policy))),
                Err(told) => {
                    self.screen.tell(&told);
                    self.broken(&source, 1, told.to_string());
                }
            }
        }
        let whole = judged.len() == read.cases.len();
        let rewritten = self.update && whole && judged.iter().any(|(_, judged)| !judged.passes());
        if rewritten && self.rewrite(input, &source, &text, &judged)? {
            let passed = judged.len() as u64;
            self.answer.totals.cases += passed;
            self.answer.totals.passed += passed;
            return Ok(());
        }
        for (case, judged) in &judged {
            let told = cases::told(case, judged);
            self.answer.totals.cases += 1;
            self.answer.totals.passed += u64::from(told.passed);
            self.answer.totals.failed += u64::from(!told.passed);
            self.answer.told.push(told);
        }
        Ok(())
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
        text: &str,
        judged: &[(&Case, CaseResult)],
    ) -> Result<bool, Failure> {
        let Some(path) = &input.path else {
            return Err(Failure::usage("standard input cannot be rewritten").help("leave `--update` out"));
        };
        let borrowed: Vec<(&Case, &CaseResult)> =
            judged.iter().map(|(case, judged)| (*case, judged)).collect();
        match update(source, &borrowed) {
            Ok(new) => {
                // The mark at the text's beginning is no part of the source.
                let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
                replace(path, &format!("{mark}{new}"))
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

    fn resolve(&mut self, case: &Case) -> Result<(Arc<Session>, Arc<Policy>), Diagnostic> {
        let session = match &case.session {
            CaseSession::Inline(session) => Arc::clone(session),
            CaseSession::InFile { file, id } => self.session(case, file, id.as_deref())?,
        };
        let policy = version(case, &self.policy(case)?)?;
        Ok((session, policy))
    }

    fn session(
        &mut self,
        case: &Case,
        file: &Reference,
        id: Option<&str>,
    ) -> Result<Arc<Session>, Diagnostic> {
        let path = files::beside(case.source.name(), &file.path);
        let input = Input { name: path.as_str().into(), path: Some(path.as_str().into()), named: true };
        let opened = input
            .open()
            .and_then(|input| sessions::open(path.as_str(), input, &sessions::Options::default()));
        let reading =
            opened.map_err(|told| bad(case, file, format!("{}: {}", quoted(&path), told.message)))?;
        let (mut found, mut ids) = (Vec::new(), Vec::new());
        for session in reading {
            ids.push(Arc::clone(&session.id));
            if id.is_none_or(|id| *session.id == *id) && found.len() < 2 {
                found.push(session);
            }
        }
        let named = || words::list(ids.iter().take(5).map(|id| quoted(id)));
        match (found.pop(), found.is_empty()) {
            (Some(session), true) => {
                session.diagnostics.iter().for_each(|told| self.screen.tell_recording(told));
                Ok(Arc::new(session))
            }
            (None, _) => {
                let told = match id {
                    Some(id) => bad(case, file, format!("no session of {} is {}", quoted(&path), quoted(id))),
                    None => bad(case, file, format!("{} holds no session", quoted(&path))),
                };
                Err(if ids.is_empty() { told } else { told.help(format!("it holds {}", named())) })
            }
            (Some(_), false) => {
                let message = format!("{} holds several sessions", quoted(&path));
                Err(bad(case, file, message).help(format!("say which with `id`: {}", named())))
            }
        }
    }

    fn policy(&mut self, case: &Case) -> Result<Arc<Policy>, Diagnostic> {
        if !case.documents.is_empty() {
            return self.with_documents(case);
        }
        let paths: Vec<String> =
            case.policy.iter().map(|policy| files::beside(case.source.name(), &policy.path)).collect();
        let first = case.policy.first();
        let broken = |message: String| match first {
            Some(reference) => bad(case, reference, message),
            None => Diagnostic::error(code::BAD_REFERENCE, message).in_file(case.source.name()),
        };
        if let Some(loaded) = self.policies.get(&paths) {
            return loaded.clone().map_err(broken);
        }
        // What cannot be read is reported where it is asked for.
        for (path, reference) in paths.iter().zip(&case.policy) {
            if let Err(told) = files::read_version(path, &[]) {
                return Err(bad(case, reference, format!("{}: {}", quoted(path), told.message)));
            }
        }
        let LoadedVersion { policy, loaded } = Version::beside(&paths, &paths).load(None);
        loaded.diagnostics.iter().for_each(|told| self.screen.tell(told));
        let policy = policy.map_err(|why| match why {
            NoPolicy::Empty { .. } => "no policy was found there, so nothing can be judged".to_owned(),
            _ => "the policy does not load".to_owned(),
        });
        self.policies.insert(paths, policy.clone());
        policy.map_err(broken)
    }

    /// A policy of which a part is written in the case itself.
    fn with_documents(&mut self, case: &Case) -> Result<Arc<Policy>, Diagnostic> {
        let mut files = case.documents.clone();
        for reference in &case.policy {
            let path = files::beside(case.source.name(), &reference.path);
            let version = files::read_version(&path, &[])
                .map_err(|told| bad(case, reference, format!("{}: {}", quoted(&path), told.message)))?;
            let (more, unreadable) = version.into_policy_files();
            if let Some(told) = unreadable.first() {
                return Err(bad(case, reference, told.message.clone()));
            }
            files.extend(more);
        }
        let LoadedVersion { policy, loaded } = Version { files, ..Version::default() }.load(None);
        loaded.diagnostics.iter().for_each(|told| self.screen.tell(told));
        policy.map_err(|_| {
            let message = "the policy in the case does not load";
            Diagnostic::error(code::BAD_REFERENCE, message).at(&case.source, case.span)
        })
    }
}

fn bad(case: &Case, reference: &Reference, message: String) -> Diagnostic {
    Diagnostic::error(code::BAD_REFERENCE, message).at(&case.source, reference.span)
}

impl Answer {
    fn write(self, asked: &args::Test, screen: &mut Screen) -> Result<Exit, Failure> {
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
