//! The context of the cursor: the path to it in the document, and whether it is in a key or a value.
//!
//! A text that is being edited is seldom valid YAML. So a mark is put at the cursor, and the text is parsed in several
//! forms (as it is, with a colon, cut off after the cursor with its brackets closed) until one of them has the mark in
//! it.

use rulestep_base::source::{Node, NodeValue, Source, Span, parse};
use rulestep_engine::dialect::lookup::{Step, TOP_LIST};

const MARK: &str = "rulestep0mark0of0the0cursor";

/// The context of the cursor.
#[derive(Debug)]
pub struct Context {
    /// The document, with the mark in it.
    pub document: Node,
    /// The part of the text that is being typed, with its quotes.
    pub typed: Span,
    /// Whether a colon follows already.
    pub has_colon: bool,
    /// The way to the mapping or the list that it is in.
    pub way: Vec<Step>,
    /// The role of the text there.
    pub role: Role,
    /// The values of the mappings on the way, the innermost last.
    pub around: Vec<Node>,
}

/// The role of the typed text.
#[derive(Debug, PartialEq)]
pub enum Role {
    /// A key, beside these. `first`: there is no other key, so it may also be a value of the list or key before it.
    Key { siblings: Vec<String>, first: bool },
    /// The value of this key.
    Value(String),
    /// An item of the list that the way ends in.
    Item,
}

impl Context {
    /// At this byte.
    pub fn of(text: &str, offset: usize) -> Option<Context> {
        let typed = typed(text, offset);
        let (before, after) = (text.get(..typed.start)?, text.get(typed.end..)?);
        let line = before.rsplit('\n').next().unwrap_or_default();
        // There are no completions in a comment.
        if line.trim_start().starts_with('#') || line.contains(" #") {
            return None;
        }
        let has_colon = after.trim_start_matches(' ').starts_with(':');
        let closed = closing(before);
        let whole = |middle: &str| format!("{before}{MARK}{middle}{after}");
        let cut = |middle: &str| format!("{before}{MARK}{middle}{closed}\n");
        let starts_line = line.chars().all(|c| matches!(c, ' ' | '-'));
        let forms = match starts_line && !has_colon {
            true => [whole(": "), cut(": "), whole(""), cut("")],
            false => [whole(""), whole(": "), cut(""), cut(": ")],
        };
        forms.iter().find_map(|form| {
            let parsed = parse(&Source::new("typed", form.as_str()));
            parsed.documents.into_iter().find_map(|document| {
                let mut search = Search { way: Vec::new(), around: Vec::new(), found: None };
                search.visit(&document);
                let (way, role, around) = search.found?;
                Some(Context { document, typed, has_colon, way, role, around })
            })
        })
    }
}

type Place = (Vec<Step>, Role, Vec<Node>);

struct Search {
    way: Vec<Step>,
    around: Vec<Node>,
    found: Option<Place>,
}

impl Search {
    fn visit(&mut self, node: &Node) {
        match &node.value {
            NodeValue::Map(entries) => {
                let kind = node.get("type").and_then(Node::as_str).filter(|kind| !kind.contains(MARK));
                if let Some(last) = self.way.last_mut() {
                    last.kind = kind.map(str::to_owned);
                }
                self.around.push(node.clone());
                if entries.iter().any(|entry| entry.key.contains(MARK)) {
                    let others = entries.iter().filter(|entry| !entry.key.contains(MARK));
                    let siblings: Vec<String> = others.map(|entry| entry.key.clone()).collect();
                    self.take(Role::Key { first: siblings.is_empty(), siblings });
                }
                for entry in entries.iter() {
                    if is_mark(&entry.value) {
                        self.take(Role::Value(entry.key.clone()));
                    }
                    self.way.push(Step { key: entry.key.clone(), kind: None });
                    self.visit(&entry.value);
                    self.way.pop();
                }
                self.around.pop();
            }
            NodeValue::Seq(items) => {
                let top = self.way.is_empty();
                self.way.extend(top.then(|| Step { key: TOP_LIST.to_owned(), kind: None }));
                for item in items.iter() {
                    if let Some(last) = self.way.last_mut() {
                        last.kind = None;
                    }
                    if is_mark(item) {
                        self.take(Role::Item);
                    }
                    self.visit(item);
                }
                self.way.truncate(if top { 0 } else { self.way.len() });
            }
            NodeValue::String(_) if is_mark(node) && self.way.is_empty() => {
                self.take(Role::Key { siblings: Vec::new(), first: false });
            }
            _ => {}
        }
    }

    fn take(&mut self, role: Role) {
        self.found.get_or_insert_with(|| (self.way.clone(), role, self.around.clone()));
    }
}

fn is_mark(node: &Node) -> bool {
    node.as_str().is_some_and(|text| text.trim() == MARK)
}

