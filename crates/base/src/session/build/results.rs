//! Pairs results with their calls, and sets the outcome of the calls.

use std::sync::Arc;

use hashbrown::hash_map::EntryRef;

use super::waiting::Waiting;
use super::{Builder, Mark};
use crate::diagnostic::code;
use crate::session::{Body, Call, CallRef, MessageKind, Millis, Outcome, refusal};

impl Builder {
    /// Whether a call with this id has no result yet.
    pub fn waits_for(&self, id: &str) -> bool {
        self.named.get(id).is_some_and(|waiting| waiting.first().is_some())
    }

    /// The oldest call with this id without a result.
    pub fn waiting_call(&self, id: &str) -> Option<&Call> {
        self.session.calls.get(self.named.get(id)?.first()? as usize)
    }

    /// The id of the oldest waiting call of a tool among the latest ones, except those in `but`.
    pub fn oldest_waiting(&self, tool: &str, but: &[&str]) -> Option<Box<str>> {
        const LATEST: usize = 64;
        let begins = self.session.calls.len().saturating_sub(LATEST);
        let latest = self.session.calls.get(begins..).unwrap_or_default();
        let waits = |call: &&Call| call.result.is_none() && *call.tool == *tool;
        let mut ids = latest.iter().filter(waits).filter_map(|call| call.id.as_deref());
        ids.find(|id| !but.contains(id) && self.waits_for(id)).map(Box::from)
    }

    /// A result. It belongs to the oldest waiting call with its id; without an id, to the oldest waiting call without
    /// one. Returns the call, or `None` if none waits for it: the result then stays in the history, and that is
    /// reported.
    pub fn result(
        &mut self,
        id: Option<&str>,
        content: Body,
        mark: Mark,
        at: Option<Millis>,
    ) -> Option<CallRef> {
        self.answer(id, Waiting::pop, content, mark, at)
    }

    /// The same, for this call, if several calls wait with the id.
    pub fn result_of(
        &mut self,
        call: Option<u32>,
        id: Option<&str>,
        content: Body,
        mark: Mark,
        at: Option<Millis>,
    ) -> Option<CallRef> {
        let pop = |waiting: &mut Waiting| call.and_then(|call| waiting.take(call)).or_else(|| waiting.pop());
        self.answer(id, pop, content, mark, at)
    }

    /// The same if an id means its most recent call. An earlier one that still waits may have happened, and is not
    /// known to have succeeded.
    pub fn newest_result(
        &mut self,
        id: &str,
        content: Body,
        mark: Mark,
        at: Option<Millis>,
    ) -> Option<CallRef> {
        self.answer(Some(id), Waiting::pop_newest, content, mark, at)
    }

    fn answer(
        &mut self,
        id: Option<&str>,
        pop: impl FnOnce(&mut Waiting) -> Option<u32>,
        content: Body,
        mark: Mark,
        at: Option<Millis>,
    ) -> Option<CallRef> {
        self.open = None;
        self.results += 1;
        self.marks_errors |= mark.error || mark.refused.is_some();
        let id = id.filter(|id| !id.is_empty());
        let (id, index) = match id.map(|id| self.named.entry_ref(id)) {
            None => (None, pop(&mut self.unnamed)),
            Some(EntryRef::Occupied(mut entry)) => {
                let index = pop(entry.get_mut());
                match entry.get().first() {
                    Some(_) => (Some(Arc::clone(entry.key())), index),
                    None => (Some(entry.remove_entry().0), index),
                }
            }
            Some(EntryRef::Vacant(entry)) => (Some(Arc::from(entry.key())), None),
        };
        let message = self.session.messages.len();
        if index.is_none() {
            self.unasked(id.as_deref());
        }
        self.push("tool", content.clone(), at, MessageKind::Result(index, id));
        let turn = self.turn_count();
        let index = index?;
        let call = self.session.calls.get_mut(index as usize)?;
        let by_test = || self.refused.as_ref().filter(|_| !content.is_missing())?.recognised(content.shown());
        let by_text = !self.refusals_marked && !content.is_elsewhere();
        let published = || if by_text { refusal::recognised(&content, &call.tool) } else { None };
        call.refusal = mark.refused.or_else(published).or_else(by_test);
        call.outcome = match (call.refusal, mark.error) {
            (Some(_), _) => Outcome::Refused,
            (None, true) => Outcome::Error,
            (None, false) => Outcome::Ok,
        };
        call.output = content;
        call.result = Some(message);
        call.in_turn = call.at.turn == turn;
        let at = call.at;
        if at.turn != turn
            && let Some(turn) = self.session.turns.last_mut()
        {
            turn.late.push(at.index);
        }
        Some(at)
    }

