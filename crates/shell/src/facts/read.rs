//! Reads rows in their written form, in the files of this folder and under `facts` in a policy.
//!
//! Also a module of the build script, which reads the shipped rows: a fault in one of them ends the build.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Act;
use super::fault::{Fault, FaultKind, Reader, escaped};
use super::language::{Clears, Commands, Prints, UrlGlobs};
use super::row::{Condition, Deed, Depth, Does, Effect, Level, Opt, Program, Style, Takes};
use super::run::Run;
use super::words::{
    CHOOSING_WORDS, FILE_WORDS, HOST_WORDS, LANGUAGES, choosing, commands, files, given, hosts, is_option,
    is_plain, options, owned, prints, run,
};

/// The keys of effects on files, in the order of the reference page.
const ACTS: &[(&str, Act, Depth)] = &[
    ("reads", Act::Reads, Depth::Itself),
    ("reads_below", Act::Reads, Depth::Below),
    ("writes", Act::Writes, Depth::Itself),
    ("writes_below", Act::Writes, Depth::Below),
    ("deletes", Act::Deletes, Depth::Itself),
    ("deletes_below", Act::Deletes, Depth::Below),
];

/// Keys of rows alone whose value is `true` or `false`.
const SWITCHES: &str = "checked one_dash letters versions unmistakable options_first globals_first modes method assigns shell adds_env finds";
/// The other keys of rows alone, and those of rows and subcommands.
const KEYS: &str = "program subcommands clears_env unsets prints sets_up commands url_globs env_runs env_files env_options settings_run settings_files";
const LEVEL_KEYS: &str = "values flags chdir verbs goals plugins aliases idle opaque links runs chooses reads reads_below writes writes_below deletes deletes_below reaches none";

/// Reads the row of a program. Unreadable parts are left out, and reported.
pub fn program(row: &Value) -> (Program, Vec<Fault>) {
    let mut reader = Reader { faults: Vec::new() };
    let none = Map::new();
    let row = match row {
        Value::Object(row) => row,
        _ => {
            reader.fault("", "expected a mapping");
            &none
        }
    };
    let names = reader.names(row, "program", "a program's name, without its folder");
    let mut whole = reader.level(row, "", true);
    let (mut levels, mut listed) = (Vec::new(), BTreeSet::new());
    match row.get("subcommands") {
        Some(Value::Object(subs)) => {
            for (key, body) in subs {
                let pointer = format!("/subcommands/{}", escaped(key));
                let paths = reader.paths(key, &pointer);
                let level = match body {
                    Value::Object(body) => reader.level(body, &pointer, false),
                    Value::Null => Level::default(),
                    _ => {
                        reader.fault(&pointer, "expected a mapping");
                        continue;
                    }
                };
                for path in paths.iter().map(|path| path.join(" ")) {
                    if listed.contains(&path) {
                        reader.fault(&pointer, format!("a second entry for `{path}`"));
                    }
                    listed.insert(path);
                }
                levels.push(Level { subs: paths, ..level });
            }
            whole.subs = vec![Vec::new()];
        }
        // A row about these subcommands alone.
        Some(about) => {
            let texts: Vec<(String, &str)> = reader.texts(about, "/subcommands");
            whole.subs = texts
                .into_iter()
                .flat_map(
                    |(pointer, text)| {
                        if text.is_empty() { vec![Vec::new()] } else { reader.paths(text, &pointer) }
                    },
                )
                .collect();
        }
        None => whole.subs = vec![Vec::new()],
    }
    levels.insert(0, whole);
    let said = |key: &str| row.get(key) == Some(&Value::Bool(true));
    let style = if said("one_dash") { Style::OneDash } else { Style::Gnu };
    let words = |reader: &mut Reader, key: &str| match row.get(key) {
        Some(value) => reader.words(value, &format!("/{key}"), is_plain, "a word"),
        None => Vec::new(),
    };
    let program = Program {
        names,
        checked: said("checked"),
        style,
        letters: said("letters"),
        versions: said("versions"),
        options_first: said("options_first"),
        globals_first: said("globals_first"),
        modes: said("modes"),
        method: said("method"),
        assigns: said("assigns"),
        shell: said("shell"),
        adds_env: said("adds_env"),
        clears_env: reader.clears_env(row),
        unsets: match row.get("unsets") {
            Some(value) => reader.words(value, "/unsets", is_option, "an option"),
            None => Vec::new(),
        },
        finds: said("finds"),
        prints: reader.prints(row),
        sets_up: words(&mut reader, "sets_up"),
        url_globs: reader.url_globs(row),
        settings_run: words(&mut reader, "settings_run"),
        settings_files: words(&mut reader, "settings_files"),
        levels,
        commands: reader.commands(row),
        env_runs: words(&mut reader, "env_runs"),
        env_files: words(&mut reader, "env_files"),
        env_options: reader.env_options(row),
        unmistakable: said("unmistakable"),
    };
    (program, reader.faults)
}

