//! The bottom line: typed text, an answer, else the most useful keys; and background work.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::workbench::keys::{Command, chord};
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{Model, Prompt};
use crate::workbench::paint::Row;
use crate::workbench::text;
use crate::workbench::theme::Role;

/// Draws the bottom line; returns the position of the text cursor, while text is typed.
pub fn draw(model: &Model, buf: &mut Buffer, area: Rect) -> Option<Position> {
    let theme = &model.theme;
    let width = usize::from(area.width);
    let work = work(model);
    let room = width.saturating_sub(if work.is_empty() { 0 } else { work.len() + 2 });
    let mut row = Row::new(theme, room);
    row.gap(1);
    let mut cursor = None;
    if let Some((prompt, ask)) =
        model.dialog.prompt.as_ref().and_then(|prompt| Some((prompt, prompt.ask.as_ref()?)))
    {
        cursor = asking(model, prompt, ask, &mut row).map(|at| Position::new(area.x + at, area.y));
    } else if let Some(prompt) = &model.dialog.prompt {
        let (sign, hint) = match model.dialog.popup() {
            Some(popup) => popup.typing(),
            None => ("/", "Enter keeps, Esc goes back"),
        };
        row.put(Role::Key, sign);
        let refused = prompt.cut.as_ref().or(prompt.refused.as_ref());
        let (role, hint) = match refused {
            Some(refused) => (Role::StatusProblem, refused.as_str()),
            None => (Role::KeyDoc, hint),
        };
        // Even with little room, cut or refused input is reported.
        let kept = if refused.is_some() { (hint.len() + 3).min(row.left() * 2 / 3) } else { 0 };
        let at = put_typed(prompt, &mut row, kept);
        cursor = Some(Position::new(area.x + u16::try_from(at).unwrap_or(0), area.y));
        row.gap(3).put(role, hint);
    } else if let Some(note) = &model.dialog.note {
        row.put(if note.failed { Role::StatusProblem } else { Role::StatusNote }, &note.text);
    } else if let Some(count) = model.dialog.count.filter(|count| !count.is_pane()) {
        row.put(Role::Key, &format!("{}{}", count.number, chord::spell(&model.dialog.pending)));
        row.gap(1).put(Role::KeyDoc, "times the next movement or jump");
    } else if !model.dialog.pending.is_empty() {
        row.put(Role::Key, &chord::spell(&model.dialog.pending));
        row.gap(1).put(Role::KeyDoc, "waits for one more key");
    } else {
        hints(model, &mut row);
    }
    row.draw(buf, area.x, area.y);
    if !work.is_empty() {
        let mut row = Row::new(theme, work.len() + 1);
        row.put(Role::StatusNote, &work);
        row.draw(
            buf,
            area.right().saturating_sub(u16::try_from(work.len() + 1).unwrap_or(0)).max(area.x),
            area.y,
        );
    }
    cursor
}

/// A prompt: of a long text the part around the cursor. Returns the cursor's column.
fn asking(model: &Model, prompt: &Prompt, ask: &Ask, row: &mut Row<'_>) -> Option<u16> {
    const HINT: &str = "  Enter, Esc";
    const EDITOR: &str = ", Ctrl-x editor";
    let typed = text::width(prompt.input.value(), model.theme.marks(), row.left());
    let most = (row.left() * 2 / 5).max(row.left().saturating_sub(typed + 4));
    match &prompt.refused {
        Some(why) => row.put_at_most(Role::StatusProblem, why, most),
        None => row.put_at_most(Role::Key, &ask.label(model), most),
    };
    row.put(Role::Key, ": ");
    let (role, hint) = match (row.left(), ask, &prompt.cut) {
        (_, _, Some(cut)) => (Role::StatusProblem, format!("  {cut}")),
        (40.., Ask::Expression, _) => (Role::KeyDoc, "  Tab language, Enter, Esc".to_owned()),
        (60.., Ask::Save | Ask::Base | Ask::Filter | Ask::Search, _) | (40..=59, ..) => {
            (Role::KeyDoc, HINT.to_owned())
        }
        (60.., ..) => (Role::KeyDoc, format!("{HINT}{EDITOR}")),
        _ => (Role::KeyDoc, String::new()),
    };
    let end = row.used() + row.left().saturating_sub(hint.len());
    let at = put_typed(prompt, row, hint.len());
    row.to(end).put(role, &hint);
    u16::try_from(at).ok()
}

