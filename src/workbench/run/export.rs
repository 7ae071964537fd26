//! Writing the screen and documents into files.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::files::replace::{self, Expected, NotWritten};
use crate::report::{single, words};
use crate::workbench::draw::draw;
use crate::workbench::effect::Export;
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::svg::svg;

/// Writes the screen as a picture.
pub fn picture(model: &Model, file: &str, replace: bool) -> Msg {
    let mut screen = Buffer::empty(Rect::from((Position::ORIGIN, model.size)));
    draw(model, &mut screen);
    write(file, replace, svg(&screen, &model.theme).as_bytes())
}

/// Writes a document about a session.
pub fn document(export: &Export) -> Msg {
    let made = catch_unwind(AssertUnwindSafe(|| single::document(export.output, &export.subject)));
    match made {
        Ok(Ok(bytes)) => write(&export.file, export.replace, &bytes),
        Ok(Err(error)) => failed(format!("`{}` cannot be written: {error}", export.file)),
        Err(_) => failed(format!("`{}` is not written: a fault of the program", export.file)),
    }
}

fn write(file: &str, over: bool, bytes: &[u8]) -> Msg {
    let expected = if over { Expected::Any } else { Expected::Nothing };
    let text = str::from_utf8(bytes).map_err(|_| NotWritten::System(io::ErrorKind::InvalidData.into()));
    match text.and_then(|text| replace::replace(Path::new(file), expected, text)) {
        Ok(()) => {
            let size = words::thousands(bytes.len().div_ceil(1024) as u64);
            Msg::Note { failed: false, text: format!("wrote {file}, {size} KiB") }
        }
        Err(NotWritten::Exists) => failed(format!("`{file}` exists already; `:export {file}!` replaces it")),
        Err(error) => failed(format!("`{file}` cannot be written: {error}")),
    }
}

fn failed(text: String) -> Msg {
    Msg::Note { failed: true, text }
}
