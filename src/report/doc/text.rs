//! Documents for a terminal.

use std::io::{self, Write};

use super::{Body, Doc, List, Phrase, Style, Table};
use crate::report::columns::columns;
use crate::report::paint::Paint;
use crate::report::words;

/// Writes a document, its title at the end.
pub fn write(doc: &Doc, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for section in &doc.sections {
        let indent = if section.heading.is_some() { "  " } else { "" };
        if let Some(heading) = &section.heading {
            writeln!(out, "{}", paint.bold(heading))?;
        }
        match &section.body {
            Body::Empty => {}
            Body::Line(line) => writeln!(out, "{}", phrase(line, paint))?,
            Body::Table(table) => self::table(table, indent, paint, out)?,
            Body::List(list) => self::list(list, paint, out)?,
        }
        for note in &section.notes {
            writeln!(out, "{indent}{}", paint.dim(&phrase(note, Paint { color: false })))?;
        }
        if section.heading.is_some() || matches!(section.body, Body::List(_)) {
            writeln!(out)?;
        }
    }
    for (fails, note) in &doc.notes {
        writeln!(out, "{}", if *fails { paint.bold(note) } else { note.clone() })?;
    }
    doc.title.iter().try_for_each(|title| writeln!(out, "{title}"))
}

/// The columns of numbers, right-aligned, then the name and what is aside. Without a heading the heads are the heading.
fn table(table: &Table, indent: &str, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let head = if indent.is_empty() { paint } else { Paint { color: false } };
    let numbers = table.rows.iter().map(|row| row.numbers.iter().map(|number| words::thousands(*number)));
    let numbers: Vec<Vec<String>> = numbers.map(Iterator::collect).collect();
    let mut lines = columns(&table.heads, &numbers).into_iter();
    let heads = head.bold(&lines.next().unwrap_or_default());
    let key = if table.key.is_empty() { String::new() } else { format!("  {}", head.bold(table.key)) };
    writeln!(out, "{indent}{heads}{key}")?;
    for (row, line) in table.rows.iter().zip(lines) {
        let aside: String = row.aside.iter().map(|span| format!("  {}", self::span(span, paint))).collect();
        writeln!(out, "{}", format!("{indent}{line}  {}{aside}", row.name).trim_end())?;
    }
    Ok(())
}

fn list(list: &List, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for (nth, (lead, lines)) in list.items.iter().enumerate() {
        let (mark, indent) = match list.numbered {
            true => (format!("{:>2}  ", nth + 1), "    "),
            false => ("  ".to_owned(), "      "),
        };
        writeln!(out, "{mark}{}", phrase(lead, paint))?;
        for line in lines {
            writeln!(out, "{indent}{}", phrase(line, paint))?;
        }
    }
    Ok(())
}

fn phrase(phrase: &Phrase, paint: Paint) -> String {
    phrase.iter().map(|span| self::span(span, paint)).collect()
}

fn span(span: &super::Span, paint: Paint) -> String {
    match span.style {
        Style::Plain | Style::Name => span.text.clone(),
        Style::Label | Style::Subject => paint.bold(&span.text),
        Style::Detail => paint.dim(&span.text),
    }
}
