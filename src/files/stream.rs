//! Inputs that may block: pipes, terminals, standard input. A separate thread opens and reads them, so that the wait
//! can be reported, others can be read first, and the wait can be aborted.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::{Input, packed, unreadable};
use rulestep_base::diagnostic::Diagnostic;

/// How long an input may be silent before that is reported.
pub const SILENT: Duration = Duration::from_secs(1);
/// Between two looks whether the wait was broken off.
const LOOK: Duration = Duration::from_millis(100);
const CHUNK: usize = 1 << 16;

/// What to do while an input blocks.
#[derive(Clone)]
pub struct Patience {
    /// Reports what is waited for.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether the wait was broken off.
    pub broken_off: fn() -> bool,
}

/// An input that is being opened. A named pipe is open once a program writes to it.
pub struct Opening {
    input: Input,
    chunks: Receiver<io::Result<Vec<u8>>>,
}

/// Begins to open it.
///
/// # Errors The system provides no thread.
pub fn begin(input: Input) -> Result<Opening, Diagnostic> {
    // Few chunks are held: the writer waits for the reader.
    let (out, chunks) = sync_channel(1);
    let path = input.path.clone();
    let pump = move || match path {
        None => hand_on(io::stdin(), &out),
        Some(path) => match File::open(path) {
            Ok(file) => hand_on(file, &out),
            Err(error) => drop(out.send(Err(error))),
        },
    };
    match thread::Builder::new().spawn(pump) {
        Ok(_) => Ok(Opening { input, chunks }),
        Err(error) => Err(unreadable(&input.name, &error)),
    }
}

/// Sends what is read, an empty chunk first: it is open. Ends when the receiver is gone.
fn hand_on(mut from: impl Read, out: &SyncSender<io::Result<Vec<u8>>>) {
    let mut chunk = Vec::new();
    while out.send(Ok(std::mem::take(&mut chunk))).is_ok() {
        chunk.resize(CHUNK, 0);
        match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => chunk.truncate(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => chunk.clear(),
            Err(error) => return drop(out.send(Err(error))),
        }
    }
}

impl Opening {
    /// The input.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Its text, decompressed if necessary, if it is open in time.
    pub fn within(
        self,
        time: Duration,
        patience: &Patience,
    ) -> Result<Result<packed::Input, Opening>, Diagnostic> {
        match self.chunks.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(Err(self)),
            Ok(Err(error)) => Err(unreadable(&self.input.name, &error)),
            Ok(Ok(_)) | Err(RecvTimeoutError::Disconnected) => {
                let name = Arc::clone(&self.input.name);
                let patience = patience.clone();
                let chunks = BufReader::new(Chunks {
                    name: Arc::clone(&name),
                    patience,
                    chunks: self.chunks,
                    chunk: io::Cursor::default(),
                    told: false,
                });
                packed::unpacked(Box::new(chunks)).map(Ok).map_err(|error| unreadable(&name, &error))
            }
        }
    }
}

/// The bytes of an input that may keep waiting.
struct Chunks {
    name: Arc<str>,
    patience: Patience,
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
    /// Whether the wait was reported.
    told: bool,
}

impl Chunks {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut time = SILENT;
        loop {
            match self.chunks.recv_timeout(time) {
                Ok(Ok(chunk)) if chunk.is_empty() => {}
                Ok(chunk) => return chunk.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if (self.patience.broken_off)() => {
                    return Err(io::Error::other("interrupted while waiting for it"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if !std::mem::replace(&mut self.told, true) {
                        (self.patience.say)(&format!(
                            "waiting for `{}`, which has sent nothing yet",
                            self.name
                        ));
                    }
                    time = LOOK;
                }
            }
        }
    }
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            match self.next()? {
                Some(chunk) => self.chunk = io::Cursor::new(chunk),
                None => return Ok(0),
            }
        }
    }
}
