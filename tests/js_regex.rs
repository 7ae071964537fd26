//! Regular expressions against what Node's `RegExp` says of them (`tests/oracles/regex/`), and within their budget.

#![expect(clippy::unwrap_used, reason = "tests may fail")]

use std::ops::Range;
use std::path::Path;

use proptest::test_runner::{Config as ProptestConfig, FailurePersistence, FileFailurePersistence};
use rulestep_template::js_regex::{BadPattern, DEFAULT_BUDGET, JsRegex, OverBudget, byte_range, compile};
use serde_json::Value;

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn at(line: &Value, key: &str) -> usize {
    usize::try_from(line[key].as_u64().unwrap()).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What disagrees with a recorded verdict, in words.
fn disagreement(line: &Value) -> Option<String> {
    let compiled = compile(line["pattern"].as_str().unwrap());
    let regex = match (&compiled, line["error"].as_str()) {
        (Ok(regex), None) => regex,
        (Err(BadPattern::Syntax { .. } | BadPattern::Unsupported { .. }), Some("syntax"))
        | (Err(BadPattern::Unsupported { .. }), Some("unsupported")) => return None,
        _ => return Some(format!("compiles to {:?}", compiled.map(|_| ()))),
    };
    let text = line["text"].as_str().unwrap();
    let expected: Option<Range<usize>> =
        line["match"].as_bool().unwrap().then(|| at(line, "index")..at(line, "end"));
    let found = regex.find(text, DEFAULT_BUDGET);
    let matched = regex.is_match(text, DEFAULT_BUDGET);
    (found != Ok(expected.clone()) || matched != Ok(expected.is_some()))
        .then(|| format!("finds {found:?}, matches {matched:?}"))
}

#[test]
fn agrees_with_node() {
    // The generator makes as many cases as one likes; the committed ones are where no other file is named.
    let path = std::env::var_os("RULESTEP_REGEX_CASES")
        .map_or_else(|| root().join("tests/conformance/js_regex.jsonl"), Into::into);
    let lines = lines(&path);
    assert!(lines.len() >= 2000);
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| disagreement(line).map(|wrong| format!("{line}\n    {wrong}")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        lines.len(),
        wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn patterns_of_rejection_plans_compile_or_are_meant_not_to() {
    const MEANT: [&str; 15] = [
        "(",
        "(?-i)bye",
        "(?<n>a)(?<n>b)",
        "(?P<w>bye)",
        "(?U)b+",
        "(?i:BYE)",
        "(?x) b y e",
        "*bye",
        "[z-a]",
        r"\bbye\b)",
        r"\p{L}",
        r"\u{62}ye",
        r"^\p{Lu}",
        "a**",
        "good(?i)BYE",
    ];
    let folder = root().join("tests/conformance");
    let mut refused = Vec::new();
    for name in ["vapi.jsonl", "vapi-silent.jsonl"] {
        let cases = lines(&folder.join(name));
        let mut patterns = Vec::new();
        cases.iter().for_each(|case| patterns_in(&case["rejection_plan"], &mut patterns));
        assert!(patterns.len() > 50);
        let bad: Vec<&str> = patterns.into_iter().filter(|pattern| compile(pattern).is_err()).collect();
        assert!(name != "vapi.jsonl" || bad.is_empty(), "{bad:?}");
        refused.extend(bad.into_iter().map(str::to_owned));
    }
    refused.sort_unstable();
    refused.dedup();
    assert_eq!(refused, MEANT);
}

fn patterns_in<'v>(value: &'v Value, patterns: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            patterns.extend(fields.get("regex").and_then(Value::as_str));
            fields.values().for_each(|field| patterns_in(field, patterns));
        }
        Value::Array(items) => items.iter().for_each(|item| patterns_in(item, patterns)),
        _ => {}
    }
}

/// What begins, is repeated, and ends a text of 100,000 letters.
fn long_text(start: &str, middle: &str, end: &str) -> String {
    let room = 100_000 - start.len() - end.len();
    start.chars().chain(middle.chars().cycle().take(room)).chain(end.chars()).collect()
}

