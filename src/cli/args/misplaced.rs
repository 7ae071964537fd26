//! An option that was given to the wrong command.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use rulestep_base::source::nearest::nearest;

/// Names the commands that have an option which was given to another command, misspelt or not.
pub fn look_elsewhere(told: &mut clap::Error, cli: &Command) {
    if told.kind() != ErrorKind::UnknownArgument || told.get(ContextKind::SuggestedArg).is_some() {
        return;
    }
    let Some(ContextValue::String(given)) = told.get(ContextKind::InvalidArg) else { return };
    let Some(name) = given.strip_prefix("--").and_then(|given| given.split('=').next()) else { return };
    let verbs: Vec<_> = cli.get_subcommands().map(|verb| (verb.get_name(), longs(verb))).collect();
    let Some(meant) = nearest(name, verbs.iter().flat_map(|(_, longs)| longs.iter().copied())) else {
        return;
    };
    let having = verbs.iter().filter(|(_, longs)| longs.contains(&meant));
    let having: Vec<_> = having.map(|(verb, _)| format!("`rulestep {verb}`")).collect();
    let tip = format!("`--{meant}` is an option of {}", having.join(", "));
    told.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// The long names of a command's options.
fn longs(verb: &Command) -> Vec<&str> {
    verb.get_arguments().filter_map(clap::Arg::get_long).collect()
}
