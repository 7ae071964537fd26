//! Damage of types: every key of every fixture, and every item of its lists, is given a value of each other type, or taken
//! away; of places that look alike in a format, the first. Then the same calls come out of it, or it is said that calls may be lost.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rulestep_base::diagnostic::Diagnostic;
use rulestep_recording::{self as recording, FORMATS, Options};
use serde_json::{Value, json};

use super::lost::CLEAN;

/// A step into a document: the name of a member, or the place of an item.
#[derive(Clone, PartialEq)]
pub enum Step {
    Key(String),
    Item(usize),
}

pub type Place = Vec<Step>;

#[derive(PartialEq)]
pub struct Called {
    pub id: Option<String>,
    pub tool: String,
    pub arguments: String,
    pub outcome: &'static str,
}

/// What came of reading: the calls, and what was said to be lost.
#[derive(PartialEq)]
pub struct Seen {
    pub format: &'static str,
    pub calls: Vec<Called>,
    pub lost: Vec<String>,
}

/// `None` where nothing of it is a recording, which is an error.
pub fn seen(bytes: Vec<u8>) -> Option<Seen> {
    let mut reading = recording::open("some.json", Box::new(Cursor::new(bytes)), &Options::default()).ok()?;
    let (mut calls, mut lost) = (Vec::new(), Vec::new());
    let lose = |told: &[Diagnostic], lost: &mut Vec<String>| {
        let may = told.iter().filter(|told| told.may_lose_calls());
        lost.extend(may.map(ToString::to_string));
    };
    for session in reading.by_ref() {
        calls.extend(session.calls.iter().map(|call| Called {
            id: call.id.as_deref().map(str::to_owned),
            tool: call.tool.to_string(),
            arguments: call.arguments.raw().to_owned(),
            outcome: call.outcome.word(),
        }));
        lose(&session.diagnostics, &mut lost);
    }
    lose(&reading.diagnostics(), &mut lost);
    Some(Seen { format: reading.format(), calls, lost })
}

