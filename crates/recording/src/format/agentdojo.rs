//! Runs of AgentDojo: its own files, those of DRIFT (`conversations`), and the export of Invariant Explorer, one run
//! per line after a line that describes the data set.
//!
//! Calls that a defence refused are in these files only as text, and are not calls.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::shape::chat::{Chat, Rules};
use crate::shape::status::Status;
use rulestep_base::session::Tool;

pub(crate) const FORMAT: Format = Format {
    name: "agentdojo",
    title: "runs of AgentDojo and DRIFT, and Invariant Explorer's export",
    source: "`runs/` of AgentDojo",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Keys of a run, in it or in its `metadata`, that are kept as its context.
const ABOUT: [&str; 12] = [
    "suite_name",
    "pipeline_name",
    "model",
    "user_task_id",
    "injection_task_id",
    "attack_type",
    "utility",
    "success",
    "security",
    "error",
    "name",
    "initial_trajectory",
];

/// Keys that make up a run's id.
const NAMES: [&str; 4] = ["suite_name", "user_task_id", "attack_type", "injection_task_id"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|run| {
        let about = run.get("metadata").and_then(Node::members).unwrap_or_default();
        let is_run = |about: &Members<'_>| about.has("suite_name") && about.has("user_task_id");
        let describes = about.get("benchmark").and_then(Node::text);
        let describes = describes.is_some_and(|benchmark| benchmark.eq_ignore_ascii_case("agentdojo"));
        describes || messages(run).is_some() && (is_run(run) || is_run(&about))
    })
}

fn messages<'a>(run: &Members<'a>) -> Option<Node<'a>> {
    run.any(&["messages", "conversations"])
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(AgentDojo { setting: setting.clone(), rules })
}

struct AgentDojo {
    setting: Setting,
    rules: Rules,
}

impl Reader for AgentDojo {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let run = &unit.members;
        let about = run.get("metadata").and_then(Node::members);
        let Some(messages) = messages(run) else {
            return match about {
                // The line that describes the data set.
                Some(_) => out.diagnostics(unit.diagnostics.iter().cloned()),
                None => out.diagnostics(self.setting.foreign(unit, "no run")),
            };
        };
        let about = about.unwrap_or_default();
        let known = |key| run.get(key).or_else(|| about.get(key));
        let names: Vec<_> = NAMES.iter().filter_map(|key| known(key)?.id()).collect();
        let mut builder = self.setting.session(&names.join("/"), unit, out);
        for key in ABOUT {
            if let Some(value) = known(key).and_then(Node::value) {
                builder.context(key, value);
            }
        }
        // The permissions of each tool are the nearest thing to the tools that were offered.
        if let Some(tools) = run.get("tool_permission").and_then(Node::members) {
            let tool = |name: &str| Tool { name: name.into(), description: None, parameters: None };
            builder.offered(1, tools.names().map(tool).collect::<Vec<_>>());
        }
        // Every result says whether it failed.
        builder.mark_errors();
        Chat::new(unit.node, unit.line, &self.rules).messages(&mut builder, messages);
        out.session(builder);
    }
}
