//! What a shell command does, and the table that says so.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::policy::Policy;
use crate::shell::facts::tools::Tool;
use crate::shell::facts::{Program, Row, Wrapper, programs, tools, wrapper_rows, written};
use crate::shell::{Extent, Line, SmallCall, Word};
use crate::source::inline::inline;
use crate::wording::{count, line, list};

/// Writes the small calls of a command line with their facts.
pub fn text(read: &Line, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}:", count(read.calls.len() as u64, "call"))?;
    let mut pipeline = None;
    for call in &read.calls {
        let mark = if pipeline == Some(call.pipeline) { "|" } else { " " };
        pipeline = Some(call.pipeline);
        writeln!(out, "{mark} {}", line(&call.to_string()))?;
        for fact in facts(call) {
            writeln!(out, "      {}", line(&fact))?;
        }
        if !call.proven {
            writeln!(out, "      the line can succeed even if this command fails")?;
        }
    }
    if let Some(problem) = &read.problem {
        writeln!(out, "Not read to its end: {}. It may do anything.", line(problem))?;
    }
    Ok(())
}

/// The same for a program.
pub fn data(command: &str, read: &Line) -> Value {
    let calls: Vec<Value> = read.calls.iter().map(call).collect();
    json!({"command": command, "calls": calls, "problem": read.problem})
}

fn call(call: &SmallCall) -> Value {
    let touched: Vec<Value> = call
        .touches
        .iter()
        .map(|touch| {
            json!({
                "act": touch.act.name(), "path": touch.shown(), "whole_folder": touch.extent == Extent::Below,
                "unknown": touch.place.unclear(),
            })
        })
        .collect();
    let hosts: Vec<String> = call.reaches.iter().map(ToString::to_string).collect();
    let unknown: Vec<&str> = call.args.iter().filter_map(Word::unclear).collect();
    json!({
        "program": call.program.to_string(),
        "arguments": call.args.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unknown": call.unclear.as_deref().into_iter().chain(unknown).collect::<Vec<_>>(),
        "runs_if": call.doubt,
        "files": touched,
        "reaches": hosts,
        "opaque": call.opaque,
        "elsewhere": call.elsewhere,
        "success_is_known": call.proven,
        "folder": call.folder.to_string(),
        "folders_if_cd_fails": call.instead.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "pipeline": call.pipeline,
        "characters": [call.at.start, call.at.end],
    })
}

/// What a call does, a line each; what belongs to the line before is indented.
pub fn facts(call: &SmallCall) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(word) = &call.unclear {
        facts.push(format!("may do anything: `{word}` is not known"));
    }
    if let Some(word) = &call.doubt {
        facts.push(format!("perhaps does not run: `{word}` decides"));
    }
    for touch in &call.touches {
        let whole = if touch.extent == Extent::Below { " and everything below it" } else { "" };
        facts.push(format!("{} {}{whole}", touch.act.name(), touch.shown()));
        if let Some(word) = touch.place.unclear() {
            facts.push(format!("  unknown: `{word}`"));
        }
    }
    facts.extend(call.reaches.iter().map(|host| format!("reaches {host}")));
    if call.opaque {
        facts.push("opaque: what it runs cannot be read from the line".to_owned());
    }
    if call.elsewhere {
        facts.push("runs on another machine or in a container".to_owned());
    }
    if !call.instead.is_empty() {
        let folders = list(call.instead.iter().map(ToString::to_string));
        facts.push(format!("runs in {folders} if `cd` fails"));
    }
    facts
}

/// Writes the shipped table of facts, in the form in which a policy adds to it.
pub fn table(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "facts:\n# Programs:")?;
    programs().try_for_each(|row| entry(&written::program(row), out))?;
    writeln!(out, "# Programs that run another program:")?;
    wrapper_rows().try_for_each(|row| entry(&written::wrapper(row), out))?;
    writeln!(out, "# Tools of agents:")?;
    tools::TOOLS.iter().try_for_each(|row| entry(&written::tool(row), out))?;
    writeln!(out, "# mcp__*, and every other tool: may reach any host")
}

/// Writes the rows that a policy adds, each document's under its place.
pub fn added(policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let documents = policy.documents().iter().filter(|document| !document.facts.rows().is_empty());
    let mut documents = documents.peekable();
    if documents.peek().is_none() {
        return writeln!(out, "# the policy adds nothing to the facts of programs and tools");
    }
    for document in documents {
        let place = document.source.position(document.span.start);
        writeln!(out, "# {}:{}, for the rules of this document:", line(document.source.name()), place.line)?;
        writeln!(out, "facts:")?;
        document.facts.rows().iter().try_for_each(|row| entry(&row.written(), out))?;
    }
    Ok(())
}

/// The same for a program, a row a line.
pub fn added_data(policy: &Policy) -> impl Iterator<Item = Value> {
    policy.documents().iter().flat_map(|document| {
        let rows = document.facts.rows().iter();
        rows.map(|row| {
            let mut data = row_data(row);
            if let Value::Object(data) = &mut data {
                data.insert("document".to_owned(), json!([document.source.name(), document.index]));
            }
            data
        })
    })
}

/// A row as an item of a list in YAML, after a remark with its programs and subcommands as they are typed.
fn entry(row: &Value, out: &mut dyn Write) -> io::Result<()> {
    let texts = |key: &str| -> Vec<&str> {
        match row.get(key) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    };
    let subs = texts("subcommands");
    if !subs.is_empty() {
        writeln!(out, "  # {} {}", texts("program").join(", "), subs.join(", ").trim_end_matches(", "))?;
    }
    for (place, (key, value)) in row.as_object().into_iter().flatten().enumerate() {
        let mark = if place == 0 { "-" } else { " " };
        writeln!(out, "  {mark} {key}: {}", line(&inline(value, false)))?;
    }
    Ok(())
}

/// The table for a program, a row a line.
pub fn table_data() -> impl Iterator<Item = Value> {
    let programs = programs().map(program_data);
    let wrappers = wrapper_rows().map(wrapper_data);
    programs.chain(wrappers).chain(tools::TOOLS.iter().map(tool_data))
}

fn row_data(row: &Row) -> Value {
    match row {
        Row::Program(row) => program_data(row),
        Row::Wrapper(row) => wrapper_data(row),
        Row::Tool(row) => tool_data(row),
    }
}

fn program_data(row: &Program) -> Value {
    let does: Vec<String> = row.does.iter().map(ToString::to_string).collect();
    json!({
        "programs": named(row.names), "subcommands": subs(row.sub), "does": does, "row": written::program(row),
    })
}

fn wrapper_data(row: &Wrapper) -> Value {
    json!({
        "programs": named(row.names), "subcommands": subs(row.sub), "runs_another_program": true,
        "row": written::wrapper(row),
    })
}

fn tool_data(row: &Tool) -> Value {
    let does: Vec<String> = row.does.iter().map(ToString::to_string).collect();
    json!({"tools": named(row.names), "does": does, "row": written::tool(row)})
}

fn named(names: &str) -> Vec<&str> {
    names.split(' ').collect()
}

fn subs(sub: &str) -> Vec<&str> {
    sub.split('|').filter(|sub| !sub.is_empty()).collect()
}
