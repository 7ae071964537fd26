//! Characters in a text that the parser may have misread.

/// Whether commands may be written in a word, which are lost with it.
pub fn has_commands(raw: &str) -> bool {
    ["$(", "`", "<(", ">("].iter().any(|start| raw.contains(start))
}

/// Whether a comment may be in a script. Quotes are not looked at.
pub fn has_comment(script: &str) -> bool {
    let mut before = '\n';
    script.chars().any(|letter| {
        let found = letter == '#' && (before.is_whitespace() || ";&|()`".contains(before));
        before = letter;
        found
    })
}

/// Whether an expansion may be `${ COMMANDS; }`, which newer shells run. The parser takes the blank away.
pub fn is_script(written: &str) -> bool {
    let inner = written.trim_end_matches('}').trim_end_matches([' ', '\t']);
    inner.ends_with([';', '&', '\n'])
}

/// Whether every parenthesis is closed after it was opened: else it is commands, and no arithmetic.
pub fn is_balanced(expression: &str) -> bool {
    let mut depth = 0usize;
    for letter in expression.bytes() {
        match letter {
            b'(' => depth += 1,
            b')' if depth == 0 => return false,
            b')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}
