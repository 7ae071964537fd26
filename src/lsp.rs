//! The language server: handles an editor's messages about its open policies.
//!
//! [`Server::handle`] takes one event (a message, files that were read, counts) and returns effects: messages to send,
//! a folder to read, something to count. It reads no file, knows no thread and no clock, so that any behaviour of an
//! editor can be replayed in a test. The code that runs it reads and counts, and sends the results back as events.

mod complete;
mod context;
pub mod evidence;
mod folder;
mod place;
mod show;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::Notification as _;
use lsp_types::request::Request as _;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeLensOptions, CompletionOptions, DiagnosticRelatedInformation,
    DiagnosticSeverity, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    InitializeParams, Location, MessageType, NumberOrString, OneOf, PublishDiagnosticsParams, Range,
    SaveOptions, ServerCapabilities, ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, Uri, notification, request,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::evidence::{Counts, Recorded};
use self::folder::Folder;
use self::text::Encoding;
use crate::workspace::Version;
use rulestep_base::diagnostic::{Diagnostic, Place, Severity};
use rulestep_base::wording::line;
use rulestep_engine::policy::{Policy, is_policy};

/// Something that happened.
pub enum Event {
    /// The editor says or asks something.
    Message(Message),
    /// A folder was read.
    Files(String, Version),
    /// The recordings were read.
    Recorded(Arc<Recorded>),
    /// The recordings were counted under the version of a folder.
    Counted(String, Arc<Counts>),
    /// A panic in the program: the work in which it happened, which was not done.
    Fault(String),
}

/// Something to be done.
pub enum Effect {
    /// A message to the editor.
    Send(Message),
    /// Read these recordings. Comes once.
    Open(Vec<String>),
    /// Read a folder of policies.
    Read(String),
    /// Count the recordings under the version of a folder. Later ones make earlier ones stale.
    Count(String, Arc<Policy>),
    /// The end, with an exit code.
    Exit(u8),
}

/// A text that is open in the editor.
struct Buffer {
    text: Arc<str>,
    version: i32,
    /// Whether it is or was a policy. Nothing is reported for other files.
    ours: bool,
}

/// The state of the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Open,
    ShutDown,
}

/// The server.
pub struct Server {
    phase: Phase,
    encoding: Encoding,
    /// Whether the editor can be asked to fetch its code lenses again.
    refreshes: bool,
    /// By path.
    buffers: BTreeMap<String, Buffer>,
    folders: BTreeMap<String, Folder>,
    counts: BTreeMap<String, Arc<Counts>>,
    recorded: Arc<Recorded>,
    /// The folders and files of recordings that the command line names.
    sessions: Vec<String>,
    /// Files that the editor has diagnostics of.
    published: BTreeSet<String>,
    asked: i32,
}

impl Server {
    /// A new server. `sessions` are the recordings of the command line; the editor may name others.
    pub fn new(sessions: Vec<String>) -> Server {
        Server {
            phase: Phase::Before,
            encoding: Encoding::default(),
            refreshes: false,
            buffers: BTreeMap::new(),
            folders: BTreeMap::new(),
            counts: BTreeMap::new(),
            recorded: Arc::default(),
            sessions,
            published: BTreeSet::new(),
            asked: 0,
        }
    }

