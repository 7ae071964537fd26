//! Rules about the tool of the selected call: requested, previewed, written and undone.

use super::look::look;
use std::collections::HashMap;
use std::sync::Arc;

use crate::stored::StoredSession;
use crate::suggest::about::Subject;
use crate::suggest::field::ResultField;
use crate::suggest::insert::NewHome;
use crate::workbench::effect::{Effect, Job};
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::model::suggest::{DraftView, FileWrite, SuggestView, SuggestWish, SuggestedRule};
use crate::workbench::model::supposed::Ask;
use crate::workbench::transcript::RowKind;
use crate::workbench::update::go;
use crate::workbench::update::save::{is_file, is_pattern};
use rulestep_base::session::{CallRef, Session};
use rulestep_engine::condition::path::Path;
use rulestep_engine::policy::Policy;

/// Asks for rules about the selected call, and about the marked one.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let (Some(session), Some(call)) = (model.session().cloned(), model.call()) else { return };
    let (call, mut subject) = (call.at, Subject { tool: Arc::clone(&call.tool), earlier: None });
    if let Some((marked, other)) = &model.place.other_call
        && Arc::ptr_eq(marked, &session)
        && let Some(other) = session.calls.get(*other as usize)
        && other.at.index != call.index
    {
        // Of two calls the rule is about the later one.
        let (earlier, later) = match other.at.index < call.index {
            true => (&other.tool, &subject.tool),
            false => (&subject.tool, &other.tool),
        };
        subject = Subject { tool: Arc::clone(later), earlier: Some(Arc::clone(earlier)) };
    }
    ask(model, subject, None, (session, call), effects);
}

/// Longest value for a condition: no rule compares longer texts.
const LONGEST: usize = 200;

/// Asks which tools could require the value under the cursor, in the body of a result.
pub fn open_field(model: &mut Model, effects: &mut Vec<Effect>) {
    match field(model) {
        Ok((field, of)) => {
            let subject = Subject { tool: Arc::clone(&field.tool), earlier: None };
            ask(model, subject, Some(field), of, effects);
        }
        Err(why) => model.say(why),
    }
}

/// The value under the cursor, and the call of its result.
fn field(model: &Model) -> Result<(ResultField, (Arc<Session>, CallRef)), &'static str> {
    let Some(view) = model.dialog.top::<BodyView>() else { return Err("no body is open") };
    let session = model.session().ok_or("no session is open")?;
    let Some(RowKind::Result(index)) = model.derived.rows.get(view.row).map(|row| row.kind) else {
        return Err("this is no result; a contract looks into the results of earlier calls");
    };
    let call = session.calls.get(index as usize).ok_or("the call of this result is not known")?;
    let path =
        view.document.path(view.list.cursor).ok_or("this result is not JSON, so no path leads into it")?;
    let parsed = Path::parse(&path).map_err(|_| "no JSONPath leads here")?;
    let value = call.output.value().and_then(|value| parsed.one(value));
    let value = value.ok_or("rules see another form of this result, and the path finds nothing there")?;
    let text = value.to_string();
    if text.len() > LONGEST {
        return Err("this value is too long to compare; choose a field inside it");
    }
    let field = ResultField { tool: Arc::clone(&call.tool), path: path.into(), value: text.into() };
    Ok((field, (Arc::clone(session), call.at)))
}

fn ask(
    model: &mut Model,
    subject: Subject,
    field: Option<ResultField>,
    (session, call): (Arc<Session>, CallRef),
    effects: &mut Vec<Effect>,
) {
    let sessions: Vec<Arc<StoredSession>> =
        model.scope().filter_map(|at| model.archive.entries.get(at)?.session.clone()).collect();
    let policy = model.basis.rules.policy.clone().unwrap_or_else(Policy::empty);
    let recorded = model.entry().filter(|_| !model.supposes()).and_then(|entry| entry.session.clone());
    let home = home(model);
    let wish = Arc::new(SuggestWish { subject, field, session, recorded, call, sessions, policy, home });
    let number = model.work.next_number();
    let view = SuggestView { number, wish: Arc::clone(&wish), rows: None, list: List::default() };
    model.dialog.open(view);
    effects.push(Effect::Job(Job {
        number,
        name: "looking for rules",
        patient: true,
        work: Box::new(move |is_over| {
            let rows = look(&wish, is_over)?;
            Some(Box::new(move |model| arrived(model, number, rows)))
        }),
        lost: Some(Box::new(move |model| arrived(model, number, Vec::new()))),
    }));
}

/// The place for a rule whose tool has no contract; or why nothing can be written.
fn home(model: &Model) -> Result<NewHome, &'static str> {
    if model.basis.rules.stale {
        return Err("the policy's files do not load just now");
    }
    if model.archive.built_in.policy {
        return Err("this policy is a sample inside the program; open a folder with -p");
    }
    let path = model.basis.paths.first().ok_or("no policy is open; open a folder with -p")?;
    match () {
        () if path.starts_with("git:") => Err("a version from git is not changed"),
        () if is_pattern(path) => Err("the policy is named by a pattern; open its folder with -p"),
        () if is_file(path) => Ok(NewHome::File(path.clone())),
        () => Ok(NewHome::Folder(path.trim_end_matches(['/', '\\']).to_owned())),
    }
}

