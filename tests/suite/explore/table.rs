//! The table of sessions: sifted, sorted, grouped.

use std::collections::{BTreeMap, BTreeSet};

use rulestep::explore::filter::Filter;
use rulestep::explore::names::Names;
use rulestep::explore::rows::SessionRow;
use rulestep::explore::sieve::Sieve;
use rulestep::explore::table::{Column, GroupKind, group, sift, sort};

use super::*;

/// The three sessions, judged, and a file that could not be read; the second one is changed by a comparison.
fn rows() -> (Vec<SessionRow>, Names) {
    let mut names = Names::default();
    let policy = policy();
    let mut rows: Vec<SessionRow> =
        sessions().iter().map(|session| SessionRow::of(session, &mut names)).collect();
    for row in &mut rows {
        let replay = Replay::new(&row.session.as_ref().unwrap().session().unwrap(), &policy, Mode::Enforce);
        row.judge(&replay, &mut names);
        row.changed = Some(usize::from(&*replay.session().id == "beta"));
    }
    let mut unread = SessionRow::unread(names.of_str("s/broken.json"));
    unread.problems = 1;
    rows.push(unread);
    (rows, names)
}

fn ids(rows: &[SessionRow], places: &[u32]) -> String {
    let id = |place: &u32| {
        rows[*place as usize].session.as_ref().map_or("broken", |session| &session.id).to_owned()
    };
    places.iter().map(id).collect::<Vec<_>>().join(" ")
}

#[test]
fn sessions_are_sorted_by_any_column_and_what_says_nothing_is_last() {
    let (rows, names) = rows();
    let cases = [
        (Column::Title, "alpha beta gamma broken", "broken gamma beta alpha"),
        (Column::When, "gamma beta alpha broken", "alpha beta gamma broken"),
        (Column::Project, "alpha beta gamma broken", "gamma beta alpha broken"),
        // Of what is equal the order stays, in both directions.
        (Column::Branch, "alpha beta gamma broken", "alpha beta gamma broken"),
        (Column::Format, "alpha beta gamma broken", "alpha beta gamma broken"),
        (Column::Calls, "beta gamma alpha broken", "alpha beta gamma broken"),
        (Column::Turns, "beta gamma alpha broken", "alpha beta gamma broken"),
        (Column::Stopped, "alpha gamma beta broken", "beta alpha gamma broken"),
        (Column::Violated, "alpha beta gamma broken", "beta gamma alpha broken"),
        (Column::Rules, "alpha gamma beta broken", "beta gamma alpha broken"),
        (Column::Problems, "alpha beta gamma broken", "broken alpha beta gamma"),
    ];
    for (column, up, down) in cases {
        for (reverse, expected) in [(false, up), (true, down)] {
            let mut places: Vec<u32> = (0..4).collect();
            sort(&rows, &mut places, column, reverse, &names);
            assert_eq!(ids(&rows, &places), expected, "{column:?} {reverse}");
        }
    }
}

#[test]
fn sessions_are_grouped() {
    let (rows, names) = rows();
    let cases: [(GroupKind, &[(&str, &str)]); 5] = [
        (GroupKind::File, &[("s/shop.json", "alpha beta gamma"), ("s/broken.json", "broken")]),
        (
            GroupKind::Project,
            &[
                ("/home/me/alpha-shop", "alpha"),
                ("/home/me/beta-shop", "beta"),
                ("/home/me/gamma-shop", "gamma"),
                ("no project recorded", "broken"),
            ],
        ),
        (
            GroupKind::Day,
            &[
                ("2026-11-22", "alpha"),
                ("2026-11-21", "beta"),
                ("2026-11-02", "gamma"),
                ("no time recorded", "broken"),
            ],
        ),
        (
            GroupKind::Rule,
            &[
                ("Nothing is paid unchecked", "beta"),
                ("Cases are closed", "gamma"),
                ("no rule", "alpha broken"),
            ],
        ),
        (
            GroupKind::Verdict,
            &[("stopped or violated", "beta gamma"), ("not read", "broken"), ("nothing stopped", "alpha")],
        ),
    ];
    for (kind, expected) in cases {
        let groups = group(&rows, &[0, 1, 2, 3], kind, &names);
        let found: Vec<(String, String)> =
            groups.iter().map(|group| (group.key.word(kind, &names), ids(&rows, &group.places))).collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(word, ids)| ((*word).to_owned(), (*ids).to_owned())).collect();
        assert_eq!(found, expected, "{kind:?}");
    }
}

