//! Questions about a call, answered in three values.

mod lines;

use super::Answer;
use super::call::{Act, Host, SmallCall};
use super::conditions::{Set, Within, is_inner, is_swallowed};
use super::facts::{Program, Style, Table};
use super::glob::Glob;
use super::options::{Arguments, Given, arguments};
use super::path::Patterns;
use super::readings::readings;
use super::word::Word;

/// A question about a small call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// It runs this program.
    Runs(Runs),
    /// It works on a file that matches.
    Touches(Act, Patterns),
    /// It connects to a host that matches.
    Reaches(Hosts),
    /// It is made by the main agent, or by another.
    Agent(Agent),
    /// It is known to have ended in this way.
    Ended(End),
}

/// `runs: {program, args, flags, without, env, in}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    programs: Vec<Glob>,
    /// Leading words.
    args: Vec<Words>,
    flags: Vec<Flag>,
    without: Vec<Flag>,
    env: Vec<Set>,
    within: Option<Within>,
}

/// A leading word: one of these, and none of those that are taken out (`!get`).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Words(Vec<Choice>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    out: bool,
    glob: Glob,
}

/// An option that must be given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Flag {
    /// With its dashes.
    name: String,
    value: Option<Glob>,
    /// As a cluster of one-letter options, which it may be: `-rf`.
    cluster: Option<String>,
}

/// `reaches: …`, with `except`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    wanted: Vec<Glob>,
    /// Possible encodings of names with letters beyond ASCII: `xn--…`.
    encoded: Vec<Glob>,
    /// Whether `*` is wanted: any host but this machine.
    anywhere: bool,
    except: Vec<Glob>,
}

/// The agent that makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// The one that the user talks to.
    Main,
    /// One that another agent started.
    Sub,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
}

/// What is known of a whole call besides its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Surroundings {
    /// The agent that makes it.
    pub agent: Option<Agent>,
    /// The outcome of the whole, if it is known.
    pub ended: Option<End>,
    /// Whether the whole is one small call.
    pub alone: bool,
}

/// An option with its dashes: `f` is `-f`, and `message=a*` is `--message=a*`.
pub fn dashed(flag: &str) -> String {
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    match name.chars().count() {
        _ if flag.starts_with('-') => flag.to_owned(),
        1 => format!("-{flag}"),
        _ => format!("--{flag}"),
    }
}

impl Words {
    fn new(choices: Vec<&str>) -> Words {
        let choice = |written: &str| {
            let out = written.strip_prefix('!').filter(|rest| !rest.is_empty());
            Choice { out: out.is_some(), glob: Glob::of_names(out.unwrap_or(written)) }
        };
        Words(choices.into_iter().map(choice).collect())
    }

    fn matches(&self, word: &Word) -> Answer {
        let any = |out: bool| {
            let own = self.0.iter().filter(move |choice| choice.out == out);
            Answer::any(own.map(|choice| choice.glob.matches(word)))
        };
        any(false).and(|| any(true).inverse())
    }
}

impl Flag {
    fn new(written: &str) -> Flag {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(Glob::of_names(value))),
            None => (written, None),
        };
        let letters = name.strip_prefix('-').unwrap_or(name);
        // No word is as short as letters that people give together.
        let short = name.starts_with('-') || letters.len() <= 4;
        let all = letters.chars().all(char::is_alphanumeric) && letters.chars().count() > 1;
        let cluster = (value.is_none() && short && all).then(|| format!("-{letters}"));
        Flag { name: dashed(name), value, cluster }
    }
}

