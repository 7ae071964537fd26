//! Comparisons for a pull request: a table of what changed, then a section a kind, long lists folded.
//!
//! What a recording or a policy says is shown as code, so it can neither format nor link, nor mention a user; where it could
//! end the code, every sign of Markdown and HTML is spelt as a character reference. The page reads as plain text as well.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::edits::{self, RuleEdit};
use super::entry::{self, About, Entry, VersionVerdict};
use super::whole::ChangeGroup;
use super::{DiffResult, View, gate};
use crate::compare::{Kind, Origin, RuleAt};
use crate::report::counts::incomplete_markdown;
use crate::report::page::parts::sentence;
use crate::report::{ci, words};

/// Rows of a table that are not folded.
const OPEN: usize = 5;

/// The first line, by which a job finds the comment that the report replaces.
pub const MARKER: &str = "<!-- rulestep -->";
/// Most bytes: GitHub takes 65,536 characters in a comment, and 1 MiB in the summary of a job.
pub const LIMIT: usize = 65_536;
/// Kept free for the lines that follow the groups.
const RESERVE: usize = 16_384;

/// Writes everything.
pub fn end(whole: &DiffResult, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MARKER}")?;
    let mut room = LIMIT.saturating_sub(RESERVE);
    let totals = &whole.totals;
    let sessions = words::count(totals.compared(), "session");
    let changed = match totals.all().sum() {
        0 => format!("no change in {sessions}"),
        changes => {
            format!(
                "{} in {} of {sessions}",
                words::count(changes, "change"),
                words::thousands(totals.changed)
            )
        }
    };
    let rules = edits::summary(view.comparison).map(|rules| format!("; {rules}")).unwrap_or_default();
    writeln!(out, "### rulestep: {}\n", gate::result(whole, view))?;
    writeln!(out, "{}{rules}\n", sentence(&changed))?;
    writeln!(out, "{} → {}, {}", code(view.base), code(view.new), view.mode.word())?;
    if let Some(uncompared) = entry::uncompared(totals.uncompared) {
        writeln!(out, "\n**{}**", sentence(&uncompared))?;
    }
    for line in incomplete_markdown(&whole.told, "compared") {
        writeln!(out, "\n{line}")?;
    }
    let policy = view.of_policy();
    if !policy.is_empty() {
        writeln!(out)?;
        ci::replay::policy(&policy, out)?;
    }
    let edits = edits::all(whole, view);
    if totals.all().shown() == 0 && edits.is_empty() {
        return again(view.command, out);
    }
    writeln!(out, "\n| gate | change | number | sessions | primary | downstream | counterfactual |")?;
    writeln!(out, "|---|---|--:|--:|--:|--:|--:|")?;
    for kind in Kind::ALL {
        let count = totals.of(kind);
        let number = whole.count(kind, view);
        let fails = if number > 0 && view.fails.contains(&kind) { "**fails**" } else { "" };
        let title = entry::title(kind);
        if kind.is_of_rules() && number > 0 {
            writeln!(out, "| {fails} | {title} | {} | | | | |", words::thousands(number))?;
        }
        if count.shown() > 0 {
            let numbers = [number, count.sessions, count.primary, count.downstream, count.counterfactual];
            writeln!(out, "| {fails} | {title} | {} |", numbers.map(words::thousands).join(" | "))?;
        }
    }
    // What is before the groups is small: names of versions are cut, and there are few kinds.
    room = room.saturating_sub(4_096 + view.base.len() * 8 + view.new.len() * 8 + view.command.len() * 8);
    let mut left_out = 0;
    for kind in Kind::ALL.into_iter().filter(|kind| whole.count(*kind, view) + totals.of(*kind).shown() > 0) {
        if kind.is_of_rules() {
            let mut title = format!(
                "\n#### {}: {}\n",
                sentence(entry::title(kind)),
                words::count(view.rules(kind), "rule")
            );
            for edit in edits.iter().filter(|edit| edit.kind == kind) {
                let mut text = std::mem::take(&mut title).into_bytes();
                self::edit(edit, &mut text)?;
                match room.checked_sub(text.len()) {
                    Some(rest) => {
                        room = rest;
                        out.write_all(&text)?;
                    }
                    None => left_out += 1,
                }
            }
            continue;
        }
        let count = words::count(totals.of(kind).sum(), entry::noun(kind));
        let apart = entry::inferred(totals.of(kind)).map(|apart| format!("; {apart}")).unwrap_or_default();
        let mut title = format!("\n#### {}: {count}{apart}\n", sentence(entry::title(kind)));
        for (rule, gathered) in whole.of(kind) {
            let mut text = std::mem::take(&mut title).into_bytes();
            group(rule, gathered, kind, view, &mut text)?;
            match room.checked_sub(text.len()) {
                Some(rest) => {
                    room = rest;
                    out.write_all(&text)?;
                }
                None => left_out += 1,
            }
        }
    }
    if left_out > 0 {
        let groups = words::count(left_out, "more rule");
        writeln!(out, "\n**{groups} not shown: a comment takes no more than 65,536 characters**")?;
    }
    let all = totals.all();
    if all.downstream + all.counterfactual > 0 {
        writeln!(out, "\n{FOOTNOTE}")?;
    }
    again(view.command, out)
}

