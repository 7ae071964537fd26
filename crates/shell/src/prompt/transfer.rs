//! Commands of programs that send and fetch files.

use super::step::{Step, word_of};

/// A line of `sftp`, `ftp` and `lftp`: the files it sends and fetches.
pub fn transfer(line: &str) -> Vec<Step<'_>> {
    if let Some(script) = line.trim_start().strip_prefix('!') {
        return vec![Step::Runs(script)];
    }
    let mut steps = Vec::new();
    for command in line.split([';', '&']).map(|command| command.trim_start().trim_start_matches(['-', '@'])) {
        if let Some(script) = command.strip_prefix('!') {
            steps.push(Step::Runs(script));
            continue;
        }
        let (word, after) = word_of(command);
        let mut files = after
            .split_whitespace()
            .filter(|word| !word.starts_with('-'))
            .map(|file| file.trim_matches(['"', '\'']));
        let base = |file: &'_ str| file.rsplit('/').next().map(|name| file.len() - name.len());
        match word {
            "put" | "reput" | "send" | "append" => steps.extend(files.next().map(Step::ReadsDeep)),
            "open" | "connect" | "o" => steps.extend(files.next().map(Step::Reaches)),
            "mput" => steps.extend(files.map(Step::ReadsDeep)),
            "mirror" => {
                let sends = after.split_whitespace().any(|word| {
                    word == "--reverse"
                        || word.starts_with('-') && !word.starts_with("--") && word.contains('R')
                });
                let (one, other) = (files.next(), files.next());
                steps.extend(if sends {
                    one.or(Some(".")).map(Step::ReadsDeep)
                } else {
                    other.or(Some(".")).map(Step::Writes)
                });
            }
            "get" | "reget" | "recv" | "mget" | "pget" => {
                let from = files.next();
                let to = files.next().or_else(|| from.and_then(|from| from.get(base(from)?..)));
                steps.extend(to.map(Step::Writes));
            }
            "lcd" | "source" | "shell" | "local" | "eval" => steps.push(Step::Opaque),
            _ => {}
        }
    }
    steps
}

/// An address of `socat`: `TCP:HOST:PORT`, `EXEC:COMMAND`, `OPEN:FILE`, a file.
pub fn socat(word: &str) -> Vec<Step<'_>> {
    let address = word.split(',').next().unwrap_or(word);
    let Some((kind, rest)) = address.split_once(':') else {
        return if address.contains('/') {
            vec![Step::Reads(address), Step::Writes(address)]
        } else {
            Vec::new()
        };
    };
    let kind = kind.to_uppercase();
    let is_in = |names: &[&str]| names.iter().any(|name| kind.starts_with(name));
    let listens = ["LISTEN", "RECV", "BIND"].iter().any(|name| kind.contains(name)) || kind.ends_with("-L");
    match kind.as_str() {
        // Its standard input comes from the other address.
        "EXEC" | "SYSTEM" | "SHELL" => vec![Step::Runs(rest), Step::Opaque],
        "OPEN" | "FILE" | "GOPEN" | "CREATE" | "CREAT" => vec![Step::Reads(rest), Step::Writes(rest)],
        _ if !listens && is_in(&["TCP", "UDP", "SCTP", "DCCP", "OPENSSL", "SSL", "SOCKS", "PROXY", "IP"]) => {
            vec![Step::Reaches(rest)]
        }
        _ => Vec::new(),
    }
}
