//! A filter made ready for many sessions: what it asks of names is answered once for each name.

use std::sync::Arc;

use regex::Regex;

use super::filter::{Field, Filter, State, Test};
use super::names::{Name, Names};
use super::rows::{Event, SessionRow, bit};
use crate::replay::Replay;
use crate::session::Session;

/// A filter, and the names that it lets pass.
#[derive(Debug)]
pub struct Sieve {
    of_session: Vec<Asked>,
    /// Those about one and the same call, what costs most to answer last.
    of_event: Vec<Asked>,
}

#[derive(Debug)]
struct Asked {
    negated: bool,
    test: Test,
    /// For each name, whether the test's pattern is found in it.
    named: Vec<bool>,
}

impl Sieve {
    /// Of a filter, for rows with these names.
    pub fn new(filter: &Filter, names: &Names) -> Sieve {
        let asked = filter.terms().iter().map(|term| Asked {
            negated: term.negated,
            test: term.test.clone(),
            named: match &term.test {
                Test::Field(Field::Id, _) => Vec::new(),
                Test::Field(_, pattern) => names.test(|text| pattern.is_match(text)),
                _ => Vec::new(),
            },
        });
        let (of_session, mut of_event): (Vec<Asked>, Vec<Asked>) = asked.partition(Asked::is_of_session);
        of_event.sort_by_key(|asked| asked.text().is_some());
        Sieve { of_session, of_event }
    }

    /// Whether a session passes. Terms about calls speak of one and the same call: `tool:deploy is:error` wants a deployment
    /// that failed, not a deployment and a failure. Where all of them are negated no call may match any: `!tool:deploy` wants
    /// sessions that deploy nothing.
    ///
    /// Of a file that could not be read nobody knows what is in it, so it passes unless its name is what is asked for.
    pub fn passes(&self, row: &SessionRow) -> bool {
        if row.session.is_none() {
            let by_file = |asked: &&Asked| matches!(asked.test, Test::Field(Field::File, _));
            return self.of_session.iter().filter(by_file).all(|asked| asked.of_row(row) != asked.negated);
        }
        if !self.of_session.iter().all(|asked| asked.of_row(row) != asked.negated) {
            return false;
        }
        // A word may as well be in what is said of the whole session.
        let said: Vec<bool> = self.of_event.iter().map(|asked| asked.of_row(row)).collect();
        let terms = || self.of_event.iter().zip(&said);
        let all_negated = self.of_event.iter().all(|asked| asked.negated);
        let passes = |(at, event): (usize, &Event)| {
            terms().all(|(asked, said)| (*said || asked.of_event(row, at, event)) != asked.negated)
        };
        let mut events = row.events().iter().enumerate();
        let whole = terms().all(|(asked, said)| *said != asked.negated);
        if all_negated { whole && events.all(passes) } else { whole || events.any(passes) }
    }
}

impl Asked {
    fn text(&self) -> Option<&Regex> {
        match &self.test {
            Test::Field(Field::Text, pattern) => Some(pattern),
            _ => None,
        }
    }

    /// Whether it is the same for all calls of a session.
    fn is_of_session(&self) -> bool {
        match &self.test {
            Test::Field(field, _) => !matches!(field, Field::Text | Field::Tool | Field::Rule | Field::Code),
            Test::Since(_) | Test::Until(_) => true,
            Test::Is(state) => *state == State::Changed,
            Test::Turn(_) => false,
        }
    }

    fn knows(&self, name: Option<Name>) -> bool {
        name.and_then(|name| self.named.get(name.at())).copied().unwrap_or(false)
    }

    /// Whether it is so of the session as a whole.
    fn of_row(&self, row: &SessionRow) -> bool {
        let session = row.session.as_deref();
        match &self.test {
            Test::Field(Field::File, _) => self.knows(Some(row.file)),
            Test::Field(Field::Project, _) => self.knows(row.project),
            Test::Field(Field::Branch, _) => self.knows(row.branch),
            Test::Field(Field::Agent, _) => self.knows(row.agent),
            Test::Field(Field::Format, _) => self.knows(row.format),
            Test::Field(Field::Id, pattern) => session.is_some_and(|session| pattern.is_match(&session.id)),
            Test::Field(Field::Text, pattern) => {
                self.knows(Some(row.file))
                    || self.knows(row.project)
                    || session.is_some_and(|session| {
                        pattern.is_match(&session.id)
                            || session.title.as_deref().is_some_and(|title| pattern.is_match(title))
                    })
            }
            Test::Field(Field::Tool | Field::Rule | Field::Code, _) | Test::Turn(_) => false,
            Test::Is(state) => *state == State::Changed && row.changed.is_some_and(|changed| changed > 0),
            Test::Since(first) => row.began.is_some_and(|began| began >= *first),
            Test::Until(end) => row.began.is_some_and(|began| began < *end),
        }
    }

    /// Whether it is so of a call or a violated rule.
    fn of_event(&self, row: &SessionRow, at: usize, event: &Event) -> bool {
        match &self.test {
            Test::Field(Field::Tool, _) => self.knows(event.tool),
            Test::Field(Field::Rule, _) => {
                row.findings(event).iter().any(|(rule, _)| self.knows(Some(*rule)))
            }
            Test::Field(Field::Code, _) => {
                row.findings(event).iter().any(|(_, code)| self.knows(Some(*code)))
            }
            Test::Field(Field::Text, pattern) => match row.call(at) {
                Some(call) => self.knows(event.tool) || pattern.is_match(call.arguments.shown()),
                None => row.findings(event).iter().any(|(rule, _)| self.knows(Some(*rule))),
            },
            Test::Is(state) => event.states & bit(*state) != 0,
            Test::Turn(turns) => event.tool.is_some() && turns.contains(&event.turn),
            Test::Field(..) | Test::Since(_) | Test::Until(_) => false,
        }
    }
}

/// Whether a session passes, in which a comparison changes this much. Without its replay nothing was decided, so that no term
/// about decisions can match.
pub fn passes(
    filter: &Filter,
    session: &Arc<Session>,
    replay: Option<&Replay>,
    changed: Option<usize>,
) -> bool {
    let mut names = Names::default();
    let mut row = SessionRow::of(session, &mut names);
    row.changed = changed;
    if let Some(replay) = replay {
        row.judge(replay, &mut names);
    }
    Sieve::new(filter, &names).passes(&row)
}