impl Runs {
    /// A question about one of some programs, its leading words and its flags, given with or without dashes.
    pub fn new<'t>(
        programs: impl IntoIterator<Item = &'t str>,
        args: impl IntoIterator<Item = Vec<&'t str>>,
        flags: impl IntoIterator<Item = &'t str>,
    ) -> Runs {
        Runs {
            programs: programs.into_iter().map(Glob::of_names).collect(),
            args: args.into_iter().map(Words::new).collect(),
            flags: flags.into_iter().map(Flag::new).collect(),
            without: Vec::new(),
            env: Vec::new(),
            within: None,
        }
    }

    /// The same with options that must be absent.
    pub fn without<'t>(self, flags: impl IntoIterator<Item = &'t str>) -> Runs {
        Runs { without: flags.into_iter().map(Flag::new).collect(), ..self }
    }

    /// The same with variables that the line must set.
    pub fn env<'t>(self, env: impl IntoIterator<Item = &'t str>) -> Runs {
        Runs { env: env.into_iter().map(Set::new).collect(), ..self }
    }

    /// The same in a folder that matches.
    pub fn within<'t>(self, patterns: impl IntoIterator<Item = &'t str>) -> Runs {
        Runs { within: Some(Within::new(patterns)), ..self }
    }

    /// Whether it depends on the folder in which a program runs.
    pub fn asks_folder(&self) -> bool {
        self.within.is_some()
    }

    fn matches(&self, call: &SmallCall, facts: &Table) -> Answer {
        if call.program.known() == Some("") {
            return Answer::No;
        }
        let program = match call.folds {
            true => {
                let name = call.program.folded();
                let folded = |glob: &Glob| Glob::of_names(&glob.name().to_lowercase());
                Answer::any(self.programs.iter().map(|glob| folded(glob).matches(&name)))
            }
            false => Answer::any(self.programs.iter().map(|glob| glob.matches(&call.program))),
        };
        if call.unclear.is_some() {
            // Its other words may be anything.
            return match (program, &call.unclear) {
                (Answer::No, _) => Answer::No,
                (_, Some(word)) => Answer::Perhaps(word.clone()),
                (answer, None) => answer,
            };
        }
        program.and(|| {
            let unlisted = Program::default();
            let row = call.program.known().and_then(|name| facts.program(name)).unwrap_or(&unlisted);
            // An option that is not listed may have taken the next word: what not all readings say is perhaps so.
            let asks_words = !self.args.is_empty() || self.within.is_some();
            if !asks_words && self.flags.is_empty() && self.without.is_empty() {
                return self.fits(row, &Arguments::default(), call);
            }
            let (readings, more) = readings(row, &call.args);
            let mut answers = readings.iter().map(|read| self.fits(row, read, call));
            let first = answers.next().unwrap_or(Answer::No);
            if answers.all(|other| other == first) && !more {
                return first;
            }
            let option =
                readings.first().and_then(|read| read.doubtful.as_ref()).map(|(_, option)| option.clone());
            Answer::Perhaps(option.unwrap_or_default())
        })
    }

    /// Whether the words after the program match in this reading, and the settings of the command.
    fn fits(&self, row: &Program, read: &Arguments<'_>, call: &SmallCall) -> Answer {
        let goals = self.args.len() == 1 && read.levels.iter().any(|level| level.goals);
        let leading = if goals { self.goal(read) } else { self.leading(read) };
        let given = leading.and(|| self.given(&self.flags, row, read));
        let given = self.env.iter().fold(given, |answer, set| answer.and(|| set.matches(call)));
        let given =
            given.and(|| self.within.as_ref().map_or(Answer::Yes, |within| within.matches(call, read)));
        self.without
            .iter()
            .fold(given, |answer, flag| answer.and(|| self.present(flag, row, read, call).inverse()))
    }

    /// Whether an option is in force that must be absent.
    fn present(&self, flag: &Flag, row: &Program, read: &Arguments<'_>, call: &SmallCall) -> Answer {
        let answer = self.given(std::slice::from_ref(flag), row, read);
        if answer != Answer::Yes {
            return answer;
        }
        let own = named(&flag.name, read);
        let is_it = |name: &str| name == flag.name || own.iter().any(|given| given.name == name);
        let has = |read: &Arguments<'_>| self.given(std::slice::from_ref(flag), row, read) != Answer::No;
        if is_inner(row, call, has) {
            return Answer::No;
        }
        // It may be the value of an unlisted option.
        let swallowed = || is_swallowed(call, read, is_it).map_or(Answer::Yes, Answer::Perhaps);
        read.state(is_it).and(swallowed)
    }

    /// Whether one of the operands is the word: of `make lint test`, each is a goal.
    fn goal(&self, arguments: &Arguments<'_>) -> Answer {
        let leading = self.leading(arguments);
        let goals = arguments.operands.iter().filter(|word| !word.to_string().contains('='));
        leading.or(|| {
            Answer::any(goals.map(|word| Answer::any(self.args.iter().map(|words| words.matches(word)))))
        })
    }

    /// Whether the operands begin with the words.
    fn leading(&self, arguments: &Arguments<'_>) -> Answer {
        let mut answer = Answer::Yes;
        for (at, wanted) in self.args.iter().enumerate() {
            let Some(word) = arguments.operands.get(at) else { return answer.and(|| Answer::No) };
            if word.many {
                return answer.and(|| Answer::Perhaps(word.unclear().unwrap_or("*").to_owned()));
            }
            let one = wanted.matches(word);
            answer = answer.and(|| one);
            if answer == Answer::No {
                return answer;
            }
        }
        answer
    }

    fn given(&self, flags: &[Flag], row: &Program, read: &Arguments<'_>) -> Answer {
        let mut answer = Answer::Yes;
        for Flag { name, value, cluster } in flags {
            let mut one = given(name, value.as_ref(), read);
            // `-rf` requires its parts: `-r` and `-f`.
            if let Some(cluster) = cluster.as_ref().filter(|_| one != Answer::Yes && row.style == Style::Gnu)
            {
                let mut all = Answer::Yes;
                for each in arguments(row, &[Word::text(cluster.as_str())]).options {
                    let value = each.value.as_ref().and_then(Word::known).map(Glob::of_names);
                    all = all.and(|| given(&each.name, value.as_ref(), read));
                }
                one = one.or(|| all);
            }
            answer = answer.and(|| one);
        }
        answer
    }
}

