//! The base of a comparison.

use std::sync::Arc;

use rulestep_base::session::Call;
use rulestep_engine::policy::Policy;

/// The base that a new version is compared with.
#[derive(Clone)]
pub enum Base {
    /// Another version.
    Version(Arc<Policy>),
    /// The refusals in the recording.
    Recorded,
    /// A gate's live decisions about each call, by whatever policy it had.
    Live,
}

impl Base {
    /// The version, unless the base is the recording.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        match self {
            Base::Version(policy) => Some(policy),
            Base::Recorded | Base::Live => None,
        }
    }

    /// Whether it says something about a call: calls that no gate decided are not compared with what a gate decided.
    pub fn knows(&self, call: &Call) -> bool {
        !matches!(self, Base::Live) || call.live.is_some()
    }
}
