use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;

/// Line, list, kind and text of every piece, read in chunks of this size.
fn cut(text: &str, limit: u64, chunk: usize) -> Vec<(u64, Option<u32>, Kind, String)> {
    let input = BufReader::with_capacity(chunk, Cursor::new(text.as_bytes().to_vec()));
    let mut units = Units::new(Box::new(input), limit).unwrap();
    let mut pieces = Vec::new();
    while let Some(piece) = units.next().unwrap() {
        let text = units.take_text();
        pieces.push((piece.line, piece.list, piece.kind, String::from_utf8_lossy(&text).into_owned()));
        units.give_back(text);
    }
    pieces
}

#[test]
fn values_are_cut_wherever_they_stand() {
    let value = |line, list, text: &str| (line, list, Kind::Value, text.to_owned());
    for (text, expected) in [
        ("", vec![]),
        ("{}", vec![value(1, None, "{}")]),
        ("\n {\"a\": \"}\\\"\"}\n{}", vec![value(2, None, "{\"a\": \"}\\\"\"}"), value(3, None, "{}")]),
        (
            "[{}, [1,\n2],3 ,\"a]\"]",
            vec![
                value(1, Some(0), "{}"),
                value(1, Some(0), "[1,\n2]"),
                value(2, Some(0), "3 "),
                value(2, Some(0), "\"a]\""),
            ],
        ),
        ("[{}]\n[{}]", vec![value(1, Some(0), "{}"), value(2, Some(1), "{}")]),
        ("[[[]]]", vec![value(1, Some(0), "[[]]")]),
        ("[]", vec![]),
    ] {
        assert_eq!(cut(text, LARGEST, 4096), expected, "{text}");
    }
}

#[test]
fn what_is_too_large_is_counted_and_not_kept() {
    let text = format!("{{\"a\": \"{}\"}}\n{{}}\n[{}, {{}}]", "x".repeat(1000), "1".repeat(500));
    let kinds: Vec<_> =
        cut(&text, 100, 64).into_iter().map(|(line, _, kind, text)| (line, kind, text.len())).collect();
    let expected =
        [(1, Kind::TooLarge(1009), 0), (2, Kind::Value, 2), (3, Kind::TooLarge(500), 0), (3, Kind::Value, 2)];
    assert_eq!(kinds, expected);
}

proptest! {
    /// Where the chunks end makes no difference.
    #[test]
    fn chunks_do_not_matter(text in r#"[{}\[\]",: \\a1\n]{0,60}"#, chunk in 1..9usize, limit in 5..50u64) {
        prop_assert_eq!(cut(&text, limit, chunk), cut(&text, limit, 4096));
    }

    /// Whole values on lines of their own are all found, also around damaged ones.
    #[test]
    fn whole_lines_are_found(damaged in prop::collection::vec(r#"\{[{}\[",: \\a]{0,20}"#, 0..4)) {
        let whole = "{\"id\": [1, \"}\"]}";
        let mut text = format!("{whole}\n");
        for line in &damaged {
            text.push_str(&format!("{line}\n{whole}\n"));
        }
        let found = cut(&text, LARGEST, 4096).iter().filter(|(_, _, _, text)| text == whole).count();
        prop_assert!(found > damaged.len(), "{} of {} in {}", found, damaged.len() + 1, text);
    }
}
