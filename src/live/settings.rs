//! Our hook in an agent's settings: added and removed by editing the text, so that everything else stays as it is, to
//! the last space and comment.
//!
//! Removing reverses the steps of adding. The text is parsed again after each step, and every step is one entry.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Ast};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Value, json};

use super::Agent;
use super::agent::{HookForm, Switch};
use splice::{cut, insert, pretty, replace, slice};

pub use hook::{Flaw, Hook, best, is_ours, option};
pub use splice::is_empty;

mod flaws;
mod hook;
mod splice;

/// Why settings are left as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub why: String,
}

/// The command lines that are entered.
#[derive(Debug, Clone)]
pub struct Commands {
    /// For events that decide a call.
    pub deciding: String,
    /// For events that report something.
    pub reporting: String,
}

/// Every command in the settings.
///
/// # Errors
/// The settings cannot be read, or have a form that is not known.
pub fn hooks(text: &str, agent: Agent) -> Result<Vec<Hook>, Refusal> {
    let places = places(text, agent)?;
    Ok(places.into_iter().map(|place| place.hook).collect())
}

/// The settings with our hook. An existing entry keeps its place, with the new command.
///
/// # Errors As [`hooks`].
pub fn with(text: &str, agent: Agent, commands: &Commands) -> Result<String, Refusal> {
    let (mut text, mut steps) = (text.to_owned(), MOST_STEPS);
    while let Some(changed) = next_entry(&text, agent, commands)? {
        text = changed;
        steps -= 1;
        // A newly added hook is not taken for an old one when the text is read again.
        if steps == 0 {
            return Err(Refusal {
                line: 1,
                why: "the hook cannot be entered so that it is found again".to_owned(),
            });
        }
    }
    Ok(text)
}

/// The most changes of one text. There are a few for each event, and one for each entry of ours that is in it already.
const MOST_STEPS: usize = 1000;

/// The settings without our hook. Containers that only held it are removed as well, unless `before` has them, the text
/// that it was added to.
///
/// # Errors As [`hooks`].
pub fn without(text: &str, agent: Agent, before: Option<&str>) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    while let Some(place) = places(&text, agent)?.into_iter().find(|place| place.hook.is_ours) {
        text = remove(&text, agent, before, &place)?;
    }
    let had = |key| before.is_some_and(|before| has(before, agent, &[key]));
    // Hooks that others have added meanwhile need the key, too.
    if let Some((key, _)) = agent.form().needs
        && before.is_some()
        && !had(key)
        && (had("hooks") || !has(&text, agent, &["hooks"]))
    {
        let tree = Tree::parse(&text, agent)?;
        if let Some(root) = tree.root()?
            && let Some(needed) = root.get(key)
        {
            return Ok(cut(&text, root.range, &ranges(&root.properties), needed.range));
        }
    }
    Ok(text)
}

/// Whether a file with the agent's switch enables hooks; `None`: it does not say.
///
/// # Errors It cannot be read.
pub fn run_hooks(text: &str, agent: Agent) -> Result<Option<bool>, String> {
    match agent.places().switch {
        Switch::Toml(read) => read(text),
        Switch::Json(read) => {
            let tree = Tree::parse(text, agent).map_err(|refusal| refusal.why)?;
            Ok(tree.value.as_ref().and_then(Ast::as_object).and_then(read))
        }
    }
}

/// Whether a text has a value at this path.
fn has(text: &str, agent: Agent, path: &[&str]) -> bool {
    let Ok(tree) = Tree::parse(text, agent) else { return false };
    let mut at = tree.value.as_ref();
    for key in path {
        at = at.and_then(Ast::as_object).and_then(|object| Some(&object.get(key)?.value));
    }
    at.is_some()
}

/// A text and its value.
struct Tree<'t> {
    text: &'t str,
    value: Option<Ast<'t>>,
}

impl<'t> Tree<'t> {
    fn parse(text: &'t str, agent: Agent) -> Result<Tree<'t>, Refusal> {
        let options = ParseOptions {
            allow_comments: agent.form().comments,
            allow_loose_object_property_names: false,
            allow_trailing_commas: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| Refusal {
            line: error.line_display(),
            why: format!("it is not JSON as the agent reads it: {}", lowercase(&error.kind().to_string())),
        })?;
        Ok(Tree { text, value: parsed.value })
    }

    fn line(&self, at: usize) -> usize {
        slice(self.text, 0, at).matches('\n').count() + 1
    }

    fn refuse<T>(&self, at: usize, why: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal { line: self.line(at), why: why.into() })
    }

