//! Patches in the form of `apply_patch`.

use super::call::Act;
use super::prompt::Step;

/// The same as steps; a text without any file is not understood.
pub fn steps(text: &str) -> Vec<Step<'_>> {
    let found = files(text);
    if found.is_empty() {
        return vec![Step::Opaque];
    }
    let step = |(act, file)| match act {
        Act::Reads => Step::Reads(file),
        Act::Writes => Step::Writes(file),
        Act::Deletes => Step::Deletes(file),
    };
    found.into_iter().map(step).collect()
}

/// The files of a patch in the form of `apply_patch`, with what happens to each.
pub fn files(text: &str) -> Vec<(Act, &str)> {
    let mut found: Vec<(Act, &str)> = Vec::new();
    let mut changes = false;
    for line in text.lines() {
        // Within a change, a line that begins with a blank is one of the file's own.
        let line = if changes { line } else { line.trim_start() };
        changes = (changes && !line.starts_with("***")) || line.starts_with("*** Update File:");
        let rest = |mark| line.strip_prefix(mark).map(str::trim);
        if let Some(file) = rest("*** Add File:").or_else(|| rest("*** Update File:")) {
            found.push((Act::Writes, file));
        } else if let Some(file) = rest("*** Delete File:") {
            found.push((Act::Deletes, file));
        } else if let Some(file) = rest("*** Move to:") {
            // An updated file that is moved away.
            if let Some((act, _)) = found.last_mut() {
                *act = Act::Deletes;
            }
            found.push((Act::Writes, file));
        }
    }
    found
}