/// The patterns of `benches/js_regex.rs` and their like, with the true answers; `None`: given up.
#[test]
fn catastrophes_end_within_the_budget() {
    let cases = [
        ("^(a+)+$", long_text("", "a", "!"), Some(false)),
        ("^(a+)+$", long_text("", "a", "a"), Some(true)),
        ("(a|aa)+$", long_text("", "a", "!"), Some(false)),
        ("(.*)*x", long_text("", "a", "!"), Some(false)),
        ("(.*)*x", long_text("", "a", "x"), Some(true)),
        (r"^(\w+\s?)+$", long_text("", "word and ", "!"), Some(false)),
        ("((a*)*)*b", long_text("", "a", "!"), Some(false)),
        ("^(?:a|ab|aba|b)+c$", long_text("", "ab", ""), Some(false)),
        ("^(?:a|ab|aba|b)+c$", long_text("", "ab", "c"), Some(true)),
        ("^(?=(?:a+)+b)(?!.*(?:a|a?a)+c)", long_text("", "a", "!"), Some(false)),
        ("^(?=(?:a+)+b)(?!.*(?:a|a?a)+c)", long_text("", "a", "b"), Some(true)),
        ("(?<=^(?:a|a?a)+)!(?<!(?:a*)*!)", long_text("", "a", "!"), Some(false)),
        (r"^(a+)+\1b$", long_text("", "a", "!"), Some(false)),
        (r"^(a+)+\1b$", long_text("", "a", "b"), Some(true)),
        (r"^(.*)\1$", long_text("", "a", "!"), None),
        ("(x+x+)+y", long_text("", "x", ""), Some(false)),
        ("(?i)(?:[a-z]+)*[0-9]", long_text("", "aB", "é"), Some(false)),
        ("a{1,1000}b", long_text("", "a", ""), Some(false)),
        (r"\b(\w+)\s+\1\b", long_text("", "word and ", "and"), Some(false)),
        (r"\b(\w+)\s+\1\b", long_text("", "word and ", " so so"), Some(true)),
    ];
    for (pattern, text, expected) in cases {
        let answer = compile(pattern).unwrap().is_match(&text, DEFAULT_BUDGET);
        assert_eq!(answer, expected.ok_or(OverBudget { budget: DEFAULT_BUDGET }), "{pattern}");
    }
}

/// A reference that cannot be pruned: what is remembered of failed states makes the difference.
#[test]
fn failed_states_are_not_tried_again() {
    let text = format!("{}!b", "a".repeat(10_000));
    for pattern in [r"^(?:a|aa)+(.)!\1$", r"^(?:a+)+(.)!\1$", r"^(?:(?=(a))a|a?a)+(.)!\2$"] {
        assert_eq!(compile(pattern).unwrap().is_match(&text, DEFAULT_BUDGET), Ok(false), "{pattern}");
    }
}

#[test]
fn the_budget_is_counted_alike_each_time() {
    for (pattern, text) in [("(a|b)*c", "abababab"), (r"(a+)\1c?b", "aaaaab"), ("(?<=a)b", "ab")] {
        let regex = compile(pattern).unwrap();
        let enough = (0..10_000).find(|budget| regex.is_match(text, *budget).is_ok()).unwrap();
        assert!(enough > 1, "{pattern}");
        for budget in [0, enough - 1] {
            assert_eq!(regex.is_match(text, budget), Err(OverBudget { budget }), "{pattern}");
        }
        let answer = regex.is_match(text, enough);
        assert!(answer.is_ok());
        assert_eq!(regex.is_match(text, DEFAULT_BUDGET), answer);
        assert_eq!(regex.clone().is_match(text, enough), answer);
    }
}

/// A bound too large to write out is exact as long as the text cannot reach it; beyond, nothing is claimed.
#[test]
fn large_counts_are_exact_or_refused() {
    let regex = compile("^(?:ab){0,100000}$").unwrap();
    assert_eq!(regex.is_match(&"ab".repeat(50_000), DEFAULT_BUDGET), Ok(true));
    assert_eq!(regex.is_match(&"ab".repeat(49_999), DEFAULT_BUDGET), Ok(true));
    assert!(regex.is_match(&"ab".repeat(100_001), u64::MAX).is_err());
    let regex = compile("^.{2,3000}$").unwrap();
    assert_eq!(regex.is_match(&"é".repeat(3000), DEFAULT_BUDGET), Ok(true));
    assert_eq!(regex.is_match(&"é".repeat(3001), DEFAULT_BUDGET), Ok(false));
    assert_eq!(compile("a{0,99999999999}b").unwrap().is_match("aab", DEFAULT_BUDGET), Ok(true));
    assert!(matches!(compile("(?:a{900}){900}"), Err(BadPattern::TooLarge { .. })));
    assert!(matches!(compile("a{99999999999}"), Err(BadPattern::TooLarge { .. })));
}