/// The word around a byte: up to a blank or a sign of YAML, a path or a text in quotes as a whole.
fn typed(text: &str, offset: usize) -> Span {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let written = before.get(line..).unwrap_or_default();
    let mut quote = None;
    for (at, letter) in written.char_indices() {
        quote = match (quote, letter) {
            (None, '"' | '\'') => Some((letter, at)),
            (Some((open, _)), letter) if letter == open => None,
            (other, _) => other,
        };
    }
    let rest = text.get(offset..).unwrap_or_default();
    let rest = rest.split(['\n', '\r']).next().unwrap_or_default();
    if let Some((sign, at)) = quote {
        let end = rest.find(sign).map_or(rest.len(), |end| end + 1);
        return Span::new(line + at, offset + end);
    }
    let is_word = |c: char| !c.is_whitespace() && !matches!(c, ',' | '{' | '}' | '[' | ']' | ':' | '#');
    let start =
        |word: &str| word.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map(|(at, _)| at);
    let blank = written.rfind(|c: char| c.is_whitespace() || matches!(c, ',' | '{')).map_or(0, |at| at + 1);
    // A path may have brackets.
    let path = written.get(blank..).filter(|word| word.starts_with('$')).map(|_| blank);
    let begin = path.or_else(|| start(written)).unwrap_or(written.len());
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    Span::new(line + begin, offset + end)
}

/// The closing brackets for those that are open at the end of a text.
fn closing(text: &str) -> String {
    let (mut open, mut quote, mut blank) = (Vec::new(), None, true);
    let mut comment = false;
    for letter in text.chars() {
        match (quote, letter) {
            (_, '\n') => comment = false,
            _ if comment => {}
            (Some(sign), letter) if sign == letter => quote = None,
            (Some(_), _) => {}
            // Within a word these are letters.
            (None, '"' | '\'') if blank => quote = Some(letter),
            (None, '#') if blank => comment = true,
            (None, '{') if blank => open.push('}'),
            (None, '[') if blank => open.push(']'),
            (None, '}' | ']') if open.last() == Some(&letter) => drop(open.pop()),
            _ => {}
        }
        blank = letter.is_whitespace() || matches!(letter, '{' | '[' | ',' | '}' | ']' | ':');
    }
    open.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<Context> {
        let offset = text.find('|').unwrap();
        Context::of(&text.replacen('|', "", 1), offset)
    }

    fn shown(text: &str) -> String {
        let Some(context) = at(text) else { return "nothing".to_owned() };
        let way: Vec<String> = context
            .way
            .iter()
            .map(|step| match &step.kind {
                Some(kind) => format!("{}={kind}", step.key),
                None => step.key.clone(),
            })
            .collect();
        format!("{} {:?}", way.join("."), context.role)
    }

    #[test]
    fn the_place_of_what_is_typed() {
        let key = |siblings: &str, first| format!("Key {{ siblings: [{siblings}], first: {first} }}");
        let cases = [
            ("tool: a\npre|", format!(" {}", key("\"tool\"", false))),
            ("tool: a\npreconditions:\n  - req|", format!("preconditions {}", key("", true))),
            (
                "tool: a\npreconditions:\n  - |\nforbids_after: [b]\n",
                format!("preconditions {}", key("", true)),
            ),
            (
                "tool: a\npreconditions:\n  - match: any\n    re|\n",
                format!("preconditions {}", key("\"match\"", false)),
            ),
            (
                "tool: a\npreconditions: [{match: any, re|",
                format!("preconditions {}", key("\"match\"", false)),
            ),
            ("tool: a\npreconditions: [{match: a|, requires", "preconditions Value(\"match\")".to_owned()),
            ("tool: a\npreconditions: [{match: |}]\n", "preconditions Value(\"match\")".to_owned()),
            ("tool: |\n", " Value(\"tool\")".to_owned()),
            ("tool: a\nforbids_after: [b, c|]\n", "forbids_after Item".to_owned()),
            ("tool: a\nforbids_after: [b, |", "forbids_after Item".to_owned()),
            ("rules:\n  - {type: before, fi|: x}\n", format!("rules=before {}", key("\"type\"", false))),
            ("- {type: before, fi|}\n", format!("rules=before {}", key("\"type\"", false))),
            ("tool: a # wh|\n", "nothing".to_owned()),
            ("{\"tool\": \"a|\", \"forbids_after\": []}", " Value(\"tool\")".to_owned()),
            (
                "tool: a\nx: [\npreconditions:\n  - requires_prior_tool: b\n    resource: {bind_from: arg|",
                "".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            if !expected.is_empty() {
                assert_eq!(shown(text), expected, "{text}");
            } else {
                let _ = shown(text);
            }
        }
        assert_eq!(shown("|"), format!(" {}", key("", true)));
    }

    #[test]
    fn paths_and_quoted_texts_are_typed_as_a_whole() {
        let cases = [
            ("a: $.x[0].y|", "$.x[0].y"),
            ("a: '$.x[|0].y' # b", "'$.x[0].y'"),
            ("a: {b: \"x y|", "\"x y"),
            ("a: b-c|d, e", "b-cd"),
            ("a: |", ""),
        ];
        for (text, expected) in cases {
            let offset = text.find('|').unwrap();
            let text = text.replacen('|', "", 1);
            let span = typed(&text, offset);
            assert_eq!(text.get(span.start..span.end), Some(expected), "{text}");
        }
    }
}
