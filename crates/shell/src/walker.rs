//! The state of a walk over a command line, and what all its parts share: adding calls, reading words.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use brush_parser::ParserOptions;
use brush_parser::ast::FunctionBody;

use super::call::{Act, Extent, Line, SmallCall};
use super::constants::Constants;
use super::expand::{Expanding, Expansion, expand, expand_quoted};
use super::guard;
use super::host;
use super::idle::is_idle;
use super::path::Root;
use super::scene::{self, Effects, Scene};
use super::word::Word;

/// The shell that the parser expects.
pub static OPTIONS: LazyLock<ParserOptions> = LazyLock::new(ParserOptions::default);

/// Standard input, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    #[default]
    Nothing,
    /// This text.
    Text(String),
    /// Names of files.
    Names(Vec<Word>),
    /// A file.
    File,
    /// The output of another program.
    Unknown,
}

/// Most folders in which a command may run instead of its own.
const FOLDERS: usize = 4;

/// The position of a command.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flow {
    /// Whether the success of the line is its own.
    pub proven: bool,
    /// The number of lists around it.
    pub level: usize,
    /// The outermost of them whose success is its own.
    pub proof: usize,
    /// Whether `set -e` has no effect here: something looks at how it ends.
    pub tested: bool,
    /// Whether it runs elsewhere.
    pub elsewhere: bool,
    /// The number of scripts around it.
    pub depth: usize,
    /// Whether it is certain to be reached, so that its definitions count.
    pub branch: bool,
    /// Whether the command directly before has failed.
    pub failed: bool,
    /// Whether it runs in the background of the commands after it.
    pub background: bool,
}

impl Flow {
    /// The same, if a condition must hold for the success around it to be its own.
    pub fn proven_if(self, holds: bool) -> Flow {
        if holds { self } else { Flow { proven: false, proof: self.level + 1, ..self } }
    }
}

/// Redirections of a command.
#[derive(Debug, Clone, Default)]
pub struct Streams {
    /// Its standard input.
    pub input: Input,
    /// Whether a function of the name is not what runs.
    pub program: bool,
    /// The effects of redirections.
    pub effects: EffectsOnly,
}

/// The effects of redirections alone.
pub type EffectsOnly = Vec<(Act, Word)>;

/// The state of a walk.
pub struct Walker<'w> {
    pub root: &'w Root,
    pub line: Line,
    pub folder: Word,
    /// The folders in which it is instead if a `cd` has failed; and those known when the latest `cd`, as this call, has
    /// succeeded.
    pub instead: Vec<Word>,
    pub failed: Option<(usize, Vec<Word>)>,
    /// Whether the line has a command that changes the folder.
    pub moves: bool,
    pub lastpipe: bool,
    pub assigned: Vec<(String, Word)>,
    /// Variables exported for the current command.
    pub exported: Vec<(String, Word)>,
    /// Variables of the shell itself with the values they may have, which programs see once they are exported; whether all are.
    pub own: BTreeMap<String, Vec<Word>>,
    pub exports_all: bool,
    /// The variables of the line.
    pub constants: Constants,
    /// The absolute path of the folder in which the session began.
    session: Option<Arc<str>>,
    /// The absolute path of the home folder, if it is known.
    home: Option<Arc<str>>,
    /// The folder that is written before the name of the program that is read.
    pub from: Option<Word>,
    /// Repositories that `git` knows by a name since this line.
    pub remotes: Vec<(String, Word)>,
    pub errexit: bool,
    pub pipefail: bool,
    pub aliases: HashSet<String>,
    pub stdin: Input,
    /// A word that decides whether the current part runs at all.
    pub doubt: Option<String>,
    /// Aliases that the line adds to programs' settings: the program, the alias, its definition.
    pub settings: Vec<(String, String, String)>,
    pub functions: HashMap<String, Vec<Arc<FunctionBody>>>,
    /// Definitions that may not have happened.
    pub unsure: HashSet<String>,
    pub calling: usize,
    pub pipeline: usize,
    pub at: Range<usize>,
    pub defined: usize,
    /// The outermost loop that the walk is in, and how many there were.
    pub looped: usize,
    pub loops: usize,
    /// Calls that are known to have succeeded wherever the walk is.
    pub known: Vec<usize>,
    /// Whether the shell may have ended before, without an error; and whether the function may have.
    pub exited: bool,
    pub returned: bool,
    /// Whether a trap decides how the line ends.
    pub overruled: bool,
    /// The number of commands that are still followed.
    pub left: usize,
}

