//! Arguments that are sent to be decided: every program has to read the same in them, and this one all of it.

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
