//! Numbers, signs and words of a date.

use super::super::text::is_space;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    End,
    Number {
        value: i64,
        length: usize,
    },
    Symbol(u8),
    Space,
    Month(i64),
    Zone {
        hours: i64,
        length: usize,
    },
    /// `T`.
    Separator,
    /// `am` or `pm`, as the hours it adds.
    Half(i64),
    Word,
    Other,
}

impl Token {
    pub fn digits(self, wanted: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        match self {
            Self::Number { value, length } if length == wanted && range.contains(&value) => Some(value),
            _ => None,
        }
    }

    pub fn sign(self) -> Option<i64> {
        match self {
            Self::Symbol(b'+') => Some(1),
            Self::Symbol(b'-') => Some(-1),
            _ => None,
        }
    }

    pub fn is_zulu(self) -> bool {
        self == Self::Zone { hours: 0, length: 1 }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Self::Number { .. })
    }
}

const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

const ZONES: [(&[u8], i64); 12] = [
    (b"ut", 0),
    (b"utc", 0),
    (b"z", 0),
    (b"gmt", 0),
    (b"cdt", -5),
    (b"cst", -6),
    (b"edt", -4),
    (b"est", -5),
    (b"mdt", -6),
    (b"mst", -7),
    (b"pdt", -7),
    (b"pst", -8),
];

/// The tokens of a text, one ahead.
pub struct Tokens<'a> {
    text: &'a [u16],
    at: usize,
    /// The one that comes next.
    pub ahead: Token,
}

impl<'a> Tokens<'a> {
    pub fn of(text: &'a [u16]) -> Tokens<'a> {
        let mut tokens = Tokens { text, at: 0, ahead: Token::End };
        tokens.next();
        tokens
    }

    pub fn next(&mut self) -> Token {
        let token = self.ahead;
        self.ahead = self.scan();
        token
    }

    pub fn skip(&mut self, symbol: u8) -> bool {
        let found = self.ahead == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    /// The unit here; a NUL ends the text.
    fn unit(&self) -> u16 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn scan(&mut self) -> Token {
        let from = self.at;
        let unit = self.unit();
        match unit {
            0 => Token::End,
            48..=57 => {
                let (mut value, mut digits) = (0, 0);
                while let digit @ 48..=57 = self.unit() {
                    // Nine digits after leading zeros count, the others are passed over.
                    if (digits > 0 || digit > 48) && digits < 9 {
                        value = value * 10 + i64::from(digit - 48);
                        digits += 1;
                    }
                    self.at += 1;
                }
                Token::Number { value, length: self.at - from }
            }
            65.. if !is_space(unit) => {
                while self.unit() >= 65 && !is_space(self.unit()) {
                    self.at += 1;
                }
                word(self.text.get(from..self.at).unwrap_or_default())
            }
            40 => {
                self.skip_parentheses();
                Token::Other
            }
            41 | 43 | 45 | 46 | 58 => {
                self.at += 1;
                Token::Symbol(unit as u8)
            }
            _ => {
                self.at += 1;
                if is_space(unit) { Token::Space } else { Token::Other }
            }
        }
    }

    pub fn skip_parentheses(&mut self) {
        let mut open = 0;
        loop {
            match self.unit() {
                40 => open += 1,
                41 => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open <= 0 || self.unit() == 0 {
                return;
            }
        }
    }
}

/// What a word means. Only names of months may be longer than three letters.
fn word(word: &[u16]) -> Token {
    let prefix: Vec<u8> =
        word.iter().take(3).map(|&unit| u8::try_from(unit).unwrap_or(0).to_ascii_lowercase()).collect();
    if let Some(month) = MONTHS.iter().position(|month| month.as_slice() == prefix) {
        return Token::Month(i64::try_from(month).unwrap_or(0) + 1);
    }
    let length = word.len();
    if length > 3 {
        return Token::Word;
    }
    if let Some((_, hours)) = ZONES.iter().find(|(zone, _)| *zone == prefix) {
        return Token::Zone { hours: *hours, length };
    }
    match prefix.as_slice() {
        b"am" => Token::Half(0),
        b"pm" => Token::Half(12),
        b"t" => Token::Separator,
        _ => Token::Word,
    }
}
