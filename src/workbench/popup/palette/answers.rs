//! The matches for typed words in lists of commands.

use super::state::{PaletteRow, PaletteView, with_argument};
use crate::explore::table::Column;
use crate::report::words;
use crate::workbench::keys::{self, Argument, Command, Place, Scope};
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::model::table::FILE_ORDER;
use crate::workbench::theme::BUILTIN;

impl PaletteView {
    /// With no text.
    pub fn new(model: &Model, scope: Scope) -> Self {
        let mut view = Self {
            scope,
            list: List::default(),
            typed: String::new(),
            rows: Vec::new(),
            theme: None,
            recalled: None,
        };
        view.collect(model);
        view
    }

    /// Collects the answers to the typed text.
    pub fn collect(&mut self, model: &Model) {
        self.list = List::default();
        let typed = self.typed.trim_start();
        if let Some((command, argument, value)) = with_argument(typed) {
            self.rows = values(model, command, argument, value.trim());
            return;
        }
        let typed = typed.trim_end();
        let mut rows = values(model, Command::GoTo, Argument::Place, typed);
        let words: Vec<&str> = typed.split_whitespace().collect();
        let facts = &model.derived.facts;
        let mut found: Vec<(u32, bool, Command)> = keys::TABLE
            .iter()
            .filter_map(|row| {
                let ranks =
                    words.iter().map(|word| model.preferences.keymap.rank(row.command, word).map(u32::from));
                let rank = ranks.sum::<Option<u32>>()?;
                Some((rank, self.missing(row.command, facts).is_some(), row.command))
            })
            .collect();
        // Stable: equal answers stay in the order of the table.
        found.sort_by_key(|(rank, missing, _)| (*rank, *missing));
        rows.extend(found.into_iter().map(|(.., command)| PaletteRow::Command(command)));
        self.rows = rows;
    }
}

/// The possible values of a command's argument that match `typed`.
fn values(model: &Model, command: Command, argument: Argument, typed: &str) -> Vec<PaletteRow> {
    let mut values: Vec<(String, String)> = match argument {
        Argument::Theme => {
            let of = |name: &str| {
                if name == model.theme.name { "the theme that is used".to_owned() } else { String::new() }
            };
            theme(typed).into_iter().map(|name| (name.to_owned(), of(name))).collect()
        }
        Argument::Version => [
            ("git:HEAD", "as committed"),
            ("git:HEAD~1", "as committed before that"),
            ("recorded", "what was refused at the time"),
            ("live", "what a gate decided at the time"),
        ]
        .into_iter()
        .filter(|(name, _)| name.contains(typed))
        .map(|(name, doc)| (name.to_owned(), doc.to_owned()))
        .collect(),
        Argument::Letter => model
            .place
            .marks
            .keys()
            .filter(|letter| typed.is_empty() || typed.starts_with(**letter))
            .map(|letter| (letter.to_string(), model.marked(*letter)))
            .collect(),
        Argument::Place => places(model, typed),
        Argument::File => [
            ("screen.svg", "the screen as a picture"),
            ("session.html", "this session as a page for people who do not have the program"),
            ("session.md", "this session as Markdown for a ticket"),
        ]
        .into_iter()
        .filter(|(name, _)| typed.is_empty() || name.starts_with(typed))
        .map(|(name, doc)| (name.to_owned(), doc.to_owned()))
        .collect(),
        Argument::Filter => Vec::new(),
        Argument::Column => columns(model, typed),
    };
    if !argument.is_closed() && !typed.is_empty() && values.iter().all(|(value, _)| value != typed) {
        values.insert(0, (typed.to_owned(), "as typed".to_owned()));
    }
    values.into_iter().map(|(value, doc)| PaletteRow::Value { command, value, doc }).collect()
}

/// The columns of the list of sessions whose names hold `typed`.
fn columns(model: &Model, typed: &str) -> Vec<(String, String)> {
    let sorted = model.archive.table.sort;
    let none = (FILE_ORDER.to_owned(), if sorted.is_none() { "as they are now" } else { "" }.to_owned());
    let column = |column: Column| {
        let again = model.key(Command::SortSessions);
        let doc = match sorted {
            Some((sorted, false)) if sorted == column => {
                format!("as they are now; {again}, or chosen again: descending")
            }
            Some((sorted, true)) if sorted == column => {
                format!("as they are now, descending; {again}, or chosen again: ascending")
            }
            _ => String::new(),
        };
        (column.word().to_owned(), doc)
    };
    let columns = Column::ALL.into_iter().map(column).chain([none]);
    columns.filter(|(word, _)| word.contains(&typed.to_lowercase())).collect()
}

/// The places of the open session that `typed` can mean: a number can be that of a call or of a turn.
fn places(model: &Model, typed: &str) -> Vec<(String, String)> {
    let (Some(session), Some(place)) = (model.session(), keys::place(typed)) else { return Vec::new() };
    let call = |index: u32| {
        let call = session.calls.get(index.checked_sub(1)? as usize)?;
        let all = words::count(session.calls.len() as u64, "call");
        Some((index.to_string(), format!("{} of {all}: {}", index, call.tool)))
    };
    let turn = |number: u32| {
        session.turns.iter().find(|turn| turn.number == number)?;
        let all = words::count(session.turns.len() as u64, "turn");
        Some((format!("T{number}"), format!("{number} of {all}")))
    };
    let found = match place {
        Place::Call(number) => [call(number), turn(number)],
        Place::Turn(number) => [turn(number), None],
        Place::CallOfTurn(turn, number) => {
            let call = session.calls.iter().find(|call| (call.at.turn, call.at.call) == (turn, number));
            [call.map(|call| (format!("T{turn}.{number}"), call.tool.to_string())), None]
        }
    };
    found.into_iter().flatten().collect()
}

/// The themes whose names hold `typed`, those that begin with it first.
fn theme(typed: &str) -> Vec<&'static str> {
    let typed = typed.to_lowercase();
    let mut names: Vec<&str> =
        BUILTIN.map(|(name, _)| name).into_iter().filter(|name| name.contains(&typed)).collect();
    names.sort_by_key(|name| !name.starts_with(&typed));
    names
}
