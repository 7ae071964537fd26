//! Rows as a policy writes them under `facts`.

use serde_json::{Map, Value};

use super::row::{At, Does, Net, Program};
use super::tools::{Argument, Tool};
use super::wrapper::{Inner, Wrapper};
use crate::shell::options::Style;

/// The words that name operands, each with what it stands for.
pub const FILES: &[(&str, At)] = &[
    ("operands", At::All),
    ("first", At::First),
    ("after_first", At::Rest),
    ("last", At::Last),
    ("before_last", At::ButLast),
    ("folder", At::Here),
    ("operands_or_folder", At::AllOrHere),
    ("after_first_or_folder", At::RestOrHere),
    ("environment", At::Environment),
    ("local", At::Local),
    ("local_last", At::LocalLast),
    ("local_before_last", At::LocalButLast),
];

/// The words that name hosts.
pub const HOSTS: &[(&str, Net)] =
    &[("operands", Net::Urls), ("first", Net::First), ("remotes", Net::Remotes)];

/// What a key of a tool's row says of an argument.
pub type OfArgument = fn(&'static str) -> Argument;

/// The keys of a tool's row, in the order of the reference page.
pub const ARGUMENTS: &[(&str, OfArgument)] = &[
    ("command", Argument::Command),
    ("folder", Argument::Folder),
    ("reads", Argument::Reads),
    ("searches", Argument::Searches),
    ("writes", Argument::Writes),
    ("deletes", Argument::Deletes),
    ("patch", Argument::Patch),
    ("reaches", Argument::Reaches),
];

/// Texts of a list: one stands alone.
fn several<'t>(texts: impl IntoIterator<Item = &'t str>) -> Value {
    let mut texts: Vec<Value> = texts.into_iter().map(Value::from).collect();
    if texts.len() == 1 { texts.remove(0) } else { Value::Array(texts) }
}

/// Names, of which each is an item.
fn names(text: &str) -> Value {
    several(text.split(' '))
}

fn head(names: &str, sub: &str, takes: &str) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("program".to_owned(), self::names(names));
    if !sub.is_empty() {
        row.insert("subcommands".to_owned(), several(sub.split('|')));
    }
    if !takes.is_empty() {
        row.insert("values".to_owned(), Value::from(takes));
    }
    row
}

/// The row of a program.
pub fn program(row: &Program) -> Value {
    let mut written = head(row.names, row.sub, row.takes);
    if !row.flags.is_empty() {
        written.insert("flags".to_owned(), Value::from(row.flags));
    }
    if row.style == Style::OneDash {
        written.insert("one_dash".to_owned(), Value::Bool(true));
    }
    let things: Vec<(&str, Value)> = row.does.iter().map(|does| thing(does, "")).collect();
    for key in
        ["reads", "reads_below", "writes", "writes_below", "deletes", "deletes_below", "reaches", "opaque"]
    {
        let mut values: Vec<Value> =
            things.iter().filter(|(own, _)| *own == key).map(|(_, value)| value.clone()).collect();
        match values.len() {
            0 => {}
            1 => drop(written.insert(key.to_owned(), values.remove(0))),
            _ => drop(written.insert(key.to_owned(), Value::Array(values))),
        }
    }
    Value::Object(written)
}

/// The key of a thing that a program does, and what is written there.
fn thing(does: &Does, conditions: &str) -> (&'static str, Value) {
    let (key, of) = match does {
        Does::With(options, inner) => return thing(inner, &format!("{conditions} with {options}")),
        Does::Without(options, inner) => return thing(inner, &format!("{conditions} without {options}")),
        Does::In(options, inner) => return thing(inner, &format!("{conditions} in {options}")),
        Does::Reads(at) => ("reads", files(at)),
        Does::ReadsDeep(at) => ("reads_below", files(at)),
        Does::WritesDeep(at) => ("writes_below", files(at)),
        Does::Writes(at) => ("writes", files(at)),
        Does::Deletes(at) => ("deletes", files(at)),
        Does::DeletesDeep(at) => ("deletes_below", files(at)),
        Does::Reaches(net) => ("reaches", hosts(net)),
        Does::Opaque if conditions.is_empty() => return ("opaque", Value::Bool(true)),
        Does::Opaque => ("opaque", String::new()),
    };
    (key, Value::from(format!("{of}{conditions}").trim_start()))
}

