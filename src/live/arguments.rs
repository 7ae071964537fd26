//! Arguments received for a decision: every program must read them alike, and this one must read all of them.

use super::fault::Fault;
use rulestep_base::session::Body;

/// Whether rules can look into all of these arguments.
///
/// # Errors
/// They cannot be decided about.
pub fn readable(arguments: &Body) -> Result<(), Fault> {
    match arguments.undecidable() {
        None => Ok(()),
        Some(why) => {
            let help = "send arguments that every program reads alike";
            Err(Fault::new(format!("the arguments of the call cannot be decided: {why}"), help))
        }
    }
}