impl Reader {
    /// The body of a row, or of a subcommand.
    fn level(&mut self, body: &Map<String, Value>, pointer: &str, is_row: bool) -> Level {
        let mut level = Level::default();
        let mut listed = BTreeSet::new();
        let is_in = |keys: &str, key: &str| is_row && keys.split(' ').any(|known| known == key);
        for (key, value) in body {
            let at = format!("{pointer}/{}", escaped(key));
            match key.as_str() {
                "values" => self.options(value, &at, true, &mut listed, &mut level.options),
                "flags" => self.options(value, &at, false, &mut listed, &mut level.options),
                "chdir" => level.chdir = self.words(value, &at, is_option, "an option, such as `-C`"),
                "idle" => level.idle = self.words(value, &at, is_plain, "a word"),
                "verbs" => match value.as_u64().or_else(|| value.as_str()?.parse().ok()) {
                    Some(number @ 1..=3) => level.verbs = number as usize,
                    _ => self.fault(&at, "expected 1, 2 or 3"),
                },
                "goals" => level.goals = self.switch(value, &at),
                "aliases" => level.aliases = self.switch(value, &at),
                "plugins" => level.plugins = self.switch(value, &at),
                "none" => self.none(value, &at, &mut level),
                "opaque" => self.always(value, &at, Deed::Opaque, &mut level),
                "links" => self.always(value, &at, Deed::Links, &mut level),
                "reaches" => self.reaches(value, &at, &mut level),
                "chooses" => self.chooses(value, &at, &mut level),
                "runs" => {
                    for (at, text) in self.texts(value, &at) {
                        level.runs.extend(self.run(text, &at));
                    }
                    level.runs.sort_by_key(|run| !run.besides);
                }
                key => match ACTS.iter().find(|(known, ..)| *known == key) {
                    Some((_, act, depth)) => self.files(value, &at, *act, *depth, &mut level),
                    None if is_in(SWITCHES, key) => drop(self.switch(value, &at)),
                    None if is_in(KEYS, key) => {}
                    None => {
                        let whole = [SWITCHES, KEYS].into_iter().filter(|_| is_row);
                        let known = whole.chain([LEVEL_KEYS]).flat_map(|keys| keys.split(' '));
                        self.unknown_key(key, pointer, known.collect());
                    }
                },
            }
        }
        level
    }

    fn switch(&mut self, value: &Value, pointer: &str) -> bool {
        if !value.is_boolean() {
            self.fault(pointer, "expected `true` or `false`");
        }
        *value == Value::Bool(true)
    }

