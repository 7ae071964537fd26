//! Programs of the table that run another one, named in their words.

use super::assignments::is_same_shell;
use super::constants::Exported;
use super::facts::{Inner, Level, Program, Run};
use super::options::{Arguments, Way, assignment};
use super::readings::openings;
use super::walker::{Flow, Input, Streams, Walker};
use super::word::{Piece, Word};

/// The words of a program as a way to run another one.
#[derive(Clone, Copy)]
struct Opened<'w> {
    row: &'w Program,
    /// Its name on the line.
    name: &'w str,
    way: Way<'w>,
    args: &'w [Word],
}

impl Walker<'_> {
    /// A program that another one runs.
    pub fn inner(&mut self, words: Vec<Word>, flow: Flow, streams: &mut Streams) {
        let mut inner = Streams { input: streams.input.clone(), program: true, ..Streams::default() };
        self.command(words, flow, &mut inner);
    }

    /// Whether the way fits, after running what it names.
    pub fn wrapped(
        &mut self,
        row: &Program,
        way: Way<'_>,
        name: &str,
        args: &[Word],
        flow: Flow,
        streams: &mut Streams,
    ) -> bool {
        // Nested, readings would double at each program.
        let (found, tried, more) = openings(row, way, args, 1 + self.left / args.len().max(1));
        let mut readings = found.into_iter();
        let Some(found) = readings.next() else { return false };
        // An unlisted option may or may not have a value.
        let unlisted = found.unlisted.first().map(|(_, option)| option.clone());
        let option = unlisted.clone().unwrap_or_default();
        // The nested commands of further readings are read only for those.
        let extra = if self.doubt.is_some() { tried } else { tried - 1 };
        let followed = extra == 0 || self.steps(2 * extra * args.len(), &option, flow);
        if !followed && self.doubt.is_some() {
            return true;
        }
        let opened = Opened { row, name, way, args };
        let mut fits = true;
        match found.assumed {
            true => self.perhaps(&option, |walker| {
                fits = walker.opened(opened, found, flow.proven_if(false), &mut streams.clone());
            }),
            false => fits = self.opened(opened, found, flow.proven_if(unlisted.is_none()), streams),
        }
        for other in readings.filter(|_| followed) {
            self.perhaps(&option, |walker| {
                walker.opened(opened, other, flow.proven_if(false), &mut streams.clone());
            });
        }
        if more {
            self.anything(&option, flow);
        }
        fits && !way.run.besides
    }

    /// Runs what one reading of a wrapper's words names.
    fn opened(
        &mut self,
        opened: Opened<'_>,
        found: Arguments<'_>,
        flow: Flow,
        streams: &mut Streams,
    ) -> bool {
        let Opened { row, name, way: Way { level, run }, args } = opened;
        if found.is_on(&run.unless) {
            return true;
        }
        let (outer, constants) = (self.assigned.len(), self.constants.clone());
        let mut words: Vec<Word> = args.get(found.inner..).unwrap_or_default().to_vec();
        self.passes_on(row, name, run.elsewhere, &found);
        while let Some(pair) = words.first().filter(|_| row.assigns).and_then(assignment) {
            self.constants.set(&pair.0, Some(pair.1.clone()), Some(Exported::Yes));
            self.assigned.push(pair);
            words.remove(0);
        }
        let flow =
            Flow { elsewhere: flow.elsewhere || run.elsewhere, ..flow.proven_if(!found.is_apart(run)) };
        let (folder, instead) = (self.folder.clone(), self.instead.clone());
        if run.elsewhere {
            self.nowhere(&format!("the folder of `{name}`"));
        }
        let scripts: Vec<Word> = found.scripts(&run.inner);
        let nothing = words.is_empty() && scripts.is_empty() && found.missing == 0;
        let mut fits = true;
        match &run.inner {
            Inner::Entry(options) => {
                let programs: Vec<Word> = found.values_of(options).cloned().collect();
                fits = !programs.is_empty();
                for program in programs {
                    let program = [program].into_iter().chain(words.iter().cloned()).collect();
                    self.inner(program, flow, &mut streams.clone());
                }
            }
            _ if nothing && found.asks_shell(run) => self.shell_alone(name, level, run, flow, streams),
            Inner::ValueAndWords(_) if !scripts.is_empty() => {
                let whole = [joined(&scripts), joined(&words)];
                // It is not a shell, and has none of its functions.
                self.aside(|walker| {
                    walker.functions.clear();
                    walker.fed_script(&joined(&whole), flow, streams);
                });
            }
            Inner::Value(_) | Inner::ValueOrWords(_) if !scripts.is_empty() => {
                for script in scripts {
                    let mut inner = if run.besides { Streams::default() } else { streams.clone() };
                    self.aside(|walker| walker.fed_script(&script, flow, &mut inner));
                }
            }
            // Without the option another row may match: `runuser -u bob -- git push`.
            Inner::Value(_) | Inner::After(_) if words.is_empty() || matches!(run.inner, Inner::Value(_)) => {
                fits = false;
            }
            Inner::Script if run.more => self.many_scripts(name, words, &found, flow, streams),
            Inner::Script => {
                let script = joined(&words);
                self.aside(|walker| walker.fed_script(&script, flow, streams));
            }
            Inner::First => {
                for script in words.iter().filter(|word| !word.start().starts_with('-')) {
                    self.aside(|walker| walker.reread(script, flow.proven_if(false)));
                }
            }
            Inner::Input if found.option("-f --file").is_some() => {
                if let Some(call) = self.line.calls.last_mut() {
                    call.opaque = true;
                }
            }
            Inner::Input => self.fed_shell(name, flow, &streams.input.clone()),
            Inner::Piped => {
                for script in args.iter().filter_map(|word| word.strip_prefix("|")) {
                    self.aside(|walker| walker.reread(&script, flow.proven_if(false)));
                }
            }
            Inner::Keys => {
                let script = typed(&words);
                self.aside(|walker| walker.reread(&script, flow.proven_if(false)));
            }
            Inner::As(_) if words.is_empty() => {}
            Inner::As(program) => {
                words.insert(0, Word::text(program.as_str()));
                self.inner(words, flow, streams);
            }
            Inner::Words
            | Inner::After(_)
            | Inner::Value(_)
            | Inner::ValueOrWords(_)
            | Inner::ValueAndWords(_) => self.run_words(name, run, &found, words, flow, streams),
        }
        // `builtin cd` is the shell's own.
        if !matches!(name, "builtin" | "command") || self.doubt.is_some() {
            (self.folder, self.instead) = (folder, instead);
        }
        if !is_same_shell(name) {
            self.constants = constants;
        }
        self.assigned.truncate(outer);
        fits
    }

    /// A shell where no program is named; of a container, the program of its image, a shell perhaps.
    fn shell_alone(&mut self, name: &str, level: &Level, run: &Run, flow: Flow, streams: &Streams) {
        let input = if streams.input == Input::Nothing { self.stdin.clone() } else { streams.input.clone() };
        let is_shell = |sub: &Vec<String>| sub.is_empty() || sub.iter().any(|word| word.contains("shell"));
        if run.inner != Inner::Words || !run.elsewhere || level.subs.iter().any(is_shell) {
            return self.fed_shell(name, flow, &input);
        }
        match &input {
            Input::Text(_) => self.perhaps("the program of the image", |walker| {
                walker.fed_shell(name, flow.proven_if(false), &input)
            }),
            Input::File => self.fed_shell(name, flow, &input),
            _ => {}
        }
    }

    /// A script whose commands read the wrapper's standard input.
    pub fn fed_script(&mut self, script: &Word, flow: Flow, streams: &mut Streams) {
        // Of several commands, it is unknown which one reads it.
        let one = script.known().is_some_and(|text| !text.contains([';', '&', '|', '\n', '(', '{', '<']));
        match &streams.input {
            Input::Nothing => self.reread(script, flow),
            input if one => {
                let kept = std::mem::replace(&mut self.stdin, input.clone());
                self.reread(script, flow);
                self.stdin = kept;
            }
            input => {
                let input = input.clone();
                self.fed(&input, |walker| walker.reread(script, flow));
            }
        }
    }

    /// The words are one script for each of many values, and without words each value is a script.
    fn many_scripts(
        &mut self,
        name: &str,
        mut words: Vec<Word>,
        found: &Arguments<'_>,
        flow: Flow,
        streams: &mut Streams,
    ) {
        let end = words.iter().position(|word| word.start().starts_with(":::"));
        let values = end.map(|end| words.split_off(end)).unwrap_or_default();
        let flow = flow.proven_if(false);
        let given: Option<Vec<&str>> = match values.split_first() {
            Some((mark, values)) if mark.known() == Some(":::") && values.len() <= 16 => {
                values.iter().map(|word| word.known().filter(|text| !text.starts_with(":::"))).collect()
            }
            _ => None,
        };
        let script = joined(&words);
        let mark = found.option("-I").and_then(Word::known).unwrap_or("{}");
        if script.pieces.is_empty() {
            return match given {
                Some(scripts) => {
                    scripts.iter().for_each(|script| self.aside(|walker| walker.script(script, flow)))
                }
                None if !values.is_empty() || found.option("-a --arg-file").is_some() => {
                    self.anything(&format!("the commands of `{name}`"), flow)
                }
                None => self.fed_shell(name, flow, &streams.input.clone()),
            };
        }
        // Words of one command.
        if words.len() > 1
            && !script.to_string().contains([';', '&', '|', '<', '>', '(', '{', '$', '`', '\'', '"'])
            || words.len() > 1
                && given.is_none()
                && !words.iter().any(|word| word.to_string().contains([';', '&', '|', '<', '>', ' ']))
        {
            if let Some(values) = given.filter(|_| !script.to_string().contains(mark)) {
                for value in values {
                    let mut words = words.clone();
                    words.push(Word::text(value));
                    self.inner(words, flow, &mut Streams::default());
                }
                return;
            }
            words.push(Word::unknown(format!("standard input of `{name}`")));
            return self.inner(words, flow, &mut Streams::default());
        }
        let Some(text) = script.known() else { return self.aside(|walker| walker.reread(&script, flow)) };
        let mut text = text.to_owned();
        for spelt in ["{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}", "{1.}", "{1/}"] {
            text = text.replace(spelt, mark);
        }
        if !text.contains(mark) {
            text = format!("{text} {mark}");
        }
        // Within quotes the value would not be quoted for the shell.
        let quoted = text.split(mark).scan(0, |quotes, part| {
            *quotes += part.matches('\'').count();
            Some(*quotes % 2 == 1)
        });
        if quoted.into_iter().any(|open| open) {
            self.anything(mark, flow);
        }
        let fill = |value: &str| format!("'{}'", value.replace('\'', "'\\''"));
        match given {
            Some(values) => {
                for value in values {
                    let one = text.replace(mark, &fill(value));
                    self.aside(|walker| walker.script(&one, flow));
                }
            }
            None => {
                let one = text.replace(mark, "\"${parallel}\"");
                self.aside(|walker| walker.script(&one, flow));
            }
        }
    }

    pub fn run_words(
        &mut self,
        name: &str,
        run: &Run,
        found: &Arguments<'_>,
        mut words: Vec<Word>,
        flow: Flow,
        streams: &mut Streams,
    ) {
        if words.is_empty() {
            return;
        }
        let folders: Vec<Word> = found.folders().filter(|_| !run.elsewhere).cloned().collect();
        folders.iter().for_each(|folder| self.go(std::slice::from_ref(folder)));
        if run.more {
            // The words may be given to several starts.
            let splits = found.has("-n --max-args -L -l --max-lines -d --delimiter -0 --null -s --max-chars");
            let place = found.option("-I -J -i --replace").and_then(Word::known).map(str::to_owned);
            let place = place.or_else(|| found.has("-i --replace").then(|| "{}".to_owned()));
            match (place, &streams.input) {
                (Some(place), _) => words = fill(&words, &place),
                (None, Input::Text(text)) if !splits && !text.contains(['\'', '"', '\\']) => {
                    words.extend(text.split_whitespace().map(Word::text))
                }
                (None, Input::Names(names)) => {
                    words.extend(names.iter().map(|word| Word { many: true, ..word.clone() }))
                }
                _ => words.push(Word::unknown_words(format!("standard input of `{name}`"))),
            }
            let mut none = Streams { program: true, ..Streams::default() };
            return self.command(words, flow, &mut none);
        }
        if run.fills {
            let end = words.iter().position(|word| word.known() == Some(";")).unwrap_or(words.len());
            words = fill(words.get(..end).unwrap_or_default(), "{}");
            if words.iter().all(|word| word.unclear().is_none()) {
                words.push(Word::unknown("{}"));
            }
        }
        if run.versioned
            && let Some(first) = words.first_mut()
            && let Some((program, _)) = first.known().and_then(|text| text.rsplit_once('@'))
            && !program.is_empty()
        {
            *first = Word::text(program);
        }
        match name {
            // Words of the shell's own grammar.
            "time" if words.first().and_then(Word::known) == Some("!") => {
                self.command(words.split_off(1), flow.proven_if(false), streams)
            }
            "time" => self.command(words, flow, streams),
            // It runs in parallel; after a redirection `!` is a word like others, and negates all the same.
            "coproc" => self.command(words, Flow { background: true, ..flow.proven_if(false) }, streams),
            "!" => self.command(words, flow.proven_if(false), streams),
            _ => self.inner(words, flow, streams),
        }
    }
}

