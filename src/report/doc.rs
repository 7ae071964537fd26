//! A report as a small document, built once and written by three renderers: text, Markdown and HTML.
//!
//! Spans say what they are, not how they look. What a recording or a policy says is never in a plain one: whatever else a span is,
//! Markdown shows it as code, and HTML escapes everything.

pub(super) mod html;
pub(super) mod markdown;
pub(super) mod text;

/// A document.
#[derive(Default)]
pub struct Doc {
    /// Its totals: the heading, and the last line of text.
    pub title: Option<String>,
    /// What is not in it and why, with whether the run fails for it.
    pub notes: Vec<(bool, String)>,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// A part of a document.
#[derive(Default)]
pub struct Section {
    /// Its heading.
    pub heading: Option<String>,
    /// What it shows.
    pub body: Body,
    /// What is missing in it.
    pub notes: Vec<Phrase>,
}

/// What a section shows.
#[derive(Default)]
pub enum Body {
    /// Nothing.
    #[default]
    Empty,
    /// A line.
    Line(Phrase),
    /// Rows of numbers with a name.
    Table(Table),
    /// Items.
    List(List),
}

/// Rows of numbers with a name.
pub struct Table {
    /// What the names are of.
    pub key: &'static str,
    /// Heads of the numbers.
    pub heads: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
pub struct Row {
    /// Its name.
    pub name: String,
    /// One for each head.
    pub numbers: Vec<u64>,
    /// More about it, which Markdown has no room for.
    pub aside: Phrase,
}

/// Items with a first line and others.
pub struct List {
    /// Whether they are in order.
    pub numbered: bool,
    /// The lines of each.
    pub items: Vec<(Phrase, Vec<Phrase>)>,
}

/// A line of text.
pub type Phrase = Vec<Span>;

/// A piece of a line.
#[derive(Debug, Clone)]
pub struct Span {
    text: String,
    style: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Words of the program.
    Plain,
    /// The same, in front of what they are about.
    Label,
    /// What is recorded, or a name.
    Name,
    /// The same, where a line is about it.
    Subject,
    /// What is there to be looked up.
    Detail,
}

macro_rules! spans {
    ($($(#[$doc:meta])* $name:ident: $style:ident;)+) => {
        impl Span {$(
            $(#[$doc])*
            pub fn $name(text: impl Into<String>) -> Span {
                Span { text: text.into(), style: Style::$style }
            }
        )+}
    };
}

spans! {
    /// Words of the program.
    plain: Plain;
    /// Words of the program in front of what they are about.
    label: Label;
    /// What is recorded, or a name.
    name: Name;
    /// What is recorded, or a name, where a line is about it.
    subject: Subject;
    /// What is there to be looked up.
    detail: Detail;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::paint::Paint;

    /// Whatever is recorded stays text, in each of the three.
    #[test]
    fn recorded_text_is_harmless_everywhere() {
        let hostile = "`a` <script>x</script> | [b](http://c) @d **e** www.f.g";
        let spans = [Span::name, Span::subject, Span::detail].map(|span| span(hostile.to_owned()));
        let row = Row { name: hostile.to_owned(), numbers: vec![1], aside: spans.to_vec() };
        let section =
            |body| Section { heading: Some("heading".to_owned()), body, notes: vec![spans.to_vec()] };
        let doc = Doc {
            title: Some("title".to_owned()),
            notes: vec![(true, "note".to_owned())],
            sections: vec![
                section(Body::Table(Table { key: "key", heads: vec!["head"], rows: vec![row] })),
                section(Body::List(List {
                    numbered: true,
                    items: vec![(spans.to_vec(), vec![spans.to_vec()])],
                })),
                section(Body::Line(spans.to_vec())),
            ],
        };
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8(out).unwrap()
        };
        let text = written(&|out| text::write(&doc, Paint { color: false }, out).unwrap());
        assert!(text.contains(&format!("1  {hostile}  {hostile}")), "{text}");
        assert!(text.ends_with("note\ntitle\n"), "{text}");
        let markdown = written(&|out| markdown::write(&doc, out).unwrap());
        assert!(
            markdown.starts_with("### title\n\n**note**\n\n#### heading\n\n| key | head |\n"),
            "{markdown}"
        );
        for sign in ["<script", "[b]", "@d", "**e", "www."] {
            assert!(!markdown.contains(sign), "{sign}: {markdown}");
        }
        let page = written(&|out| html::write(&doc, out).unwrap());
        assert!(page.contains("&lt;script&gt;x&lt;/script&gt;") && !page.contains("<script"), "{page}");
    }
}
