//! Variables and settings that programs run: editors, pagers, aliases, files that are read at a start.

use super::call::{Act, Extent, SmallCall};
use super::scene::{self, Effects, Scene};
use super::walker::{Flow, Streams, Walker};
use super::word::Word;

/// Variables of the environment whose values these programs hand to a shell.
const VARIABLES: &[(&str, &str)] = &[
    (
        "git",
        "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS EDITOR VISUAL PAGER",
    ),
    ("man", "MANPAGER PAGER"),
    ("less more", "LESSOPEN LESSCLOSE EDITOR VISUAL"),
    ("crontab visudo vipw vigr sudoedit sudo", "EDITOR VISUAL SUDO_EDITOR"),
    ("kubectl oc k", "KUBE_EDITOR EDITOR KUBECTL_EXTERNAL_DIFF"),
    ("gh", "GH_EDITOR GIT_EDITOR EDITOR VISUAL GH_PAGER PAGER GH_BROWSER BROWSER"),
    ("glab", "EDITOR VISUAL GLAB_PAGER PAGER BROWSER"),
    ("aws", "AWS_PAGER PAGER"),
    ("rsync", "RSYNC_RSH RSYNC_CONNECT_PROG"),
    ("svn", "SVN_EDITOR SVN_SSH EDITOR VISUAL"),
    ("hg", "HGEDITOR EDITOR VISUAL PAGER"),
    ("psql", "PSQL_EDITOR PSQL_PAGER EDITOR VISUAL PAGER"),
    ("mysql mariadb mycli pgcli sqlite3", "EDITOR VISUAL PAGER"),
    ("systemctl journalctl", "SYSTEMD_EDITOR EDITOR VISUAL SYSTEMD_PAGER PAGER"),
    (
        "cargo",
        "RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC CARGO_TARGET_*_RUNNER CARGO_TARGET_*_LINKER",
    ),
    ("bash sh zsh ksh dash", "PROMPT_COMMAND"),
    ("bat batcat", "BAT_PAGER PAGER"),
    ("sudo", "SUDO_ASKPASS"),
    ("npm npx pnpm yarn bun", "npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL BROWSER EDITOR"),
    ("ssh scp sftp ssh-add", "SSH_ASKPASS"),
    ("fzf", "FZF_DEFAULT_COMMAND"),
    ("rclone", "RCLONE_PASSWORD_COMMAND"),
    ("ansible ansible-playbook", "EDITOR PAGER"),
];

/// Variables whose values name files that these programs run, or read their settings from; `*` is any program.
const FILES: &[(&str, &str)] = &[
    ("bash", "BASH_ENV"),
    ("sh dash ash ksh mksh ksh93", "ENV"),
    ("zsh", "ZDOTDIR"),
    ("python pypy", "PYTHONSTARTUP"),
    ("git", "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG GIT_EXEC_PATH GIT_TEMPLATE_DIR"),
    ("rg", "RIPGREP_CONFIG_PATH"),
    ("wget", "WGETRC"),
    ("curl", "CURL_HOME"),
    ("*", "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES"),
];

/// Settings that name files which git runs, or reads more settings from.
const SETTINGS_FILES: &[&str] =
    &["core.hookspath", "include.path", "includeif.*.path", "init.templatedir", "core.attributesfile"];

/// Settings whose values git hands to a shell; `*` stands for any name.
const SETTINGS: &[&str] = &[
    "core.sshcommand",
    "core.editor",
    "core.pager",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "sequence.editor",
    "pager.*",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "difftool.*.cmd",
    "difftool.*.path",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "merge.*.driver",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "interactive.difffilter",
    "gpg.program",
    "gpg.*.program",
    "gpg.ssh.defaultkeycommand",
    "credential.helper",
    "credential.*.helper",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "uploadpack.packobjectshook",
    "sendemail.sendmailcmd",
    "sendemail.tocmd",
    "sendemail.cccmd",
    "browser.*.cmd",
    "man.*.cmd",
    "man.*.path",
    "trailer.*.cmd",
    "trailer.*.command",
    "tar.*.command",
    "guitool.*.cmd",
    "submodule.*.update",
];

/// Whether a name is this one; `*` stands for any part of it.
fn is_named(name: &str, known: &str) -> bool {
    match known.split_once('*') {
        Some((before, after)) => name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|rest| !rest.is_empty()),
        None => known == name,
    }
}

/// The variables that a table has for a program.
fn listed<'t>(table: &[(&'t str, &'t str)], program: &str) -> Vec<&'t str> {
    let rows = table.iter().filter(|(names, _)| names.split(' ').any(|name| name == program || name == "*"));
    rows.flat_map(|(_, variables)| variables.split(' ')).collect()
}

/// Whether the value of a setting is a script. Names are alike in any case; in some it stands after `!`.
fn script_of(name: &str, value: &Word) -> Option<Word> {
    let name = name.to_lowercase();
    if !SETTINGS.iter().any(|known| is_named(&name, known)) {
        return None;
    }
    if name.starts_with("credential.") || name.starts_with("submodule.") {
        // Without the mark it is the name of a helper of git.
        return value.strip_prefix("!").or_else(|| value.start().starts_with('/').then(|| value.clone()));
    }
    let bool_like =
        matches!(value.known(), Some("" | "true" | "false" | "0" | "1" | "yes" | "no" | "on" | "off"));
    (!bool_like).then(|| value.clone())
}

