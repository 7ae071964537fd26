//! Reads YAML: 1.2, core schema, several documents a file.
//!
//! One pass over the parser's events. Anchors and aliases are expanded within bounds; `<<` is a key like any
//! other, as in the core schema. After a syntax error the next document is read again.

use std::borrow::Cow;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StrInput, Tag};
use hashbrown::HashMap;

use super::build::{Builder, MAX_DEPTH, Place, Size, Stop};
use super::problem::quoted;
use super::scalar::{Scalar, resolve};
use super::{Node, NodeValue, Parse, Problem, ProblemKind, Source, Span};

/// Reads all documents of a source.
pub fn parse(source: &Source) -> Parse {
    let mut options = granit_parser::options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let text = source.text();
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut reader =
        Reader { text, builder: Builder::default(), anchors: HashMap::new(), in_document: false };
    reader.read(&mut parser);
    reader.builder.finish()
}

struct Reader<'s> {
    text: &'s str,
    builder: Builder,
    /// Nodes that aliases of this document may repeat.
    anchors: HashMap<usize, (Node, Size)>,
    in_document: bool,
}

impl<'s> Reader<'s> {
    fn read(&mut self, parser: &mut Parser<'s, StrInput<'s>>) {
        loop {
            let stopped = match parser.next() {
                None => return,
                Some(Ok((event, span))) => self.event(event, span),
                Some(Err(error)) => Err(self.syntax_error(&error)),
            };
            let Err(stop) = stopped else { continue };
            let again = stop == Stop::Document && parser.proceed_next_document().unwrap_or(false);
            if self.in_document || again {
                // Only a document with a follower has to keep its position if nothing was read of it.
                self.builder.finish_document(again.then_some(self.text.len()));
            }
            self.in_document = false;
            if !again {
                return;
            }
        }
    }

