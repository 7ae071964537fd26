//! An MCP server over HTTP ("streamable HTTP", from version 2025-03-26 on).
//!
//! Each message of the client is a POST. The server's answers, as JSON or as a stream of events, and its messages on
//! the stream of a GET, are passed to the proxy like lines of a process. Nothing is decided here. A request is sent
//! once: if its answer does not come, the client gets an error, and only the stream of the answer is requested again.

mod endpoint;
mod outgoing;
mod requests;
mod sse;

use std::collections::HashMap;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use ureq::{Agent, Body};

use super::message::{Members, key};
pub use endpoint::{Endpoint, Options};
use outgoing::Outgoing;
use requests::{Answer, Failure, Requests};

/// The most requests that wait for an answer at once: each has a thread.
const OPEN: usize = 256;
/// The pause before a stream is opened again, unless the server says another.
const RETRY: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(30);
/// How often the stream of an answer is requested again without an event in between.
const RESUMES: usize = 5;

/// Receives the server's messages.
pub trait Peer: Send + Sync {
    /// A message of the server. Messages come one after the other.
    fn message(&self, bytes: &[u8]);
    /// The answer to a request, by the key of its id, will not come. `begun` is whether the server may have begun with it.
    fn failed(&self, id: &str, why: &str, begun: bool);
    /// A note for the user.
    fn note(&self, text: String);
    /// The connection has ended, and why.
    fn ended(&self, why: &str);
}

/// A connection to a server.
pub struct Client {
    requests: Requests,
    peer: Arc<dyn Peer>,
    shared: Mutex<Shared>,
    changed: Condvar,
    /// Held while a message is passed on, so that what the policy hides after one is not shown by the next.
    order: Mutex<()>,
}

#[derive(Default)]
struct Shared {
    /// Requests that have no answer, by the key of their id.
    open: HashMap<String, Arc<Exchange>>,
    /// The number of threads that wait for answers.
    threads: usize,
    listening: bool,
    /// Whether the connection has ended, so that nothing is passed on.
    ended: bool,
}

/// A request and its answer so far.
struct Exchange {
    id: String,
    outgoing: Outgoing,
    /// Its own connections, if closing them is what cancels it.
    agent: Option<Agent>,
    answered: AtomicBool,
    cancelled: AtomicBool,
}

impl Exchange {
    fn is_answered(&self) -> bool {
        self.answered.load(Ordering::SeqCst)
    }
}

impl Client {
    /// To a server, without a request yet.
    pub fn new(endpoint: Endpoint, peer: Arc<dyn Peer>) -> Client {
        let (shared, changed, order) = Default::default();
        Client { requests: Requests::new(endpoint), peer, shared, changed, order }
    }

    /// Sends messages until there are no more.
    pub fn run(self: &Arc<Self>, messages: &Receiver<String>) {
        for text in messages {
            self.send(text);
        }
    }

    fn send(self: &Arc<Self>, text: String) {
        let Some(outgoing) = Outgoing::read(&text) else { return };
        if let Some(cancelled) = &outgoing.cancels {
            let exchange = self.lock().open.get(cancelled).cloned();
            if let Some(exchange) = exchange {
                exchange.cancelled.store(true, Ordering::SeqCst);
                if let Some(agent) = exchange.agent.clone() {
                    return agent.shutdown();
                }
            }
        }
        let Some(id) = outgoing.id.clone() else { return self.tell(&outgoing, &text) };
        let agent = outgoing.version.as_ref().map(|_| self.requests.agent());
        let handshake = outgoing.is("initialize");
        let (answered, cancelled) = Default::default();
        let exchange = Arc::new(Exchange { id, outgoing, agent, answered, cancelled });
        {
            let mut shared = self.lock();
            if shared.threads >= OPEN {
                drop(shared);
                let why = format!("{OPEN} requests have no answer yet");
                return self.peer.failed(&exchange.id, &why, false);
            }
            shared.threads += 1;
            shared.open.insert(exchange.id.clone(), Arc::clone(&exchange));
        }
        let (own, request) = (Arc::clone(self), Arc::clone(&exchange));
        if handshake {
            self.requests.begin();
        }
        let work = move || own.exchange(&request, &text);
        if handshake {
            // What comes next needs the session that the answer names.
            return work();
        }
        if let Err(error) = thread::Builder::new().spawn(work) {
            self.close(&exchange, Err(Failure::before(format!("no thread can be started: {error}"))));
        }
    }

