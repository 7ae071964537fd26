//! Markup.

use super::arguments::{made, text};
use crate::liquid::render::Render;
use crate::liquid::text::{Text, find, units};
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::Outcome;
use crate::liquid::value::Value;

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("escape", |run, value, _| escape(run, &value)),
    ("xml_escape", |run, value, _| escape(run, &value)),
    ("escape_once", |run, value, _| {
        let plain = Value::Text(unescape(&text(run, &value)?));
        escape(run, &plain)
    }),
    ("newline_to_br", |run, value, _| line_ends(run, &value, "<br />\n")),
    ("strip_newlines", |run, value, _| line_ends(run, &value, "")),
    ("strip_html", strip_html),
];

const ENTITIES: [(u16, &str); 5] = [(38, "&amp;"), (60, "&lt;"), (62, "&gt;"), (34, "&#34;"), (39, "&#39;")];

fn escape(run: &mut Render<'_>, value: &Value) -> Outcome<Value> {
    let text = text(run, value)?;
    let mut out = Vec::with_capacity(text.len());
    for &unit in text.iter() {
        match ENTITIES.iter().find(|(plain, _)| *plain == unit) {
            Some((_, entity)) => out.extend(entity.encode_utf16()),
            None => out.push(unit),
        }
    }
    made(run, out)
}

fn unescape(text: &[u16]) -> Text {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&unit, tail)) = rest.split_first() {
        let entity = ENTITIES
            .iter()
            .find(|(_, entity)| entity.encode_utf16().eq(rest.iter().copied().take(entity.len())));
        match entity {
            Some((plain, entity)) if unit == 38 => {
                out.push(*plain);
                rest = rest.get(entity.len()..).unwrap_or_default();
            }
            _ => {
                out.push(unit);
                rest = tail;
            }
        }
    }
    out.into()
}

fn line_ends(run: &mut Render<'_>, value: &Value, replacement: &str) -> Outcome<Value> {
    let text = text(run, value)?;
    let mut out = Vec::with_capacity(text.len());
    for (at, &unit) in text.iter().enumerate() {
        match unit {
            13 if text.get(at + 1) == Some(&10) => {}
            10 => out.extend(replacement.encode_utf16()),
            _ => out.push(unit),
        }
    }
    made(run, out)
}

/// Removes scripts, styles, comments and tags; an opened and never closed one stays.
fn strip_html(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let mut blocks: Vec<(Text, Text)> =
        [("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->"), ("<", ">")]
            .iter()
            .map(|(opener, closer)| (units(opener), units(closer)))
            .collect();
    let mut out = Vec::with_capacity(text.len());
    let mut rest: &[u16] = &text;
    while let Some(open) = rest.iter().position(|&unit| unit == 60) {
        let (before, tag) = rest.split_at(open);
        out.extend_from_slice(before);
        let mut end = None;
        while end.is_none() {
            let Some(place) = blocks.iter().position(|(opener, _)| tag.starts_with(opener)) else { break };
            let Some((opener, closer)) = blocks.get(place) else { break };
            let inside = tag.get(opener.len()..).unwrap_or_default();
            run.meter.step(1)?;
            match find(inside, closer) {
                Some(at) => {
                    run.meter.step(at)?;
                    end = Some(opener.len() + at + closer.len());
                }
                None => {
                    // It is not closed after here, either.
                    run.meter.step(inside.len())?;
                    blocks.remove(place);
                }
            }
        }
        let Some(end) = end else {
            out.extend_from_slice(tag);
            return made(run, out);
        };
        rest = tag.get(end..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    made(run, out)
}
