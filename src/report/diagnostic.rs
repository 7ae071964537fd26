//! Diagnostics as `rustc` draws them, and as JSON objects.
//!
//! Texts, names and messages come from anywhere. Characters that could steer a terminal or are invisible are drawn as
//! marks.

use std::borrow::Cow;

use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use serde_json::{Map, Value, json};

use rulestep_base::diagnostic::{Diagnostic, Fix, Label, Place, Severity};
use rulestep_base::source::{Source, Span, floor_boundary, is_unseen};

/// Most lines of a span that are drawn; of a longer one only the first.
const MOST_LINES: usize = 4;

/// Labels this many lines or bytes apart are drawn separately: the text between them is neither shown nor read.
const LINES_APART: u32 = 32;
const BYTES_APART: usize = 2000;

/// The longest lines that are passed whole to the drawing library, which looks at all of them for every label; of
/// longer ones this much around the labels.
const LONGEST: usize = 1 << 14;
const AROUND: usize = 1 << 9;

/// The style of diagnostics.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences colour them.
    pub color: bool,
    /// The columns at hand; longer lines of a file are cut around their labels.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, width: DEFAULT_TERM_WIDTH }
    }
}

/// A diagnostic as people read it, over several lines. No line end at the end.
pub fn text(diagnostic: &Diagnostic, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Notice => Level::NOTE.with_name("notice"),
    };
    let title = level.primary_title(one_line(&diagnostic.message)).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for element in places(&diagnostic.labels) {
        group = group.element(element);
    }
    // A fix that does what the help says needs no line before it.
    let repeated = |help: &String| diagnostic.fix.as_ref().is_some_and(|fix| *fix.title == **help);
    if let Some(help) = diagnostic.help.as_ref().filter(|help| !repeated(help)) {
        group = group.element(Level::HELP.message(one_line(help)));
    }
    if let Some(fix) = &diagnostic.fix {
        let how = if fix.is_safe { "`--fix` applies it" } else { "`--fix --suggested` applies it" };
        group =
            group.element(Level::NOTE.with_name("fix").message(format!("{} ({how})", one_line(&fix.title))));
    }
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let drawn = renderer.term_width(style.width).render(&[group]);
    // The place of a line that was cut is above it; the library leaves a row for the name of another file.
    let is_left = |line: &str| {
        line.split_once(":::")
            .is_some_and(|(before, after)| [before, after].concat().chars().all(is_of_style))
    };
    if !drawn.lines().any(is_left) {
        return drawn;
    }
    drawn.lines().filter(|line| !is_left(line)).collect::<Vec<_>>().join("\n")
}

/// A blank, or a letter of a sequence that colours.
fn is_of_style(letter: char) -> bool {
    letter.is_whitespace() || letter.is_ascii_digit() || matches!(letter, '\u{1b}' | '[' | ';' | 'm')
}

/// A diagnostic as one JSON object. `line` and `column` count from 1, columns in characters; what is not known
/// is `null`.
pub fn json(diagnostic: &Diagnostic) -> Value {
    let mut object = Map::new();
    object.insert("code".into(), json!(diagnostic.code));
    object.insert("severity".into(), json!(diagnostic.severity));
    object.insert("message".into(), json!(diagnostic.message));
    object.insert("help".into(), json!(diagnostic.help));
    let primary = diagnostic.labels.iter().find(|label| label.primary);
    object.insert("source".into(), primary.map_or(Value::Null, |label| place_json(&label.place)));
    let others =
        diagnostic.labels.iter().filter(|label| primary.is_none_or(|first| !std::ptr::eq(first, *label)));
    let related = others.map(|label| {
        let mut place = place_json(&label.place);
        if let Value::Object(object) = &mut place {
            object.insert("message".into(), json!(label.message));
        }
        place
    });
    object.insert("related".into(), related.collect());
    if let Some(fix) = &diagnostic.fix {
        object.insert("fix".into(), fix_json(fix));
    }
    Value::Object(object)
}

/// Edits in the order of the text, each with the place of what it replaces.
fn fix_json(fix: &Fix) -> Value {
    let edits = fix.edits.iter().map(|(span, text)| {
        let mut edit = place_json(&Place::Text { source: fix.source.clone(), span: *span });
        if let Value::Object(object) = &mut edit {
            object.insert("text".into(), json!(text));
        }
        edit
    });
    json!({"title": fix.title, "safe": fix.is_safe, "edits": edits.collect::<Vec<_>>()})
}

fn place_json(place: &Place) -> Value {
    let position = place.position();
    let end = match place {
        Place::Text { source, span } => Some(source.position(span.end)),
        Place::File { .. } | Place::Line { .. } => None,
    };
    json!({
        "file": place.file(),
        "line": place.line(),
        "column": position.map(|position| position.column),
        "end_line": end.map(|end| end.line),
        "end_column": end.map(|end| end.column),
    })
}

