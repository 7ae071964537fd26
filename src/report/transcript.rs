//! The rows of a session's transcript: made once when it is opened, so that drawing only looks at the visible ones.

use std::borrow::Cow;

use rulestep_base::session::{
    Alternative, AlternativeRef, Body, Message, MessageKind, Millis, Outcome, Session, ToolCall,
};
use rulestep_engine::monitor::RuleId;

/// The rows of one session and where its calls are in them.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    rows: Vec<Row>,
    /// The row of every call, by index.
    calls: Vec<usize>,
    /// The number of rows before those of rules.
    recorded: usize,
}

/// A row of the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The turn it leads to or belongs to; one more than the last for what was said after it.
    pub turn: u32,
    /// Its kind.
    pub kind: RowKind,
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A message, by index.
    Message(usize),
    /// A proposed call, by index.
    Call(u32),
    /// The result of a call, by index.
    Result(u32),
    /// A choice that was not taken, by its place among the alternatives of the session: what it says, or its call with
    /// this number, from 1.
    Choice(usize, Option<u32>),
    /// A violated session rule, after the end of the session.
    Rule(RuleId),
}

impl Rows {
    /// The rows of a session, in recorded order: a response's text, then its calls.
    pub fn of(session: &Session) -> Self {
        let mut made = Self { calls: vec![0; session.calls.len()], ..Self::default() };
        let mut turns = session.turns.iter().peekable();
        let mut turn = 0;
        for (at, message) in session.messages.iter().enumerate() {
            // Results stay with the turn they follow; other messages between turns belong to the next one.
            let next = turn + 1;
            match &message.kind {
                MessageKind::Response(number) => {
                    turn = *number;
                    if !message.content.shown().is_empty() {
                        made.push(turn, RowKind::Message(at));
                    }
                    // A turn may be several messages; its calls come after the last of them.
                    if turns.peek().is_some_and(|turn| turn.messages.end == at + 1)
                        && let Some(ended) = turns.next()
                    {
                        let calls = session.calls_of(ended);
                        if calls.is_empty() && message.content.shown().is_empty() {
                            made.push(turn, RowKind::Message(at));
                        }
                        for call in calls {
                            if let Some(row) = made.calls.get_mut(call.at.index as usize) {
                                *row = made.rows.len();
                            }
                            made.push(turn, RowKind::Call(call.at.index));
                        }
                        made.choices(session, turn);
                    }
                }
                MessageKind::Result(Some(index), _) => made.push(turn.max(1), RowKind::Result(*index)),
                MessageKind::Result(None, _) => made.push(turn.max(1), RowKind::Message(at)),
                MessageKind::Said | MessageKind::Operation(_) => made.push(next, RowKind::Message(at)),
            }
        }
        made.recorded = made.rows.len();
        made
    }

    /// Ends with these violated rules about the session, and no others.
    pub fn end_with(&mut self, rules: impl IntoIterator<Item = RuleId>, session: &Session) {
        self.rows.truncate(self.recorded);
        let turn = u32::try_from(session.turns.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.rows.extend(rules.into_iter().map(|rule| Row { turn, kind: RowKind::Rule(rule) }));
    }

    /// The rows of violated rules about the session: the first one, and the one after the last.
    pub fn of_rules(&self) -> std::ops::Range<usize> {
        self.recorded..self.rows.len()
    }

    /// The row of a violated rule about the session.
    pub fn of_rule(&self, rule: RuleId) -> Option<usize> {
        self.of_rules().find(|at| self.get(*at).is_some_and(|row| row.kind == RowKind::Rule(rule)))
    }

    /// The choices of a turn that were not taken, after its calls.
    fn choices(&mut self, session: &Session, turn: u32) {
        let first = session.alternatives.partition_point(|other| other.turn < turn);
        for (place, other) in (first..).zip(session.alternatives_of(turn)) {
            if !other.message.content.shown().is_empty() || other.calls().is_empty() {
                self.push(turn, RowKind::Choice(place, None));
            }
            for (number, _) in (1..).zip(other.calls()) {
                self.push(turn, RowKind::Choice(place, Some(number)));
            }
        }
    }

    /// The row of a call of a choice that was not taken.
    pub fn of_choice(&self, at: AlternativeRef, session: &Session) -> Option<usize> {
        let first = self.rows.partition_point(|row| row.turn < at.turn);
        let of_turn = self.rows.get(first..)?.iter().take_while(|row| row.turn == at.turn);
        let found =
            of_turn.zip(first..).find(|(row, _)| row.not_taken(session).is_some_and(|own| own.at() == at));
        found.map(|(_, row)| row)
    }

    fn push(&mut self, turn: u32, kind: RowKind) {
        self.rows.push(Row { turn, kind });
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row.
    pub fn get(&self, row: usize) -> Option<Row> {
        self.rows.get(row).copied()
    }

    /// The row of a call.
    pub fn of_call(&self, index: u32) -> Option<usize> {
        self.calls.get(index as usize).copied()
    }

    /// The row that shows the same as `row` does, which may be of another version of the session.
    pub fn place_of(&self, row: Row) -> Option<usize> {
        self.rows.iter().position(|known| known.kind == row.kind)
    }

    /// The first row of a turn.
    pub fn of_turn(&self, turn: u32) -> Option<usize> {
        let row = self.rows.partition_point(|row| row.turn < turn);
        self.rows.get(row).filter(|row| row.turn == turn).map(|_| row)
    }

    /// The nearest row after (or before) `row` that satisfies `wanted`.
    pub fn seek(&self, row: usize, forward: bool, mut wanted: impl FnMut(Row) -> bool) -> Option<usize> {
        if forward {
            (row + 1..self.rows.len()).find(|at| self.get(*at).is_some_and(&mut wanted))
        } else {
            (0..row.min(self.rows.len())).rev().find(|at| self.get(*at).is_some_and(&mut wanted))
        }
    }

    /// The call of a row: its own, or for messages the first one of the turn that follows.
    pub fn call_at(&self, row: usize, session: &Session) -> Option<u32> {
        let row = self.get(row)?;
        match row.kind {
            RowKind::Call(index) | RowKind::Result(index) => Some(index),
            RowKind::Message(_) => {
                session.calls_of(session.turn(row.turn)?).first().map(|call| call.at.index)
            }
            RowKind::Choice(..) | RowKind::Rule(_) => None,
        }
    }
}

/// A call of a choice that was not taken, as the session has it.
#[derive(Clone, Copy)]
pub struct Proposal<'s> {
    /// The choice.
    pub alternative: &'s Alternative,
    /// The call's number in it, from 1.
    pub number: u32,
    /// The call.
    pub call: &'s ToolCall,
}

impl Proposal<'_> {
    /// Its reference.
    pub fn at(&self) -> AlternativeRef {
        self.alternative.at(self.number)
    }
}

