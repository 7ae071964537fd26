//! The places of plans: on a tool, wherever a document keeps tools; and misplaced plans.
//!
//! Vapi's documents keep tools in many places (an assistant, its hooks, squads, overrides, workflows, answers of the
//! API), and more are added with every version. So the whole document is searched, and a plan outside a tool is an
//! error instead of a guard without effect.

use std::borrow::Cow;

use rulestep_base::source::nearest::{is_within, nearest};
use rulestep_base::source::{Entry, Field, Node, NodeValue, Span, pointer_push};

/// The key of a plan.
pub(super) const KEY: &str = "rejectionPlan";
/// The key that says whether the call counts as the model's newest message where its response has no text.
pub(super) const PENDING: &str = "pending_call";

/// The types of Vapi's tools. One of an unknown type is a tool where only tools are, as in `tools`.
const TYPES: &[&str] = &[
    "apiRequest",
    "bash",
    "code",
    "computer",
    "dtmf",
    "endCall",
    "function",
    "ghl",
    "handoff",
    "make",
    "mcp",
    "output",
    "query",
    "sipRequest",
    "sms",
    "textEditor",
    "transferCall",
    "transferCancel",
    "transferSuccessful",
    "voicemail",
];
/// Prefixes of the types of tools of other products: `google.calendar.event.create`.
const FAMILIES: &[&str] = &["google.", "gohighlevel.", "slack."];

/// A plan and its tool.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub tool: Field<'a>,
    /// The value of `rejectionPlan`; for `{tool, conditions}` the list of conditions.
    pub plan: Field<'a>,
    pub form: Form,
}

/// The form in which a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As Vapi does, on a tool.
    Published,
    /// `{tool: NAME, rejectionPlan: …}`, which only we know.
    Own,
    /// `{tool: NAME, conditions: […]}`.
    Bare,
}

/// A malformed plan.
#[derive(Debug)]
pub(super) enum Slip<'a> {
    /// The key is misspelt.
    Misspelt(&'a Entry),
    /// It is on something that is not a tool.
    OnNoTool(&'a Entry),
    /// It is within a tool's `function`.
    InFunction(&'a Entry),
    /// The conditions of a tool are on the tool itself.
    Unwrapped(&'a Entry),
}

/// The result of searching a document, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Search<'a> {
    pub places: Vec<Place<'a>>,
    pub slips: Vec<Slip<'a>>,
}

impl<'a> Place<'a> {
    /// The functions that the plan governs, as the model calls them.
    ///
    /// # Errors The document does not name them; with the problem and what to write.
    pub fn names(&self) -> Result<Vec<Cow<'a, str>>, (&'static str, &'static str)> {
        let kind = text(self.tool.node.get("type")).and_then(Node::as_str);
        let kind = kind.filter(|_| self.form == Form::Published && self.own_name().is_none());
        match (kind, self.name_node().and_then(Node::as_str)) {
            (Some("handoff"), _) => self.handoffs(),
            (Some("mcp"), _) => Err((
                "the model calls the functions of the MCP server, and which these are is not written here",
                "write a plan for each of them: `{tool: NAME, rejectionPlan: …}`",
            )),
            (_, Some(name)) => Ok(vec![name.into()]),
            (_, None) => {
                Err(("the plan's tool has no name", "write `function: {name: NAME}` beside the plan"))
            }
        }
    }

    /// The functions of a handoff: the model sees one for each assistant.
    fn handoffs(&self) -> Result<Vec<Cow<'a, str>>, (&'static str, &'static str)> {
        let destinations = self.tool.node.get("destinations").and_then(Node::as_seq).unwrap_or_default();
        let named = destinations.iter().map(|to| text(to.get("assistantName"))?.as_str());
        let plain =
            |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let named = named.map(|name| Some(format!("handoff_to_{}", name.filter(plain)?).into()));
        let named: Option<Vec<Cow<'a, str>>> = named.collect();
        named.filter(|named| !named.is_empty()).ok_or((
            "what the model calls this handoff is not written here, so the plan would guard nothing",
            "write `function: {name: NAME}` beside the plan, with the name that the model sees",
        ))
    }

    /// The span of that name.
    pub fn name_span(&self) -> Span {
        self.name_node().map_or(self.tool.span(), |name| name.span)
    }

    fn name_node(&self) -> Option<&'a Node> {
        let node = self.tool.node;
        if self.form != Form::Published {
            return text(node.get("tool"));
        }
        // Functions have names of their own; tools of another type have that of the type.
        let kind = text(node.get("type")).filter(|kind| kind.as_str() != Some("function"));
        self.own_name().or(kind)
    }

    /// The name that the document gives the tool.
    fn own_name(&self) -> Option<&'a Node> {
        let node = self.tool.node;
        let function = node.get("function").and_then(|function| function.get("name"));
        text(function).or_else(|| text(node.get("name")))
    }

    /// The author's words for the plan, in our own forms alone: elsewhere the description is the model's.
    pub fn description(&self) -> Option<&'a str> {
        let description = self.tool.node.get("description").and_then(Node::as_str);
        description.filter(|_| self.form != Form::Published)
    }
}

