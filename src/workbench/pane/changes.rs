//! The changes under the new version: groups by kind, origin and rule, newly allowed ones first, a row for each change.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash};
use std::sync::Arc;

use super::spec::{Enter, OF_LINES, PaneSpec};
use crate::compare::{Answer, Base, Change, ChangePlace, Kind, Origin, RuleAt, Side, Stand};
use crate::report::{diff, words};
use crate::workbench::keys::Command;
use crate::workbench::line::{Link, mark_of, place, place_not_taken, rule_place};
use crate::workbench::model::changes::Group;
use crate::workbench::model::verdict::{headline, outcome_look};
use crate::workbench::model::{ChangeRow, Model, Pair, changes};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::{Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use rulestep_base::session::Body;
use rulestep_engine::replay::Status;
use rulestep_engine::run::Verdict;

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Changes",
    short: "Chg",
    note,
    rows: &Changes,
    enter: Enter::Change,
    about_call: false,
    hints: |model| match model.basis.changes.is_empty() {
        true => {
            hints![NextPane "pane", Base "base", Edit "edit", Live "live", Zoom "zoom", Help "help", Quit "quit"]
        }
        false => hints![
            NextCall PreviousCall "change", Open "go there", Texts "text", Witness "example", NextPane "pane",
            Search "search", Base "base", Edit "edit", Live "live", Zoom "zoom", Help "help", Quit "quit"
        ],
    },
    ..OF_LINES
};

/// The changes under their headings, and a row about all other sessions.
struct Changes;

impl Rows for Changes {
    fn len(&self, model: &Model) -> usize {
        model.basis.changes.rows() + 1
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        match model.change_rows(at).next() {
            Some(ChangeRow::Group(group, count)) => vec![heading(model, group, count, space.width)],
            Some(ChangeRow::Change(entry, change)) => {
                vec![one(model, entry, change, space.width, space.query)]
            }
            None => {
                let lines = text::wrap(&rest(model), space.width, space.window.len(), model.theme.marks());
                let row = |line| {
                    let mut row = Row::new(&model.theme, space.width);
                    row.shown(Role::TextDim, line);
                    row
                };
                lines.into_iter().map(row).collect()
            }
        }
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        Some(match model.change_rows(at).next() {
            Some(ChangeRow::Group(group, count)) => {
                let rule = group.rule.and_then(|rule| rule_name(model, rule)).unwrap_or_default();
                format!("{} {}", titled(group, count), rule)
            }
            Some(ChangeRow::Change(entry, change)) => {
                let name = called_so(model, entry);
                let [base, new] = words_of(model, change);
                let (subject, arrow) = (subject(change), model.theme.glyph(Glyph::Arrow));
                format!("{name} {subject} {base} {arrow} {new} {}", origin_word(change))
            }
            None => rest(model),
        })
    }

    /// The rules that decide.
    fn link(&self, model: &Model, at: usize) -> Link {
        let pair = match model.change_rows(at).next() {
            Some(ChangeRow::Change(_, change)) => Pair { base: change.base.rule, new: change.new.rule },
            Some(ChangeRow::Group(group, _)) => group.rule.map(|rule| model.pair(rule)).unwrap_or_default(),
            None => Pair::default(),
        };
        Link { call: None, rule: pair.new, base: pair.base.filter(|_| model.splits()) }
    }

    fn subject(&self, model: &Model, hasher: &mut DefaultHasher) {
        (self.len(model), &model.basis.changes.since).hash(hasher);
    }
}

/// The note beside the title: since when, or from which base.
fn note(model: &Model) -> String {
    match (&model.basis.changes.comparison, &model.basis.compare.base) {
        (Some(_), Some(chosen)) => format!("from {}", chosen.name),
        (Some(_), None) => format!("since {}", model.basis.changes.since),
        (None, _) => String::new(),
    }
}

/// The place of a rule of either version; with a remark if only the base has it.
pub fn rule_name(model: &Model, rule: RuleAt) -> Option<String> {
    let place = rule_place_of(model, rule)?;
    Some(match rule.side {
        Side::Base => format!("{place} of the base"),
        Side::New => place,
    })
}

fn rule_place_of(model: &Model, rule: RuleAt) -> Option<String> {
    Some(rule_place(model.comparison()?.side(rule.side)?.rules().get(rule.rule)?))
}

/// Columns from which a row has room for the origin of a change.
const ROOMY: usize = 60;
/// The word for a call that is stopped under both, in another way than before.
const OTHER_REASON: &str = "other reason";

