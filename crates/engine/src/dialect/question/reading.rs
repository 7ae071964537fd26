//! Reads the keys. A text that no call could ever match is rejected: the rule would only look like a guard.

use std::collections::HashMap;
use std::marker::PhantomData;

use super::never::{self, Never};
use super::{Arc, Field, Fields, KEYS, Node, Problem, Question, Table};
use rulestep_base::source::ProblemKind;
use rulestep_shell::glob::Glob;
use rulestep_shell::matcher::{Agent, End, Hosts, Matcher, Runs};
use rulestep_shell::question::Group;
use rulestep_shell::{Act, Answer, Patterns};

/// The correct lists of `runs` so far, by the addresses of their nodes: aliases repeat one in many rules.
#[derive(Default)]
pub struct RunsRead<'a>(HashMap<*const Node, Arc<Group>>, PhantomData<&'a Node>);

/// Takes the keys. `Some(None)`: there are none; `None`: they cannot be read, and this has been reported.
pub fn question<'a>(
    fields: &mut Fields<'a>,
    facts: &Table,
    known: &mut RunsRead<'a>,
    out: &mut Vec<Problem>,
) -> Option<Option<Arc<Question>>> {
    let [runs, reads, writes, deletes, reaches, except, agent, ended] = KEYS;
    let before = out.len();
    let mut groups = Vec::new();
    if let Some(field) = fields.optional(runs) {
        let place = field.node.as_seq().map(<[Node]>::as_ptr);
        match place.and_then(|place| known.0.get(&place)) {
            Some(group) => groups.push(Arc::clone(group)),
            None => {
                let group = self::runs(&field, out).map(Arc::new);
                if let (Some(place), Some(group)) = (place.filter(|_| out.len() == before), &group) {
                    known.0.insert(place, Arc::clone(group));
                }
                groups.extend(group);
            }
        }
    }
    for (key, act) in [(reads, Act::Reads), (writes, Act::Writes), (deletes, Act::Deletes)] {
        let Some(field) = fields.optional(key) else { continue };
        let Some(globs) = texts(&field, &|text| never::path(text, act), out) else { continue };
        if globs.first().is_some_and(|glob| glob.starts_with('!')) {
            let message = "the first pattern takes out files, and no pattern before it means any";
            let help =
                "write first what is meant, such as `'**'` for all files, and after it what is taken out";
            out.push(field.problem(ProblemKind::MatchesNothing, message).help(help));
        }
        let patterns = Patterns::new(globs.iter().copied());
        groups.push(Arc::new(group(key, &globs, vec![Matcher::Touches(act, patterns)])));
    }
    let hosts = fields.optional(reaches);
    let others = fields.optional(except);
    if hosts.is_some() || others.is_some() {
        let read = |field: &Field<'a>, out: &mut Vec<Problem>| texts(field, &never::host, out);
        let globs = hosts.as_ref().map_or(Some(vec!["*"]), |hosts| read(hosts, out)).unwrap_or_default();
        let except = others.as_ref().and_then(|except| read(except, out)).unwrap_or_default();
        if let Some(field) = others.as_ref().filter(|_| !globs.is_empty() && none_left(&globs, &except)) {
            let message = "`except` takes out every host that is meant, so this matches no connection";
            let help = "name in `except` only the hosts that are allowed, or leave it out";
            out.push(field.problem(ProblemKind::MatchesNothing, message).help(help));
        }
        let hosts = Hosts::new(globs.iter().copied(), except.iter().copied());
        let mut written = group(reaches, &globs, vec![Matcher::Reaches(hosts)]);
        written.written.extend(except.iter().map(|host| format!("!{host}")));
        groups.push(Arc::new(written));
    }
    if let Some(field) = fields.optional(agent)
        && let Some(agent) = field.one_of(&[("main", Agent::Main), ("sub", Agent::Sub)], out)
    {
        let name = if agent == Agent::Main { "the main agent" } else { "a subagent" };
        groups.push(Arc::new(group("agent", &[name], vec![Matcher::Agent(agent)])));
    }
    if let Some(field) = fields.optional(ended)
        && let Some(end) = field.one_of(&[("ok", End::Ok), ("error", End::Error)], out)
    {
        let name = if end == End::Ok { "ok" } else { "with an error" };
        groups.push(Arc::new(group("ended", &[name], vec![Matcher::Ended(end)])));
    }
    if out.len() > before {
        return None;
    }
    Some((!groups.is_empty()).then(|| Arc::new(Question::new(groups).by(facts))))
}