/// Whether there is a plan in the document, or something that was meant as one.
pub(super) fn mentions(node: &Node) -> bool {
    match &node.value {
        NodeValue::Seq(items) => items.iter().any(mentions),
        NodeValue::Map(entries) => {
            unwrapped(node).is_some()
                || entries.iter().any(|entry| {
                    entry.key == KEY
                        || is_misspelt(&entry.key)
                        || (entry.key != "properties" && mentions(&entry.value))
                })
        }
        _ => false,
    }
}

/// Whether the document's own keys are those of a plan for one tool, in either of our own forms.
pub(super) fn is_own_form(node: &Node) -> bool {
    node.get("tool").is_some()
        && node
            .as_map()
            .unwrap_or_default()
            .iter()
            .any(|entry| entry.key == KEY || entry.key == "conditions" || is_misspelt(&entry.key))
}

/// The first key of a plan in a document, or one that was meant as such.
pub(super) fn first(node: &Node) -> Option<&Entry> {
    match &node.value {
        NodeValue::Seq(items) => items.iter().find_map(first),
        NodeValue::Map(entries) => entries.iter().find_map(|entry| {
            let is_plan = entry.key == KEY || is_misspelt(&entry.key);
            if is_plan { Some(entry) } else { first(&entry.value).filter(|_| entry.key != "properties") }
        }),
        _ => None,
    }
}

/// The merge keys of a document, which YAML 1.2 does not have.
pub(super) fn merges(node: &Node) -> Vec<&Entry> {
    match &node.value {
        NodeValue::Seq(items) => items.iter().flat_map(merges).collect(),
        NodeValue::Map(entries) => {
            let own = entries.iter().filter(|entry| entry.key == "<<");
            own.chain(entries.iter().flat_map(|entry| merges(&entry.value))).collect()
        }
        _ => Vec::new(),
    }
}

/// Every plan of a document.
pub(super) fn search(document: &Node) -> Search<'_> {
    let mut found = Search::default();
    // Most documents of other people hold none.
    if mentions(document) || is_own_form(document) {
        // The answer to a request for tools is a tool, or a list of them; an assistant is not a tool, though it has a
        // name.
        let is_other = ["model", "voice", "transcriber", "members", "nodes", "tools"];
        let is_other = is_other.iter().any(|key| document.get(key).is_some());
        let is_tool = document.get("tool").is_some() || is_tool(document);
        visit(&Field::document(document), is_tool || !is_other, &mut found);
    }
    found
}

