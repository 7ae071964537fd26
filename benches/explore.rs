//! The table of 100,000 sessions: sifted, sorted and grouped.
//!
//! `cargo bench --bench explore`. A person types a filter and waits, so each has 50 ms. Sessions are like those of agents that
//! write code: ten calls each, of twenty tools, in forty projects, with titles that begin alike.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may fail")]

use std::sync::{Arc, LazyLock};

use divan::Bencher;
use rulestep::explore::filter::Filter;
use rulestep::explore::names::Names;
use rulestep::explore::rows::SessionRow;
use rulestep::explore::sieve::Sieve;
use rulestep::explore::table::{Column, GroupKind, group, sift, sort};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::json;

const SESSIONS: u32 = 100_000;
/// Sessions that are made and judged; each stands for many, as judging is not what is measured.
const MADE: u32 = 5_000;
const NOW: i64 = 1_795_348_800_000;

fn main() {
    divan::main();
}

/// A number that looks like chance, and is the same in every run.
fn chance(seed: u32, below: u32) -> u32 {
    let mixed = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 33) as u32 % below
}

fn session(number: u32) -> Session {
    const BEGINNINGS: [&str; 5] =
        ["Please fix the", "Can you help me with the", "Why does the", "Add a test for the", "Refactor the"];
    let beginning = BEGINNINGS[chance(number, 5) as usize];
    let file = format!("project-{}/{number:08x}.jsonl", chance(number, 40));
    let origin = Origin { file: file.into(), index: 0, format: "claude-code", line: 1 };
    let mut made = Builder::new(format!("{number:08x}-70ae-4798-800f-63464d01a85d"), origin);
    let at = NOW - i64::from(chance(number, 90)) * 86_400_000 - i64::from(number);
    made.context("cwd", json!(format!("/home/me/project-{}", chance(number, 40))));
    made.context("gitBranch", json!(format!("branch-{}", chance(number, 7))));
    made.said("user", Body::text(format!("{beginning} module number {}", chance(number, 9_999))), Some(at));
    for call in 0..10 {
        let seed = number.wrapping_mul(10) + call;
        let tool =
            if chance(seed, 12) == 0 { "deploy".to_owned() } else { format!("tool_{}", chance(seed, 20)) };
        made.response(None, Body::text(""), None);
        let words = "the arguments of a call are a file, a command or a text of some length ".repeat(2);
        let arguments = json!({"path": format!("src/module_{}.rs", chance(seed, 500)), "text": words});
        made.call(None, tool.as_str(), Body::text(arguments.to_string()), None);
        let mark = Mark { error: chance(seed, 15) == 0, ..Mark::default() };
        made.result(None, Body::text("done"), mark, None);
    }
    made.finish()
}

fn rows() -> &'static (Vec<SessionRow>, Names) {
    static ROWS: LazyLock<(Vec<SessionRow>, Names)> = LazyLock::new(|| {
        let text = "tool: deploy\npreconditions: [{requires_prior_tool: tool_3}]\nforbids_after: [tool_7]\n";
        let name = "deploy.yaml";
        let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
        let policy = Policy::load(&[file], None).policy.expect("the policy is sound");
        let mut names = Names::default();
        let mut rows: Vec<SessionRow> = Vec::new();
        for number in 0..SESSIONS {
            // Each has memory of its own, as sessions that are read have.
            let session = Arc::new(session(number));
            let mut row = SessionRow::of(&session, &mut names);
            if number < MADE {
                row.judge(&Replay::new(&session, &policy, Mode::Enforce), &mut names);
            } else {
                let mut like = rows[(number % MADE) as usize].clone();
                (like.session, like.file, like.began) = (row.session, row.file, row.began);
                row = like;
            }
            rows.push(row);
        }
        (rows, names)
    });
    &ROWS
}

#[divan::bench(args = [
    "project:project-7 since:30d",
    "tool:deploy",
    "tool:deploy is:stopped",
    "!tool:deploy",
    "rule:precondition is:stopped turn:2..5",
    "is:error tool:tool_1*",
    "deploy",
    "module_77",
    "!module_77 is:stopped",
    "/module_(77|78)/",
])]
fn filter(bencher: Bencher<'_, '_>, text: &str) {
    let (rows, names) = rows();
    let filter = Filter::parse(text, NOW).expect("the filter is sound");
    bencher.bench(|| sift(rows, &Sieve::new(&filter, names)).len());
}

#[divan::bench(args = ["title", "when", "project", "stopped", "rules"])]
fn sorted(bencher: Bencher<'_, '_>, word: &str) {
    let (rows, names) = rows();
    let column = Column::ALL.into_iter().find(|column| column.word() == word).expect("it is a column");
    bencher.with_inputs(|| (0..SESSIONS).collect::<Vec<u32>>()).bench_refs(|places| {
        sort(rows, places, column, false, names);
    });
}

#[divan::bench(args = ["file", "project", "day", "first rule", "verdict"])]
fn grouped(bencher: Bencher<'_, '_>, word: &str) {
    let (rows, names) = rows();
    let kind = GroupKind::ALL.into_iter().find(|kind| kind.word() == word).expect("it is a way to group");
    let places: Vec<u32> = (0..SESSIONS).collect();
    bencher.bench(|| group(rows, &places, kind, names).len());
}
