//! The program in a pseudo-terminal, and what a terminal makes of what it writes.

use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
/// Linux counts processor time in hundredths of a second, whatever its own clock.
const TICKS: f64 = 100.0;

/// What ends a frame.
const END: &[u8] = b"\x1b[?2026l";

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: vt100::Parser,
    /// What was written, and when it was read.
    output: Receiver<(Instant, Vec<u8>)>,
    /// What was not processed yet, and when the end of it was read.
    rest: Vec<u8>,
    read: Instant,
    /// A frame was drawn to its end.
    drawn: bool,
    /// It keeps the terminal open.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Opens a recording under a policy. What the program keeps goes into this folder.
    pub fn start(binary: &Path, policy: &Path, file: &Path, folder: &Path) -> Terminal {
        let pair = native_pty_system().openpty(SIZE).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(binary);
        command.args(["--no-restore", "-p"]);
        command.args([policy, file]);
        for (name, value) in [("TERM", "xterm-256color"), ("LANG", "C.UTF-8")] {
            command.env(name, value);
        }
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(name, folder.join(name));
        }
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let keys = pair.master.take_writer().expect("keys can be pressed");
        let mut reader = pair.master.try_clone_reader().expect("the output can be read");
        let (written, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if written.send((Instant::now(), bytes[..count].to_vec())).is_err() {
                    return;
                }
            }
        });
        let (rows, columns) = (SIZE.rows.try_into().expect("rows"), SIZE.cols.try_into().expect("columns"));
        let screen = vt100::Parser::new(rows, columns, 0);
        Terminal {
            child,
            keys,
            screen,
            output,
            rest: Vec::new(),
            read: Instant::now(),
            drawn: false,
            _master: pair.master,
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys can be pressed");
        self.keys.flush().expect("keys can be pressed");
    }

    /// When the screen first showed something; `None` where it has not after this time. Only whole frames are looked at.
    pub fn wait(&mut self, time: Duration, shows: impl Fn(&Terminal) -> bool) -> Option<Instant> {
        let until = Instant::now() + time;
        // Something else was waited for when it came.
        if self.drawn && shows(self) {
            return Some(self.read);
        }
        loop {
            while let Some(end) = self.rest.windows(END.len()).position(|bytes| bytes == END) {
                let rest = self.rest.split_off(end + END.len());
                self.screen.process(&std::mem::replace(&mut self.rest, rest));
                self.drawn = true;
                if shows(self) {
                    return Some(self.read);
                }
            }
            let (at, bytes) =
                self.output.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            self.read = at;
            self.rest.extend(bytes);
        }
    }

    /// The same, where it has to.
    pub fn until(&mut self, time: Duration, shows: impl Fn(&Terminal) -> bool) -> Instant {
        let shown = self.wait(time, shows);
        shown.unwrap_or_else(|| {
            panic!("it does not show within {time:?}:\n{}", self.screen.screen().contents())
        })
    }

    pub fn is_drawn(&self) -> bool {
        self.drawn
    }

    /// `12/345` in the first line: the open session, and how many there are.
    fn place(&self) -> Option<(usize, usize)> {
        let header = self.line(0);
        let mut words = header.split_whitespace().filter_map(|word| {
            let (open, all) = word.split_once('/')?;
            Some((open.parse().ok()?, all.parse().ok()?))
        });
        words.next()
    }

    pub fn open(&self) -> Option<usize> {
        self.place().map(|(open, _)| open)
    }

    pub fn sessions(&self) -> usize {
        self.place().map_or(0, |(_, all)| all)
    }

    /// Everything is read and judged: the last line says nothing of work.
    pub fn is_done(&self) -> bool {
        let footer = self.line(usize::from(SIZE.rows) - 1);
        !footer.trim().is_empty()
            && !footer.contains("reading ")
            && !footer.contains("judging ")
            && self.sessions() > 0
    }

    /// All that is on the screen.
    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    fn line(&self, at: usize) -> String {
        self.screen.screen().rows(0, SIZE.cols).nth(at).unwrap_or_default()
    }

    /// Seconds of the processors that the program has taken.
    pub fn processor(&self) -> f64 {
        let id = self.child.process_id().expect("it runs");
        ticks(&format!("/proc/{id}/stat"), [13, 14])
    }

    /// The most memory that it has had.
    pub fn megabytes(&self) -> f64 {
        let id = self.child.process_id().expect("it runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("Linux says what it knows");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak.and_then(|kb| kb.parse::<f64>().ok()).expect("Linux says how much memory it has had") / 1e3
    }

    pub fn end(mut self) {
        self.press("q");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "it ends with {status:?}");
    }
}

/// Seconds of the processors that programs have taken that were waited for.
pub fn children() -> f64 {
    ticks("/proc/self/stat", [15, 16])
}

/// The sum of two fields of what Linux says of a process (see `proc_pid_stat(5)`, counted from 0), in seconds.
fn ticks(file: &str, fields: [usize; 2]) -> f64 {
    let text = std::fs::read_to_string(file).expect("Linux says what it knows");
    // The second field is the name of the program in brackets, which may hold blanks.
    let rest: Vec<&str> = text.rsplit_once(") ").expect("a name").1.split(' ').collect();
    fields.iter().map(|field| rest[field - 2].parse::<f64>().expect("a number")).sum::<f64>() / TICKS
}
