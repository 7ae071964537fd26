//! `rulestep diff --witness`: each changed decision with the smallest part of its session that still shows it, saved as a
//! case.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::exit::Failure;
use super::new_file::create;
use crate::case::Place;
use crate::case::write::{Draft, decision_at, write};
use crate::compare::{Answer, Change, ChangePlace, Comparison, Origin, SessionDiff};
use crate::files;
use crate::report::words;
use crate::witness::{self, BUDGET, Witness};
use rulestep_base::session::{AlternativeRef, CallRef};
use rulestep_engine::replay::Replay;

/// A folder that cases are saved in.
pub struct Folder {
    path: PathBuf,
    /// The new version's paths, relative to the folder.
    policy: Vec<String>,
}

/// Counts of saved examples.
#[derive(Debug, Default)]
pub struct Count {
    /// Files that were written.
    pub saved: u64,
    /// Changes without a saved example.
    pub left_out: u64,
}

/// A case to be saved; `None` if the change has no witness.
pub type Saved = Option<(String, String)>;

impl Count {
    /// In a line.
    pub fn told(&self, folder: &str) -> String {
        let saved = words::count(self.saved, "case");
        match self.left_out {
            0 => format!("{saved} saved in {folder}"),
            left => format!(
                "{saved} saved in {folder}; no part that still shows it could be saved for {}",
                words::count(left, "change")
            ),
        }
    }
}

impl Folder {
    /// The folder, created if it does not exist. The versions are those of the command line.
    pub fn new(path: &str, policy: &[String]) -> Result<Folder, Failure> {
        if let Some(revision) = policy.iter().find(|policy| policy.starts_with("git:")) {
            let message = format!("a case refers to files, so no minimal example is saved for `{revision}`");
            return Err(Failure::usage(message).help("check the revision out and name its folder"));
        }
        if let Some(nowhere) = policy.iter().find(|policy| !Path::new(policy).exists()) {
            return Err(Failure::usage(format!("a case refers to files, and `{nowhere}` does not exist")));
        }
        let made = fs::create_dir_all(path).with_context(|| format!("the folder {path} cannot be made"));
        made.map_err(Failure::System)?;
        let policy = policy.iter().map(|policy| files::from(path, policy)).collect();
        Ok(Folder { path: path.into(), policy })
    }

    /// The cases of a session's changed decisions: those that do not only follow from another.
    pub fn cases(&self, compared: &SessionDiff, comparison: &Comparison) -> Vec<Saved> {
        let is_own = |change: &&Change| change.origin == Origin::Primary;
        // A case expects decisions, and a reported call has none.
        let is_decided = |change: &&Change| matches!(change.new.answer, Answer::Call(_));
        let own = compared.changes().iter().filter(is_own).filter(is_decided);
        let cases = own.filter_map(|change| match change.at {
            ChangePlace::Call(at) => Some(self.call(compared, comparison, change, at)),
            ChangePlace::Alternative(at) => Some(self.not_taken(compared, comparison, change, at)),
            ChangePlace::Turn(_) | ChangePlace::End => None,
        });
        cases.collect()
    }

    /// Saves cases.
    pub fn save(&self, cases: Vec<Saved>, count: &mut Count) -> Result<(), Failure> {
        for case in cases {
            let Some((name, text)) = case else {
                count.left_out += 1;
                continue;
            };
            let path = self.path.join(name);
            create(&path, &text)?;
            count.saved += 1;
        }
        Ok(())
    }

    fn call(&self, compared: &SessionDiff, comparison: &Comparison, change: &Change, at: CallRef) -> Saved {
        let found = witness::change(compared.session(), comparison, compared.mode(), at.index, BUDGET)?;
        let now = found.call(at.index)?;
        let now = Place::In { turn: now.turn, call: now.call };
        let said = format!("turn {} call {}", at.turn, at.call);
        self.case(compared, comparison, change, &found, (now, &format!("{}.{}", at.turn, at.call), &said))
    }

    fn not_taken(
        &self,
        compared: &SessionDiff,
        comparison: &Comparison,
        change: &Change,
        at: AlternativeRef,
    ) -> Saved {
        let (session, mode) = (compared.session(), compared.mode());
        let (found, now) = witness::change_not_taken(session, comparison, mode, at, BUDGET)?;
        let AlternativeRef { turn, choice, call } = at;
        let said = format!("turn {turn} choice {choice} (not chosen) call {call}");
        let place = format!("{turn}.{choice}.{call}");
        self.case(compared, comparison, change, &found, (Place::NotTaken(now), &place, &said))
    }

    /// The case of a witness: where its call is now, and how it was named.
    fn case(
        &self,
        compared: &SessionDiff,
        comparison: &Comparison,
        change: &Change,
        found: &Witness,
        (now, place, said): (Place, &str, &str),
    ) -> Saved {
        let (session, mode) = (compared.session(), compared.mode());
        let replay = Replay::new(found.session(), comparison.policy(), mode);
        let kind = change.kind.word();
        let smallest =
            if found.minimal { "nothing can be left out of it" } else { "it may not be the smallest" };
        let comments = [
            format!("{kind}: {said} of {}, {}", session.id, session.origin.file),
            format!(
                "{} of {}; {smallest}",
                words::count(found.session().calls.len() as u64, "call"),
                session.calls.len()
            ),
        ];
        let draft = Draft {
            name: &format!("{} {place}: {kind}", session.id),
            comments: &comments,
            description: None,
            policy: &self.policy,
            without: &[],
            mode,
            session: found.session(),
            expect: &[decision_at(&replay, now)?],
        };
        let text = write(&draft).ok()?;
        Some((
            format!(
                "{}-{}-{}.case.yaml",
                file_name(&session.id),
                session.origin.index,
                place.replace('.', "_")
            ),
            text,
        ))
    }
}

/// An id as a part of a file's name, whatever was recorded.
fn file_name(id: &str) -> String {
    let plain = id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' });
    plain.take(80).collect()
}
