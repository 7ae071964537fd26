//! What-ifs: changing the open session, and showing the result.
//!
//! Nothing is judged here. After every change, [`ask`] checks whether the topmost layer is still up to date, and
//! requests another one if not.

use std::sync::Arc;

use super::{go, jump, prompt};
use crate::report::words;
use crate::what_if::{Hypothesis, Impossible, WhatIf};
use crate::workbench::effect::{Effect, Suppose};
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::line::place;
use crate::workbench::model::supposed::{Ask, JudgedLayer, Land, OpenCase, Premise, Smallest, Target};
use crate::workbench::model::{Model, texts::lines_of};
use crate::workbench::popup::body;
use crate::workbench::transcript::RowKind;
use rulestep_base::session::edit::{AddedCall, Edit};
use rulestep_base::session::{Body, Call, Outcome, Results};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::replay::Replay;

/// Changes that can be taken back one after the other.
const UNDONE: usize = 200;

/// Requests judging of the what-if of the open session, unless that is the latest request.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let number = model.work.requests + 1;
    let content = model.content().cloned();
    let Some(entry) = model.archive.entries.get_mut(model.place.open) else { return };
    let Some(session) = entry.supposed_of(content.as_ref()).cloned() else { return };
    let Some(layer) = entry.supposed.top_mut().filter(|layer| layer.is_hypothetical()) else { return };
    // A case names the policy that judges it.
    let of_case = layer.of_case().map(|case| (Arc::clone(&case.policy), case.mode));
    let of_model = || Some((model.basis.rules.policy.clone()?, model.basis.mode));
    let Some((policy, mode)) = of_case.or_else(of_model) else { return };
    let premise = Premise { session, policy, mode, what_if: layer.what_if.clone() };
    if layer.asked.as_ref().is_some_and(|(_, asked)| asked.is(&premise)) {
        return;
    }
    layer.asked = Some((number, premise.clone()));
    model.work.requests = number;
    effects.push(Effect::Suppose(Box::new(Suppose { number, premise })));
}

/// The what-if is judged, or cannot be. An answer to an older request is dropped.
pub fn judged(model: &mut Model, number: u64, answer: Result<Box<(Hypothesis, Replay)>, Impossible>) {
    let asked = |supposed: &crate::workbench::model::Supposed| {
        supposed.top().and_then(|layer| layer.asked.as_ref()).is_some_and(|(asked, _)| *asked == number)
    };
    let Some(place) = model.archive.entries.iter().position(|entry| asked(&entry.supposed)) else { return };
    let (hypothesis, replay) = match answer {
        Ok(answer) => *answer,
        Err(why) => {
            // The previous state is on screen.
            if let Some(layer) =
                model.archive.entries.get_mut(place).and_then(|entry| entry.supposed.top_mut())
            {
                layer.what_if = match &layer.shown {
                    Some(shown) => shown.what_if.clone(),
                    None => layer.undo.pop().unwrap_or_default(),
                };
                layer.asked = None;
            }
            model.fail(why.to_string());
            return;
        }
    };
    let unknown = hypothesis.unknown.clone();
    let pinned = model.place.pinned.and_then(|pinned| model.rule(pinned)).map(|rule| Arc::clone(&rule.id));
    let mut news = false;
    let replay = Arc::new(replay);
    let mut show = |model: &mut Model| {
        let layer = model.archive.entries.get_mut(place).and_then(|entry| entry.supposed.top_mut());
        let Some(layer) = layer else { return Land::Stay };
        let Some((_, premise)) = &layer.asked else { return Land::Stay };
        news = layer.shown.as_ref().is_none_or(|shown| shown.hypothesis.unknown != hypothesis.unknown);
        let what_if = premise.what_if.clone();
        layer.shown =
            Some(JudgedLayer { what_if, hypothesis: hypothesis.clone(), replay: Arc::clone(&replay) });
        std::mem::take(&mut layer.land)
    };
    if place == model.place.open {
        exchange(model, show);
        // Another version has other rule numbers.
        let rules = replay.policy().rules();
        let known = pinned.and_then(|known| rules.iter().find(|(_, rule)| rule.id == known));
        model.place.pinned = known.map(|(id, _)| id);
    } else {
        show(model);
    }
    if let (Some(first), true) = (unknown.first(), news) {
        let text = format!("the policy has no rule `{first}` any more, which what if switches off");
        model.fail(text);
    }
}