    fn object<'a>(&self, value: &'a Ast<'t>, what: &str) -> Result<&'a Object<'t>, Refusal> {
        let Some(object) = value.as_object() else {
            return self.refuse(value.range().start, format!("{what} is not an object"));
        };
        for (index, property) in object.properties.iter().enumerate() {
            let name = property.name.as_str();
            if object.properties.iter().take(index).any(|earlier| earlier.name.as_str() == name) {
                return self.refuse(property.range.start, format!("the key `{name}` is there twice"));
            }
        }
        Ok(object)
    }

    fn array<'a>(&self, value: &'a Ast<'t>, what: &str) -> Result<&'a Array<'t>, Refusal> {
        match value.as_array() {
            Some(array) => Ok(array),
            None => self.refuse(value.range().start, format!("{what} is not a list")),
        }
    }

    /// `None`: there is no value yet.
    fn root(&self) -> Result<Option<&Object<'t>>, Refusal> {
        self.value.as_ref().map(|value| self.object(value, "the whole")).transpose()
    }

    fn hooks<'a>(&self, root: &'a Object<'t>) -> Result<Option<&'a Object<'t>>, Refusal> {
        root.get("hooks").map(|hooks| self.object(&hooks.value, "`hooks`")).transpose()
    }
}

/// A command, with what holds it.
struct Place {
    hook: Hook,
    /// The member of the event's list that is or holds it.
    member: usize,
    /// Its index in the group, and the size of the group.
    in_group: Option<(usize, usize)>,
}

fn places(text: &str, agent: Agent) -> Result<Vec<Place>, Refusal> {
    let tree = Tree::parse(text, agent)?;
    let mut places = Vec::new();
    let Some(root) = tree.root()? else { return Ok(places) };
    let Some(hooks) = tree.hooks(root)? else { return Ok(places) };
    for property in &hooks.properties {
        let found = event_places(&tree, property, agent);
        // Other keys under `hooks` (Gemini CLI has had switches there) belong to the agent.
        if found.is_ok() || agent.events().iter().any(|(event, _)| *event == property.name.as_str()) {
            places.extend(found?);
        }
    }
    Ok(places)
}

fn event_places(tree: &Tree<'_>, property: &ObjectProp<'_>, agent: Agent) -> Result<Vec<Place>, Refusal> {
    let event = property.name.as_str();
    let mut places = Vec::new();
    let what = format!("an entry of `hooks.{event}`");
    let list = tree.array(&property.value, &format!("`hooks.{event}`"))?;
    for (member, value) in list.elements.iter().enumerate() {
        let object = tree.object(value, &what)?;
        let matcher = object.get_string("matcher").map(|matcher| matcher.value.to_string());
        let matcher = matcher.filter(|matcher| !matches!(&**matcher, "" | "*" | ".*"));
        let mut add = |handler: &Object<'_>, in_group: Option<(usize, usize)>| {
            let Some(command) = handler.get_string("command") else { return };
            let is_ours = is_ours(&command.value, agent.name());
            let root = tree.value.as_ref().and_then(Ast::as_object);
            let hook = Hook {
                event: event.to_owned(),
                command: command.value.to_string(),
                matcher: matcher.clone(),
                is_ours,
                flaws: if is_ours { flaws::flaws(handler, agent, event, root) } else { Vec::new() },
                place: (member, in_group.map_or(0, |(index, _)| index)),
                is_plain: matcher.is_none() && flaws::is_plain(handler, agent),
                line: tree.line(command.range.start),
                range: command.range,
            };
            places.push(Place { hook, member, in_group });
        };
        if !agent.form().groups {
            add(object, None);
            continue;
        }
        let Some(group) = object.get("hooks") else {
            return tree.refuse(object.range.start, format!("{what} has no `hooks`"));
        };
        let handlers = &tree.array(&group.value, &format!("`hooks` of {what}"))?.elements;
        for (index, handler) in handlers.iter().enumerate() {
            add(tree.object(handler, "a hook")?, Some((index, handlers.len())));
        }
    }
    Ok(places)
}

