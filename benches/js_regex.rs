//! Patterns that send a plain backtracking matcher into years of work, each on a text of 100,000 letters.

use toolgate::condition::js_regex::{DEFAULT_BUDGET, compile};

/// Pattern and text; what the answers are is held by `tests/js_regex.rs`.
const CATASTROPHES: [(&str, Text); 10] = [
    ("^(a+)+$", Text("", "a", "!")),
    ("(a|aa)+$", Text("", "a", "!")),
    ("(.*)*x", Text("", "a", "!")),
    (r"^(\w+\s?)+$", Text("", "word and ", "!")),
    ("((a*)*)*b", Text("", "a", "!")),
    ("^(?:a|ab|aba|b)+c$", Text("", "ab", "")),
    ("^(?=(?:a+)+b)(?!.*(?:a|a?a)+c)", Text("", "a", "!")),
    ("(?<=^(?:a|a?a)+)!(?<!(?:a*)*!)", Text("", "a", "!")),
    (r"^(a+)+\1b$", Text("", "a", "!")),
    (r"^(?:(a|b)(a|b)?\1)+$", Text("", "ab", "!!")),
];

/// A text of 100,000 letters: what it begins with, what is repeated, what it ends with.
#[derive(Clone, Copy)]
struct Text(&'static str, &'static str, &'static str);

impl Text {
    fn build(self) -> String {
        let Self(start, middle, end) = self;
        let room = 100_000 - start.len() - end.len();
        let repeated: String = middle.chars().cycle().take(room).collect();
        format!("{start}{repeated}{end}")
    }
}

fn main() {
    divan::main();
}

#[divan::bench(args = 0..CATASTROPHES.len(), sample_count = 20)]
fn catastrophe(bencher: divan::Bencher<'_, '_>, index: usize) {
    let (pattern, text) = CATASTROPHES[index];
    let (regex, text) = (compile(pattern).unwrap(), text.build());
    bencher.bench(|| regex.is_match(divan::black_box(&text), DEFAULT_BUDGET));
}