/// The options that are one, in whatever spelling.
fn named<'a>(flag: &str, arguments: &'a Arguments<'_>) -> Vec<&'a Given> {
    let known = |name: &str| arguments.levels.iter().rev().find_map(|level| level.option(name));
    let is_it = |name: &str| {
        flag == name
            || is_same_word(flag, name)
            || known(name).is_some_and(|option| option.names.iter().any(|own| own == flag || is_same_word(own, flag)))
            // The beginning of a long one is enough.
            || name.len() > 3 && name.starts_with("--") && flag.starts_with(name) && known(name).is_none()
    };
    arguments.options.iter().filter(|given| is_it(&given.name)).collect()
}

/// Whether an option was given, with a value that matches.
fn given(flag: &str, wanted: Option<&Glob>, arguments: &Arguments<'_>) -> Answer {
    let named = named(flag, arguments);
    let has = Answer::any(named.iter().map(|given| match (wanted, &given.value) {
        (None, _) => Answer::Yes,
        (Some(glob), Some(value)) => glob.matches(value),
        (Some(_), None) => Answer::No,
    }));
    match &arguments.open {
        _ if has != Answer::No => has,
        Some(word) => Answer::Perhaps(word.clone()),
        None => Answer::No,
    }
}

/// Whether two options are one word with one dash and with two: `terraform` and others take `-force` and `--force`.
fn is_same_word(one: &str, other: &str) -> bool {
    let word = |option: &str| {
        let word = option.strip_prefix("--").or_else(|| option.strip_prefix('-')).unwrap_or_default();
        word.len() > 1
    };
    word(one) && word(other) && one.trim_start_matches('-') == other.trim_start_matches('-')
}

/// Names of this machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

