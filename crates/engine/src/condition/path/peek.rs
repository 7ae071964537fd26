//! The nodes at a few paths of a JSON text, found without building its tree.

use std::borrow::Cow;

use serde_json::Value;
use smallvec::SmallVec;

use super::{Form, Path, Step};
use rulestep_base::session::Body;
use rulestep_base::session::body::{plain_tape, unescaped};
use rulestep_base::source::tape::Tape;

/// The node at each path; `None` if there is none.
pub type Places = SmallVec<[Option<Value>; 4]>;

/// The node at each of these paths in a body that is an object: the same as [`Path::one`] in [`Body::value`]. `None` if
/// only the whole value can show it, or if it is parsed already.
pub fn peek<'p>(paths: impl Iterator<Item = &'p Path>, body: &Body) -> Option<Places> {
    let ways: SmallVec<[&[Step]; 4]> = paths.map(steps).collect::<Option<_>>()?;
    let deepest = ways.iter().map(|steps| steps.len()).max().unwrap_or_default();
    body.peek(|text| {
        let tape = plain_tape(text, u32::try_from(deepest).ok()?)?;
        let value = |steps: &&[Step]| match place(&tape, steps) {
            None => Some(None),
            Some(part) => serde_json::from_str(tape.text_of(tape.part(part)?)).ok().map(Some),
        };
        ways.iter().map(value).collect()
    })
}

/// The one node of a path in a body, if that is JSON: the same as [`Path::one`] in [`Body::parsed`].
pub fn in_json<'b>(path: &Path, body: &'b Body) -> Option<Cow<'b, Value>> {
    in_whole(path, body, Body::parsed)
}

/// The same in [`Body::value`], where text that is not JSON is one node.
pub fn in_value<'b>(path: &Path, body: &'b Body) -> Option<Cow<'b, Value>> {
    in_whole(path, body, Body::value)
}

fn in_whole<'b>(path: &Path, body: &'b Body, whole: fn(&Body) -> Option<&Value>) -> Option<Cow<'b, Value>> {
    match peek(std::iter::once(path), body) {
        Some(places) => places.into_iter().next()?.map(Cow::Owned),
        None => path.one(whole(body)?).map(Cow::Borrowed),
    }
}

