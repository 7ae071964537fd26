//! HTTP requests, and the messages for failed ones.

use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ureq::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use ureq::http::{Method, Request, Response, StatusCode, Uri};
use ureq::{Agent, AsSendBody, Body, Error, RequestExt, Timeout};

use super::endpoint::Endpoint;
use super::outgoing::{Outgoing, Tools, is_stateless};
use super::sse;
use crate::live::proxy::message::Members;
use rulestep_base::wording::line;

/// Timeout for the server to accept a message without an answer.
const ACCEPTED: Duration = Duration::from_secs(30);
/// Timeout for ending the session.
const DELETED: Duration = Duration::from_secs(2);
/// The most redirects of one request.
const REDIRECTS: usize = 5;
/// The most bytes that are read of an answer which says why it failed.
const EXPLAINED: u64 = 1 << 20;
/// The most letters of the server's words in a message of ours.
const WORDS: usize = 300;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The answer to a POST.
pub enum Answer {
    /// A message of JSON-RPC, or several.
    Message(Vec<u8>),
    Events(Body),
    /// The server took the message and says nothing.
    Empty(StatusCode),
    /// A status that is an error, with its body.
    Refused(Vec<u8>, Failure),
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Failure {
    pub why: String,
    /// Whether the server may have begun with the request.
    pub begun: bool,
    /// The server no longer knows the session.
    pub gone: bool,
    /// Asking again would give the same.
    pub last: bool,
    /// The server does not offer this.
    pub unsupported: bool,
}

fn is_about_certificate(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}

impl Failure {
    /// The server may have begun.
    pub fn after(why: impl Into<String>) -> Failure {
        Failure { why: why.into(), begun: true, gone: false, last: false, unsupported: false }
    }

    /// The server cannot have begun.
    pub fn before(why: impl Into<String>) -> Failure {
        Failure { begun: false, ..Failure::after(why) }
    }

    /// The failure for the status of an answer.
    fn status(status: StatusCode, words: &str) -> Failure {
        // The server says that it did not execute the request. A timeout and errors of a gateway say nothing about
        // that.
        let begun = !status.is_client_error() || status == StatusCode::REQUEST_TIMEOUT;
        let hint = match status {
            StatusCode::UNAUTHORIZED => "; pass its credentials with `--header` or `--header-env`",
            _ => "",
        };
        let why = match words {
            "" => format!("HTTP {status}{hint}"),
            words => format!("HTTP {status}: {words}{hint}"),
        };
        let unsupported = matches!(status.as_u16(), 404 | 405 | 501);
        Failure { begun, last: true, unsupported, ..Failure::after(why) }
    }

    fn of(error: &Error) -> Failure {
        match error {
            Error::HostNotFound => Failure::before("its host is not known"),
            Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Failure::before("it refuses connections")
            }
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                Failure::before("no connection was made in 30 seconds")
            }
            Error::Io(error) if error.to_string().contains("lookup address") => {
                Failure::before(format!("its host is not known: {error}"))
            }
            // It is checked before anything is sent.
            Error::Io(error) if is_about_certificate(error) => {
                Failure::before(format!("TLS failed: {error}"))
            }
            Error::Io(error) => Failure::after(format!("the connection broke: {error}")),
            other => Failure::after(format!("the connection broke: {other}")),
        }
    }
}

/// Common parts of the requests to a server.
pub struct Requests {
    endpoint: Endpoint,
    agent: Agent,
    session: Mutex<Session>,
}

/// The session between server and client.
#[derive(Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
    tools: Tools,
}

impl Requests {
    pub fn new(endpoint: Endpoint) -> Requests {
        let agent = endpoint.agent();
        Requests { endpoint, agent, session: Mutex::default() }
    }

    /// Connections of their own, which one shutdown ends.
    pub fn agent(&self) -> Agent {
        self.endpoint.agent()
    }

    /// The same text without secrets.
    pub fn scrub(&self, text: &str) -> String {
        self.endpoint.scrub(text)
    }

    /// A handshake begins, which no session is part of.
    pub fn begin(&self) {
        *self.lock() = Session::default();
    }

    /// The handshake agreed on a version.
    pub fn agree(&self, version: Option<String>) {
        self.lock().version = version;
    }

    /// Whether the version has streams of the server's own messages.
    pub fn has_streams(&self) -> bool {
        !self.lock().version.as_deref().is_some_and(is_stateless)
    }

    /// Reads the answer to `tools/list`; returns problems with it.
    pub fn learn(&self, answer: &str) -> Vec<String> {
        self.lock().tools.learn(answer)
    }

