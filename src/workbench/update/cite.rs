//! The decision on screen for someone without the workbench: as a command that prints it, and as Markdown for a ticket.

use crate::report::account::Account;
use crate::report::ticket;
use crate::report::words::{self, ByTool};
use crate::workbench::model::Model;
use crate::workbench::model::supposed::summary;
use rulestep_engine::run::Mode;

/// The command that explains this decision again.
///
/// # Errors
/// Why no command does.
pub fn command(model: &Model) -> Result<String, String> {
    let (Some(entry), Some(replay)) = (model.entry(), model.replay()) else {
        return Err("no decision is here to reproduce".to_owned());
    };
    if let Some((layer, shown)) = model.shown_supposed() {
        if let Some(open) = layer.case.as_ref().filter(|_| shown.what_if.is_empty()) {
            let words = ["rulestep", "test", "--", &open.case.file];
            return shlex::try_join(words).map_err(|_| "a name here cannot be typed in a shell".to_owned());
        }
        return Err("a what-if is in no file, so no command reproduces it; save it as a case".to_owned());
    }
    if model.basis.rules.stale {
        return Err(
            "the policy files do not load just now, so a command would not give this decision".to_owned()
        );
    }
    if &*entry.file == "-" {
        return Err("these sessions were read from standard input, which no command reads again".to_owned());
    }
    let origin = &replay.session().origin;
    let place = match (model.not_taken(), model.call()) {
        (Some(at), _) => format!(":{}.{}.{}", at.turn, at.choice, at.call),
        (None, Some(call)) => format!(":{}.{}", call.at.turn, call.at.call),
        // The whole session, with the rules about it.
        (None, None) => String::new(),
    };
    let mut words = vec!["rulestep".to_owned(), "explain".to_owned()];
    words.push(format!("--at={}#{}{place}", origin.file, origin.index));
    if model.archive.built_in.sessions {
        words.push("--samples".to_owned());
    }
    for path in &model.basis.paths {
        words.push(format!("--policy={path}"));
    }
    if model.basis.mode == Mode::Shadow {
        words.push("--mode=shadow".to_owned());
    }
    words.extend(model.basis.flags.iter().cloned());
    if !model.archive.built_in.sessions {
        words.extend(["--".to_owned(), entry.file.to_string()]);
    }
    shlex::try_join(words.iter().map(String::as_str))
        .map_err(|_| "a name here cannot be typed in a shell".to_owned())
}

/// The decision as Markdown.
pub fn markdown(model: &Model) -> Option<String> {
    let replay = model.replay()?;
    let account = match (model.violation(), model.not_taken()) {
        (Some(state), _) => Account::of_rule(replay, state)?,
        (None, Some(at)) => {
            let other = replay.alternatives(Some(at.turn)).find(|other| other.at() == at)?;
            Account::of_choice(replay, &other)?
        }
        (None, None) => {
            let call = model.call()?;
            Account::of_call(replay, &ByTool::of(replay.session()), call, replay.call(call.at.index)?)
        }
    };
    let mut text = ticket::decision(&account);
    if let Some((layer, shown)) = model.shown_supposed() {
        let part = match (&layer.part, &layer.case) {
            (Some(_), _) => "the session as it was recorded but a minimal example of it".to_owned(),
            (None, Some(open)) => {
                format!("a recording but the session of the case {}", words::line(&open.case.name))
            }
            (None, None) => "the session as it was recorded but a what-if".to_owned(),
        };
        let what = summary(&shown.what_if);
        let what = if what.is_empty() { String::new() } else { format!(": {what}") };
        text.push_str(&format!("\nThis is not {part}{what}.\n"));
    }
    Some(text)
}