/// The first of these paths whose node in a JSON body passes a test; and the node.
pub fn first_in_json<'p, 'b, P: Iterator<Item = &'p Path>>(
    paths: impl Fn() -> P,
    body: &'b Body,
    is_wanted: impl Fn(&Value) -> bool,
) -> Option<(&'p Path, Cow<'b, Value>)> {
    if let Some(places) = peek(paths(), body) {
        let found = paths().zip(places).map(|(path, node)| Some((path, Cow::Owned(node?))));
        return found.flatten().find(|(_, node): &(_, Cow<'_, Value>)| is_wanted(node));
    }
    let value = body.parsed()?;
    let found = paths().filter_map(|path| Some((path, path.one(value)?)));
    found.map(|(path, node)| (path, Cow::Borrowed(node))).find(|(_, node)| is_wanted(node))
}

/// The steps of a path that leads to at most one place, counted from the beginning.
fn steps(path: &Path) -> Option<&[Step]> {
    let Form::Singular(steps) = &path.form else { return None };
    let from_the_end = |step: &Step| matches!(step, Step::Index(index) if *index < 0);
    (!steps.iter().any(from_the_end)).then_some(steps)
}

/// The part at the end of these steps.
fn place(tape: &Tape<'_>, steps: &[Step]) -> Option<u32> {
    steps.iter().try_fold(0, |at, step| {
        let kind = tape.text_of(tape.part(at)?).as_bytes().first()?;
        match (step, kind) {
            (Step::Name(name), b'{') if !tape.has_escaped_names() => {
                tape.member(tape.within(at), name.as_bytes())
            }
            (Step::Name(name), b'{') => {
                members(tape, at).filter(|(own, _)| **own == **name).last().map(|(_, value)| value)
            }
            (Step::Index(index), b'[') => items(tape, at).nth(usize::try_from(*index).ok()?),
            _ => None,
        }
    })
}

/// The parts that are directly in a list, or in an object with the names among them.
fn items<'t>(tape: &'t Tape<'_>, within: u32) -> impl Iterator<Item = u32> + 't {
    let (first, end) = tape.within(within);
    let next = move |at: u32| tape.part(at).map(|part| part.next).filter(|next| *next < end);
    std::iter::successors(Some(first).filter(|first| *first < end), move |at| next(*at))
}

/// The names and values of an object.
fn members<'t>(tape: &'t Tape<'_>, object: u32) -> impl Iterator<Item = (Cow<'t, str>, u32)> + 't {
    items(tape, object).step_by(2).filter_map(|name| {
        let part = tape.part(name)?;
        Some((unescaped(tape.text_of(part))?, part.next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<Path> {
        texts.iter().map(|text| Path::parse(text).unwrap()).collect()
    }

    #[test]
    fn a_peek_finds_what_the_whole_value_holds() {
        let ways = [
            "$",
            "$.a",
            "$.a.b",
            "$.a.b[1]",
            "$.a.b[1].c",
            "$['a b']",
            "$.n",
            "$.a[0]",
            "$.none.x",
            "$['']",
            "$['q\\u0022']",
        ];
        for text in [
            "{}",
            r#"{"a": {"b": [1, {"c": [null]}]}, "a b": "x\n\"y\"", "n": -1.50e3}"#,
            r#" {"a": {"b": 1}, "a": 2, "n": null} "#,
            r#"{"a": 2, "a": {"b": [true, false]}}"#,
            r#"{"a": {"b": [0, 1], "b": {"c": 1}}, "": {}, "q\"": 7}"#,
            r#"{"a": [[], {"b": 3}], "n": 12345678901234567890123456789}"#,
            r#"{"a": "b", "x": [[[[]]]]}"#,
        ] {
            for chosen in [&ways[..], &ways[1..], &ways[2..5], &ways[4..5], &ways[6..]] {
                let paths = paths(chosen);
                let body = Body::text(text);
                let found = peek(paths.iter(), &body).unwrap();
                let value = body.value().unwrap();
                let whole: Places = paths.iter().map(|path| path.one(value).cloned()).collect();
                assert_eq!(found, whole, "{text} {chosen:?}");
            }
        }
    }

    #[test]
    fn a_node_is_the_same_however_often_it_is_looked_at() {
        let ways = paths(&["$.a", "$['a b']", "$.a.b[1].c", "$..c", "$"]);
        let none = Path::parse("$.none").unwrap();
        for text in [r#"{"a": {"b": [1, {"c": "x\n"}]}, "a b": 2}"#, "[1]", "plain", "{\"a\": "] {
            let literal = serde_json::to_string(text).unwrap();
            for body in [Body::text(text), Body::json(&literal)] {
                let whole = Body::text(text);
                for path in (0..5).flat_map(|_| &ways) {
                    let (json, value) = (whole.parsed(), whole.value());
                    let one = |value| path.one(value);
                    assert_eq!(in_json(path, &body).as_deref(), json.and_then(one), "{text} {path:?}");
                    assert_eq!(in_value(path, &body).as_deref(), value.and_then(one), "{text} {path:?}");
                    let (first, expected) = (in_json(path, &body).is_some(), [&none, path]);
                    let found = first_in_json(|| expected.into_iter(), &body, |_| true);
                    assert_eq!(found.map(|(found, _)| found == path), first.then_some(true));
                }
            }
        }
    }

    #[test]
    fn what_only_the_whole_value_tells_is_not_peeked_at() {
        let deep = format!("{{\"a\": 1, \"b\": {}{}}}", "[".repeat(200), "]".repeat(200));
        let whole = [
            "[{\"a\": 1}]",
            "plain",
            "{\"a\": 1",
            "{\"a\": 1} x",
            "{\"a\": 01}",
            "{\"a\": \"\\ud800\"}",
            &deep,
            "{\"$serde_json::private::Number\": \"1\", \"a\": 1}",
            "{\"a\": \"\u{1}\"}",
            "",
        ];
        let paths = paths(&["$.a"]);
        for text in whole {
            assert_eq!(peek(paths.iter(), &Body::text(text)), None, "{text}");
        }
        let read = Body::text("{\"a\": 1}");
        assert!(peek(paths.iter(), &read).is_some());
        assert!(read.value().is_some());
        assert_eq!(peek(paths.iter(), &read), None);
        for path in ["$.a[-1]", "$..a"] {
            let path = Path::parse(path).unwrap();
            assert_eq!(peek([&path].into_iter(), &Body::text("{\"a\": 1}")), None, "{path:?}");
        }
    }
}
