//! The only reader of files, besides the engine's reader of versions: paths, folders, globs and standard input.
//!
//! Files are found in one order, that of the bytes of relative paths with `/` between their parts, whatever order the
//! system lists. An unreadable file is a diagnostic; only hidden files, `target` and `node_modules`, and Markdown
//! beside recordings, which describes them, are left out silently.

use std::path::{Component, Path, PathBuf};

pub mod cache;
pub mod conversation;
pub mod digested;
mod glob;
mod inputs;
pub mod packed;
pub mod replace;
pub mod settings;
pub mod spill;
pub mod stream;
pub mod watch;

pub use inputs::{Input, case_files, expand};
pub use rulestep_engine::files::{
    bounded, is_document, read, read_version, stamp, unreadable, utf8, version, walk, words,
};

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
    // After a link, a folder's parent is not the folder before it in the path.
    let climbs = whole.components().any(|part| part == Component::ParentDir);
    let same =
        || matches!((whole.canonicalize(), short.canonicalize()), (Ok(long), Ok(short)) if long == short);
    let same = !climbs || same();
    let path = if same { short } else { whole };
    path.to_string_lossy().into_owned()
}

/// A path relative to a file of a folder that leads to the same place as this path from here.
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
