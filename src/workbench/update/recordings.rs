//! Recordings arrive, change and disappear; the user keeps their place.

use crate::workbench::model::overlay::BodyView;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::{go, judge, load, overlays};
use crate::explore::rows::{RowDraft, SessionRow};
use crate::stored::StoredSession;
use crate::workbench::effect::Effect;
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::message::Event;
use crate::workbench::model::supposed::Layer;
use crate::workbench::model::{
    Entry, Held, Judgement, Lost, Model, ReadSession, SessionChanges, SessionDecisions, Spot, Supposed,
};
use crate::workbench::popup::{body, findings};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;

/// Recordings are read, or were.
pub fn told(model: &mut Model, event: Event, effects: &mut Vec<Effect>) {
    match event {
        Event::Listing { files } => listing(model, files),
        Event::Sessions { file, sessions, diagnostics, progress } => {
            model.work.reading = Some(progress);
            part(model, &file, sessions, diagnostics, effects);
        }
        Event::File { file, sessions, diagnostics, progress } => {
            model.work.reading = Some(progress);
            whole(model, &file, sessions, diagnostics, effects);
        }
        Event::End { diagnostics } => {
            model.work.reading = None;
            model.archive.problems = diagnostics;
            overlays::renew(model);
            judge::tell_changed(model);
        }
    }
}

/// The files, in order. What was read of others is dropped.
fn listing(model: &mut Model, files: Vec<Arc<str>>) {
    if model.archive.files.are(&files) {
        return;
    }
    let place = Place::of(model);
    model.archive.files.list(files);
    model.archive.shed = 0;
    let before = std::mem::take(&mut model.archive.entries);
    let mut moved = vec![None; before.len()];
    let mut kept: Vec<(usize, Entry)> =
        before.into_iter().enumerate().filter(|(_, entry)| model.archive.files.has(&entry.file)).collect();
    // Stable: the sessions of a file stay in their order.
    kept.sort_by_key(|(_, entry)| model.archive.files.rank(&entry.file));
    for (now, (then, entry)) in kept.into_iter().enumerate() {
        if let Some(moved) = moved.get_mut(then) {
            *moved = Some(now);
        }
        model.archive.entries.push(entry);
    }
    place.keep(model, &|then| moved.get(then).copied().flatten());
}

/// A part of a file was read for the first time.
fn part(
    model: &mut Model,
    file: &Arc<str>,
    sessions: Vec<ReadSession>,
    diagnostics: Vec<Diagnostic>,
    effects: &mut Vec<Effect>,
) {
    model.archive.files.add(file);
    model.archive.files.hold(file, model.archive.files.held(file).and(held(&sessions, &diagnostics)));
    let own = model.entries_of(file);
    if sessions.is_empty()
        && let Some(entry) = model.archive.entries.get_mut(own.clone()).and_then(<[Entry]>::last_mut)
    {
        // Problems at the end of a file whose sessions are here already.
        entry.diagnostics.extend(diagnostics);
        entry.row.problems = entry.damaged();
        return;
    }
    let (new, looked) = made(model, file, sessions, diagnostics);
    let at = own.end;
    let all = at..at + new.len();
    if at == 0 || at < model.archive.entries.len() || model.archive.lost.is_some() {
        exchange(model, at..at, new);
    } else {
        // Sessions at the end, as nearly all during the first reading, move nothing.
        model.archive.sessions += new.iter().filter(|entry| entry.session.is_some()).count();
        model.archive.entries.extend(new);
    }
    arrive(model, all.clone().zip(looked));
    judge_new(model, all, effects);
}

/// Applies the results of the reading threads for sessions, if they still hold.
fn arrive(model: &mut Model, looked: impl Iterator<Item = (usize, Looked)>) {
    let (mut judged, mut compared) = (false, false);
    for (at, (decisions, changes)) in looked {
        let own = model.archive.entries.get(at).and_then(|entry| entry.session.as_ref());
        let is_own = |judgement: &Judgement| {
            judgement.generation == model.work.generation
                && own.is_some_and(|own| Arc::ptr_eq(own, &judgement.of))
        };
        let Some(decisions) = decisions.filter(|known| is_own(&known.judgement)) else { continue };
        judged = true;
        load::decide(model, at, decisions);
        if let Some(changes) = changes {
            compared = true;
            load::change(model, at, changes);
        }
    }
    if judged {
        load::decided(model);
    }
    if compared {
        judge::tell_changed(model);
    }
}

/// Asks for those of these entries to be judged that are not.
fn judge_new(model: &mut Model, all: Range<usize>, effects: &mut Vec<Effect>) {
    let unjudged = |at: &usize| {
        let entry = model.archive.entries.get(*at);
        entry.is_some_and(|entry| entry.session.is_some() && !entry.is_judged(model.work.generation))
    };
    let unjudged: Vec<usize> = all.filter(unjudged).collect();
    judge::judge(model, unjudged, effects);
}

