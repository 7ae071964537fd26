//! Rows of programs, asked of all of them: an option that is listed shifts nothing, and one that is not never hides anything.

use std::collections::BTreeSet;

use rulestep_shell::facts::{Condition, Deed, Level, Opt, Program, Run, Takes, names, program};
use rulestep_shell::{Act, Line, Root, read};

/// The programs with a row, each once.
fn programs() -> impl Iterator<Item = (&'static str, &'static Program)> {
    let rows = names().filter_map(|name| Some((name, program(name)?)));
    rows.filter(|(name, row)| row.name() == *name)
}

/// A program with each of its subcommands and some operands.
fn commands(name: &str, row: &Program, operands: &[&'static str]) -> Vec<(String, String)> {
    let subs = row.levels.iter().filter_map(|level| level.subs.first()).map(|sub| sub.join(" "));
    let all = subs.flat_map(|sub| operands.iter().map(move |operands| (sub.clone(), *operands)));
    all.map(|(sub, operands)| (name.to_owned(), format!("{sub} {operands}").trim().to_owned())).collect()
}

const OPERANDS: [&str; 5] = ["", "a/b.txt", "a/b.txt c/d.txt", "https://h.example/x", "h.example:x y/z"];

/// What a line does, in one order.
fn does(line: &Line) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (number, call) in line.calls.iter().enumerate() {
        for (sure, touches) in [(true, &call.touches), (false, &call.mentions)] {
            for touch in touches {
                all.insert(format!(
                    "{number} {sure} {} {} {:?}",
                    touch.act.name(),
                    touch.place.shown(),
                    touch.extent
                ));
            }
        }
        all.extend(call.reaches.iter().map(|host| format!("{number} reaches {host}")));
        all.insert(format!("{number} {} opaque {}", call.program, call.opaque));
    }
    all
}

/// The options that a row gives something to do: they decide where, when or what.
fn with_effect(row: &Program) -> BTreeSet<String> {
    let mut named: Vec<&String> =
        row.commands.iter().flat_map(|own| own.options.iter().chain(&own.files)).collect();
    for level in &row.levels {
        named.extend(level.chdir.iter().chain(&level.idle));
        for does in &level.does {
            for condition in &does.conditions {
                match condition {
                    Condition::With(options) | Condition::Without(options) | Condition::In(options) => {
                        named.extend(options)
                    }
                    Condition::Bare(_) | Condition::Alone | Condition::Named | Condition::Several => {}
                }
            }
        }
    }
    let mut all: BTreeSet<String> = named.into_iter().cloned().collect();
    // What names options is written with them.
    let written = |level: &Level| {
        let deeds = level.does.iter().map(|does| match &does.deed {
            Deed::Files(_, _, at) => format!("{at:?}"),
            Deed::Reaches(net) => format!("{net:?}"),
            Deed::Chooses(_, names) => format!("{names:?}"),
            Deed::Opaque | Deed::Links => String::new(),
        });
        let runs =
            level.runs.iter().map(|Run { inner, apart, shell, .. }| format!("{inner:?} {apart:?} {shell:?}"));
        deeds.chain(runs).collect::<String>()
    };
    let text: String = row.levels.iter().map(written).collect();
    let texts = text.split('"').map(|part| part.split('@').next().unwrap_or_default().to_owned());
    all.extend(texts.filter(|part| part.starts_with('-')));
    all
}

/// Options of which the code of a program knows more than the row says.
const BY_CODE: &str =
    "--help --version -h -V -x -i -O -C -X -J -W -o -R --repo -e --rsh --metadata-from-file";

fn has_no_effect(option: &Opt, named: &BTreeSet<String>) -> bool {
    !option.names.iter().any(|name| named.contains(name) || BY_CODE.split(' ').any(|own| own == name))
}

#[test]
fn a_listed_option_without_effect_before_the_subcommand_changes_nothing() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, row) in programs().filter(|(name, row)| row.has_subs() && *name != "git") {
        let named = with_effect(row);
        let whole = row.whole().unwrap();
        for (program, words) in
            commands(name, row, &["", "h.example:x y/z"]).into_iter().filter(|(_, words)| !words.is_empty())
        {
            let plain = does(&read(&format!("{program} {words}"), &Root::default()));
            for option in whole.options.iter().filter(|option| has_no_effect(option, &named)) {
                let own = if option.names[0] == "+" { "+own" } else { &option.names[0] };
                let value = match option.takes {
                    Takes::Nothing | Takes::Joined => String::new(),
                    Takes::Words(number) => " 7".repeat(number),
                };
                count += 1;
                let line = format!("{program} {own}{value} {words}");
                let found = does(&read(&line, &Root::default()));
                if found != plain {
                    wrong.push(format!(
                        "`{line}`: {:?}",
                        found.symmetric_difference(&plain).take(2).collect::<Vec<_>>()
                    ));
                    break;
                }
            }
        }
    }
    assert!(count > 10_000, "{count}");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn an_option_that_is_not_listed_hides_nothing() {
    hides_nothing("--not-listed X");
}

#[test]
fn a_word_that_may_be_options_hides_nothing() {
    hides_nothing("$O");
}

/// Each effect that a command has is certainly or perhaps there with more words before its own.
fn hides_nothing(more: &str) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, row) in programs() {
        for (program, words) in commands(name, row, &OPERANDS) {
            let plain = read(&format!("{program} {words}"), &Root::default());
            let line = format!("{program} {more} {words}");
            let found = read(&line, &Root::default());
            count += 1;
            let calls = |line: &Line| line.calls.clone();
            for act in Act::ALL {
                for touch in calls(&plain).iter().flat_map(|call| call.touches.iter().chain(&call.mentions)) {
                    if touch.act != act {
                        continue;
                    }
                    let shown = touch.place.shown();
                    let is_there = calls(&found).iter().any(|call| {
                        call.unclear.is_some()
                            || call.touches.iter().chain(&call.mentions).any(|other| {
                                other.act == act
                                    && (other.place.shown() == shown || other.place.unclear().is_some())
                            })
                    });
                    if !is_there {
                        wrong.push(format!("`{line}` no longer {} {shown}", act.name()));
                    }
                }
            }
            let reaches = calls(&plain).iter().any(|call| !call.reaches.is_empty());
            if reaches && calls(&found).iter().all(|call| call.reaches.is_empty() && call.unclear.is_none()) {
                wrong.push(format!("`{line}` no longer reaches anything"));
            }
            if calls(&plain).iter().any(|call| call.opaque)
                && !calls(&found)
                    .iter()
                    .any(|call| call.opaque || call.unclear.is_some() || !call.mentions.is_empty())
            {
                wrong.push(format!("`{line}` is no longer opaque"));
            }
        }
    }
    assert!(count > 2_000, "{count}");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}
