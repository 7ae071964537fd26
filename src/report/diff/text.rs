//! Comparisons for people: what is newly allowed first, by rule, with the rule's lines and both versions' reasons.

use std::collections::HashSet;
use std::io::{self, Write};

use super::edits::{self, RuleEdit};
use super::entry::{self, About, Entry, Line, VersionVerdict};
use super::whole::ChangeGroup;
use super::{DiffResult, View};
use crate::compare::{Kind, Origin, RuleAt};
use crate::report::paint::Paint;
use crate::report::totals::told;
use crate::report::words;
use rulestep_engine::run::{Mode, Verdict};

/// Writes everything.
pub fn end(whole: &DiffResult, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: view.look.color };
    let shadow = if view.mode == Mode::Shadow { " in shadow" } else { "" };
    writeln!(out, "{} → {}{shadow}", words::line(view.base), words::line(view.new))?;
    writeln!(out)?;
    let mut seen = HashSet::new();
    let edits = edits::all(whole, view);
    for kind in Kind::ALL {
        rules(edits.iter().filter(|edit| edit.kind == kind), view, &mut seen, paint, out)?;
        let count = whole.totals.of(kind);
        if count.shown() == 0 {
            continue;
        }
        let counted = words::count(count.sum(), entry::noun(kind));
        let sessions = words::count(count.sessions, "session");
        let title = paint.bold(&format!("{}: {counted} in {sessions}", entry::title(kind)));
        let own = Some(entry::origins(count)).filter(|own| !own.is_empty());
        let parts: Vec<String> = own.into_iter().chain(entry::inferred(count)).collect();
        writeln!(out, "{title}, {}", parts.join("; "))?;
        for (rule, gathered) in whole.of(kind) {
            group(rule, gathered, kind, view, &mut seen, paint, out)?;
        }
        writeln!(out)?;
    }
    told(&whole.told, paint, out)?;
    let skipped =
        words::skipped(whole.told.reading.skipped).map(|skipped| format!("; {skipped}")).unwrap_or_default();
    let totals = &whole.totals;
    let unchanged = words::thousands(totals.unchanged());
    let compared = words::count(totals.compared(), "session");
    let apart = entry::inferred(totals.all()).map(|apart| format!("; {apart}")).unwrap_or_default();
    let uncompared =
        entry::uncompared(totals.uncompared).map(|calls| format!("; {calls}")).unwrap_or_default();
    let rules = edits::summary(view.comparison).map(|rules| format!("; {rules}")).unwrap_or_default();
    let skipped = format!("{rules}{apart}{uncompared}{skipped}");
    match totals.changed {
        0 => writeln!(out, "{compared} compared: no change{skipped}"),
        changed => writeln!(
            out,
            "{compared} compared: {} changed, {unchanged} unchanged; {}{skipped}",
            words::thousands(changed),
            words::count(totals.all().sum(), "change"),
        ),
    }
}

/// Changes of rules of one kind: each with the lines of the edit, what each key does, and what the rule matches here.
fn rules<'e>(
    edits: impl Iterator<Item = &'e RuleEdit<'e>>,
    view: &View<'_>,
    seen: &mut HashSet<RuleAt>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let edits: Vec<_> = edits.collect();
    let Some(kind) = edits.first().map(|edit| edit.kind) else { return Ok(()) };
    let counted = words::count(edits.len() as u64, entry::noun(kind));
    writeln!(out, "{}", paint.bold(&format!("{}: {counted}", entry::title(kind))))?;
    let most = view.most();
    for edit in edits.iter().take(most) {
        writeln!(out, "  {}  {}", paint.bold(&edit.name), paint.dim(&edit.place))?;
        seen.extend(edit.rule.map(|(at, _)| at));
        for line in &edit.lines {
            self::line(line, paint, out)?;
        }
        if edit.cut {
            writeln!(out, "           …")?;
        }
        for line in edit.keys.iter().chain(&edit.idle) {
            writeln!(out, "    {line}")?;
        }
    }
    match edits.len().saturating_sub(most) {
        0 => {}
        rest => writeln!(out, "    and {} more (--full shows all)", words::thousands(rest as u64))?,
    }
    writeln!(out)
}

fn line(Line { sign, number, text }: &Line, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let line = format!("    {sign} {} {text}", paint.dim(&format!("{number:>4} │")));
    writeln!(out, "{}", line.trim_end())
}

fn group(
    rule: Option<RuleAt>,
    gathered: &ChangeGroup,
    kind: Kind,
    view: &View<'_>,
    seen: &mut HashSet<RuleAt>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    match rule.and_then(|rule| Some((rule, entry::about(rule, view.comparison)?))) {
        Some((rule, about)) => heading(&about, seen.insert(rule), paint, out)?,
        None if kind == Kind::OutcomeChanged => writeln!(out, "  the session's status")?,
        None => writeln!(out, "  {}", paint.dim(entry::without_rule(view)))?,
    }
    let most = view.most();
    for entry in gathered.shown(most) {
        self::entry(entry, paint, out)?;
    }
    match gathered.rest(most) {
        0 => Ok(()),
        rest => writeln!(out, "    and {} more (--full shows all)", words::thousands(rest)),
    }
}

/// The rule's place and, the first time, its lines; of an edited rule, those of both versions.
fn heading(about: &About<'_>, first: bool, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let (_, rule) = about.rule;
    let name = paint.bold(&words::rule_name(rule));
    let fate = about.fate().map(|fate| format!("  {fate}")).unwrap_or_default();
    writeln!(out, "  {name}  {}{fate}", paint.dim(&rule.place()))?;
    if !first {
        return Ok(());
    }
    let (lines, cut) = about.lines();
    for line in &lines {
        self::line(line, paint, out)?;
    }
    if cut { writeln!(out, "           …") } else { Ok(()) }
}

fn entry(entry: &Entry, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let said = |said: &VersionVerdict| {
        // A call's code is before its reason.
        let code = said.code.filter(|_| said.why.is_none()).map(|code| format!(" ({code})"));
        let word = match said.word.as_str() {
            "allowed" | "visible" => paint.verdict(Verdict::Allow, &said.word),
            "denied" | "halted" | "would be denied" | "would be halted" | "hidden" => {
                paint.verdict(Verdict::Deny, &said.word)
            }
            _ => said.word.clone(),
        };
        word + &code.unwrap_or_default()
    };
    let tool = entry.subject().map(|tool| format!("  {tool}")).unwrap_or_default();
    write!(
        out,
        "    {}  {}  {}{tool}  {} → {}",
        paint.bold(&entry.session),
        paint.dim(&entry.file),
        entry.at,
        said(&entry.base),
        said(&entry.new),
    )?;
    if entry.origin == Origin::Downstream {
        write!(out, "  {}", paint.dim("downstream"))?;
    }
    if entry.counterfactual {
        write!(out, "  {}", paint.dim("counterfactual"))?;
    }
    if entry.inferred {
        write!(out, "  {}", paint.dim("inferred"))?;
    }
    writeln!(out)?;
    for (label, said) in [("base", &entry.base), ("new", &entry.new)] {
        if let Some(why) = &said.why {
            let code = said.code.map(|code| format!("{code}: ")).unwrap_or_default();
            let rule = said.rule.as_ref().map(|(name, place)| paint.dim(&format!("  {name}  {place}")));
            writeln!(out, "      {label:<9} {code}{why}{}", rule.unwrap_or_default())?;
        }
    }
    match entry.became {
        Some(became) => writeln!(out, "      {:<9} {became}", "recorded"),
        None => Ok(()),
    }
}
