//! Comparisons as findings for machines: an issue for each change, at its rule.

use std::io;

use super::edits::{self, RuleEdit};
use super::entry::{self, Entry, VersionVerdict};
use super::{DiffResult, View, gate};
use crate::compare::{Kind, Origin, RuleAt};
use crate::report::ci::{Issue, Issues, Level, Run, Spot};
use crate::report::words;

/// Hands the changes on as issues: of each kind and rule a few, the others counted.
pub fn with(
    whole: &DiffResult,
    view: &View<'_>,
    write: impl FnOnce(&Run<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut gathered = Issues::default();
    let edits = edits::all(whole, view);
    for kind in Kind::ALL {
        gathered.issues.extend(edits.iter().filter(|edit| edit.kind == kind).map(|edit| of_rule(edit, view)));
        for (rule, group) in whole.of(kind) {
            gathered.issues.extend(group.shown(view.most()).map(|entry| issue(entry, kind, rule, view)));
            gathered.more += group.rest(view.most());
        }
    }
    let (all, sessions) = (whole.totals.all().sum(), words::count(whole.totals.compared(), "session"));
    let apart = entry::uncompared(whole.totals.uncompared);
    let apart = apart.map(|apart| format!("; {apart}")).unwrap_or_default();
    let summary = match all {
        0 => format!("no change in {sessions}{apart}"),
        all => {
            let changed = words::thousands(whole.totals.changed);
            format!("{} in {changed} of {sessions}{apart}", words::count(all, "change"))
        }
    };
    let summary = match edits::summary(view.comparison) {
        Some(rules) => format!("{}; {summary}; {rules}", gate::result(whole, view)),
        None => format!("{}; {summary}", gate::result(whole, view)),
    };
    let policy = view.of_policy();
    write(&Run { gathered: &gathered, told: &whole.told, summary, policy: &policy, command: view.command })
}

/// A change of a rule, which is about no call.
fn of_rule(edit: &RuleEdit<'_>, view: &View<'_>) -> Issue {
    let keys = edit.keys.iter().chain(&edit.idle).cloned();
    Issue {
        level: if view.fails.contains(&edit.kind) { Level::Error } else { Level::Note },
        rule: edit.rule.map(|(_, rule)| (rule.id.to_string(), edit.name.clone())),
        code: edit.kind.word().to_owned(),
        title: format!("{}: {}", entry::title(edit.kind), edit.name),
        message: keys.chain(edit.signed()).collect::<Vec<_>>().join("\n"),
        policy: Some(edit.spot.clone()),
        recording: None,
        place: edit.place.clone(),
    }
}

fn issue(entry: &Entry, kind: Kind, rule: Option<RuleAt>, view: &View<'_>) -> Issue {
    let rule = rule.and_then(|rule| Some(entry::about(rule, view.comparison)?.rule.1));
    let level = match (view.fails.contains(&kind), entry.origin) {
        (false, _) => Level::Note,
        (true, Origin::Downstream) => Level::Warning,
        (true, Origin::Primary) => Level::Error,
    };
    let said = |label: &str, said: &VersionVerdict| {
        let why = said.why.as_deref()?;
        let code = said.code.map(|code| format!("{code}: ")).unwrap_or_default();
        Some(format!("\n{label}: {code}{why}"))
    };
    let mut message = format!("{} → {}", entry.base.word, entry.new.word);
    if entry.origin == Origin::Downstream {
        message.push_str(", downstream");
    }
    if entry.counterfactual {
        message.push_str(", counterfactual");
    }
    let name = rule.map(words::rule_name);
    message.extend(name.as_ref().map(|name| format!("\nrule: {name}")));
    message.extend(said("base", &entry.base));
    message.extend(said("new", &entry.new));
    let subject = entry.subject().map(|subject| format!(": {subject}")).unwrap_or_default();
    Issue {
        level,
        rule: rule.zip(name).map(|(rule, name)| (rule.id.to_string(), name)),
        code: kind.word().to_owned(),
        title: format!("{}{subject}", entry::title(kind)),
        message,
        policy: rule.map(Spot::of_rule),
        recording: Some(entry.recording.clone()),
        place: format!("session {}, {}", entry.session, entry.at),
    }
}
