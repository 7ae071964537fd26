//! Reads the rows of programs (`src/facts/*.yaml`) and writes them as one table, in which a program is found by its
//! name: each row as written, for display, and parsed, so that no row is parsed twice. A problem of a row ends the
//! build, with its file and line.

#[path = "src/act.rs"]
mod act;
#[path = "src/facts/fault.rs"]
mod fault;
#[path = "src/facts/language.rs"]
mod language;
#[path = "src/facts/read.rs"]
mod read;
#[path = "src/facts/row.rs"]
mod row;
#[path = "src/facts/run.rs"]
mod run;
#[path = "src/facts/tools.rs"]
mod tools;
#[path = "src/facts/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

pub use act::Act;
use granit_parser::{Event, Parser, ScalarStyle};
use serde::Serialize;
use serde_json::{Map, Value};

const FOLDER: &str = "src/facts";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut files: Vec<_> = match std::fs::read_dir(FOLDER) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => return fail(&format!("{FOLDER}: {error}")),
    };
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    let (mut rows, mut tools, mut agents) = (Vec::new(), Vec::new(), Vec::new());
    let (mut programs, mut read_tools) = (Packed::default(), Vec::new());
    let mut tool_names = BTreeSet::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut scripts: BTreeSet<String> = BTreeSet::new();
    for file in &files {
        let shown = file.display();
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => return fail(&format!("{shown}: {error}")),
        };
        let items = match items(&text) {
            Ok(items) => items,
            Err((line, why)) => return fail(&format!("{shown}:{line}: {why}")),
        };
        for (line, row) in items {
            let place = format!("{shown}:{line}");
            if let Some(tool) = row.as_object().filter(|row| row.contains_key("tool")) {
                let (tool, faults) = tools::read(tool);
                if let Some(fault) = faults.first() {
                    return fail(&format!("{place}: {}: {}", fault.pointer, fault.message));
                }
                if let Some(name) = tool.names.iter().find(|name| !tool_names.insert((*name).clone())) {
                    return fail(&format!("{place}: a second row for `{name}`"));
                }
                read_tools.push(tool);
                tools.push(row.to_string());
                continue;
            }
            if row.get("agent").is_some() {
                match agent(&row) {
                    Some(tools) => agents.push(tools),
                    None => {
                        return fail(&format!(
                            "{place}: expected `agent`, and `tools`: each a name with its arguments"
                        ));
                    }
                }
                continue;
            }
            let (program, faults) = read::program(&row);
            if let Some(fault) = faults.first() {
                return fail(&format!("{place}: {}: {}", fault.pointer, fault.message));
            }
            programs.add(&program);
            scripts.extend(program.env_runs);
            for name in program.names {
                if names.insert(name.clone(), rows.len()).is_some() {
                    return fail(&format!("{place}: a second row for `{name}`"));
                }
            }
            rows.push(row.to_string());
        }
    }
    let (names, scripts) = (Vec::from_iter(names), Vec::from_iter(scripts));
    let mut code = String::new();
    for (name, texts) in [("ROWS", &rows), ("TOOLS", &tools), ("SCRIPTS", &scripts)] {
        _ = writeln!(code, "pub static {name}: [&str; {}] = {texts:?};", texts.len());
    }
    _ = writeln!(code, "pub static NAMES: [(&str, usize); {}] = {names:?};", names.len());
    _ = writeln!(
        code,
        "pub static AGENTS: [(&str, &[AgentTool]); {}] = [{}];",
        agents.len(),
        agents.join(", ")
    );
    _ = writeln!(code, "static PLACES: [(usize, usize); {}] = {:?};", programs.places.len(), programs.places);
    let mut tools = Packed::default();
    tools.add(&read_tools);
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    for (name, code) in
        [("facts.rs", code.into_bytes()), ("programs.bin", programs.bytes), ("tools.bin", tools.bytes)]
    {
        if let Err(error) = std::fs::write(Path::new(&out).join(name), code) {
            fail(&format!("the table of programs: {error}"));
        }
    }
}

/// Values one after the other in the form of `postcard`, and where each begins and ends.
#[derive(Default)]
struct Packed {
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl Packed {
    fn add(&mut self, value: &impl Serialize) {
        let begin = self.bytes.len();
        match postcard::to_allocvec(value) {
            Ok(bytes) => self.bytes.extend(bytes),
            Err(error) => fail(&format!("the table of programs: {error}")),
        }
        self.places.push((begin, self.bytes.len()));
    }
}

/// The tools of an agent, as code: each with the argument that holds its operand, and the others that a call needs.
fn agent(row: &Value) -> Option<String> {
    let mut code = format!("({:?}, &[", row.get("agent")?.as_str()?);
    for tool in row.get("tools")?.as_array()? {
        let words: Vec<&str> = tool.as_str()?.split(' ').collect();
        let [name, argument, others @ ..] = words.as_slice() else { return None };
        _ = write!(code, "AgentTool {{ name: {name:?}, argument: {argument:?}, others: &{others:?} }}, ");
    }
    Some(code + "])")
}

fn fail(why: &str) {
    println!("cargo::error={why}");
    std::process::exit(1);
}

/// The items of a list, each with its line; or the problem, with its line.
fn items(text: &str) -> Result<Vec<(usize, Value)>, (usize, String)> {
    let mut open: Vec<Open> = Vec::new();
    let mut found = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| (error.marker().line(), error.to_string()))?;
        let line = span.start.line();
        let done = match event {
            Event::SequenceStart(..) => {
                open.push(Open { line, key: None, value: Value::Array(Vec::new()) });
                None
            }
            Event::MappingStart(..) => {
                open.push(Open { line, key: None, value: Value::Object(Map::new()) });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|open| (open.line, open.value)),
            Event::Scalar(text, style, ..) => Some((line, scalar(&text, style))),
            Event::Alias(..) => return Err((line, "an alias".to_owned())),
            _ => None,
        };
        let Some((line, value)) = done else { continue };
        let depth = open.len();
        match open.last_mut() {
            Some(Open { value: Value::Array(_), .. }) if depth == 1 => found.push((line, value)),
            Some(Open { value: Value::Array(items), .. }) => items.push(value),
            Some(Open { value: Value::Object(members), key, .. }) => match key.take() {
                None => *key = Some(value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string())),
                Some(key) => {
                    if members.insert(key.clone(), value).is_some() {
                        return Err((line, format!("`{key}` is there twice")));
                    }
                }
            },
            None if !value.is_array() => return Err((line, "expected a list of rows".to_owned())),
            _ => {}
        }
    }
    match found.is_empty() {
        true => Err((1, "there is no row".to_owned())),
        false => Ok(found),
    }
}

/// A list or mapping that has begun.
struct Open {
    line: usize,
    key: Option<String>,
    value: Value,
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match text {
        "true" if style == ScalarStyle::Plain => Value::Bool(true),
        "false" if style == ScalarStyle::Plain => Value::Bool(false),
        "" | "~" | "null" if style == ScalarStyle::Plain => Value::Null,
        text => Value::from(text),
    }
}
