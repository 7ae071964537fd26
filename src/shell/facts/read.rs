//! Rows as they are written, in the files of this folder and under `facts` in a policy.
//!
//! Also a module of the build script, which reads the shipped rows: what is wrong with one of them ends the build.

use serde_json::{Map, Value};

use super::row::{
    Apart, At, CommandOperands, Commands, Condition, Deed, Depth, Does, Effect4, Fed, Inner, Language, Level,
    Net, Opt, Program, Run, Shell, Style, Takes,
};
use super::Act;

/// What is wrong with a row, and where: a JSON pointer from the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Of which kind it is.
    pub kind: FaultKind,
    /// The place.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
    /// The word that is not known, and what it may have been meant as.
    pub known: Option<(String, &'static [&'static str])>,
    /// What to write instead.
    pub help: Option<String>,
}

/// Kinds of what is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A key that a row does not have.
    UnknownKey,
    /// A key that a row needs.
    MissingKey,
    /// A value that says nothing that can be understood.
    BadValue,
}

impl Fault {
    fn new(kind: FaultKind, pointer: &str, message: impl Into<String>) -> Fault {
        Fault { kind, pointer: pointer.to_owned(), message: message.into(), known: None, help: None }
    }
}

/// The words that name operands, each with what it stands for.
const FILES: &[(&str, At)] = &[
    ("operands", At::All),
    ("first", At::First),
    ("after_first", At::Rest),
    ("last", At::Last),
    ("before_last", At::ButLast),
    ("folder", At::Here),
    ("operands_or_folder", At::AllOrHere),
    ("after_first_or_folder", At::RestOrHere),
    ("environment", At::Environment),
    ("local", At::Local),
    ("local_last", At::LocalLast),
    ("local_before_last", At::LocalButLast),
    ("tracked", At::Tracked),
    ("untracked", At::Untracked),
    ("revisions", At::Revisions),
];

/// The same words, for suggestions.
pub const FILE_WORDS: &[&str] = &[
    "operands",
    "first",
    "after_first",
    "last",
    "before_last",
    "folder",
    "operands_or_folder",
    "after_first_or_folder",
    "environment",
    "local",
    "local_last",
    "local_before_last",
    "tracked",
    "untracked",
    "revisions",
];

/// The words that name hosts.
pub const HOST_WORDS: &[&str] = &["operands", "first", "remotes"];

/// The keys of effects on files, in the order of the reference page.
const ACTS: &[(&str, Act, Depth)] = &[
    ("reads", Act::Reads, Depth::Itself),
    ("reads_below", Act::Reads, Depth::Below),
    ("writes", Act::Writes, Depth::Itself),
    ("writes_below", Act::Writes, Depth::Below),
    ("deletes", Act::Deletes, Depth::Itself),
    ("deletes_below", Act::Deletes, Depth::Below),
];

/// The keys of a row alone.
const TOP: &[&str] = &[
    "program", "checked", "one_dash", "letters", "versions", "unmistakable", "subcommands", "commands",
    "env_runs", "env_files", "env_options",
];

/// All keys of a row.
pub const ROW_KEYS: &[&str] = &[
    "program", "checked", "one_dash", "letters", "versions", "unmistakable", "values", "flags", "chdir",
    "verbs", "goals", "plugins", "idle", "commands", "env_runs", "env_files", "env_options", "opaque", "runs", "reads", "reads_below", "writes", "writes_below", "deletes", "deletes_below",
    "reaches", "none", "subcommands",
];

/// Reads the row of a program. What cannot be read is left out, and said.
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
    let mut whole = reader.level(row, "", TOP);
    let mut levels = Vec::new();
    match row.get("subcommands") {
        Some(Value::Object(subs)) => {
            for (key, body) in subs {
                let pointer = format!("/subcommands/{}", escaped(key));
                let paths = reader.paths(key, &pointer);
                let level = match body {
                    Value::Object(body) => reader.level(body, &pointer, &[]),
                    Value::Null => Level::default(),
                    _ => {
                        reader.fault(&pointer, "expected a mapping");
                        continue;
                    }
                };
                for path in &paths {
                    if levels.iter().any(|level: &Level| level.subs.contains(path)) {
                        reader.fault(&pointer, format!("a second entry for `{}`", path.join(" ")));
                    }
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
                .flat_map(|(pointer, text)| if text.is_empty() { vec![Vec::new()] } else { reader.paths(text, &pointer) })
                .collect();
        }
        None => whole.subs = vec![Vec::new()],
    }
    levels.insert(0, whole);
    let said = |key: &str| row.get(key) == Some(&Value::Bool(true));
    let style = if said("one_dash") { Style::OneDash } else { Style::Gnu };
    let words = |reader: &mut Reader, key: &str| match row.get(key) {
        Some(value) => reader.words(value, &format!("/{key}"), is_plain, "a variable"),
        None => Vec::new(),
    };
    let (env_runs, env_files) = (words(&mut reader, "env_runs"), words(&mut reader, "env_files"));
    let program = Program {
        names,
        checked: said("checked"),
        style,
        letters: said("letters"),
        versions: said("versions"),
        levels,
        commands: reader.commands(row),
        env_runs,
        env_files,
        env_options: reader.env_options(row),
        unmistakable: said("unmistakable"),
    };
    (program, reader.faults)
}

/// Whether a word is an option with its dashes.
pub fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && is_plain(word)
}

