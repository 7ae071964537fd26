//! One event of an agent: what the journal gets, and what the agent reads.

use std::path::{Path, PathBuf};
#[cfg(feature = "proxy")]
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::agent::{Answer, Event, Report};
use super::deciding::{self, Decided};
use super::fault::Fault;
#[cfg(feature = "proxy")]
use super::followed::Followed;
use super::journal::Journal;
use super::policy::{self, Current};
use super::reason::reason;
use super::record::{Json, Judged, Opened, Proposed, Record, SCHEMA};
use super::transcript::{self, Tail};
use crate::engine::{Mode, Run, Verdict};
use crate::session::{Body, MessageKind, Millis, Session};

/// How events are answered.
#[derive(Debug, Clone)]
pub struct Desk {
    /// The name of the agent.
    pub agent: &'static str,
    /// The format of its own logs, where it keeps any.
    pub transcripts: Option<&'static str>,
    /// The folder of all journals.
    pub folder: PathBuf,
    /// The policy as it was asked for.
    pub policy: String,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// Whether somebody can be asked about a call; else what would be asked is denied.
    pub asks: bool,
    /// How long to wait for the journal's lock.
    pub wait: Duration,
}

/// A call that is proposed.
pub struct NewCall<'a> {
    /// Its id, where the agent has ids.
    pub id: Option<&'a str>,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Body,
    /// Whether it is of the same response as the call before, where that is known.
    pub sibling: Option<bool>,
}

/// A call whose decision is in the journal.
struct Recorded {
    id: String,
    at: Option<Millis>,
    /// What the model reads instead of a result, if the call was stopped.
    told: Option<String>,
    /// What the decision was made of, kept until it is answered.
    parts: Option<(Session, Run)>,
}

impl Desk {
    /// Answers an event, for tests. `began` is when it arrived.
    ///
    /// # Errors
    /// It cannot be decided or recorded.
    #[cfg(feature = "internals")]
    pub fn answer(&self, report: &Report, began: Instant) -> Result<Answer, Fault> {
        self.answer_event(report, began, false)
    }

    /// Answers an event in a process that ends then, so that memory need not be given back.
    ///
    /// # Errors
    /// It cannot be decided or recorded.
    pub fn answer_and_end(&self, report: &Report, began: Instant) -> Result<Answer, Fault> {
        self.answer_event(report, began, true)
    }

    /// The same in a process that follows the session.
    ///
    /// # Errors
    /// It cannot be recorded.
    #[cfg(feature = "proxy")]
    pub fn answer_following(&self, report: &Report, followed: &mut Followed) -> Result<Answer, Fault> {
        followed.with(self.wait, || self.journal(report), |journal, _| self.record(report, journal))
    }

    fn answer_event(&self, report: &Report, began: Instant, ends: bool) -> Result<Answer, Fault> {
        match &report.event {
            Event::Nothing => Ok(Answer::Silent),
            Event::Propose { id, tool, arguments } => {
                let call = NewCall { id: id.as_deref(), tool, arguments, sibling: None };
                self.decide_as(report, &call, began, ends)
            }
            Event::Resolve { .. } | Event::Prompt(_) | Event::End => {
                self.with_journal(report, |journal| self.record(report, journal))
            }
        }
    }

    /// Records an event that nothing is decided about.
    fn record(&self, report: &Report, journal: &mut Journal) -> Result<Answer, Fault> {
        match &report.event {
            Event::Nothing | Event::Propose { .. } => {}
            Event::Resolve { id, tool, outcome, output } => {
                if let Some(id) = resolved(journal, id.as_deref(), tool)? {
                    let output = Json(output);
                    // Reported after another call was decided as if this one ran, a refusal is a failure.
                    let outcome =
                        if *outcome == "refused" && !journal.is_last(&id) { "error" } else { *outcome };
                    journal.append(&Record::Resolved { id: &id, outcome, output, at: now() }.line())?;
                }
            }
            Event::Prompt(text) => {
                let declined = self.declined(report, journal);
                // What was said before the first call is in the log by the time of that call.
                if !(journal.is_new() && self.log(report).is_some()) {
                    let mut records = declined;
                    if journal.is_new() {
                        records = self.opened(report, None);
                    }
                    let content = Body::text(text.as_str());
                    records += &Record::Said { role: "user", content: Json(&content), at: now() }.line();
                    journal.append(&records)?;
                }
            }
            Event::End => {
                if !journal.is_new() {
                    let declined = self.declined(report, journal);
                    journal.append(&format!("{declined}{}", Record::Closed { at: now() }.line()))?;
                }
            }
        }
        Ok(Answer::Silent)
    }

    /// Answers by the session's journal. Where its index does not fit, that is found before anything is recorded, and the
    /// answer is made again from the whole journal.
    fn with_journal(
        &self,
        report: &Report,
        answer: impl Fn(&mut Journal) -> Result<Answer, Fault>,
    ) -> Result<Answer, Fault> {
        let mut journal = self.journal(report)?;
        let first = answer(&mut journal);
        if !journal.misread() {
            return first;
        }
        journal.read()?;
        answer(&mut journal)
    }

