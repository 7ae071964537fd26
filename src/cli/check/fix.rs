//! `rulestep check --fix`: edits that remove findings, one after the other, each tried before it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use crate::cli::exit::Failure;
use crate::cli::screen::Screen;
use crate::files::replace::{Expected, replace};
use crate::report::words;
use crate::workspace::{LoadedVersion, NoPolicy, Version};
use rulestep_base::diagnostic::{Diagnostic, Fix, Severity};
use rulestep_engine::dialect::Dialect;

/// Fixes of one run: each loads the version again.
const MOST: usize = 10_000;

/// Applies the fixes, writes the changed files, and returns the new version.
pub fn run(
    mut version: Version,
    only: Option<&'static Dialect>,
    suggested: bool,
    screen: &mut Screen,
) -> Result<LoadedVersion, Failure> {
    let mut loaded = version.clone().load(only);
    let before: BTreeMap<Arc<str>, Arc<str>> =
        version.files.iter().map(|file| (Arc::clone(&file.name), Arc::clone(&file.text))).collect();
    // Edits that did not help are not tried again, and those of git revisions never.
    let (mut refused, mut applied): (BTreeSet<String>, BTreeMap<Arc<str>, u64>) = Default::default();
    let mut committed = 0;
    for _ in 0..MOST {
        let Some((name, fix)) = next(&loaded, suggested, &refused) else { break };
        if name.starts_with("git:") {
            committed += 1;
            refused.insert(key(&fix));
            continue;
        }
        let tried = fix.apply().map(|text| version.clone().with_text(&name, text));
        let again = tried.as_ref().map(|version| version.clone().load(only));
        match (tried, again) {
            (Some(tried), Some(again)) if is_better(&loaded, &again) => {
                (version, loaded) = (tried, again);
                *applied.entry(name).or_default() += 1;
            }
            _ => drop(refused.insert(key(&fix))),
        }
    }
    for file in version.files.iter().filter(|file| before.get(&file.name) != Some(&file.text)) {
        let read = before.get(&file.name).map(|text| &**text).unwrap_or_default();
        replace(Path::new(&*file.name), Expected::Text(read), &file.text)
            .with_context(|| format!("{} cannot be written", file.name))
            .map_err(Failure::System)?;
        let fixes = applied.get(&file.name).copied().unwrap_or_default();
        screen.note(&format!("{} in {}", words::count(fixes, "fix"), words::line(&file.name)));
    }
    if committed > 0 {
        let fixes = words::count(committed, "fix");
        screen.note(&format!(
            "{fixes} not applied: a git revision cannot be changed, only the files you work on"
        ));
    }
    Ok(loaded)
}

/// The next fix that may be applied, with its file.
fn next(loaded: &LoadedVersion, suggested: bool, refused: &BTreeSet<String>) -> Option<(Arc<str>, Fix)> {
    let fixes = loaded.loaded.diagnostics.iter().filter_map(|told| told.fix.as_deref());
    let mut wanted = fixes.filter(|fix| (fix.is_safe || suggested) && !refused.contains(&key(fix)));
    wanted.next().map(|fix| (Arc::from(fix.source.name()), fix.clone()))
}

/// A key for equal edits of the same text.
fn key(fix: &Fix) -> String {
    format!("{}\0{:?}\0{}", fix.source.name(), fix.edits, fix.source.text().len())
}

/// Whether the version decides the same as before, with fewer diagnostics.
fn is_better(before: &LoadedVersion, after: &LoadedVersion) -> bool {
    let count = |loaded: &LoadedVersion, severity: Severity| {
        loaded.loaded.diagnostics.iter().filter(|told: &&Diagnostic| told.severity == severity).count()
    };
    let counts = |loaded| [Severity::Error, Severity::Warning, Severity::Notice].map(|s| count(loaded, s));
    let loads = |loaded: &LoadedVersion| match &loaded.policy {
        Ok(_) => 2,
        Err(NoPolicy::Invalid(_)) => 1,
        Err(_) => 0,
    };
    loads(after) >= loads(before) && loads(after) > 0 && counts(after) < counts(before)
}
