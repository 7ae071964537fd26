//! The result of reading a text's rules, and the aliases they may use.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use regex::Regex;

use super::facts::Order;
use super::lint;
use crate::dialect::Text;
use crate::dialect::question::{self, RunsRead, Table};
use crate::monitor::{Rules, Unit};
use rulestep_base::diagnostic::{Diagnostic, Fix};
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Field, Fields, Problem, Span, quoted};

/// Reads the documents of one text into units.
pub(super) struct Reading<'a, 'r> {
    pub text: Text<'a>,
    pub rules: &'r mut Rules,
    pub units: &'r mut Vec<Arc<dyn Unit>>,
    /// Files that were read because a test names them.
    pub files: &'r mut BTreeSet<String>,
    /// The test that the rules at hand belong to.
    pub test: Option<Arc<str>>,
    /// Warnings about probable mistakes.
    pub warnings: Vec<Diagnostic>,
    /// The rules so far, by their list and how they are written, each with its place.
    pub seen: HashMap<String, Vec<(Order, Span)>>,
    /// For rules that bound the same calls the tightest, with their bounds.
    pub bounds: HashMap<String, Vec<(Order, lint::Bound)>>,
    /// The facts about programs and tools for the current document.
    pub facts: Table,
    /// Whether a rule asks what calls do.
    pub asks: bool,
    /// The expressions so far: an alias repeats one in many rules.
    pub patterns: HashMap<String, Regex>,
    /// The lists of commands, likewise.
    pub runs: RunsRead<'a>,
}

/// Names for several tools: those of a mapping, then those around it.
#[derive(Clone, Default)]
pub(super) struct Aliases<'a> {
    own: usize,
    pub all: Vec<Rc<Alias<'a>>>,
}

pub(super) struct Alias<'a> {
    pub name: &'a str,
    span: Span,
    pub members: Vec<Arc<str>>,
    pub used: Cell<bool>,
}

impl<'a> Aliases<'a> {
    /// The tools that a name in a rule means: those of the alias, else the tool of this name.
    pub fn tools(
        &self,
        field: &Field<'a>,
        name: &'a str,
        reading: &mut Reading<'_, '_>,
        out: &mut Vec<Problem>,
    ) -> Vec<Arc<str>> {
        if let Some(alias) = self.all.iter().find(|alias| alias.name == name) {
            alias.used.set(true);
            return alias.members.clone();
        }
        let help = "give the tools one name in `aliases`; only `blocklist` and `allowlist` accept stars";
        out.extend(Wildcard::of(name).map(|found| found.problem(field.span(), help)));
        if let Some(alias) = self.meant(name) {
            // It is not unused, and removing it would remove the trace of the intended name.
            alias.used.set(true);
            let fix = Fix::rewrite(
                reading.text.source,
                field.span(),
                &alias.name.into(),
                format!("write {}", quoted(alias.name)),
            );
            reading.warn(lint::misspelt_alias(name, alias.name).fix(fix), field.span());
        }
        if let Some(instead) = question::instead_of_command(name) {
            reading.warn(lint::command_as_tool(name, &instead), field.span());
        }
        vec![name.into()]
    }

    /// The alias for which an unknown name is probably a slip. Tools are often called like their alias.
    fn meant(&self, name: &str) -> Option<&Alias<'a>> {
        const SHORTEST: usize = 5;
        let listed = |alias: &Rc<Alias<'a>>| alias.members.iter().any(|member| **member == *name);
        if name.len() < SHORTEST || self.all.iter().any(listed) {
            return None;
        }
        let near = self.all.iter().filter(|alias| {
            let letters = name.len().max(alias.name.len());
            let differs = !alias.name.eq_ignore_ascii_case(name);
            differs && strsim::damerau_levenshtein(name, alias.name) * 5 <= letters
        });
        near.min_by_key(|alias| strsim::damerau_levenshtein(name, alias.name)).map(|alias| &**alias)
    }

    /// Warns of a name that is an alias, where aliases are not looked up.
    pub fn lint_listed(&self, name: &str, span: Span, reading: &mut Reading<'_, '_>) {
        if let Some(alias) = self.all.iter().find(|alias| alias.name == name) {
            alias.used.set(true);
            reading.warn(lint::alias_in_list(name), span);
        }
    }
}

