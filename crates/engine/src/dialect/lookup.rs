//! Reference pages as data: the documentation of every key, at every place of a document.
//!
//! The pages are the one source. Descriptions in the schemas, the entries of `explain DIALECT.KEY`, and an editor's
//! completions and hovers are taken from them. A page has a section for each place, whose heading ends in the place
//! (`preconditions[]`), and in it an item for each key: its type, whether it may be missing, then its meaning.

mod page;

use std::sync::LazyLock;

pub use self::page::{Key, Presence, Values};
use self::page::{entries, items, parts};
use super::{DIALECTS, Dialect};
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Node, NodeValue, Source, parse};

/// A page.
pub struct Reference {
    /// Its dialect.
    pub dialect: &'static Dialect,
    /// The published system: `contracts of Vesanor (ReplayCI)`.
    pub follows: &'static str,
    /// The sections about places, in the order of the page.
    pub sections: Vec<Section>,
    /// Differences of the published system, by keys.
    differences: Vec<(Vec<&'static str>, String)>,
    /// The examples, with the place of each in the page.
    examples: Vec<(usize, &'static str)>,
}

/// The section of a page about one place.
pub struct Section {
    /// The place, as the heading has it: `.`, `preconditions[]`, `rules[type=before]`.
    pub place: &'static str,
    /// The keys that there are at this place.
    pub keys: Vec<Key>,
    at: usize,
}

/// One step of the way to a mapping in a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The key.
    pub key: String,
    /// The value of `type` in the mapping there.
    pub kind: Option<String>,
}

/// A key at its place, found by the way to it.
#[derive(Clone, Copy)]
pub struct Match<'r> {
    /// The page.
    pub reference: &'r Reference,
    /// The place.
    pub section: &'r Section,
    /// The key.
    pub key: &'r Key,
}

static PAGES: LazyLock<Vec<Reference>> = LazyLock::new(|| DIALECTS.iter().map(Reference::read).collect());

/// All paths that can be looked up in the pages: `contract.preconditions.match`.
pub fn paths() -> &'static [String] {
    static PATHS: LazyLock<Vec<String>> =
        LazyLock::new(|| PAGES.iter().flat_map(|page| page.keys().map(|found| found.path())).collect());
    &PATHS
}

/// A key whose entry is shown without its page, so that nothing is above or below it.
fn alone(key: Key, dialect: &str) -> Key {
    let page = format!("\" in `rulestep explain {dialect}`");
    let meaning = ["\" below", "\" above"].iter().fold(key.meaning, |text, there| text.replace(there, &page));
    Key { meaning, ..key }
}

