//! Journals of the gate, JSON Lines: what was decided live, and what became of it. One journal is one session.
//!
//! A call that was let go on and has no result is in flight: it may have happened.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::recording::contract::{Format, Reader, Sample, Unit};
use crate::recording::input::shallow::{Members, Node};
use crate::recording::input::time;
use crate::recording::shape::live;
use crate::session::body::{Place, Store};
use crate::session::build::{Builder, Mark};
use crate::session::{Body, Form};

pub(in crate::recording) const FORMAT: Format =
    Format { name: "rulestep-live", absent_without_results: false, recognise, reader };

fn recognise(sample: &Sample<'_>) -> bool {
    sample
        .objects()
        .any(|line| text(line, "record") == "opened" && text(line, "schema").starts_with("rulestep.live/"))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Journal { setting: setting.clone(), open: None, unasked: HashSet::new(), cut_off: Vec::new() })
}

struct Journal {
    setting: Setting,
    open: Option<Builder>,
    /// The ids of results that no call waited for.
    unasked: HashSet<String>,
    /// Lines that are no records, until it is known whether their writer was stopped.
    cut_off: Vec<Diagnostic>,
}

/// A call is of the turn that was begun last, and of one of its own where there is none.
const TURN: &str = "turn";

impl Reader for Journal {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let record = text(members, "record");
        let cut_off = std::mem::take(&mut self.cut_off);
        if record == "repaired" {
            // What was cut off was never answered.
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
            builder
        });
        builder.at_line(unit.line);
        unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
        if !add(builder, &mut self.unasked, &record, members, self.setting.store.as_ref()) {
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
    fn close(&mut self, out: &mut Out) {
        self.open.take().into_iter().for_each(|builder| out.session(builder));
    }
}

fn opened(setting: &Setting, unit: &Unit<'_>, out: &Out) -> Builder {
    let members = &unit.members;
    let mut builder = setting.session(&text(members, "session"), unit, out);
    builder.mark_errors();
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

/// Adds what a record says; gives whether it is one.
fn add(
    builder: &mut Builder,
    unasked: &mut HashSet<String>,
    record: &str,
    members: &Members<'_>,
    store: Option<&Arc<dyn Store>>,
) -> bool {
    let at = time::of(members, &["at"]).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    });
    let body = |key| match (members.get(key), store) {
        (Some(node), _) => Body::json(node.json()),
        (None, Some(store)) => elsewhere(members, key, store).unwrap_or(Body::MISSING),
        (None, None) => Body::MISSING,
    };
    let id = text(members, "id");
    match record {
        "turn" => {
            builder.end_response();
            builder.ensure_response(TURN, at);
        }
        "said" if text(members, "role") == "assistant" => builder.more_content(&body("content")),
        "said" => builder.said(&text(members, "role"), body("content"), at),
        "proposed" => {
            // A result that came before its call is not its result: read again, it must not be after it.
            if unasked.remove(&*id) {
                builder.end_response();
                builder.ensure_response(TURN, at);
            }
            builder.call(Some(&id), &text(members, "tool"), body("arguments"), at);
            // The index has only what a decision may rest on, and none rests on those before it.
            if store.is_none() {
                live::decided(builder, members);
            }
            if members.get("runs").and_then(Node::bool) == Some(false) {
                let told = body("told");
                builder.result(Some(&id), told, Mark { error: false, refused: Some("the gate") }, at);
            }
        }
        "resolved" => {
            let outcome = text(members, "outcome");
            let refused = (outcome == "refused").then_some("the journal says that the call was refused");
            let mark = Mark { error: outcome == "error", refused };
            if !matches!(&*outcome, "ok" | "error" | "refused") {
                return false;
            }
            match builder.result(Some(&id), body("output"), mark, at) {
                Some(call) => builder.late_within_turn(call),
                None => drop(unasked.insert(id.to_string())),
            }
        }
        "closed" => {}
        _ => return false,
    }
    true
}

/// A body that the index of a journal has the place of.
fn elsewhere(members: &Members<'_>, key: &str, store: &Arc<dyn Store>) -> Option<Body> {
    let items = members.get(&format!("{key}@"))?.items().unwrap_or_default();
    // Where a number is missing, nothing has the digest 0, so that the store says that the body is not there.
    let number = |item: usize| items.get(item).and_then(|item| item.number()).unwrap_or(0);
    let place = Place { start: number(0), length: number(1), digest: number(2) };
    let is_text = items.get(3).and_then(|item| item.bool());
    let form = if is_text == Some(true) { Form::Text } else { Form::Json };
    Some(Body::elsewhere(store, place, form))
}

fn text(members: &Members<'_>, key: &str) -> String {
    members.get(key).and_then(Node::text).unwrap_or_default().into_owned()
}
