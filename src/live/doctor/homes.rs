//! The home folders that a policy names, compared with the user's.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::super::Agent;
use super::super::probe::{names_home, unguarded};
use super::notes::Notes;
use super::trial::Surroundings;
use rulestep_engine::policy::Policy;

/// Whether the folders that the policy names are those of this user: `~`, and that of the agent's settings below it.
pub(super) fn compare(
    agent: Agent,
    policy: &Arc<Policy>,
    user: Option<&Path>,
    around: &Surroundings,
    notes: &mut Notes,
) {
    let Some(home) = around.home.as_deref().filter(|home| Path::new(home).is_absolute()) else {
        if let Some(path) = names_home(policy) {
            notes.error(format!(
                "the policy names `{path}`, and which folder that is nobody knows: `HOME` is not set"
            ));
        }
        return;
    };
    let (Some(user), folder) = (user, agent.places().folder) else { return };
    let named = Path::new(home).join(folder);
    let (Some(own), Some(there)) = (user.to_str(), named.to_str()) else { return };
    if user == named {
        return;
    }
    let written = format!("~/{folder}");
    let context = json!({"cwd": around.here, "home": home});
    if let Some(path) = unguarded(policy, &context, agent.tools(), (&written, there, own)) {
        let variable = agent.places().variable.map(|name| format!(" (`{name}`)")).unwrap_or_default();
        notes.unproved(format!(
            "the policy guards `{path}`, and {} has that folder elsewhere{variable}: name {own} as well",
            agent.name()
        ));
    }
}