/// Looks at a value; `tools`: only tools are here.
fn visit<'a>(field: &Field<'a>, tools: bool, found: &mut Search<'a>) {
    if let Some(items) = field.node.as_seq() {
        for (index, node) in items.iter().enumerate() {
            let pointer = format!("{}/{index}", field.pointer);
            visit(&Field { node, pointer, key_span: None }, tools, found);
        }
        return;
    }
    let node = field.node;
    let own = tools && text(node.get("tool")).is_some();
    if own && node.entry(KEY).is_none() {
        found.places.extend(under(field, "conditions").map(|plan| Place {
            tool: field.clone(),
            plan,
            form: Form::Bare,
        }));
    } else {
        found.slips.extend(unwrapped(node).map(Slip::Unwrapped));
    }
    for entry in node.as_map().unwrap_or_default() {
        if entry.key == KEY {
            match under(field, KEY).filter(|_| tools || is_tool(node)) {
                Some(plan) => {
                    let form = if own { Form::Own } else { Form::Published };
                    found.places.push(Place { tool: field.clone(), plan, form });
                }
                None if field.pointer.ends_with("/function") => found.slips.push(Slip::InFunction(entry)),
                None => found.slips.push(Slip::OnNoTool(entry)),
            }
        } else if is_misspelt(&entry.key) {
            found.slips.push(Slip::Misspelt(entry));
        } else if let Some(child) = under(field, &entry.key).filter(|_| entry.key != "properties") {
            // The value of `properties` is a schema: an argument may be called like a plan.
            visit(&child, keeps_tools(node, entry, tools && field.pointer.is_empty()), found);
        }
    }
}

/// Whether only tools are under this key.
fn keeps_tools(node: &Node, entry: &Entry, root: bool) -> bool {
    match entry.key.as_str() {
        "tools" | "tools:append" | "functions" => entry.value.as_seq().is_some(),
        "results" => root && entry.value.as_seq().is_some(),
        // An action of a hook or a node of a workflow: `{type: tool, tool: …}`.
        "tool" => node.get("type").and_then(Node::as_str).is_none_or(|kind| kind == "tool"),
        _ => false,
    }
}

/// Whether a value is a tool by its own keys.
fn is_tool(node: &Node) -> bool {
    let kind = node.get("type").and_then(Node::as_str);
    kind.is_some_and(|kind| TYPES.contains(&kind) || FAMILIES.iter().any(|family| kind.starts_with(family)))
        || text(node.get("function").and_then(|function| function.get("name"))).is_some()
}

/// The conditions of a plan without the plan around them, on a tool.
fn unwrapped(node: &Node) -> Option<&Entry> {
    let conditions = node.entry("conditions").filter(|_| is_tool(node) && node.get(KEY).is_none())?;
    holds_conditions(&conditions.value).then_some(conditions)
}

/// Whether a list holds conditions of plans.
pub(super) fn holds_conditions(list: &Node) -> bool {
    let is_condition = |item: &Node| {
        let kind = item.get("type").and_then(Node::as_str);
        kind.is_some_and(|kind| matches!(kind, "regex" | "liquid" | "group"))
    };
    list.as_seq().unwrap_or_default().iter().any(is_condition)
}

/// Whether a key was meant as `rejectionPlan`. Vapi has many other plans, and `redactionPlan` would be near.
fn is_misspelt(key: &str) -> bool {
    const LONGEST: usize = 24;
    let begins = key.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("rej"));
    // Every key of every document is checked, and hardly any is as long.
    if key == KEY || key.len() > LONGEST || !begins && key.len().abs_diff(KEY.len()) > 1 {
        return false;
    }
    is_within(if begins { 2 } else { 1 }, key, KEY)
        || begins && key.to_ascii_lowercase().contains("plan") && nearest(key, [KEY]).is_some()
}

fn text(node: Option<&Node>) -> Option<&Node> {
    node.filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
}

fn under<'a>(field: &Field<'a>, key: &str) -> Option<Field<'a>> {
    let entry = field.node.entry(key)?;
    let mut pointer = field.pointer.clone();
    pointer_push(&mut pointer, key);
    Some(Field { node: &entry.value, pointer, key_span: Some(entry.key_span) })
}
