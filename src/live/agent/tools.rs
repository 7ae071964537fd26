//! The tools that agents have by themselves, so that what is tried on a hook is a call that its agent can make.

use serde_json::{Map, Value};

use super::Agent;
use crate::shell::facts::{self, AgentTool};

impl Agent {
    /// Its tools; those of MCP servers come besides.
    pub fn tools(self) -> &'static [AgentTool] {
        facts::agent_tools(self.name())
    }
}

impl AgentTool {
    /// The arguments of a call that works on this.
    pub fn arguments(&self, on: &str) -> Value {
        let others = self.others.iter().map(|name| ((*name).to_owned(), Value::from("a")));
        let mut arguments: Map<String, Value> = others.collect();
        arguments.insert(self.argument.to_owned(), Value::from(on));
        Value::Object(arguments)
    }
}
