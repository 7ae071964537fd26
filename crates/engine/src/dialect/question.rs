//! The keys for questions about what a call does, in all dialects that have them: `runs`, `reads`, `writes`, `deletes`,
//! `reaches`, `agent`, `ended`.

use std::sync::Arc;

use serde_json::Value;

use rulestep_base::diagnostic::{Diagnostic, Fix, code};
use rulestep_base::source::inline::inline;
use rulestep_base::source::wildcard::is_quote;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, Source, quoted};

pub use rulestep_shell::Question;
pub use rulestep_shell::facts::Table;

/// A document's facts about programs and tools: rows of `facts`, and `case`, which ignores case.
pub fn facts(fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> Table {
    let table = super::fact_rows::facts(fields, out);
    let folds =
        fields.optional("case").and_then(|field| field.one_of(&[("fold", true), ("exact", false)], out));
    if folds == Some(true) { table.folding() } else { table }
}

/// The keys, in the order of the reference page.
const KEYS: [&str; 8] = ["runs", "reads", "writes", "deletes", "reaches", "except", "agent", "ended"];

/// Whether some key asks what a call does.
pub fn asks(fields: &Fields<'_>) -> bool {
    KEYS.iter().any(|key| fields.has(key))
}

/// A key that is better than an expression over a tool's command line, with its value.
fn better(tools: &[Arc<str>], argument: &str, pattern: &str) -> Option<(&'static str, Value)> {
    let command = matches!(argument, "command" | "cmd" | "commands" | "script" | "input");
    let runs = tools.is_empty() || tools.iter().any(|tool| runs_commands(&Table::default(), tool));
    let meaning = (command && runs).then(|| expressions::meaning(pattern))??;
    Some((meaning.key, meaning.value))
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
        let help = format!("match what the call does: {instead}");
        // Beside other arguments the key would have to be added, and the expression removed.
        let fix = (args_match.len() == 1).then(|| Fix::instead(source, written.key_span, key, value, &help));
        let span = written.value.entry(argument).map_or(written.key_span, |entry| entry.value.span);
        let notice = Diagnostic::notice(code::COMMAND_AS_TEXT, message).at(source, span);
        Some(notice.help(help).fix(fix.flatten()))
    });
    found.collect()
}

/// The name of an argument that is written as a path, or in quotation marks that YAML takes for letters.
pub fn argument_as_path(name: &str, value: &Field<'_>) -> Option<Problem> {
    let span = value.key_span.unwrap_or(value.span());
    let unquoted = name.trim_matches(is_quote);
    if unquoted != name {
        let message = format!("no argument's name begins or ends with a quotation mark: {}", quoted(name));
        let help = format!("write {}", quoted(unquoted));
        return Some(Problem::new(ProblemKind::MatchesNothing, span, message).help(help));
    }
    let rest = ["$.", "$["].iter().find_map(|start| name.strip_prefix(start))?;
    let message = format!("no argument is called {}: `args_match` has names, not paths", quoted(name));
    let own = rest.trim_matches(['[', ']', '\'', '"']);
    let is_name = !own.is_empty() && !own.contains(['.', '[']);
    let help = match is_name {
        true => format!("write {}", quoted(own)),
        false => "write the name of the argument: the pattern is compared with its JSON".to_owned(),
    };
    Some(Problem::new(ProblemKind::MatchesNothing, span, message).help(help))
}

/// The problem that none of these tools can satisfy a question, by the known facts: the rule would only look like a
/// guard. `field`: the call with the question.
pub fn never_met(
    field: &Field<'_>,
    tools: &[Arc<str>],
    question: &Question,
    facts: &Table,
) -> Option<Problem> {
    let key = unmeetable(question, tools, facts)?;
    let names: Vec<String> = tools.iter().map(|tool| quoted(tool)).collect();
    let what = match key {
        "runs" => "runs a command",
        "reads" => "reads a file",
        "writes" => "writes a file",
        "deletes" => "deletes a file",
        _ => "reaches a host",
    };
    let message =
        format!("no call of {} {what}, by what is known of it, so this matches no call", names.join(" or "));
    let help = "name a tool that does, or say in `facts` what this one does (`rulestep explain facts` lists what is known)";
    let span = field.node.entry(key).map_or(field.span(), |entry| entry.value.span);
    Some(Problem::new(ProblemKind::MatchesNothing, span, message).help(help))
}

/// The key of a question that no call of these tools can meet.
fn unmeetable(question: &Question, tools: &[Arc<str>], facts: &Table) -> Option<&'static str> {
    let mut keys = question.groups().iter().map(|group| group.key);
    let none = |key: &str| tools.iter().all(|tool| !rulestep_shell::tool::can(facts, tool, key));
    keys.find(|key| !tools.is_empty() && none(key))
}

/// What to write instead of a name that is a command line, which is not a tool's name: a known program, a blank and
/// more.
pub fn instead_of_command(name: &str) -> Option<String> {
    let (program, _) = name.split_once(' ')?;
    rulestep_shell::facts::program(program).is_some().then(|| never::as_runs(name))
}

pub use {
    reading::{RunsRead, question},
    rulestep_shell::tool::runs_commands,
};

mod expressions;
pub mod learns;
mod never;
mod reading;
