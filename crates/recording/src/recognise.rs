//! Recognises the format of a file: its beginning is shown to every format, the specific ones first.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::slice;
use std::sync::Arc;

use crate::FORMATS;
use crate::contract::{Format, Sample};
use crate::format::native;
use crate::input::text;
use crate::input::units::{Kind, Piece, Units};
use crate::input::{calls, shallow};
use crate::mistaken;
use rulestep_base::diagnostic::{Diagnostic, Loss, Severity, code};
use rulestep_base::source::quoted;
use rulestep_base::source::tape::Tape;

pub struct Excerpt {
    /// Its kind and position.
    pub piece: Piece,
    /// Its bytes.
    pub text: Vec<u8>,
    /// Whether it is the complete part of a value that the file's end cuts off.
    pub cut_off: bool,
}

/// Pieces that were read for recognition.
#[derive(Default)]
pub struct Excerpts {
    /// To be read again by the reader.
    pub sampled: VecDeque<Excerpt>,
    /// The error of the input after them.
    pub failed: Option<io::Error>,
}

/// Advice for a file of unknown format.
pub const KNOWN_FORMATS: &str =
    "`rulestep explain formats` lists what can be read, where it is and how to export it";

/// Values, pieces of any kind, and bytes that recognition looks at.
pub const SAMPLE_VALUES: usize = 8;
const SAMPLE_PIECES: usize = 64;
const SAMPLE_BYTES: usize = 1 << 20;

/// Reads until a format recognises the pieces, or there are enough to say that none does. An error of the input comes
/// after what was read before it.
pub fn format(
    file: &Arc<str>,
    units: &mut Units,
    seen: &mut Excerpts,
    following: bool,
) -> Result<&'static Format, Diagnostic> {
    let Excerpts { sampled, failed } = seen;
    let (last, specific) = FORMATS.split_last().unzip();
    let found = |sample: &Sample<'_>, formats: &'static [Format]| {
        formats.iter().find(|format| (format.recognise)(sample))
    };
    let specific = specific.unwrap_or_default();
    let (mut values, mut bytes) = (0, 0);
    // The last format's answer so far. Values may be large: they are parsed once for all formats.
    let mut of_last = None;
    while values < SAMPLE_VALUES && sampled.len() < SAMPLE_PIECES && bytes < SAMPLE_BYTES {
        let next = match take(units, following) {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(error) => {
                *failed = Some(error);
                break;
            }
        };
        let is_value = next.piece.kind == Kind::Value;
        bytes += next.text.len();
        sampled.push_back(next);
        if !is_value {
            continue;
        }
        values += 1;
        // The content of a native session may look like anything.
        let known = with_sample(sampled, |sample| {
            of_last = last.and_then(|last| found(sample, slice::from_ref(last)));
            match sample.objects().any(native::is_written) {
                true => ControlFlow::Break(None),
                false => match found(sample, specific) {
                    Some(format) => ControlFlow::Break(Some(format)),
                    None => ControlFlow::Continue(()),
                },
            }
        });
        match known {
            ControlFlow::Break(Some(format)) => return Ok(format),
            ControlFlow::Break(None) => break,
            ControlFlow::Continue(()) => {}
        }
    }
    if let Some(format) = of_last {
        return Ok(format);
    }
    if let Some(error) = failed {
        return Err(unreadable(file, None, error));
    }
    let empty = sampled.is_empty().then(|| match units.saw_list() {
        true => "the file holds an empty list",
        false => "the file is empty",
    });
    let diagnostic = match empty {
        Some(message) => Diagnostic::warning(code::EMPTY_SESSION, message),
        // What is missing may be calls of a recording; few other files in a folder are cut off.
        None if !following && values > 0 && sampled.iter().any(is_cut_off) => {
            let message = "the file is cut off before it shows which format it has";
            Diagnostic::error(code::DAMAGED_LINE, message)
                .help("if it is a recording, name its format with `--from`")
        }
        None => with_sample(sampled, |sample| not_a_session(sampled, sample)),
    };
    Err(diagnostic.in_file(Arc::clone(file)))
}

