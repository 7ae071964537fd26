//! A server that is reached over HTTP.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::line::{End, GRACE, Line, Server, read_client};
use crate::live::proxy::http::{Client, Endpoint, Peer};
use crate::live::proxy::{Delivery, Proxy};

/// Most messages that may wait to be sent.
const WAITING: usize = 256;

/// The server's messages, on their way to the client.
struct Incoming {
    line: Arc<Line>,
    ends: Sender<End>,
}

impl Incoming {
    fn deliver(&self, deliveries: Vec<Delivery>) {
        if !self.line.deliver(deliveries) {
            let _ = self.ends.send(End::Client);
        }
    }
}

impl Peer for Incoming {
    fn message(&self, bytes: &[u8]) {
        self.deliver(self.line.proxy.server_line(bytes));
    }

    fn failed(&self, id: &str, why: &str, begun: bool) {
        self.deliver(self.line.proxy.server_failed(id, why, begun));
    }

    fn note(&self, text: String) {
        self.deliver(vec![Delivery::Note(text)]);
    }

    fn ended(&self, why: &str) {
        let _ = self.ends.send(End::Server(Some(why.to_owned())));
    }
}

/// Passes messages until one side ends the connection. An error if the client did not end it.
pub fn run(endpoint: Endpoint, proxy: Proxy) -> Result<(), String> {
    let (send, messages) = sync_channel(WAITING);
    let (ends, ended) = channel();
    let line = Arc::new(Line::new(proxy, Some(Server::Remote(send))));
    // A signal ends the connection as its client would.
    let interrupted = ends.clone();
    let _ = ctrlc::set_handler(move || drop(interrupted.send(End::Client)));
    let incoming = Incoming { line: Arc::clone(&line), ends: ends.clone() };
    let client = Arc::new(Client::new(endpoint, Arc::new(incoming)));
    let (sent, all_sent) = channel::<()>();
    let (sender, failed) = (Arc::clone(&client), ends.clone());
    thread::spawn(move || {
        if catch_unwind(AssertUnwindSafe(|| sender.run(&messages))).is_err() {
            let _ = failed.send(End::Defect);
        }
        drop(sent);
    });
    read_client(&line, &ends);
    let end = ended.recv().unwrap_or(End::Defect);
    line.close_server();
    let (result, why) = match end {
        End::Client => {
            // Its remaining answers reach the client.
            let _ = all_sent.recv_timeout(GRACE);
            client.finish(GRACE);
            (Ok(()), None)
        }
        End::Server(why) => {
            client.finish(Duration::ZERO);
            let why = why.unwrap_or_default();
            (Err(format!("the MCP server ended the session: {why}")), Some(why))
        }
        End::Defect => {
            client.finish(Duration::ZERO);
            let what = "Rulestep has a defect and stopped; report it, with the messages before";
            (Err(what.to_owned()), None)
        }
    };
    let why = why.map(|why| format!("the MCP server ended the session before it answered: {why}"));
    line.deliver(line.proxy.server_ended(why.as_deref()));
    line.deliver(line.proxy.close());
    result
}
