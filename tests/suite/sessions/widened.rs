//! What a format is not known to have, and what holds no call: a record, an entry or a part of an unknown type, and a key that nobody
//! knows, at every place of every fixture; of places that look alike in a format, the first. The same calls come out of it, and
//! nothing is said to be lost. That of values of another type is in `types`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rulestep_recording::FORMATS;
use serde_json::{Value, json};

use super::lost::CLEAN;
use super::types::{Place, Seen, Step, at, documents, files, seen, shown};

/// Members that say what kind an object is of, but for the speaker of a message: an unknown one may be the model.
const KINDS: [&str; 12] = [
    "type",
    "kind",
    "event",
    "record",
    "entry_type",
    "part_kind",
    "sessionUpdate",
    "method",
    "object",
    "subtype",
    "item_type",
    "name",
];
/// A type that nobody knows.
const UNKNOWN: &str = "zz_note";

/// Something that is done to a document at a place: a value that is added there.
enum Added {
    /// An object gets another key.
    Key(Value),
    /// An object in a list gets a neighbour.
    Neighbour(Value),
    /// A document gets a neighbour.
    Document(Value),
}

/// Values that no call is in.
fn harmless() -> [Value; 3] {
    [json!("a note"), json!({"label": "x", "list": [{"n": 1}, null, "y"]}), json!([])]
}

