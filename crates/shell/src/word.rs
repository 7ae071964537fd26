//! Words of a command after quotes and expansions.

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Text as the program receives it.
    Text(String),
    /// The home folder.
    Home,
    /// A pattern of file names, as written: some text without `/`.
    Pattern(String),
    /// Text that only the shell knows when it runs, as written.
    Unknown(String),
}

/// A word that a program receives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Word {
    /// Its parts; two texts are never adjacent.
    pub pieces: Vec<Piece>,
    /// Whether the shell may make any number of words of it, including none.
    pub many: bool,
}

/// Folders that every machine has.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/private/tmp"];

impl Word {
    /// Whether it is written as a folder is.
    pub fn is_folder(&self) -> bool {
        match self.pieces.as_slice() {
            [Piece::Home] => true,
            [.., Piece::Text(text)] => {
                matches!(text.as_str(), "." | "..")
                    || ["/", "/.", "/.."].iter().any(|end| text.ends_with(end))
            }
            _ => false,
        }
    }

    /// Whether it names a folder, and which one is known.
    pub fn is_known_folder(&self) -> bool {
        self.unclear().is_none() && (self.is_there() || self.is_folder())
    }

    /// Whether there certainly is a folder of this name.
    pub fn is_there(&self) -> bool {
        let Some(text) = self.known() else { return self.pieces == [Piece::Home] };
        let plain = text.trim_end_matches('/');
        matches!(plain, "" | "." | "..") && !text.is_empty() || TEMPORARY.contains(&plain)
    }

    /// A word that is known.
    pub fn text(text: impl Into<String>) -> Word {
        Word { pieces: vec![Piece::Text(text.into())], many: false }
    }

    /// A pattern of file names as a word with gaps.
    pub fn pattern(text: &str) -> Word {
        let mut word = Word::default();
        let mut rest = text;
        let wild = |text: &str| {
            text.char_indices().find_map(|(at, letter)| match letter {
                '*' | '?' => Some((at, 1)),
                // Alone, it is a letter, and the name of a program.
                '[' => text.get(at..)?.find(']').map(|end| (at, end + 1)),
                _ => None,
            })
        };
        while let Some((place, length)) = wild(rest) {
            word.push(rest.get(..place).unwrap_or_default());
            let end = place + length;
            word.pieces.push(Piece::Pattern(rest.get(place..end).unwrap_or_default().to_owned()));
            rest = rest.get(end..).unwrap_or_default();
        }
        word.push(rest);
        word
    }

    /// One word that is not known.
    pub fn unknown(written: impl Into<String>) -> Word {
        Word { pieces: vec![Piece::Unknown(written.into())], many: false }
    }

    /// Any number of words that are not known.
    pub fn unknown_words(written: impl Into<String>) -> Word {
        Word { many: true, ..Word::unknown(written) }
    }