/// One element per file, in the order in which the labels name them.
fn places(labels: &[Label]) -> Vec<Element<'_>> {
    let mut drawn: Vec<&Source> = Vec::new();
    let mut elements = Vec::new();
    for label in labels {
        match &label.place {
            Place::Text { source, .. } => {
                if !drawn.contains(&source) {
                    drawn.push(source);
                    elements.extend(snippets(source, labels).flatten());
                }
            }
            Place::File { file } => elements.push(origin(file, None)),
            Place::Line { file, line, .. } => elements.push(origin(file, Some(*line))),
        }
    }
    elements
}

fn origin(file: &str, line: Option<u64>) -> Element<'_> {
    let origin = Origin::path(one_line(file));
    match line.and_then(|line| usize::try_from(line).ok()) {
        Some(line) => origin.line(line).into(),
        None => origin.into(),
    }
}

/// The labels in a source, those that are near each other in one piece; the piece of the first label comes first.
fn snippets<'l>(source: &'l Source, labels: &'l [Label]) -> impl Iterator<Item = Vec<Element<'l>>> {
    let mut pieces: Vec<Vec<(&Label, Span)>> = Vec::new();
    for label in labels {
        let Place::Text { source: other, span } = &label.place else { continue };
        if other != source {
            continue;
        }
        let span = shown_span(source, *span);
        let line = |at: usize| source.position(at).line;
        let near = |(_, known): &(&Label, Span)| {
            let (first, then) = if known.start <= span.start { (*known, span) } else { (span, *known) };
            then.start.saturating_sub(first.end) < BYTES_APART
                && line(then.start).saturating_sub(line(first.end)) < LINES_APART
        };
        match pieces.iter_mut().find(|piece| piece.iter().any(near)) {
            Some(piece) => piece.push((label, span)),
            None => pieces.push(vec![(label, span)]),
        }
    }
    pieces.into_iter().map(|piece| snippet(source, piece))
}

/// The lines of a source from the first of these labels to the last; of very long ones what is around the labels.
fn snippet<'l>(source: &'l Source, here: Vec<(&'l Label, Span)>) -> Vec<Element<'l>> {
    let first = here.iter().map(|(_, span)| source.position(span.start).line).min().unwrap_or(1);
    let last = here.iter().map(|(_, span)| source.position(span.end).line).max().unwrap_or(first);
    let mut start = source.line_span(first).map_or(0, |line| line.start);
    let mut end = source.line_span(last).map_or(source.text().len(), |line| line.end);
    let line = usize::try_from(first).unwrap_or(usize::MAX);
    let mut elements = Vec::new();
    let is_cut = end - start > LONGEST;
    if is_cut {
        let primary = here.iter().find(|(label, _)| label.primary).or(here.first());
        let column = primary.map_or(1, |(_, span)| source.position(span.start).column);
        elements.push(Origin::path(one_line(source.name())).line(line).char_column(column as usize).into());
        let (from, to) =
            here.iter().fold((end, start), |(from, to), (_, span)| (from.min(span.start), to.max(span.end)));
        start = floor_boundary(source.text(), from.saturating_sub(AROUND).max(start));
        end = floor_boundary(source.text(), (to + AROUND).min(end));
    }
    let annotations = here.into_iter().map(|(label, span)| {
        let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        // At the end of the text, the position after the last character is marked.
        let within = |at: usize| at.clamp(start, end) - start;
        kind.span(within(span.start)..within(span.end)).label(label.message.as_deref().map(one_line))
    });
    let snippet = Snippet::source(visible(source.slice(Span::new(start, end)))).line_start(line);
    let snippet = if is_cut { snippet } else { snippet.path(one_line(source.name())) };
    elements.push(snippet.annotations(annotations).into());
    elements
}

fn shown_span(source: &Source, span: Span) -> Span {
    if source.slice(span).lines().count() > MOST_LINES { span.first_line(source.text()) } else { span }
}

/// A message or a name, on one line. The drawing library passes these on as they are.
fn one_line(text: &str) -> Cow<'_, str> {
    let steers =
        |character: char| character.is_control() || is_unseen(character) || turns_direction(character);
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|character| match character {
        '\t' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or(mark(character)),
        '\u{7f}' => '␡',
        other if steers(other) => mark(other),
        other => other,
    });
    Cow::Owned(shown.collect())
}

/// Replaces characters in the lines of a file that the drawing library does not handle: it shows the control characters
/// of ASCII itself, and those that reverse the direction of writing. Each mark has as many bytes as the character, so
/// that spans still fit.
fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .map(|character| if is_unseen(character) { mark(character) } else { character })
            .collect(),
    )
}

fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn mark(character: char) -> char {
    match character.len_utf8() {
        1 => '?',
        2 => '¿',
        3 => '\u{fffd}',
        _ => '\u{1fbc4}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_as_long_as_what_they_stand_for() {
        for character in '\u{80}'..='\u{10ffff}' {
            if is_unseen(character) {
                assert_eq!(mark(character).len_utf8(), character.len_utf8(), "{character:?}");
                assert!(!is_unseen(mark(character)));
            }
        }
    }
}
