//! Keys and chords: their spelling in the table, and the keys that a terminal sends.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key with its modifiers. A capital letter is its own key; shift is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    /// The key.
    pub code: KeyCode,
    /// With Control.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
}

impl Key {
    /// The key of this character alone.
    pub const fn char(c: char) -> Self {
        Self { code: KeyCode::Char(c), ctrl: false, alt: false }
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let code = match event.code {
            // Some terminals send the letter and the shift separately, some send Tab with shift.
            KeyCode::Char(c) if shift => KeyCode::Char(c.to_ascii_uppercase()),
            KeyCode::Tab if shift => KeyCode::BackTab,
            code => code,
        };
        Self {
            code,
            ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
            alt: event.modifiers.contains(KeyModifiers::ALT),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            code => write!(f, "{code}"),
        }
    }
}

const NAMED: [(&str, KeyCode); 28] = [
    ("Space", KeyCode::Char(' ')),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Shift-Tab", KeyCode::BackTab),
    ("Backspace", KeyCode::Backspace),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Insert", KeyCode::Insert),
    ("Delete", KeyCode::Delete),
    ("F1", KeyCode::F(1)),
    ("F2", KeyCode::F(2)),
    ("F3", KeyCode::F(3)),
    ("F4", KeyCode::F(4)),
    ("F5", KeyCode::F(5)),
    ("F6", KeyCode::F(6)),
    ("F7", KeyCode::F(7)),
    ("F8", KeyCode::F(8)),
    ("F9", KeyCode::F(9)),
    ("F10", KeyCode::F(10)),
    ("F11", KeyCode::F(11)),
    ("F12", KeyCode::F(12)),
];

/// The keys of a chord: a named key, a key with `Ctrl-` or `Alt-`, or one key for each character. `None` for anything
/// else.
pub fn parse(text: &str) -> Option<Vec<Key>> {
    if let Some((_, code)) = NAMED.iter().find(|(name, _)| *name == text) {
        return Some(vec![Key { code: *code, ctrl: false, alt: false }]);
    }
    for (prefix, ctrl) in [("Ctrl-", true), ("Alt-", false)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let [key] = parse(rest)?.try_into().ok()?;
            return Some(vec![Key { ctrl: ctrl || key.ctrl, alt: !ctrl || key.alt, ..key }]);
        }
    }
    let keys: Vec<Key> = text.chars().map(Key::char).collect();
    (!keys.is_empty()).then_some(keys)
}

/// A chord as the table spells it.
pub fn spell(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_come_back() {
        for text in ["j", "]f", "gg", "Ctrl-d", "Alt-o", "Shift-Tab", "F1", "Space", "?", "PgDn"] {
            assert_eq!(spell(&parse(text).unwrap()), text);
        }
        assert_eq!(parse(""), None);
        assert_eq!(parse("Ctrl-xy"), None);
    }

    #[test]
    fn what_terminals_send() {
        let sent = |code, modifiers| Key::from(KeyEvent::new(code, modifiers)).to_string();
        assert_eq!(sent(KeyCode::Char('F'), KeyModifiers::SHIFT), "F");
        assert_eq!(sent(KeyCode::Char('f'), KeyModifiers::SHIFT), "F");
        assert_eq!(sent(KeyCode::Char('d'), KeyModifiers::CONTROL), "Ctrl-d");
        assert_eq!(sent(KeyCode::BackTab, KeyModifiers::SHIFT), "Shift-Tab");
        assert_eq!(sent(KeyCode::Tab, KeyModifiers::SHIFT), "Shift-Tab");
    }
}
