//! Journals of the gate, JSON Lines: live decisions and the outcomes of the calls. One journal is one session.
//!
//! A call that was allowed and has no result is in flight: it may have happened. An id means the latest call with it,
//! so that an id which an agent uses again undoes nothing and makes no earlier call succeed.

use std::collections::HashSet;

use serde_json::Value;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::live;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis, Outcome};

pub(crate) const FORMAT: Format = Format {
    name: "rulestep-live",
    title: "journals of the gate: what was decided live, and how the calls ended",
    source: "`~/.local/state/rulestep/live/AGENT/*.jsonl`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample
        .objects()
        .any(|line| text(line, "record") == "opened" && text(line, "schema").starts_with("rulestep.live/"))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Journal::new(setting, true))
}

/// A journal that is read.
pub(crate) struct Journal {
    setting: Setting,
    /// Whether decisions are wanted: for people to read; no decision rests on earlier decisions.
    judged: bool,
    open: Option<Builder>,
    /// The ids of results that no call waited for.
    unasked: HashSet<String>,
    /// Lines that are no records, until it is known whether their writer was stopped.
    cut_off: Vec<Diagnostic>,
}

/// A record, independent of how it is stored.
pub enum Step<'a> {
    /// Another response of the model.
    Turn,
    /// A message.
    Said {
        /// The role.
        role: &'a str,
        /// The content.
        content: Body,
    },
    /// A call.
    Proposed {
        /// Its id.
        id: &'a str,
        /// Its tool.
        tool: &'a str,
        /// Its arguments.
        arguments: Body,
        /// The folder that it was made in.
        folder: Option<&'a str>,
        /// The message to the model instead of a result, if the call was stopped.
        told: Option<Body>,
    },
    /// The end of a call.
    Resolved {
        /// Its id.
        id: &'a str,
        /// Never [`Outcome::Unknown`].
        outcome: Outcome,
        /// Its result.
        output: Body,
    },
    /// The agent ended the session.
    Closed,
}

/// A call belongs to the turn that began last; if there is none, it gets its own.
const TURN: &str = "turn";

impl Reader for Journal {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let record = text(members, "record");
        let cut_off = std::mem::take(&mut self.cut_off);
        if record == "repaired" {
            // A record that was cut off was never answered.
            let message = "the line before this one was cut off when its writer was stopped";
            return out.diagnostic(self.setting.passed_by(unit.line, message));
        }
        out.diagnostics(cut_off);
        if record == "opened" {
            self.close(out);
            self.open = Some(opened(&self.setting, unit, out));
            self.unasked.clear();
            return;
        }
        let builder = self.open.get_or_insert_with(|| {
            let mut builder = self.setting.session_at("", unit.line, out);
            builder.starts_in_the_middle("the journal does not begin with the record `opened`");
            builder.marks_refusals(true);
            builder
        });
        builder.at_line(unit.line);
        unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
        if !add(builder, &mut self.unasked, &record, members, self.judged) {
            out.diagnostics(self.setting.foreign(unit, "not a record of a journal"));
        }
    }

    fn damaged(&mut self, diagnostic: Diagnostic, _: &mut Out) {
        self.cut_off.push(diagnostic);
    }

    fn end(&mut self, out: &mut Out) {
        out.diagnostics(std::mem::take(&mut self.cut_off));
        self.close(out);
    }
}

impl Journal {
    /// One that nothing is known of yet.
    pub fn new(setting: &Setting, judged: bool) -> Journal {
        let setting = setting.clone();
        Journal { setting, judged, open: None, unasked: HashSet::new(), cut_off: Vec::new() }
    }

    /// A part of one: whatever is before it is not missing.
    pub fn part(setting: &Setting, out: &Out) -> Journal {
        let mut builder = setting.session_at("", 1, out);
        builder.marks_refusals(true);
        Journal { open: Some(builder), ..Journal::new(setting, false) }
    }

    /// The session so far; `None` before the record `opened`.
    pub fn builder(&mut self) -> Option<&mut Builder> {
        self.open.as_mut()
    }

    /// A record of the session that is open.
    pub fn step(&mut self, line: u32, at: Option<Millis>, step: Step<'_>) {
        if let Some(builder) = &mut self.open {
            take(builder.at_line(line), &mut self.unasked, at, step);
        }
    }

    /// The message to the model instead of the result of a stopped call.
    pub fn told(&mut self, line: u32, at: Option<Millis>, id: &str, told: Body) {
        if let Some(builder) = &mut self.open {
            stop(builder.at_line(line), id, told, at);
        }
    }

