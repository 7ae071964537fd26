//! Writing the screen and documents into files.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

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

fn write(file: &str, replace: bool, bytes: &[u8]) -> Msg {
    let written = match replace {
        true => fs::write(file, bytes),
        false => File::create_new(file).and_then(|mut file| file.write_all(bytes)),
    };
    match written {
        Ok(()) => {
            let size = words::thousands(bytes.len().div_ceil(1024) as u64);
            Msg::Note { failed: false, text: format!("wrote {file}, {size} KiB") }
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            failed(format!("`{file}` exists already; `:export {file}!` replaces it"))
        }
        Err(error) => failed(format!("`{file}` cannot be written: {error}")),
    }
}

fn failed(text: String) -> Msg {
    Msg::Note { failed: true, text }
}
