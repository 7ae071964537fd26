//! Calls that show whether a hook works: the shortest that a policy stops, and one that it allows. Candidates are made
//! from the policy's own words and tried with a gate, those first that the agent can make.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use rulestep_base::source::{Node, NodeValue, parse};
use rulestep_engine::gate::Gate;
use rulestep_engine::monitor::{CallPart, rule_name};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Verdict;
use rulestep_shell::facts::{AgentTool, Role, Table};

/// A call to try a hook with.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// The policy's decisions about calls that begin a session.
#[derive(Debug, Default)]
pub struct Trials {
    /// Calls that the agent can make, of which the last one is denied and the others are not; if none is ever denied,
    /// one that a person is asked about. Empty: none was found.
    pub stopped: Vec<TrialCall>,
    /// A call that is allowed.
    pub allowed: Option<TrialCall>,
}

/// A tool that no policy names.
pub const UNHEARD: &str = "rulestep_doctor";
/// Argument names in which agents pass what policies look at.
const KEYS: [&str; 4] = ["command", "file_path", "path", "url"];
/// The most calls that are tried.
const MOST: usize = 20_000;
/// The most calls of one tool that are tried before others.
const EACH: usize = 1_000;
/// How often a call is repeated to see whether a limit stops it.
const REPEATS: usize = 12;

/// Searches for both, for sessions with this context, of an agent with these tools.
pub fn find(policy: &Arc<Policy>, context: &Value, tools: &[AgentTool]) -> Trials {
    let gate = || Gate::new(policy).context(context.clone());
    let verdict =
        |call: &TrialCall| gate().turn().propose(&call.tool, call.arguments.clone()).decision().verdict;
    let (mut trials, mut asked) = (Trials::default(), None);
    for call in candidates(policy, tools).into_iter().take(MOST) {
        let can = can_make(tools, &call.tool);
        match verdict(&call) {
            Verdict::Allow if trials.allowed.is_none() => trials.allowed = Some(call),
            Verdict::Ask if can && asked.is_none() => asked = Some(call),
            Verdict::Deny | Verdict::Halt if can && trials.stopped.is_empty() => trials.stopped.push(call),
            _ => {}
        }
        if trials.allowed.is_some() && !trials.stopped.is_empty() {
            return trials;
        }
    }
    if trials.stopped.is_empty() {
        let repeated = repeated(policy, tools, &gate);
        trials.stopped = repeated.or(asked.map(|call| vec![call])).unwrap_or_default();
    }
    trials
}

/// Whether an agent with these tools can make a call to a tool: what tools its MCP servers have is not known. Without tools: any agent.
fn can_make(tools: &[AgentTool], tool: &str) -> bool {
    tools.is_empty() || tool.starts_with("mcp_") || tools.iter().any(|own| own.name == tool)
}

/// A call that is denied when it is made often.
fn repeated(policy: &Arc<Policy>, tools: &[AgentTool], gate: &dyn Fn() -> Gate) -> Option<Vec<TrialCall>> {
    policy.names().iter().filter(|tool| can_make(tools, tool)).find_map(|tool| {
        let own = tools.iter().find(|own| *own.name == **tool);
        let arguments = own.map_or_else(|| json!({}), |own| own.arguments(UNHEARD));
        let call = TrialCall { tool: tool.to_string(), arguments };
        let mut gate = gate();
        let count = (1..=REPEATS).find(|_| {
            let asked = gate.turn().propose(tool, call.arguments.clone());
            let denied = matches!(asked.decision().verdict, Verdict::Deny | Verdict::Halt);
            if asked.allowed() {
                asked.succeeded(json!("ok"));
            }
            denied
        })?;
        Some(vec![call; count])
    })
}

