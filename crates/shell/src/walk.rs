//! From the parser's tree to small calls, in the order in which they run.

use std::fmt::Display;
use std::sync::Arc;

use brush_parser::ast::{
    AndOr, AndOrList, BinaryPredicate as Binary, Command, CompoundCommand, CompoundList, CompoundListItem,
    ExtendedTestExpr, ForClauseCommand, Pipeline, SeparatorOperator, SourceLocation, UnaryPredicate as Unary,
};
use brush_parser::{parse_tokens, uncached_tokenize_str};

use super::bail::{as_choice, bails, is_exit, may_go_on};
use super::call::Line;
use super::expand::Expanding;
use super::guard;
use super::path::Root;
use super::prints::printed;
use super::walker::{Flow, Input, OPTIONS, Streams, Walker};
use super::word::{Piece, Word};

/// The effects of a command line that runs in the root's folder.
pub fn read(text: &str, root: &Root) -> Line {
    read_in(text, None, root)
}

/// The same in another folder, relative to the root's.
pub fn read_in(text: &str, folder: Option<&Word>, root: &Root) -> Line {
    let mut walker = Walker::new(root);
    walker.folder = folder.cloned().unwrap_or(walker.folder);
    walker.left += text.len();
    walker.script(text, Flow { proven: true, ..Flow::default() });
    walker.end()
}

/// The same for words without a shell, a program with its arguments, made in this folder.
pub fn read_words(words: &[String], folder: Option<&Word>, root: &Root) -> Line {
    let mut walker = Walker::new(root);
    walker.folder = folder.cloned().unwrap_or(walker.folder);
    let words = words.iter().map(Word::text).collect();
    walker.command(words, Flow { proven: true, ..Flow::default() }, &mut Streams::default());
    walker.end()
}

