//! The marks of what-ifs wherever they are shown: in words, never only by colour.

use std::sync::Arc;

use crate::report::cases::{self, FailedExpectation};
use crate::report::words;
use crate::what_if::WhatIf;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::model::supposed::summary;
use crate::workbench::model::verdict::headline;
use crate::workbench::text;
use crate::workbench::theme::Glyph;
use crate::workbench::transcript::RowKind;
use rulestep_base::session::edit::Edit;

/// For the header, in few words: `MINIMAL EXAMPLE 2 of 9 calls`, `WHAT IF 3`.
pub fn label(model: &Model) -> Option<String> {
    let (layer, shown) = model.shown_supposed()?;
    let changes = shown.what_if.edits().len() + shown.what_if.off().count();
    let own = layer.part.is_none() || !layer.undo.is_empty();
    if let Some(open) = &layer.case {
        let what_if = if changes > 0 { ", WHAT IF" } else { "" };
        let mode = if shown.replay.mode() == model.basis.mode { "" } else { shown.replay.mode().word() };
        let gap = if mode.is_empty() { "" } else { " " };
        let name = text::fit(&open.case.name, 40, model.theme.marks()).text();
        return Some(format!("CASE{gap}{mode} {name}{what_if}"));
    }
    Some(match &layer.part {
        Some(part) => {
            let what_if = if own && changes > 0 { " WHAT IF" } else { "" };
            let example = if part.witness.minimal { "MINIMAL EXAMPLE" } else { "EXAMPLE" };
            format!("{example} {} of {} calls{what_if}", part.witness.session().calls.len(), part.of)
        }
        None => format!("WHAT IF {changes}"),
    })
}

/// For the titles of panes that show a supposed session.
pub fn title(model: &Model, pane: Pane) -> &'static str {
    let Some((layer, shown)) = model.shown_supposed() else { return "" };
    match pane {
        Pane::Sessions | Pane::Changes => "",
        Pane::Policy if shown.what_if.off().next().is_none() => "",
        Pane::Transcript => match &layer.part {
            None if layer.case.is_some() => " (case)",
            Some(part) if part.witness.minimal => " (example)",
            Some(_) => " (example, perhaps not minimal)",
            None => " (what if)",
        },
        // Little room: the full text is above the transcript.
        _ if layer.case.is_some() => " (case)",
        _ if layer.part.is_some() && pane != Pane::Policy => " (part)",
        _ => " (if)",
    }
}

/// In a whole sentence, for the title of the transcript: `minimal example of refund-124: 2 of 9 calls`.
pub fn note(model: &Model) -> Option<String> {
    let (layer, shown) = model.shown_supposed()?;
    let mut parts = Vec::new();
    if let Some(part) = &layer.part {
        let name = model.entry().map_or("", |entry| &*entry.name);
        let (kind, least) = match part.witness.minimal {
            true => ("minimal example", ""),
            false => ("example", ", perhaps not minimal"),
        };
        let left = part.witness.session().calls.len();
        let now = model.basis.rules.policy.as_ref();
        let same = part.policy.as_ref().zip(now).is_none_or(|(then, now)| Arc::ptr_eq(then, now));
        let then = if same { "" } else { ", of the policy before the edit" };
        parts.push(format!(
            "{kind} of {name}: {left} of {}{least}{then}",
            words::count(part.of as u64, "call")
        ));
    }
    if let Some(open) = &layer.case {
        let case = &open.case;
        parts.push(format!("the case \"{}\": {}", case.name, case.state_word()));
        parts.extend(case.unmet(0));
    }
    if !shown.what_if.is_empty() {
        parts.push(format!("what if: {}", summary(&shown.what_if)));
    }
    match shown.hypothesis.unknown.len() {
        0 => {}
        1 => parts.push("1 rule to be off is not there".to_owned()),
        gone => parts.push(format!("{gone} rules to be off are not there")),
    }
    Some(parts.join("; "))
}

/// The mark of a row of the transcript in a what-if; empty if it is as recorded.
pub fn mark(model: &Model, row: RowKind) -> &'static str {
    let Some((_, shown)) = model.shown_supposed() else { return "" };
    let (index, result) = match row {
        RowKind::Call(index) => (index, false),
        RowKind::Result(index) => (index, true),
        RowKind::Message(_) | RowKind::Choice(..) | RowKind::Rule(_) => return "",
    };
    if shown.hypothesis.edited.added.contains(&index) {
        return "(new) ";
    }
    let changed = |edit: &Edit, call: u32| match edit {
        Edit::Arguments { call: changed, .. } => !result && *changed == call,
        // A removed result is marked at its call.
        Edit::Result { call: changed, outcome, .. } => {
            *changed == call && result != (*outcome == rulestep_base::session::Outcome::Unknown)
        }
        _ => false,
    };
    let Some(before) = shown.hypothesis.edited.before(index) else { return "" };
    let edits = |what_if: &WhatIf| what_if.edits().iter().any(|edit| changed(edit, before));
    if edits(&shown.what_if) { "(changed) " } else { "" }
}

/// The unmet expectations of a case about the selected call, each with the actual value.
pub fn unmet(model: &Model) -> Vec<(String, String)> {
    let Some((layer, shown)) = model.shown_supposed() else { return Vec::new() };
    let (Some(case), Some(call)) = (layer.of_case(), model.call()) else { return Vec::new() };
    let Some(begun) = shown.hypothesis.edited.before(call.at.index) else { return Vec::new() };
    let unmet = case.unmet_of(begun).filter_map(|at| case.report.unmet.get(at));
    let pair = |unmet: &FailedExpectation| {
        (format!("{} {}", unmet.key, cases::shown(&unmet.expected)), cases::shown(&unmet.got))
    };
    unmet.map(pair).collect()
}

/// The decision about the selected call as it was recorded, beside that of the what-if: `deny → allow`.
pub fn beside(model: &Model) -> Option<String> {
    let (layer, shown) = model.shown_supposed()?;
    let entry = model.entry().filter(|_| layer.case.is_none())?;
    let now = model.call()?.at.index;
    let word = |replay: &rulestep_engine::replay::Replay, index| {
        replay.call(index).map(|judged| headline(judged.decision.verdict, model.basis.mode).to_lowercase())
    };
    let new = word(&shown.replay, now)?;
    let arrow = model.theme.glyph(Glyph::Arrow);
    let Some(recorded) = entry.supposed.recorded(now) else { return Some(format!("new {arrow} {new}")) };
    let known = word(entry.replay.as_ref()?, recorded)?;
    // In an unchanged part of a session, only a difference is worth a line.
    let told = layer.part.is_none() || !shown.what_if.is_empty() || known != new;
    told.then(|| format!("{known} {arrow} {new}"))
}