/// `newly allowed: 2 calls`, and of those that follow from others that they do.
fn titled(group: Group, count: usize) -> String {
    let downstream = match group.origin {
        _ if group.inferred => ", inferred",
        Origin::Downstream => ", downstream",
        Origin::Primary => "",
    };
    format!("{}: {}{downstream}", diff::title(group.kind), words::count(count as u64, diff::noun(group.kind)))
}

fn heading(model: &Model, group: Group, count: usize, width: usize) -> Row<'_> {
    let mut row = Row::new(&model.theme, width);
    row.put(Role::TextStrong, &titled(group, count));
    let rule = match group.rule {
        Some(rule) => rule_name(model, rule).unwrap_or_default(),
        None if group.kind == Kind::OutcomeChanged => "the session's status".to_owned(),
        None if is_live(model) => "by rules that decided live".to_owned(),
        None => "refused in the recording".to_owned(),
    };
    let room = row.left().saturating_sub(2);
    let of_base = group.rule.filter(|of| of.side == Side::Base && rule.chars().count() > room);
    match of_base.and_then(|rule| rule_place_of(model, rule)) {
        // With little room, the rule matters more than the words for its version.
        Some(place) if room >= 8 => {
            let (role, glyph) = mark_of(Side::Base);
            row.gap(2).glyph(role, glyph);
            let place = tail(&place, row.left(), model.theme.marks());
            row.put(Role::TextDim, &place);
        }
        _ if room >= 6 => {
            row.gap(2).put(Role::TextDim, &tail(&rule, room, model.theme.marks()));
        }
        _ => {}
    }
    row
}

fn one<'m>(model: &'m Model, entry: usize, change: &Change, width: usize, query: Option<&str>) -> Row<'m> {
    let mut row = Row::new(&model.theme, width);
    let (role, glyph) = sign(change);
    row.glyph(role, glyph).gap(1);
    // Both verdicts must be visible; names are cut, of a session's name the beginning.
    let [base, new] = words_of(model, change);
    let same = change.kind == Kind::OtherReason;
    let arrow = format!(" {} ", model.theme.glyph(Glyph::Arrow));
    let ways = base.len() + new.len() + arrow.chars().count();
    let end = if same { OTHER_REASON.len() } else { ways };
    let origin = if width >= ROOMY { 2 + "downstream".len() } else { 0 };
    let room = row.left().saturating_sub(end + origin + 1);
    let name = called_so(model, entry);
    let subject = match called(model, entry, change) {
        Some((tool, arguments)) => {
            // A session's name needs no more than a third.
            let place = match change.at {
                ChangePlace::Alternative(at) => place_not_taken(at),
                at => at.call().map(place).unwrap_or_default(),
            };
            let most = room.saturating_sub(name.len().min(room / 3) + place.len() + 2);
            let shown = words::call::in_line(&tool, &arguments, most, model.theme.marks());
            format!("{place} {}", if most < NARROW { tool.to_string() } else { shown.text() })
        }
        None => subject(change),
    };
    // The rule of the heading often says the tool, nothing else says the session.
    let columns = text::width(&subject, model.theme.marks(), room);
    let most = (room / 3).max(room.saturating_sub(columns + 1));
    let marks = model.theme.marks();
    let shown =
        if name.contains(' ') { text::ends(&name, most, marks).text() } else { tail(&name, most, marks) };
    row.put_found(Role::Text, &shown, query, false).gap(1);
    let names = 2 + room;
    row = row.within(names);
    row.put_found(Role::TextStrong, &subject, query, false);
    row = row.within(width);
    row.to(names + 1);
    if same {
        row.put(role, OTHER_REASON);
    } else {
        row.put(Role::TextDim, &base).put(Role::TextDim, &arrow).put(role, &new);
    }
    if origin > 0 {
        row.gap(2).put(Role::TextDim, origin_word(change));
    }
    row
}

/// Columns in which there is only room for a call's tool.
const NARROW: usize = 24;

/// The name of a change's session.
fn called_so(model: &Model, entry: usize) -> Cow<'_, str> {
    let entry = model.archive.entries.get(entry);
    entry.map_or(Cow::Borrowed(""), |entry| entry.called(&model.archive.names))
}

/// The call that a change is about.
fn called(model: &Model, entry: usize, change: &Change) -> Option<(Arc<str>, Body)> {
    let session = model.archive.entries.get(entry)?.session.as_ref()?.session().ok()?;
    changes::called(&session, change.at)
}