impl Reference {
    /// The page of a dialect.
    pub fn of(dialect: &Dialect) -> Option<&'static Reference> {
        PAGES.iter().find(|page| page.dialect.name == dialect.name)
    }

    fn read(dialect: &'static Dialect) -> Reference {
        let page = dialect.reference;
        let (mut sections, mut differences): (Vec<Section>, _) = (Vec::new(), Vec::new());
        for (at, heading, body) in parts(page) {
            let place = heading.rsplit_once(" (`").and_then(|(_, place)| place.strip_suffix("`)"));
            if let Some(place) = place {
                let keys = items(body).into_iter().flat_map(|(names, text)| entries(&names, &text));
                let keys = keys.map(|key| alone(key, dialect.name)).collect();
                sections.push(Section { place, keys, at });
            } else if heading.starts_with("Differences") {
                differences = items(body);
            }
        }
        let follows = page.split_once("It follows the ").and_then(|(_, rest)| rest.split_once(". "));
        let follows = follows.or_else(|| page.split_once("It follows the ")?.1.split_once(".\n"));
        let (mut examples, mut at) = (Vec::new(), 0);
        for (place, block) in page.split("```").enumerate() {
            if place % 2 == 1 {
                examples.push((at, block.strip_prefix("yaml\n").unwrap_or(block)));
            }
            at += block.len() + 3;
        }
        let follows = follows.map_or("", |(follows, _)| follows);
        Reference {
            dialect,
            follows: follows.lines().next().unwrap_or_default(),
            sections,
            differences,
            examples,
        }
    }

    /// The sections about a mapping of a document: those of the whole way to it, else those of its end.
    pub fn sections_at<'r>(&'r self, way: &[Step]) -> Vec<&'r Section> {
        self.matching(way, false)
    }

    fn matching<'r>(&'r self, way: &[Step], loose: bool) -> Vec<&'r Section> {
        if way.is_empty() {
            return self.sections.iter().filter(|section| section.place == ".").collect();
        }
        // A lookup may begin at the top of a document, but only with a key.
        let is_key = |step: &Step| self.keys().any(|found| found.key.name == step.key);
        let ends = (0..way.len()).filter_map(|from| way.split_at_checked(from));
        let mut found = ends.filter(|(before, _)| !loose || before.iter().all(is_key)).map(|(_, end)| {
            self.sections.iter().filter(|section| self.is_at(section, end, loose)).collect::<Vec<_>>()
        });
        found.find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn is_at(&self, section: &Section, way: &[Step], loose: bool) -> bool {
        let is_here = |place: &[&str]| {
            place.len() == way.len()
                && place.iter().zip(way).all(|(wanted, step)| self.is_step(wanted, step, loose))
        };
        let mut place: Vec<&str> = section.place.split('.').collect();
        if section.place == "." || is_here(&place) {
            return section.place != ".";
        }
        // `limits.action` need not name the tool.
        place.retain(|step| *step != "*");
        loose && is_here(&place)
    }

    fn is_step(&self, wanted: &str, step: &Step, loose: bool) -> bool {
        let (name, kind) = named(wanted);
        let same = name == "*" || self.is_key(&step.key, name);
        same && match kind {
            None => true,
            Some(kind) => step.kind.as_deref().map_or(loose, |is| self.is_key(is, kind)),
        }
    }

    /// Whether a key of a document is what the page calls so.
    fn is_key(&self, key: &str, name: &str) -> bool {
        name == key || self.dialect.places.contains(&(key, name))
    }

    /// The entries of a key in a document, by the way to the mapping it is in.
    pub fn keys_at<'r>(&'r self, way: &[Step], key: &str) -> Vec<Match<'r>> {
        self.with(&self.sections_at(way), key)
    }

    fn with<'r>(&'r self, sections: &[&'r Section], key: &str) -> Vec<Match<'r>> {
        let keys = sections.iter().flat_map(|section| section.keys.iter().map(move |key| (*section, key)));
        let found = keys.filter(|(_, known)| known.name == key);
        found.map(|(section, key)| Match { reference: self, section, key }).collect()
    }

    /// The entries for a query: `preconditions.resource.path`, with the kind of a rule or without it.
    pub fn named(&self, asked: &str) -> Vec<Match<'_>> {
        let mut way = self.way(asked);
        match way.pop() {
            Some(Step { key, kind: None }) => self.with(&self.matching(&way, true), &key),
            _ => Vec::new(),
        }
    }

    /// The sections for a query: `rules.before`, or the content of a key.
    pub fn sections_named(&self, asked: &str) -> Vec<&Section> {
        let way = self.way(asked);
        let at = |section: &&Section| self.is_at(section, &way, true);
        let of_kind = |section: &&Section| section.place.ends_with(']') && !section.place.ends_with("[]");
        let found = || self.sections.iter().filter(at);
        // For `rules.before`, only the sections of that kind.
        match way.last().is_some_and(|last| last.kind.is_some()) {
            true => found().filter(of_kind).collect(),
            false => found().collect(),
        }
    }

    fn way(&self, asked: &str) -> Vec<Step> {
        let mut way: Vec<Step> = Vec::new();
        let mut rest = asked.split('.').peekable();
        while let Some(step) = rest.next() {
            let (name, kind) = named(step);
            let is_kind = |last: &Step| {
                let places = self.sections.iter().flat_map(|section| section.place.split('.'));
                let is_it = |(place, kind)| kind == Some(name) && self.is_key(&last.key, place);
                last.kind.is_none() && places.map(named).any(is_it)
            };
            // `conditions.regex` is the key, `conditions.regex.target` the kind.
            match way.last_mut().filter(|last| is_kind(last)) {
                Some(last) if rest.peek().is_some() || self.is_only_kind(asked) => {
                    last.kind = Some(name.to_owned())
                }
                _ => way.push(Step { key: name.to_owned(), kind: kind.map(str::to_owned) }),
            }
        }
        way
    }

    /// Whether the query ends in a kind that is not also a key.
    fn is_only_kind(&self, asked: &str) -> bool {
        let last = asked.rsplit('.').next().unwrap_or_default();
        !self.sections.iter().any(|section| section.keys.iter().any(|key| key.name == last))
    }

    /// Every key with its place.
    pub fn keys(&self) -> impl Iterator<Item = Match<'_>> {
        let of = move |section| self.keys_of(section);
        self.sections.iter().flat_map(of)
    }

    /// The keys of a section.
    pub fn keys_of<'r>(&'r self, section: &'r Section) -> impl Iterator<Item = Match<'r>> {
        section.keys.iter().map(move |key| Match { reference: self, section, key })
    }
}