/// Replaces the shown session: the cursor stays at its call, wherever that is now.
pub fn exchange(model: &mut Model, mut show: impl FnMut(&mut Model) -> Land) {
    let (cursor, session) = (model.list(Pane::Transcript).cursor, model.session().cloned());
    let anchor = model.derived.rows.seek(cursor + 1, false, |row| matches!(row.kind, RowKind::Call(_)));
    let call = anchor.and_then(|row| model.derived.rows.get(row)).and_then(|row| match row.kind {
        RowKind::Call(index) => model.entry()?.supposed.recorded(index),
        _ => None,
    });
    let land = show(model);
    let rows = std::mem::take(&mut model.derived.rows);
    go::lay_out(model);
    let now = |model: &Model, recorded: u32| {
        let index = model.entry()?.supposed.now(recorded)?;
        model.derived.rows.of_call(index)
    };
    let edited = model.shown_supposed().map(|(_, shown)| &shown.hypothesis.edited);
    let row = match land {
        Land::Stay => None,
        Land::Call(begun) => edited.and_then(|edited| edited.call(begun)),
        Land::Added(place) => edited.and_then(|edited| edited.added_by(place)),
    };
    let row = row.and_then(|index| model.derived.rows.of_call(index)).or_else(|| {
        let at = now(model, call?)?;
        Some(at + (cursor - anchor?))
    });
    let list = model.list(Pane::Transcript);
    let height = cursor.saturating_sub(list.top);
    let row = row.unwrap_or(cursor);
    let (len, shown) = Pane::Transcript.extent(model);
    let list = model.list_mut(Pane::Transcript);
    list.top = row.saturating_sub(height);
    list.set(row, len, shown);
    body::renew(model, &rows, session.as_ref());
}

/// Changes the supposed form of the open session.
pub fn change(model: &mut Model, land: Land, change: impl FnOnce(&mut WhatIf)) {
    let Some(entry) = model.archive.entries.get_mut(model.place.open) else { return };
    let layer = entry.supposed.top_or_new();
    let before = layer.what_if.clone();
    change(&mut layer.what_if);
    if layer.what_if == before {
        return;
    }
    layer.undo.push(before.clone());
    if layer.undo.len() > UNDONE {
        layer.undo.remove(0);
    }
    layer.land = land;
    if !layer.is_hypothetical() {
        to_recording(model, before);
    }
}

/// Ends all what-ifs: the recording is shown again. `before`: the last what-if, by which the call under the cursor is
/// found.
fn to_recording(model: &mut Model, before: WhatIf) {
    let top = |model: &mut Model, what_if: WhatIf| {
        let entry = model.archive.entries.get_mut(model.place.open);
        entry
            .and_then(|entry| entry.supposed.top_mut())
            .map(|layer| std::mem::replace(&mut layer.what_if, what_if))
    };
    let Some(now) = top(model, before) else { return };
    exchange(model, |model| {
        top(model, now.clone());
        if let Some(layer) =
            model.archive.entries.get_mut(model.place.open).and_then(|entry| entry.supposed.top_mut())
        {
            layer.shown = None;
            layer.asked = None;
        }
        Land::Stay
    });
}

/// Takes the last change back.
pub fn undo(model: &mut Model) {
    let layer = model.archive.entries.get_mut(model.place.open).and_then(|entry| entry.supposed.top_mut());
    let Some((layer, before)) = layer.and_then(|layer| Some((layer.undo.pop()?, layer))).map(|(b, l)| (l, b))
    else {
        return model.say("no what-if step to undo");
    };
    let undone = std::mem::replace(&mut layer.what_if, before);
    let (left, hypothetical) = (layer.undo.len(), layer.is_hypothetical());
    let text = match (hypothetical, left) {
        (false, _) => "undone: this is the recording again".to_owned(),
        (true, left) => format!("undone; {left} more can be"),
    };
    if !hypothetical {
        to_recording(model, undone);
    }
    model.say(text);
}

/// Takes all changes back, together.
pub fn drop_all(model: &mut Model) {
    change(model, Land::Stay, |what_if| *what_if = WhatIf::default());
    model.say(format!("the what-ifs are dropped; {} brings them back", model.key(Command::WhatIfUndo)));
}

/// Leaves the supposed session, if any, or the wait for one. Returns whether there was either.
pub fn leave(model: &mut Model, effects: &mut Vec<Effect>, what_if_too: bool) -> bool {
    if model.work.looking.take().is_some() {
        effects.push(Effect::Witness(None));
        model.say("the search for a minimal example is cancelled");
        return true;
    }
    let Some(layer) = model.entry().and_then(|entry| entry.supposed.top()) else { return false };
    if !layer.begins_as_recorded() {
        close_layer(model);
        return true;
    }
    if what_if_too && layer.is_hypothetical() {
        drop_all(model);
        return true;
    }
    false
}

