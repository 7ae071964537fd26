//! The keys that ask what a call does, in all dialects that have them: `runs`, `reads`, `writes`, `deletes`, `reaches`,
//! `agent`, `ended`.

use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Fix, code};
use crate::source::inline::inline;
use crate::source::{Field, Fields, Node, Problem, Source, quoted};

#[cfg(feature = "shell")]
pub use super::fact_rows::facts;
#[cfg(feature = "shell")]
pub use crate::shell::Question;
#[cfg(feature = "shell")]
pub use crate::shell::facts::Table;

/// Without the feature `shell` nothing is known of programs.
#[cfg(not(feature = "shell"))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table(());

#[cfg(not(feature = "shell"))]
impl Table {
    /// Of several there is nothing to join.
    pub fn union<'t>(_tables: impl Iterator<Item = &'t Table>) -> Table {
        Table(())
    }
}

/// Without the feature `shell` there is nothing that rows could be added to.
#[cfg(not(feature = "shell"))]
pub fn facts(fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> Table {
    if let Some(field) = fields.optional("facts") {
        field.refuse("this program was built without the feature `shell`, which this key needs", out);
    }
    Table(())
}

/// Without the feature `shell` nobody can answer, so there are none.
#[cfg(not(feature = "shell"))]
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub enum Question {}

/// The keys, in the order of the reference page.
const KEYS: [&str; 8] = ["runs", "reads", "writes", "deletes", "reaches", "except", "agent", "ended"];

/// Whether some key asks what a call does.
pub fn asks(fields: &Fields<'_>) -> bool {
    KEYS.iter().any(|key| fields.has(key))
}

/// Takes the keys. `Some(None)`: there are none; `None`: they cannot be read, and this has been reported.
#[cfg(not(feature = "shell"))]
pub fn question<'a>(
    fields: &mut Fields<'a>,
    _facts: &Table,
    out: &mut Vec<Problem>,
) -> Option<Option<Arc<Question>>> {
    let taken: Vec<Field<'a>> = KEYS.iter().filter_map(|key| fields.optional(key)).collect();
    for field in &taken {
        field.refuse("this program was built without the feature `shell`, which this key needs", out);
    }
    taken.is_empty().then_some(None)
}

/// What a key says better than an expression over the command line of a tool: the key, with its value.
#[cfg(feature = "shell")]
fn better(tools: &[Arc<str>], argument: &str, pattern: &str) -> Option<(&'static str, Value)> {
    let command = matches!(argument, "command" | "cmd" | "commands" | "script" | "input");
    let runs = tools.is_empty() || tools.iter().any(|tool| runs_commands(&Table::default(), tool));
    let meaning = (command && runs).then(|| crate::shell::spelling::meaning(pattern))??;
    Some((meaning.key, meaning.value))
}

/// Without the feature `shell` no key says it better.
#[cfg(not(feature = "shell"))]
fn better(_tools: &[Arc<str>], _argument: &str, _pattern: &str) -> Option<(&'static str, Value)> {
    None
}

/// Expressions over command lines that a key would say better. `node`: a call that asks for nothing else of what it does.
pub fn commands_as_text(
    node: &Node,
    tools: &[Arc<str>],
    args_match: &[(Arc<str>, Arc<str>)],
    source: &Source,
) -> Vec<Diagnostic> {
    let Some(written) = node.entry("args_match") else { return Vec::new() };
    let found = args_match.iter().filter_map(|(argument, pattern)| {
        let (key, value) = better(tools, argument, pattern)?;
        let message = format!(
            "{} is searched in the text of the command, and misses other spellings of it",
            quoted(pattern)
        );
        let instead = format!("`{key}: {}`", inline(&value, false));
        let help = format!("ask for what the call does: {instead}");
        // Beside other arguments the key would have to be added, and the expression taken out.
        let fix = (args_match.len() == 1)
            .then(|| Fix::instead(source, written.key_span, key, value, &format!("write {instead}")));
        let span = written.value.entry(argument).map_or(written.key_span, |entry| entry.value.span);
        let notice = Diagnostic::notice(code::COMMAND_AS_TEXT, message).at(source, span);
        Some(notice.help(help).fix(fix.flatten()))
    });
    found.collect()
}

/// Whether a tool is known to run the command that is its argument.
#[cfg(not(feature = "shell"))]
pub fn runs_commands(_facts: &Table, _tool: &str) -> bool {
    false
}

#[cfg(feature = "shell")]
pub use {crate::shell::tool::runs_commands, reading::question};

