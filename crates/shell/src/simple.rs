//! Simple commands: redirections, assignments, words; calls of functions.

use std::borrow::Cow;

use brush_parser::ast::{
    AssignmentValue, CommandPrefixOrSuffixItem as Item, FunctionBody, IoFileRedirectKind as Kind,
    IoFileRedirectTarget as Target, IoRedirect, SimpleCommand,
};

use super::call::Act;
use super::constants::{Exported, is_name};
use super::guard;
use super::walker::{Flow, Input, Streams, Walker};
use super::word::Word;

impl Walker<'_> {
    pub fn redirects<'r>(
        &mut self,
        redirects: impl IntoIterator<Item = &'r IoRedirect>,
        flow: Flow,
        streams: &mut Streams,
    ) {
        for redirect in redirects {
            match redirect {
                IoRedirect::File(number, kind, Target::Filename(word)) => {
                    let acts: &[Act] = match kind {
                        Kind::Read => &[Act::Reads],
                        Kind::ReadAndWrite => &[Act::Reads, Act::Writes],
                        Kind::Write | Kind::Append | Kind::Clobber => &[Act::Writes],
                        Kind::DuplicateInput | Kind::DuplicateOutput => &[],
                    };
                    for word in self.words(&word.value, flow) {
                        streams.effects.extend(acts.iter().map(|act| (*act, word.clone())));
                    }
                    if feeds(*number) && matches!(kind, Kind::Read | Kind::ReadAndWrite) {
                        streams.input = Input::File;
                    }
                }
                IoRedirect::File(number, kind, Target::Duplicate(word)) => {
                    // `>&FILE` writes; `>&2`, `>&-` and `>&$FD` do not.
                    for word in self.words(&word.value, flow) {
                        let is_number = word.known().is_some_and(|text| {
                            text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit())
                        });
                        if !is_number && matches!(kind, Kind::DuplicateOutput) && word.unclear().is_none() {
                            streams.effects.push((Act::Writes, word));
                        } else if is_input(*number, kind) {
                            // The file of an open descriptor is not followed.
                            match word.known() {
                                Some("0") => {}
                                Some("-") => streams.input = Input::Nothing,
                                _ => streams.input = Input::Unknown,
                            }
                        }
                    }
                }
                IoRedirect::File(number, kind, Target::Fd(from)) => {
                    if is_input(*number, kind) && *from != 0 {
                        streams.input = Input::Unknown;
                    }
                }
                IoRedirect::File(number, kind, Target::ProcessSubstitution(_, shell)) => {
                    self.aside(|walker| walker.list(&shell.list, flow.proven_if(false)));
                    if feeds(*number) && matches!(kind, Kind::Read | Kind::ReadAndWrite) {
                        streams.input = Input::Unknown;
                    }
                }
                IoRedirect::HereDocument(number, document) => {
                    let end = &document.here_end.value;
                    if guard::is_unclear_end(end) {
                        self.aside(|walker| walker.lost("where a here-document ends", end, flow));
                    }
                    let text = if document.requires_expansion {
                        self.quoted(&joined(&document.doc.value), flow)
                    } else {
                        Word::text(document.doc.value.clone())
                    };
                    if feeds(*number) {
                        let text = text.known().map(str::to_owned);
                        streams.input = text.map_or(Input::Unknown, Input::Text);
                    }
                }
                IoRedirect::HereString(number, word) => {
                    let words = self.words(&word.value, flow);
                    if feeds(*number) {
                        let text = words.first().and_then(Word::known).map(str::to_owned);
                        streams.input = text.map_or(Input::Unknown, Input::Text);
                    }
                }
                IoRedirect::OutputAndError(word, _) => {
                    for word in self.words(&word.value, flow) {
                        streams.effects.push((Act::Writes, word));
                    }
                }
            }
        }
    }

    pub fn simple(&mut self, simple: &SimpleCommand, flow: Flow, streams: &mut Streams) {
        let outer = self.assigned.len();
        let mut words = Vec::new();
        let before = self.constants.clone();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, true, flow, streams, &mut words);
        }
        // The command's own words do not see variables set for it.
        let own: Vec<String> = match simple.word_or_name {
            Some(_) => self.assigned.iter().skip(outer).map(|(name, _)| name.clone()).collect(),
            None => Vec::new(),
        };
        let given = (!own.is_empty()).then(|| self.constants.clone());
        self.constants.restore(&own, &before);
        let suffix = simple.suffix.as_ref().map(|suffix| suffix.0.as_slice()).unwrap_or_default();
        if let Some(word) = &simple.word_or_name {
            if is_descriptor(&word.value) && matches!(suffix.first(), Some(Item::IoRedirect(_))) {
                self.constants.lose(word.value.trim_matches(['{', '}']));
            } else {
                words.extend(self.words(&word.value, flow));
            }
        }
        for (at, item) in suffix.iter().enumerate() {
            match item {
                // It belongs to the redirection, if there is no blank between them.
                Item::Word(word)
                    if is_descriptor(&word.value)
                        && matches!(suffix.get(at + 1), Some(Item::IoRedirect(_))) =>
                {
                    if !words.is_empty() {
                        words.push(Word::unknown_words(word.value.clone()));
                    }
                    self.constants.lose(word.value.trim_matches(['{', '}']));
                }
                item => {
                    let before = at.checked_sub(1).and_then(|at| suffix.get(at));
                    let input = streams.input.clone();
                    self.item(item, false, flow, streams, &mut words);
                    // `{fd}<FILE` feeds another descriptor, `{fd} <FILE` the command.
                    let named = matches!(before, Some(Item::Word(word)) if is_descriptor(&word.value));
                    if named && streams.input != input {
                        streams.input = Input::Unknown;
                    }
                }
            }
        }
        // In loops and functions, long commands cost as much as several.
        self.steps(words.len() / 8, "functions and loops within each other", flow);
        if words.is_empty() {
            self.streams_only(streams, flow);
            let set: Vec<(String, Word)> = self.assigned.get(outer..).unwrap_or_default().to_vec();
            self.set_variables(set);
        } else {
            if streams.input == Input::Nothing {
                streams.input = self.stdin.clone();
            }
            let before = self.constants.clone();
            if let Some(given) = given {
                self.constants.restore(&own, &given);
                own.iter().for_each(|name| self.constants.export(name, Exported::Yes));
            }
            self.command(words, flow, streams);
            self.constants.restore(&own, &before);
        }
        self.assigned.truncate(outer);
        self.assigned.append(&mut self.exported);
    }

    pub fn item(
        &mut self,
        item: &Item,
        before: bool,
        flow: Flow,
        streams: &mut Streams,
        words: &mut Vec<Word>,
    ) {
        match item {
            Item::IoRedirect(redirect) => self.redirects([redirect], flow, streams),
            Item::Word(word) => words.extend(self.words(&word.value, flow)),
            Item::AssignmentWord(assignment, word) => {
                let value = match &assignment.value {
                    AssignmentValue::Scalar(value) => {
                        let whole = self.assigned_value(&value.value, flow);
                        // After a command, braces make several words of it.
                        let braces = !before && value.value.contains('{') && value.value.contains([',', '.']);
                        if braces { Word::unknown(value.value.clone()) } else { whole }
                    }
                    AssignmentValue::Array(values) => {
                        for (key, value) in values {
                            for word in key.iter().chain([value]) {
                                self.words(&word.value, flow);
                            }
                        }
                        Word::unknown(word.value.clone())
                    }
                };
                let name = assignment.name.to_string();
                // An index is read as arithmetic, with its substitutions.
                if name.contains(['$', '`']) {
                    self.quoted(&name, flow);
                }
                self.variable(&name, &value, flow);
                let whole = match assignment.append {
                    true => self.appended(&name, &value),
                    false => value.clone(),
                };
                if before {
                    self.assign(assignment, &value);
                    self.assigned.push((name, whole));
                } else {
                    let mut word = Word::text(format!("{name}="));
                    word.append(&whole);
                    words.push(Word { many: false, ..word });
                }
            }
            Item::ProcessSubstitution(_, shell) => {
                self.aside(|walker| walker.list(&shell.list, flow.proven_if(false)));
                words.push(Word::text("/dev/fd/63"));
            }
        }
    }

    /// The value of a variable after `NAME+=VALUE`.
    fn appended(&self, name: &str, value: &Word) -> Word {
        let own = self.constants.get(name).flatten().cloned();
        let mut whole = own.unwrap_or_else(|| Word::unknown(format!("${name}")));
        whole.append(value);
        whole
    }

    /// The bodies of a function, and whether the name could also be something else.
    pub fn function(&mut self, name: &str, flow: Flow, input: &Input) -> Option<bool> {
        let bodies = self.functions.get(name).filter(|bodies| !bodies.is_empty())?.clone();
        if self.calling >= guard::SCRIPTS {
            self.lost("functions that call each other", name, flow);
            return Some(false);
        }
        self.calling += 1;
        let constants = self.constants.clone();
        let (before, returned) = ((self.folder.clone(), self.instead.clone()), self.returned);
        let mut moved = false;
        let unsure = self.unsure.contains(name) || bodies.len() > 1;
        let flow = Flow { branch: flow.branch || unsure, ..flow.proven_if(!unsure) };
        for body in bodies {
            // One of them runs, not one after the other.
            if unsure {
                (self.folder, self.instead) = before.clone();
            }
            let mut streams = Streams { input: input.clone(), ..Streams::default() };
            let FunctionBody(compound, redirects) = body.as_ref();
            self.redirects(redirects.iter().flat_map(|list| &list.0), flow, &mut streams);
            self.streams_only(&mut streams, flow);
            self.fed(&streams.input, |walker| walker.compound(compound, flow));
            moved |= (&self.folder, &self.instead) != (&before.0, &before.1);
        }
        self.calling -= 1;
        self.constants.meet(&constants);
        self.returned = returned;
        if unsure && moved {
            self.nowhere(&format!("the folder after `{name}`"));
        }
        Some(self.unsure.contains(name))
    }

    /// `unset -f`: from now on the name may be a program again.
    pub fn forget(&mut self, names: &[Word]) {
        for name in names {
            match name.known() {
                Some(name) => drop(self.unsure.insert(name.to_owned())),
                None => self.unsure.extend(self.functions.keys().cloned()),
            }
        }
    }
}

/// The lines of a document as bash reads them: a line break after a backslash is taken away before anything else is looked at,
/// also within quotes of a substitution.
fn joined(text: &str) -> Cow<'_, str> {
    if !text.contains("\\\n") {
        return Cow::Borrowed(text);
    }
    let mut lines = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let next = (letter == '\\').then(|| letters.next()).flatten();
        if next != Some('\n') {
            lines.push(letter);
            lines.extend(next);
        }
    }
    Cow::Owned(lines)
}

/// Whether a redirection of this descriptor is one of standard input.
fn feeds(number: Option<i32>) -> bool {
    number.is_none_or(|number| number == 0)
}

/// Whether a descriptor is copied to standard input: `<&3`, `0>&3`.
fn is_input(number: Option<i32>, kind: &Kind) -> bool {
    match kind {
        Kind::DuplicateInput => feeds(number),
        _ => number == Some(0),
    }
}

/// `{fd}` of `{fd}> file`, which the parser takes for a word.
fn is_descriptor(word: &str) -> bool {
    word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(is_name)
}
