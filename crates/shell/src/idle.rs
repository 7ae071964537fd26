//! Words with which a program does nothing of what its other words say.

use super::Answer;
use super::facts::Program;
use super::options::{Arguments, arguments};
use super::word::Word;

/// Whether the success of a command proves nothing of what its words say: it lists what would be run, or leaves it out.
pub fn is_idle(program: &Program, args: &[Word]) -> bool {
    if program.levels.iter().all(|level| level.idle.is_empty()) {
        return false;
    }
    let read = arguments(program, args);
    let mut listed = read.levels.iter().flat_map(|level| &level.idle);
    listed.any(|idle| is_given(idle, &read, args))
}

fn is_given(idle: &str, read: &Arguments<'_>, args: &[Word]) -> bool {
    // `-x=test`: only with a value that holds this text.
    if let Some((name, value)) = idle.split_once('=') {
        let holds = |word: &Word| word.to_string().to_lowercase().contains(value);
        return read
            .options
            .iter()
            .any(|given| given.name == name && given.value.as_ref().is_some_and(holds));
    }
    read.state(|name| name == idle) != Answer::No || args.iter().any(|word| word.known() == Some(idle))
}