impl Row {
    /// The call that it shows of a choice that was not taken.
    pub fn not_taken<'s>(&self, session: &'s Session) -> Option<Proposal<'s>> {
        let RowKind::Choice(place, Some(number)) = self.kind else { return None };
        let alternative = session.alternatives.get(place)?;
        let call = alternative.calls().get((number as usize).checked_sub(1)?)?;
        Some(Proposal { alternative, number, call })
    }

    /// The speaker: a role, `call`, `result`, `choice` or `rule`.
    pub fn speaker<'s>(&self, session: &'s Session) -> &'s str {
        match self.kind {
            RowKind::Message(at) => session.messages.get(at).map_or("", |message| &message.role),
            RowKind::Call(_) => "call",
            RowKind::Result(_) => "result",
            RowKind::Choice(..) => "choice",
            RowKind::Rule(_) => "rule",
        }
    }

    /// Its whole content.
    pub fn body<'s>(&self, session: &'s Session) -> Option<&'s Body> {
        match self.kind {
            RowKind::Message(at) => session.messages.get(at).map(|message| &message.content),
            RowKind::Call(index) => session.calls.get(index as usize).map(|call| &call.arguments),
            RowKind::Result(index) => {
                let call = session.calls.get(index as usize)?;
                let message = call.result.and_then(|at| session.messages.get(at));
                message.map(|message| &message.content).or(Some(&call.output))
            }
            RowKind::Choice(place, None) => {
                session.alternatives.get(place).map(|choice| &choice.message.content)
            }
            RowKind::Choice(..) => self.not_taken(session).map(|proposal| &proposal.call.arguments),
            RowKind::Rule(_) => None,
        }
    }

    /// Its line in the recording, from 1; `None` if unknown.
    pub fn line(&self, session: &Session) -> Option<u32> {
        let line = match self.kind {
            RowKind::Choice(place, _) => session.alternatives.get(place)?.message.line,
            _ => self.message(session)?.line,
        };
        Some(line).filter(|line| *line > 0)
    }

    /// When it was recorded, where that is known.
    pub fn time(&self, session: &Session) -> Option<Millis> {
        self.message(session)?.at
    }

    /// The message that it is part of.
    fn message<'s>(&self, session: &'s Session) -> Option<&'s Message> {
        let message = match self.kind {
            RowKind::Message(at) => at,
            RowKind::Call(index) => {
                let call = session.calls.get(index as usize)?;
                session.turn(call.at.turn)?.messages.start
            }
            RowKind::Result(index) => session.calls.get(index as usize)?.result?,
            RowKind::Choice(..) | RowKind::Rule(_) => return None,
        };
        session.messages.get(message)
    }

    /// Whether it is a result that the recording marks as failed.
    pub fn is_error(&self, session: &Session) -> bool {
        matches!(self.kind, RowKind::Result(index)
            if session.calls.get(index as usize).is_some_and(|call| call.outcome == Outcome::Error))
    }

    /// The tool of the call that it shows.
    pub fn tool<'s>(&self, session: &'s Session) -> Option<&'s str> {
        match self.kind {
            RowKind::Call(index) => session.calls.get(index as usize).map(|call| &*call.tool),
            RowKind::Choice(..) => self.not_taken(session).map(|proposal| &*proposal.call.tool),
            _ => None,
        }
    }

    /// Whether its text contains `query` (lower case), whatever the case.
    pub fn contains(&self, session: &Session, query: &str) -> bool {
        self.tool(session).is_some_and(|tool| contains(tool, query))
            || self.body(session).is_some_and(|body| contains(body.shown(), query))
            || contains(self.speaker(session), query)
    }
}