#[cfg(feature = "shell")]
mod reading {
    use super::{Arc, Field, Fields, KEYS, Problem, Question, Table};
    use crate::shell::matcher::{Agent, End, Hosts, Matcher, Runs};
    use crate::shell::question::Group;
    use crate::shell::{Act, Patterns};
    use crate::source::ProblemKind;

    /// Takes the keys. `Some(None)`: there are none; `None`: they cannot be read, and this has been reported.
    pub fn question<'a>(
        fields: &mut Fields<'a>,
        facts: &Table,
        out: &mut Vec<Problem>,
    ) -> Option<Option<Arc<Question>>> {
        let [runs, reads, writes, deletes, reaches, except, agent, ended] = KEYS;
        let before = out.len();
        let mut groups = Vec::new();
        if let Some(field) = fields.optional(runs) {
            groups.extend(self::runs(&field, out));
        }
        for (key, act) in [(reads, Act::Reads), (writes, Act::Writes), (deletes, Act::Deletes)] {
            let Some(globs) = fields.optional(key).and_then(|field| texts(&field, out)) else { continue };
            let patterns = Patterns::new(globs.iter().copied());
            groups.push(group(key, &globs, vec![Matcher::Touches(act, patterns)]));
        }
        let hosts = fields.optional(reaches);
        let others = fields.optional(except);
        if hosts.is_some() || others.is_some() {
            let globs = hosts.as_ref().map_or(Some(vec!["*"]), |hosts| texts(hosts, out)).unwrap_or_default();
            let except = others.as_ref().and_then(|except| texts(except, out)).unwrap_or_default();
            let hosts = Hosts::new(globs.iter().copied(), except.iter().copied());
            let mut written = group(reaches, &globs, vec![Matcher::Reaches(hosts)]);
            written.written.extend(except.iter().map(|host| format!("!{host}")));
            groups.push(written);
        }
        if let Some(field) = fields.optional(agent)
            && let Some(agent) = field.one_of(&[("main", Agent::Main), ("sub", Agent::Sub)], out)
        {
            let name = if agent == Agent::Main { "the main agent" } else { "a subagent" };
            groups.push(group("agent", &[name], vec![Matcher::Agent(agent)]));
        }
        if let Some(field) = fields.optional(ended)
            && let Some(end) = field.one_of(&[("ok", End::Ok), ("error", End::Error)], out)
        {
            let name = if end == End::Ok { "ok" } else { "with an error" };
            groups.push(group("ended", &[name], vec![Matcher::Ended(end)]));
        }
        if out.len() > before {
            return None;
        }
        Some((!groups.is_empty()).then(|| Arc::new(Question::new(groups).by(facts))))
    }

    fn group(key: &'static str, written: &[&str], any: Vec<Matcher>) -> Group {
        Group { key, written: written.iter().map(|text| (*text).to_owned()).collect(), any }
    }

    /// A text, or a list of them that is not empty.
    fn texts<'a>(field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Vec<&'a str>> {
        if field.node.as_seq().is_none() {
            return field.name(out).map(|text| vec![text]);
        }
        let texts = field.list(out, |item, out| item.name(out))?;
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

    fn program(field: &Field<'_>, group: &mut Group, out: &mut Vec<Problem>) -> Option<()> {
        let mut fields = field.fields(out)?;
        let program = fields.required("program", out);
        let programs = program.as_ref().and_then(|program| texts(program, out));
        let mut args = Vec::new();
        if let Some(list) = fields.optional("args") {
            if list.node.as_seq().is_none() {
                args.push(texts(&list, out)?);
            } else {
                for item in list.items(out)? {
                    args.push(texts(&item, out)?);
                }
            }
        }
        let flags = fields.optional("flags").and_then(|flags| texts(&flags, out)).unwrap_or_default();
        out.extend(fields.unknown());
        for name in programs? {
            if name.contains('/') {
                let message = "a program is known by its name, without its folder";
                out.push(field.problem(ProblemKind::BadValue, message));
            }
            group.any.push(Matcher::Runs(Runs::new(name, args.clone(), flags.iter().copied())));
            let flags = flags.iter().map(|flag| match flag.chars().count() {
                _ if flag.starts_with('-') => (*flag).to_owned(),
                1 => format!("-{flag}"),
                _ => format!("--{flag}"),
            });
            let words =
                std::iter::once(name.to_owned()).chain(args.iter().map(|any| any.join("|"))).chain(flags);
            group.written.push(words.collect::<Vec<_>>().join(" "));
        }
        Some(())
    }
}