/// A file was read again, whole.
fn whole(
    model: &mut Model,
    file: &Arc<str>,
    sessions: Vec<ReadSession>,
    diagnostics: Vec<Diagnostic>,
    effects: &mut Vec<Effect>,
) {
    model.archive.files.add(file);
    model.archive.files.hold(file, held(&sessions, &diagnostics));
    let own = model.entries_of(file);
    let (new, looked) = made(model, file, sessions, diagnostics);
    let all = own.start..own.start + new.len();
    exchange(model, own, new);
    arrive(model, all.clone().zip(looked));
    judge_new(model, all, effects);
}

/// The content of a file's sessions.
fn held(sessions: &[ReadSession], diagnostics: &[Diagnostic]) -> Held {
    Held::of(sessions.iter().map(|read| &*read.session), diagnostics)
}

/// The results of the reading threads for a session besides its row.
type Looked = (Option<SessionDecisions>, Option<SessionChanges>);

/// The rows of a file, and other results about its sessions.
fn made(
    model: &mut Model,
    file: &Arc<str>,
    sessions: Vec<ReadSession>,
    diagnostics: Vec<Diagnostic>,
) -> (Vec<Entry>, Vec<Looked>) {
    let (names, table) = (&mut model.archive.names, &mut model.archive.table);
    let number = names.of(file);
    let mut entry = |name: &Arc<str>, read: Option<(Arc<StoredSession>, RowDraft)>, diagnostics| {
        let (session, row) = match read {
            Some((session, draft)) => {
                let row = SessionRow::of_stored(&session, draft, number, names);
                (Some(session), row)
            }
            None => (None, SessionRow::unread(number)),
        };
        let mut entry = Entry {
            name: Arc::clone(name),
            file: Arc::clone(file),
            session,
            row,
            diagnostics,
            judgement: None,
            replay: None,
            base: None,
            changes: None,
            left_at: None,
            supposed: Supposed::default(),
        };
        entry.row.problems = entry.damaged();
        table.note_change();
        entry
    };
    if sessions.is_empty() {
        let told = Some(diagnostics).filter(|told| !told.is_empty());
        return (told.map(|told| entry(file, None, told)).into_iter().collect(), Vec::new());
    }
    let mut diagnostics = Some(diagnostics);
    let (mut entries, mut looked) = (Vec::with_capacity(sessions.len()), Vec::with_capacity(sessions.len()));
    for ReadSession { session, draft, decisions, changes } in sessions {
        let own = diagnostics.take().unwrap_or_default();
        entries.push(entry(&Arc::clone(&session.id), Some((session, draft)), own));
        looked.push((decisions, changes));
    }
    (entries, looked)
}

/// Replaces entries of one file by others. Unchanged ones stay as they are, decisions and all.
fn exchange(model: &mut Model, range: Range<usize>, new: Vec<Entry>) {
    let place = Place::of(model);
    let (start, end, count) = (range.start, range.end, new.len());
    let mut old: Vec<Entry> = model.archive.entries.splice(range, new).collect();
    let inside = same(&old, model.archive.entries.get(start..start + count).unwrap_or_default());
    for (old, now) in old.iter_mut().zip(&inside) {
        if let Some(entry) = now.and_then(|now| model.archive.entries.get_mut(start + now))
            && inherit(entry, old)
        {
            let name = Arc::clone(&entry.name);
            model.say(format!("{name} was recorded again: its what-ifs are dropped"));
        }
    }
    let moved = |then: usize| {
        if then < start {
            Some(then)
        } else if then < end {
            inside.get(then - start).copied().flatten().map(|at| start + at)
        } else {
            Some(then - end + start + count)
        }
    };
    place.keep(model, &moved);
}

/// For each old entry the index of the new one for the same session: by name, else by position if neither has a
/// namesake.
fn same(old: &[Entry], new: &[Entry]) -> Vec<Option<usize>> {
    let by_name: HashMap<&str, usize> =
        new.iter().enumerate().map(|(at, entry)| (&*entry.name, at)).collect();
    let named = |entry: &Entry| {
        by_name.get(&*entry.name).copied().filter(|at| new.get(*at).is_some_and(|new| new.is_named_as(entry)))
    };
    let mut inside: Vec<Option<usize>> = old.iter().map(named).collect();
    let taken: HashSet<usize> = inside.iter().flatten().copied().collect();
    for (at, place) in inside.iter_mut().enumerate() {
        if place.is_none()
            && !taken.contains(&at)
            && let (Some(old), Some(new)) = (old.get(at), new.get(at))
            && old.session.is_some()
            && new.session.is_some()
        {
            *place = Some(at);
        }
    }
    inside
}

/// Transfers state from a replaced entry to its successor. Returns whether a what-if of it no longer applies.
fn inherit(entry: &mut Entry, old: &mut Entry) -> bool {
    entry.left_at = old.left_at;
    let (Some(session), Some(before)) = (&entry.session, &old.session) else { return false };
    let same = before.is_equal(session);
    let goes_on = same || session.session().is_ok_and(|session| old.goes_on_as(&session));
    if goes_on {
        entry.supposed = std::mem::take(&mut old.supposed);
    }
    if same {
        entry.session = old.session.take();
        // The file may be damaged in another way than before.
        let problems = entry.row.problems;
        entry.row = old.row.clone();
        entry.row.problems = problems;
        entry.judgement = old.judgement.take();
        entry.replay = old.replay.take();
        entry.base = old.base.take();
        entry.changes = old.changes.take();
    } else if goes_on {
        // Until it is judged again, the decisions about its calls hold.
        entry.judgement = old.judgement.take();
        entry.replay = old.replay.take();
        entry.base = old.base.take();
    }
    old.supposed.top().is_some_and(Layer::is_hypothetical)
}