    /// Ends all connections.
    pub fn shutdown(&self) {
        self.agent.clone().shutdown();
    }

    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message.
    pub fn post(&self, outgoing: &Outgoing, agent: Option<&Agent>, text: &str) -> Result<Answer, Failure> {
        let (mut headers, in_session) = self.headers(outgoing.version.as_deref());
        headers.extend(outgoing.mirrored(&self.lock().tools));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let limit = outgoing.id.is_none().then_some(ACCEPTED);
        let response = self.request(agent.unwrap_or(&self.agent), &Method::POST, &headers, text, limit)?;
        let (status, kind) = (response.status(), kind(&response));
        if !status.is_success() {
            let bytes = body(response.into_body(), EXPLAINED).unwrap_or_default();
            let failure = refused(status, in_session, &explained(&bytes, &kind));
            return Ok(Answer::Refused(bytes, failure));
        }
        if outgoing.is("initialize")
            && let Some(session) = response.headers().get(SESSION).and_then(|id| id.to_str().ok())
        {
            self.lock().id = Some(session.to_owned());
        }
        if outgoing.id.is_none() || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(Answer::Empty(status));
        }
        match &*kind {
            JSON => {
                let bytes = body(response.into_body(), sse::LIMIT as u64)?;
                Ok(Answer::Message(bytes))
            }
            EVENTS => Ok(Answer::Events(response.into_body())),
            other => {
                let kind = if other.is_empty() { "nothing that it names".to_owned() } else { line(other) };
                Err(Failure::after(format!("it answered with {kind}, neither JSON nor a stream of events")))
            }
        }
    }

    /// Opens a stream of the server's messages, or continues one after an event.
    pub fn get(&self, after: Option<&[u8]>) -> Result<Body, Failure> {
        let (mut headers, _) = self.headers(None);
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        if let Some(id) = after {
            let id = HeaderValue::from_bytes(id);
            let last =
                |_| Failure { last: true, ..Failure::after("the id of its last event cannot be sent") };
            headers.insert(LAST_EVENT, id.map_err(last)?);
        }
        let response = self.request(&self.agent, &Method::GET, &headers, "", None)?;
        let status = response.status();
        if !status.is_success() {
            // A server without this method may say 404 as well, so that is no word about the session.
            return Err(Failure::status(status, ""));
        }
        if kind(&response) != EVENTS {
            let why = "it answered a request for a stream of events with something else";
            return Err(Failure { last: true, ..Failure::after(why) });
        }
        Ok(response.into_body())
    }

    /// Deletes the session. A server need not allow it, and the answer is ignored.
    pub fn delete(&self) {
        let (headers, in_session) = self.headers(None);
        if in_session {
            let _ = self.request(&self.agent, &Method::DELETE, &headers, "", Some(DELETED));
        }
    }

    /// The headers of every request; and whether a session is among them.
    fn headers(&self, version: Option<&str>) -> (HeaderMap, bool) {
        let mut headers = self.endpoint.headers().clone();
        let agreed = self.lock();
        let negotiated = version.or(agreed.version.as_deref());
        if let Some(version) = negotiated.and_then(|version| HeaderValue::from_str(version).ok()) {
            headers.insert(VERSION, version);
        }
        let session = agreed.id.as_deref().filter(|_| version.is_none());
        let session = session.and_then(|id| HeaderValue::from_str(id).ok());
        let in_session = session.is_some();
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        (headers, in_session)
    }

    fn request(
        &self,
        agent: &Agent,
        method: &Method,
        headers: &HeaderMap,
        text: &str,
        limit: Option<Duration>,
    ) -> Result<Response<Body>, Failure> {
        let mut uri = self.endpoint.uri().clone();
        for _ in 0..=REDIRECTS {
            let response = self.once(agent, method, &uri, headers, text, limit)?;
            let status = response.status();
            if !status.is_redirection() {
                return Ok(response);
            }
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let target = self.endpoint.redirected(&uri, location.unwrap_or_default());
            // Others would make a GET of a POST.
            let again = matches!(status.as_u16(), 307 | 308) || *method == Method::GET;
            match target {
                Ok(target) if again => uri = target,
                Ok(_) => return Err(Failure::status(status, "the redirect is not followed")),
                Err(target) => {
                    let why =
                        format!("the redirect to {target} is not followed; pass that URL if you trust it");
                    return Err(Failure::status(status, &why));
                }
            }
        }
        Err(Failure { last: true, ..Failure::after(format!("more than {REDIRECTS} redirects")) })
    }

    fn once(
        &self,
        agent: &Agent,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        text: &str,
        limit: Option<Duration>,
    ) -> Result<Response<Body>, Failure> {
        let mut request = Request::builder().method(method.clone()).uri(uri.clone());
        if let Some(all) = request.headers_mut() {
            all.clone_from(headers);
        }
        let wrong = |error| Failure::before(format!("it cannot be asked: {error}"));
        let sent = if *method == Method::POST {
            request.body(text.as_bytes()).map_err(wrong).map(|request| run(agent, request, limit))
        } else {
            request.body(()).map_err(wrong).map(|request| run(agent, request, limit))
        };
        sent?.map_err(|error| Failure::of(&error))
    }
}

fn run(
    agent: &Agent,
    request: Request<impl AsSendBody>,
    limit: Option<Duration>,
) -> Result<Response<Body>, Error> {
    if limit.is_none() {
        return agent.run(request);
    }
    request.with_agent(agent).configure().timeout_recv_response(limit).timeout_recv_body(limit).build().run()
}

fn refused(status: StatusCode, in_session: bool, words: &str) -> Failure {
    let gone = status == StatusCode::NOT_FOUND && in_session;
    match gone {
        true => Failure { gone, last: true, ..Failure::before("HTTP 404: it no longer knows this session") },
        false => Failure::status(status, words),
    }
}

fn kind(response: &Response<Body>) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A message exceeds the limit.
pub fn too_long() -> Failure {
    Failure {
        last: true,
        ..Failure::after(format!("a message of it is larger than {} MiB", sse::LIMIT >> 20))
    }
}

/// The whole body.
fn body(body: Body, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = body.into_reader().take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::after(format!("the connection broke: {error}")))?;
    if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(bytes) }
}

/// The server's message about an error, on one line.
fn explained(bytes: &[u8], kind: &str) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words = match kind {
        JSON => {
            let message = Members::read(&text).unwrap_or_default();
            let error = message.object("error").and_then(|error| error.text("message"));
            error.or_else(|| message.text("error_description")).or_else(|| message.text("error"))
        }
        "text/plain" => Some(text.trim().to_owned()),
        _ => None,
    };
    let words: String = words.unwrap_or_default().chars().take(WORDS).collect();
    line(&words)
}
