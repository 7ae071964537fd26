//! The commands that an agent's settings give to its events.

use jsonc_parser::common::Range;

use super::super::Agent;

/// A command that the settings give to an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The event.
    pub event: String,
    /// The command line.
    pub command: String,
    /// Which tools it is for; `None`: every tool.
    pub matcher: Option<String>,
    /// Whether it is an entry of ours.
    pub is_ours: bool,
    /// What keeps one of ours from being asked, or from being heard.
    pub flaws: Vec<Flaw>,
    /// The places of its group and of itself in that, where the agent has groups.
    pub place: (usize, usize),
    /// Whether it is written as `install` does.
    pub is_plain: bool,
    /// The line, from 1.
    pub line: usize,
    /// Where its command is written.
    pub(super) range: Range,
}

/// What is wrong with a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// What, and what to do about it.
    pub text: String,
    /// Whether the hook does not do what it is for.
    pub fatal: bool,
    /// Whether entering the hook anew mends it.
    pub mends: bool,
}

impl Hook {
    /// Whether it is asked about every call, and heard.
    pub(super) fn is_whole(&self) -> bool {
        self.matcher.is_none() && !self.is_broken()
    }

    /// Whether it is to be entered anew.
    pub(super) fn is_broken(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.fatal && flaw.mends)
    }
}

/// The hook of ours that is asked about most calls of an event.
pub fn best<'h>(hooks: &'h [Hook], event: &str) -> Option<&'h Hook> {
    let ours = || hooks.iter().filter(|hook| hook.is_ours && hook.event == event);
    ours().find(|hook| hook.is_whole()).or_else(|| ours().find(|hook| !hook.is_broken())).or(ours().next())
}

/// Whether a command line runs our hook for this agent.
pub fn is_ours(command: &str, agent: Agent) -> bool {
    let words = shlex::split(command).unwrap_or_default();
    words.windows(3).any(|three| match three {
        [program, verb, name] => {
            let file = program.rsplit(['/', '\\']).next().unwrap_or_default();
            file.starts_with("rulestep") && verb == "hook" && name == agent.name()
        }
        _ => false,
    })
}
