//! What order rules say of the command that a finding is about.

use crate::diagnostic::Code;
use crate::dialect::sequence_rules::asks::Part;
use crate::dialect::sequence_rules::codes;
use crate::wording::sentence::name;

/// The same with the command that it is about: why it counts, or what comes before it in the call.
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
    let whole = match part.trigger.as_deref() {
        Some(Part { unknown: Some(word), command, .. }) => {
            format!("{whole}, where {}", doubt(word, command))
        }
        Some(Part { command, .. }) if !command.is_empty() => format!("{whole} (`{}`)", name(command)),
        _ => whole,
    };
    match (&part.since, &part.unknown) {
        (Some(since), _) if *since == part.command => format!("`{command}` does both at once"),
        (Some(since), _) => format!("`{command}` comes after `{}` in the same call", name(since)),
        (None, Some(word)) => format!("{whole}; {}", doubt(word, &part.command)),
        (None, None) if part.opaque => format!("{whole}; `{command}` runs code that nobody has read"),
        (None, None) if part.command.is_empty() => whole,
        (None, None) => format!("{whole}; the call runs `{command}`"),
    }
}

/// What is not known, and that it counts.
fn doubt(word: &str, command: &str) -> String {
    if command.is_empty() {
        return format!("what `{}` does is not known, and counts as a match", name(word));
    }
    format!("`{}` in `{}` is not known, and counts as a match", name(word), name(command))
}
