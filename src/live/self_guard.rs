//! The gate guards itself with rules of the program in addition to the user's policy. Otherwise an agent could disable
//! the gate in one call that the policy allows.
//!
//! They are a document like any other, so they are decided, explained and recorded by the same code. The files they
//! name are those that `install` writes and `doctor` checks.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::Agent;
use rulestep_engine::policy::{GUARD, PolicyFile};

/// What the self-guard protects besides the policy.
#[derive(Debug, Clone)]
pub struct SelfGuard {
    /// The program.
    pub program: Option<PathBuf>,
    /// The folder of all journals.
    pub journals: PathBuf,
    /// The folders of agents' settings that variables name.
    pub named: Vec<PathBuf>,
    /// The home folder, which commands call `~`.
    pub home: Option<PathBuf>,
    /// Calls may not have a folder, so a policy of the project is protected by its path in any folder.
    pub anywhere: bool,
}

impl SelfGuard {
    /// The paths of this process. `get` reads the environment.
    pub fn here(journals: PathBuf, get: &dyn Fn(&str) -> Option<String>) -> SelfGuard {
        let named = Agent::ALL.iter().filter_map(|agent| get(agent.places().variable?));
        SelfGuard {
            program: std::env::current_exe().ok(),
            journals,
            named: named.map(PathBuf::from).collect(),
            home: get("HOME").map(PathBuf::from),
            anywhere: false,
        }
    }

    /// The rules for a policy that the user named `spec` and that has these files.
    pub fn rules(&self, spec: &str, files: &[PolicyFile]) -> PolicyFile {
        let text = json!({"rules": self.all(spec, files)});
        let text = serde_json::to_string_pretty(&text).unwrap_or_default();
        PolicyFile { name: GUARD.into(), relative: GUARD.into(), text: text.into(), named: true }
    }

    fn all(&self, spec: &str, files: &[PolicyFile]) -> Vec<Value> {
        let (settings, folders) = self.settings();
        let mut kept = settings;
        kept.push("**/rulestep.toml".to_owned());
        // The receipts of `install` are beside the journals.
        let journals = self.journals.parent().unwrap_or(&self.journals);
        kept.extend(self.forms(journals).flat_map(|form| [format!("{form}/**"), form]));
        kept.extend(self.program.iter().flat_map(|program| self.forms(program)));
        let policy = self.policy(spec, files);
        let with_folders: Vec<&String> = kept.iter().chain(&folders).collect();
        let watched: Vec<&String> = kept.iter().chain(&policy).collect();
        let mut names = vec!["*rulestep*".to_owned()];
        let program = self.program.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        names.extend(program.filter(|name| !name.contains("rulestep")).map(plain));
        let mut rules = vec![
            rule(
                "written",
                "deny",
                json!({"writes": kept}),
                "changes what decides your calls, or the record of them",
            ),
            rule(
                "deleted",
                "deny",
                json!({"deletes": with_folders}),
                "deletes what decides your calls, or the record of them",
            ),
            rule(
                "filled",
                "ask",
                json!({"runs": fillers(), "writes": folders}),
                "may change the settings that decide your calls",
            ),
            rule(
                "command",
                "deny",
                json!({"runs": commands(&names)}),
                "changes the hooks that decide your calls, or their records",
            ),
            perhaps("perhaps-written", "report", json!({"writes": watched})),
            // Unread code is reported once.
            perhaps("perhaps-deleted", "allow", json!({"deletes": watched})),
        ];
        if !policy.is_empty() {
            rules.push(rule(
                "policy-written",
                "ask",
                json!({"writes": policy}),
                "changes the policy that decides your calls",
            ));
            rules.push(rule(
                "policy-deleted",
                "deny",
                json!({"deletes": policy}),
                "deletes the policy that decides your calls",
            ));
        }
        if let Some(revision) = revision(spec) {
            rules.push(rule(
                "revision",
                "ask",
                json!({"runs": moves(&revision)}),
                "changes the policy that decides your calls",
            ));
        }
        rules
    }

    /// The files of agents' settings, and the folders that they are in.
    fn settings(&self) -> (Vec<String>, Vec<String>) {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for places in Agent::ALL.iter().map(|agent| agent.places()) {
            let names = std::iter::once(&places.hooks).chain(places.switches);
            for name in names {
                files.push(format!("**/{}/{name}", places.folder));
                files.extend(self.named.iter().map(|folder| literal(&folder.join(name))));
            }
            files.extend(places.managed.iter().map(|file| literal(Path::new(file))));
            folders.push(format!("**/{}", places.folder));
        }
        folders.extend(self.named.iter().map(|folder| literal(folder)));
        files.sort();
        files.dedup();
        (files, folders)
    }