/// The documents of a file: its lines, or the whole.
pub fn documents(text: &str) -> Vec<Value> {
    if let Ok(whole) = serde_json::from_str(text) {
        return vec![whole];
    }
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Everything in a document but its top: one place for each path of names that is not yet `known`.
fn places(document: usize, value: &Value, known: &mut HashSet<String>) -> Vec<(usize, Place)> {
    fn walk(value: &Value, path: &mut Place, shape: &str, out: &mut Vec<(Place, String)>) {
        match value {
            Value::Object(map) => {
                let kind = ["type", "role", "kind", "event", "op", "key"]
                    .iter()
                    .find_map(|key| map.get(*key)?.as_str());
                for (key, inner) in map {
                    let shape = format!("{shape}/{}.{key}", kind.unwrap_or_default());
                    path.push(Step::Key(key.clone()));
                    out.push((path.clone(), format!("{shape} {}", kind_of(inner))));
                    walk(inner, path, &shape, out);
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (place, inner) in items.iter().enumerate() {
                    let shape = format!("{shape}[]");
                    path.push(Step::Item(place));
                    out.push((path.clone(), format!("{shape} {}", kind_of(inner))));
                    walk(inner, path, &shape, out);
                    path.pop();
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, &mut Vec::new(), "", &mut out);
    out.into_iter()
        .filter(|(_, shape)| known.insert(shape.clone()))
        .map(|(path, _)| (document, path))
        .collect()
}

pub fn at<'v>(value: &'v mut Value, place: &[Step]) -> &'v mut Value {
    place.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Item(item) => &mut value[*item],
    })
}

fn remove(value: &mut Value, place: &[Step]) {
    let (last, before) = place.split_last().unwrap();
    match (at(value, before), last) {
        (Value::Object(map), Step::Key(key)) => drop(map.shift_remove(key)),
        (Value::Array(items), Step::Item(item)) => drop(items.remove(*item)),
        _ => unreachable!("a place is a member or an item"),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

pub fn shown(place: &[Step]) -> String {
    place
        .iter()
        .map(|step| match step {
            Step::Key(key) => format!("/{key}"),
            Step::Item(_) => "/*".to_owned(),
        })
        .collect()
}

/// Places where another type changes calls and nothing is said, each with the reason.
const QUIET: &[(&str, &str, &str)] = &[
    ("anthropic", "/request/messages/*/content", REPEATED),
    ("anthropic", "/request/messages/*/content/*/text", REPEATED),
    ("bedrock", "/request/messages/*/content/*/text", REPEATED),
    ("openai-chat", "/request/messages/*/content", REPEATED),
    ("gemini-api", "/request/contents/*/parts/*/functionCall/args", REPEATED),
    ("gemini-api", "/request/contents/*/parts/*/functionCall/args/n", REPEATED),
    ("gemini-api", "/response/candidates/*/content/parts/*/functionCall/args", REPEATED),
    ("gemini-api", "/response/candidates/*/content/parts/*/functionCall/args/n", REPEATED),
    ("openai-responses", "/input", REPEATED),
    ("openai-responses", "/input/*", REPEATED),
    ("anthropic", "/response/content/*/content", RESULT),
    ("anthropic", "/response/content/*/content/type", RESULT),
    ("claude-code", "/message/content", "a text is what the user says; its results are gone, no call"),
    ("claude-code", "/toolUseResult", "a notice says that nobody says if the call ran"),
    ("codex-rollout", "/payload/output", RESULT),
    ("codex-rollout", "/payload/output/content", RESULT),
    ("cursor-agent", "/tool_call/editToolCall/result", RESULT),
    ("cursor-agent", "/tool_call/function/result", RESULT),
    ("cursor-agent", "/tool_call/shellToolCall/result", RESULT),
    ("cursor-agent", "/tool_call/shellToolCall/result/success", RESULT),
    ("goose", "/content/*/toolResult/value", RESULT),
    ("langfuse", "/output", RESULT),
    ("langfuse", "/output/status", RESULT),
    ("langfuse", "/output/type", RESULT),
    ("swe-agent", "/trajectory/*/observation", RESULT),
    ("vercel-ai", "/*/content/*/output/type", RESULT),
    ("bedrock", "/message/content/*/toolResult/status", FAILED),
    ("bedrock", "/request/messages/*/content/*/toolResult/status", FAILED),
    ("mini-swe-agent", "/messages/*/extra/exception_info", FAILED),
    ("mcp", "/message/*/result", "a warning says that its call is not known to have succeeded"),
    ("otel", "/status", "a word or a number is a status as well"),
    ("otel", "/status/code", "numbers are codes as well"),
    ("langfuse", "/input", ASKED),
    ("wink", "/context/detail/input", ASKED),
    ("mlflow", "/data/spans/*/attributes/mlflow.spanOutputs", "the span of the tool has the call as well"),
    ("swe-agent", "/trajectory/*/action", ASKED),
    ("tau-bench", "/*/traj/*/tool_calls/*/function/arguments", ASKED),
    ("langfuse", "/observations/*/startTime", "a number is a time as well, and this one is early"),
    ("openai-responses", "/output/*", MIDDLE),
    ("openai-responses", "/response", MIDDLE),
    ("gemini-cli", "/toolCalls", "the message comes again in a later history, which names the call"),
    ("gemini-cli", "/toolCalls/*", "the message comes again in a later history, which names the call"),
    ("langchain", "/messages/*/kwargs/invalid_tool_calls", "the id is that of another conversation's call"),
    ("langchain", "/messages/*/kwargs/invalid_tool_calls/*", "the id is that of another conversation's call"),
    ("mcp", "/*", "the id is given to several requests"),
    ("mcp", "/*/*", "the id is given to several requests"),
    ("vercel-ai", "/response", "a text is what was answered, as rows of data sets have it"),
    ("mcp", "/result/isError", FAILED),
    ("anthropic", "/response", "a request that was not answered"),
    ("atif", "/subagent_trajectories", PADDED),
    ("langsmith", "/child_runs", PADDED),
];

const REPEATED: &str =
    "a request whose history is another one begins another conversation; no call is missing";
const RESULT: &str = "what a tool gave back may be any value, and says in some of them that it failed";
const FAILED: &str = "a mark of failure that cannot be read counts as one";
const ASKED: &str = "what was asked may be any value, and shows as the arguments";
const PADDED: &str = "programs write `null` for the runs of an agent that has none";
const MIDDLE: &str = "the session is said to start in the middle";

/// Values of each type but this one, and `None`, which takes the place away.
fn others(was: &Value, place: &[Step]) -> Vec<Option<Value>> {
    let values =
        [json!(null), json!(true), json!("x"), json!({}), json!([7]), json!(7), json!({"x": 1}), json!([])];
    let others = values.into_iter().filter(|value| kind_of(value) != kind_of(was)).map(Some);
    // Nobody and a stranger say what the model said.
    let strangers = ["", "stranger"].into_iter().filter(|_| speaks(place) && was.is_string());
    std::iter::once(None).chain(others).chain(strangers.map(|role| Some(json!(role)))).collect()
}

fn speaks(place: &[Step]) -> bool {
    matches!(place.last(), Some(Step::Key(key)) if SPEAKERS.contains(&key.as_str()))
}

/// Members that say who said something.
const SPEAKERS: [&str; 5] = ["role", "sender", "from", "author", "source"];

/// Whether the only thing that differs are the arguments of calls that this value is, or is a part of: what the model wrote
/// may be anything, and shows as it is.
fn is_written(was: &Value, is: Option<&Value>, before: &[Called], after: &[Called]) -> bool {
    let text = was.as_str().map_or_else(|| was.to_string(), str::to_owned);
    let packed = |raw: &str| raw.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect::<String>();
    let holds = |raw: &str, what: &str| packed(raw).contains(&packed(what));
    before.len() == after.len()
        && before.iter().zip(after).all(|(before, after)| {
            let same = before.tool == after.tool && before.outcome == after.outcome;
            let shows = is.is_none_or(|is| {
                is.is_null()
                    || holds(&after.arguments, &is.to_string())
                    || is == "x" && after.arguments.contains('x')
            });
            same && (before.arguments == after.arguments || holds(&before.arguments, &text) && shows)
        })
}

/// The calls that there are less of than before.
fn missing<'c>(before: &'c [Called], after: &[Called]) -> impl Iterator<Item = &'c Called> {
    let alike = |call: &Called, calls: &[Called]| {
        calls.iter().filter(|other| other.tool == call.tool && other.arguments == call.arguments).count()
    };
    let fewer = after.len() < before.len();
    before.iter().filter(move |call| fewer && alike(call, after) < alike(call, before))
}

/// Whether what is left of a recording proves that there was this call.
fn names(left: &str, call: &Called) -> bool {
    call.id
        .as_ref()
        .is_some_and(|id| left.contains(&format!("\"{id}\"")) || left.contains(&format!("\\\"{id}\\\"")))
}

/// A number is as good an id as a text.
fn is_id(place: &[Step]) -> bool {
    matches!(place.last(), Some(Step::Key(key)) if key.to_ascii_lowercase().ends_with("id"))
}

/// What goes wrong with one file, and the rows of [`QUIET`] that are met.
fn failures(name: &str, documents: &[Value], places: &[(usize, Place)]) -> (Vec<String>, BTreeSet<usize>) {
    let texts: Vec<_> = documents.iter().map(|document| format!("{document}\n")).collect();
    let base = seen(texts.concat().into_bytes()).unwrap();
    let (mut failures, mut met) = (Vec::new(), BTreeSet::new());
    for (document, place) in places {
        let (before, after) = (texts[..*document].concat(), texts[document + 1..].concat());
        let was = at(&mut documents[*document].clone(), place).clone();
        let mut holds_none = false;
        for value in others(&was, place) {
            let mut damaged = documents[*document].clone();
            match &value {
                Some(value) => *at(&mut damaged, place) = value.clone(),
                None => remove(&mut damaged, place),
            }
            let Some(seen) = seen(format!("{before}{damaged}\n{after}").into_bytes()) else { continue };
            let count = |of: &Seen, lost: &String| of.lost.iter().filter(|other| *other == lost).count();
            let told = seen.lost.iter().any(|lost| count(&seen, lost) > count(&base, lost));
            let same = seen.calls == base.calls;
            if value.is_none() {
                holds_none = same && !told;
            } else if told && same && holds_none && !may_hold(place) {
                let (with, place) = (value.unwrap_or_default(), shown(place));
                failures.push(format!("no damage: {} {name} {place}: {with} instead of {was}", base.format));
                continue;
            }
            if told || same {
                continue;
            }
            let absent = value.as_ref().is_none_or(Value::is_null);
            // A list is never missing, and nobody writes `null` for it.
            let taken = value.is_none() || absent && !was.is_array();
            let stranger = speaks(place) && value.as_ref().is_some_and(Value::is_string);
            let name_or_number = |value: &Value| value.is_string() || value.is_number();
            let id = is_id(place) && name_or_number(&was) && value.as_ref().is_some_and(name_or_number);
            let left = format!("{before}{damaged}{after}");
            let lost = missing(&base.calls, &seen.calls).any(|call| !taken || names(&left, call));
            let what = match lost {
                true => "calls lost",
                // An error may be anything.
                false
                    if absent
                        || id
                        || stranger
                        || matches!(place.last(), Some(Step::Key(key)) if key == "error") =>
                {
                    continue;
                }
                false if is_written(&was, value.as_ref(), &base.calls, &seen.calls) => continue,
                false => "calls changed",
            };
            let quiet = |(format, at, _): &(&str, &str, &str)| *format == base.format && *at == shown(place);
            if let Some(row) = QUIET.iter().position(quiet) {
                met.insert(row);
                continue;
            }
            let with = value.map_or("nothing".to_owned(), |value| value.to_string());
            let place = shown(place);
            failures.push(format!(
                "{what}: {} {name} {place}: {with} instead of {}",
                base.format,
                kind_of(&was)
            ));
        }
    }
    (failures, met)
}

/// Whether calls stand at such places in some format, so that another type may have held some.
fn may_hold(place: &[Step]) -> bool {
    let name = place.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Item(_) => None,
    });
    name.is_none_or(|name| recording::may_hold_calls(name) || SAID.contains(&name) || name.ends_with(".role"))
}

