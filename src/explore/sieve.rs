//! A filter prepared for many sessions: its tests of names are evaluated once for each name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::filter::{Field, Filter, State, Test};
use super::names::{Name, Names};
use super::rows::{Event, SessionRow, bit};
use super::trigrams::Needed;
use rulestep_base::session::Session;
use rulestep_engine::replay::Replay;

/// A filter, and the names that it tests.
#[derive(Debug)]
pub struct Sieve<'n> {
    of_session: Vec<Asked<'n>>,
    /// Those about one and the same call, what costs most to answer last.
    of_event: Vec<Asked<'n>>,
}

#[derive(Debug)]
struct Asked<'n> {
    negated: bool,
    test: Test,
    names: &'n Names,
    /// For each name, whether it matches the test's pattern, once evaluated. Threads that evaluate it at once get the
    /// same result.
    named: Vec<AtomicU8>,
    /// The trigrams that texts must have.
    needed: Option<Needed>,
}

const UNKNOWN: u8 = 0;
const FOUND: u8 = 1;
const NOT_FOUND: u8 = 2;

impl<'n> Sieve<'n> {
    /// Of a filter, for rows with these names.
    pub fn new(filter: &Filter, names: &'n Names) -> Sieve<'n> {
        let asked = filter.terms().iter().map(|term| Asked {
            negated: term.negated,
            test: term.test.clone(),
            names,
            named: match &term.test {
                Test::Field(..) => (0..names.len()).map(|_| AtomicU8::new(UNKNOWN)).collect(),
                _ => Vec::new(),
            },
            needed: match &term.test {
                Test::Field(Field::Text, pattern) => Needed::of(pattern.as_str()),
                _ => None,
            },
        });
        let (of_session, mut of_event): (Vec<Asked<'_>>, Vec<Asked<'_>>) =
            asked.partition(Asked::is_of_session);
        of_event.sort_by_key(Asked::cost);
        Sieve { of_session, of_event }
    }

    /// Whether a session passes. Terms about calls must hold for the same call: `tool:deploy is:error` matches a
    /// deployment that failed, not a deployment and a failure. If all of them are negated no call may match any:
    /// `!tool:deploy` matches sessions that deploy nothing.
    ///
    /// The content of an unreadable file is unknown, so it passes unless the filter is about its name.
    pub fn passes(&self, row: &SessionRow) -> bool {
        if row.session.is_none() {
            let by_file = |asked: &&Asked<'_>| matches!(asked.test, Test::Field(Field::File, _));
            return self
                .of_session
                .iter()
                .filter(by_file)
                .all(|asked| asked.of_row(row, false) != asked.negated);
        }
        if !self.of_session.iter().all(|asked| asked.of_row(row, false) != asked.negated) {
            return false;
        }
        let texts = || self.of_event.iter().filter(|asked| asked.is_text());
        // Names alone may do; more texts can only let more calls pass.
        if texts().all(|asked| !asked.negated) {
            if self.a_call_passes(row, false) {
                return true;
            }
            if !texts().any(|asked| asked.may_be_in(row)) {
                return false;
            }
        }
        self.a_call_passes(row, true)
    }

    /// Whether a call or the session as a whole passes, with or without a look at texts.
    fn a_call_passes(&self, row: &SessionRow, look: bool) -> bool {
        if self.of_event.is_empty() {
            return true;
        }
        // A word may as well be in the texts of the whole session.
        let texts = self.of_event.iter().filter(|asked| asked.is_text()).map(|asked| {
            let look = look && asked.may_be_in(row);
            (asked, look, asked.of_row(row, look))
        });
        let texts: Vec<(&Asked<'_>, bool, bool)> = texts.collect();
        let others = || self.of_event.iter().filter(|asked| !asked.is_text());
        let content = texts.iter().any(|(_, look, said)| *look && !*said).then(|| row.content()).flatten();
        let passes = |(at, event): (usize, &Event)| {
            let text = |(asked, look, said): &(&Asked<'_>, bool, bool)| {
                (*said || asked.of_event(row, at, event, content.as_deref().filter(|_| *look)))
                    != asked.negated
            };
            others().all(|asked| asked.of_event(row, at, event, None) != asked.negated)
                && texts.iter().all(text)
        };
        let mut events = row.events().iter().enumerate();
        // For a session as a whole only tests of texts can hold.
        let whole = others().all(|asked| asked.negated)
            && texts.iter().all(|(asked, _, said)| *said != asked.negated);
        let all_negated = self.of_event.iter().all(|asked| asked.negated);
        if all_negated { whole && events.all(passes) } else { whole || events.any(passes) }
    }
}

impl Asked<'_> {
    fn is_text(&self) -> bool {
        matches!(self.test, Test::Field(Field::Text, _))
    }

    /// The most expensive tests come last.
    fn cost(&self) -> u8 {
        match self.test {
            Test::Field(Field::Text, _) => 2,
            Test::Field(..) => 1,
            Test::Is(_) | Test::Turn(_) | Test::Since(_) | Test::Until(_) => 0,
        }
    }

    /// Whether its pattern may be in the texts of a session.
    fn may_be_in(&self, row: &SessionRow) -> bool {
        self.needed.as_ref().is_none_or(|needed| row.trigrams.may_hold(needed))
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

    /// Whether its pattern is found in a name.
    fn knows(&self, name: Option<Name>) -> bool {
        let (Some(name), Test::Field(_, pattern)) = (name, &self.test) else { return false };
        let Some(known) = self.named.get(name.at()) else { return false };
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let found = self.names.test(name, |text| pattern.is_match(text));
                known.store(if found { FOUND } else { NOT_FOUND }, Ordering::Relaxed);
                found
            }
            known => known == FOUND,
        }
    }

    /// Whether the test holds for the session as a whole. Its texts are only read if they may match.
    fn of_row(&self, row: &SessionRow, look: bool) -> bool {
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
                    || session.filter(|_| look).is_some_and(|session| {
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
    fn of_event(&self, row: &SessionRow, at: usize, event: &Event, look: Option<&Session>) -> bool {
        match &self.test {
            Test::Field(Field::Tool, _) => self.knows(event.tool),
            Test::Field(Field::Rule, _) => {
                row.findings(event).iter().any(|(rule, _)| self.knows(Some(*rule)))
            }
            Test::Field(Field::Code, _) => {
                row.findings(event).iter().any(|(_, code)| self.knows(Some(*code)))
            }
            Test::Field(Field::Text, pattern) if event.tool.is_some() => {
                // Names are at hand, while the arguments may have to be read back.
                self.knows(event.tool)
                    || look
                        .and_then(|session| session.calls.get(at))
                        .is_some_and(|call| pattern.is_match(call.arguments.shown()))
            }
            Test::Field(Field::Text, _) => {
                row.findings(event).iter().any(|(rule, _)| self.knows(Some(*rule)))
            }
            Test::Is(state) => event.states & bit(*state) != 0,
            Test::Turn(turns) => event.tool.is_some() && turns.contains(&event.turn),
            Test::Field(..) | Test::Since(_) | Test::Until(_) => false,
        }
    }
}

/// Whether a session passes, in which a comparison changes this much. Without a replay there are no decisions, so that
/// no term about decisions can match.
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
