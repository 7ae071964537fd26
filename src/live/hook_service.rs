//! Handles one event of an agent: records it in the journal, and answers the agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::agent::{Agent, Answer, Event, Report};
use super::arguments;
use super::deciding::{self, Decided};
pub use super::earlier::NewCall;
use super::earlier::{Earlier, earlier, is_sibling, resolved};
use super::fault::Fault;
use super::followed::Followed;
use super::journal::Journal;
use super::policy::{self, Current};
use super::reason::reason;
use super::record::{Json, Judged, Opened, Proposed, Record, SCHEMA};
use super::self_guard::SelfGuard;
use super::transcript::Tail;
use super::tree::{Clock, Place};
use rulestep_base::session::{Body, Millis, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::{Mode, Run, Verdict};

/// How events are answered.
#[derive(Debug, Clone)]
pub struct HookService {
    /// The name of the agent.
    pub agent: &'static str,
    /// The format of its own logs, if it keeps any.
    pub transcripts: Option<&'static str>,
    /// The folder of all journals.
    pub folder: PathBuf,
    /// The policy as the user named it.
    pub policy: String,
    /// The rules by which the gate guards itself; `None`: `--no-self-guard`.
    pub guard: Option<SelfGuard>,
    /// The home folder, which rules call `~`.
    pub home: Option<String>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// Whether a person can be asked about a call; otherwise `ask` becomes `deny`.
    pub asks: bool,
    /// How long to wait for the journal's lock.
    pub wait: Duration,
}

/// A call whose decision is in the journal.
struct Recorded {
    id: String,
    at: Option<Millis>,
    /// The message to the model instead of a result, if the call was stopped.
    told: Option<String>,
    /// The session and run of the decision, kept until it is answered.
    parts: Option<(Session, Run)>,
}

impl HookService {
    /// Answers an event, for tests. `began` is when it arrived.
    ///
    /// # Errors
    /// It cannot be decided or recorded.
    pub fn answer(&self, report: &Report, began: Instant) -> Result<Answer, Fault> {
        self.answer_event(report, began, false)
    }

    /// Answers an event in a process that then ends, so that memory need not be freed.
    ///
    /// # Errors It cannot be decided or recorded.
    pub fn answer_and_end(&self, report: &Report, began: Instant) -> Result<Answer, Fault> {
        self.answer_event(report, began, true)
    }

    /// The same in a process that follows the session.
    ///
    /// # Errors
    /// It cannot be recorded.
    pub fn answer_following(&self, report: &Report, followed: &mut Followed) -> Result<Answer, Fault> {
        let clock = Clock(None);
        followed.with(self.wait, || self.journal(report), |journal, _| self.record(report, journal, clock))
    }

    fn answer_event(&self, report: &Report, began: Instant, ends: bool) -> Result<Answer, Fault> {
        match &report.event {
            Event::Nothing => Ok(Answer::Silent),
            Event::Propose { id, tool, arguments } => {
                let call = NewCall { id: id.as_deref(), tool, arguments, sibling: None };
                self.decide_as(report, &call, began, ends)
            }
            Event::Resolve { .. } | Event::Prompt(_) | Event::End => {
                self.with_journal(report, false, |journal, clock| self.record(report, journal, clock))
            }
        }
    }

    /// Records an event that nothing is decided about.
    fn record(&self, report: &Report, journal: &mut Journal, clock: Clock<'_>) -> Result<Answer, Fault> {
        match &report.event {
            Event::Nothing | Event::Propose { .. } => {}
            Event::Resolve { id, tool, arguments, outcome, output } => {
                if let Some(id) = resolved(journal, id.as_deref(), tool, arguments.as_ref())? {
                    let output = Json(output);
                    // Reported after another call was decided as if this one ran, a refusal is a failure.
                    let outcome = if *outcome == "refused" && !clock.is_last(journal, &id) {
                        "error"
                    } else {
                        *outcome
                    };
                    let resolved = Record::Resolved { id: &id, outcome, output, at: clock.now() };
                    clock.save()?;
                    journal.append(&resolved.line())?;
                }
            }
            Event::Prompt(text) => {
                let ended = self.ended(report, journal, clock);
                // Messages before the first call are in the log when that call is made.
                if !(journal.is_new() && self.log(report).is_some()) {
                    let mut records = ended;
                    if journal.is_new() {
                        records = self.opened(report, None, clock);
                    }
                    let content = Body::text(text.as_str());
                    records +=
                        &Record::Said { role: "user", content: Json(&content), at: clock.now() }.line();
                    clock.save()?;
                    journal.append(&records)?;
                }
            }
            Event::End => {
                if !journal.is_new() {
                    // Calls that the agent made or rejected since the last one that it asked about.
                    let tail = self.tail(report, journal).ok().flatten();
                    let latest = journal.latest()?;
                    let import = tail.map(|tail| tail.import(journal, Some(&latest), None, clock));
                    let mut ended = import.map(|import| import.records).unwrap_or_default();
                    ended += &self.ended_before(report, journal, &[], clock);
                    let closed = Record::Closed { at: clock.now() };
                    clock.save()?;
                    journal.append(&format!("{ended}{}", closed.line()))?;
                }
            }
        }
        Ok(Answer::Silent)
    }

    /// Answers with the session's journal, which has its tree's lock if a policy `looks` at the whole tree, or has
    /// before. If its index does not match, that is found before anything is recorded, and the answer is made again
    /// from the whole journal.
    pub(super) fn with_journal(
        &self,
        report: &Report,
        looks: bool,
        answer: impl Fn(&mut Journal, Clock<'_>) -> Result<Answer, Fault>,
    ) -> Result<Answer, Fault> {
        let folder = self.own_folder();
        let place = Place { folder: &folder, root: &report.session, wait: self.wait };
        let member = report.subagent.as_deref();
        let mut tree = place.lock(member, looks)?;
        let mut journal = self.journal(report)?;
        if tree.is_none() && place.is_watched() {
            // A policy has just begun to look at the tree, and its lock comes first.
            drop(journal);
            tree = place.lock(member, true)?;
            journal = self.journal(report)?;
        }
        let clock = Clock(tree.as_ref());
        let first = answer(&mut journal, clock);
        if !journal.misread() {
            return first;
        }
        journal.read()?;
        answer(&mut journal, clock)
    }

    /// The folder of the agent's journals.
    fn own_folder(&self) -> PathBuf {
        self.folder.join(self.agent)
    }

    fn journal(&self, report: &Report) -> Result<Journal, Fault> {
        let folder = self.own_folder();
        let place = Place { folder: &folder, root: &report.session, wait: self.wait };
        Journal::open(&folder, &place.name(report.subagent.as_deref()), self.wait)
    }

    /// Decides a call. `began` is when it arrived. What is `followed` of the session is not read again.
    ///
    /// # Errors
    /// It cannot be decided or recorded.
    pub fn decide(
        &self,
        report: &Report,
        call: &NewCall<'_>,
        began: Instant,
        followed: &mut Followed,
    ) -> Result<Answer, Fault> {
        let current = policy::load(&self.policy, &self.own_folder(), self.guard.as_ref())?;
        let open = || self.journal(report);
        followed.with(self.wait, open, |journal, played| {
            // No other session is in the tree of this one.
            let clock = Clock(None);
            let decide = |journal: &Journal, added: &str, beside: bool| {
                let whole = beside || current.policy.sees_trees();
                let decided =
                    if whole { None } else { played.decide(journal, &current.policy, self.mode, added) };
                decided.map_or_else(|| self.decide_whole(journal, clock, &current.policy, added), Ok)
            };
            let (answer, decided) =
                self.decide_by(journal, &current, report, call, (began, clock), decide)?;
            if let Some(Recorded { id, at, told, .. }) = decided {
                played.settle(journal, &id, at, told.as_deref());
            }
            Ok(answer)
        })
    }

    fn decide_as(
        &self,
        report: &Report,
        call: &NewCall<'_>,
        began: Instant,
        ends: bool,
    ) -> Result<Answer, Fault> {
        let current = policy::load(&self.policy, &self.own_folder(), self.guard.as_ref())?;
        self.with_journal(report, current.policy.sees_trees(), |journal, clock| {
            let decide =
                |journal: &Journal, added: &str, _| self.decide_whole(journal, clock, &current.policy, added);
            let (answer, recorded) =
                self.decide_by(journal, &current, report, call, (began, clock), decide)?;
            if ends {
                // Freeing a long session takes longer than everything that is left to do.
                std::mem::forget(recorded.map(|recorded| recorded.parts));
            }
            Ok(answer)
        })
    }

    /// Decides by what the journals hold.
    fn decide_whole(
        &self,
        journal: &Journal,
        Clock(tree): Clock<'_>,
        policy: &Arc<Policy>,
        added: &str,
    ) -> Result<Decided, Fault> {
        if !policy.sees_trees() {
            return deciding::decide(journal, policy, self.mode, added);
        }
        let tells = Agent::named(self.agent).is_some_and(Agent::tells_subagents);
        deciding::decide_in_tree(journal, tree, tells, policy, self.mode, added)
    }

    fn decide_by(
        &self,
        journal: &mut Journal,
        current: &Current,
        report: &Report,
        call: &NewCall<'_>,
        (began, clock): (Instant, Clock<'_>),
        decide: impl FnOnce(&Journal, &str, bool) -> Result<Decided, Fault>,
    ) -> Result<(Answer, Option<Recorded>), Fault> {
        arguments::readable(call.arguments)?;
        let judge = (&**current.policy.digest(), self.mode);
        // The name of this decision if another policy has decided the call already.
        let mut beside = None;
        if let Some(id) = call.id {
            match earlier(journal, id, call, judge) {
                Some(Earlier::Own(answer)) => return Ok((answer, None)),
                Some(Earlier::AnotherPolicy) => {
                    let name = format!("{id} ({} {})", judge.0, judge.1.word());
                    if let Some(Earlier::Own(answer)) = earlier(journal, &name, call, judge) {
                        return Ok((answer, None));
                    }
                    beside = Some(name);
                }
                None => {}
            }
        }
        let latest = if journal.is_new() { None } else { Some(journal.latest()?) };
        let tail = match self.tail_for(report, journal, call) {
            // What is missing from the log cannot change this decision. It is read again for a call for which it can.
            Err(_) if !current.policy.remembers(call.tool) => None,
            tail => tail?,
        };
        let mut records = String::new();
        if latest.is_none() {
            records += &self.opened(report, tail.as_ref(), clock);
        }
        // The call of an additional decision has its turn already.
        let sibling = beside.as_ref().map(|_| true).or(call.sibling).filter(|_| latest.is_some());
        let is_ahead = tail.as_ref().is_some_and(|tail| tail.is_ahead(journal, call.id));
        if is_ahead || !sibling.unwrap_or_else(|| is_sibling(latest.as_ref(), tail.as_ref(), call.id)) {
            let import = tail.as_ref().map(|tail| tail.import(journal, latest.as_ref(), call.id, clock));
            let import = import.unwrap_or_default();
            records += &import.records;
            let known = tail.as_ref().map(|tail| tail.ends(journal, clock)).unwrap_or_default();
            records += &self.ended_before(report, journal, &known, clock);
            records += &Record::Turn { at: clock.now(), transcript: import.until }.line();
        }
        let made = format!("call-{}", journal.calls() + 1);
        let folder = self.folder_of(report, call, tail.as_ref());
        let mut proposed = Proposed {
            id: beside.as_deref().or(call.id).unwrap_or(&made),
            tool: call.tool,
            arguments: Json(call.arguments),
            at: clock.now(),
            cwd: folder.as_deref(),
            judged: None,
        };
        let undecided = proposed_line(&proposed);
        let added = format!("{records}{undecided}");
        let decided = decide(journal, &added, beside.is_some())?;
        let Decided { decision, findings, parts, kept, seen } = decided;
        let runs = self.mode == Mode::Shadow || decision.verdict == Verdict::Allow;
        if beside.is_some() && runs {
            // The journal has the call; a second one would count against it.
            return Ok((Answer::Silent, None));
        }
        let told = (!runs).then(|| reason(decision.verdict, &findings, self.asks));
        let Current { policy, place, fault } = current;
        proposed.judged = Some(Judged {
            policy: policy.digest(),
            policy_from: Some(place),
            policy_fault: fault.as_deref(),
            tree: seen.as_ref(),
            took: (began.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            ..Judged::new(&decision, &findings, told.as_deref(), self.mode, self.asks)
        });
        let stopped = proposed.judged.as_ref().is_some_and(|judged| judged.runs == Some(false));
        let (id, at) = (proposed.id.to_owned(), proposed.at);
        let recorded = Recorded { id, at, told: told.clone().filter(|_| stopped), parts };
        let recorded = Some(recorded).filter(|_| beside.is_none());
        clock.proposed(proposed.id);
        records += &Record::Proposed(proposed).line();
        clock.save()?;
        journal.append(&records)?;
        if let Some((records, run)) = kept {
            journal.keep(policy, records, &run);
        }
        let answer = told.map_or(Answer::Silent, |told| match decision.verdict {
            Verdict::Halt | Verdict::NotReached => Answer::Halt(told),
            Verdict::Ask if self.asks => Answer::Ask(told),
            _ => Answer::Deny(told),
        });
        Ok((answer, recorded))
    }

    /// Which of these tools the model should see now. The part of the session that is `followed` is not read again.
    ///
    /// # Errors The policy or the journal cannot be read.
    pub fn visible(
        &self,
        report: &Report,
        offered: &[String],
        followed: &mut Followed,
    ) -> Result<Vec<Arc<str>>, Fault> {
        let current = policy::load(&self.policy, &self.own_folder(), self.guard.as_ref())?;
        let open = || {
            let mut journal = self.journal(report)?;
            if journal.is_new() {
                journal.append(&self.opened(report, None, Clock(None)))?;
            }
            Ok(journal)
        };
        let mut run = followed.run(&current.policy, self.wait, open)?;
        run.begin_turn(Clock(None).now());
        let offered: Vec<Arc<str>> = offered.iter().map(|tool| Arc::from(tool.as_str())).collect();
        let narrowed = run.narrow(&offered);
        Ok(narrowed.into_iter().filter(|tool| tool.visible()).map(|tool| tool.tool).collect())
    }

    pub(super) fn opened(&self, report: &Report, tail: Option<&Tail>, clock: Clock<'_>) -> String {
        let context = tail.and_then(Tail::context);
        let mut context = context.or_else(|| report.folder.as_ref().map(|folder| json!({"cwd": folder})));
        if let Some(home) = &self.home {
            let context = context.get_or_insert_with(|| json!({}));
            if let Some(context) = context.as_object_mut() {
                context.insert("home".to_owned(), json!(home));
            }
        }
        let middle = tail.is_some_and(Tail::starts_in_the_middle);
        let opened = Opened {
            schema: SCHEMA,
            agent: self.agent,
            session: report.subagent.as_ref().unwrap_or(&report.session),
            parent: report.subagent.as_ref().map(|_| &*report.session),
            at: clock.now(),
            context,
            variables: None,
            files: None,
            middle: middle.then_some("the agent's log does not hold the beginning of the session"),
        };
        Record::Opened(opened).line()
    }
}

/// The line of a call before anything is decided about it.
fn proposed_line(call: &Proposed<'_>) -> String {
    let Proposed { id, tool, arguments, at, cwd, .. } = call;
    let arguments = Json(arguments.0);
    Record::Proposed(Proposed { id, tool, arguments, at: *at, cwd: *cwd, judged: None }).line()
}