/// A change of a rule, with the lines of the edit.
fn edit(edit: &RuleEdit<'_>, out: &mut dyn Write) -> io::Result<()> {
    let parts: Vec<&str> = edit.keys.iter().chain(&edit.idle).map(String::as_str).collect();
    let said = if parts.is_empty() { String::new() } else { format!(", {}", code(&parts.join("; "))) };
    writeln!(out, "\n{} {}{said}:\n", code(&edit.name), code(&edit.place))?;
    let mut lines = String::new();
    for line in edit.signed() {
        let _ = writeln!(lines, "{line}");
    }
    let fence = fence(&lines);
    writeln!(out, "{fence}diff\n{lines}{fence}")
}

/// What two columns of the table mean.
const FOOTNOTE: &str = "*primary*: both versions had seen the same until then. *downstream*: it follows from an earlier \
    change, after which the sessions run differently. *counterfactual*: the recording went on differently than it \
    would have under one of the versions, so it is weaker evidence.";

/// Writes the command that does it again.
pub fn again(command: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nAgain with {}", code(command))
}

fn group(
    rule: Option<RuleAt>,
    gathered: &ChangeGroup,
    kind: Kind,
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match rule.and_then(|rule| entry::about(rule, view.comparison)) {
        Some(about) => heading(&about, out)?,
        None if kind == Kind::OutcomeChanged => writeln!(out, "\nThe session's status:")?,
        None => writeln!(out, "\n{}:", sentence(entry::without_rule(view)))?,
    }
    let most = view.most();
    let entries: Vec<&Entry> = gathered.shown(most).collect();
    let fold = entries.len() > OPEN;
    if fold {
        let counted = words::count(gathered.count, entry::noun(kind));
        let sessions = words::count(gathered.sessions, "session");
        writeln!(out, "\n<details><summary>{counted} in {sessions}</summary>")?;
    }
    writeln!(out, "\n| session | where | call | base | new | |")?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for entry in entries {
        row(entry, out)?;
    }
    match gathered.rest(most) {
        0 => {}
        rest => writeln!(out, "\nand {} more", words::thousands(rest))?,
    }
    if fold { writeln!(out, "\n</details>") } else { Ok(()) }
}

fn heading(about: &About<'_>, out: &mut dyn Write) -> io::Result<()> {
    let fate = about.fate().map(|fate| format!(", {fate}")).unwrap_or_default();
    let rule = about.rule.1;
    writeln!(out, "\n{} {}{fate}:\n", code(&words::rule_name(rule)), code(&rule.place()))?;
    let (shown, cut) = about.lines();
    let signed = shown.iter().any(|line| line.sign != ' ');
    let mut lines = String::new();
    for line in shown {
        let sign = if signed { line.sign.to_string() } else { String::new() };
        let _ = writeln!(lines, "{sign}{}", line.text);
    }
    if cut {
        lines.push_str("…\n");
    }
    let fence = fence(&lines);
    writeln!(out, "{fence}{}\n{lines}{fence}", if signed { "diff" } else { "yaml" })
}

/// More backticks than are anywhere in the text.
pub fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

fn row(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let said = |said: &VersionVerdict| {
        let code = said.code.map(|code| format!(" {}", self::code(code.as_str()))).unwrap_or_default();
        let why = said.why.as_deref().map(|why| format!(": {}", self::code(why))).unwrap_or_default();
        format!("{}{code}{why}", said.word)
    };
    let mut marks = Vec::new();
    if entry.origin == Origin::Downstream {
        marks.push("downstream");
    }
    if entry.counterfactual {
        marks.push("counterfactual");
    }
    if entry.inferred {
        marks.push("inferred");
    }
    writeln!(
        out,
        "| {} in {} | {} | {} | {} | {} | {} |",
        code(&entry.session),
        code(&entry.file),
        entry.at,
        entry.subject().map(code).unwrap_or_default(),
        said(&entry.base),
        said(&entry.new),
        marks.join(", "),
    )
}

/// Any text as code that stays text, also in a table.
pub fn code(text: &str) -> String {
    let text = words::line(text);
    if !text.is_empty() && !text.contains(['`', '|', '\\']) && text.trim() == text {
        return format!("`{text}`");
    }
    let mut escaped = String::from("<code>");
    let mut before = ' ';
    for letter in text.chars() {
        // Behind `www` a dot makes a link.
        let plain = matches!(letter, ' ' | ',' | '-' | '/' | '␛' | '…') || letter == '.' && before != 'w';
        if letter.is_alphanumeric() || plain {
            escaped.push(letter);
        } else {
            let _ = write!(escaped, "&#{};", u32::from(letter));
        }
        before = letter.to_ascii_lowercase();
    }
    escaped.push_str("</code>");
    escaped
}