/// The names of the rules that no call of the agent's own tools can match, without rules about tools of MCP servers.
pub fn unmet(policy: &Policy, tools: &[AgentTool]) -> Vec<String> {
    let mut unmet = Vec::new();
    for unit in policy.units() {
        let mut names = Vec::new();
        unit.names(&mut names);
        // Of a rule with two sides, the denied one counts: if only its other side can match, it stops nothing.
        let denies = names.iter().any(|name| unit.wakes(name).decide);
        let is_met = |name: &str| {
            let wakes = unit.wakes(name);
            wakes.decide || !denies && wakes.observe.any()
        };
        let mut outside = names.iter().filter(|name| name.starts_with("mcp_"));
        if names.is_empty() || outside.any(|name| is_met(name)) || tools.iter().any(|tool| is_met(tool.name))
        {
            continue;
        }
        unmet.extend(unit.rules().iter().filter_map(|id| policy.rules().get(*id)).map(rule_name));
    }
    unmet
}

/// A path that the policy names in the folder `named`, as it is written, and guards there and not in the folder `own`, where the
/// agent has it. Both folders are absolute; `written` is how the policy writes the first.
pub fn unguarded(
    policy: &Arc<Policy>,
    context: &Value,
    tools: &[AgentTool],
    (written, named, own): (&str, &str, &str),
) -> Option<String> {
    let files: Vec<&AgentTool> =
        tools.iter().filter(|tool| role(tool).is_some_and(|role| role != Role::Command)).collect();
    let stopped = |path: &str| {
        files.iter().any(|tool| {
            let mut gate = Gate::new(policy).context(context.clone());
            gate.turn().propose(tool.name, tool.arguments(path)).decision().verdict != Verdict::Allow
        })
    };
    all_texts(policy).into_iter().find(|value| {
        let rest = value.strip_prefix(written).and_then(|rest| rest.strip_prefix('/')).map(plain);
        rest.is_some_and(|rest| stopped(&format!("{named}/{rest}")) && !stopped(&format!("{own}/{rest}")))
    })
}

/// A text of the policy that begins with the home folder.
pub fn names_home(policy: &Policy) -> Option<String> {
    all_texts(policy).into_iter().find(|value| value.trim_start_matches('!').starts_with("~/"))
}

/// Calls made from what the policy names: those that the agent can make, then all others, the plain ones first.
fn candidates(policy: &Policy, agent: &[AgentTool]) -> Vec<TrialCall> {
    let (mut values, mut lines): (Vec<String>, Vec<String>) = Default::default();
    for document in policy.documents() {
        for document in &parse(&document.source).documents {
            texts(document, &mut values);
            commands(document, &mut lines);
        }
    }
    // A pattern often matches its own text without special characters.
    let plain: Vec<String> = values.iter().map(|value| plain(value)).collect();
    values.extend(plain);
    values.sort_by_key(String::len);
    values.dedup();
    values.retain(|value| !value.is_empty() && value.len() <= 200);
    let is_tool = |value: &&String| value.len() <= 80 && !value.contains(char::is_whitespace);
    let named: Vec<String> = policy.names().iter().map(|name| name.to_string()).collect();
    let others = values.iter().filter(is_tool).filter(|value| !named.contains(value)).cloned();
    let tools: Vec<String> =
        std::iter::once(UNHEARD.to_owned()).chain(named.iter().cloned()).chain(others).collect();
    let call = |tool: &str, arguments| TrialCall { tool: tool.to_owned(), arguments };
    let mut calls: Vec<TrialCall> = Vec::new();
    for tool in agent {
        let Some(role) = role(tool) else { continue };
        let runs = role == Role::Command;
        let on = lines.iter().filter(|_| runs).chain(&values);
        let on = on.filter(|text| runs || !text.contains(char::is_whitespace));
        calls.extend(on.take(EACH).map(|on| call(tool.name, tool.arguments(on))));
    }
    calls.extend(agent.iter().map(|tool| call(tool.name, tool.arguments(UNHEARD))));
    let is_own = |tool: &str| agent.iter().any(|own| own.name == tool);
    calls.extend(tools.iter().filter(|tool| !is_own(tool)).map(|tool| call(tool, json!({}))));
    for probe in policy.probes().iter().filter(|probe| matches!(probe.part, CallPart::Arguments)) {
        calls.extend(values.iter().map(|value| call(&probe.tool, at(&probe.path, value))));
    }
    for tool in std::iter::once("Bash").chain(named.iter().map(String::as_str)).chain([UNHEARD]) {
        for key in KEYS {
            calls.extend(values.iter().map(|value| call(tool, json!({key: value}))));
        }
    }
    calls
}

