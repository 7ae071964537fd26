//! Where tools, and so their plans, stand in the configuration of an assistant, of a squad, or by themselves.

use crate::source::{Field, Node, Span, pointer_push};

/// A tool, and its plan if it has one.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub tool: Field<'a>,
    pub plan: Option<Field<'a>>,
    /// `{tool: NAME, rejectionPlan: …}`, which only we know.
    pub own_form: bool,
}

impl<'a> Place<'a> {
    /// The name of the tool that the plan governs.
    pub fn name(&self) -> Option<&'a str> {
        self.name_node().and_then(Node::as_str)
    }

    /// Where that name stands.
    pub fn name_span(&self) -> Span {
        self.name_node().map_or(self.tool.span(), |name| name.span)
    }

    fn name_node(&self) -> Option<&'a Node> {
        let node = self.tool.node;
        let text =
            |node: Option<&'a Node>| node.filter(|name| name.as_str().is_some_and(|name| !name.is_empty()));
        if self.own_form {
            return text(node.get("tool"));
        }
        let function = node.get("function").and_then(|function| function.get("name"));
        text(function).or_else(|| text(node.get("name"))).or_else(|| text(node.get("type")))
    }

    /// The author's words for the plan, in our own form alone: elsewhere the description is the model's.
    pub fn description(&self) -> Option<&'a str> {
        self.tool.node.get("description").and_then(Node::as_str).filter(|_| self.own_form)
    }
}

/// Every tool of a document, in the order of the places, then of the text.
pub(super) fn places(document: &Node) -> Vec<Place<'_>> {
    let root = Field::document(document);
    let mut found = Vec::new();
    if document.get("rejectionPlan").is_some() {
        let own_form = document.get("tool").is_some();
        let plan = under(&root, "rejectionPlan");
        found.push(Place { tool: root.clone(), plan, own_form });
    }
    configuration(&root, &mut found);
    squad(&root, &mut found);
    for key in ["assistant", "assistantOverrides"] {
        each(under(&root, key), |field| configuration(field, &mut found));
    }
    each(under(&root, "squad"), |field| squad(field, &mut found));
    found
}

fn squad<'a>(field: &Field<'a>, found: &mut Vec<Place<'a>>) {
    for member in items(under(field, "members")) {
        configuration(&member, found);
        for key in ["assistant", "assistantOverrides"] {
            each(under(&member, key), |field| configuration(field, found));
        }
    }
    each(under(field, "membersOverrides"), |field| configuration(field, found));
}

/// The tools of an assistant.
fn configuration<'a>(field: &Field<'a>, found: &mut Vec<Place<'a>>) {
    let model = under(field, "model");
    for tools in [
        model.as_ref().and_then(|model| under(model, "tools")),
        under(field, "tools"),
        under(field, "tools:append"),
    ] {
        items(tools).into_iter().for_each(|tool| found.push(place(tool)));
    }
    for hook in items(under(field, "hooks")) {
        for action in items(under(&hook, "do")) {
            if action.node.get("type").and_then(Node::as_str) == Some("tool") {
                each(under(&action, "tool"), |tool| found.push(place(tool.clone())));
            }
        }
    }
}

fn place(tool: Field<'_>) -> Place<'_> {
    let plan = under(&tool, "rejectionPlan");
    Place { tool, plan, own_form: false }
}

fn each<'a>(field: Option<Field<'a>>, mut visit: impl FnMut(&Field<'a>)) {
    field.iter().for_each(&mut visit);
}

fn under<'a>(field: &Field<'a>, key: &str) -> Option<Field<'a>> {
    let entry = field.node.entry(key)?;
    let mut pointer = field.pointer.clone();
    pointer_push(&mut pointer, key);
    Some(Field { node: &entry.value, pointer, key_span: Some(entry.key_span) })
}

fn items<'a>(list: Option<Field<'a>>) -> Vec<Field<'a>> {
    let Some(list) = list else { return Vec::new() };
    let nodes = list.node.as_seq().unwrap_or_default().iter().enumerate();
    nodes
        .map(|(index, node)| Field { node, pointer: format!("{}/{index}", list.pointer), key_span: None })
        .collect()
}
