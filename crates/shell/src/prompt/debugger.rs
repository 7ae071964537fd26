//! Commands of debuggers.

use super::step::{Step, is_short, word_of};

/// A command of `gdb` and of `lldb`.
pub fn gdb(line: &str) -> Vec<Step<'_>> {
    let line = line.trim_start();
    if let Some(script) = line.strip_prefix('!') {
        return vec![Step::Runs(script)];
    }
    let (word, after) = word_of(line);
    match word {
        _ if is_short(word, "she[ll]") => vec![Step::Runs(after)],
        "platform" => after.trim_start().strip_prefix("shell").map(Step::Runs).into_iter().collect(),
        "pipe" => after.rsplit_once('|').map(|(_, script)| Step::Runs(script)).into_iter().collect(),
        _ if line.starts_with('|') => {
            line.rsplit_once('|').map(|(_, script)| Step::Runs(script)).into_iter().collect()
        }
        _ if is_short(
            word,
            "py[thon] pi python-interactive so[urce] gu[ile] gr cal[l] mak[e] r[un] start script command expr[ession]",
        ) =>
        {
            vec![Step::Opaque]
        }
        _ if is_short(word, "p[rint] inspect output") && after.contains('(') => vec![Step::Opaque],
        _ => Vec::new(),
    }
}
