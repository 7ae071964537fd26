//! The remaining budget of a search, in steps.

/// A search that was given up: whether the text matches is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the search stopped after {budget} steps")]
pub struct OverBudget {
    /// The budget.
    pub budget: u64,
}

/// The rest of a budget.
pub(super) struct Fuel {
    pub(super) budget: u64,
    left: u64,
}

impl Fuel {
    pub(super) fn new(budget: u64) -> Self {
        Self { budget, left: budget }
    }

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), OverBudget> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.over()),
        }
    }

    /// A separate budget, no larger than the rest.
    pub(super) fn share(&self, most: u64) -> Self {
        Self::new(self.left.min(most))
    }

    pub(super) fn over(&self) -> OverBudget {
        OverBudget { budget: self.budget }
    }
}
