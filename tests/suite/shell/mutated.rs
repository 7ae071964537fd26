//! Lines of the tables, damaged at random: nothing panics, every bound holds, and what cannot be read may do anything.
//!
//! `SHELL_SECONDS=1800 cargo test --release --test suite shell::mutated -- --nocapture` goes on for half an hour;
//! `SHELL_SEED` begins elsewhere, and `SHELL_MICROS=5000` prints each line that takes longer than that for each KB, and
//! fails. `SHELL_LAST` is a file that holds the line which is being read: one that never ends is found so.

use std::time::{Duration, Instant};

use rulestep_shell::matcher::Surroundings;
use rulestep_shell::{Answer, Line, Matcher, Root, read};

use super::{asks, tables};

/// What is put into lines.
const PARTS: [&str; 72] = [
    " ",
    "\n",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "(",
    ")",
    "{ ",
    "}",
    "((",
    "))",
    "[[ ",
    " ]]",
    "$(",
    "`",
    "${",
    "'",
    "\"",
    "\\",
    "$'",
    "<<E\n",
    "\nE\n",
    "<<-'E'\n",
    "<<<",
    "<(",
    ">(",
    "> ",
    ">> ",
    "2>&1",
    "if ",
    "then ",
    "else ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    "function f ",
    "f() ",
    "a=",
    "#",
    "!",
    "*",
    "?",
    "[a]",
    "~",
    "-c ",
    "bash -c ",
    "eval ",
    "xargs ",
    "find . -exec ",
    "sudo ",
    "env ",
    "ssh h ",
    "trap ",
    "cd x",
    "cd ..",
    "é",
    "\u{0}",
    "{a,b}",
    "{1..99}",
    "/",
    "..",
    "@",
    "exit",
    "return",
    "set -e",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit.max(1)
    }

    /// Two places in a text, between letters.
    fn range(&mut self, text: &str) -> (usize, usize) {
        let place = |random: &mut Self| {
            let at = random.below(text.len() + 1);
            (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap()
        };
        let (one, other) = (place(self), place(self));
        (one.min(other), one.max(other))
    }

    fn damaged(&mut self, corpus: &[String]) -> String {
        let mut text = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(6) {
            let (start, end) = self.range(&text);
            match self.below(8) {
                0 => text.replace_range(start..end, ""),
                1 => text.truncate(end),
                2 | 3 => text.insert_str(start, PARTS[self.below(PARTS.len())]),
                4 => text.replace_range(start..end, PARTS[self.below(PARTS.len())]),
                5 => {
                    let part = text[start..end].repeat(1 + self.below(if end - start < 4 { 200 } else { 8 }));
                    text.insert_str(end, &part);
                }
                6 => {
                    let other = &corpus[self.below(corpus.len())];
                    let (from, to) = self.range(other);
                    text.insert_str(start, &other[from..to]);
                }
                _ => {
                    let part = PARTS[self.below(PARTS.len())].repeat(1 + self.below(30));
                    text.insert_str(start, &part);
                }
            }
            if text.len() > 20_000 {
                break;
            }
        }
        text
    }
}

/// What is wrong with what was read.
fn fault(text: &str, line: &Line, questions: &[Matcher]) -> Option<String> {
    let unclear = line.calls.iter().any(|call| call.unclear.is_some());
    if line.problem.is_some() && !unclear {
        return Some("it was not read to its end, and seems harmless".to_owned());
    }
    if line.calls.len() > 1001 {
        return Some(format!("{} calls", line.calls.len()));
    }
    let characters = text.chars().count();
    for (number, call) in line.calls.iter().enumerate() {
        if call.after.iter().any(|earlier| *earlier >= number) {
            return Some(format!("call {number} comes after a later one"));
        }
        if call.at.start > call.at.end || call.at.end > characters {
            return Some(format!("call {number} is at {:?} of {characters} characters", call.at));
        }
        if call.to_string().is_empty() {
            return Some(format!("call {number} is shown as nothing"));
        }
    }
    for question in questions {
        let answers = line.calls.iter().map(|call| question.answer(call, &Surroundings::default()));
        if line.problem.is_some() && Answer::any(answers) == Answer::No {
            return Some(format!("it was not read to its end, and the answer to {question:?} is no"));
        }
    }
    None
}

#[test]
fn damaged_lines_are_read_within_every_bound() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let corpus: Vec<String> =
        tables().into_iter().map(|(_, case)| case["line"].as_str().unwrap().to_owned()).collect();
    let questions: Vec<Matcher> = asks().into_values().collect();
    let last = std::env::var_os("SHELL_LAST");
    let (limit, mut slow) = (number("SHELL_MICROS").map(u128::from), 0);
    let mut random = Random(number("SHELL_SEED").unwrap_or(0x9e37_79b9_7f4a_7c15));
    let (begin, seconds) = (Instant::now(), number("SHELL_SECONDS"));
    let (mut lines, mut unknown, mut slowest) = (0u64, 0u64, (0u128, String::new()));
    let goes_on = |lines: u64| match seconds {
        Some(seconds) => begin.elapsed() < Duration::from_secs(seconds),
        None => lines < 3000,
    };
    while goes_on(lines) {
        let text = random.damaged(&corpus);
        if let Some(file) = &last {
            std::fs::write(file, &text).unwrap();
        }
        let started = Instant::now();
        let line = read(&text, &Root::default());
        let again = || {
            let started = Instant::now();
            read(&text, &Root::default());
            started.elapsed()
        };
        // What starting costs is not the line's.
        let each_kb = |time: Duration| time.as_micros() * 1024 / (text.len() as u128 + 1024);
        let mut micros = each_kb(started.elapsed());
        if micros > slowest.0 || limit.is_some_and(|limit| micros > limit) {
            // Nor is what other programs take meanwhile.
            micros = micros.min((0..5).map(|_| each_kb(again())).min().unwrap_or(micros));
        }
        if limit.is_some_and(|limit| micros > limit) {
            slow += 1;
            println!("{micros} µs for each KB: {text:?}");
        }
        if micros > slowest.0 {
            slowest = (micros, text.clone());
        }
        lines += 1;
        unknown += u64::from(line.calls.iter().any(|call| call.unclear.is_some()));
        if let Some(fault) = fault(&text, &line, &questions) {
            panic!("{fault}: {text:?}");
        }
    }
    println!(
        "{lines} lines in {:?}, {unknown} with something unknown; the slowest took {} µs for each KB: {:?}",
        begin.elapsed(),
        slowest.0,
        slowest.1.chars().take(300).collect::<String>()
    );
    assert_eq!(slow, 0, "lines took longer");
    assert!(unknown * 10 > lines && unknown < lines, "{unknown} of {lines}");
}
