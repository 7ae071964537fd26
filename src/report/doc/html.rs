//! Documents as pages, in the style of a report.

use std::io::{self, Write};

use maud::{Markup, html};

use super::{Body, Doc, List, Phrase, Style, Table};
use crate::report::{page, words};

/// Writes a document as a page that needs nothing else.
pub fn write(doc: &Doc, out: &mut dyn Write) -> io::Result<()> {
    let title = doc.title.as_deref().unwrap_or("counts");
    let body = html! {
        header {
            p.brand { "Rulestep" }
            h1 { (page::parts::sentence(title)) }
            @if !doc.notes.is_empty() {
                section.incomplete { ul { @for (_, note) in &doc.notes { li { (page::parts::sentence(note)) } } } }
            }
        }
        "\n"
        main {
            @for section in &doc.sections {
                section {
                    @if let Some(heading) = &section.heading { h2 { (page::parts::sentence(heading)) } }
                    @match &section.body {
                        Body::Empty => {}
                        Body::Line(line) => p { (phrase(line)) },
                        Body::Table(table) => (self::table(table)),
                        Body::List(list) => (self::list(list)),
                    }
                    @for note in &section.notes { p.meta { (phrase(note)) } }
                }
                "\n"
            }
        }
    };
    out.write_all(page::whole(title, &body).into_string().as_bytes())
}

fn table(table: &Table) -> Markup {
    html! {
        div.wide { table {
            thead { tr {
                th scope="col" { (page::parts::sentence(table.key)) }
                @for head in &table.heads { th.count scope="col" { (page::parts::sentence(head)) } }
            } }
            tbody {
                @for row in &table.rows {
                    tr {
                        th scope="row" { (row.name) @if !row.aside.is_empty() { br; (phrase(&row.aside)) } }
                        @for number in &row.numbers { td.count { (words::thousands(*number)) } }
                    }
                    "\n"
                }
            }
        } }
    }
}

fn list(list: &List) -> Markup {
    let items = html! {
        @for (lead, lines) in &list.items {
            li { (phrase(lead)) @for line in lines { br; (phrase(line)) } }
            "\n"
        }
    };
    html! { @if list.numbered { ol { (items) } } @else { ul { (items) } } }
}

fn phrase(phrase: &Phrase) -> Markup {
    html! {
        @for span in phrase {
            @match span.style {
                Style::Plain => (span.text),
                Style::Label | Style::Subject => strong { (span.text) },
                Style::Name => code { (span.text) },
                Style::Detail => code.meta { (span.text) },
            }
        }
    }
}
