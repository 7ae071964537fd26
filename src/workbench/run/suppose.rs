//! Background work on what-ifs: judging them, searching for witnesses, saving cases.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::case::judge::judge;
use crate::case::read::read;
use crate::case::write::{Draft, decision_at, up_to, write};
use crate::files;
use crate::files::replace::{Expected, NotWritten, replace};
use crate::witness::{self, BUDGET, Budget, Witness};
use crate::workbench::effect::{Save, Suppose, Wanted};
use crate::workbench::message::Msg;
use rulestep_base::source::Source;
use rulestep_engine::replay::Replay;

/// Time limit for a witness; then the smallest part found so far is shown.
const PATIENCE: Duration = Duration::from_secs(15);

/// Judges a supposed session.
pub fn suppose(suppose: &Suppose) -> Msg {
    let Suppose { number, premise } = suppose;
    let answer = premise.what_if.suppose(&premise.session, &premise.policy).map(|hypothesis| {
        let replay = Replay::new(&hypothesis.session, &hypothesis.policy, premise.mode);
        Box::new((hypothesis, replay))
    });
    Msg::Supposed { number: *number, answer }
}

/// Searches for a witness, as long as `newest` is the number of this request.
pub fn look(wanted: &Wanted, newest: &AtomicU64) -> Msg {
    let begun = Instant::now();
    let over = || newest.load(Ordering::SeqCst) != wanted.number || begun.elapsed() > PATIENCE;
    let budget = Budget { replays: BUDGET, over: &over };
    let Wanted { number, session, against, policy, mode, call } = wanted;
    let found: Option<Witness> = match against {
        Some(against) => witness::change(session, against, *mode, *call, budget),
        None => witness::denial(session, policy, *mode, *call, budget),
    };
    Msg::Witness { number: *number, found: found.map(Box::new) }
}

/// Saves a case that passes as it is written, and says where.
pub fn save(save: &Save) -> Msg {
    let failed = |text: String| Msg::Note { failed: true, text };
    let made = catch_unwind(AssertUnwindSafe(|| text(save)));
    let text = match made {
        Ok(Ok(text)) => text,
        Ok(Err(why)) => return failed(format!("not saved: {why}")),
        Err(_) => return failed("not saved: a fault of the program while writing the case".to_owned()),
    };
    match replace(Path::new(&save.file), Expected::Nothing, &text) {
        Ok(()) if save.stale => Msg::Note {
            failed: false,
            text: format!("saved {}; it passes once the policy's files load again", save.file),
        },
        Ok(()) => Msg::Note {
            failed: false,
            text: format!("saved {}; `rulestep test {}` passes", save.file, quoted(&save.file)),
        },
        // Changes to an earlier one are not lost.
        Err(NotWritten::Exists) => Msg::Taken { file: save.file.clone() },
        Err(error) => failed(format!("{} cannot be written: {error}", save.file)),
    }
}

fn quoted(file: &str) -> String {
    shlex::try_quote(file).map_or_else(|_| file.to_owned(), |quoted| quoted.into_owned())
}

/// The case's text, judged as it will be read.
fn text(save: &Save) -> Result<String, String> {
    let folder = match Path::new(&save.file).parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_string_lossy().into_owned(),
        _ => ".".to_owned(),
    };
    fs::create_dir_all(&folder).map_err(|error| format!("the folder {folder} cannot be made: {error}"))?;
    if let Some(nowhere) = save.policies.iter().find(|policy| !Path::new(policy).exists()) {
        return Err(format!("a case refers to files, and there is no `{nowhere}` to refer to"));
    }
    let policy: Vec<String> = save.policies.iter().map(|path| files::from(&folder, path)).collect();
    let session = up_to(&save.session, save.turn);
    let replay = Replay::new(&session, &save.policy, save.mode);
    let draft = Draft {
        name: &save.name,
        comments: &save.comments,
        description: None,
        policy: &policy,
        without: &save.without,
        mode: save.mode,
        session: &session,
        expect: &[decision_at(&replay, save.call).ok_or("the call is not in it")?],
    };
    let text = write(&draft).map_err(|error| error.to_string())?;
    let again = read(&Source::new(save.file.as_str(), text.as_str()), true);
    let case = again.cases.first().ok_or("it would not be read as a case")?;
    let crate::case::CaseSession::Inline(session) = &case.session else {
        return Err("it would not be read as a case".to_owned());
    };
    match judge(case, &Arc::clone(session), &save.policy).passes() {
        true => Ok(text),
        false => Err("read again, the case would not pass".to_owned()),
    }
}
