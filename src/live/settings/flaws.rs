//! Why one of our hooks does not work, though it is in the settings.

use jsonc_parser::ast::{Object, Value};

use super::super::{Agent, LIMIT};
use super::hook::{Flaw, is_ours, option};

/// The parts of a hook's settings that keep it from being called, or its answer from being used. `root` is all
/// settings.
pub fn flaws(handler: &Object<'_>, agent: Agent, event: &str, root: Option<&Object<'_>>) -> Vec<Flaw> {
    let decides = agent.decides(event);
    let again = format!("run `rulestep install {}` again", agent.name());
    let broken = |what: &str| Flaw {
        text: format!("the hook for `{event}` {what}: {again}"),
        fatal: true,
        fixed_by_install: true,
    };
    let mut found = Vec::new();
    let kind = handler.get_string("type").map(|kind| kind.value.to_string());
    let kind = kind.or_else(|| (!agent.form().groups).then(|| "command".to_owned()));
    if kind.as_deref() != Some("command") {
        found.push(broken("is not of the type `command`, so its command line does not run"));
    }
    let is = |key: &str| handler.get_boolean(key).is_some_and(|on| on.value);
    if is("async") || is("asyncRewake") {
        let flaw = broken("runs in the background (`async`), so the agent does not wait for it");
        // What is reported later is recorded later.
        found.push(Flaw { fatal: decides || agent.form().no_background, ..flaw });
    }
    if is("once") {
        found.push(broken("runs only once (`once`)"));
    }
    if let Some(only) = handler.get_string("if") {
        let text =
            format!("the hook for `{event}` is asked only about calls of which `if` holds: `{}`", only.value);
        found.push(Flaw { text, fatal: false, fixed_by_install: false });
    }
    found.extend(hasty(handler, agent, event));
    if let Some(list) = root.and_then(|root| disabling(handler, agent, root)) {
        let text = format!("the hook for `{event}` is turned off: take it out of the list `{list}`");
        found.push(Flaw { text, fatal: true, fixed_by_install: false });
    }
    found
}

/// The flaw of an agent that lets a call run before the hook must have answered.
fn hasty(handler: &Object<'_>, agent: Agent, event: &str) -> Option<Flaw> {
    let form = agent.form();
    let blocks = form.fails_closed.and_then(|key| handler.get_boolean(key)).is_some_and(|on| on.value);
    if !agent.decides(event) || blocks {
        return None;
    }
    let (unit, default) = (form.timeout_unit, form.timeout_default);
    let given = handler.get_number("timeout").and_then(|number| number.value.parse::<f64>().ok());
    let limit = limit(&handler.get_string("command")?.value);
    let wait = given.map_or(default, |given| given * unit);
    if wait > limit {
        return None;
    }
    let (wait, may) = (wait / 1000.0, limit / 1000.0);
    let fixed_by_install = given.is_some() && default > limit;
    let (what, fix) = match fixed_by_install {
        true => ("`timeout`", format!("run `rulestep install {}` again", agent.name())),
        false => ("its own limit", "allow less with `--limit`, or set a longer `timeout`".to_owned()),
    };
    let text = format!(
        "the agent waits {wait} s for the hook for `{event}` ({what}) and lets the call run then, but the hook may take {may} s \
         (`--limit`): {fix}"
    );
    Some(Flaw { text, fatal: true, fixed_by_install })
}

/// The milliseconds that a command line of ours may take.
fn limit(command: &str) -> f64 {
    let given = option(command, &["--limit"]).and_then(|limit| limit.parse().ok());
    given.unwrap_or(LIMIT as f64)
}

/// The list that turns a hook off by its name or its command line.
fn disabling(handler: &Object<'_>, agent: Agent, root: &Object<'_>) -> Option<&'static str> {
    let name = handler.get_string("name").or_else(|| handler.get_string("command"))?.value.to_string();
    let is_in = |key: &str| {
        let list = root.get_object(key).and_then(|config| config.get_array("disabled"));
        let mut items = list.into_iter().flat_map(|list| &list.elements);
        items.any(|item| matches!(item, Value::StringLit(item) if *item.value == *name))
    };
    agent.form().disabling.iter().find(|(key, _)| is_in(key)).map(|(_, list)| *list)
}

/// Whether a handler is ours and nothing but what an agent that trusts hooks one by one has a digest of.
pub fn is_plain(handler: &Object<'_>, agent: Agent) -> bool {
    let ours = handler.get_string("command").is_some_and(|command| is_ours(&command.value, agent.name()));
    ours && handler.properties.iter().all(|property| matches!(property.name.as_str(), "type" | "command"))
}
