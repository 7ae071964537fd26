//! Commands of the shell itself that read their words again, or that end it.

use super::walker::{Flow, Streams, Walker};
use super::word::Word;

impl Walker<'_> {
    /// The effects of a shell command besides those in the tables.
    pub fn builtin(&mut self, name: &str, args: &[Word], flow: Flow, streams: &mut Streams) {
        let ends = flow;
        let flow = flow.proven_if(false);
        let value = |option: &str| {
            let place = args.iter().position(|word| word.start().starts_with(option))?;
            let word = args.get(place)?.strip_prefix(option)?;
            if word.pieces.is_empty() { args.get(place + 1).cloned() } else { Some(word) }
        };
        match name {
            "let" | "unset" | "read" | "declare" | "typeset" | "local" | "export" | "readonly"
            | "getopts" => {
                args.iter().for_each(|word| self.subscript(word, flow));
                if matches!(name, "declare" | "typeset" | "export") {
                    self.exported(args, flow);
                }
            }
            "test" | "[" | "printf" => value("-v").iter().for_each(|word| self.subscript(word, flow)),
            "wait" => value("-p").iter().for_each(|word| self.subscript(word, flow)),
            "mapfile" | "readarray" => {
                args.iter().for_each(|word| self.subscript(word, flow));
                // It is called with a number and a line.
                if let Some(mut script) = value("-C") {
                    script.push(" \"$@\"");
                    self.reread(&script, flow);
                }
            }
            "compgen" => {
                value("-C").iter().for_each(|script| self.reread(script, flow));
                if let Some(program) = value("-F") {
                    self.command(vec![program], flow, streams);
                }
                if let Some(words) = value("-W").as_ref().and_then(Word::known) {
                    self.quoted(words, flow);
                }
            }
            // From now on the name is another program's.
            "hash" if value("-p").is_some() => self.anything("hash -p", flow),
            "jobs" if args.first().and_then(Word::known) == Some("-x") => {
                // Names of jobs become the numbers of their processes.
                let words = args.iter().skip(1).map(|word| match word.start().starts_with('%') {
                    true => Word::unknown(word.to_string()),
                    false => word.clone(),
                });
                self.inner(words.collect(), flow, streams);
            }
            "exit" | "return" => {
                let status = args.first().map(|word| word.known().and_then(|text| text.parse::<u8>().ok()));
                // With a status other than 0 the line has failed, and proves nothing anyway.
                let fails = match status {
                    Some(status) => status.is_some_and(|status| status != 0),
                    None => ends.failed,
                };
                self.exited |= name == "exit" && !fails;
                self.returned |= name == "return" && !fails;
            }
            _ => {}
        }
    }

    /// Arithmetic reads a text again: `a[$(cmd)]` runs a command, also where quotes kept it from the shell.
    pub fn subscript(&mut self, word: &Word, flow: Flow) {
        if let Some(text) = word.known().filter(|text| has_subscript(text)) {
            self.quoted(text, flow);
        }
    }

    /// A variable that is set: some are scripts, and some are read again by arithmetic.
    pub fn variable(&mut self, name: &str, value: &Word, flow: Flow) {
        let base = name.split('[').next().unwrap_or(name).trim_end_matches('+');
        if base == "PS4" {
            // It is expanded before every command that follows, wherever that runs.
            let folder = (self.folder.clone(), self.instead.clone());
            self.nowhere("the folder of `PS4`");
            value.known().into_iter().for_each(|text| drop(self.quoted(text, flow)));
            (self.folder, self.instead) = folder;
        } else if matches!(base, "PS0" | "PS1" | "PS2") {
            // Interactive shells expand it.
            let text = value.known().unwrap_or_default().to_owned();
            self.perhaps(base, |walker| drop(walker.quoted(&text, flow)));
        } else if matches!(base, "BASH_ALIASES" | "BASH_CMDS") || base.starts_with("BASH_FUNC_") {
            self.anything(name, flow);
        } else if let Some(text) = value.known().filter(|text| has_subscript(text)) {
            self.anything(text, flow);
        }
    }
}

/// Whether a text has a substitution in the index of an array.
fn has_subscript(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let index = after.split([']', '\n']).next().unwrap_or(after);
        if before.ends_with(|letter: char| letter == '_' || letter.is_alphanumeric())
            && (index.contains("$(") || index.contains('`') || index.contains("${"))
        {
            return true;
        }
        rest = after;
    }
    false
}
