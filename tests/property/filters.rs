//! A filter answers quickly by not looking at most texts. What it leaves out must not hold what is looked for.

use std::sync::Arc;

use proptest::prelude::*;
use regex::RegexBuilder;
use rulestep::explore::names::Names;
use rulestep::explore::rows::SessionRow;
use rulestep::explore::table::{Column, sort};
use rulestep::explore::trigrams::{Needed, Trigrams};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Origin};

/// Letters that are few, so that they meet, some of which are equal to others without regard to case.
fn text() -> impl Strategy<Value = String> {
    "[aAbBkKsSſ\u{212a}éÉß1 \n_]{0,40}"
}

/// Expressions of literals, classes, choices and repetitions, with and without anchors.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abBkKsS1_ſé]{1,6}",
        1 => Just(".".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[^k]".to_owned()),
        1 => Just("\\b".to_owned()),
        1 => Just("(?-i:bK)".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            1 => inner.clone().prop_map(|a| format!("(?:{a})*")),
            1 => inner.clone().prop_map(|a| format!("(?:{a})+")),
            1 => inner.clone().prop_map(|a| format!("(?:{a})?")),
            1 => inner.prop_map(|a| format!("^(?:{a})$")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_may_not_be_in_a_text_is_not_found_in_it(texts in proptest::collection::vec(text(), 1..4), pattern in expression()) {
        let built = RegexBuilder::new(&pattern).case_insensitive(true).dot_matches_new_line(true).build().unwrap();
        let Some(needed) = Needed::of(&pattern) else { return Ok(()) };
        let set = Trigrams::of(texts.iter().map(String::as_str));
        if texts.iter().any(|text| built.is_match(text)) {
            prop_assert!(set.may_hold(&needed), "{pattern:?} needs {needed:?} and is in {texts:?}");
        }
    }
}

/// The set would be of no use if it held everything.
#[test]
fn most_texts_without_a_word_are_left_out() {
    let needed = ["deployment", "\\d+ refunds", "issue.*transfer", "(alpha|beta)_order"]
        .map(|pattern| Needed::of(pattern).unwrap());
    let sets = (0..1_000_u32).map(|number| {
        let text = format!(
            "{{\"path\": \"src/file_{}.rs\", \"text\": \"{}\"}}",
            number,
            "some words of no use ".repeat(20)
        );
        Trigrams::of(std::iter::once(text.as_str()))
    });
    let sets: Vec<Trigrams> = sets.collect();
    for needed in &needed {
        assert_eq!(sets.iter().filter(|set| set.may_hold(needed)).count(), 0, "{needed:?}");
    }
    assert!(Needed::of("of").is_none() && Needed::of("a.*b").is_none(), "what is too short says nothing");
}

fn row(title: &str, names: &mut Names) -> SessionRow {
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("id", origin);
    made.said("user", Body::text(title), None);
    let mut session = made.finish();
    session.title = Some(title.into());
    SessionRow::of(&Arc::new(session), names)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn titles_are_sorted_as_by_comparing_them_whole(
        titles in proptest::collection::vec("(?:the same long beginning of it|The Same long)?[aAbBéÉ ]{0,20}", 0..40),
        reverse in any::<bool>(),
    ) {
        let mut names = Names::default();
        let rows: Vec<SessionRow> = titles.iter().map(|title| row(title, &mut names)).collect();
        let mut places: Vec<u32> = (0..rows.len() as u32).collect();
        sort(&rows, &mut places, Column::Title, reverse, &names);
        let mut expected: Vec<usize> = (0..titles.len()).collect();
        expected.sort_by(|one, other| {
            let order = titles[*one].to_lowercase().cmp(&titles[*other].to_lowercase());
            if reverse { order.reverse() } else { order }
        });
        prop_assert_eq!(places, expected.into_iter().map(|at| at as u32).collect::<Vec<u32>>());
    }
}