impl<'w> Walker<'w> {
    /// A walk that begins in the root's folder.
    pub fn new(root: &'w Root) -> Walker<'w> {
        Walker {
            root,
            line: Line::default(),
            folder: root.here(),
            instead: Vec::new(),
            failed: None,
            moves: false,
            lastpipe: false,
            assigned: Vec::new(),
            exported: Vec::new(),
            own: BTreeMap::new(),
            exports_all: false,
            constants: Constants::default(),
            session: root.folder.as_deref().map(Arc::from),
            home: root.home.as_deref().map(Arc::from),
            from: None,
            remotes: Vec::new(),
            errexit: false,
            pipefail: false,
            aliases: HashSet::new(),
            stdin: Input::Nothing,
            doubt: None,
            settings: Vec::new(),
            functions: HashMap::new(),
            unsure: HashSet::new(),
            calling: 0,
            pipeline: 0,
            at: 0..0,
            defined: 0,
            looped: 0,
            loops: 0,
            known: Vec::new(),
            exited: false,
            returned: false,
            overruled: false,
            left: guard::STEPS,
        }
    }

    /// Whether one more command is followed. Functions that define functions, and loops in loops, would have no end.
    pub fn step(&mut self, flow: Flow) -> bool {
        self.steps(1, "functions and loops within each other", flow)
    }

    /// Whether something is followed that costs as much as this many commands.
    pub fn steps(&mut self, cost: usize, written: &str, flow: Flow) -> bool {
        let before = self.left;
        self.left = before.saturating_sub(cost).max(1);
        if self.left == 1 && before > 1 {
            self.lost("more commands than are followed", written, flow);
        }
        self.left > 1
    }

    /// Something that could not be followed: it could do anything.
    pub fn lost(&mut self, why: &str, written: &str, flow: Flow) {
        let mut shown: String = written.chars().take(60).collect();
        if shown.len() < written.len() {
            shown.push('…');
        }
        self.line.problem.get_or_insert_with(|| why.to_owned());
        self.anything(&shown, flow);
        // It could also end the shell.
        self.exited = true;
    }

    /// A call of which only a word is known.
    pub fn anything(&mut self, word: &str, flow: Flow) {
        let unknown = Word::unknown(word);
        self.emit(unknown, vec![Word::unknown_words(word)], Effects::default(), Some(word.to_owned()), flow);
    }

    /// Adds a call.
    pub fn emit(
        &mut self,
        program: Word,
        args: Vec<Word>,
        effects: Effects,
        unclear: Option<String>,
        flow: Flow,
    ) {
        if self.line.calls.len() > guard::CALLS {
            return;
        }
        let mut flow = flow.proven_if(!self.exited && !self.returned);
        let is_idle = |name: &str| self.root.facts.program(name).is_some_and(|row| is_idle(row, &args));
        if program.known().is_some_and(is_idle) {
            // It exits successfully without doing its job.
            flow = Flow { proven: false, proof: usize::MAX, ..flow };
        }
        let full = self.line.calls.len() == guard::CALLS;
        let full = full.then(|| "more than 1,000 commands".to_owned());
        if let Some(why) = &full {
            self.line.problem.get_or_insert_with(|| why.clone());
        }
        let env = self.constants.environment();
        if let Some(word) = &unclear {
            self.constants.forget(word);
        }
        self.line.calls.push(SmallCall {
            program: if let Some(why) = &full { Word::unknown(why.clone()) } else { program },
            from: self.from.take(),
            args,
            env,
            folder: self.folder.clone(),
            session: self.session.clone(),
            home: self.home.clone(),
            instead: self.instead.clone(),
            touches: effects.touches,
            mentions: effects.mentions,
            reaches: effects.reaches,
            unclear: full.or(unclear),
            doubt: self.doubt.clone(),
            opaque: effects.opaque,
            elsewhere: flow.elsewhere,
            proven: flow.proven,
            proof: flow.proof,
            after: self.known.clone(),
            pipeline: self.pipeline,
            looped: self.looped,
            background: flow.background,
            folds: self.root.folds(),
            at: self.at.clone(),
        });
    }

    /// From here on, the calls of a list from this number on are known to have succeeded, as far as its success shows.
    pub fn learn(&mut self, from: usize, level: usize) {
        let calls = self.line.calls.iter().enumerate().skip(from);
        self.known.extend(calls.filter(|(_, call)| call.proof <= level).map(|(number, _)| number));
    }

    /// After a branch, a folder that it changed is not known.
    pub fn meet(&mut self, before: Word, why: &str) {
        if self.folder != before {
            self.nowhere(&format!("the folder after `{why}`"));
        }
    }

    /// From here on, the folder is not known.
    pub fn nowhere(&mut self, why: &str) {
        self.folder = Word::unknown(why);
        self.instead.clear();
    }

    /// The folder of the shell if the latest command was a `cd` that failed.
    pub fn failed_now(&mut self) -> Vec<Word> {
        let calls = self.line.calls.len();
        self.failed
            .take()
            .filter(|(number, _)| *number == calls)
            .map(|(_, folders)| folders)
            .unwrap_or_default()
    }

    /// From here on, the folder may be one of these as well.
    pub fn perhaps_in(&mut self, others: Vec<Word>) {
        for other in others {
            if other != self.folder && !self.instead.contains(&other) {
                self.instead.push(other);
            }
        }
        if self.instead.len() > FOLDERS {
            self.nowhere("the folder after `cd`");
        }
    }

    /// The words that a word becomes; its substitutions run first.
    pub fn words(&mut self, raw: &str, flow: Flow) -> Vec<Word> {
        if self.left <= 1 {
            // It is recorded already that anything may happen.
            return vec![Word::unknown_words(raw)];
        }
        let words = self.expanded(expand(raw, self.expanding(false)), raw, flow);
        // Each result of braces is read separately, and in loops and functions all of it is read again.
        let made: usize = words.iter().skip(1).map(|word| 32 + word.to_string().len()).sum();
        if !self.steps(made / 16 + raw.len() / 8, raw, flow) {
            return vec![Word::unknown_words(raw)];
        }
        words
    }

    pub fn quoted(&mut self, raw: &str, flow: Flow) -> Word {
        let words = self.expanded(expand_quoted(raw, self.expanding(false)), raw, flow);
        words.into_iter().next().unwrap_or_default()
    }

    /// The value of an assignment.
    pub fn assigned_value(&mut self, raw: &str, flow: Flow) -> Word {
        let mut words = self.expanded(expand(raw, self.expanding(true)), raw, flow);
        if words.len() == 1 { words.remove(0) } else { Word::unknown(raw) }
    }

    /// The context of expansions.
    pub fn expanding(&self, assigns: bool) -> Expanding<'_> {
        let own = self.functions.is_empty();
        Expanding { options: &OPTIONS, constants: &self.constants, facts: &self.root.facts, own, assigns }
    }

