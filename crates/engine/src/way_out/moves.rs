//! The calls that a way out can be made of: those that the units name, with the values that they require.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::monitor::fault::guarded;
use crate::monitor::{Enabler, Wakes};
use crate::policy::Policy;
use crate::replay::Replay;
use crate::run::{NewCall, Run};
use rulestep_base::session::edit::AddedCall;
use rulestep_base::session::{Body, Call, Outcome, Results, value};

/// Most different calls that are tried. Only rules that contradict each other in many ways need more.
const MOST: usize = 48;

/// The tools that calls can be of.
pub(super) struct Tools {
    known: BTreeSet<Arc<str>>,
    /// Whether the recording says that there are no others.
    offered: bool,
}

impl Tools {
    /// The tools offered in the call's turn, if the recording lists them; else the known tools.
    pub fn of(replay: &Replay, call: &Call) -> Tools {
        match replay.session().offered_in(call.at.turn) {
            Some(offered) => {
                Tools { known: offered.iter().map(|tool| Arc::clone(&tool.name)).collect(), offered: true }
            }
            None => Tools::known(replay, call),
        }
    }

    /// Those that rules name and earlier calls have.
    pub fn known(replay: &Replay, call: &Call) -> Tools {
        let named = replay.policy().names().iter().cloned();
        let calls = replay.session().calls.iter().take(call.at.index as usize + 1);
        Tools { known: named.chain(calls.map(|call| Arc::clone(&call.tool))).collect(), offered: false }
    }

    pub fn are_offered(&self) -> bool {
        self.offered
    }

    pub fn has(&self, tool: &str) -> bool {
        self.known.contains(tool)
    }

    /// A name that no tool has.
    fn unknown(&self) -> Arc<str> {
        let mut name = "another_tool".to_owned();
        while self.has(&name) {
            name.push('_');
        }
        name.into()
    }
}

/// The moves of a search.
pub(super) struct Moves {
    calls: Vec<AddedCall>,
    /// Which of them represent any other call.
    any: Vec<bool>,
    /// Number of them that enable the stopped call itself: they are the first.
    direct: usize,
    /// Whether a turn without calls can help.
    pub turns: bool,
    /// Whether no other call could help.
    complete: bool,
}

impl Moves {
    /// The calls that can help a call, those that can help these, and so on.
    pub fn of(run: &mut Run, goal: &Call, earlier: &[Call], tools: &Tools, policy: &Policy) -> Moves {
        let mut making = Making {
            tools,
            results: run.results() == Results::Recorded,
            letters: Vec::new(),
            moves: Moves { calls: Vec::new(), any: Vec::new(), direct: 0, turns: false, complete: true },
        };
        let mut any = making.ask(run, goal, earlier, None);
        making.moves.direct = making.letters.len();
        let (mut next, mut spread) = (0, false);
        loop {
            if any && !spread {
                spread = true;
                making.add_any(policy);
            }
            let Some(letter) = making.letters.get(next).cloned() else { break };
            any |= making.ask(run, goal, earlier, Some((next, &letter)));
            next += 1;
        }
        making.finish()
    }

    /// The calls.
    pub fn calls(&self) -> &[AddedCall] {
        &self.calls
    }

    /// Whether the call at this index represents any other call.
    pub fn is_any(&self, place: usize) -> bool {
        self.any.get(place) == Some(&true)
    }

    /// The calls that enable the stopped call itself.
    pub fn direct(&self) -> impl Iterator<Item = &AddedCall> {
        self.calls.iter().take(self.direct)
    }

    /// Whether no other call could help.
    pub fn are_complete(&self) -> bool {
        self.complete
    }
}

/// A call with its required values.
#[derive(Clone, PartialEq)]
struct Letter {
    help: Enabler,
    failed: bool,
    /// Whether it represents any other call.
    any: bool,
    /// Whether it lacks a value that its own rules require, so that it is never made as it is.
    lacking: bool,
}

struct Making<'a> {
    tools: &'a Tools,
    /// Whether the recording keeps results.
    results: bool,
    letters: Vec<Letter>,
    moves: Moves,
}

