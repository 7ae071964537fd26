//! The chords of commands: those of the table, unless the user has chosen others.

use std::borrow::Cow;

use crossterm::event::KeyCode;

use super::{Argument, Command, Key, Meaning, Scope, TABLE, chord};

/// The chords of every command.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    /// By command, in the order of the table.
    chords: Vec<Vec<Chord>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Chord {
    text: String,
    keys: Vec<Key>,
}

impl Default for Keymap {
    fn default() -> Self {
        let of = |keys: &[&str]| keys.iter().filter_map(|text| Chord::parse(text)).collect();
        Self { chords: TABLE.iter().map(|row| of(row.keys)).collect() }
    }
}

impl Chord {
    fn parse(text: &str) -> Option<Self> {
        Some(Self { text: text.to_owned(), keys: chord::parse(text)? })
    }
}

impl Keymap {
    fn chords(&self, command: Command) -> &[Chord] {
        self.chords.get(command as usize).map_or(&[], Vec::as_slice)
    }

    /// The first chord of a command, else what runs it by name.
    pub fn key(&self, command: Command) -> Cow<'_, str> {
        match self.chords(command).first() {
            Some(chord) => Cow::Borrowed(&chord.text),
            None => Cow::Owned(format!(":{}", command.row().name)),
        }
    }

    /// All chords of a command, separated by blanks.
    pub fn keys(&self, command: Command) -> String {
        let texts: Vec<&str> = self.chords(command).iter().map(|chord| chord.text.as_str()).collect();
        texts.join(", ")
    }

    /// Whether one of a command's chords is spelt so.
    pub fn has(&self, command: Command, text: &str) -> bool {
        self.chords(command).iter().any(|chord| chord.text == text)
    }

    /// How well a command matches a typed word, the smaller the better; `None` if it does not.
    pub fn rank(&self, command: Command, word: &str) -> Option<u8> {
        let row = command.row();
        let folded = word.to_lowercase();
        let begins = |name: &str| name.split(['-', ' ']).any(|part| part.to_lowercase().starts_with(&folded));
        Some(match () {
            () if self.has(command, word) || row.name == folded => 0,
            () if row.name.starts_with(&folded) => 1,
            () if begins(row.name) => 2,
            () if row.name.contains(&folded) => 3,
            () if begins(row.doc) => 4,
            () if row.doc.to_lowercase().contains(&folded) => 5,
            () if super::heading(row).to_lowercase().starts_with(&folded) => 6,
            () if is_within(&folded, row.name) => 7,
            () => return None,
        })
    }

    /// Replaces the chords of a command. Invalid chords are left out.
    pub fn bind(&mut self, command: Command, texts: &[String]) {
        if let Some(chords) = self.chords.get_mut(command as usize) {
            *chords = texts.iter().filter_map(|text| Chord::parse(text)).collect();
        }
    }

    /// Gives a command its chords of another keymap.
    pub fn bind_from(&mut self, other: &Keymap, command: Command) {
        if let Some(chords) = self.chords.get_mut(command as usize) {
            *chords = other.chords(command).to_vec();
        }
    }

    /// Two commands that are active in the same place with chords of which one begins the other, and these chords.
    pub fn clashes(&self) -> Vec<[(Command, &str); 2]> {
        let all: Vec<(Command, &Chord)> = TABLE
            .iter()
            .flat_map(|row| self.chords(row.command).iter().map(|chord| (row.command, chord)))
            .collect();
        let together = |one: Scope, other: Scope| one == other || one == Scope::All || other == Scope::All;
        let mut clashes = Vec::new();
        for (at, (command, one)) in all.iter().enumerate() {
            for (other_command, other) in all.iter().skip(at + 1) {
                let begins = one.keys.starts_with(&other.keys) || other.keys.starts_with(&one.keys);
                if begins && together(command.row().scope, other_command.row().scope) {
                    clashes.push([(*command, one.text.as_str()), (*other_command, other.text.as_str())]);
                }
            }
        }
        clashes
    }

    /// The meaning of `keys` while `scope` has the keys.
    pub fn meaning(&self, keys: &[Key], scope: Scope) -> Meaning {
        let mut going_on = Vec::new();
        // The keys of one place come before shared ones.
        let (own, shared): (Vec<&super::Row>, Vec<&super::Row>) =
            TABLE.iter().filter(|row| row.scope.has_keys_in(scope)).partition(|row| row.scope == scope);
        for row in own.into_iter().chain(shared) {
            let letter = row.argument == Some(Argument::Letter);
            for chord in self.chords(row.command) {
                match chord.keys.strip_prefix(keys) {
                    Some([]) if letter => going_on.push(("a-z".to_owned(), row.command)),
                    Some([]) => return Meaning::Command(row.command),
                    Some(rest) => going_on.push((chord::spell(rest), row.command)),
                    None => {}
                }
                if let (true, Some([key])) = (letter, keys.strip_prefix(chord.keys.as_slice()))
                    && let Key { code: KeyCode::Char(c), ctrl: false, alt: false } = key
                    && c.is_ascii_alphanumeric()
                {
                    return Meaning::Letter(row.command, *c);
                }
            }
        }
        if going_on.is_empty() { Meaning::Nothing } else { Meaning::Prefix(going_on) }
    }

    /// A sentence with keys of the table in backticks, replaced by the chosen keys.
    pub fn worded<'s>(&self, text: &'s str) -> Cow<'s, str> {
        let mut parts: Vec<Cow<'_, str>> = text.split('`').map(Cow::Borrowed).collect();
        let mut changed = false;
        for part in parts.iter_mut().skip(1).step_by(2) {
            // `'a` is the key of a command that takes a letter, with the letter.
            let with_letter = |row: &super::Row| match row.argument {
                Some(Argument::Letter) => part.strip_suffix('a'),
                _ => None,
            };
            let key = |row: &super::Row| {
                let first = row.keys.first()?;
                [Some(&**part), with_letter(row)].into_iter().flatten().find(|key| key == first)
            };
            let named = TABLE.iter().find_map(|row| Some((row.command, key(row)?.to_owned())));
            if let Some((command, key)) = named.filter(|(command, key)| !self.has(*command, key)) {
                let letter = part.get(key.len()..).unwrap_or_default().to_owned();
                *part = Cow::Owned(format!("{}{letter}", self.key(command)));
                changed = true;
            }
        }
        if changed { Cow::Owned(parts.join("`")) } else { Cow::Borrowed(text) }
    }
}