/// Marks the selected call, so that rules are about it and another one; or no longer.
pub fn mark(model: &mut Model) {
    let (Some(session), Some(call)) = (model.session().cloned(), model.call()) else {
        return model.say("no call is selected");
    };
    let (index, tool) = (call.at.index, crate::report::words::name(&call.tool).into_owned());
    let same = |(known, other): &(Arc<Session>, u32)| Arc::ptr_eq(known, &session) && *other == index;
    if model.place.other_call.as_ref().is_some_and(same) {
        model.place.other_call = None;
        return model.say("no call is chosen any more");
    }
    model.place.other_call = Some((session, index));
    let key = model.key(Command::Suggest);
    model.say(format!("{tool} is chosen; {key} on another call suggests rules about both"));
}

/// The rules are there. What answers an older request is dropped.
fn arrived(model: &mut Model, number: u64, mut rows: Vec<SuggestedRule>) {
    let known = model.archive.entries.iter().enumerate();
    let places: HashMap<*const StoredSession, usize> =
        known.filter_map(|(at, entry)| Some((Arc::as_ptr(entry.session.as_ref()?), at))).collect();
    let entries = &model.archive.entries;
    for view in model.dialog.views_mut::<SuggestView>() {
        if view.number != number {
            continue;
        }
        for row in &mut rows {
            let is_new = |(session, call): &&(usize, rulestep_base::session::CallRef)| {
                let session = view.wish.sessions.get(*session).map(Arc::as_ptr);
                let entry = session.and_then(|session| entries.get(*places.get(&session)?));
                let allowed = entry.and_then(|entry| entry.row.is_allowed(call.index as usize));
                allowed.unwrap_or(true)
            };
            let (new, known): (Vec<_>, Vec<_>) =
                row.proposal.broken.iter().copied().partition(|one| is_new(&one));
            row.newly = new.len();
            row.proposal.broken = [new, known].concat();
        }
        view.rows = Some(rows);
        return;
    }
}

/// Shows the file with the rule under the cursor.
pub fn enter(model: &mut Model) {
    let Some(view) = model.dialog.top::<SuggestView>() else { return };
    let Some(row) = view.row() else { return };
    match &row.insertion {
        Ok(insertion) => {
            let draft = DraftView::new(insertion.clone(), row.sentence.clone());
            model.dialog.open(draft);
        }
        Err(why) => {
            let why = format!("not to be written: {why}");
            model.fail(why);
        }
    }
}

/// Writes the file.
pub fn write(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(view) = model.dialog.top::<DraftView>() else { return };
    let insertion = &view.insertion;
    effects.push(Effect::Write {
        write: Box::new(FileWrite {
            file: Arc::clone(&insertion.file),
            before: insertion.before.clone(),
            after: Some(Arc::clone(&insertion.after)),
        }),
        undo: false,
    });
}

/// Opens the text in the person's editor, before anything is written.
pub fn edit(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(view) = model.dialog.top::<DraftView>() else { return };
    effects.push(Effect::Compose { ask: Ask::Rule, text: view.insertion.after.to_string() });
}

/// The edited text. If it does not load it is not written, and can be edited again.
pub fn composed(model: &mut Model, text: &str) {
    let policy = model.basis.rules.policy.clone().unwrap_or_else(Policy::empty);
    let Some(view) = model.dialog.top_mut::<DraftView>() else { return };
    match view.insertion.with_text(text, &policy) {
        Ok(insertion) => *view = DraftView::new(insertion, view.sentence.clone()),
        Err(why) => {
            let text = format!("the edited text is not taken: {why}");
            model.fail(text);
        }
    }
}

/// It is written, or the write is undone.
pub fn written(model: &mut Model, write: FileWrite, undo: bool, effects: &mut Vec<Effect>) {
    let text = match (undo, &write.after) {
        (false, _) => {
            let key = model.key(Command::UndoWrite);
            format!("wrote {}; {key} takes it back", write.file)
        }
        (true, None) => format!("removed {}", write.file),
        (true, Some(_)) => format!("{} is as it was before", write.file),
    };
    if !undo {
        model.basis.writes.push(write);
        model.dialog.close_all::<SuggestView>();
        model.dialog.close_all::<DraftView>();
        model.dialog.close_all::<BodyView>();
        go::focus(model, Pane::Transcript);
    }
    model.basis.wrote = Some(text.clone());
    model.say(text);
    effects.push(Effect::LoadPolicy);
}

/// Takes the last write back, if the file is still as it was written.
pub fn undo(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(write) = model.basis.writes.pop() {
        effects.push(Effect::Write { write: Box::new(write.inverse()), undo: true });
    }
}