/// Members that their own readers report: lists of messages and results, what kind of span one is and how long it took, and what
/// policies look at besides calls.
const SAID: [&str; 13] = [
    "conversations",
    "duration",
    "files",
    "gen_ai.operation.name",
    "history",
    "now",
    "openinference.span.kind",
    "parent",
    "source",
    "ticks",
    "tool_messages",
    "tools_at",
    "variables",
];

pub fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end != "md")).collect();
    files.sort();
    files
}

#[test]
fn a_wrong_type_loses_no_call_without_a_word() {
    let mut work = Vec::new();
    let mut known = BTreeMap::<_, HashSet<String>>::new();
    // Those that lose nothing come first: in a file that is damaged to begin with, some damage does not show.
    let clean = CLEAN.iter().map(|(format, text)| ((*format).to_owned(), (*text).to_owned()));
    let recorded = files("tests/fixtures/sessions").into_iter().chain(files("sample-traces")).map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&file).unwrap())
    });
    for (name, text) in clean.chain(recorded) {
        let documents = documents(&text);
        let format = seen(text.into_bytes()).unwrap().format;
        // Of a shape that another file of the format has as well one is enough.
        let known = known.entry(format).or_default();
        let places: Vec<_> =
            documents.iter().enumerate().flat_map(|(n, document)| places(n, document, known)).collect();
        work.extend(places.chunks(40).map(|places| (name.clone(), documents.clone(), places.to_vec())));
    }
    let formats: BTreeSet<_> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(known.into_keys().collect::<BTreeSet<_>>(), formats, "each format has a fixture");
    let next = AtomicUsize::new(0);
    let found = Mutex::new((Vec::new(), BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((name, documents, places)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (failures, met) = failures(name, documents, places);
                    let mut found = found.lock().unwrap();
                    found.0.extend(failures);
                    found.1.extend(met);
                }
            });
        }
    });
    let (mut found, met) = found.into_inner().unwrap();
    found.sort();
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n"));
    let unmet: Vec<_> = (0..QUIET.len()).filter(|row| !met.contains(row)).map(|row| QUIET[row]).collect();
    assert!(unmet.is_empty(), "these say something of their own now: {unmet:#?}");
}
