//! What a shell command does, and the table that says so.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::shell::facts::{WRAPPERS, programs, tools};
use crate::shell::{Line, SmallCall, Word};
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
            writeln!(out, "      the success of the line does not prove its own")?;
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
                "act": touch.act.name(), "path": touch.place.shown(), "whole_folder": touch.deep,
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
    for touch in &call.touches {
        let whole = if touch.deep { " and everything below it" } else { "" };
        facts.push(format!("{} {}{whole}", touch.act.name(), touch.place.shown()));
        if let Some(word) = touch.place.unclear() {
            facts.push(format!("  unknown: `{word}`"));
        }
    }
    facts.extend(call.reaches.iter().map(|host| format!("reaches {host}")));
    if call.opaque {
        facts.push("opaque: runs code that is not shell".to_owned());
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

/// Writes the table of facts.
pub fn table(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Programs:")?;
    for row in programs().filter(|row| !row.does.is_empty()) {
        let sub = if row.sub.is_empty() { String::new() } else { format!(" {}", row.sub.replace('|', ", ")) };
        writeln!(out, "  {}{sub}", row.names)?;
        for does in row.does {
            writeln!(out, "      {does}")?;
        }
    }
    writeln!(out, "Programs that run another program:")?;
    for row in WRAPPERS {
        writeln!(out, "  {} {}", row.names, row.sub.trim_end_matches('|').replace('|', ", "))?;
    }
    writeln!(out, "Tools of agents:")?;
    for tool in tools::TOOLS {
        writeln!(out, "  {}", tool.names)?;
        for argument in tool.does {
            writeln!(out, "      {argument}")?;
        }
    }
    writeln!(out, "  mcp__*\n      may reach any host")
}

/// The table for a program, a row a line.
pub fn table_data() -> impl Iterator<Item = Value> {
    let named = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let programs = programs().map(move |row| {
        let does: Vec<String> = row.does.iter().map(ToString::to_string).collect();
        let subs: Vec<&str> = row.sub.split('|').filter(|sub| !sub.is_empty()).collect();
        json!({"programs": named(row.names), "subcommands": subs, "does": does})
    });
    let wrappers = WRAPPERS.iter().map(move |row| {
        let subs: Vec<&str> = row.sub.split('|').filter(|sub| !sub.is_empty()).collect();
        json!({"programs": named(row.names), "subcommands": subs, "runs_another_program": true})
    });
    let tools = tools::TOOLS.iter().map(move |tool| {
        let does: Vec<String> = tool.does.iter().map(ToString::to_string).collect();
        json!({"tools": named(tool.names), "does": does})
    });
    programs.chain(wrappers).chain(tools)
}
