//! The comparison that the person asked for: with what, and what either version makes of what is selected.

use std::rc::Rc;
use std::sync::Arc;

use super::texts::Texts;
use super::{Framed, Model, Taking};
use crate::compare::{At, Base, Change, Comparison, RuleAt, Side};
use crate::engine::Decision;
use crate::monitor::{Rule, RuleId};
use crate::replay::{Judged, Replay};
use crate::session::AlternativeRef;
use crate::workbench::line::Key;
use crate::workbench::transcript::RowKind;

/// What the version that decides is compared with, because the person said so.
#[derive(Default)]
pub struct Compare {
    /// The base; while there is none, an edit is compared with the version before it.
    pub base: Option<Chosen>,
    /// The name of one that is being read. The one chosen before stands until it is there.
    pub reading: Option<String>,
    /// What stands in the selected turn under the base.
    pub frame: Option<Framed>,
    /// The selected call of a choice that was not taken, under the base.
    pub taking: Option<Taking>,
    /// The texts of two versions, once somebody has asked for them.
    pub texts: Option<(Arc<Comparison>, Arc<Texts>)>,
    /// They were asked for, and open when they are there.
    pub opens_texts: bool,
}

/// A base and what it is called.
#[derive(Clone)]
pub struct Chosen {
    /// As it was asked for, or when it was loaded.
    pub name: String,
    /// What it is.
    pub base: Base,
}

/// A rule as either version has it, as far as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pair {
    /// Its number in the base.
    pub base: Option<RuleId>,
    /// Its number in the new version.
    pub new: Option<RuleId>,
}

/// What one version makes of the selected call and its turn.
#[derive(Clone, Copy)]
pub struct Seen<'m> {
    /// Where the cursors stand.
    pub model: &'m Model,
    /// Which version.
    pub side: Side,
}

impl Model {
    /// What a version makes of what is selected.
    #[must_use]
    pub fn seen(&self, side: Side) -> Seen<'_> {
        Seen { model: self, side }
    }

    /// Whether two versions stand beside each other: not so while the base is the recording, which says nothing of tools or
    /// rules, nor while something is supposed, which is judged by the new version alone.
    #[must_use]
    pub fn splits(&self) -> bool {
        let chosen = self.compare.base.as_ref();
        chosen.is_some_and(|chosen| chosen.base.policy().is_some())
            && self.changes.comparison.is_some()
            && !self.supposes()
    }

    /// Whether what is supposed stands in place of the open recording.
    #[must_use]
    pub fn supposes(&self) -> bool {
        self.entry().is_some_and(|entry| entry.supposed.shown().is_some())
    }

    /// The two versions that are compared.
    #[must_use]
    pub fn comparison(&self) -> Option<&Arc<Comparison>> {
        self.changes.comparison.as_ref()
    }

    /// What changes about the selected call.
    #[must_use]
    pub fn change_here(&self) -> Option<&Change> {
        if let Some(at) = self.not_taken() {
            return self.changed_choice(at);
        }
        let at = self.call().filter(|_| !self.supposes())?.at;
        self.entry()?.changes.as_ref()?.iter().find(|change| change.at == At::Call(at))
    }

    /// Whether the comparison changes something about a call of the open session.
    #[must_use]
    pub fn is_changed(&self, call: u32) -> bool {
        let changes = self.entry().filter(|_| !self.supposes()).and_then(|entry| entry.changes.as_ref());
        let about = |change: &Change| matches!(change.at, At::Call(at) if at.index == call);
        changes.is_some_and(|changes| changes.iter().any(about))
    }

    /// What the comparison changes about a call of a choice that was not taken.
    #[must_use]
    pub fn changed_choice(&self, at: AlternativeRef) -> Option<&Change> {
        let changes = self.entry().filter(|_| !self.supposes())?.changes.as_ref()?;
        changes.iter().find(|change| change.at == At::Alternative(at))
    }

    /// A rule of one version, as both have it.
    #[must_use]
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
    #[must_use]
    pub fn shown_pair(&self) -> Pair {
        let new = |rule| self.pair(RuleAt { side: Side::New, rule });
        if let Some(pinned) = self.pinned {
            return new(pinned);
        }
        let link = self.settled.link;
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

impl Pair {
    /// Of a rule of one of two versions, as both have it.
    #[must_use]
    pub fn of(comparison: &Comparison, rule: RuleAt) -> Self {
        let pairs = comparison.rules();
        // One version has its rules where they are.
        let same = comparison.is_same().then_some(rule.rule);
        match rule.side {
            Side::Base => Pair { base: Some(rule.rule), new: same.or_else(|| pairs.in_new(rule.rule)) },
            Side::New => Pair { base: same.or_else(|| pairs.in_base(rule.rule)), new: Some(rule.rule) },
        }
    }
}

impl<'m> Seen<'m> {
    /// What was decided on the open session.
    #[must_use]
    pub fn replay(self) -> Option<&'m Rc<Replay>> {
        match self.side {
            Side::Base if !self.is_same() => self.model.entry()?.base.as_ref(),
            _ => self.model.replay(),
        }
    }

    /// What stands in the selected turn.
    #[must_use]
    pub fn frame(self) -> Option<&'m Framed> {
        match self.side {
            Side::Base if !self.is_same() => self.model.compare.frame.as_ref(),
            _ => self.model.frame.as_ref(),
        }
    }

    /// What was decided on the selected call.
    #[must_use]
    pub fn judged_call(self) -> Option<&'m Judged> {
        if let RowKind::Choice(place, number) = self.model.row()?.kind {
            return self.replay()?.alternative(place).get((number? as usize).checked_sub(1)?);
        }
        self.replay()?.call(self.model.call()?.at.index)
    }

    /// The decision on that call with every check, once the turn's frame is there.
    #[must_use]
    pub fn full_decision(self) -> Option<&'m Decision> {
        if let Some(row) = self.model.row()
            && let RowKind::Choice(place, number) = row.kind
        {
            let framed = self.frame().filter(|framed| framed.turn == row.turn)?;
            let others = &self.model.session()?.alternatives;
            let first = others.partition_point(|other| other.turn < row.turn);
            return framed
                .frame
                .alternatives
                .get(place.checked_sub(first)?)?
                .get((number? as usize).checked_sub(1)?);
        }
        let at = self.model.call()?.at;
        let framed = self.frame().filter(|framed| framed.turn == at.turn)?;
        framed.frame.calls.get((at.call as usize).checked_sub(1)?)
    }

    /// The selected call of a choice that was not taken, in the session that takes it.
    #[must_use]
    pub fn taking(self) -> Option<&'m Taking> {
        let taking = match self.side {
            Side::Base if !self.is_same() => self.model.compare.taking.as_ref(),
            _ => self.model.taking.as_ref(),
        }?;
        (self.model.not_taken() == Some(taking.at)).then_some(taking)
    }

    /// A rule of this version.
    #[must_use]
    pub fn rule(self, id: RuleId) -> Option<&'m Rule> {
        match self.side {
            Side::New => self.model.rule(id),
            Side::Base => self.model.comparison()?.side(Side::Base)?.rules().get(id),
        }
    }

    /// What tells the part of a pane about a rule from others: the same for both versions, if both have it.
    #[must_use]
    pub fn key(self, rule: RuleId) -> Key {
        let own = RuleAt { side: self.side, rule };
        let new = self.model.pair(own).new.filter(|_| self.side == Side::Base);
        Key::Rule(new.map_or(own, |rule| RuleAt { side: Side::New, rule }))
    }

    fn is_same(self) -> bool {
        self.model.comparison().is_some_and(|comparison| comparison.is_same())
    }
}
