//! A response of a model that was sent in pieces, assembled to a whole response.
//!
//! The result is a response in the interface's own form, so other code need not know that it came in pieces. Nothing is
//! guessed: a part within which a stream broke off is kept as far as it goes, and a part that may lack a piece is left
//! out; both are reported.

use std::borrow::Cow;

use crate::input::looks::Looks;
use crate::input::shallow;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::wrong::types;
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;
use rulestep_base::source::tape::Tape;

mod chat;
mod items;
mod messages;
mod pieces;

pub use pieces::Whole;
use pieces::{Object, Pieces};

/// The pieces of a stream.
struct Stream<'a> {
    /// In order; `None` for an unreadable one.
    pieces: Vec<Option<Cow<'a, str>>>,
    /// Whether the stream was marked as complete.
    done: bool,
}

/// The interface of a stream.
#[derive(Clone, Copy)]
enum Interface {
    Chat,
    Messages,
    Responses,
}

/// Pieces that may come before the first one that identifies the interface.
const FIRST: usize = 16;

/// The response whose pieces are in a value: a list of them, or the text that was sent. `None` if it is neither.
pub fn whole(node: Node<'_>) -> Option<Whole> {
    match node.kind() {
        Kind::Text => {
            let text = node.text()?;
            is_event(&text).then(|| events(&text).put_together())
        }
        Kind::List => {
            let items = node.items()?;
            let first = listed(items.get(..FIRST.min(items.len()))?);
            let mut first = first.pieces.iter().flatten();
            let is_stream = first.any(|piece| members(piece).is_some_and(|piece| is_piece(&piece)));
            is_stream.then(|| listed(&items).put_together())
        }
        _ => None,
    }
}

/// Whether a text is server-sent events: blank lines and comments may come first.
fn is_event(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(':'));
    lines.next().is_some_and(|line| line.starts_with("data:") || line.starts_with("event:"))
}

/// The data of server-sent events.
fn events(text: &str) -> Stream<'_> {
    let mut stream = Stream { pieces: Vec::new(), done: false };
    let mut open: Option<Cow<'_, str>> = None;
    for line in text.lines() {
        let Some(data) = line.strip_prefix("data:") else {
            if line.trim().is_empty() {
                stream.add(open.take());
            }
            continue;
        };
        let data = data.strip_prefix(' ').unwrap_or(data);
        // Logs lose the blank lines between events, so a value after a complete one is another event.
        let ended = open.as_ref().is_some_and(|open| open.trim_end().ends_with(['}', ']']));
        if ended && data.starts_with(['{', '[']) {
            stream.add(open.take());
        }
        open = Some(match open {
            Some(before) => Cow::Owned(before.into_owned() + "\n" + data),
            None => Cow::Borrowed(data),
        });
    }
    stream.add(open);
    stream
}

/// The pieces of a list: as objects, as the text that was sent, or with the data of an event beside its name.
fn listed<'a>(items: &[Node<'a>]) -> Stream<'a> {
    let mut stream = Stream { pieces: Vec::new(), done: false };
    for item in items {
        match item.tried().members() {
            Some(piece) => {
                let data = piece.get("data").filter(|_| !is_piece(&piece)).unwrap_or(*item);
                stream.add(Some(data.tried().text().unwrap_or(Cow::Borrowed(data.json()))));
            }
            None => match item.tried().text() {
                Some(text) if is_event(&text) => {
                    let Stream { pieces, done } = events(&text);
                    stream
                        .pieces
                        .extend(pieces.into_iter().map(|piece| piece.map(|p| Cow::Owned(p.into_owned()))));
                    stream.done |= done;
                }
                text => stream.add(Some(text.unwrap_or(Cow::Borrowed(item.json())))),
            },
        }
    }
    stream
}

fn members(piece: &str) -> Option<Members<'_>> {
    Node::parse(piece).ok().and_then(Node::members)
}

fn is_piece(piece: &Members<'_>) -> bool {
    interface(piece).is_some() || piece.get("error").is_some() && piece.get("type").is_some()
}

fn interface(piece: &Members<'_>) -> Option<Interface> {
    let text = |key| piece.get(key).and_then(Node::text).unwrap_or_default();
    let kind = text("type");
    let choice = || piece.get("choices").and_then(Node::first_item).and_then(Node::members);
    if kind.starts_with("response.") {
        Some(Interface::Responses)
    } else if kind.starts_with("content_block_") || matches!(&*kind, "message_start" | "message_delta") {
        Some(Interface::Messages)
    } else if text("object").ends_with(".chunk") || choice().is_some_and(|choice| choice.has("delta")) {
        Some(Interface::Chat)
    } else {
        None
    }
}

impl<'a> Stream<'a> {
    fn add(&mut self, data: Option<Cow<'a, str>>) {
        let Some(data) = data.filter(|data| !data.trim().is_empty()) else { return };
        if data.trim() == "[DONE]" {
            self.done = true;
        } else {
            self.pieces.push(members(data.trim()).is_some().then_some(data));
        }
    }

    fn put_together(mut self) -> Whole {
        // It ends within a piece.
        if !self.done {
            self.pieces.pop_if(|piece| piece.is_none());
        }
        let looks: Vec<_> =
            self.pieces.iter().map(|piece| Looks::at(piece.as_deref().map_or("", str::trim))).collect();
        let texts = || self.pieces.iter().map(|piece| piece.as_deref().map(str::trim)).zip(&looks);
        let tapes: Vec<_> = texts().map(|(piece, _)| Tape::of(piece?.trim_ascii())).collect();
        let list: Vec<_> = tapes
            .iter()
            .zip(&looks)
            .map(|(tape, looks)| Some(shallow::of_tape(tape.as_ref()?, Some(looks)).ok()?.1))
            .collect();
        let lost = list.iter().filter(|piece| piece.is_none()).count();
        let pieces = Pieces { list: &list, done: self.done };
        let error = list.iter().flatten().find_map(|piece| piece.get("error"));
        let mut whole = match (list.iter().flatten().find_map(interface), error) {
            (Some(Interface::Chat), _) => chat::whole(&pieces),
            (Some(Interface::Messages), _) => messages::whole(&pieces),
            (Some(Interface::Responses), _) => items::whole(&pieces),
            (None, Some(error)) => {
                let mut made = Object::new();
                made.raw("error", error.json());
                return Whole { json: made.end(), odd: Vec::new(), broken: true };
            }
            (None, None) => Whole { json: "{}".to_owned(), odd: Vec::new(), broken: true },
        };
        for (piece, looks) in texts() {
            whole.odd.extend(types(looks, piece.unwrap_or_default(), 0).into_iter().map(|(_, wrong)| wrong));
        }
        if lost > 0 {
            let pieces = if lost == 1 { "1 piece".to_owned() } else { format!("{lost} pieces") };
            let message = format!("{pieces} of the response, which is a stream, cannot be read");
            whole
                .odd
                .insert(0, Damage::calls(format!("{message}; arguments that may lack one are left out")));
        }
        if let Some(error) = error {
            whole.broken = true;
            whole.odd.push(Damage::calls(format!(
                "the stream that the response is ends with an error: {}",
                quoted(error.json())
            )));
        } else if whole.broken {
            whole
                .odd
                .push(Damage::calls("the response is a stream that breaks off; its recorded part is read"));
        }
        whole
    }
}
