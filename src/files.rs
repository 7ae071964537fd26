//! The only reader of files: paths, folders, globs, standard input, and git revisions.
//!
//! Everything is found in one order, that of the bytes of relative paths with `/` between their parts, whatever
//! the system lists first. What cannot be read is a diagnostic; nothing is left out silently but hidden files,
//! `target` and `node_modules`, and Markdown beside recordings, which is about them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place, code};

mod git;
pub mod packed;
#[cfg(feature = "tui")]
pub mod stamp;
pub mod stream;
mod version;
mod walk;
#[cfg(feature = "tui")]
pub mod watch;

pub use version::{VersionFile, VersionFiles, is_document, read_version};

/// What arguments lead to.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The files, argument by argument, each folder's in the order of their relative paths.
    pub inputs: Vec<Input>,
    /// Arguments that lead nowhere, folders without files, and the like.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file to read sessions from, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name it is shown under: the argument, joined with the path within the folder; `-` for standard input.
    pub name: Arc<str>,
    /// Where it is; `None` is standard input.
    pub path: Option<PathBuf>,
    /// Whether it was named itself, rather than found in a folder.
    pub named: bool,
}

/// The files that arguments stand for: files, folders (searched whole), globs, and `-`.
pub fn expand(args: &[String]) -> Found {
    let mut found = Found::default();
    for arg in args {
        if arg == "-" {
            stdin(&mut found);
            continue;
        }
        match std::fs::metadata(arg) {
            Ok(metadata) if metadata.is_dir() => folder(arg, &mut found),
            Ok(_) => {
                found.inputs.push(Input { name: arg.as_str().into(), path: Some(arg.into()), named: true })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && walk::is_glob(arg) => {
                glob(arg, &mut found)
            }
            Err(error) => found.diagnostics.push(unreadable(arg, &error)),
        }
    }
    found
}

impl Input {
    /// Opens it, unpacked where it is compressed.
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>, Diagnostic> {
        let packed: packed::Input = match &self.path {
            None => Box::new(BufReader::new(io::stdin())),
            Some(path) => match File::open(path) {
                Ok(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
                Err(error) => return Err(unreadable(&self.name, &error)),
            },
        };
        packed::unpacked(packed).map_err(|error| unreadable(&self.name, &error))
    }

    /// Its length in bytes, where that is known.
    pub fn length(&self) -> Option<u64> {
        let metadata = std::fs::metadata(self.path.as_ref()?).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Whether it is a regular file, which gives the same bytes however often it is opened; pipes do not.
    pub fn is_regular(&self) -> bool {
        self.length().is_some()
    }

    /// Reads it whole.
    pub fn read_text(&self) -> Result<Arc<str>, Diagnostic> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(|error| unreadable(&self.name, &error))?;
        utf8(&self.name, bytes)
    }
}

/// A path that is written in a file, relative to that file's folder: as it leads there from here, without detours.
pub fn beside(file: &str, path: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let whole = folder.join(path);
    let mut short = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if short.file_name().is_some() => {
                short.pop();
            }
            part => short.push(part),
        }
    }
    if short.as_os_str().is_empty() {
        short.push(".");
    }
    // Behind a link, a folder's parent is not what stands before it.
    let climbs = whole.components().any(|part| part == Component::ParentDir);
    let same =
        || matches!((whole.canonicalize(), short.canonicalize()), (Ok(long), Ok(short)) if long == short);
    let same = !climbs || same();
    let path = if same { short } else { whole };
    path.to_string_lossy().into_owned()
}

/// A path as it is written in a file of a folder, to lead from there to where it leads from here.
pub fn from(folder: &str, path: &str) -> String {
    let (Ok(folder), Ok(target)) = (Path::new(folder).canonicalize(), Path::new(path).canonicalize()) else {
        return path.to_owned();
    };
    let shared = folder.components().zip(target.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(target.components().skip(shared)).collect();
    let way = way.to_string_lossy().replace('\\', "/");
    if way.is_empty() { ".".to_owned() } else { way }
}

/// Bytes as text, or the line and byte at which they stop being text.
pub fn utf8(name: &str, bytes: Vec<u8>) -> Result<Arc<str>, Diagnostic> {
    String::from_utf8(bytes).map(Arc::from).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let byte = valid - line_start + 1;
        Diagnostic::error(code::UNREADABLE_FILE, format!("not UTF-8 text: line {line}, byte {byte}"))
            .primary(Place::Line { file: name.into(), line: count(line), byte: Some(count(byte)) })
    })
}

/// A file or folder that the system does not let us read, and why.
fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let (code, reason) = match error.kind() {
        io::ErrorKind::NotFound => (code::MISSING_FILE, "no such file or folder".to_owned()),
        io::ErrorKind::PermissionDenied => (code::UNREADABLE_FILE, "no permission to read it".to_owned()),
        _ => (code::UNREADABLE_FILE, format!("cannot be read: {}", words(error))),
    };
    Diagnostic::error(code, reason).in_file(name)
}

/// What the system says, without its number and in lower case.
fn words(error: &io::Error) -> String {
    let told = error.to_string();
    told.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn stdin(found: &mut Found) {
    if found.inputs.iter().any(|input| input.path.is_none()) {
        let message = "standard input is named twice; it can be read once";
        found.diagnostics.push(Diagnostic::warning(code::UNREADABLE_FILE, message).in_file("-"));
        return;
    }
    found.inputs.push(Input { name: "-".into(), path: None, named: true });
}

fn folder(arg: &str, found: &mut Found) {
    let before = found.inputs.len();
    let walked = walk::files(Path::new(arg), arg, &|name| !is_markdown(name));
    found.diagnostics.extend(walked.diagnostics);
    found.inputs.extend(walked.files.into_iter().map(|file| Input {
        name: walk::join(arg, &file.relative).into(),
        path: Some(file.path),
        named: false,
    }));
    if found.inputs.len() == before {
        let empty =
            Diagnostic::warning(code::EMPTY_FOLDER, "the folder has no files to read in it").in_file(arg);
        found.diagnostics.push(empty);
    }
}

fn is_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|it| it.eq_ignore_ascii_case("md") || it.eq_ignore_ascii_case("markdown"))
}

fn glob(arg: &str, found: &mut Found) {
    match walk::glob(arg) {
        Ok(walked) => {
            if walked.files.is_empty() && walked.diagnostics.is_empty() {
                let none = Diagnostic::error(code::MISSING_FILE, "no file matches this pattern").in_file(arg);
                found.diagnostics.push(none);
            }
            found.diagnostics.extend(walked.diagnostics);
            found.inputs.extend(walked.files.into_iter().map(|file| Input {
                name: file.relative.into(),
                path: Some(file.path),
                named: false,
            }));
        }
        Err(reason) => {
            let bad =
                Diagnostic::error(code::MISSING_FILE, format!("no such file, and no pattern: {reason}"));
            found.diagnostics.push(bad.in_file(arg));
        }
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
