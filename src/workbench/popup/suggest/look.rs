//! Computes the rules about a call, with the changed files.

use std::sync::Arc;

use crate::report::suggest::{sentence, support};
use crate::suggest::about::{Proposal, about};
use crate::suggest::insert::{Insertion, NotInserted, insert};
use crate::suggest::{Candidate, Suggestion};
use crate::workbench::model::suggest::{SuggestWish, SuggestedRule};

/// Computes the suggestions, unless `is_over` says that the answer is no longer wanted.
pub fn look(wish: &SuggestWish, is_over: &(dyn Fn() -> bool + Sync)) -> Option<Vec<SuggestedRule>> {
    let mut rows: Vec<SuggestedRule> = match &wish.field {
        Some(field) => {
            let at = (&*wish.session, wish.call);
            let put =
                |candidate: &Candidate| put_into(candidate, &[sentence(&Suggestion::of(candidate))], wish);
            let found = field.proposals(&wish.sessions, at, &wish.policy, &put, is_over).into_iter();
            found.map(|(proposal, insertion)| row(proposal, insertion, wish)).collect()
        }
        None => {
            let found = about(&wish.sessions, &wish.subject, is_over).into_iter();
            let one = |proposal: Proposal| {
                let notes = [sentence(&proposal.suggestion), support(&proposal.suggestion)];
                let insertion = put_into(&proposal.candidate(), &notes, wish);
                row(proposal, insertion, wish)
            };
            found.map(one).collect()
        }
    };
    // Existing rules come last.
    rows.sort_by_key(|row| matches!(row.insertion, Err(NotInserted::Present(..))));
    (!is_over()).then_some(rows)
}

/// The file with a rule, below lines of comment.
fn put_into(candidate: &Candidate, notes: &[String], wish: &SuggestWish) -> Result<Insertion, NotInserted> {
    match &wish.home {
        Ok(home) => insert(candidate, notes, &wish.policy, home),
        Err(why) => Err(NotInserted::NoHome(why)),
    }
}

fn row(proposal: Proposal, insertion: Result<Insertion, NotInserted>, wish: &SuggestWish) -> SuggestedRule {
    let (sentence, support) = (sentence(&proposal.suggestion), support(&proposal.suggestion));
    let is_this = |(session, call): &(usize, rulestep_base::session::CallRef)| {
        let both = wish.sessions.get(*session).zip(wish.recorded.as_ref());
        *call == wish.call && both.is_some_and(|(session, this)| Arc::ptr_eq(session, this))
    };
    let stops_this = proposal.broken.iter().any(is_this);
    SuggestedRule { sentence, support, proposal, stops_this, newly: 0, insertion }
}
