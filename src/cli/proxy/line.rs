//! The connection between the client and the server: lines in, lines out.

use std::io::{self, BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ChildStdin;
use std::sync::mpsc::Sender;
#[cfg(feature = "proxy-http")]
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::live::proxy::{Delivery, Proxy};

/// How long a server may take to end after its input was closed, and again after a signal.
pub const GRACE: Duration = Duration::from_secs(2);

/// Why the connection ends.
pub enum End {
    Client,
    /// The reason, if known.
    Server(
        #[cfg_attr(
            not(feature = "proxy-http"),
            expect(dead_code, reason = "a server nearby says it itself")
        )]
        Option<String>,
    ),
    Defect,
}

/// The receiver of messages for the server.
pub enum Server {
    Child(ChildStdin),
    #[cfg(feature = "proxy-http")]
    Remote(SyncSender<String>),
}

/// The receivers of messages.
pub struct Line {
    pub proxy: Proxy,
    server: Mutex<Option<Server>>,
}

/// Passes the lines of the client on.
pub fn read_client(line: &Arc<Line>, ends: &Sender<End>) {
    read(BufReader::new(io::stdin()), line, ends, Proxy::client_line, || End::Client);
}

/// Passes the lines of a server on.
pub fn read_server(output: impl BufRead + Send + 'static, line: &Arc<Line>, ends: &Sender<End>) {
    read(output, line, ends, Proxy::server_line, || End::Server(None));
}

/// Passes lines on until there are no more.
fn read(
    mut input: impl BufRead + Send + 'static,
    line: &Arc<Line>,
    ends: &Sender<End>,
    become_of: fn(&Proxy, &[u8]) -> Vec<Delivery>,
    end: fn() -> End,
) {
    let (line, ends) = (Arc::clone(line), ends.clone());
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let passed = catch_unwind(AssertUnwindSafe(|| {
            while matches!(input.read_until(b'\n', &mut bytes), Ok(1..)) {
                if !line.deliver(become_of(&line.proxy, &bytes)) {
                    return End::Client;
                }
                bytes.clear();
            }
            end()
        }));
        // If this fails, it is no longer waited for.
        let _ = ends.send(passed.unwrap_or(End::Defect));
    });
}

impl Line {
    pub fn new(proxy: Proxy, server: Option<Server>) -> Line {
        Line { proxy, server: Mutex::new(server) }
    }

    /// Whether the client still listens.
    pub fn deliver(&self, deliveries: Vec<Delivery>) -> bool {
        for delivery in deliveries {
            match delivery {
                Delivery::Client(text) => {
                    let mut output = io::stdout().lock();
                    if writeln!(output, "{text}").and_then(|()| output.flush()).is_err() {
                        return false;
                    }
                }
                Delivery::Server(text) => {
                    let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
                    // A server that does not listen has ended or will; what waits for it is answered then.
                    match server.as_mut() {
                        Some(Server::Child(server)) => {
                            let line = format!("{text}\n");
                            let _ = server.write_all(line.as_bytes()).and_then(|()| server.flush());
                        }
                        #[cfg(feature = "proxy-http")]
                        Some(Server::Remote(server)) => drop(server.send(text)),
                        None => {}
                    }
                }
                Delivery::Note(text) => {
                    let _ = writeln!(io::stderr(), "rulestep: {text}");
                }
            }
        }
        true
    }

    pub fn close_server(&self) {
        // A message that the server does not read may hold it.
        if let Ok(mut server) = self.server.try_lock() {
            server.take();
        }
    }
}
