//! Edits from outside: reports of the watch, and whether they are applied.

use crate::files::watch::{ChangedFiles, WatchEvent, Way};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::model::Model;
use crate::workbench::popup::cases;

/// The watch has something to say.
pub fn told(model: &mut Model, told: WatchEvent, effects: &mut Vec<Effect>) {
    match told {
        WatchEvent::Begun(way) => model.basis.live.way = Some(way),
        WatchEvent::Fallen(reason) => {
            let way = Way::Polling(crate::files::watch::LOOK);
            model.basis.live.way = Some(way);
            let text = format!("edits are noticed with a delay: {reason}");
            model.fail(text);
        }
        WatchEvent::Touched(what) => touched(model, what, effects),
    }
}

fn touched(model: &mut Model, what: ChangedFiles, effects: &mut Vec<Effect>) {
    if model.basis.live.off {
        model.basis.live.missed.policies |= what.policies;
        model.basis.live.missed.sessions |= what.sessions;
        return;
    }
    if what.policies {
        effects.push(Effect::LoadPolicy);
    }
    if what.policies || what.sessions && model.basis.cases.in_recordings {
        cases::ask(model, effects);
    }
    if what.sessions {
        effects.push(Effect::LoadSessions);
    }
}

/// Turns it off, or on again: then the missed edits are read.
pub fn toggle(model: &mut Model, effects: &mut Vec<Effect>) {
    model.basis.live.off = !model.basis.live.off;
    if model.basis.live.off {
        return model.say(format!(
            "live is off: edits wait until {} or {}",
            model.key(Command::Judge),
            model.key(Command::Live)
        ));
    }
    model.say("live is on: edits are loaded automatically");
    let missed = std::mem::take(&mut model.basis.live.missed);
    touched(model, missed, effects);
}

/// Reads everything that has changed again.
pub fn again(model: &mut Model, effects: &mut Vec<Effect>) {
    model.work.asked = true;
    model.basis.live.missed = ChangedFiles::default();
    model.say("reading the policy again");
    effects.extend([Effect::LoadPolicy, Effect::LoadSessions]);
    cases::ask(model, effects);
}
