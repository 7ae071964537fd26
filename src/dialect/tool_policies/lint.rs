//! What is probably not meant in tool policies, though it can be used as it is.
//!
//! That a call without a path is let through cannot be seen here: it depends on the call.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::Text;
use crate::dialect::tool_policies::codes;
use crate::source::nearest::nearest;
use crate::source::{Node, Span, quoted};

/// The warnings about a document.
pub(super) fn warnings(text: Text<'_>) -> Vec<Diagnostic> {
    let mut linting = Linter { text, scopes: Scopes::of(text.node), out: Vec::new() };
    linting.mounts();
    linting.names();
    linting.circles();
    linting.out
}

/// The sections' tools, and where successes are recorded.
struct Scopes<'a> {
    sections: bool,
    /// The section of each tool.
    homes: HashMap<&'a str, usize>,
    /// Sections with a sequential policy of their own.
    recording: HashSet<usize>,
    prompt_records: bool,
    /// Every policy with its section; `None`: the prompt's.
    policies: Vec<(Option<usize>, &'a Node)>,
}

struct Linter<'a> {
    text: Text<'a>,
    scopes: Scopes<'a>,
    out: Vec<Diagnostic>,
}

/// A tool needs another, as an entry says here.
#[derive(Clone, Copy)]
struct Need<'a> {
    section: Option<usize>,
    tool: (&'a str, Span),
    needs: (&'a str, Span),
}

impl<'a> Scopes<'a> {
    fn of(document: &'a Node) -> Scopes<'a> {
        let sections = items(document, "sections");
        let prompt = items(document, "policies").iter().map(|policy| (None, policy));
        let mut scopes = Scopes {
            sections: !sections.is_empty(),
            homes: HashMap::new(),
            recording: HashSet::new(),
            prompt_records: items(document, "policies").iter().any(is_sequential),
            policies: prompt.collect(),
        };
        for (number, section) in sections.iter().enumerate() {
            for tool in items(section, "tools").iter().filter_map(Node::as_str) {
                scopes.homes.entry(tool).or_insert(number);
            }
            let own = items(section, "policies");
            if own.iter().any(is_sequential) {
                scopes.recording.insert(number);
            }
            scopes.policies.extend(own.iter().map(|policy| (Some(number), policy)));
        }
        scopes
    }

    /// Whether a policy of this section (`None`: of the prompt) is asked about the tool.
    fn governs(&self, section: Option<usize>, tool: &str) -> bool {
        section.is_none_or(|section| self.homes.get(tool) == Some(&section))
    }

    /// The needs of all sequential policies, in the order of the text.
    fn needs(&self) -> Vec<Need<'a>> {
        let mut needs = Vec::new();
        for (section, policy) in self.policies.iter().filter(|(_, policy)| is_sequential(policy)) {
            let entries = policy.get("dependencies").and_then(Node::as_map).unwrap_or_default();
            for entry in entries {
                let tool = (entry.key.as_str(), entry.key_span);
                for need in entry.value.as_seq().unwrap_or_default() {
                    let Some(name) = need.as_str() else { continue };
                    needs.push(Need { section: *section, tool, needs: (name, need.span) });
                }
            }
        }
        needs
    }
}

impl<'a> Linter<'a> {
    fn warn(&mut self, code: Code, span: Span, message: String, help: Option<String>) {
        let mut warning = Diagnostic::warning(code, message).at(self.text.source, span);
        warning.help = help;
        self.out.push(warning);
    }

    fn mounts(&mut self) {
        let mounts: Vec<&Node> =
            self.scopes.policies.iter().filter_map(|(_, policy)| policy.get("mount_point")).collect();
        for mount in mounts {
            let Some(path) = mount.as_str() else { continue };
            let trimmed = path.trim_end_matches('/');
            if trimmed.len() < path.len() && !trimmed.is_empty() {
                let message = format!(
                    "the mount point {} ends in a slash, so it is never removed from a path",
                    quoted(path)
                );
                self.warn(
                    codes::MOUNT_POINT_SLASH,
                    mount.span,
                    message,
                    Some(format!("write {}", quoted(trimmed))),
                );
            }
        }
    }

    fn names(&mut self) {
        if !self.scopes.sections {
            return;
        }
        let mut keys: Vec<(Option<usize>, &'a str, Span)> = Vec::new();
        let mut unknown: Vec<(&'a str, Span)> = Vec::new();
        for (section, policy) in &self.scopes.policies {
            for entry in policy.get("dependencies").and_then(Node::as_map).unwrap_or_default() {
                keys.push((*section, &entry.key, entry.key_span));
            }
            for tool in ["read_tools", "write_tools"].into_iter().flat_map(|key| items(policy, key)) {
                let listed = |name: &&str| self.scopes.homes.contains_key(*name);
                unknown.extend(tool.as_str().filter(|name| !listed(name)).map(|name| (name, tool.span)));
            }
        }
        for (section, tool, span) in keys {
            if !self.scopes.homes.contains_key(tool) {
                unknown.push((tool, span));
            } else if !self.scopes.governs(section, tool) {
                let message =
                    format!("this section does not list {}, so the entry is never asked", quoted(tool));
                self.warn(codes::NEVER_ASKED, span, message, None);
            }
        }
        for Need { needs: (name, span), .. } in self.scopes.needs() {
            match self.scopes.homes.get(name) {
                None => unknown.push((name, span)),
                Some(home) if !self.scopes.prompt_records && !self.scopes.recording.contains(home) => {
                    let message =
                        format!("no sequential policy governs {}, so it is never recorded", quoted(name));
                    let help = "give its section a sequential policy, even one with `dependencies: {}`";
                    self.warn(codes::PREREQUISITE_NOT_RECORDED, span, message, Some(help.to_owned()));
                }
                Some(_) => {}
            }
        }
        unknown.sort_by_key(|(_, span)| span.start);
        for (name, span) in unknown {
            let help = nearest(name, self.scopes.homes.keys().copied())
                .map(|known| format!("did you mean `{known}`?"));
            self.warn(codes::UNKNOWN_TOOL, span, format!("no section lists {}", quoted(name)), help);
        }
    }

    fn circles(&mut self) {
        let mut edges: HashMap<&'a str, Vec<(&'a str, Span)>> = HashMap::new();
        let mut order: Vec<&'a str> = Vec::new();
        for need in self.scopes.needs() {
            let ((tool, _), (name, span)) = (need.tool, need.needs);
            if !self.scopes.governs(need.section, tool) {
                continue;
            }
            if tool == name {
                let message = format!("{} needs itself, so it can never run", quoted(tool));
                self.warn(codes::SELF_DEPENDENCY, span, message, None);
                continue;
            }
            let known = edges.entry(tool).or_insert_with(|| {
                order.push(tool);
                Vec::new()
            });
            known.push((name, span));
        }
        let mut told: HashSet<&str> = HashSet::new();
        for tool in order {
            if told.contains(tool) {
                continue;
            }
            let Some((circle, span)) = circle(tool, &edges) else { continue };
            told.extend(&circle);
            let names: Vec<String> = circle.iter().chain([&tool]).map(|name| quoted(name)).collect();
            let message = format!("none of these tools can ever run: {}", names.join(" needs "));
            self.warn(codes::DEPENDENCY_CYCLE, span, message, None);
        }
    }
}

/// A shortest way from a tool over what it needs back to itself, and where its first step is.
fn circle<'a>(tool: &'a str, edges: &HashMap<&'a str, Vec<(&'a str, Span)>>) -> Option<(Vec<&'a str>, Span)> {
    // From each tool that was reached, the one that needs it.
    let mut from: HashMap<&str, &'a str> = HashMap::new();
    let mut queue = VecDeque::from([tool]);
    while let Some(at) = queue.pop_front() {
        for (next, _) in edges.get(at).into_iter().flatten() {
            if *next == tool {
                let mut way = vec![at];
                while let Some(before) =
                    way.last().filter(|last| **last != tool).and_then(|last| from.get(last))
                {
                    way.push(before);
                }
                way.reverse();
                let second = way.get(1).copied().unwrap_or(tool);
                let first = edges.get(tool)?.iter().find(|(name, _)| *name == second)?;
                return Some((way, first.1));
            }
            if !from.contains_key(next) {
                from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).and_then(Node::as_seq).unwrap_or_default()
}

fn is_sequential(policy: &Node) -> bool {
    policy.get("type").and_then(Node::as_str) == Some("sequential_dependency")
}