/// Every filter and its negation part the sessions; only a file that could not be read is in both halves, as nobody knows what
/// is in it.
#[test]
fn a_filter_and_its_negation_part_the_list() {
    let (rows, names) = rows();
    let terms = [
        "alpha",
        "ORD-1",
        "/ord-[12]/",
        "tool:pay",
        "tool:l*k",
        "rule:closed",
        "code:prior_tool_missing",
        "is:stopped",
        "is:violated",
        "is:changed",
        "is:error",
        "is:unanswered",
        "is:differs",
        "turn:2..",
        "project:beta",
        "branch:main",
        "agent:x",
        "format:native",
        "id:gam",
        "since:7d",
        "until:2026-11-10",
        "zzz",
    ];
    for term in terms {
        let keep = |text: &str| {
            let places = sift(&rows, &Sieve::new(&Filter::parse(text, NOW).unwrap(), &names));
            assert_eq!(places.last(), Some(&3), "`{text}` keeps the file that could not be read");
            places[..places.len() - 1].iter().copied().collect::<BTreeSet<u32>>()
        };
        let (with, without) = (keep(term), keep(&format!("!{term}")));
        assert!(with.is_disjoint(&without), "{term}");
        assert_eq!(with.union(&without).copied().collect::<Vec<_>>(), [0, 1, 2], "{term}");
    }
    let of_file =
        |text: &str| ids(&rows, &sift(&rows, &Sieve::new(&Filter::parse(text, NOW).unwrap(), &names)));
    assert_eq!(of_file("file:broken"), "broken");
    assert_eq!(of_file("!file:broken"), "alpha beta gamma");
    assert_eq!(of_file("is:changed"), "beta broken");
}

/// Over the samples under their policies, in every order and grouping.
#[test]
fn sorting_keeps_every_session_and_group_counts_add_up() {
    let mut names = Names::default();
    let policy = policy();
    let mut rows = Vec::new();
    for path in walk("sample-traces".as_ref()) {
        let reading = open(
            path.to_str().unwrap(),
            Box::new(Cursor::new(std::fs::read(&path).unwrap())),
            &Options::default(),
        );
        for session in reading.into_iter().flatten() {
            let mut row = SessionRow::of(&Arc::new(session), &mut names);
            row.judge(
                &Replay::new(&row.session.as_ref().unwrap().session().unwrap(), &policy, Mode::Enforce),
                &mut names,
            );
            rows.push(row);
        }
    }
    let all: Vec<u32> = (0..u32::try_from(rows.len()).unwrap()).collect();
    for column in Column::ALL {
        let mut up = all.clone();
        sort(&rows, &mut up, column, false, &names);
        let mut down = all.clone();
        sort(&rows, &mut down, column, true, &names);
        for places in [&up, &down] {
            let mut sorted = places.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, all, "{column:?}");
        }
        if column == Column::Title {
            let folded = |place: &u32| rows[*place as usize].title(&names).to_lowercase();
            assert!(up.iter().map(folded).is_sorted(), "{:?}", up.iter().map(folded).collect::<Vec<_>>());
        }
        for kind in GroupKind::ALL {
            let groups = group(&rows, &up, kind, &names);
            let ranks: BTreeMap<u32, usize> =
                up.iter().enumerate().map(|(rank, place)| (*place, rank)).collect();
            assert_eq!(groups.iter().map(|group| group.places.len()).sum::<usize>(), rows.len(), "{kind:?}");
            let mut keys: Vec<_> = groups.iter().map(|group| format!("{:?}", group.key)).collect();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), groups.len(), "{kind:?}");
            assert!(
                groups.iter().all(|group| group.places.iter().map(|place| ranks[place]).is_sorted()),
                "{kind:?}"
            );
        }
    }
}

/// A filter that asks nothing of decisions, and one that does, find the same in the table as one session at a time.
#[test]
fn the_table_and_one_session_alone_agree() {
    let (rows, names) = rows();
    let policy = policy();
    for text in [
        "",
        "ord-1 tool:look",
        "!tool:pay",
        "is:stopped rule:paid",
        "!is:error !turn:3",
        "tool:pay !is:stopped",
        "closed",
    ] {
        let filter = Filter::parse(text, NOW).unwrap();
        let kept = sift(&rows[..3], &Sieve::new(&filter, &names));
        let alone: Vec<u32> = (0..3)
            .filter(|at| {
                let session = &rows[*at as usize].session.as_ref().unwrap().session().unwrap();
                passes(&filter, session, Some(&Replay::new(session, &policy, Mode::Enforce)), None)
            })
            .collect();
        assert_eq!(kept, alone, "`{text}`");
    }
}
