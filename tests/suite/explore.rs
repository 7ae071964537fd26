//! Questions about many sessions: which of them match a filter, and what they say of every rule.

mod table;
mod titles;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use rulestep::explore::breakdown::{Breakdown, By, Key};
use rulestep::explore::coverage::Coverage;
use rulestep::explore::filter::{Filter, InvalidFilter};
use rulestep::explore::inventory::{Inventory, SessionCount};
use rulestep::explore::sieve::passes;
use rulestep_base::session::Session;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{Replay, Tables, outcomes};
use rulestep_engine::run::Mode;
use rulestep_recording::{Options, open};
use serde_json::{Value, json};

/// Noon of the 22nd of November 2026.
const NOW: i64 = 1_795_348_800_000;

const RULES: &str = "\
tool: pay
preconditions: [{requires_prior_tool: check, description: Nothing is paid unchecked}]
forbids_after: [refund]
---
version: \"1\"
name: closing
rules: [{type: require, tool: close_case, description: Cases are closed}]
";

fn policy() -> Arc<Policy> {
    let file = PolicyFile {
        name: "p/pay.yaml".into(),
        relative: "pay.yaml".into(),
        text: RULES.into(),
        named: true,
    };
    Policy::load(&[file], None).policy.unwrap()
}

/// A tool, its arguments, and its result if it has one, with whether it failed.
type RecordedCall<'a> = (&'a str, &'a str, Option<(&'a str, bool)>);

