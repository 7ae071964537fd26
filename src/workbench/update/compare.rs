//! Comparing with a version that the user chooses: which one, and from when to when.

use crate::workbench::popup::texts;
use std::sync::Arc;

use super::{judge, prompt};
use crate::compare::{Base, Comparison};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{Chosen, Frames, Model};

/// Asks what to compare with.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let value = model.basis.compare.base.as_ref().map(|chosen| chosen.name.clone()).unwrap_or_default();
    prompt::begin(model, Ask::Base, &value, effects);
}

/// The typed text is the answer; an empty one means no base.
pub fn answered(model: &mut Model, text: &str, effects: &mut Vec<Effect>) {
    let name = text.trim();
    if name.is_empty() {
        if model.basis.compare.base.is_some() || model.basis.compare.reading.is_some() {
            end(model, effects);
        }
        return;
    }
    model.basis.compare.reading = Some(name.to_owned());
    model.say(format!("reading `{name}` to compare with"));
    effects.push(Effect::LoadBase(name.to_owned()));
}

/// A base was read. An answer to an older question is dropped; if there is no base, the current one stays.
pub fn read(model: &mut Model, name: String, read: Result<Base, String>, effects: &mut Vec<Effect>) {
    if model.basis.compare.reading.as_ref() != Some(&name) {
        return;
    }
    model.basis.compare.reading = None;
    match read {
        Ok(base) => choose(model, Chosen { name, base }, effects),
        Err(why) => model.fail(format!("not compared: {why}")),
    }
}

/// From now on decisions are compared with this.
pub fn choose(model: &mut Model, chosen: Chosen, effects: &mut Vec<Effect>) {
    model.say(format!("compared with {}; {} ends it", chosen.name, model.key(Command::EndCompare)));
    model.basis.compare.base = Some(chosen);
    begin(model, effects);
}

/// Compares with the load of this row of the list: the first is the one before that which decides.
pub fn load_before(model: &mut Model, row: usize, effects: &mut Vec<Effect>) {
    let Some(load) = model.basis.rules.loads.newest_first().nth(row + 1).cloned() else { return };
    model.basis.compare.reading = None;
    let chosen = Chosen { name: format!("the load of {}", load.at), base: Base::Version(load.policy) };
    choose(model, chosen, effects);
}

/// Ends comparing: again what counts is what an edit changes.
pub fn end(model: &mut Model, effects: &mut Vec<Effect>) {
    model.basis.compare.reading = None;
    if model.basis.compare.base.take().is_some() {
        begin(model, effects);
        model.say(match model.basis.changes.comparison {
            None => "no longer compared".to_owned(),
            Some(_) => {
                let key = model.key(Command::EndCompare);
                format!("the base is dropped; pane 8 shows the last edit, and {key} closes that too")
            }
        });
    } else if model.basis.changes.comparison.take().is_some() {
        // The changes of an edit were seen. The next edit is compared again.
        model.say("closed; the next edit is compared again");
        model.basis.changes.since.clear();
        model.basis.changes.to_tell = false;
        judge::judge_all(model, effects);
        texts::renew(model, effects);
    } else {
        model.say("nothing will be compared");
    }
}

fn begin(model: &mut Model, effects: &mut Vec<Effect>) {
    forget_bases(model);
    renew(model);
    model.basis.changes.to_tell = model.basis.compare.base.is_some();
    *model.list_mut(Pane::Changes) = List::default();
    judge::judge_all(model, effects);
    texts::renew(model, effects);
}

/// Makes the comparison of the version that decides with the base, else with the load before it.
pub fn renew(model: &mut Model) {
    let chosen = model.basis.compare.base.clone();
    let before = || {
        let load = model.basis.rules.loads.before()?;
        Some(Chosen { name: load.at.clone(), base: Base::Version(Arc::clone(&load.policy)) })
    };
    let against = chosen.or_else(before).zip(model.basis.rules.policy.clone());
    model.basis.changes.since = against.as_ref().map(|(chosen, _)| chosen.name.clone()).unwrap_or_default();
    model.basis.changes.comparison =
        against.map(|(chosen, policy)| Arc::new(Comparison::new(chosen.base, policy)));
}

/// Drops decisions under the base: another one was chosen, or another mode.
pub fn forget_bases(model: &mut Model) {
    model.place.base_frames = Frames::default();
    model.archive.entries.iter_mut().for_each(|entry| entry.base = None);
}
