//! Programs of the table that run another one, named by their own words.

use std::borrow::Cow;

use super::call::Act;
use super::facts::{Inner, Wrapper};
use super::scene::{self, Effects, Scene};
use super::walker::{Flow, Input, Streams, Walker};
use super::word::{Piece, Word};

impl Walker<'_> {
    /// A program that another one runs.
    pub fn inner(&mut self, words: Vec<Word>, flow: Flow, streams: &mut Streams) {
        let mut inner = Streams { input: streams.input.clone(), program: true, ..Streams::default() };
        self.command(words, flow, &mut inner);
    }

    /// Whether the row fits, after running what it names.
    pub fn wrapped(
        &mut self,
        name: &str,
        row: &Wrapper,
        args: &[Word],
        flow: Flow,
        streams: &mut Streams,
    ) -> bool {
        let Some(found) = opened(row, args) else { return false };
        let outer = self.assigned.len();
        let mut words: Vec<Word> = found.words.to_vec();
        if matches!(name, "env" | "sudo" | "doas" | "dotenv" | "dotenvx") {
            while let Some(pair) = words.first().and_then(is_assignment) {
                self.assigned.push(pair);
                words.remove(0);
            }
        }
        let flow = Flow { elsewhere: flow.elsewhere || row.elsewhere, ..flow.proven_if(row.same_end) };
        let (folder, instead) = (self.folder.clone(), self.instead.clone());
        if row.elsewhere {
            self.nowhere(&format!("the folder of `{name}`"));
        }
        let mut fits = true;
        match (row.inner, found.value(row.inner)) {
            // Without the option another row may fit: `runuser -u bob -- git push`.
            (Inner::Value(_), None) => fits = false,
            (_, Some(script)) => {
                let script = script.clone();
                self.aside(|walker| walker.reread(&script, flow));
            }
            (Inner::Script, None) if row.more => {
                if let Some(end) = words.iter().position(|word| word.start().starts_with(":::")) {
                    words.truncate(end);
                }
                words.push(Word::unknown("standard input of `parallel`"));
                self.inner(words, flow, streams);
            }
            (Inner::Script, None) => self.aside(|walker| walker.evaluate(&words, flow)),
            (Inner::First, None) => {
                for script in words.iter().filter(|word| !word.start().starts_with('-')) {
                    self.aside(|walker| walker.reread(script, flow.proven_if(false)));
                }
            }
            (Inner::Words | Inner::ValueOrWords(_), None) => {
                self.run_words(name, row, found, words, flow, streams)
            }
        }
        (self.folder, self.instead) = (folder, instead);
        self.assigned.truncate(outer);
        fits
    }

    /// Files that the program emitted last reads besides.
    fn reads_also(&mut self, files: &[Word]) {
        let scene = Scene::of_files(&self.folder, &self.instead, self.root);
        let mut effects = Effects::default();
        files.iter().for_each(|file| scene::add(Act::Reads, false, file, &scene, &mut effects));
        if let Some(call) = self.line.calls.last_mut() {
            call.touches.extend(effects.touches);
            call.mentions.extend(effects.mentions);
        }
    }

    pub fn run_words(
        &mut self,
        name: &str,
        row: &Wrapper,
        found: Opened<'_>,
        mut words: Vec<Word>,
        flow: Flow,
        streams: &mut Streams,
    ) {
        if let Some(text) = found.option("-S --split-string").filter(|_| name == "env") {
            let text = text.to_string();
            let rest: String = words.iter().map(|word| format!(" {word}")).collect();
            return self.script(&format!("{text}{rest}"), flow);
        }
        if matches!(name, "env" | "sudo")
            && let Some(folder) = found.option("-C --chdir -D")
        {
            self.go(std::slice::from_ref(folder));
        }
        if let Some(entry) = found.entrypoint() {
            words.insert(0, entry);
        }
        let files: Vec<Word> = match name {
            "xargs" | "gxargs" => found.option("-a --arg-file").cloned().into_iter().collect(),
            "dotenv" | "dotenvx" => {
                vec![found.option("-f -e --env-file").cloned().unwrap_or_else(|| Word::text(".env"))]
            }
            _ => Vec::new(),
        };
        self.reads_also(&files);
        if words.is_empty() {
            if name == "env" {
                let mut all = Word::text(super::path::ENVIRONMENT);
                all.append(&Word::pattern("*"));
                self.reads_also(&[all]);
            }
            return;
        }
        if matches!(name, "command") && (found.has('v') || found.has('V')) {
            return;
        }
        if name == "sudo" && (found.has('e') || found.has('l')) {
            return;
        }
        if row.more {
            // The words may be given to several starts.
            let splits =
                ["-n", "--max-args", "-L", "-l", "--max-lines", "-d", "--delimiter", "-0", "--null", "-s"]
                    .iter()
                    .any(|name| found.options.iter().any(|(given, _)| given == name));
            let place = found.option("-I --replace").and_then(Word::known).map(str::to_owned);
            match (place, &streams.input) {
                (Some(place), _) => {
                    words = words
                        .iter()
                        .map(|word| match word.known() {
                            Some(text) if text.contains(&place) && !place.is_empty() => filled(text, &place),
                            _ => word.clone(),
                        })
                        .collect()
                }
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
        if matches!(name, "npx" | "bunx" | "pnpx" | "uvx" | "pipx" | "npm" | "pnpm" | "yarn" | "bun")
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
            // It goes on beside; and after a redirection `!` is a word like others, and negates all the same.
            "coproc" | "!" => self.command(words, flow.proven_if(false), streams),
            _ => self.inner(words, flow, streams),
        }
    }
}

