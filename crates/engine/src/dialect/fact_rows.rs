//! `facts`: rows that a document adds to the facts about programs and tools, for its own rules.

use std::collections::HashMap;

use rulestep_base::source::fields::unknown_key;
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, Span, quoted};
use rulestep_shell::facts::fault::{Fault, FaultKind};
use rulestep_shell::facts::read;
use rulestep_shell::facts::table::RowKind;
use rulestep_shell::facts::{self, Row, Table};

/// Takes `facts`: the shipped rows with those of the document. What cannot be read has been reported, and is left out.
pub fn facts<'a>(fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Table {
    let Some(rows) = fields.optional("facts") else { return Table::default() };
    let mut seen = HashMap::new();
    let read = rows.items(out).into_iter().flatten();
    Table::new(read.filter_map(|item| row(&item, &mut seen, out)).collect())
}

/// Whether a row is about a program or a tool, and its name, with the row's place: two rows about one thing contradict
/// each other.
type Seen = HashMap<(bool, String), Span>;

fn row(item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) -> Option<Row> {
    let before = out.len();
    let fields = item.fields(out)?;
    let kind = match (fields.has("program"), fields.has("tool")) {
        (true, false) => Some(program(item, seen, out)),
        (false, true) => tool(item, seen, out),
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

/// The problem of a row, at its place in the document.
fn problem(fault: Fault, row: &Node) -> Problem {
    let (key, value) = row.span_of(&fault.pointer).unwrap_or((None, row.span));
    if let (FaultKind::UnknownKey, Some((written, known))) = (fault.kind, &fault.known) {
        return unknown_key(written, key.unwrap_or(value), known);
    }
    let (kind, span) = match fault.kind {
        FaultKind::UnknownKey => (ProblemKind::UnknownKey, key.unwrap_or(value)),
        FaultKind::MissingKey => (ProblemKind::MissingKey, value),
        FaultKind::BadValue => (ProblemKind::BadValue, value),
        FaultKind::MatchesNothing => (ProblemKind::MatchesNothing, value),
    };
    let near = fault.known.and_then(|(written, known)| nearest(&written, known.iter().copied()));
    let help = near.map(|near| format!("did you mean `{near}`?")).or(fault.help);
    let problem = Problem::new(kind, span, fault.message);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

fn tool(item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) -> Option<RowKind> {
    let (row, faults) = facts::read_tool(item.node.to_json().as_object()?);
    let is_empty = faults.is_empty() && row.does.is_empty();
    out.extend(faults.into_iter().map(|fault| problem(fault, item.node)));
    let known = |name: &&String| facts::tool(name).is_some_and(|row| !row.does.is_empty());
    if let Some(name) = row.names.iter().find(known).filter(|_| is_empty) {
        let message =
            format!("this row takes the place of what is known of {}, and says nothing", quoted(name));
        let help =
            "say what its arguments are, such as `command: command` or `reads: path`, or leave the row out";
        out.push(item.problem(ProblemKind::BadValue, message).help(help));
    }
    for name in &row.names {
        twice(true, name.clone(), item, seen, out);
    }
    Some(RowKind::Tool(row))
}