    /// Sends a request, and takes its answers.
    fn exchange(&self, exchange: &Exchange, text: &str) {
        let answered = catch_unwind(AssertUnwindSafe(|| self.answer(exchange, text)));
        self.close(exchange, answered.unwrap_or_else(|_| Err(Failure::after("Rulestep has a defect"))));
    }

    fn close(&self, exchange: &Exchange, answered: Result<(), Failure>) {
        {
            let mut shared = self.lock();
            shared.threads = shared.threads.saturating_sub(1);
            if shared.open.get(&exchange.id).is_some_and(|open| std::ptr::eq(&**open, exchange)) {
                shared.open.remove(&exchange.id);
            }
        }
        let failure = answered
            .err()
            .unwrap_or_else(|| Failure::after("what it answered holds no response to this request"));
        // The answer to a cancelled request is not waited for.
        if !exchange.is_answered() && !exchange.cancelled.load(Ordering::SeqCst) {
            self.fail(exchange, &failure);
        }
        self.changed.notify_all();
    }

    fn fail(&self, exchange: &Exchange, failure: &Failure) {
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.lock().ended {
            self.peer.failed(&exchange.id, &self.requests.scrub(&failure.why), failure.begun);
        }
        drop(order);
        if failure.gone {
            self.gone(&failure.why);
        }
    }

    /// Takes the answer to a request, as JSON or as events.
    fn answer(&self, exchange: &Exchange, text: &str) -> Result<(), Failure> {
        let answer = self.requests.post(&exchange.outgoing, exchange.agent.as_ref(), text)?;
        let mut body = match answer {
            Answer::Message(bytes) => {
                self.receive(&bytes);
                return Ok(());
            }
            // An error that the server explains is its answer, if it is one to this request.
            Answer::Refused(bytes, failure) => {
                if !failure.gone && is_response(&bytes, &exchange.id) {
                    self.receive(&bytes);
                    return Ok(());
                }
                return Err(failure);
            }
            Answer::Empty(status) => {
                return Err(Failure::after(format!(
                    "HTTP {status}: it accepted the request without an answer"
                )));
            }
            Answer::Events(body) => body,
        };
        let mut events = sse::Reader::default();
        let mut resumes = 0;
        loop {
            let before = events.last_id().map(<[u8]>::to_owned);
            let read = self.events(body, &mut events, Some(exchange));
            if exchange.is_answered() {
                return Ok(());
            }
            let failure = match read {
                Ok(()) => Failure::after("the stream of its answer ended before the response"),
                Err(failure) if failure.last => return Err(failure),
                Err(failure) => failure,
            };
            let Some(id) = events.last_id().filter(|_| exchange.outgoing.version.is_none()) else {
                return Err(failure);
            };
            if before.as_deref() != Some(id) {
                resumes = 0;
            }
            // The stream is requested again, the request is not sent again.
            let id = id.to_owned();
            body = loop {
                resumes += 1;
                let pause = events.retry().map_or(RETRY, Duration::from_millis);
                if resumes > RESUMES || !self.wait(pause) || exchange.is_answered() {
                    return if exchange.is_answered() { Ok(()) } else { Err(failure) };
                }
                match self.requests.get(Some(&id)) {
                    Ok(body) => break body,
                    Err(again) if again.last => return Err(again),
                    Err(_) => {}
                }
            };
        }
    }

    /// Receives the server's own messages, for as long as it sends any.
    fn listen(&self) {
        let mut events = sse::Reader::default();
        let mut pause = RETRY;
        loop {
            let id = events.last_id().map(<[u8]>::to_owned);
            let read = self.requests.get(id.as_deref()).and_then(|body| self.events(body, &mut events, None));
            match read {
                Err(failure) if failure.last => {
                    // A server without such a stream says so.
                    if !failure.unsupported {
                        let why = self.requests.scrub(&failure.why);
                        self.peer.note(format!("the MCP server cannot send messages by itself: {why}"));
                    }
                    return;
                }
                _ => {}
            }
            let asked = events.retry().map_or(RETRY, Duration::from_millis);
            let heard = events.last_id().map(<[u8]>::to_owned) != id;
            pause = if heard { asked } else { (pause * 2).min(LONGEST).max(asked) };
            if !self.wait(pause) {
                return;
            }
        }
    }