/// `NAME=VALUE`.
fn is_assignment(word: &Word) -> Option<(String, Word)> {
    let (name, value) = word.split_once('=')?;
    let name = name.known()?;
    let fits = name.chars().next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric());
    fits.then(|| (name.to_owned(), value))
}

/// A text in which a mark stands for something that is not known.
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

/// The words of a wrapper.
pub struct Opened<'w> {
    words: &'w [Word],
    options: Vec<(String, Option<Cow<'w, Word>>)>,
}

impl<'w> Opened<'w> {
    fn option(&self, names: &str) -> Option<&Word> {
        let named = self.options.iter().find(|(name, _)| names.split(' ').any(|wanted| wanted == name));
        named.and_then(|(_, value)| value.as_deref())
    }

    /// The program of a container, `--entrypoint sh` or `--entrypoint=sh`.
    fn entrypoint(&self) -> Option<Word> {
        let given = self.options.iter().find(|(name, _)| name == "--entrypoint")?;
        given.1.as_deref().cloned()
    }

    fn has(&self, letter: char) -> bool {
        self.options.iter().any(|(name, _)| !name.starts_with("--") && name.contains(letter))
    }

    fn value(&self, inner: Inner) -> Option<&Word> {
        match inner {
            Inner::Value(names) | Inner::ValueOrWords(names) => self.option(names),
            _ => None,
        }
    }
}

/// The program that a wrapper runs: what is left after its options, its subcommand and its own operands.
fn opened<'w>(row: &Wrapper, args: &'w [Word]) -> Option<Opened<'w>> {
    let mut subs: Vec<std::iter::Peekable<std::str::Split<'_, char>>> =
        row.sub.split('|').filter(|sub| !sub.is_empty()).map(|sub| sub.split(' ').peekable()).collect();
    let optional = row.sub.is_empty() || row.sub.ends_with('|');
    let mut open = !subs.is_empty();
    let mut skip = row.skip;
    let mut options = Vec::new();
    let mut at = 0;
    let valued = |name: &str| row.takes.split([' ', '=']).any(|taken| taken == name);
    while let Some(word) = args.get(at) {
        let start = word.start();
        let text = word.known();
        // With a program of its own, everything after the image is an argument of that.
        if !open
            && skip == 0
            && options.iter().any(|(name, _): &(String, Option<Cow<'_, Word>>)| name == "--entrypoint")
        {
            break;
        }
        if text == Some("--") {
            // What comes after it is the program, if its own operands are before it.
            at += 1;
            if !open && skip > 0 && row.elsewhere {
                skip = 0;
            }
            if !open && skip == 0 {
                break;
            }
            continue;
        }
        if start.starts_with('-') && start.len() > 1 {
            let (name, joined) = match (start.starts_with("--"), start.split_once('=')) {
                (true, Some((name, _))) => (name.to_owned(), true),
                _ => (start.to_owned(), false),
            };
            let mut value = None;
            if joined {
                options.push((name, word.split_once('=').map(|(_, value)| Cow::Owned(value))));
            } else if name.starts_with("--") || valued(&name) || name.len() == 2 {
                if valued(&name) {
                    at += 1;
                    value = args.get(at).map(Cow::Borrowed);
                }
                options.push((name, value));
            } else {
                // The first letter with a value takes the rest, or the next word.
                let place = name.char_indices().skip(1).find(|(_, letter)| valued(&format!("-{letter}")));
                if let Some((place, letter)) = place {
                    let end = place + letter.len_utf8();
                    let value = if end == name.len() {
                        at += 1;
                        args.get(at).map(Cow::Borrowed)
                    } else {
                        Some(Cow::Owned(word.after(end)))
                    };
                    options.push((format!("-{letter}"), value));
                }
                options.push((name, None));
            }
            at += 1;
            continue;
        }
        if open {
            let mut complete = false;
            subs.retain_mut(|sub| {
                let fits = sub.next() == text && text.is_some();
                complete |= fits && sub.peek().is_none();
                fits
            });
            if subs.is_empty() {
                if !optional {
                    return None;
                }
                open = false;
                continue;
            }
            open = !complete;
            at += 1;
        } else if skip > 0 || matches!(row.inner, Inner::Value(_)) {
            skip = skip.saturating_sub(1);
            at += 1;
        } else {
            break;
        }
    }
    (!open || optional).then(|| Opened { words: args.get(at..).unwrap_or_default(), options })
}
