//! The smallest parts of a sentence: names, numbers and lists, each cut, safe and on one line.

use std::borrow::Cow;
use std::sync::Arc;

use super::clean::{self, Marks};

/// Columns a quoted name may take.
const NAME: usize = 64;
/// Most tools that a phrase names.
const TOOLS: usize = 4;

/// A name or a path from a recording or a policy, cut and safe.
pub fn name(name: &str) -> Cow<'_, str> {
    let plain = name.len() <= NAME && name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if plain { name.into() } else { clean::ends(name, NAME, Marks::Unicode).text().into() }
}

/// Any recorded text as one safe line.
pub fn line(text: &str) -> String {
    clean::show(text, Marks::Unicode).text()
}

/// `2 files skipped`; `None` if there are none.
pub fn skipped(files: u64) -> Option<String> {
    (files > 0).then(|| format!("{} skipped", count(files, "file")))
}

/// `1 turn`, `2 turns`.
pub fn count(number: u64, thing: &str) -> String {
    let plural = match number {
        1 => "",
        _ => "s",
    };
    format!("{} {thing}{plural}", thousands(number))
}

/// A number with a comma at every third digit.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() <= 3 {
        return digits;
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    let mut items: Vec<String> = items.into_iter().collect();
    match items.pop() {
        None => String::new(),
        Some(last) if items.is_empty() => last,
        Some(last) => format!("{} and {last}", items.join(", ")),
    }
}

/// `a, b and 2 others`.
pub fn all(tools: &[Arc<str>]) -> String {
    list(shown(tools))
}

/// The first few names, with a text between them.
pub fn joined(tools: &[Arc<str>], between: &str) -> String {
    shown(tools).collect::<Vec<_>>().join(between)
}

fn shown(tools: &[Arc<str>]) -> impl Iterator<Item = String> {
    let most = if tools.len() > TOOLS { TOOLS - 1 } else { TOOLS };
    let rest = tools.len().saturating_sub(most);
    let rest = (rest > 0).then(|| format!("{rest} others"));
    tools.iter().take(most).map(|tool| name(tool).into_owned()).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (65_536, "65,536"),
            (123_456, "123,456"),
            (12_345_678, "12,345,678"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }
}
