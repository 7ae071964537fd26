//! Variables that programs run: editors, pagers, files that are read at startup.

use super::call::{Act, Extent, SmallCall};
use super::facts::script_variables;
use super::scene::{self, Effects, Scene};
use super::settings::is_named;
use super::walker::{Flow, Walker};
use super::word::Word;

/// Variables that name code which runs in any program.
const OF_ALL: [&str; 3] = ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"];

/// Commands that a shell has built in, wherever it searches for programs.
const BUILTINS: &str = "cd pushd popd pwd echo printf true false test [ : exit return shift wait type hash ulimit umask read trap set shopt let local unset readonly getopts break continue alias unalias dirs export declare typeset history jobs fg bg";

/// Whether a name is one that every shell has.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.split(' ').any(|known| known == name)
}

impl Walker<'_> {
    /// Runs what variables of the environment have a program run.
    pub fn variables(&mut self, name: &str, flow: Flow) {
        if self.assigned.is_empty() && self.own.is_empty() {
            return;
        }
        self.files(name, flow);
        if self.is_another_program(name) || self.has_more_options(name) {
            self.line.calls.last_mut().into_iter().for_each(|call| call.opaque = true);
        }
        let root = self.root;
        let Some(row) = root.facts.program(name) else { return };
        if row.has_settings() {
            self.counted(row, flow);
        }
        let used = &row.env_runs;
        self.perhaps_exported(used, flow);
        let is_used = |variable: &str| used.iter().any(|known| is_named(variable, known));
        if !self.assigned.iter().any(|(variable, _)| is_used(variable)) {
            return;
        }
        // Their commands have them in the environment, which would never end.
        let all = self.assigned.clone();
        self.assigned.retain(|(variable, _)| !is_used(variable));
        for (_, script) in all.iter().filter(|(variable, _)| is_used(variable)) {
            // `LESSOPEN` is a pipe if it begins so.
            let script =
                script.strip_prefix("||").or_else(|| script.strip_prefix("|")).unwrap_or(script.clone());
            self.aside(|walker| walker.reread(&script, flow.proven_if(false)));
        }
        self.assigned = all;
    }

    /// Runs what variables of the shell say that were perhaps exported before the line began.
    fn perhaps_exported(&mut self, used: &[String], flow: Flow) {
        let exported = |name: &str| self.assigned.iter().any(|(other, _)| other == name);
        let mut scripts: Vec<(String, Word)> = Vec::new();
        for known in used {
            let start = known.split('*').next().unwrap_or_default();
            let begun = self.own.range(start.to_owned()..).take_while(|(name, _)| name.starts_with(start));
            for (name, values) in begun.filter(|(name, _)| is_named(name, known) && !exported(name)) {
                scripts.extend(values.iter().map(|value| (name.clone(), value.clone())));
            }
        }
        if scripts.is_empty() {
            return;
        }
        let kept = std::mem::take(&mut self.own);
        for (name, script) in scripts {
            self.perhaps(&name, |walker| walker.reread(&script, flow.proven_if(false)));
        }
        self.own = kept;
    }

    /// The files that variables make the latest program run are unread.
    fn files(&mut self, name: &str, flow: Flow) {
        let root = self.root;
        let own = root.facts.program(name).map(|row| row.env_files.as_slice()).unwrap_or_default();
        let interactive = |call: &SmallCall| {
            let options = call.args.iter().filter_map(Word::known);
            options
                .into_iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('i'))
        };
        let interactive = self.line.calls.last().is_some_and(interactive);
        let set = self.assigned.iter().filter(|(variable, value)| {
            (own.contains(variable) || OF_ALL.contains(&variable.as_str()))
                && value.known() != Some("")
                && (variable != "ENV" || interactive)
        });
        let set: Vec<Word> = set.map(|(_, value)| value.clone()).collect();
        for value in set {
            self.runs_file(&value);
            if let Some(text) = value.known() {
                // Shells expand it.
                self.quoted(text, flow.proven_if(false));
            }
        }
    }

    /// Values of a variable on this line, which other programs may not see.
    fn values<'s>(&'s self, variable: &'s str) -> impl Iterator<Item = &'s Word> {
        let assigned = self.assigned.iter().filter(move |(name, _)| name == variable).map(|(_, value)| value);
        assigned.chain(self.own.get(variable).into_iter().flatten())
    }

    /// Whether `PATH` has a folder in which a program of this name may have been put.
    fn is_another_program(&self, name: &str) -> bool {
        const USUAL: [&str; 2] = ["$PATH", "${PATH}"];
        let is_open = |folder: &str| {
            let is_known = folder == "~" || folder.starts_with("~/");
            let is_shared = ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|shared| is_within(folder, shared));
            let is_own = self.root.folder.as_deref().is_some_and(|own| is_within(folder, own));
            let is_detour = folder.contains("..") || folder.contains("//");
            is_detour
                || !is_known && (!folder.starts_with('/') || folder.contains('$') || is_shared || is_own)
        };
        // A usual program is found before later folders.
        let is_changed = |path: &str| path.split(':').take_while(|it| !USUAL.contains(it)).any(is_open);
        !is_builtin(name) && self.values("PATH").any(|path| is_changed(&path.to_string()))
    }

    /// Whether a variable has options for a program that may have it do anything.
    fn has_more_options(&self, name: &str) -> bool {
        let own = self.root.facts.program(name).map(|row| row.env_options.as_slice()).unwrap_or_default();
        let is_harmless = |known: &[String], word: &str| {
            known
                .iter()
                .any(|known| known == word || known.ends_with('=') && word.starts_with(known.as_str()))
        };
        own.iter().any(|(variable, known)| {
            self.values(variable).any(|value| match value.known() {
                Some(words) => !words.split_whitespace().all(|word| is_harmless(known, word)),
                None => true,
            })
        })
    }

    /// The program that was emitted last does what a file says.
    pub fn runs_file(&mut self, file: &Word) {
        let scene = Scene::of_files(&self.folder, &self.instead, self.root);
        let mut found = Effects::default();
        scene::add(Act::Reads, Extent::Itself, file, &scene, &mut found);
        if let Some(call) = self.line.calls.last_mut() {
            call.touches.extend(found.touches);
            call.mentions.extend(found.mentions);
            call.opaque = true;
        }
    }

    /// Variables that a command without a program sets.
    pub fn set_variables(&mut self, set: Vec<(String, Word)>) {
        if self.exports_all {
            return self.exported.extend(set);
        }
        for (name, value) in set {
            let values = self.own.entry(name).or_default();
            if values.last() != Some(&value) {
                values.push(value);
            }
        }
    }

    /// `export NAME=VALUE`, and `export NAME` of a variable that the shell has.
    pub fn export(&mut self, args: &[Word]) {
        for word in args {
            match word.split_once('=') {
                Some((name, value)) => {
                    self.exported.extend(name.known().map(|name| (name.to_owned(), value)))
                }
                None => {
                    let Some((name, values)) = word.known().and_then(|name| self.own.get_key_value(name))
                    else {
                        continue;
                    };
                    // Which of its values it has depends on the path that was taken. Once is enough.
                    let all = values.iter().map(|value| (name.clone(), value.clone()));
                    let is_new = |last: &(String, Word)| {
                        !self.assigned.iter().chain(&self.exported).any(|pair| pair == last)
                    };
                    if all.clone().next_back().is_some_and(|last| is_new(&last)) {
                        self.exported.extend(all);
                    }
                }
            }
        }
    }

    /// Variables that are exported: programs that come later perhaps run them.
    pub fn exported(&mut self, args: &[Word], flow: Flow) {
        for word in args {
            let Some((name, value)) = word.split_once('=') else { continue };
            let Some(name) = name.known().map(str::to_owned) else { continue };
            if script_variables().iter().any(|known| is_named(&name, known)) {
                self.perhaps(&name, |walker| walker.reread(&value, flow.proven_if(false)));
            }
        }
    }
}

/// Whether a path is this folder, or in it.
fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    !folder.is_empty()
        && path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
