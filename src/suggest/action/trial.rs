//! Candidates tried by the engine: which recorded calls count for a rule, and which against it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claim::{Action, ActionRule, ActionSuggestion};
use super::observe::Did;
use super::written::document;
use crate::explore::occurrence::{Extent, Occurrence, Place};
use rulestep_base::session::{Call, Outcome, Session};
use rulestep_engine::monitor::{Effect, RuleId};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_shell::facts::Table;
use rulestep_shell::reading::{Made, reading};
use rulestep_shell::{Act, Line};

/// The results of candidates.
pub struct Trial {
    /// The rule.
    pub rule: ActionRule,
    /// Calls that it lets pass.
    pub calls: u64,
    /// Sessions with such calls.
    pub sessions: u64,
    /// Calls that certainly break it.
    pub against: u64,
    /// Calls that it stops because of a doubt.
    pub unsure: u64,
    /// The first and the last call that it stops.
    pub extent: Extent,
}

/// Candidates as a policy, with the rule of each. One that does not load must not take the others with it.
fn load(candidates: &[ActionRule]) -> Option<(Arc<Policy>, Vec<RuleId>)> {
    let plain: Vec<&ActionRule> = candidates.iter().collect();
    let text = document(&plain, &|_| Vec::new(), false);
    let name: Arc<str> = ActionSuggestion::FILE.into();
    let file = PolicyFile { relative: Arc::clone(&name), name, text: text.as_str().into(), named: true };
    let policy = Policy::load(&[file], None).policy?;
    let known: BTreeMap<&str, RuleId> = policy.rules().iter().map(|(id, rule)| (&*rule.id, id)).collect();
    let id = |at: usize| known.get(format!("{}#/rules/{at}", ActionSuggestion::FILE).as_str()).copied();
    let ids: Option<Vec<RuleId>> = (0..candidates.len()).map(id).collect();
    let ids = ids?;
    Some((policy, ids))
}

/// Replays every session under all candidates. Nothing takes effect, so that each is asked about the recorded history.
pub fn tried(candidates: &[ActionRule], sessions: &[Arc<Session>]) -> Vec<Trial> {
    let loads = |candidates: &[ActionRule]| load(candidates).map(|loaded| (candidates.to_vec(), loaded));
    let loaded = loads(candidates).or_else(|| {
        let good: Vec<ActionRule> =
            candidates.iter().filter(|one| load(std::slice::from_ref(one)).is_some()).cloned().collect();
        loads(&good)
    });
    let Some((candidates, (policy, ids))) = loaded.filter(|(candidates, _)| !candidates.is_empty()) else {
        return Vec::new();
    };
    let start = |rule: ActionRule| Trial {
        rule,
        calls: 0,
        sessions: 0,
        against: 0,
        unsure: 0,
        extent: Extent::default(),
    };
    let mut trials: Vec<Trial> = candidates.into_iter().map(start).collect();
    for session in sessions {
        let replay = Replay::new(session, &policy, Mode::Shadow);
        let lines: Vec<_> = session
            .calls
            .iter()
            .map(|call| (call, reading(Made::of(call, &session.facts), &Table::default())))
            .collect();
        for (trial, id) in trials.iter_mut().zip(&ids) {
            let mut evidence = Evidence::default();
            for ((call, line), judged) in lines.iter().zip(replay.calls()) {
                let mut own = judged.decision.findings.iter().filter(|finding| finding.rule == *id);
                let about = evidence.is_about(&trial.rule, call, line);
                if call.copied {
                    continue;
                }
                if own.any(|finding| finding.effect > Effect::Report || finding.would.is_some()) {
                    let certain = about && evidence.is_exercised(&trial.rule);
                    *(if certain { &mut trial.against } else { &mut trial.unsure }) += 1;
                    trial.extent.add(Occurrence::of(session, Place::Call(call.at)));
                } else if call.outcome != Outcome::Refused {
                    evidence.calls += u64::from(about);
                }
            }
            trial.calls += evidence.calls;
            trial.sessions += u64::from(evidence.calls > 0 && evidence.is_exercised(&trial.rule));
        }
    }
    trials
}

/// The parts of a session that a rule certainly concerns.
#[derive(Default)]
struct Evidence {
    calls: u64,
    /// Something after which the rule forbids, or that it would forbid a second time.
    trigger: bool,
}

impl Evidence {
    /// Whether the rule certainly matches a call. The other calls that it stops match only perhaps.
    fn is_about(&mut self, rule: &ActionRule, call: &Call, line: &Line) -> bool {
        let runs = |wanted: &Action| line.calls.iter().filter_map(Action::of).any(|one| wanted.means(&one));
        match rule {
            ActionRule::Needs { then, .. } => runs(then),
            ActionRule::KnownFiles(tool) => {
                let mut touches = line.calls.iter().flat_map(|call| &call.touches);
                call.tool == *tool
                    && touches.any(|touch| touch.act == Act::Writes && touch.place.unclear().is_none())
            }
            ActionRule::DeletesInside => Did::of(line).deletes,
            ActionRule::WritesInside => Did::of(line).writes,
            ActionRule::SecretsStay => {
                self.trigger |= Did::of(line).secret;
                Did::of(line).reaches
            }
            ActionRule::NeverAfter { trigger, forbidden } => {
                self.trigger |= runs(trigger);
                runs(forbidden)
            }
            ActionRule::Once(action) => runs(action),
        }
    }

    /// Whether something in the session could have broken the rule so far.
    fn is_exercised(&self, rule: &ActionRule) -> bool {
        match rule {
            ActionRule::SecretsStay | ActionRule::NeverAfter { .. } => self.trigger,
            _ => true,
        }
    }
}
