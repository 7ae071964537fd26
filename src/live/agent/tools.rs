//! The tools that agents have by themselves, so that what is tried on a hook is a call that its agent can make.

use super::Agent;
use rulestep_shell::facts::{self, AgentTool};

impl Agent {
    /// Its tools; those of MCP servers come besides.
    pub fn tools(self) -> &'static [AgentTool] {
        facts::agent_tools(self.name())
    }
}
