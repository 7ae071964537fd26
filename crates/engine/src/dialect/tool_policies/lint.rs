//! Probable mistakes in tool policies that can be used as they are.
//!
//! That a call without a path is allowed cannot be seen here: it depends on the call.

use std::collections::{HashMap, HashSet};

use super::literal;
use super::unit::FileRule;
use crate::dialect::Text;
use crate::dialect::tool_policies::codes;
use rulestep_base::diagnostic::{Code, Diagnostic, Fix, code};
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Entry, Node, Span, quoted};

/// The warnings about a document.
pub(super) fn warnings(text: Text<'_>) -> Vec<Diagnostic> {
    let mut linting = Linter { text, scopes: Scopes::of(text.node), out: Vec::new() };
    linting.mounts();
    linting.files();
    linting.names();
    linting.idle();
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

    /// Whether a policy of this section (`None`: of the prompt) governs the tool.
    fn governs(&self, section: Option<usize>, tool: &str) -> bool {
        section.is_none_or(|section| self.homes.get(tool) == Some(&section))
    }

    /// The tools that all sequential policies require, in the order of the text.
    fn needs(&self) -> Vec<(&'a str, Span)> {
        let mut needs = Vec::new();
        for (_, policy) in self.policies.iter().filter(|(_, policy)| is_sequential(policy)) {
            let entries = policy.get("dependencies").and_then(Node::as_map).unwrap_or_default();
            for entry in entries {
                let items = entry.value.as_seq().unwrap_or_default();
                needs.extend(items.iter().filter_map(|need| Some((need.as_str()?, need.span))));
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

    /// Adds a fix to the latest warning: this text instead.
    fn suggest(&mut self, span: Span, text: &str) {
        let fix = Fix::rewrite(self.text.source, span, &text.into(), format!("write {}", quoted(text)));
        if let Some(last) = self.out.last_mut() {
            last.fix = fix.map(Box::new);
        }
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
                self.suggest(mount.span, trimmed);
            } else if let Some(told) = literal::mount(path) {
                self.warn(codes::LITERAL_PATH, mount.span, told.why, Some(told.help));
            }
        }
    }

    fn files(&mut self) {
        for file in items(self.text.node, "existing_files") {
            if let Some(told) = file.as_str().and_then(literal::file) {
                self.warn(codes::LITERAL_PATH, file.span, told.why, Some(told.help));
            }
        }
    }

    /// Policies that stop no call. In a section, one without dependencies still says where successes are recorded.
    fn idle(&mut self) {
        for (section, policy) in self.scopes.policies.clone() {
            let needs = |entry: &Entry| entry.value.as_seq().is_none_or(|needs| !needs.is_empty());
            let dependencies = policy.get("dependencies").and_then(Node::as_map);
            let writes = policy.get("write_tools").and_then(Node::as_seq);
            let message = if is_sequential(policy) && section.is_none() && !self.scopes.sections {
                let idle = dependencies.is_some_and(|entries| !entries.iter().any(needs));
                idle.then_some("no tool has a dependency here, so this policy stops no call")
            } else {
                let idle = writes.is_some_and(<[Node]>::is_empty);
                idle.then_some("`write_tools` is empty, so this policy stops no call")
            };
            if let Some(message) = message {
                let span = policy.span.first_line(self.text.source.text());
                self.warn(code::NO_RULES, span, message.to_owned(), None);
            } else if is_about_files(policy) && self.scopes.sections {
                self.unasked(section, policy);
            }
        }
    }

    /// The warning for a policy about files that governs no writing tool.
    fn unasked(&mut self, section: Option<usize>, policy: &Node) {
        let written = policy.get("write_tools").and_then(Node::as_seq);
        let names: Vec<&str> = match written {
            Some(written) => written.iter().filter_map(Node::as_str).collect(),
            None => FileRule::WRITE_TOOLS.to_vec(),
        };
        let governed =
            |tool: &&str| self.scopes.homes.contains_key(*tool) && self.scopes.governs(section, tool);
        if names.iter().any(governed) {
            return;
        }
        let listed = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let whose = if section.is_some() { "this section lists" } else { "the sections list" };
        let message =
            format!("{whose} none of the tools that write files ({listed}), so this policy stops no call");
        let help = match written {
            Some(_) => "move the policy to the section of these tools, or to the prompt's `policies`",
            None => "name the tools that write files in `write_tools`",
        };
        let span = policy.span.first_line(self.text.source.text());
        self.warn(codes::NEVER_ASKED, span, message, Some(help.to_owned()));
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
                    format!("this section does not list {}, so the entry is never checked", quoted(tool));
                self.warn(codes::NEVER_ASKED, span, message, None);
            }
        }
        for (name, span) in self.scopes.needs() {
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
            let known = nearest(name, self.scopes.homes.keys().copied());
            let help = known.map(|known| format!("did you mean `{known}`?"));
            self.warn(code::UNKNOWN_TOOL, span, format!("no section lists {}", quoted(name)), help);
            if let Some(known) = known {
                self.suggest(span, known);
            }
        }
    }
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).and_then(Node::as_seq).unwrap_or_default()
}

fn is_about_files(policy: &Node) -> bool {
    policy.get("type").and_then(Node::as_str) == Some("read_before_write")
}

fn is_sequential(policy: &Node) -> bool {
    policy.get("type").and_then(Node::as_str) == Some("sequential_dependency")
}
