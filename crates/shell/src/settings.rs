//! Settings of git that run commands: editors, pagers, aliases, files with more settings.

use super::call::Host;
use super::facts::{Level, Program};
use super::host::host;
use super::options::{Arguments, arguments};
use super::walker::{Flow, Streams, Walker};
use super::word::Word;

/// Replaces the value of an unknown alias.
const UNKNOWN: &str = "!$UNKNOWN";

/// Whether a name is this one; `*` matches any part of it.
pub fn is_named(name: &str, known: &str) -> bool {
    match known.split_once('*') {
        Some((before, after)) => name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|rest| !rest.is_empty()),
        None => known == name,
    }
}

/// Whether a setting is one of these. Case does not matter.
fn is_one(known: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    known.iter().any(|known| is_named(&name, known))
}

/// Whether the value of a setting is a script; in some it comes after `!`.
fn script_of(row: &Program, name: &str, value: &Word) -> Option<Word> {
    if !is_one(&row.settings_run, name) {
        return None;
    }
    let section = name.split('.').next().unwrap_or_default().to_lowercase();
    if matches!(section.as_str(), "credential" | "submodule") {
        // Without the mark it is the name of a helper of git.
        return value.strip_prefix("!").or_else(|| value.start().starts_with('/').then(|| value.clone()));
    }
    let bool_like =
        matches!(value.known(), Some("" | "true" | "false" | "0" | "1" | "yes" | "no" | "on" | "off"));
    (!bool_like).then(|| value.clone())
}

/// The repository whose address a setting is: `remote.NAME.url`. Only the name is case-sensitive.
pub fn remote_of(setting: &str) -> Option<&str> {
    let (section, rest) = setting.split_once('.')?;
    let (name, key) = rest.rsplit_once('.')?;
    let is_address = ["url", "pushurl"].iter().any(|known| key.eq_ignore_ascii_case(known));
    (section.eq_ignore_ascii_case("remote") && is_address).then_some(name)
}

/// The host of `http.proxy=HOST`, and of `url.BASE.insteadOf=…`, which takes the place of another one.
pub fn setting_host(word: &Word) -> Option<Host> {
    let (name, value) = word.split_once('=')?;
    let name = name.to_string().to_lowercase();
    if name.starts_with("http.") && name.ends_with("proxy") {
        return host(&value, true);
    }
    let base = name.strip_prefix("url.")?;
    let base = base.strip_suffix(".insteadof").or_else(|| base.strip_suffix(".pushinsteadof"))?;
    host(&Word::text(base), true)
}

