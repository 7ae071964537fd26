//! Text that arrives as one piece: a paste, or keys that came faster than anyone types.

use tui_input::{Input, InputRequest};

use super::search;
use crate::report::words;
use crate::workbench::model::Model;

/// Bytes that a prompt holds. What is longer is no search and no file name, and each key would cost as much again.
pub const MOST: usize = 10_000;

/// A paste: a prompt takes its first line in one step and reports the cut; commands are never made of it.
pub fn pasted(model: &mut Model, text: &str) {
    let characters = text.chars().count();
    let Some(prompt) = &mut model.dialog.prompt else {
        if characters > 0 {
            let ignored = words::count(characters as u64, "pasted character");
            model.say(format!("{ignored} ignored: only a prompt takes a paste"));
        }
        return;
    };
    let lines = || text.split(['\n', '\r']).filter(|line| !line.trim().is_empty());
    let first = lines().next().unwrap_or_default();
    let whole: String = first.chars().filter_map(typeable).collect();
    let room = MOST.saturating_sub(prompt.input.value().len());
    let taken = within(&whole, room);
    let (lines, fits) = (lines().count(), taken.len() == whole.len());
    let of_line = |part: &str| words::count(part.chars().count() as u64, "character");
    prompt.cut = match (lines, fits) {
        (0 | 1, true) => None,
        (0 | 1, false) => Some(format!("pasted {} of {}", of_line(taken), of_line(&whole))),
        (_, true) => Some(format!("pasted the first of {}", words::count(lines as u64, "line"))),
        (_, false) => {
            let lines = words::count(lines as u64, "line");
            Some(format!("pasted {} of the first of {lines}", of_line(taken)))
        }
    };
    prompt.refused = None;
    insert(&mut prompt.input, taken);
    search::apply(model);
}

/// Keys that arrived together with the one that opened a prompt are its text: a search for every letter would delay the
/// last one.
pub fn typed(model: &mut Model, rest: &str) {
    let Some(prompt) = &mut model.dialog.prompt else { return };
    let room = MOST.saturating_sub(prompt.input.value().len());
    (prompt.cut, prompt.refused, model.dialog.note) = (None, None, None);
    insert(&mut prompt.input, within(rest, room));
    search::apply(model);
}

/// The beginning of a text, in at most this many bytes.
fn within(text: &str, bytes: usize) -> &str {
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= bytes).last();
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// A character as it can be in one line of text; none for those that cannot.
fn typeable(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    }
}

/// Puts text at the cursor in one step: character by character each would move all that follow.
fn insert(input: &mut Input, text: &str) {
    let at = input.cursor();
    let value = input.value();
    let split = value.char_indices().nth(at).map_or(value.len(), |(byte, _)| byte);
    let (before, after) = value.split_at(split);
    *input = Input::new(format!("{before}{text}{after}"));
    input.handle(InputRequest::SetCursor(at + text.chars().count()));
}