/// A text in which a mark represents something unknown.
pub fn filled(text: &str, mark: &str) -> Word {
    let mut word = Word::default();
    for (at, part) in text.split(mark).enumerate() {
        if at > 0 {
            word.pieces.push(Piece::Unknown(mark.to_owned()));
        }
        word.push(part);
    }
    word
}

/// Words in each of which a mark represents something unknown.
fn fill(words: &[Word], mark: &str) -> Vec<Word> {
    let one = |word: &Word| match word.known() {
        Some(text) if !mark.is_empty() && text.contains(mark) => filled(text, mark),
        _ => word.clone(),
    };
    words.iter().map(one).collect()
}

/// The text that keys type: the characters of named keys, and other words as they are.
fn typed(words: &[Word]) -> Word {
    let mut text = Word::default();
    for word in words {
        match word.known() {
            Some("Enter" | "KPEnter" | "C-m" | "C-j" | "^M" | "^J") => text.push("\n"),
            Some("Space") => text.push(" "),
            Some("Tab" | "Escape" | "C-c" | "C-u" | "C-l" | "C-d" | "-l") => {}
            Some(letters) => {
                let lines = ["\\n", "\\r", "\\015", "\\012", "^M", "\r"];
                text.push(&lines.iter().fold(letters.to_owned(), |text, line| text.replace(line, "\n")));
            }
            None => text.append(word),
        }
    }
    text
}

/// Words that a program joins for a shell.
pub fn joined(words: &[Word]) -> Word {
    let mut whole = Word::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            whole.push(" ");
        }
        whole.append(word);
    }
    whole
}