/// The entry for an event.
fn entry(form: &HookForm, decides: bool, commands: &Commands) -> Value {
    let command = if decides { &commands.deciding } else { &commands.reporting };
    match form.fails_closed {
        _ if form.groups => json!({"hooks": [{"type": "command", "command": command}]}),
        Some(key) if decides => json!({"command": command, key: true}),
        _ => json!({"command": command}),
    }
}

/// The text with the next thing entered that is missing.
fn next_entry(text: &str, agent: Agent, commands: &Commands) -> Result<Option<String>, Refusal> {
    let tree = Tree::parse(text, agent)?;
    let Some(root) = tree.root()? else {
        let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(Some(format!("{text}{line_end}{{}}\n")));
    };
    let key = |name: &str, value: &str| format!("{}: {value}", Value::from(name));
    let add_key = |object: &Object<'_>, name: &str, value: &str| {
        Ok(Some(insert(text, object.range, &ranges(&object.properties), &key(name, value))))
    };
    if let Some((key, value)) = agent.form().needs.filter(|(key, _)| root.get(key).is_none()) {
        return add_key(root, key, value);
    }
    let Some(hooks) = tree.hooks(root)? else { return add_key(root, "hooks", "{}") };
    let places = places(text, agent)?;
    let ours = |event: &str| -> Vec<&Place> {
        places.iter().filter(|place| place.hook.is_ours && place.hook.event == event).collect()
    };
    // One hook for every call is enough; if there is none, each may be for calls that the others are not for.
    let whole = |event: &str| ours(event).into_iter().find(|place| place.hook.is_whole());
    for place in places.iter().filter(|place| place.hook.is_ours) {
        if whole(&place.hook.event).is_some_and(|whole| !std::ptr::eq(whole, place)) {
            return remove(text, agent, Some(text), place).map(Some);
        }
        let decides = agent.decides(&place.hook.event);
        let command = if decides { &commands.deciding } else { &commands.reporting };
        if place.hook.command != *command {
            return Ok(Some(replace(text, place.hook.range, &Value::from(&**command).to_string())));
        }
    }
    for (event, decides) in agent.events() {
        let Some(property) = hooks.get(event) else { return add_key(hooks, event, "[]") };
        let own = ours(event);
        if whole(event).is_some() || !own.is_empty() && own.iter().all(|place| !place.hook.is_broken()) {
            continue;
        }
        let list = tree.array(&property.value, &format!("`hooks.{event}`"))?;
        let entry = pretty(text, &entry(agent.form(), decides, commands));
        return Ok(Some(insert(text, list.range, &value_ranges(list), &entry)));
    }
    Ok(None)
}

/// The text without a command, and without what held nothing else.
fn remove(text: &str, agent: Agent, before: Option<&str>, place: &Place) -> Result<String, Refusal> {
    let tree = Tree::parse(text, agent)?;
    let event = &*place.hook.event;
    let kept = |path: &[&str]| before.is_some_and(|before| has(before, agent, path));
    let found = tree.root()?.and_then(|root| {
        let hooks = tree.hooks(root).ok()??;
        let property = hooks.get(event)?;
        let list = property.value.as_array()?;
        Some((root, hooks, property, list))
    });
    let Some((root, hooks, property, list)) = found else { return tree.refuse(0, "the hook is not found") };
    let member = list.elements.get(place.member);
    if let Some((index, count)) = place.in_group
        && count > 1
        && let Some(group) = member.and_then(Ast::as_object).and_then(|group| group.get_array("hooks"))
        && let Some(handler) = group.elements.get(index)
    {
        return Ok(cut(text, group.range, &value_ranges(group), handler.range()));
    }
    if let Some(member) = member
        && (list.elements.len() > 1 || kept(&["hooks", event]))
    {
        return Ok(cut(text, list.range, &value_ranges(list), member.range()));
    }
    if hooks.properties.len() > 1 || kept(&["hooks"]) {
        return Ok(cut(text, hooks.range, &ranges(&hooks.properties), property.range));
    }
    let whole = root.get("hooks").map_or(property.range, |hooks| hooks.range);
    Ok(cut(text, root.range, &ranges(&root.properties), whole))
}

fn ranges(properties: &[ObjectProp<'_>]) -> Vec<Range> {
    properties.iter().map(|property| property.range).collect()
}

fn value_ranges(list: &Array<'_>) -> Vec<Range> {
    list.elements.iter().map(Ranged::range).collect()
}

fn lowercase(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