    /// A result that does not say whether its call succeeded: the call stays one without a result, which may have
    /// happened and satisfies nothing. The reason is reported once per session.
    pub fn unsure(&mut self, id: Option<&str>, content: Body, why: Option<String>, at: Option<Millis>) {
        self.open = None;
        self.results += 1;
        let id = id.filter(|id| !id.is_empty()).map(Arc::from);
        match &id {
            // A later result may say how it ended.
            Some(id) => self.unsure.extend(self.named.get(id).and_then(Waiting::first)),
            None => drop(self.unnamed.pop()),
        }
        if let Some(why) = why.filter(|_| !std::mem::replace(&mut self.told_unsure, true)) {
            self.damaged(why);
        }
        self.push("tool", content, at, MessageKind::Result(None, id));
    }

    /// A result that is of no call, or does not say how its call ended, from a session that is copied: it is paired
    /// with nothing.
    pub fn unpaired(&mut self, id: Option<&str>, content: Body, at: Option<Millis>) {
        self.open = None;
        self.results += 1;
        self.push("tool", content, at, MessageKind::Result(None, id.map(Arc::from)));
    }

    /// The result of this call came after its turn had proposed another one. In a recording in order of time, that call
    /// was decided without it, so the result counts from the turn's end.
    pub fn late_within_turn(&mut self, at: CallRef) {
        let Some(turn) = self.session.turns.last_mut().filter(|turn| turn.number == at.turn) else { return };
        if turn.calls.end > at.index as usize + 1
            && let Some(call) = self.session.calls.get_mut(at.index as usize)
        {
            call.in_turn = false;
            turn.late.push(at.index);
        }
    }

    /// Content that answers nothing recorded here, and need not be the result of a call.
    pub fn stray(&mut self, id: &str, content: Body, what: impl Into<String>, at: Option<Millis>) {
        self.open = None;
        self.results += 1;
        self.tell(code::RESULT_WITHOUT_CALL, what);
        self.push("tool", content, at, MessageKind::Result(None, Some(Arc::from(id))));
    }

    /// Ids of the calls that wait for their result, in the order of the calls.
    pub fn waiting(&self) -> Vec<Arc<str>> {
        let named = self.named.iter();
        let mut waiting: Vec<_> =
            named.flat_map(|(id, waiting)| waiting.calls().map(move |call| (call, id))).collect();
        waiting.sort_unstable_by_key(|(call, _)| *call);
        waiting.into_iter().map(|(_, id)| Arc::clone(id)).collect()
    }

    /// Ends the wait of calls with this id whose result did not say how they ended: a newer call has the id.
    pub(super) fn no_longer_unsure(&mut self, id: Option<&Arc<str>>) {
        if self.unsure.is_empty() {
            return;
        }
        let Some(waiting) = id.and_then(|id| self.named.get_mut(id)) else { return };
        self.unsure.retain(|call| waiting.take(*call).is_none());
    }

    pub(super) fn waiting_with(&mut self, id: Option<&Arc<str>>) -> &mut Waiting {
        match id {
            Some(id) => self.named.entry_ref(id).or_default(),
            None => &mut self.unnamed,
        }
    }
}
