//! The outcome of a call, by its result in the chat form.

use super::Chat;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::status::{Status, status};
use crate::shape::suspicion;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};
use rulestep_base::source::quoted;

impl<'a> Chat<'a> {
    /// Adds a result.
    pub(super) fn result(&mut self, builder: &mut Builder, members: &Members<'a>, at: Option<Millis>) {
        let id = members.get("tool_call_id").and_then(Node::id);
        // Some recordings repeat the call in its result, under `tool_call`.
        let keys = ["tool_calls", "function_call", "toolCalls", "functionCall", "function_calls"];
        let listed = members.any(&keys).is_some_and(|calls| calls.json() != "[]");
        if listed || suspicion::calls_in_content(members).is_some() {
            self.lost(
                builder,
                "a result has calls, which are left out: calls are read from responses".to_owned(),
            );
        }
        let mut content = self.content(builder, members);
        // The error is beside an empty content, or replaces it.
        if let Some(error) = members.get("error").filter(|error| error.kind() == Kind::Text)
            && content.shown().is_empty()
        {
            content = error.body();
        }
        let refused = self.flag(builder, members, "refused");
        builder.marks_refusals(refused.is_some());
        let refused = (refused == Some(true)).then_some("the recording marks the result as refused");
        let word = members.get("status").and_then(Node::text);
        let status = word.as_deref().map(status);
        let marked = self.marked(builder, members, status);
        if let Some(status @ (Status::Open | Status::Unknown)) = status
            && marked.is_none()
            && refused.is_none()
        {
            let odd = word.filter(|word| status == Status::Unknown && word != UNSURE);
            let odd = odd.map(|word| {
                format!(
                    "it is not known what the status {} of a result means; its call counts as one without a result",
                    quoted(&word)
                )
            });
            builder.at_line(self.lines.line()).unsure(id.as_deref(), content, odd, at);
            return;
        }
        let said = match (marked, refused) {
            (None, None) if !content.is_missing() => (self.rules.ended)(&content),
            _ => Status::Unknown,
        };
        if said != Status::Unknown {
            builder.mark_errors();
        }
        if said == Status::Open && !self.told(&content) {
            builder.at_line(self.lines.line()).unsure(id.as_deref(), content, None, at);
            return;
        }
        let by_word = match status {
            Some(Status::Refused(how)) if marked != Some(false) => Some(how),
            _ => None,
        };
        let error = marked.unwrap_or_else(|| self.fails(&content));
        let mark = Mark { error, refused: refused.or(by_word) };
        let late = self.flag(builder, members, "after_siblings").unwrap_or(false);
        // `convert` reports a repeated id.
        let of = members.try_get("of_call").and_then(|number| number.number::<u32>()?.checked_sub(1));
        if let Some(call) = builder.result_of(of, id.as_deref(), content, mark, at).filter(|_| late) {
            builder.late_within_turn(call);
        }
    }

    /// Whether a result is marked as failed, by any of the keys that recordings use. One mark of failure is enough.
    fn marked(
        &mut self,
        builder: &mut Builder,
        members: &Members<'a>,
        status: Option<Status>,
    ) -> Option<bool> {
        let flags = ["is_error", "isError"].map(|key| self.flag(builder, members, key));
        let flag = flags.into_iter().flatten().reduce(|one, other| one | other);
        if flag.is_some() {
            builder.mark_errors();
        }
        let named = members.get("error").is_some_and(|error| !matches!(error.json(), "false" | "\"\""));
        let told = || ["success", "ok"].into_iter().any(|key| members.try_get(key).is_some_and(denies));
        let failed = matches!(status, Some(Status::Failed | Status::Refused(_)));
        if flag == Some(true) || named || failed || told() { Some(true) } else { flag }
    }

    /// Whether the text of a result that bears no mark is one of a failure: by the format, or by the user's test.
    pub(super) fn fails(&self, content: &Body) -> bool {
        // A call that has not ended is no success, either.
        let failed = || !matches!((self.rules.ended)(content), Status::Unknown | Status::Succeeded);
        !content.is_missing() && (failed() || self.told(content))
    }

    /// Whether the user's test says that a text is one of a failure.
    pub(super) fn told(&self, content: &Body) -> bool {
        self.rules.error.as_ref().is_some_and(|test| test(content.shown()))
    }

    /// A truth value. Anything else counts as marked, since a mark that cannot be read must not pass for success.
    fn flag(&mut self, builder: &mut Builder, members: &Members<'a>, key: &str) -> Option<bool> {
        let node = members.get(key)?;
        Some(node.tried().bool().unwrap_or_else(|| {
            let word = node.said_kind();
            self.damaged(builder, format!("`{key}` is {word}, not a truth value; it is read as true"));
            true
        }))
    }
}

/// The status of a written result whose call has an unknown outcome.
const UNSURE: &str = "unknown";

/// Whether a value says no.
fn denies(value: Node<'_>) -> bool {
    matches!(value.json(), "false" | "0" | "\"false\"" | "\"False\"" | "\"no\"")
}
