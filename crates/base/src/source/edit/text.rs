//! The position of a change in the text, and its replacement. `None`: not possible without losing something.

use serde_json::Value;

use super::super::inline::{inline, scalar};
use super::super::{Entry, Node, NodeValue, Span};
use super::{Edits, Members, New};

impl Edits<'_> {
    /// A value that is written after its key.
    pub(super) fn in_place_of(&self, entry: &Entry, text: &str) -> Option<(Span, String)> {
        let (key, old) = (entry.key_span, entry.value.span);
        let between = self.source.slice(Span::new(key.end, old.start));
        if between.contains('#') || !self.comments(&entry.value, old).is_empty() {
            return None;
        }
        if old.is_empty() {
            return Some((old, format!(" {text}")));
        }
        let is_block =
            matches!(entry.value.value, NodeValue::Seq(_) | NodeValue::Map(_)) && !self.is_flow(&entry.value);
        if between.trim() == ":" && !is_block {
            return Some((old, text.to_owned()));
        }
        // Lines of a block, with what precedes it, become a value on the key's own line.
        between.starts_with(':').then(|| (Span::new(key.end, old.end), format!(": {text}")))
    }

    /// The changes of the text that change a list or a mapping.
    pub(super) fn rewritten(&self, members: &Members<'_>) -> Option<Vec<(Span, String)>> {
        let Members { node, instead, added } = members;
        let spans = self.spans(node)?;
        let is_gone = |place: &usize| instead.get(place).is_some_and(Vec::is_empty);
        let kept: Vec<usize> = (0..spans.len()).filter(|place| !is_gone(place)).collect();
        if kept.is_empty() && !spans.is_empty() {
            return self.emptied(node, added.is_empty()).map(|change| vec![change]);
        }
        let mut texts = Vec::new();
        let is_flow = self.is_flow(node);
        for (&place, others) in instead {
            let span = *spans.get(place)?;
            match (is_flow, others.is_empty()) {
                (true, true) => texts.extend(self.removed_in_flow(span, {
                    let before = kept.iter().rev().find(|kept| **kept < place);
                    before.and_then(|before| spans.get(*before)).copied()
                })?),
                (false, true) => {
                    let next = kept.iter().find(|kept| **kept > place).and_then(|next| spans.get(*next));
                    let after = place.checked_add(1).and_then(|after| spans.get(after)) == next;
                    texts.push(self.removed_lines(span, next.filter(|_| place == 0 && after).copied())?);
                }
                (_, false) => {
                    texts.extend(self.replaced(node.as_seq()?.get(place)?, span, is_flow, others)?)
                }
            }
        }
        for (&place, new) in added {
            let before = place.checked_sub(1).map(|before| spans.get(before).copied().ok_or(before));
            let change = match before.transpose().ok()? {
                Some(_) if is_flow && is_gone(&(place - 1)) => return None,
                before if is_flow => self.added_in_flow(node, before, spans.first().copied(), new)?,
                before => self.added_lines(before, *spans.first()?, new)?,
            };
            texts.push(change);
        }
        Some(texts)
    }

    /// The span of each item or entry, in block style with its dash.
    fn spans(&self, node: &Node) -> Option<Vec<Span>> {
        match &node.value {
            NodeValue::Map(entries) => {
                Some(entries.iter().map(|entry| entry.key_span.to(entry.value.span)).collect())
            }
            NodeValue::Seq(items) if self.is_flow(node) => Some(items.iter().map(|item| item.span).collect()),
            NodeValue::Seq(items) => {
                // The span of a list that is indented like its key begins after its first dash; that of a first item
                // which is a block of text begins later still.
                let is_dash = self.source.text().get(node.span.start..)?.starts_with('-');
                let leads = is_dash && items.first()?.span.start > node.span.start;
                let mut dash = if leads { node.span.start } else { self.dash_before(node.span.start)? };
                let mut spans = Vec::with_capacity(items.len());
                for item in items.iter() {
                    self.source.text().get(dash..)?.starts_with('-').then_some(())?;
                    let span = Span::new(dash, if item.span.is_empty() { dash + 1 } else { item.span.end });
                    spans.push(span);
                    dash = self.skip(span.end);
                }
                Some(spans)
            }
            _ => None,
        }
    }

    /// The dash before an item, with nothing between them but blanks and comments.
    fn dash_before(&self, item: usize) -> Option<usize> {
        let mut end = item;
        loop {
            let start = self.line_start(end);
            let line = self.source.slice(Span::new(start, end));
            let code = line.split('#').next().unwrap_or_default().trim_end();
            if code.ends_with('-') {
                return Some(start + code.len() - 1);
            }
            end = code.is_empty().then_some(start)?.checked_sub(1)?;
        }
    }

    /// The replacement of a collection that becomes empty.
    fn emptied(&self, node: &Node, without_new: bool) -> Option<(Span, String)> {
        let empty = if node.as_seq().is_some() { "[]" } else { "{}" };
        if !without_new || !self.comments(node, node.span).is_empty() {
            return None;
        }
        fn above<'n>(within: &'n Node, node: &Node) -> Option<&'n Entry> {
            match &within.value {
                NodeValue::Seq(items) => items.iter().find_map(|item| above(item, node)),
                NodeValue::Map(entries) => {
                    let is_it = |entry: &&Entry| std::ptr::eq(&raw const entry.value, node);
                    let deeper = || entries.iter().find_map(|entry| above(&entry.value, node));
                    entries.iter().find(is_it).or_else(deeper)
                }
                _ => None,
            }
        }
        match self.documents.iter().find_map(|document| above(document, node)) {
            Some(entry) => self.in_place_of(entry, empty),
            None => Some((node.span, empty.to_owned())),
        }
    }

    /// An item that is replaced: its text, and its comments above it.
    fn replaced(
        &self,
        item: &Node,
        span: Span,
        is_flow: bool,
        others: &[Value],
    ) -> Option<Vec<(Span, String)>> {
        let comments = self.comments(item, item.span);
        let at = self.line_start(span.start);
        let leads = self.source.slice(Span::new(at, span.start)).trim().is_empty();
        let indent = " ".repeat(self.column(span.start));
        let above = |comment: String| format!("{comment}{}{indent}", self.line_end);
        let above: String = comments.into_iter().map(above).collect();
        if !leads && !above.is_empty() {
            return None;
        }
        if is_flow {
            let others: Vec<String> = others.iter().map(|value| inline(value, self.is_json)).collect();
            let between = if leads { format!(",{}{indent}", self.line_end) } else { ", ".to_owned() };
            return Some(vec![(item.span, above + &others.join(&between))]);
        }
        // An anchor or a tag would now belong to another value.
        if !item.span.is_empty() && self.skip(span.start + 1) != item.span.start {
            return None;
        }
        let (at, mut text) = match item.span.is_empty() {
            true => (Span::empty(span.end), " ".to_owned()),
            false => (item.span, String::new()),
        };
        let mut inner = " ".repeat(self.column(at.start) + text.len());
        for (nth, value) in others.iter().enumerate() {
            if nth > 0 {
                text.push_str(&format!("{}{indent}- ", self.line_end));
                inner = format!("{indent}  ");
            }
            text.push_str(&self.block(value, &inner));
        }
        Some(vec![(Span::empty(span.start), above), (at, text)])
    }

    /// The text after a dash: a mapping with a line for each key, anything else on one line.
    fn block(&self, value: &Value, indent: &str) -> String {
        let Value::Object(entries) = value else { return inline(value, self.is_json) };
        if entries.is_empty() {
            return "{}".to_owned();
        }
        let entry = |(key, value): (&String, &Value)| {
            format!("{}: {}", scalar(key, self.is_json), inline(value, self.is_json))
        };
        let lines: Vec<String> = entries.iter().map(entry).collect();
        lines.join(&format!("{}{indent}", self.line_end))
    }

    /// Removes an item or entry between brackets, with one comma. `before` is the one before it that is kept.
    fn removed_in_flow(&self, span: Span, before: Option<Span>) -> Option<Vec<(Span, String)>> {
        let text = self.source.text();
        let comma = |at: usize| {
            Some(self.skip(at)).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(',')))
        };
        if let Some(comma) = comma(span.end) {
            let after = text.get(comma + 1..)?;
            let blanks = after.len() - after.trim_start_matches(' ').len();
            return Some(vec![(Span::new(span.start, comma + 1 + blanks), String::new())]);
        }
        let lead = text.get(..span.start)?.trim_end_matches(' ').len();
        let comma = Span::new(comma(before?.end)?, comma(before?.end)? + 1);
        Some(vec![(comma, String::new()), (Span::new(lead.max(comma.end), span.end), String::new())])
    }

    /// Removes the lines of an item or entry. If it shares its line with a key or dash before it, the `next` one moves
    /// there.
    fn removed_lines(&self, span: Span, next: Option<Span>) -> Option<(Span, String)> {
        let first = self.line_start(span.start);
        let end = self.after_line(span.end);
        if self.source.slice(Span::new(first, span.start)).trim().is_empty() {
            return Some((Span::new(first, end), String::new()));
        }
        let next = next?.start;
        let is_clean = self.source.slice(Span::new(end, next)).trim().is_empty();
        is_clean.then(|| (Span::new(span.start, next), String::new()))
    }

    fn added_in_flow(
        &self,
        node: &Node,
        before: Option<Span>,
        first: Option<Span>,
        new: &[New],
    ) -> Option<(Span, String)> {
        let mut texts = Vec::new();
        for New { comments, key, value } in new {
            comments.is_empty().then_some(())?;
            let key = key.as_ref().map(|key| format!("{}: ", scalar(key, self.is_json))).unwrap_or_default();
            texts.push(format!("{key}{}", inline(value, self.is_json)));
        }
        let text = texts.join(", ");
        Some(match (before, first) {
            (Some(before), _) => (Span::empty(before.end), format!(", {text}")),
            (None, Some(first)) => (Span::empty(first.start), format!("{text}, ")),
            (None, None) => (Span::empty(node.span.start + 1), text),
        })
    }

    fn added_lines(&self, before: Option<Span>, first: Span, new: &[New]) -> Option<(Span, String)> {
        let indent = " ".repeat(self.column(first.start));
        let mut lines = Vec::new();
        for New { comments, key, value } in new {
            lines.extend(comments.iter().cloned());
            lines.push(match key {
                Some(key) => format!("{}: {}", scalar(key, self.is_json), inline(value, self.is_json)),
                None => format!("- {}", self.block(value, &format!("{indent}  "))),
            });
        }
        let Some(before) = before else {
            let lines: Vec<String> =
                lines.into_iter().map(|line| format!("{line}{}{indent}", self.line_end)).collect();
            return Some((Span::empty(first.start), lines.concat()));
        };
        let at = self.after_line(before.end);
        let lines: Vec<String> = lines.into_iter().map(|line| format!("{indent}{line}")).collect();
        let text = lines.join(self.line_end);
        let is_open = self.source.text().get(..at).is_some_and(|before| !before.ends_with('\n'));
        Some((
            Span::empty(at),
            if is_open { format!("{}{text}", self.line_end) } else { text + self.line_end },
        ))
    }

    /// Whether a collection is between brackets.
    fn is_flow(&self, node: &Node) -> bool {
        // The span of a block list may begin with its first item, which may itself be between brackets.
        let first = node.as_seq().and_then(<[Node]>::first).map(|first| first.span.start);
        first != Some(node.span.start) && self.source.slice(node.span).starts_with(['[', '{'])
    }

    /// The first position at or after this one that is neither blank nor in a comment.
    fn skip(&self, at: usize) -> usize {
        let text = self.source.text();
        let mut rest = text.get(at..).unwrap_or_default().trim_start();
        while rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
        text.len() - rest.len()
    }

    fn line_start(&self, offset: usize) -> usize {
        let before = self.source.text().get(..offset);
        before.and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
    }

    /// Characters between a position and the beginning of its line.
    fn column(&self, offset: usize) -> usize {
        self.source.slice(Span::new(self.line_start(offset), offset)).chars().count()
    }
}
