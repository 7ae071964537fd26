//! Commands of the clients of databases.

use super::step::{Step, first, is_short, word_of};

/// A line of `psql`: commands with a backslash follow a query on its line.
pub fn psql(line: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = line;
    while let Some((_, command)) = rest.split_once('\\') {
        if let Some(script) = command.strip_prefix('!') {
            steps.push(Step::Runs(script));
            return steps;
        }
        let (word, after) = word_of(command);
        rest = after;
        if let Some((_, quoted)) = after.split_once('`') {
            let script = quoted.split('`').next().unwrap_or_default();
            // The commands before it on the line see the same one.
            let last = steps.iter().rev().find_map(|step| match step {
                Step::Runs(script) => Some(*script),
                _ => None,
            });
            if !last.is_some_and(|last| std::ptr::eq(last, script)) {
                steps.push(Step::Runs(script));
            }
        }
        let words = after.trim_start().trim_start_matches('(');
        match word {
            "o" | "out" | "w" | "write" | "g" | "gx" | "s" => match words.strip_prefix('|') {
                Some(script) => {
                    steps.push(Step::Runs(script));
                    return steps;
                }
                None => steps.extend(first(words).map(Step::Writes)),
            },
            "i" | "ir" | "include" => {
                steps.extend(first(words).map(Step::Reads));
                steps.push(Step::Opaque);
            }
            "e" | "edit" | "ef" | "ev" => steps.push(Step::Opaque),
            "copy" => steps.extend(copied(words)),
            _ => {}
        }
    }
    steps
}

/// `\copy TABLE to 'FILE'`, `\copy TABLE from program 'SCRIPT'`.
fn copied(words: &str) -> Option<Step<'_>> {
    let lower = words.to_ascii_lowercase();
    let (place, word) =
        [" to ", " from "].iter().filter_map(|word| Some((lower.rfind(word)?, *word))).max()?;
    let rest = words.get(place + word.len()..)?.trim_start();
    let (kind, after) = word_of(rest);
    match kind.to_ascii_lowercase().as_str() {
        "program" => first(after).map(Step::Runs),
        "stdin" | "stdout" | "pstdin" | "pstdout" => None,
        _ => first(rest).map(if word == " to " { Step::Writes } else { Step::Reads }),
    }
}

/// The parts between semicolons that are not quoted.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    line.split(move |letter: char| {
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '\'' | '"' | '`') => quote = Some(letter),
            _ => {}
        }
        letter == ';' && quote.is_none()
    })
}

/// A line of `mysql`.
pub fn mysql(line: &str) -> Vec<Step<'_>> {
    if let Some((_, script)) = line.split_once("\\!") {
        return vec![Step::Runs(script)];
    }
    let mut steps = Vec::new();
    for command in statements(line).map(str::trim_start) {
        let (word, after) = match command.strip_prefix('\\') {
            Some(letter) => letter.split_at_checked(1).unwrap_or((letter, "")),
            None => word_of(command),
        };
        match word.to_ascii_lowercase().as_str() {
            "system" | "pager" | "p" if !after.trim().is_empty() => steps.push(Step::Runs(after)),
            "source" | "." => {
                steps.extend(first(after).map(Step::Reads));
                steps.push(Step::Opaque);
            }
            "tee" | "t" => steps.extend(first(after).map(Step::Writes)),
            "edit" | "e" if command.starts_with('\\') || after.trim().is_empty() => steps.push(Step::Opaque),
            "load" if after.to_ascii_lowercase().contains("local") => steps.push(Step::Opaque),
            _ => {}
        }
    }
    steps
}

/// A line of `sqlite3` and of `duckdb`: commands begin with a dot and may be short.
pub fn sqlite(line: &str) -> Vec<Step<'_>> {
    let Some(command) = line.trim_start().strip_prefix('.') else {
        let lower = line.to_ascii_lowercase();
        let calls = ["writefile(", "readfile(", "load_extension(", "edit(", "fts3_tokenizer(", "copy "];
        let opaque = calls.iter().any(|call| lower.contains(call));
        return if opaque { vec![Step::Opaque] } else { Vec::new() };
    };
    let (word, after) = word_of(command);
    let words = after.trim_start();
    let piped = words
        .trim_start_matches(['"', '\''])
        .strip_prefix('|')
        .map(|script| script.trim_end_matches(['"', '\'']));
    match word {
        _ if is_short(word, "she[ll] sys[tem] sh sy") => vec![Step::Runs(after)],
        _ if is_short(word, "o[utput] onc[e] ou on i[mport] rea[d] re") && piped.is_some() => {
            piped.map(Step::Runs).into_iter().collect()
        }
        _ if is_short(word, "ou[tput] onc[e] on o log lo sa[ve] ba[ckup] cl[one]") => words
            .split_whitespace()
            .last()
            .filter(|file| !matches!(*file, "stdout" | "off"))
            .map(Step::Writes)
            .into_iter()
            .collect(),
        _ if is_short(word, "i[mport] rest[ore]") => {
            let file = words.split_whitespace().find(|word| !word.starts_with('-'));
            file.map(Step::Reads).into_iter().collect()
        }
        _ if is_short(word, "rea[d] re") => {
            first(words).map(Step::Reads).into_iter().chain([Step::Opaque]).collect()
        }
        _ if is_short(word, "op[en]") => {
            let file = words.split_whitespace().find(|word| !word.starts_with('-'));
            file.into_iter().flat_map(|file| [Step::Reads(file), Step::Writes(file)]).collect()
        }
        _ if is_short(word, "loa[d] ar[chive] cd ex[cel] w[ww]") => vec![Step::Opaque],
        _ => Vec::new(),
    }
}

/// A line of `sqlplus`.
pub fn sqlplus(line: &str) -> Vec<Step<'_>> {
    let line = line.trim_start();
    if let Some(script) = line.strip_prefix('!') {
        return vec![Step::Runs(script)];
    }
    if line.starts_with('@') {
        return vec![Step::Opaque];
    }
    let (word, after) = word_of(line);
    match word.to_ascii_lowercase().as_str() {
        "host" | "ho" | "hos" => vec![Step::Runs(after)],
        "start" | "sta" | "star" => vec![Step::Opaque],
        "spool" | "spo" => first(after).map(Step::Writes).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A line of `sqlcmd`.
pub fn sqlcmd(line: &str) -> Vec<Step<'_>> {
    let line = line.trim_start();
    if let Some(script) = line.trim_start_matches(':').strip_prefix("!!") {
        return vec![Step::Runs(script)];
    }
    let Some((word, after)) = line.strip_prefix(':').map(word_of) else { return Vec::new() };
    match word.to_ascii_lowercase().as_str() {
        "r" => first(after).map(Step::Reads).into_iter().chain([Step::Opaque]).collect(),
        "out" | "error" | "perftrace" => first(after).map(Step::Writes).into_iter().collect(),
        _ => Vec::new(),
    }
}