/// The user's position, while the list of sessions changes.
struct Place {
    open: usize,
    file: Option<Arc<str>>,
    name: Option<Arc<str>>,
    session: Option<Arc<StoredSession>>,
    content: Option<Arc<Session>>,
    list: List,
    /// How far below the first visible row the open session is in the list of sessions.
    below: usize,
}

impl Place {
    fn of(model: &Model) -> Self {
        let entry = model.entry();
        let sessions = model.list(Pane::Sessions);
        Self {
            open: model.place.open,
            file: entry.map(|entry| Arc::clone(&entry.file)),
            name: entry.map(|entry| Arc::clone(&entry.name)),
            session: entry.and_then(|entry| entry.session.clone()),
            content: model.content().cloned(),
            list: model.list(Pane::Transcript),
            below: sessions.cursor.saturating_sub(sessions.top),
        }
    }

    /// Restores all cursors: `moved` maps the places of entries to the new ones.
    fn keep(self, model: &mut Model, moved: &dyn Fn(usize) -> Option<usize>) {
        let spot = |spot: Spot| Some(Spot { entry: moved(spot.entry)?, ..spot });
        model.place.back = model.place.back.drain(..).filter_map(spot).collect();
        let marks = std::mem::take(&mut model.place.marks).into_iter();
        model.place.marks = marks.filter_map(|(letter, marked)| Some((letter, spot(marked)?))).collect();
        model.place.forward = model.place.forward.drain(..).filter_map(spot).collect();
        model.work.judged =
            model.archive.entries.iter().filter(|entry| entry.is_judged(model.work.generation)).count();
        let sessions = model.archive.entries.iter().filter(|entry| entry.session.is_some());
        model.archive.sessions = sessions.count();
        model.arrange();
        let below = self.below;
        if self.file.is_none() {
            // There was nothing before.
            model.place.open = 0;
            go::show_open(model);
        } else {
            match moved(self.open) {
                Some(now) => {
                    model.place.open = now;
                    self.show(model);
                }
                None => self.leave(model),
            }
        }
        back_to_lost(model);
        let (len, height) = Pane::Sessions.extent(model);
        let line = model.table_line_of(model.place.open).unwrap_or(model.list(Pane::Sessions).cursor);
        let list = model.list_mut(Pane::Sessions);
        list.top = line.saturating_sub(below);
        list.set(line, len, height);
        findings::recollect(model, moved);
    }

    /// If the open session is another version of itself, the same row stays under the cursor, at the same height.
    fn show(&self, model: &mut Model) {
        let now = model.entry().and_then(|entry| entry.session.as_ref());
        let same = match (&self.session, now) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        if same {
            return;
        }
        let rows = std::mem::take(&mut model.derived.rows);
        go::lay_out(model);
        let List { cursor, top } = self.list;
        let row = rows.get(cursor).and_then(|row| model.derived.rows.place_of(row)).unwrap_or(cursor);
        let (len, height) = Pane::Transcript.extent(model);
        let list = model.list_mut(Pane::Transcript);
        list.top = row.saturating_sub(cursor.saturating_sub(top));
        list.set(row, len, height);
        body::renew(model, &rows, self.content.as_ref());
    }

    /// The open session disappeared: the current content of its file is shown, else the session in its place, until it
    /// returns.
    fn leave(self, model: &mut Model) {
        model.dialog.close_all::<BodyView>();
        let last = model.archive.entries.len().saturating_sub(1);
        let (Some(file), Some(name)) = (self.file, self.name) else { return };
        let own = model.entries_of(&file);
        model.place.open = if own.is_empty() { self.open.min(last) } else { own.start };
        if self.session.is_some() {
            if own.is_empty() {
                model.say(format!("the session {name} is gone"));
            }
            model.archive.lost = Some(Lost { file, name, left_at: self.list });
        }
        go::show_open(model);
    }
}

/// A session that was open when it went is opened again as soon as it is back.
fn back_to_lost(model: &mut Model) {
    let Some(lost) = &model.archive.lost else { return };
    let range = model.entries_of(&lost.file);
    let within = model.archive.entries.get(range.clone()).unwrap_or_default();
    let is_back = |entry: &Entry| entry.session.is_some() && entry.name == lost.name;
    let Some(at) = within.iter().position(is_back) else { return };
    let left_at = lost.left_at;
    model.archive.lost = None;
    model.place.open = range.start + at;
    if let Some(entry) = model.archive.entries.get_mut(model.place.open) {
        entry.left_at = Some(left_at);
    }
    go::show_open(model);
}
