//! Documents for a pull request. The page reads as plain text as well.

use std::io::{self, Write};

use super::{Body, Doc, List, Phrase, Style, Table};
use crate::report::counts::missing_markdown;
use crate::report::diff::markdown::code;
use crate::report::words;

/// Writes a document, its title at the beginning.
pub fn write(doc: &Doc, out: &mut dyn Write) -> io::Result<()> {
    let notes = doc.notes.iter().cloned().map(missing_markdown);
    let mut blocks: Vec<String> = doc.title.iter().map(|title| format!("### {title}")).collect();
    blocks.extend(notes);
    // What a document without a heading begins with is what it shows.
    let begin = if doc.title.is_none() { 0 } else { blocks.len() };
    let mut sections = Vec::new();
    for section in &doc.sections {
        sections.extend(section.heading.as_ref().map(|heading| format!("#### {heading}")));
        match &section.body {
            Body::Empty => {}
            Body::Line(line) => sections.push(phrase(line)),
            Body::Table(table) => sections.push(self::table(table)),
            Body::List(list) => sections.push(self::list(list)),
        }
        sections.extend(section.notes.iter().map(phrase));
    }
    blocks.splice(begin..begin, sections);
    writeln!(out, "{}", blocks.join("\n\n"))
}

fn table(table: &Table) -> String {
    let key = format!(" {}", table.key);
    let mut lines = vec![format!("|{} | {} |", key.trim_end(), table.heads.join(" | "))];
    lines.push(format!("|---|{}", "--:|".repeat(table.heads.len())));
    lines.extend(table.rows.iter().map(|row| {
        let numbers: Vec<String> = row.numbers.iter().map(|number| words::thousands(*number)).collect();
        format!("| {} | {} |", code(&row.name), numbers.join(" | "))
    }));
    lines.join("\n")
}

fn list(list: &List) -> String {
    let item = |(nth, (lead, lines)): (usize, &(Phrase, Vec<Phrase>))| {
        let mark = if list.numbered { format!("{}. ", nth + 1) } else { "- ".to_owned() };
        let lines = lines.iter().map(|line| format!("\n{:width$}{}", "", phrase(line), width = mark.len()));
        format!("{mark}{}{}", phrase(lead), lines.collect::<String>())
    };
    list.items.iter().enumerate().map(item).collect::<Vec<_>>().join("\n")
}

fn phrase(phrase: &Phrase) -> String {
    let span = |span: &super::Span| match span.style {
        // What is two columns of text is one here.
        Style::Plain => span.text.replace("  ", " "),
        Style::Label => format!("**{}**", span.text),
        Style::Name | Style::Detail => code(&span.text),
        // It is all code, so that what is code in it needs no sign.
        Style::Subject => code(&span.text.replace('`', "")),
    };
    phrase.iter().map(span).collect()
}