/// What is added at the objects of a document, of every shape that is not yet `known`.
fn additions(document: usize, whole: &Value, known: &mut HashSet<String>) -> Vec<(usize, Place, Added)> {
    fn walk(value: &Value, path: &mut Place, shape: &str, out: &mut Vec<(Place, String)>) {
        match value {
            Value::Object(members) => {
                let kind = KINDS.iter().chain(["role"].iter()).find_map(|key| members.get(*key)?.as_str());
                let shape = format!("{shape}:{}", kind.unwrap_or_default());
                out.push((path.clone(), shape.clone()));
                for (key, inner) in members {
                    path.push(Step::Key(key.clone()));
                    walk(inner, path, &format!("{shape}/{key}"), out);
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (place, inner) in items.iter().enumerate() {
                    path.push(Step::Item(place));
                    walk(inner, path, &format!("{shape}[]"), out);
                    path.pop();
                }
            }
            _ => {}
        }
    }
    let mut objects = Vec::new();
    walk(whole, &mut Vec::new(), "", &mut objects);
    let mut added = Vec::new();
    for (place, shape) in objects {
        if !known.insert(shape) {
            continue;
        }
        let object = at(&mut whole.clone(), &place).clone();
        added.extend(harmless().map(|value| (document, place.clone(), Added::Key(value))));
        if place.is_empty() {
            let own = ["kind", "event", "record"]
                .into_iter()
                .find(|key| object.get(*key).is_some_and(Value::is_string));
            let other = json!({own.unwrap_or("type"): UNKNOWN, "note": "hello", "details": {"n": [1]}});
            added.push((document, place, Added::Document(other)));
            continue;
        }
        let Some(key) = KINDS.iter().find(|key| object.get(**key).is_some_and(Value::is_string)) else {
            continue;
        };
        let other = json!({*key: UNKNOWN, "note": "hello", "details": {"n": [1]}});
        match place.last() {
            Some(Step::Item(_)) if *key != "name" && !is_call(&place) => {
                added.push((document, place, Added::Neighbour(other)))
            }
            _ => {}
        }
    }
    added
}

/// Places at which an unknown key or neighbour means something, and why.
const MEANT: &[(&str, &str, &str)] = &[
    ("gemini-api", "/request/contents/*/parts/*/functionCall/args", REPEATED),
    ("gemini-api", "/response/candidates/*/content/parts/*/functionCall/args", REPEATED),
    ("adk", "/events/*/content/parts/*/functionResponse/response", RESULT),
    ("qwen-code", "/message/parts/*/functionResponse/response", RESULT),
    ("langchain", "", SPEAKER),
    ("langchain", "/*", SPEAKER),
    ("langchain", "/messages/*", SPEAKER),
    ("langchain", "/values/messages/*", SPEAKER),
];

const REPEATED: &str =
    "a request whose history is another one begins another conversation; no call is missing";
const RESULT: &str = "what a tool gave back is refused by its text alone, which is not all of it any more";
const SPEAKER: &str = "the type of a message says who speaks: an unknown one may be the model";

/// Whether a place is that of an item in a list that holds calls and nothing else.
fn is_call(place: &[Step]) -> bool {
    let [.., Step::Key(list), Step::Item(_)] = place else { return false };
    let list = list.to_ascii_lowercase();
    list.contains("tool") && ["call", "request"].iter().any(|word| list.contains(word))
}

/// What goes wrong with one file, and the rows of [`MEANT`] that are met.
fn failures(
    name: &str,
    documents: &[Value],
    added: &[(usize, Place, Added)],
) -> (Vec<String>, BTreeSet<usize>) {
    let texts: Vec<_> = documents.iter().map(|document| format!("{document}\n")).collect();
    let base = seen(texts.concat().into_bytes()).unwrap();
    let (mut failures, mut met) = (Vec::new(), BTreeSet::new());
    for (document, place, added) in added {
        let (before, after) = (texts[..*document].concat(), texts[document + 1..].concat());
        let mut changed = documents[*document].clone();
        let (what, text) = match added {
            Added::Key(value) => {
                let Value::Object(members) = at(&mut changed, place) else { continue };
                members.insert("zzNote".to_owned(), value.clone());
                (format!("a key with {value}"), format!("{before}{changed}\n{after}"))
            }
            Added::Neighbour(value) => {
                let (Some(Step::Item(index)), Some(list)) = (place.last(), place.len().checked_sub(1)) else {
                    continue;
                };
                let Value::Array(items) = at(&mut changed, &place[..list]) else { continue };
                items.insert(index + 1, value.clone());
                (format!("{value} beside it"), format!("{before}{changed}\n{after}"))
            }
            Added::Document(value) => {
                (format!("{value} after it"), format!("{before}{changed}\n{value}\n{after}"))
            }
        };
        let wrong = match seen(text.into_bytes()) {
            None => Some("not read".to_owned()),
            Some(seen) => differs(&base, &seen),
        };
        let Some(wrong) = wrong else { continue };
        let place = shown(place);
        match MEANT.iter().position(|(format, at, _)| *format == base.format && *at == place) {
            Some(row) => drop(met.insert(row)),
            None => failures.push(format!("{} {name} {place}: {what}: {wrong}", base.format)),
        }
    }
    (failures, met)
}

/// What an addition did: a loss that was not told before, or other calls. Arguments may have been added to.
fn differs(base: &Seen, seen: &Seen) -> Option<String> {
    if base.format != seen.format {
        return Some(format!("opens as {}", seen.format));
    }
    if seen.lost.len() > base.lost.len() {
        return Some(seen.lost.join("; "));
    }
    let same = base.calls.len() == seen.calls.len()
        && base.calls.iter().zip(&seen.calls).all(|(was, is)| {
            (&was.id, &was.tool, was.outcome) == (&is.id, &is.tool, is.outcome)
                && (was.arguments == is.arguments || is.arguments.contains("zz"))
        });
    (!same).then(|| "other calls".to_owned())
}

#[test]
fn what_is_unknown_and_holds_no_call_is_no_damage() {
    let mut work = Vec::new();
    let mut known = BTreeMap::<_, HashSet<String>>::new();
    let clean = CLEAN.iter().map(|(format, text)| ((*format).to_owned(), (*text).to_owned()));
    let recorded = files("tests/fixtures/sessions").into_iter().chain(files("sample-traces")).map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&file).unwrap())
    });
    for (name, text) in clean.chain(recorded) {
        let documents = documents(&text);
        let format = seen(text.into_bytes()).unwrap().format;
        let known = known.entry(format).or_default();
        for (number, document) in documents.iter().enumerate() {
            let added = additions(number, document, known);
            work.extend((!added.is_empty()).then(|| (name.clone(), documents.clone(), added)));
        }
    }
    assert_eq!(known.len(), FORMATS.len(), "each format has a fixture");
    let next = AtomicUsize::new(0);
    let found = Mutex::new((Vec::new(), BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((name, documents, added)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (failures, met) = failures(name, documents, added);
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
    let unmet: Vec<_> = (0..MEANT.len()).filter(|row| !met.contains(row)).map(|row| MEANT[row]).collect();
    assert!(unmet.is_empty(), "nothing is meant there any more: {unmet:#?}");
}
