//! Opens one recording: the only place where a file becomes sessions.

use std::io::{self, BufRead};
use std::sync::Arc;

use crate::files::Input;
use crate::files::conversation::{Conversation, Part};
use crate::files::digested::{self, Beginning, Digest, Digested};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_engine::policy;
use rulestep_recording::{self as recording, Checkpoint, Options, Parts, Reading};

/// Begins to read a file.
pub fn open(input: Input, options: &Options) -> Result<Reading, Diagnostic> {
    if let Some(conversation) = input.conversation() {
        return together(input, conversation, options);
    }
    let (reader, as_it_is) = input.open_known()?;
    begin(input, reader, as_it_is, options)
}

/// The same, with a digest of the bytes read, if those are the bytes of the file themselves.
pub fn open_digested(input: Input, options: &Options) -> Result<(Reading, Option<Digest>), Diagnostic> {
    if let Some(conversation) = input.conversation() {
        return Ok((together(input, conversation, options)?, None));
    }
    let (reader, as_it_is) = input.open_known()?;
    if !as_it_is || !input.is_regular() {
        return Ok((begin(input, reader, as_it_is, options)?, None));
    }
    let reader = Digested::new(reader);
    let digest = reader.digest();
    Ok((begin(input, Box::new(reader), as_it_is, options)?, Some(digest)))
}

/// A conversation in many files, which are the lines of one.
fn together(input: Input, conversation: Conversation, options: &Options) -> Result<Reading, Diagnostic> {
    let reader = conversation.reader();
    let part = |part: &Part| recording::Part { file: Arc::clone(&part.name), may_hold_calls: part.is_event };
    let parts = Parts {
        files: conversation.parts.iter().map(part).collect(),
        told: conversation.diagnostics.clone(),
        broken_line: Box::new(move |part| conversation.broken_line(part)),
    };
    let options = Options { parts: Some(Arc::new(parts)), ..options.clone() };
    begin(input, reader, false, &options)
}

fn begin(
    input: Input,
    reader: Box<dyn BufRead + Send>,
    as_it_is: bool,
    options: &Options,
) -> Result<Reading, Diagnostic> {
    let (name, named) = (Arc::clone(&input.name), input.named);
    let mut options = options.clone();
    // The content of a pipe comes once: opening it again would take it from the first reader.
    if input.is_regular() {
        options.places &= as_it_is;
        let input = input.clone();
        options.again = Some(Arc::new(move || again(&input)));
    } else {
        options.places = false;
    }
    recording::open(name, reader, &options).map_err(|told| weighed(of_rulestep(told, &input), named))
}

/// Most bytes of a file that is looked at for a policy.
const MOST_POLICY: u64 = 1 << 18;

/// The diagnostic for a file that is not a recording; if it is a policy or a case and nothing else is known of it, it
/// says so.
fn of_rulestep(told: Diagnostic, input: &Input) -> Diagnostic {
    let is_text = || input.is_regular() && input.length().is_some_and(|length| length <= MOST_POLICY);
    if told.help.as_deref() != Some(recording::KNOWN_FORMATS) || !is_text() {
        return told;
    }
    let Ok(text) = input.read_text() else { return told };
    let (message, help) = match () {
        () if policy::is_case_file(&input.name) => {
            ("the file is a case, not a recording", "`rulestep test` runs cases")
        }
        () if policy::is_policy(&input.name, &text) => {
            ("the file is a policy, not a recording", "policies are named with `-p`")
        }
        () => return told,
    };
    Diagnostic { message: message.to_owned(), loss: None, ..told }.help(help)
}

/// Continues reading at the earlier end of a file. `None` if it no longer begins with these bytes, or cannot be read.
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

/// The diagnostic of a file that does not open. A folder may hold other files as well, and only one that may have calls
/// is worth a warning; a named file should have had sessions.
pub fn weighed(told: Diagnostic, named: bool) -> Diagnostic {
    match told.code {
        code::NOT_A_SESSION if !named && told.may_lose_calls() => told.severity(Severity::Warning),
        code::NOT_A_SESSION if !named => told.severity(Severity::Notice),
        code::EMPTY_SESSION if named => told.severity(Severity::Error),
        _ => told,
    }
}

/// The same if every file should have had sessions. The cached diagnostics of a file are not changed so: they serve
/// runs with any option.
pub fn weigh_strictly(told: &mut [Diagnostic]) {
    let is_skipped = |told: &&mut Diagnostic| matches!(told.code, code::NOT_A_SESSION | code::EMPTY_SESSION);
    told.iter_mut().filter(is_skipped).for_each(|told| told.severity = Severity::Error);
}

fn again(input: &Input) -> io::Result<Box<dyn BufRead + Send>> {
    input.open().map_err(|told| io::Error::other(told.message))
}