    /// `listed`: the names of options that are already at this level.
    fn options<'v>(
        &mut self,
        value: &'v Value,
        pointer: &str,
        valued: bool,
        listed: &mut BTreeSet<&'v str>,
        out: &mut Vec<Opt>,
    ) {
        for (at, text) in self.texts(value, pointer) {
            for word in text.split(' ') {
                let (mut names, mut takes) =
                    (Vec::new(), if valued { Takes::Words(1) } else { Takes::Nothing });
                for spelling in word.split('=') {
                    let (name, own) = match spelling.rsplit_once(':') {
                        Some((name, number)) if valued && number.parse::<usize>().is_ok() => {
                            (name, number.parse().map(Takes::Words).unwrap_or(takes))
                        }
                        _ => match spelling.strip_suffix('?').filter(|name| valued && name.len() > 1) {
                            Some(name) => (name, Takes::Joined),
                            None => (spelling, takes),
                        },
                    };
                    takes = own;
                    let plus = !valued && matches!(name, "+" | "-");
                    if !plus && !is_option(name) {
                        let example =
                            if valued { "an option" } else { "an option, such as `-v` or `-v=--verbose`" };
                        self.fault(&at, format!("`{name}` is not {example}"));
                    } else if !listed.insert(name) {
                        self.fault(&at, format!("`{name}` is listed twice"));
                    } else {
                        names.push(name.to_owned());
                    }
                }
                if !names.is_empty() {
                    out.push(Opt { names, takes });
                }
            }
        }
    }

    fn none(&mut self, value: &Value, pointer: &str, level: &mut Level) {
        for (at, text) in self.texts(value, pointer) {
            for word in text.split(' ') {
                let meant = Effect::ALL.into_iter().filter(|(name, _)| word == "all" || *name == word);
                let meant: Vec<Effect> = meant.map(|(_, effect)| effect).collect();
                if meant.is_empty() {
                    self.fault(&at, format!("`{word}` is not an effect: write `reads`, `writes`, `deletes`, `reaches` or `all`"));
                }
                meant.into_iter().for_each(|effect| level.none.add(effect));
            }
        }
    }

    /// Its effect whenever the conditions hold.
    fn always(&mut self, value: &Value, pointer: &str, deed: Deed, level: &mut Level) {
        match value {
            Value::Bool(true) => level.does.push(Does { deed, conditions: Vec::new() }),
            Value::Bool(false) => {}
            _ => {
                for (at, text) in self.texts(value, pointer) {
                    let Some((head, conditions)) = self.conditioned(text, &at) else { continue };
                    match head.is_empty() {
                        true => level.does.push(Does { deed: deed.clone(), conditions }),
                        false => {
                            self.fault(&at, "expected `true`, `false`, or `with` or `without` and options")
                        }
                    }
                }
            }
        }
    }

    fn files(&mut self, value: &Value, pointer: &str, act: Act, depth: Depth, level: &mut Level) {
        let others = "`file PATH`, `below GLOB`, `packed ENDINGS`, options, `@OPTION`, `NAME=`, `none`, or `names`, `plain`, `fields`, `settings`, `lines`, `downloads` or `mounts` with options";
        let form = |head: &[&str]| files(head).map(|place| Deed::Files(act, depth, place));
        let (what, none) = (("words of a command", FILE_WORDS, others), Some(Effect::Files(act)));
        self.deeds(value, pointer, level, form, what, none);
    }

    fn reaches(&mut self, value: &Value, pointer: &str, level: &mut Level) {
        let others = "options, `OPTIONS or HOST`, `urls`, `repositories`, `connections`, `relays`, `jumps` or `settings` with options, `$VARIABLE`, a host's name, `unnamed NAME`, `unknown NAME`, `none`, or `'*'`";
        let form = |head: &[&str]| hosts(head).map(Deed::Reaches);
        self.deeds(value, pointer, level, form, ("hosts", HOST_WORDS, others), Some(Effect::Reaches));
    }

    fn chooses(&mut self, value: &Value, pointer: &str, level: &mut Level) {
        let others = "each with options: `leaves_out --exclude`";
        let form = |head: &[&str]| choosing(head).map(|(how, names)| Deed::Chooses(how, names));
        self.deeds(value, pointer, level, form, ("words that choose files", CHOOSING_WORDS, others), None);
    }

    /// The deeds of texts. For texts in an unknown form: what they should name, with which words, and alternatives.
    fn deeds(
        &mut self,
        value: &Value,
        pointer: &str,
        level: &mut Level,
        form: impl Fn(&[&str]) -> Option<Deed>,
        (what, known, others): (&str, &'static [&'static str], &str),
        effect: Option<Effect>,
    ) {
        for (at, text) in self.texts(value, pointer) {
            if text == "none" {
                effect.into_iter().for_each(|effect| level.none.add(effect));
                continue;
            }
            let Some((head, conditions)) = self.conditioned(text, &at) else { continue };
            match form(&head) {
                Some(deed) => level.does.push(Does { deed, conditions }),
                None => self.unknown(&at, &head.join(" "), what, known, others),
            }
        }
    }

    /// The words of a text, and the conditions at its end: `operands without -n --dry-run`.
    fn conditioned<'t>(&mut self, text: &'t str, pointer: &str) -> Option<(Vec<&'t str>, Vec<Condition>)> {
        let words: Vec<&str> = text.split(' ').collect();
        let begins = |at: usize| match words.get(at).copied() {
            Some("alone" | "named" | "several") => true,
            Some("bare") => words.get(at + 1).is_some_and(|word| is_plain(word)) && at + 2 == words.len(),
            Some("with" | "without" | "in") => words.get(at + 1).is_some_and(|word| is_option(word)),
            _ => false,
        };
        let end = (0..words.len()).find(|at| begins(*at)).unwrap_or(words.len());
        let (head, mut rest) = words.split_at_checked(end)?;
        let mut conditions = Vec::new();
        while let Some((word, others)) = rest.split_first() {
            if let ("bare", [letters, others @ ..]) = (*word, others) {
                conditions.push(Condition::Bare((*letters).to_owned()));
                rest = others;
                continue;
            }
            let end = others.iter().position(|word| !is_option(word)).unwrap_or(others.len());
            let (own, others) = others.split_at_checked(end)?;
            let condition = match *word {
                "alone" if own.is_empty() => Some(Condition::Alone),
                "named" if own.is_empty() => Some(Condition::Named),
                "several" if own.is_empty() => Some(Condition::Several),
                "with" => options(own).map(Condition::With),
                "without" => options(own).map(Condition::Without),
                "in" => options(own).map(Condition::In),
                other => {
                    self.fault(pointer, format!("`{other}` is not an option such as `-o` or `--output`"));
                    return None;
                }
            };
            let Some(condition) = condition else {
                self.fault(pointer, "`with`, `without` and `in` need an option");
                return None;
            };
            conditions.push(condition);
            rest = others;
        }
        Some((head.to_vec(), conditions))
    }

    fn commands(&mut self, row: &Map<String, Value>) -> Vec<Commands> {
        let Some(value) = row.get("commands") else { return Vec::new() };
        let mut found = Vec::new();
        for (at, text) in self.texts(value, "/commands") {
            let words: Vec<&str> = text.split(' ').collect();
            match commands(&words) {
                Some(commands) => found.push(commands),
                None => {
                    let known: Vec<&str> = LANGUAGES.iter().map(|(name, _)| *name).collect();
                    let message = format!("`{text}` does not say where commands of its own are");
                    let help = format!(
                        "write a language ({}), then what holds of `in OPTIONS`, `plus`, `operands`, `first`, `after_first`, `files OPTIONS`, `fed`, `fed alone` and `fed with OPTIONS`",
                        known.join(", ")
                    );
                    self.faults
                        .push(Fault { help: Some(help), ..Fault::new(FaultKind::BadValue, &at, message) });
                }
            }
        }
        found
    }

    /// `in --url -T named -o off -g`.
    fn url_globs(&mut self, row: &Map<String, Value>) -> Option<UrlGlobs> {
        let value = row.get("url_globs")?;
        let words: Vec<&str> = value.as_str().unwrap_or_default().split(' ').collect();
        let mut rest = words.as_slice();
        let mut take = |name| given(name, &mut rest);
        let (values, named, off) = (take("in"), take("named"), take("off"));
        if let (Some(values), Some(named), Some(off), []) = (values, named, off, rest) {
            return Some(UrlGlobs { values, named, off });
        }
        self.fault("/url_globs", "expected `in OPTIONS named OPTIONS off OPTIONS`, or some of these");
        None
    }

    /// `true`, or `without OPTIONS`, or `with OPTIONS`.
    fn clears_env(&mut self, row: &Map<String, Value>) -> Option<Clears> {
        let value = row.get("clears_env")?;
        let words: Vec<&str> = value.as_str().unwrap_or_default().split(' ').collect();
        let are_options = |names: &[&str]| names.iter().all(|name| is_option(name) || *name == "-");
        match (value, words.as_slice()) {
            (Value::Bool(clears), _) => clears.then(|| Clears::Unless(Vec::new())),
            (_, ["without", names @ ..]) if are_options(names) => Some(Clears::Unless(owned(names))),
            (_, ["with", names @ ..]) if are_options(names) => Some(Clears::With(owned(names))),
            _ => {
                self.fault("/clears_env", "expected `true`, `false`, or `with` or `without` and options");
                None
            }
        }
    }

    /// `words`, `new -d --directory`.
    fn prints(&mut self, row: &Map<String, Value>) -> Option<Prints> {
        let value = row.get("prints")?;
        let words: Vec<&str> = value.as_str().unwrap_or_default().split(' ').collect();
        let prints = prints(&words);
        if prints.is_none() {
            let expected = "expected `words`, `format`, `input`, `names`, `folder`, or `new` with options that change nothing";
            self.fault("/prints", expected);
        }
        prints
    }

    /// `words after 1`, `-c --command or words`, `script elsewhere`.
    fn run(&mut self, text: &str, pointer: &str) -> Option<Run> {
        let words: Vec<&str> = text.split(' ').collect();
        let run = run(&words);
        if run.is_none() {
            let message = format!("`{text}` does not say how the other program is named");
            self.faults.push(Fault {
                help: Some("write `words`, `script`, `first`, `input`, `keys`, `piped`, `past OPTIONS`, `entry OPTIONS`, `as PROGRAM`, options, `OPTIONS or words`, or `OPTIONS and words`; then what holds of `after NUMBER`, `elsewhere`, `apart`, `more`, `fills`, `besides`, `versioned`, `unless OPTIONS` and `shell`".to_owned()),
                ..Fault::new(FaultKind::BadValue, pointer, message)
            });
        }
        run
    }
}