fn is_cut_off(excerpt: &Excerpt) -> bool {
    excerpt.cut_off || matches!(excerpt.piece.kind, Kind::CutOff | Kind::Unclosed)
}

/// The next piece. A file that is one object, cut off, is read as far as it is complete.
pub fn take(units: &mut Units, following: bool) -> io::Result<Option<Excerpt>> {
    let Some(mut piece) = units.next()? else { return Ok(None) };
    let mut text = units.take_text();
    let is_the_file = piece.list.is_none() && !units.by_lines() && !following;
    let whole = if piece.kind == Kind::CutOff && is_the_file { text::closed(&text) } else { None };
    let cut_off = whole.is_some();
    if let Some(whole) = whole {
        (piece.kind, text) = (Kind::Value, whole);
    }
    Ok(Some(Excerpt { piece, text, cut_off }))
}

fn with_sample<T>(sampled: &VecDeque<Excerpt>, look: impl FnOnce(&Sample<'_>) -> T) -> T {
    let values = sampled.iter().filter(|sampled| sampled.piece.kind == Kind::Value);
    // Replacing bytes that are not UTF-8 is slow, even if there is nothing to replace.
    let text = |bytes| str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    let texts: Vec<_> = values.map(|sampled| text(&sampled.text)).collect();
    let tapes: Vec<_> = texts.iter().filter_map(|text| Tape::of(text.trim_ascii())).collect();
    look(&Sample { values: tapes.iter().filter_map(|tape| shallow::of_tape(tape, None).ok()).collect() })
}

fn not_a_session(sampled: &VecDeque<Excerpt>, sample: &Sample<'_>) -> Diagnostic {
    let (bytes, kind) =
        sampled.front().map_or((&[][..], Kind::CutOff), |first| (&first.text, first.piece.kind));
    if text::is_utf16(bytes) {
        let letters: Vec<u8> =
            bytes.iter().copied().filter(|byte| !matches!(byte, 0 | 0xFE | 0xFF)).collect();
        // A file that begins like a recording is one of which nothing could be read.
        let code = if text::begins_as_json(&letters) { code::DAMAGED_LINE } else { code::NOT_A_SESSION };
        return Diagnostic::error(code, text::UTF16);
    }
    if let Some(archive) = text::not_text(bytes) {
        return Diagnostic::error(code::NOT_A_SESSION, archive);
    }
    if let Some(file) = mistaken::known(sample) {
        let told = Diagnostic::error(code::NOT_A_SESSION, format!("the file is {}", file.what));
        return told.help(file.instead);
    }
    let message = match (sample.objects().next(), sample.values.first()) {
        (Some(members), _) if members.names().next().is_none() => {
            "the file begins with an empty object".to_owned()
        }
        (Some(members), _) => {
            let names: Vec<_> = members.names().take(6).map(quoted).collect();
            format!("no known format has objects with the keys {}", names.join(", "))
        }
        (None, Some((value, _))) => format!("no known format is made of {}", value.kind().word()),
        // A file that begins like a recording is a damaged one, not another kind of file.
        (None, None) if text::begins_as_json(bytes) => {
            return Diagnostic::error(code::DAMAGED_LINE, text::no_value(bytes, kind));
        }
        (None, None) => text::no_value(bytes, kind),
    };
    let help = KNOWN_FORMATS;
    if !sample.objects().any(calls::are_among) {
        return Diagnostic::error(code::NOT_A_SESSION, message).help(help);
    }
    let message = format!("{message}, though something in it looks like a tool call");
    let told = Diagnostic::lost(code::NOT_A_SESSION, Loss::MayHoldCalls, message);
    told.severity(Severity::Error).help(help)
}

/// The diagnostic for an error of the input, on this line if it is known.
pub fn unreadable(file: &Arc<str>, line: Option<u64>, error: &io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(code::UNREADABLE_FILE, format!("the file cannot be read: {error}"));
    match line {
        Some(line) => diagnostic.on_line(Arc::clone(file), line),
        None => diagnostic.in_file(Arc::clone(file)),
    }
}
