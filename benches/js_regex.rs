//! Patterns that send a plain backtracking matcher into years of work, each on a text of 100,000 letters.
//!
//! `cargo bench --bench js_regex`. All but the last, which is given up, come to the true answer within the default
//! budget; that they do is held by `tests/js_regex.rs`.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail")]

use rulestep_template::js_regex::{DEFAULT_BUDGET, compile};

/// A pattern, and of its text what is repeated and what it ends with.
#[derive(Clone, Copy)]
struct Catastrophe(&'static str, &'static str, &'static str);

const CATASTROPHES: [Catastrophe; 10] = [
    Catastrophe("^(a+)+$", "a", "!"),
    Catastrophe("(a|aa)+$", "a", "!"),
    Catastrophe("(.*)*x", "a", "!"),
    Catastrophe(r"^(\w+\s?)+$", "word and ", "!"),
    Catastrophe("((a*)*)*b", "a", "!"),
    Catastrophe("^(?:a|ab|aba|b)+c$", "ab", ""),
    Catastrophe("^(?=(?:a+)+b)(?!.*(?:a|a?a)+c)", "a", "!"),
    Catastrophe("(?<=^(?:a|a?a)+)!(?<!(?:a*)*!)", "a", "!"),
    Catastrophe(r"^(a+)+\1b$", "a", "!"),
    Catastrophe(r"^(.*)\1$", "a", "!"),
];

impl Catastrophe {
    fn text(self) -> String {
        self.1.chars().cycle().take(100_000 - self.2.len()).chain(self.2.chars()).collect()
    }
}

impl std::fmt::Display for Catastrophe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

fn main() {
    divan::main();
}

#[divan::bench(args = CATASTROPHES, sample_count = 20)]
fn catastrophe(bencher: divan::Bencher<'_, '_>, case: Catastrophe) {
    let (regex, text) = (compile(case.0).unwrap(), case.text());
    bencher.bench(|| regex.is_match(divan::black_box(&text), DEFAULT_BUDGET));
}
