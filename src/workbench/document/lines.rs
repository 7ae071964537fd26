//! A value, or a text, laid out in lines.

use serde_json::Value;

use super::{Document, LONGEST, Line, Step, Token};

impl Document {
    pub(super) fn value(
        &mut self,
        value: &Value,
        key: Option<&str>,
        step: Option<Step>,
        depth: usize,
        parent: Option<usize>,
        comma: bool,
    ) {
        let key = key.map(|key| Value::from(key).to_string());
        let own = self.lines.len();
        let (size, signs) = match value {
            Value::Object(map) if !map.is_empty() => (map.len(), ('{', '}')),
            Value::Array(list) if !list.is_empty() => (list.len(), ('[', ']')),
            Value::String(_) => {
                return self.long(&value.to_string(), depth, key, parent, step, comma, Token::String);
            }
            _ => {
                let token = Token::Word(value.to_string());
                return self.push(Line {
                    depth,
                    key,
                    token,
                    comma,
                    goes_on: false,
                    end: own,
                    size: 0,
                    parent,
                    step,
                });
            }
        };
        let token = Token::Open(signs.0);
        self.push(Line { depth, key, token, comma, goes_on: false, end: own, size, parent, step });
        match value {
            Value::Object(map) => {
                for (at, (key, member)) in map.iter().enumerate() {
                    let step = Some(Step::Key(key.clone()));
                    self.value(member, Some(key), step, depth + 1, Some(own), at + 1 < size);
                }
            }
            Value::Array(list) => {
                for (at, element) in list.iter().enumerate() {
                    self.value(element, None, Some(Step::Index(at)), depth + 1, Some(own), at + 1 < size);
                }
            }
            _ => {}
        }
        let end = self.lines.len();
        // Without a step of its own and with the opening line as parent, it has the opening line's path.
        let token = Token::Close(signs.1);
        let parent = Some(own);
        self.push(Line { depth, key: None, token, comma, goes_on: false, end, size: 0, parent, step: None });
        if let Some(line) = self.lines.get_mut(own) {
            line.end = end;
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a line, from two places that make long ones")]
    pub(super) fn long(
        &mut self,
        text: &str,
        depth: usize,
        mut key: Option<String>,
        parent: Option<usize>,
        step: Option<Step>,
        comma: bool,
        token: fn(String) -> Token,
    ) {
        let mut rest = text;
        let mut goes_on = false;
        loop {
            let cut = rest.char_indices().nth(LONGEST).map_or(rest.len(), |(at, _)| at);
            let (part, after) = rest.split_at(cut);
            let last = after.is_empty();
            let end = self.lines.len();
            self.push(Line {
                depth,
                key: key.take(),
                token: token(part.to_owned()),
                comma: comma && last,
                goes_on,
                end,
                size: 0,
                parent,
                step: step.clone(),
            });
            if last {
                return;
            }
            rest = after;
            goes_on = true;
        }
    }

    fn push(&mut self, line: Line) {
        self.lines.push(line);
    }
}
