//! Documents as people write them: those that five publishers print, and those that look like guards and are none. Each
//! loads, or gives an error that says what to change.

mod agentfootprint;
mod assay;
mod lookalikes;
mod stars;
mod vapi;
mod vesanor;
mod weakincentives;

use rulestep_base::diagnostic::{Diagnostic, Place, Severity};
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};

/// A document in a folder: its file's name, its text, and everything said of it as `LINE SEVERITY CODE`, joined with `; `.
/// Nothing of what is said is an error: the version loads.
pub type Row<'a> = (&'a str, &'a str, &'a str);

/// Reads each document in a folder of its own.
#[track_caller]
pub fn check(rows: &[Row<'_>]) {
    let mut wrong = Vec::new();
    for (name, text, expected) in rows {
        let loaded = in_folder(name, text);
        let told = told(&loaded);
        let errors = loaded.diagnostics.iter().filter(|told| told.severity == Severity::Error);
        let ways = ["did you mean", "expected", "is missing"];
        let says =
            |told: &Diagnostic| told.help.is_some() || ways.iter().any(|way| told.message.contains(way));
        let says_what_to_change = errors.clone().count() == 0 || errors.clone().any(says);
        let loads = !told.contains(" error ") && !told.starts_with("error ");
        if told != *expected || loaded.policy.is_some() != loads || !says_what_to_change {
            wrong.push(format!(
                "{name}\n{text}\n  expected: {expected}\n  told:     {told}\n{:#?}",
                self::errors(&loaded)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A folder with one file of this name and text.
pub fn in_folder(name: &str, text: &str) -> LoadResult {
    folder(&[(name, text)])
}

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> LoadResult {
    let files: Vec<PolicyFile> = files
        .iter()
        .map(|(name, text)| PolicyFile {
            name: (*name).into(),
            relative: (*name).into(),
            text: (*text).into(),
            named: false,
        })
        .collect();
    Policy::load(&files, None)
}

/// What is said of the documents: `LINE SEVERITY CODE`, joined with `; `. A notice about a whole file has no line.
pub fn told(loaded: &LoadResult) -> String {
    let line = |told: &Diagnostic| told.place().and_then(Place::line).map(|line| format!("{line} "));
    let all = loaded
        .diagnostics
        .iter()
        .map(|told| format!("{}{} {}", line(told).unwrap_or_default(), told.severity.name(), told.code));
    all.collect::<Vec<_>>().join("; ")
}

/// The errors alone, each with its message and its help.
pub fn errors(loaded: &LoadResult) -> Vec<String> {
    let errors = loaded.diagnostics.iter().filter(|told| told.severity == Severity::Error);
    let help = |told: &Diagnostic| told.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    errors.map(|told| format!("{}: {}{}", told.code, told.message, help(told))).collect()
}

/// The rules of a version that loads: `TOOL KIND ID`.
#[track_caller]
pub fn rules(loaded: &LoadResult) -> Vec<String> {
    let policy = loaded.policy.as_ref().unwrap_or_else(|| panic!("{:#?}", errors(loaded)));
    let rules = policy.rules().iter();
    rules.map(|(_, rule)| format!("{} {}", rule.tool.as_deref().unwrap_or("-"), rule.id)).collect()
}
