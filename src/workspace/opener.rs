//! Opens one recording: the only place where a file becomes sessions.

use std::io::{self, BufRead};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, code};
use crate::files::Input;
use crate::recording::{self, Options, Reading};

/// Begins to read a file.
pub fn open(input: Input, options: &Options) -> Result<Reading, Diagnostic> {
    let (reader, as_it_is) = input.open_known()?;
    let (name, named) = (Arc::clone(&input.name), input.named);
    let mut options = options.clone();
    // What comes through a pipe comes once: opening it again would take it from the first reader.
    if input.is_regular() {
        options.places &= as_it_is;
        options.again = Some(Arc::new(move || again(&input)));
    } else {
        options.places = false;
    }
    recording::open(name, reader, &options).map_err(|told| weighed(told, named))
}

/// Begins to read a sample.
pub fn open_sample(
    name: impl Into<Arc<str>>,
    bytes: &'static [u8],
    options: &Options,
) -> Result<Reading, Diagnostic> {
    recording::open(name, Box::new(io::Cursor::new(bytes)), options)
}

/// Why a file does not open. A folder may hold other things as well.
pub fn weighed(told: Diagnostic, named: bool) -> Diagnostic {
    match told.code {
        code::NOT_A_SESSION if !named => told.severity(Severity::Notice),
        _ => told,
    }
}

fn again(input: &Input) -> io::Result<Box<dyn BufRead + Send>> {
    input.open().map_err(|told| io::Error::other(told.message))
}