/// Whether a word has no blank and no control character.
pub fn is_plain(word: &str) -> bool {
    !word.chars().any(|letter| letter.is_whitespace() || letter.is_control())
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// These words, if all are options.
fn options(words: &[&str]) -> Option<Vec<String>> {
    (!words.is_empty() && words.iter().all(|word| is_option(word))).then(|| owned(words))
}

/// Collects what is wrong.
pub struct Reader {
    /// What is wrong so far.
    pub faults: Vec<Fault>,
}

impl Reader {
    /// Says what is wrong at a place.
    pub fn fault(&mut self, pointer: &str, message: impl Into<String>) {
        self.faults.push(Fault::new(FaultKind::BadValue, pointer, message));
    }

    fn unknown(&mut self, pointer: &str, written: &str, what: &str, known: &'static [&'static str], others: &str) {
        let listed: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
        self.faults.push(Fault {
            known: Some((written.to_owned(), known)),
            help: Some(format!("write {}, {others}", listed.join(", "))),
            ..Fault::new(FaultKind::BadValue, pointer, format!("`{written}` does not name {what}"))
        });
    }

    /// A text or a list of them, each with its place.
    pub fn texts<'v>(&mut self, value: &'v Value, pointer: &str) -> Vec<(String, &'v str)> {
        let items: Vec<(String, &Value)> = match value {
            Value::Array(items) if items.is_empty() => {
                self.fault(pointer, "an empty list says nothing");
                Vec::new()
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)).collect()
            }
            one => vec![(pointer.to_owned(), one)],
        };
        let mut texts = Vec::new();
        for (pointer, item) in items {
            match item.as_str() {
                Some(text) if text.starts_with(' ') || text.ends_with(' ') || text.contains("  ") => {
                    self.fault(&pointer, format!("`{text}` has blanks too many"))
                }
                Some(text) => texts.push((pointer, text)),
                None => self.fault(&pointer, "expected text"),
            }
        }
        texts
    }

    /// The names of programs or tools, which are compared letter by letter.
    pub fn names(&mut self, row: &Map<String, Value>, key: &str, what: &str) -> Vec<String> {
        let Some(value) = row.get(key) else {
            self.faults.push(Fault::new(FaultKind::MissingKey, "", format!("a row needs `{key}`")));
            return Vec::new();
        };
        let mut names = Vec::new();
        for (pointer, name) in self.texts(value, &format!("/{key}")) {
            if name.is_empty() || name.contains('/') || !is_plain(name) {
                self.fault(&pointer, format!("`{name}` is not {what}"));
            } else if name.len() > 1 && name.contains(['*', '?']) {
                let message = format!("`{name}` is compared letter by letter, its `*` too");
                self.faults.push(Fault {
                    help: Some("name each of them: a row is for the names that it lists".to_owned()),
                    ..Fault::new(FaultKind::BadValue, &pointer, message)
                });
            } else {
                names.push(name.to_owned());
            }
        }
        names
    }

    fn paths(&mut self, key: &str, pointer: &str) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for sub in key.split('|').map(str::trim) {
            let words: Vec<&str> = sub.split(' ').collect();
            match words.iter().all(|word| !word.is_empty() && !word.starts_with('-') && is_plain(word)) {
                true => paths.push(owned(&words)),
                false => self.fault(pointer, format!("`{sub}` is not a subcommand")),
            }
        }
        paths
    }

    fn level(&mut self, body: &Map<String, Value>, pointer: &str, more: &[&str]) -> Level {
        let mut level = Level::default();
        for (key, value) in body {
            let at = format!("{pointer}/{}", escaped(key));
            match key.as_str() {
                "values" => self.options(value, &at, true, &mut level.options),
                "flags" => self.options(value, &at, false, &mut level.options),
                "chdir" => level.chdir = self.words(value, &at, is_option, "an option, such as `-C`"),
                "idle" => level.idle = self.words(value, &at, is_plain, "a word"),
                "verbs" => match value.as_u64().or_else(|| value.as_str()?.parse().ok()) {
                    Some(number @ 1..=3) => level.verbs = number as usize,
                    _ => self.fault(&at, "expected 1, 2 or 3"),
                },
                "goals" | "plugins" | "checked" | "one_dash" | "letters" | "versions" | "unmistakable" => {
                    if !value.is_boolean() {
                        self.fault(&at, "expected `true` or `false`");
                    }
                    level.goals |= key == "goals" && *value == Value::Bool(true);
                    level.plugins |= key == "plugins" && *value == Value::Bool(true);
                }
                "none" => self.none(value, &at, &mut level),
                "opaque" => self.opaque(value, &at, &mut level),
                "reaches" => self.reaches(value, &at, &mut level),
                "runs" => {
                    for (at, text) in self.texts(value, &at) {
                        level.runs.extend(self.run(text, &at));
                    }
                    level.runs.sort_by_key(|run| !run.besides);
                }
                key => match ACTS.iter().find(|(known, ..)| *known == key) {
                    Some((_, act, depth)) => self.files(value, &at, *act, *depth, &mut level),
                    None if more.contains(&key) => {}
                    None => self.faults.push(Fault {
                        known: Some((key.to_owned(), ROW_KEYS)),
                        ..Fault::new(FaultKind::UnknownKey, &at, format!("unknown key `{key}`"))
                    }),
                },
            }
        }
        level
    }

    /// Words with blanks between them, or a list of such texts.
    pub fn words(&mut self, value: &Value, pointer: &str, fits: fn(&str) -> bool, what: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, text) in self.texts(value, pointer) {
            for word in text.split(' ') {
                match !word.is_empty() && fits(word) {
                    true => words.push(word.to_owned()),
                    false => self.fault(&at, format!("`{word}` is not {what}")),
                }
            }
        }
        words
    }

    fn options(&mut self, value: &Value, pointer: &str, valued: bool, out: &mut Vec<Opt>) {
        for (at, text) in self.texts(value, pointer) {
            for word in text.split(' ') {
                let (mut names, mut takes) = (Vec::new(), if valued { Takes::Words(1) } else { Takes::Nothing });
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
                    let plus = !valued && name == "+";
                    if !plus && !is_option(name) {
                        let example = if valued { "an option" } else { "an option, such as `-v` or `-v=--verbose`" };
                        self.fault(&at, format!("`{name}` is not {example}"));
                    } else if out.iter().any(|option: &Opt| option.names.iter().any(|own| own == name)) {
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
                match word {
                    "all" => level.none = Effect4::ALL,
                    "reads" => level.none.reads = true,
                    "writes" => level.none.writes = true,
                    "deletes" => level.none.deletes = true,
                    "reaches" => level.none.reaches = true,
                    other => self.fault(&at, format!("`{other}` is not an effect: write `reads`, `writes`, `deletes`, `reaches` or `all`")),
                }
            }
        }
    }

    fn opaque(&mut self, value: &Value, pointer: &str, level: &mut Level) {
        match value {
            Value::Bool(true) => level.does.push(Does { deed: Deed::Opaque, conditions: Vec::new() }),
            Value::Bool(false) => {}
            _ => {
                for (at, text) in self.texts(value, pointer) {
                    let Some((head, conditions)) = self.conditioned(text, &at) else { continue };
                    match head.is_empty() {
                        true => level.does.push(Does { deed: Deed::Opaque, conditions }),
                        false => self.fault(&at, "expected `true`, `false`, or `with` or `without` and options"),
                    }
                }
            }
        }
    }

    fn files(&mut self, value: &Value, pointer: &str, act: Act, depth: Depth, level: &mut Level) {
        for (at, text) in self.texts(value, pointer) {
            if text == "none" {
                match act {
                    Act::Reads => level.none.reads = true,
                    Act::Writes => level.none.writes = true,
                    Act::Deletes => level.none.deletes = true,
                }
                continue;
            }
            let Some((head, conditions)) = self.conditioned(text, &at) else { continue };
            match files(&head) {
                Some(place) => level.does.push(Does { deed: Deed::Files(act, depth, place), conditions }),
                None => {
                    let others = "`file PATH`, `below GLOB`, `names OPTIONS`, options, `@OPTION`, `NAME=`, or `none`";
                    self.unknown(&at, &head.join(" "), "words of a command", FILE_WORDS, others);
                }
            }
        }
    }

    fn reaches(&mut self, value: &Value, pointer: &str, level: &mut Level) {
        for (at, text) in self.texts(value, pointer) {
            if text == "none" {
                level.none.reaches = true;
                continue;
            }
            let Some((head, conditions)) = self.conditioned(text, &at) else { continue };
            match hosts(&head) {
                Some(net) => level.does.push(Does { deed: Deed::Reaches(net), conditions }),
                None => {
                    let others = "options, `OPTIONS or HOST`, `urls OPTIONS`, `$VARIABLE`, a host's name, `unnamed NAME`, `unknown NAME`, `none`, or `'*'`";
                    self.unknown(&at, &head.join(" "), "hosts", HOST_WORDS, others);
                }
            }
        }
    }

    /// The words of a text, and the conditions at its end: `operands without -n --dry-run`.
    fn conditioned<'t>(&mut self, text: &'t str, pointer: &str) -> Option<(Vec<&'t str>, Vec<Condition>)> {
        let words: Vec<&str> = text.split(' ').collect();
        let begins = |at: usize| match words.get(at).copied() {
            Some("alone" | "named" | "several") => true,
            Some("with" | "without" | "in") => words.get(at + 1).is_some_and(|word| is_option(word)),
            _ => false,
        };
        let end = (0..words.len()).find(|at| begins(*at)).unwrap_or(words.len());
        let (head, mut rest) = words.split_at_checked(end)?;
        let mut conditions = Vec::new();
        while let Some((word, others)) = rest.split_first() {
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
                        "write a language ({}), then what holds of `in OPTIONS`, `plus`, `first`, `after_first`, `files OPTIONS`, `fed`, `fed alone` and `fed with OPTIONS`",
                        known.join(", ")
                    );
                    self.faults.push(Fault { help: Some(help), ..Fault::new(FaultKind::BadValue, &at, message) });
                }
            }
        }
        found
    }

    fn env_options(&mut self, row: &Map<String, Value>) -> Vec<(String, Vec<String>)> {
        match row.get("env_options") {
            Some(Value::Object(members)) => {
                let one = |(name, value): (&String, &Value)| {
                    let at = format!("/env_options/{}", escaped(name));
                    (name.clone(), self.words(value, &at, is_option, "an option"))
                };
                members.iter().map(one).collect()
            }
            Some(_) => {
                self.fault("/env_options", "expected a mapping from a variable to the options that do no harm");
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// `words after 1`, `-c --command or words`, `script elsewhere`.
    fn run(&mut self, text: &str, pointer: &str) -> Option<Run> {
        let words: Vec<&str> = text.split(' ').collect();
        let run = run(&words);
        if run.is_none() {
            let message = format!("`{text}` does not say how the other program is named");
            self.faults.push(Fault {
                help: Some("write `words`, `script`, `first`, `input`, `keys`, `past OPTIONS`, `entry OPTIONS`, `as PROGRAM`, options, or `OPTIONS or words`; then what holds of `after NUMBER`, `elsewhere`, `apart`, `more`, `besides` and `shell`".to_owned()),
                ..Fault::new(FaultKind::BadValue, pointer, message)
            });
        }
        run
    }
}

/// The names of languages.
const LANGUAGES: &[(&str, Language)] = &[
    ("awk", Language::Awk),
    ("ed", Language::Ed),
    ("gdb", Language::Gdb),
    ("jq", Language::Jq),
    ("less", Language::Less),
    ("mysql", Language::Mysql),
    ("patch", Language::Patch),
    ("psql", Language::Psql),
    ("sed", Language::Sed),
    ("sqlcmd", Language::Sqlcmd),
    ("sqlite", Language::Sqlite),
    ("sqlplus", Language::Sqlplus),
    ("transfer", Language::Transfer),
    ("vim", Language::Vim),
];

/// `vim in -c --cmd plus files -S fed with -e`.
fn commands(words: &[&str]) -> Option<Commands> {
    let (name, mut rest) = words.split_first()?;
    let language = LANGUAGES.iter().find(|(known, _)| known == name).map(|(_, language)| *language)?;
    let options = given("in", &mut rest)?;
    let operands = match rest.split_first() {
        Some((&"plus", _)) => CommandOperands::Plus,
        Some((&"first", _)) => CommandOperands::First,
        Some((&"after_first", _)) => CommandOperands::Rest,
        _ => CommandOperands::None,
    };
    if operands != CommandOperands::None {
        rest = rest.get(1..)?;
    }
    let files = given("files", &mut rest)?;
    let fed = match rest {
        [] => Fed::Never,
        ["fed"] => Fed::Always,
        ["fed", "alone"] => Fed::Alone,
        ["fed", "with", own @ ..] => Fed::With(self::options(own)?),
        _ => return None,
    };
    Some(Commands { language, options, operands, files, fed })
}

fn files(words: &[&str]) -> Option<At> {
    match words {
        [word] if FILE_WORDS.contains(word) => {
            FILES.iter().find(|(known, _)| known == word).map(|(_, at)| at.clone())
        }
        [word] if word.len() > 1 && word.ends_with('=') && !word.starts_with('-') && is_plain(word) => {
            Some(At::Field((*word).to_owned()))
        }
        ["names", rest @ ..] => options(rest).map(At::Into),
        ["file", path] => Some(At::Fixed((*path).to_owned())),
        ["below", glob] => Some(At::Below((*glob).to_owned())),
        words => options(words).map(At::Value).or_else(|| {
            let attached: Option<Vec<&str>> = words.iter().map(|word| word.strip_prefix('@')).collect();
            options(&attached?).map(At::Attached)
        }),
    }
}

fn hosts(words: &[&str]) -> Option<Net> {
    let said = |rest: &[&str]| (!rest.concat().is_empty()).then(|| rest.join(" "));
    match words {
        ["operands"] => Some(Net::Urls),
        ["first"] => Some(Net::First),
        ["remotes"] => Some(Net::Remotes),
        ["*"] => Some(Net::Elsewhere("a host that the row does not name".to_owned())),
        ["unnamed", rest @ ..] => said(rest).map(Net::Elsewhere),
        ["unknown", rest @ ..] => said(rest).map(Net::Listed),
        ["first", "or", "unnamed", rest @ ..] => said(rest).map(Net::OperandOr),
        ["urls", rest @ ..] => options(rest).map(Net::UrlValue),
        [own @ .., "or", host] if is_host(host) => {
            options(own).map(|own| Net::Value(own, Some((*host).to_owned())))
        }
        [word] if is_host(word) => Some(Net::Fixed((*word).to_owned())),
        [word] if word.len() > 1 && word.starts_with('$') && is_plain(word) => {
            word.strip_prefix('$').map(|name| Net::Variable(name.to_owned()))
        }
        words => options(words).map(|own| Net::Value(own, None)),
    }
}

/// Every host but this machine has a point or a colon in its name.
fn is_host(word: &str) -> bool {
    let begins = !word.starts_with(['-', '$', '@']);
    begins && is_plain(word) && !word.contains('*') && (word.contains(['.', ':']) || word == "localhost")
}

/// Takes a mark.
fn mark(name: &str, rest: &mut &[&str]) -> bool {
    match rest {
        [first, others @ ..] if *first == name => {
            *rest = others;
            true
        }
        _ => false,
    }
}

/// Takes the options after a word.
fn given(name: &str, rest: &mut &[&str]) -> Option<Vec<String>> {
    if !mark(name, rest) {
        return Some(Vec::new());
    }
    let end = rest.iter().position(|word| !is_option(word)).unwrap_or(rest.len());
    let (own, others) = rest.split_at_checked(end)?;
    *rest = others;
    options(own)
}

fn run(words: &[&str]) -> Option<Run> {
    let marks = ["after", "elsewhere", "apart", "more", "besides", "shell"];
    let end = words.iter().position(|word| marks.contains(word)).unwrap_or(words.len());
    let (own, mut rest) = words.split_at_checked(end)?;
    let inner = match own {
        ["words"] => Inner::Words,
        ["script"] => Inner::Script,
        ["first"] => Inner::First,
        ["input"] => Inner::Input,
        ["keys"] => Inner::Keys,
        ["entry", own @ ..] => Inner::Entry(options(own)?),
        ["past", own @ ..] => Inner::After(options(own)?),
        ["as", program] if is_plain(program) && !program.is_empty() => Inner::As((*program).to_owned()),
        [own @ .., "or", "words"] => Inner::ValueOrWords(options(own)?),
        own => Inner::Value(options(own)?),
    };
    let mut skip = 0;
    if let ["after", number, others @ ..] = rest {
        let digits = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        (skip, rest) = (number.parse().ok().filter(|_| digits)?, others);
    }
    let elsewhere = mark("elsewhere", &mut rest);
    let apart = match mark("apart", &mut rest) {
        true => Some(Apart { with: given("with", &mut rest)?, without: given("without", &mut rest)? }),
        false => None,
    };
    let (more, besides) = (mark("more", &mut rest), mark("besides", &mut rest));
    let shell = match rest {
        [] => Shell::Never,
        ["shell"] => Shell::Always,
        ["shell", own @ ..] => Shell::With(options(own)?),
        _ => return None,
    };
    Some(Run { inner, skip, elsewhere, apart, more, besides, shell })
}