    /// The files of the policy, and its folder. Those of a revision are in the repository's own folder.
    fn policy(&self, spec: &str, files: &[PolicyFile]) -> Vec<String> {
        if let Some(revision) = revision(spec) {
            let name = plain(&revision);
            let kinds = ["heads", "tags", "remotes"].map(|kind| format!("**/.git/refs/{kind}/{name}"));
            return kinds
                .into_iter()
                .chain(["packed-refs", "HEAD"].map(|name| format!("**/.git/{name}")))
                .collect();
        }
        let folder = std::path::absolute(spec).unwrap_or_else(|_| spec.into());
        let mut found: Vec<String> = self.forms(&folder).collect();
        let here = std::env::current_dir().ok().filter(|_| self.anywhere);
        let inside = here.as_deref().and_then(|here| folder.strip_prefix(here).ok());
        found.extend(
            inside
                .filter(|inside| inside.iter().next().is_some())
                .map(|inside| format!("**/{}", literal(inside))),
        );
        if !folder.is_file() {
            found.extend(found.clone().into_iter().map(|form| format!("{form}/**")));
        }
        // Documents may name files of other folders.
        let files = files.iter().filter_map(|file| std::path::absolute(&*file.name).ok());
        found.extend(files.filter(|file| !file.starts_with(&folder)).flat_map(|file| self.forms(&file)));
        found
    }

    /// A path as patterns: by its name, by its target, and below `~`.
    fn forms(&self, path: &Path) -> impl Iterator<Item = String> + use<> {
        let real = std::fs::canonicalize(path).ok().filter(|real| real != path);
        let below = self
            .home
            .as_deref()
            .and_then(|home| Some(clean(path).strip_prefix(clean(home)).ok()?.to_owned()));
        let below = below.map(|rest| Path::new("~").join(rest));
        [Some(path.to_owned()), real, below].into_iter().flatten().map(|path| literal(&path))
    }
}

/// A rule about every call that is known to be such. What perhaps is one is reported by a rule for all.
fn rule(id: &str, effect: &str, call: Value, does: &str) -> Value {
    json!({
        "id": id, "type": "never", "call": call, "effect": effect, "unsure": "allow", "opaque": "allow", "sweeps": "allow",
        "description": format!("No call {does}").replace("your calls", "the agent's calls").replace("of them", "of these"),
        "tell": format!("This {does}. Ask the user to do it."),
    })
}

/// A rule about every call that is perhaps such.
fn perhaps(id: &str, opaque: &str, call: Value) -> Value {
    json!({
        "id": id, "type": "never", "call": call, "effect": "report", "opaque": opaque,
        "description": "A call that perhaps changes what decides the agent's calls is reported",
    })
}

/// Programs that put files into a folder under names that the line does not show.
fn fillers() -> Value {
    json!([
        {"program": ["cp", "gcp"], "flags": ["r"]},
        {"program": ["rsync", "tar", "bsdtar", "unzip", "7z", "7za", "7zz", "ditto", "mv"]},
        {"program": "ln", "flags": ["s"]},
        {"program": "git", "args": [["clone", "worktree", "mv"]]},
    ])
}

/// The commands that change hooks and journals, or take the program away.
fn commands(names: &[String]) -> Value {
    let own = json!({"program": names, "args": [["install", "uninstall", "prune"]], "without": ["dry-run", "help", "h"]});
    let packages = json!({"program": ["cargo", "brew", "pip", "pipx", "npm", "uv"], "args": [["uninstall", "remove", "rm"], "rulestep"]});
    let agents = Agent::ALL.iter().filter_map(|agent| agent.turned_off_by());
    std::iter::once(own).chain(agents).chain([packages]).collect()
}

/// Commands of git after which a revision names another commit.
fn moves(revision: &str) -> Value {
    let name = plain(revision);
    json!([
        {"program": "git", "args": [["update-ref", "symbolic-ref"]]},
        {"program": "git", "args": [["branch", "tag"], name], "flags": ["f"]},
        {"program": "git", "args": [["branch", "tag"], name], "flags": ["d"]},
        {"program": "git", "args": ["branch", name], "flags": ["D"]},
        {"program": "git", "args": ["branch", ["*", name]], "flags": ["M"]},
        {"program": "git", "args": ["branch", ["*", name]], "flags": ["m"]},
    ])
}

/// The revision that a version of git names.
fn revision(spec: &str) -> Option<String> {
    let rest = spec.strip_prefix("git:")?;
    Some(rest.split(':').next().unwrap_or(rest).to_owned())
}

/// A path as a pattern.
fn literal(path: &Path) -> String {
    plain(&clean(path).to_string_lossy())
}

/// A path without `.`, `..` and empty parts, which no pattern has.
pub fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root is the root.
            Component::ParentDir if out.has_root() => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// Escapes a text for use in a pattern: each special character becomes `?`, which matches any one character.
fn plain(text: &str) -> String {
    let special = |sign: char| matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\' | '#');
    text.chars().map(|sign| if special(sign) { '?' } else { sign }).collect()
}
