//! The decisions of either of two versions about the selection.

use std::sync::Arc;

use super::Model;
use super::changes::Pair;
use super::frame::{Framed, Frames, Taking};
use crate::compare::{Change, ChangePlace, Comparison, RuleAt, Side};
use crate::workbench::line::Key;
use crate::workbench::transcript::RowKind;
use rulestep_base::session::AlternativeRef;
use rulestep_engine::monitor::{Rule, RuleId, Rules};
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::Decision;

/// The decisions of one version about the selected call and its turn.
#[derive(Clone, Copy)]
pub struct Seen<'m> {
    /// The model with the cursors.
    pub model: &'m Model,
    /// The version.
    pub side: Side,
}

impl Model {
    /// The decisions of a version about the selection.
    pub fn seen(&self, side: Side) -> Seen<'_> {
        Seen { model: self, side }
    }

    /// Whether two versions are shown side by side: not while the base is the recording, which has no tools or rules,
    /// nor during a what-if, which is judged only by the new version.
    pub fn splits(&self) -> bool {
        let chosen = self.basis.compare.base.as_ref();
        chosen.is_some_and(|chosen| chosen.base.policy().is_some())
            && self.basis.changes.comparison.is_some()
            && !self.supposes()
    }

    /// Whether a supposed session is in place of the open recording.
    pub fn supposes(&self) -> bool {
        self.entry().is_some_and(|entry| entry.supposed.shown().is_some())
    }

    /// The two versions that are compared.
    pub fn comparison(&self) -> Option<&Arc<Comparison>> {
        self.basis.changes.comparison.as_ref()
    }

    /// The change of the selected call.
    pub fn change_here(&self) -> Option<&Change> {
        if let Some(at) = self.not_taken() {
            return self.changed_choice(at);
        }
        let at = self.call().filter(|_| !self.supposes())?.at;
        self.entry()?.changes.as_ref()?.iter().find(|change| change.at == ChangePlace::Call(at))
    }

    /// Whether the comparison changes something about a call of the open session.
    pub fn is_changed(&self, call: u32) -> bool {
        let changes = self.entry().filter(|_| !self.supposes()).and_then(|entry| entry.changes.as_ref());
        let about = |change: &Change| matches!(change.at, ChangePlace::Call(at) if at.index == call);
        changes.is_some_and(|changes| changes.iter().any(about))
    }

    /// The change of a call of a choice that was not taken.
    pub fn changed_choice(&self, at: AlternativeRef) -> Option<&Change> {
        let changes = self.entry().filter(|_| !self.supposes())?.changes.as_ref()?;
        changes.iter().find(|change| change.at == ChangePlace::Alternative(at))
    }

    /// A rule of one version, as both have it.
    pub fn pair(&self, rule: RuleAt) -> Pair {
        let Some(comparison) = self.comparison().filter(|comparison| comparison.base().policy().is_some())
        else {
            return match rule.side {
                Side::Base => Pair::default(),
                Side::New => Pair { base: None, new: Some(rule.rule) },
            };
        };
        Pair::of(comparison, rule)
    }

    /// The rules to show of either version: those that the cursor is on, else those that decided, else the one that would be
    /// shown alone.
    pub fn shown_pair(&self) -> Pair {
        let new = |rule| self.pair(RuleAt { side: Side::New, rule });
        if let Some(pinned) = self.place.pinned {
            return new(pinned);
        }
        let link = self.derived.link;
        if link.rule.is_some() || link.base.is_some() {
            return Pair { base: link.base, new: link.rule };
        }
        if let Some(change) = self.change_here() {
            let base = change.base.rule.map(|rule| self.pair(RuleAt { side: Side::Base, rule }));
            let new = change.new.rule.map(new);
            let (base, new) = (base.unwrap_or_default(), new.unwrap_or_default());
            return Pair { base: base.base.or(new.base), new: new.new.or(base.new) };
        }
        self.shown_rule().map(new).unwrap_or_default()
    }
}

impl<'m> Seen<'m> {
    /// The decisions about the open session.
    pub fn replay(self) -> Option<&'m Arc<Replay>> {
        match self.side {
            Side::Base if !self.is_same() => self.model.entry()?.base.as_ref(),
            _ => self.model.replay(),
        }
    }

    /// The frames of the selected turn, which may be of another one until the answer arrives.
    fn frames(self) -> &'m Frames {
        self.model.frames(if self.is_same() { Side::New } else { self.side })
    }

    /// The turn that is shown: of this session, but see [`Seen::shows`] for which of them and by which version.
    pub fn framed(self) -> Option<&'m Framed> {
        let framed = self.frames().framed.as_ref()?;
        Arc::ptr_eq(framed.replay.session(), self.model.session()?).then_some(framed)
    }

    /// The selected turn, once it is there.
    pub fn current(self) -> Option<&'m Framed> {
        let (replay, turn) = (self.replay()?, self.model.turn()?.number);
        self.framed().filter(|framed| Arc::ptr_eq(&framed.replay, replay) && framed.turn == turn)
    }

    /// What is shown in place of the selected turn, in a few words; `None`: it is that turn.
    pub fn shows(self) -> Option<String> {
        let framed = self.framed().filter(|_| self.current().is_none())?;
        let turn = self.model.turn().map(|turn| turn.number);
        Some(if Some(framed.turn) == turn { "old".to_owned() } else { format!("at T{}", framed.turn) })
    }

    /// The decision about the selected call.
    pub fn judged_call(self) -> Option<&'m DecidedCall> {
        if let RowKind::Choice(place, number) = self.model.row()?.kind {
            return self.replay()?.alternative(place).get((number? as usize).checked_sub(1)?);
        }
        self.replay()?.call(self.model.call()?.at.index)
    }

    /// The decision on that call with every check, once the turn's frame is there.
    pub fn full_decision(self) -> Option<&'m Decision> {
        if let Some(row) = self.model.row()
            && let RowKind::Choice(place, number) = row.kind
        {
            let framed = self.current()?;
            let others = &self.model.session()?.alternatives;
            let first = others.partition_point(|other| other.turn < row.turn);
            return framed
                .frame
                .alternatives
                .get(place.checked_sub(first)?)?
                .get((number? as usize).checked_sub(1)?);
        }
        let at = self.model.call()?.at;
        let framed = self.current()?;
        framed.frame.calls.get((at.call as usize).checked_sub(1)?)
    }

    /// The selected call of a choice that was not taken, in the session that takes it.
    pub fn taking(self) -> Option<&'m Taking> {
        let (taking, replay) = (self.frames().taking.as_ref()?, self.replay()?);
        (Arc::ptr_eq(&taking.of, replay) && self.model.not_taken() == Some(taking.at)).then_some(taking)
    }

    /// The rules of this version.
    pub fn rules(self) -> Option<&'m Rules> {
        match self.side {
            Side::New => self.model.rules_now(),
            Side::Base => Some(self.model.comparison()?.side(Side::Base)?.rules()),
        }
    }

    /// A rule of this version.
    pub fn rule(self, id: RuleId) -> Option<&'m Rule> {
        self.rules()?.get(id)
    }

    /// The key of a pane's part about a rule: the same for both versions, if both have the rule.
    pub fn key(self, rule: RuleId) -> Key {
        let own = RuleAt { side: self.side, rule };
        let new = self.model.pair(own).new.filter(|_| self.side == Side::Base);
        Key::Rule(new.map_or(own, |rule| RuleAt { side: Side::New, rule }))
    }

    fn is_same(self) -> bool {
        self.model.comparison().is_some_and(|comparison| comparison.is_same())
    }
}
