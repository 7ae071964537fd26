//! How a verb ends, and the messages if it could not do its work.

use std::io;
use std::process::ExitCode;

use super::screen::Screen;
use rulestep_base::diagnostic::Diagnostic;

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing is stopped, and there are no findings.
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

/// Why a verb failed.
#[derive(Debug)]
pub enum Failure {
    /// The arguments make no sense.
    Usage {
        /// The problem.
        message: String,
        /// How to fix it.
        help: Option<String>,
    },
    /// The named files cannot be used.
    Input(Vec<Diagnostic>),
    /// A version does not load; its errors are on the screen already.
    Undecided {
        /// The consequence.
        message: String,
        /// The problems.
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
            // The reader of the output has seen enough.
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
