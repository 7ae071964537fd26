//! The reference page of a dialect, for a terminal: headings flush left, everything else indented, examples further.
//! And the entry of one key.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Look;
use super::paint::Paint;
use rulestep_base::wording::clean::{Marks, wrap};
use rulestep_engine::dialect::lookup::{Match, Presence, Section};

/// Writes a page that is kept as Markdown: headings, paragraphs, lists and fenced examples.
pub fn text(page: &str, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let mut example = false;
    for line in page.lines() {
        if line.starts_with("```") {
            example = !example;
        } else if example {
            writeln!(out, "      {line}")?;
        } else if let Some(heading) = line.strip_prefix("# ") {
            writeln!(out, "{}", paint.bold(heading))?;
        } else if line.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "  {}", without_emphasis(line))?;
        }
    }
    Ok(())
}

/// A line without the signs of bold text; between backticks, two stars are a pattern.
fn without_emphasis(line: &str) -> String {
    let parts = line.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { part.replace("**", "") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// Characters of a line.
pub const WIDTH: usize = 100;

/// Writes the entry of a key, in lines of `width` characters.
pub fn entry(found: &Match<'_>, look: &Look, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let key = found.key;
    writeln!(out, "{}", paint.bold(&found.path()))?;
    paragraph(&format!("{}, {}", key.form, key.presence), width, out)?;
    writeln!(out)?;
    paragraph(&key.meaning, width, out)?;
    for section in found.within() {
        writeln!(out)?;
        paragraph(&format!("In it: {}", names(section)), width, out)?;
    }
    writeln!(out)?;
    paragraph(&published(found), width, out)?;
    if let Some(example) = found.example() {
        writeln!(out, "\n  Example:\n")?;
        example.lines().try_for_each(|line| writeln!(out, "      {line}"))?;
    }
    Ok(())
}

/// The same as data.
pub fn data(found: &Match<'_>) -> Value {
    let key = found.key;
    let (presence, default) = match &key.presence {
        Presence::Required => ("required", None),
        Presence::Optional => ("optional", None),
        Presence::Default(default) => ("default", Some(default)),
    };
    let within = found.within();
    let keys = within.iter().flat_map(|section| section.keys.iter().map(|key| key.name));
    json!({
        "dialect": found.reference.dialect.name,
        "key": found.path(),
        "place": found.section.place,
        "name": key.name,
        "type": key.form,
        "presence": presence,
        "default": default,
        "meaning": key.meaning,
        "keys": keys.collect::<Vec<_>>(),
        "follows": found.reference.follows,
        "difference": found.difference(),
        "example": found.example(),
    })
}

/// The entry as Markdown, for an editor.
pub fn markdown(found: &Match<'_>) -> String {
    let key = found.key;
    let head = format!("**`{}`** ({}, {})", found.path(), key.form, key.presence);
    let example = found.example().map(|example| format!("\n\n```yaml\n{example}```")).unwrap_or_default();
    format!("{head}\n\n{}\n\n{}{example}", key.meaning, published(found))
}

/// The published system of the key, and the differences.
fn published(found: &Match<'_>) -> String {
    let follows = found.reference.follows;
    match found.difference() {
        Some(difference) => format!("Published as: {follows}. Difference: {difference}"),
        None => format!("Published as: {follows}, without a known difference."),
    }
}

/// The keys of a section.
fn names(section: &Section) -> String {
    let names = section.keys.iter().map(|key| format!("`{}`", key.name));
    names.collect::<Vec<_>>().join(", ")
}

const INDENT: &str = "  ";

fn paragraph(text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let lines = wrap(text, width.saturating_sub(INDENT.len()), usize::MAX, Marks::default());
    lines.iter().try_for_each(|line| writeln!(out, "{INDENT}{}", line.text().trim_end()))
}
