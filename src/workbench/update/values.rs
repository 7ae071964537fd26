//! Commands that are run with a typed argument.

use super::{compare, export, go, jump, marks, table};
use crate::workbench::effect::Effect;
use crate::workbench::keys::{self, Command, Place};
use crate::workbench::model::Model;
use crate::workbench::popup::palette::themes;

/// Runs a command with the text typed after its name, or returns why that cannot be taken.
pub fn run(
    model: &mut Model,
    command: Command,
    value: &str,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    match command {
        Command::Theme => {
            model.theme = themes::theme(model, value).ok_or_else(|| format!("no theme `{value}`"))?;
            model.say(format!("theme {value}"));
        }
        Command::Base => compare::answered(model, value, effects),
        Command::GoTo => go_to(model, value)?,
        Command::SetMark => marks::set(model, letter(value)?),
        Command::GoMark => marks::go(model, letter(value)?)?,
        Command::Export => effects.push(export::export(model, value)?),
        Command::SortSessions => table::sort(model, value)?,
        Command::FilterSessions => table::filter(model, value)?,
        _ => return Err(format!("`{}` takes nothing after its name", command.row().name)),
    }
    Ok(())
}

fn letter(value: &str) -> Result<char, String> {
    let mut letters = value.chars().filter(char::is_ascii_alphanumeric);
    match (letters.next(), value.chars().count()) {
        (Some(letter), 1) => Ok(letter),
        _ => Err("a bookmark is one letter or digit".to_owned()),
    }
}

fn go_to(model: &mut Model, value: &str) -> Result<(), String> {
    let row = keys::place(value).and_then(|place| {
        let session = model.session()?;
        match place {
            Place::Call(number) => model.derived.rows.of_call(number - 1),
            Place::Turn(turn) => model.derived.rows.of_turn(turn),
            Place::CallOfTurn(turn, number) => {
                let call =
                    session.calls.iter().find(|call| (call.at.turn, call.at.call) == (turn, number))?;
                model.derived.rows.of_call(call.at.index)
            }
        }
    });
    let row = row.ok_or_else(|| format!("this session has no `{value}`"))?;
    jump::leave(model);
    go::to_row(model, row);
    Ok(())
}
