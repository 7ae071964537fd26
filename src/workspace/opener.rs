//! Opens one recording: the only place where a file becomes sessions.

use std::io::{self, BufRead};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, code};
use crate::files::Input;
use crate::files::digested::{self, Beginning, Digest, Digested};
use crate::recording::{self, Checkpoint, Options, Reading};

/// Begins to read a file.
pub fn open(input: Input, options: &Options) -> Result<Reading, Diagnostic> {
    let (reader, as_it_is) = input.open_known()?;
    begin(input, reader, as_it_is, options)
}

/// The same, with what says at the end which bytes were read, where those are the bytes of the file themselves.
pub fn open_digested(input: Input, options: &Options) -> Result<(Reading, Option<Digest>), Diagnostic> {
    let (reader, as_it_is) = input.open_known()?;
    if !as_it_is || !input.is_regular() {
        return Ok((begin(input, reader, as_it_is, options)?, None));
    }
    let reader = Digested::new(reader);
    let digest = reader.digest();
    Ok((begin(input, Box::new(reader), as_it_is, options)?, Some(digest)))
}

fn begin(
    input: Input,
    reader: Box<dyn BufRead + Send>,
    as_it_is: bool,
    options: &Options,
) -> Result<Reading, Diagnostic> {
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

/// Goes on where the reading of a file ended. `None` where it does not begin with these bytes any more, or cannot be read.
pub fn resume(
    input: &Input,
    beginning: &Beginning,
    checkpoint: Checkpoint,
    options: &Options,
) -> Option<(Reading, Digest)> {
    let reader = digested::after(input.path.as_ref()?, beginning).ok()??;
    let digest = reader.digest();
    Some((recording::resume(Arc::clone(&input.name), Box::new(reader), options, checkpoint)?, digest))
}

/// Begins to read a sample.
pub fn open_sample(
    name: impl Into<Arc<str>>,
    bytes: &'static [u8],
    options: &Options,
) -> Result<Reading, Diagnostic> {
    recording::open(name, Box::new(io::Cursor::new(bytes)), options)
}

/// Why a file does not open. A folder may hold other things as well; what was named itself should have had sessions.
pub fn weighed(told: Diagnostic, named: bool) -> Diagnostic {
    match told.code {
        code::NOT_A_SESSION if !named => told.severity(Severity::Notice),
        code::EMPTY_SESSION if named => told.severity(Severity::Error),
        _ => told,
    }
}

fn again(input: &Input) -> io::Result<Box<dyn BufRead + Send>> {
    input.open().map_err(|told| io::Error::other(told.message))
}