#[test]
fn errors_say_where_and_what() {
    let message = |pattern: &str| compile(pattern).unwrap_err().to_string();
    assert_eq!(message("é*+"), "nothing to repeat at offset 3");
    assert_eq!(message("(?i)(a"), "this group is not closed at offset 4");
    assert_eq!(message("😀)"), "unmatched `)` at offset 4");
    assert_eq!(message("a[z-a]"), "range out of order in a character class at offset 2");
    assert_eq!(message(r"x\p{L}"), r"`\p{` at offset 1 is not supported");
    assert_eq!(message("good(?i)BYE"), "`(?i)` at offset 4 is not supported");
    assert_eq!(message("(?-i:a)"), "`(?-i:` at offset 0 is not supported");
    assert_eq!(message(&"(".repeat(300)), "the pattern is too large: groups nest deeper than 100");
    assert_eq!(OverBudget { budget: 7 }.to_string(), "the search stopped after 7 steps");
}

/// Deep nesting, long patterns and counts that multiply: an answer or an error, on a small stack, soon.
#[test]
fn hostile_patterns_are_bounded() {
    let nested =
        |open: &str, close: &str, depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
    let deep: Vec<String> =
        [("(", ")"), ("(?:a|(?=b|", ")+)*"), ("(?<=", ")"), ("(a|b", r"\1)*?"), ("(?!x", "y)")]
            .iter()
            .flat_map(|(open, close)| {
                [nested(open, close, 50), nested(open, close, 100), nested(open, close, 20_000)]
            })
            .collect();
    let wide = [
        format!("(?:{}a){{260000}}", "()".repeat(30_000)),
        format!("{}a{}", "(?:".repeat(150), "{0,9})".repeat(150).replace("})", ")").replace("{0,9", "{0,9}")),
        format!("(?:{}){{1000}}", "a?".repeat(500)),
        "(a)".repeat(10_000) + &r"\9999".repeat(4_000),
        "(?=a)".repeat(13_000),
        "(?:(?=(a))){500}".repeat(100) + r"\1",
        format!("(?i)[{}]", "aZé".repeat(20_000)),
        "[".repeat(60_000),
        "\\".repeat(60_001),
        "(?:".repeat(60_000),
        "a|".repeat(30_000),
        "(?:[ace]?){9999}".repeat(4_000),
        (0..9_000).map(|n| format!("(?<n{n}>")).collect(),
        "x".repeat(70_000),
        "((((.*)*)*)*)*\\1\\2\\3x".to_owned(),
    ];
    let run = move || {
        for pattern in deep.iter().chain(&wide) {
            if let Ok(regex) = compile(pattern) {
                for text in ["", "aaaaaaaaab", &"ab😀".repeat(3_000)] {
                    let matched = regex.is_match(text, 1_000_000);
                    let found = regex.find(text, 1_000_000);
                    if let (Ok(matched), Ok(found)) = (matched, found) {
                        assert_eq!(matched, found.is_some());
                    }
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn ranges_of_units_become_ranges_of_bytes() {
    let text = "é😀a";
    let range = |units| text.get(byte_range(text, units)).unwrap();
    assert_eq!(range(0..1), "é");
    assert_eq!(range(1..2), "😀");
    assert_eq!(range(2..3), "😀");
    assert_eq!(range(2..4), "😀a");
    assert_eq!(range(1..1), "");
    assert_eq!(range(4..4), "");
    assert_eq!(byte_range(text, 4..4), 7..7);
    assert_eq!(byte_range(text, 0..0), 0..0);
    assert_eq!(byte_range(text, 9..12), 7..7);
    assert_eq!(byte_range("", 0..0), 0..0);
}

#[test]
fn a_regex_is_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<JsRegex>();
}

/// Failing cases are kept where those of the other binaries are: proptest looks for a `main.rs`, and here is none.
fn kept() -> ProptestConfig {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proptest-regressions/js_regex.txt");
    let failure_persistence: Box<dyn FailurePersistence> = Box::new(FileFailurePersistence::Direct(file));
    ProptestConfig { failure_persistence: Some(failure_persistence), ..ProptestConfig::default() }
}

proptest::proptest! {
    #![proptest_config(kept())]

    /// Whatever is thrown at it: no panic, and both questions have the same answer.
    #[test]
    fn anything_is_answered(
        pattern in r"([ab.^$|?*+(){}\[\]\\,<>=!:ikn0-9é😀-]|\(\?[=!:]|\(\?<[=!n]|\\[bBdkwcux1-3]){0,24}",
        text in "[abAB1 é\n😀]{0,12}",
    ) {
        if let Ok(regex) = compile(&pattern) {
            let (matched, found) = (regex.is_match(&text, 200_000), regex.find(&text, 200_000));
            if let (Ok(matched), Ok(found)) = (matched, found) {
                proptest::prop_assert_eq!(matched, found.is_some());
            }
        }
    }
}