    fn event(&mut self, event: Event<'s>, place: granit_parser::Span) -> Result<(), Stop> {
        let span = self.span(&place);
        match event {
            Event::DocumentStart(..) => {
                self.anchors.clear();
                self.in_document = true;
            }
            Event::DocumentEnd => {
                self.builder.finish_document(None);
                self.in_document = false;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.builder.count_scalar(span)?;
                let text = self.without_added_line_end(&text, style, span);
                let span = self.scalar_span(span);
                let value = self.scalar(text, style, tag.as_deref(), self.tag_span(&place, span));
                self.put(Node { span, value }, anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "seq", self.tag_span(&place, span));
                self.builder.open_seq(span, anchor)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "map", self.tag_span(&place, span));
                self.builder.open_map(span, anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                // A block collection ends where its last part does, not where the next token begins.
                let end = if span.is_empty() { None } else { Some(span.end) };
                if let Some((node, anchor)) = self.builder.close(end) {
                    self.put(node, anchor)?;
                }
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::UnresolvedAlias(name) => {
                let message = format!("no anchor {} comes before this alias", quoted(&format!("&{name}")));
                self.builder.problem(
                    Problem::new(ProblemKind::BadAlias, span, message)
                        .help("put text that begins with `*` in quotes"),
                );
                self.put(Node { span, value: NodeValue::Null }, 0)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        let value = match self.anchors.get(&anchor) {
            Some((node, size)) => {
                self.builder.count_alias(span, *size)?;
                node.value.clone()
            }
            None => {
                let message = "this alias is inside the value that it repeats";
                self.builder.problem(Problem::new(ProblemKind::BadAlias, span, message));
                NodeValue::Null
            }
        };
        self.put(Node { span, value }, 0)
    }

    /// Puts a whole node where it belongs, as a key or as a value.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            let size = Size::of(&node);
            // The copy is kept, so it counts like a repetition.
            self.builder.count_alias(node.span, size)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        if self.builder.place() != Place::Key {
            self.builder.put(node);
            return Ok(());
        }
        let key = match node.value {
            NodeValue::String(text) => text,
            other => {
                let written = self.text.get(node.span.start..node.span.end).unwrap_or_default();
                self.report_key(&Node { span: node.span, value: other }, written);
                written.to_owned()
            }
        };
        self.builder.key(key, node.span);
        Ok(())
    }

    fn report_key(&mut self, key: &Node, written: &str) {
        let problem = Problem::new(
            ProblemKind::KeyNotText,
            key.span.first_line(self.text),
            format!("a key must be text, found {}", key.kind()),
        );
        self.builder.problem(match key.value {
            NodeValue::Bool(_) | NodeValue::Number(_) => {
                problem.help(format!("write it in quotes: `\"{written}\"`"))
            }
            _ => problem,
        });
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, tag_span: Span) -> NodeValue {
        let Some(tag) = tag else {
            if style != ScalarStyle::Plain {
                return NodeValue::String(text.to_owned());
            }
            return self.plain(text, tag_span);
        };
        let wanted = match tag.core_suffix() {
            Some("str") => return NodeValue::String(text.to_owned()),
            // The tag `!` alone: the scalar is not resolved.
            None if tag.original() == "!" => return NodeValue::String(text.to_owned()),
            Some(wanted) => wanted,
            None => {
                self.report_unknown_tag(tag, tag_span);
                return NodeValue::String(text.to_owned());
            }
        };
        let value = self.plain(text, tag_span);
        let fits = match (wanted, &value) {
            ("null", NodeValue::Null) | ("bool", NodeValue::Bool(_)) | ("float", NodeValue::Number(_)) => {
                true
            }
            ("int", NodeValue::Number(number)) => !number.as_str().contains(['.', 'e', 'E']),
            _ => false,
        };
        if !fits {
            let message = format!("{} is not what its tag `!!{wanted}` says", quoted(text));
            self.builder.problem(Problem::new(ProblemKind::BadTag, tag_span, message));
        }
        value
    }

    fn plain(&mut self, text: &str, span: Span) -> NodeValue {
        match resolve(text) {
            Scalar::Value(value) => value,
            Scalar::Unrepresentable(why) => {
                self.builder.problem(
                    Problem::new(ProblemKind::BadNumber, span, format!("the number {} {why}", quoted(text)))
                        .help("write it in quotes if it is meant as text"),
                );
                NodeValue::String(text.to_owned())
            }
        }
    }

    fn check_collection_tag(&mut self, tag: Option<&Tag>, wanted: &str, span: Span) {
        let Some(tag) = tag else { return };
        match tag.core_suffix() {
            Some(suffix) if suffix == wanted => {}
            None if tag.original() == "!" => {}
            Some(suffix) => {
                let found = if wanted == "seq" { "a list" } else { "a mapping" };
                let message = format!("{found} is not what its tag `!!{suffix}` says");
                self.builder.problem(Problem::new(ProblemKind::BadTag, span, message));
            }
            None => self.report_unknown_tag(tag, span),
        }
    }

    fn report_unknown_tag(&mut self, tag: &Tag, span: Span) {
        self.builder.problem(
            Problem::new(ProblemKind::BadTag, span, format!("unknown tag {}", quoted(&tag.original())))
                .help("remove the tag, or put text that begins with `!` in quotes"),
        );
    }

    fn syntax_error(&mut self, error: &ScanError) -> Stop {
        let mut at = error.marker().byte_offset().unwrap_or(self.text.len()).min(self.text.len());
        if is_tab(error.kind()) && self.text.get(..at).is_some_and(|before| before.ends_with('\t')) {
            at -= 1;
        }
        if *error.kind() == ErrorKind::UnknownQuotedScalarEscape {
            at += unknown_escape(self.text.get(at..).unwrap_or_default());
        }
        let width = self
            .text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, |character| if character == '\n' { 0 } else { character.len_utf8() });
        let span = Span::new(at, at + width);
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return self.builder.too_deep(span);
        }
        let (message, help) = phrase(error.kind());
        let mut problem = Problem::new(ProblemKind::Syntax, span, message);
        problem.help = help.map(str::to_owned);
        if let (true, Some(open)) = (is_unclosed(error.kind()), self.builder.innermost())
            && open.start != at
            && !open.is_empty()
        {
            problem = problem.related(open.first_line(self.text), "opened here");
        }
        self.builder.problem(problem);
        Stop::Document
    }

    fn span(&self, span: &granit_parser::Span) -> Span {
        span.byte_range().map_or(Span::empty(self.text.len()), |range| Span::new(range.start, range.end))
    }

    fn tag_span(&self, place: &granit_parser::Span, or: Span) -> Span {
        place.tag_span().map_or(or, |span| self.span(&span))
    }