    /// The effects of an event.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        match event {
            Event::Message(Message::Request(request)) => {
                let answer = self.answer(request, &mut out);
                out.insert(0, Effect::Send(answer.into()));
            }
            Event::Message(Message::Notification(told)) => self.notice(told, &mut out),
            Event::Message(Message::Response(_)) => {}
            // It may have been closed while it was read.
            Event::Files(name, version) if self.is_open(&name) => {
                let folder = self.folders.entry(name.clone()).or_default();
                folder.version = version;
                self.load(&name, &mut out);
            }
            Event::Files(..) => {}
            Event::Fault(doing) => {
                let text = format!(
                    "the program failed while {}, so this part of its answers is missing",
                    line(&doing)
                );
                out.push(message(MessageType::ERROR, text));
            }
            Event::Recorded(recorded) => {
                self.recorded = recorded;
                out.extend(self.recorded.problems.sentence().map(|text| message(MessageType::WARNING, text)));
                let names: Vec<String> = self.folders.keys().cloned().collect();
                names.iter().for_each(|name| self.count(name, &mut out));
            }
            Event::Counted(folder, counts) => {
                self.counts.insert(folder.clone(), counts);
                self.tell(&folder, &mut out);
                if self.refreshes {
                    self.asked += 1;
                    let id = RequestId::from(self.asked);
                    let method = request::CodeLensRefresh::METHOD.to_owned();
                    out.push(Effect::Send(Request { id, method, params: Value::Null }.into()));
                }
            }
        }
        out
    }

    fn answer(&mut self, asked: Request, out: &mut Vec<Effect>) -> Response {
        let Request { id, method, params } = asked;
        let refused = |code: ErrorCode, why: &str| Err((code as i32, why.to_owned()));
        let answered = match (self.phase, method.as_str()) {
            (Phase::Before, request::Initialize::METHOD) => {
                parsed(params).map(|asked| self.initialize(&asked, out))
            }
            (Phase::Before, _) => {
                refused(ErrorCode::ServerNotInitialized, "the first request is `initialize`")
            }
            (Phase::ShutDown, _) => refused(ErrorCode::InvalidRequest, "the server was shut down"),
            (Phase::Open, request::Initialize::METHOD) => {
                refused(ErrorCode::InvalidRequest, "the server was initialized before")
            }
            (Phase::Open, request::Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Open, request::Completion::METHOD) => {
                parsed(params).map(|asked| value(self.completion(&asked)))
            }
            (Phase::Open, request::HoverRequest::METHOD) => {
                parsed(params).map(|asked| value(self.hover(&asked)))
            }
            (Phase::Open, request::GotoDefinition::METHOD) => {
                parsed(params).map(|asked| value(self.definition(&asked)))
            }
            (Phase::Open, request::References::METHOD) => {
                parsed(params).map(|asked| value(self.references(&asked)))
            }
            (Phase::Open, request::CodeLensRequest::METHOD) => {
                parsed(params).map(|asked| value(self.lenses(&asked)))
            }
            (Phase::Open, request::CodeActionRequest::METHOD) => {
                parsed(params).map(|asked| value(self.actions(&asked)))
            }
            (Phase::Open, _) => refused(ErrorCode::MethodNotFound, &format!("`{method}` is not supported")),
        };
        match answered {
            Ok(value) => Response::new_ok(id, value),
            Err((code, why)) => Response::new_err(id, code, why),
        }
    }

    fn initialize(&mut self, asked: &InitializeParams, out: &mut Vec<Effect>) -> Value {
        self.phase = Phase::Open;
        self.encoding = Encoding::agreed(asked);
        let workspace = asked.capabilities.workspace.as_ref();
        let lenses = workspace.and_then(|workspace| workspace.code_lens.as_ref());
        self.refreshes = lenses.and_then(|lenses| lenses.refresh_support).unwrap_or_default();
        let named = asked.initialization_options.as_ref().and_then(|options| options.get("recordings"));
        let named = named.and_then(Value::as_array).into_iter().flatten();
        self.sessions.extend(named.filter_map(Value::as_str).map(str::to_owned));
        if !self.sessions.is_empty() {
            out.push(Effect::Open(self.sessions.clone()));
        }
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(SaveOptions::default().into()),
            ..TextDocumentSyncOptions::default()
        };
        let letters = [":", " ", "-", "\"", "'", "$", ".", "{", "[", ","];
        let capabilities = ServerCapabilities {
            position_encoding: Some(self.encoding.kind()),
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            completion_provider: Some(CompletionOptions {
                trigger_characters: Some(letters.map(str::to_owned).to_vec()),
                ..CompletionOptions::default()
            }),
            hover_provider: Some(true.into()),
            definition_provider: Some(OneOf::Left(true)),
            references_provider: Some(OneOf::Left(true)),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
            code_action_provider: Some(
                CodeActionOptions {
                    code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR]),
                    ..CodeActionOptions::default()
                }
                .into(),
            ),
            ..ServerCapabilities::default()
        };
        let info = json!({"name": "rulestep", "version": env!("CARGO_PKG_VERSION")});
        json!({"capabilities": value(capabilities), "serverInfo": info})
    }

    fn notice(&mut self, told: Notification, out: &mut Vec<Effect>) {
        let Notification { method, params } = told;
        match (self.phase, method.as_str()) {
            (phase, notification::Exit::METHOD) => {
                out.push(Effect::Exit(u8::from(phase != Phase::ShutDown)));
            }
            (Phase::Open, notification::DidOpenTextDocument::METHOD) => {
                let Ok(DidOpenTextDocumentParams { text_document: opened }) = parsed(params) else { return };
                let Some(path) = place::path(opened.uri.as_str()) else { return };
                let text = opened.text.strip_prefix('\u{feff}').unwrap_or(&opened.text);
                let ours = is_policy(&path, text);
                let buffer = Buffer { text: text.into(), version: opened.version, ours };
                self.buffers.insert(path.clone(), buffer);
                if ours {
                    out.push(Effect::Read(place::folder(&path).to_owned()));
                    self.load_around(&path, out);
                }
            }
            (Phase::Open, notification::DidChangeTextDocument::METHOD) => {
                parsed(params).into_iter().for_each(|told| self.change(told, out));
            }
            (Phase::Open, notification::DidCloseTextDocument::METHOD) => {
                let Ok(DidCloseTextDocumentParams { text_document: closed }) = parsed(params) else { return };
                let Some(path) = place::path(closed.uri.as_str()) else { return };
                if self.buffers.remove(&path).is_some_and(|buffer| buffer.ours) {
                    self.leave(place::folder(&path), out);
                    out.extend(self.around(&path).into_iter().map(Effect::Read));
                }
            }
            (
                Phase::Open,
                notification::DidSaveTextDocument::METHOD | notification::DidChangeWatchedFiles::METHOD,
            ) => out.extend(self.folders.keys().cloned().map(Effect::Read)),
            _ => {}
        }
    }

    fn change(&mut self, told: DidChangeTextDocumentParams, out: &mut Vec<Effect>) {
        let Some(path) = place::path(told.text_document.uri.as_str()) else { return };
        let Some(buffer) = self.buffers.get_mut(&path) else { return };
        let mut text = buffer.text.to_string();
        for change in told.content_changes {
            text = self.encoding.changed(&text, change);
        }
        buffer.text = text.into();
        buffer.version = told.text_document.version;
        // While it is being typed a policy may look like none.
        buffer.ours = buffer.ours || is_policy(&path, &buffer.text);
        if !buffer.ours {
            return;
        }
        let folder = place::folder(&path);
        if !self.folders.contains_key(folder) {
            out.push(Effect::Read(folder.to_owned()));
        }
        self.load_around(&path, out);
    }

    fn load_around(&mut self, path: &str, out: &mut Vec<Effect>) {
        self.around(path).iter().for_each(|name| self.load(name, out));
    }

    /// The folders that hold a file: an open folder may be in another one.
    fn around(&self, path: &str) -> Vec<String> {
        let around = self.folders.iter().filter(|(name, folder)| folder.holds(name, path));
        around.map(|(name, _)| name.clone()).collect()
    }

    /// Whether a policy of the folder is open.
    fn is_open(&self, folder: &str) -> bool {
        self.buffers.iter().any(|(path, buffer)| buffer.ours && place::folder(path) == folder)
    }

    /// Drops a folder without open policies, with the diagnostics of its files.
    fn leave(&mut self, name: &str, out: &mut Vec<Effect>) {
        if self.is_open(name) {
            return;
        }
        self.counts.remove(name);
        let left = self.folders.remove(name);
        for file in left.iter().flat_map(|folder| folder.problems.keys()) {
            self.publish(file, out);
        }
    }

    /// Loads the version of a folder with the current texts, and publishes its diagnostics.
    fn load(&mut self, name: &str, out: &mut Vec<Effect>) {
        let ours = self.buffers.iter().filter(|(_, buffer)| buffer.ours);
        let open = ours.map(|(path, buffer)| (path.clone(), Arc::clone(&buffer.text))).collect();
        let Some(folder) = self.folders.get_mut(name) else { return };
        folder.load(name, &open);
        self.tell(name, out);
        self.count(name, out);
    }

    /// Publishes the diagnostics of the version of a folder, including those from recordings.
    fn tell(&mut self, name: &str, out: &mut Vec<Effect>) {
        let Some(folder) = self.folders.get_mut(name) else { return };
        let policy = folder.loaded.policy.as_deref();
        let counts =
            self.counts.get(name).filter(|counts| policy.is_some_and(|is| counts.digest == *is.digest()));
        let before: Vec<String> = folder.problems.keys().cloned().collect();
        folder.judge(name, counts.map(|counts| counts.findings.as_slice()).unwrap_or_default());
        let open = self.buffers.iter().filter(|(path, buffer)| buffer.ours && folder.holds(name, path));
        let open = open.map(|(path, _)| path);
        let files: BTreeSet<String> = folder.problems.keys().chain(open).cloned().chain(before).collect();
        files.iter().for_each(|file| self.publish(file, out));
    }

    /// The diagnostics of a file, as a part of each folder that holds it.
    fn problems<'s>(&'s self, file: &str) -> Vec<&'s Diagnostic> {
        let mut all: Vec<&Diagnostic> = Vec::new();
        for own in self.folders.values().filter_map(|folder| folder.problems.get(file)) {
            let known = all.len();
            let is_new = |told: &&Diagnostic| !all.iter().take(known).any(|known| known == told);
            let new: Vec<_> = own.iter().filter(is_new).collect();
            all.extend(new);
        }
        all
    }

    /// Has the version counted, unless it was, or there is nothing to count.
    fn count(&self, name: &str, out: &mut Vec<Effect>) {
        let policy = self.folders.get(name).and_then(|folder| folder.loaded.policy.as_ref());
        let Some(policy) = policy.filter(|_| self.recorded.inventory.sessions > 0) else { return };
        if self.counts.get(name).is_none_or(|counts| counts.digest != *policy.digest()) {
            out.push(Effect::Count(name.to_owned(), Arc::clone(policy)));
        }
    }

    fn publish(&mut self, file: &str, out: &mut Vec<Effect>) {
        let Some(uri) = place::uri(file) else { return };
        let told = self.problems(file);
        let diagnostics: Vec<_> = told.into_iter().map(|told| self.diagnostic(told, &uri)).collect();
        match diagnostics.is_empty() {
            true => self.published.remove(file),
            false => self.published.insert(file.to_owned()),
        };
        let version = self.buffers.get(file).map(|buffer| buffer.version);
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        let method = notification::PublishDiagnostics::METHOD.to_owned();
        out.push(Effect::Send(Notification { method, params: value(params) }.into()));
    }

    fn diagnostic(&self, told: &Diagnostic, uri: &Uri) -> lsp_types::Diagnostic {
        let range = told.place().map(|place| self.range(place)).unwrap_or_default();
        let message = match &told.help {
            Some(help) => format!("{}\nhelp: {help}", told.message),
            None => told.message.clone(),
        };
        let labels = told.labels.iter().filter_map(|label| {
            let uri = place::uri(label.place.file())?;
            let location = Location { uri, range: self.range(&label.place) };
            Some(DiagnosticRelatedInformation { location, message: label.message.clone()? })
        });
        // The page of a code is the same for every program that shows it.
        let page = json!({"page": rulestep_engine::dialect::page(told.code.as_str()).map(|page| page.text)});
        let related: Vec<_> =
            labels.filter(|label| label.location.uri != *uri || label.location.range != range).collect();
        lsp_types::Diagnostic {
            range,
            severity: Some(match told.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Notice => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(told.code.as_str().to_owned())),
            source: Some("rulestep".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            data: Some(page),
            ..lsp_types::Diagnostic::default()
        }
    }

    fn range(&self, place: &Place) -> Range {
        match place {
            Place::Text { source, span } => self.encoding.range(source.text(), *span),
            Place::File { .. } => Range::default(),
            Place::Line { line, .. } => {
                let line = u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX);
                let start = lsp_types::Position { line, character: 0 };
                Range { start, end: start }
            }
        }
    }
}

/// Something that the editor shows to the user.
fn message(typ: MessageType, text: String) -> Effect {
    let params = value(ShowMessageParams { typ, message: text });
    Effect::Send(Notification { method: notification::ShowMessage::METHOD.to_owned(), params }.into())
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, (i32, String)> {
    serde_json::from_value(params).map_err(|why| (ErrorCode::InvalidParams as i32, why.to_string()))
}

fn value(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}
