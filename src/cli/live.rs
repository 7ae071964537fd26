//! `rulestep live`: the journals of the gate, opened as recordings and followed.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::args::{Reading, Recordings, Versions, WatchMode, policies_help};
use super::hook;
use super::install::failed;
use super::open::Open;
use super::open::workbench::Workbench;
use super::verb::{CLOSED, Exit, Exits, FAULT, Failure, NO_TERMINAL, Screen, Verb};

use crate::live::policy;
use crate::live::record::PolicyPlace;
use rulestep_base::source::nearest::nearest;
use rulestep_base::wording as words;

/// Open journals, the recordings that `hook`, `gate` and `proxy` write, in the workbench, and follow them as they grow
#[derive(Debug, Args)]
#[command(mut_arg("policy", |policy| policy.help(policies_help(" [default: the policy of the newest journal entry, for all sessions]"))))]
pub struct Live {
    /// Session id, or the beginning of one [default: every session that has a journal]
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    #[command(flatten)]
    pub versions: Versions,
    /// How to notice new records. Choose `poll` on network file systems, which do not report changes
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub watch: WatchMode,
}

impl Verb for Live {
    const NAME: &'static str = "live";
    const EXITS: Exits =
        &[CLOSED, NO_TERMINAL, (2, "wrong arguments, no journal, or a policy that does not load"), FAULT];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let folder = hook::folder().map_err(failed)?;
        let journals = journals(&folder);
        let opened = match &self.session {
            None => journals.clone(),
            Some(id) => chosen(&journals, id)?,
        };
        let sessions = match &self.session {
            None if journals.is_empty() => {
                let message =
                    format!("no session has a journal in {}", words::line(&folder.display().to_string()));
                return Err(Failure::usage(message)
                    .help("install the hook with `rulestep install`, and let the agent work"));
            }
            // As a pattern, so that sessions which begin later are opened, too.
            None => vec![folder.join("*").join("*.jsonl")],
            Some(_) => opened.clone(),
        };
        let sessions = sessions.iter().map(|path| path.display().to_string()).collect();
        let reading = Reading { from: None, error_regex: None, refused_regex: None };
        let recordings = Recordings { sessions, files_from: None, samples: false, reading };
        let mut versions = self.versions.clone();
        if versions.policies.policy.is_empty()
            && let Some((last, others)) = LastPolicy::of(&opened)
        {
            versions.policies.policy.push(last.named(screen)?);
            for (other, sessions) in others {
                screen.warn(&last.beside(&other, sessions));
            }
        }
        let workbench = Workbench { watch: self.watch, ..Workbench::default() };
        Open { recordings, versions, workbench }.run(screen)
    }
}

/// Bytes of a journal that are looked through first.
const NEAR_THE_END: u64 = 1 << 18;

/// The policy that decided last, as the journals say.
struct LastPolicy {
    place: PolicyPlace,
    digest: String,
}

impl LastPolicy {
    /// Of the journal that was written last and says it; and the policies of the others that are from elsewhere, with how many
    /// journals each decided in last.
    fn of(journals: &[PathBuf]) -> Option<(LastPolicy, Vec<(LastPolicy, u64)>)> {
        let written = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
        let mut journals: Vec<&PathBuf> = journals.iter().collect();
        journals.sort_by_key(|path| std::cmp::Reverse(written(path)));
        let mut policies = journals.into_iter().filter_map(|path| LastPolicy::in_journal(path));
        let last = policies.next()?;
        let mut others: Vec<(LastPolicy, u64)> = Vec::new();
        for other in policies.filter(|other| other.place != last.place) {
            match others.iter_mut().find(|(known, _)| known.place == other.place) {
                Some((_, sessions)) => *sessions += 1,
                None => others.push((other, 1)),
            }
        }
        Some((last, others))
    }

    /// The one of the last call in a journal, which is mostly near its end.
    fn in_journal(path: &Path) -> Option<LastPolicy> {
        let mut journal = File::open(path).ok()?;
        let before = journal.metadata().ok()?.len().saturating_sub(NEAR_THE_END);
        let near = LastPolicy::from(&mut journal, before);
        if before == 0 { near } else { near.or_else(|| LastPolicy::from(&mut journal, 0)) }
    }

    /// The same, of what a journal holds from this byte on.
    fn from(journal: &mut File, start: u64) -> Option<LastPolicy> {
        let mut text = Vec::new();
        journal.seek(SeekFrom::Start(start)).ok()?;
        journal.read_to_end(&mut text).ok()?;
        // A line feed is in no record, so what begins after one is a record, whatever a tool printed.
        let starts = memchr::memmem::rfind_iter(&text, b"\n{\"record\":\"proposed\"");
        starts.filter_map(|start| LastPolicy::in_record(text.get(start + 1..)?)).next()
    }

    /// That another one decided in some of the sessions, in which this one is used now.
    fn beside(&self, other: &LastPolicy, sessions: u64) -> String {
        let PolicyPlace { version, folder } = &other.place;
        let (own, shown, there) =
            (words::line(&self.place.version), words::line(version), words::line(folder));
        let sessions = words::count(sessions, "session");
        format!(
            "{sessions} had the policy `{shown}` of {there}, and are judged by `{own}` here; `rulestep live -p {shown}` in that \
             folder judges by theirs"
        )
    }

    fn in_record(rest: &[u8]) -> Option<LastPolicy> {
        let record: Value = serde_json::from_slice(rest.split(|byte| *byte == b'\n').next()?).ok()?;
        let place = serde_json::from_value(record.get("policy_from")?.clone()).ok()?;
        Some(LastPolicy { place, digest: record.get("policy")?.as_str()?.to_owned() })
    }

    /// Its name as seen from here; a note if the policy has changed since.
    fn named(&self, screen: &mut Screen) -> Result<String, Failure> {
        let PolicyPlace { version, folder } = &self.place;
        let (shown, there) = (words::line(version), words::line(folder));
        let named = self.place.named_here().ok_or_else(|| {
            Failure::usage(format!(
                "the policy that decided last, `{shown}`, is of the repository of {there}"
            ))
            .help("run `rulestep live` there, or name a policy with `-p`")
        })?;
        let (_, now) = policy::read(&named).map_err(|why| {
            let why = words::line(why.lines().next().unwrap_or_default());
            Failure::usage(format!(
                "the policy that decided last, `{shown}` in {there}, does not load: {why}"
            ))
            .help("correct it, or name another with `-p`")
        })?;
        if **now.digest() != *self.digest {
            screen.note(&format!(
                "the policy `{shown}` in {there} is no longer the one that decided last; `-b live` shows what that changes"
            ));
        }
        Ok(named)
    }
}

/// Every journal.
pub fn journals(folder: &Path) -> Vec<PathBuf> {
    let inside =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = inside(folder).flat_map(|agent| inside(&agent).collect::<Vec<_>>());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

/// The journals of the session that is named so, or whose id begins so; its subagents' come with it.
fn chosen(journals: &[PathBuf], id: &str) -> Result<Vec<PathBuf>, Failure> {
    let names: Vec<String> =
        journals.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    let found: Vec<PathBuf> = journals
        .iter()
        .filter(|path| path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with(id)))
        .cloned()
        .collect();
    if found.is_empty() {
        let failure = Failure::usage(format!("no journal is of the session `{}`", words::name(id)));
        return Err(match nearest(id, names.iter().map(String::as_str)) {
            Some(meant) => failure.help(format!("did you mean `{}`?", words::name(meant))),
            None => failure.help("`rulestep live` opens every session"),
        });
    }
    Ok(found)
}
