//! `facts`: rows that a document adds to what is known of programs and tools, for its own rules.

use std::collections::HashMap;

use crate::shell::facts::fault::{Fault, FaultKind};
use crate::shell::facts::read;
use crate::shell::facts::table::{RowKind, kept_tool, text};
use crate::shell::facts::tools::{ARGUMENTS, Argument};
use crate::shell::facts::{Row, Table};
use crate::source::fields::unknown_key;
use crate::source::nearest::nearest;
use crate::source::wildcard::Wildcard;
use crate::source::{Field, Fields, Node, Problem, ProblemKind, Span, quoted};

/// Takes `facts`: the shipped rows with those of the document. What cannot be read has been reported, and is left out.
pub fn facts<'a>(fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Table {
    let Some(rows) = fields.optional("facts") else { return Table::default() };
    let mut seen = HashMap::new();
    let read = rows.items(out).into_iter().flatten();
    Table::new(read.filter_map(|item| row(&item, &mut seen, out)).collect())
}

/// What a row is about, a program or a tool of this name, with its place: two rows about one thing contradict each other.
type Seen = HashMap<(bool, String), Span>;

fn row(item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) -> Option<Row> {
    let before = out.len();
    let mut fields = item.fields(out)?;
    let kind = match (fields.has("program"), fields.has("tool")) {
        (true, false) => Some(program(item, seen, out)),
        (false, true) => {
            let kind = tool(&mut fields, item, seen, out);
            out.extend(fields.unknown());
            kind
        }
        (is_both, _) => {
            let message = match is_both {
                true => "a row is about a program or about a tool, not both",
                false => "a row of `facts` needs `program` or `tool`",
            };
            out.push(Problem::new(ProblemKind::MissingKey, fields.head(), message));
            None
        }
    };
    let kind = kind.filter(|_| out.len() == before)?;
    Some(Row { kind, written: item.node.to_json() })
}

/// Reports a row about something that another row is about.
fn twice(is_tool: bool, what: String, item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) {
    if seen.insert((is_tool, what.clone()), item.span()).is_some() {
        item.refuse(format!("a second row for {}", quoted(&what)), out);
    }
}

fn program(item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) -> RowKind {
    let (row, faults) = read::program(&item.node.to_json());
    out.extend(faults.into_iter().map(|fault| problem(fault, item.node)));
    let own = row.levels.iter().flat_map(|level| level.subs.iter().map(|sub| sub.join(" ")));
    for sub in own.collect::<Vec<_>>() {
        for name in &row.names {
            twice(false, format!("{name} {sub}").trim_end().to_owned(), item, seen, out);
        }
    }
    RowKind::Program(Box::new(row))
}

/// What is wrong with a row, at its place in the document.
fn problem(fault: Fault, row: &Node) -> Problem {
    let (key, value) = row.span_of(&fault.pointer).unwrap_or((None, row.span));
    if let (FaultKind::UnknownKey, Some((written, known))) = (fault.kind, &fault.known) {
        return unknown_key(written, key.unwrap_or(value), known);
    }
    let (kind, span) = match fault.kind {
        FaultKind::UnknownKey => (ProblemKind::UnknownKey, key.unwrap_or(value)),
        FaultKind::MissingKey => (ProblemKind::MissingKey, value),
        FaultKind::BadValue => (ProblemKind::BadValue, value),
    };
    let near = fault.known.and_then(|(written, known)| nearest(&written, known.iter().copied()));
    let help = near.map(|near| format!("did you mean `{near}`?")).or(fault.help);
    let problem = Problem::new(kind, span, fault.message);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// A text or a list of them, each of which fits; in a row, a blank separates several.
fn texts<'a>(
    field: &Field<'a>,
    what: &str,
    fits: impl Fn(&str) -> bool,
    out: &mut Vec<Problem>,
) -> Option<Vec<&'a str>> {
    let one = |field: &Field<'a>, out: &mut Vec<Problem>| {
        let text = field.name(out)?;
        if !fits(text) {
            field.refuse(format!("{} is not {what}", quoted(text)), out);
            return None;
        }
        Some(text)
    };
    if field.node.as_seq().is_none() {
        return one(field, out).map(|text| vec![text]);
    }
    let read = field.list(out, |item, out| one(&item, out))?;
    if read.is_empty() {
        field.refuse("an empty list says nothing", out);
        return None;
    }
    Some(read)
}

/// The names of programs or tools, which are compared letter by letter.
fn names<'a>(field: &Field<'a>, what: &str, out: &mut Vec<Problem>) -> Option<Vec<&'a str>> {
    let names = texts(field, what, |name| !name.contains(char::is_whitespace) && !name.contains('/'), out)?;
    for name in &names {
        let help = "name each of them: a row is for the names that it lists";
        out.extend(Wildcard::of(name).map(|found| found.problem(field.span(), help)));
    }
    Some(names)
}

/// A text of words with blanks between them, or a list of such texts: as a row keeps them.
fn words(
    field: &Field<'_>,
    what: &str,
    fits: impl Fn(&str) -> bool,
    out: &mut Vec<Problem>,
) -> Option<&'static str> {
    let all = |text: &str| text.split(' ').all(|word| !word.is_empty() && fits(word));
    Some(text(&texts(field, what, all, out)?.join(" ")))
}

fn tool(
    fields: &mut Fields<'_>,
    item: &Field<'_>,
    seen: &mut Seen,
    out: &mut Vec<Problem>,
) -> Option<RowKind> {
    let named = fields.required("tool", out).and_then(|field| names(&field, "a tool's name", out));
    let mut does = Vec::new();
    for (key, argument) in ARGUMENTS {
        let Some(field) = fields.optional(key) else { continue };
        if *key == "reaches" && field.node.as_str() == Some("*") {
            does.push(Argument::Anywhere);
            continue;
        }
        let names =
            words(&field, "the name of an argument", |name| !name.contains(char::is_whitespace), out)?;
        if let Some(path) = names.split(' ').find(|name| name.starts_with("$.") || name.starts_with("$[")) {
            let message = format!("no argument is called {}: `facts` has names, not paths", quoted(path));
            let own = path.trim_start_matches(['$', '.', '[']).trim_matches([']', '\'', '"']);
            let help = match own.contains(['.', '[']) || own.is_empty() {
                true => "write the name of the argument".to_owned(),
                false => format!("write {}", quoted(own)),
            };
            out.push(field.problem(ProblemKind::MatchesNothing, message).help(help));
        }
        does.push(argument(names));
    }
    let named = named?;
    let known = |name: &&&str| crate::shell::facts::tools::tool(name).is_some_and(|row| !row.does.is_empty());
    if let Some(name) = named.iter().find(known).filter(|_| does.is_empty()) {
        let message =
            format!("this row takes the place of what is known of {}, and says nothing", quoted(name));
        let help =
            "say what its arguments are, such as `command: command` or `reads: path`, or leave the row out";
        out.push(item.problem(ProblemKind::BadValue, message).help(help));
    }
    for name in &named {
        twice(true, (*name).to_owned(), item, seen, out);
    }
    Some(RowKind::Tool(kept_tool(text(&named.join(" ")), &does)))
}
