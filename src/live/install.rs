//! The settings files of agents: where they are, and how our hook is added and removed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::agent::Places;
use super::fault::Fault;
use super::settings::{self, Commands, Hook, Refusal};
use super::{Agent, journal};
use crate::files::replace::{self, Expected};

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for every project.
    User,
    /// Those of the project in the current folder.
    Project,
}

/// A settings file as it was read.
#[derive(Debug)]
pub struct Settings {
    /// The agent.
    pub agent: Agent,
    /// The file.
    pub path: PathBuf,
    /// Its text; `None`: there is no file.
    pub text: Option<String>,
    receipt: PathBuf,
}

/// The text of a file before our hook was added, so that removing it restores that.
#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    file: String,
    before: Option<String>,
    after: String,
    made_folder: bool,
}

/// The path of an agent's settings. `get` reads the environment.
///
/// # Errors There is no home folder.
pub fn settings_file(
    agent: Agent,
    scope: Scope,
    get: &dyn Fn(&str) -> Option<String>,
) -> Result<PathBuf, Fault> {
    let Places { variable, folder, hooks: file, .. } = *agent.places();
    let absolute = |name| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if scope == Scope::Project {
        let here = std::env::current_dir().map_err(|error| {
            Fault::new(format!("the current folder cannot be read: {error}"), "change to another folder")
        })?;
        return Ok(here.join(folder).join(file));
    }
    let home = || absolute("HOME").map(|home| home.join(folder));
    let folder = variable.and_then(absolute).or_else(home);
    let folder = folder.ok_or_else(|| {
        Fault::new("there is no home folder: `HOME` is not an absolute path", "set it, or use `--project`")
    })?;
    Ok(folder.join(file))
}

impl Settings {
    /// Reads a settings file. `state` is the folder of all journals.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn read(agent: Agent, path: PathBuf, state: &Path) -> Result<Settings, Fault> {
        let digest = hmac_sha256::Hash::hash(path.as_os_str().as_encoded_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let receipt = state.with_file_name("install").join(format!("{name}.json"));
        let text = match fs::read_to_string(&path) {
            Ok(text) => Some(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("the settings `{}` cannot be read: {error}", path.display());
                return Err(Fault::new(message, "correct that, or enter the hook by hand (docs/gate.md)"));
            }
        };
        Ok(Settings { agent, path, text, receipt })
    }

    /// The commands that the settings give to events.
    ///
    /// # Errors
    /// The settings have a form that is not known.
    pub fn hooks(&self) -> Result<Vec<Hook>, Fault> {
        let text = self.text.as_deref().unwrap_or_default();
        settings::hooks(text, self.agent).map_err(|refusal| self.refused(&refusal))
    }

    /// Options that the user has added to the command that decides, as written.
    ///
    /// # Errors The settings have an unknown form.
    pub fn added(&self) -> Result<Vec<String>, Fault> {
        let hooks = self.hooks()?;
        let decides = |hook: &&Hook| hook.is_ours && self.agent.decides(&hook.event);
        let hook = hooks.iter().find(decides).and_then(|hook| settings::best(&hooks, &hook.event));
        Ok(hook.map(|hook| by_hand(&hook.command)).unwrap_or_default())
    }

    /// Whether our hook is in them.
    ///
    /// # Errors
    /// The settings have a form that is not known.
    pub fn has_ours(&self) -> Result<bool, Fault> {
        Ok(self.hooks()?.iter().any(|hook| hook.is_ours))
    }

    /// The text with our hook.
    ///
    /// # Errors
    /// The settings have a form that is not known.
    pub fn with(&self, commands: &Commands) -> Result<String, Fault> {
        let text = self.text.as_deref().unwrap_or_default();
        settings::with(text, self.agent, commands).map_err(|refusal| self.refused(&refusal))
    }

    /// The text without our hook; `None`: no file.
    ///
    /// # Errors
    /// The settings have a form that is not known.
    pub fn without(&self) -> Result<Option<String>, Fault> {
        let Some(text) = self.text.as_deref().filter(|_| self.has_ours().unwrap_or(true)) else {
            return Ok(self.text.clone());
        };
        let receipt = self.receipt();
        if let Some(receipt) = &receipt
            && receipt.after == text
        {
            return Ok(receipt.before.clone());
        }
        let before = receipt.as_ref().map(|receipt| receipt.before.as_deref().unwrap_or_default());
        let rest = settings::without(text, self.agent, before).map_err(|refusal| self.refused(&refusal))?;
        let was_there = receipt.is_none_or(|receipt| receipt.before.is_some());
        Ok(Some(rest).filter(|rest| was_there || !settings::is_empty(rest)))
    }

