//! Backslashes in backquotes and in `$'…'`.

/// In backquotes, a backslash before `` ` ``, `$` and itself is removed; within double quotes also before these.
pub fn backquoted(script: &str, quoted: bool) -> String {
    let mut text = String::with_capacity(script.len());
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('`' | '$' | '\\')) => text.extend(letters.next()),
            ('\\', Some('"')) if quoted => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}

/// `$'…'`.
pub fn unescape(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(letter) = letters.next() {
        let Some(next) = (letter == '\\').then(|| letters.next()).flatten() else {
            plain.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
            continue;
        };
        let digits =
            |letters: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize, first: u32| {
                let mut value = first;
                for _ in 0..most {
                    let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix)) else { break };
                    value = value * radix + digit;
                    letters.next();
                }
                value
            };
        match next {
            'n' => plain.push(b'\n'),
            't' => plain.push(b'\t'),
            'r' => plain.push(b'\r'),
            'a' => plain.push(7),
            'b' => plain.push(8),
            'e' | 'E' => plain.push(27),
            'f' => plain.push(12),
            'v' => plain.push(11),
            'x' => plain.push(u8::try_from(digits(&mut letters, 16, 2, 0)).unwrap_or(b'?')),
            'u' | 'U' => {
                let letter = char::from_u32(digits(&mut letters, 16, if next == 'u' { 4 } else { 8 }, 0))
                    .unwrap_or('?');
                plain.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
            }
            '0'..='7' => {
                let value = digits(&mut letters, 8, 2, next.to_digit(8).unwrap_or(0));
                plain.push(u8::try_from(value & 255).unwrap_or(b'?'));
            }
            'c' => plain.extend(
                letters.next().and_then(|letter| u8::try_from(letter).ok()).map(|letter| letter & 31),
            ),
            '\'' | '"' | '\\' | '?' => plain.push(u8::try_from(next).unwrap_or(b'?')),
            other => {
                plain.push(b'\\');
                plain.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
