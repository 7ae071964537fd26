//! Looking for rules about a call, and writing them.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::report::suggest::{sentence, support};
use crate::suggest::about::{Proposal, about};
use crate::suggest::insert::{NotInserted, insert};
use crate::workbench::effect::SuggestRequest;
use crate::workbench::message::Msg;
use crate::workbench::model::suggest::{FileWrite, SuggestWish, SuggestedRule};

/// Looks for rules, as long as `newest` is the number of this request.
pub fn look(request: &SuggestRequest, newest: &AtomicU64) -> Option<Msg> {
    let SuggestRequest { number, wish } = request;
    let is_over = || newest.load(Ordering::SeqCst) != *number;
    let proposals = about(&wish.sessions, &wish.subject, &is_over);
    let mut rows: Vec<SuggestedRule> = proposals.into_iter().map(|proposal| row(proposal, wish)).collect();
    // What is a rule already comes last.
    rows.sort_by_key(|row| matches!(row.insertion, Err(NotInserted::Present(..))));
    (!is_over()).then_some(Msg::Suggested { number: *number, rows })
}

fn row(proposal: Proposal, wish: &SuggestWish) -> SuggestedRule {
    let (sentence, support) = (sentence(&proposal.suggestion), support(&proposal.suggestion));
    let insertion = match &wish.home {
        Ok(home) => {
            let notes = [sentence.clone(), support.clone()];
            insert(&proposal.candidate(), &notes, &wish.policy, home)
        }
        Err(why) => Err(NotInserted::NoHome(why)),
    };
    let is_this = |(session, call): &(usize, crate::session::CallRef)| {
        let session = wish.sessions.get(*session);
        *call == wish.call && session.is_some_and(|session| std::sync::Arc::ptr_eq(session, &wish.session))
    };
    let stops_this = proposal.broken.iter().any(is_this);
    SuggestedRule { sentence, support, proposal, stops_this, newly: 0, insertion }
}

/// Writes a file that is still as it was when somebody looked at it.
pub fn write(write: FileWrite, undo: bool) -> Msg {
    let failed = |text: String| Msg::Note { failed: true, text };
    match put(&write) {
        Ok(()) => Msg::Written { write: Box::new(write), undo },
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            failed(format!("`{}` was changed meanwhile, so it was not written", write.file))
        }
        Err(error) => failed(format!("`{}` cannot be written: {error}", write.file)),
    }
}

/// In one step, so that the file is never seen half written.
fn put(write: &FileWrite) -> io::Result<()> {
    let path = Path::new(&*write.file);
    let changed = || io::Error::from(io::ErrorKind::AlreadyExists);
    let Some(before) = &write.before else {
        let text = write.after.as_deref().unwrap_or_default();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        return fs::File::create_new(path)?.write_all(text.as_bytes());
    };
    // A link stays one.
    let path = fs::canonicalize(path)?;
    if fs::read(&path)? != before.as_bytes() {
        return Err(changed());
    }
    let Some(after) = &write.after else { return fs::remove_file(&path) };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new().prefix(".rulestep-").suffix(".tmp").tempfile_in(folder)?;
    beside.write_all(after.as_bytes())?;
    fs::set_permissions(beside.path(), fs::metadata(&path)?.permissions())?;
    beside.persist(&path).map(drop).map_err(|error| error.error)
}
