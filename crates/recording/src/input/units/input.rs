//! A stream of bytes in which some can be put back.

use std::io::{self, BufRead};

/// The input, preceded by what was put back.
pub struct Input {
    ahead: Vec<u8>,
    /// Bytes of that which are used up.
    used: usize,
    rest: Box<dyn BufRead + Send>,
    /// The rest has ended; asking it again would be a system call each time.
    ended: bool,
    /// The number of bytes before the next one; `None` once it is unknown.
    at: Option<u64>,
    /// The known error of the input after what was put back.
    pub failed: Option<io::Error>,
}

impl Input {
    /// For an input with nothing put back yet.
    pub fn new(rest: Box<dyn BufRead + Send>) -> Input {
        Input { ahead: Vec::new(), used: 0, rest, ended: false, at: Some(0), failed: None }
    }

    /// The number of bytes before the next one, as far as it is known.
    pub fn at(&self) -> Option<u64> {
        self.at
    }

    /// What was put back differs from what was read, so offsets are unknown from now on.
    pub fn lose_place(&mut self) {
        self.at = None;
    }

    /// The next bytes, also after an interrupted system call.
    pub fn fill(&mut self) -> io::Result<&[u8]> {
        if self.used < self.ahead.len() {
            return Ok(self.ahead.get(self.used..).unwrap_or_default());
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(&[]);
        }
        loop {
            match self.rest.fill_buf() {
                Ok([]) => {
                    self.ended = true;
                    return Ok(&[]);
                }
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.rest.fill_buf()
    }

    /// Consumes this many bytes.
    pub fn consume(&mut self, bytes: usize) {
        self.at = self.at.map(|at| at + bytes as u64);
        if self.used >= self.ahead.len() {
            return self.rest.consume(bytes);
        }
        self.used += bytes;
        if self.used == self.ahead.len() {
            (self.ahead, self.used) = (Vec::new(), 0);
        }
    }

    /// These bytes are read again, before all others.
    pub fn put_back(&mut self, mut bytes: Vec<u8>) {
        self.at = self.at.and_then(|at| at.checked_sub(bytes.len() as u64));
        // Mostly that is where they come from.
        if let Some(begin) = self.used.checked_sub(bytes.len())
            && let Some(place) = self.ahead.get_mut(begin..self.used)
        {
            place.copy_from_slice(&bytes);
            self.used = begin;
            return;
        }
        bytes.extend_from_slice(self.ahead.get(self.used..).unwrap_or_default());
        (self.ahead, self.used) = (bytes, 0);
    }
}
