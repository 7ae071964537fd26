//! Shells that a line starts: a script in a word, in a file, or on standard input.

use super::walker::{Flow, Input, Streams, Walker};
use super::word::Word;

impl Walker<'_> {
    pub fn shell(&mut self, name: &str, args: &[Word], flow: Flow, streams: &Streams) {
        let mut words = args.iter();
        let mut script = false;
        let mut stdin = false;
        let (mut errexit, mut pipefail) = (false, false);
        let mut operand = None;
        let mut started: Option<Word> = None;
        let row = self.root.facts.program(name).and_then(|row| row.whole());
        let is_listed = |long: &str| row.is_some_and(|row| row.option(long).is_some());
        while let Some(word) = words.next() {
            let Some(text) = word.known().filter(|text| text.len() > 1 && text.starts_with(['-', '+']))
            else {
                if word.is_open() && word.many {
                    // It may be `-c` with a script.
                    self.anything(word.unclear().unwrap_or(name), flow);
                }
                operand = Some(word);
                break;
            };
            match text {
                "--" => {
                    operand = words.next();
                    break;
                }
                "--version" | "--help" => return,
                "--rcfile" | "--init-file" => started = words.next().cloned(),
                "--command" => script = true,
                long if long.starts_with("--command=") => {
                    let text = word.after("--command=".len());
                    return self.aside(|walker| walker.fed_script(&text, flow, &mut streams.clone()));
                }
                long if long.starts_with("--") => {
                    // It may have a value, so that any word may be the script.
                    if !is_listed(long.split('=').next().unwrap_or(long)) {
                        self.anything(long, flow);
                    }
                }
                letters => {
                    script |= letters.contains('c');
                    stdin |= letters.contains('s');
                    errexit |= letters.contains('e') && letters.starts_with('-');
                    if letters.contains(['o', 'O']) {
                        pipefail |= words.next().is_some_and(|option| option.known() == Some("pipefail"));
                    }
                }
            }
        }
        match started {
            Some(file) if file.start().starts_with("/dev/fd/") => {
                self.anything(&format!("the settings of `{name}`"), flow)
            }
            Some(file) => self.runs_file(&file),
            None => {}
        }
        let flow = Flow { branch: false, ..flow };
        let fresh = |walker: &mut Walker<'_>| {
            (walker.errexit, walker.pipefail) = (errexit, pipefail);
            // It knows only exported functions.
            walker.unsure.extend(walker.functions.keys().cloned());
        };
        match (operand, script) {
            (Some(text), true) => self.aside(|walker| {
                fresh(walker);
                walker.fed_script(text, flow, &mut streams.clone());
            }),
            (Some(file), false)
                if !stdin
                    && !file.known().is_some_and(|file| file.starts_with("/dev/stdin") || file == "-") =>
            {
                // Process substitutions are files with unknown text.
                if file.known().is_some_and(|file| file.starts_with("/dev/fd/")) {
                    return self.anything(&format!("the script of `{name}`"), flow);
                }
                self.runs_file(file);
            }
            (None, true) => {}
            _ => {
                let kept = (self.errexit, self.pipefail);
                (self.errexit, self.pipefail) = (errexit, pipefail);
                self.fed_shell(name, flow, &streams.input);
                (self.errexit, self.pipefail) = kept;
            }
        }
    }

    /// A shell that reads its standard input.
    pub fn fed_shell(&mut self, name: &str, flow: Flow, input: &Input) {
        match input {
            Input::Nothing => {}
            Input::Text(text) => self.aside(|walker| {
                walker.unsure.extend(walker.functions.keys().cloned());
                walker.script(text, flow);
            }),
            Input::File => {
                if let Some(call) = self.line.calls.last_mut() {
                    call.opaque = true;
                }
            }
            Input::Unknown | Input::Names(_) => self.anything(&format!("standard input of `{name}`"), flow),
        }
    }
}