impl Hosts {
    /// A question about hosts.
    pub fn new<'t>(
        wanted: impl IntoIterator<Item = &'t str>,
        except: impl IntoIterator<Item = &'t str>,
    ) -> Hosts {
        let glob = |written: &str| Glob::of_names(&written.to_lowercase());
        let (all, wanted): (Vec<&str>, Vec<&str>) = wanted.into_iter().partition(|written| *written == "*");
        let encoded = wanted.iter().filter(|written| !written.is_ascii());
        Hosts {
            encoded: encoded.map(|written| encoded_form(written)).collect(),
            wanted: wanted.into_iter().map(glob).collect(),
            anywhere: !all.is_empty(),
            except: except.into_iter().map(glob).collect(),
        }
    }

    fn matches(&self, host: &Host) -> Answer {
        let word = match host {
            Host::Named(word) => word,
            Host::Unknown(word) => return Answer::Perhaps(word.clone()),
            // Settings say which host it is: certainly another machine, and nothing says that it is this one.
            Host::Elsewhere(name) => {
                return match (self.anywhere, self.except.is_empty()) {
                    (true, true) => Answer::Yes,
                    (true, false) => Answer::Perhaps(name.clone()),
                    (false, _) => Answer::No,
                };
            }
        };
        let local = |word: &Word| match word.known() {
            Some(name) if LOCAL.contains(&name) => Answer::Yes,
            Some(_) => Answer::No,
            None => Answer::any(LOCAL.iter().map(|local| Glob::of_names(local).matches(word))),
        };
        let named = Answer::any(self.wanted.iter().map(|glob| glob.matches(word)));
        let encoded = || Answer::any(self.encoded.iter().map(|glob| glob.matches(word)));
        let named = named.or(|| encoded().and(|| Answer::Perhaps(word.to_string())));
        let wanted = named.or(|| if self.anywhere { local(word).inverse() } else { Answer::No });
        wanted.and(|| Answer::any(self.except.iter().map(|glob| glob.matches(word))).inverse())
    }
}

/// A host as the network names it, where its letters beyond ASCII are not computed.
fn encoded_form(written: &str) -> Glob {
    let labels: Vec<&str> =
        written.split('.').map(|label| if label.is_ascii() { label } else { "xn--*" }).collect();
    Glob::of_names(&labels.join(".").to_lowercase())
}

impl Matcher {
    /// The answer for one small call, by the shipped facts of programs.
    pub fn answer(&self, call: &SmallCall, around: &Surroundings) -> Answer {
        self.answer_by(call, around, &Table::default())
    }

    /// The same with the facts of a policy.
    pub fn answer_by(&self, call: &SmallCall, around: &Surroundings, facts: &Table) -> Answer {
        match (self.of(call, around, facts), &call.doubt) {
            (Answer::Yes, Some(word)) => Answer::Perhaps(word.clone()),
            (answer, _) => answer,
        }
    }

    /// The answer if the call runs.
    fn of(&self, call: &SmallCall, around: &Surroundings, facts: &Table) -> Answer {
        let unclear = || call.unclear.clone().map_or(Answer::No, Answer::Perhaps);
        match self {
            Matcher::Runs(runs) => runs.matches(call, facts),
            Matcher::Touches(act, patterns) => {
                let files = call.touches.iter().filter(|touch| touch.act == *act);
                let named = call.mentions.iter().filter(|touch| touch.act == *act);
                let perhaps = named.map(|touch| match patterns.matches(&touch.place, touch.reach()) {
                    Answer::Yes | Answer::Perhaps(_) => Answer::Perhaps(touch.shown()),
                    answer => answer,
                });
                Answer::any(files.map(|touch| patterns.matches(&touch.place, touch.reach())))
                    .or(|| Answer::any(perhaps))
                    .or(unclear)
            }
            Matcher::Reaches(hosts) => {
                Answer::any(call.reaches.iter().map(|host| hosts.matches(host))).or(unclear)
            }
            Matcher::Agent(wanted) => match around.agent {
                Some(agent) if agent == *wanted => Answer::Yes,
                Some(_) => Answer::No,
                None => Answer::Perhaps("the agent".to_owned()),
            },
            Matcher::Ended(wanted) => match (around.ended, wanted) {
                (None, _) => Answer::Perhaps("the outcome".to_owned()),
                (Some(End::Ok), End::Ok) if call.proven => Answer::Yes,
                (Some(End::Ok), End::Error) if call.proven => Answer::No,
                (Some(End::Error), wanted) if around.alone => {
                    if *wanted == End::Error {
                        Answer::Yes
                    } else {
                        Answer::No
                    }
                }
                _ => Answer::Perhaps(format!("the outcome of `{}`", call.program)),
            },
        }
    }
}