impl Making<'_> {
    /// Asks what helps a call: the stopped one, or one that is to help. Whether any call at all would.
    fn ask(&mut self, run: &mut Run, goal: &Call, earlier: &[Call], of: Option<(usize, &Letter)>) -> bool {
        let arguments = of.map_or_else(|| goal.arguments.clone(), |(_, letter)| arguments(&letter.help));
        let tool = of.map_or(&goal.tool, |(_, letter)| &letter.help.tool);
        let enablers = run.enablers(NewCall { tool, arguments: &arguments }, &goal.arguments, earlier);
        self.moves.turns |= enablers.turns;
        self.moves.complete &= !enablers.unsure;
        if let Some((place, letter)) = of {
            for choice in enablers.choices.iter().filter(|choice| choice.missing) {
                if let Some(known) = self.letters.get_mut(place) {
                    known.lacking = true;
                }
                for value in &choice.values {
                    let more =
                        Enabler { arguments: Some(value.clone()), output: None, ..letter.help.clone() };
                    if let Some(help) = join(&letter.help, &more) {
                        self.add(Letter { help, ..letter.clone() });
                    }
                }
            }
        }
        for help in enablers.calls {
            if self.tools.has(&help.tool) || !self.tools.offered {
                self.add_joined(help);
            }
        }
        enablers.any
    }

    /// A call, and with it its joins with the known calls of the same tool: one call that does what both do.
    fn add_joined(&mut self, help: Enabler) {
        let known: Vec<Letter> = self
            .letters
            .iter()
            .filter(|letter| letter.help.tool == help.tool && !letter.failed)
            .cloned()
            .collect();
        self.add(Letter { help: help.clone(), failed: false, any: false, lacking: false });
        for letter in known {
            if let Some(help) = join(&letter.help, &help) {
                self.add(Letter { help, failed: false, any: false, lacking: false });
            }
        }
    }

    /// Adds one call of each tool that rules distinguish, and one of a tool that none of them knows, if there is one.
    fn add_any(&mut self, policy: &Policy) {
        let meaning = |tool: &Arc<str>| -> Option<Vec<Wakes>> {
            policy.units().iter().map(|unit| guarded(|| unit.wakes(tool)).ok()).collect()
        };
        let unknown = self.tools.unknown();
        let nothing = meaning(&unknown);
        let known = self.tools.known.iter().chain((!self.tools.offered).then_some(&unknown));
        let plain = nothing.as_ref().is_some_and(|means| means.iter().all(|wakes| !wakes.decide));
        let neutral = known.clone().find(|tool| plain && meaning(tool) == nothing);
        let mut told_apart: Vec<(Option<Vec<Wakes>>, &Arc<str>)> = Vec::new();
        for tool in known {
            let means = meaning(tool);
            if means.is_none() || told_apart.iter().all(|(other, _)| *other != means) {
                told_apart.push((means, tool));
            }
        }
        let each = match neutral {
            Some(tool) => vec![Arc::clone(tool)],
            None => told_apart.into_iter().map(|(_, tool)| Arc::clone(tool)).collect(),
        };
        for tool in each {
            for failed in [false, true] {
                let help = Enabler { tool: Arc::clone(&tool), arguments: None, output: None };
                self.add(Letter { help, failed, any: true, lacking: false });
            }
        }
    }

    fn add(&mut self, letter: Letter) {
        let same = |known: &Letter| known.help == letter.help && known.failed == letter.failed;
        if self.letters.iter().any(same) {
            return;
        }
        if self.letters.len() == MOST {
            self.moves.complete = false;
            return;
        }
        self.letters.push(letter);
    }

    fn finish(self) -> Moves {
        let Making { results, letters, mut moves, .. } = self;
        let direct = letters.iter().take(moves.direct).filter(|letter| !letter.lacking).count();
        moves.direct = direct;
        for Letter { help, failed, any, .. } in letters.into_iter().filter(|letter| !letter.lacking) {
            // If results are not kept, every call counts as one that succeeded.
            if failed && !results {
                continue;
            }
            moves.any.push(any);
            moves.calls.push(AddedCall {
                arguments: arguments(&help),
                outcome: if failed { Outcome::Error } else { Outcome::Ok },
                content: if results { body(help.output.as_ref()) } else { Body::MISSING },
                tool: help.tool,
            });
        }
        moves
    }
}

/// Both in one call, if they do not contradict each other.
fn join(a: &Enabler, b: &Enabler) -> Option<Enabler> {
    let both = |a: &Option<Value>, b: &Option<Value>| match (a, b) {
        (Some(a), Some(b)) => value::join(a, b).map(Some),
        (Some(one), None) | (None, Some(one)) => Some(Some(one.clone())),
        (None, None) => Some(None),
    };
    Some(Enabler {
        tool: Arc::clone(&a.tool),
        arguments: both(&a.arguments, &b.arguments)?,
        output: both(&a.output, &b.output)?,
    })
}

fn arguments(help: &Enabler) -> Body {
    body(help.arguments.as_ref())
}

fn body(value: Option<&Value>) -> Body {
    let nothing = Value::Object(Map::new());
    Body::json(&value.unwrap_or(&nothing).to_string())
}