    fn close(&mut self, out: &mut Out) {
        self.open.take().into_iter().for_each(|builder| out.session(builder));
    }
}

fn opened(setting: &Setting, unit: &Unit<'_>, out: &Out) -> Builder {
    let members = &unit.members;
    let mut builder = setting.session(&text(members, "session"), unit, out);
    builder.mark_errors();
    builder.marks_refusals(true);
    let context = members.get("context").and_then(Node::members).unwrap_or_default();
    for (key, value) in context.iter() {
        if let Some(value) = value.value() {
            builder.context(key, value);
        }
    }
    if let Some(Value::Object(variables)) = members.get("variables").and_then(Node::value) {
        builder.facts().variables = Some(variables);
    }
    if let Some(files) = members.get("files").and_then(Node::items) {
        let files = files.into_iter().filter_map(Node::text).map(|file| file.into_owned());
        builder.facts().files = Some(files.collect());
    }
    let parent = text(members, "parent");
    if !parent.is_empty() {
        builder.parent(&*parent);
    }
    let middle = text(members, "middle");
    if !middle.is_empty() {
        builder.starts_in_the_middle(middle);
    }
    builder
}

/// Adds a record; returns whether it is one.
fn add(
    builder: &mut Builder,
    unasked: &mut HashSet<String>,
    record: &str,
    members: &Members<'_>,
    judged: bool,
) -> bool {
    let at = time::of(members, &["at"]).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    });
    let body = |key| members.get(key).map_or(Body::MISSING, |node| Body::json(node.json()));
    let (id, cwd) = (text(members, "id"), text(members, "cwd"));
    let (name, step) = match record {
        "said" => (text(members, "role"), None),
        "proposed" => (text(members, "tool"), None),
        "resolved" => (text(members, "outcome"), None),
        "turn" => (String::new(), Some(Step::Turn)),
        "closed" => (String::new(), Some(Step::Closed)),
        _ => return false,
    };
    let step = match (step, record) {
        (Some(step), _) => step,
        (None, "said") => Step::Said { role: &name, content: body("content") },
        (None, "proposed") => {
            let stopped = members.get("runs").and_then(Node::bool) == Some(false);
            let told = stopped.then(|| body("told"));
            let folder = Some(&*cwd).filter(|folder| !folder.is_empty());
            Step::Proposed { id: &id, tool: &name, arguments: body("arguments"), folder, told }
        }
        _ => match outcome(&name) {
            Some(outcome) => Step::Resolved { id: &id, outcome, output: body("output") },
            None => return false,
        },
    };
    take(builder, unasked, at, step);
    if judged && record == "proposed" {
        live::decided(builder, members);
    }
    true
}

/// The outcome that a record names.
pub fn outcome(name: &str) -> Option<Outcome> {
    [Outcome::Ok, Outcome::Error, Outcome::Refused].into_iter().find(|outcome| outcome.word() == name)
}

fn take(builder: &mut Builder, unasked: &mut HashSet<String>, at: Option<Millis>, step: Step<'_>) {
    match step {
        Step::Turn => {
            builder.end_response();
            builder.ensure_response(TURN, at);
        }
        Step::Said { role: "assistant", content } => builder.more_content(&content),
        Step::Said { role, content } => builder.said(role, content, at),
        Step::Proposed { id, tool, arguments, folder, told } => {
            // A result that came before its call is not its result: read again, it must not be after it.
            if unasked.remove(id) {
                builder.end_response();
                builder.ensure_response(TURN, at);
            }
            builder.in_folder(folder);
            builder.call(Some(id), tool, arguments, at);
            if let Some(told) = told {
                stop(builder, id, told, at);
            }
        }
        Step::Resolved { id, outcome, output } => {
            let says = "the journal says that the call was refused";
            let refused = (outcome == Outcome::Refused).then_some(says);
            let mark = Mark { error: outcome == Outcome::Error, refused };
            match builder.newest_result(id, output, mark, at) {
                Some(call) => builder.late_within_turn(call),
                None => drop(unasked.insert(id.to_owned())),
            }
        }
        Step::Closed => {}
    }
}

fn stop(builder: &mut Builder, id: &str, told: Body, at: Option<Millis>) {
    builder.newest_result(id, told, Mark { error: false, refused: Some("the gate") }, at);
}

fn text(members: &Members<'_>, key: &str) -> String {
    members.get(key).and_then(Node::text).unwrap_or_default().into_owned()
}
