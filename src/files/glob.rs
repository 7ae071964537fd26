//! The files that match a pattern.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::unreadable;
use super::walk::{self, FoundFile, WalkResult, WalkedFile};

/// Whether an argument that is no path may be a pattern.
pub(super) fn is_glob(arg: &str) -> bool {
    arg.contains(['*', '?', '[', '{'])
}

/// The files that a pattern matches, and those in the folders that it matches. `*` and `?` stay within a part of a
/// path, `**` does not. Names that begin with a dot match only a pattern with that dot.
pub(super) fn files(pattern: &str) -> Result<WalkResult, String> {
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| error.kind().to_string())?;
    let parts: Vec<&str> = pattern.split('/').collect();
    let (literal, rest) = parts.split_at(parts.iter().take_while(|part| !is_glob(part)).count());
    let (base, shown) = base(&literal.join("/"), pattern.starts_with('/'));
    let hidden = rest.iter().any(|part| part.starts_with('.'));
    let matcher = matcher.compile_matcher();
    let passed = walk::PassedBy::default();
    let mut search = Search { matcher, hidden, walked: WalkResult::default(), above: Vec::new(), passed };
    search.folder(&base, &shown);
    let mut walked = search.walked;
    walked.diagnostics.extend(search.passed.diagnostic(pattern));
    // Names that are not UTF-8 may be displayed the same although they name two files.
    walked.files.sort_by(|a, b| (a.relative.as_bytes(), &a.path).cmp(&(b.relative.as_bytes(), &b.path)));
    walked.files.dedup_by(|a, b| a.path == b.path);
    Ok(walked)
}

/// A search for what a pattern matches.
struct Search {
    matcher: GlobMatcher,
    /// Whether the pattern names something hidden.
    hidden: bool,
    walked: WalkResult,
    /// The folders above, as the system knows them: a link back to one is not followed.
    above: Vec<PathBuf>,
    passed: walk::PassedBy,
}

impl Search {
    fn folder(&mut self, path: &Path, shown: &str) {
        let Ok(real) = path.canonicalize() else { return };
        if self.above.contains(&real) {
            return;
        }
        self.above.push(real);
        for entry in walk::entries(path, shown, &mut self.walked.diagnostics) {
            let shown = walk::join(shown, &entry.name);
            if walk::is_passed_by(&entry.name) && !(self.hidden && entry.name.starts_with('.')) {
                self.passed.note(&entry.name, &entry.path, &shown, &|path| self.matcher.is_match(path));
                continue;
            }
            let matches = self.matcher.is_match(&shown);
            if entry.is_file() {
                if matches {
                    self.walked.files.push(entry.into_file(shown));
                }
                continue;
            }
            let path = entry.path;
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && matches => {
                    let inside = walk::files(&path, &shown, &|_| true);
                    self.walked.diagnostics.extend(inside.diagnostics);
                    self.walked.files.extend(
                        inside
                            .files
                            .into_iter()
                            .map(|file| WalkedFile { relative: walk::join(&shown, &file.relative), ..file }),
                    );
                }
                Ok(metadata) if metadata.is_dir() => self.folder(&path, &shown),
                Ok(metadata) if matches && metadata.is_file() => {
                    let found = FoundFile::of(&metadata, path.is_symlink());
                    self.walked.files.push(WalkedFile { relative: shown, path, found });
                }
                Ok(_) if matches => self.walked.diagnostics.push(walk::not_regular().in_file(shown)),
                Err(error) if matches => self.walked.diagnostics.push(unreadable(&shown, &error)),
                _ => {}
            }
        }
        self.above.pop();
    }
}

/// The folder in which a pattern's search begins, and its name as the pattern writes it.
fn base(literal: &str, absolute: bool) -> (PathBuf, String) {
    match literal {
        "" if absolute => ("/".into(), "/".to_owned()),
        "" => (".".into(), String::new()),
        literal => (literal.into(), literal.to_owned()),
    }
}