/// JSON that was recorded over several lines, on one; other text as it is. What is too long for a screen anyway
/// is left alone.
pub fn one_line(body: &Body) -> Cow<'_, str> {
    const LONG: usize = 16 * 1024;
    let text = body.shown();
    match body.parsed() {
        Some(value) if text.len() <= LONG && text.contains('\n') => value.to_string().into(),
        _ => text.into(),
    }
}

/// Bytes of a query that are compared place by place.
const SHORT: usize = 64;

/// The position of `query` (lower case) in `text`, in any case.
pub fn find(text: &str, query: &str) -> Option<usize> {
    if !contains(text, query) {
        return None;
    }
    if query.is_ascii() {
        return text.to_ascii_lowercase().find(query);
    }
    // Lower case may be longer or shorter: the position is counted in characters, which is right with very few
    // exceptions.
    let lower = text.to_lowercase();
    let before = lower.get(..lower.find(query)?)?.chars().count();
    text.char_indices().nth(before).map(|(at, _)| at)
}

/// Whether `text` contains `query` (lower case), whatever the case.
pub fn contains(text: &str, query: &str) -> bool {
    let wanted = query.as_bytes();
    if wanted.is_empty() {
        return true;
    }
    if !query.is_ascii() {
        return text.to_lowercase().contains(query);
    }
    if wanted.len() > SHORT {
        // At each place of the text a long query may be compared nearly to its end: then a copy costs less.
        return text.len() >= wanted.len() && text.to_ascii_lowercase().contains(query);
    }
    text.as_bytes().windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rulestep_base::session::Origin;
    use rulestep_base::session::build::{Builder, Mark};

    /// Three turns: a check, two refunds, a closing word.
    fn refunds() -> Session {
        let origin = Origin { file: "refunds.json".into(), index: 0, format: "native", line: 1 };
        let mut made = Builder::new("refunds", origin);
        let turns: [(&str, &str, &[&str]); 2] = [
            ("refund 123", "Let me check.", &["check_eligibility"]),
            ("and 124 too", "", &["issue_refund", "issue_refund"]),
        ];
        for (asked, said, tools) in turns {
            made.said("user", Body::text(asked), None);
            made.response(None, if said.is_empty() { Body::MISSING } else { Body::text(said) }, None);
            for tool in tools {
                made.call(None, tool, Body::text("{}"), None);
            }
            for _ in tools {
                made.result(None, Body::text("{}"), Mark::default(), None);
            }
        }
        made.response(None, Body::text("Done."), None);
        made.finish()
    }

    #[test]
    fn rows_are_in_recorded_order() {
        let session = refunds();
        let rows = Rows::of(&session);
        let shown: Vec<String> = (0..rows.len())
            .map(|at| {
                let row = rows.get(at).unwrap();
                format!("T{} {}", row.turn, row.speaker(&session))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "T1 user",
                "T1 assistant",
                "T1 call",
                "T1 result",
                "T2 user",
                "T2 call",
                "T2 call",
                "T2 result",
                "T2 result",
                "T3 assistant",
            ]
        );
        assert_eq!(rows.of_call(1), Some(5));
        assert_eq!(rows.of_turn(2), Some(4));
        assert_eq!(rows.of_turn(9), None);
        assert_eq!(rows.call_at(4, &session), Some(1), "words lead to the first call");
        assert_eq!(rows.seek(2, true, |row| matches!(row.kind, RowKind::Call(_))), Some(5));
        assert_eq!(rows.seek(5, false, |row| matches!(row.kind, RowKind::Call(_))), Some(2));
    }

    #[test]
    fn searching_does_not_mind_case() {
        assert!(contains("An Order ORD-1", "ord-1"));
        assert!(contains("Größe", "grö"));
        assert!(!contains("ab", "abc"));
    }

    #[test]
    fn json_over_lines_is_shown_on_one() {
        assert_eq!(one_line(&Body::text("{\n  \"a\": 1\n}")), "{\"a\":1}");
        assert_eq!(one_line(&Body::text("{ \"a\": 1 }")), "{ \"a\": 1 }");
        assert_eq!(one_line(&Body::text("two\nlines")), "two\nlines");
    }
}
