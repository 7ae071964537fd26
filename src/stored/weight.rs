//! Sizes of sessions, so that memory can be bounded.

use rulestep_base::session::Session;

/// Approximate bytes of a session whose content is not in memory.
pub const HANDLE: usize = 2048;

/// Bytes of memory, about, of a session, with the trees that rules look at and with the decisions.
pub fn weight(session: &Session) -> usize {
    let messages = session.messages.iter().map(|message| message.content.size() + 300);
    let calls = session.calls.iter().map(|call| 2 * call.arguments.size() + call.output.size() / 2 + 900);
    let offered = session.offered.iter().flat_map(|from| from.tools.iter());
    let tools = offered.map(|tool| 800 + tool.description.as_deref().map_or(0, str::len));
    let others = session.alternatives.iter().map(|other| other.message.content.size() + 600);
    1000 + messages.chain(calls).chain(tools).chain(others).sum::<usize>()
}
