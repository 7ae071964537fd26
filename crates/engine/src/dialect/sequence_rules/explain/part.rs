//! The part of a call that a finding is about, in words.

use crate::dialect::sequence_rules::asks::{self, Part};
use crate::dialect::sequence_rules::codes;
use rulestep_base::diagnostic::Code;
use rulestep_base::wording::sentence::name;

/// A sentence with the command in question: why it counts, or what precedes it in the call.
pub(super) fn in_part(part: &Part, whole: String, code: Code) -> String {
    let command = name(&part.command);
    if code == codes::OPAQUE_COMMAND {
        return format!("`{command}` runs code that nobody has read, which may do what the rule stops");
    }
    if code == codes::NOT_ALLOWLISTED && !part.command.is_empty() {
        return match &part.unknown {
            Some(word) => {
                format!("`{}` in `{command}` is not known, so it is not on the list; {whole}", name(word))
            }
            None if part.opaque => {
                format!("`{command}` runs code that nobody has read, and the list has no such code")
            }
            None => format!("`{command}` is not on the list; {whole}"),
        };
    }
    if code == codes::SWEEP {
        return match (&part.sweep, part.trigger.as_deref(), &part.since) {
            (Some(folder), ..) => sweep(folder, &part.command),
            (_, Some(Part { sweep: Some(folder), command: earlier, .. }), _) => {
                format!("{}; the call runs `{command}`", sweep(folder, earlier))
            }
            (.., Some(since)) => {
                format!("`{command}` comes after the sweep `{}` in the same call", name(since))
            }
            _ => whole,
        };
    }
    let whole = match part.trigger.as_deref() {
        Some(Part { unknown: Some(word), command, .. }) => {
            format!("{whole}, where {}", doubt(word, command))
        }
        Some(Part { sweep: Some(folder), command, .. }) => {
            format!("{whole}, where {}", sweep(folder, command))
        }
        Some(Part { command, .. }) if !command.is_empty() => format!("{whole} (`{}`)", name(command)),
        _ => whole,
    };
    match (&part.since, &part.unknown) {
        (Some(since), _) if *since == part.command => format!("`{command}` does both at once"),
        (Some(since), _) => format!("`{command}` comes after `{}` in the same call", name(since)),
        (None, Some(word)) => format!("{whole}; {}", doubt(word, &part.command)),
        (None, None) if part.sweep.is_some() => {
            format!("{whole}; {}", sweep(part.sweep.as_deref().unwrap_or_default(), &part.command))
        }
        (None, None) if part.opaque => format!("{whole}; `{command}` runs code that nobody has read"),
        (None, None) if part.command.is_empty() => whole,
        (None, None) => format!("{whole}; the call runs `{command}`"),
    }
}

/// The clause about an unknown, and that it counts.
fn doubt(word: &str, command: &str) -> String {
    if command.is_empty() {
        return format!("what `{}` does is not known, and counts as a match", name(word));
    }
    format!("`{}` in `{}` is not known, and counts as a match", name(word), name(command))
}

/// The unknown of a call, and what to write instead; `None` if everything is known.
pub(super) fn for_model(part: &Part) -> Option<String> {
    let word = part.unknown.as_deref()?;
    if let Some(problem) = asks::unread(word) {
        return Some(format!(
            "`{}` cannot be read to its end ({}), so nobody knows what it does. Close its quotes and brackets, and write one command in a line.",
            name(word),
            name(&problem)
        ));
    }
    let command = part.command.trim_end_matches(" (not known)");
    let place = match command == word || command.is_empty() {
        true => String::new(),
        false => format!(" in `{}`", name(command)),
    };
    let instead = match word.contains(['$', '`', '*', '?', '<', '~']) {
        true => "Write the value itself in its place, or leave the command out.",
        false => "Use a program or an option that is known, or leave the command out.",
    };
    Some(format!("What `{}`{place} does is not known, so it cannot be checked. {instead}", name(word)))
}

/// The clause that a search is a sweep.
fn sweep(folder: &str, command: &str) -> String {
    let by = if command.is_empty() { "the call".into() } else { format!("`{}`", name(command)) };
    format!("{by} searches `{}`, where a file may lie that the rule is about", name(folder))
}