/// Puts the typed text, leaving `kept` columns: of a long text the part around the cursor. Returns the cursor's column.
fn put_typed(prompt: &Prompt, row: &mut Row<'_>, kept: usize) -> usize {
    let (marks, room) = (row.theme().marks(), row.left().saturating_sub(kept));
    let value = prompt.input.value();
    let split = value.char_indices().nth(prompt.input.cursor()).map_or(value.len(), |(at, _)| at);
    let (before, rest) = value.split_at(split);
    let before = if text::width(before, marks, room + 1) >= room {
        tail_of(before, room * 2 / 3, marks)
    } else {
        before.to_owned()
    };
    let at = row.used() + text::width(&before, marks, room);
    row.put_at_most(Role::Text, &format!("{before}{rest}"), room);
    at
}

/// The end of a text that fits, with a mark before it. It is looked for from the end on: the text may be a long paste.
fn tail_of(value: &str, room: usize, marks: text::Marks) -> String {
    let ends = value.char_indices().rev().map(|(at, _)| value.get(at..).unwrap_or_default());
    let fitting = ends.take_while(|end| text::width(end, marks, room + 1) < room);
    format!("{}{}", marks.ellipsis(), fitting.last().unwrap_or_default())
}

/// Work under way, in a few words.
fn work(model: &Model) -> String {
    if model.work.looking.is_some() {
        return "looking for a minimal example".to_owned();
    }
    if let Some((done, all)) = model.work.reading {
        return if all == 0 { "reading".to_owned() } else { format!("reading {done}/{all} files") };
    }
    let compared = model.basis.changes.counts().0;
    match model.judging() {
        Some((done, all)) => format!("judging {done}/{all}"),
        None if model.comparison().is_some() && compared < model.session_count() => {
            format!("comparing {compared}/{}", model.session_count())
        }
        None => String::new(),
    }
}

/// The keys most wanted here, each pair with one word.
fn hints(model: &Model, row: &mut Row<'_>) {
    let wanted = match model.dialog.popup() {
        Some(popup) => popup.hints(),
        None => model.place.focus.hints(model),
    };
    let facts = &model.derived.facts;
    let edit = match model.editable().map(|target| target.word) {
        Some("recording") => "edit recording",
        Some("case") => "edit case",
        _ => "edit rule",
    };
    let usable: Vec<(String, &str)> = wanted
        .iter()
        .filter(|(commands, _)| commands.iter().all(|command| (command.row().missing)(facts).is_none()))
        .map(|(commands, word)| {
            let word = if *commands == [Command::Edit] { edit } else { *word };
            let keys: Vec<_> = commands.iter().map(|command| model.key(*command)).collect();
            (keys.join("/"), word)
        })
        .collect();
    // Help and quit come last and are never cut.
    let width = |(keys, word): &(String, &str)| keys.chars().count() + 1 + word.len() + 2;
    let mut total: usize = usable.iter().map(width).sum();
    let keep = usable.len().saturating_sub(2);
    let mut shown: Vec<bool> = vec![true; usable.len()];
    for at in (0..keep).rev() {
        if total <= row.left() {
            break;
        }
        total -= usable.get(at).map_or(0, width);
        if let Some(shown) = shown.get_mut(at) {
            *shown = false;
        }
    }
    for ((keys, word), shown) in usable.iter().zip(shown) {
        if shown {
            row.put(Role::Key, keys).gap(1).put(Role::KeyDoc, word).gap(2);
        }
    }
}