    /// Passes the messages of a stream on, until it ends or has answered the request that it is for.
    fn events(
        &self,
        body: Body,
        events: &mut sse::Reader,
        exchange: Option<&Exchange>,
    ) -> Result<(), Failure> {
        let mut reader = body.into_reader();
        let mut bytes = vec![0; 16 << 10];
        let read = loop {
            let read = match reader.read(&mut bytes) {
                Ok(0) => break Ok(()),
                Ok(read) => bytes.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(Failure::after(format!("the connection broke: {error}"))),
            };
            if events.push(read, |message| self.receive(message)).is_err() {
                break Err(requests::too_long());
            }
            if exchange.is_some_and(Exchange::is_answered) || self.lock().ended {
                break Ok(());
            }
        };
        events.end();
        read
    }

    /// Sends what has no answer.
    fn tell(self: &Arc<Self>, outgoing: &Outgoing, text: &str) {
        let failure = match self.requests.post(outgoing, None, text) {
            Ok(Answer::Refused(_, failure)) | Err(failure) => failure,
            Ok(_) => {
                if outgoing.is("notifications/initialized") {
                    self.begin_to_listen();
                }
                return;
            }
        };
        let what = outgoing.method.as_deref().unwrap_or("an answer");
        let why = self.requests.scrub(&failure.why);
        self.peer.note(format!("the MCP server did not take {what}: {why}"));
        if failure.gone {
            self.gone(&failure.why);
        }
    }

    fn begin_to_listen(self: &Arc<Self>) {
        {
            let has_streams = self.requests.has_streams();
            if !has_streams || std::mem::replace(&mut self.lock().listening, true) {
                return;
            }
        }
        let own = Arc::clone(self);
        let started = thread::Builder::new().spawn(move || {
            let listened = catch_unwind(AssertUnwindSafe(|| own.listen()));
            own.lock().listening = false;
            if listened.is_err() {
                own.peer.note("Rulestep has a defect: messages of the MCP server are not heard".to_owned());
            }
        });
        if let Err(error) = started {
            self.lock().listening = false;
            self.peer.note(format!("messages of the MCP server are not heard: {error}"));
        }
    }

    /// Passes a message of the server on.
    fn receive(&self, bytes: &[u8]) {
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lock().ended {
            return;
        }
        self.read(bytes);
        self.peer.message(bytes);
        drop(order);
        self.changed.notify_all();
    }

    /// Notes what a message answers.
    fn read(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let batch: Vec<&RawValue> = serde_json::from_str(&text).unwrap_or_default();
        let messages: Vec<&str> =
            if batch.is_empty() { vec![&*text] } else { batch.iter().map(|message| message.get()).collect() };
        for text in messages {
            let Ok(message) = Members::read(text) else { continue };
            let id = message.get("id").filter(|_| message.get("method").is_none()).map(key);
            let answered = id.and_then(|id| self.lock().open.remove(&id));
            let Some(exchange) = answered else { continue };
            if exchange.outgoing.is("initialize") {
                let result = message.object("result").unwrap_or_default();
                self.requests.agree(result.text("protocolVersion"));
            }
            if exchange.outgoing.is("tools/list") && exchange.outgoing.version.is_some() {
                self.requests.learn(text).into_iter().for_each(|note| self.peer.note(note));
            }
            exchange.answered.store(true, Ordering::SeqCst);
        }
    }

    /// The server no longer knows the session.
    fn gone(&self, why: &str) {
        self.peer.ended(&self.requests.scrub(why));
    }

    /// Waits; false if the connection has ended meanwhile.
    fn wait(&self, pause: Duration) -> bool {
        self.until(pause, |shared| shared.ended);
        !self.lock().ended
    }

    fn until(&self, time: Duration, so: impl Fn(&Shared) -> bool) {
        let begun = Instant::now();
        let mut shared = self.lock();
        while !so(&shared)
            && let Some(left) = time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero())
        {
            shared = self.changed.wait_timeout(shared, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the connection: answers may still come for that time, then the session is deleted.
    pub fn finish(&self, time: Duration) {
        // A subscription is never answered.
        self.until(time, |shared| {
            shared.open.values().all(|exchange| exchange.outgoing.is("subscriptions/listen"))
        });
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock().ended = true;
        drop(order);
        self.changed.notify_all();
        self.requests.delete();
        let open: Vec<Arc<Exchange>> = self.lock().open.drain().map(|(_, exchange)| exchange).collect();
        open.iter().filter_map(|exchange| exchange.agent.clone()).for_each(Agent::shutdown);
        self.requests.shutdown();
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_response(bytes: &[u8], id: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let message = Members::read(&text).unwrap_or_default();
    message.get("method").is_none() && message.get("id").is_some_and(|own| key(own) == id)
}
