//! Parts of a request to the model besides its messages: newer logs keep the tools that were offered.

use crate::input::shallow::{Members, Node};
use crate::shape::offer;
use rulestep_base::session::Tool;

/// The type of lines with what does not change from request to request.
pub const SHAPE: &str = "api-request-shape";

/// The tools that such a line offers; `None`: unknown.
pub fn shape(line: &Members<'_>) -> Option<Vec<Tool>> {
    let within = |key| line.get(key).map(Node::tried).and_then(Node::members);
    let own = line
        .get("tools")
        .or_else(|| ["shape", "request", "params"].into_iter().find_map(within)?.get("tools"));
    own.and_then(offer::tools).map(|offer| offer.tools)
}
