//! The title of a session: the recording's own, else the first words that a person wrote.
//!
//! Programs put texts of their own into user messages: reminders, the environment, the output of commands. If all
//! titles in a list began with them, they could not be distinguished.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;

use super::{MessageKind, Session};

/// Longest title, in characters.
const LETTERS: usize = 200;

/// Elements whose content a program wrote.
const WRITTEN: [&str; 24] = [
    "additional_data",
    "agents_md",
    "attached_files",
    "bash-stderr",
    "bash-stdout",
    "command-contents",
    "command-message",
    "cwd",
    "environment_context",
    "environment_details",
    "git_status",
    "ide_opened_file",
    "ide_selection",
    "instructions",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "open_and_recently_viewed_files",
    "project_layout",
    "system-reminder",
    "system_reminder",
    "uploaded_files",
    "user_info",
    "user_instructions",
];

/// Beginnings of program texts that reach to the end of the message.
const NOTES: [&str; 3] =
    ["Caveat: The messages below", "# AGENTS.md instructions", "[Request interrupted by user"];

/// Marks the user's own words in messages of an editor, which puts the environment first.
const REQUEST: &str = "## My request for Codex:";

/// Collects the title.
#[derive(Debug, Clone, Default)]
pub(super) struct Title {
    recorded: Option<Arc<str>>,
    words: Option<Arc<str>>,
    /// Replacement if no person wrote anything.
    written: Option<Arc<str>>,
}

impl Title {
    /// A title in the recording; the last one counts.
    pub fn record(&mut self, title: &str) {
        self.recorded = first_line(title).or(self.recorded.take());
    }

    /// A message of the user.
    pub fn hear<'t>(&mut self, said: impl FnOnce() -> Option<&'t str>) {
        if self.words.is_none()
            && let Some(said) = said()
        {
            let (words, command) = own_words(said);
            self.words = words.and_then(|words| first_line(&words));
            // A command alone, such as `/clear`, says less than what the user writes next.
            if self.written.is_none() {
                self.written = first_line(command.unwrap_or(said));
            }
        }
    }

    /// The title.
    pub fn end(self) -> Option<Arc<str>> {
        self.recorded.or(self.words).or(self.written)
    }

    /// For a session that continues.
    pub fn of(session: &Session) -> Title {
        let recorded = session.recorded_title().map(Arc::from);
        Title { recorded, ..Title::given(session) }
    }

    /// The title that the messages give.
    fn given(session: &Session) -> Title {
        let mut title = Title::default();
        for message in &session.messages {
            if message.kind == MessageKind::Said && &*message.role == "user" {
                title.hear(|| message.content.said());
            }
        }
        title
    }
}

impl Session {
    /// Its title, unless the messages give the same one.
    pub(super) fn recorded_title(&self) -> Option<&str> {
        let given = Title::given(self).end();
        self.title.as_deref().filter(|own| given.as_deref() != Some(own))
    }
}

/// The first line that is not blank, cut to the length of a title.
fn first_line(text: &str) -> Option<Arc<str>> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let end = line.char_indices().nth(LETTERS).map_or(line.len(), |(end, _)| end);
    line.get(..end).map(Arc::from)
}

/// A person's own words in a message, without program texts before them; and the command that they ran.
fn own_words(said: &str) -> (Option<Cow<'_, str>>, Option<&str>) {
    let mut rest = said.trim_start();
    let mut command: Option<&str> = None;
    while let Some((name, inner, after)) = element(rest) {
        match name {
            "command-name" => command = Some(inner.trim()),
            "command-args" if inner.trim().is_empty() => {}
            "command-args" => {
                let name = command.unwrap_or_default();
                return (Some(format!("{name} {}", inner.trim()).into()), command);
            }
            _ if WRITTEN.contains(&name) => {}
            // The content may well be the user's: people write elements themselves.
            _ if !inner.trim().is_empty() => return (Some(inner.into()), command),
            _ => {}
        }
        rest = after.trim_start();
    }
    if let Some(at) = memmem::find(rest.as_bytes(), REQUEST.as_bytes()) {
        rest = rest.get(at + REQUEST.len()..).unwrap_or_default();
    }
    if rest.trim().is_empty() || NOTES.iter().any(|note| rest.starts_with(note)) {
        return (None, command);
    }
    (Some(rest.into()), command)
}

/// The element that a text begins with: its name, its content, and the rest.
fn element(text: &str) -> Option<(&str, &str, &str)> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let name = tag.split_whitespace().next()?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.chars().all(is_name) {
        return None;
    }
    let (inner, after) = rest.split_once(&format!("</{name}>"))?;
    Some((name, inner, after))
}
