//! Traces of Assay, JSON Lines: the parts of an episode, tied together by its id and possibly mixed with those of
//! others; and the older form, one call per line.
//!
//! A step is what happened at once: an answer of the model with its calls, or a single call. Calls may be written later
//! than their steps, so an episode is assembled at its end.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::interleaved::Interleaved;
use crate::shape::unknown::Unknown;
use rulestep_base::session::Body;

mod call;
mod episode;

use call::{at, call, give};
use episode::Episode;

pub(crate) const FORMAT: Format = Format {
    name: "assay",
    title: "traces of Assay",
    source: "the JSON Lines that Assay records and checks",
    // Calls may be written without their outcome.
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

const PARTS: [&str; 4] = ["episode_start", "step", "tool_call", "episode_end"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|line| {
        let kind = line.get("type").and_then(Node::text).unwrap_or_default();
        line.has("episode_id") && PARTS.contains(&&*kind) || is_flat(line)
    })
}

/// Whether a line is a call in the older form.
fn is_flat(line: &Members<'_>) -> bool {
    let text = |key| line.get(key).is_some_and(|node| node.kind() == Kind::Text);
    text("tool") && line.has("args") && line.has("response") && !line.has("type") && !line.has("messages")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Assay { setting: setting.clone(), open: Interleaved::default(), unknown: Unknown::default() })
}

struct Assay {
    setting: Setting,
    open: Interleaved<Episode>,
    unknown: Unknown,
}

impl Reader for Assay {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let line = &unit.members;
        let kind = line.get("type").and_then(Node::text).unwrap_or_default();
        let Some(id) = line.get("episode_id").and_then(Node::id) else {
            if is_flat(line) {
                return self.flat(unit, out);
            }
            return out.diagnostics(self.setting.foreign(unit, "not part of an episode"));
        };
        if !PARTS.contains(&&*kind) {
            self.unknown.note(&kind, unit.node, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        let setting = &self.setting;
        // A second beginning is another episode of the same name.
        if kind == "episode_start"
            && let Some(episode) = self.open.take(&id)
        {
            episode.close(setting, out);
        }
        while let Some(episode) = self.open.too_much(&id) {
            episode.close(setting, out);
        }
        let episode = self.open.get(&id, unit.node.json().len() + 256, |_| {
            let mut builder = setting.session_at(&id, unit.line, out);
            if kind != "episode_start" {
                builder.starts_in_the_middle("the episode has no `episode_start` line before this one");
            }
            Episode::new(builder)
        });
        let Some(episode) = episode else { return };
        unit.diagnostics.iter().cloned().for_each(|odd| episode.builder.diagnostic(odd));
        episode.builder.at_line(unit.line);
        match &*kind {
            "episode_start" => episode.start(line),
            "step" => episode.step(unit),
            "tool_call" => episode.call(unit),
            _ => {
                episode.output = line.get("final_output").map(|output| Body::json(output.json()));
                if let Some(outcome) = line.get("outcome").and_then(Node::value) {
                    episode.builder.context_once("outcome", outcome);
                }
                if let Some(episode) = self.open.take(&id) {
                    episode.close(&self.setting, out);
                }
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        for episode in self.open.close() {
            episode.close(&self.setting, out);
        }
        self.unknown.tell(&self.setting, out);
    }
}

impl Assay {
    /// A call with its outcome, which is a session.
    fn flat(&self, unit: &Unit<'_>, out: &mut Out) {
        let line = &unit.members;
        let id = line.get("id").and_then(Node::id).unwrap_or_default();
        let mut builder = self.setting.session(&id, unit, out);
        builder.at_line(unit.line);
        let at = at(line, &mut builder);
        if let Some(prompt) = line.get("prompt") {
            builder.said("user", Body::json(prompt.json()), at);
        }
        let call = call(line, at, unit.line);
        builder.response(None, Body::MISSING, at);
        give(&mut builder, &[(String::new(), call)], &self.setting);
        out.session(builder);
    }
}
