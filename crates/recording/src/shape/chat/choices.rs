//! The choices of a response in the chat form.

use crate::input::shallow::{Kind, Members, Node};
use crate::shape::chat::{Chat, Rules};
use crate::shape::suspicion;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Damage, Millis};

/// A choice of a response.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// Its message, if it has one.
    pub message: Option<Node<'a>>,
    /// Why the model stopped.
    reason: Option<Node<'a>>,
}

impl Choice<'_> {
    /// Damage if it ended to call a tool and no calls were read in it.
    pub fn promised(&self, calls: u64) -> Option<Damage> {
        suspicion::promised(self.reason.filter(|_| calls == 0))
    }

    /// Adds it to the latest response as choice `number` (from 1), which was not taken.
    pub fn beside(&self, builder: &mut Builder, number: u32, rules: &Rules, at: Option<Millis>) {
        let calls = beside(builder, number, self.message, rules, at);
        self.promised(calls).into_iter().for_each(|odd| builder.damaged(odd));
    }
}

/// The choices of a response, the one with the lowest index first.
pub fn choices<'a>(response: &Members<'a>) -> Vec<Choice<'a>> {
    let list = response.get("choices").and_then(Node::items).unwrap_or_default();
    let mut choices: Vec<_> = list.into_iter().map(|choice| choice.members().unwrap_or_default()).collect();
    let index = |choice: &Members<'_>| choice.get("index").and_then(Node::number::<u64>);
    if choices.iter().all(|choice| index(choice).is_some()) {
        choices.sort_by_key(index);
    }
    choices
        .iter()
        .map(|choice| Choice {
            message: choice.get("message").filter(|message| message.kind() == Kind::Object),
            reason: suspicion::reason(choice),
        })
        .collect()
}

/// Adds the message of a choice of the latest response that was not taken; `choice` is its number, from 1. Returns the
/// number of its calls.
pub fn beside(
    builder: &mut Builder,
    choice: u32,
    message: Option<Node<'_>>,
    rules: &Rules,
    at: Option<Millis>,
) -> u64 {
    let Some((node, members)) = message.and_then(|node| Some((node, node.members()?))) else {
        let message = format!("choice {choice} of the response has no message; it is left out");
        builder.damaged(Damage::calls(message));
        return 0;
    };
    let mut aside = builder.aside();
    let mut chat = Chat::new(node, builder.line(), rules);
    chat.otherwise_at(at);
    chat.message(&mut aside, &members);
    let calls = aside.call_count();
    builder.beside(choice, aside);
    calls
}
