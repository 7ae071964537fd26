//! Bytes being read with a digest of all of them, which identifies a file that only grows.

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rulestep_base::checksum::Checksum;
use serde::{Deserialize, Serialize};

/// Bytes that are read from a file at once.
pub const CHUNK: usize = 1 << 16;

/// The bytes that a file begins with: their number and digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// Bytes, from the first one on.
    pub bytes: u64,
    digest: u64,
}

/// Says which bytes were read, once the input has ended.
#[derive(Clone, Default)]
pub struct Digest(Arc<OnceLock<Beginning>>);

impl Digest {
    /// All that was read; `None` before its end.
    pub fn get(&self) -> Option<Beginning> {
        self.0.get().copied()
    }
}

/// An input whose bytes are digested as they are consumed.
pub struct Digested<R> {
    input: R,
    hash: Checksum,
    bytes: u64,
    digest: Digest,
}

impl<R: BufRead> Digested<R> {
    /// From its beginning.
    pub fn new(input: R) -> Digested<R> {
        Digested { input, hash: Checksum::new(), bytes: 0, digest: Digest::default() }
    }

    /// Access to the digest.
    pub fn digest(&self) -> Digest {
        self.digest.clone()
    }
}

/// The rest of a file after these bytes; `None` if it does not begin with them.
pub fn after(path: &Path, beginning: &Beginning) -> io::Result<Option<Digested<BufReader<File>>>> {
    let mut input = Digested::new(BufReader::with_capacity(CHUNK, File::open(path)?));
    while input.bytes < beginning.bytes {
        let left = usize::try_from(beginning.bytes - input.bytes).unwrap_or(usize::MAX);
        let more = input.fill_buf()?.len().min(left);
        if more == 0 {
            return Ok(None);
        }
        input.consume(more);
    }
    Ok((input.hash.finish() == beginning.digest).then_some(input))
}

impl<R: BufRead> Read for Digested<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Digested<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.input.fill_buf()?;
        if bytes.is_empty() {
            let all = Beginning { bytes: self.bytes, digest: self.hash.finish() };
            self.digest.0.get_or_init(|| all);
        }
        Ok(bytes)
    }

    fn consume(&mut self, used: usize) {
        // These are in its buffer already, so nothing is read and nothing fails.
        if let Some(bytes) = self.input.fill_buf().ok().and_then(|bytes| bytes.get(..used)) {
            self.hash.write(bytes);
        }
        self.bytes += used as u64;
        self.input.consume(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_what_it_begins_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let line = "a line that is not short\n".repeat(9000);
        let read = |mut input: Digested<BufReader<File>>| {
            let (digest, mut text) = (input.digest(), String::new());
            assert_eq!(digest.get(), None, "it has not ended");
            input.read_to_string(&mut text).unwrap();
            (digest.get().unwrap(), text)
        };
        let whole = || read(Digested::new(BufReader::with_capacity(7, File::open(&path).unwrap())));
        std::fs::write(&path, &line).unwrap();
        let (first, text) = whole();
        assert_eq!((first.bytes, text.len()), (line.len() as u64, line.len()));
        let rest = |beginning| after(&path, beginning).unwrap().map(read);
        assert_eq!(rest(&first), Some((first, String::new())));
        std::fs::write(&path, format!("{line}more")).unwrap();
        let (second, _) = whole();
        assert_eq!(rest(&first), Some((second, "more".to_owned())), "digested on from there");
        for other in [line.replacen("not", "now", 1), line[1..].to_owned(), String::new()] {
            std::fs::write(&path, &other).unwrap();
            assert_eq!(rest(&first), None, "{} bytes", other.len());
        }
    }
}
