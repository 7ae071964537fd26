//! Why a call could not be decided. The text is for the model and the user, so it says what failed and how to fix it.

use std::fmt;
use std::io;
use std::path::Path;

use rulestep_base::wording::line;

/// Why a call could not be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    message: String,
    help: String,
}

impl Fault {
    /// What failed, and how to fix it.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault { message: message.into(), help: help.into() }
    }

    /// What failed, and how to fix it, separately.
    pub fn into_parts(self) -> (String, String) {
        (self.message, self.help)
    }

    /// A file of the journal that cannot be used.
    pub fn file(path: &Path, what: &str, error: &io::Error) -> Fault {
        let help = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                "free space on the disk of the journal"
            }
            io::ErrorKind::PermissionDenied => "give yourself permission to read and write it",
            _ => "check the file and its folder",
        };
        Fault::new(format!("the journal `{}` cannot be {what}: {error}", path.display()), help)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = format!("{}. To fix it, {}.", self.message, self.help);
        f.write_str(&line(&whole))
    }
}