/// Closes a witness or a case, and returns to where it was opened.
fn close_layer(model: &mut Model) {
    let mut closed = None;
    exchange(model, |model| {
        let entry = model.archive.entries.get_mut(model.place.open);
        closed = entry.and_then(|entry| entry.supposed.pop());
        Land::Stay
    });
    let Some(layer) = closed else { return };
    match (layer.part, layer.case) {
        (Some(part), _) if part.jumped => {
            jump::back(model);
            go::focus(model, Pane::Changes);
        }
        (Some(Smallest { from, .. }), _) | (None, Some(OpenCase { from, .. })) => {
            *model.list_mut(Pane::Transcript) = from;
        }
        (None, None) => {}
    }
}

/// Begins to type other arguments.
pub fn arguments(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((call, target)) = targeted(model) else { return };
    let text = call.arguments.raw().to_owned();
    prompt::begin(model, Ask::Arguments(target), &text, effects);
}

/// Begins to type another result.
pub fn result(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((call, target)) = targeted(model).filter(|_| keeps_results(model)) else { return };
    let text = content(model, &call, target).raw().to_owned();
    prompt::begin(model, Ask::Result(target), &text, effects);
}

/// Opens a prompt for another call in this turn, after the selected one.
pub fn new_call(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.target_turn() {
        Some(turn) => {
            let behind = model.target();
            prompt::begin(model, Ask::NewCall { turn, behind }, "", effects);
        }
        None => model.say("no turn is selected that a call could be added to"),
    }
}

/// Cycles the outcome of the call: ok, error, refused, without a result.
pub fn outcome(model: &mut Model) {
    let Some((call, target)) = targeted(model).filter(|_| keeps_results(model)) else { return };
    let outcome = match call.outcome {
        Outcome::Ok => Outcome::Error,
        Outcome::Error => Outcome::Refused,
        Outcome::Refused => Outcome::Unknown,
        Outcome::Unknown => Outcome::Ok,
    };
    let content = match content(model, &call, target) {
        content if content.is_missing() => Body::text(""),
        content => content,
    };
    set_result(model, target, outcome, content);
    let (place, was, word) =
        (place(call.at), words::outcome_word(call.outcome), words::outcome_word(outcome));
    model.say(format!("{place} {}: {word} instead of {was}", call.tool));
}

/// Leaves the call out.
pub fn drop_call(model: &mut Model) {
    let Some((call, target)) = targeted(model) else { return };
    change(model, Land::Stay, |what_if| match target {
        Target::Known(index) => what_if.edit(Edit::DropCall(index)),
        Target::Added(place) => drop(what_if.take_back(place)),
    });
    model.say(format!("{} {} is removed", place(call.at), call.tool));
}

/// Switches the rule that is shown, or in the policy the one under the cursor, off or on again.
pub fn switch(model: &mut Model) {
    let Some(rule) = pointed(model) else { return model.say("no rule is under the cursor") };
    let Some(chosen) = model.rule(rule) else { return };
    let (id, name) = (Arc::clone(&chosen.id), format!("{} ({})", words::rule_name(chosen), chosen.place()));
    let mut off = false;
    change(model, Land::Stay, |what_if| off = what_if.switch(&id));
    if let Some(layer) =
        model.archive.entries.get_mut(model.place.open).and_then(|entry| entry.supposed.top_mut())
    {
        layer.forget_back_and_forth();
    }
    model.place.pinned = Some(rule);
    model.say(format!("{}: {name}", if off { "off" } else { "on again" }));
}

fn pointed(model: &Model) -> Option<RuleId> {
    if model.place.focus != Pane::Policy {
        return model.shown_rule();
    }
    let source = model.document()?.source;
    let line = u32::try_from(model.list(Pane::Policy).cursor + 1).ok()?;
    let rules = model.replay().map(|replay| replay.policy()).or(model.basis.rules.policy.as_ref())?.rules();
    let here = rules.iter().filter(|(_, rule)| {
        let (first, last) = lines_of(&rule.source, rule.span);
        rule.source.name() == source.name() && (first..=last).contains(&line)
    });
    // The innermost one.
    here.min_by_key(|(_, rule)| rule.span.end - rule.span.start).map(|(id, _)| id)
}

/// The call under the cursor and how it is to be changed.
fn targeted(model: &mut Model) -> Option<(Call, Target)> {
    let found = model.call().cloned().zip(model.target());
    if found.is_none() {
        model.say("the what-if is still being decided");
    }
    found
}

fn keeps_results(model: &mut Model) -> bool {
    let kept = model.session().is_some_and(|session| session.facts.results != Results::Absent);
    if !kept {
        model.say("this recording keeps no results, so none can be changed");
    }
    kept
}

