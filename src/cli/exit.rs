//! How a verb ends, and what is said where it could not do its work.

use std::io;
use std::process::ExitCode;

use super::screen::Screen;
use rulestep_base::diagnostic::Diagnostic;

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing stopped, nothing found.
    Clean,
    /// Something was.
    Found,
    /// Bad input or usage.
    Bad,
    /// A fault of the program, or of the system under it.
    Fault,
    /// Broken off from outside, as a shell counts it.
    Interrupted,
}

/// Why a verb could not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// What was asked makes no sense.
    Usage {
        /// What is wrong.
        message: String,
        /// What would be right.
        help: Option<String>,
    },
    /// What was named cannot be used.
    Input(Vec<Diagnostic>),
    /// A version does not load; what is wrong with it is on the screen already.
    Undecided {
        /// What comes of it.
        message: String,
        /// What is wrong.
        told: Vec<Diagnostic>,
    },
    /// The result cannot be written.
    Output(io::Error),
    /// The system does not let the program work.
    System(anyhow::Error),
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: None }
    }

    pub fn help(self, help: impl Into<String>) -> Failure {
        match self {
            Failure::Usage { message, .. } => Failure::Usage { message, help: Some(help.into()) },
            other => other,
        }
    }

    pub fn tell(self, screen: &mut Screen) -> Exit {
        match self {
            Failure::Usage { message, help } => {
                screen.error(&message, help.as_deref());
                Exit::Bad
            }
            Failure::Undecided { message, .. } => {
                screen.error(&message, None);
                Exit::Bad
            }
            Failure::Input(diagnostics) => {
                diagnostics.iter().for_each(|diagnostic| screen.tell(diagnostic));
                screen.tell_rest();
                Exit::Bad
            }
            // Whoever read the answer has seen enough.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Clean,
            Failure::Output(error) => {
                screen.error(&format!("the answer cannot be written: {error}"), None);
                Exit::Fault
            }
            Failure::System(error) => {
                screen.error(&format!("{error:#}"), None);
                Exit::Fault
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Bad => 2,
            Exit::Fault => 3,
            Exit::Interrupted => 130,
        })
    }
}
