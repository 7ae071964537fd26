//! `facts`: rows that a document adds to what is known of programs and tools, for its own rules.

mod runs;

use std::collections::HashMap;

use runs::{Runs, is_option, options, plain, runs};

use crate::shell::facts::table::{does as kept, kept_program, kept_tool, kept_wrapper, list, text};
use crate::shell::facts::tools::Argument;
use crate::shell::facts::written::{ARGUMENTS, FILES, HOSTS};
use crate::shell::facts::{At, Does, Net, Program, Row, Table, Wrapper};
use crate::shell::options::Style;
use crate::source::nearest::nearest;
use crate::source::wildcard::Wildcard;
use crate::source::{Field, Fields, Problem, ProblemKind, Span, quoted};

/// Takes `facts`: the shipped rows with those of the document. What cannot be read has been reported, and is left out.
pub fn facts<'a>(fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Table {
    let Some(rows) = fields.optional("facts") else { return Table::default() };
    let mut seen = HashMap::new();
    let read = rows.items(out).into_iter().flatten();
    Table::new(read.filter_map(|item| row(&item, &mut seen, out)).flatten().collect())
}

/// What a row is about, with its place: two rows about one thing contradict each other.
type Seen = HashMap<String, Span>;

fn row(item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) -> Option<Vec<Row>> {
    let before = out.len();
    let mut fields = item.fields(out)?;
    let rows = match (fields.has("program"), fields.has("tool")) {
        (true, false) => program(&mut fields, item, seen, out),
        (false, true) => tool(&mut fields, item, seen, out),
        (is_both, _) => {
            let message = match is_both {
                true => "a row is about a program or about a tool, not both",
                false => "a row of `facts` needs `program` or `tool`",
            };
            out.push(Problem::new(ProblemKind::MissingKey, fields.head(), message));
            return None;
        }
    };
    out.extend(fields.unknown());
    rows.filter(|_| out.len() == before)
}