    /// Runs the substitutions of expansions, and sets the variables that they set.
    fn expanded(&mut self, found: Expansion, raw: &str, flow: Flow) -> Vec<Word> {
        let Expansion { words, scripts, lost, set, arithmetic } = found;
        if lost {
            self.aside(|walker| walker.lost("expansions within expansions", raw, flow));
        }
        self.substitutions(scripts, flow);
        set.iter().for_each(|name| self.constants.lose(name));
        arithmetic.iter().for_each(|text| self.constants.arithmetic(text));
        words
    }

    pub fn substitutions(&mut self, scripts: Vec<String>, flow: Flow) {
        for script in scripts {
            self.aside(|walker| {
                // Bash clears it there.
                walker.errexit = false;
                walker.script(&script, flow.proven_if(false));
            });
        }
    }

    /// Runs in a subshell: its changes are forgotten.
    pub fn aside(&mut self, inner: impl FnOnce(&mut Self)) {
        let kept = (self.folder.clone(), self.errexit, self.pipefail, self.exited, self.returned);
        let (instead, lastpipe) = (self.instead.clone(), self.lastpipe);
        let functions = (self.functions.clone(), self.unsure.clone());
        let constants = self.constants.clone();
        let (number, outer) = (self.pipeline, self.assigned.len());
        inner(self);
        self.assigned.truncate(outer);
        self.pipeline = number.max(self.pipeline);
        (self.folder, self.errexit, self.pipefail, self.exited, self.returned) = kept;
        (self.functions, self.unsure) = functions;
        self.constants = constants;
        (self.instead, self.lastpipe, self.failed) = (instead, lastpipe, None);
    }

    /// Runs what may or may not run: a word decides, as written.
    pub fn perhaps(&mut self, word: &str, inner: impl FnOnce(&mut Self)) {
        let outer = self.doubt.clone();
        self.doubt.get_or_insert_with(|| word.to_owned());
        self.aside(inner);
        self.doubt = outer;
    }

    /// A call for redirections that no program has.
    pub fn streams_only(&mut self, streams: &mut Streams, flow: Flow) {
        let effects = self.effects_of(streams);
        if !effects.touches.is_empty() || !effects.reaches.is_empty() {
            self.emit(Word::text(""), Vec::new(), effects, None, flow);
        }
    }

    /// The effects of redirections. Taken once, by their command.
    pub fn effects_of(&mut self, streams: &mut Streams) -> Effects {
        let mut found = Effects::default();
        let scene = Scene::of_files(&self.folder, &self.instead, self.root);
        for (act, word) in std::mem::take(&mut streams.effects) {
            let network = ["/dev/tcp/", "/dev/udp/"].iter().find_map(|device| word.strip_prefix(device));
            match network {
                Some(rest) => found.reaches.extend(host::host(&rest, true)),
                None => scene::add(act, Extent::Itself, &word, &scene, &mut found),
            }
        }
        found
    }
}
