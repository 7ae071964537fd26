//! Positions that the user marks with a letter, to go back to them.

use super::{go, jump};
use crate::workbench::model::Model;

/// Marks the selected row.
pub fn set(model: &mut Model, letter: char) {
    let spot = model.spot();
    let again = model.place.marks.insert(letter, spot).is_some();
    let (row, name) = (model.row().map(|row| row.turn), model.entry().map(|entry| entry.name.clone()));
    let place = row.map(|turn| format!(" T{turn}")).unwrap_or_default();
    let moved = if again { ", no longer where it was" } else { "" };
    model.say(format!("bookmark {letter}: {}{place}{moved}", name.unwrap_or_default()));
}

/// Goes to the position of a letter.
pub fn go(model: &mut Model, letter: char) -> Result<(), String> {
    let Some(spot) = model.place.marks.get(&letter).copied() else {
        let known: Vec<String> = model.place.marks.keys().map(char::to_string).collect();
        let known = if known.is_empty() {
            "no bookmark is set".to_owned()
        } else {
            format!("bookmarks: {}", known.join(" "))
        };
        return Err(format!("there is no bookmark {letter}; {known}"));
    };
    jump::leave(model);
    go::open(model, spot.entry);
    go::to_row(model, spot.row);
    Ok(())
}