    /// The folder of the agent's journals.
    fn own_folder(&self) -> PathBuf {
        self.folder.join(self.agent)
    }

    fn journal(&self, report: &Report) -> Result<Journal, Fault> {
        let name = match &report.subagent {
            Some(subagent) => format!("{}.{subagent}", report.session),
            None => report.session.clone(),
        };
        Journal::open(&self.own_folder(), &name, self.wait)
    }

    /// Decides a call. `began` is when it arrived. What is `followed` of the session is not read again.
    ///
    /// # Errors
    /// It cannot be decided or recorded.
    #[cfg(feature = "proxy")]
    pub fn decide(
        &self,
        report: &Report,
        call: &NewCall<'_>,
        began: Instant,
        followed: &mut Followed,
    ) -> Result<Answer, Fault> {
        let current = policy::load(&self.policy, &self.own_folder())?;
        let open = || self.journal(report);
        followed.with(self.wait, open, |journal, played| {
            let decide = |journal: &Journal, added: &str| {
                let decided = played.decide(journal, &current.policy, self.mode, added);
                decided.map_or_else(|| deciding::decide(journal, &current.policy, self.mode, added), Ok)
            };
            let (answer, decided) = self.decide_by(journal, &current, report, call, began, decide)?;
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
        let current = policy::load(&self.policy, &self.own_folder())?;
        self.with_journal(report, |journal| {
            let decide =
                |journal: &Journal, added: &str| deciding::decide(journal, &current.policy, self.mode, added);
            let (answer, recorded) = self.decide_by(journal, &current, report, call, began, decide)?;
            if ends {
                // Taking a long session apart takes longer than all that is left to do.
                std::mem::forget(recorded.map(|recorded| recorded.parts));
            }
            Ok(answer)
        })
    }

    fn decide_by(
        &self,
        journal: &mut Journal,
        current: &Current,
        report: &Report,
        call: &NewCall<'_>,
        began: Instant,
        decide: impl FnOnce(&Journal, &str) -> Result<Decided, Fault>,
    ) -> Result<(Answer, Option<Recorded>), Fault> {
        let judge = (&**current.policy.digest(), self.mode);
        // The name of this decision where another policy has decided the call: it stands beside that one.
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
        let tail = self.tail(report, journal)?;
        let mut records = String::new();
        if latest.is_none() {
            records += &self.opened(report, tail.as_ref());
        }
        let sibling = call.sibling.filter(|_| latest.is_some()).or(beside.as_ref().map(|_| true));
        if !sibling.unwrap_or_else(|| is_sibling(latest.as_ref(), tail.as_ref(), call.id)) {
            let import =
                tail.as_ref().map(|tail| tail.import(journal, latest.as_ref(), call.id)).unwrap_or_default();
            records += &import.records;
            records += &Record::Turn { at: now(), transcript: import.until }.line();
        }
        let made = format!("call-{}", journal.calls() + 1);
        let mut proposed = Proposed {
            id: beside.as_deref().or(call.id).unwrap_or(&made),
            tool: call.tool,
            arguments: Json(call.arguments),
            at: now(),
            judged: None,
        };
        let undecided = proposed_line(&proposed);
        let added = format!("{records}{undecided}");
        let decided = match beside {
            Some(_) => deciding::decide(journal, &current.policy, self.mode, &added),
            None => decide(journal, &added),
        };
        let Decided { decision, findings, parts, kept } = decided?;
        let runs = self.mode == Mode::Shadow || decision.verdict == Verdict::Allow;
        if beside.is_some() && runs {
            // The journal has the call; a second one would count against it.
            return Ok((Answer::Silent, None));
        }
        let told = (!runs).then(|| reason(decision.verdict, &findings));
        let Current { policy, place, fault } = current;
        proposed.judged = Some(Judged {
            policy: policy.digest(),
            policy_from: Some(place),
            policy_fault: fault.as_deref(),
            took: (began.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            ..Judged::new(&decision, &findings, told.as_deref(), self.mode, self.asks)
        });
        let stopped = proposed.judged.as_ref().is_some_and(|judged| judged.runs == Some(false));
        let (id, at) = (proposed.id.to_owned(), proposed.at);
        let recorded = Recorded { id, at, told: told.clone().filter(|_| stopped), parts };
        let recorded = Some(recorded).filter(|_| beside.is_none());
        records += &Record::Proposed(proposed).line();
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

    /// Which of these tools the model should see now. What is `followed` of the session is not read again.
    ///
    /// # Errors
    /// The policy or the journal cannot be read.
    #[cfg(feature = "proxy")]
    pub fn visible(
        &self,
        report: &Report,
        offered: &[String],
        followed: &mut Followed,
    ) -> Result<Vec<Arc<str>>, Fault> {
        let current = policy::load(&self.policy, &self.own_folder())?;
        let open = || {
            let mut journal = self.journal(report)?;
            if journal.is_new() {
                journal.append(&self.opened(report, None))?;
            }
            Ok(journal)
        };
        let mut run = followed.run(&current.policy, self.wait, open)?;
        run.begin_turn(now());
        let offered: Vec<Arc<str>> = offered.iter().map(|tool| Arc::from(tool.as_str())).collect();
        let narrowed = run.narrow(&offered);
        Ok(narrowed.into_iter().filter(|tool| tool.visible()).map(|tool| tool.tool).collect())
    }

    /// The agent's log of the session, with the format that it has.
    fn log(&self, report: &Report) -> Option<(String, &'static str)> {
        let (path, format) = (report.transcript.clone()?, self.transcripts?);
        let Some(subagent) = &report.subagent else { return Some((path, format)) };
        // Newer versions of Claude Code keep a file for each subagent.
        let own =
            format!("{}/subagents/agent-{subagent}.jsonl", path.strip_suffix(".jsonl").unwrap_or(&path));
        Some((if Path::new(&own).is_file() { own } else { path }, format))
    }

    fn tail(&self, report: &Report, journal: &Journal) -> Result<Option<Tail>, Fault> {
        let Some((path, format)) = self.log(report) else { return Ok(None) };
        transcript::read(&path, format, journal.transcript(), report.subagent.as_deref())
    }

    /// How calls ended that the agent's log calls refused or failed, and of which no event told. A log that cannot be read leaves them in
    /// flight, so that they count against what they forbid.
    fn declined(&self, report: &Report, journal: &Journal) -> String {
        let tail = self.tail(report, journal).ok().flatten();
        tail.map(|tail| tail.declined(journal)).unwrap_or_default()
    }

    fn opened(&self, report: &Report, tail: Option<&Tail>) -> String {
        let context = tail.and_then(Tail::context);
        let context = context.or_else(|| report.cwd.as_ref().map(|cwd| json!({"cwd": cwd})));
        let middle = tail.is_some_and(Tail::starts_in_the_middle);
        let opened = Opened {
            schema: SCHEMA,
            agent: self.agent,
            session: report.subagent.as_ref().unwrap_or(&report.session),
            parent: report.subagent.as_ref().map(|_| &*report.session),
            at: now(),
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
    let Proposed { id, tool, arguments, at, .. } = call;
    let arguments = Json(arguments.0);
    Record::Proposed(Proposed { id, tool, arguments, at: *at, judged: None }).line()
}

/// Whether a call belongs to the journal's last turn.
fn is_sibling(journal: Option<&Session>, tail: Option<&Tail>, id: Option<&str>) -> bool {
    let Some((session, turn)) = journal.and_then(|session| Some((session, session.turns.last()?))) else {
        return false;
    };
    let later = session.messages.get(session.after(turn)).unwrap_or_default();
    if later.iter().any(|message| matches!(message.kind, MessageKind::Said)) {
        return false;
    }
    let calls = session.calls_of(turn);
    let ids: Vec<&str> = calls.iter().filter_map(|call| call.id.as_deref()).collect();
    let logged = tail.and_then(|tail| tail.is_sibling(id, &ids));
    // Calls that are in flight together are of one response.
    logged.unwrap_or_else(|| calls.iter().any(|call| call.result.is_none()))
}

/// That this very call was decided before.
enum Earlier {
    /// With this answer.
    Own(Answer),
    /// By another policy, or one that only watched.
    AnotherPolicy,
}

/// Whether this very call was decided before: an event may come twice, and each policy decides a call once.
fn earlier(journal: &Journal, id: &str, call: &NewCall<'_>, judge: (&str, Mode)) -> Option<Earlier> {
    let record = journal.proposed(id)?;
    let same = record.get("tool")?.as_str() == Some(call.tool)
        && record.get("arguments") == Some(call.arguments.value().unwrap_or(&Value::Null));
    let text = record.get("told").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !same {
        return None;
    }
    let (runs, verdict) = (record.get("runs")?.as_bool(), record.get("decision")?.as_str()?);
    let says = |key: &str| record.get(key).and_then(Value::as_str);
    if says("policy") != Some(judge.0) || says("mode") != Some(judge.1.word()) {
        return Some(Earlier::AnotherPolicy);
    }
    Some(Earlier::Own(match verdict {
        _ if runs == Some(true) => Answer::Silent,
        "ask" if runs.is_none() => Answer::Ask(text),
        "halt" | "not_reached" => Answer::Halt(text),
        _ => Answer::Deny(text),
    }))
}

/// The call of the journal that an event's result is for, if it waits for one.
fn resolved(journal: &Journal, id: Option<&str>, tool: &str) -> Result<Option<String>, Fault> {
    if let Some(id) = id {
        return Ok((journal.waits_for(id) == Some(true)).then(|| id.to_owned()));
    }
    if journal.is_new() {
        return Ok(None);
    }
    let session = journal.session("")?;
    let mut waiting = session.calls.iter().filter(|call| call.result.is_none());
    let call = waiting.find(|call| *call.tool == *tool);
    Ok(call.and_then(|call| call.id.as_deref().map(str::to_owned)))
}

/// Now, in milliseconds since 1970.
pub fn now() -> Option<Millis> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Millis::try_from(since.as_millis()).ok()
}