impl Walker<'_> {
    /// Runs what variables of the environment have a program run.
    pub fn variables(&mut self, name: &str, flow: Flow) {
        if self.assigned.is_empty() && self.own.is_empty() {
            return;
        }
        self.files(name, flow);
        if name == "git" {
            self.counted(flow);
        }
        let used = listed(VARIABLES, name);
        let is_used = |variable: &str| used.iter().any(|known| is_named(variable, known));
        self.perhaps_exported(&is_used, flow);
        if !self.assigned.iter().any(|(variable, _)| is_used(variable)) {
            return;
        }
        // What they run has them in its environment, and would have no end.
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
    fn perhaps_exported(&mut self, is_used: &dyn Fn(&str) -> bool, flow: Flow) {
        let exported = |name: &String| self.assigned.iter().any(|(other, _)| other == name);
        let own = self.own.iter().filter(|(name, _)| is_used(name) && !exported(name));
        let scripts: Vec<(String, Word)> = own.cloned().collect();
        if scripts.is_empty() {
            return;
        }
        let kept = std::mem::take(&mut self.own);
        for (name, script) in scripts {
            self.perhaps(&name, |walker| walker.reread(&script, flow.proven_if(false)));
        }
        self.own = kept;
    }

    /// What the files do that variables have the program run which was emitted last, nobody read.
    fn files(&mut self, name: &str, flow: Flow) {
        let used = listed(FILES, super::facts::unversioned(name));
        let interactive = |call: &SmallCall| {
            let options = call.args.iter().filter_map(Word::known);
            options
                .into_iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('i'))
        };
        let interactive = self.line.calls.last().is_some_and(interactive);
        let set = self.assigned.iter().filter(|(variable, value)| {
            used.contains(&variable.as_str())
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

    /// `GIT_CONFIG_KEY_0=NAME GIT_CONFIG_VALUE_0=VALUE`.
    fn counted(&mut self, flow: Flow) {
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

    /// Variables that a command without a program sets.
    pub fn set_variables(&mut self, set: Vec<(String, Word)>) {
        if self.exports_all {
            self.exported.extend(set);
        } else {
            self.own.extend(set);
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
                    let known = self.own.iter().rev().find(|(name, _)| word.known() == Some(name));
                    self.exported.extend(known.cloned());
                }
            }
        }
    }

    /// Variables that are exported: programs that come later perhaps run them.
    pub fn exported(&mut self, args: &[Word], flow: Flow) {
        for word in args {
            let Some((name, value)) = word.split_once('=') else { continue };
            let Some(name) = name.known().map(str::to_owned) else { continue };
            if VARIABLES.iter().any(|(_, variables)| variables.split(' ').any(|known| is_named(&name, known)))
            {
                self.perhaps(&name, |walker| walker.reread(&value, flow.proven_if(false)));
            }
        }
    }

    /// Settings and aliases of git that are scripts, or subcommands.
    pub fn git(&mut self, args: &[Word], flow: Flow, streams: &mut Streams) {
        let mut words = args.iter();
        let mut aliases =
            self.settings.iter().filter(|(program, ..)| *program == "git").cloned().collect::<Vec<_>>();
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
                        (Some(name), Some(value)) => aliases.push(("git", name, value.to_owned())),
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
        if let Some(script) = name.known().and_then(|name| script_of(name, value)) {
            self.aside(|walker| walker.reread(&script, flow.proven_if(false)));
        }
        if name.known().is_some_and(names_file) {
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
            (Some(name), Some(value)) => self.settings.push(("git", name, value.to_owned())),
            (Some(name), None) => self.settings.push(("git", name, "!$UNKNOWN".to_owned())),
            (None, _) => {
                if names_file(key) {
                    self.runs_file(value);
                }
                if let Some(script) = script_of(key, value) {
                    self.perhaps(key, |walker| walker.reread(&script, flow.proven_if(false)));
                }
            }
        }
    }

    /// `gh alias set NAME VALUE`, and what it stands for.
    pub fn gh(&mut self, args: &[Word], flow: Flow, streams: &mut Streams) {
        let mut words = args.iter().filter(|word| !word.start().starts_with('-') || word.known().is_none());
        match (words.next().and_then(Word::known), words.next().and_then(Word::known)) {
            (Some("alias"), Some("set")) => {
                let shell = args.iter().any(|word| matches!(word.known(), Some("-s" | "--shell")));
                if let (Some(name), Some(value)) = (words.next().and_then(Word::known), words.next()) {
                    let value = value.known().unwrap_or("!$UNKNOWN");
                    let mark = if shell && !value.starts_with('!') { "!" } else { "" };
                    self.settings.push(("gh", name.to_owned(), format!("{mark}{value}")));
                }
            }
            (Some(name), _) => {
                let place = args.iter().position(|word| word.known() == Some(name)).unwrap_or_default();
                let known =
                    self.settings.iter().rev().find(|(program, alias, _)| *program == "gh" && alias == name);
                if let Some(value) = known.map(|(.., value)| value.clone()) {
                    self.alias("gh", &value, args.get(place + 1..).unwrap_or_default(), flow, streams);
                }
            }
            _ => {}
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

/// Whether a setting names a file that git runs, or reads settings from.
fn names_file(name: &str) -> bool {
    let name = name.to_lowercase();
    SETTINGS_FILES.iter().any(|known| is_named(&name, known))
}

/// The name of an alias of git. Those of settings are alike in any case.
fn alias(setting: &str) -> Option<String> {
    let (section, name) = setting.split_once('.')?;
    section.eq_ignore_ascii_case("alias").then(|| name.to_owned())
}