    /// Adds text to its end.
    pub fn push(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Adds another word to its end.
    pub fn append(&mut self, other: &Word) {
        for piece in &other.pieces {
            match piece {
                Piece::Text(text) => self.push(text),
                other => self.pieces.push(other.clone()),
            }
        }
        self.many |= other.many;
    }

    /// The whole text, if known.
    pub fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] if !self.many => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The word in small letters.
    pub fn folded(&self) -> Word {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Piece::Text(text.to_lowercase()),
            other => other.clone(),
        };
        Word { pieces: self.pieces.iter().map(piece).collect(), many: self.many }
    }

    /// The text that it begins with.
    pub fn start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Its unknown part, as written.
    pub fn unclear(&self) -> Option<&str> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Pattern(written) | Piece::Unknown(written) => Some(written.as_str()),
            Piece::Text(_) | Piece::Home => None,
        })
    }

    /// Whether nothing of it is known: it could as well be an option.
    pub fn is_open(&self) -> bool {
        matches!(self.pieces.first(), Some(Piece::Unknown(_)))
            && self.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_)))
    }

    /// The word without the first `bytes` bytes of the text it begins with.
    pub fn after(&self, bytes: usize) -> Word {
        let mut word = Word { pieces: Vec::new(), many: self.many };
        word.push(self.start().get(bytes..).unwrap_or_default());
        word.pieces.extend(self.pieces.iter().skip(usize::from(!self.start().is_empty())).cloned());
        word
    }

    /// The word without a prefix of known text.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Word> {
        self.start().starts_with(prefix).then(|| self.after(prefix.len()))
    }

    /// The parts before and after the first `mark` in its known text.
    pub fn split_once(&self, mark: char) -> Option<(Word, Word)> {
        let place =
            self.pieces.iter().position(|piece| matches!(piece, Piece::Text(text) if text.contains(mark)))?;
        let (before, rest) = self.pieces.split_at(place);
        let (Piece::Text(text), rest) = rest.split_first()? else { return None };
        let (left, right) = text.split_once(mark)?;
        let mut first = Word { pieces: before.to_vec(), many: self.many };
        first.push(left);
        let mut second = Word { pieces: Vec::new(), many: self.many };
        second.push(right);
        second.pieces.extend_from_slice(rest);
        Some((first, second))
    }

    /// The parts before and after the last `/`.
    pub fn rsplit_folder(&self) -> Option<(Word, Word)> {
        let has_slash = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('/'));
        let place = self.pieces.iter().rposition(has_slash)?;
        let (before, rest) = self.pieces.split_at(place);
        let (Piece::Text(text), rest) = rest.split_first()? else { return None };
        let (left, right) = text.rsplit_once('/')?;
        let mut folder = Word { pieces: before.to_vec(), many: false };
        folder.push(left);
        let mut base = Word { pieces: Vec::new(), many: self.many };
        base.push(right);
        base.pieces.extend_from_slice(rest);
        Some((folder, base))
    }

    /// The part after the last `/`.
    pub fn base(&self) -> Word {
        self.rsplit_folder().map_or_else(|| self.clone(), |(_, base)| base)
    }

    /// The parts between commas.
    pub fn parts(&self) -> Vec<Word> {
        let (mut parts, mut rest) = (Vec::new(), self.clone());
        while let Some((part, others)) = rest.split_once(',') {
            parts.push(part);
            rest = others;
        }
        parts.push(rest);
        parts
    }

    /// A path in the home folder.
    pub fn at_home(rest: &Word) -> Word {
        let mut word = Word { pieces: vec![Piece::Home], many: false };
        word.push("/");
        word.append(rest);
        word
    }

    /// Its symbols.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => symbols.extend(text.chars().map(Symbol::Char)),
                Piece::Home => symbols.push(Symbol::Char('~')),
                Piece::Pattern(_) => {
                    // A pattern does not find names that begin with a dot.
                    let begins = symbols.last().is_none_or(|last| *last == Symbol::Char('/'));
                    // `**` is as good as `*` here.
                    let star = |piece: &&Piece| matches!(piece, Piece::Pattern(text) if text == "*");
                    let next = self.pieces.iter().skip(at + 1).find(|piece| !star(piece));
                    if begins
                        && next.is_none_or(
                            |next| matches!(next, Piece::Text(text) if text.starts_with(['.', '/'])),
                        )
                    {
                        symbols.push(Symbol::NameStart);
                    }
                    symbols.push(Symbol::AnyName);
                }
                Piece::Unknown(_) => symbols.push(Symbol::Any),
            }
        }
        symbols
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) | Piece::Pattern(text) | Piece::Unknown(text) => f.write_str(text),
            Piece::Home => f.write_str("~"),
        })
    }
}

/// A letter of a word, or a gap of unknown text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// This letter.
    Char(char),
    /// One letter that is neither `/` nor `.`.
    NameStart,
    /// Any text without `/`.
    AnyName,
    /// Any text.
    Any,
}
