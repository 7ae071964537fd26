//! What leaves memory while the program runs, in a file that has no name: it is gone with the program, however that ends, and
//! nobody else can open it.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::session::stored::ByteStore;

/// A file that grows by what leaves memory.
pub struct Spill {
    /// The folder that it is made in; `None`: that of the system for such files.
    folder: Option<PathBuf>,
    /// Made when there is something to write.
    open: Mutex<Option<Open>>,
}

struct Open {
    file: File,
    length: u64,
}

impl Spill {
    /// In this folder, which is made where it is not there; without one, or where it cannot be written to, in that of the system
    /// for such files.
    pub fn new(folder: Option<PathBuf>) -> Spill {
        Spill { folder, open: Mutex::new(None) }
    }

    fn make(&self) -> io::Result<File> {
        // Recorded text is private: on systems where the file has a name for a moment, only its owner can open it.
        let own = self.folder.as_ref().map(|folder| {
            fs::create_dir_all(folder)?;
            tempfile::tempfile_in(folder)
        });
        match own {
            Some(Ok(file)) => Ok(file),
            _ => tempfile::tempfile(),
        }
    }
}

impl ByteStore for Spill {
    fn put(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            *open = Some(Open { file: self.make()?, length: 0 });
        }
        let Some(Open { file, length }) = open.as_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        let place = *length;
        file.seek(SeekFrom::Start(place))?;
        file.write_all(bytes)?;
        // Where writing failed, what was written of it is written over next time.
        *length = place + bytes.len() as u64;
        Ok(place)
    }

    fn get(&self, place: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Open { file, .. }) = open.as_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        let mut bytes = vec![0; length];
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_comes_back_from_a_file_without_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("made");
        let spill = Spill::new(Some(own.clone()));
        let places: Vec<u64> = ["one", "", "three"].map(|text| spill.put(text.as_bytes()).unwrap()).into();
        assert_eq!(places, [0, 3, 3]);
        assert_eq!(spill.get(3, 5).unwrap(), b"three");
        assert_eq!(spill.get(0, 3).unwrap(), b"one");
        assert!(spill.get(3, 6).is_err(), "beyond its end there is nothing");
        if cfg!(unix) {
            assert_eq!(fs::read_dir(own).unwrap().count(), 0, "nobody sees it in the folder");
        }
    }

    #[test]
    fn where_a_folder_cannot_be_written_to_it_is_made_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::write(&taken, "a file").unwrap();
        let spill = Spill::new(Some(taken));
        assert_eq!(spill.put(b"text").unwrap(), 0);
        assert_eq!(spill.get(0, 4).unwrap(), b"text");
    }
}
