//! The effects of a shell command, and the table of facts.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::paint::Paint;
use super::{Look, json, words};
use rulestep_base::source::inline::{inline, scalar};
use rulestep_base::wording::{count, line, list};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Verdict;
use rulestep_shell::facts::{rows, tool_rows};
use rulestep_shell::{Line, SmallCall, Word};

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

/// The same as data; with the decision about the command, which is the only call of the replay's session.
pub fn data(command: &str, read: &Line, replay: Option<&Replay>) -> serde_json::Result<Value> {
    let calls: Vec<Value> = read.calls.iter().map(call).collect();
    let data = json!({"command": command, "calls": calls, "problem": read.problem});
    replay.map_or(Ok(data.clone()), |replay| with_decision(data, replay))
}

/// The decision about a command, without its effects.
pub fn decision_data(command: &str, replay: &Replay) -> serde_json::Result<Value> {
    with_decision(json!({"command": command}), replay)
}

fn with_decision(mut data: Value, replay: &Replay) -> serde_json::Result<Value> {
    let decision = replay.session().calls.first().map(|call| json::decision(replay, call)).transpose()?;
    if let (Value::Object(data), Some(Value::Object(decision))) = (&mut data, decision) {
        data.extend(decision);
    }
    Ok(data)
}

/// The decision about one of many commands.
pub struct DecisionRow {
    verdict: Verdict,
    glyph: &'static str,
    code: &'static str,
    rule: String,
    command: String,
}

impl DecisionRow {
    /// For a command, which is the only call of the replay's session.
    pub fn of(command: &str, replay: &Replay) -> Option<DecisionRow> {
        let decided = replay.call(0)?;
        let finding = decided.decision.findings.first();
        let rule = finding.and_then(|finding| replay.policy().rules().get(finding.rule));
        Some(DecisionRow {
            verdict: decided.decision.verdict,
            glyph: words::mark(decided).unicode(),
            code: finding.map_or("", |finding| finding.code.as_str()),
            rule: rule.map(words::rule_name).unwrap_or_default(),
            command: line(command),
        })
    }
}

/// Writes a line for each command: the mark of its decision, the code and the rule of the finding, the command.
pub fn decisions(rows: &[DecisionRow], look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let widest = |text: fn(&DecisionRow) -> &str| rows.iter().map(|row| text(row).chars().count()).max();
    let code_width = widest(|row| row.code).unwrap_or_default();
    let rule_width = widest(|row| &row.rule).unwrap_or_default();
    rows.iter().try_for_each(|row| {
        let DecisionRow { verdict, glyph, code, rule, command } = row;
        let glyph = paint.verdict(*verdict, glyph);
        writeln!(out, "{glyph} {code:<code_width$}  {rule:<rule_width$}  {command}")
    })
}

fn call(call: &SmallCall) -> Value {
    let touched: Vec<Value> = call
        .touches
        .iter()
        .map(|touch| {
            json!({
                "act": touch.act.name(), "path": touch.shown(), "whole_folder": touch.extent.is_deep(),
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

/// The effects of a call, a line each; details are indented.
pub fn facts(call: &SmallCall) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(word) = &call.unclear {
        facts.push(format!("may do anything: `{word}` is not known"));
    }
    if let Some(word) = &call.doubt {
        facts.push(format!("perhaps does not run: `{word}` decides"));
    }
    for touch in &call.touches {
        let whole = if touch.extent.is_deep() { " and everything below it" } else { "" };
        facts.push(format!("{} {}{whole}", touch.act.name(), touch.shown()));
        if let Some(word) = touch.place.unclear() {
            facts.push(format!("  unknown: `{word}`"));
        }
    }
    for touch in &call.mentions {
        let shown = touch.shown();
        match is_unsaid(&shown) {
            true => facts.push(format!("not known: {shown}")),
            false => facts.push(format!("perhaps {} {shown}", touch.act.name())),
        }
    }
    for host in &call.reaches {
        let shown = host.to_string();
        match is_unsaid(&shown) {
            true => facts.push(format!("not known: {shown}")),
            false => facts.push(format!("reaches {shown}")),
        }
    }
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

/// Whether it is an effect that the row does not state.
fn is_unsaid(shown: &str) -> bool {
    shown.starts_with("what ")
}

/// Writes the shipped table of facts, in the form in which a policy adds to it.
pub fn table(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "facts:\n# Programs:")?;
    rows().try_for_each(|row| entry(&row, out))?;
    writeln!(out, "# Tools of agents:")?;
    tool_rows().try_for_each(|row| entry(&row, out))?;
    writeln!(out, "# mcp__*, and every other tool: may reach any host")
}

/// Writes the rows that a policy adds, each document's under its place.
pub fn added(policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let documents = policy
        .documents()
        .iter()
        .filter(|document| !document.facts.rows().is_empty() || document.facts.folds());
    let mut documents = documents.peekable();
    if documents.peek().is_none() {
        return writeln!(out, "# the policy adds nothing to the facts of programs and tools");
    }
    for document in documents {
        let place = document.source.position(document.span.start);
        writeln!(out, "# {}:{}, for the rules of this document:", line(document.source.name()), place.line)?;
        if document.facts.folds() {
            writeln!(out, "case: fold")?;
        }
        if !document.facts.rows().is_empty() {
            writeln!(out, "facts:")?;
        }
        document.facts.rows().iter().try_for_each(|row| entry(&row.written, out))?;
    }
    Ok(())
}

/// The same as data, one row per line.
pub fn added_data(policy: &Policy) -> impl Iterator<Item = Value> {
    policy.documents().iter().flat_map(|document| {
        let place = json!([document.source.name(), document.index]);
        let folds = document.facts.folds().then(|| json!({"case": "fold"}));
        let rows = document.facts.rows().iter().map(|row| json!({"row": row.written}));
        folds.into_iter().chain(rows).map(move |mut data| {
            if let Value::Object(data) = &mut data {
                data.insert("document".to_owned(), place.clone());
            }
            data
        })
    })
}

/// A row as an item of a list in YAML.
pub fn entry(row: &Value, out: &mut dyn Write) -> io::Result<()> {
    for (place, (key, value)) in row.as_object().into_iter().flatten().enumerate() {
        let mark = if place == 0 { "-" } else { " " };
        match value {
            Value::Object(subs) if !subs.is_empty() => {
                writeln!(out, "  {mark} {key}:")?;
                for (key, value) in subs {
                    // A long key has a line of its own.
                    let (mark, colon) = if key.len() > 1000 { ("? ", "\n      : ") } else { ("", ": ") };
                    let (key, value) = (scalar(key, false), inline(value, false));
                    writeln!(out, "      {mark}{}{colon}{}", line(&key), line(&value))?;
                }
            }
            value => writeln!(out, "  {mark} {key}: {}", line(&inline(value, false)))?,
        }
    }
    Ok(())
}

/// The table for a program, a row a line.
pub fn table_data() -> impl Iterator<Item = Value> {
    rows().chain(tool_rows()).map(|row| json!({"row": row}))
}
