//! Questions about a call, answered in three values.

use super::Answer;
use super::call::{Act, Host, SmallCall};
use super::effects::parsed;
use super::facts::{Program, Table, other_spelling, takes_goals};
use super::glob::Glob;
use super::options::{Arguments, Style};
use super::path::Patterns;
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
    /// It is known to have ended so.
    Ended(End),
}

/// `runs: {program, args, flags}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    program: Glob,
    /// Leading words, each a list of globs.
    args: Vec<Vec<Glob>>,
    /// Options with their dashes, each perhaps with a glob for its value.
    flags: Vec<(String, Option<Glob>)>,
}

/// `reaches: …`, with `except`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    wanted: Vec<Glob>,
    /// Whether `*` is wanted: any host but this machine.
    anywhere: bool,
    except: Vec<Glob>,
}

/// Who makes a call.
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
    /// Who makes it.
    pub agent: Option<Agent>,
    /// How the whole ended, if it did and this is known.
    pub ended: Option<End>,
    /// Whether the whole is one small call.
    pub alone: bool,
}

impl Runs {
    /// A question about a program, its leading words and its flags, given with or without dashes.
    pub fn new<'t>(
        program: &str,
        args: impl IntoIterator<Item = Vec<&'t str>>,
        flags: impl IntoIterator<Item = &'t str>,
    ) -> Runs {
        let globs = |choices: Vec<&str>| choices.into_iter().map(Glob::of_names).collect();
        let dashed = |flag: &str| match flag.chars().count() {
            _ if flag.starts_with('-') => flag.to_owned(),
            1 => format!("-{flag}"),
            _ => format!("--{flag}"),
        };
        Runs {
            program: Glob::of_names(program),
            args: args.into_iter().map(globs).collect(),
            flags: flags
                .into_iter()
                .map(|flag| match flag.split_once('=') {
                    Some((flag, value)) => (dashed(flag), Some(Glob::of_names(value))),
                    None => (dashed(flag), None),
                })
                .collect(),
        }
    }

    fn matches(&self, call: &SmallCall, facts: &Table) -> Answer {
        if call.program.known() == Some("") {
            return Answer::No;
        }
        let program = self.program.matches(&call.program);
        if call.unclear.is_some() {
            // Its other words may be anything.
            return match (program, &call.unclear) {
                (Answer::No, _) => Answer::No,
                (_, Some(word)) => Answer::Perhaps(word.clone()),
                (answer, None) => answer,
            };
        }
        program.and(|| {
            let rows = call.program.known().map(|name| facts.program(name)).unwrap_or_default();
            let (arguments, chosen, _) = parsed(rows, &call.args);
            let style = chosen.first().map_or(Style::Gnu, |row| row.style);
            let goals = call.program.known().is_some_and(takes_goals) && self.args.len() == 1;
            let leading = if goals { self.goal(&arguments) } else { self.leading(&arguments) };
            leading.and(|| self.given(&arguments, &chosen, style))
        })
    }

    /// Whether one of the operands is the word: of `make lint test`, each is a goal.
    fn goal(&self, arguments: &Arguments) -> Answer {
        let leading = self.leading(arguments);
        let goals = arguments.operands.iter().filter(|word| !word.to_string().contains('='));
        leading.or(|| {
            Answer::any(
                goals.map(|word| Answer::any(self.args.iter().flatten().map(|glob| glob.matches(word)))),
            )
        })
    }

    /// Whether the operands begin with the words.
    fn leading(&self, arguments: &Arguments) -> Answer {
        let read = |operands: &[Word]| {
            let mut answer = Answer::Yes;
            for (at, wanted) in self.args.iter().enumerate() {
                let Some(word) = operands.get(at) else { return answer.and(|| Answer::No) };
                if word.many {
                    return answer.and(|| Answer::Perhaps(word.unclear().unwrap_or("*").to_owned()));
                }
                let one = Answer::any(wanted.iter().map(|glob| glob.matches(word)));
                answer = answer.and(|| one);
                if answer == Answer::No {
                    return answer;
                }
            }
            answer
        };
        let plain = read(&arguments.operands);
        match &arguments.doubtful {
            // Perhaps the word after an option is its value.
            Some((at, option)) if *at < self.args.len() => {
                let mut without = arguments.operands.clone();
                if *at < without.len() {
                    without.remove(*at);
                }
                let other = read(&without);
                if other == plain { plain } else { Answer::Perhaps(option.clone()) }
            }
            _ => plain,
        }
    }

    fn given(&self, arguments: &Arguments, rows: &[&'static Program], style: Style) -> Answer {
        let mut answer = Answer::Yes;
        for (flag, wanted) in &self.flags {
            let mut spellings = other_spelling(rows, flag);
            spellings.push(flag);
            if style == Style::OneDash {
                spellings.extend(flag.strip_prefix('-').filter(|rest| rest.starts_with('-')));
            }
            let named = arguments.options.iter().filter(|given| {
                let name = given.name.as_str();
                spellings.iter().any(|wanted| {
                    *wanted == name
                        || name.len() > 3
                            && name.starts_with("--")
                            && wanted.starts_with(name)
                            && !rows.iter().any(|row| row.flags.split([' ', '=']).any(|known| known == name))
                })
            });
            let has = Answer::any(named.map(|given| match (wanted, &given.value) {
                (None, _) => Answer::Yes,
                (Some(glob), Some(value)) => glob.matches(value),
                // An option that the table does not know may have the next word as its value.
                (Some(_), None) => match &arguments.doubtful {
                    Some((_, option)) if *option == given.name => Answer::Perhaps(option.clone()),
                    _ => Answer::No,
                },
            }));
            let one = match &arguments.open {
                _ if has != Answer::No => has,
                Some(word) => Answer::Perhaps(word.clone()),
                None => Answer::No,
            };
            answer = answer.and(|| one);
        }
        answer
    }
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
        Hosts {
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
        let wanted = named.or(|| if self.anywhere { inverse(local(word)) } else { Answer::No });
        wanted.and(|| inverse(Answer::any(self.except.iter().map(|glob| glob.matches(word)))))
    }
}

fn inverse(answer: Answer) -> Answer {
    match answer {
        Answer::Yes => Answer::No,
        Answer::No => Answer::Yes,
        perhaps => perhaps,
    }
}

impl Matcher {
    /// The answer for one small call, by what is shipped of programs.
    pub fn answer(&self, call: &SmallCall, around: &Surroundings) -> Answer {
        self.answer_by(call, around, &Table::default())
    }

    /// The same by what a policy knows of them.
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
                let perhaps = named.map(|touch| match patterns.matches(&touch.place, touch.extent) {
                    Answer::No => Answer::No,
                    _ => Answer::Perhaps(touch.shown()),
                });
                Answer::any(files.map(|touch| patterns.matches(&touch.place, touch.extent)))
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
