//! Conversations of OpenHands with models that call tools in their text: a call is `<function=…>` at the end of a
//! response, and its result is the message after it.

use super::Chat;
use crate::shape::status::Status;
use crate::shape::{command, tags};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

impl Chat<'_> {
    /// Adds the calls in the text of the latest response.
    pub(super) fn written(&mut self, builder: &mut Builder, content: &Body, at: Option<Millis>) {
        let Some(text) = content.said() else { return };
        let written = tags::written(text, |_| false);
        self.waiting = 0;
        for call in written.calls.into_iter().filter(|_| written.at_end) {
            builder.call(None, &call.tool, Body::json(&call.arguments.to_string()), at);
            self.waiting += 1;
        }
    }

    /// Takes a message as the result of such a call; returns whether it is one.
    pub(super) fn take_written(
        &mut self,
        builder: &mut Builder,
        role: &str,
        content: &Body,
        at: Option<Millis>,
    ) -> bool {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting == 0 || role != "user" || !command::is_openhands(content) {
            return false;
        }
        self.waiting = waiting - 1;
        let ended = command::openhands(content.shown());
        if ended != Status::Unknown {
            builder.mark_errors();
        }
        let error = self.fails(content);
        if ended == Status::Open && !self.told(content) {
            builder.unsure(None, content.clone(), None, at);
        } else {
            builder.result(None, content.clone(), Mark { error, refused: None }, at);
        }
        true
    }
}
