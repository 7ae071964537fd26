//! Result files of tau-bench: a list of episodes `{task_id, trial, reward, info, traj}`, where `traj` holds chat
//! messages.
//!
//! `info` holds the expected actions, so it is not read. Failures are results that begin with `Error`; arguments may be
//! in Python notation; call ids may be missing, or used again within an episode.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::chat::{Chat, Rules};
use crate::shape::status::Status;
use rulestep_base::session::Body;

pub(crate) const FORMAT: Format = Format {
    name: "tau-bench",
    title: "results of tau-bench",
    source: "the JSON files in the `--log-dir` of `run.py`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|object| object.get("traj").is_some_and(|traj| traj.kind() == Kind::List))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let ended = |content: &Body| if content.shows("Error") { Status::Failed } else { Status::Unknown };
    let rules = Rules { python: true, ended, error: setting.error.clone() };
    Box::new(TauBench { setting: setting.clone(), rules })
}

struct TauBench {
    setting: Setting,
    rules: Rules,
}

impl Reader for TauBench {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let Some(messages) = members.get("traj") else {
            return out.diagnostics(self.setting.foreign(unit, "not an episode with `traj`"));
        };
        let mut builder = self.setting.session(&id(members), unit, out);
        for key in ["task_id", "trial", "reward"] {
            if let Some(value) = members.get(key).and_then(Node::value) {
                builder.context(key, value);
            }
        }
        let mut chat = Chat::new(unit.node, unit.line, &self.rules);
        chat.messages(&mut builder, messages);
        builder.read_as_python(chat.in_python());
        out.session(builder);
    }
}

/// `task-3-trial-0`; empty if the episode does not name its task.
fn id(members: &Members<'_>) -> String {
    let part = |key| members.get(key).and_then(Node::id);
    match (part("task_id"), part("trial")) {
        (Some(task), Some(trial)) => format!("task-{task}-trial-{trial}"),
        (Some(task), None) => format!("task-{task}"),
        (None, _) => String::new(),
    }
}
