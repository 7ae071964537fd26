//! A program with its arguments: its own effects, and those of a program that it runs.

use super::call::Act;
use super::constants::Constants;
use super::effects;
use super::facts::{self, Program};
use super::find;
use super::options::Way;
use super::path::is_relative;
use super::prompt;
use super::scene::Scene;
use super::walker::{Flow, Input, Streams, Walker};
use super::word::{Piece, Word};
use super::wrap::{filled, joined};

impl Walker<'_> {
    /// A program's own name where case says nothing: `GIT` is `git`.
    fn own_name(&self, base: Word) -> Word {
        let facts = &self.root.facts;
        let knows = |name: &str| facts.program(name).is_some();
        let folded = base.known().filter(|name| self.root.folds() && !knows(name)).map(str::to_lowercase);
        folded.filter(|name| knows(name)).map_or(base, Word::text)
    }

    /// A program with its arguments.
    pub fn command(&mut self, words: Vec<Word>, flow: Flow, streams: &mut Streams) {
        // For `time -- git push`, the parser leaves both words.
        let words = words.strip_prefix(&[Word::text("--")]).unwrap_or(&words);
        let Some((program, args)) = words.split_first() else { return };
        let mut effects = self.effects_of(streams);
        let base = self.own_name(program.base());
        let written = program.to_string();
        self.from = super::assignments::folder_of(program);
        let pattern = program.pieces.iter().any(|piece| matches!(piece, Piece::Pattern(_)));
        // Its folder is not part of its name, known or not.
        let Some(name) = base.known().filter(|_| !pattern) else {
            // Without quotes, an unknown part may be several words: `git${IFS}push`.
            let splits = program.many && base.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_)));
            let unclear = program.unclear().unwrap_or(&written).to_owned();
            let shown = if splits { Word::unknown(written) } else { base.clone() };
            return self.emit(shown, args.to_vec(), effects, Some(unclear), flow);
        };
        let written = written.as_str();
        if flow.depth > super::guard::SCRIPTS {
            return self.lost("programs within programs", name, flow);
        }
        let flow = Flow { depth: flow.depth + 1, ..flow };
        if self.aliases.contains(written) {
            self.anything(written, flow);
        }
        let from = self.from.take();
        let called = if streams.program { None } else { self.function(written, flow, &streams.input) };
        let flow = flow.proven_if(called.is_none());
        if called == Some(false) {
            if !effects.touches.is_empty() || !effects.reaches.is_empty() {
                self.emit(Word::text(""), Vec::new(), effects, None, flow);
            }
            return;
        }
        let row = self.root.facts.program(name);
        if let Some(row) = row.filter(|row| row.has_settings()) {
            self.remotes.extend(super::settings::remote(row, args));
        }
        let files = Scene::of_files(&self.folder, &self.instead, self.root);
        let scene = Scene {
            assigned: &self.assigned,
            remotes: &self.remotes,
            elsewhere: flow.elsewhere,
            fed: streams.input != Input::Nothing,
            ..files
        };
        let mut own = effects::effects(name, args, &scene);
        let typed = prompt::scripts(name, args, &streams.input, &scene, &mut effects);
        own.touches.retain(|touch| !effects.touches.contains(touch));
        effects.touches.append(&mut own.touches);
        effects.mentions.extend(own.mentions);
        effects.reaches.extend(own.reaches);
        effects.opaque |=
            own.opaque || written.contains('/') && !self.root.facts.names(name) && is_script(written, name);
        let (name, args) = (name.to_owned(), args.to_vec());
        self.from = from;
        self.emit(base.clone(), args.clone(), effects, None, flow);
        self.variables(&name, flow);
        let certain = !flow.branch;
        let flow = Flow { branch: true, ..flow };
        self.settles(&name, &args);
        let kept = self.enter(&name);
        let is_shell = row.is_some_and(|row| row.shell);
        match name.as_str() {
            "cd" | "pushd" | "chdir" => {
                let failed: Vec<Word> = self.instead.iter().chain([&self.folder]).cloned().collect();
                self.go(&args);
                // With `set -e` nothing runs after a failure; and the home folder always exists.
                let fails = (flow.tested || !self.errexit) && self.folder.pieces != [Piece::Home];
                if fails && !self.folder.is_open() {
                    self.perhaps_in(failed.clone());
                    self.failed = Some((self.line.calls.len(), failed));
                }
            }
            "popd" => self.nowhere("the folder after `popd`"),
            "shopt" => self.shopt(&args),
            "set" => self.set(&args, certain),
            "alias" => {
                self.aliases.extend(args.iter().filter_map(|word| Some(word.split_once('=')?.0.to_string())))
            }
            "unset" => {
                self.forget(&args);
                self.builtin(&name, &args, flow, streams);
            }
            "eval" => self.evaluate(&args, flow, streams),
            "." | "source" => self.source(row, &args, flow, streams),
            "trap" => self.trap(&args, flow),
            "export" | "declare" | "typeset" => {
                self.export(&args);
                self.builtin(&name, &args, flow, streams);
            }
            _ => match self.program_of_sub(&name) {
                // `git-push`, in the folder of git's own programs.
                Some((program, sub)) => {
                    let words =
                        [Word::text(program), Word::text(sub)].into_iter().chain(args.iter().cloned());
                    self.inner(words.collect(), flow, streams);
                }
                None if is_shell => self.shell(&name, &args, flow, streams),
                None if let Some(row) = row.filter(|row| row.finds) => self.find(row, &args, flow, streams),
                None => self.builtin(&name, &args, flow, streams),
            },
        }
        for script in typed {
            self.aside(|walker| walker.reread(&script, flow.proven_if(false)));
        }
        if let Some(row) = row {
            self.settings(row, &args, flow, streams);
            for (level, run) in row.ways() {
                if self.wrapped(row, Way { level, run }, &name, &args, flow, streams) {
                    break;
                }
            }
        }
        self.constants = kept.unwrap_or_else(|| std::mem::take(&mut self.constants));
        // With redirections alone, the shell continues, and its commands have them.
        if name == "exec" && args.is_empty() && streams.input != Input::Nothing {
            self.stdin = Input::Unknown;
        }
        self.exited |= name == "exec" && !args.is_empty();
    }

    pub fn go(&mut self, args: &[Word]) {
        let to = args.iter().find(|word| word.known() == Some("-") || !word.start().starts_with('-'));
        // With `CDPATH` it is in another folder, unless it begins with a dot.
        let searched =
            self.own.contains_key("CDPATH") || self.assigned.iter().any(|(name, _)| name == "CDPATH");
        if searched && to.is_some_and(|to| is_relative(to) && !to.start().starts_with('.')) {
            return self.nowhere("the folder that `CDPATH` leads to");
        }
        let from = |folder: &Word| match to {
            None => Word { pieces: vec![Piece::Home], many: false },
            Some(word) if word.known() == Some("-") => Word::unknown("the folder before"),
            Some(word)
                if word.start().starts_with('/')
                    || !matches!(word.pieces.first(), Some(Piece::Text(_) | Piece::Pattern(_))) =>
            {
                Word { many: false, ..word.clone() }
            }
            Some(word) => {
                let mut folder = folder.clone();
                folder.push("/");
                folder.append(word);
                Word { many: false, ..folder }
            }
        };
        let others: Vec<Word> = std::mem::take(&mut self.instead).iter().map(from).collect();
        self.folder = from(&self.folder);
        self.perhaps_in(others);
    }

    /// With `lastpipe` the last part of a pipeline changes the shell itself.
    fn shopt(&mut self, args: &[Word]) {
        let has = |wanted: &str| args.iter().any(|word| word.known() == Some(wanted) || word.is_open());
        self.lastpipe |= has("lastpipe") && has("-s");
    }

    /// An uncertain command turns nothing on.
    pub fn set(&mut self, args: &[Word], certain: bool) {
        let mut words = args.iter().filter_map(Word::known);
        while let Some(word) = words.next() {
            let (on, letters) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some("-"), _) => return,
                (Some(letters), _) => (certain, letters),
                (None, Some(letters)) => (false, letters),
                (None, None) => return,
            };
            if letters.contains('e') {
                self.errexit = on;
            }
            if letters.contains('a') {
                self.exports_all = word.starts_with('-');
            }
            if letters.contains('o') {
                match words.next() {
                    Some("pipefail") => self.pipefail = on,
                    Some("errexit") => self.errexit = on,
                    Some("allexport") => self.exports_all = word.starts_with('-'),
                    _ => {}
                }
            }
        }
    }

    /// Words that a shell joins and reads again.
    pub fn evaluate(&mut self, args: &[Word], flow: Flow, streams: &mut Streams) {
        let args = args.strip_prefix(&[Word::text("--")]).unwrap_or(args);
        self.fed_script(&joined(args), flow, streams);
    }

    /// A text that a shell reads. Where a part is not known, it may hold anything besides.
    pub fn reread(&mut self, text: &Word, flow: Flow) {
        if text.pieces.is_empty() {
            return;
        }
        if let Some(unclear) = text.unclear().map(str::to_owned) {
            self.anything(&unclear, flow);
            self.exited = true;
            if text.is_open() {
                return;
            }
        }
        let written = match text.known() {
            Some(known) => known.to_owned(),
            None => text.to_string(),
        };
        self.script(&written, flow);
    }

    /// A script that no file has: a process substitution, or standard input.
    fn source(&mut self, row: Option<&Program>, args: &[Word], flow: Flow, streams: &Streams) {
        let Some(file) = args.first() else { return };
        let named = file.unclear().is_none().then(|| file.to_string());
        match named.as_deref() {
            Some(file) if file.starts_with("/dev/fd/") => {
                self.reread(&Word::unknown("the script of `source`"), flow)
            }
            Some("/dev/stdin") => match &streams.input {
                Input::Text(text) => self.script(text, flow),
                _ => self.reread(&Word::unknown("standard input of `source`"), flow),
            },
            Some(file) if is_set_up(file, row) && !self.has_written(file) => self.constants.forget_values(),
            _ => {
                self.constants.forget(&file.to_string());
                if let Some(call) = self.line.calls.last_mut() {
                    call.opaque = true;
                }
            }
        }
    }

    /// Whether the line itself writes a file of this name.
    fn has_written(&self, file: &str) -> bool {
        let base = |name: &str| name.rsplit('/').next().map(str::to_owned);
        let written =
            self.line.calls.iter().flat_map(|call| &call.touches).filter(|touch| touch.act == Act::Writes);
        written.into_iter().any(|touch| base(touch.place.shown()) == base(file))
    }

    pub fn trap(&mut self, args: &[Word], flow: Flow) {
        let mut operands = args.iter().filter(|word| word.known() != Some("--"));
        // An unlisted option may have a value, so that any word may be the script.
        if let Some(option) =
            args.first().filter(|word| word.start().len() > 2 && word.start().starts_with("--"))
        {
            self.anything(&option.to_string(), flow);
        }
        if let Some(script) = operands.next().filter(|word| !word.start().starts_with('-') && args.len() > 1)
        {
            let mut set = Constants::default();
            self.aside(|walker| {
                walker.exited = false;
                walker.constants = Constants::default();
                // It runs in the shell's folder at that time.
                if walker.moves {
                    walker.nowhere("the folder when the trap runs");
                }
                walker.reread(script, flow.proven_if(false));
                walker.overruled |= walker.exited;
                set = std::mem::take(&mut walker.constants);
            });
            self.constants.taint_all(&set);
        }
    }

    fn find(&mut self, row: &Program, args: &[Word], flow: Flow, streams: &mut Streams) {
        let mut rest = args;
        let hits = find::find_hits(row, args);
        while let Some(at) =
            rest.iter().position(|word| matches!(word.known(), Some("-exec" | "-execdir" | "-ok" | "-okdir")))
        {
            let own = rest.get(at).is_some_and(|word| word.start().ends_with("dir"));
            rest = rest.get(at + 1..).unwrap_or_default();
            let end =
                rest.iter().position(|word| matches!(word.known(), Some(";" | "+"))).unwrap_or(rest.len());
            let (inner, after) = rest.split_at(end);
            let words = inner.iter().flat_map(|word| match word.known() {
                Some("{}") if own => {
                    let named = |hit: &Word| if is_relative(hit) { hit.base() } else { hit.clone() };
                    hits.iter().map(named).collect()
                }
                Some("{}") => hits.clone(),
                Some(text) if text.contains("{}") => vec![filled(text, "{}")],
                _ => vec![word.clone()],
            });
            let words: Vec<Word> = words.collect();
            let folder = (self.folder.clone(), self.instead.clone());
            if own {
                self.nowhere("the folder of what `find` comes upon");
            }
            self.inner(words, flow.proven_if(false), streams);
            (self.folder, self.instead) = folder;
            rest = after;
        }
    }

    /// A subcommand that is a separate program: `git-push`.
    fn program_of_sub<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        let (program, sub) = name.split_once('-').filter(|_| self.root.facts.program(name).is_none())?;
        let row = self.root.facts.program(program)?;
        let has_programs = row.whole().is_some_and(|whole| whole.plugins);
        (has_programs && !row.levels_of(&[sub]).is_empty()).then_some((program, sub))
    }
}

/// Whether a program with a folder before it is a user's script, not a program of the system.
fn is_script(written: &str, name: &str) -> bool {
    name.contains('.') || facts::program(name).is_none() || written.starts_with("./")
}

/// Scripts that installers make, which set up a shell: `.venv/bin/activate`.
fn is_set_up(file: &str, row: Option<&Program>) -> bool {
    let is_it = |name: &String| {
        file.strip_suffix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    row.is_some_and(|row| row.sets_up.iter().any(is_it))
}
