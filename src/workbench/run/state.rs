//! The file with the last position in a set of recordings: one for each set.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hmac_sha256::Hash;

use crate::files::replace::{Expected, NotWritten, replace};
use crate::workbench::model::saved::SavedPlace;

/// The file for these recordings, by their names and the working folder; `None` if there is none: standard input has
/// others each time.
pub fn file(state: &Path, recordings: &[String]) -> Option<PathBuf> {
    if recordings.is_empty() || recordings.iter().any(|named| named == "-") {
        return None;
    }
    let folder = std::env::current_dir().ok()?;
    let mut hash = Hash::new();
    let folder = folder.to_string_lossy();
    for part in std::iter::once(folder.as_ref()).chain(recordings.iter().map(String::as_str)) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let name = hash.finalize().iter().take(12).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Some(state.join("places").join(format!("{name}.json")))
}

/// The position in the file; `None` if there is no file.
///
/// # Errors
/// It holds something else, in a line.
pub fn read(file: &Path) -> Result<Option<SavedPlace>, String> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    };
    SavedPlace::parse(&text).map(Some)
}

/// Writes a position, in one step: half of it is never visible.
///
/// # Errors The file cannot be written.
pub fn write(file: &Path, place: &SavedPlace) -> Result<(), NotWritten> {
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    replace(file, Expected::Any, &place.to_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_recordings_has_its_file() {
        let named = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
            file(Path::new("state"), &named)
        };
        assert_eq!(named(&["a", "b"]), named(&["a", "b"]));
        assert_ne!(named(&["a", "b"]), named(&["ab"]));
        assert_ne!(named(&["a", "b"]), named(&["b", "a"]));
        assert_eq!((named(&[]), named(&["a", "-"])), (None, None));
    }

    #[test]
    fn a_place_is_written_over_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("places/a.json");
        let place = SavedPlace::parse(
            r#"{"schema": "rulestep.place/1", "file": "a", "session": "s", "row": 1, "call": null, "focus": 1, "side": 3,
                "zoom": false, "filter": "", "sort": null, "group": null}"#,
        );
        let place = place.unwrap();
        for earlier in [None, Some("half a pl")] {
            earlier.into_iter().for_each(|text| std::fs::write(&file, text).unwrap());
            assert!(write(&file, &place).is_ok());
            assert_eq!(read(&file), Ok(Some(place.clone())));
        }
    }

    #[test]
    fn what_is_no_place_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("places/a.json");
        assert_eq!(read(&file), Ok(None));
        std::fs::create_dir(folder.path().join("places")).unwrap();
        for text in ["", "{", "[]", "{\"schema\": \"other/1\"}", "\u{0}", "null"] {
            std::fs::write(&file, text).unwrap();
            assert!(read(&file).is_err(), "{text:?}");
        }
        std::fs::write(&file, b"\xff\xfe").unwrap();
        assert!(read(&file).is_err());
    }
}
