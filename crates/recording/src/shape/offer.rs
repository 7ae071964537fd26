//! Lists of tools that a model was offered, as chat recordings write them.

use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::session::Tool;

/// A list of offered tools.
#[derive(Default)]
pub struct Offer {
    /// The tools.
    pub tools: Vec<Tool>,
    /// Entries that are no tools.
    pub left_out: usize,
    /// Tools whose parameters cannot be read; they are kept without them.
    pub unread: usize,
}

/// The list of tools in a request to a model: under its own key, or where LiteLLM keeps the request.
pub fn offered<'a>(sent: &Members<'a>) -> Option<Node<'a>> {
    let tools = |members: &Members<'a>| members.any(&["tools", "functions"]);
    let within = |members: &Members<'a>, key| members.get(key).and_then(Node::members);
    tools(sent).or_else(|| {
        let params = ["optional_params", "model_parameters"].into_iter().filter_map(|key| within(sent, key));
        params
            .into_iter()
            .find_map(|params| tools(&params))
            .or_else(|| tools(&within(&within(sent, "additional_args")?, "complete_input_dict")?))
    })
}

/// The tools of a list as chat recordings write them: `{type: function, function: {…}}`, `{name, …}`, or a bare name;
/// the list itself also as JSON text. `None` if it is not a list.
pub fn tools(node: Node<'_>) -> Option<Offer> {
    // A list of tools is not a call.
    let node = node.tried();
    if let Some(text) = node.text() {
        let parsed = Node::parse(&text).ok().filter(|node| node.kind() == Kind::List)?;
        return tools(parsed);
    }
    let mut offer = Offer::default();
    for item in node.items()? {
        match tool(item, &mut offer.unread) {
            Some(tool) => offer.tools.push(tool),
            None => offer.left_out += 1,
        }
    }
    Some(offer)
}

fn tool(node: Node<'_>, unread: &mut usize) -> Option<Tool> {
    if let Some(name) = node.text() {
        return Some(Tool { name: name.as_ref().into(), description: None, parameters: None });
    }
    let members = node.members()?;
    let inner = members.any(&["function", "toolSpec"]).and_then(Node::members);
    let from = inner.as_ref().unwrap_or(&members);
    let name = from.get("name").and_then(Node::text)?;
    let description = from.get("description").and_then(Node::text).map(|text| text.as_ref().into());
    let recorded = from.any(&["parameters", "input_schema", "inputSchema"]);
    // Bedrock marks a schema as JSON.
    let json = recorded.filter(|_| members.has("toolSpec")).and_then(|schema| schema.members()?.get("json"));
    let recorded = json.or(recorded);
    let parameters = recorded.and_then(Node::value);
    *unread += usize::from(recorded.is_some() && parameters.is_none());
    Some(Tool { name: name.as_ref().into(), description, parameters })
}
