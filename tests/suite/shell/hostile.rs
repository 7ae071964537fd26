//! Texts of any kind: nothing panics, no stack overflows, and time stays within bounds.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rulestep_shell::facts::{names, program};
use rulestep_shell::{Root, read};

/// Openers with what closes them.
const NESTS: [(&str, &str, &str); 18] = [
    ("(", "a", ")"),
    ("{ ", "a", ";}"),
    ("$(", "a", ")"),
    ("\"$(", "a", ")\""),
    ("${a:-", "b", "}"),
    ("\"${a:-", "b", "}\""),
    ("$((", "1", "))"),
    ("((", "1", "))"),
    ("if ", "a", "; then b; fi"),
    ("while ", "a", "; do b; done"),
    ("f() { ", "a", ";}"),
    ("case a in a) ", "b", ";; esac"),
    ("`", "a", "`"),
    ("<(", "a", ")"),
    ("{a,", "b", "}"),
    ("eval ", "a", ""),
    ("[[ ( ", "a", " ) ]]"),
    ("! ", "a", ""),
];

#[test]
fn deep_nests_are_bounded() {
    for (open, middle, close) in NESTS {
        for depth in [10, 250, 20_000] {
            for text in [open.repeat(depth), open.repeat(depth) + middle + &close.repeat(depth)] {
                let line = read(&text, &Root::default());
                assert!(depth < 300 || open == "! " || !line.calls.is_empty(), "{open:?} {depth}");
            }
        }
    }
}

/// Texts whose length costs more than it should in many parsers.
const REPEATS: [&str; 26] = [
    "a ",
    "a;",
    "a|",
    "a&&",
    "a\n",
    "'a' ",
    "\"a\" ",
    "\\a",
    "$a",
    "${a}",
    "$(a) ",
    "`a` ",
    "<a ",
    ">a ",
    "<<a\n",
    "a=b ",
    "{a,b}",
    "*",
    "# a\n",
    "a() ",
    "[ ",
    "if a; then ",
    "é",
    "~",
    "(",
    "a{",
];

#[test]
fn long_lines_take_time_in_proportion() {
    for repeat in REPEATS {
        for bytes in [2_000, 8_000] {
            for (before, after) in
                [("", ""), ("a ", ""), ("'", "'"), ("\"", "\""), ("cat <<E\n", "\nE\n"), ("a ${x:-", "}")]
            {
                let text = format!("{before}{}{after}", repeat.repeat(bytes / repeat.len()));
                let begin = Instant::now();
                let line = read(&text, &Root::default());
                let took = begin.elapsed();
                // An unoptimised build on a busy machine: a hundred times what is promised, so that only growth fails.
                let bound = Duration::from_millis(500) * u32::try_from(text.len() / 1024 + 1).unwrap();
                assert!(
                    took < bound,
                    "{repeat:?} in {before:?}, {} bytes: {took:?}, {} calls",
                    text.len(),
                    line.calls.len()
                );
            }
        }
    }
}

/// Programs that run others, in each other, with options that may have a value or not. `SHELL_MICROS=5000` fails on a text that takes
/// longer than that for each KB; without it only growth fails, on any machine.
#[test]
fn programs_in_each_other_take_time_in_proportion() {
    let micros = std::env::var("SHELL_MICROS").ok().and_then(|text| text.parse().ok());
    let most = Duration::from_micros(micros.unwrap_or(5_000_000));
    let mut slowest = (Duration::ZERO, String::new());
    let subs = |name: &str| {
        let ways = program(name).into_iter().flat_map(|row| row.ways());
        ways.filter_map(|(level, _)| Some(level.subs.first()?.join(" "))).collect::<Vec<_>>()
    };
    // The first and the last way of each program: those between have the same options.
    let ends = |name: &str| {
        let mut subs = subs(name);
        subs.drain(1.min(subs.len())..subs.len().saturating_sub(1).max(1.min(subs.len())));
        subs
    };
    for (name, sub) in names().flat_map(|name| ends(name).into_iter().map(move |sub| (name, sub))) {
        for options in ["", "-q ", "-t-c ", "--zz ", "-q 5 --zz 5 ", "a -q "] {
            let text = format!("{name} {sub} {options}").repeat(1000 / (name.len() + 8)) + "git push";
            let kilobytes = u32::try_from(text.len() / 1024 + 1).unwrap();
            let time = || {
                let begin = Instant::now();
                read(&text, &Root::default());
                begin.elapsed() / kilobytes
            };
            let mut took = time();
            if took > slowest.0 {
                // What other programs take meanwhile is not the text's.
                took = took.min((0..3).map(|_| time()).min().unwrap_or(took));
            }
            slowest = slowest.max((took, text));
        }
    }
    println!("the slowest took {:?} for each KB: {:?}", slowest.0, slowest.1.get(..80));
    assert!(slowest.0 < most, "{slowest:?}");
}

proptest! {
    #[test]
    fn any_text_is_read(text in ".{0,200}") {
        let line = read(&text, &Root::default());
        prop_assert!(line.problem.is_none() || line.calls.iter().any(|call| call.unclear.is_some()));
    }

    #[test]
    fn any_mixture_of_the_grammar_is_read(parts in prop::collection::vec(prop::sample::select(vec![
        "git", "push", " ", "\n", ";", ";;", "&", "&&", "|", "||", "(", ")", "{", "}", "((", "))", "[[", "]]", "$(", "`", "${", "'", "\"", "\\", "$'", "<<EOF", "EOF",
        "<<<", "<(", ">(", ">", ">>", "2>&1", "if", "then", "else", "fi", "for", "in", "do", "done", "while", "case", "esac", "function", "f()", "=", "a=", "#", "!", "*", "~", "-c",
        "bash", "eval", "xargs", "find", "-exec", "sudo", "env", "ssh", "é", "\u{0}", "{a,b}", "{1..9}", "..", "/", "@", ":",
    ]), 0..40)) {
        let line = read(&parts.concat(), &Root::default());
        prop_assert!(line.problem.is_none() || line.calls.iter().any(|call| call.unclear.is_some()));
        let line = read(&parts.join(" "), &Root::default());
        prop_assert!(line.problem.is_none() || line.calls.iter().any(|call| call.unclear.is_some()));
    }
}