/// Whether all the wanted hosts are excluded again.
fn none_left(wanted: &[&str], except: &[&str]) -> bool {
    let out: Vec<Glob> = except.iter().map(|host| Glob::of_names(&host.to_lowercase())).collect();
    wanted.iter().all(|host| out.iter().any(|glob| glob.text(&host.to_lowercase()) == Answer::Yes))
}

fn group(key: &'static str, written: &[&str], any: Vec<Matcher>) -> Group {
    let written = written.iter().map(|text| (*text).to_owned()).collect();
    Group { key, written, any }
}

/// A text, or a list of them that is not empty, each of which some call matches.
fn texts<'a>(
    field: &Field<'a>,
    why: &dyn Fn(&str) -> Option<Never>,
    out: &mut Vec<Problem>,
) -> Option<Vec<&'a str>> {
    let one = |field: &Field<'a>, out: &mut Vec<Problem>| {
        let text = field.name(out)?;
        out.extend(why(text).map(|never| never.problem(field)));
        Some(text)
    };
    let texts = if let Some(items) = field.node.as_seq() {
        // Long lists have nothing wrong in them, and no place is made for each of their texts.
        let sound = |item: &'a Node| item.as_str().filter(|text| !text.is_empty() && why(text).is_none());
        let all: Option<Vec<&str>> = items.iter().map(sound).collect();
        match all {
            Some(all) => all,
            None => field.list(out, |item, out| one(&item, out))?,
        }
    } else {
        vec![one(field, out)?]
    };
    if texts.is_empty() {
        field.refuse("an empty list is never met", out);
        return None;
    }
    Some(texts)
}

/// One program, or a list of them.
fn runs(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Group> {
    let mut written = group("runs", &[], Vec::new());
    let mut one = |field: &Field<'_>, out: &mut Vec<Problem>| program(field, &mut written, out);
    match field.node.as_seq() {
        Some([]) => field.refuse("an empty list is never met", out),
        Some(_) => {
            for item in field.items(out)? {
                one(&item, out);
            }
        }
        None => {
            one(field, out);
        }
    }
    Some(written)
}

fn program<'a>(field: &Field<'a>, group: &mut Group, out: &mut Vec<Problem>) -> Option<()> {
    let mut fields = field.fields(out)?;
    let program = fields.required("program", out);
    let programs = program.as_ref().and_then(|program| texts(program, &never::program, out));
    let mut args = Vec::new();
    if let Some(list) = fields.optional("args") {
        if list.node.as_seq().is_none() {
            args.push(texts(&list, &never::operand, out)?);
        } else {
            for item in list.items(out)? {
                args.push(texts(&item, &never::operand, out)?);
            }
        }
    }
    let is_out = |word: &&str| word.len() > 1 && word.starts_with('!');
    if let Some(field) = program.as_ref().filter(|_| args.iter().any(|words| words.iter().all(is_out))) {
        let message = "a word of `args` only takes out words, and none before it means any";
        let help = "write first what is meant, such as `'*'` for any word, and after it what is taken out";
        out.push(field.problem(ProblemKind::MatchesNothing, message).help(help));
    }
    let mut list = |key: &'a str, why: &dyn Fn(&str) -> Option<Never>, out: &mut Vec<Problem>| {
        let field = fields.optional(key)?;
        if key == "env" && field.node.as_map().is_some() {
            field.refuse("write a list of `NAME=GLOB` or `NAME`: `env: ['AWS_PROFILE=*prod*']`", out);
            return None;
        }
        texts(&field, why, out)
    };
    let flags = list("flags", &never::flag, out).unwrap_or_default();
    let without = list("without", &never::flag, out).unwrap_or_default();
    let env = list("env", &never::set, out).unwrap_or_default();
    let folder = list("in", &|text| never::path(text, Act::Reads), out).unwrap_or_default();
    out.extend(fields.unknown());
    if folder.first().is_some_and(|glob| glob.starts_with('!')) {
        let message = "the first pattern takes out folders, and no pattern before it means any";
        let help =
            "write first what is meant, such as `'**'` for all folders, and after it what is taken out";
        out.push(field.problem(ProblemKind::MatchesNothing, message).help(help));
    }
    let programs = programs?;
    let runs = Runs::new(programs, args, flags.iter().copied());
    let runs = runs.without(without.iter().copied()).env(env.iter().copied());
    let runs = if folder.is_empty() { runs } else { runs.within(folder.iter().copied()) };
    group.any.push(Matcher::Runs(runs));
    Some(())
}

impl Never {
    /// The error at the text.
    fn problem(self, field: &Field<'_>) -> Problem {
        field.problem(ProblemKind::MatchesNothing, self.why).help(self.instead)
    }
}
