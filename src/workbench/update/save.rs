//! Saves the session up to the selected call, with its decisions, as a case. Nothing is written here.

use std::sync::Arc;

use super::prompt;
use crate::case::Place;
use crate::case::judge::is_named;
use crate::workbench::effect::{Effect, Save};
use crate::workbench::keys::Command;
use crate::workbench::model::Model;
use crate::workbench::model::supposed::{Ask, summary};
use rulestep_base::session::{AlternativeRef, CallRef};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Verdict;

/// Asks for a file's name.
pub fn begin(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.shown_supposed().is_some_and(|(layer, _)| layer.case.is_some()) {
        let text =
            format!("this is the session of a case already; {} opens its file", model.key(Command::Edit));
        return model.say(text);
    }
    if let Some(git) = model.basis.paths.iter().find(|path| path.starts_with("git:")) {
        let text = format!("a case refers to files, so none is saved for `{git}`");
        return model.say(text);
    }
    if model.basis.paths.is_empty() {
        return model
            .say("a case refers to the policy's files, and this policy is a sample inside the program");
    }
    let Some(name) = proposed(model) else { return };
    prompt::begin(model, Ask::Save, &name, effects);
}

/// A name beside the policy: `contracts/refund-124-2_1.case.yaml`.
fn proposed(model: &Model) -> Option<String> {
    let (entry, at) = (model.entry()?, named(model)?.replace('.', "_"));
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let id: String = entry.name.chars().map(plain).take(80).collect();
    let what = match entry.supposed.shown().and(entry.supposed.top()) {
        Some(layer) if !layer.what_if.edits().is_empty() || layer.part.is_none() => "-what-if",
        Some(_) => "-minimal",
        None => "",
    };
    let name = format!("{id}-{at}{what}.case.yaml");
    let path = model.basis.paths.first()?;
    let folder = match path.rfind(['/', '\\']) {
        Some(at) if is_file(path) => path.get(..at).unwrap_or_default(),
        None if is_file(path) => "",
        _ => path.trim_end_matches(['/', '\\']),
    };
    if folder.is_empty() || is_pattern(folder) {
        return Some(name);
    }
    Some(format!("{folder}/{name}"))
}

/// Whether a path of a policy is that of a file.
pub fn is_file(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// A pattern is no folder.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The place of the selected call in the recording; of an added one, its current place.
fn place(model: &Model) -> Option<CallRef> {
    let (entry, now) = (model.entry()?, model.call()?.at);
    let recorded = entry.supposed.recorded(now.index);
    let known = recorded.and_then(|index| model.content()?.calls.get(index as usize));
    Some(known.map_or(now, |call| call.at))
}

/// The selected call as a case names it: `2.1`, or `2.3.1` for a choice that was not taken.
fn named(model: &Model) -> Option<String> {
    if let Some(AlternativeRef { turn, choice, call }) = model.not_taken() {
        return Some(format!("{turn}.{choice}.{call}"));
    }
    place(model).map(|at| format!("{}.{}", at.turn, at.call))
}

/// The name is there.
///
/// # Errors
/// Why nothing can be saved under it.
pub fn typed(model: &mut Model, file: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    let file = file.trim();
    if file.is_empty() {
        return Err("a name is needed".to_owned());
    }
    if ![".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end)) {
        return Err("a case's name ends with .yaml".to_owned());
    }
    let save = saved(model, file).ok_or("no call is judged here")?;
    effects.push(Effect::Save(Box::new(save)));
    Ok(())
}

fn saved(model: &Model, file: &str) -> Option<Save> {
    let (entry, replay, judged) = (model.entry()?, model.replay()?, model.judged_call()?);
    let (call, turn) = match model.not_taken() {
        Some(at) => (Place::NotTaken(at), at.turn),
        None => {
            let at = model.call()?.at;
            (Place::In { turn: at.turn, call: at.call }, at.turn)
        }
    };
    let (at, session) = (named(model)?, replay.session());
    let of = match model.not_taken() {
        Some(at) => format!("turn {} choice {} (not chosen) call {}", at.turn, at.choice, at.call),
        None => place(model).map(|at| format!("turn {} call {}", at.turn, at.call))?,
    };
    let mut comments = vec![format!("{of} of {}, {}", entry.name, session.origin.file)];
    if let Some((layer, shown)) = model.shown_supposed() {
        if let Some(part) = &layer.part {
            let (kind, least) = if part.witness.minimal {
                ("a minimal example", "nothing can be left out of it")
            } else {
                ("an example", "it may not be the smallest")
            };
            let left = part.witness.session().calls.len();
            comments.push(format!("{kind}: {left} of {} calls; {least}", part.of));
        }
        if !shown.what_if.is_empty() {
            comments.push(format!("hypothetical, not as it was recorded: {}", summary(&shown.what_if)));
        }
    }
    let word = match judged.decision.verdict {
        Verdict::NotReached => "not reached",
        verdict => verdict.word(),
    };
    Some(Save {
        file: file.to_owned(),
        name: format!("{} {at}: {word}", entry.name),
        comments,
        policies: model.basis.paths.clone(),
        without: off(replay.policy()),
        stale: model.basis.rules.stale,
        session: Arc::clone(session),
        policy: Arc::clone(replay.policy()),
        mode: replay.mode(),
        call,
        turn,
    })
}

/// The rules that are switched off, each by as much of the end of its id as names no other.
fn off(policy: &Policy) -> Vec<Arc<str>> {
    let name = |id: &Arc<str>| -> Arc<str> {
        let before = id.split_once('#').map_or(&**id, |(file, _)| file);
        let places = before.match_indices(['/', '\\']).map(|(at, _)| at + 1).collect::<Vec<_>>();
        let ends = places.into_iter().rev().filter_map(|at| id.get(at..));
        let single = |end: &&str| policy.rules().iter().filter(|(_, rule)| is_named(rule, end)).count() == 1;
        ends.into_iter().find(single).map_or_else(|| Arc::clone(id), Arc::from)
    };
    let rules = policy.off().iter().filter_map(|rule| policy.rules().get(*rule));
    rules.map(|rule| name(&rule.id)).collect()
}

/// There is such a file already: another name is proposed.
pub fn taken(model: &mut Model, file: &str, effects: &mut Vec<Effect>) {
    let stem = file.strip_suffix(".case.yaml");
    let free = match stem.map(|stem| (stem, stem.rsplit_once('-'))) {
        Some((_, Some((stem, nth)))) if nth.parse::<u32>().is_ok() => {
            format!("{stem}-{}.case.yaml", nth.parse::<u32>().unwrap_or(1).saturating_add(1))
        }
        Some((stem, _)) => format!("{stem}-2.case.yaml"),
        None => file.to_owned(),
    };
    prompt::begin(model, Ask::Save, &free, effects);
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.refused = Some(format!("{file} already exists"));
    }
}
