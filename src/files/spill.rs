//! Data that leaves memory while the program runs, in a file without a name: it is removed with the program, however
//! that ends, and no other program can open it.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::stored::ByteStore;

/// A file that grows by what leaves memory.
pub struct Spill {
    /// The folder that it is made in; `None`: that of the system for such files.
    folder: Option<PathBuf>,
    /// Made when there is something to write.
    file: OnceLock<File>,
    making: Mutex<()>,
    length: AtomicU64,
}

impl Spill {
    /// In this folder, which is created if it does not exist; without one, or if it is not writable, in the system's
    /// folder for temporary files.
    pub fn new(folder: Option<PathBuf>) -> Spill {
        Spill { folder, file: OnceLock::new(), making: Mutex::new(()), length: AtomicU64::new(0) }
    }

    fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let _one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        match self.file.get() {
            Some(file) => Ok(file),
            None => {
                let file = self.make()?;
                Ok(self.file.get_or_init(|| file))
            }
        }
    }

    fn make(&self) -> io::Result<File> {
        // Recorded text is private: on systems on which the file briefly has a name, only its owner can open it.
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
        let file = self.file()?;
        // Each thread has its own range. A failed write leaves a gap that is never read.
        let place = self.length.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        at::write(file, place, bytes)?;
        Ok(place)
    }

    fn get(&self, place: u64, length: usize) -> io::Result<Vec<u8>> {
        let file = self.file.get().ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = vec![0; length];
        at::read(file, place, &mut bytes)?;
        Ok(bytes)
    }
}

/// Writing and reading at a place of a file, by several threads.
#[cfg(unix)]
mod at {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt as _;

    pub fn write(file: &File, place: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, place)
    }

    pub fn read(file: &File, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        file.read_exact_at(bytes, place)
    }
}

#[cfg(not(unix))]
mod at {
    use std::fs::File;
    use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
    use std::sync::{Mutex, PoisonError};

    /// The position in a file is shared state of the file.
    static ONE: Mutex<()> = Mutex::new(());

    pub fn write(mut file: &File, place: u64, bytes: &[u8]) -> io::Result<()> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place))?;
        file.write_all(bytes)
    }

    pub fn read(mut file: &File, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(bytes)
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