impl Walker<'_> {
    /// `GIT_CONFIG_KEY_0=NAME GIT_CONFIG_VALUE_0=VALUE`.
    pub fn counted(&mut self, row: &Program, flow: Flow) {
        if !self.assigned.iter().any(|(name, _)| name.starts_with("GIT_CONFIG_")) {
            return;
        }
        let all = self.assigned.clone();
        // Commands that they run have them as well, which would never end.
        self.assigned.retain(|(name, _)| !name.starts_with("GIT_CONFIG_"));
        for (name, key) in &all {
            if name == "GIT_CONFIG_PARAMETERS" {
                self.anything(&format!("{name}={key}"), flow);
            }
            let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_") else { continue };
            let value = format!("GIT_CONFIG_VALUE_{number}");
            let value = all.iter().rev().find(|(name, _)| *name == value).map(|(_, value)| value.clone());
            if key.known().and_then(alias).is_some() || key.known().is_none() {
                self.anything(&key.to_string(), flow);
            }
            self.setting(row, (key, &value.unwrap_or_default()), false, flow);
        }
        self.assigned = all;
    }

    /// A setting that is a script is run by whatever the program does next; `kept`: perhaps.
    fn setting(&mut self, row: &Program, (name, value): (&Word, &Word), kept: bool, flow: Flow) {
        let (Some(name), flow) = (name.known(), flow.proven_if(false)) else { return };
        match script_of(row, name, value) {
            Some(script) if kept => self.perhaps(name, |walker| walker.reread(&script, flow)),
            Some(script) => self.aside(|walker| walker.reread(&script, flow)),
            None => {}
        }
        if is_one(&row.settings_files, name) {
            self.runs_file(value);
        }
    }

    /// Settings that are scripts, and aliases: `gh alias set NAME VALUE`, `git config alias.NAME VALUE` and their
    /// definitions.
    pub fn settings(&mut self, row: &Program, args: &[Word], flow: Flow, streams: &mut Streams) {
        let defines = |level: &Level| level.aliases;
        if !row.has_settings() && !row.levels.iter().any(defines) {
            return;
        }
        let read = arguments(row, args);
        let (before, kept) = (self.settings.len(), is_config(&read));
        let mut named = |alias: String, value: String| {
            self.settings.push((row.name().to_owned(), alias, value));
        };
        if read.levels.iter().copied().any(defines) {
            if let [alias, value, ..] = read.rest()
                && let Some(alias) = alias.known()
            {
                let value = value.known().unwrap_or(UNKNOWN);
                let mark = if read.has("-s --shell") && !value.starts_with('!') { "!" } else { "" };
                named(alias.to_owned(), format!("{mark}{value}"));
            }
            return;
        }
        for (name, value) in given(&read) {
            match name.known().and_then(alias) {
                Some(alias) => {
                    let value = value.known().unwrap_or(UNKNOWN).to_owned();
                    self.settings.push((row.name().to_owned(), alias, value));
                }
                None => self.setting(row, (&name, &value), kept, flow),
            }
        }
        read.values("--exec-path").filter(|_| row.has_settings()).for_each(|path| self.runs_file(path));
        // `ext::COMMAND` is a remote reached through a command; `% ` is a blank in a word of it.
        for command in args.iter().filter_map(|word| word.strip_prefix("ext::")) {
            let text = command.known().map(|text| Word::text(text.replace("% ", "\\ ")));
            self.aside(|walker| walker.reread(text.as_ref().unwrap_or(&command), flow.proven_if(false)));
        }
        let first = read.operands.first();
        let called = first.and_then(Word::known);
        let mut known = self.settings.iter().rev();
        let own = known.find(|(program, alias, _)| program == row.name() && called == Some(alias));
        let own = own.map(|(.., value)| value.clone());
        if !kept {
            self.settings.truncate(before);
        }
        if let Some(value) = own {
            let place = args.iter().position(|word| Some(word) == first).unwrap_or_default();
            self.alias(row.name(), &value, args.get(place + 1..).unwrap_or_default(), flow, streams);
        }
    }

    /// Runs the definition of an alias: a script after `!`, or words of the program.
    fn alias(&mut self, program: &str, value: &str, rest: &[Word], flow: Flow, streams: &mut Streams) {
        match value.strip_prefix('!') {
            Some(script) => {
                let mut script = Word::text(script);
                if value == UNKNOWN {
                    script = Word::unknown("the alias");
                }
                self.aside(|walker| walker.fed_script(&script, flow, &mut streams.clone()));
            }
            None => {
                let begin = [Word::text(program)].into_iter().chain(value.split_whitespace().map(Word::text));
                self.inner(begin.chain(rest.iter().cloned()).collect(), flow, streams);
            }
        }
    }
}

/// The name of an alias of git. Case does not matter in those of settings.
fn alias(setting: &str) -> Option<String> {
    let (section, name) = setting.split_once('.')?;
    section.eq_ignore_ascii_case("alias").then(|| name.to_owned())
}

/// Whether the words keep a setting for later commands: `git config NAME VALUE`.
fn is_config(read: &Arguments<'_>) -> bool {
    read.operands.first().is_some_and(|first| first.known() == Some("config"))
}

/// The settings that words give: `-c NAME=VALUE` and `--config-env=NAME=VARIABLE`, and the operands of `config`.
fn given(read: &Arguments<'_>) -> Vec<(Word, Word)> {
    let own = read.values("-c --config").filter_map(|word| word.split_once('='));
    let of_variable = |word: &Word| {
        let name = word.split_once('=').map_or_else(|| word.clone(), |(name, _)| name);
        (name, Word::unknown("--config-env"))
    };
    let mut found: Vec<(Word, Word)> = own.chain(read.values("--config-env").map(of_variable)).collect();
    if let [name, value, ..] = read.rest()
        && is_config(read)
    {
        found.push((name.clone(), value.clone()));
    }
    found
}

/// The name and address that `git remote add` or `set-url` gives a repository, or `-c remote.NAME.url=URL`.
pub fn remote(row: &Program, args: &[Word]) -> Option<(String, Word)> {
    let read = arguments(row, args);
    let named = |(name, address): (Word, Word)| Some((remote_of(name.known()?)?.to_owned(), address));
    given(&read).into_iter().find_map(named).or_else(|| match read.operands.as_slice() {
        [remote, verb, name, address, ..]
            if remote.known() == Some("remote") && matches!(verb.known(), Some("add" | "set-url")) =>
        {
            Some((name.known()?.to_owned(), address.clone()))
        }
        _ => None,
    })
}
