//! Runs cases: opens the files they name and returns the results. Shared by the command line and the workbench.

use std::collections::HashMap;
use std::sync::Arc;

use super::{LoadedVersion, NoPolicy, Version};
use crate::case::judge::{CaseResult, judge, version};
use crate::case::read::{Cases, read};
use crate::case::{Case, CaseSession, Reference};
use crate::files::{self, Input};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::session::{Session, tree};
use rulestep_base::source::{Source, quoted};
use rulestep_base::wording::list;
use rulestep_engine::policy::{Policy, is_case_file};
use rulestep_recording as sessions;

/// Why a case cannot be judged if its policy has errors, which are reported for the policy.
pub const NOT_LOADED: &str = "the policy does not load";

/// Judges cases. A policy that several of them name is read once.
#[derive(Default)]
pub struct CaseRunner {
    /// By their paths; those that do not load were reported.
    policies: HashMap<Vec<String>, Result<Arc<Policy>, String>>,
}

/// A file of cases, judged.
pub struct CaseFile {
    /// Its text.
    pub source: Source,
    /// Its cases. A file with a mistake has no case to judge.
    pub read: Cases,
    /// The result of each case, in order.
    pub runs: Vec<CaseRun>,
}

/// The cases of a version.
#[derive(Default)]
pub struct CaseFiles {
    /// Each file that has some.
    pub files: Vec<CaseFile>,
    /// Files of cases whose text cannot be read, and why.
    pub unreadable: Vec<(Arc<str>, Diagnostic)>,
}

/// A case that was judged, or cannot be.
pub struct CaseRun {
    /// The result, or why it cannot be judged.
    pub result: Result<CaseResult, Diagnostic>,
    /// Diagnostics of its policy.
    pub of_policy: Vec<Diagnostic>,
    /// Diagnostics of the recording of its session.
    pub of_recording: Vec<Diagnostic>,
}

impl CaseFile {
    /// Why none of its cases can be judged, if so, and how many there are.
    pub fn broken(&self) -> Option<(usize, &Diagnostic)> {
        let error = self.read.diagnostics.iter().find(|told| told.severity == Severity::Error)?;
        self.read.cases.is_empty().then_some((self.read.found.max(1), error))
    }
}

impl CaseRunner {
    /// Judges the cases of a file; `None` if it is not a file of cases, and was not named as one.
    pub fn file(&mut self, name: &Arc<str>, text: Arc<str>, named: bool) -> Option<CaseFile> {
        // Large recordings may be beside cases, and are not worth a closer look.
        let has = |key: &str| text.contains(key);
        let may_be_one = has("expect") || has("policy") && has("session");
        if !named && !may_be_one && !is_case_file(name) {
            return None;
        }
        let source = Source::new(Arc::clone(name), text);
        let read = read(&source, named);
        let runs = read.cases.iter().map(|case| self.judge(case)).collect();
        Some(CaseFile { source, read, runs })
    }

    fn judge(&mut self, case: &Case) -> CaseRun {
        let (mut of_policy, mut of_recording) = (Vec::new(), Vec::new());
        let result = self
            .resolve(case, &mut of_policy, &mut of_recording)
            .map(|(session, policy)| judge(case, &session, &policy));
        CaseRun { result, of_policy, of_recording }
    }

    /// The inputs of a case: its session, and its policy before the rules that it names are switched off.
    ///
    /// # Errors One of them cannot be read.
    pub fn parts(&mut self, case: &Case) -> Result<(Arc<Session>, Arc<Policy>), Diagnostic> {
        let policy = self.policy(case, &mut Vec::new())?;
        Ok((of_case(case, &policy, &mut Vec::new())?, policy))
    }

    fn resolve(
        &mut self,
        case: &Case,
        of_policy: &mut Vec<Diagnostic>,
        of_recording: &mut Vec<Diagnostic>,
    ) -> Result<(Arc<Session>, Arc<Policy>), Diagnostic> {
        let policy = self.policy(case, of_policy);
        // Problems of the session are reported even if its policy cannot be used.
        let looks = policy.clone().unwrap_or_else(|_| Policy::empty());
        let session = of_case(case, &looks, of_recording)?;
        Ok((session, version(case, &policy?)?))
    }

