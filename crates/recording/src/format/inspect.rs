//! Logs of Inspect evaluations in their JSON form: one sample is one session.
//!
//! The conversation is in a sample's `messages`. Its `events` repeat it, with times and with the tools that were
//! offered, and texts of any length may be moved to `attachments`.

use attachments::Attachments;
use events::{Events, further, unkept};

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Members, Node};
use crate::input::wrong::read_again;
use crate::shape::chat;
use crate::shape::chat::{Chat, Rules};
use crate::shape::status::Status;
use rulestep_base::diagnostic::{Diagnostic, Loss, code};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Damage, Millis};
use rulestep_base::source::quoted;

mod attachments;
mod events;

pub(crate) const FORMAT: Format = Format {
    name: "inspect",
    title: "logs of Inspect in JSON",
    source: "`inspect log convert --to json --output-dir FOLDER LOG`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Keys of a sample, and of the evaluation, that are kept as its context.
const ABOUT: [&str; 3] = ["id", "epoch", "metadata"];
const EVALUATION: [&str; 2] = ["task", "model"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| is_log(value) || is_sample(value))
}

fn is_log(value: &Members<'_>) -> bool {
    let evaluation = value.get("eval").and_then(Node::members);
    evaluation.is_some_and(|eval| eval.has("task") || eval.has("eval_id")) && value.has("status")
}

/// Whether a value is a single sample, as in an unpacked archive.
fn is_sample(value: &Members<'_>) -> bool {
    ["epoch", "messages", "target", "id"].iter().all(|key| value.has(key))
        && ["events", "output", "store"].iter().any(|key| value.has(key))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(Inspect { setting: setting.clone(), rules })
}

struct Inspect {
    setting: Setting,
    rules: Rules,
}

impl Reader for Inspect {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        if is_sample(members) {
            out.diagnostics(unit.diagnostics.iter().cloned());
            return self.sample(unit.node, &Members::default(), unit.line, out);
        }
        if !is_log(members) {
            return out.diagnostics(self.setting.foreign(unit, "neither a log nor a sample"));
        }
        out.diagnostics(unit.diagnostics.iter().cloned());
        let evaluation = members.get("eval").and_then(Node::members).unwrap_or_default();
        let mut lines = Lines::new(unit.node, unit.line);
        let Some(samples) = members.get("samples").and_then(Node::items) else {
            let message =
                "the log has no list of samples: it was written without them, or stopped before the first";
            let notice = Diagnostic::warning(code::EMPTY_SESSION, message);
            return out.diagnostic(notice.on_line(self.setting.file.clone(), u64::from(unit.line)));
        };
        for sample in samples {
            self.sample(sample, &evaluation, lines.of(sample), out);
        }
    }
}

impl Inspect {
    fn sample(&self, node: Node<'_>, evaluation: &Members<'_>, line: u32, out: &mut Out) {
        let Some(sample) = node.members() else {
            let message = format!("a sample is {}, not an object; it is left out", node.said_kind());
            return out.diagnostic(self.setting.damaged_line(line, Damage::calls(message)));
        };
        let mut builder = self.setting.session_at(&id(&sample), line, out);
        builder.mark_errors();
        for (keys, from) in [(&EVALUATION[..], evaluation), (&ABOUT[..], &sample)] {
            for key in keys {
                if let Some(value) = from.get(key).and_then(Node::value) {
                    builder.context_once(key, value);
                }
            }
        }
        let mut attachments = Attachments::of(&sample);
        let mut events = Events::of(&sample);
        let messages = sample.get("messages");
        match messages.and_then(Node::items) {
            Some(items) => {
                let mut lines = Lines::new(node, line);
                for item in items {
                    let line = lines.of(item);
                    self.message(item, line, &mut attachments, &mut events, &mut builder);
                }
            }
            None => builder.lost(Loss::MayHoldCalls, "the sample has no list of `messages`"),
        }
        // Without events, the sample has only its last response.
        let output = sample.get("output").and_then(Node::members);
        let choices = output.map(|output| chat::choices(&output)).unwrap_or_default();
        let odd = events.odd().or_else(|| unkept(&choices));
        odd.into_iter().for_each(|odd| builder.damaged(odd));
        let choices: Vec<_> = choices.iter().map(|choice| choice.message).collect();
        if choices.len() > 1 && !events.has_several() {
            let calls = builder.latest().map(|(_, taken, _)| &taken.calls[..]).unwrap_or_default();
            let own: Vec<&str> = calls.iter().filter_map(|call| call.id.as_deref()).collect();
            self.beside(&further(&choices, &own), None, line, &mut attachments, &mut builder);
        }
        builder.at_line(line);
        if events.untold() > 0 {
            let message = format!(
                "{} choices of responses belong to no message of the sample; they are left out",
                events.untold()
            );
            builder.lost(Loss::MayHoldCalls, message);
        }
        if let Some(missing) = attachments.missing() {
            builder.damaged(missing);
        }
        if events.too_deep() > 0 {
            builder.damaged("events that are nested in more than 64 others are not read");
        }
        let left = events.left();
        if left > 0 {
            let what = if left == 1 { "a call is".to_owned() } else { format!("{left} calls are") };
            let message = format!(
                "{what} only among the events, made by agents within this one or in messages that were removed later; they are left out"
            );
            builder.lost(Loss::MayHoldCalls, message);
        }
        out.session(builder);
    }