impl Walker<'_> {
    fn end(mut self) -> Line {
        if self.overruled {
            for call in &mut self.line.calls {
                (call.proven, call.proof) = (false, usize::MAX);
                call.after.clear();
            }
        }
        self.line
    }

    /// Reads a script.
    pub fn script(&mut self, text: &str, flow: Flow) {
        if text.trim().is_empty() {
            return;
        }
        if flow.depth > guard::SCRIPTS {
            return self.lost("scripts within scripts", text, flow);
        }
        if let Some(why) = guard::before_tokens(text) {
            return self.lost(why, text, flow);
        }
        self.moves |= flow.depth == 0 && guard::may_move(text);
        // At the end of a text without a final line break, the parser searches for an empty end of a here-document
        // forever.
        let mut whole = text.to_owned();
        if !text.ends_with('\\') {
            whole.push('\n');
        }
        let tokens = match guard::parsed(|| uncached_tokenize_str(&whole, &OPTIONS.tokenizer_options())) {
            Some(Ok(tokens)) => guard::apart(tokens),
            Some(Err(error)) => return self.lost(&error.to_string(), text, flow),
            None => return self.lost(guard::PANICKED, text, flow),
        };
        if let Some(why) = guard::before_tree(&tokens) {
            return self.lost(why, text, flow);
        }
        let program = match guard::parsed(|| parse_tokens(&tokens, &OPTIONS)) {
            Some(Ok(program)) => program,
            Some(Err(error)) => return self.lost(&error.to_string(), text, flow),
            None => return self.lost(guard::PANICKED, text, flow),
        };
        let top = flow.depth == 0;
        let flow = Flow { depth: flow.depth + 1, ..flow };
        let items: Vec<&CompoundListItem> =
            program.complete_commands.iter().flat_map(|list| &list.0).collect();
        self.items(&items, flow, top);
    }

    pub fn items(&mut self, items: &[&CompoundListItem], flow: Flow, top: bool) {
        let known = self.known.len();
        let flow = Flow { failed: false, ..flow };
        for (at, item) in items.iter().enumerate() {
            let CompoundListItem(list, separator) = item;
            if top && let Some(span) = list.location() {
                self.at = span.start.index..span.end.index;
            }
            let list = as_choice(list);
            let list = list.as_ref();
            let background = matches!(separator, SeparatorOperator::Async);
            let last = at + 1 == items.len();
            let stops =
                self.errexit && !flow.tested && list.additional.is_empty() && !may_go_on(&list.first.seq);
            let exits = !background && (stops || bails(list));
            let from = self.line.calls.len();
            let flow = Flow {
                background: flow.background || background,
                ..flow.proven_if(!background && (last || exits))
            };
            if background {
                self.aside(|walker| walker.and_or(list, flow));
            } else {
                self.and_or(list, flow);
            }
            if exits {
                self.learn(from, flow.level + 1);
            }
        }
        self.known.truncate(known);
    }

    pub fn list(&mut self, list: &CompoundList, flow: Flow) {
        let items: Vec<&CompoundListItem> = list.0.iter().collect();
        self.items(&items, flow, false);
    }

    pub fn and_or(&mut self, list: &AndOrList, flow: Flow) {
        let is_or = |next: &AndOr| matches!(next, AndOr::Or(_));
        // After `a || exit 1`, `a` has succeeded.
        let last_or = list.additional.iter().rposition(is_or).filter(|_| !bails(list));
        let level = flow.level + 1;
        // The success of a pipeline is that of the list if nothing else can bring it about.
        let part = |decides: bool, last: bool| {
            let (proven, proof) = if decides { (flow.proven, flow.proof) } else { (false, level) };
            Flow { proven, proof, level, tested: flow.tested || !last, ..flow }
        };
        let (known, start) = (self.known.len(), self.line.calls.len());
        let mut from = start;
        self.pipeline(&list.first, part(last_or.is_none(), list.additional.is_empty()));
        let first = self.folder.clone();
        let set = self.constants.clone();
        let mut elsewhere = Vec::new();
        for (at, next) in list.additional.iter().enumerate() {
            let part = part(last_or.is_none_or(|last| at > last), at + 1 == list.additional.len());
            let part = Flow { branch: true, ..part };
            let before = self.folder.clone();
            let known_before = self.constants.clone();
            // The folders if the `cd` directly before has failed.
            let failed = self.failed_now();
            match next {
                AndOr::And(pipeline) => {
                    self.instead.retain(|folder| !failed.contains(folder));
                    elsewhere.extend(failed);
                    self.learn(from, level);
                    from = self.line.calls.len();
                    self.pipeline(pipeline, part);
                }
                AndOr::Or(pipeline) => {
                    self.known.truncate(known);
                    // It runs after whichever part failed.
                    self.meet(first.clone(), "||");
                    self.constants.meet(&set);
                    let mut part = Flow { failed: true, ..part };
                    if bails(list) {
                        // Where it runs, the shell ends with an error.
                        (part.proven, part.proof) = (false, usize::MAX);
                    }
                    let ended = (self.exited, self.returned);
                    self.pipeline(pipeline, part);
                    if (self.exited, self.returned) != ended {
                        // A call before it may end the shell first: `a || { b || exit 0; exit 1; }`.
                        for call in self.line.calls.iter_mut().skip(start) {
                            (call.proven, call.proof) = (false, usize::MAX);
                        }
                    }
                    from = self.line.calls.len();
                    if is_exit(pipeline) {
                        self.instead.retain(|folder| !failed.contains(folder));
                    }
                    self.meet(before, "||");
                    // After `a || exit 1`, nothing of the second part has happened.
                    match bails(list) {
                        true => self.constants = known_before,
                        false => self.constants.meet(&known_before),
                    }
                }
            }
        }
        self.known.truncate(known);
        // The rest of the line also runs where a part of the list did not.
        self.meet(first, "&&");
        if !bails(list) {
            self.constants.meet(&set);
        }
        if !self.folder.is_open() {
            self.perhaps_in(elsewhere);
        }
    }

    pub fn pipeline(&mut self, pipeline: &Pipeline, flow: Flow) {
        self.pipeline += 1;
        let alone = pipeline.seq.len() == 1;
        // Its end shows nothing: its commands may still be running.
        let goes_on = pipeline.seq.iter().any(is_coprocess);
        let mut input = Input::Nothing;
        for (at, command) in pipeline.seq.iter().enumerate() {
            let last = at + 1 == pipeline.seq.len();
            let flow = Flow { tested: flow.tested || pipeline.bang, ..flow };
            let flow = flow.proven_if(!pipeline.bang && !goes_on && (last || self.pipefail));
            let number = self.pipeline;
            let mut streams = Streams { input, ..Streams::default() };
            if alone || last && self.lastpipe {
                let (before, set) = (self.folder.clone(), self.constants.clone());
                self.run(command, flow, &mut streams);
                if !alone {
                    self.meet(before, "lastpipe");
                    self.constants.meet(&set);
                }
            } else {
                self.aside(|walker| walker.run(command, flow, &mut streams));
            }
            self.pipeline = number.max(self.pipeline);
            if pipeline.bang {
                self.failed = None;
            }
            let expanding = Expanding { own: false, ..self.expanding(false) };
            input = if last { Input::Nothing } else { printed(command, expanding) };
        }
    }

    pub fn run(&mut self, command: &Command, flow: Flow, streams: &mut Streams) {
        if !self.step(flow) {
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple, flow, streams),
            Command::Compound(compound, redirects) => {
                self.redirects(redirects.iter().flat_map(|list| &list.0), flow, streams);
                self.streams_only(streams, flow);
                self.fed(&streams.input, |walker| walker.compound(compound, flow));
            }
            Command::Function(definition) => {
                let name = definition.fname.value.clone();
                let bodies = self.functions.entry(name.clone()).or_default();
                if !flow.branch {
                    bodies.clear();
                    self.unsure.remove(&name);
                } else if bodies.is_empty() {
                    self.unsure.insert(name);
                }
                bodies.push(Arc::new(definition.body.clone()));
                self.defined += 1;
                // Bash calls it for whatever it does not find, and takes its success for that of the program.
                if definition.fname.value == "command_not_found_handle" {
                    self.overruled = true;
                    self.function("command_not_found_handle", flow.proven_if(false), &Input::Unknown);
                }
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.iter().flat_map(|list| &list.0), flow, streams);
                self.test(&test.expr, flow);
                self.streams_only(streams, flow);
            }
        }
    }

    pub fn test(&mut self, test: &ExtendedTestExpr, flow: Flow) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left, flow);
                self.test(right, flow);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner, flow),
            ExtendedTestExpr::UnaryTest(test, word) => {
                let words = self.words(&word.value, flow);
                if matches!(test, Unary::ShellVariableIsSetAndAssigned | Unary::ShellVariableIsSetAndNameRef)
                {
                    words.iter().for_each(|word| self.subscript(word, flow));
                }
            }
            ExtendedTestExpr::BinaryTest(test, left, right) => {
                for word in [left, right] {
                    let words = self.words(&word.value, flow);
                    if matches!(
                        test,
                        Binary::ArithmeticEqualTo
                            | Binary::ArithmeticNotEqualTo
                            | Binary::ArithmeticLessThan
                            | Binary::ArithmeticLessThanOrEqualTo
                            | Binary::ArithmeticGreaterThan
                            | Binary::ArithmeticGreaterThanOrEqualTo
                    ) {
                        words.iter().for_each(|word| {
                            self.subscript(word, flow);
                            self.constants.arithmetic(&word.to_string());
                        });
                    }
                }
            }
        }
    }

    pub fn compound(&mut self, compound: &CompoundCommand, flow: Flow) {
        let inside = Flow { branch: true, ..flow.proven_if(false) };
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, flow),
            CompoundCommand::Subshell(shell) => self.aside(|walker| walker.list(&shell.list, flow)),
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr.value, flow),
            CompoundCommand::ArithmeticForClause(looped) => {
                for expression in
                    [&looped.initializer, &looped.condition, &looped.updater].into_iter().flatten()
                {
                    self.arithmetic(&expression.value, inside);
                }
                self.repeat("for", looped, |walker| walker.list(&looped.body.list, inside));
            }
            CompoundCommand::ForClause(looped) => {
                let values = looped.values.iter().flatten();
                let values: Vec<Word> = values.flat_map(|word| self.words(&word.value, inside)).collect();
                let turns = turns(values, looped);
                self.repeat("for", looped, |walker| {
                    for value in &turns {
                        walker.constants.set(&looped.variable_name, value.clone(), None);
                        walker.list(&looped.body.list, inside);
                    }
                });
            }
            CompoundCommand::CaseClause(case) => {
                self.words(&case.value.value, inside);
                let (before, set) = (self.folder.clone(), self.constants.clone());
                for item in &case.cases {
                    for pattern in &item.patterns {
                        self.words(&pattern.value, inside);
                    }
                    if let Some(list) = &item.cmd {
                        self.list(list, inside);
                    }
                    self.meet(before.clone(), "case");
                    self.constants.meet(&set);
                }
            }
            CompoundCommand::IfClause(choice) => {
                let (known, from, level) = (self.known.len(), self.line.calls.len(), flow.level + 1);
                let asked = Flow { branch: flow.branch, tested: true, level, proof: level, ..inside };
                self.list(&choice.condition, asked);
                let (before, set) = (self.folder.clone(), self.constants.clone());
                // Other folders are possible only if the condition failed.
                let instead = self.instead.clone();
                let failed = self.failed_now();
                self.instead.retain(|folder| !failed.contains(folder));
                self.learn(from, level);
                self.list(&choice.then, inside);
                self.known.truncate(known);
                if !self.folder.is_open() {
                    self.perhaps_in(instead);
                }
                self.meet(before.clone(), "if");
                self.constants.meet(&set);
                for other in choice.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition, Flow { tested: true, ..inside });
                    }
                    self.list(&other.body, inside);
                    self.meet(before.clone(), "if");
                    self.constants.meet(&set);
                }
            }
            CompoundCommand::WhileClause(looped) | CompoundCommand::UntilClause(looped) => {
                self.repeat("while", looped, |walker| {
                    walker.list(&looped.0, Flow { tested: true, ..inside });
                    walker.list(&looped.1.list, inside);
                });
            }
            CompoundCommand::Coprocess(process) => {
                let beside = Flow { background: true, ..inside.proven_if(false) };
                self.aside(|walker| walker.run(&process.body, beside, &mut Streams::default()));
                process.name.iter().for_each(|name| self.constants.lose(&name.value));
            }
        }
    }

    /// Runs commands that share an input: which of them reads it is unknown.
    pub fn fed(&mut self, input: &Input, inner: impl FnOnce(&mut Self)) {
        let feeds = match input {
            Input::Nothing => self.stdin.clone(),
            Input::File => Input::File,
            Input::Text(_) | Input::Names(_) | Input::Unknown => Input::Unknown,
        };
        let kept = std::mem::replace(&mut self.stdin, feeds);
        inner(self);
        self.stdin = kept;
    }

    /// A loop's body; read twice if it defines functions or changes its folder, for its beginning then runs with them.
    pub fn repeat(&mut self, why: &str, text: &dyn Display, mut body: impl FnMut(&mut Self)) {
        let (before, defined) = (self.folder.clone(), self.defined);
        let outer = self.looped;
        self.loops += 1;
        self.looped = if outer == 0 { self.loops } else { outer };
        let from = self.line.calls.len();
        self.constants.hide(&|| text.to_string());
        let set = self.constants.clone();
        body(self);
        let moved = self.folder != before;
        self.meet(before.clone(), why);
        let lost = self.constants.has_lost(&set);
        self.constants.meet(&set);
        if moved || lost || self.defined != defined {
            body(self);
            self.meet(before, why);
            self.constants.meet(&set);
        }
        self.set_again(from, &set);
        self.looped = outer;
    }
}

/// The most values of a loop that are followed.
const TURNS: usize = 4;

/// The values that a loop gives its variable, one by one; `None`: an unknown one. For `*`, each is a name.
fn turns(values: Vec<Word>, looped: &ForClauseCommand) -> Vec<Option<Word>> {
    let is_known = |word: &Word| !word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_)));
    let follows = (1..=TURNS).contains(&values.len()) && values.iter().all(is_known);
    let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    let body = looped.body.list.to_string();
    if !follows || !body.split(|letter| !is_letter(letter)).any(|name| name == looped.variable_name) {
        return vec![None];
    }
    values.into_iter().map(|word| Some(Word { many: false, ..word })).collect()
}

/// Whether a command runs in parallel with those that follow.
fn is_coprocess(command: &Command) -> bool {
    match command {
        Command::Compound(CompoundCommand::Coprocess(_), _) => true,
        Command::Simple(simple) => simple.word_or_name.as_ref().is_some_and(|name| name.value == "coproc"),
        _ => false,
    }
}