impl<'r> Match<'r> {
    /// The way to ask for it: `contract.preconditions.resource.path`.
    pub fn path(&self) -> String {
        let mut path = self.reference.dialect.name.to_owned();
        for step in self.section.place.split('.').filter(|step| !step.is_empty()) {
            let (name, kind) = named(step);
            [Some(name), kind].into_iter().flatten().for_each(|part| path.extend([".", part]));
        }
        path.extend([".", self.key.name]);
        path
    }

    /// Difference of the published system: what is documented for a key holds for everything within it.
    pub fn difference(&self) -> Option<&'r str> {
        let path = self.path();
        let path = path.split_once('.').map_or("", |(_, path)| path);
        let mut ways = std::iter::successors(Some(path), |way| Some(way.rsplit_once('.')?.0));
        let of = |way: &str| self.reference.differences.iter().find(|(keys, _)| keys.contains(&way));
        ways.find_map(of).map(|(_, text)| text.as_str())
    }

    /// The example of the page that has this key: one of the same section, else the shortest.
    pub fn example(&self) -> Option<&'r str> {
        let ends = |start: usize| {
            let later = self.reference.sections.iter().map(|section| section.at).find(|at| *at > start);
            later.unwrap_or(usize::MAX)
        };
        let own = self.section.at..ends(self.section.at);
        let all = self.reference.examples.iter();
        let with = all.filter(|(_, text)| {
            parse(&Source::new("example", *text)).documents.iter().any(|node| self.is_in(node))
        });
        with.min_by_key(|(at, text)| (!own.contains(at), text.len())).map(|(_, text)| *text)
    }

    fn is_in(&self, document: &Node) -> bool {
        let mut found = false;
        mappings(document, &mut Vec::new(), &mut |way, node| {
            let here =
                || self.reference.sections_at(way).iter().any(|section| std::ptr::eq(*section, self.section));
            found |= node.get(self.key.name).is_some() && here();
        });
        found
    }

    /// The sections about what is within the key.
    pub fn within(&self) -> Vec<&'r Section> {
        let path = self.path();
        path.split_once('.').map_or_else(Vec::new, |(_, path)| self.reference.sections_named(path))
    }
}