/// Whether the letters of `word` occur in `name` in this order.
fn is_within(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_chords_take_the_place_of_those_in_the_table() {
        let mut keymap = Keymap::default();
        assert!(keymap.clashes().is_empty());
        keymap.bind(Command::Base, &["cb".into(), "Ctrl-b".into(), String::new()]);
        assert_eq!(
            (keymap.key(Command::Base), keymap.keys(Command::Base)),
            ("cb".into(), "cb, Ctrl-b".into())
        );
        let meaning = |text| keymap.meaning(&chord::parse(text).unwrap(), Scope::Panes);
        assert_eq!(meaning("cb"), Meaning::Command(Command::Base));
        assert_eq!(meaning("db"), Meaning::Nothing);
        assert_eq!(keymap.worded("no base; `db` chooses one, `x`"), "no base; `cb` chooses one, `x`");
        assert_eq!(keymap.worded("`dl` stays"), "`dl` stays");
        keymap.bind(Command::GoMark, &["M".into()]);
        assert_eq!(keymap.worded("go there: `'a`, `+a`"), "go there: `Ma`, `+a`");
        keymap.bind(Command::Base, &[]);
        assert_eq!(keymap.worded("`db` chooses one"), "`:base` chooses one");
    }

    #[test]
    fn clashes_are_found_where_both_can_be_meant() {
        let mut keymap = Keymap::default();
        keymap.bind(Command::Zoom, &["j".into()]);
        let clashes = keymap.clashes();
        assert_eq!(clashes, [[(Command::NextCall, "j"), (Command::Zoom, "j")]]);
        // One begins the other.
        keymap.bind(Command::Zoom, &["]".into()]);
        assert!(keymap.clashes().len() > 5);
        // Only in a body, and only among findings.
        keymap.bind(Command::Zoom, &["z".into()]);
        keymap.bind(Command::Fold, &["t".into()]);
        assert!(keymap.clashes().is_empty());
    }

    #[test]
    fn letters_come_after_some_chords() {
        let keymap = Keymap::default();
        let meaning = |text| keymap.meaning(&chord::parse(text).unwrap(), Scope::Panes);
        assert_eq!(meaning("'a"), Meaning::Letter(Command::GoMark, 'a'));
        assert_eq!(meaning("+Z"), Meaning::Letter(Command::SetMark, 'Z'));
        assert_eq!(meaning("+"), Meaning::Prefix(vec![("a-z".into(), Command::SetMark)]));
        assert_eq!(meaning("+!"), Meaning::Nothing);
    }

    #[test]
    fn words_find_commands() {
        assert_eq!(Keymap::default().rank(Command::Quit, "q"), Some(0));
        assert_eq!(Keymap::default().rank(Command::NextFinding, "nf"), Some(7));
        assert_eq!(Keymap::default().rank(Command::NextFinding, "find"), Some(2));
        assert_eq!(Keymap::default().rank(Command::NextFinding, "STOPPED"), Some(4));
        assert_eq!(Keymap::default().rank(Command::NextFinding, "zebra"), None);
    }
}