/// Reports a row about something that another row is about.
fn twice(what: String, item: &Field<'_>, seen: &mut Seen, out: &mut Vec<Problem>) {
    if seen.insert(what.clone(), item.span()).is_some() {
        item.refuse(format!("a second row for {}", quoted(&what)), out);
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

fn program(
    fields: &mut Fields<'_>,
    item: &Field<'_>,
    seen: &mut Seen,
    out: &mut Vec<Problem>,
) -> Option<Vec<Row>> {
    let named = fields
        .required("program", out)
        .and_then(|field| names(&field, "a program's name, without its folder", out));
    let subs = match fields.optional("subcommands") {
        // Words with one blank between them; the empty one is the program without a subcommand.
        Some(field) if field.node.as_str() == Some("") => Some(vec![""]),
        Some(field) => subcommands(&field, out),
        None => Some(vec![""]),
    };
    let takes =
        fields.optional("values").map_or(Some(""), |field| words(&field, "an option", is_option, out));
    let what = "an option, such as `-v` or `-v=--verbose`";
    let is_flag = |flag: &str| flag.split('=').all(is_option);
    let flags = fields.optional("flags").map_or(Some(""), |field| words(&field, what, is_flag, out));
    let one_dash = fields.boolean("one_dash", out).unwrap_or_default();
    let (mut does, mut says) = (Vec::new(), false);
    for (key, act) in ACTS {
        if let Some(field) = fields.optional(key) {
            says = true;
            each(&field, out, |field, out| {
                let (head, conditions) = conditioned(field, out)?;
                does.push(conditions.on(act(files(field, &head, out)?)));
                Some(())
            });
        }
    }
    if let Some(field) = fields.optional("reaches") {
        says = true;
        each(&field, out, |field, out| {
            let (head, conditions) = conditioned(field, out)?;
            does.push(conditions.on(Does::Reaches(hosts(field, &head, out)?)));
            Some(())
        });
    }
    if let Some(field) = fields.optional("opaque") {
        says = true;
        match field.node.as_bool() {
            Some(true) => does.push(Does::Opaque),
            Some(false) => {}
            None => each(&field, out, |field, out| {
                let (head, conditions) = conditioned(field, out)?;
                if !head.is_empty() {
                    field.refuse("expected `true`, `false`, or `with` or `without` and options", out);
                    return None;
                }
                does.push(conditions.on(Does::Opaque));
                Some(())
            }),
        }
    }
    let runs = fields.optional("runs").map(|field| runs(&field, out));
    let (named, subs) = (named?, subs?);
    for name in &named {
        for sub in &subs {
            let separator = if sub.is_empty() { "" } else { " " };
            let kind = if says || runs.is_none() { "" } else { ", which runs another program" };
            twice(format!("{name}{separator}{sub}{kind}"), item, seen, out);
        }
    }
    let (names, sub, takes, flags) = (text(&named.join(" ")), text(&subs.join("|")), takes?, flags?);
    let mut rows = Vec::new();
    if says || runs.is_none() {
        let style = if one_dash { Style::OneDash } else { Style::Gnu };
        rows.push(Row::Program(kept_program(Program { names, sub, takes, flags, style, does: list(&does) })));
    }
    if let Some(runs) = runs {
        let Runs { inner, skip, elsewhere, apart, more, besides, shell } = runs?;
        let row = Wrapper { names, sub, takes, flags, skip, inner, elsewhere, apart, more, besides, shell };
        rows.push(Row::Wrapper(kept_wrapper(row)));
    }
    Some(rows)
}

fn subcommands<'a>(field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Vec<&'a str>> {
    let is_sub =
        |sub: &str| sub.split(' ').all(|word| !word.is_empty() && !word.starts_with('-') && plain(word));
    // Of a program that runs another one, the list may hold the empty text.
    let Some(items) = field.node.as_seq() else { return texts(field, "a subcommand", is_sub, out) };
    let whole = items.iter().any(|item| item.as_str() == Some(""));
    let named: Vec<Field<'a>> = field.items(out)?.filter(|item| item.node.as_str() != Some("")).collect();
    if named.is_empty() {
        field.refuse("an empty list says nothing", out);
        return None;
    }
    let mut subs = Vec::new();
    for item in named {
        subs.extend(texts(&item, "a subcommand", is_sub, out)?);
    }
    subs.extend(whole.then_some(""));
    Some(subs)
}

/// A value, or each of a list of them.
fn each<'a>(
    field: &Field<'a>,
    out: &mut Vec<Problem>,
    mut one: impl FnMut(&Field<'a>, &mut Vec<Problem>) -> Option<()>,
) {
    match field.node.as_seq() {
        Some([]) => field.refuse("an empty list says nothing", out),
        Some(_) => field.items(out).into_iter().flatten().for_each(|item| _ = one(&item, out)),
        None => _ = one(field, out),
    }
}

type Act = fn(At) -> Does;
const ACTS: &[(&str, Act)] = &[
    ("reads", Does::Reads),
    ("reads_below", Does::ReadsDeep),
    ("writes", Does::Writes),
    ("writes_below", Does::WritesDeep),
    ("deletes", Does::Deletes),
    ("deletes_below", Does::DeletesDeep),
];

/// What options say of a thing that is done.
type Condition = fn(&'static str, &'static Does) -> Does;

fn condition(word: &str) -> Option<Condition> {
    match word {
        "with" => Some(Does::With),
        "without" => Some(Does::Without),
        "in" => Some(Does::In),
        _ => None,
    }
}

/// Options that say when and where a thing is done, from the outermost.
struct Conditions(Vec<(Condition, &'static str)>);

impl Conditions {
    fn on(&self, does: Does) -> Does {
        let wrapped = |does, (condition, options): &(Condition, &'static str)| condition(options, kept(does));
        self.0.iter().rev().fold(does, wrapped)
    }
}

/// The words of a text, and the conditions at its end: `operands without -n --dry-run`.
fn conditioned<'a>(field: &Field<'a>, out: &mut Vec<Problem>) -> Option<(Vec<&'a str>, Conditions)> {
    let words: Vec<&str> = field.name(out)?.split(' ').collect();
    let begins = |at: usize| {
        words.get(at).is_some_and(|word| condition(word).is_some())
            && words.get(at + 1).is_some_and(|word| is_option(word))
    };
    let end = (0..words.len()).find(|at| begins(*at)).unwrap_or(words.len());
    let (head, rest) = words.split_at_checked(end)?;
    let mut conditions: Vec<(Condition, Vec<&str>)> = Vec::new();
    for word in rest {
        match (*word, conditions.last_mut()) {
            (word, _) if condition(word).is_some() => {
                conditions.extend(condition(word).map(|kind| (kind, Vec::new())));
            }
            (word, Some((_, options))) if is_option(word) => options.push(word),
            _ => {
                field.refuse(format!("{} is not an option such as `-o` or `--output`", quoted(word)), out);
                return None;
            }
        }
    }
    if conditions.iter().any(|(_, options)| options.is_empty()) {
        field.refuse("`with`, `without` and `in` need an option", out);
        return None;
    }
    let kept = conditions.into_iter().map(|(kind, options)| (kind, text(&options.join(" ")))).collect();
    Some((head.to_vec(), Conditions(kept)))
}

/// The words of a command that name files.
fn files(field: &Field<'_>, words: &[&str], out: &mut Vec<Problem>) -> Option<At> {
    let at = match words {
        [word] if FILES.iter().any(|(known, _)| known == word) => {
            FILES.iter().find(|(known, _)| known == word).map(|(_, at)| *at)
        }
        [word] if word.len() > 1 && word.ends_with('=') && !word.starts_with('-') && plain(word) => {
            Some(At::Field(text(word)))
        }
        ["names", rest @ ..] if options(rest).is_some() => options(rest).map(At::Into),
        words => {
            let attached: Option<Vec<&str>> = words.iter().map(|word| word.strip_prefix('@')).collect();
            options(words).map(At::Value).or_else(|| Some(At::Attached(options(&attached?)?)))
        }
    };
    if at.is_none() {
        let known = FILES.iter().map(|(word, _)| *word);
        out.push(unknown(field, "words of a command", words, known, "options, `@OPTION`, `NAME=`"));
    }
    at
}

/// A problem with words that are none of those that are known.
fn unknown<'w>(
    field: &Field<'_>,
    what: &str,
    words: &[&str],
    known: impl Iterator<Item = &'w str> + Clone,
    others: &str,
) -> Problem {
    let written = words.join(" ");
    let problem = field.problem(ProblemKind::BadValue, format!("{} does not name {what}", quoted(&written)));
    match nearest(&written, known.clone()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => {
            let words: Vec<String> = known.map(|word| format!("`{word}`")).collect();
            problem.help(format!("write {}, {others}", words.join(", ")))
        }
    }
}

/// The hosts that a program reaches.
fn hosts(field: &Field<'_>, words: &[&str], out: &mut Vec<Problem>) -> Option<Net> {
    let said = |rest: &[&str]| (!rest.concat().is_empty()).then(|| text(&rest.join(" ")));
    let net = match words {
        [word] if HOSTS.iter().any(|(known, _)| known == word) => {
            HOSTS.iter().find(|(known, _)| known == word).map(|(_, net)| *net)
        }
        ["*"] => Some(Net::Elsewhere("a host that the row does not name")),
        ["unnamed", rest @ ..] => said(rest).map(Net::Elsewhere),
        ["unknown", rest @ ..] => said(rest).map(Net::Listed),
        ["first", "or", "unnamed", rest @ ..] => said(rest).map(Net::OperandOr),
        ["urls", rest @ ..] => options(rest).map(Net::UrlValue),
        [own @ .., "or", host] if is_host(host) => options(own).map(|own| Net::Default(own, text(host))),
        [word] if is_host(word) => Some(Net::Fixed(text(word))),
        [word] if word.len() > 1 && word.starts_with('$') && plain(word) => {
            word.strip_prefix('$').map(|name| Net::Variable(text(name)))
        }
        words => options(words).map(Net::Value),
    };
    if net.is_none() {
        let known = HOSTS.iter().map(|(word, _)| *word);
        let others = "options, `OPTIONS or HOST`, `urls OPTIONS`, `$VARIABLE`, a host's name, `unnamed NAME`, `unknown NAME`, or `'*'`";
        out.push(unknown(field, "hosts", words, known, others));
    }
    net
}

/// Every host but this machine has a point or a colon in its name.
fn is_host(word: &str) -> bool {
    let begins = !word.starts_with(['-', '$', '@']);
    begins && plain(word) && !word.contains('*') && (word.contains(['.', ':']) || word == "localhost")
}

fn tool(
    fields: &mut Fields<'_>,
    item: &Field<'_>,
    seen: &mut Seen,
    out: &mut Vec<Problem>,
) -> Option<Vec<Row>> {
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
        twice((*name).to_owned(), item, seen, out);
    }
    Some(vec![Row::Tool(kept_tool(text(&named.join(" ")), &does))])
}