    fn message(
        &self,
        item: Node<'_>,
        line: u32,
        attachments: &mut Attachments,
        events: &mut Events<'_>,
        builder: &mut Builder,
    ) {
        let whole = attachments.resolved(item);
        read_again(&whole, line, builder, |builder, item, _| {
            self.whole(item, line, attachments, events, builder);
        });
    }

    /// A message with its attachments put back.
    fn whole(
        &self,
        item: Node<'_>,
        line: u32,
        attachments: &mut Attachments,
        events: &mut Events<'_>,
        builder: &mut Builder,
    ) {
        builder.at_line(line);
        let Some(message) = item.members() else {
            let word = item.said_kind();
            return builder
                .lost(Loss::MayHoldCalls, format!("a message is {word}, not an object; it is left out"));
        };
        let role = message.get("role").and_then(Node::text).unwrap_or_default();
        if role == "tool" {
            return self.result(&message, events, builder);
        }
        let calls = message.get("tool_calls").and_then(Node::objects).unwrap_or_default();
        let ids: Vec<_> = calls.iter().filter_map(|call| call.get("id").and_then(Node::id)).collect();
        ids.iter().for_each(|id| events.seen(id));
        let own = message.get("id").and_then(Node::id);
        let event =
            own.as_deref().into_iter().chain(ids.first().map(|id| &**id)).find_map(|id| events.model(id));
        let turn = builder.next_turn();
        let mut chat = Chat::new(item, line, &self.rules);
        chat.otherwise_at(event.as_ref().and_then(|event| event.at));
        chat.message(builder, &message);
        if let Some(tools) = event.as_ref().and_then(|event| event.tools(attachments))
            && builder.next_turn() > turn
        {
            builder.offered(turn, tools);
        }
        if let Some(event) = event.filter(|_| builder.next_turn() > turn) {
            let own: Vec<&str> = own.iter().chain(&ids).map(|id| &**id).collect();
            self.beside(&event.further(&own), event.at, line, attachments, builder);
        }
        for call in calls {
            if let Some(error) = call.get("parse_error").and_then(Node::text) {
                let error = quoted(&error);
                builder
                    .damaged(format!("the arguments of a call could not be read when it was made: {error}"));
            }
        }
    }

    /// Adds choices of the latest response that were not taken.
    fn beside(
        &self,
        further: &[(u32, Option<Node<'_>>)],
        at: Option<Millis>,
        line: u32,
        attachments: &mut Attachments,
        builder: &mut Builder,
    ) {
        for (choice, message) in further {
            let Some(message) = message else {
                chat::beside(builder, *choice, None, &self.rules, at);
                continue;
            };
            let whole = attachments.resolved(*message);
            read_again(&whole, line, builder, |builder, message, _| {
                chat::beside(builder, *choice, Some(message), &self.rules, at);
            });
        }
    }

    fn result(&self, message: &Members<'_>, events: &mut Events<'_>, builder: &mut Builder) {
        let id = message.get("tool_call_id").and_then(Node::id);
        let error = message.get("error");
        let about = error.and_then(Node::members).unwrap_or_default();
        let kind = about.get("type").and_then(Node::text).unwrap_or_default();
        let content = message.get("content").filter(|content| content.json() != "\"\"");
        let content = content.or_else(|| about.get("message").filter(|_| error.is_some()));
        let content = content.or_else(|| message.get("content"));
        let content = content.map_or(Body::MISSING, |content| Body::json(content.json()));
        let refused = (kind == "approval").then_some("the error's type is `approval`");
        let marked = error.is_some().then_some(true);
        let mark = Mark { error: self.setting.failed(marked, &content), refused };
        let at = id.as_deref().and_then(|id| events.came(id));
        builder.result(id.as_deref(), content, mark, at);
    }
}

/// The sample's id, with its epoch unless that is the first.
fn id(sample: &Members<'_>) -> String {
    let part = |key| sample.get(key).and_then(Node::id);
    match (part("id"), part("epoch")) {
        (Some(id), Some(epoch)) if epoch != "1" => format!("{id}-epoch-{epoch}"),
        (Some(id), _) => id.into_owned(),
        (None, _) => String::new(),
    }
}