/// The content of the call's result; of a removed one, its former content.
fn content(model: &Model, call: &Call, target: Target) -> Body {
    let messages = |call: &Call, session: &rulestep_base::session::Session| {
        // A result that does not say how the call ended is not the call's, but has its content.
        let unsettled = || session.unsettled().of.into_iter().filter(|(_, of)| *of == call.at.index);
        let place = call.result.or_else(|| unsettled().map(|(place, _)| place).min());
        let message = place.and_then(|at| session.messages.get(at));
        message.map_or_else(|| call.output.clone(), |message| message.content.clone())
    };
    let shown = model.session().map(|session| messages(call, session)).unwrap_or_default();
    match target {
        Target::Known(index) if shown.is_missing() => {
            let begun = model.entry().and_then(|entry| entry.supposed_of(model.content()));
            let known = begun.and_then(|session| Some(messages(session.calls.get(index as usize)?, session)));
            known.unwrap_or_default()
        }
        _ => shown,
    }
}

/// The text typed for a call's result.
pub fn typed_result(model: &mut Model, target: Target, text: &str) {
    let Some(call) = model.call().cloned() else { return };
    let before = content(model, &call, target);
    let body = like(&before, text);
    if same(&body, &before) && call.outcome != Outcome::Unknown {
        return model.say("nothing is changed");
    }
    let outcome = if call.outcome == Outcome::Unknown { Outcome::Ok } else { call.outcome };
    set_result(model, target, outcome, body);
    model.say(format!("{} {}: another result", place(call.at), call.tool));
}

/// The text typed for a call's arguments.
pub fn typed_arguments(model: &mut Model, target: Target, text: &str) {
    let Some(call) = model.call().cloned() else { return };
    let arguments = like(&call.arguments, text);
    if same(&arguments, &call.arguments) {
        return model.say("nothing is changed");
    }
    change(model, Land::Stay, |what_if| match target {
        Target::Known(call) => what_if.edit(Edit::Arguments { call, arguments }),
        Target::Added(place) => {
            amend(what_if, place, |call| call.arguments = arguments);
        }
    });
    model.say(format!("{} {}: other arguments", place(call.at), call.tool));
}

/// A typed call, to come after another one, else after all of its turn.
pub fn typed_call(model: &mut Model, turn: u32, behind: Option<Target>, call: AddedCall) {
    let selected = model.call().filter(|_| behind.is_some());
    let place = selected.map_or_else(
        || format!("the other calls of turn {turn}"),
        |selected| format!("{} {}", place(selected.at), selected.tool),
    );
    let text = format!("{} is added after {place}", call.tool);
    let layer = model.entry().and_then(|entry| entry.supposed.top());
    let edits = layer.map(|layer| layer.what_if.edits()).unwrap_or_default();
    let (at, edit) = match behind {
        Some(Target::Added(other)) => {
            let edit = match edits.get(other) {
                Some(Edit::AddTurn { before, .. }) => Edit::AddTurn { before: *before, call: Some(call) },
                Some(Edit::AddCall { behind, .. }) => Edit::AddCall { turn, behind: *behind, call },
                _ => Edit::AddCall { turn, behind: None, call },
            };
            (other + 1, edit)
        }
        Some(Target::Known(other)) => (edits.len(), Edit::AddCall { turn, behind: Some(other), call }),
        None => (edits.len(), Edit::AddCall { turn, behind: None, call }),
    };
    change(model, Land::Added(at), |what_if| what_if.insert(at, edit));
    model.say(text);
}

fn set_result(model: &mut Model, target: Target, outcome: Outcome, content: Body) {
    change(model, Land::Stay, |what_if| match target {
        Target::Known(call) => what_if.edit(Edit::Result { call, outcome, content }),
        Target::Added(place) => amend(what_if, place, |call| {
            call.outcome = outcome;
            call.content = content;
        }),
    });
}

fn amend(what_if: &mut WhatIf, place: usize, amend: impl FnOnce(&mut AddedCall)) {
    let mut edit = what_if.edits().get(place).cloned();
    if let Some(Edit::AddCall { call, .. } | Edit::AddTurn { call: Some(call), .. }) = &mut edit {
        amend(call);
    }
    if let Some(edit) = edit {
        what_if.replace(place, edit);
    }
}

/// Whether rules cannot distinguish two bodies: JSON may have another layout.
fn same(one: &Body, other: &Body) -> bool {
    one == other || one.parsed().is_some_and(|value| Some(value) == other.parsed())
}

/// Text as a body in the form of the one before.
fn like(before: &Body, text: &str) -> Body {
    let in_place = before.form() == Some(rulestep_base::session::Form::Json);
    if in_place && serde_json::from_str::<serde_json::Value>(text).is_ok() {
        Body::json(text)
    } else {
        Body::text(text)
    }
}
