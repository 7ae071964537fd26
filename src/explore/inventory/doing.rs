//! What a call does: its programs, files and hosts, by the facts that rules use, and its unknowns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use fluent_uri::Iri;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::{self, Access};
use rulestep_base::session::{Body, Call, Facts, Outcome};
use rulestep_shell::action::action;
use rulestep_shell::facts::Table;
use rulestep_shell::reading::{Made, reading};
use rulestep_shell::{Act, Answer, Extent, Host, Patterns, Place, Root, SmallCall, Word, given, tool};

/// Longest name of a row, in characters: recorded names may be of any length.
const LONGEST: usize = 200;

/// The zone of a file. A file may be in two: a secret is also in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// In the folder in which the session began.
    Project,
    /// In a folder for temporary files.
    Temporary,
    /// In someone's home folder.
    Home,
    /// Anywhere else.
    Outside,
    /// A variable of the environment.
    Environment,
    /// Its name depends on an unknown.
    Unknown,
    /// A file or variable of a name that is usual for secrets.
    Secret,
}

/// An unknown of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Its command line: it cannot be read to its end.
    CommandLine,
    /// One of its commands: the program is unknown, or a word that decides.
    Command,
    /// A script, or code in another language.
    Code,
    /// Its tool.
    Tool,
    /// The file it works on.
    File,
    /// The host it connects to.
    Host,
    /// Its arguments, which are not a JSON object.
    Arguments,
}

impl Zone {
    /// The zone of a file, and whether its name is usual for secrets.
    pub fn of(place: &Place) -> (Zone, bool) {
        let certain = |patterns: &Patterns| patterns.matches(place, Extent::Itself) == Answer::Yes;
        let found = ZONES.iter().find(|(_, patterns)| certain(patterns)).map(|(zone, _)| *zone);
        let rest = if place.unclear().is_some() { Zone::Unknown } else { Zone::Outside };
        (found.unwrap_or(rest), certain(&SECRET))
    }

    /// The name in data.
    pub fn name(self) -> &'static str {
        match self {
            Zone::Project => "project",
            Zone::Temporary => "temporary",
            Zone::Home => "home",
            Zone::Outside => "outside",
            Zone::Environment => "environment",
            Zone::Unknown => "unknown",
            Zone::Secret => "secret",
        }
    }

    /// Its title, for people.
    pub fn title(self) -> &'static str {
        match self {
            Zone::Project => "the project's folder",
            Zone::Temporary => "temporary files",
            Zone::Home => "a home folder, outside the project",
            Zone::Outside => "anywhere else",
            Zone::Environment => "environment variables",
            Zone::Unknown => "not known where",
            Zone::Secret => "names commonly used for secrets, in any folder",
        }
    }
}

impl Gap {
    /// The name in data.
    pub fn name(self) -> &'static str {
        match self {
            Gap::CommandLine => "command_line",
            Gap::Command => "command",
            Gap::Code => "code",
            Gap::Tool => "tool",
            Gap::File => "file",
            Gap::Host => "host",
            Gap::Arguments => "arguments",
        }
    }

    /// Its title, for people.
    pub fn title(self) -> &'static str {
        match self {
            Gap::CommandLine => "what a command line runs that cannot be read to its end",
            Gap::Command => "what a command does whose program, or a deciding word, is not known",
            Gap::Code => "what scripts and code in other languages do",
            Gap::Tool => "what a tool does that no fact describes",
            Gap::File => "which file is meant, and where it is",
            Gap::Host => "which host is reached",
            Gap::Arguments => "what arguments say that are not a JSON object",
        }
    }
}

/// The effects of a call, each once.
#[derive(Default)]
pub struct Doing {
    /// Programs with their subcommands, each with how the command ended, if known.
    pub programs: BTreeMap<String, Option<bool>>,
    /// Files by name.
    pub files: BTreeSet<(String, Access)>,
    /// The zones of the files.
    pub zones: BTreeSet<(Zone, Access)>,
    /// Hosts, each with whether the call is known to connect there.
    pub hosts: BTreeMap<String, bool>,
    /// The unknowns.
    pub gaps: BTreeSet<Gap>,
    /// Whether it runs a command line.
    pub command: bool,
}

/// The effects of a call by the facts about programs and tools.
pub fn doing(call: &Call, session: &Facts, known: &Table) -> Doing {
    let mut doing = Doing::default();
    // The recording's own body would keep the parsed tree for as long as its session is in memory.
    let arguments = Body::text(call.arguments.raw());
    let object = match arguments.parsed() {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    };
    let row = known.tool(&call.tool);
    let made = Made { arguments: &arguments, ..Made::of(call, session) };
    let line = reading(made, known);
    let runs = |small: &SmallCall| !small.at.is_empty() || small.program.known() != Some("");
    doing.command = tool::runs_commands(known, &call.tool) || line.calls.iter().any(runs);
    let alone = line.calls.len() == 1;
    // For a tool without a row, the call beside its command has no known effects.
    let says = |small: &&SmallCall| row.is_some() || runs(small);
    for small in line.calls.iter().filter(says) {
        doing.small(small, call.outcome, alone, known);
    }
    if line.problem.is_some() {
        doing.gaps.insert(Gap::CommandLine);
    }
    if object.is_none() && !call.arguments.raw().trim().is_empty() && doing.is_empty() {
        doing.gaps.insert(Gap::Arguments);
    }
    if row.is_none() {
        doing.gaps.insert(Gap::Tool);
        let root = made.root(Table::default());
        object.into_iter().for_each(|object| doing.named(object, &root));
    }
    doing
}

impl Doing {
    fn is_empty(&self) -> bool {
        !self.command && self.files.is_empty() && self.hosts.is_empty() && self.zones.is_empty()
    }