/// The entries of the keys on a line (from 1) of a text, in its order; for a line without one, of the key whose value
/// it is in.
pub fn on_line(source: &Source, line: u32) -> Vec<Match<'static>> {
    let Some(span) = source.line_span(line) else { return Vec::new() };
    let written = source.slice(span).trim_start();
    let start = span.end - written.len();
    let parsed = parse(source);
    let mut documents = parsed.documents.iter();
    let here = documents.find(|node| node.span.start <= span.end && start <= node.span.end);
    let page = here.and_then(super::of).and_then(Reference::of);
    let (Some(document), Some(page)) = (here, page) else { return Vec::new() };
    let (mut on, mut around): (Vec<(usize, Match<'_>)>, Vec<Match<'_>>) = (Vec::new(), Vec::new());
    mappings(document, &mut Vec::new(), &mut |way, node| {
        for entry in node.as_map().unwrap_or_default() {
            let found = || page.keys_at(way, &entry.key);
            if (span.start..span.end).contains(&entry.key_span.start) {
                on.extend(found().into_iter().map(|found| (entry.key_span.start, found)));
            } else if (entry.value.span.start..entry.value.span.end).contains(&start) {
                around = found();
            }
        }
    });
    if on.is_empty() {
        return around;
    }
    on.sort_by_key(|(at, _)| *at);
    on.dedup_by_key(|(_, found)| found.path());
    on.into_iter().map(|(_, found)| found).collect()
}

/// The entries for `DIALECT.KEY`; none if there is no such dialect.
pub fn asked(name: &str) -> Option<(&'static Reference, &str)> {
    let (dialect, key) = name.split_once('.')?;
    Some((Reference::of(super::meant(dialect)?)?, key))
}

/// The known path that a misspelt one most probably means: the same key at another place, else the nearest path.
pub fn nearest_path(reference: &Reference, key: &str) -> Option<String> {
    let dialect = reference.dialect.name;
    let paths: Vec<String> = reference.keys().map(|found| found.path()).collect();
    let inner = |path: &str| path.split_once('.').map_or(0, |(dialect, _)| dialect.len() + 1);
    let near = nearest(key, paths.iter().filter_map(|path| path.get(inner(path)..)));
    let name = nearest(key.rsplit('.').next()?, reference.keys().map(|found| found.key.name));
    let same_name = near.filter(|near| near.rsplit('.').next() == name);
    let elsewhere = || reference.keys().find(|found| Some(found.key.name) == name).map(|found| found.path());
    let near = |near: &str| format!("{dialect}.{near}");
    same_name.map(near).or_else(elsewhere)
}

/// Every mapping of a document with the way to it. Items of a list at the top are read as `rules`.
pub fn mappings<'n>(node: &'n Node, way: &mut Vec<Step>, take: &mut dyn FnMut(&[Step], &'n Node)) {
    match &node.value {
        NodeValue::Map(entries) => {
            let kind = node.get("type").and_then(Node::as_str).map(str::to_owned);
            let outer = way.last_mut().map(|last| std::mem::replace(&mut last.kind, kind));
            take(way, node);
            for entry in entries.iter() {
                way.push(Step { key: entry.key.clone(), kind: None });
                mappings(&entry.value, way, take);
                way.pop();
            }
            if let (Some(last), Some(outer)) = (way.last_mut(), outer) {
                last.kind = outer;
            }
        }
        NodeValue::Seq(items) => {
            let top = way.is_empty();
            way.extend(top.then(|| Step { key: TOP_LIST.to_owned(), kind: None }));
            items.iter().for_each(|item| mappings(item, way, take));
            way.truncate(if top { 0 } else { way.len() });
        }
        _ => {}
    }
}

/// The content of a list at the top of a file.
pub const TOP_LIST: &str = "rules";

/// A step of a place without its brackets, and the `type` that it asks for.
fn named(step: &str) -> (&str, Option<&str>) {
    match step.split_once('[') {
        Some((name, inner)) => (name, inner.strip_prefix("type=").and_then(|kind| kind.strip_suffix(']'))),
        None => (step, None),
    }
}