    /// The parser ends a block scalar's last line with a line end even where the file stops before one.
    fn without_added_line_end<'t>(&self, value: &'t str, style: ScalarStyle, span: Span) -> &'t str {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if !is_block || span.end != self.text.len() {
            return value;
        }
        let last_line = self.text.rsplit('\n').next().unwrap_or_default();
        if last_line.trim().is_empty() { value } else { value.strip_suffix('\n').unwrap_or(value) }
    }

    /// A block scalar is its lines without the last line end; a value left out is directly after its colon.
    fn scalar_span(&self, span: Span) -> Span {
        if !span.is_empty() {
            let written = self.text.get(span.start..span.end).unwrap_or_default();
            return Span::new(span.start, span.start + written.trim_end().len());
        }
        match self.builder.place() {
            Place::Value(key) => {
                let behind = self.text.get(key.end..).unwrap_or_default();
                let colon =
                    behind.trim_start_matches(' ').strip_prefix(':').map(|rest| behind.len() - rest.len());
                Span::empty(key.end + colon.unwrap_or_default())
            }
            _ => span,
        }
    }
}

fn is_unclosed(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::MismatchedFlowCollectionEnd { .. }
    )
}

fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar
    )
}

/// The position of the first unknown escape in a text that begins with a double-quoted scalar: the parser reports only
/// the whole scalar.
fn unknown_escape(quoted: &str) -> usize {
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' && !characters.next().is_some_and(|(_, next)| ESCAPES.contains(next)) {
            return at;
        }
    }
    0
}

/// Characters that may follow a backslash (YAML 1.2, section 5.7), a line end included.
const ESCAPES: &str = "0abt\tnvfre \"/\\N_LPxuU\r\n";

/// The message for a syntax error, and what may fix it. Rarer errors keep the parser's words.
fn phrase(kind: &ErrorKind) -> (Cow<'static, str>, Option<&'static str>) {
    const TABS: Option<&str> = Some("indent with spaces");
    let message = match kind {
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
            return ("a tab is used for indentation".into(), TABS);
        }
        ErrorKind::TabAtBlockScalarStart | ErrorKind::TabInPlainScalar => {
            return ("a tab is not allowed here".into(), TABS);
        }
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockMappingKey => {
            return (
                "expected a key, or less indentation".into(),
                Some("the keys of a mapping, and the dashes of a list, start in the same column"),
            );
        }
        ErrorKind::ExpectedBlockSequenceEntry => {
            return (
                "expected `- ` and the next item of the list".into(),
                Some("the dashes of a list start in the same column"),
            );
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            return (
                "a `: ` is not allowed here".into(),
                Some("put text that contains a colon and a space in quotes"),
            );
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            return ("expected `:` after this key".into(), Some("a key and its colon are on one line"));
        }
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => {
            return ("a list's `- ` is not allowed here".into(), Some("begin the list on a line of its own"));
        }
        ErrorKind::UnclosedFlowCollection { open } => format!("`{open}` is not closed"),
        ErrorKind::UnexpectedEofFlowSequence => "`[` is not closed".to_owned(),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "`{` is not closed".to_owned()
        }
        ErrorKind::ExpectedFlowMappingSeparator => "expected `,` or `}`".to_owned(),
        ErrorKind::ExpectedFlowSequenceSeparator => "expected `,` or `]`".to_owned(),
        ErrorKind::MisplacedFlowCollectionEnd => "this bracket closes nothing".to_owned(),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => format!("`{open}` is closed by `{close}`"),
        ErrorKind::UnclosedQuotedScalar => "the quoted text is not closed".to_owned(),
        ErrorKind::UnknownQuotedScalarEscape => {
            return (
                "unknown escape in quoted text".into(),
                Some("write `\\\\` for a backslash, or use single quotes, which have no escapes"),
            );
        }
        ErrorKind::UnexpectedCharacter { character } => {
            return (
                format!("no value begins with `{character}`").into(),
                Some("put text that begins with it in quotes"),
            );
        }
        other => {
            let told = other.to_string().replace("EOF", "end of file").replace("eof", "end of file");
            let mut letters = told.chars();
            match letters.next() {
                Some(first) => first.to_lowercase().chain(letters).collect(),
                None => "not YAML".to_owned(),
            }
        }
    };
    (message.into(), None)
}