/// The call, the turn's tool or the end that it is about.
fn subject(change: &Change) -> String {
    let tool = change.tool.as_deref().unwrap_or_default();
    match change.at {
        ChangePlace::Call(call) => format!("{} {tool}", place(call)),
        ChangePlace::Alternative(other) => format!("T{} choice {} {tool}", other.turn, other.choice),
        ChangePlace::Turn(turn) => format!("T{turn} {tool}"),
        ChangePlace::End => "at the end".to_owned(),
    }
}

/// The decisions of the base and the new version, in a word each: stops in capitals, as everywhere. In shadow no
/// version stops anything; a refusal in a recording was one in any mode.
pub fn words_of(model: &Model, change: &Change) -> [String; 2] {
    let word = |stand: Stand| match stand.answer {
        Answer::Call(verdict) if verdict.objects() => headline(verdict, model.basis.mode),
        Answer::Call(Verdict::NotReached) => "not reached".to_owned(),
        other => other.word().unwrap_or("no rule").to_owned(),
    };
    let refused = change.base.answer == Answer::Call(Verdict::Deny)
        && model.comparison().is_some_and(|comparison| matches!(comparison.base(), Base::Recorded));
    // Its mode is in the decision pane.
    if is_live(model)
        && let Answer::Call(then) = change.base.answer
    {
        return [format!("live {}", then.word()), word(change.new)];
    }
    [if refused { "refused".to_owned() } else { word(change.base) }, word(change.new)]
}

fn is_live(model: &Model) -> bool {
    model.comparison().is_some_and(|comparison| matches!(comparison.base(), Base::Live))
}

/// Why a change counts less, if it does.
pub fn origin_word(change: &Change) -> &'static str {
    if change.inferred { "inferred" } else { change.origin.word() }
}

/// By the new decision.
fn sign(change: &Change) -> (Role, Glyph) {
    match change.new.answer {
        Answer::Call(Verdict::Allow) | Answer::Tool { visible: true } => (Role::VerdictAllow, Glyph::Allow),
        Answer::Call(Verdict::Ask) => (Role::VerdictReport, Glyph::Ask),
        Answer::Call(Verdict::Deny) if change.counterfactual => (Role::VerdictAfter, Glyph::After),
        Answer::Call(Verdict::Deny) => (Role::VerdictDeny, Glyph::Deny),
        Answer::Call(Verdict::Halt) => (Role::VerdictHalt, Glyph::Halt),
        Answer::Call(Verdict::NotReached) | Answer::Tool { visible: false } => {
            (Role::VerdictNone, Glyph::None)
        }
        Answer::Report { reported: false } => (Role::VerdictAllow, Glyph::Allow),
        Answer::Report { reported: true } | Answer::RuleReported => (Role::VerdictReport, Glyph::Report),
        Answer::Session(Status::Pass) => (Role::VerdictAllow, Glyph::Allow),
        Answer::Session(Status::Stopped | Status::Fail) => (Role::VerdictDeny, Glyph::Deny),
        Answer::Session(Status::NotExercised) | Answer::Rule(None) => (Role::VerdictNone, Glyph::None),
        Answer::Rule(Some(outcome)) => outcome_look(outcome),
    }
}

/// A summary of all other sessions.
fn rest(model: &Model) -> String {
    if model.basis.changes.comparison.is_none() {
        let base = model.key(Command::Base);
        return format!("nothing is compared; the next edit of the policy is, and {base} chooses a base");
    }
    let (compared, unchanged) = model.basis.changes.counts();
    let all = model.session_count();
    if compared < all {
        return format!("compared {compared} of {}", words::count(all as u64, "session"));
    }
    let inferred: usize =
        model.basis.changes.groups().filter(|(group, _)| group.inferred).map(|(_, count)| count).sum();
    let apart = match inferred {
        0 => String::new(),
        times => format!("; inferred tools {}", words::count(times as u64, "time")),
    };
    let unchanged = words::count(unchanged as u64, "session");
    let uncompared = model.basis.changes.uncompared();
    let uncompared = match uncompared {
        0 => String::new(),
        calls => format!("; not compared: {} that no gate decided", words::count(calls as u64, "call")),
    };
    let rules = model.basis.changes.comparison.as_deref().and_then(diff::rules_summary);
    let rules = rules.map(|rules| format!("; {rules}")).unwrap_or_default();
    let apart = format!("{apart}{uncompared}{rules}");
    match model.scope_note() {
        Some(scope) => format!("changes of {scope}, as filtered; {unchanged} unchanged in all{apart}"),
        None if is_live(model) => format!("{unchanged} without a change{apart}"),
        None => format!("{unchanged} unchanged{apart}"),
    }
}
