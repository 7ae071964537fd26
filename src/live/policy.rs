//! The policy that decides, and the last one that loaded, which stays in use while a file is being edited.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::journal;
use super::record::PolicyPlace;
use super::self_guard::SelfGuard;
use crate::files::replace::put_private;
use crate::files::{self, settings};
use crate::lint::Levels;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::gate::{InvalidPolicy, loaded_guarded};
use rulestep_engine::policy::{Policy, PolicyFile};

/// The policy that decides.
pub struct Current {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The folder or file it was read from.
    pub place: PolicyPlace,
    /// Why it is the last one that loaded and not the one that the user named.
    pub fault: Option<String>,
}

/// A file as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    name: String,
    relative: String,
    text: String,
    named: bool,
}

/// Loads a version. If it does not load, the last one that did decides; `folder` holds that.
///
/// # Errors
/// It does not load, and none did before; or it cannot be kept.
pub fn load(spec: &str, folder: &Path, guard: Option<&SelfGuard>) -> Result<Current, Fault> {
    match read_guarded(spec, guard) {
        Ok((files, policy)) => {
            let empty = policy.rule_count() == 0 && !allows_empty(spec);
            if empty && let Some(before) = kept(spec, folder, guard).filter(|before| before.rule_count() > 0)
            {
                let fault = "the version has no rule, and the one before it had some (`allow_empty = true` under `[policy]` in \
                             `rulestep.toml`, if that is meant)";
                return Ok(Current {
                    policy: before,
                    place: PolicyPlace::here(spec),
                    fault: Some(fault.to_owned()),
                });
            }
            keep(spec, folder, policy.digest(), &files).map_err(|error| {
                let message = format!(
                    "the policy `{spec}` cannot be kept in {}, and what decides if a later version does not load would be an older \
                     one or none: {error}",
                    folder.display()
                );
                Fault::new(message, "make room there".to_owned())
            })?;
            Ok(Current { policy, place: PolicyPlace::here(spec), fault: None })
        }
        Err(why) => {
            let why = why.lines().next().unwrap_or_default().to_owned();
            let none = || {
                let message = format!("the policy `{spec}` does not load: {why}");
                Fault::new(message, format!("run `rulestep check {spec}` and correct what it reports"))
            };
            let policy = kept(spec, folder, guard).ok_or_else(none)?;
            Ok(Current { policy, place: PolicyPlace::here(spec), fault: Some(why) })
        }
    }
}

/// Reads a version as it is now.
///
/// # Errors
/// Why it does not load.
pub fn read(spec: &str) -> Result<(Vec<PolicyFile>, Arc<Policy>), String> {
    read_guarded(spec, None)
}

fn read_guarded(spec: &str, guard: Option<&SelfGuard>) -> Result<(Vec<PolicyFile>, Arc<Policy>), String> {
    let version = files::read_version(spec, &[]).map_err(|missing| missing.to_string())?;
    let (files, diagnostics) = version.into_policy_files();
    let policy = guarded(spec, &files, diagnostics, guard).map_err(|invalid| invalid.to_string())?;
    Ok((files, policy))
}

/// Whether `rulestep.toml` says that the version may have no rule. One that cannot be read allows nothing.
fn allows_empty(spec: &str) -> bool {
    let settings = settings::nearest(spec).and_then(Result::ok);
    settings.is_some_and(|source| {
        let (levels, problems) = Levels::read(&source);
        levels.allow_empty && problems.is_empty()
    })
}

/// A version with the rules that guard the gate itself.
fn guarded(
    spec: &str,
    files: &[PolicyFile],
    diagnostics: Vec<Diagnostic>,
    guard: Option<&SelfGuard>,
) -> Result<Arc<Policy>, InvalidPolicy> {
    let rules = guard.map(|guard| guard.rules(spec, files));
    loaded_guarded(files, diagnostics, rules.as_ref())
}

/// Where the files of a version are kept. Two projects may use the same spelling, so the name identifies the project.
fn place(spec: &str, folder: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let whole = match spec.starts_with("git:") {
        true => {
            let repository = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here);
            format!("{}\0{spec}", repository.display())
        }
        false => here.join(spec).display().to_string(),
    };
    let digest = hmac_sha256::Hash::hash(whole.as_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("policy-{name}.json"))
}

/// Keeps the files.
fn keep(spec: &str, folder: &Path, digest: &str, files: &[PolicyFile]) -> io::Result<()> {
    let (place, text) = (place(spec, folder), written(digest, files));
    if std::fs::read(&place).is_ok_and(|before| before == text.as_bytes()) {
        return Ok(());
    }
    journal::private_folder(folder).and_then(|()| put_private(&place, text.as_bytes()))
}

/// Tests whether the files of a version can be kept in a folder, with a file that is removed afterwards.
///
/// # Errors Why not.
pub fn try_keeping(folder: &Path, policy: &Policy, files: &[PolicyFile]) -> io::Result<()> {
    let nearest = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    let mut file = tempfile::tempfile_in(nearest)?;
    file.write_all(written(policy.digest(), files).as_bytes())?;
    file.sync_all()
}

/// The files of a version as they are kept.
fn written(digest: &str, files: &[PolicyFile]) -> String {
    let files = files.iter().map(|file| Kept {
        name: file.name.to_string(),
        relative: file.relative.to_string(),
        text: file.text.to_string(),
        named: file.named,
    });
    let files: Vec<Kept> = files.collect();
    serde_json::json!({"digest": digest, "files": files}).to_string()
}

/// The files that were kept, if they are still the policy that they were.
fn kept(spec: &str, folder: &Path, guard: Option<&SelfGuard>) -> Option<Arc<Policy>> {
    let text = std::fs::read(place(spec, folder)).ok()?;
    let mut whole: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let files: Vec<Kept> = serde_json::from_value(whole.get_mut("files")?.take()).ok()?;
    let files: Vec<PolicyFile> = files
        .into_iter()
        .map(|kept| PolicyFile {
            name: kept.name.into(),
            relative: kept.relative.into(),
            text: kept.text.into(),
            named: kept.named,
        })
        .collect();
    let policy = guarded(spec, &files, Vec::new(), guard).ok()?;
    (whole.get("digest")?.as_str() == Some(&**policy.digest())).then_some(policy)
}