    fn small(&mut self, small: &SmallCall, outcome: Outcome, alone: bool, known: &Table) {
        if small.unclear.is_some() || small.doubt.is_some() {
            self.gaps.insert(Gap::Command);
        }
        if small.opaque {
            self.gaps.insert(Gap::Code);
        }
        if let Some(words) = action(small, known) {
            let ended = match outcome {
                Outcome::Ok if small.proven => Some(true),
                Outcome::Error if alone => Some(false),
                _ => None,
            };
            let all = self.programs.entry(cut(words.join(" "))).or_insert(ended);
            if *all != ended {
                *all = None;
            }
        }
        for touch in &small.touches {
            let access = match touch.act {
                Act::Reads => Access::Read,
                Act::Writes => Access::Written,
                Act::Deletes => Access::Deleted,
            };
            let (zone, secret) = Zone::of(&touch.place);
            self.zones.insert((zone, access));
            self.zones.extend(secret.then_some((Zone::Secret, access)));
            match zone {
                Zone::Unknown => drop(self.gaps.insert(Gap::File)),
                Zone::Environment => {}
                // A pattern with a known place names no file.
                _ => self.files.extend(name(&touch.place).map(|name| (name, access))),
            }
        }
        for host in &small.reaches {
            match host {
                Host::Named(word) => match word.known() {
                    Some(name) => drop(self.hosts.insert(cut(name.to_owned()), true)),
                    None => drop(self.gaps.insert(Gap::Host)),
                },
                // Another machine, which the settings name.
                Host::Elsewhere(what) => {
                    self.hosts.insert(cut(format!("({what})")), true);
                    self.gaps.insert(Gap::Host);
                }
                Host::Unknown(_) => drop(self.gaps.insert(Gap::Host)),
            }
        }
    }

    /// The files in the arguments of an unknown tool, whose effects on them are unknown.
    fn named(&mut self, object: &serde_json::Map<String, Value>, root: &Root) {
        let mut open: Vec<(Option<&str>, &Value)> =
            object.iter().map(|(key, value)| (Some(&**key), value)).collect();
        while let Some((key, value)) = open.pop() {
            match value {
                Value::String(text) => {
                    if key.is_some_and(facts::is_file) && !text.is_empty() {
                        let place = Place::new(&given::path(text), &Word::text("."), root);
                        self.files.extend(name(&place).map(|name| (name, Access::Named)));
                    }
                    if let Some(host) = host(text) {
                        self.hosts.entry(cut(host)).or_insert(false);
                    }
                }
                // Values in a list belong to the key of the list.
                Value::Array(values) => open.extend(values.iter().map(|value| (key, value))),
                Value::Object(object) => open.extend(object.iter().map(|(key, value)| (Some(&**key), value))),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }
}

/// The name by which a file is counted: absolute if the folder is known. Variables of the environment are not files.
fn name(place: &Place) -> Option<String> {
    if place.unclear().is_some() {
        return None;
    }
    let absolute = place.names().find(|name| name.starts_with('/'));
    Some(cut(absolute.unwrap_or(place.shown()).to_owned()))
}

fn cut(name: String) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name,
    }
}

/// The patterns of a place, the first that fits is it.
static ZONES: LazyLock<[(Zone, Patterns); 4]> = LazyLock::new(|| {
    [
        (Zone::Environment, Patterns::new(["env:*"])),
        (Zone::Project, Patterns::new([".", "./**"])),
        (
            Zone::Temporary,
            Patterns::new(["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders"]),
        ),
        (Zone::Home, Patterns::new(["~", "/home", "/Users", "/root"])),
    ]
});

/// Names that are usual for secrets: those of the shipped policy for coding agents.
pub const SECRETS: &[&str] = &[
    "credentials",
    "!**/credentials/**",
    ".env",
    ".env.*",
    "!.env*.example",
    "!.env*.sample",
    "!.env*.template",
    "!.env*.dist",
    ".envrc",
    ".dev.vars",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    "credentials.json",
    "credentials.csv",
    "credentials.toml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "~/.ssh/**",
    "!~/.ssh/*.pub",
    "!~/.ssh/config",
    "!~/.ssh/known_hosts*",
    "!~/.ssh/authorized_keys*",
    "~/.gnupg/**",
    "~/.aws/**",
    "!~/.aws/config",
    "~/.azure/**",
    "~/.config/gcloud/**",
    "~/.terraform.d/credentials*",
    "~/.password-store/**",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    ".htpasswd",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/ssl/private/**",
    "*.tfstate",
    "!cacert.pem",
    "~/.kube/config",
    "~/.docker/config.json",
    "~/.config/gh/hosts.yml",
    "~/.config/rclone/rclone.conf",
    "~/.m2/settings.xml",
    "~/.cargo/credentials*",
    "~/.codex/auth.json",
    "~/.claude/.credentials.json",
    "~/.gemini/oauth_creds.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "service-account*.json",
    "service_account*.json",
    "/proc/*/environ",
    "env:*TOKEN*",
    "env:*SECRET*",
    "env:*PASSWORD*",
    "env:*API_KEY*",
    "env:*PRIVATE_KEY*",
];

static SECRET: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(SECRETS.iter().copied()));

/// The host, if the text as a whole is a URL of the network.
fn host(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.len() <= 12 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_scheme = is_scheme && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme || scheme.eq_ignore_ascii_case("file") || text.contains(char::is_whitespace) {
        return None;
    }
    let iri = Iri::parse(text).ok()?;
    let host = iri.authority()?.host();
    (!host.is_empty()).then(|| host.to_lowercase())
}