/// The role of a tool's argument, if it names a file or a host, or is a command that the call runs.
fn role(tool: &AgentTool) -> Option<Role> {
    let facts = Table::default();
    let row = facts.tool(tool.name).filter(|row| !row.types)?;
    let named = row.does.iter().find(|argument| argument.names.iter().any(|name| name == tool.argument))?;
    Some(named.role).filter(|role| !matches!(role, Role::Patch | Role::Searches | Role::Folder))
}

/// A command line for each program that a document names.
fn commands(node: &Node, out: &mut Vec<String>) {
    match &node.value {
        NodeValue::Seq(items) => items.iter().for_each(|item| commands(item, out)),
        NodeValue::Map(entries) => {
            let first = |node: &Node| match node.as_seq() {
                Some(items) => items.first().and_then(Node::as_str).map(str::to_owned),
                None => node.as_str().map(str::to_owned),
            };
            if let Some(program) = node.get("program").and_then(first) {
                let words = |key: &str| {
                    let node = node.get(key);
                    let items = node.and_then(Node::as_seq).unwrap_or_default();
                    let one = node.filter(|node| node.as_seq().is_none());
                    items.iter().chain(one).filter_map(first).collect::<Vec<_>>()
                };
                let flags = words("flags").into_iter().map(|flag| match flag.trim_start_matches('-') {
                    name if name.chars().count() == 1 || name.chars().nth(1) == Some('=') => {
                        format!("-{name}")
                    }
                    name => format!("--{name}"),
                });
                let line: Vec<String> = std::iter::once(program).chain(words("args")).chain(flags).collect();
                out.push(line.join(" ").replace('*', "x"));
            }
            entries.iter().for_each(|entry| commands(&entry.value, out));
        }
        _ => {}
    }
}

/// Every key and every text of a policy.
fn all_texts(policy: &Policy) -> Vec<String> {
    let mut values = Vec::new();
    for document in policy.documents() {
        parse(&document.source).documents.iter().for_each(|document| texts(document, &mut values));
    }
    values
}

/// Every key and every text of a document.
fn texts(node: &Node, out: &mut Vec<String>) {
    match &node.value {
        NodeValue::Seq(items) => items.iter().for_each(|item| texts(item, out)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| {
            out.push(entry.key.clone());
            texts(&entry.value, out);
        }),
        _ => out.extend(node.as_str().map(str::to_owned)),
    }
}

fn plain(pattern: &str) -> String {
    let escapes =
        [("\\b", ""), ("\\s+", " "), ("\\s*", ""), ("\\s", " "), (".*", "x"), ("**/", ""), ("*", "x")];
    let text = escapes.iter().fold(pattern.to_owned(), |text, (sign, plain)| text.replace(sign, plain));
    let text = text.split('|').next().unwrap_or_default();
    text.chars().filter(|sign| !"^$()[]?\\+{}".contains(*sign)).collect()
}

/// Arguments with this value at a path, whatever way the path is written.
fn at(path: &str, value: &str) -> Value {
    let keys = path.split(['$', '.', '/', '[', ']', '\'', '"']).filter(|key| !key.is_empty());
    keys.rev().fold(Value::from(value), |value, key| Value::Object(Map::from_iter([(key.to_owned(), value)])))
}