    fn policy(&mut self, case: &Case, told: &mut Vec<Diagnostic>) -> Result<Arc<Policy>, Diagnostic> {
        if !case.documents.is_empty() {
            return with_documents(case, told);
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
        // An unreadable file is reported where it is used.
        for (path, reference) in paths.iter().zip(&case.policy) {
            if let Err(told) = files::read_version(path, &[]) {
                return Err(bad(case, reference, format!("{}: {}", quoted(path), told.message)));
            }
        }
        let LoadedVersion { policy, loaded } = Version::beside(&paths, &paths).load(None);
        told.extend(loaded.diagnostics);
        let policy = policy.map_err(|why| match why {
            NoPolicy::Empty { .. } => "no policy was found there, so nothing can be judged".to_owned(),
            _ => NOT_LOADED.to_owned(),
        });
        self.policies.insert(paths, policy.clone());
        policy.map_err(broken)
    }
}

/// The session of a case. Where the policy looks at whole trees it has what the other sessions of its file did.
fn of_case(
    case: &Case,
    policy: &Policy,
    of_recording: &mut Vec<Diagnostic>,
) -> Result<Arc<Session>, Diagnostic> {
    let joins = policy.sees_trees();
    match &case.session {
        CaseSession::Inline(session) if joins => {
            let joined = tree::join(vec![Session::clone(session)]).pop();
            Ok(joined.map_or_else(|| Arc::clone(session), Arc::new))
        }
        CaseSession::Inline(session) => Ok(Arc::clone(session)),
        CaseSession::InFile { file, id } => session(case, file, id.as_deref(), joins, of_recording),
    }
}

/// A session of a recording.
fn session(
    case: &Case,
    file: &Reference,
    id: Option<&str>,
    joins: bool,
    of_recording: &mut Vec<Diagnostic>,
) -> Result<Arc<Session>, Diagnostic> {
    let path = files::beside(case.source.name(), &file.path);
    let input = Input::named(path.as_str().into(), Some(path.as_str().into()));
    let opened =
        input.open().and_then(|input| sessions::open(path.as_str(), input, &sessions::Options::default()));
    let mut reading =
        opened.map_err(|told| bad(case, file, format!("{}: {}", quoted(&path), told.message)))?;
    let (mut found, mut ids, mut again) = (Vec::new(), Vec::new(), false);
    let whole: Vec<Session> = if joins { tree::join(reading.by_ref().collect()) } else { Vec::new() };
    for session in whole.into_iter().chain(reading.by_ref()) {
        ids.push(Arc::clone(&session.id));
        again |= id.is_some_and(|id| is_another_of(&session, id));
        if id.is_none_or(|id| *session.id == *id) && found.len() < 2 {
            found.push(session);
        }
    }
    let named = || list(ids.iter().take(5).map(|id| quoted(id)));
    let mut of_file = reading.diagnostics();
    // Lost parts of the file are reported for all of its sessions together, and here in another way.
    of_file.retain(|told| match told.severity {
        Severity::Error => told.code != code::DAMAGED_RECORD,
        severity => severity > Severity::Notice,
    });
    let hides = |told: &Diagnostic| told.may_lose_calls() || told.severity == Severity::Error;
    match (found.pop(), found.is_empty()) {
        (Some(_), true) if again => {
            let id = quoted(id.unwrap_or_default());
            let told = bad(case, file, format!("{} holds several sessions with the id {id}", quoted(&path)));
            Err(told.help("give each of them an id of its own"))
        }
        (Some(session), true) => {
            let is_whole = !of_file.iter().chain(&session.diagnostics).any(hides);
            of_recording.extend(of_file.into_iter().chain(session.diagnostics.iter().cloned()));
            if !is_whole {
                let message = format!(
                    "{} could not be read completely, and what is missing may have contained calls",
                    quoted(&path)
                );
                return Err(bad(case, file, message));
            }
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

/// Whether the id in the recording of a session is this one, which an earlier session of the file has already.
fn is_another_of(session: &Session, id: &str) -> bool {
    let numbered = || *session.id == format!("{id}#{}", session.origin.index);
    let is_told = |told: &Diagnostic| told.code == code::DAMAGED_RECORD && told.severity == Severity::Notice;
    session.id.starts_with(id) && numbered() && session.diagnostics.iter().any(is_told)
}

/// A policy of which a part is written in the case itself.
fn with_documents(case: &Case, told: &mut Vec<Diagnostic>) -> Result<Arc<Policy>, Diagnostic> {
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
    told.extend(loaded.diagnostics);
    policy.map_err(|_| {
        let message = "the policy in the case does not load";
        Diagnostic::error(code::BAD_REFERENCE, message).at(&case.source, case.span)
    })
}

/// Diagnostics for missing files that a case names: code that only reads cases reports that they cannot be judged.
pub fn missing(case: &Case) -> Vec<Diagnostic> {
    let file = match &case.session {
        CaseSession::InFile { file, .. } => Some(file),
        CaseSession::Inline(_) => None,
    };
    let is_missing = |reference: &&Reference| {
        let path = files::beside(case.source.name(), &reference.path);
        !path.starts_with("git:") && !std::path::Path::new(&path).exists()
    };
    let missing = case.policy.iter().chain(file).filter(is_missing);
    let told = |reference: &Reference| {
        let path = files::beside(case.source.name(), &reference.path);
        bad(case, reference, format!("{} does not exist, so the case cannot be judged", quoted(&path)))
    };
    missing.map(told).collect()
}

fn bad(case: &Case, reference: &Reference, message: String) -> Diagnostic {
    Diagnostic::error(code::BAD_REFERENCE, message).at(&case.source, reference.span)
}
