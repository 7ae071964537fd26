//! Settings of git that it runs: editors, pagers, aliases, files that hold more of them.

use super::call::Host;
use super::facts::Program;
use super::host::host;
use super::options::arguments;
use super::path::Root;
use super::walker::{Flow, Streams, Walker};
use super::word::Word;

/// Whether a name is this one; `*` stands for any part of it.
pub fn is_named(name: &str, known: &str) -> bool {
    match known.split_once('*') {
        Some((before, after)) => name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|rest| !rest.is_empty()),
        None => known == name,
    }
}

/// Whether a setting is one of these. Names are alike in any case.
fn is_one(known: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    known.iter().any(|known| is_named(&name, known))
}

/// Whether the value of a setting is a script; in some it stands after `!`.
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

/// The repository whose address a setting is: `remote.NAME.url`. Only the name has case.
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
    pub fn counted(&mut self, flow: Flow) {
        if !self.assigned.iter().any(|(name, _)| name.starts_with("GIT_CONFIG_")) {
            return;
        }
        let all = self.assigned.clone();
        // What they run has them as well, and would have no end.
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
            self.setting(key, &value.unwrap_or_default(), flow);
        }
        self.assigned = all;
    }

    /// Settings and aliases of git that are scripts, or subcommands.
    pub fn git(&mut self, args: &[Word], flow: Flow, streams: &mut Streams) {
        let mut words = args.iter();
        let mut aliases =
            self.settings.iter().filter(|(program, ..)| program == "git").cloned().collect::<Vec<_>>();
        while let Some(word) = words.next() {
            match word.known() {
                Some("-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix") => {
                    words.next();
                }
                // Its value is the name of a variable.
                Some(option) if option == "--config-env" || option.starts_with("--config-env=") => {
                    let joined = option.strip_prefix("--config-env=").map(Word::text);
                    let setting = joined.or_else(|| words.next().cloned()).unwrap_or_default();
                    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
                    self.setting(&name, &Word::unknown("--config-env"), flow);
                }
                Some(option) if option.starts_with("--exec-path=") => {
                    self.runs_file(&Word::text(option.trim_start_matches("--exec-path=")));
                }
                Some("-c") => {
                    let Some(setting) = words.next() else { return };
                    let Some((name, value)) = setting.split_once('=') else { continue };
                    match (name.known().and_then(alias), value.known()) {
                        (Some(name), Some(value)) => aliases.push(("git".to_owned(), name, value.to_owned())),
                        (Some(_), None) => self.anything(&setting.to_string(), flow),
                        (None, _) => self.setting(&name, &value, flow),
                    }
                }
                Some(option) if option.starts_with('-') => {}
                Some("config") => return self.git_config(words.as_slice(), flow),
                Some(name) => {
                    let rest = words.as_slice();
                    // `ext::COMMAND` is a remote that a command talks to; `% ` is a blank in a word of it.
                    for command in rest.iter().filter_map(|word| word.strip_prefix("ext::")) {
                        let command = command
                            .known()
                            .map_or(command.clone(), |text| Word::text(text.replace("% ", "\\ ")));
                        self.aside(|walker| walker.reread(&command, flow.proven_if(false)));
                    }
                    if matches!(name, "clone" | "init") {
                        self.clone_settings(rest, flow);
                    }
                    if let Some((.., value)) = aliases.iter().rev().find(|(_, alias, _)| alias == name) {
                        let value = value.clone();
                        self.alias("git", &value, rest, flow, streams);
                    }
                    return;
                }
                None => return,
            }
        }
    }

    /// A setting that is a script is run by whatever git does next.
    fn setting(&mut self, name: &Word, value: &Word, flow: Flow) {
        let root = self.root;
        let (Some(row), Some(name)) = (root.facts.program("git"), name.known()) else { return };
        if let Some(script) = script_of(row, name, value) {
            self.aside(|walker| walker.reread(&script, flow.proven_if(false)));
        }
        if is_one(&row.settings_files, name) {
            self.runs_file(value);
        }
    }

    /// `git clone -c core.sshCommand=CMD`.
    fn clone_settings(&mut self, args: &[Word], flow: Flow) {
        for (at, word) in args.iter().enumerate() {
            let setting = match word.known() {
                Some("-c" | "--config") => args.get(at + 1).cloned(),
                _ => word.strip_prefix("--config="),
            };
            if let Some((name, value)) = setting.and_then(|setting| setting.split_once('=')) {
                self.setting(&name, &value, flow);
            }
        }
    }

    /// `git config NAME VALUE`: an alias is known from now on, and other scripts run perhaps.
    fn git_config(&mut self, args: &[Word], flow: Flow) {
        let mut operands = Vec::new();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.known() {
                Some("-f" | "--file" | "--blob" | "--type" | "--default" | "--comment" | "--value") => {
                    words.next();
                }
                Some("set" | "--add" | "--replace-all") if operands.is_empty() => {}
                Some(option) if option.starts_with('-') && operands.len() != 1 => {}
                _ => operands.push(word),
            }
        }
        let [name, value, ..] = operands.as_slice() else { return };
        let Some(key) = name.known() else { return };
        match (alias(key), value.known()) {
            (Some(name), Some(value)) => self.settings.push(("git".to_owned(), name, value.to_owned())),
            (Some(name), None) => self.settings.push(("git".to_owned(), name, "!$UNKNOWN".to_owned())),
            (None, _) => {
                let root = self.root;
                let Some(row) = root.facts.program("git") else { return };
                if is_one(&row.settings_files, key) {
                    self.runs_file(value);
                }
                if let Some(script) = script_of(row, key, value) {
                    self.perhaps(key, |walker| walker.reread(&script, flow.proven_if(false)));
                }
            }
        }
    }

    /// `gh alias set NAME VALUE`, and what it stands for.
    pub fn own_alias(&mut self, name: &str, row: &Program, args: &[Word], flow: Flow, streams: &mut Streams) {
        if !row.levels.iter().any(|level| level.aliases) {
            return;
        }
        let read = arguments(row, args);
        if read.levels.iter().any(|level| level.aliases) {
            if let [alias, value, ..] = read.rest()
                && let Some(alias) = alias.known()
            {
                let value = value.known().unwrap_or("!$UNKNOWN");
                let mark = if read.has("-s --shell") && !value.starts_with('!') { "!" } else { "" };
                self.settings.push((name.to_owned(), alias.to_owned(), format!("{mark}{value}")));
            }
            return;
        }
        let Some(first) = read.operands.first() else { return };
        let own = self
            .settings
            .iter()
            .rev()
            .find(|(program, alias, _)| program == name && first.known() == Some(alias));
        if let Some(value) = own.map(|(.., value)| value.clone()) {
            let place = args.iter().position(|word| word == first).unwrap_or_default();
            self.alias(name, &value, args.get(place + 1..).unwrap_or_default(), flow, streams);
        }
    }

    /// Runs what an alias stands for: a script after `!`, or words of the program.
    fn alias(&mut self, program: &str, value: &str, rest: &[Word], flow: Flow, streams: &mut Streams) {
        match value.strip_prefix('!') {
            Some(script) => {
                let mut script = Word::text(script);
                if script.known() == Some("$UNKNOWN") {
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

/// The name of an alias of git. Those of settings are alike in any case.
fn alias(setting: &str) -> Option<String> {
    let (section, name) = setting.split_once('.')?;
    section.eq_ignore_ascii_case("alias").then(|| name.to_owned())
}

/// The name and address of a repository that `git remote add` or `set-url` gives one, or `-c remote.NAME.url=URL`.
pub fn remote(args: &[Word], root: &Root) -> Option<(String, Word)> {
    let arguments = arguments(root.facts.program("git")?, args);
    let named = |name: &Word, address: Word| Some((remote_of(name.known()?)?.to_owned(), address));
    let set = arguments
        .values("-c")
        .filter_map(|word| word.split_once('='))
        .find_map(|(name, value)| named(&name, value));
    set.or_else(|| match arguments.operands.as_slice() {
        [config, set, name, address, ..]
            if config.known() == Some("config") && set.known() == Some("set") =>
        {
            named(name, address.clone())
        }
        [config, name, address, ..] if config.known() == Some("config") => named(name, address.clone()),
        [remote, verb, name, address, ..]
            if remote.known() == Some("remote") && matches!(verb.known(), Some("add" | "set-url")) =>
        {
            Some((name.known()?.to_owned(), address.clone()))
        }
        _ => None,
    })
}