/// A session that began this many hours before noon, with these calls.
fn session(id: &str, hours: i64, calls: &[RecordedCall<'_>]) -> Arc<Session> {
    let at = jiff::Timestamp::from_millisecond(NOW - hours * 3_600_000).unwrap().to_string();
    let mut messages = vec![json!({"role": "user", "content": format!("Help with {id} please"), "at": at})];
    for (number, (tool, arguments, result)) in calls.iter().enumerate() {
        let id = format!("c{number}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls":
            [{"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}]}));
        if let Some((content, failed)) = result {
            messages
                .push(json!({"role": "tool", "tool_call_id": id, "content": content, "is_error": failed}));
        }
    }
    let context = json!({"cwd": format!("/home/me/{id}-shop"), "gitBranch": "main"});
    read(&json!({"id": id, "context": context, "messages": messages}))
}

fn read(value: &Value) -> Arc<Session> {
    let text = value.to_string().into_bytes();
    let mut reading = open("s/shop.json", Box::new(Cursor::new(text)), &Options::default()).unwrap();
    Arc::new(reading.next().unwrap())
}

/// Checked and paid; paid unchecked, with a failed call; a look without a result and a note, long ago.
fn sessions() -> [Arc<Session>; 3] {
    const OK: Option<(&str, bool)> = Some(("ok", false));
    [
        session(
            "alpha",
            1,
            &[("check", "{}", OK), ("pay", "{\"order\": \"ORD-1\"}", OK), ("close_case", "{}", OK)],
        ),
        session(
            "beta",
            30,
            &[("pay", "{\"order\": \"ORD-2\"}", OK), ("look", "{}", Some(("no such file", true)))],
        ),
        session(
            "gamma",
            24 * 20,
            &[("look", "{\"what\": \"ORD-1 \\\"two words\\\"\"}", None), ("note", "{}", OK)],
        ),
    ]
}

#[test]
fn filters_choose_sessions() {
    let (policy, sessions) = (policy(), sessions());
    let cases = [
        ("", "alpha beta gamma"),
        ("ALPHA", "alpha"),
        ("ord-1", "alpha gamma"),
        ("\"two words\"", "gamma"),
        ("/ORD-[12]/ tool:pay", "alpha beta"),
        ("tool:p?y", "alpha beta"),
        ("tool:*a*", "alpha beta"),
        ("tool:/^l.*k$/", "beta gamma"),
        ("!tool:pay", "gamma"),
        ("is:stopped", "beta"),
        ("is:denied code:prior_tool_missing", "beta"),
        ("is:halted", ""),
        ("!is:stopped", "alpha gamma"),
        ("is:violated", "beta gamma"),
        ("rule:closed", "beta gamma"),
        ("rule:\"nothing is paid\"", "beta"),
        ("is:error", "beta"),
        // Of one and the same call.
        ("is:error tool:pay", ""),
        ("is:error tool:look", "beta"),
        ("tool:pay !is:stopped", "alpha"),
        ("is:unanswered", "gamma"),
        ("is:differs", "beta"),
        ("since:7d", "alpha beta"),
        ("since:24h", "alpha"),
        ("until:2026-11-10", "gamma"),
        ("since:2026-11-01 until:2026-11-22", "gamma beta"),
        ("project:beta-shop since:1w is:error", "beta"),
        ("branch:main turn:2..", "alpha beta gamma"),
        ("turn:3", "alpha"),
        ("turn:..1 tool:look", "gamma"),
        ("file:shop.json id:gam", "gamma"),
        ("format:native !id:gam !id:alpha", "beta"),
        ("10:30", ""),
        ("/home/me", "alpha beta gamma"),
    ];
    for (text, expected) in cases {
        let filter = Filter::parse(text, NOW).unwrap();
        for mode in [Mode::Enforce, Mode::Shadow] {
            let chosen = sessions.iter().filter(|session| {
                let replay = Replay::new(session, &policy, mode);
                passes(&filter, session, Some(&replay), None)
            });
            let mut chosen: Vec<&str> = chosen.map(|session| &*session.id).collect();
            let mut expected: Vec<&str> = expected.split_whitespace().collect();
            chosen.sort_unstable();
            expected.sort_unstable();
            assert_eq!(chosen, expected, "`{text}` {mode:?}");
        }
        // What needs no decision finds the same without one.
        if !filter.asks_decisions() {
            for session in &sessions {
                let replay = Replay::new(session, &policy, Mode::Enforce);
                assert_eq!(
                    passes(&filter, session, None, None),
                    passes(&filter, session, Some(&replay), None),
                    "`{text}`"
                );
            }
        }
    }
}

#[test]
fn a_filter_that_is_not_understood_is_an_error() {
    let cases = [
        ("refund tols:x", 7..13, "unknown key `tols:`"),
        ("is:stoped", 0..9, "unknown value `is:stoped`"),
        ("a tool: b", 2..7, "`tool:` has no value"),
        ("turn:x", 0..6, "`turn:x` is not a range of turns"),
        ("turn:", 0..5, "`turn:` is not a range of turns"),
        ("since:soon", 0..10, "`soon` is not a time"),
        ("since:-3d", 0..9, "`-3d` is not a time"),
        ("since:99999999999999999w", 0..24, "`99999999999999999w` is not a time"),
        ("\"open", 0..5, "the quotation mark is not closed"),
        ("x !tool:/a(/", 2..12, "`/a(/` is not a regular expression: unclosed group"),
    ];
    for (text, at, message) in cases {
        let InvalidFilter { at: found, message: said, .. } = Filter::parse(text, NOW).unwrap_err();
        assert_eq!((found, said.as_str()), (at, message), "`{text}`");
    }
    let help = |text| Filter::parse(text, NOW).unwrap_err().help.unwrap();
    assert_eq!(help("too:x"), "did you mean `tool:`?");
    assert_eq!(help("is:stoped"), "did you mean `is:stopped`?");
}

#[test]
fn no_text_makes_a_filter_panic() {
    for text in [
        "!",
        "!!",
        "\"",
        "!\"",
        ":",
        "a:",
        "!a:",
        "/",
        "//",
        "/ /",
        "tool:/",
        "tool:\"",
        "é:ü",
        "turn:..",
        "\u{0}",
        "tool:\u{2028}",
    ] {
        let _ = Filter::parse(text, NOW);
        let _ = Filter::parse(text, i64::MIN);
    }
}

#[test]
fn coverage_says_what_each_rule_was_asked() {
    let (policy, sessions) = (policy(), sessions());
    let mut coverage = Coverage::default();
    for session in &sessions {
        coverage.merge(&Coverage::of(&Replay::with_checks(session, &policy, Mode::Enforce)));
    }
    let of: BTreeMap<String, [u64; 6]> = coverage
        .of_policy(&policy)
        .into_iter()
        .map(|(_, rule, used)| {
            let counts = [used.sessions, used.calls, used.passed, used.stopped, used.held, used.violated];
            (format!("{} {}", rule.kind, used.exercise().word()), counts)
        })
        .collect();
    let expected = [
        ("forbids_after never_asked", [0; 6]),
        ("precondition fired", [2, 2, 1, 1, 0, 0]),
        ("require fired", [3, 0, 0, 0, 1, 2]),
    ];
    assert_eq!(of, BTreeMap::from(expected.map(|(rule, counts)| (rule.to_owned(), counts))));
    let free: Vec<(&str, u64)> =
        coverage.ungoverned(&policy).into_iter().map(|(tool, calls)| (&**tool, calls)).collect();
    assert_eq!(free, [("look", 2), ("note", 1)]);
}

/// Over the samples, in both modes: what stops calls and is violated is what a summary counts, and the sessions may be cut
/// into parts anywhere.
#[test]
fn coverage_agrees_with_the_totals_and_can_be_merged() {
    let folder = |root: &str| {
        let mut files: Vec<_> = walk(root.as_ref());
        files.sort();
        files
    };
    let files: Vec<PolicyFile> = folder("contracts")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| {
            let name = path.to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            PolicyFile { name: name.as_str().into(), relative: name.into(), text: text.into(), named: false }
        })
        .collect();
    let policy = Policy::load(&files, None).policy.unwrap();
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    for path in folder("sample-traces") {
        let bytes = std::fs::read(&path).unwrap();
        let reading = open(path.to_str().unwrap(), Box::new(Cursor::new(bytes)), &Options::default());
        sessions.extend(reading.into_iter().flatten().map(Arc::new));
    }
    assert!(sessions.len() > 50);
    for mode in [Mode::Enforce, Mode::Shadow] {
        let count = |session| Coverage::of(&Replay::with_checks(session, &policy, mode));
        let of: Vec<Coverage> = sessions.iter().map(count).collect();
        let merged = |of: &[Coverage]| {
            let mut all = Coverage::default();
            of.iter().for_each(|one| all.merge(one));
            all
        };
        let all = merged(&of);
        for cut in [0, 1, 17, of.len() - 1, of.len()] {
            let (left, right) = of.split_at(cut);
            let mut both = merged(left);
            both.merge(&merged(right));
            assert_eq!(both, all, "{cut}");
        }
        inventories_can_be_merged(&sessions, &policy, mode);
        let mut tables = Tables::default();
        sessions.iter().for_each(|session| tables.merge(&outcomes(session, &policy, mode).tables));
        for (id, rule) in policy.rules().iter() {
            let counted = tables.rules.get(&id).copied().unwrap_or_default();
            let used = all.rules.get(&id).cloned().unwrap_or_default();
            // The totals count apart what only reports.
            let violated = (used.violated - used.unenforced, used.unenforced);
            let (stopped, held) = (counted.stopped, (counted.violated, counted.unenforced));
            assert_eq!((used.stopped, violated), (stopped, held), "{}", rule.id);
            assert_eq!(used.calls, used.passed + used.stopped + used.objected, "{}", rule.id);
            assert!(used.sessions >= counted.sessions, "{}", rule.id);
        }
        for (tool, count) in &tables.tools {
            assert_eq!(all.tools.get(tool).map(|used| used.calls), Some(count.calls()), "{tool}");
        }
        let (stopped, violated) =
            tables.rules.values().fold((0, 0), |sum, rule| (sum.0 + rule.stopped, sum.1 + rule.violated));
        for by in By::ALL {
            let mut rows = Breakdown::default();
            for session in &sessions {
                rows.merge(&Breakdown::of(&Replay::new(session, &policy, mode), by));
            }
            let sum = rows.rows.values().fold((0, 0), |sum, row| (sum.0 + row.stopped, sum.1 + row.violated));
            for (key, row) in &rows.rows {
                let expected = match key {
                    Key::Rule(id) => {
                        tables.rules.get(id).map(|rule| (rule.stopped, rule.counterfactual, rule.violated))
                    }
                    Key::Name(tool) if by == By::Tool => {
                        tables.tools.get(tool).map(|tool| (tool.stopped(), row.counterfactual, row.violated))
                    }
                    Key::Name(reason) => {
                        tables.reasons.get(reason).map(|count| (*count, row.counterfactual, row.violated))
                    }
                    Key::Code(code) => {
                        let count = tables.codes.get(code).copied().unwrap_or_default();
                        assert_eq!(count, row.stopped + row.violated);
                        None
                    }
                    Key::Session(..) => None,
                };
                let expected = expected.unwrap_or((row.stopped, row.counterfactual, row.violated));
                assert_eq!((row.stopped, row.counterfactual, row.violated), expected, "{key:?}");
            }
            // Not every rule gives a reason, and a violation may be no call's.
            match by {
                By::Reason => assert!(sum.0 > 0 && sum.0 <= stopped && sum.1 == 0),
                By::Tool => assert!(sum.0 == stopped && sum.1 <= violated),
                By::Rule | By::Code | By::Session => assert_eq!(sum, (stopped, violated), "{by:?}"),
            }
        }
    }
}

/// Counted session by session and merged in parts, they are the same wherever the parts begin.
fn inventories_can_be_merged(sessions: &[Arc<Session>], policy: &Arc<Policy>, mode: Mode) {
    let count = |session| Inventory::of(&Replay::new(session, policy, mode));
    let of: Vec<Inventory> = sessions.iter().map(count).collect();
    let merged = |of: &[Inventory]| {
        let mut all = Inventory::default();
        of.iter().for_each(|one| all.merge(one));
        all
    };
    let all = merged(&of);
    for cut in [0, 1, 17, of.len() - 1, of.len()] {
        let (left, right) = of.split_at(cut);
        let mut both = merged(left);
        both.merge(&merged(right));
        assert_eq!(both, all, "{cut}");
    }
    // What is first aside, the order does not matter either.
    let reversed: Vec<Inventory> = of.iter().rev().cloned().collect();
    let numbers = |of: &Inventory| {
        let tools = of
            .tools
            .iter()
            .map(|(name, tool)| (name.clone(), tool.calls + 1000 * tool.stopped.unwrap_or_default()));
        let files = of.files.iter().map(|(name, file)| (name.clone(), file.read + 1000 * file.written));
        let programs = of
            .programs
            .iter()
            .map(|(name, found)| (name.clone(), found.calls + 1000 * found.ok + 1_000_000 * found.errors));
        let hosts = of.hosts.iter().map(|(name, found)| (name.clone(), found.calls + 1000 * found.sessions));
        let rows: Vec<_> = tools.chain(files).chain(programs).chain(hosts).collect();
        let sums = |row: &SessionCount| (row.sessions, row.calls);
        let projects: Vec<_> = of.projects.iter().map(|(name, row)| (name.clone(), sums(row))).collect();
        let days: Vec<_> = of.days.iter().map(|(day, row)| (*day, sums(row))).collect();
        let places: Vec<_> =
            of.places.iter().map(|(zone, row)| (*zone, row.calls, row.sessions, row.deleted)).collect();
        let gaps: Vec<_> = of.gaps.iter().map(|(gap, row)| (*gap, row.calls, row.sessions)).collect();
        (rows, projects, days, of.commands, places, gaps)
    };
    assert_eq!(numbers(&merged(&reversed)), numbers(&all));
    assert_eq!(all.calls, all.tools.values().map(|tool| tool.calls).sum::<u64>());
    assert_eq!(all.sessions, sessions.len() as u64);
    for sums in [all.projects.values().collect::<Vec<_>>(), all.days.values().collect()] {
        let (sessions, calls) =
            sums.iter().fold((0, 0), |sum, row| (sum.0 + row.sessions, sum.1 + row.calls));
        assert_eq!((sessions, calls), (all.sessions, all.calls));
    }
}

fn walk(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
