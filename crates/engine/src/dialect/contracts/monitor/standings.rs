//! The earlier calls of a tool, summarised: one standing for all of them, or one for each value that calls must share.

use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smallvec::SmallVec;

use crate::dialect::contracts::output::{Table, Tests};
use crate::dialect::contracts::prior::Matching;
use crate::dialect::contracts::unit::Group;
use crate::dialect::sequence_rules::calls::Part;
use crate::monitor::saved;
use rulestep_base::session::{Body, CallRef, value};

/// Number of earlier calls that are kept as evidence for a value that did not match.
const RECENT: usize = 4;

/// The earlier calls of one group's tool, summarised.
#[derive(Clone, Default)]
pub(super) struct Standings {
    /// For an unbound group: all calls together.
    pub all: Option<Standing>,
    /// For a bound one: by value.
    by_value: HashTable<ValueStanding>,
    /// For each member, the number of values whose deciding call is good.
    good: Vec<usize>,
    /// Whether a call counts.
    pub counts: bool,
    /// The newest of those, newest first: evidence, kept where findings are wanted.
    pub recent: Vec<GoodCall>,
    /// A call that perhaps was one, the newest: evidence as well.
    pub doubtful: Option<(CallRef, Arc<Part>)>,
}

/// The standing of one value, with the value's hash: a table that grows does not look at the values.
#[derive(Clone)]
struct ValueStanding {
    hash: u64,
    /// Shared between forks until one of them changes it.
    kept: Arc<(Value, Standing)>,
}

/// The earlier calls with one value, summarised.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Standing {
    pub newest: CallRef,
    /// Evidence, kept where findings are wanted.
    pub newest_output: Body,
    #[serde(with = "saved::list")]
    pub members: SmallVec<[MemberStanding; 1]>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct MemberStanding {
    /// Whether the newest call meets the member's conditions.
    pub newest_good: bool,
    /// The newest call that does.
    pub good: Option<CallRef>,
}

/// A call with a good result. Its bodies are kept where a value is taken from them or findings are wanted, else missing.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct GoodCall {
    pub at: CallRef,
    pub slot: usize,
    /// The groups of its tool that do not mean it.
    #[serde(with = "saved::list")]
    pub skips: SmallVec<[usize; 1]>,
    /// The tests of its tool that the result passes.
    pub passed: Tests,
    pub arguments: Body,
    pub output: Body,
}

/// A call whose result counts from now on.
#[derive(Clone, Copy)]
pub(super) struct News<'a> {
    pub call: &'a GoodCall,
    /// The tests of its tool.
    pub table: &'a Table,
    /// For each member of the group, the place of its conditions in the table.
    pub places: &'a [usize],
    /// Whether findings are wanted.
    pub want_findings: bool,
}

/// Standings as they are written down; hashes are those of one process.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedStandings {
    all: Option<Standing>,
    by_value: Vec<Arc<(Value, Standing)>>,
    good: Vec<usize>,
    counts: bool,
    recent: Vec<GoodCall>,
    doubtful: Option<(CallRef, Arc<Part>)>,
}

impl Standings {
    /// The saved form.
    pub fn saved(&self) -> SavedStandings {
        let Standings { all, by_value, good, counts, recent, doubtful } = self.clone();
        let by_value = by_value.into_iter().map(|valued| valued.kept).collect();
        SavedStandings { all, by_value, good, counts, recent, doubtful }
    }

    /// The standing of a value.
    pub fn get(&self, bound: &Value, hasher: &DefaultHashBuilder) -> Option<&Standing> {
        let hash = value::hash(bound, hasher);
        self.by_value.find(hash, |valued| valued.is(hash, bound)).map(|valued| &valued.kept.1)
    }

    /// Whether there is any value.
    pub fn has_values(&self) -> bool {
        !self.by_value.is_empty()
    }

    /// Whether some value's deciding call is good for a member.
    pub fn has_good(&self, member: usize) -> bool {
        self.good.get(member).is_some_and(|good| *good > 0)
    }

    /// A call counts from now on.
    pub fn add(&mut self, group: &Group, news: News<'_>, hasher: &DefaultHashBuilder) {
        self.counts = true;
        if news.want_findings {
            let place = self.recent.partition_point(|recent| recent.at > news.call.at);
            self.recent.insert(place, news.call.clone());
            self.recent.truncate(RECENT);
        }
        self.good.resize(group.members.len(), 0);
        let Some(resource) = &group.resource else {
            match &mut self.all {
                Some(standing) => standing.add(group, news, &mut self.good),
                none => *none = Some(Standing::new(group, news, &mut self.good)),
            }
            return;
        };
        // A prior call without exactly one value never matches.
        let Some(bound) = resource.of_prior(&news.call.arguments, &news.call.output) else { return };
        let hash = value::hash(&bound, hasher);
        match self.by_value.find_mut(hash, |valued| valued.is(hash, &bound)) {
            Some(valued) => Arc::make_mut(&mut valued.kept).1.add(group, news, &mut self.good),
            None => {
                let kept = Arc::new((bound.into_owned(), Standing::new(group, news, &mut self.good)));
                self.by_value.insert_unique(hash, ValueStanding { hash, kept }, |valued| valued.hash);
            }
        }
    }
}

impl SavedStandings {
    /// From the saved form.
    pub fn standings(self, hasher: &DefaultHashBuilder) -> Standings {
        let SavedStandings { all, by_value: saved, good, counts, recent, doubtful } = self;
        let mut by_value = HashTable::with_capacity(saved.len());
        for kept in saved {
            let hash = value::hash(&kept.0, hasher);
            by_value.insert_unique(hash, ValueStanding { hash, kept }, |valued| valued.hash);
        }
        Standings { all, by_value, good, counts, recent, doubtful }
    }
}

impl ValueStanding {
    fn is(&self, hash: u64, value: &Value) -> bool {
        self.hash == hash && value::equal(&self.kept.0, value)
    }
}

impl Standing {
    /// The first call with a value. `good` counts, for each member, the values whose deciding call is good.
    fn new(group: &Group, news: News<'_>, good: &mut [usize]) -> Standing {
        let members =
            group.members.iter().map(|_| MemberStanding { newest_good: false, good: None }).collect();
        let mut standing = Standing { newest: news.call.at, newest_output: Body::MISSING, members };
        standing.add(group, news, good);
        standing
    }

    fn add(&mut self, group: &Group, news: News<'_>, good: &mut [usize]) {
        let at = news.call.at;
        let newer = at >= self.newest;
        if newer {
            self.newest = at;
        }
        if newer && news.want_findings {
            self.newest_output = news.call.output.clone();
        }
        let members = group.members.iter().zip(news.places).zip(&mut self.members);
        for (((member, place), own), good) in members.zip(good) {
            let before = own.decides(member.matching);
            let holds = news.table.hold(*place, &news.call.passed);
            if newer {
                own.newest_good = holds;
            }
            if holds && own.good.is_none_or(|good| good < at) {
                own.good = Some(at);
            }
            *good = *good + usize::from(own.decides(member.matching)) - usize::from(before);
        }
    }
}

impl MemberStanding {
    /// Whether the call that decides is good.
    pub fn decides(&self, matching: Matching) -> bool {
        match matching {
            Matching::Newest => self.newest_good,
            Matching::Any => self.good.is_some(),
        }
    }
}