impl<'a, 'r> Reading<'a, 'r> {
    pub fn new(
        text: Text<'a>,
        rules: &'r mut Rules,
        units: &'r mut Vec<Arc<dyn Unit>>,
        files: &'r mut BTreeSet<String>,
    ) -> Reading<'a, 'r> {
        Reading {
            text,
            rules,
            units,
            files,
            test: None,
            warnings: Vec::new(),
            seen: HashMap::new(),
            bounds: HashMap::new(),
            facts: Table::default(),
            asks: false,
            patterns: HashMap::new(),
            runs: RunsRead::default(),
        }
    }

    /// Adds a warning about a probable mistake.
    pub fn warn(&mut self, warning: Diagnostic, span: Span) {
        self.warnings.push(warning.at(self.text.source, span));
    }

    /// An expression, compiled once however often it is written.
    ///
    /// # Errors It is not a regular expression.
    pub fn pattern(&mut self, text: &str) -> Result<Regex, regex::Error> {
        if let Some(known) = self.patterns.get(text) {
            return Ok(known.clone());
        }
        let pattern = Regex::new(text)?;
        self.patterns.insert(text.to_owned(), pattern.clone());
        Ok(pattern)
    }

    /// The aliases of a mapping, before those around it.
    pub fn aliases(
        &mut self,
        fields: &mut Fields<'a>,
        outer: &Aliases<'a>,
        out: &mut Vec<Problem>,
    ) -> Aliases<'a> {
        let mut aliases = Aliases { own: 0, all: Vec::new() };
        let mut members_read = Vec::new();
        let entries = fields.optional("aliases").and_then(|aliases| aliases.entries(out));
        for (name, field) in entries.into_iter().flatten() {
            let members = field.list(out, |member, out| {
                let help = |_: &Wildcard<'a>| "list the members by their names".to_owned();
                let tool = member.exact_name(out, help)?;
                members_read.push((name, tool, member.span()));
                Some(Arc::from(tool))
            });
            let members = members.unwrap_or_default();
            let span = field.key_span.unwrap_or(field.span());
            aliases.all.push(Rc::new(Alias { name, span, members, used: Cell::new(false) }));
        }
        aliases.own = aliases.all.len();
        aliases.all.extend(outer.all.iter().cloned());
        for (alias, member, span) in members_read {
            self.lint_member(alias, member, span, &aliases);
        }
        aliases
    }

    /// Warns of a member that is an alias itself: it means a tool of that name. An alias that lists its own name has
    /// such a tool.
    fn lint_member(&mut self, alias: &str, member: &str, span: Span, aliases: &Aliases<'_>) {
        let Some(other) = aliases.all.iter().find(|other| other.name == member && other.name != alias) else {
            return;
        };
        if !other.members.iter().any(|tool| **tool == *member) {
            other.used.set(true);
            self.warn(lint::alias_in_list(member), span);
        }
    }

    /// Warns of rows of `facts` where no rule asks what calls do.
    pub fn lint_facts(&mut self) {
        if let Some(entry) = self.text.node.entry("facts").filter(|_| !self.asks) {
            self.warn(lint::idle_facts(), entry.key_span);
        }
    }

    /// Warns of the aliases of this mapping that no rule has named.
    pub fn lint_aliases(&mut self, aliases: &Aliases<'a>) {
        for alias in aliases.all.iter().take(aliases.own).filter(|alias| !alias.used.get()) {
            let fix = Fix::remove(self.text.source, alias.span, "remove the alias");
            self.warn(lint::unused_alias(alias.name).fix(fix), alias.span);
        }
    }
}