    /// Writes the text with our hook.
    ///
    /// # Errors It cannot be written, or the file was changed meanwhile.
    pub fn install(&self, new: &str) -> Result<(), Fault> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let made_folder =
            !folder.is_dir() || self.receipt().is_some_and(|receipt| receipt.made_folder && self.is_ours());
        let receipt = Receipt {
            file: self.path.display().to_string(),
            before: self.without()?,
            after: new.to_owned(),
            made_folder,
        };
        let failed = |error: std::io::Error| self.unwritten(&error);
        fs::create_dir_all(folder).map_err(failed)?;
        let text = serde_json::json!(receipt).to_string();
        let receipts = self.receipt.parent().unwrap_or(folder);
        let kept = journal::private_folder(receipts)
            .and_then(|()| replace::put_private(&self.receipt, text.as_bytes()));
        kept.map_err(|error| Fault::file(&self.receipt, "written", &error))?;
        let expected = self.text.as_deref().map_or(Expected::Nothing, Expected::Text);
        replace::replace(&self.path, expected, new).map_err(|error| self.unwritten(&error))
    }

    /// Restores the text without our hook.
    ///
    /// # Errors It cannot be written, or the file was changed meanwhile.
    pub fn uninstall(&self) -> Result<(), Fault> {
        let Some(text) = &self.text else { return Ok(()) };
        let made_folder = self.receipt().is_some_and(|receipt| receipt.made_folder);
        match self.without()? {
            Some(rest) => replace::replace(&self.path, Expected::Text(text), &rest),
            None => replace::remove(&self.path, text),
        }
        .map_err(|error| self.unwritten(&error))?;
        if made_folder && let Some(folder) = self.path.parent() {
            // Only if nothing else is in it.
            let _ = fs::remove_dir(folder);
        }
        let _ = fs::remove_file(&self.receipt);
        Ok(())
    }

    fn is_ours(&self) -> bool {
        self.has_ours().unwrap_or(false)
    }

    fn receipt(&self) -> Option<Receipt> {
        serde_json::from_slice(&fs::read(&self.receipt).ok()?).ok()
    }

    fn refused(&self, refusal: &Refusal) -> Fault {
        let Refusal { line, why } = refusal;
        let message = format!("{}:{line}: {why}", self.path.display());
        Fault::new(message, "correct the file, which is left as it is, and try again")
    }

    fn unwritten(&self, error: &dyn std::fmt::Display) -> Fault {
        let message = format!("the settings `{}` cannot be written: {error}", self.path.display());
        Fault::new(message, "correct that and try again")
    }
}

/// Options of `hook` that `install` does not set.
const BY_HAND: [&str; 4] = ["--on-error", "--on-ask", "--wait", "--limit"];

/// Those without a value.
const SET_BY_HAND: [&str; 1] = ["--no-self-guard"];

/// Those in a command line of ours, with their values.
fn by_hand(command: &str) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_default();
    let mut words = words.into_iter().skip_while(|word| word != "hook");
    let mut found = Vec::new();
    while let Some(word) = words.next().filter(|word| !matches!(&**word, "||" | "&&" | ";" | "|")) {
        let (name, value) = word.split_once('=').map_or((&*word, None), |(name, value)| (name, Some(value)));
        if SET_BY_HAND.contains(&name) {
            found.push(name.to_owned());
        }
        if BY_HAND.contains(&name) {
            let value = value.map(str::to_owned);
            let name = name.to_owned();
            found.push(name);
            found.extend(value.or_else(|| words.next()));
        }
    }
    found
}

/// A path without `..`, which may mean another folder once a link is changed.
fn plain(path: PathBuf) -> PathBuf {
    match path.components().any(|part| part == Component::ParentDir) {
        true => fs::canonicalize(&path).unwrap_or(path),
        false => path,
    }
}

/// The command lines of a hook, for `sh`. `folder` is the folder of the policy; a policy of git is found only there.
/// `added` are further options of the hook.
///
/// # Errors A path cannot be part of a command line.
pub fn commands(
    program: &Path,
    agent: Agent,
    policy: &str,
    shadow: bool,
    added: &[String],
    folder: &Path,
) -> Result<Commands, Fault> {
    let unusable = |what: &dyn std::fmt::Debug| {
        let message = format!("the path {what:?} cannot be part of a command line");
        Fault::new(message, "choose another place for it")
    };
    let quote = |word: &str| shlex::try_quote(word).map(|word| word.into_owned());
    let path = |path: &Path| {
        let text = path.to_str().and_then(|path| quote(path).ok());
        text.ok_or_else(|| unusable(&path))
    };
    let is_git = policy.starts_with("git:");
    let policy = match is_git {
        true => quote(policy).map_err(|_| unusable(&policy))?,
        false => path(&plain(folder.join(policy)))?,
    };
    let mut hook = format!("{} hook {} -p {policy}", path(program)?, agent.name());
    if shadow {
        hook.push_str(" --shadow");
    }
    for word in added {
        hook = format!("{hook} {}", quote(word).map_err(|_| unusable(word))?);
    }
    if is_git {
        hook = format!("cd {} && {hook}", path(folder)?);
    }
    // Agents take a program that is missing for permission. What only watches stops nothing.
    let deciding = if shadow { hook.clone() } else { format!("{hook} || exit 2") };
    Ok(Commands { deciding, reporting: hook })
}
