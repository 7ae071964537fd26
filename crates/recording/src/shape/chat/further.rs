//! The calls of a response that are not in its `tool_calls`: other interfaces keep them at other places, and a
//! recording may have both. A call that is at two places is read once.

use super::Chat;
use crate::input::shallow::{Members, Node};
use crate::shape::blocks::{Answer, BlockCall, Blocks};
use crate::shape::suspicion;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Call, Damage, Millis};

impl<'a> Chat<'a> {
    /// Adds the calls of the latest response that are not among those from `first` on, `blocks` of its content
    /// included, and reports other parts of it that may be calls.
    pub(super) fn further(
        &mut self,
        builder: &mut Builder,
        members: &Members<'a>,
        blocks: Option<Blocks>,
        first: u64,
        at: Option<Millis>,
    ) {
        // Where LangChain keeps the original message of the model.
        let sent = members.try_get("additional_kwargs").and_then(Node::members);
        if let Some(sent) = sent {
            let calls = sent.try_get("tool_calls").and_then(Node::items).unwrap_or_default();
            for call in calls.into_iter().chain(sent.get("function_call")) {
                self.unless_known(builder, call, first, at);
            }
        }
        if let Some(blocks) = blocks {
            self.blocks(builder, blocks, first, at);
        }
        if let Some(what) = suspicion::unread(members, &suspicion::CHAT) {
            self.damaged(builder, Damage::calls(suspicion::left_out(&what)));
        }
    }

    /// Adds a call, unless it is one of those from `first` on.
    pub(super) fn unless_known(
        &mut self,
        builder: &mut Builder,
        call: Node<'a>,
        first: u64,
        at: Option<Millis>,
    ) {
        let (mut aside, in_python) = (builder.aside(), self.in_python);
        self.call(&mut aside, call, at);
        self.in_python = in_python;
        let read = aside.finish();
        match read.calls.as_slice() {
            [call] if is_known(builder, first, call.id.as_deref(), &call.tool, &call.arguments) => {}
            // It is read again for its other data.
            _ => self.call(builder, call, at),
        }
    }

    fn blocks(&mut self, builder: &mut Builder, blocks: Blocks, first: u64, at: Option<Millis>) {
        blocks.odd.into_iter().for_each(|odd| self.damaged(builder, odd));
        builder.at_line(self.lines.line());
        for BlockCall { id, tool, input } in blocks.calls {
            if !is_known(builder, first, id.as_deref(), &tool, &input) {
                builder.call(id.as_deref(), &tool, input, at);
            }
        }
        for answer in blocks.answers {
            let mark = self.mark(&answer);
            answer.give(builder, at, mark);
        }
    }

    /// The mark of a result among the blocks of a content.
    pub(super) fn mark(&self, answer: &Answer) -> Mark {
        Mark { error: answer.error.unwrap_or_else(|| self.fails(&answer.content)), refused: None }
    }
}

/// Whether a call is one of those from `first` on. If it is at two places, the second may have no arguments.
fn is_known(builder: &Builder, first: u64, id: Option<&str>, tool: &str, arguments: &Body) -> bool {
    let calls = builder.so_far().calls.get(first as usize..).unwrap_or_default();
    let is = |call: &Call| {
        let other = matches!((id, call.id.as_deref()), (Some(one), Some(other)) if one != other);
        let same = || arguments == &call.arguments || arguments.value() == call.arguments.value();
        !other && *call.tool == *tool && (matches!(arguments.raw(), "" | "{}") || same())
    };
    calls.iter().any(is)
}