fn files(at: &At) -> String {
    match (FILES.iter().find(|(_, known)| known == at), at) {
        (Some((word, _)), _) => (*word).to_owned(),
        (None, At::Attached(options)) => format!("@{}", options.replace(' ', " @")),
        (None, At::Into(options)) => format!("names {options}"),
        (None, At::Value(options) | At::Field(options)) => (*options).to_owned(),
        (None, other) => other.to_string(),
    }
}

fn hosts(net: &Net) -> String {
    match (HOSTS.iter().find(|(_, known)| known == net), net) {
        (Some((word, _)), _) => (*word).to_owned(),
        (None, Net::UrlValue(options)) => format!("urls {options}"),
        (None, Net::Variable(name)) => format!("${name}"),
        (None, Net::Default(options, host)) if !options.is_empty() => format!("{options} or {host}"),
        (None, Net::Elsewhere(name)) => format!("unnamed {name}"),
        (None, Net::OperandOr(name)) => format!("first or unnamed {name}"),
        (None, Net::Listed(name)) => format!("unknown {name}"),
        (None, Net::Value(options)) => (*options).to_owned(),
        (None, Net::Fixed(host) | Net::Default(_, host)) => (*host).to_owned(),
        (None, other) => other.to_string(),
    }
}

/// The row of a program that runs another one.
pub fn wrapper(row: &Wrapper) -> Value {
    let mut written = head(row.names, row.sub, row.takes);
    if !row.flags.is_empty() {
        written.insert("flags".to_owned(), Value::from(row.flags));
    }
    let mut runs = match row.inner {
        Inner::Words => "words".to_owned(),
        Inner::Script => "script".to_owned(),
        Inner::First => "first".to_owned(),
        Inner::Input => "input".to_owned(),
        Inner::Keys => "keys".to_owned(),
        Inner::After(options) => format!("past {options}"),
        Inner::As(program) => format!("as {program}"),
        Inner::Value(options) => options.to_owned(),
        Inner::ValueOrWords(options) => format!("{options} or words"),
    };
    if row.skip > 0 {
        runs.push_str(&format!(" after {}", row.skip));
    }
    runs.push_str(if row.elsewhere { " elsewhere" } else { "" });
    if let Some(apart) = row.apart {
        runs.push_str(" apart");
        for (word, options) in [("with", apart.with), ("without", apart.without)] {
            if !options.is_empty() {
                runs.push_str(&format!(" {word} {options}"));
            }
        }
    }
    let marks = [(" more", row.more), (" besides", row.besides), (" shell", !row.shell.is_empty())];
    for (word, holds) in marks {
        runs.push_str(if holds { word } else { "" });
    }
    if !matches!(row.shell, "" | "*") {
        runs.push_str(&format!(" {}", row.shell));
    }
    written.insert("runs".to_owned(), Value::from(runs));
    Value::Object(written)
}

/// The row of a tool.
pub fn tool(row: &Tool) -> Value {
    let mut written = Map::from_iter([("tool".to_owned(), names(row.names))]);
    for argument in row.does {
        let (key, value) = match argument {
            Argument::Command(names) => ("command", Value::from(*names)),
            Argument::Folder(names) => ("folder", Value::from(*names)),
            Argument::Reads(names) => ("reads", Value::from(*names)),
            Argument::Searches(names) => ("searches", Value::from(*names)),
            Argument::Writes(names) => ("writes", Value::from(*names)),
            Argument::Deletes(names) => ("deletes", Value::from(*names)),
            Argument::Patch(names) => ("patch", Value::from(*names)),
            Argument::Reaches(names) => ("reaches", Value::from(*names)),
            Argument::Anywhere => ("reaches", Value::from("*")),
        };
        written.insert(key.to_owned(), value);
    }
    Value::Object(written)
}

impl super::Row {
    /// As a policy writes it.
    pub fn written(&self) -> Value {
        match self {
            super::Row::Program(row) => program(row),
            super::Row::Wrapper(row) => wrapper(row),
            super::Row::Tool(row) => tool(row),
        }
    }
}
